//! [`Collider`], the component, with the constructors for points and custom shapes. `pipeline/` and
//! `collider_query/` read the shape with [`Collider::shape`].

use std::sync::Arc;

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

use crate::shape::{
    AnyColliderShape, ColliderShape, ConvexHull, Dimension, IntoShape, Shape, ShapeError, Support,
};

/// The shape with which an entity collides, in 2D or 3D. An entity needs no other component: Bevy
/// adds the required `Transform`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn(Collider::sphere(0.5));
///     commands.spawn((Collider::rectangle(30.0, 20.0), Transform::from_xyz(5.0, 0.0, 0.0)));
///     // Most convex primitives of Bevy work.
///     commands.spawn(Collider::from(Tetrahedron::default()));
/// }
/// ```
///
/// # Constructors
///
/// * 2D: [`circle`](Self::circle), [`ellipse`](Self::ellipse), [`rectangle`](Self::rectangle),
///   [`capsule_2d`](Self::capsule_2d), [`regular_polygon`](Self::regular_polygon).
/// * 3D: [`sphere`](Self::sphere), [`cuboid`](Self::cuboid), [`capsule_3d`](Self::capsule_3d),
///   [`cylinder`](Self::cylinder), [`cone`](Self::cone).
/// * From `Vec2` or `Vec3`: [`segment`](Self::segment), [`triangle`](Self::triangle),
///   [`convex_hull`](Self::convex_hull), [`half_space`](Self::half_space).
/// * Most other convex primitives of Bevy: `Collider::from(primitive)`.
/// * Surfaces: [`polyline`](Self::polyline) in 2D, [`trimesh`](Self::trimesh) and
///   [`heightfield`](Self::heightfield) in 3D.
/// * Levels of tiles or voxels: [`cells`](Self::cells).
/// * Several colliders as one: [`compound`](Self::compound), and as one solid without seams:
///   [`joined`](Self::joined).
/// * Any collider with a margin around it: [`rounded`](Self::rounded).
/// * Shapes of your own: [`custom`](Self::custom).
///
/// The feature `mesh` adds constructors from a Bevy `Mesh`, and the component `ColliderFromMesh`.
///
/// # Invalid shapes
///
/// These constructors never fail. If the shape is invalid, for example because of a negative
/// radius, the collider is *inert*. An inert collider touches nothing, and one warning names the
/// entity. [`try_new`](Self::try_new) and the constructors with `try_` return the [`ShapeError`]
/// instead:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// assert!(Collider::circle(-1.0).is_inert());
/// let error = Collider::try_new(Circle::new(-1.0)).unwrap_err();
/// assert_eq!(error, ShapeError::Negative("radius"));
/// ```
///
/// The [`Default`] collider is also inert, but causes no warning.
///
/// # Frames and dimensions
///
/// The shape decides the dimension. A 3D shape follows the whole transform. A 2D shape lies in the
/// xy plane, follows the xy part of the transform, and ignores z. Colliders of both dimensions may
/// be in the same app, and never touch each other.
///
/// The unit of length is up to you. Lengths may be 0. Angles are in radians. Primitives have the
/// same frames as in Bevy, centered on the origin unless they are defined by points:
///
#[cfg_attr(
    doc,
    doc = "![The 2D shapes with their origins and axes][shapes-2d]\n\n"
)]
#[cfg_attr(
    doc,
    doc = "![The 3D shapes with their origins and axes][shapes-3d]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
