//! The polytope of EPA in two dimensions: a convex polygon.

use arrayvec::ArrayVec;

use crate::{
    math::DVec2,
    space::{DVector, EpaEnd, Polytope, PolytopeFacet},
};

/// A convex polygon, stored as counter-clockwise edges in any order.
#[derive(Default)]
pub struct EpaPolygon<const EDGES: usize> {
    /// The distances of the edges' lines from the origin. A search for the minimum reads only this
    /// list.
    distances: ArrayVec<f64, EDGES>,
    edges: ArrayVec<Edge, EDGES>,
}

#[derive(Clone, Copy)]
struct Edge {
    /// The outward unit normal, or zero for a degenerate edge.
    normal: DVec2,
    start: u16,
    end: u16,
}

impl Edge {
    /// Returns an edge and the distance of its line from the origin. For an edge of zero length,
    /// the distance is infinite, so that the edge is never the nearest.
    fn new(points: &[DVec2], start: u16, end: u16) -> Option<(Self, f64)> {
        let a = *points.get(usize::from(start))?;
        let b = *points.get(usize::from(end))?;
        let unit = DVec2::perpendicular(&[b - a])?.unit();
        let distance = unit.map_or(f64::INFINITY, |normal| normal.dot(a));
        let normal = unit.unwrap_or(DVec2::ZERO);
        Some((Self { normal, start, end }, distance))
    }
}

impl<const EDGES: usize> EpaPolygon<EDGES> {
    /// Adds an edge, or returns `None` if there is no capacity.
    fn add(&mut self, (edge, distance): (Edge, f64)) -> Option<()> {
        self.distances.try_push(distance).ok()?;
        self.edges.try_push(edge).ok()
    }
}

impl<const EDGES: usize> Polytope<DVec2> for EpaPolygon<EDGES> {
    fn begin(&mut self, points: &[DVec2]) -> Option<()> {
        let [a, b, c, ..] = *points else { return None };
        let area = DVec2::determinant(&[b - a, c - a]);
        let [b, c] = if area > 0.0 {
            [1, 2]
        } else if area < 0.0 {
            [2, 1]
        } else {
            return None;
        };
        for (start, end) in [(0, b), (b, c), (c, 0)] {
            self.add(Edge::new(points, start, end)?)?;
        }
        Some(())
    }

    fn distances(&self) -> &[f64] {
        &self.distances
    }

    fn facet(&self, index: usize) -> Option<PolytopeFacet<DVec2>> {
        let edge = self.edges.get(index)?;
        Some(PolytopeFacet {
            normal: edge.normal,
            distance: *self.distances.get(index)?,
            vertices: [edge.start, edge.end, edge.end],
            index,
        })
    }

    fn grow(
        &mut self,
        points: &[DVec2],
        beyond: &PolytopeFacet<DVec2>,
        _tolerance: f64,
    ) -> Result<(), EpaEnd> {
        // A support point beyond an edge lies on the boundary of the Minkowski difference, on the
        // part between the ends of the edge. So the point is beyond no other edge.
        let new = points.len().saturating_sub(1) as u16;
        let [start, end, _] = beyond.vertices;
        if self.edges.is_full() {
            return Err(EpaEnd::Full);
        }
        let (Some(slot), Some(distance), Some(before), Some(after)) = (
            self.edges.get_mut(beyond.index),
            self.distances.get_mut(beyond.index),
            Edge::new(points, start, new),
            Edge::new(points, new, end),
        ) else {
            return Err(EpaEnd::Stuck);
        };
        (*slot, *distance) = before;
        self.add(after).ok_or(EpaEnd::Full)
    }
}
