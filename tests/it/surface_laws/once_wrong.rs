//! Compares contacts with surfaces that were once wrong with closed forms.

use bevy::{math::DVec3, prelude::*};
use headbutt::{
    prelude::*,
    query::{self, CastOptions},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::surface_laws::{
    ask::{Answer, ask},
    bodies::Surface,
    laws::question,
    shapes::{Kind, Shape},
};

fn answer(surface: &Surface, shape: &Shape) -> Answer {
    ask(&[question(surface, shape)]).remove(0)
}

fn shape(kind: Kind, plane: bool, at: Vec3) -> Shape {
    let pose = Transform::from_translation(at);
    Shape { kind, plane, pose }
}

/// Asserts the direction and the depth of the event's push within a tolerance.
#[track_caller]
fn assert_event(answer: &Answer, push: DVec3, depth: f64, precision: f64) {
    let event = answer.event.expect("they touch");
    let line = answer.line();
    assert!(
        (f64::from(event.depth) - depth).abs() <= precision,
        "{line}, not {depth}"
    );
    let off = event.push.as_dvec3().distance(push.normalize());
    assert!(off <= 4.0 * precision, "{line}, not {push}");
}

/// The closest feature is the edge at (0, 0.3). At every z, the center is 0.4505 to the left of
/// this edge, and 0.19 above it.
#[test]
fn a_kerb_pushes_a_ball_the_same_on_any_tessellation() {
    let toward = DVec3::new(
        f64::from(-0.4505_f32),
        f64::from(0.49_f32) - f64::from(0.3_f32),
        0.0,
    );
    let profile = [(-4.0, 0.0), (0.0, 0.0), (0.0, 0.3), (4.0, 0.3)];
    for seed in 0..8 {
        for cell in [10.0, 1.0, 0.25, 0.0625] {
            let mut random = StdRng::seed_from_u64(seed);
            let kerb = Surface::sheet("kerb", &profile, cell, &mut random);
            // The rows of cells of 0.0625 end before these values of z.
            for z in [0.43, 0.11, 0.02, 0.0]
                .into_iter()
                .filter(|z| *z < 3.0 * cell)
            {
                let ball = Shape::ball(0.5, false, Vec3::new(-0.4505, 0.49, z));
                assert_event(&answer(&kerb, &ball), toward, 0.5 - toward.length(), 1e-6);
            }
        }
    }
}

/// The flat bottom of a box is a hundredth below the highest vertex of gentle terrain. A push up by
/// a hundredth separates the two, so no push may be longer.
#[test]
fn a_box_on_gentle_terrain_is_pushed_no_farther_than_it_has_sunk() {
    let mut random = StdRng::seed_from_u64(16);
    for _ in 0..500 {
        let mut points = Vec::new();
        for z in -1..=1 {
            for x in -1..=1 {
                let height = if (x, z) == (0, 0) {
                    0.25
                } else {
                    random.random_range(0.0..0.25f32)
                };
                points.push(Vec3::new(x as f32, height, z as f32));
            }
        }
        let cells = [
            [0, 3, 4],
            [0, 4, 1],
            [1, 4, 2],
            [2, 4, 5],
            [3, 6, 7],
            [3, 7, 4],
        ];
        let facets = cells.into_iter().chain([[4, 7, 5], [5, 7, 8]]).collect();
        let terrain = Surface::new("terrain", points, facets);
        let [x, z] = [0, 1].map(|_| random.random_range(-0.4..0.4f32));
        let at = Vec3::new(x, 0.25 + 0.5 - 0.01, z);
        let answer = answer(&terrain, &shape(Kind::Box(Vec3::splat(0.5)), false, at));
        let line = answer.line();
        let event = answer.event.expect("they touch");
        assert!(event.depth <= 0.01 + 1e-5 && event.push.y > 0.9, "{line}");
        assert!(answer.push_out.length() <= 0.01 + 1e-5, "{line}");
        assert!(answer.push_out.y > 0.005, "{line}");
    }
}

/// The facets of a bowl meet in its lowest point. Moving up by the depth of the body is a push-out,
/// so no push-out may be longer. (Only 16 planes could bound a move.)
#[test]
fn in_a_bowl_a_body_is_pushed_no_farther_than_it_has_sunk() {
    let kinds = [
        Kind::Cylinder(0.4, 0.5),
        Kind::Capsule(0.3, 0.4),
        Kind::Box(Vec3::new(0.3, 0.5, 0.4)),
    ];
    for count in [5, 17, 24, 32, 64, 128] {
        let rim = (0..count).map(|index| {
            let angle = core::f32::consts::TAU * index as f32 / count as f32;
            Vec3::new(4.0 * angle.cos(), 1.5, 4.0 * angle.sin())
        });
        let points: Vec<Vec3> = core::iter::once(Vec3::ZERO).chain(rim).collect();
        let facets = (1..=count).map(|index| [0, index % count + 1, index]);
        let bowl = Surface::new("bowl", points, facets.collect());
        let normals: Vec<DVec3> = bowl
            .world_facets()
            .iter()
            .map(|facet| {
                let [a, b, c] = [0, 1, 2].map(|index| facet.corners[index]);
                let normal = (b - a).cross(c - a).normalize();
                normal * normal.y.signum()
            })
            .collect();
        for kind in kinds.clone() {
            for sunk in [0.01, 0.02, 0.05, 0.1] {
                let over = Vec3::new(0.02, 0.0, -0.03);
                let at_zero = shape(kind.clone(), false, over);
                let depth = |normal: &DVec3| at_zero.extent(-*normal) - normal.dot(over.as_dvec3());
                let heights = normals.iter().map(|normal| depth(normal) / normal.y);
                let free = heights.fold(f64::NEG_INFINITY, f64::max);
                let at = over.with_y((free - sunk) as f32);
                let answer = answer(&bowl, &at_zero.at(at));
                let line = answer.line();
                let push = answer.push_out.as_dvec3();
                assert!(push.length() <= sunk * 1.001 + 1e-5, "{sunk} {push} {line}");
                let left = normals
                    .iter()
                    .map(|normal| depth(normal) - f64::from(at.y) * normal.y - push.dot(*normal));
                let left = left.fold(f64::NEG_INFINITY, f64::max);
                // A facet that the body did not touch may then be in the way by a little.
                assert!(left < 1e-2 * sunk + 1e-5, "{left} of {sunk} {push} {line}");
            }
        }
    }
}

/// A cylinder stands 3 mm deep in the floor, between two posts that are too near to each other. A
/// few centimeters away, there is a place where the cylinder fits. Moving back to this place is a
/// push-out, so no push-out may be longer. (The cylinder was thrown over the posts, because their
/// planes contradict each other.)
#[test]
fn from_a_gap_that_is_too_small_a_body_goes_back() {
    for one_sided in [false, true] {
        for gap in [0.99, 0.98, 0.95, 0.9, 0.7] {
            let mut points = vec![];
            let mut facets = vec![[0, 1, 2], [0, 2, 3]];
            for (x, z) in [(-5.0, -5.0), (-5.0, 5.0), (5.0, 5.0), (5.0, -5.0)] {
                points.push(Vec3::new(x, 0.0, z));
            }
            for (left, right) in [(-4.0, -0.5 * gap), (0.5 * gap, 4.0)] {
                let first = points.len() as u32;
                for index in 0..8 {
                    points.push(Vec3::new(
                        if index & 1 == 0 { left } else { right },
                        if index & 2 == 0 { -0.2 } else { 2.5 },
                        if index & 4 == 0 { 0.0 } else { 1.0 },
                    ));
                }
                for face in [
                    [0, 4, 6, 2],
                    [1, 3, 7, 5],
                    [0, 1, 5, 4],
                    [2, 6, 7, 3],
                    [0, 2, 3, 1],
                    [4, 5, 7, 6],
                ] {
                    let [a, b, c, d] = face.map(|corner| first + corner);
                    facets.extend([[a, b, c], [a, c, d]]);
                }
            }
            let mut level = Surface::new("doorway", points, facets);
            level.one_sided = one_sided;
            let fits = -(0.25 - 0.25 * gap * gap).sqrt();
            for step in [0.01, 0.03, 0.06, 0.09] {
                let at = Vec3::new(0.001, 0.497, fits + step);
                let answer = answer(&level, &shape(Kind::Cylinder(0.5, 0.5), false, at));
                // `fits` is the position at x = 0.
                let back = f64::from(step * step + 0.003 * 0.003).sqrt() + 0.002;
                let line = answer.line();
                let push = answer.push_out.as_dvec3();
                assert!(push.length() <= back, "{gap} {step} {push} {line}");
                assert!(push.z < 0.0, "{gap} {step} {push} {line}");
            }
        }
    }
}

/// The capsule is too large for the closed line around its center. A translation that clears both
/// touched sides would take the center through a side that the capsule does not touch.
#[test]
fn a_capsule_in_a_small_ring_is_pushed_into_the_ring() {
    let (half, radius) = (0.48484743, 0.6152582);
    let ring = [
        (1.390625, 0.0),
        (0.984375, 0.375),
        (0.0, 0.53125),
        (-0.984375, 0.375),
        (-1.390625, 0.0),
        (-0.984375, -0.375),
        (0.0, -0.53125),
        (0.984375, -0.375),
        (1.390625, 0.0),
    ];
    let mut capsule = shape(
        Kind::Capsule(half, radius),
        true,
        Vec3::new(-0.13015257, 0.490688, 0.0),
    );
    capsule.pose.rotation = Quat::from_xyzw(0.0, 0.0, 0.9414143, 0.33725223);
    let axis = (capsule.pose.rotation * Vec3::Y).as_dvec3() * f64::from(half);
    let center = capsule.pose.translation.as_dvec3();
    let inward = DVec3::new(0.15625, -0.984375, 0.0).normalize();
    let height = |tip: DVec3, base: DVec3, push: DVec3| (tip - base).dot(push) - f64::from(radius);
    for is_reversed in [false, true] {
        let mut ring = ring;
        if is_reversed {
            ring.reverse();
        }
        let answer = answer(&Surface::line("ring", &ring), &capsule);
        // The upper tip sticks out of the upper left side.
        let upper = -height(center - axis, DVec3::new(0.0, 0.53125, 0.0), inward);
        assert_event(&answer, inward, upper, 1e-6);
        // The lower tip touches the lower left side.
        let up = DVec3::new(inward.x, -inward.y, 0.0);
        let lower = -height(center + axis, DVec3::new(0.0, -0.53125, 0.0), up);
        let others = answer.parts.iter().filter(|part| part.push.y > 0.0);
        assert!(others.clone().count() > 0, "{}", answer.line());
        for part in others {
            assert!(
                part.push.as_dvec3().distance(up) < 1e-6,
                "{}",
                answer.line()
            );
            let error = f64::from(part.depth) - lower;
            assert!(error.abs() < 1e-6, "{}, not {lower}", answer.line());
        }
    }
}

/// A box that just touches the wall, or nearly, and is deep in the floor must be pushed up by its
/// whole depth.
#[test]
fn the_floor_of_a_polyline_pushes_a_shape_that_touches_the_wall() {
    let corner = [(0.0, 100.0), (0.0, 0.0), (100.0, 0.0)];
    for one_sided in [false, true] {
        let mut surface = Surface::line("corner", &corner);
        if one_sided {
            // The inner side is to the left of the direction down the wall.
            surface = Surface::line("corner", &[corner[2], corner[1], corner[0]]);
            surface.one_sided = true;
        }
        for (half, at, floor) in [
            (Vec2::new(1.0, 14.0), Vec2::new(1.0, 11.5), 2.5),
            (Vec2::new(1.0, 14.0), Vec2::new(1.01, 11.5), 2.5),
            (Vec2::new(6.0, 14.0), Vec2::new(6.0, 1.0), 13.0),
            (Vec2::new(6.0, 14.0), Vec2::new(5.75, 1.0), 13.0),
        ] {
            let kind = Kind::Box(half.extend(0.0));
            let answer = answer(&surface, &shape(kind, true, at.extend(0.0)));
            assert_event(&answer, DVec3::Y, floor, 1e-5);
            let wall = (half.x - at.x).max(0.0);
            let expected = Vec3::new(wall, floor as f32, 0.0);
            let line = answer.line();
            assert!(
                answer.push_out.distance(expected) < 1e-4,
                "{} {line}",
                answer.push_out
            );
        }
    }
}

/// In 3D, the same holds for a box, a capsule and a hull.
#[test]
fn the_floor_of_a_mesh_pushes_a_shape_that_touches_the_wall() {
    for one_sided in [false, true] {
        let mut random = StdRng::seed_from_u64(1);
        let profile = [(0.0, 64.0), (0.0, 0.0), (64.0, 0.0)];
        let mut surface = Surface::sheet("corner", &profile, 10.0, &mut random);
        surface.one_sided = one_sided;
        let corners = (0..8).map(|it| {
            let side = |bit: usize| if it >> bit & 1 == 0 { -1.0 } else { 1.0 };
            Vec3::new(side(0), 14.0 * side(1), side(2))
        });
        for kind in [
            Kind::Box(Vec3::new(1.0, 14.0, 1.0)),
            Kind::Capsule(13.0, 1.0),
            Kind::Hull(corners.collect()),
        ] {
            let answer = answer(&surface, &shape(kind, false, Vec3::new(1.0, 11.5, 0.25)));
            let expected = Vec3::new(0.0, 2.5, 0.0);
            let line = answer.line();
            assert!(
                answer.push_out.distance(expected) < 1e-4,
                "{} {line}",
                answer.push_out
            );
        }
    }
}

/// The surface is a peak over the xz plane, and the center is above the surface, so no part pushes
/// down. (Each center is behind the plane of a facet that the shape touches at the peak or the
/// ridge.)
#[test]
fn a_peak_pushes_no_shape_down() {
    let steep = [
        (0.0, 0.0, 0.0),
        (-5.609375, -4.21875, 2.140625),
        (-2.140625, -4.21875, -5.609375),
        (5.609375, -4.21875, -2.140625),
        (2.140625, -4.21875, 5.609375),
    ];
    let blunt = [
        (0.0, 0.0, 0.0),
        (-4.328125, -2.0, 4.15625),
        (-5.28125, -2.0, -2.828125),
        (1.0625, -2.0, -5.90625),
        (5.9375, -2.0, -0.8125),
        (2.609375, -2.0, 5.40625),
    ];
    let points = [
        (-0.052295882, -0.28932852, -0.113561824),
        (0.036977742, 0.2621271, -0.17106771),
        (0.1525901, 0.2505881, 0.11516944),
        (-0.13237149, 0.14390786, 0.24720529),
    ];
    let points = points.map(Vec3::from);
    let hull: Vec<Vec3> = points
        .iter()
        .flat_map(|it| [*it, Vec3::ZERO - *it])
        .collect();
    let capsule = Kind::Capsule(0.39989853, 0.13647597);
    for (corners, kind, at) in [
        (&steep[..], capsule, Vec3::new(1.0185443, -2.25, 2.957381)),
        (
            &blunt[..],
            Kind::Hull(hull),
            Vec3::new(-4.09375, -1.8531901, 3.8127906),
        ),
    ] {
        let count = corners.len() as u32 - 1;
        let facets = (1..=count).map(|it| [0, it % count + 1, it]);
        let corners = corners.iter().map(|it| Vec3::from(*it));
        let surface = Surface::new("peak", corners.collect(), facets.collect());
        let center = at.as_dvec3();
        let above = surface.world_facets();
        let down = [center, center - DVec3::Y * 9.0];
        assert!(above.iter().any(|it| it.crossed_by(down, 0.0).is_some()));
        let answer = answer(&surface, &shape(kind, false, at));
        let line = answer.line();
        let event = answer.event.expect("they touch");
        assert!(event.push.y > 0.0, "at {at}: {line}");
        assert!(
            answer.parts.iter().all(|it| it.push.y > 0.0),
            "at {at}: {line}"
        );
    }
}

/// For a ball at the end of a plate, only the end face counts. For a ball at a step, the feet of
/// its center on one tread and one riser count. Distant facets do not change this.
#[test]
fn a_distant_facet_changes_no_contact() {
    let outline = [
        (2.75, 0.03125),
        (-2.75, 0.03125),
        (-2.75, -0.03125),
        (2.75, -0.03125),
    ];
    let mut plate = Surface::prism("plate", &outline, 1.5, &[[0, 1, 2], [0, 2, 3]]);
    plate.one_sided = true;
    let at = Vec3::new(2.8647025, 0.02083979, 0.12237113);
    let ball = Shape::ball(0.12486685, false, at);
    let depth = f64::from(0.12486685_f32) - (f64::from(2.8647025_f32) - 2.75);
    let alone = answer(&plate, &ball);
    assert_event(&alone, DVec3::X, depth, 1e-7);
    for far in [5e3, 1e5, 2e5, 1e7] {
        let mut larger = plate.clone();
        let corners = [(far, 0.0, 0.0), (far, 1.0, 0.0), (far, 0.0, far)];
        let first = larger.points.len() as u32;
        larger.points.extend(corners.map(Vec3::from));
        larger.facets.push([first, first + 1, first + 2]);
        assert_eq!(answer(&larger, &ball), alone, "with a triangle {far} away");
    }
    let steps = [
        (3.0, 0.5),
        (0.5, 0.5),
        (0.5, 0.25),
        (0.0, 0.25),
        (0.0, 0.0),
        (-4.0, 0.0),
    ];
    let ball = Shape::ball(0.2, true, Vec3::new(0.40625, 0.28125, 0.0));
    let alone = answer(&Surface::line("steps", &steps), &ball);
    assert_event(&alone, DVec3::Y, f64::from(0.2_f32) - 0.03125, 1e-7);
    for far in [5e3, 1e5, 2e5, 1e7] {
        let further = [&steps[..], &[(-far, 0.0)]].concat();
        assert_eq!(
            answer(&Surface::line("steps", &further), &ball),
            alone,
            "{far} away"
        );
    }
}

/// The center is on a face, an edge or a vertex of a cube. The face is closest, at a depth of the
/// whole radius.
#[test]
fn a_center_in_the_plane_of_a_facet_has_a_contact() {
    let outline = [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)];
    for one_sided in [false, true] {
        let mut cube = Surface::prism("cube", &outline, 0.5, &[[0, 1, 2], [0, 2, 3]]);
        cube.one_sided = one_sided;
        for axis in 0..3 {
            for side in [-0.5, 0.5] {
                let mut at = [0.417, -0.16, 0.05];
                at[axis] = side;
                let answer = answer(&cube, &Shape::ball(0.1, false, Vec3::from(at)));
                let event = answer.event.expect("they touch");
                assert!(
                    (event.depth - 0.1).abs() < 1e-7,
                    "at {at:?}: {}",
                    answer.line()
                );
                // Either direction of the normal of a face that contains the center is right.
                let mut normal = [0.0; 3];
                normal[axis] = side.signum();
                let along = event.push.dot(Vec3::from(normal));
                assert!(along.abs() > 0.999, "at {at:?}: {}", answer.line());
                assert!(!one_sided || along > 0.0, "at {at:?}: {}", answer.line());
            }
        }
    }
    let cube = Surface::prism("cube", &outline, 0.5, &[[0, 1, 2], [0, 2, 3]]);
    for at in [
        (0.5, 0.417, -0.16),
        (-0.5, 0.417, -0.16),
        (0.5, 0.5, 0.1),
        (0.5, -0.5, 0.5),
    ] {
        let answer = answer(&cube, &Shape::ball(0.1, false, Vec3::from(at)));
        assert!(
            (answer.depth() - 0.1).abs() < 1e-7,
            "at {at:?}: {}",
            answer.line()
        );
    }
}

