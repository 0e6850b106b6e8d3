//! Two convex polygons with few edges, or a polygon and a point, in closed form.
//!
//! **Two polygons.** The Minkowski difference of two polygons is a polygon. Its edge normals are
//! the edge normals of the two polygons. So the depth is the minimum of the depths along these
//! normals. If the polygons are separated, there is a gap along one of the normals. These normals
//! are the separating axes of Gottschalk, Lin and Manocha, "OBBTree" (1996), in 2D. Let n be the
//! outward normal of an edge, a its start, and b_j the vertices of the other polygon. Then
//!
//! ```text
//! g = min_j n·b_j - n·a
//! ```
//!
//! is a lower bound on the distance, and -g an upper bound on the depth. The departures from the
//! usual algorithm are:
//!
//! * Each edge is tested against all vertices, four at a time and without branches. For up to 16
//!   vertices, this test is faster than a search that starts from the lowest vertex of the previous
//!   edge.
//! * The contact points are in the middle of the overlap of the two edges.
//!
//! **A polygon and a point.** Let p be the point, so g = n·(p - a). The nearest point is on the
//! edge with the largest g, or at one of its ends. If p is beside an edge, all other edges have a
//! smaller n·(p - a). If p is beyond a vertex, the two edges at this vertex have the largest n·(p -
//! a). The reason is that the vertex is behind all other edges, whose normals make a larger angle
//! with the vector from the vertex to p. If p is inside the polygon, the normal is the normal of
//! the edge with the largest g.

use crate::{
    query::{
        analytic::closed_form::ClosedForm, gjk::penetration::Penetration,
        minkowski::MinkowskiDifference,
    },
    shape::{Core, MAX_EDGES, Polygon},
    space::{DVector, Pose},
    tolerance::{CORE_CONTACT, FLAT_DEPTH, OFFSET_SCALE, TOUCHING},
};

/// The coordinates of four vertices.
#[derive(Clone, Copy)]
struct VertexBlock {
    xs: [f64; 4],
    ys: [f64; 4],
}

/// A polygon in the frame of the pair.
pub(super) struct PlacedPolygon<D> {
    /// The vertices. Unused entries repeat the first vertex.
    vertices: [VertexBlock; MAX_EDGES / 4],
    normals: [D; MAX_EDGES],
    /// The component of each edge's points along its normal.
    heights: [f64; MAX_EDGES],
    pub(super) count: usize,
    /// A point inside the polygon.
    pub(super) center: D,
}

impl<D: DVector> PlacedPolygon<D> {
    #[inline(always)]
    fn new(polygon: &Polygon<D>, pose: &Pose<D>) -> Self {
        let map = |point: D| pose.rotation * point + pose.translation;
        let first = polygon.edge(0).map_or(D::ZERO, |edge| map(edge.start));
        let first = VertexBlock {
            xs: [first.component(0); 4],
            ys: [first.component(1); 4],
        };
        let mut placed = Self {
            vertices: [first; MAX_EDGES / 4],
            normals: [D::ZERO; MAX_EDGES],
            heights: [0.0; MAX_EDGES],
            count: polygon.edges().len(),
            center: map(polygon.center()),
        };
        for (index, edge) in polygon.edges().enumerate() {
            let (start, edge_normal) = (map(edge.start), pose.rotation * edge.normal);
            if let (Some(block), Some(normal), Some(height)) = (
                placed.vertices.get_mut(index / 4),
                placed.normals.get_mut(index),
                placed.heights.get_mut(index),
            ) && let (Some(x), Some(y)) =
                (block.xs.get_mut(index % 4), block.ys.get_mut(index % 4))
            {
                (*x, *y) = (start.component(0), start.component(1));
                *normal = edge_normal;
                *height = start.dot(edge_normal);
            }
        }
        placed
    }

    /// Returns the vertex at an index. The index after the last vertex stands for the first vertex.
    fn vertex(&self, index: usize) -> D {
        let index = if index < self.count { index } else { 0 };
        let vertex = self.vertices.get(index / 4).and_then(|block| {
            let (x, y) = (block.xs.get(index % 4)?, block.ys.get(index % 4)?);
            Some(D::axis(0) * *x + D::axis(1) * *y)
        });
        vertex.unwrap_or(D::ZERO)
    }

    /// Returns the normal of an edge, and the component of its points along the normal.
    pub(super) fn edge(&self, index: usize) -> (D, f64) {
        match (self.normals.get(index), self.heights.get(index)) {
            (Some(normal), Some(height)) => (*normal, *height),
            _ => (D::ZERO, f64::INFINITY),
        }
    }

