//! The sessions that are recorded in `examples/recordings`: small games without a window.

use std::{error::Error, fs, path::Path, time::Duration};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use headbutt::{HeadbuttRecorder, prelude::*};

const STEP: Duration = Duration::from_micros(15_625);
const TICKS: u32 = 320;

/// A function that adds the systems of a session.
type Build = fn(&mut App);

/// Records all sessions into a folder.
pub fn record_all(folder: &Path) -> Result<(), Box<dyn Error>> {
    let sessions: [(&str, Build); 3] = [
        ("bouncing_2d", bouncing),
        ("tumbling_3d", tumbling),
        ("shooting_range", shooting_range),
    ];
    for (name, build) in sessions {
        let file = folder.join(name).with_extension("headbutt");
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(STEP))
            .insert_resource(HeadbuttRecorder::to_file(&file));
        build(&mut app);
        // The first update starts the clock and runs no tick.
        for _ in 0..=TICKS {
            app.update();
        }
        let metadata = fs::metadata(&file);
        let metadata = metadata.map_err(|error| format!("{}: {error}", file.display()))?;
        let size = metadata.len();
        println!("{}: {TICKS} ticks, {size} bytes", file.display());
    }
    Ok(())
}

#[derive(Component)]
struct Velocity(Vec3);

fn fly(time: Res<Time>, mut bodies: Query<(&Velocity, &mut Transform)>) {
    for (velocity, mut pose) in &mut bodies {
        pose.translation += velocity.0 * time.delta_secs();
    }
}

/// Reflects moving bodies at the colliders that they hit.
fn bounce(mut hits: MessageReader<CollisionEvent>, mut bodies: Query<&mut Velocity>) {
    for hit in hits.read().filter(|hit| hit.touching()) {
        for side in [*hit, hit.flipped()] {
            if let Ok(mut velocity) = bodies.get_mut(side.entity)
                && velocity.0.dot(side.normal) > 0.0
            {
                velocity.0 = velocity.0.reflect(side.normal);
            }
        }
    }
}

/// Adds a 2D session: twelve shapes in a room of half-spaces.
fn bouncing(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        for side in [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y] {
            let pose = Transform::from_translation(side.extend(0.0) * -5.0);
            commands.spawn((Collider::half_space(side), pose));
        }
        for index in 0..12_u8 {
            let number = f32::from(index);
            let collider = match index % 4 {
                0 => Collider::circle(0.5),
                1 => Collider::rectangle(1.0, 0.7),
                2 => Collider::regular_polygon(0.6, 5),
                _ => Collider::capsule_2d(0.3, 0.6),
            };
            let position = Vec3::new(number % 4.0 - 1.5, number / 4.0 - 1.0, 0.0) * 2.0;
            let velocity = Vec3::new(3.0 - number % 5.0, number % 3.0 - 1.3, 0.0) * 2.0;
            let pose = Transform::from_translation(position);
            commands.spawn((collider, pose, Velocity(velocity)));
        }
    })
    .add_systems(FixedUpdate, fly)
    .add_systems(FixedPostUpdate, bounce.after(HeadbuttSystems::Report));
}

/// Adds a 3D session: turning shapes that fall onto hills.
fn tumbling(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let heights: Vec<f32> = (0..81_u8)
            .map(|index| 0.1 * f32::from(index % 9 * (index / 9) % 7))
            .collect();
        commands.spawn(Collider::heightfield(Vec2::splat(12.0), 9, &heights));
        commands.spawn((
            Collider::half_space(Vec3::Y),
            Transform::from_xyz(0.0, -1.0, 0.0),
        ));
        for index in 0..10_u8 {
            let number = f32::from(index);
            let collider = match index % 5 {
                0 => Collider::sphere(0.5),
                1 => Collider::cuboid(0.9, 0.7, 0.8),
                2 => Collider::cone(0.5, 1.0),
                3 => Collider::cylinder(0.4, 0.9),
                _ => Collider::capsule_3d(0.3, 0.6),
            };
            let position = Vec3::new(number % 4.0 * 1.5 - 2.0, 3.0, number / 4.0 - 1.0);
            let pose = Transform::from_translation(position);
            commands.spawn((
                collider,
                pose,
                Velocity(Vec3::new(0.5, -0.2 * number, -0.3)),
            ));
        }
    })
    .add_systems(FixedUpdate, (fall, turn, fly).chain())
    .add_systems(
        FixedPostUpdate,
        (bounce, push_out).after(HeadbuttSystems::Report),
    );
}

