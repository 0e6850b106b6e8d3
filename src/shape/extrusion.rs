//! The support function and the chord of a 2D shape that is extruded along z.

use crate::{
    math::{DVec2, Vec2},
    shape::{
        elements::{
            chord::{Chord, ChordResult, NoClosedForm, of_slab},
            core::checked_radius,
            line::Line,
            support_fns::unit_or_zero,
        },
        support::Support,
    },
    space::{DVector, Space},
};

/// Returns the support point of a 2D shape, extruded from -`half_depth` to `half_depth` along z. In
/// 2D, which has no z, the result is the support point of the base.
///
/// The radius of the base enlarges the extrusion only along x and y. So the radius becomes part of
/// the extrusion's core, and the extrusion itself has radius 0.
pub(super) fn support<V: Space>(
    base: &(impl Support<Vector = Vec2> + ?Sized),
    half_depth: f32,
    direction: V::DVec,
) -> V::DVec {
    let across = DVec2::new(direction.component(0), direction.component(1));
    let radius = checked_radius(base.radius());
    let point = if across == DVec2::ZERO {
        // Every point of the base is a support point. The product `radius * 0.0` is NaN if the
        // radius is invalid.
        base.support(DVec2::X) + DVec2::X * (radius * 0.0)
    } else if radius == 0.0 {
        base.support(across)
    } else {
        base.support(across) + unit_or_zero(across) * radius
    };
    let flat = V::DVec::axis(0) * point.x + V::DVec::axis(1) * point.y;
    let half_depth = f64::from(half_depth.abs());
    (2..V::DVec::DIMENSION).fold(flat, |sum, index| {
        sum + V::DVec::axis(index) * half_depth.copysign(direction.component(index))
    })
}

/// Returns the chord of a 2D shape, extruded from -`half_depth` to `half_depth` along z. In 2D, the
/// result is the chord of the base.
pub(super) fn chord<D: DVector>(
    base: &(impl Support<Vector = Vec2> + ?Sized),
    half_depth: f64,
    line: &Line<D>,
) -> ChordResult<D> {
    let flat = |vector: D| DVec2::new(vector.component(0), vector.component(1));
    let (origin, direction) = (flat(line.origin), flat(line.direction));
    let is_along = direction == DVec2::ZERO;
    let direction = if is_along { DVec2::X } else { direction };
    let Some(chord) = base.chord(&Line { origin, direction }, 0.0)? else {
        return Ok(None);
    };
    let mut chord = chord.map_normals(|normal| D::axis(0) * normal.x + D::axis(1) * normal.y);
    if is_along {
        // The line is parallel to z, so its projection is a single point, where t = 0. If this
        // point is outside the base, the line misses.
        if chord.enter.t > 0.0 || chord.exit.t < 0.0 {
            return Ok(None);
        }
        chord = Chord::whole();
    }
    if half_depth == 0.0 && D::DIMENSION > 2 {
        return Err(NoClosedForm);
    }
    let mut depth_axes = 2..D::DIMENSION;
    Ok(depth_axes.try_fold(chord, |chord, axis| {
        chord.common(of_slab(axis, half_depth.abs(), line)?)
    }))
}
