//! First stage: brings the proxies up to date with the colliders and their poses.
//!
//! For unchanged colliders, only Bevy's change ticks are read. So a resting collider costs next to
//! nothing. The stage detects every kind of change:
//!
//! * A written `Transform`, collider, layers or parent: by Bevy's change ticks, see
//!   [`change_ticks`].
//! * A spawned, despawned, disabled or enabled entity, and an added or removed component: by the
//!   entity's row in Bevy's tables, see [`table_history`].
//! * A changed ancestor: by its change ticks and the number of ancestors, see [`ancestors`].
//!
//! Most changes are moves. These are queued, and applied on all threads: see [`moves`].

mod ancestors;
mod change_ticks;
#[cfg(feature = "mesh")]
pub mod mesh_assets;
mod moves;
mod scan;
mod table_history;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Reclaim},
    diagnostics::CollisionDiagnostics,
    pipeline::{
        progress::{Completed, Progress},
        proxies::Proxies,
        state_revision::StateRevision,
        sync::{
            ancestors::{AncestorReader, AncestryCache},
            change_ticks::{ChangeWindow, Chunk, Columns},
            moves::MoveQueue,
            scan::Scan,
            table_history::TableHistory,
        },
    },
    settings::BroadPhase,
};

/// The stage's buffers and its record of the previous tick.
#[derive(Default)]
pub struct SyncState {
    history: TableHistory,
    ancestry: AncestryCache,
    displaced: Buffer<Entity>,
    moves: MoveQueue,
    reclaim: Reclaim,
}

/// Updates [`Proxies`] from the colliders that Bevy's default query filters include.
pub fn sync(world: &mut World, colliders: &mut QueryState<Columns>, mut state: Local<SyncState>) {
    let start = Instant::now();
    let mut progress = world.resource_mut::<Progress>();
    let is_restart = progress.completed != Completed::Report;
    *progress = Progress {
        completed: Completed::Nothing,
        is_restart,
    };
    world.resource_scope(|world, mut proxies: Mut<Proxies>| {
        if is_restart {
            *state = SyncState::default();
            proxies.reset();
        }
        begin_tick(world, &mut proxies, is_restart);
        let ancestors = state.update(world, colliders, &mut proxies);
        state.reclaim(&mut proxies);
        let mut diagnostics = world.resource_mut::<CollisionDiagnostics>();
        diagnostics.colliders = proxies.d2.count() + proxies.d3.count();
        diagnostics.changed = proxies.d2.changed().len() + proxies.d3.changed().len();
        diagnostics.ancestors = ancestors;
        diagnostics.sync = start.elapsed();
    });
    world.resource_mut::<Progress>().completed = Completed::Sync;
}

/// Clears the changes of the previous tick. Marks all proxies as changed if the pairs at rest have
/// to be tested again.
fn begin_tick(world: &mut World, proxies: &mut Proxies, is_restart: bool) {
    proxies.d2.begin_tick();
    proxies.d3.begin_tick();
    let source = *world.resource::<BroadPhase>();
    proxies.is_restored = is_restart || !StateRevision::is_current(world);
    // If the source changed, some pairs at rest were never tested. If contacts were restored, they
    // may not match the present poses.
    if source != proxies.source || proxies.is_restored {
        StateRevision::record(world);
        proxies.source = source;
        proxies.d2.mark_all_changed();
        proxies.d3.mark_all_changed();
    }
}

impl SyncState {
    /// Updates all proxies. Returns the number of ancestors that were read.
    fn update(
        &mut self,
        world: &World,
        colliders: &mut QueryState<Columns>,
        proxies: &mut Proxies,
    ) -> usize {
        let window = ChangeWindow::since_last_run(world);
        let colliders = colliders.query(world);
        let mut scan = Scan {
            world,
            window,
            ancestors: AncestorReader::new(world, window, &mut self.ancestry),
            proxies,
            displaced: &mut self.displaced,
            moves: &mut self.moves,
        };
        Chunk::for_each(&colliders, |chunk| {
            let first = chunk.entities.first();
            if let Some(table) = first.and_then(|entity| self.history.table_of(world, *entity)) {
                scan.visit(table, &chunk);
            }
        });
        let ancestors = scan.ancestors.count();
        scan.finish(&mut self.history, &colliders);
        ancestors
    }

    /// Frees unused memory.
    fn reclaim(&mut self, proxies: &mut Proxies) {
        let reclaim = &mut self.reclaim;
        reclaim.begin_tick();
        proxies.reclaim(reclaim);
        self.history.reclaim(reclaim);
        self.displaced.reclaim(reclaim);
        self.moves.reclaim(reclaim);
        self.ancestry.reclaim(reclaim);
    }
}
