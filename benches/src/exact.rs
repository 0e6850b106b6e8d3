//! The pairs that touch, by brute force: a query for all pairs whose bounding balls overlap,
//! without any engine.

use std::collections::BTreeSet;

use bevy::{
    math::{Isometry2d, Isometry3d, Rot2},
    prelude::*,
};
use headbutt::{Space, Support, query};

use crate::scene::{Parent, Scene, Thing};

/// The numbers of two objects, the smaller number first.
pub type Pair = [u32; 2];

/// Returns two numbers in ascending order.
pub fn pair(a: u32, b: u32) -> Pair {
    [a.min(b), a.max(b)]
}

/// The exact result.
pub struct Exact {
    /// The pairs that touch.
    pub touching: BTreeSet<Pair>,
    /// The pairs that every engine must find, because their overlap exceeds the tolerances of the
    /// engines.
    certain: BTreeSet<Pair>,
    /// The pairs that an engine may find, because they nearly touch.
    possible: BTreeSet<Pair>,
}

/// The tolerance of engines, as a fraction of both sizes: avian ignores rotations of less than 0.1
/// degrees.
const BAND: f32 = 0.005;
/// The tolerance that does not depend on sizes: rapier reports pairs nearer than 0.002.
const NEAR: f32 = 0.0021;

impl Exact {
    /// Computes the result for poses in the order of the scene, each in the frame of its parent.
    pub fn new(scene: &Scene, poses: &[Transform]) -> Self {
        let mut previous = Transform::IDENTITY;
        let place = |(thing, pose): (&Thing, &Transform)| {
            previous = match thing.parent {
                Some(Parent::Resting(parent)) => parent * *pose,
                Some(Parent::Previous) => previous * *pose,
                None => *pose,
            };
            previous
        };
        let poses: Vec<Transform> = scene.things.iter().zip(poses).map(place).collect();
        let mut exact = Self {
            touching: BTreeSet::new(),
            certain: BTreeSet::new(),
            possible: BTreeSet::new(),
        };
        if scene.flat {
            let shapes: Vec<_> = scene.things.iter().map(|it| it.form.plane()).collect();
            let pose = |at: &Transform| {
                let x = at.rotation * Vec3::X;
                Isometry2d::new(at.translation.truncate(), Rot2::from_sin_cos(x.y, x.x))
            };
            let poses_2d: Vec<Isometry2d> = poses.iter().map(pose).collect();
            exact.fill(scene, &poses, |a, b| {
                ask(&shapes[a], poses_2d[a], &shapes[b], poses_2d[b])
            });
        } else {
            let shapes: Vec<_> = scene.things.iter().map(|it| it.form.space()).collect();
            let pose = |at: &Transform| Isometry3d::new(at.translation, at.rotation);
            let poses_3d: Vec<Isometry3d> = poses.iter().map(pose).collect();
            exact.fill(scene, &poses, |a, b| {
                ask(&shapes[a], poses_3d[a], &shapes[b], poses_3d[b])
            });
        }
        exact
    }

    /// Fills the three sets. `depth` returns the depth of two objects, which is negative if the
    /// objects are separated.
    fn fill(&mut self, scene: &Scene, poses: &[Transform], depth: impl Fn(usize, usize) -> f32) {
        // The balls are larger than the shapes by the tolerance, and by as much again for rounding.
        let reach = |index: usize| 1.01 * scene.things[index].form.reach() + NEAR;
        let low = |index: usize| poses[index].translation.x - reach(index);
        let mut order: Vec<usize> = (0..poses.len()).collect();
        order.sort_unstable_by(|a, b| low(*a).total_cmp(&low(*b)));
        for (rank, &a) in order.iter().enumerate() {
            let end = poses[a].translation.x + reach(a);
            for &b in order[rank + 1..].iter().take_while(|b| low(**b) <= end) {
                let size = reach(a) + reach(b);
                if poses[a].translation.distance(poses[b].translation) > size {
                    continue;
                }
                let depth = depth(a, b);
                let pair = pair(a as u32, b as u32);
                if depth >= 0.0 {
                    self.touching.insert(pair);
                }
                let band = BAND * size + NEAR;
                if depth > band {
                    self.certain.insert(pair);
                }
                if depth > -band {
                    self.possible.insert(pair);
                }
            }
        }
    }

    /// Returns the number of pairs that an engine missed, and the number of wrong pairs that it
    /// found.
    pub fn compare(&self, found: &BTreeSet<Pair>) -> (usize, usize) {
        (
            self.certain.difference(found).count(),
            found.difference(&self.possible).count(),
        )
    }
}

/// Returns the depth of two overlapping shapes, or minus the distance of two separated shapes.
fn ask<S: Support + ?Sized>(
    a: &S,
    pose_a: <S::Vector as Space>::Isometry,
    b: &S,
    pose_b: <S::Vector as Space>::Isometry,
) -> f32 {
    match query::contact(a, pose_a, b, pose_b) {
        Some(contact) => contact.depth,
        None => -query::distance(a, pose_a, b, pose_b).distance,
    }
}
