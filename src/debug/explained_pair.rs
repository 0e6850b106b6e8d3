//! The pair whose collision is explained.

use bevy::prelude::*;

use crate::{Explanation, explain};

/// Two entities whose collision [`HeadbuttDebugPlugin`](crate::HeadbuttDebugPlugin) explains and
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
///     // The pair is written only if it differs, so that `show` prints only changes.
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
/// The outlines of both entities have a color of their own, even if the entities are
/// [hidden](crate::ColliderGizmo::Hidden). The other lines depend on the
/// [status](crate::PairStatus):
///
/// * For a contact, its points and its normal are drawn.
/// * For separated shapes, the shortest line between them is drawn.
/// * For separated bounding boxes, both boxes are drawn, and an arrow across the gap.
/// * For any other status, a line connects the origins of both entities.
///
/// A system in `PostUpdate` updates the explanation, and marks this resource as changed only if the
/// explanation changes. The explanation ignores the drawing settings.
#[derive(Resource, Clone, Debug, Default)]
pub struct ExplainedPair {
    /// The two entities. The default is `None`.
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
pub fn is_outdated(explained: Res<ExplainedPair>) -> bool {
    explained.pair.is_some() || explained.explanation.is_some()
}

/// Updates the explanation.
pub fn explain_pair(world: &mut World) {
    let pair = world.resource::<ExplainedPair>().pair;
    let explanation = pair.map(|[entity, other]| explain(world, entity, other));
    // The explanation is written only if it differs. A `resource_scope` would always mark the
    // resource as changed.
    let mut explained = world.resource_mut::<ExplainedPair>();
    if explained.explanation != explanation {
        explained.explanation = explanation;
    }
}
