//! Compares contact planes with closed forms, and their solver with brute force.

use bevy::{
    math::{DVec2, DVec3},
    prelude::*,
};
use headbutt::{ContactPlane, clip_velocity, prelude::*, solve_planes};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Level, at};

/// A plane for the brute force: its normal and its gap.
type Plane = (DVec3, f64);

fn direction(random: &mut StdRng, is_flat: bool) -> Dir3 {
    loop {
        let z = if is_flat {
            0.0
        } else {
            random.random_range(-1.0..1.0)
        };
        let vector = Vec3::new(
            random.random_range(-1.0..1.0),
            random.random_range(-1.0..1.0),
            z,
        );
        if vector.length() > 0.1 {
            return Dir3::new(vector).expect("not zero");
        }
    }
}

/// Projects a target onto the intersection of at most three planes, by Gaussian elimination of
/// their Gram matrix.
fn project(target: DVec3, planes: &[Plane]) -> Option<DVec3> {
    let count = planes.len();
    let mut rows: Vec<Vec<f64>> = planes
        .iter()
        .map(|(normal, gap)| {
            let products = planes.iter().map(|(other, _)| normal.dot(*other));
            products.chain([-gap - normal.dot(target)]).collect()
        })
        .collect();
    for pivot in 0..count {
        let best = (pivot..count)
            .max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-6 {
            return None;
        }
        for row in 0..count {
            if row != pivot {
                let above = rows[pivot].clone();
                let factor = rows[row][pivot] / above[pivot];
                for (value, above) in rows[row].iter_mut().zip(above) {
                    *value -= factor * above;
                }
            }
        }
    }
    let factors = (0..count).map(|row| rows[row][count] / rows[row][row]);
    let moves = factors
        .zip(planes)
        .map(|(factor, (normal, _))| *normal * factor);
    Some(target + moves.sum::<DVec3>())
}

/// Returns the point in front of all planes that is nearest to a target. This point is one of the
/// projections onto up to three planes.
fn nearest(target: DVec3, planes: &[Plane]) -> DVec3 {
    let count = planes.len();
    let mut sets = vec![vec![]];
    for a in 0..count {
        sets.push(vec![planes[a]]);
        for b in 0..a {
            sets.push(vec![planes[a], planes[b]]);
            for c in 0..b {
                sets.push(vec![planes[a], planes[b], planes[c]]);
            }
        }
    }
    let is_clear = |x: &DVec3| planes.iter().all(|(n, gap)| n.dot(*x) + gap >= -1e-7);
    let found = sets
        .iter()
        .filter_map(|set| project(target, set))
        .filter(is_clear);
    found
        .min_by(|a, b| a.distance(target).total_cmp(&b.distance(target)))
        .expect("the planes leave room")
}

/// Returns random planes that leave room for a point.
fn planes(random: &mut StdRng, is_flat: bool) -> Vec<ContactPlane> {
    let free = direction(random, is_flat) * random.random_range(0.0..3.0);
    let count = random.random_range(0..9);
    let plane = |_| {
        let normal = direction(random, is_flat);
        ContactPlane::new(normal, random.random_range(0.0..1.0) - normal.dot(free))
    };
    (0..count).map(plane).collect()
}

fn exact(plane: &ContactPlane) -> Plane {
    (plane.normal.as_dvec3().normalize(), f64::from(plane.gap))
}

#[test]
fn the_solution_is_the_nearest_translation_in_front_of_all_planes() {
    let mut random = StdRng::seed_from_u64(1);
    let mut deflected = 0;
    for case in 0..20_000 {
        let is_flat = case % 2 == 0;
        let planes = planes(&mut random, is_flat);
        let target = direction(&mut random, is_flat) * random.random_range(0.0..5.0);
        let solved = solve_planes(target, &planes);
        let expected = nearest(
            target.as_dvec3(),
            &planes.iter().map(exact).collect::<Vec<_>>(),
        );
        assert!(
            solved.as_dvec3().distance(expected) < 1e-5 * (1.0 + expected.length()),
            "case {case}: {solved}, not {expected}"
        );
        if is_flat {
            let flat = solve_planes(target.xy(), &planes).as_dvec2();
            assert!(flat.distance(expected.truncate()) < 1e-5 * (1.0 + expected.length()));
            assert_eq!(solved.z, 0.0);
        }
        deflected += u32::from(solved.distance(target) > 0.01);
    }
    assert!(deflected > 10_000);
}

