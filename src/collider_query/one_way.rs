//! Contacts and casts of a body and a one-way collider, the *platform*.
//!
//! To find where the body lands on a platform, the body is lifted above the platform, and then cast
//! down: see [`Landing`]. The caller decides which landings count, because the decision depends on
//! the previous position of the body.
//!
//! Each part of a compound is a platform by itself. A surface is a single platform, and so is a
//! ledge of one-way cells. A contact with a ledge always leads straight up, also at the rim.

use smallvec::SmallVec;

use crate::{
    collider_query::{
        cast::cast_parts,
        moving_colliders::PartPair,
        pair::{deepest_contact, deepest_contact_in},
        part_contacts::Scratch,
    },
    collision::CollisionEvent,
    meeting::OneWaySide,
    placed::{BoundingRegion, DynPart, Ledge, PartContact, Placed, PlacedCollider},
    query::{CastHit64, CastOptions, CastStatus, Contact64, Motion64},
    shape::{Bounds, Shape},
    space::{DVector, Space},
    tolerance::TOUCHING,
};

/// A body touches a platform from above if the cosine of the angle between up and the direction out
/// of the platform is more than this value. At a smaller cosine, the body only grazes a side of the
/// platform, and the normal of the contact is tilted by rounding.
const LEAST_COSINE: f64 = 1e-4;

/// A [sink](Landing::sink) of at most this fraction of the coordinates counts as 0. The fraction
/// exceeds the error of rounding the positions of both colliders, and the translation of a
/// response, to f32.
const SINK_ROUNDING: f64 = 4.0 * TOUCHING;

/// A touch is inside a face if the normals of the contact and of the face are equal: the cosine of
/// the angle between the normals is less than 1 by at most this value.
const SAME_FACE: f64 = 1e-9;

/// The sideways distance from a touched point to the point that is tested beside the rim, as a
/// fraction of the platform's size. The distance exceeds the tolerance of touching and the error of
/// the touched point.
const RIM_STEP: f64 = 1e-4;

/// The tangent of the slope angle of the steepest face that does not count as a side of a platform.
pub const STEEPEST_SLOPE: f64 = 10.0;

/// A contact leads straight up if the cosine of the angle between up and its direction exceeds this
/// value, which allows for the rounding of the normal to f32.
const STRAIGHT: f64 = 1.0 - 1e-6;

/// The cosine of the angle between up and the normal of a face with the slope [`STEEPEST_SLOPE`].
/// The square of the cosine is 1 / (1 + `STEEPEST_SLOPE`²).
const FLATTEST_SIDE: f64 = 0.0995;

/// The gap between the raised body and the platform, as a fraction of their sizes. The gap exceeds
/// the tolerance of touching, so the cast begins apart from the platform.
const LANDING_GAP: f64 = 1e-3;

/// A body and a platform.
#[derive(Clone, Copy)]
pub struct OneWayPair<'a, V: Space> {
    pub body: &'a PlacedCollider<V>,
    pub platform: &'a PlacedCollider<V>,
    pub side: OneWaySide<V::DVec>,
    /// The ledge of `platform` that is the platform, or `None` if this is all of `platform`.
    pub ledge: Option<Ledge<V::DVec>>,
}

/// The place where a body lands on a platform if the body is lifted above the platform and then
/// lowered.
#[derive(Clone, Copy, Debug)]
pub struct Landing<D> {
    /// The least distance by which the body has to rise to leave the platform. If the sink is 0 or
    /// negative, the body is above the platform.
    pub sink: f64,
    /// The rounding error of the sink.
    pub rounding: f64,
    /// `true` if the contact of the body in its own pose pushes the body toward the upper side.
    pub leads_up: bool,
    /// The contact of the lifted body with the platform. The normal points from the body to the
    /// platform. The depth is the sink times the cosine of the angle between up and the reversed
    /// normal, and at least 0.
    pub contact: PartContact<D>,
    /// The normal of the face on which the body lands. The normal points from the body to the
    /// platform.
    face_normal: D,
}

