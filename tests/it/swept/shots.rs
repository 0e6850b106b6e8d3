//! Random shots and spinning rods. The tests run thousands of cases. To run more:
//!
//! ```text
//! HEADBUTT_SHOTS=1000000 cargo test --test it swept::shots
//! ```

use std::{collections::HashMap, f32::consts::PI};

use bevy::{math::DVec3, prelude::*};
use headbutt::{
    CollisionDiagnostics,
    prelude::*,
    query::{CastOptions, cast_motion},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::{app, cases::number, tick};

/// Returns the number of shots of a test.
fn count() -> usize {
    number("HEADBUTT_SHOTS").unwrap_or(4_000)
}

/// A collider with its poses in two ticks.
struct Body {
    collider: Collider,
    poses: [Transform; 2],
    is_swept: bool,
}

impl Body {
    fn motion(&self) -> Motion<Collider> {
        Motion::between(self.poses[0], self.poses[1])
    }
}

struct Shot {
    name: &'static str,
    bodies: [Body; 2],
    expected: Expected,
}

enum Expected {
    Miss,
    Hit,
    /// A hit at a time, with a tolerance.
    HitAt(f64, f64),
}

/// The number of shots in a world.
const BATCH: usize = 1_000;

/// The distance between neighboring shots of a world.
const CELL: f32 = 60.0;

/// Runs shots side by side, and checks each shot.
fn check(random: &mut StdRng, shot: impl Fn(&mut StdRng, Vec3) -> Shot) {
    for start in (0..count()).step_by(BATCH) {
        let shots = BATCH.min(count() - start);
        let cell = |index: usize| Vec3::new((index % 32) as f32, (index / 32) as f32, 0.0) * CELL;
        let shots = (0..shots).map(|index| shot(random, cell(index) - Vec3::splat(15.5 * CELL)));
        check_batch(&shots.collect::<Vec<_>>());
    }
}

fn check_batch(shots: &[Shot]) {
    let mut app = app();
    let world = app.world_mut();
    let spawned: Vec<[Entity; 2]> = shots
        .iter()
        .map(|shot| {
            shot.bodies.each_ref().map(|body| {
                let mut entity = world.spawn((body.collider.clone(), body.poses[0]));
                if body.is_swept {
                    entity.insert(Swept);
                }
                entity.id()
            })
        })
        .collect();
    let start = tick(&mut app).messages;
    assert!(start.is_empty(), "apart at the start: {start:?}");
    for (shot, entities) in shots.iter().zip(&spawned) {
        for (body, entity) in shot.bodies.iter().zip(entities) {
            super::place(&mut app, *entity, body.poses[1]);
        }
    }
    let messages = tick(&mut app).messages;
    let started = messages.iter().filter(|hit| hit.started());
    assert!(started.clone().is_sorted_by_key(|hit| hit.time()));
    let mut found: HashMap<Entity, CollisionEvent> = HashMap::new();
    for hit in started {
        for hit in [*hit, hit.flipped()] {
            assert!(found.insert(hit.entity, hit).is_none(), "one hit each");
        }
    }
    let ended = messages.iter().filter(|hit| hit.ended()).count();
    let touching = app.world().resource::<Collisions>().len();
    assert_eq!(messages.len() - ended, ended + touching);
    for (shot, [bullet, target]) in shots.iter().zip(&spawned) {
        let hit = found.get(bullet);
        assert!(hit.is_none_or(|hit| hit.other == *target));
        check_shot(shot, hit);
    }
}

fn check_shot(shot: &Shot, hit: Option<&CollisionEvent>) {
    let [a, b] = &shot.bodies;
    let cast = cast_motion(
        &a.collider,
        a.motion(),
        &b.collider,
        b.motion(),
        CastOptions::default(),
    );
    let describe = || format!("{}: {:?} {:?}", shot.name, a.poses, b.poses);
    let Some(hit) = hit else {
        let is_miss = matches!(shot.expected, Expected::Miss);
        assert!(is_miss, "passed through: {} {cast:?}", describe());
        return;
    };
    let time = f64::from(hit.time());
    match shot.expected {
        Expected::Miss => panic!("a phantom at {time}: {}", describe()),
        Expected::Hit => {}
        Expected::HitAt(at, tolerance) => {
            assert!(
                (time - at).abs() < tolerance,
                "{time}, not {at}: {}",
                describe()
            );
        }
    }
    let cast = cast.expect("a hit of the same motion");
    let at = cast.touching;
    assert!((time - at).abs() < 2e-6, "{time}, not {at}: {}", describe());
    let contact = cast.contact;
    // Parallel edges touch in more than one point.
    let offset = (contact.point_a - hit.point()).dot(contact.normal);
    assert!(offset.abs() < 1e-3, "{offset} {}", describe());
    assert!(hit.depth < 1e-3, "{} {}", hit.depth, describe());
}

fn vector(random: &mut StdRng) -> Vec3 {
    let mut coordinate = || random.random_range(-1.0..1.0_f32);
    Vec3::new(coordinate(), coordinate(), coordinate())
}

fn rotation(random: &mut StdRng) -> Quat {
    let axis = vector(random).try_normalize().unwrap_or(Vec3::X);
    Quat::from_axis_angle(axis, random.random_range(-PI..PI))
}

/// The radius of all bullets' bounding balls is at most this.
const BULLET: f32 = 0.1;

/// Returns a small collider.
fn bullet(random: &mut StdRng, is_2d: bool) -> (&'static str, Collider) {
    let size = random.random_range(0.01..BULLET);
    match (random.random_range(0..4), is_2d) {
        (0, true) => ("circle", Collider::circle(size)),
        (1, true) => ("rectangle", Collider::rectangle(size, 0.5 * size)),
        (2, true) => ("capsule", Collider::capsule_2d(0.2 * size, 0.5 * size)),
        (_, true) => (
            "hull",
            Collider::convex_hull([Vec2::X, Vec2::Y, Vec2::NEG_ONE].map(|at| at * 0.5 * size)),
        ),
        (0, false) => ("sphere", Collider::sphere(size)),
        (1, false) => ("cuboid", Collider::cuboid(size, 0.5 * size, 0.3 * size)),
        (2, false) => ("capsule", Collider::capsule_3d(0.2 * size, 0.5 * size)),
        (_, false) => {
            let corners = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_ONE];
            (
                "hull",
                Collider::convex_hull(corners.map(|at| at * 0.5 * size)),
            )
        }
    }
}

