//! Contacts of capsules, boxes and polygons that overlap solid cells, with the center outside.

use core::sync::atomic::{AtomicU32, Ordering};

use bevy::{math::DVec3, prelude::*};
use headbutt::prelude::*;
use rand::{Rng, rngs::StdRng};

use super::{
    for_cases, in_f64,
    oracle::{Point, Union, add, length, scale, sub},
    random_direction, random_point, random_union, rounded,
};
use crate::surface_laws::ask::{Question, ask};

/// Returns a random rotation, and the same rotation in f64.
fn random_rotation(rng: &mut StdRng, dimension: usize) -> (Quat, impl Fn(DVec3) -> DVec3 + use<>) {
    let mut angle = || rng.random_range(-3.0..3.0_f32);
    let (x, y, z) = (angle(), angle(), angle());
    let rotation = match rng.random_range(0..10) {
        0..3 => Quat::IDENTITY,
        _ if dimension == 2 => Quat::from_rotation_z(z),
        _ => Quat::from_euler(EulerRot::XYZ, x, y, z),
    };
    let exact = rotation.as_dquat().normalize();
    (rotation, move |point| exact * point)
}

/// A convex body: its corners, and axes among which one separates the body from each box of the
/// grid that the body does not overlap.
struct Body {
    corners: Vec<DVec3>,
    axes: Vec<DVec3>,
}

impl Body {
    fn new(dimension: usize, corners: Vec<DVec3>, edges: &[DVec3]) -> Self {
        let grid = &[DVec3::X, DVec3::Y, DVec3::Z][..dimension];
        let mut axes = grid.to_vec();
        if dimension == 2 {
            axes.extend(edges.iter().map(|edge| edge.cross(DVec3::Z)));
        } else {
            axes.extend(edges);
            axes.extend(
                edges
                    .iter()
                    .flat_map(|edge| grid.iter().map(|it| edge.cross(*it))),
            );
        }
        axes.retain(|axis| axis.length() > 1e-6);
        let axes = axes.into_iter().map(DVec3::normalize).collect();
        Self { corners, axes }
    }

    /// Returns the depth of the body in a box along the axes of the grid after a translation. The
    /// depth is not positive if the body does not overlap the box.
    fn depth_in(&self, [low, high]: [Point; 2], translation: DVec3) -> f64 {
        let corners: Vec<DVec3> = (0..8)
            .map(|corner| {
                let end = |axis: usize| if corner >> axis & 1 == 0 { low } else { high };
                DVec3::from([0, 1, 2].map(|axis| end(axis)[axis]))
            })
            .collect();
        let range = |points: &[DVec3], axis: DVec3| {
            let heights = points.iter().map(|point| point.dot(axis));
            heights.fold((f64::MAX, f64::MIN), |(low, high), it| {
                (low.min(it), high.max(it))
            })
        };
        let depths = self.axes.iter().map(|axis| {
            let moved = translation.dot(*axis);
            let (own, other) = (range(&self.corners, *axis), range(&corners, *axis));
            (own.1 + moved - other.0).min(other.1 - own.0 - moved)
        });
        depths.fold(f64::MAX, f64::min)
    }

    /// Returns the depth of the body in each exposed face whose outer side faces `center`.
    fn depths_in_faces(&self, union: &Union, center: Point, translation: DVec3) -> Vec<f64> {
        let sides = (0..union.dimension).flat_map(|axis| [(axis, 0), (axis, 1)]);
        let faces = union.tiles.iter().flat_map(|(at, _)| {
            sides.clone().filter_map(|(axis, side)| {
                let [mut low, mut high] = ends(union, *at);
                let mut beside = *at;
                beside[axis] += 2 * side - 1;
                let plane = if side == 0 { low[axis] } else { high[axis] };
                let height = (center[axis] - plane) * f64::from(2 * side - 1);
                let is_covered = union.tiles.iter().any(|(at, _)| *at == beside);
                (low[axis], high[axis]) = (plane, plane);
                (height > 0.0 && !is_covered).then(|| self.depth_in([low, high], translation))
            })
        });
        faces.collect()
    }

    /// Returns the greatest depth of the body in a tile after a translation.
    fn depth(&self, union: &Union, translation: DVec3) -> f64 {
        let tiles = union.tiles.iter();
        let depths = tiles.map(|(at, _)| self.depth_in(ends(union, *at), translation));
        depths.fold(f64::MIN, f64::max)
    }
}

