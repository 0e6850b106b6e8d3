//! Second stage: which pairs may touch.
//!
//! Those whose boxes overlap, and of which one has changed: of the others nothing new can be told. What moves is put in
//! order anew each tick, see [`rows`]; what rests stays in an order of its own, in which the moving look up what they meet.
//!
//! Half-spaces have no box. There are few, if any: each is held against every box, and never against another of its kind.

mod rows;

use bevy::{platform::time::Instant, prelude::*};

use self::rows::Rows;
use super::sync::{Proxies, Slots};
use crate::{diagnostics::CollisionDiagnostics, shape::Bounds, space::Space};

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
/// Fill it in or before [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). The plugin only reads it, so that
/// pairs stay until they are cleared. With [`BroadPhase::Automatic`] it is not looked at.
///
/// Order does not matter, neither of the pairs nor within one, and a pair may come twice. What is no collider, and an
/// entity paired with itself, is passed over. Layers apply here as well.
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
#[derive(Resource, Clone, Debug, Default)]
pub struct CandidatePairs {
    pairs: Vec<(Entity, Entity)>,
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
    pub pairs: Vec<(u32, u32)>,
    /// By slot.
    states: Vec<State>,
    /// The slots that are awake.
    awake: Vec<u32>,
    moving: Rows,
    resting: Rows,
}

/// Where a box is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nowhere: there is none, or it is a half-space.
    #[default]
    Absent,
    /// Among those that move, or have moved not long ago.
    Awake,
    /// Among those that rest.
    Resting,
}

/// Those that have come to rest are put to the others at rest when they are as many as move, or so small a part of these.
/// So each tick's part of that work is less than the tick's own work, or than a part of what the movements before have cost.
const PART: usize = 8;

/// Fills [`Candidates`] with the pairs whose boxes overlap, and those of a box that reaches into a half-space.
pub fn find_candidates(
    proxies: Res<Proxies>,
    mut candidates: ResMut<Candidates>,
    mut diagnostics: ResMut<CollisionDiagnostics>,
) {
    let start = Instant::now();
    let Candidates { plane, solid } = &mut *candidates;
    plane.find(&proxies.plane);
    solid.find(&proxies.solid);
    diagnostics.broad_phase = start.elapsed();
}

impl Meetings {
    fn find<V: Space>(&mut self, proxies: &Slots<V>) {
        self.pairs.clear();
        if proxies.changed().is_empty() {
            return;
        }
        self.sort(proxies);
        let pairs = &mut self.pairs;
        self.moving.meet_within(|a, b| {
            if proxies.is_changed(a) || proxies.is_changed(b) {
                pairs.push((a, b));
            }
        });
        for (slot, bounds) in boxes(proxies, proxies.changed()) {
            self.resting.meet::<V>(slot, bounds, |other| {
                if self.states.get(other as usize) == Some(&State::Resting) {
                    pairs.push((slot, other));
                }
            });
        }
        meet_half_spaces(proxies, pairs);
    }

    /// Puts all boxes to those that move or those that rest.
    fn sort<V: Space>(&mut self, proxies: &Slots<V>) {
        self.states.resize(proxies.len(), State::Absent);
        for slot in proxies.changed() {
            if let Some(state) = self.states.get_mut(*slot as usize)
                && *state != State::Awake
            {
                *state = State::Awake;
                self.awake.push(*slot);
            }
        }
        let has_box = |slot: u32| {
            proxies
                .get(slot)
                .is_some_and(|it| it.extent.bounds().is_some())
        };
        let states = &mut self.states;
        self.awake.retain(|slot| {
            let kept = has_box(*slot);
            if !kept && let Some(state) = states.get_mut(*slot as usize) {
                *state = State::Absent;
            }
            kept
        });
        let still = self.awake.len().saturating_sub(proxies.changed().len());
        if still > proxies.changed().len() + self.resting.len() / PART {
            self.awake.retain(|slot| proxies.is_changed(*slot));
            for state in states.iter_mut().filter(|state| **state == State::Awake) {
                *state = State::Resting;
            }
            for slot in &self.awake {
                if let Some(state) = states.get_mut(*slot as usize) {
                    *state = State::Awake;
                }
            }
            let at_rest = (0..).zip(states.iter());
            let at_rest = at_rest.filter(|(_, state)| **state == State::Resting);
            let at_rest = at_rest.filter_map(|(slot, _)| box_of(proxies, slot));
            self.resting.fill::<V>(at_rest);
        }
        self.moving.fill::<V>(boxes(proxies, &self.awake));
    }
}

fn box_of<V: Space>(proxies: &Slots<V>, slot: u32) -> Option<(u32, &Bounds<V::Wide>)> {
    Some((slot, proxies.get(slot)?.extent.bounds()?))
}

fn boxes<'a, V: Space>(
    proxies: &'a Slots<V>,
    slots: &'a [u32],
) -> impl Iterator<Item = (u32, &'a Bounds<V::Wide>)> {
    slots.iter().filter_map(|slot| box_of(proxies, *slot))
}

fn meet_half_spaces<V: Space>(proxies: &Slots<V>, pairs: &mut Vec<(u32, u32)>) {
    for slot in proxies.half_spaces() {
        let Some(proxy) = proxies.get(*slot) else {
            continue;
        };
        let Some(half_space) = proxy.extent.half_space() else {
            continue;
        };
        let mut meet = |other: u32| {
            let bounds = proxies.get(other).and_then(|other| other.extent.bounds());
            if bounds.is_some_and(|it| it.reaches(half_space, proxy.pose.translation)) {
                pairs.push((*slot, other));
            }
        };
        if proxies.is_changed(*slot) {
            proxies.iter().for_each(|(other, _)| meet(other));
        } else {
            proxies.changed().iter().for_each(|other| meet(*other));
        }
    }
}
