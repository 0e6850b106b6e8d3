//! A scene of colliders that fly about in a box.

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    Setup,
    demo::{self, BLUE, ORANGE, light::Materials, orbit},
};

/// The area per 2D collider, or the volume per 3D collider.
const ROOM: f32 = 6.0;

/// The radius of a ball, and half of the side of a box.
const RADIUS: f32 = 0.5;

/// The greatest speed along each axis.
const SPEED: f32 = 4.0;

/// Marks the entities of the scene, which are despawned before the next scene.
#[derive(Component)]
pub struct InScene;

#[derive(Component)]
pub struct Velocity(Vec3);

/// Half of the size of the box around the colliders.
#[derive(Resource)]
pub struct Bounds(Vec3);

pub fn add_materials(
    mut flat: ResMut<Assets<ColorMaterial>>,
    mut solid: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let [resting, touching] = [BLUE, ORANGE].map(|color| MeshMaterial2d(flat.add(color)));
    commands.insert_resource(Materials { resting, touching });
    let [resting, touching] = [BLUE, ORANGE].map(|color| MeshMaterial3d(solid.add(color)));
    commands.insert_resource(Materials { resting, touching });
}

/// Despawns the old scene, and spawns a new scene.
pub fn build(
    setup: Res<Setup>,
    old: Query<Entity, With<InScene>>,
    flat: Res<Materials<MeshMaterial2d<ColorMaterial>>>,
    solid: Res<Materials<MeshMaterial3d<StandardMaterial>>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut commands: Commands,
) {
    for entity in &old {
        commands.entity(entity).despawn();
    }
    let bounds = bounds(*setup);
    commands.insert_resource(Bounds(bounds));
    spawn_camera(&mut commands, *setup, bounds);

    // Entities with the same mesh and material are drawn together.
    let shapes = shapes(setup.in_3d).map(|(collider, mesh)| (collider, meshes.add(mesh)));
    let speed = Vec3::new(SPEED, SPEED, if setup.in_3d { SPEED } else { 0.0 });
    let mut random = StdRng::seed_from_u64(1);
    for index in 0..setup.count {
        let (collider, mesh) = shapes[index % 2].clone();
        let pose = Transform::from_translation(within(bounds, &mut random));
        let velocity = Velocity(within(speed, &mut random));
        let touched = CollidingEntities::default();
        let body = (InScene, collider, pose, velocity, touched);
        if setup.in_3d {
            commands.spawn((body, Mesh3d(mesh), solid.resting.clone()));
        } else {
            commands.spawn((body, Mesh2d(mesh), flat.resting.clone()));
        }
    }
}

/// Returns a ball and a box, in 2D or in 3D, with few triangles.
fn shapes(in_3d: bool) -> [(Collider, Mesh); 2] {
    let side = 2.0 * RADIUS;
    if in_3d {
        let sphere = Sphere::new(RADIUS).mesh().ico(1).expect("few triangles");
        let cube = Cuboid::from_length(side).mesh().build();
        [
            (Collider::sphere(RADIUS), sphere),
            (Collider::cuboid(side, side, side), cube),
        ]
    } else {
        let circle = Circle::new(RADIUS).mesh().resolution(16).build();
        let square = Rectangle::from_length(side).mesh().build();
        [
            (Collider::circle(RADIUS), circle),
            (Collider::rectangle(side, side), square),
        ]
    }
}

/// Returns a random vector whose coordinates are at most `size` in absolute value.
fn within(size: Vec3, random: &mut StdRng) -> Vec3 {
    let size = size.to_array();
    Vec3::from(size.map(|half| half * random.random_range(-1.0..=1.0)))
}

/// Returns half of the size of the box: a rectangle in the shape of the window in 2D, and a cube in
/// 3D.
fn bounds(setup: Setup) -> Vec3 {
    let room = ROOM * setup.count as f32;
    if setup.in_3d {
        return Vec3::splat(0.5 * room.cbrt());
    }
    let aspect = demo::SIZE.x as f32 / demo::SIZE.y as f32;
    let height = (room / aspect).sqrt();
    0.5 * Vec3::new(aspect * height, height, 0.0)
}

/// Spawns a camera without antialiasing: without a GPU, antialiasing takes more than half of a
/// frame.
fn spawn_camera(commands: &mut Commands, setup: Setup, bounds: Vec3) {
    if setup.in_3d {
        let orbit = orbit::Orbit {
            center: Vec3::ZERO,
            distance: 4.5 * bounds.y,
            yaw: 0.6,
            pitch: 0.4,
        };
        commands.spawn((
            InScene,
            Msaa::Off,
            orbit::camera(orbit, orbit::Light::Plain),
        ));
    } else {
        commands.spawn((InScene, Msaa::Off, demo::camera_2d(2.0 * bounds.y)));
    }
}

/// Moves the colliders, which bounce off the sides of the box.
pub fn travel(
    time: Res<Time>,
    bounds: Option<Res<Bounds>>,
    mut colliders: Query<(&mut Transform, &mut Velocity)>,
) {
    let Some(bounds) = bounds else {
        return;
    };
    let seconds = time.delta_secs();
    colliders
        .par_iter_mut()
        .for_each(|(mut pose, mut velocity)| {
            let next = pose.translation + seconds * velocity.0;
            for axis in 0..3 {
                if next[axis].abs() > bounds.0[axis] {
                    velocity.0[axis] = velocity.0[axis].abs() * -next[axis].signum();
                }
            }
            pose.translation += seconds * velocity.0;
        });
}
