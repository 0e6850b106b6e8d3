//! Colliders at rest: only changed colliders are read and tested, but the events equal the events
//! of a tick that reads and tests everything.

use crate::support::*;
use bevy::prelude::*;
use headbutt::{CollisionDiagnostics, Collisions, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

fn diagnostics(app: &App) -> CollisionDiagnostics {
    *app.world().resource::<CollisionDiagnostics>()
}

#[test]
fn at_rest_no_pair_is_tested_and_contacts_continue() {
    Touching::each(|mut touching, _| {
        touching.begin();
        assert_eq!(diagnostics(&touching.app).candidates, 1);
        for _ in 0..3 {
            touching.go_on();
            let diagnostics = diagnostics(&touching.app);
            assert_eq!((diagnostics.changed, diagnostics.candidates), (0, 0));
            assert_eq!((diagnostics.colliders, diagnostics.contacts), (2, 1));
        }
    });
}

#[test]
fn writing_an_equal_transform_is_no_movement() {
    Touching::each(|mut touching, entity| {
        touching.begin();
        transform(touching.world(), entity).set_changed();
        touching.go_on();
        assert_eq!(diagnostics(&touching.app).candidates, 0);
        transform(touching.world(), entity).translation.y += 0.01;
        touching.go_on();
        assert_eq!(diagnostics(&touching.app).candidates, 1);
    });
}

#[test]
fn a_replaced_collider_at_rest_is_noticed() {
    Touching::each(|mut touching, entity| {
        touching.begin();
        touching.go_on();
        let inert = Collider::default();
        let old = touching.world().entity_mut(entity).take::<Collider>();
        touching.world().entity_mut(entity).insert(inert);
        touching.end(EndReason::Invalid);
        touching
            .world()
            .entity_mut(entity)
            .insert(old.expect("a collider"));
        touching.begin();
    });
}

/// A child with a parent and a grandparent touches a ball. Each possible change happens to one of
/// the two ancestors while everything else rests.
#[test]
fn changes_of_ancestors_at_rest_are_noticed() {
    fn cut(world: &mut World, entity: Entity) {
        world.entity_mut(entity).remove::<ChildOf>();
    }
    fn lose(world: &mut World, entity: Entity) {
        world.entity_mut(entity).remove::<Transform>();
    }
    fn shift(world: &mut World, entity: Entity) {
        transform(world, entity).translation.x -= 100.0;
    }
    fn replace(world: &mut World, entity: Entity) {
        world
            .entity_mut(entity)
            .insert(Transform::from_xyz(-50.0, 0.0, 0.0));
    }
    fn disabled(world: &mut World, entity: Entity) {
        disable(world, entity);
        shift(world, entity);
    }
    type Deed = fn(&mut World, Entity);
    for dimension in [Dimension::D2, Dimension::D3] {
        // Each change is made to the first (0) or the second (1) ancestor.
        for (which, deed) in [
            (0, lose as Deed),
            (0, shift),
            (0, replace),
            (0, disabled),
            (1, cut),
            (1, lose),
            (1, shift),
            (1, replace),
            (1, disabled),
        ] {
            let mut app = app();
            let world = app.world_mut();
            let at = |x: f32| Transform::from_xyz(x, 0.0, 0.0);
            world.spawn((dimension.ball(1.0), at(31.0)));
            let first = world.spawn(at(10.0)).id();
            let second = world.spawn((at(10.0), ChildOf(first))).id();
            world.spawn((dimension.ball(1.0), at(10.0), ChildOf(second)));
            assert!(tick(&mut app).only().started());
            assert!(tick(&mut app).only().ongoing());
            deed(app.world_mut(), [first, second][which]);
            let end = tick(&mut app).only();
            assert_eq!(end.end_reason(), Some(EndReason::Separated), "{which}");
            assert!(tick(&mut app).is_empty());
        }
    }
}

/// In the same tick, an entity is despawned, and a new entity takes its index and its table row.
#[test]
fn entities_that_reuse_an_index_are_new_entities() {
    for dimension in [Dimension::D2, Dimension::D3] {
        let mut app = app();
        let world = app.world_mut();
        let still = world.spawn(dimension.ball(1.0)).id();
        let old = world.spawn(dimension.ball(1.0)).id();
        assert!(tick(&mut app).only().started());
        app.world_mut().despawn(old);
        let new = app.world_mut().spawn(dimension.ball(1.0)).id();
        let record = tick(&mut app);
        let phase = |with: Entity| {
            let with = |hit: &&CollisionEvent| [hit.entity, hit.other].contains(&with);
            record.messages.iter().find(with).map(|hit| hit.phase)
        };
        assert_eq!(
            phase(old),
            Some(CollisionPhase::Ended(EndReason::Despawned))
        );
        assert_eq!(phase(new), Some(CollisionPhase::Started));
        assert_eq!(record.messages.len(), 2, "{still} {record:#?}");
        // Disabling has the same effect: the entity that is enabled again has no changed component.
        disable(app.world_mut(), new);
        let other = app.world_mut().spawn(dimension.ball(1.0)).id();
        tick(&mut app);
        disable(app.world_mut(), other);
        app.world_mut()
            .entity_mut(new)
            .remove::<bevy::ecs::entity_disabling::Disabled>();
        let messages = tick(&mut app).messages;
        assert_eq!(messages.len(), 2, "{messages:#?}");
        assert!(
            messages
                .iter()
                .any(|hit| hit.started() && [hit.entity, hit.other].contains(&new))
        );
    }
}

#[test]
fn the_state_may_be_restored_at_rest() {
    Touching::each(|mut touching, _| {
        touching.begin();
        touching.go_on();
        touching.go_on();
        *touching.world().resource_mut::<Collisions>() = Collisions::default();
        touching.begin();
        touching.go_on();
    });
}

/// An observer at the end of the tick, or a system between the sets, restores the state.
#[test]
fn the_state_may_be_restored_between_the_sets_of_a_tick() {
    use HeadbuttSystems::{BroadPhase, NarrowPhase, Report, Sync};
    for moment in 0..4 {
        let mut app = app();
        let restore = |mut state: ResMut<Collisions>, mut is_due: ResMut<IsDue>| {
            if core::mem::take(&mut is_due.0) {
                *state = Collisions::default();
            }
        };
        app.init_resource::<IsDue>();
        match moment {
            0 => {
                app.add_observer(
                    move |_: On<CollisionStarted>,
                          state: ResMut<Collisions>,
                          is_due: ResMut<IsDue>| restore(state, is_due),
                );
            }
            1 => {
                app.add_systems(FixedPostUpdate, restore.after(Sync).before(BroadPhase));
            }
            2 => {
                app.add_systems(
                    FixedPostUpdate,
                    restore.after(BroadPhase).before(NarrowPhase),
                );
            }
            _ => {
                app.add_systems(FixedPostUpdate, restore.after(NarrowPhase).before(Report));
            }
        }
        let world = app.world_mut();
        let ball = |x: f32| {
            (
                Collider::from(Circle::new(1.0)),
                Transform::from_xyz(x, 0.0, 0.0),
            )
        };
        let [a, b, other, mover] = [0.0, 0.5, 100.0, 200.0].map(|x| world.spawn(ball(x)).id());
        tick(&mut app);
        tick(&mut app);
        app.insert_resource(IsDue(true));
        transform(app.world_mut(), mover).translation.x = 100.5;
        tick(&mut app);
        tick(&mut app);
        read(app.world_mut(), |it| {
            assert!(it.contains(a, b) && it.contains(other, mover), "{moment}");
        });
        let told = tick(&mut app).messages;
        assert!(told.len() == 2 && told.iter().all(CollisionEvent::ongoing));
    }
}

#[derive(Resource, Default)]
struct IsDue(bool);

#[test]
fn ongoing_events_are_sent_as_often_as_configured() {
    for (setting, at_rest, moved) in [
        (OngoingEvents::EveryTick, 1, 1),
        (OngoingEvents::OnChange, 0, 1),
        (OngoingEvents::Never, 0, 0),
    ] {
        Touching::each(|mut touching, entity| {
            touching.world().insert_resource(setting);
            let app = &mut touching.app;
            assert!(tick(app).only().started());
            for _ in 0..3 {
                assert_eq!(tick(app).messages.len(), at_rest);
                assert_eq!(read(app.world_mut(), |collisions| collisions.len()), 1);
            }
            transform(app.world_mut(), entity).translation.y += 0.01;
            let told = tick(app).messages;
            assert_eq!(told.len(), moved);
            assert!(told.iter().all(CollisionEvent::ongoing));
            move_away(app.world_mut(), entity);
            assert!(tick(app).only().ended());
        });
    }
}

#[test]
fn the_built_in_broad_phase_finds_resting_pairs_after_custom_candidates() {
    Touching::each(|mut touching, _| {
        touching.world().insert_resource(BroadPhase::Custom);
        assert!(tick(&mut touching.app).is_empty());
        touching.world().insert_resource(BroadPhase::Automatic);
        touching.begin();
        touching.world().insert_resource(BroadPhase::Custom);
        touching.end(EndReason::NotCandidate);
    });
}

#[test]
fn custom_candidates_at_rest_are_not_tested_again() {
    Touching::each(|mut touching, _| {
        touching.world().insert_resource(BroadPhase::Custom);
        let [one, other] = touching.sides;
        let supply = |touching: &mut Touching| {
            let mut pairs = touching.world().resource_mut::<CandidatePairs>();
            pairs.clear();
            pairs.push(other, one);
        };
        let last_written = |touching: &mut Touching| {
            let state = touching.world().get_resource_ref::<Collisions>();
            let ticks = state.map(|state| state.last_changed());
            ticks.expect("a state")
        };
        supply(&mut touching);
        touching.begin();
        touching.go_on();
        let last = last_written(&mut touching);
        touching.go_on();
        // Supplying the same pairs again in any order changes nothing.
        supply(&mut touching);
        touching.go_on();
        touching.go_on();
        assert_eq!(last_written(&mut touching), last);
        // If a pair is no candidate for a while, its contact ends, and starts again later, although
        // nothing moves.
        touching.world().resource_mut::<CandidatePairs>().clear();
        touching.end(EndReason::NotCandidate);
        assert!(tick(&mut touching.app).is_empty());
        assert_ne!(last_written(&mut touching), last);
        supply(&mut touching);
        touching.begin();
        touching.go_on();
        touching.world().insert_resource(BroadPhase::Automatic);
        touching.go_on();
    });
}

/// Two apps have the same entities. In one app, the plugin finds the pairs, and in the other app,
/// all pairs are tested in each tick.
#[test]
fn no_pair_is_missed_at_any_size_and_position() {
    for dimension in [Dimension::D2, Dimension::D3] {
        for (seed, origin) in [(1, 0.0), (2, 1e4), (3, -1e6_f32)] {
            let mut random = StdRng::seed_from_u64(seed);
            let mut apps = [BroadPhase::Automatic, BroadPhase::Custom].map(|it| {
                let plugin = HeadbuttPlugin::default().with_broad_phase(it);
                let mut app = App::new();
                app.add_plugins((MinimalPlugins, plugin));
                start(&mut app);
                app
            });
            let place = |size: f32, random: &mut StdRng| {
                let mut coordinate = || random.random_range(-20.0_f32..20.0).powi(3) * 0.02;
                let at = Vec3::new(coordinate(), coordinate(), coordinate());
                let turn = Quat::from_rotation_z(size) * Quat::from_rotation_x(2.0 * size);
                let z = if dimension == Dimension::D2 {
                    0.0
                } else {
                    at.z
                };
                Transform::from_translation(Vec3::splat(origin) + at.with_z(z)).with_rotation(turn)
            };
            let mut all = Vec::new();
            for number in 0..250 {
                let size = 10.0_f32.powf(random.random_range(-1.5..1.5));
                let collider = match number % 2 {
                    0 => dimension.ball(size),
                    _ => dimension.block(size),
                };
                let at = place(size, &mut random);
                let [entity, same] = apps
                    .each_mut()
                    .map(|app| app.world_mut().spawn((collider.clone(), at)).id());
                assert_eq!(entity, same);
                all.push((entity, size));
            }
            let [_, custom] = &mut apps;
            let mut pairs = custom.world_mut().resource_mut::<CandidatePairs>();
            for (number, (one, _)) in all.iter().enumerate() {
                pairs.extend(all[..number].iter().map(|(other, _)| (*one, *other)));
            }
            let mut hits = 0;
            for step in 0..40 {
                // Some colliders move a little, some colliders are teleported, and most colliders
                // rest. In some steps, all colliders move, and in other steps, no collider moves.
                for (entity, size) in &all {
                    let deed = random.random_range(0..if step % 7 == 0 { 12 } else { 100 });
                    let at = place(*size, &mut random);
                    for app in &mut apps {
                        let mut transform = transform(app.world_mut(), *entity);
                        if step % 5 == 0 || deed >= 12 {
                            continue;
                        } else if deed < 4 {
                            *transform = at;
                        } else {
                            transform.translation.y += 0.1 * size;
                        }
                    }
                }
                // All colliders are marked as changed, so that every supplied pair is tested.
                let world = apps[1].world_mut();
                let mut colliders = world.query::<&mut Collider>();
                colliders
                    .iter_mut(world)
                    .for_each(|mut it| it.set_changed());
                let [found, expected] = apps.each_mut().map(|app| tick(app).messages);
                assert_eq!(found, expected, "{step}");
                hits += found.len();
            }
            assert!(hits > 1_000, "{hits}");
            let tested = diagnostics(&apps[0]);
            assert!(tested.candidates < 250 * 249 / 4, "{tested:?}");
        }
    }
}

/// Spawns a chain of entities, each the child of the previous entity, and returns the chain.
fn chain(world: &mut World, length: usize) -> Vec<Entity> {
    let mut entities: Vec<Entity> = Vec::new();
    for _ in 0..length {
        let parent = entities.last().copied();
        let mut entity = world.spawn(Transform::IDENTITY);
        if let Some(parent) = parent {
            entity.insert(ChildOf(parent));
        }
        entities.push(entity.id());
    }
    entities
}

#[test]
fn each_ancestor_at_rest_is_visited_once() {
    const DEPTH: usize = 300;
    for dimension in Dimension::BOTH {
        // All colliders are below the whole chain. Each collider is the only child of its parent.
        let mut app = app();
        let world = app.world_mut();
        let last = *chain(world, DEPTH).last().expect("a chain");
        for _ in 0..100 {
            let parent = world.spawn((Transform::IDENTITY, ChildOf(last))).id();
            world.spawn((dimension.ball(1.0), ChildOf(parent)));
        }
        tick(&mut app);
        tick(&mut app);
        assert_eq!(diagnostics(&app).ancestors, DEPTH + 100);

        // There is one collider below each entity of the chain.
        let mut app = crate::support::app();
        let world = app.world_mut();
        for entity in chain(world, DEPTH) {
            world.spawn((dimension.ball(1.0), ChildOf(entity)));
        }
        tick(&mut app);
        tick(&mut app);
        // The first ancestor counts again for its own collider.
        assert_eq!(diagnostics(&app).ancestors, DEPTH + 1);
        assert_eq!(diagnostics(&app).changed, 0);
    }
}

/// Trees of ancestors are moved, cut, joined and stripped at random. The results are compared with
/// an app that reads everything again.
#[test]
fn colliders_follow_any_change_of_their_ancestors() {
    let mut random = StdRng::seed_from_u64(8);
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let spawn = |world: &mut World, number: usize| {
            let pose = Transform::from_xyz(0.3 * number as f32, 0.0, 0.0);
            world.spawn((dimension.ball(0.5), pose)).id()
        };
        let entities: Vec<Entity> = (0..40).map(|number| spawn(world, number)).collect();
        let (mut changes, mut contacts) = (0, 0);
        for _ in 0..400 {
            let world = app.world_mut();
            for _ in 0..random.random_range(0..4) {
                let [one, other] = [(); 2].map(|()| entities[random.random_range(0..40)]);
                let mut entity = world.entity_mut(one);
                match random.random_range(0..8) {
                    0..3 => drop(entity.remove::<ChildOf>()),
                    3 => drop(entity.remove::<Transform>()),
                    4..6 => drop(entity.insert(Transform::from_xyz(0.1, 0.2, 0.0))),
                    // The new parent may also create a loop.
                    _ if one != other => drop(entity.insert(ChildOf(other))),
                    _ => {}
                }
            }
            tick(&mut app);
            let diagnostics = diagnostics(&app);
            changes += diagnostics.changed;
            contacts += diagnostics.contacts;

            let mut fresh = crate::support::app();
            let mut copies = Vec::new();
            for _ in &entities {
                copies.push(fresh.world_mut().spawn_empty().id());
            }
            for (entity, copy) in entities.iter().zip(&copies) {
                let from = app.world().entity(*entity);
                let mut to = fresh.world_mut().entity_mut(*copy);
                to.insert(from.get::<Collider>().expect("a collider").clone());
                if let Some(transform) = from.get::<Transform>() {
                    to.insert(*transform);
                } else {
                    to.remove::<Transform>();
                }
                if let Some(parent) = from.get::<ChildOf>().map(ChildOf::parent) {
                    let number = entities.iter().position(|it| *it == parent);
                    to.insert(ChildOf(copies[number.expect("one of them")]));
                }
            }
            tick(&mut fresh);
            let facts = |app: &App, entities: &[Entity]| {
                let number = |entity| entities.iter().position(|it| *it == entity);
                let state = app.world().resource::<Collisions>();
                let mut facts: Vec<String> = state
                    .iter()
                    .map(|hit| {
                        let (a, b) = (number(hit.entity), number(hit.other));
                        let hit = if a < b { hit } else { hit.flipped() };
                        let normal = hit.normal;
                        format!("{:?} {:?} {normal} {}", a.min(b), a.max(b), hit.depth)
                    })
                    .collect();
                facts.sort();
                facts
            };
            assert_eq!(facts(&app, &entities), facts(&fresh, &copies));
        }
        assert!(changes > 300 && contacts > 10_000, "{changes}, {contacts}");
    }
}