/// The closest face of the prism is its bevel x + y = 0.5.
#[test]
fn the_back_of_a_thin_body_does_not_push() {
    let outline = [(0.5, 0.0), (10.0, 0.0), (10.0, 1.0), (0.0, 1.0), (0.0, 0.5)];
    let caps = [[0, 1, 2], [0, 2, 3], [0, 3, 4]];
    let prism = Surface::prism("prism", &outline, 5.0, &caps);
    let at = Vec3::new(0.2, -0.1, 0.1);
    let answer = answer(&prism, &Shape::ball(1.3, false, at));
    let at = at.as_dvec3();
    // The foot of the center on the bevel is at (0.4, 0.1), which is inside the bevel.
    let away = (0.5 - at.x - at.y) / 2.0_f64.sqrt();
    let depth = f64::from(1.3_f32) - away;
    assert_event(&answer, DVec3::new(-1.0, -1.0, 0.0), depth, 2e-6);
}

/// A ball that is `gap` above a triangle does not touch this triangle, which is 2 km away from the
/// origin of its own mesh.
#[test]
fn a_ball_far_from_the_origin_reports_only_facets_that_touch() {
    for far in [2000.0, 4000.0, 60.0] {
        let points = [
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 1.0),
            (1.0, 0.0, 0.0),
            (0.5, -0.5, -1.0),
        ];
        let points = points.map(|it| Vec3::from(it) + Vec3::splat(far));
        let surface = Surface::new("far", points.to_vec(), vec![[0, 1, 2], [0, 2, 3]]);
        for steps in 0..60 {
            let height = 0.5 + (steps - 20) as f32 * 1.2e-5;
            let at = Vec3::new(far + 0.25, far + height, far + 0.01);
            let ball = Shape::ball(0.5, false, at);
            for part in answer(&surface, &ball).parts {
                let corners = surface.facets[part.facet as usize];
                let corners = corners.map(|it| surface.points[it as usize]);
                let is_hit = ball.intersects(&corners, 0.0, Transform::IDENTITY);
                assert!(
                    is_hit,
                    "at {at}: part {} is {} deep",
                    part.facet, part.depth
                );
            }
        }
    }
}

