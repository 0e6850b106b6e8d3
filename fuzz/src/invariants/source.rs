//! Where cases come from: a fuzzer's bytes, or random ones from a seed.

use bevy::math::Vec3;

use super::{Dimension, Turn};

/// Bytes to decide by.
pub trait Source {
    fn byte(&mut self) -> u8;
    fn word(&mut self) -> u32;
}

/// Decisions and numbers.
pub struct Chooser<'a> {
    source: &'a mut dyn Source,
    /// Whether any bits are numbers.
    wild: bool,
}

impl<'a> Chooser<'a> {
    pub fn new(source: &'a mut dyn Source, wild: bool) -> Self {
        Self { source, wild }
    }

    /// A number below `count`.
    pub fn pick(&mut self, count: u8) -> u8 {
        self.source.byte() % count
    }

    /// True as often as said of 256 times.
    pub fn chance(&mut self, of_256: u8) -> bool {
        // False when the bytes have run out.
        self.source.byte() > 255 - of_256
    }

    pub fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[usize::from(self.source.byte()) % N]
    }

    pub fn word(&mut self) -> u32 {
        self.source.word()
    }

    /// Any bits.
    pub fn bits(&mut self) -> f32 {
        f32::from_bits(self.source.word())
    }

    /// From -1 to 1.
    pub fn fraction(&mut self) -> f32 {
        (f64::from(self.source.word()) / f64::from(u32::MAX) * 2.0 - 1.0) as f32
    }

    /// A coordinate of about the size given: on a lattice, anything, next to nothing, or nothing.
    pub fn coordinate(&mut self, size: f32) -> f32 {
        if self.wild && self.chance(60) {
            return self.bits();
        }
        match self.source.byte() {
            0..16 => 0.0,
            16..96 => f32::from(self.one_of([-4_i8, -3, -2, -1, 0, 1, 2, 3, 4])) * 0.25 * size,
            96..232 => self.fraction() * size,
            232.. => self.fraction() * size * self.one_of([1e-2, 1e-4, 1e-6, 1e-7]),
        }
    }

    /// The length of something; in the wild also a negative one.
    pub fn length(&mut self, size: f32) -> f32 {
        let coordinate = self.coordinate(size);
        if self.wild {
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
        V::of(Vec3::from(components))
    }

    pub fn lengths<V: Dimension>(&mut self, size: f32) -> V {
        let mut components = [0.0; 3];
        for component in components.iter_mut().take(V::COUNT) {
            *component = self.length(size);
        }
        V::of(Vec3::from(components))
    }

    /// A rotation: none, a quarter turn, a tiny one, any one; not always of unit length.
    pub fn turn<V: Dimension>(&mut self) -> Turn {
        let axis = self.one_of([Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE]);
        let angle = match self.pick(8) {
            0 | 1 => 0.0,
            2 => 0.5 * core::f64::consts::PI * f64::from(self.pick(4)),
            3 => f64::from(self.fraction()) * self.one_of([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7]),
            _ => {
                let axis = self.vector::<Vec3>(1.0).as_dvec3();
                let turn = V::turn(axis, f64::from(self.fraction()) * core::f64::consts::PI);
                let length = if self.chance(16) {
                    self.length(4.0)
                } else {
                    1.0
                };
                return if length == 1.0 {
                    turn
                } else {
                    turn.map(|part| part * length)
                };
            }
        };
        if self.wild && self.chance(40) {
            return [(); 4].map(|()| self.bits());
        }
        V::turn(axis.as_dvec3(), angle)
    }
}
