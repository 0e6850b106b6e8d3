//! The app's filters of pairs and of contacts. In each tick, `pipeline/filters.rs` calls
//! [`AppFilters::mark`], and then [`FilterList::ask`] and [`FilterList::rejected`] for each list.

use bevy::{
    ecs::system::{ReadOnlySystemParam, SystemParamItem, SystemState},
    prelude::*,
};

use crate::{
    buffer::Buffer,
    collision::CollisionEvent,
    meeting::{Party, rejections::Rejections},
};

/// A pair of colliders that a filter decides on. In a tick, the bounding boxes of the two colliders
/// or of their swept paths overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CandidatePair {
    /// In a tick, the entity with the marker of the filter. If both entities have the marker, this
    /// is the lower entity. In a query, this is the entity that was passed to
    /// [`SpatialQueryFilter::of`](crate::SpatialQueryFilter::of).
    pub entity: Entity,
    /// The other entity.
    pub other: Entity,
    /// The owner of `entity`: see [`ColliderOf`](crate::ColliderOf).
    pub owner: Entity,
    /// The owner of `other`: see [`ColliderOf`](crate::ColliderOf).
    pub other_owner: Entity,
}

impl CandidatePair {
    /// Returns the pair as seen from `a`.
    pub(crate) fn new(a: Party, b: Party) -> Self {
        Self {
            entity: a.entity,
            other: b.entity,
            owner: a.owner(),
            other_owner: b.owner(),
        }
    }
}

