//! Tests how a contact starts, continues and ends: exactly one `Ended` for each `Started`, with its
//! reason.

use crate::support::{
    Act, Dimension, Record, Touching, adopt, app, assert_near_vec, assert_phases_alternate,
    despawn, disable, dynamic, frame, leave_layers, lose_pose, move_away, parent, read,
    remove_collider, start, tick, transform, watch,
};
use bevy::{
    ecs::{
        entity::EntityHashMap,
        entity_disabling::{DefaultQueryFilters, Disabled},
        lifecycle::HookContext,
        reflect::{ReflectComponent, ReflectResource},
        relationship::RelationshipHookMode,
        world::DeferredWorld,
    },
    prelude::*,
    reflect::{PartialReflect, TypeRegistry},
};
use headbutt::{Collisions, prelude::*};

/// Lets a contact start and continue, acts on one side, and expects that the contact ends for this
/// reason. Runs in both dimensions and on both sides.
#[track_caller]
fn assert_ends(reason: EndReason, act: impl Fn(&mut World, Entity)) {
    assert_ends_prepared(reason, |_, _| {}, act);
}

/// Like [`assert_ends`], but prepares the side before the contact starts.
#[track_caller]
fn assert_ends_prepared(
    reason: EndReason,
    prepare: impl Fn(&mut World, Entity),
    act: impl Fn(&mut World, Entity),
) {
    Touching::each(|mut touching, side| {
        prepare(touching.world(), side);
        touching.begin();
        touching.go_on();
        act(touching.world(), side);
        touching.end(reason);
    });
}

#[test]
fn moving_either_away_ends_a_contact() {
    assert_ends(EndReason::Separated, move_away);
}

#[test]
fn despawning_either_ends_a_contact() {
    assert_ends(EndReason::Despawned, despawn);
}

#[test]
fn despawning_a_parent_ends_the_contacts_of_its_children() {
    assert_ends_prepared(EndReason::Despawned, adopt, |world, entity| {
        world.despawn(parent(world, entity));
    });
}

#[test]
fn removing_a_collider_ends_a_contact() {
    assert_ends(EndReason::ColliderRemoved, remove_collider);
}

#[test]
fn clearing_an_entity_ends_its_contact() {
    Touching::each(|mut touching, side| {
        touching.begin();
        // An entity's observers are removed with its components.
        touching.world().entity_mut(side).clear();
        let record = tick(&mut touching.app);
        let reason = record.only().end_reason();
        assert_eq!(reason, Some(EndReason::ColliderRemoved));
        assert_eq!(record.at(touching.other(side)).len(), 1);
        assert!(tick(&mut touching.app).is_empty());
    });
}

#[test]
fn disabling_either_ends_a_contact() {
    assert_ends(EndReason::Disabled, disable);
}

#[test]
fn disabling_a_parent_ends_nothing() {
    Touching::each(|mut touching, side| {
        adopt(touching.world(), side);
        touching.begin();
        let parent = parent(touching.world(), side);
        touching.world().entity_mut(parent).insert(Disabled);
        touching.go_on();
    });
}

#[test]
fn a_custom_disabling_component_ends_a_contact() {
    #[derive(Component)]
    struct Asleep;

    for dimension in Dimension::BOTH {
        for side in 0..2 {
            let mut app = App::new();
            let asleep = app.world_mut().register_component::<Asleep>();
            app.world_mut()
                .resource_mut::<DefaultQueryFilters>()
                .register_disabling_component(asleep);
            app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
            start(&mut app);

            let mut touching = Touching::new(app, dimension);
            touching.begin();
            let entity = touching.sides[side];
            touching.world().entity_mut(entity).insert(Asleep);
            touching.end(EndReason::Disabled);
            touching.world().entity_mut(entity).remove::<Asleep>();
            touching.begin();
        }
    }
}

#[test]
fn layers_inserted_at_rest_end_a_contact() {
    assert_ends(EndReason::Filtered, leave_layers);
}

#[test]
fn layers_mutated_at_rest_end_a_contact() {
    // Each collider must be on a layer with which the other collider collides, so either mask alone
    // ends the contact.
    let changes: [fn(&mut CollisionLayers); 2] =
        [|layers| layers.memberships = 2, |layers| layers.filters = 2];
    for change in changes {
        Touching::each(|mut touching, side| {
            for entity in touching.sides {
                let layers = CollisionLayers::new(1, 1);
                touching.world().entity_mut(entity).insert(layers);
            }
            touching.begin();
            let layers = touching.world().get_mut::<CollisionLayers>(side);
            change(&mut layers.expect("inserted"));
            touching.end(EndReason::Filtered);
        });
    }
}

#[test]
fn a_collider_without_layers_is_on_all_layers() {
    Touching::each(|mut touching, side| {
        touching
            .world()
            .entity_mut(side)
            .insert(CollisionLayers::ALL);
        touching.begin();
        touching
            .world()
            .entity_mut(side)
            .remove::<CollisionLayers>();
        touching.go_on();
        leave_layers(touching.world(), side);
        touching.end(EndReason::Filtered);
        touching
            .world()
            .entity_mut(side)
            .remove::<CollisionLayers>();
        touching.begin();
    });
}

#[test]
fn a_smaller_collider_inserted_ends_a_contact() {
    Touching::each(|mut touching, side| {
        touching.begin();
        let small = touching.dimension.ball(0.125);
        touching.world().entity_mut(side).insert(small);
        touching.end(EndReason::Separated);
    });
}

