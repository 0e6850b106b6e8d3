//! The region of the world that contains a collider or a part.

use crate::{
    shape::{Bounds, HalfSpace},
    space::DVector,
    tolerance::{OFFSET_SCALE, TOUCHING},
};

/// A region of the world that contains a collider or a part.
#[derive(Clone, Copy, Debug)]
pub enum BoundingRegion<D> {
    Box(Bounds<D>),
    /// A half-space in the world's axes, relative to the translation of the pose. So the half-space
    /// stays exact far from the origin.
    HalfSpace(HalfSpace<D>),
}

impl<D: DVector> BoundingRegion<D> {
    /// Returns `true` if both regions are boxes and have no point in common.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => !a.overlaps(b),
            _ => false,
        }
    }

    /// Returns the box, or `None` for a half-space.
    pub fn bounds(&self) -> Option<&Bounds<D>> {
        match self {
            Self::Box(bounds) => Some(bounds),
            Self::HalfSpace(_) => None,
        }
    }

    /// Returns a lower bound on the distance to a box, or 0 if the contents of the region and the
    /// box may touch. If the region is a half-space, it is given relative to `origin`.
    pub fn gap(&self, bounds: &Bounds<D>, origin: D) -> f64 {
        match self {
            Self::Box(own) => own.gap(bounds),
            Self::HalfSpace(half_space) => bounds.gap_to_half_space(half_space, origin),
        }
    }

    /// Returns the largest gap at which the contents of a box may touch a half-space that is given
    /// relative to `origin`. The gap increases with the distance from `origin`: see
    /// [`OFFSET_SCALE`].
    pub fn half_space_tolerance(&self, origin: D) -> f64 {
        let distance = self.bounds().map_or(0.0, |bounds| {
            let [min, max] = [bounds.min, bounds.max].map(|corner| (corner - origin).extent());
            min.max(max)
        });
        distance * (2.0 * TOUCHING * OFFSET_SCALE)
    }
}
