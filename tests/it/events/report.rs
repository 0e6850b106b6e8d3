//! The contents of events: normal, depth and points, their signs, and the order of events.

use crate::support::{
    Dimension, Touching, app, assert_near, assert_near_vec, read, tick, transform, watch,
};
use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

/// Spawns two colliders in a new app. If `swapped`, the first collider is spawned second, so that
/// it becomes the event's `other`.
fn two(swapped: bool, sides: [(Collider, Transform); 2]) -> (App, [Entity; 2]) {
    let mut app = app();
    let world = app.world_mut();
    let mut entities = [world.spawn_empty().id(), world.spawn_empty().id()];
    if swapped {
        entities.reverse();
    }
    for (entity, side) in entities.into_iter().zip(sides) {
        world.entity_mut(entity).insert(side);
    }
    (app, entities)
}

/// Returns the contact of two colliders as seen from the first. Asserts that the order of spawning
/// does not change the contact.
#[track_caller]
fn contact(a: (Collider, Transform), b: (Collider, Transform)) -> Option<CollisionEvent> {
    let [straight, swapped] = [false, true].map(|swapped| {
        let (mut app, [first, second]) = two(swapped, [a.clone(), b.clone()]);
        let messages = tick(&mut app).messages;
        assert!(messages.len() <= 1);
        let hit = messages.first()?;
        assert_eq!(hit.entity == first, (first < second));
        hit.seen_from(first)
    });
    let geometry = |hit: &CollisionEvent| {
        let offsets = (hit.offset(), hit.other_offset());
        (hit.normal, hit.depth, offsets)
    };
    assert_eq!(
        straight.as_ref().map(geometry),
        swapped.as_ref().map(geometry)
    );
    straight
}

/// Returns the contact of two colliders that must touch.
#[track_caller]
fn hit(a: (Collider, Transform), b: (Collider, Transform)) -> CollisionEvent {
    contact(a, b).expect("they touch")
}

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::from_xyz(x, y, z)
}

/// Returns one shape of each kind, of size about 2.
fn shapes(dimension: Dimension) -> Vec<Collider> {
    match dimension {
        Dimension::D2 => vec![
            Circle::new(1.0).into(),
            Capsule2d::new(0.5, 1.5).into(),
            Rectangle::new(2.5, 1.5).into(),
            Segment2d::new(Vec2::new(-1.0, 0.25), Vec2::new(1.0, 0.0)).into(),
            Triangle2d::new(Vec2::NEG_X, Vec2::new(1.0, -0.5), Vec2::new(0.25, 1.0)).into(),
            Collider::try_convex_hull([
                Vec2::new(-1.0, -0.5),
                Vec2::new(0.5, -1.0),
                Vec2::new(1.25, 0.25),
                Vec2::new(0.0, 1.0),
                Vec2::new(-0.75, 0.75),
            ])
            .expect("a hull"),
        ],
        Dimension::D3 => vec![
            Sphere::new(1.0).into(),
            Capsule3d::new(0.5, 1.5).into(),
            Cuboid::new(2.5, 1.5, 1.0).into(),
            Segment3d::new(Vec3::new(-1.0, 0.25, 0.5), Vec3::X).into(),
            Triangle3d::new(Vec3::NEG_X, Vec3::new(1.0, -0.5, 0.5), Vec3::Y).into(),
            Collider::try_convex_hull([
                Vec3::new(-1.0, -0.5, -0.5),
                Vec3::new(1.0, -0.75, -0.25),
                Vec3::new(0.0, 1.0, -0.5),
                Vec3::new(0.25, 0.0, 1.25),
                Vec3::new(-0.5, 0.5, 0.5),
            ])
            .expect("a hull"),
        ],
    }
}

/// The index of the segment in the list of [`shapes`].
const SEGMENT: usize = 3;

/// Returns a pose within 1 of the origin along each axis, with a random rotation and uniform scale.
fn random_pose(random: &mut StdRng, dimension: Dimension) -> Transform {
    let mut coordinate = || random.random_range(-1.0..1.0_f32);
    let translation = Vec3::new(coordinate(), coordinate(), coordinate());
    let turn = Quat::from_rotation_z(3.0 * coordinate());
    let tilt = Quat::from_rotation_x(3.0 * coordinate());
    let scale = 1.0 + 0.5 * coordinate();
    Transform {
        translation,
        rotation: match dimension {
            Dimension::D2 => turn,
            Dimension::D3 => turn * tilt,
        },
        scale: Vec3::splat(scale),
    }
}

