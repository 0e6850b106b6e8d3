//! Compares the drawn lines of each shape with closed forms.

use bevy::{math::Vec3Swizzles, prelude::*};
use core::f32::consts::PI;
use headbutt::{Rounded, Support, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Line, app, drawn, support};

/// Returns the height of an arc above its chord, relative to the radius, for a circle of 32 sides.
fn sagitta() -> f32 {
    1.0 - (PI / 32.0).cos()
}

/// Returns the signed distance of a box.
fn box_distance(point: Vec3, half: Vec3) -> f32 {
    let outside = point.abs() - half;
    outside.max(Vec3::ZERO).length() + outside.max_element().min(0.0)
}

/// Returns the signed distance of a solid of revolution around y. `profile` is the signed distance
/// at (radius, y).
fn revolved(profile: impl Fn(Vec2) -> f32) -> impl Fn(Vec3) -> f32 {
    move |point| profile(Vec2::new(point.xz().length(), point.y))
}

/// Returns the signed distance of a convex polygon with counter-clockwise corners. The distance is
/// exact inside the polygon and near its edges.
fn polygon(corners: Vec<Vec2>) -> impl Fn(Vec2) -> f32 {
    move |point| {
        let edges = corners.iter().zip(corners.iter().cycle().skip(1));
        let heights = edges.map(|(start, end)| {
            let normal = Vec2::new(end.y - start.y, start.x - end.x).normalize();
            (point - *start).dot(normal)
        });
        heights.fold(f32::MIN, f32::max)
    }
}

fn flat(profile: impl Fn(Vec2) -> f32) -> impl Fn(Vec3) -> f32 {
    move |point| profile(point.xy()) + point.z.abs()
}

type Distance = Box<dyn Fn(Vec3) -> f32>;

/// Returns shapes with their signed distances, and the numbers of their lines.
fn closed_forms() -> Vec<(&'static str, Collider, usize, Distance)> {
    let half = Vec3::new(1.0, 2.0, 0.5);
    let segment_y = |point: Vec3, half: f32| point.distance(Vec3::Y * point.y.clamp(-half, half));
    let trapezoid = |top: f32, bottom: f32| {
        let corners = [(bottom, -1.0), (top, 1.0), (-top, 1.0), (-bottom, -1.0)];
        polygon(corners.map(Vec2::from).to_vec())
    };
    let triangle = || {
        polygon(
            [(-1.0, -1.0), (2.0, -1.0), (0.0, 1.0)]
                .map(Vec2::from)
                .to_vec(),
        )
    };
    let corners = [(-1.0, -1.0), (2.0, -1.0), (0.0, 1.0)].map(Vec2::from);
    let [a, b, c] = corners;
    let prism = triangle();
    let ring = |count: u8| (0..count).map(move |it| Vec2::from_angle(0.1 + f32::from(it)));
    vec![
        (
            "circle",
            Collider::circle(3.0),
            32,
            Box::new(flat(|p| p.length() - 3.0)),
        ),
        (
            "ellipse",
            Collider::ellipse(2.0, 0.5),
            0,
            // The function is zero on the ellipse. Near the ellipse, it is proportional to the
            // distance.
            Box::new(flat(|p| (p / Vec2::new(2.0, 0.5)).length() - 1.0)),
        ),
        (
            "rectangle",
            Collider::rectangle(2.0, 4.0),
            4,
            Box::new(flat(move |p| box_distance(p.extend(0.0), half.with_z(9.0)))),
        ),
        (
            "triangle",
            Collider::triangle(a, c, b),
            3,
            Box::new(flat(triangle())),
        ),
        (
            "hull",
            Collider::convex_hull(ring(6)),
            6,
            Box::new(flat(polygon(ring(6).collect()))),
        ),
        (
            "capsule",
            Collider::capsule_2d(0.5, 2.0),
            0,
            Box::new(move |p| segment_y(p, 1.0) - 0.5),
        ),
        (
            "rounded rectangle",
            Collider::rectangle(2.0, 4.0).rounded(0.5),
            0,
            Box::new(flat(move |p| {
                box_distance(p.extend(0.0), half.with_z(9.0)) - 0.5
            })),
        ),
        (
            "sphere",
            Collider::sphere(2.0),
            96,
            Box::new(|p| p.length() - 2.0),
        ),
        (
            "cuboid",
            Collider::cuboid(2.0, 4.0, 1.0),
            12,
            Box::new(move |p| box_distance(p, half)),
        ),
        (
            "rounded cuboid",
            Collider::cuboid(2.0, 4.0, 1.0).rounded(0.25),
            0,
            Box::new(move |p| box_distance(p, half) - 0.25),
        ),
        (
            "capsule in 3D",
            Collider::capsule_3d(0.5, 2.0),
            0,
            Box::new(move |p| segment_y(p, 1.0) - 0.5),
        ),
        (
            "cylinder",
            Collider::cylinder(1.5, 2.0),
            72,
            Box::new(revolved(trapezoid(1.5, 1.5))),
        ),
        (
            "cone",
            Collider::cone(1.5, 2.0),
            40,
            Box::new(revolved(trapezoid(1e-9, 1.5))),
        ),
        (
            "frustum",
            Collider::from(ConicalFrustum {
                radius_top: 0.5,
                radius_bottom: 1.5,
                height: 2.0,
            }),
            72,
            Box::new(revolved(trapezoid(0.5, 1.5))),
        ),
        (
            "prism",
            Collider::from(Extrusion::new(Triangle2d::new(a, b, c), 3.0)),
            9,
            Box::new(move |p| prism(p.xy()).max(p.z.abs() - 1.5)),
        ),
    ]
}

