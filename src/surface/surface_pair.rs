//! A surface and a body, and the facets that are ignored. [`SurfacePair::unplaced`] decides which
//! of two colliders is the surface. `collider_query/` calls this function, or [`SurfacePair::new`],
//! for each pair in which a collider has several parts.

use smallvec::SmallVec;

use crate::{
    placed::{Part, PlacedCollider},
    query::Counter,
    shape::{Facet, Support, swap_if},
    space::{DVector, Space, shortest_translation::PushPlane},
    surface::near_facets::NearFacets,
    tolerance::SURELY_APART,
};

/// If both colliders are surfaces, the smaller surface counts as a body if its size is at most this
/// fraction of the larger surface's size.
const MAX_BODY_SIZE: f64 = 0.5;

/// A part of the body that is a ball.
pub struct BallPart<D> {
    /// The ball's center, relative to the surface's translation.
    pub center: D,
    pub radius: f64,
    /// Half the side length of the ball's bounding box, which includes the tolerance of touching.
    pub half_box: f64,
    /// The radius of the surface's facets.
    pub facet_radius: f64,
}

/// The segment from a lowest point of a body to the body's center. The segment is in the body.
#[derive(Clone, Copy)]
pub struct CenterSegment<D> {
    /// The point at which the segment crosses a plane.
    pub crossing: D,
    /// The length of the segment, divided by its height above the lowest point.
    pub slant: f64,
}

impl<D: DVector> CenterSegment<D> {
    /// Returns the segment for the plane with this normal. The lowest point is at this `depth`
    /// below the plane.
    pub fn new(lowest: D, center: D, (normal, depth): PushPlane<D>) -> Self {
        let segment = center - lowest;
        let height = segment.dot(normal);
        Self {
            crossing: lowest + segment * (depth / height),
            slant: segment.length() / height,
        }
    }
}

/// A surface, and a body that may touch it.
pub struct SurfacePair<'a, V: Space> {
    pub surface: &'a PlacedCollider<V>,
    pub(super) body: &'a PlacedCollider<V>,
    /// `true` if the caller's first collider is the body.
    pub(super) is_swapped: bool,
    /// The body's center, relative to the surface's translation. `None` if the body is a surface of
    /// similar size, because the facets of such a body may lie on both sides of a facet.
    pub(super) center: Option<V::DVec>,
    /// The body, if it is convex and [placed](Self::place_body). Placing a part takes long, so the
    /// body is placed only once.
    pub(super) convex: Option<Part<'a, V>>,
    /// If the surface is a solid surface, the points that decide whether the body is inside: the
    /// centers of the parts of a small compound, and the center of any other body.
    pub(super) part_centers: SmallVec<[V::DVec; 4]>,
    /// The body, if it is a single ball.
    pub(super) ball: Option<BallPart<V::DVec>>,
    /// The facets near the body, during [`find`](Self::find).
    pub(super) near: NearFacets<V::DVec>,
    pub(super) counter: &'a Counter,
}

impl<'a, V: Space> SurfacePair<'a, V> {
    /// Selects which of two colliders is the surface. Returns `None` if neither collider is a
    /// surface, or if a collider is a half-space. A pair with a half-space needs no search, because
    /// a half-space pushes only along its own normal.
    pub fn new(
        a: &'a PlacedCollider<V>,
        b: &'a PlacedCollider<V>,
        counter: &'a Counter,
    ) -> Option<Self> {
        let mut pair = Self::unplaced(a, b, counter)?;
        pair.place_body();
        Some(pair)
    }

    /// Returns the pair of [`new`](Self::new) without the placed parts of the body, which takes
    /// less time. [`find_on_cells`](Self::find_on_cells) needs no parts.
    pub fn unplaced(
        a: &'a PlacedCollider<V>,
        b: &'a PlacedCollider<V>,
        counter: &'a Counter,
    ) -> Option<Self> {
        if a.is_half_space() || b.is_half_space() {
            return None;
        }
        let (is_swapped, is_body) = match (a.is_surface(), b.is_surface()) {
            (false, false) => return None,
            (true, false) => (false, true),
            (false, true) => (true, true),
            // The smaller surface is the body, for example the mesh of a crate in a level.
            (true, true) => {
                let (a, b) = (a.surface_size()?, b.surface_size()?);
                (a < b, a.min(b) <= MAX_BODY_SIZE * a.max(b))
            }
        };
        let [surface, body] = swap_if(is_swapped, [a, b]);
        let center = body.center() + (body.world_pose.translation - surface.world_pose.translation);
        Some(Self {
            surface,
            body,
            is_swapped,
            center: is_body.then_some(center),
            convex: None,
            part_centers: SmallVec::new(),
            ball: None,
            near: NearFacets::default(),
            counter,
        })
    }

