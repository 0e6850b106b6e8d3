//! The way out of all that an entity touches at once.

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::collision::{CollisionEvent, CollisionState};

/// More passes than this are not made. In a corner one or two do; in a wedge of 40 degrees 20.
const MAX_PASSES: usize = 64;

/// What may be missing of a depth, as a fraction of the greatest one: the rounding of f32, some times over.
const MISSING: f32 = 1e-6;

impl CollisionState {
    /// The shortest vector that moves an entity out of all that it touches and that is solid for it; 0 if there is none.
    ///
    /// All parts of compounds and surfaces count: the floor and the wall of one mesh, where an event has the deepest alone.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Player;
    /// #[derive(Component)]
    /// struct Coin;
    ///
    /// /// After [`HeadbuttSystems::Report`]. The player has no parent, so that its frame is the world's.
    /// fn push_out(
    ///     collisions: Collisions,
    ///     player: Single<(Entity, &mut Transform), With<Player>>,
    ///     coins: Query<(), With<Coin>>,
    /// ) {
    ///     let (player, mut transform) = player.into_inner();
    ///     transform.translation += collisions.push_out(player, |hit| !coins.contains(hit.other));
    /// }
    /// ```
    ///
    /// The contacts are those of the last tick, and each is a plane here, from which the entity has to be by its depth: after
    /// the move it just touches the deepest of them, or a little less where surfaces are curved. In the world's frame and units.
    /// Where that is impossible, between walls that are too near to each other, it is some way that does not lead far.
    ///
    /// The shortest x with x · nᵢ >= dᵢ for all i is x = Σ λᵢ nᵢ with factors λᵢ >= 0, and each pass sets one factor after
    /// the other so that its own contact is satisfied (Hildreth, "A quadratic programming procedure" (1957)).
    pub fn push_out(&self, entity: Entity, is_solid: impl Fn(&CollisionEvent) -> bool) -> Vec3 {
        self.push_out_with_slop(entity, 0.0, is_solid)
    }

    /// The same, and `slop` beyond it, so that gaps of that width remain; with a negative slop, overlaps: what is pushed out
    /// by all of a depth may, by the rounding of its translation, touch no longer, and is not grounded in the next tick. In units
    /// of the world, some ten millionths of how far from the origin things are.
    pub fn push_out_with_slop(
        &self,
        entity: Entity,
        slop: f32,
        is_solid: impl Fn(&CollisionEvent) -> bool,
    ) -> Vec3 {
        let solid = self.of(entity).filter(is_solid);
        let parts = solid.flat_map(|hit| self.parts(entity, hit.other));
        let mut planes: SmallVec<[(Vec3, f32, f32); 16]> = parts
            .map(|hit| (-hit.normal, hit.depth + slop, 0.0))
            .collect();
        // Deepest first; then what the deepest has moved out already asks for nothing.
        planes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let greatest = planes.first().map_or(0.0, |(_, depth, _)| depth.max(0.0));
        let mut way = Vec3::ZERO;
        for _ in 0..MAX_PASSES {
            let mut most = 0.0_f32;
            for (normal, depth, factor) in &mut planes {
                let missing = *depth - normal.dot(way);
                let next = (*factor + missing).max(0.0);
                way += *normal * (next - *factor);
                most = most.max((next - *factor).abs());
                *factor = next;
            }
            if most <= MISSING * greatest {
                break;
            }
        }
        way
    }
}
