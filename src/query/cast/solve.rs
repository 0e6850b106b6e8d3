//! The first touch of two moving shapes, as a certified interval of time.
//!
//! **Approach.** At a time t, GJK computes the distance between the shapes and its direction n. The
//! separation s along n is a lower bound on the distance at all later times. So the shapes do not
//! touch while s > 0. The loop advances to a time just before s reaches 0, and repeats GJK there,
//! until the distance is within the tolerance or the motion ends. This is conservative advancement
//! (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996) with the root finding
//! of Catto ("Continuous Collision", GDC 2013) in place of a bound on the speed. The departure is
//! that each step is certified.
//!
//! **The certificate.** Let K bound the second derivative of n·x for all points x (see
//! `axis.rs`). s is a minimum of functions f with |f''| <= K. At the ends of an interval of
//! length h each f is at least a = s(t) and b = s(t + h). Between them f is above the parabola with
//! these ends and the second derivative K, whose minimum is a - (a - b + K h²/2)² / (2 K h²). That
//! is at least 0 if and only if
//!
//! ```text
//! h √(K/2) <= √a + √b
//! ```
//!
//! So an interval is certified by its ends. For K = 0 (no rotation) s is linear, one step leads to
//! its root, and the loop is Newton's method on the distance, which is convex: it never overshoots.
//! (`linear.rs` solves most of these casts faster, and leaves only uncertain ones to this file.)
//!
//! **The end of the loop.** For K = 0, let g be the distance less the margin at which a step ends,
//! and c the closing speed. In Newton's method on a convex function, g and c of successive steps
//! have the sum of ratios g'/g + c'/c <= 1, so that g c falls by a factor of at least 4. While the
//! loop runs, g exceeds the margin and c exceeds g (or else the motion ends). So the number of
//! steps is at most log₄ of the product of distance and speed over the margin squared. The
//! tolerance also grows with the number of steps. For K > 0, [`MAX_ROUNDS`] bounds the work.
//!
//! **Passing.** A touch is a hit only if the shapes overlap afterwards. From the touch on, the loop
//! advances along the contact normal as long as the overlap is below a tolerance (the same
//! certificate, with the tolerance added to s). If that leads to the end, or to a time at which the
//! shapes are apart again, the shapes only slide along each other's surface. If the contact at such
//! a time is deeper than the tolerance, or has the opposite normal, as for two segments that cross,
//! it is a hit. A motion that ends too early for a decision is continued beyond its end.

use crate::{
    query::{
        cast::{
            CastHit64, CastOptions, CastStatus,
            axis::{Axis, RateBounds, Separation},
            face_normal::face_normal,
            moving_pair::{MovingPair, Proximity},
        },
        results::Contact64,
    },
    shape::{DVecOf, Support},
    space::DVector,
    tolerance::{CAST_MARGIN, CAST_TOUCHING, GRAZING_DEPTH, TOUCHING},
};

/// The maximum number of advances of a cast. Reached only by shapes that rotate thousands of times
/// within the touching tolerance.
const MAX_ROUNDS: usize = 1 << 13;

/// The number of steps along one axis before GJK computes a better one. They find a simple root in
/// fewer, so that only an axis which has become useless takes all.
const STEPS_PER_AXIS: usize = 16;

/// The gap at which the search ends grows by this factor in each round, up to [`CAST_TOUCHING`]: as
/// [`GAP_GROWTH`](crate::tolerance::GAP_GROWTH), for surfaces that approach slowly.
pub const TARGET_GROWTH: f64 = 1.3;

/// After a touch, the motion is followed for at least this fraction of the size, beyond its end if
/// necessary, to see whether the shapes overlap.
pub const PROBED_MOTION: f64 = 1e-3;

/// The depth at which a touch is probed first, as a fraction of the size: far deeper than a touch,
/// so that a coarse bound on the depth decides, and less than most shapes are thick.
pub const PROBED_DEPTH: f64 = 0.01;

/// If the gap is below this fraction of the size, the axis rotates. Each such axis serves for a
/// motion of at most the same length.
const TURNING_GAP: f64 = 0.1;

/// The maximum distance by which f32 may misplace shapes that touch, as a fraction of the size.
const MAX_PLACEMENT_ERROR: f64 = 1e-3;

/// Two normals are opposite if their product is below this. Shapes that touch with their corners
/// may have such normals, too, and are then apart again. So only flat shapes pass through each
/// other.
const OPPOSITE: f64 = -0.5;

