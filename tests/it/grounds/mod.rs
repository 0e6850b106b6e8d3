//! Tests colliders that are one ground (`JoinedCollider`): floors of boxes against closed forms,
//! and chunks of cells against the oracle of `cells/` and against a single grid.
//!
//! `cargo test` runs a small number of cases. To run more, for each test and dimension:
//!
//! ```text
//! HEADBUTT_JOINED=10000 cargo test --release --test it grounds:: -- --nocapture
//! HEADBUTT_CELLS=10000 cargo test --release --test it grounds:: -- --nocapture
//! ```

mod chunks;
mod floors;
mod members;

use bevy::prelude::*;
use headbutt::{CollisionEvent, Collisions, OngoingEvents, prelude::*};

/// Returns an app whose updates are ticks.
fn app() -> App {
    let mut app = App::new();
    let plugin = HeadbuttPlugin::in_schedule(Update).with_ongoing(OngoingEvents::EveryTick);
    app.add_plugins((MinimalPlugins, plugin));
    app
}

/// Returns all events since the last call.
fn events(app: &mut App) -> Vec<CollisionEvent> {
    let mut messages = app.world_mut().resource_mut::<Messages<CollisionEvent>>();
    messages.drain().collect()
}

fn collisions(app: &App) -> &Collisions {
    app.world().resource()
}

/// Spawns colliders as one ground.
fn spawn_ground(app: &mut App, members: impl IntoIterator<Item = (Transform, Collider)>) {
    for member in members {
        app.world_mut().spawn((member, JoinedCollider(1)));
    }
}

fn set_pose(app: &mut App, entity: Entity, pose: Transform) {
    *app.world_mut().get_mut(entity).expect("it has a pose") = pose;
}
