//! The questions, in the form that all engines share.

use bevy::prelude::*;

/// A query of all colliders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The first hit of a ray, with its normal.
    Ray,
    /// Any hit of a ray.
    AnyHit,
    /// All hits of a ray.
    AllHits,
    /// The first hit of a moving ball.
    CastBall,
    /// The first hit of a moving box.
    CastBox,
    /// All colliders that touch a ball.
    OverlapBall,
    /// All colliders that touch a box.
    OverlapBox,
    /// All colliders that contain a point.
    AtPoint,
    /// The collider that is closest to a point.
    Closest,
}

impl Question {
    pub const ALL: [Self; 9] = [
        Self::Ray,
        Self::AnyHit,
        Self::AllHits,
        Self::CastBall,
        Self::CastBox,
        Self::OverlapBall,
        Self::OverlapBox,
        Self::AtPoint,
        Self::Closest,
    ];
}

/// The origin, direction and rotation of a query. In 2D, z is 0.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
    /// The length of a ray and of a cast.
    pub length: f32,
    pub rotation: Quat,
    /// The rotation in 2D, in both forms that engines use.
    pub angle: f32,
    pub rotation_2d: Rot2,
}

/// The shapes of casts and overlaps.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub radius: f32,
    pub half: Vec3,
}

/// The results of several questions.
#[derive(Default)]
pub struct Answers {
    pub entities: Vec<Entity>,
    /// For each question, the number of entities so far, and the distance, or -1 without a hit.
    pub ends: Vec<(usize, f32)>,
}

impl Answers {
    /// Ends the entities of a question.
    pub fn end(&mut self, distance: f32) {
        self.ends.push((self.entities.len(), distance));
    }

    /// Adds a question with at most one entity.
    pub fn one(&mut self, hit: Option<(Entity, f32)>) {
        self.entities.extend(hit.map(|it| it.0));
        self.end(hit.map_or(-1.0, |it| it.1));
    }
}

/// An engine with the state of its queries.
pub trait Side {
    /// Runs the query for all probes in a world of the engine.
    fn ask(&mut self, world: &World, question: Question, probes: &[Probe], answers: &mut Answers);

    /// Returns the number of tree nodes that were visited so far, if the engine counts them.
    fn visits(&mut self, _world: &World) -> u64 {
        0
    }
}
