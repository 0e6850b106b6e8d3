//! Compares the area that a manifold spans with the largest quadrilateral in the intersection of
//! the two faces. The test computes this quadrilateral independently, by clipping one face by the
//! other and trying all corners.

use core::f64::consts::TAU;

use bevy::{
    math::{
        DQuat, DVec2, DVec3, EulerRot, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3, Vec3Swizzles,
    },
    prelude::{ConvexPolygon, Cuboid, Cylinder, Extrusion, Rectangle, RegularPolygon},
};
use headbutt::{
    ConvexHull, Support,
    query::{self, Manifold},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A manifold spans at least this fraction of the largest area that four points of the intersection
/// can span.
const LEAST: f64 = 0.99;

/// Like [`LEAST`], for tilted faces, whose quadrilaterals must have the deepest point as a corner.
const LEAST_TILTED: f64 = 0.9;

/// Two faces are not tested if their intersection is less than this fraction of the smaller face,
/// because the shortest separation may then be sideways.
const COMMON: f64 = 0.03;

/// The number of corners that represent the rim of a disc. The polygon of these corners is 0.16 %
/// smaller than the disc.
const RIM: usize = 64;

/// The distance by which a point may be outside of a shape, as a fraction of the size of the pair.
const TOLERANCE: f64 = 4e-6;

/// A shape with one face in the plane z = 0. The other points are either all above or all below
/// this plane.
struct Faced {
    shape: Box<dyn Support<Vector = Vec3>>,
    /// The pose of the shape in the frame of the face.
    pose: Isometry3d,
    /// The corners of the face, counter-clockwise.
    face: Vec<DVec2>,
    /// The half axes of an elliptic face.
    rim: Option<DVec2>,
    size: f64,
}

/// A cylinder along z with an elliptic base.
struct EllipticCylinder {
    half_size: Vec3,
}

impl Support for EllipticCylinder {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let half_size = self.half_size.as_dvec3();
        let across = (half_size * direction).xy().normalize_or_zero() * half_size.xy();
        across.extend(half_size.z.copysign(direction.z))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Box,
    Hull,
    Prism,
    Cylinder,
}

fn power(random: &mut StdRng, most: f32) -> f32 {
    10.0_f32.powf(random.random_range(-most..most))
}

/// Returns corners on an ellipse.
fn polygon(random: &mut StdRng, most: usize) -> Vec<Vec2> {
    let half_size = Vec2::new(power(random, 0.5), power(random, 0.5));
    let mut angles: Vec<f32> = (0..random.random_range(3..=most))
        .map(|_| random.random_range(0.0..core::f32::consts::TAU))
        .collect();
    angles.sort_by(f32::total_cmp);
    let corner = |angle: f32| half_size * Vec2::from_angle(angle);
    angles.into_iter().map(corner).collect()
}

fn deep(corners: &[Vec2]) -> Vec<DVec2> {
    corners.iter().map(|corner| corner.as_dvec2()).collect()
}

impl Faced {
    /// Returns a random shape with its lower face if `up` is 1, and with its upper face if `up` is
    /// -1.
    fn random(kind: Kind, up: f32, random: &mut StdRng) -> Self {
        let half = power(random, 0.3);
        let lifted = Isometry3d::from_xyz(0.0, 0.0, half * up);
        match kind {
            Kind::Box => {
                let [x, y] = [power(random, 0.7), power(random, 0.7)];
                let corners = [[-x, -y], [x, -y], [x, y], [-x, y]].map(Vec2::from);
                let cuboid = Cuboid::new(2.0 * x, 2.0 * y, 2.0 * half);
                Self::new(cuboid, lifted, deep(&corners))
            }
            Kind::Hull => {
                let corners = polygon(random, 12);
                let narrowed = random.random_range(0.3..1.0_f32);
                let lower = corners.iter().map(|corner| corner.extend(0.0));
                let upper = corners
                    .iter()
                    .map(|corner| (corner * narrowed).extend(half * up));
                let hull = ConvexHull::new(lower.chain(upper)).expect("points");
                Self::new(hull, Isometry3d::IDENTITY, deep(&corners))
            }
            Kind::Prism if random.random() => {
                let base = RegularPolygon::new(power(random, 0.5), random.random_range(3..=16));
                let mut face: Vec<_> = base.vertices(0.0).into_iter().collect();
                if area(&deep(&face)) < 0.0 {
                    face.reverse();
                }
                Self::new(Extrusion::new(base, 2.0 * half), lifted, deep(&face))
            }
            Kind::Prism => loop {
                let corners = polygon(random, 16);
                if let Ok(base) = ConvexPolygon::new(corners.clone()) {
                    break Self::new(Extrusion::new(base, 2.0 * half), lifted, deep(&corners));
                }
            },
            Kind::Cylinder => {
                let (x, y) = (power(random, 0.5), power(random, 0.5));
                if random.random() {
                    let half_size = Vec3::new(x, y, half);
                    Self::round(EllipticCylinder { half_size }, lifted, [x, y])
                } else {
                    let upright = Quat::from_rotation_x(core::f32::consts::FRAC_PI_2);
                    let pose = Isometry3d::new(lifted.translation, upright);
                    Self::round(Cylinder::new(x, 2.0 * half), pose, [x, x])
                }
            }
        }
    }

    fn round(
        shape: impl Support<Vector = Vec3> + 'static,
        pose: Isometry3d,
        half_axes: [f32; 2],
    ) -> Self {
        let rim = Vec2::from(half_axes).as_dvec2();
        let angles = (0..RIM).map(|number| TAU * number as f64 / RIM as f64);
        let corners = angles.map(|angle| DVec2::from_angle(angle) * rim);
        let faced = Self::new(shape, pose, corners.collect());
        let rim = Some(rim);
        Self { rim, ..faced }
    }

    fn new(
        shape: impl Support<Vector = Vec3> + 'static,
        pose: Isometry3d,
        face: Vec<DVec2>,
    ) -> Self {
        let size = face
            .iter()
            .map(|corner| corner.length())
            .fold(0.0, f64::max);
        Self {
            shape: Box::new(shape),
            pose,
            face,
            rim: None,
            size,
        }
    }

    /// Returns the distance of a point in the plane of the face from the face, which is negative
    /// inside.
    fn outside(&self, point: DVec2) -> f64 {
        match self.rim {
            Some(rim) => ((point / rim).length() - 1.0) * rim.max_element(),
            None => outside(point, &self.face),
        }
    }
}

fn area(polygon: &[DVec2]) -> f64 {
    let nexts = polygon.iter().cycle().skip(1);
    0.5 * polygon
        .iter()
        .zip(nexts)
        .map(|(a, b)| a.perp_dot(*b))
        .sum::<f64>()
}

/// Returns the part of a polygon within a convex polygon, by Sutherland and Hodgman. Both polygons
/// are counter-clockwise.
fn clipped(polygon: &[DVec2], by: &[DVec2]) -> Vec<DVec2> {
    let mut rest = polygon.to_vec();
    for (start, end) in by.iter().zip(by.iter().cycle().skip(1)) {
        let inside = |point: DVec2| (*end - *start).perp_dot(point - *start);
        let old = core::mem::take(&mut rest);
        for (a, b) in old.iter().zip(old.iter().cycle().skip(1)) {
            let (of_a, of_b) = (inside(*a), inside(*b));
            if of_a >= 0.0 {
                rest.push(*a);
            }
            if of_a * of_b < 0.0 {
                rest.push(*a + (*b - *a) * (of_a / (of_a - of_b)));
            }
        }
    }
    rest
}

/// Returns the largest area of a quadrilateral or triangle with corners of a polygon. For each two
/// corners, the other corners are the farthest corners on both sides of the line through the two.
fn largest(polygon: &[DVec2]) -> f64 {
    let mut largest = 0.0_f64;
    for (index, a) in polygon.iter().enumerate() {
        for b in &polygon[index + 1..] {
            let sides = polygon.iter().map(|c| (*b - *a).perp_dot(*c - *a));
            let (least, most) = sides.fold((0.0_f64, 0.0_f64), |(least, most), side| {
                (least.min(side), most.max(side))
            });
            largest = largest.max(0.5 * (most - least));
        }
    }
    largest
}

/// Returns the greatest distance by which a point is outside of the edges of a convex polygon.
fn outside(point: DVec2, polygon: &[DVec2]) -> f64 {
    let edges = polygon.iter().zip(polygon.iter().cycle().skip(1));
    edges
        .filter_map(|(a, b)| Some((*a, (*b - *a).try_normalize()?)))
        .map(|(a, along)| -along.perp_dot(point - a))
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Checks the manifold of one face on another, rotated about the normal and slightly overlapping.
/// Returns the manifold's area relative to the largest quadrilateral.
fn check(kinds: [Kind; 2], random: &mut StdRng, sideways: &mut usize) -> Option<f64> {
    let lower = Faced::random(kinds[0], -1.0, random);
    let upper = Faced::random(kinds[1], 1.0, random);
    let (least, most) = (lower.size.min(upper.size), lower.size.max(upper.size));
    let way = 0.9 * (lower.size + upper.size) as f32;
    let at = Vec2::from_angle(random.random_range(0.0..core::f32::consts::TAU))
        * random.random_range(0.0..way);
    // Both shapes are unrotated, or both are rotated in the world. (Rounding then separates faces
    // that just touch.)
    let is_turned: bool = random.random();
    let depth = if !is_turned && random.random() {
        0.0
    } else {
        least as f32 * 10.0_f32.powf(random.random_range(-5.0..-2.5))
    };
    let turn = Quat::from_rotation_z(random.random_range(-3.0..3.0));
    let pose = Isometry3d::new(at.extend(-depth), turn);
    let upper_face: Vec<_> = upper
        .face
        .iter()
        .map(|corner| (turn.as_dquat() * corner.extend(0.0)).xy() + at.as_dvec2())
        .collect();
    let common = clipped(&lower.face, &upper_face);
    let smaller = area(&lower.face).min(area(&upper_face));
    if area(&common) < COMMON * smaller || smaller < 0.02 * least * least {
        return None;
    }
    let world = if is_turned {
        let mut angle = || random.random_range(-3.0..3.0);
        Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle())
    } else {
        Quat::IDENTITY
    };
    let world = Isometry3d::from_rotation(world);
    let (a, b) = (&*lower.shape, &*upper.shape);
    let manifold = query::manifold(a, world * lower.pose, b, world * pose * upper.pose);
    // Rounding can separate faces that just touch.
    let manifold = manifold.or_else(|| {
        assert_eq!(depth, 0.0, "they touch");
        None
    })?;
    let unturned: DQuat = world.rotation.as_dquat().normalize().inverse();
    let normal = unturned * manifold.normal.as_dvec3();
    if normal.z < 0.999 {
        // The intersection is narrower than the depth.
        *sideways += 1;
        return None;
    }
    let points = manifold.points();
    assert!((1..=4).contains(&points.len()));
    let tolerance = TOLERANCE * (least + most) + 2e-7 * f64::from(at.length());
    let mut outline = Vec::new();
    for point in points {
        assert!(point.depth <= points[0].depth, "{manifold:#?}");
        let [on_a, on_b] = [point.point_a, point.point_b].map(|on| unturned * on.as_dvec3());
        let off = on_a.z.abs().max((on_b.z + f64::from(depth)).abs());
        assert!(off <= tolerance, "{off:e} off a face: {manifold:#?}");
        let on_upper = turn.as_dquat().inverse() * (on_a - at.as_dvec2().extend(0.0));
        let off = lower.outside(on_a.xy()).max(upper.outside(on_upper.xy()));
        assert!(
            off <= tolerance,
            "{off:e} outside of {kinds:?}: {manifold:#?}"
        );
        outline.push(on_a.xy());
    }
    // If the points were not in order around the manifold, the area would be smaller.
    Some(area(&outline).abs() / largest(&common))
}

fn check_all(kind: Kind, count: usize) {
    let mut random = StdRng::seed_from_u64(kind as u64);
    let (mut tested, mut least, mut short) = (0, f64::INFINITY, 0);
    let mut sideways = 0;
    while tested < count {
        let others: &[Kind] = match kind {
            Kind::Box => &[Kind::Box],
            Kind::Hull => &[Kind::Box, Kind::Hull],
            Kind::Prism => &[Kind::Box, Kind::Hull, Kind::Prism],
            Kind::Cylinder => &[Kind::Box, Kind::Hull, Kind::Prism, Kind::Cylinder],
        };
        let mut kinds = [kind, others[random.random_range(0..others.len())]];
        if random.random() {
            kinds.reverse();
        }
        let Some(part) = check(kinds, &mut random, &mut sideways) else {
            continue;
        };
        tested += 1;
        least = least.min(part);
        short += usize::from(part < LEAST);
    }
    println!("{kind:?}: the least is {least}, {short} of {count} below {LEAST}");
    assert!(sideways < count / 50, "{sideways} of {count}");
    assert_eq!(short, 0, "of {count} manifolds; the least part is {least}");
}

#[test]
fn boxes_on_boxes_span_the_largest_area() {
    check_all(Kind::Box, 10_000);
}

#[test]
fn hulls_on_faces_span_the_largest_area() {
    check_all(Kind::Hull, 6_000);
}

#[test]
fn prisms_on_faces_span_the_largest_area() {
    check_all(Kind::Prism, 10_000);
}

#[test]
fn cylinders_on_faces_span_the_largest_area() {
    check_all(Kind::Cylinder, 5_000);
}

/// Returns the largest area of a quadrilateral that has a deepest corner of a polygon as a corner.
/// If several corners are equally deep, returns the least such area.
fn largest_with_deepest(polygon: &[DVec2], depth: impl Fn(DVec2) -> f64, tolerance: f64) -> f64 {
    let deepest = polygon.iter().map(|corner| depth(*corner));
    let deepest = deepest.fold(f64::NEG_INFINITY, f64::max);
    let deep = polygon
        .iter()
        .filter(|corner| depth(**corner) >= deepest - tolerance);
    let largest_from = |a: &DVec2| {
        let areas = polygon.iter().map(|b| {
            let sides = polygon.iter().map(|c| (*b - *a).perp_dot(*c - *a));
            let (least, most) = sides.fold((0.0_f64, 0.0_f64), |(least, most), side| {
                (least.min(side), most.max(side))
            });
            0.5 * (most - least)
        });
        areas.fold(0.0, f64::max)
    };
    deep.map(largest_from).fold(f64::INFINITY, f64::min)
}

/// Checks the manifold of one face on another, slightly tilted, and deep enough that the whole
/// intersection touches. Returns the area of the manifold, relative to the largest quadrilateral
/// with the deepest corner.
fn check_tilted(kinds: [Kind; 2], random: &mut StdRng) -> Option<f64> {
    let lower = Faced::random(kinds[0], -1.0, random);
    let upper = Faced::random(kinds[1], 1.0, random);
    let way = 0.9 * (lower.size + upper.size) as f32;
    let at = Vec2::from_angle(random.random_range(0.0..core::f32::consts::TAU))
        * random.random_range(0.0..way);
    let tilt = 10.0_f32.powf(random.random_range(-5.0..-2.3));
    let axis = Vec2::from_angle(random.random_range(-3.0..3.0)).extend(0.0);
    let turn =
        Quat::from_axis_angle(axis, tilt) * Quat::from_rotation_z(random.random_range(-3.0..3.0));
    let depth = 1.5 * tilt * upper.size as f32;
    let pose = Isometry3d::new(at.extend(-depth), turn);
    let placed = |corner: &DVec2| {
        turn.as_dquat().normalize() * corner.extend(0.0) + at.as_dvec2().extend(-f64::from(depth))
    };
    let upper_face: Vec<_> = upper
        .face
        .iter()
        .map(|corner| placed(corner).xy())
        .collect();
    let common = clipped(&lower.face, &upper_face);
    let smaller = area(&lower.face).min(area(&upper_face));
    let least = lower.size.min(upper.size);
    if area(&common) < 0.1 * smaller || smaller < 0.02 * least * least {
        return None;
    }
    let manifold = query::manifold(&*lower.shape, lower.pose, &*upper.shape, pose * upper.pose);
    let manifold = manifold.expect("they overlap");
    // At a rim or a corner, a normal between the normals of both faces can be less deep.
    let normal = manifold.normal.as_dvec3();
    if normal.x.hypot(normal.y) > 1e-6 {
        return None;
    }
    let up = turn.as_dquat().normalize() * DVec3::Z;
    let origin = placed(&DVec2::ZERO);
    let below = |point: DVec2| (point - origin.xy()).dot(up.xy()) / up.z - origin.z;
    let tolerance = TOLERANCE * (lower.size + upper.size);
    let points = manifold.points().iter();
    let outline: Vec<_> = points.map(|point| point.point_a.as_dvec3().xy()).collect();
    Some(area(&outline).abs() / largest_with_deepest(&common, below, tolerance))
}

/// One of the four corners is the deepest corner, which need not be among the four corners of
/// largest area.
#[test]
fn slightly_tilted_faces_span_the_largest_area_with_the_deepest_corner() {
    let mut random = StdRng::seed_from_u64(9);
    let kinds = [Kind::Box, Kind::Hull, Kind::Prism, Kind::Cylinder];
    let (mut tested, mut tried, mut least) = (0, 0, f64::INFINITY);
    while tested < 20_000 {
        tried += 1;
        let pair = [(); 2].map(|()| kinds[random.random_range(0..kinds.len())]);
        if let Some(part) = check_tilted(pair, &mut random) {
            tested += 1;
            assert!(
                part >= LEAST_TILTED,
                "{part} of the area: case {tried}, {pair:?}"
            );
            least = least.min(part);
        }
    }
    println!("the least of {tested} is {least}");
    assert!(tried < 10 * tested, "{tried}");
}

/// The four points are on the rim of a cylinder that leans by 0.003 over the corner of a box.
#[test]
fn a_leaning_cylinder_stands_on_more_than_a_sliver() {
    let floor = Cuboid {
        half_size: Vec3::new(1.377_469_9, 2.833_018, 0.946_189_7),
    };
    let cylinder = Cylinder {
        radius: 0.763_360_74,
        half_height: 0.939_480_5,
    };
    let turn = Quat::from_xyzw(-0.001_472_895_5, 0.791_558_44, 0.000_283_860_9, 0.611_091_6);
    let pose = Isometry3d::new(
        Vec3::new(0.797_954_4, 3.765_389_4, 0.205_898_52),
        turn.normalize(),
    );
    let manifold = query::manifold(&floor, Vec3::ZERO, &cylinder, pose).unwrap();
    let points = manifold.points().iter();
    let corners: Vec<_> = points.map(|point| point.point_a.as_dvec3().zx()).collect();
    // The rim leaves the box over one corner only. A square in the whole rim has 2 r² = 1.165.
    assert!(area(&corners).abs() > 0.9, "{manifold:#?}");
}

#[test]
fn a_plank_rotated_on_a_plank_keeps_all_four_corners() {
    let plank = Cuboid::new(4.0, 1.0, 0.5);
    for degrees in [15.0_f32, 30.0, 45.0, 60.0, 75.0, 90.0] {
        let turn = Quat::from_rotation_y(degrees.to_radians());
        let pose = Isometry3d::new(Vec3::Y * 0.99, turn);
        let manifold = query::manifold(&plank, Isometry3d::IDENTITY, &plank, pose).unwrap();
        let corners: Vec<_> = manifold
            .points()
            .iter()
            .map(|point| point.point_a.as_dvec3().zx())
            .collect();
        assert_eq!(corners.len(), 4, "{degrees} degrees: {manifold:#?}");
        // The manifold is a rhombus between parallel edges that are 0.5 apart.
        let expected = 0.25 / f64::from(degrees).to_radians().sin();
        let found = area(&corners).abs();
        assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
    }
}

/// A 2D shape with an edge from `start` to `end` on the x axis. The other points are either all
/// above or all below the axis.
struct Edged {
    shape: Box<dyn Support<Vector = Vec2>>,
    pose: Isometry2d,
    ends: [f64; 2],
}

impl Edged {
    fn random(up: f32, random: &mut StdRng) -> Self {
        let half = power(random, 1.0);
        let height = half * power(random, 0.3) * up;
        if random.random() {
            return Self {
                shape: Box::new(Rectangle::new(2.0 * half, height.abs())),
                pose: Isometry2d::from_xy(0.0, 0.5 * height),
                ends: [-half, half].map(f64::from),
            };
        }
        let mut points = vec![Vec2::new(-half, 0.0), Vec2::new(half, 0.0)];
        for _ in 0..random.random_range(1..9) {
            let x = random.random_range(-2.0..2.0) * half;
            // The sides beside the edge are too steep to count as part of the edge.
            points.push(Vec2::new(x, random.random_range(0.2..1.0) * height));
        }
        Self {
            shape: Box::new(ConvexHull::new(points).expect("points")),
            pose: Isometry2d::IDENTITY,
            ends: [-half, half].map(f64::from),
        }
    }
}

#[test]
fn an_edge_on_an_edge_spans_their_whole_overlap() {
    let mut random = StdRng::seed_from_u64(4);
    let (mut tested, mut sideways) = (0, 0);
    while tested < 100_000 {
        let lower = Edged::random(-1.0, &mut random);
        let upper = Edged::random(1.0, &mut random);
        let [least, most] = [f64::min, f64::max].map(|pick| pick(lower.ends[1], upper.ends[1]));
        let x = random.random_range(-1.0..1.0_f32) * (least + most) as f32;
        let depth = if random.random() {
            0.0
        } else {
            1e-3 * least as f32
        };
        let start = lower.ends[0].max(upper.ends[0] + f64::from(x));
        let end = lower.ends[1].min(upper.ends[1] + f64::from(x));
        if end - start < 0.02 * least {
            continue;
        }
        let world = Isometry2d::from_rotation(Rot2::radians(random.random_range(-3.0..3.0)));
        let pose = world * Isometry2d::from_xy(x, -depth) * upper.pose;
        let found = query::manifold(&*lower.shape, world * lower.pose, &*upper.shape, pose);
        let Some(manifold) = found else {
            assert_eq!(depth, 0.0, "they touch");
            continue;
        };
        let unturned = |point: Vec2| (world.rotation.inverse() * point).as_dvec2();
        if unturned(manifold.normal).y < 0.999 {
            sideways += 1;
            continue;
        }
        tested += 1;
        let tolerance = 5e-6 * (most + f64::from(x.abs()));
        let points: Vec<_> = points_on_first(&manifold).map(unturned).collect();
        for point in &points {
            let off = (start - point.x).max(point.x - end).max(point.y.abs());
            assert!(off <= tolerance, "{off:e} outside: {manifold:#?}");
        }
        assert_eq!(points.len(), 2, "{manifold:#?}");
        let span = points[0].distance(points[1]);
        assert!(span >= LEAST * (end - start), "{span}: {manifold:#?}");
    }
    assert!(sideways < tested / 50, "{sideways} of {tested}");
}

fn points_on_first(manifold: &Manifold<Vec2>) -> impl Iterator<Item = Vec2> {
    manifold.points().iter().map(|point| point.point_a)
}
