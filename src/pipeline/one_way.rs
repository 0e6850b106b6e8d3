//! The decision whether a body and a one-way collider, the *platform*, meet in a tick.
//!
//! The *sink* of a body is the shortest distance by which it has to rise to leave the platform. A
//! body that touches a platform meets it if one of these rules holds, in this order:
//!
//! 1. **Above.** The body is above the platform: its sink is at most the margin.
//! 2. **Met before.** The two met in the previous tick, and the body has not sunk by more than its
//!    own height since. A teleport of the body makes it forget what it met.
//! 3. **From above.** In the previous tick, the body was above the place where it is now. It may
//!    have been lower by its *lift*: the greatest height by which its contacts of the previous tick
//!    lift it. The pose of the previous tick is from before the response to these contacts. So
//!    without the lift, a body that slides over a seam would fall through the second platform.
//! 4. **Uphill.** On its path, the body first touched the platform from above, as on a ramp. It has
//!    not sunk by more than a body that climbs the steepest slope.
//! 5. **New.** One of the two has no pose in the previous tick, and the shortest way out of the
//!    overlap leads to the upper side.
//!
//! In rules 1 and 3, a body at the rim of a platform is above only if its lowest point is:
//! see [`OneWayPair::is_above`].
//!
//! Rules 2 to 4 compare the body with its pose in the previous tick, moved along with the platform.
//! So a pair that moves together keeps passing, and the decision is the same however often a pair
//! at rest is tested. The decision depends only on the two colliders, and on the contacts and poses
//! that [`Collisions`] has of the previous tick.
//!
//! Spatial queries of an entity use rules 1, 2 and 5 where they start: see `spatial/one_way.rs`.

use bevy::ecs::entity::Entity;
use smallvec::SmallVec;

use crate::{
    collider_query::{
        one_way::{Landing, OneWayPair, PartContacts, PartTouch, STEEPEST_SLOPE, earliest},
        part_contacts::Scratch,
    },
    collision::{Collisions, PreviousPoses},
    meeting::{OneWaySide, OneWays, PairRules},
    pipeline::{proxy::Proxy, swept::rotation_between},
    placed::PlacedCollider,
    query::{CastOptions, Motion64},
    shape::{Affine, WorldPose},
    space::{DVector, Space},
};

/// The data that the decisions of a tick read.
#[derive(Clone, Copy)]
pub struct OneWayTick<'a, V: Space> {
    one_ways: &'a OneWays,
    collisions: &'a Collisions,
    poses: &'a PreviousPoses<V::DVec>,
}

/// A body and a platform that may meet.
pub struct Meeting<'a, V: Space> {
    pub pair: OneWayPair<'a, V>,
    tick: OneWayTick<'a, V>,
    /// The entities of the body and of the platform.
    entities: [Entity; 2],
    /// `true` if the platform is the first of the two colliders.
    pub is_flipped: bool,
}

/// The pose of a body at the start of its motion, and its rotation from this pose.
type Start<D> = (WorldPose<D>, <D as DVector>::Matrix);

/// The meetings of two colliders: one for each of them that is one-way.
pub struct Meetings<'a, V: Space>(SmallVec<[Meeting<'a, V>; 2]>);

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

    /// Returns the meetings of two colliders. Returns `None` if neither is one-way, or if one of
    /// them is a sensor.
    #[inline]
    pub fn meetings(self, first: &'a Proxy<V>, second: &'a Proxy<V>) -> Option<Meetings<'a, V>> {
        let traits = [&first.traits, &second.traits];
        let is_solid = !traits.iter().any(|traits| traits.is_sensor);
        let is_one_way = is_solid && traits.iter().any(|traits| traits.is_one_way);
        let colliders = [first, second].map(|proxy| (proxy.entity, &proxy.placed));
        is_one_way
            .then(|| self.meetings_of(colliders, 0.0))
            .flatten()
    }

    /// Returns the meetings of two colliders that are not sensors. Returns `None` if neither is
    /// one-way. `skin` is added to the margin.
    pub fn meetings_of(
        self,
        [first, second]: [(Entity, &'a PlacedCollider<V>); 2],
        skin: f64,
    ) -> Option<Meetings<'a, V>> {
        let mut orders = [(first, second, false), (second, first, true)];
        // The order must depend on the colliders, not on the entities.
        if first.1.compare(second.1).is_gt() {
            orders.reverse();
        }
        let meetings = orders
            .into_iter()
            .filter_map(|(body, platform, is_flipped)| {
                let one_way = self.one_ways.get(platform.0)?;
                let OneWaySide { up, margin } = one_way.side::<V>(&platform.1.world_pose)?;
                Some(Meeting {
                    pair: OneWayPair {
                        body: body.1,
                        platform: platform.1,
                        side: OneWaySide {
                            up,
                            margin: margin + skin,
                        },
                    },
                    tick: self,
                    entities: [body.0, platform.0],
                    is_flipped,
                })
            });
        let meetings = Meetings(meetings.collect());
        (!meetings.0.is_empty()).then_some(meetings)
    }
}

