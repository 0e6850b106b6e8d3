//! The rules that decide whether a character can stand and walk on a touched face.

use crate::{
    space::{DVector, Space},
    spatial::mover::{body::BodyTouch, slide::MoveAndSlideSettings},
};

/// The cosine of the greatest angle, 75 degrees, between up and the contact normal at which a body
/// stands on an edge. Beyond this angle, the body hangs beside the edge, and falls. At this angle,
/// a gap of s requires an upward push of 4 s.
pub const LEAST_UP: f64 = 0.25;

/// The greatest step height and snap distance, in skins. A cast of this length has a rounding error
/// of about 1e-6 skins.
const MAX_LENGTH_IN_SKINS: f64 = 1e9;

/// The up direction, and the rules that decide whether a touched face is ground.
#[derive(Clone, Copy)]
pub struct GroundRules<D> {
    pub up: D,
    /// The cosine of the greatest slope that is ground.
    pub least_cosine: f64,
    pub step_height: f64,
    snap_distance: Option<f64>,
}

impl<D: DVector> GroundRules<D> {
    pub fn new<V: Space<DVec = D>>(settings: &MoveAndSlideSettings, skin: f64) -> Option<Self> {
        let up = V::projected(settings.up).to_f64().unit()?;
        let max_slope = f64::from(settings.max_slope).clamp(0.0, 1.5);
        let valid = |length: f32| f64::from(length).max(0.0).min(MAX_LENGTH_IN_SKINS * skin);
        Some(Self {
            up,
            least_cosine: libm::cos(max_slope),
            step_height: valid(settings.step_height),
            snap_distance: settings.snap_distance.map(valid),
        })
    }

    /// Returns `true` if a body can walk on the face that it touches.
    pub fn is_ground(&self, touch: &BodyTouch<D>) -> bool {
        let is_flat = touch.face_normal.dot(self.up) >= self.least_cosine;
        is_flat && touch.normal.dot(self.up) >= LEAST_UP
    }

    /// Returns `true` if a body can stand on a touch: on ground, or with a flat side on a corner.
    pub fn supports(&self, touch: &BodyTouch<D>) -> bool {
        self.is_ground(touch) || touch.normal.dot(self.up) >= self.least_cosine
    }

    /// Returns the normal of the plane along which a body walks.
    pub fn walking_normal(&self, ground: &BodyTouch<D>) -> D {
        if ground.normal.dot(self.up) >= self.least_cosine {
            ground.normal
        } else {
            ground.face_normal
        }
    }

    /// Returns a horizontal motion, turned into the plane of the ground and with the same length.
    pub fn along(&self, ground: &BodyTouch<D>, lateral: D) -> D {
        let normal = self.walking_normal(ground);
        let along = lateral - self.up * (lateral.dot(normal) / self.up.dot(normal));
        along.unit().unwrap_or_default() * lateral.length()
    }

    pub fn lateral(&self, motion: D) -> D {
        motion - self.up * motion.dot(self.up)
    }

    /// Returns the greatest distance by which a body is moved down to the ground after a walk.
    pub fn max_drop(&self, lateral: D) -> f64 {
        let cosine = self.least_cosine;
        let slope = (1.0 - cosine * cosine).max(0.0).sqrt() / cosine;
        let by_default = slope * lateral.length() + self.step_height;
        self.snap_distance.unwrap_or(by_default)
    }
}
