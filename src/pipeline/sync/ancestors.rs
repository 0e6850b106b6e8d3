//! Which colliders have an ancestor that changed.

use bevy::{
    ecs::{component::ComponentId, entity::EntityHashMap},
    prelude::*,
};

use crate::{
    buffer::{Buffer, Peak, Reclaim, is_excessive},
    pipeline::sync::columns::Since,
};

/// The number of ancestors of an entity. Bevy marks added ancestors and links as changed; a removed
/// one changes these counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    ancestors: u32,
    /// The number of ancestors with a `Transform`.
    transforms: u32,
}

/// An entity with all of its ancestors.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    links: Links,
    /// `true` if the transform or the parent of any of them changed.
    is_changed: bool,
}

impl Chain {
    /// Ancestors in a loop. No acyclic chain has this length, so that breaking the loop changes the
    /// counts.
    const LOOP: Self = Self {
        links: Links {
            ancestors: u32::MAX,
            transforms: u32::MAX,
        },
        is_changed: false,
    };

    /// This chain below `above`.
    fn below(self, above: Self) -> Self {
        let (own, others) = (self.links, above.links);
        Self {
            links: Links {
                ancestors: others.ancestors.saturating_add(own.ancestors),
                transforms: others.transforms.saturating_add(own.transforms),
            },
            is_changed: self.is_changed || above.is_changed,
        }
    }
}

/// What is known of the ancestors looked at in a tick.
#[derive(Default)]
pub struct Chains {
    /// By entity. `None` for an entity whose own ancestors are being looked at. An entity without a
    /// parent is not listed: to read it again costs less.
    known: EntityHashMap<Option<Chain>>,
    peak: Peak,
    /// Ancestors visited in this walk, each with its own `Chain` only.
    path: Buffer<(Entity, Chain)>,
}

impl Chains {
    /// Shrinks the buffers. Called once a tick.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.path.reclaim(reclaim);
        self.peak.note(self.known.len());
        if is_excessive(self.known.capacity(), self.peak.get()) {
            self.known.shrink_to(2 * self.peak.get());
        }
        if reclaim.ends_window() {
            self.peak.end_window();
        }
    }
}

/// Looks at ancestors for changes: in a tick, once at each that has a parent itself.
pub struct Ancestors<'w> {
    world: &'w World,
    since: Since,
    chains: &'w mut Chains,
    /// Bevy's numbers of these components, if there are any: by type, it looks for them each time.
    transform: Option<ComponentId>,
    child_of: Option<ComponentId>,
    /// The last parent that was asked for: siblings often follow one another.
    last: Option<(Entity, Chain)>,
    count: usize,
}

impl<'w> Ancestors<'w> {
    /// Begins a tick.
    pub fn new(world: &'w World, since: Since, chains: &'w mut Chains) -> Self {
        chains.known.clear();
        Self {
            world,
            since,
            chains,
            transform: world.component_id::<Transform>(),
            child_of: world.component_id::<ChildOf>(),
            last: None,
            count: 0,
        }
    }

    /// Returns the number of entities read.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the links of a child of `parent`, and `true` if any ancestor changed.
    #[inline]
    pub fn look(&mut self, parent: Option<Entity>) -> (Links, bool) {
        let chain = match (parent, self.last) {
            (None, _) => Chain::default(),
            (Some(parent), Some((last, chain))) if last == parent => chain,
            (Some(parent), _) => {
                let chain = self.follow(parent);
                self.last = Some((parent, chain));
                chain
            }
        };
        (chain.links, chain.is_changed)
    }

    /// Returns the chain from `parent` on.
    fn follow(&mut self, parent: Entity) -> Chain {
        let mut chain = Chain::default();
        let mut next = Some(parent);
        while let Some(entity) = next {
            if let Some(known) = self.chains.known.get(&entity) {
                chain = known.unwrap_or(Chain::LOOP);
                break;
            }
            let Some((own, above)) = self.read(entity) else {
                break;
            };
            next = above;
            if above.is_some() {
                self.chains.known.insert(entity, None);
                self.chains.path.push((entity, own));
            } else {
                chain = own;
            }
        }
        self.chains.path.note();
        while let Some((entity, own)) = self.chains.path.pop() {
            chain = own.below(chain);
            self.chains.known.insert(entity, Some(chain));
        }
        chain
    }

    /// Reads an entity alone, and its parent. Returns `None` if there is no such entity.
    fn read(&mut self, entity: Entity) -> Option<(Chain, Option<Entity>)> {
        let entity = self.world.get_entity(entity).ok()?;
        self.count += 1;
        let changed = |component: Option<ComponentId>| {
            let ticks = entity.get_change_ticks_by_id(component?)?;
            Some(self.since.has(ticks.changed))
        };
        let has_moved = changed(self.transform);
        let has_other_parent = changed(self.child_of);
        let own = Chain {
            links: Links {
                ancestors: 1,
                transforms: has_moved.is_some().into(),
            },
            is_changed: has_moved == Some(true) || has_other_parent == Some(true),
        };
        let parent = has_other_parent.and_then(|_| entity.get::<ChildOf>());
        Some((own, parent.map(ChildOf::parent)))
    }
}
