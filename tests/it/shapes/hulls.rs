//! A convex hull of points is the same convex set with fewer vertices, and has the same support
//! points as a linear scan.

use std::collections::HashSet;

use bevy::math::{DVec2, DVec3, Quat, Vec2, Vec3};
use headbutt::{Collider, ConvexHull, ShapeError, Space, Support};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The tolerance of a hull relative to the length of its points: the rounding of f32 coordinates,
/// twice for flat points.
const ROUNDING: f64 = 2.0 * f32::EPSILON as f64;

fn random_vec3(random: &mut StdRng) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..=1.0)))
}

fn random_turn(random: &mut StdRng) -> Quat {
    let [x, y, z] = random_vec3(random).to_array();
    Quat::from_xyzw(x, y, z, random.random_range(0.1..1.0)).normalize()
}

/// Returns `count` points. Apart from rounding, no point is inside the hull of the others.
fn on_sphere(count: usize, random: &mut StdRng) -> Vec<Vec3> {
    let points = std::iter::repeat_with(|| random_vec3(random));
    let ball = points.filter(|point| (0.1..1.0).contains(&point.length()));
    ball.map(Vec3::normalize).take(count).collect()
}

fn on_circle(count: usize) -> Vec<Vec2> {
    let step = std::f32::consts::TAU / count as f32;
    (0..count)
        .map(|index| Vec2::from_angle(index as f32 * step))
        .collect()
}

/// Returns the corners of a cube of half size 1.
fn cube() -> Vec<Vec3> {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|corner| Vec3::new(sign(corner & 1), sign(corner & 2), sign(corner & 4)))
        .collect()
}

/// Returns points inside of the cube and on its faces and edges.
fn in_and_on_cube(count: usize, random: &mut StdRng) -> Vec<Vec3> {
    let point = |index: usize| {
        let mut point = random_vec3(random);
        for axis in 0..index % 3 {
            point[axis] = point[axis].signum();
        }
        point
    };
    (0..count).map(point).collect()
}

/// Returns a lattice with these numbers of points along the axes.
fn grid(sizes: [usize; 3], step: f32) -> Vec<Vec3> {
    let [columns, rows, layers] = sizes;
    let place = |index: usize| {
        let (column, row) = (index % columns, index / columns % rows);
        Vec3::new(column as f32, row as f32, (index / columns / rows) as f32) * step
    };
    (0..columns * rows * layers).map(place).collect()
}

/// Returns point sets of every kind with their names.
fn clouds(random: &mut StdRng) -> Vec<(&'static str, Vec<Vec3>)> {
    let turn = random_turn(random);
    let ball: Vec<Vec3> = (0..300).map(|_| random_vec3(random)).collect();
    let sphere = on_sphere(500, random);
    let turned = |points: Vec<Vec3>| points.into_iter().map(|point| turn * point).collect();
    let scaled = |scale: Vec3| ball.iter().map(|point| *point * scale).collect::<Vec<_>>();
    let moved = |by: Vec3| sphere.iter().map(|point| *point + by).collect::<Vec<_>>();
    let in_cube: Vec<Vec3> = [cube(), in_and_on_cube(500, random)].concat();
    let plate = grid([12, 9, 1], 0.125);
    let doubled = ball.iter().chain(&ball).copied().collect();
    vec![
        ("one point", vec![Vec3::new(1.0, 2.0, 3.0)]),
        ("two points", vec![Vec3::ONE, Vec3::X]),
        ("three times the same", vec![Vec3::splat(-0.1); 3]),
        ("0 and -0", vec![Vec3::ZERO, -Vec3::ZERO]),
        ("a triangle", vec![Vec3::X, Vec3::Y, Vec3::Z]),
        ("a tetrahedron", vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO]),
        ("on an axis", scaled(Vec3::X)),
        ("on a line", turned(scaled(Vec3::X))),
        (
            "on a line, but for 1e-7",
            turned(scaled(Vec3::new(1.0, 1e-7, 1e-7))),
        ),
        ("on a coordinate plane", scaled(Vec3::new(1.0, 0.0, 1.0))),
        ("on a plane", turned(scaled(Vec3::new(1.0, 1.0, 0.0)))),
        (
            "on a plane, but for 1e-7",
            turned(scaled(Vec3::new(1.0, 1.0, 1e-7))),
        ),
        (
            "on a plane, but for 1e-6",
            turned(scaled(Vec3::new(1.0, 1.0, 1e-6))),
        ),
        ("a plate", turned(plate.clone())),
        (
            "a plate and one more",
            turned([plate, vec![Vec3::Z]].concat()),
        ),
        ("a slab", turned(scaled(Vec3::new(1.0, 1.0, 1e-3)))),
        ("a needle", turned(scaled(Vec3::new(1.0, 1e-3, 1e-4)))),
        ("a ball", ball.clone()),
        ("a ball twice", doubled),
        ("a sphere", sphere.clone()),
        ("a cube", in_cube.clone()),
        ("a turned cube", turned(in_cube)),
        ("a grid", grid([7, 5, 9], 0.1)),
        ("a turned grid", turned(grid([4, 4, 30], 0.1))),
        ("far away", moved(Vec3::new(1e6, -1e6, 3e5))),
        ("far away on an axis", moved(Vec3::new(0.0, 1e6, 0.0))),
        ("of 1e-20", scaled(Vec3::splat(1e-20))),
        ("of 1e-42", scaled(Vec3::splat(1e-42))),
        ("of 1e18", scaled(Vec3::splat(1e18))),
        ("of 3e38", scaled(Vec3::splat(3e38))),
    ]
}

