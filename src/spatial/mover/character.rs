//! The algorithm of `move_and_slide`.
//!
//! **Two gaps.** The body keeps a gap of the skin s from everything. Its casts are those of a body
//! that is grown by s/2. So a body that moves along a floor is s/2 away from touching it, whatever
//! the rounding of its position to f32, and never trips over the seams of separate boxes. A cast
//! looks ahead, and the body stops where its gap is s. At a small angle of approach, that position
//! can be behind the start of the motion. Then the body does not advance, and backs off along the
//! normal.
//!
//! **Walking.** A body on the ground walks: its motion is the horizontal part of the translation,
//! turned into the plane of the ground, with the same length. Walls deflect the horizontal motion
//! by the horizontal part of their normals, so that a body is not lifted by slopes that are too
//! steep. At the end, the body settles on the ground below. Nothing pulls a body down on a slope
//! meanwhile, so that it does not creep.
//!
//! **Flying.** Otherwise, the motion leads straight to the first touch, and on along the planes
//! that were touched. The touch of ground from above ends the flight, and the rest is a walk.
//!
//! **Ground** is where the face that opposes the fall is flat enough. The contact normal may be
//! steeper at an edge: a capsule stands on the edge of a step until it hangs at its side
//! ([`LEAST_UP`]). A body also stands on a corner below a flat side, and between slopes that are
//! too steep but hold it from both sides.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    placed::PlacedCollider,
    space::{DVector, Space, shortest_translation::shortest_translation},
    spatial::{
        mover::{
            body::{BodyTouch, FilteredQuery, Grown, NearPlane, radius_of, rounding_of},
            ground::Ground,
            planes::clipped,
            push_out_search::{is_through, search_push_out},
            slide::{MoveAndSlideOutput, MoveAndSlideSettings, SlideHit, horizontal, out_of_slope},
        },
        spatial_query::QuerySpace,
    },
};

/// The default skin, as a fraction of half of the body's least side. It is too narrow to be seen,
/// and 80 roundings to f32 at 1,000 times that length from the origin.
const SKIN: f64 = 0.01;

/// The least skin, in roundings of the position to f32. So [`SETTLED`] allows for four of them.
const LEAST_SKIN: f64 = 16.0;

/// A body hangs at an edge, and does not stand on it, if its contact normal is steeper than this
/// cosine, an angle of 75 degrees. There, a gap of s takes a push of 4 s upwards.
const LEAST_UP: f64 = 0.25;

/// The tolerance of a gap, as a fraction of the intended gap. A body moves to correct a gap only if
/// it differs by more. Otherwise rounding would move the body in every tick.
const SETTLED: f64 = 0.25;

/// A body is wedged between slopes if they leave at most this fraction of its fall: more than the
/// errors of their normals, and less than a player sees.
const WEDGED: f64 = 1e-3;

/// Motions shorter than this fraction of the skin end. With the default skin, the rounding of the
/// position to f32 is longer.
const LEAST_MOTION: f64 = 1e-6;

/// A translation leads upwards if this fraction of it does: more than the rounding of a horizontal
/// translation to f32.
const RISING: f64 = 1e-6;

/// The maximum number of times that planes push a body out of overlaps before the search for a
/// push-out begins. Flat faces need one push. The planes of curved surfaces change with each push.
const MAX_PUSHES: usize = 4;

/// The greatest step height and snap distance, in skins. A cast of this length has a rounding error
/// of about 1e-6 skins.
const MAX_LENGTH: f64 = 1e9;

/// Bounds the work, and the number of hits: eight times the default.
const MAX_TOUCHES: u32 = 64;

/// How far a cast looks ahead, in skins. A body stops 1 / 2c skins before the touch, where c is the
/// sine of the angle of approach: within this distance from 7 degrees on.
const LOOKAHEAD: f64 = 4.0;

/// A slide approaches a plane if the sine of the angle between them is more than this: the corner
/// has at most 179.9 degrees.
const LEAST_CLOSING: f64 = 1e-3;

/// The cosine of the greatest angle between the contact normals of the tiles of one wall.
const SAME_WALL: f64 = 0.9;

