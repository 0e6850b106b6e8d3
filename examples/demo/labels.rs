//! Text that follows an entity on the screen, in 2D and 3D.

use bevy::prelude::*;

use super::INK;

/// The width in pixels of a label, whose text is centered.
const WIDTH: f32 = 300.0;

/// Text below an entity.
#[derive(Component)]
pub struct Label {
    target: Entity,
    /// The distance of the label below the target on the screen, in units of the world.
    below: f32,
}

/// Returns a label for an entity, which must have no parent.
pub fn label(text: &str, target: Entity, below: f32) -> impl Bundle {
    (
        Label { target, below },
        Text::new(text),
        TextFont::from_font_size(20.0),
        TextColor(INK),
        TextLayout::justify(Justify::Center),
        Node {
            position_type: PositionType::Absolute,
            width: px(WIDTH),
            ..default()
        },
    )
}

/// Moves the labels.
///
/// The function reads `Transform`, because `GlobalTransform` is computed later in the frame. For
/// entities without a parent, both poses are the same.
pub fn place(
    camera: Single<(&Camera, &Transform)>,
    targets: Query<&Transform>,
    mut labels: Query<(&Label, &mut Node)>,
) {
    let (camera, view) = *camera;
    for (label, mut node) in &mut labels {
        let Ok(target) = targets.get(label.target) else {
            continue;
        };
        let point = target.translation + label.below * view.down();
        if let Ok(position) = camera.world_to_viewport(&GlobalTransform::from(*view), point) {
            let (left, top) = (px(position.x - 0.5 * WIDTH), px(position.y));
            if (node.left, node.top) != (left, top) {
                (node.left, node.top) = (left, top);
            }
        }
    }
}
