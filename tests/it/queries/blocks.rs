//! Compares closed forms with the iterative solver, for all pairs of balls, capsules, boxes and
//! polygons, with and without a margin, including flat shapes.

use crate::oracle::cases::{Bounded, Dimension};
use bevy::math::{EulerRot, Quat, Vec2, Vec3};
use headbutt::{
    ConvexHull, Rounded, Support,
    query::{self, Contact, Distance},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

const CASES: usize = 6_000;

/// The allowed difference of two results as a fraction of the size: EPA's tolerance and the
/// rounding of f32.
const DIFFERENCE: f64 = 1e-6;

/// The results of one method for a pair.
#[derive(Debug)]
struct Answer<V> {
    hit: bool,
    contact: Option<Contact<V>>,
    distance: Distance<V>,
}

type Solid<V> = dyn Support<Vector = V>;

fn answer<V: Dimension>(
    [a, b]: [&Solid<V>; 2],
    [pose_a, pose_b]: [V::Isometry; 2],
    is_general: bool,
) -> Answer<V> {
    let seen = |shape| {
        Bounded::new(Box::new(shape))
            .bounded()
            .iterative(is_general)
    };
    let (a, b) = (seen(a), seen(b));
    Answer {
        hit: query::intersects(&a, pose_a, &b, pose_b),
        contact: query::contact(&a, pose_a, &b, pose_b),
        distance: query::distance(&a, pose_a, &b, pose_b),
    }
}

fn solid<V: Dimension>(random: &mut StdRng) -> Box<Solid<V>> {
    let mut size = || {
        // The length is sometimes 0 or almost 0.
        match random.random_range(0..12) {
            0 => 0.0,
            1 => 1e-6,
            _ => random.random_range(0.1..1.0_f32),
        }
    };
    let (half, radius) = (Vec3::new(size(), size(), size()), size());
    let made = match random.random_range(0..7) {
        4 => return Box::new(hull(random)),
        5 => return Box::new(Rounded::new(hull::<V>(random), radius)),
        6 => return Box::new(corners_of_a_box::<V>(half)),
        0 => V::ball(radius),
        1 => V::capsule(half.y, radius),
        2 => V::cuboid(V::of(half)),
        _ => V::rounded_box(V::of(half), radius),
    };
    made.support
}

/// Returns the hull of some points: in 2D, usually a polygon of few sides, and sometimes a polygon
/// with more sides than closed forms support.
fn hull<V: Dimension>(random: &mut StdRng) -> ConvexHull<V> {
    let count = random.random_range(3..24);
    let is_round = random.random();
    let points = (0..count).map(|_| {
        let point = Vec3::from_array(random.random()) - 0.5;
        V::of(if is_round {
            point.normalize_or_zero()
        } else {
            point
        })
    });
    ConvexHull::new(points).expect("finite points")
}

/// Returns the corners of a box, whose sides may also be parallel to the sides of the other shape.
fn corners_of_a_box<V: Dimension>(half: Vec3) -> ConvexHull<V> {
    let signs = || [-1.0, 1.0].into_iter();
    let corners = signs().flat_map(|x| signs().flat_map(move |y| signs().map(move |z| [x, y, z])));
    ConvexHull::new(corners.map(|it| V::of(half * Vec3::from_array(it)))).expect("finite points")
}

/// Returns a rotation by any angle, by a right angle, or by a right angle with a rounding error.
fn turn(random: &mut StdRng) -> Quat {
    let mut angle = || random.random_range(0..4) as f32 * core::f32::consts::FRAC_PI_2;
    let right = Quat::from_euler(EulerRot::XYZ, angle(), angle(), angle());
    match random.random_range(0..3) {
        0 => right,
        1 => right * Quat::from_scaled_axis(Vec3::splat(random.random_range(-1e-6..1e-6))),
        _ => Quat::from_scaled_axis(Vec3::from_array(random.random()) * 6.0),
    }
}

fn compare<V: Dimension>() {
    let random = &mut StdRng::seed_from_u64(7);
    let (mut hits, mut misses) = (0, 0);
    for number in 0..CASES {
        let (a, b) = (solid::<V>(random), solid::<V>(random));
        let away = match random.random_range(0..8) {
            0 => Vec3::ZERO,
            1 => Vec3::X * random.random_range(0.0..2.0),
            _ => Vec3::from_array(random.random()) * random.random_range(0.0..2.0),
        };
        let poses = [Vec3::ZERO, away].map(|place| V::isometry(turn(random), place));
        let shapes = [&*a, &*b];
        let [closed, general] = [false, true].map(|way| answer(shapes, poses, way));
        let context = || format!("case {number}: {closed:?} {general:?} {poses:?}");
        let same = |a: f64, b: f64, what| {
            assert!((a - b).abs() <= DIFFERENCE * 4.0, "{what}, {}", context());
        };
        assert_eq!(closed.hit, closed.contact.is_some(), "{}", context());
        assert_eq!(closed.hit, closed.distance.distance == 0.0, "{}", context());
        let gap = |answer: &Answer<V>| match answer.contact {
            Some(contact) => -f64::from(contact.depth),
            None => answer.distance.distance.into(),
        };
        // If the gap is tiny, one method may count the shapes as touching, and the other may not.
        same(gap(&closed), gap(&general), "depth or distance");
        if let Some(contact) = closed.contact {
            hits += 1;
            same(contact.normal.deep().length(), 1.0, "length of the normal");
            let way = contact.point_a.deep() - contact.point_b.deep();
            let missed = way - contact.normal.deep() * f64::from(contact.depth);
            same(missed.length(), 0.0, "points opposite to each other");
            // The contact's own translation separates the shapes.
            let out = V::of((contact.normal.deep() * f64::from(contact.depth)).as_vec3());
            let moved = [poses[0], V::shifted(poses[1], out)];
            let after = answer(shapes, moved, true);
            same(gap(&after).min(0.0), 0.0, "depth after the way out");
        } else {
            misses += 1;
            let apart = &closed.distance;
            let way = apart.point_a.deep() - apart.point_b.deep();
            same(
                way.length(),
                apart.distance.into(),
                "distance of the points",
            );
        }
        let mirror = answer([shapes[1], shapes[0]], [poses[1], poses[0]], false);
        let depth = |answer: &Answer<V>| answer.contact.map(|it| it.depth.to_bits());
        assert_eq!(
            depth(&mirror),
            depth(&closed),
            "mirror image, {}",
            context()
        );
    }
    assert!(
        hits > CASES / 4 && misses > CASES / 10,
        "{hits} and {misses}"
    );
}

#[test]
fn closed_forms_agree_with_the_iterative_solver_in_2d() {
    compare::<Vec2>();
}

#[test]
fn closed_forms_agree_with_the_iterative_solver_in_3d() {
    compare::<Vec3>();
}
