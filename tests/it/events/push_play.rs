//! Bodies walk through rooms by random input, and only `Collisions::push_out` keeps them out of the
//! walls. For long runs:
//!
//! ```text
//! HEADBUTT_PLAY=1000000 cargo test --release --test it events::push_play -- --nocapture
//! ```

use core::f32::consts::{FRAC_PI_4, TAU};

use bevy::{math::DQuat, prelude::*};
use headbutt::{PushOut, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::{app, cases::cases, tick};

/// The number of ticks in a room.
const TICKS: usize = 1000;

/// 4 m/s at 60 ticks per second.
const STEP: f32 = 4.0 / 60.0;

/// A box of the room.
#[derive(Clone)]
struct Block {
    size: Vec3,
    pose: Transform,
}

impl Block {
    fn between(min: [f32; 3], max: [f32; 3]) -> Self {
        let [min, max] = [min, max].map(Vec3::from);
        Self {
            size: max - min,
            pose: Transform::from_translation(0.5 * (min + max)),
        }
    }

    /// Returns the triangles.
    fn triangles(&self) -> [[Vec3; 3]; 12] {
        let corner = |index: usize| {
            let signs = [index & 1, index >> 1 & 1, index >> 2];
            let signs = Vec3::from(signs.map(|bit| bit as f32 - 0.5));
            self.pose.transform_point(self.size * signs)
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3]];
        let ends = [[0, 4, 6, 2], [1, 3, 7, 5]];
        let halves = faces.into_iter().chain(ends);
        let halves = halves.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
        let mut triangles = [[Vec3::ZERO; 3]; 12];
        for (triangle, indices) in triangles.iter_mut().zip(halves) {
            *triangle = indices.map(corner);
        }
        triangles
    }

    /// Returns `true` if a segment passes through the inside, computed slab by slab in f64.
    fn is_crossed(&self, [from, to]: [Vec3; 2]) -> bool {
        let turn = self.pose.rotation.to_array().map(f64::from);
        let turn = DQuat::from_array(turn).normalize().inverse();
        let local = |point: Vec3| turn * (point.as_dvec3() - self.pose.translation.as_dvec3());
        let (from, to, half) = (local(from), local(to), 0.5 * self.size.as_dvec3());
        let (mut start, mut end) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            let times = [-half[axis], half[axis]].map(|side| {
                let change = to[axis] - from[axis];
                // A path parallel to the slab is completely inside or completely outside of the
                // slab.
                let change = if change == 0.0 { 1e-30 } else { change };
                (side - from[axis]) / change
            });
            start = start.max(times[0].min(times[1]));
            end = end.min(times[0].max(times[1]));
        }
        start < end
    }
}

/// Returns a room with two walls that have a door or a window each, shelves, inclined ceilings and
/// crates.
fn room(random: &mut StdRng) -> Vec<Block> {
    let mut blocks = vec![
        Block::between([-9.0, -1.0, -9.0], [9.0, 0.0, 9.0]),
        Block::between([-7.0, -1.0, -7.0], [-5.5, 3.0, 7.0]),
        Block::between([5.5, -1.0, -7.0], [7.0, 3.0, 7.0]),
        Block::between([-7.0, -1.0, -7.0], [7.0, 3.0, -5.5]),
        Block::between([-7.0, -1.0, 5.5], [7.0, 3.0, 7.0]),
    ];
    let turn = if random.random() { 0.0 } else { 0.35 };
    let turn = Quat::from_rotation_y(turn);
    for at in [-3.0_f32..-1.0, 1.0..3.0] {
        let near = random.random_range(at);
        let far = near + random.random_range(0.1..0.5_f32);
        let (middle, half) = (
            random.random_range(-3.0..3.0_f32),
            random.random_range(0.4..0.9_f32),
        );
        let sill = if random.random() {
            0.0
        } else {
            random.random_range(0.05..1.0_f32)
        };
        let top = sill + random.random_range(0.8..2.2_f32);
        let (left, right): (f32, f32) = (middle - half, middle + half);
        let parts = [
            Block::between([near, -0.5, -7.5], [far, 3.0, left]),
            Block::between([near, -0.5, right], [far, 3.0, 7.5]),
            Block::between([near, top, left], [far, 3.5, right]),
            Block::between([near, -0.5, left], [far, sill, right]),
        ];
        blocks.extend(parts.map(|mut part| {
            part.pose.rotate_around(Vec3::ZERO, turn);
            part
        }));
    }
    for _ in 0..random.random_range(1..4) {
        let (y, z) = (
            random.random_range(0.2..2.0_f32),
            random.random_range(-5.0..4.0_f32),
        );
        let (depth, length) = (
            random.random_range(0.3..1.5_f32),
            random.random_range(0.3..2.0_f32),
        );
        let top = y + random.random_range(0.03..0.2_f32);
        blocks.push(Block::between([5.5 - depth, y, z], [5.5, top, z + length]));
    }
    for _ in 0..random.random_range(1..6) {
        let spot = [-5.0_f32..5.0, 0.0..2.2, -5.0..5.0].map(|range| random.random_range(range));
        let yaw = Quat::from_rotation_y(random.random_range(0.0..TAU));
        let is_ceiling: bool = random.random();
        let (size, turn) = if is_ceiling {
            let pitch = Quat::from_rotation_z(random.random_range(0.0..0.6));
            (Vec3::new(3.0, 0.3, 3.0), yaw * pitch)
        } else {
            let tumble = Quat::from_rotation_x(random.random_range(-1.5..1.5));
            (Vec3::new(0.8, 1.2, 0.6), yaw * tumble)
        };
        blocks.push(Block {
            size,
            pose: Transform::from_translation(spot.into()).with_rotation(turn),
        });
    }
    blocks
}

