//! Linear casts: the first touch of two shapes that do not rotate.
//!
//! A linear motion only moves the Minkowski difference of the cores, so the cast is a ray against
//! it. What is not certain here is left to `solve.rs`, with all rules of its file head: shapes that
//! touch or nearly touch at the start, and touches that may only pass.
//!
//! **A clear miss.** Two planes show most misses by one support point each: the plane across the
//! line between the origins, and the plane along the motion that is nearest to it.
//!
//! **Two points, a box and a point, two segments.** The distance and its direction n have a closed
//! form. So the loop of `solve.rs` needs no GJK: Newton's method on the distance less the radii,
//! which is a convex function of time and is never overshot. For two points, the first step is the
//! root of |c + t v| = R.
//!
//! At the touch, let w be the vector between the nearest points of the cores, of length R, the sum
//! of the radii. These points remain in the cores. So at the time s after the touch, the depth is
//! at least R - |w + s v|, which is greatest at s = -w·v / v². If that exceeds the tolerance, the
//! touch is a hit.
//!
//! **A box and a box or a segment, without radii:** see `analytic/swept_boxes.rs`. The axis that is
//! the last to overlap is the contact normal. With radii, only a miss is certain.
//!
//! **Two polygons of few edges:** the same with their edges, see `analytic/swept_polygons.rs`.
//!
//! **Other shapes:** see `linear_gjk.rs`.
//!
//! **A half-space** has no support points, so its pair is left to `solve.rs`. The distance along
//! its normal is linear in time, and one step leads to its root.

use crate::{
    query::{
        analytic::{
            SweptOverlap, boxes::BoxPair, swept_boxes::SweptBoxes, swept_polygons::SweptPolygons,
        },
        cast::{
            CastHit64, CastStatus, Moving,
            core_box::{CoreBox, pair_size},
            face_normal::face_normal,
            motion::Motion64,
            solve::{PROBED_MOTION, TARGET_GROWTH},
        },
        minkowski::{MinkowskiDifference, Pair},
        penetration::Penetration,
        trace::{Recording, Trace, Traced},
    },
    shape::{DVecOf, Support},
    space::{DVector, Space},
    tolerance::{CAST_MARGIN, CAST_TOUCHING, GRAZING_DEPTH, TOUCHING},
};

/// The maximum number of steps of Newton's method. Most casts need 2 to 6.
pub const MAX_STEPS: usize = 32;

/// The clearance at the start, as a fraction of the size: far enough that `solve.rs` finds no
/// contact there, whose tolerance is at most twice [`TOUCHING`], because a pair's scale is at most
/// twice its size.
const CLEAR_OF_TOUCHING: f64 = 4.0 * TOUCHING;

/// A miss is clear if the gap exceeds this part of the shapes. Even if a shape is a thousand times
/// longer than its support points show, it exceeds the clearance.
const CLEAR_PART: f64 = 1e-3;

/// Returns `true` if a motion is linear, or rotates a point about itself.
pub fn is_linear<S: Support + ?Sized>(shape: &S, motion: &Motion64<DVecOf<S>>) -> bool {
    let is_still = DVecOf::<S>::angle_size(motion.rotation) == 0.0;
    is_still || (motion.pivot == DVecOf::<S>::ZERO && shape.core().is_point())
}

/// Returns the outcome of a linear cast, or `None` if it is left to `solve.rs`.
pub fn solve_linear<A, B>(
    a: &A,
    (pose_a, motion_a): Moving<DVecOf<A>>,
    b: &B,
    (pose_b, motion_b): Moving<DVecOf<A>>,
) -> Option<Option<CastHit64<DVecOf<A>>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    if a.core().half_space().is_some() || b.core().half_space().is_some() {
        return None;
    }
    let pair = Pair::new(a, pose_a, b, pose_b);
    let velocity = relative_velocity(&pair, [&motion_a, &motion_b]);
    let boxes = match pair.boxes() {
        Some(half_extents) => Some(BoxPair::new(&pair, half_extents)?),
        None => None,
    };
    let travel = motion_a.translation.extent() + motion_b.translation.extent();
    let has_distance = boxes.as_ref().is_some_and(BoxPair::has_distance);
    if !has_distance && misses_clearly(&pair, velocity, travel) {
        return Some(None);
    }
    let size = match &boxes {
        Some(boxes) => boxes.scale,
        None => pair_size(&[CoreBox::new(a), CoreBox::new(b)], pair.radius_sum()),
    };
    let cast = LinearCast::new(&pair, velocity, size, travel)?;
    let outcome = match boxes {
        Some(boxes) if has_distance => cast.by_distance(boxes),
        Some(boxes) => cast.by_sweep(boxes, &pair).or_else(|| cast.by_gjk(&pair)),
        None => cast.by_swept_polygons(&pair).or_else(|| cast.by_gjk(&pair)),
    };
    Some(cast.in_world(outcome?, &pair, [&motion_a, &motion_b], pose_b.rotation))
}

