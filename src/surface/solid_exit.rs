//! Finds the shortest way out of a union of cells or of joined parts, for a body that is inside the
//! union.
//!
//! A body is inside if its center is inside. A compound of few parts is inside if the center of a
//! part is inside, wherever its own center is. If the center of a convex body is outside, the body
//! overlaps the union only where the body crosses exposed faces. So the other files of this folder
//! find its contacts.
//!
//! These files ignore a face if the compound's own center is behind the face. Suppose that a part
//! of a small compound touches such a face, and that the center of the part is in front of the
//! face. Then the compound also leaves the union as if it were inside.
//!
//! The obstacles are convex pieces of the union, as large as a simple search finds them. A
//! translation clears a piece if it clears a plane that separates the piece and the part. The
//! search tries the planes of the piece's faces, and the plane of the shortest translation out of
//! the piece. If the part and the piece are boxes with the same axes, no other planes are needed.
//! For other parts, a second search also tries planes at the edges of the piece.

use smallvec::SmallVec;

use crate::{
    placed::{BoundingRegion, NearestFacet, Part, SolidPiece},
    query::Contact64,
    shape::{Core, Facet, SolidElement, Support, weld},
    space::{
        DVector, Space,
        shortest_translation::{MAX_LENGTH_PER_DEPTH, PushPlane},
        translation_search::{Node, SameNodes, TranslationSearch},
    },
    surface::{
        facet_contact::{ContactKind, FacetContact, SolverOf, slop},
        limits::{MAX_NODES, MAX_STEPS},
        surface_pair::SurfacePair,
    },
    tolerance::SAME_NORMAL,
};

/// On a union of cells, there is no search if the distance from the deepest center to the nearest
/// exposed face exceeds this multiple of the shortest side of a cell.
const MAX_DEPTH: f64 = 24.0;

/// Maximum number of faces near the parts that the search visits, plus the number of times that the
/// search solves a pair of a piece and a part. This limit bounds the time of the search. The
/// contacts at the end of the way out are computed once, so they do not count.
const MAX_WORK: usize = 1 << 14;

/// Maximum number of translations that the search tries. A round body among shapes with many faces
/// needs more than [`MAX_NODES`].
const MAX_TRANSLATIONS: usize = 4 * MAX_NODES;

/// Maximum number of pieces that the search finds.
const MAX_PIECES: usize = 256;

/// Maximum number of faces of a piece whose planes are tried.
const MAX_FACES: usize = 16;

/// With planes at edges, the search tries translations up to this multiple of the length of the way
/// out without these planes.
const MAX_DETOUR: f64 = 2.0;

/// A way out is shortened again only if this fraction of its length can be saved.
const LEAST_SHORTENING: f64 = 1e-6;

/// A search for the shortest way out.
struct SolidExit<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    parts: SmallVec<[Part<'p, V>; 4]>,
    /// The pieces found so far.
    pieces: Vec<SolidPiece<V>>,
    /// The work that is left: see [`MAX_WORK`].
    work: usize,
}

/// The search has reached [`MAX_PIECES`] or [`MAX_WORK`].
struct Exhausted;

/// The planes that a search for a way out tries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TriedPlanes {
    /// The planes of the faces of a piece, and the plane of the shortest translation out of it.
    Faces,
    /// Also planes at the edges of a piece. A round part may fit into a pocket that it can enter
    /// only past the edges of a piece. The planes of the faces exclude such a pocket.
    FacesAndEdges,
}

/// A piece and a part that overlap after a translation, by their indices.
#[derive(Clone, Copy)]
struct Overlap {
    piece: usize,
    part: usize,
}