/// Calls `test` for three random poses of every pair of shapes that touch, in both orders. The
/// arguments are the app, the event as seen from the first shape, and the dimension.
fn each_random_hit(mut test: impl FnMut(App, CollisionEvent, Dimension)) {
    let mut random = StdRng::seed_from_u64(1);
    for dimension in Dimension::BOTH {
        let shapes = shapes(dimension);
        for (index_a, a) in shapes.iter().enumerate() {
            for (index_b, b) in shapes.iter().enumerate() {
                // Two segments in 3D never touch by chance.
                if dimension == Dimension::D3 && (index_a, index_b) == (SEGMENT, SEGMENT) {
                    continue;
                }
                for swapped in [false, true] {
                    let mut hits = 0;
                    for attempt in 0.. {
                        assert!(attempt < 1000, "{a:?} and {b:?} do not touch");
                        let sides = [a, b].map(|shape| {
                            let pose = random_pose(&mut random, dimension);
                            (shape.clone(), pose)
                        });
                        let (mut app, [first, _]) = two(swapped, sides);
                        if let Some(hit) = tick(&mut app).messages.first() {
                            let hit = hit.seen_from(first).expect("it touches");
                            test(app, hit, dimension);
                            hits += 1;
                        }
                        if hits == 3 {
                            break;
                        }
                    }
                }
            }
        }
    }
}

// Normal and depth.

#[test]
fn the_normal_points_from_entity_to_other() {
    for dimension in Dimension::BOTH {
        for direction in [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y] {
            let shapes = [dimension.ball(1.0), dimension.block(2.0)];
            for a in &shapes {
                for b in &shapes {
                    let there = Transform::from_translation(1.5 * direction);
                    let hit = hit((a.clone(), Transform::IDENTITY), (b.clone(), there));
                    assert_near_vec(hit.normal, direction, 1.0);
                    assert_near(hit.depth, 0.5, 1.0);
                    assert_near_vec(hit.minimum_translation(), -0.5 * direction, 1.0);
                }
            }
        }
    }
}

#[test]
fn contacts_of_balls_have_the_closed_form_at_any_position() {
    let mut random = StdRng::seed_from_u64(2);
    for dimension in Dimension::BOTH {
        let mut hits = 0;
        while hits < 200 {
            let [a, b] = [(); 2].map(|()| random_pose(&mut random, dimension));
            let radii = [0.5, 0.75];
            let [ball_a, ball_b] = radii.map(|radius| dimension.ball(radius));
            let mut between = b.translation - a.translation;
            if dimension == Dimension::D2 {
                between.z = 0.0;
            }
            let [radius_a, radius_b] = [radii[0] * a.scale.x, radii[1] * b.scale.x];
            let depth = radius_a + radius_b - between.length();
            let found = contact((ball_a, a), (ball_b, b));
            if depth.abs() > 1e-5 {
                assert_eq!(found.is_some(), depth > 0.0);
            }
            if let Some(hit) = found {
                let normal = between.normalize();
                assert_near(hit.depth, depth, 2.0);
                assert_near_vec(hit.normal, normal, 2.0 / between.length());
                assert_near_vec(hit.offset(), radius_a * normal, 2.0);
                assert_near_vec(hit.other_offset(), -radius_b * normal, 2.0);
                hits += 1;
            }
        }
    }
}

#[test]
fn moving_entity_by_the_minimum_translation_leaves_the_two_just_touching() {
    each_random_hit(|mut app, hit, _| {
        // Poses and normals are f32, so a rounding of the depth remains.
        transform(app.world_mut(), hit.entity).translation += hit.minimum_translation();
        let left = tick(&mut app).only();
        assert!(left.ended() || left.depth <= 2e-6, "{left:?}");
    });
}

#[test]
fn slop_is_the_gap_or_overlap_that_the_minimum_translation_leaves() {
    const SLOP: f32 = 1e-4;

    let mut deep = 0;
    each_random_hit(|mut app, hit, _| {
        let there = transform(app.world_mut(), hit.entity).translation;
        if hit.depth > SLOP {
            deep += 1;
            transform(app.world_mut(), hit.entity).translation =
                there + hit.minimum_translation_with_slop(-SLOP);
            let left = tick(&mut app).only();
            assert!(!left.ended());
            assert!((left.depth - SLOP).abs() <= 3e-6, "{left:?} of {hit:?}");
        }
        transform(app.world_mut(), hit.entity).translation =
            there + hit.minimum_translation_with_slop(SLOP);
        assert!(tick(&mut app).only().ended());
    });
    assert!(deep > 400, "{deep}");
}

