//! Where an entity is: from the transforms of it and its ancestors to a pose, and the map that scales its shape.
//!
//! `GlobalTransform` is propagated once a frame, after the fixed steps: in a fixed step it is late. So the chain of
//! `Transform`s is followed here, each tick, in f64.

use bevy::prelude::*;

use crate::{
    math::{DMat3, DVec3},
    shape::Map,
    space::{Pose, Space, Wide},
};

/// Axes whose lengths and right angles differ by no more than this, the rounding of some products in f64, are those of a
/// uniform scale.
const UNIFORM: f64 = 1e-12;

/// More ancestors than this are a loop.
pub const MAX_ANCESTORS: usize = 4096;

/// An affine map of space: x is mapped to `linear * x + translation`.
#[derive(Clone, Copy, Debug)]
pub struct Affine {
    pub linear: DMat3,
    pub translation: DVec3,
}

impl Affine {
    #[inline]
    pub fn from_transform(transform: &Transform) -> Self {
        let quaternion = transform.rotation.as_dquat();
        let length = quaternion.length_squared().sqrt();
        // What is no rotation is no place either; glam's assertions, where they are on, do not see it.
        let rotation = if length > 0.0 && length.is_finite() {
            DMat3::from_quat(quaternion * (1.0 / length))
        } else {
            DMat3::NAN
        };
        let scale = DMat3::from_diagonal(transform.scale.as_dvec3());
        Self {
            linear: rotation * scale,
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

/// The affine map of an entity, or `None` if it has no `Transform` or its ancestors form a loop. An ancestor without a
/// `Transform` moves nothing.
///
/// It looks up the world and not a query, because queries leave out disabled entities, and a disabled parent still is
/// where it is.
pub fn affine_of(world: &World, entity: Entity) -> Option<Affine> {
    let mut affine = Affine::from_transform(world.get::<Transform>(entity)?);
    let mut child = entity;
    for _ in 0..MAX_ANCESTORS {
        let Some(parent) = world.get::<ChildOf>(child).map(ChildOf::parent) else {
            return Some(affine);
        };
        if let Some(transform) = world.get::<Transform>(parent) {
            affine = Affine::from_transform(transform).after(&affine);
        }
        child = parent;
    }
    None
}

/// How a shape comes to be where it is: the map that scales it, then the pose that places it.
///
/// A map that turns, mirrors and scales uniformly keeps circles round, so that a shape's radius survives it: it becomes
/// a factor and an orthogonal pose. Any other map acts on the shape as a whole, and the pose only translates.
#[derive(Clone, Copy, Debug)]
pub struct Placement<W: Wide> {
    /// Orthogonal, if there is a factor.
    matrix: W::Matrix,
    factor: Option<f64>,
    pub translation: W,
}

impl<W: Wide> Placement<W> {
    /// What a space sees of an affine map, or `None` if that is not finite.
    #[inline]
    pub fn new<V: Space<Wide = W>>(affine: &Affine) -> Option<Self> {
        let (linear, translation) = V::restrict(affine.linear, affine.translation);
        let axes = || (0..W::DIMENSION).map(|index| W::column(linear, index));
        if !translation.is_finite() || !axes().all(Wide::is_finite) {
            return None;
        }
        let squared = axes().map(Wide::length_squared).sum::<f64>() / W::DIMENSION as f64;
        let is_uniform = (0..W::DIMENSION).all(|i| {
            (i..W::DIMENSION).all(|j| {
                let expected = if i == j { squared } else { 0.0 };
                let product = W::column(linear, i).dot(W::column(linear, j));
                (product - expected).abs() <= UNIFORM * squared
            })
        });
        let factor = (is_uniform && squared > 0.0).then(|| squared.sqrt());
        Some(Self {
            matrix: factor.map_or(linear, |factor| linear * (1.0 / factor)),
            factor,
            translation,
        })
    }

    /// What scales the shape.
    #[inline]
    pub fn map(&self) -> Map<W> {
        self.factor.map_or(Map::Linear(self.matrix), Map::Uniform)
    }

    /// What places it then.
    #[inline]
    pub fn pose(&self) -> Pose<W> {
        Pose {
            rotation: match self.factor {
                Some(_) => self.matrix,
                None => W::IDENTITY,
            },
            translation: self.translation,
        }
    }

    /// Both together, without the translation.
    pub fn linear(&self) -> W::Matrix {
        self.matrix * self.factor.unwrap_or(1.0)
    }

    /// Whether it is the same, to the bit: a contact of what is placed so is the same.
    pub fn is(&self, other: &Self) -> bool {
        let column = |index| {
            let (own, of_other) = (
                W::column(self.matrix, index),
                W::column(other.matrix, index),
            );
            own.total_cmp(of_other).is_eq()
        };
        self.translation.total_cmp(other.translation).is_eq()
            && (0..W::DIMENSION).all(column)
            && self.factor == other.factor
    }
}
