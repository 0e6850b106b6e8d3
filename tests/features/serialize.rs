//! Colliders as data: a loaded collider collides like the saved collider, bit for bit, and invalid
//! data is an error.

use std::{collections::BTreeSet, f32::consts::PI};

use crate::support::{Dimension, app, dynamic, tick, transform};
use bevy::{
    ecs::{
        entity::EntityHashMap,
        reflect::{ReflectComponent, ReflectMessage},
    },
    math::{DVec2, DVec3},
    prelude::*,
    reflect::{
        PartialReflect, TypeRegistry,
        serde::{ReflectDeserializer, ReflectSerializer},
    },
};
use headbutt::{Collisions, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde::de::DeserializeSeed;

/// A format: functions that write a value as bytes and read it again.
struct Format {
    name: &'static str,
    save: fn(&Collider) -> Result<Vec<u8>, String>,
    load: fn(&[u8]) -> Result<Collider, String>,
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("a text")
}

/// Two self-describing formats, including the format of Bevy's scenes, and one format that does not
/// describe itself.
const FORMATS: [Format; 3] = [
    Format {
        name: "RON",
        save: |collider| match ron::to_string(collider) {
            Ok(text) => Ok(text.into_bytes()),
            Err(error) => Err(error.to_string()),
        },
        load: |bytes| ron::from_str(text(bytes)).map_err(|error| error.to_string()),
    },
    Format {
        name: "JSON",
        save: |collider| serde_json::to_vec(collider).map_err(|error| error.to_string()),
        load: |bytes| serde_json::from_slice(bytes).map_err(|error| error.to_string()),
    },
    Format {
        name: "postcard",
        save: |collider| postcard::to_allocvec(collider).map_err(|error| error.to_string()),
        load: |bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()),
    },
];

fn through(format: &Format, collider: &Collider) -> Collider {
    let loaded = (format.save)(collider).and_then(|bytes| (format.load)(&bytes));
    loaded.unwrap_or_else(|error| panic!("{collider:?} as {}: {error}", format.name))
}

/// Returns a length near 1 that uses all digits of an f32.
fn length(random: &mut StdRng) -> f32 {
    random.random_range(0.3..1.2)
}

fn flat(random: &mut StdRng) -> Vec2 {
    Vec2::from([(); 2].map(|()| random.random_range(-1.0..1.0)))
}

fn point(random: &mut StdRng) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
}

fn rotation(random: &mut StdRng) -> Quat {
    Quat::from_euler(
        EulerRot::XYZ,
        random.random_range(-PI..PI),
        random.random_range(-PI..PI),
        random.random_range(-PI..PI),
    )
}

/// Returns every kind of shape in 2D.
fn of_the_plane(random: &mut StdRng) -> Vec<Collider> {
    let points = |random: &mut StdRng, count| (0..count).map(|_| flat(random)).collect::<Vec<_>>();
    let [a, b] = [length(random), length(random)];
    let [p, q, r] = [flat(random), flat(random), flat(random)];
    let normal = Dir2::new(p).expect("not null");
    let hull = |points: Vec<Vec2>| Collider::try_convex_hull(points).expect("points");
    let round = Vec::from_iter((0..40).map(|step| b * Vec2::from_angle(0.157 * step as f32)));
    let line = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| Vec2::new(x, random.random_range(-0.5..0.5)));
    let at = Isometry2d::new(q, Rot2::radians(3.0 * a));
    let inner = Collider::try_compound([
        (at, Collider::from(Rectangle::new(a, b)).rounded(0.1)),
        (Isometry2d::from_xy(0.5, 0.1), Circle::new(b).into()),
    ]);
    let inner = inner.expect("a compound");
    let outer = Collider::try_compound([
        (at, inner.clone().rounded(0.05)),
        (at.inverse(), Ellipse::new(a, b).into()),
    ]);
    let sector = CircularSector::new(a, 0.4 * PI);
    let polygon = ConvexPolygon::new(round.clone()).expect("convex");
    vec![
        Circle::new(a).into(),
        Capsule2d::new(a, b).into(),
        Rectangle::new(a, b).into(),
        Rhombus::new(a, b).into(),
        Ellipse::new(a, b).into(),
        CircularSegment::new(a, b).into(),
        Collider::try_new(sector).expect("convex"),
        Segment2d::new(p, q).into(),
        Triangle2d::new(p, q, r).into(),
        RegularPolygon::new(a, 7).into(),
        RegularPolygon::new(a, 40).into(),
        polygon.into(),
        hull(points(random, 1)),
        hull(points(random, 9)),
        hull(round),
        Plane2d { normal }.into(),
        Rounded::new(Plane2d { normal }, 0.2).into(),
        Collider::from(Rectangle::new(a, b)).rounded(0.3),
        Collider::from(Triangle2d::new(p, q, r))
            .rounded(0.1)
            .rounded(0.07),
        Collider::from(Circle::new(a)).rounded(0.3),
        inner.rounded(0.02),
        outer.expect("a compound"),
        flat_blocks(random).joined(),
        flat_blocks(random).rounded(0.1).joined(),
        Collider::try_polyline(line).expect("a line"),
        Collider::try_polyline(line).expect("a line").one_sided(),
        Collider::try_polyline([p, q, r, p])
            .expect("a line")
            .rounded(0.1),
        Collider::cells(&flat_cells(random)),
        Collider::cells(&flat_cells(random)).rounded(0.1),
    ]
}

