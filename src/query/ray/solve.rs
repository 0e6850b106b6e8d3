//! The hit of a ray, computed from the chord of its line. The chord is the part of the line inside
//! the shape.

use crate::{
    query::{
        minkowski::Pair,
        ray::{LocalHit, LocalRay, RaySide, general::first_point},
    },
    shape::{ChordEnd, DVecOf, Shape, Support},
    space::{DVector, Pose, Space},
    tolerance::{TANGENTIAL, TOUCHING},
};

/// An origin counts as on a surface if its distance from the surface is at most this fraction of
/// the coordinates. The value exceeds the rounding error of a chord.
const ON_SURFACE: f64 = 1e-12;

impl<D: DVector> LocalRay<D> {
    /// Returns the first hit on a shape with a margin around it, in the shape's own frame.
    /// `rounding` returns [`WorldRay::rounding_along`](super::WorldRay::rounding_along) for a
    /// normal in this frame.
    pub fn first_hit<S>(
        &self,
        shape: &S,
        margin: f32,
        rounding: &dyn Fn(D) -> f64,
    ) -> Option<LocalHit<D>>
    where
        S: Support + ?Sized,
        S::Vector: Space<DVec = D>,
    {
        let margin_f64 = f64::from(margin);
        let is_inside = |ends: [&ChordEnd<D>; 2]| !self.leaves(shape, margin, ends, rounding);
        match shape.chord(&self.line, margin_f64) {
            Ok(chord) => {
                let chord = chord?;
                self.at_chord(chord.enter, || Some(chord.exit), is_inside, rounding)
            }
            Err(_) => {
                let radius = shape.radius() + margin_f64;
                let enter = first_point(shape, radius, &self.line, self.max)?;
                let exit = || {
                    let line = self.line.reversed();
                    let end = first_point(shape, radius, &line, f64::INFINITY)?;
                    Some(ChordEnd { t: -end.t, ..end })
                };
                self.at_chord(enter, exit, is_inside, rounding)
            }
        }
    }

    /// Returns the hit on a shape, given the ends of its chord.
    fn at_chord(
        &self,
        enter: ChordEnd<D>,
        exit: impl Fn() -> Option<ChordEnd<D>>,
        is_inside: impl FnOnce([&ChordEnd<D>; 2]) -> bool,
        rounding: &dyn Fn(D) -> f64,
    ) -> Option<LocalHit<D>> {
        let is_after = |end: &ChordEnd<D>, t: f64| {
            let rounding = ON_SURFACE * self.line.at(end.t).extent();
            end.t == f64::INFINITY
                || end.t > t && (end.t - t) * self.line.direction.length() > rounding
        };
        let hit = |t: f64, normal, side| (t <= self.max).then_some(LocalHit { t, normal, side });
        // A hollow ray may begin where another ray has entered a solid. Such a ray does not hit the
        // same surface point again.
        let is_entered = || {
            self.hollow
                && self.begins_at(&enter, rounding)
                && exit().is_some_and(|exit| is_after(&exit, enter.t))
        };
        if is_after(&enter, 0.0) && !is_entered() {
            return hit(enter.t, enter.normal, RaySide::Front);
        }
        let exit = exit()?;
        if !is_after(&exit, 0.0) || !is_inside([&enter, &exit]) {
            return None;
        }
        if !self.hollow {
            return hit(0.0, D::ZERO, RaySide::Inside);
        }
        // A ray never leaves a half-space that it enters.
        if exit.t == f64::INFINITY {
            return None;
        }
        hit(exit.t, exit.normal, RaySide::Back)
    }

    /// Returns the tolerance for an origin on the surface: the touching tolerance, plus the
    /// rounding of the origin in the world. The result is multiplied by the length of the surface's
    /// `normal`.
    fn tolerance<const N: usize>(
        &self,
        ends: [&ChordEnd<D>; N],
        normal: D,
        rounding: &dyn Fn(D) -> f64,
    ) -> f64 {
        let points = ends.map(|end| self.line.at(end.t).extent());
        let finite = points.into_iter().filter(|extent| extent.is_finite());
        let scale = finite.fold(self.line.origin.extent(), f64::max);
        TOUCHING * scale * normal.length() + rounding(normal)
    }

    /// Returns `true` if the origin is on the surface at the start of the chord. The origin must be
    /// in front of the chord.
    fn begins_at(&self, enter: &ChordEnd<D>, rounding: &dyn Fn(D) -> f64) -> bool {
        let height = -enter.t * enter.normal.dot(self.line.direction);
        height <= self.tolerance([enter], enter.normal, rounding)
    }

    /// Returns `true` if the origin is on the surface, and the direction is outward or along the
    /// surface. The origin must be on the chord with these ends.
    fn leaves<S>(
        &self,
        shape: &S,
        margin: f32,
        ends: [&ChordEnd<D>; 2],
        rounding: &dyn Fn(D) -> f64,
    ) -> bool
    where
        S: Support + ?Sized,
        S::Vector: Space<DVec = D>,
    {
        let point = Shape::<S::Vector>::Ball { radius: margin };
        let pose: Pose<DVecOf<S>> = Pose {
            translation: self.line.origin,
            ..Pose::IDENTITY
        };
        let pair = Pair::new(shape, Pose::IDENTITY, &point, pose);
        pair.find_contact().is_some_and(|contact| {
            let rate = contact.normal.dot(self.line.direction);
            contact.depth <= self.tolerance(ends, contact.normal, rounding)
                && rate >= -TANGENTIAL * self.line.direction.length()
        })
    }
}
