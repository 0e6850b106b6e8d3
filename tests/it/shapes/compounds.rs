//! Colliders of several convex parts: they act as one collider, and are as exact as each part
//! alone.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::support::{
    Dimension, app, assert_near, assert_near_vec, despawn, meeting, read, tick, transform,
};
use bevy::{
    math::{DVec3, Isometry2d, Isometry3d, Quat},
    prelude::*,
};
use headbutt::{CollisionDiagnostics, ShapeError, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

fn vec3(random: &mut StdRng, reach: f32) -> Vec3 {
    Vec3::from_array(core::array::from_fn(|_| random.random_range(-reach..reach)))
}

fn rotation(random: &mut StdRng, dimension: Dimension) -> Quat {
    let angle = random.random_range(-3.0..3.0);
    match dimension {
        Dimension::D2 => Quat::from_rotation_z(angle),
        Dimension::D3 => {
            let axis = vec3(random, 1.0).try_normalize().unwrap_or(Vec3::X);
            Quat::from_axis_angle(axis, angle)
        }
    }
}

/// Returns a pose near the origin with a rotation. In half of all cases, the pose has a scale that
/// stretches and mirrors.
fn pose(random: &mut StdRng, dimension: Dimension, reach: f32) -> Transform {
    let mut translation = vec3(random, reach);
    if dimension == Dimension::D2 {
        translation.z = 0.0;
    }
    let mut pose =
        Transform::from_translation(translation).with_rotation(rotation(random, dimension));
    if random.random() {
        pose.scale = Vec3::from_array(core::array::from_fn(|_| {
            random.random_range(0.4..1.6) * if random.random_bool(0.3) { -1.0 } else { 1.0 }
        }));
    }
    pose
}

/// Returns a convex collider of a random kind and of size about 1.
fn convex(random: &mut StdRng, dimension: Dimension, round: bool) -> Collider {
    let mut size = || random.random_range(0.3..1.0);
    let [a, b, c] = [size(), size(), size()];
    let kind = if round { random.random_range(0..5) } else { 4 };
    match (dimension, kind) {
        (_, 0) => dimension.ball(a),
        (Dimension::D2, 1) => Capsule2d::new(a, b).into(),
        (Dimension::D2, 2) => Ellipse::new(a, b).into(),
        (Dimension::D2, _) => Rectangle::new(a, b).into(),
        (Dimension::D3, 1) => Capsule3d::new(a, b).into(),
        (Dimension::D3, 2) => Cylinder::new(a, b).into(),
        (Dimension::D3, _) => Cuboid::new(a, b, c).into(),
    }
}

/// Returns the parts, each in its pose, as one collider.
fn compound(parts: &[(Transform, Collider)], dimension: Dimension) -> Result<Collider, ShapeError> {
    match dimension {
        Dimension::D2 => Collider::try_compound(parts.iter().map(|(pose, part)| {
            let (axis, angle) = pose.rotation.to_axis_angle();
            let pose = Isometry2d::new(
                pose.translation.truncate(),
                Rot2::radians(angle * axis.z.signum()),
            );
            (pose, part.clone())
        })),
        Dimension::D3 => Collider::try_compound(parts.iter().map(|(pose, part)| {
            (
                Isometry3d::new(pose.translation, pose.rotation),
                part.clone(),
            )
        })),
    }
}

/// Returns two boxes of size 2, at x = -2 and x = 2.
fn dumbbell(dimension: Dimension) -> Collider {
    let part = |x: f32| (Transform::from_xyz(x, 0.0, 0.0), dimension.block(2.0));
    compound(&[part(-2.0), part(2.0)], dimension).unwrap()
}

#[test]
fn a_compound_pair_has_one_start_and_one_end() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let long = Transform::from_xyz(0.0, 1.5, 0.0).with_scale(Vec3::new(3.0, 1.0, 1.0));
        let bar = world.spawn((dimension.block(2.0), long)).id();
        let both = world.spawn(dumbbell(dimension)).id();
        let hit = tick(&mut app).only();
        assert!(hit.started());
        let hit = hit.seen_from(both).unwrap();
        assert_eq!(hit.other, bar);
        assert_near_vec(hit.normal, Vec3::Y, 1.0);
        assert_near(hit.depth, 0.5, 1.0);
        assert!(tick(&mut app).only().ongoing());
        // One part separates, and the pair continues with the other part.
        transform(app.world_mut(), bar).translation.x = 3.0;
        let hit = tick(&mut app).only().seen_from(both).unwrap();
        assert!(hit.ongoing());
        assert_eq!((hit.part(), hit.other_part()), (1, 0));
        transform(app.world_mut(), bar).translation.x = -3.0;
        let hit = tick(&mut app).only().seen_from(both).unwrap();
        assert!(hit.ongoing());
        assert_eq!((hit.part(), hit.other_part()), (0, 0));
        transform(app.world_mut(), bar).translation.y = 2.1;
        assert_eq!(
            tick(&mut app).only().end_reason(),
            Some(EndReason::Separated)
        );
        assert!(tick(&mut app).is_empty());
        transform(app.world_mut(), bar).translation.y = 1.5;
        assert!(tick(&mut app).only().started());
        despawn(app.world_mut(), both);
        assert_eq!(
            tick(&mut app).only().end_reason(),
            Some(EndReason::Despawned)
        );
        assert!(tick(&mut app).is_empty());
    }
}

