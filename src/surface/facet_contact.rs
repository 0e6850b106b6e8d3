//! The contact of one facet with one part of a body. Adjacent facets are ignored.

use core::{cmp::Ordering, ops::ControlFlow};

use crate::{
    placed::Part,
    query::{Contact64, Pair, Solver},
    shape::{BoundaryPoint, Facet, ScaledShape, Shape, Support},
    space::{DVector, Space, shortest_translation::PushPlane},
    surface::surface_pair::{BallPart, CenterSegment, SurfacePair},
    tolerance::{SAME_NORMAL, SURELY_APART},
};

/// The tolerance for the normal of a ball's contact, which has a closed form. A facet rises along
/// the normal only if the facet leaves the plane orthogonal to the normal at an angle whose sine
/// exceeds this value.
pub const RISE_SINE_CLOSED_FORM: f64 = 1e-7;

/// The tolerance for normals that GJK computes: twice the greatest error of such a normal. See
/// [`DISTANCE_GAP`](crate::tolerance::DISTANCE_GAP).
pub const RISE_SINE_GJK: f64 = 3e-5;

/// Two depths count as the same if their relative difference is at most this value: about eight
/// units in the last place of an `f32`.
pub const SAME_DEPTH: f64 = 1e-6;

/// A facet counts as cleared if the remaining overlap is at most this fraction of the translation's
/// length.
const MAX_LEFT_OVERLAP: f64 = 1e-5;

/// A contact of a facet and a part of the body.
#[derive(Clone, Copy)]
pub struct FacetContact<D> {
    /// The indices of the facet and of the part of the body.
    pub indices: (u32, u32),
    /// The contact, with the facet as the first shape, so the normal points from the surface to the
    /// body. For [`ContactKind::Plane`], this is the exact normal of the plane.
    pub contact: Contact64<D>,
    pub kind: ContactKind<D>,
    /// Points of the facet count as the same point if their distance is at most this value.
    pub weld: f64,
}

/// The method that computed a contact.
#[derive(Clone, Copy)]
pub enum ContactKind<D> {
    /// The contact joins the nearest points of the cores, and the point of the facet is inside the
    /// facet. Contacts with an edge or a corner that a push-out clears also have this kind.
    Nearest,
    /// The contact joins the nearest points of the cores, and the point of the facet is on its
    /// boundary.
    Boundary {
        point: BoundaryPoint<D>,
        /// The greatest error of the normal, as the sine of an angle.
        error: f64,
    },
    /// The contact along a given normal, which is usually the facet's own normal. Moving the body
    /// by the depth along this normal clears the facet.
    Plane,
}

impl<D> ContactKind<D> {
    /// Returns the kind of a contact at a boundary point, or inside the facet if `point` is `None`.
    fn at(point: Option<BoundaryPoint<D>>, error: f64) -> Self {
        point.map_or(Self::Nearest, |point| Self::Boundary { point, error })
    }
}

impl<D: DVector> FacetContact<D> {
    pub fn new(
        indices: (u32, u32),
        contact: Contact64<D>,
        kind: ContactKind<D>,
        weld: f64,
    ) -> Self {
        Self {
            indices,
            contact,
            kind,
            weld,
        }
    }

    pub fn depth(&self) -> f64 {
        self.contact.depth
    }

    pub fn normal(&self) -> D {
        self.contact.normal
    }

    /// Returns the plane that a translation of the body has to clear: the normal and the depth.
    pub fn plane(&self) -> PushPlane<D> {
        (self.normal(), self.depth())
    }

    pub fn is_plane(&self) -> bool {
        matches!(self.kind, ContactKind::Plane)
    }

    /// Returns `true` if two contacts have the same normal and the same depth, up to rounding.
    pub fn is_same_plane(&self, other: &Self) -> bool {
        let difference = (self.depth() - other.depth()).abs();
        (self.normal() - other.normal()).length() <= SAME_NORMAL
            && difference <= SAME_DEPTH * other.depth()
    }
}

