//! Hard cases: every pair of shape classes in every regime that is known to be hard for collision
//! detection.
//!
//! The number of a case determines the case, so each case can be reproduced.

use core::{
    f32::consts::{FRAC_PI_2, FRAC_PI_4, PI},
    f64::consts::TAU,
};

use bevy::{
    math::{DMat3, DVec3, Quat, Vec2, Vec3},
    prelude::{
        Arc2d, Capsule2d, Circle, CircularSector, CircularSegment, Cone, ConicalFrustum,
        ConvexPolygon, Cylinder, Ellipse, Extrusion, Primitive2d, Rectangle, RegularPolygon,
        Rhombus, Tetrahedron, Triangle2d,
    },
    transform::components::Transform,
};
use headbutt::{Collider, ConvexHull, Rounded, Support};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::invariants::Counted;

use super::{
    Convex,
    cases::{Bounded, Dimension, Made, Primitive},
    solid::{Form, Solid},
    unit,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Point,
    Ball,
    Capsule,
    Rounded,
    Segment,
    Triangle,
    Box,
    Hull,
    Ellipsoid,
    RoundedBox,
    Rhombus,
    RegularPolygon,
    /// A convex polygon given by its vertices.
    Polygon,
    Sector,
    CircleSegment,
    /// A round shape with a margin, or a polytope with a margin that is not a box.
    Margined,
    Tetrahedron,
    Cylinder,
    Cone,
    Frustum,
    /// An extruded polygon.
    Prism,
    /// An extruded round shape.
    Log,
}

/// The classes in 2D.
const IN_PLANE: [Class; 16] = [
    Class::Point,
    Class::Ball,
    Class::Capsule,
    Class::Rounded,
    Class::Segment,
    Class::Triangle,
    Class::Box,
    Class::Hull,
    Class::Ellipsoid,
    Class::RoundedBox,
    Class::Rhombus,
    Class::RegularPolygon,
    Class::Polygon,
    Class::Sector,
    Class::CircleSegment,
    Class::Margined,
];

/// The classes in 3D.
const IN_SPACE: [Class; 17] = [
    Class::Point,
    Class::Ball,
    Class::Capsule,
    Class::Rounded,
    Class::Segment,
    Class::Triangle,
    Class::Box,
    Class::Hull,
    Class::Ellipsoid,
    Class::RoundedBox,
    Class::Margined,
    Class::Tetrahedron,
    Class::Cylinder,
    Class::Cone,
    Class::Frustum,
    Class::Prism,
    Class::Log,
];

/// Classes of shapes for which the solvers have similar errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Round,
    Polytope,
    Smooth,
}

impl Class {
    pub fn family(self) -> Family {
        match self {
            Self::Ball | Self::Capsule | Self::Rounded | Self::RoundedBox => Family::Round,
            Self::Point | Self::Segment | Self::Triangle | Self::Box | Self::Hull => {
                Family::Polytope
            }
            Self::Rhombus | Self::RegularPolygon | Self::Polygon => Family::Polytope,
            Self::Tetrahedron | Self::Prism => Family::Polytope,
            Self::Ellipsoid | Self::Cylinder | Self::Cone | Self::Frustum => Family::Smooth,
            Self::Sector | Self::CircleSegment | Self::Margined | Self::Log => Family::Smooth,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    Apart,
    Gap,
    Touching,
    Shallow,
    Deep,
    Inside,
    Concentric,
    Identical,
    FaceOnFace,
    EdgeOnEdge,
    VertexOnVertex,
    Parallel,
    Ratio,
    Sliver,
    Coplanar,
    ManyPoints,
    Spheres,
    Units,
    Far,
    Slow,
    Seam,
}

pub const REGIMES: [Regime; 21] = [
    Regime::Apart,
    Regime::Gap,
    Regime::Touching,
    Regime::Shallow,
    Regime::Deep,
    Regime::Inside,
    Regime::Concentric,
    Regime::Identical,
    Regime::FaceOnFace,
    Regime::EdgeOnEdge,
    Regime::VertexOnVertex,
    Regime::Parallel,
    Regime::Ratio,
    Regime::Sliver,
    Regime::Coplanar,
    Regime::ManyPoints,
    Regime::Spheres,
    Regime::Units,
    Regime::Far,
    Regime::Slow,
    Regime::Seam,
];

/// The step from the pair of classes of one case to the pair of the next case. The step is odd,
/// because there are 16² pairs in 2D, and no multiple of 17, because there are 17² pairs in 3D.
const STRIDE: usize = 91;

/// The number of steps of a slow movement.
pub const STEPS: usize = 200;

/// A shape for the library and for the oracle.
pub struct Figure<V> {
    pub class: Class,
    shape: Made<V>,
    form: Form,
    radius: f64,
    /// If `true`, queries use the iterative solver even if there is a closed form.
    is_general: bool,
    /// The map that is applied before the pose. Only colliders have such a map.
    stretch: Option<Stretch>,
}

/// The map that an entity and its parent apply to a shape, without the parent's rotation and
/// translation. The map is a scale, a rotation, and another scale, which together shear.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    inner: Vec3,
    turn: Quat,
    outer: Vec3,
    /// The translation of the entity in its parent's frame.
    at: Vec3,
}

impl Stretch {
    fn random<V: Dimension>(size: f32, random: &mut StdRng) -> Self {
        let length = |random: &mut StdRng| {
            let length = 10_f32.powf(random.random_range(-0.5..0.5));
            if random.random_bool(0.3) {
                -length
            } else {
                length
            }
        };
        let scale = |random: &mut StdRng| {
            let mut scale = Vec3::from([(); 3].map(|()| length(random)));
            // This is one of the two axes that exist in 2D, too.
            let axis = random.random_range(0..2);
            match random.random_range(0..8) {
                0 => scale[axis] = 0.0,
                1 => scale[axis] *= 1e-3,
                2..=3 => scale = Vec3::splat(scale.x),
                _ => {}
            }
            scale
        };
        let (inner, outer) = (scale(random), scale(random));
        let turn = if random.random_bool(0.3) {
            Quat::IDENTITY
        } else {
            quat(random)
        };
        let at = if random.random_bool(0.5) {
            Vec3::ZERO
        } else {
            size * self::inner(random)
        };
        Self {
            inner,
            turn: V::transform(V::isometry(turn, Vec3::ZERO)).rotation,
            outer,
            at: V::of(at).deep().as_vec3(),
        }
    }

