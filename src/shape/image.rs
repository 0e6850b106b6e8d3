//! A shape under a linear map, exactly.

use super::{HalfSpace, Outline, Support, support::checked_radius};
use crate::space::{Space, Wide};

/// What scales a shape before a pose places it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Map<W: Wide> {
    /// The same factor in all directions, 0 or more. A radius stays a radius.
    Uniform(f64),
    /// Any linear map: non-uniform, mirrored or sheared scale, together with whatever rotates the shape.
    Linear(W::Matrix),
}

/// The image of a shape under a [`Map`], by its support function alone, so that it is exact for every shape.
///
/// For the image M S of a set S, max { d · M x | x in S } = max { (Mᵀ d) · x | x in S }: the support point of the image
/// is M applied to the support point of S in direction Mᵀ d.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a, S: Support + ?Sized> {
    shape: &'a S,
    /// Around the shape, before it is mapped.
    margin: f64,
    map: Map<<S::Vector as Space>::Wide>,
}

impl<'a, S: Support + ?Sized> Image<'a, S> {
    /// The image of `shape` under `map`.
    #[inline]
    pub fn new(shape: &'a S, map: Map<<S::Vector as Space>::Wide>) -> Self {
        let margin = 0.0;
        Self { shape, margin, map }
    }

    /// The same with a margin around the shape, before it is mapped.
    pub fn with_margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    /// The radius before the map; NaN if the shape has none.
    fn inner_radius(&self) -> f64 {
        checked_radius(self.shape.radius()) + self.margin
    }
}

impl<S: Support + ?Sized> Support for Image<'_, S> {
    type Vector = S::Vector;

    #[inline]
    fn support(&self, direction: <S::Vector as Space>::Wide) -> <S::Vector as Space>::Wide {
        match self.map {
            Map::Uniform(factor) => self.shape.support(direction) * factor,
            Map::Linear(matrix) => {
                // A ball under a linear map is an ellipsoid and no longer a radius: here it joins the core. Where the
                // map flattens the shape, every point of it may be the farthest, and the direction is free.
                let inner = <S::Vector as Space>::Wide::transpose(matrix) * direction;
                let unit = inner.unit().unwrap_or(<S::Vector as Space>::Wide::axis(0));
                matrix * (self.shape.support(unit) + unit * self.inner_radius())
            }
        }
    }

    #[inline]
    fn radius(&self) -> f64 {
        match self.map {
            Map::Uniform(factor) => self.inner_radius() * factor,
            Map::Linear(_) => 0.0,
        }
    }

    #[inline]
    fn block(&self) -> Option<<S::Vector as Space>::Wide> {
        match self.map {
            Map::Uniform(factor) => self.shape.block().map(|half| half * factor),
            Map::Linear(_) => None,
        }
    }

    #[inline]
    fn outline(&self) -> Option<Outline<'_, <S::Vector as Space>::Wide>> {
        match self.map {
            Map::Uniform(factor) => self.shape.outline()?.scaled(factor),
            Map::Linear(_) => None,
        }
    }

    #[inline]
    fn half_space(&self) -> Option<HalfSpace<<S::Vector as Space>::Wide>> {
        let inner = self.shape.half_space()?;
        match self.map {
            Map::Uniform(factor) => Some(inner.scaled(factor)),
            // Its margin joins the core, as a radius does. Where the map flattens it, it is a half-space no longer.
            Map::Linear(matrix) => inner.raised(self.inner_radius()).image(matrix),
        }
    }
}
