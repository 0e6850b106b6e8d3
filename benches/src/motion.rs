//! The motion of objects: a function of their number and of the tick, so that all worlds are equal
//! without sharing data.

use bevy::prelude::*;

/// The number of an object in the scene, the same in all worlds.
#[derive(Component, Clone, Copy, Debug)]
pub struct Number(pub u32);

/// The number of ticks so far.
#[derive(Resource, Default)]
pub struct Ticks(pub u32);

/// The motion of an object.
#[derive(Component, Clone, Debug)]
pub enum Motion {
    /// The object moves straight and rotates. At the walls of a room, the object turns back.
    Drift {
        velocity: Vec3,
        spin: Quat,
        center: Vec3,
        bound: Vec3,
    },
    /// In each tick, the object gets a random pose near its home.
    Jitter {
        home: Transform,
        reach: Vec3,
        turn: f32,
    },
    /// In each tick, the object gets a random pose in the room.
    Teleport { bound: Vec3 },
}

/// Moves all objects by a tick. This system runs on one thread in every world, and its time is
/// subtracted in the end.
pub fn advance(
    mut ticks: ResMut<Ticks>,
    mut things: Query<(&Number, &mut Transform, &mut Motion)>,
) {
    ticks.0 += 1;
    for (number, mut transform, mut motion) in &mut things {
        // Only the transform is marked as changed.
        match motion.bypass_change_detection() {
            Motion::Drift {
                velocity,
                spin,
                center,
                bound,
            } => {
                let place = transform.translation + *velocity;
                let inside = place - *center;
                for axis in 0..3 {
                    if inside[axis].abs() > bound[axis] && inside[axis] * velocity[axis] > 0.0 {
                        velocity[axis] = -velocity[axis];
                    }
                }
                transform.translation = place;
                transform.rotation = (transform.rotation * *spin).normalize();
            }
            Motion::Jitter { home, reach, turn } => {
                let mut noise = Noise::new(number.0, ticks.0);
                transform.translation = home.translation + *reach * noise.place();
                transform.rotation = home.rotation * Quat::from_rotation_z(*turn * noise.signed());
            }
            Motion::Teleport { bound } => {
                let mut noise = Noise::new(number.0, ticks.0);
                transform.translation = *bound * noise.place();
                transform.rotation = noise.rotation(bound.z == 0.0);
            }
        }
    }
}

/// A generator of random numbers that is seeded with two numbers and shares no state: SplitMix64
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014)).
pub struct Noise(u64);

impl Noise {
    pub fn new(number: u32, tick: u32) -> Self {
        Self((u64::from(number) << 32 | u64::from(tick)).wrapping_mul(0xD134_2543_DE82_EF95))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from -1 to 1.
    pub fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }

    /// Returns a point of the cube from -1 to 1.
    pub fn place(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Returns a random rotation. In 2D, the rotation is around z.
    pub fn rotation(&mut self, flat: bool) -> Quat {
        if flat {
            return Quat::from_rotation_z(self.signed() * std::f32::consts::PI);
        }
        loop {
            let candidate = Vec4::new(self.signed(), self.signed(), self.signed(), self.signed());
            let squared = candidate.length_squared();
            if squared > 0.01 && squared <= 1.0 {
                return Quat::from_vec4(candidate / squared.sqrt());
            }
        }
    }
}