/// The solver of a facet and a part of the body.
pub type SolverOf<'a, 'b, V> =
    Solver<Pair<'a, ScaledShape<'b, Shape<V>>, ScaledShape<'b, Shape<V>>>>;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Compares the indices of two contacts, in the order of the caller's colliders.
    pub(super) fn order(&self, a: &FacetContact<V::DVec>, b: &FacetContact<V::DVec>) -> Ordering {
        let [a, b] = [a, b].map(|contact| self.surface_first(contact.indices));
        a.cmp(&b)
    }

    /// Compares the depths of two contacts, then their indices.
    pub(super) fn by_depth(
        &self,
        a: &FacetContact<V::DVec>,
        b: &FacetContact<V::DVec>,
    ) -> Ordering {
        let depths = a.depth().total_cmp(&b.depth());
        depths.then_with(|| self.order(a, b))
    }

    /// If the body is convex, adds each facet that may touch the body to `near`, and returns
    /// `true`. Otherwise returns `false`.
    pub fn add_near_convex(&self, near: &mut Vec<(u32, u32)>) -> bool {
        let Some(body) = &self.convex else {
            return false;
        };
        let visit = |index| near.push((index, 0));
        if let Some(ball) = &self.ball {
            let center = self.body.world_pose.translation;
            self.surface.parts_near_ball(center, ball.half_box, visit);
        } else {
            self.surface.parts_near(&body.region, V::DVec::ZERO, visit);
            near.sort_unstable();
        }
        true
    }

    /// Adds the contacts of the pairs of facets and parts in `near`. Leaves out most contacts that
    /// [`remove_internal_contacts`](Self::remove_internal_contacts) would remove.
    pub(super) fn add_contacts(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) {
        let mut deepest = 0.0;
        // The last cluster that has a contact inside a facet, with the core above the plane. The
        // other facets of this cluster have the same contact or none, except at its rim. Most
        // surfaces have few facets away from a rim, so contacts are tested only for such a facet.
        let (mut touched, mut tested) = (None, 0);
        for (facet, part) in near {
            if self.rims(*facet) == 0 {
                let new = contacts.get(tested..).unwrap_or_default();
                let inside = new.iter().rfind(|contact| self.is_inside_facet(contact));
                touched = inside.map_or(touched, |it| self.cluster(it.indices.0));
                tested = contacts.len();
                if touched.is_some() && self.cluster(*facet) == touched {
                    continue;
                }
            }
            let Some(contact) = self.facet_contact((*facet, *part)) else {
                continue;
            };
            // The deepest contact must stay in the list, and is known only at the end. So a contact
            // is left out only if an earlier contact is deeper.
            if contact.depth() < deepest && self.has_rising_neighbor(&contact) {
                continue;
            }
            deepest = contact.depth().max(deepest);
            contacts.push(contact);
        }
    }

    /// Returns `true` if the core of a convex body is above the plane of a contact, and the contact
    /// is well inside the facet.
    fn is_inside_facet(&self, contact: &FacetContact<V::DVec>) -> bool {
        let is_nearest = matches!(contact.kind, ContactKind::Nearest);
        let facet = self.facet(contact.indices.0);
        is_nearest
            && self.convex.is_some()
            && facet.is_some_and(|facet| facet.inset(contact.contact.offset_a) > facet.weld)
    }

    /// Returns the contact of a facet with a part of the body. Returns `None` if the facet and the
    /// part do not touch, or if the facet is ignored.
    pub(super) fn facet_contact(&self, indices: (u32, u32)) -> Option<FacetContact<V::DVec>> {
        let facet = self.facet(indices.0);
        let facet = facet.as_deref();
        if let (Some(facet), Some(ball)) = (facet, &self.ball) {
            return self.ball_contact(indices, facet, ball);
        }
        if let Some(facet) = facet
            && let ControlFlow::Break(found) = self.contact_by_plane(indices, facet)
        {
            return found;
        }
        if facet.and_then(|it| self.surely_touches(it)) == Some(false) {
            return None;
        }
        self.with_parts(indices, |parts| {
            self.contact_of_parts(indices, facet, parts)
        })
    }

    /// Does the same as [`facet_contact`](Self::facet_contact) for a facet and a part that are
    /// already placed. The body is not a single ball.
    fn contact_of_parts(
        &self,
        indices: (u32, u32),
        facet: Option<&Facet<V::DVec>>,
        parts: [&Part<V>; 2],
    ) -> Option<FacetContact<V::DVec>> {
        let [on_surface, part] = parts;
        if on_surface.region.is_apart_from(&part.region) {
            return None;
        }
        if let (Some(facet), Some(ball)) = (facet, self.ball_part(part)) {
            return self.ball_contact(indices, facet, &ball);
        }
        self.solve(parts, V::DVec::ZERO, |solver| {
            if !solver.hit() {
                return None;
            }
            let Some(facet) = facet else {
                // If the scale flattens a facet, the facet has no normal, so the contact's normal
                // is used.
                let (contact, kind) = (solver.contact(), ContactKind::Nearest);
                return Some(FacetContact::new(indices, contact, kind, 0.0));
            };
            let outward = match self.center {
                Some(center) => self.outward(facet, center)?,
                // If the body has no center, the normal of the contact selects the side.
                None => facet.normal.toward(solver.contact().normal),
            };
            if self.surface.is_one_sided() && outward != facet.normal {
                return None;
            }
            if !solver.cores_are_apart() {
                return Some(plane_contact(solver, indices, facet, outward));
            }
            let contact = solver.contact();
            let normal = contact.normal;
            let is_own = facet.has_normal(normal);
            let point = facet
                .nearest_boundary(foot(on_surface, &contact))
                .filter(|_| !is_own);
            if self.pushes_through(normal, point.as_ref(), outward) {
                return Some(plane_contact(solver, indices, facet, outward));
            }
            let kind = ContactKind::at(point, RISE_SINE_GJK);
            Some(FacetContact::new(indices, contact, kind, facet.weld))
        })
    }

    /// Returns the normal of a facet on the side of a center, or `None` if the center is behind the
    /// facet of a one-sided surface.
    fn outward(&self, facet: &Facet<V::DVec>, center: V::DVec) -> Option<V::DVec> {
        (!self.is_hidden(facet)).then(|| facet.normal_toward(center))
    }

    /// Returns the contact that pushes the body out of a facet along a unit vector. Returns `None`
    /// if the body does not touch the facet.
    pub(super) fn contact_along(
        &self,
        indices: (u32, u32),
        normal: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let facet = self.facet(indices.0)?;
        if let ControlFlow::Break(Some(found)) = self.contact_by_plane(indices, &facet)
            && found.normal() == normal
        {
            let kind = ContactKind::Plane;
            return Some(FacetContact { kind, ..found });
        }
        if let Some(touches) = self.surely_touches(&facet) {
            return touches.then(|| self.touch_along(indices, normal))?;
        }
        self.solve_indices(indices, V::DVec::ZERO, |solver| {
            solver
                .hit()
                .then(|| plane_contact(solver, indices, &facet, normal))
        })
    }

    /// Does the same as [`contact_along`](Self::contact_along) for a facet that the body touches.
    pub(super) fn touch_along(
        &self,
        indices: (u32, u32),
        normal: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let Some(radius) = self.surface.facet_radius() else {
            return self.contact_along(indices, normal);
        };
        let facet = self.facet(indices.0)?;
        self.with_body_part(indices.1, |part| {
            let lowest = self.lowest(part, normal);
            let height = lowest.dot(normal) - facet.top(normal);
            let contact = self.contact_at_height(part, radius, lowest, (normal, height));
            let kind = ContactKind::Plane;
            Some(FacetContact::new(indices, contact, kind, facet.weld))
        })
    }

    /// Returns the contact of a part of the body with a plane. `radius` is the radius of the
    /// facets. `lowest` is the core's lowest point along the plane's normal, relative to the
    /// surface's translation, and `height` is the height of this point above the plane.
    fn contact_at_height(
        &self,
        part: &Part<V>,
        radius: f64,
        lowest: V::DVec,
        (normal, height): (V::DVec, f64),
    ) -> Contact64<V::DVec> {
        let own_radius = part.scaled_shape().radius();
        let origin = part.world_pose.translation - self.surface.world_pose.translation;
        Contact64 {
            normal,
            depth: (radius + own_radius - height).max(0.0),
            offset_a: lowest + normal * (radius - height),
            offset_b: lowest - origin - normal * own_radius,
        }
    }

    /// Returns the contact of a convex body with the plane of a facet. `normal` is normal to the
    /// facet, and `lowest` is the core's lowest point along `normal`, relative to the surface's
    /// translation. Returns `None` if the facets have no single radius.
    pub(super) fn contact_over(
        &self,
        indices: (u32, u32),
        facet: &Facet<V::DVec>,
        normal: V::DVec,
        lowest: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let (radius, part) = (self.surface.facet_radius()?, self.convex.as_ref()?);
        let height = facet.height(lowest) * facet.normal.dot(normal);
        let contact = self.contact_at_height(part, radius, lowest, (normal, height));
        let kind = if height < 0.0 {
            ContactKind::Plane
        } else {
            ContactKind::Nearest
        };
        Some(FacetContact::new(indices, contact, kind, facet.weld))
    }

    /// Computes the contact of a facet with a convex body from the plane of the facet. Returns
    /// `Break` if the body's lowest point decides whether and where facet and body touch, and
    /// `Continue` otherwise.
    fn contact_by_plane(
        &self,
        indices: (u32, u32),
        facet: &Facet<V::DVec>,
    ) -> ControlFlow<Option<FacetContact<V::DVec>>> {
        let (Some(center), Some(body), Some(radius)) =
            (self.center, &self.convex, self.surface.facet_radius())
        else {
            return ControlFlow::Continue(());
        };
        let Some(normal) = self.outward(facet, center) else {
            return ControlFlow::Break(None);
        };
        let lowest = self.lowest(body, normal);
        let height = facet.height(lowest) * facet.normal.dot(normal);
        let radius = radius + body.scaled_shape().radius();
        let tolerance = self.height_tolerance(facet, center);
        if height > radius + tolerance {
            return ControlFlow::Break(None);
        }
        // If the core is above the plane, the projection of its lowest point is the nearest point.
        // If the core reaches below the plane, the segment from the lowest point to the center is
        // in the core, and crosses the plane.
        let is_above = height > tolerance && height <= radius;
        let CenterSegment { crossing, .. } = CenterSegment::new(lowest, center, (normal, -height));
        let is_decided =
            is_above && facet.is_under(lowest) || height < -tolerance && facet.is_under(crossing);
        if is_decided {
            ControlFlow::Break(self.contact_over(indices, facet, normal, lowest))
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns the contact of a facet and a part for a given plane. `translation` ends on this
    /// plane.
    pub(super) fn contact_at(
        &self,
        indices: (u32, u32),
        (normal, depth): PushPlane<V::DVec>,
        translation: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let facet = self.facet(indices.0)?;
        if facet.has_normal(normal) {
            return self.contact_along(indices, normal);
        }
        // After the translation, the shapes just touch, and the nearest points are the points of
        // the contact.
        let (_, touching) = self.solve_indices(indices, translation, |solver| solver.distance())?;
        let contact = Contact64 {
            normal,
            depth,
            ..touching
        };
        let kind = ContactKind::Nearest;
        Some(FacetContact::new(indices, contact, kind, facet.weld))
    }

    /// Returns the contact with a *plate*: a facet as if the surface had no other facets. `contact`
    /// is the contact with the facet's plane. A body leaves a plate along the normal of the plate's
    /// plane or past the plate's boundary, whichever is shorter.
    ///
    /// Returns `None` in these cases:
    ///
    /// * The depth is at least `limit`, which is at most the depth of `contact`.
    /// * The push-out would take the center through the facet.
    /// * The body has no center, and the normals of the two contacts do not point to the same side.
    pub(super) fn plate_contact(
        &self,
        contact: &FacetContact<V::DVec>,
        limit: f64,
    ) -> Option<FacetContact<V::DVec>> {
        // For a body of several parts, the segment to the center may leave the part.
        if self.convex.is_some() && self.is_wide(contact, limit) {
            return None;
        }
        let found = self.solve_indices(contact.indices, V::DVec::ZERO, |solver| {
            solver.contact_below(limit)
        })?;
        let is_through = match self.center {
            Some(center) => {
                let facet = self.facet(contact.indices.0)?;
                facet.is_crossed_by([center, center + found.normal * found.depth])
            }
            None => found.normal.dot(contact.normal()) <= 0.0,
        };
        (!is_through).then_some(FacetContact {
            contact: found,
            kind: ContactKind::Nearest,
            ..*contact
        })
    }

    /// Returns `true` if a contact with this normal would push the center to the other side of the
    /// facet. This happens if the touching part of a compound and the compound's center are on
    /// different sides.
    fn pushes_through(
        &self,
        normal: V::DVec,
        boundary: Option<&BoundaryPoint<V::DVec>>,
        outward: V::DVec,
    ) -> bool {
        match (boundary, self.center) {
            (Some(boundary), Some(center)) => (center - boundary.point).dot(normal) <= 0.0,
            (None, _) => normal.dot(outward) < 0.0,
            (Some(_), None) => false,
        }
    }

    /// Computes the same contact as [`facet_contact`](Self::facet_contact) in closed form, for a
    /// ball.
    fn ball_contact(
        &self,
        indices: (u32, u32),
        facet: &Facet<V::DVec>,
        ball: &BallPart<V::DVec>,
    ) -> Option<FacetContact<V::DVec>> {
        let BallPart {
            center: core,
            radius,
            facet_radius,
            ..
        } = *ball;
        let boundary = if facet.is_under(core) {
            None
        } else {
            facet.nearest_boundary(core)
        };
        let height = facet.height(core);
        let (foot, normal) = match boundary {
            Some(boundary) => (boundary.point, (core - boundary.point).unit()),
            None if height < 0.0 => (core - facet.normal * height, Some(-facet.normal)),
            None => (core - facet.normal * height, Some(facet.normal)),
        };
        if !(facet_radius >= 0.0 && radius >= 0.0) {
            return None;
        }
        let depth = facet_radius + radius - (core - foot).length();
        if depth < -SURELY_APART * (facet_radius + radius + facet.max_distance(core)) {
            return None;
        }
        let outward = self.outward(facet, self.center?)?;
        let normal = normal.unwrap_or(outward);
        // A distance within the tolerance counts as touching. Only the solver applies this
        // tolerance. So if the depth is negative, the solver decides.
        if depth < 0.0 || self.pushes_through(normal, boundary.as_ref(), outward) {
            let contact = self.with_parts(indices, |[on_surface, part]| {
                let is_apart = on_surface.region.is_apart_from(&part.region);
                (!is_apart).then(|| self.contact_along(indices, outward))
            })?;
            if depth >= 0.0 {
                return contact;
            }
            contact?;
        }
        // Each offset is relative to the origin of its own part. The origin of a ball is the ball's
        // center.
        let contact = Contact64 {
            normal,
            depth: depth.max(0.0),
            offset_a: foot + normal * facet_radius,
            offset_b: -(normal * radius),
        };
        let kind = ContactKind::at(boundary, RISE_SINE_CLOSED_FORM);
        Some(FacetContact::new(indices, contact, kind, facet.weld))
    }

    /// Does the same as [`solve`](Self::solve) for the facet and the part with these indices.
    pub(super) fn solve_indices<R>(
        &self,
        indices: (u32, u32),
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>) -> Option<R>,
    ) -> Option<R> {
        self.with_parts(indices, |parts| self.solve(parts, translation, visit))
    }

    /// Moves a part of the body by a translation, and calls `visit` with the solver of a facet and
    /// this part.
    pub(super) fn solve<R>(
        &self,
        [facet, part]: [&Part<V>; 2],
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>) -> Option<R>,
    ) -> Option<R> {
        let (facet_shape, body_shape) = (facet.scaled_shape(), part.scaled_shape());
        let [mut facet_pose, mut body_pose] = [facet, part].map(|part| part.world_pose.pose());
        // Moving the body is equivalent to moving the facet by the opposite translation. In both
        // cases, the caller's second collider is moved.
        if self.is_swapped {
            facet_pose.translation = facet_pose.translation - translation;
        } else {
            body_pose.translation = body_pose.translation + translation;
        }
        let pair = Pair::new(&facet_shape, facet_pose, &body_shape, body_pose);
        visit(&mut Solver::new(pair.counted_by(self.counter)))
    }
}

