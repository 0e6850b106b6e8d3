//! The edges of a hull in 3D, for drawing.

use std::collections::HashMap;

use crate::{
    math::{DVec3, Vec3},
    shape::hull::{
        ConvexHull,
        solid::{HullSurface, edges},
    },
};

/// Two triangles are parts of one face if the cosine of the angle between their normals is at least
/// this value. The angle is then at most 0.26 degrees.
const SAME_FACE: f64 = 1.0 - 1e-5;

impl ConvexHull<Vec3> {
    /// Returns the edges between the faces of the hull, or `None` if the hull is flat.
    ///
    /// All triangles have the same winding, so neighbors share an edge in opposite directions.
    pub(crate) fn edges(&self) -> Option<Vec<[Vec3; 2]>> {
        let points = self.points();
        let surface = HullSurface::around(points, usize::MAX)?;
        let mut normals = HashMap::<[usize; 2], DVec3>::new();
        let mut found = Vec::new();
        for (vertices, normal) in surface.triangles() {
            for [start, end] in edges(vertices) {
                match normals.remove(&[end, start]) {
                    Some(other) if normal.dot(other) >= SAME_FACE => {}
                    Some(_) => found.push([*points.get(start)?, *points.get(end)?]),
                    None => {
                        normals.insert([start, end], normal);
                    }
                }
            }
        }
        Some(found)
    }
}
