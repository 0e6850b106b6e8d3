//! Meshes, polylines and height fields in ticks: the surface has contacts, and its seams have none.
//! The tests use more than a hundred thousand positions of shapes, on floors that are flat,
//! rotated, stretched, mirrored or one-sided.

use std::collections::HashMap;

use crate::support::{app, assert_near, assert_near_vec, meeting, tick, transform};
use bevy::{math::Quat, prelude::*};
use headbutt::{CandidatePairs, Collisions, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Returns a flat floor of 20 by 20 cells, centered on the origin, with its outer side up. Each
/// cell is divided along one of its diagonals.
fn floor(random: &mut StdRng) -> Collider {
    let vertices = (0..21).flat_map(|z| (0..21).map(move |x| Vec3::new(x as f32, 0.0, z as f32)));
    let vertices = vertices.map(|it| it - Vec3::new(10.0, 0.0, 10.0));
    Collider::try_trimesh(vertices, halved_cells(20, random)).unwrap()
}

/// Returns the triangles of a square with `cells` cells on a side, whose corners are numbered row
/// by row. Each cell is divided along a random diagonal.
fn halved_cells(cells: u32, random: &mut StdRng) -> Vec<[u32; 3]> {
    let row = cells + 1;
    (0..cells)
        .flat_map(|z| (0..cells).map(move |x| row * z + x))
        .flat_map(|a| {
            let (b, c, d) = (a + 1, a + row, a + row + 1);
            if random.random() {
                [[a, c, b], [b, c, d]]
            } else {
                [[a, c, d], [a, d, b]]
            }
        })
        .collect()
}

/// Returns a flat ground from x = -10 to 10 or slightly beyond, with vertices at random positions.
fn ground(random: &mut StdRng) -> Collider {
    let mut points = vec![Vec2::new(-10.0, 0.0)];
    while points[points.len() - 1].x < 10.0 {
        let x = points[points.len() - 1].x + random.random_range(0.01..1.5);
        points.push(Vec2::new(x, 0.0));
    }
    points.reverse();
    Collider::try_polyline(points).unwrap()
}

/// Places shapes on a surface in a pose, slightly sunk in, and compares their contacts with the
/// contacts of a plane. Each shape comes with its extent below its center.
///
/// `up` is the surface's normal in its own frame, y or -y. Returns the largest errors of the normal
/// and of the depth.
fn slide(
    random: &mut StdRng,
    surface: Collider,
    pose: Transform,
    shapes: &[(Collider, f32)],
    plane: bool,
    count: usize,
) -> (f32, f32) {
    let mut app = App::new();
    let headbutt = HeadbuttPlugin::default().with_broad_phase(BroadPhase::Custom);
    app.add_plugins((MinimalPlugins, headbutt));
    crate::support::start(&mut app);
    let world = app.world_mut();
    let surface = world.spawn((surface, pose)).id();
    let affine = pose.compute_affine();
    // The normal is perpendicular to the images of x and z.
    let [x, z] = [Vec3::X, Vec3::Z].map(|axis| affine.transform_vector3(axis));
    let normal = if plane {
        x.cross(Vec3::NEG_Z)
    } else {
        z.cross(x)
    };
    let mut normal = normal.normalize();
    if normal.dot(affine.transform_vector3(Vec3::Y)) < 0.0 {
        normal = -normal;
    }
    let mut sunk = Vec::new();
    for number in 0..count {
        let (shape, reach) = &shapes[number % shapes.len()];
        let size = 2.0 * reach;
        let depth = size * 10f32.powf(random.random_range(-4.0..-2.0));
        let mut place = Vec3::ZERO;
        // Some shapes are exactly on a row of vertices.
        let snap = random.random_range(0..8);
        let mut along = || random.random_range(-8.0..8.0f32);
        place.x = along();
        if !plane {
            place.z = along();
        }
        if snap == 0 {
            place.x = place.x.round();
        }
        if snap <= 1 {
            place.z = place.z.round();
        }
        let place = affine.transform_point3(place) + normal * (reach - depth);
        let yaw = if plane {
            0.0
        } else {
            random.random_range(-3.2..3.2)
        };
        let level = Quat::from_rotation_arc(Vec3::Y, normal);
        let turned = level * Quat::from_rotation_y(if snap == 0 { 0.0 } else { yaw });
        let turned = Transform::from_translation(place).with_rotation(turned);
        sunk.push((world.spawn((shape.clone(), turned)).id(), depth, size));
    }
    let mut pairs = world.resource_mut::<CandidatePairs>();
    pairs.extend(sunk.iter().map(|(entity, ..)| (*entity, surface)));
    let hits = tick(&mut app).messages;
    assert_eq!(hits.len(), count);
    let seen = |hit: &CollisionEvent| {
        if hit.entity == surface {
            hit.other
        } else {
            hit.entity
        }
    };
    let hits: HashMap<Entity, CollisionEvent> = hits.iter().map(|hit| (seen(hit), *hit)).collect();
    let mut errors = (0f32, 0f32);
    for (entity, depth, size) in sunk {
        let hit = hits[&entity].seen_from(entity).unwrap();
        let off = (hit.normal + normal).length();
        let by = (hit.depth - depth).abs() / size;
        assert!(off <= 1e-4, "{hit:#?}: not {normal}, {depth}");
        assert!(by <= 1e-5, "{hit:#?}: not {normal}, {depth}");
        errors = (errors.0.max(off), errors.1.max(by));
    }
    errors
}

fn solids() -> [(Collider, f32); 6] {
    [
        (Cuboid::new(1.0, 1.0, 1.0).into(), 0.5),
        (Cuboid::new(3.0, 0.5, 0.3).into(), 0.25),
        (Sphere::new(0.5).into(), 0.5),
        (Capsule3d::new(0.4, 1.0).into(), 0.9),
        (Cylinder::new(0.7, 1.0).into(), 0.5),
        (Collider::from(Cuboid::new(0.8, 0.8, 0.8)).rounded(0.1), 0.5),
    ]
}

fn planar() -> [(Collider, f32); 4] {
    [
        (Rectangle::new(1.0, 1.0).into(), 0.5),
        (Circle::new(0.5).into(), 0.5),
        (Capsule2d::new(0.4, 1.0).into(), 0.9),
        (Collider::from(Rectangle::new(2.8, 0.8)).rounded(0.1), 0.5),
    ]
}

#[test]
fn a_flat_floor_has_no_seams() {
    let mut random = StdRng::seed_from_u64(1);
    let floor = floor(&mut random);
    let pose = Transform::IDENTITY;
    let errors = slide(&mut random, floor, pose, &solids(), false, 60_000);
    println!("off by {errors:?}");
}

#[test]
fn a_flat_ground_has_no_seams() {
    let mut random = StdRng::seed_from_u64(2);
    for _ in 0..20 {
        let ground = ground(&mut random);
        let errors = slide(
            &mut random,
            ground,
            Transform::IDENTITY,
            &planar(),
            true,
            1000,
        );
        println!("off by {errors:?}");
    }
}

#[test]
fn a_rotated_scaled_or_mirrored_floor_has_no_seams() {
    let mut random = StdRng::seed_from_u64(3);
    for number in 0..12 {
        let plane = number % 2 == 0;
        let one_sided = number % 4 < 2;
        let mut axis = || random.random_range(-1.0..1.0f32);
        let axis = if plane {
            Vec3::Z
        } else {
            Vec3::new(axis(), axis(), axis()).normalize()
        };
        let mut scale = || random.random_range(0.8..2.0f32);
        let mut scale = Vec3::new(scale(), scale(), scale());
        if number % 3 == 0 {
            scale.x = -scale.x;
        }
        if number % 3 == 2 {
            scale = Vec3::splat(scale.x);
        }
        let pose = Transform::from_xyz(3.0, -5.0, if plane { 0.0 } else { 7.0 })
            .with_rotation(Quat::from_axis_angle(axis, random.random_range(-3.0..3.0)))
            .with_scale(scale);
        let mut surface = if plane {
            ground(&mut random)
        } else {
            floor(&mut random)
        };
        if one_sided {
            surface = surface.one_sided();
        }
        if plane {
            slide(&mut random, surface, pose, &planar(), true, 1500);
        } else {
            slide(&mut random, surface, pose, &solids(), false, 1500);
        }
    }
}

#[test]
fn a_height_field_has_no_seams() {
    let mut random = StdRng::seed_from_u64(4);
    let field = Collider::try_heightfield(Vec2::new(20.0, 20.0), 31, &[0.0; 31 * 31]).unwrap();
    let one_sided = field.clone().one_sided();
    for field in [field, one_sided] {
        slide(
            &mut random,
            field,
            Transform::IDENTITY,
            &solids(),
            false,
            1000,
        );
    }
}

/// Returns the contact of a shape at this position with a surface at the origin, as seen from the
/// shape.
fn meet(surface: &Collider, shape: impl Into<Collider>, place: Vec3) -> Option<CollisionEvent> {
    let mut app = app();
    app.world_mut().spawn(surface.clone());
    let place = Transform::from_translation(place);
    let shape = app.world_mut().spawn((shape.into(), place)).id();
    tick(&mut app)
        .messages
        .pop()
        .and_then(|hit| hit.seen_from(shape))
}

/// Returns two slopes that meet along z at the origin. At x = 5 and x = -5, their height is
/// `5 * rise`.
fn slopes(rise: f32) -> Collider {
    let vertices = [-5.0, 0.0, 5.0f32].into_iter();
    let vertices = vertices.flat_map(|x| [-5.0, 5.0f32].map(|z| Vec3::new(x, rise * x.abs(), z)));
    let cells = [0, 2].into_iter();
    Collider::try_trimesh(
        vertices,
        cells.flat_map(|a| [[a, a + 1, a + 2], [a + 2, a + 1, a + 3]]),
    )
    .unwrap()
}

fn slopes_in_the_plane(rise: f32) -> Collider {
    let points = [5.0, 0.0, -5.0f32].into_iter();
    Collider::try_polyline(points.map(|x| Vec2::new(x, rise * x.abs()))).unwrap()
}

#[test]
fn on_a_ridge_a_ball_gets_the_normals_between_the_facets() {
    for lean in [0.0, 0.2, 0.5, -0.3, -0.7f32] {
        let up = Vec3::new(lean.sin(), lean.cos(), 0.0);
        let place = up * 0.9;
        for surface in [slopes(-1.0), slopes(-1.0).one_sided()] {
            let hit = meet(&surface, Sphere::new(1.0), place + 0.3 * Vec3::Z).unwrap();
            assert_near_vec(hit.normal, -up, 10.0);
            assert_near(hit.depth, 0.1, 10.0);
        }
        for surface in [
            slopes_in_the_plane(-1.0),
            slopes_in_the_plane(-1.0).one_sided(),
        ] {
            let hit = meet(&surface, Circle::new(1.0), place).unwrap();
            assert_near_vec(hit.normal, -up, 10.0);
            assert_near(hit.depth, 0.1, 10.0);
        }
    }
}

#[test]
fn in_a_valley_a_ball_gets_only_the_normals_of_the_facets() {
    let mut random = StdRng::seed_from_u64(5);
    for _ in 0..200 {
        let [x, z] = [0, 0].map(|_| random.random_range(-0.4..0.4f32));
        let y = random.random_range(0.8..1.3f32);
        let half = core::f32::consts::FRAC_1_SQRT_2;
        // The contact leads out of the deeper slope. The distance from the slope y = |x| is (y -
        // |x|) / √2.
        let depth = 1.0 - (y - x.abs()) * half;
        for surface in [slopes(1.0), slopes(1.0).one_sided()] {
            let hit = meet(&surface, Sphere::new(1.0), Vec3::new(x, y, z)).unwrap();
            let normal = Vec3::new(half.copysign(x), -half, 0.0);
            assert_near_vec(hit.normal, normal, 10.0);
            assert_near(hit.depth, depth, 10.0);
        }
        let surface = slopes_in_the_plane(1.0);
        let hit = meet(&surface, Circle::new(1.0), Vec3::new(x, y, 0.0)).unwrap();
        assert_near_vec(hit.normal, Vec3::new(half.copysign(x), -half, 0.0), 10.0);
        assert_near(hit.depth, depth, 10.0);
    }
}

/// Returns a level floor of 20 by 20 cells with a wall that descends from it at x = 10.
fn cliff_of_many(random: &mut StdRng) -> Collider {
    let row = |x: f32, y: f32| (0..21).map(move |z| Vec3::new(x, y, z as f32 - 10.0));
    let top = (0..21).flat_map(|x| row(x as f32 - 10.0, 0.0));
    let wall = (1..11).flat_map(|y| row(10.0, -(y as f32)));
    let triangles: Vec<[u32; 3]> = (0..30)
        .flat_map(|row| (0..20).map(move |z| 21 * row + z))
        .flat_map(|a| {
            let (b, c, d) = (a + 1, a + 21, a + 22);
            if random.random() {
                [[a, b, c], [b, d, c]]
            } else {
                [[a, d, c], [a, b, d]]
            }
        })
        .collect();
    Collider::try_trimesh(top.chain(wall), triangles).unwrap()
}

#[test]
fn at_a_tessellated_cliff_the_wall_pushes_away_and_the_top_up() {
    let mut random = StdRng::seed_from_u64(9);
    let cliff = cliff_of_many(&mut random);
    for cliff in [cliff.clone(), cliff.one_sided()] {
        for _ in 0..200 {
            let z = random.random_range(-8.0..8.0f32);
            let by = random.random_range(-0.9..0.9f32);
            let sunk = 10f32.powf(random.random_range(-3.0..-0.4));
            let block = || Cuboid::new(2.0, 2.0, 2.0);
            if by.abs() < 0.9 - sunk {
                let hit = meet(&cliff, block(), Vec3::new(11.0 - sunk, by, z)).unwrap();
                assert_near_vec(hit.normal, Vec3::NEG_X, 100.0);
                assert_near(hit.depth, sunk, 10.0);
                let hit = meet(&cliff, block(), Vec3::new(10.0 + by, 1.0 - sunk, z)).unwrap();
                assert_near_vec(hit.normal, Vec3::NEG_Y, 100.0);
                assert_near(hit.depth, sunk, 10.0);
            }
            // The shape is at a random angle around the edge.
            let angle = random.random_range(0.0..1.57f32);
            let out = Vec3::new(angle.sin(), angle.cos(), 0.0);
            let place = Vec3::new(10.0, 0.0, z) + out * (1.0 - 0.1 * sunk);
            let hit = meet(&cliff, Sphere::new(1.0), place).unwrap();
            assert_near_vec(hit.normal, -out, 100.0);
            assert_near(hit.depth, 0.1 * sunk, 10.0);
        }
    }
}

/// Returns a flat top for x < 0 at y = 0 with a wall that descends from it at x = 0.
fn cliffs() -> [Collider; 4] {
    let profile = [(0.0, -5.0), (0.0, 0.0), (-5.0, 0.0f32)].into_iter();
    let line = Collider::try_polyline(profile.clone().map(|(x, y)| Vec2::new(x, y))).unwrap();
    let vertices = profile.flat_map(|(x, y)| [5.0, -5.0f32].map(|z| Vec3::new(x, y, z)));
    let cells = [0, 2].into_iter();
    let triangles = cells.flat_map(|a| [[a, a + 1, a + 2], [a + 2, a + 1, a + 3]]);
    let mesh = Collider::try_trimesh(vertices, triangles).unwrap();
    [
        line.clone(),
        line.one_sided(),
        mesh.clone(),
        mesh.one_sided(),
    ]
}

#[test]
fn at_a_cliff_the_wall_pushes_away_and_the_top_up() {
    for (number, cliff) in cliffs().into_iter().enumerate() {
        let block: Collider = if number < 2 {
            Rectangle::new(2.0, 2.0).into()
        } else {
            Cuboid::new(2.0, 2.0, 2.0).into()
        };
        for step in -9..=9 {
            let by = 0.1 * step as f32;
            // The block is against the wall, with its center above or below the top. After that,
            // the block is on the top, with its center beyond the edge or not.
            let hit = meet(&cliff, block.clone(), Vec3::new(0.99, by, 0.1 * by)).unwrap();
            assert_near_vec(hit.normal, Vec3::NEG_X, 100.0);
            assert_near(hit.depth, 0.01, 10.0);
            let hit = meet(&cliff, block.clone(), Vec3::new(by, 0.99, 0.1 * by)).unwrap();
            assert_near_vec(hit.normal, Vec3::NEG_Y, 100.0);
            assert_near(hit.depth, 0.01, 10.0);
        }
    }
}

#[test]
fn a_border_is_an_edge() {
    let mut random = StdRng::seed_from_u64(6);
    let (floor, ground) = (floor(&mut random), slopes_in_the_plane(0.0));
    let hit = meet(&floor, Sphere::new(1.0), Vec3::new(10.9, 0.0, 0.3)).unwrap();
    assert_near_vec(hit.normal, Vec3::NEG_X, 10.0);
    assert_near(hit.depth, 0.1, 10.0);
    let hit = meet(&ground, Circle::new(1.0), Vec3::new(5.9, 0.0, 0.0)).unwrap();
    assert_near_vec(hit.normal, Vec3::NEG_X, 10.0);
    assert_near(hit.depth, 0.1, 10.0);
    let hit = meet(
        &floor,
        Cuboid::new(2.0, 2.0, 2.0),
        Vec3::new(10.9, 0.2, 0.3),
    )
    .unwrap();
    assert_near_vec(hit.normal, Vec3::NEG_X, 10.0);
    assert_near(hit.depth, 0.1, 10.0);
}

#[test]
fn a_one_sided_surface_does_not_collide_from_behind() {
    let mut random = StdRng::seed_from_u64(7);
    let (floor, ground) = (floor(&mut random), ground(&mut random));
    let (below, above) = (Vec3::new(0.3, -0.4, 0.0), Vec3::new(0.3, 0.4, 0.0));
    let up = meet(&floor, Sphere::new(0.5), below).unwrap();
    assert_near_vec(up.normal, Vec3::Y, 1.0);
    assert_near(up.depth, 0.1, 1.0);
    let up = meet(&ground, Circle::new(0.5), below).unwrap();
    assert_near_vec(up.normal, Vec3::Y, 1.0);
    let (floor, ground) = (floor.one_sided(), ground.one_sided());
    assert_eq!(meet(&floor, Sphere::new(0.5), below), None);
    assert_eq!(meet(&ground, Circle::new(0.5), below), None);
    assert!(meet(&floor, Sphere::new(0.5), above).is_some());
    assert!(meet(&ground, Circle::new(0.5), above).is_some());
}

#[test]
fn the_part_of_an_event_is_the_facet() {
    let heights = [0.0; 12];
    let field = Collider::try_heightfield(Vec2::new(3.0, 2.0), 4, &heights).unwrap();
    for cell in 0..6u32 {
        let (x, z) = ((cell % 3) as f32 - 1.5, (cell / 3) as f32 - 1.0);
        for (part, at) in [(0, 0.25), (1, 0.75)] {
            let place = Vec3::new(x + at, 0.05, z + at);
            let hit = meet(&field, Sphere::new(0.1), place).unwrap();
            assert_eq!(hit.other_part(), 2 * cell + part);
            assert_near(hit.depth, 0.05, 1.0);
        }
    }
}

#[test]
fn a_margin_thickens_a_surface() {
    let mut random = StdRng::seed_from_u64(8);
    let floor = floor(&mut random).rounded(0.25);
    let hit = meet(&floor, Sphere::new(0.5), Vec3::new(0.3, 0.7, 0.4)).unwrap();
    assert_near_vec(hit.normal, Vec3::NEG_Y, 1.0);
    assert_near(hit.depth, 0.05, 1.0);
}

#[test]
fn facets_without_area_never_touch() {
    // The surface has a triangle without area along the diagonal between the two halves of a
    // square, and an isolated triangle without area.
    let vertices = [
        Vec3::new(-5.0, 0.0, -5.0),
        Vec3::new(-5.0, 0.0, 5.0),
        Vec3::new(5.0, 0.0, -5.0),
        Vec3::new(5.0, 0.0, 5.0),
        Vec3::new(50.0, 0.0, 0.0),
        Vec3::new(60.0, 0.0, 0.0),
    ];
    let triangles = [[0, 1, 2], [1, 2, 2], [2, 1, 3], [4, 5, 4]];
    let mesh = Collider::try_trimesh(vertices, triangles).unwrap();
    assert_eq!(
        meet(&mesh, Sphere::new(1.0), Vec3::new(55.0, 0.0, 0.0)),
        None
    );
    for x in -9..=9 {
        let place = Vec3::new(0.1 * x as f32, 0.99, 0.0);
        let hit = meet(&mesh, Cuboid::new(2.0, 2.0, 2.0), place).unwrap();
        assert_near_vec(hit.normal, Vec3::NEG_Y, 100.0);
        assert_near(hit.depth, 0.01, 10.0);
    }
}

#[test]
fn a_flattened_surface_does_not_panic() {
    for scale in [
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(0.0, 1.0, 1.0),
        Vec3::ZERO,
    ] {
        for (surface, shape) in [
            (slopes(1.0), Collider::from(Sphere::new(1.0))),
            (slopes_in_the_plane(1.0), Circle::new(1.0).into()),
        ] {
            let mut app = app();
            let surface = app
                .world_mut()
                .spawn((surface, Transform::from_scale(scale)))
                .id();
            app.world_mut()
                .spawn((shape, Transform::from_xyz(0.0, 0.5, 0.0)));
            assert!(tick(&mut app).only().started());
            transform(app.world_mut(), surface).translation.y = -20.0;
            assert!(tick(&mut app).only().ended());
        }
    }
}

fn direction(random: &mut StdRng) -> Vec3 {
    loop {
        let it = Vec3::from_array(core::array::from_fn(|_| random.random_range(-1.0..1.0f32)));
        if (0.1..1.0).contains(&it.length()) {
            return it.normalize();
        }
    }
}

fn rotation(random: &mut StdRng) -> Quat {
    Quat::from_axis_angle(direction(random), random.random_range(-3.0..3.0))
}

/// A surface is as deep in a half-space as its lowest vertex, whichever of its sides is the outer
/// side.
#[test]
fn in_a_half_space_a_surface_has_the_normal_and_the_depth_of_a_solid() {
    let cube: Vec<Vec3> = (0..8u32)
        .map(|it| Vec3::from([it & 1, it >> 1 & 1, it >> 2].map(|side| side as f32 - 0.5)))
        .collect();
    let faces = [0, 1, 2].into_iter().flat_map(|axis| {
        let [u, v, w] = [0, 1, 2].map(|step| 1u32 << ((axis + step) % 3));
        [
            [0, v, u],
            [u, v, u + v],
            [w, w + u, w + v],
            [w + u, w + u + v, w + v],
        ]
    });
    let cube_mesh = Collider::try_trimesh(cube.clone(), faces).unwrap();
    let ground = Collider::from(InfinitePlane3d::new(Vec3::Y));
    let at = |place: Vec3| Transform::from_translation(place);
    for x in [0.0, 100.0, -100.0] {
        let place = at(Vec3::new(x, 0.4, 0.0));
        let hit = meeting((&ground, Transform::IDENTITY), (&cube_mesh, place)).unwrap();
        assert_near_vec(hit.normal, Vec3::Y, 1.0);
        assert_near(hit.depth, 0.1, 1.0);
    }

    let mut random = StdRng::seed_from_u64(10);
    let mut hits = 0;
    for number in 0..400 {
        let plane = number % 2 == 0;
        let mut height = || random.random_range(-0.5..0.5f32);
        let points: Vec<Vec3> = (0..9)
            .map(|it| {
                let (x, z) = ((it % 3) as f32 - 1.0, (it / 3) as f32 - 1.0);
                if plane {
                    Vec3::new(it as f32 - 4.0, height(), 0.0)
                } else {
                    Vec3::new(x, height(), z)
                }
            })
            .collect();
        let mut surface = if plane {
            Collider::try_polyline(points.iter().map(|it| it.truncate())).unwrap()
        } else {
            let heights: Vec<f32> = points.iter().map(|it| it.y).collect();
            Collider::try_heightfield(Vec2::splat(2.0), 3, &heights).unwrap()
        };
        if number % 4 < 2 {
            surface = surface.one_sided();
        }
        let turn = |random: &mut StdRng| {
            if plane {
                Quat::from_rotation_z(random.random_range(-3.0..3.0))
            } else {
                rotation(random)
            }
        };
        let mut pose = at(Vec3::new(random.random_range(-3.0..3.0), 0.5, 0.0));
        pose.rotation = turn(&mut random);
        pose.scale = Vec3::new(random.random_range(0.5..1.5), -0.7, 1.0);
        if number % 7 == 0 {
            pose.scale.y = 0.0;
        }
        let mut under = at(Vec3::new(random.random_range(-9.0..9.0), -0.5, 0.0));
        under.rotation = turn(&mut random);
        let ground = if plane {
            Plane2d::new(Vec2::Y).into()
        } else {
            ground.clone()
        };
        let up = under.rotation * Vec3::Y;
        let height = |it: &Vec3| up.dot(pose.transform_point(*it) - under.translation);
        let depth = -points.iter().map(height).reduce(f32::min).unwrap();
        let hit = meeting((&ground, under), (&surface, pose));
        if depth.abs() < 1e-4 {
            continue;
        }
        assert_eq!(hit.is_some(), depth > 0.0, "case {number}, {depth}");
        if let Some(hit) = hit {
            hits += 1;
            assert_near_vec(hit.normal, up, 10.0);
            assert_near(hit.depth, depth, 30.0);
        }
    }
    assert!((100..350).contains(&hits), "{hits}");
}

/// The extent of a shape in a direction from its origin, in its own frame.
type Reach = fn(Vec3) -> f32;

const PYRAMID: [Vec3; 4] = [
    Vec3::new(0.4, -0.5, 0.0),
    Vec3::new(-0.2, -0.5, 0.34),
    Vec3::new(-0.2, -0.5, -0.34),
    Vec3::new(0.0, 0.5, 0.0),
];

fn pointed() -> [(Collider, Reach); 4] {
    [
        (Cone::new(0.4, 1.0).into(), |it| {
            (0.5 * it.y).max(0.4 * it.x.hypot(it.z) - 0.5 * it.y)
        }),
        (Collider::try_convex_hull(PYRAMID).unwrap(), |it| {
            PYRAMID
                .map(|corner| corner.dot(it))
                .into_iter()
                .fold(-1.0, f32::max)
        }),
        (Extrusion::new(Rhombus::new(0.5, 1.0), 0.3).into(), |it| {
            (0.25 * it.x.abs()).max(0.5 * it.y.abs()) + 0.15 * it.z.abs()
        }),
        (Cylinder::new(0.1, 1.0).into(), |it| {
            0.1 * it.x.hypot(it.z) + 0.5 * it.y.abs()
        }),
    ]
}

#[test]
fn a_pointed_shape_in_a_flat_floor_is_as_deep_as_its_lowest_point() {
    let mut random = StdRng::seed_from_u64(11);
    for cells in [1, 10, 40, 100] {
        let n = cells + 1;
        let field = Collider::try_heightfield(Vec2::splat(4.0), n, &vec![0.0; n * n]).unwrap();
        let mut app = app();
        let world = app.world_mut();
        let on = |layer: u32, meets: u32| CollisionLayers::new(layer, meets);
        world.spawn((field, on(1, 2)));
        let mut sunk = Vec::new();
        for (number, (shape, reach)) in pointed().into_iter().cycle().take(800).enumerate() {
            let turn = rotation(&mut random);
            let reach = reach(turn.inverse() * Vec3::NEG_Y);
            let depth = random.random_range(0.005..0.3f32).min(0.45 * reach);
            let mut pose = Transform::from_rotation(turn);
            let mut along = || random.random_range(-0.7..0.7f32);
            pose.translation = Vec3::new(along(), reach - depth, along());
            let body = (shape, on(2, 1), pose);
            sunk.push((number, world.spawn(body).id(), pose, depth));
        }
        // This pose once failed.
        let pose = Transform::from_xyz(-0.316_723_02, 0.064_902_8, 0.651_831_45).with_rotation(
            Quat::from_xyzw(-0.642_947_6, -0.296_423_2, -0.577_595_3, 0.406_368_5),
        );
        let (cone, reach) = pointed().into_iter().next().unwrap();
        let depth = reach(pose.rotation.inverse() * Vec3::NEG_Y) - pose.translation.y;
        sunk.push((0, world.spawn((cone, on(2, 1), pose)).id(), pose, depth));
        let hits = tick(&mut app).messages;
        for (number, entity, pose, depth) in sunk {
            let hit = hits.iter().find_map(|hit| hit.seen_from(entity)).unwrap();
            let case = format!("shape {} of {cells}: {pose:?}\n{hit:#?}", number % 4);
            assert!(hit.normal.distance(Vec3::NEG_Y) <= 1e-4, "{case}");
            assert!((hit.depth - depth).abs() <= 1e-5, "not {depth}, {case}");
        }
    }
}

/// A half of a cube that was cut from edge to edge.
const WEDGE: [Vec3; 6] = [
    Vec3::ZERO,
    Vec3::X,
    Vec3::Y,
    Vec3::Z,
    Vec3::new(1.0, 0.0, 1.0),
    Vec3::new(0.0, 1.0, 1.0),
];

/// If a shape stands on its slanted side, the center of its bounding box lies below this side.
#[test]
fn the_side_of_a_shape_does_not_depend_on_the_scenes_rotation() {
    let slope = Collider::try_polyline([Vec2::new(-3.0, 4.0), Vec2::new(4.0, -3.0)]).unwrap();
    let triangle = Collider::from(Triangle2d::new(Vec2::ZERO, Vec2::X, Vec2::Y));
    for depth in [0.0, 0.001, 0.01, 0.1f32] {
        let by = depth * core::f32::consts::FRAC_1_SQRT_2;
        let place = Transform::from_xyz(by, by, 0.0);
        for slope in [slope.clone(), slope.clone().one_sided()] {
            let hit = meeting((&triangle, place), (&slope, Transform::IDENTITY));
            if depth == 0.0 {
                continue;
            }
            let hit = hit.unwrap();
            let normal = Vec3::new(1.0, 1.0, 0.0).normalize();
            assert_near_vec(hit.normal, normal, 100.0);
            assert_near(hit.depth, depth, 10.0);
        }
    }
    let mut random = StdRng::seed_from_u64(12);
    let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let wide = [
        Vec3::new(-40.0, 0.0, -40.0),
        Vec3::new(0.0, 0.0, 80.0),
        Vec3::new(40.0, 0.0, -40.0),
    ];
    let floor = Collider::try_trimesh(wide, [[0, 1, 2]]).unwrap();
    for number in 0..1000 {
        let points = if number % 2 == 0 { &WEDGE[..] } else { &corner };
        let face = [Vec3::ONE, Vec3::new(1.0, 1.0, 0.0), -Vec3::Y][number % 3].normalize();
        let tilt = rotation(&mut random);
        let down = Quat::from_rotation_arc(face, Vec3::NEG_Y);
        let turn = tilt * Quat::from_rotation_y(random.random_range(-3.0..3.0)) * down;
        let up = tilt * Vec3::Y;
        let lowest = points.iter().map(|it| up.dot(turn * *it));
        let lowest = lowest.reduce(f32::min).unwrap();
        let pose = Transform::from_translation(up * (-lowest - 0.01)).with_rotation(turn);
        let shape = Collider::try_convex_hull(points.iter().copied()).unwrap();
        let mut floor = floor.clone();
        if number % 4 < 2 {
            floor = floor.one_sided();
        }
        let hit = meeting((&shape, pose), (&floor, Transform::from_rotation(tilt))).unwrap();
        assert_near_vec(hit.normal, -up, 100.0);
        assert_near(hit.depth, 0.01, 100.0);
    }
}

#[test]
fn a_compound_is_on_one_side_as_a_whole() {
    let body = Collider::try_compound([
        (Vec3::Y, Collider::from(Cuboid::new(1.0, 1.8, 1.0))),
        (0.05 * Vec3::Y, Cuboid::new(2.0, 0.1, 2.0).into()),
    ])
    .unwrap();
    let wide = [
        Vec3::new(-20.0, 0.0, -20.0),
        Vec3::new(0.0, 0.0, 40.0),
        Vec3::new(40.0, 0.0, -20.0),
    ];
    let floor = Collider::try_trimesh(wide, [[0, 1, 2]]).unwrap();
    let mut random = StdRng::seed_from_u64(13);
    for depth in [0.01, 0.04, 0.06, 0.09f32] {
        for floor in [floor.clone(), floor.clone().one_sided()] {
            let tilt = Transform::from_rotation(rotation(&mut random));
            let mut pose = tilt;
            pose.translation = tilt.rotation * (depth * Vec3::NEG_Y);
            let hit = meeting((&body, pose), (&floor, tilt)).unwrap();
            assert_near_vec(hit.normal, tilt.rotation * Vec3::NEG_Y, 10.0);
            assert_near(hit.depth, depth, 10.0);
        }
    }
}

/// Returns a flat floor of 8 by 8 cells as different tools export it. The exports have repeated
/// vertices, both windings, corners separated by rounding, corners inside edges, or more than two
/// triangles on an edge.
fn exported(random: &mut StdRng) -> Vec<(&'static str, Collider)> {
    let grid = |random: &mut StdRng, shift: f32| {
        let vertices: Vec<Vec3> = (0..81)
            .map(|it| Vec3::new((it % 9) as f32 - 4.0, 0.0, (it / 9) as f32 - 4.0 + shift))
            .collect();
        (vertices, halved_cells(8, random))
    };
    let (vertices, triangles) = grid(random, 0.0);
    let mesh = |vertices: &[Vec3], triangles: &[[u32; 3]]| {
        Collider::try_trimesh(vertices.iter().copied(), triangles.iter().copied()).unwrap()
    };
    let turned = triangles.iter().map(|[a, b, c]| [*a, *c, *b]);
    let doubled: Vec<_> = triangles.iter().copied().chain(turned).collect();
    let copied: Vec<_> = [&triangles[..]; 3].concat();
    // Each triangle has its own corners.
    let apart: Vec<Vec3> = triangles
        .iter()
        .flatten()
        .map(|it| vertices[*it as usize] * (1.0 + random.random_range(-1.0..1.0) * 1.2e-7))
        .collect();
    let own: Vec<[u32; 3]> = (0..128)
        .map(|it| [3 * it, 3 * it + 1, 3 * it + 2])
        .collect();
    // The half with greater x is a finer grid with an offset, whose corners lie inside edges.
    let mut halves: Vec<Vec3> = vertices.iter().map(|it| *it - 4.0 * Vec3::X).collect();
    let (other, more) = grid(random, 0.2);
    halves.extend(
        other
            .iter()
            .map(|it| *it * Vec3::new(1.0, 1.0, 0.9) + 4.0 * Vec3::X),
    );
    let more = more.iter().map(|it| it.map(|it| it + 81));
    let both: Vec<_> = triangles.iter().copied().chain(more).collect();
    // Fins hang from the edges.
    let mut keel = vertices.clone();
    keel.push(Vec3::NEG_Y);
    let fins = [[40, 41, 81], [40, 49, 81], [31, 40, 81]];
    let finned: Vec<_> = triangles.iter().copied().chain(fins).collect();
    vec![
        ("doubled", mesh(&vertices, &doubled)),
        ("doubled, one side", mesh(&vertices, &doubled).one_sided()),
        ("copied", mesh(&vertices, &copied)),
        ("apart", mesh(&apart, &own)),
        ("halves", mesh(&halves, &both)),
        ("finned", mesh(&keel, &finned)),
    ]
}

#[test]
fn a_flat_floor_has_no_seams_in_any_export() {
    let mut random = StdRng::seed_from_u64(14);
    let half = Vec3::splat(0.5);
    for (name, floor) in exported(&mut random) {
        let mut app = app();
        let world = app.world_mut();
        let on = |layer: u32, meets: u32| CollisionLayers::new(layer, meets);
        world.spawn((floor, on(1, 2)));
        let mut sunk = Vec::new();
        for number in 0..1000 {
            let mut turn = Quat::from_rotation_y(random.random_range(-3.0..3.0));
            if number % 2 == 0 {
                turn *= Quat::from_rotation_z(random.random_range(-0.1..0.1));
                turn *= Quat::from_rotation_x(random.random_range(-0.1..0.1));
            }
            let down = turn.inverse() * Vec3::Y;
            let (shape, reach) = match number % 3 {
                0 => (
                    Collider::from(Cuboid::new(1.0, 1.0, 1.0)),
                    down.abs().dot(half),
                ),
                1 => (Capsule3d::new(0.3, 0.4).into(), 0.3 + 0.2 * down.y.abs()),
                _ => (Sphere::new(0.5).into(), 0.5),
            };
            let depth = 10f32.powf(random.random_range(-3.0..-1.3));
            let mut along = || random.random_range(-1.8..1.8f32);
            let place = Vec3::new(along(), reach - depth, along());
            let pose = Transform::from_translation(place).with_rotation(turn);
            sunk.push((world.spawn((shape, on(2, 1), pose)).id(), depth));
        }
        let hits = tick(&mut app).messages;
        for (entity, depth) in sunk {
            let hit = hits.iter().find_map(|hit| hit.seen_from(entity)).unwrap();
            assert!(hit.normal.distance(Vec3::NEG_Y) <= 1e-4, "{name}: {hit:#?}");
            assert!(
                (hit.depth - depth).abs() <= 1e-5,
                "{name}: not {depth}, {hit:#?}"
            );
        }
    }
}

/// The surface is a cube of size 2 with a margin of 0.2. Next to an edge, the normal points
/// straight away from the edge, even if the center of the shape is inside the margin.
#[test]
fn a_ball_at_a_ridge_with_a_margin_gets_the_normal_from_the_ridge() {
    let faces = [0, 1, 2].into_iter().flat_map(|axis| {
        let [u, v, w] = [0, 1, 2].map(|step| 1u32 << ((axis + step) % 3));
        [
            [0, v, u],
            [u, v, u + v],
            [w, w + u, w + v],
            [w + u, w + u + v, w + v],
        ]
    });
    let corners = (0..8u32)
        .map(|it| Vec3::from([it & 1, it >> 1 & 1, it >> 2].map(|it| 2.0 * it as f32 - 1.0)));
    let mesh = Collider::try_trimesh(corners, faces).unwrap().rounded(0.2);
    let ball = Collider::from(Sphere::new(0.05));
    let out = Vec3::new(0.8, 0.6, 0.0);
    for away in [0.24, 0.21, 0.19, 0.15, 0.05f32] {
        for z in [-0.7, -0.3, 0.1, 0.3] {
            let place = Vec3::new(1.0, 1.0, z) + out * away;
            let pose = Transform::from_translation(place);
            let hit = meeting((&ball, pose), (&mesh, Transform::IDENTITY)).unwrap();
            assert_near_vec(hit.normal, -out, 100.0);
            assert_near(hit.depth, 0.25 - away, 10.0);
        }
    }
    let line = [Vec2::new(5.0, -5.0), Vec2::ZERO, Vec2::new(-5.0, -5.0)];
    let line = Collider::try_polyline(line).unwrap().rounded(0.2);
    let out = Vec3::new(0.28, 0.96, 0.0);
    for away in [0.24, 0.15, 0.05f32] {
        let pose = Transform::from_translation(out * away);
        let ball = Collider::from(Circle::new(0.05));
        let hit = meeting((&ball, pose), (&line, Transform::IDENTITY)).unwrap();
        assert_near_vec(hit.normal, -out, 100.0);
        assert_near(hit.depth, 0.25 - away, 10.0);
    }
}

/// An upright fin is 0.1 deep in a triangle of a floor, or hangs below the triangle, with 0.02
/// above it.
#[test]
fn two_surfaces_collide_the_same_in_either_order() {
    let floor = [
        Vec3::new(-1.0, 0.0, -1.0),
        Vec3::Z,
        Vec3::new(1.0, 0.0, -1.0),
    ];
    let floor = Collider::try_trimesh(floor, [[0, 1, 2]]).unwrap();
    let fin = |y: f32, tip: f32, facet| {
        let [left, right] = [-0.3, 0.3].map(|x| Vec3::new(x, y, 0.0));
        Collider::try_trimesh([left, right, Vec3::new(0.0, tip, 0.0)], [facet]).unwrap()
    };
    let here = Transform::IDENTITY;
    for facet in [[0, 1, 2], [0, 2, 1]] {
        let above = fin(-0.1, 1.0, facet);
        let below = fin(0.02, -1.0, facet);
        for above in [above.clone(), above.one_sided()] {
            for floor in [floor.clone(), floor.clone().one_sided()] {
                let hit = meeting((&above, here), (&floor, here)).unwrap();
                assert_near_vec(hit.normal, Vec3::NEG_Y, 10.0);
                assert_near(hit.depth, 0.1, 10.0);
            }
        }
        for below in [below.clone(), below.one_sided()] {
            let hit = meeting((&below, here), (&floor, here)).unwrap();
            assert_near_vec(hit.normal, Vec3::Y, 10.0);
            assert_near(hit.depth, 0.02, 10.0);
            assert_eq!(
                meeting((&below, here), (&floor.clone().one_sided(), here)),
                None
            );
        }
    }
    // For all pairs, `meeting` asserts that the order does not matter.
    let mut random = StdRng::seed_from_u64(15);
    for number in 0..100 {
        let mut surface = |kind: usize| {
            let heights: [f32; 16] = core::array::from_fn(|_| random.random_range(-0.3..0.3));
            let it = Collider::try_heightfield(Vec2::splat(3.0), 4, &heights).unwrap();
            if kind == 0 { it.one_sided() } else { it }
        };
        let (first, second) = (surface(number % 2), surface(number / 2 % 2));
        let pose = |random: &mut StdRng| {
            Transform::from_translation(direction(random) * 0.5).with_rotation(rotation(random))
        };
        let (place, there) = (pose(&mut random), pose(&mut random));
        meeting((&first, place), (&second, there));
    }
}

/// Returns the corners of a regular polygon. The first corner is at angle 0.
fn outline(sides: usize) -> Vec<Vec2> {
    let angle = |it: usize| core::f32::consts::TAU * it as f32 / sides as f32;
    (0..sides)
        .map(|it| 0.5 * Vec2::from_angle(angle(it)))
        .collect()
}

/// A crate and level ground are meshes. Level ground pushes a small surface as it pushes a convex
/// shape: not by a seam of the ground, not through a side of the crate, and not down.
#[test]
fn a_small_surface_on_level_ground_has_the_grounds_normal() {
    let mut random = StdRng::seed_from_u64(21);
    let mut exact = 0;
    let mut sink =
        |random: &mut StdRng, corners: &[Vec3], body: &Collider, ground: &Collider, turn: Quat| {
            let mut heights: Vec<f32> = corners.iter().map(|it| (turn * *it).y).collect();
            heights.sort_by(f32::total_cmp);
            let depth = random.random_range(0.001..0.1);
            let place = Vec3::new(random.random_range(-5.0..5.0), -heights[0] - depth, 0.0);
            let pose = Transform::from_translation(place).with_rotation(turn);
            let hit = meeting((body, pose), (ground, Transform::IDENTITY));
            // A shape that is entirely below the ground does not touch it.
            let next = heights[1] + place.y;
            let Some(hit) = hit.filter(|_| next > 1e-4) else {
                return;
            };
            assert_near_vec(hit.normal, Vec3::NEG_Y, 10.0);
            assert_near(hit.depth, depth, 10.0);
            exact += 1;
        };
    for number in 0..1_500 {
        let sides = [3, 4, 6, 12][number % 4];
        let corners = outline(sides);
        let closed = corners.iter().chain(corners.first()).copied();
        let body = Collider::try_polyline(closed).unwrap();
        let body = if number % 3 == 0 {
            body.one_sided()
        } else {
            body
        };
        let corners: Vec<Vec3> = corners.iter().map(|it| it.extend(0.0)).collect();
        let mut flat = ground(&mut random);
        if number % 5 == 0 {
            flat = flat.one_sided();
        }
        let turn = Quat::from_rotation_z(random.random_range(-3.2..3.2));
        sink(&mut random, &corners, &body, &flat, turn);
    }
    let corners = [
        (Vec3::new(0.5, 0.5, 0.5)),
        (Vec3::new(-0.5, 0.5, -0.5)),
        (Vec3::new(-0.5, -0.5, 0.5)),
        (Vec3::new(0.5, -0.5, -0.5)),
    ];
    let pyramid =
        Collider::try_trimesh(corners, [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]).unwrap();
    for number in 0..600 {
        let mut level = floor(&mut random);
        if number % 2 == 0 {
            level = level.one_sided();
        }
        let body = if number % 3 == 0 {
            pyramid.clone().one_sided()
        } else {
            pyramid.clone()
        };
        let turn = rotation(&mut random);
        sink(&mut random, &corners, &body, &level, turn);
    }
    assert!(exact > 1_000, "{exact} of them");
}

/// A prism of many sides stands on level ground, or leans a little. Many facets of the prism cross
/// each facet of the ground.
#[test]
fn a_detailed_mesh_on_level_ground_has_the_grounds_normal() {
    let mut random = StdRng::seed_from_u64(23);
    for number in 0..300 {
        let sides: u32 = [3, 4, 12, 16][number % 4];
        let rim = outline(sides as usize);
        let ends = |y: f32| rim.iter().map(move |it| Vec3::new(it.x, y, it.y));
        let corners: Vec<Vec3> = ends(-0.5)
            .chain(ends(0.5))
            .chain([Vec3::NEG_Y * 0.5, Vec3::Y * 0.5])
            .collect();
        let facets = (0..sides).flat_map(|it| {
            let next = (it + 1) % sides;
            let (up, next_up) = (it + sides, next + sides);
            [
                [it, up, next],
                [next, up, next_up],
                [2 * sides, it, next],
                [2 * sides + 1, next_up, up],
            ]
        });
        let body = Collider::try_trimesh(corners.iter().copied(), facets).unwrap();
        let lean = [0.0, 0.001, 0.01, 0.05, 0.2][number / 4 % 5];
        let axis = Vec3::new(random.random_range(-1.0..1.0), 0.0, 0.5).normalize();
        let turn = Quat::from_axis_angle(axis, lean)
            * Quat::from_rotation_y(random.random_range(-3.0..3.0));
        let lowest = corners.iter().map(|it| (turn * *it).y).fold(0.0, f32::min);
        let depth = random.random_range(0.001..0.05);
        let place = Vec3::new(
            random.random_range(-3.0..3.0),
            -lowest - depth,
            random.random_range(-3.0..3.0),
        );
        let pose = Transform::from_translation(place).with_rotation(turn);
        let mut level = floor(&mut random);
        if number % 3 == 0 {
            level = level.one_sided();
        }
        let hit = meeting((&body, pose), (&level, Transform::IDENTITY)).expect("it is sunk in");
        assert_near_vec(hit.normal, Vec3::NEG_Y, 10.0);
        assert!(hit.depth > 0.0 && hit.depth < depth + 1e-5, "{hit:?}");
    }
}

/// A flattened surface has no frame in which a tree could be queried, and copies of a surface
/// collide in all of their facets.
#[test]
fn flattened_and_duplicated_facets_still_collide() {
    let mut random = StdRng::seed_from_u64(22);
    let heights: Vec<f32> = (0..900).map(|_| random.random_range(-0.2..0.2)).collect();
    let field = Collider::try_heightfield(Vec2::splat(9.0), 30, &heights).unwrap();
    let flat = Transform::from_scale(Vec3::new(1.0, 0.0, 1.0));
    let beside = |x: f32, scale: Vec3| Transform::from_xyz(x, 0.0, 0.0).with_scale(scale);
    for there in [beside(0.01, flat.scale), beside(0.01, Vec3::ONE)] {
        for here in [flat, Transform::IDENTITY] {
            let hit = meeting((&field, here), (&field, there)).expect("they lie in each other");
            assert!(hit.depth >= 0.0 && hit.normal.is_normalized());
        }
    }
    let apart = beside(9.5, flat.scale);
    assert_eq!(meeting((&field, flat), (&field, apart)), None);
}

/// Two balls of one compound are over a steep peak, one on each side. The vertex is the closest
/// point to both balls.
#[test]
fn each_part_of_a_compound_has_its_own_contact_with_a_vertex() {
    let base = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)];
    let base = base.map(|(x, z)| Vec3::new(x, -3.0, z));
    let slopes = (0..4).map(|side| [0, 1 + side, 1 + (side + 1) % 4]);
    let peak = Collider::try_trimesh([Vec3::ZERO].into_iter().chain(base), slopes).unwrap();
    let places = [-0.3, 0.3].map(|x| Vec3::new(x, 0.3, 0.0));
    let balls = places.map(|place| (Isometry3d::from_translation(place), Sphere::new(0.5).into()));
    let balls: Collider = Collider::try_compound(balls).unwrap();
    let mut app = app();
    let peak = app.world_mut().spawn(peak).id();
    let body = app.world_mut().spawn(balls).id();
    tick(&mut app);
    let parts = app.world().resource::<Collisions>().parts(body, peak);
    let mut parts: Vec<CollisionEvent> = parts.collect();
    parts.sort_unstable_by_key(CollisionEvent::part);
    assert_eq!(parts.len(), 2);
    for (hit, place) in parts.iter().zip(places) {
        assert_near_vec(hit.normal, -place.normalize(), 1.0);
        assert_near(hit.depth, 0.5 - place.length(), 1.0);
    }
}
