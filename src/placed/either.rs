//! An operand of a query: a placed collider, or a single shape. The functions of `collider_query/`
//! take [`Placed`] operands.

use core::ops::Deref;

use crate::{
    placed::{BoundingRegion, DynPart, DynShape, PlacedCollider, PlacedShape},
    query::Pair,
    shape::{Bounds, FacePlane, ScaledShape, Support},
    space::{Pose, Space},
};

/// A collider or a convex shape in a pose in the world.
#[derive(Clone, Copy)]
pub enum Placed<'a, V: Space> {
    Collider(&'a PlacedCollider<V>),
    /// A shape that is not part of a collider. In a query with such a shape, both sides of every
    /// facet of a surface count.
    Shape(&'a DynPart<'a, V>),
    /// One part of a collider, and its index. The part keeps the origin of the collider, about
    /// which the part rotates. In a query with a part, both sides of every facet of a surface
    /// count.
    Part(&'a PlacedCollider<V>, u32),
    /// The faces of a union of cells that belong to a ledge. In a query with a ledge, both sides of
    /// these faces count.
    Ledge(&'a PlacedCollider<V>, FacePlane),
}

impl<'a, V: Space> From<&'a PlacedCollider<V>> for Placed<'a, V> {
    fn from(collider: &'a PlacedCollider<V>) -> Self {
        Self::Collider(collider)
    }
}

impl<'a, V: Space> From<&'a DynPart<'a, V>> for Placed<'a, V> {
    fn from(shape: &'a DynPart<'a, V>) -> Self {
        Self::Shape(shape)
    }
}

impl<'a, V: Space> Placed<'a, V> {
    /// Returns the region of the world that contains the operand.
    pub fn region(&self) -> Option<BoundingRegion<V::DVec>> {
        match self {
            Self::Collider(collider) | Self::Ledge(collider, _) => collider.region().ok(),
            Self::Shape(shape) => Some(shape.region),
            Self::Part(collider, index) => Some(collider.part(*index)?.region),
        }
    }

    /// Returns the position of the operand's origin.
    pub fn translation(&self) -> V::DVec {
        match self {
            Self::Collider(collider) | Self::Part(collider, _) | Self::Ledge(collider, _) => {
                collider.world_pose.translation
            }
            Self::Shape(shape) => shape.world_pose.translation,
        }
    }

    /// Returns the scaled shape and its pose, or `None` for a compound, a [`Part`](Self::Part) or a
    /// [`Ledge`](Self::Ledge).
    pub fn convex(&self) -> Option<(DynShape<'a, V>, Pose<V::DVec>)> {
        match self {
            Self::Collider(collider) => Some((collider.dyn_shape()?, collider.world_pose.pose())),
            Self::Shape(shape) => Some((shape.scaled_shape(), shape.world_pose.pose())),
            Self::Part(..) | Self::Ledge(..) => None,
        }
    }

    /// Returns the collider if its facets are the parts of the operand.
    pub fn surface(&self) -> Option<&'a PlacedCollider<V>> {
        match self {
            Self::Collider(collider) | Self::Ledge(collider, _) => {
                collider.is_surface().then_some(*collider)
            }
            Self::Shape(_) | Self::Part(..) => None,
        }
    }

    /// Returns `false` if a facet does not belong to the ledge.
    pub fn has_part(&self, part: u32) -> bool {
        !matches!(self, Self::Ledge(collider, plane) if collider.ledge(part) != Some(*plane))
    }

    /// Returns `true` for a surface if only the outer sides of its facets collide.
    pub fn is_one_sided(&self) -> bool {
        matches!(self, Self::Collider(collider) if collider.is_one_sided())
    }

    /// Returns `true` if the operand is a member of a ground.
    pub fn is_member(&self) -> bool {
        matches!(self, Self::Collider(collider) if collider.member().is_some())
    }

    /// Returns `false` if a part belongs to another member of the ground.
    pub fn owns(&self, part: u32) -> bool {
        match self {
            Self::Collider(collider) => collider.owns(part),
            _ => true,
        }
    }

    /// Calls `visit` with the part at an index, and returns the result of `visit`.
    pub fn with_part<R>(&self, index: u32, visit: impl FnOnce(&DynPart<V>) -> R) -> Option<R> {
        match self {
            Self::Collider(collider) | Self::Ledge(collider, _) => {
                Some(visit(&collider.part(index)?.as_dyn()))
            }
            Self::Shape(shape) => Some(visit(shape)),
            Self::Part(collider, own) => Some(visit(&collider.part(*own)?.as_dyn())),
        }
    }

    /// Calls `visit` with the only part of a convex operand, and returns the result of `visit`.
    /// `region` must contain the operand. Returns `None` for a compound, a [`Part`](Self::Part) or
    /// a [`Ledge`](Self::Ledge).
    pub fn with_convex_part<R>(
        &self,
        region: BoundingRegion<V::DVec>,
        visit: impl FnOnce(&DynPart<V>) -> R,
    ) -> Option<R> {
        match self {
            Self::Collider(collider) => Some(visit(&collider.convex_part(region)?.as_dyn())),
            Self::Shape(shape) => Some(visit(shape)),
            Self::Part(..) | Self::Ledge(..) => None,
        }
    }

    /// Calls `visit` with the indices of parts: see [`PlacedCollider::search`].
    pub fn search(
        &self,
        limit: f64,
        bound: impl Fn(&Bounds<V::DVec>) -> f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        match self {
            Self::Collider(collider) => collider.search(limit, bound, visit),
            Self::Shape(_) => {
                visit(0);
            }
            Self::Part(_, index) => {
                visit(*index);
            }
            Self::Ledge(collider, _) => {
                let mut limit = limit;
                collider.search(limit, bound, |part| {
                    if self.has_part(part) {
                        limit = visit(part);
                    }
                    limit
                });
            }
        }
    }
}

/// Calls `query` with two parts as a pair.
pub fn with_pair<V: Space, S: Deref<Target: Support<Vector = V>>, R>(
    [a, b]: [&PlacedShape<V, S>; 2],
    query: impl FnOnce(Pair<ScaledShape<S::Target>, ScaledShape<S::Target>>) -> R,
) -> R {
    let (shape_a, shape_b) = (a.scaled_shape(), b.scaled_shape());
    let (pose_a, pose_b) = (a.world_pose.pose(), b.world_pose.pose());
    query(Pair::new(&shape_a, pose_a, &shape_b, pose_b))
}
