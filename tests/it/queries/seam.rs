//! The transition from GJK to EPA. When the cores of rounded shapes start to overlap, EPA takes
//! over from GJK, and neither the depth nor the normal may jump.
//!
//! Each scene moves its second shape along one direction through core contact. On both sides of
//! this contact, the closed form of the depth is the sum of the radii minus the gap of the cores.

use crate::oracle::{
    cases::{Dimension, Shape},
    relation,
};
use bevy::math::{DVec3, Quat, Vec2, Vec3};
use headbutt::query;

/// The tolerance of the depth as a fraction of the pair's size: one rounding to f32, and the
/// solver's 1e-9.
const DEPTH: f64 = 2e-7;

/// The tolerance of the normal: rounding to f32, and the precision of a direction between cores
/// that are barely separated.
const NORMAL: f64 = 2e-6;

/// The motion beyond core contact.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    /// The difference of the cores has a volume. The second shape enters, and leaves in the
    /// direction from which it came.
    Inside,
    /// The difference is flat. The second shape passes through the first shape, and leaves on the
    /// other side. In contact, both directions are equally short.
    Through,
    /// The difference is flat, and the second shape comes from a side for which other directions
    /// are as short or shorter. The normal is not continuous at this contact, so only the depth is
    /// tested.
    Anywhere,
}

/// Two shapes that are in core contact in these poses, and the direction from which the second
/// shape comes.
struct Scene<V: Dimension> {
    name: &'static str,
    a: Shape<V>,
    b: Shape<V>,
    turn_b: Quat,
    at_b: Vec3,
    normal: Vec3,
    beyond: Beyond,
}

/// Returns the gaps of the cores.
fn gaps() -> impl Iterator<Item = f32> {
    let sizes = (0..=50).map(|step| 10_f32.powf(-7.0 + 0.1 * step as f32));
    sizes.flat_map(|size| [size, -size]).chain([0.0])
}

/// Returns rotations of the whole scene. The first rotation is the identity.
fn turns() -> [Quat; 4] {
    [
        Quat::IDENTITY,
        Quat::from_rotation_z(0.7),
        Quat::from_xyzw(0.1, -0.7, 0.4, 0.3).normalize(),
        Quat::from_xyzw(-0.5, 0.5, 0.5, 0.5),
    ]
}

fn sweep<V: Dimension>(scene: &Scene<V>) {
    let mut worst = [0.0_f64; 2];
    for (number, turn) in turns().into_iter().enumerate() {
        for gap in gaps() {
            let place = scene.at_b + scene.normal * gap;
            let pose_a = V::isometry(turn, Vec3::ZERO);
            let pose_b = V::isometry(turn * scene.turn_b, V::turned(turn, place));
            let core_a = scene.a.body(V::map(pose_a), DVec3::ZERO).core();
            let core_b = scene.b.body(V::map(pose_b), DVec3::ZERO).core();
            let cores = relation(&core_a, &core_b);
            let reach = f64::from(scene.a.radius) + f64::from(scene.b.radius);
            let size = core_a.size() + core_b.size() + reach;

            let contact = query::contact(&scene.a.support(), pose_a, &scene.b.support(), pose_b);
            let contact =
                contact.unwrap_or_else(|| panic!("{}: no contact at {gap:e}", scene.name));
            let off = (f64::from(contact.depth) - (reach - cores.gap)).abs() / size;
            worst[0] = worst[0].max(off);
            assert!(
                off <= DEPTH,
                "{}: the depth is off by {off:e} at a gap of {gap:e} ({:e}), turn {number}: {contact:?}",
                scene.name,
                cores.gap,
            );

            let expected = match scene.beyond {
                Beyond::Inside => Some(1.0),
                Beyond::Through if gap != 0.0 => Some(gap.signum().into()),
                Beyond::Through | Beyond::Anywhere => None,
            };
            let Some(side) = expected else { continue };
            // In a rotated scene, the pose is rounded, and parallel features are only nearly
            // parallel, so the oracle gives the answer.
            let expected = if number == 0 {
                scene.normal.as_dvec3() * side
            } else {
                cores.normal.expect("cores that have a normal")
            };
            let off = (contact.normal.deep() - expected).length();
            worst[1] = worst[1].max(off);
            assert!(
                off <= NORMAL,
                "{}: the normal is off by {off:e} at a gap of {gap:e}, turn {number}: {contact:?}, expected {expected}",
                scene.name,
            );
        }
    }
    println!(
        "{}: depth {:e}, normal {:e}",
        scene.name, worst[0], worst[1]
    );
}

fn ball<V: Dimension>(radius: f32) -> Shape<V> {
    Shape::ball(radius)
}

fn capsule<V: Dimension>(half_length: f32, radius: f32) -> Shape<V> {
    Shape::capsule(half_length, radius)
}

/// Returns an upright box. The box's upper side is centered at the origin when the box is at (0,
/// -half_size.y, 0).
fn block<V: Dimension>() -> Shape<V> {
    Shape::cuboid(Vec3::new(1.0, 0.5, 0.75))
}

/// Returns a wedge whose upper side lies at y = 0, through the origin.
fn wedge<V: Dimension>() -> Shape<V> {
    let corners = [
        Vec3::new(-1.0, 0.0, -1.0),
        Vec3::new(1.0, 0.0, -1.0),
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(-1.0, 0.0, 1.0),
        Vec3::new(0.0, -1.0, 0.25),
    ];
    Shape::hull(corners.map(V::of).to_vec())
}

