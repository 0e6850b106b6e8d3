//! The cells of a chunk of a grid.
//!
//! Most cells of most worlds are [`Cell::EMPTY`] or [`Cell::SOLID`]. All other cells are *special*:
//! for example, slopes, or solid cells with a material. A chunk without special cells has only two
//! bits for each cell.

use crate::shape::cells::{block_layout::bits, cell::Cell};

/// The number of bits of a word of [`ChunkCells`].
const WORD: usize = u32::BITS as usize;

/// The greatest number of cells of a chunk.
const MAX_LEN: usize = 1 << 10;

/// The number of words of a set of cells.
const WORDS: usize = MAX_LEN / WORD;

/// A set of cells, by index.
type ChunkCells = [u32; WORDS];

/// The cells of a cube of positions, by index.
#[derive(Clone, Default, PartialEq)]
pub struct Chunk {
    /// The cells that are not empty.
    occupied: ChunkCells,
    solid: ChunkCells,
    /// The number of special cells.
    special: usize,
    /// All cells. `None` if no cell is special.
    cells: Option<Box<[Cell]>>,
}

/// A chunk without cells.
pub static NO_CELLS: Chunk = Chunk {
    occupied: [0; WORDS],
    solid: [0; WORDS],
    special: 0,
    cells: None,
};

impl Chunk {
    /// Returns a chunk of `len` equal cells.
    pub fn filled(cell: Cell, len: usize) -> Self {
        let mut chunk = Self::default();
        (0..len).for_each(|index| chunk.set(index, cell, len));
        chunk
    }

    /// Returns `true` if all cells are empty.
    pub fn is_empty(&self) -> bool {
        self.occupied == [0; WORDS]
    }

    /// Returns the number of cells that are not empty.
    pub fn len(&self) -> usize {
        self.occupied
            .map(|word| word.count_ones() as usize)
            .iter()
            .sum()
    }

    /// Returns `true` if any cell is special.
    pub fn has_special(&self) -> bool {
        self.special > 0
    }

    pub fn get(&self, index: usize) -> Cell {
        match &self.cells {
            Some(cells) => cells.get(index).copied().unwrap_or_default(),
            None if row(&self.solid, index, 1) == 1 => Cell::SOLID,
            None => Cell::EMPTY,
        }
    }

    /// Sets a cell of a chunk of `len` cells. If the cell is empty, it must be [`Cell::EMPTY`].
    pub fn set(&mut self, index: usize, cell: Cell, len: usize) {
        let is_special = |cell: Cell| cell != Cell::EMPTY && cell != Cell::SOLID;
        self.special += usize::from(is_special(cell));
        self.special -= usize::from(is_special(self.get(index)));
        if self.special == 0 {
            self.cells = None;
        } else if self.cells.is_none() {
            self.cells = Some((0..len).map(|index| self.get(index)).collect());
        }
        if let Some(slot) = self.cells.as_mut().and_then(|it| it.get_mut(index)) {
            *slot = cell;
        }
        let sets = [&mut self.occupied, &mut self.solid];
        for (set, contains) in sets.into_iter().zip([!cell.is_empty(), cell.is_solid()]) {
            if let Some(word) = set.get_mut(index / WORD) {
                *word &= !(1 << (index % WORD));
                *word |= u32::from(contains) << (index % WORD);
            }
        }
    }

