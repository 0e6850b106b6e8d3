//! The cost of the index of spatial queries, and the ticks in which the index exists.

use std::sync::atomic::{AtomicU32, Ordering};

use bevy::prelude::*;
use headbutt::{
    CollisionDiagnostics,
    prelude::*,
    query::{CastOptions, Ray},
};

use super::ask;
use crate::support::{Dimension, app, tick, transform};

fn indexed(app: &App) -> usize {
    app.world().resource::<CollisionDiagnostics>().indexed
}

/// Returns an app with balls in a row along x, two units apart.
fn balls(dimension: Dimension, count: usize) -> (App, Vec<Entity>) {
    let mut app = app();
    let spawn = |number: usize| {
        let pose = Transform::from_xyz(2.0 * number as f32, 0.0, 0.0);
        app.world_mut().spawn((dimension.ball(0.5), pose)).id()
    };
    let balls = (0..count).map(spawn).collect();
    (app, balls)
}

fn look(world: &mut World) -> Option<Entity> {
    let ray = Ray::new(Vec3::new(-5.0, 0.0, 0.0), Vec3::X);
    let hit = ask(world, |query| {
        query.cast_ray(ray, &SpatialQueryFilter::default())
    });
    hit.map(|hit| hit.entity)
}

#[test]
fn without_queries_nothing_is_indexed() {
    let (mut app, balls) = balls(Dimension::D3, 50);
    for _ in 0..5 {
        tick(&mut app);
        transform(app.world_mut(), balls[0]).translation.y += 0.125;
        assert_eq!(indexed(&app), 0);
    }
}

#[test]
fn the_index_lives_for_64_ticks_after_the_last_query() {
    let (mut app, balls) = balls(Dimension::D3, 50);
    tick(&mut app);
    assert_eq!(look(app.world_mut()), Some(balls[0]));
    for ticks in 0..100 {
        tick(&mut app);
        assert_eq!(indexed(&app), if ticks <= 63 { 50 } else { 0 }, "{ticks}");
    }
    assert_eq!(look(app.world_mut()), Some(balls[0]));
    tick(&mut app);
    assert_eq!(indexed(&app), 50);
}

#[test]
fn a_query_in_2d_does_not_index_3d_colliders() {
    let (mut app, _) = balls(Dimension::D3, 10);
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let ray = Ray::new(Vec2::ZERO, Vec2::X);
        assert!(
            query
                .cast_ray(ray, &SpatialQueryFilter::default())
                .is_none()
        );
    });
    tick(&mut app);
    assert_eq!(indexed(&app), 0);
}

#[test]
fn before_the_first_tick_there_are_no_colliders() {
    let (mut app, _) = balls(Dimension::D3, 10);
    assert_eq!(look(app.world_mut()), None);
}

/// All poses come from the last tick.
#[test]
fn moves_and_despawns_count_from_the_next_tick_on() {
    let (mut app, balls) = balls(Dimension::D3, 10);
    tick(&mut app);
    transform(app.world_mut(), balls[0]).translation.y = 5.0;
    assert_eq!(look(app.world_mut()), Some(balls[0]));
    tick(&mut app);
    assert_eq!(look(app.world_mut()), Some(balls[1]));
    app.world_mut().despawn(balls[1]);
    assert_eq!(look(app.world_mut()), Some(balls[1]));
    tick(&mut app);
    assert_eq!(look(app.world_mut()), Some(balls[2]));
}

#[test]
fn queries_work_while_the_game_is_paused() {
    let (mut app, balls) = balls(Dimension::D3, 10);
    tick(&mut app);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    transform(app.world_mut(), balls[0]).translation.y = 5.0;
    for _ in 0..3 {
        tick(&mut app);
        assert_eq!(look(app.world_mut()), Some(balls[0]));
    }
    app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    tick(&mut app);
    tick(&mut app);
    assert_eq!(look(app.world_mut()), Some(balls[1]));
}

