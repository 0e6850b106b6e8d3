//! The path of a ray through the sides of cells.
//!
//! A ray crosses a plane of cell sides at most once, unless it runs in the plane. So for each plane
//! of a block, a few products give the sides at which the ray may cross the plane, and no tree of
//! the facets is needed.
//!
//! The path is a moving box. If its half extents exceed all rounding errors, the path meets each
//! side that a ray crosses, and the tests of facets decide: see `facet_line.rs`.

use crate::{
    shape::{
        BoxPath,
        cells::{
            block_layout::{BlockLayout, bits},
            exposed_faces::other_axes,
            grid::CellPosition,
        },
    },
    space::DVector,
};

/// A box that moves along a line.
pub struct CellPath {
    /// The same path for boxes in the units of the collider.
    pub points: BoxPath,
    /// `true` if the path also meets the sides that it leaves.
    meets_backs: bool,
    axes: [PathAxis; 3],
}

/// The path along one axis, in the unit of cells.
#[derive(Clone, Copy)]
struct PathAxis {
    /// The center of the box at the start.
    origin: f64,
    /// The change of the center per unit of time, and the inverse.
    rate: f64,
    inverse: f64,
    half: f64,
    /// The time in which the center moves by `half`.
    lag: f64,
}

impl CellPath {
    /// Creates the path of a box with half extents `half` whose center is at `origin + direction *
    /// t` for each t from 0. `size` has the side lengths of a cell. `half` must exceed the rounding
    /// errors of all coordinates on the path.
    pub fn new<D: DVector>(origin: D, half: f64, direction: D, size: D, meets_backs: bool) -> Self {
        let half = D::ONE * half;
        let points = BoxPath::new(origin, half, direction);
        let inverse = D::of(size.components().map(|side| 1.0 / side));
        let [
            [x, y, z],
            [half_x, half_y, half_z],
            [rate_x, rate_y, rate_z],
        ] = [origin, half, direction].map(|it| it.scaled(inverse).components());
        let axis = |origin: f64, half: f64, rate: f64| {
            let inverse = 1.0 / rate;
            PathAxis {
                origin,
                rate,
                inverse,
                half,
                lag: half * inverse.abs(),
            }
        };
        Self {
            points,
            meets_backs,
            axes: [
                axis(x, half_x, rate_x),
                axis(y, half_y, rate_y),
                axis(z, half_z, rate_z),
            ],
        }
    }

    /// Calls `visit` with the number of each cell in `exposed` on whose side the path may be until
    /// `max`. The planes of the sides are visited in the order of the path. `visit` returns the new
    /// `max`, or a negative number to stop. Returns the last `max`. `first` is the position of the
    /// block's first cell.
    #[inline]
    pub fn visit_side(
        &self,
        layout: &BlockLayout,
        first: CellPosition,
        (side, exposed): (usize, u64),
        max: f64,
        mut visit: impl FnMut(usize) -> f64,
    ) -> f64 {
        let (axis, upper) = (side / 2, (side % 2) as f64);
        let mut max = max;
        let Some(path) = self.axes.get(axis) else {
            return max;
        };
        let outward = 2.0 * upper - 1.0;
        if exposed == 0 || !self.meets_backs && path.rate * outward >= 0.0 {
            return max;
        }
        let first_of = |axis: usize| f64::from(first.get(axis).copied().unwrap_or(0));
        let plane = first_of(axis) + upper - path.origin;
        let mut upward = layout.layers(axis);
        let mut next = || {
            if path.rate < 0.0 {
                upward.next_back()
            } else {
                upward.next()
            }
        };
        while let Some((layer, cells)) = next() {
            let mut numbers = exposed & cells;
            if numbers == 0 {
                continue;
            }
            // If the path is parallel to the plane, the results of the next formulas are infinite
            // or NaN, which excludes nothing.
            if path.rate == 0.0 && (plane + layer).abs() > path.half {
                continue;
            }
            // The times at which the box meets the plane.
            let time = (plane + layer) * path.inverse;
            let (from, to) = (time - path.lag, time + path.lag);
            let from = if from > 0.0 { from } else { 0.0 };
            let to = if to < max { to } else { max };
            if from > to {
                continue;
            }
            for axis in other_axes(axis).into_iter().take(layout.dimension - 1) {
                let Some(other) = self.axes.get(axis) else {
                    continue;
                };
                let shift = other.origin - first_of(axis);
                let (low, high) = (from * other.rate + shift, to * other.rate + shift);
                let [low, high] = if other.rate < 0.0 {
                    [high, low]
                } else {
                    [low, high]
                };
                numbers &= layout.between(axis, [low - other.half, high + other.half]);
            }
            for number in bits(numbers) {
                max = visit(number);
                if max < 0.0 {
                    return max;
                }
            }
        }
        max
    }
}

