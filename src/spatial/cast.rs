//! Casts of colliders, by their parts.
//!
//! Boxes prune the pairs of parts: a pair is solved only if its boxes touch during the motion,
//! before the earliest hit so far. The box of a side that rotates is replaced by one around all its
//! rotations.

use crate::{
    pipeline::proxy::BoundingRegion,
    query::{Cast, CastLocal, CastOptions, Counter, MotionLocal, cast_moving, length_to_f32},
    shape::{Bounds, HalfSpace},
    space::{DVector, Space},
    spatial::{
        pair::{contact_of, in_order, offsets, surface_pair},
        side::{Side, SidePart},
    },
};

/// A side and its motion about its own origin.
pub type Moving<'a, V> = (Side<'a, V>, MotionLocal<<V as Space>::DVec>);

/// Returns the first touch of two moving sides.
///
/// If parts overlap at the start, the contact is that of [`contact_of`], or with
/// [`leave_overlaps`](CastOptions::leave_overlaps) the deepest of those whose overlap increases.
/// Facets of a one-sided surface that do not count at the start never count.
pub fn cast_of<V: Space>(
    (a, motion_a): Moving<V>,
    (b, motion_b): Moving<V>,
    options: CastOptions,
) -> CastLocal<V::DVec> {
    let (first, second, is_swapped) = in_order(a, b);
    let counter = Counter::default();
    let surface_pair = surface_pair(first, second, &counter);
    // Ties, too, do not depend on the order of the arguments.
    let ordered = |(a, b): (u32, u32)| if is_swapped { (b, a) } else { (a, b) };
    let mut found = Earliest::default();
    search_swept(
        [(a, motion_a), (b, motion_b)],
        |[part_a, part_b], indices| {
            let indices = ordered(indices);
            if surface_pair
                .as_ref()
                .is_some_and(|pair| pair.ignores(indices))
            {
                return found.limit();
            }
            let [offset_a, offset_b] = offsets([&a, &b], [part_a, part_b]);
            let motions = [(motion_a, offset_a), (motion_b, offset_b)];
            let [of_a, of_b] = motions.map(|(motion, offset)| MotionLocal {
                pivot: -offset,
                ..motion
            });
            let (shape_a, shape_b) = (part_a.scaled_shape(), part_b.scaled_shape());
            let moving_a = (part_a.pose(), of_a);
            let moving_b = (part_b.pose(), of_b);
            let cast = cast_moving(&shape_a, moving_a, &shape_b, moving_b, options);
            let is_at_start =
                matches!(cast, CastLocal::Overlapping(_) | CastLocal::Touching { .. });
            if is_at_start
                && surface_pair
                    .as_ref()
                    .is_some_and(|pair| !pair.touches(indices))
            {
                return found.limit();
            }
            // From the translations of the parts to those of the sides.
            let cast = cast.map_contact(|time, contact| {
                contact.moved(
                    motions
                        .map(|(motion, offset)| V::DVec::rotation(motion.rotation * time) * offset),
                )
            });
            found.add(cast, indices);
            found.limit()
        },
    );
    let mut cast = found.finish();
    if let CastLocal::Overlapping(contact) = &mut cast
        && !options.leave_overlaps
        && let Some(start) = contact_of(a, b)
    {
        *contact = start.contact;
    }
    cast
}

/// Returns the first touch of two moving sides in the world.
pub fn cast_in_world<V: Space>(a: Moving<V>, b: Moving<V>, options: CastOptions) -> Cast<V> {
    cast_of((a.0, a.1), (b.0, b.1), options).in_world(|time| {
        [&a, &b].map(|(side, motion)| side.translation() + motion.translation * time)
    })
}

/// The earliest outcome so far, with the indices of its parts in an order that does not depend on
/// the arguments.
struct Earliest<D> {
    cast: CastLocal<D>,
    parts: (u32, u32),
    /// Until this time no pair overlaps.
    safe: f64,
}

impl<D> Default for Earliest<D> {
    fn default() -> Self {
        Self {
            cast: CastLocal::Miss,
            parts: (0, 0),
            safe: 1.0,
        }
    }
}

impl<D: DVector> Earliest<D> {
    /// Returns the time after which a pair does not matter.
    fn limit(&self) -> f64 {
        self.cast.touching_time().unwrap_or(1.0)
    }

    fn add(&mut self, cast: CastLocal<D>, parts: (u32, u32)) {
        let Some(own) = cast.touching_time() else {
            return;
        };
        if let CastLocal::Hit { safe, .. } = cast {
            self.safe = self.safe.min(safe);
        }
        let is_earlier = match (&self.cast, &cast) {
            (CastLocal::Miss, _) => true,
            (CastLocal::Overlapping(best), CastLocal::Overlapping(next)) => {
                let [deepest, depth] = [best, next].map(|contact| length_to_f32(contact.depth));
                depth > deepest || depth == deepest && parts < self.parts
            }
            (CastLocal::Overlapping(_), _) => false,
            (_, CastLocal::Overlapping(_)) => true,
            (best, _) => (own, parts) < (best.touching_time().unwrap_or(1.0), self.parts),
        };
        if is_earlier {
            (self.cast, self.parts) = (cast, parts);
        }
    }