/// Returns directions to test: random directions, axes, and normals and edges of the points. The
/// lengths of the directions are from very small to very large.
fn directions(points: &[Vec3], count: usize, random: &mut StdRng) -> Vec<DVec3> {
    let mut directions = Vec::new();
    let mut one = || points[random.random_range(0..points.len())].as_dvec3();
    for _ in 0..count / 4 {
        let (a, b, c) = (one(), one(), one());
        directions.push((b - a).cross(c - a));
        directions.push(b - a);
    }
    for index in 0..count / 2 {
        // Some directions are integral: axes, diagonals, and the boundaries of any lattice of
        // directions.
        let steps = [1.0, 2.0, 16.0, f32::INFINITY][index % 4];
        let direction = random_vec3(random);
        directions.push(if steps < f32::INFINITY {
            (direction * steps).round().as_dvec3() / f64::from(steps)
        } else {
            direction.as_dvec3()
        });
    }
    let sizes = [1.0, 1e-30, 1e30, 1e-150, 1e-308, 1e300];
    let turns = directions.into_iter().filter_map(|direction| {
        // The direction is normalized in two steps, because the square of the smallest lengths is
        // 0.
        let unit = (direction / direction.abs().max_element()).try_normalize();
        Some(unit? * sizes[random.random_range(0..sizes.len())])
    });
    turns.collect()
}

/// Returns the largest distance between two of the points, up to a factor of 2.
fn length(points: &[Vec3]) -> f64 {
    let from_first = |point: &Vec3| point.as_dvec3().distance(points[0].as_dvec3());
    points.iter().map(from_first).fold(0.0, f64::max)
}

fn hull<V: Space>(points: &[V]) -> ConvexHull<V> {
    ConvexHull::new(points.iter().copied()).expect("points")
}

fn bits(point: DVec3) -> [u64; 3] {
    point.to_array().map(f64::to_bits)
}

/// Returns the height of the support point along a unit vector, and the first point with that
/// height.
fn scan(points: &[Vec3], direction: DVec3) -> (f64, DVec3) {
    let mut best = (f64::NEG_INFINITY, DVec3::NAN);
    for point in points {
        let height = point.as_dvec3().dot(direction);
        if height > best.0 {
            best = (height, point.as_dvec3());
        }
    }
    best
}