#[test]
fn a_clipped_velocity_is_the_nearest_that_enters_no_plane() {
    let mut random = StdRng::seed_from_u64(2);
    for case in 0..20_000 {
        let is_flat = case % 2 == 0;
        let planes = planes(&mut random, is_flat);
        let velocity = direction(&mut random, is_flat) * 4.0;
        let through_origin: Vec<_> = planes.iter().map(|plane| (exact(plane).0, 0.0)).collect();
        let expected = nearest(velocity.as_dvec3(), &through_origin);
        let clipped = clip_velocity(velocity, &planes);
        assert!(
            clipped.as_dvec3().distance(expected) < 1e-5,
            "case {case}: {clipped}"
        );
        if is_flat {
            let flat = clip_velocity(velocity.xy(), &planes).as_dvec2();
            assert!(flat.distance(expected.truncate()) < 1e-5, "case {case}");
        }
    }
}

/// The planes are the line through (1, 2) at right angles to (0.6, 0.8), and a line along y.
#[test]
fn planes_of_a_2d_game_are_lines() {
    let slope = Dir2::new(Vec2::new(0.6, 0.8)).expect("not zero");
    let planes = [
        ContactPlane::new_2d(slope, -slope.dot(Vec2::new(1.0, 2.0))),
        ContactPlane::new_2d(Dir2::NEG_X, 3.0),
    ];
    let gap = planes[0].gap_after(Vec2::new(2.0, 3.0));
    assert!((gap - 1.4).abs() < 1e-6, "{gap}");
    let near = |actual: Vec2, expected: DVec2| {
        assert!(actual.as_dvec2().distance(expected) < 1e-5, "{actual}");
    };
    near(solve_planes(Vec2::ZERO, &planes), DVec2::new(1.32, 1.76));
    // Both lines meet where 0.6 * 3 + 0.8 y = 2.2.
    near(
        solve_planes(Vec2::new(9.0, -9.0), &planes),
        DVec2::new(3.0, 0.5),
    );
    // The slope leaves the part of the velocity along (0.8, -0.6). Both planes together leave no
    // velocity.
    let down = DVec2::new(0.8, -0.6) * 3.0;
    near(clip_velocity(Vec2::NEG_Y * 5.0, &planes[..1]), down);
    near(clip_velocity(Vec2::NEG_Y * 5.0, &planes), DVec2::ZERO);
}

/// The solution minimizes half the squared distance to the target plus, for each plane, its limit
/// times the overlap. This function is convex: no point nearby may have a lower value.
#[test]
fn soft_planes_push_by_at_most_their_limit() {
    let mut random = StdRng::seed_from_u64(3);
    let mut gave_way = 0;
    for case in 0..3_000 {
        let mut planes = planes(&mut random, case % 2 == 0);
        for plane in &mut planes {
            if random.random_bool(0.6) {
                plane.push_limit = random.random_range(0.0..2.0);
            }
        }
        let target = direction(&mut random, case % 2 == 0) * 3.0;
        let solved = solve_planes(target, &planes).as_dvec3();
        let overlap = |x: DVec3, plane: &ContactPlane| {
            let (normal, gap) = exact(plane);
            (-gap - normal.dot(x)).max(0.0)
        };
        let value = |x: DVec3| {
            let soft = planes.iter().map(|plane| {
                // A rigid plane costs far more than any soft plane gains.
                let limit = f64::from(plane.push_limit).min(1e3);
                limit * overlap(x, plane)
            });
            0.5 * x.distance_squared(target.as_dvec3()) + soft.sum::<f64>()
        };
        let rigid = planes.iter().filter(|plane| plane.push_limit.is_infinite());
        for plane in rigid {
            assert!(overlap(solved, plane) < 2e-6, "case {case}: {plane:?}");
        }
        let best = value(solved);
        for _ in 0..50 {
            let step = direction(&mut random, case % 2 == 0).as_vec3().as_dvec3();
            for length in [1e-2, 0.1, 1.0] {
                let other = value(solved + step * length);
                assert!(
                    other >= best - 2e-2 * length,
                    "case {case}: {other} < {best}"
                );
            }
        }
        gave_way += u32::from(planes.iter().any(|plane| overlap(solved, plane) > 0.01));
    }
    assert!(gave_way > 500);
}

