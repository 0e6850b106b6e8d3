//! The settings and the result of a move.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    Collider,
    math::{DVec3, Vec3},
    pipeline::proxy::Proxy,
    space::{DVector, Space},
    spatial::{
        ColliderPose, SpatialQuery, SpatialQueryFilter,
        mover::{
            ContactPlane, Ground,
            body::{Grown, Surroundings, in_space},
            character::Character,
            planes::clipped,
        },
        spatial_query::QuerySpace,
    },
};

/// The settings of [`SpatialQuery::move_and_slide`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// let hero = MoveAndSlide { step_height: 0.4, ..default() };
/// let top_down = MoveAndSlide { up: Vec3::ZERO, ..default() };
/// # let _ = (hero, top_down);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveAndSlide {
    /// The direction away from the ground, of any length, y by default. If it is 0, there is no
    /// ground: everything is a wall, as in a game that is seen from above.
    pub up: Vec3,
    /// The angle in radians up to which a slope is ground, 50 degrees by default. Steeper slopes
    /// are walls, on which a body slides down.
    pub max_slope: f32,
    /// The height of the steps that a body climbs while it walks, 0 by default.
    pub step_height: f32,
    /// How far down the ground may be after a step, for a body that stood on the ground before. By
    /// default, as far as a slope or a step can fall on the way. 0 for a body that takes off at
    /// every edge.
    pub snap_distance: Option<f32>,
    /// The gap that a body keeps from everything. By default, a hundredth of half of its least
    /// side. At least some roundings of its position to f32.
    pub skin: Option<f32>,
    /// The maximum number of touches on the way, 8 by default.
    pub max_touches: u32,
    /// The ground of the previous move. If it has moved since, the body is carried.
    pub ground: Option<Ground>,
}

impl Default for MoveAndSlide {
    fn default() -> Self {
        Self {
            up: Vec3::Y,
            max_slope: 50_f32.to_radians(),
            step_height: 0.0,
            snap_distance: None,
            skin: None,
            max_touches: 8,
            ground: None,
        }
    }
}

/// A touch on the way of a [`Slide`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlideHit {
    /// The entity of the other collider.
    pub entity: Entity,
    /// The point of the touch.
    pub point: Vec3,
    /// The unit normal of the contact, from the other collider to the body.
    pub normal: Vec3,
    /// The unit normal of the face that opposes the motion most, on the same side.
    pub face_normal: Vec3,
    /// The rest of the translation at the touch, before it is deflected. A game that pushes things
    /// moves them by the part of it that leads against the normal.
    pub motion: Vec3,
    /// `true` if the body can stand on the face.
    pub is_ground: bool,
}

/// The result of [`SpatialQuery::move_and_slide`].
#[derive(Clone, Debug, PartialEq)]
pub struct Slide {
    /// The translation of the body in the world, with that of the ground that carries it. In 2D, z
    /// is 0.
    pub translation: Vec3,
    /// The ground on which the body stands after the move.
    pub ground: Option<Ground>,
    /// `true` if the body overlaps something that it cannot leave, such as a press.
    pub is_stuck: bool,
    pub(super) hits: SmallVec<[SlideHit; 4]>,
    pub(super) up: DVec3,
}

impl Slide {
    /// Returns the touches on the way, in their order. What a body stands on without moving is not
    /// touched: see [`ground`](Self#structfield.ground).
    pub fn hits(&self) -> &[SlideHit] {
        &self.hits
    }

    /// Returns the part of a velocity that the move leaves: the nearest velocity that leads into
    /// nothing that was hit. On the ground, nothing is left of a fall, and a body does not climb
    /// slopes that are too steep.
    pub fn clip_velocity(&self, velocity: Vec3) -> Vec3 {
        let mut velocity = velocity.as_dvec3();
        if self.ground.is_some() {
            velocity -= self.up * velocity.dot(self.up).min(0.0);
        }
        let walls = self.hits.iter().filter(|hit| !hit.is_ground);
        let normals: SmallVec<[DVec3; 4]> =
            walls.filter_map(|hit| hit.normal.to_f64().unit()).collect();
        for normal in &normals {
            velocity = without_climbing(velocity, *normal, self.up);
        }
        Vec3::from_f64(clipped(velocity, &normals))
    }
}

/// Returns the horizontal unit vector that leads away from a wall, if there is one.
pub fn horizontal<D: DVector>(normal: D, up: D) -> Option<D> {
    (normal - up * normal.dot(up)).unit()
}

/// Returns a motion without the part that leads horizontally against a slope: otherwise a body
/// would climb it.
pub fn without_climbing<D: DVector>(motion: D, normal: D, up: D) -> D {
    let is_slope = normal.dot(up) > 0.0;
    match horizontal(normal, up).filter(|_| is_slope) {
        Some(outward) => motion - outward * motion.dot(outward).min(0.0),
        None => motion,
    }
}

