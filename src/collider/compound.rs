//! Colliders that are not convex: parts that are, and the surfaces of levels.

use std::sync::Arc;

use crate::{
    Collider,
    collider::Content,
    math::{Isometry2d, Isometry3d, Vec2, Vec3},
    shape::{AnyColliderShape, ColliderShape, Compound, Dimension, Parts, ShapeError, Surface},
    space::Space,
};

/// Where a part of a [`Collider::compound`] is: `Isometry2d` or `Isometry3d`, or just `Vec2` or `Vec3`.
pub trait PartPose: sealed::Sealed {
    /// The space of the compound.
    type Vector: Dimension;

    /// The isometry.
    #[doc(hidden)]
    fn isometry(self) -> <Self::Vector as Space>::Isometry;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! part_poses {
    ($($pose:ty as $vector:ty: |$it:ident| $isometry:expr;)*) => { $(
        impl sealed::Sealed for $pose {}

        impl PartPose for $pose {
            type Vector = $vector;

            fn isometry(self) -> <$vector as Space>::Isometry {
                let $it = self;
                $isometry
            }
        }
    )* };
}

part_poses! {
    Isometry2d as Vec2: |it| it;
    Isometry3d as Vec3: |it| it;
    Vec2 as Vec2: |it| Isometry2d::from_translation(it);
    Vec3 as Vec3: |it| Isometry3d::from_translation(it);
}

impl Collider {
    /// Several colliders as one, each in a pose relative to the entity: what is concave, out of convex parts.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::Collider;
    ///
    /// let hammer = Collider::compound([
    ///     (Vec3::ZERO, Collider::from(Capsule3d::new(0.05, 1.0))),
    ///     (Vec3::new(0.0, 0.5, 0.0), Collider::from(Cuboid::new(0.5, 0.2, 0.2))),
    /// ]).unwrap();
    /// assert!(!hammer.is_inert());
    /// ```
    ///
    /// To the outside it is one: one `Started` and one `Ended` for a pair, with the contact of the deepest part, whose number
    /// is the event's [`part`](crate::CollisionEvent::part). [`CollisionState::parts`](crate::CollisionState::parts) has all
    /// parts that touch. The promise of a contact (a move by `normal * depth` leaves the two just touching, and no shorter
    /// one does) holds for each part.
    ///
    /// Parts of a compound in it become parts of this one, in its place, one after the other.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NoParts`] for none; [`ShapeError::PartWithoutShape`], or the error that made it so, for one without a shape;
    /// [`ShapeError::MixedDimensions`] for a 2D shape among 3D poses or the other way round;
    /// [`ShapeError::SurfaceInCompound`] for a mesh, polyline or height field; [`ShapeError::Unbounded`] for a half-space;
    /// [`ShapeError::PoseNotFinite`]. A [`custom`](Self::custom) part that answers NaN leaves the whole inert, with a warning.
    pub fn compound<P: PartPose>(
        parts: impl IntoIterator<Item = (P, Self)>,
    ) -> Result<Self, ShapeError> {
        let mut shapes = Vec::new();
        for (pose, collider) in parts {
            let pose = P::Vector::pose(pose.isometry()).ok_or(ShapeError::PoseNotFinite)?;
            let body = collider.body()?.ok_or(ShapeError::PartWithoutShape)?;
            match P::Vector::body_of(body).ok_or(ShapeError::MixedDimensions)? {
                ColliderShape::Convex(shape) => shapes.push((pose, shape.clone())),
                ColliderShape::Compound(compound) => match compound.parts() {
                    (Parts::Surface(_), _) => return Err(ShapeError::SurfaceInCompound),
                    (Parts::Shapes(inner), margin) => {
                        for (place, shape) in inner {
                            let shape = shape.clone().rounded(margin)?;
                            shapes.push((pose.after(place), shape));
                        }
                    }
                },
            }
        }
        compound(Parts::Shapes(shapes.into()))
    }