#[test]
fn a_collider_made_smaller_in_place_ends_a_contact() {
    Touching::each(|mut touching, side| {
        touching.begin();
        let small = touching.dimension.ball(0.125);
        let collider = touching.world().get_mut::<Collider>(side);
        *collider.expect("it has one") = small;
        touching.end(EndReason::Separated);
    });
}

#[test]
fn a_collider_of_the_other_dimension_ends_a_contact() {
    Touching::each(|mut touching, side| {
        touching.begin();
        let stranger = match touching.dimension {
            Dimension::D2 => Dimension::D3.ball(1.0),
            Dimension::D3 => Dimension::D2.ball(1.0),
        };
        touching.world().entity_mut(side).insert(stranger);
        touching.end(EndReason::Separated);
    });
}

#[test]
fn a_collider_made_inert_ends_a_contact() {
    assert_ends(EndReason::Invalid, |world, entity| {
        world.entity_mut(entity).insert(Collider::default());
    });
    assert_ends(EndReason::Invalid, |world, entity| {
        let collider = world.get_mut::<Collider>(entity);
        *collider.expect("it has one") = Collider::default();
    });
    assert_ends(EndReason::Invalid, |world, entity| {
        let nonsense = Collider::from(Circle::new(f32::NAN));
        world.entity_mut(entity).insert(nonsense);
    });
}

#[test]
fn leaving_a_parent_ends_a_contact_that_the_parent_caused() {
    assert_ends_prepared(EndReason::Separated, adopt, |world, entity| {
        world.entity_mut(entity).remove::<ChildOf>();
    });
}

#[test]
fn a_change_of_parent_ends_a_contact() {
    assert_ends(EndReason::Separated, adopt_elsewhere);
    assert_ends_prepared(EndReason::Separated, adopt, adopt_elsewhere);
}

fn adopt_elsewhere(world: &mut World, entity: Entity) {
    let parent = world.spawn(Transform::from_xyz(0.0, 50.0, 0.0)).id();
    world.entity_mut(entity).insert(ChildOf(parent));
}

#[test]
fn moving_a_parent_or_grandparent_ends_a_contact() {
    assert_ends_prepared(EndReason::Separated, adopt, |world, entity| {
        let parent = parent(world, entity);
        move_away(world, parent);
    });
    let adopt_twice = |world: &mut World, entity: Entity| {
        adopt(world, entity);
        let parent = parent(world, entity);
        adopt(world, parent);
    };
    assert_ends_prepared(EndReason::Separated, adopt_twice, |world, entity| {
        let grandparent = parent(world, parent(world, entity));
        move_away(world, grandparent);
    });
}

#[test]
fn scaling_either_down_ends_a_contact() {
    assert_ends(EndReason::Separated, |world, entity| {
        transform(world, entity).scale = Vec3::splat(0.125);
    });
}

#[test]
fn scaling_a_parent_down_ends_a_contact() {
    assert_ends_prepared(EndReason::Separated, adopt, |world, entity| {
        let parent = parent(world, entity);
        transform(world, parent).scale = Vec3::splat(0.125);
    });
}

#[test]
fn rotating_a_bar_away_ends_a_contact() {
    // A long bar along x reaches the other collider from a distance of 4. Rotated by a right angle,
    // the bar does not reach it.
    for dimension in Dimension::BOTH {
        let mut app = app();
        let bar = app
            .world_mut()
            .spawn((
                dimension.block(2.0),
                Transform::from_xyz(0.0, 0.0, 0.0).with_scale(Vec3::new(4.0, 0.5, 0.5)),
            ))
            .id();
        app.world_mut()
            .spawn((dimension.ball(1.0), Transform::from_xyz(4.5, 0.0, 0.0)));
        assert!(tick(&mut app).only().started());
        transform(app.world_mut(), bar).rotation =
            Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
        let hit = tick(&mut app).only();
        assert_eq!(hit.end_reason(), Some(EndReason::Separated));
    }
}

#[test]
fn a_pose_that_is_not_finite_ends_a_contact() {
    let acts: [Act; 5] = [
        lose_pose,
        |world, entity| transform(world, entity).translation.y = f32::INFINITY,
        |world, entity| transform(world, entity).rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        |world, entity| transform(world, entity).rotation.w = f32::NAN,
        |world, entity| transform(world, entity).scale.x = f32::NEG_INFINITY,
    ];
    for act in acts {
        assert_ends(EndReason::Invalid, act);
        assert_ends_prepared(EndReason::Invalid, adopt, |world, entity| {
            act(world, parent(world, entity));
        });
    }
}

#[test]
fn removing_the_transform_ends_a_contact() {
    assert_ends(EndReason::Invalid, |world, entity| {
        world.entity_mut(entity).remove::<Transform>();
    });
}

#[test]
fn the_first_of_several_end_reasons_is_reported() {
    let acts: [(EndReason, Act); 6] = [
        (EndReason::Despawned, despawn),
        (EndReason::Disabled, disable),
        (EndReason::ColliderRemoved, remove_collider),
        (EndReason::Invalid, lose_pose),
        (EndReason::Filtered, leave_layers),
        (EndReason::Separated, move_away),
    ];
    assert!(acts.is_sorted_by_key(|(reason, _)| *reason));
    for (index, (reason, act)) in acts.iter().enumerate() {
        for (_, lesser) in &acts[index + 1..] {
            // Each act changes another side.
            Touching::each(|mut touching, side| {
                touching.begin();
                let other = touching.other(side);
                lesser(touching.world(), other);
                act(touching.world(), side);
                touching.end(*reason);
            });
            // Both acts change the same side.
            assert_ends(*reason, |world, entity| {
                lesser(world, entity);
                act(world, entity);
            });
        }
    }
}

