//! Casts by a closed form or by GJK along a ray, which are faster than the certified steps of
//! `solve.rs`.
//!
//! Each returns `Some(None)` for a miss, and `None` if neither a miss nor a hit is certain: for
//! shapes that touch or nearly touch at the start, for touches that may only pass, and for pairs
//! with a half-space or with other rotations.

use crate::{
    query::{
        analytic::boxes::BoxPair,
        cast::{
            CastHit64,
            distance::DistanceCast,
            linear::{linear_touch, misses_clearly},
            motion::{Motion64, Moving64},
            scale::{CastScale, CoreBox},
            sweep::swept_touch,
            touch::CertifiedTouch,
        },
        minkowski::{MinkowskiDifference, Pair},
        trace::{Recording, Trace, Traced},
    },
    shape::{DVecOf, Support},
    space::DVector,
};

/// A pair that has not moved yet, and its motions.
struct StartingPair<'a, A: Support + ?Sized, B: ?Sized> {
    pair: Pair<'a, A, B>,
    /// In the caller's order.
    moving: [Moving64<DVecOf<A>>; 2],
    /// The motions in the order of the pair.
    motions: [Motion64<DVecOf<A>>; 2],
    /// `true` for a shape that rotates, in the order of the pair. A point that rotates about itself
    /// does not.
    rotates: [bool; 2],
}

/// Returns the outcome of a cast.
pub fn cast_directly<A, B>(
    a: &A,
    moving_a: Moving64<DVecOf<A>>,
    b: &B,
    moving_b: Moving64<DVecOf<A>>,
) -> Option<Option<CastHit64<DVecOf<A>>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let start = StartingPair::new(a, moving_a, b, moving_b)?;
    let boxes = match start.pair.boxes() {
        Some(half_extents) => Some(BoxPair::new(&start.pair, half_extents)?),
        None => None,
    };
    match (start.rotates, boxes) {
        ([false, false], Some(boxes)) if boxes.has_distance() => start.cast_by_distance(boxes),
        ([true, false], Some(boxes)) if start.pair.has_point() => start.cast_by_distance(boxes),
        ([false, false], boxes) => {
            let velocity = start.velocity();
            if misses_clearly(&start.pair, velocity, start.travel()) {
                return Some(None);
            }
            let scale = start.scale(start.travel())?;
            match swept_touch(&start.pair, boxes, velocity, &scale) {
                Some(touch) => Some(touch.map(|touch| start.in_world(&touch, velocity, &scale))),
                None => start.cast_along_ray(&start.pair),
            }
        }
        _ => None,
    }
}

/// Returns the outcome of a linear cast by GJK.
pub fn trace_linear<A, B>(
    a: &A,
    moving_a: Moving64<DVecOf<A>>,
    b: &B,
    moving_b: Moving64<DVecOf<A>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Option<Option<CastHit64<DVecOf<A>>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let start = StartingPair::new(a, moving_a, b, moving_b)?;
    let recording = Recording::new(trace);
    start.cast_along_ray(&start.pair.traced(Traced::new(&recording)))
}

impl<'a, A, B> StartingPair<'a, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// Returns `None` for a pair with a half-space.
    fn new(
        a: &'a A,
        moving_a: Moving64<DVecOf<A>>,
        b: &'a B,
        moving_b: Moving64<DVecOf<A>>,
    ) -> Option<Self> {
        if a.core().half_space().is_some() || b.core().half_space().is_some() {
            return None;
        }
        let (motion_a, motion_b) = (moving_a.1, moving_b.1);
        let mut start = Self {
            pair: Pair::new(a, moving_a.0, b, moving_b.0),
            moving: [moving_a, moving_b],
            rotates: [motion_a.rotates(a), motion_b.rotates(b)],
            motions: [motion_a, motion_b],
        };
        if start.pair.swapped {
            start.motions.reverse();
            start.rotates.reverse();
        }
        Some(start)
    }

    /// Returns the velocity of the second shape relative to the first, in the frame of the pair.
    fn velocity(&self) -> DVecOf<A> {
        let [first, second] = &self.motions;
        DVecOf::<A>::transpose(self.pair.frame) * (second.translation - first.translation)
    }

    /// Returns a bound of the translations.
    fn travel(&self) -> f64 {
        let [first, second] = &self.motions;
        first.translation.extent() + second.translation.extent()
    }

    /// Returns the scale. `travel` bounds the distances of the centers from the start.
    fn scale(&self, travel: f64) -> Option<CastScale> {
        let boxes = [CoreBox::new(self.pair.a), CoreBox::new(self.pair.b)];
        let travel = travel + self.pair.relative.translation.extent();
        CastScale::new(&boxes, self.pair.radius_sum(), travel)
    }

    /// Casts a box and a point, or two segments.
    fn cast_by_distance(&self, boxes: BoxPair<DVecOf<A>>) -> Option<Option<CastHit64<DVecOf<A>>>> {
        let ([first, _], [is_rotating, _]) = (&self.motions, self.rotates);
        let radius_sum = self.pair.radius_sum();
        let mut cast = if is_rotating {
            let scale = self.scale(self.travel() + 2.0 * first.pivot.extent())?;
            let start = (radius_sum, self.pair.frame);
            DistanceCast::rotating(start, boxes, &self.motions, scale)
        } else {
            let scale = self.scale(self.travel())?;
            DistanceCast::linear(radius_sum, boxes, self.velocity(), scale)
        };
        let touch = cast.touch()?;
        Some(touch.map(|touch| {
            let pair = cast.placed(&self.pair, touch.safe);
            touch.in_world(&pair, &self.moving, cast.scale.size)
        }))
    }

    /// Casts shapes that do not rotate. `difference` is the Minkowski difference of the pair.
    fn cast_along_ray(
        &self,
        difference: &impl MinkowskiDifference<Vector = DVecOf<A>>,
    ) -> Option<Option<CastHit64<DVecOf<A>>>> {
        let (velocity, scale) = (self.velocity(), self.scale(self.travel())?);
        let touch = linear_touch(difference, velocity, &scale)?;
        Some(touch.map(|touch| self.in_world(&touch, velocity, &scale)))
    }

    /// Returns the touch of a linear cast in world axes.
    fn in_world(
        &self,
        touch: &CertifiedTouch<DVecOf<A>>,
        velocity: DVecOf<A>,
        scale: &CastScale,
    ) -> CastHit64<DVecOf<A>> {
        let pair = self.pair.with_second_moved(velocity * touch.safe);
        touch.in_world(&pair, &self.moving, scale.size)
    }
}
