//! Convex hulls of parts as CAD programs write them. A hull is the same set as its part, and has no
//! more vertices than the part has corners.
//!
//! The parts are made of prisms whose faces are finely divided. The corners of the prisms are known
//! in f64. The corners that the hull needs are found by brute force. A corner is needed if its
//! distance from the hull of the other corners is more than 1e-6 of the part's length. Distances
//! are computed by an independent solver in this file.

use std::collections::HashSet;

use bevy::math::{DMat3, DVec2, DVec3, Vec2, Vec3};
use headbutt::{ConvexHull, ShapeError, Space};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The tolerance of a hull relative to the length of its points.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The least distance from the hull of the other corners, relative to the length, at which a corner
/// is needed.
const NEEDED: f64 = 1e-6;

/// A part, given by points on its faces, including the corners of its prisms.
#[derive(Clone, Default)]
struct Part {
    points: Vec<DVec3>,
    corners: Vec<DVec3>,
}

impl Part {
    fn with(mut self, other: Self) -> Self {
        self.points.extend(other.points);
        self.corners.extend(other.corners);
        self
    }

    fn map(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        let all = |points: &[DVec3]| points.iter().map(|point| map(*point)).collect();
        Self {
            points: all(&self.points),
            corners: all(&self.corners),
        }
    }

    /// Returns the number of corners that the hull needs.
    fn needed(&self) -> usize {
        let allowed = NEEDED * length(&self.corners);
        let mut kept = self.corners.clone();
        let mut index = 0;
        while let Some(corner) = kept.get(index).copied() {
            let others = [&kept[..index], &kept[index + 1..]].concat();
            if distance(corner, &others) <= allowed {
                kept = others;
            } else {
                index += 1;
            }
        }
        kept.len()
    }
}

/// Returns the approximate greatest distance of two points. The second point is the farthest from
/// the first, which is the farthest from one of the points.
fn length(points: &[DVec3]) -> f64 {
    let farthest = |from: DVec3| {
        let distances = points.iter().map(|point| (point.distance(from), *point));
        distances.fold(
            (0.0, from),
            |best, other| if other.0 > best.0 { other } else { best },
        )
    };
    let (_, end) = farthest(points[0]);
    farthest(end).0
}

/// Returns the weights of the point closest to the origin in the affine span of up to four points.
/// The weights have the sum 1 and any sign. The method is least squares over an orthogonal basis of
/// the edges from the first point. Returns `None` if the points are affinely dependent.
fn affine_weights(points: &[DVec3]) -> Option<Vec<f64>> {
    let (first, others) = points.split_first()?;
    // The basis has orthogonal vectors, each with its coefficients in terms of the edges.
    let mut basis: Vec<(DVec3, Vec<f64>)> = Vec::new();
    for (index, other) in others.iter().enumerate() {
        let mut parts = vec![0.0; others.len()];
        parts[index] = 1.0;
        let mut rest = *other - *first;
        for (along, made_of) in basis.iter().chain(&basis) {
            let share = rest.dot(*along) / along.length_squared();
            rest -= *along * share;
            let both = parts.iter_mut().zip(made_of);
            both.for_each(|(part, of)| *part -= share * of);
        }
        if rest.length() < 1e-14 * (*other - *first).length() {
            return None;
        }
        basis.push((rest, parts));
    }
    let mut weights = vec![0.0; points.len()];
    for (along, made_of) in &basis {
        let share = -first.dot(*along) / along.length_squared();
        let both = weights.iter_mut().skip(1).zip(made_of);
        both.for_each(|(weight, of)| *weight += share * of);
    }
    weights[0] = 1.0 - weights.iter().sum::<f64>();
    Some(weights)
}

