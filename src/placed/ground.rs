//! Grounds: several colliders, the *members*, that are one solid. When a member changed,
//! `pipeline/sync/grounds.rs` calls [`join_parts`] or [`CellLattice::join`], and then
//! [`PlacedCollider::of_member`] for each member.
//!
//! Each member has the facets of the whole ground, in the pose of the ground. So each member finds
//! the contacts of the whole ground, and keeps the contacts with its own facets. If the center of a
//! body is inside the ground, the member around this center keeps all contacts.
//!
//! Convex members and compounds become a union of parts in the frame of the world. Grids of cells
//! become one grid, whose frame does not depend on the selection of members. So a grid may come or
//! go without a change of the other faces.

use crate::{
    placed::{BoundingRegion, PlacedBody, PlacedCollider},
    shape::{
        Bounds, CellGrid, CellPosition, CellSurface, ColliderShape, Compound, CompoundParts,
        GroundMember, MemberElements, PosedShapes, ShapeError, SolidElement, WorldPose, posed_part,
        weld,
    },
    space::{DVector, Pose, Space},
};

/// The greatest distance of a member's cells from the cells of its ground, as a multiple of the
/// rounding of the member's position to f32.
const MAX_ROUNDINGS: f64 = 8.0;

/// The origin of the cells of a ground is rounded to this fraction of a cell, so that all members
/// have the same origin in spite of rounding.
const ORIGIN_STEP: f64 = 1.0 / (1 << 20) as f64;

/// The greatest coordinate of a cell of a ground.
const MAX_CELL: f64 = 16_383.0;

/// The box of a member exceeds the box of its collider by this multiple of the weld of its corners,
/// so that the box contains each point that counts as inside.
const BOX_WELDS: f64 = 4.0;

/// The reason why a collider is not joined with the other members of its ground.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotJoined {
    #[error("{0}")]
    Shape(#[from] ShapeError),
    #[error("only convex shapes, compounds and cells can be joined, because they are solid")]
    NotSolid,
    #[error("its ground has members that are not from `Collider::cells`")]
    MixedKinds,
    #[error(
        "its cells have another size, rotation, scale, margin or table of shapes than the cells \
         of its ground"
    )]
    OtherCells,
    #[error("its cells are not at the positions of the cells of its ground")]
    OffLattice,
    #[error("it is `OneWay`, or has one-way cells")]
    OneWay,
}

/// Returns the parts of a member that is not a grid, and the margin around the parts.
pub fn parts_of_member<V: Space>(
    own: &PlacedCollider<V>,
) -> Result<(PosedShapes<V>, f32), NotJoined> {
    let convex;
    let (shapes, margin) = match own.body() {
        PlacedBody::Convex(shape) => {
            convex = [(Pose::IDENTITY, shape.clone())];
            (&convex[..], 0.0)
        }
        PlacedBody::Compound(compound, _) => match compound.parts() {
            (CompoundParts::Shapes(shapes), margin) => (&**shapes, margin),
            (CompoundParts::Surface(surface), margin) => {
                let parts = surface.joined_parts().ok_or(NotJoined::NotSolid)?;
                (parts.shapes(), margin)
            }
        },
    };
    let mut common = None;
    let parts = shapes.iter().map(|(pose, shape)| {
        let pose = own.world_pose.of_part(pose);
        let (part, margin) = posed_part(shape, margin, &pose)?;
        let is_common = *common.get_or_insert(margin) == margin;
        is_common.then_some(part).ok_or(ShapeError::PartMargins)
    });
    let parts: PosedShapes<V> = parts.collect::<Result<_, _>>()?;
    let margin = common.unwrap_or(0.0);
    // An invalid part must not make the whole ground invalid.
    Compound::of_parts(parts.clone(), margin)?;
    Ok((parts, margin))
}

/// Returns the union of the parts of all members.
pub fn join_parts<V: Space>(
    parts: PosedShapes<V>,
    margin: f32,
) -> Result<PlacedCollider<V>, NotJoined> {
    let compound = Compound::of_parts(parts, margin)?;
    placed(compound, WorldPose::from_pose(&Pose::IDENTITY))
}

fn placed<V: Space>(
    compound: Compound<V>,
    pose: WorldPose<V::DVec>,
) -> Result<PlacedCollider<V>, NotJoined> {
    let shape = ColliderShape::Compound(compound);
    let placed = PlacedCollider::touching(&shape, pose);
    placed.ok_or(NotJoined::Shape(ShapeError::BeyondF32))
}

/// The cells of a member, and their offset in the grid of the ground.
#[derive(Clone, Copy)]
pub struct MemberCells<'m, V: Space> {
    pub cells: &'m CellSurface<V>,
    pub offset: CellPosition,
}

