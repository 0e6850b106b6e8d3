//! The face normal of a cast at a corner where several parts of a collider meet. For long runs:
//!
//! ```text
//! HEADBUTT_CASTS=1000000 cargo test --release --test it queries::tied_faces
//! ```

use core::f32::consts::PI;

use crate::support::cases::cases;
use bevy::prelude::*;
use headbutt::{
    prelude::*,
    query::{self, CastHit, CastOptions},
};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

/// A convex tip at the origin.
struct Tip {
    vertices: Vec<Vec3>,
    /// The indices of the vertices of each facet. A 2D facet has two vertices.
    facets: Vec<Vec<u32>>,
    /// The outward normals of the faces that meet at the tip.
    normals: Vec<Vec3>,
}

impl Tip {
    /// Returns two segments.
    fn of_2d(random: &mut StdRng) -> Self {
        let half_angle = random.random_range(0.2..1.4_f32);
        let axis = random.random_range(0.0..2.0 * PI);
        let sides = [half_angle, -half_angle];
        let arms = sides.map(|side| Vec2::from_angle(axis + side) * random.random_range(1.0..3.0));
        let outward = |arm: Vec2, other: Vec2| {
            let normal = arm.perp().normalize();
            (normal * -normal.dot(other).signum()).extend(0.0)
        };
        Self {
            vertices: vec![Vec3::ZERO, arms[0].extend(0.0), arms[1].extend(0.0)],
            facets: vec![vec![0, 1], vec![2, 0]],
            normals: vec![outward(arms[0], arms[1]), outward(arms[1], arms[0])],
        }
    }

    /// Returns a pyramid, or a ridge through the origin whose two sides consist of two triangles
    /// each.
    fn of_3d(random: &mut StdRng) -> Self {
        let axes: [f32; 3] = [(); 3].map(|()| random.random_range(-PI..PI));
        let rotation = Quat::from_euler(EulerRot::XYZ, axes[0], axes[1], axes[2]);
        let height = random.random_range(0.3..2.0);
        let sides = random.random_range(2..7_u32);
        let (mut vertices, facets) = if sides == 2 {
            let ends = [Vec3::Z, Vec3::NEG_Z].map(|end| end * random.random_range(1.0..3.0));
            let feet = [1.0, -1.0].map(|x| Vec3::new(x, -height, random.random_range(-1.0..1.0)));
            let vertices = vec![Vec3::ZERO, ends[0], ends[1], feet[0], feet[1]];
            (vertices, vec![[0, 1, 3], [0, 2, 3], [0, 1, 4], [0, 2, 4]])
        } else {
            let angle = |index: u32| {
                let jitter = random.random_range(-0.2..0.2);
                (index as f32 + jitter) * 2.0 * PI / sides as f32
            };
            let ring = (0..sides).map(angle).map(|angle| {
                let foot = Vec2::from_angle(angle);
                Vec3::new(foot.x, -height, foot.y)
            });
            let vertices = [Vec3::ZERO].into_iter().chain(ring).collect();
            let facet = |index| [0, 1 + index, 1 + (index + 1) % sides];
            (vertices, (0..sides).map(facet).collect())
        };
        for vertex in &mut vertices {
            *vertex = rotation * *vertex;
        }
        let inside = rotation * Vec3::NEG_Y;
        let normals = facets.iter().map(|facet| {
            let [a, b] = [facet[1], facet[2]].map(|index| vertices[index as usize]);
            let normal = a.cross(b).normalize();
            normal * -normal.dot(inside).signum()
        });
        Self {
            normals: normals.collect(),
            facets: facets.iter().map(|facet| facet.to_vec()).collect(),
            vertices,
        }
    }

    fn collider(&self) -> Collider {
        let facets = self.facets.iter();
        if self.facets[0].len() == 2 {
            let vertices = self.vertices.iter().map(|vertex| vertex.xy());
            let facets = facets.map(|facet| [facet[0], facet[1]]);
            Collider::polyline_with_indices(vertices, facets)
        } else {
            let facets = facets.map(|facet| [facet[0], facet[1], facet[2]]);
            Collider::trimesh(self.vertices.clone(), facets.collect::<Vec<_>>())
        }
    }
}