#[test]
fn the_minimum_translation_with_slop_is_parallel_to_the_normal() {
    let ball = || (Dimension::D3.ball(1.0), Transform::IDENTITY);
    let hit = hit(ball(), (Dimension::D3.ball(1.0), at(0.0, 1.5, 0.0)));
    assert_near_vec(hit.minimum_translation(), Vec3::new(0.0, -0.5, 0.0), 1.0);
    let wider = hit.minimum_translation_with_slop(0.25);
    assert_near_vec(wider, Vec3::new(0.0, -0.75, 0.0), 1.0);
    let tighter = hit.minimum_translation_with_slop(-0.125);
    assert_near_vec(tighter, Vec3::new(0.0, -0.375, 0.0), 1.0);
}

#[test]
fn a_contact_is_finite_and_its_fields_agree() {
    each_random_hit(|_, hit, dimension| {
        assert_near(hit.normal.length(), 1.0, 1.0);
        assert!(hit.depth >= 0.0 && hit.depth.is_finite());
        assert_near_vec(hit.point() - hit.other_point(), hit.normal * hit.depth, 4.0);
        if dimension == Dimension::D2 {
            let along_z = [hit.normal.z, hit.point().z, hit.other_point().z];
            assert_eq!(along_z, [0.0; 3]);
            assert_eq!((hit.offset().z, hit.other_offset().z), (0.0, 0.0));
        }
    });
}

#[test]
fn offsets_are_relative_to_each_entitys_translation() {
    each_random_hit(|app, hit, dimension| {
        let translation = |entity| {
            let pose = app.world().get::<Transform>(entity).expect("a collider");
            match dimension {
                Dimension::D2 => pose.translation.truncate().extend(0.0),
                Dimension::D3 => pose.translation,
            }
        };
        let point = translation(hit.entity) + hit.offset();
        assert_near_vec(hit.point(), point, 4.0);
        let other_point = translation(hit.other) + hit.other_offset();
        assert_near_vec(hit.other_point(), other_point, 4.0);
    });
}

// Seen from either side.

#[test]
fn seen_from_works_for_both_entities_and_no_other() {
    each_random_hit(|mut app, hit, _| {
        let stranger = app.world_mut().spawn_empty().id();
        assert_eq!(hit.flipped().flipped(), hit);
        assert_ne!(hit.flipped(), hit);

        let flipped = hit.flipped();
        assert_eq!((flipped.entity, flipped.other), (hit.other, hit.entity));
        assert_eq!((flipped.normal, flipped.depth), (-hit.normal, hit.depth));
        assert_eq!(flipped.phase, hit.phase);
        assert_eq!(flipped.point(), hit.other_point());
        assert_eq!(flipped.other_point(), hit.point());
        assert_eq!(flipped.offset(), hit.other_offset());
        assert_eq!(flipped.other_offset(), hit.offset());
        assert_eq!(flipped.minimum_translation(), -hit.minimum_translation());

        assert_eq!(hit.seen_from(hit.entity), Some(hit));
        assert_eq!(hit.seen_from(hit.other), Some(flipped));
        assert_eq!(hit.seen_from(stranger), None);

        assert_eq!(hit.seen_by(|side| side == hit.entity), Some(hit));
        assert_eq!(hit.seen_by(|side| side == hit.other), Some(flipped));
        assert_eq!(hit.seen_by(|_| true), Some(hit));
        assert_eq!(hit.seen_by(|_| false), None);
    });
}

