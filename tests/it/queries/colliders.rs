//! Compares colliders in `headbutt::query` with ticks, with brute force over their parts, with the
//! oracle, and with closed forms. The oracle shares no code with the library.

use crate::{
    oracle::placed::{bodies, gap_within},
    support::{app, tick},
};
use bevy::{
    math::{DMat2, DMat3, DVec2, DVec3},
    prelude::*,
};
use headbutt::{Rounded, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A collider, and the convex parts of which it consists, each with its pose in the collider.
struct Sample<V> {
    collider: Collider,
    parts: Vec<(Transform, Box<dyn Support<Vector = V>>)>,
}

impl<V> Sample<V> {
    /// Returns a collider of one shape.
    fn of<S: Support<Vector = V> + headbutt::IntoShape + Clone + 'static>(shape: S) -> Self {
        Self {
            collider: Collider::from(shape.clone()),
            parts: vec![(Transform::IDENTITY, Box::new(shape))],
        }
    }
}

/// Defines everything that a test needs in a dimension.
macro_rules! dimension {
    ($Mapped:ident, $Vector:ident, $Wide:ident, $Matrix:ident, $restrict:expr) => {
        /// A part in the world: an affine map of a shape.
        struct $Mapped<'a> {
            linear: $Matrix,
            translation: $Wide,
            shape: &'a dyn Support<Vector = $Vector>,
        }

        impl<'a> $Mapped<'a> {
            fn all(sample: &'a Sample<$Vector>, pose: &Affine) -> Vec<Self> {
                let parts = sample.parts.iter().map(|(part, shape)| {
                    let (linear, translation) = $restrict(&pose.after(&Affine::from(*part)));
                    let shape = &**shape;
                    Self {
                        linear,
                        translation,
                        shape,
                    }
                });
                parts.collect()
            }
        }

        impl Support for $Mapped<'_> {
            type Vector = $Vector;

            fn support(&self, direction: $Wide) -> $Wide {
                let inner = (self.linear.transpose() * direction).normalize_or($Wide::X);
                let local = self.shape.support(inner) + inner * self.shape.radius();
                self.linear * local + self.translation
            }
        }
    };
}

/// An affine map in f64.
#[derive(Clone, Copy)]
struct Affine {
    linear: DMat3,
    translation: DVec3,
}

impl From<Transform> for Affine {
    fn from(transform: Transform) -> Self {
        let rotation = DMat3::from_quat(transform.rotation.as_dquat().normalize());
        Self {
            linear: rotation * DMat3::from_diagonal(transform.scale.as_dvec3()),
            translation: transform.translation.as_dvec3(),
        }
    }
}

impl Affine {
    fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            translation: self.linear * inner.translation + self.translation,
        }
    }
}

dimension!(Mapped2, Vec2, DVec2, DMat2, |it: &Affine| {
    (DMat2::from_mat3(it.linear), it.translation.truncate())
});
dimension!(Mapped3, Vec3, DVec3, DMat3, |it: &Affine| {
    (it.linear, it.translation)
});

struct Generator(StdRng);

impl Generator {
    fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    fn number(&mut self, min: f32, max: f32) -> f32 {
        self.0.random_range(min..max)
    }

    fn vec3(&mut self, extent: f32) -> Vec3 {
        Vec3::from([(); 3].map(|()| self.number(-extent, extent)))
    }

    fn vec2(&mut self, extent: f32) -> Vec2 {
        self.vec3(extent).truncate()
    }

    fn rotation(&mut self) -> Quat {
        let components = [(); 4].map(|()| self.number(-1.0, 1.0));
        Quat::from_array(components).normalize()
    }

    /// Returns a scale that is 1, uniform, not uniform or mirroring.
    fn scale(&mut self) -> Vec3 {
        match self.0.random_range(0..4) {
            0 => Vec3::ONE,
            1 => Vec3::splat(self.number(0.5, 2.0)),
            2 => Vec3::from([(); 3].map(|()| self.number(0.5, 2.0))),
            _ => Vec3::new(-1.0, 1.0, 1.0) * self.number(0.5, 2.0),
        }
    }

    fn pose(&mut self, extent: f32) -> Transform {
        Transform {
            translation: self.vec3(extent),
            rotation: self.rotation(),
            scale: self.scale(),
        }
    }

    /// Returns a pose in the plane.
    fn pose_2d(&mut self, extent: f32) -> Transform {
        let angle = self.number(-3.0, 3.0);
        Transform {
            rotation: Quat::from_rotation_z(angle),
            ..self.pose(extent)
        }
    }

    fn convex_2d(&mut self) -> Sample<Vec2> {
        let mut size = || self.number(0.2, 1.0);
        match (size(), size(), size()) {
            (x, y, z) if z < 0.3 => Sample::of(Capsule2d::new(x, y)),
            (x, _, z) if z < 0.5 => Sample::of(Circle::new(x)),
            (x, y, z) if z < 0.6 => Sample::of(Ellipse::new(x, y)),
            (x, y, z) if z < 0.7 => Sample::of(Rounded::new(Rectangle::new(x, y), 0.2)),
            (x, y, z) if z < 0.8 => Sample::of(Rectangle::new(x, y)),
            _ => {
                let points = [(); 5].map(|()| self.vec2(1.0));
                Sample::of(ConvexHull::new(points).expect("finite points"))
            }
        }
    }

    fn convex_3d(&mut self) -> Sample<Vec3> {
        let mut size = || self.number(0.2, 1.0);
        match (size(), size(), size()) {
            (x, y, z) if z < 0.3 => Sample::of(Capsule3d::new(x, y)),
            (x, _, z) if z < 0.4 => Sample::of(Sphere::new(x)),
            (x, y, z) if z < 0.5 => Sample::of(Cylinder::new(x, y)),
            (x, y, z) if z < 0.6 => Sample::of(Cone {
                radius: x,
                height: y,
            }),
            (x, y, z) if z < 0.7 => Sample::of(Rounded::new(Cuboid::new(x, y, z), 0.2)),
            (x, y, z) if z < 0.8 => Sample::of(Cuboid::new(x, y, z)),
            _ => {
                let points = [(); 8].map(|()| self.vec3(1.0));
                Sample::of(ConvexHull::new(points).expect("finite points"))
            }
        }
    }

