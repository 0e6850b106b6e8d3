//! [`CollidingEntities`], the component that lists the entities that an entity touches. The report
//! calls [`CollidingEntities::update`] for each entity with the component.

use core::fmt;

use bevy::prelude::*;

use crate::{buffer::Peak, collision::Collisions};

/// The entities that this entity touched in the last tick.
///
/// Insert this component on any entity, at any time, even during a contact: the plugin keeps the
/// list up to date. Bevy's change detection marks the component as changed only if the list
/// changes.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Collider::circle(1.0), CollidingEntities::default()));
/// }
///
/// fn read(touched: Query<&CollidingEntities, Changed<CollidingEntities>>) {
///     for entities in &touched {
///         println!("touches {} others", entities.len());
///     }
/// }
/// ```
#[derive(Component, Clone, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct CollidingEntities {
    #[entities]
    entities: Vec<Entity>,
    #[reflect(ignore)]
    peak: Peak,
}

impl fmt::Debug for CollidingEntities {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { entities, .. } = self;
        let mut debug = formatter.debug_struct("CollidingEntities");
        debug.field("entities", entities).finish()
    }
}

impl PartialEq for CollidingEntities {
    fn eq(&self, other: &Self) -> bool {
        self.entities == other.entities
    }
}

impl Eq for CollidingEntities {}

impl<'a> IntoIterator for &'a CollidingEntities {
    type Item = Entity;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, Entity>>;

    fn into_iter(self) -> Self::IntoIter {
        self.entities.iter().copied()
    }
}

impl CollidingEntities {
    /// Returns each touched entity once, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Entity> {
        self.entities.iter().copied()
    }

    /// Returns `true` if this entity touches `entity`.
    pub fn contains(&self, entity: Entity) -> bool {
        self.entities.contains(&entity)
    }

    /// Returns the number of touched entities.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns `true` if this entity touches nothing.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Updates `this`, the component of `entity`, if its list differs from the current contacts.
    pub(crate) fn update(this: &mut Mut<Self>, collisions: &Collisions, entity: Entity) {
        let touched = || collisions.deepest_of(entity).map(|contact| contact.other);
        if !touched().eq(this.iter()) {
            let Self { entities, peak } = &mut **this;
            peak.record_len(entities.len());
            entities.clear();
            entities.extend(touched());
        }
    }

    /// Frees unused memory. This method is called once per window of ticks: see
    /// [`buffer`](crate::buffer).
    pub(crate) fn end_window(&mut self) {
        if self.peak.end_window(self.entities.len()) {
            self.entities.shrink_to_fit();
        }
    }
}
