//! Lower bounds on the times at which a moving body touches the facets of a surface.
//!
//! Casting a facet takes far longer than computing its bound. So a list holds a few waiting facets,
//! and the facet with the lowest bound is cast next. Once a cast hits, most of the waiting facets
//! are skipped, because their bounds are later than the hit. In the frame of the body, the body is
//! at rest and the facets move. A facet does not touch the body before each of these events:
//!
//! * The box around the facet touches the box around the body.
//! * The body touches the plane of the facet.
//! * The body reaches the facet's highest vertex along the normal of the first touch so far.
//!
//! The *shadow* of an object is its projection along the motion. If the shadows of a facet and the
//! body are apart, the facet never touches the body. Only separating lines that are parallel to an
//! edge of the facet's shadow are tried.
//!
//! The facets of a cluster lie in one plane. So one support point bounds the times of all these
//! facets. The body cannot touch a facet before the body reaches the plane. So if the body touches
//! one facet at that time, no facet of the cluster is touched earlier.
//!
//! If the lowest point of the body along a facet's normal lands well inside the facet, the touch
//! has a closed form. No point of the body reaches the plane of the facet earlier.
//!
//! No bound is too late, because a margin is subtracted from each gap. The margin covers the
//! tolerance of touching and all rounding.

#[cfg(test)]
mod tests;

use core::cell::Cell;

use arrayvec::ArrayVec;

use crate::{
    collider_query::moving_colliders::{Moving, MovingColliders, time_to_close},
    placed::{BoundingRegion, DynShape, Placed, PlacedCollider},
    query::{CastHit64, CastStatus, Contact64},
    shape::{
        Bounds, FacetVertices, Support, Surface, core_bounds, facet_inset, facet_normal, swap_if,
        weld,
    },
    space::{DVector, Space},
    tolerance::{
        CAST_MARGIN, CAST_TOUCHING, OFFSET_SCALE, ROUNDING, SAME_NORMAL, SURELY_APART, TOUCHING,
    },
};

/// The maximum number of clusters whose bounds are kept. The bounds of other clusters are computed
/// again for each facet.
const MAX_KNOWN: usize = 16;

/// The maximum number of waiting facets. If this number is reached, the facet with the lowest bound
/// is cast before another facet is added.
const MAX_WAITING: usize = 8;

/// A landing has a closed form only if two lengths are at least this fraction of the body's size.
/// The first length is the distance of the landing point from the facet's boundary. The second
/// length is the thickness of the body along the facet's normal.
const INSIDE: f64 = 1e-3;

/// The least sine of the angle between a facet's plane and the motion for which a landing has a
/// closed form. At such an angle, the overlap exceeds
/// [`GRAZING_DEPTH`](crate::tolerance::GRAZING_DEPTH) before the point leaves the inside of the
/// facet.
const LANDING_SINE: f64 = 0.01;

/// The time at which the body reaches a plane.
#[derive(Clone, Copy)]
struct PlaneTime<D> {
    /// The unit normal toward the body, in the frame of the body.
    normal: D,
    /// A lower bound on the time at which the body touches a facet in the plane. The bound is
    /// infinite if no facet in the plane has to be cast.
    bound: f64,
    /// The time at which the body reaches the plane.
    exact: f64,
    /// `true` if the cluster has been searched for the facet on which the body lands.
    is_searched: bool,
}

/// The waiting facets, each with its bound. The last facet has the lowest bound.
type WaitingFacets = ArrayVec<(f64, u32), MAX_WAITING>;

/// The plane of a facet, in the frame of the body.
struct FacetPlane<D> {
    /// The unit normal toward the body.
    normal: D,
    /// The lowest point of the body's core along `normal`.
    lowest: D,
    /// The gap between plane and body at the start.
    gap: f64,
    /// The decrease of the gap until the end of the motion.
    approach: f64,
}

/// The touch of the body's lowest point with the plane of a facet.
struct Landing<D> {
    /// The plane, and the point that lands.
    plane: FacetPlane<D>,
    /// The time of the touch.
    time: f64,
    /// The landing point, in the frame of the body at the start.
    foot: D,
    /// The distance of the landing point from the facet's boundary, negative beside the facet.
    inset: f64,
    /// The least `inset` at which the landing has a closed form.
    inside: f64,
    /// An upper bound on the rounding errors of positions.
    rounding: f64,
}

