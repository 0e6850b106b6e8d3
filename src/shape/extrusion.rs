//! Shapes of the plane, extruded.

use std::sync::Arc;

use crate::{
    math::{DVec2, DVec3, Extrusion, Primitive2d, Vec2, Vec3},
    shape::{
        ShapeError, Support,
        convex::Shape,
        into_shape::{ConvexShape, IntoShape, sealed},
        support::checked_radius,
        support_fns::toward,
    },
    space::{DVector, Space},
};

/// The farthest point of a shape of the plane, extruded along the axes that the plane does not have from -`half_depth` to
/// `half_depth`: z in space, and none in the plane.
///
/// A radius around the base's core reaches across these axes only, and is no radius of the whole: here it joins the core.
#[inline]
pub(super) fn extruded<V: Space>(
    base: &(impl Support<Vector = Vec2> + ?Sized),
    half_depth: f32,
    direction: V::DVec,
) -> V::DVec {
    let across = DVec2::new(direction.component(0), direction.component(1));
    let radius = checked_radius(base.radius());
    let point = if across == DVec2::ZERO {
        // Every point of the base is the farthest, so any direction will do; but a radius that is none still is none.
        base.support(DVec2::X) + DVec2::X * (radius * 0.0)
    } else if radius == 0.0 {
        base.support(across)
    } else {
        base.support(across) + toward(across) * radius
    };
    let flat = V::DVec::axis(0) * point.x + V::DVec::axis(1) * point.y;
    let half_depth = f64::from(half_depth.abs());
    (2..V::DVec::DIMENSION).fold(flat, |sum, index| {
        sum + V::DVec::axis(index) * half_depth.copysign(direction.component(index))
    })
}

/// The base in the xy plane, extruded along z to both sides.
impl<P> Support for Extrusion<P>
where
    P: Primitive2d + Support<Vector = Vec2>,
{
    type Vector = Vec3;

    #[inline]
    fn support(&self, direction: DVec3) -> DVec3 {
        extruded::<Vec3>(&self.base_shape, self.half_depth, direction)
    }
}

impl<P: Primitive2d> sealed::Sealed for Extrusion<P> {}
impl<P> ConvexShape for Extrusion<P> where P: Primitive2d + ConvexShape<Vector = Vec2> {}
impl<P> IntoShape for Extrusion<P>
where
    P: Primitive2d + IntoShape<Vector = Vec2>,
{
    type Vector = Vec3;

    fn into_shape(self) -> Result<Shape<Vec3>, ShapeError> {
        let base = Arc::new(self.base_shape.into_shape()?);
        let half_depth = self.half_depth;
        Shape::Extrusion { base, half_depth }.checked()
    }
}