/// Returns a random cell.
fn cell(random: &mut StdRng) -> Cell {
    let cell = match random.random_range(0..5) {
        0 => Cell::SOLID,
        4 => Cell::shape(random.random_range(0..2)),
        1 => Cell::slope(random.random_range(0..=8), random.random_range(0..=8)),
        2 => Cell::one_way([CellDirection::Y, CellDirection::NegX][random.random_range(0..2)]),
        _ => Cell::slope(random.random_range(1..=8), 3).hanging(),
    };
    cell.with_material(random.random_range(0..3))
}

/// Returns a compound of two blocks that touch or overlap.
fn flat_blocks(random: &mut StdRng) -> Collider {
    let block = Collider::rectangle(random.random_range(1.0..2.0), 1.0);
    let turned = Isometry2d::new(Vec2::X, Rot2::radians(random.random_range(-1.0..1.0)));
    Collider::compound([(Isometry2d::IDENTITY, block.clone()), (turned, block)])
}

fn flat_cells(random: &mut StdRng) -> CellGrid<Vec2> {
    let size = length(random);
    let [a, b, c] = [[-0.5, -0.5], [0.5, -0.5], [0.1, 0.5]].map(|it| size * Vec2::from(it));
    let shapes = [Triangle2d::new(a, b, c), Triangle2d::new(b, c, -a)];
    let mut grid = CellGrid::with_shapes(Vec2::splat(size), shapes).expect("two triangles");
    grid.set(IVec2::ZERO, Cell::SOLID);
    for _ in 0..20 {
        let at = IVec2::new(random.random_range(-4..4), random.random_range(-4..4));
        grid.set(at, cell(random));
    }
    grid
}

/// Returns every kind of shape in 3D.
fn of_space(random: &mut StdRng) -> Vec<Collider> {
    let size = length(random);
    let blocks = [0.5, 0.9].map(|height| Cuboid::new(size, height * size, 0.7 * size));
    let mut cells = CellGrid::with_shapes(Vec3::splat(size), blocks).expect("two blocks");
    for (at, cell) in flat_cells(random).iter() {
        cells.set(at.extend(random.random_range(0..2)), cell);
    }
    cells.set(IVec3::NEG_X, Cell::slope_z(3, 7));
    let points = |random: &mut StdRng, count| (0..count).map(|_| point(random)).collect::<Vec<_>>();
    let [a, b, c] = [length(random), length(random), length(random)];
    let [p, q, r, s] = [(); 4].map(|()| point(random));
    let normal = Dir3::new(p).expect("not null");
    let hull = |points: Vec<Vec3>| Collider::try_convex_hull(points).expect("points");
    let ball = points(random, 300).into_iter();
    let ball = Vec::from_iter(ball.map(|it| it.normalize_or(Vec3::X)));
    let triangles = [[0, 1, 2], [2, 1, 3], [3, 1, 0]];
    let mesh = Collider::try_trimesh([p, q, r, s], triangles).expect("a mesh");
    let heights = [(); 20].map(|()| random.random_range(-0.4..0.4));
    let field = Collider::try_heightfield(Vec2::new(5.0, 4.0), 5, &heights).expect("a field");
    let at = Isometry3d::new(q, rotation(random));
    let inner = Collider::try_compound([
        (at, Collider::from(Cuboid::new(a, b, c)).rounded(0.1)),
        (Isometry3d::from_xyz(0.5, 0.1, 0.3), Cone::new(a, b).into()),
    ]);
    let inner = inner.expect("a compound");
    let outer = Collider::try_compound([
        (at, inner.clone().rounded(0.05)),
        (Isometry3d::new(r, rotation(random)), hull(ball.clone())),
    ]);
    let sector = CircularSector::new(a, 0.4 * PI);
    vec![
        Sphere::new(a).into(),
        Capsule3d::new(a, b).into(),
        Cuboid::new(a, b, c).into(),
        Cylinder::new(a, b).into(),
        Cone::new(a, b).into(),
        ConicalFrustum {
            radius_top: a,
            radius_bottom: b,
            height: c,
        }
        .into(),
        Segment3d::new(p, q).into(),
        Triangle3d::new(p, q, r).into(),
        Tetrahedron::new(p, q, r, s).into(),
        Plane3d::new(*normal, Vec2::new(a, b)).into(),
        Extrusion::new(Circle::new(a), b).into(),
        Extrusion::new(Triangle2d::new(p.xy(), q.xy(), r.xy()), b).into(),
        Extrusion::new(RegularPolygon::new(a, 20), b).into(),
        Collider::try_new(Extrusion::new(sector, b)).expect("convex"),
        Collider::from(Extrusion::new(Ellipse::new(a, b), c)).rounded(0.2),
        hull(points(random, 1)),
        hull(points(random, 30)),
        hull(ball),
        InfinitePlane3d { normal }.into(),
        Rounded::new(InfinitePlane3d { normal }, 0.2).into(),
        Collider::from(Cylinder::new(a, b)).rounded(0.2),
        Collider::from(Cuboid::new(a, b, c))
            .rounded(0.1)
            .rounded(0.07),
        Collider::from(Sphere::new(a)).rounded(0.3),
        inner.rounded(0.02),
        outer.expect("a compound"),
        mesh.clone(),
        mesh.clone().one_sided(),
        mesh.rounded(0.1).one_sided(),
        field.clone(),
        field.one_sided().rounded(0.1),
        Collider::cells(&cells),
    ]
}

