//! The motion that the app requests for a character, and the planes that deflect this motion.

use smallvec::SmallVec;

use crate::{
    space::DVector,
    spatial::mover::{ground_rules::GroundRules, planes::clipped, slide::horizontal},
};

/// A body is wedged between slopes if the slopes leave at most this fraction of the fall. The
/// fraction exceeds the errors of the normals, and is too small for a player to see.
pub const MAX_WEDGED_FALL: f64 = 1e-3;

/// The motion that the app requests, called the *wish*, and the planes that deflect it.
///
/// Every deflection starts from the wish, not from a motion that an earlier plane has deflected. In
/// an obtuse corner, deflecting such a motion again moves the body away along the second wall, and
/// the body never comes to rest.
pub struct WishedMotion<D> {
    /// The part of the wish that is left, without any deflection.
    pub rest: D,
    /// The normals of the touched planes.
    pub planes: SmallVec<[D; 4]>,
    /// The horizontal directions that point away from walls and slopes.
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

    /// Returns the horizontal wish for the walk after a landing.
    pub fn landed(self, rules: &GroundRules<D>) -> Self {
        let outward = |normal: &D| horizontal(*normal, rules.up);
        Self {
            rest: rules.lateral(self.rest),
            outward: self.planes.iter().filter_map(outward).collect(),
            planes: self.planes,
        }
    }

    /// Returns the motion that points horizontally into no wall or slope, and is nearest to the
    /// wish.
    pub fn clipped_outward(&self) -> D {
        clipped(self.rest, &self.outward)
    }

    /// Returns `true` if a plane with this normal would hold the body at the last plane. In this
    /// case, the deflected motion does not point away from the last plane.
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
