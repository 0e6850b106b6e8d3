//! One-way cells: ledges that are solid from one side.

use bevy::prelude::*;
use headbutt::{
    Collisions, PairStatus, PushOut, explain,
    prelude::*,
    query::{CastOptions, Ray},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{for_cases, in_f64, random_union};
use crate::support::{app, tick};

pub const DIRECTIONS: [CellDirection; 6] = [
    CellDirection::X,
    CellDirection::NegX,
    CellDirection::Y,
    CellDirection::NegY,
    CellDirection::Z,
    CellDirection::NegZ,
];

/// Returns the axis of a direction, and its sign.
fn axis_of(direction: CellDirection) -> (usize, f32) {
    match direction {
        CellDirection::X => (0, 1.0),
        CellDirection::NegX => (0, -1.0),
        CellDirection::Y => (1, 1.0),
        CellDirection::NegY => (1, -1.0),
        CellDirection::Z => (2, 1.0),
        CellDirection::NegZ => (2, -1.0),
    }
}

/// Returns the directions of a dimension.
fn directions(dimension: usize) -> impl Iterator<Item = CellDirection> {
    DIRECTIONS.into_iter().take(2 * dimension)
}

/// Returns a collider of cells of size 1.
fn grid(dimension: usize, cells: impl IntoIterator<Item = (IVec3, Cell)>) -> Collider {
    if dimension == 2 {
        let mut grid = CellGrid::new(Vec2::ONE);
        grid.extend(cells.into_iter().map(|(at, cell)| (at.truncate(), cell)));
        Collider::try_cells(&grid).unwrap()
    } else {
        let mut grid = CellGrid::new(Vec3::ONE);
        grid.extend(cells);
        Collider::try_cells(&grid).unwrap()
    }
}

fn block(dimension: usize, size: Vec3) -> Collider {
    if dimension == 2 {
        Collider::rectangle(size.x, size.y)
    } else {
        Collider::cuboid(size.x, size.y, size.z)
    }
}

/// Returns the position and the content of the cell of a part.
fn cell_of(collider: &Collider, part: u32) -> (IVec3, Cell) {
    let in_2d = collider
        .cell_2d(part)
        .map(|(at, cell)| (at.extend(0), cell));
    in_2d.or_else(|| collider.cell_3d(part)).expect("a cell")
}

/// A level and a body.
struct Level {
    app: App,
    level: Entity,
    body: Entity,
}

impl Level {
    fn new(level: Collider, body: Collider, at: Vec3) -> Self {
        let mut app = app();
        let world = app.world_mut();
        let level = world.spawn(level).id();
        let body = world.spawn((body, Transform::from_translation(at))).id();
        tick(&mut app);
        Self { app, level, body }
    }

    fn place(&mut self) -> Mut<'_, Transform> {
        self.app.world_mut().get_mut(self.body).expect("a pose")
    }

    /// Moves the body, and returns its contacts.
    fn go(&mut self, translation: Vec3) -> Vec<CollisionEvent> {
        self.place().translation += translation;
        tick(&mut self.app);
        self.contacts()
    }

    fn contacts(&self) -> Vec<CollisionEvent> {
        let collisions = self.app.world().resource::<Collisions>();
        collisions.parts(self.body, self.level).collect()
    }

    fn respond(&mut self) -> Vec3 {
        let collisions = self.app.world().resource::<Collisions>();
        let out = collisions.push_out(self.body, |_| true).translation();
        self.place().translation += out;
        out
    }

    fn ask<T>(&mut self, question: impl FnOnce(SpatialQuery, &Collider) -> T) -> T {
        let world = self.app.world_mut();
        let collider = world
            .get::<Collider>(self.body)
            .expect("a collider")
            .clone();
        crate::spatial::ask(world, |query| question(query, &collider))
    }
}

/// Ledges of 4 cells along the other axes, at the levels 0, 1 and 2 of an axis.
fn stack(dimension: usize, direction: CellDirection) -> Collider {
    let (axis, sign) = axis_of(direction);
    let mut cells = Vec::new();
    for level in 0..3 {
        for (a, b) in (-2..2).flat_map(|a| (-2..2).map(move |b| (a, b))) {
            let mut at = [a, b, b];
            at[(axis + 1) % 3] = a;
            at[(axis + 2) % 3] = b;
            at[axis] = if sign > 0.0 { level - 1 } else { -level };
            if dimension == 2 {
                at[2] = 0;
            }
            cells.push((IVec3::from_array(at), Cell::one_way(direction)));
        }
    }
    grid(dimension, cells)
}

