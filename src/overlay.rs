//! The diagnostics of recent ticks as text on the screen. [`HeadbuttOverlayPlugin`] adds the
//! systems, which run in `Update`.

use core::fmt::Write;
use std::collections::VecDeque;

use bevy::prelude::*;

use crate::{CollisionDiagnostics, CollisionEvent, diagnostics::measurements};

/// Shows counts and times of recent ticks at the top left of the screen. A key shows and hides the
/// text. Requires the feature `overlay`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// // In a game, `DefaultPlugins` adds Bevy's user interface.
/// App::new().add_plugins((
///     MinimalPlugins,
///     HeadbuttPlugin::default(),
///     HeadbuttOverlayPlugin { key: KeyCode::F3 },
/// ));
/// ```
///
/// The text is hidden until the key is pressed. Systems show and hide the text with the resource
/// [`HeadbuttOverlay`]. The text uses Bevy's default font, so the game needs Bevy's features
/// `bevy_ui_render` and `default_font`, which are on by default.
///
/// The counts belong to the last tick: see [`CollisionDiagnostics`]. Events are counted over the
/// last frame. The time of each stage is a mean over the last 60 frames that had a tick. If a frame
/// has several ticks, only its last tick counts. While the text is hidden, the plugin spawns and
/// computes nothing.
#[derive(Clone, Copy, Debug)]
pub struct HeadbuttOverlayPlugin {
    /// The key that shows and hides the text.
    pub key: KeyCode,
}

impl Default for HeadbuttOverlayPlugin {
    /// Creates a plugin with the key F3.
    fn default() -> Self {
        Self { key: KeyCode::F3 }
    }
}

/// The state of [`HeadbuttOverlayPlugin`], which the app may change at any time.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct HeadbuttOverlay {
    /// `true` if the text is visible.
    pub is_visible: bool,
}

/// Marks the text entity, which exists only while the text is visible.
#[derive(Component)]
struct OverlayText;

impl Plugin for HeadbuttOverlayPlugin {
    fn build(&self, app: &mut App) {
        let key = self.key;
        let toggle = move |keys: Res<ButtonInput<KeyCode>>,
                           mut overlay: ResMut<HeadbuttOverlay>| {
            if keys.just_pressed(key) {
                overlay.is_visible = !overlay.is_visible;
            }
        };
        let toggle = toggle.run_if(resource_exists::<ButtonInput<KeyCode>>);
        let is_visible = |overlay: Res<HeadbuttOverlay>| overlay.is_visible;
        app.init_resource::<HeadbuttOverlay>()
            .register_type::<HeadbuttOverlay>()
            .add_message::<CollisionEvent>()
            .add_systems(
                Update,
                (toggle, show_or_hide, update.run_if(is_visible)).chain(),
            );
    }
}

/// Spawns or despawns the text.
fn show_or_hide(
    overlay: Res<HeadbuttOverlay>,
    texts: Query<Entity, With<OverlayText>>,
    mut commands: Commands,
) {
    if overlay.is_visible && texts.is_empty() {
        let node = Node {
            position_type: PositionType::Absolute,
            top: px(8),
            left: px(8),
            padding: px(6).all(),
            ..Node::default()
        };
        let background = BackgroundColor(Color::srgba(0.0, 0.0, 0.0, 0.7));
        let font = TextFont::from_font_size(14.0);
        let above_all = GlobalZIndex(i32::MAX);
        let text = Text::new("no tick");
        let name = Name::new("headbutt overlay");
        commands.spawn((OverlayText, name, text, font, node, background, above_all));
    }
    if !overlay.is_visible {
        texts
            .iter()
            .for_each(|entity| commands.entity(entity).despawn());
    }
}

/// The number of ticks over which times are averaged.
const TICKS: usize = 60;

/// Adds the last tick to the averages, and updates the text.
fn update(
    latest: Option<Res<CollisionDiagnostics>>,
    mut events: MessageReader<CollisionEvent>,
    mut ticks: Local<VecDeque<CollisionDiagnostics>>,
    mut texts: Query<&mut Text, With<OverlayText>>,
) {
    let count = events.read().count();
    let Some(latest) = latest.filter(|latest| latest.is_changed()) else {
        return;
    };
    ticks.truncate(TICKS - 1);
    ticks.push_front(*latest);
    for mut text in &mut texts {
        text.0 = diagnostics_text(&latest, count, &ticks);
    }
}

/// Returns the text, with a line for each count and each mean time.
fn diagnostics_text(
    latest: &CollisionDiagnostics,
    events: usize,
    ticks: &VecDeque<CollisionDiagnostics>,
) -> String {
    let mut text = format!("{:<12}{events:>9}", "events");
    let mut total = 0.0;
    for (path, unit, value) in measurements() {
        let name = path.as_str().replace("headbutt/", "").replace('_', " ");
        // Writing to a `String` never fails.
        let _ = if unit.is_empty() {
            write!(text, "\n{name:<12}{:>9}", value(latest))
        } else {
            let mean = ticks.iter().map(value).sum::<f64>() / ticks.len() as f64;
            total += mean;
            write!(text, "\n{name:<12}{mean:>9.3} {unit}")
        };
    }
    let _ = write!(text, "\n{:<12}{total:>9.3} ms", "total");
    text
}
