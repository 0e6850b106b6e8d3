//! The least move that clears planes.

use arrayvec::ArrayVec;

use crate::{
    collision::{onto_three, onto_two},
    pipeline::narrow_phase::surface::touch::{SAME_DEPTH, Touch},
    space::DVector,
};

/// The most candidates that one way combines.
pub const MOST_AT_ONCE: usize = 4;

/// The most planes that bound a least move, and one that is added.
const MOST_PLANES: usize = 4;

/// The least move that clears some planes.
///
/// It is the point nearest to the origin of the set of x with x · nᵢ >= dᵢ, and that is the nearest
/// one of the common plane, line or point of one to three of them: Σ λᵢ nᵢ with λᵢ >= 0. Only these
/// are kept. A plane that the move does not clear makes it longer, so that planes which are added
/// until all are clear end at the least move that clears them all. (Such problems are of LP type:
/// Sharir and Welzl, "A combinatorial bound for linear programming and related problems" (1992).)
pub struct Escape<D> {
    /// The normals and depths of the planes that bound the move.
    planes: ArrayVec<(D, f64), MOST_PLANES>,
    pub way: D,
    /// `true` if there are planes, and the move clears all of them.
    pub leads_out: bool,
}

impl<D: DVector> Default for Escape<D> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: D::ZERO,
            leads_out: false,
        }
    }
}

impl<D: DVector> Escape<D> {
    /// Adds a plane. Where no move clears it and those before, nothing changes any more.
    pub fn add(&mut self, normal: D, depth: f64) {
        let is_first = self.planes.is_empty();
        if !is_first && !self.leads_out {
            return;
        }
        let is_clear = self.way.dot(normal) >= depth * (1.0 - SAME_DEPTH);
        if is_clear && !is_first {
            return;
        }
        self.planes.push((normal, depth));
        let nearest = self.nearest((normal, depth));
        self.leads_out = nearest.is_some();
        if let Some((way, bounds)) = nearest {
            (self.way, self.planes) = (way, bounds);
        }
    }

    /// The least move that clears all planes, of which the last one added bounds it, and the planes
    /// that do.
    fn nearest(&self, last: (D, f64)) -> Option<(D, ArrayVec<(D, f64), MOST_PLANES>)> {
        let mut best: Option<(D, ArrayVec<(D, f64), MOST_PLANES>)> = None;
        let mut look_at = |way: Option<D>, bounds: &[(D, f64)]| {
            let is_shorter = |way: &D| {
                let best = best.as_ref().map(|(best, _)| best.length());
                best.is_none_or(|best| way.length() < best)
            };
            let way = way.filter(|way| is_shorter(way) && self.clears_all(*way));
            if let Some(way) = way {
                best = Some((way, bounds.iter().copied().collect()));
            }
        };
        look_at(Some(last.0 * last.1), &[last]);
        let (_, others) = self.planes.split_last()?;
        for (index, one) in others.iter().enumerate() {
            look_at(onto_two([last, *one]), &[last, *one]);
            if D::DIMENSION == 3 {
                for other in others.iter().skip(index + 1) {
                    look_at(onto_three([last, *one, *other]), &[last, *one, *other]);
                }
            }
        }
        best
    }

    fn clears_all(&self, way: D) -> bool {
        let slack = SAME_DEPTH * way.length();
        let mut planes = self.planes.iter();
        planes.all(|(normal, depth)| way.dot(*normal) >= depth - slack)
    }
}

/// A way that clears some candidates.
#[derive(Clone, Debug)]
pub struct Node<D> {
    pub planes: ArrayVec<usize, MOST_AT_ONCE>,
    pub way: D,
    pub length: f64,
}

impl<D: DVector> Default for Node<D> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: D::ZERO,
            length: 0.0,
        }
    }
}

impl<D: DVector> Node<D> {
    /// The least way that clears one more candidate; `None` if there is none.
    pub fn with(&self, candidate: usize, candidates: &[Touch<D>]) -> Option<Self> {
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
