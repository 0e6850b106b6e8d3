//! The least move that clears planes.

use arrayvec::ArrayVec;

use super::touch::{SAME_DEPTH, Touch};
use crate::{query::tolerance::SAME_NORMAL, space::Wide};

/// No more planes are cleared at once.
const MOST_PLANES: usize = 16;

/// Passes over the facets that count, to find the move that clears them. In a corner a few do.
const MAX_PASSES: usize = 32;

/// No more candidates make one way.
pub const MOST_AT_ONCE: usize = 4;

/// The least move that clears some planes.
pub struct Escape<W> {
    /// The normal and the depth of each, with its share of the move.
    planes: ArrayVec<(W, f64, f64), MOST_PLANES>,
    pub way: W,
    /// `true` if there are planes, and the move clears all of them.
    pub leads_out: bool,
}

impl<W: Wide> Default for Escape<W> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: W::ZERO,
            leads_out: false,
        }
    }
}

impl<W: Wide> Escape<W> {
    /// Adds a plane. The least x with x · nᵢ >= dᵢ is Σ λᵢ nᵢ with λᵢ >= 0, and each pass sets one
    /// λᵢ after the other so that its own plane is cleared (Hildreth, "A quadratic programming
    /// procedure" (1957)).
    pub fn add(&mut self, normal: W, depth: f64) {
        let Self { planes, way, .. } = self;
        let is_same = |it: &&mut (W, f64, f64)| (it.0 - normal).length() <= SAME_NORMAL;
        if let Some(plane) = planes.iter_mut().find(is_same) {
            plane.1 = plane.1.max(depth);
        } else if planes.try_push((normal, depth, 0.0)).is_err() {
            self.leads_out = false;
            return;
        }
        for _ in 0..MAX_PASSES {
            let mut most = 0.0_f64;
            for (normal, depth, share) in &mut *planes {
                let next = (*share + *depth - normal.dot(*way)).max(0.0);
                *way = *way + *normal * (next - *share);
                most = most.max((next - *share).abs());
                *share = next;
            }
            self.leads_out = most <= SAME_DEPTH * depth;
            if self.leads_out {
                break;
            }
        }
    }
}

/// A way that clears some candidates.
#[derive(Clone, Debug)]
pub struct Node<W> {
    pub planes: ArrayVec<usize, MOST_AT_ONCE>,
    pub way: W,
    pub length: f64,
}

impl<W: Wide> Default for Node<W> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: W::ZERO,
            length: 0.0,
        }
    }
}

impl<W: Wide> Node<W> {
    /// The least way that clears one more candidate; `None` if there is none.
    pub fn with(&self, candidate: usize, candidates: &[Touch<W>]) -> Option<Self> {
        let mut planes = self.planes.clone();
        planes.push(candidate);
        let mut escape = Escape::default();
        for touch in planes.iter().filter_map(|it| candidates.get(*it)) {
            escape.add(touch.normal, touch.contact.depth);
        }
        escape.leads_out.then(|| Self {
            planes,
            way: escape.way,
            length: escape.way.length(),
        })
    }
}