#[test]
fn changes_in_frames_without_a_tick_count_once_at_the_next_tick() {
    // Before the next tick, Bevy clears its own record of removals.
    for act in [despawn, disable, remove_collider, leave_layers, move_away] {
        Touching::each(|mut touching, side| {
            touching.begin();
            act(touching.world(), side);
            for _ in 0..4 {
                assert!(frame(&mut touching.app, 0).is_empty());
                touching.world().clear_trackers();
            }
            let record = tick(&mut touching.app);
            assert!(record.only().ended());
            assert!(tick(&mut touching.app).is_empty());
        });
    }
}

#[test]
fn a_contact_that_ends_and_begins_again_starts_anew() {
    let there_and_back: [(EndReason, Act, Act); 6] = [
        (EndReason::Separated, move_away, |world, entity| {
            transform(world, entity).translation.y -= 10.0;
        }),
        (EndReason::Disabled, disable, |world, entity| {
            world.entity_mut(entity).remove::<Disabled>();
        }),
        (EndReason::Filtered, leave_layers, |world, entity| {
            world.entity_mut(entity).insert(CollisionLayers::ALL);
        }),
        (
            EndReason::Invalid,
            |world, entity| transform(world, entity).scale.y = f32::NAN,
            |world, entity| transform(world, entity).scale.y = 1.0,
        ),
        (
            EndReason::Invalid,
            |world, entity| {
                let kept = Kept(*transform(world, entity));
                world.entity_mut(entity).insert(kept).remove::<Transform>();
            },
            |world, entity| {
                let kept = world.entity_mut(entity).take::<Kept<Transform>>();
                world.entity_mut(entity).insert(kept.expect("kept").0);
            },
        ),
        (
            EndReason::ColliderRemoved,
            |world, entity| {
                let kept = world.entity_mut(entity).take::<Collider>();
                let kept = Kept(kept.expect("it has one"));
                world.entity_mut(entity).insert(kept);
            },
            |world, entity| {
                let kept = world.entity_mut(entity).take::<Kept<Collider>>();
                world.entity_mut(entity).insert(kept.expect("kept").0);
            },
        ),
    ];
    for (reason, away, back) in there_and_back {
        Touching::each(|mut touching, side| {
            for _ in 0..2 {
                touching.begin();
                touching.go_on();
                away(touching.world(), side);
                touching.end(reason);
                back(touching.world(), side);
            }
            touching.begin();
            // Moving away and back between two ticks is not sampled, so the contact continues.
            away(touching.world(), side);
            back(touching.world(), side);
            touching.go_on();
        });
    }
}

/// A component that was removed from its entity, and will be inserted again.
#[derive(Component)]
struct Kept<T>(T);

#[test]
fn replacing_an_entity_ends_the_old_contact_and_starts_a_new_one() {
    Touching::each(|mut touching, side| {
        touching.begin();
        let other = touching.other(side);
        let (collider, pose) = {
            let found = touching.world().entity(side);
            let collider = found.get::<Collider>().cloned();
            (
                collider.expect("a side"),
                *found.get::<Transform>().unwrap(),
            )
        };
        touching.world().despawn(side);
        let heir = touching.world().spawn((collider, pose)).id();
        watch(touching.world(), heir);

        let record = tick(&mut touching.app);
        assert_eq!(record.messages.len(), 2);
        let at_other = record.at(other);
        assert_eq!(at_other.len(), 2);
        for hit in at_other {
            let expected = match hit.phase {
                CollisionPhase::Started => heir,
                CollisionPhase::Ended(EndReason::Despawned) => side,
                phase => panic!("{phase:?}"),
            };
            assert_eq!(hit.other, expected);
        }
        assert_eq!(record.at(heir).len(), 1);
        assert_eq!(record.at(side), []);
    });
}

#[test]
fn two_bare_colliders_are_enough_for_an_event() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let ball = app.world_mut().spawn(dimension.ball(1.0)).id();
        let block = app.world_mut().spawn(dimension.block(1.0)).id();
        let hit = tick(&mut app).only();
        let hit = hit.seen_from(ball).expect("the ball touches");
        assert_eq!(hit.other, block);
        assert!(hit.started() && hit.normal.is_normalized() && hit.depth > 1.0);
    }
}

#[test]
fn colliders_that_never_touch_are_never_reported() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let ball = world.spawn(dimension.ball(1.0)).id();
        // The bounding boxes overlap at the corner, but the shapes do not.
        let block = (dimension.block(2.0), Transform::from_xyz(1.8, 1.8, 0.0));
        let block = world.spawn(block).id();
        watch(world, ball);
        watch(world, block);
        // These entities are a disabled collider and an entity without a collider.
        world.spawn((dimension.ball(1.0), Disabled));
        world.spawn(Transform::IDENTITY);
        for _ in 0..3 {
            assert!(tick(&mut app).is_empty());
        }
        // Despawning or disabling a collider sends no end, either.
        app.world_mut().despawn(ball);
        disable(app.world_mut(), block);
        assert!(tick(&mut app).is_empty());
    }
}

#[test]
fn an_entity_spawned_and_despawned_between_ticks_is_never_reported() {
    Touching::each(|mut touching, side| {
        touching.world().despawn(side);
        assert!(tick(&mut touching.app).is_empty());
    });
}

