//! The edges of a 2D convex polygon, for the closed forms of polygon pairs.

use core::ops::RangeInclusive;

use smallvec::SmallVec;

use crate::{shape::boxes::bounds::Bounds, space::DVector};

/// The maximum number of edges for the closed forms. With more edges, testing all edges takes
/// longer than GJK.
pub const MAX_EDGES: usize = 16;

/// The range of factors by which a polygon can be scaled.
const FACTORS: RangeInclusive<f64> = 1e-100..=1e100;

/// Because of rounding, a vertex may be this far beyond the line of an edge, relative to the
/// greatest extent of a vertex.
const CONVEXITY_TOLERANCE: f64 = 1e-15;

/// An edge of a polygon. The edge ends where the next edge begins.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// Four edges. All coordinates of an axis are adjacent, so the compiler uses SIMD instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EdgeBlock {
    starts: [[f64; 4]; 2],
    normals: [[f64; 4]; 2],
}

impl EdgeBlock {
    /// Unused entries have the start of `first`, and a normal of 0.
    fn new<D: DVector>(edges: &[PolygonEdge<D>], first: D) -> Self {
        let coordinates = |of: &dyn Fn(&PolygonEdge<D>) -> D, unused: D| {
            [0, 1].map(|axis| {
                core::array::from_fn(|index| edges.get(index).map_or(unused, of).component(axis))
            })
        };
        Self {
            starts: coordinates(&|edge| edge.start, first),
            normals: coordinates(&|edge| edge.normal, D::ZERO),
        }
    }

    fn edge<D: DVector>(&self, index: usize) -> Option<PolygonEdge<D>> {
        let vector =
            |[xs, ys]: &[[f64; 4]; 2]| Some(D::of([*xs.get(index)?, *ys.get(index)?, 0.0]));
        Some(PolygonEdge {
            start: vector(&self.starts)?,
            normal: vector(&self.normals)?,
        })
    }
}

/// The edges of a polygon, counter-clockwise. A polygon of up to four edges needs no memory on the
/// heap.
#[derive(Clone, Debug, PartialEq)]
pub struct PolygonEdges<D> {
    blocks: SmallVec<[EdgeBlock; 1]>,
    count: usize,
    /// The mean of the vertices.
    center: D,
    /// The radius of a circle around the center that is inside the polygon.
    inner_radius: f64,
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
        let is_convex_at = |edge: &PolygonEdge<D>| {
            let heights = vertices
                .iter()
                .map(|vertex| (*vertex - edge.start).dot(edge.normal));
            heights.fold(f64::NEG_INFINITY, f64::max) <= CONVEXITY_TOLERANCE * extent
        };
        if !edges.iter().all(is_convex_at) {
            return None;
        }
        let center = D::mean(vertices);
        let first = edges.first()?.start;
        let distances = edges
            .iter()
            .map(|edge| (edge.start - center).dot(edge.normal));
        let Bounds { min, max } = Bounds::of_points(vertices.iter().copied());
        let blocks = edges.chunks(4).map(|edges| EdgeBlock::new(edges, first));
        Some(Self {
            blocks: blocks.collect(),
            count: edges.len(),
            center,
            inner_radius: distances.fold(f64::INFINITY, f64::min).max(0.0),
            half_diagonal: 0.5 * (max - min).length(),
            extent,
        })
    }

    /// Returns the edges of the rectangle from `-half_extents` to `half_extents`. Returns `None` if
    /// the area is zero.
    pub fn of_rectangle(half_extents: D) -> Option<Self> {
        let [x, y, _] = half_extents.components();
        // From the lower left corner: the lower, the right, the upper and the left edge.
        let block = EdgeBlock {
            starts: [[-x, x, x, -x], [-y, -y, y, y]],
            normals: [[0.0, 1.0, 0.0, -1.0], [-1.0, 0.0, 1.0, 0.0]],
        };
        (x > 0.0 && y > 0.0).then(|| Self {
            blocks: SmallVec::from([block]),
            count: 4,
            center: D::ZERO,
            inner_radius: x.min(y),
            half_diagonal: half_extents.length(),
            extent: half_extents.extent(),
        })
    }

    /// Returns the polygon with a factor of 1.
    pub fn polygon(&self) -> Polygon<'_, D> {
        Polygon {
            edges: self,
            factor: 1.0,
        }
    }

    /// Reads a number of each cache line, so that the processor loads the edges. The result has no
    /// meaning.
    pub fn prefetch(&self) -> f64 {
        let blocks = self.blocks.iter();
        blocks
            .map(|block| block.starts[0][0] + block.normals[0][0])
            .sum()
    }
}