    fn compound<V>(
        &mut self,
        convex: impl Fn(&mut Self) -> Sample<V>,
        pose: impl Fn(&mut Self) -> Transform,
    ) -> Sample<V> {
        let count = self.0.random_range(2..12);
        let mut parts = Vec::new();
        let mut shapes = Vec::new();
        for _ in 0..count {
            let part = convex(self);
            let pose = pose(self).with_scale(Vec3::ONE);
            parts.push((pose, part.collider));
            shapes.extend(part.parts.into_iter().map(|(_, shape)| (pose, shape)));
        }
        Sample {
            collider: Collider::compound(parts),
            parts: shapes,
        }
    }

    fn surface_2d(&mut self) -> Sample<Vec2> {
        let points: Vec<Vec2> = (0..20)
            .map(|x| Vec2::new(x as f32 * 0.3 - 3.0, self.number(-0.4, 0.4)))
            .collect();
        let parts = points
            .windows(2)
            .map(|ends| -> (_, Box<dyn Support<Vector = Vec2>>) {
                (Transform::IDENTITY, Box::new([ends[0], ends[1]]))
            });
        Sample {
            parts: parts.collect(),
            collider: Collider::polyline(points),
        }
    }

    fn surface_3d(&mut self) -> Sample<Vec3> {
        const SIDE: u32 = 7;
        let vertices: Vec<Vec3> = (0..SIDE * SIDE)
            .map(|index| {
                let (x, z) = ((index % SIDE) as f32 - 3.0, (index / SIDE) as f32 - 3.0);
                Vec3::new(x * 0.8, self.number(-0.4, 0.4), z * 0.8)
            })
            .collect();
        let cells = (0..SIDE - 1).flat_map(|z| (0..SIDE - 1).map(move |x| z * SIDE + x));
        let triangles: Vec<[u32; 3]> = cells
            .flat_map(|a| {
                let (b, c, d) = (a + 1, a + SIDE, a + SIDE + 1);
                [[a, c, b], [b, c, d]]
            })
            .collect();
        let parts = triangles
            .iter()
            .map(|triangle| -> (_, Box<dyn Support<Vector = Vec3>>) {
                let corners = triangle.map(|index| vertices[index as usize]);
                (Transform::IDENTITY, Box::new(corners))
            });
        Sample {
            parts: parts.collect(),
            collider: Collider::trimesh(vertices.iter().copied(), triangles.iter().copied()),
        }
    }

    fn any_2d(&mut self) -> Sample<Vec2> {
        match self.0.random_range(0..4) {
            0 => self.surface_2d(),
            1 => self.compound(Self::convex_2d, |it| it.pose_2d(1.5).with_scale(Vec3::ONE)),
            _ => self.convex_2d(),
        }
    }

    fn any_3d(&mut self) -> Sample<Vec3> {
        match self.0.random_range(0..4) {
            0 => self.surface_3d(),
            1 => self.compound(Self::convex_3d, |it| it.pose(1.5)),
            _ => self.convex_3d(),
        }
    }
}

/// The rounding to f32 of coordinates of a few units, and of a distance from GJK.
const NEAR: f32 = 2e-5;

/// Compares colliders, and shapes with colliders, with all pairs of their parts.
macro_rules! agrees_with_brute_force {
    ($Mapped:ident, $any:ident, $pose:ident, $zero:expr, $seed:expr) => {
        let mut random = Generator::new($seed);
        let (mut hits, mut misses) = (0, 0);
        let (mut overlaps, mut gaps) = (0, 0);
        for case in 0..1500 {
            let (a, b) = (random.$any(), random.$any());
            let (pose_a, pose_b) = (random.$pose(1.8), random.$pose(1.8));
            let parts_a = $Mapped::all(&a, &pose_a.into());
            let parts_b = $Mapped::all(&b, &pose_b.into());
            let mut least = f32::INFINITY;
            for part in &parts_a {
                for other in &parts_b {
                    let distance = query::distance(part, $zero, other, $zero).distance;
                    least = least.min(distance);
                }
            }
            let found = query::distance(&a.collider, pose_a, &b.collider, pose_b);
            assert!(
                (found.distance - least).abs() <= NEAR,
                "{case}: {found:?}, {least}"
            );
            let between = (found.point_a - found.point_b).length();
            assert!(
                (between - found.distance).abs() <= NEAR,
                "{case}: {found:?}"
            );
            let touches = query::intersects(&a.collider, pose_a, &b.collider, pose_b);
            assert_eq!(touches, found.distance == 0.0, "{case}: {found:?}");
            let contact = query::contact(&a.collider, pose_a, &b.collider, pose_b);
            assert_eq!(touches, contact.is_some(), "{case}: {contact:?}");
            let manifold = query::manifold(&a.collider, pose_a, &b.collider, pose_b);
            assert_eq!(touches, manifold.is_some(), "{case}: {contact:?}");
            if let (Some(contact), Some(manifold)) = (contact, manifold) {
                let points = manifold.points();
                assert_eq!(manifold.normal, contact.normal, "{case}");
                let deepest = points.iter().map(|it| it.depth).fold(0.0, f32::max);
                assert!(
                    (deepest - contact.depth).abs() <= NEAR,
                    "{case}: {contact:?}, {points:?}"
                );
            }
            hits += usize::from(touches);
            misses += usize::from(!touches);
            let bodies_a = bodies(&a.collider, pose_a);
            if let Some((a, b)) = bodies_a.zip(bodies(&b.collider, pose_b)) {
                let near = f64::from(NEAR);
                let gap = gap_within(&a, &b, f64::from(found.distance) + near);
                let differ = f64::from(found.distance) - gap.max(0.0);
                assert!(differ.abs() <= near, "{case}: {found:?}, {gap}");
                overlaps += usize::from(gap < -near);
                gaps += usize::from(gap > near);
                assert!(touches || gap >= -near, "{case}: {gap}");
                assert!(!touches || gap <= near, "{case}: {gap}");
            }
            // Swapped arguments give the mirror image to the bit.
            let swapped = query::distance(&b.collider, pose_b, &a.collider, pose_a);
            assert_eq!(
                (swapped.point_b, swapped.point_a),
                (found.point_a, found.point_b),
                "{case}"
            );
            let swapped = query::contact(&b.collider, pose_b, &a.collider, pose_a);
            assert_eq!(
                swapped.map(|it| -it.normal),
                contact.map(|it| it.normal),
                "{case}"
            );
        }
        assert!(hits > 300 && misses > 300, "{hits} hits, {misses} misses");
        assert!(
            overlaps > 75 && gaps > 75,
            "of the oracle: {overlaps} overlaps, {gaps} gaps"
        );
    };
}