    /// A surface of triangles: a level, terrain, a prop that does not have to be solid.
    ///
    /// ```
    /// use bevy::math::Vec3;
    /// use headbutt::Collider;
    ///
    /// let floor = Collider::trimesh(
    ///     [Vec3::ZERO, 8.0 * Vec3::Z, 8.0 * Vec3::X, Vec3::new(8.0, 0.0, 8.0)],
    ///     [[0, 1, 2], [2, 1, 3]],
    /// ).unwrap();
    /// assert!(!floor.is_inert());
    /// ```
    ///
    /// The surface has no inside: a shape that is wholly behind it touches nothing. The contacts of
    /// a shape are those of the surface as a set of points, however it is cut into triangles:
    ///
    /// * While the core of the shape (the centre of a ball) does not reach the surface, each local
    ///   minimum of the distance is a contact. A seam between two triangles is none.
    /// * If the core overlaps triangles, the contact is the shortest move that clears them and does
    ///   not take the centre through the surface.
    /// * The shape is pushed to the side on which its centre is, a compound as a whole.
    ///   [`one_sided`](Self::one_sided) lets only the outer side collide.
    ///
    /// Triangles need not share vertices: those a few roundings of `f32` apart are one, also in the
    /// midst of edges. Copies and triangles of opposite winding do no harm. Triangles without area
    /// touch nothing. A triangle's number is the event's [`part`](crate::CollisionEvent::part).
    ///
    /// The cost grows with the number of triangles that a shape touches: decimate levels, and give
    /// moving bodies primitives or hulls. The file `docs/SURFACES.md` of this package has drawings,
    /// limits and more advice.
    ///
    /// A half-space pushes a surface like any shape. Two surfaces meet where their triangles cross:
    ///
    /// * A surface no more than half as large as the other one is a body to it. Its centre is the
    ///   middle of the box around it, in its own frame.
    /// * Surfaces of about one size are pushed apart along the shorter normal, but not by a seam of
    ///   either, and not out of the back of a one-sided one.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NoFacets`] without a triangle that has an area (corners in one place, or on one line to 12 digits, have
    /// none), [`ShapeError::VertexOutOfRange`] for a number that is too large, [`ShapeError::NotFinite`] for a vertex that is NaN or
    /// infinite. Nothing is wrong with triangles without area among others.
    pub fn trimesh(
        vertices: impl IntoIterator<Item = Vec3>,
        triangles: impl IntoIterator<Item = [u32; 3]>,
    ) -> Result<Self, ShapeError> {
        surface(vertices, triangles)
    }

    /// A line of segments in the plane, from point to point: the ground of a platformer, a wall. It is closed if the last
    /// point is the first one.
    ///
    /// ```
    /// use bevy::math::Vec2;
    /// use headbutt::Collider;
    ///
    /// let hills = [0.0, 1.0, 0.5, 2.0].into_iter().enumerate();
    /// let ground = Collider::polyline(hills.map(|(x, height)| Vec2::new(x as f32, height)));
    /// assert!(ground.is_ok());
    /// ```
    ///
    /// For what a surface is see [`trimesh`](Self::trimesh). Its outer side, which matters for [`one_sided`](Self::one_sided)
    /// only, is to the right of who walks along it: a loop that encloses something solid runs counter-clockwise, and the top of
    /// a ground from right to left.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NoFacets`] for less than two points, or if all are in one place; [`ShapeError::NotFinite`] for one that is
    /// NaN or infinite.
    pub fn polyline(points: impl IntoIterator<Item = Vec2>) -> Result<Self, ShapeError> {
        let points: Vec<Vec2> = points.into_iter().collect();
        let count = u32::try_from(points.len()).unwrap_or(u32::MAX);
        let segments = (1..count).map(|end| [end - 1, end, end]);
        surface(points, segments)
    }