    /// Returns the transforms of an entity and its parent that stretch the shape and then put it
    /// into a pose, as exactly as f32 allows.
    fn transforms<V: Dimension>(&self, pose: V::Isometry) -> [Transform; 2] {
        let parent = V::transform(pose).with_scale(self.outer);
        let (linear, translation) = map_of(&parent);
        let translation = translation - linear * self.at.as_dvec3();
        let own = Transform {
            translation: self.at,
            rotation: self.turn,
            scale: self.inner,
        };
        [own, parent.with_translation(translation.as_vec3())]
    }
}

/// Returns the affine map of a transform.
fn map_of(transform: &Transform) -> (DMat3, DVec3) {
    let rotation = DMat3::from_quat(transform.rotation.as_dquat().normalize());
    let scale = DMat3::from_diagonal(transform.scale.as_dvec3());
    (rotation * scale, transform.translation.as_dvec3())
}

/// Returns the affine map of an entity with a parent.
fn map_of_child([own, parent]: &[Transform; 2]) -> (DMat3, DVec3) {
    let ((inner, at), (outer, place)) = (map_of(own), map_of(parent));
    (outer * inner, outer * at + place)
}

/// The special property of a shape.
#[derive(Clone, Copy)]
enum Style {
    Usual,
    /// A thin shape, with its thickness as a fraction of its size.
    Thin(f32),
    /// Points on a lattice, which makes coplanar faces, with repeated, inner and nearly equal
    /// points.
    Coplanar,
    /// Hundreds of points within a box.
    Many,
    /// Hundreds of points on a sphere.
    Sphere,
}

impl<V: Dimension> Figure<V> {
    fn new(class: Class, shape: Made<V>, form: Form, radius: f32) -> Self {
        Self {
            class,
            shape,
            form,
            radius: radius.into(),
            is_general: false,
            stretch: None,
        }
    }

    fn of_points(
        class: Class,
        shape: Made<V>,
        points: impl IntoIterator<Item = V>,
        radius: f32,
    ) -> Self {
        let points = points.into_iter().map(V::deep).collect();
        Self::new(class, shape, Form::Points(points), radius)
    }

    pub fn ball(radius: f32) -> Self {
        Self::of_points(Class::Ball, V::ball(radius), [V::default()], radius)
    }

    pub fn capsule(half_length: f32, radius: f32) -> Self {
        let ends = [Vec3::Y, Vec3::NEG_Y].map(|end| V::of(end * half_length));
        Self::of_points(
            Class::Capsule,
            V::capsule(half_length, radius),
            ends,
            radius,
        )
    }

    pub fn cuboid(half_size: Vec3) -> Self {
        let corners = lattice(2, V::PLANAR).map(|corner| V::of(half_size * (corner * 2.0 - 1.0)));
        Self::of_points(Class::Box, V::cuboid(V::of(half_size)), corners, 0.0)
    }

    pub fn hull(points: Vec<V>) -> Self {
        let hull = ConvexHull::new(points.iter().copied()).expect("finite points");
        Self::of_points(Class::Hull, Made::new(hull), points, 0.0)
    }

    pub fn ellipsoid(half_size: Vec3) -> Self {
        let half_size = V::of(half_size);
        let form = Form::Ellipsoid(half_size.deep());
        Self::new(Class::Ellipsoid, V::ellipsoid(half_size), form, 0.0)
    }

    fn rounded(half_size: Vec3, radius: f32) -> Self {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let axes = &axes[..if V::PLANAR { 2 } else { 3 }];
        let ends = axes.iter().flat_map(|axis| [*axis, -*axis]);
        let corners = ends.map(|end| V::of(half_size * end));
        let shape = V::diamond(V::of(half_size), radius);
        Self::of_points(Class::Rounded, shape, corners, radius)
    }

