//! The faces of the union of cells.
//!
//! A face on a side of a cell is exposed where the neighbor across this side does not cover it. The
//! upper side of a slope is inside its own cell, so no neighbor covers it.
//!
//! On a side, a cell covers the points between two lines, which are the lowest and the highest y of
//! its shape. In 3D, the side is a square, and `t` runs along its lower edge from 0 to 1. In 2D,
//! the side is a segment, and only t = 0 counts.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::{
    shape::{
        ShapeError,
        cells::{
            cell::Cell,
            grid::{CellGrid, CellPosition},
        },
        elements::facet::{FacetIndices, facet_normal, facet_vertices, has_area},
    },
    space::{DVector, Space},
};

/// The positions of cells in a collider are less than this number, and at least its opposite. If
/// the sides of a cell are equal, the `weld` of a facet is at most a twentieth of a side: see
/// `elements/facet.rs`. For unequal sides, the weld may exceed the shortest side.
const END: i32 = 1 << 14;

/// The index of y among the axes.
const UP: usize = 1;

/// The facets of a union of cells.
pub struct ExposedFaces<V: Space> {
    pub vertices: Vec<V>,
    pub facets: Vec<FacetIndices>,
    /// The position of the cell that has each facet.
    pub cells: Vec<V::CellPosition>,
    indices: HashMap<[u64; 3], u32>,
    size: V::DVec,
}

/// A line over t: its y at t = 0 and at t = 1.
type Line = [f64; 2];

/// The part of a side between two lines.
#[derive(Clone, Copy)]
struct Strip {
    low: Line,
    high: Line,
}

/// A point in a cell, as fractions of the cell.
type CellPoint = [f64; 3];

impl<V: Space> ExposedFaces<V> {
    /// Finds the facets of all cells of a grid.
    pub fn new(grid: &CellGrid<V>) -> Result<Self, ShapeError> {
        grid.check_len(0)?;
        let size = grid.cell_size();
        ShapeError::check_lengths("size of a cell", size)?;
        let sides = size.to_f64();
        if (0..V::DVec::DIMENSION).any(|axis| sides.component(axis) == 0.0) {
            return Err(ShapeError::Zero("size of a cell"));
        }
        let mut faces = Self {
            vertices: Vec::new(),
            facets: Vec::new(),
            cells: Vec::new(),
            indices: HashMap::new(),
            size: sides,
        };
        for (position, cell) in grid.iter_outer() {
            if position.iter().any(|at| !(-END..END).contains(at)) {
                return Err(ShapeError::CellOutOfRange);
            }
            if V::DVec::DIMENSION == 2 && cell.is_along_z() {
                return Err(ShapeError::SlopeAlongZ);
            }
            faces.add_cell(grid, position, cell);
        }
        Ok(faces)
    }

    fn add_cell(&mut self, grid: &CellGrid<V>, position: CellPosition, cell: Cell) {
        for axis in (0..V::DVec::DIMENSION).filter(|axis| *axis != UP) {
            for end in [0.0, 1.0] {
                let other = grid.at(neighbor(position, axis, end));
                let own = Strip::of(cell, axis, end);
                let rest = own.without(&Strip::of(other, axis, 1.0 - end));
                for (t, strip) in rest {
                    let corners = strip.corners(t).map(|[t, y]| {
                        let across = if axis == 0 { 2 } else { 0 };
                        let mut point = [end, y, end];
                        if let Some(coordinate) = point.get_mut(across) {
                            *coordinate = t;
                        }
                        point
                    });
                    self.add(position, corners, outward(axis, end));
                }
            }
        }
        let has_bottom = cell.fills_bottom() && !grid.at(neighbor(position, UP, 0.0)).fills_top();
        let has_top = cell.fills_top() && !grid.at(neighbor(position, UP, 1.0)).fills_bottom();
        for (end, is_exposed) in [(0.0, has_bottom), (1.0, has_top)] {
            if is_exposed {
                self.add(position, level(|_, _| end), outward(UP, end));
            }
        }
        if !cell.is_solid() {
            // The sloped side faces up, or down if the shape hangs.
            let end = if cell.is_hanging() { 0.0 } else { 1.0 };
            let height = |x, z| {
                let [low, high] = cell.span(x, z);
                if cell.is_hanging() { low } else { high }
            };
            self.add(position, level(height), outward(UP, end));
        }
    }

