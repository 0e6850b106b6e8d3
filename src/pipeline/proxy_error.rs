//! Reasons why a collider cannot collide.

/// Why a collider with a valid shape cannot collide where it is. The text follows a colon in a
/// warning that names the entity.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("it has no `Transform`, or its ancestors form a loop (or number more than 4096)")]
    NoPose,
    #[error("its pose is not finite")]
    NotFinite,
    #[error("its radius is negative or NaN")]
    InvalidRadius,
    #[error("its support function returns points that are not the farthest")]
    InvalidSupport,
    #[error("its scale flattens the half-space")]
    Flattened,
    #[error("its bounds are not finite, or too large for f32")]
    Unbounded,
}