    /// Returns a random shape of about this size.
    fn random(class: Class, size: f32, style: Style, random: &mut StdRng) -> Self {
        let thickness = match style {
            Style::Thin(thickness) => thickness,
            _ => 1.0,
        };
        // This is one of the two axes that exist in 2D, too.
        let thin = [
            Vec3::new(thickness, 1.0, 1.0),
            Vec3::new(1.0, thickness, 1.0),
        ];
        let thin = thin[random.random_range(0..2)];
        let lengths = Vec3::from([(); 3].map(|()| size * random.random_range(0.2..0.6))) * thin;
        let points = |count: usize, random: &mut StdRng| -> Vec<V> {
            let center = 0.3 * inner(random);
            let around = |_| V::of(size * 0.5 * (center + inner(random)) * thin);
            (0..count).map(around).collect()
        };
        match class {
            Class::Point => {
                let point = points(1, random);
                let shape = Made {
                    support: Box::new(point.clone()),
                    collider: Collider::try_convex_hull(point.clone()).expect("a point"),
                };
                Self::of_points(class, shape, point, 0.0)
            }
            Class::Ball => Self::ball(lengths.z),
            Class::Capsule => Self::capsule(lengths.y, lengths.x),
            Class::Rounded => Self::rounded(lengths, 0.4 * lengths.z),
            Class::Segment => {
                let points = points(2, random);
                let ends = [points[0], points[1]];
                Self::of_points(class, V::segment(ends), ends, 0.0)
            }
            Class::Triangle => {
                let points = points(3, random);
                let corners = [points[0], points[1], points[2]];
                Self::of_points(class, V::triangle(corners), corners, 0.0)
            }
            Class::Box => Self::cuboid(lengths),
            Class::Hull => Self::hull(match style {
                Style::Usual | Style::Thin(_) => points(random.random_range(4..=10), random),
                Style::Coplanar => coplanar(size, random),
                Style::Many => {
                    let count = random.random_range(11..500);
                    (0..count)
                        .map(|_| V::of(size * 0.5 * inner(random)))
                        .collect()
                }
                Style::Sphere => on_sphere(random.random_range(100..=500), size, random),
            }),
            Class::Ellipsoid => Self::ellipsoid(lengths),
            Class::RoundedBox => {
                let half_size = 0.7 * lengths;
                let radius = 0.4 * lengths.z;
                Self {
                    class,
                    shape: V::rounded_box(V::of(half_size), radius),
                    radius: radius.into(),
                    ..Self::cuboid(half_size)
                }
            }
            Class::Rhombus => {
                let half_diagonals = lengths.truncate();
                let Vec2 { x, y } = half_diagonals;
                let ends = [Vec3::X * x, Vec3::X * -x, Vec3::Y * y, Vec3::Y * -y].map(V::of);
                let shape = V::flat(Rhombus { half_diagonals });
                Self::of_points(class, shape, ends, 0.0)
            }
            Class::RegularPolygon => {
                let polygon = regular_polygon(lengths.z, random);
                let corners = regular_corners(&polygon);
                Self::new(class, V::flat(polygon), Form::Points(corners), 0.0)
            }
            Class::Polygon => {
                let corners = convex_corners(lengths, random);
                let polygon = ConvexPolygon::new_unchecked(corners.clone());
                let corners = corners.into_iter().map(|it| V::of(it.extend(0.0)));
                Self::of_points(class, V::flat(polygon), corners, 0.0)
            }
            Class::Sector | Class::CircleSegment => {
                let center = class == Class::Sector;
                let arc = arc(lengths.z, thickness, center, random);
                let shape = if center {
                    V::flat(CircularSector { arc })
                } else {
                    V::flat(CircularSegment { arc })
                };
                Self::new(class, shape, slice(arc, center), 0.0)
            }
            Class::Margined => {
                let margin = 0.4 * lengths.z;
                let (shape, form) = if V::PLANAR {
                    Self::margined_in_plane(lengths, margin, random)
                } else {
                    Self::margined_in_space(lengths, margin, random)
                };
                Self::new(class, shape, form, margin)
            }
            Class::Tetrahedron => {
                let corners = points(4, random);
                let vertices = [0, 1, 2, 3].map(|number| corners[number].deep().as_vec3());
                let shape = V::solid(Tetrahedron { vertices });
                Self::of_points(class, shape, corners, 0.0)
            }
            Class::Cylinder => {
                let (cylinder, form) = cylinder(lengths);
                Self::new(class, V::solid(cylinder), form, 0.0)
            }
            Class::Cone => {
                let (cone, form) = cone(lengths);
                Self::new(class, V::solid(cone), form, 0.0)
            }
            Class::Frustum => {
                let radius_top = lengths.x * random.random_range(0.0..1.5);
                let (half_height, radius_bottom) = (lengths.y, lengths.x);
                let form = Form::Frustum {
                    half_height: half_height.into(),
                    top: radius_top.into(),
                    bottom: radius_bottom.into(),
                };
                let shape = V::solid(ConicalFrustum {
                    radius_top,
                    radius_bottom,
                    height: 2.0 * half_height,
                });
                Self::new(class, shape, form, 0.0)
            }
            Class::Prism => {
                let half_depth = lengths.y;
                let (shape, base) = match random.random_range(0..5) {
                    0 => {
                        let corners = points(3, random);
                        let [a, b, c] = [0, 1, 2].map(|it| corners[it].deep().as_vec3().truncate());
                        let shape = extruded::<V, _>(Triangle2d::new(a, b, c), half_depth);
                        (shape, flat_points([a, b, c]))
                    }
                    1 => {
                        let base = regular_polygon(lengths.x, random);
                        let corners = regular_corners(&base);
                        (extruded::<V, _>(base, half_depth), corners)
                    }
                    2 => {
                        let half_size = Vec2::new(lengths.x, lengths.z);
                        let Vec2 { x, y } = half_size;
                        let corners = [(x, y), (-x, y), (x, -y), (-x, -y)].map(Vec2::from);
                        let shape = extruded::<V, _>(Rectangle { half_size }, half_depth);
                        (shape, flat_points(corners))
                    }
                    3 => {
                        let half_diagonals = Vec2::new(lengths.x, lengths.z);
                        let Vec2 { x, y } = half_diagonals;
                        let corners = [(x, 0.0), (-x, 0.0), (0.0, y), (0.0, -y)].map(Vec2::from);
                        let shape = extruded::<V, _>(Rhombus { half_diagonals }, half_depth);
                        (shape, flat_points(corners))
                    }
                    _ => {
                        let corners = convex_corners(lengths, random);
                        let base = ConvexPolygon::new_unchecked(corners.clone());
                        (extruded::<V, _>(base, half_depth), flat_points(corners))
                    }
                };
                let ends = [1.0, -1.0].map(|end| DVec3::Z * (end * f64::from(half_depth)));
                let corners = base.iter().flat_map(|corner| ends.map(|end| *corner + end));
                Self::new(class, shape, Form::Points(corners.collect()), 0.0)
            }
            Class::Log => {
                let half_depth = lengths.y;
                let (shape, base) = match random.random_range(0..5) {
                    0 => {
                        let base = Ellipse::new(lengths.x, lengths.z);
                        let half_size = base.half_size.extend(0.0).as_dvec3();
                        let shape = extruded::<V, _>(base, half_depth);
                        (shape, Form::Ellipsoid(half_size))
                    }
                    1 => {
                        let half_size = DVec3::new(1.0, 1.0, 0.0) * f64::from(lengths.x);
                        let shape = extruded::<V, _>(Circle::new(lengths.x), half_depth);
                        (shape, Form::Ellipsoid(half_size))
                    }
                    2 => {
                        let (radius, half_length) = (lengths.x, lengths.z);
                        let base = Capsule2d {
                            radius,
                            half_length,
                        };
                        let ends = [1.0, -1.0].map(|end| Vec2::Y * (end * half_length));
                        let form = Form::Grown {
                            core: Box::new(Form::Points(flat_points(ends))),
                            radius: radius.into(),
                        };
                        (extruded::<V, _>(base, half_depth), form)
                    }
                    3 => {
                        let arc = arc(lengths.x, 1.0, true, random);
                        let shape = extruded::<V, _>(CircularSector { arc }, half_depth);
                        (shape, slice(arc, true))
                    }
                    _ => {
                        let arc = arc(lengths.x, 1.0, false, random);
                        let shape = extruded::<V, _>(CircularSegment { arc }, half_depth);
                        (shape, slice(arc, false))
                    }
                };
                let form = Form::Prism {
                    base: Box::new(base),
                    half_depth: half_depth.into(),
                };
                Self::new(class, shape, form, 0.0)
            }
        }
    }

