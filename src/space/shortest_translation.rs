//! The shortest translation that clears several planes at once. These planes bound the obstacles of
//! a body.
//!
//! Push-outs and the movement of characters call [`shortest_translation`] for each set of planes.
//!
//! A translation x clears a plane with unit normal nᵢ and depth dᵢ if x · nᵢ >= dᵢ. If x · nᵢ = dᵢ,
//! x *ends on* the plane. The difference dᵢ - x · nᵢ is the *missing depth* of the plane. A plane
//! *contradicts* other planes if no translation clears all of them. If a translation need not clear
//! a plane, the *slack* of the plane is the missing depth that is permitted. The shortest
//! translation x that clears all planes ends on no more planes than there are dimensions. This
//! translation is a sum over these planes: x = Σ λᵢ nᵢ, with factors λᵢ >= 0. [`onto`] computes x
//! in closed form.

use core::iter;

use smallvec::SmallVec;

use crate::space::DVector;

/// Normals count as linearly dependent if their Gram determinant is at most this value.
const MIN_GRAM_DETERMINANT: f64 = 1e-12;

/// A plane that contradicts other planes is negligible if its missing depth is at most this
/// fraction of the translation's length. In this case, the contradiction is mere rounding error.
const MAX_CONTRADICTION: f64 = 1e-5;

/// A plane counts as cleared if at most this fraction of its depth, or of the translation's length,
/// is missing. The fraction exceeds the rounding of `f64`, and is far below the rounding of `f32`.
const MISSING_DEPTH: f64 = 1e-9;

/// The maximum number of steps per plane, which ends the loop if rounding makes a set of planes
/// repeat. Without such rounding, each plane takes at most a few steps, and most planes take none.
const MAX_STEPS_PER_PLANE: usize = 4;

/// The maximum length of [`bounded_translation`], as a multiple of the greatest depth.
///
/// A step that leads a convex body into convex obstacles is at least as long as each depth, because
/// undoing the step clears each obstacle. So a push-out is at most twice as long as the step. With
/// a larger multiple, push-outs would be longer at corners, where the planes of contacts form a
/// wedge although the obstacles do not. With this multiple, one push moves a body out of a wedge of
/// two planes if the opening θ is at least 60 degrees. If the opening is smaller, each push
/// multiplies the depth by 1 - 2 sin(θ/2).
pub const MAX_LENGTH_PER_DEPTH: f64 = 2.0;

/// The maximum of the factors λᵢ of [`bounded_translation`], as a multiple of the greatest depth. A
/// factor is the rate at which half of the squared length grows with the depth of a plane. In a
/// wedge of two planes with the opening θ, this rate is the length divided by 2 sin(θ/2). So for
/// openings below 2.3 degrees, the translation is shortened in proportion to the opening. Without
/// this limit, a body between two nearly parallel planes would move along the planes, by far more
/// than the depth.
const MAX_FACTOR_PER_DEPTH: f64 = 50.0;

/// The additional slack, as a fraction of the greatest depth, of planes whose slack is already
/// determined. These planes get this slack while the slack of the other planes is minimized.
/// Without this room, such a plane could keep a body in a wall to which the plane is almost
/// parallel.
const ROOM: f64 = 0.0025;

/// A plane needs its slack if the slack cannot shrink by this multiple of [`ROOM`] while the slacks
/// of all other planes grow by [`ROOM`]. With this value, at least one of four planes in 3D that
/// contradict each other needs its slack. The reason is that some weighted sum of the four normals
/// is 0. The weights add up to 1, so one weight is at least a quarter.
const LESS_ROOM: f64 = 4.0;

/// The number of bisection steps for a slack: more than the bits of an `f64`'s fraction.
const SLACK_STEPS: usize = 56;

/// The number of times that the factors λᵢ are corrected. If normals are almost dependent, rounding
/// changes the factors by a fraction of up to 1e-3, because of [`MIN_GRAM_DETERMINANT`]. Each
/// correction multiplies the error by at most the same fraction.
const CORRECTIONS: usize = 3;

