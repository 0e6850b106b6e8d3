//! Swept bodies that have sunk into a floor, because a response has moved them without
//! [`Teleported`]. They slide over the joints of the floor, and still hit every wall.
//!
//! To run more cases, for each test and dimension:
//!
//! ```text
//! HEADBUTT_SHOTS=100000 cargo test --test it swept::floors
//! ```

use bevy::{math::DVec2, prelude::*};
use headbutt::{Collisions, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::{app, cases::cases, tick};

/// A floor of columns, of which column i begins at x = i.
struct Floor {
    dimension: usize,
    /// The heights of the tops. The bottoms are at -1.
    tops: Vec<f32>,
    ground: Ground,
    place: Transform,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Ground {
    Cells,
    JoinedParts,
    Members,
}

const GROUNDS: [Ground; 3] = [Ground::Cells, Ground::JoinedParts, Ground::Members];

/// The size of a cell. The heights of cells are multiples of this size.
const CELL: f32 = 0.125;

#[derive(Clone, Copy, Debug)]
enum Shape {
    Box(Vec2),
    Ball(f32),
}

/// A body that has sunk into the column on which it stands, and its motion.
#[derive(Clone, Copy, Debug)]
struct Run {
    shape: Shape,
    from: Vec2,
    motion: Vec2,
    /// The rotation during the motion, of a ball only.
    roll: f32,
}

/// The time of a touch, and the normal from the body to the wall.
type Touch = (f64, DVec2);

impl Shape {
    fn collider(self, dimension: usize) -> Collider {
        match (self, dimension) {
            (Self::Box(half), 2) => Collider::rectangle(2.0 * half.x, 2.0 * half.y),
            (Self::Box(half), _) => Collider::cuboid(2.0 * half.x, 2.0 * half.y, 0.8),
            (Self::Ball(radius), 2) => Collider::circle(radius),
            (Self::Ball(radius), _) => Collider::sphere(radius),
        }
    }

    fn low(self) -> f32 {
        match self {
            Self::Box(half) => half.y,
            Self::Ball(radius) => radius,
        }
    }
}

fn block(dimension: usize, size: Vec2) -> Collider {
    if dimension == 2 {
        Collider::rectangle(size.x, size.y)
    } else {
        Collider::cuboid(size.x, size.y, 4.0)
    }
}

fn compound(dimension: usize, parts: impl IntoIterator<Item = (Vec2, Collider)>) -> Collider {
    let parts = parts.into_iter();
    let parts = if dimension == 2 {
        Collider::compound(parts)
    } else {
        Collider::compound(parts.map(|(at, part)| (at.extend(0.0), part)))
    };
    parts.joined()
}

impl Floor {
    fn blocks(&self) -> impl Iterator<Item = (Vec2, Collider)> {
        self.tops.iter().enumerate().map(|(column, top)| {
            let center = Vec2::new(column as f32 + 0.5, 0.5 * (top - 1.0));
            (center, block(self.dimension, Vec2::new(1.0, top + 1.0)))
        })
    }

    fn cells(&self) -> Collider {
        let across = (1.0 / CELL) as i32;
        let columns = self.tops.iter().enumerate();
        let cells = columns.flat_map(|(column, top)| {
            let column = column as i32 * across;
            (column..column + across)
                .flat_map(move |x| (-across..(top / CELL) as i32).map(move |y| IVec2::new(x, y)))
        });
        if self.dimension == 2 {
            let mut grid = CellGrid::new(Vec2::splat(CELL));
            grid.extend(cells.map(|at| (at, Cell::SOLID)));
            return Collider::cells(&grid);
        }
        // The cells are longer along z, so that they are few.
        let mut grid = CellGrid::new(Vec3::new(CELL, CELL, 1.0));
        grid.extend(cells.flat_map(|at| (-2..2).map(move |z| (at.extend(z), Cell::SOLID))));
        Collider::cells(&grid)
    }

    fn spawn(&self, world: &mut World) {
        match self.ground {
            Ground::Cells => {
                world.spawn((self.cells(), self.place));
            }
            Ground::JoinedParts => {
                world.spawn((compound(self.dimension, self.blocks()), self.place));
            }
            Ground::Members => {
                for (at, block) in self.blocks() {
                    let pose = self.place * Transform::from_translation(at.extend(0.0));
                    world.spawn((block, pose, JoinedCollider(1)));
                }
            }
        }
    }

    /// Returns the touch with the first wall on a path that does not descend. Returns `None` if the
    /// path passes so close to an edge that rounding decides.
    fn first_wall(&self, run: &Run) -> Option<Option<Touch>> {
        let [from, motion] = [run.from, run.motion].map(|it| it.as_dvec2());
        let (mut first, mut is_close): (Option<Touch>, bool) = (None, false);
        for column in 1..self.tops.len() {
            let [before, top] = [self.tops[column - 1], self.tops[column]].map(f64::from);
            if top <= before {
                continue;
            }
            let corner = DVec2::new(column as f64, top);
            let touch = match run.shape {
                Shape::Box(half) => {
                    let half = half.as_dvec2();
                    let time = (corner.x - half.x - from.x) / motion.x;
                    let bottom = from.y - half.y + motion.y * time;
                    is_close |= (bottom - top).abs() < 1e-3;
                    (bottom < top).then_some((time, DVec2::X))
                }
                Shape::Ball(radius) => {
                    let radius = f64::from(radius);
                    let time = (corner.x - radius - from.x) / motion.x;
                    if from.y + motion.y * time <= top {
                        Some((time, DVec2::X))
                    } else {
                        let (offset, length) = (from - corner, motion.length());
                        let middle = -offset.dot(motion) / (length * length);
                        let squared = (offset + motion * middle).length_squared();
                        is_close |= (squared.sqrt() - radius).abs() < 1e-3;
                        let half = (radius * radius - squared).max(0.0).sqrt() / length;
                        let time = middle - half;
                        let normal = -(offset + motion * time) / radius;
                        (squared < radius * radius).then_some((time, normal))
                    }
                }
            };
            let earlier = touch.filter(|touch| first.is_none_or(|first| touch.0 < first.0));
            first = earlier.or(first);
        }
        is_close |= first.is_some_and(|(time, _)| (time - 1.0).abs() < 1e-3);
        (!is_close).then_some(first.filter(|(time, _)| *time < 1.0))
    }
}

/// Lets a body sink, moves it, and returns the new touches in the order of time, seen from the
/// body.
fn touches_of(app: &mut App, dimension: usize, place: Transform, run: &Run) -> Vec<CollisionEvent> {
    let above = run.from.extend(0.0) + Vec3::Y;
    let pose = |at: Vec3| place * Transform::from_translation(at);
    let body = (run.shape.collider(dimension), Swept, pose(above));
    let body = app.world_mut().spawn(body).id();
    tick(app);
    super::place(app, body, pose(above - Vec3::Y));
    tick(app);
    let collisions = app.world().resource::<Collisions>();
    assert!(
        collisions.deepest_of(body).count() > 0,
        "{run:?} has not sunk"
    );
    let roll = Transform::from_rotation(Quat::from_rotation_z(run.roll));
    let end = (run.from + run.motion).extend(0.0);
    super::place(app, body, pose(end) * roll);
    let messages = tick(app).messages.into_iter();
    let started = messages.filter(|event| event.started());
    started.filter_map(|event| event.seen_from(body)).collect()
}

fn random_run(rng: &mut StdRng) -> Run {
    let shape = if rng.random_bool(0.5) {
        Shape::Box(Vec2::new(
            rng.random_range(0.2..0.45),
            rng.random_range(0.2..0.45),
        ))
    } else {
        Shape::Ball(rng.random_range(0.2..0.45))
    };
    let sink = rng.random_range(0.001..0.4) * shape.low();
    let climb = [0.0, rng.random_range(0.0..0.1), rng.random_range(0.0..1.0)];
    let is_rolling = matches!(shape, Shape::Ball(_)) && rng.random_bool(0.5);
    Run {
        shape,
        from: Vec2::new(rng.random_range(0.5..1.5), shape.low() - sink),
        motion: Vec2::new(rng.random_range(0.5..5.5), climb[rng.random_range(0..3)]),
        roll: if is_rolling {
            rng.random_range(-3.0..3.0)
        } else {
            0.0
        },
    }
}

/// The floor has steps up and down. Some are lower than the sink.
#[test]
fn a_sunk_body_slides_over_joints_and_hits_the_first_wall() {
    let mut counts = [0, 0];
    for dimension in [2, 3] {
        for number in cases("HEADBUTT_SHOTS", 400) {
            let mut rng = StdRng::seed_from_u64((number * 2 + dimension) as u64);
            let rng = &mut rng;
            let ground = GROUNDS[number % 3];
            let mut tops = vec![0.0, 0.0];
            while let last = tops[tops.len() - 1]
                && tops.len() < 8
            {
                let step = [0.0, 0.0, 0.0, 0.03, 0.1, 0.5, -0.3][rng.random_range(0..7)];
                let step = if ground == Ground::Cells {
                    (step / CELL).ceil() * CELL
                } else {
                    step
                };
                tops.push(f32::max(last + step, -0.75));
            }
            let place = if rng.random_bool(0.5) {
                Transform::IDENTITY
            } else {
                let at = Vec2::new(rng.random_range(-9.0..9.0), rng.random_range(-9.0..9.0));
                let angle = rng.random_range(-3.0..3.0);
                Transform::from_translation(at.extend(0.0))
                    .with_rotation(Quat::from_rotation_z(angle))
            };
            let floor = Floor {
                dimension,
                tops,
                ground,
                place,
            };
            let mut run = random_run(rng);
            if place != Transform::IDENTITY {
                // Rounding must not lead the body deeper: then the cast ends where it starts.
                run.motion.y = run.motion.y.max(1e-4);
            }
            let Some(expected) = floor.first_wall(&run) else {
                continue;
            };
            let mut app = app();
            floor.spawn(app.world_mut());
            let found = touches_of(&mut app, dimension, place, &run);
            let context = format!("{dimension}D {number}: {ground:?} {:?} {run:?}", floor.tops);
            let down = place.rotation * Vec3::NEG_Y;
            // A member that the body reaches is touched from above, at the latest where the path
            // ends.
            let is_new = |hit: &&CollisionEvent| {
                ground != Ground::Members || hit.time() < 1.0 && hit.normal.distance(down) > 1e-3
            };
            let hit = found.iter().find(is_new);
            counts[usize::from(expected.is_some())] += 1;
            let Some((time, normal)) = expected else {
                assert!(hit.is_none(), "{context}: {hit:?}");
                continue;
            };
            let hit = hit.unwrap_or_else(|| panic!("{context}: {time} {normal} is not hit"));
            assert!(
                (f64::from(hit.time()) - time).abs() < 1e-4,
                "{context}: {time} {hit:?}"
            );
            let normal = place.rotation * normal.as_vec2().extend(0.0);
            assert!(
                hit.normal.distance(normal) < 1e-3,
                "{context}: {normal} {hit:?}"
            );
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// A body that has sunk by 0.05 into the column that ends at x = 2.
fn sunk(shape: Shape, motion: Vec2) -> Run {
    let from = Vec2::new(1.5, shape.low() - 0.05);
    Run {
        shape,
        from,
        motion,
        roll: 0.0,
    }
}

const SHAPES: [Shape; 2] = [Shape::Box(Vec2::splat(0.4)), Shape::Ball(0.4)];

#[test]
fn a_sunk_body_that_jumps_hits_the_ceiling() {
    for (dimension, shape) in [2, 3]
        .into_iter()
        .flat_map(|it| SHAPES.map(|shape| (it, shape)))
    {
        let parts = [(1.0, -0.5), (3.0, -0.5), (1.0, 2.5), (3.0, 2.5)];
        let parts = parts.map(|(x, y)| (Vec2::new(x, y), block(dimension, Vec2::new(2.0, 1.0))));
        let mut app = app();
        app.world_mut().spawn(compound(dimension, parts));
        let mut run = sunk(shape, Vec2::new(0.8, 4.0));
        // The body nearly touches the next part.
        let reach = match shape {
            Shape::Box(half) => half.x,
            Shape::Ball(radius) => (radius.powi(2) - run.from.y.powi(2)).sqrt(),
        };
        run.from.x = 2.0 - reach - 0.005;
        let found = touches_of(&mut app, dimension, Transform::IDENTITY, &run);
        let [hit] = found[..] else {
            panic!("{dimension}D {shape:?}: {found:?}");
        };
        // The top of the body is 0.75 high, and the ceiling is 2 high.
        assert!((hit.time() - 1.25 / 4.0).abs() < 1e-5, "{hit:?}");
        assert!(hit.normal.distance(Vec3::Y) < 1e-5, "{hit:?}");
    }
}

/// The second part of the floor is a slope.
#[test]
fn a_sunk_body_hits_a_slope_that_rises_and_passes_one_that_falls() {
    for (dimension, shape) in [2, 3]
        .into_iter()
        .flat_map(|it| SHAPES.map(|shape| (it, shape)))
    {
        for angle in [-0.4_f32, 0.1, 0.5, 1.0] {
            let rise = 2.0 * angle.tan();
            let outline = [(2.0, -1.0), (4.0, -1.0), (4.0, rise), (2.0, 0.0)].map(Vec2::from);
            let slope = if dimension == 2 {
                Collider::convex_hull(outline)
            } else {
                let ends = [-2.0, 2.0].into_iter();
                Collider::convex_hull(ends.flat_map(|z| outline.map(|point| point.extend(z))))
            };
            let flat = block(dimension, Vec2::new(2.0, 1.0));
            let parts = [(Vec2::new(1.0, -0.5), flat), (Vec2::ZERO, slope)];
            let mut app = app();
            app.world_mut().spawn(compound(dimension, parts));
            let run = sunk(shape, Vec2::new(1.5, 0.0));
            let found = touches_of(&mut app, dimension, Transform::IDENTITY, &run);
            let context = format!("{dimension}D {shape:?} {angle}: {found:?}");
            if angle < 0.0 {
                assert!(found.is_empty(), "{context}");
                continue;
            }
            let [hit] = found[..] else {
                panic!("{context}");
            };
            let (sine, cosine) = (angle.sin(), angle.cos());
            let distance = match shape {
                Shape::Box(half) => 0.5 - half.x,
                // The ball touches the inside of the slope.
                Shape::Ball(radius) if radius * (1.0 - cosine) > 0.05 => {
                    0.5 + (cosine * run.from.y - radius) / sine
                }
                // The ball touches the lower edge of the slope.
                Shape::Ball(radius) => 0.5 - (radius.powi(2) - run.from.y.powi(2)).sqrt(),
            };
            assert!(
                (hit.time() - distance / 1.5).abs() < 1e-5,
                "{distance} {context}"
            );
            let normal = Vec3::new(sine, -cosine, 0.0);
            assert!(hit.normal.distance(normal) < 1e-4, "{context}");
        }
    }
}

/// The ground is one touched member and one that the body reaches while it sinks deeper.
#[test]
fn a_body_that_sinks_deeper_touches_the_next_member_from_above() {
    for (dimension, shape) in [2, 3]
        .into_iter()
        .flat_map(|it| SHAPES.map(|shape| (it, shape)))
    {
        let floor = Floor {
            dimension,
            tops: vec![0.0; 4],
            ground: Ground::Members,
            place: Transform::IDENTITY,
        };
        let mut app = app();
        floor.spawn(app.world_mut());
        let run = sunk(shape, Vec2::new(1.5, -0.03));
        let found = touches_of(&mut app, dimension, Transform::IDENTITY, &run);
        assert!(!found.is_empty());
        for hit in found {
            assert!(hit.normal.distance(Vec3::NEG_Y) < 1e-5, "{hit:?}");
        }
    }
}

/// The body is a sensor. Another sensor stands on the floor.
#[test]
fn a_sunk_sensor_slides_over_joints_and_meets_another_sensor() {
    for (dimension, ground) in [2, 3]
        .into_iter()
        .flat_map(|it| GROUNDS.map(|ground| (it, ground)))
    {
        let (tops, place) = (vec![0.0; 8], Transform::IDENTITY);
        let floor = Floor {
            dimension,
            tops,
            ground,
            place,
        };
        let mut app = app();
        floor.spawn(app.world_mut());
        app.add_observer(|sensor: On<Add, Swept>, mut commands: Commands| {
            commands.entity(sensor.entity).insert(Sensor);
        });
        let zone = block(dimension, Vec2::ONE);
        app.world_mut()
            .spawn((zone, Sensor, Transform::from_xyz(4.5, 0.2, 0.0)));
        let run = sunk(SHAPES[0], Vec2::new(5.0, 0.0));
        let found = touches_of(&mut app, dimension, place, &run);
        let mut sideways = found
            .iter()
            .filter(|hit| hit.normal.distance(Vec3::NEG_Y) > 1e-5);
        let hit = sideways.next().expect("a touch of the zone");
        // The right side of the body is at x = 1.9, and the zone begins at x = 4.
        assert!(
            (hit.time() - 2.1 / 5.0).abs() < 1e-5 && !hit.is_solid(),
            "{hit:?}"
        );
        assert!(hit.normal.distance(Vec3::X) < 1e-5, "{hit:?}");
        assert!(sideways.next().is_none(), "{found:?}");
    }
}
