//! Colliders for the tilemaps of `bevy_ecs_tilemap`.

use std::collections::HashSet;

use bevy::{
    app::{RunFixedMainLoop, RunFixedMainLoopSystems},
    prelude::*,
};
use bevy_ecs_tilemap::prelude::*;
use headbutt::prelude::*;

/// Gives a square tilemap a collider, in a child entity. The function returns the cell of a tile
/// with the component `T`, for example [`TileTextureIndex`]. The collider follows the tiles.
#[derive(Component, Clone, Copy)]
pub struct TilemapCells<T: Component>(pub fn(&T) -> Cell);

/// The child of a tilemap that has the collider.
#[derive(Component)]
struct CellsChild(Entity);

/// Adds colliders to the tilemaps with [`TilemapCells<T>`].
pub fn plugin<T: Component>(app: &mut App) {
    let before_ticks = RunFixedMainLoopSystems::BeforeFixedMainLoop;
    app.add_systems(RunFixedMainLoop, fill::<T>.in_set(before_ticks));
}

/// The components of a tilemap that determine where the tiles are.
type Layout = (
    &'static TilemapSize,
    &'static TilemapGridSize,
    &'static TilemapTileSize,
    Option<&'static TilemapAnchor>,
);

/// Builds the grids of all tilemaps whose tiles have changed.
fn fill<T: Component>(
    mut commands: Commands,
    maps: Query<(
        Entity,
        &TilemapCells<T>,
        &TileStorage,
        Layout,
        Option<&CellsChild>,
    )>,
    added: Query<Entity, Added<TilemapCells<T>>>,
    tiles: Query<(&TilePos, &T)>,
    changed: Query<&TilemapId, Or<(Changed<T>, Changed<TilePos>)>>,
    mut removed: RemovedComponents<T>,
) {
    let mut dirty: HashSet<Entity> = changed.iter().map(|map| map.0).chain(&added).collect();
    // A removed tile no longer knows its map.
    if removed.read().count() > 0 {
        dirty.extend(maps.iter().map(|(map, ..)| map));
    }
    for (map, TilemapCells(cell_of), storage, layout, child) in &maps {
        if !dirty.contains(&map) {
            continue;
        }
        let (size, grid_size, tile_size, anchor) = layout;
        let cell_size = Vec2::from(grid_size);
        let mut grid = CellGrid::new(cell_size);
        for tile in storage.iter().flatten() {
            if let Ok((position, tile)) = tiles.get(*tile) {
                grid.set(UVec2::from(position).as_ivec2(), cell_of(tile));
            }
        }
        // The position of a tile is the center of its cell.
        let anchor = anchor.copied().unwrap_or_default();
        let center = anchor.as_offset(size, grid_size, tile_size, &TilemapType::Square);
        let corner = (center - 0.5 * cell_size).extend(0.0);
        let cells = (Collider::cells(&grid), Transform::from_translation(corner));
        match child {
            Some(child) => {
                commands.entity(child.0).insert(cells);
            }
            None => {
                let child = commands.spawn((cells, ChildOf(map))).id();
                commands.entity(map).insert(CellsChild(child));
            }
        }
    }
}