/// * Capsules, cylinders, cones and frustums lie along y. The tip of a cone points up.
/// * An extrusion lies along z.
/// * For circular sectors and segments, the origin is the center of the circle, and y is their axis
///   of symmetry.
/// * A `Plane3d` is a flat rectangle with the same orientation as its mesh in Bevy.
///
/// A collider follows the transforms of all its ancestors along `ChildOf`. Scale is exact, even if
/// the scale is not uniform or mirrors the shape: a scaled sphere is an ellipsoid, not a
/// polyhedron.
///
/// # Half-spaces
///
/// [`half_space`](Self::half_space), `Plane2d` and `InfinitePlane3d` represent infinite ground. The
/// plane passes through the origin, and all points on the side opposite to the normal are solid. A
/// half-space can touch every shape except another half-space.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn_ground(mut commands: Commands) {
///     // The ground is solid for y < -2, and pushes shapes out along y.
///     commands.spawn((Collider::half_space(Vec3::Y), Transform::from_xyz(0.0, -2.0, 0.0)));
/// }
/// ```
///
/// A transform moves and tilts the plane. A half-space touches nothing while its scale is 0 along
/// an axis, and one warning names the entity.
///
/// # Concave shapes
///
/// A `CircularSector` of more than half a circle is invalid. Conversions from primitives that are
/// always concave do not compile. Use these shapes instead:
///
/// * `Torus`: a [`compound`](Self::compound) of capsules, or its surface as a
///   [`trimesh`](Self::trimesh).
/// * `Annulus`, `Ring`: a `compound` of triangles. With the feature `mesh`, `compound_from_mesh_2d`
///   creates this compound from the mesh of the primitive.
/// * `Arc2d`, `Polyline2d`, `Polyline3d`: a [`polyline`](Self::polyline), or a `compound` of
///   segments. The hull of an arc is a `CircularSegment`.
/// * `Polygon`: a `compound` of triangles, the `polyline` around it, or its
///   [`convex_hull`](Self::convex_hull).
///
/// ```compile_fail,E0277
/// use bevy::prelude::*;
///
/// headbutt::Collider::from(Torus::default());
/// ```
///
/// ```compile_fail,E0277
/// headbutt::Collider::from(bevy::prelude::Annulus::default());
/// ```
///
/// ```compile_fail,E0277
/// headbutt::Collider::from(bevy::prelude::Arc2d::default());
/// ```
///
/// ```compile_fail,E0277
/// use bevy::prelude::*;
///
/// headbutt::Collider::from(Polygon::new([Vec2::ZERO, Vec2::X, Vec2::Y]));
/// ```
///
/// ```
/// use bevy::prelude::*;
/// use core::f32::consts::TAU;
/// use headbutt::prelude::*;
///
/// // A torus of capsules, whose axes are chords of the circle in the middle of the tube.
/// let torus = Torus::new(0.8, 1.2);
/// let step = TAU / 16.0;
/// let length = 2.0 * torus.major_radius * (0.5 * step).sin();
/// let middle = Vec3::X * torus.major_radius * (0.5 * step).cos();
/// let capsule = Collider::capsule_3d(torus.minor_radius, length);
/// let ring = Collider::compound((0..16).map(|number| {
///     let turn = Quat::from_rotation_y(step * number as f32);
///     let rotation = turn * Quat::from_rotation_x(0.25 * TAU);
///     (Isometry3d::new(turn * middle, rotation), capsule.clone())
/// }));
/// assert!(!ring.is_inert());
///
/// // An annulus of triangles.
/// let Annulus { inner_circle, outer_circle } = Annulus::new(1.0, 2.0);
/// let pieces = (0..32).flat_map(|number| {
///     let [start, end] = [number, number + 1].map(|n| Vec2::from_angle(TAU / 32.0 * n as f32));
///     let [a, b] = [start, end].map(|direction| direction * inner_circle.radius);
///     let [c, d] = [start, end].map(|direction| direction * outer_circle.radius);
///     [Collider::triangle(a, c, b), Collider::triangle(b, c, d)]
/// });
/// let washer = Collider::compound(pieces.map(|piece| (Vec2::ZERO, piece)));
/// assert!(!washer.is_inert());
/// ```
///
/// # Queries
///
/// The functions of [`query`](crate::query) also accept colliders. These functions compute more
/// than the plugin reports, such as all points of a contact manifold:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// /// Supports only colliders without parents. For other colliders, see `QueryPose`.
/// fn count_points(collisions: Res<Collisions>, colliders: Query<(&Collider, &Transform)>) {
///     for hit in collisions.iter() {
///         if let Ok([(a, pose_a), (b, pose_b)]) = colliders.get_many([hit.entity, hit.other])
///             && let Some(manifold) = query::manifold(a, pose_a, b, pose_b)
///         {
///             assert_eq!(manifold.points().len(), 4);
///         }
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)))
///     .add_systems(PostUpdate, count_points.after(HeadbuttSystems::Report));
/// for (size, height) in [(8.0, 0.0), (1.0, 4.25)] {
///     let pose = Transform::from_xyz(0.0, height, 0.0);
///     app.world_mut().spawn((Collider::cuboid(size, size, size), pose));
/// }
/// app.update();
/// assert_eq!(app.world().resource::<Collisions>().len(), 1);
/// ```
///
/// A collider also has methods of its own: [`aabb`](Self::aabb),
/// [`contains_point`](Self::contains_point), [`closest_point`](Self::closest_point).
/// [`shape_2d`](Self::shape_2d) and [`shape_3d`](Self::shape_3d) return its shape.
///
/// # Saving and loading
///
/// A collider is reflected as an opaque value: its numbers cannot be edited one by one. With the
/// feature `serialize`, Bevy's dynamic scenes and the formats of serde save and load colliders and
/// [`CollisionLayers`](crate::CollisionLayers). Bevy's own feature `serialize` is not needed. For
/// example, this is an entity in a scene:
///
/// ```text
/// {
///     "headbutt::Collider": D3(Convex((
///         kind: Box(half_size: (0.5, 0.25, 0.125)),
///         margin: 0.1,
///     ))),
///     "headbutt::CollisionLayers": (memberships: 1, filters: 6),
/// }
/// ```
///
/// The same data in Rust:
///
/// ```
/// # #[cfg(feature = "serialize")] {
/// use headbutt::Collider;
///
/// let text = ron::to_string(&Collider::circle(20.0)).unwrap();
/// assert_eq!(text, "D2(Convex((kind:Ball(radius:20.0),margin:0.0)))");
/// assert!(ron::from_str::<Collider>(&text).is_ok());
///
/// let error = ron::from_str::<Collider>("D2(Convex((kind:Ball(radius:-1.0),margin:0.0)))");
/// assert!(error.unwrap_err().to_string().contains("the radius must not be negative"));
/// # }
/// ```
///
/// The default collider is an `Inert`, and a grid without cells is a `NoCells`. The data of any
/// other collider is a `D2` or a `D3` that contains one of these values:
///
/// * `Convex((kind, margin))`: one shape and its margin.
/// * `Compound(parts: [(translation, rotation, shape)], margin)`: `shape` is `(kind, margin)`, and
///   `rotation` lists the columns of an `f64` matrix that is orthonormal to 12 digits.
/// * `Surface(vertices, facets, one_sided, margin)`: a polyline, trimesh or height field. A facet
///   is a list of vertex indices: two in 2D, three in 3D.
/// * `Cells(cell_size, shapes: [[_]], runs: [(start, count, cell)], margin)`: a union of cells. A
///   shape lists the vertices of a hull. A run is a row of equal cells along x, and `cell` is
///   `(heights, along_z, hanging, one_way, shape, material)`.
///
/// A kind is one of these values:
///
/// | kind | shapes |
/// |---|---|
/// | `Ball(radius)` | circle, sphere |
/// | `Capsule(half_length, radius)` | capsules |
/// | `Box(half_size)` | rectangle, cuboid |
/// | `Diamond(half_diagonals)` | rhombus |
/// | `Ellipsoid(half_size)` | ellipse |
/// | `Frustum(half_height, radius_top, radius_bottom)` | cylinder, cone, frustum |
/// | `Cap((radius, half_angle, pointed))` | circular sector if pointed, else circular segment |
/// | `Segment([_; 2])`, `Triangle([_; 3])`, `Tetrahedron([_; 4])` | the vertices |
/// | `Hull([_])` | the vertices that the hull has kept |
/// | `HalfSpace(normal)` | half-spaces |
/// | `Extrusion(base, half_depth)` | extrusion: `base` is the `(kind, margin)` of a 2D shape |
///
/// If the format keeps all digits of an `f32` and `f64`, a loaded collider behaves like the saved
/// collider, bit for bit. `serde_json` keeps all digits with its feature `float_roundtrip`. Loading
/// checks all numbers as the constructors do, and returns the same errors. Saving fails for a
/// [`custom`](Self::custom) shape, which is code, and for an invalid shape. If saving a collider
/// fails, the whole scene cannot be saved. A collider that `ColliderFromMesh` has built is saved
/// with the entity.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(opaque, Component, Clone, Debug, Default)]
// This path keeps the name in scenes independent of the module.
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent),
    reflect(Serialize, Deserialize)
)]
#[require(Transform)]
pub struct Collider {
    pub(super) shape: AnyColliderShape,
}

