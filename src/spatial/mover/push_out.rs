//! The shortest translation out of everything solid.
//!
//! A convex obstacle is left over a plane: in the direction d, by the depth of the body along d.
//! The body is free if it has left each obstacle over one of its planes. So a push-out is a choice
//! of one plane for each obstacle, and the shortest translation that clears the chosen planes.
//!
//! The search is best-first over partial choices. It takes the choice with the shortest
//! translation, and moves the body there. If that is free, it is the result. Otherwise the deepest
//! contact that is left gives the next choices. More planes never make a translation shorter, so
//! the first free one is the shortest for the directions that are tried: the normal of the contact,
//! the axes of the world, and those of the obstacle.

use core::{cmp::Ordering, ops::ControlFlow};

use bevy::prelude::*;
use smallvec::SmallVec;

use crate::{
    Collider,
    collision::{PushOut, PushPlane, shortest_translation},
    pipeline::{narrow_phase::PartContact, proxy::Proxy},
    query::{Ray, RaySide, Solver},
    space::{DVector, Space},
    spatial::{
        ColliderPose, SpatialQuery, SpatialQueryFilter,
        mover::body::{Surroundings, in_space, radius_of, rounding_of},
        pair::visit_contacts,
        side::{Side, with_pair},
        spatial_query::QuerySpace,
    },
};

/// The maximum number of translations that are tried. Each costs a search for contacts.
const MAX_TRIES: usize = 128;

/// The maximum number of choices that wait to be tried. It bounds the memory: each obstacle adds up
/// to 13 choices, its contact normal and both directions of six axes.
const MAX_WAITING: usize = 1024;

/// A facet is left on the side on which the body is: the cosine of the greatest angle with its
/// contact normal, 84 degrees. The rest of a right angle allows for errors of the normal.
const SAME_SIDE: f64 = 0.1;

/// Directions are equal if their cosine is at least this, an angle of 4.5e-5: more than the errors
/// of contact normals on faces, which are at most 1e-6.
const SAME_DIRECTION: f64 = 1.0 - 1e-9;

/// The gap after a push-out, in roundings of the position to f32. Rounding the translation and then
/// the position takes at most two of them.
const CLEARANCE: f64 = 8.0;

