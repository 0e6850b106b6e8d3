//! Sets of boxes of any size, with queries for the overlaps within a set and between two sets.
//!
//! A set is a hierarchical grid (Ericson, "Real-Time Collision Detection" (2005), chapter 7.2) that
//! adapts to its boxes. Each [`Grid`] holds the boxes of one [`SizeClass`], and computes its cell
//! size from these boxes. Boxes that moved a little are still nearly sorted, so each grid sorts its
//! boxes again every tick.

use core::{cmp::Ordering, num::NonZeroU16};

use crate::{
    pipeline::broad_phase::{candidates::PairList, grid::Grid},
    shape::Aabb,
};

/// A box is thin along an axis if its size along the axis is far smaller than its largest size. In
/// this case, the binary exponents of the two sizes differ by more than `THIN_EXPONENT`.
///
/// For every pair of grids, all boxes of one grid query the other grid. So the limit is high enough
/// that most scenes need few grids.
const THIN_EXPONENT: u16 = 7;

/// The class of a grid. Boxes of similar sizes and proportions have the same class.
///
/// * In a class, the largest sizes of two boxes differ by at most a factor of 4. With this factor,
///   queries within a grid take about as much time as queries between grids.
/// * Boxes that are thin along different axes have different classes. Otherwise a single cube among
///   *rods* (long thin boxes) would widen the cells of all rods.
/// * Classes are ordered by size, then by the long axis. The axes y and z come before x, because
///   boxes that are long along x visit the fewest rows in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SizeClass(NonZeroU16);

impl SizeClass {
    #[inline]
    fn new(size: [f32; 3]) -> Self {
        // `x`, `y` and `z` are the biased exponents of the sizes.
        let [x, y, z] = size.map(|size| (size.to_bits() >> 23) as u16);
        let largest = x.max(y).max(z);
        let is_thin = |exponent: u16| u16::from(largest - exponent > THIN_EXPONENT);
        let proportions = is_thin(z) << 2 | is_thin(y) << 1 | is_thin(x);
        // The value is not 0, so that `Option<SizeClass>` has 2 bytes.
        Self(NonZeroU16::MIN.saturating_add(largest >> 1 << 3 | proportions))
    }
}

/// A query in a coarser grid costs about as much as this many queries in a finer grid.
const FINER: usize = 8;

/// Returns `true` if the boxes of `finer` should query `coarser`, and `false` for the reverse.
///
/// A query with a rod along x would visit all small boxes in the rows of the rod. So the small
/// boxes query the rods instead.
fn should_query(finer: &Grid, coarser: &Grid) -> bool {
    let reverse_visits = coarser.visited_fraction_of(finer);
    let visits = finer.visited_fraction_of(coarser);
    coarser.len() > FINER * finer.len() || reverse_visits > FINER as f64 * visits
}

/// A set of boxes, given by their slots.
#[derive(Clone, Debug, Default)]
pub struct Grids {
    /// The grids, sorted by class. Some grids may be empty.
    grids: Vec<(SizeClass, Grid)>,
    /// The class of each slot whose box is in the set.
    classes: Vec<Option<SizeClass>>,
    /// The slots of the boxes whose class changed in this tick.
    leaving: Vec<u32>,
}

impl Grids {
    /// Returns the number of boxes.
    pub fn len(&self) -> usize {
        self.grids.iter().map(|(_, grid)| grid.len()).sum()
    }

    /// Returns `true` if the set contains the box of a slot.
    #[inline]
    pub fn contains(&self, slot: u32) -> bool {
        let class = self.classes.get(slot as usize);
        class.is_some_and(Option::is_some)
    }