/// The part of an interval's bound that allows for rounding: a million rounding errors of f64.
const CERTAIN: f64 = 1.0 - 1e-9;

/// Returns the first touch.
pub fn solve<A, B>(pair: &MovingPair<A, B>, options: CastOptions) -> Option<CastHit64<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut rounds = MAX_ROUNDS;
    let mut time = 0.0;
    if let Some(contact) = pair.contact(0.0) {
        let tolerance = TOUCHING * pair.size + pair.rounding;
        let overlaps = contact.depth > tolerance + placement_error(pair);
        let overlapping = CastHit64::at_start(CastStatus::Overlapping, contact, contact.normal);
        if overlaps && !options.leave_overlaps {
            return Some(overlapping);
        }
        let is_allowed = contact.depth > tolerance;
        let allowed = if is_allowed { contact.depth } else { 0.0 };
        match passage(
            pair,
            time,
            pair.axis_of(&contact),
            (allowed, overlaps),
            &mut rounds,
        ) {
            AfterTouch::Overlaps if overlaps => return Some(overlapping),
            AfterTouch::Overlaps => {
                let face_normal = face_normal_at(pair, time, &contact);
                return Some(CastHit64::at_start(
                    CastStatus::Touching,
                    contact,
                    face_normal,
                ));
            }
            AfterTouch::Ends => return None,
            AfterTouch::Apart(later) => time = later,
        }
    }
    loop {
        let touch = approach(pair, time, &mut rounds)?;
        let axis = touch.proximity.axis;
        match passage(pair, touch.safe, axis, (0.0, false), &mut rounds) {
            AfterTouch::Overlaps => {
                let contact = pair.touching_contact(touch.safe, &touch.proximity);
                return Some(CastHit64 {
                    status: CastStatus::Hit,
                    safe: touch.safe,
                    touching: touch.touching,
                    contact,
                    face_normal: face_normal_at(pair, touch.safe, &contact),
                });
            }
            AfterTouch::Ends => return None,
            AfterTouch::Apart(later) => time = later,
        }
    }
}

/// Returns a bound on the distance by which f32 misplaces the shapes. A body that an app moves by
/// `safe` of a motion, and places in f32, may overlap by this much, and must still be able to
/// continue. The bound is limited, because far from the origin it can approach the size of the
/// pair.
fn placement_error<A, B>(pair: &MovingPair<A, B>) -> f64
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let [a, b] = pair.start.origins;
    (TOUCHING * (a.extent() + b.extent())).min(MAX_PLACEMENT_ERROR * pair.size)
}

/// Returns the face normal of the second shape at a contact.
fn face_normal_at<A, B>(
    pair: &MovingPair<A, B>,
    time: f64,
    contact: &Contact64<DVecOf<A>>,
) -> DVecOf<A>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let motion = pair.relative_motion(time, contact);
    face_normal(pair.start.b, motion, pair.size, contact)
}

/// The first touch.
struct CertifiedTouch<D: DVector> {
    safe: f64,
    touching: f64,
    /// At the time `safe`.
    proximity: Proximity<D>,
}

/// A round of the approach.
struct Round<D: DVector> {
    time: f64,
    /// The axis that GJK has found.
    found: Axis<D>,
    /// The axis along which the time has advanced.
    axis: Axis<D>,
}