/// Returns the outcome of a linear cast by GJK, or `None` if it is left to `solve.rs`.
pub fn trace_linear<A, B>(
    a: &A,
    (pose_a, motion_a): Moving<DVecOf<A>>,
    b: &B,
    (pose_b, motion_b): Moving<DVecOf<A>>,
    trace: &mut impl Trace<DVecOf<A>>,
) -> Option<Option<CastHit64<DVecOf<A>>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let pair = Pair::new(a, pose_a, b, pose_b);
    let velocity = relative_velocity(&pair, [&motion_a, &motion_b]);
    let travel = motion_a.translation.extent() + motion_b.translation.extent();
    let boxes = [CoreBox::new(a), CoreBox::new(b)];
    if boxes.iter().any(|core| core.is_half_space) {
        return None;
    }
    let size = pair_size(&boxes, pair.radius_sum());
    let cast = LinearCast::new(&pair, velocity, size, travel)?;
    let recording = Recording::new(trace);
    let outcome = cast.by_gjk(&pair.traced(Traced::new(&recording)))?;
    Some(cast.in_world(outcome, &pair, [&motion_a, &motion_b], pose_b.rotation))
}

/// Returns the velocity of the second shape of a pair relative to the first, in the frame of the
/// pair.
fn relative_velocity<A, B>(
    pair: &Pair<A, B>,
    [motion_a, motion_b]: [&Motion64<DVecOf<A>>; 2],
) -> DVecOf<A>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let of_first = if pair.swapped {
        motion_b.translation - motion_a.translation
    } else {
        motion_a.translation - motion_b.translation
    };
    DVecOf::<A>::transpose(pair.frame) * -of_first
}

/// Returns `true` if one of two planes separates the shapes during the whole motion, by far more
/// than any tolerance. Their size is not yet known: the support points stand for it.
fn misses_clearly<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    velocity: D,
    travel: f64,
) -> bool {
    let center = pair.relative().translation;
    let nearest = center - velocity * (center.dot(velocity) / velocity.length_squared());
    [center, nearest].into_iter().any(|direction| {
        let Some(normal) = direction.unit() else {
            return false;
        };
        let vertex = pair.vertex(normal);
        let start = -normal.dot(vertex.point) - pair.radius_sum();
        let end = start + normal.dot(velocity);
        let size = vertex.first.extent() + (vertex.second - center).extent() + pair.radius_sum();
        let rounding = 4.0 * f64::EPSILON * (travel + center.extent());
        start.min(end) > CLEAR_PART * size + rounding
    })
}

/// A linear cast, in the frame of its pair.
pub struct LinearCast<D> {
    /// The translation of the second shape at the start.
    pub center: D,
    /// The velocity of the second shape relative to the first.
    pub velocity: D,
    pub speed: f64,
    pub radius_sum: f64,
    pub size: f64,
    /// The least gap at the time `safe`. Half of it exceeds all rounding errors.
    pub margin: f64,
    /// The gap at which a step ends: halfway between the margin and two margins, the gap at which
    /// the search ends. So rounding leads to neither side of them.
    pub stop_gap: f64,
    /// Shapes that are this far apart at the start certainly do not touch there.
    pub clearance: f64,
    /// An overlap of this depth is certainly more than a touch.
    pub slack: f64,
}

