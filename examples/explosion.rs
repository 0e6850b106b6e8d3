//! An explosion throws the bodies around it. The speed of a body decreases with the distance of its
//! nearest point, and a wall shields the bodies behind it.
//!
//! ```text
//! cargo run --example explosion
//! ```
//!
//! The example compares each velocity with a formula, opens no window, and ends by itself.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

use bevy::prelude::*;
use headbutt::{prelude::*, query::Ray};

const WALL: u32 = 1 << 0;
const BODY: u32 = 1 << 1;

/// The center of the explosion.
const CENTER: Vec3 = Vec3::new(100.0, 1.0, -50.0);
const RADIUS: f32 = 8.0;
/// The speed of a body that touches the center.
const SPEED: f32 = 20.0;

#[derive(Component)]
struct Body {
    velocity: Vec3,
    /// The velocity that the formula gives.
    expected: Vec3,
}

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        // After `Sync`, a query sees the poses of this tick.
        .add_systems(FixedPostUpdate, explode.after(HeadbuttSystems::Sync));
    headbutt::run_ticks(&mut app, 1);

    let mut bodies = app.world_mut().query::<(&Name, &Body)>();
    for (name, body) in bodies.iter(app.world()) {
        println!("{name:<24} {:>8.4}", body.velocity);
        assert!(
            body.velocity.distance(body.expected) < 1e-4,
            "not {}",
            body.expected
        );
    }
}

fn spawn(mut commands: Commands) {
    let mut spawn = |name, collider: Collider, pose: Transform, expected: Vec3| {
        let body = Body {
            velocity: Vec3::ZERO,
            expected,
        };
        let pose = pose.with_translation(CENTER + pose.translation);
        let layers = CollisionLayers::new(BODY, u32::MAX);
        commands.spawn((Name::new(name), body, collider, pose, layers));
    };
    let at = Transform::from_xyz;
    let speed = |distance: f32| SPEED * (1.0 - distance / RADIUS);

    let ball = || Collider::sphere(1.0);
    spawn(
        "a ball",
        ball(),
        at(0.0, 3.0, 4.0),
        Vec3::new(0.0, 0.6, 0.8) * speed(4.0),
    );
    spawn("a ball out of range", ball(), at(0.0, 9.5, 0.0), Vec3::ZERO);
    // The ball is twice as large, so its surface begins 9.5 - 2 from the center.
    let large = at(0.0, -9.5, 0.0).with_scale(Vec3::splat(2.0));
    spawn("a large ball", ball(), large, Vec3::NEG_Y * speed(7.5));
    // An edge of the cube faces the center. The distance from the edge to the cube's center is half
    // the diagonal of a face.
    let turned = at(6.0, 0.0, 0.0).with_rotation(Quat::from_rotation_z(FRAC_PI_4));
    let edge = 6.0 - 2.0 * FRAC_1_SQRT_2;
    spawn(
        "a cube on its edge",
        Collider::cuboid(2.0, 2.0, 2.0),
        turned,
        Vec3::X * speed(edge),
    );
    // The first ball is behind the wall. The nearest point of the second ball is visible above the
    // wall.
    spawn(
        "a ball behind the wall",
        ball(),
        at(-6.0, 0.0, 0.0),
        Vec3::ZERO,
    );
    let above = Vec3::new(-5.0, 5.0, 0.0);
    let expected = above.normalize() * speed(above.length() - 1.0);
    spawn(
        "a ball above the wall",
        ball(),
        Transform::from_translation(above),
        expected,
    );
    let wall = Transform::from_translation(CENTER + Vec3::new(-3.0, 0.0, 0.0));
    let layers = CollisionLayers::new(WALL, u32::MAX);
    commands.spawn((Collider::cuboid(1.0, 4.0, 4.0), wall, layers));
}

fn explode(
    query: SpatialQuery,
    mut bodies: Query<(&Collider, &Transform, &mut Body)>,
    mut near: Local<Vec<Entity>>,
) {
    let on_layer =
        |layer| SpatialQueryFilter::default().with_layers(CollisionLayers::new(u32::MAX, layer));
    query.overlaps(
        &Collider::sphere(RADIUS),
        CENTER,
        &on_layer(BODY),
        &mut near,
    );
    for entity in &*near {
        let Ok((collider, pose, mut body)) = bodies.get_mut(*entity) else {
            continue;
        };
        let Some(point) = collider.closest_point(pose, CENTER) else {
            continue;
        };
        if query.is_ray_blocked(Ray::between(CENTER, point), &on_layer(WALL)) {
            continue;
        }
        // A body that contains the center has no direction away from it.
        let Ok((direction, distance)) = Dir3::new_and_length(point - CENTER) else {
            continue;
        };
        body.velocity = direction * SPEED * (1.0 - distance / RADIUS);
    }
}
