//! Compares contacts of half-spaces and every other shape with closed forms, in queries and in
//! ticks. In ticks, any affine map may act on both shapes.

use core::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use std::collections::BTreeMap;

use crate::oracle::cases::{Diamond, Dimension, Ellipsoid};
use crate::support::{
    Dimension as Side, app, assert_phases_alternate, frame, start, tick, transform, watch,
};
use bevy::{
    math::{DMat3, DQuat, DVec2, DVec3, Dir2, Isometry2d, Isometry3d},
    prelude::*,
};
use headbutt::{CollisionDiagnostics, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The support height of a shape along a vector, times the length of the vector.
type Height = Box<dyn Fn(DVec3) -> f64>;

/// A shape, and its properties, which do not come from its support function.
struct Figure<V> {
    name: &'static str,
    shape: Box<dyn Support<Vector = V>>,
    collider: Collider,
    height: Height,
}

impl<V> Figure<V> {
    fn new(
        name: &'static str,
        shape: impl Support<Vector = V> + 'static,
        collider: impl Into<Collider>,
        height: impl Fn(DVec3) -> f64 + 'static,
    ) -> Self {
        Self {
            name,
            shape: Box::new(shape),
            collider: collider.into(),
            height: Box::new(height),
        }
    }
}

/// Returns the support height of the hull of points, with a radius around the hull.
fn of_points(points: impl IntoIterator<Item = Vec3>, radius: f32) -> impl Fn(DVec3) -> f64 {
    let points: Vec<_> = points.into_iter().map(Vec3::as_dvec3).collect();
    move |d| {
        let heights = points.iter().map(|point| point.dot(d));
        heights.fold(f64::NEG_INFINITY, f64::max) + f64::from(radius) * d.length()
    }
}

/// Returns the support height of a box, from its corners.
fn of_box(half_size: Vec3) -> impl Fn(DVec3) -> f64 {
    move |d| d.abs().dot(half_size.as_dvec3())
}

/// A dimension with its half-spaces.
trait Ground: Dimension + headbutt::Dimension {
    /// Returns Bevy's own half-space with a normal of any length.
    fn ground(normal: Vec3) -> (Box<dyn Support<Vector = Self>>, Collider);

    /// Returns the unit normal of the half-space.
    fn normal(normal: Vec3) -> DVec3;

    /// Returns the same half-space with a margin.
    fn raised(normal: Vec3, margin: f32) -> Box<dyn Support<Vector = Self>>;

    fn figures() -> Vec<Figure<Self>>;

    /// Returns the effect of a 3D map on the vectors of this dimension.
    fn seen(linear: DMat3) -> DMat3;
}

impl Ground for Vec2 {
    fn ground(normal: Vec3) -> (Box<dyn Support<Vector = Self>>, Collider) {
        let plane = Plane2d::new(normal.truncate());
        (Box::new(plane), plane.into())
    }

    fn normal(normal: Vec3) -> DVec3 {
        let normal = Plane2d::new(normal.truncate()).normal;
        normal.extend(0.0).as_dvec3().normalize()
    }

    fn raised(normal: Vec3, margin: f32) -> Box<dyn Support<Vector = Self>> {
        Box::new(Rounded::new(Plane2d::new(normal.truncate()), margin))
    }

    fn figures() -> Vec<Figure<Self>> {
        let points = [
            Vec2::new(-0.5, -0.25),
            Vec2::new(1.5, 0.25),
            Vec2::new(0.0, 1.0),
        ];
        let flat = |points: &[Vec2]| points.iter().map(|it| it.extend(0.0)).collect::<Vec<_>>();
        let circle = Circle::new(0.75);
        let block = Rectangle::new(2.0, 0.5);
        let capsule = Capsule2d::new(0.25, 2.0);
        let segment = Segment2d::new(points[0], points[1]);
        let hull = ConvexHull::new(points).expect("points");
        let ellipse = Ellipse::new(0.5, 2.0);
        let half_size = Vec2::new(0.5, 1.5);
        let own = move || Diamond {
            half_size,
            radius: 0.25,
        };
        let rounded = Rounded::new(block, 0.25);
        vec![
            Figure::new("circle", circle, circle, of_points([Vec3::ZERO], 0.75)),
            Figure::new("box", block, block, of_box(Vec3::new(1.0, 0.25, 0.0))),
            Figure::new(
                "capsule",
                capsule,
                capsule,
                of_points([Vec3::Y, Vec3::NEG_Y], 0.25),
            ),
            Figure::new("hull", hull.clone(), hull, of_points(flat(&points), 0.0)),
            Figure::new(
                "segment",
                segment,
                segment,
                of_points(flat(&points[..2]), 0.0),
            ),
            Figure::new("ellipse", ellipse, ellipse, |d| {
                (d * DVec3::new(0.5, 2.0, 0.0)).length()
            }),
            Figure::new("custom", own(), Collider::custom(own()), {
                let [x, y] = [Vec3::X * 0.5, Vec3::Y * 1.5];
                of_points([x, -x, y, -y], 0.25)
            }),
            Figure::new("rounded", rounded, rounded, {
                let core = of_box(Vec3::new(1.0, 0.25, 0.0));
                move |d| core(d) + 0.25 * d.length()
            }),
        ]
    }

    fn seen(linear: DMat3) -> DMat3 {
        let [x, y] = [linear.x_axis, linear.y_axis].map(|axis| DVec3::new(axis.x, axis.y, 0.0));
        DMat3::from_cols(x, y, DVec3::Z)
    }
}

impl Ground for Vec3 {
    fn ground(normal: Vec3) -> (Box<dyn Support<Vector = Self>>, Collider) {
        let plane = InfinitePlane3d::new(normal);
        (Box::new(plane), plane.into())
    }

    fn normal(normal: Vec3) -> DVec3 {
        InfinitePlane3d::new(normal).normal.as_dvec3().normalize()
    }

    fn raised(normal: Vec3, margin: f32) -> Box<dyn Support<Vector = Self>> {
        Box::new(Rounded::new(InfinitePlane3d::new(normal), margin))
    }

    fn figures() -> Vec<Figure<Self>> {
        let points = [
            Vec3::new(-0.5, -0.25, 0.0),
            Vec3::new(1.5, 0.25, 0.5),
            Vec3::new(0.0, 1.0, -0.5),
            Vec3::new(0.25, 0.0, 1.0),
            Vec3::new(0.25, 0.25, 0.25),
        ];
        let ball = Sphere::new(0.75);
        let block = Cuboid::new(2.0, 0.5, 1.0);
        let capsule = Capsule3d::new(0.25, 2.0);
        let cylinder = Cylinder::new(0.5, 3.0);
        let cone = Cone::new(1.0, 2.0);
        let hull = ConvexHull::new(points).expect("points");
        let segment = Segment3d::new(points[0], points[1]);
        let half_size = Vec3::new(0.5, 1.5, 1.0);
        let own = move || Ellipsoid { half_size };
        let rounded = Rounded::new(cylinder, 0.25);
        let plate = Plane3d::new(Vec3::Y, Vec2::new(1.0, 0.5));
        let around = |d: DVec3| d.x.hypot(d.z);
        vec![
            Figure::new("ball", ball, ball, of_points([Vec3::ZERO], 0.75)),
            Figure::new("box", block, block, of_box(Vec3::new(1.0, 0.25, 0.5))),
            Figure::new(
                "capsule",
                capsule,
                capsule,
                of_points([Vec3::Y, Vec3::NEG_Y], 0.25),
            ),
            Figure::new("cylinder", cylinder, cylinder, move |d| {
                1.5 * d.y.abs() + 0.5 * around(d)
            }),
            Figure::new("cone", cone, cone, move |d| d.y.max(around(d) - d.y)),
            Figure::new("hull", hull.clone(), hull, of_points(points, 0.0)),
            Figure::new(
                "segment",
                segment,
                segment,
                of_points([points[0], points[1]], 0.0),
            ),
            Figure::new("custom", own(), Collider::custom(own()), move |d| {
                (d * half_size.as_dvec3()).length()
            }),
            Figure::new("rounded", rounded, rounded, move |d| {
                1.5 * d.y.abs() + 0.5 * around(d) + 0.25 * d.length()
            }),
            Figure::new("plate", plate, plate, of_box(Vec3::new(1.0, 0.0, 0.5))),
        ]
    }

    fn seen(linear: DMat3) -> DMat3 {
        linear
    }
}

fn vector(random: &mut StdRng) -> Vec3 {
    loop {
        let vector = Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if vector.truncate().length() > 0.1 {
            return vector;
        }
    }
}

/// Returns a random rotation, sometimes the identity.
fn rotation(random: &mut StdRng) -> Quat {
    if random.random_bool(0.2) {
        return Quat::IDENTITY;
    }
    Quat::from_axis_angle(vector(random).normalize(), random.random_range(-PI..PI))
}

/// The rounding of a number of size 1 to f32.
const GRAIN: f64 = 1.2e-7;

/// A half-space and a figure, in poses with about the requested signed distance.
struct Case<V: Ground> {
    ground: Box<dyn Support<Vector = V>>,
    pose: V::Isometry,
    figure_pose: V::Isometry,
    /// The outward normal of the half-space.
    normal: DVec3,
    /// The exact signed distance.
    gap: f64,
    /// A point of the half-space's boundary.
    origin: DVec3,
    /// The figure's lowest support height in the world.
    lowest: f64,
    /// The largest coordinate.
    size: f64,
}

impl<V: Ground> Case<V> {
    fn new(figure: &Figure<V>, gap: f64, aside: f32, far: f32, random: &mut StdRng) -> Self {
        let own_normal = vector(random);
        let margin = if random.random_bool(0.3) { 0.5 } else { 0.0 };
        let ground = if margin > 0.0 {
            V::raised(own_normal, margin)
        } else {
            let (ground, _) = V::ground(own_normal);
            ground
        };
        let place = V::of(vector(random) * 3.0 + far * vector(random));
        let pose = V::isometry(rotation(random), place.to_vec3());
        let (matrix, _) = V::map(pose);
        let normal = matrix * V::normal(own_normal);

        let turn = rotation(random);
        let (figure_matrix, _) = V::map(V::isometry(turn, Vec3::ZERO));
        let below = (figure.height)(figure_matrix.transpose() * -normal);
        let level = gap + f64::from(margin) + below;
        let aside = V::of(vector(random) * aside).deep();
        let along = aside - normal * aside.dot(normal);
        let figure_place = V::of((place.deep() + along + normal * level).as_vec3());
        let lowest = normal.dot(figure_place.deep() - place.deep()) - below;
        Self {
            ground,
            pose,
            figure_pose: V::isometry(turn, figure_place.to_vec3()),
            normal,
            gap: lowest - f64::from(margin),
            origin: place.deep() + normal * f64::from(margin),
            lowest: normal.dot(figure_place.deep()) - below,
            size: place.deep().length() + figure_place.deep().length(),
        }
    }
}

#[track_caller]
fn near(actual: f64, expected: f64, limit: f64) {
    assert!(
        (actual - expected).abs() <= limit,
        "{actual:e} is not {expected:e}, but for {limit:e}"
    );
}

/// Checks overlap, contact and distance, in both orders. Returns `true` if the shapes touch.
fn check<V: Ground>(figure: &Figure<V>, case: &Case<V>) -> bool {
    let Case {
        pose,
        figure_pose,
        normal,
        gap,
        ..
    } = *case;
    let (ground, shape) = (&case.ground, &figure.shape);
    let contact = query::contact(ground, pose, shape, figure_pose);
    let swapped = query::contact(shape, figure_pose, ground, pose);
    let apart = query::distance(ground, pose, shape, figure_pose);
    let apart_swapped = query::distance(shape, figure_pose, ground, pose);
    assert_eq!(
        query::intersects(ground, pose, shape, figure_pose),
        contact.is_some()
    );

    // These limits cover the rounding of the computation in f64, and of the points' coordinates to
    // f32.
    let exact = 1e-14 * (case.size + 10.0);
    let grain = 2.0 * GRAIN * case.size + 1e-6;
    let on_plane = |point: V| near(normal.dot(point.deep() - case.origin), 0.0, grain);
    let lowest = |point: V| near(normal.dot(point.deep()), case.lowest, grain);

    assert_eq!(apart.distance, apart_swapped.distance);
    assert_eq!(
        [apart.point_a, apart.point_b],
        [apart_swapped.point_b, apart_swapped.point_a]
    );
    // Shapes that touch within the tolerance are not separated.
    let hit = contact.is_some();
    let expected = if hit { 0.0 } else { gap.max(0.0) };
    near(apart.distance.into(), expected, GRAIN * gap.abs() + exact);
    assert_eq!(apart.distance == 0.0, hit);

    let Some(contact) = contact else {
        assert!(gap > 0.0, "{} misses at {gap:e}", figure.name);
        assert!(swapped.is_none());
        on_plane(apart.point_a);
        lowest(apart.point_b);
        return false;
    };
    let swapped = swapped.expect("a contact from either side");
    // The largest shape has a size of about 4.
    assert!(gap <= 4.0 * GRAIN, "{} hits at {gap:e}", figure.name);
    assert!((contact.normal.deep() - normal).length() < 2.0 * GRAIN);
    near(
        contact.depth.into(),
        (-gap).max(0.0),
        GRAIN * gap.abs() + exact,
    );
    on_plane(contact.point_a);
    lowest(contact.point_b);
    let between = contact.point_a.deep() - contact.point_b.deep();
    let depth = f64::from(contact.depth);
    assert!((between - normal * depth).length() < grain + 1e-6 * depth);

    assert_eq!(swapped.normal.deep(), -contact.normal.deep());
    assert_eq!(swapped.depth, contact.depth);
    assert_eq!(
        [swapped.point_a, swapped.point_b],
        [contact.point_b, contact.point_a]
    );
    // Each of these points belongs to both shapes.
    for point in [apart.point_a, apart.point_b] {
        assert!(normal.dot(point.deep() - case.origin) < grain);
        assert!(point.deep().distance(apart.point_a.deep()) < grain);
        let (matrix, place) = V::map(figure_pose);
        for way in [normal, -normal, DVec3::X, DVec3::NEG_Y] {
            let height = (figure.height)(matrix.transpose() * way);
            assert!(way.dot(point.deep() - place) < height + grain);
        }
    }
    true
}

fn in_closed_form<V: Ground>(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    for figure in V::figures() {
        let mut hits = 0;
        for number in 0..600 {
            let gap = match number % 6 {
                0 => random.random_range(-100.0..0.0),
                1 => random.random_range(-1.0..0.0),
                2 => random.random_range(0.0..1.0),
                3 => random.random_range(0.0..1e4),
                4 => random.random_range(-1e-6..1e-6),
                _ => -1e6,
            };
            let aside = [0.0, 10.0, 1e5][number % 3];
            let far = [0.0, 0.0, 1e5, 1e10][number / 3 % 4];
            let case = Case::new(&figure, gap, aside, far, &mut random);
            hits += usize::from(check(&figure, &case));
        }
        assert!((200..400).contains(&hits), "{} hits {hits}", figure.name);
    }
}

#[test]
fn a_half_space_meets_every_2d_shape_in_closed_form() {
    in_closed_form::<Vec2>(1);
}

#[test]
fn a_half_space_meets_every_3d_shape_in_closed_form() {
    in_closed_form::<Vec3>(2);
}

#[test]
fn touching_a_half_space_is_depth_0_and_the_next_larger_gap_is_none() {
    let ground = InfinitePlane3d::new(Vec3::Y);
    for far in [0.0, 1e5] {
        let at = |y| Isometry3d::from_xyz(far, y, -far);
        let (ball, block) = (Sphere::new(0.5), Cuboid::new(1.0, 1.0, 1.0));
        let contact = |shape: &dyn Support<Vector = Vec3>, y| {
            query::contact(&ground, Isometry3d::IDENTITY, shape, at(y))
        };
        for shape in [&ball as &dyn Support<Vector = Vec3>, &block] {
            let touching = contact(shape, 0.5).expect("they touch");
            assert_eq!((touching.normal, touching.depth), (Vec3::Y, 0.0));
            assert_eq!(touching.point_a, touching.point_b);
            assert!(contact(shape, 0.5 - 1e-6).expect("they overlap").depth > 0.9e-6);
            assert!(contact(shape, 0.5 + 1e-6).is_none());
        }
    }
    // The size of a point is 0.
    let at = |y| Isometry3d::from_xyz(0.0, y, 0.0);
    let point = |y| query::intersects(&ground, at(0.0), &Vec3::ZERO, at(y));
    assert!(point(0.0) && point(-1e-30) && !point(1e-30));
    // Far along the boundary, the position of the point is rounded more.
    let far = |y| Isometry3d::from_xyz(1e5, y, 0.0);
    for (y, expected) in [(1e-7, true), (1e-6, false)] {
        let hit = query::intersects(&ground, at(0.0), &Vec3::ZERO, far(y));
        assert_eq!(hit, expected);
        let mut app = app();
        let world = app.world_mut();
        let one = Collider::try_convex_hull([Vec3::ZERO]).expect("a point");
        world.spawn((one, Transform::from_xyz(1e5, y, 0.0)));
        world.spawn(Collider::from(ground));
        assert_eq!(!tick(&mut app).is_empty(), expected);
    }
    // The same holds in any unit.
    for unit in [1e-15, 1e-3, 1e3, 1e15] {
        let ball = Sphere::new(0.5 * unit);
        let hits = |y: f32| query::intersects(&ground, at(0.0), &ball, at(y * unit));
        assert!(hits(0.5) && hits(0.499999) && !hits(0.500001));
    }
}

#[test]
fn two_half_spaces_never_touch() {
    let mut random = StdRng::seed_from_u64(3);
    let up = InfinitePlane3d::new(Vec3::Y);
    for number in 0..50 {
        let pose = |random: &mut StdRng| Isometry3d::new(vector(random), rotation(random));
        let (pose_a, mut pose_b) = (pose(&mut random), pose(&mut random));
        if number % 5 == 0 {
            pose_b = pose_a;
        }
        let other = Rounded::new(InfinitePlane3d::new(vector(&mut random)), 0.5);
        assert!(!query::intersects(&up, pose_a, &other, pose_b));
        assert!(query::contact(&other, pose_a, &up, pose_b).is_none());
        assert!(query::manifold(&up, pose_a, &up, pose_b).is_none());
        let apart = query::distance(&up, pose_a, &other, pose_b);
        assert_eq!(apart.distance, f32::INFINITY);
        assert!(apart.point_a.is_nan() && apart.point_b.is_nan());
    }
}

#[test]
fn a_half_space_touches_no_invalid_shape_or_pose() {
    struct No(DVec2, f64);
    impl Support for No {
        type Vector = Vec2;

        fn support(&self, _: DVec2) -> DVec2 {
            self.0
        }
        fn radius(&self) -> f64 {
            self.1
        }
    }

    let (ground, at) = (Plane2d::new(Vec2::Y), Isometry2d::from_xy);
    let none = |shape: &dyn Support<Vector = Vec2>, pose: Isometry2d| {
        assert!(!query::intersects(&ground, at(0.0, 0.0), shape, pose));
        assert!(!query::intersects(shape, pose, &ground, at(0.0, 0.0)));
        let apart = query::distance(&ground, at(0.0, 0.0), shape, pose);
        assert_eq!(apart.distance, f32::INFINITY);
    };
    for shape in [
        No(DVec2::NAN, 0.0),
        No(DVec2::NEG_INFINITY, 0.0),
        No(DVec2::ZERO, -1.0),
        No(DVec2::ZERO, f64::NAN),
        No(DVec2::ZERO, f64::INFINITY),
    ] {
        none(&shape, at(0.0, -5.0));
    }
    none(&[Vec2::ZERO; 0], at(0.0, -5.0));
    none(&Circle::new(1.0), at(0.0, f32::NAN));
    none(&Circle::new(1.0), at(0.0, f32::NEG_INFINITY));
    let below = (at(0.0, 0.0), Circle::new(1.0), at(0.0, -9.0));
    for margin in [-1.0, f32::NAN, f32::INFINITY] {
        let raised = Rounded::new(ground, margin);
        assert!(!query::intersects(&raised, below.0, &below.1, below.2));
    }
    // The components of the normal are NaN.
    let nowhere = Plane2d {
        normal: Dir2::from_angle(f32::NAN),
    };
    assert!(!query::intersects(&nowhere, below.0, &below.1, below.2));
    let error = Collider::try_new(nowhere).expect_err("no direction");
    assert_eq!(error, ShapeError::NotFinite("normal"));
}

#[test]
fn a_half_plane_cannot_be_extruded() {
    let wall = Extrusion::new(Plane2d::new(Vec2::Y), 1.0);
    let error = Collider::try_new(wall).expect_err("no end");
    assert_eq!(error, ShapeError::Unbounded("a half-plane"));
    let at = Isometry3d::IDENTITY;
    assert!(!query::intersects(&wall, at, &Sphere::new(1.0), at));
}

#[test]
fn a_half_space_behind_a_reference_or_box_answers_the_same() {
    let ground = Plane2d::new(Vec2::Y);
    let (ball, at) = (Circle::new(1.0), Isometry2d::from_xy);
    let boxed: Box<dyn Support<Vector = Vec2>> = Box::new(ground);
    let shared = std::sync::Arc::new(ground);
    let depth = |shape: &dyn Support<Vector = Vec2>| {
        let contact = query::contact(shape, at(0.0, 0.0), &ball, at(7.0, 0.25));
        contact.expect("they overlap").depth
    };
    assert_eq!([depth(&&ground), depth(&boxed), depth(&shared)], [0.75; 3]);
    let own = Collider::custom(ground);
    let mut app = app();
    app.world_mut().spawn(own);
    app.world_mut()
        .spawn((Collider::from(ball), Transform::from_xyz(7.0, 0.25, 0.0)));
    assert_eq!(tick(&mut app).only().depth, 0.75);
}

/// Asserts that the manifold of a shape on the ground has `count` points, with the right depths,
/// and the deepest point first.
fn rests<V: Ground>(
    ground: &impl Support<Vector = V>,
    shape: &impl Support<Vector = V>,
    pose: V::Isometry,
    count: usize,
) {
    for (ground_pose, pose) in [
        (V::isometry(Quat::IDENTITY, Vec3::ZERO), pose),
        // A rotation of the whole scene may change the order of the pair.
        {
            let turn = V::isometry(Quat::from_rotation_z(2.0), Vec3::new(5.0, 3.0, 1.0));
            (turn, V::after(turn, pose))
        },
    ] {
        let manifold = query::manifold(ground, ground_pose, shape, pose).expect("they touch");
        let contact = query::contact(ground, ground_pose, shape, pose).expect("they touch");
        let (matrix, origin) = V::map(ground_pose);
        let normal = matrix * DVec3::Y;
        assert!((manifold.normal.deep() - normal).length() < 1e-6);
        assert_eq!(manifold.points().len(), count, "{manifold:#?}");
        near(
            manifold.points()[0].depth.into(),
            contact.depth.into(),
            1e-6,
        );
        for point in manifold.points() {
            assert!(point.depth <= manifold.points()[0].depth);
            let height = |point: V| normal.dot(point.deep() - origin);
            near(height(point.point_a), 0.0, 2e-6);
            near(height(point.point_b), -f64::from(point.depth), 2e-6);
        }
        let swapped = query::manifold(shape, pose, ground, ground_pose).expect("they touch");
        let points = manifold.points().iter().zip(swapped.points());
        for (point, swapped) in points {
            assert_eq!(
                (point.depth, point.point_a, point.point_b),
                (swapped.depth, swapped.point_b, swapped.point_a)
            );
        }
        assert_eq!(swapped.points().len(), count);
    }
}

#[test]
fn the_manifold_on_a_half_space_has_the_corners_of_the_resting_feature() {
    let ground = InfinitePlane3d::new(Vec3::Y);
    let at = |y: f32, turn: Quat| Isometry3d::new(Vec3::new(3.0, y, -2.0), turn);
    let flat = Quat::IDENTITY;
    let lying = Quat::from_rotation_z(FRAC_PI_2);
    let block = Cuboid::new(2.0, 1.0, 3.0);
    for y in [0.5, 0.4, -3.0] {
        rests(&ground, &block, at(y, flat), 4);
        rests(&ground, &block, at(y, Quat::from_rotation_y(1.0)), 4);
    }
    // The block stands on an edge, and on a corner.
    let on_edge = Quat::from_rotation_x(FRAC_PI_4);
    rests(&ground, &block, at(1.0, on_edge), 2);
    let on_corner = Quat::from_rotation_z(FRAC_PI_4) * on_edge;
    rests(&ground, &block, at(1.0, on_corner), 1);
    // The block is slightly tilted. All four lower corners are below the ground, and then two of
    // these corners are above the ground.
    let tilted = Quat::from_rotation_z(0.01);
    rests(&ground, &block, at(0.25, tilted), 4);
    rests(&ground, &block, at(0.5, tilted), 2);

    let cylinder = Cylinder::new(0.5, 3.0);
    rests(&ground, &cylinder, at(0.5, lying), 2);
    rests(&ground, &cylinder, at(-0.25, lying), 2);
    rests(&ground, &cylinder, at(1.5, flat), 4);
    rests(&ground, &Capsule3d::new(0.5, 2.0), at(0.5, lying), 2);
    rests(&ground, &Capsule3d::new(0.5, 2.0), at(1.25, flat), 1);
    rests(&ground, &Sphere::new(0.5), at(0.25, flat), 1);
    rests(&ground, &Rounded::new(block, 0.25), at(0.7, flat), 4);
    let raised = Rounded::new(ground, 0.0);
    rests(&raised, &block, at(0.5, flat), 4);

    let ground = Plane2d::new(Vec2::Y);
    let at = |y: f32, turn: f32| Isometry2d::new(Vec2::new(3.0, y), Rot2::radians(turn));
    rests(&ground, &Rectangle::new(3.0, 1.0), at(0.5, 0.0), 2);
    rests(&ground, &Rectangle::new(3.0, 1.0), at(0.25, 0.01), 2);
    rests(&ground, &Rectangle::new(3.0, 1.0), at(0.25, FRAC_PI_4), 1);
    rests(&ground, &Capsule2d::new(0.5, 2.0), at(0.5, FRAC_PI_2), 2);
    rests(&ground, &Circle::new(0.5), at(0.5, 0.0), 1);
}

#[test]
fn translating_both_shapes_changes_no_bit() {
    let (ground, block) = (
        InfinitePlane3d::new(Vec3::new(1.0, 2.0, -0.5)),
        Cuboid::new(2.0, 1.0, 3.0),
    );
    let turn = Quat::from_rotation_x(0.3);
    let contact = |way: Vec3| {
        let pose = Isometry3d::new(way + Vec3::new(0.5, 0.25, -1.0), turn);
        query::contact(&ground, Isometry3d::from_translation(way), &block, pose)
    };
    let here = contact(Vec3::ZERO).expect("they overlap");
    for way in [Vec3::new(1024.0, 0.0, 0.0), Vec3::new(-65536.0, 512.0, 1e5)] {
        let there = contact(way).expect("they overlap");
        assert_eq!((there.normal, there.depth), (here.normal, here.depth));
    }
}

#[test]
fn a_half_space_query_allocates_nothing() {
    let ground = InfinitePlane3d::new(Vec3::Y);
    let (block, at) = (Cuboid::new(2.0, 1.0, 3.0), Isometry3d::from_xyz);
    let counted = allocation_counter::measure(|| {
        let (pose_a, pose_b) = (at(0.0, 0.0, 0.0), at(0.0, 0.25, 0.0));
        assert!(query::contact(&ground, pose_a, &block, pose_b).is_some());
        assert!(query::manifold(&ground, pose_a, &block, pose_b).is_some());
        let _ = query::distance(&ground, pose_a, &block, pose_b);
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_finite_plane_lies_as_bevys_mesh_of_it() {
    let mut random = StdRng::seed_from_u64(4);
    let near_down = [1e-2, 1e-3, 3e-4].map(|tilt| Vec3::new(tilt, -1.0, 0.5 * tilt));
    let normals = (0..200).map(|_| vector(&mut random)).chain(near_down);
    for normal in normals.collect::<Vec<_>>() {
        let plane = Plane3d::new(normal, Vec2::new(2.0, 0.5));
        let turn = Quat::from_rotation_arc(Vec3::Y, *plane.normal);
        let corners = [(2.0, 0.5), (2.0, -0.5), (-2.0, 0.5), (-2.0, -0.5)]
            .map(|(x, z)| turn * Vec3::new(x, 0.0, z));
        // The limit is glam's own rounding of the sine of an angle near a half turn.
        let limit = if plane.normal.y < -0.999 { 2e-3 } else { 5e-6 };
        for _ in 0..20 {
            let way = vector(&mut random).as_dvec3();
            let height = of_points(corners, 0.0);
            near(plane.support(way).dot(way), height(way), limit);
            assert!(plane.support(way).dot(normal.as_dvec3()).abs() < 1e-6);
        }
        let error = Collider::try_new(Plane3d::new(normal, Vec2::new(1.0, -1.0)));
        assert_eq!(
            error.expect_err("a negative size"),
            ShapeError::Negative("half size")
        );
    }
    let down = Plane3d::new(Vec3::NEG_Y, Vec2::new(2.0, 0.5));
    assert_eq!(down.support(DVec3::new(1.0, 5.0, -1.0)).abs(), {
        DVec3::new(2.0, 0.0, 0.5)
    });
}

/// An affine map in f64.
#[derive(Clone, Copy)]
struct Map {
    linear: DMat3,
    translation: DVec3,
}

impl Map {
    fn of(transform: &Transform) -> Self {
        let [x, y, z, w] = transform.rotation.to_array().map(f64::from);
        let rotation = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
        Self {
            linear: rotation * DMat3::from_diagonal(transform.scale.as_dvec3()),
            translation: transform.translation.as_dvec3(),
        }
    }

    fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            translation: self.linear * inner.translation + self.translation,
        }
    }
}

/// Spawns a collider under some parents, each with a random scale. Also returns the collider's
/// affine map.
fn spawn_mapped(
    app: &mut App,
    collider: Collider,
    spread: f32,
    random: &mut StdRng,
) -> (Entity, Map) {
    let world = app.world_mut();
    let transforms: Vec<_> = (0..random.random_range(1..4))
        .map(|_| {
            let mut scale = || {
                let size = random.random_range(0.25..2.5);
                if random.random_bool(0.3) { -size } else { size }
            };
            let scale = match scale() {
                uniform if uniform > 1.5 => Vec3::splat(uniform),
                _ => Vec3::new(scale(), scale(), scale()),
            };
            Transform {
                translation: vector(random) * spread,
                rotation: rotation(random),
                scale,
            }
        })
        .collect();
    let entity = world.spawn((collider, transforms[0])).id();
    let mut map = Map::of(&transforms[0]);
    let mut child = entity;
    for transform in &transforms[1..] {
        let parent = world.spawn(*transform).id();
        world.entity_mut(child).insert(ChildOf(parent));
        map = Map::of(transform).after(&map);
        child = parent;
    }
    (entity, map)
}

fn maps_exactly<V: Ground>(seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut hits, mut cases) = (0, 0);
    for _ in 0..12 {
        let mut app = app();
        let grounds: Vec<_> = (0..12)
            .map(|number| {
                let own = vector(&mut random);
                let margin = if number % 3 == 0 { 0.5 } else { 0.0 };
                let (_, collider) = V::ground(own);
                let collider = if margin > 0.0 {
                    collider.rounded(margin)
                } else {
                    collider
                };
                let (entity, map) = spawn_mapped(&mut app, collider, 2.0, &mut random);
                let (linear, own) = (V::seen(map.linear), V::normal(own));
                let normal = (linear.inverse().transpose() * own).normalize();
                let flat = |vector: DVec3| {
                    if V::PLANAR {
                        vector.with_z(0.0)
                    } else {
                        vector
                    }
                };
                let on_plane = flat(map.translation) + flat(linear * own * f64::from(margin));
                (entity, normal, on_plane)
            })
            .collect();
        let figures: Vec<_> = V::figures()
            .into_iter()
            .chain(V::figures())
            .map(|figure| {
                let (entity, map) =
                    spawn_mapped(&mut app, figure.collider.clone(), 2.0, &mut random);
                (entity, figure, map)
            })
            .collect();
        let messages = tick(&mut app).messages;
        for (ground, normal, on_plane) in &grounds {
            for (entity, figure, map) in &figures {
                let linear = V::seen(map.linear);
                let below = (figure.height)(linear.transpose() * -*normal);
                let gap = normal.dot(map.translation - *on_plane) - below;
                let found = messages.iter().find_map(|hit| {
                    let hit = hit.seen_from(*ground)?;
                    (hit.other == *entity).then_some(hit)
                });
                cases += 1;
                if gap.abs() < 1e-5 {
                    continue;
                }
                assert_eq!(found.is_some(), gap < 0.0, "{} at {gap:e}", figure.name);
                let Some(hit) = found else { continue };
                hits += 1;
                assert!((hit.normal.as_dvec3() - *normal).length() < 3.0 * GRAIN);
                near(hit.depth.into(), -gap, GRAIN * gap.abs() + 1e-12);
                let height = |point: Vec3| normal.dot(point.as_dvec3() - *on_plane);
                near(height(hit.point()), 0.0, 2e-5);
                near(height(hit.other_point()), gap, 2e-5);
            }
        }
        // No half-space meets another half-space.
        for hit in &messages {
            let is_ground = |entity| grounds.iter().any(|(ground, ..)| *ground == entity);
            assert!(!(is_ground(hit.entity) && is_ground(hit.other)));
        }
    }
    let share = f64::from(hits) / f64::from(cases);
    assert!((0.3..0.9).contains(&share), "{hits} of {cases}");
}

#[test]
fn half_spaces_are_exact_under_every_affine_map_in_2d() {
    maps_exactly::<Vec2>(5);
}

#[test]
fn half_spaces_are_exact_under_every_affine_map_in_3d() {
    maps_exactly::<Vec3>(6);
}

/// The messages of a run of ticks with falling and hovering shapes over a ground, and the ground's
/// entity.
struct Run {
    ground: Entity,
    bodies: Vec<Entity>,
    app: App,
}

const BODIES: usize = 100;

impl Run {
    fn new(side: Side, mut app: App) -> Self {
        let world = app.world_mut();
        let ground = world.spawn(ground(side)).id();
        let bodies = (0..BODIES)
            .map(|index| {
                let shape = if index % 2 == 0 {
                    side.ball(0.5)
                } else {
                    side.block(1.0)
                };
                world.spawn((shape, Transform::IDENTITY)).id()
            })
            .collect();
        let mut run = Self {
            ground,
            bodies,
            app,
        };
        run.place(0);
        run
    }

    /// Returns the height of shape `index` over the ground at a tick.
    fn height(index: usize, at: usize) -> f32 {
        let phase = (index * 7 + at * 3) % 40;
        // A quarter of the shapes are below the ground, and one in forty just touches.
        0.125 * phase as f32 - 1.25
    }

    fn place(&mut self, at: usize) {
        for (index, body) in self.bodies.iter().enumerate() {
            let x = 3.0 * index as f32;
            let y = 0.5 + Self::height(index, at);
            transform(self.app.world_mut(), *body).translation = Vec3::new(x, y, 0.0);
        }
    }
}

fn ground(side: Side) -> Collider {
    match side {
        Side::D2 => Plane2d::new(Vec2::Y).into(),
        Side::D3 => InfinitePlane3d::new(Vec3::Y).into(),
    }
}

#[test]
fn a_hundred_bodies_start_and_end_contacts_with_the_ground() {
    for side in Side::BOTH {
        let mut run = Run::new(side, app());
        let mut all = Vec::new();
        let mut touching = BTreeMap::new();
        for at in 0..60 {
            run.place(at);
            let messages = tick(&mut run.app).messages;
            assert!(messages.is_sorted_by_key(|hit| (hit.entity, hit.other)));
            for (index, body) in run.bodies.iter().enumerate() {
                let height = Run::height(index, at);
                let hit = messages.iter().find_map(|hit| hit.seen_from(*body));
                let before = touching.insert(index, height <= 0.0).unwrap_or(false);
                if !before && height > 0.0 {
                    assert_eq!(hit, None);
                    continue;
                }
                let hit = hit.expect("a message of each that touches, or did");
                assert_eq!(hit.other, run.ground);
                assert_eq!(hit.normal, Vec3::NEG_Y);
                let expected = match (before, height <= 0.0) {
                    (false, _) => CollisionPhase::Started,
                    (true, true) => CollisionPhase::Ongoing,
                    (true, false) => CollisionPhase::Ended(EndReason::Separated),
                };
                assert_eq!(hit.phase, expected);
                if height <= 0.0 {
                    assert_eq!(hit.depth, -height);
                    assert_eq!(hit.other_point().y, 0.0);
                }
            }
            all.extend(messages);
        }
        let left = assert_phases_alternate(&all);
        assert!(!left.is_empty());
        assert!(all.iter().any(CollisionEvent::ended));
        // All contacts end at once.
        run.app.world_mut().despawn(run.ground);
        let ends = tick(&mut run.app).messages;
        assert_eq!(ends.len(), left.len());
        for hit in ends {
            assert_eq!(hit.end_reason(), Some(EndReason::Despawned));
        }
        assert!(tick(&mut run.app).is_empty());
    }
}

#[test]
fn half_space_events_are_the_same_to_the_bit_with_custom_candidates() {
    for side in Side::BOTH {
        let told = |app: App| {
            let mut run = Run::new(side, app);
            let mut messages = Vec::new();
            for at in 0..20 {
                run.place(at);
                messages.extend(tick(&mut run.app).messages);
            }
            messages
        };
        let own = || {
            let plugin = HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom);
            let mut app = App::new();
            app.add_plugins((MinimalPlugins, plugin)).add_systems(
                FixedPostUpdate,
                (|mut pairs: ResMut<CandidatePairs>, all: Query<Entity, With<Collider>>| {
                    pairs.clear();
                    for one in &all {
                        pairs.extend(all.iter().map(|other| (one, other)));
                    }
                })
                .in_set(HeadbuttSystems::BroadPhase),
            );
            start(&mut app);
            app
        };
        let messages = told(app());
        assert!(messages.iter().any(CollisionEvent::ended));
        assert_eq!(told(app()), messages);
        // If the app supplies all pairs, the messages are the same. So the broad phase misses no
        // pair.
        assert_eq!(told(own()), messages);
    }
}