/// Returns the lowest and the highest corner of a tile.
fn ends(union: &Union, at: [i32; 3]) -> [Point; 2] {
    let low = at.map(|at| f64::from(at) * union.size);
    [low, add(low, union.flat([union.size; 3]))]
}

/// Returns `true` if the user has chosen the cases, which may be few.
fn is_chosen() -> bool {
    std::env::var_os("HEADBUTT_CELLS").is_some()
}

/// Returns a random pose of a union in the world. Its scale is uniform.
fn random_pose(rng: &mut StdRng, dimension: usize) -> Transform {
    if rng.random_bool(0.4) {
        return Transform::IDENTITY;
    }
    let translation = Vec3::from(random_direction(rng, dimension).map(|it| 20.0 * it as f32));
    let scale = [0.5, 1.0, 3.0][rng.random_range(0..3)];
    Transform::from_translation(translation)
        .with_rotation(random_rotation(rng, dimension).0)
        .with_scale(Vec3::splat(scale))
}

/// Returns `true` if a path enters the union.
fn is_blocked(union: &Union, from: Point, path: DVec3) -> bool {
    (0..=64).any(|step| {
        let at = add(from, scale(path.into(), f64::from(step) / 64.0));
        union.tile_at(at, 0.0).is_some()
    })
}

/// No shorter translation may push the body out, among many random ones and those along the axes.
#[test]
fn no_translation_shorter_than_a_push_out_clears_all_cells() {
    let tested = AtomicU32::new(0);
    for_cases(600, |rng, dimension, number| {
        let mut union = random_union(rng, dimension, false);
        union.is_compound = false;
        let (position, center) = rounded(random_point(rng, &union));
        let (rotation, turned) = random_rotation(rng, dimension);
        let mut side = || rng.random_range(0.1..0.9) * union.size as f32;
        let half = Vec3::new(side(), side(), if dimension == 2 { 0.0 } else { side() });
        let corner = |number: i32| {
            let sign = |axis: usize| if number >> axis & 1 == 0 { -1.0 } else { 1.0 };
            half * Vec3::from([0, 1, 2].map(sign))
        };
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let (shape, corners, edges) = if dimension == 3 {
            let shape = Collider::cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z);
            (
                shape,
                (0..8).map(corner).collect(),
                axes.map(&turned).to_vec(),
            )
        } else if rng.random_bool(0.5) {
            let shape = Collider::rectangle(2.0 * half.x, 2.0 * half.y);
            (
                shape,
                (0..4).map(corner).collect(),
                axes[..2].iter().map(|it| turned(*it)).collect(),
            )
        } else {
            // Vertices on an ellipse are those of a convex polygon, in this order.
            let count = rng.random_range(3..9);
            let angle = |index| index as f32 * core::f32::consts::TAU / count as f32;
            let vertex = |index| half * Vec3::new(angle(index).cos(), angle(index).sin(), 0.0);
            let corners: Vec<Vec3> = (0..count).map(vertex).collect();
            let ends = corners.iter().zip(corners.iter().cycle().skip(1));
            let edges = ends.map(|(a, b)| turned((b - a).as_dvec3())).collect();
            (
                Collider::convex_hull(corners.iter().map(|it| it.truncate())),
                corners,
                edges,
            )
        };
        let place = |corner: Vec3| DVec3::from(center) + turned(corner.as_dvec3());
        let body = Body::new(dimension, corners.into_iter().map(place).collect(), &edges);
        if union.is_inside(center) != Some(false) {
            return;
        }
        let context = format!("case {number}, {dimension}D");
        let place = random_pose(rng, dimension);
        let pose = Transform::from_translation(position).with_rotation(rotation);
        let answer = ask(&[Question {
            surface: union.collider(),
            place: [place, Transform::IDENTITY],
            shape,
            pose: place * pose,
        }]);
        let found = &answer[0];
        let to_union = place.rotation.inverse();
        let push_out = (to_union * found.push_out / place.scale).as_dvec3();
        let (depth, tolerance) = (body.depth(&union, DVec3::ZERO), 1e-4 * union.size);
        if depth.abs() > tolerance {
            assert_eq!(found.event.is_some(), depth > 0.0, "{context}: {depth}");
        }
        let length = push_out.length();
        // A longer push-out may be out of the reach of the body. If `push_out` has shortened the
        // translation, or opposite sides press the body, no translation is a push-out.
        let parts = || found.parts.iter();
        let is_pressed = parts().any(|a| parts().any(|b| a.push.dot(b.push) < -0.9));
        let is_longest = length > 1.99 * found.depth() / f64::from(place.scale.x);
        if depth < tolerance || length > 0.3 * union.size || is_pressed || is_longest {
            return;
        }
        // Only the faces whose outer sides face the center are solid. The body may reach other
        // faces, out of which the next tick pushes it. For example, a body beside a tile that
        // leaves its side past the upper edge may still overlap the top.
        let depths = |translation| body.depths_in_faces(&union, center, translation);
        let [before, after] = [DVec3::ZERO, push_out].map(depths);
        let mut touched = before.into_iter().zip(after).filter(|it| it.0 > tolerance);
        assert!(touched.all(|it| it.1 <= tolerance), "{context}: {push_out}");
        assert!(
            !is_blocked(&union, center, push_out),
            "{context}: {push_out}"
        );
        let along = axes
            .iter()
            .flat_map(|axis| [*axis, -*axis])
            .take(2 * dimension);
        let along: Vec<DVec3> = along.collect();
        let random = (0..60).map(|_| DVec3::from(random_direction(rng, dimension)));
        for direction in along.into_iter().chain(random) {
            let shorter = direction * (length * 0.99 - tolerance);
            assert!(
                body.depth(&union, shorter) > 0.0 || is_blocked(&union, center, shorter),
                "{context}: {shorter} is shorter than {push_out}"
            );
        }
        tested.fetch_add(1, Ordering::Relaxed);
    });
    let tested = tested.into_inner();
    assert!(tested > 0 || is_chosen(), "no push-out was tested");
}