    fn margined_in_plane(lengths: Vec3, margin: f32, random: &mut StdRng) -> (Made<V>, Form) {
        match random.random_range(0..4) {
            0 => {
                let polygon = regular_polygon(lengths.x, random);
                let corners = regular_corners(&polygon);
                let shape = V::flat(Rounded::new(polygon, margin));
                (shape, Form::Points(corners))
            }
            1 => {
                let corners = convex_corners(lengths, random);
                let polygon = ConvexPolygon::new_unchecked(corners.clone());
                let shape = V::flat(Rounded::new(polygon, margin));
                (shape, Form::Points(flat_points(corners)))
            }
            2 => {
                let ellipse = Ellipse::new(lengths.x, lengths.y);
                let form = Form::Ellipsoid(ellipse.half_size.extend(0.0).as_dvec3());
                (V::flat(Rounded::new(ellipse, margin)), form)
            }
            _ => {
                let arc = arc(lengths.x, 1.0, true, random);
                let shape = V::flat(Rounded::new(CircularSector { arc }, margin));
                (shape, slice(arc, true))
            }
        }
    }

    fn margined_in_space(lengths: Vec3, margin: f32, random: &mut StdRng) -> (Made<V>, Form) {
        match random.random_range(0..4) {
            0 => {
                let (cylinder, form) = cylinder(lengths);
                (V::solid(Rounded::new(cylinder, margin)), form)
            }
            1 => {
                let (cone, form) = cone(lengths);
                (V::solid(Rounded::new(cone, margin)), form)
            }
            2 => {
                let vertices = [(); 4].map(|()| inner(random) * lengths);
                let shape = V::solid(Rounded::new(Tetrahedron { vertices }, margin));
                (shape, Form::Points(vertices.map(Vec3::as_dvec3).to_vec()))
            }
            _ => {
                let base_shape = Ellipse::new(lengths.x, lengths.z);
                let half_depth = lengths.y;
                let base = Form::Ellipsoid(base_shape.half_size.extend(0.0).as_dvec3());
                let log = Extrusion {
                    base_shape,
                    half_depth,
                };
                let form = Form::Prism {
                    base: Box::new(base),
                    half_depth: half_depth.into(),
                };
                (V::solid(Rounded::new(log, margin)), form)
            }
        }
    }

    pub fn collider(&self) -> Collider {
        self.shape.collider.clone()
    }