/// The test of bounding boxes comes first, and must not lose a contact, however shallow.
#[test]
fn no_contact_with_a_half_space_is_lost_by_the_broad_phase() {
    let mut random = StdRng::seed_from_u64(7);
    let mut hits = 0;
    for number in 0..60 {
        let far = [0.0, 1e3, 1e8][number % 3];
        let mut app = app();
        let mut expected = Vec::new();
        let ground_pose = Transform {
            translation: vector(&mut random) * far,
            rotation: rotation(&mut random),
            scale: Vec3::ONE,
        };
        let plane = InfinitePlane3d::new(vector(&mut random));
        let margin = [0.0, 100.0][number % 2];
        let raised = Rounded::new(plane, margin);
        let world = app.world_mut();
        let on = |layer: u32, meets: u32| CollisionLayers::new(layer, meets);
        let ground = world
            .spawn((Collider::from(raised), ground_pose, on(1, 2)))
            .id();
        let ground_at = Isometry3d::new(ground_pose.translation, ground_pose.rotation);
        let (matrix, place) = <Vec3 as Dimension>::map(ground_at);
        let normal = matrix * Vec3::normal(*plane.normal);
        for figure in Vec3::figures() {
            for _ in 0..10 {
                let turn = rotation(&mut random);
                let (figure_matrix, _) = <Vec3 as Dimension>::map(Isometry3d::from_rotation(turn));
                let below = (figure.height)(figure_matrix.transpose() * -normal);
                let gap = random.random_range(-4e-7..8e-7) * (1.0 + f64::from(margin));
                let along = normal.cross(vector(&mut random).as_dvec3()) * [1.0, 1e6][number % 2];
                let at = (place + along + normal * (gap + below + f64::from(margin))).as_vec3();
                let pose = Transform::from_translation(at).with_rotation(turn);
                let body = (figure.collider.clone(), pose, on(2, 1));
                let entity = world.spawn(body).id();
                let pose = Isometry3d::new(at, turn);
                if query::intersects(&raised, ground_at, &figure.shape, pose) {
                    expected.push(entity);
                }
            }
        }
        let messages = tick(&mut app).messages;
        let mut met: Vec<_> = messages.iter().map(|hit| hit.seen_from(ground)).collect();
        met.sort_by_key(|hit| hit.map(|hit| hit.other));
        expected.sort();
        let met: Vec<_> = met.into_iter().flatten().map(|hit| hit.other).collect();
        assert_eq!(met, expected);
        hits += expected.len();
    }
    assert!((1500..4500).contains(&hits), "{hits} of 6000 hit");
}

