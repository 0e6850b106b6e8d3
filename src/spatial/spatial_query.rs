//! The system parameter [`SpatialQuery`]. The queries are methods in the other files of `spatial/`.
//! All queries call [`SpatialQuery::search`] for the selected colliders near a region. The function
//! searches the half-spaces, and then the trees of [`SpatialIndex`].

use core::{
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
};

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use crate::{
    Collider,
    collider::compose_pose,
    collision::{Collisions, PreviousPoses},
    math::{Vec2, Vec3},
    pipeline::{
        proxies::{Proxies, ProxyArena},
        proxy::Proxy,
        spatial_index::{SpatialIndex, Trees},
    },
    query::{CastHit, Motion, Ray, RayHit},
    shape::{BoxSearch, Dimension, WorldPose},
    spatial::{filter::Selection, query_log::QueryLog},
};

/// A read-only system parameter for queries on all colliders: rays, casts, overlaps and nearest
/// colliders.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Enemy;
///
/// fn shoot(query: SpatialQuery, enemies: Query<(), With<Enemy>>) {
///     let ray = query::Ray::new(Vec3::ZERO, Vec3::X).with_max_distance(50.0);
///     if let Some(hit) = query.cast_ray(ray, &SpatialQueryFilter::default()) {
///         let is_enemy = enemies.contains(hit.entity);
///         println!("hit {} at {}, an enemy: {is_enemy}", hit.entity, hit.point);
///     }
/// }
///
/// fn explode(query: SpatialQuery, mut near: Local<Vec<Entity>>) {
///     let blast = Collider::sphere(5.0);
///     query.overlaps(&blast, Vec3::Y, &SpatialQueryFilter::default(), &mut near);
///     println!("{} colliders are in the blast", near.len());
/// }
/// ```
///
/// # Visible poses
///
/// In any schedule, a query sees the colliders and poses of the last
/// [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync), even while the game is paused. A system
/// after that set sees the poses of the present tick. Before the first tick, queries find no
/// colliders. Call [`sync_now`](crate::sync_now) to see later spawns and moves.
///
/// Queries [of an entity](crate::SpatialQueryFilter::of) also read the contacts of the last tick,
/// because these contacts decide whether the entity touches a [`OneWay`](crate::OneWay) collider.
/// So a system with a `SpatialQuery` cannot have a `ResMut<Collisions>`: split a system that
/// restores the contacts and makes queries into two.
///
/// An entity that was despawned after the last `Sync` is still reported. [`pose`](Self::pose)
/// returns the pose that all queries use for a collider.
///
/// # Dimensions
///
/// The type of a ray or point decides its dimension: a ray of `Vec2` hits only 2D colliders. The
/// shape of a [`Collider`](crate::Collider) decides the dimension of its queries. The results of
/// such queries are `Vec3`, with z = 0 in 2D.
///
/// # Results
///
/// * A [`SpatialQueryFilter`](crate::SpatialQueryFilter) selects the colliders.
/// * Lists are sorted. Among equally close results, the result with the lowest entity comes first.
///   So results are the same in every run and on any number of threads.
/// * Lists are written to the caller's buffer, which is cleared first. If the buffer is large
///   enough, queries with rays, boxes or convex shapes do not allocate. The first query near a
///   block of cells also allocates.
/// * Queries with invalid numbers return no results: see
///   [`Ray`](crate::query::Ray) and [`QueryPose`](crate::QueryPose).
///
/// # Cost
///
/// The first query builds an index of bounding boxes, which takes a few milliseconds for ten
/// thousand colliders. As long as queries are made, each tick updates the index. The index is freed
/// 64 ticks after the last query. Without queries, nothing is built.
#[derive(SystemParam)]
pub struct SpatialQuery<'w, 's> {
    #[system_param(validation_message = "`HeadbuttPlugin` is missing. Add it with `add_plugins`.")]
    pub(super) proxies: Res<'w, Proxies>,
    pub(super) index: Res<'w, SpatialIndex>,
    /// The contacts of the last tick, which decide whether an entity touches one-way colliders.
    pub(super) collisions: Res<'w, Collisions>,
    parents: Parents<'w, 's>,
    pub(super) visits: Local<'s, AtomicU64>,
    pub(super) log: Option<Res<'w, QueryLog>>,
}

