//! Reasons why a collider cannot collide.

/// The reason why a collider with a valid shape cannot collide in its pose. The warning that names
/// the entity ends with the text of this error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColliderError {
    /// The entity has no `Transform`, it has more than 4096 ancestors, or its ancestors form a
    /// loop.
    #[error("it has no `Transform`, or it has more than 4096 ancestors, or they form a loop")]
    NoPose,
    /// The pose contains a NaN, an infinity, or a rotation of length 0.
    #[error("its pose is not finite")]
    NotFinite,
    /// The radius of a custom shape is negative or NaN.
    #[error("its radius is negative or NaN")]
    InvalidRadius,
    /// The bounding box of a custom shape shows that its support function is wrong.
    #[error("its support function does not return the farthest points")]
    InvalidSupport,
    /// A half-space has a scale of 0 along an axis.
    #[error("its scale flattens the half-space")]
    Flattened,
    /// The bounding box is not finite, or exceeds the range of f32.
    #[error("its bounds are not finite, or are too large for f32")]
    Unbounded,
}
