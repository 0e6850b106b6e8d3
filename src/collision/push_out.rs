//! The translation that moves an entity out of all solid colliders that it touches. An app calls
//! [`Collisions::push_out`] in its response.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    collision::{CollisionEvent, Collisions},
    math::DVec3,
    shape::Dimension,
    space::{
        DVector, Space,
        shortest_translation::{PushPlane, bounded_translation},
    },
    tolerance::TOUCHING,
};

/// A push along an axis ignores a plane if the cosine between its normal and the axis is at most
/// this constant. To clear such a plane, the push would have to be at least 10 times as long as the
/// depth.
const LEAST_COSINE: f64 = 0.1;

/// An overlap of at most this fraction of the coordinates of the contact point is treated as a
/// rounding error. Rounding the positions of the two colliders to f32 causes at most half of this
/// overlap.
const OVERLAP_ROUNDING: f64 = 2.0 * TOUCHING;

/// The translation that moves a shape out of all solid colliders, in the world's frame.
///
/// In 2D, the translation's z is 0, and `.xy()` returns the `Vec2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub enum PushOut {
    /// The shape overlaps nothing solid.
    #[default]
    Free,
    /// The translation after which the shape overlaps nothing solid.
    Moved(Vec3),
    /// The shape is *pressed*: no short translation resolves all overlaps. Of all tried
    /// translations, this translation leaves the least overlap.
    Pressed(Vec3),
}

impl PushOut {
    /// Returns the translation to apply, which is 0 for [`PushOut::Free`].
    pub fn translation(self) -> Vec3 {
        match self {
            Self::Free => Vec3::ZERO,
            Self::Moved(translation) | Self::Pressed(translation) => translation,
        }
    }

    /// Returns `true` for [`PushOut::Pressed`].
    pub fn is_pressed(self) -> bool {
        matches!(self, Self::Pressed(_))
    }
}

