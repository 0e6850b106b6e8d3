//! parry: its mesh and its queries.

use std::hint::black_box;

use bevy::prelude::*;
use headbutt_bench::clock::Clock;
use parry3d::{
    math::{Pose, Rotation, Vector},
    query::{
        ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
        PersistentQueryDispatcher, Ray as ParryRay, RayCast, ShapeCastOptions, cast_shapes,
        contact,
    },
    shape::{Ball, Capsule, Shape, SharedShape, TriMesh, TriMeshFlags},
};

use crate::{Body, grounds::Ground, warm_time};

/// Returns the mesh of a ground. If `fixed` is `true`, contacts at internal edges are corrected, as
/// in headbutt.
pub fn mesh(ground: &Ground, fixed: bool) -> TriMesh {
    let vertices = ground.vertices.iter().map(|it| it.to_array().into());
    let flags = if fixed {
        TriMeshFlags::FIX_INTERNAL_EDGES
    } else {
        TriMeshFlags::empty()
    };
    TriMesh::with_flags(vertices.collect(), ground.triangles.clone(), flags)
        .expect("these are a mesh")
}

pub struct Peer {
    mesh: TriMesh,
    body: SharedShape,
    /// The manifolds of each body.
    manifolds: Vec<Manifolds>,
}

/// The state that parry reuses.
type Manifolds = (
    Vec<ContactManifold<(), ()>>,
    Option<ContactManifoldsWorkspace>,
);

impl Peer {
    pub fn new(ground: &Ground, body: Body, count: usize) -> Self {
        Self {
            mesh: mesh(ground, true),
            body: match body {
                Body::Ball => SharedShape::new(Ball::new(0.5)),
                Body::Capsule => SharedShape::new(Capsule::new_y(0.25, 0.25)),
                Body::Box => SharedShape::cuboid(0.5, 0.5, 0.5),
                Body::Cylinder => SharedShape::cylinder(0.5, 0.5),
                Body::Hull => {
                    let points: Vec<_> = body.hull().map(|it| it.to_array().into()).collect();
                    SharedShape::convex_hull(&points).expect("these have a hull")
                }
            },
            manifolds: (0..count).map(|_| (Vec::new(), None)).collect(),
        }
    }

    /// Returns the time for all bodies in microseconds, and the depth of each body.
    pub fn contacts(&self, poses: &[Transform], clock: Clock) -> (f64, Vec<Option<f32>>) {
        let poses: Vec<Pose> = poses.iter().map(pose).collect();
        let (mesh, body): (&dyn Shape, &dyn Shape) = (&self.mesh, &*self.body);
        let mut depths = Vec::with_capacity(poses.len());
        let start = clock.now();
        for pose in &poses {
            let found = contact(&Pose::IDENTITY, mesh, black_box(pose), body, 0.0);
            depths.push(found.ok().flatten().map(|it| -it.dist));
        }
        ((clock.now() - start).as_secs_f64() * 1e6, depths)
    }

    /// Returns the time for all bodies in microseconds.
    pub fn manifolds(&mut self, poses: &[Transform], clock: Clock) -> f64 {
        let poses: Vec<Pose> = poses.iter().map(pose).collect();
        let start = clock.now();
        for (pose, (manifolds, workspace)) in poses.iter().zip(&mut self.manifolds) {
            let done = DefaultQueryDispatcher.contact_manifolds(
                black_box(pose),
                &self.mesh,
                &*self.body,
                0.0,
                manifolds,
                workspace,
            );
            black_box(done.is_ok());
            black_box(&*manifolds);
        }
        (clock.now() - start).as_secs_f64() * 1e6
    }

    /// Returns the time of casts of the body in microseconds, and the number of hits.
    pub fn casts(&self, poses: &[Transform], motion: Vec3, clock: Clock) -> (f64, usize) {
        let poses: Vec<Pose> = poses.iter().map(pose).collect();
        let (mesh, body): (&dyn Shape, &dyn Shape) = (&self.mesh, &*self.body);
        let (motion, still) = (Vector::from(motion.to_array()), Vector::ZERO);
        let options = ShapeCastOptions {
            max_time_of_impact: 1.0,
            ..Default::default()
        };
        let start = clock.now();
        let hits = poses.iter().filter(|pose| {
            let ground = &Pose::IDENTITY;
            let hit = cast_shapes(ground, still, mesh, black_box(pose), motion, body, options);
            hit.ok().flatten().is_some()
        });
        let hits = hits.count();
        ((clock.now() - start).as_secs_f64() * 1e6, hits)
    }

    /// Returns the times of rays in microseconds: with the normals of the hits, as headbutt returns
    /// them, and with the distances alone.
    pub fn rays(&self, poses: &[Transform], motion: Vec3, clock: Clock) -> [f64; 2] {
        [true, false].map(|with_normals| {
            warm_time(poses, clock, |origin| {
                let ray = ParryRay::new(origin.to_array().into(), motion.to_array().into());
                if with_normals {
                    black_box(self.mesh.cast_local_ray_and_get_normal(&ray, 1.0, true));
                } else {
                    black_box(self.mesh.cast_local_ray(&ray, 1.0, true));
                }
            })
        })
    }
}

fn pose(transform: &Transform) -> Pose {
    Pose::from_parts(
        transform.translation.to_array().into(),
        Rotation::from_array(transform.rotation.to_array()),
    )
}
