//! A facet of a surface, and points on its boundary. `placed/facets.rs` calls [`Facet::new`] for
//! each facet near a body.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    shape::ShapeError,
    space::{DVector, Space},
    tolerance::{OFFSET_SCALE, SAME_NORMAL},
};

/// The *weld* of a facet is this fraction of the greatest [`extent`](DVector::extent) of a vertex.
/// Points of the facet count as the same point if their distance is at most the weld. Exporters and
/// scripts may repeat a vertex with an error of a few roundings in `f32`. The limit depends on this
/// facet alone, so that no distant facet changes a contact.
pub const WELD: f64 = 8.0 * f32::EPSILON as f64;

/// A point on an edge counts as the edge's end if their distance is at most this fraction of the
/// weld. The fraction covers the rounding of `f64`. A larger fraction would noticeably rotate the
/// normal of a contact near the vertex.
const SAME_VERTEX: f64 = 1e-7;

/// The area of a triangle counts as zero if the cross product of two edges is at most this fraction
/// of the longer edge's square. The normal of such a triangle would be mostly rounding error.
const SLIVER: f64 = 1e-12;

/// The vertices of a cluster deviate from its plane by at most this fraction of the weld. The
/// deviation is less than the rounding of vertices to `f32`.
const FLAT: f64 = 1.0 / 32.0;

/// The indices of a facet's vertices. Only the first [`DVector::DIMENSION`] indices are used.
pub type FacetIndices = [u32; 3];

/// The vertices of a facet.
pub type FacetVertices<D> = ArrayVec<D, 3>;

/// A facet of a surface, in world axes, relative to the translation of the surface.
#[derive(Clone, Debug)]
pub struct Facet<D: DVector> {
    /// The outward unit normal.
    pub normal: D,
    /// The first vertex.
    base: D,
    vertices: FacetVertices<D>,
    /// The maximum distance between points that count as the same point: see [`weld`].
    pub weld: f64,
}

/// A point on the boundary of a facet.
#[derive(Clone, Copy, Debug)]
pub struct BoundaryPoint<D> {
    pub point: D,
    /// The barycentric coordinates of the point, in the order of the facet's vertices.
    pub weights: [f64; 3],
    /// The unit vector along the edge that contains the point, or `None` at a vertex.
    edge: Option<D>,
}

impl<D: DVector> BoundaryPoint<D> {
    fn at_vertex(index: usize, point: D) -> Self {
        Self {
            point,
            weights: edge_weights([index; 2], 0.0),
            edge: None,
        }
    }

    /// Returns this boundary point, moved to another point of the same edge. The weights then
    /// identify the edge, but not the position.
    pub fn moved_to(self, point: D) -> Self {
        Self { point, ..self }
    }

    /// Returns `true` if the point is a vertex, and `false` if the point is inside an edge.
    pub fn is_vertex(&self) -> bool {
        self.edge.is_none()
    }

    /// Returns the offset of a vertex from this point. If this point is on an edge, the component
    /// along the edge is removed.
    fn offset_to(&self, vertex: D) -> D {
        let offset = vertex - self.point;
        self.edge
            .map_or(offset, |edge| offset - edge * offset.dot(edge))
    }

    /// Returns unit vectors that span the directions from this point into a facet.
    ///
    /// At a vertex, the directions point to the other vertices, and the last direction points
    /// between these vertices. On an edge, the last two directions point both ways along the edge,
    /// and the others point across the edge. Neighboring directions are at most a right angle
    /// apart.
    pub fn spanning_directions(&self, vertices: &[D]) -> SmallVec<[D; 5]> {
        let mut directions = SmallVec::new();
        let weld = weld(vertices);
        for vertex in vertices {
            let offset = self.offset_to(*vertex);
            if offset.length() > 2.0 * weld {
                directions.extend(offset.unit());
            }
        }
        if let Some(edge) = self.edge {
            directions.extend([edge, -edge]);
        } else {
            let sum = directions.iter().fold(D::ZERO, |sum, it| sum + *it);
            directions.extend(sum.unit());
        }
        directions
    }

    /// Returns `true` if a facet at this point rises along a unit normal by an angle whose sine
    /// exceeds `min_sine`. For example, a wall at the edge of a floor rises along the normal of the
    /// floor. Points count as the same point if their distance is at most `weld`.
    pub fn rises(&self, vertices: &[D], normal: D, min_sine: f64, weld: f64) -> bool {
        // The facet lies between the directions to its vertices, so it rises only if at least one
        // of these directions rises. At a point on an edge, the component of the normal along the
        // edge is mostly rounding error. So `offset_to` removes the offset's component along the
        // edge.
        vertices.iter().any(|vertex| {
            let offset = self.offset_to(*vertex);
            let length = offset.length();
            length > 2.0 * weld && offset.dot(normal) > min_sine * length + 0.25 * weld
        })
    }
}

