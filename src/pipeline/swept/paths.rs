//! The paths of colliders from the previous tick to this tick, while any collider is swept.
//!
//! When the proxies are up to date, [`sync`](crate::pipeline::sync) calls [`SweptPaths::find`],
//! which finds the paths of all changed proxies. The broad phase uses boxes around the paths. All
//! other stages, and spatial queries, use the boxes of the proxies in their current poses. The
//! report stage calls [`store_poses`], which stores the poses for the next tick.

use bevy::prelude::*;

use crate::{
    collision::{Collisions, PreviousPoses},
    math::{Vec2, Vec3},
    pipeline::{
        proxies::{Proxies, ProxyArena, ProxySlot},
        swept::path_table::PathTable,
    },
    space::Space,
};

/// The paths of this tick in both dimensions.
#[derive(Resource, Default)]
pub struct SweptPaths {
    pub d2: PathTable<Vec2>,
    pub d3: PathTable<Vec3>,
}

impl SweptPaths {
    /// Drops the paths of the previous tick. Call this function after [`Proxies::begin_tick`].
    pub fn begin_tick(&mut self, proxies: &mut Proxies) {
        self.d2.end_tick(&mut proxies.d2);
        self.d3.end_tick(&mut proxies.d3);
    }

    /// Finds the paths of this tick. If `is_restart` is `true`, the previous tick was aborted, and
    /// there are no paths.
    pub fn find(&mut self, proxies: &mut Proxies, collisions: &mut Collisions, is_restart: bool) {
        let (poses_2d, poses_3d) = (&mut collisions.poses_2d, &mut collisions.poses_3d);
        // If the app teleports an entity and then moves the entity back, the proxy does not change,
        // but the entity has a path. So the proxy is marked as changed.
        poses_2d.begin_tick();
        poses_3d.begin_tick();
        for entity in poses_2d.teleported.iter().chain(&poses_3d.teleported) {
            proxies.mark_changed(*entity);
        }
        if !proxies.has_swept {
            self.d2.clear();
            self.d3.clear();
        } else if is_restart {
            self.d2.find(&proxies.d2, &PreviousPoses::default());
            self.d3.find(&proxies.d3, &PreviousPoses::default());
        } else {
            self.d2.find(&proxies.d2, poses_2d);
            self.d3.find(&proxies.d3, poses_3d);
        }
    }
}

/// Stores the poses of this tick for the next tick, if any collider is swept or one-way.
/// `is_current` is `false` if the app has written the contacts during this tick.
pub fn store_poses(collisions: &mut Collisions, proxies: &Proxies, is_current: bool) {
    let (poses_2d, poses_3d) = (&mut collisions.poses_2d, &mut collisions.poses_3d);
    poses_2d.teleported.clear();
    poses_3d.teleported.clear();
    if !is_current {
        poses_2d.clear();
        poses_3d.clear();
    } else if !proxies.needs_poses() || proxies.is_restored {
        poses_2d.clear_stored();
        poses_3d.clear_stored();
    }
    if proxies.needs_poses() {
        let slot_of = |entity| proxies.slot(entity);
        let is_in_2d = |entity| matches!(slot_of(entity), Some(ProxySlot::D2(_)));
        let is_in_3d = |entity| matches!(slot_of(entity), Some(ProxySlot::D3(_)));
        store(poses_2d, &proxies.d2, is_in_2d);
        store(poses_3d, &proxies.d3, is_in_3d);
    }
}

fn store<V: Space>(
    poses: &mut PreviousPoses<V::DVec>,
    arena: &ProxyArena<V>,
    is_proxy: impl Fn(Entity) -> bool,
) {
    let insert = |poses: &mut PreviousPoses<_>, slot| {
        if let Some(proxy) = arena.get(slot) {
            poses.insert(proxy.entity, proxy.own_pose().affine());
        }
    };
    if core::mem::replace(&mut poses.is_complete, true) {
        let changed = arena.changed().iter();
        changed.for_each(|slot| insert(poses, *slot));
    } else {
        arena.slots().for_each(|slot| insert(poses, slot));
    }
    if poses.poses.len() > arena.count() {
        // Drops the poses of removed proxies. `retain` keeps the poses that `Teleported` stored,
        // because an entity that was spawned in this tick has no proxy yet.
        poses.retain(is_proxy);
    }
}