/// A body in a room of boxes, or in a mesh of their faces.
struct Game {
    app: App,
    body: Entity,
}

impl Game {
    fn new(blocks: &[Block], is_mesh: bool, body: Collider, turn: Quat) -> Self {
        let mut app = app();
        let world = app.world_mut();
        if is_mesh {
            let points = blocks.iter().flat_map(Block::triangles).flatten();
            let points: Vec<Vec3> = points.collect();
            let facets = (0..points.len() as u32 / 3).map(|it| [3 * it, 3 * it + 1, 3 * it + 2]);
            let facets: Vec<_> = facets.collect();
            world.spawn(Collider::try_trimesh(points, facets).expect("a surface"));
        } else {
            for Block { size, pose } in blocks {
                world.spawn((Collider::cuboid(size.x, size.y, size.z), *pose));
            }
        }
        let body = (body, Transform::from_rotation(turn));
        let body = world.spawn(body).id();
        Self { app, body }
    }

    /// Returns the push-out at a place.
    fn push_out(&mut self, place: Vec3) -> PushOut {
        let mut body = self.app.world_mut().entity_mut(self.body);
        let mut pose = body.get_mut::<Transform>().expect("a pose");
        pose.translation = place;
        tick(&mut self.app);
        let collisions = self.app.world().resource::<Collisions>();
        collisions.push_out(self.body, |_| true)
    }
}

/// Plays random walks, and checks each push-out. Moving back to the last free place clears all
/// overlaps, so no depth exceeds the length of this move. A push-out is at most twice as long as
/// the greatest depth.
fn play(is_mesh: bool, usual: usize) {
    let ticks = cases("HEADBUTT_PLAY", usual);
    let rooms = (ticks.start / TICKS)..ticks.end.div_ceil(TICKS);
    let (mut judged, mut pressed, mut played) = (0, 0, 0);
    for number in rooms {
        let mut random = StdRng::seed_from_u64(number as u64);
        let blocks = room(&mut random);
        let body = match number % 5 {
            0 => Collider::cuboid(0.8, 1.8, 0.8),
            1 => Collider::capsule_3d(0.4, 1.0),
            2 => Collider::sphere(0.5),
            3 => Collider::cylinder(0.4, 1.8),
            _ => Collider::cuboid(0.7, 0.7, 0.7),
        };
        let turn = Quat::from_rotation_y(random.random_range(0.0..1.5));
        let mut game = Game::new(&blocks, is_mesh, body, turn);
        let mut places = (0..100).map(|_| {
            let [x, z] = [(); 2].map(|()| random.random_range(-5.0..5.0));
            Vec3::new(x, 0.95, z)
        });
        let is_outside = |place: &Vec3| !blocks.iter().any(|it| it.is_crossed([*place; 2]));
        let start = places.find(|it| is_outside(it) && game.push_out(*it) == PushOut::Free);
        let Some(mut place) = start else {
            continue;
        };
        played += 1;
        let (mut free, mut input, mut left) = (place, Vec3::ZERO, 0);
        for number_of_tick in 0..TICKS {
            if left == 0 {
                left = random.random_range(3..90);
                let eighth = random.random_range(0..8) as f32 * FRAC_PI_4;
                let any = random.random_range(0.0..TAU);
                let angle = if random.random() { any } else { eighth };
                input = Vec3::new(angle.cos(), 0.0, angle.sin());
            }
            left -= 1;
            let stepped = place + input * STEP + Vec3::NEG_Y * 0.03;
            let found = game.push_out(stepped);
            let next = stepped + found.translation();
            let context = || format!("room {number}, tick {number_of_tick}: {found:?}");
            if found == PushOut::Free {
                free = stepped;
            } else {
                judged += 1;
                pressed += u32::from(found.is_pressed());
                let (length, way) = (found.translation().length(), stepped.distance(free));
                assert!(length <= 2.0 * way + 1e-5, "{}, {way}", context());
                // Because of rounding, the body may still touch a wall. A pressed body may be in
                // balance.
                let again = game.push_out(next);
                if !again.is_pressed() && again.translation().length() < 1e-5 {
                    free = next;
                }
            }
            let crossed = blocks
                .iter()
                .position(|block| block.is_crossed([place, next]));
            assert_eq!(crossed, None, "{} from {place}", context());
            place = next;
        }
    }
    println!("{played} rooms, {judged} pushes, {pressed} of them pressed");
    assert!(judged > ticks.len() / 2, "{judged}");
    assert!(pressed > 0, "nothing is pressed");
}

#[test]
fn no_push_out_of_boxes_is_longer_than_twice_the_step_or_leads_through_a_wall() {
    play(false, 20_000);
}

#[test]
fn no_push_out_of_a_mesh_is_longer_than_twice_the_step_or_leads_through_a_wall() {
    play(true, 10_000);
}