#[test]
fn the_hole_between_parts_is_empty() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        app.world_mut().spawn(dumbbell(dimension));
        app.world_mut().spawn(dimension.ball(0.9));
        assert!(tick(&mut app).is_empty());
    }
}

#[test]
fn all_touching_parts_can_be_read_from_either_side() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let both = world.spawn(dumbbell(dimension)).id();
        // The collider is tilted, so that the part at x = 2 is deeper.
        let tilted = Transform::from_xyz(0.0, 1.5, 0.0)
            .with_rotation(Quat::from_rotation_z(-0.1))
            .with_scale(Vec3::new(3.0, 1.0, 1.0));
        let bar = world.spawn((dimension.block(2.0), tilted)).id();
        let far = Transform::from_xyz(-3.5, -0.8, 0.0);
        let left = world.spawn((dimension.block(2.0), far)).id();
        let hits = tick(&mut app).messages;
        let hit = hits.iter().find(|hit| hit.seen_from(bar).is_some());
        let hit = hit.unwrap().seen_from(both).unwrap();
        assert_eq!(hit.part(), 1, "the deepest");
        read(app.world_mut(), |collisions| {
            let seen: Vec<_> = collisions.parts(both, bar).collect();
            let numbers: Vec<_> = seen
                .iter()
                .map(|hit| (hit.part(), hit.other_part()))
                .collect();
            assert_eq!(numbers, [(0, 0), (1, 0)]);
            assert_eq!(seen[1], hit);
            assert!(seen[0].depth < seen[1].depth);
            for hit in &seen {
                assert_eq!((hit.entity, hit.other), (both, bar));
                assert!(hit.normal.y > 0.9, "{hit:?}");
            }
            let flipped: Vec<_> = seen.iter().map(CollisionEvent::flipped).collect();
            assert_eq!(collisions.parts(bar, both).collect::<Vec<_>>(), flipped);
            // One pair touches with a single part, and the other pair does not touch.
            let single: Vec<_> = collisions.parts(both, left).collect();
            assert_eq!(single, [collisions.between(both, left).unwrap()]);
            assert_eq!(single[0].part(), 0);
            assert_eq!(collisions.parts(bar, left).count(), 0);
        });
        // Each part has the phase of the pair.
        tick(&mut app);
        read(app.world_mut(), |collisions| {
            assert_eq!(
                collisions
                    .parts(both, bar)
                    .filter(CollisionEvent::ongoing)
                    .count(),
                2
            );
        });
    }
}

