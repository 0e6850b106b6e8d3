//! Linear casts of two boxes, of a box and a segment, and of two polygons of few edges, all without
//! radii. The projections onto separating axes overlap in intervals of time: see
//! `analytic/swept_boxes.rs` and `analytic/swept_polygons.rs`. The axis on which the projections
//! begin to overlap last is the contact normal. For boxes with radii, only a miss is certain.

use crate::{
    query::{
        analytic::{BoxPair, SweptBoxes, SweptOverlap, SweptPolygons},
        cast::{CastScale, CertifiedTouch, FastCast, Uncertain},
        gjk::Penetration,
        minkowski::MinkowskiDifference,
    },
    space::DVector,
};

/// Returns the first touch of two boxes, or of two polygons if `boxes` is `None`.
pub fn swept_touch<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    boxes: Option<BoxPair<D>>,
    velocity: D,
    scale: &CastScale,
) -> FastCast<CertifiedTouch<D>> {
    let speed = velocity.length();
    let has_radius = pair.radius_sum() > 0.0;
    // If the motion is not longer than the clearance, rounding may decide the result.
    if speed <= scale.clearance() {
        return Err(Uncertain);
    }
    let Some(mut boxes) = boxes else {
        if has_radius {
            return Err(Uncertain);
        }
        let swept = SweptPolygons::new(pair, velocity, scale.slack, scale.size);
        let swept = swept.ok_or(Uncertain)?;
        return at_overlap(&swept.overlap, pair, velocity, scale, |safe| {
            let contact = swept.contact(velocity * safe, scale.size)?;
            Some((contact, swept.has_edges()))
        });
    };
    let mut swept = SweptBoxes::new(velocity, pair.radius_sum(), scale.slack);
    swept.add_faces(&boxes);
    if passes(&swept.overlap, scale) {
        return Ok(None);
    }
    if has_radius {
        return Err(Uncertain);
    }
    swept.add_edges(&boxes);
    let start = boxes.relative.translation;
    at_overlap(&swept.overlap, pair, velocity, scale, |safe| {
        boxes.relative.translation = start + velocity * safe;
        let axis = swept.axis(&boxes)?;
        Some((boxes.contact(&axis), axis.has_faces()))
    })
}

/// Returns the outcome for cores without radii, given the interval in which they overlap. `contact`
/// returns the contact at a time shortly before the overlap. For each core, `contact` also returns
/// `true` if the contact normal is the normal of a face.
fn at_overlap<D: DVector>(
    overlap: &SweptOverlap,
    pair: &impl MinkowskiDifference<Vector = D>,
    velocity: D,
    scale: &CastScale,
    contact: impl FnOnce(f64) -> Option<(Penetration<D>, [bool; 2])>,
) -> FastCast<CertifiedTouch<D>> {
    if passes(overlap, scale) {
        return Ok(None);
    }
    let speed = velocity.length();
    let end = scale.probed_end(overlap.enter, speed);
    if overlap.start_gap <= scale.clearance() || !overlap.overlaps_deeply(end) {
        return Err(Uncertain);
    }
    let safe = (overlap.enter - scale.stop_gap / overlap.closing_speed).max(0.0);
    let step = overlap.enter - safe;
    if !scale.is_short(step, speed) {
        return Err(Uncertain);
    }
    let (cores, is_on_face) = contact(safe).ok_or(Uncertain)?;
    Ok(Some(CertifiedTouch {
        safe,
        touching: scale.touching_time(safe, step, speed),
        cores: cores.with_opposite_points(&pair.with_second_moved(velocity * safe)),
        is_on_face,
    }))
}

/// Returns `true` if the cores certainly do not overlap before the end of the motion.
fn passes(overlap: &SweptOverlap, scale: &CastScale) -> bool {
    let before = scale.stop_gap / overlap.closing_speed;
    overlap.start_gap > scale.clearance()
        && (overlap.exit <= 0.0 || overlap.enter >= overlap.exit || overlap.enter - before >= 1.0)
}
