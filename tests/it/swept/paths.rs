//! The ticks that have a path, and the pose in which the path begins.

use bevy::{
    ecs::{
        entity::{EntityHashMap, MapEntities},
        entity_disabling::Disabled,
    },
    prelude::*,
};
use headbutt::{CollisionDiagnostics, Collisions, prelude::*, sync_now};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{move_to, place, summary};
use crate::support::{app, frame, tick};

/// Returns a thin wall at x = 0, and a swept bullet at x = -5, after a tick.
fn scene() -> (App, Entity) {
    let mut app = app();
    app.world_mut().spawn(Collider::cuboid(0.01, 9.0, 9.0));
    let bullet = bullet(&mut app, -5.0);
    assert_eq!(tick(&mut app).messages, []);
    (app, bullet)
}

fn bullet(app: &mut App, x: f32) -> Entity {
    let parts = (
        Collider::sphere(0.1),
        Swept,
        Transform::from_xyz(x, 0.0, 0.0),
    );
    app.world_mut().spawn(parts).id()
}

fn diagnostics(app: &App) -> CollisionDiagnostics {
    *app.world().resource()
}

#[test]
fn a_new_bullet_has_no_path_unless_it_begins_with_teleported() {
    for (begins, hits) in [(false, 0), (true, 2)] {
        let (mut app, old) = scene();
        app.world_mut().despawn(old);
        let new = bullet(&mut app, -5.0);
        if begins {
            app.world_mut().entity_mut(new).insert(Teleported);
        }
        assert_eq!(move_to(&mut app, new, 5.0).len(), hits);
        assert_eq!(move_to(&mut app, new, -5.0).len(), 2);
    }
}

/// A bullet is spawned in any part of a tick, and moves before the next tick. The bullet may be the
/// only swept collider, and the tick may follow a rollback.
#[test]
fn a_bullet_that_is_spawned_within_a_tick_begins_its_path() {
    #[derive(Resource, Default)]
    struct Gun(Option<Entity>);
    fn shoot(mut commands: Commands, mut gun: ResMut<Gun>) {
        let pose = Transform::from_xyz(-5.0, 0.0, 0.0);
        let bullet = commands.spawn((Collider::sphere(0.1), Swept, Teleported, pose));
        gun.0.get_or_insert(bullet.id());
    }
    for stage in 0..4 {
        for (is_first, is_rollback) in [(true, false), (false, false), (false, true)] {
            let (mut app, old) = scene();
            if is_first {
                app.world_mut().despawn(old);
                tick(&mut app);
            }
            if is_rollback {
                app.world_mut().resource_mut::<Collisions>().set_changed();
            }
            let shoot = shoot.run_if(|gun: Res<Gun>| gun.0.is_none());
            let shoot = match stage {
                0 => shoot.before(HeadbuttSystems::Sync),
                1 => shoot
                    .after(HeadbuttSystems::Sync)
                    .before(HeadbuttSystems::BroadPhase),
                2 => shoot
                    .after(HeadbuttSystems::NarrowPhase)
                    .before(HeadbuttSystems::Report),
                _ => shoot.after(HeadbuttSystems::Report),
            };
            app.init_resource::<Gun>()
                .add_systems(FixedPostUpdate, shoot);
            tick(&mut app);
            let bullet = app.world().resource::<Gun>().0.expect("a bullet");
            let hits = move_to(&mut app, bullet, 5.0);
            let walls = hits.iter().filter(|hit| hit.seen_from(old).is_none());
            assert_eq!(walls.count(), 2, "{stage} {is_first} {is_rollback}");
            // No pose is kept for a despawned collider.
            for entity in [old, bullet] {
                app.world_mut().try_despawn(entity).ok();
            }
            tick(&mut app);
            assert_eq!(*app.world().resource::<Collisions>(), Collisions::default());
        }
    }
}