/// A ray along a row of balls reaches the first ball without visiting the nodes of the others.
#[test]
fn a_ray_visits_few_nodes() {
    let (mut app, _) = balls(Dimension::D3, 1024);
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let ray = Ray::new(Vec3::new(-5.0, 0.0, 0.0), Vec3::X);
        assert_eq!(query.visits(), 0);
        query.cast_ray(ray, &SpatialQueryFilter::default());
        // A full tree of 1024 boxes has five levels of nodes.
        let visits = query.visits();
        assert!((1..=20).contains(&visits), "{visits}");
        query.cast_ray(ray, &SpatialQueryFilter::default());
        assert_eq!(query.visits(), 2 * visits);
        query.reset_visits();
        assert_eq!(query.visits(), 0);
    });
}

#[test]
fn a_collider_at_exactly_the_greatest_distance_counts() {
    let mut app = app();
    let pose = Transform::from_xyz(3.0, 0.0, 0.0);
    let wall = (Collider::cuboid(2.0, 2.0, 2.0), pose);
    let wall = app.world_mut().spawn(wall).id();
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let filter = SpatialQueryFilter::default();
        let probe = Collider::cuboid(1.0, 1.0, 1.0);
        let at = Transform::from_xyz(-0.5, 0.0, 0.0);
        for (max, expected) in [(2.0_f32, Some(wall)), (2.0_f32.next_down(), None)] {
            let to_point = query.closest_to_point(Vec3::ZERO, max, &filter);
            assert_eq!(to_point.map(|hit| hit.entity), expected);
            let to_shape = query.closest_to_shape(&probe, at, max, &filter);
            assert_eq!(to_shape.map(|hit| hit.entity), expected);
            let mut hits = Vec::new();
            query.colliders_within(Vec3::ZERO, max, &filter, &mut hits);
            assert_eq!(hits.first().map(|hit| hit.entity), expected);
        }
    });
}

/// The boxes of moving colliders are refitted, and rebuilt when they have moved far.
#[test]
fn a_ray_visits_few_nodes_after_all_have_moved() {
    let (mut app, balls) = balls(Dimension::D3, 1024);
    tick(&mut app);
    look(app.world_mut());
    for round in 0..20 {
        for (number, ball) in balls.iter().enumerate() {
            let scattered = (number * 769 + round * 31) % 1024;
            transform(app.world_mut(), *ball).translation.x = 2.0 * scattered as f32;
        }
        tick(&mut app);
        ask(app.world_mut(), |query| {
            let ray = Ray::new(Vec3::new(-5.0, 0.0, 0.0), Vec3::X);
            let hit = query.cast_ray(ray, &SpatialQueryFilter::default());
            assert_eq!(hit.map(|hit| hit.distance), Some(4.5));
            assert!(query.visits() <= 40, "{} in round {round}", query.visits());
        });
    }
}

