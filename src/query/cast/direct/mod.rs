//! Casts by closed forms or by GJK along a ray, which are faster than the certified steps of
//! `certified/`.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the choice of the method |
//! | `balls.rs` | two balls |
//! | `distance.rs` | a box and a ball, and two segments, whose distance has a closed form |
//! | `sweep.rs` | linear casts of boxes and polygons, by separating axes over time |
//! | `linear.rs` | linear casts of any two convex shapes, by GJK along a ray |
//! | `met_facet.rs` | the facet of the Minkowski difference at which GJK begins |
//!
//! The outcome is [`Uncertain`] for shapes that touch or nearly touch at the start, for touches
//! after which the shapes may not overlap, and for half-spaces. For rotating shapes, the outcome
//! can be certain only if a box rotates and the other core is a point.

pub mod balls;
mod distance;
mod linear;
mod met_facet;
mod sweep;

use crate::{
    query::{
        analytic::BoxPair,
        cast::{
            CastHit64, CastScale, CertifiedTouch, CoreBox, FastCast, StartingPair, Uncertain,
            direct::{
                distance::DistanceCast,
                linear::{facing_vertex, linear_touch},
                sweep::swept_touch,
            },
        },
        minkowski::{ActiveTrace, MinkowskiDifference, Trace, Traced},
    },
    shape::{DVecOf, Support},
    space::DVector,
};

impl<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> StartingPair<'_, A, B> {
    /// Returns the outcome of the cast by the first method that is able to solve the pair.
    pub fn cast_directly(&self) -> FastCast<CastHit64<DVecOf<A>>> {
        if self.has_half_space() {
            return Err(Uncertain);
        }
        let boxes = match self.pair.boxes() {
            Some(half_extents) => Some(BoxPair::new(&self.pair, half_extents).ok_or(Uncertain)?),
            None => None,
        };
        let [(_, motion_a), (_, motion_b)] = self.moving;
        let rotates = [motion_a.rotates(self.pair.a), motion_b.rotates(self.pair.b)];
        match (self.ordered(rotates), boxes) {
            ([false, false], Some(boxes)) if boxes.has_distance() => {
                let scale = self.scale(self.travel())?;
                let radius_sum = self.pair.radius_sum();
                let mut cast = DistanceCast::linear(radius_sum, boxes, self.velocity(), scale);
                self.cast_by_distance(&mut cast)
            }
            ([true, false], Some(boxes)) if self.pair.has_point() => {
                let motions = self.motions();
                let scale = self.scale(self.travel() + 2.0 * motions[0].pivot.extent())?;
                let start = (self.pair.radius_sum(), self.pair.frame.rotation);
                self.cast_by_distance(&mut DistanceCast::rotating(start, boxes, motions, scale))
            }
            ([false, false], boxes) => {
                let velocity = self.velocity();
                let Some(facing) = facing_vertex(&self.pair, velocity, self.travel())? else {
                    return Ok(None);
                };
                let scale = self.scale(self.travel())?;
                let touch =
                    swept_touch(&self.pair, boxes, velocity, &scale).or_else(|Uncertain| {
                        linear_touch(&self.pair, velocity, &scale, Some(facing))
                    })?;
                Ok(touch.map(|touch| self.linear_hit(&touch, &scale)))
            }
            _ => Err(Uncertain),
        }
    }

    /// Returns the outcome of a linear cast by GJK, and records the steps in `trace`.
    pub fn cast_traced(&self, trace: &mut impl Trace<DVecOf<A>>) -> FastCast<CastHit64<DVecOf<A>>> {
        if self.has_half_space() {
            return Err(Uncertain);
        }
        let recording = ActiveTrace::new(trace);
        let traced = self.pair.traced(Traced::new(&recording));
        let scale = self.scale(self.travel())?;
        let touch = linear_touch(&traced, self.velocity(), &scale, None)?;
        Ok(touch.map(|touch| self.linear_hit(&touch, &scale)))
    }

    fn has_half_space(&self) -> bool {
        let cores = self.pair.cores();
        cores.iter().any(|core| core.half_space().is_some())
    }

    /// Returns the velocity of the second shape relative to the first, in the frame of the pair.
    fn velocity(&self) -> DVecOf<A> {
        let [first, second] = self.motions();
        DVecOf::<A>::transpose(self.pair.frame.rotation) * (second.translation - first.translation)
    }

    /// Returns an upper bound on the sum of the two translations' lengths.
    fn travel(&self) -> f64 {
        let [first, second] = self.motions();
        first.translation.extent() + second.translation.extent()
    }

    /// Returns the scale of the cast. `travel` bounds the movement of the centers relative to each
    /// other.
    fn scale(&self, travel: f64) -> Result<CastScale, Uncertain> {
        let boxes = [CoreBox::new(self.pair.a), CoreBox::new(self.pair.b)];
        let travel = travel + self.pair.relative().translation.extent();
        CastScale::new(&boxes, self.pair.radius_sum(), travel).ok_or(Uncertain)
    }

    /// Computes the cast of a pair whose distance has a closed form.
    fn cast_by_distance(
        &self,
        cast: &mut DistanceCast<DVecOf<A>>,
    ) -> FastCast<CastHit64<DVecOf<A>>> {
        let touch = cast.touch()?;
        Ok(touch.map(|touch| {
            let frame = cast.frame(self.pair.frame, touch.safe);
            self.hit(&touch, &frame, cast.scale.size)
        }))
    }

    /// Converts the touch of a linear cast to a hit in world axes.
    fn linear_hit(
        &self,
        touch: &CertifiedTouch<DVecOf<A>>,
        scale: &CastScale,
    ) -> CastHit64<DVecOf<A>> {
        let pair = self.pair.with_second_moved(self.velocity() * touch.safe);
        self.hit(touch, &pair.frame, scale.size)
    }
}
