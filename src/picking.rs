//! A backend for Bevy's picking: the colliders under a pointer. [`HeadbuttPickingPlugin`] adds the
//! system [`report_hits`], which runs once per frame.
//!
//! Picking uses the poses on the screen: the `GlobalTransform`s of the last frame. If a game
//! smooths the motion between two ticks, these poses differ from the poses of the tick. So the
//! backend does not use the index of [`SpatialQuery`](crate::SpatialQuery).

use bevy::{
    camera::{
        Camera,
        visibility::{InheritedVisibility, RenderLayers},
    },
    ecs::query::QueryData,
    picking::{
        Pickable, PickingSystems,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

use crate::{
    Collider, CollisionLayers, Sensor,
    math::{Ray3d, Vec2, Vec3},
    meeting::PairTraits,
    query::{self, RaySide},
};

/// Reports the colliders under a pointer to Bevy's picking, which then triggers pointer events,
/// such as clicks, on their entities. Requires the feature `picking`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// // In a game, `DefaultPlugins` adds Bevy's picking plugins.
/// App::new().add_plugins((MinimalPlugins, HeadbuttPlugin::default(), HeadbuttPickingPlugin));
///
/// fn spawn_button(mut commands: Commands) {
///     // An observer of `Pointer<Click>` (Bevy 0.19) or `PointerClick` (0.20) runs on each click.
///     commands.spawn((Collider::rectangle(80.0, 20.0), Transform::from_xyz(0.0, 0.0, 1.0)));
/// }
/// ```
///
/// # What is hit
///
/// * A 3D collider is hit where the ray of the pointer enters the collider. A collider that
///   contains the camera is not hit.
/// * A 2D collider is hit in the plane at its entity's z. A polyline is hit only on its line:
///   `rounded` makes the line wide enough to click on.
/// * All hits are reported, sorted by their distance along the ray, then by entity. So for a 2D
///   camera, a collider with a greater z is in front. Bevy's `Pickable` decides whether an entity
///   hides the entities behind it, and `Pickable::IGNORE` excludes an entity.
/// * An entity is not hit if Bevy's `Visibility` hides it, or if the camera does not draw its
///   `RenderLayers`. An entity without `RenderLayers` is on layer 0.
/// * [`HeadbuttPickingCamera`] selects colliders by their layers, and can include sensors.
///
/// # Poses
///
/// Picking uses the poses of the last drawn frame (`GlobalTransform`), while
/// [`SpatialQuery`](crate::SpatialQuery) uses the poses of the tick. Picking does not need the
/// tick, and also works without [`HeadbuttPlugin`](crate::HeadbuttPlugin).
///
/// # Hit data
///
/// `depth` is the distance from the near plane of the camera, and `position` and `normal` are in
/// the world's frame. For 3D colliders, `extra_as::<RayHit<Vec3>>()` returns the
/// [`RayHit`](crate::query::RayHit), which also has the index of the part that is hit.
///
/// # Cost
///
/// As long as there is a pointer, each frame tests all colliders that the camera selects.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadbuttPickingPlugin;

impl Plugin for HeadbuttPickingPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<HeadbuttPickingSettings>()
            .register_type::<HeadbuttPickingSettings>()
            .register_type::<HeadbuttPickingCamera>()
            .add_message::<PointerHits>()
            .add_systems(
                PreUpdate,
                report_hits
                    .in_set(PickingSystems::Backend)
                    .run_if(resource_exists::<RayMap>),
            );
    }
}

/// Settings of the [`HeadbuttPickingPlugin`].
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct HeadbuttPickingSettings {
    /// If `true`, only cameras with a [`HeadbuttPickingCamera`] pick, and only entities with Bevy's
    /// `Pickable` are hit. `false` by default.
    pub require_markers: bool,
}

