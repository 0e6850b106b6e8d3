//! Owners and exceptions: each effect by itself.

use bevy::{
    ecs::{entity::MapEntities, entity_disabling::Disabled},
    prelude::*,
};
use headbutt::{explain, prelude::*, query::Ray};

use crate::{
    meeting::shoot,
    spatial::ask,
    support::{Touching, app, tick, watch},
};

#[test]
fn colliders_of_one_owner_never_meet() {
    Touching::each(|mut touching, entity| {
        let other = touching.other(entity);
        touching
            .world()
            .entity_mut(entity)
            .insert(ColliderOf(other));
        assert!(tick(&mut touching.app).is_empty());
        touching.world().entity_mut(entity).remove::<ColliderOf>();
        touching.begin();
        touching
            .world()
            .entity_mut(entity)
            .insert(ColliderOf(other));
        touching.end(EndReason::SameOwner);
        // After the despawn of its owner, each collider is its own owner.
        let owner = touching.world().spawn_empty().id();
        for side in [entity, other] {
            touching.world().entity_mut(side).insert(ColliderOf(owner));
        }
        assert!(tick(&mut touching.app).is_empty());
        touching.world().despawn(owner);
        touching.begin();
    });
}

#[test]
fn an_exception_holds_in_both_directions_and_for_owners() {
    Touching::each(|mut touching, entity| {
        let other = touching.other(entity);
        touching.begin();
        touching
            .world()
            .entity_mut(entity)
            .insert(IgnoreCollisions::from(other));
        touching.end(EndReason::Ignored);
        let mut ignored = touching.world().get_mut::<IgnoreCollisions>(entity);
        ignored.as_mut().expect("a component").clear();
        touching.begin();
        // Both colliders get owners without colliders.
        let owners = [entity, other].map(|side| {
            let owner = touching.world().spawn_empty().id();
            touching.world().entity_mut(side).insert(ColliderOf(owner));
            owner
        });
        let hit = tick(&mut touching.app)
            .only()
            .seen_from(entity)
            .expect("a side");
        assert_eq!([hit.owner(), hit.other_owner()], owners);
        for (holder, ignored) in [
            (owners[0], owners[1]),
            (owners[1], entity),
            (entity, owners[1]),
        ] {
            touching
                .world()
                .entity_mut(holder)
                .insert(IgnoreCollisions::from(ignored));
            let record = tick(&mut touching.app);
            assert_eq!(record.only().end_reason(), Some(EndReason::Ignored));
            // A disabled owner still counts.
            touching.world().entity_mut(owners[0]).insert(Disabled);
            assert!(tick(&mut touching.app).is_empty());
            touching.world().entity_mut(owners[0]).remove::<Disabled>();
            touching
                .world()
                .entity_mut(holder)
                .remove::<IgnoreCollisions>();
            assert!(tick(&mut touching.app).only().started());
        }
    });
}

#[test]
fn a_set_forgets_entities_that_no_longer_exist() {
    let mut app = app();
    let world = app.world_mut();
    let player = world.spawn(Collider::circle(1.0)).id();
    world.entity_mut(player).insert(IgnoreCollisions::default());
    for _ in 0..1000 {
        let bullet = app.world_mut().spawn(Collider::circle(1.0)).id();
        let mut ignored = app.world_mut().get_mut::<IgnoreCollisions>(player);
        ignored.as_mut().expect("a component").insert(bullet);
        assert!(tick(&mut app).is_empty());
        app.world_mut().despawn(bullet);
    }
    let wall = app.world_mut().spawn(Collider::circle(1.0)).id();
    let mut ignored = app.world_mut().get_mut::<IgnoreCollisions>(player);
    ignored.as_mut().expect("a component").insert(wall);
    tick(&mut app);
    let ignored = app.world().get::<IgnoreCollisions>(player);
    assert_eq!(ignored, Some(&IgnoreCollisions::from(wall)));
    // The removal is not a change that the tick has not seen.
    let explanation = explain(app.world(), player, wall);
    assert_eq!(explanation.changed, [false; 2]);
}

