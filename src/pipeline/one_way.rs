//! The decision whether a body and a one-way collider meet in a tick.
//!
//! A body meets a platform if one of these rules holds, in this order:
//!
//! 1. It is above the platform, up to the margin.
//! 2. The two met in the previous tick, and the body has not sunk by more than its own size.
//! 3. In the previous tick, the body was high enough: it was above the place where it is now, up to
//!    the margin and to the push-outs out of the colliders on which it stood. (The pose of the
//!    previous tick is from before the response, which moved the body by these push-outs. Without
//!    them, a body that slides over the seam of two platforms would fall through the second one.)
//! 4. On its path in this tick, it first touched the platform from above, and it has not sunk by
//!    more than a body that climbs the steepest slope.
//! 5. One of the two has no pose in the previous tick, and the shortest way out of the overlap
//!    leads to the upper side.
//!
//! Rules 2 to 4 compare the body with its pose in the previous tick, moved along with
//! the platform. A pair that moved together keeps passing. So the decision is the same however
//! often a pair at rest is tested.
//!
//! The decision depends only on the proxies, on the contacts of the previous tick, and on the
//! poses that [`Collisions`] has of that tick.

use bevy::ecs::entity::Entity;
use smallvec::SmallVec;

use crate::{
    collider_query::one_way::{Landing, OneWayPair, PartContacts, STEEPEST_SLOPE, Support, extent},
    collision::{Collisions, PreviousPoses},
    meeting::{OneWays, PairRules},
    pipeline::{proxy::Proxy, swept::rotation_between},
    query::Motion64,
    shape::{Affine, WorldPose},
    space::{DVector, Space},
};

/// The data that the decisions of a tick read.
pub struct OneWayTick<'a, V: Space> {
    one_ways: &'a OneWays,
    collisions: &'a Collisions,
    poses: &'a PreviousPoses<V::DVec>,
}

// Derived implementations would require a vector that is a resource.
impl<V: Space> Copy for OneWayTick<'_, V> {}

impl<V: Space> Clone for OneWayTick<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

/// A body and a one-way collider in a tick.
#[derive(Clone, Copy)]
pub struct OneWayMeeting<'a, V: Space> {
    pub pair: OneWayPair<'a, V>,
    tick: OneWayTick<'a, V>,
    body: &'a Proxy<V>,
    platform: &'a Proxy<V>,
    /// `true` if the platform is the first of the two colliders.
    pub is_flipped: bool,
}

/// The two meetings of a pair, of which each collider is the platform in one. If a collider is not
/// one-way, its meeting is missing.
pub type OneWayMeetings<'a, V> = SmallVec<[OneWayMeeting<'a, V>; 2]>;

impl<'a, V: Space> OneWayTick<'a, V> {
    /// Returns the data of a tick. `poses` are the poses of `collisions` in this dimension.
    pub fn new(
        collisions: &'a Collisions,
        poses: &'a PreviousPoses<V::DVec>,
        rules: &'a PairRules,
    ) -> Self {
        Self {
            one_ways: &rules.one_ways,
            collisions,
            poses,
        }
    }

    /// Returns the meetings of two colliders. The list is empty if neither is one-way, or if one of
    /// them is a sensor.
    #[inline]
    pub fn meetings(self, first: &'a Proxy<V>, second: &'a Proxy<V>) -> OneWayMeetings<'a, V> {
        let pair = [first, second];
        if !pair.iter().any(|proxy| proxy.traits.is_one_way)
            || pair.iter().any(|proxy| proxy.traits.is_sensor)
        {
            return OneWayMeetings::new();
        }
        let mut orders = [(first, second, false), (second, first, true)];
        // The order must depend on the colliders, not on the entities.
        if first.compare(second).is_gt() {
            orders.reverse();
        }
        let meetings = orders.into_iter();
        meetings
            .filter_map(|(body, platform, is_flipped)| {
                let one_way = self.one_ways.get(platform.entity)?;
                Some(OneWayMeeting {
                    pair: OneWayPair {
                        body: &body.placed,
                        platform: &platform.placed,
                        side: one_way.side::<V>(&platform.world_pose)?,
                    },
                    tick: self,
                    body,
                    platform,
                    is_flipped,
                })
            })
            .collect()
    }

    /// Returns the contacts in which the body meets the platform. The contacts are in the order of
    /// the two colliders.
    pub fn contacts(meetings: &[OneWayMeeting<V>]) -> PartContacts<V::DVec> {
        Support::least(meetings.iter().filter_map(|meeting| {
            let history = History::new(meeting);
            let is_met = |landing: &Landing<_>, leads_up| history.is_met(landing, leads_up);
            meeting.pair.support(meeting.is_flipped, is_met)
        }))
    }
}

impl<'a, V: Space> OneWayMeeting<'a, V> {
    /// Returns `true` if the body meets the platform where its path begins: the body is high
    /// enough, or met the platform in the previous tick.
    pub fn is_held(&self, landing: &Landing<V::DVec>) -> bool {
        let allowed = landing.rounding + self.pair.side.margin + self.credit();
        landing.sink <= allowed || self.has_met(landing, 0.0)
    }

    fn has_met(&self, landing: &Landing<V::DVec>, fall: f64) -> bool {
        let entities = (self.body.entity, self.platform.entity);
        has_met(self.tick.collisions, entities, &self.pair, landing, fall)
    }

    /// Returns the greatest height by which a response has lifted the body out of the solid
    /// contacts of the previous tick.
    fn credit(&self) -> f64 {
        let contacts = self.tick.collisions.deepest_of(self.body.entity);
        let lifts = contacts.filter(|contact| contact.is_solid());
        let lifts = lifts.map(|contact| {
            let translation = V::projected(contact.minimum_translation()).to_f64();
            translation.dot(self.pair.side.up)
        });
        lifts.fold(0.0, f64::max)
    }
}

