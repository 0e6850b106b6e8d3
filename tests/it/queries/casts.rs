//! Compares casts with the signed distance of an independent oracle, at many times of the motion.
//!
//! Commands for a long run, and for a single case with the number that a failure names:
//!
//! ```text
//! HEADBUTT_CASTS=1000000 cargo test --release --test it queries::casts -- --nocapture
//! HEADBUTT_CAST_CASE=1234 cargo test --test it queries::casts -- --nocapture
//! ```

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    oracle::{
        Body, Convex,
        cases::{Case, Dimension, KINDS, Kind, Setting},
        gap, relation,
    },
    support,
};
use bevy::{
    math::{DMat3, DQuat, DVec3, Quat, Vec2, Vec3},
    prelude::{
        Capsule3d, Circle, Cuboid, InfinitePlane3d, Segment2d, Segment3d, Sphere, Triangle3d,
    },
};
use headbutt::{
    ConvexHull, Rounded, Support,
    query::{self, CastHit, CastOptions, CastStatus, Contact, Motion},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A space whose rotations a test can make from vectors.
trait Turning: Dimension {
    /// Returns the rotation for a vector: the axis times the angle. In 2D, only z counts.
    fn angle(vector: Vec3) -> Self::Angle;

    /// Returns the same vector in f64, without the components that do not exist.
    fn deep_angle(vector: Vec3) -> DVec3;
}

impl Turning for Vec2 {
    fn angle(vector: Vec3) -> f32 {
        vector.z
    }
    fn deep_angle(vector: Vec3) -> DVec3 {
        DVec3::Z * f64::from(vector.z)
    }
}

impl Turning for Vec3 {
    fn angle(vector: Vec3) -> Vec3 {
        vector
    }
    fn deep_angle(vector: Vec3) -> DVec3 {
        vector.as_dvec3()
    }
}

/// The kinds of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    /// The shapes move along a line into, past or near each other.
    Linear,
    /// A shape moves along the surface of the other shape.
    Sliding,
    /// The shapes touch at the start, and move in any direction.
    Starting,
    /// The shapes move along the axes.
    Aligned,
    /// The shapes move by a thousand times their size or more.
    Fast,
    /// Both shapes rotate by up to a full turn.
    Turning,
    /// The shapes touch at the start, and rotate.
    StartingTurn,
    /// One shape rotates ten times while it passes the other.
    Spinning,
}

const REGIMES: [Regime; 8] = [
    Regime::Linear,
    Regime::Sliding,
    Regime::Starting,
    Regime::Aligned,
    Regime::Fast,
    Regime::Turning,
    Regime::StartingTurn,
    Regime::Spinning,
];

/// A case of the oracle, reached at some time of a motion.
struct Course<V: Turning> {
    regime: Regime,
    case: Case<V>,
    translations: [Vec3; 2],
    angles: [Vec3; 2],
}

fn rotation(angle: DVec3) -> DMat3 {
    let size = angle.length();
    if size > 0.0 {
        DMat3::from_axis_angle(angle / size, size)
    } else {
        DMat3::IDENTITY
    }
}

fn vector(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
}

impl<V: Turning> Course<V> {
    fn numbered(number: usize) -> Self {
        let mut random = StdRng::seed_from_u64(number as u64);
        let random = &mut random;
        let regime = REGIMES[number % REGIMES.len()];
        let kinds = [(); 2].map(|()| KINDS[random.random_range(0..KINDS.len())]);
        let unit = 10_f32.powf(random.random_range(-3.0..3.0));
        let far = if random.random_bool(0.1) {
            1e6 * unit
        } else {
            0.0
        };
        let mut case = Case::<V>::random(kinds, Setting { unit, far }, random);
        let size = (case.body_a.size() + case.body_b.size()) as f32;
        let flat = |vector: Vec3| V::of(vector).deep().as_vec3();
        let normal = relation(&case.body_a, &case.body_b).normal;
        let mut way = flat(vector(random));
        let mut speed = size * 10_f32.powf(random.random_range(-1.0..1.0));
        let mut turns = [Vec3::ZERO; 2];
        let mut when = random.random_range(0.0..1.2);
        match regime {
            Regime::Linear => {}
            Regime::Sliding => {
                if let Some(normal) = normal {
                    let along = way.as_dvec3();
                    way = (along - normal * along.dot(normal)).as_vec3();
                }
            }
            Regime::Starting => when = 0.0,
            Regime::Aligned => way = way.round(),
            Regime::Fast => speed = size * 10_f32.powf(random.random_range(3.0..5.0)),
            Regime::Turning => turns = [3.0 * vector(random), 3.0 * vector(random)],
            Regime::StartingTurn => {
                when = 0.0;
                turns = [vector(random), 3.0 * vector(random)];
            }
            Regime::Spinning => turns = [60.0 * vector(random), Vec3::ZERO],
        }
        let translations = match random.random_range(0..3) {
            0 => [way * speed, Vec3::ZERO],
            1 => [Vec3::ZERO, way * speed],
            _ => [way * (0.5 * speed), way * (-0.5 * speed)],
        };
        for (side, pose) in [&mut case.pose_a, &mut case.pose_b].into_iter().enumerate() {
            let (matrix, translation) = V::map(*pose);
            let back = rotation(V::deep_angle(turns[side]) * -when);
            let turn = DQuat::from_mat3(&(back * matrix)).normalize();
            let turn = Quat::from_array(turn.to_array().map(|part| part as f32));
            let start = translation - translations[side].as_dvec3() * when;
            if when > 0.0 {
                *pose = V::isometry(turn, start.as_vec3());
            }
        }
        case.origin = V::map(case.pose_a).1;
        case.body_a = case.a.body(V::map(case.pose_a), case.origin);
        case.body_b = case.b.body(V::map(case.pose_b), V::map(case.pose_b).1);
        Self {
            regime,
            case,
            translations,
            angles: turns,
        }
    }