/// # Pushing out
impl SpatialQuery<'_, '_> {
    /// Returns the shortest translation, of at most `max_distance`, after which a shape overlaps
    /// nothing.
    ///
    /// Unlike [`Collisions::push_out`](crate::Collisions::push_out), it also resolves contacts that
    /// contradict each other, and checks that the translation ends where there is room.
    ///
    /// ```
    /// use bevy::{ecs::system::RunSystemOnce, prelude::*};
    /// use headbutt::{PushOut, prelude::*};
    ///
    /// // A box over two tiles. Each of them alone would push it sideways into the other one.
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    /// for x in [-8.0, 8.0] {
    ///     let tile = Collider::rectangle(16.0, 16.0);
    ///     app.world_mut().spawn((tile, Transform::from_xyz(x, -8.0, 0.0)));
    /// }
    /// headbutt::sync_now(app.world_mut());
    /// let out = app.world_mut().run_system_once(|query: SpatialQuery| {
    ///     let player = Collider::rectangle(12.0, 12.0);
    ///     query.push_out(&player, Vec2::Y * -1.0, 20.0, &SpatialQueryFilter::default())
    /// });
    /// let Ok(PushOut::Moved(translation)) = out else {
    ///     panic!("there is room above");
    /// };
    /// assert!(translation.abs_diff_eq(Vec3::Y * 7.0, 1e-4));
    /// ```
    ///
    /// * Convex obstacles are left over planes. So the translation is the shortest for boxes in any
    ///   rotation, and may be longer than necessary at the corners of other shapes.
    /// * A facet of a surface is left on the side on which the body is. The path never
    ///   leads the center of the body through a collider that does not contain it at the start.
    /// * The translation leaves a gap of a few roundings of the position to f32, which may still
    ///   count as touching.
    /// * The search tries at most 128 positions. It allocates.
    pub fn push_out(
        &self,
        collider: &Collider,
        pose: impl Into<ColliderPose>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> PushOut {
        let around = Surroundings {
            query: self,
            filter,
        };
        let max = f64::from(max_distance);
        in_space(
            collider,
            pose,
            |body| in_world::<Vec2>(search_push_out(&around, &body, max)),
            |body| in_world::<Vec3>(search_push_out(&around, &body, max)),
        )
        .unwrap_or(PushOut::Free)
    }
}

fn in_world<V: QuerySpace>(translation: Option<V::DVec>) -> PushOut {
    match translation {
        Some(translation) if translation == V::DVec::ZERO => PushOut::Free,
        Some(translation) => PushOut::Moved(V::from_f64(translation).to_vec3()),
        None => PushOut::Pressed(Vec3::ZERO),
    }
}

/// One plane for each of some obstacles, and the shortest translation that clears them.
struct Choice<D> {
    exits: SmallVec<[PushPlane<D>; 4]>,
    translation: D,
}

/// The deepest contact of a body, and the planes of which it can clear any one to leave it.
struct Obstacle<D> {
    depth: f64,
    normal: D,
    exits: SmallVec<[PushPlane<D>; 16]>,
}

/// Returns the shortest translation out of everything, or `None` if none is found.
pub fn search_push_out<V: QuerySpace>(
    around: &Surroundings,
    body: &Proxy<V>,
    max_distance: f64,
) -> Option<V::DVec> {
    let start = body.world_pose.translation;
    let clearance = CLEARANCE * rounding_of(body, radius_of(body).unwrap_or(0.0));
    let mut moved = body.clone();
    let mut waiting = vec![Choice {
        exits: SmallVec::new(),
        translation: V::DVec::ZERO,
    }];
    for _ in 0..MAX_TRIES {
        let choice = take_shortest(&mut waiting)?;
        moved.world_pose.translation = start + choice.translation;
        let Some(obstacle) = deepest(around, &moved, 0.5 * clearance) else {
            if is_through(around, body, choice.translation) {
                continue;
            }
            return Some(choice.translation);
        };
        for (normal, depth) in obstacle.exits {
            let depth = normal.dot(choice.translation) + depth + clearance;
            let mut exits = choice.exits.clone();
            exits.push((normal, depth));
            let cleared = shortest_translation(exits.iter().copied());
            let translation = cleared.translation;
            let is_near = translation.length() <= max_distance;
            if cleared.clears_all && is_near && waiting.len() < MAX_WAITING {
                waiting.push(Choice { exits, translation });
            }
        }
    }
    None
}

/// Takes the choice with the shortest translation, and of equal ones the first.
fn take_shortest<D: DVector>(waiting: &mut Vec<Choice<D>>) -> Option<Choice<D>> {
    let length = |choice: &Choice<D>| choice.translation.length_squared();
    let numbered = waiting.iter().enumerate();
    let (index, _) = numbered.min_by(|(_, a), (_, b)| length(a).total_cmp(&length(b)))?;
    Some(waiting.remove(index))
}

/// Returns the deepest contact of a body, if any is deeper than `tolerance`.
fn deepest<V: QuerySpace>(
    around: &Surroundings,
    body: &Proxy<V>,
    tolerance: f64,
) -> Option<Obstacle<V::DVec>> {
    let mut deepest: Option<Obstacle<V::DVec>> = None;
    around.query.near_side(body.into(), around.filter, |other| {
        visit_contacts(body, other, |found| {
            let (normal, depth) = (-found.contact.normal, found.contact.depth);
            let order = |best: &Obstacle<V::DVec>| {
                let depths = depth.total_cmp(&best.depth);
                depths.then_with(|| best.normal.total_cmp(normal))
            };
            let is_deepest = |best| order(best) == Ordering::Greater;
            if depth > tolerance && deepest.as_ref().is_none_or(is_deepest) {
                deepest = Some(Obstacle {
                    depth,
                    normal,
                    exits: exits(body, other, &found),
                });
            }
        });
        ControlFlow::Continue(())
    });
    deepest
}

/// Returns the planes that a body can clear to leave a part of another collider.
fn exits<V: Space>(
    body: &Proxy<V>,
    other: &Proxy<V>,
    found: &PartContact<V::DVec>,
) -> SmallVec<[PushPlane<V::DVec>; 16]> {
    let normal = -found.contact.normal;
    let mut exits = SmallVec::from_iter([(normal, found.contact.depth)]);
    let own = Side::from(body).part(found.parts.0);
    let Some((own, part)) = own.zip(Side::from(other).part(found.parts.1)) else {
        return exits;
    };
    // A half-space is left along its normal only.
    if body.is_half_space() || other.is_half_space() {
        return exits;
    }
    let least = if other.is_surface() { SAME_SIDE } else { -1.0 };
    let rotation = part.pose().rotation;
    let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
    let columns = (0..V::DVec::DIMENSION).map(|index| V::DVec::column(rotation, index));
    let directions = axes.chain(columns).flat_map(|axis| [axis, -axis]);
    with_pair([&own, &part], |pair| {
        let solver = Solver::without_closed_form(pair);
        for direction in directions.filter(|direction| direction.dot(normal) >= least) {
            let is_same = |(other, _): &PushPlane<_>| direction.dot(*other) >= SAME_DIRECTION;
            if !exits.iter().any(is_same) {
                exits.push((direction, solver.contact_over(-direction, true).depth));
            }
        }
    });
    exits
}

/// Returns `true` if a translation leads the center of a body through a collider that does not
/// contain it.
fn is_through<V: QuerySpace>(around: &Surroundings, body: &Proxy<V>, translation: V::DVec) -> bool {
    let center = body.world_pose.translation + body.center();
    let path = Ray::between(V::from_f64(center), V::from_f64(center + translation));
    let mut is_through = false;
    around.query.visit_ray(path, around.filter, |hit| {
        is_through |= hit.side != RaySide::Inside;
        if is_through { -1.0 } else { f32::INFINITY }
    });
    is_through
}