/// Adds filters of pairs and of contacts to an [`App`].
///
/// `M` is a component that marks colliders, and `P` is any read-only system parameter, such as a
/// `Query`, a `Res`, or a tuple of these. The rules for all filters:
///
/// * A filter gets only pairs in which at least one collider has the marker, and which layers,
///   owners and exceptions do not exclude. The marker must be on the entity of the collider, not on
///   its owner. To read components of the owner, use [`CandidatePair::owner`] or
///   [`CollisionEvent::owner`](crate::CollisionEvent::owner).
/// * A filter is called in each tick, even if the pair is at rest. So a change of the data that the
///   filter reads takes effect in the next tick. For this purpose, each tick tests marked colliders
///   as if they moved. If a filter rejects an ongoing contact, the contact ends with the reason
///   [`Rejected`](crate::EndReason::Rejected).
/// * If there are several filters, all of them must accept. While the parameters of a filter are
///   not available, the filter accepts everything, for example if a resource is missing.
/// * The result must depend only on the world. Otherwise, a repeated tick may send other events
///   after a rollback.
pub trait AddCollisionFilter {
    /// Adds a filter for pairs in which a collider has the component `M`. If the filter returns
    /// `false`, the pair is not tested in this tick.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// #[derive(Component, PartialEq)]
    /// struct Team(u8);
    ///
    /// #[derive(Component)]
    /// struct Bullet;
    ///
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    /// // Friendly fire is off. Bullets and hitboxes have no team, but their owners do.
    /// app.add_pair_filter::<Bullet, Query<&Team>>(|pair, teams| {
    ///     let [team, other] = [pair.owner, pair.other_owner].map(|owner| teams.get(owner).ok());
    ///     team.is_none() || team != other
    /// });
    /// ```
    ///
    /// The filter is called at most once per pair and tick, after
    /// [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). The filter also applies
    /// to swept paths. For spatial queries, pass the same function to
    /// [`SpatialQueryFilter::with_pair_filter`](crate::SpatialQueryFilter::with_pair_filter).
    fn add_pair_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(CandidatePair, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self;

    /// Adds a filter for the contacts of colliders with the component `M`. If the filter returns
    /// `false`, the contact is not reported.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use headbutt::prelude::*;
    ///
    /// /// A shield whose x axis points forward. Bullets from behind pass through the shield.
    /// #[derive(Component)]
    /// struct Shield;
    /// #[derive(Component)]
    /// struct Bullet {
    ///     velocity: Vec3,
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    /// app.add_contact_filter::<Shield, (TransformHelper, Query<&Bullet>)>(|contact, params| {
    ///     let (poses, bullets) = params;
    ///     let pose = poses.compute_global_transform(contact.entity);
    ///     let bullet = bullets.get(contact.other);
    ///     let (Ok(pose), Ok(bullet)) = (pose, bullet) else { return true };
    ///     bullet.velocity.dot(*pose.right()) < 0.0
    /// });
    /// ```
    ///
    /// The example reads the velocity of the bullet instead of the normal. If a bullet from behind
    /// ends a tick near the front of the shield, the normal points forward, as for a bullet from
    /// the front.
    ///
    /// * `contact.entity` is the entity with the marker, and the normal points away from it. If
    ///   both entities have the marker, `contact.entity` is the lower entity. The phase is always
    ///   `Ongoing`.
    /// * If several parts of two colliders touch, the filter is called with the contact of each
    ///   part. The contact of the pair is the deepest accepted contact.
    /// * The filter is also called with the first touch on the path of a [`Swept`](crate::Swept)
    ///   collider. If the filter rejects this touch, the plugin does not search for later touches
    ///   on the path. But the filter is also called with the contact in the poses of this tick. So
    ///   a bullet whose first touch is rejected may still be reported if it ends a tick inside the
    ///   collider.
    /// * The filter runs in [`HeadbuttSystems::NarrowPhase`](crate::HeadbuttSystems::NarrowPhase).
    ///   Spatial queries do not call the filter.
    ///
    /// A pair filter costs less, because the contacts of rejected pairs are not computed.
    fn add_contact_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(&CollisionEvent, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self;
}

impl AddCollisionFilter for App {
    fn add_pair_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(CandidatePair, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        let mut filters = self.world_mut().get_resource_or_init::<AppFilters>();
        let filter = move |pair: &CandidatePair, params: &SystemParamItem<P>| filter(*pair, params);
        filters.pairs.add::<M, P>(filter);
        self
    }

    fn add_contact_filter<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(&CollisionEvent, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        let mut filters = self.world_mut().get_resource_or_init::<AppFilters>();
        filters.contacts.add::<M, P>(filter);
        self
    }
}

/// All filters that the app has added.
#[derive(Resource, Default)]
pub struct AppFilters {
    pub pairs: FilterList<CandidatePair>,
    pub contacts: FilterList<CollisionEvent>,
    /// The entities that have the marker of a filter.
    pub marked: EntityBits,
    /// The rejections of a tick of a `Replay`, which replace the decisions of the filters.
    pub replayed: Option<Rejections>,
}

impl AppFilters {
    /// Begins a tick: updates [`marked`](Self::marked), and calls `mark` with each marked entity.
    pub fn mark(&mut self, world: &mut World, mut mark: impl FnMut(Entity)) {
        self.marked.clear();
        let mut mark = |entity| {
            self.marked.insert(entity);
            mark(entity);
        };
        self.pairs.mark(world, &mut mark);
        self.contacts.mark(world, &mut mark);
    }
}

/// A set of entities, with a bit for each index. The set ignores the generations of entities.
#[derive(Default)]
pub struct EntityBits(Buffer<u64>);

impl EntityBits {
    /// Removes all entities. Call this function once per tick.
    fn clear(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, entity: Entity) {
        let (word, bit) = Self::place(entity);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= bit;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, entity: Entity) -> bool {
        let (word, bit) = Self::place(entity);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Returns the index of the word with an entity's bit, and the bit.
    fn place(entity: Entity) -> (usize, u64) {
        let index = entity.index_u32();
        ((index / u64::BITS) as usize, 1 << (index % u64::BITS))
    }
}

/// A value that a filter decides on: a pair or a contact.
pub trait Filtered: Copy {
    fn entities(&self) -> [Entity; 2];
    /// Returns the same value as seen from the other entity.
    fn flipped(&self) -> Self;
}

impl Filtered for CandidatePair {
    fn entities(&self) -> [Entity; 2] {
        [self.entity, self.other]
    }

    fn flipped(&self) -> Self {
        Self {
            entity: self.other,
            other: self.entity,
            owner: self.other_owner,
            other_owner: self.owner,
        }
    }
}

impl Filtered for CollisionEvent {
    fn entities(&self) -> [Entity; 2] {
        [self.entity, self.other]
    }

    fn flipped(&self) -> Self {
        self.flipped()
    }
}

/// The filters of one kind, and the pairs or contacts that they decide on in this tick.
pub struct FilterList<T> {
    filters: Vec<Box<dyn Filter<T>>>,
    asked: Buffer<T>,
    /// For each value in `asked`, `true` if a filter rejects the value.
    is_rejected: Buffer<bool>,
}

impl<T> Default for FilterList<T> {
    fn default() -> Self {
        Self {
            filters: Vec::new(),
            asked: Buffer::default(),
            is_rejected: Buffer::default(),
        }
    }
}

impl<T: Filtered + 'static> FilterList<T> {
    fn add<M: Component, P: ReadOnlySystemParam + 'static>(
        &mut self,
        filter: impl Fn(&T, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
    ) {
        self.filters.push(Box::new(MarkedFilter::<M, P, _> {
            filter,
            state: None,
        }));
    }

    /// Begins a tick, and calls `mark` with all marked entities.
    fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity)) {
        self.asked.clear();
        self.is_rejected.clear();
        for filter in &mut self.filters {
            filter.mark(world, mark);
        }
    }

