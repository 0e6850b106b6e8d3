//! Filled shapes for 2D.

use bevy::{ecs::system::SystemParam, prelude::*};

/// Makes the meshes and the materials of shapes.
#[derive(SystemParam)]
pub struct Paint<'w> {
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<ColorMaterial>>,
}

impl Paint<'_> {
    /// Returns the components that draw a shape, filled with a color.
    pub fn fill(
        &mut self,
        shape: impl Into<Mesh>,
        color: Color,
    ) -> (Mesh2d, MeshMaterial2d<ColorMaterial>) {
        (
            Mesh2d(self.meshes.add(shape)),
            MeshMaterial2d(self.materials.add(color)),
        )
    }
}
