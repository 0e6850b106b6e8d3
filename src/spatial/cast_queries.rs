//! Queries with moving shapes on all colliders. All casts call `visit_casts`, which calls
//! `SpatialQuery::search`.

use crate::{
    Collider,
    collider_query::{
        cast::cast_in_world,
        place::{AnyPlaced, in_own_dimension},
    },
    math::{Vec2, Vec3},
    parallel::for_chunks,
    placed::{BoundingRegion, PlacedCollider},
    query::{CastHit, CastOptions, Motion, Motion64},
    shape::{AnyColliderShape, BoxPath},
    space::DVector,
    spatial::{
        filter::{Selection, SpatialQueryFilter},
        spatial_query::{EntityHit, QuerySpace, SpatialQuery},
    },
};

/// The minimum number of casts in a task.
const MIN_CASTS: usize = 16;

/// # Moving shapes
///
/// A [`Motion`] consists of a pose at the start, a translation and a rotation. Times are fractions
/// of the motion, from 0 to 1. Hits are sorted by time. For shapes that touch or overlap at the
/// start, the time of the hit is 0. Normals point from the moving shape to the collider. The
/// [`CastOptions`] select the result for shapes that overlap at the start.
impl SpatialQuery<'_, '_> {
    /// Returns the first hit of a moving shape, or `None` if the shape touches no selected
    /// collider.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{prelude::*, query::CastOptions};
    ///
    /// /// Returns how far a character of this size can walk.
    /// fn reach(query: SpatialQuery) -> f64 {
    ///     let body = Collider::capsule_3d(0.4, 1.0);
    ///     let walk = Motion::linear(Vec3::Y, Vec3::X * 3.0);
    ///     let (options, filter) = (CastOptions::default(), SpatialQueryFilter::default());
    ///     let hit = query.cast_shape(&body, walk, options, &filter);
    ///     3.0 * hit.map_or(1.0, |hit| hit.safe)
    /// }
    /// # let _ = reach;
    /// ```
    pub fn cast_shape(
        &self,
        collider: &Collider,
        motion: impl Into<Motion<Collider>>,
        options: CastOptions,
        filter: &SpatialQueryFilter,
    ) -> Option<EntityHit<CastHit<Vec3>>> {
        let mut first: Option<EntityHit<CastHit<Vec3>>> = None;
        self.visit_shape(collider, motion, options, filter, |found| {
            let key = |hit: &EntityHit<CastHit<Vec3>>| (hit.touching, hit.entity);
            if first.is_none_or(|first| key(&found) < key(&first)) {
                first = Some(found);
            }
            found.touching
        });
        first
    }

    /// Returns the first hit of each motion of a shape, in the order of the motions. Many casts run
    /// on all threads of the `ComputeTaskPool`.
    pub fn cast_shapes(
        &self,
        collider: &Collider,
        motions: &[Motion<Collider>],
        options: CastOptions,
        filter: &SpatialQueryFilter,
        hits: &mut Vec<Option<EntityHit<CastHit<Vec3>>>>,
    ) {
        hits.clear();
        hits.resize(motions.len(), None);
        // The index is built in advance, so that no task waits for another task.
        let build_index = || match collider.shape() {
            AnyColliderShape::D2(_) => self.build_index::<Vec2>(),
            AnyColliderShape::D3(_) => self.build_index::<Vec3>(),
            _ => {}
        };
        for_chunks(motions, hits, MIN_CASTS, build_index, |motions, hits| {
            for (motion, slot) in motions.iter().zip(hits) {
                *slot = self.cast_shape(collider, *motion, options, filter);
            }
        });
    }

    /// Returns `true` if a moving shape touches anything. This method is faster than
    /// [`cast_shape`](Self::cast_shape).
    pub fn is_shape_blocked(
        &self,
        collider: &Collider,
        motion: impl Into<Motion<Collider>>,
        options: CastOptions,
        filter: &SpatialQueryFilter,
    ) -> bool {
        let mut is_blocked = false;
        self.visit_shape(collider, motion, options, filter, |_| {
            is_blocked = true;
            -1.0
        });
        is_blocked
    }

    /// Lists the first touch between a moving shape and each collider, sorted by time, then by
    /// entity.
    pub fn shape_hits_per_entity(
        &self,
        collider: &Collider,
        motion: impl Into<Motion<Collider>>,
        options: CastOptions,
        filter: &SpatialQueryFilter,
        hits: &mut Vec<EntityHit<CastHit<Vec3>>>,
    ) {
        hits.clear();
        let motion = motion.into();
        if let Some(body) = AnyPlaced::new(collider, motion.start) {
            self.list_shape_hits(&body, &motion, options, filter.into(), hits);
            self.log_cast(collider, &motion, hits.first());
        }
    }

