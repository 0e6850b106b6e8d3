//! A pair of shapes with poses, and a motion of both.

use std::fmt;

use bevy::math::{DVec3, Vec3};
use headbutt::Support;

use super::{
    dimension::Pose,
    primitive::TestSpace,
    shape::Shape,
    source::{Chooser, Source},
};

/// Two shapes with poses, and a motion that is applied to both.
pub struct Case<V: TestSpace> {
    pub a: Shape<V>,
    pub pose_a: Pose<V>,
    pub b: Shape<V>,
    pub pose_b: Pose<V>,
    pub motion: Pose<V>,
    /// If `true`, the pair is solved by iteration even if there is a closed form.
    pub is_iterative: bool,
    /// The normal and the pose of a half-space that is tested with the second shape.
    pub ground: (V, Pose<V>),
}

/// Prints shapes and poses as Rust code would write them.
impl<V: TestSpace> fmt::Debug for Case<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "{:?} at {:?}, {:?} at {:?}, moved by {:?}, iterative {}, ground {:?} at {:?}",
            self.a,
            V::isometry(&self.pose_a),
            self.b,
            V::isometry(&self.pose_b),
            V::isometry(&self.motion),
            self.is_iterative,
            self.ground.0,
            V::isometry(&self.ground.1),
        )
    }
}

impl<V: TestSpace> Case<V> {
    /// Chooses a case. An empty source of bytes gives a case, too.
    pub fn choose(source: &mut dyn Source) -> Self {
        let any_bits = source.byte() >= 208;
        let mut chooser = Chooser::new(source, any_bits);
        let chooser = &mut chooser;
        let unit = chooser.choice([1.0, 1.0, 1.0, 1e-3, 1e3]);
        let unit = if any_bits {
            unit * 10_f32.powi(i32::from(chooser.pick(76)) - 38)
        } else {
            unit
        };
        let ratio = chooser.choice([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 10.0, 1e-4, 1e4]);
        let a = Shape::choose(chooser, unit);
        let b = if chooser.chance(20) {
            a.clone()
        } else {
            Shape::choose(chooser, unit * ratio)
        };

        let far = chooser.choice([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e3, 1e5]);
        let origin = if far == 0.0 {
            V::default()
        } else {
            chooser.vector(far * unit)
        };
        let pose_a = Pose {
            rotation: chooser.rotation::<V>(),
            translation: origin,
        };
        let rotation_b = if chooser.chance(40) {
            pose_a.rotation
        } else if chooser.chance(40) {
            // The shapes are nearly parallel.
            let angle = f64::from(chooser.fraction()) * chooser.choice([1e-2, 1e-3, 1e-5, 1e-7]);
            let axis = chooser.choice([DVec3::X, DVec3::Y, DVec3::Z]);
            V::compose(pose_a.rotation, V::rotation(axis, angle))
        } else {
            chooser.rotation::<V>()
        };
        let pose_b = Pose {
            rotation: rotation_b,
            translation: V::default(),
        };
        let offset = Self::offset(chooser, unit, (&a, &pose_a), (&b, &pose_b));
        let pose_b = Pose {
            translation: V::from_vec3((origin.to_dvec3() + offset).as_vec3()),
            ..pose_b
        };
        let far = chooser.choice([0.0, 1.0, 1.0, 1e3, 1e5]);
        let motion = Pose {
            rotation: chooser.rotation::<V>(),
            translation: if far == 0.0 {
                V::default()
            } else {
                chooser.vector(far * unit)
            },
        };
        let ground_pose = Pose {
            rotation: chooser.rotation::<V>(),
            translation: if chooser.chance(128) {
                pose_b.translation
            } else {
                chooser.vector(4.0 * unit)
            },
        };
        Self {
            a,
            pose_a,
            b,
            pose_b,
            motion,
            ground: (chooser.vector(1.0), ground_pose),
            is_iterative: chooser.chance(128),
        }
    }

    /// Chooses the offset from the first shape's translation to the second shape's translation. The
    /// offset is zero or arbitrary, or the shapes touch or nearly touch along a direction.
    fn offset(
        chooser: &mut Chooser,
        unit: f32,
        a: (&Shape<V>, &Pose<V>),
        b: (&Shape<V>, &Pose<V>),
    ) -> DVec3 {
        match chooser.pick(8) {
            0 => DVec3::ZERO,
            1 | 2 => chooser.vector::<V>(unit).to_dvec3(),
            3 => chooser.vector::<V>(unit * 2.0).to_dvec3(),
            _ => {
                let direction = match chooser.pick(4) {
                    0 => V::from_vec3(Vec3::X).to_dvec3(),
                    1 => V::from_vec3(Vec3::Y).to_dvec3(),
                    _ => chooser.vector::<V>(1.0).to_dvec3(),
                };
                let direction = direction.try_normalize().unwrap_or(DVec3::X);
                let shift = chooser.fraction()
                    * chooser.choice([0.0, 0.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]);
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

/// Returns the farthest point of a shape in a direction, relative to its translation.
fn top<V: TestSpace>((shape, pose): (&Shape<V>, &Pose<V>), direction: DVec3) -> DVec3 {
    let rotation = V::matrix(pose.rotation).unwrap_or_default();
    let support = shape.support();
    let point = support.support(V::dvec_from_3d(rotation.transpose() * direction));
    rotation * V::dvec_to_3d(point) + direction * support.radius()
}