#[test]
fn a_hull_has_the_support_function_of_its_points() {
    let mut random = StdRng::seed_from_u64(1);
    for round in 0..20 {
        for (name, points) in clouds(&mut random) {
            let hull = hull(&points);
            let length = length(&points);
            for direction in directions(&points, 400, &mut random) {
                let direction = (direction / direction.abs().max_element()).normalize();
                let found = hull.support(direction);
                let (height, _) = scan(&points, direction);
                // The test itself rounds two sums of three products.
                let noise = 1e-15 * (found.length() + length);
                let missing = height - found.dot(direction);
                assert!(
                    missing <= ROUNDING * length + noise,
                    "{name}, round {round}: {:e} of {length:e} is missing along {direction}",
                    missing / length
                );
                assert!(missing >= -noise, "{name}: {missing:e} too far");
            }
        }
    }
}

#[test]
fn a_hull_has_the_given_points_in_the_given_order() {
    let mut random = StdRng::seed_from_u64(2);
    for (name, points) in clouds(&mut random) {
        let hull = hull(&points);
        let mut given = points.iter();
        for kept in hull.points() {
            // `position` continues after the previous match.
            assert!(given.any(|point| point == kept), "{name}: {kept}");
        }
        let distinct: HashSet<_> = hull
            .points()
            .iter()
            .map(|point| (*point + Vec3::ZERO).to_array().map(f32::to_bits))
            .collect();
        assert_eq!(distinct.len(), hull.points().len(), "{name}");
    }
}

#[test]
fn the_support_point_of_a_hull_is_that_of_a_scan_to_the_bit_in_3d() {
    let mut random = StdRng::seed_from_u64(3);
    for (name, points) in clouds(&mut random) {
        let hull = hull(&points);
        for direction in directions(hull.points(), 10_000, &mut random) {
            let (_, scanned) = scan(hull.points(), direction);
            let found = hull.support(direction);
            assert_eq!(bits(found), bits(scanned), "{name}: along {direction:?}");
        }
    }
}

#[test]
fn the_support_point_of_a_hull_is_that_of_a_scan_to_the_bit_in_2d() {
    let mut random = StdRng::seed_from_u64(4);
    for count in [3, 4, 15, 16, 17, 40, 500, 3_000] {
        let points: Vec<Vec2> = on_circle(count)
            .into_iter()
            .map(|point| point * 3.0 + 7.0)
            .collect();
        let hull = hull(&points);
        for step in 0..10_000 {
            let direction = match step % 4 {
                0 => random_vec3(&mut random).round(),
                _ => random_vec3(&mut random),
            };
            let direction = direction.truncate().as_dvec2();
            if direction == DVec2::ZERO {
                continue;
            }
            let expected = hull.points().support(direction);
            assert_eq!(
                hull.support(direction),
                expected,
                "{count} along {direction}"
            );
        }
    }
}

#[test]
fn of_equally_far_vertices_the_first_is_returned() {
    // The shape is a prism with many sides and with ends perpendicular to z.
    let rim = on_circle(64);
    let prism: Vec<Vec3> = rim
        .iter()
        .flat_map(|point| [point.extend(1.0), point.extend(-1.0)])
        .collect();
    let reversed: Vec<Vec3> = prism.iter().rev().copied().collect();
    for points in [prism, reversed] {
        let hull = hull(&points);
        assert_eq!(hull.points(), points);
        for z in [1.0, -1.0] {
            let first = points.iter().find(|point| f64::from(point.z) == z);
            let found = hull.support(DVec3::Z * z);
            assert_eq!(Some(found), first.map(|point| point.as_dvec3()));
        }
    }
}

#[test]
fn support_points_do_not_depend_on_earlier_evaluations() {
    let mut random = StdRng::seed_from_u64(5);
    let points = grid([9, 9, 9], 1.0);
    let points: Vec<Vec3> = points
        .into_iter()
        .chain(
            on_sphere(200, &mut random)
                .iter()
                .map(|point| *point * 7.5 + 4.0),
        )
        .collect();
    let hull = hull(&points);
    let directions = directions(hull.points(), 2_000, &mut random);
    let forth: Vec<_> = directions
        .iter()
        .map(|along| bits(hull.support(*along)))
        .collect();
    let mut back: Vec<_> = directions
        .iter()
        .rev()
        .map(|along| bits(hull.support(*along)))
        .collect();
    back.reverse();
    assert_eq!(forth, back);
}