/// A hook of the removal may insert the marker again, query the colliders, or despawn the other
/// bullet. (Observers of a removal have other types in Bevy 0.20.)
#[test]
fn hooks_of_the_removal_of_teleported_do_no_harm() {
    #[derive(Resource, Clone, Copy)]
    struct Bullets([Entity; 2]);
    #[derive(Resource, Default)]
    struct Found(Vec<usize>);

    let (mut app, first) = scene();
    let second = bullet(&mut app, -7.0);
    let world = app.world_mut();
    world.insert_resource(Bullets([first, second]));
    world.init_resource::<Found>();
    let hooks = world.register_component_hooks::<Teleported>();
    hooks.on_remove(|mut world, context| {
        let Bullets([first, second]) = *world.resource::<Bullets>();
        let mut commands = world.commands();
        commands.entity(context.entity).try_insert(Teleported);
        commands.queue(|world: &mut World| {
            let found = world.run_system_cached(near_wall).expect("a query");
            world.resource_mut::<Found>().0.push(found);
        });
        if context.entity == first {
            commands.entity(second).try_despawn();
        }
    });
    for entity in [first, second] {
        world.entity_mut(entity).insert(Teleported);
    }
    assert_eq!(move_to(&mut app, first, 5.0).len(), 2);
    assert!(app.world().entity(first).contains::<Teleported>());
    // The hook ran for the removal from the first bullet, and for the despawn of the second bullet.
    assert_eq!(app.world().resource::<Found>().0, [1, 1]);
}

/// Returns the number of colliders near the origin.
fn near_wall(query: SpatialQuery) -> usize {
    let (filter, mut found) = (SpatialQueryFilter::default(), vec![]);
    query.overlaps_aabb(Vec3::splat(-1.0), Vec3::ONE, &filter, &mut found);
    found.len()
}

#[test]
fn a_teleported_bullet_begins_a_new_path() {
    let (mut app, bullet) = scene();
    let beyond = (Transform::from_xyz(5.0, 0.0, 0.0), Teleported);
    app.world_mut().entity_mut(bullet).insert(beyond);
    assert_eq!(tick(&mut app).messages, []);
    assert!(!app.world().entity(bullet).contains::<Teleported>());
    assert_eq!(move_to(&mut app, bullet, -5.0).len(), 2);
    // The bullet is teleported to the left side of the wall, and then moved through the wall in the
    // same tick.
    let (from, half) = (Transform::from_xyz(-10.0, 0.0, 0.0), 0.1 + 0.005);
    app.world_mut()
        .entity_mut(bullet)
        .insert((from, Teleported));
    let messages = move_to(&mut app, bullet, 10.0);
    assert_eq!(messages.len(), 2);
    assert!((messages[0].time() - (10.0 - half) / 20.0).abs() < 1e-6);
}

/// The path leads from the place of the teleport back to the place at which the bullet rested.
#[test]
fn a_teleport_that_is_taken_back_has_a_path_in_its_tick_only() {
    for is_child in [false, true] {
        let (mut app, bullet) = scene();
        let mut moved = bullet;
        if is_child {
            moved = app.world_mut().spawn(Transform::default()).id();
            app.world_mut().entity_mut(moved).add_child(bullet);
        }
        assert!(tick(&mut app).is_empty() && tick(&mut app).is_empty());
        let old = *app.world().get::<Transform>(moved).expect("a pose");
        let beyond = Transform::from_translation(old.translation + 10.0 * Vec3::X);
        app.world_mut()
            .entity_mut(moved)
            .insert((beyond, Teleported));
        place(&mut app, moved, old);
        let back = tick(&mut app).messages;
        assert_eq!(back.len(), 2);
        assert!((back[0].time() - (5.0 - 0.105) / 10.0).abs() < 1e-6);
        assert!(tick(&mut app).is_empty());
        place(&mut app, bullet, Transform::from_xyz(-5.3, 0.0, 0.0));
        assert_eq!(tick(&mut app).messages, []);
    }
}

