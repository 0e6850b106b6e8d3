//! Second system of the third stage: finds the first touches on the paths of swept colliders.
//!
//! [`narrow_phase`](super::narrow_phase) has tested all candidate pairs in the poses of this tick.
//! Of the pairs with a swept collider, this system casts those that
//!
//! * begin to touch in this tick: the cast finds when,
//! * may have touched on the way: even if they touched in the previous tick, they may be apart where
//!   the paths begin, because the app has moved one of them.
//!
//! A pair of the second kind is skipped if the boxes of the colliders do not meet on the way, or if
//! the motion of every swept collider relative to the other is at most the radius of a ball inside
//! of it. Then neither can have passed through the other: that takes the diameter.
//!
//! The casts depend only on the proxies and on the poses in [`Collisions`].

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::{Buffer, Reclaim},
    collision::{CollisionEvent, Collisions},
    diagnostics::CollisionDiagnostics,
    pipeline::{
        aabb::Aabb,
        candidates::SlotPair,
        contacts::{FoundContacts, SweptContact},
        narrow_phase::{PartContact, event},
        parallel::share,
        progress::{Completed, Progress},
        proxies::Proxies,
        proxy::Proxy,
        proxy_arena::ProxyArena,
    },
    query::{CastLocal, CastOptions, MotionLocal},
    shape::Bounds,
    space::{DVector, Space},
    spatial::{cast::cast_of, side::Side},
};

/// The system's buffers.
#[derive(Default)]
pub struct SweptState {
    d2: Buffer<Job>,
    d3: Buffer<Job>,
    reclaim: Reclaim,
}

/// A pair to cast.
struct Job {
    pair: SlotPair,
    /// The contact in the poses of this tick.
    found: Option<CollisionEvent>,
    /// `true` if the two touched in the previous tick.
    touched: bool,
    result: Option<SweptContact>,
}

/// Adds the contacts on the paths of swept colliders to [`FoundContacts`].
pub fn find_swept_contacts(
    proxies: Res<Proxies>,
    collisions: Res<Collisions>,
    mut found: ResMut<FoundContacts>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
    mut progress: ResMut<Progress>,
    mut state: Local<SweptState>,
) {
    let start = Instant::now();
    if progress.completed != Completed::NarrowPhase {
        return;
    }
    // If a support function panics, nothing is reported.
    progress.completed = Completed::Sync;
    let SweptState { d2, d3, reclaim } = &mut *state;
    let found = &mut *found;
    let FoundContacts { swept, .. } = found;
    list_jobs(&proxies.d2, (&found.pairs_2d, &found.d2), &collisions, d2);
    list_jobs(&proxies.d3, (&found.pairs_3d, &found.d3), &collisions, d3);
    let casts = run_jobs(&proxies.d2, d2) + run_jobs(&proxies.d3, d3);
    let jobs = d2.drain(..).chain(d3.drain(..));
    swept.extend(jobs.filter_map(|job| job.result));
    swept.sort_unstable_by_key(|contact| contact.event.pair());
    reclaim.begin_tick();
    d2.reclaim(reclaim);
    d3.reclaim(reclaim);
    diagnostics.casts = casts;
    diagnostics.narrow_phase += start.elapsed();
    progress.completed = Completed::NarrowPhase;
}

/// Lists the pairs of one space that have to be cast. `pairs` and `found` are sorted by entity.
fn list_jobs<V: Space>(
    arena: &ProxyArena<V>,
    (pairs, found): (&[SlotPair], &[Buffer<CollisionEvent>]),
    collisions: &Collisions,
    jobs: &mut Buffer<Job>,
) {
    let sweeps = arena.sweeps();
    let mut found = found.iter().flat_map(|contacts| contacts.iter()).peekable();
    for pair in pairs {
        if !(sweeps.is_swept(pair.0) || sweeps.is_swept(pair.1)) {
            continue;
        }
        // Most pairs end here, before their proxies are read.
        let motions = [pair.0, pair.1].map(|slot| motion_of(arena, slot));
        if !may_meet(arena, *pair, motions) {
            continue;
        }
        let (Some(a), Some(b)) = (arena.get(pair.0), arena.get(pair.1)) else {
            continue;
        };
        let entities = (a.entity, b.entity);
        while found.next_if(|other| other.pair() < entities).is_some() {}
        let found = found.next_if(|other| other.pair() == entities).copied();
        let touched = || collisions.contains(a.entity, b.entity);
        let may_pass = || a.layers.interacts_with(b.layers) && is_fast(arena, *pair, motions);
        if may_pass() || found.is_some() && !touched() {
            jobs.push(Job {
                pair: *pair,
                found,
                touched: touched(),
                result: None,
            });
        }
    }
    jobs.note();
}

fn motion_of<V: Space>(arena: &ProxyArena<V>, slot: u32) -> MotionLocal<V::DVec> {
    let sweep = arena.sweeps().path_of(slot);
    sweep.map_or(MotionLocal::linear(V::DVec::ZERO), |sweep| sweep.motion)
}

