//! The least move that clears planes.

use arrayvec::ArrayVec;

use crate::{
    pipeline::narrow_phase::surface::touch::{SAME_DEPTH, Touch},
    space::DVector,
};

/// The most planes that are cleared at once.
const MOST_PLANES: usize = 16;

/// The least determinant of planes whose common line or point is computed: of fewer they are the
/// same but for rounding.
const SAME_PLANES: f64 = 1e-10;

/// The most candidates that one way combines.
pub const MOST_AT_ONCE: usize = 4;

/// The least move that clears some planes.
///
/// It is the point nearest to the origin of the set of x with x · nᵢ >= dᵢ, and that is the nearest
/// one of the common plane, line or point of one to three of them: Σ λᵢ nᵢ with λᵢ >= 0.
pub struct Escape<D> {
    /// The normal and the depth of each.
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
    /// Adds a plane.
    pub fn add(&mut self, normal: D, depth: f64) {
        let is_first = self.planes.is_empty();
        if self.planes.try_push((normal, depth)).is_err() {
            self.leads_out = false;
            return;
        }
        let is_clear = self.way.dot(normal) >= depth * (1.0 - SAME_DEPTH);
        if is_clear && (is_first || self.leads_out) {
            self.leads_out = true;
            return;
        }
        let way = self.nearest((normal, depth));
        self.leads_out = way.is_some();
        self.way = way.unwrap_or(self.way);
    }

    /// The least move that clears all planes, which the last one added bounds.
    fn nearest(&self, last: (D, f64)) -> Option<D> {
        let mut best: Option<D> = None;
        let mut look_at = |way: Option<D>| {
            let is_shorter = |way: &D| best.is_none_or(|best| way.length() < best.length());
            let way = way.filter(|way| is_shorter(way) && self.clears_all(*way));
            best = way.or(best);
        };
        look_at(Some(last.0 * last.1));
        for (index, one) in self.planes.iter().enumerate() {
            look_at(on_two([last, *one]));
            if D::DIMENSION == 3 {
                for other in self.planes.iter().skip(index + 1) {
                    look_at(on_three([last, *one, *other]));
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

/// The least move onto two planes, if it leads over both. With c the cosine between the normals,
/// λ₁ = (d₁ - c d₂) / (1 - c²), and the other way round.
fn on_two<D: DVector>([(n1, d1), (n2, d2)]: [(D, f64); 2]) -> Option<D> {
    let cosine = n1.dot(n2);
    let determinant = 1.0 - cosine * cosine;
    if determinant <= SAME_PLANES {
        return None;
    }
    let shares = [d1 - cosine * d2, d2 - cosine * d1].map(|it| it / determinant);
    let [l1, l2] = shares;
    (l1 >= 0.0 && l2 >= 0.0).then(|| n1 * l1 + n2 * l2)
}

/// The same of three. The λ solve G λ = d with the cosines for G, by Cramer's rule.
fn on_three<D: DVector>(planes: [(D, f64); 3]) -> Option<D> {
    let [(n1, d1), (n2, d2), (n3, d3)] = planes;
    let (a, b, c) = (n1.dot(n2), n1.dot(n3), n2.dot(n3));
    let determinant = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c;
    if determinant <= SAME_PLANES {
        return None;
    }
    let shares = [
        d1 * (1.0 - c * c) + d2 * (b * c - a) + d3 * (a * c - b),
        d1 * (b * c - a) + d2 * (1.0 - b * b) + d3 * (a * b - c),
        d1 * (a * c - b) + d2 * (a * b - c) + d3 * (1.0 - a * a),
    ];
    let [l1, l2, l3] = shares.map(|it| it / determinant);
    (l1 >= 0.0 && l2 >= 0.0 && l3 >= 0.0).then(|| n1 * l1 + n2 * l2 + n3 * l3)
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
