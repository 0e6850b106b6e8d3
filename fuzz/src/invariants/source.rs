//! The random choices of a case: from a fuzzer's bytes, or from a seeded generator.

use bevy::math::Vec3;

use super::dimension::{Dimension, Rotation};

/// A source of random bytes.
pub trait Source {
    fn byte(&mut self) -> u8;
    fn word(&mut self) -> u32;
}

/// Turns random bytes into choices and numbers.
pub struct Chooser<'a> {
    source: &'a mut dyn Source,
    /// If `true`, numbers have arbitrary bits, and may be NaN or infinite.
    any_bits: bool,
}

impl<'a> Chooser<'a> {
    pub fn new(source: &'a mut dyn Source, any_bits: bool) -> Self {
        Self { source, any_bits }
    }

    /// Returns a number below `count`.
    pub fn pick(&mut self, count: u8) -> u8 {
        self.source.byte() % count
    }

    /// Returns `true` with a probability of `of_256` / 256.
    pub fn chance(&mut self, of_256: u8) -> bool {
        // A source without further bytes returns 0, so the result is `false`.
        self.source.byte() > 255 - of_256
    }

    pub fn choice<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[usize::from(self.source.byte()) % N]
    }

    pub fn word(&mut self) -> u32 {
        self.source.word()
    }

    /// Returns a number of arbitrary bits.
    pub fn bits(&mut self) -> f32 {
        f32::from_bits(self.source.word())
    }

    /// Returns a number from -1 to 1.
    pub fn fraction(&mut self) -> f32 {
        (f64::from(self.source.word()) / f64::from(u32::MAX) * 2.0 - 1.0) as f32
    }

    /// Returns a coordinate of about this size: on a lattice, arbitrary, tiny, or zero.
    pub fn coordinate(&mut self, size: f32) -> f32 {
        if self.any_bits && self.chance(60) {
            return self.bits();
        }
        match self.source.byte() {
            0..16 => 0.0,
            16..96 => f32::from(self.choice([-4_i8, -3, -2, -1, 0, 1, 2, 3, 4])) * 0.25 * size,
            96..232 => self.fraction() * size,
            232.. => self.fraction() * size * self.choice([1e-2, 1e-4, 1e-6, 1e-7]),
        }
    }

    /// Returns a length, which may be negative if arbitrary bits are used.
    pub fn length(&mut self, size: f32) -> f32 {
        let coordinate = self.coordinate(size);
        if self.any_bits {
            coordinate
        } else {
            coordinate.abs()
        }
    }

    pub fn vector<V: Dimension>(&mut self, size: f32) -> V {
        let mut components = [0.0; 3];
        for component in components.iter_mut().take(V::COUNT) {
            *component = self.coordinate(size);
        }
        V::from_vec3(Vec3::from(components))
    }

    pub fn lengths<V: Dimension>(&mut self, size: f32) -> V {
        let mut components = [0.0; 3];
        for component in components.iter_mut().take(V::COUNT) {
            *component = self.length(size);
        }
        V::from_vec3(Vec3::from(components))
    }

    /// Returns a rotation: the identity, a quarter turn, a tiny rotation or any rotation. Some
    /// rotations do not have unit length.
    pub fn rotation<V: Dimension>(&mut self) -> Rotation {
        let axis = self.choice([Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE]);
        let angle = match self.pick(8) {
            0 | 1 => 0.0,
            2 => 0.5 * core::f64::consts::PI * f64::from(self.pick(4)),
            3 => f64::from(self.fraction()) * self.choice([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7]),
            _ => {
                let axis = self.vector::<Vec3>(1.0).as_dvec3();
                let rotation =
                    V::rotation(axis, f64::from(self.fraction()) * core::f64::consts::PI);
                let length = if self.chance(16) {
                    self.length(4.0)
                } else {
                    1.0
                };
                return if length == 1.0 {
                    rotation
                } else {
                    rotation.map(|part| part * length)
                };
            }
        };
        if self.any_bits && self.chance(40) {
            return [(); 4].map(|()| self.bits());
        }
        V::rotation(axis.as_dvec3(), angle)
    }
}
