//! The contact of one facet and one part of a body, regardless of the adjacent facets.

use crate::{
    placed::Part,
    query::{Contact64, Pair, Solver},
    shape::{BoundaryPoint, Facet, ScaledShape, Shape, Support},
    space::{DVector, Space, shortest_translation::PushPlane},
    surface::SurfacePair,
    tolerance::{SAME_NORMAL, TOUCHING},
};

/// Tolerance for the normal of a ball's contact, which has a closed form: a facet rises along the
/// normal only if the sine of the angle is greater.
pub const EXACT: f64 = 1e-7;

/// The same tolerance for normals computed by GJK: twice their error, see
/// [`DISTANCE_GAP`](crate::tolerance::DISTANCE_GAP).
pub const INEXACT: f64 = 3e-5;

/// Depths are the same if they differ by at most this fraction: about 8 roundings of `f32`.
pub const SAME_DEPTH: f64 = 1e-6;

/// If the gap is more than this fraction of the scale, every solver reports two shapes as
/// separated.
const SURELY_APART: f64 = 8.0 * TOUCHING;

/// A contact of a facet and a part of the body.
#[derive(Clone, Copy)]
pub struct FacetContact<D> {
    /// The index of the part in the first and in the second proxy.
    pub indices: (u32, u32),
    /// The unit normal from the surface to the body.
    pub normal: D,
    /// The contact in the order of the two proxies.
    pub local: Contact64<D>,
    pub kind: ContactKind<D>,
    /// Points of the facet no farther apart than this count as the same point.
    pub weld: f64,
}

/// The method that computed a contact.
#[derive(Clone, Copy)]
pub enum ContactKind<D> {
    /// From the nearest points of the cores, one of which is inside the facet. Also the contact
    /// with an edge or a corner over which the body is pushed out.
    Nearest,
    /// From the nearest points of the cores, one of which is on the facet's boundary.
    Boundary {
        point: BoundaryPoint<D>,
        /// The greatest error of the normal, as the sine of an angle.
        error: f64,
    },
    /// Along the facet's own normal, with the depth that clears its plane.
    Plane,
}

impl<D> ContactKind<D> {
    /// The kind of a contact at a point of the boundary, or inside the facet if `point` is `None`.
    fn at(point: Option<BoundaryPoint<D>>, error: f64) -> Self {
        point.map_or(Self::Nearest, |point| Self::Boundary { point, error })
    }
}

impl<D: DVector> FacetContact<D> {
    pub fn depth(&self) -> f64 {
        self.local.depth
    }

    /// The plane that a translation has to clear.
    pub fn plane(&self) -> PushPlane<D> {
        (self.normal, self.depth())
    }

    pub fn is_plane(&self) -> bool {
        matches!(self.kind, ContactKind::Plane)
    }

    /// Returns `true` if two contacts have the same normal and depth.
    pub fn is_same_plane(&self, other: &Self) -> bool {
        let difference = (self.depth() - other.depth()).abs();
        (self.normal - other.normal).length() <= SAME_NORMAL
            && difference <= SAME_DEPTH * other.depth()
    }
}

/// A part of the body that is a ball.
pub struct Ball<'a, V: Space> {
    part: Part<'a, V>,
    /// The center, relative to the translation of the surface.
    core: V::DVec,
    radius: f64,
    /// The radius of each facet.
    facet_radius: f64,
}

