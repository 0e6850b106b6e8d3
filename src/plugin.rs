//! The plugin.

use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

use crate::{
    Collider, CollidingEntities, CollisionEvent, CollisionLayers, Collisions, pipeline,
    settings::{BroadPhase, OngoingEvents},
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
/// By [`default`](Self::default) it runs in `FixedPostUpdate`, once each fixed step: a move in
/// `FixedUpdate` counts in the same tick. It needs no other plugin and adds none, and the order of
/// plugins does not matter. (The fixed steps come with `MinimalPlugins` or `DefaultPlugins`.)
///
/// The stages of a tick are the sets [`HeadbuttSystems`](crate::HeadbuttSystems). A run condition
/// must apply to all of them, because each stage uses what the one before it found in the same
/// tick.
///
/// # Changes
///
/// A collider is read again if Bevy's change detection reports a change
///
/// * of the `Transform`, the collider, the layers or the parent of its entity, or
/// * of the `Transform` or the parent of one of its ancestors.
///
/// After a change through `bypass_change_detection`, call `set_changed`. Otherwise the change takes
/// effect only when something else causes the entity to be read again.
///
/// # Threads
///
/// With Bevy's feature `multi_threaded`, which is on by default, pairs are tested on all threads of
/// the `ComputeTaskPool`, if there are at least two. On a machine of two or three cores, Bevy gives
/// this pool one thread: `TaskPoolOptions::compute` changes that.
///
/// # Memory
///
/// Memory for a burst of colliders or contacts is freed gradually, a few MiB per tick, after 64
/// ticks without use. Slots are kept up to the last remaining collider, and Bevy's own tables keep
/// their memory. A list of messages is freed at once, on a thread of the `AsyncComputeTaskPool`.
/// Without that pool, freeing a gigabyte of messages delays one tick.
///
/// Do not remove this crate's resources. Replacing them is fine.
#[derive(Clone, Debug)]
pub struct HeadbuttPlugin {
    schedule: InternedScheduleLabel,
    /// `None` keeps the resource that the app may have inserted.
    broad_phase: Option<BroadPhase>,
    /// `None` keeps the resource that the app may have inserted.
    ongoing: Option<OngoingEvents>,
}

impl HeadbuttPlugin {
    /// Creates a plugin that runs a tick each time `schedule` runs: for example `PostUpdate`, or
    /// the schedule that a rollback repeats.
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
    ///     // `after` orders systems of the same schedule.
    ///     .add_systems(Simulation, respond.after(HeadbuttSystems::Report));
    /// // A schedule of your own does not run by itself.
    /// app.world_mut().run_schedule(Simulation);
    ///
    /// fn respond(mut hits: MessageReader<CollisionEvent>) {
    ///     hits.clear();
    /// }
    /// ```
    ///
    /// Each run writes its messages: a rollback that repeats ticks repeats their messages. Bevy
    /// keeps a message for two frames, or until a fixed step was able to read it.
    ///
    /// # While virtual time is paused
    ///
    /// A pause has no fixed steps, so Bevy keeps every message for them. In a schedule that runs
    /// every frame, the messages pile up: at 60 frames a second, 10,000 ongoing contacts take 60
    /// MiB a second. The plugin cannot drop them, because a reader in a fixed step may still need
    /// them. If your app reads no messages in fixed steps, let Bevy drop messages after two frames:
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
    /// With [`OngoingEvents::OnChange`] or `Never`, contacts at rest send no messages.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
            broad_phase: None,
            ongoing: None,
        }
    }

    /// Returns this plugin with another source of candidate pairs: see
    /// [`CandidatePairs`](crate::CandidatePairs).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // A system in `HeadbuttSystems::BroadPhase` fills `CandidatePairs`.
    /// let plugin = HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom);
    /// App::new().add_plugins((MinimalPlugins, plugin));
    /// ```
    #[must_use]
    pub fn with_broad_phase(self, broad_phase: BroadPhase) -> Self {
        Self {
            broad_phase: Some(broad_phase),
            ..self
        }
    }

    /// Returns this plugin with another rule for when ongoing contacts are reported.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// // For a game that needs only starts and ends: contacts at rest send nothing.
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
    /// Creates a plugin that runs in `FixedPostUpdate`.
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
        // The types of their fields are registered with them.
        app.register_type::<Collider>()
            .register_type::<CollisionLayers>()
            .register_type::<CollidingEntities>()
            .register_type::<Collisions>()
            .register_type::<CollisionEvent>();
        pipeline::build(app, self.schedule);
    }
}