/// Selects the colliders that a camera picks. A camera without this component picks colliders on
/// all layers, but no sensors.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// const UNIT: u32 = 1 << 3;
///
/// fn spawn_camera(mut commands: Commands) {
///     let layers = CollisionLayers::new(u32::MAX, UNIT);
///     commands.spawn((Camera3d::default(), HeadbuttPickingCamera { layers, sensors: true }));
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct HeadbuttPickingCamera {
    /// The layers with which the camera picks. A collider is hit if its layers [interact
    /// with](CollisionLayers::interacts_with) these layers.
    pub layers: CollisionLayers,
    /// If `true`, [sensors](Sensor) are hit, too.
    pub sensors: bool,
}

#[derive(QueryData)]
struct PickingTarget {
    entity: Entity,
    collider: &'static Collider,
    pose: &'static GlobalTransform,
    layers: Option<&'static CollisionLayers>,
    is_sensor: Has<Sensor>,
    pickable: Option<&'static Pickable>,
    render_layers: Option<&'static RenderLayers>,
    visibility: Option<&'static InheritedVisibility>,
}

fn report_hits(
    rays: Res<RayMap>,
    settings: Res<HeadbuttPickingSettings>,
    cameras: Query<(
        &Camera,
        Option<&HeadbuttPickingCamera>,
        Option<&RenderLayers>,
    )>,
    targets: Query<PickingTarget>,
    mut messages: MessageWriter<PointerHits>,
) {
    for (id, ray) in rays.iter() {
        let Ok((camera, marker, render_layers)) = cameras.get(id.camera) else {
            continue;
        };
        if settings.require_markers && marker.is_none() {
            continue;
        }
        let camera_layers = render_layers.unwrap_or_default();
        let filter = marker.copied().unwrap_or_default();
        let selected = targets.iter().filter(|target| {
            filter.selects(target)
                && (target.pickable.is_some() || !settings.require_markers)
                && camera_layers.intersects(target.render_layers.unwrap_or_default())
        });
        let hits = selected.filter_map(|target| {
            let hit = if target.collider.shape_2d().is_some() {
                hit_in_2d(&target, ray, id.camera)
            } else {
                hit_in_3d(&target, ray, id.camera)
            };
            Some((target.entity, hit?))
        });
        let mut hits: Vec<_> = hits.collect();
        if !hits.is_empty() {
            // Bevy keeps the order of hits at equal depth, so these hits are sorted by entity.
            hits.sort_unstable_by(|(a, hit_a), (b, hit_b)| {
                hit_a.depth.total_cmp(&hit_b.depth).then(a.cmp(b))
            });
            messages.write(PointerHits::new(id.pointer, hits, camera.order as f32));
        }
    }
}

impl HeadbuttPickingCamera {
    fn selects(&self, target: &PickingTargetItem) -> bool {
        let traits = PairTraits {
            layers: target.layers.copied().unwrap_or_default(),
            is_sensor: target.is_sensor,
            ..PairTraits::default()
        };
        traits.are_found_by(self.layers, self.sensors)
            && target.pickable != Some(&Pickable::IGNORE)
            && target.visibility.is_none_or(|visibility| visibility.get())
    }
}

fn hit_in_3d(target: &PickingTargetItem, ray: &Ray3d, camera: Entity) -> Option<HitData> {
    let hit = query::cast_ray(target.collider, target.pose, *ray)?;
    if hit.side == RaySide::Inside {
        return None;
    }
    let (position, normal) = (Some(hit.point), Some(hit.normal));
    Some(HitData::new_with_extra(
        camera,
        hit.distance,
        position,
        normal,
        hit,
    ))
}

/// Returns the hit where a ray crosses the plane of a 2D collider.
fn hit_in_2d(target: &PickingTargetItem, ray: &Ray3d, camera: Entity) -> Option<HitData> {
    let z = target.pose.translation().z;
    let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let distance = (f64::from(z) - origin.z) / direction.z;
    // If the ray is parallel to the plane at `z`, the distance is infinite or NaN.
    if !(distance >= 0.0 && distance.is_finite()) {
        return None;
    }
    let position = (origin + direction * distance).as_vec3().with_z(z);
    let point = position.truncate();
    let normal = Vec3::NEG_Z * ray.direction.z.signum();
    let is_hit = target.collider.contains_point::<Vec2>(target.pose, point);
    is_hit.then(|| HitData::new(camera, distance as f32, Some(position), Some(normal)))
}
