//! A point well inside of a hull.

use crate::{
    math::Vec3,
    shape::{
        elements::polygon_edges::edges_around,
        hull::{affine_hull::AffineHull, build::extremes, closed_surface::ClosedSurface},
    },
    space::{DVector, Space, shortest_translation::translation_out_of_all},
};

/// A ball is large if its radius is at least this fraction of the largest radius in the shape.
pub const LARGE: f64 = 0.8;

/// The number of halvings of the interval of the largest radius. The error is a part in 4096.
const HALVINGS: usize = 12;

/// If there are more vertices, only some of them count: in 3D the extreme ones in some directions,
/// in 2D every few along the outline. Their hull is inside of the hull of all.
const MAX_CENTERED_VERTICES: usize = 256;

/// Returns the center of a large ball in the hull of its vertices. In a flat hull, it is the mean
/// of the vertices.
pub fn center_of_hull<V: Space>(vertices: &[V]) -> V::DVec {
    let points: Vec<V::DVec> = vertices.iter().map(|vertex| vertex.to_f64()).collect();
    let polytope = if V::DVec::DIMENSION == 2 {
        area(&points)
    } else {
        let vertices: Vec<_> = vertices.iter().map(|vertex| vertex.to_vec3()).collect();
        solid(&vertices)
    };
    match polytope {
        Some((vertices, faces)) => center_of_polytope(&vertices, &faces),
        None => V::DVec::mean(&points),
    }
}

/// Vertices, and a point and the outward unit normal of each face.
type Polytope<D> = (Vec<D>, Vec<(D, D)>);

/// Returns the vertices and the edges of a polygon, or `None` if two vertices are equal.
fn area<D: DVector>(points: &[D]) -> Option<Polytope<D>> {
    let all = edges_around(points)?;
    let few = all
        .iter()
        .step_by(all.len().div_ceil(MAX_CENTERED_VERTICES));
    let vertices: Vec<D> = few.map(|edge| edge.start).collect();
    let edges = edges_around(&vertices)?.into_iter();
    let edges = edges.map(|edge| (edge.start, edge.normal));
    Some((vertices, edges.collect()))
}

/// Returns the vertices and the faces of a solid, or `None` for a flat hull, and if rounding
/// prevents the construction of a closed surface.
fn solid<D: DVector>(points: &[Vec3]) -> Option<Polytope<D>> {
    let AffineHull::Solid(frame) = AffineHull::of(points) else {
        return None;
    };
    let normalized = points
        .iter()
        .map(|point| frame.normalized(point.as_dvec3()));
    let vertices = if points.len() <= MAX_CENTERED_VERTICES {
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

/// Returns the center of a large ball in a polytope, given its vertices, and a point and the
/// outward unit normal of each face. Of all such centers, the nearest to the mean of the vertices
/// is returned. In a polytope thinner than a thousandth of its size, the ball may be smaller.
fn center_of_polytope<D: DVector>(vertices: &[D], faces: &[(D, D)]) -> D {
    let middle = D::mean(vertices);
    // No ball is wider than the polytope is between a face and the vertex farthest from it.
    let width = |(point, normal): &(D, D)| {
        let heights = vertices
            .iter()
            .map(|vertex| (*point - *vertex).dot(*normal));
        heights.fold(0.0, f64::max)
    };
    let most = 0.5 * faces.iter().map(width).fold(f64::INFINITY, f64::min);
    // Computes the translation from the middle to a point that is at least this far from all faces.
    let way_to = |radius: f64| {
        let planes = faces.iter().map(|(point, normal)| {
            let distance = (*point - middle).dot(*normal);
            (-*normal, radius - distance)
        });
        translation_out_of_all(planes, f64::INFINITY).map(|found| found.translation)
    };
    let way = way_to(LARGE * most).or_else(|| {
        let [mut low, mut high] = [0.0, most];
        for _ in 0..HALVINGS {
            let radius = 0.5 * (low + high);
            match way_to(radius) {
                Some(_) => low = radius,
                None => high = radius,
            }
        }
        way_to(LARGE * low)
    });
    way.map_or(middle, |way| middle + way)
}