fn of(dimension: Dimension, random: &mut StdRng) -> Vec<Collider> {
    match dimension {
        Dimension::D2 => of_the_plane(random),
        Dimension::D3 => of_space(random),
    }
}

/// Returns poses that are close together: stretched, sheared by a rotation under a scale, and
/// mirrored.
fn poses(dimension: Dimension, count: usize, random: &mut StdRng) -> Vec<Transform> {
    let pose = |_| {
        let stretched = random.random_bool(0.5);
        let scale = [(); 3].map(|()| {
            let size = random.random_range(0.7..1.4);
            if random.random_bool(0.2) { -size } else { size }
        });
        let turned = rotation(random);
        Transform {
            translation: point(random) * 3.0,
            rotation: match dimension {
                Dimension::D2 => Quat::from_rotation_z(turned.to_euler(EulerRot::XYZ).0),
                Dimension::D3 => turned,
            },
            scale: if stretched {
                Vec3::from(scale)
            } else {
                Vec3::splat(scale[0])
            },
        }
    };
    (0..count).map(pose).collect()
}

/// Returns all reports of the colliders, with one tick for each set of poses, and the colliders
/// that touched another collider. The reports have every digit, because `Debug` distinguishes all
/// f32 values.
fn reported(colliders: &[Collider], ticks: &[Vec<Transform>]) -> (Vec<String>, BTreeSet<usize>) {
    let mut app = app();
    let world = app.world_mut();
    // A parent with rotation and scale shears a child.
    let parent =
        Transform::from_rotation(Quat::from_rotation_z(0.4)).with_scale(Vec3::new(1.2, 0.9, 1.1));
    let parent = world.spawn(parent).id();
    let entities: Vec<_> = colliders
        .iter()
        .enumerate()
        .map(|(number, collider)| {
            let entity = world.spawn(collider.clone()).id();
            if number % 3 == 0 {
                world.entity_mut(entity).insert(ChildOf(parent));
            }
            entity
        })
        .collect();
    let mut lines = Vec::new();
    let mut met = BTreeSet::new();
    for poses in ticks {
        for (entity, pose) in entities.iter().zip(poses) {
            *transform(app.world_mut(), *entity) = *pose;
        }
        for hit in tick(&mut app).messages {
            for side in [hit.entity, hit.other] {
                met.extend(entities.iter().position(|entity| *entity == side));
            }
            let parts = app.world().resource::<Collisions>();
            lines.push(format!("{hit:?}"));
            lines.extend(
                parts
                    .parts(hit.entity, hit.other)
                    .map(|it| format!("{it:?}")),
            );
        }
    }
    (lines, met)
}

#[test]
fn a_loaded_collider_collides_as_the_saved_one_to_the_bit() {
    let mut random = StdRng::seed_from_u64(1);
    for dimension in Dimension::BOTH {
        for _ in 0..3 {
            let colliders = of(dimension, &mut random);
            assert!(!colliders.iter().any(Collider::is_inert));
            let count = colliders.len();
            let ticks = [(); 8].map(|()| poses(dimension, count, &mut random));
            let (expected, met) = reported(&colliders, &ticks);
            assert_eq!(met.len(), count, "each has met another: {met:?}");
            for format in &FORMATS {
                let loaded = colliders.iter().map(|it| through(format, it));
                let loaded = Vec::from_iter(loaded);
                let (actual, _) = reported(&loaded, &ticks);
                assert!(actual == expected, "{} in {dimension:?}", format.name);
            }
        }
    }
}

#[test]
fn a_loaded_collider_is_saved_as_the_same_text() {
    let mut random = StdRng::seed_from_u64(2);
    for dimension in Dimension::BOTH {
        for collider in of(dimension, &mut random) {
            for format in &FORMATS {
                let loaded = through(format, &collider);
                assert_eq!((format.save)(&loaded), (format.save)(&collider));
            }
        }
    }
}

/// If rounding has moved points of a face outward, a hull keeps some points that a second hull
/// would drop.
#[test]
fn a_loaded_hull_keeps_its_vertices() {
    let mut random = StdRng::seed_from_u64(6);
    for _ in 0..100 {
        let turn = rotation(&mut random);
        let size = Vec3::new(
            length(&mut random),
            length(&mut random),
            length(&mut random),
        );
        let grid = (0..7 * 7 * 7).map(|number| {
            let steps = Vec3::new(
                (number % 7) as f32,
                (number / 7 % 7) as f32,
                (number / 49) as f32,
            );
            // The hull is thin, so that rounding is large relative to its thickness.
            turn * (size.with_z(1e-6) * (steps / 6.0 - 0.5)) + Vec3::new(0.3, -0.2, 0.1)
        });
        let hull = Collider::try_convex_hull(grid).expect("points");
        for format in &FORMATS {
            let loaded = through(format, &hull);
            assert_eq!((format.save)(&loaded), (format.save)(&hull));
        }
    }
}

