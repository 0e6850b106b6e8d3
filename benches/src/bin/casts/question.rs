//! The queries that both libraries answer.

/// The answer if nothing is hit. All other answers are lengths.
pub const MISS: f32 = -1.0;

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Linear,
    Rotating,
    Ray,
}

impl Question {
    pub const ALL: [Self; 3] = [Self::Linear, Self::Rotating, Self::Ray];
}
