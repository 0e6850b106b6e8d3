//! Finds the shortest push-out of a body that consists of boxes and polygons, by a complete search.
//!
//! Let M be the set of all translations after which a part of the body overlaps a facet. M is the
//! Minkowski difference of facet and part. If the part is a polytope, then M is also a polytope. A
//! translation clears the facet if and only if the translation is outside M. A translation outside
//! M clears the plane of at least one face of M. The normal of a face of M is
//!
//! * the normal of the facet or the opposite normal,
//! * the inward normal of a face of the part, or
//! * in 3D, a vector orthogonal to an edge of the facet and to an edge of the part.
//!
//! So a push-out clears at least one plane of each pair of a facet and a part. A best-first search
//! finds the shortest push-out. If a facet still blocks a part, the search tries each plane of this
//! pair.

use core::{
    iter,
    ops::{ControlFlow, Range},
};
use std::borrow::Cow;

use arrayvec::ArrayVec;

use crate::{
    placed::{BoundingRegion, Part},
    shape::{Bounds, Core, Facet, ScaledShape, Shape, Support, facet_edges},
    space::{
        DVector, Pose, Space,
        shortest_translation::{PushPlane, shortest_translation},
        translation_search::{Node, SameNodes, TranslationSearch},
    },
    surface::{
        facet_contact::{FacetContact, is_tight, slop},
        limits::{MAX_NODES, MAX_PARTS},
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// Edges count as parallel if the sine of the angle between them is at most this value.
pub(super) const MIN_EDGES_SINE: f64 = 1e-9;

/// The fraction by which the length limit is increased, so that rounding does not exclude a
/// push-out that is as long as the limit.
const LIMIT_ROUNDING: f64 = 1e-6;

/// A part of the body whose faces can be listed: a box or a polygon without a radius.
pub(super) struct KnownPart<'p, V: Space> {
    index: u32,
    shape: &'p ScaledShape<'p, Shape<V>>,
    /// The pose, relative to the surface's translation.
    pose: Pose<V::DVec>,
    bounds: Bounds<V::DVec>,
    /// The center and the radius of a ball that contains the part.
    ball: (V::DVec, f64),
}

impl<'p, V: Space> KnownPart<'p, V> {
    /// Returns `None` if the part has a radius, or if the part is neither a box nor a polygon.
    pub fn new(
        pair: &SurfacePair<V>,
        part: &Part<V>,
        shape: &'p ScaledShape<'p, Shape<V>>,
    ) -> Option<Self> {
        let mut pose = part.world_pose.pose();
        pose.translation = pose.translation - pair.surface.world_pose.translation;
        Some(Self {
            index: part.index,
            shape,
            ball: ball_around(shape, &pose)?,
            pose,
            bounds: *part.region.bounds()?,
        })
    }

    /// Returns the least component of the part's points along a vector.
    fn bottom(&self, normal: V::DVec) -> f64 {
        let lowest = self.shape.lowest(self.pose.rotation, normal);
        (self.pose.translation + lowest).dot(normal)
    }

    /// Calls `visit` with the plane of each face of the Minkowski difference of a facet and this
    /// part, until `visit` returns `Break`.
    pub fn visit_planes(
        &self,
        facet: &Facet<V::DVec>,
        mut visit: impl FnMut(PushPlane<V::DVec>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let pose = &self.pose;
        let half_extents = match self.shape.core() {
            Core::Box { half_extents } => half_extents,
            Core::Opaque | Core::HalfSpace(_) => return ControlFlow::Continue(()),
            Core::Polygon(polygon) => {
                let of_polygon = polygon.edges().map(|edge| -(pose.rotation * edge.normal));
                let mut normals = [facet.normal, -facet.normal].into_iter().chain(of_polygon);
                return normals.try_for_each(|it| visit((it, facet.top(it) - self.bottom(it))));
            }
        };
        // In the frame of the box, most components of the axes are 0.
        let inverse = V::DVec::transpose(pose.rotation);
        let mut vertices = facet.vertices().clone();
        for vertex in &mut vertices {
            *vertex = inverse * (*vertex - pose.translation);
        }
        let depth = |normal: V::DVec| {
            let heights = vertices.iter().map(|vertex| vertex.dot(normal));
            half_extents.copysign(normal).dot(normal) + heights.fold(f64::NEG_INFINITY, f64::max)
        };
        let own = inverse * facet.normal;
        visit((facet.normal, depth(own)))?;
        visit((-facet.normal, depth(-own)))?;
        let axes = || (0..V::DVec::DIMENSION).map(V::DVec::axis);
        for axis in axes() {
            let in_world = pose.rotation * axis;
            visit((in_world, depth(axis)))?;
            visit((-in_world, depth(-axis)))?;
        }
        for (edge, inward) in facet_edges(&vertices) {
            for axis in axes() {
                let across = V::DVec::perpendicular(&[edge, axis]);
                let across =
                    across.filter(|across| across.length() > MIN_EDGES_SINE * edge.length());
                // If `normal` is the normal of a face of the Minkowski difference, no point of the
                // facet is higher along `normal` than this edge. So `normal` does not point inward.
                if let Some(normal) = across.and_then(|across| (-across.toward(inward)).unit()) {
                    visit((pose.rotation * normal, depth(normal)))?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns the center and the radius of a ball that contains a box or a polygon without a radius.
/// Returns `None` for any other shape.
pub(super) fn ball_around<V: Space>(
    shape: &ScaledShape<Shape<V>>,
    pose: &Pose<V::DVec>,
) -> Option<(V::DVec, f64)> {
    match shape.core() {
        _ if shape.radius() != 0.0 => None,
        Core::Box { half_extents } => Some((pose.translation, half_extents.length())),
        Core::Polygon(polygon) => {
            let vertices = || polygon.edges().map(|edge| edge.start);
            let sum = vertices().fold(V::DVec::ZERO, |sum, vertex| sum + vertex);
            let center = sum * (1.0 / vertices().count() as f64);
            let distances = vertices().map(|vertex| (vertex - center).length());
            let radius = distances.fold(0.0, f64::max);
            Some((pose.rotation * center + pose.translation, radius))
        }
        Core::Opaque | Core::HalfSpace(_) => None,
    }
}

/// A facet, and a part of the body that a push-out must separate from the facet.
pub struct Obstacle {
    indices: (u32, u32),
    weld: f64,
    /// `true` if the part overlaps the facet.
    overlaps: bool,
    /// The range of the obstacle's planes in [`ObstacleLists::planes`].
    planes: Range<usize>,
}

/// The reused lists of a search.
#[derive(Default)]
pub struct ObstacleLists<V: Space> {
    obstacles: Vec<Obstacle>,
    /// The facets near the body, in the order of their indices.
    near_facets: Vec<Facet<V::DVec>>,
    /// The planes of all obstacles.
    planes: Vec<PushPlane<V::DVec>>,
    /// The search for a translation that clears one plane of each obstacle. The label of a plane is
    /// its index in `planes`.
    search: TranslationSearch<V::DVec, usize>,
}

impl<V: Space> ObstacleLists<V> {
    /// Computes the depth that a translation leaves below each plane of an obstacle, and returns
    /// the least of these depths. The result is positive if the translation does not clear the
    /// obstacle.
    fn depth_left(&self, obstacle: &Obstacle, translation: V::DVec) -> f64 {
        let planes = self.planes.get(obstacle.planes.clone());
        let planes = planes.unwrap_or_default().iter();
        let left = planes.map(|(normal, depth)| depth - normal.dot(translation));
        left.fold(f64::INFINITY, f64::min)
    }

    /// Returns the planes of the obstacle with the greatest [`depth_left`](Self::depth_left) after
    /// a translation, or `None` if the translation clears all obstacles.
    fn blocking(&self, translation: V::DVec) -> Option<Range<usize>> {
        let mut farthest = None;
        let mut most = 0.0;
        for obstacle in &self.obstacles {
            let left = self.depth_left(obstacle, translation);
            // Without a translation, every overlap counts.
            let least = if translation == V::DVec::ZERO {
                0.0
            } else {
                slop(obstacle.weld, translation)
            };
            if left > least.max(most) {
                (most, farthest) = (left, Some(obstacle.planes.clone()));
            }
        }
        farthest
    }
}

/// The result of a search for a push-out.
#[derive(PartialEq, Eq)]
pub enum Searched {
    /// The contacts of the shortest push-out have been added.
    Found,
    /// The body overlaps no facet.
    Apart,
    /// The search does not apply to the body, or found no push-out.
    NotFound,
}

/// A search for the shortest push-out.
struct ObstacleSearch<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    parts: ArrayVec<KnownPart<'p, V>, MAX_PARTS>,
    /// The pairs of facets and parts that may touch before the push-out.
    near: &'p [(u32, u32)],
    /// Maximum length of the push-out.
    limit: f64,
    lists: &'p mut ObstacleLists<V>,
}

impl<V: Space> SurfacePair<'_, V> {
    /// Returns `true` if the body is a single box or polygon without a radius.
    pub(super) fn has_known_faces(&self) -> bool {
        self.convex.as_ref().is_some_and(|part| {
            let shape = part.scaled_shape();
            let is_known = matches!(shape.core(), Core::Box { .. } | Core::Polygon(_));
            is_known && shape.radius() == 0.0
        })
    }

    /// Adds the contacts of the shortest push-out to an empty list, if the body consists of boxes
    /// and polygons. The push-out clears all facets near the body, not only the facets that overlap
    /// the body.
    pub(super) fn add_searched_push_out(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut ObstacleLists<V>,
    ) -> Searched {
        if self.convex.is_some() && !self.has_known_faces()
            || self.surface.facet_radius() != Some(0.0)
        {
            return Searched::NotFound;
        }
        let mut others = ArrayVec::<Part<V>, MAX_PARTS>::new();
        if self.convex.is_none() {
            for (_, index) in near {
                let is_new = others.iter().all(|other| other.index != *index);
                let part = is_new.then(|| self.body.part(*index)).flatten();
                if part.is_some_and(|part| others.try_push(part).is_err()) {
                    return Searched::NotFound;
                }
            }
        }
        let parts = || self.convex.iter().chain(&others);
        let mut shapes = ArrayVec::<_, MAX_PARTS>::new();
        shapes.extend(parts().map(Part::scaled_shape));
        lists.obstacles.clear();
        lists.planes.clear();
        let mut search = ObstacleSearch {
            pair: self,
            parts: ArrayVec::new(),
            near,
            limit: 0.0,
            lists,
        };
        for (part, shape) in parts().zip(&shapes) {
            let Some(known) = KnownPart::new(self, part, shape) else {
                return Searched::NotFound;
            };
            // Facets out of the body's reach must not change the contact. So no push-out is longer
            // than the greatest radius of a ball around a part.
            search.limit = known.ball.1.max(search.limit);
            search.parts.push(known);
        }
        let collected = search.collect();
        if collected.is_some() && !search.lists.obstacles.iter().any(|it| it.overlaps) {
            return Searched::Apart;
        }
        let node = collected.and_then(|()| search.find());
        match node.filter(|node| search.add_bounding(node, contacts)) {
            Some(_) => Searched::Found,
            None => Searched::NotFound,
        }
    }
}

impl<V: Space> ObstacleSearch<'_, '_, V> {
    /// Collects the obstacles. Returns `None` if [`add`](Self::add) returns `None` for a facet and
    /// a part.
    fn collect(&mut self) -> Option<()> {
        let (near, pair) = (self.near, self.pair);
        let mut near_facets = core::mem::take(&mut self.lists.near_facets);
        near_facets.clear();
        let groups = near.chunk_by(|(a, _), (b, _)| a == b);
        let found = groups.map_while(|group| pair.facet(group.first()?.0));
        let found = found.map(Cow::into_owned);
        near_facets.extend(found);
        let facets = || near_facets.iter().filter(|facet| !pair.is_hidden(facet));
        // A translation along the mean of the normals is probably a push-out. Push-outs that are
        // longer than this translation are not needed.
        let normals = pair
            .center
            .map(|center| facets().map(move |facet| facet.normal_toward(center)));
        let mean = normals.into_iter().flatten();
        let mean = mean.fold(V::DVec::ZERO, |sum, normal| sum + normal);
        if let Some(mean) = mean.unit() {
            let bottoms = self.parts.iter().map(|part| part.bottom(mean));
            let bottom = bottoms.fold(f64::INFINITY, f64::min);
            let tops = facets().map(|facet| facet.top(mean));
            let top = tops.fold(f64::NEG_INFINITY, f64::max);
            self.limit = self.limit.min((top - bottom) * (1.0 + LIMIT_ROUNDING));
        }
        let mut groups = near.chunk_by(|(a, _), (b, _)| a == b);
        let mut facets = near_facets.iter();
        let added = groups.try_for_each(|group| {
            let facet = facets.next()?;
            let mut pairs = group.iter();
            pairs.try_for_each(|indices| self.add(facet, *indices))
        });
        self.lists.near_facets = near_facets;
        added
    }

    /// Adds a facet and a part as an obstacle. Adds nothing if the facet is outside the ball around
    /// the part, or if every translation within the limit clears the facet.
    ///
    /// Returns `None` in these cases:
    ///
    /// * No allowed translation clears the facet. An allowed translation is at most as long as the
    ///   limit, and pushes the part to the correct side of the facet.
    /// * The center is so close to the facet that rounding decides on which side the center lies.
    fn add(&mut self, facet: &Facet<V::DVec>, indices: (u32, u32)) -> Option<()> {
        let (surface, limit) = (self.pair.surface, self.limit);
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.index == indices.1)?;
        let (middle, radius) = part.ball;
        // The distance takes longer than the other tests, which exclude most facets.
        let is_far = || facet.distance(middle) > radius;
        if facet.height(middle).abs() > radius {
            return Some(());
        }
        // A part must leave the facet on the side of the center if the surface is one-sided, or if
        // the body is a compound. All parts of a compound are pushed to the same side.
        let is_single = self.pair.body.scaled_shape().is_some();
        let keeps_side = !is_single || surface.is_one_sided();
        let center = self.pair.center;
        let is_uncertain = |center| {
            facet.height(center).abs() <= facet.weld && (keeps_side || facet.is_under(center))
        };
        if center.is_some_and(is_uncertain) {
            return is_far().then_some(());
        }
        if self.pair.is_hidden(facet) {
            return Some(());
        }
        let center = center.filter(|_| keeps_side);
        let outward = center.map(|center| facet.normal_toward(center));
        let is_allowed = |normal: V::DVec| match outward {
            Some(outward) if is_single => (normal + outward).length() > SAME_NORMAL,
            Some(outward) => normal.dot(outward) >= -SAME_NORMAL,
            None => true,
        };
        let ObstacleLists {
            obstacles, planes, ..
        } = &mut *self.lists;
        let first = planes.len();
        let mut least = f64::INFINITY;
        let visited = part.visit_planes(facet, |(normal, depth)| {
            least = depth.min(least);
            // If the depth is not positive, the part is already past this plane, and may stay
            // there.
            if depth <= 0.0 || depth <= limit && is_allowed(normal) {
                planes.push((normal, depth));
            }
            if least <= -limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if visited.is_break() || is_far() {
            planes.truncate(first);
            return Some(());
        }
        obstacles.push(Obstacle {
            indices,
            weld: facet.weld,
            overlaps: least > 0.0,
            planes: first..planes.len(),
        });
        (planes.len() > first).then_some(())
    }

    /// Finds the shortest translation that clears all obstacles. Of translations that are equally
    /// long up to rounding, takes one that ends on the fewest planes. Otherwise a corner of the
    /// body might sink into the gap that rounding leaves between two facets in one plane.
    ///
    /// Skips a translation that takes the center through a facet above or below the center. Returns
    /// `None` if a limit is reached, or if the result would take the center through any other
    /// facet.
    fn find(&mut self) -> Option<Node<V::DVec, usize>> {
        let search = &mut self.lists.search;
        search.begin(MAX_NODES, self.limit, SameNodes::Planes);
        let mut found: Option<Node<V::DVec, usize>> = None;
        let mut longest = f64::INFINITY;
        while let Some(node) = self.lists.search.take_shortest() {
            if node.length > longest {
                break;
            }
            let mut blocking = self.lists.blocking(node.translation);
            if blocking.is_none() {
                self.add_reached(node.translation)?;
                blocking = self.lists.blocking(node.translation);
            }
            let Some(blocking) = blocking else {
                let planes = node.bounding.len();
                let is_better = found.as_ref().is_none_or(|it| planes < it.bounding.len());
                if !is_better || self.goes_under_obstacle(node.translation) {
                    continue;
                }
                if !self.pair.lets_center_pass(node.translation) {
                    break;
                }
                let welds = self.lists.obstacles.iter().map(|obstacle| obstacle.weld);
                let rounding = slop(welds.fold(0.0, f64::max), node.translation);
                longest = longest.min(node.length + rounding);
                found = Some(node);
                if planes == 1 {
                    break;
                }
                continue;
            };
            let ObstacleLists { planes, search, .. } = &mut *self.lists;
            for label in blocking {
                if let Some(plane) = planes.get(label) {
                    search.open(&node, *plane, label);
                }
            }
        }
        found
    }

    /// Returns `true` if a translation takes the center through an obstacle's facet that is above
    /// or below the center.
    fn goes_under_obstacle(&self, translation: V::DVec) -> bool {
        self.pair.center.is_some_and(|center| {
            let is_passed = |facet: &Facet<V::DVec>| {
                facet.is_under(center) && facet.is_crossed_by([center, center + translation])
            };
            let obstacles = self.lists.obstacles.iter();
            let mut facets = obstacles.filter_map(|it| self.pair.facet(it.indices.0));
            facets.any(|facet| is_passed(&facet))
        })
    }

    /// Adds the facets that the parts may overlap after a translation, because a part that leaves a
    /// facet past its boundary may reach the next facet. Returns `None` if [`add`](Self::add)
    /// returns `None` for such a facet.
    fn add_reached(&mut self, translation: V::DVec) -> Option<()> {
        for position in 0..self.parts.len() {
            let part = self.parts.get(position)?;
            let region = BoundingRegion::Box(part.bounds.moved(translation));
            let part = part.index;
            let mut result = Some(());
            self.pair
                .surface
                .parts_near(&region, V::DVec::ZERO, |facet| {
                    let indices = (facet, part);
                    let is_known = self.near.binary_search(&indices).is_ok()
                        || self
                            .lists
                            .obstacles
                            .iter()
                            .any(|obstacle| obstacle.indices == indices);
                    if !is_known {
                        let added = result.and_then(|()| self.pair.facet(facet));
                        result = added.and_then(|facet| self.add(&facet, indices));
                    }
                });
            result?;
        }
        Some(())
    }

    /// Adds the contacts of the planes on which a push-out ends. A plane has no contact if the body
    /// overlaps no facet with this plane. If the remaining contacts do not push the body out of all
    /// facets that the body overlaps, adds no contacts and returns `false`.
    fn add_bounding(
        &self,
        node: &Node<V::DVec, usize>,
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) -> bool {
        let ObstacleLists {
            obstacles, planes, ..
        } = &*self.lists;
        let (pair, translation) = (self.pair, node.translation);
        let contact_at = |label: usize| {
            let plane = planes.get(label)?;
            let mut obstacles = obstacles.iter().filter(|it| it.overlaps);
            let obstacle = obstacles.find(|it| it.planes.contains(&label))?;
            let contact = pair.contact_at(obstacle.indices, *plane, translation);
            contact.filter(|contact| is_tight(contact, translation))
        };
        for ((normal, depth), label) in &node.bounding {
            let is_same = |(other, other_depth): &PushPlane<V::DVec>| {
                (*other - *normal).length() <= SAME_NORMAL
                    && (other_depth - depth).abs() <= slop(0.0, translation)
            };
            // Several facets may have the same plane. The contact needs a facet that the body
            // overlaps, so all of these facets are tried.
            let others = planes.iter().enumerate();
            let others = others.filter(|(other, plane)| other != label && is_same(plane));
            let mut labels = iter::once(*label).chain(others.map(|(other, _)| other));
            contacts.extend(labels.find_map(contact_at));
        }
        if contacts.len() < node.bounding.len() {
            let found = contacts.iter().map(FacetContact::plane);
            let found = shortest_translation(found, f64::INFINITY);
            let is_left = |it: &Obstacle| {
                it.overlaps && self.lists.depth_left(it, found) > slop(it.weld, translation)
            };
            if obstacles.iter().any(is_left) {
                contacts.clear();
            }
        }
        !contacts.is_empty()
    }
}
