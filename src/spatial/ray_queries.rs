//! Ray queries on all colliders. All ray queries call `search_ray`, which calls
//! `SpatialQuery::search`.

use crate::{
    collider_query::ray::{ray_at_collider, visit_ray_at_collider},
    parallel::for_chunks,
    pipeline::proxy::Proxy,
    query::{Ray, RayHit, RaySide, WorldRay, WorldRayHit, length_to_f32},
    shape::BoxPath,
    space::DVector,
    spatial::{
        filter::{Selection, SpatialQueryFilter},
        spatial_query::{EntityHit, QuerySpace, SpatialQuery},
    },
};

/// The minimum number of rays in a task.
const MIN_RAYS: usize = 32;

/// Rays.
impl SpatialQuery<'_, '_> {
    /// Returns the first hit of a ray, or `None` if the ray hits no selected collider.
    pub fn cast_ray<V: QuerySpace>(
        &self,
        ray: impl Into<Ray<V>>,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<RayHit<V>>> {
        let mut visits = 0;
        let hit = self.first_hit(&ray.into(), filter, &mut visits);
        self.count(visits);
        hit
    }

    /// Returns the first hit of each ray, in the order of the rays. Many rays are cast on all
    /// threads of the `ComputeTaskPool`.
    pub fn cast_rays<V: QuerySpace>(
        &self,
        rays: &[Ray<V>],
        filter: &SpatialQueryFilter,
        hits: &mut Vec<Option<EntityHit<RayHit<V>>>>,
    ) {
        hits.clear();
        hits.resize(rays.len(), None);
        // The index is built in advance, so that no task waits for another task.
        let build_index = || self.build_index::<V>();
        for_chunks(rays, hits, MIN_RAYS, build_index, |rays, hits| {
            let mut total = 0_u64;
            for (ray, slot) in rays.iter().zip(hits) {
                *slot = self.first_hit(ray, filter, &mut total);
            }
            self.count(total);
        });
    }

    /// Returns `true` if a ray hits anything. This method is faster than
    /// [`cast_ray`](Self::cast_ray).
    pub fn is_ray_blocked<V: QuerySpace>(
        &self,
        ray: impl Into<Ray<V>>,
        filter: &SpatialQueryFilter,
    ) -> bool {
        let mut is_blocked = false;
        self.visit_ray(ray, filter, |_| {
            is_blocked = true;
            -1.0
        });
        is_blocked
    }

    /// Lists all hits of a ray, sorted by distance, then by entity, then by part. The list contains
    /// the first hit on each part of a compound and on each facet of a surface.
    pub fn ray_hits<V: QuerySpace>(
        &self,
        ray: impl Into<Ray<V>>,
        filter: &SpatialQueryFilter,
        hits: &mut Vec<EntityHit<RayHit<V>>>,
    ) {
        hits.clear();
        let ray = ray.into();
        if let Some(mut ray) = ray.in_f64() {
            let visits = self.search_ray::<V>(&mut ray, filter, |ray, proxy, side| {
                visit_ray_at_collider(proxy, ray, |hit| {
                    if is_hit_on(side, &hit) {
                        hits.push(EntityHit::new(proxy, ray.hit_in_world(&hit)));
                    }
                    ray.max
                });
                ray.max
            });
            self.count(visits);
        }
        sort_by_distance(hits);
        self.log_ray(&ray, hits.first());
    }

    /// Lists the first hit of a ray on each collider, sorted by distance, then by entity.
    pub fn ray_hits_per_entity<V: QuerySpace>(
        &self,
        ray: impl Into<Ray<V>>,
        filter: &SpatialQueryFilter,
        hits: &mut Vec<EntityHit<RayHit<V>>>,
    ) {
        let ray = ray.into();
        self.list_ray_hits(&ray, filter, hits);
        self.log_ray(&ray, hits.first());
    }

    /// Replaces `hits` with the first hit of a ray on each collider: see
    /// [`ray_hits_per_entity`](Self::ray_hits_per_entity).
    pub(super) fn list_ray_hits<'a, V: QuerySpace>(
        &'a self,
        ray: &Ray<V>,
        selection: impl Into<Selection<'a>>,
        hits: &mut Vec<EntityHit<RayHit<V>>>,
    ) {
        hits.clear();
        self.visit_ray_hits(ray, selection, |hit| {
            hits.push(hit);
            f64::INFINITY
        });
        sort_by_distance(hits);
    }

