//! The shortest translation out of everything solid.
//!
//! To leave a convex obstacle in a direction d, a body has to move by the depth of the overlap
//! along d. In other words, the body has to clear a plane with the normal d. The body is free if it
//! has cleared one plane of each obstacle. So a push-out is a choice of one plane for each
//! obstacle, and the shortest translation that clears the chosen planes.
//!
//! The search is best-first over partial choices. Each step takes the choice with the shortest
//! translation, and moves the body by this translation. If the body is free there, this translation
//! is the result. Otherwise, the deepest contact that is left adds one choice for each of its
//! planes. More planes never make a translation shorter, so the first translation that frees the
//! body is the shortest for the tried directions. For two boxes, these directions are the normals
//! of all faces of their Minkowski difference. For other shapes, the directions are the contact
//! normal, the axes of the world and of the obstacle, and the normals of box faces and polygon
//! sides.

use core::{cmp::Ordering, ops::ControlFlow};

use smallvec::SmallVec;

use crate::{
    Collider,
    collider_query::place::{AnyPlaced, in_own_dimension},
    collision::PushOut,
    placed::{Part, PartContact, PlacedCollider, with_pair},
    query::{Ray, RaySide, Solver},
    shape::Support,
    space::{
        DVector, QueryPose, Space,
        shortest_translation::PushPlane,
        translation_search::{SameNodes, TranslationSearch},
    },
    spatial::{
        SpatialQuery, SpatialQueryFilter,
        mover::body::{FilteredQuery, radius_of, rounding_of},
        spatial_query::QuerySpace,
    },
};

/// The maximum number of translations that the search tries. Each translation costs a search for
/// contacts, and adds one choice for each plane of an obstacle. Two boxes in 3D have up to 31
/// planes, and no pair has more than 73 planes.
const MAX_PUSH_OUT_NODES: usize = 256;

/// The cosine of the greatest angle, 84 degrees, between a facet's contact normal and a direction
/// in which a body may leave. So the body stays on its side of the facet. The angle is 6 degrees
/// less than a right angle, to allow for errors of the normal.
const FACET_SIDE_COSINE: f64 = 0.1;

/// Directions count as equal if the cosine of the angle between them is at least this value. The
/// angle is then at most 4.5e-5 radians. The errors of contact normals on faces are smaller: at
/// most 1e-6 radians.
const SAME_EXIT_COSINE: f64 = 1.0 - 1e-9;

/// Edges count as parallel if the sine of the angle between them is at most this value. The limit
/// exceeds rounding errors.
const PARALLEL_EDGE_SINE: f64 = 1e-6;

/// The gap after a push-out, as a multiple of the rounding error of the position in f32. Rounding
/// the translation and then the position reduces the gap by at most two rounding errors.
const CLEARANCE: f64 = 8.0;

/// # Pushing out
impl SpatialQuery<'_, '_> {
    /// Returns the shortest translation, of at most `max_distance`, after which a shape overlaps
    /// nothing. If no such translation is found, the result is [`PushOut::Pressed`] with the tried
    /// translation that leaves the least depth. This translation is also at most `max_distance`
    /// long. If no translation reduces the depth, the result is 0.
    ///
    /// Unlike [`Collisions::push_out`](crate::Collisions::push_out), this search also resolves
    /// contacts that contradict each other, and checks that there is room where the translation
    /// ends.
    ///
    /// ```
    /// use bevy::{ecs::system::RunSystemOnce, prelude::*};
    /// use headbutt::{PushOut, prelude::*};
    ///
    /// // A box overlaps two tiles. Each tile alone would push it sideways into the other tile.
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
    /// * For boxes in any rotation, and in 2D also for polygons of up to 16 sides, the result is
    ///   the shortest translation. At the corners of other shapes, the translation may be longer
    ///   than necessary.
    /// * A body leaves a facet of a surface on the side on which the body already is. The center of
    ///   the body never passes through a collider that does not contain the center at the start.
    /// * The translation leaves a gap of a few rounding errors of the position in f32. Such a gap
    ///   may still count as touching.
    /// * The search tries at most 256 positions, and allocates memory.
    pub fn push_out(
        &self,
        collider: &Collider,
        pose: impl Into<QueryPose<Collider>>,
        max_distance: f32,
        filter: &SpatialQueryFilter,
    ) -> PushOut {
        let around = FilteredQuery::new(self, filter);
        let max = f64::from(max_distance);
        AnyPlaced::new(collider, pose).map_or_else(PushOut::default, |placed| {
            in_own_dimension!(&placed, |body, _| push_out_in_world(&around, body, max))
        })
    }
}