    /// Updates all boxes, removes the boxes that `is_kept` rejects, and adds the `candidates` that
    /// `is_kept` accepts.
    pub fn update(
        &mut self,
        boxes: &[Aabb],
        candidates: impl IntoIterator<Item = u32>,
        is_kept: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        let Self {
            grids,
            classes,
            leaving,
        } = self;
        classes.resize(boxes.len(), None);
        for (class, grid) in grids.iter_mut() {
            let class = *class;
            let size_if_kept = move |slot: u32, aabb: &Aabb| {
                let size = is_kept(slot).then(|| aabb.size());
                size.filter(|size| SizeClass::new(*size) == class)
            };
            grid.retain(boxes, size_if_kept, |slot| {
                if let Some(class) = classes.get_mut(slot as usize) {
                    *class = None;
                    leaving.extend(is_kept(slot).then_some(slot));
                }
            });
        }
        for slot in leaving.drain(..).chain(candidates) {
            let index = slot as usize;
            if let Some(aabb) = boxes.get(index)
                && let Some(class @ None) = classes.get_mut(index)
                && is_kept(slot)
            {
                let size = aabb.size();
                *class = Some(SizeClass::new(size));
                if let Some(grid) = grid_mut(grids, SizeClass::new(size)) {
                    grid.add(slot, size);
                }
            }
        }
        for (_, grid) in grids {
            grid.sort(boxes);
        }
    }

    /// Ends a tick. Drops the grids that had no boxes recently, and frees unused memory of the
    /// other grids.
    pub fn end_tick(&mut self) {
        self.grids.retain_mut(|(_, grid)| grid.end_tick());
    }

    fn occupied(&self) -> impl Iterator<Item = &(SizeClass, Grid)> + Clone {
        self.grids.iter().filter(|(_, grid)| grid.len() > 0)
    }

    /// Adds to `pairs` each pair of overlapping boxes of this set for which `is_wanted` returns
    /// `true`.
    pub fn overlaps_within(
        &self,
        dimension: usize,
        pairs: &mut PairList,
        is_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
    ) {
        let mut grids = self.occupied();
        while let Some((_, grid)) = grids.next() {
            pairs.collect(grid.row_count(), grid.len(), |rows, found| {
                grid.for_each_overlap(dimension, rows, |a, b| {
                    found.extend(is_wanted(a, b).then_some((a, b)));
                });
            });
            for (_, coarser) in grids.clone() {
                if should_query(grid, coarser) {
                    query(pairs, grid, coarser, |_| true, is_wanted);
                } else {
                    query(pairs, coarser, grid, |_| true, is_wanted);
                }
            }
        }
    }

    /// Adds to `pairs` each overlapping pair of a box of this set and a box of `other`. `is_wanted`
    /// must accept the box of this set, and `is_other_wanted` the box of `other`.
    pub fn overlaps_with(
        &self,
        other: &Self,
        pairs: &mut PairList,
        is_wanted: impl Fn(u32) -> bool + Copy + Send + Sync,
        is_other_wanted: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        for (class, grid) in self.occupied() {
            for (other_class, other) in other.occupied() {
                let is_querying = match class.cmp(other_class) {
                    Ordering::Less => should_query(grid, other),
                    Ordering::Equal => grid.len() <= other.len(),
                    Ordering::Greater => !should_query(other, grid),
                };
                if is_querying {
                    query(pairs, grid, other, is_wanted, |_, b| is_other_wanted(b));
                } else {
                    query(pairs, other, grid, is_other_wanted, |_, b| is_wanted(b));
                }
            }
        }
    }
}

/// Returns the grid of a size class. If there is no such grid, creates one.
fn grid_mut(grids: &mut Vec<(SizeClass, Grid)>, class: SizeClass) -> Option<&mut Grid> {
    let found = grids.binary_search_by_key(&class, |(class, _)| *class);
    let index = found.unwrap_or_else(|index| {
        grids.insert(index, (class, Grid::default()));
        index
    });
    grids.get_mut(index).map(|(_, grid)| grid)
}