/// Compares the contacts of parts that are spawned alone with the contacts of the compound.
fn as_deep_as_the_deepest_part(dimension: Dimension, seed: u64, of_two: bool, round: bool) {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut touching, mut several) = (0, 0);
    for _ in 0..400 {
        let mut app = app();
        let world = app.world_mut();
        let mut side = |count: usize| {
            let parts: Vec<(Transform, Collider)> = (0..count)
                .map(|_| {
                    let pose = Transform {
                        scale: Vec3::ONE,
                        ..pose(&mut random, dimension, 1.0)
                    };
                    (pose, convex(&mut random, dimension, round))
                })
                .collect();
            let parent = pose(&mut random, dimension, 0.5);
            let own = pose(&mut random, dimension, 0.7);
            let parent = world.spawn(parent).id();
            let whole = compound(&parts, dimension).unwrap();
            let whole = world.spawn((whole, own, ChildOf(parent))).id();
            let body = world.spawn((own, ChildOf(parent))).id();
            let parts: Vec<Entity> = parts
                .into_iter()
                .map(|(pose, part)| world.spawn((part, pose, ChildOf(body))).id())
                .collect();
            (whole, parts)
        };
        let (whole_a, parts_a) = side(4);
        let (whole_b, parts_b) = side(if of_two { 3 } else { 1 });
        tick(&mut app);
        read(app.world_mut(), |collisions| {
            let mut alone = Vec::new();
            for (i, a) in parts_a.iter().enumerate() {
                for (j, b) in parts_b.iter().enumerate() {
                    let hit = collisions.between(*a, *b);
                    alone.extend(hit.map(|hit| (i as u32, j as u32, hit)));
                }
            }
            let whole = collisions.between(whole_a, whole_b);
            let mut parts: Vec<_> = collisions.parts(whole_a, whole_b).collect();
            parts.sort_by_key(|hit| (hit.part(), hit.other_part()));
            assert_eq!(parts.len(), alone.len());
            for (hit, (i, j, alone)) in parts.iter().zip(&alone) {
                assert_eq!((hit.part(), hit.other_part()), (*i, *j));
                let near = |a: Vec3, b: Vec3, error: f32| {
                    assert!(a.distance(b) <= error, "{hit:?}, {alone:?}");
                };
                assert!(
                    (hit.depth - alone.depth).abs() <= 1e-5,
                    "{hit:?}, {alone:?}"
                );
                // On curved surfaces, EPA ends when the depth is known to 1e-7. The normal may be
                // off by the square root of this error, and is off by less here.
                near(hit.normal, alone.normal, if round { 1e-4 } else { 1e-5 });
                near(
                    hit.other_point(),
                    hit.point() - hit.normal * hit.depth,
                    1e-5,
                );
            }
            let deepest = alone.iter().map(|(.., hit)| hit.depth).reduce(f32::max);
            assert_eq!(whole.is_some(), deepest.is_some());
            if let (Some(whole), Some(deepest)) = (whole, deepest) {
                assert_near(whole.depth, deepest, 10.0);
                assert!(parts.contains(&whole));
                assert!(parts.iter().all(|part| part.depth <= whole.depth));
            }
            touching += usize::from(!parts.is_empty());
            several += usize::from(parts.len() > 1);
        });
    }
    assert!(
        (50..400).contains(&touching) && several > 20,
        "{touching}, {several}"
    );
}

#[test]
fn a_compound_is_as_deep_as_its_deepest_part_under_any_affine_map() {
    as_deep_as_the_deepest_part(Dimension::D2, 1, false, false);
    as_deep_as_the_deepest_part(Dimension::D2, 11, false, true);
    as_deep_as_the_deepest_part(Dimension::D3, 2, false, false);
    as_deep_as_the_deepest_part(Dimension::D3, 12, false, true);
}

#[test]
fn two_compounds_collide_part_by_part() {
    as_deep_as_the_deepest_part(Dimension::D2, 3, true, false);
    as_deep_as_the_deepest_part(Dimension::D2, 13, true, true);
    as_deep_as_the_deepest_part(Dimension::D3, 4, true, false);
    as_deep_as_the_deepest_part(Dimension::D3, 14, true, true);
}

#[test]
fn a_compound_in_a_compound_becomes_its_parts() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let world = app.world_mut();
        let turned = Transform::from_xyz(10.0, 0.0, 0.0)
            .with_rotation(Quat::from_rotation_z(core::f32::consts::FRAC_PI_2));
        let inner = dumbbell(dimension).rounded(0.1);
        let parts = [(Transform::IDENTITY, dimension.ball(1.0)), (turned, inner)];
        let nested = compound(&parts, dimension).unwrap();
        let nested = world.spawn(nested).id();
        // The inner parts are at (10, -2) and (10, 2), with a margin of 0.1 that the ball does not
        // have.
        for (part, place, depth) in [
            (0, Vec3::new(-1.25, 0.0, 0.0), 0.25),
            (1, Vec3::new(10.0, -3.5, 0.0), 0.1),
            (2, Vec3::new(10.0, 3.5, 0.0), 0.1),
        ] {
            let ball = (dimension.ball(0.5), Transform::from_translation(place));
            let ball = app.world_mut().spawn(ball).id();
            let hit = tick(&mut app).messages;
            let hit = hit.iter().find(|hit| hit.started()).unwrap();
            let hit = hit.seen_from(nested).unwrap();
            assert_eq!((hit.other, hit.part()), (ball, part));
            assert_near(hit.depth, depth, 10.0);
        }
    }
}