impl<V: Space> SurfacePair<'_, V> {
    /// Returns `true` if the surface is a union, and the body is inside.
    pub fn is_inside(&self) -> bool {
        self.inside().is_some()
    }

    /// Returns `Some` if the surface is a union, and the body is inside. The value is `false` if
    /// another member of the ground reports the contacts.
    pub fn inside(&self) -> Option<bool> {
        let mut centers = self.part_centers.iter();
        let element = centers.find_map(|center| self.surface.element_around(*center))?;
        Some(self.surface.owns_element(element))
    }

    /// If the body is inside a union, adds the contacts of the shortest way out to an
    /// empty list. Returns the number of the first contacts, which have different planes. The
    /// contacts after them repeat these planes for other cells.
    pub(super) fn add_solid_exit(
        &self,
        near: &[(u32, u32)],
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) -> usize {
        let hidden = || near.iter().copied().filter(|it| self.touches_hidden(*it));
        let is_inside = self.is_inside();
        if !is_inside && hidden().next().is_none() {
            return 0;
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
            work: MAX_WORK,
        };
        let nearest = exit.nearest_to_deepest();
        let is_deep = nearest.as_ref().is_some_and(|(_, nearest)| {
            let size = self.surface.grid().map(|grid| grid.cell_size().to_f64());
            let sides = (0..V::DVec::DIMENSION).filter_map(|axis| Some(size?.component(axis)));
            nearest.distance > MAX_DEPTH * sides.fold(f64::INFINITY, f64::min)
        });
        if !is_deep && let Some(node) = exit.find() {
            let bounding = node.bounding.iter();
            let mut planes: SmallVec<[(PushPlane<_>, usize); 4]> = bounding.copied().collect();
            planes.extend(plane_across_wedge(&node));
            let found = planes
                .iter()
                .filter_map(|(plane, part)| exit.contact(*part, *plane, node.translation));
            contacts.extend(found);
            let planes = contacts.len();
            exit.add_cells(node.translation, contacts);
            if planes > 0 {
                return planes;
            }
        }
        if is_inside {
            contacts.extend(nearest.and_then(|it| exit.nearest_contact(it)));
        } else {
            // The compound only touches the faces, or the search has reached a limit.
            let touches = hidden().filter_map(|indices| {
                let facet = self.surface.facet(indices.0)?;
                self.contact_along(indices, facet.normal)
            });
            contacts.extend(touches.min_by(|a, b| a.depth().total_cmp(&b.depth())));
        }
        contacts.len()
    }
}

/// If a way out is much longer than the depths of the planes on which it ends, returns the plane at
/// its end that is orthogonal to the translation. In this case, the planes form an acute wedge.
/// Without another plane, `push_out` would shorten the translation to a multiple of the greatest
/// depth.
fn plane_across_wedge<D: DVector>(node: &Node<D, usize>) -> Option<(PushPlane<D>, usize)> {
    let depths = node
        .bounding
        .iter()
        .map(|((_, depth), part)| (*depth, *part));
    let (deepest, part) = depths.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let normal = node.translation.unit()?;
    let is_long = node.length > MAX_LENGTH_PER_DEPTH * deepest;
    is_long.then_some(((normal, node.length), part))
}

/// Returns `true` in 2D, and if each face of a piece is parallel or perpendicular to one of the
/// axes of a rotation.
fn is_prism<V: Space>(piece: &SolidPiece<V>, rotation: <V::DVec as DVector>::Matrix) -> bool {
    let mut axes = (0..V::DVec::DIMENSION).map(|axis| rotation * V::DVec::axis(axis));
    V::DVec::DIMENSION == 2
        || axes.any(|axis| {
            let mut cosines = piece.normals.iter().map(|normal| normal.dot(axis).abs());
            cosines.all(|cosine| cosine <= SAME_NORMAL || cosine >= 1.0 - SAME_NORMAL)
        })
}

