//! The drawing of the outlines and boxes of all colliders.
//!
//! Colliders share layers, because each layer costs a draw call in each frame. Colliders with
//! nearby entity indices are in one layer, so no list of free layers is needed. If one collider
//! moves, the lines of its whole layer are mapped to the world again. So a collider with many lines
//! has a layer of its own.

use std::collections::BTreeMap;

use bevy::{
    camera::Camera,
    color::LinearRgba,
    ecs::{
        entity::{EntityHashMap, EntityHashSet},
        query::QueryData,
        system::SystemParam,
    },
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

use crate::{
    Collider, ColliderAabb, ColliderGizmo, Collisions, ExplainedPair, HeadbuttGizmos, OneWay,
    Sensor,
    debug::{
        ground::{GroundGrid, Viewpoint},
        layer::{Canvas, GizmoLayer, add_lines},
        lines::{LineSegment, arrow, box_edges, cross},
        settings::GizmoPoses,
    },
    math::Vec3,
    pipeline::proxies::{Proxies, ProxySlot},
};

/// The number of entity indices that share a layer.
const SHARED: u32 = 64;

/// The maximum number of lines of a collider in a shared layer.
const MANY_LINES: usize = 512;

/// The length of the arrow of a one-way collider, as a fraction of the diagonal of its box.
const ONE_WAY_ARROW: f32 = 0.25;

#[derive(QueryData)]
pub struct ColliderData {
    entity: Entity,
    collider: Ref<'static, Collider>,
    pose: &'static GlobalTransform,
    is_sensor: Has<Sensor>,
    one_way: Option<Ref<'static, OneWay>>,
    gizmo: Option<&'static ColliderGizmo>,
}

/// The results of the last tick, if the app has ticks, and the explained pair.
#[derive(SystemParam)]
pub struct TickResults<'w> {
    proxies: Option<Res<'w, Proxies>>,
    collisions: Option<Res<'w, Collisions>>,
    explained: Res<'w, ExplainedPair>,
}

/// The key of the layer in which a collider is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GizmoLayerKey {
    Shared(u32),
    Own(Entity),
}

/// The appearance of a collider: its pose, its color, and the grid if it is a half-space.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Appearance {
    pose: Affine3A,
    color: LinearRgba,
    ground: Option<GroundGrid>,
}

/// A drawn collider, and its lines.
struct DrawnCollider {
    key: GizmoLayerKey,
    appearance: Appearance,
    is_one_way: bool,
    /// The lines of the shape in the frame of the collider, or in the world if there is a `ground`.
    lines: Vec<LineSegment>,
    /// The lines of the bounding box in the world.
    box_lines: Vec<LineSegment>,
}

#[derive(Default)]
struct LayerMembers {
    lines: GizmoLayer,
    members: Vec<Entity>,
    is_outdated: bool,
}

/// All drawn colliders, and their layers.
#[derive(Default)]
pub struct Shapes {
    settings: Option<HeadbuttGizmos>,
    drawn: EntityHashMap<DrawnCollider>,
    layers: BTreeMap<GizmoLayerKey, LayerMembers>,
    /// The colliders with a contact in the last tick.
    touching: EntityHashSet,
}

/// Draws the shapes and boxes that have changed.
pub fn draw_shapes(
    targets: Query<ColliderData>,
    tick: TickResults,
    cameras: Query<(&Camera, Option<&Projection>, &GlobalTransform)>,
    mut shapes: Local<Shapes>,
    mut canvas: Canvas,
) {
    let settings = canvas.settings();
    let Some(settings) = settings.filter(|settings| settings.shapes || settings.boxes) else {
        return shapes.clear(&mut canvas);
    };
    shapes.begin(settings, &tick);
    let camera = Viewpoint::of_first(&cameras);
    let new = EntityHashMap::with_capacity(shapes.drawn.len());
    let mut old = core::mem::replace(&mut shapes.drawn, new);
    for target in &targets {
        let is_drawn = settings.selects(target.gizmo) || tick.explains(target.entity, &settings);
        if is_drawn
            && let Some(appearance) = shapes.appearance(&target, &settings, &tick, camera.as_ref())
        {
            shapes.update(&target, appearance, old.remove(&target.entity), &settings);
        }
    }
    // The colliders that remain in `old` disappear, so the layers that contain their lines are
    // rebuilt.
    for gone in old.values() {
        shapes.layers.entry(gone.key).or_default().is_outdated = true;
    }
    shapes.draw(settings.colors.boxes.to_linear(), &mut canvas);
}

impl HeadbuttGizmos {
    fn selects(&self, gizmo: Option<&ColliderGizmo>) -> bool {
        match gizmo {
            None => !self.require_component,
            Some(gizmo) => *gizmo != ColliderGizmo::Hidden,
        }
    }
}

