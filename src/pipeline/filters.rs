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
    meeting::{AppFilters, CandidatePair, ContactKey, EntityBits, PairRules},
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
    let start = Instant::now();
    if world.resource::<Progress>().completed != Completed::Sync {
        return;
    }
    // If a filter panics, this value remains, so that no pair is tested.
    world.resource_mut::<Progress>().completed = Completed::Nothing;
    world.try_resource_scope(|world, mut filters: Mut<AppFilters>| {
        let mut rejected = core::mem::take(&mut world.resource_mut::<Proxies>().rules.rejections);
        rejected.pairs.clear();
        rejected.contacts.clear();
        let AppFilters {
            pairs,
            marked,
            replayed,
            ..
        } = &mut *filters;
        if let Some(replayed) = replayed {
            rejected.pairs.extend(replayed.pairs.iter());
        } else if !pairs.is_empty() && !marked.is_empty() {
            let Proxies { d2, d3, rules, .. } = world.resource();
            let candidates = world.resource::<Candidates>();
            pairs.ask(asked_pairs(d2, rules, &candidates.d2.sorted, marked));
            pairs.ask(asked_pairs(d3, rules, &candidates.d3.sorted, marked));
            let found = pairs.rejected(world);
            rejected
                .pairs
                .extend(found.map(|pair| (pair.entity, pair.other)));
            rejected.pairs.sort_unstable();
        }
        world.resource_mut::<Proxies>().rules.rejections = rejected;
    });
    world.resource_mut::<CollisionDiagnostics>().narrow_phase += start.elapsed();
    world.resource_mut::<Progress>().completed = Completed::Sync;
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

/// Calls the contact filters with the contacts of this tick, and removes the rejected contacts.
pub fn filter_contacts(world: &mut World) {
    let start = Instant::now();
    if world.resource::<Progress>().completed != Completed::NarrowPhase {
        return;
    }
    // If a filter panics, this value remains, so that nothing is reported.
    world.resource_mut::<Progress>().completed = Completed::Sync;
    world.try_resource_scope(|world, mut filters: Mut<AppFilters>| {
        let mut rejected = core::mem::take(&mut world.resource_mut::<Proxies>().rules.rejections);
        let AppFilters {
            contacts,
            marked,
            replayed,
            ..
        } = &mut *filters;
        if let Some(replayed) = replayed {
            rejected.contacts.extend(replayed.contacts.iter());
        } else if !contacts.is_empty() && !marked.is_empty() {
            let found = world.resource::<FoundContacts>();
            contacts
                .ask(found.contacts_of(|pair| marked.contains(pair.0) || marked.contains(pair.1)));
            let found = contacts.rejected(world);
            rejected.contacts.extend(found.map(ContactKey::from));
            rejected.contacts.sort_unstable();
        }
        if !rejected.contacts.is_empty() {
            let mut found = world.resource_mut::<FoundContacts>();
            found.remove(|contact| rejected.rejects_contact(contact));
        }
        world.resource_mut::<Proxies>().rules.rejections = rejected;
    });
    world.resource_mut::<CollisionDiagnostics>().narrow_phase += start.elapsed();
    world.resource_mut::<Progress>().completed = Completed::NarrowPhase;
}
