//! A body on its path, which moves up to the next touch, out of overlaps, and away from touches.

use bevy::prelude::*;

use crate::{
    placed::PlacedCollider,
    space::{DVector, shortest_translation::translation_out_of_all},
    spatial::{
        mover::{
            body::{BodyTouch, FilteredQuery, GrownBody, NearPlane},
            ground_rules::{GroundRules, LEAST_UP},
            push_out_search::{is_through, search_push_out},
            wished_motion::WishedMotion,
        },
        spatial_query::QuerySpace,
    },
};

/// The tolerance of a gap, as a fraction of the intended gap. A body corrects a gap only if the
/// error of the gap exceeds this tolerance. Otherwise, rounding would move the body in every tick.
pub const SETTLED: f64 = 0.25;

/// Motions of at most this fraction of the skin are not made. With the default skin, such motions
/// are shorter than the rounding of the position to f32.
const LEAST_MOTION: f64 = 1e-6;

/// The maximum number of times that planes push a body out of overlaps before the search for a
/// push-out begins. Flat faces need one push. The planes of curved surfaces change with each push.
const MAX_PUSHES: usize = 4;

/// The distance, in skins, by which a cast extends beyond the end of the motion. A body stops 1 /
/// (2 c) skins before the touch, where c is the sine of the angle of approach. This distance
/// exceeds four skins only at angles of less than 7 degrees.
const LOOKAHEAD: f64 = 4.0;

/// A slide approaches a plane if the sine of the angle between the motion and the plane exceeds
/// this value. So corners of more than 179.9 degrees count as flat.
const LEAST_CLOSING_SINE: f64 = 1e-3;

/// A wall may consist of tiles. At a corner of the next tile, the contact normal differs from the
/// wall's normal. This value is the least cosine of the angle between the two normals. The center
/// of a ball with the radius r is at least r + s / 2 from the wall, where s is the skin. The corner
/// is at most r + s from the center, because only such planes are listed. So the cosine is at least
/// (r + s / 2) / (r + s), which is 0.9 for s = r / 4.
const SAME_WALL_COSINE: f64 = 0.9;

/// A width is enlarged by this fraction, which exceeds the rounding of the width to f32.
const WIDTH_MARGIN: f64 = 1e-6;

/// The gaps to which a body backs off from overlaps, as fractions of the skin. If a passage is too
/// narrow for one gap, the next gap is tried.
const BACK_OFF: [f64; 4] = [1.0, 0.5, 0.25, 0.0];

/// The maximum length of a push-out, as a multiple of `radius_of`, which is half of the least side.
const MAX_PUSH_OUT: f64 = 2.0;

/// A body on its path, which keeps the skin as a gap from everything.
pub struct MovingBody<'a, 'w, 's, V: QuerySpace> {
    pub around: &'a FilteredQuery<'a, 'w, 's>,
    /// The body with a margin of half of the skin, at its position on the path.
    pub body: PlacedCollider<V>,
    pub skin: f64,
    /// The rules for ground, or `None` if the settings have no up direction.
    pub rules: Option<GroundRules<V::DVec>>,
}

