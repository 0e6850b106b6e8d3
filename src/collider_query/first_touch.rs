//! Selects the first touch of a cast. The *outcome* of a pair of parts is the hit that its cast
//! returns.
//!
//! At a seam, a shape touches several parts at the same time. One part is touched at a face, and
//! other parts at an edge, or at a side that another part covers. The contact of each pair is
//! correct. But only a normal that separates the shape from all these parts is a normal of the
//! whole collider's surface. So the outcome whose normal separates the shape from the most parts
//! comes first. If this normal does not separate the shape from all of them, the normal of a facet
//! may replace it.
//!
//! **The face normal.** The cast of a pair of parts finds only the faces of these two parts. So the
//! face is selected among all parts that are touched along the contact normal. For example, a ball
//! at the edge of a step touches two segments at the same point. The rules are the same as for one
//! shape, in `query/cast/face_normal.rs`:
//!
//! * A face whose normal is the contact normal is in contact, and comes first.
//! * Otherwise, the visible face that opposes the motion most is chosen. A face is hidden if
//!   another touched part rises in front of its plane. For example, the back of a segment and the
//!   side between two boxes are hidden.
//! * If all faces are hidden, as between the ridges of a peak, only those faces count whose normals
//!   have a positive component along the contact normal.
//! * Among equal faces, the order of their normals decides, not the order of the parts.

use smallvec::SmallVec;

use crate::{
    collider_query::moving_colliders::{MovingColliders, PartPair, SAME_NORMAL_COSINE},
    query::{CastHit64, CastStatus, length_to_f32},
    space::{DVector, Space},
};

/// Two parts may be touched at the same point if the times of touching differ by at most this
/// multiple of the tolerance for equal times. If a facet is a thousand times larger than the body,
/// the time of the cast against this facet is a thousand times less precise. Then the height of the
/// part along the normal decides whether the part is touched at this point. The search skips a part
/// only if the part certainly touches nothing before [`FirstTouch::limit`]. So the search visits
/// each part that is touched at this point, in any order.
const SAME_POINT_TIMES: f64 = 1e3;

/// The outcome of a pair of parts.
struct PartOutcome<D> {
    hit: CastHit64<D>,
    parts: PartPair,
    /// `false` if a part belongs to another member of the ground. Such an outcome is not returned,
    /// but decides which normal separates the shape from the whole ground.
    is_own: bool,
}

/// The earliest outcomes so far.
pub struct FirstTouch<D> {
    /// The outcomes at the earliest time of touching, and the outcomes of parts that may be touched
    /// at the same point.
    found: SmallVec<[PartOutcome<D>; 4]>,
    /// The time until which no pair overlaps.
    safe: f64,
    /// The earliest time of touching.
    touching: f64,
    /// Two times count as equal if they differ by at most this value.
    same_time: f64,
}

impl<D: DVector> FirstTouch<D> {
    pub fn new(same_time: f64) -> Self {
        Self {
            found: SmallVec::new(),
            safe: 1.0,
            touching: f64::INFINITY,
            same_time,
        }
    }

    /// Returns the time after which no pair can have the first touch.
    pub fn limit(&self) -> f64 {
        (self.touching + self.same_time).min(1.0)
    }

    /// Adds the outcome of a pair of parts.
    pub fn add(&mut self, hit: CastHit64<D>, parts: PartPair, is_own: bool) {
        if hit.status == CastStatus::Hit && is_own {
            self.safe = self.safe.min(hit.safe);
        }
        if is_own {
            self.touching = self.touching.min(hit.touching);
        }
        let latest = self.touching + SAME_POINT_TIMES * self.same_time;
        self.found.retain(|outcome| outcome.hit.touching <= latest);
        if hit.touching <= latest {
            self.found.push(PartOutcome { hit, parts, is_own });
        }
    }

