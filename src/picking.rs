//! A backend for Bevy's picking: the colliders under a pointer.
//!
//! The poses are those on the screen, the `GlobalTransform`s of the last frame. A game may smooth
//! the motion between two ticks, so that the poses of the tick are elsewhere. Therefore the
//! backend cannot use the index of the tick, and keeps one of its own: [`DrawnColliders`].

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
    Collider, CollisionLayers, Sensor,
    collider_query::place::AnyPlaced,
    math::{DVec3, Ray3d, Vec2, Vec3, Vec3Swizzles},
    pipeline::{
        proxies::{Proxies, ProxySlot},
        proxy::Proxy,
        spatial_index::{Overlapping, SpatialIndex},
    },
    query::{self, RaySide},
    shape::{Aabb, Bounds, Path},
};

/// Reports the colliders under a pointer to Bevy's picking, which then triggers clicks and the
/// other pointer events on their entities. Needs the feature `picking`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// // In a game, `DefaultPlugins` has Bevy's part of picking.
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
/// * A 3D collider, where the ray of the pointer enters it. A collider around the camera is not
///   hit.
/// * A 2D collider, in the plane at its entity's z. A polyline is only its line: `rounded` makes it
///   wide enough to click on.
/// * All hits are reported, sorted by their distance along the ray, then by entity. So for a 2D
///   camera, a collider with a greater z is in front. Bevy's `Pickable` says whether an entity
///   hides those behind it, and `Pickable::IGNORE` excludes an entity.
/// * An entity that Bevy's `Visibility` hides is not hit. Neither is an entity whose `RenderLayers`
///   the camera does not draw. (An entity without the component is on layer 0.)
/// * [`HeadbuttPickingCamera`] selects colliders by their layers, and includes sensors.
///
/// # Poses
///
/// Poses are those of the last drawn frame (`GlobalTransform`), while
/// [`SpatialQuery`](crate::SpatialQuery) has those of the tick. Picking does not need the tick:
/// without [`HeadbuttPlugin`](crate::HeadbuttPlugin), it works the same.
///
/// # Hit data
///
/// `depth` is the distance from the near plane of the camera, and `position` and `normal` are in
/// the world. For 3D colliders, `extra_as::<RayHit<Vec3>>()` returns the
/// [`RayHit`](crate::query::RayHit), for example for the part of a compound.
///
/// # Cost
///
/// As long as there is a pointer, each frame compares the poses of all colliders with those of the
/// frame before. Those that have moved get a new bounding box. An index of these boxes finds the
/// colliders near a pointer's ray, and only their shapes are tested.
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

/// Selects the colliders that a camera picks. A camera without this component has the default one:
/// it picks on all layers, and no sensors.
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
    /// Colliders are hit if their layers
    /// [interact with](CollisionLayers::interacts_with) these.
    pub layers: CollisionLayers,
    /// If `true`, [sensors](Sensor) are hit, too.
    pub sensors: bool,
}

#[derive(QueryData)]
struct Target {
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
    targets: Query<Target>,
    mut drawn: Local<DrawnColliders>,
    mut messages: MessageWriter<PointerHits>,
) {
    if rays.map.is_empty() {
        *drawn = DrawnColliders::default();
        return;
    }
    drawn.update(&targets);
    for (id, ray) in rays.iter() {
        let Ok((camera, marker, render_layers)) = cameras.get(id.camera) else {
            continue;
        };
        if settings.require_markers && marker.is_none() {
            continue;
        }
        let camera_layers = render_layers.unwrap_or_default();
        let filter = marker.copied().unwrap_or_default();
        let near = drawn.near(ray).into_iter();
        let near = near.filter_map(|entity| targets.get(entity).ok());
        let selected = near.filter(|target| {
            filter.selects(target)
                && (target.pickable.is_some() || !settings.require_markers)
                && camera_layers.intersects(target.render_layers.unwrap_or_default())
        });
        let hits = selected.filter_map(|target| {
            let hit = hit_in_3d(&target, ray, id.camera)
                .or_else(|| hit_in_2d(&target, ray, id.camera))?;
            Some((target.entity, hit))
        });
        let mut hits: Vec<_> = hits.collect();
        if !hits.is_empty() {
            // Bevy keeps the order of equal depths.
            hits.sort_unstable_by(|(a, hit_a), (b, hit_b)| {
                hit_a.depth.total_cmp(&hit_b.depth).then(a.cmp(b))
            });
            messages.write(PointerHits::new(id.pointer, hits, camera.order as f32));
        }
    }
}

/// The colliders in their drawn poses, with an index of their boxes. Kept from frame to frame.
#[derive(Default)]
struct DrawnColliders {
    proxies: Proxies,
    index: SpatialIndex,
    known: EntityHashMap<Known>,
    frame: u32,
    /// The lowest and the highest z of all 2D colliders, or `None` if there are none.
    z_range: Option<[f32; 2]>,
}

/// What a proxy was computed from.
struct Known {
    pose: GlobalTransform,
    collider_changed: Tick,
    /// The frame in which the collider was found last.
    frame: u32,
}

