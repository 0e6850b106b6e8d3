//! Compares the bounds of `FacetTimes` with separating axes over time in `f64`.
//!
//! A box and a triangle that do not rotate overlap at a time if and only if their projections
//! overlap on all 13 axes. These axes are the normals of the box and of the triangle, and the cross
//! products of their edges.

#![expect(clippy::expect_used, reason = "a test needs valid shapes")]

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::FacetTimes;
use crate::{
    collider_query::{cast::cast_parts, moving_colliders::MovingColliders},
    math::{DVec3, Vec3},
    placed::PlacedCollider,
    query::{CastOptions, Motion64},
    shape::{AnyColliderShape, WorldPose},
};
use bevy::prelude::{Quat, Transform};

const CASES: usize = 20_000;

fn placed(collider: &crate::Collider, pose: &Transform) -> Option<PlacedCollider<Vec3>> {
    let AnyColliderShape::D3(shape) = collider.shape() else {
        return None;
    };
    let pose = WorldPose::<DVec3>::from_transform(pose)?;
    Some(PlacedCollider::new(shape, pose).ok()?.0)
}

/// Returns the time from 0 to 1 at which a triangle that moves by `velocity` begins to overlap the
/// box from `-half` to `half`. Returns infinity if the two never overlap.
fn first_overlap(half: DVec3, triangle: [DVec3; 3], velocity: DVec3) -> f64 {
    let [a, b, c] = triangle;
    let edges = [b - a, c - b, a - c];
    let sides = [DVec3::X, DVec3::Y, DVec3::Z];
    let crossed = sides
        .iter()
        .flat_map(|side| edges.map(|edge| side.cross(edge)));
    let axes = sides
        .into_iter()
        .chain([edges[0].cross(edges[1])])
        .chain(crossed);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in axes.filter(|axis| axis.length() > 1e-9) {
        let radius = half.dot(axis.abs());
        let heights = triangle.map(|vertex| vertex.dot(axis));
        let least = heights.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = heights.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let rate = velocity.dot(axis);
        let mut times = [(-radius - greatest) / rate, (radius - least) / rate];
        times.sort_by(f64::total_cmp);
        if rate == 0.0 {
            if least > radius || greatest < -radius {
                return f64::INFINITY;
            }
        } else {
            (enter, leave) = (enter.max(times[0]), leave.min(times[1]));
        }
    }
    if enter <= leave { enter } else { f64::INFINITY }
}

/// Returns the distance of a point from the plane of a triangle, or the greatest distance of the
/// point beyond an edge, whichever is greater.
fn distance([a, b, c]: [DVec3; 3], point: DVec3) -> f64 {
    let normal = (b - a).cross(c - a).normalize();
    let beyond = [[a, b], [b, c], [c, a]].map(|[from, to]| {
        let outward = (to - from).cross(normal).normalize();
        outward.dot(point - from)
    });
    let beyond = beyond.into_iter().fold(f64::NEG_INFINITY, f64::max);
    normal.dot(point - a).abs().max(beyond)
}

struct Random(StdRng);

impl Random {
    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::from_array([(); 3].map(|()| self.0.random_range(-size..size)))
    }

    fn pose(&mut self, size: f32) -> Transform {
        let [x, y, z] = self.vector(1.0).to_array();
        let rotation = Quat::from_xyzw(x, y, z, self.0.random_range(0.1..1.0)).normalize();
        Transform::from_translation(self.vector(size)).with_rotation(rotation)
    }
}

