//! Any number of boxes of any sizes: which of them overlap?
//!
//! No size is asked for. Boxes go to levels by their size and by the axes along which they are
//! thin, see [`Level`]: the largest of a level is up to four times as large as the smallest, and
//! makes its cells.
//!
//! Boxes that have moved a little are still nearly in order: so each level puts its own in order from tick to tick.

use core::{cmp::Ordering, ops::Range};

use crate::{
    buffer::{Buffer, Reclaim, is_excessive},
    pipeline::{
        aabb::Aabb,
        broad_phase::grid::{Level, extents_of},
        parallel::share,
    },
};

/// A box is thin along an axis if its extent is more than this many octaves below the largest
/// extent.
///
/// So many octaves that few scenes need the levels: each pair of levels costs a look-up of all
/// boxes of one of the two.
const THIN: u16 = 7;

/// Returns the number of the level for a box of these extents.
///
/// A level has two octaves of sizes, which are the largest extents: what is looked through in vain
/// in cells too large, and what is looked up in other levels, are about as much then. Boxes that
/// are thin along different axes have different levels: along each axis, the largest box of a level
/// makes its cells, and one cube among rods along x would make them wide enough for all rods. What
/// is long along x comes after what is long along y or z: it passes the fewest rows in a look-up.
#[inline]
fn level_for(extents: [f32; 3]) -> u16 {
    // The exponent of the power of two at or below an extent, in f32's own count.
    let [x, y, z] = extents.map(|extent| (extent.to_bits() >> 23) as u16);
    let size = x.max(y).max(z);
    let thin = |exponent: u16| u16::from(size - exponent > THIN);
    size >> 1 << 3 | thin(z) << 2 | thin(y) << 1 | thin(x)
}

/// No level.
const NONE: u16 = u16::MAX;

/// Boxes, by slot, of which any may be in or not.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// In order of their numbers, with these. Some may be empty.
    levels: Vec<(u16, Level)>,
    /// By slot, the level that it is in.
    level_of: Buffer<u16>,
    /// What has outgrown its level in this tick, on its way to another one.
    outgrown: Buffer<u32>,
}

