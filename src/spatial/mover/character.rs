//! The algorithm of `move_and_slide`.
//!
//! **Two gaps.** The body keeps a gap from everything: the skin s. Casts use a body that is grown
//! by s/2, so a cast along a floor still has a gap of s/2. This gap exceeds the rounding of the
//! position to f32, so the seams between separate boxes never stop the body. A cast extends beyond
//! the end of the motion, and the body stops at the position where its gap is s. At a small angle
//! of approach, this position can be behind the start of the motion. In this case, the body does
//! not advance, and backs off along the normal.
//!
//! **Walking.** A body on the ground walks. Its motion is the horizontal part of the translation,
//! turned into the plane of the ground, with the same length. Walls deflect the horizontal motion
//! along the horizontal part of their normals, so slopes that are too steep do not lift the body.
//! After the walk, the body settles on the ground below. During the walk, no fall is applied, so
//! the body does not creep down slopes.
//!
//! **Flying.** In the air, the body moves straight to the first touch, and then along the planes
//! that it has touched. When the body touches ground from above, the flight ends, and the remaining
//! motion is a walk.
//!
//! **Ground** is a touched face that is flat enough. At an edge, the contact normal may be less
//! upright than the face's normal. So a capsule stands on the edge of a step until the capsule
//! hangs beside the edge ([`GroundRules::is_ground`]). A body also stands if its flat side rests on
//! a corner, or if slopes that are too steep hold it from both sides.

use smallvec::SmallVec;

use crate::{
    math::{DVec3, Vec3},
    placed::PlacedCollider,
    space::DVector,
    spatial::{
        mover::{
            body::{BodyTouch, FilteredQuery, GrownBody, radius_of, rounding_of},
            ground::Ground,
            ground_rules::GroundRules,
            moving_body::{MovingBody, SETTLED},
            planes::clipped,
            slide::{MoveAndSlideOutput, MoveAndSlideSettings, SlideHit, horizontal, out_of_slope},
            wished_motion::{MAX_WEDGED_FALL, WishedMotion},
        },
        spatial_query::QuerySpace,
    },
};

/// The default skin, as a fraction of half of the body's least side. Such a skin is too narrow to
/// be seen. At a distance of 1,000 times this half side from the origin, the skin is 80 times the
/// rounding error of the position in f32.
const SKIN: f64 = 0.01;

/// The least skin, as a multiple of the rounding error of the position in f32. So the tolerance
/// [`SETTLED`] is at least four rounding errors.
const LEAST_SKIN: f64 = 16.0;

/// A translation points upwards if its upward part exceeds this fraction of its length. The
/// fraction exceeds the rounding of a horizontal translation to f32.
const RISING: f64 = 1e-6;

/// The upper limit of `max_touches`, which bounds the work and the number of hits: eight times the
/// default.
const MAX_TOUCHES: u32 = 64;

/// The state of a body during a move.
pub struct Character<'a, 'w, 's, V: QuerySpace> {
    moving: MovingBody<'a, 'w, 's, V>,
    ground: Option<BodyTouch<V::DVec>>,
    touches_left: u32,
    hits: SmallVec<[SlideHit; 4]>,
}