fn fall(time: Res<Time>, mut bodies: Query<&mut Velocity>) {
    for mut velocity in &mut bodies {
        velocity.0.y -= 9.81 * time.delta_secs();
    }
}

fn turn(time: Res<Time>, mut bodies: Query<(&Velocity, &mut Transform)>) {
    for (velocity, mut pose) in &mut bodies {
        pose.rotate_local_x(velocity.0.z * time.delta_secs());
        pose.rotate_local_z(velocity.0.x * time.delta_secs());
    }
}

fn push_out(
    collisions: Res<Collisions>,
    mut bodies: Query<(Entity, &mut Transform), With<Velocity>>,
) {
    for (entity, mut pose) in &mut bodies {
        let translation = collisions.push_out(entity, |_| true).translation();
        if translation != Vec3::ZERO {
            pose.translation += translation;
        }
    }
}

/// The layers of bullets and targets, which interact only with each other.
const BULLET: CollisionLayers = CollisionLayers::from_bits(2, 1);
const TARGET: CollisionLayers = CollisionLayers::from_bits(1, 2);

#[derive(Component)]
struct Target;

/// Adds a 3D session: above a mesh, a turret fires swept bullets through a sensor at targets, which
/// are despawned when they are hit.
fn shooting_range(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let corners = corners.map(|(x, z): (f32, f32)| Vec3::new(20.0 * x, 0.3 * x * z, 20.0 * z));
        commands.spawn(Collider::trimesh(corners, [[0, 2, 1], [0, 3, 2]]));
        let gate = Transform::from_xyz(4.0, 1.0, 0.0);
        commands.spawn((Collider::cuboid(0.2, 4.0, 8.0), gate, Sensor));
    })
    .add_systems(FixedUpdate, (spawn_targets, shoot, fly).chain())
    .add_systems(FixedPostUpdate, hit.after(HeadbuttSystems::Report));
}

fn spawn_targets(mut commands: Commands, mut tick: Local<u16>, targets: Query<(), With<Target>>) {
    *tick += 1;
    if tick.is_multiple_of(8) && targets.iter().count() < 12 {
        let z = f32::from(*tick * 37 % 60) * 0.1 - 3.0;
        let pose = Transform::from_xyz(10.0, 1.0, z).with_scale(Vec3::new(0.2, 1.0, 0.6));
        let hull = [
            Vec3::X,
            Vec3::NEG_X,
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::Z,
            Vec3::NEG_Z,
        ];
        let velocity = Velocity(Vec3::new(0.0, 0.0, -0.2 * z));
        let bundle = (Target, Collider::convex_hull(hull), pose, velocity);
        commands.spawn((bundle, TARGET));
    }
}

fn shoot(mut commands: Commands, mut tick: Local<u16>) {
    *tick += 1;
    if tick.is_multiple_of(4) {
        let spread = f32::from(*tick * 53 % 80) - 40.0;
        let velocity = Vec3::new(120.0, -2.0, spread);
        let pose = Transform::from_xyz(0.0, 1.2, 0.0);
        let bundle = (Collider::sphere(0.05), pose, Velocity(velocity), BULLET);
        commands.spawn((bundle, Swept, Teleported));
    }
}

/// Despawns targets that were hit, bullets that hit a target, and bullets that missed.
fn hit(
    mut hits: MessageReader<CollisionEvent>,
    targets: Query<Entity, With<Target>>,
    bullets: Query<(Entity, &Transform), With<Swept>>,
    mut commands: Commands,
) {
    for hit in hits.read().filter(|hit| hit.started()) {
        if let Some(hit) = hit.seen_by(|entity| targets.contains(entity))
            && bullets.contains(hit.other)
        {
            commands.entity(hit.entity).try_despawn();
            commands.entity(hit.other).try_despawn();
        }
    }
    for (bullet, pose) in &bullets {
        if pose.translation.x > 30.0 {
            commands.entity(bullet).try_despawn();
        }
    }
}
