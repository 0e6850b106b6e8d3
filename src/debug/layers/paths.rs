//! The drawing of the paths of swept colliders in the last tick.

use bevy::{ecs::entity::EntityHashMap, math::Affine3A, prelude::*};

use crate::{
    Collider,
    debug::{
        layer::{Canvas, ColoredLine, LineLayer},
        lines::{LineSegment, placed},
        settings::ColliderColors,
    },
    math::{Vec2, Vec3},
    pipeline::{
        narrow_phase::found_contacts::FoundContacts,
        proxies::{Proxies, ProxyArena},
        swept::{PathMotion, PathTable, SweptPaths},
    },
    shape::WorldPose,
    space::{DVector, Space},
};

type PlacedColliders<'w, 's> = Query<'w, 's, (&'static Collider, &'static GlobalTransform)>;

/// Draws the paths of all swept colliders that moved in the last tick.
pub fn draw_paths(
    colliders: PlacedColliders,
    proxies: Res<Proxies>,
    paths: Res<SweptPaths>,
    found: Res<FoundContacts>,
    mut layer: Local<LineLayer>,
    mut canvas: Canvas,
) {
    let mut lines = Vec::new();
    if let Some(settings) = canvas.settings().filter(|settings| settings.paths) {
        let source = (&colliders, first_times(&found), &settings.colors);
        add_paths::<Vec2>(&proxies.d2, &paths.d2, &source, &mut lines);
        add_paths::<Vec3>(&proxies.d3, &paths.d3, &source, &mut lines);
    }
    layer.update(lines, &mut canvas);
}

/// Returns the time of the first touch of each collider on its path.
fn first_times(found: &FoundContacts) -> EntityHashMap<f64> {
    let mut times = EntityHashMap::default();
    for contact in found.swept.iter() {
        for entity in [contact.event.entity, contact.event.other] {
            let time = times.entry(entity).or_insert(contact.time);
            *time = contact.time.min(*time);
        }
    }
    times
}

/// Adds the lines of all 2D or all 3D paths, given the time of each collider's first touch.
fn add_paths<V: Space>(
    arena: &ProxyArena<V>,
    paths: &PathTable<V>,
    (colliders, times, colors): &(&PlacedColliders, EntityHashMap<f64>, &ColliderColors),
    lines: &mut Vec<ColoredLine>,
) {
    for slot in arena.changed() {
        if let Some(proxy) = arena.get(*slot)
            && proxy.traits.is_swept
            && let Some(path) = paths.path(*slot)
            && let Some(motion) = path.motion(proxy)
            && let Ok((collider, drawn)) = colliders.get(proxy.entity)
        {
            let pose = |time| {
                let mut pose = pose_at::<V>(&motion, time).in_3d();
                if V::DVec::DIMENSION == 2 {
                    pose.translation.z = drawn.translation().z;
                }
                pose
            };
            let time = times.get(&proxy.entity).copied();
            lines.extend(path_lines(&collider.wireframe(), pose, time, colors));
        }
    }
}

/// Returns the pose on a path at a time.
fn pose_at<V: Space>(
    PathMotion { start, motion }: &PathMotion<V::DVec>,
    time: f64,
) -> WorldPose<V::DVec> {
    let rotation = V::DVec::rotation(motion.rotation * time);
    let back = V::DVec::transpose(rotation);
    start.before(back, motion.translation * -time)
}

/// Returns the outlines at the start and at the first touch, and the line along which the origin
/// moves. The end of the path has no outline, because the collider itself is drawn there.
fn path_lines(
    outline: &[LineSegment],
    pose: impl Fn(f64) -> Affine3A,
    first: Option<f64>,
    colors: &ColliderColors,
) -> Vec<ColoredLine> {
    let [free, hit] = [colors.paths, colors.path_hits].map(|color| color.to_linear());
    let line = |from: f64, to| [from, to].map(|time| Vec3::from(pose(time).translation));
    let start = placed(outline, pose(0.0));
    let Some(first) = first else {
        let lines = start.chain([line(0.0, 1.0)]);
        return lines.map(|line| (line, free)).collect();
    };
    let touch = placed(outline, pose(first));
    let lines = start.chain(touch).chain([line(0.0, first)]);
    let lines = lines.map(|line| (line, hit));
    lines.chain([(line(first, 1.0), free)]).collect()
}
