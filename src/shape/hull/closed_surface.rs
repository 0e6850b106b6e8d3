//! A closed surface of triangles, and the proof that points are inside of its hull.
//!
//! The center of the frame is strictly behind the plane of each triangle. Claim: a point p that is
//! behind all planes is in the convex hull of the vertices. Suppose that p is not in the hull. Then
//! a plane separates p from the surface, so the signed solid angles of the triangles, as seen from
//! p, add up to 0. All of them have the same sign, so each is 0, and p is on the plane of each
//! triangle. Then the volume that the closed surface encloses, as computed from p, is 0. But as
//! computed from the center, it is positive: a contradiction. (The surface need not be convex, only
//! closed.)
//!
//! With the center as the origin, triangle f is in the plane n_f · x = h_f, with h_f > 0. So p is
//! behind all planes if max { (n_f / h_f) · p | f } <= 1. The maximum is reached at the farthest of
//! the points n_f / h_f in direction p. These points are the vertices of the polar body.

use std::collections::{HashMap, HashSet};

use quickhull::ConvexTriangleMesh;

use crate::{
    math::{DMat3, DVec3, Vec3},
    shape::hull::{
        affine_hull::{COORDINATE_ROUNDING, SolidFrame},
        candidates::{IndexedPoints, Outside, key},
        direction_table::DirectionTable,
        growing_hull::{Simplex, offset_from},
    },
};

/// Maximum number of faces per point that `quickhull` may create. Its search terminates,
/// unless rounding makes it repeat steps.
const FACES_PER_POINT: usize = 100;

/// A closed surface of triangles around the center of a frame, in normalized coordinates.
pub struct ClosedSurface<'a> {
    frame: &'a SolidFrame,
    pub vertices: IndexedPoints,
    pub faces: Vec<HullFace>,
}

/// A triangle, relative to the center of the frame.
pub struct HullFace {
    vertices: [DVec3; 3],
    /// The vertex of the polar body: the unit normal divided by the distance from the center to the
    /// plane.
    polar: DVec3,
}

impl<'a> ClosedSurface<'a> {
    /// Returns the hull that `quickhull` computes of `points`, if it is a closed surface around the
    /// center.
    pub fn around(points: &IndexedPoints, frame: &'a SolidFrame) -> Option<Self> {
        let whitening = whitening(points)?;
        let mut rounded = Vec::with_capacity(points.len());
        let mut by_key = HashMap::with_capacity(points.len());
        for (index, point) in points {
            let point_rounded = (whitening * *point).as_vec3();
            by_key.entry(key(point_rounded)).or_insert((*index, *point));
            rounded.push(point_rounded.to_array().into());
        }
        let max_faces = Some(FACES_PER_POINT * points.len());
        let mesh = ConvexTriangleMesh::try_from_points(&rounded, max_faces).ok()?;
        let keys = mesh
            .vertices()
            .iter()
            .map(|vertex| key(Vec3::from_array(vertex.to_array())));
        let vertices: Vec<_> = keys
            .map(|key| by_key.get(&key).copied())
            .collect::<Option<_>>()?;
        if !is_closed(mesh.indices()) {
            return None;
        }
        let faces = mesh.indices().iter().map(|indices| {
            let vertex = |index: u32| Some(vertices.get(index as usize)?.1 - frame.center);
            let [a, b, c] = *indices;
            HullFace::new([vertex(a)?, vertex(b)?, vertex(c)?])
        });
        Some(Self {
            frame,
            faces: faces.collect::<Option<_>>()?,
            vertices: vertices.into_iter().collect(),
        })
    }