/// A body that is higher than a cell passes the ledges from below, and lands on each from above.
#[test]
fn a_body_jumps_through_stacked_ledges_and_lands_on_each() {
    for dimension in [2, 3] {
        for direction in directions(dimension) {
            let (axis, sign) = axis_of(direction);
            let up = Vec3::AXES[axis] * sign;
            let size = Vec3::splat(0.75) + up.abs() * 0.75;
            let mut level = Level::new(
                stack(dimension, direction),
                block(dimension, size),
                up * -3.0,
            );
            for height in [0.0_f32, 1.0, 2.0] {
                // The body jumps above this ledge, and falls onto it.
                while level.place().translation.dot(up) - 0.75 < height + 0.2 {
                    assert_eq!(level.go(up * 0.23), [], "{direction:?}");
                    let center = level.place().translation.dot(up);
                    if (center - height).abs() < 0.74 {
                        let platform = level.level;
                        let status = explain(level.app.world(), level.body, platform).status;
                        assert_eq!(status, PairStatus::NotFromAbove { platform });
                    }
                }
                loop {
                    let contacts = level.go(up * -0.23);
                    let bottom = level.place().translation.dot(up) - 0.75;
                    let landed = bottom < height;
                    assert_eq!(!contacts.is_empty(), landed, "{direction:?} {bottom}");
                    for hit in &contacts {
                        assert!((hit.normal + up).length() < 1e-6);
                        assert!((hit.depth - (height - bottom)).abs() < 1e-5);
                    }
                    if landed {
                        break;
                    }
                }
                let out = level.respond();
                assert!((level.place().translation.dot(up) - 0.75 - height).abs() < 1e-5);
                assert!(out.reject_from(up).length() < 1e-6);
                // The body stays on the ledge, at rest and while it walks.
                let along = Vec3::AXES[1 - axis.min(1)] * 0.1;
                for motion in [Vec3::ZERO, along, -along] {
                    assert!(!level.go(motion - up * 0.05).is_empty());
                    level.respond();
                }
            }
        }
    }
}

/// The body of a random walk, a grid of ledges without solid cells, and the decisions of an oracle
/// in f64.
struct Walk {
    dimension: usize,
    half: [f64; 3],
    ledges: Vec<(IVec3, CellDirection)>,
    /// The ledges that the body met, each with its direction and level.
    met: Vec<(usize, bool, i32)>,
}

impl Walk {
    fn plane(at: IVec3, direction: CellDirection) -> (usize, bool, i32) {
        let (axis, sign) = axis_of(direction);
        (axis, sign > 0.0, at[axis] + i32::from(sign > 0.0))
    }

    /// Returns the distance of the lowest point of a body above a plane.
    fn bottom(&self, (axis, is_up, level): (usize, bool, i32), center: Vec3) -> f64 {
        let height = f64::from(center[axis]) - f64::from(level);
        (if is_up { height } else { -height }) - self.half[axis]
    }

    /// Returns by how much a body overlaps a face. The number is negative if both are apart.
    fn overlap(&self, at: IVec3, direction: CellDirection, center: Vec3) -> f64 {
        let plane = Self::plane(at, direction);
        let axes = (0..self.dimension).map(|axis| {
            let (low, high) = if axis == plane.0 {
                (f64::from(plane.2), f64::from(plane.2))
            } else {
                (f64::from(at[axis]), f64::from(at[axis]) + 1.0)
            };
            let center = f64::from(center[axis]);
            let own = (center - self.half[axis], center + self.half[axis]);
            (own.1 - low).min(high - own.0)
        });
        axes.fold(f64::INFINITY, f64::min)
    }
}

