//! Finds the shortest push-out of a convex body without a search, if a push-out can be proved to be
//! the shortest.
//!
//! Connected facets in one plane form a *cluster*. A translation that clears the plane clears all
//! facets of the cluster. The loop in `add_planes` starts without a translation. In each step, the
//! loop takes the shallowest plane with a facet that still blocks the body. Then the loop computes
//! the shortest translation that clears all planes taken so far.
//!
//! The *rim* of a cluster is its boundary. The result is the shortest push-out if no shorter
//! translation takes the body past the rim of a cluster. The proof uses a *path*: a segment from a
//! lowest point of the body to the body's center. This segment is inside the body. A translation of
//! length l moves the crossing of path and plane by at most l / s, where s is the sine of the angle
//! between path and plane. Suppose that the crossing is inside the cluster, and that the rim is
//! farther away than the crossing can move. Then the path still crosses the cluster after any
//! shorter translation that does not clear the plane. So the body needs no test against the facets
//! of this cluster.
//!
//! *A single facet.* A push-out is at least as long as the depth in any facet by itself. So if the
//! shortest translation out of one facet clears all other facets, this translation is the shortest
//! push-out. For example, a cylinder on a ridge is pushed out along the normal of its own face.

use core::ops::Range;

use arrayvec::ArrayVec;

use crate::{
    placed::{BoundingRegion, Part},
    shape::{Bounds, Facet, Support},
    space::{DVector, Space, shortest_translation::translation_out_of_all},
    surface::{
        facet_contact::{ContactKind, FacetContact, SolverOf, is_tight, slop},
        limits::{MAX_CANDIDATES, MAX_STEPS},
        surface_pair::{CenterSegment, SurfacePair},
    },
};

/// The proof is tried before the complete search if the facets near the body are in at most this
/// number of clusters.
const FEW_CLUSTERS: usize = 4;

/// The proof is also tried before the complete search if the clusters near a body have on average
/// at least this many near facets.
const MANY_FACETS: usize = 4;

/// A cluster of at most this number of near facets needs no search of the surface's tree.
const MAX_SCANNED: usize = 8;

/// The tangent of the angle between a plane's normal and the direction in which a second lowest
/// point of the body is searched.
const TILT: f64 = 1e-3;

/// A cluster of facets near a body.
struct NearCluster<D: DVector> {
    number: u32,
    /// The range of the cluster's near facets in the list of all near facets.
    facets: Range<usize>,
    /// `true` if the cluster has more than one facet.
    has_several: bool,
    plane: Facet<D>,
    /// The normal on the side of the center.
    outward: D,
    /// The lowest point of the body along the normal, relative to the surface's translation.
    lowest: D,
    /// The depth of the lowest point below the plane.
    depth: f64,
    /// If the absolute value of the depth is at most this value, rounding decides whether the
    /// solvers report a contact.
    tolerance: f64,
}

impl<D: DVector> NearCluster<D> {
    /// Returns the near facets of the cluster from the list of all near facets.
    fn facets_in<'p>(&self, list: &'p [(u32, u32)]) -> impl Iterator<Item = u32> + use<'p, D> {
        let facets = list.get(self.facets.clone()).unwrap_or_default();
        facets.iter().map(|(_, facet)| *facet)
    }
}

/// A segment from a lowest point of the body to the body's center, which crosses a cluster.
struct CenterPath<D: DVector> {
    /// The projection of the lowest point onto the plane.
    foot: D,
    segment: CenterSegment<D>,
    /// The facet that contains the crossing, with its index.
    facet: Facet<D>,
    index: u32,
}

/// The reused lists of a proof.
#[derive(Default)]
pub struct ProofLists<V: Space> {
    /// The index of the cluster and the index of the facet, for each facet near the body.
    by_cluster: Vec<(u32, u32)>,
    /// The clusters that the body may touch.
    clusters: Vec<NearCluster<V::DVec>>,
    /// The greatest height and the index of each facet that the body may touch. Heights are
    /// measured along the mean normal of the clusters.
    tops: Vec<(f64, u32)>,
    /// The index of each facet that was tested, and `true` if the body touches the facet.
    tested: Vec<(u32, bool)>,
}

/// A normal, and a height along the normal. After a translation, the body is above this height, so
/// the translation clears all facets below this height.
type Level<D> = (D, f64);

