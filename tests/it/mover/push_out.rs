//! Compares push-outs with brute force and closed forms.

use core::ops::Range;

use bevy::{
    math::{DMat3, DQuat, DVec3},
    prelude::*,
};
use headbutt::{PushOut, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Level, at};

fn push_out(level: &mut Level, body: &Collider, pose: Transform, max: f32) -> PushOut {
    level.ask(|query| query.push_out(body, pose, max, &SpatialQueryFilter::default()))
}

/// Returns `true` if a body overlaps nothing. A touch is allowed.
fn is_free(level: &mut Level, body: &Collider, pose: Transform) -> bool {
    let mut contacts = Vec::new();
    let filter = SpatialQueryFilter::default();
    level.ask(|query| query.contacts(body, pose, &filter, &mut contacts));
    contacts.iter().all(|contact| contact.depth < 1e-6)
}

#[test]
fn a_box_in_two_tiles_goes_up() {
    let tiles = [-8.0, 8.0].map(|x| (Collider::rectangle(16.0, 16.0), at(x, -8.0)));
    let mut level = Level::new(tiles);
    let body = Collider::rectangle(12.0, 12.0);
    for x in [-2.0, 0.0, 1.0] {
        let PushOut::Moved(push) = push_out(&mut level, &body, at(x, -1.0), 20.0) else {
            panic!("there is room above");
        };
        assert!(push.abs_diff_eq(Vec3::Y * 7.0, 1e-4), "{push}");
        assert!(is_free(&mut level, &body, at(x + push.x, push.y - 1.0)));
    }
    assert_eq!(
        push_out(&mut level, &body, at(0.0, -1.0), 6.0),
        PushOut::Pressed(Vec3::ZERO)
    );
    assert_eq!(
        push_out(&mut level, &body, at(0.0, 6.001), 6.0),
        PushOut::Free
    );
}

/// A box in f64. In 2D, its half size along z is 0.
struct PlacedBox {
    center: DVec3,
    half: DVec3,
    axes: [DVec3; 3],
}

impl PlacedBox {
    fn new(random: &mut StdRng, is_flat: bool, spread: f64, half: Range<f64>) -> Self {
        let mut vector =
            |range: Range<f64>| DVec3::from([(); 3].map(|()| random.random_range(range.clone())));
        let (center, half, turn) = (vector(-spread..spread), vector(half), vector(-3.0..3.0));
        let flat = if is_flat {
            DVec3::new(1.0, 1.0, 0.0)
        } else {
            DVec3::ONE
        };
        // About every fourth box is parallel to the axes.
        let turn = if random.random_bool(0.25) {
            DVec3::ZERO
        } else {
            turn
        };
        let rotation = if is_flat {
            DQuat::from_rotation_z(turn.z)
        } else {
            DQuat::from_euler(EulerRot::XYZ, turn.x, turn.y, turn.z)
        };
        Self {
            center: (center * flat).as_vec3().as_dvec3(),
            half: (half * flat).as_vec3().as_dvec3(),
            axes: [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| rotation * axis),
        }
    }

    fn collider(&self) -> (Collider, Transform) {
        let size = 2.0 * self.half.as_vec3();
        let [x, y, z] = self.axes;
        let rotation = Quat::from_mat3(&DMat3::from_cols(x, y, z).as_mat3());
        let collider = if size.z == 0.0 {
            Collider::rectangle(size.x, size.y)
        } else {
            Collider::cuboid(size.x, size.y, size.z)
        };
        let pose = Transform::from_translation(self.center.as_vec3());
        (collider, pose.with_rotation(rotation))
    }

    /// Returns the axes along which the box has an extent, with the half extents.
    fn sides(&self) -> impl Iterator<Item = (DVec3, f64)> + Clone {
        let sides = self.axes.into_iter().zip(self.half.to_array());
        sides.filter(|(_, half)| *half > 0.0)
    }