    /// Adds the first touch with each collider to an empty list: see
    /// [`shape_hits_per_entity`](Self::shape_hits_per_entity). The motion starts in the pose of
    /// `body`.
    pub(super) fn list_shape_hits(
        &self,
        body: &AnyPlaced,
        motion: &Motion<Collider>,
        options: CastOptions,
        selection: Selection,
        hits: &mut Vec<EntityHit<CastHit<Vec3>>>,
    ) {
        self.visit_body(body, motion, options, selection, &mut |found| {
            hits.push(found);
            f64::INFINITY
        });
        hits.sort_unstable_by(|a, b| {
            let times = a.touching.total_cmp(&b.touching);
            times.then(a.entity.cmp(&b.entity))
        });
    }

    /// Calls `visit` with the first touch between a moving shape and each collider. `visit` returns
    /// the time at which the search ends: the hit's time to find the first hit, or 1 to find all
    /// hits. A negative number or NaN stops the search.
    ///
    /// The hits come roughly in order of time, but the exact order is not specified.
    pub fn visit_shape(
        &self,
        collider: &Collider,
        motion: impl Into<Motion<Collider>>,
        options: CastOptions,
        filter: &SpatialQueryFilter,
        mut visit: impl FnMut(EntityHit<CastHit<Vec3>>) -> f64,
    ) {
        let motion = motion.into();
        let Some(body) = AnyPlaced::new(collider, motion.start) else {
            return;
        };
        let mut first: Option<EntityHit<CastHit<Vec3>>> = None;
        self.visit_body(&body, &motion, options, filter.into(), &mut |found| {
            if first.is_none_or(|first| found.touching < first.touching) {
                first = Some(found);
            }
            visit(found)
        });
        self.log_cast(collider, &motion, first.as_ref());
    }

    /// Calls `visit` with the first touch between a moving body and each collider.
    fn visit_body(
        &self,
        body: &AnyPlaced,
        motion: &Motion<Collider>,
        options: CastOptions,
        selection: Selection,
        visit: &mut dyn FnMut(EntityHit<CastHit<Vec3>>) -> f64,
    ) {
        in_own_dimension!(body, |body, aabb| {
            let motion = motion.change.in_dimension();
            let body = (body, body.region_in(aabb));
            self.visit_casts(body, motion, options, selection, &mut |found| {
                visit(EntityHit {
                    entity: found.entity,
                    owner: found.owner,
                    hit: found.to_vec3(),
                })
            });
        });
    }

    /// Calls `visit` with the first touch between a moving body and each 2D or each 3D collider.
    pub(super) fn visit_casts<V: QuerySpace>(
        &self,
        (body, region): (&PlacedCollider<V>, Option<BoundingRegion<V::DVec>>),
        motion: Option<Motion64<V::DVec>>,
        options: CastOptions,
        selection: Selection,
        visit: &mut dyn FnMut(EntityHit<CastHit<V>>) -> f64,
    ) {
        let (Some(region), Some(motion)) = (region, motion) else {
            return;
        };
        let path = region.bounds().map(|bounds| {
            let angle = V::DVec::angle_size(motion.rotation);
            let swept = bounds.around_rotation(body.world_pose.translation, angle);
            let center = (swept.min + swept.max) * 0.5;
            let half = (swept.max - swept.min) * 0.5;
            BoxPath::new(center, half, motion.translation)
        });
        let (all, still) = (|_| true, Motion64::still());
        let visits = self.search(selection, path.as_ref(), 1.0, all, |proxy, max| {
            let hit = match self.one_way(&selection, body, proxy) {
                None => {
                    let other = (&proxy.placed).into();
                    cast_in_world((body.into(), motion), (other, still), options)
                }
                Some(meeting) => meeting.first_touch(motion, options).map(|(hit, parts)| {
                    let (start, other) = (body.world_pose, proxy.world_pose);
                    let origin = |time| start.translation + motion.translation * time;
                    hit.in_world(parts, |time| [origin(time), other.translation])
                }),
            };
            let hit = hit.filter(|hit| hit.touching <= max);
            hit.map_or(max, |mut hit| {
                hit.other_part = proxy.own_part(hit.other_part);
                visit(EntityHit::new(proxy, hit))
            })
        });
        self.count(visits);
    }
}
