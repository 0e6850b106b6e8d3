//! Where an entity is: from the transforms of it and its ancestors to a pose, and the map that scales its shape.
//!
//! `GlobalTransform` is propagated once a frame, after the fixed steps: in a fixed step it is late. So the chain of
//! `Transform`s is followed here, each tick, in f64.

use bevy::prelude::*;

use crate::{
    math::{DMat3, DVec3, Vec3},
    pipeline::proxy::Fault,
    shape::Scale,
    space::{DVector, Pose, Space},
};

/// Axes whose lengths and right angles differ by no more than this, the rounding of some products in f64, are those of a
/// uniform scale.
const UNIFORM: f64 = 1e-12;

/// More ancestors than this are a loop.
const MAX_ANCESTORS: usize = 4096;

/// An affine map of space: x is mapped to `linear * x + translation`.
#[derive(Clone, Copy, Debug)]
struct Affine {
    linear: DMat3,
    translation: DVec3,
}

impl Affine {
    fn from_transform(transform: &Transform) -> Self {
        // What is no rotation is no place either.
        let rotation = Vec3::rotation_of(transform.rotation.as_dquat());
        let scale = DMat3::from_diagonal(transform.scale.as_dvec3());
        Self {
            linear: rotation.unwrap_or(DMat3::NAN) * scale,
            translation: transform.translation.as_dvec3(),
        }
    }

    /// This map after `inner`.
    fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            translation: self.linear * inner.translation + self.translation,
        }
    }
}

/// How a shape comes to be where it is: the map that scales it, then the pose that places it.
///
/// A map that turns, mirrors and scales uniformly keeps circles round, so that a shape's radius survives it: it becomes
/// a factor and an orthogonal pose. Any other map acts on the shape as a whole, and the pose only translates.
#[derive(Clone, Copy, Debug)]
pub struct Placement<D: DVector> {
    /// Orthogonal, if there is a factor.
    matrix: D::Matrix,
    factor: Option<f64>,
    pub translation: D,
}

impl<D: DVector> Placement<D> {
    /// What a space sees of where an entity is, or why that is nowhere. An ancestor without a `Transform` moves nothing.
    ///
    /// It looks up the world and not a query, because queries leave out disabled entities, and a disabled parent still is
    /// where it is.
    pub fn of<V: Space<DVec = D>>(world: &World, entity: Entity) -> Result<Self, Fault> {
        let transform = world.get::<Transform>(entity).ok_or(Fault::NoPose)?;
        let mut next = world.get::<ChildOf>(entity);
        if next.is_none() {
            return Self::alone::<V>(transform);
        }
        let mut affine = Affine::from_transform(transform);
        for _ in 0..MAX_ANCESTORS {
            let Some(parent) = next.map(ChildOf::parent) else {
                return Self::led::<V>(&affine);
            };
            if let Some(transform) = world.get::<Transform>(parent) {
                affine = Affine::from_transform(transform).after(&affine);
            }
            next = world.get::<ChildOf>(parent);
        }
        Err(Fault::NoPose)
    }

    /// The same of the transform of an entity without ancestors.
    pub fn alone<V: Space<DVec = D>>(transform: &Transform) -> Result<Self, Fault> {
        match Self::turned::<V>(transform) {
            Some(place) => Ok(place),
            None => Self::scaled::<V>(transform),
        }
    }

    /// Of one that scales, or is not finite.
    #[inline(never)]
    pub fn scaled<V: Space<DVec = D>>(transform: &Transform) -> Result<Self, Fault> {
        Self::led::<V>(&Affine::from_transform(transform))
    }

    /// Of a transform that turns, moves and scales in all directions alike, as most do: that is seen without any products. `None` of
    /// any other, and where it is not finite.
    // In registers, as long as it is in line.
    #[inline(always)]
    pub fn turned<V: Space<DVec = D>>(transform: &Transform) -> Option<Self> {
        let scale = V::projected(transform.scale).to_f64();
        let factor = scale.component(0);
        let is_uniform = scale == D::ONE * factor && factor > 0.0 && factor.is_finite();
        let translation = V::projected(transform.translation);
        if !(is_uniform && translation.is_finite()) {
            return None;
        }
        Some(Self {
            matrix: V::rotation_of(transform.rotation.as_dquat())?,
            factor: Some(factor),
            translation: translation.to_f64(),
        })
    }

    /// What a space sees of an affine map.
    fn led<V: Space<DVec = D>>(affine: &Affine) -> Result<Self, Fault> {
        let (linear, translation) = V::restrict(affine.linear, affine.translation);
        let axes = || (0..D::DIMENSION).map(|index| D::column(linear, index));
        if !translation.is_finite() || !axes().all(DVector::is_finite) {
            return Err(Fault::NotFinite);
        }
        let squared = axes().map(DVector::length_squared).sum::<f64>() / D::DIMENSION as f64;
        let is_uniform = (0..D::DIMENSION).all(|i| {
            (i..D::DIMENSION).all(|j| {
                let expected = if i == j { squared } else { 0.0 };
                let product = D::column(linear, i).dot(D::column(linear, j));
                (product - expected).abs() <= UNIFORM * squared
            })
        });
        let factor = (is_uniform && squared > 0.0).then(|| squared.sqrt());
        Ok(Self {
            matrix: factor.map_or(linear, |factor| linear * (1.0 / factor)),
            factor,
            translation,
        })
    }

    /// What scales the shape.
    #[inline]
    pub fn map(&self) -> Scale<'_, D> {
        match &self.factor {
            Some(factor) => Scale::Uniform(factor),
            None => Scale::Linear(&self.matrix),
        }
    }

    /// By what factor, if it is the same in all directions.
    #[inline]
    pub fn factor(&self) -> Option<f64> {
        self.factor
    }

    /// What places it then.
    #[inline]
    pub fn pose(&self) -> Pose<D> {
        Pose {
            rotation: match self.factor {
                Some(_) => self.matrix,
                None => D::IDENTITY,
            },
            translation: self.translation,
        }
    }

    /// Where a part is that is placed in the shape.
    ///
    /// M (R x + t) = (M R) x + M t: a factor stays one, and any other map takes the rotation in.
    pub fn of_part(&self, part: &Pose<D>) -> Self {
        Self {
            matrix: self.matrix * part.rotation,
            factor: self.factor,
            translation: self.matrix * (part.translation * self.factor.unwrap_or(1.0))
                + self.translation,
        }
    }

    /// Both together, without the translation.
    pub fn linear(&self) -> D::Matrix {
        self.matrix * self.factor.unwrap_or(1.0)
    }

    /// Whether it is the same, to the bit: a contact of what is placed so is the same.
    pub fn is(&self, other: &Self) -> bool {
        let column = |index| {
            let (own, of_other) = (
                D::column(self.matrix, index),
                D::column(other.matrix, index),
            );
            own.total_cmp(of_other).is_eq()
        };
        self.translation.total_cmp(other.translation).is_eq()
            && (0..D::DIMENSION).all(column)
            && self.factor == other.factor
    }
}