#[test]
fn a_margin_is_around_each_part() {
    for dimension in Dimension::BOTH {
        let mut app = app();
        let collider = dumbbell(dimension).rounded(0.25);
        app.world_mut()
            .spawn((collider, Transform::from_scale(Vec3::splat(2.0))));
        // The parts end at |x| = 1 and 3, with the margin at 0.75 and 3.25. The scale doubles these
        // lengths.
        let ball = app.world_mut().spawn(dimension.ball(1.6)).id();
        let hit = tick(&mut app).only().seen_from(ball).unwrap();
        assert_near(hit.depth, 0.1, 10.0);
        assert_near(hit.normal.x.abs(), 1.0, 1.0);
        transform(app.world_mut(), ball).translation = Vec3::new(8.0, 0.0, 0.0);
        let hit = tick(&mut app).only().seen_from(ball).unwrap();
        assert_eq!(hit.other_part(), 1);
        assert_near(hit.depth, 0.1, 10.0);
        assert_near_vec(hit.normal, Vec3::NEG_X, 1.0);
    }
}

#[test]
fn a_compound_flattened_by_its_scale_still_touches() {
    for dimension in Dimension::BOTH {
        for scale in [
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::new(0.0, 1.0, 1.0),
            Vec3::ZERO,
        ] {
            let mut app = app();
            let flat = Transform::from_scale(scale);
            let flat = app.world_mut().spawn((dumbbell(dimension), flat)).id();
            let place = Transform::from_xyz(2.5 * scale.x, 0.25, 0.0);
            app.world_mut().spawn((dimension.ball(1.0), place));
            let hit = tick(&mut app).only().seen_from(flat).unwrap();
            assert!(hit.depth > 0.0 && (hit.normal.length() - 1.0).abs() < 1e-5);
            if scale.x == 1.0 {
                assert_near_vec(hit.normal, Vec3::Y, 10.0);
                assert_near(hit.depth, 0.75, 10.0);
            }
        }
    }
}

#[test]
fn an_invalid_compound_is_an_error() {
    let square = || Collider::from(Rectangle::new(1.0, 1.0));
    let cube = || Collider::from(Cuboid::new(1.0, 1.0, 1.0));
    let none: [(Vec3, Collider); 0] = [];
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let mesh = || Collider::try_trimesh(corners, [[0, 1, 2]]).unwrap();
    let line = || Collider::try_polyline([Vec2::ZERO, Vec2::X]).unwrap();
    let nan = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, f32::NAN, 0.0)];
    let field = |size, columns, heights: &[f32]| Collider::try_heightfield(size, columns, heights);
    let plane = || Collider::from(InfinitePlane3d::new(Vec3::Y));
    let flat = [0.0; 4];
    let no_triangle = ShapeError::NoFacets("triangle of nonzero area");
    let no_segment = ShapeError::NoFacets("segment of nonzero length");
    let in_line = [0.0, 0.5, 2.0].map(|part| Vec3::ONE * part + Vec3::X);
    let one_place = [Vec3::ONE; 3];
    let cases: [(Result<Collider, ShapeError>, ShapeError); 39] = [
        (Collider::try_compound(none), ShapeError::NoParts),
        (
            Collider::try_compound([(Vec3::ZERO, cube()), (Vec3::X, Collider::default())]),
            ShapeError::PartWithoutShape,
        ),
        (
            Collider::try_compound([(Vec3::ZERO, Collider::from(Sphere::new(-1.0)))]),
            ShapeError::Negative("radius"),
        ),
        (
            Collider::try_compound([(Vec3::ZERO, cube()), (Vec3::X, square())]),
            ShapeError::MixedDimensions,
        ),
        (
            Collider::try_compound([(Vec2::ZERO, cube())]),
            ShapeError::MixedDimensions,
        ),
        (
            Collider::try_compound([(Vec3::ZERO, mesh())]),
            ShapeError::SurfaceInCompound,
        ),
        (
            Collider::try_compound([(Vec2::ZERO, line())]),
            ShapeError::SurfaceInCompound,
        ),
        (
            Collider::try_compound([(Vec3::ZERO, line())]),
            ShapeError::MixedDimensions,
        ),
        (
            Collider::try_compound([(Vec3::new(0.0, f32::INFINITY, 0.0), cube())]),
            ShapeError::PoseNotFinite,
        ),
        (
            Collider::try_compound([(Vec2::NAN, square())]),
            ShapeError::PoseNotFinite,
        ),
        (mesh().try_rounded(-1.0), ShapeError::Negative("margin")),
        (
            mesh().try_rounded(f32::NAN),
            ShapeError::NotFinite("margin"),
        ),
        (Collider::try_trimesh(corners, []), no_triangle),
        (Collider::try_trimesh([], []), no_triangle),
        (Collider::try_trimesh(corners, [[0, 1, 1]]), no_triangle),
        (
            Collider::try_trimesh(corners, [[2, 2, 2], [0, 2, 0]]),
            no_triangle,
        ),
        (Collider::try_trimesh(in_line, [[0, 1, 2]]), no_triangle),
        (Collider::try_trimesh(one_place, [[0, 1, 2]]), no_triangle),
        (
            Collider::try_trimesh([], [[0, 0, 0]]),
            ShapeError::VertexOutOfRange { index: 0, count: 0 },
        ),
        (
            Collider::try_trimesh(corners, [[0, 1, 2], [0, 7, 3]]),
            ShapeError::VertexOutOfRange { index: 7, count: 3 },
        ),
        (
            Collider::try_trimesh(nan, [[0, 1, 2]]),
            ShapeError::NotFinite("vertex"),
        ),
        (Collider::try_polyline([]), no_segment),
        (Collider::try_polyline([Vec2::X]), no_segment),
        (Collider::try_polyline([Vec2::X, Vec2::X]), no_segment),
        (Collider::try_polyline([Vec2::NEG_ONE; 5]), no_segment),
        (
            Collider::try_polyline([Vec2::X, Vec2::NAN]),
            ShapeError::NotFinite("vertex"),
        ),
        (
            Collider::try_compound([(Vec3::ZERO, plane())]),
            ShapeError::Unbounded("a half-space"),
        ),
        (
            Collider::try_compound([(Vec3::ZERO, cube()), (Vec3::X, plane().rounded(0.1))]),
            ShapeError::Unbounded("a half-space"),
        ),
        (
            Collider::try_compound([(Vec2::ZERO, Collider::from(Plane2d::new(Vec2::Y)))]),
            ShapeError::Unbounded("a half-space"),
        ),
        (
            field(Vec2::new(-1.0, 1.0), 2, &flat),
            ShapeError::Negative("size"),
        ),
        (
            field(Vec2::new(1.0, -1.0), 2, &flat),
            ShapeError::Negative("size"),
        ),
        (field(Vec2::Y, 2, &flat), ShapeError::Zero("size")),
        (field(Vec2::X, 2, &flat), ShapeError::Zero("size")),
        (
            field(Vec2::new(f32::NAN, 1.0), 2, &flat),
            ShapeError::NotFinite("size"),
        ),
        (field(Vec2::ONE, 2, &[0.0; 5]), ShapeError::HeightCount),
        (field(Vec2::ONE, 0, &[]), ShapeError::HeightCount),
        (field(Vec2::ONE, 1, &[0.0; 4]), ShapeError::HeightCount),
        (field(Vec2::ONE, 4, &[0.0; 4]), ShapeError::HeightCount),
        (
            field(Vec2::ONE, 2, &[0.0, 0.0, f32::INFINITY, 0.0]),
            ShapeError::NotFinite("height"),
        ),
    ];
    for (number, (result, expected)) in cases.into_iter().enumerate() {
        assert_eq!(result.err(), Some(expected), "case {number}");
    }
}