    pub fn support(&self) -> Bounded<'_, V> {
        let shape: Box<dyn Support<Vector = V> + '_> = Box::new(&*self.shape.support);
        Counted::new(shape).bounded().iterative(self.is_general)
    }

    pub fn solid(&self, pose: V::Isometry, origin: DVec3) -> Solid {
        match &self.stretch {
            None => Solid::new(&self.form, self.radius, V::map(pose), origin, V::PLANAR),
            Some(stretch) => self.mapped(&stretch.transforms::<V>(pose), origin),
        }
    }

    /// Returns the shape as the collider of an entity with a parent.
    fn mapped(&self, transforms: &[Transform; 2], origin: DVec3) -> Solid {
        let map = map_of_child(transforms);
        Solid::mapped(&self.form, self.radius, map, origin, V::PLANAR)
    }
}

impl<V> core::fmt::Debug for Figure<V> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter) -> core::fmt::Result {
        let Self {
            class,
            form,
            radius,
            ..
        } = self;
        match form {
            Form::Points(points) if points.len() > 20 => {
                write!(formatter, "{class:?} of {} points", points.len())
            }
            _ => write!(formatter, "{class:?}: {form:?}, radius {radius:?}"),
        }
    }
}

fn regular_polygon(radius: f32, random: &mut StdRng) -> RegularPolygon {
    RegularPolygon::new(radius, random.random_range(3..=12))
}

/// Returns the corners in f64, starting at the top.
fn regular_corners(polygon: &RegularPolygon) -> Vec<DVec3> {
    let sides = polygon.sides;
    let corner = |number| {
        let angle = TAU * f64::from(number) / f64::from(sides);
        DVec3::new(-angle.sin(), angle.cos(), 0.0) * f64::from(polygon.circumradius())
    };
    (0..sides).map(corner).collect()
}

/// Returns some corners of an ellipse, counter-clockwise. If the ellipse is thin, rounding makes a
/// polygon that Bevy does not call convex. The library then takes the hull.
fn convex_corners(half_size: Vec3, random: &mut StdRng) -> Vec<Vec2> {
    let count = random.random_range(3..=8);
    let step = 2.0 * PI / count as f32;
    let start = random.random_range(-PI..PI);
    (0..count)
        .map(|number| {
            // No two corners coincide.
            let angle = start + step * (number as f32 + random.random_range(-0.3..0.3));
            Vec2::from_angle(angle) * Vec2::new(half_size.x, half_size.z)
        })
        .collect()
}

fn flat_points(points: impl IntoIterator<Item = Vec2>) -> Vec<DVec3> {
    points
        .into_iter()
        .map(|point| point.extend(0.0).as_dvec3())
        .collect()
}

fn extruded<V: Dimension, P>(base_shape: P, half_depth: f32) -> Made<V>
where
    P: Primitive2d,
    Extrusion<P>: Primitive<Vec3>,
{
    V::solid(Extrusion {
        base_shape,
        half_depth,
    })
}

fn cylinder(lengths: Vec3) -> (Cylinder, Form) {
    let (half_height, radius) = (lengths.y, lengths.x);
    let form = Form::Cylinder {
        half_height: half_height.into(),
        radius: radius.into(),
    };
    let cylinder = Cylinder {
        half_height,
        radius,
    };
    (cylinder, form)
}

fn cone(lengths: Vec3) -> (Cone, Form) {
    let (half_height, radius) = (lengths.y, lengths.x);
    let form = Form::Cone {
        half_height: half_height.into(),
        radius: radius.into(),
    };
    let height = 2.0 * half_height;
    (Cone { radius, height }, form)
}

/// Returns a random arc, which is at most half a circle if it belongs to a sector.
fn arc(radius: f32, thickness: f32, center: bool, random: &mut StdRng) -> Arc2d {
    let most = if center { FRAC_PI_2 } else { PI };
    let half_angle = match random.random_range(0..8) {
        0 => FRAC_PI_2,
        1 => thickness * FRAC_PI_4,
        _ => thickness * random.random_range(0.05..most),
    };
    Arc2d::new(radius, half_angle)
}

fn slice(arc: Arc2d, center: bool) -> Form {
    Form::Slice {
        radius: arc.radius.into(),
        half_angle: arc.half_angle.into(),
        center,
    }
}

/// Returns the points of a square or cubic lattice in the first quadrant, from 0 to `steps` - 1
/// along each axis.
fn lattice(steps: usize, planar: bool) -> impl Iterator<Item = Vec3> {
    let count = steps.pow(if planar { 2 } else { 3 });
    (0..count).map(move |number| {
        let along = |axis: u32| (number / steps.pow(axis) % steps) as f32;
        Vec3::new(along(0), along(1), along(2))
    })
}

/// Returns a random point of the cube from -1 to 1.
fn inner(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
}

fn coplanar<V: Dimension>(size: f32, random: &mut StdRng) -> Vec<V> {
    let mut points: Vec<Vec3> = lattice(3, V::PLANAR)
        .filter(|_| random.random_bool(0.5))
        .map(|point| (point - 1.0) * 0.5)
        .collect();
    points.push(Vec3::ZERO);
    for _ in 0..3 {
        let point = points[random.random_range(0..points.len())];
        let other = points[random.random_range(0..points.len())];
        points.push(point);
        points.push(point.lerp(other, 0.3));
        let nearly = 10_f32.powf(random.random_range(-7.0..-3.0));
        points.push(point + nearly * inner(random));
    }
    points
        .into_iter()
        .map(|point| V::of(point * size))
        .collect()
}

