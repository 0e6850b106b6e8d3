//! headbutt's side: an app with the terrain and the capsules.

use std::time::Instant;

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};
use headbutt::prelude::*;

use crate::{HALF_LENGTH, RADIUS, terrain::Terrain};

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

pub fn collider(terrain: &Terrain) -> Collider {
    let vertices = terrain.vertices.iter().copied();
    Collider::trimesh(vertices, terrain.triangles.iter().copied()).expect("the terrain is a mesh")
}

pub struct Ours {
    /// The one with candidate pairs, and the one without.
    apps: [App; 2],
    ground: Entity,
    capsules: Vec<Entity>,
}

impl Ours {
    pub fn new(terrain: &Terrain, count: usize) -> Self {
        let collider = collider(terrain);
        let (mut ground, mut capsules) = (Entity::PLACEHOLDER, Vec::new());
        let apps = [true, false].map(|with_pairs| {
            let mut app = App::new();
            app.add_plugins(HeadbuttPlugin::in_schedule(Tick).with_broad_phase(BroadPhase::Custom));
            let world = app.world_mut();
            ground = world.spawn(collider.clone()).id();
            let capsule = Collider::from(Capsule3d::new(RADIUS, 2.0 * HALF_LENGTH));
            capsules = (0..count)
                .map(|_| world.spawn(capsule.clone()).id())
                .collect();
            if with_pairs {
                let mut pairs = world.resource_mut::<CandidatePairs>();
                pairs.extend(capsules.iter().map(|capsule| (ground, *capsule)));
            }
            app
        });
        // Both worlds have spawned the same, so their entities are the same.
        Self {
            apps,
            ground,
            capsules,
        }
    }

    /// Microseconds for all, and how deep each is.
    pub fn ask(&mut self, poses: &[Transform]) -> (f64, Vec<Option<f32>>) {
        let [with, without] = self.apps.each_mut().map(|app| {
            let world = app.world_mut();
            for (capsule, pose) in self.capsules.iter().zip(poses) {
                if let Some(mut transform) = world.get_mut::<Transform>(*capsule) {
                    *transform = *pose;
                }
            }
            world.resource_mut::<Messages<CollisionEvent>>().clear();
            let start = Instant::now();
            world.run_schedule(Tick);
            start.elapsed().as_secs_f64() * 1e6
        });
        let state = self.apps[0].world().resource::<headbutt::CollisionState>();
        let depth = |capsule: &Entity| Some(state.between(self.ground, *capsule)?.depth);
        (with - without, self.capsules.iter().map(depth).collect())
    }
}
