//! The shortest push-out of a body that consists of boxes and polygons, by a complete search.
//!
//! Let M be the set of the translations after which a part of the body overlaps a facet: the
//! Minkowski difference of facet and part. If the part is a polytope, so is M. A translation clears
//! the facet if and only if it is not inside M, so if it clears the plane of a face of M. Such a
//! face has
//!
//! * the normal of the facet, or the opposite normal,
//! * the normal of a face of the part, or
//! * in 3D, a normal orthogonal to an edge of the facet and to an edge of the part.
//!
//! So a push-out clears at least one of these planes for each facet and part. A best-first search
//! finds the shortest one: if a facet still blocks a part, the search tries each of their planes.

use core::{iter, ops::Range};

use arrayvec::ArrayVec;

use crate::{
    placed::{BoundingRegion, Part},
    shape::{Bounds, Core, Facet, Polygon, ScaledShape, Shape, Support},
    space::{
        DVector, Pose, Space,
        shortest_translation::PushPlane,
        translation_search::{Node, TranslationSearch},
    },
    surface::{
        body_part::Neighborhood,
        facet_contact::{FacetContact, SAME_DEPTH, is_tight, slop},
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// Maximum number of parts of the body.
const MAX_PARTS: usize = 16;

/// Maximum number of translations that the search tries. On rough terrain it tries about four.
const MAX_NODES: usize = 128;

/// Edges count as parallel if the sine of their angle is at most this.
const PARALLEL_SINE: f64 = 1e-9;

/// The limit of the search exceeds the length of a known translation by this fraction, because of
/// rounding.
const LIMIT_ROUNDING: f64 = 1e-6;

/// A convex set whose faces are known, relative to the translation of the surface.
enum KnownFaces<'p, D: DVector> {
    Box {
        pose: Pose<D>,
        half_extents: D,
    },
    Polygon {
        pose: Pose<D>,
        polygon: Polygon<'p, D>,
    },
}

impl<D: DVector> KnownFaces<'_, D> {
    /// Returns the least component of a point along a vector.
    fn bottom(&self, normal: D) -> f64 {
        match self {
            Self::Box { pose, half_extents } => {
                let local = D::transpose(pose.rotation) * normal;
                pose.translation.dot(normal) - half_extents.copysign(local).dot(local)
            }
            Self::Polygon { pose, polygon } => {
                let local = D::transpose(pose.rotation) * normal;
                let heights = polygon.edges().map(|edge| edge.start.dot(local));
                pose.translation.dot(normal) + heights.fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Calls `visit` with the plane of each face of M, for a facet of the surface.
    fn visit_planes(&self, facet: &Facet<D>, mut visit: impl FnMut(PushPlane<D>)) {
        let mut visit = |normal: D| visit((normal, facet.top(normal) - self.bottom(normal)));
        visit(facet.normal);
        visit(-facet.normal);
        match self {
            Self::Box { pose, .. } => {
                for axis in axes(pose) {
                    visit(axis);
                    visit(-axis);
                }
            }
            Self::Polygon { pose, polygon } => {
                let edges = polygon.edges();
                edges.for_each(|edge| visit(-(pose.rotation * edge.normal)));
            }
        }
        let Self::Box { pose, .. } = self else {
            return;
        };
        for (edge, inward) in facet.edges() {
            for axis in axes(pose) {
                let across = D::perpendicular(&[edge, axis]);
                let across =
                    across.filter(|across| across.length() > PARALLEL_SINE * edge.length());
                // On a face of M, the facet is below its edge.
                let normal = across.and_then(|across| (-across.toward(inward)).unit());
                normal.into_iter().for_each(&mut visit);
            }
        }
    }
}

/// Returns the axes of a box.
fn axes<D: DVector>(pose: &Pose<D>) -> impl Iterator<Item = D> {
    (0..D::DIMENSION).map(|axis| pose.rotation * D::axis(axis))
}

/// A part of the body.
struct KnownPart<'p, V: Space> {
    index: u32,
    faces: KnownFaces<'p, V::DVec>,
    bounds: Bounds<V::DVec>,
    neighborhood: Neighborhood<V::DVec>,
}

impl<'p, V: Space> KnownPart<'p, V> {
    /// Returns `None` if the part has a radius, or if its faces are not known.
    fn new(
        pair: &SurfacePair<V>,
        part: &Part<V>,
        shape: &'p ScaledShape<Shape<V>>,
    ) -> Option<Self> {
        let origin = pair.surface.world_pose.translation;
        let mut pose = part.world_pose.pose();
        pose.translation = pose.translation - origin;
        let faces = match shape.core() {
            _ if shape.radius() != 0.0 => None,
            Core::Box { half_extents } => Some(KnownFaces::Box { pose, half_extents }),
            Core::Polygon(polygon) => Some(KnownFaces::Polygon { pose, polygon }),
            Core::Opaque | Core::HalfSpace(_) => None,
        };
        Some(Self {
            index: part.index,
            faces: faces?,
            bounds: *part.region.bounds()?,
            neighborhood: Neighborhood::new(part, origin, 0.0),
        })
    }
}

/// A facet and a part of the body that a push-out must separate.
pub struct Obstacle {
    indices: (u32, u32),
    weld: f64,
    /// The range of its planes in the list of planes.
    planes: Range<usize>,
}

/// The working lists of a search.
#[derive(Default)]
pub struct ObstacleLists<V: Space> {
    obstacles: Vec<Obstacle>,
    /// The planes of all obstacles.
    planes: Vec<PushPlane<V::DVec>>,
    /// The search for a translation that clears one plane of each obstacle. Its labels are
    /// positions in `planes`.
    search: TranslationSearch<V::DVec, usize>,
}

impl<V: Space> ObstacleLists<V> {
    /// Returns the planes of the obstacle that is farthest from cleared by a translation, or `None`
    /// if all obstacles are cleared.
    fn blocking(&self, translation: V::DVec) -> Option<Range<usize>> {
        let mut farthest = None;
        let mut most = 0.0;
        for Obstacle { weld, planes, .. } in &self.obstacles {
            let own = self.planes.get(planes.clone()).unwrap_or_default();
            let missing = own
                .iter()
                .map(|(normal, depth)| depth - normal.dot(translation));
            let missing = missing.fold(f64::INFINITY, f64::min);
            // Every overlap counts at the start.
            let least = if translation == V::DVec::ZERO {
                0.0
            } else {
                slop(*weld, translation)
            };
            if missing > least.max(most) {
                (most, farthest) = (missing, Some(planes.clone()));
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
    /// The faces of the body are not known, or the search found no push-out.
    NotFound,
}

/// A search for the shortest push-out.
struct ObstacleSearch<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    parts: ArrayVec<KnownPart<'p, V>, MAX_PARTS>,
    /// The pairs of facets and parts that are known to be near each other.
    near: &'p [(u32, u32)],
    /// No longer translation is wanted.
    limit: f64,
    lists: &'p mut ObstacleLists<V>,
}

impl<V: Space> SurfacePair<'_, V> {
    /// Adds the contacts of the shortest push-out to an empty list, if the body consists of
    /// polytopes. The push-out clears all facets near the body, not only those that overlap it.
    pub(super) fn add_searched_push_out(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut ObstacleLists<V>,
    ) -> Searched {
        // Tested first, which spares balls and other round bodies the search for their parts.
        let is_round = self
            .body
            .scaled_shape()
            .is_some_and(|it| it.radius() != 0.0);
        if is_round || self.surface.facet_radius() != Some(0.0) {
            return Searched::NotFound;
        }
        let mut indices = ArrayVec::<u32, MAX_PARTS>::new();
        for (_, part) in near {
            if !indices.contains(part) && indices.try_push(*part).is_err() {
                return Searched::NotFound;
            }
        }
        let found = indices.iter().map_while(|index| self.body.part(*index));
        let found: ArrayVec<_, MAX_PARTS> = found.collect();
        let shapes: ArrayVec<_, MAX_PARTS> = found.iter().map(Part::scaled_shape).collect();
        let parts = found.iter().zip(&shapes);
        let parts = parts.map_while(|(part, shape)| KnownPart::new(self, part, shape));
        let parts: ArrayVec<_, MAX_PARTS> = parts.collect();
        if parts.len() < indices.len() {
            return Searched::NotFound;
        }
        lists.obstacles.clear();
        lists.planes.clear();
        // Farther away, facets are ignored: they must not change the contact.
        let radii = parts.iter().map(|part| part.neighborhood.balls[0].1);
        let limit = radii.fold(self.max_depth(), f64::min);
        let mut search = ObstacleSearch {
            pair: self,
            parts,
            near,
            limit,
            lists,
        };
        let collected = search.collect();
        if collected.is_some() && search.lists.blocking(V::DVec::ZERO).is_none() {
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
    /// Collects the obstacles. Returns `None` if the side of the center is uncertain, or if no
    /// translation within the limit clears one of the obstacles.
    fn collect(&mut self) -> Option<()> {
        let (near, surface) = (self.near, self.pair.surface);
        // A lift along the mean of the normals is probably a push-out, so longer ones need not be
        // found.
        let mut mean = V::DVec::ZERO;
        if let Some(center) = self.pair.center {
            for (facet, _) in near {
                let facet = surface.facet(*facet)?;
                if facet.height(center).abs() <= facet.weld {
                    return None;
                }
                mean = mean + facet.normal_toward(center);
            }
        }
        if let Some(mean) = mean.unit() {
            let bottoms = self.parts.iter().map(|part| part.faces.bottom(mean));
            let bottom = bottoms.fold(f64::INFINITY, f64::min);
            let tops = near
                .iter()
                .filter_map(|(facet, _)| Some(surface.facet(*facet)?.top(mean)));
            let top = tops.fold(f64::NEG_INFINITY, f64::max);
            self.limit = self.limit.min((top - bottom) * (1.0 + LIMIT_ROUNDING));
        }
        near.iter().try_for_each(|indices| self.add(*indices))
    }

    /// Adds a facet and a part as an obstacle, if the facet is within the extent of the part, and
    /// if not every translation within the limit clears it. Returns `None` if no translation does.
    fn add(&mut self, (facet_index, part_index): (u32, u32)) -> Option<()> {
        let (surface, limit) = (self.pair.surface, self.limit);
        let facet = surface.facet(facet_index)?;
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.index == part_index)?;
        if self.pair.is_hidden(&facet)
            || !part.neighborhood.includes(|center| facet.distance(center))
        {
            return Some(());
        }
        // A body cannot leave a facet on the far side if its center is over the facet. All parts of
        // a compound leave on the side of the center.
        let outward = self.pair.center.map(|center| {
            let is_over = surface.is_one_sided() || facet.is_under(center);
            (facet.normal_toward(center), is_over)
        });
        let is_single = self.pair.body.scaled_shape().is_some();
        let is_allowed = |normal: V::DVec| match outward {
            Some((outward, _)) if !is_single => normal.dot(outward) >= -SAME_NORMAL,
            Some((outward, true)) => (normal + outward).length() > SAME_NORMAL,
            _ => true,
        };
        let ObstacleLists {
            obstacles, planes, ..
        } = &mut *self.lists;
        let first = planes.len();
        let mut is_clear = false;
        part.faces.visit_planes(&facet, |(normal, depth)| {
            is_clear |= depth <= -limit;
            if depth <= limit && is_allowed(normal) {
                planes.push((normal, depth));
            }
        });
        if is_clear {
            planes.truncate(first);
            return Some(());
        }
        obstacles.push(Obstacle {
            indices: (facet_index, part_index),
            weld: facet.weld,
            planes: first..planes.len(),
        });
        (planes.len() > first).then_some(())
    }

    /// Finds the shortest translation that clears all obstacles. Returns `None` if there is none
    /// within the limits, or if it takes the center through a facet.
    fn find(&mut self) -> Option<Node<V::DVec, usize>> {
        self.lists.search.begin(MAX_NODES, self.limit, SAME_DEPTH);
        while let Some(node) = self.lists.search.take_shortest() {
            let mut blocking = self.lists.blocking(node.translation);
            if blocking.is_none() {
                self.add_reached(node.translation)?;
                blocking = self.lists.blocking(node.translation);
            }
            let Some(blocking) = blocking else {
                return self.pair.lets_center_pass(node.translation).then_some(node);
            };
            let ObstacleLists { planes, search, .. } = &mut *self.lists;
            for label in blocking {
                if let Some(plane) = planes.get(label) {
                    search.open(&node, *plane, label);
                }
            }
        }
        None
    }

    /// Adds the facets to which a translation takes a part. Past the boundary of a facet, the part
    /// may reach the next one.
    fn add_reached(&mut self, translation: V::DVec) -> Option<()> {
        for position in 0..self.parts.len() {
            let part = self.parts.get(position)?;
            let [min, max] = [part.bounds.min, part.bounds.max].map(|it| it + translation);
            let (region, part) = (BoundingRegion::Box(Bounds { min, max }), part.index);
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
                        result = result.and_then(|()| self.add(indices));
                    }
                });
            result?;
        }
        Some(())
    }

    /// Adds the contacts of the planes that bound a push-out. Returns `false` if there are none.
    fn add_bounding(
        &self,
        node: &Node<V::DVec, usize>,
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) -> bool {
        let ObstacleLists {
            obstacles, planes, ..
        } = &*self.lists;
        let contact_at = |label: usize| {
            let (normal, _) = planes.get(label)?;
            let mut obstacles = obstacles.iter();
            let obstacle = obstacles.find(|obstacle| obstacle.planes.contains(&label))?;
            let contact = self.pair.contact_along(obstacle.indices, *normal);
            contact.filter(|contact| is_tight(contact, node.translation))
        };
        for label in &node.labels {
            let Some((normal, depth)) = planes.get(*label) else {
                continue;
            };
            let is_same = |(other, other_depth): &PushPlane<V::DVec>| {
                (*other - *normal).length() <= SAME_NORMAL
                    && (other_depth - depth).abs() <= slop(0.0, node.translation)
            };
            // The body may overlap another facet with the same plane.
            let others = planes.iter().enumerate();
            let others = others.filter(|(other, plane)| other != label && is_same(plane));
            let mut labels = iter::once(*label).chain(others.map(|(other, _)| other));
            contacts.extend(labels.find_map(contact_at));
        }
        !contacts.is_empty()
    }
}
