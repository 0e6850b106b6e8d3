//! Exceptions: single pairs of colliders that never touch. `PairRules` calls
//! [`Exceptions::between`] for each pair.

use bevy::{
    ecs::entity::{EntityHashSet, EntityMapper, MapEntities},
    prelude::*,
};

use crate::meeting::{ComponentCopies, Party};

/// The entities that this entity never touches, such as another player of the same team, or a crate
/// that the entity carries.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn carry(mut commands: Commands, player: Entity, crate_box: Entity) {
///     commands.entity(player).insert(IgnoreCollisions::from(crate_box));
/// }
///
/// fn put_down(mut ignored: Query<&mut IgnoreCollisions>, player: Entity, crate_box: Entity) {
///     if let Ok(mut ignored) = ignored.get_mut(player) {
///         ignored.remove(&crate_box);
///     }
/// }
/// # let _ = (carry, put_down);
/// ```
///
/// * The exception holds in both directions, so only one of the two entities needs the component.
/// * An exception of an entity applies to its own collider, and to all colliders that it
///   [owns](crate::ColliderOf).
/// * The exception holds in ticks, on swept paths, and in the queries
///   [of](crate::SpatialQueryFilter::of) one of the two entities.
///
/// A change takes effect in the next tick, even if the colliders are at rest. The component also
/// counts while its entity is disabled. After a change of the set, the next tick removes the
/// entities that no longer exist.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut, Reflect)]
#[component(map_entities)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct IgnoreCollisions(pub EntityHashSet);

impl From<Entity> for IgnoreCollisions {
    fn from(entity: Entity) -> Self {
        Self::from_iter([entity])
    }
}

impl FromIterator<Entity> for IgnoreCollisions {
    fn from_iter<I: IntoIterator<Item = Entity>>(entities: I) -> Self {
        Self(entities.into_iter().collect())
    }
}

impl MapEntities for IgnoreCollisions {
    fn map_entities<E: EntityMapper>(&mut self, mapper: &mut E) {
        let entities = self.0.drain();
        self.0 = entities.map(|entity| mapper.get_mapped(entity)).collect();
    }
}

/// The exceptions of a tick.
#[derive(Debug, Default, Deref, DerefMut)]
pub struct Exceptions(ComponentCopies<IgnoreCollisions>);

impl Exceptions {
    /// Removes from the set of `entity` all entities for which `is_kept` returns `false`.
    pub fn retain(&mut self, entity: Entity, is_kept: impl FnMut(&Entity) -> bool) {
        if let Some(ignored) = self.get_mut(entity) {
            ignored.retain(is_kept);
        }
    }

    /// Returns the set of an entity.
    pub fn of(&self, entity: Entity) -> Option<&EntityHashSet> {
        self.get(entity).map(|ignored| &ignored.0)
    }

    /// Returns each exception: the entity with the component, and the ignored entity.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        let holders = self.0.iter();
        holders.flat_map(|(entity, ignored)| ignored.iter().map(move |other| (entity, *other)))
    }

    /// Returns the exception that excludes a pair, if there is one: the entity with the component,
    /// and the ignored entity.
    pub fn between(&self, a: Party, b: Party) -> Option<(Entity, Entity)> {
        if self.is_empty() {
            return None;
        }
        self.listed(a, b).or_else(|| self.listed(b, a))
    }

    /// Returns an exception in which `a` or its owner has the component, and `b` or its owner is
    /// ignored.
    fn listed(&self, a: Party, b: Party) -> Option<(Entity, Entity)> {
        let other_entities = [b.entity, b.owner()];
        [a.entity, a.owner()].into_iter().find_map(|entity| {
            let ignored = self.of(entity)?;
            let other = other_entities.into_iter().find(|it| ignored.contains(it))?;
            Some((entity, other))
        })
    }
}
