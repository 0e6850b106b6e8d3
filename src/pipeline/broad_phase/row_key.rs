//! The sort keys of boxes in a grid.

use crate::shape::Aabb;

/// The position of a row of cells, counted in cells. Rows are ordered by z, then by y. In 2D, all
/// rows have the same z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowNumber {
    pub z: i32,
    pub y: i32,
}

impl RowNumber {
    /// Returns the row of a point. `inverse_cells` are the reciprocals of the cell size along y and
    /// z.
    #[inline]
    pub fn containing([_, y, z]: [f64; 3], [inverse_y, inverse_z]: [f64; 2]) -> Self {
        Self {
            z: floor(z * inverse_z),
            y: floor(y * inverse_y),
        }
    }
}

/// A key that sorts boxes by row, then by their lower x. From the highest bits down, the fields are
/// the row's z and y, the lower x, and the slot, with 32 bits each.
#[derive(Clone, Copy, Debug)]
pub struct RowKey;

impl RowKey {
    /// The key, without the slot, of a box that leaves the grid. The key of a leaving box is
    /// greater than all other keys, because the x of other keys is finite.
    pub const LEAVES: u128 = u128::MAX << 32;

    #[inline]
    pub fn encode(aabb: &Aabb, slot: u32, inverse_cells: [f64; 2]) -> u128 {
        let row = RowNumber::containing(aabb.min.map(f64::from), inverse_cells);
        let [x, ..] = aabb.min;
        let fields = [ordered(row.z), ordered(row.y), ordered_f32(x), slot];
        fields
            .iter()
            .fold(0, |key, field| key << 32 | u128::from(*field))
    }

    #[inline]
    pub fn row(key: u128) -> RowNumber {
        let number = |bits: u128| (bits as u32 ^ 1 << 31).cast_signed();
        RowNumber {
            z: number(key >> 96),
            y: number(key >> 64),
        }
    }

    #[inline]
    pub fn slot(key: u128) -> u32 {
        key as u32
    }
}

/// Maps signed integers to unsigned integers in the same order.
#[inline]
fn ordered(number: i32) -> u32 {
    number.cast_unsigned() ^ 1 << 31
}

/// Maps finite numbers to unsigned integers in the same order.
#[inline]
fn ordered_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// Rounds down to an integer, and saturates. On processors without SSE 4.1, `f64::floor` would be a
/// function call.
#[inline]
fn floor(value: f64) -> i32 {
    let truncated = value as i32;
    truncated.saturating_sub(i32::from(f64::from(truncated) > value))
}
