//! The contacts that follow from the messages, checked in each tick.

use std::collections::{BTreeMap, BTreeSet};

use bevy::{ecs::message::MessageCursor, prelude::*};
use headbutt::prelude::*;

use crate::support::read;

/// A pair of entities, the smaller entity first.
pub type Pair = (Entity, Entity);

pub fn pair_of(hit: &CollisionEvent) -> Pair {
    (hit.entity.min(hit.other), hit.entity.max(hit.other))
}

#[derive(Default)]
pub struct EventLog {
    /// The touching pairs according to the messages.
    pub touching: BTreeSet<Pair>,
    cursor: MessageCursor<CollisionEvent>,
    /// The number of contacts that started.
    pub started: usize,
    /// The number of contacts that started on the path of a swept collider.
    pub swept: usize,
    /// The number of contacts that ended and started again in the same tick.
    pub restarted: usize,
    /// The number of contacts that ended, by reason.
    pub ended: BTreeMap<EndReason, usize>,
}

impl EventLog {
    /// Reads the messages of a tick, in which each ongoing contact has a message. Asserts that each
    /// pair starts, continues and ends in this order, and that `Collisions` agrees with the
    /// messages.
    pub fn read(&mut self, world: &mut World) -> Vec<CollisionEvent> {
        let messages = world.resource::<Messages<CollisionEvent>>();
        let hits: Vec<_> = self.cursor.read(messages).copied().collect();
        let (mut now, mut reported) = (BTreeMap::new(), BTreeSet::new());
        for hit in &hits {
            let pair = pair_of(hit);
            let touched = self.touching.contains(&pair);
            match hit.phase {
                CollisionPhase::Started => assert!(!touched, "started twice: {hit:?}"),
                CollisionPhase::Ongoing => assert!(touched, "never started: {hit:?}"),
                CollisionPhase::Ended(_) => assert!(touched, "never started: {hit:?}"),
            }
            self.started += usize::from(hit.started());
            self.swept += usize::from(hit.started() && hit.time() < 1.0);
            if let Some(reason) = hit.end_reason() {
                *self.ended.entry(reason).or_default() += 1;
                self.touching.remove(&pair);
                now.remove(&pair);
            } else {
                assert!(reported.insert(pair), "reported twice: {hit:?}");
                self.touching.insert(pair);
                now.insert(pair, hit.phase);
            }
        }
        assert!(
            self.touching.iter().eq(now.keys()),
            "one `Ended` for each pair that no longer touches"
        );

        let readable: BTreeMap<_, _> = read(world, |collisions| {
            let hits = collisions.iter();
            hits.map(|hit| (pair_of(&hit), hit.phase)).collect()
        });
        assert_eq!(now, readable);
        let restarted = hits.iter().filter(|hit| hit.ended());
        let restarted = restarted.filter(|hit| now.contains_key(&pair_of(hit)));
        self.restarted += restarted.count();
        hits
    }

    /// Asserts that contacts have ended more than `least` times for each common reason.
    #[track_caller]
    pub fn assert_all_reasons(&self, least: usize) {
        for reason in [
            EndReason::Despawned,
            EndReason::Disabled,
            EndReason::ColliderRemoved,
            EndReason::Filtered,
            EndReason::Separated,
        ] {
            let count = self.ended.get(&reason).copied().unwrap_or_default();
            assert!(count > least, "{reason:?}: {count}");
        }
    }
}
