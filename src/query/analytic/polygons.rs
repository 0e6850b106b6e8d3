//! Two convex polygons with few edges, or a polygon and a rectangle or a point, in closed form.
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
//! * An edge is tested against all vertices, four at a time and without branches. For few vertices,
//!   this test is faster than a search that starts from the lowest vertex of the previous edge.
//! * A circle inside the other polygon gives an upper bound on the gap of an edge, which excludes
//!   most edges.
//! * The contact points are in the middle of the overlap of the two edges.
//!
//! **Two polygons that are apart.** The point of the Minkowski difference nearest to the origin is
//! on the edge with the largest g, or at one of its ends. This follows from the next paragraph,
//! with the origin as the point. So the nearest points are a point of the edge with the largest g
//! and a vertex of the other polygon. If an edge of the other polygon is parallel, they are points
//! of both edges.
//!
//! **A polygon and a point.** Let p be the point, so g = n·(p - a). The nearest point is on the
//! edge with the largest g, or at one of its ends. If p is beside an edge, all other edges have a
//! smaller n·(p - a). If p is beyond a vertex, the two edges at this vertex have the largest n·(p -
//! a). The reason is that the vertex is behind all other edges, whose normals make a larger angle
//! with the vector from the vertex to p. If p is inside the polygon, the normal is the normal of
//! the edge with the largest g.

use crate::{
    query::{
        analytic::ClosedForm,
        gjk::{Goal, Penetration},
        minkowski::MinkowskiDifference,
    },
    shape::{Core, Polygon, PolygonEdges},
    space::{DVector, Pose},
    tolerance::{CORE_CONTACT, FLAT_DEPTH, OFFSET_SCALE, ROUNDING, TOUCHING},
};

/// A polygon with its pose in the frame of the pair. The vertices are not mapped to this frame.
/// Instead, the few directions in which edges are tested are mapped to the frame of the polygon.
pub(super) struct PlacedPolygon<'a, D: DVector> {
    polygon: Polygon<'a, D>,
    pose: Pose<D>,
}

impl<'a, D: DVector> PlacedPolygon<'a, D> {
    fn to_local(&self, direction: D) -> D {
        D::transpose(self.pose.rotation) * direction
    }

    fn place(&self, point: D) -> D {
        self.pose.rotation * point + self.pose.translation
    }

    /// Returns the vertex at an index, in the frame of the polygon. The index after the last vertex
    /// stands for the first vertex.
    fn vertex(&self, index: usize) -> D {
        let edge = self.polygon.edge(index).or_else(|| self.polygon.edge(0));
        edge.map_or(D::ZERO, |edge| edge.start)
    }

    /// Returns the outward normal of an edge.
    pub(super) fn normal(&self, index: usize) -> D {
        let edge = self.polygon.edge(index);
        edge.map_or(D::ZERO, |edge| self.pose.rotation * edge.normal)
    }

    /// Returns the minimum component of the vertices along a direction.
    #[inline(always)]
    fn min_height(&self, direction: D) -> f64 {
        let lowest = self.polygon.min_height(self.to_local(direction));
        lowest + self.pose.translation.dot(direction)
    }

    /// Returns an upper bound on the gap g of each edge: the gap between the edge and a circle
    /// inside the other polygon.
    #[inline(always)]
    pub(super) fn bounds(
        &self,
        other: &PlacedPolygon<D>,
    ) -> impl Iterator<Item = f64> + Clone + use<D> {
        let center = other.place(other.polygon.center()) - self.pose.translation;
        let (heights, count) = self.polygon.heights(self.to_local(center));
        let radius = other.polygon.inner_radius();
        let heights = heights.into_iter().take(count);
        heights.map(move |height| height - radius)
    }

    /// Returns the gap g of an edge with the given normal.
    #[inline(always)]
    pub(super) fn gap(&self, index: usize, normal: D, other: &PlacedPolygon<D>) -> f64 {
        other.min_height(normal) - self.place(self.vertex(index)).dot(normal)
    }