/// Returns the distance of a segment from the union. The distance of a point from a convex tile is
/// a convex function along the segment.
fn distance(union: &Union, [start, end]: [DVec3; 2]) -> f64 {
    let distances = (0..union.tiles.len()).map(|tile| {
        let single = union.of_tiles(vec![union.tiles[tile]]);
        let at = |time: f64| single.nearest((start + (end - start) * time).into()).0;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            (low, high) = if at(a) < at(b) { (low, b) } else { (a, high) };
        }
        at(0.5 * (low + high)).min(at(0.0)).min(at(1.0))
    });
    distances.fold(f64::MAX, f64::min)
}

#[test]
fn a_capsule_touches_the_points_nearest_to_its_segment() {
    let tested = AtomicU32::new(0);
    for_cases(200, |rng, dimension, number| {
        let mut union = random_union(rng, dimension, false);
        union.is_compound = false;
        let (position, center) = rounded(random_point(rng, &union));
        let (rotation, turned) = random_rotation(rng, dimension);
        let mut side = || rng.random_range(0.05..1.0) * union.size as f32;
        let (radius, segment) = (side(), side());
        let shape = if dimension == 2 {
            Collider::capsule_2d(radius, segment)
        } else {
            Collider::capsule_3d(radius, segment)
        };
        let half = turned(DVec3::Y * f64::from(segment / 2.0));
        let ends = [-half, half].map(|end| DVec3::from(center) + end);
        let (gap, tolerance) = (distance(&union, ends), 1e-5 * union.size);
        let radius = f64::from(radius);
        if gap < 100.0 * tolerance || (gap - radius).abs() < tolerance {
            return;
        }
        let pose = Transform::from_translation(position).with_rotation(rotation);
        let place = random_pose(rng, dimension);
        let found = query::contact(&union.collider(), place, &shape, place * pose);
        let context = format!("case {number}, {dimension}D: {found:?}, distance {gap}");
        assert_eq!(found.is_some(), gap < radius, "{context}");
        let Some(found) = found else {
            return;
        };
        let (scale, to_union) = (place.scale.x, place.rotation.inverse());
        let depth = f64::from(found.depth / scale);
        assert!((depth - (radius - gap)).abs() <= tolerance, "{context}");
        // The contact point of the union is on its boundary, and as far from the segment.
        let on_union = in_f64(to_union * (found.point_a - place.translation) / scale);
        assert!(union.nearest(on_union).0 <= 10.0 * tolerance, "{context}");
        let normal = in_f64(to_union * found.normal);
        let on_core = add(on_union, self::scale(normal, gap));
        let along = (DVec3::from(on_core) - ends[0]).dot(ends[1] - ends[0]);
        let time = along / (ends[1] - ends[0]).length_squared();
        let nearest = ends[0] + (ends[1] - ends[0]) * time.clamp(0.0, 1.0);
        let error = length(sub(on_core, nearest.into()));
        assert!(error <= 10.0 * tolerance, "{context}: {error}");
        tested.fetch_add(1, Ordering::Relaxed);
    });
    let tested = tested.into_inner();
    assert!(tested > 0 || is_chosen(), "no contact was tested");
}