#[test]
fn invalid_questions_have_no_results() {
    let (mut app, _) = balls(Dimension::D3, 3);
    let half_space = (
        Collider::half_space(Vec3::Y),
        Transform::from_xyz(0.0, -1.0, 0.0),
    );
    app.world_mut().spawn(half_space);
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let all = SpatialQueryFilter::default();
        let from = Vec3::new(-5.0, 0.0, 0.0);
        let rays = [
            Ray::new(from, Vec3::ZERO),
            Ray::new(from, Vec3::NAN),
            Ray::new(Vec3::NAN, Vec3::X),
            Ray::new(from, Vec3::X).with_max_distance(-1.0),
            Ray::new(from, Vec3::X).with_max_distance(f32::NAN),
        ];
        let mut hits = Vec::new();
        for ray in rays {
            assert_eq!(query.cast_ray(ray, &all), None, "{ray:?}");
            query.ray_hits(ray, &all, &mut hits);
            assert!(hits.is_empty() && !query.is_ray_blocked(ray, &all));
        }
        let mut entities = vec![Entity::PLACEHOLDER];
        let ball = Collider::sphere(1.0);
        query.overlaps(&ball, Vec3::NAN, &all, &mut entities);
        assert!(entities.is_empty());
        query.overlaps(&Collider::default(), Vec3::ZERO, &all, &mut entities);
        query.overlaps(&Collider::circle(1.0), Vec3::ZERO, &all, &mut entities);
        query.entities_at(Vec3::NAN, &all, &mut entities);
        query.overlaps_aabb(Vec3::ONE, Vec3::ZERO, &all, &mut entities);
        query.overlaps_aabb(Vec3::NAN, Vec3::ONE, &all, &mut entities);
        assert!(entities.is_empty());
        for max in [-1.0, f32::NAN] {
            assert!(query.closest_to_point(Vec3::ZERO, max, &all).is_none());
            assert!(
                query
                    .closest_to_shape(&ball, Vec3::ZERO, max, &all)
                    .is_none()
            );
        }
        assert!(query.closest_to_point(Vec3::INFINITY, 1.0, &all).is_none());
        assert!(!query.is_point_inside(Vec3::NAN, &all));
        let mut near = Vec::new();
        query.colliders_within(Vec3::NAN, 1.0, &all, &mut near);
        query.colliders_within(Vec3::ZERO, f32::NAN, &all, &mut near);
        query.colliders_within(Vec3::ZERO, -1.0, &all, &mut near);
        assert!(near.is_empty());
        // Without the invalid number or shape, each of these casts would cross colliders.
        let across = Motion::linear(from, Vec3::X * 20.0);
        let bad = [
            (&ball, Motion::linear(from, Vec3::NAN)),
            (&ball, Motion::linear(Vec3::NAN, Vec3::X * 20.0)),
            (&ball, across.rotated(Vec3::Z * 1e5)),
            (&ball, across.rotated(Vec3::NAN)),
            (&Collider::default(), across),
            (&Collider::circle(1.0), across),
        ];
        let options = CastOptions::default();
        assert!(query.cast_shape(&ball, across, options, &all).is_some());
        let (mut hits, mut batch) = (Vec::new(), Vec::new());
        for (shape, motion) in bad {
            assert_eq!(query.cast_shape(shape, motion, options, &all), None);
            assert!(!query.is_shape_blocked(shape, motion, options, &all));
            query.shape_hits_per_entity(shape, motion, options, &all, &mut hits);
            query.cast_shapes(shape, &[motion; 2], options, &all, &mut batch);
            assert!(hits.is_empty() && batch == [None; 2]);
        }
    });
}

/// A visitor of a cast that stops the search sees no further collider, even if the first collider
/// is a half-space.
#[test]
fn a_visitor_ends_a_cast() {
    let (mut app, balls) = balls(Dimension::D3, 64);
    let wall = (
        Collider::half_space(Vec3::X),
        Transform::from_xyz(-9.0, 0.0, 0.0),
    );
    let walls = [wall.clone(), wall].map(|wall| app.world_mut().spawn(wall).id());
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let (ball, all) = (Collider::sphere(0.25), SpatialQueryFilter::default());
        let options = CastOptions::default();
        let across = Motion::linear(Vec3::new(-5.0, 0.0, 0.0), Vec3::X * 20.0);
        // A motion backward hits both walls. A motion forward hits no wall.
        let back = Motion::linear(Vec3::new(-5.0, 0.0, 0.0), Vec3::NEG_X * 20.0);
        let mut hits = Vec::new();
        query.shape_hits_per_entity(&ball, back, options, &all, &mut hits);
        // Both walls are hit at the same time, so the hits are sorted by entity.
        let mut sorted = walls;
        sorted.sort_unstable();
        let found: Vec<Entity> = hits.iter().map(|hit| hit.entity).collect();
        assert_eq!(found, sorted);
        assert_eq!(hits[0].touching, hits[1].touching);
        let first = query.cast_shape(&ball, back, options, &all);
        assert_eq!(first.map(|hit| hit.entity), Some(sorted[0]));
        for motion in [across, back] {
            for end in [-1.0, f64::NAN, f64::NEG_INFINITY] {
                let mut seen = 0;
                query.visit_shape(&ball, motion, options, &all, |_| {
                    seen += 1;
                    end
                });
                assert_eq!(seen, 1);
            }
        }
        // At equal distances, the least entity counts as the closest.
        let closest = query.closest_to_point(Vec3::new(-8.0, 0.0, 0.0), 2.0, &all);
        assert_eq!(closest.map(|hit| hit.entity), Some(sorted[0]));
        query.shape_hits_per_entity(&ball, across, options, &all, &mut hits);
        assert!(hits.len() > 2 && hits.iter().all(|hit| balls.contains(&hit.entity)));
    });
}

