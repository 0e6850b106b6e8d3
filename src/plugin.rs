//! [`HeadbuttPlugin`] and its options. Bevy calls `HeadbuttPlugin::build` once, which adds all
//! systems and resources of the tick.

use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

use crate::{
    CellGrid, Collider, ColliderOf, Colliders, CollidingEntities, CollisionEvent, CollisionLayers,
    Collisions, IgnoreCollisions, JoinedCollider, OneWay, PassThrough, RayCaster, Sensor,
    ShapeCaster, Swept, Teleported, pipeline,
    settings::{BroadPhase, OngoingEvents},
    spatial::casters,
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
/// By [`default`](Self::default), the plugin runs in `FixedPostUpdate`, once per fixed step. So a
/// move in `FixedUpdate` takes effect in the same tick. The plugin needs no other plugin and adds
/// none, and the order of plugins does not matter. (`MinimalPlugins` and `DefaultPlugins` provide
/// the fixed steps.)
///
/// The stages of a tick are the sets [`HeadbuttSystems`](crate::HeadbuttSystems). A run condition
/// must apply to all four sets, because each stage uses the results of the previous stage in the
/// same tick.
///
/// # Changes
///
/// A collider is read again if Bevy's change detection reports a change
///
/// * of the `Transform`, the collider, the layers, the owner, the `OneWay` or the parent of its
///   entity, or
/// * of the `Transform` or the parent of one of its ancestors.
///
/// If you change a component through `bypass_change_detection`, also call `set_changed`. Otherwise
/// the change takes effect only when another change causes the entity to be read again.
///
/// # Threads
///
/// Bevy's feature `multi_threaded` is on by default. With this feature, the plugin tests pairs on
/// all threads of the `ComputeTaskPool`. On a machine with two or three cores, Bevy gives this pool
/// only one thread. `TaskPoolOptions::compute` sets the number of threads.
///
/// # Memory
///
/// After a temporary peak of colliders or contacts, a list may be less than a quarter full. Such a
/// list frees its unused memory within 128 ticks. Bevy's list of messages also frees its unused
/// memory. Each valid collider has a slot in a list, which keeps all slots up to the last slot in
/// use.
/// The memory of Bevy's own tables is kept, too.
///
/// You may replace the resources of this crate, but do not remove them.
#[derive(Clone, Debug)]
pub struct HeadbuttPlugin {
    schedule: InternedScheduleLabel,
    /// The [`BroadPhase`] to insert, or `None` to keep the app's own setting.
    broad_phase: Option<BroadPhase>,
    /// The [`OngoingEvents`] to insert, or `None` to keep the app's own setting.
    ongoing: Option<OngoingEvents>,
}

impl HeadbuttPlugin {
    /// Creates a plugin that runs one tick in each run of `schedule`. Examples are `PostUpdate`,
    /// and the schedule that a rollback repeats.
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
    ///     // `after` has an effect only within one schedule.
    ///     .add_systems(Simulation, respond.after(HeadbuttSystems::Report));
    /// // A schedule of your own does not run by itself.
    /// app.world_mut().run_schedule(Simulation);
    ///
    /// fn respond(mut hits: MessageReader<CollisionEvent>) {
    ///     hits.clear();
    /// }
    /// ```
    ///
    /// Each run of the schedule sends messages. So if a rollback repeats ticks, their messages are
    /// sent again. Bevy keeps a message for at least two frames, and longer if no fixed step has
    /// run since.
    ///
    /// # While virtual time is paused
    ///
    /// No fixed step runs during a pause, so Bevy keeps every message for the next fixed step. If
    /// the plugin runs in every frame, messages accumulate: at 60 frames a second, 10,000 ongoing
    /// contacts take 60 MiB a second. The plugin cannot drop messages, because a reader in a fixed
    /// step may still need them. If your app reads no messages in fixed steps, let Bevy drop
    /// messages after two frames:
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
    /// Alternatively, choose [`OngoingEvents::OnChange`] or [`OngoingEvents::Never`]. Then contacts
    /// at rest send no messages.
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

    /// Returns this plugin with another setting for the messages of ongoing contacts.
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
        // `register_type` also registers the types of the fields, so these types are not listed.
        app.register_type::<Collider>()
            .register_type::<CollisionLayers>()
            .register_type::<ColliderOf>()
            .register_type::<Colliders>()
            .register_type::<IgnoreCollisions>()
            .register_type::<JoinedCollider>()
            .register_type::<OneWay>()
            .register_type::<PassThrough>()
            .register_type::<Sensor>()
            .register_type::<Swept>()
            .register_type::<Teleported>()
            .register_type::<CollidingEntities>()
            .register_type::<Collisions>()
            .register_type::<CollisionEvent>()
            .register_type::<CellGrid<Vec2>>()
            .register_type::<CellGrid<Vec3>>()
            .register_type::<RayCaster<Vec2>>()
            .register_type::<RayCaster<Vec3>>()
            .register_type::<ShapeCaster>()
            .register_type::<BroadPhase>()
            .register_type::<OngoingEvents>();
        #[cfg(not(feature = "record"))]
        let stages = [
            pipeline::sync::sync.into_configs(),
            pipeline::report::report.into_configs(),
        ];
        #[cfg(feature = "record")]
        let stages = crate::record::stages();
        pipeline::build(app, self.schedule, stages);
        casters::build(app, self.schedule);
    }
}
