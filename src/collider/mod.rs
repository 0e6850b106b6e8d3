//! The component that makes an entity collide.

mod compound;
#[cfg(feature = "mesh")]
mod from_mesh;
mod layers;
#[cfg(feature = "mesh")]
mod mesh_component;
#[cfg(feature = "serialize")]
mod serialize;

pub use compound::PartPose;
pub use layers::CollisionLayers;
#[cfg(feature = "mesh")]
pub(crate) use mesh_component::Recipe;
#[cfg(feature = "mesh")]
pub use mesh_component::{ColliderFromMesh, MeshShape, MeshSource};

use std::sync::Arc;

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

use crate::{
    math::{CircularSector, Extrusion},
    shape::{
        AnyColliderShape, ColliderShape, ConvexHull, ConvexShape, Dimension, IntoShape, Shape,
        ShapeError, Support,
    },
};

/// The shape with which an entity collides. Together with the `Transform` that it brings along, all that is needed.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn(Collider::from(Sphere::new(0.5)));
///     commands.spawn((Collider::from(Rectangle::new(30.0, 20.0)), Transform::from_xyz(5.0, 0.0, 0.0)));
/// }
/// ```
///
/// # Frames and dimensions
///
/// The shape decides the dimension. A 3D shape is placed by the whole transform. A 2D shape lies in the xy plane: it
/// sees the xy part of the transform and ignores z. 2D and 3D may live in the same app, and never meet.
///
/// The frame of a primitive is Bevy's. All are centred on the origin. Capsules, cylinders, cones and frustums lie along y, a
/// cone with its tip up, and half of their height on either side; an extrusion lies along z. Of circular sectors and segments
/// it is the centre of the circle that is the origin, and y halves them. A regular polygon has a corner at the top. A `Plane3d`
/// is a flat rectangle, turned as Bevy's mesh of it. Units are yours; lengths may be 0, and angles are in radians.
///
/// Transforms of all ancestors along `ChildOf` count, and so does scale, exactly: it acts on the true shape through its
/// support function, also where it is not uniform or mirrors (a scaled sphere is an ellipsoid, not a polyhedron).
///
/// # A ground without an end
///
/// A `Plane2d` and an `InfinitePlane3d` are half-spaces: their plane goes through the origin, and solid is all on the side
/// opposite to the normal, however far. They meet every shape, exactly, but never one another.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     // Whatever is at y < -2 is in the ground, and its way out is along y.
///     commands.spawn((Collider::from(InfinitePlane3d::new(Vec3::Y)), Transform::from_xyz(0.0, -2.0, 0.0)));
/// }
/// ```
///
/// A scale moves and tilts the plane with everything else. One that flattens space, 0 along an axis, leaves no half-space:
/// while it lasts, the collider touches nothing, and one warning names the entity.
///
/// # Saving and loading
///
/// A collider is reflected (as a whole: its numbers cannot be edited one by one), and with the feature `serialize` it is data:
/// Bevy's scenes save it, and so does any format of `serde`.
///
/// ```
/// # #[cfg(feature = "serialize")] {
/// use bevy::prelude::*;
/// use headbutt::Collider;
///
/// let text = ron::to_string(&Collider::from(Circle::new(20.0))).unwrap();
/// assert_eq!(text, "Plane(Convex((kind:Ball(radius:20.0),margin:0.0)))");
/// assert!(ron::from_str::<Collider>(&text).is_ok());
///
/// let error = ron::from_str::<Collider>("Plane(Convex((kind:Ball(radius:-1.0),margin:0.0)))");
/// assert!(error.unwrap_err().to_string().contains("the radius must not be negative"));
/// # }
/// ```
///
/// Written is `Plane` or `Space`, and in it what collides:
///
/// | | |
/// |---|---|
/// | `Convex((kind, margin))` | one shape, and its margin |
/// | `Compound(parts: [(translation, rotation, shape)], margin)` | `shape` is `(kind, margin)`; `rotation` are the columns of a matrix, in `f64` and to 12 digits |
/// | `Surface(vertices, facets, one_sided, margin)` | a polyline, a mesh, a height field: `facets` are the numbers of two vertices in the plane, and of three in space |
///
/// A kind is one of `Ball(radius)`, `Capsule(half_length, radius)`, `Box(half_size)`, `Diamond(half_diagonals)` (a rhombus),
/// `Ellipsoid(half_size)`, `Frustum(half_height, radius_top, radius_bottom)` (a cone and a cylinder, too),
/// `Cap(radius, half_angle, pointed)` (a sector, if pointed, or a segment of a circle), `Segment([_; 2])`, `Triangle([_; 3])`,
/// `Tetrahedron([_; 4])`, `Hull([_])`, `HalfSpace(normal)`, and `Extrusion((base, half_depth))` of what the plane has. Of a hull it
/// is the vertices that it has kept. What is loaded collides as what was saved, to the bit,
/// if the format keeps all digits of an `f64`: `serde_json` does so with its feature `float_roundtrip`. Loading checks all
/// numbers as the constructors do, and what is no shape is an error with the same text. Saving fails for a collider of a
/// [`custom`](Self::custom) shape, which is code, and for one that an error has made inert.
///
/// # Errors
///
/// [`From`] cannot fail. A shape with nonsense in it (a NaN, a negative radius) becomes an inert collider, and one
/// warning names the entity; [`try_new`](Self::try_new) returns the reason instead. The [`Default`] collider is inert
/// too, without a warning: it touches nothing.
///
/// A primitive is convex; see [`Collider::compound`] for several as one. What is concave for some of its numbers, a
/// circular sector, is [`TryFrom`] only:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{Collider, ShapeError};
///
/// let slice = CircularSector::from_degrees(1.0, 90.0);
/// assert!(Collider::try_from(slice).is_ok());
/// assert!(Collider::try_from(Extrusion::new(slice, 0.2)).is_ok());
///
/// let rest = CircularSector::from_degrees(1.0, 270.0);
/// assert!(matches!(Collider::try_from(rest), Err(ShapeError::Concave(_))));
/// ```
///
/// What is concave anyway does not compile. There is something else for each:
///
/// | concave | instead |
/// |---|---|
/// | `Torus` | a [`compound`](Self::compound) of capsules; or its surface, a [`trimesh`](Self::trimesh) |
/// | `Annulus`, `Ring` | a `compound` of convex pieces; with the feature `mesh`, `compound_from_mesh_2d` makes it of the primitive's mesh |
/// | `Arc2d`, `Polyline2d`, `Polyline3d` | a [`polyline`](Self::polyline) of points, or a `compound` of segments; the hull of an arc is a `CircularSegment` |
/// | `Polygon` | a `compound` of convex pieces; the [`polyline`](Self::polyline) around it; or its [`convex_hull`](Self::convex_hull) |
///
/// ```compile_fail,E0277
/// use bevy::prelude::*;
///
/// headbutt::Collider::from(Torus::default());
/// ```
///
/// ```compile_fail,E0277
/// use bevy::prelude::*;
///
/// headbutt::Collider::from(Annulus::default());
/// ```
///
/// ```compile_fail,E0277
/// use bevy::prelude::*;
///
/// headbutt::Collider::from(Arc2d::default());
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
/// use headbutt::Collider;
///
/// // Capsules along the circle in the middle of the tube: chords of it, with their ends on it.
/// let torus = Torus::new(0.8, 1.2);
/// let step = TAU / 16.0;
/// let tube = Collider::from(Capsule3d::new(torus.minor_radius, 2.0 * torus.major_radius * (0.5 * step).sin()));
/// let ring = Collider::compound((0..16).map(|number| {
///     let turn = Quat::from_rotation_y(step * number as f32);
///     let middle = Vec3::X * torus.major_radius * (0.5 * step).cos();
///     (Isometry3d::new(turn * middle, turn * Quat::from_rotation_x(0.25 * TAU)), tube.clone())
/// }));
/// assert!(ring.is_ok());
///
/// // The two triangles of each piece of the annulus.
/// let Annulus { inner_circle, outer_circle } = Annulus::new(1.0, 2.0);
/// let pieces = (0..32).flat_map(|number| {
///     let [from, to] = [number, number + 1].map(|it| Vec2::from_angle(TAU / 32.0 * it as f32));
///     let [a, b] = [from, to].map(|way| way * inner_circle.radius);
///     let [c, d] = [from, to].map(|way| way * outer_circle.radius);
///     [Triangle2d::new(a, c, b), Triangle2d::new(b, c, d)]
/// });
/// let washer = Collider::compound(pieces.map(|piece| (Vec2::ZERO, Collider::from(piece))));
/// assert!(washer.is_ok());
///
/// // A bowl.
/// let arc = Arc2d::from_turns(2.0, 0.5);
/// let points = (0..=16).map(|number| {
///     let angle = arc.half_angle * (1.0 - number as f32 / 8.0);
///     -arc.radius * Vec2::new(angle.sin(), angle.cos())
/// });
/// assert!(Collider::polyline(points).is_ok());
/// ```
///
/// # Beside the plugin
///
/// A collider is the plugin's: [`Collisions`](crate::Collisions) and events tell about it. [`query`](crate::query) asks of shapes
/// and not of colliders: who wants more than the plugin reports, such as all the points that hold two things apart, keeps
/// the shape too.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Block(Cuboid);
///
/// /// In the world, if they have no parents and no scale: an isometry has none.
/// fn corners_that_touch(collisions: Collisions, blocks: Query<(&Block, &Transform)>) {
///     for hit in collisions.iter() {
///         let Ok([(a, at_a), (b, at_b)]) = blocks.get_many([hit.entity, hit.other]) else {
///             continue;
///         };
///         let manifold = query::manifold(&a.0, at_a.to_isometry(), &b.0, at_b.to_isometry());
///         let manifold = manifold.expect("they touch, where they still are");
///         assert_eq!(manifold.points().len(), 4);
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)))
///     .add_systems(PostUpdate, corners_that_touch.after(HeadbuttSystems::Report));
/// for (size, height) in [(8.0, 0.0), (1.0, 4.25)] {
///     let shape = Cuboid::from_length(size);
///     app.world_mut().spawn((Block(shape), Collider::from(shape), Transform::from_xyz(0.0, height, 0.0)));
/// }
/// app.update();
/// # use headbutt::CollisionState;
/// # assert_eq!(app.world().resource::<CollisionState>().len(), 1);
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(opaque, Component, Clone, Debug, Default)]
// Scenes name it so, wherever it is in this crate.
#[type_path = "headbutt"]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform)]
pub struct Collider {
    content: Content,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Content {
    #[default]
    Inert,
    Rejected(ShapeError),
    Shape(AnyColliderShape),
}

impl Collider {
    /// A collider of a Bevy primitive, a [`ConvexHull`], or one of these with a margin ([`Rounded`](crate::Rounded)).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Collider, ShapeError};
    ///
    /// assert!(Collider::try_new(Circle::new(1.0)).is_ok());
    /// assert_eq!(Collider::try_new(Circle::new(-1.0)).unwrap_err(), ShapeError::Negative("radius"));
    /// ```
    ///
    /// # Errors
    ///
    /// A [`ShapeError`] says what about it is no shape.
    pub fn try_new(shape: impl IntoShape) -> Result<Self, ShapeError> {
        shape.into_shape().map(Self::of)
    }

