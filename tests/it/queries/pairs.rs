//! Closed forms of pairs: balls, boxes in line, edges and skew capsules, and linear casts of hulls
//! and cylinders. All expected results are computed here in f64.

use bevy::{
    math::{
        DMat3, DQuat, DVec2, DVec3, Isometry2d, Isometry3d, Quat, Rot2, Vec2, Vec3,
        primitives::{Capsule3d, Circle, ConicalFrustum, Cuboid, Cylinder, Rectangle, Sphere},
    },
    prelude::Transform,
};
use headbutt::{
    Collider, ConvexHull, Support,
    query::{self, CastHit, CastOptions, CastStatus, Motion},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A few times the rounding of results of size 1 to f32.
const NEAR: f64 = 1e-6;

/// The error of a cast, as a fraction of the size.
const CAST_ERROR: f64 = 3e-9;

fn vector(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
}

fn turn(random: &mut StdRng) -> Quat {
    let angle = random.random_range(-3.0..3.0);
    Quat::from_axis_angle(vector(random).normalize_or(Vec3::X), angle)
}

fn cast(
    a: &impl Support<Vector = Vec3>,
    motion_a: Motion<Vec3>,
    b: &impl Support<Vector = Vec3>,
    motion_b: Motion<Vec3>,
) -> Option<CastHit<Vec3>> {
    query::cast_motion(a, motion_a, b, motion_b, CastOptions::default())
}

#[test]
fn contacts_and_distances_of_balls_follow_from_their_centers() {
    let mut random = StdRng::seed_from_u64(1);
    let mut hits = 0;
    for _ in 0..2000 {
        let radii = [(); 2].map(|()| random.random_range(0.0..1.0_f32));
        let centers = [(); 2].map(|()| vector(&mut random));
        let [a, b] = radii.map(Sphere::new);
        let [pose_a, pose_b] = centers.map(|at| Isometry3d::new(at, turn(&mut random)));
        let offset = (centers[1].as_dvec3()) - centers[0].as_dvec3();
        let [radius_a, radius_b] = radii.map(f64::from);
        let (normal, depth) = (offset.normalize(), radius_a + radius_b - offset.length());
        let point_a = centers[0].as_dvec3() + normal * radius_a;
        let point_b = centers[1].as_dvec3() - normal * radius_b;
        let near = |found: Vec3, expected: DVec3| found.as_dvec3().distance(expected) < NEAR;
        assert_eq!(query::intersects(&a, pose_a, &b, pose_b), depth > 0.0);
        let distance = query::distance(&a, pose_a, &b, pose_b);
        assert!((f64::from(distance.distance) + depth.min(0.0)).abs() < NEAR);
        let manifold = query::manifold(&a, pose_a, &b, pose_b);
        let Some(contact) = query::contact(&a, pose_a, &b, pose_b) else {
            assert!(depth < 0.0 && manifold.is_none());
            assert!(near(distance.point_a, point_a) && near(distance.point_b, point_b));
            continue;
        };
        hits += 1;
        assert!(near(contact.normal, normal) && (f64::from(contact.depth) - depth).abs() < NEAR);
        assert!(near(contact.point_a, point_a) && near(contact.point_b, point_b));
        let manifold = manifold.expect("the balls touch");
        let [point] = manifold.points() else {
            panic!("balls touch in one point");
        };
        assert_eq!(manifold.normal, contact.normal);
        assert_eq!(
            (point.depth, point.point_a, point.point_b),
            (contact.depth, contact.point_a, contact.point_b)
        );
        // The common point is in both balls.
        let common = distance.point_a.as_dvec3();
        for (center, radius) in centers.into_iter().zip([radius_a, radius_b]) {
            assert!(common.distance(center.as_dvec3()) < radius + NEAR);
        }
    }
    assert!(hits > 200, "{hits}");
}

/// Returns the time at which two balls touch. The centers and the velocities are relative.
fn touch_of_balls(center: DVec3, velocity: DVec3, radius_sum: f64) -> Option<f64> {
    // (center + t velocity)² = radius_sum²
    let [a, b] = [velocity.length_squared(), center.dot(velocity)];
    let c = center.length_squared() - radius_sum * radius_sum;
    let root = (b * b - a * c).sqrt();
    let time = (-b - root) / a;
    (0.0..=1.0).contains(&time).then_some(time)
}

#[test]
fn casts_of_balls_solve_a_quadratic_equation() {
    let mut random = StdRng::seed_from_u64(2);
    let (mut hits, mut misses) = (0, 0);
    for number in 0..4000 {
        let flat = Vec3::new(1.0, 1.0, if number % 2 == 0 { 0.0 } else { 1.0 });
        let radii = [(); 2].map(|()| random.random_range(0.1..1.0_f32));
        let centers = [(); 2].map(|()| vector(&mut random) * 4.0 * flat);
        // The second ball moves toward the first ball or past it, sometimes far beyond.
        let speed = 10.0_f32.powf(random.random_range(0.0..4.0)) - 0.5;
        let aim = centers[0] - centers[1] + vector(&mut random) * 2.0 * flat;
        let still = vector(&mut random) * flat;
        let translations = [still, still + aim * speed];
        let center = centers[1].as_dvec3() - centers[0].as_dvec3();
        let velocity = translations[1].as_dvec3() - translations[0].as_dvec3();
        let radius_sum = f64::from(radii[0]) + f64::from(radii[1]);
        if center.length() < radius_sum + 1e-3 {
            continue;
        }
        let motion = |index: usize| {
            let pose = Isometry3d::new(centers[index], turn(&mut StdRng::seed_from_u64(3)));
            // A rotation about the center has no effect.
            Motion::linear(pose, translations[index]).rotated(Vec3::splat(index as f32))
        };
        let found = if number % 2 == 0 {
            let [a, b] = radii.map(Circle::new);
            let motion = |index: usize| {
                Motion::linear(centers[index].truncate(), translations[index].truncate())
            };
            let hit = query::cast_motion(&a, motion(0), &b, motion(1), CastOptions::default());
            hit.map(|hit| {
                (
                    hit.safe,
                    hit.touching,
                    hit.contact.normal.extend(0.0),
                    hit.contact.point_b.extend(0.0),
                )
            })
        } else {
            let [a, b] = radii.map(Sphere::new);
            let hit = cast(&a, motion(0), &b, motion(1));
            hit.map(|hit| {
                assert_eq!(
                    (hit.status, hit.face_normal),
                    (CastStatus::Hit, hit.contact.normal)
                );
                (
                    hit.safe,
                    hit.touching,
                    hit.contact.normal,
                    hit.contact.point_b,
                )
            })
        };
        let expected = touch_of_balls(center, velocity, radius_sum);
        let Some((safe, touching, normal, point)) = found else {
            // A graze may count as a miss.
            let depth = radius_sum
                - (center - velocity * (center.dot(velocity) / velocity.length_squared())).length();
            assert!(expected.is_none() || depth < 1e-6, "{number}: {expected:?}");
            misses += 1;
            continue;
        };
        hits += 1;
        let gap = |time: f64| (center + velocity * time).length() - radius_sum;
        assert!(
            gap(safe) > 0.0
                && gap(touching).abs() < CAST_ERROR * radius_sum + 1e-15 * velocity.length(),
            "{number}"
        );
        let closest = (center + velocity * touching).normalize();
        assert!(normal.as_dvec3().distance(closest) < NEAR, "{number}");
        let surface = centers[1].as_dvec3() + translations[1].as_dvec3() * touching
            - closest * f64::from(radii[1]);
        assert!(
            point.as_dvec3().distance(surface) < 1e-6 * (1.0 + surface.length()),
            "{number}"
        );
    }
    assert!(hits > 300 && misses > 300, "{hits} {misses}");
}

/// The vertices of a shape, the normals of its faces, and its edges, all in world axes. The normals
/// and the edges include more than those of the hull.
struct Brute {
    points: Vec<DVec3>,
}

impl Brute {
    fn new(points: &[Vec3], turn: Quat) -> Self {
        let rotation = DMat3::from_quat(exact(turn));
        let points = points.iter().map(|point| rotation * point.as_dvec3());
        Self {
            points: points.collect(),
        }
    }

    fn highest(&self, normal: DVec3) -> f64 {
        let heights = self.points.iter().map(|point| point.dot(normal));
        heights.fold(f64::NEG_INFINITY, f64::max)
    }

    fn edges(&self) -> impl Iterator<Item = DVec3> + Clone {
        let pairs = self.points.iter().enumerate();
        pairs.flat_map(|(index, start)| {
            self.points
                .iter()
                .skip(index + 1)
                .map(move |end| *end - *start)
        })
    }

    /// The normals of all triples of points, on both sides.
    fn normals(&self) -> Vec<DVec3> {
        let mut normals = Vec::new();
        for (index, a) in self.points.iter().enumerate() {
            for (other, b) in self.points.iter().enumerate().skip(index + 1) {
                let thirds = self.points.iter().skip(other + 1);
                normals.extend(thirds.map(|c| (*b - *a).cross(*c - *a)));
            }
        }
        normals
    }
}

/// Returns the rotation of a quaternion, which f32 has rounded, as the queries use it.
fn exact(turn: Quat) -> DQuat {
    turn.as_dquat().normalize()
}

/// Returns the time at which a polytope that moves by `velocity` touches the resting polytope `a`.
///
/// At the time t, the plane through the support points along n separates the polytopes if
/// n·(center + t velocity) > h(n). So each n gives a bound on the time of the touch, and the normal
/// of the facet in contact gives the time itself.
fn touch_of_polytopes(a: &Brute, b: &Brute, center: DVec3, velocity: DVec3) -> Option<f64> {
    let crossed = a
        .edges()
        .flat_map(|edge| b.edges().map(move |other| edge.cross(other)));
    let both = a.normals().into_iter().chain(b.normals()).chain(crossed);
    let all = both.flat_map(|normal| [normal, -normal]);
    let (mut enter, mut exit) = (0.0_f64, 1.0_f64);
    for normal in all.filter_map(DVec3::try_normalize) {
        let height = a.highest(normal) + b.highest(-normal);
        let (gap, rate) = (normal.dot(center) - height, normal.dot(velocity));
        if rate < 0.0 {
            enter = enter.max(gap / -rate);
        } else if gap > 0.0 {
            return None;
        } else if rate > 0.0 {
            exit = exit.min(-gap / rate);
        }
    }
    (enter <= exit).then_some(enter)
}

#[test]
fn casts_of_hulls_end_at_the_plane_of_a_facet_of_their_difference() {
    let mut random = StdRng::seed_from_u64(4);
    let (mut hits, mut misses) = (0, 0);
    for number in 0..150 {
        let cloud = |random: &mut StdRng| -> Vec<Vec3> {
            let count = random.random_range(4..9);
            (0..count).map(|_| vector(random)).collect()
        };
        let points = [(); 2].map(|()| cloud(&mut random));
        let turns = [(); 2].map(|()| turn(&mut random));
        let from = vector(&mut random).normalize() * random.random_range(4.0..8.0);
        let target = vector(&mut random) * 1.5;
        let way = (target - from) * random.random_range(0.5..2.0);
        let [a, b] = points
            .each_ref()
            .map(|points| ConvexHull::new(points.iter().copied()).expect("the points are finite"));
        let [body_a, body_b] = [0, 1].map(|index| Brute::new(&points[index], turns[index]));
        let (center, velocity) = (from.as_dvec3(), way.as_dvec3());
        let expected = touch_of_polytopes(&body_a, &body_b, center, velocity);
        let [pose_a, pose_b] = [
            Isometry3d::new(Vec3::ZERO, turns[0]),
            Isometry3d::new(from, turns[1]),
        ];
        let found = cast(&a, Motion::still(pose_a), &b, Motion::linear(pose_b, way));
        match (found, expected) {
            (Some(hit), Some(time)) => {
                hits += 1;
                let normal = hit.contact.normal.as_dvec3();
                let closing = -normal.dot(velocity);
                assert!(
                    (hit.touching - time).abs() * closing < 1e-7,
                    "{number}: {hit:?} {time}"
                );
                assert!(
                    hit.safe <= time + 1e-15 && closing > 0.0,
                    "{number}: {hit:?} {time}"
                );
                // The plane with the normal separates the polytopes at the touch.
                let height = body_a.highest(normal) + body_b.highest(-normal);
                let gap = normal.dot(center + velocity * time) - height;
                assert!(gap.abs() < 1e-6, "{number}: {gap}");
            }
            (None, None) => misses += 1,
            (found, expected) => panic!("{number}: {found:?}, not {expected:?}"),
        }
    }
    assert!(hits > 40 && misses > 20, "{hits} {misses}");
}

/// A cylinder and a box both stand upright, so seen from above they are a circle and a rectangle.
#[test]
fn casts_of_upright_cylinders_are_casts_of_circles() {
    let mut random = StdRng::seed_from_u64(5);
    let (mut hits, mut corners) = (0, 0);
    for number in 0..4000 {
        let (radius, half) = (
            random.random_range(0.1..1.0_f32),
            [(); 2].map(|()| random.random_range(0.1..1.0_f32)),
        );
        let (cylinder, cuboid) = (
            Cylinder::new(radius, 2.0),
            Cuboid::new(2.0 * half[0], 1.0, 2.0 * half[1]),
        );
        let start = Vec3::new(
            random.random_range(-4.0..4.0),
            random.random_range(-0.9..0.9),
            random.random_range(-4.0..4.0),
        );
        let way = Vec3::new(
            random.random_range(-8.0..8.0),
            0.0,
            random.random_range(-8.0..8.0),
        );
        let half = half.map(f64::from);
        let outside = |at: DVec2| at - at.clamp(DVec2::from(half.map(|half| -half)), half.into());
        let from = DVec2::new(start.x.into(), start.z.into());
        let velocity = DVec2::new(way.x.into(), way.z.into());
        let gap = |time: f64| outside(from + velocity * time).length() - f64::from(radius);
        if gap(0.0) < 1e-3 {
            continue;
        }
        let found = cast(
            &cylinder,
            Motion::linear(start, way),
            &cuboid,
            Motion::still(Vec3::ZERO),
        );
        // The gap is a convex function of time. Its minimum is found by ternary search.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let [left, right] = [(2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0];
            if gap(left) < gap(right) {
                high = right
            } else {
                low = left
            }
        }
        let Some(hit) = found else {
            assert!(gap(low) > -1e-6, "{number}: {}", gap(low));
            continue;
        };
        hits += 1;
        assert!(gap(low) < 0.0 && hit.safe <= low, "{number}");
        assert!(
            gap(hit.safe) > 0.0 && gap(hit.touching).abs() < 1e-8,
            "{number}: {hit:?} {}",
            gap(hit.touching)
        );
        let offset = outside(from + velocity * hit.touching);
        let normal = DVec3::new(-offset.x, 0.0, -offset.y).normalize();
        assert!(
            hit.contact.normal.as_dvec3().distance(normal) < 1e-4,
            "{number}: {hit:?} {normal}"
        );
        let is_corner = offset.x != 0.0 && offset.y != 0.0;
        corners += usize::from(is_corner);
        // At an edge, the face normal is the normal of one of the two faces there.
        let face = hit.face_normal.as_dvec3();
        let axis = face.abs().max_element();
        assert!(
            axis > 1.0 - 1e-4 && face.dot(normal) > 0.0,
            "{number}: {face}"
        );
    }
    assert!(hits > 300 && corners > 50, "{hits} {corners}");
}

