//! How far is a point from a core of a pair?
//!
//! GJK, with the point for the other shape.

use crate::{
    query::{
        gjk::{Gjk, Goal},
        minkowski::Pair,
    },
    shape::Support,
    space::{DVector, Pose, Space},
};

/// The distances of a point from the first core, and of another one from the second; both are given in the pair's frame.
pub fn off_cores<A, B, D: DVector>(pair: &Pair<A, B>, of_first: D, of_second: D) -> [f64; 2]
where
    A: Support + ?Sized,
    A::Vector: Space<DVec = D>,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let inverse = D::transpose(pair.relative.rotation);
    let of_second = inverse * (of_second - pair.relative.translation);
    if pair.swapped {
        [off_core(pair.b, of_first), off_core(pair.a, of_second)]
    } else {
        [off_core(pair.a, of_first), off_core(pair.b, of_second)]
    }
}

/// The distance of a point from a core, in the core's frame.
fn off_core<S: Support + ?Sized>(core: &S, point: <S::Vector as Space>::DVec) -> f64 {
    let pose = Pose {
        translation: point,
        ..Pose::IDENTITY
    };
    let alone = [S::Vector::default()];
    let pair = Pair::new(core, Pose::IDENTITY, &alone, pose);
    let mut gjk = Gjk::new(&pair);
    gjk.run(&pair, Goal::Nearest);
    gjk.distance
}
