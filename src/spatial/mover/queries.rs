//! The planes around a shape, and the movement of a character. An app calls the methods of this
//! file in the system that moves the character.

use crate::{
    Collider,
    collider_query::place::{AnyPlaced, in_own_dimension},
    placed::PlacedCollider,
    shape::Dimension,
    space::QueryPose,
    spatial::{
        SpatialQuery, SpatialQueryFilter,
        mover::{
            body::{FilteredQuery, GrownBody},
            character::Character,
            planes::ContactPlane,
            slide::{MoveAndSlideOutput, MoveAndSlideSettings},
        },
        spatial_query::QuerySpace,
    },
};

/// # Kinematic movement
impl SpatialQuery<'_, '_> {
    /// Lists the contact planes between a shape and all colliders that overlap it or are within a
    /// distance of `max_gap`. The planes are sorted by gap, then by geometry.
    ///
    /// Pass the planes to [`solve_planes`](crate::solve_planes) or
    /// [`clip_velocity`](crate::clip_velocity).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{ContactPlane, clip_velocity, prelude::*, solve_planes};
    ///
    /// /// Moves a capsule by 0.3, or as far as the planes within a distance of 0.5 allow.
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
    /// A surface has no planes at its seams. A one-sided surface has planes on its outer side only.
    /// A compound has a plane for each part. A scale that is not uniform lengthens `max_gap` along
    /// the stretched axes.
    ///
    /// The method replaces the content of `planes`. If you reuse the list, up to 16 planes of
    /// convex shapes need no allocation.
    pub fn contact_planes(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        max_gap: f32,
        filter: &SpatialQueryFilter,
        planes: &mut Vec<ContactPlane>,
    ) {
        planes.clear();
        let around = FilteredQuery::new(self, filter);
        if let Some(placed) = AnyPlaced::new(collider, pose) {
            in_own_dimension!(&placed, |body, _| list_planes(
                &around, body, max_gap, planes
            ));
        }
    }

    /// Moves a shape by `translation`, and lets it slide along everything that it touches. Returns
    /// the resulting translation, the ground, and the hits. The method moves no entity.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
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
    ///     let ground = player.ground;
    ///     let settings = MoveAndSlideSettings { step_height: 0.4, ground, ..default() };
    ///     let filter = SpatialQueryFilter::of(entity);
    ///     let wanted = player.velocity * time.delta_secs();
    ///     let slide = query.move_and_slide(body, *pose, wanted, &settings, &filter);
    ///     pose.translation += slide.translation;
    ///     player.velocity = slide.clip_velocity(player.velocity);
    ///     player.ground = slide.ground;
    /// }
    /// # let _ = walk;
    /// ```
    ///
    /// If children of the body have colliders that it does not [own](crate::ColliderOf), also call
    /// [`excluding_tree`](SpatialQueryFilter::excluding_tree). Without
    /// [`of`](SpatialQueryFilter::of), [`OneWay`](crate::OneWay) platforms are solid from below.
    ///
    /// `translation` is a `Vec2` or a `Vec3`: the desired translation for one tick, including the
    /// fall.
    ///
    /// * **On the ground**, the body walks by the horizontal part of the translation, up and down
    ///   slopes at the same speed. The downward part of the translation counts only where the
    ///   ground ends. Without a horizontal translation, the body stays where it is, on every slope
    ///   that is ground.
    /// * **In the air**, or with an upward translation, the body moves straight, and slides along
    ///   the colliders that it hits. After landing, the body walks for the rest of the translation.
    /// * **Walls** are all faces steeper than `max_slope`. A body slides along walls, and does not
    ///   climb them. In the air, a body slides down steep slopes.
    /// * **Overlaps** at the start are resolved first, as by [`push_out`](Self::push_out).
    /// * **The gap** to everything is at least three eighths of the skin after the move, if there
    ///   is room.
    /// * The path depends on the geometry alone, not on the order in which entities were spawned.
    ///
    /// A half-space, an inert shape, or a shape in an invalid pose does not move.
    pub fn move_and_slide<V: Dimension>(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        translation: V,
        settings: &MoveAndSlideSettings,
        filter: &SpatialQueryFilter,
    ) -> MoveAndSlideOutput {
        let around = FilteredQuery::new(self, filter);
        let translation = translation.to_vec3();
        let slide = AnyPlaced::new(collider, pose).and_then(|placed| {
            in_own_dimension!(&placed, |body, _| {
                Character::slide(&around, body, translation, settings)
            })
        });
        slide.unwrap_or_default()
    }
}

/// Adds the contact planes within a distance of `max_gap` from a body to a list.
fn list_planes<V: QuerySpace>(
    around: &FilteredQuery,
    body: &PlacedCollider<V>,
    max_gap: f32,
    planes: &mut Vec<ContactPlane>,
) {
    let Some(grown) = GrownBody::new(body, max_gap.into()) else {
        return;
    };
    planes.extend(around.planes(&grown).iter().map(|plane| ContactPlane {
        entity: plane.entity,
        part: plane.part,
        normal: V::from_f64(plane.normal).to_vec3(),
        gap: plane.gap as f32,
        point: V::from_f64(plane.point).to_vec3(),
        push_limit: f32::INFINITY,
    }));
}