#[test]
fn random_walks_through_ledges_meet_what_an_oracle_meets() {
    let met = core::cell::Cell::new(0);
    for_cases(60, |rng, dimension, number| {
        let extent = 3;
        let mut ledges = Vec::new();
        for (x, y, z) in (-extent..extent)
            .flat_map(|x| (-extent..extent).map(move |y| (x, y)))
            .flat_map(|(x, y)| (-extent..extent).map(move |z| (x, y, z)))
        {
            let direction = DIRECTIONS[rng.random_range(0..2 * dimension)];
            if rng.random_bool(0.35) && (dimension == 3 || z == 0) {
                ledges.push((IVec3::new(x, y, z), direction));
            }
        }
        let cells = ledges.iter().map(|(at, it)| (*at, Cell::one_way(*it)));
        let size = Vec3::from_array([0; 3].map(|_| rng.random_range(0.3..2.0)));
        let mut walk = Walk {
            dimension,
            half: in_f64(size).map(|it| 0.5 * it),
            ledges: ledges.clone(),
            met: Vec::new(),
        };
        let collider = grid(dimension, cells);
        let mut level = Level::new(collider.clone(), block(dimension, size), Vec3::X * 8.0);
        let mut velocity = Vec3::NEG_X * 0.4;
        // The contacts of the previous tick, and the response to them.
        let mut last = (Vec::new(), Vec3::ZERO);
        for step in 0..80 {
            let start = level.place().translation;
            if rng.random_bool(0.3) || start.length() > 6.0 {
                let random = [0; 3].map(|_| rng.random_range(-0.6..0.6));
                velocity = Vec3::from_array(random) - start * 0.1;
            }
            if dimension == 2 {
                velocity.z = 0.0;
            }
            let contacts = level.go(velocity);
            let center = level.place().translation;
            let context = format!("case {number}, {dimension}D, step {step}, at {center}");
            let mut planes: Vec<_> = walk
                .ledges
                .iter()
                .map(|it| Walk::plane(it.0, it.1))
                .collect();
            planes.sort_unstable();
            planes.dedup();
            let found: Vec<_> = contacts
                .iter()
                .map(|hit| {
                    let (at, cell) = cell_of(&collider, hit.other_part());
                    let direction = cell.one_way_direction().expect("a ledge");
                    let (axis, sign) = axis_of(direction);
                    assert!(
                        (hit.normal + Vec3::AXES[axis] * sign).length() < 1e-5,
                        "{context}"
                    );
                    (Walk::plane(at, direction), at, direction, hit.depth)
                })
                .collect();
            let mut now = Vec::new();
            for plane in planes {
                let of_plane: Vec<_> = found.iter().filter(|it| it.0 == plane).collect();
                let faces = walk
                    .ledges
                    .iter()
                    .filter(|it| Walk::plane(it.0, it.1) == plane);
                let overlap = faces
                    .clone()
                    .map(|it| walk.overlap(it.0, it.1, center))
                    .fold(f64::NEG_INFINITY, f64::max);
                let (before, after) = (walk.bottom(plane, start), walk.bottom(plane, center));
                let was_met = walk.met.contains(&plane);
                // All contacts count as ground, also if the body is pressed and cannot leave them.
                let up = Vec3::AXES[plane.0] * if plane.1 { 1.0 } else { -1.0 };
                let lift = |hit: &CollisionEvent| hit.minimum_translation().dot(up);
                let lift = last.0.iter().map(lift).fold(0.0, f32::max) - last.1.dot(up);
                let is_high = before < 1e-4 && before + f64::from(lift.max(0.0)) > -1e-4;
                let is_unclear = overlap.abs() < 1e-4 || !was_met && is_high;
                let is_met = overlap > 0.0 && (was_met || before > 0.0 || after > -1e-4);
                if !is_unclear {
                    assert_eq!(!of_plane.is_empty(), is_met, "{context}, {plane:?}");
                }
                if of_plane.is_empty() {
                    continue;
                }
                met.set(met.get() + 1);
                now.push(plane);
                for (_, at, direction, depth) in &of_plane {
                    assert!(walk.overlap(*at, *direction, center) > -1e-4, "{context}");
                    assert!(
                        (f64::from(*depth) + after).abs() < 1e-4,
                        "{context}, {depth} {after}"
                    );
                }
                for (at, direction) in faces {
                    let is_found = of_plane.iter().any(|it| it.1 == *at);
                    if walk.overlap(*at, *direction, center) > 1e-4 {
                        assert!(is_found, "{context}: no part for {at}");
                    }
                }
            }
            walk.met = now;
            let out = level.respond();
            last = (contacts, out);
        }
    });
    assert!(met.get() > 100, "{}", met.get());
}