#[test]
fn colliders_agree_with_brute_force_over_their_parts_in_2d() {
    agrees_with_brute_force!(Mapped2, any_2d, pose_2d, Vec2::ZERO, 1);
}

#[test]
fn colliders_agree_with_brute_force_over_their_parts_in_3d() {
    agrees_with_brute_force!(Mapped3, any_3d, pose, Vec3::ZERO, 2);
}

/// The depth of a compound equals the depth of its deepest pair of parts.
macro_rules! compounds_have_the_deepest_contact {
    ($Mapped:ident, $convex:ident, $pose:ident, $zero:expr, $seed:expr) => {
        let mut random = Generator::new($seed);
        let (mut hits, mut judged) = (0, 0);
        for case in 0..1500 {
            let mut compound = || random.compound(Generator::$convex, |it| it.$pose(1.5));
            let (a, b) = (compound(), compound());
            let (mut pose_a, mut pose_b) = (random.$pose(1.8), random.$pose(1.8));
            if case % 2 == 0 {
                // The oracle has no stretched balls.
                pose_a.scale = Vec3::splat(pose_a.scale.x);
                pose_b.scale = Vec3::splat(pose_b.scale.x);
            }
            let parts_a = $Mapped::all(&a, &pose_a.into());
            let parts_b = $Mapped::all(&b, &pose_b.into());
            let pairs = parts_a
                .iter()
                .flat_map(|part| parts_b.iter().map(move |other| (part, other)));
            let depths = pairs
                .filter_map(|(part, other)| Some(query::contact(part, $zero, other, $zero)?.depth));
            let deepest = depths.reduce(f32::max);
            let found = query::contact(&a.collider, pose_a, &b.collider, pose_b);
            let depth = found.map(|it| it.depth);
            let differ = depth.unwrap_or(0.0) - deepest.unwrap_or(0.0);
            assert!(differ.abs() <= NEAR, "{case}: {found:?}, {deepest:?}");
            hits += usize::from(found.is_some());
            let bodies_a = bodies(&a.collider, pose_a);
            if let Some((a, b)) = bodies_a.zip(bodies(&b.collider, pose_b)) {
                let gap = gap_within(&a, &b, 0.0);
                let differ = f64::from(depth.unwrap_or(0.0)) - (-gap).max(0.0);
                assert!(differ.abs() <= NEAR.into(), "{case}: {found:?}, {gap}");
                judged += usize::from(found.is_some());
            }
        }
        assert!(hits > 300 && judged > 10, "{hits}, {judged} by the oracle");
    };
}

#[test]
fn the_contact_of_compounds_is_the_deepest_of_their_parts() {
    compounds_have_the_deepest_contact!(Mapped2, convex_2d, pose_2d, Vec2::ZERO, 3);
    compounds_have_the_deepest_contact!(Mapped3, convex_3d, pose, Vec3::ZERO, 4);
}

#[test]
fn the_contact_of_two_colliders_is_the_one_that_a_tick_reports() {
    let mut random = Generator::new(5);
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..12 {
        let mut app = app();
        let mut spawned = Vec::new();
        for number in 0..40 {
            let collider = match number {
                0 => Collider::half_space(random.vec2(1.0)),
                1 => Collider::half_space(random.vec3(1.0)),
                2..20 => random.any_2d().collider,
                _ => random.any_3d().collider,
            };
            let collider = if number % 5 == 0 {
                collider.rounded(0.1)
            } else {
                collider
            };
            let collider = if number % 3 == 0 {
                collider.one_sided()
            } else {
                collider
            };
            let pose = random.pose(3.0);
            let planar = random.pose_2d(3.0);
            let pose = if number < 20 { planar } else { pose };
            let entity = app.world_mut().spawn((collider.clone(), pose)).id();
            spawned.push((entity, collider, pose));
        }
        let reported = tick(&mut app).messages;
        for (index, (entity, collider, pose)) in spawned.iter().enumerate() {
            for (other, other_collider, other_pose) in &spawned[index + 1..] {
                let hit = reported
                    .iter()
                    .find(|hit| hit.seen_from(*entity).is_some_and(|it| it.other == *other));
                let found = query::contact(collider, pose, other_collider, other_pose);
                assert_eq!(
                    hit.is_some(),
                    found.is_some(),
                    "{collider:?} {other_collider:?}"
                );
                let touches = query::intersects(collider, pose, other_collider, other_pose);
                assert_eq!(
                    touches,
                    found.is_some(),
                    "{collider:?} {pose:?} {other_collider:?} {other_pose:?}"
                );
                misses += usize::from(!touches);
                let (Some(hit), Some(found)) = (hit, found) else {
                    continue;
                };
                hits += 1;
                let hit = hit.seen_from(*entity).expect("one of the two");
                assert_eq!((hit.normal, hit.depth), (found.normal, found.depth));
                for (reported, found) in [
                    (hit.point(), found.point_a),
                    (hit.other_point(), found.point_b),
                ] {
                    // The event adds an offset to a translation in f32.
                    assert!(
                        reported.distance(found) <= 4e-6 * (1.0 + found.length()),
                        "{reported} {found}"
                    );
                }
            }
        }
    }
    assert!(hits > 500 && misses > 5000, "{hits} hits, {misses} misses");
}