/// Returns `true` if a part of a platform supported a body in the previous tick, and the body has
/// not sunk by more than its own size and `fall` since.
pub fn has_met<V: Space>(
    collisions: &Collisions,
    (body, platform): (Entity, Entity),
    pair: &OneWayPair<V>,
    landing: &Landing<V::DVec>,
    fall: f64,
) -> bool {
    let mut contacts = collisions.parts(body, platform);
    let Some(old_sink) = contacts.find_map(|old| pair.old_sink(&old, landing)) else {
        return false;
    };
    let region = pair.body.region().ok();
    let size = region.and_then(|region| region.bounds().map(|bounds| extent(bounds, pair.side.up)));
    let size = size.map_or(f64::INFINITY, |(least, greatest)| greatest - least);
    landing.sink <= old_sink + fall + size
}

/// What the decision about a pair reads of the previous tick.
struct History<'a, V: Space> {
    meeting: &'a OneWayMeeting<'a, V>,
    /// The body's pose in the previous tick, moved along with the platform.
    start: Option<WorldPose<V::DVec>>,
    /// The rotation of the body relative to the platform.
    rotation: <V::DVec as DVector>::Matrix,
}

impl<'a, V: Space> History<'a, V> {
    fn new(meeting: &'a OneWayMeeting<'a, V>) -> Self {
        let OneWayMeeting {
            tick,
            body,
            platform,
            ..
        } = meeting;
        let end = &body.world_pose;
        let start = tick.poses.get(body.entity).and_then(|own| {
            let old = tick.poses.get(platform.entity)?;
            Some(carried(own, old, &platform.world_pose))
        });
        let rotation = match &start {
            Some(start) if start.linear != end.linear() => {
                rotation_between::<V::DVec>(start.linear, end)
            }
            _ => V::DVec::IDENTITY,
        };
        Self {
            meeting,
            start: start.map(|start| end.before(rotation, end.translation - start.translation)),
            rotation,
        }
    }

    /// Returns `true` if a landing of the body counts: see the file head. `leads_up` is `true` if
    /// the shortest way out leads to the upper side.
    fn is_met(&self, landing: &Landing<V::DVec>, leads_up: bool) -> bool {
        let OneWayMeeting { pair, body, .. } = self.meeting;
        let side = pair.side;
        let allowed = landing.rounding + side.margin;
        if landing.sink <= allowed {
            return true;
        }
        let Some(start) = &self.start else {
            return leads_up || self.meeting.has_met(landing, f64::INFINITY);
        };
        let end = &body.world_pose;
        let motion = end.translation - start.translation;
        let fall = -motion.dot(side.up);
        if self.meeting.has_met(landing, fall.max(0.0)) {
            return true;
        }
        let turns = self.rotation != V::DVec::IDENTITY;
        if motion == V::DVec::ZERO && !turns {
            return false;
        }
        let credit = self.meeting.credit();
        let (_, part) = landing.contact.parts;
        let sink = if turns {
            let mut pose = *start;
            pose.translation = end.translation + side.up * fall;
            let before = body.in_pose(pose);
            let landing = pair.with_body(&before).landing(part);
            // A body that was beside the platform may have turned into its side.
            landing.map_or(f64::INFINITY, |landing| landing.sink)
        } else {
            landing.sink - fall
        };
        sink <= allowed + credit || {
            let limit = allowed + credit + STEEPEST_SLOPE * self.way(motion);
            landing.sink <= limit && self.lands(part, *start, credit)
        }
    }

    /// Returns the rotation of the body relative to the platform, as an angle.
    fn angle(&self) -> <V::DVec as DVector>::Angle {
        V::DVec::angle_between(V::DVec::IDENTITY, self.rotation)
    }

    /// Returns an upper bound on the way of the body's points, which move by `motion` and rotate. A
    /// body that climbs the steepest slope sinks by at most this way times the slope.
    fn way(&self, motion: V::DVec) -> f64 {
        let bounds = self.meeting.body.region().ok();
        let bounds = bounds.and_then(|region| region.bounds().copied());
        let size = bounds.map_or(0.0, |bounds| (bounds.max - bounds.min).length());
        motion.length() + V::DVec::angle_size(self.angle()) * size
    }

    /// Returns `true` if the body touched a part of the platform from above, on its way from
    /// `credit` above its start.
    fn lands(&self, part: u32, mut start: WorldPose<V::DVec>, credit: f64) -> bool {
        let OneWayMeeting { pair, body, .. } = self.meeting;
        start.translation = start.translation + pair.side.up * credit;
        let motion = Motion64 {
            rotation: self.angle(),
            ..Motion64::linear(body.world_pose.translation - start.translation)
        };
        let before = body.in_pose(start);
        pair.with_body(&before).lands(part, motion)
    }
}

/// Returns a pose that moves and turns along with a platform from its old to its new pose. A change
/// of the platform's scale moves nothing, so a platform that grows around a body passes the body.
fn carried<D: DVector>(pose: &Affine<D>, old: &Affine<D>, new: &WorldPose<D>) -> Affine<D> {
    let moved = pose.translation + (new.translation - old.translation);
    let rotation = if old.linear == new.linear() {
        D::IDENTITY
    } else {
        rotation_between::<D>(old.linear, new)
    };
    if rotation == D::IDENTITY {
        // If the platform is at rest, the pose stays the same to the bit.
        return Affine {
            translation: moved,
            ..*pose
        };
    }
    Affine {
        linear: rotation * pose.linear,
        translation: new.translation + rotation * (moved - new.translation),
    }
}