impl<'a, V: Space> Meetings<'a, V> {
    /// Returns the contacts in which a body meets its platform, in the order of the two colliders.
    /// `is_met` decides whether a landing counts. If each collider supports the other, the contacts
    /// with the smaller sink are returned.
    pub fn contacts(
        &self,
        scratch: &mut Scratch<V>,
        is_met: impl Fn(&Meeting<'a, V>, &Landing<V::DVec>) -> bool,
    ) -> PartContacts<V::DVec> {
        let supports = self.0.iter().filter_map(|meeting| {
            let support = meeting
                .pair
                .support(scratch, |landing| is_met(meeting, landing))?;
            Some((support, meeting.is_flipped))
        });
        let least = supports.min_by(|(a, _), (b, _)| a.sink.total_cmp(&b.sink));
        let Some((support, is_flipped)) = least else {
            return PartContacts::new();
        };
        let contacts = support.contacts.into_iter();
        contacts.map(|found| found.flipped_if(is_flipped)).collect()
    }

    /// Returns the first touch of the two colliders, which move by `motions`: see
    /// [`OneWayPair::first_touch`].
    pub fn first_touch(
        &self,
        motions: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(&Meeting<'a, V>, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        earliest(self.0.iter().filter_map(|meeting| {
            let [first, second] = motions;
            let is_held = |landing: &Landing<_>| is_held(meeting, landing);
            if !meeting.is_flipped {
                return meeting.pair.first_touch([first, second], options, is_held);
            }
            let (hit, (a, b)) = meeting
                .pair
                .first_touch([second, first], options, is_held)?;
            Some((hit.flipped(), (b, a)))
        }))
    }
}

