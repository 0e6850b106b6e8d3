//! The faces of a convex part of a union.

use crate::{
    shape::{
        Shape, ShapeError,
        boxes::bounds::Bounds,
        elements::{
            facet::weld,
            part_face::{PartFace, are_of_thick_part},
        },
        hull::hull_faces,
    },
    space::{DVector, Space},
};

/// A part is flat if its thickness along the normal of a face is at most this multiple of the
/// weld of its vertices. Both sides of a thinner part would count as the same points.
const LEAST_WELDS: f64 = 4.0;

/// Maximum number of vertices of a part. The time to find the faces grows with the square of the
/// number.
const MAX_POINTS: usize = 1024;

/// The faces of a convex part: of a polygon in 2D, of a polyhedron in 3D.
pub struct PartFaces<D> {
    pub faces: Vec<PartFace<D>>,
    /// The weld of the vertices.
    pub weld: f64,
}

impl<D: DVector> PartFaces<D> {
    /// Returns the faces of a shape under the map x -> `linear * x + translation`, or an error if
    /// the shape is flat, has a curved side, or has more than [`MAX_POINTS`] vertices.
    pub fn new<V: Space<DVec = D>>(
        shape: &Shape<V>,
        linear: D::Matrix,
        translation: D,
    ) -> Result<Self, ShapeError> {
        let local = shape.vertices().ok_or(ShapeError::PartNotPolyhedral)?;
        if local.len() > MAX_POINTS {
            return Err(ShapeError::TooManyPoints(MAX_POINTS));
        }
        let places: Vec<D> = local.iter().map(|it| linear * *it + translation).collect();
        let (middle, weld) = (D::mean(&places), weld(&places));
        let faces = hull_faces::<V>(&local).unwrap_or_default();
        let faces = faces.into_iter().filter_map(|corners| {
            let corners = corners.iter().filter_map(|index| places.get(*index));
            PartFace::new(corners.copied().collect(), middle)
        });
        let faces: Vec<PartFace<D>> = faces.collect();
        let are_valid = are_of_thick_part(&faces, D::DIMENSION, LEAST_WELDS * weld);
        let faces = are_valid.then_some(Self { faces, weld });
        faces.ok_or(ShapeError::PartNotPolyhedral)
    }

    /// Returns the box around the part.
    pub fn bounds(&self) -> Bounds<D> {
        let faces = self.faces.iter();
        Bounds::of_points(faces.flat_map(|face| face.corners.iter().copied()))
    }

    /// Returns `true` if the part contains a point, up to a tolerance.
    pub fn contains(&self, point: D, tolerance: f64) -> bool {
        let mut faces = self.faces.iter();
        faces.all(|face| face.height(point) <= tolerance)
    }
}
