//! Why something is no shape.

use crate::space::Space;

/// Why something is no shape, from [`Collider::try_new`](crate::Collider::try_new) and
/// [`ConvexHull::new`](crate::ConvexHull::new).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A dimension or coordinate is NaN or infinite; the text names it.
    #[error("the {0} must be finite")]
    NotFinite(&'static str),
    /// A dimension is less than zero; the text names it. Zero is allowed: a flat shape is still a shape.
    #[error("the {0} must not be negative")]
    Negative(&'static str),
    /// A hull of no points at all.
    #[error("a convex hull needs at least one point")]
    NoPoints,
    /// A hull of more points than there may be; the number is the limit.
    #[error("a convex hull can have no more than {0} points")]
    TooManyPoints(usize),
}

impl ShapeError {
    /// Accepts points whose coordinates are finite.
    pub(super) fn check_points<V: Space>(name: &'static str, points: &[V]) -> Result<(), Self> {
        let finite = points.iter().all(|point| point.is_finite());
        finite.then_some(()).ok_or(Self::NotFinite(name))
    }

    /// Accepts the length of something: finite and not negative.
    pub(super) fn check_length(name: &'static str, length: f32) -> Result<(), Self> {
        if !length.is_finite() {
            Err(Self::NotFinite(name))
        } else if length < 0.0 {
            Err(Self::Negative(name))
        } else {
            Ok(())
        }
    }
}