/// Between the first and the last stage of a tick, a ship is teleported. Then its bullet leaves the
/// ship, or a bullet joins the ship. The bullet rests afterward.
#[test]
fn a_bullet_that_joins_or_leaves_a_teleported_ship_within_a_tick_hits_nothing_at_rest() {
    #[derive(Resource)]
    struct Ship(Entity, Entity, bool);

    fn teleport(world: &mut World) {
        let Some(Ship(ship, bullet, is_joining)) = world.remove_resource::<Ship>() else {
            return;
        };
        let beyond = Transform::from_xyz(10.0, 0.0, 0.0);
        world.entity_mut(ship).insert((beyond, Teleported));
        if is_joining {
            world.entity_mut(bullet).insert(ChildOf(ship));
            place_at(world, bullet, -5.0);
        } else {
            world.entity_mut(bullet).remove::<ChildOf>();
            place_at(world, bullet, 5.0);
        }
    }

    fn place_at(world: &mut World, entity: Entity, x: f32) {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        *world.get_mut(entity).expect("an entity with a pose") = pose;
    }

    for is_joining in [true, false] {
        let (mut app, bullet) = scene();
        let ship = app.world_mut().spawn(Transform::default()).id();
        if !is_joining {
            app.world_mut().entity_mut(ship).add_child(bullet);
        }
        let within = teleport
            .after(HeadbuttSystems::Sync)
            .before(HeadbuttSystems::Report);
        app.add_systems(FixedPostUpdate, within);
        assert_eq!(tick(&mut app).messages, []);
        app.insert_resource(Ship(ship, bullet, is_joining));
        let (x, hits) = if is_joining { (5.0, 2) } else { (-5.5, 0) };
        assert_eq!(move_to(&mut app, bullet, x).len(), hits);
        for _ in 0..2 {
            assert_eq!(tick(&mut app).messages, [], "{is_joining}");
        }
    }
}

#[test]
fn a_teleported_parent_begins_new_paths_of_its_children() {
    for (teleports, hits) in [(true, 0), (false, 2)] {
        let (mut app, bullet) = scene();
        let world = app.world_mut();
        let middle = world.spawn(Transform::default()).id();
        let parent = world.spawn(Transform::default()).add_child(middle).id();
        world.entity_mut(middle).add_child(bullet);
        assert_eq!(tick(&mut app).messages, []);
        let beyond = Transform::from_xyz(10.0, 0.0, 0.0);
        app.world_mut().entity_mut(parent).insert(beyond);
        if teleports {
            app.world_mut().entity_mut(parent).insert(Teleported);
        }
        // A child moves with its parent, and is swept.
        assert_eq!(tick(&mut app).messages.len(), hits);
        place(&mut app, parent, Transform::default());
        assert_eq!(tick(&mut app).messages.len(), 2);
    }
}

/// A response corrects the pose in the tick of the hit, and begins the path in the corrected pose.
#[test]
fn a_correction_after_the_report_begins_the_next_path() {
    fn correct(mut hits: MessageReader<CollisionEvent>, mut commands: Commands) {
        for hit in hits.read().filter(|hit| hit.started()) {
            for hit in [*hit, hit.flipped()] {
                // The wall is at the origin.
                if hit.translation() != Vec3::ZERO {
                    let pose = Transform::from_translation(hit.translation());
                    commands.entity(hit.entity).insert((pose, Teleported));
                }
            }
        }
    }
    let (mut app, bullet) = scene();
    app.add_systems(FixedPostUpdate, correct.after(HeadbuttSystems::Report));
    assert_eq!(move_to(&mut app, bullet, 5.0).len(), 2);
    let pose = app.world().get::<Transform>(bullet).expect("a pose");
    assert!((pose.translation.x + 0.105).abs() < 1e-6);
    assert_eq!(tick(&mut app).messages.len(), 1, "it touches the wall");
    assert!(
        move_to(&mut app, bullet, -5.0)
            .iter()
            .all(CollisionEvent::ended)
    );
}

#[test]
fn a_disabled_bullet_has_no_path_when_it_is_enabled() {
    let (mut app, bullet) = scene();
    app.world_mut().entity_mut(bullet).insert(Disabled);
    assert_eq!(move_to(&mut app, bullet, 5.0), []);
    app.world_mut().entity_mut(bullet).remove::<Disabled>();
    assert_eq!(tick(&mut app).messages, []);
    assert_eq!(move_to(&mut app, bullet, -5.0).len(), 2);
}

