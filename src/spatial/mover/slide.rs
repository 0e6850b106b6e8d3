//! The settings and the result of a move.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    shape::Dimension,
    space::{DVector, Space},
    spatial::mover::{ground::Ground, planes::clipped},
};

/// The settings of [`SpatialQuery::move_and_slide`](crate::SpatialQuery::move_and_slide).
///
#[cfg_attr(
    doc,
    doc = "![A slide along a wall, a step, and the ground][slide]\n\n"
)]
#[cfg_attr(doc, doc = include_str!("../../../docs/pictures.md"))]
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let hero = MoveAndSlideSettings { step_height: 0.4, ..default() };
/// let top_down = MoveAndSlideSettings { up: Vec3::ZERO, ..default() };
/// # let _ = (hero, top_down);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct MoveAndSlideSettings {
    /// The direction away from the ground, as a vector of any length: y by default. If the vector
    /// is 0, there is no ground: everything is a wall, as in a top-down game. In 2D, z is ignored.
    pub up: Vec3,
    /// The greatest angle, in radians, of a slope that is ground: 50 degrees by default, and at
    /// most 1.5 radians. Steeper slopes are walls, and a body slides down them.
    pub max_slope: f32,
    /// The greatest height of a step that a walking body climbs: 0 by default.
    pub step_height: f32,
    /// The maximum distance by which a body that stood on the ground is moved down to the ground
    /// after a move. The default is the greatest descent of slopes and steps along the path. With
    /// 0, a body leaves the ground at every edge.
    pub snap_distance: Option<f32>,
    /// The gap that a body keeps from everything. The upper limit is half of the least side of the
    /// body's bounding box in the world, or a twentieth of the longest side, whichever is greater.
    /// The default is a hundredth of this limit. The gap is never less than 16 rounding errors of
    /// the body's position in f32.
    pub skin: Option<f32>,
    /// The maximum number of touches in a move: 8 by default, and at most 64. After the last touch,
    /// the remaining translation is dropped. With 0, a body in the air does not move.
    pub max_touches: u32,
    /// The ground of the previous move. If this ground has moved since, it carries the body.
    pub ground: Option<Ground>,
}

impl Default for MoveAndSlideSettings {
    fn default() -> Self {
        Self {
            up: Vec3::Y,
            max_slope: 50_f32.to_radians(),
            step_height: 0.0,
            snap_distance: None,
            skin: None,
            max_touches: 8,
            ground: None,
        }
    }
}

/// A touch on the path of a move: see [`MoveAndSlideOutput::hits`]. In 2D, the z of each vector is
/// 0, and `.xy()` returns the `Vec2`.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub struct SlideHit {
    /// The entity of the other collider.
    pub entity: Entity,
    /// The index of the touched part of the other collider. For a
    /// [`CellGrid`](crate::CellGrid), [`cell_2d`](crate::Collider::cell_2d) and
    /// [`cell_3d`](crate::Collider::cell_3d) return the cell of the part.
    pub part: u32,
    /// The point of the touch.
    pub point: Vec3,
    /// The unit normal of the contact, from the other collider to the body.
    pub normal: Vec3,
    /// The unit normal of the touched face that most opposes the motion, on the same side as
    /// `normal`.
    pub face_normal: Vec3,
    /// The part of the translation that is left at the touch, before any deflection. A game can
    /// push the other collider by the component of this vector against the normal.
    pub motion: Vec3,
    /// `true` if the body can stand on the face.
    pub is_ground: bool,
}

/// The result of [`SpatialQuery::move_and_slide`](crate::SpatialQuery::move_and_slide).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MoveAndSlideOutput {
    /// The translation of the body in the world, including the translation by the ground that
    /// carries it. In 2D, z is 0. A translation beyond the range of f32 is shortened to that range.
    pub translation: Vec3,
    /// The ground on which the body stands after the move.
    pub ground: Option<Ground>,
    /// `true` if the body is pressed: the body overlaps something, and no short push-out was found.
    /// A push-out is short if its length is at most twice the upper limit of
    /// [`skin`](MoveAndSlideSettings#structfield.skin). If the body is pressed, the move begins
    /// with the translation of [`PushOut::Pressed`].
    ///
    /// [`PushOut::Pressed`]: crate::PushOut::Pressed
    pub is_stuck: bool,
    pub(super) hits: SmallVec<[SlideHit; 4]>,
    pub(super) up: DVec3,
}

impl MoveAndSlideOutput {
    /// Returns the touches on the path, in order. Ground on which the body only stands is not
    /// listed: see [`ground`](Self#structfield.ground).
    pub fn hits(&self) -> &[SlideHit] {
        &self.hits
    }

    /// Returns the part of a velocity, a `Vec2` or a `Vec3`, that is left after the move. This is
    /// the nearest velocity that points into none of the surfaces that were hit. On the ground, no
    /// downward velocity is left. The result never points up a slope that is too steep. If the
    /// velocity is not finite, the result is 0. A result beyond the range of f32 is shortened to
    /// that range.
    pub fn clip_velocity<V: Dimension>(&self, velocity: V) -> V {
        if !velocity.is_finite() {
            return V::default();
        }
        let mut velocity = velocity.to_vec3().to_f64();
        if self.ground.is_some() {
            velocity -= self.up * velocity.dot(self.up).min(0.0);
        }
        let walls = self.hits.iter().filter(|hit| !hit.is_ground);
        let normals: SmallVec<[DVec3; 4]> =
            walls.filter_map(|hit| hit.normal.to_f64().unit()).collect();
        let outward = normals.iter().filter_map(|n| out_of_slope(*n, self.up));
        velocity = clipped(velocity, &outward.collect::<SmallVec<[DVec3; 4]>>());
        let velocity = clipped(velocity, &normals).in_f32_range();
        V::projected(Vec3::from_f64(velocity))
    }
}

/// Returns the horizontal unit vector that points away from a wall, or `None` if the normal is
/// vertical.
pub fn horizontal<D: DVector>(normal: D, up: D) -> Option<D> {
    (normal - up * normal.dot(up)).unit()
}

/// Returns the horizontal unit vector that points away from a slope. A body that moves against this
/// vector would climb the slope. Returns `None` if the normal does not point upwards.
pub fn out_of_slope<D: DVector>(normal: D, up: D) -> Option<D> {
    horizontal(normal, up).filter(|_| normal.dot(up) > 0.0)
}