    /// Returns `true` if there is no filter.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Adds the values that the filters decide on. Each value has the lower entity first.
    pub fn ask(&mut self, asked: impl Iterator<Item = T>) {
        self.asked.extend(asked);
    }

    /// Calls the filters with the values that they decide on.
    pub fn call(&mut self, world: &mut World) {
        self.is_rejected.resize(self.asked.len(), false);
        for filter in &mut self.filters {
            filter.reject(world, &self.asked, &mut self.is_rejected);
        }
    }

    /// Returns the rejected values.
    pub fn rejected(&self) -> impl Iterator<Item = &T> {
        let decided = self.asked.iter().zip(self.is_rejected.iter());
        decided.filter_map(|(value, is_rejected)| is_rejected.then_some(value))
    }
}

trait Filter<T>: Send + Sync {
    /// Calls `mark` with all marked entities.
    fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity));

    /// Sets `is_rejected` for the values that the filter rejects. Values that are already rejected
    /// are skipped.
    fn reject(&mut self, world: &mut World, asked: &[T], is_rejected: &mut [bool]);
}

/// A filter with its marker and its system parameters.
struct MarkedFilter<M: Component, P: ReadOnlySystemParam + 'static, F> {
    filter: F,
    /// The query for marked entities, and the parameters. The first tick creates them.
    state: Option<FilterState<M, P>>,
}

struct FilterState<M: Component, P: ReadOnlySystemParam + 'static> {
    marked: QueryState<Entity, With<M>>,
    params: SystemState<P>,
}

impl<M: Component, P: ReadOnlySystemParam + 'static, F> MarkedFilter<M, P, F> {
    fn state(&mut self, world: &mut World) -> (&F, &mut FilterState<M, P>) {
        let state = self.state.get_or_insert_with(|| FilterState {
            marked: world.query_filtered(),
            params: SystemState::new(world),
        });
        (&self.filter, state)
    }
}

impl<T, M, P, F> Filter<T> for MarkedFilter<M, P, F>
where
    T: Filtered,
    M: Component,
    P: ReadOnlySystemParam + 'static,
    F: Fn(&T, &SystemParamItem<P>) -> bool + Send + Sync + 'static,
{
    fn mark(&mut self, world: &mut World, mark: &mut dyn FnMut(Entity)) {
        let (_, state) = self.state(world);
        state.marked.iter(world).for_each(mark);
    }

    fn reject(&mut self, world: &mut World, asked: &[T], is_rejected: &mut [bool]) {
        let (filter, FilterState { params, .. }) = self.state(world);
        let world: &World = world;
        let is_marked = |entity| world.get::<M>(entity).is_some();
        let Ok(params) = params.get(world) else {
            return;
        };
        for (value, is_rejected) in asked.iter().zip(is_rejected) {
            if *is_rejected {
                continue;
            }
            let seen = match value.entities().map(is_marked) {
                [true, _] => *value,
                [false, true] => value.flipped(),
                [false, false] => continue,
            };
            *is_rejected = !filter(&seen, &params);
        }
    }
}