/// A cluster whose plane the translation clears, and the index of the facet on the body's path.
type ChosenCluster<'p, D> = (&'p NearCluster<D>, u32);

/// The state of a search for a proof.
struct Proof<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    body: &'p Part<'a, V>,
    center: V::DVec,
    /// The least distance from the center to the plane of a visible near facet.
    clearance: f64,
    /// The index of the cluster and the index of the facet, for each near facet, sorted.
    facets: &'p [(u32, u32)],
    clusters: &'p [NearCluster<V::DVec>],
    tested: &'p mut Vec<(u32, bool)>,
    /// See [`ProofLists::tops`].
    tops: &'p mut Vec<(f64, u32)>,
    /// `true` if the proof would have to test more facets than [`MAX_CANDIDATES`].
    is_exhausted: bool,
}

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Sorts the facets near a convex body by cluster. Returns `true` if body and facets have no
    /// radius, and if a proof probably takes less time than the complete search.
    pub(super) fn is_proof_first(&self, near: &[(u32, u32)], lists: &mut ProofLists<V>) -> bool {
        let by_cluster = &mut lists.by_cluster;
        by_cluster.clear();
        if self.sharp_body().is_none() {
            return false;
        }
        let numbered = near
            .iter()
            .filter_map(|(facet, _)| Some((self.cluster(*facet)?, *facet)));
        by_cluster.extend(numbered);
        by_cluster.sort_unstable();
        let clusters = by_cluster.chunk_by(|(a, _), (b, _)| a == b).count();
        clusters <= FEW_CLUSTERS || by_cluster.len() >= MANY_FACETS * clusters
    }

    /// Returns the body if it is convex, and if neither the body nor the facets have a radius.
    fn sharp_body(&self) -> Option<&Part<'a, V>> {
        let body = self.convex.as_ref()?;
        let is_sharp = self.surface.facet_radius() == Some(0.0);
        (is_sharp && body.scaled_shape().radius() == 0.0).then_some(body)
    }

    /// Adds the contacts of the shortest push-out to an empty list, if the proof succeeds. The
    /// push-out ends on the plane of each contact. [`is_proof_first`](Self::is_proof_first) must be
    /// called first.
    pub(super) fn add_proven_push_out(
        &self,
        contacts: &mut Vec<FacetContact<V::DVec>>,
        lists: &mut ProofLists<V>,
    ) {
        let (Some(center), Some(body)) = (self.center, self.sharp_body()) else {
            return;
        };
        let ProofLists {
            by_cluster,
            clusters,
            tops,
            tested,
        } = lists;
        tested.clear();
        clusters.clear();
        let Some(clearance) = self.collect_clusters(body, center, by_cluster, clusters) else {
            return;
        };
        let mut proof = Proof {
            pair: self,
            body,
            center,
            clearance,
            facets: by_cluster,
            clusters,
            tested,
            tops,
            is_exhausted: false,
        };
        // For boxes and polygons, the complete search is faster than the tests of single facets.
        let has_plates = |proof: &Proof<_>| !proof.is_exhausted && !self.has_known_faces();
        let is_found =
            proof.add_planes(contacts) || has_plates(&proof) && proof.add_plate(contacts);
        if !is_found || proof.is_exhausted {
            contacts.clear();
        }
    }

    /// Collects the clusters that the body may touch, and sorts them by depth, the shallowest
    /// first. Returns the least distance from the center to the plane of a near facet, hidden
    /// facets excluded. Returns `None` if the center is so close to a plane that rounding decides
    /// on which side the center lies, or if a facet has no plane.
    fn collect_clusters(
        &self,
        body: &Part<V>,
        center: V::DVec,
        by_cluster: &[(u32, u32)],
        clusters: &mut Vec<NearCluster<V::DVec>>,
    ) -> Option<f64> {
        let mut clearance = f64::INFINITY;
        let mut first = 0;
        for group in by_cluster.chunk_by(|a, b| a.0 == b.0) {
            let facets = first..first + group.len();
            first = facets.end;
            let (number, facet) = *group.first()?;
            // If the scale flattens a facet, the facet has no plane, so there is no proof.
            let near = self.facet(facet)?;
            let weld = near.weld;
            let of_several = self.surface.cluster_plane(facet);
            let has_several = of_several.is_some();
            let mut plane = of_several.unwrap_or_else(|| near.into_owned());
            // Distant vertices of the cluster must not increase the tolerance.
            plane.weld = weld;
            let height = plane.height(center);
            if self.surface.is_one_sided() && height < -plane.weld {
                continue;
            }
            if height.abs() <= plane.weld {
                return None;
            }
            clearance = height.abs().min(clearance);
            let outward = plane.normal_toward(center);
            clusters.push(NearCluster {
                number,
                facets,
                has_several,
                tolerance: self.height_tolerance(&plane, center),
                plane,
                outward,
                lowest: center,
                depth: 0.0,
            });
        }
        let mean = clusters
            .iter()
            .fold(V::DVec::ZERO, |sum, cluster| sum + cluster.outward);
        if let Some(mean) = mean.unit().filter(|_| clusters.len() > 3) {
            let bottom = self.lowest(body, mean).dot(mean);
            clusters.retain(|cluster| {
                cluster.has_several || cluster.plane.top(mean) >= bottom - cluster.tolerance
            });
        }
        for cluster in clusters.iter_mut() {
            cluster.lowest = self.lowest(body, cluster.outward);
            let below = cluster.plane.vertices().first().copied().unwrap_or(center);
            cluster.depth = (below - cluster.lowest).dot(cluster.outward);
        }
        clusters.retain(|cluster| cluster.depth >= -cluster.tolerance);
        clusters.sort_unstable_by(|a, b| a.depth.total_cmp(&b.depth).then(a.number.cmp(&b.number)));
        Some(clearance)
    }
}

