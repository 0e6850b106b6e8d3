//! Second stage: which pairs may touch.
//!
//! Those whose boxes overlap, and of which one has changed: of the others nothing new can be told. What moves is put in
//! order each tick, see [`rows`]; what rests stays in an order of its own, in which the moving look up what they meet.
//!
//! Tried instead, on 10,000 boxes of the scenes in `benches/`: trees of `obvhs`, either built anew each tick, or kept, with
//! enlarged boxes that are put in anew when they are left. When this was chosen (it has become faster since) the better of the two
//! took 6 to 9 times as long where all move, twice as long where a tenth moves, and 3 times with sizes of 1 to 1000; where all are
//! somewhere else each tick, 6 to 8 times with the one and 50 with the other. Where nothing moves there is nothing to do for
//! either, and the boxes of piles and of hulls are boxes that all move. The order of a tree is worth its price where it lasts: there
//! are trees of `obvhs` inside of compounds and surfaces.
//!
//! Half-spaces have no box. There are few, if any: each is held against every box, and never against another of its kind.

mod grid;
mod grids;

use core::fmt;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Peak, Reclaim, is_excessive},
    diagnostics::CollisionDiagnostics,
    pipeline::{
        aabb::Aabb,
        broad_phase::grids::{Pairs, Rows},
        progress::Progress,
        proxies::Slots,
        sync::Proxies,
    },
    shape::Bounds,
    space::{DVector, Space},
};

/// Where the candidate pairs come from: a resource, which may be changed between ticks.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BroadPhase {
    /// The plugin finds them from bounding boxes.
    #[default]
    Automatic,
    /// The app supplies them in [`CandidatePairs`].
    Custom,
}

/// The pairs of entities that the app wants tested, with [`BroadPhase::Custom`].
///
/// Fill it in or before [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). The
/// plugin changes none of them, so that pairs stay until they are cleared. With
/// [`BroadPhase::Automatic`] it is not looked at.
///
/// Order does not matter, neither of the pairs nor within one, and a pair may come twice. What is no collider, and an
/// entity paired with itself, is passed over. Layers apply here as well. What rests costs little here, too: a pair that was
/// supplied in the tick before is tested only if one of the two has changed since.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Bullet;
/// #[derive(Component)]
/// struct Target;
///
/// fn bullets_meet_targets(
///     mut pairs: ResMut<CandidatePairs>,
///     bullets: Query<Entity, With<Bullet>>,
///     targets: Query<Entity, With<Target>>,
/// ) {
///     pairs.clear();
///     for bullet in &bullets {
///         pairs.extend(targets.iter().map(|target| (bullet, target)));
///     }
/// }
///
/// App::new()
///     .add_plugins((MinimalPlugins, HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom)))
///     .add_systems(FixedPostUpdate, bullets_meet_targets.in_set(HeadbuttSystems::BroadPhase));
/// ```
#[derive(Resource, Clone, Default)]
pub struct CandidatePairs {
    pairs: Buffer<(Entity, Entity)>,
}

impl fmt::Debug for CandidatePairs {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl CandidatePairs {
    /// Adds a pair.
    pub fn push(&mut self, entity: Entity, other: Entity) {
        self.pairs.push((entity, other));
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// All pairs, as they were added.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.pairs.iter().copied()
    }

    /// Shrinks the buffer.
    pub(super) fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.pairs.reclaim(reclaim);
    }

    /// How many pairs there are, with those that came twice.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Extend<(Entity, Entity)> for CandidatePairs {
    fn extend<T: IntoIterator<Item = (Entity, Entity)>>(&mut self, pairs: T) {
        self.pairs.extend(pairs);
    }
}

/// The pairs of slots to test in this tick.
#[derive(Resource, Default)]
pub struct Candidates {
    pub plane: Meetings,
    pub solid: Meetings,
}

/// Those of a space, and what it takes to find them.
#[derive(Default)]
pub struct Meetings {
    pairs: Pairs,
    /// What moves, or has moved not long ago.
    moving: Rows,
    /// What rests; also what was at rest, and has moved or gone since.
    resting: Rows,
    /// Peak number of resting boxes.
    at_rest: Peak,
}

