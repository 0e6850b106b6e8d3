//! headbutt: an app with the surface and the bodies.

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};
use headbutt::prelude::*;
use headbutt_bench::clock::Clock;

use crate::{Body, triangles::Triangles};

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

pub fn collider(triangles: &Triangles) -> Collider {
    let vertices = triangles.vertices.iter().copied();
    Collider::try_trimesh(vertices, triangles.numbers.iter().copied()).expect("these are a mesh")
}

pub struct Ours {
    /// The app with candidate pairs, and the one without.
    apps: [App; 2],
    ground: Entity,
    bodies: Vec<Entity>,
}

impl Ours {
    pub fn new(triangles: &Triangles, body: Body, count: usize) -> Self {
        let collider = collider(triangles);
        let (mut ground, mut bodies) = (Entity::PLACEHOLDER, Vec::new());
        let apps = [true, false].map(|with_pairs| {
            let mut app = App::new();
            app.add_plugins(HeadbuttPlugin::in_schedule(Tick).with_broad_phase(BroadPhase::Custom));
            let world = app.world_mut();
            ground = world.spawn(collider.clone()).id();
            let body = match body {
                Body::Ball { radius } => Collider::from(Sphere::new(radius)),
                Body::Capsule {
                    radius,
                    half_length,
                } => Collider::from(Capsule3d::new(radius, 2.0 * half_length)),
            };
            bodies = (0..count).map(|_| world.spawn(body.clone()).id()).collect();
            if with_pairs {
                let mut pairs = world.resource_mut::<CandidatePairs>();
                pairs.extend(bodies.iter().map(|body| (ground, *body)));
            }
            app
        });
        // Both worlds spawned the same objects, so the entities are the same.
        Self {
            apps,
            ground,
            bodies,
        }
    }

    /// Returns the time for all bodies in microseconds, and the depth of each.
    pub fn ask(&mut self, poses: &[Transform], clock: Clock) -> (f64, Vec<Option<f32>>) {
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
        let state = self.apps[0].world().resource::<headbutt::Collisions>();
        let depth = |body: &Entity| Some(state.between(self.ground, *body)?.depth);
        (with - without, self.bodies.iter().map(depth).collect())
    }
}
