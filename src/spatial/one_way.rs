//! One-way colliders in the queries of an entity: see
//! [`SpatialQueryFilter::of`](crate::SpatialQueryFilter::of).
//!
//! Queries decide like the tick (`pipeline/one_way.rs`), with the pose in which the query starts in
//! place of the pose of the previous tick.

use std::borrow::Cow;

use bevy::prelude::*;

use crate::{
    collider_query::{
        one_way::{Landing, PartContacts, PartTouch},
        part_contacts::Scratch,
    },
    pipeline::{
        one_way::{Meeting, Meetings, OneWayTick, Participant},
        proxy::Proxy,
    },
    placed::{PartContact, PlacedCollider},
    query::{CastOptions, Motion64},
    space::DVector,
    spatial::{SpatialQuery, filter::Selection, spatial_query::QuerySpace},
};

/// A body of a query and a collider, of which at least one is one-way.
pub struct BodyMeetings<'a, V: QuerySpace> {
    meetings: Meetings<'a, V>,
    /// `true` if the entity of the query has a collider. Otherwise, its body is never new.
    has_collider: bool,
}

impl SpatialQuery<'_, '_> {
    /// Returns the meetings of a query's body and a collider. Returns `None` if both are solid from
    /// all sides, or if the query is not of an entity.
    #[inline]
    pub(super) fn one_way<'a, V: QuerySpace>(
        &'a self,
        selection: &Selection,
        body: &'a PlacedCollider<V>,
        other: &'a Proxy<V>,
    ) -> Option<BodyMeetings<'a, V>> {
        let rules = &self.proxies.rules;
        let has_ledges = body.has_ledges() || other.has_ledges();
        if rules.one_ways.is_empty() && !has_ledges {
            return None;
        }
        let entity = self.solid_asker(selection, other)?;
        let tick = OneWayTick::new(&self.collisions, V::poses(&self.collisions), rules);
        let colliders = [(entity, body), (other.entity, &other.placed)];
        let colliders = colliders.map(|(entity, placed)| Participant {
            entity,
            placed,
            passes: self.proxies.party(entity).traits.passes_through,
        });
        Some(BodyMeetings {
            meetings: tick.meetings_of(colliders, selection.one_way_skin)?,
            has_collider: self.proxies.contains(entity),
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

    /// Returns a collider as a ray meets it: without its ledges if the ray is of an entity that
    /// passes through them.
    #[inline]
    pub(super) fn for_ray<'p, V: QuerySpace>(
        &self,
        selection: &Selection,
        proxy: &'p Proxy<V>,
    ) -> Cow<'p, Proxy<V>> {
        let passes = |entity| self.proxies.party(entity).traits.passes_through;
        if proxy.has_ledges() && self.solid_asker(selection, proxy).is_some_and(passes) {
            let placed = proxy.placed.without_ledges().into_owned();
            return Cow::Owned(Proxy {
                placed,
                ..proxy.clone()
            });
        }
        Cow::Borrowed(proxy)
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

impl<'a, V: QuerySpace> BodyMeetings<'a, V> {
    /// Returns `true` if a landing counts after the body has fallen by `fall` since the start of
    /// the query. The body is grown by `growth` along the normal of the landing.
    fn is_met(
        &self,
        meeting: &Meeting<V>,
        landing: &Landing<V::DVec>,
        fall: f64,
        growth: f64,
    ) -> bool {
        meeting.pair.is_above(landing, fall, growth)
            || meeting.has_met(landing, fall.max(0.0))
            || self.has_collider && meeting.is_new(landing)
    }

    /// Returns the contacts of the body, which has moved by `motion` since the start of the query.
    /// The body is grown by `growth(normal)` along each normal.
    pub fn contacts(
        &self,
        motion: V::DVec,
        growth: impl Fn(V::DVec) -> f64,
    ) -> PartContacts<V::DVec> {
        let scratch = &mut Scratch::default();
        self.meetings.contacts(scratch, |meeting, landing| {
            let up = meeting.pair.side.up;
            let climb = motion.dot(up);
            let fall = if meeting.is_flipped { climb } else { -climb };
            let growth = growth(landing.contact.contact.normal);
            self.is_met(meeting, landing, fall, growth)
        })
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
        contacts.reduce(PartContact::deeper)
    }

    /// Returns the first touch of the moving body, and the parts that touch.
    pub fn first_touch(
        &self,
        motion: Motion64<V::DVec>,
        options: CastOptions,
    ) -> Option<PartTouch<V::DVec>> {
        let is_held =
            |meeting: &Meeting<V>, landing: &Landing<_>| self.is_met(meeting, landing, 0.0, 0.0);
        let motions = [motion, Motion64::still()];
        self.meetings.first_touch(motions, options, is_held)
    }
}