#[test]
fn observers_of_an_owner_hear_of_its_colliders() {
    let mut app = app();
    let world = app.world_mut();
    let enemy = world.spawn_empty().id();
    watch(world, enemy);
    let [head, body] = [0.0, 0.5].map(|x| {
        let part = (Collider::circle(1.0), Transform::from_xyz(x, 0.0, 0.0));
        world.spawn((part, ColliderOf(enemy))).id()
    });
    let bullet = world
        .spawn((Collider::circle(0.1), Transform::from_xyz(0.2, 0.0, 0.0)))
        .id();
    let record = tick(&mut app);
    assert_eq!(
        record.messages.len(),
        2,
        "the parts do not touch each other"
    );
    let hits = record.at(enemy);
    let mut parts: Vec<_> = hits.iter().map(|hit| hit.entity).collect();
    parts.sort_unstable();
    assert_eq!(parts, [head.min(body), head.max(body)]);
    for hit in &hits {
        assert!(hit.started());
        assert_eq!(
            [hit.owner(), hit.other, hit.other_owner()],
            [enemy, bullet, bullet]
        );
        assert_eq!(hit.seen_from_owner(enemy), Some(*hit));
        assert_eq!(hit.flipped().seen_from_owner(enemy), Some(*hit));
        assert_eq!(hit.seen_from_owner(head), None);
    }
    let once: Vec<_> = CollisionEvent::once_per_owners(&record.messages).collect();
    let deepest = record
        .messages
        .iter()
        .max_by(|a, b| a.depth.total_cmp(&b.depth));
    assert_eq!(once, [*deepest.expect("two hits")]);
    // The end is reported although the collider no longer exists.
    app.world_mut().despawn(head);
    let hits = tick(&mut app).at(enemy);
    assert_eq!(hits.len(), 1);
    assert_eq!([hits[0].entity, hits[0].owner()], [head, enemy]);
    assert_eq!(hits[0].end_reason(), Some(EndReason::Despawned));
}

#[test]
fn one_event_for_each_two_owners_is_the_first_in_time() {
    let mut world = World::new();
    let [a, b, c, bullet] = [(); 4].map(|()| world.spawn_empty().id());
    let hit = |part, depth, time| {
        let hit = CollisionEvent::new(part, bullet, Dir3::X, depth).with_time(time);
        hit.with_owners(c, bullet)
    };
    let other = CollisionEvent::new(a, b, Dir3::X, 9.0);
    let events = [
        hit(a, 5.0, 0.5),
        other,
        hit(b, 1.0, 0.25).flipped(),
        hit(c, 2.0, 0.25),
        hit(a, 9.0, 1.0),
    ];
    let once: Vec<_> = CollisionEvent::once_per_owners(&events).collect();
    assert_eq!(once, [other, hit(c, 2.0, 0.25)]);
}

#[test]
fn a_swept_bullet_ignores_its_shooter() {
    let mut app = app();
    let world = app.world_mut();
    let shooter = world.spawn(Collider::circle(1.0)).id();
    let [wall, friend] = [5.0, 8.0].map(|x| {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        world.spawn((Collider::rectangle(0.1, 4.0), pose)).id()
    });
    let pose = Transform::from_xyz(-2.0, 0.0, 0.0);
    let bullet = (Collider::circle(0.1), Swept, pose, ColliderOf(shooter));
    let bullet = world.spawn((bullet, IgnoreCollisions::from(friend))).id();
    tick(&mut app);
    let started = shoot(&mut app, bullet);
    assert_eq!(started.len(), 1, "{started:?}");
    let hit = started[0]
        .seen_from_owner(shooter)
        .expect("the bullet is part of it");
    assert_eq!([hit.entity, hit.other], [bullet, wall]);
}