fn cast(ball: &Collider, start: Vec3, motion: Vec3, ground: &Collider) -> Option<CastHit<Vec3>> {
    let options = CastOptions::default();
    query::cast_shape(ball, start, motion, ground, Vec3::ZERO, Vec3::ZERO, options)
}

/// The touch of a ball of radius 0.5 and a tip.
struct Touch {
    normal: Vec3,
    motion: Vec3,
    /// The outward normal of the face that opposes the motion most.
    face: Vec3,
    /// `true` if the back of another face opposes the motion even more.
    has_back: bool,
}

impl Touch {
    /// Returns a random touch. Returns `None` if two faces oppose the motion nearly as much, or if
    /// the ball would graze the tip.
    fn new(tip: &Tip, is_flat: bool, random: &mut StdRng) -> Option<Self> {
        let mut weighted = || random.random_range(0.1..1.0_f32);
        let normal: Vec3 = tip.normals.iter().map(|side| *side * weighted()).sum();
        let normal = normal.normalize();
        let mut motion = Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if is_flat {
            motion.z = 0.0;
        }
        motion = motion.normalize_or(Vec3::X);
        if motion.dot(normal) > -0.1 {
            motion = -motion;
        }
        let opposition = |side: &Vec3| -side.dot(motion);
        let mut faces = tip.normals.clone();
        faces.sort_by(|a, b| opposition(b).total_cmp(&opposition(a)));
        let face = faces[0];
        // The two triangles of a side have the same normal.
        let is_other = |other: &&Vec3| other.distance(face) > 1e-5;
        let second = faces.iter().find(is_other).map(opposition);
        let is_clear = second.is_none_or(|second| opposition(&face) - second > 1e-3);
        let has_back = tip
            .normals
            .iter()
            .any(|side| -opposition(side) > opposition(&face));
        (is_clear && motion.dot(normal) <= -0.1).then_some(Self {
            normal,
            motion,
            face,
            has_back,
        })
    }
}

/// A ball touches the tip with any normal between the normals of the faces. The face normal belongs
/// to the outer side that opposes the motion most, whatever the order of the facets.
#[test]
fn at_a_tip_of_facets_the_face_opposes_the_motion() {
    let rounds = cases("HEADBUTT_CASTS", 4000);
    let count = rounds.len();
    let mut random = StdRng::seed_from_u64(rounds.start as u64);
    let (mut judged, mut backs) = (0, 0);
    for round in rounds {
        let is_flat = round % 2 == 0;
        let (mut tip, ball) = if is_flat {
            (Tip::of_2d(&mut random), Collider::circle(0.5))
        } else {
            (Tip::of_3d(&mut random), Collider::sphere(0.5))
        };
        let Some(touch) = Touch::new(&tip, is_flat, &mut random) else {
            continue;
        };
        judged += 1;
        backs += usize::from(touch.has_back);
        let start = touch.normal * 0.5 - touch.motion;
        let casts = [(); 4].map(|()| {
            tip.facets.shuffle(&mut random);
            cast(&ball, start, touch.motion * 2.0, &tip.collider())
        });
        let faces = casts.map(|cast| cast.expect("a hit").face_normal);
        let contact = casts[0].expect("a hit").contact;
        assert!(
            (contact.normal + touch.normal).length() < 5e-4,
            "round {round}"
        );
        assert!(
            (faces[0] + touch.face).length() < 1e-4,
            "round {round}: {}, not {}, by {} to {:?}",
            faces[0],
            -touch.face,
            touch.motion,
            tip.normals
        );
        for face in faces {
            assert!(
                (faces[0] - face).length() < 1e-6,
                "round {round}: {casts:?}"
            );
        }
    }
    assert!(judged * 2 > count, "{judged} of {count}");
    assert!(backs * 20 > count, "{backs} of {count}");
}