type SolverOf<'a, 'b, V> = Solver<'a, ScaledShape<'b, Shape<V>>, ScaledShape<'b, Shape<V>>>;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Returns a part of the body as a ball, or `None` if it is not a ball. Also returns `None` if
    /// the facets have a radius and the surface's scale is not uniform.
    pub(super) fn ball<'p>(&self, part: Part<'p, V>) -> Option<Ball<'p, V>> {
        let (core, radius) = {
            let shape = part.scaled_shape();
            let is_ball = shape.core().is_point() && self.center.is_some();
            let core = part.world_pose.translation - self.surface().world_pose.translation;
            (is_ball.then_some(core)?, shape.radius())
        };
        let facet_radius = self.surface().facet_radius()?;
        Some(Ball {
            part,
            core,
            radius,
            facet_radius,
        })
    }

    /// Adds the pairs of parts that may touch if the body is a single ball. Otherwise returns
    /// `false`.
    pub fn add_near_ball(&self, near: &mut Vec<(u32, u32)>) -> bool {
        let Some(Ball { part, .. }) = &self.ball else {
            return false;
        };
        let Some(bounds) = part.region.bounds() else {
            return false;
        };
        // Half the side of the box, which includes the touching tolerance.
        let radius = 0.5 * (bounds.max - bounds.min).component(0);
        let center = part.world_pose.translation;
        self.surface().parts_near_ball(center, radius, |index| {
            near.push(self.of_surface_and_body([index, 0]).into());
        });
        true
    }

    /// Adds the contacts of pairs of parts. Leaves out most contacts that
    /// [`remove_internal_contacts`](Self::remove_internal_contacts) would remove.
    pub(super) fn add_contacts(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) {
        let mut deepest = 0.0;
        for contact in near.iter().filter_map(|pair| self.facet_contact(*pair)) {
            // The deepest contact always counts, and is known only at the end.
            if contact.depth() < deepest && self.has_rising_neighbor(&contact) {
                continue;
            }
            deepest = contact.depth().max(deepest);
            contacts.push(contact);
        }
    }

    /// Returns the contact of two parts, or `None` if they do not touch.
    pub(super) fn facet_contact(&self, indices: (u32, u32)) -> Option<FacetContact<V::DVec>> {
        let facet = self.surface().facet(self.facet_index(indices));
        if let (Some(facet), Some(ball)) = (&facet, &self.ball) {
            return self.ball_contact(indices, facet, ball);
        }
        let [a, b] = &self.parts(indices)?;
        if a.region.is_apart_from(&b.region) {
            return None;
        }
        let part = self.body().part(self.body_index(indices));
        if let (Some(facet), Some(ball)) = (&facet, part.and_then(|part| self.ball(part))) {
            return self.ball_contact(indices, facet, &ball);
        }
        self.solve_parts([a, b], V::DVec::ZERO, |solver, parts| {
            let Some(facet) = facet else {
                // The scale has flattened the facet, so it has no normal.
                let local = solver.contact();
                return Some(FacetContact {
                    indices,
                    normal: self.flip_if_swapped(local.normal),
                    local,
                    kind: ContactKind::Nearest,
                    weld: 0.0,
                });
            };
            let outward = match self.center {
                Some(center) => self.outward(&facet, center)?,
                // The side to which the contact pushes the body.
                None => facet
                    .normal
                    .toward(self.flip_if_swapped(solver.contact().normal)),
            };
            if self.surface().is_one_sided() && outward != facet.normal {
                return None;
            }
            if !solver.cores_are_apart() {
                return Some(self.plane_contact(solver, indices, &facet, outward));
            }
            let local = solver.contact();
            let normal = self.flip_if_swapped(local.normal);
            let is_own = facet.has_normal(normal);
            let point = facet
                .nearest_boundary(self.foot(parts, &local))
                .filter(|_| !is_own);
            if self.pushes_through(normal, point.as_ref(), outward) {
                return Some(self.plane_contact(solver, indices, &facet, outward));
            }
            Some(FacetContact {
                indices,
                normal,
                local,
                kind: ContactKind::at(point, INEXACT),
                weld: facet.weld,
            })
        })
    }

    /// Returns the normal of a facet on the side of a center, or `None` if the center is behind a
    /// one-sided surface.
    fn outward(&self, facet: &Facet<V::DVec>, center: V::DVec) -> Option<V::DVec> {
        if facet.height(center) >= 0.0 {
            Some(facet.normal)
        } else {
            (!self.surface().is_one_sided()).then_some(-facet.normal)
        }
    }

    /// Returns the contact that clears the plane of a facet along a unit vector.
    pub(super) fn plane_contact(
        &self,
        solver: &SolverOf<V>,
        indices: (u32, u32),
        facet: &Facet<V::DVec>,
        outward: V::DVec,
    ) -> FacetContact<V::DVec> {
        FacetContact {
            indices,
            normal: outward,
            local: solver.contact_over(self.flip_if_swapped(outward), self.surface_is_first),
            kind: ContactKind::Plane,
            weld: facet.weld,
        }
    }

    /// Returns the contact of a facet as a thin plate, which the body leaves over the plane or past
    /// the boundary, whichever is nearer. Returns `None` if that takes the center through the facet
    /// (without a center: if the normal opposes that of `contact`), or if `contact` does not clear
    /// the plane and so is the contact of the plate itself.
    pub(super) fn plate_contact(
        &self,
        contact: &FacetContact<V::DVec>,
    ) -> Option<FacetContact<V::DVec>> {
        let local = self.solve(contact.indices, V::DVec::ZERO, |solver, _| {
            contact.is_plane().then(|| solver.contact())
        })?;
        let normal = self.flip_if_swapped(local.normal);
        let is_through = match self.center {
            Some(center) => {
                let facet = self.surface().facet(self.facet_index(contact.indices))?;
                facet.is_crossed_by([center, center + normal * local.depth])
            }
            None => normal.dot(contact.normal) <= 0.0,
        };
        (!is_through).then_some(FacetContact {
            normal,
            local,
            kind: ContactKind::Nearest,
            ..*contact
        })
    }

    /// Returns `true` if a normal would push the center to the other side of the facet. This can
    /// happen if the nearest part of a compound is on that side.
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

    /// Like [`facet_contact`](Self::facet_contact), but for a ball, in closed form.
    fn ball_contact(
        &self,
        indices: (u32, u32),
        facet: &Facet<V::DVec>,
        ball: &Ball<V>,
    ) -> Option<FacetContact<V::DVec>> {
        let (core, own, others) = (ball.core, ball.facet_radius, ball.radius);
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
        if !(own >= 0.0 && others >= 0.0) {
            return None;
        }
        let [first, second] = self.of_surface_and_body([own, others]);
        let depth = first + second - (core - foot).length();
        if depth < -SURELY_APART * (own + others + facet.max_distance(core)) {
            return None;
        }
        let outward = self.outward(facet, self.center?)?;
        let normal = normal.unwrap_or(outward);
        // Shapes that only rounding separates touch. The solver applies the tolerance for that.
        if depth < 0.0 || self.pushes_through(normal, boundary.as_ref(), outward) {
            let [a, b] = &self.parts(indices)?;
            if a.region.is_apart_from(&b.region) {
                return None;
            }
            let contact = self.solve_parts([a, b], V::DVec::ZERO, |solver, _| {
                Some(self.plane_contact(solver, indices, facet, outward))
            });
            if depth >= 0.0 {
                return contact;
            }
            contact?;
        }
        // Each point is relative to its own part, and the ball's core is at its part's origin.
        let (on_facet, on_ball) = (foot + normal * own, -(normal * others));
        let [offset_a, offset_b] = self.of_surface_and_body([on_facet, on_ball]);
        Some(FacetContact {
            indices,
            normal,
            local: Contact64 {
                normal: self.flip_if_swapped(normal),
                depth: depth.max(0.0),
                offset_a,
                offset_b,
            },
            kind: ContactKind::at(boundary, EXACT),
            weld: facet.weld,
        })
    }

    /// Returns the point of a contact on the core of the facet, relative to the translation of the
    /// surface.
    pub(super) fn foot(&self, parts: [&Part<V>; 2], contact: &Contact64<V::DVec>) -> V::DVec {
        let [a, b] = parts;
        if self.surface_is_first {
            contact.offset_a - contact.normal * a.scaled_shape().radius()
        } else {
            contact.offset_b + contact.normal * b.scaled_shape().radius()
        }
    }

    /// Calls `visit` with two parts and their solver, if the parts touch after `translation` of the
    /// second part.
    pub(super) fn solve<R>(
        &self,
        indices: (u32, u32),
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        let [a, b] = self.parts(indices)?;
        self.solve_parts([&a, &b], translation, visit)
    }

    /// Like [`solve`](Self::solve), for given parts.
    fn solve_parts<R>(
        &self,
        [a, b]: [&Part<V>; 2],
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        self.solve_apart([a, b], translation, |solver| {
            if !solver.hit() {
                return None;
            }
            visit(solver, [a, b])
        })
    }

    /// Like [`solve_parts`](Self::solve_parts), but also for parts that do not touch.
    fn solve_apart<R>(
        &self,
        [a, b]: [&Part<V>; 2],
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>) -> Option<R>,
    ) -> Option<R> {
        let (shape_a, shape_b) = (a.scaled_shape(), b.scaled_shape());
        let mut pose_b = b.world_pose.pose();
        pose_b.translation = pose_b.translation + translation;
        let pair = Pair::new(&shape_a, a.world_pose.pose(), &shape_b, pose_b);
        visit(&mut Solver::new(pair.counted_by(self.counter)))
    }

    /// Returns the normal from the surface to the body after a translation of the body. It is the
    /// normal of the contact, or the direction between the nearest points.
    pub(super) fn normal_after(
        &self,
        indices: (u32, u32),
        translation: V::DVec,
    ) -> Option<V::DVec> {
        let [a, b] = self.parts(indices)?;
        self.solve_apart([&a, &b], self.flip_if_swapped(translation), |solver| {
            let contact = if solver.hit() {
                solver.contact()
            } else {
                solver.distance()?.1
            };
            Some(self.flip_if_swapped(contact.normal))
        })
    }
}