    /// A height field: a grid of heights along y over the xz plane, centred on the origin. `size` is how far it reaches along
    /// x and z; the first `columns` of the heights are the row of least z, in order of x.
    ///
    /// ```
    /// use bevy::math::Vec2;
    /// use headbutt::Collider;
    ///
    /// let heights = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    /// let hill = Collider::heightfield(Vec2::new(10.0, 10.0), 3, &heights);
    /// assert!(hill.is_ok());
    /// ```
    ///
    /// It is a surface of triangles, two for each cell, with the outer side up: see [`trimesh`](Self::trimesh). In the plane a
    /// [`polyline`](Self::polyline) does the same. The cell of row z and column x, of which there is one less than of heights, is
    /// cut from its corner at (x + 1, z) to that at (x, z + 1), and has the [`part`](crate::CollisionEvent::part) number
    /// 2 (z (columns - 1) + x) before the cut, where x and z are less, and the next one beyond it.
    ///
    /// # Errors
    ///
    /// [`ShapeError::HeightCount`] if the heights do not fill their rows, or there are less than two rows or columns;
    /// [`ShapeError::NotFinite`] if the size or a height is NaN or infinite; [`ShapeError::Negative`] or [`ShapeError::Zero`] if
    /// the size is, along x or z; [`ShapeError::NoFacets`] if no cell has an area, because the size is so little that f32 has no
    /// part of it; [`ShapeError::VertexOutOfRange`] for more than 4,294,967,296 heights, which no number of 32 bits counts.
    pub fn heightfield(size: Vec2, columns: usize, heights: &[f32]) -> Result<Self, ShapeError> {
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            return Err(ShapeError::HeightCount);
        }
        if heights.iter().any(|it| !it.is_finite()) {
            return Err(ShapeError::NotFinite("height"));
        }
        ShapeError::check_lengths("size", size)?;
        if size.x == 0.0 || size.y == 0.0 {
            return Err(ShapeError::Zero("size"));
        }
        let part = |number: usize, count: usize| number as f32 / (count - 1) as f32 - 0.5;
        let vertices = heights.iter().enumerate().map(|(number, height)| {
            let (x, z) = (number % columns, number / columns);
            Vec3::new(size.x * part(x, columns), *height, size.y * part(z, rows))
        });
        let cells = (0..rows - 1).flat_map(|z| (0..columns - 1).map(move |x| z * columns + x));
        let triangles = cells.flat_map(|corner| {
            let [a, b, c, d] = [corner, corner + 1, corner + columns, corner + columns + 1]
                .map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            [[a, c, b], [b, c, d]]
        });
        surface(vertices, triangles)
    }

    /// This surface, of which only the outer side collides: a shape with its centre behind a facet
    /// passes through that facet.
    ///
    /// The outer side of a triangle is the one from which its corners run counter-clockwise; that of a polyline is to its
    /// right. A mirroring scale does not turn it over. Other colliders stay as they are.
    ///
    /// Use it for terrain, rooms and closed models whose facets are all wound the same way: nothing
    /// is pulled through from behind. Models of mixed winding, and sheets that collide from both
    /// sides, should stay two-sided.
    ///
    /// A platform to jump through needs more: a shape that comes from below is pushed up by half of
    /// its height as soon as its centre is past. Let the response decide, for instance by whether
    /// the feet were above in the last tick.
    #[must_use]
    pub fn one_sided(self) -> Self {
        let one_sided = match self.content() {
            Content::Shape(AnyColliderShape::D2(ColliderShape::Compound(compound))) => {
                one_sided(compound)
            }
            Content::Shape(AnyColliderShape::D3(ColliderShape::Compound(compound))) => {
                one_sided(compound)
            }
            _ => None,
        };
        one_sided.unwrap_or(self)
    }
}

fn compound<V: Dimension>(parts: Parts<V>) -> Result<Collider, ShapeError> {
    let compound = Compound::new(parts, 0.0)?;
    Ok(Collider::of_body(ColliderShape::Compound(Arc::new(
        compound,
    ))))
}

fn surface<V: Dimension>(
    vertices: impl IntoIterator<Item = V>,
    facets: impl IntoIterator<Item = [u32; 3]>,
) -> Result<Collider, ShapeError> {
    let vertices = vertices.into_iter().collect();
    let surface = Surface::new(vertices, facets.into_iter().collect())?;
    compound(Parts::Surface(surface))
}

fn one_sided<V: Dimension>(compound: &Compound<V>) -> Option<Collider> {
    compound.surface()?;
    let compound = compound.one_sided();
    Some(Collider::of_body(ColliderShape::Compound(Arc::new(
        compound,
    ))))
}
