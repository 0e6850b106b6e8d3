//! Casts colliders by casting their parts.
//!
//! The casts of swept and of one-way colliders call [`cast_parts`]. The functions of `query` and
//! spatial queries call [`cast_in_world`].
//!
//! A pair of parts is cast only if the boxes of the two parts touch during the motion, before the
//! earliest hit so far. If a collider rotates, the box of each part contains the part during the
//! whole rotation.

use core::cell::LazyCell;

use crate::{
    collider_query::{
        facet_times::FacetTimes,
        first_touch::FirstTouch,
        moving_colliders::{Moving, MovingColliders, PartPair, time_to_close},
        pair::{END_SEARCH, FacetFilter, deepest_contact, in_order, origins},
    },
    placed::{BoundingRegion, DynPart, PartContact, offsets},
    query::{CastHit, CastHit64, CastOptions, CastStatus, Counter, Motion64, cast_moving},
    shape::{Bounds, HalfSpace},
    space::{DVector, Space},
};

/// A body inside a union of cells may leave the union if its motion opposes the contact normal, or
/// if the sine of the angle between the motion and the face is at most this value. The value
/// exceeds the rounding of normals to `f32`.
const LEAVING_SINE: f64 = 1e-6;

/// Returns the first touch of two moving colliders or shapes.
///
/// If parts overlap at the start, the contact is the result of [`deepest_contact`]. With
/// [`leave_overlaps`](CastOptions::leave_overlaps), the contact is the deepest contact whose
/// overlap increases. If a facet of a one-sided surface is ignored at the start, the cast never
/// hits this facet.
///
/// The function also returns the indices of the parts that touch.
pub fn cast_parts<V: Space>(
    (a, motion_a): Moving<V>,
    (b, motion_b): Moving<V>,
    options: CastOptions,
) -> Option<(CastHit64<V::DVec>, PartPair)> {
    let convex = a.convex().zip(b.convex());
    let (mut hit, mut parts) = match convex {
        Some(((shape_a, pose_a), (shape_b, pose_b))) => {
            let (moving_a, moving_b) = ((&pose_a, &motion_a), (&pose_b, &motion_b));
            let hit = cast_moving(&shape_a, moving_a, &shape_b, moving_b, None, options)?;
            (hit, (0, 0))
        }
        None => cast_of_parts((a, motion_a), (b, motion_b), options)?,
    };
    if hit.status == CastStatus::Overlapping && !options.leave_overlaps {
        if let Some(start) = deepest_contact(a, b) {
            hit.contact = start.contact;
            hit.face_normal = start.contact.normal;
            parts = start.parts;
        } else if a.is_member() || b.is_member() {
            // The body overlaps this member, but another member of the ground has the contact.
            return None;
        }
    }
    Some((hit, parts))
}

