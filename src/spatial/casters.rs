//! Components that cast a ray or a shape in each tick.

use bevy::{
    ecs::{schedule::InternedScheduleLabel, system::SystemState},
    prelude::*,
};

use crate::{
    Collider, ColliderMotion,
    collider::entity_pose,
    collider_query::place::AnyPlaced,
    math::{Vec2, Vec3},
    pipeline::{HeadbuttSystems, sync::sync},
    query::{CastHit, CastOptions, Ray, RayHit},
    spatial::{
        filter::{Selection, SpatialQueryFilter},
        spatial_query::{EntityHit, QuerySpace, SpatialQuery},
    },
};

/// Casts a ray from its entity in each tick, and keeps the hits: `RayCaster<Vec2>` in 2D,
/// `RayCaster<Vec3>` in 3D.
///
/// It casts at the end of [`HeadbuttSystems::Sync`](HeadbuttSystems::Sync), so that systems
/// after that set see the hits of their tick. A [`SpatialQuery`] casts at any time.
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
#[derive(Component, Clone, Debug)]
#[require(Transform)]
pub struct RayCaster<V: QuerySpace> {
    /// The ray in the frame of the entity. The maximum distance is in units of the world, whatever
    /// the scale of the entity.
    pub ray: Ray<V>,
    /// The colliders to consider.
    pub filter: SpatialQueryFilter<'static>,
    hits: Vec<EntityHit<RayHit<V>>>,
}

impl<V: QuerySpace> RayCaster<V> {
    /// Creates a caster that considers all colliders except [sensors](crate::Sensor), its own, and
    /// those of its ancestors.
    pub fn new(ray: impl Into<Ray<V>>) -> Self {
        Self {
            ray: ray.into(),
            filter: SpatialQueryFilter::default(),
            hits: Vec::new(),
        }
    }

