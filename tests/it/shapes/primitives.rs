//! Each kind of shape: its errors for invalid input, and its support function against closed forms
//! of the support height and of the points inside.
//!
//! Bounding boxes are tested in some thousands of poses. `HEADBUTT_BOXES` sets another number, and
//! the table of kinds is repeated with other dimensions, maps and positions:
//!
//! ```text
//! HEADBUTT_BOXES=1000000 cargo test --test it boxes -- --nocapture
//! ```

use core::f64::consts::TAU;

use bevy::{
    math::{DMat3, DQuat, DVec2, DVec3},
    prelude::*,
};
use headbutt::{CollisionDiagnostics, IntoShape, Space, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A common trait for the vectors of both dimensions.
trait Deep: Copy {
    fn deep(self) -> DVec3;
    fn of(vector: DVec3) -> Self;
}

impl Deep for DVec2 {
    fn deep(self) -> DVec3 {
        self.extend(0.0)
    }
    fn of(vector: DVec3) -> Self {
        vector.truncate()
    }
}

impl Deep for DVec3 {
    fn deep(self) -> DVec3 {
        self
    }
    fn of(vector: DVec3) -> Self {
        vector
    }
}

/// The properties of a shape that are known independently of its support function.
struct Truth {
    name: &'static str,
    /// The support function of the shape's core, and the shape's radius.
    support: Box<dyn Fn(DVec3) -> DVec3>,
    radius: f64,
    planar: bool,
    /// The support height along a unit vector.
    height: Box<dyn Fn(DVec3) -> f64>,
    /// A function that is positive for points outside of the core, roughly a distance.
    outside: Box<dyn Fn(DVec3) -> f64>,
    size: f64,
    /// The shape equals its image if these components change their signs.
    mirrors: Vec<DVec3>,
    collider: Collider,
}

impl Truth {
    fn new<S>(
        name: &'static str,
        shape: S,
        height: impl Fn(DVec3) -> f64 + 'static,
        outside: impl Fn(DVec3) -> f64 + 'static,
        size: f64,
        mirrors: &[DVec3],
    ) -> Self
    where
        S: Support<Vector: Space<DVec: Deep>> + IntoShape + Clone + 'static,
    {
        Self {
            name,
            radius: shape.radius(),
            planar: <<S as Support>::Vector as Space>::DVec::of(DVec3::Z).deep() == DVec3::ZERO,
            collider: Collider::try_new(shape.clone()).expect("a shape"),
            support: Box::new(move |direction| shape.support(Deep::of(direction)).deep()),
            height: Box::new(height),
            outside: Box::new(outside),
            size,
            mirrors: mirrors.to_vec(),
        }
    }

    /// Returns a unit vector, in the plane for 2D shapes.
    fn direction(&self, random: &mut StdRng) -> DVec3 {
        loop {
            let [x, y, z] = [(); 3].map(|()| random.random_range(-1.0..1.0));
            let vector = DVec3::new(x, y, if self.planar { 0.0 } else { z });
            if (0.01..1.0).contains(&vector.length()) {
                return vector.normalize();
            }
        }
    }
}

const X: DVec3 = DVec3::new(-1.0, 1.0, 1.0);
const Y: DVec3 = DVec3::new(1.0, -1.0, 1.0);
const Z: DVec3 = DVec3::new(1.0, 1.0, -1.0);

/// Returns a random length, sometimes 0 or very small.
fn length(random: &mut StdRng) -> f32 {
    match random.random_range(0..10) {
        0 => 0.0,
        1 => 1e-6,
        _ => random.random_range(0.1..2.0),
    }
}

fn point(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-2.0..2.0)))
}

/// Returns the distance of a 3D vector from the y axis.
fn from_axis(vector: DVec3) -> f64 {
    vector.x.hypot(vector.z)
}

/// Returns the angle of a 2D vector from +y, without a sign.
fn from_top(vector: DVec3) -> f64 {
    vector.x.abs().atan2(vector.y)
}

