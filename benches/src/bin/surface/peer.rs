//! parry: its mesh and its queries.

use std::hint::black_box;

use bevy::prelude::*;
use headbutt_bench::clock::Clock;
use parry3d::{
    math::{Pose, Rotation},
    query::{
        ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
        PersistentQueryDispatcher, PointQuery, contact,
    },
    shape::{Ball, Capsule, Shape, SharedShape, TriMesh, TriMeshFlags},
};

use crate::{Body, triangles::Triangles};

/// If `fixed`, contacts at internal edges are corrected, as headbutt does.
pub fn mesh(triangles: &Triangles, fixed: bool) -> TriMesh {
    let vertices = triangles.vertices.iter().map(|it| it.to_array().into());
    let flags = if fixed {
        TriMeshFlags::FIX_INTERNAL_EDGES
    } else {
        TriMeshFlags::empty()
    };
    TriMesh::with_flags(vertices.collect(), triangles.numbers.clone(), flags)
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
    pub fn new(triangles: &Triangles, body: Body, count: usize) -> Self {
        Self {
            mesh: mesh(triangles, true),
            body: match body {
                Body::Ball { radius } => SharedShape::new(Ball::new(radius)),
                Body::Capsule {
                    radius,
                    half_length,
                } => SharedShape::new(Capsule::new_y(half_length, radius)),
            },
            manifolds: (0..count).map(|_| (Vec::new(), None)).collect(),
        }
    }

    /// Returns the time for all bodies in microseconds, and the depth of each.
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

    /// Returns the number of triangles whose box overlaps the box of a body.
    pub fn boxes(&self, poses: &[Transform]) -> usize {
        let boxes = poses.iter().map(|it| {
            let bounds = self.body.compute_aabb(&pose(it));
            self.mesh.bvh().intersect_aabb(&bounds).count()
        });
        boxes.sum()
    }

    /// Returns the number of triangles that touch a ball.
    pub fn touched(&self, places: &[Vec3], radius: f32) -> usize {
        let touched = places.iter().map(|place| {
            let bounds =
                Ball::new(radius).compute_aabb(&Pose::from_translation(place.to_array().into()));
            let near = self.mesh.bvh().intersect_aabb(&bounds);
            near.filter(|number| {
                let triangle = self.mesh.triangle(*number);
                triangle.distance_to_local_point(place.to_array().into(), true) <= radius
            })
            .count()
        });
        touched.sum()
    }
}

fn pose(transform: &Transform) -> Pose {
    Pose::from_parts(
        transform.translation.to_array().into(),
        Rotation::from_array(transform.rotation.to_array()),
    )
}