#[test]
fn the_default_collider_stays_inert() {
    for format in &FORMATS {
        assert!(through(format, &Collider::default()).is_inert());
    }
}

/// The format of users' files: a change here breaks them.
#[test]
fn a_saved_collider_contains_the_numbers_it_was_built_from() {
    let stand = Isometry2d::from_xy(0.0, 0.1);
    let triangle = [[-0.5, -1.0], [0.5, -1.0], [0.5, 1.0]].map(Vec2::from);
    let shapes = [ConvexHull::new(triangle).expect("points")];
    let mut row = CellGrid::with_shapes(Vec2::new(1.0, 2.0), shapes).expect("a triangle");
    let full = (-1..2).map(|x| (IVec2::new(x, 0), Cell::SOLID));
    row.extend(full);
    let half = Cell::slope(4, 0).hanging().with_material(7);
    row.set(IVec2::new(2, 0), half);
    row.set(IVec2::new(3, 0), Cell::one_way(CellDirection::Y));
    row.set(IVec2::new(4, 0), Cell::shape(0).with_material(9));
    let texts = [
        (Collider::default(), "Inert"),
        (
            Circle::new(20.0).into(),
            "D2(Convex((kind:Ball(radius:20.0),margin:0.0)))",
        ),
        (
            Collider::from(Cuboid::new(1.0, 0.5, 0.25)).rounded(0.1),
            "D3(Convex((kind:Box(half_size:(0.5,0.25,0.125)),margin:0.1)))",
        ),
        (
            Collider::try_convex_hull([Vec2::ZERO, Vec2::X, Vec2::Y]).expect("points"),
            "D2(Convex((kind:Hull([(0.0,0.0),(1.0,0.0),(0.0,1.0)]),margin:0.0)))",
        ),
        (
            Collider::try_new(Extrusion::new(CircularSector::new(1.0, 0.5), 3.0)).expect("convex"),
            "D3(Convex((kind:Extrusion(base:(kind:Cap((radius:1.0,half_angle:0.5,pointed:true)),margin:0.0),\
                half_depth:1.5),margin:0.0)))",
        ),
        (
            Collider::try_compound([(stand, Circle::new(1.0).into())]).expect("a compound"),
            "D2(Compound(parts:[(translation:(0.0,0.10000000149011612),rotation:(1.0,0.0,0.0,1.0),\
                shape:(kind:Ball(radius:1.0),margin:0.0))],margin:0.0))",
        ),
        (
            Collider::try_polyline([Vec2::X, Vec2::ZERO, Vec2::Y])
                .expect("a line")
                .one_sided(),
            "D2(Surface(vertices:[(1.0,0.0),(0.0,0.0),(0.0,1.0)],facets:[(0,1),(1,2)],one_sided:true,margin:0.0))",
        ),
        (
            Collider::compound([(stand, Collider::rectangle(2.0, 4.0).rounded(0.5))]).joined(),
            "D2(Joined(parts:[(translation:(0.0,0.10000000149011612),rotation:(1.0,0.0,0.0,1.0),\
                shape:(kind:Box(half_size:(1.0,2.0)),margin:0.0))],margin:0.5))",
        ),
        (
            Collider::cells(&row),
            "D2(Cells(cell_size:(1.0,2.0),shapes:[[(-0.5,-1.0),(0.5,-1.0),(0.5,1.0)]],runs:[\
                (start:(-1,0),count:3,cell:(heights:(8,8),along_z:false,\
                hanging:false,one_way:None,shape:None,material:0)),(start:(2,0),count:1,cell:(heights:(4,0),along_z:false,hanging:true,\
                one_way:None,shape:None,material:7)),(start:(3,0),count:1,cell:(heights:(0,0),along_z:false,hanging:false,\
                one_way:Some(Y),shape:None,material:0)),(start:(4,0),count:1,cell:(heights:(0,0),along_z:false,hanging:false,\
                one_way:None,shape:Some(0),material:9))],margin:0.0))",
        ),
        (
            Collider::cells(&CellGrid::new(Vec2::ONE)),
            "NoCells(D2((cell_size:(1.0,1.0),shapes:[],runs:[])))",
        ),
    ];
    for (collider, expected) in texts {
        assert_eq!(ron::to_string(&collider).as_deref(), Ok(expected));
        let loaded = ron::from_str::<Collider>(expected).expect("itself");
        assert_eq!(format!("{loaded:?}"), format!("{collider:?}"));
    }
}

