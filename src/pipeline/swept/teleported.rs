//! The marker that begins a new path. The hook [`begin_path`] runs when the marker is inserted.
//! `sync` calls [`remove_teleported`] at its end.

use std::collections::BTreeSet;

#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};
use bevy::{
    ecs::{entity_disabling::Disabled, lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
};
use smallvec::SmallVec;

use crate::{
    collider::{Collider, entity_pose},
    collision::Collisions,
    math::{Vec2, Vec3},
    shape::AnyColliderShape,
};

/// A marker that begins a new path for a [`Swept`](crate::Swept) collider. If you insert the marker
/// together with a new `Transform`, the collider hits nothing between its old and its new pose.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Ball;
///
/// fn serve(mut commands: Commands, ball: Single<Entity, With<Ball>>) {
///     commands.entity(*ball).insert((Transform::from_xyz(0.0, -5.0, 0.0), Teleported));
/// }
/// ```
///
/// The path of the next tick begins in the pose that the entity has when the marker is inserted.
/// Three cases need the marker:
///
/// * If you teleport an entity, insert the marker in or after the command that moves the entity.
/// * If a response corrects the pose of a swept collider, insert the marker in that response.
///   Otherwise the next path would begin in the pose before the correction, perhaps behind the wall
///   that was hit.
/// * If you spawn a bullet that moves in the same tick, spawn it with the marker.
///
/// A teleported body also forgets which [`OneWay`](crate::OneWay) colliders supported it. Insert
/// the marker before [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync), or together with the
/// move. Between `Sync` and the narrow phase, the marker already affects how one-way colliders
/// decide in the running tick.
///
/// The component applies to the colliders of the entity and of all its descendants. The plugin
/// removes the component in the next [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
// With this storage, an entity stays in its table when the component is inserted or removed. So the
// plugin does not read the collider again.
#[component(storage = "SparseSet", on_insert = begin_path)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Teleported;

/// Stores the current poses of an entity and its descendants as the poses of the previous tick. The
/// poses are stored in [`Collisions`], not in the component, so that a rollback restores them.
fn begin_path(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    // The hierarchy may have loops, so visited entities are skipped.
    let mut visited = BTreeSet::new();
    let mut next = vec![entity];
    while let Some(entity) = next.pop() {
        if visited.insert(entity) {
            next.extend(world.get::<Children>(entity).into_iter().flatten());
            store_pose(&mut world, entity);
        }
    }
}

fn store_pose(world: &mut DeferredWorld, entity: Entity) {
    let shape = world.get::<Collider>(entity).map(Collider::shape);
    let (pose_2d, pose_3d) = match shape {
        Some(AnyColliderShape::D2(_)) => (entity_pose::<Vec2>(world, entity).ok(), None),
        Some(AnyColliderShape::D3(_)) => (None, entity_pose::<Vec3>(world, entity).ok()),
        _ => return,
    };
    if let Some(mut collisions) = world.get_resource_mut::<Collisions>() {
        // If the resource were marked as changed, its contacts would count as restored.
        let collisions = collisions.bypass_change_detection();
        if let Some(pose) = pose_2d {
            collisions.poses_2d.begin(entity, pose.affine());
        }
        if let Some(pose) = pose_3d {
            collisions.poses_3d.begin(entity, pose.affine());
        }
    }
}

/// Removes [`Teleported`] from all entities. Hooks and observers of the removal may change the
/// world freely.
pub fn remove_teleported(
    world: &mut World,
    teleported: &mut QueryState<Entity, (With<Teleported>, Allow<Disabled>)>,
) {
    let marked: SmallVec<[Entity; 32]> = teleported.iter(world).collect();
    for entity in marked {
        // An observer may have despawned the entity.
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<Teleported>();
        }
    }
}