    /// The convex hull of points, in `Vec2` or `Vec3`, in any order.
    ///
    /// Points that it does not need are dropped; points on a plane, on a line or all in one place make a flat hull. See
    /// [`ConvexHull`], also for what hulls of many points cost.
    ///
    /// ```
    /// use bevy::math::Vec2;
    /// use headbutt::Collider;
    ///
    /// let ramp = Collider::convex_hull([Vec2::ZERO, Vec2::new(4.0, 0.0), Vec2::new(4.0, 1.0)]);
    /// assert!(ramp.is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`ConvexHull::new`]: no points, more than [`ConvexHull::MAX_POINTS`], or one that is not finite.
    pub fn convex_hull<V: Dimension>(
        points: impl IntoIterator<Item = V>,
    ) -> Result<Self, ShapeError> {
        ConvexHull::new(points).and_then(Self::try_new)
    }

    /// A shape of your own, known by its support function: see [`Support`] for how to write one. It is scaled and placed
    /// like any other.
    ///
    /// ```
    /// use bevy::math::{DVec3, Vec3};
    /// use headbutt::{Collider, Support};
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
    /// Its bounding box is found by its supports along the axes of the world. A shape that answers NaN or infinity touches
    /// nothing, and neither does one that answers the nearest point for the farthest; where its bounding box shows it, a warning
    /// names the entity. Any other nonsense gives contacts that mean nothing, and leaves those of others as they are.
    ///
    /// A collider of a custom shape cannot be saved, because it is code.
    pub fn custom<S>(shape: S) -> Self
    where
        S: Support<Vector: Dimension> + Send + Sync + 'static,
    {
        Self::of(Shape::Custom(Arc::new(shape)))
    }