#[test]
fn a_loaded_grid_equals_the_saved_grid() {
    let grid = flat_cells(&mut StdRng::seed_from_u64(5));
    let text = ron::to_string(&grid).expect("a text");
    assert!(ron::from_str::<CellGrid<Vec2>>(&text).expect("a grid") == grid);
    let bytes = postcard::to_allocvec(&grid).expect("bytes");
    assert!(postcard::from_bytes::<CellGrid<Vec2>>(&bytes).expect("a grid") == grid);
    // Bevy's scenes use reflection.
    let mut registry = TypeRegistry::new();
    registry.register::<CellGrid<Vec2>>();
    let text = ron::to_string(&ReflectSerializer::new(&grid, &registry)).expect("a text");
    let mut reader = ron::Deserializer::from_str(&text).expect("RON");
    let loaded = ReflectDeserializer::new(&registry).deserialize(&mut reader);
    assert_eq!(
        loaded.expect("a grid").reflect_partial_eq(&grid),
        Some(true)
    );
}

/// Each case is the data of an invalid shape, and the error that loading the data returns.
#[test]
fn invalid_shapes_are_errors_with_the_reason_of_the_constructor() {
    let convex = |kind: &str| format!("D2(Convex((kind:{kind},margin:0.0)))");
    let cells = |size: &str, run: &str| {
        let solid = "(heights:(8,7),along_z:false,hanging:false,material:0)";
        let run = run.replace("SOLID", solid);
        format!("D2(Cells(cell_size:({size},{size}),runs:[{run}],margin:0.0))")
    };
    let no_cells = |size: &str, run: &str| {
        let data = cells(size, run).replace(",margin:0.0))", ")))");
        data.replace("D2(Cells(", "NoCells(D2((")
    };
    let solid = |kind: &str| format!("D3(Convex((kind:{kind},margin:0.0)))");
    let part = |translation: &str, rotation: &str, radius: &str| {
        format!(
            "D2(Compound(parts:[(translation:{translation},rotation:{rotation},\
                shape:(kind:Ball(radius:{radius}),margin:0.0))],margin:0.0))"
        )
    };
    let surface = |vertices: &str, facets: &str, margin: &str| {
        format!("D3(Surface(vertices:{vertices},facets:{facets},one_sided:false,margin:{margin}))")
    };
    let corners = "[(0,0,0),(1,0,0),(0,1,0)]";
    let many = vec!["(0.0,0.0)"; ConvexHull::<Vec2>::MAX_POINTS + 1].join(",");
    let cases = [
        (convex("Ball(radius:-1.0)"), ShapeError::Negative("radius")),
        (convex("Ball(radius:NaN)"), ShapeError::NotFinite("radius")),
        (convex("Ball(radius:inf)"), ShapeError::NotFinite("radius")),
        (convex("Ball(radius:1e39)"), ShapeError::NotFinite("radius")),
        (
            convex("Capsule(half_length:-1.0,radius:1.0)"),
            ShapeError::Negative("half length"),
        ),
        (
            convex("Box(half_size:(1.0,-1.0))"),
            ShapeError::Negative("half size"),
        ),
        (
            solid("Ellipsoid(half_size:(1.0,1.0,NaN))"),
            ShapeError::NotFinite("half size"),
        ),
        (
            convex("Diamond(half_diagonals:(-inf,1.0))"),
            ShapeError::NotFinite("half diagonal"),
        ),
        (
            solid("Frustum(half_height:1.0,radius_top:-1.0,radius_bottom:1.0)"),
            ShapeError::Negative("radius"),
        ),
        (
            convex("Cap((radius:1.0,half_angle:2.0,pointed:true))"),
            ShapeError::Concave("a circular sector of more than half a circle"),
        ),
        (
            convex("Cap((radius:1.0,half_angle:NaN,pointed:false))"),
            ShapeError::NotFinite("half angle"),
        ),
        (
            convex("Segment(((0.0,0.0),(NaN,0.0)))"),
            ShapeError::NotFinite("vertex"),
        ),
        (
            convex("Triangle(((0.0,0.0),(1.0,0.0),(0.0,inf)))"),
            ShapeError::NotFinite("vertex"),
        ),
        (
            solid("Tetrahedron(((0,0,0),(1,0,0),(0,1,0),(0,0,NaN)))"),
            ShapeError::NotFinite("vertex"),
        ),
        (convex("Hull([])"), ShapeError::NoPoints),
        (
            convex("Hull([(0.0,NaN)])"),
            ShapeError::NotFinite("point of a convex hull"),
        ),
        (
            convex(&format!("Hull([{many}])")),
            ShapeError::TooManyPoints(ConvexHull::<Vec2>::MAX_POINTS),
        ),
        (
            convex("HalfSpace(normal:(0.0,0.0))"),
            ShapeError::Zero("normal"),
        ),
        (
            solid("HalfSpace(normal:(0.0,NaN,0.0))"),
            ShapeError::NotFinite("normal"),
        ),
        (
            solid("Extrusion(base:(kind:Ball(radius:1.0),margin:0.0),half_depth:-1.0)"),
            ShapeError::Negative("half depth"),
        ),
        (
            solid("Extrusion(base:(kind:Ball(radius:-1.0),margin:0.0),half_depth:1.0)"),
            ShapeError::Negative("radius"),
        ),
        (
            solid("Extrusion(base:(kind:HalfSpace(normal:(0.0,1.0)),margin:0.0),half_depth:1.0)"),
            ShapeError::Unbounded("a half-plane"),
        ),
        (
            "D2(Convex((kind:Ball(radius:1.0),margin:-1.0)))".into(),
            ShapeError::Negative("margin"),
        ),
        (
            "D2(Convex((kind:Box(half_size:(1.0,1.0)),margin:NaN)))".into(),
            ShapeError::NotFinite("margin"),
        ),
        (
            "D2(Compound(parts:[],margin:0.0))".into(),
            ShapeError::NoParts,
        ),
        (
            "D2(Compound(parts:[(translation:(0.0,0.0),rotation:(1.0,0.0,0.0,1.0),\
                shape:(kind:HalfSpace(normal:(0.0,1.0)),margin:0.0))],margin:0.0))"
                .into(),
            ShapeError::Unbounded("a half-space"),
        ),
        (
            part("(0.0,NaN)", "(1.0,0.0,0.0,1.0)", "1.0"),
            ShapeError::PoseNotFinite,
        ),
        (
            part("(0.0,1e39)", "(1.0,0.0,0.0,1.0)", "1.0"),
            ShapeError::PoseNotFinite,
        ),
        (
            part("(0.0,0.0)", "(1.0,0.0,0.0,1.1)", "1.0"),
            ShapeError::NotARotation,
        ),
        (
            part("(0.0,0.0)", "(1.0,0.0,1.0,0.0)", "1.0"),
            ShapeError::NotARotation,
        ),
        (
            part("(0.0,0.0)", "(1.0,0.0,NaN,1.0)", "1.0"),
            ShapeError::NotARotation,
        ),
        (
            part("(0.0,0.0)", "(1.0,0.0,0.0,1.0)", "-1.0"),
            ShapeError::Negative("radius"),
        ),
        (
            surface(corners, "[]", "0.0"),
            ShapeError::NoFacets("triangle of nonzero area"),
        ),
        (
            surface(corners, "[(0,1,1)]", "0.0"),
            ShapeError::NoFacets("triangle of nonzero area"),
        ),
        (
            surface(corners, "[(0,1,3)]", "0.0"),
            ShapeError::VertexOutOfRange { index: 3, count: 3 },
        ),
        (
            surface("[(0,0,0),(1,0,0),(0,NaN,0)]", "[(0,1,2)]", "0.0"),
            ShapeError::NotFinite("vertex"),
        ),
        (
            surface(corners, "[(0,1,2)]", "-0.5"),
            ShapeError::Negative("margin"),
        ),
        (
            cells("0.0", "(start:(0,0),count:1,cell:SOLID)"),
            ShapeError::Zero("size of a cell"),
        ),
        (
            cells("1.0", "(start:(16380,0),count:9,cell:SOLID)"),
            ShapeError::CellOutOfRange,
        ),
        (
            cells("1.0", "(start:(2147483647,0),count:255,cell:SOLID)"),
            ShapeError::CellOutOfRange,
        ),
        (
            cells("1.0", "(start:(0,0),count:0,cell:SOLID)"),
            ShapeError::NoFacets("cell that is not empty"),
        ),
        (
            cells("1.0", "(start:(0,0),count:1,cell:SOLID)")
                .replace("false,hanging", "true,hanging"),
            ShapeError::SlopeAlongZ,
        ),
        (
            no_cells("1.0", "(start:(0,0),count:1,cell:SOLID)"),
            ShapeError::NotEmpty,
        ),
        (
            cells("1.0", "(start:(0,0),count:1,cell:SOLID)").replace("mat", "shape:Some(0),mat"),
            ShapeError::UnknownCellShape,
        ),
        (no_cells("0.0", ""), ShapeError::Zero("size of a cell")),
        (no_cells("NaN", ""), ShapeError::NotFinite("size of a cell")),
    ];
    for (data, reason) in cases {
        let error = ron::from_str::<Collider>(&data).expect_err(&data);
        let error = error.to_string();
        assert!(error.contains(&reason.to_string()), "{error}, not {reason}");
    }
}

