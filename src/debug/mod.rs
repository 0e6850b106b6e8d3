//! Debug drawing: outlines of colliders, their boxes, contacts, paths, casts and the explanation of
//! a pair, as Bevy gizmos. [`HeadbuttDebugPlugin`] adds the drawing systems, which run once per
//! frame, in `PostUpdate`.
//!
//! | file | contents |
//! |---|---|
//! | `settings.rs` | [`HeadbuttGizmos`], what is drawn, and [`ColliderGizmo`], for one entity |
//! | `silhouette.rs` | the outline of any convex shape, from its support function |
//! | `wireframe.rs` | the lines of each kind of collider, in its own frame |
//! | `ground.rs` | half-spaces: a grid near the camera |
//! | `lines.rs` | arrows, crosses and boxes |
//! | `layer.rs` | a list of lines that Bevy keeps drawing: a retained gizmo |
//! | `layers/` | the systems that fill the layers |
//! | `explained_pair.rs` | [`ExplainedPair`], the pair whose explanation is drawn |
//!
//! **Everything is retained.** A layer stays on the screen until its lines change, so a scene at
//! rest changes no gizmo. The wireframe of a shape is computed once, in the collider's own frame.
//! The image of this wireframe under an affine map is a wireframe of the shape's image. So moving
//! or scaling a collider only maps points.
//!
//! **Drawing costs the tick nothing.** The drawing systems read the components and the results of
//! the tick. These systems use no [`SpatialQuery`](crate::SpatialQuery), because its index would
//! cost time in each tick. While [`HeadbuttGizmos::queries`] is on, `spatial/query_log.rs` records
//! the queries of the app.
//!
//! A new kind of drawing needs:
//!
//! * a switch in `settings.rs`. `none()` also sets the switch, and if the switch is off by default,
//!   `all()` sets it, too. Both functions take all other fields from `default()`.
//! * its colors in [`ColliderColors`]
//! * a system in `layers/` that fills a layer, and a line in `HeadbuttDebugPlugin::build` that adds
//!   this system
//! * its rows in `docs/DEBUGGING.md`, which lists the switches and the colors

mod explained_pair;
mod ground;
mod layer;
mod layers;
mod lines;
mod settings;
mod silhouette;
mod wireframe;

pub use explained_pair::ExplainedPair;
pub use settings::{ColliderColors, ColliderGizmo, GizmoPoses, HeadbuttGizmos};

use bevy::prelude::*;

use crate::{
    Collisions,
    debug::layers::{casters, contacts, explanation, paths, queries, shapes},
    pipeline::{HeadbuttSystems, narrow_phase::found_contacts::FoundContacts},
    spatial::query_log::QueryLog,
};

/// Draws the colliders, contacts and casts of a running app. Requires the feature `debug-plugin`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// // In a game, `DefaultPlugins` adds Bevy's gizmos.
/// App::new().add_plugins((MinimalPlugins, HeadbuttPlugin::default(), HeadbuttDebugPlugin));
/// ```
///
/// The plugin draws with Bevy's gizmos, so the game needs Bevy's feature `bevy_gizmos_render`,
/// which is on by default. Without a renderer, or without `HeadbuttPlugin`, the plugin draws
/// nothing and reports no error, so a server can keep the plugin.
///
/// # What is drawn
///
/// * The outline of each collider, exact under every scale. 2D shapes are drawn as outlines, and
///   polyhedra and meshes by their edges. A ball has three great circles, and a half-space is a
///   grid near the camera. The color shows the state of the collider: see [`ColliderColors`].
/// * The points and normals of contacts.
/// * The rays and shapes of [`RayCaster`](crate::RayCaster) and
///   [`ShapeCaster`](crate::ShapeCaster).
/// * The paths of [`Swept`](crate::Swept) colliders, and their first touches.
/// * The reason why two entities do or do not collide: see [`ExplainedPair`].
/// * Bounding boxes, and the rays and casts of [`SpatialQuery`](crate::SpatialQuery), both off by
///   default.
///
/// Invisible entities are drawn as well, because an invisible wall collides, too.
///
/// # Settings
///
/// [`HeadbuttGizmos`] is the group of these gizmos in Bevy's `GizmoConfigStore`. The group has a
/// switch for each kind of line, and the store has the line width and the render layers.
/// [`ColliderGizmo`] hides an entity or gives it a color. Your own systems can draw in the same
/// group, with `Gizmos<HeadbuttGizmos>`. All settings may change at any time:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn toggle(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
///     if keys.just_pressed(KeyCode::F1) {
///         let (config, _) = store.config_mut::<HeadbuttGizmos>();
///         config.enabled = !config.enabled;
///     }
///     if keys.just_pressed(KeyCode::F2) {
///         let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
///         gizmos.boxes = !gizmos.boxes;
///         config.line.width = 3.0;
///     }
/// }
/// ```
///
/// # Cost
///
/// The systems run in `PostUpdate`, after the transforms are propagated. Lines are kept until they
/// change: a scene at rest changes no gizmo, and the lines of a moving collider are mapped, not
/// computed again. Colliders share gizmos, so that thousands of colliders need few draw calls. The
/// lines belong to entities with Bevy's `Gizmo`. If you save the whole world as a scene, leave
/// these entities out.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadbuttDebugPlugin;

impl Plugin for HeadbuttDebugPlugin {
    fn build(&self, app: &mut App) {
        let mut store = app.world_mut().get_resource_or_init::<GizmoConfigStore>();
        if store.get_config::<HeadbuttGizmos>().is_none() {
            store.insert(GizmoConfig::default(), HeadbuttGizmos::default());
        }
        app.register_type::<HeadbuttGizmos>()
            .register_type::<ColliderGizmo>()
            .init_resource::<ExplainedPair>()
            .init_resource::<QueryLog>()
            .add_systems(FixedFirst, |log: Res<QueryLog>| log.begin_step())
            .add_systems(
                RunFixedMainLoop,
                (|log: Res<QueryLog>| log.end_steps())
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(
                PostUpdate,
                (
                    explained_pair::explain_pair.run_if(explained_pair::is_outdated),
                    (
                        shapes::draw_shapes,
                        contacts::draw_contacts.run_if(resource_exists::<Collisions>),
                        casters::draw_casters,
                        paths::draw_paths.run_if(resource_exists::<FoundContacts>),
                        queries::draw_queries,
                        explanation::draw_explanation,
                    )
                        .after(TransformSystems::Propagate)
                        .run_if(resource_exists::<Assets<GizmoAsset>>)
                        .run_if(resource_exists::<Messages<AssetEvent<GizmoAsset>>>),
                )
                    .chain()
                    .after(HeadbuttSystems::Report),
            );
    }

    /// Adds Bevy's systems that let the app draw with `Gizmos<HeadbuttGizmos>`. These systems panic
    /// without the assets of Bevy's gizmo plugin, which the app may add after this plugin.
    fn finish(&self, app: &mut App) {
        let store = app.world().get_resource::<GizmoConfigStore>();
        let settings = store.and_then(|store| store.get_config::<HeadbuttGizmos>());
        let settings = settings.map(|(config, gizmos)| (config.clone(), *gizmos));
        if let Some((config, gizmos)) = settings
            && app.world().contains_resource::<Assets<GizmoAsset>>()
        {
            app.insert_gizmo_config(gizmos, config);
        }
    }
}