#[test]
fn each_line_lies_on_its_shape() {
    for (name, collider, count, distance) in closed_forms() {
        let lines = collider.wireframe();
        assert!(!lines.is_empty(), "{name}");
        if count > 0 {
            assert_eq!(lines.len(), count, "{name}");
        }
        for [start, end] in lines {
            assert!(start != end, "{name}: {start}");
            for end in [start, end] {
                assert!(
                    distance(end).abs() < 2e-6,
                    "{name}: {end}, {}",
                    distance(end)
                );
            }
            let middle = distance(start.midpoint(end));
            let tolerance = 3.5 * sagitta();
            assert!(
                (-tolerance..2e-6).contains(&middle),
                "{name}: {middle} at {start}"
            );
        }
    }
}

/// Returns the height of a set of lines along a direction.
fn height(lines: &[Line], direction: Vec3) -> f32 {
    let heights = lines.iter().flatten().map(|point| point.dot(direction));
    heights.fold(f32::MIN, f32::max)
}

#[test]
fn an_outline_reaches_as_far_as_its_shape_in_every_direction() {
    fn check<S: Support<Vector = Vec2>>(shape: S, collider: Collider, size: f32) {
        let lines = collider.wireframe();
        for step in 0..720 {
            let direction = Vec2::from_angle(step as f32 * PI / 360.0);
            let exact = direction.as_dvec2();
            let reach = (shape.support(exact).dot(exact) + shape.radius()) as f32;
            let gap = reach - height(&lines, direction.extend(0.0));
            // Between two vertices of the drawn polygon, the gap is at most about a sagitta.
            assert!(
                (-1e-5..6e-3).contains(&(gap / size)),
                "{gap} in {direction}: {collider:?}"
            );
        }
    }
    let hull = [(0.0, 0.0), (3.0, 0.5), (2.0, 2.5), (-1.0, 1.0)].map(Vec2::from);
    check(Circle::new(3.0), Collider::circle(3.0), 3.0);
    check(Ellipse::new(3.0, 1.0), Collider::ellipse(3.0, 1.0), 1.0);
    check(
        Capsule2d::new(0.5, 4.0),
        Collider::capsule_2d(0.5, 4.0),
        0.5,
    );
    check(hull.as_slice(), Collider::convex_hull(hull), 1.0);
    check(
        Rhombus::new(2.0, 1.0),
        Collider::from(Rhombus::new(2.0, 1.0)),
        1.0,
    );
    let tile = Rounded::new(Rectangle::new(2.0, 1.0), 0.5);
    check(tile, Collider::from(tile), 1.0);
    let slice = CircularSector::new(2.0, 0.7);
    check(slice, Collider::from(slice), 1.5);
    let lid = CircularSegment::new(2.0, 1.2);
    check(lid, Collider::from(lid), 0.7);
}

