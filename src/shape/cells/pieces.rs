//! Points inside the union of cells, and convex pieces of the union.

use smallvec::SmallVec;

use crate::{
    shape::{
        ConvexHull, Shape,
        cells::{
            cell_shape::CellShape,
            grid::{
                CellGrid, CellPosition, CellRanges, floor, has_position, positions_in,
                ranges_between,
            },
        },
    },
    space::{DVector, Pose, Space},
};

/// Rounding the vertices of cells to `f32` moves a face by less than this fraction of the
/// coordinates. So no point is between a face and the inside.
pub const CELL_ROUNDING: f64 = f32::EPSILON as f64;

/// A box of solid cells extends by at most this number of cells from its first cell, in each
/// direction.
const MAX_GROWTH: i32 = 8;

/// A convex piece of a union of cells.
pub struct Piece<V: Space> {
    /// The ranges of the cells in the piece, along each axis.
    ranges: CellRanges,
    /// The pose of `shape` in the frame of the grid.
    pub pose: Pose<V::DVec>,
    pub shape: Shape<V>,
    /// The outward normals of the faces, of any length, in the frame of the grid.
    pub normals: SmallVec<[V::DVec; 7]>,
}

impl<V: Space> Piece<V> {
    /// Returns `true` if the piece contains a cell.
    pub fn contains(&self, position: CellPosition) -> bool {
        has_position(&self.ranges, position)
    }
}

impl<V: Space> CellGrid<V> {
    /// Returns the positions of the cells that may contain a point in the frame of the grid.
    pub fn cells_at(&self, point: V::DVec) -> impl Iterator<Item = CellPosition> {
        positions_in(ranges_around(self.in_cells(point), self.rounding_at(point)))
    }

    /// Returns the distances along the axes by which the rounding of vertices may move a face at a
    /// point, as fractions of a cell, or half a cell if the cell is tiny.
    fn rounding_at(&self, point: V::DVec) -> V::DVec {
        let in_cells = self.in_cells(point).copysign(V::DVec::ONE) + V::DVec::ONE;
        (in_cells * CELL_ROUNDING).min(V::DVec::ONE * 0.5)
    }

    /// Returns a cell that contains a point in the frame of the grid. Points that are outside by at
    /// most the rounding of vertices count as inside if `is_rounded`.
    pub fn cell_around(&self, point: V::DVec, is_rounded: bool) -> Option<CellPosition> {
        let grown = if is_rounded {
            self.rounding_at(point)
        } else {
            V::DVec::ZERO
        };
        let point = self.in_cells(point);
        if !point.is_finite() {
            return None;
        }
        let contains = |position: CellPosition| {
            let cell = self.at(position);
            let local = point - V::DVec::of(position.map(f64::from));
            // The positions below are those of the cells within the tolerance of the point.
            cell.is_solid()
                || self.shape_of(cell).is_some_and(|shape| {
                    let [local, grown] = [local, grown].map(|it| it.components().into());
                    shape.contains(local, grown)
                })
        };
        // The cell that contains the point itself comes first.
        let others = positions_in(ranges_around(point, grown));
        let own = floor(point);
        let others = others.filter(|position| *position != own);
        let mut positions = core::iter::once(own).chain(others);
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
            grow::<V::DVec>(&mut ranges, |layer| {
                positions_in(layer).all(|position| self.at(position).is_solid())
            });
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
            let shape = self.shape_of(cell)?;
            let inner = shape.inner_faces.iter().map(|face| face.normal.into());
            normals.extend(inner.map(|it| self.in_cells(V::DVec::of(it))));
            let of_table = self.table_shape(cell).map(|it| it.hull.clone());
            Shape::Hull(of_table.or_else(|| self.hull(shape))?)
        };
        Some(Piece {
            ranges,
            pose,
            shape,
            normals,
        })
    }

    /// Returns the hull of a shape, relative to the center of its cell.
    fn hull(&self, shape: &CellShape) -> Option<ConvexHull<V>> {
        let corners = shape.corners().map(|corner| {
            let offset = V::DVec::of(corner.into()) - V::DVec::ONE * 0.5;
            V::from_f64(offset.scaled(self.size_in_f64()))
        });
        ConvexHull::new(corners).ok()
    }

    fn size_in_f64(&self) -> V::DVec {
        self.cell_size().to_f64()
    }
}

/// Returns the ranges of the cells around a point, in the unit of cells.
fn ranges_around<D: DVector>(point: D, reach: D) -> CellRanges {
    ranges_between(floor(point - reach), floor(point + reach))
}

/// Extends a box of solid cells, one layer after the other. `is_solid` returns `true` if all cells
/// of a layer are solid.
pub fn grow<D: DVector>(ranges: &mut CellRanges, is_solid: impl Fn(CellRanges) -> bool) {
    let start = *ranges;
    let mut is_growing = true;
    while is_growing {
        is_growing = false;
        for axis in 0..D::DIMENSION {
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
                if (end - origin).abs() <= MAX_GROWTH && is_solid(layer) {
                    *ranges = larger;
                    is_growing = true;
                }
            }
        }
    }
}