/// The side between two boxes that form a kerb is no face of the kerb.
#[test]
fn the_side_between_two_boxes_is_hidden() {
    let ball = Collider::sphere(0.5);
    // The edge along x is at y = 1 and z = 1, and the boxes meet at x = 0.
    let halves = [-1.0, 1.0].map(|x| (Vec3::X * x, Collider::cuboid(2.0, 2.0, 2.0)));
    let normal = Vec3::new(0.0, 0.6, 0.8);
    let at_touch = Vec3::new(0.0, 1.0, 1.0) + normal * 0.5;
    for (motion, face) in [
        (Vec3::new(4.0, -1.0, 0.0), Vec3::Y),
        (Vec3::new(-4.0, -1.0, 0.0), Vec3::Y),
        (Vec3::new(4.0, -0.5, -1.0), Vec3::Z),
        (Vec3::new(-4.0, -0.5, -1.0), Vec3::Z),
    ] {
        for order in [[0, 1], [1, 0]] {
            let kerb = Collider::compound(order.map(|index| halves[index].clone()));
            let found = cast(&ball, at_touch - motion, motion * 2.0, &kerb);
            let actual = found.expect("a hit").face_normal;
            assert!((actual + face).length() < 1e-5, "{motion}: {actual}");
        }
    }
}

/// A box whose bottom overhangs the edge of a step stands on the top of the step.
#[test]
fn a_box_that_overhangs_an_edge_of_segments_stands_on_the_top() {
    let body = Collider::rectangle(1.0, 1.0);
    let points = [Vec2::new(0.0, -1.0), Vec2::ZERO, Vec2::new(4.0, 0.0)];
    for segments in [[[0, 1], [1, 2]], [[1, 2], [0, 1]]] {
        let step = Collider::polyline_with_indices(points, segments);
        for x in [-0.4, 0.0, 0.4] {
            for motion in [Vec3::new(1.0, -0.25, 0.0), Vec3::new(-1.0, -0.25, 0.0)] {
                let start = Vec3::new(x, 0.5, 0.0) - motion * 0.5;
                let found = cast(&body, start, motion, &step);
                let face = found.expect("a hit").face_normal;
                assert!((face + Vec3::Y).length() < 1e-6, "{x}, {motion}: {found:?}");
            }
        }
    }
}

/// Other ridges of this peak rise in front of the plane of each facet. The backs of the facets
/// still are no faces of the peak.
#[test]
fn at_a_peak_of_ridges_the_face_is_on_the_outer_side() {
    let ball = Collider::sphere(0.5);
    let heights = [-0.2, -0.7, -0.9, -0.7, -0.95, -0.2, -0.4];
    let corner = |index: usize| {
        let foot = Vec2::from_angle(index as f32 * 2.0 * PI / 7.0);
        Vec3::new(foot.x, heights[index], foot.y)
    };
    let vertices: Vec<_> = (0..7).map(corner).chain([Vec3::ZERO]).collect();
    let facets: Vec<_> = (0..7).map(|index| [7, (index + 1) % 7, index]).collect();
    let outward = |facet: &[u32; 3]| {
        let [_, a, b] = facet.map(|index| vertices[index as usize]);
        a.cross(b).normalize()
    };
    let normals: Vec<_> = facets.iter().map(outward).collect();
    assert!(normals.iter().all(|normal| normal.y > 0.6));
    let peak = Collider::trimesh(vertices.clone(), facets);
    for degrees in 0..360 {
        let lateral = Vec2::from_angle((degrees as f32).to_radians());
        let motion = Vec3::new(lateral.x, -0.2, lateral.y);
        let found = cast(&ball, Vec3::Y * 0.5 - motion, motion * 2.0, &peak);
        let face = found.expect("a hit").face_normal;
        let is_outer = |normal: &Vec3| (face + normal).length() < 1e-4;
        assert!(normals.iter().any(is_outer), "{face} by {motion}");
    }
}

/// A motion along the contact normal leads to no edge of the facet. The face is still found,
/// however the positions are rounded.
#[test]
fn a_ball_that_falls_straight_onto_a_corner_hits_the_face() {
    let ball = Collider::sphere(0.5);
    let arms = [Vec3::new(0.0, -0.5, 1.0), Vec3::new(1.0, -0.1, 1.0)];
    let normal = arms[0].cross(arms[1]).normalize();
    for index in 0..1000 {
        let tip = Vec3::new(index as f32 * 0.37 - 200.0, (index % 7) as f32 * 0.3, -2.0);
        let facet = Collider::triangle(tip, tip + arms[0], tip + arms[1]);
        let found = cast(&ball, tip + Vec3::Y * 2.5, Vec3::NEG_Y * 4.0, &facet);
        let face = found.expect("a hit").face_normal;
        assert!((face + normal).length() < 1e-4, "{face} at {tip}");
    }
}