#[test]
fn the_error_of_a_compound_says_what_is_required() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let cases = [
        (
            Collider::try_trimesh(corners, []),
            "a surface needs at least one triangle of nonzero area",
        ),
        (
            Collider::try_polyline([Vec2::X; 3]),
            "a surface needs at least one segment of nonzero length",
        ),
        (
            Collider::try_trimesh(corners, [[0, 1, 2], [1, 2, 3]]),
            "vertex index 3 is out of range: the number of vertices is 3, from index 0",
        ),
        (
            Collider::try_compound(Vec::<(Vec3, Collider)>::new()),
            "a compound needs at least one part",
        ),
        (
            Collider::try_compound([(Vec3::ZERO, Collider::default())]),
            "a part of a compound is a default collider, which has no shape",
        ),
        (
            Collider::try_heightfield(Vec2::ONE, 2, &[0.0; 5]),
            "a height field needs rows * columns heights, and at least two rows and two columns",
        ),
    ];
    for (result, text) in cases {
        assert_eq!(result.unwrap_err().to_string(), text);
    }
}

/// An invalid shape.
struct Nothing;

impl Support for Nothing {
    type Vector = Vec3;

    fn support(&self, _: DVec3) -> DVec3 {
        DVec3::NAN
    }
}

#[test]
fn a_compound_with_an_invalid_part_is_invalid() {
    for place in 0..3 {
        let mut parts: Vec<(Vec3, Collider)> = [-5.0, 5.0f32]
            .map(|x| (Vec3::new(x, 0.0, 0.0), Sphere::new(1.0).into()))
            .into();
        parts.insert(place, (Vec3::ZERO, Collider::custom(Nothing)));
        let error = Collider::try_compound(parts).unwrap_err();
        assert_eq!(error, ShapeError::NotFinite("support function of a part"));
    }
}

