//! First stage: updates the proxies from the colliders and their poses. The system [`sync()`] runs
//! once per tick.
//!
//! For unchanged colliders, only Bevy's change ticks are read. So a resting collider costs next to
//! nothing. The stage detects every kind of change:
//!
//! * Bevy's change ticks show that a `Transform`, a collider, layers or a parent changed: see
//!   [`change_ticks`].
//! * Changed rows of Bevy's tables show that an entity was spawned, despawned, disabled or enabled,
//!   or that a component was added or removed: see [`table_history`].
//! * The copies of [`IgnoreCollisions`](crate::IgnoreCollisions) from the previous tick show which
//!   exceptions were added or removed: see `exceptions.rs`.
//! * The copies of [`OneWay`](crate::OneWay) show changed directions and margins: see
//!   `one_ways.rs`.
//! * The copies of [`JoinedCollider`](crate::JoinedCollider) show members that came or went: see
//!   `grounds.rs`.
//! * Change ticks and the number of ancestors show that an ancestor changed: see [`ancestors`].
//!
//! [`scan`] is the pass that finds all these changes. Most changes are moves, which are queued, and
//! applied on all threads: see [`moves`].
//!
//! With the feature `mesh`, `mesh_assets.rs` builds colliders from meshes before this stage.
//!
//! [`sync_now`] updates the proxies between two ticks, for spatial queries. The function adds its
//! changes to the next tick's list of changes. So the next tick tests every pair that it would test
//! without the call. The tick may also test other pairs, whose contacts have not changed.

mod ancestors;
mod change_ticks;
mod exceptions;
mod grounds;
#[cfg(feature = "mesh")]
pub mod mesh_assets;
mod moves;
mod one_ways;
mod scan;
mod table_history;

pub use change_ticks::LastRun;
#[cfg(feature = "record")]
pub use scan::warn;

use bevy::{ecs::entity_disabling::Disabled, platform::time::Instant, prelude::*};

use crate::{
    buffer::Buffer,
    collision::Collisions,
    diagnostics::CollisionDiagnostics,
    pipeline::{
        filters::mark_filtered,
        progress::{Completed, Progress},
        proxies::Proxies,
        spatial_index::SpatialIndex,
        swept::{SweptPaths, Teleported, remove_teleported},
        sync::{
            ancestors::{AncestorReader, AncestryCache},
            change_ticks::{ChangeWindow, Chunk, Columns},
            exceptions::{ExceptionQuery, update_exceptions},
            grounds::{Grounds, JoinedQuery, RenumberedParts},
            moves::MoveQueue,
            one_ways::{OneWayQuery, update_one_ways},
            scan::Scan,
            table_history::TableHistory,
        },
    },
    settings::BroadPhase,
};

/// The stage's buffers and its record of the previous run.
#[derive(Resource, Default)]
pub struct SyncState {
    /// The first run creates the queries, because a query ignores disabling components that are
    /// registered later.
    queries: Option<SyncQueries>,
    /// `true` if the list of changes contains changes that [`sync_now`] found since the last tick.
    pub has_early_changes: bool,
    grounds: Grounds,
    history: TableHistory,
    ancestry: AncestryCache,
    displaced: Buffer<Entity>,
    moves: MoveQueue,
}

#[derive(FromWorld)]
struct SyncQueries {
    colliders: QueryState<Columns>,
    exceptions: ExceptionQuery,
    one_ways: OneWayQuery,
    joined: JoinedQuery,
}

/// Updates [`Proxies`] from the colliders that Bevy's default query filters include.
pub fn sync(
    world: &mut World,
    teleported: &mut QueryState<Entity, (With<Teleported>, Allow<Disabled>)>,
) {
    let start = Instant::now();
    let is_restart = world.resource_mut::<Progress>().begin_tick();
    with_state(world, |world, state, proxies, paths, index| {
        if is_restart {
            *index = SpatialIndex::default();
            *state = SyncState::default();
            proxies.reset();
        }
        if !core::mem::take(&mut state.has_early_changes) {
            proxies.begin_tick();
            paths.begin_tick(proxies);
        }
        mark_restored(world, proxies, is_restart);
        let ancestors = state.update(world, proxies);
        index.update(proxies);
        index.end_tick();
        mark_filtered(world, proxies);
        // If the resource were marked as changed, its contacts would count as restored.
        let mut collisions = world.resource_mut::<Collisions>();
        paths.find(proxies, collisions.bypass_change_detection(), is_restart);
        let mut diagnostics = world.resource_mut::<CollisionDiagnostics>();
        diagnostics.colliders = proxies.d2.count() + proxies.d3.count();
        diagnostics.changed = proxies.d2.changed().len() + proxies.d3.changed().len();
        diagnostics.ancestors = ancestors;
        diagnostics.indexed = index.len();
    });
    world.resource_mut::<Progress>().completed = Completed::Sync;
    remove_teleported(world, teleported);
    world.resource_mut::<CollisionDiagnostics>().sync = start.elapsed();
}