#[test]
fn layers_disabling_and_removal_end_contacts_with_a_half_space() {
    type End = (EndReason, fn(&mut World, Entity));
    let ends: [End; 6] = [
        (EndReason::Filtered, crate::support::leave_layers),
        (EndReason::Disabled, crate::support::disable),
        (EndReason::ColliderRemoved, crate::support::remove_collider),
        (EndReason::Despawned, crate::support::despawn),
        (EndReason::Invalid, crate::support::lose_pose),
        (EndReason::Invalid, |world, entity| {
            // In either dimension, this scale flattens the half-space. The ball becomes a disc on
            // the far side of the ground.
            transform(world, entity).scale.y = 0.0;
        }),
    ];
    for side in Side::BOTH {
        for (number, (reason, end)) in ends.into_iter().enumerate() {
            let mut app = app();
            let world = app.world_mut();
            let ground = world.spawn(ground(side)).id();
            let ball = world
                .spawn((side.ball(1.0), Transform::from_xyz(50.0, 0.75, 0.0)))
                .id();
            for entity in [ground, ball] {
                watch(world, entity);
            }
            let hit = tick(&mut app).only();
            assert!(hit.started());
            assert_eq!(hit.seen_from(ball).expect("a side").depth, 0.25);
            assert!(tick(&mut app).only().ongoing());
            // The flat ball is still a shape.
            let sides = if number == 5 {
                vec![ground]
            } else {
                vec![ground, ball]
            };
            end(app.world_mut(), sides[sides.len() - 1]);
            let record = tick(&mut app);
            assert_eq!(record.only().end_reason(), Some(reason));
            let alive = if reason == EndReason::Despawned { 1 } else { 2 };
            assert_eq!(record.observed.len(), alive);
            assert!(frame(&mut app, 3).is_empty());
        }
    }
}