#[cfg(test)]
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]
mod tests {
    use super::CellPath;
    use crate::{
        math::{IVec2, IVec3, Vec2, Vec3},
        shape::{
            Cell, CellGrid, FacetLine, Line,
            cells::{cell_surface::CellSurface, grid::CellPosition},
            facet_normal,
        },
        space::{DVector, Space},
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};
    use std::collections::BTreeMap;

    /// Compares the crossed facets of a path with a test of all facets.
    fn finds_all_crossed_facets<V: Space>(
        size: V,
        first: CellPosition,
        mut set: impl FnMut(&mut CellGrid<V>, [i32; 3]),
    ) {
        let mut rng = StdRng::seed_from_u64(1);
        let mut grid = CellGrid::<V>::new(size);
        for _ in 0..300 {
            let [x, y, z] = first.map(|first| first + rng.random_range(0..12));
            set(
                &mut grid,
                [x, y, if V::DVec::DIMENSION == 2 { 0 } else { z }],
            );
        }
        let surface = CellSurface::new(&grid).ok().flatten().expect("some cells");
        let (vertices, facets) = surface.lists();
        let (size, start) = (size.to_f64(), V::DVec::of(first.map(f64::from)));
        let (mut total, mut visits) = (0, 0);
        for case in 0..3_000 {
            // Many rays run along the sides of cells, or through their corners.
            let mut point = || {
                let mut at = [(); 3].map(|()| rng.random_range(-2.0..14.0_f64));
                for at in &mut at {
                    *at = if rng.random_bool(0.4) {
                        at.round()
                    } else {
                        *at
                    };
                }
                (start + V::DVec::of(at)).scaled(size)
            };
            let (origin, end) = (point(), point());
            let direction = end - origin;
            let (line, meets_backs) = (Line { origin, direction }, case % 2 == 0);
            let facet_line = FacetLine::new(&line);
            let crossing = |corners: &[V; 3]| {
                let corners = corners.map(V::to_f64);
                let corners = &corners[..V::DVec::DIMENSION];
                let normal = facet_normal(corners)?;
                let t = facet_line.crossing(corners)?;
                let rate = normal.dot(direction);
                let is_met = rate < 0.0 || meets_backs && rate > 0.0;
                (is_met && (0.0..=1.0).contains(&t)).then_some(t)
            };
            let all = facets.iter().zip(0_u32..).filter_map(|(facet, index)| {
                let corners = facet.map(|vertex| vertices[vertex as usize]);
                Some((index, crossing(&corners)?))
            });
            let half = 1e-6 * (origin.extent() + end.extent());
            let path = CellPath::new(origin, half, direction, size, meets_backs);
            let mut found = BTreeMap::new();
            surface.faces().walk(&path, 1.0, 0, &mut |index, corners| {
                visits += 1;
                found.extend(crossing(&corners).map(|t| (index, t)));
                1.0
            });
            assert_eq!(found, all.collect(), "{origin:?} to {end:?}");
            total += found.len();
        }
        // The facets at the same corners and edges are visited, too.
        assert!(total > 5_000, "{total}");
        assert!(visits < 6 * total, "{visits} visits, {total} crossed");
    }

    #[test]
    fn a_path_meets_all_facets_that_a_ray_crosses() {
        for (size, first) in [
            (Vec3::ONE, [0; 3]),
            (Vec3::new(0.1, 7.0, 1.0), [-7, -5, 1000]),
            (Vec3::splat(0.3), [(1 << 14) - 12; 3]),
        ] {
            finds_all_crossed_facets(size, first, |grid, at| {
                grid.set(IVec3::from(at), Cell::SOLID);
            });
            let first = [first[0], first[1], 0];
            finds_all_crossed_facets(size.truncate(), first, |grid: &mut CellGrid<Vec2>, at| {
                grid.set(IVec2::new(at[0], at[1]), Cell::SOLID);
            });
        }
    }
}