/// A body that has sunk into a floor of solid cells and ledges crosses the joints without a contact
/// from the side.
#[test]
fn a_body_crosses_from_solid_cells_to_ledges_and_back_without_seams() {
    for dimension in [2, 3] {
        let floor = (-6..6)
            .flat_map(|x| (-2..2).map(move |z| (x, z)))
            .map(|(x, z)| {
                let cell = if (x / 2) % 2 == 0 {
                    Cell::SOLID
                } else {
                    Cell::one_way(CellDirection::Y)
                };
                (IVec3::new(x, -1, if dimension == 2 { 0 } else { z }), cell)
            });
        let floor = grid(dimension, floor.collect::<Vec<_>>());
        let ball = super::ball(dimension, 0.4);
        for body in [block(dimension, Vec3::splat(0.8)), ball] {
            for direction in [1.0, -1.0] {
                let start = Vec3::new(-5.0 * direction, 0.4, 0.3);
                let start = if dimension == 2 {
                    start.with_z(0.0)
                } else {
                    start
                };
                let mut level = Level::new(floor.clone(), body.clone(), start);
                for _ in 0..90 {
                    let contacts = level.go(Vec3::new(0.1 * direction, -0.05, 0.0));
                    let at = level.place().translation;
                    assert!(!contacts.is_empty(), "{dimension}D at {at}");
                    for hit in contacts {
                        assert!((hit.normal + Vec3::Y).length() < 1e-4, "{hit:?} at {at}");
                    }
                    level.respond();
                    assert!((level.place().translation.y - 0.4).abs() < 1e-4);
                }
                // The same with `move_and_slide`.
                let body = level.body;
                let (from, way) = (
                    Transform::from_translation(start),
                    Vec3::X * 9.0 * direction,
                );
                let filter = SpatialQueryFilter::of(body);
                level.place().translation = start;
                tick(&mut level.app);
                let slide = level.ask(|query, collider| {
                    let settings = MoveAndSlideSettings::default();
                    let wanted = way - Vec3::Y * 0.5;
                    query.move_and_slide(collider, from, wanted, &settings, &filter)
                });
                let moved = slide.translation;
                assert!((moved.x - way.x).abs() < 0.05, "{dimension}D: {moved}");
                assert!(moved.y.abs() < 0.05, "{dimension}D: {moved}");
            }
        }
    }
}

/// The body ends exactly beside the solid cell, at the height of its top or below.
#[test]
fn a_body_on_a_ledge_does_not_touch_the_side_of_the_solid_cell_beside_it() {
    for dimension in [2, 3] {
        let cells = (-4..4).flat_map(|x| (-2..2).map(move |z| (x, z)));
        let cells = cells.map(|(x, z)| {
            let ledge = Cell::one_way(CellDirection::Y);
            let cell = if x < 0 { ledge } else { Cell::SOLID };
            (IVec3::new(x, -1, if dimension == 2 { 0 } else { z }), cell)
        });
        let floor = grid(dimension, cells.collect::<Vec<_>>());
        for sink in [0.0, 0.125] {
            let at = Vec3::new(-0.5, 0.5, 0.0);
            let mut level = Level::new(floor.clone(), block(dimension, Vec3::ONE), at);
            let contacts = level.go(Vec3::NEG_Y * sink);
            assert!(!contacts.is_empty());
            for hit in contacts {
                assert!((hit.normal + Vec3::Y).length() < 1e-6, "{hit:?}");
                assert!((hit.depth - sink).abs() < 1e-6, "{hit:?}");
            }
        }
    }
}

/// The path of a swept body begins in the pose before the response, in which the body has sunk into
/// the ledge. Still, the body does not catch on the side of the solid cell behind the ledge.
#[test]
fn a_swept_body_that_has_sunk_into_a_ledge_crosses_to_a_solid_cell() {
    for dimension in [2, 3] {
        let cells = (-4..8).flat_map(|x| (-2..2).map(move |z| (x, z)));
        let cells = cells.map(|(x, z)| {
            let solid = Cell::SOLID;
            let cell = if x < 4 {
                Cell::one_way(CellDirection::Y)
            } else {
                solid
            };
            (IVec3::new(x, -1, if dimension == 2 { 0 } else { z }), cell)
        });
        let floor = grid(dimension, cells.collect::<Vec<_>>());
        let ball = super::ball(dimension, 0.4);
        for body in [block(dimension, Vec3::splat(0.8)), ball] {
            for (speed, climb) in [(1.0, 0.0), (1.0, 0.05), (2.0, 0.06), (3.0, 0.0)] {
                let at = Vec3::new(3.4, 0.4, if dimension == 2 { 0.0 } else { 0.3 });
                let mut level = Level::new(floor.clone(), body.clone(), at);
                let entity = level.body;
                level.app.world_mut().entity_mut(entity).insert(Swept);
                assert!(!level.go(Vec3::Y * -0.05).is_empty());
                level.place().translation += Vec3::new(speed, climb, 0.0);
                for event in tick(&mut level.app).messages {
                    let event = event.seen_from(entity).expect("the body");
                    let is_up = (event.normal + Vec3::Y).length() < 1e-4;
                    assert!(event.ended() || is_up, "{speed}, {climb}: {event:?}");
                }
            }
        }
    }
}