#[test]
fn a_bullet_that_was_invalid_or_flat_has_no_path() {
    for collider in [Collider::circle(0.1), Collider::sphere(f32::NAN)] {
        let (mut app, bullet) = scene();
        app.world_mut().entity_mut(bullet).insert(collider);
        assert_eq!(tick(&mut app).messages, []);
        app.world_mut()
            .entity_mut(bullet)
            .insert(Collider::sphere(0.1));
        assert_eq!(move_to(&mut app, bullet, 5.0), []);
        assert_eq!(move_to(&mut app, bullet, -5.0).len(), 2);
    }
}

#[test]
fn a_path_spans_a_pause_and_ignores_queries_between_ticks() {
    let (mut app, bullet) = scene();
    assert!(frame(&mut app, 0).is_empty());
    place(&mut app, bullet, Transform::from_xyz(0.0, 90.0, 0.0));
    sync_now(app.world_mut());
    let messages = move_to(&mut app, bullet, 5.0);
    assert_eq!(messages.len(), 2);
    assert!((messages[0].time() - (5.0 - 0.105) / 10.0).abs() < 1e-6);
}

#[test]
fn a_bullet_that_stops_is_updated_once_more() {
    let (mut app, bullet) = scene();
    move_to(&mut app, bullet, 5.0);
    let first = diagnostics(&app);
    assert_eq!((first.changed, first.candidates, first.casts), (1, 1, 1));
    tick(&mut app);
    let second = diagnostics(&app);
    assert_eq!((second.changed, second.candidates, second.casts), (1, 0, 0));
    tick(&mut app);
    assert_eq!(diagnostics(&app).changed, 0);
}

#[test]
fn queries_see_the_poses_and_not_the_paths() {
    let (mut app, bullet) = scene();
    for _ in 0..3 {
        for x in [5.0, -5.0] {
            move_to(&mut app, bullet, x);
            let found = app
                .world_mut()
                .run_system_cached(near_wall)
                .expect("a query");
            assert_eq!(found, 1, "only the wall");
        }
    }
}

/// A swept collider without a shape does not count. An example is a collider that waits for a mesh.
#[test]
fn without_swept_colliders_no_poses_are_stored() {
    for shapeless in [
        None,
        Some(Collider::default()),
        Some(Collider::sphere(f32::NAN)),
    ] {
        let (mut app, bullet) = scene();
        app.world_mut().entity_mut(bullet).remove::<Swept>();
        let shapeless = shapeless.map(|collider| app.world_mut().spawn((collider, Swept)).id());
        for x in [5.0, -5.0, 5.0] {
            assert_eq!(move_to(&mut app, bullet, x), []);
            let found = diagnostics(&app);
            let counts = (found.changed, found.candidates, found.casts);
            assert_eq!(counts, (1, 0, 0));
            assert_eq!(*app.world().resource::<Collisions>(), Collisions::default());
        }
        // If the collider had a path, its box would be updated once more.
        tick(&mut app);
        assert_eq!(diagnostics(&app).changed, 0);
        // Once the collider has a shape, poses are stored.
        if let Some(shapeless) = shapeless {
            let shape = (Collider::sphere(0.1), Transform::from_xyz(0.0, 50.0, 0.0));
            app.world_mut().entity_mut(shapeless).insert(shape);
            tick(&mut app);
            assert_ne!(*app.world().resource::<Collisions>(), Collisions::default());
        }
    }
    let (mut app, bullet) = scene();
    app.world_mut().entity_mut(bullet).remove::<Swept>();
    tick(&mut app);
    assert_eq!(*app.world().resource::<Collisions>(), Collisions::default());
    app.world_mut().entity_mut(bullet).insert(Swept);
    tick(&mut app);
    assert_ne!(*app.world().resource::<Collisions>(), Collisions::default());
    app.world_mut().despawn(bullet);
    tick(&mut app);
    assert_eq!(*app.world().resource::<Collisions>(), Collisions::default());
}

/// The state of a random scene, which an app can save and restore.
struct Chaos {
    random: StdRng,
    bodies: Vec<Entity>,
}