impl<V: Space> Meeting<'_, V> {
    /// Returns `true` if the platform supported the body in the previous tick, and the body has not
    /// sunk by more than its own height and `fall` since (rule 2).
    pub fn has_met(&self, landing: &Landing<V::DVec>, fall: f64) -> bool {
        let [body, platform] = self.entities;
        let OneWayTick {
            collisions, poses, ..
        } = self.tick;
        let up = self.pair.side.up;
        // The old contacts belong to the platform in its old pose.
        let turn = poses
            .get(platform)
            .map(|old| turn_from(old, &self.pair.platform.world_pose));
        let old_up = turn.map_or(up, |turn| V::DVec::transpose(turn) * up);
        let mut contacts = collisions.parts(body, platform);
        let old_sink = contacts.find_map(|old| self.pair.old_sink(&old, landing, old_up));
        old_sink.is_some_and(|old| landing.sink <= old + fall + self.pair.body_sizes().0)
            && !poses.is_teleported(body)
    }

    /// Returns `true` if the landing counts for a pair of which one has no earlier pose (rule 5).
    pub fn is_new(&self, landing: &Landing<V::DVec>) -> bool {
        let has_pose = |entity: &Entity| self.tick.poses.get(*entity).is_some();
        landing.leads_up && !self.entities.iter().all(has_pose)
    }

    /// Returns `true` if the body meets the platform where its path begins: the body is high
    /// enough, or met the platform in the previous tick.
    pub fn is_held(&self, landing: &Landing<V::DVec>) -> bool {
        self.pair.is_above(landing, self.lift(), 0.0) || self.has_met(landing, 0.0)
    }

    /// Returns the greatest height by which a response has lifted the body out of its solid
    /// contacts of the previous tick.
    fn lift(&self) -> f64 {
        let [body, _] = self.entities;
        if self.tick.poses.is_teleported(body) {
            return 0.0;
        }
        let contacts = self.tick.collisions.deepest_of(body);
        let lifts = contacts.filter(|contact| contact.is_solid());
        let lifts = lifts.map(|contact| {
            let translation = V::projected(contact.minimum_translation()).to_f64();
            translation.dot(self.pair.side.up)
        });
        lifts.fold(0.0, f64::max)
    }

    /// Returns `true` if a landing of the body counts in the tick: see the file head.
    pub fn is_met(&self, landing: &Landing<V::DVec>) -> bool {
        let pair = &self.pair;
        if pair.is_above(landing, 0.0, 0.0) {
            return true;
        }
        let Some((start, rotation)) = self.start() else {
            return self.is_new(landing) || self.has_met(landing, f64::INFINITY);
        };
        let up = pair.side.up;
        let end = pair.body.world_pose.translation;
        let motion = end - start.translation;
        let fall = -motion.dot(up);
        if self.has_met(landing, fall.max(0.0)) {
            return true;
        }
        let turns = rotation != V::DVec::IDENTITY;
        if motion == V::DVec::ZERO && !turns {
            return false;
        }
        let lift = self.lift();
        let (_, part) = landing.contact.parts;
        let was_above = if turns {
            let mut pose = start;
            pose.translation = end + up * fall;
            let before = pair.body.in_pose(pose);
            let before = pair.with_body(&before);
            // A body that was beside the platform may have turned into its side.
            let landing = before.landing(part);
            landing.is_some_and(|landing| before.is_above(&landing, lift, 0.0))
        } else {
            pair.is_above(landing, fall + lift, 0.0)
        };
        if was_above {
            return true;
        }
        let rotation = V::DVec::angle_between(V::DVec::IDENTITY, rotation);
        // An upper bound on the way of the body's points.
        let way = motion.length() + V::DVec::angle_size(rotation) * pair.body_sizes().1;
        let allowed = landing.rounding + pair.side.margin + lift;
        landing.sink <= allowed + STEEPEST_SLOPE * way && {
            let mut pose = start;
            pose.translation = pose.translation + up * lift;
            let motion = Motion64 {
                rotation,
                ..Motion64::linear(end - pose.translation)
            };
            let before = pair.body.in_pose(pose);
            pair.with_body(&before).lands(part, motion)
        }
    }

    /// Returns the body's pose in the previous tick, moved along with the platform, and the
    /// rotation of the body from this pose. Returns `None` if one of the two was not there.
    fn start(&self) -> Option<Start<V::DVec>> {
        let [own, old] = self.entities.map(|entity| self.tick.poses.get(entity));
        let start = carried(own?, old?, &self.pair.platform.world_pose);
        let end = &self.pair.body.world_pose;
        let rotation = turn_from(&start, end);
        let start = end.before(rotation, end.translation - start.translation);
        Some((start, rotation))
    }
}

/// Returns a pose that moves and turns along with a platform from its old to its new pose. A change
/// of the platform's scale moves nothing, so a platform that grows around a body passes the body.
fn carried<D: DVector>(pose: &Affine<D>, old: &Affine<D>, new: &WorldPose<D>) -> Affine<D> {
    let moved = pose.translation + (new.translation - old.translation);
    let rotation = turn_from(old, new);
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

/// Returns the rotation from an old to a new pose.
fn turn_from<D: DVector>(old: &Affine<D>, new: &WorldPose<D>) -> D::Matrix {
    if old.linear == new.linear() {
        D::IDENTITY
    } else {
        rotation_between::<D>(old.linear, new)
    }
}
