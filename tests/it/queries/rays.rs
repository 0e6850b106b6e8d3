//! Compares `query::cast_ray` on convex shapes with the geometry of each shape.
//!
//! For each shape, the oracle is a convex function of points, which is negative inside, and comes
//! from the shape's definition. Along a line, the function is convex in one variable: ternary
//! search finds its minimum, and bisection finds both roots. For long runs:
//!
//! ```text
//! HEADBUTT_RAYS=1000000 cargo test --release --test it queries::rays
//! ```

use bevy::{
    math::{DVec2, DVec3, Dir2, Dir3, Isometry2d, Isometry3d, Quat, Vec2, Vec3},
    prelude::*,
};
use headbutt::{
    Collider, ConvexHull, Rounded, Support,
    query::{self, Ray, RayHit, RaySide},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::cases::number;

/// Returns the number of random rays at each shape: `HEADBUTT_RAYS`, by default 2000.
fn rays_per_shape() -> u32 {
    number("HEADBUTT_RAYS").unwrap_or(2000) as u32
}

/// Returns the interval in which a convex function of one number is negative. If there is no such
/// interval, the error is the minimum.
fn interval(value: impl Fn(f64) -> f64, range: [f64; 2]) -> Result<[f64; 2], f64> {
    let [mut low, mut high] = range;
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(a) < value(b) {
            high = b;
        } else {
            low = a;
        }
    }
    let lowest = 0.5 * (low + high);
    if value(lowest) >= 0.0 {
        return Err(value(lowest));
    }
    let root = |mut outside: f64| {
        let mut inside = lowest;
        for _ in 0..200 {
            let middle = 0.5 * (inside + outside);
            if value(middle) < 0.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        0.5 * (inside + outside)
    };
    Ok([root(range[0]), root(range[1])])
}

/// Vectors of both dimensions, as far as the comparison needs them.
trait Point: headbutt::Space {
    fn random(random: &mut StdRng, size: f32) -> Self;
    fn isometry(translation: Self, random: &mut StdRng) -> Self::Isometry;
    fn unrotated(translation: Self) -> Self::Isometry;
    /// Returns the image of a point of the world in the shape's frame.
    fn local(pose: &Self::Isometry, point: DVec3) -> DVec3;
    fn wide(self) -> DVec3;
    fn narrow(point: DVec3) -> Self;
    fn axes() -> Vec<DVec3>;
}

impl Point for Vec2 {
    fn random(random: &mut StdRng, size: f32) -> Self {
        Vec2::from_array([(); 2].map(|()| random.random_range(-size..size)))
    }

    fn isometry(translation: Self, random: &mut StdRng) -> Isometry2d {
        Isometry2d::new(translation, Rot2::radians(random.random_range(-3.0..3.0)))
    }

    fn unrotated(translation: Self) -> Isometry2d {
        Isometry2d::from_translation(translation)
    }

    fn local(pose: &Isometry2d, point: DVec3) -> DVec3 {
        let (sine, cosine) = (f64::from(pose.rotation.sin), f64::from(pose.rotation.cos));
        let length = sine.hypot(cosine);
        let axis = DVec2::new(cosine, sine) / length;
        let offset = point.truncate() - pose.translation.as_dvec2();
        DVec3::new(axis.dot(offset), axis.perp_dot(offset), 0.0)
    }

    fn wide(self) -> DVec3 {
        self.as_dvec2().extend(0.0)
    }

    fn narrow(point: DVec3) -> Self {
        point.truncate().as_vec2()
    }

    fn axes() -> Vec<DVec3> {
        vec![DVec3::X, DVec3::Y]
    }
}

impl Point for Vec3 {
    fn random(random: &mut StdRng, size: f32) -> Self {
        Vec3::from_array([(); 3].map(|()| random.random_range(-size..size)))
    }

    fn isometry(translation: Self, random: &mut StdRng) -> Isometry3d {
        let axis = Vec3::random(random, 1.0).normalize_or(Vec3::X);
        let rotation = Quat::from_axis_angle(axis, random.random_range(-3.0..3.0));
        Isometry3d::new(translation, rotation)
    }

    fn unrotated(translation: Self) -> Isometry3d {
        Isometry3d::from_translation(translation)
    }

    fn local(pose: &Isometry3d, point: DVec3) -> DVec3 {
        let translation = Vec3::from(pose.translation).as_dvec3();
        pose.rotation.as_dquat().normalize().inverse() * (point - translation)
    }

    fn wide(self) -> DVec3 {
        self.as_dvec3()
    }

    fn narrow(point: DVec3) -> Self {
        point.as_vec3()
    }

    fn axes() -> Vec<DVec3> {
        vec![DVec3::X, DVec3::Y, DVec3::Z]
    }
}

/// Compares random rays at a shape with the function of its points. All shapes have a size of about
/// 1 around their origin.
fn compare<V: Point>(
    name: &str,
    shape: &(impl Support<Vector = V> + ?Sized),
    value: impl Fn(DVec3) -> f64,
) {
    let mut random = StdRng::seed_from_u64(name.len() as u64);
    let (mut hits, mut misses, mut inside, mut normals) = (0, 0, 0, 0);
    for number in 0..rays_per_shape() {
        let far = [1.0, 1.0, 30.0, 1e4][number as usize % 4];
        let translation = V::random(&mut random, far);
        let pose = V::isometry(translation, &mut random);
        // Some rays begin near the shape or inside, and some far from the shape.
        let distance = [1.0, 3.0, 100.0][number as usize % 3];
        let start = V::random(&mut random, distance).wide() + translation.wide();
        let aim = V::random(&mut random, 1.2).wide() + translation.wide();
        let origin = V::narrow(start);
        let ray = Ray::new(origin, V::narrow(aim - start));
        let (from, direction) = (origin.wide(), ray.direction.wide().normalize());
        let world = |point: DVec3| value(V::local(&pose, point));
        let center = (translation.wide() - from).dot(direction);
        let along = |t: f64| world(from + direction * t);
        let chord = interval(along, [center - 4.0, center + 4.0]);
        let hit = query::cast_ray(shape, pose, ray);
        let hollow = query::cast_ray(shape, pose, ray.hollow());
        let context = || format!("{name} {number}: {chord:?} {hit:?} {hollow:?}");
        let [enter, exit] = match chord {
            // If the ray grazes the shape within rounding, both answers are right.
            Err(lowest) if lowest < 1e-7 => continue,
            Err(_) => {
                assert!(hit.is_none() && hollow.is_none(), "{}", context());
                misses += 1;
                continue;
            }
            Ok(chord) => chord,
        };
        let depth = along(0.5 * (enter + exit)).abs();
        // The origin is on the surface, to within the rounding of its coordinates, or the ray
        // grazes the surface.
        let extent = (from.abs() + translation.wide().abs()).element_sum();
        let near = 1e-4 + 2e-6 * extent;
        if depth < 1e-5 || enter.abs() < near || exit.abs() < near {
            continue;
        }
        if exit < 0.0 {
            assert!(hit.is_none() && hollow.is_none(), "{}", context());
            misses += 1;
            continue;
        }
        let (Some(hit), Some(hollow)) = (hit, hollow) else {
            panic!("{}", context());
        };
        // The line's rounding in f64 grows far from the origin, and its effect grows if the ray
        // grazes.
        let rounding = 1e-13 * (from.length() + translation.wide().length()) / depth;
        let is_at = |hit: &RayHit<V>, t: f64| {
            let error = (f64::from(hit.distance) - t).abs();
            let point = hit.point.wide() - (from + direction * t);
            let tolerance = 1e-7 * (1.0 + t) + 1e-9 / depth.sqrt() + rounding;
            error <= tolerance && point.length() <= tolerance + 1.2e-7 * hit.point.wide().length()
        };
        let mut check_normal = |hit: &RayHit<V>, t: f64, outward: f64| {
            assert!(
                (hit.normal.wide().length() - 1.0).abs() < 1e-6,
                "{}",
                context()
            );
            assert!(hit.normal.wide().dot(direction) < 1e-6, "{}", context());
            // The normal is the direction of the gradient, except at an edge.
            let (point, step) = (from + direction * t, 1e-5);
            let (mut gradient, mut kink) = (DVec3::ZERO, 0.0);
            for axis in V::axes() {
                let [low, high] = [-step, step].map(|step| world(point + axis * step));
                gradient += axis * (high - low);
                kink += (low + high - 2.0 * world(point)).abs() / step;
            }
            if kink < 1e-3 && far < 1e3 {
                let error = (hit.normal.wide() - gradient.normalize() * outward).length();
                assert!(error < 1e-3, "{error} {gradient} {}", context());
                normals += 1;
            }
        };
        if enter > 0.0 {
            assert_eq!(hit.side, RaySide::Front, "{}", context());
            // A hollow ray that begins within the rounding of the surface passes into the solid.
            let height = enter * -hit.normal.wide().dot(direction);
            if height > 4e-7 * (1.0 + extent) {
                assert_eq!(hollow, hit, "{}", context());
            }
            assert!(is_at(&hit, enter), "{}", context());
            check_normal(&hit, enter, 1.0);
            hits += 1;
        } else {
            assert_eq!(
                (hit.side, hit.distance),
                (RaySide::Inside, 0.0),
                "{}",
                context()
            );
            assert!(
                (hit.normal.wide() + direction).length() < 1e-6,
                "{}",
                context()
            );
            assert_eq!(hollow.side, RaySide::Back, "{}", context());
            assert!(is_at(&hollow, exit), "{}", context());
            check_normal(&hollow, exit, -1.0);
            inside += 1;
        }
        // A hit at exactly the maximum distance counts. A hit beyond this distance does not count.
        let end = hollow.distance;
        let shortened = ray.hollow().with_max_distance(end * (1.0 - 1e-5));
        assert!(
            query::cast_ray(shape, pose, shortened).is_none(),
            "{}",
            context()
        );
        let reaching = ray.hollow().with_max_distance(end * (1.0 + 1e-6));
        assert_eq!(
            query::cast_ray(shape, pose, reaching),
            Some(hollow),
            "{}",
            context()
        );
    }
    let count = rays_per_shape();
    assert!(
        hits > count / 10 && misses > count / 20,
        "{name}: {hits} hits, {misses} misses"
    );
    assert!(inside > 0, "{name}: {inside} inside");
    assert!(normals > count / 20, "{name}: {normals} normals");
}

/// Returns the height above a convex polygon with these counter-clockwise vertices: the greatest
/// height above an edge.
fn above_polygon(vertices: &[DVec2], point: DVec2) -> f64 {
    let edges = vertices.iter().zip(vertices.iter().cycle().skip(1));
    let heights = edges.map(|(a, b)| -(b - a).normalize().perp().dot(point - a));
    heights.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the height above the frustum of revolution around y, in terms of the distance from the
/// axis.
fn above_frustum(half_height: f64, top: f64, bottom: f64, point: DVec3) -> f64 {
    let across = DVec2::new(point.x, point.z).length();
    let side = DVec2::new(2.0 * half_height, bottom - top).normalize();
    let height = side.dot(DVec2::new(across - bottom, point.y + half_height));
    height.max(point.y.abs() - half_height)
}

fn beyond_box(half: DVec3, point: DVec3) -> f64 {
    (point.abs() - half).max_element()
}

/// Returns the distance from a box: a convex function, which is negative inside.
fn off_box(half: DVec3, point: DVec3) -> f64 {
    let beyond = point.abs() - half;
    beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
}

#[test]
fn rays_at_round_2d_shapes_hit_their_surface() {
    compare("circle", &Circle::new(0.75), |p| p.length() - 0.75);
    compare("ellipse", &Ellipse::new(1.0, 0.25), |p| {
        (p / DVec3::new(1.0, 0.25, 1.0)).length() - 1.0
    });
    compare("capsule 2d", &Capsule2d::new(0.25, 1.0), |p| {
        (p - DVec3::Y * p.y.clamp(-0.5, 0.5)).length() - 0.25
    });
    compare(
        "rounded square",
        &Rounded::new(Rectangle::new(1.0, 0.5), 0.25),
        |p| off_box(DVec3::new(0.5, 0.25, 1.0), p) - 0.25,
    );
    for angle in [0.3_f32, 1.2, 2.5] {
        let (_, cos) = f64::from(angle).sin_cos();
        compare("segment", &CircularSegment::new(1.0, angle), |p| {
            (p.length() - 1.0).max(cos - p.y)
        });
    }
    for angle in [0.4_f32, 1.2, 1.5] {
        let (sin, cos) = f64::from(angle).sin_cos();
        compare("sector", &CircularSector::new(1.0, angle), |p| {
            (p.length() - 1.0).max(cos * p.x.abs() - sin * p.y)
        });
    }
}

#[test]
fn rays_at_polygons_hit_their_edges() {
    compare("rectangle", &Rectangle::new(1.0, 1.5), |p| {
        beyond_box(DVec3::new(0.5, 0.75, 1.0), p)
    });
    compare("rhombus", &Rhombus::new(1.0, 2.0), |p| {
        2.0 * p.x.abs() + p.y.abs() - 1.0
    });
    let corners = [
        Vec2::new(-0.5, -0.5),
        Vec2::new(1.0, -0.25),
        Vec2::new(0.25, 0.75),
    ];
    let vertices = corners.map(Vec2::as_dvec2);
    let above = |p: DVec3| above_polygon(&vertices, p.truncate());
    compare(
        "triangle",
        &Triangle2d::new(corners[0], corners[1], corners[2]),
        above,
    );
    compare(
        "triangle clockwise",
        &Triangle2d::new(corners[1], corners[0], corners[2]),
        above,
    );
    compare("points in 2d", &corners, above);
    for count in [5, 40] {
        let ring = |index: u32| {
            let angle = f64::from(index) * core::f64::consts::TAU / f64::from(count);
            DVec2::new(angle.cos(), angle.sin()).as_vec2()
        };
        let corners: Vec<Vec2> = (0..count).map(ring).collect();
        let vertices: Vec<DVec2> = corners.iter().map(|corner| corner.as_dvec2()).collect();
        let Ok(hull) = ConvexHull::new(corners) else {
            panic!("the points have a hull");
        };
        compare("hull in 2d", &hull, |p| {
            above_polygon(&vertices, p.truncate())
        });
    }
}

#[test]
fn rays_at_round_3d_shapes_hit_their_surface() {
    compare("sphere", &Sphere::new(0.75), |p| p.length() - 0.75);
    compare("capsule 3d", &Capsule3d::new(0.25, 1.0), |p| {
        (p - DVec3::Y * p.y.clamp(-0.5, 0.5)).length() - 0.25
    });
    compare("cylinder", &Cylinder::new(0.5, 1.5), |p| {
        above_frustum(0.75, 0.5, 0.5, p)
    });
    compare("cone", &Cone::new(0.75, 1.0), |p| {
        above_frustum(0.5, 0.0, 0.75, p)
    });
    let frustum = ConicalFrustum {
        radius_top: 0.75,
        radius_bottom: 0.25,
        height: 1.0,
    };
    compare("frustum", &frustum, |p| above_frustum(0.5, 0.75, 0.25, p));
    compare(
        "rounded cuboid",
        &Rounded::new(Cuboid::new(1.0, 0.5, 0.75), 0.25),
        |p| off_box(DVec3::new(0.5, 0.25, 0.375), p) - 0.25,
    );
    let across = |p: DVec3| DVec3::new(p.x, p.y, 0.0).length();
    compare(
        "extruded circle",
        &Extrusion::new(Circle::new(0.5), 1.0),
        |p| (across(p) - 0.5).max(p.z.abs() - 0.5),
    );
}

/// An ellipsoid without a closed form.
struct Egg(DVec3);

impl Support for Egg {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.0 * (self.0 * direction).normalize()
    }
}

#[test]
fn rays_at_custom_shapes_hit_their_surface() {
    let half = DVec3::new(1.0, 0.5, 0.25);
    compare("egg", &Egg(half), |p| (p / half).length() - 1.0);
}

#[test]
fn rays_at_polyhedra_hit_their_faces() {
    let half = DVec3::new(0.5, 0.75, 0.25);
    compare("cuboid", &Cuboid::from_size(2.0 * half.as_vec3()), |p| {
        beyond_box(half, p)
    });
    let extrusion = Extrusion::new(Rhombus::new(1.0, 2.0), 1.0);
    compare("extruded rhombus", &extrusion, |p| {
        (2.0 * p.x.abs() + p.y.abs() - 1.0).max(p.z.abs() - 0.5)
    });
    let corners = [
        [-1.0, -0.5, -0.5],
        [1.0, -0.5, -0.5],
        [0.0, 1.0, 0.0],
        [0.0, -0.5, 1.0],
    ];
    let corners = corners.map(Vec3::from_array);
    let vertices = corners.map(Vec3::as_dvec3);
    let above = |p: DVec3| {
        let faces = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]];
        let heights = faces.map(|[a, b, c, apex]| {
            let normal = (vertices[b] - vertices[a])
                .cross(vertices[c] - vertices[a])
                .normalize();
            let inward = normal.dot(vertices[apex] - vertices[a]).signum();
            -inward * normal.dot(p - vertices[a])
        });
        heights.into_iter().fold(f64::NEG_INFINITY, f64::max)
    };
    let tetrahedron = Tetrahedron::new(corners[0], corners[1], corners[2], corners[3]);
    compare("tetrahedron", &tetrahedron, above);
    compare("points in 3d", &corners, above);
    // A rhombic dodecahedron has the corners of a cube and a vertex above each face.
    let signs = || [-0.5, 0.5].into_iter();
    let cube = signs().flat_map(|x| signs().map(move |y| (x, y)));
    let cube = cube.flat_map(|(x, y)| signs().map(move |z| Vec3::new(x, y, z)));
    let tips = [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .flat_map(|axis| [axis, -axis]);
    let Ok(hull) = ConvexHull::new(cube.chain(tips)) else {
        panic!("the points have a hull");
    };
    assert_eq!(hull.points().len(), 14);
    compare("rhombic dodecahedron", &hull, |p| {
        let p = p.abs();
        let height = (p.x + p.y).max(p.y + p.z).max(p.z + p.x) - 1.0;
        height * core::f64::consts::FRAC_1_SQRT_2
    });
}

