//! A change of the cells of a placed collider, and the bodies whose contacts it may change. The
//! first stage of a tick calls [`CellChange::between`] for a changed collider, and
//! [`CellChange::affects`] for the bodies near it.

use crate::{
    placed::PlacedCollider,
    shape::{Bounds, Support},
    space::{DVector, Space},
};

/// A change of a union of cells in an unchanged pose.
#[derive(Clone, Debug)]
pub struct CellChange<V: Space> {
    old: PlacedCollider<V>,
    /// A box around all cells and faces that differ, in the frame of the collider.
    changed: Bounds<V::DVec>,
}

/// The contact of a convex body depends only on the faces in its bounding box, grown by this
/// multiple of the box's diagonal. A push-out may end beside the box.
const REACH: f64 = 2.0;

impl<V: Space> CellChange<V> {
    /// Returns the change between two colliders. Returns `None` if they differ by more than their
    /// cells, or if one of them has no cells.
    pub fn between(old: &PlacedCollider<V>, new: &PlacedCollider<V>) -> Option<Self> {
        let (before, after) = (old.compound()?, new.compound()?);
        let (old_cells, new_cells) = (before.cells()?, after.cells()?);
        let is_same = old.world_pose.has_same_bits(&new.world_pose)
            && before.radius().to_bits() == after.radius().to_bits()
            && old_cells.grid().has_same_cells(new_cells.grid());
        is_same.then(|| Self {
            old: old.clone(),
            changed: old_cells.changed_box(new_cells),
        })
    }

    /// Returns the collider before the change.
    pub fn old(&self) -> &PlacedCollider<V> {
        &self.old
    }

    /// Returns `true` if the change may affect the contact with a body in a box. `new` is the
    /// changed collider.
    ///
    /// The shortest way out of a union may lead past distant cells, so it may change for every body
    /// inside, before or after the change. A compound or a surface may be inside although its
    /// center is not.
    pub fn affects(
        &self,
        new: &PlacedCollider<V>,
        body: &PlacedCollider<V>,
        bounds: &Bounds<V::DVec>,
    ) -> bool {
        // With equal poses, the order of the two colliders depends on their whole shapes.
        let is_ordered = body
            .world_pose
            .pose()
            .total_cmp(&new.world_pose.pose())
            .is_ne();
        let (Some(old), Some(cells), Some(inverse)) = (
            self.old.cells(),
            new.cells(),
            new.world_pose.inverse_linear(),
        ) else {
            return true;
        };
        let near = bounds.grown((bounds.max - bounds.min).length() * REACH);
        let local = near.mapped(inverse, -(inverse * new.world_pose.translation));
        let margin = new.compound().map_or(0.0, Support::radius);
        let center = body.center() + (body.world_pose.translation - new.world_pose.translation);
        let local = local.grown(margin);
        let is_near = || {
            self.changed.overlaps(&local)
                && (old.differs(cells, &local) || self.old.element_around(center).is_some())
        };
        body.scaled_shape().is_none()
            || !is_ordered
            || new.element_around(center).is_some()
            || is_near()
    }

    /// Returns the index of a facet after the change, or `None` if the facet no longer exists.
    pub fn renumbered(&self, new: &PlacedCollider<V>, facet: u32) -> Option<u32> {
        let (old, new) = (self.old.cells()?, new.cells()?);
        old.renumbered(new, facet)
    }
}
