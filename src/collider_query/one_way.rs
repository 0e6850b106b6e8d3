//! Contacts and casts of a body and a one-way collider, the *platform*.
//!
//! To land on a platform, the body is lifted above it, and cast down again: see [`Landing`]. The
//! caller decides which landings count, because that depends on where the body came from.
//!
//! Each part of a compound is a platform by itself. A surface is a single platform.

use crate::{
    collider_query::{cast::cast_parts, moving_colliders::PartPair, pair::deepest_contact},
    meeting::OneWaySide,
    placed::{BoundingRegion, PartContact, Placed, PlacedCollider},
    query::{CastHit64, CastOptions, CastStatus, Motion64},
    shape::Bounds,
    space::{DVector, Space},
    tolerance::TOUCHING,
};

/// A body touches a platform from above if the cosine between up and the direction out of the
/// platform is more than this value. Steeper contacts are grazes of a side, whose normals have
/// rounding errors.
const LEAST_COSINE: f64 = 1e-4;

/// Sinks up to this fraction of the coordinates count as 0. Rounding the positions of both
/// colliders and the translation of a response to f32 stays below this fraction.
const SINK_ROUNDING: f64 = 4.0 * TOUCHING;

/// The gap between the raised body and the platform, as a fraction of their sizes. The gap exceeds
/// the tolerance of touching, so the cast begins apart from the platform.
const LANDING_GAP: f64 = 1e-3;

/// A body and a platform.
#[derive(Clone, Copy)]
pub struct OneWayPair<'a, V: Space> {
    pub body: &'a PlacedCollider<V>,
    pub platform: &'a PlacedCollider<V>,
    pub side: OneWaySide<V::DVec>,
}

/// Where a body lands on a platform if the body is lifted above the platform and then lowered.
#[derive(Clone, Copy, Debug)]
pub struct Landing<D> {
    /// The least distance by which the body has to rise to leave the platform. If the sink is 0 or
    /// negative, the body is above the platform.
    pub sink: f64,
    /// The rounding error of the sink.
    pub rounding: f64,
    /// The contact of the lifted body with the platform, from the body. The depth is the distance
    /// along the normal that corresponds to the sink.
    pub contact: PartContact<D>,
}

/// A touch, and the parts of the body and the platform that touch.
pub type PartTouch<D> = (CastHit64<D>, PartPair);

/// Returns the height of a body's contact above the platform: the cosine between up and the
/// direction out of the platform. `normal` points from the body to the platform.
fn rise<D: DVector>(normal: D, side: &OneWaySide<D>) -> f64 {
    -normal.dot(side.up)
}