/// Returns an upper bound of the distance of a point from the convex hull of other points: the
/// length of an explicit convex combination. Wolfe's algorithm reduces this bound to the distance.
fn distance(point: DVec3, others: &[DVec3]) -> f64 {
    let Some(start) = others.iter().min_by(|a, b| {
        let away = |other: &DVec3| other.distance_squared(point);
        away(a).total_cmp(&away(b))
    }) else {
        return f64::INFINITY;
    };
    let mut active = vec![(*start - point, 1.0)];
    let sum = |active: &[(DVec3, f64)]| -> DVec3 {
        active.iter().map(|(at, weight)| *at * *weight).sum()
    };
    for _ in 0..200 {
        let nearest = sum(&active);
        let lowest = others.iter().map(|other| *other - point);
        let lowest = lowest.min_by(|a, b| a.dot(nearest).total_cmp(&b.dot(nearest)));
        let Some(lowest) = lowest else { break };
        let known = active.iter().any(|(at, _)| *at == lowest);
        if known || lowest.dot(nearest) >= (1.0 - 1e-9) * nearest.length_squared() {
            break;
        }
        let before = active.clone();
        active.push((lowest, 0.0));
        // The loop moves toward the closest point of the span. If a weight becomes 0, its point is
        // dropped.
        loop {
            let points: Vec<DVec3> = active.iter().map(|(at, _)| *at).collect();
            let Some(aim) = affine_weights(&points) else {
                break;
            };
            let pairs = || {
                active
                    .iter()
                    .map(|(_, weight)| *weight)
                    .zip(aim.iter().copied())
            };
            let step = pairs()
                .filter(|(_, aim)| *aim <= 0.0)
                .map(|(weight, aim)| weight / (weight - aim))
                .fold(1.0, f64::min);
            let weights: Vec<f64> = pairs()
                .map(|(weight, aim)| weight + step * (aim - weight))
                .collect();
            let inside = aim.iter().all(|aim| *aim > 0.0);
            active = points
                .into_iter()
                .zip(weights)
                .filter(|(_, weight)| *weight > 1e-15)
                .collect();
            if inside || active.len() == 1 {
                break;
            }
        }
        let total: f64 = active.iter().map(|(_, weight)| *weight).sum();
        active.iter_mut().for_each(|(_, weight)| *weight /= total);
        if sum(&active).length() >= sum(&before).length() {
            active = before;
            break;
        }
    }
    sum(&active).length()
}

/// Returns directions that are spread over the sphere.
fn directions(count: usize, random: &mut StdRng) -> Vec<DVec3> {
    let one = |_| DVec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
    (0..count)
        .map(one)
        .filter_map(DVec3::try_normalize)
        .collect()
}

