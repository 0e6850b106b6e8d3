//! Decides whether a convex body touches a facet, for bodies that need no solver: balls, capsules,
//! and, if facets and body have no radius, boxes and polygons. If body and facet are so close that
//! rounding decides, the solver decides.

use core::ops::ControlFlow;

use crate::{
    placed::Part,
    shape::{Core, Facet, ScaledShape, Shape, Support, has_area},
    space::{DVector, Space},
    surface::{obstacle_search::KnownPart, surface_pair::SurfacePair},
};

impl<V: Space> SurfacePair<'_, V> {
    /// Returns `true` if the body surely touches a facet, `false` if the body surely does not, and
    /// `None` if a solver must decide. Whether the facet is hidden does not matter.
    pub(super) fn surely_touches(&self, facet: &Facet<V::DVec>) -> Option<bool> {
        let (body, center) = (self.convex.as_ref()?, self.center?);
        let (shape, facet_radius) = (body.scaled_shape(), self.surface.facet_radius()?);
        let tolerance = self.height_tolerance(facet, center);
        let gap = match self.core_segment(body, &shape) {
            Some(segment) => facet.distance_to_segment(segment) - (facet_radius + shape.radius()),
            None if facet_radius == 0.0 => {
                let known = KnownPart::new(self, body, &shape)?;
                let mut gap = f64::NEG_INFINITY;
                let _ = known.visit_planes(facet, |(_, depth)| {
                    gap = gap.max(-depth);
                    if gap > tolerance {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                gap
            }
            None => return None,
        };
        // The comparisons are false if the gap is NaN. The normal of a facet without an area is not
        // certain.
        let touches = gap < -tolerance && has_area::<V>(facet.vertices());
        (touches || gap > tolerance).then_some(touches)
    }

    /// Returns the ends of the body's core if the core is a point or a segment. The ends are
    /// relative to the translation of the surface.
    fn core_segment(&self, body: &Part<V>, shape: &ScaledShape<Shape<V>>) -> Option<[V::DVec; 2]> {
        let Core::Box { half_extents } = shape.core() else {
            return None;
        };
        let sides = half_extents.components();
        if sides.iter().filter(|side| **side != 0.0).count() > 1 {
            return None;
        }
        let pose = body.world_pose.pose();
        let half = pose.rotation * half_extents;
        let middle = pose.translation - self.surface.world_pose.translation;
        Some([middle - half, middle + half])
    }
}