#[test]
fn a_hull_has_the_edges_of_its_polyhedron() {
    let mut rng = StdRng::seed_from_u64(1);
    let golden = 0.5 * (1.0 + 5.0_f32.sqrt());
    let signs = [-1.0, 1.0];
    let pairs = || {
        signs
            .into_iter()
            .flat_map(|a| signs.map(|b| (a, b * golden)))
    };
    // The vertices of an icosahedron, with edges of length 2.
    let icosahedron = pairs().flat_map(|(a, b)| [[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
    let icosahedron: Vec<_> = icosahedron.map(Vec3::from_array).collect();
    let cube = (0..8).map(|index| Vec3::from([1, 2, 4].map(|bit| f32::from(index & bit != 0))));
    // Points inside the cube and on its faces do not matter.
    let inside = (0..500).map(|_| Vec3::from_array(rng.random()));
    let cube: Vec<_> = cube
        .chain(inside)
        .chain([Vec3::new(0.5, 0.5, 1.0)])
        .collect();
    let flat = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::new(1.0, 1.0, 1.0),
        Vec3::new(0.0, 1.0, 1.0),
    ];
    for (points, count, lengths) in [
        (icosahedron, 30, vec![2.0]),
        (cube, 12, vec![1.0]),
        (flat.to_vec(), 4, vec![1.0, 2.0_f32.sqrt()]),
        (
            vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            6,
            vec![1.0, 2.0_f32.sqrt()],
        ),
    ] {
        let mut edges = Collider::convex_hull(points).wireframe();
        for edge in &mut edges {
            edge.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap());
        }
        edges.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
        edges.dedup();
        assert_eq!(edges.len(), count, "{edges:?}");
        for [start, end] in edges {
            let length = start.distance(end);
            assert!(
                lengths.iter().any(|it| (it - length).abs() < 1e-6),
                "{start} {end}"
            );
        }
    }
}

#[test]
fn surfaces_and_compounds_are_drawn_by_their_edges_and_parts() {
    let corners = (0..8).map(|it| Vec3::from([1, 2, 4].map(|bit| f32::from(it & bit != 0))));
    let faces = [
        [0, 1, 3, 2],
        [4, 6, 7, 5],
        [0, 4, 5, 1],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 5, 7, 3],
    ];
    let triangles = faces
        .into_iter()
        .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    // The lines are the 12 edges of the cube and a diagonal of each face.
    assert_eq!(Collider::trimesh(corners, triangles).wireframe().len(), 18);
    // The height field has 3 x 2 cells of two triangles.
    assert_eq!(
        Collider::heightfield(Vec2::ONE, 4, &[0.0; 12])
            .wireframe()
            .len(),
        9 + 8 + 6
    );

    let points = [Vec2::ZERO, Vec2::X, Vec2::ONE];
    let line = |[start, end]: [Vec2; 2]| [start.extend(0.0), end.extend(0.0)];
    let expected = [[points[0], points[1]], [points[1], points[2]]].map(line);
    assert_eq!(Collider::polyline(points).wireframe(), expected);
    for point in Collider::polyline(points)
        .rounded(0.25)
        .wireframe()
        .into_iter()
        .flatten()
    {
        let [a, b] = expected.map(|[start, end]| {
            let along = (point - start).dot(end - start).clamp(0.0, 1.0);
            point.distance(start + (end - start) * along)
        });
        assert!(
            (a - 0.25).abs() < 1e-6 || (b - 0.25).abs() < 1e-6,
            "{point}"
        );
    }

    let pose = Isometry3d::new(Vec3::new(3.0, 4.0, 5.0), Quat::from_rotation_z(PI / 2.0));
    let part = Collider::cuboid(2.0, 4.0, 6.0);
    let compound = Collider::compound([(Isometry3d::IDENTITY, part.clone()), (pose, part)]);
    let lines = compound.wireframe();
    assert_eq!(lines.len(), 24);
    for point in lines[12..].iter().flatten() {
        let offset = (*point - Vec3::new(3.0, 4.0, 5.0)).abs();
        assert!(offset.distance(Vec3::new(2.0, 1.0, 3.0)) < 1e-6, "{point}");
    }
    assert!(Collider::default().wireframe().is_empty());
    assert!(Collider::circle(f32::NAN).wireframe().is_empty());
}

