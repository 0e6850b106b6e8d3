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
use headbutt::{OngoingEvents, prelude::*};

use crate::cells::edits::{self, collisions, events};

fn app() -> App {
    edits::app(OngoingEvents::EveryTick)
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