#[test]
fn rays_at_half_spaces_hit_the_plane() {
    let ground = InfinitePlane3d::new(Vec3::Y);
    let cast = |origin: [f32; 3], direction: [f32; 3]| {
        let ray = Ray::new(Vec3::from_array(origin), Vec3::from_array(direction));
        [ray, ray.hollow()].map(|ray| {
            let hit = query::cast_ray(&ground, Vec3::Y, ray);
            hit.map(|hit| (hit.distance, hit.normal, hit.side))
        })
    };
    let down = Some((4.0, Vec3::Y, RaySide::Front));
    assert_eq!(cast([1e6, 5.0, 7.0], [0.0, -2.0, 0.0]), [down; 2]);
    assert_eq!(cast([0.0, 5.0, 0.0], [0.0, 1.0, 0.0]), [None; 2]);
    assert_eq!(cast([0.0, 5.0, 0.0], [1.0, 0.0, 0.0]), [None; 2]);
    let inside = |normal| Some((0.0, normal, RaySide::Inside));
    let up = Some((3.0, Vec3::NEG_Y, RaySide::Back));
    assert_eq!(
        cast([0.0, -2.0, 0.0], [0.0, 1.0, 0.0]),
        [inside(Vec3::NEG_Y), up]
    );
    assert_eq!(
        cast([0.0, -2.0, 0.0], [0.0, -1.0, 0.0]),
        [inside(Vec3::Y), None]
    );
    // The rays begin on the plane, and lead inward, along the plane and outward.
    assert_eq!(
        cast([9.0, 1.0, 9.0], [0.0, -1.0, 0.0]),
        [inside(Vec3::Y), None]
    );
    assert_eq!(cast([9.0, 1.0, 9.0], [1.0, 0.0, 0.0]), [None; 2]);
    assert_eq!(cast([9.0, 1.0, 9.0], [1.0, 1.0, 0.0]), [None; 2]);
}