#[test]
fn no_facet_is_touched_before_its_bound_and_landings_are_exact() {
    let mut random = Random(StdRng::seed_from_u64(29));
    let (mut hits, mut misses, mut passed, mut late, mut landings) = (0, 0, 0, 0, 0);
    for _ in 0..CASES {
        let half = Vec3::from_array([(); 3].map(|()| random.0.random_range(0.05..0.8)));
        let size = 2.0 * half;
        let body = crate::Collider::cuboid(size.x, size.y, size.z);
        let scale = if random.0.random() {
            Vec3::ONE
        } else {
            Vec3::new(1.5, 0.5, -1.2)
        };
        let triangles = [(); 3].map(|()| {
            let center = random.vector(1.5);
            [(); 3].map(|()| center + random.vector(1.0))
        });
        let indices = [0, 3, 6].map(|first: u32| [first, first + 1, first + 2]);
        let mesh = crate::Collider::trimesh(triangles.into_iter().flatten(), indices);
        let (body_pose, mesh_pose) = (random.pose(2.0), random.pose(1.0).with_scale(scale));
        let body = placed(&body, &body_pose).expect("a box is valid");
        let mesh = placed(&mesh, &mesh_pose).expect("a mesh is valid");
        let translation = random.vector(5.0).as_dvec3();
        let moving = [
            ((&body).into(), Motion64::linear(translation)),
            ((&mesh).into(), Motion64::still()),
        ];
        let inverse = body.world_pose.pose().rotation.transpose();
        let offset = mesh.world_pose.translation - body.world_pose.translation;
        let half = body
            .scaled_shape()
            .and_then(|shape| crate::shape::Support::core(&shape).half_extents());
        let half = half.expect("this is a box");
        let mut times = FacetTimes::new(&MovingColliders::new(moving, false))
            .expect("this is a body and a surface");
        let mut first = f64::INFINITY;
        for (index, triangle) in triangles.iter().enumerate() {
            let local = triangle
                .map(|vertex| inverse * (mesh.world_pose.linear() * vertex.as_dvec3() + offset));
            let exact = first_overlap(half, local, inverse * -translation);
            let facet = times.facet(index as u32).expect("this is a facet");
            let is_passed = times.passes(&facet);
            let bound = times.bound(index as u32, 1.0);
            let bound = if is_passed { f64::INFINITY } else { bound };
            assert!(bound <= exact + 1e-12, "{bound} {exact}");
            first = first.min(exact);
            if let Some((facet, hit)) = times.landing(index as u32, &facet) {
                assert_eq!(facet as usize, index, "no triangles are in one plane");
                let gap = hit.touching - exact;
                assert!(hit.safe <= exact && gap.abs() < 1e-12, "{gap} {hit:?}");
                let on_body = inverse * hit.contact.offset_a;
                assert!((on_body.abs() - half).max_element() < 1e-12, "{hit:?}");
                let on_facet = on_body + inverse * translation * hit.touching;
                assert!(distance(local, on_facet) < 1e-12, "{hit:?}");
                landings += 1;
            }
            if exact.is_finite() {
                hits += 1;
                late += usize::from(bound > exact - 0.05);
            } else {
                misses += 1;
                passed += usize::from(bound.is_infinite());
            }
        }
        let cast = cast_parts(moving[0], moving[1], CastOptions::default());
        let time = cast.map_or(f64::INFINITY, |(hit, _)| hit.touching);
        // If the shapes overlap by less than the tolerance, the cast may report no hit. Such cases
        // are skipped.
        if first.is_finite() != time.is_finite() {
            continue;
        }
        assert!(
            first == time || (first - time).abs() < 1e-5,
            "{first} {time}"
        );
    }
    assert!(
        passed * 10 > misses * 9,
        "{passed} of {misses} misses are bounded"
    );
    assert!(
        landings * 20 > hits,
        "{landings} of {hits} hits are landings"
    );
    assert!(
        late * 10 > hits * 7,
        "{late} of {hits} hits have a close bound"
    );
}