#[test]
fn the_distance_of_boxes_in_line_is_the_length_of_their_gaps() {
    let mut random = StdRng::seed_from_u64(6);
    for number in 0..2000 {
        let halves = [(); 2].map(|()| vector(&mut random).abs() + 0.05);
        let at = [(); 2].map(|()| vector(&mut random) * 5.0);
        // Both boxes have the same rotation, or differ by quarter turns.
        let turn = turn(&mut random);
        let quarter = number % 4;
        let spin = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2 * quarter as f32);
        let [half_a, half_b] = halves.map(|half| half.as_dvec3());
        let seen_b = if quarter % 2 == 1 {
            DVec3::new(half_b.y, half_b.x, half_b.z)
        } else {
            half_b
        };
        let [a, b] = halves.map(|half| Cuboid::from_size(2.0 * half));
        let offset =
            DMat3::from_quat(exact(turn)).transpose() * (at[1].as_dvec3() - at[0].as_dvec3());
        let gaps = (offset.abs() - half_a - seen_b).max(DVec3::ZERO);
        let [pose_a, pose_b] = [
            Isometry3d::new(at[0], turn),
            Isometry3d::new(at[1], turn * spin),
        ];
        let found = query::distance(&a, pose_a, &b, pose_b);
        assert!(
            (f64::from(found.distance) - gaps.length()).abs() < 3e-6,
            "{number}: {found:?} {gaps}"
        );
        let between = found.point_b.as_dvec3() - found.point_a.as_dvec3();
        assert!(
            (between.length() - gaps.length()).abs() < 3e-6,
            "{number}: {found:?} {gaps}"
        );
        // In 2D, the same boxes without their depth.
        let [flat_a, flat_b] = halves.map(|half| Rectangle::new(2.0 * half.x, 2.0 * half.y));
        let place = |at: Vec3| Isometry2d::from_translation(at.truncate());
        let gaps = ((at[1] - at[0]).abs() - halves[0] - halves[1])
            .truncate()
            .max(Vec2::ZERO);
        let found = query::distance(&flat_a, place(at[0]), &flat_b, place(at[1]));
        assert!(
            (found.distance - gaps.length()).abs() < 3e-6,
            "{number}: {found:?} {gaps}"
        );
    }
}

