//! A thousand bullets at 500 m/s, fired from the center of a room whose walls are 1 cm thick. Each
//! bullet moves by about 8 m per tick, and stops at its first hit.
//!
//! ```text
//! cargo run --example bullets
//! ```
//!
//! The example compares each hit with a formula, opens no window, and ends by itself.

use bevy::prelude::*;
use headbutt::prelude::*;

const BULLETS: usize = 1_000;
const SPEED: f32 = 500.0;
const RADIUS: f32 = 0.01;

/// The distance from the center to the inner sides of the walls.
const ROOM: f32 = 10.0;
const THICKNESS: f32 = 0.01;

#[derive(Component)]
struct Bullet {
    velocity: Vec3,
}

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, fly)
        .add_systems(FixedPostUpdate, stop.after(HeadbuttSystems::Report));
    headbutt::run_ticks(&mut app, 3);

    let mut bullets = app.world_mut().query::<(&Bullet, &Transform)>();
    let mut worst = 0.0_f32;
    for (index, (bullet, pose)) in bullets.iter(app.world()).enumerate() {
        assert_eq!(bullet.velocity, Vec3::ZERO, "bullet {index} passed through");
        let direction = direction(index);
        let expected = direction * (ROOM - RADIUS) / direction.abs().max_element();
        worst = worst.max(pose.translation.distance(expected));
    }
    println!("{BULLETS} bullets stopped at the walls, within {worst:.1e} m of the formula");
    assert!(worst < 1e-4);
}

/// Returns one of many directions that are spread evenly over the sphere.
fn direction(index: usize) -> Vec3 {
    let z = (2 * index + 1) as f32 / BULLETS as f32 - 1.0;
    let angle = 2.399_963 * index as f32;
    let (sin, cos) = angle.sin_cos();
    let radius = (1.0 - z * z).sqrt();
    Vec3::new(radius * cos, radius * sin, z)
}

fn spawn(mut commands: Commands) {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let size = Vec3::splat(2.0 * ROOM) * (Vec3::ONE - axis) + axis * THICKNESS;
        for side in [-1.0, 1.0] {
            let center = axis * side * (ROOM + 0.5 * THICKNESS);
            let wall = Collider::cuboid(size.x, size.y, size.z);
            commands.spawn((wall, Transform::from_translation(center)));
        }
    }
    for index in 0..BULLETS {
        let velocity = direction(index) * SPEED;
        // Bullets pass through each other: they are on layer 2, and interact only with layer 1.
        let layers = CollisionLayers::new(2, 1);
        // `Teleported` begins the path at the center, so that the first tick is swept, too.
        commands.spawn((
            Bullet { velocity },
            Collider::sphere(RADIUS),
            layers,
            Swept,
            Teleported,
        ));
    }
}

fn fly(time: Res<Time>, mut bullets: Query<(&Bullet, &mut Transform)>) {
    for (bullet, mut pose) in &mut bullets {
        pose.translation += bullet.velocity * time.delta_secs();
    }
}

fn stop(
    mut hits: MessageReader<CollisionEvent>,
    mut bullets: Query<(&mut Bullet, &mut Transform)>,
    mut commands: Commands,
) {
    // The hits of a bullet are sent in the order of time.
    for hit in hits.read().filter(|hit| hit.started()) {
        for hit in [*hit, hit.flipped()] {
            let Ok((mut bullet, mut pose)) = bullets.get_mut(hit.entity) else {
                continue;
            };
            if bullet.velocity != Vec3::ZERO {
                bullet.velocity = Vec3::ZERO;
                pose.translation = hit.translation();
                commands.entity(hit.entity).insert(Teleported);
            }
        }
    }
}
