//! Reading what touches without events.

use core::fmt;

use bevy::{ecs::system::SystemParam, prelude::*};

use crate::{buffer::Peak, collision::CollisionState};

/// All pairs that touch, as of the last tick: a system parameter, with the methods of [`CollisionState`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
///
/// fn is_grounded(collisions: Collisions, player: Single<Entity, With<Player>>) {
///     // Of a level that is one mesh, the wall may be deeper than the floor: so all parts are asked.
///     let grounded = collisions.parts_of(*player).any(|hit| hit.normal.y < -0.7);
///     println!("{} of {} contacts, grounded: {grounded}", collisions.of(*player).count(), collisions.len());
/// }
/// ```
///
/// It does not change between the [`Report`](crate::HeadbuttSystems::Report) sets of two ticks: an entity that was
/// despawned since is still in it.
#[derive(SystemParam, Deref)]
pub struct Collisions<'w> {
    state: Res<'w, CollisionState>,
}

/// The entities that this one touches, as of the last tick: a component that is kept up to date where it is present.
///
/// Insert it when you like, also during a contact. It is changed, in the sense of Bevy's change detection, only when its
/// content is.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Collider::from(Circle::new(1.0)), CollidingEntities::default()));
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
    /// All of them, each once, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Entity> {
        self.entities.iter().copied()
    }

    /// Whether `entity` is among them.
    pub fn contains(&self, entity: Entity) -> bool {
        self.entities.contains(&entity)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Takes over what `entity`, which this component belongs to, touches now.
    pub(crate) fn update(this: &mut Mut<Self>, state: &CollisionState, entity: Entity) {
        let now = || state.of(entity).map(|contact| contact.other);
        if !now().eq(this.iter()) {
            let Self { entities, peak } = &mut **this;
            peak.note(entities.len());
            entities.clear();
            entities.extend(now());
        }
    }

    /// Shrinks the buffer. Called once in a window of ticks, so that this ends the
    /// window.
    pub(crate) fn reclaim(&mut self) {
        let Self { entities, peak } = self;
        peak.note(entities.len());
        peak.shrink(entities, usize::MAX);
        peak.end_window();
    }
}