impl<V: Space> MemberCells<'_, V> {
    /// Returns the box around the faces, in the unit of cells, in the grid of the ground.
    fn range(&self) -> Bounds<V::DVec> {
        let Bounds { min, max } = self.cells.faces().bounds();
        let offset = V::DVec::of(self.offset.map(f64::from));
        let [min, max] = [min, max].map(|corner| self.cells.grid().in_cells(corner) + offset);
        Bounds { min, max }
    }
}

/// The size, the shapes and the pose of the cells of a ground.
pub struct CellLattice<V: Space> {
    /// A grid without cells.
    empty: CellGrid<V>,
    pose: WorldPose<V::DVec>,
    margin: f32,
}

impl<V: Space> CellLattice<V> {
    /// Returns the lattice of the cells of a member, or `None` if the member has no cells, or its
    /// scale flattens them.
    pub fn of(own: &PlacedCollider<V>) -> Option<Self> {
        let (compound, grid) = (own.compound()?, own.grid()?);
        let (size, mut pose) = (grid.cell_size(), own.world_pose);
        let position = grid.in_cells(pose.inverse_linear()? * pose.translation);
        // Between -1/4 and 3/4, so that half a cell, which is common, is not at a limit.
        let below = (position + V::DVec::ONE * 0.25).components();
        let rest = position - V::DVec::of(below.map(f64::floor));
        pose.translation = if rest.extent() <= rounding(position) {
            V::DVec::ZERO
        } else {
            let rest = rounded(rest * (1.0 / ORIGIN_STEP)) * ORIGIN_STEP;
            pose.linear() * rest.scaled(size.to_f64())
        };
        Some(Self {
            empty: grid.emptied(),
            pose,
            margin: compound.parts().1,
        })
    }

    /// Takes the table of shapes of another lattice, if this lattice has none, and differs in
    /// nothing else.
    pub fn take_shapes(&mut self, other: Self) {
        if self.empty.shapes().len() == 0 && self.is_alike(&other) {
            self.empty = other.empty;
        }
    }

    /// Returns `true` if another lattice has the same size, rotation, scale and margin.
    fn is_alike(&self, other: &Self) -> bool {
        let mut pose = other.pose;
        pose.translation = self.pose.translation;
        other.empty.cell_size() == self.empty.cell_size()
            && other.margin == self.margin
            && pose.has_same_bits(&self.pose)
    }

    /// Returns the offset of a member's cells.
    pub fn offset(&self, own: &PlacedCollider<V>) -> Result<CellPosition, NotJoined> {
        let other = Self::of(own).ok_or(NotJoined::OtherCells)?;
        let inverse = self.pose.inverse_linear();
        let (Some(cells), Some(inverse)) = (own.cells(), inverse) else {
            return Err(NotJoined::OtherCells);
        };
        // A member without a table of shapes fits into any other table.
        let has_same_shapes =
            other.empty.shapes().len() == 0 || self.empty.has_same_cells(&other.empty);
        if !self.is_alike(&other) || !has_same_shapes {
            return Err(NotJoined::OtherCells);
        }
        let to_member = own.world_pose.translation - self.pose.translation;
        let position = cells.grid().in_cells(inverse * to_member);
        if (position - rounded(position)).extent() > rounding(position) {
            return Err(NotJoined::OffLattice);
        }
        let offset = rounded(position).components().map(|at| at as i32);
        let Bounds { min, max } = MemberCells { cells, offset }.range();
        let is_in_range = min.extent().max(max.extent()) < f64::INFINITY
            && [min, max].iter().all(|corner| {
                let coordinates = corner.components();
                coordinates.into_iter().all(|at| at.abs() <= MAX_CELL)
            });
        let error = NotJoined::Shape(ShapeError::CellOutOfRange);
        is_in_range.then_some(offset).ok_or(error)
    }

    /// Returns `true` if a ground has this lattice.
    pub fn is_of(&self, ground: &PlacedCollider<V>) -> bool {
        let margin = ground.compound().map(|compound| compound.parts().1);
        ground.world_pose.has_same_bits(&self.pose)
            && ground
                .grid()
                .is_some_and(|it| it.has_same_cells(&self.empty))
            && margin == Some(self.margin)
    }