impl Shapes {
    /// Removes all lines, and frees the memory.
    fn clear(&mut self, canvas: &mut Canvas) {
        for layer in self.layers.values_mut() {
            layer.lines.clear(canvas);
        }
        *self = Self::default();
    }

    /// Prepares for the colliders of this frame: applies new settings, and updates the touching
    /// colliders.
    fn begin(&mut self, settings: HeadbuttGizmos, tick: &TickResults) {
        let are_new = self.settings != Some(settings);
        if are_new {
            // Without an entry in `drawn`, all lines of a collider are computed again.
            self.drawn.clear();
            self.layers
                .values_mut()
                .for_each(|layer| layer.is_outdated = true);
            self.settings = Some(settings);
        }
        let are_changed = tick.collisions.as_ref().is_some_and(|it| it.is_changed());
        if are_new || are_changed {
            let collisions = tick.collisions.iter().flat_map(|it| it.iter());
            self.touching = collisions.flat_map(|hit| [hit.entity, hit.other]).collect();
        }
    }

    /// Returns the appearance of a collider, or `None` if its pose is not finite.
    fn appearance(
        &self,
        target: &ColliderDataItem,
        settings: &HeadbuttGizmos,
        tick: &TickResults,
        camera: Option<&Viewpoint>,
    ) -> Option<Appearance> {
        let pose = tick.drawn_pose(target.entity, &target.collider, target.pose, settings);
        let ground = camera.and_then(|camera| GroundGrid::of(&target.collider, &pose, camera));
        let color = match target.gizmo {
            _ if tick.explains(target.entity, settings) => settings.colors.explanation,
            Some(ColliderGizmo::Color(color)) => *color,
            _ => self.state_color(target, settings, tick),
        };
        let appearance = Appearance {
            pose,
            color: color.to_linear(),
            ground,
        };
        pose.is_finite().then_some(appearance)
    }

    /// Returns the color for the state of a collider.
    fn state_color(
        &self,
        target: &ColliderDataItem,
        settings: &HeadbuttGizmos,
        tick: &TickResults,
    ) -> Color {
        let (colors, entity) = (&settings.colors, target.entity);
        let proxies = tick.proxies.as_ref();
        let slot = proxies.and_then(|proxies| proxies.slot(entity));
        let is_unchanged = || proxies.is_some_and(|proxies| proxies.is_unchanged(entity));
        if target.collider.is_inert() || slot == Some(ProxySlot::Invalid) {
            colors.inert
        } else if self.touching.contains(&entity) {
            colors.touching
        } else if target.is_sensor {
            colors.sensor
        } else if slot.is_some() && !is_unchanged() {
            colors.moving
        } else {
            colors.resting
        }
    }

    /// Adds a collider. `old` is the same collider as drawn in the previous frame.
    fn update(
        &mut self,
        target: &ColliderDataItem,
        appearance: Appearance,
        old: Option<DrawnCollider>,
        settings: &HeadbuttGizmos,
    ) {
        let (entity, collider) = (target.entity, &*target.collider);
        let old_key = old.as_ref().map(|old| old.key);
        let is_known = |old: &DrawnCollider| old.appearance.ground == appearance.ground;
        let one_way = target.one_way.as_ref();
        let is_changed = target.collider.is_changed()
            || one_way.is_some_and(DetectChanges::is_changed)
            || old
                .as_ref()
                .is_some_and(|old| old.is_one_way != one_way.is_some());
        let known = old.filter(|old| !is_changed && is_known(old));
        let drawn = match known {
            Some(known) if known.appearance == appearance => known,
            known => {
                let known = known.map(|known| known.lines);
                let lines =
                    known.unwrap_or_else(|| shape_lines(target, appearance.ground, settings));
                let key = if lines.len() > MANY_LINES {
                    GizmoLayerKey::Own(entity)
                } else {
                    GizmoLayerKey::Shared(entity.index_u32() / SHARED)
                };
                for key in [Some(key), old_key].into_iter().flatten() {
                    self.layers.entry(key).or_default().is_outdated = true;
                }
                let layer = self.layers.entry(key).or_default();
                if !layer.members.contains(&entity) {
                    layer.members.push(entity);
                }
                let corners = || box_corners(collider, appearance.pose);
                let corners = settings.boxes.then(corners).flatten();
                DrawnCollider {
                    key,
                    appearance,
                    is_one_way: one_way.is_some(),
                    lines,
                    box_lines: corners.map_or_else(Vec::new, |[min, max]| box_edges(min, max)),
                }
            }
        };
        self.drawn.insert(entity, drawn);
    }

    /// Draws the changed layers, and removes empty layers.
    fn draw(&mut self, box_color: LinearRgba, canvas: &mut Canvas) {
        let Self { drawn, layers, .. } = self;
        layers.retain(|key, layer| {
            if layer.is_outdated || layer.lines.is_lost(canvas) {
                let is_member = |drawn: &DrawnCollider| drawn.key == *key;
                layer
                    .members
                    .retain(|entity| drawn.get(entity).is_some_and(is_member));
                let members = layer.members.iter().filter_map(|entity| drawn.get(entity));
                layer.lines.draw(canvas, |asset| {
                    members.for_each(|drawn| drawn.add_to(asset, box_color));
                });
                layer.is_outdated = false;
            }
            layer.lines.update_style(canvas);
            !layer.members.is_empty()
        });
    }
}