/// A shape and its collider have the same results, alone and against compounds and surfaces.
#[test]
fn a_shape_against_a_collider_is_the_collider_of_that_shape() {
    let mut random = Generator::new(6);
    let mut hits = 0;
    for _ in 0..1500 {
        let other = random.any_3d().collider;
        let (pose, other_pose) = (random.pose(1.5).with_scale(Vec3::ONE), random.pose(1.5));
        let cuboid = Cuboid::from_size(random.vec3(1.0).abs() + 0.1);
        let cone = Cone {
            radius: 0.6,
            height: random.number(0.3, 1.0),
        };
        let points = [(); 6].map(|()| random.vec3(1.0));
        let capsule = Rounded::new([points[0], points[1]], 0.3);
        let shapes: [(&dyn Support<Vector = Vec3>, Collider); 4] = [
            (&cuboid, cuboid.into()),
            (&cone, cone.into()),
            (&points, Collider::convex_hull(points)),
            (
                &capsule,
                Collider::segment(points[0], points[1]).rounded(0.3),
            ),
        ];
        for (shape, collider) in shapes {
            let found = query::contact(shape, pose, &other, other_pose);
            let expected = query::contact(&collider, pose, &other, other_pose);
            assert_eq!(found, expected, "{collider:?} {other:?}");
            let mirrored = query::contact(&other, other_pose, shape, pose);
            assert_eq!(mirrored.map(|it| -it.normal), found.map(|it| it.normal));
            assert_eq!(mirrored.map(|it| it.point_b), found.map(|it| it.point_a));
            let touches = query::intersects(shape, pose, &other, other_pose);
            assert_eq!(touches, found.is_some());
            assert_eq!(query::intersects(&other, other_pose, shape, pose), touches);
            let distance = query::distance(shape, pose, &other, other_pose);
            let expected = query::distance(&collider, pose, &other, other_pose);
            assert!((distance.distance - expected.distance).abs() <= NEAR);
            assert_eq!(distance.distance == 0.0, touches);
            let manifold = query::manifold(shape, pose, &other, other_pose);
            assert_eq!(
                manifold,
                query::manifold(&collider, pose, &other, other_pose)
            );
            hits += usize::from(touches);
        }
    }
    assert!(hits > 1000, "{hits}");
}

/// A disc in the xz plane, as the example in the documentation of `Collider::custom`.
struct Disc(f64);

impl Support for Disc {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        DVec3::new(direction.x, 0.0, direction.z).normalize_or_zero() * self.0
    }
}

#[test]
fn a_custom_shape_meets_colliders_of_all_kinds() {
    let floor = Collider::trimesh(
        [Vec3::new(-9.0, 0.0, -9.0), 18.0 * Vec3::Z, 18.0 * Vec3::X],
        [[0, 1, 2]],
    );
    let twins = Collider::compound([
        (Vec3::X, Collider::sphere(1.0)),
        (Vec3::NEG_X, Collider::sphere(1.0)),
    ]);
    let at = |y: f32| Isometry3d::from_xyz(0.0, y, 0.0);
    assert!(query::intersects(&Disc(1.0), at(0.0), &floor, Vec3::ZERO));
    assert_eq!(
        query::distance(&Disc(1.0), at(2.5), &floor, Vec3::ZERO).distance,
        2.5
    );
    assert_eq!(
        query::distance(&Disc(3.0), at(2.5), &twins, Vec3::ZERO).distance,
        1.5
    );
    let contact = query::contact(&Disc(3.0), at(0.75), &twins, Vec3::ZERO).expect("they overlap");
    assert_eq!((contact.normal, contact.depth), (Vec3::NEG_Y, 0.25));
    let ground = Collider::half_space(Vec3::Y);
    assert_eq!(
        query::distance(&ground, Vec3::ZERO, &Disc(1.0), at(0.5)).distance,
        0.5
    );
    assert_eq!(
        query::contact(&Disc(1.0), at(-0.5), &ground, Vec3::ZERO).map(|it| it.depth),
        Some(0.5)
    );
}

#[test]
fn half_spaces_have_distances_in_closed_form() {
    let ground = Collider::half_space(Vec3::Y);
    let pose = Transform::from_xyz(0.0, 1.0, 0.0);
    let stack =
        Collider::compound((0..20).map(|y| (Vec3::Y * (5.0 + y as f32), Collider::sphere(0.5))));
    let found = query::distance(&ground, pose, &stack, Vec3::ZERO);
    assert_eq!(
        (found.distance, found.point_a, found.point_b),
        (3.5, Vec3::Y, 4.5 * Vec3::Y)
    );
    let sunk =
        query::contact(&stack, Vec3::NEG_Y * 4.0, &ground, pose).expect("half in the ground");
    assert_eq!((sunk.normal, sunk.depth), (Vec3::NEG_Y, 0.5));
    let bowl = Collider::trimesh(
        [
            Vec3::ZERO,
            Vec3::new(3.0, 2.0, 0.0),
            Vec3::new(0.0, 2.0, 3.0),
        ],
        [[0, 1, 2]],
    );
    let far = query::distance(&bowl, Vec3::new(1e4, 3.0, 0.0), &ground, pose);
    assert_eq!(
        (far.distance, far.point_a.y, far.point_b.y),
        (2.0, 3.0, 1.0)
    );
    let none = query::distance(&ground, pose, &ground, Vec3::ZERO);
    assert_eq!(none.distance, f32::INFINITY);
    assert!(none.point_a.is_nan() && !query::intersects(&ground, pose, &ground, pose));
}

