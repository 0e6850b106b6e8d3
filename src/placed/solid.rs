//! The inside of a union of cells.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::{
    placed::{BoundingRegion, Part, Placed, PlacedCollider, PlacedShape},
    shape::{
        Bounds, CellGrid, CellPosition, CellSurface, CompoundParts, Facet, Piece, ScaledShape,
        Shape, ShapeInfo, Support,
    },
    space::{DVector, Pose, Space},
};

/// A point counts as inside the union if its distance to the union is at most this fraction of the
/// coordinates. Rounding the vertices to `f32` moves a face by less than this distance. So no point
/// is between a face and the inside.
const ROUNDING: f64 = f32::EPSILON as f64;

/// If a body has more parts, or is a surface, its center alone decides whether it is inside.
const MAX_SOLID_PARTS: u32 = 16;

/// A convex piece of a union of cells, in a pose in the world.
pub struct SolidPiece<V: Space> {
    pub part: Part<'static, V>,
    /// The outward unit normals of the faces.
    pub normals: SmallVec<[V::DVec; 7]>,
    piece: Piece<V>,
}

impl<V: Space> SolidPiece<V> {
    /// Returns `true` if the piece contains a cell.
    pub fn contains(&self, position: CellPosition) -> bool {
        self.piece.contains(position)
    }
}

/// The facet nearest to a point in the frame of the surface.
pub struct NearestFacet<D: DVector> {
    pub index: u32,
    /// The distance in the frame of the surface.
    pub distance: f64,
    /// The facet in the world.
    pub facet: Facet<D>,
}

impl<V: Space> PlacedCollider<V> {
    /// Returns the cells if the collider is a union of cells.
    pub(super) fn cells(&self) -> Option<&CellSurface<V>> {
        self.compound()?.cells()
    }

    /// Returns the grid if the collider is a union of cells.
    pub fn grid(&self) -> Option<&CellGrid<V>> {
        self.cells().map(CellSurface::grid)
    }

    /// Returns the cell that has a facet.
    pub fn cell_of_facet(&self, facet: u32) -> Option<CellPosition> {
        Some(self.cells()?.facet(facet)?.cell())
    }

    /// Returns the cell that contains a point of the world. The point is relative to the
    /// collider's translation.
    pub fn cell_around(&self, offset: V::DVec) -> Option<CellPosition> {
        let grid = self.grid()?;
        let local = self.local(offset)?;
        let in_cells = grid.in_cells(local).copysign(V::DVec::ONE) + V::DVec::ONE;
        grid.cell_around(local, in_cells * ROUNDING)
    }

    /// Converts a point of the world, relative to the collider's translation, to the frame of the
    /// collider.
    fn local(&self, offset: V::DVec) -> Option<V::DVec> {
        Some(self.world_pose.inverse_linear()? * offset)
    }

    /// Returns a convex piece of the union around a cell.
    pub fn piece_around(&self, position: CellPosition) -> Option<SolidPiece<V>> {
        let piece = self.grid()?.piece_around(position)?;
        let linear = V::DVec::transpose(self.world_pose.inverse_linear()?);
        let normals = piece.normals.iter();
        Some(SolidPiece {
            part: self.placed_shape(&piece.pose, piece.shape.clone(), self.compound()?.radius()),
            normals: normals.filter_map(|it| (linear * *it).unit()).collect(),
            piece,
        })
    }

    /// Returns the box around all parts of a compound, with their margin, as a single part. Returns
    /// `None` for a convex collider.
    pub fn box_part(&self) -> Option<Part<'static, V>> {
        let Bounds { min, max } = self.compound()?.bounds();
        let pose = Pose {
            translation: (min + max) * 0.5,
            ..Pose::IDENTITY
        };
        let half_size = V::from_f64((max - min) * 0.5);
        Some(self.placed_shape(&pose, Shape::Box { half_size }, 0.0))
    }

    /// Places a shape, with a margin around it, as if it were a part of this compound.
    fn placed_shape(&self, pose: &Pose<V::DVec>, shape: Shape<V>, margin: f64) -> Part<'static, V> {
        let world_pose = self.world_pose.of_part(pose);
        let info = ShapeInfo::of(&shape).with_margin(margin);
        let scaled = ScaledShape::new(&shape, &info, world_pose.scale());
        PlacedShape {
            index: 0,
            region: BoundingRegion::Box(Bounds::around(&scaled, &world_pose.pose())),
            world_pose,
            shape: Cow::Owned(shape),
            info,
        }
    }

    /// Returns the indices of the parts whose centers decide whether the collider is inside a
    /// union. The range is empty if the center of the whole collider decides.
    pub fn solid_parts(&self) -> core::ops::Range<u32> {
        match self.compound() {
            None => 0..1,
            Some(compound) => match compound.parts() {
                (CompoundParts::Shapes(_), _) if compound.len() <= MAX_SOLID_PARTS => {
                    0..compound.len()
                }
                _ => 0..0,
            },
        }
    }

    /// Returns the facet that is nearest to a point of the world. The point is relative to the
    /// collider's translation.
    pub fn nearest_facet(&self, offset: V::DVec) -> Option<NearestFacet<V::DVec>> {
        let (compound, surface) = self.surface()?;
        let local = self.local(offset)?;
        let index = compound.nearest_facet(local)?;
        let in_frame = Facet::new(surface.facet_vertices(index)?, false)?;
        Some(NearestFacet {
            index,
            distance: in_frame.distance(local),
            facet: self.facet(index)?,
        })
    }
}

impl<V: Space> Part<'_, V> {
    /// Returns the center of the part, relative to the translation of its pose.
    pub fn center(&self) -> V::DVec {
        self.world_pose.linear() * self.shape.center()
    }

    /// Returns the greatest component of the part's points along a unit vector, relative to an
    /// origin.
    pub fn height(&self, direction: V::DVec, origin: V::DVec) -> f64 {
        let (shape, pose) = (self.scaled_shape(), self.world_pose.pose());
        let highest = shape.lowest(pose.rotation, -direction);
        (pose.translation - origin + highest).dot(direction) + shape.radius()
    }
}

impl<V: Space> Placed<'_, V> {
    /// Returns `true` if a single shape, which is not part of a collider, has its center inside a
    /// union of cells.
    pub fn is_shape_inside(&self, solid: &Self) -> bool {
        let (Self::Shape(shape), Self::Collider(solid)) = (self, solid) else {
            return false;
        };
        if solid.grid().is_none() || shape.region.bounds().is_none() {
            return false;
        }
        let offset = shape.center() + shape.world_pose.translation;
        solid
            .cell_around(offset - solid.world_pose.translation)
            .is_some()
    }
}
