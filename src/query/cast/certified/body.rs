//! A moving shape: its pose as a function of time.

use crate::{
    query::cast::{CoreBox, Moving64},
    shape::Support,
    space::{DVector, Pose, Space},
};

/// One shape of a pair, with its pose as a function of time. Positions are relative to the first
/// shape's translation at the start, in world axes.
#[derive(Clone, Copy, Debug)]
pub struct Body<D: DVector> {
    /// The shape's rotation at the start.
    rotation: D::Matrix,
    /// The center of rotation at the start.
    pub center: D,
    pub velocity: D,
    pub angular_velocity: D::Angle,
    /// The translation of the shape at the start, relative to the center of rotation.
    pub arm: D,
    pub angular_speed: f64,
    /// An upper bound on |ω × r|, for the angular velocity ω and the offset r of any point of the
    /// core from the center.
    pub spin: f64,
    /// An upper bound on the distance from the center to a point of the core.
    pub reach: f64,
    /// `true` if the core is a point, whose rotation is ignored.
    is_point: bool,
    pub is_half_space: bool,
}

impl<D: DVector> Body<D> {
    /// Returns the body of a shape. `core_box` is the box around the shape's core.
    pub fn new<S>(shape: &S, (pose, motion): Moving64<D>, origin: D, core_box: &CoreBox<D>) -> Self
    where
        S: Support<Vector: Space<DVec = D>> + ?Sized,
    {
        let arm = -motion.pivot;
        let half_extents = core_box.farthest;
        let mut spin = D::ZERO;
        for index in 0..D::DIMENSION {
            let edge = D::column(pose.rotation, index) * half_extents.component(index);
            spin = spin + edge.rotated_by(motion.rotation).copysign(D::ONE);
        }
        Self {
            rotation: pose.rotation,
            center: pose.translation - origin + motion.pivot,
            velocity: motion.translation,
            angular_velocity: motion.rotation,
            arm,
            angular_speed: D::angle_size(motion.rotation),
            spin: spin.length() + arm.rotated_by(motion.rotation).length(),
            reach: half_extents.length() + arm.length(),
            is_point: shape.core().is_point(),
            is_half_space: shape.core().half_space().is_some(),
        }
    }

    pub fn pose(&self, time: f64) -> Pose<D> {
        let center = self.center + self.velocity * time;
        let turn = if self.angular_speed == 0.0 {
            D::IDENTITY
        } else {
            D::rotation(self.angular_velocity * time)
        };
        Pose {
            rotation: if self.is_point {
                D::IDENTITY
            } else {
                turn * self.rotation
            },
            translation: center + turn * self.arm,
        }
    }

    /// Returns the velocity of the body at a point.
    pub fn velocity_at(&self, time: f64, point: D) -> D {
        let offset = point - self.center - self.velocity * time;
        self.velocity + offset.rotated_by(self.angular_velocity)
    }
}