/// Returns evenly spread points, in 3D by the golden angle, or random points.
fn on_sphere<V: Dimension>(count: usize, radius: f32, random: &mut StdRng) -> Vec<V> {
    let evenly = random.random_bool(0.5);
    (0..count)
        .map(|number| {
            let part = (number as f32 + 0.5) / count as f32;
            let (part, turn) = match (V::PLANAR, evenly) {
                (true, true) => (0.5, 2.0 * PI * part),
                (true, false) => (0.5, random.random_range(-PI..PI)),
                (false, true) => (part, 2.399_963 * number as f32),
                (false, false) => (random.random_range(0.0..1.0), random.random_range(-PI..PI)),
            };
            let z = 1.0 - 2.0 * part;
            let across = (1.0 - z * z).sqrt();
            V::of(radius * Vec3::new(across * turn.cos(), across * turn.sin(), z))
        })
        .collect()
}

/// Two figures in two poses.
pub struct Adverse<V: Dimension> {
    pub regime: Regime,
    pub a: Figure<V>,
    pub pose_a: V::Isometry,
    pub b: Figure<V>,
    pub pose_b: V::Isometry,
    /// The translation of the first pose, which is the origin of the solids' frame.
    pub origin: DVec3,
    pub solid_a: Solid,
    pub solid_b: Solid,
    /// For stretched figures, the transforms of each entity and its parent.
    pub transforms: Option<[[Transform; 2]; 2]>,
}

impl<V: Dimension> core::fmt::Debug for Adverse<V> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter) -> core::fmt::Result {
        let Self {
            regime,
            a,
            pose_a,
            b,
            pose_b,
            transforms,
            ..
        } = self;
        match transforms {
            None => write!(
                formatter,
                "{regime:?}: {a:?} at {pose_a:?}, {b:?} at {pose_b:?}"
            ),
            Some([of_a, of_b]) => write!(
                formatter,
                "{regime:?}: {a:?} under {of_a:?}, {b:?} under {of_b:?}"
            ),
        }
    }
}

/// The placement of the second shape relative to the first.
enum Placement {
    /// The farthest points in opposite directions coincide, before a shift by this fraction of the
    /// smaller size.
    Along(DVec3, f64),
    /// Like `Along`, but for the farthest points of the cores.
    Cores(DVec3, f64),
    /// The translation from the first shape's origin.
    At(DVec3),
}

/// The ingredients of a case.
struct Plan {
    classes: [Class; 2],
    styles: [Style; 2],
    sizes: [f32; 2],
    turns: [Quat; 2],
    away: Vec3,
}

impl<V: Dimension> Adverse<V> {
    /// Returns the case with the number `number`. Successive numbers go through all regimes, and
    /// within each regime through all pairs of classes.
    pub fn numbered(number: usize) -> Self {
        // The number also selects a step of a slow movement.
        Self::step(number, number * 7 % STEPS)
    }

    /// Returns the same case as two entities of a tick, each under a random affine map.
    pub fn mapped(number: usize) -> Self {
        let mut case = Self::made(number, 0, true);
        let stretches = [&case.a, &case.b].map(|figure| figure.stretch);
        if let [Some(of_a), Some(of_b)] = stretches {
            let transforms = [
                of_a.transforms::<V>(case.pose_a),
                of_b.transforms::<V>(case.pose_b),
            ];
            (_, case.origin) = map_of_child(&transforms[0]);
            case.solid_a = case.a.mapped(&transforms[0], case.origin);
            case.solid_b = case.b.mapped(&transforms[1], case.origin);
            case.transforms = Some(transforms);
        }
        case
    }

    /// Returns a step of a slow movement. In all other regimes, all steps are the same.
    pub fn step(number: usize, step: usize) -> Self {
        Self::made(number, step, false)
    }

    fn made(number: usize, step: usize, is_mapped: bool) -> Self {
        let regime = REGIMES[number % REGIMES.len()];
        let random = &mut StdRng::seed_from_u64(number as u64 ^ 0x5eed_0000_0000_0000);
        let plan = Plan::new::<V>(regime, number, random);
        let a_again = &mut random.clone();
        let mut a = Figure::random(plan.classes[0], plan.sizes[0], plan.styles[0], random);
        let mut b = if regime == Regime::Identical {
            Figure::random(plan.classes[0], plan.sizes[0], plan.styles[0], a_again)
        } else {
            Figure::random(plan.classes[1], plan.sizes[1], plan.styles[1], random)
        };
        if is_mapped {
            let mut stretch = |size| Some(Stretch::random::<V>(size, random));
            a.stretch = stretch(plan.sizes[0]);
            b.stretch = if regime == Regime::Identical {
                a.stretch
            } else {
                stretch(plan.sizes[1])
            };
        }
        let mut case = Self::place(regime, a, b, plan, step, random);
        // A bit of a hash selects the solver, independently of the regime and the classes.
        let is_general = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
        case.a.is_general = is_general;
        case.b.is_general = is_general;
        case
    }