#[test]
fn invalid_planes_and_targets_do_no_harm() {
    let nan = ContactPlane::new(Dir3::Y, f32::NAN);
    let never = ContactPlane::new(Dir3::Y, -1.0).with_push_limit(f32::NAN);
    assert_eq!(solve_planes(Vec3::X, &[nan, never]), Vec3::X);
    assert_eq!(solve_planes(Vec3::NAN, &[]), Vec3::ZERO);
    assert_eq!(clip_velocity(Vec3::INFINITY, &[]), Vec3::ZERO);
    assert_eq!(solve_planes(Vec2::new(0.0, f32::NAN), &[]), Vec2::ZERO);
    assert_eq!(clip_velocity(Vec2::NAN, &[]), Vec2::ZERO);
    // Two walls leave no room, so the deeper wall is cleared.
    let walls = [
        ContactPlane::new(Dir3::X, -1.0),
        ContactPlane::new(Dir3::NEG_X, -0.5),
    ];
    assert_eq!(solve_planes(Vec3::ZERO, &walls), Vec3::X);
}

/// If the planes leave room at the start, the solution is at most as far from the target as the
/// start is. Overlaps add at most 16 times the greatest depth.
#[test]
fn nearly_opposite_planes_throw_nothing() {
    let mut random = StdRng::seed_from_u64(5);
    let mut deflected = [0; 2];
    for case in 0..20_000 {
        let is_flat = case % 2 == 0;
        let is_free = case % 4 < 2;
        let normal = direction(&mut random, is_flat);
        let tilt = 10_f32.powf(random.random_range(-7.5..-1.0));
        let tilted = normal.as_vec3() + tilt * direction(&mut random, is_flat).as_vec3();
        let mut normals = vec![normal, -Dir3::new(tilted).expect("not zero")];
        if case % 3 == 0 {
            normals.push(direction(&mut random, is_flat));
        }
        let mut gap = || random.random_range(if is_free { 0.0..0.1 } else { -0.2..0.1 });
        let planes: Vec<_> = normals
            .into_iter()
            .map(|normal| ContactPlane::new(normal, gap()))
            .collect();
        let deepest = planes.iter().map(|plane| -plane.gap).fold(0.0, f32::max);
        let target = direction(&mut random, is_flat) * random.random_range(0.0..2.0);
        let solved = solve_planes(target, &planes);
        let detour = solved.distance(target);
        assert!(
            detour <= (target.length() + 16.0 * deepest) * 1.000_01,
            "case {case}: {solved} for {target}"
        );
        for plane in planes.iter().filter(|_| is_free) {
            let gap = plane.gap_after(solved);
            assert!(gap > -1e-3 * target.length() - 1e-6, "case {case}: {gap}");
        }
        let clipped = clip_velocity(target, &planes);
        assert!(
            clipped.length() <= target.length() * 1.000_01,
            "case {case}: {clipped}"
        );
        deflected[usize::from(is_free)] += u32::from(detour > 1e-3);
    }
    assert!(
        deflected.iter().all(|count| *count > 4_000),
        "{deflected:?}"
    );
}

/// A result beyond the range of f32 keeps its direction.
#[test]
fn the_longest_targets_have_finite_results() {
    let longest = Vec3::splat(f32::MAX);
    let planes = [
        ContactPlane::new(Dir3::new(Vec3::new(-0.8, 0.6, 0.0)).expect("not zero"), 0.0),
        ContactPlane::new(Dir3::new(Vec3::new(-0.1, 0.0, 1.0)).expect("not zero"), 1.0),
    ];
    let unit = longest.as_dvec3().normalize();
    let exact: Vec<_> = planes.iter().map(|plane| (exact(plane).0, 0.0)).collect();
    let expected = nearest(unit, &exact).normalize();
    for result in [
        solve_planes(longest, &planes),
        clip_velocity(longest, &planes),
    ] {
        assert!(result.is_finite(), "{result}");
        let direction = result.as_dvec3().normalize();
        assert!(
            direction.distance(expected) < 1e-5,
            "{direction}, not {expected}"
        );
    }
    // The slope turns the whole length toward x.
    let slope = [ContactPlane::new(
        Dir3::new(Vec3::new(0.0, 1.0, -1.0)).expect("not zero"),
        0.0,
    )];
    assert!(solve_planes(Vec3::new(0.0, -f32::MAX, f32::MAX), &slope).is_finite());
    let far = ContactPlane::new(Dir3::Y, f32::MAX);
    assert_eq!(far.gap_after(Vec3::Y * f32::MAX), f32::MAX);
    let deep = ContactPlane::new(Dir3::new(Vec3::ONE).expect("not zero"), -f32::MAX);
    assert!(solve_planes(longest, &[deep, far]).is_finite());
}