#[test]
fn unknown_formats_are_errors() {
    for data in [
        "",
        "D2",
        "D3(Convex((kind:Torus(radius:1.0),margin:0.0)))",
        "D2(Convex((kind:Ball(),margin:0.0)))",
        "D2(Convex((kind:Box(half_size:(1.0,1.0,1.0)),margin:0.0)))",
        "D3(Convex((kind:Box(half_size:(1.0,1.0)),margin:0.0)))",
        "D2(Surface(vertices:[(0.0,0.0),(1.0,0.0)],facets:[(0,-1)],one_sided:false,margin:0.0))",
    ] {
        assert!(ron::from_str::<Collider>(data).is_err(), "{data}");
    }
    // JSON has no NaN and writes null instead.
    let data = r#"{"D2":{"Convex":{"kind":{"Ball":{"radius":null}},"margin":0.0}}}"#;
    assert!(serde_json::from_str::<Collider>(data).is_err());
}

/// Damaged bytes are refused, or load another collider, which a tick handles like any other
/// collider.
#[test]
fn damaged_bytes_are_an_error_or_a_collider_and_never_a_panic() {
    let mut random = StdRng::seed_from_u64(3);
    let mut app = app();
    for dimension in Dimension::BOTH {
        app.world_mut().spawn(dimension.block(3.0));
    }
    let [mut refused, mut taken] = [0; 2];
    for dimension in Dimension::BOTH {
        for collider in of(dimension, &mut random) {
            let whole = postcard::to_allocvec(&collider).expect("data");
            for _ in 0..60 {
                let mut bytes = whole.clone();
                for _ in 0..random.random_range(1..4) {
                    let at = random.random_range(0..bytes.len());
                    bytes[at] = random.random();
                }
                if random.random_bool(0.2) {
                    bytes.truncate(random.random_range(0..bytes.len()));
                }
                match postcard::from_bytes::<Collider>(&bytes) {
                    Err(_) => refused += 1,
                    Ok(collider) => {
                        taken += 1;
                        let entity = app.world_mut().spawn(collider).id();
                        for hit in tick(&mut app).messages {
                            assert!(hit.normal.is_normalized() && hit.depth >= 0.0, "{hit:?}");
                        }
                        app.world_mut().despawn(entity);
                    }
                }
            }
        }
    }
    assert!(refused > 300 && taken > 300, "{refused} and {taken}");
}