    /// Returns the minimum component of the vertices along a direction.
    pub(super) fn min_height(&self, direction: D) -> f64 {
        let (x, y) = (direction.component(0), direction.component(1));
        let min = |a: f64, b: f64| if b < a { b } else { a };
        let [mut a, mut b, mut c, mut d] = [f64::INFINITY; 4];
        let used = self.vertices.get(..self.count.div_ceil(4));
        for VertexBlock { xs, ys } in used.unwrap_or_default() {
            a = min(a, xs[0] * x + ys[0] * y);
            b = min(b, xs[1] * x + ys[1] * y);
            c = min(c, xs[2] * x + ys[2] * y);
            d = min(d, xs[3] * x + ys[3] * y);
        }
        min(min(a, b), min(c, d))
    }

    /// Returns the largest gap g of all edges, or any gap above `limit`, and the index of the edge
    /// with this gap. Returns `None` if no gap is larger than `lower_limit`.
    ///
    /// The gap between an edge and a point inside the other polygon is an upper bound on g. So the
    /// edge with the largest bound is tested first, and then the edges whose bound exceeds the best
    /// g.
    fn max_gap(&self, other: &Self, lower_limit: f64, limit: f64) -> Option<(f64, usize)> {
        let mut bounds = [f64::NEG_INFINITY; MAX_EDGES];
        let (mut max_bound, mut first) = (f64::NEG_INFINITY, 0);
        for (index, bound) in bounds.iter_mut().enumerate().take(self.count) {
            let (normal, height) = self.edge(index);
            *bound = other.center.dot(normal) - height;
            first = if *bound > max_bound { index } else { first };
            max_bound = if *bound > max_bound {
                *bound
            } else {
                max_bound
            };
        }
        let mut found = None;
        let mut best = lower_limit;
        let mut test = |index: usize, best: &mut f64| {
            let (normal, height) = self.edge(index);
            let gap = other.min_height(normal) - height;
            if gap > *best {
                *best = gap;
                found = Some((gap, index));
            }
        };
        test(first, &mut best);
        for (index, bound) in bounds.iter().enumerate() {
            if *bound > best && best <= limit && index != first {
                test(index, &mut best);
            }
        }
        found
    }

    /// Returns the contact points of an edge and the other polygon, which is moved by `offset`: a
    /// point of the edge, and the deepest point of the other polygon.
    ///
    /// All vertices of the other polygon within `FLAT_DEPTH` of the deepest vertex count as equally
    /// deep. These vertices cover a range along the edge. The edge itself covers the range from 0
    /// to 1. The contact points are in the middle of the overlap of the two ranges.
    fn contact_points(&self, index: usize, other: &Self, offset: D, scale: f64) -> [D; 2] {
        let start = self.vertex(index);
        let edge = self.vertex(index + 1) - start;
        let (normal, _) = self.edge(index);
        let lowest = other.min_height(normal) + FLAT_DEPTH * scale;
        let square = edge.length_squared();
        let (mut near, mut far) = ((f64::INFINITY, D::ZERO), (f64::NEG_INFINITY, D::ZERO));
        let seen_start = start - offset;
        for index in 0..other.count {
            let vertex = other.vertex(index);
            let along = (vertex - seen_start).dot(edge) / square;
            if vertex.dot(normal) <= lowest {
                near = if along < near.0 {
                    (along, vertex)
                } else {
                    near
                };
                far = if along > far.0 { (along, vertex) } else { far };
            }
        }
        let middle = 0.5 * (near.0.clamp(0.0, 1.0) + far.0.clamp(0.0, 1.0));
        let range = far.0 - near.0;
        let part = if range > 0.0 {
            ((middle - near.0) / range).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let deepest = near.1 + (far.1 - near.1) * part;
        [start + edge * middle, deepest + offset]
    }
}

/// An edge of one of two polygons.
#[derive(Clone, Copy)]
pub(super) struct PolygonSide {
    pub(super) index: usize,
    /// `true` if the edge belongs to the first polygon.
    pub(super) is_of_first: bool,
}

/// Returns both polygons of a pair, or `None` if a core is not a polygon.
pub(super) fn placed<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
) -> Option<[PlacedPolygon<D>; 2]> {
    let [first, second] = pair.cores().map(Core::polygon);
    let (first, second) = first.zip(second)?;
    Some([
        PlacedPolygon::new(&first, &Pose::IDENTITY),
        PlacedPolygon::new(&second, pair.relative()),
    ])
}