/// A facet in the frame of the body.
pub struct MovingFacet<D: DVector> {
    vertices: FacetVertices<D>,
    weld: f64,
    /// An upper bound on the rounding errors of positions.
    rounding: f64,
    /// The margin that is subtracted from each gap to the facet.
    margin: f64,
}

/// The normal of the first touch so far, toward the body.
#[derive(Clone, Copy)]
struct FirstNormal<D> {
    time: f64,
    normal: D,
    /// The least height of the body along `normal`.
    lowest: f64,
}

/// Lower bounds on the times at which a convex body touches facets of a surface, if neither body
/// nor surface rotates.
pub struct FacetTimes<'a, V: Space> {
    surface: &'a PlacedCollider<V>,
    /// The facets of the surface, in its own frame.
    facets: &'a Surface<V>,
    /// `true` if the surface is the second collider of the pair.
    is_second: bool,
    body: DynShape<'a, V>,
    /// A box around the body, in the world.
    region: Bounds<V::DVec>,
    /// A box around the body, in its own frame.
    bounds: Bounds<V::DVec>,
    /// The translation of the surface in the frame of the body, and the linear map from the surface
    /// to this frame.
    origin: V::DVec,
    linear: <V::DVec as DVector>::Matrix,
    /// The rotation from the world to the axes of the body.
    rotation: <V::DVec as DVector>::Matrix,
    /// The motion of the body relative to the surface, in the world.
    translation: V::DVec,
    /// The motion of the surface relative to the body, in the frame of the body.
    velocity: V::DVec,
    /// The length of `velocity`.
    speed: f64,
    /// The sum of the radii of body and facets.
    radius: f64,
    size: f64,
    /// The index and the time of each cluster whose bound is kept. Each of these clusters has
    /// several facets.
    known: ArrayVec<(u32, PlaneTime<V::DVec>), MAX_KNOWN>,
    /// The last cluster in `known` of which no facet has to be cast any more.
    finished: Option<u32>,
    first: Option<FirstNormal<V::DVec>>,
}

impl<'a, V: Space> FacetTimes<'a, V> {
    /// Returns `None` unless one collider is a surface, the other collider is convex, and neither
    /// collider rotates.
    pub fn new(pair: &MovingColliders<'a, V>) -> Option<Self> {
        let moving = pair.moving;
        let rotates = |motion: &Moving<V>| V::DVec::angle_size(motion.1.rotation) != 0.0;
        let is_second = matches!(moving[1].0, Placed::Collider(placed) if placed.is_surface());
        let [ground, other] = swap_if(is_second, moving);
        let (Placed::Collider(surface), Some((body, pose))) = (ground.0, other.0.convex()) else {
            return None;
        };
        let facets = surface.compound()?.surface()?;
        if moving.iter().any(rotates) {
            return None;
        }
        let [of_first, of_second] = pair.regions;
        let region = if is_second { of_first } else { of_second };
        let region = *region.as_ref()?.bounds()?;
        let radius = body.radius() + surface.facet_radius()?;
        let rotation = V::DVec::transpose(pose.rotation);
        let [min, max] = core_bounds(&body, V::DVec::IDENTITY);
        let translation_of_body = other.1.translation - ground.1.translation;
        Some(Self {
            surface,
            facets,
            is_second,
            body,
            region,
            bounds: Bounds { min, max }.grown(radius),
            origin: rotation * (surface.world_pose.translation - pose.translation),
            linear: rotation * surface.world_pose.linear(),
            rotation,
            translation: translation_of_body,
            velocity: rotation * -translation_of_body,
            speed: translation_of_body.length(),
            radius,
            size: (region.max - region.min).length(),
            known: ArrayVec::new(),
            finished: None,
            first: None,
        })
    }

    /// Returns the region of the world that contains the body at the start.
    pub fn region(&self) -> BoundingRegion<V::DVec> {
        BoundingRegion::Box(self.region)
    }

    /// Returns the values of the surface and of the body in the order of the pair.
    pub fn in_order<T>(&self, of_surface: T, of_body: T) -> [T; 2] {
        swap_if(self.is_second, [of_surface, of_body])
    }