    fn place(
        regime: Regime,
        a: Figure<V>,
        b: Figure<V>,
        plan: Plan,
        step: usize,
        random: &mut StdRng,
    ) -> Self {
        let flat = |vector: DVec3| {
            if V::PLANAR {
                vector.with_z(0.0)
            } else {
                vector
            }
        };
        let [turn_a, mut turn_b] = plan.turns;
        let pose_a = V::isometry(turn_a, plan.away);
        let (_, origin) = V::map(pose_a);
        let solid_a = a.solid(pose_a, origin);
        let unplaced = |turn| b.solid(V::isometry(turn, Vec3::ZERO), DVec3::ZERO);
        let sizes = [solid_a.size(), unplaced(turn_b).size()];
        let smaller = match sizes[0].min(sizes[1]) {
            size if size > 0.0 => size,
            _ => sizes[0].max(sizes[1]).max(plan.sizes[0].into()),
        };
        let any = unit(flat(inner(random).as_dvec3())).unwrap_or(DVec3::X);
        let small = |random: &mut StdRng, from, to| 10_f64.powf(random.random_range(from..to));
        let barely = |random: &mut StdRng| match random.random_range(0..4) {
            0 => 0.0,
            1 => small(random, -6.0, -1.0),
            _ => -small(random, -6.0, -2.0),
        };
        let one_of = |directions: Vec<DVec3>, random: &mut StdRng| match directions.len() {
            0 => any,
            count => directions[random.random_range(0..count)],
        };
        let toward = match random.random_range(0..3) {
            0 => one_of(solid_a.normals(), random),
            1 => -one_of(unplaced(turn_b).normals(), random),
            _ => any,
        };
        let mixed = |random: &mut StdRng| match random.random_range(0..8) {
            0 => Placement::At(DVec3::ZERO),
            1 => Placement::Along(any, random.random_range(0.1..4.0)),
            2..=3 => Placement::Along(toward, -random.random_range(0.0..1.0)),
            _ => Placement::Along(toward, barely(random)),
        };
        let placement = match regime {
            Regime::Apart => Placement::Along(any, random.random_range(0.1..10.0)),
            Regime::Gap => Placement::Along(toward, small(random, -6.0, -1.0)),
            Regime::Touching => Placement::Along(toward, 0.0),
            Regime::Shallow => Placement::Along(toward, -small(random, -6.0, -2.0)),
            Regime::Deep => Placement::Along(toward, -random.random_range(0.01..1.5)),
            Regime::Inside => Placement::At(any * (0.3 * sizes[0] * random.random_range(0.0..1.0))),
            Regime::Concentric | Regime::Identical => Placement::At(DVec3::ZERO),
            Regime::FaceOnFace => {
                let normal = one_of(solid_a.normals(), random);
                let other = one_of(unplaced(turn_b).normals(), random);
                turn_b = turning::<V>(other, -normal) * turn_b;
                let beside = flat(inner(random).as_dvec3()).reject_from_normalized(normal);
                let down = unplaced(turn_b);
                let meet = reach(&solid_a, normal) - reach(&down, -normal);
                let aside = if random.random_bool(0.3) {
                    0.0
                } else {
                    0.7 * sizes[0]
                };
                let level = meet.project_onto_normalized(normal);
                Placement::At(level + beside * aside + normal * (barely(random) * smaller))
            }
            Regime::EdgeOnEdge => {
                let edge = |solid: &Solid, random: &mut StdRng| {
                    let points = solid.points();
                    let start = random.random_range(0..points.len());
                    unit(points[start] - points[(start + 1) % points.len()]).unwrap_or(DVec3::Y)
                };
                let along = edge(&solid_a, random);
                let other = edge(&unplaced(turn_b), random);
                turn_b = turning::<V>(other, along) * turn_b;
                let across = unit(flat(any).reject_from_normalized(along)).unwrap_or(toward);
                Placement::Along(across, barely(random))
            }
            Regime::VertexOnVertex => {
                let of_a = one_of(solid_a.points(), random);
                let of_b = one_of(unplaced(turn_b).points(), random);
                Placement::At(of_a - of_b + any * (barely(random) * smaller))
            }
            Regime::Parallel => {
                let steps = [0.0, 0.0, 0.5, 1.0, -1.0];
                let beside = [(); 3].map(|()| steps[random.random_range(0..steps.len())]);
                let axis = [DVec3::X, DVec3::Y][random.random_range(0..2)];
                let axis = V::map(V::isometry(turn_a, Vec3::ZERO)).0 * axis;
                let meet = reach(&solid_a, axis) - reach(&unplaced(turn_b), -axis);
                let beside = (flat(DVec3::from(beside)) * smaller).reject_from_normalized(axis);
                let level = meet.project_onto_normalized(axis);
                Placement::At(level + beside + axis * (barely(random) * smaller))
            }
            Regime::Spheres => match random.random_range(0..4) {
                0 => mixed(random),
                1 => Placement::At(DVec3::ZERO),
                _ => Placement::At(any * (1e-3 * sizes[0])),
            },
            Regime::Ratio
            | Regime::Sliver
            | Regime::Coplanar
            | Regime::ManyPoints
            | Regime::Units
            | Regime::Far => mixed(random),
            Regime::Slow => {
                let part = step as f64 / STEPS as f64;
                let (from, to) = (
                    random.random_range(0.0..0.05),
                    random.random_range(-0.5..0.0),
                );
                let down = unplaced(turn_b);
                let meet = reach(&solid_a, toward) - reach(&down, -toward);
                let axis = inner(random).normalize_or(Vec3::Z);
                let axis = if V::PLANAR { Vec3::Z } else { axis };
                let turn = random.random_range(0.0..1.0) * part as f32;
                turn_b = Quat::from_axis_angle(axis, turn) * turn_b;
                Placement::At(meet + toward * ((from + (to - from) * part) * smaller))
            }
            Regime::Seam => {
                let gap = match random.random_range(0..5) {
                    0 => 0.0,
                    1..=2 => small(random, -7.0, -2.0),
                    _ => -small(random, -7.0, -2.0),
                };
                Placement::Cores(toward, gap)
            }
        };
        let solid_b = unplaced(turn_b);
        let offset = match placement {
            Placement::Along(direction, shift) => {
                reach(&solid_a, direction) - reach(&solid_b, -direction)
                    + direction * (shift * smaller)
            }
            Placement::Cores(direction, shift) => {
                solid_a.support(direction) - solid_b.support(-direction)
                    + direction * (shift * smaller)
            }
            Placement::At(offset) => offset,
        };
        let pose_b = if regime == Regime::Identical {
            pose_a
        } else {
            V::isometry(turn_b, (origin + offset).as_vec3())
        };
        Self {
            regime,
            solid_b: b.solid(pose_b, origin),
            a,
            pose_a,
            b,
            pose_b,
            origin,
            solid_a,
            transforms: None,
        }
    }
}

