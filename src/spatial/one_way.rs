//! One-way colliders in the queries of an entity: see
//! [`SpatialQueryFilter::of`](crate::SpatialQueryFilter::of).
//!
//! Queries decide like the tick (`pipeline/one_way.rs`), with the pose in which the query starts in
//! place of the pose of the previous tick.

use bevy::prelude::*;

use crate::{
    collider_query::one_way::{
        Landing, OneWayPair, PartContacts, Support, earliest, touch_flipped_if,
    },
    collision::Collisions,
    meeting::OneWaySide,
    pipeline::{one_way::has_met, proxy::Proxy},
    placed::{PartContact, PlacedCollider},
    query::{CastHit64, CastOptions, Motion64},
    space::{DVector, Space},
    spatial::{SpatialQuery, filter::Selection, spatial_query::QuerySpace},
};

/// A body of a query and a collider, of which at least one is one-way.
pub struct BodyMeeting<'a, V: Space> {
    collisions: &'a Collisions,
    /// The entity of the body.
    entity: Entity,
    body: &'a PlacedCollider<V>,
    other: &'a Proxy<V>,
    /// The side of the collider, and the side of the body.
    sides: [Option<OneWaySide<V::DVec>>; 2],
    /// Sinks up to this distance count as 0.
    slack: f64,
}

impl SpatialQuery<'_, '_> {
    /// Returns the meeting of a query's body and a collider. Returns `None` if both are solid from
    /// all sides, or if the query is not of an entity.
    #[inline]
    pub(super) fn one_way<'a, V: QuerySpace>(
        &'a self,
        selection: &Selection,
        body: &'a PlacedCollider<V>,
        other: &'a Proxy<V>,
    ) -> Option<BodyMeeting<'a, V>> {
        let one_ways = &self.proxies.rules.one_ways;
        if one_ways.is_empty() {
            return None;
        }
        let entity = self.solid_asker(selection, other)?;
        let side = |entity, placed: &PlacedCollider<V>| {
            one_ways.get(entity)?.side::<V>(&placed.world_pose)
        };
        let sides = [side(other.entity, &other.placed), side(entity, body)];
        sides.iter().any(Option::is_some).then(|| BodyMeeting {
            collisions: &self.collisions,
            entity,
            body,
            other,
            sides,
            slack: selection.one_way_slack,
        })
    }

    /// Returns the entity of a query. Returns `None` if the query is not of an entity, or if the
    /// entity or the other collider is a sensor, which one-way colliders meet on all sides.
    fn solid_asker<V: QuerySpace>(
        &self,
        selection: &Selection,
        other: &Proxy<V>,
    ) -> Option<Entity> {
        let entity = selection.asker()?;
        let is_sensor = other.traits.is_sensor || self.proxies.party(entity).traits.is_sensor;
        (!is_sensor).then_some(entity)
    }

    /// Returns the unit vector out of the solid side of a collider, as a ray sees it. Returns
    /// `None` if the collider is solid from all sides, or if the ray is not of an entity.
    #[inline]
    pub(super) fn side_for_ray<V: QuerySpace>(
        &self,
        selection: &Selection,
        proxy: &Proxy<V>,
    ) -> Option<V::DVec> {
        if !proxy.traits.is_one_way {
            return None;
        }
        self.solid_asker(selection, proxy)?;
        let one_way = self.proxies.rules.one_ways.get(proxy.entity)?;
        Some(one_way.side::<V>(&proxy.world_pose)?.up)
    }
}

impl<V: QuerySpace> BodyMeeting<'_, V> {
    /// Returns the pairs of a body and a platform, and `true` if the query's body is the platform.
    fn pairs(&self) -> impl Iterator<Item = (OneWayPair<'_, V>, bool)> {
        let [own, other] = [self.body, &self.other.placed];
        let pairs = [(own, other, false), (other, own, true)].into_iter();
        let pairs = pairs.zip(self.sides);
        pairs.filter_map(|((body, platform, is_flipped), side)| {
            let side = side?;
            let pair = OneWayPair {
                body,
                platform,
                side,
            };
            Some((pair, is_flipped))
        })
    }

    /// Returns `true` if a landing counts after the body has fallen by `fall` since the start of
    /// the query. `allowed` is added to the greatest sink.
    fn is_met(
        &self,
        (pair, is_flipped): &(OneWayPair<V>, bool),
        landing: &Landing<V::DVec>,
        [fall, allowed]: [f64; 2],
    ) -> bool {
        let entities = match is_flipped {
            true => (self.other.entity, self.entity),
            false => (self.entity, self.other.entity),
        };
        let allowed = landing.rounding + pair.side.margin + self.slack + allowed;
        landing.sink - fall <= allowed
            || has_met(self.collisions, entities, pair, landing, fall.max(0.0))
    }

    /// Returns the contacts of the body, which has moved by `motion` since the start of the query.
    /// The body is grown by `growth(normal)` along each normal.
    pub fn contacts(
        &self,
        motion: V::DVec,
        growth: impl Fn(V::DVec) -> f64,
    ) -> PartContacts<V::DVec> {
        Support::least(self.pairs().filter_map(|meeting| {
            let (pair, is_flipped) = &meeting;
            let rise = motion.dot(pair.side.up);
            let fall = if *is_flipped { rise } else { -rise };
            pair.support(*is_flipped, |landing, _| {
                let normal = landing.contact.contact.normal;
                let growth = growth(normal) / -normal.dot(pair.side.up);
                self.is_met(&meeting, landing, [fall, growth])
            })
        }))
    }

    /// Returns the contacts of the body at the start of the query.
    fn start_contacts(&self) -> PartContacts<V::DVec> {
        self.contacts(V::DVec::ZERO, |_| 0.0)
    }

    /// Returns `true` if the body meets the collider.
    pub fn touches(&self) -> bool {
        !self.start_contacts().is_empty()
    }

    /// Returns the deepest contact of the body.
    pub fn deepest_contact(&self) -> Option<PartContact<V::DVec>> {
        let contacts = self.start_contacts().into_iter();
        contacts.reduce(|best, found| {
            if found.is_deeper_than(&best) {
                found
            } else {
                best
            }
        })
    }

    /// Returns the first touch of the moving body.
    pub fn first_touch(
        &self,
        motion: Motion64<V::DVec>,
        options: CastOptions,
    ) -> Option<CastHit64<V::DVec>> {
        let touches = self.pairs().filter_map(|meeting| {
            let (pair, is_flipped) = &meeting;
            let (motion, platform_motion) = match is_flipped {
                true => (Motion64::still(), motion),
                false => (motion, Motion64::still()),
            };
            let is_held = |landing: &Landing<_>| self.is_met(&meeting, landing, [0.0; 2]);
            let touch = pair.first_touch(motion, platform_motion, options, is_held)?;
            Some(touch_flipped_if(touch, *is_flipped))
        });
        earliest(touches).map(|(hit, _)| hit)
    }
}
