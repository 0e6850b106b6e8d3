//! Compares rays against meshes, compounds and scaled colliders with the crossing of each triangle
//! and with the chord of each shape. For long runs:
//!
//! ```text
//! HEADBUTT_RAYS=1000000 cargo test --release --lib collider_query::ray
//! ```

#[path = "../../../tests/support/cases.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod cases;

use bevy::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{ray_at_collider, visit_ray_at_collider};
use crate::{
    Collider, Dimension,
    collider::entity_pose,
    math::{DMat3, DVec3},
    placed::PlacedCollider,
    query::{Ray, RayHit, RaySide},
};

/// Returns the number of random rays at each mesh: `HEADBUTT_RAYS`, by default 20,000.
fn ray_count() -> u32 {
    cases::number("HEADBUTT_RAYS").unwrap_or(20_000) as u32
}

/// Returns a collider placed under the transforms of its ancestors, the root first.
fn place<V: Dimension>(collider: &Collider, transforms: &[Transform]) -> Option<PlacedCollider<V>> {
    let mut world = World::new();
    let mut entity = world.spawn_empty().id();
    for transform in transforms {
        entity = world.spawn((*transform, ChildOf(entity))).id();
    }
    let pose = entity_pose::<V>(&world, entity).ok()?;
    let shape = V::body_of(collider.shape())?;
    Some(PlacedCollider::new(shape, pose).ok()?.0)
}

fn cast<V: Dimension>(placed: &PlacedCollider<V>, ray: Ray<V>) -> Option<RayHit<V>> {
    let ray = ray.in_f64()?;
    Some(ray.hit_in_world(&ray_at_collider(placed, &ray)?))
}

fn point(random: &mut StdRng, size: f32) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.random_range(-size..size)))
}

/// Returns the transforms of a parent and a child. `number` selects their map: a rotation (0), a
/// uniform scale (1), a scale that may mirror (2), or a shear (3).
fn transforms(random: &mut StdRng, number: u32) -> [Transform; 2] {
    let mut transform = |scale: Vec3| {
        let axis = point(random, 1.0).normalize_or(Vec3::X);
        Transform {
            translation: point(random, 3.0),
            rotation: Quat::from_axis_angle(axis, random.random_range(-3.0..3.0)),
            scale,
        }
    };
    let scale = Vec3::new(-0.5, 1.5, 3.0);
    match number % 4 {
        0 => [transform(Vec3::ONE), transform(Vec3::ONE)],
        1 => [transform(Vec3::splat(0.25)), transform(Vec3::ONE)],
        2 => [transform(Vec3::ONE), transform(scale)],
        _ => [transform(scale), transform(scale.zxy())],
    }
}

/// Returns the affine map of a parent and a child.
fn affine([parent, child]: &[Transform; 2]) -> (DMat3, DVec3) {
    let [outer, inner] = [parent, child].map(|transform| {
        let rotation = DMat3::from_quat(transform.rotation.as_dquat().normalize());
        rotation * DMat3::from_diagonal(transform.scale.as_dvec3())
    });
    let translation = outer * child.translation.as_dvec3() + parent.translation.as_dvec3();
    (outer * inner, translation)
}

/// A mesh and its triangles.
struct Triangles {
    vertices: Vec<Vec3>,
    indices: Vec<[u32; 3]>,
}

impl Triangles {
    fn corners(&self) -> impl Iterator<Item = [Vec3; 3]> {
        let corner = |index: u32| self.vertices.get(index as usize).copied();
        self.indices
            .iter()
            .map(move |indices| indices.map(|index| corner(index).unwrap_or(Vec3::NAN)))
    }

    fn collider(&self) -> Collider {
        Collider::trimesh(self.vertices.clone(), self.indices.clone())
    }

    /// Returns an octahedron whose triangles are divided in four `depth` times. `place` moves each
    /// vertex.
    fn octahedron(depth: u32, place: impl Fn(Vec3) -> Vec3) -> Self {
        let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
        let top = [[x, y, z], [y, -x, z], [-x, -y, z], [-y, x, z]];
        let bottom = top.map(|[a, b, c]| [b, a, -c]);
        let mut triangles: Vec<[Vec3; 3]> = top.into_iter().chain(bottom).collect();
        for _ in 0..depth {
            let divided = triangles.iter().flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [*a + *b, *b + *c, *c + *a].map(|sum| sum * 0.5);
                [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]]
            });
            triangles = divided.collect();
        }
        Self {
            vertices: triangles.iter().flatten().copied().map(place).collect(),
            indices: (0..triangles.len() as u32)
                .map(|index| [3 * index, 3 * index + 1, 3 * index + 2])
                .collect(),
        }
    }

    fn sphere() -> Self {
        Self::octahedron(4, Vec3::normalize)
    }

    /// The octahedron |x| + |y| + |z| = 1 becomes the cube of half extent 1.
    fn cube() -> Self {
        Self::octahedron(3, |point| point / point.abs().max_element())
    }
}