/// Returns the support point of the whole body.
fn reach(solid: &Solid, direction: DVec3) -> DVec3 {
    solid.support(direction) + direction * solid.radius
}

/// Returns a rotation from one direction to another.
fn turning<V: Dimension>(from: DVec3, to: DVec3) -> Quat {
    let (from, to) = (from.as_vec3(), to.as_vec3());
    if V::PLANAR {
        Quat::from_rotation_z(to.y.atan2(to.x) - from.y.atan2(from.x))
    } else {
        Quat::from_rotation_arc(from.normalize(), to.normalize())
    }
}

impl Plan {
    fn new<V: Dimension>(regime: Regime, number: usize, random: &mut StdRng) -> Self {
        let classes = if V::PLANAR {
            &IN_PLANE[..]
        } else {
            &IN_SPACE[..]
        };
        let count = classes.len();
        // The stride has no common divisor with the number n of pairs. So any n rounds of a regime
        // contain all pairs, and already a few rounds contain all classes on both sides.
        let place = number * STRIDE % (count * count);
        let mut pair = [place % count, place / count].map(|number| classes[number]);
        let mut styles = [Style::Usual; 2];
        let which = usize::from(random.random_bool(0.5));
        let mut sizes = [(); 2].map(|()| 10_f32.powf(random.random_range(-0.5..0.5)));
        let mut turns = [quat(random), quat(random)];
        let mut away = 3.0 * inner(random);
        let mut unit = 1.0;
        match regime {
            Regime::Inside => sizes[1] = sizes[0] * random.random_range(0.02..0.3),
            Regime::Ratio => sizes[which] *= 10_f32.powf(random.random_range(0.0..4.0)),
            Regime::Sliver => {
                let thickness = || [1e-3, 1e-6, 0.0];
                styles[which] = Style::Thin(thickness()[random.random_range(0..3)]);
                if random.random_bool(0.5) {
                    styles[1 - which] = Style::Thin(thickness()[random.random_range(0..3)]);
                }
            }
            Regime::Coplanar => {
                pair[which] = Class::Hull;
                styles = [Style::Coplanar; 2];
            }
            Regime::ManyPoints => {
                pair[which] = Class::Hull;
                styles = [Style::Many; 2];
            }
            Regime::Spheres => {
                pair = [Class::Hull; 2];
                styles = [Style::Sphere; 2];
                if random.random_bool(0.5) {
                    sizes[1] = sizes[0];
                }
            }
            Regime::Units => unit = [1e-3, 1e3][random.random_range(0..2)],
            Regime::Far => away = [1e3, 1e5][random.random_range(0..2)] * inner(random),
            Regime::Parallel => {
                let quarters = random.random_range(0..4) as f32 * 0.5 * PI;
                turns[1] = match random.random_range(0..3) {
                    0 => turns[0],
                    1 => turns[0] * Quat::from_rotation_z(quarters),
                    _ => {
                        turns[0] = Quat::IDENTITY;
                        Quat::IDENTITY
                    }
                };
            }
            Regime::Concentric => {
                if random.random_bool(0.5) {
                    turns = [turns[0]; 2];
                }
                if random.random_bool(0.3) {
                    turns = [Quat::IDENTITY; 2];
                }
            }
            Regime::Seam => {
                let round_ones = [
                    Class::Ball,
                    Class::Capsule,
                    Class::Rounded,
                    Class::RoundedBox,
                ];
                pair[which] = round_ones[random.random_range(0..round_ones.len())];
            }
            _ => {}
        }
        Self {
            classes: pair,
            styles,
            sizes: sizes.map(|size| size * unit),
            turns,
            away: away * unit,
        }
    }
}

fn quat(random: &mut StdRng) -> Quat {
    let [x, y, z, w] = [(); 4].map(|()| random.random_range(-1.0..1.0));
    Quat::from_xyzw(x, y, z, w).normalize()
}