impl DrawnColliders {
    /// Brings the proxies and the index up to date.
    ///
    /// Poses are compared, rather than Bevy's change ticks, which say nothing about an entity that
    /// was disabled for a while.
    fn update(&mut self, targets: &Query<Target>) {
        self.frame = self.frame.wrapping_add(1);
        self.z_range = None;
        self.proxies.begin_tick();
        for target in targets {
            let collider_changed = target.collider.last_changed();
            let known = self.known.get_mut(&target.entity).filter(|known| {
                known.pose == *target.pose && known.collider_changed == collider_changed
            });
            match known {
                Some(known) => known.frame = self.frame,
                None => self.replace(&target),
            }
            if let Some(ProxySlot::D2(_)) = self.proxies.slot_of(target.entity) {
                let z = target.pose.translation().z;
                let [min, max] = self.z_range.unwrap_or([z; 2]);
                self.z_range = Some([min.min(z), max.max(z)]);
            }
        }
        let Self { known, proxies, .. } = self;
        known.retain(|entity, known| {
            let is_found = known.frame == self.frame;
            if !is_found {
                proxies.forget(*entity);
            }
            is_found
        });
        if known.len() < known.capacity() / 4 {
            known.shrink_to_fit();
        }
        self.index.update(&self.proxies);
        self.index.end_tick();
    }

    /// Computes the proxy of a collider that is new or has changed.
    fn replace(&mut self, target: &TargetItem) {
        let (entity, proxies) = (target.entity, &mut self.proxies);
        proxies.forget(entity);
        let layers = CollisionLayers::default();
        let slot = match AnyPlaced::new(&target.collider, target.pose) {
            Some(AnyPlaced::D2(placed, aabb)) if target.pose.translation().z.is_finite() => {
                ProxySlot::D2(proxies.d2.insert(Proxy::of(entity, layers, placed), aabb))
            }
            Some(AnyPlaced::D3(placed, aabb)) => {
                ProxySlot::D3(proxies.d3.insert(Proxy::of(entity, layers, placed), aabb))
            }
            _ => ProxySlot::Inert,
        };
        proxies.set_slot(entity, slot);
        let known = Known {
            pose: *target.pose,
            collider_changed: target.collider.last_changed(),
            frame: self.frame,
        };
        self.known.insert(entity, known);
    }

    /// Returns the entities whose colliders a ray may hit.
    fn near(&self, ray: &Ray3d) -> Vec<Entity> {
        let Proxies { d2, d3, .. } = &self.proxies;
        let mut slots: Vec<_> = d3
            .half_spaces()
            .iter()
            .copied()
            .map(ProxySlot::D3)
            .collect();
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        let path = Path::new(origin, DVec3::ZERO, direction, f64::INFINITY);
        self.index.d3.get(d3).visit(path, f64::INFINITY, |slot| {
            slots.push(ProxySlot::D3(slot));
            f64::INFINITY
        });
        if let Some(corners) = self.crossings(ray) {
            slots.extend(d2.half_spaces().iter().copied().map(ProxySlot::D2));
            let boxes = Overlapping(corners.corners());
            self.index.d2.get(d2).visit(boxes, f64::INFINITY, |slot| {
                slots.push(ProxySlot::D2(slot));
                f64::INFINITY
            });
        }
        let entities = slots
            .into_iter()
            .filter_map(|slot| self.proxies.entity_in(slot));
        entities.collect()
    }

    /// Returns a box around the points where a ray crosses the planes of all 2D colliders.
    fn crossings(&self, ray: &Ray3d) -> Option<Aabb> {
        let distances = self.z_range?.map(|z| distance_to_plane(ray, z));
        let nearest = distances.into_iter().fold(f64::INFINITY, f64::min).max(0.0);
        let farthest = distances.into_iter().fold(f64::NEG_INFINITY, f64::max);
        // A ray in one of the planes gives an infinity or NaN.
        if !(farthest >= 0.0 && farthest.is_finite()) {
            return None;
        }
        let [start, end] = [nearest, farthest].map(|distance| at(ray, distance).xy());
        let bounds = Bounds {
            min: start.min(end),
            max: start.max(end),
        };
        // Rounded outward, as hits are rounded to f32.
        Some(Aabb::around(&bounds, 0.0))
    }
}

/// Returns the distance at which a ray crosses a plane of constant z. It is negative behind the
/// origin, and infinite or NaN for a ray parallel to the plane.
fn distance_to_plane(ray: &Ray3d, z: f32) -> f64 {
    (f64::from(z) - f64::from(ray.origin.z)) / f64::from(ray.direction.z)
}

fn at(ray: &Ray3d, distance: f64) -> DVec3 {
    ray.origin.as_dvec3() + ray.direction.as_dvec3() * distance
}

impl HeadbuttPickingCamera {
    fn selects(&self, target: &TargetItem) -> bool {
        let layers = target.layers.copied().unwrap_or_default();
        self.layers.interacts_with(layers)
            && (self.sensors || !target.is_sensor)
            && target.pickable != Some(&Pickable::IGNORE)
            && target.visibility.is_none_or(|visibility| visibility.get())
    }
}

fn hit_in_3d(target: &TargetItem, ray: &Ray3d, camera: Entity) -> Option<HitData> {
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
fn hit_in_2d(target: &TargetItem, ray: &Ray3d, camera: Entity) -> Option<HitData> {
    let z = target.pose.translation().z;
    let distance = distance_to_plane(ray, z);
    if !(distance >= 0.0 && distance.is_finite()) {
        return None;
    }
    let position = at(ray, distance).as_vec3().with_z(z);
    let is_hit = target
        .collider
        .contains_point::<Vec2>(target.pose, position.truncate());
    let normal = Vec3::NEG_Z * ray.direction.z.signum();
    is_hit.then(|| HitData::new(camera, distance as f32, Some(position), Some(normal)))
}
