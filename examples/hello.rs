//! One app with two blocks in 2D and a rotating cuboid in 3D. It prints which entities touch and
//! how deep they overlap, and moves them apart.
//!
//! ```text
//! cargo run --example hello
//! ```
//!
//! The example opens no window and ends by itself. Each update of the app runs one fixed tick.

use bevy::{ecs::entity::EntityHashMap, prelude::*, time::TimeUpdateStrategy};
use headbutt::prelude::*;

fn main() {
    println!("tick  phase             entity -> other     normal                      depth");
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .init_resource::<Tick>()
        .add_systems(Startup, (spawn_blocks, spawn_solids))
        // The tick uses the positions that `FixedUpdate` sets.
        .add_systems(FixedUpdate, (count, drive, wear).chain())
        // The events of this tick are written in `Report`.
        .add_systems(
            FixedPostUpdate,
            (narrate, push_out).chain().after(HeadbuttSystems::Report),
        );

    let tick = app.world().resource::<Time<Fixed>>().timestep();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick));
    // The first update starts the clock and runs no tick.
    app.update();
    for _ in 0..160 {
        app.update();
    }

    query_without_an_app();
}

/// The number of the current fixed tick, starting at 1.
#[derive(Resource, Default)]
struct Tick(u32);

/// Moves an entity: each entry has a first tick, and a velocity in units per second.
#[derive(Component)]
struct Driven(Vec<(u32, Vec3)>);

/// Rotates an entity around this axis. The length of the vector is the speed in radians per second.
#[derive(Component)]
struct Turning(Vec3);

/// The number of ticks with a contact after which the entity breaks.
#[derive(Component)]
struct Fragile(u32);

/// Shapes made of `Vec2` are 2D and lie in the xy plane. A `Collider` requires only a `Transform`,
/// which Bevy inserts automatically.
fn spawn_blocks(mut commands: Commands) {
    let block_a = [(0.0, 0.0), (200.0, -40.0), (200.0, 180.0), (0.0, 120.0)];
    let block_b = [(0.0, 0.0), (50.0, 0.0), (50.0, 80.0), (0.0, 80.0)];
    commands.spawn((
        Name::new("block A"),
        Collider::convex_hull(block_a.map(Vec2::from)),
        Transform::from_xyz(300.0, 300.0, 0.0),
    ));
    commands
        .spawn((
            Name::new("block B"),
            Collider::convex_hull(block_b.map(Vec2::from)),
            Transform::from_xyz(100.0, 350.0, 0.0),
            Driven(vec![
                (1, Vec3::new(300.0, 0.0, 0.0)),
                (49, Vec3::new(-200.0, 200.0, 0.0)),
            ]),
        ))
        // This observer runs only for its own entity. It stops the block once it is free.
        .observe(|hit: On<CollisionEnded>, mut commands: Commands| {
            commands.entity(hit.entity).insert(Driven(vec![]));
        });
}

/// The same component in 3D, for primitives or points. 2D and 3D colliders never touch each other.
fn spawn_solids(mut commands: Commands) {
    let octahedron = Vec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    commands.spawn((Name::new("sphere"), Collider::sphere(1.0)));
    commands.spawn((
        Name::new("hull"),
        Collider::convex_hull(octahedron),
        Transform::from_xyz(-2.5, 2.5, 0.0),
        Fragile(12),
    ));
    commands.spawn((
        Name::new("cuboid"),
        Collider::cuboid(1.0, 0.8, 0.6),
        Transform::from_xyz(-2.5, 0.0, 0.0),
        Turning(Vec3::new(0.3, 0.5, 1.0)),
        Driven(vec![
            (50, Vec3::new(2.0, 0.0, 0.0)),
            (100, Vec3::new(-1.0, 2.0, 0.0)),
        ]),
    ));
}

fn count(mut tick: ResMut<Tick>) {
    tick.0 += 1;
}

fn drive(
    tick: Res<Tick>,
    time: Res<Time>,
    mut entities: Query<(&mut Transform, &Driven, Option<&Turning>)>,
) {
    for (mut transform, driven, turning) in &mut entities {
        if let Some((_, velocity)) = driven.0.iter().rfind(|(from, _)| tick.0 >= *from) {
            transform.translation += velocity * time.delta_secs();
        }
        if let Some(turning) = turning {
            transform.rotate(Quat::from_scaled_axis(turning.0 * time.delta_secs()));
        }
    }
}

/// `Collisions` lists the contacts of the last tick, without events.
fn wear(
    mut commands: Commands,
    collisions: Res<Collisions>,
    mut entities: Query<(Entity, &mut Fragile)>,
) {
    for (entity, mut fragile) in &mut entities {
        if collisions.of(entity).next().is_some() {
            fragile.0 -= 1;
        }
        if fragile.0 == 0 {
            commands.entity(entity).despawn();
        }
    }
}

/// Headbutt never moves anything, so the game implements the response. This response moves each
/// driven entity out of all entities that it touches.
fn push_out(
    collisions: Res<Collisions>,
    driven: Query<Entity, With<Driven>>,
    mut mover: WorldMover,
) -> Result {
    for entity in &driven {
        mover.translate(
            entity,
            collisions.push_out(entity, |_hit| true).translation(),
        )?;
    }
    Ok(())
}

/// Prints each `Started` and `Ended`, and every fifth `Ongoing`.
fn narrate(
    tick: Res<Tick>,
    mut hits: MessageReader<CollisionEvent>,
    driven: Query<(), With<Driven>>,
    named: Query<(Entity, &Name), Added<Name>>,
    // An entity of an ended contact may have been despawned, with its name.
    mut names: Local<EntityHashMap<Name>>,
    mut ongoing: Local<u32>,
) {
    names.extend(named.iter().map(|(entity, name)| (entity, name.clone())));
    for hit in hits.read() {
        let Some(hit) = hit.seen_by(|entity| driven.contains(entity)) else {
            continue;
        };
        if hit.started() {
            *ongoing = 0;
        } else if hit.ongoing() {
            *ongoing += 1;
            if !ongoing.is_multiple_of(5) {
                continue;
            }
        }
        println!(
            "{:>4}  {:<16}  {:<18}  {:<26}  {}",
            tick.0,
            format!("{:?}", hit.phase),
            format!("{} -> {}", names[&hit.entity], names[&hit.other]),
            show(hit.normal),
            hit.depth,
        );
    }
}

/// Queries without an app: functions on shapes and poses.
fn query_without_an_app() {
    // A cube of side 1 that stands on an edge, 1.5 away from the center of a ball of radius 1.
    let on_edge = Isometry3d::new(Vec3::X * 1.5, Quat::from_rotation_z(45_f32.to_radians()));
    let (ball, cube) = (Sphere::new(1.0), Cuboid::from_length(1.0));
    if let Some(contact) = query::contact(&ball, Vec3::ZERO, &cube, on_edge) {
        let exact = 1.0 - (1.5 - 0.5_f64.sqrt());
        println!();
        println!("without an app: depth {}, exact {exact:.9}", contact.depth);
    }
}

/// Formats a vector with four digits, and without negative zeros.
fn show(vector: Vec3) -> String {
    let [x, y, z] = vector
        .to_array()
        .map(|number| (number * 1e4).round() / 1e4 + 0.0);
    format!("({x:.4}, {y:.4}, {z:.4})")
}
