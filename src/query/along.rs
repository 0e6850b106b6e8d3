//! How far must a shape move in a given direction, to clear another one?
//!
//! The depth along a direction that is not the shortest way out. From where the second shape is certain to have cleared the
//! first it moves back, each time by what the distance leaves free: conservative advancement (Mirtich, "Impulse-based
//! Dynamic Simulation of Rigid Body Systems" (1996)). With the normal n between the nearest points and a gap g, a way
//! of g / (n·d) against the direction d is free; where both are flat it is all of it.

use super::{
    gjk::{Gjk, Goal, State},
    minkowski::Pair,
    tolerance::TOUCHING,
};
use crate::{
    shape::Support,
    space::{Space, Wide},
};

/// More steps than this are not made: where two curved surfaces graze each other, each gains but a part.
const MAX_STEPS: usize = 32;

/// What a shape has to move along a direction, in the pair's frame.
#[derive(Clone, Copy, Debug)]
pub struct Clearance<W> {
    /// The way, 0 or more.
    pub way: f64,
    /// Unit, from the first core to the second, where they touch after it.
    pub normal: W,
    /// On the first core, where they touch after it.
    pub first: W,
    /// On the second core, likewise, but before it.
    pub second: W,
}

/// How far the second shape of two that touch must move along a unit vector to clear the first; `None` if one is no shape.
pub fn clear<A, B, W: Wide>(pair: &Pair<A, B>, direction: W) -> Option<Clearance<W>>
where
    A: Support + ?Sized,
    A::Vector: Space<Wide = W>,
    B: Support<Vector = A::Vector> + ?Sized,
{
    // Where they touch by the tolerance, the way may be less than none.
    let mut way = (pair.vertex(direction).point.dot(direction) + pair.reach()).max(0.0);
    let mut cleared = None;
    for _ in 0..MAX_STEPS {
        let moved = pair.with_second_moved(direction * way);
        let mut gjk = Gjk::new(&moved);
        gjk.run(&moved, Goal::Nearest);
        if gjk.state == State::NoShape {
            return None;
        }
        let normal = (-gjk.across()).unit().unwrap_or(direction);
        let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
        cleared = Some(Clearance {
            way,
            normal,
            first,
            second: second - direction * way,
        });
        let gap = gjk.distance - pair.reach();
        let along = normal.dot(direction);
        let is_done = gap <= TOUCHING * gjk.scale || along <= 0.0 || way <= 0.0;
        if is_done {
            break;
        }
        way = (way - gap / along).max(0.0);
    }
    cleared
}