/// If the Gram determinant exceeds this value, rounding changes the factors by a fraction of at
/// most 1e-9, so a single correction is enough.
const EASY_GRAM_DETERMINANT: f64 = 1e-6;

/// A plane that a translation has to clear: its unit normal and its depth.
pub type PushPlane<D> = (D, f64);

/// The planes on which a shortest translation ends.
pub type BoundingPlanes<D> = SmallVec<[PushPlane<D>; 3]>;

/// A translation that clears planes.
#[derive(Default)]
pub struct Clearance<D> {
    pub translation: D,
    /// The planes on which the translation ends.
    pub bounding: BoundingPlanes<D>,
    /// The greatest of the factors λᵢ. A factor is the rate at which half of the squared length
    /// grows with the depth of its plane.
    pub(super) max_factor: f64,
}

impl<D: DVector> Clearance<D> {
    /// Returns the shortest translation that also clears another plane, or `None` if no translation
    /// of at most `max_length` does.
    pub fn with(self, plane: PushPlane<D>, max_length: f64) -> Option<Self> {
        let planes = self.bounding.clone().into_iter().chain([plane]);
        let (found, clears_all) = solve(planes, max_length, true, self);
        clears_all.then_some(found)
    }
}

/// Returns the shortest translations onto the plane `added` alone, and onto `added` and one or two
/// of `others`.
fn translations_onto<D: DVector>(
    added: PushPlane<D>,
    others: &[PushPlane<D>],
) -> impl Iterator<Item = Clearance<D>> {
    // Every translation ends on `none`, because 0 · x = 0. So `none` replaces a missing plane.
    let none = (D::ZERO, 0.0);
    let with_others = others.iter().enumerate().flat_map(move |(index, &one)| {
        let rest = others.iter().skip(index + 1).copied();
        let thirds = iter::once(none).chain(rest);
        thirds.map(move |other| [added, one, other])
    });
    let alone = iter::once([added, none, none]);
    alone.chain(with_others).filter_map(onto)
}

/// Returns the shortest translation onto three planes. The normal of a missing plane is zero.
/// Returns `None` if a shorter translation clears all planes, or if the normals are linearly
/// dependent.
///
/// Cramer's rule solves G λ = d for the factors λᵢ, where G holds the cosines between the normals.
/// If some λᵢ is negative, a shorter translation clears all planes.
fn onto<D: DVector>(planes: [PushPlane<D>; 3]) -> Option<Clearance<D>> {
    let [(n1, _), (n2, _), (n3, _)] = planes;
    let (a, b, c) = (n1.dot(n2), n1.dot(n3), n2.dot(n3));
    let determinant = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c;
    if determinant <= MIN_GRAM_DETERMINANT {
        return None;
    }
    let mut factors = [0.0; 3];
    let mut translation = D::ZERO;
    let rounds = if determinant > EASY_GRAM_DETERMINANT {
        1
    } else {
        CORRECTIONS
    };
    for _ in 0..=rounds {
        // Iterative refinement: the missing depths have smaller rounding errors than the factors,
        // so these depths correct the factors.
        let [d1, d2, d3] = planes.map(|(normal, depth)| depth - normal.dot(translation));
        let corrections = [
            d1 * (1.0 - c * c) + d2 * (b * c - a) + d3 * (a * c - b),
            d1 * (b * c - a) + d2 * (1.0 - b * b) + d3 * (a * b - c),
            d1 * (a * c - b) + d2 * (a * b - c) + d3 * (1.0 - a * a),
        ];
        for (factor, correction) in factors.iter_mut().zip(corrections) {
            *factor += correction / determinant;
        }
        let [f1, f2, f3] = factors;
        translation = n1 * f1 + n2 * f2 + n3 * f3;
    }
    factors
        .iter()
        .all(|factor| *factor >= 0.0)
        .then(|| Clearance {
            translation,
            bounding: planes
                .into_iter()
                .filter(|plane| plane.0 != D::ZERO)
                .collect(),
            max_factor: factors.into_iter().fold(0.0, f64::max),
        })
}

