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
/// Colliders are read again when Bevy notes a change: of the `Transform`, the collider, the layers
/// or the parent of an entity, or of the `Transform` or the parent of one of its ancestors. A move
/// by `bypass_change_detection` is no such change. It may stay unseen for any time, and shows when
/// something else has the entity read again, such as a change of an entity above or below it, or of
/// what is in its table. Call `set_changed` after it.
///
/// Work is shared out to the threads of Bevy's `ComputeTaskPool`, if there are two at least: with Bevy's feature `multi_threaded`,
/// which is among its default ones. On a machine of two or three cores
/// Bevy gives it one by default, and the others to loading: `min_threads` of `TaskPoolOptions::compute` is for that.
///
/// Memory that a burst of colliders or contacts has needed is given back once it was not needed for
/// 64 ticks, in steps of some MiB a tick. Slots are kept up to the last collider that is left, and
/// Bevy's own tables keep their memory. The lists of Bevy's messages are replaced at once, and
/// freed on a thread of Bevy's `AsyncComputeTaskPool`: without one, freeing a gigabyte of messages
/// holds up one tick.
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
    ///
    /// # While virtual time is paused
    ///
    /// Bevy keeps every message until a fixed step had the chance to read it, and a pause has no
    /// fixed steps. So the messages of a schedule that runs every frame pile up: at 60 frames a
    /// second, 10,000 ongoing contacts take 60 MiB a second. The plugin cannot drop them, because a
    /// reader in a fixed step is still to see them. An app that reads no messages in fixed steps
    /// tells Bevy, in each frame of a pause, to drop all kinds of messages after two frames as
    /// usual:
    ///
    /// ```
    /// use bevy::{ecs::message::signal_message_update_system, prelude::*};
    /// use headbutt::prelude::*;
    ///
    /// fn is_paused(time: Res<Time<Virtual>>) -> bool {
    ///     time.effective_speed() == 0.0
    /// }
    ///
    /// App::new()
    ///     .add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(PostUpdate)))
    ///     .add_systems(Last, signal_message_update_system.run_if(is_paused));
    /// ```
    ///
    /// With [`OngoingEvents::OnChange`] or `Never`, contacts at rest send no messages at all.
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