/// A body that overlaps a ledge below and a ledge above touches the other cells as if it overlapped
/// both ledges equally, so it touches the walls beside both.
#[test]
fn a_body_between_opposite_ledges_is_balanced() {
    let ledges = [(-1, CellDirection::Y), (1, CellDirection::NegY)];
    let ledges = ledges.map(|(y, direction)| (IVec3::Y * y, Cell::one_way(direction)));
    let walls = [-1, 1].map(|y| (IVec3::new(1, y, 0), Cell::SOLID));
    let collider = grid(2, ledges.into_iter().chain(walls));
    for offset in [-0.08, 0.0, 0.08] {
        // The gap between the ledges is 1 high, and the body is 1.2 high.
        let body = block(2, Vec3::new(0.92, 1.2, 0.0));
        let at = Vec3::new(0.56, 0.5 + offset, 0.0);
        let contacts = Level::new(collider.clone(), body, at).contacts();
        let beside = contacts.iter().filter(|hit| hit.normal.x.abs() > 1e-4);
        let mut touched: Vec<_> = beside
            .map(|hit| {
                assert!((hit.depth - 0.02).abs() < 1e-5, "{offset}: {hit:?}");
                cell_of(&collider, hit.other_part()).0
            })
            .collect();
        touched.sort_by_key(|at| at.y);
        assert_eq!(touched, walls.map(|wall| wall.0), "{offset}");
        assert_eq!(contacts.len(), 4, "{offset}");
    }
}

#[test]
fn rays_of_an_entity_with_pass_through_pass_ledges() {
    for dimension in [2, 3] {
        let solid = (IVec3::NEG_Y, Cell::SOLID);
        let ledge = (IVec3::ZERO, Cell::one_way(CellDirection::Y));
        let level = grid(dimension, [ledge, solid]);
        let at = Vec3::new(0.5, 3.0, if dimension == 2 { 0.0 } else { 0.5 });
        let mut level = Level::new(level, block(dimension, Vec3::splat(0.5)), at);
        let body = level.body;
        for passes in [false, true] {
            if passes {
                level.app.world_mut().entity_mut(body).insert(PassThrough);
                tick(&mut level.app);
            }
            let distances = level.ask(|query, _| {
                let filter = SpatialQueryFilter::of(body);
                if dimension == 2 {
                    let ray = Ray::new(at.truncate(), Vec2::NEG_Y);
                    let mut hits = Vec::new();
                    query.ray_hits(ray, &filter, &mut hits);
                    let first = query.cast_ray(ray, &filter);
                    [
                        first.map(|hit| hit.distance),
                        hits.first().map(|hit| hit.distance),
                    ]
                } else {
                    let ray = Ray::new(at, Vec3::NEG_Y);
                    let mut hits = Vec::new();
                    query.ray_hits(ray, &filter, &mut hits);
                    let first = query.cast_ray(ray, &filter);
                    [
                        first.map(|hit| hit.distance),
                        hits.first().map(|hit| hit.distance),
                    ]
                }
            });
            assert_eq!(distances, [Some(if passes { 3.0 } else { 2.0 }); 2]);
        }
    }
}

/// A one-way cell covers no face of its neighbors, and a solid cell covers the face of a ledge.
#[test]
fn ledges_cover_nothing_and_are_covered_by_solid_cells() {
    for dimension in [2, 3] {
        let ledge = Cell::one_way(CellDirection::Y).with_material(7);
        let level = grid(
            dimension,
            [
                (IVec3::ZERO, ledge),
                (IVec3::X, Cell::SOLID),
                (IVec3::new(-3, 0, 0), ledge),
                (IVec3::new(-3, 1, 0), Cell::SOLID),
            ],
        );
        let hit = |origin: Vec3, direction: Vec3| {
            let origin = origin + Vec3::splat(0.5);
            let hit = if dimension == 2 {
                let ray = Ray::new(origin.truncate(), direction.truncate());
                query::cast_ray(&level, Vec2::ZERO, ray).map(|it| (it.distance, it.part))
            } else {
                let ray = Ray::new(origin, direction);
                query::cast_ray(&level, Vec3::ZERO, ray).map(|it| (it.distance, it.part))
            };
            hit.map(|(distance, part)| (distance, cell_of(&level, part)))
        };
        // Rays hit the ledge from above, and pass from below and from the side.
        let (distance, (at, cell)) = hit(Vec3::Y * 3.0, Vec3::NEG_Y).expect("a hit");
        assert_eq!((distance, at, cell.material()), (2.5, IVec3::ZERO, 7));
        assert_eq!(hit(Vec3::NEG_Y * 3.0, Vec3::Y), None);
        let (distance, (at, _)) = hit(Vec3::NEG_X, Vec3::X).expect("a hit");
        assert_eq!((distance, at), (1.5, IVec3::X));
        // From inside the covered ledge, a ray meets the bottom of the solid cell.
        let (distance, (at, _)) = hit(Vec3::new(-3.0, 0.0, 0.0), Vec3::Y).expect("a hit");
        assert_eq!((distance, at), (0.5, IVec3::new(-3, 1, 0)));
        let (distance, (at, _)) = hit(Vec3::new(-3.0, 3.0, 0.0), Vec3::NEG_Y).expect("a hit");
        assert_eq!((distance, at), (1.5, IVec3::new(-3, 1, 0)));
        assert_eq!(
            hit(Vec3::new(-4.0, 0.0, 0.0), Vec3::X).expect("a hit").1.0,
            IVec3::X
        );
    }
}