/// A point of each box and a plane between the boxes prove the distance: no two points are nearer
/// to each other than the gap along the normal of the plane.
#[test]
fn a_plane_proves_the_distance_of_turned_boxes() {
    let mut random = StdRng::seed_from_u64(9);
    let mut apart = 0;
    for number in 0..3000 {
        let halves = [(); 2].map(|()| vector(&mut random).abs() + 0.05);
        let at = [(); 2].map(|()| vector(&mut random) * 3.0);
        let turns = [(); 2].map(|()| turn(&mut random));
        let [a, b] = halves.map(|half| Cuboid::from_size(2.0 * half));
        let [pose_a, pose_b] = [0, 1].map(|index| Isometry3d::new(at[index], turns[index]));
        let found = query::distance(&a, pose_a, &b, pose_b);
        if found.distance < 1e-2 {
            continue;
        }
        apart += 1;
        let [point_a, point_b] = [found.point_a, found.point_b].map(|point| point.as_dvec3());
        let distance = f64::from(found.distance);
        assert!((point_a.distance(point_b) - distance).abs() < 3e-6);
        let normal = (point_b - point_a).normalize();
        let mut gap = 0.0;
        for (index, (point, sign)) in [(point_a, 1.0), (point_b, -1.0)].into_iter().enumerate() {
            let inverse = DMat3::from_quat(exact(turns[index])).transpose();
            let (half, center) = (halves[index].as_dvec3(), at[index].as_dvec3());
            let local = inverse * (point - center);
            assert!(
                (local.abs() - half).max_element() < 3e-6,
                "{number}: outside"
            );
            let highest = (inverse * normal).abs().dot(half);
            gap -= center.dot(normal) * sign + highest;
        }
        assert!((gap - distance).abs() < 3e-5, "{number}: {gap} {found:?}");
    }
    assert!(apart > 1000, "{apart}");
}