#[test]
fn messages_observers_and_collisions_report_the_same() {
    each_random_hit(|mut app, hit, _| {
        // The two colliders separate and touch again, so that the contact starts after the
        // observers were added.
        let world = app.world_mut();
        watch(world, hit.entity);
        watch(world, hit.other);
        let there = transform(world, hit.entity).translation;
        transform(world, hit.entity).translation.x += 50.0;
        let record = tick(&mut app);
        assert!(record.only().ended());
        let mut last = hit;
        last.phase = record.only().phase;
        assert_eq!(record.at(hit.entity), [last]);
        assert_eq!(record.at(hit.other), [last.flipped()]);

        transform(app.world_mut(), hit.entity).translation = there;
        let record = tick(&mut app);
        assert_eq!(record.only().seen_from(hit.entity), Some(hit));
        assert_eq!(record.at(hit.entity), [hit]);
        assert_eq!(record.at(hit.other), [hit.flipped()]);
        read(app.world_mut(), |collisions| {
            assert_eq!(collisions.between(hit.entity, hit.other), Some(hit));
            assert!(collisions.deepest_of(hit.other).eq([hit.flipped()]));
            assert!(collisions.iter().eq([record.only()]));
        });
    });
}

#[test]
fn started_ongoing_and_ended_match_the_phase() {
    let mut touching = Touching::new(app(), Dimension::D2);
    let asked = |hit: &CollisionEvent| (hit.started(), hit.ongoing(), hit.ended());
    let hit = tick(&mut touching.app).only();
    assert_eq!(
        (asked(&hit), hit.end_reason()),
        ((true, false, false), None)
    );
    let hit = tick(&mut touching.app).only();
    assert_eq!(
        (asked(&hit), hit.end_reason()),
        ((false, true, false), None)
    );
    let [ball, _] = touching.sides;
    touching.world().despawn(ball);
    let hit = tick(&mut touching.app).only();
    let despawned = Some(EndReason::Despawned);
    assert_eq!(
        (asked(&hit), hit.end_reason()),
        ((false, false, true), despawned)
    );
}

#[test]
fn entity_is_the_lesser_of_the_pair_in_every_tick() {
    let mut seen = 0;
    each_random_hit(|mut app, hit, _| {
        for _ in 0..3 {
            transform(app.world_mut(), hit.other).translation += 1e-3 * hit.normal;
            for next in tick(&mut app).messages {
                assert_eq!(next.entity, hit.entity.min(hit.other));
                seen += 1;
            }
        }
    });
    assert!(seen > 1100, "{seen}");
}

// Exact touching.

#[test]
fn exactly_touching_shapes_send_an_event_with_depth_0() {
    for dimension in Dimension::BOTH {
        let shapes = [dimension.ball(1.0), dimension.block(2.0)];
        for a in &shapes {
            for b in &shapes {
                for far in [0.0, 1024.0, -1_000_000.0] {
                    let place = |x| at(far + x, far, 0.0);
                    let hit = hit((a.clone(), place(0.0)), (b.clone(), place(2.0)));
                    assert!(hit.started());
                    assert_eq!(hit.depth, 0.0);
                    assert_near_vec(hit.normal, Vec3::X, 1.0);
                    assert_near(hit.offset().x, 1.0, 1.0);
                    assert_eq!(hit.minimum_translation(), Vec3::ZERO);
                }
            }
        }
    }
}

#[test]
fn a_gap_of_a_thousandth_sends_no_event() {
    for dimension in Dimension::BOTH {
        let shapes = [dimension.ball(1.0), dimension.block(2.0)];
        for a in &shapes {
            for b in &shapes {
                let apart = at(2.001, 0.0, 0.0);
                let found = contact((a.clone(), Transform::IDENTITY), (b.clone(), apart));
                assert_eq!(found, None);
                let tilted = Quat::from_rotation_z(0.5);
                let mut poses = [Transform::IDENTITY, apart];
                for pose in &mut poses {
                    pose.rotate_around(Vec3::ZERO, tilted);
                }
                let [pose_a, pose_b] = poses;
                assert_eq!(contact((a.clone(), pose_a), (b.clone(), pose_b)), None);
            }
        }
    }
}

#[test]
fn an_overlap_of_a_thousandth_sends_an_event_of_that_depth_in_any_unit() {
    // The units are millimeters, meters and pixels.
    for unit in [0.001, 1.0, 1000.0] {
        for dimension in Dimension::BOTH {
            let shapes = [dimension.ball(unit), dimension.block(2.0 * unit)];
            for a in &shapes {
                for b in &shapes {
                    let pose = at(1.999 * unit, 0.0, 0.0);
                    let hit = hit((a.clone(), Transform::IDENTITY), (b.clone(), pose));
                    assert_near(hit.depth, 0.001 * unit, unit);
                    let pose = at(2.001 * unit, 0.0, 0.0);
                    let apart = contact((a.clone(), Transform::IDENTITY), (b.clone(), pose));
                    assert_eq!(apart, None);
                }
            }
        }
    }
}