/// Shapes move over compounds and surfaces, with and without a margin. Their parts are tested again
/// in each tick.
#[test]
fn a_warm_tick_of_compounds_allocates_nothing() {
    let blocks = |part: fn() -> Collider| {
        let parts = (0..20).map(|it| (it as f32 * Vec3::X - 10.0 * Vec3::X, part()));
        Collider::try_compound(parts).unwrap()
    };
    let field = || Collider::try_heightfield(Vec2::splat(20.0), 41, &[0.0; 41 * 41]).unwrap();
    let cases = [
        blocks(|| Cuboid::new(1.0, 1.0, 1.0).into()),
        blocks(|| Cuboid::new(1.0, 1.0, 1.0).into()).rounded(0.1),
        blocks(|| Extrusion::new(Circle::new(0.5), 1.0).into()).rounded(0.1),
        field(),
        field().rounded(0.1),
        field().one_sided(),
    ];
    for (number, level) in cases.into_iter().enumerate() {
        let mut app = app();
        app.world_mut().spawn(level);
        let bodies: Vec<Entity> = (0..10)
            .map(|it| {
                let place = Transform::from_xyz(it as f32 - 5.0, 0.4, 0.0);
                let cone = Collider::from(Cone::new(0.4, 1.0));
                app.world_mut().spawn((cone, place)).id()
            })
            .collect();
        let run = |app: &mut App, at: usize| {
            for (index, body) in bodies.iter().enumerate() {
                let turn = Quat::from_rotation_x(0.3 * (index + at % 8) as f32);
                transform(app.world_mut(), *body).rotation = turn;
            }
            let world = app.world_mut();
            let counted = allocation_counter::measure(|| world.run_schedule(FixedPostUpdate));
            let mut told = world.resource_mut::<Messages<CollisionEvent>>();
            assert!(told.drain().count() > 0);
            counted.count_total
        };
        // After these ticks, all buffers of the app have grown, including buffers that compounds do
        // not use.
        (0..40).for_each(|at| {
            run(&mut app, at);
        });
        for at in 0..8 {
            assert_eq!(run(&mut app, at), 0, "case {number}");
        }
    }
}

/// Ties must not take time quadratic in their number.
#[test]
fn a_compound_may_have_many_equal_parts() {
    let many = 100_000_u32;
    let ball = || Collider::from(Sphere::new(0.4));
    let block = || Collider::from(Cuboid::new(1.0, 1.0, 1.0));
    let all = [
        Collider::try_compound((0..many).map(|it| (it as f32 * Vec3::X, ball()))),
        Collider::try_compound((0..many).map(|_| (Vec3::ZERO, block()))),
        Collider::try_compound((0..many).map(|_| (Vec3::ZERO, Cuboid::new(0.0, 0.0, 0.0).into()))),
        Collider::try_polyline((0..many).map(|it| Vec2::new(it as f32, 0.0))),
        Collider::try_trimesh([Vec3::ZERO, Vec3::X, Vec3::Y], (0..many).map(|_| [0, 1, 2])),
    ];
    assert!(all.iter().all(Result::is_ok));
    for it in all.into_iter().flatten() {
        assert!(!it.rounded(0.1).one_sided().is_inert());
    }
}

/// Vertices that no triangle uses belong neither to the surface nor to its bounding box.
#[test]
fn a_vertex_without_a_facet_is_no_part_of_a_surface() {
    let far = Vec3::splat(3e38);
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Z, far];
    let mesh = Collider::try_trimesh(corners, [[0, 1, 2]]).unwrap();
    let mut app = app();
    app.world_mut().spawn(mesh);
    let ball = Transform::from_xyz(0.2, 0.4, 0.2);
    let ball = app
        .world_mut()
        .spawn((Collider::from(Sphere::new(0.5)), ball));
    let ball = ball.id();
    let hit = tick(&mut app).only().seen_from(ball).unwrap();
    assert_near_vec(hit.normal, Vec3::NEG_Y, 1.0);
    assert_near(hit.depth, 0.1, 1.0);
    transform(app.world_mut(), ball).translation = Vec3::splat(50.0);
    assert!(tick(&mut app).only().ended());
    let diagnostics = app.world().resource::<CollisionDiagnostics>();
    assert_eq!(diagnostics.candidates, 0);
}