    fn is_linear(&self) -> bool {
        self.angles == [Vec3::ZERO; 2]
    }

    fn bodies(&self, time: f64) -> [Body; 2] {
        let turns = self
            .angles
            .map(|angle| rotation(V::deep_angle(angle) * time));
        let moves = self
            .translations
            .map(|translation| translation.as_dvec3() * time);
        let offset = V::map(self.case.pose_b).1 - self.case.origin;
        [
            self.case.body_a.turned(turns[0], moves[0]),
            self.case.body_b.turned(turns[1], moves[1] + offset),
        ]
    }

    /// Returns the signed distance at a time.
    fn gap(&self, time: f64) -> f64 {
        let [a, b] = self.bodies(time);
        // The difference of few points has no volume, so the cores never overlap. The oracle's
        // normal of a sliver is too imprecise to prove that the depth is 0.
        let points = self.case.a.points.len() * self.case.b.points.len();
        let least = if points <= self.dimension() {
            -(a.radius + b.radius)
        } else {
            f64::NEG_INFINITY
        };
        gap(&a, &b).max(least)
    }

    /// Returns `true` if the shapes are points and segments whose difference has no volume. One
    /// shape may pass the end of the other by less than the rounding.
    fn is_of_segments(&self) -> bool {
        let radius = self.case.body_a.radius + self.case.body_b.radius;
        let [a, b] = [&self.case.a, &self.case.b].map(|shape| shape.points.len());
        let is_flat = match self.dimension() {
            2 => a * b <= 2,
            _ => a.max(b) <= 2,
        };
        is_flat && radius == 0.0
    }

    fn dimension(&self) -> usize {
        if self.case.body_a.is_planar() { 2 } else { 3 }
    }

    /// Returns the least signed distance over an interval, and its time.
    fn least_gap(&self, from: f64, to: f64) -> (f64, f64) {
        let count = if self.is_linear() { 1 } else { 100 };
        let width = (to - from) / f64::from(count);
        let mut best = (f64::INFINITY, from);
        let mut starts: Vec<(f64, f64)> = (0..count)
            .map(|step| from + width * f64::from(step))
            .map(|start| (self.gap(start + 0.5 * width), start))
            .collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The signed distance of convex sets under linear motion is a convex function of time.
        for (_, start) in starts.iter().take(3) {
            let (mut low, mut high) = (*start, start + width);
            if !self.is_linear() {
                (low, high) = (f64::max(from, low - width), f64::min(to, high + width));
            }
            let mut take = |time: f64| {
                let found = self.gap(time);
                best = if found < best.0 { (found, time) } else { best };
                found
            };
            take(low);
            take(high);
            let steps = if self.is_linear() { 50 } else { 16 };
            for _ in 0..steps {
                let (first, second) = (low + (high - low) * 0.382, low + (high - low) * 0.618);
                if take(first) < take(second) {
                    high = second;
                } else {
                    low = first;
                }
            }
        }
        best
    }

    fn motions(&self) -> [Motion<V>; 2] {
        let poses = [self.case.pose_a, self.case.pose_b];
        [0, 1].map(|side| {
            Motion::linear(poses[side], V::of(self.translations[side]))
                .rotated(V::angle(self.angles[side]))
        })
    }

    fn cast(&self) -> Option<CastHit<V>> {
        let (a, b) = (self.case.a.support(), self.case.b.support());
        let [motion_a, motion_b] = self.motions();
        query::cast_motion(&a, motion_a, &b, motion_b, CastOptions::default())
    }

