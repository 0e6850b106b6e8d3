//! Poses of scaled shapes in the world, in f64. `collider/entity_pose.rs` calls
//! [`WorldPose::from_transform`] for an entity without a parent, and [`WorldPose::from_affine`] for
//! all other entities.

use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

use crate::{
    math::{DMat3, DVec3},
    shape::Scale,
    space::{DVector, Pose},
};

/// A scale counts as uniform if the axes are orthogonal and equally long to within this relative
/// tolerance. This tolerance allows for the rounding of a few products in f64.
const UNIFORM: f64 = 1e-12;

/// The tolerance of a uniform scale in a map that was computed in f32, such as a `GlobalTransform`.
const UNIFORM_F32: f64 = 16.0 * f32::EPSILON as f64;

/// An affine map: x is mapped to `linear * x + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Affine<D: DVector> {
    pub linear: D::Matrix,
    pub translation: D,
}

impl Affine<DVec3> {
    pub fn from_transform(transform: &Transform) -> Self {
        // An invalid rotation makes the pose invalid.
        let rotation = DVec3::rotation_of(transform.rotation.as_dquat()).unwrap_or(DMat3::NAN);
        Self {
            linear: rotation * DMat3::from_diagonal(transform.scale.as_dvec3()),
            translation: transform.translation.as_dvec3(),
        }
    }

    /// Returns the map that applies `inner` first, and then this map.
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            translation: self.linear * inner.translation + self.translation,
        }
    }
}

/// The scale and the pose of a shape in the world. The scale is applied before the pose.
///
/// * A similarity (rotation, mirroring and uniform scale) maps spheres to spheres, so a shape with
///   a radius remains a shape with a radius. The map is split into a factor and an orthogonal pose.
/// * Any other linear map is applied to the shape itself, and the pose only translates.
#[derive(Clone, Copy, Debug)]
pub struct WorldPose<D: DVector> {
    /// The linear part without the factor, orthogonal if `factor` is not `None`.
    matrix: D::Matrix,
    factor: Option<f64>,
    pub translation: D,
}

impl<D: DVector> WorldPose<D> {
    /// Computes the pose of an entity without a parent. Returns `None` if the pose is not finite.
    pub fn from_transform(transform: &Transform) -> Option<Self> {
        let from_affine = || Self::from_affine(&Affine::from_transform(transform));
        Self::from_similarity(transform).or_else(from_affine)
    }

    /// Computes the pose of an entity without a parent, by a fast path. Returns `None` unless the
    /// transform is finite with a positive uniform scale.
    #[inline(always)]
    pub fn from_similarity(transform: &Transform) -> Option<Self> {
        let [scale, translation] = [transform.scale, transform.translation]
            .map(|vector| D::of(vector.as_dvec3().into()) + D::ZERO);
        let factor = scale.component(0);
        let is_uniform = scale == D::ONE * factor && factor > 0.0 && factor.is_finite();
        if !(is_uniform && translation.is_finite()) {
            return None;
        }
        Some(Self {
            matrix: D::rotation_of(transform.rotation.as_dquat())?,
            factor: Some(factor),
            translation,
        })
    }

    /// Restricts a 3D affine map to the dimension of `D`. Returns `None` if the map is not finite.
    pub fn from_affine(affine: &Affine<DVec3>) -> Option<Self> {
        Self::from_affine_within(affine, UNIFORM)
    }

    /// Restricts a 3D affine map, which was computed in f32, to the dimension of `D`. A map that is
    /// a similarity up to the rounding of f32 becomes an exact similarity. Otherwise, a ball would
    /// become an ellipsoid.
    pub fn from_affine_f32(affine: &Affine<DVec3>) -> Option<Self> {
        let pose = Self::from_affine_within(affine, UNIFORM_F32)?;
        let matrix = match pose.factor {
            // Each step of Newton's iteration for the nearest orthogonal matrix squares the error,
            // so two steps are enough.
            Some(_) => D::nearer_orthogonal(D::nearer_orthogonal(pose.matrix)),
            None => pose.matrix,
        };
        Some(Self { matrix, ..pose })
    }

    /// Returns the pose of a shape that is not scaled.
    pub fn from_pose(pose: &Pose<D>) -> Self {
        Self {
            matrix: pose.rotation,
            factor: Some(1.0),
            translation: pose.translation,
        }
    }