    /// This collider with a margin around its shape: all points no farther from it than that. In the shape's own frame and
    /// units, so that what scales the collider scales the margin, too. It is exact, and as cheap as the shape alone; but under a
    /// scale that is not uniform a margin is round, and costs what an ellipsoid does.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::Collider;
    ///
    /// // A coin of radius 1 with a round edge.
    /// let coin = Collider::from(Cylinder::new(0.9, 0.0)).rounded(0.1);
    /// assert!(!coin.is_inert());
    /// ```
    ///
    /// A margin that is negative or not finite makes it inert, with a warning, like nonsense in a shape does. What is inert
    /// already stays as it is.
    #[must_use]
    pub fn rounded(self, margin: f32) -> Self {
        self.try_rounded(margin).unwrap_or_else(Self::rejected)
    }

    /// This collider with a margin around its shape, like [`rounded`](Self::rounded), or the reason why it can have none.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Collider, ShapeError};
    ///
    /// let die = Collider::from(Cuboid::new(0.8, 0.8, 0.8));
    /// assert!(die.clone().try_rounded(0.1).is_ok());
    /// assert_eq!(die.try_rounded(-0.1).unwrap_err(), ShapeError::Negative("margin"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`ShapeError::Negative`] or [`ShapeError::NotFinite`], if the margin (or a radius with it) is; and if this collider is
    /// inert because of an error, that one.
    pub fn try_rounded(self, margin: f32) -> Result<Self, ShapeError> {
        match self.content {
            Content::Inert => Ok(self),
            Content::Rejected(error) => Err(error),
            Content::Shape(AnyColliderShape::D2(body)) => body.rounded(margin).map(Self::of_body),
            Content::Shape(AnyColliderShape::D3(body)) => body.rounded(margin).map(Self::of_body),
        }
    }

