//! The polytope of EPA in two dimensions: a convex polygon.

use crate::{
    math::DVec2,
    space::{DVector, Facet, Growth, List, Polytope},
};

/// A convex polygon as a set of edges, counter-clockwise each; their order does not matter.
pub struct Polygon<const EDGES: usize> {
    /// Of the edges' lines: on their own, because they are looked through for the nearest.
    distances: List<f64, EDGES>,
    edges: List<Edge, EDGES>,
}

#[derive(Clone, Copy)]
struct Edge {
    /// Outward, of unit length; null for an edge without length.
    normal: DVec2,
    start: u16,
    end: u16,
}

impl Edge {
    /// With the distance of its line, which is infinite for an edge without length: it bounds nothing, and is never the
    /// nearest.
    #[inline]
    fn new(points: &[DVec2], start: u16, end: u16) -> Option<(Self, f64)> {
        let a = *points.get(usize::from(start))?;
        let b = *points.get(usize::from(end))?;
        let unit = DVec2::perpendicular(&[b - a])?.unit();
        let distance = unit.map_or(f64::INFINITY, |normal| normal.dot(a));
        let normal = unit.unwrap_or(DVec2::ZERO);
        Some((Self { normal, start, end }, distance))
    }
}

impl<const EDGES: usize> Polygon<EDGES> {
    /// Adds an edge, or returns `None` if there is no room.
    #[inline]
    fn add(&mut self, (edge, distance): (Edge, f64)) -> Option<()> {
        self.distances.push(distance)?;
        self.edges.push(edge)
    }
}

impl<const EDGES: usize> Polytope<DVec2> for Polygon<EDGES> {
    #[inline]
    fn new() -> Self {
        Self {
            distances: List::new(),
            edges: List::new(),
        }
    }

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

    #[inline]
    fn distances(&self) -> &[f64] {
        &self.distances
    }

    #[inline]
    fn facet(&self, number: usize) -> Option<Facet<DVec2>> {
        let edge = self.edges.get(number)?;
        Some(Facet {
            normal: edge.normal,
            distance: *self.distances.get(number)?,
            vertices: [edge.start, edge.end, edge.end],
            index: number,
        })
    }

    #[inline]
    fn grow(&mut self, points: &[DVec2], beyond: &Facet<DVec2>, _tolerance: f64) -> Growth {
        // A support point beyond an edge lies between its ends on the boundary of the body that is approximated, so
        // that it can be beyond no other edge.
        let new = points.len().saturating_sub(1) as u16;
        let [start, end, _] = beyond.vertices;
        if self.edges.is_full() {
            return Growth::Full;
        }
        let (Some(slot), Some(distance), Some(before), Some(after)) = (
            self.edges.get_mut(beyond.index),
            self.distances.get_mut(beyond.index),
            Edge::new(points, start, new),
            Edge::new(points, new, end),
        ) else {
            return Growth::Tangled;
        };
        (*slot, *distance) = before;
        self.add(after).map_or(Growth::Full, |()| Growth::Grown)
    }
}
