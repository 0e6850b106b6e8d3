//! The first touch of two moving shapes, as a certified interval of time.
//!
//! **Approach.** At a time t, GJK computes the distance between the shapes and its direction n. The
//! separation s along n is a lower bound on the distance at all later times. So the shapes do not
//! touch while s > 0. The loop advances to a time just before s reaches 0, and repeats GJK there.
//! The loop ends when the distance is within the tolerance, or at the end of the motion. This
//! method is conservative advancement (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body
//! Systems", 1996) with the root finding of Catto ("Continuous Collision", GDC 2013) in place of a
//! bound on the speed. Unlike in these two methods, each step is *certified*: proved to be free of
//! touches.
//!
//! **The certificate.** Let K bound the second derivative of n·x for all points x (see
//! `separating_axis.rs`). The separation s is a minimum of functions f with |f''| <= K. At the ends
//! of an interval of length h, each f is at least a = s(t) and b = s(t + h). Between the ends, f is
//! above the parabola with these values and the second derivative K. The minimum of the parabola is
//! a - (a - b + K h²/2)² / (2 K h²). This minimum is at least 0 if and only if
//!
//! ```text
//! h √(K/2) <= √a + √b
//! ```
//!
//! So an interval is certified by the separations at its ends. Without a rotation, K = 0, s is
//! linear, and one step leads to the root of s. The loop is then Newton's method on the distance, a
//! convex function, so the loop never passes the touch. (`direct/` solves most of these casts
//! faster, and leaves only uncertain casts to this file.)
//!
//! **The end of the loop.** For K = 0, let g be the distance minus the margin at which a step ends,
//! and c the closing speed. Newton's method on a convex function satisfies g'/g + c'/c <= 1 in
//! successive steps. So the product of the two ratios is at most 1/4, and g c falls by a factor of
//! at least 4. While the loop runs, g exceeds the margin and c exceeds g (or else the motion ends).
//! So the number of steps is at most log₄ of the product of distance and speed, divided by the
//! squared margin. The tolerance also grows with the number of steps. For K > 0, [`MAX_ROUNDS`]
//! bounds the work.
//!
//! **After a touch.** A touch is a hit only if the shapes overlap afterwards. After the touch, the
//! loop advances along the contact normal as long as the overlap is below a tolerance. The
//! certificate is the same, with the tolerance added to s. If the loop reaches the end of the
//! motion, or a time at which the shapes are apart again, the shapes only slide along each other's
//! surface. If a later contact is deeper than the tolerance, or has the opposite normal, as for two
//! segments that cross, the touch is a hit. A motion that ends too early for a decision is
//! continued beyond its end.
//!
//! `moving_pair.rs` has a pair of moving shapes and their separation as functions of time, and
//! `body.rs` has one of the shapes.

mod body;
pub mod moving_pair;

use crate::{
    query::{
        cast::{
            CastHit64, CastOptions, CastStatus, CertifiedTouch, RateBounds, SeparatingAxis,
            Separation,
            certified::moving_pair::{MovingPair, Proximity},
        },
        gjk::Penetration,
        solver::Solver,
    },
    shape::{DVecOf, Support},
    space::DVector,
    tolerance::TOUCHING,
};

/// The maximum number of advances of a cast. Only shapes that rotate thousands of times within the
/// touching tolerance reach this limit.
const MAX_ROUNDS: usize = 1 << 13;

/// The maximum number of steps along one axis before GJK computes a better axis. A simple root
/// takes fewer steps. If an axis reaches this limit, it no longer separates the shapes well.
const STEPS_PER_AXIS: usize = 16;

/// If the gap is below this fraction of the size, the axis rotates. Each rotating axis is used for
/// a motion of at most this length.
const TURNING_GAP: f64 = 0.1;

/// The maximum distance by which f32 may misplace shapes that touch, as a fraction of the size.
const MAX_PLACEMENT_ERROR: f64 = 1e-3;