#[test]
fn points_inside_or_on_the_faces_of_a_cube_are_dropped() {
    let mut random = StdRng::seed_from_u64(6);
    let filled = [in_and_on_cube(1_000, &mut random), cube()].concat();
    assert_eq!(hull(&filled).points(), cube());
    let far = Vec3::new(1e6, 2e6, -3e5);
    // At this distance, the steps of f32 are 1/8, and faces and corners are at multiples of 1/8.
    let moved = |points: &[Vec3]| {
        points
            .iter()
            .map(|point| *point * 100.0 + far)
            .collect::<Vec<_>>()
    };
    assert_eq!(hull(&moved(&filled)).points(), moved(&cube()));
    for scale in [
        Vec3::splat(1e-20),
        Vec3::splat(1e18),
        Vec3::new(1.0, 1e-3, 1e3),
    ] {
        let scaled = |points: &[Vec3]| {
            points
                .iter()
                .map(|point| *point * scale)
                .collect::<Vec<_>>()
        };
        assert_eq!(hull(&scaled(&filled)).points(), scaled(&cube()), "{scale}");
    }
}

#[test]
fn rounding_keeps_few_points_on_the_faces_of_a_rotated_cube() {
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..50 {
        let turn = random_turn(&mut random);
        let points = [in_and_on_cube(1_000, &mut random), cube()].concat();
        let turned: Vec<Vec3> = points.into_iter().map(|point| turn * point).collect();
        let kept = hull(&turned).points().len();
        assert!((8..=16).contains(&kept), "{kept}");
    }
}

#[test]
fn a_lattice_of_points_keeps_its_eight_corners() {
    for sizes in [[2, 2, 2], [3, 3, 3], [5, 4, 3], [10, 10, 10], [2, 3, 200]] {
        for step in [1.0, 0.1] {
            let points = grid(sizes, step);
            assert_eq!(hull(&points).points().len(), 8, "{sizes:?} by {step}");
        }
    }
}

#[test]
fn points_inside_or_on_the_edges_of_a_square_are_dropped() {
    let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(Vec2::from);
    let mut random = StdRng::seed_from_u64(8);
    let inside = (0..1_000).map(|index| {
        let [x, y, _] = random_vec3(&mut random).to_array();
        [
            Vec2::new(x, y),
            Vec2::new(x.signum(), y),
            Vec2::new(x, y.signum()),
        ][index % 3]
    });
    let filled: Vec<Vec2> = inside.chain(corners).collect();
    assert_eq!(hull(&filled).points(), corners);
    let lattice: Vec<Vec2> = grid([20, 30, 1], 0.1)
        .into_iter()
        .map(Vec3::truncate)
        .collect();
    assert_eq!(hull(&lattice).points().len(), 4);
    let huge: Vec<Vec2> = filled.iter().map(|point| *point * 3e38).collect();
    assert_eq!(hull(&huge).points(), corners.map(|corner| corner * 3e38));
    let tiny: Vec<Vec2> = filled.iter().map(|point| *point * 1e-38).collect();
    assert_eq!(hull(&tiny).points(), corners.map(|corner| corner * 1e-38));
}

#[test]
fn coplanar_points_keep_the_corners_of_their_polygon() {
    let mut random = StdRng::seed_from_u64(9);
    let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    for _ in 0..50 {
        let turn = random_turn(&mut random);
        let inside = (0..200).map(|_| {
            let [x, y, _] = random_vec3(&mut random).to_array();
            Vec3::new(0.5 + 0.49 * x, 0.5 + 0.49 * y, 0.0)
        });
        let place = |point: Vec3| turn * point;
        let points: Vec<Vec3> = inside.chain(square).map(place).collect();
        assert_eq!(hull(&points).points(), square.map(place));
    }
}

