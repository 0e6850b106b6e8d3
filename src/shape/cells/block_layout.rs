//! The order of the cells in a block of 64 cells, and sets of such cells.
//!
//! The *number* of a cell in its block is a Morton code: the lowest bits are the lowest bits of x,
//! y and, in 3D, z. A set of such numbers is an integer of 64 bits.
//!
//! A list of a block's cells also has the cells around the block, with x first and then y.

use std::sync::OnceLock;

use crate::shape::cells::grid::{CellPosition, CellRanges, moved, ranges_between};

/// The number of cells of a block.
const BLOCK_LEN: u32 = 64;

/// The greatest number of cells of a block along an axis.
const MAX_SIDE: usize = 8;

/// The cells of a block of 8 x 8 cells (in 3D, 4 x 4 x 4).
pub struct BlockLayout {
    pub dimension: usize,
    /// The position of each cell in the block, and its index in the list, by the cell's number.
    pub order: Vec<(CellPosition, usize)>,
    /// The number of each cell in the list. For the cells around the block, it has no meaning.
    numbers: Vec<u32>,
    /// The numbers of cells in the list along each axis.
    pub lengths: CellPosition,
    /// The differences of the indices of two neighbors along each axis.
    steps: [usize; 3],
    /// The cells of the block, without the cells around it.
    inside: CellSet,
    /// The numbers of the cells of the block with each coordinate, along each axis.
    layers: [[u64; MAX_SIDE]; 3],
    /// The numbers of the cells with lower coordinates than each coordinate, along each axis.
    below: [[u64; MAX_SIDE + 1]; 3],
}

/// Returns the binary logarithm of the number of cells of a block along each axis.
pub const fn block_bits(dimension: usize) -> u32 {
    BLOCK_LEN.trailing_zeros() / dimension as u32
}

impl BlockLayout {
    /// Returns the layout in 2D or 3D.
    pub fn of(dimension: usize) -> &'static Self {
        static LAYOUTS: [OnceLock<BlockLayout>; 2] = [const { OnceLock::new() }; 2];
        let [in_2d, in_3d] = &LAYOUTS;
        let layout = if dimension == 2 { in_2d } else { in_3d };
        layout.get_or_init(|| Self::new(dimension))
    }

    fn new(dimension: usize) -> Self {
        let length = (1 << block_bits(dimension)) + 2;
        let lengths = [length, length, if dimension == 2 { 1 } else { length }];
        let mut layout = Self {
            dimension,
            order: Vec::new(),
            numbers: vec![0; lengths.iter().product::<i32>() as usize],
            lengths,
            steps: [1, length as usize, (length * length) as usize],
            inside: CellSet::default(),
            layers: Default::default(),
            below: Default::default(),
        };
        for number in 0..BLOCK_LEN {
            let mut position = [0; 3];
            for bit in 0..BLOCK_LEN.trailing_zeros() {
                if let Some(at) = position.get_mut(bit as usize % dimension) {
                    *at |= ((number >> bit & 1) << (bit / dimension as u32)) as i32;
                }
            }
            let index = layout.index(position);
            layout.order.push((position, index));
            layout.inside.insert(index);
            if let Some(slot) = layout.numbers.get_mut(index) {
                *slot = number;
            }
            for (layers, at) in layout.layers.iter_mut().zip(position) {
                if let Some(layer) = layers.get_mut(at as usize) {
                    *layer |= 1 << number;
                }
            }
            for (below, at) in layout.below.iter_mut().zip(position) {
                let higher = below.iter_mut().skip(at as usize + 1);
                higher.for_each(|cells| *cells |= 1 << number);
            }
        }
        layout
    }

    /// Returns the number of a cell, given by its position in the block.
    pub fn number(&self, offset: CellPosition) -> Option<u32> {
        self.numbers.get(self.index(offset)).copied()
    }

    /// Returns the number of cells in a row of the list, along the x axis.
    pub fn row_len(&self) -> usize {
        self.steps[1]
    }

    /// Returns the index of a cell in the list, given by its position in the block.
    pub fn index(&self, offset: CellPosition) -> usize {
        let axes = offset.iter().zip(self.steps).take(self.dimension);
        axes.map(|(at, step)| (at + 1) as usize * step).sum()
    }

    /// Returns the ranges of the positions in a block and around it, given by the position of its
    /// first cell.
    pub fn ranges(&self, origin: CellPosition) -> CellRanges {
        let before = if self.dimension == 2 { 0 } else { -1 };
        let first = moved(origin, [-1, -1, before]);
        ranges_between(first, moved(first, self.lengths.map(|length| length - 1)))
    }

    /// Returns the index of the neighbor of a cell at a side. The sides 2 * i and 2 * i + 1 are at
    /// the lower and the upper end of axis i.
    #[inline]
    pub fn neighbor(&self, index: usize, side: usize) -> usize {
        let step = self.step(side);
        if side % 2 == 1 {
            index + step
        } else {
            index.wrapping_sub(step)
        }
    }

    fn step(&self, side: usize) -> usize {
        self.steps.get(side / 2).copied().unwrap_or(0)
    }

    /// Returns the numbers of the cells of the block in a set whose neighbors at a side are not in
    /// the set.
    pub fn exposed(&self, cells: CellSet, side: usize) -> u64 {
        let step = self.step(side) as u32;
        let covered = if side % 2 == 1 {
            cells.lowered(step)
        } else {
            cells.raised(step)
        };
        let exposed = cells.without(covered).and(self.inside);
        let numbers = exposed
            .indices()
            .filter_map(|index| self.numbers.get(index));
        numbers.fold(0, |all, number| all | 1 << number)
    }

    /// Returns the least and the greatest coordinate of cells, given by their numbers, along an
    /// axis.
    pub fn range(&self, numbers: u64, axis: usize) -> Option<[i32; 2]> {
        let mut layers = self.layers.get(axis)?.iter();
        let is_used = |layer: &u64| numbers & layer != 0;
        let first = layers.clone().position(is_used)?;
        let last = layers.rposition(is_used)?;
        Some([first as i32, last as i32])
    }

    /// Returns each coordinate along an axis with the numbers of the cells there.
    #[inline]
    pub fn layers(&self, axis: usize) -> impl DoubleEndedIterator<Item = (f64, u64)> {
        let layers = self.layers.get(axis).map_or(&[][..], |layers| layers);
        let layers = layers.iter().enumerate();
        layers.map(|(at, cells)| (at as f64, *cells))
    }

    /// Returns the numbers of the cells at these coordinates along an axis. NaN excludes no cell.
    #[inline]
    pub fn between(&self, axis: usize, [low, high]: [f64; 2]) -> u64 {
        // The conversions to `i32` round toward 0. They are faster than other conversions.
        let first = (low as i32).max(0) as usize;
        let end = if high < 0.0 {
            0
        } else if high < MAX_SIDE as f64 {
            high as i32 as usize + 1
        } else {
            MAX_SIDE
        };
        let below = self.below.get(axis).and_then(|it| {
            let below = |at: usize| it.get(at.min(MAX_SIDE));
            Some(below(end)? & !below(first)?)
        });
        below.unwrap_or(0)
    }
}