    fn reach(&self, normal: DVec3) -> f64 {
        self.sides()
            .map(|(axis, half)| half * axis.dot(normal).abs())
            .sum()
    }

    /// Returns the planes of the faces of the Minkowski difference with another box. A translation
    /// x of that box leaves this box if n · x >= d for any of these planes.
    fn exits(&self, body: &Self) -> Vec<(DVec3, f64)> {
        let edges: Vec<DVec3> = self
            .sides()
            .chain(body.sides())
            .map(|(axis, _)| axis)
            .collect();
        let normals: Vec<DVec3> = if self.half.z == 0.0 {
            edges.iter().map(|edge| edge.cross(DVec3::Z)).collect()
        } else {
            let pairs = edges.iter().flat_map(|a| edges.iter().map(|b| a.cross(*b)));
            pairs
                .filter(|cross| cross.length() > 1e-6)
                .map(DVec3::normalize)
                .collect()
        };
        let signed = normals.into_iter().flat_map(|normal| [normal, -normal]);
        let plane = |normal: DVec3| {
            let reach = self.reach(normal) + body.reach(normal);
            (normal, normal.dot(self.center - body.center) + reach)
        };
        let mut exits: Vec<(DVec3, f64)> = signed.map(plane).collect();
        exits.dedup_by(|a, b| a.0.distance(b.0) < 1e-9);
        exits
    }

    /// Returns `true` if a path enters this box, widened by a margin.
    fn crossed(&self, start: DVec3, path: DVec3) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (axis, half) in self.sides() {
            let (offset, speed) = ((start - self.center).dot(axis), path.dot(axis));
            let times = [-half - 1e-6, half + 1e-6].map(|end| (end - offset) / speed);
            enter = enter.max(times[0].min(times[1]));
            leave = leave.min(times[0].max(times[1]));
        }
        enter <= leave
    }
}

/// Returns the shortest translation that frees a body. The planes that bound the Minkowski
/// differences are tried alone, and in sets of two or three planes that meet. Each candidate leads
/// to the nearest point of a set.
fn shortest(obstacles: &[PlacedBox], body: &PlacedBox) -> DVec3 {
    let exits: Vec<_> = obstacles
        .iter()
        .map(|obstacle| obstacle.exits(body))
        .collect();
    let planes = exits.concat();
    let mut best = DVec3::INFINITY;
    let mut offer = |x: DVec3| {
        let is_out = |planes: &Vec<(DVec3, f64)>| planes.iter().any(|(n, d)| n.dot(x) >= d - 1e-9);
        if x.length() < best.length() && exits.iter().all(is_out) {
            best = x;
        }
    };
    offer(DVec3::ZERO);
    for (index, (n1, d1)) in planes.iter().enumerate() {
        offer(*n1 * *d1);
        for (second, (n2, d2)) in planes.iter().enumerate().skip(index + 1) {
            let line = n1.cross(*n2);
            if line.length_squared() < 1e-12 {
                continue;
            }
            // The nearest point of the line in which two planes meet.
            let cross = |n3: DVec3, d3: f64| {
                let volume = line.dot(n3);
                (n2.cross(n3) * *d1 + n3.cross(*n1) * *d2 + line * d3) / volume
            };
            offer(cross(line, 0.0));
            for (n3, d3) in planes.iter().skip(second + 1) {
                if line.dot(*n3).abs() > 1e-9 {
                    offer(cross(*n3, *d3));
                }
            }
        }
    }
    best
}