/// A rectangle stands on another rectangle, with an overhang.
#[test]
fn two_edges_touch_along_their_common_part() {
    let mut random = StdRng::seed_from_u64(7);
    let (mut lines, mut none) = (0, 0);
    for number in 0..1000 {
        let [half_a, half_b, shift] = [(); 3].map(|()| random.random_range(0.2..2.0_f32));
        let shift = shift * if number % 2 == 0 { 1.0 } else { -1.0 };
        let sunk = 0.01;
        let (a, b) = (
            Rectangle::new(2.0 * half_a, 4.0),
            Rectangle::new(2.0 * half_b, 4.0),
        );
        let above = Isometry2d::from_xy(shift, 4.0 - sunk);
        let (start, end) = ((shift - half_b).max(-half_a), (shift + half_b).min(half_a));
        let found = query::manifold(&a, Isometry2d::IDENTITY, &b, above);
        if end - start < 2.0 * sunk {
            none += 1;
            continue;
        }
        lines += 1;
        let found = found.expect("the rectangles overlap");
        assert!(found.normal.distance(Vec2::Y) < 1e-6, "{number}: {found:?}");
        let mut ends: Vec<f32> = found.points().iter().map(|point| point.point_a.x).collect();
        ends.sort_by(f32::total_cmp);
        assert_eq!(ends.len(), 2, "{number}: {found:?}");
        assert!(
            (ends[0] - start).abs() < 2e-6 && (ends[1] - end).abs() < 2e-6,
            "{number}: {ends:?} {start} {end}"
        );
        for point in found.points() {
            assert!((point.depth - sunk).abs() < 2e-6, "{number}: {found:?}");
            assert!((point.point_a.y - 2.0).abs() < 2e-6, "{number}: {found:?}");
        }
    }
    assert!(lines > 300 && none > 20, "{lines} {none}");
}