/// Half of the size of all walls.
const HALF: f32 = 2.0;

/// The half thickness of all walls is at most this.
const THICKNESS: f32 = 0.005;

/// Returns a thin collider in the plane x = 0, and points to aim at: its seams and corners.
fn wall(random: &mut StdRng, is_2d: bool) -> (&'static str, Collider, Vec<Vec3>) {
    let along = |y: f32| Vec2::new(0.0, y * HALF);
    let at = |y: f32, z: f32| Vec3::new(0.0, y * HALF, z * HALF);
    let grid = || {
        let points = [-1.0, 0.0, 1.0].map(|y| [-1.0, 0.0, 1.0].map(|z| at(y, z)));
        let cells = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| {
            let corner = 3 * row + column;
            [
                [corner, corner + 1, corner + 3],
                [corner + 1, corner + 4, corner + 3],
            ]
        });
        (points.concat(), cells.concat())
    };
    match (random.random_range(0..5), is_2d) {
        (0, true) => (
            "segment",
            Collider::segment(along(-1.0), along(1.0)),
            vec![],
        ),
        (1 | 2, true) => {
            let line = Collider::polyline([-1.0, -0.5, 0.0, 0.7, 1.0].map(along));
            (
                "polyline",
                line,
                vec![at(-0.5, 0.0), at(0.0, 0.0), at(0.7, 0.0)],
            )
        }
        (_, true) => (
            "rectangle",
            Collider::rectangle(2.0 * THICKNESS, 2.0 * HALF),
            vec![],
        ),
        (0, false) => {
            let (points, triangles) = grid();
            let mesh = Collider::trimesh(points, triangles);
            // The seams are a vertex, two edges along the axes, and a diagonal.
            let seams = [
                (0.0, 0.0),
                (0.5, 0.0),
                (0.0, -0.4),
                (0.5, 0.5),
                (-0.25, 0.25),
            ];
            ("mesh", mesh, seams.map(|(y, z)| at(y, z)).to_vec())
        }
        (1, false) => {
            let half = Cuboid::new(2.0 * THICKNESS, HALF, 2.0 * HALF);
            let side = |y: f32| (Isometry3d::from_xyz(0.0, y * HALF, 0.0), half.into());
            let both = Collider::try_compound([side(-0.5), side(0.5)]).expect("two boxes");
            ("compound", both, vec![at(0.0, 0.0), at(0.0, 0.5)])
        }
        (2, false) => {
            let corners = [at(-1.0, -1.0), at(3.0, -1.0), at(-1.0, 3.0)];
            let [a, b, c] = corners;
            ("triangle", Collider::triangle(a, b, c), vec![])
        }
        _ => (
            "cuboid",
            Collider::cuboid(2.0 * THICKNESS, 2.0 * HALF, 2.0 * HALF),
            vec![],
        ),
    }
}

