//! Queries with shapes, points and boxes on all colliders. Queries for touches call `near_region`,
//! and queries for near colliders call `nearest_first`. Both functions call `SpatialQuery::search`.

use core::ops::ControlFlow;

use bevy::prelude::*;

use crate::{
    ClosestPoint, Collider,
    collider_query::{
        collider_methods::{closest_point, with_point},
        pair::{contact_in_world, distance_in_world, intersects},
        place::{AnyPlaced, in_own_dimension},
    },
    math::Vec3,
    pipeline::proxy::Proxy,
    placed::{BoundingRegion, Placed, PlacedCollider},
    query::{Contact, Distance},
    shape::{Aabb, Bounds, Box3, Nearest, Overlapping},
    space::{DVector, QueryPose, Space},
    spatial::{
        filter::{Selection, SpatialQueryFilter},
        spatial_query::{END_SEARCH, EntityHit, QuerySpace, SpatialQuery},
    },
};

/// Shapes.
impl SpatialQuery<'_, '_> {
    /// Lists the entities whose colliders overlap or touch a shape, in sorted order.
    pub fn overlaps(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        filter: &SpatialQueryFilter,
        entities: &mut Vec<Entity>,
    ) {
        entities.clear();
        self.visit_overlaps(collider, pose, filter, |entity| {
            entities.push(entity);
            ControlFlow::Continue(())
        });
        entities.sort_unstable();
    }

    /// Returns `true` if any collider overlaps or touches a shape.
    pub fn is_overlapped(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        filter: &SpatialQueryFilter,
    ) -> bool {
        let mut is_overlapped = false;
        self.visit_overlaps(collider, pose, filter, |_| {
            is_overlapped = true;
            ControlFlow::Break(())
        });
        is_overlapped
    }

    /// Calls `visit` with the entities whose colliders overlap or touch a shape, until `visit`
    /// returns `Break`. The order of the calls is not specified.
    pub fn visit_overlaps(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(Entity) -> ControlFlow<()>,
    ) {
        if let Some(placed) = AnyPlaced::new(collider, pose) {
            in_own_dimension!(&placed, |body, aabb| {
                self.visit_touching(body.into(), body.region_in(aabb), filter, &mut visit);
            });
        }
    }

    /// Lists the contacts of a shape with all colliders that it overlaps or touches, sorted by
    /// entity. The normals point from the shape to the collider. If several parts overlap, the
    /// deepest contact is listed, as in events.
    pub fn contacts(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        filter: &SpatialQueryFilter,
        contacts: &mut Vec<EntityHit<Contact<Vec3>>>,
    ) {
        contacts.clear();
        if let Some(placed) = AnyPlaced::new(collider, pose) {
            in_own_dimension!(&placed, |body, aabb| {
                self.add_contacts((body, aabb), filter, contacts);
            });
        }
        contacts.sort_unstable_by_key(|contact| contact.entity);
    }

