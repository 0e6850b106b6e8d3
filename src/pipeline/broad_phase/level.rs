//! Boxes of about one size, in rows: which of them overlap, and which of those of another size?
//!
//! A uniform grid (Ericson, "Real-Time Collision Detection" (2005), chapter 7.1) of which one axis is left open and swept
//! (chapter 7.5): boxes are sorted by the row of cells in which they begin, and within a row by where they begin along x.
//! A box no larger than a cell reaches into the next row at most, so that it can meet only boxes that begin in its own row
//! or in one beside it, and these lie in order. What departs from the book: there is no table of cells. Rows lie in order, and
//! so do those beside them: going through all boxes in order, each row beside is found by a finger that only moves on.

use core::ops::Range;

use smallvec::SmallVec;

use super::order::{merge, restore};
use crate::pipeline::aabb::Aabb;

/// Rows are numbered up to this in each direction. Cells are at least so large that no box is beyond.
const FARTHEST: f64 = (1_u32 << 30) as f64;

/// A cell is made so much larger than it has to be, and stays until it is too small or larger than `TOO_LARGE`: so cells
/// seldom change while boxes turn. No rounding brings an end of a box into the row after the next.
const LARGER: f64 = 1.1;
const TOO_LARGE: f64 = 1.3;

/// How far apart things are is estimated from so many of them.
const SAMPLE: usize = 64;

/// The size of the cells that a box needs at least: its extent, but no less than what would put it beyond the farthest row.
#[inline]
pub fn size_of(aabb: &Aabb) -> f64 {
    let ends = aabb.min.iter().zip(&aabb.max);
    ends.fold(f64::from(f32::MIN_POSITIVE), |most, (min, max)| {
        let way = f64::from(min.abs().max(max.abs()));
        let extent = f64::from(*max) - f64::from(*min);
        most.max(extent).max(way * (1.0 / FARTHEST))
    })
}

/// The integer at or below a number, which fits.
#[inline]
fn floor(value: f64) -> i32 {
    let toward_zero = value as i32;
    toward_zero - i32::from(f64::from(toward_zero) > value)
}

/// The number of a row: first by z, then by y. In the plane, z is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowNumber {
    z: i32,
    y: i32,
}

impl RowNumber {
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
    /// Larger than all of the boxes.
    cell: f64,
    /// The number of the row, 64 bits; where the box begins along x, 32; the slot, 32.
    keys: Vec<u128>,
    entries: Vec<Entry>,
    rows: Vec<Row>,
    /// The size of the largest.
    largest: f64,
    /// What is to come.
    newcomers: Vec<u32>,
    spare: Vec<u128>,
}

impl Level {
    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a box to those that are sorted in next.
    #[inline]
    pub fn add(&mut self, slot: u32, size: f64) {
        self.newcomers.push(slot);
        self.largest = self.largest.max(size);
    }

    /// Of the boxes that it has, keeps those for which `stays` tells a size.
    pub fn retain(&mut self, mut stays: impl FnMut(u32) -> Option<f64>) {
        let largest = &mut self.largest;
        *largest = 0.0;
        self.keys.retain(|key| {
            let size = stays(*key as u32);
            *largest = largest.max(size.unwrap_or(0.0));
            size.is_some()
        });
    }

    /// Puts all boxes in order, where they are now.
    pub fn sort(&mut self, boxes: &[Aabb]) {
        let box_of = |slot: u32| boxes.get(slot as usize).copied().unwrap_or(Aabb::NONE);
        let slots = self.keys.iter().map(|key| *key as u32);
        let slots = slots.chain(self.newcomers.iter().copied());
        let count = self.keys.len() + self.newcomers.len();
        let sample = slots.step_by(count / SAMPLE + 1);
        let least = self.largest.max(spacing(sample.map(box_of), count));
        if !(least * 1.000_001..least * TOO_LARGE).contains(&self.cell) {
            self.cell = least * LARGER;
        }
        let inverse = 1.0 / self.cell;
        let key = |slot: u32| {
            let [x, y, z] = box_of(slot).min;
            let number = RowNumber {
                z: floor(f64::from(z) * inverse),
                y: floor(f64::from(y) * inverse),
            };
            u128::from(number.in_order()) << 64 | u128::from(in_order(x)) << 32 | u128::from(slot)
        };
        self.keys.iter_mut().for_each(|it| *it = key(*it as u32));
        restore(&mut self.keys, &mut self.spare);
        if !self.newcomers.is_empty() {
            self.spare.clear();
            self.spare.extend(self.newcomers.drain(..).map(key));
            self.spare.sort_unstable();
            let kept = self.keys.len();
            merge(&mut self.keys, kept, &self.spare);
        }
        self.entries.clear();
        self.rows.clear();
        for (key, start) in self.keys.iter().zip(0..) {
            let slot = *key as u32;
            let aabb = box_of(slot);
            self.entries.push(Entry { aabb, slot });
            let number = RowNumber::of_key(*key);
            if self.rows.last().is_none_or(|row| row.number != number) {
                self.rows.push(Row { number, start });
            }
        }
    }