#[test]
fn a_global_transform_is_the_pose_after_all_ancestors() {
    let mut random = Generator::new(7);
    let mut hits = 0;
    for case in 0..1000 {
        let (a, b) = (random.any_3d(), random.any_3d());
        let (parent, child) = (random.pose(0.5), random.pose(1.0));
        let other = random.pose(1.5);
        // A rotated child of a parent with a scale that is not uniform is sheared.
        let global = GlobalTransform::from(parent) * child;
        let parts_a = Mapped3::all(&a, &Affine::from(parent).after(&child.into()));
        let parts_b = Mapped3::all(&b, &other.into());
        let pairs = parts_a
            .iter()
            .flat_map(|part| parts_b.iter().map(move |other| (part, other)));
        let distances = pairs
            .map(|(part, other)| query::distance(part, Vec3::ZERO, other, Vec3::ZERO).distance);
        let least = distances.fold(f32::INFINITY, f32::min);
        let found = query::distance(&a.collider, global, &b.collider, other).distance;
        assert!((found - least).abs() <= NEAR, "{case}: {found}, {least}");
        hits += usize::from(found == 0.0);
        let same = query::distance(
            &a.collider,
            GlobalTransform::from(child),
            &b.collider,
            other,
        )
        .distance;
        let expected = query::distance(&a.collider, child, &b.collider, other).distance;
        assert!(
            (same - expected).abs() <= NEAR,
            "{case}: {same}, {expected}"
        );
    }
    assert!((200..800).contains(&hits), "{hits}");
}

/// Rounding to f32 must not make an ellipsoid of a ball: its contact stays exact.
#[test]
fn a_ball_with_a_rotated_global_transform_stays_a_ball() {
    let mut random = Generator::new(8);
    let ball = Collider::sphere(1.0);
    for _ in 0..200 {
        let scale = random.number(0.5, 2.0);
        let chain = [(); 4].map(|()| Transform::from_rotation(random.rotation()));
        let global = chain
            .into_iter()
            .fold(GlobalTransform::IDENTITY, |global, it| global * it);
        let global = global * Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0) * scale);
        let other = Vec3::X * 1.5;
        let found = query::contact(&ball, global, &ball, other).map(|it| (it.normal, it.depth));
        let (normal, depth) = found.expect("they overlap");
        assert_eq!(normal, Vec3::X);
        assert!((depth - (scale + 1.0 - 1.5)).abs() <= 1e-6, "{depth}");
    }
}

#[test]
fn every_pose_argument_places_a_collider_as_it_places_a_shape() {
    let (flat, solid) = (
        Collider::rectangle(2.0, 1.0),
        Collider::cuboid(2.0, 1.0, 1.0),
    );
    let (flat_shape, solid_shape) = (Rectangle::new(2.0, 1.0), Cuboid::new(2.0, 1.0, 1.0));
    let ball = (Circle::new(0.5), Vec2::new(1.2, 0.4));
    let sphere = (Sphere::new(0.5), Vec3::new(1.2, 0.4, 0.1));
    macro_rules! same {
        ($($pose:expr),*; $collider:expr, $shape:expr, $other:expr) => { $(
            let found = query::contact(&$collider, $pose, &$other.0, $other.1);
            let expected = query::contact(&$shape, $pose, &$other.0, $other.1);
            assert!(found.is_some());
            assert_eq!(found, expected);
        )* };
    }
    let (turn, rotation) = (Rot2::radians(0.3), Quat::from_rotation_z(0.3));
    let transform = Transform::from_xyz(0.1, 0.2, 7.0).with_rotation(rotation);
    let isometry = Isometry2d::new(Vec2::X, turn);
    same!(Vec2::X * 0.2, turn, isometry, transform, &transform; flat, flat_shape, ball);
    let transform = Transform::from_xyz(0.1, 0.2, 0.0).with_rotation(rotation);
    let isometry = Isometry3d::new(Vec3::X, rotation);
    same!(Vec3::X * 0.2, rotation, isometry, transform, &transform; solid, solid_shape, sphere);
    // A 3D collider takes a 2D pose, and a 2D collider takes a 3D pose.
    let turned = query::contact(&solid, Isometry2d::new(Vec2::X, turn), &sphere.0, sphere.1);
    let expected = query::contact(
        &solid,
        Isometry3d::new(Vec3::X, rotation),
        &sphere.0,
        sphere.1,
    );
    let (turned, expected) = (turned.expect("a hit"), expected.expect("a hit"));
    assert!(turned.normal.distance(expected.normal) <= 1e-6);
    assert!((turned.depth - expected.depth).abs() <= 1e-6);
    assert!(query::intersects(
        &flat,
        Vec3::new(0.0, 0.0, 9.0),
        &ball.0,
        ball.1
    ));
}

#[test]
fn nothing_touches_an_inert_collider_another_dimension_or_an_invalid_pose() {
    let (circle, sphere) = (Collider::circle(1.0), Collider::sphere(1.0));
    let at = Transform::IDENTITY;
    let apart = |a: &Collider, pose_a: Transform, b: &Collider, pose_b: Transform| {
        for (a, pose_a, b, pose_b) in [(a, pose_a, b, pose_b), (b, pose_b, a, pose_a)] {
            assert!(!query::intersects(a, pose_a, b, pose_b));
            assert_eq!(query::contact(a, pose_a, b, pose_b), None);
            assert_eq!(query::manifold(a, pose_a, b, pose_b), None);
            let distance = query::distance(a, pose_a, b, pose_b);
            assert_eq!(distance.distance, f32::INFINITY);
            assert!(distance.point_a.is_nan() && distance.point_b.is_nan());
        }
    };
    apart(&circle, at, &sphere, at);
    for inert in [
        Collider::default(),
        Collider::sphere(-1.0),
        Collider::circle(f32::NAN),
    ] {
        apart(&circle, at, &inert, at);
        apart(&sphere, at, &inert, at);
        assert_eq!(inert.aabb(at), None);
        assert!(inert.shape_2d().is_none() && inert.shape_3d().is_none());
        assert_eq!(inert.closest_point(at, Vec3::ZERO), None);
        assert!(!inert.contains_point(at, Vec2::ZERO));
    }
    let nan = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    let no_rotation = Transform::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    let infinite = Transform::from_scale(Vec3::splat(f32::INFINITY));
    for pose in [nan, no_rotation, infinite] {
        apart(&sphere, pose, &sphere, at);
        apart(&circle, at, &circle, pose);
        assert_eq!(sphere.aabb(pose), None);
        assert_eq!(circle.closest_point(pose, Vec2::ZERO), None);
    }
    let nowhere = Isometry2d::new(Vec2::ZERO, Rot2 { cos: 0.0, sin: 0.0 });
    assert!(!query::intersects(&circle, nowhere, &circle, at));
    assert!(!query::intersects(&Circle::new(1.0), at, &sphere, at));
    assert!(!query::intersects(&Circle::new(-1.0), at, &circle, at));
    assert!(!query::intersects(&circle, at, &Vec2::NAN, at));
    // Behind a flattened half-space, there is nothing.
    let flat = Transform::from_scale(Vec3::new(1.0, 0.0, 1.0));
    apart(&Collider::half_space(Vec3::X), flat, &sphere, at);
}