    /// Returns the union of the cells of `members`. `old` is a ground with this lattice, of which
    /// some members changed: each of the `changes` has the cells of a member before and after.
    /// Finds only the faces near changed cells again.
    pub fn join<'m>(
        &self,
        old: Option<&PlacedCollider<V>>,
        changes: &[[Option<MemberCells<'m, V>>; 2]],
        members: &[MemberCells<'m, V>],
    ) -> Result<PlacedCollider<V>, NotJoined> {
        let old = old.and_then(PlacedCollider::cells);
        let mut grid = old.map_or_else(|| self.empty.clone(), |it| it.grid().clone());
        let all: Vec<_> = members.iter().map(|it| (it.range(), it)).collect();
        for change in changes {
            let ranges = change.iter().flatten().map(MemberCells::range);
            let range = Bounds::of_points(ranges.flat_map(|it| [it.min, it.max])).grown(1.0);
            let near = all.iter().filter(|it| it.0.overlaps(&range));
            let near: Vec<_> = near.map(|(_, it)| (it.cells.grid(), it.offset)).collect();
            let [before, after] = change.map(|cells| cells.map(|it| (it.cells.grid(), it.offset)));
            let before = before.filter(|_| old.is_some());
            grid.replace_cells(before, after, &near);
        }
        let cells = match old {
            Some(old) => {
                let blocks = old.changed_blocks(&grid)?;
                old.shared().changed(&grid, &blocks)
            }
            None => CellSurface::new(&grid)?,
        };
        let cells = cells.ok_or(ShapeError::NoParts)?;
        placed(Compound::of_cells(cells, self.margin)?, self.pose)
    }
}

/// Returns the nearest position of a cell.
fn rounded<D: DVector>(position: D) -> D {
    D::of(position.components().map(f64::round))
}

/// Returns the greatest error of a position in the unit of cells.
fn rounding<D: DVector>(position: D) -> f64 {
    MAX_ROUNDINGS * f64::from(f32::EPSILON) * (position.extent() + 1.0)
}

impl<V: Space> PlacedCollider<V> {
    /// Returns a member of a ground. `own` is the collider by itself.
    pub fn of_member(ground: &Self, own: &Self, elements: MemberElements) -> Option<Self> {
        let compound = ground.compound()?.of_member(GroundMember {
            elements,
            pose: own.world_pose,
            compound: own.compound().cloned(),
        });
        let Bounds { min, max } = *own.region().ok()?.bounds()?;
        let bounds = Bounds { min, max }.grown(BOX_WELDS * weld(&[min, max]));
        let origin = ground.world_pose.translation;
        let core = [bounds.min - origin, bounds.max - origin];
        Some(ground.with_body(PlacedBody::Compound(compound, core)))
    }

    /// Returns the member of a ground that this collider is.
    #[inline]
    pub fn member(&self) -> Option<&GroundMember<V>> {
        self.compound()?.member()
    }

    /// Returns `true` if both colliders are members of the same ground.
    pub fn has_same_ground(&self, other: &Self) -> bool {
        let compounds = self.compound().zip(other.compound());
        compounds.is_some_and(|(own, other)| own.has_same_ground(other))
    }

    /// Returns `false` if a part belongs to another member of the ground.
    #[inline]
    pub fn owns(&self, part: u32) -> bool {
        self.compound().is_none_or(|compound| compound.owns(part))
    }

    /// Returns `false` if an element belongs to another member of the ground.
    pub fn owns_element(&self, element: SolidElement) -> bool {
        let compound = self.compound();
        compound.is_none_or(|compound| compound.owns_element(element))
    }

    /// Returns the pose of the entity. The pose of a member is the pose of its ground.
    pub fn own_pose(&self) -> &WorldPose<V::DVec> {
        self.member()
            .map_or(&self.world_pose, |member| &member.pose)
    }

    /// Returns the cells of the collider by itself.
    pub fn own_cells(&self) -> Option<&CellSurface<V>> {
        match self.member() {
            Some(member) => member.compound.as_ref()?.cells(),
            None => self.cells(),
        }
    }

    /// Returns the index of a part in the collider by itself. If the part belongs to another
    /// member, returns the nearest facet, or any part of a compound.
    pub fn own_part(&self, part: u32) -> u32 {
        let Some(member) = self.member() else {
            return part;
        };
        let Some(compound) = &member.compound else {
            return 0;
        };
        let nearest = || {
            let middle = V::DVec::mean(&self.facet_vertices(part)?);
            let origin = self.world_pose.translation - member.pose.translation;
            let offset = self.world_pose.linear() * middle + origin;
            compound.nearest_facet(member.pose.inverse_linear()? * offset)
        };
        match (&member.elements, self.element_of_facet(part)) {
            (MemberElements::Parts(range), Some(SolidElement::Part(part)))
                if compound.surface().is_none() =>
            {
                part.saturating_sub(range.start).min(compound.len() - 1)
            }
            _ => nearest().unwrap_or(0),
        }
    }

    /// Returns a region of the world that contains the whole ground, if the collider is a member.
    pub fn ground_region(&self) -> Option<BoundingRegion<V::DVec>> {
        self.member()?;
        let (linear, translation) = (self.world_pose.linear(), self.world_pose.translation);
        let bounds = self.compound()?.bounds();
        Some(BoundingRegion::Box(bounds.mapped(linear, translation)))
    }
}