#[test]
fn the_push_out_of_boxes_in_any_rotation_is_the_shortest() {
    let mut random = StdRng::seed_from_u64(4);
    for (is_flat, cases, least) in [(true, 400, 200), (false, 60, 20)] {
        let (mut judged, mut wrong) = (0, vec![]);
        for case in 0..cases {
            let count = random.random_range(1..if is_flat { 6 } else { 4 });
            let obstacles: Vec<_> = (0..count)
                .map(|_| PlacedBox::new(&mut random, is_flat, 1.5, 0.5..2.0))
                .collect();
            let body = PlacedBox::new(&mut random, is_flat, 0.5, 0.3..1.5);
            let best = shortest(&obstacles, &body);
            let (collider, pose) = body.collider();
            let mut level = Level::new(obstacles.iter().map(PlacedBox::collider));
            let out = push_out(&mut level, &collider, pose, 100.0);
            let push = out.translation().as_dvec3();
            // The path of the center crosses no box that does not contain the center at the start.
            let start = body.center;
            let is_blocked = |obstacle: &PlacedBox| {
                obstacle.crossed(start, best) && !obstacle.crossed(start, DVec3::splat(1e-12))
            };
            let is_open = best == DVec3::ZERO || !obstacles.iter().any(is_blocked);
            if out.is_pressed() {
                if is_open {
                    wrong.push(format!("case {case}: pressed, but {best} is free"));
                }
                continue;
            }
            assert!(
                push.length() > best.length() - 1e-4,
                "case {case}: {push}, shorter than {best}"
            );
            let moved = pose.with_translation(pose.translation + push.as_vec3());
            assert!(is_free(&mut level, &collider, moved), "case {case}");
            if is_open && push.length() > best.length() + 1e-4 {
                wrong.push(format!("case {case}: {push}, longer than {best}"));
            }
            judged += u32::from(is_open && best != DVec3::ZERO);
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(judged > least, "{judged} of {cases}");
    }
}

#[test]
fn nobody_is_pushed_through_a_wall() {
    // The center of the body is in front of a thin wall, which the path of the center must not
    // cross.
    let mut level = Level::new([
        (Collider::rectangle(0.2, 10.0), at(0.0, 0.0)),
        (Collider::rectangle(10.0, 10.0), at(-6.0, 0.0)),
    ]);
    let body = Collider::rectangle(1.0, 1.0);
    // Between the block at x < -1 and the wall at x > -0.1, there is too little room.
    let out = push_out(&mut level, &body, at(-0.5, 0.0), 2.0);
    assert_eq!(out, PushOut::Pressed(Vec3::ZERO));
    let PushOut::Moved(push) = push_out(&mut level, &body, at(-0.5, 4.0), 2.0) else {
        panic!("there is room above");
    };
    assert!(push.abs_diff_eq(Vec3::Y * 1.5, 1e-4), "{push}");
}

#[test]
fn a_body_leaves_a_mesh_on_its_own_side() {
    let floor = Collider::heightfield(Vec2::splat(8.0), 5, &[0.0; 25]);
    let mut level = Level::new([
        (floor, Transform::IDENTITY),
        (Collider::cuboid(2.0, 2.0, 2.0), at(1.5, 1.0)),
    ]);
    let body = Collider::cuboid(1.0, 1.0, 1.0);
    let pose = at(0.25, 0.2);
    let PushOut::Moved(push) = push_out(&mut level, &body, pose, 4.0) else {
        panic!("there is room above");
    };
    assert!(push.abs_diff_eq(Vec3::new(-0.25, 0.3, 0.0), 1e-4), "{push}");
}

#[test]
fn a_press_has_no_push_out() {
    let mut level = Level::new([
        (Collider::half_space(Vec3::Y), at(0.0, 0.0)),
        (Collider::half_space(Vec3::NEG_Y), at(0.0, 1.5)),
    ]);
    let out = push_out(&mut level, &Collider::sphere(1.0), at(0.0, 0.75), 1e3);
    assert_eq!(out, PushOut::Pressed(Vec3::ZERO));
    // Moved out of the floor by 0.6, the body is 0.5 deep in the ceiling. If 0.6 is not allowed,
    // the body stays.
    for (max_distance, expected) in [(1.0, 0.6), (0.5, 0.0)] {
        let out = push_out(
            &mut level,
            &Collider::sphere(1.0),
            at(0.0, 0.4),
            max_distance,
        );
        let PushOut::Pressed(push) = out else {
            panic!("there is no room");
        };
        assert!(push.abs_diff_eq(Vec3::Y * expected, 1e-4), "{push}");
    }
    let out = push_out(&mut level, &Collider::sphere(1.0), at(0.0, f32::NAN), 1e3);
    assert_eq!(out, PushOut::Free);
}

/// A capsule is 0.1 deep in the floor, and as deep in a ceiling that slopes down by a small angle.
/// The shortest translation out of the wedge is up to 100 units long.
#[test]
fn no_push_out_is_longer_than_allowed() {
    let mut pressed = 0;
    let height = 1.6;
    for degrees in [20.0, 5.0, 1.0, 0.2, 0.05, 1e-3_f32] {
        let turn = Quat::from_rotation_z(degrees.to_radians());
        let slab = Collider::cuboid(400.0, 1.0, 400.0);
        let ceiling = at(0.0, height + 0.5).with_rotation(turn);
        let mut level = Level::new([(slab.clone(), at(0.0, -0.5)), (slab, ceiling)]);
        let bodies = [
            Collider::capsule_3d(0.4, 1.0),
            Collider::cuboid(0.8, 1.8, 0.8),
            Collider::sphere(0.9),
        ];
        for body in bodies {
            let pose = at(0.0, 0.5 * height);
            for max_distance in [0.05, 0.5, 2.0] {
                let out = push_out(&mut level, &body, pose, max_distance);
                assert!(
                    out.translation().length() <= max_distance * 1.000_001,
                    "{out:?}"
                );
            }
            let side = 2.0
                * body
                    .aabb(Vec3::ZERO)
                    .expect("it is bounded")
                    .max
                    .min_element();
            let settings = MoveAndSlideSettings::default();
            let filter = SpatialQueryFilter::default();
            let slide = level
                .ask(|query| query.move_and_slide(&body, pose, Vec3::ZERO, &settings, &filter));
            assert!(slide.translation.length() <= side, "{degrees}: {slide:?}");
            let moved = pose.with_translation(pose.translation + slide.translation);
            assert_eq!(slide.is_stuck, !is_free(&mut level, &body, moved));
            pressed += u32::from(slide.is_stuck);
        }
    }
    assert!((9..18).contains(&pressed), "{pressed}");
}

#[test]
fn a_push_along_an_axis_clears_all_that_it_can() {
    let mut app = crate::support::app();
    let world = app.world_mut();
    let slope = Quat::from_rotation_z(0.5);
    let player = world.spawn((Collider::circle(1.0), at(0.0, 0.9))).id();
    world.spawn((
        Collider::half_space(Vec2::Y),
        Transform::from_rotation(slope),
    ));
    world.spawn((Collider::half_space(Vec2::NEG_X), at(0.8, 0.0)));
    crate::support::tick(&mut app);
    let collisions = app.world().resource::<Collisions>();
    let along = |axis: Vec2| collisions.push_out_along(player, axis, |_| true);
    // The distance of the center from the slope is 0.9 cos 0.5.
    let depth = 1.0 - 0.9 * 0.5_f32.cos();
    let expected = Vec3::Y * depth / 0.5_f32.cos();
    assert!(along(Vec2::Y * 7.0).abs_diff_eq(expected, 1e-5));
    assert_eq!(along(Vec2::NEG_Y), Vec3::ZERO);
    for invalid in [Vec2::ZERO, Vec2::NAN, Vec2::INFINITY] {
        assert_eq!(along(invalid), Vec3::ZERO);
    }
    let expected = Vec3::NEG_X * (depth / 0.5_f32.sin()).max(0.2);
    assert!(along(Vec2::NEG_X).abs_diff_eq(expected, 1e-5));
}
