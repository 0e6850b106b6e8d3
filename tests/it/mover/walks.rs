//! Random walks of characters. For long runs:
//!
//! ```text
//! HEADBUTT_WALKS=1000000 cargo test --release --test it mover::walks -- --nocapture
//! ```

use core::f32::consts::PI;

use bevy::prelude::*;
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Level, Walker, at};
use crate::support::cases::number;

/// The default skin: a hundredth of half of the least side of the bodies without a scale, which is
/// 0.8.
const SKIN: f32 = 0.004;

/// The number of steps in a level.
const STEPS: u32 = 250;

/// Returns the number of levels of each of the six kinds.
fn levels() -> u64 {
    let steps = number("HEADBUTT_WALKS").unwrap_or(6_000) as u64;
    (steps / u64::from(6 * STEPS)).max(1)
}

fn body(random: &mut StdRng, is_flat: bool) -> Collider {
    let bust = (Vec3::Y * 0.4, Collider::sphere(0.4));
    match (is_flat, random.random_range(0..4)) {
        (true, 3) => Collider::rectangle(0.6, 1.0).rounded(0.1),
        (false, 3) => Collider::compound([(Vec3::Y * -0.4, Collider::cuboid(0.8, 0.8, 0.8)), bust]),
        (true, 0) => Collider::circle(0.4),
        (true, 1) => Collider::capsule_2d(0.4, 0.8),
        (true, _) => Collider::rectangle(0.8, 1.6),
        (false, 0) => Collider::sphere(0.4),
        (false, 1) => Collider::capsule_3d(0.4, 0.8),
        (false, _) => Collider::cuboid(0.8, 1.6, 0.8),
    }
}

fn solid(is_flat: bool, size: Vec3) -> Collider {
    if is_flat {
        Collider::rectangle(size.x, size.y)
    } else {
        Collider::cuboid(size.x, size.y, size.z)
    }
}

/// Returns a direction on the ground.
fn lateral(random: &mut StdRng, is_flat: bool) -> Vec3 {
    let angle = random.random_range(0.0..2.0 * PI);
    if is_flat {
        Vec3::X * angle.cos().signum()
    } else {
        Vec3::new(angle.cos(), 0.0, angle.sin())
    }
}

/// Walks in a straight line for some time, and then in another direction. `check` gets the wanted
/// and the actual translation.
fn walk(
    level: &mut Level,
    walker: &mut Walker,
    random: &mut StdRng,
    is_flat: bool,
    mut check: impl FnMut(&SpatialQuery, &Walker, Vec3, &headbutt::MoveAndSlideOutput),
) {
    level.ask(|query| {
        walker.land(query);
        let (mut way, mut fall) = (Vec3::X, 0.0_f32);
        for step in 0..STEPS {
            if step % 20 == 0 {
                way = lateral(random, is_flat) * random.random_range(0.001..0.3);
            }
            fall = (fall - 0.003).max(-0.5);
            let wanted = way + Vec3::Y * fall;
            let slide = walker.go(query, wanted);
            fall = slide.clip_velocity(Vec3::Y * fall).y.min(0.0);
            assert!(!slide.is_stuck);
            let room = walker.room(query);
            let least = 0.25 * SKIN * walker.pose.scale.min_element();
            assert!(room > least, "{room} at {}", walker.pose.translation);
            check(query, walker, way, &slide);
        }
    });
}

/// Asserts that every step on a flat floor has the wanted length, whatever the floor consists of.
fn walk_on_flat_floors(is_flat: bool, floor: impl Fn(&mut StdRng) -> Vec<(Collider, Transform)>) {
    for seed in 0..levels() {
        let mut random = StdRng::seed_from_u64(seed);
        let mut level = Level::new(floor(&mut random));
        let mut walker = Walker::new(body(&mut random, is_flat), Vec3::new(0.3, 1.0, 0.2));
        walk(
            &mut level,
            &mut walker,
            &mut random,
            is_flat,
            |_, walker, way, slide| {
                assert!(slide.ground.is_some(), "seed {seed}");
                let moved = slide.translation;
                assert!(
                    moved.distance(way) < 0.1 * SKIN,
                    "seed {seed} at {}: {moved}, not {way}",
                    walker.pose.translation
                );
            },
        );
    }
}

