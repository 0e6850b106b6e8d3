//! Casts of a ball and a rotating box, segment or point, in closed form.
//!
//! In the frame of the box, the center of the ball follows a curve z(t), and the box is at rest. At
//! a time t, let g be the gap, n the normal, c = -n·z' the closing speed, and K a bound on |z''|.
//! The box is behind the plane across n at its nearest point, and a Taylor expansion bounds the
//! distance of the ball from that plane. So the gap at the time t + h is at least
//!
//! ```text
//! g - c h - K h²/2        with the root        h = 2 g / (c + √(c² + 2 K g))
//! ```
//!
//! The loop advances to a time just before this root. Without a rotation this is Newton's method of
//! `linear.rs`. With one, a step leaves a gap of the order of K h², so it converges quadratically,
//! too. Each step needs one rotation and no support point.
//!
//! At the touch, let w be the vector from the nearest point of the box to the center of the ball,
//! of length R, the sum of the radii. That point remains in the box. So at the time s after the
//! touch, the depth is at least R - |w + s z'| - K s²/2. If that exceeds the tolerance, the touch is
//! a hit.
//!
//! Uncertain cases are left to `solve.rs`, as in `linear.rs`.

use crate::{
    query::{
        analytic::boxes::BoxPair,
        cast::{
            CastHit64, CastStatus, Moving,
            axis::rates_along_turning_axis,
            face_normal::face_normal,
            linear::{LinearCast, MAX_STEPS},
            motion::Motion64,
            solve::TARGET_GROWTH,
        },
        minkowski::{MinkowskiDifference, Pair},
        penetration::Penetration,
    },
    shape::{DVecOf, Support},
    space::{DVector, Space},
    tolerance::CAST_TOUCHING,
};

/// A ball and a rotating box. Vectors are in the axes of the world.
struct BallCast<D: DVector> {
    /// In the pose of the current time.
    boxes: BoxPair<D>,
    /// The rotation of the box at the start.
    frame: D::Matrix,
    /// The center of the ball at the start, relative to the center of the rotation.
    offset: D,
    /// The velocity of the ball relative to the center of the rotation.
    velocity: D,
    angular_velocity: D::Angle,
    /// The center of the rotation, in the frame of the box.
    pivot: D,
    /// The cast without the rotation, which has the tolerances.
    line: LinearCast<D>,
}

/// The ball at one time.
struct Position<D: DVector> {
    time: f64,
    /// The rotation of the box.
    frame: D::Matrix,
    /// z'.
    velocity: D,
    /// K.
    curvature: f64,
    cores: Penetration<D>,
    gap: f64,
}

/// Returns the outcome of a cast, or `None` if it is left to `solve.rs`.
pub fn solve_ball<A, B>(
    a: &A,
    (pose_a, motion_a): Moving<DVecOf<A>>,
    b: &B,
    (pose_b, motion_b): Moving<DVecOf<A>>,
) -> Option<Option<CastHit64<DVecOf<A>>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pair = Pair::new(a, pose_a, b, pose_b);
    let half_extents = pair.boxes().filter(|_| pair.has_point())?;
    let motions = if pair.swapped {
        [motion_b, motion_a]
    } else {
        [motion_a, motion_b]
    };
    let mut cast = BallCast::new(&pair, half_extents, motions)?;
    let Some((touch, touching)) = cast.touch()? else {
        return Some(None);
    };
    let moved = pair.with_poses(touch.frame, cast.boxes.relative, pair.origins);
    let contact = moved.touching_contact(&touch.cores);
    // Only the box has faces.
    let face_normal = if pair.swapped {
        let arm = contact.offset_b - touch.frame * cast.pivot;
        let velocity = cast.velocity - arm.rotated_by(cast.angular_velocity);
        face_normal(b, (velocity, touch.frame), cast.boxes.scale, &contact)
    } else {
        contact.normal
    };
    Some(Some(CastHit64 {
        status: CastStatus::Hit,
        safe: touch.time,
        touching,
        contact,
        face_normal,
    }))
}

