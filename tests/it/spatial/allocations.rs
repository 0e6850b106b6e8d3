//! Queries with a buffer that is large enough do not allocate.

use bevy::{ecs::system::SystemState, prelude::*};
use headbutt::{
    ShapeView,
    prelude::*,
    query::{CastOptions, Ray},
};
use rand::{SeedableRng, rngs::StdRng};

use super::random_world::{RandomWorld, Thing};
use crate::support::Dimension;

#[test]
fn a_warm_query_does_not_allocate() {
    let mut random = StdRng::seed_from_u64(7);
    for dimension in Dimension::BOTH {
        let mut world = RandomWorld::new(dimension, 10.0);
        for _ in 0..300 {
            world.spawn(&mut random);
        }
        world.tick();
        let probe = dimension.block(3.0);
        let [from, to] = [Vec3::splat(-9.0), Vec3::splat(9.0)];
        // The narrow phase of surfaces has lists.
        let is_surface = |thing: &&Thing| {
            matches!(thing.collider.shape_2d(), Some(ShapeView::Surface(_)))
                || matches!(thing.collider.shape_3d(), Some(ShapeView::Surface(_)))
        };
        let surfaces = world.things.iter().filter(is_surface);
        let surfaces: Vec<Entity> = surfaces.map(|thing| thing.entity).collect();
        let is_convex = |entity: Entity| !surfaces.contains(&entity);
        let filter = SpatialQueryFilter::default()
            .excluding_tree(world.things[0].entity)
            .with_predicate(&is_convex);
        let (mut entities, mut ray_hits, mut flat_hits) = (Vec::new(), Vec::new(), Vec::new());
        let (mut casts, mut found) = (Vec::new(), 0);
        let world = world.app.world_mut();
        let mut state = SystemState::<SpatialQuery>::new(world);
        let mut ask = || {
            let query = state.get(world).expect("the plugin was added");
            query.overlaps(&probe, Vec3::ZERO, &filter, &mut entities);
            found = entities.len();
            query.entities_at(Vec3::ZERO, &filter, &mut entities);
            query.overlaps_aabb(from, to, &filter, &mut entities);
            query.ray_hits(Ray::between(from, to), &filter, &mut ray_hits);
            query.ray_hits(Ray::between(from.xy(), to.xy()), &filter, &mut flat_hits);
            query.cast_ray(Ray::between(from, to), &filter);
            let motion = Motion::linear(from, to - from);
            query.shape_hits_per_entity(
                &probe,
                motion,
                CastOptions::default(),
                &filter,
                &mut casts,
            );
            query.closest_to_shape(&probe, Vec3::ZERO, 5.0, &filter);
        };
        ask();
        let allocations = allocation_counter::measure(ask);
        assert_eq!(allocations.count_total, 0);
        assert!(found > 3 && casts.len() > 3 && ray_hits.len() + flat_hits.len() > 3);
    }
}