/// A touch, and the parts of the body and the platform that touch.
pub type PartTouch<D> = (CastHit64<D>, PartPair);

/// The contacts of a body with a platform that supports it.
pub struct Support<D> {
    /// The greatest sink of the contacts.
    pub sink: f64,
    pub contacts: PartContacts<D>,
}

/// The contacts of a pair. A convex platform has a single contact.
pub type PartContacts<D> = SmallVec<[PartContact<D>; 4]>;

/// Returns the earliest touch. Of several touches at the start, returns the touch with the least
/// depth.
pub fn earliest<D: DVector>(touches: impl Iterator<Item = PartTouch<D>>) -> Option<PartTouch<D>> {
    touches.min_by(|(a, _), (b, _)| {
        let times = a.touching.total_cmp(&b.touching);
        times.then_with(|| a.contact.depth.total_cmp(&b.contact.depth))
    })
}

/// Returns the cosine of the angle between up and the direction in which a contact pushes the body
/// out of the platform. `normal` points from the body to the platform.
fn rise<D: DVector>(normal: D, up: D) -> f64 {
    -normal.dot(up)
}

impl<'a, V: Space> OneWayPair<'a, V> {
    /// Returns the pair with the body in another pose.
    pub fn with_body<'b>(&self, body: &'b PlacedCollider<V>) -> OneWayPair<'b, V>
    where
        'a: 'b,
    {
        OneWayPair { body, ..*self }
    }

    /// Returns the size of the body along up, and its size in all directions. A half-space has the
    /// sizes infinity and 0.
    pub fn body_sizes(&self) -> (f64, f64) {
        bounds(self.body.into()).map_or((f64::INFINITY, 0.0), |bounds| {
            let (bottom, top) = extent(&bounds, self.side.up);
            (top - bottom, (bounds.max - bounds.min).length())
        })
    }

    /// Returns the landing on a part of the platform, or `None` if the body is not over the part.
    pub fn landing(&self, part: u32) -> Option<Landing<V::DVec>> {
        self.landing_on(self.unit(part))
    }

    fn landing_on(&self, unit: Placed<V>) -> Option<Landing<V::DVec>> {
        let up = self.side.up;
        let body = Placed::from(self.body);
        let diagonal = |bounds: Bounds<V::DVec>| (bounds.max - bounds.min).length();
        let other = match &self.ledge {
            // The other faces of the ledge must not change the landing.
            Some(Ledge { height, margin, .. }) => {
                let height = height + unit.translation().dot(up);
                Some(((height - margin, height + margin), 0.0))
            }
            None => bounds(unit).map(|other| (extent(&other, up), diagonal(other))),
        };
        let (Some(own), Some(((other_bottom, other_top), other_size))) = (bounds(body), other)
        else {
            return self.landing_on_half_space(unit);
        };
        let (bottom, top) = extent(&own, up);
        let heights = (top - bottom) + (other_top - other_bottom);
        let size = diagonal(own) + other_size;
        let lift = (other_top - bottom).max(0.0) + LANDING_GAP * size;
        // The way down ends where the body is certainly below the platform.
        let way = 2.0 * lift + heights;
        let mut raised = self.body.clone();
        raised.world_pose.translation = raised.world_pose.translation + up * lift;
        let (down, still) = (Motion64::linear(up * -way), Motion64::still());
        let options = CastOptions::default();
        let (hit, parts) = cast_parts(((&raised).into(), down), (unit, still), options)?;
        if hit.status != CastStatus::Hit {
            return None;
        }
        let (contact, face_normal) = (hit.contact, hit.face_normal);
        let contact = PartContact { parts, contact };
        self.landing_with(unit, contact, face_normal, lift - way * hit.touching)
    }

    /// Returns the landing if the body or the platform is a half-space. Each contact has the normal
    /// of the half-space. There is a landing only if the two colliders touch.
    fn landing_on_half_space(&self, unit: Placed<V>) -> Option<Landing<V::DVec>> {
        let found = deepest_contact(self.body.into(), unit)?;
        let Contact64 { normal, depth, .. } = found.contact;
        self.landing_with(unit, found, normal, depth / rise(normal, self.side.up))
    }

    /// Returns the landing with a contact and a sink, unless the contact only grazes a side.
    fn landing_with(
        &self,
        unit: Placed<V>,
        mut contact: PartContact<V::DVec>,
        face_normal: V::DVec,
        sink: f64,
    ) -> Option<Landing<V::DVec>> {
        let mut rise = rise(contact.contact.normal, self.side.up);
        let leads_up = rise > LEAST_COSINE;
        if self.ledge.is_some() {
            (rise, contact.contact.normal) = (1.0, -self.side.up);
        }
        contact.contact.depth = sink.max(0.0) * rise;
        leads_up.then(|| Landing {
            sink,
            rounding: self.rounding(unit),
            leads_up: false,
            contact,
            face_normal,
        })
    }

    /// Returns the rounding error of heights above a unit.
    fn rounding(&self, unit: Placed<V>) -> f64 {
        let extent = |placed: Placed<V>| match bounds(placed) {
            Some(bounds) if !matches!(placed, Placed::Ledge(..)) => {
                bounds.min.extent().max(bounds.max.extent())
            }
            _ => placed.translation().extent(),
        };
        SINK_ROUNDING * (extent(self.body.into()) + extent(unit))
    }

    /// Returns `true` if the body is above the platform at a landing after it is raised by `height`
    /// and shrunk by `growth` along the normal.
    ///
    /// At the rim, the height of the lowest point of the body counts. Otherwise, a round body that
    /// is half way through a row of platforms would stand on the rim of the next one.
    pub fn is_above(&self, landing: &Landing<V::DVec>, height: f64, growth: f64) -> bool {
        let PartContact { parts, contact } = &landing.contact;
        let allowed = landing.rounding + self.side.margin + height;
        let unit = self.unit(parts.1);
        landing.sink <= allowed + growth / rise(contact.normal, self.side.up)
            && self
                .rim(unit, contact, landing.face_normal, parts.1)
                .is_none_or(|rim| self.is_bottom_above(parts.0, rim - allowed - growth))
    }

    /// Returns the contacts of the body with each part of the platform that the body touches, if
    /// the landing on this part counts. A contact that only grazes a side of the platform is left
    /// out. `is_met` decides whether a landing counts.
    pub fn support(
        &self,
        scratch: &mut Scratch<V>,
        is_met: impl Fn(&Landing<V::DVec>) -> bool,
    ) -> Option<Support<V::DVec>> {
        let region = self.body.region().ok()?;
        let mut support = Support {
            sink: f64::NEG_INFINITY,
            contacts: PartContacts::new(),
        };
        self.visit_units(&region, |unit| {
            let Some(touch) = deepest_contact_in(self.body.into(), unit, scratch) else {
                return;
            };
            let Some(mut landing) = self.landing_on(unit) else {
                return;
            };
            landing.leads_up = rise(touch.contact.normal, self.side.up) > LEAST_COSINE;
            // A body whose lowest point is exactly in the plane of a ledge may graze its rims, too.
            let is_on_ledge = self.ledge.is_some() && landing.sink.abs() <= landing.rounding;
            let is_graze =
                touch.contact.depth <= landing.rounding && !landing.leads_up && !is_on_ledge;
            if !is_graze && is_met(&landing) {
                support.sink = support.sink.max(landing.sink);
                support.contacts.push(landing.contact);
                self.add_cells(&mut support.contacts);
            }
        });
        (!support.contacts.is_empty()).then_some(support)
    }

    /// Returns the sink of `old`, a contact of the body in the previous tick with the part of
    /// `landing`. In that tick, up was `old_up`. Returns `None` if `old` is not solid, belongs to
    /// another part, or did not push the body toward the upper side. A contact belongs to a ledge
    /// if it is in the plane of the ledge. So a change of the grid, which renumbers the parts, does
    /// not matter, and a body may cross from a solid cell to a ledge.
    pub fn old_sink(
        &self,
        old: &CollisionEvent,
        landing: &Landing<V::DVec>,
        old_up: V::DVec,
    ) -> Option<f64> {
        let rise = rise(V::projected(old.normal).to_f64(), old_up);
        let is_same_part = match self.ledge {
            Some(_) => {
                let height = V::projected(old.other_offset()).to_f64().dot(old_up);
                self.is_in_plane(rise, height, landing)
            }
            None => !self.is_divided() || old.other_part() == landing.contact.parts.1,
        };
        let is_support = old.is_solid() && is_same_part && rise > LEAST_COSINE;
        is_support.then(|| f64::from(old.depth) / rise)
    }

    /// Returns `true` if a contact of the body with other cells leads straight up to the plane of
    /// the ledge.
    pub fn is_level(&self, found: &PartContact<V::DVec>, landing: &Landing<V::DVec>) -> bool {
        let (up, contact) = (self.side.up, &found.contact);
        self.is_in_plane(rise(contact.normal, up), contact.offset_b.dot(up), landing)
    }

    /// Returns `true` if a contact of the body after `raise`, a translation onto the ledge, only
    /// grazes a side of a cell below the ledge. For example, the body ends exactly beside a solid
    /// cell of the same height. The contact of a body that still reaches below the ledge, as at a
    /// rim, is no graze.
    pub fn grazes_side(&self, found: &PartContact<V::DVec>, raise: V::DVec) -> bool {
        let (Some(ledge), Some(facet)) = (self.ledge, self.platform.facet(found.parts.1)) else {
            return false;
        };
        let (up, contact, unit) = (self.side.up, &found.contact, self.unit(found.parts.1));
        let rounding = self.rounding(unit);
        let plane = ledge.height + unit.translation().dot(up);
        contact.depth <= rounding
            && rise(contact.normal, up).abs() <= LEAST_COSINE
            && facet.top(up) <= ledge.height + rounding
            && self.is_bottom_above(found.parts.0, plane - rounding - raise.dot(up))
    }

    /// Returns `true` if a contact with this [`rise`], at this height above the platform's
    /// translation, is in the plane of the ledge.
    fn is_in_plane(&self, rise: f64, height: f64, landing: &Landing<V::DVec>) -> bool {
        let of_ledge = landing.contact.contact.offset_b.dot(self.side.up);
        // The margin is round at the end of a ledge, so the touched point is lower there.
        let margin = self.ledge.map_or(0.0, |ledge| ledge.margin);
        rise > STRAIGHT && (height - of_ledge).abs() <= landing.rounding + margin
    }

    /// Returns the first touch of the body and the platform, which move by `motions`. If body and
    /// platform touch at the start, `is_held` decides whether the landing on a part counts. If body
    /// and platform are apart at the start, only touches from above count.
    pub fn first_touch(
        &self,
        motions: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(&Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let region = region_of_path([self.body, self.platform], motions)?;
        let mut first: Option<PartTouch<V::DVec>> = None;
        self.visit_units(&region, |unit| {
            let touch = self.touch_of_unit(unit, motions, options, &is_held);
            first = earliest(first.into_iter().chain(touch));
        });
        first
    }

    /// Returns `true` if the body that moves by `motion` first touches a part of the platform from
    /// above.
    pub fn lands(&self, part: u32, motion: Motion64<V::DVec>) -> bool {
        let (motions, options) = ([motion, Motion64::still()], CastOptions::default());
        let touch = self.touch_of_unit(self.unit(part), motions, options, |_| false);
        touch.is_some()
    }

    /// Returns the first touch of the body with a part of the platform: see
    /// [`first_touch`](Self::first_touch).
    fn touch_of_unit(
        &self,
        unit: Placed<V>,
        [motion, platform_motion]: [Motion64<V::DVec>; 2],
        options: CastOptions,
        is_held: impl Fn(&Landing<V::DVec>) -> bool,
    ) -> Option<PartTouch<V::DVec>> {
        let climb = (motion.translation - platform_motion.translation).dot(self.side.up);
        let (body, unit_motion) = ((self.body.into(), motion), (unit, platform_motion));
        let (mut hit, parts) = cast_parts(body, unit_motion, options)?;
        let leads_up = rise(hit.contact.normal, self.side.up) > LEAST_COSINE;
        if hit.status == CastStatus::Hit {
            let turn = V::DVec::rotation(platform_motion.rotation * -hit.touching);
            let is_landing = leads_up && self.is_from_above(unit, (&hit, parts), turn, climb);
            if self.ledge.is_some() {
                hit.contact.normal = -(V::DVec::transpose(turn) * self.side.up);
                hit.face_normal = hit.contact.normal;
            }
            return is_landing.then_some((hit, parts));
        }
        let mut landing = self.landing_on(unit)?;
        landing.leads_up = leads_up;
        let leaves = options.leave_overlaps && climb >= 0.0;
        if leaves || !is_held(&landing) {
            return None;
        }
        hit.contact = landing.contact.contact;
        hit.face_normal = hit.contact.normal;
        Some((hit, landing.contact.parts))
    }

    /// Returns `true` if a cast of the body hits a platform from above, where the contact leads up.
    /// `turn` is the rotation of the platform from its pose at the touch back to its pose at the
    /// start. `climb` is the motion of the body along up.
    ///
    /// At the rim, a touch from above and a touch from the side have the same normals. A body that
    /// hits the rim lands if it does not climb, and if it begins above the platform.
    fn is_from_above(
        &self,
        unit: Placed<V>,
        (hit, parts): (&CastHit64<V::DVec>, PartPair),
        turn: <V::DVec as DVector>::Matrix,
        climb: f64,
    ) -> bool {
        if self.platform.is_surface() && self.ledge.is_none() {
            return climb <= 0.0 || rise(hit.face_normal, self.side.up) > LEAST_COSINE;
        }
        let allowed = self.rounding(unit) + self.side.margin;
        let contact = Contact64 {
            normal: turn * hit.contact.normal,
            offset_b: turn * hit.contact.offset_b,
            ..hit.contact
        };
        let rim = self.rim(unit, &contact, turn * hit.face_normal, parts.1);
        rim.is_none_or(|rim| climb <= 0.0 && self.is_bottom_above(parts.0, rim - allowed))
    }

    /// Returns the height of the rim of a convex platform along up, or `None` if the body does not
    /// touch the rim. Every point of a ledge counts as its rim, except for a half-space, which has
    /// no lowest point.
    ///
    /// At the rim, the touch is not inside an upper face, and a point beside the touched point and
    /// well below it is outside of the platform. The rim has the height of the touched point. If
    /// the touch is on a side below the rim, the height of the highest point of the part counts.
    fn rim(
        &self,
        unit: Placed<V>,
        contact: &Contact64<V::DVec>,
        face_normal: V::DVec,
        part: u32,
    ) -> Option<f64> {
        let up = self.side.up;
        if self.ledge.is_some() {
            let height = (unit.translation() + contact.offset_b).dot(up);
            return (!self.body.is_half_space()).then_some(height);
        }
        let outward = -contact.normal;
        let is_on_face =
            face_normal.dot(contact.normal) > 1.0 - SAME_FACE && outward.dot(up) > FLATTEST_SIDE;
        let sideways = (outward - up * outward.dot(up)).unit()?;
        let bounds = bounds(unit).filter(|_| !is_on_face && !self.platform.is_surface())?;
        let size = (bounds.max - bounds.min).length();
        let step = (sideways - up * STEEPEST_SLOPE) * (RIM_STEP * size);
        let touched = unit.translation() + contact.offset_b;
        let is_outside = |probe| {
            let ball = Shape::Ball { radius: 0.0 };
            let point = DynPart::point(&ball, probe);
            deepest_contact((&point).into(), unit).is_none()
        };
        if !is_outside(touched + step) {
            return None;
        }
        if is_outside(touched - step) {
            return Some(touched.dot(up));
        }
        unit.with_part(part, |part| part.height(up, V::DVec::ZERO))
    }

    /// Returns `true` if the lowest point of a part of the body is at least at `height`.
    fn is_bottom_above(&self, part: u32, height: f64) -> bool {
        let up = self.side.up;
        let depth = Placed::from(self.body).with_part(part, |it| it.height(-up, V::DVec::ZERO));
        depth.is_some_and(|depth| -depth >= height)
    }

    /// If the platform is a ledge, adds a contact for each other cell that the body touches. The
    /// last of `contacts` is the deepest contact with the ledge.
    fn add_cells(&self, contacts: &mut PartContacts<V::DVec>) {
        let (Some(found), Some(ledge), Ok(region)) =
            (contacts.last().copied(), self.ledge, self.body.region())
        else {
            return;
        };
        let platform = self.platform;
        let mut cells = SmallVec::<[_; 8]>::from_iter([platform.cell_of_facet(found.parts.1)]);
        let origin = self.body.world_pose.translation;
        platform.parts_near(&region, origin, |facet| {
            let (cell, unit) = (platform.cell_of_facet(facet), Placed::Part(platform, facet));
            let is_new = platform.ledge(facet) == Some(ledge.plane) && !cells.contains(&cell);
            if !is_new || deepest_contact(self.body.into(), unit).is_none() {
                return;
            }
            let landing = self.landing_on(unit);
            cells.extend(landing.map(|_| cell));
            contacts.extend(landing.map(|landing| landing.contact));
        });
    }

    /// Returns `true` if each part of the platform is a platform by itself.
    fn is_divided(&self) -> bool {
        self.platform.compound().is_some() && !self.platform.is_surface()
    }

    /// Calls `visit` with each platform near a region of the world.
    fn visit_units(&self, region: &BoundingRegion<V::DVec>, mut visit: impl FnMut(Placed<V>)) {
        if !self.is_divided() {
            return visit(self.unit(0));
        }
        let origin = self.body.world_pose.translation;
        self.platform
            .parts_near(region, origin, |part| visit(self.unit(part)));
    }

    /// Returns the platform to which a part belongs: the ledge, the part of a compound, or the
    /// whole collider.
    fn unit(&self, part: u32) -> Placed<'a, V> {
        match self.ledge {
            Some(ledge) => Placed::Ledge(self.platform, ledge.plane),
            None if self.is_divided() => Placed::Part(self.platform, part),
            None => self.platform.into(),
        }
    }
}

