//! The first touch of a cast among the outcomes of several pairs of parts.
//!
//! At a seam, a shape touches several parts at the same time: one with a face, others with an edge,
//! or with a side that lies between two parts. The contact of each pair is correct by itself. But
//! only a normal that separates the shape from all these parts shows where the surface of the whole
//! collider is. So the first outcome is the one whose normal separates the most parts.

use smallvec::SmallVec;

use crate::{
    query::{CastLocal, length_to_f32},
    space::DVector,
};

/// The indices of two parts, in an order that does not depend on the arguments of the cast.
type Parts = (u32, u32);

/// Unit normals are equal if their scalar product is at most this much less than 1: an angle of
/// 4.5e-5, more than the errors of contact normals on faces, which are at most 1e-6.
const SAME_NORMAL: f64 = 1e-9;

/// The outcome of a pair of parts.
struct PartOutcome<D> {
    cast: CastLocal<D>,
    parts: Parts,
    touching: f64,
}

/// The earliest outcomes so far.
pub struct FirstTouch<D> {
    /// The outcomes at the earliest time of touching.
    found: SmallVec<[PartOutcome<D>; 4]>,
    /// Until this time no pair overlaps.
    safe: f64,
    /// The earliest time of touching.
    touching: f64,
    /// Times that differ by at most this much are equal.
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

    /// Returns the time after which a pair does not matter.
    pub fn limit(&self) -> f64 {
        (self.touching + self.same_time).min(1.0)
    }

    /// Adds the outcome of a pair.
    pub fn add(&mut self, cast: CastLocal<D>, parts: Parts) {
        let Some(touching) = cast.touching_time() else {
            return;
        };
        if let CastLocal::Hit { safe, .. } = cast {
            self.safe = self.safe.min(safe);
        }
        self.touching = self.touching.min(touching);
        let limit = self.limit();
        self.found.retain(|outcome| outcome.touching <= limit);
        if touching <= limit {
            self.found.push(PartOutcome {
                cast,
                parts,
                touching,
            });
        }
    }

    /// Returns the first outcome: the deepest overlap at the start, or else the hit whose normal
    /// separates the most of the parts that are touched first. `separates` returns `true` if two
    /// parts do not overlap along the given normal at the given time. Also returns the parts of the
    /// outcome.
    pub fn finish(self, separates: impl Fn(D, f64, Parts) -> bool) -> (CastLocal<D>, Parts) {
        let mut ranks = Ranks::default();
        let mut rank = |outcome: &PartOutcome<D>| match &outcome.cast {
            // Events compare depths in f32, so this does, too.
            CastLocal::Overlapping(contact) => -1.0 - f64::from(length_to_f32(contact.depth)),
            CastLocal::Hit { contact, .. } | CastLocal::Touching { contact, .. }
                if self.found.len() > 1 =>
            {
                ranks.of(contact.normal, || {
                    let overlaps = |other: &&PartOutcome<D>| {
                        !separates(contact.normal, outcome.touching, other.parts)
                    };
                    self.found.iter().filter(overlaps).count() as f64
                })
            }
            _ => 0.0,
        };
        let ranked: SmallVec<[f64; 4]> = self.found.iter().map(&mut rank).collect();
        let first = ranked
            .iter()
            .zip(&self.found)
            .min_by(|(rank_a, a), (rank_b, b)| {
                let times = a.touching.total_cmp(&b.touching);
                let ranks = rank_a.total_cmp(rank_b);
                ranks.then(times).then(a.parts.cmp(&b.parts))
            });
        let Some((_, outcome)) = first else {
            return (CastLocal::Miss, (0, 0));
        };
        let mut cast = outcome.cast;
        if let CastLocal::Hit { safe, .. } = &mut cast {
            *safe = self.safe;
        }
        (cast, outcome.parts)
    }
}

/// The ranks of normals. A mesh of many facets has few different normals at a contact.
#[derive(Default)]
struct Ranks<D>(SmallVec<[(D, f64); 4]>);

impl<D: DVector> Ranks<D> {
    /// Returns the rank of a normal, and computes it if no equal normal is known.
    fn of(&mut self, normal: D, rank: impl FnOnce() -> f64) -> f64 {
        let mut known = self.0.iter();
        let same = known.find(|(other, _)| normal.dot(*other) > 1.0 - SAME_NORMAL);
        if let Some((_, rank)) = same {
            return *rank;
        }
        let rank = rank();
        self.0.push((normal, rank));
        rank
    }
}
