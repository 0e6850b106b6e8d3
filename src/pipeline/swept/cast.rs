//! First touches on the paths of swept colliders, found by the system [`find_swept_contacts`] in
//! the third stage.
//!
//! [`narrow_phase`](super::narrow_phase) has tested all candidate pairs in the poses of this tick.
//! This system casts two kinds of pairs with a swept collider:
//!
//! * Pairs that begin to touch in this tick. The cast finds the time of the touch.
//! * Pairs that may have touched during the motion. Pairs that touched in the previous tick are
//!   included, because the app may have moved a collider since. In this case, the colliders may be
//!   apart where their paths begin.
//!
//! A pair of the second kind is skipped if each swept collider moves, relative to the other
//! collider, by at most the radius of a ball inside the swept collider. To pass through the other
//! collider, a swept collider would have to move by the ball's diameter. Pairs that stay apart
//! during the motion are not candidates: see [`PathTable::may_meet`].
//!
//! The casts depend only on the proxies, and on the poses and contacts in [`Collisions`].

use std::borrow::Cow;

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    buffer::Buffer,
    collider_query::{cast::cast_parts, one_way::PartTouch},
    collision::{CollisionEvent, Collisions},
    diagnostics::CollisionDiagnostics,
    math::{Vec2, Vec3},
    meeting::PairRules,
    parallel::for_each_chunk,
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::{
            event,
            found_contacts::{FoundContacts, SweptContact},
        },
        one_way::OneWayTick,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, SlotPair},
        proxy::Proxy,
        swept::{PathMotion, PathTable, SweptPath, SweptPaths},
    },
    placed::PartContact,
    query::{CastOptions, CastStatus, Motion64},
    space::{DVector, Space},
};

/// The pairs to cast in 2D and in 3D.
#[derive(Default)]
pub struct SweptState(Buffer<PairCast<Vec2>>, Buffer<PairCast<Vec3>>);

/// A pair to cast.
struct PairCast<V: Space> {
    pair: SlotPair,
    motions: [Option<PathMotion<V::DVec>>; 2],
    /// The contact in the poses of this tick.
    found: Option<CollisionEvent>,
    /// `true` if the pair touched in the previous tick.
    touched: bool,
    result: Option<SweptContact>,
}

/// Adds the contacts on the paths of swept colliders to [`FoundContacts`].
pub fn find_swept_contacts(
    (proxies, paths, candidates): (Res<Proxies>, Res<SweptPaths>, Res<Candidates>),
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
    // If a support function panics, this value remains, so that nothing is reported.
    progress.completed = Completed::Sync;
    let FoundContacts {
        pairs: found,
        swept,
        ..
    } = &mut *found;
    let (pairs, pairs_3d) = (&candidates.d2.sorted, &candidates.d3.sorted);
    let SweptState(casts, casts_3d) = &mut *state;
    let state = (&proxies.rules, &*collisions);
    list_casts(&proxies.d2, &paths.d2, (pairs, found), state, casts);
    list_casts(&proxies.d3, &paths.d3, (pairs_3d, found), state, casts_3d);
    let one_way = OneWayTick::new(&collisions, &collisions.poses_2d, &proxies.rules);
    cast_all(&proxies.d2, one_way, casts, swept);
    let one_way = OneWayTick::new(&collisions, &collisions.poses_3d, &proxies.rules);
    cast_all(&proxies.d3, one_way, casts_3d, swept);
    diagnostics.casts = casts.len() + casts_3d.len();
    swept.sort_unstable_by_key(|contact| contact.event.pair());
    diagnostics.narrow_phase += start.elapsed();
    progress.completed = Completed::NarrowPhase;
}

/// Lists the pairs of one dimension that have to be cast. `pairs` and `found` are sorted by entity.
/// `found` has the contacts of both dimensions.
fn list_casts<V: Space>(
    arena: &ProxyArena<V>,
    paths: &PathTable<V>,
    (pairs, found): (&[SlotPair], &[CollisionEvent]),
    (rules, collisions): (&PairRules, &Collisions),
    casts: &mut Buffer<PairCast<V>>,
) {
    casts.clear();
    let mut found = found.iter().peekable();
    for pair in pairs {
        if !(paths.is_swept(pair.0) || paths.is_swept(pair.1)) {
            continue;
        }
        let (Some(a), Some(b)) = (arena.get(pair.0), arena.get(pair.1)) else {
            continue;
        };
        let entities = (a.entity, b.entity);
        while found.next_if(|other| other.pair() < entities).is_some() {}
        let found = found.next_if(|other| other.pair() == entities).copied();
        // Computing a rotation takes far longer than these bounds, which exclude most pairs.
        let [path_a, path_b] = [pair.0, pair.1].map(|slot| paths.path(slot));
        let may_be_fast = is_fast([a, b], [path_a, path_b].map(PathLength::at_most));
        let is_candidate = may_be_fast || found.is_some();
        let touched = is_candidate && collisions.contains(a.entity, b.entity);
        let begins = found.is_some() && !touched;
        if !(may_be_fast || begins) || rules.exclusion(a.party(), b.party()).is_some() {
            continue;
        }
        let motions = [
            path_a.and_then(|path| path.motion(a)),
            path_b.and_then(|path| path.motion(b)),
        ];
        if begins || is_fast([a, b], motions.map(PathLength::of)) {
            casts.push(PairCast {
                pair: *pair,
                motions,
                found,
                touched,
                result: None,
            });
        }
    }
}

fn motion_or_rest<D: DVector>(motion: Option<PathMotion<D>>) -> Motion64<D> {
    motion.map_or(Motion64::still(), |path| path.motion)
}

/// The translation along a path, and the angle of the rotation in radians.
struct PathLength<D> {
    translation: D,
    angle: f64,
}

