//! Boxes of about one size, in rows: which of them overlap, and which of those of another size?
//!
//! A uniform grid (Ericson, "Real-Time Collision Detection" (2005), chapter 7.1) of which one axis is left open and swept
//! (chapter 7.5): boxes are sorted by the row of cells in which they begin, and within a row by where they begin along x.
//! A box no larger than a cell reaches into the next row at most, so that it can meet only boxes that begin in its own row
//! or in one beside it, and these lie in order. What departs from the book, and why:
//!
//! * *No table of cells.* Rows lie in order, and so do those beside them: going through all boxes in order, each row beside
//!   is found by a finger that only moves on.
//! * *Cells are no cubes.* Along each axis, they are larger than the largest extent of a box along
//!   that axis. It takes about as long to find out where to look as to look at some boxes that lie
//!   in order. So cells are as high along z as the boxes are, so that half of these lie in one
//!   layer; and along y as high as it takes for a box to have [`NEIGHBOURS`] in its row with which
//!   it overlaps along x.

use core::ops::Range;

use smallvec::SmallVec;

use crate::{
    buffer::{Buffer, Reclaim, reserve_amortized},
    pipeline::{aabb::Aabb, parallel::share},
    sorted::restore,
};

/// So many others there are to be in a row that overlap a box along x: some dozen looked at for each box.
const NEIGHBOURS: f64 = 5.0;

/// So much larger, as a part of it, the largest size counts: more than the rounding of what sizes are made of, in f32.
const ROUNDING: f64 = 1e-6;

/// The same for where rows begin, which is made in f64.
const ROW_ROUNDING: f64 = 1e-9;

/// So many times more neighbours than there are to be are a crowd.
const CROWDED: f64 = 3.0;

/// How often boxes are sorted at most in a tick until they lie as they should. Where they did in the last tick, once does.
const MOST_SORTS: usize = 8;

/// How much larger than it has to be a cell is made, and between which parts of that it may be to stay as it is.
const LARGER: f64 = 1.1;
const STAYS: Range<f64> = 0.5..1.3;

/// How far apart things are is estimated from so many of them.
const SAMPLE: usize = 64;

/// The extent of a box along each axis: its cell is to be larger.
///
/// In f32, whose rounding the room in cells is more than enough for. No extent is 0, and none is
/// less than 2^-24 of a coordinate, because [`Aabb::around`] rounds outward: so a row's number has
/// 25 bits at most.
#[inline]
pub fn extents_of(Aabb { min, max, .. }: &Aabb) -> [f32; 3] {
    [max[0] - min[0], max[1] - min[1], max[2] - min[2]]
}

/// The greater of two extents along each axis.
#[inline]
fn greater_extents<T: PartialOrd>([x, y, z]: [T; 3], [u, v, w]: [T; 3]) -> [T; 3] {
    [greater(x, u), greater(y, v), greater(z, w)]
}

/// The greater of two numbers. (`f64::max` has to treat NaN as well, which no box has: it took a third of the time of the keys.)
#[inline]
fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// The integer at or below a number, or the nearest that there is.
#[inline]
fn floor(value: f64) -> i32 {
    let toward_zero = value as i32;
    toward_zero.saturating_sub(i32::from(f64::from(toward_zero) > value))
}

/// The number of a row: first by z, then by y. In the plane, z is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowNumber {
    z: i32,
    y: i32,
}

impl RowNumber {
    /// Where this place is. `inverses` are those of the cells along y and z.
    #[inline]
    fn of([_, y, z]: [f64; 3], [inverse_y, inverse_z]: [f64; 2]) -> Self {
        Self {
            z: floor(z * inverse_z),
            y: floor(y * inverse_y),
        }
    }

    /// A number in the same order.
    #[inline]
    fn in_order(self) -> u64 {
        let in_order = |number: i32| u64::from(number.cast_unsigned() ^ 1 << 31);
        in_order(self.z) << 32 | in_order(self.y)
    }

    fn of_key(key: u128) -> Self {
        let number = |key: u128| (key as u32 ^ 1 << 31).cast_signed();
        Self {
            z: number(key >> 96),
            y: number(key >> 64),
        }
    }
}