#[test]
fn parallel_capsules_touch_along_their_common_part() {
    let capsule = Capsule3d::new(0.5, 4.0);
    let pose = Isometry3d::from_xyz(0.0, 1.1, 0.9);
    let found = query::manifold(&capsule, Isometry3d::IDENTITY, &capsule, pose);
    let found = found.expect("the capsules overlap");
    let mut ends: Vec<f32> = found.points().iter().map(|it| it.point_a.y).collect();
    ends.sort_by(f32::total_cmp);
    assert_eq!(ends.len(), 2, "{found:?}");
    assert!(
        (ends[0] + 0.9).abs() < 2e-6 && (ends[1] - 2.0).abs() < 2e-6,
        "{found:?}"
    );
}

/// The distance of two segments is that of an end and the other segment, or that of their lines.
/// Some segments are parallel, and some lie in a common plane.
#[test]
fn the_distance_of_capsules_is_that_of_their_segments() {
    let mut random = StdRng::seed_from_u64(12);
    for number in 0..10_000 {
        let mut turns = [(); 2].map(|()| turn(&mut random));
        let mut centers = [(); 2].map(|()| vector(&mut random) * 3.0);
        match number % 4 {
            0 => turns[1] = turns[0],
            1 => {
                turns = turns.map(|turn| Quat::from_rotation_z(turn.w));
                centers = centers.map(|center| center.with_z(0.0));
            }
            _ => {}
        }
        let capsules = [(); 2].map(|()| {
            let [radius, length] = [(); 2].map(|()| random.random_range(0.0..1.5_f32));
            Capsule3d::new(0.2 * radius, length)
        });
        let segments = [0, 1].map(|index| {
            let half = exact(turns[index]) * DVec3::Y * f64::from(capsules[index].half_length);
            let center = centers[index].as_dvec3();
            [center - half, center + half]
        });
        let to_segment = |point: DVec3, [start, end]: [DVec3; 2]| {
            let line = end - start;
            let part = (point - start).dot(line) / line.length_squared();
            point.distance(start + line * part.clamp(0.0, 1.0))
        };
        let [[a, b], [c, d]] = segments;
        let ends = [
            to_segment(a, segments[1]),
            to_segment(b, segments[1]),
            to_segment(c, segments[0]),
            to_segment(d, segments[0]),
        ];
        let mut expected = ends.into_iter().fold(f64::INFINITY, f64::min);
        // Cramer's rule for the point of both lines that is the same as seen along the normal.
        let normal = (b - a).cross(d - c);
        if normal.length() > 1e-6 {
            let matrix = DMat3::from_cols(b - a, c - d, normal);
            let parts = matrix.inverse() * (c - a);
            if (0.0..=1.0).contains(&parts.x) && (0.0..=1.0).contains(&parts.y) {
                expected = expected.min(parts.z.abs() * normal.length());
            }
        }
        let expected = expected - capsules.map(|it| f64::from(it.radius)).iter().sum::<f64>();
        let [pose_a, pose_b] = [0, 1].map(|index| Isometry3d::new(centers[index], turns[index]));
        let found = query::distance(&capsules[0], pose_a, &capsules[1], pose_b);
        let error = (f64::from(found.distance) - expected.max(0.0)).abs();
        let rounding = 6e-8 * expected.abs();
        assert!(
            error <= rounding + 3e-7,
            "{number}: {found:?}, not {expected}"
        );
        let apart = found.point_a.as_dvec3().distance(found.point_b.as_dvec3());
        assert!(
            (apart - expected.max(0.0)).abs() < NEAR,
            "{number}: {found:?}"
        );
    }
}