#[test]
fn a_contact_far_from_the_origin_is_as_exact_as_at_it() {
    // At a million, f32 has steps of 1/16, in which these positions are exact.
    for dimension in Dimension::BOTH {
        let far = Vec3::new(1e6, -1e6, 5e5);
        let near = hit(
            (dimension.ball(1.0), at(0.0, 0.0, 0.0)),
            (dimension.ball(1.0), at(0.75, 1.0, 0.0)),
        );
        let hit = hit(
            (dimension.ball(1.0), Transform::from_translation(far)),
            (
                dimension.ball(1.0),
                Transform::from_translation(far + Vec3::new(0.75, 1.0, 0.0)),
            ),
        );
        assert_near_vec(hit.normal, Vec3::new(0.6, 0.8, 0.0), 1.0);
        assert_near(hit.depth, 0.75, 1.0);
        assert_near_vec(hit.offset(), Vec3::new(0.6, 0.8, 0.0), 1.0);
        assert_near_vec(hit.other_offset(), -Vec3::new(0.6, 0.8, 0.0), 1.0);
        assert_eq!((hit.normal, hit.depth), (near.normal, near.depth));
        assert_eq!(
            (hit.offset(), hit.other_offset()),
            (near.offset(), near.other_offset())
        );
        // The point is as exact as f32 allows.
        assert!(
            hit.point()
                .truncate()
                .distance(far.truncate() + Vec2::new(0.6, 0.8))
                < 0.1
        );
    }
}

// Scale and parents.

#[test]
fn uniform_scale_scales_shapes() {
    for dimension in Dimension::BOTH {
        let scaled = |x: f32, scale: f32| at(x, 0.0, 0.0).with_scale(Vec3::splat(scale));
        for a in [dimension.ball(1.0), dimension.block(2.0)] {
            let b = (dimension.ball(0.5), at(4.25, 0.0, 0.0));
            let hit = hit((a.clone(), scaled(0.0, 4.0)), b.clone());
            assert_near_vec(hit.normal, Vec3::X, 1.0);
            assert_near(hit.depth, 0.25, 4.0);
            assert_near_vec(hit.offset(), Vec3::new(4.0, 0.0, 0.0), 4.0);
            assert_eq!(contact((a, scaled(0.0, 3.5)), b), None);
        }
    }
}

#[test]
fn negative_scale_mirrors_shapes() {
    // A wedge that points to +x points to -x when mirrored. The wedge's tip is 2 from the origin,
    // and its base is 1 from the origin.
    let plane = Collider::try_convex_hull([
        Vec2::new(2.0, 0.0),
        Vec2::new(-1.0, 1.0),
        Vec2::new(-1.0, -1.0),
    ]);
    let solid = Collider::try_convex_hull([
        Vec3::new(2.0, 0.0, 0.0),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-1.0, 1.0, -1.0),
        Vec3::new(-1.0, -1.0, 0.0),
    ]);
    for (dimension, wedge) in Dimension::BOTH.into_iter().zip([plane, solid]) {
        let wedge = wedge.expect("a hull");
        let reach = |scale: Vec3, x: f32| {
            let wall = (dimension.block(2.0), at(x, 0.0, 0.0));
            let hit = contact((wedge.clone(), Transform::from_scale(scale)), wall)?;
            assert_near_vec(hit.normal, Vec3::X * x.signum(), 1.0);
            Some(hit.offset().x)
        };
        let mirrors = [
            (Vec3::ONE, 1.0),
            (Vec3::new(-1.0, 1.0, 1.0), -1.0),
            (Vec3::NEG_ONE, -1.0),
            (Vec3::new(1.0, -1.0, 1.0), 1.0),
            (Vec3::new(1.0, 1.0, -1.0), 1.0),
        ];
        for (scale, sign) in mirrors {
            assert_near(reach(scale, 2.75 * sign).expect("the tip"), 2.0 * sign, 2.0);
            assert_near(reach(scale, -1.75 * sign).expect("the base"), -sign, 2.0);
            assert_eq!(reach(scale, -2.75 * sign), None);
        }
    }
}