/// Casts rays from points of the surface, at which the outward normals are known.
fn from_surface(name: &str, shape: &impl Support<Vector = Vec3>, points: &[(DVec3, DVec3)]) {
    let mut random = StdRng::seed_from_u64(1);
    let (mut left, mut entered) = (0, 0);
    for (point, normal) in points {
        for number in 0..200 {
            let origin = point.as_vec3();
            let direction = Vec3::random(&mut random, 1.0).normalize_or(Vec3::X);
            let direction = match number % 4 {
                0 => normal.as_vec3(),
                1 => normal.any_orthonormal_vector().as_vec3(),
                _ => direction,
            };
            let rate = direction.as_dvec3().dot(*normal);
            // Rays that are too flat are skipped, because rounding decides.
            if number % 4 > 1 && rate.abs() < 1e-2 {
                continue;
            }
            let hit = query::cast_ray(shape, Vec3::ZERO, Ray::new(origin, direction));
            let context = format!("{name} {origin} {direction} {hit:?}");
            if number % 4 < 2 && rate > -1e-9 || rate > 0.0 {
                assert!(hit.is_none(), "{context}");
                left += 1;
            } else if number % 4 > 1 {
                let near = hit.is_some_and(|hit| hit.distance <= 1e-4);
                assert!(near, "{context}");
                entered += 1;
            }
        }
    }
    let count = points.len() * 200;
    assert!(left > count / 2 && entered > count / 8, "{left} {entered}");
}

