//! The colliders, which fly about in a box.

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    Setup,
    demo::{self, BLUE, ORANGE, light::Materials, orbit},
};

/// The area of a 2D collider, or the volume of a 3D one, in which it is alone on average.
const ROOM: f32 = 6.0;

/// The radius of a ball, and half of the side of a box.
const RADIUS: f32 = 0.5;

/// The greatest speed along each axis.
const SPEED: f32 = 4.0;

/// All entities of the scene, which are replaced by those of the next one.
#[derive(Component)]
pub struct InScene;

#[derive(Component)]
pub struct Velocity(Vec3);

/// Half of the size of the box in which the colliders are.
#[derive(Resource)]
pub struct Bounds(Vec3);

/// Replaces the scene.
pub fn build(
    setup: Res<Setup>,
    old: Query<Entity, With<InScene>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut flat: ResMut<Assets<ColorMaterial>>,
    mut solid: ResMut<Assets<StandardMaterial>>,
) {
    for entity in &old {
        commands.entity(entity).despawn();
    }
    let flat = [BLUE, ORANGE].map(|color| MeshMaterial2d(flat.add(color)));
    let solid = [BLUE, ORANGE].map(|color| MeshMaterial3d(solid.add(color)));

    let side = 2.0 * RADIUS;
    // Entities with the same mesh and material are drawn together.
    let shapes = if setup.in_3d {
        [
            (
                Collider::sphere(RADIUS),
                Sphere::new(RADIUS).mesh().ico(1).expect("few triangles"),
            ),
            (
                Collider::cuboid(side, side, side),
                Cuboid::from_length(side).mesh().build(),
            ),
        ]
    } else {
        [
            (
                Collider::circle(RADIUS),
                Circle::new(RADIUS).mesh().resolution(16).build(),
            ),
            (
                Collider::rectangle(side, side),
                Rectangle::from_length(side).mesh().build(),
            ),
        ]
    };
    let shapes = shapes.map(|(collider, mesh)| (collider, meshes.add(mesh)));

    let bounds = bounds(*setup);
    let mut random = StdRng::seed_from_u64(1);
    let mut within = |size: Vec3| {
        let size = size.to_array();
        Vec3::from(size.map(|half| half * random.random_range(-1.0..=1.0)))
    };
    let speed = if setup.in_3d {
        Vec3::splat(SPEED)
    } else {
        Vec3::new(SPEED, SPEED, 0.0)
    };
    for index in 0..setup.count {
        let (collider, mesh) = shapes[index % 2].clone();
        let pose = Transform::from_translation(within(bounds));
        let velocity = Velocity(within(speed));
        let touched = CollidingEntities::default();
        let mut entity = commands.spawn((InScene, collider, pose, velocity, touched));
        if setup.in_3d {
            entity.insert((Mesh3d(mesh), solid[0].clone()));
        } else {
            entity.insert((Mesh2d(mesh), flat[0].clone()));
        }
    }
    spawn_camera(&mut commands, *setup, bounds);
    commands.insert_resource(Bounds(bounds));
    let [resting, touching] = flat;
    commands.insert_resource(Materials { resting, touching });
    let [resting, touching] = solid;
    commands.insert_resource(Materials { resting, touching });
}

/// Returns half of the size of the box: as wide as the window in 2D, and a cube in 3D.
fn bounds(setup: Setup) -> Vec3 {
    let room = ROOM * setup.count as f32;
    if setup.in_3d {
        return Vec3::splat(0.5 * room.cbrt());
    }
    let aspect = demo::SIZE.x as f32 / demo::SIZE.y as f32;
    let height = (room / aspect).sqrt();
    0.5 * Vec3::new(aspect * height, height, 0.0)
}

fn spawn_camera(commands: &mut Commands, setup: Setup, bounds: Vec3) {
    if setup.in_3d {
        commands.spawn((
            InScene,
            orbit::camera(orbit::Orbit {
                center: Vec3::ZERO,
                distance: 4.5 * bounds.y,
                yaw: 0.6,
                pitch: 0.4,
            }),
        ));
    } else {
        commands.spawn((InScene, demo::camera_2d(2.0 * bounds.y)));
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