#[test]
fn a_ball_under_a_non_uniform_scale_is_an_ellipsoid() {
    let scale = Vec3::new(3.0, 0.5, 2.0);
    for dimension in Dimension::BOTH {
        let axes: &[usize] = match dimension {
            Dimension::D2 => &[0, 1],
            Dimension::D3 => &[0, 1, 2],
        };
        let turns = [
            Quat::IDENTITY,
            Quat::from_rotation_z(0.75),
            Quat::from_rotation_z(-2.0),
        ];
        for (axis, turn) in axes.iter().flat_map(|axis| turns.map(|turn| (*axis, turn))) {
            for sign in [1.0, -1.0] {
                // Beyond the end of an axis of the ellipsoid, the closed form equals the closed
                // form of two balls.
                let direction = turn * (sign * Vec3::AXES[axis]);
                let ellipsoid = Transform::from_rotation(turn).with_scale(scale * sign);
                let place = direction * (scale[axis] + 0.9);
                let ball = (dimension.ball(1.0), Transform::from_translation(place));
                let hit = hit((dimension.ball(1.0), ellipsoid), ball);
                // The solver's depth of an ellipsoid is exact to 1e-6, and its direction is exact
                // to the square root of 1e-6.
                assert_near(hit.depth, 0.1, 3.0);
                assert!(hit.normal.distance(direction) < 2e-3, "{hit:?}");
                let end = direction * scale[axis];
                assert!(hit.offset().distance(end) < 1e-2, "{hit:?}");
            }
        }
    }
}

#[test]
fn an_ellipse_is_neither_its_box_nor_a_polygon() {
    // The ellipse is x = 3 cos t, y = sin t. The points are just inside and just outside of the
    // ellipse, at many values of t.
    for dimension in Dimension::BOTH {
        for step in 0..64 {
            let (sin, cos) = (0.1 * step as f32).sin_cos();
            let ellipse = Transform::from_scale(Vec3::new(3.0, 1.0, 1.0));
            for (factor, expected) in [(0.999, true), (1.001, false)] {
                let point = at(3.0 * cos * factor, sin * factor, 0.0);
                let found = contact((dimension.ball(1.0), ellipse), (dimension.ball(0.0), point));
                assert_eq!(found.is_some(), expected, "{found:?}");
            }
        }
    }
}

#[test]
fn a_box_under_a_non_uniform_scale_is_a_longer_box() {
    for dimension in Dimension::BOTH {
        let stretched = at(0.0, 0.0, 0.0).with_scale(Vec3::new(3.0, 0.5, 1.0));
        let block = |pose| (dimension.block(2.0), pose);
        let beside = hit(block(stretched), block(at(3.75, 0.0, 0.0)));
        assert_near(beside.depth, 0.25, 4.0);
        assert_near_vec(beside.normal, Vec3::X, 1.0);
        let above = hit(block(stretched), block(at(0.0, 1.25, 0.0)));
        assert_near(above.depth, 0.25, 4.0);
        assert_near_vec(above.normal, Vec3::Y, 1.0);
        assert_eq!(contact(block(stretched), block(at(0.0, 1.75, 0.0))), None);
    }
}

#[test]
fn a_2d_shape_rotated_in_3d_collides_as_its_projection() {
    // Tilted about x by 60 degrees, a square is half as high.
    let tilted = Transform::from_rotation(Quat::from_rotation_x(60.0_f32.to_radians()));
    let square = || Dimension::D2.block(2.0);
    let hit = hit((square(), tilted), (square(), at(0.0, 1.25, 0.0)));
    assert_near(hit.depth, 0.25, 2.0);
    assert_near_vec(hit.normal, Vec3::Y, 1.0);
    assert_eq!(
        contact((square(), tilted), (square(), at(0.0, 1.75, 0.0))),
        None
    );
}

/// Spawns a chain of entities, each the child of the previous entity, with a collider on the last
/// entity.
fn spawn_line(world: &mut World, poses: &[Transform], collider: Collider) -> Entity {
    let mut last = None;
    for pose in poses {
        let entity = world.spawn(*pose).id();
        if let Some(parent) = last {
            world.entity_mut(entity).insert(ChildOf(parent));
        }
        last = Some(entity);
    }
    let last = last.expect("at least one");
    world.entity_mut(last).insert(collider);
    last
}

