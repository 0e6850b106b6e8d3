//! The edges of a 2D convex polygon, for the closed forms of polygon pairs.

use crate::{shape::boxes::bounds::Bounds, space::DVector};

/// The maximum number of edges for the closed forms. With more edges, testing all edges takes
/// longer than GJK.
pub const MAX_EDGES: usize = 16;

/// Because of rounding, a vertex may be this far beyond the line of an edge, relative to the
/// greatest extent of a vertex.
const CONVEXITY_TOLERANCE: f64 = 1e-15;

/// An edge of a polygon. The edge ends where the next edge begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolygonEdge<D> {
    pub start: D,
    /// The outward unit normal.
    pub normal: D,
}

/// Returns the edges of the convex polygon with these vertices, which may be in any order. Returns
/// `None` if an edge has no length.
pub fn edges_around<D: DVector>(vertices: &[D]) -> Option<Vec<PolygonEdge<D>>> {
    let center = D::mean(vertices);
    // The result is the position of the vertex along the diamond |x| + |y| = 1, which increases
    // with the angle from -x.
    let angle = |vertex: &D| {
        let offset = *vertex - center;
        let x = offset.component(0) / offset.extent();
        if offset.component(1) < 0.0 {
            x
        } else {
            2.0 - x
        }
    };
    let mut sorted = vertices.to_vec();
    sorted.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    let ends = sorted.iter().cycle().skip(1);
    let edges = sorted.iter().zip(ends).map(|(start, end)| {
        let normal = D::perpendicular(&[*end - *start])?.unit()?;
        let start = *start;
        Some(PolygonEdge { start, normal })
    });
    edges.collect()
}

/// The edges of a polygon, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct PolygonEdges<D> {
    edges: Vec<PolygonEdge<D>>,
    /// The mean of the vertices.
    center: D,
    /// Half the diagonal of the bounding box.
    half_diagonal: f64,
    /// The greatest [`extent`](DVector::extent) of a vertex.
    extent: f64,
}

impl<D: DVector> PolygonEdges<D> {
    /// Returns the edges of the convex polygon with these vertices, which may be in any order.
    /// Returns `None` in 3D, for more than [`MAX_EDGES`] vertices, and if the polygon is not convex
    /// or its area is zero.
    pub fn new(vertices: &[D]) -> Option<Self> {
        if D::DIMENSION != 2 || !(3..=MAX_EDGES).contains(&vertices.len()) {
            return None;
        }
        let edges = edges_around(vertices)?;
        let extent = vertices.iter().map(|vertex| vertex.extent());
        let extent = extent.fold(0.0, f64::max);
        let Bounds { min, max } = Bounds::of_points(vertices.iter().copied());
        let is_convex_at = |edge: &PolygonEdge<D>| {
            let heights = vertices
                .iter()
                .map(|vertex| (*vertex - edge.start).dot(edge.normal));
            heights.fold(f64::NEG_INFINITY, f64::max) <= CONVEXITY_TOLERANCE * extent
        };
        edges.iter().all(is_convex_at).then(|| Self {
            edges,
            center: D::mean(vertices),
            half_diagonal: 0.5 * (max - min).length(),
            extent,
        })
    }

    /// Returns the polygon with a factor of 1.
    pub fn polygon(&self) -> Polygon<'_, D> {
        Polygon {
            edges: self,
            factor: 1.0,
        }
    }
}

/// A polygon that is scaled by a factor.
#[derive(Clone, Copy, Debug)]
pub struct Polygon<'a, D> {
    edges: &'a PolygonEdges<D>,
    /// The positive and finite factor.
    factor: f64,
}

impl<'a, D: DVector> Polygon<'a, D> {
    /// Scales the polygon by another factor. Returns `None` if the product of both factors is not
    /// positive and finite.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Option<Self> {
        let factor = self.factor * factor;
        (factor > 0.0 && factor.is_finite()).then_some(Self { factor, ..self })
    }

    /// Returns the edges, counter-clockwise.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = PolygonEdge<D>> + Clone + use<'a, D> {
        let factor = self.factor;
        self.edges.edges.iter().map(move |edge| PolygonEdge {
            start: edge.start * factor,
            normal: edge.normal,
        })
    }

    /// Returns the edge at an index.
    pub fn edge(&self, index: usize) -> Option<PolygonEdge<D>> {
        let PolygonEdge { start, normal } = *self.edges.edges.get(index)?;
        let start = start * self.factor;
        Some(PolygonEdge { start, normal })
    }

    /// Returns the mean of the vertices.
    pub fn center(&self) -> D {
        self.edges.center * self.factor
    }

    /// Returns half the diagonal of the bounding box.
    pub fn half_diagonal(&self) -> f64 {
        self.edges.half_diagonal * self.factor
    }

    /// Returns the greatest [`extent`](DVector::extent) of a vertex.
    pub fn extent(&self) -> f64 {
        self.edges.extent * self.factor
    }
}
