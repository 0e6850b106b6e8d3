//! Colliders in `headbutt::query`: against ticks, against brute force over parts that are mapped
//! here, and against closed forms.

use crate::support::{app, tick};
use bevy::{
    math::{DMat2, DMat3, DVec2, DVec3},
    prelude::*,
};
use headbutt::{Rounded, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A collider, and the convex parts that it is made of: each with its pose in the collider.
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

/// Everything that a test needs of a dimension.
macro_rules! dimension {
    ($Mapped:ident, $sample:ident, $Vector:ident, $Wide:ident, $Matrix:ident, $restrict:expr) => {
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

dimension!(Mapped2, sample_2d, Vec2, DVec2, DMat2, |it: &Affine| {
    (DMat2::from_mat3(it.linear), it.translation.truncate())
});
dimension!(Mapped3, sample_3d, Vec3, DVec3, DMat3, |it: &Affine| {
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

    /// A scale that is 1, uniform, not uniform or mirroring.
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

    /// A pose in the plane.
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

/// Rounding to f32 of coordinates of a few units, and of a distance by GJK.
const NEAR: f32 = 2e-5;

/// Compares colliders, and shapes with colliders, with all pairs of their parts.
macro_rules! agrees_with_brute_force {
    ($Mapped:ident, $any:ident, $convex:ident, $pose:ident, $zero:expr, $seed:expr) => {
        let mut random = Generator::new($seed);
        let (mut hits, mut misses) = (0, 0);
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
    };
}

#[test]
fn colliders_agree_with_brute_force_over_their_parts_in_2d() {
    agrees_with_brute_force!(Mapped2, any_2d, convex_2d, pose_2d, Vec2::ZERO, 1);
}

#[test]
fn colliders_agree_with_brute_force_over_their_parts_in_3d() {
    agrees_with_brute_force!(Mapped3, any_3d, convex_3d, pose, Vec3::ZERO, 2);
}

/// The depth of a compound is that of its deepest pair of parts.
macro_rules! compounds_have_the_deepest_contact {
    ($Mapped:ident, $convex:ident, $pose:ident, $zero:expr, $seed:expr) => {
        let mut random = Generator::new($seed);
        let mut hits = 0;
        for case in 0..1500 {
            let mut compound = || random.compound(Generator::$convex, |it| it.$pose(1.5));
            let (a, b) = (compound(), compound());
            let (pose_a, pose_b) = (random.$pose(1.8), random.$pose(1.8));
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
        }
        assert!(hits > 300, "{hits}");
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