    /// Returns the cells that are not empty, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Cell)> {
        let words = self.occupied.iter().zip((0..).step_by(WORD));
        let indices =
            words.flat_map(|(word, first)| bits((*word).into()).map(move |it| first + it));
        indices.map(|index| (index, self.get(index)))
    }

    /// Returns the index and the new content of each cell that differs in `new`.
    pub fn changes(&self, new: &Self) -> impl Iterator<Item = (usize, Cell)> {
        let differs = move |word: &usize| {
            let differs = |[old, new]: [&ChunkCells; 2]| old.get(*word) != new.get(*word);
            let [old, other] = [self, new].map(|it| it.cells.as_deref());
            let cells = |cells: &'_ [Cell]| cells.as_chunks::<WORD>().0.get(*word).copied();
            differs([&self.occupied, &new.occupied])
                || differs([&self.solid, &new.solid])
                || match (old.and_then(cells), other.and_then(cells)) {
                    // A loop without an early end compares many cells at once.
                    (Some(old), Some(new)) => {
                        let differences = old.iter().zip(&new);
                        let differences = differences.map(|(old, new)| old.word() ^ new.word());
                        differences.fold(0, |all, bits| all | bits) != 0
                    }
                    (old, new) => old.is_some() != new.is_some(),
                }
        };
        let words = (0..WORDS).filter(differs);
        let indices = words.flat_map(|word| WORD * word..WORD * (word + 1));
        let changes = indices.map(|index| (index, self.get(index), new.get(index)));
        changes.filter_map(|(index, old, new)| (old != new).then_some((index, new)))
    }
}

/// Returns the bits of up to 32 cells of a set. The cells are in one word.
fn row(set: &ChunkCells, first: usize, len: usize) -> u32 {
    let word = set.get(first / WORD).copied().unwrap_or(0);
    word >> (first % WORD) & (u32::MAX >> (WORD - len))
}

/// Neighboring cells of a chunk along the x axis.
pub struct CellRow<'g> {
    /// The number of the row in the box of cells, with y first and then z.
    pub number: usize,
    /// The number of cells of the box before the first cell, along the x axis.
    pub offset: usize,
    pub chunk: &'g Chunk,
    /// The index of the first cell in the chunk.
    pub first: usize,
    /// The number of cells, at most 32.
    pub len: usize,
}

impl CellRow<'_> {
    /// Returns the solid cells, as bits.
    pub fn solid(&self) -> u32 {
        row(&self.chunk.solid, self.first, self.len)
    }

    /// Returns the cells that are not empty, as bits.
    pub fn occupied(&self) -> u32 {
        row(&self.chunk.occupied, self.first, self.len)
    }

    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let indices = self.first..self.first + self.len;
        indices.map(|index| self.chunk.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, NO_CELLS};
    use crate::shape::cells::cell::Cell;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    #[test]
    fn a_chunk_has_the_cells_that_were_set() {
        let kinds = [
            Cell::EMPTY,
            Cell::SOLID,
            Cell::SOLID.with_material(7),
            Cell::slope(0, 8),
        ];
        let mut rng = StdRng::seed_from_u64(1);
        for len in [1 << 9, 1 << 10] {
            let (mut chunk, mut cells) = (Chunk::default(), vec![Cell::EMPTY; len]);
            for step in 0..4_000 {
                let (before, old) = (chunk.clone(), cells.clone());
                // Some steps leave no special cell.
                let limit = if step % 1000 < 500 { 4 } else { 2 };
                for (index, slot) in cells.iter_mut().enumerate() {
                    if rng.random_bool(0.01) || limit == 2 && step % 1000 == 500 {
                        let kind = kinds.get(rng.random_range(0..limit)).copied();
                        *slot = kind.unwrap_or_default();
                        chunk.set(index, *slot, len);
                    }
                }
                let expected = || cells.iter().copied().enumerate();
                assert!(expected().all(|(index, cell)| chunk.get(index) == cell));
                assert!(expected().filter(|it| !it.1.is_empty()).eq(chunk.iter()));
                let changed = expected().zip(&old).filter(|(new, old)| new.1 != **old);
                assert!(changed.map(|(new, _)| new).eq(before.changes(&chunk)));
                let mut same = NO_CELLS.clone();
                expected().for_each(|(index, cell)| same.set(index, cell, len));
                assert!(same == chunk && chunk.len() == chunk.iter().count());
                assert_eq!(
                    chunk.has_special(),
                    cells.iter().any(|it| kinds[2..].contains(it))
                );
            }
        }
    }
}