/// Returns the first touch after a time at which the shapes are apart.
fn approach<A, B>(
    pair: &MovingPair<A, B>,
    mut time: f64,
    rounds: &mut usize,
) -> Option<CertifiedTouch<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let margin = CAST_MARGIN * pair.size + pair.rounding;
    let limit = (CAST_TOUCHING * pair.size).max(2.0 * margin);
    let mut target = 2.0 * margin;
    let mut last: Option<Round<DVecOf<A>>> = None;
    loop {
        let mut proximity = pair.proximity(time)?;
        let mut separation = pair.separation(time, proximity.axis);
        // Nearer to the touch, the direction is less precise.
        let found = proximity.axis;
        if let Some(Round { axis, .. }) = last {
            let earlier = pair.separation(time, axis);
            if !proximity.is_apart || earlier.gap >= separation.gap - pair.rounding {
                proximity.axis = axis;
                separation = earlier;
            }
        }
        // The second condition only holds if rounding has stopped GJK.
        let is_near = proximity.gap <= target || separation.gap <= 2.0 * margin;
        if is_near || *rounds == 0 {
            return Some(CertifiedTouch {
                safe: time,
                touching: touching_time(pair, time, separation),
                proximity,
            });
        }
        let mut axis = proximity.axis;
        let mut end = 1.0;
        if let Some(round) = last
            && proximity.gap < TURNING_GAP * pair.size
        {
            axis = pair.turning_axis(
                (round.time, round.found),
                (time, found),
                rounds.is_multiple_of(2),
            );
            if axis != found {
                separation = pair.separation(time, axis);
                end = f64::min(1.0, time + TURNING_GAP * pair.size / pair.speed_bound());
            }
        }
        last = Some(Round { time, found, axis });
        match advance(pair, axis, time, separation, [margin, margin], end) {
            CertifiedUntil::To(later) => time = later,
            CertifiedUntil::End if end < 1.0 => time = end,
            CertifiedUntil::End => return None,
        }
        target = (target * TARGET_GROWTH).min(limit);
        *rounds -= 1;
    }
}

/// Returns the time at which the separation is 0, if the shapes touch at that time for certain, and
/// otherwise the same time.
fn touching_time<A, B>(pair: &MovingPair<A, B>, time: f64, separation: Separation) -> f64
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let step = separation.gap / separation.closing_speed;
    let is_certain = step > 0.0 && step * pair.speed_bound() <= CAST_TOUCHING * pair.size;
    if is_certain {
        (time + step).min(1.0)
    } else {
        time
    }
}

/// What follows a touch.
enum AfterTouch {
    /// The shapes overlap.
    Overlaps,
    /// The motion ends before the shapes overlap.
    Ends,
    /// The shapes are apart again at this time.
    Apart(f64),
}

/// Follows the motion after a touch, until the shapes overlap by more than `allowed` plus the
/// tolerance, are apart again, or the motion ends. Shapes that overlap at the start may leave each
/// other on the opposite side: `leaves` is `true` for them.
fn passage<A, B>(
    pair: &MovingPair<A, B>,
    mut time: f64,
    mut axis: Axis<DVecOf<A>>,
    (allowed, leaves): (f64, bool),
    rounds: &mut usize,
) -> AfterTouch
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let slack = GRAZING_DEPTH * pair.size + 4.0 * pair.rounding;
    let floor = -(allowed + slack);
    let speed = pair.speed_bound();
    if speed <= 0.0 {
        return AfterTouch::Ends;
    }
    let end = (time + PROBED_MOTION * pair.size / speed).max(1.0);
    if overlaps_soon(pair, [time, end], axis, allowed + slack) {
        return AfterTouch::Overlaps;
    }
    let mut last = (time, axis);
    let mut horizon = end;
    while *rounds > 0 {
        *rounds -= 1;
        let separation = pair.separation(time, axis);
        time = match advance(pair, axis, time, separation, [floor, 0.25 * slack], horizon) {
            CertifiedUntil::To(later) => later,
            CertifiedUntil::End if horizon < end => horizon,
            CertifiedUntil::End => return AfterTouch::Ends,
        };
        let passes_through = |axis, other| {
            !leaves && is_opposite(time, axis, other) && pair.width(time, axis) <= 2.0 * slack
        };
        let Some(contact) = pair.contact(time) else {
            match without_contact(pair, time, |other| passes_through(axis, other)) {
                Ok(passage) => return passage,
                Err(other) => axis = other,
            }
            // A little later, the shapes overlap further.
            time += slack / speed;
            if time >= end {
                return AfterTouch::Ends;
            }
            continue;
        };
        let next = pair.axis_of(&contact);
        if contact.depth > allowed + 0.5 * slack || passes_through(axis, next) {
            return AfterTouch::Overlaps;
        }
        let (earlier, before) = core::mem::replace(&mut last, (time, next));
        axis = pair.turning_axis((earlier, before), (time, next), rounds.is_multiple_of(2));
        horizon = if axis == next {
            end
        } else {
            end.min(time + TURNING_GAP * pair.size / speed)
        };
    }
    AfterTouch::Overlaps
}

