//! Linear casts of points, segments and boxes in closed form: the cores of balls, capsules and
//! boxes. What is not certain here is left to `solve.rs`, with all rules of its file head: shapes
//! that touch or nearly touch at the start, and touches that may only pass.
//!
//! **Two points, a box and a point, two segments.** The distance and its direction n have a closed
//! form. So the loop of `solve.rs` needs no GJK: Newton's method on the distance less the radii,
//! which is a convex function of time and is never overshot.
//!
//! At the touch, let w be the vector between the nearest points of the cores, of length R, the sum
//! of the radii. These points remain in the cores. So at the time s after the touch, the depth is
//! at least R - |w + s v|, which is greatest at s = -w·v / v². If that exceeds the tolerance, the
//! touch is a hit.
//!
//! **A box and a box or a segment, without radii:** see `analytic/swept_boxes.rs`. The axis that is
//! the last to overlap is the contact normal. With radii, only a miss is certain.

use crate::{
    query::{
        analytic::{boxes::BoxPair, swept_boxes::SweptBoxes},
        cast::{
            CastLocal,
            face_normal::face_normal,
            motion::MotionLocal,
            solve::{CLEAR_OF_TOUCHING, PROBED_MOTION, TARGET_GROWTH},
        },
        minkowski::{MinkowskiDifference, Pair},
        penetration::Penetration,
    },
    shape::{DVecOf, Support},
    space::{DVector, Pose},
    tolerance::{CAST_MARGIN, GRAZING_DEPTH, TOUCHING},
};

/// The maximum number of steps of Newton's method. Most casts need 2 to 6.
const MAX_STEPS: usize = 32;

/// Returns `true` if a motion is linear, or rotates a point about itself.
pub fn is_linear<S: Support + ?Sized>(shape: &S, motion: &MotionLocal<DVecOf<S>>) -> bool {
    let is_still = DVecOf::<S>::angle_size(motion.rotation) == 0.0;
    is_still || (motion.pivot == DVecOf::<S>::ZERO && shape.core().is_point())
}

/// Returns the outcome of a linear cast, or `None` if it is left to `solve.rs`.
pub fn solve_linear<A, B>(
    a: &A,
    (pose_a, motion_a): (Pose<DVecOf<A>>, MotionLocal<DVecOf<A>>),
    b: &B,
    (pose_b, motion_b): (Pose<DVecOf<A>>, MotionLocal<DVecOf<A>>),
) -> Option<CastLocal<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let (translation_a, translation_b) = (motion_a.translation, motion_b.translation);
    let pair = Pair::new(a, pose_a, b, pose_b);
    let boxes = BoxPair::new(&pair, pair.boxes()?)?;
    let of_first = if pair.swapped {
        translation_b - translation_a
    } else {
        translation_a - translation_b
    };
    let velocity = DVecOf::<A>::transpose(pair.frame) * -of_first;
    let size = boxes.scale;
    let center = boxes.relative.translation;
    let travel = translation_a.extent() + translation_b.extent() + center.extent();
    let rounding = 4.0 * f64::EPSILON * (travel + size);
    if !rounding.is_finite() {
        return None;
    }
    let cast = LinearCast {
        center,
        velocity,
        speed: velocity.length(),
        radius_sum: pair.radius_sum(),
        margin: CAST_MARGIN * size + rounding,
        clearance: CLEAR_OF_TOUCHING * size + 4.0 * rounding,
        slack: GRAZING_DEPTH * size + 4.0 * rounding,
        size,
    };
    let outcome = if boxes.has_distance() {
        cast.by_distance(boxes)
    } else {
        cast.by_sweep(boxes, &pair)
    };
    Some(match outcome? {
        Outcome::Misses => CastLocal::Miss,
        Outcome::Touches(touch) => {
            let moved = pair.with_second_moved(cast.velocity * touch.safe);
            let contact = moved.touching_contact(&touch.cores);
            let velocity_a = translation_a + contact.offset_a.rotated_by(motion_a.rotation);
            let velocity_b = translation_b + contact.offset_b.rotated_by(motion_b.rotation);
            let motion = (velocity_a - velocity_b, pose_b.rotation);
            CastLocal::Hit {
                safe: touch.safe,
                touching: touch.touching,
                contact,
                face_normal: face_normal(b, motion, size, &contact),
            }
        }
    })
}