    /// Returns the largest gap g of all edges, or any gap above `limit`, and the index of the edge
    /// with this gap. Returns `None` if no gap is larger than `lower_limit`.
    ///
    /// The edge with the largest upper bound on its gap is tested first, and then the edges whose
    /// bound exceeds the best g.
    fn max_gap(
        &self,
        other: &PlacedPolygon<D>,
        lower_limit: f64,
        limit: f64,
    ) -> Option<(f64, usize)> {
        let bounds = self.bounds(other);
        let (mut max_bound, mut first) = (f64::NEG_INFINITY, 0);
        for (index, bound) in bounds.clone().enumerate() {
            first = if bound > max_bound { index } else { first };
            max_bound = if bound > max_bound { bound } else { max_bound };
        }
        let mut found = None;
        let mut best = lower_limit;
        let mut test = |index: usize, best: &mut f64| {
            let gap = self.gap(index, self.normal(index), other);
            if gap > *best {
                *best = gap;
                found = Some((gap, index));
            }
        };
        test(first, &mut best);
        for (index, bound) in bounds.enumerate() {
            if bound > best && best <= limit && index != first {
                test(index, &mut best);
            }
        }
        found
    }

    /// Returns the contact points of an edge and the other polygon, which is moved by `offset`: a
    /// point of the edge, and the deepest point of the other polygon.
    ///
    /// All vertices of the other polygon within `level` of the deepest vertex count as equally
    /// deep. These vertices cover a range along the edge. The edge itself covers the range from 0
    /// to 1. The contact points are in the middle of the overlap of the two ranges.
    fn contact_points(
        &self,
        index: usize,
        other: &PlacedPolygon<D>,
        offset: D,
        level: f64,
    ) -> [D; 2] {
        let vertex = self.vertex(index);
        let start = self.place(vertex);
        // The difference is computed before the pose is applied, so that rounding never makes it 0.
        let edge = self.pose.rotation * (self.vertex(index + 1) - vertex);
        let direction = other.to_local(self.normal(index));
        let lowest = other.polygon.min_height(direction) + level;
        let square = edge.length_squared();
        let (mut near, mut far) = ((f64::INFINITY, D::ZERO), (f64::NEG_INFINITY, D::ZERO));
        let seen_start = start - offset;
        other.polygon.visit_below(direction, lowest, |vertex| {
            let vertex = other.place(vertex);
            let along = (vertex - seen_start).dot(edge) / square;
            near = if along < near.0 {
                (along, vertex)
            } else {
                near
            };
            far = if along > far.0 { (along, vertex) } else { far };
        });
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
pub(super) fn placed<'a, D: DVector>(
    pair: &'a impl MinkowskiDifference<Vector = D>,
) -> Option<[PlacedPolygon<'a, D>; 2]> {
    let [first, second] = pair.cores().map(Core::polygon);
    Some(in_frame([first?, second?], *pair.relative()))
}

/// Places the two polygons of a pair, given the pose of the second polygon in the frame of the
/// first.
fn in_frame<D: DVector>(polygons: [Polygon<D>; 2], relative: Pose<D>) -> [PlacedPolygon<D>; 2] {
    let [first, second] = polygons;
    [(first, Pose::IDENTITY), (second, relative)]
        .map(|(polygon, pose)| PlacedPolygon { polygon, pose })
}

/// Computes the closed form of two polygons, of a polygon and a rectangle, or of a polygon and a
/// point. Returns `None` for other pairs, for invalid shapes, and if GJK has to compute the nearest
/// points.
// This function is not inlined, because the arrays would take up stack space in every query.
#[inline(never)]
pub fn solve<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    goal: Goal,
) -> Option<ClosedForm<D>> {
    let cores = pair.cores();
    let rectangle = |core: Core<D>| PolygonEdges::of_rectangle(core.half_extents()?);
    match cores.map(Core::polygon) {
        [Some(first), Some(second)] => solve_polygons(pair, [first, second], goal),
        [Some(first), None] if pair.has_point() => polygon_and_point(pair, &first),
        [Some(first), None] => {
            let second = rectangle(cores[1])?;
            solve_polygons(pair, [first, second.polygon()], goal)
        }
        [None, Some(second)] => {
            let first = rectangle(cores[0])?;
            solve_polygons(pair, [first.polygon(), second], goal)
        }
        [None, None] => None,
    }
}

/// Returns the scale of a pair with one or two polygons, or `None` if a shape is invalid.
fn scale_of<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    offset: f64,
    size: f64,
) -> Option<f64> {
    let scale = size.max(OFFSET_SCALE * offset) + pair.radius_sum();
    let is_valid = scale.is_finite() && pair.relative().translation.is_finite();
    is_valid.then_some(scale)
}

