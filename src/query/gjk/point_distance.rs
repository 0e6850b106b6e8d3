//! The distance from a point to a core, computed by GJK with the point as the other shape.

use crate::{
    query::{
        gjk::{Gjk, Goal},
        minkowski::Pair,
    },
    shape::{DVecOf, Support, swap_if},
    space::{DVector, Pose},
};

/// Returns the distance from one point to the first core of a pair, and the distance from another
/// point to the second core. Both points are in the pair's frame.
pub fn distances_from_cores<A, B>(pair: &Pair<A, B>, [first, second]: [DVecOf<A>; 2]) -> [f64; 2]
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let (swapped, relative) = (pair.frame.swapped, pair.frame.relative);
    let inverse = DVecOf::<A>::transpose(relative.rotation);
    let second = inverse * (second - relative.translation);
    let [point_a, point_b] = swap_if(swapped, [first, second]);
    let distances = [
        distance_from(pair.a, point_a),
        distance_from(pair.b, point_b),
    ];
    swap_if(swapped, distances)
}

/// Returns the distance from a point to a core, in the core's frame.
fn distance_from<S: Support + ?Sized>(core: &S, point: DVecOf<S>) -> f64 {
    let pose = Pose {
        translation: point,
        ..Pose::IDENTITY
    };
    let origin = [S::Vector::default()];
    let pair = Pair::new(core, Pose::IDENTITY, &origin, pose);
    Gjk::solve(&pair, Goal::Nearest).distance
}