    /// Returns the first outcome, and its parts. If parts overlap at the start, the first outcome
    /// is the deepest overlap. Otherwise, the first outcome is the hit whose normal separates the
    /// shape from the most parts that are touched first.
    pub fn finish<V: Space<DVec = D>>(
        &self,
        pair: &MovingColliders<V>,
    ) -> Option<(CastHit64<D>, PartPair)> {
        let first = self.first(pair)?;
        let mut hit = first.hit;
        if hit.status == CastStatus::Hit {
            hit.safe = self.safe;
        }
        if hit.status == CastStatus::Overlapping {
            return Some((hit, first.parts));
        }
        if let Some(normal) = self.facet_normal(first, pair) {
            hit.contact.normal = normal;
            hit.face_normal = normal;
        } else {
            hit.face_normal = self.face_normal(first, pair);
        }
        Some((hit, first.parts))
    }

    /// Returns the normal of a facet that separates the shape from all parts that are touched at
    /// the same point, and that opposes the motion. Returns `None` if the normal of the first hit
    /// separates the shape already, or if there is no such facet. For example, rounding may raise
    /// the top of a box above the top of the box beside it. A corner that lands between the two
    /// touches only the edge of the higher box. In a union, all facets at the point count as
    /// touched. In other surfaces, only the facets of the hits do.
    ///
    /// If a body that already overlaps a union gets deeper, no facet separates it. Then the normal
    /// of the touched facet is returned, for example at the edge of the next part of a floor.
    fn facet_normal<V: Space<DVec = D>>(
        &self,
        first: &PartOutcome<D>,
        pair: &MovingColliders<V>,
    ) -> Option<D> {
        let (contact, time) = (&first.hit.contact, first.hit.touching);
        let normals_of = |parts| pair.facet_normals(parts, time, contact.normal);
        let mut own = normals_of(first.parts).peekable();
        own.peek()?;
        if own.any(|facet| facet.dot(contact.normal) > SAME_NORMAL_COSINE) {
            return None;
        }
        let touched = self.found.iter();
        let touched = touched.filter(|it| it.hit.status != CastStatus::Overlapping);
        let mut touched: SmallVec<[PartPair; 8]> = touched.map(|it| it.parts).collect();
        let mut overlaps = false;
        pair.visit_touched_facets(first.parts, contact, time, |parts| {
            overlaps |= parts != first.parts && pair.overlaps_facet(parts, contact.normal, time);
            if !touched.contains(&parts) {
                touched.push(parts);
            }
        });
        let is_clear = |normal: &D| touched.iter().all(|it| pair.separates(*normal, time, *it));
        if touched.len() == 1 || is_clear(&contact.normal) {
            return None;
        }
        let velocity = pair.velocity(contact);
        let facets = touched.iter();
        let facets = facets.flat_map(|parts| normals_of(*parts).map(move |it| (it, parts)));
        let clear = facets.filter(|(normal, _)| normal.dot(velocity) >= 0.0 && is_clear(normal));
        let best = clear.max_by(|(a, parts_a), (b, parts_b)| {
            let cosines = a.dot(contact.normal).total_cmp(&b.dot(contact.normal));
            cosines.then_with(|| parts_b.cmp(parts_a))
        });
        if let Some((normal, _)) = best {
            return Some(normal);
        }
        let own = pair.union_normals(first.parts, time);
        let entered = own.filter(|normal| overlaps && normal.dot(velocity) > 0.0);
        entered.max_by(|a, b| a.dot(contact.normal).total_cmp(&b.dot(contact.normal)))
    }