/// The library that builds the tree multiplies lengths in f32, so extreme lengths could trip its
/// assertions.
#[test]
fn compounds_may_be_as_large_and_as_small_as_f32_allows() {
    for size in [1e-45_f32, 1e-38, 1e-20, 1e20, 1e30, 1.6e38] {
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * size);
        let [flat_x, flat_y] = [Vec2::X, Vec2::Y].map(|axis| axis * size);
        let ball = || Collider::from(Sphere::new(size));
        let heights = [0.0, size, 0.0, -size, 0.0, 0.0, 0.0, size, size];
        let all = [
            Collider::try_polyline([-flat_x, Vec2::ZERO, flat_x, flat_x + flat_y]),
            Collider::try_trimesh([-x, x, y, z], [[0, 1, 2], [1, 2, 3], [0, 2, 3]]),
            // Half of the least number is 0, and a cell of size 0 would have no area.
            Collider::try_heightfield(Vec2::splat(size.max(4e-45)), 3, &heights),
            Collider::try_compound([(x, ball()), (-y, ball()), (z, ball())]),
        ];
        let mut app = app();
        for collider in all {
            app.world_mut().spawn(collider.expect("no nonsense"));
        }
        for collider in [Sphere::new(1.0).into(), Collider::from(Circle::new(1.0))] {
            app.world_mut().spawn(collider);
        }
        tick(&mut app);
        let hits = tick(&mut app).messages.len();
        // At least the circle and the polyline are hit.
        assert!(hits > 0 || size > 1e38, "{size}");
    }
}

/// A part beyond f32 would have no place in the tree of boxes, so some queries would not find the
/// part.
#[test]
fn a_part_or_facet_beyond_f32_is_an_error() {
    let far = f32::MAX;
    let errors = [
        Collider::try_compound([(Vec3::X * 3e38, Collider::sphere(2e38))]),
        Collider::try_compound([(Vec2::Y * -3e38, Collider::circle(2e38))]),
        Collider::try_polyline([Vec2::ZERO, Vec2::X * far]),
        Collider::try_trimesh([Vec3::ZERO, Vec3::X * far, Vec3::NEG_Z * far], [[0, 1, 2]]),
        Collider::try_heightfield(Vec2::splat(far / 2.0), 2, &[0.0, 0.0, 0.0, far]),
    ];
    for collider in errors {
        assert_eq!(collider.unwrap_err(), ShapeError::BeyondF32);
    }
    assert!(Collider::compound([(Vec3::X * 3e38, Collider::sphere(2e38))]).is_inert());
}

/// Scaled by 1e-38, the largest parts are balls of radius 1 at -2 and 2.
#[test]
fn every_query_finds_the_largest_parts() {
    let ball = || Collider::sphere(1e38);
    let both = Collider::compound([(Vec3::X * 2e38, ball()), (Vec3::X * -2e38, ball())]);
    let pose = Transform::from_scale(Vec3::splat(1e-38));
    let probe = Collider::sphere(0.5);
    for side in [2.0, -2.0] {
        let above = Vec3::new(side, 1.25, 0.0);
        let contact = query::contact(&both, pose, &probe, above).unwrap();
        assert_near_vec(contact.normal, Vec3::Y, 1.0);
        assert_near(contact.depth, 0.25, 1.0);
        let hit = query::cast_ray(&both, pose, query::Ray::new(above + Vec3::Y, Vec3::NEG_Y));
        assert_near(hit.unwrap().distance, 1.25, 1.0);
        let distance = query::distance(&both, pose, &probe, above + Vec3::Y);
        assert_near(distance.distance, 0.75, 1.0);
    }
    assert!(!query::intersects(&both, pose, &probe, Vec3::ZERO));
}

/// A tile that counts the support evaluations of all tiles.
#[derive(Debug)]
struct Tile {
    half: Vec3,
    asked: Arc<AtomicUsize>,
}

impl Support for Tile {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.asked.fetch_add(1, Relaxed);
        self.half.as_dvec3().copysign(direction)
    }
}

/// A shape that meets a compound of many parts is tested against the near parts. A moving compound
/// tests its outermost parts. This holds for either order of the entities.
#[test]
fn only_parts_near_the_other_shape_are_tested() {
    for floor_first in [true, false] {
        let asked = Arc::default();
        let tile = || {
            Collider::custom(Tile {
                half: Vec3::new(0.5, 0.5, 0.5),
                asked: Arc::clone(&asked),
            })
        };
        let places = (0..10_000).map(|it| Vec3::new((it % 100) as f32, 0.0, (it / 100) as f32));
        let tiles = places.map(|place| (Isometry3d::from_translation(place), tile()));
        let floor = (
            Collider::try_compound(tiles).expect("a floor"),
            Transform::IDENTITY,
        );
        let ball = (
            Collider::from(Sphere::new(0.5)),
            Transform::from_xyz(50.2, 0.9, 50.3),
        );
        let mut app = app();
        let world = app.world_mut();
        let (ball, floor) = if floor_first {
            let floor = world.spawn(floor).id();
            (world.spawn(ball).id(), floor)
        } else {
            (world.spawn(ball).id(), world.spawn(floor).id())
        };
        tick(&mut app);
        for mover in [ball, floor] {
            asked.store(0, Relaxed);
            transform(app.world_mut(), mover).translation.x += 0.01;
            tick(&mut app);
            let count = asked.load(Relaxed);
            assert!((1..=2_000).contains(&count), "asked {count} times");
            assert_eq!(read(app.world_mut(), |it| it.len()), 1);
        }
    }
}

