//! The motion that a character is to make, and the planes that deflect it.

use smallvec::SmallVec;

use crate::{
    space::DVector,
    spatial::mover::{ground_rules::GroundRules, planes::clipped, slide::horizontal},
};

/// A body is wedged between slopes if they leave at most this fraction of its fall: more than the
/// errors of their normals, and less than a player sees.
pub const MAX_WEDGED_FALL: f64 = 1e-3;

/// A wished motion, and what deflects it.
///
/// Every deflection starts from the wish, not from the motion that an earlier plane has deflected:
/// in an obtuse corner, that motion leads away along the second wall, and the body never rests.
pub struct WishedMotion<D> {
    /// The rest of the wish, without any deflection.
    pub rest: D,
    /// The normals of what was touched.
    pub planes: SmallVec<[D; 4]>,
    /// The horizontal directions out of walls and slopes.
    pub outward: SmallVec<[D; 4]>,
}

impl<D: DVector> WishedMotion<D> {
    pub fn new(rest: D) -> Self {
        Self {
            rest,
            planes: SmallVec::new(),
            outward: SmallVec::new(),
        }
    }

    /// Returns the wish of a walk after a landing.
    pub fn landed(self, rules: &GroundRules<D>) -> Self {
        let outward = |normal: &D| horizontal(*normal, rules.up);
        Self {
            rest: rules.lateral(self.rest),
            outward: self.planes.iter().filter_map(outward).collect(),
            planes: self.planes,
        }
    }

    /// Returns the nearest motion to the wish that leads horizontally into no wall and no slope.
    pub fn clipped_outward(&self) -> D {
        clipped(self.rest, &self.outward)
    }

    /// Returns `true` if another plane does not lead the body away from the last one.
    pub fn is_held_by(&self, normal: D, up: Option<D>) -> bool {
        let Some(last) = self.planes.last() else {
            return false;
        };
        let outward = up.and_then(|up| horizontal(normal, up));
        let known = self.planes.iter().chain(&self.outward).copied();
        let normals: SmallVec<[D; 8]> = known.chain([normal]).chain(outward).collect();
        clipped(self.rest, &normals).dot(*last) <= MAX_WEDGED_FALL * self.rest.length()
    }
}
