//! Calls the filters of pairs and contacts that the app has added, and stores which pairs and
//! contacts they reject in this tick.
//!
//! [`mark_filtered`] is called at the end of `Sync`. The system [`filter_pairs`] runs before the
//! narrow phase tests the pairs. The system [`filter_contacts`] runs after the casts of swept
//! colliders.
//!
//! A filter may read anything, so its result may change while a pair is at rest. So the colliders
//! with the marker of a filter, and the colliders of rejected pairs and contacts, count as changed
//! in each tick. Then the broad phase finds their pairs, the pair filters are called, the narrow
//! phase tests the accepted pairs, and the contact filters are called.

use bevy::{platform::time::Instant, prelude::*};

use crate::{
    diagnostics::CollisionDiagnostics,
    meeting::{AppFilters, CandidatePair, ContactKey, EntityBits, PairRules, Rejections},
    pipeline::{
        broad_phase::candidates::Candidates,
        narrow_phase::found_contacts::FoundContacts,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena, SlotPair},
    },
    space::Space,
};

/// Marks as changed all colliders whose pairs or contacts a filter may accept or reject in this
/// tick. Call this function at the end of `Sync`.
pub fn mark_filtered(world: &mut World, proxies: &mut Proxies) {
    world.try_resource_scope(|world, mut filters: Mut<AppFilters>| {
        filters.mark(world, |entity| proxies.mark_changed(entity));
        let replayed = filters.replayed.iter().flat_map(|it| it.entities());
        let rejections = core::mem::take(&mut proxies.rules.rejections);
        for entity in replayed.chain(rejections.entities()) {
            proxies.mark_changed(entity);
        }
        proxies.rules.rejections = rejections;
    });
}

/// Calls the pair filters with the candidate pairs, after the broad phase.
pub fn filter_pairs(world: &mut World) {
    with_filters(world, Completed::Sync, |world, filters| {
        let AppFilters {
            pairs,
            marked,
            replayed,
            ..
        } = filters;
        rejections(world).clear();
        if let Some(replayed) = replayed {
            rejections(world).pairs.extend(replayed.pairs.iter());
        } else if !pairs.is_empty() && !marked.is_empty() {
            let Proxies { d2, d3, rules, .. } = world.resource();
            let candidates = world.resource::<Candidates>();
            pairs.ask(asked_pairs(d2, rules, &candidates.d2.sorted, marked));
            pairs.ask(asked_pairs(d3, rules, &candidates.d3.sorted, marked));
            pairs.call(world);
            let found = pairs.rejected().map(|pair| (pair.entity, pair.other));
            let rejected = &mut rejections(world).pairs;
            rejected.extend(found);
            rejected.sort_unstable();
        }
    });
}

/// Calls the contact filters with the contacts of this tick, and removes the rejected contacts.
pub fn filter_contacts(world: &mut World) {
    with_filters(world, Completed::NarrowPhase, |world, filters| {
        let AppFilters {
            contacts,
            marked,
            replayed,
            ..
        } = filters;
        if let Some(replayed) = replayed {
            rejections(world).contacts.extend(replayed.contacts.iter());
        } else if !contacts.is_empty() && !marked.is_empty() {
            let found = world.resource::<FoundContacts>();
            contacts
                .ask(found.contacts_of(|pair| marked.contains(pair.0) || marked.contains(pair.1)));
            contacts.call(world);
            let rejected = &mut rejections(world).contacts;
            rejected.extend(contacts.rejected().map(ContactKey::from));
            rejected.sort_unstable();
        }
        if !rejections(world).contacts.is_empty() {
            world.resource_scope(|world, mut found: Mut<FoundContacts>| {
                let rejections = rejections(world);
                found.remove(|contact| rejections.rejects_contact(contact));
            });
        }
    });
}

/// Calls `filter` with the filters of the app, after a stage.
fn with_filters(
    world: &mut World,
    stage: Completed,
    filter: impl FnOnce(&mut World, &mut AppFilters),
) {
    let start = Instant::now();
    if world.resource::<Progress>().completed != stage {
        return;
    }
    // If a filter panics, this value remains, so that no pair is tested, and nothing is reported.
    world.resource_mut::<Progress>().completed = Completed::Nothing;
    world.try_resource_scope(|world, mut filters: Mut<AppFilters>| filter(world, &mut filters));
    world.resource_mut::<CollisionDiagnostics>().narrow_phase += start.elapsed();
    world.resource_mut::<Progress>().completed = stage;
}

fn rejections(world: &mut World) -> &mut Rejections {
    let proxies = world.resource_mut::<Proxies>().into_inner();
    &mut proxies.rules.rejections
}

/// Returns the candidate pairs with at least one marked entity, except pairs that other rules
/// exclude.
fn asked_pairs<'a, V: Space>(
    arena: &'a ProxyArena<V>,
    rules: &'a PairRules,
    pairs: &'a [SlotPair],
    marked: &'a EntityBits,
) -> impl Iterator<Item = CandidatePair> + 'a {
    pairs.iter().filter_map(move |(a, b)| {
        let (a, b) = (arena.get(*a)?.party(), arena.get(*b)?.party());
        let is_asked = marked.contains(a.entity) || marked.contains(b.entity);
        let is_asked = is_asked && rules.exclusion_by_component(a, b).is_none();
        is_asked.then(|| CandidatePair::new(a, b))
    })
}
