//! Layers, owners and exceptions in a world of random changes, compared with a model that decides
//! each pair from the components. For long runs:
//!
//! ```text
//! HEADBUTT_CHAOS=1000000 cargo test --release --test it meeting::random
//! ```
//!
//! Balls on a lattice touch if they are neighbors or at the same point.

use std::collections::{BTreeMap, BTreeSet};

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::{
    model::event_log::{EventLog, Pair, pair_of},
    support::{Dimension, app, cases::number, tick},
};

/// Balls of radius 0.5 touch at this distance, but not at √2 times this distance.
const SPACING: f32 = 0.75;

const POPULATION: usize = 60;

struct Rules {
    random: StdRng,
    dimension: Dimension,
    balls: Vec<Entity>,
    /// Entities without colliders, which own some balls, and are the parents of some.
    owners: Vec<Entity>,
}

impl Rules {
    fn pose(&mut self) -> Transform {
        let reach = match self.dimension {
            Dimension::D2 => 2,
            Dimension::D3 => 1,
        };
        let mut step = || self.random.random_range(-reach..=reach) as f32;
        Transform::from_translation(SPACING * Vec3::new(step(), step(), step()))
    }

    fn spawn(&mut self, world: &mut World) {
        let ball = (self.dimension.ball(0.5), self.pose());
        self.balls.push(world.spawn(ball).id());
    }

    fn ball(&mut self) -> Entity {
        *self.balls.choose(&mut self.random).expect("a ball")
    }

    fn any(&mut self) -> Entity {
        if self.random.random_bool(0.4) {
            *self.owners.choose(&mut self.random).expect("an owner")
        } else {
            self.ball()
        }
    }

    fn operate(&mut self, world: &mut World) {
        let (ball, any, other) = (self.ball(), self.any(), self.any());
        match self.random.random_range(0..18) {
            0 => {
                let number = self.random.random_range(0..self.balls.len());
                world.despawn(self.balls.swap_remove(number));
                self.spawn(world);
            }
            1 => {
                let number = self.random.random_range(0..self.owners.len());
                // Its children are despawned, too.
                world.despawn(self.owners[number]);
                self.owners[number] = world.spawn(Transform::IDENTITY).id();
                self.balls.retain(|ball| world.get_entity(*ball).is_ok());
                while self.balls.len() < POPULATION {
                    self.spawn(world);
                }
            }
            // The rules do not depend on the parent.
            14 => {
                let parent = *self.owners.choose(&mut self.random).expect("an owner");
                world.entity_mut(ball).insert(ChildOf(parent));
            }
            15 => {
                world.entity_mut(ball).remove::<ChildOf>();
            }
            // Bevy removes the component of an entity that owns itself.
            2..5 if ball != other => {
                world.entity_mut(ball).insert(ColliderOf(other));
            }
            5..7 => {
                world.entity_mut(ball).remove::<ColliderOf>();
            }
            7 => {
                let count = self.random.random_range(0..4);
                let ignored = (0..count).map(|_| self.any()).collect::<IgnoreCollisions>();
                world.entity_mut(any).insert(ignored);
            }
            8 | 9 => {
                if let Some(mut ignored) = world.get_mut::<IgnoreCollisions>(any)
                    && !ignored.remove(&other)
                {
                    ignored.insert(other);
                }
            }
            10 => {
                world.entity_mut(any).remove::<IgnoreCollisions>();
            }
            11 => {
                let mut mask = || [1, 2, 3, u32::MAX][self.random.random_range(0..4)];
                let layers = CollisionLayers::new(mask(), mask());
                world.entity_mut(ball).insert(layers);
            }
            12 => {
                if world.entity_mut(any).take::<Disabled>().is_none() {
                    world.entity_mut(any).insert(Disabled);
                }
            }
            13 => {
                let collider = self.dimension.ball(0.5);
                if world.entity_mut(ball).take::<Collider>().is_none() {
                    world.entity_mut(ball).insert(collider);
                }
            }
            _ => {
                let pose = self.pose();
                world.entity_mut(ball).insert(pose);
            }
        }
    }

