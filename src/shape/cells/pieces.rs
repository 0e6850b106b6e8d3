//! Points inside the union of cells, and convex pieces of the union.

use smallvec::SmallVec;

use crate::{
    shape::{
        ConvexHull, Shape,
        cells::{
            cell::Cell,
            grid::{CellGrid, CellPosition, floor, positions_in},
        },
    },
    space::{DVector, Pose, Space},
};

/// A box of solid cells extends by at most this number of cells from its first cell, in each
/// direction.
const MAX_GROWTH: i32 = 8;

/// A convex piece of a union of cells.
pub struct Piece<V: Space> {
    /// The ranges of the cells in the piece, along each axis.
    ranges: [[i32; 2]; 3],
    /// The pose of `shape` in the frame of the grid.
    pub pose: Pose<V::DVec>,
    pub shape: Shape<V>,
    /// The outward normals of the faces, of any length, in the frame of the grid.
    pub normals: SmallVec<[V::DVec; 7]>,
}

impl<V: Space> Piece<V> {
    /// Returns `true` if the piece contains a cell.
    pub fn contains(&self, position: CellPosition) -> bool {
        let mut axes = self.ranges.iter().zip(position);
        axes.all(|([start, end], at)| (*start..=*end).contains(&at))
    }
}

impl<V: Space> CellGrid<V> {
    /// Returns a cell that contains a point in the frame of the grid, up to a tolerance along each
    /// axis. The tolerance is a fraction of a cell, and at most half a cell is used.
    pub fn cell_around(&self, point: V::DVec, tolerance: V::DVec) -> Option<CellPosition> {
        // If a cell is tiny, the rounding of a distant point exceeds a cell.
        let grown = tolerance.min(V::DVec::ONE * 0.5);
        let [margin_x, margin_y, margin_z] = grown.components();
        let point = self.in_cells(point);
        let contains = |position: CellPosition| {
            let [x, y, z] = (point - V::DVec::of(position.map(f64::from))).components();
            let cell = self.at(position);
            // The height changes along at most one axis, so these corners have the lowest and the
            // highest values.
            let [[low_a, high_a], [low_b, high_b]] = [-1.0, 1.0].map(|side| {
                let [x, z] = [x + side * margin_x, z + side * margin_z];
                cell.span(x.clamp(0.0, 1.0), z.clamp(0.0, 1.0))
            });
            let (low, high) = (low_a.min(low_b), high_a.max(high_b));
            cell.has_inside() && (low - margin_y..=high + margin_y).contains(&y)
        };
        let [min, max] = [point - grown, point + grown].map(floor);
        let range = |axis: usize| [min, max].map(|corner| corner.get(axis).copied().unwrap_or(0));
        // The cell that contains the point itself comes first.
        let others = positions_in([range(0), range(1), range(2)]);
        let mut positions = core::iter::once(floor(point)).chain(others);
        positions.find(|position| contains(*position))
    }

    /// Returns the largest convex piece around a cell that a simple search finds: a box of solid
    /// cells, or a single cell that is not solid. Returns `None` for a cell without an inside.
    pub fn piece_around(&self, position: CellPosition) -> Option<Piece<V>> {
        let cell = self.at(position);
        if !cell.has_inside() {
            return None;
        }
        let mut ranges = position.map(|at| [at, at]);
        if cell.is_solid() {
            self.grow(&mut ranges);
        }
        let place = |corner: CellPosition| V::DVec::of(corner.map(f64::from));
        let first = place(ranges.map(|[first, _]| first)).scaled(self.size_in_f64());
        let last = place(ranges.map(|[_, last]| last + 1)).scaled(self.size_in_f64());
        let pose = Pose {
            translation: (first + last) * 0.5,
            ..Pose::IDENTITY
        };
        let half = V::from_f64((last - first) * 0.5);
        let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
        let mut normals: SmallVec<_> = axes.flat_map(|axis| [axis, -axis]).collect();
        let shape = if cell.is_solid() {
            Shape::Box { half_size: half }
        } else {
            normals.push(self.slope_normal(cell));
            self.hull(cell)?
        };
        Some(Piece {
            ranges,
            pose,
            shape,
            normals,
        })
    }

    /// Extends a box of solid cells, one layer after the other.
    fn grow(&self, ranges: &mut [[i32; 2]; 3]) {
        let start = *ranges;
        let mut is_growing = true;
        while is_growing {
            is_growing = false;
            for axis in 0..V::DVec::DIMENSION {
                for is_upward in [false, true] {
                    let (mut larger, mut layer) = (*ranges, *ranges);
                    let (Some(larger_range), Some(range), Some([origin, _])) =
                        (larger.get_mut(axis), layer.get_mut(axis), start.get(axis))
                    else {
                        continue;
                    };
                    let end = if is_upward {
                        larger_range[1] += 1;
                        larger_range[1]
                    } else {
                        larger_range[0] -= 1;
                        larger_range[0]
                    };
                    *range = [end, end];
                    if (end - origin).abs() <= MAX_GROWTH
                        && positions_in(layer).all(|position| self.at(position).is_solid())
                    {
                        *ranges = larger;
                        is_growing = true;
                    }
                }
            }
        }
    }

    /// Returns the outward normal of a cell's sloped side, of any length.
    fn slope_normal(&self, cell: Cell) -> V::DVec {
        let [first, second] = cell.heights();
        let rise = first - second;
        let up = if cell.is_hanging() { -1.0 } else { 1.0 };
        let normal = if cell.is_along_z() {
            [0.0, up, rise]
        } else {
            [rise, up, 0.0]
        };
        self.in_cells(V::DVec::of(normal))
    }

    /// Returns the hull of a cell, relative to the center of its box.
    fn hull(&self, cell: Cell) -> Option<Shape<V>> {
        let mut corners: SmallVec<[V; 8]> = SmallVec::new();
        for [x, z] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
            for y in cell.span(x, z) {
                let offset = V::DVec::of([x, y, z]) - V::DVec::ONE * 0.5;
                corners.push(V::from_f64(offset.scaled(self.size_in_f64())));
            }
        }
        ConvexHull::new(corners).ok().map(Shape::Hull)
    }

    fn size_in_f64(&self) -> V::DVec {
        self.cell_size().to_f64()
    }
}