    /// Returns the first outcome: see [`Self::finish`].
    fn first<V: Space<DVec = D>>(&self, pair: &MovingColliders<V>) -> Option<&PartOutcome<D>> {
        let limit = self.limit();
        let earliest = self
            .found
            .iter()
            .filter(|outcome| outcome.hit.touching <= limit);
        let earliest: SmallVec<[_; 4]> = earliest.collect();
        let mut ranks = NormalRanks::default();
        let mut rank = |PartOutcome { hit, .. }: &PartOutcome<D>| match hit.status {
            // Events compare depths that are rounded to f32, so casts do so, too.
            CastStatus::Overlapping => -1.0 - f64::from(length_to_f32(hit.contact.depth)),
            CastStatus::Hit | CastStatus::Touching if earliest.len() > 1 => {
                let normal = hit.contact.normal;
                ranks.find_or_compute(normal, || {
                    let parts = earliest.iter().map(|other| other.parts);
                    let overlaps = |parts: &_| !pair.separates(normal, hit.touching, *parts);
                    parts.filter(overlaps).count() as f64
                })
            }
            _ => 0.0,
        };
        let own = earliest.iter().filter(|outcome| outcome.is_own);
        let ranked = own.map(|outcome| (rank(outcome), *outcome));
        let first = ranked.min_by(|(rank_a, a), (rank_b, b)| {
            let times = a.hit.touching.total_cmp(&b.hit.touching);
            let ranks = rank_a.total_cmp(rank_b);
            ranks.then(times).then(a.parts.cmp(&b.parts))
        });
        first.map(|(_, outcome)| outcome)
    }

    /// Returns the face normal at the first touch: see the file head.
    fn face_normal<V: Space<DVec = D>>(
        &self,
        first: &PartOutcome<D>,
        pair: &MovingColliders<V>,
    ) -> D {
        let (normal, own, time) = (
            first.hit.contact.normal,
            first.hit.face_normal,
            first.hit.touching,
        );
        if self.found.len() == 1 || own == normal {
            return own;
        }
        let mut faces: SmallVec<[TouchedFace<D>; 4]> = SmallVec::new();
        for PartOutcome { hit, parts, .. } in &self.found {
            if hit.status == CastStatus::Overlapping || !pair.touches(normal, time, *parts) {
                continue;
            }
            if hit.face_normal == hit.contact.normal {
                return normal;
            }
            faces.push(TouchedFace {
                normal: hit.face_normal,
                opposition: hit.face_normal.dot(pair.velocity(&hit.contact)),
                parts: *parts,
            });
        }
        faces.sort_unstable_by(|a, b| {
            let oppositions = b.opposition.total_cmp(&a.opposition);
            oppositions.then_with(|| a.normal.total_cmp(b.normal))
        });
        let mut parts: SmallVec<[PartPair; 4]> = faces.iter().map(|face| face.parts).collect();
        let is_visible = |face: &&TouchedFace<D>| {
            let front = -face.normal;
            let rises = |other: &PartPair| pair.is_higher(*other, face.parts, front, time);
            let Some(index) = parts.iter().position(rises) else {
                return true;
            };
            // The part that hides this face often hides the next face, too. So this part moves to
            // the front.
            parts.swap(0, index);
            false
        };
        let is_front = |face: &&TouchedFace<D>| face.normal.dot(normal) > 0.0;
        let visible = faces.iter().find(is_visible);
        let face = visible.or_else(|| faces.iter().find(is_front));
        // If rounding exceeds `same_height` (0 if a collider is a point), no face is found. The
        // earliest hit's own normal is used then.
        face.map_or(own, |face| face.normal)
    }
}

/// A face at the first touch.
struct TouchedFace<D> {
    /// The unit normal from the first collider to the second.
    normal: D,
    /// The speed of the first collider against the face.
    opposition: f64,
    parts: PartPair,
}

/// The normals so far and their ranks, so that equal normals are ranked only once. A mesh of many
/// facets has few different normals at a contact.
#[derive(Default)]
struct NormalRanks<D>(SmallVec<[(D, f64); 4]>);

impl<D: DVector> NormalRanks<D> {
    /// Returns the rank of a normal. Computes and stores the rank if no equal normal is stored.
    fn find_or_compute(&mut self, normal: D, rank: impl FnOnce() -> f64) -> f64 {
        let mut known = self.0.iter();
        let same = known.find(|(other, _)| normal.dot(*other) > SAME_NORMAL_COSINE);
        if let Some((_, rank)) = same {
            return *rank;
        }
        let rank = rank();
        self.0.push((normal, rank));
        rank
    }
}