impl Collider {
    /// Creates a collider from a Bevy primitive, a point, a [`ConvexHull`], or a
    /// [`Rounded`](crate::Rounded) shape.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// assert!(Collider::try_new(Circle::new(1.0)).is_ok());
    /// let error = Collider::try_new(Circle::new(-1.0)).unwrap_err();
    /// assert_eq!(error, ShapeError::Negative("radius"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a [`ShapeError`] if the shape is invalid.
    pub fn try_new(shape: impl IntoShape) -> Result<Self, ShapeError> {
        shape.into_shape().map(Self::of)
    }

    /// Creates the convex hull of points, which are `Vec2` or `Vec3`, in any order.
    ///
    /// Points inside the hull are dropped. If all points are on one plane or line, or coincide, the
    /// hull is flat. See [`ConvexHull`] for the cost of many points.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// fn spawn_ramp(mut commands: Commands) {
    ///     let corners = [Vec2::ZERO, Vec2::new(4.0, 0.0), Vec2::new(4.0, 1.0)];
    ///     commands.spawn(Collider::convex_hull(corners));
    /// }
    /// ```
    ///
    /// If there are no points, more than [`ConvexHull::MAX_POINTS`], or a point that is not finite,
    /// the collider is inert, and one warning names the entity.
    pub fn convex_hull<V: Dimension>(points: impl IntoIterator<Item = V>) -> Self {
        Self::try_convex_hull(points).unwrap_or_else(Self::rejected)
    }