/// A cone touches a facet of a prism, and its tip is below another facet, which continues the first
/// facet. The cone does not touch the other facet, so no part may report it.
#[test]
fn a_facet_near_a_cones_tip_is_reported_only_if_it_touches() {
    let outline = [
        (1.96875, 0.0),
        (0.0, 2.015625),
        (-1.96875, 0.0),
        (0.0, -2.015625),
    ];
    let prism = Surface::prism("prism", &outline, 1.078125, &[[0, 1, 2], [0, 2, 3]]);
    let cone = Kind::Cone(0.80886996, 1.9490163);
    let at = Vec3::new(0.7395767, 1.2587397, 1.0231353);
    let mut cone = shape(cone, false, at);
    cone.pose.rotation = Quat::from_array([0.49759173, 0.2347757, -0.74784607, -0.37149566]);
    let answer = answer(&prism, &cone);
    assert!(answer.event.is_some());
    for part in &answer.parts {
        let corners = prism.facets[part.facet as usize].map(|it| prism.points[it as usize]);
        let is_hit = cone.intersects(&corners, 0.0, Transform::IDENTITY);
        assert!(is_hit, "part {}: {}", part.facet, answer.line());
    }
}

/// The base of a cone is below a thin plate, and the center of a large ball in the cone is above
/// the plate. A mean of the cone's farthest points is below the plate.
#[test]
fn a_flat_cone_in_a_plate_is_pushed_up_by_the_depth_of_its_base() {
    let plate = Surface::cuboid(Vec3::new(4.0, 1.0 / 32.0, 4.0), false);
    for depth in [0.0625_f32, 0.125, 0.25, 0.375] {
        let at = Vec3::new(0.25, 0.5 + 1.0 / 32.0 - depth, 0.5);
        let cone = shape(Kind::Cone(1.0, 0.5), false, at);
        let answer = answer(&plate, &cone);
        assert_event(&answer, DVec3::Y, f64::from(depth), 1e-6);
    }
}