#[test]
fn seams_of_tiles_are_not_felt() {
    for is_flat in [true, false] {
        walk_on_flat_floors(is_flat, |random| {
            let size = random.random_range(0.3..3.0_f32);
            let count = (80.0 / size).min(30.0) as i32;
            let rows = if is_flat { 0..1 } else { -count..count };
            let tile = |x: i32, z: i32| {
                let pose = Vec3::new(x as f32 * size, -0.5 * size, z as f32 * size);
                (
                    solid(is_flat, Vec3::splat(size)),
                    Transform::from_translation(pose),
                )
            };
            let mut tiles: Vec<_> = (-count..count)
                .flat_map(|x| rows.clone().map(move |z| (x, z)))
                .map(|(x, z)| tile(x, z))
                .collect();
            // This ground is below the tiles, for a body that leaves the tiles.
            let ground = solid(is_flat, Vec3::new(400.0, 1.0, 400.0));
            tiles.push((ground, at(0.0, -0.5)));
            tiles
        });
    }
}

#[test]
fn seams_of_meshes_are_not_felt() {
    walk_on_flat_floors(false, |random| {
        let columns = random.random_range(2..60_usize);
        let floor =
            Collider::heightfield(Vec2::splat(200.0), columns, &vec![0.0; columns * columns]);
        vec![(floor, Transform::IDENTITY)]
    });
    walk_on_flat_floors(true, |random| {
        let size = random.random_range(0.1..4.0);
        let points = (-400..400).map(|x| Vec2::new(x as f32 * size, 0.0));
        let floor = Collider::polyline(points.collect::<Vec<_>>());
        vec![(floor, Transform::IDENTITY)]
    });
}

/// Returns a yard with blocks of any rotation, stairs and slopes.
fn yard(random: &mut StdRng, is_flat: bool) -> Vec<(Collider, Transform)> {
    let mut all = vec![(solid(is_flat, Vec3::new(60.0, 2.0, 60.0)), at(0.0, -1.0))];
    let sides = if is_flat { 2 } else { 4 };
    for side in 0..sides {
        let turn = Quat::from_rotation_y(side as f32 * 2.0 * PI / sides as f32);
        let wall = solid(is_flat, Vec3::new(2.0, 40.0, 40.0));
        all.push((wall, Transform::from_translation(turn * Vec3::X * 8.0)));
        if let Some((_, pose)) = all.last_mut()
            && !is_flat
        {
            pose.rotation = turn;
        }
    }
    for _ in 0..12 {
        let spread = if is_flat { 0.0 } else { 6.0 };
        let place = Vec3::new(
            random.random_range(-6.0..6.0),
            random.random_range(-1.0..1.0),
            random.random_range(-1.0..=1.0) * spread,
        );
        let size = Vec3::from([(); 3].map(|()| random.random_range(0.2..3.0)));
        let angle = random.random_range(0.0..2.0 * PI);
        let turn = if is_flat {
            Quat::from_rotation_z(angle)
        } else {
            Quat::from_euler(
                EulerRot::XYZ,
                angle,
                random.random_range(-1.0..1.0),
                angle * 1.7,
            )
        };
        let block = match random.random_range(0..3) {
            0 if !is_flat => mesh_of_box(size),
            _ => solid(is_flat, size),
        };
        all.push((
            block,
            Transform::from_translation(place).with_rotation(turn),
        ));
    }
    all
}

/// Returns the surface of a box.
fn mesh_of_box(size: Vec3) -> Collider {
    let corner = |index: u32| {
        let sign = |axis: u32| if index >> axis & 1 == 1 { 0.5 } else { -0.5 };
        Vec3::new(sign(0), sign(1), sign(2)) * size
    };
    let quads = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Collider::trimesh(
        (0..8).map(corner).collect::<Vec<_>>(),
        triangles.collect::<Vec<_>>(),
    )
}