pub enum LinearOutcome<D> {
    Misses,
    Touches(LinearTouch<D>),
}

/// The first touch, after which the shapes overlap.
pub struct LinearTouch<D> {
    pub safe: f64,
    pub touching: f64,
    /// At the time `safe`.
    pub cores: Penetration<D>,
    /// `true` for a shape of the pair if the normal is certainly that of a face in contact.
    pub is_on_face: [bool; 2],
}

impl<D: DVector> LinearCast<D> {
    /// `travel` is a bound of the translations. Returns `None` if a length is not finite.
    pub fn new(
        pair: &impl MinkowskiDifference<Vector = D>,
        velocity: D,
        size: f64,
        travel: f64,
    ) -> Option<Self> {
        let center = pair.relative().translation;
        let rounding = 4.0 * f64::EPSILON * (travel + center.extent() + size);
        let margin = CAST_MARGIN * size + rounding;
        rounding.is_finite().then(|| Self {
            center,
            velocity,
            speed: velocity.length(),
            radius_sum: pair.radius_sum(),
            margin,
            stop_gap: 1.5 * margin,
            clearance: CLEAR_OF_TOUCHING * size + 4.0 * rounding,
            slack: GRAZING_DEPTH * size + 4.0 * rounding,
            size,
        })
    }