/// A set of cells in the list of a block, by index.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct CellSet([u64; 4]);

impl CellSet {
    /// Adds up to 32 neighboring cells, given as bits. The first cell has this index.
    pub fn insert_row(&mut self, first: usize, row: u32) {
        let (row, shift) = (u64::from(row), first % 64);
        let [low, high] = [0, 1].map(|word| first / 64 + word);
        if let Some(word) = self.0.get_mut(low) {
            *word |= row << shift;
        }
        if shift > 0
            && let Some(word) = self.0.get_mut(high)
        {
            *word |= row >> (64 - shift);
        }
    }

    fn insert(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
    }

    pub fn contains(&self, index: usize) -> bool {
        let word = self.0.get(index / 64);
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn indices(self) -> impl Iterator<Item = usize> {
        let words = self.0.into_iter().enumerate();
        words.flat_map(|(index, word)| bits(word).map(move |bit| 64 * index + bit))
    }

    fn and(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & e, b & f, c & g, d & h])
    }

    fn without(self, other: Self) -> Self {
        self.and(Self(other.0.map(|word| !word)))
    }

    /// Adds a number from 1 to 63 to all indices.
    fn raised(self, by: u32) -> Self {
        let [a, b, c, d] = self.0;
        let carry = 64 - by;
        Self([
            a << by,
            b << by | a >> carry,
            c << by | b >> carry,
            d << by | c >> carry,
        ])
    }

    /// Subtracts a number from 1 to 63 from all indices.
    fn lowered(self, by: u32) -> Self {
        let [a, b, c, d] = self.0;
        let carry = 64 - by;
        Self([
            a >> by | b << carry,
            b >> by | c << carry,
            c >> by | d << carry,
            d >> by,
        ])
    }
}

/// Returns the set bits of an integer, from the lowest.
pub fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        // Clears the lowest set bit.
        word &= word.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::{BlockLayout, CellSet, bits};

    #[test]
    fn a_set_contains_the_cells_of_its_rows() {
        let row = 0x8420_0001;
        for first in [0, 7, 63, 64, 100, 223] {
            let mut set = CellSet::default();
            set.insert_row(first, row);
            let expected = [0, 21, 26, 31].map(|bit| first + bit);
            assert_eq!(set.indices().collect::<Vec<_>>(), expected);
        }
        assert_eq!(bits(1 << 63 | 5).collect::<Vec<_>>(), [0, 2, 63]);
    }

    #[test]
    fn cells_between_coordinates_are_found() {
        let nan = f64::NAN;
        for (range, [first, last]) in [
            ([-0.5, 0.5], [0, 0]),
            ([2.0, 7.999], [2, 7]),
            ([6.5, 8.0], [6, 7]),
            ([-1e300, 1e300], [0, 7]),
            ([nan, 3.5], [0, 3]),
            ([3.5, nan], [3, 7]),
            ([-2.0, -0.1], [0, -1]),
            ([8.5, 9.0], [8, 7]),
        ] {
            let layout = BlockLayout::of(2);
            let expected = layout.order.iter().zip(0_u32..);
            let expected = expected.filter(|(cell, _)| (first..=last).contains(&cell.0[1]));
            let expected = expected.fold(0, |all, (_, number)| all | 1_u64 << number);
            assert_eq!(layout.between(1, range), expected, "{range:?}");
        }
    }
}