/// The body is above all obstacles at the start. From every place that the body reaches, it can
/// move away: nothing is above its ground, or it can go back.
#[test]
fn nobody_gets_stuck_between_blocks() {
    for seed in 0..levels() {
        for is_flat in [true, false] {
            let mut random = StdRng::seed_from_u64(seed);
            let mut level = Level::new(yard(&mut random, is_flat));
            let mut walker = Walker::new(body(&mut random, is_flat), Vec3::new(0.0, 6.0, 0.0));
            walker.settings.step_height = if seed % 2 == 0 { 0.4 } else { 0.0 };
            walker.pose.scale = match seed % 3 {
                0 => Vec3::ONE,
                1 => Vec3::splat(random.random_range(0.5..1.5)),
                _ => Vec3::from([(); 3].map(|()| random.random_range(0.5..1.5))),
            };
            let mut tries = StdRng::seed_from_u64(seed);
            walk(
                &mut level,
                &mut walker,
                &mut random,
                is_flat,
                |query, walker, _, _| {
                    let at = walker.pose.translation;
                    assert!(
                        at.y > 0.0 && at.abs().max_element() < 10.0,
                        "seed {seed}: {at}"
                    );
                    let mut gets_away = |_| {
                        let way =
                            lateral(&mut tries, is_flat) + Vec3::Y * tries.random_range(0.0..2.0);
                        let mut probe = Walker::new(walker.body.clone(), at);
                        // In a gap that is as wide as the body, a body without its scale is stuck.
                        probe.pose.scale = walker.pose.scale;
                        let slide = probe.go(query, way * 0.1);
                        slide.translation.length() > 0.03
                    };
                    assert!((0..20).any(&mut gets_away), "seed {seed}: stuck at {at}");
                },
            );
        }
    }
}

/// On hills whose slopes are all ground, a body is on the ground in every step, and no step is
/// longer than wanted.
#[test]
fn hills_are_walked_at_the_same_speed() {
    for seed in 0..levels() {
        let mut random = StdRng::seed_from_u64(seed);
        // Cells of size 2 with heights up to 1 have slopes of at most 35 degrees.
        let heights: Vec<f32> = (0..60 * 60)
            .map(|_| random.random_range(0.0..1.0))
            .collect();
        let hills = Collider::heightfield(Vec2::splat(118.0), 60, &heights);
        let mut level = Level::new([(hills, Transform::IDENTITY)]);
        let shape = if seed % 2 == 0 {
            Collider::sphere(0.4)
        } else {
            Collider::capsule_3d(0.4, 0.8)
        };
        let mut walker = Walker::new(shape, Vec3::new(0.3, 3.0, 0.2));
        let (mut asked, mut walked) = (0.0, 0.0);
        walk(
            &mut level,
            &mut walker,
            &mut random,
            false,
            |_, walker, way, slide| {
                let at = walker.pose.translation;
                assert!(slide.ground.is_some(), "seed {seed}: in the air at {at}");
                let length = slide.translation.length();
                assert!(
                    length < way.length() * 1.5 + SKIN,
                    "seed {seed}: {length} at {at}"
                );
                asked += way.length();
                walked += length;
            },
        );
        assert!(
            (walked / asked - 1.0).abs() < 0.1,
            "seed {seed}: {walked} of {asked}"
        );
    }
}

#[test]
fn the_order_of_spawning_does_not_matter() {
    for seed in 0..levels().min(200) {
        for is_flat in [true, false] {
            let path = |is_reversed: bool| {
                let mut random = StdRng::seed_from_u64(seed);
                let mut colliders = yard(&mut random, is_flat);
                if is_reversed {
                    colliders.reverse();
                }
                let mut level = Level::new(colliders);
                let mut walker = Walker::new(body(&mut random, is_flat), Vec3::Y * 6.0);
                walker.settings.step_height = 0.3;
                let mut path = vec![];
                walk(
                    &mut level,
                    &mut walker,
                    &mut random,
                    is_flat,
                    |_, walker, _, _| {
                        path.push(walker.pose.translation.to_array().map(f32::to_bits));
                    },
                );
                path
            };
            assert_eq!(path(false), path(true), "seed {seed}");
        }
    }
}
