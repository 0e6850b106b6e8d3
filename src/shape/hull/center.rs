//! The center of a large ball inside a hull.

use crate::{
    math::Vec3,
    shape::{elements::polygon_edges::edges_around, hull::solid::HullSurface},
    space::{DVector, Space, shortest_translation::translation_out_of_all},
};

/// A ball is large if its radius is at least this fraction of the radius of the largest ball in the
/// shape.
pub const LARGE: f64 = 0.8;

/// The number of bisection steps in the search for the largest radius. The error is then 1/4096 of
/// the first interval.
const HALVINGS: usize = 12;

/// The maximum number of vertices that determine the center. If a hull has more vertices, only some
/// vertices are used. In 3D, these are the vertices from which the hull is built first. In 2D,
/// these are every n-th vertex of the outline. The hull of these vertices is inside the whole hull.
const MAX_CENTERED_VERTICES: usize = 64;

/// Returns the center of a large ball in the hull of `vertices`. The center of a flat hull is the
/// mean of the vertices.
pub fn center_of_hull<V: Space>(vertices: &[V]) -> V::DVec {
    let points: Vec<V::DVec> = vertices.iter().map(|vertex| vertex.to_f64()).collect();
    let polytope = if V::DVec::DIMENSION == 2 {
        area(&points)
    } else {
        let vertices: Vec<_> = vertices.iter().map(|vertex| vertex.to_vec3()).collect();
        solid(&vertices)
    };
    match polytope {
        Some((vertices, faces)) => center_of_polytope(V::DVec::mean(&points), &vertices, &faces),
        None => V::DVec::mean(&points),
    }
}

/// The vertices of a polytope, and a point and the outward unit normal of each face.
type Polytope<D> = (Vec<D>, Vec<(D, D)>);

/// Returns the vertices and the edges of a polygon, or `None` if an edge has no length.
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

/// Returns the vertices and the faces of a solid, or `None` for a flat hull.
fn solid<D: DVector>(points: &[Vec3]) -> Option<Polytope<D>> {
    let surface = HullSurface::around(points, MAX_CENTERED_VERTICES)?;
    let position = |index: usize| Some(D::of(points.get(index)?.as_dvec3().into()));
    let planes = surface.planes();
    let faces =
        planes.filter_map(|(vertex, normal)| Some((position(vertex)?, D::of(normal.into()))));
    let faces = faces.collect();
    let vertices = surface.vertices().into_iter().filter_map(position);
    Some((vertices.collect(), faces))
}

/// Returns the center of a large ball in a polytope. Of all centers of large balls, the result is
/// the center nearest to `middle`. Each face is a point and an outward unit normal. In a polytope
/// thinner than a thousandth of its size, the ball may be smaller.
fn center_of_polytope<D: DVector>(middle: D, vertices: &[D], faces: &[(D, D)]) -> D {
    // No ball in the polytope is wider than the distance from a face to the vertex farthest from
    // this face. So half of the least such distance bounds the radius.
    let width = |(point, normal): &(D, D)| {
        let heights = vertices
            .iter()
            .map(|vertex| (*point - *vertex).dot(*normal));
        heights.fold(0.0, f64::max)
    };
    let most = 0.5 * faces.iter().map(width).fold(f64::INFINITY, f64::min);
    // Computes the translation from the middle to a point that is at least `radius` away from all
    // faces.
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
    // Between almost parallel faces, rounding may make the point at the end of `way` less deep than
    // `middle`.
    let depth = |point: D| {
        let depths = faces.iter().map(|(on, normal)| (*on - point).dot(*normal));
        depths.fold(f64::INFINITY, f64::min)
    };
    let center = way.map(|way| middle + way);
    center
        .filter(|center| depth(*center) > depth(middle))
        .unwrap_or(middle)
}