impl Rows {
    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.levels.iter().map(|(_, level)| level.len()).sum()
    }

    /// Whether a box is in.
    #[inline]
    pub fn contains(&self, slot: u32) -> bool {
        let level = self.level_of.get(slot as usize);
        level.is_some_and(|level| *level != NONE)
    }

    /// Puts those for which `is_in` says so in order, where they are now. Of what is not in yet, only `newcomers` are asked for.
    pub fn update(
        &mut self,
        boxes: &[Aabb],
        newcomers: impl IntoIterator<Item = u32>,
        is_in: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        let Self {
            levels,
            level_of,
            outgrown,
        } = self;
        level_of.resize(boxes.len(), NONE);
        for (number, level) in levels.iter_mut() {
            let number = *number;
            let stays = move |slot: u32, aabb: &Aabb| {
                let extents = is_in(slot).then(|| extents_of(aabb));
                extents.filter(|extents| level_for(*extents) == number)
            };
            level.retain(boxes, stays, |slot| {
                if let Some(level_of) = level_of.get_mut(slot as usize) {
                    *level_of = NONE;
                    outgrown.extend(is_in(slot).then_some(slot));
                }
            });
        }
        outgrown.note();
        // What has outgrown its level comes to another one like those that are new.
        for slot in outgrown.drain(..).chain(newcomers) {
            let index = slot as usize;
            let (Some(aabb), Some(level_of)) = (boxes.get(index), level_of.get_mut(index)) else {
                continue;
            };
            if *level_of != NONE || !is_in(slot) {
                continue;
            }
            let extents = extents_of(aabb);
            let number = level_for(extents);
            *level_of = number;
            let place = levels.binary_search_by(|(other, _)| other.cmp(&number));
            let place = place.unwrap_or_else(|place| {
                levels.insert(place, (number, Level::default()));
                place
            });
            if let Some((_, level)) = levels.get_mut(place) {
                level.add(slot, extents);
            }
        }
        for (_, level) in levels {
            level.sort(boxes);
        }
    }

    /// Returns `true` if most of the listed slots are gone. `slots` is the number of slots now.
    pub fn has_stale_slots(&self, slots: usize) -> bool {
        is_excessive(self.level_of.len(), slots)
    }

    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        if reclaim.ends_window() {
            self.levels.retain(|(_, level)| level.is_used());
        }
        for (_, level) in &mut self.levels {
            level.reclaim(reclaim);
        }
        self.level_of.reclaim(reclaim);
        self.outgrown.reclaim(reclaim);
    }

    /// Finds each two boxes that overlap, once.
    pub fn meet_within(
        &self,
        dimension: usize,
        pairs: &mut Pairs,
        is_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
    ) {
        let mut levels = self.levels.as_slice();
        while let Some(((_, level), others)) = levels.split_first() {
            levels = others;
            if level.len() == 0 {
                continue;
            }
            pairs.find(level.rows(), level.len(), |rows, found| {
                level.meet_within(dimension, rows, |a, b| {
                    if is_wanted(a, b) {
                        found.push((a, b));
                    }
                });
            });
            for (_, other) in others.iter().filter(|it| it.1.len() > 0) {
                if is_looked_up(level, other) {
                    pairs.look_up(level, other, |_| true, is_wanted);
                } else {
                    pairs.look_up(other, level, |_| true, is_wanted);
                }
            }
        }
    }

    /// Finds each two boxes that overlap, a wanted one of these and a wanted one of others.
    pub fn meet(
        &self,
        other: &Self,
        pairs: &mut Pairs,
        is_wanted: impl Fn(u32) -> bool + Copy + Send + Sync,
        is_wanted_of_other: impl Fn(u32) -> bool + Copy + Send + Sync,
    ) {
        let occupied = |it: &&(u16, Level)| it.1.len() > 0;
        for (number, level) in self.levels.iter().filter(occupied) {
            for (of_other, other) in other.levels.iter().filter(occupied) {
                let looks_up = match number.cmp(of_other) {
                    Ordering::Less => is_looked_up(level, other),
                    // Of one size: the fewer.
                    Ordering::Equal => level.len() <= other.len(),
                    Ordering::Greater => !is_looked_up(other, level),
                };
                if looks_up {
                    pairs.look_up(level, other, is_wanted, |_, b| is_wanted_of_other(b));
                } else {
                    pairs.look_up(other, level, is_wanted_of_other, |_, b| is_wanted(b));
                }
            }
        }
    }
}

/// Pairs of slots, found on all threads.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub all: Buffer<(u32, u32)>,
    /// Of each task.
    found: Vec<Buffer<(u32, u32)>>,
}

/// A task looks at no fewer boxes than this.
const BOXES_OF_A_TASK: usize = 512;

/// To look up a box in a coarser level takes about as long as so many in a finer one: more is in the way there.
const FINER: usize = 8;

/// Whether the boxes of a level are looked up in a coarser one, and not those of that one in this.
///
/// A rod along x passes all small things in the rows in which it lies: these are looked up among
/// the rods.
fn is_looked_up(finer: &Level, coarser: &Level) -> bool {
    let (passed, in_coarser) = (coarser.part_passed_in(finer), finer.part_passed_in(coarser));
    coarser.len() > FINER * finer.len() || passed > FINER as f64 * in_coarser
}

