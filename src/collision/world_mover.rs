//! Moves an entity by a translation in the world's frame, under any parent.

use bevy::{
    ecs::{entity_disabling::Disabled, query::Allow, system::SystemParam},
    prelude::*,
};
use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    space::Space,
};

/// A longer chain of ancestors is a loop.
const MAX_ANCESTORS: usize = 4096;

/// The fraction of a translation that may lie along an axis of scale 0: a few roundings of the
/// ancestors' rotations in f32.
const LOST: f64 = 1e-6;

/// Moves entities by translations in the world's frame, whatever their parents' rotation and scale:
/// a system parameter.
///
/// ```
/// use bevy::{ecs::system::RunSystemOnce, prelude::*};
/// use headbutt::prelude::*;
///
/// let mut world = World::new();
/// // A ship that is twice as large, and turned by a quarter turn.
/// let turn = Quat::from_rotation_z(90_f32.to_radians());
/// let ship = world.spawn(Transform::from_rotation(turn).with_scale(Vec3::splat(2.0))).id();
/// let sailor = world.spawn((ChildOf(ship), Transform::IDENTITY)).id();
///
/// let step = move |mut mover: WorldMover| mover.translate(sailor, Vec3::X);
/// world.run_system_once(step).unwrap().unwrap();
/// // One unit along the world's x is half a unit along the ship's -y.
/// let local = world.get::<Transform>(sailor).unwrap().translation;
/// assert!(local.abs_diff_eq(Vec3::new(0.0, -0.5, 0.0), 1e-6));
/// ```
///
/// It reads the `Transform`s of all ancestors as they are now: `GlobalTransform` is one frame late
/// in a fixed step. Only the `Transform` of the moved entity changes, by f64 arithmetic that is
/// rounded once.
///
/// It writes `Transform`, so Bevy does not allow another parameter of the same system to access
/// `Transform`. Let a system before it compute the translations, or use a `ParamSet`.
#[derive(SystemParam)]
pub struct WorldMover<'w, 's> {
    entities:
        Query<'w, 's, (Option<&'static mut Transform>, Option<&'static ChildOf>), Allow<Disabled>>,
}

/// The reason why a [`WorldMover`] did not move an entity. The entity stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldMoveError {
    /// The entity does not exist or has no `Transform`, or a component of Bevy's
    /// `DefaultQueryFilters` other than `Disabled` hides it or one of its ancestors.
    #[error("{0} cannot be moved: it or an ancestor is missing, hidden or without a `Transform`")]
    NoTransform(Entity),
    /// An ancestor has a scale of 0 along the translation, so no local translation moves the entity
    /// that way. Translations across that axis still work.
    #[error("{0} cannot be moved this way: the scale of an ancestor is 0 along it")]
    SingularParent(Entity),
    /// The translation, or the transform of an ancestor, is NaN or infinite, a rotation is zero, or
    /// the ancestors form a loop.
    #[error("{0} cannot be moved: the translation or the transform of an ancestor is not finite")]
    NotFinite(Entity),
}

impl WorldMover<'_, '_> {
    /// Moves an entity by `translation`, in the world's frame and units.
    ///
    /// A translation of 0 does not mark the `Transform` as changed. An ancestor without a
    /// `Transform` moves nothing.
    ///
    /// # Errors
    ///
    /// See [`WorldMoveError`]. A system can return it by `?`, and Bevy panics then by default: if
    /// ancestors may have a scale of 0, handle the error.
    pub fn translate(&mut self, entity: Entity, translation: Vec3) -> Result<(), WorldMoveError> {
        let local = self.in_parent_frame(entity, translation.as_dvec3())?;
        let (transform, _) = self
            .entities
            .get_mut(entity)
            .map_err(|_| WorldMoveError::NoTransform(entity))?;
        let mut transform = transform.ok_or(WorldMoveError::NoTransform(entity))?;
        let moved = (transform.translation.as_dvec3() + local).as_vec3();
        if !moved.is_finite() {
            return Err(WorldMoveError::NotFinite(entity));
        }
        if moved != transform.translation {
            transform.translation = moved;
        }
        Ok(())
    }

    /// Returns a translation of the world in the frame of the entity's parent.
    fn in_parent_frame(&self, entity: Entity, world: DVec3) -> Result<DVec3, WorldMoveError> {
        let no_transform = |_| WorldMoveError::NoTransform(entity);
        let mut ancestors: SmallVec<[&Transform; 8]> = SmallVec::new();
        let (_, mut parent) = self.entities.get(entity).map_err(no_transform)?;
        for _ in 0..MAX_ANCESTORS {
            let Some(ancestor) = parent.map(ChildOf::parent) else {
                let mut root_first = ancestors.iter().rev();
                return root_first.try_fold(world, |translation, transform| {
                    invert(transform, translation, entity)
                });
            };
            let (transform, next) = self.entities.get(ancestor).map_err(no_transform)?;
            ancestors.extend(transform);
            parent = next;
        }
        Err(WorldMoveError::NotFinite(entity))
    }
}

/// Solves `rotation * (scale * x) = translation`. Where the scale is 0, x is 0 if that is a
/// solution.
fn invert(
    transform: &Transform,
    translation: DVec3,
    entity: Entity,
) -> Result<DVec3, WorldMoveError> {
    let rotation = Vec3::rotation_of(transform.rotation.as_dquat());
    let rotation = rotation.ok_or(WorldMoveError::NotFinite(entity))?;
    let turned = rotation.transpose() * translation;
    let scale = transform.scale.as_dvec3();
    let flat = scale.cmpeq(DVec3::ZERO);
    let lost = DVec3::select(flat, turned, DVec3::ZERO);
    if lost.length() > LOST * turned.length() {
        return Err(WorldMoveError::SingularParent(entity));
    }
    Ok(DVec3::select(flat, DVec3::ZERO, turned / scale))
}