/// A body moves up between two teeth that lean over a gap in the ground. Moving back is a push-out.
#[test]
fn a_body_between_leaning_teeth_is_pushed_no_farther_than_back() {
    let comb = [
        (-2.28125, 0.0),
        (-3.0, 0.453125),
        (-3.5625, 0.546875),
        (-2.84375, 0.0),
        (-5.0, 0.0),
    ];
    let comb = Surface::line("comb", &comb);
    let half = [
        Vec3::new(-0.11744628, -0.20842794, 0.0),
        Vec3::new(-0.009282238, -0.23905997, 0.0),
        Vec3::new(0.23915094, 0.006531453, 0.0),
    ];
    let points = half.iter().flat_map(|it| [*it, -*it]).collect();
    let mut body = shape(Kind::Hull(points), true, Vec3::ZERO);
    body.pose.rotation = Quat::from_xyzw(0.0, 0.0, 0.60372865, -0.7971899);
    let free = Vec3::new(-2.5938098, -0.037051268, 0.0);
    let stepped = Vec3::new(-2.6398125, 0.049583472, 0.0);
    assert!(answer(&comb, &body.at(free)).event.is_none());
    let pushed = answer(&comb, &body.at(stepped)).push_out;
    let step = free.distance(stepped);
    assert!(pushed != Vec3::ZERO, "it overlaps the teeth");
    assert!(pushed.length() <= 1.00001 * step, "{pushed} after {step}");
}