    /// Adds a face as facets. In 3D, the corners run around the face. In 2D, the first and the last
    /// corner are the ends of the face.
    fn add(&mut self, position: CellPosition, corners: [CellPoint; 4], outward: V::DVec) {
        let corner = V::DVec::of(position.map(f64::from));
        let place = |point: CellPoint| V::from_f64((corner + V::DVec::of(point)).scaled(self.size));
        let corners = corners.map(place);
        let mut around: SmallVec<[V; 4]> = SmallVec::from_slice(&corners);
        around.dedup();
        let [start, .., end] = corners;
        let facets: SmallVec<[[V; 3]; 2]> = match (V::DVec::DIMENSION, &*around) {
            (2, _) => SmallVec::from_slice(&[[start, end, end]]),
            (_, [a, b, c]) => SmallVec::from_slice(&[[*a, *b, *c]]),
            (_, [a, b, c, d]) if a == d => SmallVec::from_slice(&[[*a, *b, *c]]),
            (_, [a, b, c, d]) => SmallVec::from_slice(&[[*a, *b, *c], [*a, *c, *d]]),
            _ => SmallVec::new(),
        };
        for vertices in facets {
            let mut facet = vertices.map(|vertex| self.index(vertex));
            let Some(corners) = facet_vertices(&self.vertices, &facet) else {
                continue;
            };
            if !has_area::<V>(&corners) {
                continue;
            }
            if facet_normal(&corners).is_some_and(|normal| normal.dot(outward) < 0.0) {
                let [a, b, c] = facet;
                facet = if V::DVec::DIMENSION == 2 {
                    [b, a, a]
                } else {
                    [a, c, b]
                };
            }
            self.facets.push(facet);
            self.cells.push(V::position_of(position));
        }
    }

    /// Returns the index of a vertex. Equal vertices have the same index.
    fn index(&mut self, vertex: V) -> u32 {
        let bits = vertex.to_f64().components().map(f64::to_bits);
        let next = self.vertices.len() as u32;
        let index = *self.indices.entry(bits).or_insert(next);
        if index == next {
            self.vertices.push(vertex);
        }
        index
    }
}

/// Returns the four corners of a face above or below the whole cell.
fn level(height: impl Fn(f64, f64) -> f64) -> [CellPoint; 4] {
    // In 2D, the first and the last corner have to differ.
    let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
    corners.map(|[x, z]| [x, height(x, z), z])
}

impl Strip {
    /// Returns the part of a side that a cell covers.
    fn of(cell: Cell, axis: usize, end: f64) -> Self {
        let [start, finish] = [0.0, 1.0].map(|t| {
            if axis == 0 {
                cell.span(end, t)
            } else {
                cell.span(t, end)
            }
        });
        Self {
            low: [start[0], finish[0]],
            high: [start[1], finish[1]],
        }
    }

    /// Returns the parts of this strip that another strip does not cover, each with its range of t.
    fn without(&self, other: &Self) -> SmallVec<[([f64; 2], Self); 4]> {
        let mut rest = SmallVec::new();
        if other.low == other.high {
            rest.push(([0.0, 1.0], *self));
            return rest;
        }
        let below = (self.low, self.high, other.low);
        // The part above is the part below, upside down.
        let flip = |line: Line| line.map(|y| -y);
        let above = (flip(self.high), flip(self.low), flip(other.high));
        for ((low, high, limit), is_flipped) in [(below, false), (above, true)] {
            let mut ends: SmallVec<[f64; 4]> = SmallVec::from_slice(&[0.0, 1.0]);
            ends.extend(crossing(low, limit));
            ends.extend(crossing(high, limit));
            ends.sort_unstable_by(f64::total_cmp);
            for range in ends.windows(2) {
                let &[start, end] = range else { continue };
                let at = |line: Line| [start, end].map(|t| line[0] + (line[1] - line[0]) * t);
                let (low, high, limit) = (at(low), at(high), at(limit));
                let high = [high[0].min(limit[0]), high[1].min(limit[1])];
                let high = [high[0].max(low[0]), high[1].max(low[1])];
                if high == low {
                    continue;
                }
                let strip = if is_flipped {
                    let (low, high) = (flip(high), flip(low));
                    Self { low, high }
                } else {
                    Self { low, high }
                };
                rest.push(([start, end], strip));
            }
        }
        rest
    }

    /// Returns the corners of the strip over a range of t, each with its t and its y. In 2D, the
    /// first and the last corner are the ends of the strip.
    fn corners(&self, [start, end]: [f64; 2]) -> [[f64; 2]; 4] {
        let ([low, low_end], [high, high_end]) = (self.low, self.high);
        [[start, low], [end, low_end], [end, high_end], [start, high]]
    }
}

/// Returns the t between 0 and 1 at which two lines cross.
fn crossing(a: Line, b: Line) -> Option<f64> {
    let [start, end] = [a[0] - b[0], a[1] - b[1]];
    (start * end < 0.0).then(|| start / (start - end))
}

/// Returns the position of the neighbor of a cell at the lower or the upper end of an axis.
fn neighbor(mut position: CellPosition, axis: usize, end: f64) -> CellPosition {
    if let Some(at) = position.get_mut(axis) {
        *at += if end == 0.0 { -1 } else { 1 };
    }
    position
}

/// Returns the outward normal of a cell at the lower or the upper end of an axis.
fn outward<D: DVector>(axis: usize, end: f64) -> D {
    let axis = D::axis(axis);
    if end == 0.0 { -axis } else { axis }
}