impl Chaos {
    fn new(app: &mut App) -> Self {
        let mut random = StdRng::seed_from_u64(5);
        let mut bodies = vec![];
        for index in 0..60 {
            let collider = match index % 4 {
                0 | 1 => Collider::sphere(0.1),
                2 => Collider::capsule_3d(0.02, 1.5),
                _ => Collider::cuboid(0.01, 3.0, 3.0),
            };
            let pose = pose(&mut random);
            let mut entity = app.world_mut().spawn((collider, pose));
            if index % 4 < 3 {
                entity.insert(Swept);
            }
            bodies.push(entity.id());
        }
        Self { random, bodies }
    }

    /// Moves most bodies, and teleports a few bodies, after the tick's movement or with this
    /// movement. Some teleports are taken back.
    fn step(&mut self, app: &mut App) -> Vec<(CollisionPhase, f32, Entity, Entity)> {
        for entity in &self.bodies {
            if self.random.random_bool(0.8) {
                place(app, *entity, pose(&mut self.random));
            }
            if self.random.random_bool(0.05) {
                app.world_mut().entity_mut(*entity).insert(Teleported);
            }
            if self.random.random_bool(0.05) {
                let old = *app.world().get::<Transform>(*entity).expect("a pose");
                let to = (pose(&mut self.random), Teleported);
                app.world_mut().entity_mut(*entity).insert(to);
                place(app, *entity, old);
            }
        }
        let events = summary(&tick(app).messages);
        if self.random.random_bool(0.3) {
            let index = self.random.random_range(0..self.bodies.len());
            let to = (pose(&mut self.random), Teleported);
            app.world_mut().entity_mut(self.bodies[index]).insert(to);
        }
        events
    }

    fn poses(&self, app: &App) -> Vec<Transform> {
        let pose = |entity| *app.world().get::<Transform>(entity).expect("a pose");
        self.bodies.iter().map(|entity| pose(*entity)).collect()
    }
}

fn pose(random: &mut StdRng) -> Transform {
    let mut coordinate = |reach: f32| random.random_range(-reach..reach);
    let at = Vec3::new(coordinate(6.0), coordinate(6.0), coordinate(6.0));
    let turn = Quat::from_euler(
        EulerRot::XYZ,
        coordinate(3.0),
        coordinate(1.5),
        coordinate(3.0),
    );
    Transform::from_translation(at).with_rotation(turn)
}

#[test]
fn a_rollback_replays_the_same_events() {
    let mut app = app();
    let mut chaos = Chaos::new(&mut app);
    for _ in 0..10 {
        chaos.step(&mut app);
    }
    for _ in 0..40 {
        let saved = app.world().resource::<Collisions>().clone();
        let (poses, random) = (chaos.poses(&app), chaos.random.clone());
        let events: Vec<_> = (0..8).map(|_| chaos.step(&mut app)).collect();
        let passes = events.iter().flatten().filter(|event| event.1 < 1.0);
        assert!(passes.count() > 100);
        // The marker is no state: the path that it began is part of `Collisions`.
        for (entity, pose) in chaos.bodies.iter().zip(&poses) {
            app.world_mut().entity_mut(*entity).remove::<Teleported>();
            place(&mut app, *entity, *pose);
        }
        *app.world_mut().resource_mut::<Collisions>() = saved.clone();
        chaos.random = random.clone();
        for expected in &events {
            assert_eq!(chaos.step(&mut app), *expected);
        }
        // The ticks are replayed in another app, with other entities.
        let mut other = crate::support::app();
        other.world_mut().spawn_empty();
        let mut copy = Chaos::new(&mut other);
        let pairs = chaos
            .bodies
            .iter()
            .copied()
            .zip(copy.bodies.iter().copied());
        let mut map: EntityHashMap<Entity> = pairs.collect();
        let mut collisions = saved;
        collisions.map_entities(&mut map);
        for (entity, pose) in copy.bodies.iter().zip(&poses) {
            place(&mut other, *entity, *pose);
        }
        *other.world_mut().resource_mut::<Collisions>() = collisions;
        copy.random = random;
        for expected in &events {
            let expected = expected
                .iter()
                .map(|(phase, time, a, b)| (*phase, *time, map[a], map[b]));
            assert_eq!(copy.step(&mut other), expected.collect::<Vec<_>>());
        }
    }
}