type Parents<'w, 's> = Query<'w, 's, &'static ChildOf, Allow<Disabled>>;

/// A result of a [`SpatialQuery`], and the entity of the collider. This type dereferences to the
/// result: `hit.distance` is the distance of a ray's hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityHit<H> {
    /// The entity of the collider.
    pub entity: Entity,
    /// The owner of the collider: the entity in its [`ColliderOf`](crate::ColliderOf), or `entity`.
    pub owner: Entity,
    /// The result for this collider.
    pub hit: H,
}

impl<H> EntityHit<H> {
    /// Returns the result for the collider of a proxy.
    pub(super) fn new<V: QuerySpace>(proxy: &Proxy<V>, hit: H) -> Self {
        Self {
            entity: proxy.entity,
            owner: proxy.party().owner(),
            hit,
        }
    }
}

impl<H> Deref for EntityHit<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.hit
    }
}

/// The dimension of a spatial query: `Vec2` or `Vec3`.
#[doc(hidden)]
pub trait QuerySpace: Dimension {
    #[doc(hidden)]
    fn arena(proxies: &Proxies) -> &ProxyArena<Self>;

    #[doc(hidden)]
    fn trees(index: &SpatialIndex) -> &Trees;

    #[doc(hidden)]
    fn poses(collisions: &Collisions) -> &PreviousPoses<Self::DVec>;
}

macro_rules! query_spaces {
    ($($vector:ty: $dimension:ident, $poses:ident;)*) => {$(
        impl QuerySpace for $vector {
            fn arena(proxies: &Proxies) -> &ProxyArena<Self> {
                &proxies.$dimension
            }

            fn trees(index: &SpatialIndex) -> &Trees {
                &index.$dimension
            }

            #[inline]
            fn poses(collisions: &Collisions) -> &PreviousPoses<Self::DVec> {
                &collisions.$poses
            }
        }
    )*};
}

query_spaces! {
    Vec2: d2, poses_2d;
    Vec3: d3, poses_3d;
}

/// A limit that ends a search, because it is below all distances and times.
pub const END_SEARCH: f64 = -1.0;

impl SpatialQuery<'_, '_> {
    /// Returns the world-space pose of an entity's collider, as all queries see it. The pose
    /// includes the parents and the scale. In 2D, z is 0.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Gun;
    ///
    /// // Runs in `FixedPostUpdate`, after `HeadbuttSystems::Sync`.
    /// fn shoot(query: SpatialQuery, gun: Single<Entity, (With<Gun>, With<Collider>)>) {
    ///     let Some(pose) = query.pose(*gun) else { return };
    ///     let ray = query::Ray::new(pose.translation(), *pose.forward());
    ///     let filter = SpatialQueryFilter::default().excluding(*gun);
    ///     println!("{:?}", query.cast_ray(ray, &filter));
    /// }
    /// ```
    ///
    /// The `GlobalTransform` component does not include the moves of this frame's fixed steps.
    /// Without Bevy's `TransformPlugin`, as with `MinimalPlugins`, the component is never updated.
    /// The returned pose is computed in f64, then rounded to f32.
    ///
    /// Returns `None` if the entity had no collider in the last `Sync`, or if its collider was
    /// inert or invalid.
    pub fn pose(&self, entity: Entity) -> Option<GlobalTransform> {
        self.proxies.pose(entity).map(GlobalTransform::from)
    }

    /// Returns the owner of an entity's collider: the entity in its
    /// [`ColliderOf`](crate::ColliderOf), or `entity` itself. Use this method for lists of
    /// entities, such as the result of [`overlaps`](Self::overlaps).
    pub fn owner(&self, entity: Entity) -> Entity {
        self.proxies.party(entity).owner()
    }