    /// Returns the triangles, relative to the center of the frame, in normalized coordinates.
    pub fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.faces.iter().map(|face| face.vertices)
    }

    /// Returns the points that are outside of the hull of the surface's vertices and not within
    /// rounding of a triangle.
    pub fn outside(&self, points: &[DVec3]) -> Vec<Outside> {
        if points.len() == self.vertices.len() {
            return Vec::new();
        }
        let polar: Vec<DVec3> = self.faces.iter().map(|face| face.polar).collect();
        let table = DirectionTable::with_error(&polar, COORDINATE_ROUNDING);
        let others = points.iter().enumerate();
        let others = others.filter(|(index, _)| !self.vertices.contains_key(index));
        others
            .filter_map(|(index, point)| self.above(&table, index, *point))
            .collect()
    }

    /// Returns the point if it is neither in the hull of the vertices nor near a triangle.
    fn above(&self, table: &DirectionTable, index: usize, position: DVec3) -> Option<Outside> {
        let point = position - self.frame.center;
        // Only the center itself has no candidates, and it is inside.
        let candidates = table.candidates(point)?;
        let facing = || {
            let indices = candidates.iter().map(|index| *index as usize);
            indices.filter_map(|index| Some((index, self.faces.get(index)?)))
        };
        let heights = facing().map(|(index, face)| (index, face, face.polar.dot(point)));
        let (face, highest, height) = heights.max_by(|a, b| a.2.total_cmp(&b.2))?;
        if height <= 1.0 {
            return None;
        }
        let height = (height - 1.0) / self.frame.gradient(highest.polar).length();
        let tolerance = self.frame.tolerance();
        let point = self.frame.orthonormal(point);
        let is_near = |(_, face): (usize, &HullFace)| {
            let vertices = face.vertices.into_iter();
            let mut simplex: Simplex = vertices
                .map(|vertex| self.frame.orthonormal(vertex))
                .collect();
            offset_from(&mut simplex, point).length() <= tolerance
        };
        let is_outside = height > tolerance || !facing().any(is_near);
        is_outside.then_some(Outside {
            index,
            position,
            face,
            height,
        })
    }
}

impl HullFace {
    /// Returns the face if the center is strictly behind its plane.
    fn new(vertices: [DVec3; 3]) -> Option<Self> {
        let [a, b, c] = vertices;
        let normal = (b - a).cross(c - a);
        let height = normal.dot(a);
        let polar = normal * (1.0 / height);
        (height > 0.0 && polar.is_finite()).then_some(Self { vertices, polar })
    }
}

/// Returns `true` if triangles form a closed and oriented surface: each edge is used once in each
/// direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = || {
        triangles
            .iter()
            .flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)])
    };
    let known: HashSet<_> = edges().collect();
    let is_paired = edges().all(|(start, end)| known.contains(&(end, start)));
    !triangles.is_empty() && is_paired && known.len() == 3 * triangles.len()
}

/// Returns a linear map that makes the coordinates of the points uncorrelated, with the standard
/// deviations 1, √2 and 2. Returns `None` if there is no such map.
///
/// `quickhull` computes the principal axes of the points, and divides by 0 if two of them have
/// equal lengths. With the Cholesky factor L of the covariance C = L Lᵀ, the points L⁻¹ x have the
/// covariance L⁻¹ C L⁻ᵀ = 1.
fn whitening(points: &IndexedPoints) -> Option<DMat3> {
    let count = points.len() as f64;
    let mean = points.values().sum::<DVec3>() / count;
    let outer = |from: DVec3| DMat3::from_cols(from * from.x, from * from.y, from * from.z);
    let covariance = points
        .values()
        .fold(DMat3::ZERO, |sum, point| sum + outer(*point - mean) / count);
    let [x, y, z] = covariance.to_cols_array_2d();
    let a = x[0].sqrt();
    let (b, c) = (x[1] / a, x[2] / a);
    let d = (y[1] - b * b).sqrt();
    let e = (y[2] - b * c) / d;
    let f = (z[2] - c * c - e * e).sqrt();
    let factor = DMat3::from_cols(DVec3::new(a, b, c), DVec3::new(0.0, d, e), DVec3::Z * f);
    let inverse = (a * d * f > 0.0).then(|| factor.inverse())?;
    let deviations = DVec3::new(1.0, 2.0_f64.sqrt(), 2.0);
    inverse
        .is_finite()
        .then(|| DMat3::from_diagonal(deviations) * inverse)
}