/// A ledge far away changes no contact with solid cells.
#[test]
fn a_distant_ledge_changes_no_contact() {
    for_cases(40, |rng, dimension, number| {
        let mut union = random_union(rng, dimension, true);
        union.is_compound = false;
        let mut with_ledge = Vec::new();
        for is_with in [false, true] {
            let mut rng = StdRng::seed_from_u64(number as u64);
            let mut app = app();
            let ledge = Cell::one_way(CellDirection::Y);
            let far = IVec3::new(200, 3, 0);
            let level = if dimension == 2 {
                let mut grid = union.collider().grid::<Vec2>().expect("a grid").clone();
                grid.set(far.truncate(), if is_with { ledge } else { Cell::EMPTY });
                Collider::cells(&grid)
            } else {
                let mut grid = union.collider().grid::<Vec3>().expect("a grid").clone();
                grid.set(far, if is_with { ledge } else { Cell::EMPTY });
                Collider::cells(&grid)
            };
            let level_entity = app.world_mut().spawn(level.clone()).id();
            let bodies: Vec<_> = (0..12)
                .map(|_| {
                    let at = super::random_point(&mut rng, &union);
                    let (at, _) = super::rounded(at);
                    let size = rng.random_range(0.2..1.5) * union.size as f32;
                    let body = if rng.random_bool(0.5) {
                        super::ball(dimension, 0.5 * size)
                    } else {
                        block(dimension, Vec3::splat(size))
                    };
                    app.world_mut()
                        .spawn((body, Transform::from_translation(at)))
                        .id()
                })
                .collect();
            tick(&mut app);
            let collisions = app.world().resource::<Collisions>();
            let mut found = Vec::new();
            for (number, body) in bodies.into_iter().enumerate() {
                for hit in collisions.parts(body, level_entity) {
                    let cell = cell_of(&level, hit.other_part()).0.to_array();
                    let bits = [hit.normal, hit.offset()].map(|it| it.to_array().map(f32::to_bits));
                    found.push((number, cell, bits, hit.depth.to_bits()));
                }
            }
            found.sort_unstable();
            with_ledge.push(found);
        }
        assert_eq!(with_ledge[0], with_ledge[1], "case {number}");
    });
}

#[test]
fn casts_and_swept_bodies_land_from_above_and_pass_from_below() {
    for dimension in [2, 3] {
        let body = block(dimension, Vec3::splat(0.5));
        let level = stack(dimension, CellDirection::Y);
        let mut level = Level::new(level, body, Vec3::Y * 5.0);
        let entity = level.body;
        let mut cast = |from: Vec3, motion: Vec3| {
            level.ask(|query, collider| {
                let filter = SpatialQueryFilter::of(entity);
                let motion = Motion::linear(Transform::from_translation(from), motion);
                let hit = query.cast_shape(collider, motion, CastOptions::default(), &filter);
                hit.map(|hit| (hit.touching as f32, hit.contact.normal))
            })
        };
        let (time, normal) = cast(Vec3::Y * 5.0, Vec3::NEG_Y * 8.0).expect("a hit");
        assert!((time - 2.75 / 8.0).abs() < 1e-5 && (normal + Vec3::Y).length() < 1e-6);
        // The body is half way through the ledge at the level 1, and falls to the level 0.
        let (time, _) = cast(Vec3::Y * 1.1, Vec3::NEG_Y * 4.0).expect("a hit");
        assert!((time - 0.85 / 4.0).abs() < 1e-5, "{time}");
        for (from, motion) in [
            (Vec3::NEG_Y * 3.0, Vec3::Y * 9.0),
            (Vec3::new(-6.0, 0.9, 0.0), Vec3::X * 12.0),
            (Vec3::NEG_Y * 1.0, Vec3::NEG_Y * 4.0),
        ] {
            assert_eq!(cast(from, motion), None, "{from} {motion}");
        }
        level.app.world_mut().entity_mut(entity).insert(Swept);
        assert_eq!(level.go(Vec3::X * 0.1), []);
        // Down past all ledges in one tick: the body touches the highest ledge on its path.
        let event = {
            level.place().translation = Vec3::NEG_Y * 5.0;
            let events = tick(&mut level.app).messages;
            let started = events.into_iter().find(CollisionEvent::started);
            let started = started.and_then(|it| it.seen_from(entity));
            started.expect("a touch")
        };
        assert!((event.time() - 2.75 / 10.0).abs() < 1e-3, "{event:?}");
        assert!((event.normal + Vec3::Y).length() < 1e-6);
        let collider = level
            .app
            .world()
            .get::<Collider>(level.level)
            .expect("a grid");
        assert_eq!(cell_of(collider, event.other_part()).0.y, 1);
        level.go(Vec3::ZERO);
        level.place().translation = Vec3::Y * 5.0;
        assert!(tick(&mut level.app).is_empty());
    }
}

