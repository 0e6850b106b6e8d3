//! What both libraries are asked.

use std::ops::Range;

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Intersects,
    Distance,
    Contact,
    Manifold,
}

impl Query {
    pub const ALL: [Self; 4] = [
        Self::Intersects,
        Self::Distance,
        Self::Contact,
        Self::Manifold,
    ];
}

/// What is answered for a pair that is apart, where a depth is asked for.
pub const APART: f32 = -1.0;

/// A library with a pair of shapes and the poses to ask for.
pub trait Side {
    /// Asks for some of the poses in turn. An answer is a length: 0 or 1 for a verdict, the distance, the (greatest) depth.
    fn ask(&mut self, query: Query, poses: Range<usize>, answers: &mut Vec<f32>);
}