#[test]
fn rays_that_leave_a_surface_miss_it() {
    let mut random = StdRng::seed_from_u64(2);
    let mut unit = || loop {
        let point = Vec3::random(&mut random, 1.0).as_dvec3();
        if point.length() > 0.1 && point.length() < 1.0 {
            return point.normalize();
        }
    };
    let sphere: Vec<_> = (0..50).map(|_| unit()).map(|p| (0.75 * p, p)).collect();
    from_surface("sphere", &Sphere::new(0.75), &sphere);
    let face = |p: DVec3| (DVec3::new(0.5, 0.4 * p.y, 0.4 * p.z), DVec3::X);
    let faces: Vec<_> = (0..50).map(|_| face(unit())).collect();
    from_surface("cube", &Cuboid::from_length(1.0), &faces);
    let corners = [-0.5, 0.5];
    let corners = corners.map(|x| corners.map(|y| corners.map(|z| Vec3::new(x, y, z))));
    from_surface(
        "hull",
        &corners.as_flattened().as_flattened().to_vec(),
        &faces,
    );
    let side = |p: DVec3| {
        let normal = DVec3::new(p.x, 0.0, p.z).normalize();
        (0.5 * normal + DVec3::Y * p.y * 0.5, normal)
    };
    let sides: Vec<_> = (0..50).map(|_| side(unit())).collect();
    from_surface("cylinder", &Cylinder::new(0.5, 2.0), &sides);
}