    /// Returns the maximum distance by which one shape moves relative to the other.
    fn path(&self) -> f64 {
        let [a, b] = self.translations;
        let turns = self.angles.map(|angle| V::deep_angle(angle).length());
        (a - b).as_dvec3().length()
            + turns[0] * (self.case.body_a.size() + self.case.body_a.lever)
            + turns[1] * (self.case.body_b.size() + self.case.body_b.lever)
    }

    /// Compares a cast with the signed distance.
    fn judge(&self, found: Option<CastHit<V>>) -> Result<(), String> {
        let size = self.case.body_a.size() + self.case.body_b.size();
        let path = self.path();
        let offset = (V::map(self.case.pose_b).1 - self.case.origin).length();
        let rounding = 1e-15 * (offset + path + self.case.body_a.lever + self.case.body_b.lever);
        let tolerance = 2.4e-7 * size + rounding;
        let check = |holds: bool, text: &dyn Fn() -> String| {
            if holds { Ok(()) } else { Err(text()) }
        };
        // Two points never overlap.
        if size <= 1e-6 * (self.case.body_a.lever + self.case.body_b.lever) {
            return Ok(());
        }
        let start = self.gap(0.0);
        // Because f32 rounds positions, shapes that merely touch may overlap by this much.
        let extents = [self.case.pose_a, self.case.pose_b].map(|pose| {
            let translation = V::map(pose).1.abs();
            translation.x + translation.y + translation.z
        });
        // The library's size of a pair is up to twice this size.
        let placement = f64::min(1.2e-7 * (extents[0] + extents[1]), 2e-3 * size);
        let allowed = if start > -placement - tolerance {
            f64::max(-start, 0.0)
        } else {
            0.0
        };
        let probed = |from: f64| f64::max(1.0, from + 2e-3 * size / path);
        let overlaps_after = |from: f64, normal: V| {
            let end = probed(from);
            let (least, when) = self.least_gap(from, end);
            // The overlap may be short.
            let soon = (0..50).map(|halvings| from + (end - from) * 0.5_f64.powi(halvings));
            let least = soon.map(|time| self.gap(time)).fold(least, f64::min);
            // Shapes that pass through each other have no depth if both are flat along the normal.
            let normal = normal.deep();
            let [a, b] = self.bodies(from);
            let width: f64 = [a, b]
                .iter()
                .map(|body| body.height(normal) + body.height(-normal))
                .sum();
            let is_flat = width < 1e-6 * size || self.is_of_segments();
            let is_flat = is_flat && least > -tolerance;
            check(is_flat || least < -0.4 * tolerance, &|| {
                format!("least gap after {from} is {least:e} at {when}")
            })
        };
        let Some(hit) = found else {
            let (least, when) = self.least_gap(0.0, 1.0);
            return check(least > -allowed - 3.0 * tolerance, &|| {
                format!("missed: gap {least:e} at {when}, size {size}")
            });
        };
        let CastHit {
            safe,
            touching,
            contact,
            face_normal,
            ..
        } = hit;
        match hit.status {
            CastStatus::Overlapping => {
                let error = (f64::from(contact.depth) + start).abs();
                check(error < 1e-5 * size, &|| {
                    format!("depth {}, not {}", contact.depth, -start)
                })
            }
            CastStatus::Touching => {
                check(start.abs() < allowed + 2.0 * tolerance, &|| {
                    format!("touching at a gap of {start:e}, size {size}")
                })?;
                overlaps_after(0.0, contact.normal)
            }
            CastStatus::Hit => {
                check(0.0 <= safe && safe <= touching && touching <= 1.0, &|| {
                    "no interval".into()
                })?;
                let width = 1e-6 + 1.2e-7 * size / path;
                check(touching - safe <= width, &|| {
                    format!("wide: {:e}", touching - safe)
                })?;
                let at_safe = self.gap(safe);
                // A hull drops points within the rounding of its coordinates.
                let is_hull = [self.case.a.kind, self.case.b.kind].contains(&Kind::Hull);
                let dropped = if is_hull { 2.4e-7 * size } else { 0.0 };
                check(at_safe > -1e-12 * size - rounding - dropped, &|| {
                    format!("unsafe: gap {at_safe:e} at {safe}, size {size}")
                })?;
                let at_touching = self.gap(touching);
                check(at_touching < tolerance, &|| {
                    format!("apart: gap {at_touching:e} at {touching}, size {size}")
                })?;
                let (least, when) = self.least_gap(0.0, safe);
                check(least > -allowed - 3.0 * tolerance, &|| {
                    format!("late: gap {least:e} at {when}, not {touching}, size {size}")
                })?;
                let unit = |vector: V| (vector.deep().length() - 1.0).abs() < 1e-6;
                check(unit(contact.normal) && unit(face_normal), &|| {
                    "not unit".into()
                })?;
                let [a, b] = self.bodies(touching);
                let normal = contact.normal.deep();
                let along = -b.height(-normal) - a.height(normal);
                let angle_error = 1e-5 * size + 1e-6 * offset + rounding;
                check(
                    (along - at_touching).abs() < tolerance + angle_error,
                    &|| {
                        format!(
                            "normal {normal}: {along:e} instead of {at_touching:e}, size {size}"
                        )
                    },
                )?;
                overlaps_after(touching, contact.normal)
            }
        }
    }
}