#[test]
fn colliders_in_2d_and_3d_share_an_app_and_never_touch() {
    let mut app = app();
    let world = app.world_mut();
    let circles = [0.0, 1.5].map(|x| {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        world.spawn((Dimension::D2.ball(1.0), pose)).id()
    });
    let spheres = [0.0, 1.5].map(|x| {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        world.spawn((Dimension::D3.ball(1.0), pose)).id()
    });
    for step in 0..3 {
        let messages = tick(&mut app).messages;
        assert_eq!(messages.len(), 2, "{messages:#?}");
        for [a, b] in [circles, spheres] {
            let hit = messages.iter().find_map(|hit| hit.seen_from(a));
            let hit = hit.expect("each pair touches");
            assert_eq!((hit.other, hit.normal, hit.depth), (b, Vec3::X, 0.5));
            assert_eq!(hit.started(), step == 0);
        }
    }
    app.world_mut().despawn(circles[0]);
    let messages = tick(&mut app).messages;
    assert_eq!(messages.iter().filter(|hit| hit.ended()).count(), 1);
    assert_eq!(messages.iter().filter(|hit| hit.ongoing()).count(), 1);
}

#[test]
fn colliders_in_2d_ignore_z() {
    let mut app = app();
    let world = app.world_mut();
    let [low, high] = [(0.0, -1e6), (1.5, 1e6)].map(|(x, z)| {
        let pose = Transform::from_xyz(x, 0.0, z);
        world.spawn((Dimension::D2.ball(1.0), pose)).id()
    });
    let hit = tick(&mut app).only().seen_from(low).expect("they touch");
    assert_eq!((hit.other, hit.normal, hit.depth), (high, Vec3::X, 0.5));
    assert_eq!((hit.point().z, hit.other_point().z), (0.0, 0.0));
    transform(app.world_mut(), low).translation.z = f32::NAN;
    assert!(tick(&mut app).only().ongoing());
}

/// Builds an app with the plugins in this order.
fn app_of(plugins: impl IntoIterator<Item = fn(&mut App)>) -> App {
    let mut app = App::new();
    for add in plugins {
        add(&mut app);
    }
    start(&mut app);
    app
}

#[test]
fn the_order_of_plugins_does_not_matter() {
    let minimal: fn(&mut App) = |app| {
        app.add_plugins(MinimalPlugins);
    };
    let transform: fn(&mut App) = |app| {
        app.add_plugins(TransformPlugin);
    };
    let headbutt: fn(&mut App) = |app| {
        app.add_plugins(HeadbuttPlugin::default());
    };
    let orders = [
        vec![minimal, headbutt],
        vec![headbutt, minimal],
        vec![minimal, transform, headbutt],
        vec![minimal, headbutt, transform],
        vec![transform, minimal, headbutt],
        vec![transform, headbutt, minimal],
        vec![headbutt, minimal, transform],
        vec![headbutt, transform, minimal],
    ];
    for order in orders {
        for dimension in Dimension::BOTH {
            let mut touching = Touching::new(app_of(order.clone()), dimension);
            let [ball, _] = touching.sides;
            adopt(touching.world(), ball);
            touching.begin();
            touching.go_on();
            let parent = parent(touching.world(), ball);
            move_away(touching.world(), parent);
            touching.end(EndReason::Separated);
        }
    }
}

// Changes that observers make to the world.

/// Adds an observer to an entity. At each event of type `E`, the observer calls `response` with the
/// world and both sides.
fn respond<E: EntityEvent + std::ops::Deref<Target = CollisionEvent>>(
    world: &mut World,
    entity: Entity,
    response: impl Fn(&mut World, Entity, Entity) + Clone + Send + Sync + 'static,
) {
    let observer = move |hit: On<E>, mut commands: Commands| {
        let (response, entity, other) = (response.clone(), hit.entity, hit.other);
        commands.queue(move |world: &mut World| response(world, entity, other));
    };
    world.entity_mut(entity).observe(observer);
}

#[test]
fn an_observer_of_the_start_may_despawn_both() {
    Touching::each(|mut touching, side| {
        respond::<CollisionStarted>(touching.world(), side, |world, entity, other| {
            world.despawn(entity);
            world.despawn(other);
        });
        let record = tick(&mut touching.app);
        assert!(record.only().started());
        assert_eq!(record.at(side).len(), 1);
        let record = tick(&mut touching.app);
        assert_eq!(record.only().end_reason(), Some(EndReason::Despawned));
        assert_eq!(record.observed, []);
        assert!(tick(&mut touching.app).is_empty());
    });
}

#[test]
fn an_observer_of_the_start_may_despawn_the_other_and_sees_the_end() {
    Touching::each(|mut touching, side| {
        respond::<CollisionStarted>(touching.world(), side, |world, _, other| {
            world.despawn(other);
        });
        assert!(tick(&mut touching.app).only().started());
        touching.end(EndReason::Despawned);
    });
}

#[test]
fn an_entity_that_an_observer_despawns_sees_no_further_events() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app(), dimension);
        // The first observer despawns the other entity. So the observer of the other entity is not
        // called.
        for side in touching.sides {
            respond::<CollisionStarted>(touching.world(), side, |world, _, other| {
                world.despawn(other);
            });
        }
        assert_eq!(tick(&mut touching.app).observed.len(), 1);
        touching.end(EndReason::Despawned);
    }
}

#[test]
fn an_observer_of_the_start_may_despawn_its_own_entity_and_the_other_sees_both_events() {
    Touching::each(|mut touching, side| {
        respond::<CollisionStarted>(touching.world(), side, |world, entity, _| {
            world.despawn(entity);
        });
        let other = touching.other(side);
        let record = tick(&mut touching.app);
        assert_eq!(record.at(other).len(), 1);
        touching.end(EndReason::Despawned);
    });
}