/// The cores of two capsules cross at an angle near the limit of skew capsules, 8 degrees.
#[test]
fn skew_capsules_touch_in_the_point_where_their_axes_cross() {
    let capsule = Capsule3d::new(0.5, 4.0);
    for degrees in [
        4.0_f32, 7.9, 8.0, 8.1, 8.2, 8.3, 12.0, 45.0, 90.0, 171.9, 172.0, 172.1,
    ] {
        let angle = degrees.to_radians();
        // The axes cross at 0.7 along the first axis, and at -0.4 along the second axis.
        let turn = Quat::from_rotation_z(angle);
        let crossing = Vec3::Y * 0.7;
        let at = crossing + turn * Vec3::Y * 0.4 + Vec3::Z * 0.9;
        let pose = Isometry3d::new(at, turn);
        let found = query::manifold(&capsule, Isometry3d::IDENTITY, &capsule, pose);
        let found = found.expect("the capsules overlap");
        assert!(
            found.normal.distance(Vec3::Z) < 1e-5,
            "{degrees}: {found:?}"
        );
        let [point] = found.points() else {
            panic!("{degrees}: {found:?}");
        };
        assert!((point.depth - 0.1).abs() < 2e-6, "{degrees}: {found:?}");
        let expected = crossing + Vec3::Z * 0.5;
        assert!(
            point.point_a.distance(expected) < 1e-4,
            "{degrees}: {found:?}"
        );
        let contact = query::contact(&capsule, Isometry3d::IDENTITY, &capsule, pose);
        let contact = contact.expect("the capsules overlap");
        assert!(
            contact.point_a.distance(point.point_a) < 1e-4,
            "{degrees}: {found:?}"
        );
    }
}

/// Asserts that a frustum that moves to a point hits the point when the point is on its surface.
/// The point is inside the frustum later in the motion.
fn hits_at_the_surface(frustum: ConicalFrustum, pose: Isometry3d, way: Vec3, point: Vec3) {
    let inverse = DMat3::from_quat(exact(pose.rotation)).transpose();
    let center = Vec3::from(pose.translation).as_dvec3();
    let is_inside = |time: f64| {
        let at = inverse * (point.as_dvec3() - center - way.as_dvec3() * time);
        let part = at.y / f64::from(frustum.height) + 0.5;
        let radius =
            f64::from(frustum.radius_bottom) * (1.0 - part) + f64::from(frustum.radius_top) * part;
        (0.0..=1.0).contains(&part) && DVec2::new(at.x, at.z).length() <= radius
    };
    // The time at which the point is nearest to the center.
    let offset = point.as_dvec3() - center;
    let middle = offset.dot(way.as_dvec3()) / way.as_dvec3().length_squared();
    assert!(!is_inside(0.0) && is_inside(middle));
    let (mut outside, mut inside) = (0.0, middle);
    for _ in 0..100 {
        let time = 0.5 * (outside + inside);
        if is_inside(time) {
            inside = time;
        } else {
            outside = time;
        }
    }
    let hit = cast(
        &Sphere::new(0.0),
        Motion::still(point),
        &frustum,
        Motion::linear(pose, way),
    );
    let hit = hit.unwrap_or_else(|| panic!("{frustum:?} {pose:?} {way:?}: no hit at {outside}"));
    let error = (hit.touching - outside).abs() * f64::from(way.length());
    assert!(error < 2e-7, "{frustum:?} {pose:?} {way:?}: {hit:?}");
}

/// The ray of such a cast meets the vertex that faces the start, so the triangles of the search are
/// degenerate. The first two cases were once misses.
#[test]
fn a_frustum_that_moves_over_a_point_with_its_center_hits_the_point() {
    let frustum = |half_height: f32, radius_top, radius_bottom| ConicalFrustum {
        radius_top,
        radius_bottom,
        height: 2.0 * half_height,
    };
    hits_at_the_surface(
        frustum(0.5348616, 73.99284, 0.56514627),
        Isometry3d::new(
            Vec3::new(167.08635, 7.4677563, 6.0350585),
            Quat::from_xyzw(0.460462, 0.54322004, -0.5518252, 0.43402272),
        ),
        Vec3::X * -172.04425,
        Vec3::new(3.7411249, 7.4677563, 6.0350585),
    );
    hits_at_the_surface(
        frustum(0.065245084, 0.34347197, 0.98633546),
        Isometry3d::new(
            Vec3::new(6.614096, 3.8506722, 0.5574119),
            Quat::from_xyzw(0.41180676, -0.33343697, -0.5940993, 0.60521156),
        ),
        Vec3::X * 2.23508,
        Vec3::new(7.8663435, 3.8506722, 0.5574119),
    );
    let mut random = StdRng::seed_from_u64(8);
    for number in 0..5000 {
        let [top, bottom, half] = [(); 3].map(|()| random.random_range(0.05..2.0));
        let top = if number % 3 == 0 { 0.0 } else { top };
        let turn = if number % 5 == 0 {
            Quat::from_rotation_z(core::f32::consts::FRAC_PI_2 * (number % 4) as f32)
        } else {
            turn(&mut random)
        };
        let from = [Vec3::X, Vec3::Y, Vec3::NEG_Z][number % 3] * random.random_range(6.0..200.0);
        let way = from * -random.random_range(1.1..1.9_f32);
        let pose = Isometry3d::new(from, turn);
        hits_at_the_surface(frustum(half, top, bottom), pose, way, Vec3::ZERO);
    }
}