/// Returns the numbers of the cases, by default or from the environment.
fn cases(usual: usize) -> Range<usize> {
    support::cases::cases("HEADBUTT_CASTS", usual)
}

fn judge_all<V: Turning>(usual: usize) {
    if let Some(number) = support::cases::number("HEADBUTT_CAST_CASE") {
        let course = Course::<V>::numbered(number);
        println!("{:?} {:?}", course.regime, course.case);
        println!("{:?} {:?}", course.translations, course.angles);
        let cast = course.cast();
        println!("{cast:?}");
        println!("{:?}", course.judge(cast));
        return;
    }
    let mut outcomes = [0; 4];
    let mut failures = Vec::new();
    for number in cases(usual) {
        let course = Course::<V>::numbered(number);
        let Ok(cast) = catch_unwind(AssertUnwindSafe(|| course.cast())) else {
            failures.push(format!("{number} {:?}: a query without end", course.regime));
            continue;
        };
        outcomes[match cast.map(|hit| hit.status) {
            None => 0,
            Some(CastStatus::Hit) => 1,
            Some(CastStatus::Touching) => 2,
            Some(CastStatus::Overlapping) => 3,
        }] += 1;
        if let Err(text) = course.judge(cast) {
            failures.push(format!("{number} {:?}: {text}", course.regime));
        }
    }
    println!("misses, hits, touching, overlapping: {outcomes:?}");
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
    // A generator that rarely produces some outcome would test little.
    assert!(
        outcomes
            .iter()
            .all(|count| count * 200 > cases(usual).len()),
        "{outcomes:?}"
    );
}

fn cast<A, B>(a: &A, pose_a: Vec3, motion: Vec3, b: &B, pose_b: Vec3) -> Option<CastHit<Vec3>>
where
    A: Support<Vector = Vec3>,
    B: Support<Vector = Vec3>,
{
    let options = CastOptions::default();
    query::cast_shape(a, pose_a, motion, b, pose_b, Vec3::ZERO, options)
}

/// The cases come from parry's issue 430, in which the time of impact is short by up to 139 mm.
#[test]
fn large_boxes_touch_at_the_exact_time() {
    for half in [5.0_f32, 50.0, 500.0] {
        let cube = Cuboid::from_size(Vec3::splat(2.0 * half));
        let start = Vec3::X * 3.0 * half;
        let hit = cast(&cube, Vec3::ZERO, start, &cube, start);
        let CastHit { safe, touching, .. } = hit.expect("they meet");
        let path = 3.0 * f64::from(half);
        assert!(
            (touching * path - f64::from(half)).abs() < 1e-6,
            "{half}: {touching}"
        );
        assert!(
            (safe * path - f64::from(half)).abs() < 1e-6,
            "{half}: {safe}"
        );
        assert!(safe <= touching);
    }
}

