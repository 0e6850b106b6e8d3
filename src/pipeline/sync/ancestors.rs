//! Detection of changes to a collider's ancestors.

use bevy::{
    ecs::{component::ComponentId, entity::EntityHashMap},
    prelude::*,
};

use crate::{buffer::Peak, pipeline::sync::change_ticks::ChangeWindow};

/// The number of ancestors of an entity, times 2^32, plus the number of ancestors with a
/// `Transform`. Removing an ancestor, a parent or a `Transform` changes this sum. Additions need no
/// sum, because Bevy's change ticks show them.
pub type AncestorSum = u64;

/// A summary of the ancestors of an entity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ancestry {
    pub sum: AncestorSum,
    /// `true` if the transform or the parent of any ancestor changed.
    pub is_changed: bool,
}

impl Ancestry {
    /// The ancestry of an entity whose ancestors form a loop. No other ancestry has this sum, so
    /// breaking the loop is detected.
    const LOOP: Self = Self {
        sum: AncestorSum::MAX,
        is_changed: false,
    };

    /// Returns the combined ancestry of these ancestors and of the ancestors `above`.
    fn below(self, above: Self) -> Self {
        Self {
            sum: self.sum.saturating_add(above.sum),
            is_changed: self.is_changed || above.is_changed,
        }
    }
}

/// The ancestries found in this tick.
#[derive(Default)]
pub struct AncestryCache {
    /// The ancestry of each entity's children. The value is `None` while the entity's own ancestors
    /// are visited. Entities without a parent are not cached, because reading them again is faster
    /// than a look-up.
    known: EntityHashMap<Option<Ancestry>>,
    /// The peak length of `known`, which is at least the length of `path`.
    peak: Peak,
    /// The entities visited in the current walk, each with the ancestry that it alone contributes.
    path: Vec<(Entity, Ancestry)>,
}

/// Computes ancestries. In a tick, each ancestor that has a parent is read only once.
pub struct AncestorReader<'w> {
    world: &'w World,
    window: ChangeWindow,
    cache: &'w mut AncestryCache,
    // The component ids are stored, because a lookup by type computes a hash.
    transform: Option<ComponentId>,
    child_of: Option<ComponentId>,
    /// The latest parent and its children's ancestry, kept because siblings are often neighbors in
    /// a table.
    latest: Option<(Entity, Ancestry)>,
    count: usize,
}

impl<'w> AncestorReader<'w> {
    /// Creates the reader for a tick, and clears the cache.
    pub fn new(world: &'w World, window: ChangeWindow, cache: &'w mut AncestryCache) -> Self {
        if cache.peak.end_tick(cache.known.len()) {
            *cache = AncestryCache::default();
        }
        cache.known.clear();
        Self {
            world,
            window,
            cache,
            transform: world.component_id::<Transform>(),
            child_of: world.component_id::<ChildOf>(),
            latest: None,
            count: 0,
        }
    }

    /// Returns the number of entities read.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the ancestry of a child of `parent`, or an empty ancestry if there is no parent.
    pub fn child_ancestry(&mut self, parent: Option<Entity>) -> Ancestry {
        let Some(parent) = parent else {
            return Ancestry::default();
        };
        if let Some((latest, ancestry)) = self.latest
            && latest == parent
        {
            return ancestry;
        }
        let ancestry = self.walk(parent);
        self.latest = Some((parent, ancestry));
        ancestry
    }

    /// Walks up from `parent`, and returns the ancestry of its children.
    fn walk(&mut self, parent: Entity) -> Ancestry {
        let mut ancestry = Ancestry::default();
        let mut next = Some(parent);
        while let Some(entity) = next {
            if let Some(known) = self.cache.known.get(&entity) {
                ancestry = known.unwrap_or(Ancestry::LOOP);
                break;
            }
            let Some((own, above)) = self.read(entity) else {
                break;
            };
            next = above;
            if above.is_some() {
                self.cache.known.insert(entity, None);
                self.cache.path.push((entity, own));
            } else {
                ancestry = own;
            }
        }
        while let Some((entity, own)) = self.cache.path.pop() {
            ancestry = own.below(ancestry);
            self.cache.known.insert(entity, Some(ancestry));
        }
        ancestry
    }

    /// Returns the ancestry that one entity alone contributes to its children, and the parent of
    /// the entity. Returns `None` if the entity does not exist.
    fn read(&mut self, entity: Entity) -> Option<(Ancestry, Option<Entity>)> {
        let entity = self.world.get_entity(entity).ok()?;
        self.count += 1;
        let is_changed = |component: Option<ComponentId>| {
            let ticks = entity.get_change_ticks_by_id(component?)?;
            Some(self.window.contains(ticks.changed))
        };
        let transform = is_changed(self.transform);
        let child_of = is_changed(self.child_of);
        let own = Ancestry {
            sum: (1 << 32) + u64::from(transform.is_some()),
            is_changed: transform == Some(true) || child_of == Some(true),
        };
        let parent = child_of.and_then(|_| entity.get::<ChildOf>());
        Some((own, parent.map(ChildOf::parent)))
    }
}
