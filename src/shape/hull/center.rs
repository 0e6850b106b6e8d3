//! A point well inside of a hull.

use crate::{
    math::Vec3,
    shape::{
        center::{center_of_polytope, mean},
        hull::{affine_hull::AffineHull, build::extremes, closed_surface::ClosedSurface},
        polygon_edges::edges_around,
    },
    space::{DVector, Space},
};

/// If there are more vertices, only the extreme ones in some directions count. Their hull is inside
/// of the hull of all.
const MAX_VERTICES: usize = 256;

/// Returns the center of a large ball in the hull of its vertices. In a flat hull, it is the mean of
/// the vertices.
pub fn center_of_hull<V: Space>(vertices: &[V]) -> V::DVec {
    let points: Vec<V::DVec> = vertices.iter().map(|vertex| vertex.to_f64()).collect();
    let polytope = if V::DVec::DIMENSION == 2 {
        let edges = edges_around(&points, mean(&points));
        edges.map(|edges| {
            let sides = edges.iter().map(|edge| (edge.start, edge.normal));
            (points.clone(), sides.collect())
        })
    } else {
        let vertices: Vec<_> = vertices.iter().map(|vertex| vertex.to_vec3()).collect();
        solid(&vertices)
    };
    match polytope {
        Some((vertices, faces)) => center_of_polytope(&vertices, &faces),
        None => mean(&points),
    }
}

/// Vertices, and a point and the outward unit normal of each face.
type Polytope<D> = (Vec<D>, Vec<(D, D)>);

/// Returns the vertices and the faces of a solid, or `None` for a flat hull, and if rounding
/// prevents the construction of a closed surface.
fn solid<D: DVector>(points: &[Vec3]) -> Option<Polytope<D>> {
    let AffineHull::Solid(frame) = AffineHull::of(points) else {
        return None;
    };
    let normalized = points
        .iter()
        .map(|point| frame.normalized(point.as_dvec3()));
    let vertices = if points.len() <= MAX_VERTICES {
        normalized.enumerate().collect()
    } else {
        extremes(&normalized.collect::<Vec<_>>(), &frame)
    };
    let surface = ClosedSurface::around(&vertices, &frame)?;
    let inside = frame.position(frame.center);
    let faces = surface.triangles().filter_map(|triangle| {
        let [a, b, c] = triangle.map(|vertex| frame.position(vertex + frame.center));
        let normal = (b - a).cross(c - a).try_normalize()?;
        let normal = if normal.dot(a - inside) < 0.0 {
            -normal
        } else {
            normal
        };
        Some([a, normal].map(|vector| D::of(vector.into())))
    });
    let faces = faces.map(|[point, normal]| (point, normal)).collect();
    let vertices = surface.vertices.values();
    let vertices = vertices.map(|vertex| D::of(frame.position(*vertex).into()));
    Some((vertices.collect(), faces))
}