    /// Returns the collider that is closest to a shape, or `None` if no collider is within
    /// `max_distance`.
    pub fn closest_to_shape(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<Distance<Vec3>>> {
        in_own_dimension!(&AnyPlaced::new(collider, pose)?, |body, aabb| {
            self.nearest(&body.region_in(aabb)?, max_distance, filter, |proxy| {
                let found = distance_in_world(body.into(), (&proxy.placed).into());
                Some((found.distance, found.to_vec3()))
            })
        })
    }

    fn add_contacts<V: QuerySpace>(
        &self,
        (body, aabb): (&PlacedCollider<V>, &Aabb),
        filter: &SpatialQueryFilter,
        contacts: &mut Vec<EntityHit<Contact<Vec3>>>,
    ) {
        let Some(region) = body.region_in(aabb) else {
            return;
        };
        self.near_region(&region, body.world_pose.translation, filter, |proxy| {
            let contact = match self.one_way(&filter.into(), body, proxy) {
                None => contact_in_world(body.into(), (&proxy.placed).into()),
                Some(meeting) => meeting.deepest_contact().map(|found| {
                    let poses = [body.world_pose, proxy.world_pose];
                    Contact::in_world(&found.contact, poses.map(|pose| pose.translation))
                }),
            };
            contacts.extend(contact.map(|contact| EntityHit::new(proxy, contact.to_vec3())));
            ControlFlow::Continue(())
        });
    }

    /// Calls `visit` with the entities whose colliders touch a body, until `visit` returns `Break`.
    /// `region` must contain the body.
    fn visit_touching<V: QuerySpace>(
        &self,
        body: Placed<V>,
        region: Option<BoundingRegion<V::DVec>>,
        filter: &SpatialQueryFilter,
        visit: &mut dyn FnMut(Entity) -> ControlFlow<()>,
    ) {
        let Some(region) = region else {
            return;
        };
        self.near_region(&region, body.translation(), filter, |proxy| {
            let meeting = match body {
                Placed::Collider(body) => self.one_way(&filter.into(), body, proxy),
                _ => None,
            };
            let touches = match meeting {
                None => intersects(body, (&proxy.placed).into()),
                Some(meeting) => meeting.touches(),
            };
            if touches {
                visit(proxy.entity)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    /// Returns the nearest collider. If several colliders are equally near, returns the collider
    /// with the lowest entity. `measure` returns the distance to a collider.
    fn nearest<V: QuerySpace, H>(
        &self,
        region: &BoundingRegion<V::DVec>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
        measure: impl Fn(&Proxy<V>) -> Option<(f32, H)>,
    ) -> Option<EntityHit<H>> {
        let mut nearest: Option<(f32, EntityHit<H>)> = None;
        self.nearest_first(region, max_distance, filter, |proxy| {
            let Some((distance, hit)) = measure(proxy) else {
                return f64::INFINITY;
            };
            let entity = proxy.entity;
            let is_nearer =
                |(least, best): &(f32, EntityHit<H>)| (distance, entity) < (*least, best.entity);
            // The distance between two half-spaces is infinite, so they are not near, even if
            // `max_distance` is infinite.
            let is_near = distance <= max_distance && distance.is_finite();
            if is_near && nearest.as_ref().is_none_or(is_nearer) {
                nearest = Some((distance, EntityHit::new(proxy, hit)));
            }
            // Colliders at the same distance in f32 are still visited, because the collider with
            // the lowest entity is returned.
            distance.next_up().into()
        });
        nearest.map(|(_, hit)| hit)
    }

    /// Calls `visit` with the colliders whose boxes have a point in a region, until `visit` returns
    /// `Break`. If the region is a half-space, its plane is relative to `origin`.
    pub(super) fn near_region<'a, V: QuerySpace>(
        &'a self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        selection: impl Into<Selection<'a>>,
        mut visit: impl FnMut(&'a Proxy<V>) -> ControlFlow<()>,
    ) {
        let arena = V::arena(&self.proxies);
        let half_space_of = |slot| {
            let proxy = arena.get(slot)?;
            Some((proxy.half_space()?, proxy.world_pose.translation))
        };
        let is_near = |slot| match region {
            BoundingRegion::Box(bounds) => {
                half_space_of(slot).is_some_and(|(half_space, origin)| {
                    bounds.overlaps_half_space(&half_space, origin)
                })
            }
            // Two half-spaces never touch, so only boxes are tested.
            BoundingRegion::HalfSpace(half_space) => arena
                .box_of(slot)
                .is_some_and(|aabb| aabb.bounds().overlaps_half_space(half_space, origin)),
        };
        let boxes = corners(region).map(Overlapping::new);
        let (boxes, far) = (boxes.as_ref(), f64::INFINITY);
        let visits = self.search(selection, boxes, far, is_near, |proxy, limit| {
            if visit(proxy).is_break() {
                END_SEARCH
            } else {
                limit
            }
        });
        self.count(visits);
    }

    /// Calls `visit` with the colliders whose boxes are within `max_distance` of a region, near
    /// boxes first. `visit` returns the new maximum distance.
    fn nearest_first<V: QuerySpace>(
        &self,
        region: &BoundingRegion<V::DVec>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(&Proxy<V>) -> f64,
    ) {
        if max_distance >= 0.0 {
            let boxes = corners(region).map(Nearest::new);
            let (boxes, all, max) = (boxes.as_ref(), |_| true, max_distance.into());
            let visits = self.search(filter, boxes, max, all, |proxy, _| visit(proxy));
            self.count(visits);
        }
    }
}

/// Returns the corners of a region, or `None` for a half-space.
fn corners<D: DVector>(region: &BoundingRegion<D>) -> Option<Box3> {
    Some(Aabb::around(region.bounds()?, 0.0).corners())
}

/// Points and boxes.
impl SpatialQuery<'_, '_> {
    /// Lists the entities whose colliders contain a point or have the point on their surface, in
    /// sorted order.
    pub fn entities_at<V: QuerySpace>(
        &self,
        point: V,
        filter: &SpatialQueryFilter,
        entities: &mut Vec<Entity>,
    ) {
        entities.clear();
        self.visit_at(point, filter, |entity| {
            entities.push(entity);
            ControlFlow::Continue(())
        });
        entities.sort_unstable();
    }

    /// Returns `true` if any collider contains a point or has the point on its surface.
    pub fn is_point_inside<V: QuerySpace>(&self, point: V, filter: &SpatialQueryFilter) -> bool {
        let mut is_inside = false;
        self.visit_at(point, filter, |_| {
            is_inside = true;
            ControlFlow::Break(())
        });
        is_inside
    }

    /// Returns the collider that is closest to a point, or `None` if no collider is within
    /// `max_distance`.
    pub fn closest_to_point<V: QuerySpace>(
        &self,
        point: V,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<ClosestPoint<V>>> {
        with_point(point, |point| {
            self.nearest(&point.region, max_distance, filter, |proxy| {
                let hit = closest_point(proxy, point)?;
                Some((hit.distance, hit))
            })
        })?
    }

    /// Lists the colliders within `max_distance` of a point, sorted by distance, then by entity.
    pub fn colliders_within<V: QuerySpace>(
        &self,
        point: V,
        max_distance: f32,
        filter: &SpatialQueryFilter,
        hits: &mut Vec<EntityHit<ClosestPoint<V>>>,
    ) {
        hits.clear();
        with_point(point, |point| {
            self.nearest_first(&point.region, max_distance, filter, |proxy| {
                let near = closest_point(proxy, point).filter(|hit| hit.distance <= max_distance);
                hits.extend(near.map(|hit| EntityHit::new(proxy, hit)));
                f64::INFINITY
            });
        });
        hits.sort_unstable_by(|a, b| {
            let distances = a.distance.total_cmp(&b.distance);
            distances.then(a.entity.cmp(&b.entity))
        });
    }

    /// Calls `visit` with the entities whose colliders contain a point, until `visit` returns
    /// `Break`.
    fn visit_at<V: QuerySpace>(
        &self,
        point: V,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(Entity) -> ControlFlow<()>,
    ) {
        with_point(point, |point| {
            self.visit_touching(point.into(), Some(point.region), filter, &mut visit);
        });
    }

    /// Lists the entities whose bounding boxes overlap or touch a box, in sorted order.
    ///
    /// This method is faster than [`overlaps`](Self::overlaps), because no shapes are tested. The
    /// bounding boxes exceed the shapes by a few millionths of their size. A half-space has no
    /// bounding box, so the half-space itself is tested.
    pub fn overlaps_aabb<V: QuerySpace>(
        &self,
        min: V,
        max: V,
        filter: &SpatialQueryFilter,
        entities: &mut Vec<Entity>,
    ) {
        entities.clear();
        let [min, max] = [min, max].map(Space::to_f64);
        if min.is_finite() && max.is_finite() && min.min(max) == min {
            let region = BoundingRegion::Box(Bounds { min, max });
            self.near_region::<V>(&region, V::DVec::ZERO, filter, |proxy| {
                entities.push(proxy.entity);
                ControlFlow::Continue(())
            });
        }
        entities.sort_unstable();
    }
}
