//! headbutt: an app with the ground and the bodies.

use std::hint::black_box;

use bevy::{
    ecs::{schedule::SingleThreadedExecutor, system::SystemState},
    prelude::*,
};
use headbutt::{
    CollisionDiagnostics, SpatialQuery, SpatialQueryFilter,
    prelude::*,
    query::{self, CastOptions, Motion, Ray},
};
use headbutt_bench::clock::Clock;

use crate::{Body, Tick, grounds::Ground, warm_time};

pub fn collider(ground: &Ground) -> Collider {
    let vertices = ground.vertices.iter().copied();
    Collider::try_trimesh(vertices, ground.triangles.iter().copied()).expect("this is a mesh")
}

pub fn body_collider(body: Body) -> Collider {
    match body {
        Body::Ball => Collider::from(Sphere::new(0.5)),
        Body::Capsule => Collider::from(Capsule3d::new(0.25, 0.5)),
        Body::Box => Collider::from(Cuboid::from_length(1.0)),
        Body::Cylinder => Collider::from(Cylinder::new(0.5, 1.0)),
        Body::Hull => Collider::try_convex_hull(body.hull()).expect("these have a hull"),
    }
}

pub struct Ours {
    /// The app with candidate pairs, and the app without candidate pairs.
    apps: [App; 2],
    /// An app without bodies, for queries, and its collider.
    level: App,
    level_collider: Collider,
    body: Collider,
    ground: Entity,
    bodies: Vec<Entity>,
    query: SystemState<SpatialQuery<'static, 'static>>,
}

impl Ours {
    pub fn new(ground: &Ground, body: Body, count: usize) -> Self {
        let (collider, body) = (collider(ground), body_collider(body));
        let (mut ground, mut bodies) = (Entity::PLACEHOLDER, Vec::new());
        let apps = [true, false].map(|with_pairs| {
            let mut app = App::new();
            app.add_plugins(HeadbuttPlugin::in_schedule(Tick).with_broad_phase(BroadPhase::Custom));
            // Another thread would begin with a cold cache.
            app.edit_schedule(Tick, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
            let world = app.world_mut();
            ground = world.spawn(collider.clone()).id();
            bodies = (0..count).map(|_| world.spawn(body.clone()).id()).collect();
            if with_pairs {
                let mut pairs = world.resource_mut::<CandidatePairs>();
                pairs.extend(bodies.iter().map(|body| (ground, *body)));
            }
            app
        });
        let mut level = App::new();
        level.add_plugins(HeadbuttPlugin::in_schedule(Tick));
        level.world_mut().spawn(collider.clone());
        level.world_mut().run_schedule(Tick);
        let query = SystemState::new(level.world_mut());
        // Both worlds spawned the same objects, so the entities are the same.
        Self {
            apps,
            level,
            level_collider: collider,
            body,
            ground,
            bodies,
            query,
        }
    }

    /// Returns the time for all bodies in microseconds, the support evaluations, and the depth of
    /// each body.
    pub fn contacts(
        &mut self,
        poses: &[Transform],
        clock: Clock,
    ) -> (f64, usize, Vec<Option<f32>>) {
        let [with, without] = self.apps.each_mut().map(|app| {
            let world = app.world_mut();
            for (body, pose) in self.bodies.iter().zip(poses) {
                if let Some(mut transform) = world.get_mut::<Transform>(*body) {
                    *transform = *pose;
                }
            }
            world.resource_mut::<Messages<CollisionEvent>>().clear();
            let start = clock.now();
            world.run_schedule(Tick);
            (clock.now() - start).as_secs_f64() * 1e6
        });
        let world = self.apps[0].world();
        let state = world.resource::<headbutt::Collisions>();
        let depth = |body: &Entity| Some(state.between(self.ground, *body)?.depth);
        let supports = world.resource::<CollisionDiagnostics>().supports;
        let depths = self.bodies.iter().map(depth).collect();
        (with - without, supports, depths)
    }

    /// Returns the time of casts of the body in microseconds, and the number of hits.
    pub fn casts(&mut self, poses: &[Transform], motion: Vec3, clock: Clock) -> (f64, usize) {
        let query = self
            .query
            .get(self.level.world())
            .expect("the plugin is added");
        let (options, filter) = (CastOptions::default(), SpatialQueryFilter::default());
        let start = clock.now();
        let hits = poses.iter().filter(|pose| {
            let motion = Motion::linear(black_box(**pose), motion);
            query
                .cast_shape(&self.body, motion, options, &filter)
                .is_some()
        });
        let hits = hits.count();
        ((clock.now() - start).as_secs_f64() * 1e6, hits)
    }

    /// Returns the times of rays in microseconds: by `SpatialQuery`, and by `query::cast_ray`.
    pub fn rays(&mut self, poses: &[Transform], motion: Vec3, clock: Clock) -> [f64; 2] {
        let query = self
            .query
            .get(self.level.world())
            .expect("the plugin is added");
        let filter = SpatialQueryFilter::default();
        [true, false].map(|in_world| {
            warm_time(poses, clock, |origin| {
                let ray = Ray::new(origin, motion).with_max_distance(motion.length());
                if in_world {
                    black_box(query.cast_ray(ray, &filter));
                } else {
                    let (mesh, pose) = (&self.level_collider, Transform::IDENTITY);
                    black_box(query::cast_ray(mesh, pose, ray));
                }
            })
        })
    }
}