    /// Calls `visit` with each facet that may be touched before the current limit, roughly in the
    /// order of the bounds. The limit starts at 1. A limit that `visit` returns replaces the
    /// current limit. Returns `None` if the scale flattens the surface.
    pub fn search(&mut self, mut visit: impl FnMut(&mut Self, u32) -> Option<f64>) -> Option<()> {
        let (surface, region, translation) = (self.surface, self.region, self.translation);
        let mut limit = 1.0;
        let mut waiting = WaitingFacets::new();
        // The cluster whose facets need no further casts. If there are several, only the last is
        // remembered.
        let finished = Cell::new(None);
        let is_finished = |cluster| finished.get() == Some(cluster);
        let mut visit_next = |times: &mut Self, waiting: &mut WaitingFacets, limit: f64| {
            let (bound, facet) = waiting.pop()?;
            let of_cluster = times.bound_of_cluster(facet).unwrap_or(0.0);
            let is_late = bound.max(of_cluster) > limit;
            let new = if is_late { None } else { visit(times, facet) };
            Some(new.unwrap_or(limit))
        };
        surface.parts_along(&region, translation, is_finished, |facet| {
            let bound = self.bound(facet, limit);
            if bound <= limit {
                if waiting.is_full() {
                    limit = visit_next(self, &mut waiting, limit).unwrap_or(limit);
                }
                let later = waiting.iter().take_while(|other| **other > (bound, facet));
                waiting.insert(later.count(), (bound, facet));
            }
            finished.set(self.finished);
            limit
        })?;
        while let Some(new) = visit_next(self, &mut waiting, limit) {
            limit = new;
        }
        Some(())
    }

    /// If the lowest point of the body lands well inside a facet or its cluster, returns this
    /// touch. Also returns the index of the touched facet.
    pub fn landing(
        &mut self,
        index: u32,
        facet: &MovingFacet<V::DVec>,
    ) -> Option<(u32, CastHit64<V::DVec>)> {
        let landing = self.landing_on(facet, None)?;
        let Landing { foot, inside, .. } = landing;
        if landing.inset >= inside {
            return Some((index, self.hit(&landing)?));
        }
        let surface = self.surface;
        let cluster = surface.cluster(index);
        let mut known = self.known.iter_mut();
        let (_, time) = known.find(|(other, _)| Some(*other) == cluster)?;
        if core::mem::replace(&mut time.is_searched, true) {
            return None;
        }
        let foot = V::DVec::transpose(self.rotation) * (foot - self.origin);
        let (mut under, mut is_inside): (Option<u32>, _) = (None, true);
        surface.parts_near_ball(surface.world_pose.translation + foot, inside, |other| {
            let in_cluster = surface.cluster(other) == cluster;
            let Some(facet) = surface.facet(other).filter(|_| in_cluster) else {
                return;
            };
            let rims = surface.rims(other);
            is_inside &= rims == 0 || facet.distance_to_sides(rims, foot) >= inside;
            if under.is_none_or(|under| other < under) && facet.inset(foot) >= -facet.weld {
                under = Some(other);
            }
        });
        let under = under.filter(|_| is_inside)?;
        let landing = self.landing_on(&self.facet(under)?, Some(landing.plane.lowest))?;
        Some((under, self.hit(&landing)?))
    }

    /// Returns the touch of the body with the plane of a facet, even beside the facet. Returns
    /// `None` if the body is too close to the plane at the start, does not reach the plane, or
    /// approaches the plane at too small an angle. If several points of the body are equally low,
    /// `lowest` selects the point that lands.
    fn landing_on(
        &self,
        facet: &MovingFacet<V::DVec>,
        lowest: Option<V::DVec>,
    ) -> Option<Landing<V::DVec>> {
        let mut plane = self.plane(facet)?;
        plane.lowest = lowest.unwrap_or(plane.lowest);
        let (gap, approach) = (plane.gap, plane.approach);
        if gap <= facet.margin || gap >= approach || approach < LANDING_SINE * self.speed {
            return None;
        }
        let time = gap / approach;
        let foot = plane.lowest - plane.normal * self.radius - self.velocity * time;
        Some(Landing {
            plane,
            time,
            foot,
            inset: facet_inset(&facet.vertices, foot),
            inside: INSIDE * self.size + facet.margin,
            rounding: facet.rounding,
        })
    }