/// Returns `true` unless the boxes of a pair do not meet on the way.
fn may_meet<V: Space>(
    arena: &ProxyArena<V>,
    (a, b): SlotPair,
    [motion_a, motion_b]: [MotionLocal<V::DVec>; 2],
) -> bool {
    let box_of = |slot: u32, motion: MotionLocal<V::DVec>| {
        let bounds: Bounds<V::DVec> = arena.box_of(slot).map(Aabb::bounds)?;
        let angle = V::DVec::angle_size(motion.rotation);
        let pivot = arena.get(slot)?.world_pose.translation;
        Some(if angle > 0.0 {
            bounds.around_rotation(pivot, angle)
        } else {
            bounds
        })
    };
    let back = motion_a.translation - motion_b.translation;
    match (box_of(a, motion_a), box_of(b, motion_b)) {
        (Some(a), Some(b)) => a.entry(&b, back) <= 1.0,
        _ => true,
    }
}

/// Returns `true` if the motion of a swept collider relative to the other may exceed the inner
/// radius of the swept one.
fn is_fast<V: Space>(
    arena: &ProxyArena<V>,
    (a, b): SlotPair,
    [motion_a, motion_b]: [MotionLocal<V::DVec>; 2],
) -> bool {
    let distance = (motion_b.translation - motion_a.translation).length();
    let angle_of = |motion: MotionLocal<V::DVec>| V::DVec::angle_size(motion.rotation);
    let is_fast = |slot: u32, motion, other: u32, other_motion| {
        let (Some(proxy), Some(other)) = (arena.get(slot), arena.get(other)) else {
            return true;
        };
        let Some((inner, outer)) = proxy.core_radii() else {
            return true;
        };
        let arm = (proxy.world_pose.translation - other.world_pose.translation).length();
        let own = distance + angle_of(motion) * outer;
        own + angle_of(other_motion) * (arm + distance + outer) > inner
    };
    let sweeps = arena.sweeps();
    sweeps.is_swept(a) && is_fast(a, motion_a, b, motion_b)
        || sweeps.is_swept(b) && is_fast(b, motion_b, a, motion_a)
}

/// The least number of casts for a task.
const MIN_CASTS: usize = 16;

/// Casts all pairs, in parallel if there are many. Returns the number of casts.
fn run_jobs<V: Space>(arena: &ProxyArena<V>, jobs: &mut [Job]) -> usize {
    let run = |jobs: &mut [Job]| {
        for job in jobs {
            job.result = cast(arena, job);
        }
    };
    let Some((pool, size)) = share(jobs.len(), MIN_CASTS) else {
        run(jobs);
        return jobs.len();
    };
    pool.scope(|scope| {
        for jobs in jobs.chunks_mut(size) {
            scope.spawn(async move { run(jobs) });
        }
    });
    jobs.len()
}

/// Returns the first touch of a pair, or a new contact in the poses of this tick at the time 1.
fn cast<V: Space>(arena: &ProxyArena<V>, job: &Job) -> Option<SweptContact> {
    let at_end = job
        .found
        .filter(|_| !job.touched)
        .map(|event| SweptContact {
            time: 1.0,
            is_apart_at_start: true,
            event,
        });
    let (a, b) = (arena.get(job.pair.0)?, arena.get(job.pair.1)?);
    let (a, b) = (
        at_start(arena, job.pair.0, a),
        at_start(arena, job.pair.1, b),
    );
    // Bodies that turn in the same way move relative to each other.
    if a.1 == b.1 && V::DVec::angle_size(a.1.rotation) == 0.0 {
        return at_end;
    }
    // The order of the arguments must depend on the colliders, not on the entities.
    let is_swapped = a.0.compare(&b.0).is_gt();
    let (first, second) = if is_swapped { (&b, &a) } else { (&a, &b) };
    let options = CastOptions {
        leave_overlaps: job.touched,
    };
    let (first, second) = (
        (Side::from(&first.0), first.1),
        (Side::from(&second.0), second.1),
    );
    let (cast, parts) = cast_of(first, second, options);
    let (time, is_apart_at_start, contact) = match cast {
        CastLocal::Hit {
            touching, contact, ..
        } => (touching, true, contact),
        // If they also touch at the end, the contact just continues.
        _ if job.touched && job.found.is_some() => return None,
        CastLocal::Touching { contact, .. } | CastLocal::Overlapping(contact) => {
            (0.0, false, contact)
        }
        CastLocal::Miss => return at_end,
    };
    let [a, b] = [&a, &b].map(|(proxy, motion)| {
        proxy.in_pose(proxy.world_pose.translated(motion.translation * time))
    });
    let contact = PartContact { parts, contact };
    let event = event(
        &a,
        &b,
        &if is_swapped {
            contact.flipped()
        } else {
            contact
        },
    );
    let event = event.with_time(time as f32);
    Some(SweptContact {
        time,
        is_apart_at_start,
        event,
    })
}

/// Returns a proxy in its pose of the previous tick, and its motion.
fn at_start<V: Space>(
    arena: &ProxyArena<V>,
    slot: u32,
    proxy: &Proxy<V>,
) -> (Proxy<V>, MotionLocal<V::DVec>) {
    match arena.sweeps().path_of(slot) {
        Some(sweep) => (proxy.in_pose(sweep.start), sweep.motion),
        None => (proxy.clone(), MotionLocal::linear(V::DVec::ZERO)),
    }
}