#[test]
fn rays_hit_shapes_without_volume() {
    let cast = |shape: &dyn Support<Vector = Vec3>, origin: [f32; 3], direction: [f32; 3]| {
        let ray = Ray::new(Vec3::from_array(origin), Vec3::from_array(direction));
        let hit = query::cast_ray(shape, Vec3::ZERO, ray);
        assert_eq!(hit, query::cast_ray(shape, Vec3::ZERO, ray.hollow()));
        hit.map(|hit| (hit.distance, hit.normal))
    };
    let plane = Plane3d::new(Vec3::Y, Vec2::new(1.0, 2.0));
    let triangle = Triangle3d::new(Vec3::NEG_X, Vec3::X, Vec3::NEG_Z);
    let disc = Cylinder::new(1.0, 0.0);
    let sheet = Cuboid::new(2.0, 0.0, 4.0);
    let flat = [Vec3::NEG_X, Vec3::X, Vec3::NEG_Z];
    let shapes: [&dyn Support<Vector = Vec3>; 5] = [&plane, &triangle, &disc, &sheet, &flat];
    for shape in shapes {
        let (up, down) = (Some((2.0, Vec3::NEG_Y)), Some((2.0, Vec3::Y)));
        assert_eq!(cast(shape, [0.1, 2.0, -0.2], [0.0, -1.0, 0.0]), down);
        assert_eq!(cast(shape, [0.1, -2.0, -0.2], [0.0, 1.0, 0.0]), up);
        assert_eq!(cast(shape, [0.1, 2.0, -0.2], [0.0, 1.0, 0.0]), None);
        assert_eq!(cast(shape, [3.0, 2.0, -0.2], [0.0, -1.0, 0.0]), None);
        // A ray that begins at a point of the shape misses.
        assert_eq!(cast(shape, [0.1, 0.0, -0.2], [0.0, 1.0, 0.0]), None);
        // A ray in the plane of the shape hits the rim.
        let along = cast(shape, [5.0, 0.0, -0.25], [-1.0, 0.0, 0.0]);
        assert!(
            along.is_some_and(|(distance, _)| (4.0..4.5).contains(&distance)),
            "{along:?}"
        );
        assert_eq!(cast(shape, [5.0, 0.001, -0.25], [-1.0, 0.0, 0.0]), None);
    }
    let segment = Segment3d::new(Vec3::NEG_X, Vec3::X);
    let rod = Capsule3d::new(0.0, 2.0);
    assert_eq!(
        cast(&segment, [0.5, 0.0, 3.0], [0.0, 0.0, -1.0]),
        Some((3.0, Vec3::Z))
    );
    assert_eq!(cast(&segment, [0.5, 1e-3, 3.0], [0.0, 0.0, -1.0]), None);
    assert_eq!(
        cast(&segment, [3.0, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        Some((2.0, Vec3::X))
    );
    assert_eq!(
        cast(&rod, [0.0, 0.5, 3.0], [0.0, 0.0, -1.0]),
        Some((3.0, Vec3::Z))
    );
    assert_eq!(
        cast(&Sphere::new(0.0), [0.0, 0.0, 3.0], [0.0, 0.0, -1.0]),
        Some((3.0, Vec3::Z))
    );
    assert_eq!(
        cast(&Vec3::X, [1.0, 0.0, 3.0], [0.0, 0.0, -1.0]),
        Some((3.0, Vec3::Z))
    );
    assert_eq!(cast(&Vec3::X, [1.1, 0.0, 3.0], [0.0, 0.0, -1.0]), None);
}

#[test]
fn rays_hit_both_sides_of_a_2d_segment() {
    let segment = Segment2d::new(Vec2::NEG_Y, Vec2::Y);
    let cast = |x: f32, y: f32, direction: Vec2| {
        let hit = query::cast_ray(&segment, Vec2::ZERO, Ray::new(Vec2::new(x, y), direction));
        hit.map(|hit| (hit.distance, hit.normal, hit.side))
    };
    assert_eq!(
        cast(2.0, 0.5, Vec2::NEG_X),
        Some((2.0, Vec2::X, RaySide::Front))
    );
    assert_eq!(
        cast(-2.0, 0.5, Vec2::X),
        Some((2.0, Vec2::NEG_X, RaySide::Front))
    );
    assert_eq!(
        cast(-2.0, 1.0, Vec2::X),
        Some((2.0, Vec2::NEG_X, RaySide::Front))
    );
    assert_eq!(cast(-2.0, 1.001, Vec2::X), None);
    assert_eq!(cast(2.0, 0.5, Vec2::X), None);
    assert_eq!(
        cast(0.0, 3.0, Vec2::NEG_Y),
        Some((2.0, Vec2::Y, RaySide::Front))
    );
    assert_eq!(cast(0.0, 3.0, Vec2::Y), None);
    assert_eq!(cast(0.0, 0.5, Vec2::X), None);
}

#[test]
fn invalid_rays_poses_and_shapes_miss() {
    let ball = Sphere::new(1.0);
    let from = Vec3::X * 3.0;
    let is_hit = |ray| query::cast_ray(&ball, Vec3::ZERO, ray).is_some();
    assert!(is_hit(Ray::new(from, Vec3::NEG_X)));
    for length in [1e-45, 1e-30, 1e30, f32::MAX] {
        let hit = query::cast_ray(&ball, Vec3::ZERO, Ray::new(from, Vec3::NEG_X * length));
        assert_eq!(hit.map(|hit| hit.distance), Some(2.0), "{length}");
    }
    for direction in [Vec3::ZERO, Vec3::NAN, Vec3::NEG_X * f32::INFINITY] {
        assert!(!is_hit(Ray::new(from, direction)) && !is_hit(Ray::new(Vec3::ZERO, direction)));
    }
    for origin in [Vec3::NAN, Vec3::INFINITY] {
        assert!(!is_hit(Ray::new(origin, Vec3::NEG_X)));
    }
    for max in [-1.0, f32::NAN, 0.0, 1.999] {
        assert!(!is_hit(Ray::new(from, Vec3::NEG_X).with_max_distance(max)));
    }
    assert!(is_hit(Ray::new(from, Vec3::NEG_X).with_max_distance(2.0)));
    assert!(is_hit(
        Ray::new(Vec3::ZERO, Vec3::NEG_X).with_max_distance(0.0)
    ));
    assert!(!is_hit(Ray::between(from, from)) && !is_hit(Ray::between(from, from * 0.4)));
    assert!(is_hit(Ray::between(from, Vec3::ZERO)) && is_hit(Ray::between(from, Vec3::X)));
    let ray = Ray::new(from, Vec3::NEG_X);
    assert!(query::cast_ray(&ball, Vec3::NAN, ray).is_none());
    assert!(query::cast_ray(&Sphere::new(-1.0), Vec3::ZERO, ray).is_none());
    assert!(query::cast_ray(&Sphere::new(f32::NAN), Vec3::ZERO, ray).is_none());
    assert!(query::cast_ray(&Cuboid::new(f32::NAN, 1.0, 1.0), Vec3::ZERO, ray).is_none());
    assert!(query::cast_ray(&Capsule3d::new(-1.0, 1.0), Vec3::ZERO, ray).is_none());
    assert!(query::cast_ray(&[] as &[Vec3], Vec3::ZERO, ray).is_none());
    assert!(query::cast_ray(&[Vec3::NAN], Vec3::ZERO, ray).is_none());
}

#[test]
fn rays_of_bevy_are_rays() {
    let flat = Ray::from(Ray2d::new(Vec2::X, Dir2::Y));
    assert_eq!(flat, Ray::new(Vec2::X, Vec2::Y));
    let ball = Sphere::new(1.0);
    let hit = query::cast_ray(&ball, Vec3::ZERO, Ray3d::new(Vec3::X * 3.0, Dir3::NEG_X));
    assert_eq!(hit.map(|hit| hit.distance), Some(2.0));
}

#[test]
fn a_ray_between_two_points_reaches_the_plane_of_its_end() {
    let mut random = StdRng::seed_from_u64(5);
    let ground = InfinitePlane3d::new(Vec3::Y);
    for _ in 0..10_000 {
        let mut point = || Vec3::from_array(random.random()) * 20.0 - 10.0;
        let (mut start, mut end) = (point(), point());
        start.y = start.y.abs() + 0.1;
        end.y = 0.0;
        let ray = Ray::between(start, end);
        let hit = query::cast_ray(&ground, Vec3::ZERO, ray).expect("it ends on the ground");
        assert!(
            (hit.point - end).length() < 1e-5,
            "{start} to {end}: {hit:?}"
        );
    }
}

/// The step onto the plane of a face leads far beyond the face. All vertices of the simplex and the
/// position were in this plane, so that the simplex seemed to contain the position.
#[test]
fn a_ray_that_passes_near_a_hull_misses_it() {
    let signs = || [-0.5, 0.5].into_iter();
    let cube = signs().flat_map(|x| signs().map(move |y| (x, y)));
    let cube = cube.flat_map(|(x, y)| signs().map(move |z| Vec3::new(x, y, z)));
    let tips = [Vec3::X, Vec3::Y, Vec3::Z];
    let tips = tips.into_iter().flat_map(|axis| [axis, -axis]);
    let hull = ConvexHull::new(cube.chain(tips)).expect("the points have a hull");
    let cases = [
        (
            Quat::from_xyzw(0.403_101_38, 0.203_418_76, 0.331_270_28, 0.828_486_6),
            Vec3::new(0.284_570_7, -0.534_909_7, -0.316_739_32),
            Vec3::new(-0.450_594_9, -1.499_894_4, 0.045_341_97),
            Vec3::new(1.190_134, 0.649_030_15, -1.503_353_7),
        ),
        (
            Quat::from_xyzw(0.350_924_13, 0.642_066_1, 0.500_619_5, 0.462_586_28),
            Vec3::new(-0.430_994_03, -0.404_331_2, 0.358_429_2),
            Vec3::new(0.073_221_68, -0.274_696_83, -0.595_915_8),
            Vec3::new(-1.087_795_3, 0.092_496_87, 0.363_649),
        ),
    ];
    for (rotation, translation, origin, direction) in cases {
        let pose = Isometry3d::new(translation, rotation);
        let ray = Ray::new(origin, direction);
        // No point of the ray is in the hull: max(|x| + |y|, |y| + |z|, |z| + |x|) <= 1.
        for step in 0..4000 {
            let point = Vec3::local(
                &pose,
                origin.wide() + direction.wide() * (f64::from(step) * 1e-3),
            );
            let p = point.abs();
            assert!((p.x + p.y).max(p.y + p.z).max(p.z + p.x) > 1.01);
        }
        assert_eq!(query::cast_ray(&hull, pose, ray), None);
    }
}

/// Returns the distance from the frustum of revolution around y. Inside, returns the height above
/// the frustum, which is negative.
fn off_frustum(half_height: f64, top: f64, bottom: f64, point: DVec3) -> f64 {
    let above = above_frustum(half_height, top, bottom, point);
    if above <= 0.0 {
        return above;
    }
    let at = DVec2::new(point.x.hypot(point.z), point.y);
    let corners = [
        (0.0, half_height),
        (top, half_height),
        (bottom, -half_height),
        (0.0, -half_height),
    ];
    let corners = corners.map(|(x, y)| DVec2::new(x, y));
    let sides = corners.windows(2).map(|ends| {
        let (start, side) = (ends[0], ends[1] - ends[0]);
        let along = (at - start).dot(side) / side.length_squared().max(1e-300);
        at.distance(start + side * along.clamp(0.0, 1.0))
    });
    sides.fold(f64::INFINITY, f64::min)
}

/// A frustum with a margin, given only by its support function and its radius.
struct Spool {
    half_height: f64,
    top: f64,
    bottom: f64,
    margin: f64,
}

impl Support for Spool {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let side = DVec3::new(direction.x, 0.0, direction.z).normalize_or_zero();
        let upper = side * self.top + DVec3::Y * self.half_height;
        let lower = side * self.bottom - DVec3::Y * self.half_height;
        if direction.dot(upper) >= direction.dot(lower) {
            upper
        } else {
            lower
        }
    }

    fn radius(&self) -> f64 {
        self.margin
    }
}

/// Casts rays at the axis, the ends and the rim of a frustum in all its forms, and close to these
/// targets. A sharp rim is hit only from within.
fn aim_at_frustum(name: &str, [top, bottom, height]: [f32; 3], margin: f32) {
    let [upper, lower, half] = [top, bottom, 0.5 * height].map(f64::from);
    let sharp: Box<dyn Support<Vector = Vec3>> = match (top == bottom, top == 0.0) {
        (true, _) => Box::new(Cylinder::new(bottom, height)),
        (_, true) => Box::new(Cone::new(bottom, height)),
        _ => Box::new(ConicalFrustum {
            radius_top: top,
            radius_bottom: bottom,
            height,
        }),
    };
    let spool = |margin: f32| Spool {
        half_height: half,
        top: upper,
        bottom: lower,
        margin: margin.into(),
    };
    let rounded: Box<dyn Support<Vector = Vec3>> = match (top == bottom, top == 0.0) {
        (true, _) => Box::new(Rounded::new(Cylinder::new(bottom, height), margin)),
        (_, true) => Box::new(Rounded::new(Cone::new(bottom, height), margin)),
        _ => Box::new(Rounded::new(
            ConicalFrustum {
                radius_top: top,
                radius_bottom: bottom,
                height,
            },
            margin,
        )),
    };
    let forms = [
        (sharp, 0.0),
        (rounded, margin),
        (Box::new(spool(0.0)), 0.0),
        (Box::new(spool(margin)), margin),
    ];
    let mut random = StdRng::seed_from_u64(name.len() as u64);
    let mut hits = 0;
    let count = 2 * rays_per_shape();
    for number in 0..count {
        // The target is on the axis between the ends, at an end or on the rim, with a small offset
        // or none.
        let part = [0.0, 1.0, -1.0, random.random_range(-1.0..1.0), 1.0, -1.0][number as usize % 6];
        let rim = if number % 6 < 4 { 0.0 } else { 1.0 };
        let angle = random.random_range(0.0..core::f64::consts::TAU);
        let radius = rim * if part > 0.0 { upper } else { lower };
        let offset = match number / 6 % 3 {
            0 => 0.0,
            _ => 10_f64.powf(random.random_range(-12.0..-2.0)),
        };
        let aim = DVec3::new(radius * angle.cos(), half * part, radius * angle.sin());
        let aim = aim + Vec3::random(&mut random, 1.0).as_dvec3() * offset;
        let away = Vec3::random(&mut random, 1.0)
            .as_dvec3()
            .normalize_or(DVec3::X);
        // The rays are, by turns, in any direction, in a plane with the axis, along the axis and
        // across the axis.
        let away = match number / 18 % 4 {
            0 => away,
            1 => DVec3::new(0.0, away.y, away.z),
            2 => DVec3::Y.copysign(away),
            _ => DVec3::new(away.x, 0.0, away.z),
        };
        let start = aim + away.normalize_or(DVec3::X) * random.random_range(2.0..40.0);
        let shift = Vec3::random(&mut random, [1.0, 20.0][number as usize % 2]);
        for (form, margin) in &forms {
            let margin = f64::from(*margin);
            let aim = if margin > 0.0 {
                aim
            } else {
                aim * (1.0 - 1e-3)
            };
            let pose = if number % 5 == 0 {
                Isometry3d::from_translation(shift)
            } else {
                Vec3::isometry(shift, &mut random)
            };
            let world = |point: DVec3| {
                pose.rotation.as_dquat().normalize() * point
                    + Vec3::from(pose.translation).as_dvec3()
            };
            let origin = world(start).as_vec3();
            let ray = Ray::new(origin, (world(aim) - origin.as_dvec3()).as_vec3());
            let value =
                |point: DVec3| off_frustum(half, upper, lower, Vec3::local(&pose, point)) - margin;
            // The direction is rounded to f32, so the ray may pass the rim of a sharp shape.
            let direction = ray.direction.as_dvec3().normalize();
            let from = origin.as_dvec3();
            let reached = from + direction * (world(aim) - from).dot(direction);
            if value(from) < 1e-3 || value(reached) > -1e-5 {
                continue;
            }
            let hit = query::cast_ray(form.as_ref(), pose, ray);
            let context = || format!("{name} {margin} {number} {pose:?} {ray:?} {hit:?}");
            let Some(hit) = hit else {
                panic!("{}", context())
            };
            // The hit is on the surface, on the side at which the ray enters the convex shape.
            let error = value(from + direction * f64::from(hit.distance));
            assert!(error.abs() < 1e-5, "{error} {}", context());
            assert_eq!(hit.side, RaySide::Front, "{}", context());
            let ahead = value(from + direction * (f64::from(hit.distance) + 1e-3));
            let is_short = value(reached) > -1e-3;
            assert!(ahead < 0.0 || is_short, "{ahead} {}", context());
            hits += 1;
        }
    }
    assert!(hits > 3 * count, "{name}: {hits} of {}", 4 * count);
}

#[test]
fn rays_at_the_axis_and_the_rim_of_a_rounded_cylinder_hit_it() {
    aim_at_frustum("cylinder", [0.4, 0.4, 1.0], 0.1);
    aim_at_frustum("flat cylinder", [0.7, 0.7, 0.1], 0.3);
    aim_at_frustum("long cylinder", [0.1, 0.1, 2.0], 0.4);
}

#[test]
fn rays_at_the_axis_and_the_tip_of_a_rounded_cone_hit_it() {
    aim_at_frustum("cone", [0.0, 0.442_528_34, 0.827_484_4], 0.202_901_78);
    aim_at_frustum("needle", [0.0, 0.1, 1.5], 0.05);
    aim_at_frustum("frustum", [0.3, 0.6, 1.1], 0.15);
    aim_at_frustum("funnel", [0.8, 0.2, 0.4], 0.35);
}

/// Returns a place at a distance of up to 1e6 from the origin of the world. One in eight places is
/// the origin.
fn place<V: Point>(random: &mut StdRng, number: u32) -> V {
    let far = 10_f64.powf(random.random_range(0.0..6.0));
    let far = if number.is_multiple_of(8) { 0.0 } else { far };
    V::narrow(V::random(random, 1.0).wide() * far)
}

fn reflected<V: Point>(direction: V, normal: V) -> V {
    let (direction, normal) = (direction.wide(), normal.wide());
    V::narrow(direction - 2.0 * direction.dot(normal) * normal)
}

/// Reflects rays at a convex shape of size 1. The reflected rays can never hit the shape again.
fn reflect_at<V: Point>(name: &str, shape: &dyn Support<Vector = V>) {
    let mut random = StdRng::seed_from_u64(name.len() as u64);
    let mut reflections = 0;
    for number in 0..rays_per_shape() {
        let center: V = place(&mut random, number);
        let pose = if number % 3 == 0 {
            V::unrotated(center)
        } else {
            V::isometry(center, &mut random)
        };
        let away = V::random(&mut random, 1.0).wide().normalize_or(DVec3::X);
        let start = center.wide() + away * random.random_range(3.0..50.0);
        let aim = center.wide() + V::random(&mut random, 0.3).wide();
        let origin = V::narrow(start);
        let ray = Ray::new(origin, V::narrow(aim - origin.wide()));
        let Some(hit) = query::cast_ray(shape, pose, ray) else {
            continue;
        };
        let rate = hit.normal.wide().dot(ray.direction.wide().normalize());
        if hit.side != RaySide::Front || rate > -1e-3 {
            continue;
        }
        let out = Ray::new(hit.point, reflected(ray.direction, hit.normal));
        for out in [out, out.hollow()] {
            let again = query::cast_ray(shape, pose, out);
            assert_eq!(
                again, None,
                "{name} {number}: {pose:?} {ray:?} {hit:?} {out:?}"
            );
        }
        reflections += 1;
    }
    assert!(reflections > rays_per_shape() / 4, "{name}: {reflections}");
}

#[test]
fn a_ray_that_is_reflected_at_a_shape_never_hits_it_again() {
    reflect_at::<Vec2>("circle", &Circle::new(0.5));
    reflect_at::<Vec2>("rectangle", &Rectangle::new(1.0, 0.7));
    reflect_at::<Vec2>(
        "segment 2d",
        &Segment2d::new(Vec2::new(-0.5, -0.1), Vec2::new(0.5, 0.2)),
    );
    reflect_at::<Vec2>("platform", &Segment2d::new(Vec2::NEG_X, Vec2::X));
    reflect_at::<Vec2>("capsule 2d", &Capsule2d::new(0.3, 0.8));
    reflect_at::<Vec2>("ellipse", &Ellipse::new(1.0, 0.3));
    reflect_at::<Vec2>("rounded", &Rounded::new(Rectangle::new(1.0, 0.7), 0.2));
    reflect_at::<Vec3>("sphere", &Sphere::new(0.5));
    reflect_at::<Vec3>("cuboid", &Cuboid::new(1.0, 0.7, 0.4));
    reflect_at::<Vec3>(
        "wall thinner than the rounding",
        &Cuboid::new(2.0, 2.0, 1e-3),
    );
    reflect_at::<Vec3>("cylinder", &Cylinder::new(0.5, 1.0));
    reflect_at::<Vec3>("cone", &Cone::new(0.7, 1.0));
    reflect_at::<Vec3>(
        "rounded cylinder",
        &Rounded::new(Cylinder::new(0.4, 0.5), 0.1),
    );
    let triangle = Triangle3d::new(
        Vec3::new(-1.0, 0.0, 1.0),
        Vec3::X,
        Vec3::new(0.0, 0.5, -1.0),
    );
    reflect_at::<Vec3>("triangle", &triangle);
    reflect_at::<Vec3>("egg", &Egg(DVec3::new(1.0, 0.5, 0.25)));
    reflect_at::<Vec3>(
        "half-space",
        &InfinitePlane3d::new(Vec3::new(0.1, 1.0, 0.2)),
    );
}

#[test]
fn a_ray_that_is_reflected_at_a_facet_does_not_hit_it_again() {
    let polyline =
        Collider::polyline([[-0.5, -0.1], [0.0, 0.3], [0.5, 0.2], [0.8, 0.2]].map(Vec2::from));
    let square = [
        [-0.5, -0.5],
        [0.5, -0.5],
        [0.5, 0.5],
        [-0.5, 0.5],
        [-0.5, -0.5],
    ];
    let square = Collider::polyline(square.map(Vec2::from));
    let heights: Vec<f32> = (0..25)
        .map(|index| ((index * 7) % 5) as f32 * 0.1)
        .collect();
    let terrain = Collider::heightfield(Vec2::splat(2.0), 5, &heights);
    // The rays hit the tetrahedron from outside and from within.
    let tips = [
        Vec3::new(-0.5, -0.5, -0.5),
        Vec3::new(0.5, -0.5, -0.5),
        Vec3::new(0.0, -0.5, 0.5),
        Vec3::Y,
    ];
    let closed = Collider::trimesh(
        tips.to_vec(),
        vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
    );
    reflect_at_facets::<Vec2>("polyline", &polyline);
    reflect_at_facets::<Vec2>("square", &square);
    reflect_at_facets::<Vec3>("terrain", &terrain);
    reflect_at_facets::<Vec3>("closed mesh", &closed);
}

fn reflect_at_facets<V: Point>(name: &str, collider: &Collider)
where
    Collider: query::RayTarget<V>,
{
    let mut random = StdRng::seed_from_u64(name.len() as u64);
    let (mut fronts, mut backs) = (0, 0);
    for number in 0..4 * rays_per_shape() {
        let center: V = place(&mut random, number);
        let scale = [
            Vec3::ONE,
            Vec3::ONE,
            Vec3::new(2.0, 0.5, 1.5),
            Vec3::new(-1.0, 1.0, 1.0),
        ];
        let angle = if number % 3 == 0 {
            0.0
        } else {
            random.random_range(-3.0..3.0)
        };
        let pose = Transform {
            translation: center.wide().as_vec3(),
            rotation: Quat::from_rotation_z(angle),
            scale: scale[number as usize / 3 % 4],
        };
        let away = V::random(&mut random, 1.0).wide().normalize_or(DVec3::X);
        let start = center.wide() + away * 10_f64.powf(random.random_range(-1.5..1.3));
        let aim = center.wide() + V::random(&mut random, 0.3).wide();
        let origin = V::narrow(start);
        let ray = Ray::new(origin, V::narrow(aim - origin.wide()));
        let Some(hit) = query::cast_ray(collider, pose, ray) else {
            continue;
        };
        if hit.normal.wide().dot(ray.direction.wide().normalize()) > -1e-3 {
            continue;
        }
        let out = Ray::new(hit.point, reflected(ray.direction, hit.normal));
        let again = query::cast_ray(collider, pose, out);
        let context = || format!("{name} {number}: {pose:?} {ray:?} {hit:?} {out:?} {again:?}");
        assert!(
            again.is_none_or(|again| again.part != hit.part),
            "{}",
            context()
        );
        // The reflected ray does not hit a neighbor from behind at once, either.
        if hit.side == RaySide::Front {
            let is_behind = |again: RayHit<V>| again.side == RaySide::Back && again.distance == 0.0;
            assert!(!again.is_some_and(is_behind), "{}", context());
            fronts += 1;
        } else {
            backs += 1;
        }
    }
    let count = rays_per_shape();
    assert!(
        fronts > count / 2 && backs > count / 8,
        "{name}: {fronts} {backs}"
    );
}

#[test]
fn a_ray_that_goes_on_where_another_one_hit_is_in_the_shape() {
    let mut random = StdRng::seed_from_u64(3);
    let (ball, radius) = (Sphere::new(0.5), 0.5);
    let ground = InfinitePlane3d::new(Vec3::Y);
    let mut judged = 0;
    for number in 0..rays_per_shape() {
        let center: Vec3 = place(&mut random, number);
        let away = Vec3::random(&mut random, 1.0).normalize_or(Vec3::X);
        let origin = center + away * random.random_range(2.0..50.0);
        let aim = center.as_dvec3() + Vec3::random(&mut random, 0.3).as_dvec3();
        let ray = Ray::new(origin, (aim - origin.as_dvec3()).as_vec3());
        let ulp = 1.2e-7 * f64::from(center.abs().max_element());
        let Some(hit) = query::cast_ray(&ball, center, ray) else {
            continue;
        };
        // The length of the chord depends on the line's angle with the surface. So does the
        // distance by which rounding moves the ends of the chord.
        let sine = -hit
            .normal
            .as_dvec3()
            .dot(ray.direction.as_dvec3().normalize());
        let error = 1e-6 + 8.0 * ulp / sine;
        if sine < 0.2 || error > 0.1 * radius {
            continue;
        }
        let on = Ray::new(hit.point, ray.direction);
        let solid =
            query::cast_ray(&ball, center, on).map(|hit| (f64::from(hit.distance), hit.side));
        let is_at_once = |(distance, side)| distance <= error && side != RaySide::Back;
        assert!(solid.is_some_and(is_at_once), "{number} {hit:?} {solid:?}");
        let hollow = query::cast_ray(&ball, center, on.hollow());
        let is_far_side = |far: RayHit<Vec3>| {
            let chord = f64::from(far.distance) - 2.0 * radius * sine;
            far.side == RaySide::Back && chord.abs() <= error
        };
        assert!(
            hollow.is_some_and(is_far_side),
            "{number} {hit:?} {hollow:?}"
        );
        if ray.direction.normalize().y < -0.1 {
            let hit = query::cast_ray(&ground, center - 100.0 * Vec3::Y, ray)
                .expect("the ground is below");
            let on = Ray::new(hit.point, ray.direction).hollow();
            assert_eq!(
                query::cast_ray(&ground, center - 100.0 * Vec3::Y, on),
                None,
                "{hit:?}"
            );
        }
        judged += 1;
    }
    assert!(judged > rays_per_shape() / 4, "{judged}");
}

/// Returns a wall, solid or without volume, whose outer side is at x = 0 and faces +x.
fn walls() -> [(&'static str, Collider, bool); 5] {
    let (low, high) = (Vec2::splat(-4.0), Vec2::splat(4.0));
    let corners = [
        [0.0, low.y, low.y],
        [0.0, high.y, low.y],
        [0.0, high.y, high.y],
        [0.0, low.y, high.y],
    ];
    let mesh = Collider::trimesh(corners.map(Vec3::from).to_vec(), vec![[0, 1, 2], [0, 2, 3]]);
    let slab = Collider::compound([(
        Isometry3d::from_translation(Vec3::NEG_X),
        Collider::cuboid(2.0, 8.0, 8.0),
    )]);
    let hull = corners
        .into_iter()
        .flat_map(|[_, y, z]| [Vec3::new(0.0, y, z), Vec3::new(-1.0, y, z)]);
    [
        ("mesh", mesh, false),
        ("slab", slab, true),
        ("hull", Collider::convex_hull(hull), true),
        ("half-space", Collider::half_space(Vec3::X), true),
        (
            "triangle",
            Collider::from(Triangle3d::new(
                Vec3::new(0.0, -9.0, -9.0),
                Vec3::new(0.0, 9.0, -9.0),
                Vec3::new(0.0, 0.0, 9.0),
            )),
            false,
        ),
    ]
}

#[test]
fn a_ray_that_begins_within_the_rounding_of_a_wall_hits_it_going_in_and_not_going_out() {
    let mut random = StdRng::seed_from_u64(4);
    let mut judged = 0;
    for (name, wall, is_solid) in walls() {
        for number in 0..rays_per_shape() {
            let center: Vec3 = place(&mut random, number);
            let center = center.with_x(1.0 + center.x.abs());
            let mut direction = Vec3::random(&mut random, 1.0);
            direction.x = direction.x.abs().max(0.1);
            let shift = Vec3::new(
                0.0,
                random.random_range(-1.0..1.0),
                random.random_range(-1.0..1.0),
            );
            let at = |x: f32| (center + shift).with_x(x);
            let cast = |origin: Vec3, direction: Vec3| {
                query::cast_ray(&wall, center, Ray::new(origin, direction))
            };
            // The ray begins at most four rounding steps in front of the wall.
            let mut front = center.x.next_up();
            for _ in 0..number % 4 {
                front = front.next_up();
            }
            let hit = cast(at(front), -direction);
            let distance =
                f64::from(front - center.x) * f64::from(direction.length() / direction.x);
            let is_there = |hit: RayHit<Vec3>| {
                let error = f64::from(hit.distance) - distance;
                hit.side == RaySide::Front
                    && hit.normal == Vec3::X
                    && error.abs() <= 1e-5 * distance
            };
            let context = || format!("{name} {number} {center} {front} {direction} {hit:?}");
            assert!(hit.is_some_and(is_there), "{}", context());
            assert_eq!(cast(at(front), direction), None, "{}", context());
            // These points are on the wall, and one rounding step behind the wall.
            let behind = [center.x, center.x.next_down()];
            for x in behind {
                let left = cast(at(x), direction);
                // If a ray begins behind a facet, nothing shows from which side it comes.
                if is_solid || x == center.x {
                    assert_eq!(left, None, "{x} {}", context());
                }
                let entered = cast(at(x), -direction).map(|hit| (hit.distance, hit.side));
                if is_solid {
                    assert_eq!(entered, Some((0.0, RaySide::Inside)), "{x} {}", context());
                }
            }
            judged += 1;
        }
    }
    assert_eq!(judged, 5 * rays_per_shape());
}

/// In f32, the sums of multiples of 1/64 below 8 and shifts by up to 2^17 are exact.
#[test]
fn a_shift_of_the_scene_by_a_power_of_two_changes_no_hit() {
    let mut random = StdRng::seed_from_u64(6);
    let (mut hits, mut misses) = (0, 0);
    let heights: Vec<f32> = (0..25)
        .map(|index| ((index * 7) % 5) as f32 * 0.3)
        .collect();
    let colliders = [
        Collider::sphere(0.75),
        Collider::cuboid(1.0, 2.0, 0.5),
        Collider::cylinder(0.5, 1.0).rounded(0.25),
        Collider::cone(0.5, 1.0),
        Collider::capsule_3d(0.25, 1.0),
        Collider::heightfield(Vec2::splat(4.0), 5, &heights),
    ];
    for number in 0..4 * rays_per_shape() {
        let collider = &colliders[number as usize % colliders.len()];
        let mut on_grid = |size: f32| (Vec3::random(&mut random, size) * 64.0).round() / 64.0;
        let (center, origin) = (on_grid(2.0), on_grid(8.0));
        let direction = center + on_grid(1.0) - origin;
        let pose = Transform {
            translation: center,
            rotation: Quat::from_scaled_axis(on_grid(2.0)),
            scale: if number % 2 == 0 {
                Vec3::ONE
            } else {
                Vec3::new(1.0, -0.5, 2.0)
            },
        };
        let axis = [Vec3::X, Vec3::NEG_Y, Vec3::Z][number as usize % 3];
        let shift = axis * 2_f32.powi(random.random_range(4..=17));
        let cast = |shift: Vec3| {
            let pose = pose.with_translation(pose.translation + shift);
            query::cast_ray(collider, pose, Ray::new(origin + shift, direction))
        };
        let (here, there) = (cast(Vec3::ZERO), cast(shift));
        let (Some(here), Some(there)) = (here, there) else {
            let is_at_origin = |hit: RayHit<Vec3>| hit.distance < 1e-3;
            if !here.or(there).is_some_and(is_at_origin) {
                assert_eq!(here, there, "{number} {shift}");
                misses += 1;
            }
            continue;
        };
        // If a ray begins on the surface, the rounding of its origin decides.
        if here.distance.min(there.distance) < 1e-3 {
            assert!(here.distance.max(there.distance) < 0.1, "{number} {shift}");
            continue;
        }
        let same = |hit: RayHit<Vec3>| (hit.distance, hit.normal, hit.side, hit.part);
        assert_eq!(same(here), same(there), "{number} {shift}");
        let error = there.point.as_dvec3() - shift.as_dvec3() - here.point.as_dvec3();
        let ulp = 1.2e-7 * f64::from(shift.length() + 16.0);
        assert!(
            error.abs().max_element() <= 2.0 * ulp,
            "{number} {shift} {here:?} {there:?}"
        );
        hits += 1;
    }
    let count = rays_per_shape();
    assert!(hits > count && misses > count / 8, "{hits} {misses}");
}