/// A linear cast, in the frame of its pair.
struct LinearCast<D> {
    /// The translation of the second shape at the start.
    center: D,
    /// The velocity of the second shape relative to the first.
    velocity: D,
    speed: f64,
    radius_sum: f64,
    size: f64,
    /// The tolerances of `solve.rs`.
    margin: f64,
    clearance: f64,
    slack: f64,
}

enum Outcome<D> {
    Misses,
    Touches(Touch<D>),
}

/// The first touch, after which the shapes overlap.
struct Touch<D> {
    safe: f64,
    touching: f64,
    /// At the time `safe`.
    cores: Penetration<D>,
}

impl<D: DVector> LinearCast<D> {
    fn by_distance(&self, mut boxes: BoxPair<D>) -> Option<Outcome<D>> {
        let mut time = 0.0;
        let mut cores = boxes.nearest()?;
        let mut gap = -cores.depth - self.radius_sum;
        if gap <= self.clearance {
            return None;
        }
        let limit = (0.5 * TOUCHING * self.size).max(2.0 * self.margin);
        let mut target = 2.0 * self.margin;
        for _ in 0..MAX_STEPS {
            let closing_speed = -cores.normal.dot(self.velocity);
            let step = (gap - 1.5 * self.margin) / closing_speed;
            if closing_speed <= 0.0 || time + step >= 1.0 {
                return Some(Outcome::Misses);
            }
            time += step;
            boxes.relative.translation = self.center + self.velocity * time;
            cores = boxes.nearest()?;
            gap = -cores.depth - self.radius_sum;
            if gap <= target {
                return self.touch(time, gap, cores);
            }
            target = (target * TARGET_GROWTH).min(limit);
        }
        None
    }

    /// Returns the touch if the shapes certainly overlap afterwards.
    fn touch(&self, safe: f64, gap: f64, cores: Penetration<D>) -> Option<Outcome<D>> {
        let closing_speed = -cores.normal.dot(self.velocity);
        let between = cores.second - cores.first;
        let square = self.speed * self.speed;
        let end = (PROBED_MOTION * self.size / self.speed).max(1.0 - safe);
        let deepest = (-between.dot(self.velocity) / square).clamp(0.0, end);
        let depth = self.radius_sum - (between + self.velocity * deepest).length();
        let step = gap / closing_speed;
        let overlaps = gap > 0.0 && closing_speed > 0.0 && depth > self.slack;
        overlaps.then(|| self.touching(safe, step, cores))
    }

    /// Returns the touch whose cores have no gap after another step.
    fn touching(&self, safe: f64, step: f64, cores: Penetration<D>) -> Outcome<D> {
        let is_certain = step * self.speed <= 0.5 * TOUCHING * self.size;
        let touching = if is_certain {
            (safe + step).min(1.0)
        } else {
            safe
        };
        Outcome::Touches(Touch {
            safe,
            touching,
            cores,
        })
    }

    fn by_sweep(
        &self,
        mut boxes: BoxPair<D>,
        pair: &(impl MinkowskiDifference<Vector = D> + Sized),
    ) -> Option<Outcome<D>> {
        // A slower motion is nearly at rest along every axis.
        if self.speed <= self.clearance {
            return None;
        }
        let mut swept = SweptBoxes::new(self.velocity, self.radius_sum, self.slack);
        swept.add_faces(&boxes);
        if self.passes(&swept) {
            return Some(Outcome::Misses);
        }
        if self.radius_sum > 0.0 {
            return None;
        }
        swept.add_edges(&boxes);
        if self.passes(&swept) {
            return Some(Outcome::Misses);
        }
        let end = (swept.enter + PROBED_MOTION * self.size / self.speed).max(1.0);
        if swept.start_gap <= self.clearance || !swept.overlaps_deeply(end) {
            return None;
        }
        let safe = (swept.enter - 1.5 * self.margin / swept.closing_speed).max(0.0);
        boxes.relative.translation = self.center + self.velocity * safe;
        let cores = boxes.contact(&swept.axis(&boxes)?);
        let moved = pair.with_second_moved(self.velocity * safe);
        let step = swept.enter - safe;
        let is_certain = step * self.speed <= 0.5 * TOUCHING * self.size;
        is_certain.then(|| self.touching(safe, step, cores.with_opposite_points(&moved)))
    }

    /// Returns `true` if the boxes certainly do not overlap before the end.
    fn passes(&self, swept: &SweptBoxes<D>) -> bool {
        let before = 1.5 * self.margin / swept.closing_speed;
        swept.start_gap > self.clearance
            && (swept.exit <= 0.0 || swept.enter >= swept.exit || swept.enter - before >= 1.0)
    }
}
