//! The polytope of EPA in two dimensions: a convex polygon.

use smallvec::SmallVec;

use super::{Facet, Growth, Polytope, Wide};
use crate::math::DVec2;

/// A convex polygon as a set of edges, counter-clockwise each; their order does not matter.
pub struct Polygon<const EDGES: usize> {
    edges: SmallVec<[Facet<DVec2>; EDGES]>,
}

impl<const EDGES: usize> Polygon<EDGES> {
    fn edge(points: &[DVec2], start: usize, end: usize) -> Option<Facet<DVec2>> {
        let (a, b) = (*points.get(start)?, *points.get(end)?);
        let normal = DVec2::perpendicular(&[b - a])?.unit();
        Some(Facet {
            // An edge without length bounds nothing, and is never the nearest.
            distance: normal.map_or(f64::INFINITY, |normal| normal.dot(a)),
            normal: normal.unwrap_or(DVec2::ZERO),
            vertices: [start, end, end],
            index: 0,
        })
    }
}

impl<const EDGES: usize> Polytope<DVec2> for Polygon<EDGES> {
    fn from_simplex(points: &[DVec2]) -> Option<Self> {
        let [a, b, c, ..] = *points else { return None };
        let area = DVec2::determinant(&[b - a, c - a]);
        let [b, c] = if area > 0.0 {
            [1, 2]
        } else if area < 0.0 {
            [2, 1]
        } else {
            return None;
        };
        Some(Self {
            edges: SmallVec::from_iter([
                Self::edge(points, 0, b)?,
                Self::edge(points, b, c)?,
                Self::edge(points, c, 0)?,
            ]),
        })
    }

    fn distances(&self) -> impl Iterator<Item = f64> {
        self.edges.iter().map(|edge| edge.distance)
    }

    fn facet(&self, number: usize) -> Option<Facet<DVec2>> {
        self.edges.get(number).map(|edge| Facet {
            index: number,
            ..*edge
        })
    }

    fn grow(&mut self, points: &[DVec2], beyond: &Facet<DVec2>, _tolerance: f64) -> Growth {
        // A support point beyond an edge lies between its ends on the boundary of the body that is approximated, so
        // that it can be beyond no other edge.
        let new = points.len().saturating_sub(1);
        let [start, end, _] = beyond.vertices;
        if self.edges.len() >= EDGES {
            return Growth::Full;
        }
        let (Some(slot), Some(before), Some(after)) = (
            self.edges.get_mut(beyond.index),
            Self::edge(points, start, new),
            Self::edge(points, new, end),
        ) else {
            return Growth::Tangled;
        };
        *slot = before;
        self.edges.push(after);
        Growth::Grown
    }
}