/// Returns the first touch of two moving colliders or shapes, of which at least one has several
/// parts.
fn cast_of_parts<V: Space>(
    (a, motion_a): Moving<V>,
    (b, motion_b): Moving<V>,
    options: CastOptions,
) -> Option<(CastHit64<V::DVec>, PartPair)> {
    let (first, second, is_swapped) = in_order(a, b);
    let counter = Counter::default();
    let facets = LazyCell::new(|| FacetFilter::new(first, second, &counter));
    let is_one_sided = first.is_one_sided() || second.is_one_sided();
    let pair = MovingColliders::new([(a, motion_a), (b, motion_b)], is_swapped);
    let same_time = pair.same_time();
    let mut found = FirstTouch::new(same_time);
    let ignores = |indices| is_one_sided && facets.ignores(indices);
    let owns = |(part_a, part_b)| first.owns(part_a) && second.owns(part_b);
    let inside = is_one_sided.then(|| facets.inside(first, second)).flatten();
    if inside == Some(true) {
        let PartContact { parts, contact } = deepest_contact(a, b)?;
        let velocity = pair.velocity(&contact);
        let leaves = velocity.dot(contact.normal) <= LEAVING_SINE * velocity.length();
        if !(leaves && options.leave_overlaps) {
            let overlapping = CastStatus::Overlapping;
            return Some((
                CastHit64::at_start(overlapping, contact, contact.normal),
                parts,
            ));
        }
    }
    // Casts two parts. `normal` is the `facet_normal` of `cast_moving`. Returns the new limit and,
    // if the parts touch, the normal and the time of the touch.
    let cast = |found: &mut FirstTouch<_>, [part_a, part_b]: [&DynPart<V>; 2], parts, normal| {
        let indices = pair.reordered(parts);
        if ignores(indices) {
            return (found.limit(), None);
        }
        let [offset_a, offset_b] = offsets(origins(&a, &b), [part_a, part_b]);
        let motions = [(motion_a, offset_a), (motion_b, offset_b)];
        let [of_a, of_b] = motions.map(|(motion, offset)| Motion64 {
            pivot: -offset,
            ..motion
        });
        let (shape_a, shape_b) = (part_a.scaled_shape(), part_b.scaled_shape());
        let (pose_a, pose_b) = (part_a.world_pose.pose(), part_b.world_pose.pose());
        let (moving_a, moving_b) = ((&pose_a, &of_a), (&pose_b, &of_b));
        let hit = cast_moving(&shape_a, moving_a, &shape_b, moving_b, normal, options);
        let Some(mut hit) = hit else {
            return (found.limit(), None);
        };
        if hit.status != CastStatus::Hit && facets.ignores_touch(indices) {
            return (found.limit(), None);
        }
        // The points of the contact are relative to the parts. `moved` makes these points relative
        // to the colliders.
        hit.contact =
            hit.contact.moved(motions.map(|(motion, offset)| {
                V::DVec::rotation(motion.rotation * hit.touching) * offset
            }));
        if (options.leave_overlaps || hit.status != CastStatus::Overlapping)
            && pair.continues_overlap(indices, &hit.contact, hit.touching, ignores)
        {
            return (found.limit(), None);
        }
        let touch = Some((hit.contact.normal, hit.touching));
        let is_own = owns(indices);
        found.add(hit, indices, is_own);
        if hit.status == CastStatus::Overlapping && !options.leave_overlaps && is_own {
            // The caller computes the contact at the start from all parts, so the search ends here.
            return (END_SEARCH, None);
        }
        (found.limit(), touch)
    };
    let mut times = FacetTimes::new(&pair);
    let of_surface = times.as_mut().and_then(|times| {
        let [surface, body] = times.in_order(a, b);
        body.with_convex_part(times.region(), |body| {
            times.search(|times, facet| {
                let parts = |times: &FacetTimes<V>, facet| times.in_order(facet, 0).into();
                let moving = times.facet(facet)?;
                let is_own = owns(pair.reordered(parts(times, facet)));
                let landing = times.landing(facet, &moving);
                let landing = landing.map(|(facet, hit)| (facet, hit, parts(times, facet)));
                let landing = landing.filter(|(_, _, parts)| {
                    let landed = pair.reordered(*parts);
                    !ignores(landed) && owns(landed) == is_own
                });
                let (facet, limit, touch) = if let Some((facet, hit, parts)) = landing {
                    found.add(hit, pair.reordered(parts), is_own);
                    let touch = Some((hit.contact.normal, hit.touching));
                    (facet, found.limit(), touch)
                } else if times.passes(&moving) {
                    return None;
                } else {
                    let parts = parts(times, facet);
                    let normal = times.second_normal(&moving);
                    let (limit, touch) = surface.with_part(facet, |part| {
                        cast(&mut found, times.in_order(part, body), parts, normal)
                    })?;
                    (facet, limit, touch)
                };
                if let Some((normal, time)) = touch.filter(|_| is_own) {
                    times.add_touch(facet, normal, time, same_time);
                }
                Some(limit)
            })
        })?
    });
    if of_surface.is_none() {
        search_swept(&pair, |bodies, parts| {
            cast(&mut found, bodies, parts, None).0
        });
    }
    let (hit, parts) = found.finish(&pair)?;
    Some((hit, pair.reordered(parts)))
}

