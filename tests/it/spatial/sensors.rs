//! Sensors are reported and are never solid.

use bevy::prelude::*;
use headbutt::{Collisions, PushOut, prelude::*, query::Ray};

use super::ask;
use crate::support::{Touching, tick};

#[test]
fn an_event_says_which_side_is_a_sensor() {
    Touching::each(|mut touching, entity| {
        touching.world().entity_mut(entity).insert(Sensor);
        touching.begin();
        let other = touching.other(entity);
        let record = tick(&mut touching.app);
        let hit = record.only().seen_from(entity).expect("a side");
        assert!(hit.is_sensor() && !hit.other_is_sensor() && !hit.is_solid());
        let hit = record.only().seen_from(other).expect("a side");
        assert!(!hit.is_sensor() && hit.other_is_sensor() && !hit.is_solid());
    });
}

#[test]
fn a_change_at_rest_takes_effect_in_the_next_tick() {
    Touching::each(|mut touching, entity| {
        touching.begin();
        for _ in 0..2 {
            touching.world().entity_mut(entity).insert(Sensor);
            assert!(
                tick(&mut touching.app)
                    .only()
                    .seen_from(entity)
                    .expect("a side")
                    .is_sensor()
            );
            touching.go_on();
            touching.world().entity_mut(entity).remove::<Sensor>();
            assert!(tick(&mut touching.app).only().is_solid());
        }
        touching.go_on();
    });
}

#[test]
fn contacts_with_sensors_push_nothing_out() {
    Touching::each(|mut touching, entity| {
        touching.begin();
        let out = |touching: &mut Touching| {
            let collisions = touching.world().resource::<Collisions>();
            collisions.push_out(entity, |_| true).translation()
        };
        assert_ne!(out(&mut touching), Vec3::ZERO);
        let other = touching.other(entity);
        for sensor in [entity, other] {
            touching.world().entity_mut(sensor).insert(Sensor);
            tick(&mut touching.app);
            assert_eq!(out(&mut touching), Vec3::ZERO);
            touching.world().entity_mut(sensor).remove::<Sensor>();
            tick(&mut touching.app);
        }
        assert_ne!(out(&mut touching), Vec3::ZERO);
    });
}

#[test]
fn queries_pass_sensors_unless_they_are_included() {
    Touching::each(|mut touching, entity| {
        touching.world().entity_mut(entity).insert(Sensor);
        touching.begin();
        let other = touching.other(entity);
        let mut expected = [entity, other];
        expected.sort_unstable();
        let at = Vec3::new(0.75, 0.0, 0.0);
        let dimension = touching.dimension;
        let mut found = Vec::new();
        ask(touching.world(), |query| {
            let probe = dimension.ball(0.1);
            let solid = SpatialQueryFilter::default();
            query.overlaps(&probe, at, &solid, &mut found);
            assert_eq!(found, [other]);
            query.overlaps(&probe, at, &solid.with_sensors(), &mut found);
            assert_eq!(found, expected);
        });
    });
}

#[test]
fn a_test_event_can_be_of_a_sensor() {
    let mut world = World::new();
    let [coin, player] = [(); 2].map(|()| world.spawn_empty().id());
    let hit = CollisionEvent::new(coin, player, Dir3::X, 0.5).with_sensors(true, false);
    assert!(hit.is_sensor() && hit.flipped().other_is_sensor());
    assert_eq!(hit.flipped().flipped(), hit);
    let collisions = Collisions::from_iter([hit]);
    assert_eq!(collisions.push_out(player, |_| true), PushOut::Free);
}

/// The hits of rays are sorted in the same way with and without sensors.
#[test]
fn a_ray_reports_sensors_in_the_order_of_their_distance() {
    let mut app = crate::support::app();
    let mut spawn = |x: f32| {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut().spawn((Collider::circle(0.5), pose)).id()
    };
    let [near, far] = [1.0, 4.0].map(&mut spawn);
    app.world_mut().entity_mut(near).insert(Sensor);
    tick(&mut app);
    let mut hits = Vec::new();
    let ray = Ray::new(Vec2::new(-2.0, 0.0), Vec2::X);
    ask(app.world_mut(), |query| {
        let filter = SpatialQueryFilter::default();
        query.ray_hits(ray, &filter.with_sensors(), &mut hits);
    });
    let hits: Vec<_> = hits.iter().map(|hit| (hit.entity, hit.distance)).collect();
    assert_eq!(hits, [(near, 2.5), (far, 5.5)]);
}