/// The library took a point below the base for the middle of a flat body, so the base lay on the
/// far side.
#[test]
fn a_flat_cone_on_a_floor_is_pushed_up() {
    let corners = [[-8.0, -8.0], [-8.0, 8.0], [8.0, 8.0], [8.0, -8.0]];
    let corners = corners.map(|[x, z]| Vec3::new(x, 0.0, z)).to_vec();
    let floor = Surface::new("floor", corners, vec![[0, 1, 2], [0, 2, 3]]);
    for half in [0.01_f32, 0.02, 0.05] {
        let sunk = 0.1 * half;
        let at = Vec3::new(0.25, half - sunk, 0.125);
        let cone = shape(Kind::Cone(0.5, half), false, at);
        assert_event(&answer(&floor, &cone), DVec3::Y, f64::from(sunk), 1e-6);
    }
}

/// Each face of a tetrahedron in turn lies a little behind a one-sided floor. The other points of
/// the tetrahedron are in front of the floor.
#[test]
fn a_hull_without_symmetry_touches_a_one_sided_floor() {
    let vertices = [
        Vec3::new(1.09042, 0.63387, -1.80617),
        Vec3::new(1.1975, -0.60657, 0.01679),
        Vec3::new(-0.1881, -0.94169, 0.79351),
        Vec3::new(1.46818, 1.3798, 1.41021),
    ];
    for apex in 0..4 {
        let [a, b, c] = [1, 2, 3].map(|step| vertices[(apex + step) % 4].as_dvec3());
        let normal = (b - a).cross(c - a).normalize();
        let inward = normal * normal.dot(vertices[apex].as_dvec3() - a).signum();
        let sunk = 1.0 / 128.0;
        let middle = (a + b + c) / 3.0 + inward * sunk;
        let across = (b - a).normalize();
        let [u, v] = [across, inward.cross(across)].map(|it| it * 16.0);
        let corners = [middle + u, middle + v, middle - u, middle - v];
        let corners = corners.map(|it| it.as_vec3()).to_vec();
        let mut floor = Surface::new("floor", corners, vec![[0, 1, 2], [0, 2, 3]]);
        floor.one_sided = true;
        let hull = shape(Kind::Hull(vertices.to_vec()), false, Vec3::ZERO);
        assert_event(&answer(&floor, &hull), inward, sunk, 1e-5);
    }
}

