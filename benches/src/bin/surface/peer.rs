//! parry's side: its mesh and its queries.

use std::{hint::black_box, time::Instant};

use bevy::prelude::*;
use parry3d::{
    math::{Pose, Rotation},
    query::{
        ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
        PersistentQueryDispatcher, contact,
    },
    shape::{Capsule, Shape, TriMesh, TriMeshFlags},
};

use crate::{HALF_LENGTH, RADIUS, terrain::Terrain};

/// With `fixed`, contacts that come of the edges between triangles are corrected, as headbutt's are.
pub fn mesh(terrain: &Terrain, fixed: bool) -> TriMesh {
    let vertices = terrain.vertices.iter().map(|it| it.to_array().into());
    let flags = if fixed {
        TriMeshFlags::FIX_INTERNAL_EDGES
    } else {
        TriMeshFlags::empty()
    };
    TriMesh::with_flags(vertices.collect(), terrain.triangles.clone(), flags)
        .expect("the terrain is a mesh")
}

pub struct Peer {
    mesh: TriMesh,
    capsule: Capsule,
    /// For each capsule.
    manifolds: Vec<Manifolds>,
}

/// What parry goes on from.
type Manifolds = (
    Vec<ContactManifold<(), ()>>,
    Option<ContactManifoldsWorkspace>,
);

impl Peer {
    pub fn new(terrain: &Terrain, count: usize) -> Self {
        Self {
            mesh: mesh(terrain, true),
            capsule: Capsule::new_y(HALF_LENGTH, RADIUS),
            manifolds: (0..count).map(|_| (Vec::new(), None)).collect(),
        }
    }

    /// Microseconds for all, and how deep each is.
    pub fn contacts(&self, poses: &[Transform]) -> (f64, Vec<Option<f32>>) {
        let poses: Vec<Pose> = poses.iter().map(pose).collect();
        let (mesh, capsule): (&dyn Shape, &dyn Shape) = (&self.mesh, &self.capsule);
        let mut depths = Vec::with_capacity(poses.len());
        let start = Instant::now();
        for pose in &poses {
            let found = contact(&Pose::IDENTITY, mesh, black_box(pose), capsule, 0.0);
            depths.push(found.ok().flatten().map(|it| -it.dist));
        }
        (start.elapsed().as_secs_f64() * 1e6, depths)
    }

    /// Microseconds for all.
    pub fn manifolds(&mut self, poses: &[Transform]) -> f64 {
        let poses: Vec<Pose> = poses.iter().map(pose).collect();
        let start = Instant::now();
        for (pose, (manifolds, workspace)) in poses.iter().zip(&mut self.manifolds) {
            let done = DefaultQueryDispatcher.contact_manifolds(
                black_box(pose),
                &self.mesh,
                &self.capsule,
                0.0,
                manifolds,
                workspace,
            );
            black_box(done.is_ok());
            black_box(&*manifolds);
        }
        start.elapsed().as_secs_f64() * 1e6
    }

    /// How many triangles have a box that meets that of a capsule.
    pub fn boxes(&self, poses: &[Transform]) -> usize {
        let boxes = poses.iter().map(|it| {
            let bounds = self.capsule.compute_aabb(&pose(it));
            self.mesh.bvh().intersect_aabb(&bounds).count()
        });
        boxes.sum()
    }
}

fn pose(transform: &Transform) -> Pose {
    Pose::from_parts(
        transform.translation.to_array().into(),
        Rotation::from_array(transform.rotation.to_array()),
    )
}