/// Returns a shot at a wall. Bullet and wall may move and rotate. The shot leads through a point of
/// the wall, or past its rim.
fn shot_at_wall(random: &mut StdRng, cell: Vec3) -> Shot {
    let is_2d = random.random_bool(0.5);
    let flat = if is_2d {
        Vec3::new(1.0, 1.0, 0.0)
    } else {
        Vec3::ONE
    };
    let frame = if is_2d {
        Quat::from_rotation_z(random.random_range(-PI..PI))
    } else {
        rotation(random)
    };
    let (wall_name, wall, seams) = wall(random, is_2d);
    let (_, bullet) = bullet(random, is_2d);
    let is_hit = random.random_bool(0.7);
    let mut aim = vector(random) * 0.95 * HALF;
    if is_hit && !seams.is_empty() && random.random_bool(0.5) {
        aim = seams[random.random_range(0..seams.len())];
    }
    if !is_hit {
        // The shot passes the plane within a few hundredths of a second, in which nothing else
        // moves by 0.3.
        aim.y = (HALF + BULLET + 0.3) * if random.random_bool(0.5) { 3.0 } else { -1.0 };
    }
    let aim = Vec3::new(0.0, aim.y, aim.z) * flat;
    let speed = random.random_range(8.0..16.0) * if random.random_bool(0.5) { 1.0 } else { -1.0 };
    let relative = Vec3::new(speed, 0.0, 0.0) + vector(random) * flat;
    let own = if random.random_bool(0.5) {
        vector(random) * 8.0 * flat
    } else {
        Vec3::ZERO
    };
    let time = random.random_range(0.3..0.7);
    let (aim, relative, own) = (frame * aim, frame * relative, own);
    let scale = Vec3::splat(if is_hit {
        random.random_range(0.9..1.1)
    } else {
        1.0
    });
    let target = [0.0 - time, 1.0 - time].map(|since| {
        let at = cell + own * since;
        Transform::from_translation(at)
            .with_rotation(frame)
            .with_scale(scale)
    });
    let spin = random.random_range(-1.0..1.0_f32);
    let poses = [0.0 - time, 1.0 - time].map(|since| {
        let at = cell + aim * scale + (own + relative) * since;
        Transform::from_translation(at).with_rotation(Quat::from_rotation_z(spin * since))
    });
    let both = random.random_bool(0.3);
    let bodies = [
        Body {
            collider: bullet,
            poses,
            is_swept: true,
        },
        Body {
            collider: wall,
            poses: target,
            is_swept: both,
        },
    ];
    let expected = if is_hit {
        Expected::Hit
    } else {
        Expected::Miss
    };
    Shot {
        name: wall_name,
        bodies,
        expected,
    }
}