    /// Returns the hit of a landing. Returns `None` if the hit has no closed form, because the body
    /// is too thin, or approaches the plane too slowly.
    fn hit(&self, landing: &Landing<V::DVec>) -> Option<CastHit64<V::DVec>> {
        let (time, normal, lowest) = (landing.time, landing.plane.normal, landing.plane.lowest);
        let height = (self.body.support(normal) - lowest).dot(normal);
        // Until the time `step` before the touch, the gap exceeds the margin of a cast.
        let step = 1.5 * (CAST_MARGIN * self.size + landing.rounding) / landing.plane.approach;
        let is_thin = height + self.body.radius() < landing.inside;
        if is_thin || step * self.speed > CAST_TOUCHING * self.size {
            return None;
        }
        let point = lowest - normal * self.body.radius();
        let of_surface = point - self.velocity * time - self.origin;
        let to_world = V::DVec::transpose(self.rotation);
        let [offset_a, offset_b] = self.in_order(of_surface, point);
        let [normal, _] = self.in_order(normal, -normal);
        let contact = Contact64 {
            normal: to_world * normal,
            depth: 0.0,
            offset_a: to_world * offset_a,
            offset_b: to_world * offset_b,
        };
        Some(CastHit64 {
            status: CastStatus::Hit,
            safe: time - step,
            touching: time,
            contact,
            face_normal: contact.normal,
        })
    }

    /// Raises the bounds after a facet was touched: see the file head. Two times count as equal if
    /// they differ by at most `same_time`. `normal` is the normal of the pair's contact, from the
    /// first collider to the second collider.
    pub fn add_touch(&mut self, facet: u32, normal: V::DVec, time: f64, same_time: f64) {
        let [up, _] = self.in_order(normal, -normal);
        let up = self.rotation * up;
        if self.first.is_none_or(|first| time < first.time) {
            self.first = Some(FirstNormal {
                time,
                normal: up,
                lowest: self.lowest(up),
            });
        }
        let number = self.surface.cluster(facet);
        let mut known = self.known.iter_mut();
        let Some((cluster, known)) = known.find(|(other, _)| Some(*other) == number) else {
            return;
        };
        let is_first = time <= known.exact + same_time;
        if is_first && (up - known.normal.toward(up)).length() <= SAME_NORMAL {
            known.bound = f64::INFINITY;
            self.finished = Some(*cluster);
        }
    }

    /// Returns a lower bound on the time at which the body touches a facet. The bound is infinite
    /// if the body does not touch the facet before `limit`. The bound is also infinite if a touch
    /// of another facet of the same cluster makes the cast unnecessary.
    fn bound(&mut self, index: u32, limit: f64) -> f64 {
        let of_cluster = self.bound_of_cluster(index);
        if of_cluster.is_some_and(|bound| bound > limit) {
            return f64::INFINITY;
        }
        let Some(facet) = self.facet(index) else {
            return f64::INFINITY;
        };
        let mut bound = of_cluster.unwrap_or(0.0);
        if let Some(first) = self.first {
            bound = bound.max(self.time_along(&facet, first.normal, first.lowest));
        }
        if bound <= limit {
            bound = bound.max(self.time_to_box(&facet));
        }
        if bound <= limit && of_cluster.is_none() {
            let plane = self.time_to_plane(&facet);
            bound = bound.max(plane.map_or(0.0, |plane| plane.bound));
        }
        if bound > limit { f64::INFINITY } else { bound }
    }

    /// Returns `true` if a side of a facet's shadow separates this shadow from the shadow of the
    /// body, so that the body never touches the facet. The shadow of a triangle has a side for each
    /// edge. The shadow of a segment has a side for each end.
    pub fn passes(&self, facet: &MovingFacet<V::DVec>) -> bool {
        let dimension = V::DVec::DIMENSION;
        (0..dimension).any(|index| {
            let corner = |offset| facet.vertices.get((index + offset) % dimension).copied();
            let (Some(start), Some(end), Some(apex)) =
                (corner(0), corner(1), corner(dimension - 1))
            else {
                return false;
            };
            // In 2D, the shadow has no edges, and its sides are parallel to the velocity.
            let along = [end - start, self.velocity];
            let Some(across) = along.get(3 - dimension..).and_then(V::DVec::perpendicular) else {
                return false;
            };
            let inward = apex - start;
            let outward = -across.toward(inward);
            self.time_along(facet, outward, self.lowest(outward)) == f64::INFINITY
        })
    }

    /// Returns the unit normal of one side of a facet, in world axes. Returns `None` if the facet
    /// has a margin, or if the surface is not the second collider.
    pub fn second_normal(&self, facet: &MovingFacet<V::DVec>) -> Option<V::DVec> {
        let is_thin = self.is_second && self.radius <= self.body.radius();
        let normal = facet_normal(&facet.vertices).filter(|_| is_thin)?;
        Some(V::DVec::transpose(self.rotation) * normal.unit()?)
    }