fn frustum<S>(name: &'static str, shape: S, [half_height, top, bottom]: [f32; 3]) -> Truth
where
    S: Support<Vector = Vec3> + IntoShape + Clone + 'static,
{
    let [h, top, bottom] = [half_height, top, bottom].map(f64::from);
    Truth::new(
        name,
        shape,
        move |d| (h * d.y + top * from_axis(d)).max(-h * d.y + bottom * from_axis(d)),
        move |p| {
            let part = if h > 0.0 { 0.5 * (p.y / h + 1.0) } else { 0.0 };
            let wide = if h > 0.0 {
                bottom + (top - bottom) * part
            } else {
                top.max(bottom)
            };
            (p.y.abs() - h).max(from_axis(p) - wide)
        },
        h + top + bottom,
        &[X, Z],
    )
}

fn polytope<S>(name: &'static str, shape: S, corners: &[Vec3], mirrors: &[DVec3]) -> Truth
where
    S: Support<Vector: Space<DVec: Deep>> + IntoShape + Clone + 'static,
{
    let corners: Vec<DVec3> = corners.iter().map(|corner| corner.as_dvec3()).collect();
    let size = corners.iter().map(|p| p.length()).fold(0.0, f64::max);
    let known = corners.clone();
    Truth::new(
        name,
        shape,
        move |d| corners.iter().map(|p| p.dot(d)).fold(f64::MIN, f64::max),
        // Each support point is a corner itself.
        move |p| {
            let distances = known.iter().map(|corner| corner.distance(p));
            distances.fold(f64::MAX, f64::min)
        },
        size,
        mirrors,
    )
}

/// Returns the support height of the corners of a regular polygon of radius 1.
fn regular_height(sides: u32, direction: DVec3) -> f64 {
    let step = TAU / f64::from(sides);
    let angle = from_top(direction);
    (angle - (angle / step).round() * step).cos() * direction.length()
}

/// Returns 2D shapes of random dimensions.
fn of_the_plane(random: &mut StdRng) -> Vec<Truth> {
    let [r, a, b] = [(); 3].map(|()| length(random));
    let [p, q, s, t] = [(); 4].map(|()| point(random).truncate());
    let [radius, x, y] = [r, a, b].map(f64::from);
    let sides = random.random_range(3..20);
    let step = TAU / f64::from(sides);
    let half_angle = random.random_range(0.0..core::f32::consts::PI);
    let h = f64::from(half_angle);
    let narrow = random.random_range(0.0..core::f32::consts::FRAC_PI_2);
    let n = f64::from(narrow);
    let cap = move |h: f64, d: DVec3| radius * (from_top(d) - h).max(0.0).cos();
    let corners: Vec<Vec2> = vec![p, q, s, t];
    let deep: Vec<Vec3> = corners.iter().map(|p| p.extend(0.0)).collect();
    vec![
        Truth::new(
            "circle",
            Circle::new(r),
            move |_| radius,
            |p| p.length(),
            radius,
            &[X, Y],
        ),
        Truth::new(
            "ellipse",
            Ellipse::new(a, b),
            move |d| (x * d.x).hypot(y * d.y),
            move |p| {
                if x > 0.0 && y > 0.0 {
                    ((p.x / x).hypot(p.y / y) - 1.0) * x.min(y)
                } else {
                    (p.x.abs() - x).max(p.y.abs() - y)
                }
            },
            x + y,
            &[X, Y],
        ),
        Truth::new(
            "capsule",
            Capsule2d {
                radius: r,
                half_length: a,
            },
            move |d| x * d.y.abs() + radius,
            move |p| p.x.abs().max(p.y.abs() - x),
            x + radius,
            &[X],
        ),
        polytope(
            "rectangle",
            Rectangle {
                half_size: Vec2::new(a, b),
            },
            &[(1, 1), (1, -1), (-1, 1), (-1, -1)]
                .map(|(i, j)| Vec3::new(i as f32 * a, j as f32 * b, 0.0)),
            &[X, Y],
        ),
        polytope(
            "rhombus",
            Rhombus {
                half_diagonals: Vec2::new(a, b),
            },
            &[Vec3::X * a, Vec3::NEG_X * a, Vec3::Y * b, Vec3::NEG_Y * b],
            &[X, Y],
        ),
        polytope("segment", Segment2d::new(p, q), &deep[..2], &[]),
        polytope("triangle", Triangle2d::new(p, q, s), &deep[..3], &[]),
        polytope(
            "convex polygon",
            ConvexPolygon::new_unchecked(corners),
            &deep,
            &[],
        ),
        Truth::new(
            "regular polygon",
            RegularPolygon {
                circumcircle: Circle::new(r),
                sides,
            },
            move |d| radius * regular_height(sides, d),
            move |p| {
                let angle = from_top(p);
                let turns = if radius > 0.0 { angle / step } else { 0.0 };
                let beside = (turns - turns.round()).abs() * step * radius;
                beside.max((p.length() - radius).abs())
            },
            radius,
            &[X],
        ),
        Truth::new(
            "circular segment",
            CircularSegment::new(r, half_angle),
            move |d| cap(h, d),
            move |p| (p.length() - radius).max(radius * h.cos() - p.y),
            radius,
            &[X],
        ),
        Truth::new(
            "circular sector",
            CircularSector {
                arc: Arc2d::new(r, narrow),
            },
            move |d| cap(n, d).max(0.0),
            move |p| (p.length() - radius).max(p.x.abs() * n.cos() - p.y * n.sin()),
            radius,
            &[X],
        ),
        Truth::new(
            "full sector",
            CircularSector::from_turns(r, 1.0),
            move |_| radius,
            |p| p.length(),
            radius,
            &[X, Y],
        ),
        Truth::new(
            "rounded rectangle",
            Rounded::new(
                Rectangle {
                    half_size: Vec2::new(a, b),
                },
                r,
            ),
            move |d| x * d.x.abs() + y * d.y.abs() + radius,
            move |p| (p.x.abs() - x).max(p.y.abs() - y),
            x + y + radius,
            &[X, Y],
        ),
    ]
}

/// Returns 3D shapes of random dimensions.
fn of_space(random: &mut StdRng) -> Vec<Truth> {
    let [r, a, b, c] = [(); 4].map(|()| length(random));
    let [p, q, s, t] = [(); 4].map(|()| point(random));
    let [radius, x, y, z] = [r, a, b, c].map(f64::from);
    let half_angle = random.random_range(0.0..core::f32::consts::FRAC_PI_2);
    let h = f64::from(half_angle);
    let mut truths = vec![
        Truth::new(
            "sphere",
            Sphere::new(r),
            move |_| radius,
            |p| p.length(),
            radius,
            &[X, Y, Z],
        ),
        Truth::new(
            "capsule",
            Capsule3d {
                radius: r,
                half_length: a,
            },
            move |d| x * d.y.abs() + radius,
            move |p| from_axis(p).max(p.y.abs() - x),
            x + radius,
            &[X, Z],
        ),
        Truth::new(
            "cuboid",
            Cuboid {
                half_size: Vec3::new(a, b, c),
            },
            move |d| x * d.x.abs() + y * d.y.abs() + z * d.z.abs(),
            move |p| {
                let beyond = p.abs() - DVec3::new(x, y, z);
                beyond.max_element()
            },
            x + y + z,
            &[X, Y, Z],
        ),
        frustum(
            "cylinder",
            Cylinder {
                radius: r,
                half_height: a,
            },
            [a, r, r],
        ),
        frustum("cone", Cone::new(r, 2.0 * a), [a, 0.0, r]),
        frustum(
            "frustum",
            ConicalFrustum {
                radius_top: b,
                radius_bottom: c,
                height: 2.0 * a,
            },
            [a, b, c],
        ),
        polytope("segment", Segment3d::new(p, q), &[p, q], &[]),
        polytope("triangle", Triangle3d::new(p, q, s), &[p, q, s], &[]),
        polytope(
            "tetrahedron",
            Tetrahedron::new(p, q, s, t),
            &[p, q, s, t],
            &[],
        ),
        Truth::new(
            "extruded sector",
            Extrusion::new(
                CircularSector {
                    arc: Arc2d::new(r, half_angle),
                },
                2.0 * a,
            ),
            move |d| {
                let flat = d.truncate().length();
                let high = radius * flat * (from_top(d) - h).max(0.0).cos();
                high.max(0.0) + x * d.z.abs()
            },
            move |p| {
                let round = p.truncate().length() - radius;
                let sides = p.x.abs() * h.cos() - p.y * h.sin();
                round.max(sides).max(p.z.abs() - x)
            },
            radius + x,
            &[X, Z],
        ),
        Truth::new(
            "rounded cone",
            Rounded::new(Cone::new(r, 2.0 * a), b),
            move |d| (x * d.y).max(-x * d.y + radius * from_axis(d)) + y,
            move |p| from_axis(p).max(p.y.abs()) - radius.max(x),
            radius + x + y,
            &[X, Z],
        ),
    ];
    // 2D cores with a radius have no radius when extruded.
    truths.push(Truth::new(
        "extruded circle",
        Extrusion::new(Circle::new(r), 2.0 * b),
        move |d| radius * d.truncate().length() + y * d.z.abs(),
        move |p| (p.truncate().length() - radius).max(p.z.abs() - y),
        radius + y,
        &[X, Y, Z],
    ));
    let capsule = Capsule2d {
        radius: r,
        half_length: c,
    };
    truths.push(Truth::new(
        "extruded capsule",
        Extrusion::new(capsule, 2.0 * b),
        move |d| radius * d.truncate().length() + z * d.y.abs() + y * d.z.abs(),
        move |p| {
            let beyond = (p.y.abs() - z).max(0.0);
            (p.x.hypot(beyond) - radius).max(p.z.abs() - y)
        },
        radius + y + z,
        &[X],
    ));
    let round = radius + x;
    truths.push(Truth::new(
        "sphere, rounded twice",
        Rounded::new(Rounded::new(Sphere::new(r), a), b),
        move |_| round + y,
        |p| p.length(),
        round + y,
        &[X, Y, Z],
    ));
    let twice = Rounded::new(Rounded::new(Cylinder::new(r, 2.0 * c), a), b);
    truths.push(Truth::new(
        "cylinder, rounded twice",
        twice,
        move |d| z * d.y.abs() + radius * from_axis(d) + x + y,
        move |p| (p.y.abs() - z).max(from_axis(p) - radius),
        radius + x + y + z,
        &[X, Y, Z],
    ));
    truths
}

/// Calls `test` with ten thousand directions for each kind, over shapes of many dimensions.
fn for_each(test: impl Fn(&Truth, &mut StdRng)) {
    let mut random = StdRng::seed_from_u64(3);
    for _ in 0..100 {
        let mut truths = of_the_plane(&mut random);
        truths.extend(of_space(&mut random));
        for truth in truths {
            for _ in 0..100 {
                test(&truth, &mut random);
            }
        }
    }
}

#[test]
fn support_points_are_farthest_and_inside_the_shape() {
    for_each(|truth, random| {
        let direction = truth.direction(random);
        let found = (truth.support)(direction);
        let height = found.dot(direction) + truth.radius;
        let expected = (truth.height)(direction);
        let name = truth.name;
        assert!(
            (height - expected).abs() <= 1e-13 * truth.size,
            "{name} along {direction}: {height}, not {expected}"
        );
        let outside = (truth.outside)(found);
        assert!(
            outside <= 1e-13 * truth.size,
            "{name} along {direction}: {found} is {outside} outside"
        );
    });
}

#[test]
fn support_points_do_not_depend_on_the_length_of_the_direction() {
    for_each(|truth, random| {
        let direction = truth.direction(random);
        let found = (truth.support)(direction);
        for length in [1e-200, 1e-30, 1e-3, 1e30, 1e200] {
            let again = (truth.support)(direction * length);
            assert!(
                again.distance(found) <= 1e-12 * truth.size,
                "{} along {direction} times {length:e}: {again}, not {found}",
                truth.name
            );
        }
    });
}

#[test]
fn mirrored_directions_have_mirrored_support_points() {
    for_each(|truth, random| {
        let direction = truth.direction(random);
        let found = (truth.support)(direction);
        for mirror in &truth.mirrors {
            let again = (truth.support)(direction * *mirror);
            assert_eq!(again, found * *mirror, "{} along {direction}", truth.name);
        }
    });
}

#[test]
fn along_its_axis_the_support_point_of_a_face_is_its_center() {
    let (drum, cone) = (Cylinder::new(1.0, 2.0), Cone::new(1.0, 2.0));
    assert_eq!(drum.support(DVec3::Y), DVec3::Y);
    assert_eq!(drum.support(DVec3::NEG_Y), DVec3::NEG_Y);
    assert_eq!(cone.support(DVec3::NEG_Y), DVec3::NEG_Y);
    let log = Extrusion::new(Circle::new(1.0), 2.0);
    assert_eq!(log.support(DVec3::Z), DVec3::Z);
    let bowl = CircularSegment::from_turns(1.0, 0.5);
    assert!(bowl.support(DVec2::NEG_Y).length() < 1e-7);
    let disc = Ellipse::new(1.0, 0.0);
    assert_eq!(disc.support(DVec2::Y), DVec2::ZERO);
    // The support point along -y is the tip of the wedge.
    let wedge = CircularSector::from_turns(1.0, 0.25);
    assert_eq!(wedge.support(DVec2::NEG_Y), DVec2::ZERO);
}

#[test]
fn an_extruded_rectangle_is_a_cuboid_and_an_extruded_circle_a_cylinder() {
    let mut random = StdRng::seed_from_u64(4);
    let [r, a, b, c] = [0.7, 0.5, 1.5, 0.25];
    let prism = Extrusion::new(Rectangle::new(a, b), c);
    let cuboid = Cuboid::new(a, b, c);
    let log = Extrusion::new(Circle::new(r), c);
    let drum = Cylinder::new(r, c);
    // This rotation takes z to y.
    let turn = DQuat::from_rotation_x(-core::f64::consts::FRAC_PI_2);
    for _ in 0..10_000 {
        let [x, y, z] = [(); 3].map(|()| random.random_range(-1.0..1.0));
        let direction = DVec3::new(x, y, z);
        assert_eq!(prism.support(direction), cuboid.support(direction));
        let turned = turn * log.support(direction);
        assert!(turned.distance(drum.support(turn * direction)) < 1e-14);
    }
}

#[test]
fn the_corners_of_a_regular_polygon_are_bevys() {
    for sides in [3, 4, 5, 6, 7, 8, 12, 100, 4096] {
        let polygon = RegularPolygon::new(2.0, sides);
        for corner in polygon.vertices(0.0) {
            let found = polygon.support(corner.as_dvec2());
            assert!(found.distance(corner.as_dvec2()) < 1e-5, "{sides} sides");
        }
    }
    let square = RegularPolygon::new(1.0, 4);
    assert_eq!(square.support(DVec2::new(-1.0, 0.1)), DVec2::NEG_X);
    // A regular polygon may have any number of sides, because queries do not list them.
    let round = RegularPolygon {
        circumcircle: Circle::new(1.0),
        sides: u32::MAX,
    };
    let unit = DVec2::new(0.6, -0.8);
    assert!(round.support(unit).distance(unit) < 1e-8);
}

#[test]
fn a_point_is_a_collider() {
    let mut app = crate::support::app();
    let world = app.world_mut();
    let place = Vec3::new(0.5, -0.25, 0.0);
    let turn = Transform::from_rotation(Quat::from_rotation_z(core::f32::consts::FRAC_PI_2));
    let flat = world.spawn((Collider::from(place.truncate()), turn)).id();
    let solid = world.spawn((Collider::from(place), turn)).id();
    // The rotation takes the points to (0.25, 0.5).
    let of = |shape: Collider| (shape, Transform::from_xyz(1.0, 0.5, 0.0));
    let disc = world.spawn(of(Circle::new(1.0).into())).id();
    let ball = world.spawn(of(Sphere::new(1.0).into())).id();
    let hits = crate::support::tick(&mut app).messages;
    assert_eq!(hits.len(), 2);
    for (point, round) in [(flat, disc), (solid, ball)] {
        let hit = hits.iter().find_map(|hit| hit.seen_from(point)).unwrap();
        assert_eq!(hit.other, round);
        assert!(hit.normal.distance(Vec3::X) < 1e-6 && (hit.depth - 0.25).abs() < 1e-6);
    }
    let error = Collider::try_new(Vec3::new(0.0, f32::NAN, 0.0)).unwrap_err();
    assert!(matches!(error, ShapeError::NotFinite(_)));
}

#[test]
fn a_point_is_a_shape_for_queries() {
    let tile = Rectangle::new(2.0, 2.0);
    let at = Vec2::new(1.5, 0.0);
    let found = query::distance(&Vec2::ZERO, at, &tile, Isometry2d::IDENTITY);
    assert_eq!((found.distance, found.point_b), (0.5, Vec2::X));
    let within = Vec3::new(0.5, 0.0, 0.0);
    let ball = Sphere::new(1.0);
    assert!(query::intersects(
        &within,
        Isometry3d::IDENTITY,
        &ball,
        Isometry3d::IDENTITY
    ));
}

#[test]
fn unchecked_shapes_in_queries_have_a_defined_result() {
    let direction = DVec3::new(0.3, 0.5, -0.2);
    let cylinder = Cylinder {
        radius: -1.0,
        half_height: -2.0,
    };
    let expected = Cylinder::new(1.0, 4.0).support(direction);
    assert_eq!(cylinder.support(direction), expected);
    // A concave sector is treated as its hull, the circular segment.
    let sector = CircularSector::from_turns(1.0, 0.75);
    let segment = CircularSegment::from_turns(1.0, 0.75);
    for angle in 0..360 {
        let direction = DVec2::from_angle(f64::from(angle).to_radians());
        assert_eq!(sector.support(direction), segment.support(direction));
    }
    let ball = Circle::new(1.0);
    let touches = |shape: &dyn Support<Vector = Vec2>| {
        query::intersects(shape, Isometry2d::IDENTITY, &ball, Isometry2d::IDENTITY)
    };
    let no_sides = RegularPolygon {
        circumcircle: ball,
        sides: 0,
    };
    assert!(touches(&Circle::new(0.0)));
    assert!(!touches(&no_sides));
    assert!(!touches(&Rounded::new(ball, -0.5)));
    assert!(!touches(&Rounded::new(Circle::new(-0.5), 1.0)));
    assert!(!touches(&Rounded::new(ball, f32::NAN)));
    assert!(!touches(&Ellipse::new(f32::NAN, 1.0)));
    assert!(!touches(&CircularSegment::new(1.0, f32::NAN)));
    assert!(!touches(&CircularSector::new(f32::NAN, 1.0)));
    let nowhere = Extrusion::new(Circle::new(-1.0), 1.0);
    let point = Isometry3d::IDENTITY;
    assert!(!query::intersects(&nowhere, point, &Vec3::ZERO, point));
}

/// Invalid shapes, and the reasons with which they are refused.
mod refused {
    use core::f32::consts::PI;

    use headbutt::ShapeError::{self, Concave, Negative, NoPoints, NotFinite, SideCount};

    use super::*;

    const NAN: f32 = f32::NAN;
    const INFINITY: f32 = f32::INFINITY;

    fn why(shape: impl IntoShape) -> Result<(), ShapeError> {
        Collider::try_new(shape).map(|collider| assert!(!collider.is_inert()))
    }

    const SECTOR: Result<(), ShapeError> =
        Err(Concave("a circular sector of more than half a circle"));

    /// Checks both lengths of a shape by their names. NaN, infinite and negative lengths are
    /// refused, but 0 is not.
    fn lengths<S: IntoShape>(make: fn(f32, f32) -> S, names: [&'static str; 2]) {
        let [first, second] = names;
        let cases = [
            (NAN, 1.0, Err(NotFinite(first))),
            (INFINITY, 1.0, Err(NotFinite(first))),
            (-INFINITY, 1.0, Err(NotFinite(first))),
            (-1.0, 1.0, Err(Negative(first))),
            (-f32::MIN_POSITIVE, 1.0, Err(Negative(first))),
            (1.0, NAN, Err(NotFinite(second))),
            (1.0, INFINITY, Err(NotFinite(second))),
            (1.0, -1.0, Err(Negative(second))),
            (0.0, 1.0, Ok(())),
            (-0.0, 1.0, Ok(())),
            (1.0, 0.0, Ok(())),
            (0.0, 0.0, Ok(())),
            (f32::MAX, 1.0, Ok(())),
        ];
        for (a, b, expected) in cases {
            let type_name = core::any::type_name::<S>();
            assert_eq!(why(make(a, b)), expected, "{type_name} of {a} and {b}");
        }
    }

    #[test]
    fn shapes_with_an_invalid_length_of_two_are_refused() {
        let capsule = |half_length, radius| Capsule2d {
            radius,
            half_length,
        };
        lengths(capsule, ["half length", "radius"]);
        let capsule = |half_length, radius| Capsule3d {
            radius,
            half_length,
        };
        lengths(capsule, ["half length", "radius"]);
        let rectangle = |x, y| Rectangle {
            half_size: Vec2::new(x, y),
        };
        lengths(rectangle, ["half size"; 2]);
        let cuboid = |x, z| Cuboid {
            half_size: Vec3::new(x, 1.0, z),
        };
        lengths(cuboid, ["half size"; 2]);
        let rhombus = |x, y| Rhombus {
            half_diagonals: Vec2::new(x, y),
        };
        lengths(rhombus, ["half diagonal"; 2]);
        lengths(Ellipse::new, ["half size"; 2]);
        let cylinder = |half_height, radius| Cylinder {
            radius,
            half_height,
        };
        lengths(cylinder, ["height", "radius"]);
        lengths(
            |height, radius| Cone { radius, height },
            ["height", "radius"],
        );
        let frustum = |radius_top, radius_bottom| ConicalFrustum {
            radius_top,
            radius_bottom,
            height: 1.0,
        };
        lengths(frustum, ["radius"; 2]);
        let frustum = |height, radius_top| ConicalFrustum {
            radius_top,
            radius_bottom: 1.0,
            height,
        };
        lengths(frustum, ["height", "radius"]);
        let log = |radius, half_depth| Extrusion {
            base_shape: Circle::new(radius),
            half_depth,
        };
        lengths(log, ["radius", "half depth"]);
        let rounded = |radius, margin| Rounded::new(Ellipse::new(radius, 1.0), margin);
        lengths(rounded, ["half size", "margin"]);
    }

    #[test]
    fn shapes_with_an_invalid_only_length_are_refused() {
        for (length, expected) in [
            (NAN, Err(NotFinite("radius"))),
            (INFINITY, Err(NotFinite("radius"))),
            (-1.0, Err(Negative("radius"))),
            (0.0, Ok(())),
            (f32::MAX, Ok(())),
        ] {
            assert_eq!(why(Circle { radius: length }), expected);
            assert_eq!(why(Sphere { radius: length }), expected);
            assert_eq!(why(CircularSegment::new(length, 1.0)), expected);
            assert_eq!(
                why(CircularSector {
                    arc: Arc2d::new(length, 1.0)
                }),
                expected
            );
            assert_eq!(
                why(CircularSector {
                    arc: Arc2d::new(length, 4.0)
                }),
                expected
            );
            let polygon = |radius| RegularPolygon {
                circumcircle: Circle { radius },
                sides: 5,
            };
            assert_eq!(why(polygon(length)), expected);
            assert_eq!(why(Extrusion::new(polygon(length), 1.0)), expected);
            assert_eq!(why(Rounded::new(polygon(length), 1.0)), expected);
        }
    }

    #[test]
    fn shapes_with_invalid_points_are_refused() {
        let not_finite = Err(NotFinite("vertex"));
        for bad in [NAN, INFINITY, -INFINITY] {
            let flat = Vec2::new(0.0, bad);
            assert_eq!(why(Segment2d::new(Vec2::X, flat)), not_finite);
            assert_eq!(why(Triangle2d::new(Vec2::X, flat, Vec2::Y)), not_finite);
            let deep = Vec3::new(0.0, 0.0, bad);
            assert_eq!(why(Segment3d::new(Vec3::X, deep)), not_finite);
            assert_eq!(why(Triangle3d::new(Vec3::X, deep, Vec3::Y)), not_finite);
            let tetrahedron = Tetrahedron::new(Vec3::X, Vec3::Y, Vec3::Z, deep);
            assert_eq!(why(tetrahedron), not_finite);
            let polygon = ConvexPolygon::new_unchecked([Vec2::X, Vec2::Y, flat]);
            let expected = Err(NotFinite("point of a convex hull"));
            assert_eq!(why(polygon.clone()), expected);
            assert_eq!(why(Extrusion::new(polygon, 1.0)), expected);
        }
        // Without any extent, these shapes are points.
        assert_eq!(why(Segment3d::new(Vec3::X, Vec3::X)), Ok(()));
        assert_eq!(why(Triangle2d::new(Vec2::X, Vec2::X, Vec2::X)), Ok(()));
        assert_eq!(
            why(Tetrahedron::new(Vec3::X, Vec3::X, Vec3::X, Vec3::X)),
            Ok(())
        );
        assert_eq!(why(ConvexPolygon::new_unchecked([])), Err(NoPoints));
        // This polygon is clockwise and concave, and is treated as its hull.
        let dart = [
            Vec2::ZERO,
            Vec2::new(-1.0, -1.0),
            Vec2::Y,
            Vec2::new(1.0, -1.0),
        ];
        assert_eq!(why(ConvexPolygon::new_unchecked(dart)), Ok(()));
    }

    #[test]
    fn shapes_with_an_invalid_angle_are_refused() {
        for (half_angle, of_sector, of_segment) in [
            (
                NAN,
                Err(NotFinite("half angle")),
                Err(NotFinite("half angle")),
            ),
            (
                INFINITY,
                Err(NotFinite("half angle")),
                Err(NotFinite("half angle")),
            ),
            (
                -INFINITY,
                Err(NotFinite("half angle")),
                Err(NotFinite("half angle")),
            ),
            (
                -1.0,
                Err(Negative("half angle")),
                Err(Negative("half angle")),
            ),
            (
                -4.0,
                Err(Negative("half angle")),
                Err(Negative("half angle")),
            ),
            (0.0, Ok(()), Ok(())),
            (0.5 * PI, Ok(()), Ok(())),
            ((0.5 * PI).next_up(), SECTOR, Ok(())),
            (PI.next_down(), SECTOR, Ok(())),
            (PI, Ok(()), Ok(())),
            (7.0, Ok(()), Ok(())),
        ] {
            let sector = CircularSector {
                arc: Arc2d::new(1.0, half_angle),
            };
            assert_eq!(why(sector), of_sector, "{half_angle}");
            assert_eq!(why(Extrusion::new(sector, 1.0)), of_sector, "{half_angle}");
            assert_eq!(why(Rounded::new(sector, 1.0)), of_sector, "{half_angle}");
            assert_eq!(Collider::try_new(sector).map(drop), of_sector);
            let prism = Extrusion::new(sector, 1.0);
            assert_eq!(Collider::try_new(prism).map(drop), of_sector);
            let segment = CircularSegment::new(1.0, half_angle);
            assert_eq!(why(segment), of_segment, "{half_angle}");
        }
    }

    #[test]
    fn polygons_with_an_invalid_number_of_sides_are_refused() {
        for (sides, expected) in [
            (0, Err(SideCount)),
            (1, Err(SideCount)),
            (2, Err(SideCount)),
            (3, Ok(())),
            (4096, Ok(())),
            (4097, Err(SideCount)),
            (u32::MAX, Err(SideCount)),
        ] {
            let polygon = RegularPolygon {
                circumcircle: Circle::new(1.0),
                sides,
            };
            assert_eq!(why(polygon), expected, "{sides} sides");
        }
    }

    #[test]
    fn shapes_with_an_invalid_margin_are_refused() {
        let shapes = [
            Collider::from(Circle::new(1.0)),
            Collider::from(Capsule3d::new(1.0, 1.0)),
            Collider::from(Cuboid::default()),
            Collider::from(Rounded::new(Cone::default(), 1.0)),
        ];
        for shape in shapes {
            for (margin, expected) in [
                (NAN, Err(NotFinite("margin"))),
                (INFINITY, Err(NotFinite("margin"))),
                (-0.5, Err(Negative("margin"))),
                (0.0, Ok(())),
                (1.0, Ok(())),
            ] {
                let tried = shape.clone().try_rounded(margin);
                assert_eq!(tried.map(drop), expected, "{shape:?} with {margin}");
                let rounded = shape.clone().rounded(margin);
                assert_eq!(rounded.is_inert(), expected.is_err());
            }
        }
        let full = Collider::from(Circle::new(f32::MAX));
        let tried = full.try_rounded(f32::MAX).map(drop);
        assert_eq!(tried, Err(NotFinite("radius")));
    }

    #[test]
    fn an_inert_collider_with_a_margin_stays_inert() {
        assert!(
            Collider::default()
                .try_rounded(1.0)
                .is_ok_and(|it| it.is_inert())
        );
        let bad = Collider::from(Circle::new(-1.0));
        assert_eq!(
            bad.clone().try_rounded(1.0).map(drop),
            Err(Negative("radius"))
        );
        assert!(bad.rounded(2.0).is_inert());
    }

    #[test]
    fn the_error_says_what_to_do() {
        let texts = [
            (NotFinite("radius"), "the radius must be finite"),
            (Negative("margin"), "the margin must not be negative"),
            (NoPoints, "a convex hull needs at least one point"),
            (
                SideCount,
                "a regular polygon must have from 3 to 4096 sides",
            ),
            (
                Concave("a circular sector of more than half a circle"),
                "a circular sector of more than half a circle is concave: use a compound of convex parts, or the \
                 convex hull of its points",
            ),
        ];
        for (error, text) in texts {
            assert_eq!(error.to_string(), text);
        }
    }
}

/// Shapes as colliders, under any transform.
mod collided {
    use super::*;
    use crate::support::{app, cases::number, tick};

    /// Returns an app with one collider, and its entity.
    fn app_with(collider: Collider, transform: Transform) -> (App, Entity) {
        let mut app = app();
        let entity = app.world_mut().spawn((collider, transform)).id();
        (app, entity)
    }

    fn transform(planar: bool, random: &mut StdRng) -> Transform {
        let mut signed = || {
            let size = random.random_range(0.5..2.0);
            if random.random_bool(0.3) { -size } else { size }
        };
        let scale = match signed() {
            even if even > 1.0 => Vec3::splat(even),
            _ => Vec3::new(signed(), signed(), signed()),
        };
        let [x, y, z, w] = [(); 4].map(|()| random.random_range(-1.0..1.0));
        let rotation = if planar {
            Quat::from_rotation_z(3.0 * x)
        } else {
            Quat::from_xyzw(x, y, z, w).normalize()
        };
        Transform {
            translation: point(random),
            rotation,
            scale,
        }
    }

    /// The default number of shapes, maps and positions whose boxes are tested.
    const USUAL: usize = 10_000;

    /// The allowed distance of a side of a box from the shape, as a fraction of the box's diagonal.
    const TIGHT: f64 = 1e-5;

    /// One or several shapes with a common bounding box.
    struct Boxed {
        name: &'static str,
        planar: bool,
        /// The support height along a unit vector.
        height: Box<dyn Fn(DVec3) -> f64>,
        collider: Collider,
    }

    impl From<Truth> for Boxed {
        fn from(truth: Truth) -> Self {
            let Truth {
                name,
                planar,
                height,
                collider,
                ..
            } = truth;
            Self {
                name,
                planar,
                height,
                collider,
            }
        }
    }

    fn of_points(name: &'static str, collider: Collider, points: Vec<Vec3>, planar: bool) -> Boxed {
        let points: Vec<_> = points.into_iter().map(Vec3::as_dvec3).collect();
        let height = move |d: DVec3| points.iter().map(|p| p.dot(d)).fold(f64::MIN, f64::max);
        Boxed {
            name,
            planar,
            height: Box::new(height),
            collider,
        }
    }

    /// An egg, given by its support function.
    struct Custom(DVec3);

    impl Support for Custom {
        type Vector = Vec3;

        fn support(&self, direction: DVec3) -> DVec3 {
            self.0 * (self.0 * direction).normalize()
        }
    }

    /// Returns hulls of points, surfaces of points, and custom shapes.
    fn of_many_points(random: &mut StdRng) -> Vec<Boxed> {
        let points: Vec<_> = (0..random.random_range(4..40))
            .map(|_| point(random))
            .collect();
        let flat: Vec<_> = points.iter().map(|p| p.truncate()).collect();
        let facets: Vec<_> = (2..points.len() as u32)
            .map(|c| [c - 2, c - 1, c])
            .collect();
        let made = |collider: Result<Collider, ShapeError>| collider.expect("it is a shape");
        let hull = made(Collider::try_convex_hull(points.iter().copied()));
        let mesh = made(Collider::try_trimesh(points.iter().copied(), facets));
        let flat_hull = made(Collider::try_convex_hull(flat.iter().copied()));
        let line = made(Collider::try_polyline(flat.iter().copied()));
        let in_plane: Vec<_> = flat.iter().map(|p| p.extend(0.0)).collect();
        let heights: Vec<_> = points.iter().take(4).map(|p| p.y).collect();
        let corners = [(-1.0, -2.0), (1.0, -2.0), (-1.0, 2.0), (1.0, 2.0)];
        let field = corners.iter().zip(&heights);
        let field = field.map(|((x, z), y)| Vec3::new(*x, *y, *z)).collect();
        let size = Vec2::new(2.0, 4.0);
        let half_size = DVec3::from([(); 3].map(|()| random.random_range(0.1..2.0)));
        let normal = Dir3::new(point(random)).unwrap_or(Dir3::Z);
        let plane = Plane3d::new(*normal, Vec2::new(0.5, 1.5));
        let turn = DQuat::from_rotation_arc(DVec3::Y, normal.as_dvec3().normalize());
        vec![
            of_points("hull", hull, points.clone(), false),
            of_points("mesh", mesh.clone(), points.clone(), false),
            Boxed {
                height: {
                    let inner = of_points("", mesh.clone(), points, false).height;
                    Box::new(move |d| inner(d) + f64::from(0.3_f32))
                },
                ..of_points("mesh with a margin", mesh.rounded(0.3), vec![], false)
            },
            of_points("hull of the plane", flat_hull, in_plane.clone(), true),
            of_points("polyline", line, in_plane, true),
            of_points(
                "height field",
                made(Collider::try_heightfield(size, 2, &heights)),
                field,
                false,
            ),
            Boxed {
                name: "custom",
                planar: false,
                height: Box::new(move |d| (half_size * d).length()),
                collider: Collider::custom(Custom(half_size)),
            },
            Boxed {
                name: "plane with an end",
                planar: false,
                height: Box::new(move |d| {
                    let (x, z) = ((turn * DVec3::X).dot(d), (turn * DVec3::Z).dot(d));
                    0.5 * x.abs() + 1.5 * z.abs()
                }),
                collider: plane.into(),
            },
        ]
    }

    /// Returns all shapes of one dimension as one compound, each in a pose, with a margin.
    fn together(parts: Vec<Truth>, random: &mut StdRng) -> Boxed {
        let planar = parts[0].planar;
        let margin = 0.25;
        let mut heights: Vec<Box<dyn Fn(DVec3) -> f64>> = vec![];
        let mut colliders = vec![];
        for part in parts {
            let place = transform(planar, random);
            let rotation = place.rotation.as_dquat().normalize();
            let at = place.translation.as_dvec3();
            let height = part.height;
            heights.push(Box::new(move |d| {
                height(rotation.inverse() * d) + at.dot(d)
            }));
            colliders.push((place, part.collider));
        }
        let compound = if planar {
            let pose = |place: Transform| {
                Isometry2d::new(
                    place.translation.truncate(),
                    // The angle comes from the rotation itself, not from a rotated vector.
                    Rot2::radians(2.0 * place.rotation.z.atan2(place.rotation.w)),
                )
            };
            Collider::try_compound(colliders.into_iter().map(|(at, it)| (pose(at), it)))
        } else {
            Collider::try_compound(colliders.into_iter().map(|(at, it)| (at.to_isometry(), it)))
        };
        Boxed {
            name: "compound",
            planar,
            height: Box::new(move |d| {
                let heights = heights.iter().map(|height| height(d));
                heights.fold(f64::MIN, f64::max) + margin
            }),
            collider: compound.expect("it has parts").rounded(margin as f32),
        }
    }

    fn boxed(random: &mut StdRng) -> Vec<Boxed> {
        let several = [of_the_plane(random), of_space(random)];
        let several = several.map(|parts| together(parts, random));
        let single = of_the_plane(random).into_iter().chain(of_space(random));
        let mut all: Vec<Boxed> = single.map(Boxed::from).collect();
        all.extend(of_many_points(random));
        all.extend(several);
        all
    }

    /// Returns the transforms of an entity and its parent, which together shear. Sometimes one
    /// transform is flat along an axis.
    fn under_a_parent(planar: bool, random: &mut StdRng) -> [Transform; 2] {
        let mut any = |size: f32| {
            let mut any = transform(planar, random);
            any.translation *= size;
            if random.random_bool(0.1) {
                any.scale[random.random_range(0..2)] = 0.0;
            }
            any
        };
        let (own, mut parent) = (any(0.5), any(1.0));
        parent.translation *= [0.0, 1.0, 100.0][random.random_range(0..3)];
        [own, parent]
    }

    /// Returns the box around a shape under an affine map, from its support heights along the
    /// world's axes: d · (M x + t) is (Mᵀ d) · x + d · t.
    fn corners(it: &Boxed, [own, parent]: &[Transform; 2]) -> [DVec3; 2] {
        let map = |transform: &Transform| {
            let rotation = DMat3::from_quat(transform.rotation.as_dquat().normalize());
            rotation * DMat3::from_diagonal(transform.scale.as_dvec3())
        };
        let linear = map(parent) * map(own);
        let at = map(parent) * own.translation.as_dvec3() + parent.translation.as_dvec3();
        let reach = |direction: DVec3| {
            let inner = linear.transpose() * direction;
            let inner = if it.planar { inner.with_z(0.0) } else { inner };
            let length = inner.length();
            let height = if length > 0.0 {
                length * (it.height)(inner / length)
            } else {
                0.0
            };
            height + direction.dot(at)
        };
        [-1.0, 1.0].map(|sign| {
            let axes = [DVec3::X, DVec3::Y, DVec3::Z];
            let corner = DVec3::from(axes.map(|axis| sign * reach(sign * axis)));
            if it.planar {
                corner.with_z(0.0)
            } else {
                corner
            }
        })
    }

    /// Asserts that a point at each end of the box is a candidate, and that no point beyond a side
    /// of the box is a candidate.
    fn look_at_the_box(app: &mut App, it: &Boxed, transforms: &[Transform; 2]) {
        let [min, max] = corners(it, transforms);
        let diagonal = (max - min).length();
        let farthest = min.abs().max(max.abs()).max_element();
        // This distance includes the rounding of a side and a probe to f32.
        let near = TIGHT * diagonal + 4.0 * f64::from(f32::EPSILON) * farthest;
        // Each end is rounded to the nearest f32 toward the middle.
        let ends = [(min, max), (max, min)].map(|(end, other)| {
            let inward = |end: f64, other: f64| {
                let rounded = end as f32;
                let is_beyond = (f64::from(rounded) - end) * (other - end) < 0.0;
                match is_beyond || (end == other && f64::from(rounded) != end) {
                    true if other > end => rounded.next_up(),
                    true if other < end => rounded.next_down(),
                    _ => rounded,
                }
            };
            let (end, other) = (end.to_array(), other.to_array());
            Vec3::from([0, 1, 2].map(|axis| inward(end[axis], other[axis])))
        });
        let axes = &[DVec3::X, DVec3::Y, DVec3::Z][..if it.planar { 2 } else { 3 }];
        let beside = axes.iter().flat_map(|axis| {
            let outward = *axis * near;
            [(max + outward).as_vec3(), (min - outward).as_vec3()]
        });
        let beside: Vec<_> = beside.collect();
        let probe = || {
            let probe = if it.planar {
                Collider::try_convex_hull([Vec2::ZERO])
            } else {
                Collider::try_convex_hull([Vec3::ZERO])
            };
            probe.expect("a point")
        };
        let [own, parent] = *transforms;
        let world = app.world_mut();
        let parent = world.spawn(parent).id();
        world.spawn((it.collider.clone(), own, ChildOf(parent)));
        let probes: Vec<_> = beside
            .iter()
            .map(|at| {
                world
                    .spawn((probe(), Transform::from_translation(*at)))
                    .id()
            })
            .collect();
        let candidates = |world: &mut World| {
            world.run_schedule(Tick);
            world.resource::<CollisionDiagnostics>().candidates
        };
        let name = it.name;
        let found = candidates(world);
        assert_eq!(
            found, 0,
            "{name} from {min} to {max} is too large: {transforms:?}"
        );
        // The probes are spawned one after the other, because they might touch each other.
        for end in ends {
            let end = world.spawn((probe(), Transform::from_translation(end)));
            let end = end.id();
            let found = candidates(world);
            assert_eq!(
                found, 1,
                "{name} from {min} to {max} is too small: {transforms:?}"
            );
            world.despawn(end);
        }
        world.despawn(parent);
        probes.into_iter().for_each(|probe| {
            world.despawn(probe);
        });
        world.run_schedule(Tick);
        world.resource_mut::<Messages<CollisionEvent>>().clear();
    }

    /// A schedule with nothing but the tick.
    #[derive(bevy::ecs::schedule::ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Tick;

    #[test]
    fn boxes_are_tight_around_shapes_under_any_affine_map() {
        let count = number("HEADBUTT_BOXES").unwrap_or(USUAL);
        let random = &mut StdRng::seed_from_u64(5);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Tick)));
        let mut done = 0;
        while done < count {
            for it in boxed(random) {
                for _ in 0..4 {
                    let transforms = under_a_parent(it.planar, random);
                    look_at_the_box(&mut app, &it, &transforms);
                    done += 1;
                }
            }
        }
        println!("{done} boxes");
    }

    #[test]
    fn surfaces_are_exact_under_any_affine_map() {
        let mut random = StdRng::seed_from_u64(6);
        for _ in 0..8 {
            let mut truths = of_the_plane(&mut random);
            truths.extend(of_space(&mut random));
            for truth in truths {
                let transform = transform(truth.planar, &mut random);
                let rotation = transform.rotation.as_dquat().normalize();
                let scale = transform.scale.as_dvec3();
                // The probe is outside of a random support plane of the image, or inside, by a ten
                // thousandth of the size. The point of the image next to it is known.
                let direction = truth.direction(&mut random);
                let inner = (rotation.inverse() * direction) * scale;
                let core = (truth.support)(inner);
                let surface = core + inner.normalize() * truth.radius;
                let at = rotation * (surface * scale) + transform.translation.as_dvec3();
                let near = 1e-4 * (truth.size + 1.0);
                let away = (at + direction * near).as_vec3();
                let probe = || {
                    if truth.planar {
                        Collider::try_convex_hull([Vec2::ZERO]).expect("a point")
                    } else {
                        Collider::try_convex_hull([Vec3::ZERO]).expect("a point")
                    }
                };
                let (mut app, _) = app_with(truth.collider.clone(), transform);
                let world = app.world_mut();
                world.spawn((probe(), Transform::from_translation(away)));
                let name = truth.name;
                let record = tick(&mut app);
                assert!(record.is_empty(), "{name} at {transform:?}: {record:?}");
                // This probe is enlarged so that it reaches the shape.
                let reaching = probe().rounded(near as f32 * 1.01);
                let place = Transform::from_translation(away);
                app.world_mut().spawn((reaching, place));
                let reached = tick(&mut app);
                // The hits include the first probe.
                let hits = reached.messages.len();
                assert_eq!(hits, 2, "{name} at {transform:?}: {reached:?}");
            }
        }
    }
}
