//! Components that cast a ray or a shape in each tick. `plugin.rs` calls [`build`] once. The
//! systems of the casters run at the end of `Sync`.

use bevy::{
    ecs::{entity_disabling::Disabled, schedule::InternedScheduleLabel},
    prelude::*,
    utils::Parallel,
};

use crate::{
    Collider,
    collider_query::place::AnyPlaced,
    math::{Vec2, Vec3},
    parallel::thread_count,
    pipeline::{HeadbuttSystems, sync::sync},
    query::{CastHit, CastOptions, Motion, Ray, RayHit},
    shape::WorldPose,
    spatial::{
        filter::{Selection, SpatialQueryFilter},
        spatial_query::{EntityHit, QuerySpace, SpatialQuery},
    },
};

/// Casts a ray from its entity in each tick, and keeps the hits: `RayCaster<Vec2>` in 2D,
/// `RayCaster<Vec3>` in 3D.
///
/// The component casts at the end of [`HeadbuttSystems::Sync`](HeadbuttSystems::Sync), so that
/// systems after that set see the hits of their tick. To cast at any other time, use a
/// [`SpatialQuery`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::{prelude::*, query::Ray};
///
/// fn spawn_robot(mut commands: Commands) {
///     let sensor = RayCaster::new(Ray::new(Vec3::ZERO, Vec3::NEG_Z).with_max_distance(10.0));
///     commands.spawn((Collider::sphere(0.5), sensor));
/// }
///
/// fn avoid(robots: Query<&RayCaster<Vec3>>) {
///     for hit in robots.iter().filter_map(RayCaster::first) {
///         println!("{} is {} ahead", hit.entity, hit.distance);
///     }
/// }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[type_path = "headbutt"]
#[require(Transform)]
pub struct RayCaster<V: QuerySpace> {
    /// The ray in the frame of the entity. The maximum distance is in units of the world, whatever
    /// the scale of the entity.
    pub ray: Ray<V>,
    /// The colliders to consider. A filter may hold a function, so scenes omit the filter.
    #[reflect(ignore)]
    pub filter: SpatialQueryFilter<'static>,
    #[reflect(ignore)]
    hits: Vec<EntityHit<RayHit<V>>>,
}

impl<V: QuerySpace> RayCaster<V> {
    /// Creates a caster that considers all colliders except [sensors](crate::Sensor) and the
    /// colliders of its own entity and its ancestors.
    pub fn new(ray: impl Into<Ray<V>>) -> Self {
        Self {
            ray: ray.into(),
            ..Self::default()
        }
    }

    /// Replaces the filter. The caster always excludes its own entity, its ancestors, the
    /// colliders of its [owner](crate::ColliderOf), and the entities in its
    /// [`IgnoreCollisions`](crate::IgnoreCollisions).
    #[must_use]
    pub fn with_filter(self, filter: SpatialQueryFilter<'static>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the first hit on each collider, sorted by distance, then by entity.
    pub fn hits(&self) -> &[EntityHit<RayHit<V>>] {
        &self.hits
    }

    /// Returns the first hit of this tick, or `None` if the cast hit nothing.
    pub fn first(&self) -> Option<EntityHit<RayHit<V>>> {
        self.hits.first().copied()
    }

    /// Returns the ray in the world, given the pose of the entity.
    fn ray_in_world(&self, pose: &WorldPose<V::DVec>) -> Ray<V> {
        let origin = pose.linear() * self.ray.origin.to_f64() + pose.translation;
        Ray {
            origin: V::from_f64(origin),
            direction: V::from_f64(pose.linear() * self.ray.direction.to_f64()),
            ..self.ray
        }
    }
}

/// Casts a moving shape from its entity in each tick, and keeps the hits. The cast runs at the end
/// of [`HeadbuttSystems::Sync`](HeadbuttSystems::Sync), like the cast of a [`RayCaster`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
///
/// fn spawn_player(mut commands: Commands) {
///     let body = Collider::capsule_3d(0.4, 1.0);
///     let feet = ShapeCaster::new(body.clone(), Vec3::NEG_Y * 0.2);
///     commands.spawn((Player, body, feet));
/// }
///
/// fn is_grounded(player: Single<&ShapeCaster, With<Player>>) {
///     println!("grounded: {}", player.first().is_some());
/// }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[type_path = "headbutt"]
#[require(Transform)]
pub struct ShapeCaster {
    /// The shape, whose motion starts in the pose of the entity.
    pub collider: Collider,
    /// The translation in world axes, unlike the ray of a [`RayCaster`]. So a downward translation
    /// stays downward if the entity rotates.
    pub translation: Vec3,
    /// The rotation in world axes: the axis times the angle in radians.
    pub rotation: Vec3,
    /// The options for shapes that overlap at the start.
    pub options: CastOptions,
    /// The colliders to consider. A filter may hold a function, so scenes omit the filter.
    #[reflect(ignore)]
    pub filter: SpatialQueryFilter<'static>,
    #[reflect(ignore)]
    hits: Vec<EntityHit<CastHit<Vec3>>>,
}

impl ShapeCaster {
    /// Creates a caster without rotation. The caster considers all colliders except
    /// [sensors](crate::Sensor) and the colliders of its own entity and its ancestors.
    pub fn new(collider: Collider, translation: Vec3) -> Self {
        Self {
            collider,
            translation,
            ..Self::default()
        }
    }