/// Two normals count as opposite if their dot product is below this value. Shapes whose corners
/// touch may also have opposite normals, although they are apart afterwards. So the test also
/// requires a flat Minkowski difference.
const OPPOSITE_COSINE: f64 = -0.5;

/// The fraction of a computed interval that counts as certified. The remaining part exceeds a
/// million rounding errors of f64.
const CERTAIN_PART: f64 = 1.0 - 1e-9;

/// A round of the loop that approaches the touch.
struct Round<D: DVector> {
    time: f64,
    /// The axis that GJK has found.
    found: SeparatingAxis<D>,
    /// The axis along which the time has advanced.
    axis: SeparatingAxis<D>,
}

/// The outcome of the motion after a touch.
enum AfterTouch {
    /// The shapes overlap.
    Overlaps,
    /// The motion ends before the shapes overlap.
    Ends,
    /// The shapes are apart again at this time.
    Apart(f64),
}

/// A touch, and the axis that separates the shapes before it.
type TouchAndAxis<D> = (CertifiedTouch<D>, SeparatingAxis<D>);

impl<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> MovingPair<'_, A, B> {
    /// Returns the first touch of the pair.
    pub fn solve(&self, options: CastOptions) -> Option<CastHit64<DVecOf<A>>> {
        let size = self.scale.size;
        let mut rounds = MAX_ROUNDS;
        let mut time = 0.0;
        let tolerance = TOUCHING * size + self.scale.rounding;
        let overlap = tolerance + self.placement_error();
        // The caller replaces the contact of a facet, so this contact need not be the shallowest.
        if let Some(facet) = self.start.facet_normal
            && !options.leave_overlaps
            && self.is_deeper(0.0, overlap)
        {
            let solver = Solver::without_closed_form(self.at(0.0));
            let contact = solver.contact_over(facet, false);
            let status = CastStatus::Overlapping;
            return Some(CastHit64::at_start(status, contact, contact.normal));
        }
        if let Some(contact) = self.at(0.0).find_contact() {
            let overlaps = contact.depth > overlap;
            let overlapping = CastHit64::at_start(CastStatus::Overlapping, contact, contact.normal);
            if overlaps && !options.leave_overlaps {
                return Some(overlapping);
            }
            let is_allowed = contact.depth > tolerance;
            let allowed = if is_allowed { contact.depth } else { 0.0 };
            let axis = self.contact_axis(&contact);
            match self.follow(time, axis, (allowed, overlaps), &mut rounds) {
                AfterTouch::Overlaps if overlaps => return Some(overlapping),
                AfterTouch::Overlaps => {
                    let face = self.start.face_normal(0.0, size, &contact);
                    return Some(CastHit64::at_start(CastStatus::Touching, contact, face));
                }
                AfterTouch::Ends => return None,
                AfterTouch::Apart(later) => time = later,
            }
        }
        loop {
            let (touch, axis) = self.approach(time, &mut rounds)?;
            match self.follow(touch.safe, axis, (0.0, false), &mut rounds) {
                AfterTouch::Overlaps => {
                    return Some(self.start.hit(&touch, &self.at(touch.safe).frame, size));
                }
                AfterTouch::Ends => return None,
                AfterTouch::Apart(later) => time = later,
            }
        }
    }

    /// Returns a bound on the distance by which f32 misplaces the shapes. If an app moves a body by
    /// the fraction `safe` of a motion and rounds the pose to f32, the body may overlap an obstacle
    /// by this much. The body must still be able to continue. The bound is limited, because far
    /// from the origin the rounding of f32 can approach the size of the pair.
    fn placement_error(&self) -> f64 {
        let [a, b] = self.start.pair.frame.origins;
        (TOUCHING * (a.extent() + b.extent())).min(MAX_PLACEMENT_ERROR * self.scale.size)
    }

    /// Returns the first touch after a time at which the shapes are apart, and the axis along which
    /// they approach each other.
    fn approach(&self, mut time: f64, rounds: &mut usize) -> Option<TouchAndAxis<DVecOf<A>>> {
        let (size, margin) = (self.scale.size, self.scale.margin);
        let mut end_gap = 2.0 * margin;
        let mut last: Option<Round<DVecOf<A>>> = None;
        loop {
            let mut proximity = self.proximity(time)?;
            let mut separation = self.separation(time, proximity.axis);
            // Near the touch, GJK's direction is less precise, so the axis of the previous round
            // may be better.
            let found = proximity.axis;
            if let Some(Round { axis, .. }) = last {
                let earlier = self.separation(time, axis);
                if !proximity.is_apart || earlier.gap >= separation.gap - self.scale.rounding {
                    proximity.axis = axis;
                    separation = earlier;
                }
            }
            // The second condition can hold without the first condition only if rounding has
            // stopped GJK.
            let is_near = proximity.gap <= end_gap || separation.gap <= 2.0 * margin;
            if is_near || *rounds == 0 {
                let touch = self.touch(time, &proximity, separation);
                return Some((touch, proximity.axis));
            }
            let mut axis = proximity.axis;
            let mut end = 1.0;
            if let Some(round) = last
                && proximity.gap < TURNING_GAP * size
            {
                let with_second = rounds.is_multiple_of(2);
                axis = self.turning_axis((round.time, round.found), (time, found), with_second);
                if axis != found {
                    separation = self.separation(time, axis);
                    end = f64::min(1.0, time + TURNING_GAP * size / self.speed_bound());
                }
            }
            last = Some(Round { time, found, axis });
            match self.advance(axis, time, separation, [margin, margin], end) {
                Some(later) => time = later,
                None if end < 1.0 => time = end,
                None => return None,
            }
            end_gap = self.scale.next_end_gap(end_gap);
            *rounds -= 1;
        }
    }

    /// Returns the touch of shapes that are apart and about to touch at the given time.
    fn touch(
        &self,
        time: f64,
        proximity: &Proximity<DVecOf<A>>,
        separation: Separation,
    ) -> CertifiedTouch<DVecOf<A>> {
        let step = separation.gap / separation.closing_speed;
        let normal = match proximity.axis.normal(time) {
            Some(normal) => DVecOf::<A>::transpose(self.at(time).frame.rotation) * normal,
            None => proximity.cores.normal,
        };
        CertifiedTouch {
            safe: time,
            touching: self.scale.touching_time(time, step, self.speed_bound()),
            cores: Penetration {
                normal,
                ..proximity.cores
            },
            is_on_face: [false; 2],
        }
    }

    /// Follows the motion after a touch. The search ends when the shapes overlap by more than the
    /// `allowed` depth plus the tolerance, when the shapes are apart again, or when the motion
    /// ends. Shapes that overlap at the start may leave each other on the opposite side
    /// (`may_pass`).
    fn follow(
        &self,
        mut time: f64,
        mut axis: SeparatingAxis<DVecOf<A>>,
        (allowed, may_pass): (f64, bool),
        rounds: &mut usize,
    ) -> AfterTouch {
        let slack = self.scale.slack;
        let floor = -(allowed + slack);
        let speed = self.speed_bound();
        if speed <= 0.0 {
            return AfterTouch::Ends;
        }
        let end = self.scale.probed_end(time, speed);
        // This test of the depth decides most casts before the motion is followed in steps.
        let closing_speed = self.separation(time, axis).closing_speed;
        let soon = self.scale.probed_time(time, closing_speed, end);
        if closing_speed > 0.0 && self.is_deeper(soon, allowed + slack) {
            return AfterTouch::Overlaps;
        }
        let mut last = (time, axis);
        let mut horizon = end;
        while *rounds > 0 {
            *rounds -= 1;
            let separation = self.separation(time, axis);
            time = match self.advance(axis, time, separation, [floor, 0.25 * slack], horizon) {
                Some(later) => later,
                None if horizon < end => horizon,
                None => return AfterTouch::Ends,
            };
            let contact = self.at(time).find_contact();
            let next = match &contact {
                Some(contact) => self.contact_axis(contact),
                None => match self.proximity(time) {
                    Some(proximity) => proximity.axis,
                    None => return AfterTouch::Overlaps,
                },
            };
            let is_deep = contact.is_some_and(|contact| contact.depth > allowed + 0.5 * slack);
            let passes_through = || {
                let normals = axis.normal(time).zip(next.normal(time));
                normals.is_some_and(|(normal, next)| normal.dot(next) < OPPOSITE_COSINE)
                    && self.width(time, axis) <= 2.0 * slack
            };
            if is_deep || (!may_pass && passes_through()) {
                return AfterTouch::Overlaps;
            }
            if contact.is_some() {
                let (earlier, before) = core::mem::replace(&mut last, (time, next));
                let with_second = rounds.is_multiple_of(2);
                axis = self.turning_axis((earlier, before), (time, next), with_second);
                horizon = if axis == next {
                    end
                } else {
                    end.min(time + TURNING_GAP * self.scale.size / speed)
                };
                continue;
            }
            let is_close = self.separation(time, next).gap <= 0.0;
            if !is_close {
                return if time < 1.0 {
                    AfterTouch::Apart(time)
                } else {
                    AfterTouch::Ends
                };
            }
            // If a curved surface touches the plane of a face, GJK ends within its tolerance
            // without proving that the shapes are separated. The search continues at a slightly
            // later time.
            axis = next;
            time += slack / speed;
            if time >= end {
                return AfterTouch::Ends;
            }
        }
        AfterTouch::Overlaps
    }

    /// Returns a time up to which the separation along an axis is certified to be at least `floor`,
    /// or `None` if the bound is certified up to `end`. The search stops when the separation is at
    /// most `band` above the floor, or after [`STEPS_PER_AXIS`] steps.
    fn advance(
        &self,
        axis: SeparatingAxis<DVecOf<A>>,
        mut time: f64,
        separation: Separation,
        [floor, band]: [f64; 2],
        end: f64,
    ) -> Option<f64> {
        let RateBounds { speed, curvature } = self.rate_bounds(axis, [time, end]);
        let mut above = separation.gap - floor;
        let mut closing = separation.closing_speed;
        if curvature <= 0.0 {
            let step = (above - 0.5 * band) / closing;
            let is_free = closing <= 0.0 || time + step >= end;
            return (!is_free).then(|| time + step.max(0.0));
        }
        // If a support point is not finite, `above` is NaN. Then no motion is certified.
        if above.is_nan() || above <= 0.0 {
            return Some(time);
        }
        // An interval is certified if its length is at most `fall` (√a + √b), where a and b are as
        // in the file head.
        let fall = CERTAIN_PART * (2.0 / curvature).sqrt();
        for _ in 0..STEPS_PER_AXIS {
            let shortest = CERTAIN_PART * (above / speed).min(fall * above.sqrt());
            let mut step = (2.0 * fall * above.sqrt()).min(end - time);
            if closing > 0.0 {
                step = step.min((above - 0.5 * band) / closing);
                let predicted = (above - closing * step).max(0.0);
                step = step.min(fall * (above.sqrt() + predicted.sqrt()));
            }
            let (later, above_later, closing_later) = loop {
                step = step.max(shortest);
                let later = time + step;
                let found = self.separation(later, axis);
                let found_above = found.gap - floor;
                let is_certified =
                    found_above >= 0.0 && step <= fall * (above.sqrt() + found_above.sqrt());
                if is_certified || step <= shortest {
                    break (later, found_above.max(0.0), found.closing_speed);
                }
                // If the separation at the end of the step is below the floor, the step is
                // shortened to the root of the chord.
                let chord = (above - 0.5 * band) / (above - found_above);
                step *= if found_above < 0.0 {
                    chord.clamp(0.1, 0.9)
                } else {
                    0.7
                };
            };
            if later >= end {
                return None;
            }
            (time, above, closing) = (later, above_later, closing_later);
            if above <= band {
                break;
            }
        }
        Some(time)
    }
}
