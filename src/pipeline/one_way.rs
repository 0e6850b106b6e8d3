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
//! Each ledge of a union of cells is a platform: see [`LedgePair`]. Rule 4 does not apply to
//! ledges, because a ledge is flat: a body that moves against it from outside was above it.
//!
//! Spatial queries of an entity use rules 1, 2 and 5 where they start: see `spatial/one_way.rs`.

use std::borrow::Cow;

use bevy::ecs::entity::Entity;
use smallvec::SmallVec;

use crate::{
    collider_query::{
        cast::cast_parts,
        one_way::{
            Landing, OneWayPair, PartContacts, PartTouch, STEEPEST_SLOPE, Support, earliest,
            region_of_path,
        },
        pair::visit_contacts,
        part_contacts::Scratch,
    },
    collision::{Collisions, PreviousPoses},
    meeting::{OneWaySide, OneWays, PairRules},
    pipeline::{proxy::Proxy, swept::rotation_between},
    placed::{BoundingRegion, PartContact, PlacedCollider},
    query::{CastOptions, Motion64, length_to_f32},
    shape::{Affine, WorldPose, swap_if},
    space::{
        DVector, Space,
        shortest_translation::{PushPlane, bounded_translation},
    },
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

/// The meetings of two colliders that are not solid from all sides.
pub enum Meetings<'a, V: Space> {
    /// One meeting for each of the colliders that is one-way as a whole.
    Whole(SmallVec<[Meeting<'a, V>; 2]>),
    Ledges(LedgePair<'a, V>),
}

/// Two colliders, of which at least one is a union of cells with ledges. The pair touches as its
/// solid cells do, and each ledge is a platform for the other collider.
pub struct LedgePair<'a, V: Space> {
    tick: OneWayTick<'a, V>,
    colliders: [Participant<'a, V>; 2],
    /// The margin of the ledges.
    margin: f64,
}

/// One of two colliders.
#[derive(Clone, Copy)]
pub struct Participant<'a, V: Space> {
    pub entity: Entity,
    pub placed: &'a PlacedCollider<V>,
    /// `true` if the collider has [`PassThrough`](crate::PassThrough).
    pub passes: bool,
}

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

    /// Returns the meetings of two colliders. Returns `None` if both are solid from all sides, or
    /// if one of them is a sensor.
    #[inline]
    pub fn meetings(self, first: &'a Proxy<V>, second: &'a Proxy<V>) -> Option<Meetings<'a, V>> {
        let proxies = [first, second];
        let is_solid = !proxies.iter().any(|proxy| proxy.traits.is_sensor);
        let mut proxies = proxies.into_iter();
        let is_one_way = proxies.any(|proxy| proxy.traits.is_one_way || proxy.has_ledges());
        let colliders = [first, second].map(|proxy| Participant {
            entity: proxy.entity,
            placed: &proxy.placed,
            passes: proxy.traits.passes_through,
        });
        (is_solid && is_one_way)
            .then(|| self.meetings_of(colliders, 0.0))
            .flatten()
    }

    /// Returns the meetings of two colliders that are not sensors. Returns `None` if both are solid
    /// from all sides. `skin` is added to the margin.
    pub fn meetings_of(
        self,
        colliders: [Participant<'a, V>; 2],
        skin: f64,
    ) -> Option<Meetings<'a, V>> {
        let [first, second] = colliders;
        let mut orders = [(first, second, false), (second, first, true)];
        // The order must depend on the colliders, not on the entities.
        if first.placed.compare(second.placed).is_gt() {
            orders.reverse();
        }
        let meetings = orders
            .into_iter()
            .filter_map(|(body, platform, is_flipped)| {
                let one_way = self.one_ways.get(platform.entity)?;
                let OneWaySide { up, margin } = one_way.side::<V>(&platform.placed.world_pose)?;
                Some(Meeting {
                    pair: OneWayPair {
                        body: body.placed,
                        platform: platform.placed,
                        side: OneWaySide {
                            up,
                            margin: margin + skin,
                        },
                        ledge: None,
                    },
                    tick: self,
                    entities: [body.entity, platform.entity],
                    is_flipped,
                })
            });
        let meetings: SmallVec<_> = meetings.collect();
        if !meetings.is_empty() {
            return Some(Meetings::Whole(meetings));
        }
        let has_ledges = colliders.iter().any(|it| it.placed.has_ledges());
        has_ledges.then_some(Meetings::Ledges(LedgePair {
            tick: self,
            colliders,
            margin: skin,
        }))
    }
}

