//! The drawing of [`ExplainedPair`].

use bevy::{color::LinearRgba, math::Affine3A, prelude::*};

use crate::{
    Collider, HeadbuttGizmos, PairStatus,
    debug::{
        explained_pair::ExplainedPair,
        layer::{Canvas, ColoredLine, LineLayer},
        layers::{
            contacts::{add_contact, drawn_plane, marker_size},
            shapes::{TickResults, box_corners},
        },
        lines::{arrow, box_edges, cross},
    },
    math::Vec3,
};

/// Draws the explanation.
pub fn draw_explanation(
    colliders: Query<(&Collider, &GlobalTransform)>,
    explained: Res<ExplainedPair>,
    tick: TickResults,
    mut layer: Local<LineLayer>,
    mut canvas: Canvas,
) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.explanation)
        && let Some(explanation) = explained.explanation()
        && let pair = [explanation.entity, explanation.other]
        && let Ok([first, second]) = colliders.get_many(pair)
    {
        let pose = |entity, (collider, pose)| tick.drawn_pose(entity, collider, pose, &settings);
        let drawn = DrawnPair {
            colliders: [first.0, second.0],
            poses: [pose(pair[0], first), pose(pair[1], second)],
            marker: marker_size([first, second]),
            plane: drawn_plane([first, second]),
        };
        lines = drawn.lines(&explanation.status, &settings);
    }
    layer.update(lines, &mut canvas);
}

/// The drawn pair.
struct DrawnPair<'a> {
    colliders: [&'a Collider; 2],
    poses: [Affine3A; 2],
    /// The size of crosses and arrowheads.
    marker: f32,
    /// The z at which 2D colliders are drawn.
    plane: Option<f32>,
}

impl DrawnPair<'_> {
    fn lines(&self, status: &PairStatus, settings: &HeadbuttGizmos) -> Vec<ColoredLine> {
        let color = settings.colors.explanation.to_linear();
        match status {
            PairStatus::Touching(contact) | PairStatus::PassedThrough(contact) => {
                let settings = HeadbuttGizmos {
                    contact_points: true,
                    contact_normals: true,
                    ..*settings
                };
                let mut lines = Vec::new();
                add_contact(contact, self.marker, self.plane, &settings, &mut lines);
                lines
            }
            PairStatus::ShapesApart {
                point, other_point, ..
            } => self.shortest_line([*point, *other_point], color),
            PairStatus::BoxesApart { axis, .. } => self.gap(*axis, color).unwrap_or_default(),
            _ => {
                let origins = self.poses.map(|pose| Vec3::from(pose.translation));
                vec![(origins, color)]
            }
        }
    }

    /// Returns the line between two points, with crosses at its ends.
    fn shortest_line(&self, points: [Vec3; 2], color: LinearRgba) -> Vec<ColoredLine> {
        let points = points.map(|point| self.plane.map_or(point, |z| point.with_z(z)));
        let crosses = points.into_iter();
        let crosses = crosses.flat_map(|point| cross(point, self.marker, self.plane.is_some()));
        crosses.chain([points]).map(|line| (line, color)).collect()
    }

    /// Returns the edges of the two bounding boxes and an arrow across the gap between the boxes.
    /// Returns `None` if one collider is a half-space.
    fn gap(&self, axis: Vec3, color: LinearRgba) -> Option<Vec<ColoredLine>> {
        let [a, b] = self.colliders;
        let [pose_a, pose_b] = self.poses;
        let (a, b) = (box_corners(a, pose_a)?, box_corners(b, pose_b)?);
        let edges = [a, b]
            .into_iter()
            .flat_map(|[min, max]| box_edges(min, max));
        let [middle, other_middle] = [a, b].map(|[min, max]| min.midpoint(max));
        // The arrow is parallel to the axis, and runs from a face of the first box to a face of the
        // second box.
        let across = middle.midpoint(other_middle).reject_from(axis);
        let extent = |[min, max]: [Vec3; 2]| 0.5 * (max - min).dot(axis.abs());
        let start = across + axis * (middle.dot(axis) + extent(a));
        let end = across + axis * (other_middle.dot(axis) - extent(b));
        let lines = edges.chain(arrow(start, end, self.marker));
        Some(lines.map(|line| (line, color)).collect())
    }
}