/// Computes the closed form of two polygons, or of a polygon and a point. Returns `None` for other
/// pairs, for invalid shapes, and if GJK has to compute the nearest points.
// This function is not inlined, because the arrays would take up stack space in every query.
#[inline(never)]
pub fn solve<D: DVector>(pair: &impl MinkowskiDifference<Vector = D>) -> Option<ClosedForm<D>> {
    let [first, second] = pair.cores().map(Core::polygon);
    let first = first?;
    let offset = first.extent() + second.map_or(0.0, |second| second.extent());
    let size = first.half_diagonal() + second.map_or(0.0, |second| second.half_diagonal());
    let radius_sum = pair.radius_sum();
    let scale = size.max(OFFSET_SCALE * offset) + radius_sum;
    if !(scale.is_finite() && pair.relative().translation.is_finite()) {
        return None;
    }
    let Some(second) = second else {
        let point = pair.has_point().then_some(pair.relative().translation)?;
        return polygon_and_point(&first, point, scale).map(ClosedForm::Contact);
    };
    let first = PlacedPolygon::new(&first, &Pose::IDENTITY);
    let second = PlacedPolygon::new(&second, pair.relative());
    let limit = radius_sum + TOUCHING * scale;
    // If the maximum gaps of the two polygons are equal, the first polygon's edge is used.
    let (gap, index) = first.max_gap(&second, f64::NEG_INFINITY, limit)?;
    if gap > limit {
        return Some(ClosedForm::Separated);
    }
    let of_second = second.max_gap(&first, gap, limit);
    let is_of_first = of_second.is_none();
    let (gap, index) = of_second.unwrap_or((gap, index));
    let side = PolygonSide { index, is_of_first };
    if gap > 0.0 {
        // If the gap is at most the sum of the radii, or within the tolerance, GJK computes the
        // nearest points.
        return (gap > limit).then_some(ClosedForm::Separated);
    }
    let contact = Penetration {
        depth: -gap,
        ..contact_along([&first, &second], side, D::ZERO, scale)
    };
    Some(ClosedForm::Contact(contact.with_opposite_points(pair)))
}

/// Returns the contact along the normal of an edge. The second polygon is moved by `offset`.
pub(super) fn contact_along<D: DVector>(
    [first, second]: [&PlacedPolygon<D>; 2],
    PolygonSide { index, is_of_first }: PolygonSide,
    offset: D,
    scale: f64,
) -> Penetration<D> {
    let (normal, [first, second]) = if is_of_first {
        let (normal, _) = first.edge(index);
        (normal, first.contact_points(index, second, offset, scale))
    } else {
        let (normal, _) = second.edge(index);
        let [on_second, on_first] = second.contact_points(index, first, -offset, scale);
        (-normal, [on_first + offset, on_second + offset])
    };
    Penetration {
        normal,
        depth: normal.dot(first - second),
        first,
        second,
        scale,
    }
}

/// Returns the contact of a polygon and a point. Returns `None` if the point is so close to a
/// vertex that the direction from the vertex to the point is mostly rounding error.
fn polygon_and_point<D: DVector>(
    polygon: &Polygon<D>,
    point: D,
    scale: f64,
) -> Option<Penetration<D>> {
    let mut best = (f64::NEG_INFINITY, 0);
    for (index, edge) in polygon.edges().enumerate() {
        let gap = (point - edge.start).dot(edge.normal);
        if gap > best.0 {
            best = (gap, index);
        }
    }
    let (gap, index) = best;
    let edge = polygon.edge(index)?;
    let next = polygon.edge(index + 1).or_else(|| polygon.edge(0))?;
    let [start, end] = [edge.start, next.start];
    let line = end - start;
    let along = (point - start).dot(line) / line.length_squared();
    let (normal, gap, first) = if gap <= 0.0 || (0.0..=1.0).contains(&along) {
        (edge.normal, gap, point - edge.normal * gap)
    } else {
        let vertex = if along > 0.0 { end } else { start };
        let gap = (point - vertex).length();
        if gap <= CORE_CONTACT * scale {
            return None;
        }
        ((point - vertex).unit()?, gap, vertex)
    };
    Some(Penetration {
        normal,
        depth: -gap,
        first,
        second: point,
        scale,
    })
}