/// Makes spawns, moves and all other changes since the last tick visible to
/// [`SpatialQuery`](crate::SpatialQuery), without a tick.
///
/// A spatial query uses the poses that the colliders had in the last
/// [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync). Call this function if a query must take
/// later changes into account, for example changes of the same frame. A call costs as much as the
/// stage `Sync`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Tower;
///
/// fn place_towers(mut commands: Commands) {
///     commands.spawn((Tower, Collider::circle(1.0)));
///     // Commands run in order. A system with `&mut World` calls the function directly.
///     commands.queue(headbutt::sync_now);
/// }
/// ```
///
/// The next tick reports the same events as without the call.
///
/// The function does nothing between `HeadbuttSystems::Sync` and
/// [`Report`](crate::HeadbuttSystems::Report) of a tick, or after a tick that a panic aborted. A
/// `ColliderFromMesh` gets its collider in the next tick, not earlier.
pub fn sync_now(world: &mut World) {
    let Some(mut progress) = world.get_resource_mut::<Progress>() else {
        return;
    };
    if progress.completed != Completed::Report {
        return;
    }
    // If a support function panics, this value remains, so that the next tick reads all colliders
    // again.
    progress.completed = Completed::Nothing;
    with_state(world, |world, state, proxies, paths, index| {
        if !core::mem::replace(&mut state.has_early_changes, true) {
            proxies.begin_tick();
            paths.begin_tick(proxies);
        }
        proxies.is_restored = !Progress::has_own_contacts(world);
        state.update(world, proxies);
        index.update(proxies);
    });
    world.resource_mut::<Progress>().completed = Completed::Report;
}

/// Calls `update` with the resources of the stage. If `update` panics, the index is dropped.
fn with_state<F>(world: &mut World, update: F)
where
    F: FnOnce(&mut World, &mut SyncState, &mut Proxies, &mut SweptPaths, &mut SpatialIndex),
{
    world.resource_scope(|world, mut state: Mut<SyncState>| {
        world.resource_scope(|world, mut proxies: Mut<Proxies>| {
            world.resource_scope(|world, mut paths: Mut<SweptPaths>| {
                let mut index = core::mem::take(&mut *world.resource_mut::<SpatialIndex>());
                update(world, &mut state, &mut proxies, &mut paths, &mut index);
                *world.resource_mut::<SpatialIndex>() = index;
            });
        });
    });
}

/// Detects restored contacts and a new source of candidate pairs. In both cases, marks all proxies
/// as changed, so that the pairs at rest are tested again.
fn mark_restored(world: &mut World, proxies: &mut Proxies, is_restart: bool) {
    let source = *world.resource::<BroadPhase>();
    proxies.is_restored = is_restart || !Progress::has_own_contacts(world);
    // If the source changed, some pairs at rest may never have been tested. If contacts were
    // restored, they may not match the current poses.
    if source != proxies.source || proxies.is_restored {
        Progress::record_own_contacts(world);
        proxies.source = source;
        proxies.d2.mark_all_changed();
        proxies.d3.mark_all_changed();
    }
}

impl SyncState {
    /// Updates all proxies, and the indices of parts in [`Collisions`]. Returns the number of
    /// ancestors that were read.
    fn update(&mut self, world: &mut World, proxies: &mut Proxies) -> usize {
        let edits = |Proxies { d2, d3, .. }: &Proxies| [d2.edited().len(), d3.edited().len()];
        let first_edits = edits(proxies);
        let (ancestors, renumbered) = self.scan(world, proxies);
        // The boxes of moved bodies are known only now.
        let [first_2d, first_3d] = first_edits;
        proxies.d2.mark_near_edits(first_2d);
        proxies.d3.mark_near_edits(first_3d);
        let has_renumbered = edits(proxies) != first_edits || !renumbered.is_empty();
        // Restored contacts name the parts of the restored grids.
        if has_renumbered && !proxies.is_restored {
            let mut collisions = world.resource_mut::<Collisions>();
            // If the resource were marked as changed, its contacts would count as restored.
            let collisions = collisions.bypass_change_detection();
            let of_grounds = |entity, part| renumbered.get(&entity)?(part);
            let of_2d = proxies.d2.renumbering(first_2d);
            let of_3d = proxies.d3.renumbering(first_3d);
            collisions.renumber_parts(|entity, part| {
                let new = of_grounds(entity, part).or_else(|| of_2d(entity, part));
                new.or_else(|| of_3d(entity, part))
            });
        }
        ancestors
    }

    /// Updates all proxies. Returns the number of ancestors that were read, and the members of
    /// grounds whose parts got other indices.
    fn scan(&mut self, world: &mut World, proxies: &mut Proxies) -> (usize, RenumberedParts) {
        let window = ChangeWindow::since_last_run(world);
        let queries = &mut self.queries;
        let queries = queries.get_or_insert_with(|| SyncQueries::from_world(world));
        update_exceptions(world, &mut queries.exceptions, proxies);
        let colliders = queries.colliders.query(world);
        let world: &World = world;
        proxies.has_swept = false;
        let mut scan = Scan {
            world,
            has_grounds: !self.grounds.is_empty(),
            window,
            ancestors: AncestorReader::new(world, window, &mut self.ancestry),
            proxies,
            displaced: &mut self.displaced,
            moves: &mut self.moves,
        };
        Chunk::for_each(&colliders, |chunk| {
            let first = chunk.entities.first();
            if let Some(table) = first.and_then(|entity| self.history.table(world, *entity)) {
                scan.visit(table, &chunk);
            }
            let mut swept = chunk.entities.iter().filter(|_| chunk.is_swept());
            scan.proxies.has_swept |= swept.any(|entity| scan.proxies.contains(*entity));
        });
        let ancestors = scan.ancestors.count();
        scan.finish(&mut self.history, &colliders);
        let renumbered = self.grounds.update(world, &mut queries.joined, proxies);
        update_one_ways(world, &mut queries.one_ways, proxies);
        (ancestors, renumbered)
    }
}
