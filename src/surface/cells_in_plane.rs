//! Adds contacts with all cells that a body touches in the plane of a contact.
//!
//! The search for a push-out finds one contact for each plane on which the push-out ends. On a
//! union of cells, several cells may have a face in this plane, for example a floor and spikes of
//! the same height. Each of these cells gets a contact, so that a game can find all touched cells.
//! The search may also find a plane at the edge of a face that only ends there. If the body touches
//! faces in this plane, only these faces have contacts.
//!
//! `mod.rs` calls [`SurfacePair::add_cells_in_planes`] after the search, and `solid_exit.rs` for a
//! body inside the union.

use smallvec::SmallVec;

use crate::{
    shape::SolidElement,
    space::{DVector, Space, shortest_translation::PushPlane},
    surface::{facet_contact::FacetContact, surface_pair::SurfacePair},
    tolerance::SAME_NORMAL,
};

/// The plane of one or more contacts.
struct ContactPlane<D> {
    /// The plane that the first contact clears.
    plane: PushPlane<D>,
    /// The greatest component of the points of this contact's facet along the normal.
    top: f64,
    /// The `weld` of this facet.
    weld: f64,
    /// The position of a contact whose facet only ends in the plane.
    edge: Option<usize>,
}

impl<V: Space> SurfacePair<'_, V> {
    /// If the surface is a union of cells, adds the contacts with the other cells that have a face
    /// in the plane of a contact. `near` lists the pairs of facets and parts that may touch. If a
    /// pair touches, `touch` returns its contact for a plane.
    ///
    /// An added contact is at most as deep as the first contact with the same plane. So the
    /// shortest translation that clears all contacts stays the same.
    pub(super) fn add_cells_in_planes(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
        touch: impl Fn((u32, u32), PushPlane<V::DVec>) -> Option<FacetContact<V::DVec>>,
    ) {
        if !self.surface.is_solid_surface() {
            return;
        }
        let mut planes: SmallVec<[ContactPlane<V::DVec>; 4]> = SmallVec::new();
        let mut known: SmallVec<[(usize, SolidElement); 8]> = SmallVec::new();
        for (position, contact) in contacts.iter().enumerate() {
            let (index, normal) = (contact.indices.0, contact.normal());
            let (facet, cell) = (self.facet(index), self.surface.element_of_facet(index));
            let (Some(facet), Some(cell)) = (facet, cell) else {
                continue;
            };
            let (top, weld) = (facet.top(normal), facet.weld);
            let same = planes.iter().position(|other| {
                (other.plane.0 - normal).length() <= SAME_NORMAL && (other.top - top).abs() <= weld
            });
            let number = same.unwrap_or(planes.len());
            if same.is_none() {
                let (plane, edge) = (contact.plane(), None);
                planes.push(ContactPlane {
                    plane,
                    top,
                    weld,
                    edge,
                });
            }
            if facet.has_normal(normal) {
                known.push((number, cell));
            } else if let Some(plane) = planes.get_mut(number) {
                plane.edge = Some(position);
            }
        }
        known.sort_unstable();
        for (number, level) in planes.iter_mut().enumerate() {
            let ContactPlane {
                plane, top, weld, ..
            } = *level;
            let mut found: SmallVec<[(SolidElement, (u32, u32)); 16]> = SmallVec::new();
            found.extend(near.iter().filter_map(|indices| {
                let facet = self.facet(indices.0)?;
                let is_level = (facet.normal - plane.0).length() <= SAME_NORMAL
                    && (facet.top(plane.0) - top).abs() <= weld;
                let cell = is_level.then(|| self.surface.element_of_facet(indices.0))??;
                let is_new = known.binary_search(&(number, cell)).is_err();
                is_new.then_some((cell, *indices))
            }));
            found.sort_unstable();
            for of_cell in found.chunk_by(|a, b| a.0 == b.0) {
                let mut touches = of_cell.iter();
                let touch = touches.find_map(|(_, indices)| touch(*indices, plane));
                let Some(mut contact) = touch else {
                    continue;
                };
                let edge = level.edge.take().and_then(|it| contacts.get_mut(it));
                if let Some(edge) = edge {
                    contact.contact.depth = plane.1;
                    *edge = contact;
                } else {
                    contact.contact.depth = contact.depth().min(plane.1);
                    contacts.push(contact);
                }
            }
        }
    }
}