fn turn(random: &mut StdRng) -> DMat3 {
    let axes = directions(20, random);
    let x = axes[0];
    let y = x.cross(axes[1]).normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

/// Returns a rectangle with round corners. Each corner is an arc of `steps` steps.
fn rounded_rectangle(half: DVec2, radius: f64, steps: usize) -> Vec<DVec2> {
    let signs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let corner = |(quarter, (x, y)): (usize, (f64, f64))| {
        let middle = (half - radius) * DVec2::new(x, y);
        (0..=steps).map(move |step| {
            let angle = (quarter as f64 + step as f64 / steps as f64) * std::f64::consts::FRAC_PI_2;
            middle + radius * DVec2::from_angle(angle)
        })
    };
    signs.into_iter().enumerate().flat_map(corner).collect()
}

fn rectangle(half: DVec2) -> Vec<DVec2> {
    [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        .map(|(x, y)| half * DVec2::new(x, y))
        .to_vec()
}

fn disc(radius: f64, sides: usize) -> Vec<DVec2> {
    let angle = |side: usize| side as f64 / sides as f64 * std::f64::consts::TAU;
    (0..sides)
        .map(|side| radius * DVec2::from_angle(angle(side)))
        .collect()
}

/// Returns points between two end points, both included, as a CAD program divides an edge.
fn edge(from: DVec3, to: DVec3, spacing: f64) -> impl Iterator<Item = DVec3> {
    let steps = (from.distance(to) / spacing).ceil().max(1.0) as usize;
    (0..=steps).map(move |step| from.lerp(to, step as f64 / steps as f64))
}

/// Returns the solid between two outlines with parallel sides, with all faces divided.
fn prism(low: &[DVec2], high: &[DVec2], [bottom, top]: [f64; 2], spacing: f64) -> Part {
    let mut part = Part::default();
    let lift = |outline: &[DVec2], z: f64| -> Vec<DVec3> {
        outline.iter().map(|point| point.extend(z)).collect()
    };
    let (low, high) = (lift(low, bottom), lift(high, top));
    part.corners.extend(low.iter().chain(&high));
    let sides = low.len();
    for side in 0..sides {
        let next = (side + 1) % sides;
        let ends = edge(low[side], high[side], spacing).zip(edge(low[next], high[next], spacing));
        ends.for_each(|(from, to)| part.points.extend(edge(from, to, spacing)));
        for ring in [&low, &high] {
            let middle = ring.iter().sum::<DVec3>() / sides as f64;
            for (from, to) in
                edge(ring[side], middle, spacing).zip(edge(ring[next], middle, spacing))
            {
                part.points.extend(edge(from, to, spacing));
            }
        }
    }
    part
}

fn tray(spacing: f64) -> Part {
    let half = DVec2::new(3.0, 2.0);
    let outline = |inset: f64| rounded_rectangle(half - inset, 0.6 - inset, 13);
    let outer = prism(&outline(0.2), &outline(0.0), [0.0, 0.5], spacing);
    let inner = prism(&outline(0.3), &outline(0.1), [0.1, 0.5], spacing);
    outer.with(inner)
}

fn truck(spacing: f64) -> Part {
    let block = |middle: DVec3, half: DVec3| {
        let outline = rectangle(half.truncate());
        prism(&outline, &outline, [-half.z, half.z], spacing).map(|point| point + middle)
    };
    let wheel = |x: f64, y: f64| {
        let outline = disc(0.5, 48);
        let wheel = prism(&outline, &outline, [-0.15, 0.15], spacing);
        wheel.map(|point| DVec3::new(point.x + x, point.z + y, point.y + 0.5))
    };
    let body = block(DVec3::new(-1.0, 0.0, 1.5), DVec3::new(3.0, 1.2, 0.9));
    let cab = block(DVec3::new(2.9, 0.0, 1.2), DVec3::new(0.8, 1.15, 0.7));
    let bumper = block(DVec3::new(3.8, 0.0, 0.6), DVec3::new(0.1, 1.1, 0.1));
    let wheels = [
        (-3.0, 1.1),
        (-3.0, -1.1),
        (-2.0, 1.1),
        (-2.0, -1.1),
        (2.5, 1.1),
        (2.5, -1.1),
    ];
    let start = body.with(cab).with(bumper);
    wheels
        .into_iter()
        .fold(start, |truck, (x, y)| truck.with(wheel(x, y)))
}

/// Returns a long top with round corners and edges on a smaller base.
fn counter(spacing: f64) -> Part {
    let half = DVec2::new(4.0, 1.0);
    let outline = |inset: f64| rounded_rectangle(half - inset, 0.3 - inset, 16);
    let layers = [
        [0.1, 0.9],
        [0.05, 0.92],
        [0.01, 0.97],
        [0.0, 1.0],
        [0.0, 1.1],
        [0.04, 1.16],
        [0.1, 1.18],
    ];
    let mut part = prism(&outline(0.25), &outline(0.25), [0.0, 0.9], spacing);
    for pair in layers.windows(2) {
        let [[low, bottom], [high, top]] = [pair[0], pair[1]];
        part = part.with(prism(&outline(low), &outline(high), [bottom, top], spacing));
    }
    part
}

fn plate(spacing: f64) -> Part {
    let outline = rounded_rectangle(DVec2::new(2.0, 1.0), 0.5, 8);
    prism(&outline, &outline, [0.0, 0.002], spacing)
}

fn needle(spacing: f64) -> Part {
    let outline = disc(0.001, 12);
    prism(&outline, &outline, [0.0, 3.0], spacing)
}

fn block(spacing: f64) -> Part {
    let outline = rectangle(DVec2::new(1.3, 0.7));
    prism(&outline, &outline, [-0.4, 0.4], spacing)
}

/// Returns a box with all edges and corners rounded by a small radius.
fn filleted(spacing: f64) -> Part {
    let half = DVec2::new(2.0, 1.0);
    let steps = 12;
    let radius = 0.1;
    let ring = |index: usize| {
        let angle = index as f64 / steps as f64 * std::f64::consts::FRAC_PI_2;
        (radius * (1.0 - angle.cos()), radius * angle.sin())
    };
    let outline = |inset: f64| rounded_rectangle(half - inset, 0.2 - inset, steps);
    let mut part = prism(&outline(0.0), &outline(0.0), [-0.3, 0.3], spacing);
    for index in 0..steps {
        let ((low, bottom), (high, top)) = (ring(index), ring(index + 1));
        let cap = prism(
            &outline(low),
            &outline(high),
            [0.3 + bottom, 0.3 + top],
            spacing,
        );
        part = part
            .with(cap.clone())
            .with(cap.map(|point| DVec3::new(point.x, point.y, -point.z)));
    }
    part
}

fn parts() -> Vec<(&'static str, Part)> {
    vec![
        ("a block", block(0.05)),
        ("a tray", tray(0.08)),
        ("a truck", truck(0.15)),
        ("a counter", counter(0.18)),
        ("a plate", plate(0.05)),
        ("a needle", needle(0.05)),
        ("a block with fillets", filleted(0.4)),
        ("a cut ball", cut_ball()),
    ]
}

/// Returns a ball of points, cut off by a plane with a lattice of points.
fn cut_ball() -> Part {
    let mut part = Part::default();
    let count = 3_000;
    for index in 0..count {
        let z = 1.0 - f64::from(2 * index + 1) / f64::from(count);
        let (sine, cosine) = (f64::from(index) * 2.399_963_229_728_653).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        part.corners
            .push(DVec3::new(radius * cosine, radius * sine, z));
    }
    part.corners.retain(|point| point.z < 0.6);
    let rim = disc(0.75, 60).into_iter().map(|point| point.extend(0.65));
    part.corners.extend(rim);
    part.points.clone_from(&part.corners);
    for index in 0..10_000 {
        let place = DVec2::new(f64::from(index % 100), f64::from(index / 100)) * 0.015 - 0.7425;
        if place.length() < 0.74 {
            part.points.push(place.extend(0.65));
        }
    }
    part
}

/// Asserts that no point is farther from the hull of the kept points than allowed, by the distance
/// itself and by support heights.
fn assert_same_set(name: &str, points: &[DVec3], kept: &[DVec3], random: &mut StdRng) {
    let allowed = ROUNDING * length(points);
    for point in points {
        let off = distance(*point, kept);
        assert!(off <= allowed, "{name}: {off:e} of {allowed:e} at {point}");
    }
    for direction in directions(200, random) {
        let height = |points: &[DVec3]| {
            let heights = points.iter().map(|point| point.dot(direction));
            heights.fold(f64::NEG_INFINITY, f64::max)
        };
        let missing = height(points) - height(kept);
        assert!(
            missing <= allowed,
            "{name}: {missing:e} of {allowed:e} along {direction}"
        );
    }
}

/// Returns the distinct points in f64.
fn distinct<V: Space>(points: &[V], widen: impl Fn(&V) -> DVec3) -> Vec<DVec3> {
    let mut known = HashSet::new();
    let wide = points.iter().map(widen);
    wide.filter(|point| known.insert(point.to_array().map(f64::to_bits)))
        .collect()
}

/// Builds the hull of a part. Asserts that the hull has few enough vertices and is the same set.
fn assert_keeps_few(name: &str, part: &Part, needed: usize, random: &mut StdRng) {
    let points: Vec<Vec3> = part.points.iter().map(|point| point.as_vec3()).collect();
    let hull = ConvexHull::new(points.iter().copied()).expect("few points");
    let kept = hull.points();
    assert!(
        5 * kept.len() <= 6 * needed,
        "{name}: {} of {needed}",
        kept.len()
    );
    let mut given = points.iter();
    assert!(kept.iter().all(|kept| given.any(|point| point == kept)));
    let kept: Vec<DVec3> = kept.iter().map(|point| point.as_dvec3()).collect();
    assert_same_set(
        name,
        &distinct(&points, |point| point.as_dvec3()),
        &kept,
        random,
    );
}

#[test]
fn the_hull_of_a_part_keeps_little_more_than_its_corners() {
    let mut random = StdRng::seed_from_u64(1);
    for (name, part) in parts() {
        let needed = part.needed();
        let length = length(&part.corners);
        assert_keeps_few(name, &part, needed, &mut random);
        for distance in [0.0, 0.5] {
            let turn = turn(&mut random);
            let by = directions(9, &mut random)[0] * distance * length;
            let turned = part.map(|point| turn * point + by);
            assert_keeps_few(name, &turned, needed, &mut random);
        }
    }
}

#[test]
fn a_part_far_from_the_origin_keeps_little_more_than_its_corners() {
    let mut random = StdRng::seed_from_u64(2);
    // The coordinates are multiples of 1/64, which f32 represents up to 2¹⁸.
    let outline = rectangle(DVec2::new(2.0, 1.0));
    let block = prism(&outline, &outline, [0.0, 1.0], 1.0 / 16.0);
    let on_grid = block.map(|point| (point * 64.0).round() / 64.0);
    let far = on_grid.map(|point| point + DVec3::new(1e5, -2e5, 3e4));
    assert_keeps_few("far", &far, 8, &mut random);
}

#[test]
fn a_polygon_keeps_little_more_than_its_corners() {
    let mut random = StdRng::seed_from_u64(3);
    let outlines = [
        rectangle(DVec2::new(2.0, 1.0)),
        rectangle(DVec2::new(3.0, 1e-3)),
        rounded_rectangle(DVec2::new(2.0, 1.0), 0.4, 6),
        disc(1.0, 5),
        disc(1.0, 64),
    ];
    for (number, outline) in outlines.iter().enumerate() {
        let sides = || outline.iter().zip(outline.iter().cycle().skip(1));
        let divided = sides().flat_map(|(from, to)| edge(from.extend(0.0), to.extend(0.0), 0.01));
        let divided: Vec<DVec3> = divided.collect();
        for _ in 0..20 {
            let by = directions(9, &mut random)[0];
            let angle = DVec2::from_angle(random.random_range(0.0..6.0));
            let in_plane =
                |point: &DVec3| (angle.rotate(point.truncate()) + by.truncate()).as_vec2();
            let points: Vec<Vec2> = divided.iter().map(in_plane).collect();
            let hull = ConvexHull::new(points.iter().copied()).expect("few points");
            assert_eq!(hull.points().len(), outline.len(), "{number}");
            let widen = |point: &Vec2| point.as_dvec2().extend(0.0);
            let kept = distinct(hull.points(), widen);
            assert_same_set("polygon", &distinct(&points, widen), &kept, &mut random);

            let turn = turn(&mut random);
            let points: Vec<Vec3> = divided
                .iter()
                .map(|point| (turn * *point).as_vec3())
                .collect();
            let hull = ConvexHull::new(points.iter().copied()).expect("few points");
            assert!(5 * hull.points().len() <= 6 * outline.len(), "{number}");
        }
    }
}

/// If every point is off the hull of the others by less than the tolerance, some points are
/// dropped, but not too many.
#[test]
fn a_smooth_hull_has_the_support_function_of_its_points() {
    let mut random = StdRng::seed_from_u64(4);
    let bowl: Vec<DVec3> = (0..3_600)
        .map(|index| {
            let place = DVec2::new(f64::from(index % 60), f64::from(index / 60)) / 30.0 - 1.0;
            place.extend(1e-3 * place.length_squared())
        })
        .collect();
    let cylinder = disc(1.0, 6_000).into_iter();
    let cylinder = cylinder.flat_map(|point| [point.extend(1.0), point.extend(-1.0)]);
    for (name, points) in [("a bowl", bowl), ("a cylinder", cylinder.collect())] {
        let turn = turn(&mut random);
        let points: Vec<Vec3> = points
            .iter()
            .map(|point| (turn * *point).as_vec3())
            .collect();
        let hull = ConvexHull::new(points.iter().copied()).expect("few points");
        let widen = |point: &Vec3| point.as_dvec3();
        let kept = distinct(hull.points(), widen);
        // Every third point is enough, because each point is tested against all kept points.
        let some: Vec<DVec3> = points.iter().step_by(3).map(widen).collect();
        assert_same_set(name, &some, &kept, &mut random);
    }
    let points: Vec<Vec2> = disc(1.0, 20_000)
        .iter()
        .map(|point| point.as_vec2())
        .collect();
    let hull = ConvexHull::new(points.iter().copied()).expect("few points");
    // The height of an arc over its chord is at most the tolerance, with half of the length as the
    // radius: 1 - cos a <= 2.4e-7.
    assert!((4_000..10_000).contains(&hull.points().len()));
    let widen = |point: &Vec2| point.as_dvec2().extend(0.0);
    let kept = distinct(hull.points(), widen);
    let some: Vec<DVec3> = points.iter().step_by(9).map(widen).collect();
    assert_same_set("a circle", &some, &kept, &mut random);
}

#[test]
fn repeated_points_are_dropped() {
    // As in an STL file, each triangle has three corners, and six triangles share each corner.
    let points: Vec<Vec3> = tray(0.08)
        .points
        .iter()
        .map(|point| point.as_vec3())
        .collect();
    let soup: Vec<Vec3> = (0..6).flat_map(|_| points.iter().copied()).collect();
    assert_eq!(ConvexHull::new(soup), ConvexHull::new(points));

    let most = ConvexHull::<Vec2>::MAX_POINTS;
    let too_many = Err(ShapeError::TooManyPoints(most));
    let copies = std::iter::repeat_n(Vec2::X, most);
    let one = ConvexHull::new(copies.clone()).expect("one point");
    assert_eq!(one.points(), [Vec2::X]);
    assert_eq!(ConvexHull::new(copies.chain([Vec2::X])), too_many);
    assert_eq!(ConvexHull::new(std::iter::repeat(Vec2::X)), too_many);

    // 0 and -0 are the same point, and the first given point is kept.
    let zeros = [-Vec3::ZERO, Vec3::ZERO, Vec3::X];
    let hull = ConvexHull::new(zeros).expect("two points");
    assert_eq!(hull.points().len(), 2);
    assert!(hull.points()[0].is_negative_bitmask() == 0b111);
}