/// A long rectangle, turned a little, touches the end of a cut floor before its middle.
#[test]
fn a_cast_onto_a_cut_floor_ends_at_its_rim() {
    for (angle, flipped) in [
        (5e-5_f32, false),
        (5e-5, true),
        (-5e-5, false),
        (-5e-5, true),
    ] {
        let mut points = [-10.0, 0.0, 10.0].map(|x| Vec2::new(x, 0.0));
        if flipped {
            points.reverse();
        }
        let floor = Collider::polyline(points);
        let body = Collider::from(Rectangle::new(200.0, 2.0));
        let turn = Quat::from_rotation_z(angle);
        let start = Transform::from_xyz(0.0, 5.0, 0.0).with_rotation(turn);
        let motion = Motion::linear(start, Vec3::new(0.0, -10.0, 0.0));
        let still = Motion::still(Vec3::ZERO);
        let hit = query::cast_motion(&body, motion, &floor, still, CastOptions::default());
        // The lower side of the rectangle is lowest at one end of the floor.
        let (sin, cos) = f64::from(angle).sin_cos();
        let expected = 5.0 - 1.0 / cos - 10.0 * (sin / cos).abs();
        let error = 10.0 * hit.expect("it hits").touching - expected;
        assert!(error.abs() < 3e-5, "{angle} {flipped}: {error:e}");
    }
}