/// Among equally deep contacts, the reported contact depends on the colliders and their poses, but
/// not on the order of the entities. The function `meeting` asserts this law.
#[test]
fn a_tie_between_parts_does_not_depend_on_the_entity_order() {
    let ball = || Collider::from(Circle::new(1.0));
    let block = || Collider::from(Rectangle::new(2.0, 2.0));
    let at = Isometry2d::from_xy;
    let of =
        |parts: [(Isometry2d, Collider); 2]| Collider::try_compound(parts).expect("a compound");
    let balls = of([(at(0.0, 0.0), ball()), (at(10.0, 0.0), ball())]);
    let blocks = of([(at(10.0, 1.5), block()), (at(0.0, -1.5), block())]);
    let stretched = Transform::from_scale(Vec3::new(1.0, 2.0, 1.0));
    for pose in [Transform::IDENTITY, stretched] {
        let hit = meeting((&balls, pose), (&blocks, pose)).expect("they touch in both places");
        assert_near(hit.normal.y.abs(), 1.0, 1.0);
    }
    let first = of([(at(1.0, 0.0), block()), (at(-9.0, 0.0), ball())]);
    let second = of([(at(0.0, 0.0), block()), (at(9.0, 0.0), ball())]);
    let there = Transform::from_xyz(1.0, 0.0, 0.0);
    let hit = meeting((&first, Transform::IDENTITY), (&second, there));
    assert_near(hit.expect("a block in a block").depth, 2.0, 1.0);
    // The two compounds have the same parts in different orders.
    let [left, right] = [at(-1.0, 0.0), at(1.0, 0.0)];
    let first = of([(right, ball()), (left, ball())]);
    let second = of([(left, ball()), (right, ball())]);
    let hit = meeting(
        (&first, Transform::IDENTITY),
        (&second, Transform::IDENTITY),
    );
    assert_near(hit.expect("they are one").depth, 2.0, 1.0);
}

/// A parent may flatten a rotated child. Rounding then leaves a map that is not quite flat.
#[test]
fn a_flattened_and_rotated_compound_still_touches() {
    let mut random = StdRng::seed_from_u64(9);
    let ball = || Collider::from(Sphere::new(0.5));
    let pair = [Vec3::X, Vec3::NEG_X].map(|place| (place, ball()));
    let pair = Collider::try_compound(pair).expect("a compound");
    let mut touched = 0;
    for number in 0..300 {
        let flat = [0.0, 1e-20, 1e-12, 1e-7][number % 4];
        let scale = [Vec3::new(flat, flat, 1.0), Vec3::new(flat, 1.0, 1.0)][number / 4 % 2];
        let turned =
            |random: &mut StdRng| Transform::from_rotation(rotation(random, Dimension::D3));
        let mut app = app();
        let parent = turned(&mut random).with_scale(scale);
        let child = turned(&mut random);
        let world = app.world_mut();
        let parent = world.spawn(parent).id();
        let (own, others) = (CollisionLayers::new(1, 2), CollisionLayers::new(2, 1));
        let whole = world
            .spawn((pair.clone(), child, ChildOf(parent), own))
            .id();
        let frame = world.spawn((child, ChildOf(parent))).id();
        let singly = [Vec3::X, Vec3::NEG_X].map(|place| {
            let place = Transform::from_translation(place);
            world.spawn((ball(), place, ChildOf(frame), own)).id()
        });
        let place = Transform::from_translation(vec3(&mut random, 0.5));
        let probe = world
            .spawn((Collider::from(Sphere::new(0.3)), place, others))
            .id();
        tick(&mut app);
        read(app.world_mut(), |it| {
            let expected = singly.iter().any(|part| it.contains(*part, probe));
            assert_eq!(it.contains(whole, probe), expected, "{scale}");
            touched += usize::from(expected);
        });
    }
    assert!(touched > 50, "{touched}");
}