/// A number that is in the order of f32, for what is finite.
#[inline]
fn in_order(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// The box of a slot.
#[inline]
fn box_of(boxes: &[Aabb], slot: u32) -> Aabb {
    boxes.get(slot as usize).copied().unwrap_or(Aabb::NONE)
}

/// What a box is in order by: the number of its row, 64 bits; where it begins along x, 32; its slot, 32. `inverses` are those of
/// the cells along y and z.
#[inline]
fn key_of(Aabb { min, .. }: &Aabb, slot: u32, inverses: [f64; 2]) -> u128 {
    let number = RowNumber::of(min.map(f64::from), inverses);
    let x = in_order(min[0]);
    u128::from(number.in_order()) << 64 | u128::from(x) << 32 | u128::from(slot)
}

/// With a slot, the key of what leaves: beyond all others, for no box begins at what is no number.
const LEAVES: u128 = u128::MAX << 32;

/// A task makes no fewer keys or entries than this: to hand them over takes as long as some hundred.
const KEYS_OF_A_TASK: usize = 2048;

/// A box in order.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    aabb: Aabb,
    pub slot: u32,
}

/// A row and its first entry.
#[derive(Clone, Copy, Debug)]
struct Row {
    number: RowNumber,
    start: u32,
}

/// Boxes of about one size.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Along y and z; larger than all of the boxes.
    cells: [f64; 2],
    /// See [`key_of`].
    keys: Buffer<u128>,
    entries: Buffer<Entry>,
    /// Where these begin along x: what is sought among many is found in less memory.
    begins: Buffer<f32>,
    rows: Buffer<Row>,
    /// The largest extent of all boxes, along each axis.
    largest: [f64; 3],
    /// The extent of the space that holds about all boxes, along each axis.
    widths: [f64; 3],
    /// How much smaller cells are than they would be if things lay evenly, because they lie in crowds.
    crowding: Crowding,
    /// What is to come.
    newcomers: Buffer<u32>,
    spare: Buffer<u128>,
}

