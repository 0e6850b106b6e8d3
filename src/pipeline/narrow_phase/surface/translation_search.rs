//! Translations that clear planes, and the best-first search among them.

use arrayvec::ArrayVec;

use crate::{
    buffer::Buffer,
    pipeline::narrow_phase::surface::facet_contact::{FacetContact, SAME_DEPTH},
    space::{
        DVector,
        shortest_translation::{BoundingPlanes, Onto, translations_onto},
    },
};

/// Maximum number of candidates that one translation combines.
pub const MAX_PLANES: usize = 4;

/// Maximum number of nodes of a search that are open at once.
const MAX_OPEN: usize = 256;

/// The shortest translation that clears the planes added so far.
///
/// Only the planes that bound the translation are kept. Adding a plane that is not cleared makes
/// the translation longer. So if planes are added until all are cleared, the result is the shortest
/// translation that clears all of them. (This is a problem of LP type: Sharir and Welzl, "A
/// combinatorial bound for linear programming and related problems" (1992).)
pub struct ShortestTranslation<D> {
    bounding: BoundingPlanes<D>,
    pub vector: D,
    /// `true` if there are planes, and the translation clears all of them.
    pub is_feasible: bool,
}

impl<D: DVector> Default for ShortestTranslation<D> {
    fn default() -> Self {
        Self {
            bounding: BoundingPlanes::new(),
            vector: D::ZERO,
            is_feasible: false,
        }
    }
}

impl<D: DVector> ShortestTranslation<D> {
    /// Adds a plane. If no translation clears this plane and the previous ones, `is_feasible`
    /// becomes `false`, and further planes have no effect.
    pub fn add(&mut self, normal: D, depth: f64) {
        let is_first = self.bounding.is_empty();
        let is_clear = self.vector.dot(normal) >= depth * (1.0 - SAME_DEPTH);
        if !is_first && (is_clear || !self.is_feasible) {
            return;
        }
        let added = (normal, depth);
        let clears_all = |translation: &D| {
            let tolerance = SAME_DEPTH * translation.length();
            let mut planes = self.bounding.iter().chain([&added]);
            planes.all(|(normal, depth)| translation.dot(*normal) >= depth - tolerance)
        };
        let shortest = translations_onto(added, &self.bounding)
            .filter(|onto| clears_all(&onto.translation))
            .min_by(|a, b| {
                let length = |it: &Onto<D>| it.translation.length();
                length(a).total_cmp(&length(b))
            });
        self.is_feasible = shortest.is_some();
        match shortest {
            Some(shortest) => {
                (self.vector, self.bounding) = (shortest.translation, shortest.planes)
            }
            None => self.bounding.push(added),
        }
    }
}

/// A translation that clears some candidates: a node of the search.
#[derive(Clone, Debug)]
pub struct Node<D> {
    /// The indices of the candidates.
    pub planes: ArrayVec<usize, MAX_PLANES>,
    pub translation: D,
    pub length: f64,
}

impl<D: DVector> Default for Node<D> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            translation: D::ZERO,
            length: 0.0,
        }
    }
}

impl<D: DVector> Node<D> {
    /// Returns the shortest translation that clears one more candidate, or `None` if there is none.
    pub fn with(&self, candidate: usize, candidates: &[FacetContact<D>]) -> Option<Self> {
        let mut planes = self.planes.clone();
        planes.push(candidate);
        let mut shortest = ShortestTranslation::default();
        for contact in planes.iter().filter_map(|index| candidates.get(*index)) {
            shortest.add(contact.normal, contact.depth());
        }
        shortest.is_feasible.then(|| Self {
            planes,
            translation: shortest.vector,
            length: shortest.vector.length(),
        })
    }

    /// Removes the shortest of the open nodes.
    pub fn take_shortest(open: &mut Buffer<Self>) -> Option<Self> {
        let lengths = open.iter().map(|node| node.length).enumerate();
        let (shortest, _) = lengths.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(open.swap_remove(shortest))
    }

    /// Opens the node that clears one more candidate, if it is shorter than `limit` and no open
    /// node has the same translation.
    pub fn expand(
        &self,
        candidate: usize,
        candidates: &[FacetContact<D>],
        limit: f64,
        open: &mut Buffer<Self>,
    ) {
        if self.planes.is_full() || open.len() >= MAX_OPEN {
            return;
        }
        let next = self.with(candidate, candidates);
        let Some(next) = next.filter(|next| next.length < limit) else {
            return;
        };
        let is_same = |other: &Self| {
            (other.translation - next.translation).length() <= SAME_DEPTH * next.length
        };
        if !open.iter().any(is_same) {
            open.push(next);
            open.note();
        }
    }
}
