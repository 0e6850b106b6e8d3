//! Meshes of worlds of cells, in the colors of the materials. The meshes are computed from the
//! colliders, so the demos draw the cells that collide.

use std::collections::HashMap;

use bevy::{mesh::PrimitiveTopology, prelude::*};
use headbutt::{ShapeView, prelude::*};

/// The thickness of the upper edge of a tile, in units of the world.
const EDGE: f32 = 0.15;

/// The colors of the cells of a collider: for each material, the color of its cells and the color
/// of their upper faces.
#[derive(Component, Clone, Copy)]
pub struct CellColors(pub &'static [[Color; 2]]);

/// Draws each new or changed grid of tiles.
pub fn draw_tiles(
    levels: Query<(Entity, &Collider, &CellColors), Changed<Collider>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    mut commands: Commands,
) {
    for (level, collider, colors) in &levels {
        let mesh = Mesh2d(meshes.add(tiles(collider, colors)));
        let material = MeshMaterial2d(materials.add(Color::WHITE));
        commands.entity(level).insert((mesh, material));
    }
}

/// Draws each new or changed grid of voxels.
pub fn draw_voxels(
    levels: Query<(Entity, &Collider, &CellColors), Changed<Collider>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    for (level, collider, colors) in &levels {
        let mesh = Mesh3d(meshes.add(voxels(collider, colors)));
        let material = MeshMaterial3d(materials.add(StandardMaterial {
            perceptual_roughness: 1.0,
            reflectance: 0.0,
            ..default()
        }));
        commands.entity(level).insert((mesh, material));
    }
}

/// Returns the filled tiles of a level, and the upper edges of the level's exposed faces.
fn tiles(level: &Collider, colors: &CellColors) -> Mesh {
    let mut triangles = Triangles::default();
    let Some(grid) = level.grid::<Vec2>() else {
        return triangles.mesh();
    };
    // The cells of a level have few different shapes.
    let mut outlines = HashMap::new();
    for (position, cell) in grid.iter() {
        let outline = outlines.entry(cell).or_insert_with(|| {
            let mut single = CellGrid::new(grid.cell_size());
            single.set(IVec2::ZERO, cell);
            segments(&Collider::cells(&single))
        });
        let corner = position.as_vec2() * grid.cell_size();
        // A cell is convex, so the triangles between one of its corners and its sides fill it.
        for [a, b] in &*outline {
            let points = [outline[0][0], *a, *b].map(|point| (corner + point).extend(0.0));
            triangles.add(points, colors.of(cell, position.element_sum(), false));
        }
    }
    for (part, [a, b]) in (0..).zip(segments(level)) {
        // The outer side of a segment is to its right.
        let is_upper = a.x - b.x > (a.y - b.y).abs();
        if let Some((position, cell)) = level.cell_2d(part)
            && is_upper
        {
            let color = colors.of(cell, position.element_sum(), true);
            let [c, d] = [a, b].map(|point| point - EDGE * Vec2::Y);
            for points in [[a, b, c], [b, c, d]] {
                triangles.add(points.map(|point| point.extend(0.1)), color);
            }
        }
    }
    triangles.mesh()
}

/// Returns the exposed faces of a level of tiles.
fn segments(level: &Collider) -> Vec<[Vec2; 2]> {
    let Some(ShapeView::Surface(faces)) = level.shape_2d() else {
        return Vec::new();
    };
    let ends = |facet: &[u32]| [0, 1].map(|end| faces.vertices()[facet[end] as usize]);
    faces.facets().map(ends).collect()
}

/// Returns the exposed faces of a level of voxels.
fn voxels(level: &Collider, colors: &CellColors) -> Mesh {
    let mut triangles = Triangles::default();
    if let Some(ShapeView::Surface(faces)) = level.shape_3d() {
        for (part, facet) in (0..).zip(faces.facets()) {
            let corners = [0, 1, 2].map(|corner| faces.vertices()[facet[corner] as usize]);
            let [a, b, c] = corners;
            let is_upper = (b - a).cross(c - a).normalize().y > 0.5;
            if let Some((position, cell)) = level.cell_3d(part) {
                triangles.add(corners, colors.of(cell, position.element_sum(), is_upper));
            }
        }
    }
    triangles.mesh().with_computed_flat_normals()
}

impl CellColors {
    /// Returns the color of a cell or of its upper faces. The brightness alternates from cell to
    /// cell, as on a chessboard, so that the cells can be told apart.
    fn of(&self, cell: Cell, position_sum: i32, is_upper: bool) -> LinearRgba {
        let color = self.0[usize::from(cell.material())][usize::from(is_upper)].to_linear();
        color * if position_sum % 2 == 0 { 1.0 } else { 0.88 }
    }
}

/// Triangles, each with a color.
#[derive(Default)]
struct Triangles {
    positions: Vec<Vec3>,
    colors: Vec<[f32; 4]>,
}

impl Triangles {
    fn add(&mut self, corners: [Vec3; 3], color: LinearRgba) {
        self.positions.extend(corners);
        self.colors.extend([color.to_f32_array(); 3]);
    }

    fn mesh(self) -> Mesh {
        Mesh::new(PrimitiveTopology::TriangleList, default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.positions)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colors)
    }
}