impl Collisions {
    /// Returns the shortest translation that moves an entity out of all solid colliders that it
    /// touches, or [`PushOut::Free`] if it touches none. `is_solid` is called with the deepest
    /// contact of each pair, as seen from `entity`.
    ///
    /// The translation resolves all touching parts of compounds and surfaces, such as the floor and
    /// the wall of one mesh. Colliders on children of `entity` are included, unless `entity`
    /// [owns](crate::ColliderOf) them. To exclude other children, use `is_solid` or layers.
    ///
    #[cfg_attr(
        doc,
        doc = "![In a corner, the push-out clears both walls][surface-corner]\n\n"
    )]
    #[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Player;
    /// #[derive(Component)]
    /// struct Coin;
    ///
    /// /// Runs after [`HeadbuttSystems::Report`].
    /// fn push_out(
    ///     collisions: Res<Collisions>,
    ///     player: Single<Entity, With<Player>>,
    ///     coins: Query<(), With<Coin>>,
    ///     mut mover: WorldMover,
    /// ) -> Result {
    ///     let push_out = collisions.push_out(*player, |hit| !coins.contains(hit.other));
    ///     mover.translate(*player, push_out.translation())?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// The translation is in the world's frame and units. [`WorldMover`](crate::WorldMover) applies
    /// the translation to an entity under any parent. In 2D, the translation's z is 0, and `.xy()`
    /// returns the `Vec2`.
    ///
    /// The method uses the contacts of the last tick, and treats each contact as a plane. The
    /// result is exact for flat faces: after the move, the entity just touches them. Between curved
    /// surfaces, a small overlap may remain for the next tick.
    ///
    /// The translation is at most twice as long as the greatest depth. If no translation of at most
    /// this length clears all planes, as between walls that are too close together, the result is
    /// [`PushOut::Pressed`]. The returned translation then leaves the least overlap that this
    /// length allows, to within 2 % of the greatest depth. So a body between two planes that form a
    /// wedge of less than 60 degrees is pressed for several ticks. At 45 degrees, each tick leaves
    /// 23 % of the depth, and at 20 degrees 65 % of the depth. Below 2.3 degrees, the motion toward
    /// the opening shrinks in proportion to the angle. At 0.2 degrees, the body moves by a sixth of
    /// the depth.
    ///
    /// If rounding of positions to f32 can cause the remaining overlaps, the result is not
    /// [`PushOut::Pressed`].
    pub fn push_out(&self, entity: Entity, is_solid: impl Fn(&CollisionEvent) -> bool) -> PushOut {
        self.push_out_with_slop(entity, 0.0, is_solid)
    }

    /// Returns the [`push_out`](Self::push_out) that leaves a gap of width `slop`, or an overlap if
    /// `slop` is negative. `slop` is in the world's units. If `slop` is not finite, the result is
    /// [`PushOut::Free`].
    ///
    /// After a move by the full depth, rounding of the new translation may leave a tiny gap, which
    /// ends the contact. To keep a character grounded, use a negative slop of a millionth of the
    /// largest coordinate. For example, use -0.001 if no coordinate exceeds 1000.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::{PushOut, prelude::*};
    ///
    /// let mut world = World::new();
    /// let [player, floor] = [(); 2].map(|()| world.spawn_empty().id());
    /// let hit = CollisionEvent::new(player, floor, Dir3::NEG_Y, 0.5);
    /// let collisions = Collisions::from_iter([hit]);
    /// let push_out = collisions.push_out_with_slop(player, -0.125, |_| true);
    /// assert_eq!(push_out, PushOut::Moved(Vec3::new(0.0, 0.375, 0.0)));
    /// ```
    pub fn push_out_with_slop(
        &self,
        entity: Entity,
        slop: f32,
        is_solid: impl Fn(&CollisionEvent) -> bool,
    ) -> PushOut {
        if !slop.is_finite() {
            return PushOut::Free;
        }
        let slop = f64::from(slop);
        let contacts = self.solid_contacts(entity, is_solid);
        let (planes, roundings): (SmallVec<[_; 16]>, SmallVec<[_; 16]>) = contacts
            .map(|((normal, depth), rounding)| ((normal, depth + slop), rounding))
            .unzip();
        let found = bounded_translation(&planes);
        let is_cleared = |((normal, depth), rounding): (&PushPlane<DVec3>, &f64)| {
            depth - normal.dot(found.translation) <= *rounding
        };
        let translation = Vec3::from_f64(found.translation.in_f32_range());
        if !found.clears_all && !planes.iter().zip(&roundings).all(is_cleared) {
            PushOut::Pressed(translation)
        } else if translation == Vec3::ZERO {
            PushOut::Free
        } else {
            PushOut::Moved(translation)
        }
    }

    /// Returns the shortest translation along an axis that moves an entity out of all solid
    /// colliders that it touches. The axis is a `Vec2` or a `Vec3` of any length, and the
    /// translation never opposes the axis.
    ///
    /// A character on a slope that is pushed out along the up axis does not creep downhill:
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// let mut world = World::new();
    /// let [player, slope, wall] = [(); 3].map(|()| world.spawn_empty().id());
    /// let downhill = Dir3::new(Vec3::new(0.6, -0.8, 0.0)).unwrap();
    /// let collisions = Collisions::from_iter([
    ///     CollisionEvent::new(player, slope, downhill, 0.4),
    ///     CollisionEvent::new(player, wall, Dir3::X, 0.25),
    /// ]);
    /// let push_out = collisions.push_out_along(player, Vec2::Y, |_| true);
    /// assert!(push_out.abs_diff_eq(Vec3::Y * 0.5, 1e-6));
    /// ```
    ///
    /// Contacts that a move along the axis cannot resolve are ignored, such as the contact with the
    /// wall in the example. For ignored contacts, the angle between the axis and the direction out
    /// of the contact exceeds 84 degrees (its cosine is at most 0.1).
    pub fn push_out_along<V: Dimension>(
        &self,
        entity: Entity,
        axis: V,
        is_solid: impl Fn(&CollisionEvent) -> bool,
    ) -> Vec3 {
        let Some(axis) = axis.to_vec3().to_f64().unit() else {
            return Vec3::ZERO;
        };
        let contacts = self.solid_contacts(entity, is_solid);
        let lengths = contacts.filter_map(|((normal, depth), _)| {
            let slope = normal.dot(axis);
            (slope > LEAST_COSINE).then(|| depth / slope)
        });
        Vec3::from_f64((axis * lengths.fold(0.0, f64::max)).in_f32_range())
    }

    /// Returns the plane of each solid contact of an entity, and the rounding error of the plane's
    /// depth. A plane is a unit normal, which points away from the other entity, and a depth.
    fn solid_contacts(
        &self,
        entity: Entity,
        is_solid: impl Fn(&CollisionEvent) -> bool,
    ) -> impl Iterator<Item = (PushPlane<DVec3>, f64)> {
        let solid = self.deepest_of(entity).filter(CollisionEvent::is_solid);
        let solid = solid.filter(move |hit| is_solid(hit));
        let parts = solid.flat_map(move |hit| self.parts(entity, hit.other));
        parts.filter_map(|hit| {
            // A normal that was rounded to f32 is no longer a unit vector in f64, so it is
            // normalized again.
            let normal = (-hit.normal.to_f64()).unit()?;
            let surface = hit.surface;
            let extent = surface.translation.to_f64().extent() + surface.offset.to_f64().extent();
            Some(((normal, f64::from(hit.depth)), OVERLAP_ROUNDING * extent))
        })
    }
}
