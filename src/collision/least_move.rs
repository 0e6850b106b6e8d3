//! The shortest translation that clears several planes at once.
//!
//! A plane with unit normal nᵢ and depth dᵢ is cleared by a translation x if x · nᵢ >= dᵢ. The
//! shortest such x is x = Σ λᵢ nᵢ with factors λᵢ >= 0 of at most as many planes as there are
//! dimensions. [`onto_two`] and [`onto_three`] compute it for given planes, in closed form.

use smallvec::SmallVec;

use crate::{math::DVec3, space::DVector};

/// Planes whose normals have a Gram determinant of no more than this count as linearly dependent.
const DEPENDENT: f64 = 1e-10;

/// A plane counts as cleared if at most this fraction of its depth, or of the length of the
/// translation, is missing: more than the rounding of f64, and far less than that of f32.
const CLEARED: f64 = 1e-9;

/// Bounds the steps for input in which rounding lets a set of planes come again. Most planes need
/// no step, and the others one.
const MAX_STEPS_PER_PLANE: usize = 4;

/// A plane, by its unit normal and its depth.
pub type Plane<D> = (D, f64);

/// Returns the shortest translation onto two planes, or `None` if a shorter one clears both.
///
/// With the cosine c between the normals, λ₁ = (d₁ - c d₂) / (1 - c²), and λ₂ likewise.
pub fn onto_two<D: DVector>([(n1, d1), (n2, d2)]: [Plane<D>; 2]) -> Option<D> {
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
pub fn onto_three<D: DVector>(planes: [Plane<D>; 3]) -> Option<D> {
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

/// Returns the shortest translation that clears all planes.
///
/// If the planes contradict each other, some are left out: each one that contradicts the planes
/// that bound the translation found so far. The deepest plane comes first.
///
/// At most three planes bound the shortest translation. Each step adds the plane that misses most,
/// and solves these four exactly. The translation gets longer in each step, so that no set of
/// planes repeats, and the last set is the solution for all planes.
pub fn least_move(planes: impl IntoIterator<Item = Plane<DVec3>>) -> DVec3 {
    let mut planes: SmallVec<[Plane<DVec3>; 16]> = planes.into_iter().collect();
    let mut bounding: SmallVec<[Plane<DVec3>; 3]> = SmallVec::new();
    let mut translation = DVec3::ZERO;
    for _ in 0..MAX_STEPS_PER_PLANE * planes.len() {
        let missing = |(normal, depth): &Plane<DVec3>| depth - normal.dot(translation);
        let numbered = planes.iter().enumerate();
        let worst = numbered.max_by(|(_, a), (_, b)| missing(a).total_cmp(&missing(b)));
        let Some((index, plane)) = worst.map(|(index, plane)| (index, *plane)) else {
            break;
        };
        if is_cleared(translation, plane) {
            break;
        }
        match shortest(plane, &bounding) {
            Some((next, planes_of_next)) => (translation, bounding) = (next, planes_of_next),
            None => _ = planes.swap_remove(index),
        }
    }
    translation
}

fn is_cleared(translation: DVec3, (normal, depth): Plane<DVec3>) -> bool {
    translation.dot(normal) >= depth - CLEARED * depth.abs().max(translation.length())
}

/// Returns the shortest translation that clears `added` and up to three other planes, with the
/// planes that bound it. `added` bounds it in any case. Returns `None` if nothing clears them all.
fn shortest(
    added: Plane<DVec3>,
    others: &[Plane<DVec3>],
) -> Option<(DVec3, SmallVec<[Plane<DVec3>; 3]>)> {
    let alone = (Some(added.0 * added.1), SmallVec::from_slice(&[added]));
    let with_one = others.iter().map(|&one| {
        let planes = [added, one];
        (onto_two(planes), SmallVec::from_slice(&planes))
    });
    let pairs = others.iter().enumerate().flat_map(|(index, &one)| {
        others
            .iter()
            .skip(index + 1)
            .map(move |&other| (one, other))
    });
    let with_two = pairs.map(|(one, other)| {
        let planes = [added, one, other];
        (onto_three(planes), SmallVec::from_slice(&planes))
    });
    let candidates = core::iter::once(alone).chain(with_one).chain(with_two);
    candidates
        .filter_map(|(translation, planes)| Some((translation?, planes)))
        .filter(|(translation, _)| others.iter().all(|plane| is_cleared(*translation, *plane)))
        .min_by(|(a, _), (b, _)| a.length_squared().total_cmp(&b.length_squared()))
}
