//! Casts of two balls. Let c be the vector between the centers at the start, v the relative
//! velocity, and R the sum of the radii. The balls touch when |c + t v| = R. The cast ends at the
//! margin before this time: see [`CastScale::stop_gap`].

use crate::{
    query::{
        Contact64,
        cast::{CastHit64, CastScale, CastStatus, FastCast, Moving64, Uncertain},
    },
    shape::{DVecOf, Support},
    space::DVector,
};

/// Returns the outcome of a cast of two balls. The outcome is uncertain for other shapes, for balls
/// that rotate about another point than their centers, and for balls that touch at the start.
// The function is inlined, because passing the poses and the motions through memory would take as
// long as the cast.
#[inline(always)]
pub fn cast_balls<A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized>(
    a: &A,
    (pose_a, motion_a): Moving64<DVecOf<A>>,
    b: &B,
    (pose_b, motion_b): Moving64<DVecOf<A>>,
) -> FastCast<CastHit64<DVecOf<A>>> {
    let are_balls = a.core().is_point() && b.core().is_point();
    let [radius_a, radius_b] = [a.radius(), b.radius()];
    let are_valid = radius_a >= 0.0 && radius_b >= 0.0;
    if !are_balls || !are_valid || motion_a.rotates(a) || motion_b.rotates(b) {
        return Err(Uncertain);
    }
    let radius_sum = radius_a + radius_b;
    let center = pose_b.translation - pose_a.translation;
    let velocity = motion_b.translation - motion_a.translation;
    let travel = motion_a.translation.extent() + motion_b.translation.extent() + center.extent();
    let scale = CastScale::of_size(radius_sum, travel).ok_or(Uncertain)?;
    let near = radius_sum + scale.clearance();
    if center.length_squared() <= near * near {
        return Err(Uncertain);
    }
    let square = velocity.length_squared();
    let nearest = -center.dot(velocity) / square;
    let aside = (center + velocity * nearest).length_squared();
    let reach = radius_sum + scale.stop_gap;
    let root = reach * reach - aside;
    // Without a velocity, these values are NaN.
    let is_approaching = nearest > 0.0 && root >= 0.0;
    let speed = square.sqrt();
    let time = nearest - root.max(0.0).sqrt() / speed;
    if !is_approaching || time >= 1.0 {
        return Ok(None);
    }
    let at = center + velocity * time;
    let normal = at.unit().ok_or(Uncertain)?;
    let gap = at.length() - radius_sum;
    let closing_speed = -normal.dot(velocity);
    let deepest = nearest.min(scale.probed_end(time, speed));
    let depth = radius_sum - (center + velocity * deepest).length();
    let is_certain = gap > 0.0 && gap <= 2.0 * scale.margin && depth > scale.slack;
    if !is_certain || closing_speed <= 0.0 {
        return Err(Uncertain);
    }
    Ok(Some(CastHit64 {
        status: CastStatus::Hit,
        safe: time,
        touching: scale.touching_time(time, gap / closing_speed, speed),
        contact: Contact64 {
            normal,
            depth: 0.0,
            offset_a: normal * radius_a,
            offset_b: normal * -radius_b,
        },
        face_normal: normal,
    }))
}