    /// The entries of a row.
    #[inline]
    fn row(&self, at: usize) -> &[Entry] {
        let Some(row) = self.rows.get(at) else {
            return &[];
        };
        let next = self.rows.get(at + 1);
        let end = next.map_or(self.entries.len(), |next| next.start as usize);
        self.entries
            .get(row.start as usize..end)
            .unwrap_or_default()
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
        // The rows beside that come later in the order: those before have met this one.
        let beside: &[(i32, i32)] = match dimension {
            2 => &[(0, 1)],
            _ => &[(0, 1), (1, -1), (1, 0), (1, 1)],
        };
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
                if found.is_some_and(|row| row.number == number) {
                    sweep_rows(own, self.row(*finger), self.cell, &mut meet);
                }
            }
        }
    }

    /// Calls `meet` with each of these boxes and each of another level that overlap.
    ///
    /// What overlaps a box begins at its end at the latest, and before it by no more than the size of the largest at the
    /// earliest.
    pub fn meet_other(&self, entries: Range<usize>, other: &Self, mut meet: impl FnMut(u32, u32)) {
        let (Some(first), Some(last)) = (other.rows.first(), other.rows.last()) else {
            return;
        };
        let inverse = 1.0 / other.cell;
        let begin = |place: f32| f64::from(place) - other.largest * (1.0 + 1e-6);
        // (What is beyond the farthest rows is beyond them in any case.)
        let row_at = |place: f64| floor((place * inverse).clamp(-2.0 * FARTHEST, FARTHEST));
        let mut found = 0;
        for entry in self.entries.get(entries).unwrap_or_default() {
            let Aabb { min, max } = entry.aabb;
            let last_z = row_at(max[2].into()).min(last.number.z);
            let (first_y, last_y) = (row_at(begin(min[1])), row_at(max[1].into()));
            let first_x = begin(min[0]);
            let mut z = row_at(begin(min[2])).max(first.number.z);
            while z <= last_z {
                found = other.seek(found, RowNumber { z, y: first_y });
                while let Some(row) = other.rows.get(found)
                    && (row.number.z, row.number.y) <= (z, last_y)
                {
                    let others = other.row(found);
                    let start = others.partition_point(|it| f64::from(it.aabb.min[0]) < first_x);
                    sweep(entry, others.get(start..).unwrap_or_default(), &mut meet);
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

/// About how far `count` boxes are from their neighbours, of which there is a sample: along y and z. Cells smaller than this
/// would leave rows that have nothing to tell apart, and all have to be looked up.
///
/// Half of them lie between the quartiles of their places along an axis: whatever is far away does not count.
fn spacing(sample: impl Iterator<Item = Aabb>, count: usize) -> f64 {
    let sample: SmallVec<[Aabb; SAMPLE]> = sample.take(SAMPLE).collect();
    let count = count as f64;
    let spread = |axis: usize| {
        let places = sample.iter().filter_map(|it| it.min.get(axis).copied());
        let mut places: SmallVec<[f32; SAMPLE]> = places.collect();
        places.sort_unstable_by(f32::total_cmp);
        let at = |part: usize| places.get(places.len() * part / 4).copied().map(f64::from);
        at(3)
            .zip(at(1))
            .map_or(0.0, |(high, low)| 2.0 * (high - low))
    };
    let (y, z) = (spread(1), spread(2));
    // In space; in the plane, and in space where all lie in one plane.
    let (side, long) = ((y * z).sqrt(), y.max(z));
    (side / libm::cbrt(count)).max(long / count.sqrt())
}

/// Calls `meet` with each entry of the one and of the other row that overlap; those of the other are no larger than `cell`.
#[inline]
fn sweep_rows(own: &[Entry], mut other: &[Entry], cell: f64, mut meet: impl FnMut(u32, u32)) {
    for entry in own {
        let first = f64::from(entry.aabb.min[0]) - cell;
        let begins_before = |it: &Entry| f64::from(it.aabb.min[0]) < first;
        let mut steps = 0;
        while let Some((_, rest)) = other.split_first().filter(|(it, _)| begins_before(it)) {
            other = rest;
            steps += 1;
            if steps > 16 {
                let start = other.partition_point(begins_before);
                other = other.get(start..).unwrap_or_default();
            }
        }
        sweep(entry, other, &mut meet);
    }
}

/// Calls `meet` with the entry and each of the others that overlaps it; these are in order, and begin where they may.
#[inline]
fn sweep(entry: &Entry, others: &[Entry], mut meet: impl FnMut(u32, u32)) {
    let [end, ..] = entry.aabb.max;
    for other in others {
        let [start, ..] = other.aabb.min;
        if start > end {
            break;
        }
        if entry.aabb.overlaps(&other.aabb) {
            meet(entry.slot, other.slot);
        }
    }
}