#[test]
fn no_shot_passes_through_a_thin_wall_and_none_hits_beside_it() {
    check(&mut StdRng::seed_from_u64(1), shot_at_wall);
}

/// Returns a shot of a ball at a half-space or a box. The closed form is the first time at which
/// the distance to the plane of the face equals the radius.
fn ball_at_plane(random: &mut StdRng, cell: Vec3) -> Shot {
    let is_2d = random.random_bool(0.5);
    let radius = random.random_range(0.01..0.4);
    let (ball, normal) = if is_2d {
        let angle = random.random_range(-PI..PI);
        (
            Collider::circle(radius),
            Quat::from_rotation_z(angle) * Vec3::X,
        )
    } else {
        (Collider::sphere(radius), rotation(random) * Vec3::X)
    };
    let turned = if is_2d {
        Quat::from_rotation_z(normal.y.atan2(normal.x))
    } else {
        Quat::from_rotation_arc(Vec3::X, normal)
    };
    let half = 0.005;
    let target = match is_2d {
        true => Collider::rectangle(2.0 * half, 30.0),
        false => Collider::cuboid(2.0 * half, 30.0, 30.0),
    };
    let flat = if is_2d {
        Vec3::new(1.0, 1.0, 0.0)
    } else {
        Vec3::ONE
    };
    let time = random.random_range(0.2..0.8_f32);
    let velocity = normal * -random.random_range(6.0..15.0) + vector(random) * flat;
    let own = vector(random) * flat;
    let ball_at = |time_at: f32| cell + velocity * (time_at - time);
    let poses = [0.0, 1.0].map(|at| Transform::from_translation(ball_at(at)));
    let walls = [0.0, 1.0]
        .map(|at| Transform::from_translation(cell + own * (at - time)).with_rotation(turned));
    // These heights come from the rounded poses.
    let axis = turned.as_dquat().normalize() * DVec3::X;
    let height = |end: usize| {
        let [ball, wall] = [poses[end], walls[end]].map(|pose| pose.translation.as_dvec3());
        axis.dot(ball - wall)
    };
    let (first, last) = (height(0), height(1));
    let at = (first - f64::from(radius) - f64::from(half)) / (first - last);
    let bodies = [
        Body {
            collider: ball,
            poses,
            is_swept: true,
        },
        Body {
            collider: target,
            poses: walls,
            is_swept: false,
        },
    ];
    Shot {
        name: "plane",
        bodies,
        expected: Expected::HitAt(at, 1e-5),
    }
}

#[test]
fn a_ball_hits_a_plane_at_the_time_of_the_closed_form() {
    check(&mut StdRng::seed_from_u64(2), ball_at_plane);
}

/// Returns a rod that turns about its center, and a thin post in the path of one arm, or beyond the
/// arm's end. The axis of the rod is at the distance r sin(angle) from the center of a post at the
/// radius r.
fn spinning_rod(random: &mut StdRng, cell: Vec3) -> Shot {
    let is_2d = random.random_bool(0.5);
    let half = random.random_range(1.0..4.0_f32);
    let (thin, post) = (
        random.random_range(0.005..0.02),
        random.random_range(0.005..0.05_f32),
    );
    let frame = if is_2d {
        Quat::IDENTITY
    } else {
        rotation(random)
    };
    let turn = random.random_range(1.0..3.0_f32) * if random.random_bool(0.5) { 1.0 } else { -1.0 };
    let start = random.random_range(-PI..PI);
    let is_hit = random.random_bool(0.7);
    let radius = if is_hit {
        random.random_range(0.3..0.95) * half
    } else {
        half + thin + post + random.random_range(0.01..0.5)
    };
    // The other arm comes from behind, and never reaches this angle.
    let share = random.random_range(0.3..0.9_f32);
    let away = (f64::from(thin + post) / f64::from(radius)).asin();
    let at = f64::from(share) - away / f64::from(turn.abs());
    let (rod, ball) = if is_2d {
        (
            Collider::capsule_2d(thin, 2.0 * half),
            Collider::circle(post),
        )
    } else {
        (
            Collider::capsule_3d(thin, 2.0 * half),
            Collider::sphere(post),
        )
    };
    // A capsule is along y.
    let direction = Quat::from_rotation_z(start + share * turn) * Vec3::Y;
    let poses = [start, start + turn].map(|angle| {
        let turned = frame * Quat::from_rotation_z(angle);
        Transform::from_translation(cell).with_rotation(turned)
    });
    let still = [Transform::from_translation(cell + frame * direction * radius); 2];
    let bodies = [
        Body {
            collider: rod,
            poses,
            is_swept: true,
        },
        Body {
            collider: ball,
            poses: still,
            is_swept: false,
        },
    ];
    // A rounding of the post's translation by 6e-5 is an angle of up to 2e-4.
    let expected = if is_hit {
        Expected::HitAt(at, 1e-3)
    } else {
        Expected::Miss
    };
    Shot {
        name: "rod",
        bodies,
        expected,
    }
}