#[test]
fn changes_of_the_ground_end_its_contacts_and_layers_filter_it() {
    let mut app = app();
    let world = app.world_mut();
    let on = |layer: u32, meets: u32| CollisionLayers::new(layer, meets);
    let ground = world.spawn((ground(Side::D3), on(1, 2))).id();
    let below = Transform::from_xyz(0.0, -5.0, 0.0);
    let solid = |x: f32| Transform::from_xyz(x, -5.0, 0.0);
    let met = world
        .spawn((Side::D3.ball(1.0), solid(10.0), on(2, 1)))
        .id();
    world.spawn((Side::D3.ball(1.0), solid(20.0), on(4, !0)));
    // A ball in the other dimension touches nothing.
    world.spawn((Side::D2.ball(1.0), below));
    let hit = tick(&mut app).only().seen_from(ground).expect("the ground");
    assert_eq!((hit.other, hit.depth), (met, 6.0));

    // The ground moves away, gets a parent, and is mirrored.
    let parent = app.world_mut().spawn(Transform::IDENTITY).id();
    app.world_mut().entity_mut(ground).insert(ChildOf(parent));
    assert!(tick(&mut app).only().ongoing());
    transform(app.world_mut(), parent).translation.y = -7.0;
    let end = tick(&mut app).only().end_reason();
    assert_eq!(end, Some(EndReason::Separated));
    transform(app.world_mut(), parent).scale.y = -2.0;
    let hit = tick(&mut app).only().seen_from(ground).expect("the ground");
    assert!(hit.started());
    assert_eq!((hit.normal, hit.depth), (Vec3::NEG_Y, 3.0));
    // Another shape replaces the half-space.
    app.world_mut()
        .entity_mut(ground)
        .insert(Side::D3.ball(1.0));
    let end = tick(&mut app).only().end_reason();
    assert_eq!(end, Some(EndReason::Separated));
}

