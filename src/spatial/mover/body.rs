//! The moving collider: its casts and its planes.
//!
//! A gap is measured as an overlap: the collider is grown by a margin, and then overlaps everything
//! within the margin. So the rules for contacts with surfaces also hold at a distance: no contacts
//! at seams, and contacts on one side only.

use core::ops::ControlFlow;

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    collider_query::{
        pair::visit_contacts,
        part_contacts::{Scratch, parts_touch},
    },
    pipeline::proxy::Proxy,
    placed::{PartContact, PlacedCollider},
    query::{CastHit, CastOptions, Motion64},
    shape::WorldPose,
    space::{DVector, Space},
    spatial::{SpatialQuery, SpatialQueryFilter, filter::Selection, spatial_query::QuerySpace},
};

/// A placed collider with an additional margin.
pub struct GrownBody<V: Space> {
    pub proxy: PlacedCollider<V>,
    /// The margin in local units of the shape.
    margin: f64,
}

impl<V: Space> GrownBody<V> {
    /// Returns the collider with a margin of at least `width` in the world. Returns `None` if the
    /// scale flattens the collider, or if the margin is negative or not finite.
    pub fn new(proxy: &PlacedCollider<V>, width: f64) -> Option<Self> {
        let margin = (width / least_stretch(&proxy.world_pose)?) as f32;
        if !(margin >= 0.0 && margin.is_finite()) {
            return None;
        }
        Some(Self {
            proxy: proxy.grown(margin)?,
            margin: margin.into(),
        })
    }

    /// Returns the gap between the exact shape and a plane, from the plane's unit normal and the
    /// depth of the grown shape.
    fn gap(&self, normal: V::DVec, depth: f64) -> f64 {
        self.width_along(normal) - depth
    }

    /// Returns the width of the margin along a unit normal.
    ///
    /// The image of a ball of radius m under a linear map M extends by m |Mᵀ n| along n. So the
    /// width is correct for every scale.
    fn width_along(&self, normal: V::DVec) -> f64 {
        let transposed = V::DVec::transpose(self.proxy.world_pose.linear());
        self.margin * (transposed * normal).length()
    }
}

/// Returns a lower bound of the factor by which a pose stretches any vector. If the scale is
/// uniform, the bound is the scale. Otherwise, the bound is the reciprocal of the Frobenius norm of
/// the inverse map.
fn least_stretch<D: DVector>(pose: &WorldPose<D>) -> Option<f64> {
    if let Some(factor) = pose.factor() {
        return Some(factor);
    }
    let inverse = pose.inverse_linear()?;
    let columns = (0..D::DIMENSION).map(|index| D::column(inverse, index));
    let squared: f64 = columns.map(DVector::length_squared).sum();
    Some(1.0 / squared.sqrt())
}

/// A contact plane in f64: see [`ContactPlane`](super::ContactPlane).
#[derive(Clone, Copy, Debug)]
pub struct NearPlane<D> {
    pub entity: Entity,
    pub part: u32,
    pub normal: D,
    pub gap: f64,
    pub point: D,
}

impl<D: DVector> NearPlane<D> {
    /// Converts the plane to a touch with the given time and gap.
    pub fn touch(&self, time: f64, gap: f64) -> BodyTouch<D> {
        BodyTouch {
            entity: self.entity,
            part: self.part,
            time,
            gap,
            normal: self.normal,
            face_normal: self.normal,
            point: self.point,
        }
    }
}

/// A list of planes that rarely needs the heap.
pub type NearPlanes<D> = SmallVec<[NearPlane<D>; 16]>;

/// The first touch of a cast. The normals point from the other collider to the body.
#[derive(Clone, Copy, Debug)]
pub struct BodyTouch<D> {
    pub entity: Entity,
    /// The index of the touched part of the other collider.
    pub part: u32,
    /// The time up to which the motion is free.
    pub time: f64,
    /// The gap at `time`.
    pub gap: f64,
    pub normal: D,
    /// The normal of the touched face that most opposes the motion.
    pub face_normal: D,
    pub point: D,
}

/// The colliders that a body can hit: a query and its filter.
#[derive(Clone, Copy)]
pub struct FilteredQuery<'a, 'w, 's> {
    pub query: &'a SpatialQuery<'w, 's>,
    pub selection: Selection<'a>,
}

impl<'a, 'w, 's> FilteredQuery<'a, 'w, 's> {
    /// Returns the colliders that a filter selects.
    pub fn new(query: &'a SpatialQuery<'w, 's>, filter: &'a SpatialQueryFilter<'a>) -> Self {
        Self {
            query,
            selection: filter.into(),
        }
    }

    /// Returns the first touch of a body that moves by `motion`. The cast ignores the collider of
    /// `ignored`, and overlaps from which the motion moves the body out. Among touches at the same
    /// time, the normals and points decide which touch is first, not the entities.
    pub fn cast<V: QuerySpace>(
        &self,
        body: &PlacedCollider<V>,
        motion: V::DVec,
        ignored: Option<Entity>,
    ) -> Option<BodyTouch<V::DVec>> {
        if ignored.is_none()
            && let Some(touch) = self.cast_at_plane(body, motion)
        {
            return touch;
        }
        let options = CastOptions {
            leave_overlaps: true,
        };
        let mut selection = self.selection;
        selection.except = ignored;
        let mut first: Option<(f64, BodyTouch<V::DVec>)> = None;
        let (body, motion) = ((body, body.region().ok()), Motion64::linear(motion));
        self.query
            .visit_casts::<V>(body, Some(motion), options, selection, &mut |found| {
                let Some((touching, touch)) = touch_of(found.entity, &found.hit) else {
                    return 1.0;
                };
                let is_first = first.is_none_or(|(time, best)| {
                    let times = touching.total_cmp(&time);
                    let normals = || touch.normal.total_cmp(best.normal);
                    let points = || touch.point.total_cmp(best.point);
                    times.then_with(normals).then_with(points).is_lt()
                });
                if is_first {
                    first = Some((touching, touch));
                }
                touching
            });
        first.map(|(_, touch)| touch)
    }