#[test]
fn a_spinning_rod_hits_a_post_at_the_time_of_the_closed_form() {
    check(&mut StdRng::seed_from_u64(3), spinning_rod);
}

/// Returns a blade with a non-uniform scale, whose center passes along a thin wall while the blade
/// turns. Only in the middle of the tick, the blade's tip is beyond the wall, or just before it.
fn turning_blade(random: &mut StdRng, cell: Vec3) -> Shot {
    let (name, wall, _) = wall(random, false);
    let frame = rotation(random);
    let half = random.random_range(1.5..3.0_f32);
    // The angles are measured from the direction of the wall. The tip is at the distance sin(angle)
    // from the center.
    let angles = [0.0, PI].map(|flat: f32| (flat - random.random_range(0.4..0.8)).abs());
    let is_hit = random.random_bool(0.7);
    let distance = half
        * if is_hit {
            random.random_range(0.75..0.97)
        } else {
            1.05
        };
    let side = if random.random_bool(0.5) { 1.0 } else { -1.0 };
    let slide = vector(random) * Vec3::new(0.0, 0.3, 0.3);
    let poses = [0, 1].map(|end| {
        let at = Vec3::X * distance * -side + slide * end as f32;
        // This rotation leads from the y axis, along which the wall is, to the x axis.
        let turned = frame * Quat::from_rotation_z(side * (0.5 * PI - angles[end]));
        Transform::from_translation(cell + frame * at)
            .with_rotation(turned)
            .with_scale(Vec3::new(2.0 * half, 0.02, 0.3))
    });
    let still = [Transform::from_translation(cell).with_rotation(frame); 2];
    let bodies = [
        Body {
            collider: Collider::cuboid(1.0, 1.0, 1.0),
            poses,
            is_swept: true,
        },
        Body {
            collider: wall,
            poses: still,
            is_swept: false,
        },
    ];
    let expected = if is_hit {
        Expected::Hit
    } else {
        Expected::Miss
    };
    Shot {
        name,
        bodies,
        expected,
    }
}

#[test]
fn no_turning_blade_passes_through_a_thin_wall() {
    check(&mut StdRng::seed_from_u64(4), turning_blade);
}

#[test]
fn slow_bodies_are_not_cast() {
    let mut app = app();
    let world = app.world_mut();
    let ball = world.spawn((Collider::sphere(0.5), Swept)).id();
    world.spawn((
        Collider::cuboid(0.01, 9.0, 9.0),
        Transform::from_xyz(0.51, 0.0, 0.0),
    ));
    tick(&mut app);
    let mut casts = |at: Vec3| {
        super::place(&mut app, ball, Transform::from_translation(at));
        let hits = tick(&mut app).messages.len();
        (app.world().resource::<CollisionDiagnostics>().casts, hits)
    };
    assert_eq!(casts(Vec3::Y * 0.4), (0, 0));
    // The motion is longer than the radius. The boxes of the paths overlap, but not the boxes on
    // the way.
    assert_eq!(casts(Vec3::Y * 1.4), (0, 0));
    assert_eq!(casts(Vec3::new(0.1, 1.4, 0.0)), (1, 1));
}
