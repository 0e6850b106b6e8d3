//! Casts of pairs whose distance has a closed form: a box and a ball, and two segments that do not
//! rotate.
//!
//! In the frame of the box, the center of the ball follows a curve z(t), and the box is at rest. At
//! a time t, let g be the gap, n the normal, c = -n·z' the closing speed, and K a bound on |z''|.
//! The box is behind the plane through its nearest point with normal n. A Taylor expansion bounds
//! the distance of the ball from this plane. So the gap at the time t + h is at least
//!
//! ```text
//! g - c h - K h²/2        with the root        h = 2 g / (c + √(c² + 2 K g))
//! ```
//!
//! The loop advances to a time just before this root. If the box does not rotate, K = 0, and the
//! loop is Newton's method on the distance. The distance is a convex function of time, so the loop
//! never passes the touch. If the box rotates, a step leaves a gap of the order of K h², so the
//! loop converges quadratically, too. Each step needs one rotation and no support point. Two
//! segments need no rotation.
//!
//! At the touch, let w be the vector between the nearest points of the cores, and R = |w| the sum
//! of the radii. These points move with the cores. So at a time s after the touch, the distance
//! between these points is at most |w + s z'| + K s²/2. The depth is at least R minus this
//! distance. If this bound on the depth exceeds the tolerance for some s, the touch is a hit.
//!
//! `certified/` computes the uncertain cases.

use crate::{
    query::{
        analytic::BoxPair,
        cast::{
            CastScale, CertifiedTouch, FastCast, Motion64, Uncertain, rates_along_turning_axis,
        },
        gjk::Penetration,
        minkowski::PairFrame,
    },
    space::DVector,
};

/// The maximum number of steps. Most casts need 2 to 6 steps.
const MAX_NEWTON_STEPS: usize = 32;

/// A moving pair whose distance has a closed form. Vectors are in the frame of the pair, or in
/// world axes if the box rotates.
pub struct DistanceCast<D: DVector> {
    pub scale: CastScale,
    radius_sum: f64,
    /// The cores, in their poses at the current time.
    boxes: BoxPair<D>,
    /// The center of the second shape at the start, relative to the center of the first shape. If
    /// the box rotates, this vector is relative to the center of rotation.
    offset: D,
    /// The velocity of the second shape relative to the first.
    velocity: D,
    speed: f64,
    rotation: Option<BoxRotation<D>>,
}

/// The rotation of the first box.
struct BoxRotation<D: DVector> {
    /// The rotation of the box at the start.
    start: D::Matrix,
    angular_velocity: D::Angle,
    /// The center of the rotation, in the frame of the box.
    pivot: D,
}

/// The state of the pair at one time.
struct Position<D: DVector> {
    time: f64,
    /// The velocity z' of the ball's center.
    velocity: D,
    /// The bound K on |z''|.
    curvature: f64,
    cores: Penetration<D>,
    gap: f64,
}

impl<D: DVector> DistanceCast<D> {
    /// Returns the cast of a pair without rotation. `velocity` is the velocity of the second shape
    /// relative to the first, in the frame of the pair.
    pub fn linear(radius_sum: f64, boxes: BoxPair<D>, velocity: D, scale: CastScale) -> Self {
        Self {
            scale,
            radius_sum,
            offset: boxes.relative.translation,
            boxes,
            velocity,
            speed: velocity.length(),
            rotation: None,
        }
    }

    /// Returns the cast of a rotating box and a point that does not rotate. `frame` is the rotation
    /// from the pair's frame to world axes. `first` and `second` are the motions in the order of
    /// the pair.
    pub fn rotating(
        (radius_sum, frame): (f64, D::Matrix),
        boxes: BoxPair<D>,
        [first, second]: [&Motion64<D>; 2],
        scale: CastScale,
    ) -> Self {
        let offset = frame * boxes.relative.translation - first.pivot;
        let velocity = second.translation - first.translation;
        let rotation = BoxRotation {
            start: frame,
            angular_velocity: first.rotation,
            pivot: D::transpose(frame) * first.pivot,
        };
        Self {
            offset,
            rotation: Some(rotation),
            ..Self::linear(radius_sum, boxes, velocity, scale)
        }
    }

