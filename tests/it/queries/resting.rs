//! Casts from a resting contact: a motion into the floor touches at the start, and any other motion
//! misses. To run more casts for each dimension:
//!
//! ```text
//! HEADBUTT_RESTING=1000000 cargo test --release --test it queries::resting
//! ```

use bevy::prelude::*;
use headbutt::{
    prelude::*,
    query::{self, CastOptions, CastStatus},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::number;

/// Half the length of each floor. The bodies stay far from the floor's ends.
const HALF: f32 = 16.0;

fn casts() -> usize {
    number("HEADBUTT_RESTING").unwrap_or(10_000)
}

/// A collider, and the height of its origin above the floor on which it rests.
type Body = (Collider, f32);

/// A collider, and the height of its top above its origin.
type Floor = (Collider, f32);

fn bodies_in_2d() -> Vec<Body> {
    let octagon = [
        [1.0, 0.5],
        [0.5, 1.0],
        [-0.5, 1.0],
        [-1.0, 0.5],
        [-1.0, -0.5],
        [-0.5, -1.0],
        [0.5, -1.0],
        [1.0, -0.5],
    ];
    let feet = [-1.0, 1.0].map(|x| (Vec2::new(x, 0.0), Collider::circle(0.25)));
    vec![
        (Collider::rectangle(1.0, 0.5), 0.25),
        (Collider::circle(0.5), 0.5),
        (Collider::capsule_2d(0.25, 1.0), 0.75),
        (Collider::convex_hull(octagon.map(Vec2::from)), 1.0),
        (Collider::triangle(Vec2::NEG_X, Vec2::X, Vec2::Y), 0.0),
        (Collider::compound(feet), 0.25),
    ]
}

fn floors_in_2d() -> Vec<Floor> {
    let row = (-8..8).map(|x| {
        (
            Vec2::new(2.0 * x as f32 + 1.0, 0.0),
            Collider::rectangle(2.0, 2.0),
        )
    });
    let line = (-16..=16).map(|x| Vec2::new(x as f32, 0.0));
    vec![
        (Collider::rectangle(2.0 * HALF, 2.0), 1.0),
        (Collider::half_space(Vec2::Y), 0.0),
        (Collider::polyline(line), 0.0),
        (Collider::compound(row), 1.0),
        (Collider::rectangle(2.0 * HALF, 1.0).rounded(0.5), 1.0),
    ]
}

fn bodies_in_3d() -> Vec<Body> {
    let corners = (0..8).map(|corner| {
        let sign = |bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Vec3::new(sign(0), 0.5 * sign(1), sign(2))
    });
    let feet = [-1.0, 1.0].map(|x| (Vec3::new(x, 0.0, 0.0), Collider::sphere(0.25)));
    vec![
        (Collider::cuboid(1.0, 0.5, 1.5), 0.25),
        (Collider::sphere(0.5), 0.5),
        (Collider::capsule_3d(0.25, 1.0), 0.75),
        (Collider::cylinder(0.5, 1.0), 0.5),
        (Collider::cone(0.5, 1.0), 0.5),
        (Collider::convex_hull(corners), 0.5),
        (Collider::compound(feet), 0.25),
    ]
}

fn floors_in_3d() -> Vec<Floor> {
    let row = (-8..8).map(|x| {
        let position = Vec3::new(2.0 * x as f32 + 1.0, 0.0, 0.0);
        (position, Collider::cuboid(2.0, 2.0, 2.0 * HALF))
    });
    vec![
        (Collider::cuboid(2.0 * HALF, 2.0, 2.0 * HALF), 1.0),
        (Collider::half_space(Vec3::Y), 0.0),
        (
            Collider::heightfield(Vec2::splat(2.0 * HALF), 17, &[0.0; 17 * 17]),
            0.0,
        ),
        (Collider::compound(row), 1.0),
        (
            Collider::cuboid(2.0 * HALF, 1.0, 2.0 * HALF).rounded(0.5),
            1.0,
        ),
    ]
}

/// Returns a motion in the plane of the floor, into the floor or out of the floor. Some motions are
/// nearly tangential.
fn motion(random: &mut StdRng, is_3d: bool) -> Vec3 {
    let mut motion = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0_f32)));
    if !is_3d {
        motion.z = 0.0;
    }
    match random.random_range(0..4) {
        0 => motion.y = 0.0,
        1 => motion.y *= 1e-2,
        _ => {}
    }
    // The body stays above the floor.
    motion *= 4.0_f32.powi(random.random_range(-3..=1));
    // Overlaps up to about 5e-7 of the size of the pair are tolerated, which is 3e-5 here.
    if motion.y.abs() < 1e-4 {
        motion.y = 0.0;
    }
    motion
}

/// The world's origin is `offset` away from the floor. All coordinates are multiples of a power of
/// two, so that the bodies rest on the floors exactly.
fn judge(bodies: &[Body], floors: &[Floor], is_3d: bool, offset: f32, casts: usize) {
    let mut random = StdRng::seed_from_u64(11);
    let mut counts = [0; 2];
    for number in 0..casts {
        let (body, height) = &bodies[number % bodies.len()];
        let (floor, top) = &floors[number / bodies.len() % floors.len()];
        let grid = |random: &mut StdRng| random.random_range(-32..=32_i32) as f32 / 8.0;
        let z = if is_3d { grid(&mut random) } else { 0.0 };
        let above = Vec3::new(grid(&mut random), top + height, z);
        let origin = Vec3::new(offset, -offset, if is_3d { offset } else { 0.0 });
        let motion = motion(&mut random, is_3d);
        let options = CastOptions::default();
        let still = Vec3::ZERO;
        let cast = query::cast_shape(body, origin + above, motion, floor, origin, still, options);
        let context = || format!("{body:?} at {above} on {floor:?}, motion {motion}: {cast:?}");
        let is_into = motion.y < 0.0;
        counts[usize::from(is_into)] += 1;
        match &cast {
            Some(hit) if is_into && hit.status == CastStatus::Touching => {
                for normal in [hit.contact.normal, hit.face_normal] {
                    assert!((normal + Vec3::Y).length() < 1e-5, "{}", context());
                }
            }
            None if !is_into => {}
            _ => panic!("{}", context()),
        }
    }
    assert!(counts.iter().all(|count| *count > casts / 4), "{counts:?}");
}

#[test]
fn from_a_resting_contact_in_2d_only_motions_into_the_floor_hit() {
    judge(&bodies_in_2d(), &floors_in_2d(), false, 0.0, casts());
}

#[test]
fn from_a_resting_contact_in_3d_only_motions_into_the_floor_hit() {
    judge(&bodies_in_3d(), &floors_in_3d(), true, 0.0, casts());
}

/// 2^20 is about a million. At this distance, f32 resolves 1/8.
#[test]
fn resting_contacts_far_from_the_origin_are_those_at_the_origin() {
    let offset = 1_048_576.0;
    let casts = casts() / 4;
    judge(&bodies_in_2d(), &floors_in_2d(), false, offset, casts);
    judge(&bodies_in_3d(), &floors_in_3d(), true, offset, casts);
}