/// The predicate is not evaluated for half-spaces after a visitor has ended the search.
#[test]
fn no_predicate_is_evaluated_after_the_end_of_a_search() {
    let mut app = app();
    for _ in 0..3 {
        app.world_mut().spawn(Collider::half_space(Vec3::Y));
    }
    tick(&mut app);
    let calls = AtomicU32::new(0);
    let count = |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        true
    };
    ask(app.world_mut(), |query| {
        let counting = SpatialQueryFilter::default().with_predicate(&count);
        let ball = Collider::sphere(1.0);
        let fall = Motion::linear(Vec3::Y * 5.0, Vec3::NEG_Y * 10.0);
        assert!(query.is_shape_blocked(&ball, fall, CastOptions::default(), &counting));
    });
    assert_eq!(calls.into_inner(), 1);
}

/// A visitor that stops the search sees no further collider.
#[test]
fn a_visitor_ends_the_search() {
    let (mut app, balls) = balls(Dimension::D3, 64);
    tick(&mut app);
    ask(app.world_mut(), |query| {
        let ray = Ray::new(Vec3::new(-5.0, 0.0, 0.0), Vec3::X);
        for end in [-1.0, f32::NAN, f32::NEG_INFINITY] {
            let mut seen = 0;
            query.visit_ray(ray, &SpatialQueryFilter::default(), |_| {
                seen += 1;
                end
            });
            assert_eq!(seen, 1);
        }
        let mut seen = Vec::new();
        query.visit_ray(ray, &SpatialQueryFilter::default(), |hit| {
            seen.push(hit.entity);
            10.0
        });
        // These balls are at 4.5, 6.5 and 8.5.
        for ball in &balls[..3] {
            assert!(seen.contains(ball));
        }
        let far = seen.iter().filter(|entity| !balls[..3].contains(entity));
        assert!(far.count() <= 1, "only the first call may be farther away");
    });
}

#[test]
fn a_tree_is_excluded_with_the_children_of_its_root() {
    let mut app = app();
    let world = app.world_mut();
    let body = world
        .spawn((Collider::sphere(0.5), Transform::IDENTITY))
        .id();
    let arm = world
        .spawn((Transform::from_xyz(2.0, 0.0, 0.0), ChildOf(body)))
        .id();
    let hand = (
        Collider::sphere(0.5),
        Transform::from_xyz(2.0, 0.0, 0.0),
        ChildOf(arm),
    );
    let hand = world.spawn(hand).id();
    tick(&mut app);
    let ray = Ray::new(Vec3::new(-5.0, 0.0, 0.0), Vec3::X);
    let mut first = |filter: SpatialQueryFilter| {
        let hit = ask(app.world_mut(), |query| query.cast_ray(ray, &filter));
        hit.map(|hit| hit.entity)
    };
    let filter = SpatialQueryFilter::default();
    assert_eq!(first(filter.clone()), Some(body));
    assert_eq!(first(filter.clone().excluding(body)), Some(hand));
    assert_eq!(first(filter.clone().excluding_tree(arm)), Some(body));
    assert_eq!(first(filter.excluding_tree(body)), None);
}

/// Each ball is twice as large and as far as the previous ball. So no two balls are closer to each
/// other than to a smaller ball, and a tree is a chain.
#[test]
fn boxes_of_any_size_are_found_in_a_tree_of_any_depth() {
    let mut app = app();
    let distances: Vec<f32> = (-100..100).map(|power| 2_f32.powi(power)).collect();
    for distance in &distances {
        let pose = Transform::from_xyz(*distance, 0.0, 0.0);
        app.world_mut()
            .spawn((Collider::sphere(0.125 * distance), pose));
    }
    tick(&mut app);
    let (all, filter) = (Vec3::splat(1e37), SpatialQueryFilter::default());
    let (mut entities, mut hits) = (Vec::new(), Vec::new());
    ask(app.world_mut(), |query| {
        query.overlaps_aabb(-all, all, &filter, &mut entities);
        query.ray_hits(Ray::new(Vec3::ZERO, Vec3::X), &filter, &mut hits);
    });
    assert_eq!(entities.len(), distances.len());
    assert_eq!(hits.len(), distances.len());
    for (hit, distance) in hits.iter().zip(distances) {
        let expected = 0.875 * distance;
        assert!(
            (hit.distance - expected).abs() <= 1e-6 * expected,
            "{hit:?}"
        );
    }
}