/// What has come to rest is put to the others at rest when it is more than what moves and this part of those. So each
/// tick's share of that work is less than the tick's own work, or than a part of what the movements before have cost.
const PART: usize = 8;

/// Fills [`Candidates`] with the pairs whose boxes overlap, and those of a box that reaches into a half-space.
pub fn find_candidates(
    proxies: Res<Proxies>,
    progress: Res<Progress>,
    mut candidates: ResMut<Candidates>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    mut reclaim: Local<Reclaim>,
) {
    let start = Instant::now();
    if *progress != Progress::Sync {
        return;
    }
    let Candidates { plane, solid } = &mut *candidates;
    plane.find(&proxies.plane);
    solid.find(&proxies.solid);
    reclaim.begin_tick();
    plane.reclaim(&proxies.plane, &mut reclaim);
    solid.reclaim(&proxies.solid, &mut reclaim);
    diagnostics.broad_phase = start.elapsed();
}

impl Meetings {
    /// The pairs.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs.all
    }

    fn find<V: Space>(&mut self, proxies: &Slots<V>) {
        let Self {
            pairs,
            moving,
            resting,
            ..
        } = self;
        pairs.all.clear();
        let changed = proxies.changed();
        if changed.is_empty() {
            return;
        }
        let boxes = proxies.boxes();
        let has_box = |slot: u32| boxes.get(slot as usize).is_some_and(Aabb::is_some);
        let woken = changed.iter().filter(|slot| !moving.contains(**slot));
        let still = (moving.len() + woken.count()).saturating_sub(changed.len());
        let settles = still > changed.len() + resting.len() / PART;
        moving.update(boxes, changed.iter().copied(), |slot| {
            has_box(slot) && (!settles || proxies.is_changed(slot))
        });
        let rests = |slot: u32| has_box(slot) && !moving.contains(slot);
        if settles {
            resting.update(boxes, 0..boxes.len() as u32, rests);
        }
        moving.meet_within(V::DVec::DIMENSION, pairs, |a, b| {
            proxies.is_changed(a) || proxies.is_changed(b)
        });
        moving.meet(resting, pairs, |it| proxies.is_changed(it), rests);
        meet_half_spaces(proxies, &mut pairs.all);
    }

    /// Shrinks the buffers.
    fn reclaim<V: Space>(&mut self, proxies: &Slots<V>, reclaim: &mut Reclaim) {
        let Self {
            pairs,
            moving,
            resting,
            at_rest,
        } = self;
        let boxes = proxies.boxes();
        at_rest.note(proxies.count().saturating_sub(moving.len()));
        if reclaim.ends_window() {
            // What has gone is taken out when something settles, which may never happen again.
            let has_box = |slot: u32| boxes.get(slot as usize).is_some_and(Aabb::is_some);
            if moving.has_stale_slots(boxes.len()) {
                moving.update(boxes, [], has_box);
            }
            if is_excessive(resting.len(), at_rest.get()) || resting.has_stale_slots(boxes.len()) {
                resting.update(boxes, [], |slot| has_box(slot) && !moving.contains(slot));
            }
            at_rest.end_window();
        }
        pairs.reclaim(reclaim);
        moving.reclaim(reclaim);
        resting.reclaim(reclaim);
    }
}

fn meet_half_spaces<V: Space>(proxies: &Slots<V>, pairs: &mut Vec<(u32, u32)>) {
    for slot in proxies.half_spaces() {
        let Some((proxy, half_space)) = proxies
            .get(*slot)
            .and_then(|proxy| Some((proxy, proxy.half_space()?)))
        else {
            continue;
        };
        let mut meet = |other: u32| {
            let aabb = proxies.boxes().get(other as usize);
            let bounds = aabb.filter(|it| it.is_some()).map(Aabb::bounds);
            if bounds.is_some_and(|it: Bounds<V::DVec>| {
                it.overlaps_half_space(&half_space, proxy.place.translation)
            }) {
                pairs.push((*slot, other));
            }
        };
        if proxies.is_changed(*slot) {
            (0..proxies.len() as u32).for_each(&mut meet);
        } else {
            proxies.changed().iter().copied().for_each(&mut meet);
        }
    }
}