#[test]
fn parents_rotate_translate_and_scale_their_children() {
    for dimension in Dimension::BOTH {
        for depth in [1, 2] {
            let mut app = app();
            let world = app.world_mut();
            // The parent is rotated by a right angle, so the child's x axis is the world's y axis.
            // The parent is scaled by 2, so the child's box of size 1 has size 2.
            let quarter = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
            let parent = at(10.0, 0.0, 0.0)
                .with_rotation(quarter)
                .with_scale(Vec3::splat(2.0));
            let mut line = vec![parent];
            line.extend(core::iter::repeat_n(Transform::IDENTITY, depth - 1));
            line.push(at(3.0, 0.0, 0.0));
            let child = spawn_line(world, &line, dimension.block(1.0));
            let probe = (dimension.ball(1.0), at(10.0, 7.75, 0.0));
            let probe = world.spawn(probe).id();
            let hit = tick(&mut app).only().seen_from(child);
            let hit = hit.expect("the child touches");
            assert_eq!(hit.other, probe);
            assert_near_vec(hit.normal, Vec3::Y, 1.0);
            assert_near(hit.depth, 0.25, 8.0);
            assert_near_vec(hit.point(), Vec3::new(10.0, 7.0, 0.0), 10.0);
            assert_near_vec(hit.offset(), Vec3::Y, 2.0);
        }
    }
}

#[test]
fn a_parent_without_a_transform_moves_nothing() {
    let mut touching = Touching::new(app(), Dimension::D3);
    let parent = touching.world().spawn_empty().id();
    let [ball, _] = touching.sides;
    touching.world().entity_mut(ball).insert(ChildOf(parent));
    touching.begin();
}

#[test]
fn a_parent_with_a_non_uniform_scale_shears_a_rotated_child() {
    // A square of side 2, rotated by 45 degrees, has its corners at √2 on the axes. The parent
    // stretches x by 2, which gives a rhombus twice as long as high, not a rectangle.
    let root = core::f32::consts::SQRT_2;
    let parent = Transform::from_scale(Vec3::new(2.0, 1.0, 1.0));
    let child = Transform::from_rotation(Quat::from_rotation_z(core::f32::consts::FRAC_PI_4));
    for dimension in Dimension::BOTH {
        let probe = |x: f32, y: f32| {
            let mut app = app();
            let child = spawn_line(app.world_mut(), &[parent, child], dimension.block(2.0));
            let point = (dimension.ball(0.0), at(x, y, 0.0));
            app.world_mut().spawn(point);
            let messages = tick(&mut app).messages;
            messages.first().and_then(|hit| hit.seen_from(child))
        };
        // The rhombus is |x| / (2 √2) + |y| / √2 <= 1.
        for (x, y, expected) in [
            (2.0 * root - 0.01, 0.0, true),
            (2.0 * root + 0.01, 0.0, false),
            (0.0, root - 0.01, true),
            (0.0, root + 0.01, false),
            (root - 0.01, 0.5 * root - 0.01, true),
            (root + 0.01, 0.5 * root + 0.01, false),
        ] {
            assert_eq!(probe(x, y).is_some(), expected, "({x}, {y})");
            assert_eq!(probe(-x, y).is_some(), expected, "({}, {y})", -x);
        }
        // At the middle of a side, the normal is perpendicular to that side.
        let out = probe(root - 0.1, 0.5 * root - 0.2).expect("inside");
        let normal = Vec3::new(1.0, 2.0, 0.0).normalize();
        assert_near_vec(out.normal, normal, 2.0);
        let depth = normal.dot(Vec3::new(0.1, 0.2, 0.0));
        assert_near(out.depth, depth, 4.0);
    }
}

// Order.

/// Spawns a heap of colliders in both dimensions, many of which touch. The entities get their
/// colliders in the given order.
fn heap(app: &mut App, order: &[usize]) -> Vec<Entity> {
    let mut random = StdRng::seed_from_u64(3);
    let sides: Vec<_> = (0..order.len())
        .map(|index| {
            let dimension = Dimension::BOTH[index % 2];
            let shapes = shapes(dimension);
            let shape = shapes[random.random_range(0..shapes.len())].clone();
            let mut pose = random_pose(&mut random, dimension);
            pose.translation *= 2.0;
            (shape, pose)
        })
        .collect();
    let world = app.world_mut();
    let entities: Vec<_> = sides.iter().map(|_| world.spawn_empty().id()).collect();
    for index in order {
        world
            .entity_mut(entities[*index])
            .insert(sides[*index].clone());
    }
    entities
}

