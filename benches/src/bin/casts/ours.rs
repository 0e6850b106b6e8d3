//! The casts of headbutt, on the shapes themselves.

use std::{hint::black_box, ops::Range};

use headbutt::{
    Space, Support,
    query::{self, CastOptions, Motion, Ray},
};
use headbutt_bench::{duel::Side, pairs::Room};

use crate::{
    cases::{Case, Shot},
    question::{MISS, Question},
};

/// Two shapes and their motions.
pub struct Ours<A: Support, B> {
    pub a: A,
    pub b: B,
    /// The length of the translation, and the motions for a linear and for a rotating cast.
    pub motions: Vec<(f32, [[Motion<A::Vector>; 2]; 2])>,
}

impl<A: Support<Vector: Room>, B: Support<Vector = A::Vector>> Ours<A, B> {
    pub fn new(a: A, b: B, cases: &[Case]) -> Self {
        let motions = |case: &Case| {
            let [pose_a, pose_b] = case.places.map(A::Vector::placed);
            let linear: [Motion<A::Vector>; 2] = [
                Motion::linear(pose_a, A::Vector::vector(case.translation)),
                Motion::still(pose_b),
            ];
            let [angle_a, angle_b] = case.rotations.map(A::Vector::angle);
            let [linear_a, linear_b] = linear;
            let rotating = [linear_a.rotated(angle_a), linear_b.rotated(angle_b)];
            (case.translation.length(), [linear, rotating])
        };
        Self {
            a,
            b,
            motions: cases.iter().map(motions).collect(),
        }
    }
}

impl<A: Support<Vector: Room>, B: Support<Vector = A::Vector>> Side<Question> for Ours<A, B> {
    fn ask(&mut self, question: Question, range: Range<usize>, answers: &mut Vec<f32>) {
        let Self { a, b, motions } = self;
        let (a, b) = (black_box(&*a), black_box(&*b));
        let index = usize::from(question == Question::Rotating);
        answers.extend(motions[range].iter().map(|(length, motions)| {
            let [motion_a, motion_b] = motions[index];
            let cast = query::cast_motion(a, motion_a, b, motion_b, CastOptions::default());
            black_box(cast).map_or(MISS, |hit| hit.touching as f32 * length)
        }));
    }
}

/// A shape and rays.
pub struct OurRays<A: Support> {
    pub shape: A,
    rays: Vec<(<A::Vector as Space>::Isometry, Ray<A::Vector>)>,
}

impl<A: Support<Vector: Room>> OurRays<A> {
    pub fn new(shape: A, shots: &[Shot]) -> Self {
        let ray = |shot: &Shot| {
            let [origin, direction] = [shot.origin, shot.direction].map(A::Vector::vector);
            let ray = Ray::new(origin, direction).with_max_distance(shot.length);
            (A::Vector::placed(shot.place), ray)
        };
        Self {
            shape,
            rays: shots.iter().map(ray).collect(),
        }
    }
}

impl<A: Support<Vector: Room>> Side<Question> for OurRays<A> {
    fn ask(&mut self, _: Question, range: Range<usize>, answers: &mut Vec<f32>) {
        let shape = black_box(&self.shape);
        answers.extend(self.rays[range].iter().map(|(pose, ray)| {
            black_box(query::cast_ray(shape, *pose, *ray)).map_or(MISS, |hit| hit.distance)
        }));
    }
}