#[test]
fn an_observer_of_the_end_may_despawn_anything() {
    let responses: [fn(&mut World, Entity, Entity); 3] = [
        |world, entity, other| {
            world.despawn(entity);
            world.despawn(other);
        },
        |world, entity, _| {
            world.despawn(entity);
        },
        |world, _, other| {
            world.despawn(other);
        },
    ];
    for response in responses {
        Touching::each(|mut touching, side| {
            respond::<CollisionEnded>(touching.world(), side, response);
            touching.begin();
            move_away(touching.world(), side);
            let record = tick(&mut touching.app);
            assert_eq!(record.only().end_reason(), Some(EndReason::Separated));
            assert_eq!(record.at(side).len(), 1);
            for _ in 0..3 {
                assert!(tick(&mut touching.app).is_empty());
            }
        });
    }
}

#[test]
fn an_observer_of_the_end_may_despawn_the_other_of_a_despawned_pair() {
    Touching::each(|mut touching, side| {
        let other = touching.other(side);
        respond::<CollisionEnded>(touching.world(), other, |world, entity, other| {
            assert!(world.get_entity(other).is_err());
            world.despawn(entity);
        });
        touching.begin();
        touching.world().despawn(side);
        let record = tick(&mut touching.app);
        assert_eq!(record.only().end_reason(), Some(EndReason::Despawned));
        assert_eq!(record.at(other).len(), 1);
        assert!(tick(&mut touching.app).is_empty());
    });
}

#[test]
fn an_observer_that_spawns_and_moves_others_sees_them_at_the_next_tick() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app(), dimension);
        let [ball, block] = touching.sides;
        respond::<CollisionStarted>(touching.world(), ball, move |world, _, other| {
            move_away(world, other);
            let pose = Transform::from_xyz(-1.5, 0.0, 0.0);
            let spawned = world.spawn((dimension.block(2.0), pose)).id();
            watch(world, spawned);
        });
        assert!(tick(&mut touching.app).only().started());

        let record = tick(&mut touching.app);
        assert_eq!(record.messages.len(), 2, "{record:#?}");
        let at_ball = record.at(ball);
        let ended = at_ball.iter().find(|hit| hit.ended()).expect("one end");
        assert_eq!(ended.other, block);
        let started = at_ball.iter().find(|hit| hit.started());
        let started = started.expect("one start");
        assert_near_vec(started.normal, -Vec3::X, 1.0);
        assert_eq!(record.at(started.other).len(), 1);
    }
}

#[test]
fn an_observer_sees_the_new_state() {
    #[derive(Resource, Default)]
    struct Seen(Vec<(bool, bool, usize)>);

    fn look(
        hit: &CollisionEvent,
        collisions: &Collisions,
        entities: &CollidingEntities,
    ) -> (bool, bool, usize) {
        let between = collisions.between(hit.entity, hit.other);
        (
            between.is_some(),
            entities.contains(hit.other),
            entities.len(),
        )
    }

    Touching::each(|mut touching, side| {
        touching.app.init_resource::<Seen>();
        touching
            .world()
            .entity_mut(side)
            .observe(
                |hit: On<CollisionStarted>,
                 collisions: Res<Collisions>,
                 entities: Query<&CollidingEntities>,
                 mut seen: ResMut<Seen>| {
                    let entities = entities.get(hit.entity).expect("opted in");
                    seen.0.push(look(&hit, &collisions, entities));
                },
            )
            .observe(
                |hit: On<CollisionEnded>,
                 collisions: Res<Collisions>,
                 entities: Query<&CollidingEntities>,
                 mut seen: ResMut<Seen>| {
                    let entities = entities.get(hit.entity).expect("opted in");
                    seen.0.push(look(&hit, &collisions, entities));
                },
            );
        touching.begin();
        move_away(touching.world(), side);
        touching.end(EndReason::Separated);
        let seen = &touching.world().resource::<Seen>().0;
        assert_eq!(*seen, [(true, true, 1), (false, false, 0)]);
    });
}

#[test]
fn an_observer_of_one_of_many_contacts_may_despawn_all_of_them() {
    for dimension in Dimension::BOTH {
        for guilty in 0..7 {
            let mut app = app();
            let world = app.world_mut();
            // All seven colliders touch each other.
            let all: Vec<_> = (0..7)
                .map(|index| {
                    let pose = Transform::from_xyz(0.1 * index as f32, 0.0, 0.0);
                    let entity = world.spawn((dimension.ball(1.0), pose)).id();
                    watch(world, entity);
                    entity
                })
                .collect();
            let others: Vec<_> = all
                .iter()
                .copied()
                .filter(|it| *it != all[guilty])
                .collect();
            respond::<CollisionStarted>(world, all[guilty], move |world, _, _| {
                for entity in &others {
                    world.try_despawn(*entity).ok();
                }
            });
            let mut record = tick(&mut app);
            assert_eq!(record.messages.len(), 7 * 6 / 2);
            for _ in 0..3 {
                let next = tick(&mut app);
                record.messages.extend(next.messages);
                record.observed.extend(next.observed);
            }
            assert_eq!(assert_phases_alternate(&record.messages), []);
            let ended = record.messages.iter().filter(|hit| hit.ended());
            assert_eq!(ended.count(), 7 * 6 / 2);
            // The remaining entity has seen each of its contacts start and end.
            let at_guilty = record.at(all[guilty]);
            let ended = at_guilty.iter().filter(|hit| hit.ended());
            assert_eq!((at_guilty.len(), ended.count()), (12, 6));
        }
    }
}