impl<'a, V: Space> OneWayPair<'a, V> {
    /// Returns the pair with the body in another pose.
    pub fn with_body<'b>(&self, body: &'b PlacedCollider<V>) -> OneWayPair<'b, V>
    where
        'a: 'b,
    {
        OneWayPair { body, ..*self }
    }

    /// Returns the landing on a part of the platform, or `None` if the body is not over the part.
    pub fn landing(&self, part: u32) -> Option<Landing<V::DVec>> {
        self.with_unit(part, |unit| self.landing_on(unit, part))?
    }

    fn landing_on(&self, unit: Placed<V>, part: u32) -> Option<Landing<V::DVec>> {
        let Self { body, side, .. } = *self;
        let body = Placed::from(body);
        let (Some(own), Some(other)) = (bounds(body), bounds(unit)) else {
            return self.landing_on_half_space(unit, part);
        };
        let (bottom, top) = extent(&own, side.up);
        let (other_bottom, other_top) = extent(&other, side.up);
        let heights = (top - bottom) + (other_top - other_bottom);
        let size = (own.max - own.min).length() + (other.max - other.min).length();
        let lift = (other_top - bottom).max(0.0) + LANDING_GAP * size;
        // The way down ends where the body is certainly below the platform.
        let way = 2.0 * lift + heights;
        let coordinates = own.max.extent().max(own.min.extent()) + size;
        let mut raised = self.body.clone();
        raised.world_pose.translation = raised.world_pose.translation + side.up * lift;
        let (down, still) = (Motion64::linear(side.up * -way), Motion64::still());
        let options = CastOptions::default();
        let (hit, parts) = cast_parts(((&raised).into(), down), (unit, still), options)?;
        let rise = rise(hit.contact.normal, &side);
        if hit.status != CastStatus::Hit || rise <= LEAST_COSINE {
            return None;
        }
        let sink = lift - way * hit.touching;
        let mut contact = hit.contact;
        contact.depth = sink.max(0.0) * rise;
        let part = if self.is_divided() { part } else { parts.1 };
        Some(Landing {
            sink,
            rounding: SINK_ROUNDING * coordinates,
            contact: PartContact {
                parts: (parts.0, part),
                contact,
            },
        })
    }

    /// Returns the landing if the body or the platform is a half-space, whose only normal is the
    /// normal of each contact. The body is over the other only if they touch.
    fn landing_on_half_space(&self, unit: Placed<V>, part: u32) -> Option<Landing<V::DVec>> {
        let mut contact = deepest_contact(self.body.into(), unit)?;
        let rise = rise(contact.contact.normal, &self.side);
        if rise <= LEAST_COSINE {
            return None;
        }
        contact.parts.1 = part;
        let [own, other] = [self.body.world_pose.translation, unit.translation()];
        let points = [contact.contact.offset_a, contact.contact.offset_b];
        let extents = points.map(DVector::extent).into_iter().sum::<f64>();
        Some(Landing {
            sink: contact.contact.depth / rise,
            rounding: SINK_ROUNDING * (own.extent() + other.extent() + extents),
            contact,
        })
    }

    /// Calls `visit` with each landing of the body where it touches the platform, unless the body
    /// only grazes a side.
    pub fn visit_landings(&self, mut visit: impl FnMut(u32, Landing<V::DVec>)) {
        let Ok(region) = self.body.region() else {
            return;
        };
        self.visit_units(&region, |unit, part| {
            let Some(touch) = deepest_contact(self.body.into(), unit) else {
                return;
            };
            let Some(landing) = self.landing_on(unit, part) else {
                return;
            };
            let PartContact { contact, .. } = touch;
            let is_graze = contact.depth <= landing.rounding
                && rise(contact.normal, &self.side) <= LEAST_COSINE;
            if !is_graze {
                visit(part, landing);
            }
        });
    }

    /// Returns the first touch of the body that moves by `motion` and the platform that moves by
    /// `platform_motion`. If the two touch at the start, `is_held` decides whether the landing on a
    /// part counts. If the two are apart at the start, only touches from above count.
    pub fn first_touch(
        &self,
        motion: Motion64<V::DVec>,
        platform_motion: Motion64<V::DVec>,
        options: CastOptions,
        is_held: impl Fn(u32, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let angle = |motion: &Motion64<V::DVec>| V::DVec::angle_size(motion.rotation);
        let mut first: Option<PartTouch<V::DVec>> = None;
        let mut add = |unit: Placed<V>, part: u32| {
            let motions = [motion, platform_motion];
            let found = self.touch_of_unit((unit, part), motions, options, &is_held);
            if let Some(found) = found
                && first.is_none_or(|(first, _)| found.0.touching < first.touching)
            {
                first = Some(found);
            }
        };
        if angle(&platform_motion) > 0.0 {
            // The parts of a platform that turns do not turn about their own origins.
            add(self.platform.into(), 0);
            return first;
        }
        let region = self.body.region().ok()?;
        let path = region.bounds().map(|bounds| {
            let turned = bounds.around_rotation(self.body.world_pose.translation, angle(&motion));
            let translation = motion.translation - platform_motion.translation;
            BoundingRegion::Box(turned.around_translation(translation))
        });
        self.visit_units(&path.unwrap_or(region), add);
        first
    }

    /// Returns `true` if the body that moves by `motion` first touches a part of the platform from
    /// above.
    pub fn lands(&self, part: u32, motion: Motion64<V::DVec>) -> bool {
        let (motions, options) = ([motion, Motion64::still()], CastOptions::default());
        let touch = self.with_unit(part, |unit| {
            self.touch_of_unit((unit, part), motions, options, |_, _| false)
        });
        touch.flatten().is_some()
    }

    /// Returns the first touch of the body with a part of the platform: see
    /// [`first_touch`](Self::first_touch).
    fn touch_of_unit(
        &self,
        (unit, part): (Placed<V>, u32),
        [motion, platform_motion]: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(u32, &Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let climb = (motion.translation - platform_motion.translation).dot(self.side.up);
        let (body, unit_motion) = ((self.body.into(), motion), (unit, platform_motion));
        let (mut hit, mut parts) = cast_parts(body, unit_motion, options)?;
        if self.is_divided() {
            parts.1 = part;
        }
        if hit.status == CastStatus::Hit {
            return self.is_from_above(&hit, climb).then_some((hit, parts));
        }
        let landing = self.landing_on(unit, part)?;
        let leaves = options.leave_overlaps && climb >= 0.0;
        if leaves || !is_held(part, &landing) {
            return None;
        }
        hit.contact = landing.contact.contact;
        hit.face_normal = hit.contact.normal;
        Some((hit, landing.contact.parts))
    }

    /// Returns `true` if a cast of the body hits the platform from above. `climb` is the motion of
    /// the body along up. A body that climbs hits only faces, not the edge beside which it rises.
    fn is_from_above(&self, hit: &CastHit64<V::DVec>, climb: f64) -> bool {
        let face_rise = rise(hit.face_normal, &self.side);
        rise(hit.contact.normal, &self.side) > LEAST_COSINE
            && (climb <= 0.0 || face_rise > LEAST_COSINE)
    }

    /// Returns `true` if each part of the platform is a platform by itself.
    pub fn is_divided(&self) -> bool {
        self.platform.compound().is_some() && !self.platform.is_surface()
    }

    /// Calls `visit` with each platform near a region of the world, and with its part index.
    fn visit_units(&self, region: &BoundingRegion<V::DVec>, mut visit: impl FnMut(Placed<V>, u32)) {
        if !self.is_divided() {
            return visit(self.platform.into(), 0);
        }
        let origin = self.body.world_pose.translation;
        self.platform.parts_near(region, origin, |part| {
            self.with_unit(part, |unit| visit(unit, part));
        });
    }

    fn with_unit<R>(&self, part: u32, visit: impl FnOnce(Placed<V>) -> R) -> Option<R> {
        if !self.is_divided() {
            return Some(visit(self.platform.into()));
        }
        let part = self.platform.part(part)?;
        Some(visit((&part.as_dyn()).into()))
    }
}

fn bounds<V: Space>(placed: Placed<V>) -> Option<Bounds<V::DVec>> {
    placed.region()?.bounds().copied()
}

/// Returns the least and the greatest coordinate of a box along a direction.
pub fn extent<D: DVector>(bounds: &Bounds<D>, direction: D) -> (f64, f64) {
    let center = (bounds.min + bounds.max) * 0.5;
    let half = (bounds.max - bounds.min) * 0.5;
    let components = (0..D::DIMENSION).map(|axis| half.component(axis) * direction.component(axis));
    let half = components.map(f64::abs).sum::<f64>();
    let middle = center.dot(direction);
    (middle - half, middle + half)
}