#[test]
fn collinear_points_keep_two_ends_and_equal_points_keep_one() {
    let line: Vec<Vec3> = (0..50)
        .map(|step| Vec3::new(1.0, -2.0, 3.0) * ((step * 7) % 50) as f32)
        .collect();
    let ends = [Vec3::ZERO, Vec3::new(49.0, -98.0, 147.0)];
    assert_eq!(hull(&line).points(), ends);
    let flat: Vec<Vec2> = line.iter().map(|point| point.truncate()).collect();
    assert_eq!(hull(&flat).points(), ends.map(Vec3::truncate));
    assert_eq!(hull(&[Vec3::ONE; 5]).points(), [Vec3::ONE]);
    assert_eq!(hull(&[Vec2::ONE; 5]).points(), [Vec2::ONE]);
}

#[test]
fn empty_too_large_and_non_finite_point_lists_are_errors() {
    let none = ShapeError::NoPoints;
    assert_eq!(ConvexHull::<Vec2>::new([]).unwrap_err(), none);
    assert_eq!(ConvexHull::<Vec3>::new([]).unwrap_err(), none);
    assert_eq!(Collider::try_convex_hull::<Vec3>([]).unwrap_err(), none);

    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in 0..3 {
            let mut points = cube();
            points[5][axis] = bad;
            let error = ConvexHull::new(points).unwrap_err();
            assert_eq!(error, ShapeError::NotFinite("point of a convex hull"));
        }
    }

    let most = ConvexHull::<Vec2>::MAX_POINTS;
    let point = |index: usize| Vec2::new((index % 2048) as f32, (index / 2048) as f32);
    let hull = ConvexHull::new((0..most).map(point)).expect("as many as there may be");
    assert_eq!(hull.points().len(), 4);
    let too_many = ShapeError::TooManyPoints(most);
    assert_eq!(
        ConvexHull::new((0..=most).map(point)).unwrap_err(),
        too_many
    );
    assert_eq!(ConvexHull::new((0..).map(point)).unwrap_err(), too_many);
    assert_eq!(
        too_many.to_string(),
        "a convex hull can have at most 4194304 points"
    );
}

/// The points have few different coordinates, clusters and near duplicates, which confuse hull
/// algorithms.
#[test]
fn no_point_list_makes_a_hull_panic() {
    let mut random = StdRng::seed_from_u64(10);
    for round in 0..20_000 {
        let count = random.random_range(1..40);
        let noise = 10.0_f32.powi(random.random_range(-9..0));
        let (steps, scale) = (
            random.random_range(1..5) as f32,
            10.0_f32.powi(random.random_range(-44..38)),
        );
        let flat = [
            Vec3::ONE,
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(1.0, 1e-3, 1e-6),
        ][round % 3];
        let point = |index: usize| {
            let (place, off) = (random_vec3(&mut random), random_vec3(&mut random) * noise);
            let place = match (round / 3 + index) % 4 {
                0 => place,
                1 => (place * steps).round() / steps + off,
                2 => place.signum() + off,
                _ => Vec3::splat(place.x) + off,
            };
            place * flat * scale
        };
        let points: Vec<Vec3> = (0..count).map(point).collect();
        let plane: Vec<Vec2> = points.iter().map(|point| point.truncate()).collect();
        assert!((1..=count).contains(&hull(&points).points().len()));
        let polygon = hull(&plane);
        for direction in [DVec2::X, DVec2::NEG_ONE, DVec2::new(0.3, 0.7)] {
            let [all, kept] = [&plane[..], polygon.points()]
                .map(|points| points.support(direction).dot(direction));
            let size = plane
                .iter()
                .map(|point| point.as_dvec2().length())
                .fold(0.0, f64::max);
            assert!(all - kept <= ROUNDING * size, "{all} {kept}");
        }
    }
}

#[test]
fn a_support_evaluation_of_a_hull_allocates_nothing() {
    let mut random = StdRng::seed_from_u64(11);
    for count in [8, 500] {
        let hull = hull(&on_sphere(count, &mut random));
        let directions = directions(hull.points(), 1_000, &mut random);
        let counted = allocation_counter::measure(|| {
            for direction in &directions {
                std::hint::black_box(hull.support(*direction));
            }
        });
        assert_eq!(counted.count_total, 0, "{count}");
    }
}
