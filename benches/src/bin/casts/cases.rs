//! Motions of pairs of shapes, and rays at shapes.

use bevy::math::Vec3;
use headbutt_bench::{
    cases::{Place, touching_distance},
    motion::Noise,
};

/// The course of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The shape moves toward the other shape, and beyond it.
    Hit,
    /// The shape moves past the other shape, nearly always without a hit.
    Pass,
    /// The shape moves only half of the way to the other shape.
    Short,
}

impl Regime {
    pub const ALL: [Self; 3] = [Self::Hit, Self::Pass, Self::Short];
}

/// Two shapes and their motions. The first shape moves. In a rotating cast, both shapes also
/// rotate.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub places: [Place; 2],
    /// The translation of the first shape.
    pub translation: Vec3,
    /// The rotation of each shape, as the axis times the angle.
    pub rotations: [Vec3; 2],
}

/// Returns motions of two shapes. `touch` returns `true` if two shapes touch. Shapes whose distance
/// exceeds `reach` never touch.
pub fn cases(
    count: u32,
    flat: bool,
    regime: Regime,
    reach: f32,
    touch: impl Fn([Place; 2]) -> bool,
) -> Vec<Case> {
    let mut noise = Noise::new(count, 3);
    (0..count)
        .map(|_| {
            let rotations = [(); 2].map(|()| noise.rotation(flat));
            let frame = noise.rotation(flat);
            let (direction, side) = (frame * Vec3::X, frame * Vec3::Y);
            // The coordinates of the first shape, relative to the second.
            let places = |along: f32, aside: f32| {
                let target = Vec3::new(3.0, -2.0, if flat { 0.0 } else { 5.0 });
                let start = target - direction * along + side * aside;
                let place = |translation, rotation| Place {
                    translation,
                    rotation,
                };
                [place(start, rotations[0]), place(target, rotations[1])]
            };
            let ahead = touching_distance(reach, |distance| touch(places(distance, 0.0)));
            let beside = touching_distance(reach, |distance| touch(places(0.0, distance)));
            let part = |noise: &mut Noise| 0.5 + 0.5 * noise.signed();
            let along = ahead * (1.5 + 2.5 * part(&mut noise));
            let (aside, length) = match regime {
                Regime::Hit => (0.6 * beside * noise.signed(), 2.0 * along),
                Regime::Pass => (beside * (1.05 + 0.45 * part(&mut noise)), 2.0 * along),
                Regime::Short => (0.6 * beside * noise.signed(), 0.5 * (along - ahead)),
            };
            let axis = |noise: &mut Noise| {
                if flat {
                    Vec3::Z
                } else {
                    noise.place().normalize_or(Vec3::Z)
                }
            };
            Case {
                places: places(along, aside),
                translation: direction * length,
                rotations: [(); 2].map(|()| axis(&mut noise) * noise.signed()),
            }
        })
        .collect()
}

/// A ray at a shape.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    pub place: Place,
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
    pub length: f32,
}

/// Returns rays at a shape: see [`cases`]. The arguments of `touch` are the pose of a point, the
/// origin of a ray, and the pose of the shape.
pub fn shots(
    count: u32,
    flat: bool,
    regime: Regime,
    reach: f32,
    touch: impl Fn([Place; 2]) -> bool,
) -> Vec<Shot> {
    let shot = |case: Case| {
        let [Place { translation, .. }, place] = case.places;
        let length = case.translation.length();
        Shot {
            place,
            origin: translation,
            direction: case.translation / length,
            length,
        }
    };
    let cases = cases(count, flat, regime, reach, touch);
    cases.into_iter().map(shot).collect()
}