/// Returns the shortest translation that clears all planes.
///
/// A plane is left out if it contradicts the bounding planes found so far, or if clearing this
/// plane, too, takes a translation longer than `max_length`.
///
/// At most three planes bound the shortest translation. Each step adds the plane with the greatest
/// missing depth to the bounding planes, and solves exactly for these planes, at most four. Without
/// rounding, the translation gets longer in each step, so no set of planes repeats, and the last
/// translation clears all planes. (This is an LP-type problem, see Sharir and Welzl, "A
/// combinatorial bound for linear programming and related problems" (1992).)
pub fn shortest_translation<D: DVector>(
    planes: impl IntoIterator<Item = PushPlane<D>>,
    max_length: f64,
) -> D {
    let (found, _) = solve(planes, max_length, false, Clearance::default());
    found.translation
}

/// Returns the shortest translation that clears all planes, or `None` if no translation of at most
/// `max_length` clears them all.
pub fn translation_out_of_all<D: DVector>(
    planes: impl IntoIterator<Item = PushPlane<D>>,
    max_length: f64,
) -> Option<Clearance<D>> {
    let (found, clears_all) = solve(planes, max_length, true, Clearance::default());
    clears_all.then_some(found)
}

/// Computes [`shortest_translation`], and also returns `true` if this translation clears all
/// planes. If `all` is `true`, the search ends at the first plane that would be left out. `best` is
/// the shortest translation that clears some of the planes.
fn solve<D: DVector>(
    planes: impl IntoIterator<Item = PushPlane<D>>,
    max_length: f64,
    all: bool,
    mut best: Clearance<D>,
) -> (Clearance<D>, bool) {
    let mut planes: SmallVec<[PushPlane<D>; 16]> = planes.into_iter().collect();
    let mut clears_all = true;
    for _ in 0..MAX_STEPS_PER_PLANE * planes.len() {
        let missing = |(normal, depth): &PushPlane<D>| depth - normal.dot(best.translation);
        let numbered = planes.iter().enumerate();
        let worst = numbered.max_by(|(_, a), (_, b)| missing(a).total_cmp(&missing(b)));
        let Some((index, plane)) = worst.map(|(index, plane)| (index, *plane)) else {
            break;
        };
        if is_cleared(best.translation, plane) {
            break;
        }
        let clears_others = |next: &Clearance<D>| {
            let mut bounding = best.bounding.iter();
            bounding.all(|plane| is_cleared(next.translation, *plane))
        };
        // Of equally short translations, the translation onto the fewest planes is used.
        let rank =
            |found: &Clearance<D>| (found.translation.length_squared(), found.bounding.len());
        let mut next: Option<Clearance<D>> = None;
        for found in translations_onto(plane, &best.bounding).filter(clears_others) {
            if next.as_ref().is_none_or(|next| rank(&found) < rank(next)) {
                next = Some(found);
            }
        }
        match next {
            Some(next) if next.translation.length() <= max_length => best = next,
            next => {
                let is_contrary = missing(&plane) > MAX_CONTRADICTION * best.translation.length();
                clears_all &= next.is_none() && !is_contrary;
                planes.swap_remove(index);
                if all && !clears_all {
                    break;
                }
            }
        }
    }
    // The loop may have ended at its limit of steps, so all planes are tested again.
    let is_cleared = |plane: &PushPlane<D>| is_cleared(best.translation, *plane);
    let clears_all = clears_all && planes.iter().all(is_cleared);
    (best, clears_all)
}

/// A translation of bounded length.
pub struct BoundedTranslation<D> {
    pub translation: D,
    /// `true` if the translation clears all planes.
    pub clears_all: bool,
}