impl Level {
    /// Returns `true` if there were boxes lately: see [`Peak`](crate::room::Peak).
    pub fn is_used(&self) -> bool {
        self.entries.peak() > 0
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a box to those that are sorted in next.
    #[inline]
    pub fn add(&mut self, slot: u32, extents: [f32; 3]) {
        self.newcomers.push(slot);
        self.largest = greater_extents(self.largest, extents.map(f64::from));
    }

    /// Of the boxes that it has, keeps those for which `stays` returns extents, with keys for where
    /// they are now, as long as cells stay what they are. Calls `leave` with the slots of the
    /// others.
    pub fn retain(
        &mut self,
        boxes: &[Aabb],
        stays: impl Fn(u32, &Aabb) -> Option<[f32; 3]> + Copy + Send + Sync,
        mut leave: impl FnMut(u32),
    ) {
        let inverses = self.inverses();
        // The largest of those that stay.
        let renew = move |keys: &mut [u128]| {
            let mut largest = [0.0_f32; 3];
            for key in keys {
                let slot = *key as u32;
                let aabb = box_of(boxes, slot);
                *key = match stays(slot, &aabb) {
                    Some(extents) => {
                        largest = greater_extents(largest, extents);
                        key_of(&aabb, slot, inverses)
                    }
                    None => LEAVES | u128::from(slot),
                };
            }
            largest
        };
        let keys = &mut self.keys;
        let largest = match share(keys.len(), KEYS_OF_A_TASK) {
            Some((pool, size)) => {
                let largest = pool.scope(|scope| {
                    for keys in keys.chunks_mut(size) {
                        scope.spawn(async move { renew(keys) });
                    }
                });
                largest.into_iter().fold([0.0; 3], greater_extents)
            }
            None => renew(keys),
        };
        self.largest = largest.map(f64::from);
        keys.retain(|key| {
            let stays = *key < LEAVES;
            if !stays {
                leave(*key as u32);
            }
            stays
        });
    }

    /// Puts all boxes in order, where they are now.
    pub fn sort(&mut self, boxes: &[Aabb]) {
        for _ in 0..MOST_SORTS {
            self.sort_into_rows(boxes);
            let found = self.neighbours();
            if !self.crowding.changes(found, self.cells, self.largest) {
                break;
            }
        }
    }

    /// How many others begin in the row of a box, after it, where they overlap it along x: the mean of a sample.
    fn neighbours(&self) -> f64 {
        let (mut sum, mut count) = (0, 0);
        for start in (0..self.entries.len()).step_by(self.entries.len() / SAMPLE + 1) {
            let row = self.rows.partition_point(|row| row.start as usize <= start);
            let end = self
                .rows
                .get(row)
                .map_or(self.entries.len(), |it| it.start as usize);
            if let Some((first, others)) = self
                .entries
                .get(start..end)
                .and_then(<[Entry]>::split_first)
            {
                let last = first.aabb.max[0];
                sum += others.partition_point(|it| it.aabb.min[0] <= last);
                count += 1;
            }
        }
        f64::from(sum as u32) / f64::from(count.max(1))
    }

    fn sort_into_rows(&mut self, boxes: &[Aabb]) {
        let slots = self.keys.iter().map(|key| *key as u32);
        let slots = slots.chain(self.newcomers.iter().copied());
        let count = self.keys.len() + self.newcomers.len();
        let sample = slots.step_by(count / SAMPLE + 1);
        self.widths = widths(sample.map(|slot| box_of(boxes, slot)));
        let wished = wished_cells(self.widths, count, self.largest, self.crowding.part);
        let mut is_same = true;
        let [_, y, z] = self.largest;
        for ((cell, wished), largest) in self.cells.iter_mut().zip(wished).zip([y, z]) {
            let settled = settled(*cell, largest, wished);
            is_same &= settled == *cell;
            *cell = settled;
        }
        let inverses = self.inverses();
        let key = |slot: u32| key_of(&box_of(boxes, slot), slot, inverses);
        if !is_same {
            self.keys.iter_mut().for_each(|it| *it = key(*it as u32));
        }
        self.newcomers.note();
        self.spare.extend(self.newcomers.drain(..).map(key));
        restore(&mut self.keys, &mut self.spare);
        self.spare.clear();
        self.fill_entries(boxes);
        self.rows.clear();
        for (key, start) in self.keys.iter().zip(0..) {
            let number = RowNumber::of_key(*key);
            if self.rows.last().is_none_or(|row| row.number != number) {
                self.rows.push(Row { number, start });
            }
        }
    }

    /// Makes the entries for the keys.
    fn fill_entries(&mut self, boxes: &[Aabb]) {
        let Self {
            keys,
            entries,
            begins,
            ..
        } = self;
        let missing = keys.len().saturating_sub(entries.len());
        reserve_amortized(entries, missing);
        reserve_amortized(begins, missing);
        let aabb = Aabb::NONE;
        entries.resize(keys.len(), Entry { aabb, slot: 0 });
        begins.resize(keys.len(), 0.0);
        let fill = move |keys: &[u128], entries: &mut [Entry], begins: &mut [f32]| {
            for ((key, entry), begin) in keys.iter().zip(entries).zip(begins) {
                let slot = *key as u32;
                let aabb = box_of(boxes, slot);
                *entry = Entry { aabb, slot };
                *begin = aabb.min[0];
            }
        };
        let Some((pool, size)) = share(keys.len(), KEYS_OF_A_TASK) else {
            fill(keys, entries, begins);
            return;
        };
        pool.scope(|scope| {
            let lists = entries.chunks_mut(size).zip(begins.chunks_mut(size));
            for (keys, (entries, begins)) in keys.chunks(size).zip(lists) {
                scope.spawn(async move { fill(keys, entries, begins) });
            }
        });
    }

    /// Shrinks the buffers.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.keys.reclaim(reclaim);
        self.entries.reclaim(reclaim);
        self.begins.reclaim(reclaim);
        self.rows.reclaim(reclaim);
        self.newcomers.reclaim(reclaim);
        self.spare.reclaim(reclaim);
    }

    /// Where the entries of a row are.
    #[inline]
    fn range(&self, at: usize) -> Range<usize> {
        let start = |at: usize| self.rows.get(at).map(|row| row.start as usize);
        let end = self.entries.len();
        start(at).unwrap_or(end)..start(at + 1).unwrap_or(end)
    }

    /// The entries of a row.
    #[inline]
    fn row(&self, at: usize) -> &[Entry] {
        self.entries.get(self.range(at)).unwrap_or_default()
    }

    /// Of the entries of a row, those that begin at `first` along x, or later.
    #[inline]
    fn row_from(&self, at: usize, first: f32) -> &[Entry] {
        let Range { start, end } = self.range(at);
        let begins = self.begins.get(start..end).unwrap_or_default();
        let before = begins.partition_point(|begin| *begin < first);
        self.entries.get(start + before..end).unwrap_or_default()
    }