/// A translation out of everything solid.
pub struct FoundPushOut<D> {
    pub translation: D,
    /// `true` if the body is free after the translation. Otherwise, the translation leaves the
    /// least depth of all tried translations.
    pub is_free: bool,
}

fn push_out_in_world<V: QuerySpace>(
    around: &FilteredQuery,
    body: &PlacedCollider<V>,
    max_distance: f64,
) -> PushOut {
    let found = search_push_out(around, body, max_distance);
    let translation = V::from_f64(found.translation.in_f32_range()).to_vec3();
    match found.is_free {
        true if found.translation == V::DVec::ZERO => PushOut::Free,
        true => PushOut::Moved(translation),
        false => PushOut::Pressed(translation),
    }
}

/// The deepest contact of a body. To leave the obstacle, the body can clear any one of the `exits`.
struct DeepestContact<D> {
    depth: f64,
    normal: D,
    exits: SmallVec<[PushPlane<D>; 16]>,
}

/// Returns the shortest translation out of everything solid. If no such translation is found,
/// returns the first tried translation that leaves the least depth.
pub fn search_push_out<V: QuerySpace>(
    around: &FilteredQuery,
    body: &PlacedCollider<V>,
    max_distance: f64,
) -> FoundPushOut<V::DVec> {
    let start = body.world_pose.translation;
    let clearance = CLEARANCE * rounding_of(body, radius_of(body).unwrap_or(0.0));
    let mut moved = body.clone();
    let mut search = TranslationSearch::default();
    search.begin(MAX_PUSH_OUT_NODES, max_distance, SameNodes::None);
    let (mut least_depth, mut least_bad) = (f64::INFINITY, V::DVec::ZERO);
    while let Some(choice) = search.take_shortest() {
        let translation = choice.translation;
        moved.world_pose.translation = start + translation;
        let Some(obstacle) = deepest(around, (&moved, translation), 0.5 * clearance) else {
            if is_through(around, body, translation) {
                continue;
            }
            return FoundPushOut {
                translation,
                is_free: true,
            };
        };
        // A longer translation has to reduce the depth by more than rounding.
        let is_better = obstacle.depth < least_depth - clearance;
        if is_better && !is_through(around, body, translation) {
            (least_depth, least_bad) = (obstacle.depth, translation);
        }
        for (normal, depth) in obstacle.exits {
            let depth = normal.dot(translation) + depth + clearance;
            search.open(&choice, (normal, depth), ());
        }
    }
    FoundPushOut {
        translation: least_bad,
        is_free: false,
    }
}

/// Returns the deepest contact of a body that has moved by `motion`, if any contact is deeper than
/// `tolerance`.
fn deepest<V: QuerySpace>(
    around: &FilteredQuery,
    (body, motion): (&PlacedCollider<V>, V::DVec),
    tolerance: f64,
) -> Option<DeepestContact<V::DVec>> {
    let mut deepest: Option<DeepestContact<V::DVec>> = None;
    around.near(body, |other| {
        let is_one_way = around.is_one_way(body, other);
        // Unless the whole grid is one-way, its solid cells are solid from all sides.
        let has_ledges = (body.has_ledges() || other.has_ledges()) && !other.traits.is_one_way;
        let is_ledge =
            |(own, part): (u32, u32)| body.ledge(own).is_some() || other.ledge(part).is_some();
        around.visit_contacts(
            (body, motion),
            other,
            |_| 0.0,
            |found| {
                let (normal, depth) = (-found.contact.normal, found.contact.depth);
                let order = |best: &DeepestContact<V::DVec>| {
                    let depths = depth.total_cmp(&best.depth);
                    depths.then_with(|| best.normal.total_cmp(normal))
                };
                let is_deepest = |best| order(best) == Ordering::Greater;
                if depth > tolerance && deepest.as_ref().is_none_or(is_deepest) {
                    deepest = Some(DeepestContact {
                        depth,
                        normal,
                        exits: if is_one_way && (!has_ledges || is_ledge(found.parts)) {
                            SmallVec::from_iter([(normal, depth)])
                        } else {
                            exits(body, other, &found)
                        },
                    });
                }
            },
        );
        ControlFlow::Continue(())
    });
    deepest
}