/// Returns a region of the world that contains a body while it moves relative to a platform. Both
/// are given in the poses in which their motions begin.
pub fn region_of_path<V: Space>(
    [body, platform]: [&PlacedCollider<V>; 2],
    [motion, platform_motion]: [Motion64<V::DVec>; 2],
) -> Option<BoundingRegion<V::DVec>> {
    let angle = |motion: &Motion64<V::DVec>| V::DVec::angle_size(motion.rotation);
    let origin = |placed: &PlacedCollider<V>| placed.world_pose.translation;
    let region = body.region().ok()?;
    let Some(bounds) = region.bounds() else {
        return Some(region);
    };
    // If the platform rotates, the body rotates about the platform's origin in the frame of the
    // platform.
    let turned = bounds.around_rotation(origin(body), angle(&motion));
    let translation = motion.translation - platform_motion.translation;
    let moved = turned.around_translation(translation);
    let carried = moved.around_rotation(origin(platform), angle(&platform_motion));
    Some(BoundingRegion::Box(carried))
}

fn bounds<V: Space>(placed: Placed<V>) -> Option<Bounds<V::DVec>> {
    placed.region()?.bounds().copied()
}

/// Returns the least and the greatest coordinate of a box along a direction.
fn extent<D: DVector>(bounds: &Bounds<D>, direction: D) -> (f64, f64) {
    let center = (bounds.min + bounds.max) * 0.5;
    let half = (bounds.max - bounds.min) * 0.5;
    let components = (0..D::DIMENSION).map(|axis| half.component(axis) * direction.component(axis));
    let half = components.map(f64::abs).sum::<f64>();
    let middle = center.dot(direction);
    (middle - half, middle + half)
}