/// A part of a facet's boundary: an edge of a triangle, or an end of a segment.
struct FacetSide<D> {
    /// The positions of the side's ends among the facet's vertices. In 2D, both positions are
    /// equal.
    ends: [usize; 2],
    start: D,
    end: D,
    /// The opposite vertex.
    apex: D,
}

impl<D: DVector> FacetSide<D> {
    /// Returns the vector from the side to the opposite vertex, orthogonal to the side.
    #[inline]
    fn inward(&self) -> D {
        let (offset, edge) = (self.apex - self.start, self.end - self.start);
        offset - edge * fraction_of_edge(offset, edge)
    }

    /// Returns the least distance from a segment to the side's ends, and to the point inside the
    /// side that is nearest to the inside of the segment.
    fn distance_to_segment(&self, [start, end]: [D; 2]) -> f64 {
        let (edge, along) = (self.end - self.start, end - start);
        let to_point = |point: D| (nearest_on_segment([start, end], point) - point).length();
        let to_ends = to_point(self.start).min(to_point(self.end));
        // Source: Ericson, "Real-Time Collision Detection" (2005), section 5.1.9.
        let (edge_squared, cosine) = (edge.length_squared(), edge.dot(along));
        let determinant = edge_squared * along.length_squared() - cosine * cosine;
        let offset = start - self.start;
        let of_edge = offset.dot(edge) * along.length_squared() - offset.dot(along) * cosine;
        let fraction = of_edge / determinant;
        if fraction > 0.0 && fraction < 1.0 {
            to_ends.min(to_point(self.start + edge * fraction))
        } else {
            to_ends
        }
    }
}

impl<D: DVector> Facet<D> {
    /// Creates a facet from its vertices, or returns `None` if the facet has no normal. `mirrored`
    /// reverses the outer side.
    pub fn new(vertices: FacetVertices<D>, mirrored: bool) -> Option<Self> {
        let outward = facet_normal(&vertices)?.unit()?;
        Some(Self {
            normal: if mirrored { -outward } else { outward },
            base: *vertices.first()?,
            weld: weld(&vertices),
            vertices,
        })
    }

    /// Returns the vertices.
    pub fn vertices(&self) -> &FacetVertices<D> {
        &self.vertices
    }

    /// Returns the height of a point above the outer side.
    pub fn height(&self, point: D) -> f64 {
        (point - self.base).dot(self.normal)
    }

    /// Returns the unit normal that points to the side of `point`.
    pub fn normal_toward(&self, point: D) -> D {
        if self.height(point) >= 0.0 {
            self.normal
        } else {
            -self.normal
        }
    }