/// Returns the points of a convex polygon in the world, counter-clockwise.
fn placed(points: &[Vec2], pose: Transform) -> Vec<DVec2> {
    let rotation = pose.rotation.as_dquat().normalize();
    let place = |point: &Vec2| {
        let scaled = point.extend(0.0).as_dvec3() * pose.scale.as_dvec3();
        (rotation * scaled + pose.translation.as_dvec3()).truncate()
    };
    let mut placed: Vec<DVec2> = points.iter().map(place).collect();
    let center = placed.iter().sum::<DVec2>() / placed.len() as f64;
    placed.sort_by(|a, b| {
        (*a - center)
            .to_angle()
            .total_cmp(&(*b - center).to_angle())
    });
    placed
}

/// Returns the largest gap between an edge of `own` and the points of `other`.
fn largest_gap(own: &[DVec2], other: &[DVec2]) -> f64 {
    let ends = own.iter().cycle().skip(1);
    let gaps = own.iter().zip(ends).map(|(start, end)| {
        let normal = -(*end - *start).perp().normalize();
        let heights = other.iter().map(|point| normal.dot(*point - *start));
        heights.fold(f64::INFINITY, f64::min)
    });
    gaps.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the smallest distance from a corner of `own` to an edge of `other`.
fn corner_to_edge(own: &[DVec2], other: &[DVec2]) -> f64 {
    let ends = other.iter().cycle().skip(1);
    let edges = other.iter().zip(ends);
    let distances = edges.flat_map(|(start, end)| {
        own.iter().map(move |corner| {
            let (line, offset) = (*end - *start, *corner - *start);
            let part = (offset.dot(line) / line.length_squared()).clamp(0.0, 1.0);
            offset.distance(line * part)
        })
    });
    distances.fold(f64::INFINITY, f64::min)
}

/// If two polygons are apart, one of the two nearest points is a corner. Some pairs have parallel
/// edges, and some polygons are thin.
#[test]
fn the_distance_of_polygons_is_that_of_a_corner_and_an_edge() {
    let mut random = StdRng::seed_from_u64(11);
    let mut apart = [0; 4];
    for number in 0..20_000 {
        let sizes = [(); 2].map(|()| {
            let thin = if random.random_bool(0.2) { 1e-4 } else { 1.0 };
            Vec2::from([1.0, thin].map(|most| most * random.random_range(0.2..1.0_f32)))
        });
        let turn = Rot2::radians(random.random_range(-3.0..3.0));
        let turns = [
            turn,
            match number / 4 % 3 {
                0 => turn,
                1 => turn * Rot2::FRAC_PI_2,
                _ => Rot2::radians(random.random_range(-3.0..3.0)),
            },
        ];
        let poses = turns.map(|turn| Isometry2d::new(vector(&mut random).truncate() * 1.5, turn));
        let points = sizes.map(|size| -> Vec<Vec2> {
            let count = random.random_range(3..=16);
            let corner = |corner: u8| {
                let turn = (f32::from(corner) + random.random_range(0.0..0.7)) / f32::from(count);
                Vec2::from_angle(turn * core::f32::consts::TAU) * size
            };
            (0..count).map(corner).collect()
        });
        let rectangles = sizes.map(|size| Rectangle::from_size(2.0 * size));
        let corners = [0, 1].map(|index| {
            let signs = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
            let of_rectangle = signs.map(|signs| sizes[index] * Vec2::from_array(signs));
            let is_rectangle = number >> index & 1 == 1;
            let points = if is_rectangle {
                &of_rectangle[..]
            } else {
                &points[index]
            };
            let Isometry2d {
                rotation,
                translation,
            } = poses[index];
            let x = DVec2::new(rotation.cos.into(), rotation.sin.into()).normalize();
            let place = |point: &Vec2| x.rotate(point.as_dvec2()) + translation.as_dvec2();
            points.iter().map(place).collect::<Vec<_>>()
        });
        let [a, b] = &corners;
        if largest_gap(a, b).max(largest_gap(b, a)) < 1e-6 {
            continue;
        }
        let kind = number % 4;
        apart[kind] += 1;
        let [pose_a, pose_b] = poses;
        let hulls = points.map(|points| ConvexHull::new(points).expect("the points are finite"));
        let found = match kind {
            0 => query::distance(&hulls[0], pose_a, &hulls[1], pose_b),
            1 => query::distance(&rectangles[0], pose_a, &hulls[1], pose_b),
            2 => query::distance(&hulls[0], pose_a, &rectangles[1], pose_b),
            _ => query::distance(&rectangles[0], pose_a, &rectangles[1], pose_b),
        };
        let expected = corner_to_edge(a, b).min(corner_to_edge(b, a));
        let error = (f64::from(found.distance) - expected).abs();
        assert!(
            error <= 6e-8 * expected + 1e-12,
            "{number}: {found:?}, not {expected}"
        );
        let [point_a, point_b] = [found.point_a, found.point_b].map(|point| point.as_dvec2());
        assert!(
            (point_a.distance(point_b) - expected).abs() < NEAR,
            "{number}: {found:?}"
        );
        assert!(largest_gap(a, &[point_a]) < NEAR, "{number}: {found:?}");
        assert!(largest_gap(b, &[point_b]) < NEAR, "{number}: {found:?}");
    }
    assert!(apart.iter().all(|count| *count > 1000), "{apart:?}");
}

/// Polygons of up to 20 corners beside polygons and rectangles, some of them far from their own
/// origin, thin or mirrored.
#[test]
fn contacts_of_polygons_follow_from_their_edges() {
    let mut random = StdRng::seed_from_u64(9);
    let mut hits = [0; 2];
    for number in 0..6000 {
        let with_rectangle = number % 2 == 1;
        let mut sample = |is_rectangle: bool| {
            let thin = if random.random_bool(0.2) { 1e-4 } else { 1.0 };
            let [width, height] = [1.0, thin].map(|most| most * random.random_range(0.2..1.0_f32));
            let mirrored = if random.random() { -1.0 } else { 1.0 };
            let factor = random.random_range(0.2..2.0_f32);
            let pose = Transform {
                translation: vector(&mut random).with_z(0.0) * 1.5,
                rotation: Quat::from_rotation_z(random.random_range(-3.0..3.0)),
                scale: factor * Vec3::new(mirrored, 1.0, 1.0),
            };
            if is_rectangle {
                let half = Vec2::new(width, height) / 2.0;
                let signs = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
                let points = signs.map(|signs| half * Vec2::from_array(signs));
                let collider = Collider::rectangle(width, height);
                return (collider, placed(&points, pose), pose);
            }
            let count = random.random_range(3..=20);
            let far = if random.random_bool(0.2) { 3.0 } else { 0.0 };
            let points: Vec<Vec2> = (0..count)
                .map(|corner| {
                    let turn = (corner as f32 + random.random_range(0.0..0.7)) / count as f32;
                    let on_circle = Vec2::from_angle(turn * core::f32::consts::TAU);
                    on_circle * Vec2::new(width, height) + far
                })
                .collect();
            let collider = Collider::convex_hull(points.iter().copied());
            (collider, placed(&points, pose), pose)
        };
        let [(a, points_a, pose_a), (b, points_b, pose_b)] =
            [false, with_rectangle].map(&mut sample);
        let gap = largest_gap(&points_a, &points_b).max(largest_gap(&points_b, &points_a));
        for is_swapped in [false, true] {
            let contact = if is_swapped {
                query::contact(&b, pose_b, &a, pose_a)
            } else {
                query::contact(&a, pose_a, &b, pose_b)
            };
            let Some(contact) = contact else {
                assert!(gap > -1e-5, "{number}: no contact at a gap of {gap}");
                continue;
            };
            hits[usize::from(with_rectangle)] += 1;
            let mut points = [contact.point_a, contact.point_b].map(|it| it.as_dvec3().truncate());
            let mut normal = contact.normal.as_dvec3().truncate();
            if is_swapped {
                points.reverse();
                normal = -normal;
            }
            let [point_a, point_b] = points;
            let depth = f64::from(contact.depth);
            assert!(
                (depth + gap).abs() < 1e-5,
                "{number}: {depth} at a gap of {gap}"
            );
            // A translation by the depth along the normal separates the polygons.
            let reach = |points: &[DVec2], normal: DVec2| {
                let heights = points.iter().map(|point| normal.dot(*point));
                heights.fold(f64::NEG_INFINITY, f64::max)
            };
            let along = reach(&points_a, normal) + reach(&points_b, -normal);
            assert!(
                (along - depth).abs() < 1e-5,
                "{number}: {along}, not {depth}"
            );
            let offset = point_a - point_b;
            assert!(offset.distance(normal * depth) < 1e-5, "{number}: {offset}");
            // The points are on the two polygons.
            assert!(largest_gap(&points_a, &[point_a]) < 1e-5);
            assert!(largest_gap(&points_b, &[point_b]) < 1e-5);
        }
    }
    assert!(hits.iter().all(|hits| *hits > 600), "{hits:?}");
}