fn list(level: &mut Level, body: &Collider, pose: Transform, max_gap: f32) -> Vec<ContactPlane> {
    let mut planes = Vec::new();
    let filter = SpatialQueryFilter::default();
    level.ask(|query| query.contact_planes(body, pose, max_gap, &filter, &mut planes));
    planes
}

#[test]
fn planes_have_the_gaps_and_normals_of_the_nearest_points() {
    let mut level = Level::new([
        (Collider::cuboid(20.0, 2.0, 20.0), at(0.0, -1.0)),
        (Collider::half_space(Vec3::NEG_X), at(3.0, 0.0)),
    ]);
    let (ball, pose) = (Collider::sphere(1.0), at(1.75, 1.5));
    let planes = list(&mut level, &ball, pose, 1.0);
    let expected = [(Vec3::NEG_X, 0.25), (Vec3::Y, 0.5)];
    assert_eq!(planes.len(), 2);
    for (plane, (normal, gap)) in planes.iter().zip(expected) {
        assert!(plane.normal.abs_diff_eq(normal, 1e-6));
        assert!((plane.gap - gap).abs() < 1e-6);
        let from_center = plane.point.distance(pose.translation);
        assert!((from_center - (1.0 + gap)).abs() < 1e-6);
    }
    assert_eq!(list(&mut level, &ball, pose, 0.3).len(), 1);
    // An overlap is a negative gap.
    let planes = list(&mut level, &ball, at(0.0, 0.75), 0.5);
    assert!((planes[0].gap + 0.25).abs() < 1e-6);
}

#[test]
fn the_planes_of_a_few_convex_shapes_allocate_nothing() {
    let mut level =
        Level::new((-3..3).map(|x| (Collider::cuboid(1.0, 1.0, 1.0), at(x as f32, -0.5))));
    let (body, pose) = (Collider::capsule_3d(1.0, 1.0), at(0.25, 1.5));
    let (mut planes, filter) = (Vec::with_capacity(16), SpatialQueryFilter::default());
    level.ask(|query| {
        let mut list = || query.contact_planes(&body, pose, 0.5, &filter, &mut planes);
        list();
        assert_eq!(allocation_counter::measure(list).count_total, 0);
    });
    assert!(planes.len() > 2, "{planes:?}");
}

#[test]
fn a_floor_of_triangles_is_one_floor() {
    let floor = Collider::heightfield(Vec2::splat(8.0), 9, &[0.0; 81]);
    let mut level = Level::new([(floor, Transform::IDENTITY)]);
    let bodies = [
        Collider::sphere(0.5),
        Collider::cuboid(1.0, 1.0, 1.0),
        Collider::capsule_3d(0.25, 0.5),
    ];
    for body in bodies {
        for offset in 0..10 {
            let x = offset as f32 * 0.13;
            let planes = list(&mut level, &body, at(x, 0.55), 0.2);
            assert!(!planes.is_empty());
            for plane in planes {
                assert!(plane.normal.abs_diff_eq(Vec3::Y, 1e-5), "{plane:?}");
                assert!((plane.gap - 0.05).abs() < 1e-5, "{plane:?}");
            }
        }
    }
}

/// The planes of a ball that is scaled to an ellipsoid follow from the axes of the ellipsoid.
#[test]
fn planes_are_exact_under_every_scale() {
    let mut level = Level::new([(Collider::half_space(Vec3::Y), Transform::IDENTITY)]);
    for scale in [
        Vec3::new(3.0, 0.5, 1.0),
        Vec3::splat(2.0),
        Vec3::new(-1.0, 4.0, 2.0),
    ] {
        let pose = at(0.0, scale.y.abs() + 0.25).with_scale(scale);
        let planes = list(&mut level, &Collider::sphere(1.0), pose, 0.5);
        assert_eq!(planes.len(), 1);
        assert!((planes[0].gap - 0.25).abs() < 1e-5, "{:?}", planes[0]);
    }
}

#[test]
fn planes_do_not_depend_on_the_order_of_entities() {
    let tiles = || (-3..3).map(|x| (Collider::rectangle(1.0, 1.0), at(x as f32, -0.5)));
    let geometry = |level: &mut Level| {
        let planes = list(level, &Collider::rectangle(2.0, 1.0), at(0.25, 0.52), 0.1);
        planes
            .iter()
            .map(|plane| (plane.normal, plane.gap, plane.point))
            .collect::<Vec<_>>()
    };
    let forward = geometry(&mut Level::new(tiles()));
    assert_eq!(forward.len(), 3);
    assert_eq!(forward, geometry(&mut Level::new(tiles().rev())));
}
