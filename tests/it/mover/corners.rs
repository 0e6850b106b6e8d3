//! Compares bodies that are pressed into corners and against edges with closed forms. For long
//! runs, set the number of cases for each of 48 corners:
//!
//! ```text
//! HEADBUTT_CORNERS=200 cargo test --release --test it mover::corners -- --nocapture
//! ```

use core::f32::consts::PI;

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Level, Walker, at};
use crate::support::cases::cases;

/// A hundredth of the radius of the bodies at ledges.
const SKIN: f32 = 0.005;

/// The half sizes of the bodies along the corner's bisector and across it.
const HALF: Vec2 = Vec2::new(0.4, 0.3);

/// A corner between two walls, seen from above. The corner's tip is at the origin, and the corner
/// opens toward -x.
#[derive(Clone, Copy, Debug)]
enum Walls {
    Boxes2d,
    Polyline,
    Boxes,
    Mesh,
}

impl Walls {
    const ALL: [Self; 4] = [Self::Boxes2d, Self::Polyline, Self::Boxes, Self::Mesh];

    fn is_flat(self) -> bool {
        matches!(self, Self::Boxes2d | Self::Polyline)
    }

    /// Returns the vector of the world with these coordinates as seen from above.
    fn lateral(self, x: f32, y: f32) -> Vec3 {
        if self.is_flat() {
            Vec3::new(x, y, 0.0)
        } else {
            Vec3::new(x, 0.0, -y)
        }
    }

    fn level(self, angle: f32) -> Level {
        let along = [-0.5, 0.5].map(|sign| Vec2::from_angle(PI + sign * angle));
        let ends = along.map(|along| along * 20.0);
        let slab = |side: usize| {
            // The wall is behind its face, outside of the corner.
            let out = along[side].perp() * if side == 0 { -1.0 } else { 1.0 };
            let middle = along[side] * 10.0 + out * 0.5;
            let turn = along[side].to_angle();
            if self.is_flat() {
                let pose = Transform::from_rotation(Quat::from_rotation_z(turn));
                let pose = pose.with_translation(middle.extend(0.0));
                (Collider::rectangle(20.0, 1.0), pose)
            } else {
                let pose = Transform::from_rotation(Quat::from_rotation_y(turn));
                let pose = pose.with_translation(self.lateral(middle.x, middle.y));
                (Collider::cuboid(20.0, 8.0, 1.0), pose)
            }
        };
        let floor = (Collider::cuboid(80.0, 1.0, 80.0), at(0.0, -0.5));
        match self {
            Self::Boxes2d => Level::new([slab(0), slab(1)]),
            Self::Polyline => {
                let points = [ends[0], Vec2::ZERO, ends[1]];
                Level::new([(Collider::polyline(points), Transform::IDENTITY)])
            }
            Self::Boxes => Level::new([slab(0), slab(1), floor]),
            Self::Mesh => {
                let profile = [ends[0], Vec2::ZERO, ends[1]];
                let rows = [-1.0, 6.0].map(|height| {
                    profile.map(|point| self.lateral(point.x, point.y) + Vec3::Y * height)
                });
                let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]];
                let walls = Collider::trimesh(rows.concat(), triangles);
                Level::new([(walls, Transform::IDENTITY), floor])
            }
        }
    }

    /// Returns a round body, or a box, which touches the walls with its corners.
    fn body(self, is_round: bool) -> Collider {
        let side = 2.0 * HALF;
        match (self.is_flat(), is_round) {
            (true, true) => Collider::circle(HALF.x),
            (true, false) => Collider::rectangle(side.x, side.y),
            (false, true) => Collider::capsule_3d(HALF.x, 1.0),
            (false, false) => Collider::cuboid(side.x, 1.8, side.y),
        }
    }
}

