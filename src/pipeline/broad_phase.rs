//! Second stage: which pairs may touch.
//!
//! Sweep and prune (Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies" (1992), chapter 3): sort the boxes by
//! their lower end along one axis; only boxes whose intervals overlap there can meet. The axis is the one along which the
//! boxes are spread most. Sorted anew each tick: the result depends on this tick's boxes alone.
//!
//! Half-spaces have no box. There are few, if any: each is held against every box, and never against another of its kind.

use bevy::prelude::*;

use super::sync::{Proxies, Proxy};
use crate::{
    shape::Bounds,
    space::{Space, Wide},
};

/// Where the candidate pairs come from: a resource, which may be changed between ticks.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BroadPhase {
    /// The plugin finds them from bounding boxes.
    #[default]
    Automatic,
    /// The app supplies them in [`CandidatePairs`].
    Custom,
}

/// The pairs of entities that are tested in this tick.
///
/// With [`BroadPhase::Automatic`] the plugin makes them anew each tick. With [`BroadPhase::Custom`] they are the app's:
/// fill them in or before [`HeadbuttSystems::BroadPhase`](crate::HeadbuttSystems::BroadPhase). The plugin then only reads
/// them, so they stay until they are cleared.
///
/// Order does not matter, neither of the pairs nor within one, and a pair may come twice. What is no collider, and an
/// entity paired with itself, is passed over. Layers apply here as well.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Bullet;
/// #[derive(Component)]
/// struct Target;
///
/// fn bullets_meet_targets(
///     mut pairs: ResMut<CandidatePairs>,
///     bullets: Query<Entity, With<Bullet>>,
///     targets: Query<Entity, With<Target>>,
/// ) {
///     pairs.clear();
///     for bullet in &bullets {
///         pairs.extend(targets.iter().map(|target| (bullet, target)));
///     }
/// }
///
/// App::new()
///     .add_plugins((MinimalPlugins, HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom)))
///     .add_systems(FixedPostUpdate, bullets_meet_targets.in_set(HeadbuttSystems::BroadPhase));
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct CandidatePairs {
    pairs: Vec<(Entity, Entity)>,
}

impl CandidatePairs {
    /// Adds a pair.
    pub fn push(&mut self, entity: Entity, other: Entity) {
        self.pairs.push((entity, other));
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// All pairs, as they were added.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.pairs.iter().copied()
    }

    /// How many pairs there are, with those that came twice.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Extend<(Entity, Entity)> for CandidatePairs {
    fn extend<T: IntoIterator<Item = (Entity, Entity)>>(&mut self, pairs: T) {
        self.pairs.extend(pairs);
    }
}

/// Fills [`CandidatePairs`] with the pairs whose bounding boxes overlap, and those of a box that reaches into a half-space.
pub fn sweep_and_prune(
    proxies: Res<Proxies>,
    mut pairs: ResMut<CandidatePairs>,
    mut order: Local<Vec<(f64, usize)>>,
) {
    pairs.clear();
    sweep(&proxies.plane, &mut order, &mut pairs);
    meet_half_spaces(&proxies.plane, &mut pairs);
    sweep(&proxies.solid, &mut order, &mut pairs);
    meet_half_spaces(&proxies.solid, &mut pairs);
}

fn sweep<V: Space>(
    proxies: &[Proxy<V>],
    order: &mut Vec<(f64, usize)>,
    pairs: &mut CandidatePairs,
) {
    let axis = widest_axis(proxies);
    let interval =
        |bounds: &Bounds<V::Wide>| (bounds.min.component(axis), bounds.max.component(axis));
    order.clear();
    let starts = proxies.iter().enumerate().filter_map(|(index, proxy)| {
        let bounds = proxy.extent.bounds()?;
        Some((interval(bounds).0, index))
    });
    order.extend(starts);
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sorted = order.iter().filter_map(|(_, index)| {
        let proxy = proxies.get(*index)?;
        Some((proxy.entity, proxy.extent.bounds()?))
    });
    while let Some((entity, bounds)) = sorted.next() {
        let end = interval(bounds).1;
        for (other, other_bounds) in sorted.clone() {
            if interval(other_bounds).0 > end {
                break;
            }
            if bounds.overlaps(other_bounds) {
                pairs.push(entity, other);
            }
        }
    }
}

fn meet_half_spaces<V: Space>(proxies: &[Proxy<V>], pairs: &mut CandidatePairs) {
    for proxy in proxies {
        let Some(half_space) = proxy.extent.half_space() else {
            continue;
        };
        let inside = proxies.iter().filter(|other| {
            let bounds = other.extent.bounds();
            bounds.is_some_and(|bounds| bounds.reaches(half_space, proxy.pose.translation))
        });
        pairs.extend(inside.map(|other| (proxy.entity, other.entity)));
    }
}

/// The axis along which the centres of the boxes vary most.
fn widest_axis<V: Space>(proxies: &[Proxy<V>]) -> usize {
    let boxes = || proxies.iter().filter_map(|proxy| proxy.extent.bounds());
    let count = boxes().count().max(1) as f64;
    let centre = |bounds: &Bounds<V::Wide>, axis: usize| {
        0.5 * (bounds.min.component(axis) + bounds.max.component(axis))
    };
    let variance = |axis: usize| {
        let mean = boxes()
            .map(|bounds| centre(bounds, axis) / count)
            .sum::<f64>();
        boxes()
            .map(|bounds| (centre(bounds, axis) - mean).powi(2))
            .sum::<f64>()
    };
    (0..V::Wide::DIMENSION)
        .map(|axis| (axis, variance(axis)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(axis, _)| axis)
}