    /// Returns the outcome with the contact in world axes. `rotation_b` is the rotation of the
    /// caller's second shape.
    fn in_world<A, B>(
        &self,
        outcome: LinearOutcome<D>,
        pair: &Pair<A, B>,
        [motion_a, motion_b]: [&Motion64<D>; 2],
        rotation_b: D::Matrix,
    ) -> Option<CastHit64<D>>
    where
        A: Support<Vector: Space<DVec = D>> + ?Sized,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        let LinearOutcome::Touches(touch) = outcome else {
            return None;
        };
        let moved = pair.with_second_moved(self.velocity * touch.safe);
        let contact = moved.touching_contact(&touch.cores);
        let [on_first, on_second] = touch.is_on_face;
        let face_normal = if pair.swapped && on_first || !pair.swapped && on_second {
            contact.normal
        } else {
            let velocity_a = motion_a.translation + contact.offset_a.rotated_by(motion_a.rotation);
            let velocity_b = motion_b.translation + contact.offset_b.rotated_by(motion_b.rotation);
            let motion = (velocity_a - velocity_b, rotation_b);
            face_normal(pair.b, motion, self.size, &contact)
        };
        Some(CastHit64 {
            status: CastStatus::Hit,
            safe: touch.safe,
            touching: touch.touching,
            contact,
            face_normal,
        })
    }

    fn by_distance(&self, mut boxes: BoxPair<D>) -> Option<LinearOutcome<D>> {
        let mut time = 0.0;
        let mut cores = boxes.nearest()?;
        let mut gap = -cores.depth - self.radius_sum;
        if gap <= self.clearance {
            return None;
        }
        let limit = (CAST_TOUCHING * self.size).max(2.0 * self.margin);
        let mut target = 2.0 * self.margin;
        let mut root = boxes.has_points().then(|| self.root_of_points());
        for _ in 0..MAX_STEPS {
            let closing_speed = -cores.normal.dot(self.velocity);
            let newton = (gap - self.stop_gap) / closing_speed;
            let step = root.take().unwrap_or(newton);
            if closing_speed <= 0.0 || time + step >= 1.0 {
                return Some(LinearOutcome::Misses);
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

    /// Returns the time at which two points are at the distance of a touch, infinite if they never
    /// are.
    fn root_of_points(&self) -> f64 {
        let square = self.velocity.length_squared();
        let nearest = -self.center.dot(self.velocity) / square;
        let offset = (self.center + self.velocity * nearest).length();
        let radius = self.radius_sum + self.stop_gap;
        if offset > radius {
            return f64::INFINITY;
        }
        nearest - ((radius - offset) * (radius + offset)).sqrt() / self.speed
    }

    /// Returns the touch if the shapes certainly overlap afterwards.
    fn touch(&self, safe: f64, gap: f64, cores: Penetration<D>) -> Option<LinearOutcome<D>> {
        let closing_speed = -cores.normal.dot(self.velocity);
        let between = cores.second - cores.first;
        let square = self.speed * self.speed;
        let end = (PROBED_MOTION * self.size / self.speed).max(1.0 - safe);
        let deepest = (-between.dot(self.velocity) / square).clamp(0.0, end);
        let depth = self.radius_sum - (between + self.velocity * deepest).length();
        let step = gap / closing_speed;
        let overlaps = gap > 0.0 && closing_speed > 0.0 && depth > self.slack;
        overlaps.then(|| LinearOutcome::Touches(self.touching(safe, step, cores)))
    }

    /// Returns the touch whose cores have no gap after another step.
    pub fn touching(&self, safe: f64, step: f64, cores: Penetration<D>) -> LinearTouch<D> {
        let is_certain = step * self.speed <= CAST_TOUCHING * self.size;
        let touching = if is_certain {
            (safe + step).min(1.0)
        } else {
            safe
        };
        LinearTouch {
            safe,
            touching,
            cores,
            is_on_face: [false; 2],
        }
    }

    fn by_sweep(
        &self,
        mut boxes: BoxPair<D>,
        pair: &impl MinkowskiDifference<Vector = D>,
    ) -> Option<LinearOutcome<D>> {
        // A slower motion is nearly at rest along every axis.
        if self.speed <= self.clearance {
            return None;
        }
        let mut swept = SweptBoxes::new(self.velocity, self.radius_sum, self.slack);
        swept.add_faces(&boxes);
        if self.passes(swept.overlap()) {
            return Some(LinearOutcome::Misses);
        }
        if self.radius_sum > 0.0 {
            return None;
        }
        swept.add_edges(&boxes);
        self.at_overlap(swept.overlap(), pair, |safe| {
            boxes.relative.translation = self.center + self.velocity * safe;
            let axis = swept.axis(&boxes)?;
            Some((boxes.contact(&axis), axis.has_faces()))
        })
    }

    /// Returns `None` for shapes that are not polygons, too.
    fn by_swept_polygons(
        &self,
        pair: &impl MinkowskiDifference<Vector = D>,
    ) -> Option<LinearOutcome<D>> {
        if self.speed <= self.clearance || self.radius_sum > 0.0 {
            return None;
        }
        let swept = SweptPolygons::new(pair, self.velocity, self.slack, self.size)?;
        self.at_overlap(&swept.overlap, pair, |safe| {
            let contact = swept.contact(self.velocity * safe, self.size)?;
            Some((contact, swept.has_edges()))
        })
    }

    /// Returns the outcome for cores without radii that overlap in an interval. `contact` returns
    /// their contact at a time shortly before, and whether its normal is that of a face of each.
    fn at_overlap(
        &self,
        overlap: &SweptOverlap,
        pair: &impl MinkowskiDifference<Vector = D>,
        contact: impl FnOnce(f64) -> Option<(Penetration<D>, [bool; 2])>,
    ) -> Option<LinearOutcome<D>> {
        if self.passes(overlap) {
            return Some(LinearOutcome::Misses);
        }
        let end = (overlap.enter + PROBED_MOTION * self.size / self.speed).max(1.0);
        if overlap.start_gap <= self.clearance || !overlap.overlaps_deeply(end) {
            return None;
        }
        let safe = (overlap.enter - self.stop_gap / overlap.closing_speed).max(0.0);
        let step = overlap.enter - safe;
        if step * self.speed > CAST_TOUCHING * self.size {
            return None;
        }
        let moved = pair.with_second_moved(self.velocity * safe);
        let (cores, is_on_face) = contact(safe)?;
        let cores = cores.with_opposite_points(&moved);
        Some(LinearOutcome::Touches(LinearTouch {
            is_on_face,
            ..self.touching(safe, step, cores)
        }))
    }

    /// Returns `true` if the cores certainly do not overlap before the end.
    fn passes(&self, overlap: &SweptOverlap) -> bool {
        let before = self.stop_gap / overlap.closing_speed;
        overlap.start_gap > self.clearance
            && (overlap.exit <= 0.0
                || overlap.enter >= overlap.exit
                || overlap.enter - before >= 1.0)
    }
}