/// Returns the t at which a line crosses a triangle (Möller and Trumbore). Barycentric coordinates
/// down to -`larger` count as inside.
fn crossing(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3], larger: f64) -> Option<f64> {
    let (to_b, to_c, offset) = (b - a, c - a, origin - a);
    let across = direction.cross(to_c);
    let volume = to_b.dot(across);
    let second = offset.cross(to_b);
    let (u, v) = (offset.dot(across) / volume, direction.dot(second) / volume);
    let is_inside = u >= -larger && v >= -larger && u + v <= 1.0 + larger;
    is_inside.then(|| to_c.dot(second) / volume)
}

#[test]
fn rays_at_edges_and_vertices_of_a_closed_mesh_never_pass() {
    let mut random = StdRng::seed_from_u64(1);
    for mesh in [Triangles::sphere(), Triangles::cube()] {
        let collider = mesh.collider();
        let corners: Vec<_> = mesh.corners().collect();
        let mut casts = 0;
        for map in 0..8 {
            let transforms = transforms(&mut random, map);
            let (linear, translation) = affine(&transforms);
            let placed = place::<Vec3>(&collider, &transforms);
            assert!(placed.is_some());
            for _ in 0..ray_count() / 8 {
                let Some(placed) = &placed else { continue };
                let triangle = corners.get(random.random_range(0..corners.len()));
                let [a, b, _] = triangle.copied().unwrap_or_default();
                let part = match random.random_range(0..3) {
                    0 => 0.0,
                    1 => 0.5,
                    _ => random.random(),
                };
                let aim = linear * a.lerp(b, part).as_dvec3() + translation;
                let from = linear * point(&mut random, 0.5).as_dvec3() + translation;
                let ray = Ray::new(from.as_vec3(), (aim - from).as_vec3());
                let hit = cast(placed, ray);
                let distance = (aim - from).length() as f32;
                let is_there =
                    hit.is_some_and(|hit| (hit.distance - distance).abs() < 1e-3 * distance);
                assert!(is_there, "{map} {ray:?} {hit:?} {distance}");
                assert!(hit.is_some_and(|hit| hit.side == RaySide::Back));
                casts += 1;
            }
        }
        assert_eq!(casts, ray_count() / 8 * 8);
    }
}

#[test]
fn rays_at_edges_and_vertices_of_a_height_field_never_pass() {
    let mut random = StdRng::seed_from_u64(2);
    let columns = 40;
    let heights: Vec<f32> = (0..columns * columns)
        .map(|_| random.random_range(0.0..1.0))
        .collect();
    let collider = Collider::heightfield(Vec2::splat(20.0), columns, &heights);
    let placed = place::<Vec3>(&collider, &[Transform::from_xyz(100.0, 0.0, 50.0)]);
    assert!(placed.is_some());
    let step = 20.0 / (columns - 1) as f32;
    let mut casts = 0;
    for _ in 0..ray_count() {
        let Some(placed) = &placed else { continue };
        // The target is at a vertex of the grid, on a grid line, or between grid lines.
        let mut place = || match random.random_range(0..2) {
            0 => random.random_range(1..columns - 1) as f32 * step - 10.0,
            _ => random.random_range(-9.0..9.0),
        };
        let aim = Vec3::new(100.0 + place(), 0.0, 50.0 + place());
        let up = Vec3::new(0.0, 2.0, 0.0);
        let slant = if random.random() { 0.0 } else { 0.2 };
        let from = aim + up + point(&mut random, 1.0) * slant;
        let hit = cast(placed, Ray::new(from, -up));
        let is_hit = hit.is_some_and(|hit| (-0.01..1.01).contains(&hit.point.y));
        assert!(is_hit, "{from} {hit:?}");
        let hit = cast(placed, Ray::new(from - 4.0 * up, up));
        assert!(
            hit.is_some_and(|hit| hit.side == RaySide::Back),
            "{from} {hit:?}"
        );
        casts += 1;
    }
    assert_eq!(casts, ray_count());
}