#[test]
fn a_character_jumps_onto_a_ledge_walks_off_and_drops_through() {
    for dimension in [2, 3] {
        let mut cells: Vec<_> = (-1..2)
            .flat_map(|x| (-1..2).map(move |z| (x, z)))
            .map(|(x, z)| {
                let at = IVec3::new(x, 1, if dimension == 2 { 0 } else { z });
                (at, Cell::one_way(CellDirection::Y))
            })
            .collect();
        cells.extend(
            (-6..6)
                .flat_map(|x| (-2..3).map(move |z| (x, z)))
                .map(|(x, z)| {
                    (
                        IVec3::new(x, -1, if dimension == 2 { 0 } else { z }),
                        Cell::SOLID,
                    )
                }),
        );
        let middle = if dimension == 2 { 0.0 } else { 0.5 };
        let start = Vec3::new(0.5, 0.55, middle);
        let body = block(dimension, Vec3::new(0.6, 1.0, 0.6));
        let mut level = Level::new(grid(dimension, cells), body, start);
        let entity = level.body;
        let mut ground = None;
        let mut go = |level: &mut Level, motion: Vec3| {
            let pose = *level.place();
            let filter = SpatialQueryFilter::of(entity);
            let slide = level.ask(|query, collider| {
                let settings = MoveAndSlideSettings {
                    ground,
                    ..MoveAndSlideSettings::default()
                };
                query.move_and_slide(collider, pose, motion, &settings, &filter)
            });
            ground = slide.ground;
            level.place().translation += slide.translation;
            tick(&mut level.app);
            level.place().translation
        };
        go(&mut level, Vec3::NEG_Y * 0.2);
        let mut jump = 0.5;
        let mut peak = 0.0_f32;
        for _ in 0..20 {
            let at = go(&mut level, Vec3::Y * jump);
            peak = peak.max(at.y);
            jump -= 0.05;
        }
        assert!(peak > 2.55, "{peak}");
        assert!((level.place().translation.y - 2.5).abs() < 0.05);
        // Walking on the ledge needs no seam to stop at.
        let at = go(&mut level, Vec3::new(0.8, -0.1, 0.0));
        assert!(
            (at.x - 1.3).abs() < 0.01 && (at.y - 2.5).abs() < 0.05,
            "{at}"
        );
        level.app.world_mut().entity_mut(entity).insert(PassThrough);
        for _ in 0..12 {
            go(&mut level, Vec3::NEG_Y * 0.2);
        }
        level
            .app
            .world_mut()
            .entity_mut(entity)
            .remove::<PassThrough>();
        let at = level.place().translation;
        assert!((at.y - 0.5).abs() < 0.05, "{at}");
        // Beside the ledge, a body that moves into its end passes below and above the level.
        level.place().translation = Vec3::new(-3.0, 1.8, middle);
        tick(&mut level.app);
        let at = go(&mut level, Vec3::X * 4.0);
        assert!(
            (at.x - 1.0).abs() < 0.01 && (at.y - 1.8).abs() < 0.01,
            "{at}"
        );
    }
}

/// Rotated and mirrored grids keep the sides of their ledges.
#[test]
fn ledges_turn_and_mirror_with_the_grid() {
    for dimension in [2, 3] {
        for (pose, up) in [
            (
                Transform::from_rotation(Quat::from_rotation_z(0.5)),
                Vec3::new(-0.479_425_55, 0.877_582_55, 0.0),
            ),
            (
                Transform::from_scale(Vec3::new(1.0, -1.0, 1.0)),
                Vec3::NEG_Y,
            ),
            (Transform::from_scale(Vec3::new(-2.0, 1.0, 1.0)), Vec3::Y),
        ] {
            let body = super::ball(dimension, 0.3);
            let mut level = Level::new(stack(dimension, CellDirection::Y), body, up * 4.0);
            let grid = level.level;
            level.app.world_mut().entity_mut(grid).insert(pose);
            tick(&mut level.app);
            let mut heights = Vec::new();
            for _ in 0..40 {
                let contacts = level.go(up * -0.1);
                heights.extend(contacts.first().map(|hit| {
                    assert!((hit.normal + up).length() < 1e-5);
                    hit.depth
                }));
            }
            // The body sinks into the highest ledge until it has left it.
            assert!(heights.len() >= 5 && heights[0] < 0.1, "{heights:?}");
            level
                .app
                .world_mut()
                .entity_mut(level.body)
                .insert(Teleported);
            level.place().translation = up * -4.0;
            tick(&mut level.app);
            for _ in 0..80 {
                assert_eq!(level.go(up * 0.097), []);
            }
            assert_eq!(level.respond(), PushOut::Free.translation());
        }
    }
}