/// A ball with a wrong support function, which must not prevent a finite drawing.
struct Wrong(fn(f64) -> f64);

impl Support for Wrong {
    type Vector = Vec3;

    fn support(&self, direction: bevy::math::DVec3) -> bevy::math::DVec3 {
        direction.normalize() * (self.0)(direction.x)
    }
}

#[test]
fn a_wrong_support_function_still_has_a_finite_drawing() {
    for wrong in [
        |_: f64| f64::NAN,
        |_: f64| f64::INFINITY,
        |x: f64| (x * 1e9).sin(),
        |x: f64| -x,
    ] {
        let lines = Collider::custom(Wrong(wrong)).wireframe();
        assert!(lines.len() < 1 << 20);
        assert!(lines.iter().flatten().all(|point| point.is_finite()));
    }
}

#[test]
fn lines_lie_on_the_shape_under_every_affine_map() {
    let mut rng = StdRng::seed_from_u64(7);
    let mut random =
        |min: f32, max: f32| Vec3::from_array(rng.random()) * (max - min) + Vec3::splat(min);
    for (name, collider, ..) in closed_forms() {
        let is_flat = collider.shape_2d().is_some();
        for round in 0..20 {
            let mut app = app();
            // A rotation between two non-uniform scales shears, and some scales mirror.
            let mut pose = |mirrored: f32| {
                let scale = random(0.5, 3.0) * Vec3::new(mirrored, 1.0, 1.0);
                let turn = if is_flat {
                    Vec3::Z * random(-3.0, 3.0).z
                } else {
                    random(-3.0, 3.0)
                };
                Transform::from_translation(random(-9.0, 9.0))
                    .with_rotation(Quat::from_scaled_axis(turn))
                    .with_scale(scale)
            };
            let parent = app
                .world_mut()
                .spawn(pose(if round % 2 == 0 { -1.0 } else { 1.0 }))
                .id();
            let child = app
                .world_mut()
                .spawn((collider.clone(), pose(1.0), ChildOf(parent)))
                .id();
            support::tick(&mut app);

            let pose = *app.world().get::<GlobalTransform>(child).unwrap();
            let lines = drawn(&mut app);
            assert_eq!(lines.len(), collider.wireframe().len(), "{name}");
            // The shapes contain their origins.
            let center = pose.translation();
            let contains = |point: Vec3| match is_flat {
                true => collider.contains_point(pose, point.xy()),
                false => collider.contains_point(pose, point),
            };
            for point in lines.iter().flat_map(|(line, _)| line) {
                let at = |factor: f32| center + (*point - center) * factor;
                assert!(contains(at(0.999)), "{name}: {point} is outside");
                assert!(!contains(at(1.001)), "{name}: {point} is inside");
            }
        }
    }
}
