//! Planes, push-outs, and characters that slide.

mod corners;
mod planes;
mod push_out;
mod slide;
mod steps;
mod walks;

use bevy::prelude::*;
use headbutt::{Ground, MoveAndSlideOutput, prelude::*};

/// A level of colliders that no tick moves.
pub struct Level(App);

impl Level {
    pub fn new(colliders: impl IntoIterator<Item = (Collider, Transform)>) -> Self {
        let mut app = crate::support::app();
        for (collider, pose) in colliders {
            app.world_mut().spawn((collider, pose));
        }
        headbutt::sync_now(app.world_mut());
        Self(app)
    }

    pub fn world(&mut self) -> &mut World {
        self.0.world_mut()
    }

    /// Runs queries on the level.
    pub fn ask<T>(&mut self, question: impl FnOnce(&SpatialQuery) -> T) -> T {
        crate::spatial::ask(self.world(), |query| question(&query))
    }
}

/// A character without an entity.
pub struct Walker {
    pub body: Collider,
    pub pose: Transform,
    pub settings: MoveAndSlideSettings,
}

impl Walker {
    pub fn new(body: Collider, position: Vec3) -> Self {
        Self {
            body,
            pose: Transform::from_translation(position),
            settings: MoveAndSlideSettings::default(),
        }
    }

    /// Moves the character by a translation, as a game does.
    pub fn go(&mut self, query: &SpatialQuery, translation: Vec3) -> MoveAndSlideOutput {
        let filter = SpatialQueryFilter::default();
        let slide =
            query.move_and_slide(&self.body, self.pose, translation, &self.settings, &filter);
        self.pose.translation += slide.translation;
        self.settings.ground = slide.ground;
        slide
    }

    /// Lets the character fall until it reaches the ground.
    pub fn land(&mut self, query: &SpatialQuery) -> Ground {
        let landed = (0..1000).find_map(|_| self.go(query, Vec3::NEG_Y * 0.1).ground);
        landed.expect("there is ground below")
    }

    /// Returns the distance to the nearest collider.
    pub fn room(&self, query: &SpatialQuery) -> f32 {
        let filter = SpatialQueryFilter::default();
        let near = query.closest_to_shape(&self.body, self.pose, 1e6, &filter);
        near.map_or(f32::INFINITY, |near| near.distance)
    }
}

/// Returns a box whose top is at y = 0, with its left end at the origin, tilted upwards by an
/// angle.
pub fn ramp(body: Collider, angle: f32, half: Vec3) -> (Collider, Transform) {
    let rotation = Quat::from_rotation_z(angle);
    let middle = rotation * Vec3::new(half.x, -half.y, 0.0);
    (
        body,
        Transform::from_translation(middle).with_rotation(rotation),
    )
}

pub fn at(x: f32, y: f32) -> Transform {
    Transform::from_xyz(x, y, 0.0)
}