    /// Moves the pair to its first touch, and returns the touch.
    pub fn touch(&mut self) -> FastCast<CertifiedTouch<D>> {
        let mut position = self.move_to(0.0)?;
        if position.gap <= self.scale.clearance() {
            return Err(Uncertain);
        }
        let mut end_gap = 2.0 * self.scale.margin;
        for _ in 0..MAX_NEWTON_STEPS {
            let closing_speed = position.closing_speed();
            let above = position.gap - self.scale.stop_gap;
            let root = (closing_speed * closing_speed + 2.0 * position.curvature * above).sqrt();
            let newton = 2.0 * above / (closing_speed + root);
            let time = position.time + newton;
            if closing_speed + root <= 0.0 || time >= 1.0 {
                return Ok(None);
            }
            position = self.move_to(time)?;
            if position.gap <= end_gap {
                return self.certified(&position).map(Some);
            }
            end_gap = self.scale.next_end_gap(end_gap);
        }
        Err(Uncertain)
    }

    /// Moves the pair to the given time.
    fn move_to(&mut self, time: f64) -> Result<Position<D>, Uncertain> {
        let offset = self.offset + self.velocity * time;
        let (center, velocity, curvature) = match &self.rotation {
            None => (offset, self.velocity, 0.0),
            Some(rotation) => {
                let inverse = D::transpose(rotation.frame(time));
                let turning = offset.rotated_by(rotation.angular_velocity);
                let turn = D::angle_size(rotation.angular_velocity);
                let length = offset.length() + self.speed * (1.0 - time);
                (
                    inverse * offset + rotation.pivot,
                    inverse * (self.velocity - turning),
                    rates_along_turning_axis(turn, length, self.speed, 0.0).curvature,
                )
            }
        };
        self.boxes.relative.translation = center;
        let cores = self.boxes.nearest().ok_or(Uncertain)?;
        Ok(Position {
            time,
            velocity,
            curvature,
            gap: -cores.depth - self.radius_sum,
            cores,
        })
    }

    /// Returns the touch of shapes that are about to touch, if they certainly overlap afterwards.
    fn certified(&self, at: &Position<D>) -> Result<CertifiedTouch<D>, Uncertain> {
        let closing_speed = at.closing_speed();
        let speed = at.velocity.length();
        let end = match self.rotation {
            None => self.scale.probed_end(at.time, speed),
            // The bound `curvature` (K in the file head) holds only until the end of the motion.
            Some(_) => 1.0,
        };
        let between = at.cores.second - at.cores.first;
        let nearest = -between.dot(at.velocity) / (speed * speed);
        let deepest = nearest.clamp(0.0, end - at.time);
        let distance = (between + at.velocity * deepest).length();
        let depth = self.radius_sum - distance - 0.5 * at.curvature * deepest * deepest;
        let overlaps = at.gap > 0.0 && closing_speed > 0.0 && depth > self.scale.slack;
        if !overlaps {
            return Err(Uncertain);
        }
        let step = at.gap / closing_speed;
        Ok(CertifiedTouch {
            safe: at.time,
            touching: self.scale.touching_time(at.time, step, speed),
            cores: at.cores,
            is_on_face: [false; 2],
        })
    }

    /// Returns the frame of the pair at `time`, the time to which this cast has moved. `start` is
    /// the frame at the start.
    pub fn frame(&self, start: PairFrame<D>, time: f64) -> PairFrame<D> {
        let rotation = self.rotation.as_ref();
        PairFrame {
            rotation: rotation.map_or(start.rotation, |turning| turning.frame(time)),
            relative: self.boxes.relative,
            ..start
        }
    }
}

impl<D: DVector> BoxRotation<D> {
    fn frame(&self, time: f64) -> D::Matrix {
        D::rotation(self.angular_velocity * time) * self.start
    }
}

impl<D: DVector> Position<D> {
    fn closing_speed(&self) -> f64 {
        -self.cores.normal.dot(self.velocity)
    }
}
