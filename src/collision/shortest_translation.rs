//! The shortest translation that clears several planes at once.
//!
//! A translation x clears a plane with unit normal nᵢ and depth dᵢ if x · nᵢ >= dᵢ. The shortest
//! such x ends on at most as many of the planes as there are dimensions: x = Σ λᵢ nᵢ, with factors
//! λᵢ >= 0. [`translations_onto`] computes these x in closed form.

use smallvec::SmallVec;

use crate::space::DVector;

/// Normals count as linearly dependent if their Gram determinant is at most this.
const DEPENDENT: f64 = 1e-10;

/// A plane counts as cleared if at most this fraction of its depth, or of the translation's length,
/// is missing. That is more than the rounding of `f64`, and far less than the rounding of `f32`.
const CLEARED: f64 = 1e-9;

/// Bounds the number of steps if rounding makes the same set of planes come again. Otherwise each
/// plane takes at most a few steps, and most planes take none.
const MAX_STEPS_PER_PLANE: usize = 4;

/// A plane that a translation has to clear: its unit normal and its depth.
pub type PushPlane<D> = (D, f64);

/// The planes on which a shortest translation ends.
pub type BoundingPlanes<D> = SmallVec<[PushPlane<D>; 3]>;

/// Returns the shortest translations onto the plane `added` alone, and onto `added` and one or two
/// of `others`, each with its planes.
pub fn translations_onto<D: DVector>(
    added: PushPlane<D>,
    others: &[PushPlane<D>],
) -> impl Iterator<Item = (D, BoundingPlanes<D>)> {
    let alone = (added.0 * added.1, SmallVec::from_slice(&[added]));
    let with_others = others.iter().enumerate().flat_map(move |(index, &one)| {
        let planes = [added, one];
        let pair = onto_two(planes).map(|x| (x, SmallVec::from_slice(&planes)));
        // Three normals in 2D are always dependent.
        let rest = others.iter().skip(index + 1).filter(|_| D::DIMENSION == 3);
        let triples = rest.filter_map(move |&other| {
            let planes = [added, one, other];
            Some((onto_three(planes)?, SmallVec::from_slice(&planes)))
        });
        pair.into_iter().chain(triples)
    });
    core::iter::once(alone).chain(with_others)
}

/// Returns the shortest translation onto two planes, or `None` if a shorter one clears both.
///
/// With the cosine c between the normals, λ₁ = (d₁ - c d₂) / (1 - c²), and λ₂ likewise.
fn onto_two<D: DVector>([(n1, d1), (n2, d2)]: [PushPlane<D>; 2]) -> Option<D> {
    let cosine = n1.dot(n2);
    let determinant = 1.0 - cosine * cosine;
    if determinant <= DEPENDENT {
        return None;
    }
    let factors = [d1 - cosine * d2, d2 - cosine * d1].map(|factor| factor / determinant);
    let [l1, l2] = factors;
    (l1 >= 0.0 && l2 >= 0.0).then(|| n1 * l1 + n2 * l2)
}

/// Returns the shortest translation onto three planes, or `None` if a shorter one clears all.
///
/// The factors solve G λ = d, where G holds the cosines between the normals, by Cramer's rule.
fn onto_three<D: DVector>(planes: [PushPlane<D>; 3]) -> Option<D> {
    let [(n1, d1), (n2, d2), (n3, d3)] = planes;
    let (a, b, c) = (n1.dot(n2), n1.dot(n3), n2.dot(n3));
    let determinant = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c;
    if determinant <= DEPENDENT {
        return None;
    }
    let factors = [
        d1 * (1.0 - c * c) + d2 * (b * c - a) + d3 * (a * c - b),
        d1 * (b * c - a) + d2 * (1.0 - b * b) + d3 * (a * b - c),
        d1 * (a * c - b) + d2 * (a * b - c) + d3 * (1.0 - a * a),
    ];
    let [l1, l2, l3] = factors.map(|factor| factor / determinant);
    (l1 >= 0.0 && l2 >= 0.0 && l3 >= 0.0).then(|| n1 * l1 + n2 * l2 + n3 * l3)
}

/// A translation that clears planes.
pub struct Clearance<D> {
    pub translation: D,
    /// `false` if the planes contradict each other, and some were left out.
    pub clears_all: bool,
}

/// Returns the shortest translation that clears all planes.
///
/// If the planes contradict each other, some are left out: each plane that contradicts the bounding
/// planes of the translation found so far. The deepest plane comes first.
///
/// At most three planes bound the shortest translation. Each step adds the plane that is farthest
/// from cleared, and solves for these four planes exactly. The translation gets longer in each
/// step, so that no set of planes repeats, and the last translation clears all planes.
pub fn shortest_translation<D: DVector>(
    planes: impl IntoIterator<Item = PushPlane<D>>,
) -> Clearance<D> {
    let mut planes: SmallVec<[PushPlane<D>; 16]> = planes.into_iter().collect();
    let mut bounding = BoundingPlanes::new();
    let mut translation = D::ZERO;
    let mut clears_all = true;
    for _ in 0..MAX_STEPS_PER_PLANE * planes.len() {
        let missing = |(normal, depth): &PushPlane<D>| depth - normal.dot(translation);
        let numbered = planes.iter().enumerate();
        let worst = numbered.max_by(|(_, a), (_, b)| missing(a).total_cmp(&missing(b)));
        let Some((index, plane)) = worst.map(|(index, plane)| (index, *plane)) else {
            break;
        };
        if is_cleared(translation, plane) {
            break;
        }
        let clears_others = |next: &D| bounding.iter().all(|plane| is_cleared(*next, *plane));
        let next = translations_onto(plane, &bounding)
            .filter(|(next, _)| clears_others(next))
            .min_by(|(a, planes), (b, others)| {
                let lengths = a.length_squared().total_cmp(&b.length_squared());
                lengths.then(planes.len().cmp(&others.len()))
            });
        match next {
            Some(next) => (translation, bounding) = next,
            None => {
                clears_all = false;
                planes.swap_remove(index);
            }
        }
    }
    // The loop may have ended for want of steps.
    clears_all &= planes.iter().all(|plane| is_cleared(translation, *plane));
    Clearance {
        translation,
        clears_all,
    }
}

fn is_cleared<D: DVector>(translation: D, (normal, depth): PushPlane<D>) -> bool {
    translation.dot(normal) >= depth - CLEARED * depth.abs().max(translation.length())
}
