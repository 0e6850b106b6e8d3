//! The queries of headbutt, on the shapes themselves.

use std::{hint::black_box, ops::Range};

use headbutt::{Space, Support, query};
use headbutt_bench::duel::Side;

use crate::query::{APART, Query};

/// Two shapes, and the poses of the queries.
pub struct Ours<A: Support, B> {
    pub a: A,
    pub b: B,
    pub poses: Vec<[<A::Vector as Space>::Isometry; 2]>,
}

impl<A: Support, B: Support<Vector = A::Vector>> Side<Query> for Ours<A, B> {
    fn ask(&mut self, query: Query, range: Range<usize>, answers: &mut Vec<f32>) {
        let Self { a, b, poses } = self;
        let (a, b) = (black_box(&*a), black_box(&*b));
        let poses = poses[range].iter().copied();
        match query {
            Query::Intersects => answers.extend(poses.map(|[pose_a, pose_b]| {
                f32::from(u8::from(query::intersects(a, pose_a, b, pose_b)))
            })),
            Query::Distance => {
                answers.extend(poses.map(|[pose_a, pose_b]| {
                    black_box(query::distance(a, pose_a, b, pose_b)).distance
                }))
            }
            Query::Contact => answers.extend(poses.map(|[pose_a, pose_b]| {
                black_box(query::contact(a, pose_a, b, pose_b)).map_or(APART, |it| it.depth)
            })),
            Query::Manifold => answers.extend(poses.map(|[pose_a, pose_b]| {
                black_box(query::manifold(a, pose_a, b, pose_b))
                    .and_then(|it| it.points().first().map(|point| point.depth))
                    .unwrap_or(APART)
            })),
        }
    }
}
