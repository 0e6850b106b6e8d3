//! Shapes, points and boxes against all colliders.

use core::ops::ControlFlow;

use bevy::prelude::*;

use crate::{
    Collider, CollisionLayers,
    math::{DVec2, DVec3, Vec2, Vec3},
    pipeline::{
        WorldPose,
        aabb::Aabb,
        proxy::{BoundingRegion, Proxy},
    },
    query::{Contact, Distance},
    shape::{Bounds, ColliderShape, Shape},
    space::{DVector, Pose, Space},
    spatial::{
        ColliderPose,
        collider_queries::proxy_of,
        filter::SpatialQueryFilter,
        pair::{contact_in_world, distance_in_world, intersects_of},
        spatial_query::{EntityHit, QuerySpace, SpatialQuery},
    },
};

/// The point of a collider that is nearest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint<V> {
    /// The distance, 0 inside of a solid shape.
    pub distance: f32,
    /// The nearest point of the collider.
    pub point: V,
}

/// Shapes.
impl SpatialQuery<'_, '_> {
    /// Lists the entities whose colliders overlap or touch a shape, sorted.
    pub fn overlaps(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        filter: &SpatialQueryFilter,
        entities: &mut Vec<Entity>,
    ) {
        entities.clear();
        let mut add = |entity| {
            entities.push(entity);
            ControlFlow::Continue(())
        };
        match Probe::new(collider, pose) {
            Some(Probe::D2(probe)) => self.visit_overlaps(&probe, filter, &mut add),
            Some(Probe::D3(probe)) => self.visit_overlaps(&probe, filter, &mut add),
            None => {}
        }
        entities.sort_unstable();
    }

    /// Returns `true` if any collider overlaps or touches a shape.
    pub fn is_overlapped(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        filter: &SpatialQueryFilter,
    ) -> bool {
        let mut is_overlapped = false;
        let mut note = |_| {
            is_overlapped = true;
            ControlFlow::Break(())
        };
        match Probe::new(collider, pose) {
            Some(Probe::D2(probe)) => self.visit_overlaps(&probe, filter, &mut note),
            Some(Probe::D3(probe)) => self.visit_overlaps(&probe, filter, &mut note),
            None => {}
        }
        is_overlapped
    }

    /// Lists the contacts of a shape with all colliders that it overlaps or touches, sorted by
    /// entity. The normals point from the shape to the collider. Of several parts, the deepest
    /// contact is listed, as in events.
    pub fn contacts(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        filter: &SpatialQueryFilter,
        contacts: &mut Vec<EntityHit<Contact<Vec3>>>,
    ) {
        contacts.clear();
        match Probe::new(collider, pose) {
            Some(Probe::D2(probe)) => self.add_contacts(&probe, filter, contacts, Contact::to_vec3),
            Some(Probe::D3(probe)) => self.add_contacts(&probe, filter, contacts, |it| it),
            None => {}
        }
        contacts.sort_unstable_by_key(|contact| contact.entity);
    }