impl<V: Space> Proof<'_, '_, V> {
    /// Finds the shortest translation that clears the planes of the blocking clusters. If this
    /// translation is proved to be the shortest push-out, adds the contacts of this translation and
    /// returns `true`.
    fn add_planes(&mut self, contacts: &mut Vec<FacetContact<V::DVec>>) -> bool {
        let clusters = self.clusters;
        let mut chosen = ArrayVec::<ChosenCluster<V::DVec>, MAX_STEPS>::new();
        let mut translation = V::DVec::ZERO;
        // The length for which all chosen clusters are known to be wide.
        let mut proved = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let length = translation.length();
            let mut blocking = None;
            for cluster in clusters {
                if self.is_plane_cleared(cluster, translation) {
                    continue;
                }
                // A push-out that clears this plane is at least as long as the depth.
                let length = length.max(cluster.depth);
                let path = self.wide_path(cluster, length);
                match path {
                    Some(path) if self.blocks_path(cluster, &path) => {
                        blocking = Some((cluster, path.index));
                        proved = proved.min(length);
                        break;
                    }
                    _ if self.is_blocking(cluster, translation, &chosen) => return false,
                    _ => {}
                }
            }
            let Some(blocking) = blocking else {
                let is_wide = |(cluster, _): &ChosenCluster<V::DVec>| {
                    self.wide_path(cluster, length).is_some()
                };
                return (length <= proved || chosen.iter().all(is_wide))
                    && self.lets_center_pass(translation)
                    && self.add_tight(translation, &chosen, contacts);
            };
            if chosen.try_push(blocking).is_err() {
                return false;
            }
            let planes = chosen
                .iter()
                .map(|(cluster, _)| (cluster.outward, cluster.depth));
            let Some(shortest) = translation_out_of_all(planes, f64::INFINITY) else {
                return false;
            };
            translation = shortest.translation;
            let bounding = &shortest.bounding;
            chosen.retain(|(cluster, _)| bounding.contains(&(cluster.outward, cluster.depth)));
        }
        false
    }

    /// Tries single facets. If the shortest translation out of one facet clears all other facets,
    /// adds the contacts of this translation and returns `true`. Otherwise, `contacts` may contain
    /// a contact that the caller removes.
    fn add_plate(&mut self, contacts: &mut Vec<FacetContact<V::DVec>>) -> bool {
        contacts.clear();
        // The highest facets probably need the longest translations, so they are tried first.
        let mean = self
            .clusters
            .iter()
            .fold(V::DVec::ZERO, |sum, cluster| sum + cluster.outward);
        let (pair, list) = (self.pair, self.facets);
        let clusters = self.clusters.iter();
        let facets = clusters.flat_map(|cluster| cluster.facets_in(list));
        let tops = facets.filter_map(|facet| Some((pair.facet(facet)?.top(mean), facet)));
        self.tops.clear();
        self.tops.extend(tops);
        self.tops
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut translation, mut levels) = (V::DVec::ZERO, ArrayVec::<Level<_>, 1>::new());
        for _ in 0..MAX_STEPS {
            let blocking = (0..self.tops.len()).find_map(|index| {
                let (_, facet) = *self.tops.get(index)?;
                self.blocks(facet, translation, &levels).then_some(facet)
            });
            let Some(facet) = blocking else {
                return self.is_clear_of_all(translation, &levels)
                    && self.lets_center_pass(translation)
                    && self.add_tight(translation, &[], contacts);
            };
            let indices = (facet, 0);
            let found = self
                .pair
                .solve_indices(indices, V::DVec::ZERO, |solver| solver.find_contact());
            let (Some(found), Some(plate)) = (found, pair.facet(facet)) else {
                return false;
            };
            if found.depth <= translation.length() {
                return false;
            }
            translation = found.normal * found.depth;
            levels.clear();
            levels.push((found.normal, plate.top(found.normal)));
            contacts.clear();
            let kind = ContactKind::Nearest;
            contacts.push(FacetContact::new(indices, found, kind, plate.weld));
        }
        false
    }

    /// Returns `true` if a translation clears the plane of a cluster.
    fn is_plane_cleared(&self, cluster: &NearCluster<V::DVec>, translation: V::DVec) -> bool {
        let left = cluster.depth - translation.dot(cluster.outward);
        left <= slop(cluster.plane.weld, translation)
    }

    /// Returns `true` if the body touches the facet on a path of the body.
    fn blocks_path(&mut self, cluster: &NearCluster<V::DVec>, path: &CenterPath<V::DVec>) -> bool {
        cluster.depth > cluster.tolerance || self.touches(path.index)
    }

    /// Returns `true` if the body touches a facet of a cluster, and a translation does not clear
    /// this facet. The translation clears the planes of the `chosen` clusters.
    fn is_blocking(
        &mut self,
        cluster: &NearCluster<V::DVec>,
        translation: V::DVec,
        chosen: &[ChosenCluster<V::DVec>],
    ) -> bool {
        let level = |(cluster, _): &ChosenCluster<V::DVec>| {
            (cluster.outward, cluster.plane.top(cluster.outward))
        };
        let levels: ArrayVec<Level<_>, MAX_STEPS> = chosen.iter().map(level).collect();
        let mut facets = cluster.facets_in(self.facets);
        facets.any(|facet| self.blocks(facet, translation, &levels))
    }

    /// Returns `true` if the body touches a facet, and a translation does not clear this facet.
    /// After the translation, the body is above `levels`.
    fn blocks(&mut self, index: u32, translation: V::DVec, levels: &[Level<V::DVec>]) -> bool {
        let is_zero = translation == V::DVec::ZERO;
        (is_zero || !self.is_clear(index, translation, levels)) && self.touches(index)
    }

    /// Returns `true` if a translation clears a facet, or if the facet is hidden. After the
    /// translation, the body is above `levels`.
    fn is_clear(&self, index: u32, translation: V::DVec, levels: &[Level<V::DVec>]) -> bool {
        let Some(facet) = self.pair.facet(index) else {
            return true;
        };
        let slop = slop(facet.weld, translation);
        let is_below = |(normal, height): &Level<_>| facet.top(*normal) <= height + slop;
        levels.iter().any(is_below)
            || self.pair.is_hidden(&facet)
            || self
                .pair
                .is_apart_after((index, 0), facet.weld, translation)
    }

    /// Returns `true` if the body overlaps no facet after a translation. Also tests facets that the
    /// body did not touch before the translation. The body may move past the boundary of one facet
    /// into the next facet.
    fn is_clear_of_all(&self, translation: V::DVec, levels: &[Level<V::DVec>]) -> bool {
        let Some(bounds) = self.body.region.bounds() else {
            return false;
        };
        let region = BoundingRegion::Box(bounds.moved(translation));
        let mut is_clear = true;
        self.pair
            .surface
            .parts_near(&region, V::DVec::ZERO, |index| {
                is_clear = is_clear && self.is_clear(index, translation, levels);
            });
        is_clear
    }

    /// Returns `true` if the body touches a facet.
    fn touches(&mut self, facet: u32) -> bool {
        if let Some((_, is_touched)) = self.tested.iter().find(|(index, _)| *index == facet) {
            return *is_touched;
        }
        if self.tested.len() >= MAX_CANDIDATES {
            self.is_exhausted = true;
            return true;
        }
        let touches = self.touches_visible(facet);
        self.tested.push((facet, touches));
        touches
    }

    /// Returns `true` if the body touches a facet that is not hidden.
    fn touches_visible(&self, index: u32) -> bool {
        let facet = self.pair.facet(index);
        let Some(facet) = facet.filter(|facet| !self.pair.is_hidden(facet)) else {
            return false;
        };
        let solve = || {
            let touch = self.pair.with_parts((index, 0), |parts| {
                let is_apart = parts[0].region.is_apart_from(&parts[1].region);
                let hit = |solver: &mut SolverOf<V>| solver.hit().then_some(());
                let solve = || self.pair.solve(parts, V::DVec::ZERO, hit);
                (!is_apart).then(solve)?
            });
            touch.is_some()
        };
        self.pair.surely_touches(&facet).unwrap_or_else(solve)
    }

    /// Returns `true` if a translation takes the center through no facet.
    fn lets_center_pass(&self, translation: V::DVec) -> bool {
        let end = self.center + self.pair.surface.world_pose.translation + translation;
        let end = Bounds::at(end);
        let bounds = self.body.region.bounds();
        // If the path of the center ends inside the body's box, all facets on this path are near
        // facets.
        translation.length() < self.clearance && bounds.is_some_and(|bounds| bounds.overlaps(&end))
            || self.pair.lets_center_pass(translation)
    }

    /// Returns a path of the body that crosses a cluster so far from the rim that no translation
    /// shorter than `length` takes the crossing past the rim.
    fn wide_path(
        &self,
        cluster: &NearCluster<V::DVec>,
        length: f64,
    ) -> Option<CenterPath<V::DVec>> {
        let starts = [Some(cluster.lowest), None];
        starts.into_iter().find_map(|start| {
            let start = start.or_else(|| self.central_lowest(cluster))?;
            let path = self.path(cluster, start)?;
            self.is_wide(cluster, &path, length).then_some(path)
        })
    }

    /// If the body has several lowest points along the normal of a cluster, returns a point of the
    /// segment between two of them: the point of this segment that is nearest to the center.
    fn central_lowest(&self, cluster: &NearCluster<V::DVec>) -> Option<V::DVec> {
        let NearCluster {
            lowest, outward, ..
        } = *cluster;
        let across = self.center - lowest;
        let across = across - outward * across.dot(outward);
        let tilted = outward - across.unit()? * TILT;
        let edge = self.pair.lowest(self.body, tilted) - lowest;
        let is_level = edge.dot(outward) <= slop(cluster.plane.weld, outward * cluster.depth);
        let fraction = across.dot(edge) / edge.length_squared();
        (is_level && fraction > 0.0).then(|| lowest + edge * fraction.min(1.0))
    }

    /// Returns the path from a lowest point of the body to the center. Returns `None` if the path
    /// does not cross the cluster.
    fn path(&self, cluster: &NearCluster<V::DVec>, lowest: V::DVec) -> Option<CenterPath<V::DVec>> {
        let plane = (cluster.outward, cluster.depth.max(0.0));
        let segment = CenterSegment::new(lowest, self.center, plane);
        let (index, facet) = self.facet_at(cluster, segment.crossing)?;
        Some(CenterPath {
            foot: lowest + cluster.outward * cluster.depth,
            segment,
            facet,
            index,
        })
    }

    /// Returns `true` if no translation shorter than `length` takes the crossing of a path past the
    /// rim of a cluster.
    fn is_wide(
        &self,
        cluster: &NearCluster<V::DVec>,
        path: &CenterPath<V::DVec>,
        length: f64,
    ) -> bool {
        let CenterPath { foot, segment, .. } = *path;
        let room = length * segment.slant + (segment.crossing - foot).length();
        if path.facet.inset(foot) > room {
            return true;
        }
        let pair = self.pair;
        let mut is_wide = true;
        self.visit_cluster(cluster, foot, room, |index| {
            let rims = pair.rims(index);
            let is_far = || {
                let facet = pair.facet(index);
                facet.is_none_or(|facet| facet.distance_to_sides(rims, foot) > room)
            };
            is_wide = is_wide && (rims == 0 || is_far());
        });
        is_wide
    }

    /// Returns the facet of a cluster that contains a point of the cluster's plane, with its index.
    /// If several facets contain the point, returns the facet with the lowest index.
    fn facet_at(
        &self,
        cluster: &NearCluster<V::DVec>,
        point: V::DVec,
    ) -> Option<(u32, Facet<V::DVec>)> {
        let mut found: Option<(u32, Facet<V::DVec>)> = None;
        let visit = |index| {
            if found.as_ref().is_none_or(|(other, _)| index < *other) {
                let facet = self.pair.facet(index);
                let facet = facet.filter(|facet| facet.inset(point) >= -facet.weld);
                found = facet
                    .map(|facet| (index, facet.into_owned()))
                    .or(found.take());
            }
        };
        if cluster.facets.len() <= MAX_SCANNED {
            cluster.facets_in(self.facets).for_each(visit);
        } else {
            self.visit_cluster(cluster, point, cluster.plane.weld, visit);
        }
        found
    }

    /// Calls `visit` with the facets of a cluster that may be within a distance of a point of the
    /// cluster's plane.
    fn visit_cluster(
        &self,
        cluster: &NearCluster<V::DVec>,
        point: V::DVec,
        distance: f64,
        mut visit: impl FnMut(u32),
    ) {
        let surface = self.pair.surface;
        // The box around a disk in the plane. Along an axis, the disk is as long as the sine of the
        // angle between axis and normal.
        let [x, y, z] = cluster.plane.normal.components().map(|it| it * it);
        let sines = [y + z, x + z, x + y].map(f64::sqrt);
        let half = sines.map(|sine| distance * sine + cluster.plane.weld);
        let at = point + surface.world_pose.translation;
        let disk = Bounds {
            min: at - V::DVec::of(half),
            max: at + V::DVec::of(half),
        };
        let bounds = self.body.region.bounds();
        let is_in_body_box = bounds.is_some_and(|bounds| bounds.contains(&disk));
        if cluster.facets.len() <= MAX_SCANNED && is_in_body_box {
            return cluster.facets_in(self.facets).for_each(visit);
        }
        surface.parts_near(&BoundingRegion::Box(disk), V::DVec::ZERO, |index| {
            if self.pair.cluster(index) == Some(cluster.number) {
                visit(index);
            }
        });
    }

    /// Adds a contact for each cluster on whose plane a translation ends. Returns `false` if the
    /// list of contacts is still empty, or if one of the `chosen` clusters has no contact.
    fn add_tight(
        &mut self,
        translation: V::DVec,
        chosen: &[ChosenCluster<V::DVec>],
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) -> bool {
        let clusters = self.clusters;
        for cluster in clusters {
            let left = cluster.depth - translation.dot(cluster.outward);
            if left.abs() > slop(cluster.plane.weld, translation) + cluster.tolerance {
                continue;
            }
            let mut known = chosen.iter();
            let known = known.find(|(other, _)| other.number == cluster.number);
            let facet = match known {
                Some((_, facet)) => Some(*facet),
                None => cluster.facets_in(self.facets).find(|it| self.touches(*it)),
            };
            let Some((index, facet)) = facet.and_then(|it| Some((it, self.pair.facet(it)?))) else {
                continue;
            };
            if contacts.iter().any(|contact| contact.indices.0 == index) {
                continue;
            }
            // The facet's own normal does not depend on distant facets, unlike the normal of the
            // cluster.
            let normal = facet.normal.toward(cluster.outward);
            let lowest = self.pair.lowest(self.body, normal);
            let contact = self.pair.contact_over((index, 0), &facet, normal, lowest);
            let contact = contact.filter(|contact| is_tight(contact, translation));
            if known.is_some() && contact.is_none() {
                return false;
            }
            contacts.extend(contact);
        }
        !contacts.is_empty()
    }
}