#[test]
fn two_half_spaces_never_pair_even_as_custom_candidates() {
    for broad_phase in [BroadPhase::Automatic, BroadPhase::Custom] {
        let plugin = HeadbuttPlugin::default().with_broad_phase(broad_phase);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin));
        start(&mut app);
        let world = app.world_mut();
        let grounds = [Vec3::ZERO, Vec3::ZERO, Vec3::Y].map(|place| {
            let pose = Transform::from_translation(place);
            world.spawn((ground(Side::D3), pose)).id()
        });
        if broad_phase == BroadPhase::Custom {
            let mut pairs = world.resource_mut::<CandidatePairs>();
            for one in grounds {
                pairs.extend(grounds.map(|other| (one, other)));
            }
        }
        assert!(tick(&mut app).is_empty());
        let diagnostics = app.world().resource::<CollisionDiagnostics>();
        let is_automatic = broad_phase == BroadPhase::Automatic;
        assert_eq!(diagnostics.candidates == 0, is_automatic);
    }
}

#[test]
fn a_half_space_costs_the_other_colliders_no_candidate_pairs() {
    let mut counts = Vec::new();
    for grounds in [0, 1] {
        let mut app = app();
        let world = app.world_mut();
        for _ in 0..grounds {
            // The half-space is far below, so that no bounding box reaches into it.
            world.spawn((ground(Side::D3), Transform::from_xyz(0.0, -1e6, 0.0)));
        }
        for index in 0..50 {
            let pose = Transform::from_xyz(0.75 * index as f32, 0.0, 0.0);
            world.spawn((Side::D3.ball(0.5), pose));
        }
        let hits = tick(&mut app).messages.len();
        let diagnostics = app.world().resource::<CollisionDiagnostics>();
        counts.push((hits, diagnostics.candidates));
    }
    assert_eq!(counts, [(49, 49); 2]);
}