impl<'a, V: Space> SolidExit<'_, 'a, V> {
    /// Returns the translation of the surface, to which all points are relative.
    fn origin(&self) -> V::DVec {
        self.pair.surface.world_pose.translation
    }

    /// Finds the shortest translation out of the union. The label of a plane is the index of a
    /// part. Returns `None` if a limit of the search is reached.
    fn find(&mut self) -> Option<Node<V::DVec, usize>> {
        let first = self.way_out(f64::INFINITY, TriedPlanes::Faces)?;
        if self.has_all_planes() {
            return Some(first);
        }
        let other = self.way_out(MAX_DETOUR * first.length, TriedPlanes::FacesAndEdges);
        // Rounding must not replace the plane of a face by planes at its edges.
        let least = first.length - self.tolerance(first.translation);
        let other = other.filter(|other| other.length < least);
        Some(other.unwrap_or(first))
    }

    /// Returns a short translation out of the union, of at most `max_length` before it is
    /// shortened.
    ///
    /// Without planes at edges, the first way out is returned, or one of the same length, up to
    /// rounding, that ends on fewer planes. For example, near a joint of a floor, the way up may be
    /// a little longer than a way past the joint. With planes at edges, ways out that are longer at
    /// first may become shorter, so the search goes on.
    fn way_out(&mut self, max_length: f64, tried: TriedPlanes) -> Option<Node<V::DVec, usize>> {
        let mut search = TranslationSearch::default();
        search.begin(MAX_TRANSLATIONS, max_length, SameNodes::Planes);
        let mut best: Option<Node<V::DVec, usize>> = None;
        while let Some(node) = search.take_shortest() {
            let is_longer = |best: &Node<V::DVec, usize>| {
                node.length > best.length + self.tolerance(best.translation)
            };
            if tried == TriedPlanes::Faces && best.as_ref().is_some_and(is_longer) {
                break;
            }
            let Ok(overlap) = self.overlap_after(node.translation) else {
                break;
            };
            if let Some(overlap) = overlap {
                let Ok(planes) = self.planes(overlap, node.translation, tried) else {
                    break;
                };
                for plane in planes {
                    search.open(&node, plane, overlap.part);
                }
                continue;
            }
            let found = self.shortened(node);
            let is_better = |best: &Node<V::DVec, usize>| {
                let tolerance = match tried {
                    TriedPlanes::Faces => self.tolerance(best.translation),
                    TriedPlanes::FacesAndEdges => 0.0,
                };
                let has_fewer = found.bounding.len() < best.bounding.len();
                let sign = if has_fewer { 1.0 } else { -1.0 };
                found.length < best.length + sign * tolerance
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(found);
            }
        }
        best
    }

    /// Returns `true` if the planes of the pieces suffice to find the shortest way out: the parts
    /// are boxes whose axes are normals of each piece. In 3D, each piece must also be a prism along
    /// one of these axes. Then no plane leads along an edge of the piece and an edge of the box.
    fn has_all_planes(&self) -> bool {
        self.parts.iter().all(|part| {
            let rotation = part.world_pose.pose().rotation;
            let mut axes = (0..V::DVec::DIMENSION).map(|axis| rotation * V::DVec::axis(axis));
            let shape = part.scaled_shape();
            let is_box = shape.radius() == 0.0 && matches!(shape.core(), Core::Box { .. });
            is_box
                && self.pieces.iter().all(|piece| is_prism(piece, rotation))
                && axes.all(|axis| {
                    let mut pieces = self.pieces.iter();
                    pieces.all(|piece| {
                        let mut normals = piece.normals.iter();
                        normals.any(|normal| (*normal - axis).length() <= SAME_NORMAL)
                    })
                })
        })
    }

    /// Returns a way out that is at most as long as `node`.
    ///
    /// After the translation, a plane between each piece and each part separates both. The shortest
    /// translation that clears all these planes leads out, too. If a rounded part passes a corner,
    /// each repetition turns the planes, and shortens the translation.
    fn shortened(&mut self, mut node: Node<V::DVec, usize>) -> Node<V::DVec, usize> {
        for _ in 0..MAX_STEPS {
            let mut shorter = Node::default();
            for piece in 0..self.pieces.len() {
                for part in 0..self.parts.len() {
                    let pair = Overlap { piece, part };
                    let normal = self.separating_normal(pair, node.translation);
                    let plane = normal.ok().flatten();
                    let plane = plane.and_then(|normal| self.plane(pair, normal));
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
        &mut self,
        pair: Overlap,
        translation: V::DVec,
    ) -> Result<Option<V::DVec>, Exhausted> {
        self.solve(pair, translation, |solver| {
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
    fn overlap_after(&mut self, translation: V::DVec) -> Result<Option<Overlap>, Exhausted> {
        for part in 0..self.parts.len() {
            for piece in 0..self.pieces.len() {
                let overlap = Overlap { piece, part };
                if self.is_overlap(overlap, translation)? {
                    return Ok(Some(overlap));
                }
            }
            let Some(body_part) = self.parts.get(part) else {
                continue;
            };
            let center = body_part.center() + body_part.world_pose.translation;
            let center = center - self.origin() + translation;
            let mut elements: SmallVec<[SolidElement; 16]> = SmallVec::new();
            elements.extend(self.pair.surface.element_around(center));
            let facets = self.facets_near(body_part, translation);
            elements.extend(facets.filter_map(|it| self.pair.surface.element_of_facet(it)));
            self.spend(elements.len())?;
            for element in elements {
                if self.pieces.iter().any(|piece| piece.contains(element)) {
                    continue;
                }
                let piece = self.pieces.len();
                if piece == MAX_PIECES {
                    return Err(Exhausted);
                }
                self.pieces.extend(self.pair.surface.piece_around(element));
                let overlap = Overlap { piece, part };
                if self.is_overlap(overlap, translation)? {
                    return Ok(Some(overlap));
                }
            }
        }
        Ok(None)
    }

    /// Reduces the work that is left. Returns an error if less work is left.
    fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.work = self.work.checked_sub(work).ok_or(Exhausted)?;
        Ok(())
    }

    /// Returns the facets whose boxes a part overlaps after a translation.
    fn facets_near(&self, part: &Part<V>, translation: V::DVec) -> impl Iterator<Item = u32> {
        let mut near = Vec::new();
        if let Some(bounds) = part.region.bounds() {
            let region = BoundingRegion::Box(bounds.moved(translation));
            let surface = self.pair.surface;
            surface.parts_near(&region, V::DVec::ZERO, |facet| near.push(facet));
        }
        near.sort_unstable();
        near.into_iter()
    }

    /// Returns `true` if a piece and a part overlap after a translation.
    fn is_overlap(&mut self, overlap: Overlap, translation: V::DVec) -> Result<bool, Exhausted> {
        if self.are_boxes_apart(overlap, translation) {
            return Ok(false);
        }
        let contact = self.contact_after(overlap, translation)?;
        Ok(contact.is_some_and(|it| it.depth > self.tolerance(translation)))
    }

    /// Returns `true` if the boxes around a piece and a part are apart after a translation.
    fn are_boxes_apart(&self, Overlap { piece, part }: Overlap, translation: V::DVec) -> bool {
        let piece = self
            .pieces
            .get(piece)
            .and_then(|it| it.part.region.bounds());
        let part = self.parts.get(part).and_then(|it| it.region.bounds());
        piece
            .zip(part)
            .is_some_and(|(piece, part)| !piece.overlaps(&part.moved(translation)))
    }

    /// Returns the contact of a piece and a part after a translation.
    fn contact_after(
        &mut self,
        pair: Overlap,
        translation: V::DVec,
    ) -> Result<Option<Contact64<V::DVec>>, Exhausted> {
        self.solve(pair, translation, |solver| solver.find_contact())
    }

    /// Calls `visit` with the solver of a piece and a part after a translation.
    fn solve<R>(
        &mut self,
        Overlap { piece, part }: Overlap,
        translation: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>) -> Option<R>,
    ) -> Result<Option<R>, Exhausted> {
        self.spend(1)?;
        let piece = self.pieces.get(piece).map(|piece| &piece.part);
        let parts = piece.zip(self.parts.get(part));
        Ok(parts.and_then(|(piece, part)| self.pair.solve([piece, part], translation, visit)))
    }

    /// Returns the depth that may remain after a translation, because of rounding.
    fn tolerance(&self, translation: V::DVec) -> f64 {
        let center = self.pair.center.unwrap_or(V::DVec::ZERO);
        slop(weld(&[center]), translation)
    }

    /// Returns the planes across which a part can leave a piece. `translation` is a translation
    /// after which both overlap.
    fn planes(
        &mut self,
        overlap: Overlap,
        translation: V::DVec,
        tried: TriedPlanes,
    ) -> Result<SmallVec<[PushPlane<V::DVec>; 8]>, Exhausted> {
        let shortest = self.contact_after(overlap, translation)?;
        let faces = self.first_faces(overlap, translation);
        let mut normals: SmallVec<[V::DVec; 32]> = SmallVec::from_slice(&faces);
        normals.extend(shortest.map(|contact| contact.normal));
        if tried == TriedPlanes::FacesAndEdges {
            for (index, normal) in faces.iter().enumerate() {
                let others = faces.iter().skip(index + 1);
                let beside = others.filter(|other| normal.dot(**other) > -SAME_NORMAL);
                normals.extend(beside.filter_map(|other| (*normal + *other).unit()));
            }
        }
        let planes = normals.into_iter();
        let planes = planes.filter_map(|normal| self.plane(overlap, normal));
        Ok(planes.collect())
    }

    /// Returns the normals of a piece's faces. If there are more than [`MAX_FACES`], returns those
    /// that a part clears first after a translation.
    fn first_faces(&self, overlap: Overlap, translation: V::DVec) -> SmallVec<[V::DVec; 16]> {
        let piece = self.pieces.get(overlap.piece);
        let mut faces: SmallVec<[V::DVec; 16]> = SmallVec::new();
        faces.extend(piece.iter().flat_map(|piece| &piece.normals).copied());
        if faces.len() > MAX_FACES {
            let depth = |normal: &V::DVec| {
                let plane = self.plane(overlap, *normal);
                plane.map_or(f64::INFINITY, |(_, depth)| depth - normal.dot(translation))
            };
            faces.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
            faces.truncate(MAX_FACES);
        }
        faces
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

    /// Adds the contacts with the other cells that have a face in the plane of a contact, if a part
    /// touches the face before or after the translation.
    fn add_cells(&self, translation: V::DVec, contacts: &mut Vec<FacetContact<V::DVec>>) {
        let mut near: Vec<(u32, u32)> = Vec::new();
        for (part, position) in self.parts.iter().zip(0..) {
            for translation in [V::DVec::ZERO, translation] {
                let facets = self.facets_near(part, translation);
                near.extend(facets.map(|facet| (facet, position)));
            }
        }
        near.sort_unstable();
        near.dedup();
        let surface = self.pair.surface;
        let touch = |(index, position): (u32, u32), (normal, _)| {
            let part = self.parts.get(position as usize)?;
            let (facet, on_surface) = (surface.facet(index)?, surface.part(index)?);
            let contact_after = |translation: V::DVec| {
                self.pair.solve([&on_surface, part], translation, |solver| {
                    let (distance, _) = solver.distance()?;
                    let touches = distance <= self.tolerance(translation);
                    touches.then(|| solver.contact_over(normal, true))
                })
            };
            let contact = contact_after(V::DVec::ZERO).or_else(|| {
                let contact = contact_after(translation)?;
                let depth = contact.depth + translation.dot(normal);
                Some(Contact64 { depth, ..contact })
            })?;
            Some(self.facet_contact_of(index, &facet, part, contact))
        };
        self.pair.add_cells_in_planes(&near, contacts, touch);
    }

    /// Returns the facet nearest to the center that is deepest inside, and the position of the part
    /// with this center.
    fn nearest_to_deepest(&self) -> Option<(usize, NearestFacet<V::DVec>)> {
        let surface = self.pair.surface;
        let centers = self.pair.part_centers.iter().enumerate();
        let inside = centers.filter(|(_, center)| surface.element_around(**center).is_some());
        let nearest = inside.filter_map(|(index, it)| Some((index, surface.nearest_facet(*it)?)));
        nearest.max_by(|(_, a), (_, b)| a.distance.total_cmp(&b.distance))
    }

    /// Returns the contact with the exposed face nearest to the center of a part. The push-out
    /// takes the body to the front of this face, which may be another part of the union.
    fn nearest_contact(
        &self,
        (position, nearest): (usize, NearestFacet<V::DVec>),
    ) -> Option<FacetContact<V::DVec>> {
        let part = self.parts.get(position)?;
        let NearestFacet { index, facet, .. } = nearest;
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
        let contact = contact.moved([V::DVec::ZERO, part.world_pose.translation - own]);
        let kind = ContactKind::Nearest;
        FacetContact::new((index, part.index), contact, kind, facet.weld)
    }
}
