//! Copies of a component of all entities. Comparison with the copies finds the entities whose
//! component changed. [`ComponentCopies::update`] is called in each `Sync`.

use bevy::{
    ecs::{change_detection::Tick, entity::EntityHashMap},
    prelude::*,
};

/// A copy of each component of type `C` in the world, by entity.
#[derive(Debug, Default)]
pub struct ComponentCopies<C> {
    copies: EntityHashMap<ComponentCopy<C>>,
    /// The number of the current update.
    update: u64,
}

#[derive(Debug)]
struct ComponentCopy<C> {
    value: C,
    /// The change tick of the component.
    changed: Tick,
    /// The number of the last update that found the component.
    update: u64,
}

impl<C: Component + Clone + PartialEq> ComponentCopies<C> {
    /// Updates the copies from all components. Returns the entities whose component was added,
    /// removed, or got another value.
    pub fn update<'a>(
        &mut self,
        components: impl Iterator<Item = (Entity, Ref<'a, C>)>,
    ) -> Vec<Entity> {
        let mut changed = Vec::new();
        self.update = self.update.wrapping_add(1);
        let update = self.update;
        for (entity, component) in components {
            let tick = component.last_changed();
            let copy = self.copies.entry(entity).or_insert_with(|| {
                changed.push(entity);
                ComponentCopy {
                    value: C::clone(&component),
                    changed: tick,
                    update,
                }
            });
            copy.update = update;
            if core::mem::replace(&mut copy.changed, tick) != tick && copy.value != *component {
                copy.value = C::clone(&component);
                changed.push(entity);
            }
        }
        self.copies.retain(|entity, copy| {
            let is_found = copy.update == update;
            if !is_found {
                changed.push(*entity);
            }
            is_found
        });
        if !changed.is_empty() {
            let len = self.copies.len();
            self.copies.shrink_to(2 * len);
        }
        changed
    }
}

impl<C> ComponentCopies<C> {
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Returns the copy of an entity's component, or `None` if there was no component at the last
    /// update.
    pub fn get(&self, entity: Entity) -> Option<&C> {
        self.copies.get(&entity).map(|copy| &copy.value)
    }

    /// Returns the copy of an entity's component. A caller that changes the copy must change the
    /// component in the same way.
    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut C> {
        self.copies.get_mut(&entity).map(|copy| &mut copy.value)
    }

    /// Returns all components.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &C)> {
        self.copies
            .iter()
            .map(|(entity, copy)| (*entity, &copy.value))
    }
}