impl Pairs {
    /// Has `find` called with all of some items, a range at a time: rows or boxes, of which there are so many.
    fn find(
        &mut self,
        items: usize,
        boxes: usize,
        find: impl Fn(Range<usize>, &mut Vec<(u32, u32)>) + Copy + Send + Sync,
    ) {
        let Some((pool, size)) = share(boxes, BOXES_OF_A_TASK) else {
            find(0..items, &mut self.all);
            return;
        };
        let tasks = boxes.div_ceil(size);
        self.found
            .resize_with(tasks.max(self.found.len()), Buffer::default);
        pool.scope(|scope| {
            for (task, found) in (0..tasks).zip(&mut self.found) {
                let range = task * items / tasks..(task + 1) * items / tasks;
                scope.spawn(async move { find(range, found) });
            }
        });
        for found in &mut self.found {
            found.note();
            self.all.append(found);
        }
    }

    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.all.reclaim(reclaim);
        for found in &mut self.found {
            found.reclaim(reclaim);
        }
    }

    /// Looks the boxes of a level for which `is_sought` says so up in another one.
    fn look_up(
        &mut self,
        level: &Level,
        other: &Level,
        is_sought: impl Fn(u32) -> bool + Copy + Send + Sync,
        is_wanted: impl Fn(u32, u32) -> bool + Copy + Send + Sync,
    ) {
        self.find(level.len(), level.len(), |entries, found| {
            level.meet_other(entries, other, is_sought, |a, b| {
                if is_wanted(a, b) {
                    found.push((a, b));
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{DVec2, DVec3},
        pipeline::broad_phase::grid::SWEPT,
        shape::Bounds,
    };
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// A box around a centre. In the plane, z is ignored.
    fn aabb(dimension: usize, centre: [f64; 3], half: [f64; 3]) -> Aabb {
        if dimension == 2 {
            let plane = |[x, y, _]: [f64; 3]| DVec2::new(x, y);
            let (centre, half) = (plane(centre), plane(half));
            let (min, max) = (centre - half, centre + half);
            Aabb::around(&Bounds { min, max }, f64::INFINITY)
        } else {
            let (centre, half) = (DVec3::from(centre), DVec3::from(half));
            let (min, max) = (centre - half, centre + half);
            Aabb::around(&Bounds { min, max }, f64::INFINITY)
        }
    }

    /// The pairs in order, the smaller slot first.
    fn in_order(pairs: Pairs) -> Vec<(u32, u32)> {
        let pairs = pairs.all.iter().copied();
        let mut pairs: Vec<(u32, u32)> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs
    }

    /// All pairs of boxes that overlap, one by one.
    fn brute_force(boxes: &[Aabb]) -> Vec<(u32, u32)> {
        let pairs = boxes.iter().zip(0..).flat_map(|(a, slot)| {
            let others = boxes.iter().zip(0..).skip(slot as usize + 1);
            let others = others.filter(|(b, _)| a.meets(b));
            others.map(move |(_, other)| (slot, other))
        });
        pairs.collect()
    }

    /// The pairs that overlap, and how many boxes are passed for each box to find them.
    fn found(dimension: usize, boxes: &[Aabb]) -> (Vec<(u32, u32)>, usize) {
        let (mut rows, mut pairs) = (Rows::default(), Pairs::default());
        rows.update(boxes, 0..boxes.len() as u32, |_| true);
        SWEPT.set(0);
        rows.meet_within(dimension, &mut pairs, |_, _| true);
        (in_order(pairs), SWEPT.get() / boxes.len())
    }

    const COUNT: usize = 4_000;

    /// A box that is long along one axis.
    fn rod(axis: usize) -> [f64; 3] {
        core::array::from_fn(|it| if it == axis { 500.0 } else { 0.005 })
    }

    /// Each box beside the one before along one axis.
    fn side_by_side(dimension: usize, half: [f64; 3], axis: usize) -> Vec<Aabb> {
        let place = |number| 0.02 * (number as f64 - 0.5 * COUNT as f64);
        let centre =
            |number| core::array::from_fn(|it| if it == axis { place(number) } else { 0.0 });
        (0..COUNT)
            .map(|number| aabb(dimension, centre(number), half))
            .collect()
    }

    #[test]
    fn rods_side_by_side_cost_no_more_along_one_axis_than_along_another() {
        for dimension in [2, 3] {
            for along in 0..dimension {
                for spread in (0..dimension).filter(|it| *it != along) {
                    let name = format!("{dimension}D, along {along}, spread along {spread}");
                    let mut boxes = side_by_side(dimension, rod(along), spread);
                    let (pairs, passed) = found(dimension, &boxes);
                    assert_eq!(pairs, [], "{name}");
                    assert!(passed < 10, "{name}: {passed} for each box");
                    // Of the size of the rods, and far from them.
                    boxes.push(aabb(dimension, [5_000.0; 3], [500.0; 3]));
                    let (pairs, passed) = found(dimension, &boxes);
                    assert_eq!(pairs, [], "{name}, with a cube");
                    assert!(passed < 10, "{name}, with a cube: {passed} for each box");
                }
            }
        }
    }

    #[test]
    fn bundles_of_rods_and_stacks_of_plates_cost_no_more_along_one_axis_than_along_another() {
        for along in 0..3 {
            let edge = COUNT.isqrt();
            let centre = |number| {
                core::array::from_fn(|it| match (it + 3 - along) % 3 {
                    0 => 0.0,
                    1 => 0.02 * (number / edge) as f64,
                    _ => 0.02 * (number % edge) as f64,
                })
            };
            let bundle = (0..COUNT).map(|number| aabb(3, centre(number), rod(along)));
            let (pairs, passed) = found(3, &bundle.collect::<Vec<_>>());
            assert_eq!(pairs, [], "rods along {along}");
            assert!(passed < 10, "rods along {along}: {passed} for each box");
            let plate = core::array::from_fn(|it| if it == along { 0.005 } else { 500.0 });
            let (pairs, passed) = found(3, &side_by_side(3, plate, along));
            assert_eq!(pairs, [], "plates along {along}");
            assert!(passed < 10, "plates along {along}: {passed} for each box");
        }
    }

    /// Each group far from the others.
    #[test]
    fn rods_along_all_axes_cost_no_more_than_rods_along_one() {
        for dimension in [2, 3] {
            let rods = (0..COUNT).map(|number| {
                let along = number % dimension;
                let centre = core::array::from_fn(|it| {
                    if it == along {
                        2_000.0 * along as f64
                    } else if it == (along + 1) % dimension {
                        0.02 * number as f64
                    } else {
                        0.0
                    }
                });
                aabb(dimension, centre, rod(along))
            });
            let (pairs, passed) = found(dimension, &rods.collect::<Vec<_>>());
            assert_eq!(pairs, [], "{dimension}D");
            assert!(passed < 10, "{dimension}D: {passed} for each box");
        }
    }

    #[test]
    fn small_things_among_rods_cost_no_more_along_one_axis_than_along_another() {
        let mut random = StdRng::seed_from_u64(1);
        for dimension in [2, 3] {
            for along in 0..dimension {
                for spread in (0..dimension).filter(|it| *it != along) {
                    let mut boxes = side_by_side(dimension, rod(along), spread);
                    for _ in 0..COUNT {
                        let centre = [(); 3].map(|()| random.random_range(-300.0..300.0));
                        boxes.push(aabb(dimension, centre, [0.005; 3]));
                    }
                    let (pairs, passed) = found(dimension, &boxes);
                    let name = format!("{dimension}D, along {along}, spread along {spread}");
                    assert_eq!(pairs, brute_force(&boxes), "{name}");
                    assert!(passed < 10, "{name}: {passed} for each box");
                }
            }
        }
    }

    /// Long, flat and small ones, which move and change their proportions from tick to tick.
    #[test]
    fn boxes_of_any_proportions_are_found_as_one_by_one() {
        let mut random = StdRng::seed_from_u64(2);
        for dimension in [2, 3] {
            for far in [0.0, 1e6] {
                let (mut moving, mut resting) = (Rows::default(), Rows::default());
                let mut sum = 0;
                for tick in 0..8 {
                    let boxes: Vec<Aabb> = (0..400)
                        .map(|_| {
                            let centre = [(); 3].map(|()| far + random.random_range(-300.0..300.0));
                            let half =
                                [(); 3].map(|()| 10_f64.powf(random.random_range(-3.0..2.5)));
                            aabb(dimension, centre, half)
                        })
                        .collect();
                    let slots = 0..boxes.len() as u32;
                    let moves = move |slot: u32| !(slot + tick).is_multiple_of(3);
                    moving.update(&boxes, slots.clone(), moves);
                    resting.update(&boxes, slots, move |slot| !moves(slot));
                    let mut pairs = Pairs::default();
                    moving.meet_within(dimension, &mut pairs, |_, _| true);
                    moving.meet(&resting, &mut pairs, |_| true, |_| true);
                    let right = brute_force(&boxes).into_iter();
                    let right: Vec<_> = right.filter(|(a, b)| moves(*a) || moves(*b)).collect();
                    sum += right.len();
                    assert_eq!(in_order(pairs), right, "{dimension}D, tick {tick}");
                }
                assert!(sum > 100, "{sum} pairs are no test");
            }
        }
    }
}
