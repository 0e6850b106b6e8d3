//! Casts against a single plane, in closed form.
//!
//! Most characters stand on a flat floor or walk along a flat wall. If the box around a motion
//! overlaps only facets of one cluster, the body touches nothing before it reaches the cluster's
//! plane. If the point where the body reaches the plane is in one of the facets, the body touches
//! this facet at that time.

use core::ops::ControlFlow;

use crate::{
    pipeline::proxy::Proxy,
    placed::{BoundingRegion, PlacedCollider},
    shape::{Bounds, Facet, Support},
    space::DVector,
    spatial::{
        mover::body::{BodyTouch, FilteredQuery},
        spatial_query::QuerySpace,
    },
    tolerance::SURELY_APART,
};

impl FilteredQuery<'_, '_, '_> {
    /// Returns the first touch of a convex body that can touch only a single plane during a motion,
    /// or `Some(None)` if the body touches nothing. Returns `None` if the general cast has to
    /// decide.
    pub fn cast_at_plane<V: QuerySpace>(
        &self,
        body: &PlacedCollider<V>,
        motion: V::DVec,
    ) -> Option<Option<BodyTouch<V::DVec>>> {
        let (shape, pose) = (body.scaled_shape()?, body.world_pose.pose());
        let bounds = *body.region().ok()?.bounds()?;
        let swept = BoundingRegion::Box(bounds.around_translation(motion));
        let mut only: Option<(&Proxy<V>, u32)> = None;
        let mut is_single = true;
        let center = pose.translation + body.center();
        let (query, origin) = (self.query, V::DVec::ZERO);
        query.near_region(&swept, origin, self.selection, |other| {
            is_single &= other.is_surface() && !self.is_one_way(body, other);
            is_single &= other
                .element_around(center - other.world_pose.translation)
                .is_none();
            if !is_single {
                return ControlFlow::Break(());
            }
            other.parts_near(&swept, V::DVec::ZERO, |facet| {
                if !other.owns(facet) {
                    return;
                }
                let (first, known) = *only.get_or_insert((other, facet));
                is_single &= first.entity == other.entity;
                is_single &= first.cluster(known) == other.cluster(facet);
            });
            ControlFlow::Continue(())
        });
        let Some((surface, facet)) = only.filter(|_| is_single) else {
            return is_single.then_some(None);
        };
        let plane = surface.facet(facet)?;
        let origin = surface.world_pose.translation;
        let at = pose.translation - origin;
        let is_above = |facet: &Facet<V::DVec>| facet.height(at + body.center()) > 0.0;
        if surface.is_one_sided() && !is_above(&plane) {
            return None;
        }
        let normal = if is_above(&plane) {
            plane.normal
        } else {
            -plane.normal
        };
        let margin = surface.facet_radius()?;
        let radius = shape.radius() + margin;
        let lowest = shape.lowest(pose.rotation, normal) + at;
        let approach = -motion.dot(normal);
        // Returns the gap to the plane of a facet, and the time and the point at which the body
        // reaches the plane.
        let reach = |facet: &Facet<V::DVec>| {
            let gap = facet.height(lowest) * facet.normal.dot(normal) - radius;
            let time = gap / approach;
            (gap, time, lowest + motion * time - normal * radius)
        };
        let (gap, _, foot) = reach(&plane);
        let size = (bounds.max - bounds.min).length();
        // If the gap is within this tolerance, the rules of the general cast decide.
        if gap <= SURELY_APART * (size + plane.max_distance(at)) + plane.weld {
            return None;
        }
        if gap >= approach {
            return Some(None);
        }
        let spot = BoundingRegion::Box(Bounds::at(origin + foot).grown(plane.weld));
        // Of several facets at the spot, the one with the lowest index counts.
        let mut found: Option<(u32, Facet<V::DVec>)> = None;
        surface.parts_near(&spot, V::DVec::ZERO, |index| {
            if found.as_ref().is_none_or(|(other, _)| index < *other)
                && surface.owns(index)
                && surface.cluster(index) == surface.cluster(facet)
            {
                let near = surface.facet(index);
                let near = near.filter(|near| near.inset(foot) >= -near.weld);
                found = near.map(|near| (index, near)).or(found.take());
            }
        });
        let (part, under) = found.filter(|(_, under)| is_above(under) == is_above(&plane))?;
        let (_, time, foot) = reach(&under);
        Some(Some(BodyTouch {
            entity: surface.entity,
            part: surface.own_part(part),
            time,
            gap: 0.0,
            normal,
            face_normal: normal,
            point: origin + foot + normal * margin,
        }))
    }
}