#[test]
fn the_box_of_a_collider_is_that_of_its_parts() {
    let mut random = Generator::new(9);
    for case in 0..300 {
        let sample = random.any_3d();
        let pose = random.pose(3.0);
        let parts = Mapped3::all(&sample, &pose.into());
        let extreme = |direction: DVec3| {
            let heights = parts
                .iter()
                .map(|part| part.support(direction).dot(direction));
            heights.fold(f64::NEG_INFINITY, f64::max) as f32
        };
        let found = sample.collider.aabb(pose).expect("bounds");
        for (axis, unit) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
            let [below, above] = [
                -extreme(-unit) - found.min[axis],
                found.max[axis] - extreme(unit),
            ];
            // The box is outside of the shape, by at most the tolerance of a surface.
            assert!((-1e-6..2e-5).contains(&below), "{case}: {below}");
            assert!((-1e-6..2e-5).contains(&above), "{case}: {above}");
        }
        let sample = random.any_2d();
        let pose = random.pose_2d(3.0);
        let parts = Mapped2::all(&sample, &pose.into());
        let right = parts
            .iter()
            .map(|part| part.support(DVec2::X).x)
            .fold(f64::NEG_INFINITY, f64::max);
        let found = sample.collider.aabb(pose).expect("bounds");
        assert!(
            (-1e-6..2e-5).contains(&(found.max.x - right as f32)),
            "{case}"
        );
        assert_eq!((found.min.z, found.max.z), (0.0, 0.0));
    }
    assert_eq!(Collider::half_space(Vec3::Y).aabb(Vec3::ZERO), None);
}

#[test]
fn the_closest_point_is_the_nearest_of_all_parts() {
    let mut random = Generator::new(10);
    let mut inside = 0;
    for case in 0..1500 {
        let sample = random.any_3d();
        // For a point, it does not matter if a facet faces away.
        let collider = if case % 2 == 0 {
            sample.collider.clone().one_sided()
        } else {
            sample.collider.clone()
        };
        let (pose, point) = (random.pose(0.5), random.vec3(1.0));
        let parts = Mapped3::all(&sample, &pose.into());
        let distances = parts
            .iter()
            .map(|part| query::distance(part, Vec3::ZERO, &point, Vec3::ZERO).distance);
        let least = distances.fold(f32::INFINITY, f32::min);
        let closest = collider.closest_point(pose, point).expect("a point");
        assert!(
            (closest.distance(point) - least).abs() <= NEAR,
            "{case}: {closest}, {least}"
        );
        assert!(
            collider
                .closest_point(pose, closest)
                .expect("a point")
                .distance(closest)
                <= NEAR
        );
        let contains = collider.contains_point(pose, point);
        assert_eq!(contains, least == 0.0, "{case}");
        assert_eq!(contains, closest == point, "{case}");
        inside += usize::from(contains);
        assert_eq!(collider.closest_point(pose, Vec2::ZERO), None);
        assert_eq!(collider.closest_point(pose, Vec3::NAN), None);
        assert!(!collider.contains_point(pose, point.truncate()));
    }
    assert!((100..1000).contains(&inside), "{inside}");
    let ground = Collider::half_space(Vec2::Y);
    assert_eq!(
        ground.closest_point(Vec2::Y, Vec2::new(4.0, 7.0)),
        Some(Vec2::new(4.0, 1.0))
    );
    assert!(ground.contains_point(Vec2::Y, Vec2::new(4.0, 0.0)));
}

#[test]
fn a_collider_gives_its_shape_back() {
    use headbutt::{Shape, ShapeView};
    let convex =
        |collider: &Collider, expected: &dyn Fn(&Shape<Vec3>) -> bool| match collider.shape_3d() {
            Some(ShapeView::Convex(shape)) => expected(shape.shape()),
            _ => false,
        };
    assert!(convex(&Collider::sphere(2.0), &|kind| matches!(
        kind,
        Shape::Ball { radius: 2.0 }
    )));
    assert!(convex(&Collider::capsule_3d(0.5, 3.0), &|kind| {
        matches!(
            kind,
            Shape::Capsule {
                half_length: 1.5,
                radius: 0.5
            }
        )
    }));
    assert!(convex(&Collider::cone(2.0, 3.0), &|kind| {
        matches!(
            kind,
            Shape::Frustum {
                half_height: 1.5,
                radius_top: 0.0,
                radius_bottom: 2.0
            }
        )
    }));
    assert!(convex(&Collider::half_space(2.0 * Vec3::Y), &|kind| {
        matches!(
            kind,
            Shape::HalfSpace {
                normal: Vec3 {
                    x: 0.0,
                    y: 2.0,
                    z: 0.0
                }
            }
        )
    }));
    assert!(convex(&Collider::custom(Disc(1.0)), &|kind| {
        matches!(kind, Shape::Custom(disc) if disc.support(DVec3::X) == DVec3::X)
    }));
    let prism = Extrusion::new(Circle::new(1.0), 4.0);
    assert!(convex(&prism.into(), &|kind| match kind {
        Shape::Extrusion { base, half_depth } => {
            *half_depth == 2.0 && matches!(**base, Shape::Ball { radius: 1.0 })
        }
        _ => false,
    }));
    let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
    assert!(convex(&Collider::convex_hull(points), &|kind| {
        matches!(kind, Shape::Hull(hull) if hull.points() == points)
    }));

    let die = Collider::cuboid(1.0, 1.0, 1.0).rounded(0.25).rounded(0.25);
    let pair = Collider::compound([
        (Isometry3d::from_xyz(1.0, 2.0, 3.0), die),
        (Isometry3d::IDENTITY, Collider::sphere(1.0)),
    ]);
    let pair = pair.rounded(0.5);
    let Some(ShapeView::Compound(compound)) = pair.shape_3d() else {
        panic!("{pair:?}");
    };
    let parts: Vec<_> = compound.parts().collect();
    assert_eq!(parts[0].0, Isometry3d::from_xyz(1.0, 2.0, 3.0));
    assert_eq!((parts[0].1.margin(), parts[1].1.margin()), (1.0, 0.5));
    assert!(
        matches!(parts[0].1.shape(), Shape::Box { half_size } if *half_size == Vec3::splat(0.5))
    );
    // A part is a shape that can be queried.
    let distance = query::distance(&parts[1].1, parts[1].0, &Vec3::ZERO, Vec3::X * 4.0);
    assert_eq!(distance.distance, 2.5);

    let vertices = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let mesh = Collider::trimesh(vertices, [[0, 1, 2], [0, 2, 3]]).one_sided();
    let Some(ShapeView::Surface(surface)) = mesh.shape_3d() else {
        panic!("{mesh:?}");
    };
    assert_eq!(surface.vertices(), vertices);
    assert!(surface.facets().eq([[0, 1, 2], [0, 2, 3]]));
    assert!(surface.is_one_sided() && surface.margin() == 0.0);
    assert!(mesh.shape_2d().is_none());
    let line = Collider::polyline([Vec2::ZERO, Vec2::X, Vec2::Y]).rounded(0.1);
    let Some(ShapeView::Surface(surface)) = line.shape_2d() else {
        panic!("{line:?}");
    };
    assert!(surface.facets().eq([[0, 1], [1, 2]]));
    assert_eq!(surface.margin(), 0.1);
}