impl<D: DVector> PathLength<D> {
    fn of(motion: Option<PathMotion<D>>) -> Self {
        let motion = motion_or_rest(motion);
        Self {
            translation: motion.translation,
            angle: D::angle_size(motion.rotation),
        }
    }

    /// Returns the translation and an upper bound on the angle.
    fn at_most(path: Option<&SweptPath<D>>) -> Self {
        Self {
            translation: path.map_or(D::ZERO, |path| path.translation),
            angle: path.map_or(0.0, |path| path.max_angle),
        }
    }
}

/// Returns `true` if the motion of a swept collider, relative to the other collider, may exceed the
/// swept collider's inner radius.
fn is_fast<V: Space>([a, b]: [&Proxy<V>; 2], [path_a, path_b]: [PathLength<V::DVec>; 2]) -> bool {
    let distance = (path_b.translation - path_a.translation).length();
    let is_fast = |proxy: &Proxy<V>, angle: f64, other: &Proxy<V>, other_angle: f64| {
        let Some((inner, outer)) = proxy.core_radii() else {
            return true;
        };
        let arm = (proxy.world_pose.translation - other.world_pose.translation).length();
        let own = distance + angle * outer;
        own + other_angle * (arm + distance + outer) > inner
    };
    a.traits.is_swept && is_fast(a, path_a.angle, b, path_b.angle)
        || b.traits.is_swept && is_fast(b, path_b.angle, a, path_a.angle)
}

/// Minimum number of casts per task: starting a task costs as much as a few casts.
const MIN_SWEPT_CASTS: usize = 16;

/// Casts all pairs of one dimension, in parallel if there are many, and adds their first touches to
/// `swept`.
fn cast_all<V: Space>(
    arena: &ProxyArena<V>,
    one_way: OneWayTick<V>,
    casts: &mut [PairCast<V>],
    swept: &mut Vec<SweptContact>,
) {
    for_each_chunk(casts, MIN_SWEPT_CASTS, |casts| {
        for pair in casts {
            pair.result = cast(arena, one_way, pair);
        }
    });
    swept.extend(casts.iter().filter_map(|cast| cast.result));
}

/// Returns the first touch of a pair on its paths. If the cast finds no touch, a new contact in the
/// poses of this tick is returned, with the time 1.
fn cast<V: Space>(
    arena: &ProxyArena<V>,
    one_way: OneWayTick<V>,
    cast: &PairCast<V>,
) -> Option<SweptContact> {
    let at_end = cast
        .found
        .filter(|_| !cast.touched)
        .map(|event| SweptContact {
            time: 1.0,
            is_apart_at_start: true,
            event,
        });
    let (a, b) = (arena.get(cast.pair.0)?, arena.get(cast.pair.1)?);
    let [motion_a, motion_b] = cast.motions;
    let (mut a, mut b) = (at_start(a, motion_a), at_start(b, motion_b));
    // Two colliders with equal motions, and without a rotation, stay at rest relative to each
    // other. So the contact in the poses of the tick counts.
    if a.1 == b.1 && V::DVec::angle_size(a.1.rotation) == 0.0 {
        return at_end;
    }
    // The order of the arguments must depend on the colliders, not on the entities, so that entity
    // ids do not change the contact.
    let is_swapped = a.0.compare(&b.0).is_gt();
    let (first, second) = if is_swapped { (&b, &a) } else { (&a, &b) };
    let options = CastOptions {
        leave_overlaps: cast.touched,
    };
    let found = first_touch((&first.0, first.1), (&second.0, second.1), one_way, options);
    let is_apart_at_start = found.is_some_and(|(hit, _)| hit.status == CastStatus::Hit);
    // If the shapes touch at the start and at the end of their paths, the contact of the narrow
    // phase continues.
    if !is_apart_at_start && cast.touched && cast.found.is_some() {
        return None;
    }
    let Some((hit, parts)) = found else {
        return at_end;
    };
    let time = hit.touching;
    for (proxy, motion) in [&mut a, &mut b] {
        if motion.translation != V::DVec::ZERO {
            let proxy = proxy.to_mut();
            let pose = &mut proxy.placed.world_pose;
            pose.translation = pose.translation + motion.translation * time;
        }
    }
    let contact = hit.contact;
    let contact = PartContact { parts, contact }.flipped_if(is_swapped);
    let event = event(&a.0, &b.0, &contact);
    let event = event.with_time(time as f32);
    Some(SweptContact {
        time,
        is_apart_at_start,
        event,
    })
}

/// Returns the first touch of two proxies, which are placed where their paths begin, and the parts
/// that touch.
fn first_touch<V: Space>(
    (first, first_motion): (&Proxy<V>, Motion64<V::DVec>),
    (second, second_motion): (&Proxy<V>, Motion64<V::DVec>),
    one_way: OneWayTick<V>,
    options: CastOptions,
) -> Option<PartTouch<V::DVec>> {
    let Some(meetings) = one_way.meetings(first, second) else {
        let (a, b) = ((&first.placed).into(), (&second.placed).into());
        return cast_parts((a, first_motion), (b, second_motion), options);
    };
    meetings.first_touch(
        [first_motion, second_motion],
        options,
        |meeting, landing| meeting.is_held(landing),
    )
}

/// Returns a proxy in the pose in which its path begins, and its motion.
fn at_start<V: Space>(
    proxy: &Proxy<V>,
    motion: Option<PathMotion<V::DVec>>,
) -> (Cow<'_, Proxy<V>>, Motion64<V::DVec>) {
    let proxy = match &motion {
        Some(motion) => Cow::Owned(Proxy {
            placed: proxy.in_pose(motion.start),
            ..proxy.clone()
        }),
        None => Cow::Borrowed(proxy),
    };
    (proxy, motion_or_rest(motion))
}
