//! How far is a point from a core of a pair?
//!
//! GJK, with the point for the other shape.

use super::{
    gjk::{Gjk, Goal},
    minkowski::Pair,
};
use crate::{
    shape::Support,
    space::{Pose, Space, Wide},
};

/// The distances of a point from the first core, and of another one from the second; both are given in the pair's frame.
pub fn off_cores<A, B, W: Wide>(pair: &Pair<A, B>, of_first: W, of_second: W) -> [f64; 2]
where
    A: Support + ?Sized,
    A::Vector: Space<Wide = W>,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let inverse = W::transpose(pair.relative.rotation);
    let of_second = inverse * (of_second - pair.relative.translation);
    if pair.swapped {
        [off_core(pair.b, of_first), off_core(pair.a, of_second)]
    } else {
        [off_core(pair.a, of_first), off_core(pair.b, of_second)]
    }
}

/// The distance of a point from a core, in the core's frame.
fn off_core<S: Support + ?Sized>(core: &S, point: <S::Vector as Space>::Wide) -> f64 {
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