    /// Places the parts of the body that all other functions need.
    pub fn place_body(&mut self) {
        let (surface, body) = (self.surface, self.body);
        if let Some(center) = self.center
            && surface.is_solid_surface()
        {
            if body.scaled_shape().is_none() {
                let origin = surface.world_pose.translation;
                let parts = body.solid_parts().filter_map(|index| body.part(index));
                let centers = parts.map(|it| it.center() + (it.world_pose.translation - origin));
                self.part_centers.extend(centers);
            }
            if self.part_centers.is_empty() {
                self.part_centers.push(center);
            }
        }
        if body.scaled_shape().is_some() {
            self.convex = body.part(0);
            self.ball = self.convex.as_ref().and_then(|part| self.ball_part(part));
        }
    }

    /// Returns `true` if the caller's first collider is the body.
    pub fn is_body_first(&self) -> bool {
        self.is_swapped
    }

    /// Converts the indices of two parts from the caller's order to the order of facet and body
    /// part, or back.
    pub fn surface_first(&self, (first, second): (u32, u32)) -> (u32, u32) {
        swap_if(self.is_swapped, [first, second]).into()
    }

    /// Calls `visit` with a part of the body, and returns the result. Returns `None` if the body
    /// has no such part.
    pub(super) fn with_body_part<R>(
        &self,
        index: u32,
        visit: impl FnOnce(&Part<V>) -> Option<R>,
    ) -> Option<R> {
        match &self.convex {
            Some(part) => visit(part),
            None => visit(&self.body.part(index)?),
        }
    }

    /// Calls `visit` with a facet and a part of the body, and returns the result.
    pub(super) fn with_parts<R>(
        &self,
        indices: (u32, u32),
        visit: impl FnOnce([&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        let facet = self.surface.part(indices.0)?;
        self.with_body_part(indices.1, |part| visit([&facet, part]))
    }

    /// Returns the lowest point of the core of a part along a normal, relative to the surface's
    /// translation. Counts a support evaluation.
    pub(super) fn lowest(&self, part: &Part<V>, normal: V::DVec) -> V::DVec {
        self.counter.add_one();
        let pose = part.world_pose.pose();
        let lowest = part.scaled_shape().lowest(pose.rotation, normal);
        lowest + (pose.translation - self.surface.world_pose.translation)
    }

    /// Returns a tolerance for the height of a body's lowest point above the plane of a facet. If
    /// the absolute value of the height is at most this tolerance, rounding decides whether the
    /// solvers report a contact. `center` is the body's center.
    pub(super) fn height_tolerance(&self, facet: &Facet<V::DVec>, center: V::DVec) -> f64 {
        let bounds = self.convex.as_ref().and_then(|body| body.region.bounds());
        let size = bounds.map_or(0.0, |bounds| (bounds.max - bounds.min).extent());
        SURELY_APART * (size + facet.max_distance(center))
    }

    /// Returns `true` if the surface is one-sided and the body's center is behind the facet.
    pub(super) fn is_hidden(&self, facet: &Facet<V::DVec>) -> bool {
        let is_behind = |center| facet.height(center) < 0.0;
        self.surface.is_one_sided() && self.center.is_some_and(is_behind)
    }

    /// Returns `true` if a facet is ignored: the surface is one-sided, and the body's center is
    /// behind the facet. If a small compound touches a solid surface, the center of the part
    /// counts. The indices of facet and body part are in the caller's order.
    pub fn ignores(&self, indices: (u32, u32)) -> bool {
        if !self.surface.is_one_sided() {
            return false;
        }
        let (index, part) = self.surface_first(indices);
        let Some(facet) = self.facet(index) else {
            return false;
        };
        match self.part_centers.get(part as usize) {
            Some(center) => facet.height(*center) < 0.0,
            None => self.is_hidden(&facet),
        }
    }

    /// Returns `true` if a part of a compound touches a face of a solid surface that is hidden
    /// from the compound's own center, but not from the center of the part.
    pub(super) fn touches_hidden(&self, indices: (u32, u32)) -> bool {
        if self.part_centers.len() <= 1 {
            return false;
        }
        let (index, part) = indices;
        let center = self.part_centers.get(part as usize);
        let (Some(facet), Some(center)) = (self.facet(index), center) else {
            return false;
        };
        self.is_hidden(&facet)
            && facet.height(*center) >= 0.0
            && self.contact_along(indices, facet.normal).is_some()
    }

    /// Returns a part of the body as a ball. Returns `None` if the part is not a ball, if the body
    /// has no center, or if the facets have no single radius.
    pub(super) fn ball_part(&self, part: &Part<V>) -> Option<BallPart<V::DVec>> {
        let shape = part.scaled_shape();
        if !shape.core().is_point() || self.center.is_none() {
            return None;
        }
        let bounds = part.region.bounds()?;
        Some(BallPart {
            center: part.world_pose.translation - self.surface.world_pose.translation,
            radius: shape.radius(),
            half_box: 0.5 * (bounds.max - bounds.min).component(0),
            facet_radius: self.surface.facet_radius()?,
        })
    }
}
