//! Two convex polygons in linear motion: separating axes over time.
//!
//! In the symbols of `polygons.rs`, let v be the velocity of the second polygon. The gap g changes
//! at the constant rate r = n·v for an edge of the first polygon, and -n·v for an edge of the
//! second. The Minkowski difference is the polygon of these edges, so the polygons overlap while
//! all gaps are negative:
//!
//! * from the greatest t = -g / r of the edges with r < 0 (the edge with this t is in contact),
//! * to the least t = -g / r of the edges with r > 0.
//!
//! The gap between an edge and a circle inside the other polygon is an upper bound on g. This bound
//! excludes most edges before their vertices are tested.

use crate::{
    query::{
        analytic::{
            SweptOverlap,
            polygons::{PlacedPolygon, PolygonSide, contact_along, placed},
        },
        gjk::Penetration,
        minkowski::MinkowskiDifference,
    },
    space::DVector,
    tolerance::{FLAT_DEPTH, ROUNDING},
};

/// Two polygons, in the frame of the first polygon, and the interval in which they overlap.
pub struct SweptPolygons<'a, D: DVector> {
    polygons: [PlacedPolygon<'a, D>; 2],
    pub overlap: SweptOverlap,
    /// The edge in contact when the overlap begins.
    side: Option<PolygonSide>,
}

impl<'a, D: DVector> SweptPolygons<'a, D> {
    /// Solves a pair of polygons, and returns `None` for other pairs. Overlaps deeper than `depth`
    /// are not mere touches.
    #[inline(never)]
    pub fn new(
        pair: &'a impl MinkowskiDifference<Vector = D>,
        velocity: D,
        depth: f64,
        size: f64,
    ) -> Option<Self> {
        let polygons = placed(pair)?;
        let mut overlap = SweptOverlap::new(depth);
        let mut found = None;
        let [first, second] = &polygons;
        for (own, other, velocity, is_of_first) in [
            (first, second, velocity, true),
            (second, first, -velocity, false),
        ] {
            for (index, bound) in own.bounds(other).enumerate() {
                let normal = own.normal(index);
                let rate = normal.dot(velocity);
                let duration = 1.0 / rate.abs();
                let is_resting = rate.abs() <= ROUNDING * size;
                if !is_resting && !overlap.may_change(bound, -rate, duration) {
                    continue;
                }
                let gap = own.gap(index, normal, other);
                overlap.start_gap = overlap.start_gap.max(gap);
                if is_resting {
                    overlap.add_resting(gap);
                } else if rate > 0.0 {
                    overlap.end(-gap * duration, duration);
                } else if overlap.begin(gap * duration, duration, 0.0) {
                    found = Some(PolygonSide { index, is_of_first });
                }
            }
        }
        Some(Self {
            polygons,
            overlap,
            side: found,
        })
    }

    /// Returns, for each polygon, `true` if the edge in contact is one of its edges.
    pub fn has_edges(&self) -> [bool; 2] {
        let is_of_first = self.side.map(|side| side.is_of_first);
        [is_of_first == Some(true), is_of_first == Some(false)]
    }

    /// Returns the contact along the normal of the edge in contact, with the second polygon moved
    /// by `translation`.
    pub fn contact(&self, translation: D, scale: f64) -> Option<Penetration<D>> {
        Some(contact_along(
            &self.polygons,
            self.side?,
            translation,
            FLAT_DEPTH * scale,
            scale,
        ))
    }
}