#[test]
fn the_same_poses_give_the_same_events_in_the_same_order_after_any_history() {
    let mut order: Vec<_> = (0..40).collect();
    let mut straight = app();
    let entities = heap(&mut straight, &order);
    let expected = tick(&mut straight).messages;
    assert!(expected.len() > 40, "{}", expected.len());

    // The entities are the same, but their components were added in another order, and are
    // elsewhere in memory.
    let mut random = StdRng::seed_from_u64(4);
    for _ in 0..5 {
        order.shuffle(&mut random);
        let mut shuffled = app();
        assert_eq!(heap(&mut shuffled, &order), entities);
        for index in order.iter().take(10) {
            // This component moves the entity to another archetype.
            let layers = CollisionLayers::ALL;
            shuffled
                .world_mut()
                .entity_mut(entities[*index])
                .insert(layers);
        }
        assert_eq!(tick(&mut shuffled).messages, expected);
    }

    // The colliders come into the same poses from different poses.
    let poses: Vec<_> = entities
        .iter()
        .map(|entity| *transform(straight.world_mut(), *entity))
        .collect();
    for _ in 0..10 {
        for entity in &entities {
            let shift = Vec3::splat(random.random_range(-1.0..1.0));
            transform(straight.world_mut(), *entity).translation += shift;
        }
        tick(&mut straight);
    }
    for (entity, pose) in entities.iter().zip(&poses) {
        *transform(straight.world_mut(), *entity) = *pose;
    }
    let again = tick(&mut straight).messages;
    let geometry = |hits: &[CollisionEvent]| {
        let mut hits: Vec<_> = hits.iter().filter(|hit| !hit.ended()).copied().collect();
        for hit in &mut hits {
            hit.phase = CollisionPhase::Ongoing;
        }
        hits
    };
    assert_eq!(geometry(&again), geometry(&expected));
}

#[test]
fn messages_of_a_tick_are_sorted_by_entities_in_every_phase() {
    let mut app = app();
    let order: Vec<_> = (0..40).collect();
    let entities = heap(&mut app, &order);
    let mut random = StdRng::seed_from_u64(5);
    let mut phases = [0; 3];
    for _ in 0..20 {
        let messages = tick(&mut app).messages;
        assert!(messages.is_sorted_by_key(|hit| (hit.entity, hit.other)));
        for hit in &messages {
            let phase = [hit.started(), hit.ongoing(), hit.ended()];
            phases[phase.iter().position(|it| *it).expect("one of three")] += 1;
        }
        for entity in &entities {
            let x = random.random_range(-0.5..0.5);
            transform(app.world_mut(), *entity).translation.x += x;
        }
    }
    assert!(phases.iter().all(|count| *count > 20), "{phases:?}");
}

#[test]
fn observers_are_called_in_the_order_of_the_messages() {
    let mut app = app();
    let order: Vec<_> = (0..40).collect();
    for entity in heap(&mut app, &order) {
        watch(app.world_mut(), entity);
    }
    let record = tick(&mut app);
    let expected = record
        .messages
        .iter()
        .flat_map(|hit| [(hit.entity, *hit), (hit.other, hit.flipped())]);
    assert_eq!(record.observed, expected.collect::<Vec<_>>());
}

/// A box that has sunk equally into two floor tiles must be pushed up only once.
#[test]
fn minimum_translation_after_earlier_moves_is_only_what_is_missing() {
    let mut app = app();
    let world = app.world_mut();
    let tile = || Collider::from(Rectangle::new(10.0, 10.0));
    world.spawn((tile(), Transform::from_xyz(-5.0, 0.0, 0.0)));
    world.spawn((tile(), Transform::from_xyz(5.0, 0.0, 0.0)));
    let player = (tile(), Transform::from_xyz(0.0, 9.5, 0.0));
    let player = world.spawn(player).id();
    let messages = tick(&mut app).messages;
    let hits: Vec<_> = messages
        .iter()
        .filter_map(|hit| hit.seen_from(player))
        .collect();
    assert_eq!(hits.len(), 2);
    assert!(hits.iter().all(|hit| hit.depth == 0.5));
    let moved = read(app.world_mut(), |collisions| {
        collisions.push_out(player, |_| true).translation()
    });
    assert_eq!(moved, Vec3::new(0.0, 0.5, 0.0));
}
