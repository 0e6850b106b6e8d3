//! A pair of shapes in their poses, and a motion of both.

use std::fmt;

use bevy::math::{DVec3, Vec3};
use headbutt::Support;

use super::{Chooser, Dimension, Place, Shape, Source};

/// Two shapes in two poses, and how both of them are moved together.
pub struct Case<V: Dimension> {
    pub a: Shape<V>,
    pub at_a: Place<V>,
    pub b: Shape<V>,
    pub at_b: Place<V>,
    pub motion: Place<V>,
    /// Whether the pair is solved in the general way, also where there is a closed form for it.
    pub is_general: bool,
    /// A half-space, by its normal, that the second shape meets as well.
    pub ground: (V, Place<V>),
}

/// The shapes and the poses as a program would write them.
impl<V: Dimension> fmt::Debug for Case<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "{:?} at {:?}, {:?} at {:?}, moved by {:?}, general {}, ground {:?} at {:?}",
            self.a,
            V::isometry(&self.at_a),
            self.b,
            V::isometry(&self.at_b),
            V::isometry(&self.motion),
            self.is_general,
            self.ground.0,
            V::isometry(&self.ground.1),
        )
    }
}

impl<V: Dimension> Case<V> {
    /// Some case. No bytes at all make one too.
    pub fn choose(source: &mut dyn Source) -> Self {
        let wild = source.byte() >= 208;
        let mut chooser = Chooser::new(source, wild);
        let chooser = &mut chooser;
        let unit = chooser.one_of([1.0, 1.0, 1.0, 1e-3, 1e3]);
        let unit = if wild {
            unit * 10_f32.powi(i32::from(chooser.pick(76)) - 38)
        } else {
            unit
        };
        let ratio = chooser.one_of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 10.0, 1e-4, 1e4]);
        let a = Shape::choose(chooser, unit);
        let b = if chooser.chance(20) {
            a.clone()
        } else {
            Shape::choose(chooser, unit * ratio)
        };

        let far = chooser.one_of([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e3, 1e5]);
        let away = if far == 0.0 {
            V::default()
        } else {
            chooser.vector(far * unit)
        };
        let at_a = Place {
            turn: chooser.turn::<V>(),
            at: away,
        };
        let turn_b = if chooser.chance(40) {
            at_a.turn
        } else if chooser.chance(40) {
            // Nearly parallel.
            let angle = f64::from(chooser.fraction()) * chooser.one_of([1e-2, 1e-3, 1e-5, 1e-7]);
            let axis = chooser.one_of([DVec3::X, DVec3::Y, DVec3::Z]);
            V::compose(at_a.turn, V::turn(axis, angle))
        } else {
            chooser.turn::<V>()
        };
        let at_b = Place {
            turn: turn_b,
            at: V::default(),
        };
        let offset = Self::offset(chooser, unit, (&a, &at_a), (&b, &at_b));
        let at_b = Place {
            at: V::of((away.deep() + offset).as_vec3()),
            ..at_b
        };
        let far = chooser.one_of([0.0, 1.0, 1.0, 1e3, 1e5]);
        let motion = Place {
            turn: chooser.turn::<V>(),
            at: if far == 0.0 {
                V::default()
            } else {
                chooser.vector(far * unit)
            },
        };
        let at_ground = Place {
            turn: chooser.turn::<V>(),
            at: if chooser.chance(128) {
                at_b.at
            } else {
                chooser.vector(4.0 * unit)
            },
        };
        Self {
            a,
            at_a,
            b,
            at_b,
            motion,
            ground: (chooser.vector(1.0), at_ground),
            is_general: chooser.chance(128),
        }
    }

    /// From the first shape's translation to the second one's: the same place, or any, or where the two touch along some
    /// direction, a little less or more.
    fn offset(
        chooser: &mut Chooser,
        unit: f32,
        a: (&Shape<V>, &Place<V>),
        b: (&Shape<V>, &Place<V>),
    ) -> DVec3 {
        match chooser.pick(8) {
            0 => DVec3::ZERO,
            1 | 2 => chooser.vector::<V>(unit).deep(),
            3 => chooser.vector::<V>(unit * 2.0).deep(),
            _ => {
                let direction = match chooser.pick(4) {
                    0 => V::of(Vec3::X).deep(),
                    1 => V::of(Vec3::Y).deep(),
                    _ => chooser.vector::<V>(1.0).deep(),
                };
                let direction = direction.try_normalize().unwrap_or(DVec3::X);
                let shift = chooser.fraction()
                    * chooser.one_of([0.0, 0.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]);
                let size = a.0.extent().size.min(b.0.extent().size);
                let touching = top(a, direction) - top(b, -direction);
                let offset = touching + direction * (f64::from(shift) * size);
                if offset.is_finite() {
                    offset
                } else {
                    DVec3::ZERO
                }
            }
        }
    }
}

/// The farthest point of a shape in a direction, from its translation.
fn top<V: Dimension>((shape, place): (&Shape<V>, &Place<V>), direction: DVec3) -> DVec3 {
    let turn = V::matrix(place.turn).unwrap_or_default();
    let support = shape.support();
    let point = support.support(V::flatten(turn.transpose() * direction));
    turn * V::deepen(point) + direction * support.radius()
}