impl DrawnCollider {
    fn add_to(&self, asset: &mut GizmoAsset, box_color: LinearRgba) {
        let Appearance {
            pose,
            color,
            ground,
        } = self.appearance;
        // The box is drawn first, so that the shape is visible where lines coincide.
        add_lines(asset, &self.box_lines, box_color, |point| point);
        match ground {
            Some(_) => add_lines(asset, &self.lines, color, |point| point),
            None => add_lines(asset, &self.lines, color, |point| {
                pose.transform_point3(point)
            }),
        }
    }
}

/// Returns the lines of a shape: see [`DrawnCollider::lines`].
fn shape_lines(
    target: &ColliderDataItem,
    ground: Option<GroundGrid>,
    settings: &HeadbuttGizmos,
) -> Vec<LineSegment> {
    let collider = &*target.collider;
    if !settings.shapes {
        return Vec::new();
    }
    if collider.is_inert() {
        return cross(Vec3::ZERO, settings.inert_size, false).collect();
    }
    let lines = ground.map_or_else(|| collider.wireframe(), |ground| ground.lines());
    let one_way = target.one_way.as_ref();
    let arrow = one_way.and_then(|it| one_way_lines(collider, it));
    lines
        .into_iter()
        .chain(arrow.into_iter().flatten())
        .collect()
}

/// Returns an arrow in the frame of a one-way collider, out of its solid side.
fn one_way_lines(collider: &Collider, one_way: &OneWay) -> Option<[LineSegment; 3]> {
    let [min, max] = box_corners(collider, Affine3A::IDENTITY)?;
    let (center, size) = ((min + max) * 0.5, (max - min).length());
    let mut direction = one_way.direction;
    if collider.shape_2d().is_some() {
        direction.z = 0.0;
    }
    let end = center + direction.try_normalize()? * (ONE_WAY_ARROW * size);
    Some(arrow(center, end, 0.3 * ONE_WAY_ARROW * size))
}

/// Returns the corners of a bounding box in the world. In 2D, the corners are in the plane of the
/// collider.
pub fn box_corners(collider: &Collider, pose: Affine3A) -> Option<[Vec3; 2]> {
    let ColliderAabb { min, max } = collider.aabb(GlobalTransform::from(pose))?;
    let z = pose.translation.z;
    Some(match collider.shape_2d() {
        Some(_) => [min.with_z(z), max.with_z(z)],
        None => [min, max],
    })
}

impl TickResults<'_> {
    /// Returns `true` if an entity belongs to the explained pair and explanations are drawn.
    fn explains(&self, entity: Entity, settings: &HeadbuttGizmos) -> bool {
        let pair = self.explained.pair;
        settings.explanation && pair.is_some_and(|pair| pair.contains(&entity))
    }

    /// Returns the pose in which a collider is drawn.
    pub fn drawn_pose(
        &self,
        entity: Entity,
        collider: &Collider,
        pose: &GlobalTransform,
        settings: &HeadbuttGizmos,
    ) -> Affine3A {
        let rendered = drawn_pose(collider, pose);
        match settings.poses {
            GizmoPoses::Rendered => rendered,
            GizmoPoses::Tick => self.tick_pose(entity, rendered).unwrap_or(rendered),
        }
    }

    /// Returns the pose of a collider in the last tick, or `None` if no tick has read the collider.
    /// In 2D, z comes from the rendered pose.
    fn tick_pose(&self, entity: Entity, rendered: Affine3A) -> Option<Affine3A> {
        let proxies = self.proxies.as_ref()?;
        let mut pose = proxies.pose(entity)?;
        if let Some(ProxySlot::D2(_)) = proxies.slot(entity) {
            pose.translation.z = rendered.translation.z;
        }
        Some(pose)
    }
}

/// Returns the drawn pose of a collider. In 2D, the axes of the pose are projected onto the xy
/// plane.
pub fn drawn_pose(collider: &Collider, pose: &GlobalTransform) -> Affine3A {
    flattened(pose.affine(), collider.shape_2d().is_some())
}

/// Returns a pose unchanged in 3D. In 2D, the axes of the pose are projected onto the xy plane.
pub fn flattened(pose: Affine3A, is_2d: bool) -> Affine3A {
    if !is_2d {
        return pose;
    }
    let [x, y] = [pose.matrix3.x_axis, pose.matrix3.y_axis].map(|axis| axis.with_z(0.0));
    Affine3A {
        matrix3: Mat3A::from_cols(x, y, Vec3A::Z),
        ..pose
    }
}