    /// Returns the bound for the facet's cluster, or `None` if the cluster has a single facet.
    fn bound_of_cluster(&mut self, facet: u32) -> Option<f64> {
        let cluster = self.surface.cluster(facet)?;
        if let Some((_, time)) = self.known.iter().find(|(other, _)| *other == cluster) {
            return Some(time.bound);
        }
        let plane = self.mapped(self.surface.plane_vertices(facet)?);
        let time = self.time_to_plane(&plane)?;
        let is_known = self.known.try_push((cluster, time)).is_ok();
        if is_known && time.bound == f64::INFINITY {
            self.finished = Some(cluster);
        }
        Some(time.bound)
    }

    /// Returns a facet in the frame of the body.
    pub fn facet(&self, index: u32) -> Option<MovingFacet<V::DVec>> {
        Some(self.mapped(self.facets.facet_vertices(index)?))
    }

    /// Maps the vertices of a facet to the frame of the body.
    fn mapped(&self, mut vertices: FacetVertices<V::DVec>) -> MovingFacet<V::DVec> {
        let (mut distance, mut extent) = (0.0_f64, 0.0_f64);
        for vertex in &mut vertices {
            let offset = self.linear * *vertex;
            *vertex = offset + self.origin;
            distance = distance.max(vertex.extent());
            extent = extent.max(offset.extent());
        }
        // A rotation increases the extent, which is the L1 norm, by less than a factor of 2.
        let weld = weld(&[V::DVec::axis(0) * (2.0 * extent)]);
        let scale = self.size + distance + 2.0 * OFFSET_SCALE * extent;
        let rounding = ROUNDING * (distance + extent + self.velocity.extent());
        MovingFacet {
            vertices,
            weld,
            rounding,
            margin: SURELY_APART * scale + weld + rounding,
        }
    }

    /// Returns a lower bound on the time at which the box around a facet touches the box around the
    /// body.
    fn time_to_box(&self, facet: &MovingFacet<V::DVec>) -> f64 {
        let around = Bounds::of_points(facet.vertices.iter().copied());
        self.bounds
            .grown(facet.margin)
            .entry(&around, self.velocity)
    }

    /// Returns the minimum of x · `axis` over all points x of the body, which is grown by the
    /// radius of the facets.
    fn lowest(&self, axis: V::DVec) -> f64 {
        self.body.support(-axis).dot(axis) - self.radius * axis.length()
    }

    /// Returns a lower bound on the time at which the highest vertex of a facet along an axis
    /// reaches the lowest point of the body. `lowest` is the height of this point.
    fn time_along(&self, facet: &MovingFacet<V::DVec>, axis: V::DVec, lowest: f64) -> f64 {
        let heights = facet.vertices.iter().map(|vertex| vertex.dot(axis));
        let top = heights.fold(f64::NEG_INFINITY, f64::max);
        let gap = lowest - top - facet.margin * axis.length();
        time_to_close(gap, self.velocity.dot(axis))
    }

    /// Returns the plane of a facet, or `None` for a facet without a normal.
    fn plane(&self, facet: &MovingFacet<V::DVec>) -> Option<FacetPlane<V::DVec>> {
        let base = *facet.vertices.first()?;
        // The normal points toward the origin of the body's frame.
        let normal = facet_normal(&facet.vertices)?.unit()?.toward(-base);
        let lowest = self.body.support(-normal);
        Some(FacetPlane {
            normal,
            lowest,
            gap: (lowest - base).dot(normal) - self.radius,
            approach: self.velocity.dot(normal),
        })
    }

    /// Returns the time at which the body touches the plane of a facet. Returns `None` for a facet
    /// without a normal.
    fn time_to_plane(&self, facet: &MovingFacet<V::DVec>) -> Option<PlaneTime<V::DVec>> {
        let plane = self.plane(facet)?;
        let (gap, approach) = (plane.gap, plane.approach);
        // A body that slides along a plane does not count as touching the plane: see
        // `GRAZING_DEPTH`.
        let grazing = TOUCHING * self.size;
        let is_flat = facet.weld <= grazing;
        let is_passed = is_flat && gap.abs() <= grazing && gap - approach >= -grazing;
        let [bound, exact] = if is_passed {
            [f64::INFINITY; 2]
        } else {
            [gap - facet.margin, gap].map(|gap| time_to_close(gap, approach))
        };
        Some(PlaneTime {
            normal: plane.normal,
            bound,
            exact,
            is_searched: is_passed,
        })
    }
}
