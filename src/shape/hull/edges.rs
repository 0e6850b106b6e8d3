//! The edges of a hull in 3D, to draw them.

use std::collections::HashMap;

use crate::{
    math::{DVec3, Vec3},
    shape::hull::{ConvexHull, affine_hull::AffineHull, closed_surface::ClosedSurface},
};

/// Two triangles are parts of one face if the cosine of the angle between them is greater. (0.3
/// degrees, in the frame of the hull.)
const SAME_FACE: f64 = 1.0 - 1e-5;

/// The ends of an edge of a triangle, bit for bit.
type TriangleEdge = [[u64; 3]; 2];

impl ConvexHull<Vec3> {
    /// Returns the edges between the faces of the hull. Returns `None` for a flat hull, and if
    /// rounding prevents the construction of a closed surface.
    pub(crate) fn edges(&self) -> Option<Vec<[Vec3; 2]>> {
        let points = self.points();
        let AffineHull::Solid(frame) = AffineHull::of(points) else {
            return None;
        };
        let normalized = points
            .iter()
            .map(|point| frame.normalized(point.as_dvec3()));
        let surface = ClosedSurface::around(&normalized.enumerate().collect(), &frame)?;
        let positions = surface.vertices.iter().filter_map(|(index, vertex)| {
            let relative = *vertex - frame.center;
            Some((bits(relative), *points.get(*index)?))
        });
        let positions: HashMap<_, _> = positions.collect();
        let edges = edges_of_faces(surface.triangles());
        let ends =
            |[start, end]: TriangleEdge| Some([*positions.get(&start)?, *positions.get(&end)?]);
        edges.into_iter().map(ends).collect()
    }
}

/// Returns each edge between two triangles that are not parts of one face. All triangles have the
/// same winding, so neighbors share an edge in opposite directions.
fn edges_of_faces(triangles: impl Iterator<Item = [DVec3; 3]>) -> Vec<TriangleEdge> {
    let mut normals = HashMap::<TriangleEdge, DVec3>::new();
    let mut edges = Vec::new();
    for [a, b, c] in triangles {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for [start, end] in [[a, b], [b, c], [c, a]].map(|ends| ends.map(bits)) {
            match normals.remove(&[end, start]) {
                Some(other) if normal.dot(other) >= SAME_FACE => {}
                Some(_) => edges.push([start, end]),
                None => {
                    normals.insert([start, end], normal);
                }
            }
        }
    }
    edges
}

fn bits(point: DVec3) -> [u64; 3] {
    point.to_array().map(f64::to_bits)
}