#[test]
fn rays_at_a_soup_of_triangles_hit_the_first() {
    let mut random = StdRng::seed_from_u64(3);
    let vertices = (0..900).map(|number| {
        let center = point(&mut StdRng::seed_from_u64(number / 3), 2.0);
        center + point(&mut random, 0.5)
    });
    let soup = Triangles {
        vertices: vertices.collect(),
        indices: (0..300)
            .map(|index| [3 * index, 3 * index + 1, 3 * index + 2])
            .collect(),
    };
    let (collider, corners) = (soup.collider(), soup.corners().collect::<Vec<_>>());
    let (mut hits, mut backs) = (0, 0);
    let casts = ray_count() / 10;
    for number in 0..casts {
        let transforms = transforms(&mut random, number);
        let (linear, translation) = affine(&transforms);
        let mapped = |point: Vec3| linear * point.as_dvec3() + translation;
        let from = mapped(point(&mut random, 4.0)).as_vec3();
        let ray = Ray::new(from, mapped(point(&mut random, 2.0)).as_vec3() - from);
        let (origin, direction) = (from.as_dvec3(), ray.direction.as_dvec3().normalize());
        let all = |larger: f64| {
            let triangles = corners.iter().map(|corners| corners.map(mapped));
            let crossings = triangles.map(|it| crossing(origin, direction, it, larger));
            let crossings = crossings.map(|t| t.filter(|t| *t > 1e-5)).zip(0_u32..);
            crossings
                .filter_map(|(t, index)| Some((t?, index)))
                .collect::<Vec<_>>()
        };
        let least = |found: &[(f64, u32)]| {
            let distances = found.iter().map(|(distance, _)| *distance);
            distances.fold(f64::INFINITY, f64::min)
        };
        let (inner, outer) = (all(-1e-7), all(1e-7));
        let placed = place::<Vec3>(&collider, &transforms);
        assert!(placed.is_some());
        let Some(placed) = placed else { continue };
        let hit = cast(&placed, ray);
        let distance = hit.map_or(f64::INFINITY, |hit| hit.distance.into());
        let (first, last) = (least(&outer), least(&inner));
        let tolerance = 1e-6 * (1.0 + distance.min(1e3));
        assert!(
            distance >= first - tolerance && (last.is_infinite() || distance <= last + tolerance),
            "{number}: {first} {distance} {last}"
        );
        // Every triangle that the ray crosses is visited.
        let mut visited = Vec::new();
        if let Some(ray) = ray.in_f64() {
            visit_ray_at_collider(&placed, &ray, |hit| {
                visited.push(hit.part);
                ray.max
            });
        }
        visited.sort_unstable();
        let parts = |all: &[(f64, u32)]| all.iter().map(|(_, part)| *part).collect::<Vec<_>>();
        assert!(
            parts(&inner).iter().all(|part| visited.contains(part)),
            "{number}"
        );
        assert!(
            visited.iter().all(|part| parts(&outer).contains(part)),
            "{number}"
        );
        if let Some(hit) = hit
            && let Some([a, b, c]) = corners.get(hit.part as usize)
        {
            let outward = (*b - *a).as_dvec3().cross((*c - *a).as_dvec3());
            let outward = (linear.inverse().transpose() * outward).normalize();
            let side = if outward.dot(direction) < 0.0 {
                RaySide::Front
            } else {
                RaySide::Back
            };
            assert_eq!(hit.side, side, "{number}");
            let normal = outward * -outward.dot(direction).signum();
            assert!((hit.normal.as_dvec3() - normal).length() < 1e-5, "{number}");
            hits += 1;
            backs += u32::from(side == RaySide::Back);
            // A ray hits only the outer side of a one-sided mesh.
            let placed = self::place::<Vec3>(&collider.clone().one_sided(), &transforms);
            let one_sided = placed.and_then(|placed| cast(&placed, ray));
            assert!(
                one_sided.is_none_or(|hit| hit.side == RaySide::Front),
                "{number}"
            );
            assert_eq!(side == RaySide::Front, one_sided == Some(hit), "{number}");
        }
    }
    assert!(hits > casts / 4 && backs > casts / 20, "{hits} {backs}");
}

/// A convex function of a point in a shape's frame, which is negative inside.
type Height = fn(DVec3) -> f64;