/// The mesh is a floor beside hills. Only the facets of the floor form a cluster of several facets.
#[test]
fn skipping_a_cluster_skips_most_of_its_facets_and_no_other_facet() {
    const SIDE: u32 = 32;
    let mut random = Random(StdRng::seed_from_u64(30));
    let row = SIDE + 1;
    let vertices = (0..row * row).map(|index| {
        let (x, z) = (index % row, index / row);
        let bump = random.vector(0.2).y;
        let height = if x > SIDE / 2 { bump } else { 0.0 };
        Vec3::new(x as f32, height, z as f32)
    });
    let cells = (0..SIDE * SIDE).map(|cell| cell / SIDE * row + cell % SIDE);
    let facets = cells.flat_map(|corner| {
        let below = corner + row;
        [[corner, below, corner + 1], [corner + 1, below, below + 1]]
    });
    let mesh = crate::Collider::trimesh(vertices.collect::<Vec<_>>(), facets.collect::<Vec<_>>());
    let mesh = placed(&mesh, &Transform::IDENTITY).expect("a mesh is valid");
    let region = mesh.region().expect("a mesh is valid");
    let region = region.bounds().expect("a mesh has a box");
    let floor = mesh.cluster(0).expect("this is a mesh");
    let visited = |is_skipped: &dyn Fn(u32) -> bool| {
        let mut visited = Vec::new();
        let down = DVec3::NEG_Y;
        mesh.parts_along(region, down, is_skipped, |facet| {
            visited.push(facet);
            1.0
        });
        visited.sort_unstable();
        visited
    };
    let is_on_floor = |facet: &u32| mesh.cluster(*facet) == Some(floor);
    let (all, most) = (visited(&|_| false), visited(&|cluster| cluster == floor));
    assert_eq!(all, (0..2 * SIDE * SIDE).collect::<Vec<_>>());
    let hills: Vec<u32> = all.iter().copied().filter(|it| !is_on_floor(it)).collect();
    let hills_of_most = most.iter().copied().filter(|it| !is_on_floor(it));
    assert_eq!(hills_of_most.collect::<Vec<_>>(), hills);
    let count = |facets: &[u32]| facets.iter().filter(|it| is_on_floor(it)).count();
    let (on_floor, left) = (count(&all), count(&most));
    assert!(
        on_floor > 900 && left * 10 < on_floor,
        "{left} of {on_floor}"
    );
}

/// All corners of the box's lower face are equally low, and some corners are beside the floor.
#[test]
fn a_box_that_overhangs_a_floor_lands_on_the_floor() {
    let mut random = Random(StdRng::seed_from_u64(31));
    let side = 4_u32;
    let row = side + 1;
    let vertices = (0..row * row).map(|index| {
        let place = [index % row, index / row].map(|line| 0.5 * line as f32 - 1.0);
        Vec3::new(place[0], 0.0, place[1])
    });
    let cells = (0..side * side).map(|cell| cell / side * row + cell % side);
    let facets = cells.flat_map(|corner| {
        let below = corner + row;
        [[corner, below, corner + 1], [corner + 1, below, below + 1]]
    });
    let floor = crate::Collider::trimesh(vertices.collect::<Vec<_>>(), facets.collect::<Vec<_>>());
    let body = crate::Collider::cuboid(1.0, 1.0, 1.0);
    let mut overhangs = 0;
    for _ in 0..CASES / 10 {
        let [x, _, z] = random.vector(1.4).to_array();
        let turn = Quat::from_rotation_y(random.0.random_range(0.0..6.0));
        let pose = Transform::from_xyz(x, 2.0, z).with_rotation(turn);
        let body = placed(&body, &pose).expect("a box is valid");
        let mesh = Transform::from_rotation(Quat::from_rotation_y(0.3));
        let mesh = placed(&floor, &mesh).expect("a mesh is valid");
        let moving = [
            ((&body).into(), Motion64::linear(DVec3::NEG_Y * 3.0)),
            ((&mesh).into(), Motion64::still()),
        ];
        let Some((hit, _)) = cast_parts(moving[0], moving[1], CastOptions::default()) else {
            continue;
        };
        assert!((hit.touching - 0.5).abs() < 1e-7, "{hit:?}");
        let point = hit.contact.offset_b;
        let local = mesh.world_pose.pose().rotation.transpose() * point;
        assert!(local.abs().max_element() < 1.0 + 1e-6, "{local} {hit:?}");
        let inside = body.world_pose.pose().rotation.transpose() * hit.contact.offset_a;
        assert!(inside.abs().max_element() < 0.5 + 1e-6, "{inside} {hit:?}");
        overhangs += usize::from(x.abs().max(z.abs()) > 0.8);
    }
    assert!(overhangs > 100, "{overhangs}");
}