impl<D: DVector> BallCast<D> {
    /// Returns `None` if the center of the ball does not move in a line, or if a length is not
    /// finite.
    fn new<A, B>(
        pair: &Pair<'_, A, B>,
        half_extents: [D; 2],
        [body, ball]: [Motion64<D>; 2],
    ) -> Option<Self>
    where
        A: Support<Vector: Space<DVec = D>> + ?Sized,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        if ball.pivot != D::ZERO && D::angle_size(ball.rotation) > 0.0 {
            return None;
        }
        let boxes = BoxPair::new(pair, half_extents)?;
        let travel =
            body.translation.extent() + ball.translation.extent() + 2.0 * body.pivot.extent();
        let velocity = ball.translation - body.translation;
        let line = LinearCast::new(pair, velocity, boxes.scale, travel)?;
        Some(Self {
            frame: pair.frame,
            offset: pair.frame * boxes.relative.translation - body.pivot,
            velocity,
            angular_velocity: body.rotation,
            pivot: D::transpose(pair.frame) * body.pivot,
            boxes,
            line,
        })
    }

    /// Moves the ball to its position at the given time.
    fn move_to(&mut self, time: f64) -> Option<Position<D>> {
        let frame = D::rotation(self.angular_velocity * time) * self.frame;
        let inverse = D::transpose(frame);
        let offset = self.offset + self.velocity * time;
        self.boxes.relative.translation = inverse * offset + self.pivot;
        let cores = self.boxes.nearest()?;
        let turn = D::angle_size(self.angular_velocity);
        let speed = self.line.speed;
        let length = offset.length() + speed * (1.0 - time);
        Some(Position {
            time,
            frame,
            velocity: inverse * (self.velocity - offset.rotated_by(self.angular_velocity)),
            curvature: rates_along_turning_axis(turn, length, speed, 0.0).curvature,
            gap: -cores.depth - self.line.radius_sum,
            cores,
        })
    }

    /// Returns the first touch with its time `touching`, or `Some(None)` for a miss. Returns `None`
    /// if neither is certain.
    fn touch(&mut self) -> Option<Option<(Position<D>, f64)>> {
        let LinearCast {
            size,
            margin,
            stop_gap,
            clearance,
            ..
        } = self.line;
        let mut position = self.move_to(0.0)?;
        if position.gap <= clearance {
            return None;
        }
        let limit = (CAST_TOUCHING * size).max(2.0 * margin);
        let mut target = 2.0 * margin;
        for _ in 0..MAX_STEPS {
            let closing_speed = -position.cores.normal.dot(position.velocity);
            let above = position.gap - stop_gap;
            let root = (closing_speed * closing_speed + 2.0 * position.curvature * above).sqrt();
            let time = position.time + 2.0 * above / (closing_speed + root);
            if time >= 1.0 {
                return Some(None);
            }
            position = self.move_to(time)?;
            if position.gap <= target {
                let touching = self.touching_time(&position)?;
                return Some(Some((position, touching)));
            }
            target = (target * TARGET_GROWTH).min(limit);
        }
        None
    }

    /// Returns the time at which a ball that is about to touch does, if both certainly overlap
    /// afterwards.
    fn touching_time(&self, at: &Position<D>) -> Option<f64> {
        let LinearCast {
            size,
            radius_sum,
            slack,
            ..
        } = self.line;
        let closing_speed = -at.cores.normal.dot(at.velocity);
        let between = at.cores.second - at.cores.first;
        let nearest = -between.dot(at.velocity) / at.velocity.length_squared();
        let deepest = nearest.clamp(0.0, 1.0 - at.time);
        let distance = (between + at.velocity * deepest).length();
        let depth = radius_sum - distance - 0.5 * at.curvature * deepest * deepest;
        let overlaps = at.gap > 0.0 && closing_speed > 0.0 && depth > slack;
        let step = at.gap / closing_speed;
        let is_certain = step * at.velocity.length() <= CAST_TOUCHING * size;
        let step = if is_certain { step } else { 0.0 };
        overlaps.then(|| (at.time + step).min(1.0))
    }
}