/// A polygon that is scaled by a factor.
#[derive(Clone, Copy, Debug)]
pub struct Polygon<'a, D> {
    edges: &'a PolygonEdges<D>,
    /// The factor, in the range [`FACTORS`].
    factor: f64,
}

impl<'a, D: DVector> Polygon<'a, D> {
    /// Scales the polygon by another factor. Returns `None` if the product of both factors is not
    /// in the range in which its reciprocal neither overflows nor underflows.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Option<Self> {
        let factor = self.factor * factor;
        FACTORS.contains(&factor).then_some(Self { factor, ..self })
    }

    /// Returns the edges, counter-clockwise.
    pub fn edges(&self) -> impl Iterator<Item = PolygonEdge<D>> + Clone + use<'a, D> {
        let polygon = *self;
        (0..self.edges.count).map_while(move |index| polygon.edge(index))
    }

    /// Returns the edge at an index.
    #[inline]
    pub fn edge(&self, index: usize) -> Option<PolygonEdge<D>> {
        let block = self.edges.blocks.get(index / 4);
        let block = block.filter(|_| index < self.edges.count)?;
        let PolygonEdge { start, normal } = block.edge(index % 4)?;
        let start = start * self.factor;
        Some(PolygonEdge { start, normal })
    }

    /// Returns the height of a point above each edge: its distance from the edge's line, negative
    /// inside. Also returns the number of edges. The heights beyond this number have no meaning.
    #[inline(always)]
    pub fn heights(&self, point: D) -> ([f64; MAX_EDGES], usize) {
        let unscaled = point * (1.0 / self.factor);
        let (x, y) = (unscaled.component(0), unscaled.component(1));
        let mut heights = [0.0; MAX_EDGES];
        for (block, heights) in self.edges.blocks.iter().zip(heights.chunks_exact_mut(4)) {
            let [[start_xs, start_ys], [normal_xs, normal_ys]] = [block.starts, block.normals];
            let starts = start_xs.into_iter().zip(start_ys);
            let normals = normal_xs.into_iter().zip(normal_ys);
            for ((height, start), normal) in heights.iter_mut().zip(starts).zip(normals) {
                let offset = [x - start.0, y - start.1];
                *height = (offset[0] * normal.0 + offset[1] * normal.1) * self.factor;
            }
        }
        (heights, self.edges.count)
    }

    /// Calls `visit` with each vertex whose component along a direction is at most `height`. May
    /// visit a vertex several times.
    #[inline(always)]
    pub fn visit_below(&self, direction: D, height: f64, mut visit: impl FnMut(D)) {
        let (x, y) = (direction.component(0), direction.component(1));
        for EdgeBlock {
            starts: [xs, ys], ..
        } in &self.edges.blocks
        {
            for (start_x, start_y) in xs.iter().zip(ys) {
                if (start_x * x + start_y * y) * self.factor <= height {
                    visit(D::of([*start_x, *start_y, 0.0]) * self.factor);
                }
            }
        }
    }

    /// Returns the minimum component of the vertices along a direction.
    #[inline(always)]
    pub fn min_height(&self, direction: D) -> f64 {
        let (x, y) = (direction.component(0), direction.component(1));
        let min = |a: f64, b: f64| if b < a { b } else { a };
        let [mut a, mut b, mut c, mut d] = [f64::INFINITY; 4];
        for EdgeBlock {
            starts: [xs, ys], ..
        } in &self.edges.blocks
        {
            a = min(a, xs[0] * x + ys[0] * y);
            b = min(b, xs[1] * x + ys[1] * y);
            c = min(c, xs[2] * x + ys[2] * y);
            d = min(d, xs[3] * x + ys[3] * y);
        }
        min(min(a, b), min(c, d)) * self.factor
    }

    /// Returns the mean of the vertices.
    pub fn center(&self) -> D {
        self.edges.center * self.factor
    }

    /// Returns the radius of a circle around the center that is inside the polygon.
    pub fn inner_radius(&self) -> f64 {
        self.edges.inner_radius * self.factor
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