    /// Restricts a 3D affine map to the dimension of `D`. `uniform` is the relative tolerance for a
    /// similarity.
    fn from_affine_within(affine: &Affine<DVec3>, uniform: f64) -> Option<Self> {
        let (linear, translation) = D::restrict(affine.linear, affine.translation);
        let axes = || (0..D::DIMENSION).map(|index| D::column(linear, index));
        if !translation.is_finite() || !axes().all(DVector::is_finite) {
            return None;
        }
        let squared = axes().map(DVector::length_squared).sum::<f64>() / D::DIMENSION as f64;
        let is_uniform = (0..D::DIMENSION).all(|i| {
            (i..D::DIMENSION).all(|j| {
                let expected = if i == j { squared } else { 0.0 };
                let product = D::column(linear, i).dot(D::column(linear, j));
                (product - expected).abs() <= uniform * squared
            })
        });
        let factor = (is_uniform && squared > 0.0).then(|| squared.sqrt());
        Some(Self {
            matrix: factor.map_or(linear, |factor| linear * (1.0 / factor)),
            factor,
            translation,
        })
    }

    /// Returns the map that is applied to the shape before the pose.
    pub fn scale(&self) -> Scale<'_, D> {
        match &self.factor {
            Some(factor) => Scale::Uniform(factor),
            None => Scale::Linear(&self.matrix),
        }
    }

    /// Returns the scale factor, if the scale is uniform.
    pub fn factor(&self) -> Option<f64> {
        self.factor
    }

    /// Returns the pose that is applied to the scaled shape.
    pub fn pose(&self) -> Pose<D> {
        Pose {
            rotation: match self.factor {
                Some(_) => self.matrix,
                None => D::IDENTITY,
            },
            translation: self.translation,
        }
    }

    /// Returns the pose before a motion that ends at this pose. The motion is a rotation about the
    /// pose's own translation, and then a translation.
    pub fn before(&self, rotation: D::Matrix, translation: D) -> Self {
        Self {
            matrix: D::transpose(rotation) * self.matrix,
            factor: self.factor,
            translation: self.translation - translation,
        }
    }

    /// Returns the map from the shape to the world.
    pub fn affine(&self) -> Affine<D> {
        Affine {
            linear: self.linear(),
            translation: self.translation,
        }
    }

    /// Returns the world-space pose of a part, given its pose in the shape.
    ///
    /// The linear map is M (R x + t) = (M R) x + M t. If M has a uniform scale, so does M R.
    pub fn of_part(&self, part: &Pose<D>) -> Self {
        Self {
            matrix: self.matrix * part.rotation,
            factor: self.factor,
            translation: self.matrix * (part.translation * self.factor.unwrap_or(1.0))
                + self.translation,
        }
    }

    /// Returns the linear part of the map from the shape to the world.
    pub fn linear(&self) -> D::Matrix {
        self.matrix * self.factor.unwrap_or(1.0)
    }

    /// Returns the inverse of [`linear`](Self::linear), or `None` if the map is singular.
    #[inline(always)]
    pub fn inverse_linear(&self) -> Option<D::Matrix> {
        match self.factor {
            Some(factor) => Some(D::transpose(self.matrix) * (1.0 / factor)),
            None => D::inverse(self.matrix),
        }
    }

    /// Returns the pose as a map of 3D points, in f32. In 2D, the map does not change z.
    pub fn in_3d(&self) -> Affine3A {
        let linear = self.linear();
        let vector =
            |components: [f64; 3]| Vec3A::from_array(components.map(|component| component as f32));
        let column = |axis| vector(D::column(linear, axis).components());
        let third = if D::DIMENSION == 2 {
            Vec3A::Z
        } else {
            column(2)
        };
        Affine3A {
            matrix3: Mat3A::from_cols(column(0), column(1), third),
            translation: vector(self.translation.components()),
        }
    }

    /// Returns `true` if both poses have the same bits.
    pub fn has_same_bits(&self, other: &Self) -> bool {
        let is_same = |a: D, b: D| a.total_cmp(b).is_eq();
        is_same(self.translation, other.translation)
            && (0..D::DIMENSION).all(|index| {
                is_same(
                    D::column(self.matrix, index),
                    D::column(other.matrix, index),
                )
            })
            && self.factor == other.factor
    }
}
