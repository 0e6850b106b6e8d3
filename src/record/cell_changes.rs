//! The changed cells of a grid, from which a replay makes the changed collider.

use serde::{Deserialize, Serialize};

use crate::{
    collider::Collider,
    math::{Vec2, Vec3},
    shape::{
        Dimension, ShapeError,
        serialize::{RunData, SerializeSpace, runs_of},
    },
};

/// The cells that differ between two colliders from [`Collider::cells`].
#[derive(Debug, Serialize, Deserialize)]
pub enum CellChanges {
    D2(Vec<RunData<Vec2>>),
    D3(Vec<RunData<Vec3>>),
}

impl CellChanges {
    /// Returns `true` if a collider has cells.
    pub fn has_cells(collider: &Collider) -> bool {
        collider.cell_compound::<Vec2>().is_some() || collider.cell_compound::<Vec3>().is_some()
    }

    /// Returns the changes from one collider to another. Returns `None` if the colliders differ by
    /// more than their cells, or have no cells.
    pub fn between(old: &Collider, new: &Collider) -> Option<Self> {
        let in_2d = runs_between(old, new).map(Self::D2);
        in_2d.or_else(|| runs_between(old, new).map(Self::D3))
    }

    /// Returns `true` if no cell differs.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::D2(runs) => runs.is_empty(),
            Self::D3(runs) => runs.is_empty(),
        }
    }

    /// Applies the changes to a collider.
    pub fn apply(&self, collider: &mut Collider) -> Result<(), ShapeError> {
        match self {
            Self::D2(runs) => apply(runs, collider),
            Self::D3(runs) => apply(runs, collider),
        }
    }
}

fn runs_between<V: SerializeSpace>(old: &Collider, new: &Collider) -> Option<Vec<RunData<V>>> {
    let (old, new) = (old.cell_compound::<V>()?, new.cell_compound::<V>()?);
    let (old_grid, new_grid) = (old.cells()?.grid(), new.cells()?.grid());
    let is_same =
        old.parts().1.to_bits() == new.parts().1.to_bits() && old_grid.has_same_cells(new_grid);
    if !is_same {
        return None;
    }
    let mut cells = Vec::new();
    old_grid.visit_changes(new_grid, |position, cell| {
        cells.push((V::position_of(position), cell));
    });
    Some(runs_of(cells))
}

fn apply<V: SerializeSpace + Dimension>(
    runs: &[RunData<V>],
    collider: &mut Collider,
) -> Result<(), ShapeError> {
    collider.edit_cells(|grid| runs.iter().try_for_each(|run| run.add_to(grid)))?
}
