//! Why two entities do or do not collide: the sentence, and its drawing.

use bevy::{color::LinearRgba, math::Affine3A, prelude::*};

use crate::{
    Collider, Explanation, HeadbuttGizmos, PairStatus,
    debug::{
        contacts::{add_contact, marker_of, plane_of},
        layer::{Canvas, ColoredLine, LineLayer, arrow, cross},
        shapes::{TickResults, box_corners},
        wireframe::{Line, box_edges},
    },
    explain,
    math::Vec3,
};

/// Two entities, whose collision [`HeadbuttDebugPlugin`](crate::HeadbuttDebugPlugin) explains and
/// draws in each frame: see [`explain`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
/// #[derive(Component)]
/// struct Door;
///
/// fn select(
///     mut explained: ResMut<ExplainedPair>,
///     player: Single<Entity, With<Player>>,
///     door: Single<Entity, With<Door>>,
/// ) {
///     let pair = Some([*player, *door]);
///     // Written only if it differs, so that `show` prints only changes.
///     if explained.pair != pair {
///         explained.pair = pair;
///     }
/// }
///
/// fn show(explained: Res<ExplainedPair>) {
///     if explained.is_changed() {
///         println!("{}", explained.text());
///     }
/// }
/// ```
///
/// The outlines of both have a color of their own, even if they are
/// [hidden](crate::ColliderGizmo::Hidden). A contact is drawn with its normal, a distance as the
/// shortest line between the two shapes, and a gap between bounding boxes with both boxes. For all
/// other reasons, a line connects both entities.
///
/// The explanation is updated in `PostUpdate`, and changes only if its content does. It does not
/// depend on the switches of the drawing.
#[derive(Resource, Clone, Debug, Default)]
pub struct ExplainedPair {
    /// The entities, or `None` by default.
    pub pair: Option<[Entity; 2]>,
    explanation: Option<Explanation>,
}

impl ExplainedPair {
    /// Returns the explanation of the last frame, or `None` if there is no pair.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.explanation.as_ref()
    }

    /// Returns the explanation as text, which is empty if there is no pair.
    pub fn text(&self) -> String {
        let text = self.explanation.as_ref().map(ToString::to_string);
        text.unwrap_or_default()
    }
}

/// Returns `true` if there is a pair to explain, or an explanation to remove.
pub fn is_outdated(explained: Option<Res<ExplainedPair>>) -> bool {
    explained.is_some_and(|explained| explained.pair.is_some() || explained.explanation.is_some())
}

/// Updates the explanation.
pub fn explain_pair(world: &mut World) {
    let explained = world.get_resource::<ExplainedPair>();
    let pair = explained.and_then(|explained| explained.pair);
    let explanation = pair.map(|[entity, other]| explain(world, entity, other));
    // A `resource_scope` would mark the resource as changed.
    if let Some(mut explained) = world.get_resource_mut::<ExplainedPair>()
        && explained.explanation != explanation
    {
        explained.explanation = explanation;
    }
}

/// Draws the explanation.
pub fn draw_explanation(
    colliders: Query<(&Collider, &GlobalTransform)>,
    explained: Option<Res<ExplainedPair>>,
    tick: TickResults,
    mut layer: Local<LineLayer>,
    mut canvas: Canvas,
) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.explanation)
        && let Some(explanation) = explained.as_ref().and_then(|pair| pair.explanation())
        && let pair = [explanation.entity, explanation.other]
        && let Ok([first, second]) = colliders.get_many(pair)
    {
        let pose = |entity, (collider, pose)| tick.drawn_pose(entity, collider, pose, &settings);
        let sides = Sides {
            colliders: [first.0, second.0],
            poses: [pose(pair[0], first), pose(pair[1], second)],
            marker: marker_of([first, second]),
            plane: plane_of([first, second]),
        };
        lines = sides.lines(&explanation.status, &settings);
    }
    layer.update(lines, &mut canvas);
}

/// The drawn pair.
struct Sides<'a> {
    colliders: [&'a Collider; 2],
    poses: [Affine3A; 2],
    /// The size of crosses and arrowheads.
    marker: f32,
    /// The z at which 2D colliders are drawn.
    plane: Option<f32>,
}

impl Sides<'_> {
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

    /// Returns both boxes and an arrow across the gap between them, or `None` for a half-space.
    fn gap(&self, axis: Vec3, color: LinearRgba) -> Option<Vec<ColoredLine>> {
        let [a, b] = self.colliders;
        let [pose_a, pose_b] = self.poses;
        let (a, b) = (box_corners(a, pose_a)?, box_corners(b, pose_b)?);
        let edges = [a, b]
            .into_iter()
            .flat_map(|[min, max]| box_edges(min, max));
        let [middle, other_middle] = [a, b].map(|[min, max]| min.midpoint(max));
        // On the axis, from the face of the first box to the face of the second.
        let across = middle.midpoint(other_middle).reject_from(axis);
        let extent = |[min, max]: [Vec3; 2]| 0.5 * (max - min).dot(axis.abs());
        let start = across + axis * (middle.dot(axis) + extent(a));
        let end = across + axis * (other_middle.dot(axis) - extent(b));
        let arrow: [Line; 3] = arrow(start, end, self.marker);
        let lines = edges.chain(arrow);
        Some(lines.map(|line| (line, color)).collect())
    }
}
