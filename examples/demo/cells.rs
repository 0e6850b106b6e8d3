//! Meshes of worlds of cells, in the colors of the materials. The meshes are computed from the
//! colliders, so the demos draw the cells that collide.

use std::collections::HashMap;

use bevy::{mesh::PrimitiveTopology, prelude::*};
use headbutt::{ShapeView, prelude::*};

/// The thickness of the upper and of the other edges of tiles, in units of the world.
const UPPER_EDGE: f32 = 0.16;
const EDGE: f32 = 0.07;

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

/// Returns the filled tiles of a level, and the edges of the level's exposed faces.
fn tiles(level: &Collider, colors: &CellColors) -> Mesh {
    let mut triangles = Triangles::default();
    let Some(grid) = level.grid::<Vec2>() else {
        return triangles.mesh();
    };
    let sides = [-1.5, -0.5, 0.5, 1.5].map(|offset| offset * grid.cell_size());
    let nearby = sides.map(|x| sides.map(|y| Vec2::new(x.x, y.y)));
    let is_solid = |point: Vec2| grid.get(grid.position_of(point)).is_solid();
    let light = |corner: Vec2| light(nearby.as_flattened(), |offset| is_solid(corner + offset));
    // The cells of a level have few different shapes.
    let mut outlines = HashMap::new();
    for (position, cell) in grid.iter() {
        let outline = outlines.entry(cell).or_insert_with(|| {
            let mut single = CellGrid::new(grid.cell_size());
            single.set(IVec2::ZERO, cell);
            segments(&Collider::cells(&single))
        });
        let corner = position.as_vec2() * grid.cell_size();
        let color = colors.of(cell, position.extend(0), false);
        // A cell is convex, so the triangles between one of its corners and its sides fill it.
        for [a, b] in &*outline {
            let points = [outline[0][0], *a, *b].map(|point| corner + point);
            triangles.add(points.map(|point| (point.extend(0.0), light(point) * color)));
        }
    }
    for (part, [a, b]) in (0..).zip(segments(level)) {
        let Some((position, cell)) = level.cell_2d(part) else {
            continue;
        };
        // The outer side of a segment is to its right.
        let normal = -(b - a).normalize().perp();
        let is_upper = normal.y > 0.5;
        let color = colors.of(cell, position.extend(0), is_upper);
        let (inward, color) = if is_upper {
            (Vec2::NEG_Y * UPPER_EDGE / normal.y, color)
        } else {
            (-EDGE * normal, 0.6 * color)
        };
        let [c, d] = [a, b].map(|point| point + inward);
        for points in [[a, b, c], [b, c, d]] {
            triangles.add(points.map(|point| (point.extend(0.1), color)));
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
    if let (Some(grid), Some(ShapeView::Surface(faces))) = (level.grid::<Vec3>(), level.shape_3d())
    {
        let sides = [-0.5, 0.5].map(|offset| offset * grid.cell_size());
        let nearby = sides.map(|x| sides.map(|y| sides.map(|z| Vec3::new(x.x, y.y, z.z))));
        let is_solid = |point: Vec3| grid.get(grid.position_of(point)).is_solid();
        let light = |corner: Vec3| {
            let nearby = nearby.as_flattened().as_flattened();
            light(nearby, |offset| is_solid(corner + offset))
        };
        for (part, facet) in (0..).zip(faces.facets()) {
            let corners = [0, 1, 2].map(|corner| faces.vertices()[facet[corner] as usize]);
            let [a, b, c] = corners;
            let is_upper = (b - a).cross(c - a).normalize().y > 0.5;
            if let Some((position, cell)) = level.cell_3d(part) {
                let color = colors.of(cell, position, is_upper);
                triangles.add(corners.map(|corner| (corner, light(corner) * color)));
            }
        }
    }
    triangles.mesh().with_computed_flat_normals()
}

/// Returns the brightness of a corner, which is less if more cells around the corner are solid.
fn light<V: Copy>(nearby: &[V], is_solid: impl Fn(V) -> bool) -> f32 {
    let solid = nearby.iter().filter(|offset| is_solid(**offset)).count();
    1.3 - 0.8 * solid as f32 / nearby.len() as f32
}

impl CellColors {
    /// Returns the color of a cell or of its upper faces. The brightness differs from cell to cell
    /// as by chance, so that the cells can be told apart.
    fn of(&self, cell: Cell, position: IVec3, is_upper: bool) -> LinearRgba {
        let color = self.0[usize::from(cell.material())][usize::from(is_upper)].to_linear();
        let seed = position.dot(IVec3::new(0x1657, 0x2f29, 0x3b0d)) as u32;
        let chance = seed.wrapping_mul(0x9e37_79b9) >> 24;
        color * (0.85 + 0.15 * chance as f32 / 255.0)
    }
}

/// Triangles whose corners have colors.
#[derive(Default)]
struct Triangles {
    positions: Vec<Vec3>,
    colors: Vec<[f32; 4]>,
}

impl Triangles {
    fn add(&mut self, corners: [(Vec3, LinearRgba); 3]) {
        for (position, color) in corners {
            self.positions.push(position);
            self.colors.push(color.to_f32_array());
        }
    }

    fn mesh(self) -> Mesh {
        Mesh::new(PrimitiveTopology::TriangleList, default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.positions)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colors)
    }
}