#[test]
fn custom_and_invalid_shapes_cannot_be_saved_and_the_error_says_why() {
    struct Point;

    impl Support for Point {
        type Vector = Vec3;

        fn support(&self, _: DVec3) -> DVec3 {
            DVec3::ZERO
        }
    }

    struct Flat;

    impl Support for Flat {
        type Vector = Vec2;

        fn support(&self, _: DVec2) -> DVec2 {
            DVec2::ZERO
        }
    }

    let part = Collider::try_compound([(Vec3::X, Collider::custom(Point))]);
    let custom = [
        Collider::custom(Point),
        Collider::custom(Flat),
        Collider::custom(Flat).rounded(1.0),
        part.expect("a compound"),
    ];
    let rejected = Collider::from(Circle::new(-1.0));
    for format in FORMATS.iter().filter(|it| it.name != "postcard") {
        for collider in &custom {
            let error = (format.save)(collider).expect_err("no data");
            assert!(error.contains("custom shape cannot be saved"), "{error}");
        }
        let error = (format.save)(&rejected).expect_err("no data");
        let reason = ShapeError::Negative("radius").to_string();
        assert!(error.contains(&reason), "{error}");
    }
    // This format has no text for errors.
    for collider in custom.iter().chain([&rejected]) {
        assert!(postcard::to_allocvec(collider).is_err());
    }
}

#[test]
fn nested_margins_are_saved_as_one() {
    let block = || Collider::from(Cuboid::new(1.0, 1.0, 1.0));
    let many = (0..100_000).fold(block(), |collider, _| collider.rounded(0.25));
    let text = |collider: &Collider| ron::to_string(collider).expect("data");
    assert_eq!(text(&many), text(&block().rounded(25_000.0)));
    let too_much = block().rounded(f32::MAX).try_rounded(f32::MAX);
    assert_eq!(
        too_much.expect_err("infinite"),
        ShapeError::NotFinite("margin")
    );
}

#[test]
fn layers_can_be_saved_and_loaded() {
    let layers = CollisionLayers::new(1, 6);
    let text = ron::to_string(&layers).expect("data");
    assert_eq!(text, "(memberships:1,filters:6)");
    assert_eq!(ron::from_str(&text), Ok(layers));
}

/// Returns the data of a scene: the components of each entity by their names.
fn scene(world: &World, entities: &[Entity], registry: &TypeRegistry) -> Vec<Vec<String>> {
    let of = |entity: &Entity| {
        let entity = world.entity(*entity);
        let of = |registration: &bevy::reflect::TypeRegistration| {
            let component = registration.data::<ReflectComponent>()?.reflect(entity)?;
            let component = component.as_partial_reflect();
            let serializer = ReflectSerializer::new(component, registry);
            Some(ron::to_string(&serializer).expect("data"))
        };
        registry.iter().filter_map(of).collect()
    };
    entities.iter().map(of).collect()
}

fn spawn_scene(world: &mut World, scene: &[Vec<String>], registry: &TypeRegistry) {
    for components in scene {
        let mut entity = world.spawn_empty();
        for text in components {
            let mut deserializer = ron::Deserializer::from_str(text).expect("a text");
            let component = ReflectDeserializer::new(registry).deserialize(&mut deserializer);
            let component: Box<dyn PartialReflect> = component.expect("a component");
            let info = component.get_represented_type_info().expect("registered");
            let registration = registry.get(info.type_id()).expect("registered");
            let by_reflection = registration.data::<ReflectComponent>().expect("one");
            by_reflection.insert(&mut entity, &*component, registry);
        }
    }
}

