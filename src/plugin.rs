//! The plugin.

use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

use crate::{
    Collider, CollidingEntities, CollisionEvent, CollisionLayers, CollisionState,
    pipeline::{self, BroadPhase, OngoingEvents},
};

/// Detects collisions between all entities with a [`Collider`](crate::Collider).
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// App::new().add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
/// ```
///
/// By [`default`](Self::default) it runs in `FixedPostUpdate`, once each fixed step: what moves in `FixedUpdate` counts
/// in the same tick. It needs no other plugin and adds none (the fixed steps themselves come with `MinimalPlugins` or
/// `DefaultPlugins`), and the order of plugins does not matter. The stages of a tick are
/// [`HeadbuttSystems`](crate::HeadbuttSystems): with a run condition, let all of them run or none, because what the first has seen
/// the others act upon in the same tick.
///
/// Work is shared out to the threads of Bevy's `ComputeTaskPool`, if there are two at least: with Bevy's feature `multi_threaded`,
/// which is among its default ones. On a machine of two or three cores
/// Bevy gives it one by default, and the others to loading: `min_threads` of `TaskPoolOptions::compute` is for that.
///
/// The resources of this crate are taken for there: an app may replace them, and not remove them.
#[derive(Clone, Debug)]
pub struct HeadbuttPlugin {
    schedule: InternedScheduleLabel,
    /// `None` leaves it to the resource, which the app may have inserted.
    broad_phase: Option<BroadPhase>,
    /// Likewise.
    ongoing: Option<OngoingEvents>,
}

impl HeadbuttPlugin {
    /// Runs a tick each time `schedule` runs: `PostUpdate`, say, or the schedule that a rollback repeats.
    ///
    /// ```
    /// use bevy::{ecs::schedule::ScheduleLabel, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    /// struct Simulation;
    ///
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Simulation)))
    ///     // In the same schedule: the order of systems in different ones is that of the schedules.
    ///     .add_systems(Simulation, respond.after(HeadbuttSystems::Report));
    /// app.world_mut().run_schedule(Simulation); // a schedule of your own is yours to run
    ///
    /// fn respond(mut hits: MessageReader<CollisionEvent>) {
    ///     hits.clear();
    /// }
    /// ```
    ///
    /// Each run writes its messages: a rollback that repeats ticks repeats them too. Bevy keeps a message for two frames
    /// or, with the fixed time step in use, until fixed steps have had the chance to read it.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
            broad_phase: None,
            ongoing: None,
        }
    }

    /// Chooses where the candidate pairs come from: see [`CandidatePairs`](crate::CandidatePairs).
    #[must_use]
    pub fn with_broad_phase(self, broad_phase: BroadPhase) -> Self {
        Self {
            broad_phase: Some(broad_phase),
            ..self
        }
    }

    /// Chooses when contacts that go on are told again.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // For a game that asks for beginnings and ends alone: nothing is sent while things rest on each other.
    /// let plugin = HeadbuttPlugin::default().with_ongoing(OngoingEvents::Never);
    /// App::new().add_plugins((MinimalPlugins, plugin));
    /// ```
    #[must_use]
    pub fn with_ongoing(self, ongoing: OngoingEvents) -> Self {
        Self {
            ongoing: Some(ongoing),
            ..self
        }
    }
}

impl Default for HeadbuttPlugin {
    /// In `FixedPostUpdate`.
    fn default() -> Self {
        Self::in_schedule(FixedPostUpdate)
    }
}

impl Plugin for HeadbuttPlugin {
    fn build(&self, app: &mut App) {
        if let Some(broad_phase) = self.broad_phase {
            app.insert_resource(broad_phase);
        }
        if let Some(ongoing) = self.ongoing {
            app.insert_resource(ongoing);
        }
        // What these hold is registered with them.
        app.register_type::<Collider>()
            .register_type::<CollisionLayers>()
            .register_type::<CollidingEntities>()
            .register_type::<CollisionState>()
            .register_type::<CollisionEvent>();
        pipeline::build(app, self.schedule);
    }
}