impl<'a, V: Space> Meetings<'a, V> {
    /// Returns the contacts in which a body meets its platform, in the order of the two colliders.
    /// The deepest contact comes first. `is_met` decides whether a landing counts. If each collider
    /// supports the other, the contacts with the smaller sink are returned.
    pub fn contacts(
        &self,
        scratch: &mut Scratch<V>,
        is_met: impl Fn(&Meeting<V>, &Landing<V::DVec>) -> bool,
    ) -> PartContacts<V::DVec> {
        let meetings = match self {
            Self::Whole(meetings) => meetings,
            Self::Ledges(pair) => return pair.contacts(scratch, is_met),
        };
        let supports = meetings.iter().filter_map(|meeting| {
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
        let mut contacts: PartContacts<_> =
            contacts.map(|found| found.flipped_if(is_flipped)).collect();
        contacts.sort_by_key(|found| found.parts);
        sort_by_depth(&mut contacts);
        contacts
    }

    /// Returns the first touch of the two colliders, which move by `motions`: see
    /// [`OneWayPair::first_touch`].
    pub fn first_touch(
        &self,
        motions: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(&Meeting<V>, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        match self {
            Self::Whole(meetings) => {
                let meetings = meetings.iter();
                earliest(meetings.filter_map(|it| it.first_touch(motions, options, &is_held)))
            }
            Self::Ledges(pair) => pair.first_touch(motions, options, is_held),
        }
    }
}

impl<V: Space> LedgePair<'_, V> {
    /// Returns the contacts of the pair: see [`Meetings::contacts`].
    ///
    /// A body that meets a ledge touches the other cells as if it had risen onto the ledge. So a
    /// body that has sunk into a ledge is not caught by a solid cell of the same height beside it.
    /// A body that other cells push out to the plane of a ledge meets the ledge as well. Otherwise,
    /// it would meet the ledge in the next tick, by rule 2, but only if it does not rest. The last
    /// round finds no new ledge, and leaves out the contacts that graze a side below a ledge.
    fn contacts(
        &self,
        scratch: &mut Scratch<V>,
        is_met: impl Fn(&Meeting<V>, &Landing<V::DVec>) -> bool,
    ) -> PartContacts<V::DVec> {
        let [first, second] = self.colliders.map(|it| it.placed.without_ledges());
        let mut of_ledges = PartContacts::new();
        let mut met = SmallVec::<[_; 2]>::new();
        let mut planes = SmallVec::<[_; 2]>::new();
        loop {
            let raise = out_of(&planes);
            let mut solid = contacts_after(&first, &second, raise, scratch);
            let count = met.len();
            for is_flipped in [false, true] {
                let [body, _] = swap_if(is_flipped, [&first, &second]);
                let region = body.region().ok();
                self.visit_ledges(body, is_flipped, region, |meeting| {
                    let ledge = (is_flipped, meeting.pair.ledge.map(|ledge| ledge.plane));
                    if met.contains(&ledge) {
                        let raise = if is_flipped { -raise } else { raise };
                        solid.retain(|found| {
                            !meeting
                                .pair
                                .grazes_side(&found.flipped_if(is_flipped), raise)
                        });
                        return;
                    }
                    let is_met = |landing: &Landing<_>| {
                        let mut found = solid.iter().map(|found| found.flipped_if(is_flipped));
                        is_met(meeting, landing)
                            || found.any(|found| meeting.pair.is_level(&found, landing))
                    };
                    let Some(support) = meeting.pair.support(scratch, is_met) else {
                        return;
                    };
                    met.push(ledge);
                    planes.push(meeting.plane(&support));
                    let found = support.contacts.into_iter();
                    of_ledges.extend(found.map(|found| found.flipped_if(is_flipped)));
                });
            }
            if met.len() == count {
                let mut contacts = solid;
                if count > 0 {
                    contacts.extend(of_ledges);
                    sort_by_depth(&mut contacts);
                }
                return contacts;
            }
        }
    }

    /// Returns the first touch of the pair: see [`Meetings::first_touch`]. A body that a ledge
    /// holds at the start touches the other cells as if it had risen onto the ledge.
    fn first_touch(
        &self,
        motions: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(&Meeting<V>, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let [first, second] = self.colliders.map(|it| it.placed.without_ledges());
        let scratch = &mut Scratch::default();
        let mut planes = SmallVec::<[_; 2]>::new();
        let mut of_ledges = None;
        for is_flipped in [false, true] {
            let [body, _] = swap_if(is_flipped, [&first, &second]);
            let [_, platform] = swap_if(is_flipped, self.colliders);
            let own_motions = swap_if(is_flipped, motions);
            let region = region_of_path([body, platform.placed], own_motions);
            self.visit_ledges(body, is_flipped, region, |meeting| {
                let found = meeting.first_touch(motions, options, &is_held);
                of_ledges = earliest(of_ledges.into_iter().chain(found));
                let is_held = |landing: &Landing<_>| is_held(meeting, landing);
                let support = meeting.pair.support(scratch, is_held);
                planes.extend(support.map(|support| meeting.plane(&support)));
            });
        }
        let raised = moved(&first, out_of(&planes));
        let moving = ((&*raised).into(), motions[0]);
        let of_solid = cast_parts(moving, ((&*second).into(), motions[1]), options);
        earliest(of_solid.into_iter().chain(of_ledges))
    }

    /// Calls `visit` with the meeting of a body and each ledge near a region. The ledges belong to
    /// the second collider, or to the first collider if `is_flipped`.
    fn visit_ledges(
        &self,
        body: &PlacedCollider<V>,
        is_flipped: bool,
        region: Option<BoundingRegion<V::DVec>>,
        mut visit: impl FnMut(&Meeting<V>),
    ) {
        let [own, platform] = swap_if(is_flipped, self.colliders);
        let Some(region) = region.filter(|_| !own.passes) else {
            return;
        };
        let origin = body.world_pose.translation;
        for ledge in platform.placed.ledges_near(&region, origin) {
            let (up, margin) = (ledge.up, self.margin);
            visit(&Meeting {
                pair: OneWayPair {
                    body,
                    platform: platform.placed,
                    side: OneWaySide { up, margin },
                    ledge: Some(ledge),
                },
                tick: self.tick,
                entities: [own.entity, platform.entity],
                is_flipped,
            });
        }
    }
}

impl<V: Space> Meeting<'_, V> {
    /// Returns the first touch of the two colliders, which move by `motions`: see
    /// [`OneWayPair::first_touch`].
    fn first_touch(
        &self,
        motions: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: &impl Fn(&Self, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let motions = swap_if(self.is_flipped, motions);
        let is_held = |landing: &Landing<_>| is_held(self, landing);
        let (hit, parts) = self.pair.first_touch(motions, options, is_held)?;
        Some(if self.is_flipped {
            (hit.flipped(), (parts.1, parts.0))
        } else {
            (hit, parts)
        })
    }

    /// Returns the plane that the first of the two colliders clears if the body rises onto the
    /// platform.
    fn plane(&self, support: &Support<V::DVec>) -> PushPlane<V::DVec> {
        let up = self.pair.side.up;
        (if self.is_flipped { -up } else { up }, support.sink)
    }

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
        let contacts = self.tick.collisions.parts_of(body);
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
        if was_above || pair.ledge.is_some() {
            return was_above;
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
        let end = &self.pair.body.world_pose;
        // A member of a ground has the pose of the ground, which rests.
        let resting = self.pair.body.member().map(|_| end.affine());
        let start = carried(
            resting.as_ref().or(own)?,
            old?,
            &self.pair.platform.world_pose,
        );
        let rotation = turn_from(&start, end);
        let start = end.before(rotation, end.translation - start.translation);
        Some((start, rotation))
    }
}

/// Sorts contacts by their depths, which are compared in f32, as in events. The deepest contact
/// comes first. The order of equally deep contacts stays the same.
fn sort_by_depth<D: DVector>(contacts: &mut PartContacts<D>) {
    let depth = |found: &PartContact<D>| length_to_f32(found.contact.depth);
    contacts.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
}

/// Returns the translation out of the ledges with these planes. A body between opposite ledges is
/// balanced.
fn out_of<D: DVector>(planes: &[PushPlane<D>]) -> D {
    bounded_translation(planes).translation
}

/// Returns a collider after a translation.
fn moved<V: Space>(placed: &PlacedCollider<V>, translation: V::DVec) -> Cow<'_, PlacedCollider<V>> {
    let mut moved = Cow::Borrowed(placed);
    if translation != V::DVec::ZERO {
        let position = &mut moved.to_mut().world_pose.translation;
        *position = *position + translation;
    }
    moved
}

/// Returns the contacts of two colliders after the first collider has moved by `raise`. The depths
/// are those before the motion. The deepest contact after the motion comes first.
fn contacts_after<V: Space>(
    first: &PlacedCollider<V>,
    second: &PlacedCollider<V>,
    raise: V::DVec,
    scratch: &mut Scratch<V>,
) -> PartContacts<V::DVec> {
    let raised = moved(first, raise);
    let mut contacts = PartContacts::new();
    let deepest = visit_contacts(&raised, second, scratch, |mut found| {
        let own = raise.dot(found.contact.normal);
        // A contact that the motion itself causes, such as with a ceiling, is left out. A contact
        // at a right angle to the motion stays.
        if found.contact.depth >= own || own <= 0.0 {
            found.contact.depth -= own;
            contacts.push(found);
        }
    });
    let is_deepest = |found: &PartContact<_>| deepest.is_some_and(|it| it.parts == found.parts);
    if let Some(first) = contacts.iter().position(is_deepest) {
        contacts.swap(0, first);
    }
    contacts
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
