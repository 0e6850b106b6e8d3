//! The drawing of half-spaces: a grid in the part of the plane that the camera sees.

use bevy::{camera::Camera, math::Affine3A, prelude::*};

use crate::{
    Collider, ConvexView, Shape, ShapeView, debug::lines::LineSegment, math::Vec3,
    shape::Dimension, space::DVector,
};

/// The number of cells from the center of a grid to its edge.
const CELLS: i16 = 8;

/// A part of the plane that bounds a half-space in 3D, or of the line that bounds a half-space in
/// 2D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundGrid {
    center: Vec3,
    normal: Vec3,
    cell: f32,
    is_2d: bool,
}

impl GroundGrid {
    /// Returns the grid of a half-space in its own frame, with cells of size 1. Returns `None` for
    /// any other shape.
    pub fn unit<V: Dimension>(shape: &ConvexView<V>) -> Option<Self> {
        let Shape::HalfSpace { normal } = shape.shape() else {
            return None;
        };
        let normal = normal.to_vec3().normalize_or_zero();
        Some(Self {
            center: normal * shape.margin(),
            normal,
            cell: 1.0,
            is_2d: V::DVec::DIMENSION == 2,
        })
    }

    /// Returns the part of a half-space that a camera sees, in the world. Returns `None` if the
    /// collider is not a half-space, or the pose is singular.
    pub fn of(collider: &Collider, pose: &Affine3A, camera: &Viewpoint) -> Option<Self> {
        let unit = match (collider.shape_2d(), collider.shape_3d()) {
            (Some(ShapeView::Convex(shape)), _) => Self::unit(&shape)?,
            (_, Some(ShapeView::Convex(shape))) => Self::unit(&shape)?,
            _ => return None,
        };
        let center = pose.transform_point3(unit.center);
        // A plane's normal is mapped by the inverse transpose.
        let normal = (pose.matrix3.inverse().transpose() * unit.normal).try_normalize()?;
        let offset = camera.position - center;
        let mut ground = Self {
            center,
            normal,
            cell: camera.cell_at(offset.dot(normal).abs()),
            is_2d: unit.is_2d,
        };
        let cell = ground.cell;
        // The center moves in steps of a cell, so that the lines rarely change.
        for axis in ground.tangents() {
            ground.center += axis * (offset.dot(axis) / cell).round() * cell;
        }
        Some(ground)
    }

    /// Returns the axes of the grid. In 2D, the second axis is zero.
    fn tangents(&self) -> [Vec3; 2] {
        if self.is_2d {
            return [self.normal.cross(Vec3::Z), Vec3::ZERO];
        }
        self.normal.any_orthonormal_pair().into()
    }

    /// Returns the lines of the grid. In 2D, the grid is a line with hatches on the solid side.
    pub fn lines(&self) -> Vec<LineSegment> {
        let [right, up] = self.tangents().map(|axis| axis * self.cell);
        let reach = f32::from(CELLS);
        let steps = (-CELLS..=CELLS).map(f32::from);
        if self.is_2d {
            let hatch = (right + self.normal * self.cell) * -0.5;
            let hatches = steps.map(|step| self.center + right * step);
            let hatches = hatches.map(|start| [start, start + hatch]);
            let ends = [self.center - right * reach, self.center + right * reach];
            return hatches.chain([ends]).collect();
        }
        let across = |along: Vec3, step: Vec3| {
            [
                self.center + step - along * reach,
                self.center + step + along * reach,
            ]
        };
        steps
            .flat_map(|step| [across(right, up * step), across(up, right * step)])
            .collect()
    }
}

/// The viewpoint of the camera that is rendered first.
#[derive(Clone, Copy, Debug)]
pub struct Viewpoint {
    position: Vec3,
    /// The extent of an orthographic view, or `None` for other views.
    extent: Option<f32>,
}

impl Viewpoint {
    /// Returns the viewpoint of the active camera with the lowest order, if there is one.
    pub fn of_first(
        cameras: &Query<(&Camera, Option<&Projection>, &GlobalTransform)>,
    ) -> Option<Self> {
        let active = cameras.iter().filter(|(camera, ..)| camera.is_active);
        let (_, projection, pose) = active.min_by_key(|(camera, ..)| camera.order)?;
        let extent = match projection {
            Some(Projection::Orthographic(view)) => Some(view.area.size().max_element()),
            _ => None,
        };
        let position = pose.translation();
        position.is_finite().then_some(Self { position, extent })
    }

    /// Returns the cell size, a power of 2, at which a grid fills the view. `distance` is the
    /// distance from the camera to the plane.
    fn cell_at(&self, distance: f32) -> f32 {
        let extent = self.extent.unwrap_or(4.0 * distance).clamp(1e-3, 1e6);
        (extent / f32::from(CELLS)).log2().ceil().exp2()
    }
}