#[test]
fn a_ledge_that_an_edit_adds_is_a_ledge_until_an_edit_removes_it() {
    // The corner cells keep the bounding box the same.
    let corners = [-3, 3].map(|at| (IVec3::new(at, at, 0), Cell::SOLID));
    let mut level = Level::new(
        grid(2, corners),
        block(2, Vec3::splat(0.8)),
        Vec3::new(0.5, -1.0, 0.0),
    );
    let edit = |level: &mut Level, cell: Cell| {
        let mut grid = level
            .app
            .world_mut()
            .get_mut::<Collider>(level.level)
            .unwrap();
        let row = |grid: &mut CellGrid<Vec2>| grid.fill(IVec2::NEG_X, IVec2::X, cell);
        grid.edit_cells(row).unwrap().unwrap();
    };
    edit(&mut level, Cell::one_way(CellDirection::Y));
    // The top is at y = 1.
    while level.place().translation.y < 1.5 {
        assert_eq!(level.go(Vec3::Y * 0.1), []);
    }
    while level.place().translation.y > 1.35 {
        level.go(Vec3::Y * -0.1);
    }
    assert!(!level.contacts().is_empty());
    edit(&mut level, Cell::EMPTY);
    assert_eq!(level.go(Vec3::ZERO), []);
    // The plugin counts the grids with ledges.
    let grid = level.level;
    level.app.world_mut().despawn(grid);
    tick(&mut level.app);
    assert_eq!(level.contacts(), []);
}

#[test]
fn a_hollow_ray_passes_a_ledge_from_below() {
    for hollow in [false, true] {
        let flat = stack(2, CellDirection::Y);
        let in_2d = |y: f32, toward: Vec2| {
            let ray = Ray::new(Vec2::new(0.5, y), toward);
            let ray = if hollow { ray.hollow() } else { ray };
            query::cast_ray(&flat, Vec2::ZERO, ray).map(|hit| hit.distance)
        };
        let level = stack(3, CellDirection::Y);
        let in_3d = |y: f32, toward: Vec3| {
            let ray = Ray::new(Vec3::new(0.5, y, 0.2), toward);
            let ray = if hollow { ray.hollow() } else { ray };
            query::cast_ray(&level, Vec3::ZERO, ray).map(|hit| hit.distance)
        };
        assert_eq!([in_2d(-4.0, Vec2::Y), in_3d(-4.0, Vec3::Y)], [None; 2]);
        let down = [in_2d(4.0, Vec2::NEG_Y), in_3d(4.0, Vec3::NEG_Y)];
        assert_eq!(down, [Some(2.0); 2]);
    }
}

/// A ball rolls over the round end of a ledge with a margin.
#[test]
fn a_ledge_with_a_margin_holds_a_ball_up_to_its_end() {
    let mut level = Level::new(
        grid(2, [(IVec3::ZERO, Cell::one_way(CellDirection::Y))]).rounded(0.1),
        Collider::circle(0.4),
        Vec3::new(0.9, 1.5, 0.0),
    );
    // The top is at y = 1.1, and the end is at x = 1.
    level.go(Vec3::Y * -0.02);
    assert!(!level.contacts().is_empty());
    for _ in 0..20 {
        level.respond();
        let contacts = level.go(Vec3::new(0.01, -0.01, 0.0));
        let x = level.place().translation.x;
        assert!(!contacts.is_empty() || x > 1.1, "{x}");
    }
}

#[test]
fn a_half_space_lands_on_a_ledge() {
    let ledge = grid(2, [(IVec3::ZERO, Cell::one_way(CellDirection::NegY))]);
    let mut app = app();
    let ledge = (ledge, Transform::from_xyz(0.0, 0.1, 0.0));
    let ledge = app.world_mut().spawn(ledge).id();
    let floor = Collider::half_space(Vec2::Y);
    let floor = app.world_mut().spawn(floor).id();
    tick(&mut app);
    for y in [0.05_f32, -0.02] {
        app.world_mut()
            .get_mut::<Transform>(ledge)
            .unwrap()
            .translation
            .y = y;
        tick(&mut app);
        let collisions = app.world().resource::<Collisions>();
        assert_eq!(collisions.contains(ledge, floor), y < 0.0, "{y}");
    }
}