    /// Returns the number of tree nodes that queries have visited since the last
    /// [`reset_visits`](Self::reset_visits). A node has up to four children.
    ///
    /// Each system has a counter of its own, which is kept from run to run. Nodes of the trees
    /// inside compounds and surfaces are not counted.
    pub fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Sets the number of [visits](Self::visits) to 0.
    pub fn reset_visits(&self) {
        self.visits.store(0, Ordering::Relaxed);
    }

    pub(super) fn count(&self, visits: impl Into<u64>) {
        self.visits.fetch_add(visits.into(), Ordering::Relaxed);
    }

    /// Computes the pose of an entity from the current `Transform`s.
    pub(super) fn compose_pose<V: QuerySpace>(
        &self,
        transforms: &Query<&Transform, Allow<Disabled>>,
        entity: Entity,
    ) -> Option<WorldPose<V::DVec>> {
        let transform_of = |entity| transforms.get(entity).ok();
        compose_pose::<V>(entity, transform_of, |entity| self.parent_of(entity)).ok()
    }

    fn parent_of(&self, entity: Entity) -> Option<Entity> {
        self.parents.get(entity).ok().map(ChildOf::parent)
    }

    /// Builds the index of all 2D or all 3D colliders, unless it is already built.
    pub(super) fn build_index<V: QuerySpace>(&self) {
        V::trees(&self.index).get(V::arena(&self.proxies));
    }

    /// Calls `visit` with each selected collider that a search finds, and with the current limit.
    /// Half-spaces come first, then moving boxes, then resting boxes. A lower result of `visit`
    /// becomes the new limit. A negative number or NaN ends the search.
    ///
    /// Without `boxes`, all colliders are visited, because the trees do not help to search a
    /// half-space. `is_near` excludes slots that the trees cannot exclude. Returns the number of
    /// visited nodes.
    pub(super) fn search<'a, V: QuerySpace>(
        &'a self,
        selection: impl Into<Selection<'a>>,
        boxes: Option<&impl BoxSearch>,
        mut limit: f64,
        is_near: impl Fn(u32) -> bool,
        mut visit: impl FnMut(&'a Proxy<V>, f64) -> f64,
    ) -> u32 {
        let (arena, selection) = (V::arena(&self.proxies), selection.into());
        let is_selected = |proxy: &&Proxy<V>| {
            let parent_of = |entity| self.parent_of(entity);
            selection.selects(&self.proxies, proxy.party(), parent_of)
        };
        let mut end = limit;
        let mut visit_slot = |slot| {
            if let Some(proxy) = arena.get(slot).filter(is_selected) {
                let new = visit(proxy, limit);
                limit = if new >= 0.0 {
                    limit.min(new)
                } else {
                    END_SEARCH
                };
            }
            limit
        };
        let Some(boxes) = boxes else {
            let mut slots = arena.slots().filter(|slot| is_near(*slot));
            slots.all(|slot| visit_slot(slot) >= 0.0);
            return 0;
        };
        for slot in arena.half_spaces() {
            if is_near(*slot) {
                end = visit_slot(*slot);
            }
            if end < 0.0 {
                return 0;
            }
        }
        V::trees(&self.index)
            .get(arena)
            .visit(boxes, end, visit_slot)
    }

    /// Records a ray and its first hit, if the debug drawing has turned the log on.
    pub(super) fn log_ray<V: QuerySpace>(&self, ray: &Ray<V>, hit: Option<&EntityHit<RayHit<V>>>) {
        if let Some(log) = &self.log {
            log.add_ray(ray, hit.map(|hit| &hit.hit));
        }
    }

    /// Records a cast and its first hit, if the debug drawing has turned the log on.
    pub(super) fn log_cast(
        &self,
        collider: &Collider,
        motion: &Motion<Collider>,
        hit: Option<&EntityHit<CastHit<Vec3>>>,
    ) {
        if let Some(log) = &self.log {
            log.add_cast(collider, motion, hit.map(|hit| &hit.hit));
        }
    }
}