    /// Replaces the filter. The caster's own entity and its ancestors are excluded in any case.
    #[must_use]
    pub fn with_filter(self, filter: SpatialQueryFilter<'static>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the first hit on each collider, sorted by distance, then by entity.
    pub fn hits(&self) -> &[EntityHit<RayHit<V>>] {
        &self.hits
    }

    /// Returns the first hit.
    pub fn first(&self) -> Option<EntityHit<RayHit<V>>> {
        self.hits.first().copied()
    }

    /// Returns the ray in the world.
    fn ray_in_world(&self, world: &World, entity: Entity) -> Option<Ray<V>> {
        let pose = entity_pose::<V>(world, entity).ok()?;
        let origin = pose.linear() * self.ray.origin.to_f64() + pose.translation;
        Some(Ray {
            origin: V::from_f64(origin),
            direction: V::from_f64(pose.linear() * self.ray.direction.to_f64()),
            ..self.ray
        })
    }
}

/// Casts a moving shape from its entity in each tick, and keeps the hits. The time and place are
/// those of a [`RayCaster`].
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
#[derive(Component, Clone, Debug)]
#[require(Transform)]
pub struct ShapeCaster {
    /// The shape, which moves from the pose of the entity.
    pub collider: Collider,
    /// The translation in world axes, unlike the ray of a [`RayCaster`]: down stays down for a body
    /// that turns.
    pub translation: Vec3,
    /// The rotation in world axes: the axis times the angle in radians.
    pub rotation: Vec3,
    /// What happens if shapes overlap at the start.
    pub options: CastOptions,
    /// The colliders to consider.
    pub filter: SpatialQueryFilter<'static>,
    hits: Vec<EntityHit<CastHit<Vec3>>>,
}

impl ShapeCaster {
    /// Creates a caster without rotation. It considers all colliders except
    /// [sensors](crate::Sensor), its own, and those of its ancestors.
    pub fn new(collider: Collider, translation: Vec3) -> Self {
        Self {
            collider,
            translation,
            rotation: Vec3::ZERO,
            options: CastOptions::default(),
            filter: SpatialQueryFilter::default(),
            hits: Vec::new(),
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

    /// Replaces the filter. The caster's own entity and its ancestors are excluded in any case.
    #[must_use]
    pub fn with_filter(self, filter: SpatialQueryFilter<'static>) -> Self {
        Self { filter, ..self }
    }

    /// Returns the first touch with each collider, sorted by time, then by entity.
    pub fn hits(&self) -> &[EntityHit<CastHit<Vec3>>] {
        &self.hits
    }

    /// Returns the first hit.
    pub fn first(&self) -> Option<EntityHit<CastHit<Vec3>>> {
        self.hits.first().copied()
    }

    /// Returns the shape in the pose of its entity, or `None` if it is invalid.
    fn place(&self, world: &World, entity: Entity) -> Option<AnyPlaced> {
        AnyPlaced::at(
            &self.collider,
            || entity_pose::<Vec2>(world, entity).ok(),
            || entity_pose::<Vec3>(world, entity).ok(),
        )
    }
}

/// The hits of this tick.
pub struct NewHits<H> {
    found: Vec<(Entity, Vec<EntityHit<H>>)>,
    /// Lists of earlier ticks, whose memory is used again.
    spare: Vec<Vec<EntityHit<H>>>,
}

impl<H> Default for NewHits<H> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl<H> NewHits<H> {
    /// Calls `find` with an empty list for the hits of a caster.
    fn add(&mut self, entity: Entity, find: impl FnOnce(&mut Vec<EntityHit<H>>)) {
        let mut hits = self.spare.pop().unwrap_or_default();
        hits.clear();
        find(&mut hits);
        self.found.push((entity, hits));
    }

    /// Calls `store` with the hits of each caster, which it may swap with others.
    fn store(&mut self, mut store: impl FnMut(Entity, &mut Vec<EntityHit<H>>)) {
        let count = self.found.len();
        for (entity, mut hits) in self.found.drain(..) {
            store(entity, &mut hits);
            self.spare.push(hits);
        }
        // One list for each caster is enough, and lists of casters that are gone are dropped.
        self.spare.truncate(count);
    }
}

/// Adds the casts to a schedule.
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

/// Casts all rays of one space.
fn cast_rays<V: QuerySpace>(
    world: &mut World,
    casters: &mut QueryState<(Entity, &mut RayCaster<V>)>,
    queries: &mut SystemState<SpatialQuery>,
    mut new: Local<NewHits<RayHit<V>>>,
) {
    if let Ok(query) = queries.get(world) {
        for (entity, caster) in casters.query(world).iter() {
            new.add(entity, |hits| {
                if let Some(ray) = caster.ray_in_world(world, entity) {
                    let selection = Selection::except(&caster.filter, entity);
                    query.first_hits(&ray, selection, hits);
                }
            });
        }
    }
    new.store(|entity, hits| {
        if let Ok((_, mut caster)) = casters.get_mut(world, entity)
            && caster.hits != *hits
        {
            core::mem::swap(&mut caster.hits, hits);
        }
    });
}

/// Casts all shapes.
fn cast_shapes(
    world: &mut World,
    casters: &mut QueryState<(Entity, &mut ShapeCaster)>,
    queries: &mut SystemState<SpatialQuery>,
    mut new: Local<NewHits<CastHit<Vec3>>>,
) {
    if let Ok(query) = queries.get(world) {
        for (entity, caster) in casters.query(world).iter() {
            new.add(entity, |hits| {
                if let Some(probe) = caster.place(world, entity) {
                    let motion = ColliderMotion::linear(Vec3::ZERO, caster.translation);
                    let motion = motion.rotated(caster.rotation);
                    let selection = Selection::except(&caster.filter, entity);
                    query.hits_of_probe(&probe, &motion, caster.options, selection, hits);
                }
            });
        }
    }
    new.store(|entity, hits| {
        if let Ok((_, mut caster)) = casters.get_mut(world, entity)
            && caster.hits != *hits
        {
            core::mem::swap(&mut caster.hits, hits);
        }
    });
}