/// # Kinematic movement
impl SpatialQuery<'_, '_> {
    /// Lists the planes of everything that a shape overlaps, or that is at most at `max_gap`: the
    /// nearest points with their normals. Sorted by gap, then by geometry.
    ///
    /// [`solve_planes`](crate::solve_planes) and [`clip_velocity`](crate::clip_velocity) take the
    /// planes.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{ContactPlane, clip_velocity, prelude::*, solve_planes};
    ///
    /// /// Moves a capsule by at most 0.5. The result keeps everything near in front of the planes.
    /// fn glide(
    ///     query: SpatialQuery,
    ///     mut player: Single<&mut Transform, With<Collider>>,
    ///     mut planes: Local<Vec<ContactPlane>>,
    /// ) {
    ///     let body = Collider::capsule_3d(0.4, 1.0);
    ///     query.contact_planes(&body, **player, 0.5, &SpatialQueryFilter::default(), &mut planes);
    ///     player.translation += solve_planes(Vec3::X * 0.3, &planes);
    /// }
    /// # let _ = glide;
    /// ```
    ///
    /// A surface has no planes at its seams, and only those on its outer side if it is one-sided.
    /// Compounds have a plane for each part. A scale that is not uniform makes `max_gap` longer
    /// along the axes that it stretches.
    pub fn contact_planes(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        max_gap: f32,
        filter: &SpatialQueryFilter,
        planes: &mut Vec<ContactPlane>,
    ) {
        planes.clear();
        let found = in_space(
            collider,
            pose,
            |body| list_planes(self, &body, max_gap, filter),
            |body| list_planes(self, &body, max_gap, filter),
        );
        planes.extend(found.into_iter().flatten());
    }

    /// Moves a shape by `translation`, and lets it slide along everything that it touches. Returns
    /// the translation that is left, the ground, and what was hit.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{Ground, prelude::*};
    ///
    /// #[derive(Component)]
    /// struct Player { velocity: Vec3, ground: Option<Ground> }
    ///
    /// /// Runs after [`HeadbuttSystems::Sync`].
    /// fn walk(
    ///     query: SpatialQuery,
    ///     time: Res<Time>,
    ///     player: Single<(Entity, &Collider, &mut Transform, &mut Player)>,
    /// ) {
    ///     let (entity, body, mut pose, mut player) = player.into_inner();
    ///     player.velocity.y -= 9.81 * time.delta_secs();
    ///     let settings = MoveAndSlide { step_height: 0.4, ground: player.ground, ..default() };
    ///     let filter = SpatialQueryFilter::default().excluding_tree(entity);
    ///     let wanted = player.velocity * time.delta_secs();
    ///     let slide = query.move_and_slide(body, *pose, wanted, &settings, &filter);
    ///     pose.translation += slide.translation;
    ///     player.velocity = slide.clip_velocity(player.velocity);
    ///     player.ground = slide.ground;
    /// }
    /// # let _ = walk;
    /// ```
    ///
    /// The translation is a `Vec2` or a `Vec3`. It is that of one tick, with the fall.
    ///
    /// * **On the ground**, the horizontal part of the translation is a walk along the ground, up
    ///   and down slopes at the same speed. The fall counts only where the ground ends. A body
    ///   without a horizontal translation stays where it is, on every slope that is ground.
    /// * **In the air**, or with a translation upwards, the body moves straight, and slides along
    ///   what it hits. If it lands, it walks on.
    /// * **Walls** are all faces steeper than `max_slope`. A body slides along them, and does not
    ///   climb them. In the air, it slides down on slopes.
    /// * **Overlaps** at the start are resolved first, as by [`push_out`](Self::push_out).
    /// * **The gap** to everything is at least half of the skin after the move, if there is room.
    /// * The path depends on the geometry alone, not on the order in which entities were spawned.
    ///
    /// A half-space, an inert shape and an invalid pose do not move.
    pub fn move_and_slide<V: crate::Dimension>(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        translation: V,
        settings: &MoveAndSlide,
        filter: &SpatialQueryFilter,
    ) -> Slide {
        let around = Surroundings {
            query: self,
            filter,
        };
        let translation = translation.to_vec3();
        in_space(
            collider,
            pose,
            |body| Character::slide(&around, &body, translation, settings),
            |body| Character::slide(&around, &body, translation, settings),
        )
        .flatten()
        .unwrap_or_else(|| Slide {
            translation: Vec3::ZERO,
            ground: None,
            is_stuck: false,
            hits: SmallVec::new(),
            up: DVec3::ZERO,
        })
    }
}

/// Returns the planes within a gap of a body.
fn list_planes<V: QuerySpace>(
    query: &SpatialQuery,
    body: &Proxy<V>,
    max_gap: f32,
    filter: &SpatialQueryFilter,
) -> Vec<ContactPlane> {
    let mut planes = Vec::new();
    let around = Surroundings { query, filter };
    if let Some(grown) = Grown::new(body, max_gap.into()) {
        around.planes(&grown, &mut planes);
    }
    let in_world = planes.iter().map(|plane| ContactPlane {
        entity: plane.entity,
        part: plane.part,
        normal: V::from_f64(plane.normal).to_vec3(),
        gap: plane.gap as f32,
        point: V::from_f64(plane.point).to_vec3(),
        push_limit: f32::INFINITY,
    });
    in_world.collect()
}