/// Returns the depth that may remain, because of rounding, after a translation that clears a facet.
pub fn slop<D: DVector>(weld: f64, translation: D) -> f64 {
    MAX_LEFT_OVERLAP * translation.length() + 0.125 * weld
}

/// Returns `true` if a translation clears the plane of a contact.
pub fn clears_plane<D: DVector>(contact: &FacetContact<D>, translation: D) -> bool {
    contact.depth() - translation.dot(contact.normal()) <= slop(contact.weld, translation)
}

/// Returns `true` if a translation ends on or before the plane of a contact.
pub fn ends_at_plane<D: DVector>(contact: &FacetContact<D>, translation: D) -> bool {
    translation.dot(contact.normal()) <= contact.depth() + slop(contact.weld, translation)
}

/// Returns `true` if a translation ends on the plane of a contact.
pub fn is_tight<D: DVector>(contact: &FacetContact<D>, translation: D) -> bool {
    clears_plane(contact, translation) && ends_at_plane(contact, translation)
}

/// Returns the contact that pushes the body out of a facet along a unit vector.
fn plane_contact<V: Space>(
    solver: &SolverOf<V>,
    indices: (u32, u32),
    facet: &Facet<V::DVec>,
    outward: V::DVec,
) -> FacetContact<V::DVec> {
    let contact = Contact64 {
        normal: outward,
        ..solver.contact_over(outward, true)
    };
    FacetContact::new(indices, contact, ContactKind::Plane, facet.weld)
}

/// Returns the contact's point on the core of the facet, relative to the surface's translation.
pub fn foot<V: Space>(facet: &Part<V>, contact: &Contact64<V::DVec>) -> V::DVec {
    contact.offset_a - contact.normal * facet.scaled_shape().radius()
}