impl<V: QuerySpace> MovingBody<'_, '_, '_, V> {
    /// Returns the position of the body on its path.
    pub fn position(&self) -> V::DVec {
        self.body.world_pose.translation
    }

    /// Returns `true` if a motion is too short to be made.
    pub fn is_short(&self, motion: V::DVec) -> bool {
        motion.length() <= LEAST_MOTION * self.skin
    }

    /// Moves the body away from everything that is closer than three eighths of the skin. Returns
    /// `true` if the body overlaps nothing afterwards, and `None` if its position is not finite.
    pub fn back_off(&mut self, exact: &PlacedCollider<V>, radius: f64) -> Option<bool> {
        let (start, max_distance) = (self.position(), MAX_PUSH_OUT * radius);
        let least = 0.5 * self.skin * (1.0 - SETTLED);
        // A test for touches is much faster than a search for planes, so it comes first.
        let narrow = GrownBody::new(&self.at_position(exact)?, least * (1.0 + WIDTH_MARGIN))?;
        if self.around.is_clear(&narrow.proxy) {
            return Some(true);
        }
        for _ in 0..MAX_PUSHES {
            let body = self.at_position(exact)?;
            let wide = GrownBody::new(&body, self.skin)?;
            let planes = self.around.planes(&wide);
            if planes.first().is_none_or(|plane| plane.gap >= least) {
                return Some(true);
            }
            let pushes = BACK_OFF.iter().filter_map(|part| {
                let gap = part * self.skin;
                let missing = |plane: &NearPlane<V::DVec>| (plane.normal, gap - plane.gap);
                let push = translation_out_of_all(planes.iter().map(missing), f64::INFINITY);
                push.map(|push| push.translation)
            });
            let is_safe = |push: &V::DVec| {
                let distance = (self.position() + *push - start).length();
                distance <= max_distance && !is_through(self.around, &body, *push)
            };
            let Some(push) = pushes.into_iter().find(is_safe) else {
                break;
            };
            self.body.world_pose.translation = self.position() + push;
        }
        let body = self.at_position(exact)?;
        let left = max_distance - (self.position() - start).length();
        let found = search_push_out(self.around, &body, left);
        self.body.world_pose.translation = self.position() + found.translation;
        Some(found.is_free)
    }

    /// Returns the exact body at the current position, or `None` if this position is not finite.
    fn at_position(&self, exact: &PlacedCollider<V>) -> Option<PlacedCollider<V>> {
        let mut body = exact.clone();
        body.world_pose.translation = self.position();
        body.world_pose.translation.is_finite().then_some(body)
    }

    /// Moves until the gap to any collider but `ignored` is the skin, and returns the touch. If a
    /// gap ahead is already smaller than the skin, the body does not move.
    ///
    /// Let s be the skin, c the closing speed along the normal, and d the distance at which the
    /// grown body touches. Then the gap at a distance x is s/2 + c (d - x).
    pub fn advance(
        &mut self,
        motion: V::DVec,
        ignored: Option<Entity>,
    ) -> Option<BodyTouch<V::DVec>> {
        let length = motion.length();
        if self.is_short(motion) || !length.is_finite() {
            return None;
        }
        let start = self.position();
        let cast_length = length + LOOKAHEAD * self.skin;
        let direction = motion * (1.0 / length);
        let found = self
            .around
            .cast(&self.body, direction * cast_length, ignored);
        let touch = found.and_then(|touch| {
            let closing = -touch.normal.dot(direction);
            let distance = touch.time * cast_length;
            let stop = (distance - 0.5 * self.skin / closing.max(0.0)).max(0.0);
            (stop < length).then_some(BodyTouch {
                time: stop / length,
                gap: 0.5 * self.skin + (distance - stop) * closing,
                ..touch
            })
        });
        let free = touch.map_or(1.0, |touch| touch.time);
        self.body.world_pose.translation = start + motion * free;
        touch
    }

    /// Moves like [`advance`](Self::advance), along the planes that were touched before. At the
    /// end, a plane nearer than the skin may hold the body between this plane and the last touched
    /// plane. Then the body stops where the gap to the holding plane is the skin.
    ///
    /// At a small angle of approach, a cast touches the second wall of a corner far beyond this
    /// point (see [`LOOKAHEAD`]). Without the stop, the body would move beyond the point, and back
    /// in the next move.
    pub fn advance_along(
        &mut self,
        motion: V::DVec,
        wish: &WishedMotion<V::DVec>,
    ) -> Option<BodyTouch<V::DVec>> {
        let start = self.position();
        let touch = self.advance(motion, None);
        let travel = self.position() - start;
        let length = travel.length();
        if wish.planes.is_empty() || self.is_short(travel) {
            return touch;
        }
        let held = self.holding_plane(travel * (1.0 / length), wish);
        let Some((retreat, plane)) = held else {
            return touch;
        };
        let kept = (length - retreat).max(0.0);
        self.body.world_pose.translation = start + travel * (kept / length);
        let closing = -plane.normal.dot(travel) / length;
        let gap = 0.5 * self.skin + plane.gap + closing * (length - kept);
        Some(plane.touch(kept / motion.length(), gap))
    }

    /// Returns the plane that holds a body at the end of a slide in `direction`. Also returns the
    /// distance back to the point where the gap to this plane is the skin.
    fn holding_plane(
        &self,
        direction: V::DVec,
        wish: &WishedMotion<V::DVec>,
    ) -> Option<(f64, NearPlane<V::DVec>)> {
        let half = 0.5 * self.skin;
        let up = self.rules.map(|rules| rules.up);
        let planes = self.around.planes(&GrownBody::new(&self.body, half)?);
        let closing = |plane: &NearPlane<V::DVec>| -plane.normal.dot(direction);
        let holding = planes.iter().filter(|plane| {
            let is_ground = self
                .rules
                .is_some_and(|rules| plane.normal.dot(rules.up) >= rules.least_cosine);
            closing(plane) > LEAST_CLOSING_SINE && !is_ground && wish.is_held_by(plane.normal, up)
        });
        let retreats = holding.map(|plane| {
            // The holding plane may be the corner of another tile of the wall along which the body
            // slides. Then the gap to this corner need not exceed the gap to the wall.
            let along = planes.iter().filter(|wall| {
                closing(wall) <= LEAST_CLOSING_SINE
                    && wall.normal.dot(plane.normal) > SAME_WALL_COSINE
            });
            let gap = along.map(|wall| wall.gap).fold(half, f64::min);
            ((gap - plane.gap) / closing(plane), *plane)
        });
        let nearer = retreats.filter(|(retreat, _)| *retreat > 0.0);
        nearer.max_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Moves away from a touch along a unit vector, until the gap is the skin, or up to the first
    /// touch.
    pub fn back_away(&mut self, touch: &BodyTouch<V::DVec>, direction: V::DVec) {
        let missing = (self.skin - touch.gap).clamp(0.0, 0.5 * self.skin);
        let cosine = touch.normal.dot(direction).max(LEAST_UP);
        let push = direction * (missing / cosine);
        if !self.is_short(push) {
            let touch = self.around.cast(&self.body, push, None);
            let free = touch.map_or(1.0, |touch| touch.time);
            self.body.world_pose.translation = self.position() + push * free;
        }
    }
}
