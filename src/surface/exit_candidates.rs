//! Collects the planes, edges and corners that a push-out may clear.

use core::ops::ControlFlow;
use std::borrow::Cow;

use arrayvec::ArrayVec;

use crate::{
    placed::BoundingRegion,
    query::{Pair, Solver},
    shape::{BoundaryPoint, Facet, Support, weld},
    space::{DVector, Pose, Space},
    surface::{
        body_part::{BodyPart, NearFacet, Neighborhood},
        facet_contact::{ContactKind, FacetContact, RISE_SINE_GJK, foot},
        fan::{FacetsAtPoint, Fan, PointHull},
        internal_edges::EdgeVerdict,
        limits::{MAX_CANDIDATES, MAX_PARTS},
        lists::PushOutLists,
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// Maximum number of edges and corners near a part whose contacts are computed. The edges and
/// corners with the lowest estimated depths are used.
const MAX_FANS: usize = 32;

/// Maximum number of searches for all facets at a point. A search is needed if an edge at the point
/// belongs to a single near facet.
const MAX_SEARCHES: usize = 256;

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Returns the touching parts of the body, and collects the facets near each part. A facet is
    /// near a part if it overlaps the part's neighborhood and the part's box grown by `farthest`.
    /// No other facet affects a push-out that is shorter than `farthest`.
    pub(super) fn collect_near_facets(
        &self,
        contacts: &[FacetContact<V::DVec>],
        farthest: f64,
        near: &mut Vec<NearFacet<V::DVec>>,
    ) -> ArrayVec<BodyPart<'a, V>, MAX_PARTS> {
        let mut bodies = ArrayVec::<BodyPart<V>, MAX_PARTS>::new();
        let origin = self.surface.world_pose.translation;
        for contact in contacts {
            let (_, index) = contact.indices;
            if bodies.is_full() || bodies.iter().any(|body| body.index == index) {
                continue;
            }
            let facet = self.surface.part(contact.indices.0);
            let (Some(facet), Some(part)) = (facet, self.body.part(index)) else {
                continue;
            };
            let margin = facet.scaled_shape().radius();
            let neighborhood = Neighborhood::new(&part, origin, margin);
            let first = near.len();
            let mut bounds = neighborhood.bounds(origin);
            if let Some(own) = part.region.bounds() {
                bounds = bounds.common(&own.grown(farthest));
            }
            let region = BoundingRegion::Box(bounds);
            self.surface.parts_near(&region, V::DVec::ZERO, |index| {
                let is_near =
                    |facet: &Facet<_>| neighborhood.includes(|center| facet.distance(center));
                let facet = self.facet(index).map(Cow::into_owned).filter(is_near);
                near.extend(facet.map(|facet| NearFacet {
                    index,
                    is_hidden: self.is_hidden(&facet),
                    facet,
                }));
            });
            let near = first..near.len();
            bodies.push(BodyPart {
                index,
                part,
                origin,
                margin,
                neighborhood,
                near,
            });
        }
        for body in &bodies {
            let near = near.get_mut(body.near.clone()).unwrap_or_default();
            near.sort_unstable_by_key(|facet| facet.index);
        }
        bodies
    }

    /// Collects the candidates: the planes of the contacts, and the contacts with edges and corners
    /// near the body. The candidates are sorted by depth, and the shallowest comes first.
    pub(super) fn find_candidates(
        &self,
        contacts: &[FacetContact<V::DVec>],
        bodies: &[BodyPart<V>],
        limit: f64,
        lists: &mut PushOutLists<V>,
    ) {
        lists.candidates.extend_from_slice(contacts);
        for body in bodies {
            let own = contacts.iter().enumerate();
            let own = own.filter(|(_, contact)| contact.indices.1 == body.index);
            for (index, contact) in own {
                let planes = self.plane_contacts(contact, body, limit);
                lists.candidates.extend(planes.into_iter().flatten());
                if index % (contacts.len() / MAX_CANDIDATES + 1) == 0 {
                    let past_boundary = self.boundary_contact(contact, limit);
                    lists.candidates.extend(past_boundary);
                }
            }
            self.add_fans(body, limit, lists);
        }
        let candidates = &mut lists.candidates;
        candidates.sort_unstable_by(|a, b| self.by_depth(a, b));
        candidates.dedup_by(|a, b| a.is_same_plane(b));
        candidates.truncate(MAX_CANDIDATES);
    }

    /// Adds the contacts of a part of the body with the edges and corners near it.
    fn add_fans(&self, body: &BodyPart<V>, limit: f64, lists: &mut PushOutLists<V>) {
        let PushOutLists {
            near,
            boundary_points,
            fans,
            candidates,
            ..
        } = lists;
        let near = near.get(body.near.clone()).unwrap_or_default();
        boundary_points.clear();
        for (index, NearFacet { facet, .. }) in near.iter().enumerate() {
            let points = body.neighborhood.boundary_points(facet);
            boundary_points.extend(points.map(|point| (point, index)));
        }
        boundary_points.sort_unstable_by(|(a, index), (b, other)| {
            let points = a.point.total_cmp(b.point);
            let are_vertices = a.is_vertex().cmp(&b.is_vertex());
            points.then(are_vertices).then(index.cmp(other))
        });
        let are_same = |(a, _): &(BoundaryPoint<_>, _), (b, _): &(BoundaryPoint<_>, _)| {
            a.point == b.point && a.is_vertex() == b.is_vertex()
        };
        fans.clear();
        let mut searches = MAX_SEARCHES;
        let mut first = 0;
        for group in boundary_points.chunk_by(are_same) {
            let range = first..first + group.len();
            first = range.end;
            let Some((point, _)) = group.first() else {
                continue;
            };
            let adjacent = group.iter().filter_map(|(_, index)| near.get(*index));
            let adjacent = adjacent.map(|near| &near.facet);
            let at_point = || self.facets_at(point.point);
            let fan = Fan::around(point, adjacent, at_point, &mut searches);
            let rank = fan.and_then(|fan| fan.rank(body, limit));
            fans.extend(rank.map(|rank| (rank, range)));
        }
        fans.sort_unstable_by(|a, b| {
            let ranks = a.0.total_cmp(&b.0);
            ranks.then(a.1.start.cmp(&b.1.start))
        });
        let mut searches = MAX_FANS;
        for (_, range) in fans.iter().take(MAX_FANS) {
            let group = boundary_points.get(range.clone()).unwrap_or_default();
            let adjacent = || group.iter().filter_map(|(_, index)| near.get(*index));
            let visible = adjacent().find(|near| !near.is_hidden);
            let (Some(visible), Some((point, _))) = (visible, group.first()) else {
                continue;
            };
            let facets = adjacent().map(|near| &near.facet);
            let at_point = || self.facets_at(point.point);
            if let Some(fan) = Fan::around(point, facets, at_point, &mut searches) {
                candidates.extend(self.hull_contact(body, visible.index, &fan, limit));
            }
        }
    }

    /// Returns the facets that contain a point of the surface. The point may be farther away than
    /// all near facets, at the end of an edge of one of them.
    fn facets_at(&self, point: V::DVec) -> FacetsAtPoint<V::DVec> {
        let mut found = FacetsAtPoint::new();
        self.visit_at(
            (point, weld(&[point])),
            |_| true,
            |index, facet| {
                found.push((index, facet.clone()));
                ControlFlow::Continue(())
            },
        );
        found.sort_unstable_by_key(|(index, _)| *index);
        found
    }

    /// Returns the contacts that push a part out of a facet along the facet's normal. One contact
    /// pushes to the side of the center, and the other contact to the opposite side. Leaves out
    /// `contact` itself.
    ///
    /// The contact to the opposite side is returned only if all these conditions hold:
    ///
    /// * The surface is two-sided.
    /// * The center is not above or below the facet.
    /// * The body has one part. If the body had several parts, the other parts would stay on the
    ///   side of the center.
    fn plane_contacts(
        &self,
        contact: &FacetContact<V::DVec>,
        body: &BodyPart<V>,
        limit: f64,
    ) -> [Option<FacetContact<V::DVec>>; 2] {
        let facet = self.facet(contact.indices.0);
        let (Some(facet), Some(center)) = (facet, self.center) else {
            return [None, None];
        };
        let outward = facet.normal_toward(center);
        let is_whole = self.body.scaled_shape().is_some();
        let has_two = is_whole && !self.surface.is_one_sided() && !facet.is_under(center);
        let contact_along = |normal: V::DVec| {
            let height = facet.height(body.lowest(normal)) * facet.normal.dot(normal);
            if body.radius() - height >= limit {
                return None;
            }
            self.contact_along(contact.indices, normal)
        };
        let near_side = (!contact.is_plane()).then_some(outward);
        let far_side = has_two.then_some(-outward);
        [near_side, far_side].map(|normal| normal.and_then(contact_along))
    }

    /// Returns the contact that pushes the body past the boundary of a single facet. Returns `None`
    /// if another facet at the boundary rises along the contact's normal.
    fn boundary_contact(
        &self,
        contact: &FacetContact<V::DVec>,
        limit: f64,
    ) -> Option<FacetContact<V::DVec>> {
        if !contact.is_plane() {
            return None;
        }
        let found = self.plate_contact(contact, contact.depth().min(limit))?;
        if found.normal().dot(contact.normal()) <= 0.0 {
            return None;
        }
        let (index, _) = contact.indices;
        let (facet, part) = (self.facet(index)?, self.surface.part(index)?);
        let point = facet.nearest_boundary(foot(&part, &found.contact))?;
        let verdict = self.verdict(&found, &point, RISE_SINE_GJK);
        (verdict == EdgeVerdict::Counts).then_some(found)
    }

    /// Returns the contact of a part of the body with the hull of the facets at an edge or a
    /// corner. The contact is reported for the facet `index`. Returns `None` if there is no
    /// contact, if the depth is at least `limit`, or if the center is in the hull.
    fn hull_contact(
        &self,
        body: &BodyPart<V>,
        index: u32,
        fan: &Fan<V::DVec>,
        limit: f64,
    ) -> Option<FacetContact<V::DVec>> {
        let points = fan.hull_points(body);
        let hull = |radius: f64| PointHull::<V> {
            points: &points,
            radius,
        };
        if self.center.is_some_and(|center| hull(0.0).contains(center)) {
            return None;
        }
        let pose = Pose {
            translation: self.surface.world_pose.translation,
            ..Pose::IDENTITY
        };
        let (hull, shape) = (hull(body.margin), body.part.scaled_shape());
        let (hull, shape): (&AnyShape<V>, &AnyShape<V>) = (&hull, &shape);
        let pair = Pair::new(hull, pose, shape, body.part.world_pose.pose());
        let mut solver = Solver::new(pair.counted_by(self.counter));
        let contact = solver.contact_below(limit)?;
        // If the body is behind a valley, the contact's normal opposes the normals of all facets of
        // the valley. A one-sided surface has no contacts on its back, so such a contact is
        // dropped.
        let is_behind = |normal: &V::DVec| contact.normal.dot(*normal) < -SAME_NORMAL;
        let is_back = self.surface.is_one_sided() && fan.normals.iter().all(is_behind);
        let (indices, kind) = ((index, body.index), ContactKind::Nearest);
        (!is_back).then(|| FacetContact::new(indices, contact, kind, weld(&[fan.point])))
    }
}

/// A shape as a trait object.
type AnyShape<'s, V> = dyn Support<Vector = V> + 's;
