//! Boxes in rows: which of them overlap?
//!
//! A uniform grid (Ericson, "Real-Time Collision Detection" (2005), chapter 7.1) of which one axis is left open and swept
//! (chapter 7.5): boxes are sorted by the row of cells in which they begin, and within a row by where they begin along x.
//! A box no larger than a cell reaches into the next row at most, so that it can meet only boxes that begin in its own row
//! or in one beside it, and these lie in order. What departs from the book, and why:
//!
//! * *No size is asked for.* Boxes go to levels, by their size: the largest of a level is up to four times as large as the
//!   smallest, and makes its cells. Between levels, the smaller box looks up the rows that it reaches.
//! * *No table of cells.* Rows lie in order, and so do those beside them: going through all boxes in order, each row beside
//!   is found by a finger that only moves on.
//!
//! Boxes are held in f32, rounded outward.

use crate::{
    shape::Bounds,
    space::{Space, Wide},
};

/// Rows are numbered up to this in each direction. Cells are at least so large that no box is beyond.
const FARTHEST: f64 = (1_u32 << 30) as f64;

/// A box in order.
#[derive(Clone, Copy, Debug)]
struct Entry {
    min: [f32; 3],
    max: [f32; 3],
    slot: u32,
}

impl Entry {
    fn new<V: Space>(slot: u32, bounds: &Bounds<V::Wide>) -> Self {
        let mut entry = Self {
            min: [0.0; 3],
            max: [0.0; 3],
            slot,
        };
        for index in 0..V::Wide::DIMENSION {
            if let (Some(min), Some(max)) = (entry.min.get_mut(index), entry.max.get_mut(index)) {
                *min = below(bounds.min.component(index));
                *max = -below(-bounds.max.component(index));
            }
        }
        entry
    }

    fn overlaps(&self, other: &Self) -> bool {
        let [ax, ay, az] = self.min;
        let [bx, by, bz] = self.max;
        let [cx, cy, cz] = other.min;
        let [dx, dy, dz] = other.max;
        // Without branches: which of these fails first is anybody's guess.
        (ax <= dx) & (cx <= bx) & (ay <= dy) & (cy <= by) & (az <= dz) & (cz <= bz)
    }

    /// The size of the cells that it needs at least: its extent, but no less than what would put it beyond the farthest row.
    fn size(&self) -> f64 {
        self.min
            .iter()
            .zip(&self.max)
            .fold(0.0, |most, (min, max)| {
                let way = f64::from(min.abs().max(max.abs()));
                let extent = f64::from(*max) - f64::from(*min);
                most.max(extent).max(way / FARTHEST)
            })
    }
}

/// The greatest f32 that is no greater.
fn below(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value {
        near.next_down()
    } else {
        near
    }
}

/// In which octave a size is, which is no less than 0: the exponent of the power of two at or below it, in f64's own count.
/// Sizes that come of f32 have one of 0 (for 0), or from 800 to 1200.
fn octave(size: f64) -> usize {
    (size.to_bits() >> 52) as usize
}

/// How many octaves there are.
const OCTAVES: usize = 1 << 11;

/// How many of them a level has.
const OCTAVES_OF_A_LEVEL: usize = 2;

/// The number of a row: first by z, then by y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowNumber {
    z: i32,
    y: i32,
}

/// A row and its first entry.
#[derive(Clone, Copy, Debug)]
struct Row {
    number: RowNumber,
    start: u32,
}

/// Boxes of about one size.
#[derive(Clone, Debug, Default)]
struct Level {
    /// Larger than all of the boxes.
    cell: f64,
    entries: Vec<Entry>,
    rows: Vec<Row>,
    /// Around all boxes.
    min: [f32; 3],
    max: [f32; 3],
}

impl Level {
    fn row_number(&self, [_, y, z]: [f32; 3]) -> RowNumber {
        let number = |coordinate: f32| (f64::from(coordinate) / self.cell).floor() as i32;
        RowNumber {
            z: number(z),
            y: number(y),
        }
    }

    /// The entries of a row.
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