/// Returns the planes that a body can clear to leave a part of another collider.
fn exits<V: Space>(
    body: &PlacedCollider<V>,
    other: &PlacedCollider<V>,
    found: &PartContact<V::DVec>,
) -> SmallVec<[PushPlane<V::DVec>; 16]> {
    let normal = -found.contact.normal;
    let mut exits = SmallVec::from_iter([(normal, found.contact.depth)]);
    let Some((own, part)) = body.part(found.parts.0).zip(other.part(found.parts.1)) else {
        return exits;
    };
    // A body leaves a half-space only along the normal of the half-space.
    if body.is_half_space() || other.is_half_space() {
        return exits;
    }
    let least = if other.is_surface() {
        FACET_SIDE_COSINE
    } else {
        f64::NEG_INFINITY
    };
    let directions = axes([&part, &own])
        .into_iter()
        .flat_map(|axis| [axis, -axis]);
    with_pair([&own, &part], |pair| {
        let solver = Solver::without_closed_form(pair);
        for direction in directions.filter(|direction| direction.dot(normal) >= least) {
            let is_same = |(other, _): &PushPlane<_>| direction.dot(*other) >= SAME_EXIT_COSINE;
            if !exits.iter().any(is_same) {
                exits.push((direction, solver.contact_over(-direction, true).depth));
            }
        }
    });
    exits
}

/// Returns the axes along which a body may leave an obstacle, in both directions.
///
/// Each face of the Minkowski difference of two boxes is parallel to edges of the boxes: to one
/// edge in 2D, and to two edges in 3D. For other shapes, the axes are a selection of all useful
/// axes.
fn axes<V: Space>(parts: [&Part<V>; 2]) -> SmallVec<[V::DVec; 16]> {
    let shapes = parts.map(Part::scaled_shape);
    let count = V::DVec::DIMENSION;
    let are_boxes = shapes
        .iter()
        .all(|shape| shape.radius() <= 0.0 && shape.box_edges().len() == count);
    let rotations = parts.map(|part| part.world_pose.pose().rotation);
    let columns = (0..count).map(|index| V::DVec::column(rotations[0], index));
    let columns = (0..count).map(V::DVec::axis).chain(columns);
    let mut axes: SmallVec<[_; 16]> = columns.filter(|_| !are_boxes).collect();
    let mut edges: SmallVec<[V::DVec; 6]> = SmallVec::new();
    for (shape, rotation) in shapes.iter().zip(rotations) {
        let units = shape.box_edges().into_iter().filter_map(DVector::unit);
        edges.extend(units.map(|edge| rotation * edge));
        let sides = shape.core().polygon().into_iter();
        axes.extend(sides.flat_map(|sides| sides.edges().map(|side| rotation * side.normal)));
    }
    let pairs = edges.iter().enumerate().flat_map(|(index, edge)| {
        // In 2D, each edge is paired with itself.
        let others = edges
            .iter()
            .skip(index + count - 2)
            .take(if count == 2 { 1 } else { 6 });
        others.map(move |other| [*edge, *other])
    });
    axes.extend(pairs.filter_map(|pair| {
        let normal = V::DVec::perpendicular(pair.get(..count - 1)?)?;
        let is_spanned = normal.length_squared() > PARALLEL_EDGE_SINE * PARALLEL_EDGE_SINE;
        normal.unit().filter(|_| is_spanned)
    }));
    axes
}

/// Returns `true` if a translation leads the center of a body through a collider that does not
/// contain the center at the start.
pub fn is_through<V: QuerySpace>(
    around: &FilteredQuery,
    body: &PlacedCollider<V>,
    translation: V::DVec,
) -> bool {
    let center = body.world_pose.translation + body.center();
    let path = Ray::between(V::from_f64(center), V::from_f64(center + translation));
    let mut is_through = false;
    around
        .query
        .visit_ray(path, around.selection.filter, |hit| {
            is_through |= hit.side != RaySide::Inside;
            if is_through { -1.0 } else { f32::INFINITY }
        });
    is_through
}