/// The bump is flat within the rounding of its vertices, and high after the scale.
#[test]
fn a_cast_onto_a_scaled_floor_ends_at_its_bump() {
    let corners = [(-1e3, -1e3), (1e3, -1e3), (1e3, 1e3), (-1e3, 1e3)];
    let corners = corners.map(|(x, z)| Vec3::new(x, 0.0, z));
    let points = corners.into_iter().chain([Vec3::new(0.0, 2e-4, 0.0)]);
    let floor = Collider::trimesh(points, [[4, 1, 0], [4, 2, 1], [4, 3, 2], [4, 0, 3]]);
    let body = Collider::from(Cuboid::from_length(2.0));
    for scale in [100.0_f32, 1e3, 1e4] {
        let place = Transform::from_scale(Vec3::new(1.0, scale, 1.0));
        let motion = Motion::linear(Vec3::Y * 10.0, Vec3::Y * -9.5);
        let still = Motion::still(place);
        let hit = query::cast_motion(&body, motion, &floor, still, CastOptions::default());
        let found = 9.5 * hit.expect("it hits").touching;
        let expected = 9.0 - f64::from(2e-4_f32 * scale);
        assert!(
            (found - expected).abs() < 1e-3,
            "{scale}: {found}, not {expected}"
        );
    }
}