/// The scene is saved and loaded by reflection alone, as in Bevy's scenes.
#[test]
fn a_loaded_scene_collides_as_the_saved_one() {
    let mut random = StdRng::seed_from_u64(4);
    for dimension in Dimension::BOTH {
        let colliders = of(dimension, &mut random);
        let places = poses(dimension, colliders.len(), &mut random);
        let mut saved = app();
        let mut entities = Vec::new();
        for (number, (collider, place)) in colliders.into_iter().zip(places).enumerate() {
            let entity = saved.world_mut().spawn((collider, place)).id();
            if number % 4 == 0 {
                let layers = CollisionLayers::new(2, u32::MAX);
                saved.world_mut().entity_mut(entity).insert(layers);
            } else if number % 4 == 1 {
                let layers = CollisionLayers::new(1, 1);
                saved.world_mut().entity_mut(entity).insert(layers);
            }
            entities.push(entity);
        }
        let mut loaded = app();
        for app in [&mut saved, &mut loaded] {
            // Bevy's `TransformPlugin` registers `Transform`, too.
            app.register_type::<Transform>();
        }
        let registry = saved.world().resource::<AppTypeRegistry>().clone();
        let scene = scene(saved.world(), &entities, &registry.read());
        let registry = loaded.world().resource::<AppTypeRegistry>().clone();
        spawn_scene(loaded.world_mut(), &scene, &registry.read());

        // The messages are in the order of the entities, whose indices are the same in both apps.
        let report = |app: &mut App| format!("{:?}", tick(app).messages);
        let expected = report(&mut saved);
        assert!(expected.matches("Started").count() > 20, "{expected}");
        assert_eq!(report(&mut loaded), expected);
    }
}

#[test]
fn the_error_of_saving_a_custom_collider_says_so() {
    struct Point;

    impl Support for Point {
        type Vector = Vec3;

        fn support(&self, _: DVec3) -> DVec3 {
            DVec3::ZERO
        }
    }

    let app = app();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let collider = Collider::custom(Point);
    let error = ron::to_string(&ReflectSerializer::new(&collider, &registry));
    let error = error.expect_err("no data").to_string();
    assert!(error.contains("custom shape cannot be saved"), "{error}");
}

#[test]
fn the_plugin_registers_all_reflected_types() {
    let mut app = app();
    let ball = |x: f32| {
        (
            Collider::from(Sphere::new(1.0)),
            Transform::from_xyz(x, 0.0, 0.0),
        )
    };
    let world = app.world_mut();
    let entity = world.spawn((ball(0.0), CollidingEntities::default())).id();
    let other = world.spawn(ball(1.5)).id();
    let hit = tick(&mut app).only();
    // These names do not contain the file of a type.
    let names = [
        Collider::type_path(),
        CollisionLayers::type_path(),
        CollidingEntities::type_path(),
        Collisions::type_path(),
        CollisionEvent::type_path(),
        CollisionPhase::type_path(),
        EndReason::type_path(),
        BroadPhase::type_path(),
        OngoingEvents::type_path(),
        ShapeCaster::type_path(),
    ];
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();

    for name in names {
        let (package, name) = name.rsplit_once("::").expect("a path");
        assert_eq!(package, "headbutt");
        assert!(registry.get_with_short_type_path(name).is_some(), "{name}");
    }

    // A resource and a message are restored completely from a copy that has lost its type.
    let state = app.world().resource::<Collisions>().clone();
    let copy = dynamic(&state);
    assert_eq!(Collisions::from_reflect(&*copy), Some(state.clone()));
    assert_eq!(CollisionEvent::from_reflect(&*dynamic(&hit)), Some(hit));
    assert!(registry.contains(id_of::<Collisions>()));
    let message = registry.get_type_data::<ReflectMessage>(id_of::<CollisionEvent>());
    message
        .expect("registered")
        .write_message(app.world_mut(), &*dynamic(&hit), &registry);
    let messages = tick(&mut app).messages;
    assert!(messages.contains(&hit), "{messages:?}");

    // The entities in a component are mapped to the entities of a scene.
    let touched = app.world().get::<CollidingEntities>(entity);
    let mut touched = touched.expect("spawned").clone();
    assert!(touched.contains(other));
    let mut map = EntityHashMap::from_iter([(other, entity)]);
    <CollidingEntities as Component>::map_entities(&mut touched, &mut map);
    assert_eq!(touched.iter().collect::<Vec<_>>(), [entity]);
    let component = registry.get_type_data::<ReflectComponent>(id_of::<CollidingEntities>());
    let reflected = component.and_then(|it| it.reflect(app.world().entity(entity)));
    assert!(reflected.is_some());
}

fn id_of<T: 'static>() -> core::any::TypeId {
    core::any::TypeId::of::<T>()
}

/// A compound that has been rotated many times can still be loaded.
#[test]
fn the_rotations_of_nested_compound_parts_can_be_loaded() {
    let mut random = StdRng::seed_from_u64(5);
    let mut plane = Collider::from(Circle::new(0.1));
    let mut solid = Collider::from(Sphere::new(0.1));
    for _ in 0..200 {
        let turn = Isometry2d::new(flat(&mut random), Rot2::radians(length(&mut random)));
        plane = Collider::try_compound([(turn, plane)]).expect("a compound");
        let turn = Isometry3d::new(point(&mut random), rotation(&mut random));
        solid = Collider::try_compound([(turn, solid)]).expect("a compound");
    }
    for format in &FORMATS {
        through(format, &plane);
        through(format, &solid);
    }
}