    /// Returns the greatest component of a vertex along a vector.
    pub fn top(&self, direction: D) -> f64 {
        let heights = self.vertices.iter().map(|vertex| vertex.dot(direction));
        heights.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns an upper bound on the distance from a point to the farthest vertex, plus
    /// [`OFFSET_SCALE`] times the vertex's [`extent`](DVector::extent).
    pub fn max_distance(&self, point: D) -> f64 {
        let distances = self.vertices.iter().map(|vertex| {
            let offset = OFFSET_SCALE * vertex.extent();
            (*vertex - point).extent() + offset
        });
        distances.fold(0.0, f64::max)
    }

    /// Returns `true` if a unit vector is normal to the facet, on either side.
    pub fn has_normal(&self, normal: D) -> bool {
        (normal - self.normal.toward(normal)).length() <= SAME_NORMAL
    }

    /// Returns the distance, in the facet's plane, from the boundary to a point. The result is
    /// negative outside the facet.
    pub fn inset(&self, point: D) -> f64 {
        inset(&self.vertices, point)
    }

    /// Returns `true` if a segment passes through the facet.
    pub fn is_crossed_by(&self, [from, to]: [D; 2]) -> bool {
        let (start, end) = (self.height(from), self.height(to));
        let is_along = start.abs().max(end.abs()) <= self.weld;
        if (start >= 0.0) == (end >= 0.0) || is_along {
            return false;
        }
        let crossing = from + (to - from) * (start / (start - end));
        self.inset(crossing) >= -self.weld
    }

    /// Returns `true` if a point is on the facet, up to a tolerance or the facet's weld, whichever
    /// is greater.
    pub fn contains(&self, point: D, tolerance: f64) -> bool {
        let tolerance = self.weld.max(tolerance);
        self.height(point).abs() <= tolerance && self.inset(point) >= -tolerance
    }

    /// Returns `true` if the projection of a point onto the facet's plane is on the facet.
    pub fn is_under(&self, point: D) -> bool {
        let mut sides = sides(&self.vertices);
        sides.all(|side| (point - side.start).dot(side.inward()) >= 0.0)
    }

    /// Returns the distance from a point to the facet.
    pub fn distance(&self, point: D) -> f64 {
        if self.is_under(point) {
            return self.height(point).abs();
        }
        let nearest = self.nearest_boundary(point);
        nearest.map_or(f64::INFINITY, |nearest| (nearest.point - point).length())
    }

    /// Returns the distance from a segment to the facet.
    pub fn distance_to_segment(&self, [start, end]: [D; 2]) -> f64 {
        let heights = [start, end].map(|point| self.height(point));
        if (heights[0] >= 0.0) != (heights[1] >= 0.0) {
            let crossing = start + (end - start) * (heights[0] / (heights[0] - heights[1]));
            if self.is_under(crossing) {
                return 0.0;
            }
        }
        // Either an end of the segment is nearest to the facet, or a point of a side is nearest to
        // the segment.
        let to_sides = sides(&self.vertices).map(|side| side.distance_to_segment([start, end]));
        let to_facet = [start, end].map(|point| self.distance(point));
        to_sides.chain(to_facet).fold(f64::INFINITY, f64::min)
    }

    /// Returns the distance from a point to the nearest side in a mask. Bit i of the mask stands
    /// for the side opposite to vertex i.
    pub fn distance_to_sides(&self, mask: u8, point: D) -> f64 {
        let chosen = (0..).zip(sides(&self.vertices));
        let chosen = chosen.filter(|(index, _)| mask >> index & 1 == 1);
        let nearest = chosen.map(|(_, side)| nearest_on_segment([side.start, side.end], point));
        let distances = nearest.map(|nearest| (nearest - point).length());
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Returns the ends of the edge that contains a boundary point. At a vertex, both ends are the
    /// vertex.
    pub fn edge_ends(&self, at: &BoundaryPoint<D>) -> [D; 2] {
        let weighted = self.vertices.iter().zip(at.weights);
        let mut ends = weighted.filter(|(_, weight)| *weight > 0.0);
        let start = ends.next().map_or(at.point, |(start, _)| *start);
        [start, ends.next().map_or(start, |(end, _)| *end)]
    }

    /// Returns the point nearest to `point` on the edge that contains a boundary point. At a
    /// vertex, the result is the vertex.
    pub fn nearest_on_edge(&self, at: &BoundaryPoint<D>, point: D) -> D {
        // The ends are sorted, so that both facets of the edge return the same point bit for bit.
        let mut ends = self.edge_ends(at);
        ends.sort_by(|a, b| a.total_cmp(*b));
        if ends[0] == ends[1] {
            // The sum in `nearest_on_segment` may change the sign of a coordinate that is 0.
            return ends[0];
        }
        nearest_on_segment(ends, point)
    }

    /// Returns the boundary point nearest to another point. If a vertex is equally near, up to the
    /// rounding of `f64`, the result is the vertex. Otherwise the result is on an edge.
    pub fn nearest_boundary(&self, point: D) -> Option<BoundaryPoint<D>> {
        let on_edge = |side: FacetSide<D>| {
            let edge = side.end - side.start;
            let fraction = fraction_of_edge(point - side.start, edge).clamp(0.0, 1.0);
            let nearest = side.start + edge * fraction;
            ((nearest - point).length_squared(), nearest, fraction, side)
        };
        let nearer = |a: (f64, _, _, _), b: (f64, _, _, _)| if b.0 < a.0 { b } else { a };
        let (_, nearest, fraction, side) = sides(&self.vertices).map(on_edge).reduce(nearer)?;
        let tolerance = SAME_VERTEX * self.weld;
        let is_near = |vertex: &D| (*vertex - nearest).length() <= tolerance;
        let mut vertices = self.vertices.iter().enumerate();
        Some(match vertices.find(|(_, vertex)| is_near(vertex)) {
            Some((index, vertex)) => BoundaryPoint::at_vertex(index, *vertex),
            None => BoundaryPoint {
                point: nearest,
                weights: edge_weights(side.ends, fraction),
                edge: (side.end - side.start).unit(),
            },
        })
    }

    /// Returns each vertex, and in 3D the midpoint of each edge.
    pub fn boundary_points(&self) -> impl Iterator<Item = BoundaryPoint<D>> {
        let vertices = self.vertices.iter().enumerate();
        let vertices = vertices.map(|(index, vertex)| BoundaryPoint::at_vertex(index, *vertex));
        let edges = sides(&self.vertices).filter_map(|side| {
            Some(BoundaryPoint {
                point: (side.start + side.end) * 0.5,
                weights: edge_weights(side.ends, 0.5),
                edge: Some((side.end - side.start).unit()?),
            })
        });
        vertices.chain(edges)
    }
}

/// Returns the vertices of a facet, or `None` if an index is out of range.
pub fn facet_vertices<V: Space>(
    vertices: &[V],
    facet: &FacetIndices,
) -> Option<FacetVertices<V::DVec>> {
    let mut found = ArrayVec::new();
    for index in facet_indices::<V>(facet) {
        found.push(vertices.get(index as usize)?.to_f64());
    }
    Some(found)
}

/// Returns the name of a facet of nonzero area, for an error.
pub fn facet_name<V: Space>() -> &'static str {
    if V::DVec::DIMENSION == 2 {
        "segment of nonzero length"
    } else {
        ShapeError::TRIANGLE
    }
}

/// Returns the indices of the vertices of a facet.
pub fn facet_indices<V: Space>(facet: &FacetIndices) -> impl Iterator<Item = u32> {
    facet.iter().copied().take(V::DVec::DIMENSION)
}

/// Returns the maximum distance between points of a facet that count as the same point: see
/// [`WELD`].
pub fn weld<D: DVector>(vertices: &[D]) -> f64 {
    let extents = vertices.iter().map(|vertex| vertex.extent());
    WELD * extents.fold(0.0, f64::max)
}

/// Returns `true` if a facet has a nonzero area (in 2D, length), up to rounding.
pub fn has_area<V: Space>(vertices: &[V::DVec]) -> bool {
    let edges = edges(vertices);
    let longest = edges.iter().map(|edge| edge.length()).fold(0.0, f64::max);
    let area = facet_normal(vertices).map_or(0.0, DVector::length);
    // In 3D, `area` is a product of two lengths. In 2D, `area` is a length.
    area > (1..V::DVec::DIMENSION).fold(SLIVER, |product, _| product * longest)
}

/// Returns `true` if two facets have nonzero areas and the same winding, and the plane of the first
/// facet contains the second facet.
pub fn are_level<V: Space>(own: &[V::DVec], others: &[V::DVec]) -> bool {
    let normal = facet_normal(own).filter(|_| has_area::<V>(own) && has_area::<V>(others));
    let (Some(normal), Some(base)) = (normal.and_then(V::DVec::unit), own.first()) else {
        return false;
    };
    let tolerance = FLAT * weld(own).min(weld(others));
    let mut others_heights = others.iter().map(|vertex| (*vertex - *base).dot(normal));
    facet_normal(others).is_some_and(|other| other.dot(normal) > 0.0)
        && others_heights.all(|height| height.abs() <= tolerance)
}

/// Returns `true` if a point is on a facet of nonzero area, up to the greater of a tolerance and
/// the facet's weld. `tolerance` returns the tolerance along a vector, times the vector's length.
pub fn contains<D: DVector>(vertices: &[D], point: D, tolerance: impl Fn(D) -> f64) -> bool {
    let normal = facet_normal(vertices).and_then(D::unit);
    let (Some(base), Some(normal)) = (vertices.first(), normal) else {
        return false;
    };
    let weld = weld(vertices);
    let tolerance = |vector: D| tolerance(vector).max(weld * vector.length());
    let is_level = normal.dot(point - *base).abs() <= tolerance(normal);
    is_level
        && sides(vertices).all(|side| {
            let inward = side.inward();
            (point - side.start).dot(inward) >= -tolerance(inward)
        })
}

/// Returns [`Facet::inset`] for the facet with these vertices.
pub fn inset<D: DVector>(vertices: &[D], point: D) -> f64 {
    let insets = sides(vertices).filter_map(|side| {
        let inward = side.inward().unit()?;
        Some((point - side.start).dot(inward))
    });
    insets.fold(f64::INFINITY, f64::min)
}

/// Returns the edges of a facet or a simplex that begin at its first vertex.
pub fn edges<D: DVector>(vertices: &[D]) -> ArrayVec<D, 3> {
    let mut vertices = vertices.iter();
    let base = vertices.next().copied().unwrap_or(D::ZERO);
    vertices.map(|vertex| *vertex - base).collect()
}

/// Returns the outward normal of a facet with these vertices, of any length.
#[inline]
pub fn facet_normal<D: DVector>(vertices: &[D]) -> Option<D> {
    match vertices {
        [a, b] => D::perpendicular(&[*b - *a]),
        [a, b, c] => D::perpendicular(&[*b - *a, *c - *a]),
        _ => None,
    }
}

/// Returns the vector along each edge of a facet, and the vector from the edge to the opposite
/// vertex. In 2D, each end of the segment counts as an edge of zero length.
pub fn facet_edges<D: DVector>(vertices: &[D]) -> impl Iterator<Item = (D, D)> {
    sides(vertices).map(|side| (side.end - side.start, side.inward()))
}

/// Returns the sides of a facet, each opposite to a vertex.
fn sides<D: DVector>(vertices: &[D]) -> impl Iterator<Item = FacetSide<D>> {
    let count = vertices.len();
    vertices
        .iter()
        .enumerate()
        .filter_map(move |(index, apex)| {
            let ends = [(index + 1) % count, (index + count - 1) % count];
            let [start, end] = ends.map(|end| vertices.get(end).copied());
            Some(FacetSide {
                ends,
                start: start?,
                end: end?,
                apex: *apex,
            })
        })
}

/// Returns the point of a segment that is nearest to `point`.
fn nearest_on_segment<D: DVector>([start, end]: [D; 2], point: D) -> D {
    let edge = end - start;
    start + edge * fraction_of_edge(point - start, edge).clamp(0.0, 1.0)
}

/// Returns the projection of an offset onto an edge, as a fraction of the edge. The result is 0 if
/// the edge has zero length.
fn fraction_of_edge<D: DVector>(offset: D, edge: D) -> f64 {
    let squared = edge.length_squared();
    if squared > 0.0 {
        offset.dot(edge) / squared
    } else {
        0.0
    }
}

/// Returns the barycentric coordinates of the point at a fraction of an edge.
fn edge_weights([start, end]: [usize; 2], fraction: f64) -> [f64; 3] {
    [0, 1, 2].map(|index| match index {
        _ if index == start => 1.0 - fraction,
        _ if index == end => fraction,
        _ => 0.0,
    })
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test needs a valid facet")]
mod tests {
    use super::Facet;
    use crate::math::DVec3;

    /// Compares distances to a triangle with the least distance between points of a fine grid on
    /// the segment and points of a fine grid on the triangle.
    #[test]
    fn distance_of_segment_is_least_distance_of_points() {
        let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.5], [0.0, 1.5, -0.5]].map(DVec3::from);
        let facet = Facet::new(corners.into(), false).expect("a triangle with an area");
        let steps = || (0..=60).map(|step| f64::from(step) / 60.0);
        let on_facet: Vec<DVec3> = steps()
            .flat_map(|s| steps().map(move |t| (s, t)))
            .filter(|(s, t)| s + t <= 1.0 + 1e-9)
            .map(|(s, t)| {
                corners[0] + (corners[1] - corners[0]) * s + (corners[2] - corners[0]) * t
            })
            .collect();
        let segments = [
            ([0.5, 0.4, -1.0], [0.5, 0.4, 1.0]),
            ([0.5, 0.4, 0.3], [0.6, 0.2, 1.0]),
            ([-0.5, 0.5, 1.0], [-0.2, 0.5, -1.0]),
            ([-1.0, -1.0, 0.2], [3.0, -0.3, 0.4]),
            ([2.5, 2.0, 0.0], [0.5, 2.5, 0.5]),
            ([2.4, 0.1, 0.6], [3.0, 0.2, 0.6]),
            ([1.2, 1.2, 0.4], [1.2, 1.2, 0.4]),
            ([3.0, -0.2, -1.0], [3.0, -0.2, 2.0]),
        ];
        for (start, end) in segments.map(|(a, b)| (DVec3::from(a), DVec3::from(b))) {
            let on_segment = steps().map(|it| start + (end - start) * it);
            let distances = on_segment.flat_map(|it| on_facet.iter().map(move |p| it.distance(*p)));
            let least = distances.fold(f64::INFINITY, f64::min);
            let distance = facet.distance_to_segment([start, end]);
            // No point is farther than a step from a point of its grid.
            assert!(distance <= least + 1e-12, "{distance} > {least}");
            assert!(least - distance <= 0.1, "{distance} < {least}");
            if least > 0.3 {
                assert!(least - distance <= 0.01, "{distance} < {least}");
            }
        }
    }
}
