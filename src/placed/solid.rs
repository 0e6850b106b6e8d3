//! The inside of a union of cells or of joined parts.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::{
    placed::{Part, Placed, PlacedCollider},
    shape::{
        Bounds, CellGrid, CellPosition, CellSurface, Facet, Piece, Shape, SolidElement, Support,
    },
    space::{DVector, Pose, Space},
};

/// If a body has more parts, or is a surface, its center alone decides whether it is inside.
const MAX_SOLID_PARTS: u32 = 16;

/// A convex piece of a union, in a pose in the world.
pub struct SolidPiece<V: Space> {
    pub part: Part<'static, V>,
    /// The outward unit normals of the faces.
    pub normals: SmallVec<[V::DVec; 7]>,
    elements: PieceElements<V>,
}

/// The elements of a union that a piece contains.
enum PieceElements<V: Space> {
    Cells(Piece<V>),
    Part(u32),
}

impl<V: Space> SolidPiece<V> {
    /// Returns `true` if the piece contains an element of the union.
    pub fn contains(&self, element: SolidElement) -> bool {
        match (&self.elements, element) {
            (PieceElements::Cells(piece), SolidElement::Cell(position)) => piece.contains(position),
            (PieceElements::Part(own), SolidElement::Part(part)) => *own == part,
            _ => false,
        }
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
    pub fn cells(&self) -> Option<&CellSurface<V>> {
        self.compound()?.cells()
    }

    /// Returns the grid if the collider is a union of cells.
    pub fn grid(&self) -> Option<&CellGrid<V>> {
        self.cells().map(CellSurface::grid)
    }

    /// Returns `true` if the collider is a union of cells or of joined parts.
    pub fn is_solid_surface(&self) -> bool {
        self.surface()
            .is_some_and(|(_, surface)| surface.is_solid())
    }

    /// Returns the element of the union that has a facet.
    pub fn element_of_facet(&self, facet: u32) -> Option<SolidElement> {
        self.surface()?.1.element_of_facet(facet)
    }

    /// Returns the cell that has a facet.
    pub fn cell_of_facet(&self, facet: u32) -> Option<CellPosition> {
        Some(self.cells()?.facet(facet)?.cell())
    }

    /// Returns an element of the union that contains a point of the world. The point is relative
    /// to the collider's translation.
    pub fn element_around(&self, offset: V::DVec) -> Option<SolidElement> {
        let (_, surface) = self.surface().filter(|(_, surface)| surface.is_solid())?;
        surface.element_around(self.local(offset)?, true)
    }

    /// Converts a point of the world, relative to the collider's translation, to the frame of the
    /// collider.
    fn local(&self, offset: V::DVec) -> Option<V::DVec> {
        Some(self.world_pose.inverse_linear()? * offset)
    }

    /// Returns a convex piece of the union around an element.
    pub fn piece_around(&self, element: SolidElement) -> Option<SolidPiece<V>> {
        let (compound, surface) = self.surface()?;
        let linear = V::DVec::transpose(self.world_pose.inverse_linear()?);
        let unit = |normal: V::DVec| (linear * normal).unit();
        let place = |pose, shape: &Shape<V>| {
            self.placed_shape(0, pose, Cow::Owned(shape.clone()), compound.radius())
        };
        Some(match element {
            SolidElement::Cell(position) => {
                let piece = surface.grid()?.piece_around(position)?;
                SolidPiece {
                    part: place(&piece.pose, &piece.shape),
                    normals: piece.normals.iter().filter_map(|it| unit(*it)).collect(),
                    elements: PieceElements::Cells(piece),
                }
            }
            SolidElement::Part(part) => {
                let parts = surface.joined_parts()?;
                let (pose, shape) = parts.shapes().get(part as usize)?;
                let faces = parts.faces(part).iter();
                SolidPiece {
                    part: place(pose, shape),
                    normals: faces.filter_map(|face| unit(face.normal)).collect(),
                    elements: PieceElements::Part(part),
                }
            }
        })
    }

    /// Returns the box around all parts of a compound, with their margin, as a single part. Returns
    /// `None` for a convex collider.
    pub fn box_part(&self) -> Option<Part<'static, V>> {
        Some(self.part_in(&self.compound()?.bounds()))
    }

    /// Returns a box in the frame of the collider as a part.
    pub fn part_in(&self, Bounds { min, max }: &Bounds<V::DVec>) -> Part<'static, V> {
        let pose = Pose {
            translation: (*min + *max) * 0.5,
            ..Pose::IDENTITY
        };
        let half_size = V::from_f64((*max - *min) * 0.5);
        let shape = Cow::Owned(Shape::Box { half_size });
        self.placed_shape(0, &pose, shape, 0.0)
    }

    /// Returns the indices of the parts whose centers decide whether the collider is inside a
    /// union. The range is empty if the center of the whole collider decides.
    pub fn solid_parts(&self) -> core::ops::Range<u32> {
        let count = match self.compound() {
            None => 1,
            Some(_) if self.is_surface() => 0,
            Some(compound) => compound.len(),
        };
        0..if count > MAX_SOLID_PARTS { 0 } else { count }
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
}

impl<V: Space> Placed<'_, V> {
    /// If a single shape, which is not part of a collider, has its center inside a union, returns
    /// `Some`. The value is `false` if the center is inside another member of the ground.
    pub fn shape_inside(&self, solid: &Self) -> Option<bool> {
        let (Self::Shape(shape), Self::Collider(solid)) = (self, solid) else {
            return None;
        };
        if !solid.is_solid_surface() || shape.region.bounds().is_none() {
            return None;
        }
        let offset = shape.center() + shape.world_pose.translation;
        let element = solid.element_around(offset - solid.world_pose.translation)?;
        Some(solid.owns_element(element))
    }
}