/// The fractions of the skin to which a body backs off from overlaps. In a gap that is too narrow
/// for one, the next is tried.
const BACK_OFF: [f64; 4] = [1.0, 0.5, 0.25, 0.0];

/// The maximum length of a push-out, in units of `radius_of`: the least side of the body.
const MAX_PUSH_OUT: f64 = 2.0;

/// The world's up, and what counts as ground.
#[derive(Clone, Copy)]
struct Upright<D> {
    up: D,
    /// The cosine of the greatest slope of the ground.
    least_cosine: f64,
    step_height: f64,
    snap_distance: Option<f64>,
}

impl<D: DVector> Upright<D> {
    fn new<V: Space<DVec = D>>(settings: &MoveAndSlideSettings, skin: f64) -> Option<Self> {
        let up = V::projected(settings.up).to_f64().unit()?;
        let max_slope = f64::from(settings.max_slope).clamp(0.0, 1.5);
        let valid = |length: f32| f64::from(length).max(0.0).min(MAX_LENGTH * skin);
        Some(Self {
            up,
            least_cosine: libm::cos(max_slope),
            step_height: valid(settings.step_height),
            snap_distance: settings.snap_distance.map(valid),
        })
    }

    /// Returns `true` if a body can walk on what it touches.
    fn is_ground(&self, touch: &BodyTouch<D>) -> bool {
        let is_flat = touch.face_normal.dot(self.up) >= self.least_cosine;
        is_flat && touch.normal.dot(self.up) >= LEAST_UP
    }

    /// Returns `true` if a body can stand on what it touches: on ground, or with a flat side on a
    /// corner.
    fn supports(&self, touch: &BodyTouch<D>) -> bool {
        self.is_ground(touch) || touch.normal.dot(self.up) >= self.least_cosine
    }

    /// Returns the normal of the plane along which a body walks.
    fn walking_normal(&self, ground: &BodyTouch<D>) -> D {
        if ground.normal.dot(self.up) >= self.least_cosine {
            ground.normal
        } else {
            ground.face_normal
        }
    }

    /// Returns a horizontal motion turned into the plane of the ground, with the same length.
    fn along(&self, ground: &BodyTouch<D>, lateral: D) -> D {
        let normal = self.walking_normal(ground);
        let along = lateral - self.up * (lateral.dot(normal) / self.up.dot(normal));
        along.unit().unwrap_or_default() * lateral.length()
    }

    fn lateral(&self, motion: D) -> D {
        motion - self.up * motion.dot(self.up)
    }

    /// Returns the greatest fall of the ground along a walk.
    fn max_drop(&self, lateral: D) -> f64 {
        let cosine = self.least_cosine;
        let slope = (1.0 - cosine * cosine).max(0.0).sqrt() / cosine;
        let by_default = slope * lateral.length() + self.step_height;
        self.snap_distance.unwrap_or(by_default)
    }
}

/// A wished motion, and what deflects it.
///
/// Every deflection starts from the wish, not from the motion that an earlier plane has deflected:
/// in an obtuse corner, that motion leads away along the second wall, and the body never rests.
struct Wish<D> {
    /// The rest of the wish, without any deflection.
    rest: D,
    /// The normals of what was touched.
    planes: SmallVec<[D; 4]>,
    /// The horizontal directions out of walls and slopes.
    outward: SmallVec<[D; 4]>,
}

impl<D: DVector> Wish<D> {
    fn new(rest: D) -> Self {
        Self {
            rest,
            planes: SmallVec::new(),
            outward: SmallVec::new(),
        }
    }

    /// Returns the wish of a walk after a landing.
    fn landed(self, upright: &Upright<D>) -> Self {
        let outward = |normal: &D| horizontal(*normal, upright.up);
        Self {
            rest: upright.lateral(self.rest),
            outward: self.planes.iter().filter_map(outward).collect(),
            planes: self.planes,
        }
    }

    /// Returns the nearest motion to the wish that leads horizontally into no wall and no slope.
    fn clipped_outward(&self) -> D {
        clipped(self.rest, &self.outward)
    }