/// Returns `true` if the shapes certainly overlap by more than `depth` shortly after a touch. That
/// decides most casts.
fn overlaps_soon<A, B>(
    pair: &MovingPair<A, B>,
    [time, end]: [f64; 2],
    axis: Axis<DVecOf<A>>,
    depth: f64,
) -> bool
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let closing_speed = pair.closing_speed_along(time, axis);
    let soon = (time + PROBED_DEPTH * pair.size / closing_speed).min(end);
    closing_speed > 0.0 && pair.is_deeper(soon, depth)
}

/// Returns what follows a touch if no contact is found at the given time. Where a curved surface
/// lies in the plane of a face, GJK ends within the tolerance, and does not prove that the shapes
/// are apart: then the error is the axis of their separation.
fn without_contact<A, B>(
    pair: &MovingPair<A, B>,
    time: f64,
    passes_through: impl Fn(Axis<DVecOf<A>>) -> bool,
) -> Result<AfterTouch, Axis<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    match pair.proximity(time) {
        None => Ok(AfterTouch::Overlaps),
        Some(Proximity { axis, .. }) if passes_through(axis) => Ok(AfterTouch::Overlaps),
        Some(Proximity { axis, .. }) if pair.separation(time, axis).gap <= 0.0 => Err(axis),
        Some(_) if time < 1.0 => Ok(AfterTouch::Apart(time)),
        Some(_) => Ok(AfterTouch::Ends),
    }
}

/// Returns `true` if two axes are opposite to each other.
fn is_opposite<D: DVector>(time: f64, axis: Axis<D>, other: Axis<D>) -> bool {
    let normals = axis.normal(time).zip(other.normal(time));
    normals.is_some_and(|(axis, other)| axis.dot(other) < OPPOSITE)
}

/// How far a separation along an axis is certified.
enum CertifiedUntil {
    To(f64),
    End,
}

/// Returns the latest time found up to which the separation along an axis is certified to be at
/// least `floor`. The search stops when the separation is at most `band` above the floor, at `end`,
/// or after [`STEPS_PER_AXIS`] steps.
fn advance<A, B>(
    pair: &MovingPair<A, B>,
    axis: Axis<DVecOf<A>>,
    mut time: f64,
    separation: Separation,
    [floor, band]: [f64; 2],
    end: f64,
) -> CertifiedUntil
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let RateBounds { speed, curvature } = pair.rate_bounds(axis, [time, end]);
    let mut above = separation.gap - floor;
    let mut closing = separation.closing_speed;
    if curvature <= 0.0 {
        return advance_at_constant_rate(time, above - 0.5 * band, closing, end);
    }
    // Support points that are not finite certify nothing.
    if above.is_nan() || above <= 0.0 {
        return CertifiedUntil::To(time);
    }
    // An interval is certified if it is not longer than `fall` (√a + √b).
    let fall = CERTAIN * (2.0 / curvature).sqrt();
    for _ in 0..STEPS_PER_AXIS {
        let shortest = CERTAIN * (above / speed).min(fall * above.sqrt());
        let mut step = (2.0 * fall * above.sqrt()).min(end - time);
        if closing > 0.0 {
            step = step.min((above - 0.5 * band) / closing);
            let predicted = (above - closing * step).max(0.0);
            step = step.min(fall * (above.sqrt() + predicted.sqrt()));
        }
        let (later, above_later, closing_later) = loop {
            step = step.max(shortest);
            let later = time + step;
            let found = pair.separation(later, axis);
            let found_above = found.gap - floor;
            let is_certified =
                found_above >= 0.0 && step <= fall * (above.sqrt() + found_above.sqrt());
            if is_certified || step <= shortest {
                break (later, found_above.max(0.0), found.closing_speed);
            }
            // The root of the chord if the separation is below the floor.
            let chord = (above - 0.5 * band) / (above - found_above);
            step *= if found_above < 0.0 {
                chord.clamp(0.1, 0.9)
            } else {
                0.7
            };
        };
        if later >= end {
            return CertifiedUntil::End;
        }
        (time, above, closing) = (later, above_later, closing_later);
        if above <= band {
            break;
        }
    }
    CertifiedUntil::To(time)
}

/// Returns the time at which a separation that decreases at the speed `closing` has decreased by
/// `above`.
fn advance_at_constant_rate(time: f64, above: f64, closing: f64, end: f64) -> CertifiedUntil {
    let step = above / closing;
    if closing <= 0.0 || time + step >= end {
        CertifiedUntil::End
    } else {
        CertifiedUntil::To(time + step.max(0.0))
    }
}