#[inline(always)]
fn solve_polygons<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    [first, second]: [Polygon<D>; 2],
    goal: Goal,
) -> Option<ClosedForm<D>> {
    let offset = first.extent() + second.extent();
    let size = first.half_diagonal() + second.half_diagonal();
    let scale = scale_of(pair, offset, size)?;
    let polygons = in_frame([first, second], *pair.relative());
    let [first, second] = &polygons;
    let touching = pair.radius_sum() + TOUCHING * scale;
    let limit = match goal {
        Goal::Distance => f64::INFINITY,
        _ => touching,
    };
    // If the maximum gaps of the two polygons are equal, the first polygon's edge is used.
    let (gap, index) = first.max_gap(second, f64::NEG_INFINITY, limit)?;
    if gap > limit {
        return Some(ClosedForm::Verdict(false));
    }
    let of_second = second.max_gap(first, gap, limit);
    let is_of_first = of_second.is_none();
    let (gap, index) = of_second.unwrap_or((gap, index));
    let side = PolygonSide { index, is_of_first };
    match goal {
        // If the gap is at most the sum of the radii, or within the tolerance, GJK computes the
        // nearest points.
        _ if gap > 0.0 && gap <= touching => None,
        Goal::Contact | Goal::Distance if gap <= 0.0 => {
            let contact = contact_along(&polygons, side, D::ZERO, FLAT_DEPTH * scale, scale);
            let depth = -gap;
            let contact = Penetration { depth, ..contact };
            Some(ClosedForm::Contact(match goal {
                Goal::Contact => contact.with_opposite_points(pair),
                _ => contact,
            }))
        }
        Goal::Distance if let Some(nearest) = nearest(&polygons, side, gap, scale) => {
            Some(ClosedForm::Contact(nearest))
        }
        _ => Some(ClosedForm::Verdict(gap <= 0.0)),
    }
}

/// Returns the contact of two polygons that are apart, given the edge with the largest gap. Returns
/// `None` if rounding may have chosen another edge.
fn nearest<D: DVector>(
    polygons: &[PlacedPolygon<D>; 2],
    side: PolygonSide,
    gap: f64,
    scale: f64,
) -> Option<Penetration<D>> {
    let contact = contact_along(polygons, side, D::ZERO, ROUNDING * scale, scale);
    let offset = contact.second - contact.first;
    let (distance, normal) = (offset.length(), offset.unit()?);
    let [first, second] = polygons;
    // Along the edge's normal, the gap is a lower bound on the distance. Another lower bound is the
    // gap along the vector between the points.
    let tolerance = ROUNDING * (scale + distance);
    let is_nearest = distance - gap <= tolerance
        || distance - (second.min_height(normal) + first.min_height(-normal)) <= tolerance;
    is_nearest.then_some(Penetration {
        normal,
        depth: -distance.max(gap),
        ..contact
    })
}

/// Returns the contact along the normal of an edge. The second polygon is moved by `offset`.
/// Vertices whose heights differ by at most `level` count as equally deep.
pub(super) fn contact_along<D: DVector>(
    [first, second]: &[PlacedPolygon<D>; 2],
    PolygonSide { index, is_of_first }: PolygonSide,
    offset: D,
    level: f64,
    scale: f64,
) -> Penetration<D> {
    let (normal, [first, second]) = if is_of_first {
        (
            first.normal(index),
            first.contact_points(index, second, offset, level),
        )
    } else {
        let [on_second, on_first] = second.contact_points(index, first, -offset, level);
        (
            -second.normal(index),
            [on_first + offset, on_second + offset],
        )
    };
    Penetration {
        normal,
        depth: normal.dot(first - second),
        first,
        second,
        scale,
    }
}

/// Computes the closed form of a polygon and a point, the second shape. Returns `None` if the point
/// is so close to a vertex that the direction from the vertex to the point is mostly rounding
/// error.
fn polygon_and_point<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    polygon: &Polygon<D>,
) -> Option<ClosedForm<D>> {
    let scale = scale_of(pair, polygon.extent(), polygon.half_diagonal())?;
    let point = pair.relative().translation;
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
    Some(ClosedForm::Contact(Penetration {
        normal,
        depth: -gap,
        first,
        second: point,
        scale,
    }))
}
