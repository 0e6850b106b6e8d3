//! Colors of colliders: one color for resting colliders, and another color for touching colliders.

use bevy::{ecs::component::Mutable, prelude::*};
use headbutt::prelude::*;

/// The materials of colliders with [`CollidingEntities`].
#[derive(Resource)]
pub struct Materials<M: Component> {
    pub resting: M,
    pub touching: M,
}

/// Gives each collider the material of its state.
pub fn light_up<M: Component<Mutability = Mutable> + Clone + PartialEq>(
    materials: Res<Materials<M>>,
    mut colliders: Query<(&CollidingEntities, &mut M), Changed<CollidingEntities>>,
) {
    for (touched, mut material) in &mut colliders {
        let state = if touched.is_empty() {
            &materials.resting
        } else {
            &materials.touching
        };
        material.set_if_neq(state.clone());
    }
}
