//! A shape under a linear map, exactly.

use crate::{
    shape::{
        HalfSpace, Outline, Support,
        support::{MatrixOf, Span, checked_radius},
    },
    space::{DVector, Space},
};

/// What scales a shape before a pose places it.
///
/// By reference, as an [`ScaledShape`] has its traits: what is copied piece by piece and read in other pieces right afterwards is waited
/// for, some ten times as long as it takes to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale<'a, D: DVector> {
    /// The same factor in all directions, 0 or more. A radius stays a radius.
    Uniform(&'a f64),
    /// Any linear map: non-uniform, mirrored or sheared scale, together with whatever rotates the shape.
    Linear(&'a D::Matrix),
}

/// What is asked of a shape time and again, and always the same: kept where the shape is, it saves finding out each time what
/// kind of shape that is.
#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo<V> {
    /// NaN if there is none.
    pub radius: f64,
    /// The half size of a block, and 0 of all else.
    half: V,
    kind: Kind,
}

/// What a shape is, as far as there are closed forms for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Block,
    HalfSpace,
    Other,
}

impl<V: Space> ShapeInfo<V> {
    /// Those of a shape.
    #[inline]
    pub fn of(shape: &(impl Support<Vector = V> + ?Sized)) -> Self {
        let block = shape.block();
        let kind = match block {
            Some(_) => Kind::Block,
            None if shape.half_space().is_some() => Kind::HalfSpace,
            None => Kind::Other,
        };
        Self {
            radius: checked_radius(shape.radius()),
            // That of a shape in f32.
            half: V::from_f64(block.unwrap_or(V::DVec::ZERO)),
            kind,
        }
    }

    /// The same with a margin around the shape.
    pub fn with_margin(mut self, margin: f64) -> Self {
        self.radius += margin;
        self
    }

    /// The radius of a ball around the shape and the middle of its bounds, in any pose; infinite where that is not easily told.
    pub fn reach(&self) -> f64 {
        let half = self.block().map(V::DVec::length);
        half.map_or(f64::INFINITY, |half| half + self.radius)
    }

    #[inline]
    fn block(&self) -> Option<V::DVec> {
        (self.kind == Kind::Block).then(|| self.half.to_f64())
    }

    /// Whether it is a half-space, as long as no map flattens it.
    pub fn is_half_space(&self) -> bool {
        self.kind == Kind::HalfSpace
    }
}

/// The image of a shape under a [`Scale`], by its support function alone, so that it is exact for every shape.
///
/// For the image M S of a set S, max { d · M x | x in S } = max { (Mᵀ d) · x | x in S }: the support point of the image
/// is M applied to the support point of S in direction Mᵀ d.
#[derive(Clone, Copy, Debug)]
pub struct ScaledShape<'a, S: Support + ?Sized> {
    shape: &'a S,
    traits: &'a ShapeInfo<S::Vector>,
    map: Scale<'a, <S::Vector as Space>::DVec>,
}

impl<'a, S: Support + ?Sized> ScaledShape<'a, S> {
    /// The image of a shape, of which the traits are given, under a map.
    #[inline]
    pub fn new(
        shape: &'a S,
        traits: &'a ShapeInfo<S::Vector>,
        map: Scale<'a, <S::Vector as Space>::DVec>,
    ) -> Self {
        Self { shape, traits, map }
    }
}

impl<S: Support + ?Sized> Support for ScaledShape<'_, S> {
    type Vector = S::Vector;

    #[inline]
    fn support(&self, direction: <S::Vector as Space>::DVec) -> <S::Vector as Space>::DVec {
        match self.map {
            Scale::Uniform(&factor) => self.shape.support(direction) * factor,
            Scale::Linear(&matrix) => {
                // A ball under a linear map is an ellipsoid and no longer a radius: here it joins the core. Where the
                // map flattens the shape, every point of it may be the farthest, and the direction is free.
                let inner = <S::Vector as Space>::DVec::transpose(matrix) * direction;
                let unit = inner.unit().unwrap_or(<S::Vector as Space>::DVec::axis(0));
                matrix * (self.shape.support(unit) + unit * self.traits.radius)
            }
        }
    }

    #[inline]
    fn radius(&self) -> f64 {
        match self.map {
            Scale::Uniform(&factor) => self.traits.radius * factor,
            Scale::Linear(_) => 0.0,
        }
    }

    #[inline]
    fn block(&self) -> Option<<S::Vector as Space>::DVec> {
        match self.map {
            Scale::Uniform(&factor) => Some(self.traits.block()? * factor),
            Scale::Linear(_) => None,
        }
    }

    #[inline]
    fn span(&self, linear: MatrixOf<Self>) -> Option<Span<Self>> {
        match self.map {
            Scale::Uniform(&factor) => self.shape.span(linear * factor),
            // A radius is a part of the core, and has no corners.
            Scale::Linear(&matrix) if self.traits.radius <= 0.0 => self.shape.span(linear * matrix),
            Scale::Linear(_) => None,
        }
    }

    #[inline]
    fn outline(&self) -> Option<Outline<'_, <S::Vector as Space>::DVec>> {
        match self.map {
            Scale::Uniform(&factor) => self.shape.outline()?.scaled(factor),
            Scale::Linear(_) => None,
        }
    }

    #[inline]
    fn half_space(&self) -> Option<HalfSpace<<S::Vector as Space>::DVec>> {
        if !self.traits.is_half_space() {
            return None;
        }
        let inner = self.shape.half_space()?;
        match self.map {
            Scale::Uniform(&factor) => Some(inner.scaled(factor)),
            // Its margin joins the core, as a radius does. Where the map flattens it, it is a half-space no longer.
            Scale::Linear(&matrix) => inner.raised(self.traits.radius).image(matrix),
        }
    }
}
