//! Moves an entity by a translation in the world's frame, under any parent. An app calls
//! [`WorldMover::translate`] in its response.

use bevy::{
    ecs::{entity_disabling::Disabled, query::Allow, system::SystemParam},
    prelude::*,
};
use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    space::DVector,
};

/// The maximum number of ancestors. A longer chain of ancestors counts as a loop.
pub(crate) const MAX_ANCESTORS: usize = 4096;

/// The maximum fraction of a translation that may be lost along axes of scale 0: a few rounding
/// errors of the ancestors' f32 rotations.
const MAX_LOSS: f64 = 1e-6;

/// A system parameter that moves entities by translations in the world's frame, whatever the
/// rotation and scale of their parents.
///
/// ```
/// use bevy::{ecs::system::RunSystemOnce, prelude::*};
/// use headbutt::prelude::*;
///
/// let mut world = World::new();
/// // A ship with a scale of 2 that is rotated by 90 degrees.
/// let rotation = Quat::from_rotation_z(90_f32.to_radians());
/// let ship = world.spawn(Transform::from_rotation(rotation).with_scale(Vec3::splat(2.0))).id();
/// let sailor = world.spawn((ChildOf(ship), Transform::IDENTITY)).id();
///
/// let step = move |mut mover: WorldMover| mover.translate(sailor, Vec3::X);
/// world.run_system_once(step).unwrap().unwrap();
/// // One unit along the world's x is half a unit along the ship's -y.
/// let local = world.get::<Transform>(sailor).unwrap().translation;
/// assert!(local.abs_diff_eq(Vec3::new(0.0, -0.5, 0.0), 1e-6));
/// ```
///
/// `WorldMover` reads the current `Transform`s of all ancestors, because `GlobalTransform` is one
/// frame late in a fixed step. `WorldMover` changes only the `Transform` of the moved entity. The
/// computation is in f64, and rounds the new translation to f32 once.
///
/// `WorldMover` writes `Transform`, so Bevy does not allow another parameter of the same system to
/// access `Transform`. Compute the translations in an earlier system, or use a `ParamSet`.
#[derive(SystemParam)]
pub struct WorldMover<'w, 's> {
    entities:
        Query<'w, 's, (Option<&'static mut Transform>, Option<&'static ChildOf>), Allow<Disabled>>,
}

/// The reason why a [`WorldMover`] did not move an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldMoveError {
    /// The entity does not exist or has no `Transform`. Or a component of Bevy's
    /// `DefaultQueryFilters` other than `Disabled` hides the entity or an ancestor.
    #[error("{0} cannot be moved: it has no `Transform`, or it or an ancestor is hidden")]
    NoTransform(Entity),
    /// An ancestor has a scale of 0 along an axis, and the translation has a component along that
    /// axis. Translations perpendicular to the axis still work.
    #[error("{0} cannot be moved in this direction: an ancestor has a scale of 0 along it")]
    SingularParent(Entity),
    /// The translation, or the transform of an ancestor, is NaN or infinite, a rotation has length
    /// 0, or the ancestors form a loop.
    #[error("{0} cannot be moved: the translation or the transform of an ancestor is not finite")]
    NotFinite(Entity),
}

impl WorldMover<'_, '_> {
    /// Moves an entity by `translation`, in the world's frame and units.
    ///
    /// A translation of 0 does not mark the `Transform` as changed. An ancestor without a
    /// `Transform` counts as an ancestor with the identity transform.
    ///
    /// # Errors
    ///
    /// See [`WorldMoveError`]. If a system returns the error with `?`, Bevy panics by default. If
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

    /// Converts a translation from the world's frame to the frame of the entity's parent.
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

/// Solves `rotation * (scale * x) = translation`. Components of x along axes of scale 0 are 0.
/// Returns an error if there is no such solution.
fn invert(
    transform: &Transform,
    translation: DVec3,
    entity: Entity,
) -> Result<DVec3, WorldMoveError> {
    let rotation = DVec3::rotation_of(transform.rotation.as_dquat());
    let rotation = rotation.ok_or(WorldMoveError::NotFinite(entity))?;
    let unrotated = rotation.transpose() * translation;
    let scale = transform.scale.as_dvec3();
    let flat = scale.cmpeq(DVec3::ZERO);
    let lost = DVec3::select(flat, unrotated, DVec3::ZERO);
    if lost.length() > MAX_LOSS * unrotated.length() {
        return Err(WorldMoveError::SingularParent(entity));
    }
    Ok(DVec3::select(flat, DVec3::ZERO, unrotated / scale))
}
