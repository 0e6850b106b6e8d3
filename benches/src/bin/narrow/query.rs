//! The queries that both libraries answer. Each result is a number: 0 or 1 for a verdict, the
//! distance, or the (greatest) depth.

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

/// The result for a pair that is separated, if a depth is measured.
pub const APART: f32 = -1.0;
