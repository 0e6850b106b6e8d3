//! The ledges of a placed union of cells. The faces of one-way cells in a plane with the same outer
//! side form a *ledge*.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::{
    placed::{BoundingRegion, PlacedBody, PlacedCollider},
    shape::{CellSurface, Compound, FacePlane, Support as _},
    space::{DVector, Space},
};

/// A ledge in the world.
#[derive(Clone, Copy)]
pub struct Ledge<D> {
    pub plane: FacePlane,
    /// The unit vector out of the solid side.
    pub up: D,
    /// The height of the plane along `up`, relative to the collider's translation.
    pub height: f64,
    /// An upper bound on the margin around the faces.
    pub margin: f64,
}

/// Ledges in the order of their planes.
type Ledges<D> = SmallVec<[Ledge<D>; 2]>;

impl<V: Space> PlacedCollider<V> {
    /// Returns `true` for a union of cells if any face belongs to a one-way cell.
    pub fn has_ledges(&self) -> bool {
        self.compound().is_some_and(Compound::has_ledges)
    }

    /// Returns the plane of the ledge to which a part belongs.
    pub fn ledge(&self, part: u32) -> Option<FacePlane> {
        self.cells()?.ledge(part)
    }

    /// Returns the collider without its ledges. The box around the collider stays the same.
    pub fn without_ledges(&self) -> Cow<'_, Self> {
        match self.body() {
            PlacedBody::Compound(compound, core) if let Some(solid) = compound.without_ledges() => {
                let body = PlacedBody::Compound(solid, *core);
                Cow::Owned(self.with_body(body))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Returns the ledges that have a face near a region: see [`parts_near`](Self::parts_near).
    pub fn ledges_near(
        &self,
        region: &BoundingRegion<V::DVec>,
        origin: V::DVec,
    ) -> Ledges<V::DVec> {
        let mut ledges = Ledges::new();
        let Some(cells) = self.cells().filter(|_| self.has_ledges()) else {
            return ledges;
        };
        self.parts_near(region, origin, |part| {
            if let Some(plane) = cells.ledge(part)
                && ledges.iter().all(|ledge| ledge.plane != plane)
            {
                ledges.extend(self.placed_ledge(cells, part, plane));
            }
        });
        ledges.sort_unstable_by_key(|ledge| ledge.plane.number());
        ledges
    }

    fn placed_ledge(
        &self,
        cells: &CellSurface<V>,
        part: u32,
        plane: FacePlane,
    ) -> Option<Ledge<V::DVec>> {
        // The normal of a plane is mapped by the transposed inverse.
        let map = V::DVec::transpose(self.world_pose.inverse_linear()?);
        let local = plane.normal::<V::DVec>();
        let up = (map * local).unit()?;
        let [vertex, ..] = cells.facet(part)?.corners();
        let linear = self.world_pose.linear();
        let squared: f64 = V::DVec::columns(linear).map(DVector::length_squared).sum();
        Some(Ledge {
            plane,
            up,
            height: vertex.to_f64().dot(local) / (map * local).length(),
            margin: squared.sqrt() * self.compound()?.radius(),
        })
    }
}