    /// Adds a box of this size.
    fn push(&mut self, entry: Entry, size: f64) {
        let is_first = self.entries.is_empty();
        let ends = self.min.iter_mut().zip(&mut self.max);
        for ((min, max), (low, high)) in ends.zip(entry.min.iter().zip(&entry.max)) {
            *min = if is_first { *low } else { min.min(*low) };
            *max = if is_first { *high } else { max.max(*high) };
        }
        // So much larger that no rounding brings an end of a box into the row after the next.
        self.cell = self.cell.max(size * (1.0 + 1e-6)).max(f64::MIN_POSITIVE);
        self.entries.push(entry);
    }

    /// Puts the boxes in order.
    fn sort(&mut self, order: &mut Vec<(RowNumber, u32, u32)>, spare: &mut Vec<Entry>) {
        order.clear();
        order.extend((0..).zip(&self.entries).map(|(index, entry)| {
            let [x, ..] = entry.min;
            (self.row_number(entry.min), in_order(x), index)
        }));
        order.sort_unstable();
        let entries = order
            .iter()
            .filter_map(|(_, _, index)| self.entries.get(*index as usize));
        spare.clear();
        spare.extend(entries);
        core::mem::swap(&mut self.entries, spare);
        self.rows.clear();
        for ((number, ..), start) in order.iter().zip(0..) {
            if self.rows.last().is_none_or(|row| row.number != *number) {
                self.rows.push(Row {
                    number: *number,
                    start,
                });
            }
        }
    }

    /// Calls `meet` with each two entries that overlap.
    fn meet_within(&self, dimension: usize, mut meet: impl FnMut(&Entry, &Entry)) {
        // The rows beside that come later in the order: those before have met this one.
        let beside: &[(i32, i32)] = match dimension {
            2 => &[(0, 1)],
            _ => &[(0, 1), (1, -1), (1, 0), (1, 1)],
        };
        let mut fingers = [0; 4];
        for (at, row) in self.rows.iter().enumerate() {
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
                while self
                    .rows
                    .get(*finger)
                    .is_some_and(|row| row.number < number)
                {
                    *finger += 1;
                }
                if self
                    .rows
                    .get(*finger)
                    .is_some_and(|row| row.number == number)
                {
                    self.sweep_rows(own, self.row(*finger), &mut meet);
                }
            }
        }
    }

    /// Calls `meet` with each entry of the one and of the other row that overlap.
    fn sweep_rows(&self, own: &[Entry], mut other: &[Entry], mut meet: impl FnMut(&Entry, &Entry)) {
        for entry in own {
            let [x, ..] = entry.min;
            let first = f64::from(x) - self.cell;
            let begins_before = |it: &Entry| f64::from(it.min[0]) < first;
            while let Some((_, rest)) = other.split_first().filter(|(it, _)| begins_before(it)) {
                other = rest;
            }
            sweep(entry, other, &mut meet);
        }
    }

    /// Calls `meet` with each entry that overlaps a box of any size.
    fn meet(&self, entry: &Entry, mut meet: impl FnMut(&Entry)) {
        if self.entries.is_empty() {
            return;
        }
        let around = Entry {
            min: self.min,
            max: self.max,
            slot: 0,
        };
        if !entry.overlaps(&around) {
            return;
        }
        // What reaches the box begins in the row before it at the earliest. Both ends are cut to where there is anything.
        let clip = |index: usize, value: f32| match (self.min.get(index), self.max.get(index)) {
            (Some(min), Some(max)) => value.clamp(*min, *max),
            _ => value,
        };
        let [low, high] =
            [entry.min, entry.max].map(|[x, y, z]| self.row_number([x, clip(1, y), clip(2, z)]));
        let (first_y, first_z) = (low.y - 1, low.z - 1);
        let first_x = f64::from(entry.min[0]) - self.cell;
        let seek = |from: usize, number: RowNumber| {
            let rest = self.rows.get(from..).unwrap_or_default();
            from + rest.partition_point(|row| row.number < number)
        };
        let mut at = seek(
            0,
            RowNumber {
                z: first_z,
                y: first_y,
            },
        );
        while let Some(row) = self.rows.get(at) {
            let RowNumber { z, y } = row.number;
            if z > high.z {
                break;
            } else if y < first_y {
                at = seek(at, RowNumber { z, y: first_y });
            } else if y > high.y {
                at = seek(
                    at,
                    RowNumber {
                        z: z + 1,
                        y: first_y,
                    },
                );
            } else {
                let entries = self.row(at);
                let start = entries.partition_point(|it| f64::from(it.min[0]) < first_x);
                sweep(entry, entries.get(start..).unwrap_or_default(), |_, it| {
                    meet(it)
                });
                at += 1;
            }
        }
    }
}

