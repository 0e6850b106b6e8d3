//! Two blocks in the plane, then a turning cuboid in space, in one app: who touches whom, how deep, and which way out.
//!
//! ```text
//! cargo run --example hello
//! ```
//!
//! Headless, and over at once: time is set by hand, so that each update of the app is one fixed tick.

use bevy::{ecs::entity::EntityHashMap, prelude::*, time::TimeUpdateStrategy};
use headbutt::prelude::*;

fn main() {
    println!("tick  phase             who -> whom         normal                      depth");
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .init_resource::<Tick>()
        .add_systems(Startup, (spawn_blocks, spawn_solids))
        // What moves in `FixedUpdate` is tested in the same tick ...
        .add_systems(FixedUpdate, (count, drive, wear).chain())
        // ... and `Report` has said who touches before this reads it.
        .add_systems(
            FixedPostUpdate,
            (narrate, push_out).chain().after(HeadbuttSystems::Report),
        );

    let tick = app.world().resource::<Time<Fixed>>().timestep();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick));
    app.update(); // The clock starts here: no time has passed yet, so this runs no tick.
    for _ in 0..160 {
        app.update();
    }

    ask_without_an_app();
}

/// The number of the fixed tick, counted from 1.
#[derive(Resource, Default)]
struct Tick(u32);

/// Drives an entity: from which tick on, with what velocity in units a second.
#[derive(Component)]
struct Driven(Vec<(u32, Vec3)>);

/// Turns an entity around this axis, as fast as it is long, in radians a second.
#[derive(Component)]
struct Turning(Vec3);

/// Breaks after it was touched for so many ticks.
#[derive(Component)]
struct Fragile(u32);

/// 2D: shapes of `Vec2` lie in the xy plane. A collider needs no other component; it brings its `Transform` along.
fn spawn_blocks(mut commands: Commands) -> Result {
    let block_a = [(0.0, 0.0), (200.0, -40.0), (200.0, 180.0), (0.0, 120.0)];
    let block_b = [(0.0, 0.0), (50.0, 0.0), (50.0, 80.0), (0.0, 80.0)];
    commands.spawn((
        Name::new("block A"),
        Collider::convex_hull(block_a.map(Vec2::from))?,
        Transform::from_xyz(300.0, 300.0, 0.0),
    ));
    commands
        .spawn((
            Name::new("block B"),
            Collider::convex_hull(block_b.map(Vec2::from))?,
            Transform::from_xyz(100.0, 350.0, 0.0),
            Driven(vec![
                (1, Vec3::new(300.0, 0.0, 0.0)),
                (49, Vec3::new(-200.0, 200.0, 0.0)),
            ]),
        ))
        // An observer hears of its own entity only. This one stops the block once it is free.
        .observe(|hit: On<CollisionEnded>, mut commands: Commands| {
            commands.entity(hit.entity).insert(Driven(vec![]));
        });
    Ok(())
}

/// 3D: the same component, of Bevy's primitives or of points. What lies in the plane never meets what is in space.
fn spawn_solids(mut commands: Commands) -> Result {
    let octahedron = Vec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    commands.spawn((Name::new("sphere"), Collider::from(Sphere::new(1.0))));
    commands.spawn((
        Name::new("hull"),
        Collider::convex_hull(octahedron)?,
        Transform::from_xyz(-2.5, 2.5, 0.0),
        Fragile(12),
    ));
    commands.spawn((
        Name::new("cuboid"),
        Collider::from(Cuboid::new(1.0, 0.8, 0.6)),
        Transform::from_xyz(-2.5, 0.0, 0.0),
        Turning(Vec3::new(0.3, 0.5, 1.0)),
        Driven(vec![
            (50, Vec3::new(2.0, 0.0, 0.0)),
            (100, Vec3::new(-1.0, 2.0, 0.0)),
        ]),
    ));
    Ok(())
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

/// `Collisions` answers without events: who touches whom, as of the last tick.
fn wear(
    mut commands: Commands,
    collisions: Collisions,
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

/// The response is yours: headbutt never moves anything. This one moves what is driven out of what it is driven into.
fn push_out(
    mut hits: MessageReader<CollisionEvent>,
    mut driven: Query<&mut Transform, With<Driven>>,
) {
    for hit in hits.read().filter(|hit| hit.touching()) {
        // Which of the two is `hit.entity` means nothing; `seen_by` turns the event round to the side that we ask for.
        if let Some(hit) = hit.seen_by(|entity| driven.contains(entity))
            && let Ok(mut transform) = driven.get_mut(hit.entity)
        {
            transform.translation += hit.minimum_translation();
        }
    }
}

/// Prints each `Started` and `Ended`, and every fifth `Ongoing`.
fn narrate(
    tick: Res<Tick>,
    mut hits: MessageReader<CollisionEvent>,
    driven: Query<(), With<Driven>>,
    named: Query<(Entity, &Name), Added<Name>>,
    // Remembered, because what has ended may have been despawned.
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

/// The geometry is there without an app as well: plain functions on shapes and poses.
fn ask_without_an_app() {
    // A cube of side 1 that stands on its edge, 1.5 from the centre of a ball of radius 1.
    let on_edge = Isometry3d::new(Vec3::X * 1.5, Quat::from_rotation_z(45_f32.to_radians()));
    let (ball, cube) = (Sphere::new(1.0), Cuboid::from_length(1.0));
    if let Some(contact) = query::contact(&ball, Isometry3d::IDENTITY, &cube, on_edge) {
        let closed_form = 1.0 - (1.5 - 0.5_f64.sqrt());
        println!(
            "
without an app: ball and cube are {} deep in each other, by formula {closed_form:.9}",
            contact.depth
        );
    }
}

/// Four digits, and no zero with a minus sign.
fn show(vector: Vec3) -> String {
    let [x, y, z] = vector
        .to_array()
        .map(|number| (number * 1e4).round() / 1e4 + 0.0);
    format!("({x:.4}, {y:.4}, {z:.4})")
}