    /// Returns `true` if another plane does not lead the body away from the last one.
    fn is_held_by(&self, normal: D, up: Option<D>) -> bool {
        let Some(last) = self.planes.last() else {
            return false;
        };
        let outward = up.and_then(|up| horizontal(normal, up));
        let known = self.planes.iter().chain(&self.outward).copied();
        let normals: SmallVec<[D; 8]> = known.chain([normal]).chain(outward).collect();
        clipped(self.rest, &normals).dot(*last) <= WEDGED * self.rest.length()
    }
}

/// The state of a body during a move.
pub struct Character<'a, 'w, 's, V: QuerySpace> {
    around: &'a FilteredQuery<'a, 'w, 's>,
    /// The body with a margin of half of the skin, at its position on the path.
    body: PlacedCollider<V>,
    skin: f64,
    upright: Option<Upright<V::DVec>>,
    ground: Option<BodyTouch<V::DVec>>,
    touches_left: u32,
    hits: SmallVec<[SlideHit; 4]>,
}

impl<V: QuerySpace> Character<'_, '_, '_, V> {
    /// Moves a body: see [`SpatialQuery::move_and_slide`](crate::SpatialQuery::move_and_slide).
    /// Returns `None` if the body is not bounded, or flat in the world.
    pub fn slide(
        around: &FilteredQuery,
        body: &PlacedCollider<V>,
        translation: Vec3,
        settings: &MoveAndSlideSettings,
    ) -> Option<MoveAndSlideOutput> {
        let radius = radius_of(body)?;
        let skin = settings.skin.map(f64::from).filter(|skin| *skin >= 0.0);
        let least = LEAST_SKIN * rounding_of(body, radius);
        let skin = skin.unwrap_or(SKIN * radius).min(radius).max(least);
        let start = body.world_pose.translation;
        let mut character = Character {
            around,
            body: Grown::new(body, 0.5 * skin)?.proxy,
            skin,
            upright: Upright::new::<V>(settings, skin),
            ground: None,
            touches_left: settings.max_touches.min(MAX_TOUCHES),
            hits: SmallVec::new(),
        };
        if let Some(ground) = &settings.ground {
            let carried = ground.translation::<V>(around.query);
            character.advance(carried, Some(ground.entity));
        }
        let is_stuck = !character.back_off(body, radius);
        let translation = V::projected(translation);
        if translation.is_finite() {
            character.go(translation.to_f64());
        }
        let position = character.position();
        let up = character.upright.map(|upright| upright.up);
        let ground = up.zip(character.ground);
        Some(MoveAndSlideOutput {
            translation: V::from_f64((position - start).in_f32_range()).to_vec3(),
            ground: ground.map(|(up, touch)| Ground::new::<V>(around.query, &touch, position, up)),
            is_stuck,
            hits: character.hits,
            up: up.map_or(DVec3::ZERO, |up| DVec3::from(up.components())),
        })
    }

    fn go(&mut self, translation: V::DVec) {
        let Some(upright) = self.upright else {
            self.fly(translation);
            return;
        };
        let rise = translation.dot(upright.up);
        if rise > RISING * translation.length() {
            self.fly(translation);
            return;
        }
        let Some(ground) = self.find_ground(&upright) else {
            self.fly(translation);
            return;
        };
        self.ground = Some(ground);
        let lateral = upright.lateral(translation);
        let is_settled = (ground.gap - self.skin).abs() <= SETTLED * self.skin;
        if self.is_short(lateral) && is_settled {
            return;
        }
        self.walk(&upright, lateral, Wish::new(lateral));
        self.settle(&upright, lateral);
        if self.ground.is_none() {
            self.fly(upright.up * rise);
        }
    }

    /// Moves along the ground, and up steps. `lateral` is the wish after the deflections so far.
    fn walk(&mut self, upright: &Upright<V::DVec>, mut lateral: V::DVec, mut wish: Wish<V::DVec>) {
        while let Some(ground) = self.ground {
            let mut motion = upright.along(&ground, lateral);
            if !wish.planes.is_empty() {
                // An overhanging wall must not lead the body into the ground.
                wish.planes.push(upright.walking_normal(&ground));
                motion = clipped(motion, &wish.planes);
                wish.planes.pop();
            }
            let Some(touch) = self.advance_along(motion, &wish) else {
                return;
            };
            let left = 1.0 - touch.time;
            (lateral, wish.rest) = (lateral * left, wish.rest * left);
            let is_ground = upright.is_ground(&touch) && self.is_footing(upright, &touch);
            self.add_hit(&touch, lateral, is_ground);
            if is_ground {
                self.ground = Some(touch);
                self.back_away(&touch, upright.up);
            } else {
                let away = horizontal(touch.normal, upright.up).unwrap_or(touch.normal);
                self.back_away(&touch, away);
                if let Some(left) = self.climb(upright, lateral) {
                    (lateral, wish.rest) = (lateral * left, wish.rest * left);
                } else {
                    wish.planes.push(touch.normal);
                    wish.outward.push(away);
                    lateral = wish.clipped_outward();
                }
            }
            if self.touches_left == 0 {
                return;
            }
        }
    }

    /// Moves straight, and on along everything that is touched.
    fn fly(&mut self, mut motion: V::DVec) {
        let mut wish = Wish::new(motion);
        while self.touches_left > 0 {
            let Some(touch) = self.advance_along(motion, &wish) else {
                break;
            };
            let left = 1.0 - touch.time;
            (motion, wish.rest) = (motion * left, wish.rest * left);
            let landed = self.upright.filter(|upright| {
                let is_fall = motion.dot(upright.up) <= 0.0;
                is_fall && upright.supports(&touch) && self.is_footing(upright, &touch)
            });
            self.add_hit(&touch, motion, landed.is_some());
            if let Some(upright) = landed {
                let lateral = upright.lateral(motion);
                self.ground = Some(touch);
                self.back_away(&touch, upright.up);
                self.walk(&upright, lateral, wish.landed(&upright));
                self.settle(&upright, lateral);
                return;
            }
            self.back_away(&touch, touch.normal);
            wish.planes.push(touch.normal);
            if let Some(upright) = self.upright {
                wish.outward.extend(out_of_slope(touch.normal, upright.up));
            }
            motion = clipped(wish.clipped_outward(), &wish.planes);
        }
        let falling = self.upright.filter(|upright| motion.dot(upright.up) <= 0.0);
        self.ground = falling.and_then(|upright| self.find_ground(&upright));
    }

    /// Climbs a step, and returns the fraction of the horizontal motion that is left. Returns
    /// `None`, and does not move, if there is no step.
    fn climb(&mut self, upright: &Upright<V::DVec>, lateral: V::DVec) -> Option<f64> {
        let direction = lateral.unit().filter(|_| upright.step_height > 0.0)?;
        let ground = self.ground?;
        let start = self.position();
        let up = upright.up;
        self.advance(up * (upright.step_height + self.skin), None);
        let risen = (self.position() - start).dot(up);
        // A step is found even if the body moves by less than the gap in front of it.
        let length = lateral.length().max(2.0 * self.skin);
        let walked = self.advance(direction * length, None);
        let walked = walked.map_or(length, |touch| touch.time * length);
        let landing = self.advance(up * -risen, None);
        let height = (self.position() - start).dot(up);
        // A round body reaches edges that are higher than it rises.
        let is_low = |touch: &BodyTouch<V::DVec>| {
            let edge = (touch.point - ground.point).dot(up);
            edge <= upright.step_height + self.skin
        };
        let is_step = walked > self.skin && height > 0.5 * self.skin;
        match landing.filter(|touch| is_step && is_low(touch) && upright.supports(touch)) {
            Some(touch) => {
                self.ground = Some(touch);
                self.back_away(&touch, upright.up);
                Some((1.0 - walked / lateral.length()).max(0.0))
            }
            None => {
                self.body.world_pose.translation = start;
                None
            }
        }
    }

    /// Moves down to the ground after a walk, or leaves the ground if there is none.
    fn settle(&mut self, upright: &Upright<V::DVec>, lateral: V::DVec) {
        let start = self.position();
        let drop = upright.max_drop(lateral) + self.skin;
        let touch = self.advance(upright.up * -drop, None);
        self.ground = touch.filter(|touch| upright.supports(touch));
        match self.ground {
            Some(touch) => self.back_away(&touch, upright.up),
            None => {
                self.body.world_pose.translation = start;
                self.ground = self.find_ground(upright);
            }
        }
    }

    /// Returns the ground below the body. The gap along its normal is at most two skins on the
    /// steepest ground, and half a skin plus 1.5 skins / `least_cosine` on flat ground.
    fn find_ground(&self, upright: &Upright<V::DVec>) -> Option<BodyTouch<V::DVec>> {
        let half = 0.5 * self.skin;
        let depth = 3.0 * half / upright.least_cosine;
        let touch = self.around.cast(&self.body, upright.up * -depth, None)?;
        if upright.supports(&touch) {
            let gap = half + touch.time * depth * touch.normal.dot(upright.up);
            return Some(BodyTouch { gap, ..touch });
        }
        // A steep slope beside the ground may be touched first.
        let planes = self.around.planes(&Grown::new(&self.body, self.skin)?);
        let touches = planes.iter().map(|plane| BodyTouch {
            entity: plane.entity,
            time: 0.0,
            gap: plane.gap + half,
            normal: plane.normal,
            face_normal: plane.normal,
            point: plane.point,
        });
        let ground = touches.into_iter().find(|touch| upright.supports(touch));
        ground.or_else(|| {
            // Between slopes that are too steep, a body does not fall either.
            let normals: SmallVec<[_; 8]> = planes.iter().map(|plane| plane.normal).collect();
            let is_wedged = clipped(-upright.up, &normals).length() <= WEDGED;
            is_wedged.then_some(BodyTouch {
                gap: self.skin,
                normal: upright.up,
                face_normal: upright.up,
                ..touch
            })
        })
    }

    /// Returns `true` if a body stands on a touch that [supports](Upright::supports) it.
    ///
    /// An edge is met from the side at a flatter contact normal than from above. A walk would end
    /// on an edge from which [`settle`](Self::settle) finds no ground, and the fall would be lost.
    fn is_footing(&self, upright: &Upright<V::DVec>, touch: &BodyTouch<V::DVec>) -> bool {
        let is_edge = touch.normal.dot(upright.up) < upright.least_cosine;
        !is_edge || self.find_ground(upright).is_some()
    }

    /// Moves the body out of everything that is closer than three eighths of the skin. Returns
    /// `false` if it overlaps something afterwards.
    fn back_off(&mut self, exact: &PlacedCollider<V>, radius: f64) -> bool {
        let (start, max_distance) = (self.position(), MAX_PUSH_OUT * radius);
        for _ in 0..MAX_PUSHES {
            let Some(body) = self.at_position(exact) else {
                return false;
            };
            let Some(wide) = Grown::new(&body, self.skin) else {
                return false;
            };
            let planes = self.around.planes(&wide);
            let least = planes.first().map_or(self.skin, |plane| plane.gap);
            if least >= 0.5 * self.skin * (1.0 - SETTLED) {
                return true;
            }
            let pushes = BACK_OFF.iter().filter_map(|part| {
                let gap = part * self.skin;
                let missing = |plane: &NearPlane<V::DVec>| (plane.normal, gap - plane.gap);
                let push = shortest_translation(planes.iter().map(missing), f64::INFINITY);
                push.clears_all.then_some(push.translation)
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
        let Some(body) = self.at_position(exact) else {
            return false;
        };
        let left = max_distance - (self.position() - start).length();
        let found = search_push_out(self.around, &body, left);
        self.body.world_pose.translation = self.position() + found.translation;
        found.is_free
    }

    /// Returns the exact body at the position of this one.
    fn at_position(&self, exact: &PlacedCollider<V>) -> Option<PlacedCollider<V>> {
        let mut body = exact.clone();
        body.world_pose.translation = self.position();
        body.world_pose.translation.is_finite().then_some(body)
    }

    /// Moves until the gap to anything but `ignored` is the skin, and returns that touch. If the
    /// gap is less already, the body does not move.
    ///
    /// With the closing speed c along the normal, the gap is s/2 + c (d - x) at a distance x, where
    /// d is the distance at which the grown body touches.
    fn advance(&mut self, motion: V::DVec, ignored: Option<Entity>) -> Option<BodyTouch<V::DVec>> {
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

    /// Moves like [`advance`](Self::advance), along the planes that were touched. It may be that a
    /// plane that is nearer than the skin at the end holds the body between it and the last one.
    /// Then the body stops where the gap to that plane is the skin.
    ///
    /// At a small angle of approach, a cast meets the second wall of a corner far behind this point
    /// (see [`LOOKAHEAD`]). The body would move beyond it, and back in the next move.
    fn advance_along(
        &mut self,
        motion: V::DVec,
        wish: &Wish<V::DVec>,
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
        Some(BodyTouch {
            entity: plane.entity,
            time: kept / motion.length(),
            gap: 0.5 * self.skin + plane.gap + closing * (length - kept),
            normal: plane.normal,
            face_normal: plane.normal,
            point: plane.point,
        })
    }

    /// Returns the plane that holds a body at the end of a slide in a direction, and the distance
    /// back to the point where the gap is the skin.
    fn holding_plane(
        &self,
        direction: V::DVec,
        wish: &Wish<V::DVec>,
    ) -> Option<(f64, NearPlane<V::DVec>)> {
        let half = 0.5 * self.skin;
        let up = self.upright.map(|upright| upright.up);
        let planes = self.around.planes(&Grown::new(&self.body, half)?);
        let closing = |plane: &NearPlane<V::DVec>| -plane.normal.dot(direction);
        let holding = planes.iter().filter(|plane| {
            let is_ground = self
                .upright
                .is_some_and(|upright| plane.normal.dot(upright.up) >= upright.least_cosine);
            closing(plane) > LEAST_CLOSING && !is_ground && wish.is_held_by(plane.normal, up)
        });
        let retreats = holding.map(|plane| {
            // The corner of the next tile of a wall is no nearer than the wall.
            let along = planes.iter().filter(|wall| {
                closing(wall) <= LEAST_CLOSING && wall.normal.dot(plane.normal) > SAME_WALL
            });
            let gap = along.map(|wall| wall.gap).fold(half, f64::min);
            ((gap - plane.gap) / closing(plane), *plane)
        });
        let nearer = retreats.filter(|(retreat, _)| *retreat > 0.0);
        nearer.max_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Moves by a small push, as far as there is room.
    fn push(&mut self, push: V::DVec) {
        if !self.is_short(push) {
            let touch = self.around.cast(&self.body, push, None);
            let free = touch.map_or(1.0, |touch| touch.time);
            self.body.world_pose.translation = self.position() + push * free;
        }
    }

    /// Moves away from a touch along a unit vector, until the gap is the skin.
    fn back_away(&mut self, touch: &BodyTouch<V::DVec>, direction: V::DVec) {
        let missing = (self.skin - touch.gap).clamp(0.0, 0.5 * self.skin);
        let cosine = touch.normal.dot(direction).max(LEAST_UP);
        self.push(direction * (missing / cosine));
    }

    /// Adds a touch to the hits.
    fn add_hit(&mut self, touch: &BodyTouch<V::DVec>, motion: V::DVec, is_ground: bool) {
        let vector = |vector: V::DVec| V::from_f64(vector.in_f32_range()).to_vec3();
        self.touches_left = self.touches_left.saturating_sub(1);
        self.hits.push(SlideHit {
            entity: touch.entity,
            point: vector(touch.point),
            normal: vector(touch.normal),
            face_normal: vector(touch.face_normal),
            motion: vector(motion),
            is_ground,
        });
    }

    fn position(&self) -> V::DVec {
        self.body.world_pose.translation
    }

    fn is_short(&self, motion: V::DVec) -> bool {
        motion.length() <= LEAST_MOTION * self.skin
    }
}