    /// Returns the [`convex_hull`](Self::convex_hull) of points, or an error if the points are
    /// invalid.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let none: [Vec2; 0] = [];
    /// assert_eq!(Collider::try_convex_hull(none).unwrap_err(), ShapeError::NoPoints);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns any error of [`ConvexHull::new`].
    pub fn try_convex_hull<V: Dimension>(
        points: impl IntoIterator<Item = V>,
    ) -> Result<Self, ShapeError> {
        ConvexHull::new(points).and_then(Self::try_new)
    }

    /// Creates a collider from a shape of your own, which is described by its support function.
    /// [`Support`] explains how to write a support function. A custom shape is scaled and moved
    /// like any other shape.
    ///
    /// ```
    /// use bevy::math::DVec3;
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// /// A flat disc in the xz plane.
    /// struct Disc(f64);
    ///
    /// impl Support for Disc {
    ///     type Vector = Vec3;
    ///
    ///     fn support(&self, direction: DVec3) -> DVec3 {
    ///         let flat = DVec3::new(direction.x, 0.0, direction.z);
    ///         flat.try_normalize().unwrap_or(DVec3::X) * self.0
    ///     }
    /// }
    ///
    /// let disc = Collider::custom(Disc(1.5));
    /// assert!(!disc.is_inert());
    /// ```
    ///
    /// The bounding box is computed from the support points along the world axes. If the support
    /// function returns NaN, infinity, or the nearest point instead of the farthest point, the
    /// shape touches nothing. If the bounding box reveals the error, a warning names the entity.
    /// Any other error in a support function causes wrong contacts of this shape, but does not
    /// affect other shapes.
    ///
    /// A custom shape is code, so its collider cannot be saved.
    pub fn custom<S>(shape: S) -> Self
    where
        S: Support<Vector: Dimension> + Send + Sync + 'static,
    {
        Self::of(Shape::Custom(Arc::new(shape)))
    }