    /// Returns the first reason why a pair does not touch, or `None` if the pair touches.
    fn reason(&self, world: &World, (a, b): Pair) -> Option<EndReason> {
        let (Ok(first), Ok(second)) = (world.get_entity(a), world.get_entity(b)) else {
            return Some(EndReason::Despawned);
        };
        let sides = [first, second];
        if sides.iter().any(|side| side.contains::<Disabled>()) {
            return Some(EndReason::Disabled);
        }
        if sides.iter().any(|side| !side.contains::<Collider>()) {
            return Some(EndReason::ColliderRemoved);
        }
        let layers = sides.map(|side| side.get().copied().unwrap_or(CollisionLayers::ALL));
        if !layers[0].interacts_with(layers[1]) {
            return Some(EndReason::Filtered);
        }
        let owners = sides.map(|side| side.get::<ColliderOf>().map_or(side.id(), |it| it.0));
        if owners[0] == owners[1] {
            return Some(EndReason::SameOwner);
        }
        let ignores = |from: [Entity; 2], to: [Entity; 2]| {
            let mut sets = from
                .into_iter()
                .filter_map(|it| world.get::<IgnoreCollisions>(it));
            sets.any(|set| to.iter().any(|it| set.contains(it)))
        };
        let (from, to) = ([a, owners[0]], [b, owners[1]]);
        if ignores(from, to) || ignores(to, from) {
            return Some(EndReason::Ignored);
        }
        let flat = match self.dimension {
            Dimension::D2 => Vec3::new(1.0, 1.0, 0.0),
            Dimension::D3 => Vec3::ONE,
        };
        let place = |entity| {
            world
                .get::<Transform>(entity)
                .map(|it| it.translation * flat)
        };
        let distance = place(a).zip(place(b)).map(|(a, b)| a.distance(b) / SPACING);
        (distance.expect("both have a pose") > 1.1).then_some(EndReason::Separated)
    }

    fn touching(&self, world: &World) -> BTreeSet<Pair> {
        let mut touching = BTreeSet::new();
        for (index, a) in self.balls.iter().enumerate() {
            for b in &self.balls[index + 1..] {
                let pair = (*a.min(b), *a.max(b));
                if self.reason(world, pair).is_none() {
                    touching.insert(pair);
                }
            }
        }
        touching
    }
}

#[test]
fn touching_pairs_and_their_ends_match_with_owners_and_exceptions() {
    let count = number("HEADBUTT_CHAOS").unwrap_or(12_000);
    for (seed, dimension) in (21..).zip(Dimension::BOTH) {
        let mut app = app();
        let owners = [(); 8].map(|()| app.world_mut().spawn(Transform::IDENTITY).id());
        let mut rules = Rules {
            random: StdRng::seed_from_u64(seed),
            dimension,
            balls: Vec::new(),
            owners: owners.to_vec(),
        };
        for _ in 0..POPULATION {
            rules.spawn(app.world_mut());
        }
        let mut event_log = EventLog::default();
        let mut operations = 0;
        let mut expected = BTreeSet::new();
        let mut ends = BTreeMap::<EndReason, usize>::new();
        while operations < count {
            let now = [0, 1, 1, 2, 3, 20][rules.random.random_range(0..6)];
            for _ in 0..now {
                rules.operate(app.world_mut());
            }
            operations += now;
            let touched = core::mem::replace(&mut expected, rules.touching(app.world()));
            let reasons: BTreeMap<_, _> = touched
                .difference(&expected)
                .map(|pair| (*pair, rules.reason(app.world(), *pair)))
                .collect();
            tick(&mut app);
            let hits = event_log.read(app.world_mut());
            assert_eq!(event_log.touching, expected);
            for hit in hits {
                if let Some(reason) = hit.end_reason() {
                    assert_eq!(reasons.get(&pair_of(&hit)), Some(&Some(reason)), "{hit:?}");
                    *ends.entry(reason).or_default() += 1;
                } else {
                    let world = app.world();
                    let owner = |entity| world.get::<ColliderOf>(entity).map_or(entity, |it| it.0);
                    let owners = [hit.owner(), hit.other_owner()];
                    assert_eq!(owners, [owner(hit.entity), owner(hit.other)]);
                }
            }
        }
        println!(
            "{operations} operations, {} contacts began, {ends:?}",
            event_log.started
        );
        for reason in [
            EndReason::Filtered,
            EndReason::SameOwner,
            EndReason::Ignored,
        ] {
            assert!(ends[&reason] > count / 200, "{ends:?}");
        }
    }
}