/// Returns the shortest translation that clears all planes, if this translation is within two
/// bounds. [`MAX_LENGTH_PER_DEPTH`] bounds the length, and [`MAX_FACTOR_PER_DEPTH`] bounds the
/// growth of the length with any depth. Otherwise returns a shorter translation within these
/// bounds.
///
/// After the shorter translation, the body still penetrates each plane by at most the slack of this
/// plane. The slack is minimized first for all planes, then for the planes that do not need their
/// slack, and so on. So a body is balanced between a floor and a ceiling, and still kept out of the
/// walls.
pub fn bounded_translation<D: DVector>(planes: &[PushPlane<D>]) -> BoundedTranslation<D> {
    let deepest = planes.iter().fold(0.0, |max: f64, plane| max.max(plane.1));
    let with_slack = |slack_of: &dyn Fn(usize) -> f64| {
        let planes = planes.iter().enumerate();
        let found = translation_out_of_all(
            planes.map(|(index, (normal, depth))| (*normal, depth - slack_of(index))),
            MAX_LENGTH_PER_DEPTH * deepest,
        );
        found.filter(|found| found.max_factor <= MAX_FACTOR_PER_DEPTH * deepest)
    };
    if let Some(shortest) = with_slack(&|_| 0.0) {
        return BoundedTranslation {
            translation: shortest.translation,
            clears_all: true,
        };
    }
    let room = ROOM * deepest;
    // The final slack of each plane that cannot do with less, and `None` for all other planes.
    let mut known: SmallVec<[Option<f64>; 16]> = SmallVec::from_elem(None, planes.len());
    // The slack of all other planes.
    let mut slack = deepest;
    for _ in 0..D::DIMENSION {
        let known_of = |index: usize| known.get(index).copied().flatten();
        slack = least(slack, |slack| {
            with_slack(&|index| known_of(index).map_or(slack, |known| known + room)).is_some()
        });
        let roomy = with_slack(&|index| known_of(index).unwrap_or(slack) + room);
        // If the depth that `roomy` leaves at a plane is less than `slack` by `LESS_ROOM * room`,
        // the plane does not need `slack`.
        let has_less = |index: usize| {
            let pair = roomy.as_ref().zip(planes.get(index));
            pair.is_some_and(|(found, (normal, depth))| {
                depth - normal.dot(found.translation) <= slack - LESS_ROOM * room
            })
        };
        let needs_it = |index: &usize| {
            let slack_of = |other| {
                let less = if other == *index { -LESS_ROOM } else { 1.0 };
                known_of(other).unwrap_or(slack) + less * room
            };
            known_of(*index).is_none() && !has_less(*index) && with_slack(&slack_of).is_none()
        };
        let in_need: SmallVec<[usize; 16]> = (0..planes.len()).filter(needs_it).collect();
        for index in in_need {
            if let Some(known) = known.get_mut(index) {
                *known = Some(slack);
            }
        }
    }
    let with_room = |room: f64| {
        with_slack(&|index| known.get(index).copied().flatten().unwrap_or(slack) + room)
    };
    let room = least(room, |room| with_room(room).is_some());
    BoundedTranslation {
        translation: with_room(room).map_or(D::ZERO, |found| found.translation),
        clears_all: false,
    }
}

/// Returns the least number from 0 to `max` for which `has_property` is `true`. The number `max`
/// must have the property. If a number has the property, all greater numbers must have the
/// property, too.
fn least(max: f64, has_property: impl Fn(f64) -> bool) -> f64 {
    let [mut low, mut high] = [0.0, max];
    for _ in 0..SLACK_STEPS {
        let middle = 0.5 * (low + high);
        if has_property(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

fn is_cleared<D: DVector>(translation: D, (normal, depth): PushPlane<D>) -> bool {
    translation.dot(normal) >= depth - MISSING_DEPTH * depth.abs().max(translation.length())
}
