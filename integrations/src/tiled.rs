//! Colliders for the tile layers of `bevy_ecs_tiled`, as a physics backend.

use bevy::prelude::*;
use bevy_ecs_tiled::prelude::*;
use headbutt::prelude::*;

/// Gives each layer of tiles a collider of cells. The cell of a tile is the collision shape that
/// the tile has in the editor: a slope, or a part of the tile up to a height, from below or above.
///
/// The map needs [`TilemapAnchor::BottomLeft`]. In [`TiledPhysicsSettings`], `simplify_geometry`
/// must be `false`, because only then each tile has a shape of its own. Objects get no collider.
#[derive(Clone, Copy, Debug, Reflect)]
#[reflect(Default, Clone, Debug)]
pub struct CellsBackend {
    /// The size of a tile, in pixels.
    pub tile_size: Vec2,
}

impl Default for CellsBackend {
    fn default() -> Self {
        let tile_size = Vec2::splat(16.0);
        Self { tile_size }
    }
}

impl TiledPhysicsBackend for CellsBackend {
    fn spawn_colliders(
        &self,
        commands: &mut Commands,
        source: TiledColliderSource,
        origin: Entity,
        multi_polygons_list: Vec<geo::MultiPolygon<f32>>,
    ) -> Option<Entity> {
        if source != TiledColliderSource::TilesLayer {
            return None;
        }
        let mut grid = CellGrid::new(self.tile_size);
        for polygon in multi_polygons_list.iter().flatten() {
            let points = polygon.exterior().points();
            let points: Vec<Vec2> = points.map(|point| point.x_y().into()).collect();
            let center = points.iter().sum::<Vec2>() / points.len() as f32;
            let position = grid.position_of(center);
            let corner = position.as_vec2() * self.tile_size;
            let points = points.iter().map(|point| (point - corner) / self.tile_size);
            grid.set(position, cell(&points.collect::<Vec<_>>()));
        }
        commands.entity(origin).insert(Collider::cells(&grid));
        Some(origin)
    }
}

/// Returns the cell with this outline. The points are fractions of the cell.
fn cell(points: &[Vec2]) -> Cell {
    // The lowest and the highest point at the left side or at the right side.
    let [left, right] = [0.0, 1.0].map(|side| {
        let at_side = points.iter().filter(|point| (point.x - side).abs() < 0.01);
        at_side.fold([1.0, 0.0], |[low, high], point| {
            [point.y.min(low), point.y.max(high)]
        })
    });
    let eighths = |height: f32| (8.0 * height).round() as u8;
    if left[0].max(right[0]) < 0.01 {
        Cell::slope(eighths(left[1]), eighths(right[1]))
    } else {
        Cell::slope(eighths(1.0 - left[0]), eighths(1.0 - right[0])).hanging()
    }
}
