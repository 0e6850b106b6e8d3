//! Finds facets by their index, or at a point of the surface.

use core::ops::ControlFlow;
use std::borrow::Cow;

use crate::{
    placed::{BoundingRegion, ClusteredFacet},
    shape::{Bounds, Facet},
    space::{DVector, Space},
    surface::surface_pair::SurfacePair,
};

impl<V: Space> SurfacePair<'_, V> {
    /// Returns a near facet that is kept.
    fn kept(&self, index: u32) -> Option<Option<&ClusteredFacet<V::DVec>>> {
        let kept = self.near.get(index)?;
        let placed = kept.get_or_init(|| self.surface.clustered_facet(index));
        Some(placed.as_ref())
    }

    /// Returns a facet in the world's axes, relative to the translation of the surface.
    pub(super) fn facet(&self, index: u32) -> Option<Cow<'_, Facet<V::DVec>>> {
        match self.kept(index) {
            Some(kept) => kept.map(|kept| Cow::Borrowed(&kept.facet)),
            None => self.surface.facet(index).map(Cow::Owned),
        }
    }

    /// Returns a near facet that is already placed.
    fn placed(&self, index: u32) -> Option<&ClusteredFacet<V::DVec>> {
        self.near.get(index)?.get()?.as_ref()
    }

    /// Does the same as [`PlacedCollider::cluster`](crate::placed::PlacedCollider::cluster).
    pub(super) fn cluster(&self, facet: u32) -> Option<u32> {
        let cluster = self.placed(facet).map(|placed| placed.cluster);
        cluster.or_else(|| self.surface.cluster(facet))
    }

    /// Does the same as [`PlacedCollider::rims`](crate::placed::PlacedCollider::rims).
    pub(super) fn rims(&self, facet: u32) -> u8 {
        let rims = self.placed(facet).map(|placed| placed.rims);
        rims.unwrap_or_else(|| self.surface.rims(facet))
    }

    /// Calls `visit` with each facet that contains a point up to a tolerance, and its index, until
    /// `visit` returns `Break`. Skips facets without an area, and facets for which `is_wanted`
    /// returns `false`.
    pub(super) fn visit_at(
        &self,
        (point, tolerance): (V::DVec, f64),
        is_wanted: impl Fn(&Facet<V::DVec>) -> bool,
        mut visit: impl FnMut(u32, &Facet<V::DVec>) -> ControlFlow<()>,
    ) {
        let mut visit_if = |index: u32, found: &ClusteredFacet<V::DVec>| {
            let facet = &found.facet;
            // Most facets are excluded by their boxes.
            let bounds = Bounds::of_points(facet.vertices().iter().copied());
            let is_near = bounds
                .grown(tolerance.max(facet.weld))
                .overlaps(&Bounds::at(point));
            if is_near && found.has_area && is_wanted(facet) && facet.contains(point, tolerance) {
                visit(index, facet)
            } else {
                ControlFlow::Continue(())
            }
        };
        if self.has_near_at(point, tolerance) {
            let kept = self.near.indices().iter();
            let mut kept = kept.filter_map(|index| Some((*index, self.kept(*index)??)));
            let _ = kept.try_for_each(|(index, found)| visit_if(index, found));
            return;
        }
        let at = point + self.surface.world_pose.translation;
        let region = BoundingRegion::Box(Bounds::at(at).grown(tolerance));
        let mut state = ControlFlow::Continue(());
        self.surface.parts_near(&region, V::DVec::ZERO, |index| {
            if state.is_continue()
                && let Some(found) = self.surface.clustered_facet(index)
            {
                state = visit_if(index, &found);
            }
        });
    }

    /// Returns `true` if all facets within a distance of a point are kept: if the body is convex,
    /// and its box contains all points within the distance.
    fn has_near_at(&self, point: V::DVec, distance: f64) -> bool {
        let Some(body) = self
            .convex
            .as_ref()
            .filter(|_| !self.near.indices().is_empty())
        else {
            return false;
        };
        // The near facets include those that touch the body only with their margin.
        let margin = self.surface.facet_radius().unwrap_or(0.0);
        // More than the distance from the center of a box to its corners.
        let reach = 2.0 * distance;
        if let Some(ball) = &self.ball {
            return (point - ball.center).length() + reach <= ball.half_box + margin;
        }
        let at = Bounds::at(point + self.surface.world_pose.translation);
        let bounds = body.region.bounds();
        bounds.is_some_and(|bounds| bounds.grown(-reach).gap(&at) <= margin)
    }
}
