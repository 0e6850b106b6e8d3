//! Reasons why a collider cannot collide.

/// The reason why a collider with a valid shape cannot collide in its pose. A warning that names
/// the entity ends with this text.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("it has no `Transform`, or it has more than 4096 ancestors, or they form a loop")]
    NoPose,
    #[error("its pose is not finite")]
    NotFinite,
    #[error("its radius is negative or NaN")]
    InvalidRadius,
    #[error("its support function does not return the farthest points")]
    InvalidSupport,
    #[error("its scale flattens the half-space")]
    Flattened,
    #[error("its bounds are not finite, or are too large for f32")]
    Unbounded,
}