#[test]
fn a_polyline_with_indices_is_many_outlines() {
    let mut random = Generator::new(11);
    let ends: Vec<Vec2> = (0..40).map(|_| random.vec2(5.0)).collect();
    let segments = (0..20).map(|index| [2 * index, 2 * index + 1]);
    let lines = Collider::polyline_with_indices(ends.iter().copied(), segments);
    for _ in 0..500 {
        let (point, ball) = (random.vec2(6.0), Circle::new(random.number(0.0, 0.5)));
        let distances = ends
            .chunks(2)
            .map(|ends| query::distance(ends, Vec2::ZERO, &ball, point).distance);
        let least = distances.fold(f32::INFINITY, f32::min);
        let found = query::distance(&lines, Vec2::ZERO, &ball, point).distance;
        assert!((found - least).abs() <= NEAR, "{found}, {least}");
    }
    let joined =
        Collider::polyline_with_indices([Vec2::ZERO, Vec2::X, Vec2::ONE], [[0, 1], [1, 2]]);
    let same = Collider::polyline([Vec2::ZERO, Vec2::X, Vec2::ONE]);
    let ball = Collider::circle(0.4);
    let at = Vec2::new(0.8, 0.3);
    assert_eq!(
        query::contact(&joined, Vec2::ZERO, &ball, at),
        query::contact(&same, Vec2::ZERO, &ball, at)
    );
    let error = Collider::try_polyline_with_indices([Vec2::X], [[0, 1]]).unwrap_err();
    assert!(matches!(
        error,
        ShapeError::VertexOutOfRange { index: 1, count: 1 }
    ));
    let error = Collider::try_polyline_with_indices([Vec2::X; 2], [[0, 1]]).unwrap_err();
    assert!(matches!(error, ShapeError::NoFacets(_)));
}

/// Compares casts of colliders with casts of their parts, which `casts.rs` tests.
#[test]
fn a_cast_of_colliders_is_the_earliest_of_their_parts() {
    use headbutt::query::{CastHit, CastOptions, CastStatus, Motion};
    let mut random = Generator::new(12);
    let (mut hits, mut overlaps, mut misses) = (0, 0, 0);
    for case in 0..600 {
        let (a, b) = (random.any_3d(), random.any_3d());
        let (pose_a, mut pose_b) = (random.pose(1.0), random.pose(1.0));
        pose_b.translation += random.vec3(1.0).normalize_or(Vec3::X) * 4.0 * (case % 2) as f32;
        let motion = (pose_a.translation - pose_b.translation) * 1.5 + random.vec3(4.0);
        let turn = if case % 3 == 0 {
            random.vec3(3.0)
        } else {
            Vec3::ZERO
        };
        // The parts of the second collider rotate about its origin, so this point is the origin of
        // their frame.
        let parts_a = Mapped3::all(&a, &pose_a.into());
        let start = pose_b.translation;
        let pose_at_origin = Transform {
            translation: Vec3::ZERO,
            ..pose_b
        };
        let parts_b = Mapped3::all(&b, &pose_at_origin.into());
        let mut hits_of_parts: Vec<CastHit<Vec3>> = Vec::new();
        for part in &parts_a {
            for other in &parts_b {
                let motion = Motion::linear(start, motion).rotated(turn);
                let cast =
                    query::cast_motion(part, Vec3::ZERO, other, motion, CastOptions::default());
                hits_of_parts.extend(cast);
            }
        }
        let times = |a: &&CastHit<Vec3>, b: &&CastHit<Vec3>| a.safe.total_cmp(&b.safe);
        let earliest = hits_of_parts.iter().min_by(times);
        let motion = Motion::linear(pose_b, motion).rotated(turn);
        let options = CastOptions::default();
        let found = query::cast_motion(&a.collider, pose_a, &b.collider, motion, options);
        assert_eq!(
            found.is_some(),
            earliest.is_some(),
            "{case}: {found:?}, {earliest:?}"
        );
        let [safe, expected] =
            [found.as_ref(), earliest].map(|hit| hit.map_or(1.0, |hit| hit.safe));
        let difference = safe - expected;
        assert!(difference.abs() <= 1e-5, "{case}: {found:?}, {earliest:?}");
        match found.map(|hit| (hit.status, hit)) {
            Some((CastStatus::Overlapping, hit)) => {
                overlaps += 1;
                let start = query::contact(&a.collider, pose_a, &b.collider, pose_b);
                assert_eq!(Some(hit.contact), start, "{case}");
            }
            Some((CastStatus::Hit, hit)) => {
                hits += 1;
                let CastHit {
                    touching, contact, ..
                } = hit;
                assert!(touching - safe <= 1e-5, "{case}: {found:?}");
                // On curved shapes, the points of a touch are as precise as its normal.
                assert!(
                    (contact.point_a - contact.point_b).length() <= 5.0 * NEAR,
                    "{case}: {found:?}"
                );
                // Several parts may be touched first, within the precision of a cast.
                let is_of_part = |expected: &CastHit<Vec3>| {
                    expected.safe - safe <= 1e-5
                        && contact.normal.dot(expected.contact.normal) > 0.999
                        && contact.point_a.distance(expected.contact.point_a) <= 1e-2
                };
                assert!(
                    hits_of_parts.iter().any(is_of_part),
                    "{case}: {found:?}, {earliest:?}"
                );
            }
            _ => misses += 1,
        }
        // With swapped arguments, the contact is mirrored.
        let swapped = query::cast_motion(&b.collider, motion, &a.collider, pose_a, options);
        let mirrored = swapped.map(|hit| (hit.safe, -hit.contact.normal));
        assert_eq!(
            mirrored,
            found.map(|hit| (hit.safe, hit.contact.normal)),
            "{case}"
        );
    }
    assert!(
        hits > 100 && overlaps > 100 && misses > 50,
        "{hits} {overlaps} {misses}"
    );
}