    /// Calls `visit` with the colliders near a body, until `visit` returns `Break`.
    pub fn near<V: QuerySpace>(
        &self,
        body: &PlacedCollider<V>,
        visit: impl FnMut(&Proxy<V>) -> ControlFlow<()>,
    ) {
        if let Ok(region) = body.region() {
            let origin = body.world_pose.translation;
            self.query
                .near_region(&region, origin, self.selection, visit);
        }
    }

    /// Returns `true` if a body touches nothing. Unlike [`planes`](Self::planes), this test
    /// includes the facets that the rules for surfaces leave out.
    pub fn is_clear<V: QuerySpace>(&self, body: &PlacedCollider<V>) -> bool {
        let Ok(region) = body.region() else {
            return false;
        };
        let mut is_clear = true;
        self.near(body, |other| {
            is_clear = match self.query.one_way(&self.selection, body, other) {
                None => !parts_touch((&other.placed, body), &region),
                Some(meeting) => !meeting.touches(),
            };
            if is_clear {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        is_clear
    }

    /// Returns `true` if a collider, or the body itself, is solid from one side only.
    pub fn is_one_way<V: QuerySpace>(&self, body: &PlacedCollider<V>, other: &Proxy<V>) -> bool {
        self.query.one_way(&self.selection, body, other).is_some()
    }

    /// Calls `visit` with the contacts of a body and a collider. The body has moved by `motion`
    /// since the start of the query, and is grown by `growth(normal)` along each normal.
    pub fn visit_contacts<V: QuerySpace>(
        &self,
        (body, motion): (&PlacedCollider<V>, V::DVec),
        other: &Proxy<V>,
        growth: impl Fn(V::DVec) -> f64,
        visit: impl FnMut(PartContact<V::DVec>),
    ) {
        match self.query.one_way(&self.selection, body, other) {
            None => {
                visit_contacts(body, &other.placed, &mut Scratch::default(), visit);
            }
            Some(meeting) => meeting.contacts(motion, growth).into_iter().for_each(visit),
        }
    }

    /// Returns the contact planes of all colliders within the margin of a body, sorted by gap, and
    /// then by geometry.
    pub fn planes<V: QuerySpace>(&self, body: &GrownBody<V>) -> NearPlanes<V::DVec> {
        let mut planes = NearPlanes::new();
        self.near(&body.proxy, |other| {
            let growth = |normal| body.width_along(normal);
            self.visit_contacts((&body.proxy, V::DVec::ZERO), other, growth, |found| {
                let normal = -found.contact.normal;
                planes.push(NearPlane {
                    entity: other.entity,
                    part: other.own_part(found.parts.1),
                    normal,
                    gap: body.gap(normal, found.contact.depth),
                    point: other.world_pose.translation + found.contact.offset_b,
                });
            });
            ControlFlow::Continue(())
        });
        planes.sort_unstable_by(|a, b| {
            let gaps = a.gap.total_cmp(&b.gap);
            let normals = || a.normal.total_cmp(b.normal);
            let points = || a.point.total_cmp(b.point);
            let ids = || (a.entity, a.part).cmp(&(b.entity, b.part));
            gaps.then_with(normals).then_with(points).then_with(ids)
        });
        planes
    }
}

/// Converts a cast hit to a touch. Also returns the time at which the shapes touch.
fn touch_of<V: Space>(entity: Entity, hit: &CastHit<V>) -> Option<(f64, BodyTouch<V::DVec>)> {
    // Normals that were rounded to f32 are no longer unit vectors in f64, so they are normalized
    // again.
    let unit = |normal: V| (-normal.to_f64()).unit();
    let touch = BodyTouch {
        entity,
        part: hit.other_part,
        time: hit.safe,
        gap: 0.0,
        normal: unit(hit.contact.normal)?,
        face_normal: unit(hit.face_normal)?,
        point: hit.contact.point_b.to_f64(),
    };
    Some((hit.touching, touch))
}

/// The least thickness of a body in [`radius_of`], as a fraction of the longest side. So the
/// default skin is at least a thousandth of half of the longest side, even for a flat body.
const LEAST_FLATNESS: f64 = 0.1;

/// Returns half of the least side of a body's bounding box in the world, or a twentieth of the
/// longest side, whichever is greater. So flat bodies have a radius, too. Returns `None` for a
/// half-space.
pub fn radius_of<V: Space>(body: &PlacedCollider<V>) -> Option<f64> {
    let region = body.region().ok()?;
    let bounds = region.bounds()?;
    let sides = bounds.max - bounds.min;
    let sides = (0..V::DVec::DIMENSION).map(|axis| sides.component(axis));
    let (least, greatest) = sides.fold((f64::INFINITY, 0.0_f64), |(least, greatest), side| {
        (least.min(side), greatest.max(side))
    });
    Some(0.5 * least.max(LEAST_FLATNESS * greatest))
}

/// Returns the length by which rounding to f32 may misplace a body.
pub fn rounding_of<V: Space>(body: &PlacedCollider<V>, radius: f64) -> f64 {
    f64::from(f32::EPSILON) * (body.world_pose.translation.extent() + radius)
}