impl<V: QuerySpace> Character<'_, '_, '_, V> {
    /// Moves a body: see [`SpatialQuery::move_and_slide`](crate::SpatialQuery::move_and_slide).
    /// Returns `None` if the body is unbounded, or if the scale flattens the body.
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
        // The casts use a body that is grown by half of the skin. On a slope, this growth is larger
        // when measured vertically, so `one_way_skin` is a whole skin.
        let mut around = *around;
        around.selection.one_way_skin = skin;
        let mut character = Character {
            moving: MovingBody {
                around: &around,
                body: GrownBody::new(body, 0.5 * skin)?.proxy,
                skin,
                rules: GroundRules::new::<V>(settings, skin),
            },
            ground: None,
            touches_left: settings.max_touches.min(MAX_TOUCHES),
            hits: SmallVec::new(),
        };
        if let Some(ground) = &settings.ground {
            let carried = ground.translation::<V>(around.query);
            character.moving.advance(carried, Some(ground.entity));
        }
        let is_stuck = character.moving.back_off(body, radius) != Some(true);
        let translation = V::projected(translation);
        if translation.is_finite() {
            character.go(translation.to_f64());
        }
        let position = character.moving.position();
        let up = character.moving.rules.map(|rules| rules.up);
        let ground = up.zip(character.ground);
        Some(MoveAndSlideOutput {
            translation: V::from_f64((position - start).in_f32_range()).to_vec3(),
            ground: ground.map(|(up, touch)| Ground::new::<V>(around.query, &touch, position, up)),
            is_stuck,
            hits: character.hits,
            up: up.map_or(DVec3::ZERO, |up| DVec3::from(up.components())),
        })
    }

    /// If the body stands on ground and the translation does not point upwards, the body walks.
    /// Otherwise, the body flies.
    fn go(&mut self, translation: V::DVec) {
        let is_level = |rules: &GroundRules<V::DVec>| {
            translation.dot(rules.up) <= RISING * translation.length()
        };
        let rules = self.moving.rules.filter(is_level);
        let walk = rules.and_then(|rules| Some((rules, self.find_ground(&rules)?)));
        let Some((rules, ground)) = walk else {
            self.fly(translation);
            return;
        };
        self.ground = Some(ground);
        let lateral = rules.lateral(translation);
        let is_settled = (ground.gap - self.moving.skin).abs() <= SETTLED * self.moving.skin;
        if self.moving.is_short(lateral) && is_settled {
            return;
        }
        self.walk(&rules, lateral, WishedMotion::new(lateral));
        self.settle(&rules, lateral);
        if self.ground.is_none() {
            self.fly(rules.up * translation.dot(rules.up));
        }
    }

    /// Moves along the ground and up steps. `lateral` is the horizontal motion after the
    /// deflections so far.
    fn walk(
        &mut self,
        rules: &GroundRules<V::DVec>,
        mut lateral: V::DVec,
        mut wish: WishedMotion<V::DVec>,
    ) {
        while let Some(ground) = self.ground {
            let mut motion = rules.along(&ground, lateral);
            if !wish.planes.is_empty() {
                // The plane of the ground keeps an overhanging wall from deflecting the body into
                // the ground.
                wish.planes.push(rules.walking_normal(&ground));
                motion = clipped(motion, &wish.planes);
                wish.planes.pop();
            }
            let Some(touch) = self.moving.advance_along(motion, &wish) else {
                return;
            };
            let left = 1.0 - touch.time;
            (lateral, wish.rest) = (lateral * left, wish.rest * left);
            let is_ground = rules.is_ground(&touch) && self.is_footing(rules, &touch);
            self.add_hit(&touch, lateral, is_ground);
            if is_ground {
                self.ground = Some(touch);
                self.moving.back_away(&touch, rules.up);
            } else {
                let away = horizontal(touch.normal, rules.up).unwrap_or(touch.normal);
                self.moving.back_away(&touch, away);
                if let Some(left) = self.climb(rules, lateral) {
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

    /// Moves straight to the first touch, and then along all touched planes.
    fn fly(&mut self, mut motion: V::DVec) {
        let mut wish = WishedMotion::new(motion);
        while self.touches_left > 0 {
            let Some(touch) = self.moving.advance_along(motion, &wish) else {
                break;
            };
            let left = 1.0 - touch.time;
            (motion, wish.rest) = (motion * left, wish.rest * left);
            let landed = self.moving.rules.filter(|rules| {
                let is_fall = motion.dot(rules.up) <= 0.0;
                is_fall && rules.supports(&touch) && self.is_footing(rules, &touch)
            });
            self.add_hit(&touch, motion, landed.is_some());
            if let Some(rules) = landed {
                let lateral = rules.lateral(motion);
                self.ground = Some(touch);
                self.moving.back_away(&touch, rules.up);
                self.walk(&rules, lateral, wish.landed(&rules));
                self.settle(&rules, lateral);
                return;
            }
            self.moving.back_away(&touch, touch.normal);
            wish.planes.push(touch.normal);
            if let Some(rules) = self.moving.rules {
                wish.outward.extend(out_of_slope(touch.normal, rules.up));
            }
            motion = clipped(wish.clipped_outward(), &wish.planes);
        }
        let falling = self
            .moving
            .rules
            .filter(|rules| motion.dot(rules.up) <= 0.0);
        self.ground = falling.and_then(|rules| self.find_ground(&rules));
    }

    /// Climbs a step, and returns the fraction of the horizontal motion that is left. If there is
    /// no step, the body does not move, and the result is `None`.
    fn climb(&mut self, rules: &GroundRules<V::DVec>, lateral: V::DVec) -> Option<f64> {
        let direction = lateral.unit().filter(|_| rules.step_height > 0.0)?;
        let ground = self.ground?;
        let start = self.moving.position();
        let up = rules.up;
        self.moving
            .advance(up * (rules.step_height + self.moving.skin), None);
        let risen = (self.moving.position() - start).dot(up);
        // Without this minimum length, a motion shorter than the gap in front of a step would find
        // no step.
        let length = lateral.length().max(2.0 * self.moving.skin);
        let walked = self.moving.advance(direction * length, None);
        let walked = walked.map_or(length, |touch| touch.time * length);
        let landing = (walked > self.moving.skin).then(|| self.moving.advance(up * -risen, None));
        let height = (self.moving.position() - start).dot(up);
        // A round body can land on an edge that is higher than the body rises, so the height of the
        // touched point is tested.
        let is_low = |touch: &BodyTouch<V::DVec>| {
            let edge = (touch.point - ground.point).dot(up);
            edge <= rules.step_height + self.moving.skin
        };
        let is_step = height > 0.5 * self.moving.skin;
        let landing = landing.flatten();
        match landing.filter(|touch| is_step && is_low(touch) && rules.supports(touch)) {
            Some(touch) => {
                self.ground = Some(touch);
                self.moving.back_away(&touch, rules.up);
                Some((1.0 - walked / lateral.length()).max(0.0))
            }
            None => {
                self.moving.body.world_pose.translation = start;
                None
            }
        }
    }

    /// Moves down to the ground after a walk, at least to the ground that
    /// [`find_ground`](Self::find_ground) finds. If the cast finds no ground, the body stays at the
    /// end of the walk.
    fn settle(&mut self, rules: &GroundRules<V::DVec>, lateral: V::DVec) {
        let start = self.moving.position();
        let drop = rules.max_drop(lateral) + self.moving.skin;
        let drop = drop.max(self.ground_reach(rules));
        let touch = self.moving.advance(rules.up * -drop, None);
        self.ground = touch.filter(|touch| rules.supports(touch));
        match self.ground {
            Some(touch) => self.moving.back_away(&touch, rules.up),
            None => {
                self.moving.body.world_pose.translation = start;
                self.ground = self.find_ground(rules);
            }
        }
    }

    /// Returns the ground below the body. On the steepest ground, the gap along the contact normal
    /// is at most two skins. On flat ground, the gap is at most half a skin plus 1.5 skins /
    /// `least_cosine`.
    fn find_ground(&self, rules: &GroundRules<V::DVec>) -> Option<BodyTouch<V::DVec>> {
        let half = 0.5 * self.moving.skin;
        let depth = self.ground_reach(rules);
        let touch = self
            .moving
            .around
            .cast(&self.moving.body, rules.up * -depth, None)?;
        if rules.supports(&touch) {
            let gap = half + touch.time * depth * touch.normal.dot(rules.up);
            return Some(BodyTouch { gap, ..touch });
        }
        // The cast may touch a steep slope beside the ground first. So all near planes are tested.
        let planes = self
            .moving
            .around
            .planes(&GrownBody::new(&self.moving.body, self.moving.skin)?);
        let mut touches = planes
            .iter()
            .map(|plane| plane.touch(0.0, plane.gap + half));
        let ground = touches.find(|touch| rules.supports(touch));
        ground.or_else(|| {
            // A body that is wedged between steep slopes does not fall, so the slopes count as
            // ground.
            let normals: SmallVec<[_; 8]> = planes.iter().map(|plane| plane.normal).collect();
            let is_wedged = clipped(-rules.up, &normals).length() <= MAX_WEDGED_FALL;
            is_wedged.then_some(BodyTouch {
                gap: self.moving.skin,
                normal: rules.up,
                face_normal: rules.up,
                ..touch
            })
        })
    }

    /// Returns the depth below the body, which is grown by half a skin, at which ground is found.
    fn ground_reach(&self, rules: &GroundRules<V::DVec>) -> f64 {
        1.5 * self.moving.skin / rules.least_cosine
    }

    /// Returns `true` if a body also finds ground below a touch that
    /// [supports](GroundRules::supports) the body. Only edges need this check.
    ///
    /// At an edge, the contact normal of a cast from the side is more upright than the contact
    /// normal of a cast from above. Without the check, a body could land on an edge where
    /// [`settle`](Self::settle) finds no ground, and the remaining fall would be lost.
    fn is_footing(&self, rules: &GroundRules<V::DVec>, touch: &BodyTouch<V::DVec>) -> bool {
        let is_edge = touch.normal.dot(rules.up) < rules.least_cosine;
        !is_edge || self.find_ground(rules).is_some()
    }

    /// Adds a touch to `hits`, and decrements `touches_left`.
    fn add_hit(&mut self, touch: &BodyTouch<V::DVec>, motion: V::DVec, is_ground: bool) {
        let vector = |vector: V::DVec| V::from_f64(vector.in_f32_range()).to_vec3();
        self.touches_left = self.touches_left.saturating_sub(1);
        self.hits.push(SlideHit {
            entity: touch.entity,
            part: touch.part,
            point: vector(touch.point),
            normal: vector(touch.normal),
            face_normal: vector(touch.face_normal),
            motion: vector(motion),
            is_ground,
        });
    }
}