/// A box, a capsule and a hull rest on a box, a hull and a half-space.
#[test]
fn from_a_resting_contact_only_closing_motion_hits() {
    let hull = |half: Vec3| {
        let signs = (0..8).map(|corner| [0, 1, 2].map(|bit| f32::from((corner >> bit) & 1 == 1)));
        ConvexHull::new(signs.map(|signs| half * (2.0 * Vec3::from(signs) - 1.0))).unwrap()
    };
    let half = Vec3::new(0.5, 0.25, 0.75);
    let tops: [Box<dyn Support<Vector = Vec3>>; 4] = [
        Box::new(Cuboid { half_size: half }),
        Box::new(hull(half)),
        Box::new(Sphere::new(0.25)),
        // The capsule is upright, so that its lower end touches.
        Box::new(Capsule3d::new(0.125, 0.25)),
    ];
    let floor_half = Vec3::new(8.0, 1.0, 8.0);
    let floors: [Box<dyn Support<Vector = Vec3>>; 3] = [
        Box::new(Cuboid {
            half_size: floor_half,
        }),
        Box::new(hull(floor_half)),
        Box::new(Rounded::new(
            Cuboid {
                half_size: floor_half - 0.5,
            },
            0.5,
        )),
    ];
    let plane = InfinitePlane3d::new(Vec3::Y);
    let rounds = cases(4000);
    let mut random = StdRng::seed_from_u64(5 + rounds.start as u64);
    let mut counts = [0; 2];
    for round in rounds {
        let mut way = vector(&mut random);
        match round % 4 {
            0 => way.y = 0.0,
            1 => way.y = way.y.signum() * way.length() * 1e-3,
            _ => {}
        }
        let way = way * 10_f32.powf(random.random_range(-2.0..2.0));
        // A lesser overlap with the floor is only a graze, relative to the size of the largest
        // pair.
        if way.y < 0.0 && -way.y <= 2.4e-7 * 2.0 * (floor_half + half).length() {
            continue;
        }
        let at = Vec3::Y * 1.25 + Vec3::new(way.z, 0.0, way.x).clamp_length_max(6.0);
        for top in &tops {
            let on_floors = floors
                .iter()
                .map(|floor| cast(top, at, way, floor, Vec3::ZERO));
            let on_plane = cast(top, at, way, &plane, Vec3::Y);
            for (index, found) in on_floors.chain([on_plane]).enumerate() {
                counts[usize::from(way.y < 0.0)] += 1;
                if way.y < 0.0 {
                    let hit = found.filter(|hit| hit.status == CastStatus::Touching);
                    let Some(CastHit {
                        contact,
                        face_normal,
                        ..
                    }) = hit
                    else {
                        panic!("floor {index}, motion {way}: {found:?}");
                    };
                    assert!((contact.normal + Vec3::Y).length() < 1e-6, "{contact:?}");
                    assert!((face_normal + Vec3::Y).length() < 1e-6, "{face_normal}");
                } else {
                    assert_eq!(found, None, "floor {index}, motion {way}");
                }
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// The gap is linear in time: g - t c, with the closing speed c along the normal of the plane.
#[test]
fn a_linear_cast_meets_a_half_space_when_the_gap_along_its_normal_is_closed() {
    let rounds = cases(4000);
    let mut random = StdRng::seed_from_u64(8 + rounds.start as u64);
    let mut counts = [0; 3];
    for round in rounds {
        let normal = vector(&mut random).normalize_or(Vec3::Y);
        let plane = InfinitePlane3d::new(normal);
        let normal = plane.normal.as_dvec3().normalize();
        let half = vector(&mut random).abs() + 0.1;
        let radius = half.x;
        // Each body has its extent along the normal.
        let reach = half.as_dvec3().dot(normal.abs());
        let bodies: [(Box<dyn Support<Vector = Vec3>>, f64); 4] = [
            (Box::new(Cuboid { half_size: half }), reach),
            (Box::new(Sphere::new(radius)), radius.into()),
            (
                Box::new(Rounded::new(Cuboid { half_size: half }, radius)),
                reach + f64::from(radius),
            ),
            (Box::new(Vec3::ZERO), 0.0),
        ];
        let (at, on_plane) = (3.0 * vector(&mut random), vector(&mut random));
        let ways = [4.0 * vector(&mut random), vector(&mut random)];
        for (body, reach) in &bodies {
            let gap = normal.dot(at.as_dvec3() - on_plane.as_dvec3()) - reach;
            let closing = -normal.dot(ways[0].as_dvec3() - ways[1].as_dvec3());
            if gap.abs() < 1e-3 || (gap - closing).abs() < 1e-3 {
                continue;
            }
            let options = CastOptions::default();
            let found = if round % 2 == 0 {
                query::cast_shape(body, at, ways[0], &plane, on_plane, ways[1], options)
            } else {
                query::cast_shape(&plane, on_plane, ways[1], body, at, ways[0], options)
            };
            let context = format!("{round} {gap} {closing} {found:?}");
            let side = if round % 2 == 0 { -normal } else { normal };
            if let Some(CastHit {
                contact,
                face_normal,
                ..
            }) = found
            {
                assert!(
                    (contact.normal.as_dvec3() - side).length() < 1e-6,
                    "{context}"
                );
                // The face belongs to the second shape.
                if round % 2 == 0 {
                    assert_eq!(face_normal, contact.normal, "{context}");
                }
            }
            match found.map(|hit| (hit.status, hit)) {
                Some((CastStatus::Overlapping, hit)) if gap < 0.0 => {
                    assert!(
                        (f64::from(hit.contact.depth) + gap).abs() < 1e-5,
                        "{context}"
                    );
                    counts[0] += 1;
                }
                Some((CastStatus::Hit, hit)) if gap > 0.0 && gap < closing => {
                    let error = [hit.safe, hit.touching].map(|time| (time * closing - gap).abs());
                    assert!(error[0].max(error[1]) < 1e-6, "{context}");
                    assert!(hit.safe <= hit.touching, "{context}");
                    counts[1] += 1;
                }
                None if gap > 0.0 && gap > closing => counts[2] += 1,
                _ => panic!("{context}"),
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

#[test]
fn a_box_passes_along_a_face_in_the_same_plane() {
    let tile = Cuboid::from_length(1.0);
    for offset in [
        Vec3::new(3.0, 1.0, 0.0),
        Vec3::new(3.0, 1.0, 1.0),
        Vec3::new(3.0, 1.0, 0.25),
    ] {
        assert_eq!(cast(&tile, Vec3::ZERO, Vec3::X * 9.0, &tile, offset), None);
    }
    let lower = Vec3::new(3.0, 1.0 - 1e-5, 0.25);
    assert!(cast(&tile, Vec3::ZERO, Vec3::X * 9.0, &tile, lower).is_some());
}

#[test]
fn flat_shapes_hit_each_other() {
    let triangle = Triangle3d::new(Vec3::ZERO, Vec3::X, Vec3::Y);
    let point = [Vec3::ZERO];
    let start = Vec3::new(0.25, 0.25, 2.0);
    for down in [-3.0, -2.5, -100.0] {
        let found = cast(&point, start, Vec3::Z * down, &triangle, Vec3::ZERO);
        let touching = found.expect("through the triangle").touching;
        assert!((touching * f64::from(-down) - 2.0).abs() < 1e-6);
    }
    let beside = Vec3::new(0.75, 0.75, 2.0);
    assert_eq!(
        cast(&point, beside, Vec3::Z * -3.0, &triangle, Vec3::ZERO),
        None
    );
    let bar = Segment3d::new(-Vec3::X, Vec3::X);
    let across = Segment3d::new(-Vec3::Y, Vec3::Y);
    let found = cast(&bar, Vec3::Z * 2.0, Vec3::Z * -8.0, &across, Vec3::ZERO);
    let touching = found.expect("across").touching;
    assert!((touching - 0.25).abs() < 1e-6);
}

/// The end of a bar of half length 2 moves on a circle. The side of the bar touches the ball of
/// radius r around (d, 0) at the angle whose sine is r / d.
#[test]
fn a_turning_bar_hits_a_ball_at_the_angle_of_its_tangent() {
    let bar = Segment2d::new(Vec2::Y * -2.0, Vec2::Y * 2.0);
    let ball = Circle::new(0.5);
    for turns in [1.0, 10.0, 100.0, -100.0_f32] {
        let motion = Motion::still(Vec2::ZERO).rotated(turns * core::f32::consts::TAU);
        let center = Vec2::X * 1.5;
        let options = CastOptions::default();
        let found = query::cast_motion(&bar, motion, &ball, center, options);
        let touching = found.expect("the ball is in the way").touching;
        let angle = core::f64::consts::FRAC_PI_2 - (1.0_f64 / 3.0).asin();
        let expected = angle / f64::from(turns.abs() * core::f32::consts::TAU);
        assert!(
            (touching - expected).abs() < 1e-7 * expected,
            "{touching}, not {expected}"
        );
        let beyond = query::cast_motion(&bar, motion, &ball, Vec2::X * 2.5001, options);
        assert_eq!(beyond, None);
    }
}

/// A box turns about its center at the height h. The box touches the plane when the corner at the
/// angle b of the diagonal r is at r sin(a + b) = h.
#[test]
fn a_turning_box_hits_a_half_space_with_its_corner() {
    let cube = Cuboid::from_length(2.0);
    let plane = InfinitePlane3d::new(Vec3::Y);
    let turn = Motion::still(Vec3::Y * 1.2).rotated(Vec3::Z);
    let options = CastOptions::default();
    let expected = (1.2_f32 as f64 / 2.0_f64.sqrt()).asin() - core::f64::consts::FRAC_PI_4;
    let still = Motion::still(Vec3::ZERO);
    for found in [
        query::cast_motion(&cube, turn, &plane, still, options),
        query::cast_motion(&plane, still, &cube, turn, options),
    ] {
        let hit = found.expect("the corner touches");
        let CastHit {
            touching, contact, ..
        } = hit;
        assert!(
            (touching - expected).abs() < 1e-8,
            "{touching}, not {expected}"
        );
        assert!((contact.normal.y.abs() - 1.0).abs() < 1e-6);
        assert!(contact.point_a.y.abs() < 1e-6 && contact.point_b.y.abs() < 1e-6);
    }
}

#[test]
fn at_an_edge_the_face_opposes_the_motion() {
    let ball = Sphere::new(1.0);
    let cube = Cuboid::from_length(4.0);
    let corners = [-2.0, 2.0].map(|x| [-2.0, 2.0].map(|y| [-2.0, 2.0].map(|z| Vec3::new(x, y, z))));
    let hull = ConvexHull::new(corners.into_iter().flatten().flatten()).unwrap();
    for (start, motion, face) in [
        (Vec3::new(2.25, 5.0, 0.5), Vec3::Y * -4.0, Vec3::Y),
        (Vec3::new(5.0, 2.25, 0.5), Vec3::X * -4.0, Vec3::X),
        (Vec3::new(2.25, 5.0, 2.25), Vec3::Y * -4.0, Vec3::Y),
        (Vec3::new(2.25, 2.25, 5.0), Vec3::Z * -4.0, Vec3::Z),
        (Vec3::new(0.25, 5.0, 0.5), Vec3::Y * -4.0, Vec3::Y),
    ] {
        for found in [
            cast(&ball, start, motion, &cube, Vec3::ZERO),
            cast(&ball, start, motion, &hull, Vec3::ZERO),
        ] {
            let normal = found.expect("a hit").face_normal;
            assert!((normal + face).length() < 1e-6, "{normal}, not {}", -face);
        }
    }
}

#[test]
fn overlapping_shapes_may_leave_each_other() {
    let ball = Sphere::new(1.0);
    let at = |x: f32| Vec3::X * x;
    let leave = CastOptions {
        leave_overlaps: true,
    };
    let both = |motion: Vec3| {
        [CastOptions::default(), leave].map(|options| {
            query::cast_shape(&ball, at(0.0), motion, &ball, at(1.5), Vec3::ZERO, options)
        })
    };
    let contact = query::contact(&ball, at(0.0), &ball, at(1.5)).unwrap();
    let overlapping = Some(CastHit {
        status: CastStatus::Overlapping,
        safe: 0.0,
        touching: 0.0,
        contact,
        face_normal: contact.normal,
        part: 0,
        other_part: 0,
    });
    assert_eq!(both(at(-3.0)), [overlapping, None]);
    assert_eq!(both(at(3.0)), [overlapping; 2]);
    assert_eq!(both(Vec3::ZERO), [overlapping, None]);
}

#[test]
fn from_the_middle_shapes_may_leave_on_both_sides() {
    let (ball, plate) = (Sphere::new(0.5), Cuboid::new(0.2, 4.0, 4.0));
    let options = CastOptions {
        leave_overlaps: true,
    };
    for motion in [Vec3::X * 0.3, Vec3::X * -0.3] {
        let cast = query::cast_shape(
            &ball,
            Vec3::ZERO,
            motion,
            &plate,
            Vec3::ZERO,
            Vec3::ZERO,
            options,
        );
        assert_eq!(cast, None, "{motion}");
    }
}

/// The new position is rounded to f32, so that the body may overlap the obstacle a little.
#[test]
fn a_body_that_was_moved_to_a_touch_can_move_on() {
    let mut random = StdRng::seed_from_u64(17);
    let (body, crate_) = (Capsule3d::new(0.4, 1.0), Cuboid::new(2.0, 2.0, 2.0));
    let mut overlaps = 0;
    for (case, distance) in [0.0, 20.0, 300.0, 3000.0]
        .into_iter()
        .cycle()
        .take(800)
        .enumerate()
    {
        let direction = vector(&mut random);
        let obstacle = direction.normalize_or(Vec3::X) * distance + vector(&mut random);
        let start = obstacle + Vec3::new(-4.0, random.random_range(-0.9..0.9), 0.0);
        let dash = Vec3::new(
            random.random_range(3.0..6.0),
            0.0,
            random.random_range(-0.5..0.5),
        );
        let Some(hit) = cast(&body, start, dash, &crate_, obstacle) else {
            panic!("{case}");
        };
        let stopped = start + dash * hit.safe as f32;
        overlaps += u32::from(query::intersects(&body, stopped, &crate_, obstacle));
        for free in [Vec3::Z, Vec3::NEG_Z, Vec3::Y, Vec3::NEG_Y, Vec3::NEG_X] {
            assert_eq!(
                cast(&body, stopped, free, &crate_, obstacle),
                None,
                "{case}"
            );
        }
        let again = cast(&body, stopped, Vec3::X, &crate_, obstacle);
        assert!(
            again.is_some_and(|hit| hit.safe < 1e-3),
            "{case}: {again:?}"
        );
    }
    assert!(overlaps > 100, "{overlaps}");
}

#[test]
fn a_crate_that_overhangs_the_edge_of_a_floor_stands_on_the_floor() {
    let (floor, body) = (Cuboid::new(4.0, 1.0, 4.0), Cuboid::new(1.0, 1.0, 1.0));
    for x in [-2.25, -2.0, 0.0, 2.0, 2.25] {
        for motion in [
            Vec3::new(-1.0, -0.1, 0.0),
            Vec3::new(1.0, -0.1, 0.0),
            Vec3::NEG_Y,
        ] {
            let found = cast(&body, Vec3::new(x, 1.0, 0.1), motion, &floor, Vec3::ZERO);
            assert_eq!(
                found.map(|hit| hit.face_normal),
                Some(Vec3::NEG_Y),
                "{x}, {motion}: {found:?}"
            );
        }
    }
}

/// A ball whose support function is wrong in one octant.
struct BrokenBall;

impl Support for BrokenBall {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        if direction.cmpgt(DVec3::ZERO).all() {
            return DVec3::NAN;
        }
        direction.normalize()
    }
}

#[test]
fn a_cast_of_a_shape_with_nan_ends() {
    let mut random = StdRng::seed_from_u64(18);
    for _ in 0..300 {
        let motion = Motion::linear(vector(&mut random) * 3.0, vector(&mut random) * 4.0);
        let motion = motion.rotated(vector(&mut random) * 9.0);
        let wall = Cuboid::new(0.1, 5.0, 5.0);
        let found = query::cast_motion(
            &BrokenBall,
            motion,
            &wall,
            Vec3::ZERO,
            CastOptions::default(),
        );
        assert!((0.0..=1.0).contains(&found.map_or(1.0, |hit| hit.safe)));
    }
}

#[test]
fn invalid_input_is_a_miss() {
    let ball = Sphere::new(1.0);
    let options = CastOptions::default();
    for bad in [f32::NAN, f32::INFINITY] {
        let motions = [
            Motion::linear(Vec3::X * bad, Vec3::X),
            Motion::linear(Vec3::ZERO, Vec3::X * bad),
            Motion::still(Vec3::ZERO).rotated(Vec3::Y * bad),
            Motion::between(Vec3::ZERO, Vec3::X * bad),
        ];
        for motion in motions {
            let found = query::cast_motion(&ball, motion, &ball, Vec3::X * 0.5, options);
            assert_eq!(found, None, "{motion:?}");
        }
    }
    for radius in [-1.0, f32::NAN] {
        let found = cast(
            &Sphere { radius },
            Vec3::ZERO,
            Vec3::X * 9.0,
            &ball,
            Vec3::X * 5.0,
        );
        assert_eq!(found, None);
    }
    let planes = InfinitePlane3d::new(Vec3::Y);
    assert_eq!(
        cast(&planes, Vec3::ZERO, Vec3::Y, &planes, Vec3::ZERO),
        None
    );
}

fn mirrored<V: Turning>(hit: CastHit<V>) -> CastHit<V> {
    let minus = |vector: V| V::of((DVec3::ZERO - vector.deep()).as_vec3());
    CastHit {
        contact: Contact {
            normal: minus(hit.contact.normal),
            depth: hit.contact.depth,
            point_a: hit.contact.point_b,
            point_b: hit.contact.point_a,
        },
        face_normal: minus(hit.face_normal),
        part: hit.other_part,
        other_part: hit.part,
        ..hit
    }
}

/// Replaces the face normal, because it belongs to the second shape, which is the other shape after
/// a swap.
fn without_face<V: Turning>(hit: CastHit<V>) -> CastHit<V> {
    CastHit {
        face_normal: hit.contact.normal,
        ..hit
    }
}

fn swap_all<V: Turning>(count: usize) {
    for number in 0..count {
        let course = Course::<V>::numbered(number);
        let (a, b) = (course.case.a.support(), course.case.b.support());
        let [motion_a, motion_b] = course.motions();
        let options = CastOptions::default();
        let back = query::cast_motion(&b, motion_b, &a, motion_a, options);
        let there = course.cast().map(without_face);
        assert_eq!(
            there,
            back.map(without_face).map(mirrored),
            "{number}: {:?}",
            course.case
        );
    }
}

#[test]
fn swapping_the_shapes_mirrors_a_cast() {
    swap_all::<Vec2>(2000);
    swap_all::<Vec3>(2000);
}

#[test]
fn casts_agree_with_the_distance_in_2d() {
    judge_all::<Vec2>(4000);
}

#[test]
fn casts_agree_with_the_distance_in_3d() {
    judge_all::<Vec3>(2000);
}