/// Returns the scenes that exist in both dimensions.
fn scenes<V: Dimension>() -> Vec<Scene<V>> {
    let lying = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let from_above = |name, a, b, turn_b, at_b| Scene {
        name,
        a,
        b,
        turn_b,
        at_b,
        normal: Vec3::Y,
        beyond: Beyond::Inside,
    };
    let upright = Quat::IDENTITY;
    let tilted = Quat::from_rotation_z(0.5);
    // The center of a tilted capsule whose lower end is at a point of the upper side.
    let foot = tilted * Vec3::Y;
    vec![
        from_above(
            "a ball on a block",
            block(),
            ball(0.5),
            upright,
            Vec3::new(0.3, 0.5, 0.1),
        ),
        from_above(
            "a ball on the middle of a block",
            block(),
            ball(0.5),
            upright,
            Vec3::new(0.0, 0.5, 0.0),
        ),
        from_above(
            "a ball on a wedge",
            wedge(),
            ball(0.25),
            upright,
            Vec3::new(0.3, 0.0, 0.2),
        ),
        from_above(
            "a capsule standing on a block",
            block(),
            capsule(1.0, 0.25),
            upright,
            Vec3::new(0.25, 1.5, 0.0),
        ),
        from_above(
            "a capsule standing on a wedge",
            wedge(),
            capsule(1.0, 0.25),
            upright,
            Vec3::new(0.25, 1.0, 0.0),
        ),
        from_above(
            "a capsule lying on a block",
            block(),
            capsule(0.5, 0.25),
            lying,
            Vec3::new(0.25, 0.5, 0.0),
        ),
        from_above(
            "a capsule lying on a wedge",
            wedge(),
            capsule(0.5, 0.25),
            lying,
            Vec3::new(0.25, 0.0, 0.1),
        ),
        from_above(
            "a capsule leaning on a wedge",
            wedge(),
            capsule(1.0, 0.25),
            tilted,
            foot,
        ),
        Scene {
            name: "a ball on a ball",
            a: ball(1.0),
            b: ball(0.5),
            turn_b: upright,
            at_b: Vec3::ZERO,
            normal: Vec3::X,
            beyond: Beyond::Through,
        },
        Scene {
            name: "a ball on the side of a capsule",
            a: capsule(1.0, 0.25),
            b: ball(0.5),
            turn_b: upright,
            at_b: Vec3::Y * 0.5,
            normal: Vec3::X,
            beyond: Beyond::Through,
        },
        Scene {
            name: "parallel capsules",
            a: capsule(1.0, 0.25),
            b: capsule(0.5, 0.5),
            turn_b: upright,
            at_b: Vec3::Y * 0.75,
            normal: Vec3::X,
            beyond: Beyond::Through,
        },
        Scene {
            name: "capsules end to end",
            a: capsule(1.0, 0.25),
            b: capsule(0.5, 0.5),
            turn_b: upright,
            at_b: Vec3::Y * 1.5,
            normal: Vec3::Y,
            beyond: Beyond::Anywhere,
        },
        Scene {
            name: "a ball on the end of a capsule",
            a: capsule(1.0, 0.25),
            b: ball(0.5),
            turn_b: upright,
            at_b: Vec3::Y,
            normal: Vec3::Y,
            beyond: Beyond::Anywhere,
        },
        Scene {
            name: "a ball on a corner",
            a: block(),
            b: ball(0.5),
            turn_b: upright,
            at_b: Vec3::new(1.0, 0.5, 0.75),
            normal: Vec3::Y,
            beyond: Beyond::Anywhere,
        },
        Scene {
            name: "a ball on a point",
            a: Shape::slice(vec![V::of(Vec3::new(0.5, 0.25, 0.0))]),
            b: ball(0.5),
            turn_b: upright,
            at_b: Vec3::new(0.5, 0.25, 0.0),
            normal: Vec3::X,
            beyond: Beyond::Through,
        },
    ]
}

/// Returns the scenes that exist only in 3D, where differences can be flat without being segments.
fn scenes_in_space() -> Vec<Scene<Vec3>> {
    let lying = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let through = |name, a, b, turn_b, at_b| Scene {
        name,
        a,
        b,
        turn_b,
        at_b,
        normal: Vec3::Z,
        beyond: Beyond::Through,
    };
    let corners = [Vec3::ZERO, Vec3::X * 2.0, Vec3::Y * 2.0];
    let triangle = || Shape::triangle(corners);
    vec![
        through(
            "crossing capsules",
            capsule(1.0, 0.25),
            capsule(1.0, 0.5),
            lying,
            Vec3::new(0.25, 0.5, 0.0),
        ),
        through(
            "capsules crossing in their middles",
            capsule(1.0, 0.25),
            capsule(1.0, 0.25),
            lying,
            Vec3::ZERO,
        ),
        through(
            "capsules crossing askew",
            capsule(1.0, 0.25),
            capsule(1.0, 0.5),
            Quat::from_rotation_z(0.3),
            Vec3::ZERO,
        ),
        through(
            "a ball on a triangle",
            triangle(),
            ball(0.5),
            Quat::IDENTITY,
            Vec3::new(0.5, 0.5, 0.0),
        ),
        through(
            "a capsule on a triangle",
            triangle(),
            capsule(0.25, 0.5),
            Quat::IDENTITY,
            Vec3::new(0.5, 0.75, 0.0),
        ),
        through(
            "a capsule across a triangle",
            triangle(),
            capsule(4.0, 0.5),
            lying,
            Vec3::new(0.5, 0.75, 0.0),
        ),
    ]
}

#[test]
fn depth_and_normal_are_continuous_across_core_contact_in_2d() {
    scenes::<Vec2>().iter().for_each(sweep);
}

#[test]
fn depth_and_normal_are_continuous_across_core_contact_in_3d() {
    scenes::<Vec3>().iter().for_each(sweep);
    scenes_in_space().iter().for_each(sweep);
}
