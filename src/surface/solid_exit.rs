//! Finds the shortest way out of a union of cells, for a body that is inside the union.
//!
//! A body is inside if its center is inside. A compound of few parts is inside if the center of a
//! part is inside, wherever its own center is. A convex body whose center is outside overlaps the
//! union only where it crosses exposed faces, so the other files of this folder find its contacts.
//! This does not hold for a compound whose own center is inside, but no center of a part: the other
//! files ignore each face that has the compound's center behind it. Such a compound may have no
//! contact.
//!
//! The obstacles are convex pieces of the union, as large as a simple search finds them. A
//! translation clears a piece if it clears a plane that separates the piece and the part. The
//! search tries the planes of the piece's faces, and the plane of the shortest translation out of
//! the piece. If the part and the piece are boxes with the same axes, no other planes are needed.

use smallvec::SmallVec;

use crate::{
    placed::{BoundingRegion, Part, SolidPiece},
    query::Contact64,
    shape::{Bounds, CellPosition, Facet, weld},
    space::{
        DVector, Space,
        shortest_translation::PushPlane,
        translation_search::{Node, SameNodes, TranslationSearch},
    },
    surface::{
        facet_contact::{ContactKind, FacetContact, slop},
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// Maximum number of translations that the search tries.
const MAX_NODES: usize = 128;

/// The search is left out if the distance from the center to the nearest exposed face, in cells, is
/// greater than this number.
const MAX_DEPTH: f64 = 24.0;

/// Maximum number of pieces that the search finds.
const MAX_PIECES: usize = 256;

/// Maximum number of times that a way out is shortened.
const MAX_SHORTENINGS: usize = 8;

/// A way out is shortened again only if this fraction of its length can be saved.
const LEAST_SHORTENING: f64 = 1e-6;

/// A search for the shortest way out.
struct SolidExit<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    parts: SmallVec<[Part<'p, V>; 4]>,
    /// The pieces found so far.
    pieces: Vec<SolidPiece<V>>,
}

/// The search has found [`MAX_PIECES`] pieces.
struct TooManyPieces;

/// A piece and a part that overlap after a translation, by their indices.
#[derive(Clone, Copy)]
struct Overlap {
    piece: usize,
    part: usize,
}

impl<V: Space> SurfacePair<'_, V> {
    /// Returns `true` if the surface is a union of cells, and the body is inside.
    pub fn is_inside(&self) -> bool {
        let (Some(center), Some(_)) = (self.center, self.surface.grid()) else {
            return false;
        };
        let origin = self.surface.world_pose.translation;
        let indices = self.body.solid_parts();
        if indices.len() <= 1 {
            return self.surface.cell_around(center).is_some();
        }
        let mut parts = indices.filter_map(|index| self.body.part(index));
        parts.any(|part| {
            let center = part.center() + part.world_pose.translation - origin;
            self.surface.cell_around(center).is_some()
        })
    }

    /// If the body is inside a union of cells, adds the contacts of the shortest way out to an
    /// empty list.
    pub(super) fn add_solid_exit(&self, contacts: &mut Vec<FacetContact<V::DVec>>) {
        if !self.is_inside() {
            return;
        }
        let indices = self.body.solid_parts();
        let mut parts: SmallVec<_> = indices.filter_map(|it| self.body.part(it)).collect();
        if parts.is_empty() {
            parts.extend(self.body.box_part());
        }
        let mut exit = SolidExit {
            pair: self,
            parts,
            pieces: Vec::new(),
        };
        let depth = self.center.and_then(|it| self.surface.depth_in_cells(it));
        let is_deep = depth.is_some_and(|depth| depth > MAX_DEPTH);
        if !is_deep && let Some(node) = exit.find() {
            let planes = node.bounding.iter();
            let found =
                planes.filter_map(|(plane, part)| exit.contact(*part, *plane, node.translation));
            contacts.extend(found);
        }
        if contacts.is_empty() {
            contacts.extend(exit.nearest_contact());
        }
    }
}

impl<'a, V: Space> SolidExit<'_, 'a, V> {
    /// The translation of the surface, to which all points are relative.
    fn origin(&self) -> V::DVec {
        self.pair.surface.world_pose.translation
    }

    /// Finds the shortest translation out of the union. The label of a plane is the index of a
    /// part. Returns `None` if a limit of the search is reached.
    fn find(&mut self) -> Option<Node<V::DVec, usize>> {
        let mut search = TranslationSearch::default();
        search.begin(MAX_NODES, f64::INFINITY, SameNodes::Planes);
        while let Some(node) = search.take_shortest() {
            let Some(overlap) = self.overlap_after(node.translation).ok()? else {
                return Some(self.shortened(node));
            };
            for plane in self.planes(overlap, node.translation) {
                search.open(&node, plane, overlap.part);
            }
        }
        None
    }

    /// Returns a way out that is at most as long as `node`.
    ///
    /// After the translation, a plane between each piece and each part separates both. The shortest
    /// translation that clears all these planes leads out, too. If a rounded part passes a corner,
    /// each repetition turns the planes, and shortens the translation.
    fn shortened(&mut self, mut node: Node<V::DVec, usize>) -> Node<V::DVec, usize> {
        for _ in 0..MAX_SHORTENINGS {
            let mut shorter = Node::default();
            for piece in 0..self.pieces.len() {
                for part in 0..self.parts.len() {
                    let pair = Overlap { piece, part };
                    let normal = self.separating_normal(pair, node.translation);
                    let plane = normal.and_then(|normal| self.plane(pair, normal));
                    let next = plane.and_then(|plane| shorter.with(plane, part, node.length));
                    let Some(next) = next else {
                        return node;
                    };
                    shorter = next;
                }
            }
            let is_shorter = shorter.length < node.length * (1.0 - LEAST_SHORTENING);
            if !is_shorter || !matches!(self.overlap_after(shorter.translation), Ok(None)) {
                return node;
            }
            node = shorter;
        }
        node
    }

    /// Returns the normal from a piece to a part after a translation.
    fn separating_normal(
        &self,
        Overlap { piece, part }: Overlap,
        translation: V::DVec,
    ) -> Option<V::DVec> {
        let parts = [&self.pieces.get(piece)?.part, self.parts.get(part)?];
        self.pair.solve(parts, translation, |solver| {
            let (distance, nearest) = solver.distance()?;
            let touch = if distance > 0.0 {
                nearest
            } else {
                solver.find_contact()?
            };
            Some(touch.normal)
        })
    }

    /// Returns the plane with this normal that separates a piece and a part.
    fn plane(
        &self,
        Overlap { piece, part }: Overlap,
        normal: V::DVec,
    ) -> Option<PushPlane<V::DVec>> {
        let (piece, part) = (self.pieces.get(piece)?, self.parts.get(part)?);
        let origin = self.origin();
        let depth = piece.part.height(normal, origin) + part.height(-normal, origin);
        Some((normal, depth))
    }

    /// Returns a piece and a part that overlap after a translation.
    fn overlap_after(&mut self, translation: V::DVec) -> Result<Option<Overlap>, TooManyPieces> {
        for part in 0..self.parts.len() {
            let mut known = (0..self.pieces.len()).map(|piece| Overlap { piece, part });
            let overlap = known.find(|it| self.is_overlap(*it, translation));
            if overlap.is_some() {
                return Ok(overlap);
            }
            let Some(body_part) = self.parts.get(part) else {
                continue;
            };
            let center = body_part.center() + body_part.world_pose.translation;
            let center = center - self.origin() + translation;
            let mut cells: SmallVec<[CellPosition; 16]> = SmallVec::new();
            cells.extend(self.pair.surface.cell_around(center));
            let facets = self.facets_near(body_part, translation);
            cells.extend(facets.filter_map(|it| self.pair.surface.cell_of_facet(it)));
            for cell in cells {
                if self.pieces.iter().any(|piece| piece.contains(cell)) {
                    continue;
                }
                let piece = self.pieces.len();
                if piece == MAX_PIECES {
                    return Err(TooManyPieces);
                }
                self.pieces.extend(self.pair.surface.piece_around(cell));
                let overlap = Overlap { piece, part };
                if self.is_overlap(overlap, translation) {
                    return Ok(Some(overlap));
                }
            }
        }
        Ok(None)
    }

    /// Returns the facets whose boxes a part overlaps after a translation.
    fn facets_near(&self, part: &Part<V>, translation: V::DVec) -> impl Iterator<Item = u32> {
        let mut near = Vec::new();
        if let Some(bounds) = part.region.bounds() {
            let [min, max] = [bounds.min, bounds.max].map(|it| it + translation);
            let region = BoundingRegion::Box(Bounds { min, max });
            let surface = self.pair.surface;
            surface.parts_near(&region, V::DVec::ZERO, |facet| near.push(facet));
        }
        near.sort_unstable();
        near.into_iter()
    }

    /// Returns `true` if a piece and a part overlap after a translation.
    fn is_overlap(&self, overlap: Overlap, translation: V::DVec) -> bool {
        let contact = self.contact_after(overlap, translation);
        contact.is_some_and(|it| it.depth > self.tolerance(translation))
    }

    /// Returns the contact of a piece and a part after a translation.
    fn contact_after(
        &self,
        Overlap { piece, part }: Overlap,
        translation: V::DVec,
    ) -> Option<Contact64<V::DVec>> {
        let parts = [&self.pieces.get(piece)?.part, self.parts.get(part)?];
        self.pair
            .solve(parts, translation, |solver| solver.find_contact())
    }

    /// Returns the depth that may remain after a translation, because of rounding.
    fn tolerance(&self, translation: V::DVec) -> f64 {
        let center = self.pair.center.unwrap_or(V::DVec::ZERO);
        slop(weld(&[center]), translation)
    }

    /// Returns the planes across which a part can leave a piece. `translation` is a translation
    /// after which both overlap.
    fn planes(&self, overlap: Overlap, translation: V::DVec) -> SmallVec<[PushPlane<V::DVec>; 8]> {
        let shortest = self.contact_after(overlap, translation);
        let piece = self.pieces.get(overlap.piece);
        let normals = piece.into_iter().flat_map(|piece| &piece.normals).copied();
        let normals = normals.chain(shortest.map(|contact| contact.normal));
        normals
            .filter_map(|normal| self.plane(overlap, normal))
            .collect()
    }

    /// Returns the contact of a part for a plane on which a translation ends. The contact is with
    /// an exposed face that the part touches after the translation, if possible with a face in this
    /// plane.
    fn contact(
        &self,
        part: usize,
        (normal, depth): PushPlane<V::DVec>,
        translation: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let body_part = self.parts.get(part)?;
        let mut best = None;
        let mut best_rank = (true, f64::INFINITY);
        for index in self.facets_near(body_part, translation) {
            let (Some(facet), Some(on_surface)) = (
                self.pair.surface.facet(index),
                self.pair.surface.part(index),
            ) else {
                continue;
            };
            let touch = self
                .pair
                .solve([&on_surface, body_part], translation, |solver| {
                    solver.distance()
                });
            let Some((distance, touch)) = touch else {
                continue;
            };
            let is_other = (facet.normal - normal).length() > SAME_NORMAL;
            let rank = (is_other, distance.max(0.0));
            if best.is_some() && best_rank <= rank {
                continue;
            }
            let contact = Contact64 {
                normal,
                depth,
                ..touch
            };
            best_rank = rank;
            best = Some(self.facet_contact_of(index, &facet, body_part, contact));
        }
        best
    }

    /// Returns the contact with the exposed face nearest to the body's center. The push-out takes
    /// the body to the front of this face, which may be another part of the union.
    fn nearest_contact(&self) -> Option<FacetContact<V::DVec>> {
        let part = self.parts.first()?;
        let (index, facet) = self.pair.surface.nearest_facet(self.pair.center?)?;
        let normal = facet.normal;
        let height = |part: &Part<V>| part.height(-normal, self.origin());
        let lowest = self.parts.iter().map(height).fold(f64::MIN, f64::max);
        let depth = (facet.top(normal) + lowest).max(0.0);
        let center = part.center() + part.world_pose.translation - self.origin();
        let foot = center - normal * facet.height(center);
        let contact = Contact64 {
            normal,
            depth,
            offset_a: foot,
            offset_b: foot - normal * depth + self.origin() - part.world_pose.translation,
        };
        Some(self.facet_contact_of(index, &facet, part, contact))
    }

    /// Returns the contact of a facet and a part of the body. The points of `contact` are relative
    /// to the translations of the facet and of `part`.
    fn facet_contact_of(
        &self,
        index: u32,
        facet: &Facet<V::DVec>,
        part: &Part<V>,
        contact: Contact64<V::DVec>,
    ) -> FacetContact<V::DVec> {
        // The box around a body that is a surface has another translation than the first facet.
        let own = self.pair.body.part(part.index);
        let own = own.map_or(part.world_pose.translation, |it| it.world_pose.translation);
        FacetContact {
            indices: (index, part.index),
            normal: contact.normal,
            contact: contact.moved([V::DVec::ZERO, part.world_pose.translation - own]),
            kind: ContactKind::Nearest,
            weld: facet.weld,
        }
    }
}