/// The gap to each wall is the skin s. So a round body is at the distance (r + s) / sin(a / 2) from
/// the tip. A box is at the point at which the corners of its front side have this gap.
#[test]
fn a_body_pressed_into_any_corner_comes_to_rest_in_it() {
    let cases = cases("HEADBUTT_CORNERS", 6);
    let angles = [
        30.0, 60.0, 90.0, 91.0, 100.0, 120.0, 135.0, 150.0, 165.0, 175.0, 179.0, 179.9,
    ];
    let mut judged = 0;
    for (angle, walls) in angles
        .into_iter()
        .flat_map(|angle: f32| Walls::ALL.map(|walls| (angle.to_radians(), walls)))
    {
        let mut level = walls.level(angle);
        for case in cases.clone() {
            let mut random = StdRng::seed_from_u64(case as u64 ^ u64::from(angle.to_bits()));
            let (half, is_round) = (0.5 * angle, case % 2 == 0);
            let (sine, cosine) = half.sin_cos();
            let step = random.random_range(1.0..10.0) / 60.0;
            // The direction of the wished translation is between the inward normals of both walls.
            let aside = random.random_range(-0.8..0.8) * (0.5 * PI - half);
            let skin = random.random_range(0.003..0.02);
            let distance = if is_round {
                (HALF.x + skin) / sine
            } else {
                HALF.x + (HALF.y * cosine + skin) / sine
            };
            let gravity = if walls.is_flat() { 0.0 } else { 9.81 / 3600.0 };
            let offset = (10.0 * step * cosine).min(0.1 * half.tan().min(1.0));
            let start = walls.lateral(-distance - 0.5, offset * random.random_range(-1.0..1.0));
            let height = if walls.is_flat() { 0.0 } else { 0.9 + skin };
            let mut walker = Walker::new(walls.body(is_round), start + Vec3::Y * height);
            walker.settings.skin = Some(skin);
            walker.settings.step_height = if case % 3 == 0 { 0.3 } else { 0.0 };
            walker.settings.max_touches = if case % 3 == 1 { 4 } else { 8 };
            if walls.is_flat() || case % 6 == 5 {
                walker.settings.up = Vec3::ZERO;
            }
            let context = format!(
                "{} degrees, {walls:?}, case {case}, {} m/s",
                angle.to_degrees(),
                60.0 * step
            );
            let (mut fall, mut last) = (0.0, Vec3::ZERO);
            let wish = walls.lateral(step * aside.cos(), step * aside.sin());
            level.ask(|query| {
                for tick in 0..300 {
                    fall -= gravity;
                    let slide = walker.go(query, wish + Vec3::Y * fall);
                    fall = slide.clip_velocity(Vec3::Y * fall).y;
                    let least = if angle < 176_f32.to_radians() {
                        1e-4
                    } else {
                        1e-3
                    };
                    assert!(
                        tick < 280 || slide.translation.length() <= least * step,
                        "moves by {} in tick {tick}: {context}",
                        slide.translation
                    );
                    last = walker.pose.translation;
                }
            });
            let expected = walls.lateral(-distance, 0.0) + Vec3::Y * height;
            // An error of a gap moves the tip by 1 / cos(a / 2) times this error.
            let tolerance = 1e-5 + 1e-6 / cosine;
            assert!(
                last.distance(expected) < tolerance,
                "{last}, not {expected}: {context}"
            );
            judged += 1;
        }
    }
    assert_eq!(judged, 48 * cases.len());
}

/// The wall leans over the body, or away from it, and is too steep to walk on.
#[test]
fn a_body_pressed_against_a_leaning_wall_comes_to_rest() {
    let (radius, skin) = (0.4, 0.004);
    let floor = (Collider::rectangle(40.0, 1.0), at(0.0, -0.5));
    for degrees in [30.0, 60.0, 85.0, 95.0, 110.0, 125.0_f32] {
        // The wall begins at the origin, at this angle from the floor on its left side.
        let up = Vec2::from_angle(PI - degrees.to_radians());
        let center = up * 10.0 - up.perp() * 0.5;
        let turn = Quat::from_rotation_z(up.to_angle());
        let pose = Transform::from_translation(center.extend(0.0)).with_rotation(turn);
        let mut level = Level::new([floor.clone(), (Collider::rectangle(20.0, 1.0), pose)]);
        let height = radius + skin;
        let expected = Vec3::new(-height / (0.5 * degrees.to_radians()).tan(), height, 0.0);
        for speed in [1.0, 4.0, 10.0] {
            let mut walker = Walker::new(Collider::circle(radius), expected - Vec3::X);
            level.ask(|query| {
                for tick in 0..100 {
                    let slide = walker.go(query, Vec3::new(speed / 60.0, -0.01, 0.0));
                    assert!(tick < 80 || slide.translation.length() < 1e-4 * speed / 60.0);
                }
            });
            let position = walker.pose.translation;
            assert!(
                position.distance(expected) < 1e-5,
                "{position}, not {expected}, at {degrees} degrees"
            );
        }
    }
}

/// A body that is pressed sideways against the edge of a ledge stands on the edge or slides down.
#[test]
fn nobody_hangs_at_a_ledge() {
    let mut random = StdRng::seed_from_u64(8);
    let ledges = [
        Level::new([(Collider::rectangle(10.0, 10.0), at(5.0, -5.0))]),
        Level::new([(Collider::cuboid(10.0, 10.0, 10.0), at(5.0, -5.0))]),
    ];
    let mut stood = 0;
    for (is_flat, mut ledge) in [true, false].into_iter().zip(ledges) {
        for case in 0..300 {
            let body = if is_flat {
                Collider::circle(0.5)
            } else {
                Collider::sphere(0.5)
            };
            let cosine: f32 = random.random_range(0.2..0.3);
            let distance = 0.5 + SKIN * random.random_range(0.6..1.4);
            let sine = (1.0 - cosine * cosine).sqrt();
            let start = Vec3::new(-sine, cosine, 0.0) * distance;
            let mut walker = Walker::new(body, start);
            let speed = random.random_range(0.1..10.0) / 60.0;
            let (mut fall, mut still) = (0.0, 0);
            ledge.ask(|query| {
                for _ in 0..60 {
                    fall -= 9.81 / 3600.0;
                    let wanted = Vec3::new(speed, fall, 0.0);
                    let slide = walker.go(query, wanted);
                    let is_still = slide.translation.length() < 1e-3 * SKIN;
                    still = if is_still && slide.ground.is_none() {
                        still + 1
                    } else {
                        0
                    };
                    assert!(
                        still < 3,
                        "{is_flat}, case {case}: {} from {cosine}",
                        walker.pose.translation
                    );
                    fall = slide.clip_velocity(wanted).y;
                    if slide.ground.is_some() {
                        fall = 0.0;
                    }
                }
            });
            stood += u32::from(walker.settings.ground.is_some());
        }
    }
    assert!((50..550).contains(&stood), "{stood}");
}