    fn finish(self) -> CastLocal<D> {
        let mut cast = self.cast;
        if let CastLocal::Hit { safe, .. } = &mut cast {
            *safe = self.safe;
        }
        cast
    }
}

/// The region that a side or a part covers while it rotates, without its translation.
enum SweptRegion<D> {
    Box(Bounds<D>),
    /// Relative to a point.
    HalfSpace(HalfSpace<D>, D),
    Anywhere,
}

impl<D: DVector> SweptRegion<D> {
    /// `origin` is the translation of a half-space. The rotation by `angle` is about `pivot`.
    fn new(region: &BoundingRegion<D>, origin: D, pivot: D, angle: f64) -> Self {
        match region {
            BoundingRegion::Box(bounds) => Self::Box(around_rotation(bounds, pivot, angle)),
            BoundingRegion::HalfSpace(half_space) if angle == 0.0 => {
                Self::HalfSpace(*half_space, origin)
            }
            BoundingRegion::HalfSpace(_) => Self::Anywhere,
        }
    }

    /// Returns a lower bound of the time at which this region and another, which moves by
    /// `translation`, begin to touch. It is infinite if they do not.
    fn entry(&self, other: &Self, translation: D) -> f64 {
        match (self, other) {
            (Self::Box(own), Self::Box(other)) => own.entry(other, translation),
            (Self::HalfSpace(half_space, origin), Self::Box(bounds)) => {
                let gap = bounds.gap_to_half_space(half_space, *origin);
                time_to_close(gap, half_space.normal.dot(translation))
            }
            (Self::Box(bounds), Self::HalfSpace(half_space, origin)) => {
                let gap = bounds.gap_to_half_space(half_space, *origin);
                time_to_close(gap, -half_space.normal.dot(translation))
            }
            _ => 0.0,
        }
    }
}

/// Returns the time after which a gap that grows by `growth` is closed.
fn time_to_close(gap: f64, growth: f64) -> f64 {
    if gap <= 0.0 {
        0.0
    } else if growth < 0.0 && gap <= -growth {
        gap / -growth
    } else {
        f64::INFINITY
    }
}

/// Returns a box around a box that rotates about a point. No point leaves its circle, and none
/// moves farther than the length of its arc.
pub fn around_rotation<D: DVector>(bounds: &Bounds<D>, pivot: D, angle: f64) -> Bounds<D> {
    let radius = (bounds.max - pivot).max(pivot - bounds.min).length();
    let (circle, arc) = (D::ONE * radius, D::ONE * (radius * angle));
    Bounds {
        min: (bounds.min - arc).max((pivot - circle).min(bounds.min)),
        max: (bounds.max + arc).min((pivot + circle).max(bounds.max)),
    }
}

/// Calls `visit` with pairs of parts and their indices, early ones first, until no pair is left
/// that may touch before the last result of `visit`, which is 1 at the start.
fn search_swept<V: Space>(
    [(a, motion_a), (b, motion_b)]: [Moving<V>; 2],
    mut visit: impl FnMut([&SidePart<V>; 2], (u32, u32)) -> f64,
) {
    let Some(region) = b.region() else {
        return;
    };
    let [angle_a, angle_b] =
        [motion_a, motion_b].map(|motion| V::DVec::angle_size(motion.rotation));
    let translation = motion_b.translation - motion_a.translation;
    let (pivot_a, pivot_b) = (a.translation(), b.translation());
    let all_of_b = SweptRegion::new(&region, pivot_b, pivot_b, angle_b);
    let box_of_a =
        |bounds: &_| SweptRegion::new(&BoundingRegion::Box(*bounds), pivot_a, pivot_a, angle_a);
    let box_of_b =
        |bounds: &_| SweptRegion::new(&BoundingRegion::Box(*bounds), pivot_b, pivot_b, angle_b);
    let mut limit = 1.0;
    a.search(
        limit,
        |bounds| box_of_a(bounds).entry(&all_of_b, translation),
        |index| {
            let Some(part) = a.part(index) else {
                return limit;
            };
            let own = SweptRegion::new(part.region(), part.pose().translation, pivot_a, angle_a);
            b.search(
                limit,
                |bounds| own.entry(&box_of_b(bounds), translation),
                |other_index| {
                    let Some(other) = b.part(other_index) else {
                        return limit;
                    };
                    let origin = other.pose().translation;
                    let others = SweptRegion::new(other.region(), origin, pivot_b, angle_b);
                    if own.entry(&others, translation) <= limit {
                        limit = visit([&part, &other], (index, other_index));
                    }
                    limit
                },
            );
            limit
        },
    );
}