/// Returns the first touch of two moving colliders or shapes in the world.
pub fn cast_in_world<V: Space>(
    a: Moving<V>,
    b: Moving<V>,
    options: CastOptions,
) -> Option<CastHit<V>> {
    let (hit, parts) = cast_parts(a, b, options)?;
    Some(hit.in_world(parts, |time| {
        [&a, &b].map(|(placed, motion)| placed.translation() + motion.translation * time)
    }))
}

/// A region that contains a collider or a part during the whole rotation. The region does not
/// include the translation.
enum SweptRegion<D> {
    Box(Bounds<D>),
    /// A half-space, and the origin to which the half-space is relative.
    HalfSpace(HalfSpace<D>, D),
    Anywhere,
}

impl<D: DVector> SweptRegion<D> {
    /// Returns a region that contains `region` during a rotation by `angle` about `pivot`. If
    /// `region` is a half-space, it is relative to `origin`.
    fn new(region: &BoundingRegion<D>, origin: D, pivot: D, angle: f64) -> Self {
        match region {
            BoundingRegion::Box(bounds) => Self::Box(bounds.around_rotation(pivot, angle)),
            BoundingRegion::HalfSpace(half_space) if angle == 0.0 => {
                Self::HalfSpace(*half_space, origin)
            }
            BoundingRegion::HalfSpace(_) => Self::Anywhere,
        }
    }

    /// Returns a lower bound on the time at which another region, which moves by `translation`,
    /// begins to touch this region. The bound is infinite if the regions do not touch.
    fn entry(&self, other: &Self, translation: D) -> f64 {
        match (self, other) {
            (Self::Box(own), Self::Box(other)) => own.entry(other, translation),
            (Self::HalfSpace(half_space, origin), Self::Box(bounds)) => {
                let gap = bounds.gap_to_half_space(half_space, *origin);
                time_to_close(gap, -half_space.normal.dot(translation))
            }
            (Self::Box(_), Self::HalfSpace(..)) => other.entry(self, -translation),
            _ => 0.0,
        }
    }
}

/// Calls `visit` with each pair of parts that may touch before the current limit, and with the
/// indices of the parts. Pairs that may touch early come first. The limit starts at 1, and each
/// result of `visit` replaces the limit.
fn search_swept<V: Space>(
    pair: &MovingColliders<V>,
    mut visit: impl FnMut([&DynPart<V>; 2], PartPair) -> f64,
) {
    let [(a, motion_a), (b, motion_b)] = pair.moving;
    let [_, Some(region)] = &pair.regions else {
        return;
    };
    let [angle_a, angle_b] =
        [motion_a, motion_b].map(|motion| V::DVec::angle_size(motion.rotation));
    let translation = motion_b.translation - motion_a.translation;
    let (pivot_a, pivot_b) = (a.translation(), b.translation());
    let all_of_b = SweptRegion::new(region, pivot_b, pivot_b, angle_b);
    let box_of_a =
        |bounds: &_| SweptRegion::new(&BoundingRegion::Box(*bounds), pivot_a, pivot_a, angle_a);
    let box_of_b =
        |bounds: &_| SweptRegion::new(&BoundingRegion::Box(*bounds), pivot_b, pivot_b, angle_b);
    let mut limit = 1.0;
    let entry_of_a = |bounds: &_| box_of_a(bounds).entry(&all_of_b, translation);
    a.search(limit, entry_of_a, |index_a| {
        a.with_part(index_a, |part_a| {
            let origin = part_a.world_pose.translation;
            let own = SweptRegion::new(&part_a.region, origin, pivot_a, angle_a);
            let entry_of_b = |bounds: &_| own.entry(&box_of_b(bounds), translation);
            b.search(limit, entry_of_b, |index_b| {
                b.with_part(index_b, |part_b| {
                    let origin = part_b.world_pose.translation;
                    let other = SweptRegion::new(&part_b.region, origin, pivot_b, angle_b);
                    if own.entry(&other, translation) <= limit {
                        limit = visit([part_a, part_b], (index_a, index_b));
                    }
                });
                limit
            });
        });
        limit
    });
}