    /// Replaces the rotation over the whole motion, in the axes of the world: the axis times the
    /// angle in radians.
    #[must_use]
    pub fn rotated(self, rotation: Vec3) -> Self {
        Self { rotation, ..self }
    }

    /// Replaces the options.
    #[must_use]
    pub fn with_options(self, options: CastOptions) -> Self {
        Self { options, ..self }
    }

    /// Replaces the filter. The caster always excludes its own entity, its ancestors, the
    /// colliders of its [owner](crate::ColliderOf), and the entities in its
    /// [`IgnoreCollisions`](crate::IgnoreCollisions).
    #[must_use]
    pub fn with_filter(self, filter: SpatialQueryFilter<'static>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the first touch with each collider, sorted by time, then by entity.
    pub fn hits(&self) -> &[EntityHit<CastHit<Vec3>>] {
        &self.hits
    }

    /// Returns the first hit of this tick, or `None` if the cast hit nothing.
    pub fn first(&self) -> Option<EntityHit<CastHit<Vec3>>> {
        self.hits.first().copied()
    }
}

/// Adds the systems of the casters to a schedule.
pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_systems(
        schedule,
        (
            cast_rays::<Vec2>.run_if(any_with_component::<RayCaster<Vec2>>),
            cast_rays::<Vec3>.run_if(any_with_component::<RayCaster<Vec3>>),
            cast_shapes.run_if(any_with_component::<ShapeCaster>),
        )
            .in_set(HeadbuttSystems::Sync)
            .after(sync),
    );
}

/// The `Transform`s of all entities.
type Transforms<'w, 's> = Query<'w, 's, &'static Transform, Allow<Disabled>>;

/// Buffers for the hits of a caster, one for each thread.
type HitBuffers<H> = Parallel<Vec<EntityHit<H>>>;

/// Casts the rays of all 2D or all 3D casters.
fn cast_rays<V: QuerySpace>(
    query: SpatialQuery,
    transforms: Transforms,
    mut casters: Query<(Entity, &mut RayCaster<V>)>,
    buffers: Local<HitBuffers<RayHit<V>>>,
) {
    let cast = |(entity, mut caster): (Entity, Mut<RayCaster<V>>)| {
        let mut hits = buffers.borrow_local_mut();
        hits.clear();
        if let Some(pose) = query.compose_pose::<V>(&transforms, entity) {
            let selection = Selection::of_caster(&caster.filter, entity);
            query.list_ray_hits(&caster.ray_in_world(&pose), selection, &mut hits);
        }
        // The caster is marked as changed only if its hits changed.
        if caster.hits != *hits {
            caster.hits.clone_from(&hits);
        }
    };
    // The index is built here, so that no task waits for another task.
    query.build_index::<V>();
    if thread_count() > 1 {
        casters.par_iter_mut().for_each(cast);
    } else {
        casters.iter_mut().for_each(cast);
    }
}

/// Casts all shapes.
fn cast_shapes(
    query: SpatialQuery,
    transforms: Transforms,
    mut casters: Query<(Entity, &mut ShapeCaster)>,
    buffers: Local<HitBuffers<CastHit<Vec3>>>,
) {
    let cast = |(entity, mut caster): (Entity, Mut<ShapeCaster>)| {
        let mut hits = buffers.borrow_local_mut();
        hits.clear();
        let body = AnyPlaced::at(
            &caster.collider,
            || query.compose_pose::<Vec2>(&transforms, entity),
            || query.compose_pose::<Vec3>(&transforms, entity),
        );
        if let Some(body) = body {
            let motion = Motion::linear(Vec3::ZERO, caster.translation);
            let motion = motion.rotated(caster.rotation);
            let selection = Selection::of_caster(&caster.filter, entity);
            query.list_shape_hits(&body, &motion, caster.options, selection, &mut hits);
        }
        if caster.hits != *hits {
            caster.hits.clone_from(&hits);
        }
    };
    if thread_count() > 1 {
        casters.par_iter_mut().for_each(cast);
    } else {
        casters.iter_mut().for_each(cast);
    }
}