#[test]
fn a_hook_that_despawns_the_other_side_with_the_first_ends_the_contact_once() {
    /// An entity that is despawned together with the entity that has this component.
    #[derive(Component)]
    #[component(on_remove = bury)]
    struct Widow(Entity);

    fn bury(mut world: DeferredWorld, context: HookContext) {
        let widow = world.get::<Widow>(context.entity).map(|widow| widow.0);
        if let Some(widow) = widow {
            world.commands().entity(widow).try_despawn();
        }
    }

    Touching::each(|mut touching, side| {
        let other = touching.other(side);
        touching.world().entity_mut(side).insert(Widow(other));
        touching.begin();
        touching.world().despawn(side);
        touching.end(EndReason::Despawned);
    });
}

#[test]
fn global_observers_see_each_event_at_both_sides() {
    for dimension in Dimension::BOTH {
        // The only observers are these two global observers. There are no observers of entities.
        let mut app = app();
        app.add_observer(|hit: On<CollisionStarted>, mut record: ResMut<Record>| {
            record.observed.push((hit.entity, **hit));
        })
        .add_observer(|hit: On<CollisionEnded>, mut record: ResMut<Record>| {
            record.observed.push((hit.entity, **hit));
        });
        let ball = app.world_mut().spawn(dimension.ball(1.0)).id();
        let block = app.world_mut().spawn(dimension.block(1.0)).id();
        let record = tick(&mut app);
        let hit = record.only();
        assert_eq!(
            record.observed,
            [(hit.entity, hit), (hit.other, hit.flipped())]
        );
        app.world_mut().despawn(ball);
        let record = tick(&mut app);
        let hit = record.only().seen_from(block).expect("it touched");
        assert!(hit.ended());
        assert_eq!(record.observed, [(block, hit)], "the survivor alone");
    }
}

#[test]
fn an_observer_added_during_a_contact_sees_its_end() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let ball = app.world_mut().spawn(dimension.ball(1.0)).id();
        let block = app.world_mut().spawn(dimension.block(1.0)).id();
        assert!(tick(&mut app).only().started());
        watch(app.world_mut(), ball);
        assert!(tick(&mut app).only().ongoing());
        app.world_mut().despawn(block);
        let record = tick(&mut app);
        let seen = record.at(ball);
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].end_reason(), Some(EndReason::Despawned));
    }
}

// State that can be read without events.

/// Spawns a ball of radius 1 at each of these positions along x.
fn balls<const N: usize>(world: &mut World, dimension: Dimension, at: [f32; N]) -> [Entity; N] {
    at.map(|x| {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        world.spawn((dimension.ball(1.0), pose)).id()
    })
}

#[test]
fn collisions_list_all_pairs_the_pairs_of_one_entity_and_the_pair_of_two() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        read(app.world_mut(), |collisions| {
            assert!(collisions.is_empty());
            assert_eq!(collisions.iter().count(), 0);
        });
        let [a, b, c, lonely] = balls(app.world_mut(), dimension, [0.0, 1.5, 3.0, 9.0]);
        for step in 0..2 {
            let messages = tick(&mut app).messages;
            read(app.world_mut(), |collisions| {
                assert_eq!(collisions.iter().collect::<Vec<_>>(), messages);
                assert_eq!((collisions.len(), collisions.is_empty()), (2, false));

                let of = |entity| {
                    let mut others: Vec<_> = collisions
                        .deepest_of(entity)
                        .map(|hit| {
                            assert_eq!(hit.entity, entity);
                            assert_eq!(hit.started(), step == 0);
                            (hit.other, hit.normal, hit.depth)
                        })
                        .collect();
                    others.sort_by_key(|(other, ..)| *other);
                    others
                };
                assert_eq!(of(a), [(b, Vec3::X, 0.5)]);
                let mut of_b = vec![(a, -Vec3::X, 0.5), (c, Vec3::X, 0.5)];
                of_b.sort_by_key(|(other, ..)| *other);
                assert_eq!(of(b), of_b);
                assert_eq!(of(c), [(b, -Vec3::X, 0.5)]);
                assert_eq!(of(lonely), []);

                let there = collisions.between(a, b).expect("they touch");
                let back = collisions.between(b, a).expect("they touch");
                assert_eq!((there.entity, there.other), (a, b));
                assert_eq!(there.flipped(), back);
                assert_eq!(collisions.between(a, c), None);
                assert_eq!(collisions.between(a, a), None);
                assert_eq!(collisions.between(a, lonely), None);
            });
        }
        // Until the next tick, the collisions stay as they were.
        app.world_mut().despawn(b);
        frame(&mut app, 0);
        read(app.world_mut(), |collisions| {
            assert_eq!(collisions.len(), 2)
        });
        tick(&mut app);
        read(app.world_mut(), |collisions| assert!(collisions.is_empty()));
    }
}

/// Returns the entities that one entity touches according to its [`CollidingEntities`], sorted.
fn colliding(world: &World, entity: Entity) -> Vec<Entity> {
    let entities = world.get::<CollidingEntities>(entity).expect("opted in");
    let mut sorted: Vec<_> = entities.iter().collect();
    assert_eq!(sorted.len(), entities.len());
    assert_eq!(sorted.is_empty(), entities.is_empty());
    sorted.sort();
    sorted
}

fn opt_in(world: &mut World, entity: Entity) {
    world
        .entity_mut(entity)
        .insert(CollidingEntities::default());
}

