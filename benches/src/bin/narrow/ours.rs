//! headbutt's side: the plain functions on the shapes themselves.

use std::{cell::Cell, hint::black_box, ops::Range};

use headbutt::{Outline, Space, Support, query};

use crate::side::{APART, Query, Side};

/// Two shapes and where they are asked for.
pub struct Ours<A: Support, B> {
    pub a: A,
    pub b: B,
    pub poses: Vec<[<A::Vector as Space>::Isometry; 2]>,
}

impl<A: Support, B: Support<Vector = A::Vector>> Side for Ours<A, B> {
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

/// A shape that counts how often it is asked for a support point. What queries have closed forms for it tells as the shape
/// itself does. (No query asks for spans, and no class has half-spaces.)
pub struct Counting<S> {
    shape: S,
    asked: Cell<u32>,
}

impl<S> Counting<S> {
    pub fn new(shape: S) -> Self {
        Self {
            shape,
            asked: Cell::new(0),
        }
    }

    pub fn asked(&self) -> u32 {
        self.asked.get()
    }
}

impl<S: Support> Support for Counting<S> {
    type Vector = S::Vector;

    fn support(&self, direction: <S::Vector as Space>::DVec) -> <S::Vector as Space>::DVec {
        self.asked.set(self.asked.get() + 1);
        self.shape.support(direction)
    }

    fn radius(&self) -> f64 {
        self.shape.radius()
    }

    fn block(&self) -> Option<<S::Vector as Space>::DVec> {
        self.shape.block()
    }

    fn outline(&self) -> Option<Outline<'_, <S::Vector as Space>::DVec>> {
        self.shape.outline()
    }
}