    /// Whether this collider touches nothing whatever its pose: it is the default one, or its shape was none.
    pub fn is_inert(&self) -> bool {
        !matches!(self.content, Content::Shape(_))
    }

    fn of<V: Dimension>(shape: Shape<V>) -> Self {
        Self::of_body(ColliderShape::Convex(shape))
    }

    pub(crate) fn of_body<V: Dimension>(body: ColliderShape<V>) -> Self {
        Self {
            content: Content::Shape(V::any(body)),
        }
    }

    pub(crate) fn rejected(error: ShapeError) -> Self {
        Self {
            content: Content::Rejected(error),
        }
    }

    /// What there is of it.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// What collides; `None` for the default collider; and an error for what was no shape.
    pub(crate) fn body(&self) -> Result<Option<&AnyColliderShape>, ShapeError> {
        match &self.content {
            Content::Inert => Ok(None),
            Content::Rejected(error) => Err(*error),
            Content::Shape(body) => Ok(Some(body)),
        }
    }
}

impl<S: ConvexShape> From<S> for Collider {
    fn from(shape: S) -> Self {
        Self::try_new(shape).unwrap_or_else(Self::rejected)
    }
}

/// What may be concave. (Not in one with the above: what has `From` has the standard library's `TryFrom`.)
macro_rules! try_from {
    ($($shape:ty),*) => { $(
        impl TryFrom<$shape> for Collider {
            type Error = ShapeError;

            fn try_from(shape: $shape) -> Result<Self, ShapeError> {
                Self::try_new(shape)
            }
        }
    )* };
}

try_from!(CircularSector, Extrusion<CircularSector>);