    /// The first row of this number or a later one. Sought from the row `near` on, to either side, in steps that grow.
    fn seek(&self, near: usize, number: RowNumber) -> usize {
        let is_before = |at: usize| self.rows.get(at).is_some_and(|row| row.number < number);
        let (mut start, mut end) = (near, near);
        let mut step = 1;
        if is_before(near) {
            while is_before(end) {
                start = end + 1;
                end += step;
                step *= 2;
            }
        } else {
            while start > 0 && !is_before(start - 1) {
                end = start - 1;
                start = start.saturating_sub(step);
                step *= 2;
            }
        }
        let end = end.min(self.rows.len());
        let range = self.rows.get(start..end).unwrap_or_default();
        start + range.partition_point(|row| row.number < number)
    }

    /// 1 by the cells along y and z.
    fn inverses(&self) -> [f64; 2] {
        let [y, z] = self.cells;
        [1.0 / y, 1.0 / z]
    }

    /// Estimates the part of another level's boxes that a look-up of one of these boxes there
    /// passes, if they lie evenly.
    pub fn part_passed_in(&self, other: &Self) -> f64 {
        let ([x, y, z], [other_x, other_y, other_z]) = (self.largest, other.largest);
        let [cell_y, cell_z] = other.cells;
        let passed = [x + other_x, y + other_y + cell_y, z + other_z + cell_z];
        let parts = passed.iter().zip(other.widths);
        parts
            .map(|(passed, width)| (passed / width).min(1.0))
            .product()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Calls `meet` with each two entries that overlap, of which the first is in one of these rows.
    pub fn meet_within(
        &self,
        dimension: usize,
        rows: Range<usize>,
        mut meet: impl FnMut(u32, u32),
    ) {
        // The rows beside that come later in the order: those before have met this one. In the plane there are no layers.
        let beside: &[(i32, i32)] = match dimension {
            2 => &[(0, 1)],
            _ => &[(0, 1), (1, -1), (1, 0), (1, 1)],
        };
        let [cell_y, cell_z] = self.cells;
        let [_, largest_y, _] = self.largest;
        let mut fingers = [rows.start; 4];
        for at in rows {
            let Some(row) = self.rows.get(at) else { break };
            let own = self.row(at);
            let mut rest = own;
            while let Some((entry, others)) = rest.split_first() {
                rest = others;
                sweep(entry, others, &mut meet);
            }
            for ((z, y), finger) in beside.iter().zip(&mut fingers) {
                let number = RowNumber {
                    z: row.number.z + z,
                    y: row.number.y + y,
                };
                *finger = self.seek(*finger, number);
                let found = self.rows.get(*finger);
                if found.is_none_or(|row| row.number != number) {
                    continue;
                }
                // Only what reaches the row beside, or is reached from there, has anything to look for. With room for rounding.
                let [y_begins, z_begins] =
                    [(number.y, cell_y), (number.z, cell_z)].map(|(number, cell)| {
                        let place = f64::from(number) * cell;
                        place - (place.abs() + cell) * ROW_ROUNDING
                    });
                let ends = f64::from(number.y) * cell_y + (cell_y + largest_y) * (1.0 + ROUNDING);
                let ends = ends + ends.abs() * ROW_ROUNDING;
                let reaches = |it: &Aabb| {
                    (*z == 0 || f64::from(it.max[2]) >= z_begins)
                        && match y {
                            0 => true,
                            1 => f64::from(it.max[1]) >= y_begins,
                            _ => f64::from(it.min[1]) <= ends,
                        }
                };
                let mut others = self.row(*finger);
                for entry in own.iter().filter(|it| reaches(&it.aabb)) {
                    others = from_x(others, begin(&entry.aabb, self.largest)[0]);
                    sweep(entry, others, &mut meet);
                }
            }
        }
    }

    /// Calls `meet` with each of these boxes and each of another level that overlap.
    ///
    /// What overlaps a box begins at its end at the latest, and before it by no more than the size of the largest at the
    /// earliest.
    pub fn meet_other(
        &self,
        entries: Range<usize>,
        other: &Self,
        is_sought: impl Fn(u32) -> bool,
        mut meet: impl FnMut(u32, u32),
    ) {
        let (Some(first), Some(last)) = (other.rows.first(), other.rows.last()) else {
            return;
        };
        let inverses = other.inverses();
        let mut found = 0;
        let entries = self.entries.get(entries).unwrap_or_default().iter();
        for entry in entries.filter(|it| is_sought(it.slot)) {
            let begin = begin(&entry.aabb, other.largest);
            // In f32, rounded down.
            let first_x = (begin[0] as f32).next_down();
            let low = RowNumber::of(begin, inverses);
            let [x, y, z] = entry.aabb.max;
            let high = RowNumber::of([x.into(), y.into(), z.into()], inverses);
            let mut z = low.z.max(first.number.z);
            while z <= high.z.min(last.number.z) {
                found = other.seek(found, RowNumber { z, y: low.y });
                while let Some(row) = other.rows.get(found)
                    && (row.number.z, row.number.y) <= (z, high.y)
                {
                    sweep(entry, other.row_from(found, first_x), &mut meet);
                    found += 1;
                }
                // To the next layer in which there is anything.
                let Some(next) = other.rows.get(found) else {
                    break;
                };
                z = next.number.z.max(z + 1);
            }
        }
    }
}

/// By what part the area of cells is made smaller than it would be best for things that lie evenly. Where they lie in crowds with
/// nothing between, there are more in a row than the width of all tells.
#[derive(Clone, Copy, Debug)]
struct Crowding {
    part: f64,
}

impl Default for Crowding {
    fn default() -> Self {
        Self { part: 1.0 }
    }
}

impl Crowding {
    /// Follows what was found: so many neighbours in a row, in cells of these sizes, which can be no smaller than `largest`.
    /// Whether it is so much more that boxes should be sorted again at once.
    fn changes(&mut self, found: f64, [cell_y, cell_z]: [f64; 2], [_, y, z]: [f64; 3]) -> bool {
        let least = y * z * LARGER * LARGER;
        let is_crowded = found > CROWDED * NEIGHBOURS && cell_y * cell_z > least * LARGER;
        if is_crowded {
            self.part *= (NEIGHBOURS / found).max(least / (cell_y * cell_z));
        } else if found * CROWDED < NEIGHBOURS {
            // In steps, so that it does not go to and fro.
            self.part = (2.0 * self.part).min(1.0);
        }
        is_crowded
    }
}

/// What overlaps a box begins no earlier than here, if it is no larger than `largest`.
#[inline]
fn begin(aabb: &Aabb, largest: [f64; 3]) -> [f64; 3] {
    let ([x, y, z], [largest_x, largest_y, largest_z]) = (aabb.min, largest);
    let begin = |min: f32, largest: f64| f64::from(min) - largest * (1.0 + ROUNDING);
    [
        begin(x, largest_x),
        begin(y, largest_y),
        begin(z, largest_z),
    ]
}

/// Of entries in order, those that begin at `first` along x, or later. By the entries themselves, which are looked at next.
#[inline]
fn from_x(mut entries: &[Entry], first: f64) -> &[Entry] {
    let begins_before = |it: &Entry| f64::from(it.aabb.min[0]) < first;
    // A step or two; far only for the first.
    for _ in 0..16 {
        match entries.split_first() {
            Some((entry, rest)) if begins_before(entry) => entries = rest,
            _ => return entries,
        }
    }
    let start = entries.partition_point(begins_before);
    entries.get(start..).unwrap_or_default()
}

/// The size that a cell is to have, if boxes are up to `largest` and, as far as it is larger, `wished` is best for it. It stays
/// what it is as long as that does: so that cells seldom change while boxes turn and move.
fn settled(cell: f64, largest: f64, wished: f64) -> f64 {
    let least = largest.max(wished);
    if cell >= largest * (1.0 + ROUNDING) && STAYS.contains(&(cell / least)) {
        cell
    } else {
        least * LARGER
    }
}

/// The extent of the space that holds about all boxes, along each axis, from a sample of them.
fn widths(sample: impl Iterator<Item = Aabb>) -> [f64; 3] {
    let sample: SmallVec<[Aabb; SAMPLE]> = sample.take(SAMPLE).collect();
    // Half of them lie between the quartiles of their places along an axis: whatever is far away does not count.
    let width = |axis: usize| {
        let places = sample.iter().filter_map(|it| it.min.get(axis).copied());
        let mut places: SmallVec<[f32; SAMPLE]> = places.collect();
        places.sort_unstable_by(f32::total_cmp);
        let at = |part: usize| places.get(places.len() * part / 4).copied().map(f64::from);
        let quartiles = at(3).zip(at(1));
        quartiles.map_or(0.0, |(high, low)| 2.0 * (high - low))
    };
    [width(0), width(1), width(2)]
}

/// The cells along y and z for `count` boxes in a space of these widths: see the head of this file.
///
/// Of n boxes in a space of w_x w_y w_z, there are n (l / w_x) (a / w_y w_z) that overlap one of
/// size l along x in a row whose cells have the area a: so many as wished for a = wished w_x w_y
/// w_z / n l. In the plane, w_z and the cells along z are left out.
fn wished_cells(
    [x, y, z]: [f64; 3],
    count: usize,
    [largest_x, _, largest_z]: [f64; 3],
    crowding: f64,
) -> [f64; 2] {
    let length = crowding * NEIGHBOURS / count as f64 * x / largest_x;
    if z > 0.0 {
        let z = z.max(largest_z);
        // A cell that is higher along y than all there is has no more in it.
        let cell_z = (length * z).max(largest_z);
        [(length * y * z / cell_z).min(2.0 * y), cell_z]
    } else {
        [length * y, largest_z]
    }
}

#[cfg(test)]
thread_local! {
    /// The number of sweeps on this thread, and of the boxes that they passed.
    pub static SWEPT: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// Calls `meet` with the entry and each of the others that overlaps it; these are in order, and begin where they may.
#[inline]
fn sweep(entry: &Entry, others: &[Entry], mut meet: impl FnMut(u32, u32)) {
    let [end, ..] = entry.aabb.max;
    #[cfg(test)]
    SWEPT.set(SWEPT.get() + 1);
    for other in others {
        #[cfg(test)]
        SWEPT.set(SWEPT.get() + 1);
        let [start, ..] = other.aabb.min;
        if start > end {
            break;
        }
        if entry.aabb.meets(&other.aabb) {
            meet(entry.slot, other.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{math::DVec2, shape::Bounds};
    use rand::{Rng, SeedableRng, rngs::StdRng};

    fn square(x: f64, y: f64, half: f64) -> Aabb {
        let (centre, half) = (DVec2::new(x, y), DVec2::splat(half));
        let bounds = Bounds {
            min: centre - half,
            max: centre + half,
        };
        Aabb::around(&bounds, f64::INFINITY)
    }

    fn sorted(boxes: &[Aabb]) -> Level {
        let mut level = Level::default();
        for (slot, aabb) in (0..).zip(boxes) {
            level.add(slot, extents_of(aabb));
        }
        level.sort(boxes);
        level
    }

    /// However things lie, there are not many more in a row than there are to be.
    #[test]
    fn crowds_are_seen() {
        let mut random = StdRng::seed_from_u64(1);
        for (crowds, along_y, away) in [
            (1, true, 0.0),
            (2, true, 1e3),
            (2, false, 1e3),
            (10, true, 1e3),
            (100, false, 1e5),
            (2, true, 1e6),
        ] {
            let boxes: Vec<Aabb> = (0..10_000)
                .map(|number| {
                    let side = (10_000.0 / f64::from(crowds)).sqrt();
                    let [x, y] = [(); 2].map(|()| random.random_range(0.0..side));
                    let from = away * f64::from(number % crowds);
                    if along_y {
                        square(x, y + from, 0.5)
                    } else {
                        square(x + from, y, 0.5)
                    }
                })
                .collect();
            let level = sorted(&boxes);
            let found = level.neighbours();
            assert!(
                found < CROWDED * NEIGHBOURS,
                "{found} in {crowds} crowds {away} apart"
            );
        }
    }

    /// Neighbours in f32, in rows so far from the origin that a row has few numbers.
    #[test]
    fn far_from_the_origin_none_is_missed() {
        let mut random = StdRng::seed_from_u64(2);
        for row in [0, 1_000, 1_000_000, -1_000_000, 1 << 24, -(1 << 29)] {
            let boxes: Vec<Aabb> = (0..200)
                .map(|_| {
                    let [x, y] = [(); 2].map(|()| random.random_range(-4.0..4.0));
                    square(x, y + f64::from(row), 0.5)
                })
                .collect();
            let level = sorted(&boxes);
            let mut found = Vec::new();
            level.meet_within(2, 0..level.rows(), |a, b| found.push((a.min(b), a.max(b))));
            found.sort_unstable();
            let pairs = boxes.iter().zip(0..).flat_map(|(a, slot)| {
                let others = boxes.iter().zip(0..).skip(slot as usize + 1);
                let others = others.filter(|(b, _)| a.meets(b));
                others.map(move |(_, other)| (slot, other))
            });
            assert_eq!(found, pairs.collect::<Vec<(u32, u32)>>(), "{row}");
        }
    }
}