    /// Returns this collider with a margin around its shape: all points at most `margin` away from
    /// the shape are added. The margin is in the units of the shape: the entity's scale also scales
    /// the margin.
    ///
    /// The margin is exact, and does not make queries slower. With a non-uniform scale, however,
    /// queries on the collider cost as much as queries on an ellipsoid.
    ///
    /// ```
    /// use headbutt::Collider;
    ///
    /// // A coin of radius 1 with a round edge.
    /// let coin = Collider::cylinder(0.9, 0.0).rounded(0.1);
    /// assert!(!coin.is_inert());
    /// ```
    ///
    /// A margin that is negative or not finite makes the collider inert, with one warning that
    /// names the entity. An inert collider is returned unchanged.
    #[must_use]
    pub fn rounded(self, margin: f32) -> Self {
        self.try_rounded(margin).unwrap_or_else(Self::rejected)
    }

    /// Returns this collider [`rounded`](Self::rounded) by a margin, or an error if the margin is
    /// invalid.
    ///
    /// ```
    /// use headbutt::{Collider, ShapeError};
    ///
    /// let die = Collider::cuboid(0.8, 0.8, 0.8);
    /// assert!(die.clone().try_rounded(0.1).is_ok());
    /// assert_eq!(die.try_rounded(-0.1).unwrap_err(), ShapeError::Negative("margin"));
    /// ```
    ///
    /// # Errors
    ///
    /// * [`ShapeError::Negative`] or [`ShapeError::NotFinite`]: the margin, or the sum of the
    ///   margin and the shape's radius, is negative or not finite.
    /// * The error of this collider's shape, if the shape is invalid.
    pub fn try_rounded(self, margin: f32) -> Result<Self, ShapeError> {
        match self.shape {
            AnyColliderShape::Inert | AnyColliderShape::NoCells(_) => Ok(self),
            AnyColliderShape::D2(shape) => shape.rounded(margin).map(Self::of_shape),
            AnyColliderShape::D3(shape) => shape.rounded(margin).map(Self::of_shape),
            AnyColliderShape::Rejected(error) => Err(error),
        }
    }

    /// Returns `true` if this collider touches nothing in any pose, because it is the default
    /// collider, its grid has no cells, or its shape is invalid.
    pub fn is_inert(&self) -> bool {
        !matches!(
            self.shape,
            AnyColliderShape::D2(_) | AnyColliderShape::D3(_)
        )
    }

    pub(super) fn of<V: Dimension>(shape: Shape<V>) -> Self {
        Self::of_shape(ColliderShape::Convex(shape))
    }

    pub(crate) fn of_shape<V: Dimension>(shape: ColliderShape<V>) -> Self {
        Self {
            shape: V::any(shape),
        }
    }

    pub(crate) fn rejected(error: ShapeError) -> Self {
        Self {
            shape: AnyColliderShape::Rejected(error),
        }
    }

    /// Returns the shape, or the reason why the collider has no shape.
    pub(crate) fn shape(&self) -> &AnyColliderShape {
        &self.shape
    }
}

/// This conversion never fails: if the shape is invalid, the collider is inert, and one warning
/// names the entity.
impl<S: IntoShape> From<S> for Collider {
    fn from(shape: S) -> Self {
        Self::try_new(shape).unwrap_or_else(Self::rejected)
    }
}