#[test]
fn rays_at_scaled_shapes_and_compounds_end_on_their_surface() {
    let shapes: [(Collider, Height); 6] = [
        (Collider::sphere(0.75), |p| p.length() - 0.75),
        (Collider::cuboid(1.0, 0.5, 1.5), |p| {
            (p.abs() - DVec3::new(0.5, 0.25, 0.75)).max_element()
        }),
        (Collider::capsule_3d(0.25, 1.0), |p| {
            (p - DVec3::Y * p.y.clamp(-0.5, 0.5)).length() - 0.25
        }),
        (Collider::cylinder(0.5, 1.0), |p| {
            (p.y.abs() - 0.5).max(p.x.hypot(p.z) - 0.5)
        }),
        (Collider::cuboid(1.0, 0.5, 1.5).rounded(0.25), |p| {
            let beyond = p.abs() - DVec3::new(0.5, 0.25, 0.75);
            beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0) - 0.25
        }),
        (
            Collider::convex_hull([Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z]),
            |p| p.abs().element_sum() - 1.0,
        ),
    ];
    let mut random = StdRng::seed_from_u64(4);
    let (mut hits, mut inside) = (0, 0);
    for number in 0..ray_count() / 4 {
        let [first, second] = [(); 2].map(|()| random.random_range(0..shapes.len()));
        let (Some((a, above_a)), Some((b, above_b))) = (shapes.get(first), shapes.get(second))
        else {
            continue;
        };
        let transforms = transforms(&mut random, number);
        let (linear, translation) = affine(&transforms);
        // The collider is a compound of both shapes, or the first shape alone.
        let shift = Vec3::new(0.75, -0.5, 0.25);
        let is_compound = number % 2 == 0;
        let collider = if is_compound {
            let poses = [Vec3::ZERO, shift].map(Isometry3d::from_translation);
            Collider::compound(poses.into_iter().zip([a.clone(), b.clone()]))
        } else {
            a.clone()
        };
        let above = |point: DVec3| {
            let local = linear.inverse() * (point - translation);
            let second = above_b(local - shift.as_dvec3());
            let second = if is_compound { second } else { f64::INFINITY };
            above_a(local).min(second)
        };
        let mapped = |point: Vec3| (linear * point.as_dvec3() + translation).as_vec3();
        let from = mapped(point(&mut random, 2.0));
        let ray = Ray::new(from, mapped(point(&mut random, 1.0)) - from);
        let (origin, direction) = (from.as_dvec3(), ray.direction.as_dvec3().normalize());
        let placed = place::<Vec3>(&collider, &transforms);
        assert!(placed.is_some());
        let hit = placed.and_then(|placed| cast(&placed, ray));
        let context = || format!("{number} {first} {second} {hit:?}");
        if above(origin) < -1e-5 {
            let side = hit.map(|hit| (hit.distance, hit.side));
            assert_eq!(side, Some((0.0, RaySide::Inside)), "{}", context());
            inside += 1;
            continue;
        }
        if above(origin) < 1e-4 {
            continue;
        }
        let end = hit.map_or(40.0, |hit| f64::from(hit.distance));
        // All points before the end are outside the shapes, and the end is on the surface.
        for step in 0..200 {
            let t = end * (f64::from(step) + random.random::<f64>()) / 200.0;
            let height = above(origin + direction * t);
            assert!(height > -1e-5, "{t} {height} {}", context());
        }
        if let Some(hit) = hit {
            let height = above(origin + direction * end);
            assert!(height.abs() < 1e-5 * (1.0 + end), "{height} {}", context());
            assert_eq!(hit.side, RaySide::Front, "{}", context());
            // The hit's normal points out of the shape, and opposes the ray.
            let outside = origin + direction * end + hit.normal.as_dvec3() * 1e-3;
            let local = linear.inverse() * (outside - translation);
            let outside = if hit.part == 0 {
                above_a(local)
            } else {
                above_b(local - shift.as_dvec3())
            };
            assert!(outside > -1e-5, "{outside} {}", context());
            assert!(hit.normal.as_dvec3().dot(direction) < 1e-6, "{}", context());
            hits += 1;
        }
    }
    assert!(
        hits > ray_count() / 20 && inside > ray_count() / 200,
        "{hits} {inside}"
    );
}

