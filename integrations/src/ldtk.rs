//! Colliders for the IntGrid layers of `bevy_ecs_ldtk`.

use bevy::prelude::*;
use bevy_ecs_ldtk::{ldtk::Type, prelude::*};
use headbutt::prelude::*;

use crate::tilemap::{self, TilemapCells};

/// Gives each IntGrid layer a collider. The function returns the cell of a value of the grid. The
/// value 0 has no cell.
#[derive(Resource, Clone, Copy)]
pub struct IntGridCells(pub fn(&IntGridCell) -> Cell);

/// Adds colliders to the IntGrid layers.
pub fn plugin(app: &mut App) {
    tilemap::plugin::<IntGridCell>(app);
    app.add_observer(add_cells);
}

/// An IntGrid layer is a tilemap, whose tiles have the component [`IntGridCell`].
fn add_cells(
    add: On<Add, LayerMetadata>,
    layers: Query<&LayerMetadata>,
    cells: Res<IntGridCells>,
    mut commands: Commands,
) {
    let layer = layers.get(add.entity);
    if layer.is_ok_and(|layer| layer.layer_instance_type == Type::IntGrid) {
        commands.entity(add.entity).insert(TilemapCells(cells.0));
    }
}