#[test]
fn colliding_entities_may_be_added_during_a_contact() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let [a, b, c] = balls(app.world_mut(), dimension, [0.0, 1.5, 3.0]);
        tick(&mut app);
        opt_in(app.world_mut(), b);
        assert_eq!(colliding(app.world(), b), []);
        tick(&mut app);
        let mut expected = [a, c];
        expected.sort();
        assert_eq!(colliding(app.world(), b), expected);
        assert_eq!(app.world().get::<CollidingEntities>(a), None);
        app.world_mut().despawn(a);
        tick(&mut app);
        assert_eq!(colliding(app.world(), b), [c]);
    }
}

#[test]
fn colliding_entities_are_cleared_whatever_ends_the_contact() {
    let acts: [Act; 5] = [disable, remove_collider, lose_pose, leave_layers, move_away];
    for act in acts {
        Touching::each(|mut touching, side| {
            touching.begin();
            let other = touching.other(side);
            assert_eq!(colliding(touching.world(), side), [other]);
            act(touching.world(), side);
            tick(&mut touching.app);
            assert_eq!(colliding(touching.world(), side), []);
            assert_eq!(colliding(touching.world(), other), []);
        });
    }
}

#[test]
fn colliding_entities_of_both_disabled_sides_are_cleared() {
    for dimension in Dimension::BOTH {
        let mut touching = Touching::new(app(), dimension);
        touching.begin();
        for side in touching.sides {
            disable(touching.world(), side);
        }
        touching.end(EndReason::Disabled);
    }
}

/// Restoring a state may remove a contact, which then never ends.
#[test]
fn colliding_entities_of_disabled_entities_follow_a_restored_state() {
    let mut app = app();
    let ball = || Collider::from(Circle::new(1.0));
    let world = app.world_mut();
    let entity = world.spawn((ball(), CollidingEntities::default())).id();
    world.spawn(ball());
    tick(&mut app);
    let world = app.world_mut();
    assert_eq!(
        world.get::<CollidingEntities>(entity).map(|it| it.len()),
        Some(1)
    );
    *world.resource_mut::<Collisions>() = Collisions::default();
    world.entity_mut(entity).insert(Disabled);
    tick(&mut app);
    let found = app.world().get::<CollidingEntities>(entity);
    assert_eq!(found.map(|it| it.len()), Some(0));
}

#[test]
fn colliding_entities_change_only_when_their_content_does() {
    #[derive(Resource, Default)]
    struct Changes(usize);

    fn count(mut changes: ResMut<Changes>, changed: Query<(), Changed<CollidingEntities>>) {
        changes.0 += changed.iter().count();
    }

    for dimension in Dimension::BOTH {
        let mut app = app();
        let [a, b, c] = balls(app.world_mut(), dimension, [0.0, 9.0, 1.5]);
        app.init_resource::<Changes>().add_systems(FixedLast, count);
        opt_in(app.world_mut(), a);
        let changes = |app: &mut App| {
            tick(app);
            core::mem::take(&mut app.world_mut().resource_mut::<Changes>().0)
        };
        assert_eq!(changes(&mut app), 1, "c");
        assert_eq!(changes(&mut app), 0, "nothing happens");
        transform(app.world_mut(), c).translation.x = 1.25;
        assert_eq!(changes(&mut app), 0, "only the depth is another one");
        transform(app.world_mut(), b).translation.x = -1.5;
        assert_eq!(changes(&mut app), 1, "c and b");
        transform(app.world_mut(), c).translation.x = 9.0;
        assert_eq!(changes(&mut app), 1, "b");
        transform(app.world_mut(), b).translation.x = -9.0;
        transform(app.world_mut(), c).translation.x = 1.5;
        assert_eq!(changes(&mut app), 1, "c in place of b: as many as before");
        assert_eq!(colliding(app.world(), a), [c]);
        app.world_mut().despawn(c);
        assert_eq!(changes(&mut app), 1, "nothing");
        assert_eq!(changes(&mut app), 0, "still nothing");
    }
}

#[test]
fn many_contacts_that_end_in_one_tick_end_once_each() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let [hub] = balls(app.world_mut(), dimension, [0.0]);
        let spokes = balls(app.world_mut(), dimension, [-1.5, -1.0, 1.0, 1.5]);
        watch(app.world_mut(), hub);
        let mut all: Record = tick(&mut app);
        let started = all.messages.len();
        assert_eq!(all.at(hub).len(), spokes.len());
        app.world_mut().despawn(hub);
        for spoke in spokes {
            watch(app.world_mut(), spoke);
        }
        let record = tick(&mut app);
        for spoke in spokes {
            let ended = record.at(spoke);
            assert_eq!(ended.len(), 1);
            assert_eq!(ended[0].other, hub);
        }
        let at_rest = record.messages.iter().filter(|hit| !hit.ended()).count();
        assert_eq!(at_rest, started - spokes.len());
        all.messages.extend(record.messages);
        assert_eq!(assert_phases_alternate(&all.messages).len(), at_rest);
    }
}

#[derive(Component, Clone)]
struct Hidden;

/// Restores the state from before two colliders touched, and disables one of the two. Returns the
/// number of colliders that the disabled collider then touches.
fn colliding_after_a_rollback(disable: impl Fn(&mut World, Entity)) -> usize {
    let mut app = app();
    let world = app.world_mut();
    let hidden = world.register_component::<Hidden>();
    world
        .resource_mut::<DefaultQueryFilters>()
        .register_disabling_component(hidden);
    let before = world.resource::<Collisions>().clone();
    let ball = Collider::from(Circle::new(1.0));
    let one = (ball.clone(), CollidingEntities::default());
    let one = world.spawn(one).id();
    world.spawn(ball);
    tick(&mut app);
    let colliding = |app: &App| app.world().get::<CollidingEntities>(one).map(|it| it.len());
    assert_eq!(colliding(&app), Some(1));
    let world = app.world_mut();
    *world.resource_mut::<Collisions>() = before;
    disable(world, one);
    tick(&mut app);
    assert!(app.world().resource::<Collisions>().is_empty());
    colliding(&app).expect("one")
}