#[test]
fn rays_at_flattened_colliders_hit_their_image() {
    let flattened = [Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))];
    let mesh = Triangles::sphere().collider();
    let compound = Collider::compound([(Isometry3d::IDENTITY, Collider::sphere(1.0))]);
    for collider in [
        Collider::sphere(1.0),
        Collider::cylinder(1.0, 1.0),
        mesh,
        compound,
    ] {
        let placed = place::<Vec3>(&collider, &flattened);
        assert!(placed.is_some());
        let cast = |x: f32, direction: Vec3| {
            let ray = Ray::new(Vec3::new(x, 2.0, 0.2), direction);
            let hit = placed.as_ref().and_then(|placed| cast(placed, ray));
            hit.map(|hit| (hit.distance, hit.normal))
        };
        assert_eq!(cast(0.3, Vec3::NEG_Y), Some((2.0, Vec3::Y)));
        assert_eq!(cast(0.3, Vec3::Y), None);
        assert_eq!(cast(1.1, Vec3::NEG_Y), None);
    }
}

#[test]
fn rays_that_leave_a_mesh_from_a_point_of_it_miss_that_facet() {
    let cube = Triangles::cube().collider();
    let placed = place::<Vec3>(&cube, &[Transform::IDENTITY]);
    assert!(placed.is_some());
    let cast = |x: f32, direction: Vec3| {
        let ray = Ray::new(Vec3::new(x, 0.3, 0.2), direction);
        let hit = placed.as_ref().and_then(|placed| cast(placed, ray));
        hit.map(|hit| (hit.distance, hit.side))
    };
    for rounding in [0.0, 6e-8, -6e-8] {
        assert_eq!(cast(1.0 + rounding, Vec3::X), None);
        assert_eq!(cast(1.0 + rounding, Vec3::new(0.1, 0.9, 0.0)), None);
    }
    assert_eq!(cast(1.0, Vec3::NEG_X), Some((0.0, RaySide::Front)));
    assert_eq!(cast(0.5, Vec3::X), Some((0.5, RaySide::Back)));
}

#[test]
fn rays_at_a_rounded_surface_hit_the_margin() {
    let flat = Triangles {
        vertices: vec![Vec3::ZERO, Vec3::Z, Vec3::X],
        indices: vec![[0, 1, 2]],
    };
    let collider = flat.collider().rounded(0.25);
    let cast = |collider: &Collider, y: f32, direction: Vec3| {
        let placed = place::<Vec3>(collider, &[Transform::IDENTITY])?;
        let hit = cast(&placed, Ray::new(Vec3::new(0.25, y, 0.25), direction))?;
        Some((hit.distance, hit.normal, hit.side))
    };
    let (up, down) = (Vec3::Y, Vec3::NEG_Y);
    assert_eq!(cast(&collider, 2.0, down), Some((1.75, up, RaySide::Front)));
    assert_eq!(cast(&collider, -2.0, up), Some((1.75, down, RaySide::Back)));
    assert_eq!(cast(&collider, 0.1, down), Some((0.0, up, RaySide::Inside)));
    let one_sided = collider.one_sided();
    assert_eq!(
        cast(&one_sided, 2.0, down),
        Some((1.75, up, RaySide::Front))
    );
    assert_eq!(cast(&one_sided, -2.0, up), None);
}

#[test]
fn rays_never_pass_between_the_segments_of_a_polyline() {
    let mut random = StdRng::seed_from_u64(5);
    let corner = |index: u32| {
        let angle = index as f32 * 0.1;
        Vec2::new(angle.cos(), angle.sin()) * (1.0 + 0.2 * (7.0 * angle).sin())
    };
    let corners: Vec<Vec2> = (0..63).map(corner).collect();
    let closed = corners.iter().chain(corners.first()).copied();
    let placed = place::<Vec2>(
        &Collider::polyline(closed),
        &[Transform::from_xyz(9.0, 5.0, 0.0)],
    );
    assert!(placed.is_some());
    let center = Vec2::new(9.0, 5.0);
    let mut casts = 0;
    for number in 0..ray_count() {
        let Some(placed) = &placed else { continue };
        let from = center + point(&mut random, 0.3).truncate();
        let aim = corners.get(number as usize % corners.len());
        let aim = aim.map_or(center, |aim| center + *aim);
        let hit = cast(placed, Ray::new(from, aim - from));
        let distance = (aim - from).length();
        let is_there = hit.is_some_and(|hit| hit.distance < distance + 1e-5);
        assert!(is_there, "{from} {aim} {hit:?}");
        // The corners are counter-clockwise, so a ray from inside hits the back.
        assert!(
            hit.is_some_and(|hit| hit.side == RaySide::Back),
            "{from} {aim} {hit:?}"
        );
        casts += 1;
    }
    assert_eq!(casts, ray_count());
}
