//! The filters of pairs that the app has added: which pairs they reject in this tick.
//!
//! A filter may read anything, so its result may change while a pair is at rest. Therefore the
//! colliders with the marker of a filter, and those of rejected pairs, count as changed in each
//! tick. Then the broad phase finds their pairs, the filters are called, and the narrow phase tests
//! the accepted pairs.

use bevy::prelude::*;

use crate::{
    meeting::{CandidatePair, PairFilters, PairRules},
    pipeline::{
        broad_phase::candidates::Candidates,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, SlotPair},
    },
    space::Space,
};

/// Marks all colliders whose pairs may be accepted or rejected anew. Call this function at the end
/// of `Sync`.
pub fn mark_filtered(world: &mut World, proxies: &mut Proxies) {
    world.try_resource_scope(|world, mut filters: Mut<PairFilters>| {
        filters.mark(world, &mut |entity| proxies.mark_changed(entity));
        let replayed = filters.replayed.iter().flatten();
        let rejected = core::mem::take(&mut proxies.rules.rejected);
        for (entity, _) in replayed.chain(rejected.iter()) {
            proxies.mark_changed(*entity);
        }
        proxies.rules.rejected = rejected;
    });
}

/// Calls the filters with the candidate pairs, after the broad phase.
pub fn apply_filters(world: &mut World) {
    if world.resource::<Progress>().completed != Completed::Sync {
        return;
    }
    world.try_resource_scope(|world, mut filters: Mut<PairFilters>| {
        let mut proxies = world.resource_mut::<Proxies>();
        let mut rejected = core::mem::take(&mut proxies.rules.rejected);
        rejected.clear();
        if let Some(replayed) = &filters.replayed {
            rejected.extend(replayed);
        } else {
            let mut asked = core::mem::take(&mut filters.asked);
            let Proxies { d2, d3, rules, .. } = world.resource();
            let candidates = world.resource::<Candidates>();
            asked.clear();
            asked.extend(asked_pairs(d2, rules, &candidates.d2.sorted));
            asked.extend(asked_pairs(d3, rules, &candidates.d3.sorted));
            filters.reject(world, &asked, &mut rejected);
            asked.end_tick();
            filters.asked = asked;
        }
        rejected.end_tick();
        world.resource_mut::<Proxies>().rules.rejected = rejected;
    });
}

/// Returns the candidate pairs that the other rules let meet.
fn asked_pairs<'a, V: Space>(
    arena: &'a ProxyArena<V>,
    rules: &'a PairRules,
    pairs: &'a [SlotPair],
) -> impl Iterator<Item = CandidatePair> + 'a {
    pairs.iter().filter_map(|(a, b)| {
        let (a, b) = (arena.get(*a)?.party(), arena.get(*b)?.party());
        rules
            .exclusion_by_component(a, b)
            .is_none()
            .then(|| CandidatePair {
                entity: a.entity,
                other: b.entity,
                owner: a.owner(),
                other_owner: b.owner(),
            })
    })
}
