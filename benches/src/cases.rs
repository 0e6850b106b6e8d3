//! Pairs of poses, random or along a motion.

use bevy::math::{Quat, Vec3};

use crate::motion::Noise;

/// A pose in 3D. In 2D, z is 0, and the rotation is around z.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub translation: Vec3,
    pub rotation: Quat,
}

/// The distance of two shapes along the line through their centers, as a fraction of the distance
/// at which they just touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    Separated,
    Shallow,
    Deep,
}

impl Regime {
    pub const ALL: [Self; 3] = [Self::Separated, Self::Shallow, Self::Deep];

    fn part(self, at: f32) -> f32 {
        let (least, most) = match self {
            Self::Separated => (1.05, 1.5),
            Self::Shallow => (0.95, 0.995),
            Self::Deep => (0.1, 0.6),
        };
        least + (most - least) * at
    }
}

/// The relation between successive cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// Each case is independent.
    Cold,
    /// Each case is the previous case, rotated by one or two degrees.
    Coherent,
}

impl Course {
    pub const ALL: [Self; 2] = [Self::Cold, Self::Coherent];
}

/// Returns poses of two shapes. `touch` returns `true` if two shapes touch. Shapes whose distance
/// exceeds `reach` never touch.
pub fn cases(
    count: u32,
    flat: bool,
    (regime, course): (Regime, Course),
    reach: f32,
    touch: impl Fn([Place; 2]) -> bool,
) -> Vec<[Place; 2]> {
    let mut noise = Noise::new(count, 1);
    let turn = |angle: f32, noise: &mut Noise| {
        let axis = if flat {
            Vec3::Z
        } else {
            noise.place().normalize_or(Vec3::Z)
        };
        Quat::from_axis_angle(axis, angle)
    };
    let spins = [0.02, -0.013, 0.008].map(|angle| turn(angle, &mut noise));
    let mut turns = [(); 3].map(|()| noise.rotation(flat));
    (0..count)
        .map(|step| {
            let at = match course {
                Course::Cold => {
                    turns = [(); 3].map(|()| noise.rotation(flat));
                    0.5 + 0.5 * noise.signed()
                }
                Course::Coherent => {
                    for (turn, spin) in turns.iter_mut().zip(spins) {
                        *turn = (*turn * spin).normalize();
                    }
                    0.5 + 0.5 * (step as f32 * 0.01).sin()
                }
            };
            let direction = turns[2] * Vec3::X;
            let corner = Vec3::new(3.0, -2.0, if flat { 0.0 } else { 5.0 });
            let place = |distance: f32| [0.0, distance].map(|along| corner + direction * along);
            let places = |distance: f32| {
                let [a, b] = place(distance);
                [(a, turns[0]), (b, turns[1])].map(|(translation, rotation)| Place {
                    translation,
                    rotation,
                })
            };
            let inside = touching_distance(reach, |distance| touch(places(distance)));
            places(inside * regime.part(at))
        })
        .collect()
}

/// Returns the distance, up to `reach`, at which two shapes just touch.
pub fn touching_distance(reach: f32, touch: impl Fn(f32) -> bool) -> f32 {
    let (mut inside, mut outside) = (0.0, reach);
    for _ in 0..20 {
        let middle = 0.5 * (inside + outside);
        if touch(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}