    /// Calls `visit` with the first hit of a ray on each collider. `visit` returns the distance at
    /// which the search ends: the hit's distance to find the closest hit, or infinity to find all
    /// hits. A negative number or NaN stops the search.
    ///
    /// The hits come roughly in order of distance, but the exact order is not specified.
    pub fn visit_ray<V: QuerySpace>(
        &self,
        ray: impl Into<Ray<V>>,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(EntityHit<RayHit<V>>) -> f32,
    ) {
        let ray = ray.into();
        let mut first: Option<EntityHit<RayHit<V>>> = None;
        self.visit_ray_hits(&ray, filter, |hit| {
            if first.is_none_or(|first| hit.distance < first.distance) {
                first = Some(hit);
            }
            visit(hit).into()
        });
        self.log_ray(&ray, first.as_ref());
    }

    /// Returns the first hit of a ray, if there is one. Adds the number of visited nodes to
    /// `visits`.
    fn first_hit<V: QuerySpace>(
        &self,
        ray: &Ray<V>,
        filter: &SpatialQueryFilter,
        visits: &mut u64,
    ) -> Option<EntityHit<RayHit<V>>> {
        let mut first: Option<(f32, EntityHit<WorldRayHit<V::DVec>>)> = None;
        let mut world_ray = ray.in_f64()?;
        let visited = self.search_ray::<V>(&mut world_ray, filter, |ray, proxy, side| {
            let Some(hit) = ray_at_side(proxy, ray, side) else {
                return ray.max;
            };
            let (distance, entity) = (length_to_f32(hit.distance), proxy.entity);
            if first.is_none_or(|(least, best)| (distance, entity) < (least, best.entity)) {
                first = Some((distance, EntityHit::new(proxy, hit)));
            }
            // Hits at the same distance in f32 are still visited, because the hit with the lowest
            // entity is returned.
            distance.next_up().into()
        });
        *visits += u64::from(visited);
        let hit = first.as_ref().map(|(_, first)| EntityHit {
            entity: first.entity,
            owner: first.owner,
            hit: world_ray.hit_in_world(&first.hit),
        });
        self.log_ray(ray, hit.as_ref());
        hit
    }

    /// Calls `visit` with the first hit of a ray on each collider. `visit` returns the new end of
    /// the ray.
    fn visit_ray_hits<'a, V: QuerySpace>(
        &'a self,
        ray: &Ray<V>,
        selection: impl Into<Selection<'a>>,
        mut visit: impl FnMut(EntityHit<RayHit<V>>) -> f64,
    ) {
        let Some(mut ray) = ray.in_f64() else {
            return;
        };
        let visits = self.search_ray::<V>(&mut ray, selection, |ray, proxy, side| {
            let Some(hit) = ray_at_side(proxy, ray, side) else {
                return ray.max;
            };
            visit(EntityHit::new(proxy, ray.hit_in_world(&hit)))
        });
        self.count(visits);
    }

    /// Calls `visit` with the colliders that a ray may hit, and with the side of one-way colliders.
    /// `visit` returns the new end of the ray. Returns the number of visited nodes.
    fn search_ray<'a, V: QuerySpace>(
        &'a self,
        ray: &mut WorldRay<V::DVec>,
        selection: impl Into<Selection<'a>>,
        mut visit: impl FnMut(&WorldRay<V::DVec>, &Proxy<V>, Option<V::DVec>) -> f64,
    ) -> u32 {
        let selection = selection.into();
        let path = BoxPath::new(ray.origin, V::DVec::ZERO, ray.direction);
        let all = |_| true;
        self.search(selection, Some(&path), ray.max, all, |proxy, max| {
            ray.max = max;
            let proxy = self.for_ray(&selection, proxy);
            visit(ray, &proxy, self.side_for_ray(&selection, &proxy))
        })
    }
}

/// Returns the first hit of a ray on a collider. If the collider is one-way, `side` points out of
/// its solid side, and the hit is on this side.
fn ray_at_side<V: QuerySpace>(
    proxy: &Proxy<V>,
    ray: &WorldRay<V::DVec>,
    side: Option<V::DVec>,
) -> Option<WorldRayHit<V::DVec>> {
    if side.is_none() {
        return ray_at_collider(proxy, ray);
    }
    let mut first: Option<WorldRayHit<V::DVec>> = None;
    visit_ray_at_collider(proxy, ray, |hit| {
        if is_hit_on(side, &hit) && first.is_none_or(|first| hit.distance < first.distance) {
            first = Some(hit);
        }
        ray.max
    });
    first
}

/// Returns `true` if a ray hits the solid side of a collider. A collider without a `side` is solid
/// from all sides.
fn is_hit_on<D: DVector>(side: Option<D>, hit: &WorldRayHit<D>) -> bool {
    side.is_none_or(|up| hit.side != RaySide::Inside && hit.normal.dot(up) > 0.0)
}

fn sort_by_distance<V>(hits: &mut [EntityHit<RayHit<V>>]) {
    hits.sort_unstable_by(|a, b| {
        let distances = a.distance.total_cmp(&b.distance);
        distances.then_with(|| (a.entity, a.part).cmp(&(b.entity, b.part)))
    });
}