#[test]
fn a_disabled_entity_touches_nothing_after_a_rollback() {
    let by_bevy = |world: &mut World, entity: Entity| {
        world.entity_mut(entity).insert(Disabled);
    };
    let by_the_app = |world: &mut World, entity: Entity| {
        world.entity_mut(entity).insert(Hidden);
    };
    assert_eq!(colliding_after_a_rollback(by_bevy), 0);
    assert_eq!(colliding_after_a_rollback(by_the_app), 0);
}

#[test]
fn the_clone_of_a_disabled_entity_collides_with_nothing() {
    let mut app = app();
    let world = app.world_mut();
    let hidden = world.register_component::<Hidden>();
    world
        .resource_mut::<DefaultQueryFilters>()
        .register_disabling_component(hidden);
    let ball = || {
        (
            Collider::from(Circle::new(1.0)),
            CollidingEntities::default(),
        )
    };
    let [one, other] = [ball(), ball()].map(|ball| app.world_mut().spawn(ball).id());
    tick(&mut app);
    assert_eq!(colliding(app.world_mut(), one), [other]);
    let world = app.world_mut();
    world.entity_mut(one).insert(Hidden);
    let clone = world.entity_mut(one).clone_and_spawn();
    assert_eq!(colliding(app.world_mut(), clone), [other]);
    tick(&mut app);
    for entity in [one, other, clone] {
        assert_eq!(colliding(app.world_mut(), entity), []);
    }
}

/// Saves a world as Bevy's scenes do: the registered components of all entities, and the registered
/// resources.
fn save_world(world: &World, registry: &TypeRegistry) -> Vec<(Entity, Box<dyn PartialReflect>)> {
    let archetypes = world.archetypes().iter();
    let entities = archetypes.flat_map(|it| it.entities().iter().map(|it| it.id()));
    let components = entities.flat_map(|entity| {
        registry.iter().filter_map(move |registration| {
            let component = registration.data::<ReflectComponent>()?;
            let value = component.reflect(world.entity(entity))?;
            Some((entity, dynamic(value)))
        })
    });
    components.collect()
}

/// Loads a saved world into an existing world as Bevy's scenes do: entities are spawned again, and
/// resources are replaced.
fn load_world(
    world: &mut World,
    saved: &[(Entity, Box<dyn PartialReflect>)],
    registry: &TypeRegistry,
) {
    let mut map = EntityHashMap::default();
    for (entity, value) in saved {
        let info = value.get_represented_type_info().expect("registered");
        let registration = registry.get(info.type_id()).expect("registered");
        let component = registration.data::<ReflectComponent>().expect("one");
        let resource = registration.data::<ReflectResource>().and_then(|_| {
            let id = world.components().get_id(info.type_id())?;
            world.resource_entities().get(id)
        });
        let target = match resource {
            Some(target) => target,
            None => *map
                .entry(*entity)
                .or_insert_with(|| world.spawn_empty().id()),
        };
        let mut mapper = map.clone();
        let mut target = world.entity_mut(target);
        let mode = RelationshipHookMode::Skip;
        component.apply_or_insert_mapped(&mut target, &**value, registry, &mut mapper, mode);
    }
}

#[test]
fn a_loaded_scene_brings_no_contacts_along() {
    for dimension in Dimension::BOTH {
        let row = |count: usize| {
            let mut app = app();
            // Bevy's `TransformPlugin` registers `Transform`, too.
            app.register_type::<Transform>();
            for number in 0..count {
                let pose = Transform::from_xyz(1.5 * number as f32, 1e3 * count as f32, 0.0);
                let ball = (dimension.ball(1.0), pose, CollidingEntities::default());
                app.world_mut().spawn(ball);
            }
            let record = tick(&mut app);
            assert_eq!(record.messages.len(), count - 1);
            app
        };
        let (saved, mut loaded) = (row(4), row(9));
        let registry = saved.world().resource::<AppTypeRegistry>().clone();
        let scene = save_world(saved.world(), &registry.read());
        let registry = loaded.world().resource::<AppTypeRegistry>().clone();
        load_world(loaded.world_mut(), &scene, &registry.read());
        let messages = tick(&mut loaded).messages;
        let count = |is: fn(&CollisionEvent) -> bool| messages.iter().filter(|it| is(it)).count();
        let counts = [
            count(CollisionEvent::started),
            count(CollisionEvent::ongoing),
            count(CollisionEvent::ended),
        ];
        assert_eq!(counts, [3, 8, 0], "{messages:#?}");
    }
}

/// A rollback may keep its copy of the state by reflection.
#[test]
fn a_state_applied_by_reflection_replaces_the_previous_state() {
    let states = [4, 9].map(|count| {
        let mut app = app();
        for number in 0..count {
            let pose = Transform::from_xyz(1.5 * number as f32, 0.0, 0.0);
            let ball = (Dimension::D3.ball(1.0), pose);
            app.world_mut().spawn(ball);
        }
        tick(&mut app);
        app.world().resource::<Collisions>().clone()
    });
    let [few, many] = states;
    assert_eq!([few.len(), many.len()], [3, 8]);
    let mut state = many;
    state.apply(&*dynamic(&few));
    assert_eq!(state, few);
}