/// Calls `meet` with the entry and each of the others that overlaps it; these are in order, and begin where they may.
fn sweep(entry: &Entry, others: &[Entry], mut meet: impl FnMut(&Entry, &Entry)) {
    let [end, ..] = entry.max;
    for other in others {
        let [start, ..] = other.min;
        if start > end {
            break;
        }
        if entry.overlaps(other) {
            meet(entry, other);
        }
    }
}

/// A number that is in the order of f32, for what is finite.
fn in_order(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// Any number of boxes.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// From the largest boxes to the smallest. Some may be empty.
    levels: Vec<Level>,
    dimension: usize,
    // What it takes to put them in order.
    unsorted: Vec<Entry>,
    is_used: Vec<bool>,
    level_of: Vec<u16>,
    order: Vec<(RowNumber, u32, u32)>,
    spare: Vec<Entry>,
}

impl Rows {
    /// Forgets what it had and takes these.
    pub fn fill<'a, V: Space>(&mut self, boxes: impl Iterator<Item = (u32, &'a Bounds<V::Wide>)>) {
        self.dimension = V::Wide::DIMENSION;
        self.unsorted.clear();
        self.is_used.clear();
        self.is_used.resize(OCTAVES, false);
        for (slot, bounds) in boxes {
            let entry = Entry::new::<V>(slot, bounds);
            if let Some(is_used) = self.is_used.get_mut(octave(entry.size())) {
                *is_used = true;
            }
            self.unsorted.push(entry);
        }
        let count = self.share_out();
        if self.levels.len() < count {
            self.levels.resize_with(count, Level::default);
        }
        for level in &mut self.levels {
            level.entries.clear();
            level.cell = 0.0;
        }
        for entry in &self.unsorted {
            let size = entry.size();
            let level = self
                .level_of
                .get(octave(size))
                .map_or(0, |it| usize::from(*it));
            if let Some(level) = self.levels.get_mut(level) {
                level.push(*entry, size);
            }
        }
        for level in &mut self.levels {
            level.sort(&mut self.order, &mut self.spare);
        }
    }

    /// Shares the octaves out to levels, and tells how many these are.
    ///
    /// From the largest down, each level takes two octaves: what is looked through in vain in cells too large, and what is
    /// looked up in other levels, are about as much then.
    fn share_out(&mut self) -> usize {
        self.level_of.clear();
        self.level_of.resize(OCTAVES, 0);
        let (mut count, mut end) = (0, usize::MAX);
        for (octave, level_of) in self.level_of.iter_mut().enumerate().rev() {
            if !self.is_used.get(octave).is_some_and(|it| *it) {
                continue;
            }
            if octave + OCTAVES_OF_A_LEVEL <= end {
                (count, end) = (count + 1, octave);
            }
            *level_of = count as u16 - 1;
        }
        count
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.levels.iter().map(|level| level.entries.len()).sum()
    }

    /// Calls `meet` with the slots of each two boxes that overlap, once.
    pub fn meet_within(&self, mut meet: impl FnMut(u32, u32)) {
        let mut levels = self.levels.as_slice();
        while let Some((level, coarser)) = levels.split_last() {
            levels = coarser;
            level.meet_within(self.dimension, |a, b| meet(a.slot, b.slot));
            for other in coarser {
                for entry in &level.entries {
                    other.meet(entry, |it| meet(entry.slot, it.slot));
                }
            }
        }
    }

    /// Calls `meet` with the slot of each box that overlaps this one.
    pub fn meet<V: Space>(&self, slot: u32, bounds: &Bounds<V::Wide>, mut meet: impl FnMut(u32)) {
        let entry = Entry::new::<V>(slot, bounds);
        for level in &self.levels {
            level.meet(&entry, |it| meet(it.slot));
        }
    }
}