#[test]
fn casts_and_rays_take_shapes_and_colliders_of_both_dimensions() {
    use headbutt::query::{CastOptions, Ray};
    let options = CastOptions::default();
    let wall = Collider::polyline([Vec2::new(4.0, -9.0), Vec2::new(4.0, 9.0)]);
    let (disc, disc_shape) = (Collider::circle(1.0), Circle::new(1.0));
    for pose in [
        Transform::IDENTITY,
        Transform::from_scale(Vec3::new(1.0, 1.0, 3.0)),
    ] {
        let hit = query::cast_shape(
            &disc,
            pose,
            Vec3::X * 6.0,
            &wall,
            Vec2::ZERO,
            Vec3::ZERO,
            options,
        );
        let hit = hit.expect("the wall is in the way");
        assert!((hit.safe - 0.5).abs() <= 1e-6);
        assert_eq!(hit.contact.normal, Vec3::X);
    }
    let hit = query::cast_shape(
        &disc_shape,
        Vec2::ZERO,
        Vec2::X * 6.0,
        &wall,
        Vec2::ZERO,
        Vec2::ZERO,
        options,
    );
    let hit = hit.expect("the wall is in the way");
    assert!((hit.safe - 0.5).abs() <= 1e-6);
    assert_eq!(hit.contact.normal, Vec2::X);
    let hit = query::cast_shape(
        &wall,
        Vec2::ZERO,
        Vec2::ZERO,
        &disc_shape,
        Vec2::ZERO,
        Vec2::X * 6.0,
        options,
    );
    assert_eq!(hit.map(|hit| hit.contact.normal), Some(Vec2::NEG_X));
    let sphere = Collider::sphere(1.0);
    let none = query::cast_shape(
        &sphere,
        Vec3::ZERO,
        Vec3::X * 6.0,
        &wall,
        Vec2::ZERO,
        Vec3::ZERO,
        options,
    );
    assert_eq!(none, None);
    let none = query::cast_shape(
        &disc,
        Vec2::ZERO,
        Vec3::NAN,
        &wall,
        Vec2::ZERO,
        Vec3::ZERO,
        options,
    );
    assert_eq!(none, None);
    let ground = Collider::half_space(Vec3::Y);
    let stack = Collider::compound((0..9).map(|x| (Vec3::X * x as f32, Collider::sphere(0.5))));
    let fall = query::cast_shape(
        &stack,
        Vec3::Y * 2.5,
        Vec3::NEG_Y * 4.0,
        &ground,
        Vec3::ZERO,
        Vec3::ZERO,
        options,
    );
    assert!((fall.expect("a hit").safe - 0.5).abs() <= 1e-6, "{fall:?}");

    let ray = Ray::new(Vec2::ZERO, Vec2::X);
    let hit = query::cast_ray(&wall, Vec2::X, ray).expect("the wall is in the way");
    assert_eq!((hit.distance, hit.normal), (5.0, Vec2::NEG_X));
    let scaled = Transform::from_xyz(3.0, 0.0, 0.0).with_scale(Vec3::splat(2.0));
    let hit = query::cast_ray(&sphere, scaled, Ray::new(Vec3::ZERO, Vec3::X)).expect("a hit");
    assert_eq!((hit.distance, hit.normal), (1.0, Vec3::NEG_X));
    assert_eq!(query::cast_ray(&sphere, scaled, ray), None);
    assert_eq!(query::cast_ray(&Collider::default(), Vec2::ZERO, ray), None);
}

/// The ball moves along the plate and touches its edge, so the motion does not choose a side.
#[test]
fn the_face_normal_at_the_edge_of_a_plate_does_not_depend_on_the_winding() {
    use headbutt::query::CastOptions;
    let vertices = [Vec3::NEG_Z, Vec3::Z, Vec3::X * 2.0];
    for winding in [[0, 1, 2], [0, 2, 1]] {
        let plate = Collider::try_trimesh(vertices, [winding]).unwrap();
        for turn in [0.0_f32, 0.4, 1.3, 2.9] {
            let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), turn);
            let hit = query::cast_shape(
                &Collider::sphere(0.5),
                turn * Vec3::new(-2.0, 0.3, 0.2),
                turn * (Vec3::X * 3.0),
                &plate,
                turn,
                Vec3::ZERO,
                CastOptions::default(),
            )
            .unwrap();
            let expected = turn * Vec3::NEG_Y;
            assert!(
                hit.face_normal.distance(expected) < 1e-5,
                "{winding:?}, {turn}: {hit:?}"
            );
        }
    }
}
