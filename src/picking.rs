//! A backend for Bevy's picking: the colliders under a pointer. [`HeadbuttPickingPlugin`] adds the
//! system [`report_hits`], which runs once per frame.
//!
//! Picking uses the poses on the screen: the `GlobalTransform`s of the last frame. If a game
//! smooths the motion between two ticks, these poses differ from the poses of the tick. So the
//! backend has bounding boxes of its own: [`DrawnBoxes`].

use bevy::{
    camera::{
        Camera,
        visibility::{InheritedVisibility, RenderLayers},
    },
    ecs::{change_detection::Tick, entity::EntityHashMap, query::QueryData},
    picking::{
        Pickable, PickingSystems,
        backend::{HitData, PointerHits, ray::RayMap},
    },
    prelude::*,
};

use crate::{
    Collider, ColliderAabb, CollisionLayers, Sensor,
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
/// As long as there is a pointer, each frame compares the poses of all colliders with their poses
/// in the previous frame. Colliders that have moved get a new bounding box. Only the shapes whose
/// boxes meet a pointer's ray are tested.
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

/// A ray counts as meeting a box even if the computed distance of entry exceeds the distance of
/// exit by this fraction. The fraction is far greater than the rounding of `f64`.
const BOX_DISTANCE_ROUNDING: f64 = 1e-9;

#[derive(QueryData)]
struct PickingTarget {
    entity: Entity,
    collider: Ref<'static, Collider>,
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
    mut boxes: Local<DrawnBoxes>,
    mut messages: MessageWriter<PointerHits>,
) {
    if rays.map.is_empty() {
        *boxes = DrawnBoxes::default();
        return;
    }
    boxes.update(&targets);
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
            let aabb = boxes.0.get(&target.entity)?.aabb;
            let hit = if target.collider.shape_2d().is_some() {
                hit_in_2d(&target, aabb, ray, id.camera)
            } else {
                hit_in_3d(&target, aabb, ray, id.camera)
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

/// The bounding boxes of all colliders in their drawn poses. The boxes are kept from frame to
/// frame.
#[derive(Default)]
struct DrawnBoxes(EntityHashMap<DrawnBox>);

struct DrawnBox {
    /// The bounding box, or `None` for a half-space, an inert collider or an invalid pose.
    aabb: Option<ColliderAabb>,
    pose: GlobalTransform,
    collider_changed: Tick,
}

impl DrawnBoxes {
    /// Computes the boxes of colliders that have changed, and removes the boxes of missing
    /// colliders.
    ///
    /// Poses are compared, because Bevy's change detection misses the moves of an entity that was
    /// disabled for a while.
    fn update(&mut self, targets: &Query<PickingTarget>) {
        let Self(boxes) = self;
        let mut count = 0;
        for target in targets {
            count += 1;
            let (pose, collider_changed) = (*target.pose, target.collider.last_changed());
            let known = boxes.get(&target.entity);
            if known.is_none_or(|known| {
                known.pose != pose || known.collider_changed != collider_changed
            }) {
                let new = DrawnBox {
                    aabb: target.collider.aabb(pose),
                    pose,
                    collider_changed,
                };
                boxes.insert(target.entity, new);
            }
        }
        if boxes.len() > count {
            boxes.retain(|entity, _| targets.contains(*entity));
            boxes.shrink_to(2 * count);
        }
    }
}

/// Returns `true` if a ray meets a box, up to rounding.
fn meets(ray: &Ray3d, aabb: &ColliderAabb) -> bool {
    let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let [a, b] = [aabb.min, aabb.max].map(|corner| (corner.as_dvec3() - origin) / direction);
    let distances = a.to_array().into_iter().zip(b.to_array());
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    // If the ray runs in the plane of a face, a distance is 0 / 0, which is NaN. The faces along
    // this axis then do not limit the ray.
    for (a, b) in distances.filter(|(a, b)| !a.is_nan() && !b.is_nan()) {
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave * (1.0 + BOX_DISTANCE_ROUNDING)
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

fn hit_in_3d(
    target: &PickingTargetItem,
    aabb: Option<ColliderAabb>,
    ray: &Ray3d,
    camera: Entity,
) -> Option<HitData> {
    if aabb.is_some_and(|aabb| !meets(ray, &aabb)) {
        return None;
    }
    let hit = query::cast_ray(&*target.collider, target.pose, *ray)?;
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
fn hit_in_2d(
    target: &PickingTargetItem,
    aabb: Option<ColliderAabb>,
    ray: &Ray3d,
    camera: Entity,
) -> Option<HitData> {
    let z = target.pose.translation().z;
    let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let distance = (f64::from(z) - origin.z) / direction.z;
    // If the ray is parallel to the plane at `z`, the distance is infinite or NaN.
    if !(distance >= 0.0 && distance.is_finite()) {
        return None;
    }
    let position = (origin + direction * distance).as_vec3().with_z(z);
    let point = position.truncate();
    let is_near = aabb.is_none_or(|ColliderAabb { min, max }| {
        min.truncate().cmple(point).all() && point.cmple(max.truncate()).all()
    });
    let is_hit = is_near && target.collider.contains_point::<Vec2>(target.pose, point);
    let normal = Vec3::NEG_Z * ray.direction.z.signum();
    is_hit.then(|| HitData::new(camera, distance as f32, Some(position), Some(normal)))
}
