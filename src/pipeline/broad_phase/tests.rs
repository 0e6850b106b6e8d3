//! Tests of the work of the broad phase for the paths of swept colliders.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends when its own scene is invalid"
)]

use super::*;
use crate::{
    collider::Collider,
    collision::PreviousPoses,
    math::{Vec2, Vec3},
    meeting::PairTraits,
    pipeline::{broad_phase::row_scan::SCANNED, proxy::Proxy, swept::path_table::TESTED},
    shape::{AnyColliderShape, ColliderShape, WorldPose},
    space::Pose,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The walls have the first slots, and the bullets have the other slots.
const WALLS: u32 = 4_000;
const ALL: u32 = WALLS + 400;

/// The mean distance between neighboring walls.
const SPACING: f64 = 4.0;

/// The work of the broad phase in a tick.
#[derive(Debug)]
struct PathWork {
    /// The number of boxes that the scans of rows visited.
    scanned: usize,
    /// The number of pairs whose paths were tested.
    tested: usize,
    /// The number of pairs that were found.
    found: usize,
}

/// Bullets among walls.
struct ShootingRange<'a, V: Space> {
    random: StdRng,
    wall: &'a ColliderShape<V>,
    bullet: &'a ColliderShape<V>,
    arena: ProxyArena<V>,
    paths: PathTable<V>,
    overlaps: Overlaps,
    pairs: PairList,
}

impl<V: Space> ShootingRange<'_, V> {
    fn random_place(&mut self) -> V::DVec {
        let half = 0.5 * SPACING * f64::from(WALLS).powf(1.0 / V::DVec::DIMENSION as f64);
        V::DVec::of([(); 3].map(|()| self.random.random_range(-half..half)))
    }

    /// Returns the ends of a random path of this length among the walls.
    fn random_path(&mut self, length: f64) -> [V::DVec; 2] {
        loop {
            let [start, to] = [(); 2].map(|()| self.random_place());
            let path = to - start;
            if path.length() > length {
                return [start, start + path * (length / path.length())];
            }
        }
    }

    /// Returns the proxy with this number, and its box. Three of four bullets are swept.
    fn proxy(&self, number: u32, translation: V::DVec) -> (Proxy<V>, Aabb) {
        let is_bullet = number >= WALLS;
        let shape = if is_bullet { self.bullet } else { self.wall };
        let entity = Entity::from_raw_u32(number).expect("a valid number");
        let rotation = V::DVec::IDENTITY;
        let pose = WorldPose::from_pose(&Pose {
            rotation,
            translation,
        });
        let traits = PairTraits {
            is_swept: is_bullet && !number.is_multiple_of(4),
            ..PairTraits::default()
        };
        Proxy::new(entity, traits, shape, pose).expect("a valid proxy")
    }

    /// Moves the bullets and some of the walls. Returns the work of the broad phase.
    fn step(&mut self, length: f64, moved_walls: usize) -> PathWork {
        let mut previous = PreviousPoses::default();
        let bullets = (WALLS..ALL).map(|slot| (slot, length));
        let walls = (0..WALLS).take(moved_walls).map(|slot| (slot, 0.1));
        for (slot, length) in walls.chain(bullets).filter(|(_, length)| *length > 0.0) {
            let [start, end] = self.random_path(length);
            let (proxy, _) = self.proxy(slot, start);
            previous.insert(proxy.entity, proxy.world_pose.affine());
            let (proxy, aabb) = self.proxy(slot, end);
            self.arena.replace(slot, proxy, aabb);
        }
        self.paths.find(&self.arena, &previous);
        TESTED.set(0);
        SCANNED.set(0);
        self.pairs.clear();
        self.overlaps
            .find(&self.arena, &self.paths, &mut self.pairs);
        let (tested, scanned) = (TESTED.get(), SCANNED.get());
        let in_order = |(a, b): &SlotPair| (*a.min(b), *a.max(b));
        let mut found: Vec<_> = self.pairs.all.iter().map(in_order).collect();
        found.sort_unstable();
        let is_complete = found == self.all_pairs();
        assert!(is_complete, "{moved_walls} walls and bullets by {length}");
        self.arena.begin_tick();
        self.paths.end_tick(&mut self.arena);
        PathWork {
            scanned,
            tested,
            found: found.len(),
        }
    }

    /// Tests every pair. Returns the pairs that may touch on their paths, if at least one collider
    /// of the pair changed.
    fn all_pairs(&self) -> Vec<SlotPair> {
        let (arena, paths) = (&self.arena, &self.paths);
        let pairs = (0..ALL).flat_map(|a| (a + 1..ALL).map(move |b| (a, b)));
        let is_wanted = |(a, b): &SlotPair| {
            (arena.is_changed(*a) || arena.is_changed(*b)) && paths.may_meet(arena, (*a, *b))
        };
        pairs.filter(is_wanted).collect()
    }
}

/// Returns the work of a tick in which all bullets fly a distance of `length`.
fn flight<V: Space>([wall, bullet]: [&ColliderShape<V>; 2], length: f64) -> PathWork {
    let mut range = ShootingRange {
        random: StdRng::seed_from_u64(1),
        wall,
        bullet,
        arena: ProxyArena::default(),
        paths: PathTable::default(),
        overlaps: Overlaps::default(),
        pairs: PairList::default(),
    };
    for number in 0..ALL {
        let place = range.random_place();
        let (proxy, aabb) = range.proxy(number, place);
        range.arena.insert(proxy, aabb);
    }
    range.step(0.0, 0);
    let work = range.step(length, 0);
    range.step(length, 1_000);
    // The bullets rest where their paths end.
    range.step(0.0, 100);
    range.step(length, 0);
    work
}

fn check<V: Space>(shapes: [&ColliderShape<V>; 2]) {
    let [short, long] = [8.0, 64.0].map(|length| flight(shapes, length));
    let name = format!("{short:?} and {long:?} in {}D", V::DVec::DIMENSION);
    assert!(long.scanned < 14 * short.scanned, "{name}");
    assert!(long.tested < 14 * short.tested, "{name}");
    assert!(short.found > 100 && long.found > 6 * short.found, "{name}");
}

#[test]
fn paths_that_are_eight_times_as_long_take_at_most_fourteen_times_the_work() {
    let shapes = [
        Rectangle::new(0.2, 2.0).into(),
        Circle::new(0.1).into(),
        Cuboid::new(0.2, 2.0, 2.0).into(),
        Sphere::new(0.1).into(),
    ];
    let shapes = shapes
        .each_ref()
        .map(|collider: &Collider| collider.shape());
    let [
        AnyColliderShape::D2(wall),
        AnyColliderShape::D2(bullet),
        AnyColliderShape::D3(solid_wall),
        AnyColliderShape::D3(ball),
    ] = shapes
    else {
        panic!("four shapes");
    };
    check::<Vec2>([wall, bullet]);
    check::<Vec3>([solid_wall, ball]);
}