/// Adds to `pairs` each overlapping pair of a box of `grid` and a box of `other`. `is_wanted` must
/// accept the box of `grid`, and `is_pair_wanted` the pair.
fn query(
    pairs: &mut PairList,
    grid: &Grid,
    other: &Grid,
    is_wanted: impl Fn(u32) -> bool + Copy + Send + Sync,
    is_pair_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
) {
    pairs.collect(grid.len(), grid.len(), |range, found| {
        grid.for_each_overlap_with(other, range, is_wanted, |a, b| {
            found.extend(is_pair_wanted(a, b).then_some((a, b)));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        buffer::WINDOW,
        math::{DVec2, DVec3},
        pipeline::broad_phase::row_scan::SCANNED,
        shape::Bounds,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// Returns a box around a center. In 2D, z is ignored.
    fn aabb(dimension: usize, center: [f64; 3], half: [f64; 3]) -> Aabb {
        if dimension == 2 {
            let d2 = |[x, y, _]: [f64; 3]| DVec2::new(x, y);
            let (center, half) = (d2(center), d2(half));
            let (min, max) = (center - half, center + half);
            Aabb::around(&Bounds { min, max }, f64::INFINITY)
        } else {
            let (center, half) = (DVec3::from(center), DVec3::from(half));
            let (min, max) = (center - half, center + half);
            Aabb::around(&Bounds { min, max }, f64::INFINITY)
        }
    }

    /// Returns the sorted pairs, each with the smaller slot first.
    fn in_order(pairs: PairList) -> Vec<(u32, u32)> {
        let pairs = pairs.all.iter().copied();
        let mut pairs: Vec<(u32, u32)> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Tests all pairs of boxes, and returns the overlapping pairs.
    fn brute_force(boxes: &[Aabb]) -> Vec<(u32, u32)> {
        let pairs = boxes.iter().zip(0..).flat_map(|(a, slot)| {
            let others = boxes.iter().zip(0..).skip(slot as usize + 1);
            let others = others.filter(|(b, _)| a.may_touch(b));
            others.map(move |(_, other)| (slot, other))
        });
        pairs.collect()
    }

    /// Returns the pairs of overlapping boxes, and the mean number of boxes that the query with a
    /// box visits.
    fn found(dimension: usize, boxes: &[Aabb]) -> (Vec<(u32, u32)>, usize) {
        let (mut grids, mut pairs) = (Grids::default(), PairList::default());
        grids.update(boxes, 0..boxes.len() as u32, |_| true);
        SCANNED.set(0);
        grids.overlaps_within(dimension, &mut pairs, |_, _| true);
        (in_order(pairs), SCANNED.get() / boxes.len())
    }

    const COUNT: usize = 4_000;

    /// Returns the half extents of a box that is long along one axis.
    fn rod(axis: usize) -> [f64; 3] {
        core::array::from_fn(|other| if other == axis { 500.0 } else { 0.005 })
    }

    /// Returns boxes in a line along an axis.
    fn side_by_side(dimension: usize, half: [f64; 3], axis: usize) -> Vec<Aabb> {
        let coord = |number| 0.02 * (number as f64 - 0.5 * COUNT as f64);
        let center =
            |number| core::array::from_fn(|other| if other == axis { coord(number) } else { 0.0 });
        (0..COUNT)
            .map(|number| aabb(dimension, center(number), half))
            .collect()
    }

    #[test]
    fn rods_side_by_side_cost_no_more_along_one_axis_than_along_another() {
        for dimension in [2, 3] {
            for along in 0..dimension {
                for spread in (0..dimension).filter(|axis| *axis != along) {
                    let name = format!("{dimension}D, along {along}, spread along {spread}");
                    let mut boxes = side_by_side(dimension, rod(along), spread);
                    let (pairs, visited) = found(dimension, &boxes);
                    assert_eq!(pairs, [], "{name}");
                    assert!(visited < 10, "{name}: {visited} visited per box");
                    // Adds a cube with edges as long as the rods, far from the rods.
                    boxes.push(aabb(dimension, [5_000.0; 3], [500.0; 3]));
                    let (pairs, visited) = found(dimension, &boxes);
                    assert_eq!(pairs, [], "{name}, with a cube");
                    assert!(
                        visited < 10,
                        "{name}, with a cube: {visited} visited per box"
                    );
                }
            }
        }
    }

    #[test]
    fn bundles_of_rods_and_stacks_of_plates_cost_no_more_along_one_axis_than_along_another() {
        for along in 0..3 {
            let edge = COUNT.isqrt();
            let center = |number| {
                core::array::from_fn(|axis| match (axis + 3 - along) % 3 {
                    0 => 0.0,
                    1 => 0.02 * (number / edge) as f64,
                    _ => 0.02 * (number % edge) as f64,
                })
            };
            let bundle = (0..COUNT).map(|number| aabb(3, center(number), rod(along)));
            let (pairs, visited) = found(3, &bundle.collect::<Vec<_>>());
            assert_eq!(pairs, [], "rods along {along}");
            assert!(
                visited < 10,
                "rods along {along}: {visited} visited per box"
            );
            let plate = core::array::from_fn(|axis| if axis == along { 0.005 } else { 500.0 });
            let (pairs, visited) = found(3, &side_by_side(3, plate, along));
            assert_eq!(pairs, [], "plates along {along}");
            assert!(
                visited < 10,
                "plates along {along}: {visited} visited per box"
            );
        }
    }

    /// Each group of parallel rods is far from the other groups.
    #[test]
    fn rods_along_all_axes_cost_no_more_than_rods_along_one() {
        for dimension in [2, 3] {
            let rods = (0..COUNT).map(|number| {
                let along = number % dimension;
                let center = core::array::from_fn(|axis| {
                    if axis == along {
                        2_000.0 * along as f64
                    } else if axis == (along + 1) % dimension {
                        0.02 * number as f64
                    } else {
                        0.0
                    }
                });
                aabb(dimension, center, rod(along))
            });
            let (pairs, visited) = found(dimension, &rods.collect::<Vec<_>>());
            assert_eq!(pairs, [], "{dimension}D");
            assert!(visited < 10, "{dimension}D: {visited} visited per box");
        }
    }

    #[test]
    fn small_things_among_rods_cost_no_more_along_one_axis_than_along_another() {
        let mut random = StdRng::seed_from_u64(1);
        for dimension in [2, 3] {
            for along in 0..dimension {
                for spread in (0..dimension).filter(|axis| *axis != along) {
                    let mut boxes = side_by_side(dimension, rod(along), spread);
                    for _ in 0..COUNT {
                        let center = [(); 3].map(|()| random.random_range(-300.0..300.0));
                        boxes.push(aabb(dimension, center, [0.005; 3]));
                    }
                    let (pairs, visited) = found(dimension, &boxes);
                    let name = format!("{dimension}D, along {along}, spread along {spread}");
                    assert_eq!(pairs, brute_force(&boxes), "{name}");
                    assert!(visited < 10, "{name}: {visited} visited per box");
                }
            }
        }
    }

    /// Unused grids are dropped in the last tick of a window, in which other grids may be created.
    #[test]
    fn boxes_that_are_added_in_any_tick_of_a_window_are_kept() {
        for start in 0..2 * WINDOW {
            let mut grids = Grids::default();
            let boxes = [[0.0; 3], [0.5; 3]].map(|center| aabb(3, center, [0.5; 3]));
            for tick in 0..=start {
                if tick == start {
                    grids.update(&boxes, 0..2, |_| true);
                }
                grids.end_tick();
            }
            let mut pairs = PairList::default();
            grids.overlaps_within(3, &mut pairs, |_, _| true);
            assert_eq!(in_order(pairs), [(0, 1)], "added in tick {start}");
        }
    }

    /// Tests long, flat and small boxes, which move and change their proportions from tick to tick.
    #[test]
    fn overlaps_of_boxes_of_any_proportions_are_those_of_a_test_of_all_pairs() {
        let mut random = StdRng::seed_from_u64(2);
        for dimension in [2, 3] {
            for far in [0.0, 1e6] {
                let (mut moving, mut resting) = (Grids::default(), Grids::default());
                let mut sum = 0;
                for tick in 0..8 {
                    let boxes: Vec<Aabb> = (0..400)
                        .map(|_| {
                            let center = [(); 3].map(|()| far + random.random_range(-300.0..300.0));
                            let half =
                                [(); 3].map(|()| 10_f64.powf(random.random_range(-3.0..2.5)));
                            aabb(dimension, center, half)
                        })
                        .collect();
                    let slots = 0..boxes.len() as u32;
                    let moves = move |slot: u32| !(slot + tick).is_multiple_of(3);
                    moving.update(&boxes, slots.clone(), moves);
                    resting.update(&boxes, slots, move |slot| !moves(slot));
                    let mut pairs = PairList::default();
                    moving.overlaps_within(dimension, &mut pairs, |_, _| true);
                    moving.overlaps_with(&resting, &mut pairs, |_| true, |_| true);
                    let expected = brute_force(&boxes).into_iter();
                    let expected: Vec<_> =
                        expected.filter(|(a, b)| moves(*a) || moves(*b)).collect();
                    sum += expected.len();
                    assert_eq!(in_order(pairs), expected, "{dimension}D, tick {tick}");
                }
                assert!(sum > 100, "only {sum} pairs overlap");
            }
        }
    }
}