#[test]
fn a_query_of_an_entity_leaves_out_what_it_does_not_meet() {
    let mut app = app();
    let world = app.world_mut();
    let player = world.spawn(Collider::circle(1.0)).id();
    let at = |x: f32| Transform::from_xyz(x, 0.0, 0.0);
    let gun = world
        .spawn((Collider::circle(0.5), at(2.0), ColliderOf(player)))
        .id();
    let friend = world.spawn((Collider::circle(0.5), at(4.0))).id();
    let ghost = (
        Collider::circle(0.5),
        at(6.0),
        CollisionLayers::new(2, u32::MAX),
    );
    let ghost = world.spawn(ghost).id();
    let wall = world.spawn((Collider::circle(0.5), at(8.0))).id();
    let layers = CollisionLayers::new(1, !2);
    world
        .entity_mut(player)
        .insert((layers, IgnoreCollisions::from(friend)));
    let caster = RayCaster::new(Ray::new(Vec2::ZERO, Vec2::X));
    world.entity_mut(gun).insert(caster);
    tick(&mut app);
    let ray = Ray::new(Vec2::new(-3.0, 0.0), Vec2::X);
    let found = |app: &mut App, filter: &SpatialQueryFilter| {
        let mut hits = Vec::new();
        ask(app.world_mut(), |query| {
            query.ray_hits_per_entity(ray, filter, &mut hits)
        });
        hits.into_iter()
            .map(|hit| (hit.entity, hit.owner))
            .collect::<Vec<_>>()
    };
    let all = [
        (player, player),
        (gun, player),
        (friend, friend),
        (ghost, ghost),
        (wall, wall),
    ];
    let default = SpatialQueryFilter::default();
    assert_eq!(found(&mut app, &default), all);
    assert_eq!(
        found(&mut app, &default.clone().excluding(player)),
        all[2..]
    );
    assert_eq!(
        found(&mut app, &default.excluding(gun)),
        [all[0], all[2], all[3], all[4]]
    );
    assert_eq!(found(&mut app, &SpatialQueryFilter::of(player)), all[4..]);
    assert_eq!(found(&mut app, &SpatialQueryFilter::of(friend)), all[3..]);
    let hits = app
        .world()
        .get::<RayCaster<Vec2>>(gun)
        .expect("a caster")
        .hits();
    let hits: Vec<_> = hits.iter().map(|hit| hit.entity).collect();
    // The layers of the gun and its owner do not count. The owner's exception excludes the friend.
    assert_eq!(hits, [ghost, wall]);
    assert_eq!(ask(app.world_mut(), |query| query.owner(gun)), player);
}

#[test]
fn a_character_passes_through_what_it_ignores() {
    let mut app = app();
    let world = app.world_mut();
    let player = world.spawn(Collider::sphere(0.5)).id();
    let block = |x: f32| {
        (
            Collider::cuboid(1.0, 1.0, 1.0),
            Transform::from_xyz(x, 0.0, 0.0),
        )
    };
    let ghost = world.spawn(block(2.0)).id();
    world.spawn((block(0.0), ColliderOf(player)));
    world.spawn(block(6.0));
    world
        .entity_mut(ghost)
        .insert(IgnoreCollisions::from(player));
    tick(&mut app);
    let filter = SpatialQueryFilter::of(player);
    let body = Collider::sphere(0.5);
    let slide = ask(app.world_mut(), |query| {
        query.move_and_slide(&body, Vec3::ZERO, Vec3::X * 9.0, &default(), &filter)
    });
    assert!((slide.translation.x - 5.0).abs() < 0.05, "{slide:?}");
    let out = ask(app.world_mut(), |query| {
        query.push_out(&body, Vec3::ZERO, 5.0, &filter)
    });
    assert_eq!(out.translation(), Vec3::ZERO);
}

#[test]
fn explanations_name_the_owner_and_the_exception() {
    let mut app = app();
    let world = app.world_mut();
    let owner = world.spawn_empty().id();
    let [a, b, c] = [(); 3].map(|()| world.spawn(Collider::circle(1.0)).id());
    for part in [a, b] {
        world.entity_mut(part).insert(ColliderOf(owner));
    }
    world.entity_mut(c).insert(IgnoreCollisions::from(owner));
    tick(&mut app);
    let explained = explain(app.world(), a, b);
    assert_eq!(explained.status, headbutt::PairStatus::SameOwner { owner });
    assert!(
        explained
            .to_string()
            .contains(&format!("colliders of entity {owner}.")),
        "{explained}"
    );
    let explained = explain(app.world(), a, c);
    let status = headbutt::PairStatus::Exception {
        holder: c,
        ignored: owner,
    };
    assert_eq!(explained.status, status);
    assert!(
        explained.to_string().contains("`IgnoreCollisions`"),
        "{explained}"
    );
    assert_eq!(explained.changed, [false; 2]);
    app.world_mut().entity_mut(a).remove::<ColliderOf>();
    app.world_mut().entity_mut(c).remove::<IgnoreCollisions>();
    assert_eq!(explain(app.world(), a, c).changed, [true; 2]);
}

#[test]
fn exceptions_are_mapped_to_other_entities() {
    let mut world = World::new();
    let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
    let mut ignored = IgnoreCollisions::from(a);
    let mut map = bevy::ecs::entity::EntityHashMap::from_iter([(a, b)]);
    ignored.map_entities(&mut map);
    assert_eq!(ignored, IgnoreCollisions::from(b));
}