    /// Returns the collider that is closest to a shape, at most at `max_distance`.
    pub fn closest_to(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<Distance<Vec3>>> {
        match Probe::new(collider, pose)? {
            Probe::D2(probe) => {
                let found = self.nearest(&probe, max_distance, filter)?;
                let (entity, hit) = (found.entity, found.hit.to_vec3());
                Some(EntityHit { entity, hit })
            }
            Probe::D3(probe) => self.nearest(&probe, max_distance, filter),
        }
    }

    fn add_contacts<V: QuerySpace>(
        &self,
        probe: &Proxy<V>,
        filter: &SpatialQueryFilter,
        contacts: &mut Vec<EntityHit<Contact<Vec3>>>,
        to_vec3: impl Fn(Contact<V>) -> Contact<Vec3>,
    ) {
        self.near_proxy(probe, filter, |proxy| {
            let contact = contact_in_world(probe.into(), proxy.into());
            contacts.extend(contact.map(|contact| EntityHit {
                entity: proxy.entity,
                hit: to_vec3(contact),
            }));
            ControlFlow::Continue(())
        });
    }

    fn visit_overlaps<V: QuerySpace>(
        &self,
        probe: &Proxy<V>,
        filter: &SpatialQueryFilter,
        visit: &mut dyn FnMut(Entity) -> ControlFlow<()>,
    ) {
        self.near_proxy(probe, filter, |proxy| {
            if intersects_of(probe.into(), proxy.into()) {
                visit(proxy.entity)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    fn nearest<V: QuerySpace>(
        &self,
        probe: &Proxy<V>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<Distance<V>>> {
        let mut nearest: Option<EntityHit<Distance<V>>> = None;
        self.nearest_first(probe, max_distance, filter, |proxy, max| {
            let found = distance_in_world(probe.into(), proxy.into());
            let key = (found.distance, proxy.entity);
            let is_nearer = |best: EntityHit<Distance<V>>| key < (best.hit.distance, best.entity);
            if found.distance <= max_distance && nearest.is_none_or(is_nearer) {
                let entity = proxy.entity;
                nearest = Some(EntityHit { entity, hit: found });
            }
            // Includes all colliders at the same distance in f32.
            max.min(found.distance.next_up().into())
        });
        nearest
    }

    /// Calls `visit` with the colliders that may touch a proxy, until it returns `Break`.
    fn near_proxy<V: QuerySpace>(
        &self,
        probe: &Proxy<V>,
        filter: &SpatialQueryFilter,
        visit: impl FnMut(&Proxy<V>) -> ControlFlow<()>,
    ) {
        if let Ok(region) = probe.region() {
            let origin = probe.world_pose.translation;
            self.near_region(&region, origin, filter, visit);
        }
    }

    /// Calls `visit` with the colliders whose boxes have a point in a region, until it returns
    /// `Break`. A half-space is relative to `origin`.
    fn near_region<V: QuerySpace>(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(&Proxy<V>) -> ControlFlow<()>,
    ) {
        let search = self.search::<V>(filter);
        let mut visit_slot = |slot| match search.selected(slot) {
            Some(proxy) => visit(proxy),
            None => ControlFlow::Continue(()),
        };
        match region {
            BoundingRegion::Box(bounds) => {
                let half_spaces = search.arena.half_spaces().iter().copied();
                let is_near = |slot: &u32| search.is_half_space_near(*slot, bounds);
                if half_spaces
                    .filter(is_near)
                    .try_for_each(&mut visit_slot)
                    .is_continue()
                {
                    let corners = Aabb::around(bounds, 0.0).corners();
                    let forest = search.forest();
                    self.count(forest.visit_overlapping(&corners, visit_slot));
                }
            }
            // A half-space is too large for the trees to help. Two half-spaces never touch.
            BoundingRegion::HalfSpace(half_space) => {
                let slots = search.arena.slots();
                let mut near = slots.filter(|slot| search.is_box_in(*slot, half_space, origin));
                // Only the return value ends the search early.
                let _ = near.try_for_each(visit_slot);
            }
        }
    }

    /// Calls `visit` with the colliders whose boxes are at most `max` from a proxy, near ones
    /// first. `visit` gets and returns the new `max`.
    fn nearest_first<V: QuerySpace>(
        &self,
        probe: &Proxy<V>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(&Proxy<V>, f64) -> f64,
    ) {
        let (Ok(region), true) = (probe.region(), max_distance >= 0.0) else {
            return;
        };
        let search = self.search::<V>(filter);
        let mut max = f64::from(max_distance);
        let mut visit_slot = |slot| {
            if let Some(proxy) = search.selected(slot) {
                max = visit(proxy, max);
            }
            max
        };
        match region {
            BoundingRegion::Box(bounds) => {
                let mut max = f64::from(max_distance);
                for slot in search.arena.half_spaces() {
                    max = visit_slot(*slot);
                }
                let corners = Aabb::around(&bounds, 0.0).corners();
                let forest = search.forest();
                self.count(forest.visit_nearest(&corners, max, visit_slot));
            }
            BoundingRegion::HalfSpace(_) => {
                for slot in search.arena.slots() {
                    visit_slot(slot);
                }
            }
        }
    }
}

/// Points and boxes.
impl SpatialQuery<'_, '_> {
    /// Lists the entities whose colliders contain a point, or have it on their surface, sorted.
    pub fn entities_at<V: QuerySpace>(
        &self,
        point: V,
        filter: &SpatialQueryFilter,
        entities: &mut Vec<Entity>,
    ) {
        entities.clear();
        if let Some(probe) = point_probe(point) {
            self.visit_overlaps(&probe, filter, &mut |entity| {
                entities.push(entity);
                ControlFlow::Continue(())
            });
        }
        entities.sort_unstable();
    }

    /// Returns the collider that is closest to a point, at most at `max_distance`.
    pub fn closest<V: QuerySpace>(
        &self,
        point: V,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<ClosestPoint<V>>> {
        let found = self.nearest(&point_probe(point)?, max_distance, filter)?;
        Some(EntityHit {
            entity: found.entity,
            hit: ClosestPoint {
                distance: found.hit.distance,
                point: found.hit.point_b,
            },
        })
    }

    /// Lists the entities whose bounding boxes overlap or touch a box, sorted.
    ///
    /// It is faster than [`overlaps`](Self::overlaps), because no shapes are tested. The bounding
    /// boxes are a few millionths larger than the shapes. A half-space has no bounding box, and
    /// is tested itself.
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

/// A collider in a pose.
pub enum Probe {
    D2(Proxy<Vec2>),
    D3(Proxy<Vec3>),
}

impl Probe {
    /// Returns `None` if the collider touches nothing.
    pub fn new(collider: &Collider, pose: impl Into<ColliderPose>) -> Option<Self> {
        let pose = pose.into();
        let in_3d = || proxy_of(collider, &pose).map(Self::D3);
        proxy_of(collider, &pose).map(Self::D2).or_else(in_3d)
    }

    /// Returns a 2D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_2d(collider: &Collider, pose: WorldPose<DVec2>) -> Option<Self> {
        proxy_at(collider, pose).map(Self::D2)
    }

    /// Returns a 3D collider in a pose, or `None` if it is of the other dimension.
    pub fn in_3d(collider: &Collider, pose: WorldPose<DVec3>) -> Option<Self> {
        proxy_at(collider, pose).map(Self::D3)
    }
}

fn proxy_at<V: QuerySpace>(collider: &Collider, pose: WorldPose<V::DVec>) -> Option<Proxy<V>> {
    let shape = V::body_of(collider.shape().ok()??)?;
    let (proxy, _) = Proxy::new(Entity::PLACEHOLDER, shape, CollisionLayers::ALL, pose).ok()?;
    Some(proxy)
}

/// Returns a ball of radius 0, or `None` if the point is not finite.
fn point_probe<V: QuerySpace>(point: V) -> Option<Proxy<V>> {
    let pose = Pose {
        rotation: V::DVec::IDENTITY,
        translation: point.to_f64(),
    };
    let ball = ColliderShape::Convex(Shape::Ball { radius: 0.0 });
    let (entity, layers) = (Entity::PLACEHOLDER, CollisionLayers::ALL);
    let proxy = Proxy::new(entity, &ball, layers, WorldPose::from_pose(&pose));
    proxy
        .ok()
        .filter(|_| point.is_finite())
        .map(|(proxy, _)| proxy)
}
