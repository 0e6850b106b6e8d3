//! Casts against the signed distance of an independent oracle, at times all along the motion.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::oracle::{
    Body,
    cases::{Case, Dimension, KINDS, Kind, Setting},
    gap, relation,
};
use bevy::math::{DMat3, DQuat, DVec3, Quat, Vec2, Vec3};
use headbutt::query::{self, Cast, CastOptions, Motion};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A space whose rotations a test can make from vectors.
trait Turning: Dimension {
    /// The rotation about an axis times the angle. In 2D, z counts.
    fn angle(vector: Vec3) -> Self::Angle;

    /// The same vector in f64, without the components that do not exist.
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
    /// Along a line into, past or near each other.
    Linear,
    /// Along the surface of the other shape.
    Sliding,
    /// From a touch at the start in any direction.
    Starting,
    /// Along the axes.
    Aligned,
    /// Over a thousand times the size and more.
    Fast,
    /// Both turn by up to a turn.
    Turning,
    /// From a touch at the start, with a turn.
    StartingTurn,
    /// One turns ten times while it passes.
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

    /// The signed distance at a time.
    fn gap(&self, time: f64) -> f64 {
        let [a, b] = self.bodies(time);
        gap(&a, &b)
    }

    /// The least signed distance over an interval, and its time.
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

    fn cast(&self) -> Cast<V> {
        let (a, b) = (self.case.a.support(), self.case.b.support());
        let [motion_a, motion_b] = self.motions();
        query::time_of_impact(&a, motion_a, &b, motion_b, CastOptions::default())
    }

    /// The distance by which one shape moves relative to the other, at most.
    fn path(&self) -> f64 {
        let [a, b] = self.translations;
        let turns = self.angles.map(|angle| V::deep_angle(angle).length());
        (a - b).as_dvec3().length()
            + turns[0] * (self.case.body_a.size() + self.case.body_a.lever)
            + turns[1] * (self.case.body_b.size() + self.case.body_b.lever)
    }

    /// Compares a cast with the signed distance.
    fn judge(&self, cast: &Cast<V>) -> Result<(), String> {
        let size = self.case.body_a.size() + self.case.body_b.size();
        let path = self.path();
        let offset = (V::map(self.case.pose_b).1 - self.case.origin).length();
        let rounding = 1e-15 * (offset + path + self.case.body_a.lever + self.case.body_b.lever);
        let tolerance = 2.4e-7 * size + rounding;
        let check = |holds: bool, text: &dyn Fn() -> String| {
            if holds { Ok(()) } else { Err(text()) }
        };
        let start = self.gap(0.0);
        let probed = |from: f64| f64::max(1.0, from + 2e-3 * size / path);
        // Of two flat shapes the depth is 0 at all times.
        let overlaps_after = |from: f64| {
            let end = probed(from);
            let (least, when) = self.least_gap(from, end);
            // The overlap may be short.
            let soon = (0..50).map(|halvings| from + (end - from) * 0.5_f64.powi(halvings));
            let least = soon.map(|time| self.gap(time)).fold(least, f64::min);
            let is_flat = least > -tolerance && self.is_flat();
            check(is_flat || least < -0.4 * tolerance, &|| {
                format!("least gap after {from} is {least:e} at {when}")
            })
        };
        match cast {
            Cast::Miss => {
                let (least, when) = self.least_gap(0.0, 1.0);
                check(least > -3.0 * tolerance, &|| {
                    format!("missed: gap {least:e} at {when}, size {size}")
                })
            }
            Cast::Overlapping(contact) => {
                let error = (f64::from(contact.depth) + start).abs();
                check(error < 1e-5 * size, &|| {
                    format!("depth {}, not {}", contact.depth, -start)
                })
            }
            Cast::Touching { .. } => {
                check(start.abs() < 2.0 * tolerance, &|| {
                    format!("touching at a gap of {start:e}, size {size}")
                })?;
                overlaps_after(0.0)
            }
            Cast::Hit {
                safe,
                touching,
                contact,
                face_normal,
            } => {
                let (safe, touching) = (*safe, *touching);
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
                check(least > -3.0 * tolerance, &|| {
                    format!("late: gap {least:e} at {when}, not {touching}, size {size}")
                })?;
                let unit = |vector: V| (vector.deep().length() - 1.0).abs() < 1e-6;
                check(unit(contact.normal) && unit(*face_normal), &|| {
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
                overlaps_after(touching)
            }
        }
    }

    /// `true` if the difference of the cores may have no volume.
    fn is_flat(&self) -> bool {
        let radius = self.case.body_a.radius + self.case.body_b.radius;
        radius < 1e-6 * (self.case.body_a.size() + self.case.body_b.size())
    }
}

/// The number of random cases, usually or as the environment says.
fn cases(usual: usize) -> usize {
    let asked = env::var("HEADBUTT_CASTS").ok();
    asked.map_or(usual, |number| number.parse().expect("a number of cases"))
}

fn judge_all<V: Turning>(usual: usize) {
    if let Ok(number) = env::var("HEADBUTT_CAST") {
        let course = Course::<V>::numbered(number.parse().expect("a number"));
        println!("{:?} {:?}", course.regime, course.case);
        println!("{:?} {:?}", course.translations, course.angles);
        let cast = course.cast();
        println!("{cast:?}");
        println!("{:?}", course.judge(&cast));
        return;
    }
    let mut outcomes = [0; 4];
    let mut failures = Vec::new();
    let mut slowest = (0, 0);
    for number in 0..cases(usual) {
        let course = Course::<V>::numbered(number);
        let start = std::time::Instant::now();
        let Ok(cast) = catch_unwind(AssertUnwindSafe(|| course.cast())) else {
            failures.push(format!("{number} {:?}: a query without end", course.regime));
            continue;
        };
        slowest = slowest.max((start.elapsed().as_nanos(), number));
        outcomes[match cast {
            Cast::Miss => 0,
            Cast::Hit { .. } => 1,
            Cast::Touching { .. } => 2,
            Cast::Overlapping(_) => 3,
        }] += 1;
        if let Err(text) = course.judge(&cast) {
            failures.push(format!("{number} {:?}: {text}", course.regime));
        }
    }
    println!("{outcomes:?}, {slowest:?}");
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
}

#[test]
fn casts_agree_with_the_distance_in_2d() {
    judge_all::<Vec2>(4000);
}

#[test]
fn casts_agree_with_the_distance_in_3d() {
    judge_all::<Vec3>(2000);
}
