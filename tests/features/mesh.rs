//! Colliders from Bevy's meshes: the data read from a mesh, and colliders that follow a changed
//! mesh.

use crate::support::{
    Dimension, assert_near, assert_near_vec, frame, read, start, tick, transform,
    warnings::Warnings,
};
use bevy::{
    asset::RenderAssetUsages,
    ecs::{
        entity_disabling::{DefaultQueryFilters, Disabled},
        schedule::{ScheduleLabel, SingleThreadedExecutor},
    },
    mesh::{Indices, MeshPlugin, MeshVertexAttribute, PrimitiveTopology, VertexFormat},
    prelude::*,
};
use headbutt::{
    ConvexHull, IgnoredReason, MeshError, MeshShape, MeshSource, PairStatus, explain, prelude::*,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// Returns an app with meshes.
fn app() -> App {
    with_meshes(App::new())
}

fn with_meshes(mut app: App) -> App {
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        HeadbuttPlugin::default(),
    ));
    start(&mut app);
    app
}

fn meshes(app: &mut App) -> Mut<'_, Assets<Mesh>> {
    app.world_mut().resource_mut()
}

/// Returns a mesh of a square or a cube.
fn block(dimension: Dimension, size: f32) -> Mesh {
    match dimension {
        Dimension::D2 => Rectangle::new(size, size).into(),
        Dimension::D3 => Cuboid::new(size, size, size).into(),
    }
}

/// Inserts the mesh component of an entity.
fn show(app: &mut App, entity: Entity, dimension: Dimension, mesh: Handle<Mesh>) {
    let mut entity = app.world_mut().entity_mut(entity);
    match dimension {
        Dimension::D2 => entity.insert(Mesh2d(mesh)),
        Dimension::D3 => entity.insert(Mesh3d(mesh)),
    };
}

const NAME: &str = "the one of the mesh";

/// An entity at the origin that follows a mesh, and a ball of radius 1 at x = 1.5. A box of size 2
/// overlaps the ball by 0.5. A box of size 0.5 does not touch the ball.
struct Scene {
    app: App,
    dimension: Dimension,
    entity: Entity,
    ball: Entity,
}

impl Scene {
    /// Runs a test in both dimensions, with each kind of collider.
    fn each(test: impl Fn(Self, Handle<Mesh>)) {
        for dimension in Dimension::BOTH {
            for wish in [
                ColliderFromMesh::convex_hull(),
                ColliderFromMesh::trimesh(),
                ColliderFromMesh::one_sided_trimesh(),
            ] {
                let mut scene = Self::new(app(), dimension);
                let mesh = meshes(&mut scene.app).add(block(dimension, 2.0));
                scene.wish(wish);
                test(scene, mesh);
            }
        }
    }

    fn new(mut app: App, dimension: Dimension) -> Self {
        let world = app.world_mut();
        let entity = world.spawn(Name::new(NAME)).id();
        let place = Transform::from_xyz(1.5, 0.0, 0.0);
        let ball = world.spawn((dimension.ball(1.0), place)).id();
        Self {
            app,
            dimension,
            entity,
            ball,
        }
    }

    fn wish(&mut self, wish: ColliderFromMesh) {
        self.app.world_mut().entity_mut(self.entity).insert(wish);
    }

    fn show(&mut self, mesh: &Handle<Mesh>) {
        show(&mut self.app, self.entity, self.dimension, mesh.clone());
    }

    fn block(&mut self, size: f32) -> Handle<Mesh> {
        let mesh = block(self.dimension, size);
        meshes(&mut self.app).add(mesh)
    }

    /// Runs one tick, and then asserts the size of the entity. `None` means that the entity touches
    /// nothing.
    #[track_caller]
    fn assert_size(&mut self, size: Option<f32>) {
        tick(&mut self.app);
        let (entity, ball) = (self.entity, self.ball);
        let contact = read(self.app.world_mut(), |it| it.between(entity, ball));
        assert_eq!(contact.is_some(), size.is_some(), "{contact:?}");
        if let Some((contact, size)) = contact.zip(size) {
            assert_near(contact.depth, size / 2.0 - 0.5, 10.0);
            assert_near_vec(contact.normal, Vec3::X, 10.0);
        }
    }
}

#[test]
fn a_mesh_collides_in_the_tick_in_which_it_is_loaded() {
    let warnings = Warnings::listen();
    Scene::each(|mut scene, mesh| {
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
    });
    // Here, the mesh is loaded later.
    Scene::each(|mut scene, _| {
        let mesh = meshes(&mut scene.app).reserve_handle();
        scene.show(&mesh);
        for _ in 0..3 {
            scene.assert_size(None);
            let collider = scene.app.world().get::<Collider>(scene.entity);
            assert!(collider.is_some_and(Collider::is_inert));
        }
        let loaded = block(scene.dimension, 2.0);
        meshes(&mut scene.app).insert(&mesh, loaded).unwrap();
        scene.assert_size(Some(2.0));
    });
    // The collider follows a given mesh, even if the entity has no mesh of its own, or a larger
    // mesh.
    Scene::each(|mut scene, mesh| {
        let other = scene.block(3.0);
        let given: MeshSource = match scene.dimension {
            Dimension::D2 => Mesh2d(mesh).into(),
            Dimension::D3 => Mesh3d(mesh).into(),
        };
        scene.wish(ColliderFromMesh::convex_hull().of(given));
        scene.assert_size(Some(2.0));
        scene.show(&other);
        scene.assert_size(Some(2.0));
    });
    warnings.assert_none();
}

#[test]
fn the_order_of_plugins_does_not_matter() {
    for dimension in Dimension::BOTH {
        let mut app = App::new();
        app.add_plugins((HeadbuttPlugin::default(), MinimalPlugins));
        app.add_plugins((AssetPlugin::default(), MeshPlugin));
        start(&mut app);
        let mut scene = Scene::new(app, dimension);
        let mesh = scene.block(2.0);
        scene.wish(ColliderFromMesh::trimesh());
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        let changed = block(dimension, 3.0);
        meshes(&mut scene.app).insert(&mesh, changed).unwrap();
        tick(&mut scene.app);
        scene.assert_size(Some(3.0));
    }
}

#[test]
fn an_app_without_mesh_assets_gets_one_warning() {
    let warnings = Warnings::listen();
    for dimension in Dimension::BOTH {
        for with_assets in [false, true] {
            let mut app = App::new();
            app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
            if with_assets {
                // The app has an asset server, but no `Assets<Mesh>`.
                app.add_plugins(AssetPlugin::default());
            }
            start(&mut app);
            let mut scene = Scene::new(app, dimension);
            scene.wish(ColliderFromMesh::trimesh());
            scene.assert_size(None);
            scene.show(&Handle::default());
            for _ in 0..3 {
                scene.assert_size(None);
            }
            // The ball is not affected.
            let other = scene.app.world_mut().spawn(dimension.ball(1.0)).id();
            tick(&mut scene.app);
            let ball = scene.ball;
            let met = read(scene.app.world_mut(), |it| it.between(ball, other));
            assert!(met.is_some());
            warnings.assert_one_naming(scene.entity, "MeshPlugin");
        }
    }
}

#[test]
fn the_collider_follows_changes_of_its_mesh() {
    Scene::each(|mut scene, mesh| {
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        // The mesh is changed in place, and then replaced. Bevy sends the asset event after the
        // frame's tick.
        let grown = block(scene.dimension, 3.0);
        *meshes(&mut scene.app).get_mut(&mesh).unwrap() = grown;
        frame(&mut scene.app, 0);
        scene.assert_size(Some(3.0));
        let shrunk = block(scene.dimension, 0.5);
        meshes(&mut scene.app).insert(&mesh, shrunk).unwrap();
        frame(&mut scene.app, 0);
        scene.assert_size(None);
        // While the mesh is missing, the collider keeps its last shape.
        let size = block(scene.dimension, 2.0);
        meshes(&mut scene.app).insert(&mesh, size).unwrap();
        frame(&mut scene.app, 0);
        scene.assert_size(Some(2.0));
        meshes(&mut scene.app).remove(&mesh);
        for _ in 0..3 {
            scene.assert_size(Some(2.0));
        }
        let back = block(scene.dimension, 3.0);
        meshes(&mut scene.app).insert(&mesh, back).unwrap();
        scene.assert_size(Some(3.0));
        // The mesh is removed and added again between two ticks.
        meshes(&mut scene.app).remove(&mesh);
        let back = block(scene.dimension, 2.0);
        meshes(&mut scene.app).insert(&mesh, back).unwrap();
        frame(&mut scene.app, 0);
        scene.assert_size(Some(2.0));
    });
}

#[test]
fn the_collider_follows_changes_of_its_handle_and_its_component() {
    Scene::each(|mut scene, mesh| {
        let larger = scene.block(3.0);
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        scene.show(&larger);
        scene.assert_size(Some(3.0));
        // The component is changed in place.
        let entity = scene.entity;
        let world = scene.app.world_mut();
        match scene.dimension {
            Dimension::D2 => world.get_mut::<Mesh2d>(entity).unwrap().0 = mesh.clone(),
            Dimension::D3 => world.get_mut::<Mesh3d>(entity).unwrap().0 = mesh.clone(),
        }
        scene.assert_size(Some(2.0));
        let mut wish = scene
            .app
            .world_mut()
            .get_mut::<ColliderFromMesh>(entity)
            .unwrap();
        wish.source = match scene.dimension {
            Dimension::D2 => Mesh2d(larger).into(),
            Dimension::D3 => Mesh3d(larger).into(),
        };
        scene.assert_size(Some(3.0));
    });
    // The ball is in the hole of a torus. Only the kind of collider changes.
    let mut scene = Scene::new(app(), Dimension::D3);
    let around_the_ball = Torus {
        minor_radius: 0.25,
        major_radius: 2.0,
    };
    let mesh = meshes(&mut scene.app).add(around_the_ball);
    scene.show(&mesh);
    transform(scene.app.world_mut(), scene.ball).translation.x = 0.0;
    let touches = |scene: &mut Scene, shape: MeshShape| {
        let mut wish = ColliderFromMesh::trimesh();
        wish.shape = shape;
        scene.wish(wish);
        tick(&mut scene.app);
        read(scene.app.world_mut(), |it| it.len() == 1)
    };
    assert!(!touches(&mut scene, MeshShape::Trimesh));
    assert!(touches(&mut scene, MeshShape::ConvexHull));
    assert!(!touches(&mut scene, MeshShape::OneSidedTrimesh));
}

#[test]
fn only_a_one_sided_mesh_ignores_colliders_behind_it() {
    for (wish, inside) in [
        (ColliderFromMesh::trimesh(), Some(0.5)),
        (ColliderFromMesh::one_sided_trimesh(), None),
        (ColliderFromMesh::convex_hull(), Some(1.5)),
    ] {
        // The center of the ball is inside a box that ends at x = 2.
        let mut scene = Scene::new(app(), Dimension::D3);
        let mesh = scene.block(4.0);
        scene.wish(wish);
        scene.show(&mesh);
        tick(&mut scene.app);
        let (entity, ball) = (scene.entity, scene.ball);
        let hit = read(scene.app.world_mut(), |it| it.between(entity, ball));
        assert_eq!(hit.is_some(), inside.is_some(), "{hit:?}");
        if let Some((hit, depth)) = hit.zip(inside) {
            assert_near(hit.depth, depth, 10.0);
        }
    }
}

#[test]
fn without_the_component_the_collider_stays_and_follows_the_mesh_no_more() {
    Scene::each(|mut scene, mesh| {
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        let mut entity = scene.app.world_mut().entity_mut(scene.entity);
        entity.remove::<ColliderFromMesh>();
        let changed = block(scene.dimension, 3.0);
        meshes(&mut scene.app).insert(&mesh, changed).unwrap();
        for _ in 0..3 {
            scene.assert_size(Some(2.0));
        }
        let other = scene.block(3.0);
        scene.show(&other);
        scene.assert_size(Some(2.0));
        // A removed collider does not come back either.
        let mut entity = scene.app.world_mut().entity_mut(scene.entity);
        entity.remove::<Collider>();
        scene.assert_size(None);
    });
    // The component is removed while the mesh is not loaded yet.
    Scene::each(|mut scene, _| {
        let mesh = meshes(&mut scene.app).reserve_handle();
        scene.show(&mesh);
        scene.assert_size(None);
        let mut entity = scene.app.world_mut().entity_mut(scene.entity);
        entity.remove::<ColliderFromMesh>();
        let twin = scene.app.world_mut().spawn(ColliderFromMesh::trimesh());
        let twin = twin.id();
        show(&mut scene.app, twin, scene.dimension, mesh.clone());
        tick(&mut scene.app);
        scene.app.world_mut().despawn(twin);
        let loaded = block(scene.dimension, 2.0);
        meshes(&mut scene.app).insert(&mesh, loaded).unwrap();
        scene.assert_size(None);
    });
}

#[test]
fn changes_while_disabled_are_applied_when_enabled() {
    #[derive(Component)]
    struct Asleep;

    fn insert<C: Component>(entity: &mut EntityWorldMut, component: C) {
        entity.insert(component);
    }

    fn remove<C: Component>(entity: &mut EntityWorldMut) {
        entity.remove::<C>();
    }

    type Act = fn(&mut EntityWorldMut);
    let ways: [[Act; 2]; 2] = [
        [|it| insert(it, Disabled), remove::<Disabled>],
        [|it| insert(it, Asleep), remove::<Asleep>],
    ];
    for [disable, enable] in ways {
        for dimension in Dimension::BOTH {
            let mut app = App::new();
            let asleep = app.world_mut().register_component::<Asleep>();
            let mut filters = app.world_mut().resource_mut::<DefaultQueryFilters>();
            filters.register_disabling_component(asleep);
            let mut scene = Scene::new(with_meshes(app), dimension);
            let mesh = scene.block(2.0);
            scene.wish(ColliderFromMesh::convex_hull());
            scene.show(&mesh);
            let entity = scene.entity;
            disable(&mut scene.app.world_mut().entity_mut(entity));
            scene.assert_size(None);
            enable(&mut scene.app.world_mut().entity_mut(entity));
            scene.assert_size(Some(2.0));
            disable(&mut scene.app.world_mut().entity_mut(entity));
            let changed = block(dimension, 3.0);
            meshes(&mut scene.app).insert(&mesh, changed).unwrap();
            for _ in 0..3 {
                scene.assert_size(None);
            }
            enable(&mut scene.app.world_mut().entity_mut(entity));
            scene.assert_size(Some(3.0));
        }
    }
}

#[test]
fn a_schedule_that_runs_rarely_misses_no_change() {
    #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Simulation;

    for dimension in Dimension::BOTH {
        let mut app = App::new();
        let headbutt = HeadbuttPlugin::in_schedule(Simulation);
        app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, headbutt));
        let mut scene = Scene::new(app, dimension);
        let mesh = scene.block(2.0);
        scene.wish(ColliderFromMesh::convex_hull());
        scene.show(&mesh);
        let size = |scene: &mut Scene| {
            scene.app.world_mut().run_schedule(Simulation);
            let (entity, ball) = (scene.entity, scene.ball);
            let contact = read(scene.app.world_mut(), |it| it.between(entity, ball));
            (contact.unwrap().depth + 0.5) * 2.0
        };
        // No frame has run yet.
        assert_near(size(&mut scene), 2.0, 10.0);
        start(&mut scene.app);
        let changed = block(dimension, 3.0);
        meshes(&mut scene.app).insert(&mesh, changed).unwrap();
        for _ in 0..10 {
            tick(&mut scene.app);
        }
        assert_near(size(&mut scene), 3.0, 10.0);
    }
}

#[test]
fn entities_of_one_mesh_share_its_shape() {
    for wish in [
        ColliderFromMesh::convex_hull(),
        ColliderFromMesh::trimesh(),
        ColliderFromMesh::one_sided_trimesh(),
    ] {
        let mut app = app();
        let mesh = meshes(&mut app).add(Sphere::new(1.0).mesh().uv(64, 32));
        let mut cost = |count: usize| {
            for _ in 0..count {
                app.world_mut().spawn((
                    wish.clone(),
                    Mesh3d(mesh.clone()),
                    // Without layers, no contacts are counted.
                    CollisionLayers::NONE,
                ));
            }
            let counted = allocation_counter::measure(|| drop(tick(&mut app)));
            counted.bytes_total
        };
        let (first, hundred, none) = (cost(1), cost(100), cost(0));
        assert!(
            hundred < first,
            "{wish:?}: {first} bytes for one, {hundred} for a hundred more"
        );
        assert!(none < hundred, "{wish:?}: {none} bytes for nothing");
    }
}

#[test]
fn a_warm_tick_without_mesh_changes_allocates_nothing() {
    Scene::each(|mut scene, mesh| {
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        let away = Transform::from_xyz(100.0, 0.0, 0.0);
        scene.app.world_mut().entity_mut(scene.ball).insert(away);
        scene.assert_size(None);
        // One more entity waits for its mesh.
        let waits = scene.app.world_mut().spawn(ColliderFromMesh::trimesh());
        let waits = waits.id();
        let not_there = meshes(&mut scene.app).reserve_handle();
        show(&mut scene.app, waits, scene.dimension, not_there);
        scene.assert_size(None);
        // With Bevy's feature `multi_threaded`, the default executor allocates memory for its
        // tasks.
        scene.app.edit_schedule(FixedPostUpdate, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
        let world = scene.app.world_mut();
        world.run_schedule(FixedPostUpdate);
        let counted = allocation_counter::measure(|| world.run_schedule(FixedPostUpdate));
        assert_eq!(counted.count_total, 0);
    });
}

/// Returns a mesh of triangles that has only positions.
fn raw(topology: PrimitiveTopology, vertices: &[[f32; 3]], indices: Option<Indices>) -> Mesh {
    let mut mesh = Mesh::new(topology, RenderAssetUsages::default());
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vertices.to_vec());
    if let Some(indices) = indices {
        mesh.insert_indices(indices);
    }
    mesh
}

/// Returns a mesh whose vertices were moved to the renderer.
fn extracted() -> Mesh {
    let mut mesh = Mesh::from(Cuboid::default());
    mesh.take_gpu_data().unwrap();
    mesh
}

type Make = fn(&Mesh) -> Result<Collider, ShapeError>;

const HULLS: [Make; 2] = [
    Collider::try_convex_hull_from_mesh,
    Collider::try_convex_hull_from_mesh_2d,
];
const FACETS: [Make; 2] = [
    Collider::try_trimesh_from_mesh,
    Collider::try_compound_from_mesh_2d,
];

#[test]
fn a_mesh_that_makes_no_collider_is_an_error() {
    use PrimitiveTopology::{LineList, PointList, TriangleList, TriangleStrip};

    const CORNERS: [[f32; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    const NAN: [[f32; 3]; 3] = [[0.0; 3], [f32::NAN, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let positions_of = |format, values: bevy::mesh::VertexAttributeValues| {
        let id = MeshVertexAttribute::new("Vertex_Position", 0, format);
        Mesh::new(TriangleList, RenderAssetUsages::default()).with_inserted_attribute(id, values)
    };
    let two = positions_of(VertexFormat::Float32x2, vec![[0.0f32, 0.0]; 3].into());
    let four = positions_of(VertexFormat::Float32x4, vec![[0.0f32; 4]; 3].into());
    let point = Err(ShapeError::NotFinite("point of a convex hull"));
    let vertex = Err(ShapeError::NotFinite("vertex"));
    let missing = |it: MeshError| (Err(it.into()), Err(it.into()));
    let u16s = |numbers: &[u16]| Some(Indices::U16(numbers.to_vec()));
    let u32s = |numbers: &[u32]| Some(Indices::U32(numbers.to_vec()));
    let ok = Ok(());
    let crowd: Vec<[f32; 3]> = (0..=ConvexHull::<Vec3>::MAX_POINTS)
        .map(|index| [index as f32, (index % 7) as f32, (index % 3) as f32])
        .collect();
    let none = Err(ShapeError::NoFacets("triangle of nonzero area"));
    let too_many = Err(ShapeError::TooManyPoints(ConvexHull::<Vec3>::MAX_POINTS));
    // Each case is a mesh, and the results of building its hull and its triangle mesh.
    type Outcome = Result<(), ShapeError>;
    let cases: Vec<(Mesh, (Outcome, Outcome))> = vec![
        (
            Mesh::new(TriangleList, RenderAssetUsages::default()),
            missing(MeshError::NoPositions),
        ),
        (two, missing(MeshError::PositionFormat)),
        (four, missing(MeshError::PositionFormat)),
        (extracted(), missing(MeshError::NotInMainWorld)),
        (
            raw(LineList, &CORNERS, None),
            (ok, Err(MeshError::NoTriangles.into())),
        ),
        (
            raw(PointList, &CORNERS, u32s(&[0, 1, 2])),
            (ok, Err(MeshError::NoTriangles.into())),
        ),
        (raw(TriangleList, &NAN, None), (point, vertex)),
        (raw(TriangleStrip, &NAN, None), (point, vertex)),
        (
            raw(TriangleList, &CORNERS, u16s(&[0, 1, 2, 0, 7, 2])),
            (ok, Err(ShapeError::VertexOutOfRange { index: 7, count: 3 })),
        ),
        (
            raw(TriangleList, &CORNERS, u16s(&[0, 1, u16::MAX])),
            (
                ok,
                Err(ShapeError::VertexOutOfRange {
                    index: 65_535,
                    count: 3,
                }),
            ),
        ),
        (
            raw(TriangleStrip, &CORNERS, u32s(&[0, 1, 2, 3])),
            (ok, Err(ShapeError::VertexOutOfRange { index: 3, count: 3 })),
        ),
        (
            raw(TriangleList, &[], None),
            (Err(ShapeError::NoPoints), none),
        ),
        (raw(TriangleList, &CORNERS, u16s(&[])), (ok, none)),
        (raw(TriangleList, &CORNERS, u16s(&[0, 1])), (ok, none)),
        (
            raw(TriangleStrip, &CORNERS, u16s(&[0, 1, 65_535, 1, 2])),
            (ok, none),
        ),
        (raw(TriangleList, &crowd, None), (too_many, ok)),
        // The following meshes are valid.
        (raw(TriangleList, &CORNERS, None), (ok, ok)),
        (raw(TriangleStrip, &CORNERS, u32s(&[0, 1, 2])), (ok, ok)),
    ];
    for (number, (mesh, (hull, facets))) in cases.iter().enumerate() {
        for (makes, expected) in [(HULLS, hull), (FACETS, facets)] {
            for make in makes {
                let made = make(mesh);
                assert_eq!(made.map(drop), *expected, "case {number}");
            }
        }
    }
    // In 2D, z is ignored, and triangles without area are dropped.
    let deep = CORNERS.map(|[x, y, _]| [x, y, f32::NAN]);
    assert!(Collider::try_convex_hull_from_mesh_2d(&raw(TriangleList, &deep, None)).is_ok());
    assert!(Collider::try_compound_from_mesh_2d(&raw(TriangleList, &deep, None)).is_ok());
    let line = raw(TriangleList, &[[0.0; 3], [1.0; 3], [3.0; 3]], None);
    assert_eq!(Collider::try_compound_from_mesh_2d(&line).err(), none.err());
}

#[test]
fn a_mesh_that_makes_no_collider_is_warned_of_once_until_repaired() {
    let warnings = Warnings::listen();
    let nan = |mesh: &mut Mesh| {
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vec![[f32::NAN; 3]; 4]);
    };
    let to_renderer = |mesh: &mut Mesh| mesh.asset_usage = RenderAssetUsages::RENDER_WORLD;
    let without = |mesh: &mut Mesh| drop(mesh.remove_attribute(Mesh::ATTRIBUTE_POSITION));
    let gone = |mesh: &mut Mesh| *mesh = extracted();
    type Fault = fn(&mut Mesh);
    let faults: [(Fault, &str); 4] = [
        (nan, "must be finite"),
        (to_renderer, "RenderAssetUsages::MAIN_WORLD"),
        (without, "no positions"),
        (gone, "RenderAssetUsages::MAIN_WORLD"),
    ];
    for (fault, reason) in faults {
        Scene::each(|mut scene, mesh| {
            let assert_warned = |entity| {
                let lines = warnings.take();
                assert_eq!(lines.len(), 1, "{lines:#?}");
                for part in [&Entity::to_string(&entity), NAME, reason] {
                    assert!(lines[0].contains(part), "{part} in {}", lines[0]);
                }
            };
            fault(&mut meshes(&mut scene.app).get_mut(&mesh).unwrap());
            scene.show(&mesh);
            for _ in 0..4 {
                scene.assert_size(None);
            }
            assert_warned(scene.entity);
            // The mesh is repaired, and broken again.
            let mended = block(scene.dimension, 2.0);
            meshes(&mut scene.app).insert(&mesh, mended).unwrap();
            frame(&mut scene.app, 0);
            scene.assert_size(Some(2.0));
            fault(&mut meshes(&mut scene.app).get_mut(&mesh).unwrap());
            frame(&mut scene.app, 0);
            let ended = tick(&mut scene.app).only();
            assert_eq!(ended.end_reason(), Some(EndReason::Invalid));
            scene.assert_size(None);
            assert_warned(scene.entity);
        });
    }
}

#[test]
fn an_entity_without_a_mesh_is_warned_of_until_it_has_one() {
    let warnings = Warnings::listen();
    Scene::each(|mut scene, mesh| {
        for _ in 0..3 {
            scene.assert_size(None);
        }
        warnings.assert_one_naming(scene.entity, NAME);
        scene.show(&mesh);
        scene.assert_size(Some(2.0));
        warnings.assert_none();
    });
}

#[test]
fn explain_says_that_a_collider_waits_for_its_mesh() {
    let mut app = crate::support::app();
    let ball = app.world_mut().spawn(Collider::sphere(1.0)).id();
    let entity = app.world_mut().spawn(ColliderFromMesh::convex_hull()).id();
    tick(&mut app);
    let explanation = explain(app.world(), ball, entity);
    let reason = IgnoredReason::WaitsForMesh;
    assert_eq!(explanation.status, PairStatus::Ignored { entity, reason });
    let text = explanation.to_string();
    for word in [&entity.to_string(), "Mesh3d"] {
        assert!(text.contains(word), "no {word} in: {text}");
    }
}

/// Returns the messages of one tick of a collider at the origin and many balls around it, as
/// indices of balls and contacts.
fn contacts(collider: Collider, plane: bool) -> Vec<String> {
    let mut app = app();
    let first = app.world_mut().spawn(collider).id();
    let mut random = StdRng::seed_from_u64(7);
    let dimension = if plane { Dimension::D2 } else { Dimension::D3 };
    let balls: Vec<Entity> = (0..400)
        .map(|_| {
            let place = Vec3::from_array(core::array::from_fn(|_| random.random_range(-2.0..2.0)));
            let ball = dimension.ball(random.random_range(0.05..0.6));
            let ball = (ball, Transform::from_translation(place));
            app.world_mut().spawn(ball).id()
        })
        .collect();
    let hits = tick(&mut app).messages;
    let hits = hits.iter().filter_map(|hit| hit.seen_from(first));
    hits.map(|hit| {
        let ball = balls.iter().position(|ball| *ball == hit.other);
        let (point, part) = (hit.point(), hit.part());
        format!(
            "{ball:?}: {} along {} at {point} of {part}",
            hit.depth, hit.normal
        )
    })
    .collect()
}

/// Returns the corners and the triangle indices of Bevy's torus mesh.
fn torus() -> (Vec<[f32; 3]>, Vec<u32>) {
    let torus = Torus {
        minor_radius: 0.5,
        major_radius: 1.5,
    };
    let mesh = torus
        .mesh()
        .minor_resolution(6)
        .major_resolution(12)
        .build();
    let vertices = mesh.attribute(Mesh::ATTRIBUTE_POSITION).unwrap();
    let vertices = vertices.as_float3().unwrap().to_vec();
    let numbers = mesh.indices().unwrap().iter();
    (vertices, numbers.map(|it| it as u32).collect())
}

#[test]
fn a_triangle_list_makes_its_trimesh_and_the_hull_of_its_vertices() {
    use PrimitiveTopology::TriangleList;

    let (vertices, numbers) = torus();
    let places: Vec<Vec3> = vertices.iter().copied().map(Vec3::from_array).collect();
    let expected = Collider::try_trimesh(places.iter().copied(), numbers.as_chunks().0.to_vec());
    let expected = contacts(expected.unwrap(), false);
    assert!(expected.len() > 50, "{}", expected.len());
    let narrow = numbers.iter().map(|it| *it as u16).collect();
    let unrolled: Vec<[f32; 3]> = numbers.iter().map(|it| vertices[*it as usize]).collect();
    // Two surplus indices make no triangle.
    let mut rest = numbers.clone();
    rest.extend([0, 1]);
    let meshes = [
        raw(TriangleList, &vertices, Some(Indices::U16(narrow))),
        raw(TriangleList, &vertices, Some(Indices::U32(numbers))),
        raw(TriangleList, &vertices, Some(Indices::U32(rest))),
        raw(TriangleList, &unrolled, None),
    ];
    let hull = Collider::try_convex_hull(places.iter().copied()).unwrap();
    let hull = contacts(hull, false);
    assert!(hull.len() > expected.len() / 2, "{}", hull.len());
    let flat = Collider::try_convex_hull(places.iter().map(|it| it.truncate())).unwrap();
    let flat = contacts(flat, true);
    assert!(flat.len() > 50, "{}", flat.len());
    for mesh in &meshes {
        let trimesh = Collider::try_trimesh_from_mesh(mesh).unwrap();
        assert_eq!(contacts(trimesh, false), expected);
        let made = Collider::try_convex_hull_from_mesh(mesh).unwrap();
        assert_eq!(contacts(made, false), hull);
        let made = Collider::try_convex_hull_from_mesh_2d(mesh).unwrap();
        assert_eq!(contacts(made, true), flat);
    }
}

/// Returns the corners of a triangle strip: a floor at y = 0, from x = 0 to `cells` and from z = 0
/// to 1. The strip starts at the left, and its outer side is up.
fn strip(cells: u16) -> Vec<[f32; 3]> {
    (0..=cells)
        .flat_map(|x| [[x as f32, 0.0, 0.0], [x as f32, 0.0, 1.0]])
        .collect()
}

#[test]
fn all_triangles_of_a_strip_face_the_same_side() {
    use PrimitiveTopology::TriangleStrip;

    let vertices = strip(3);
    let numbered = |numbers: &[u16]| {
        let wide = numbers.iter().map(|it| match it {
            &u16::MAX => u32::MAX,
            it => u32::from(*it),
        });
        [Indices::U16(numbers.to_vec()), Indices::U32(wide.collect())]
    };
    // The strip is whole, or restarts after an odd number of triangles. If the restart did not
    // reset the counter, it would flip the later triangles.
    let whole = numbered(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let anew = numbered(&[0, 1, 2, u16::MAX, 2, 1, 3, u16::MAX, 2, 3, 4, 5, 6, 7]);
    let mut meshes = vec![raw(TriangleStrip, &vertices, None)];
    for indices in whole.into_iter().chain(anew) {
        meshes.push(raw(TriangleStrip, &vertices, Some(indices)));
    }
    let mut places: Vec<_> = (0..6)
        .map(|number| {
            let [along, across] = if number % 2 == 0 {
                [0.25, 0.25]
            } else {
                [0.75, 0.75]
            };
            Vec3::new((number / 2) as f32 + along, 0.2, across)
        })
        .collect();
    // The last place is below the floor, on the floor's inner side.
    places.push(Vec3::new(1.5, -0.2, 0.5));
    for mesh in &meshes {
        let mut app = app();
        let floor = Collider::try_trimesh_from_mesh(mesh).unwrap().one_sided();
        let floor = app.world_mut().spawn(floor).id();
        let balls: Vec<Entity> = places
            .iter()
            .map(|place| {
                let ball = (Collider::from(Sphere::new(0.3)), CollisionLayers::new(2, 1));
                let place = Transform::from_translation(*place);
                app.world_mut().spawn((ball, place)).id()
            })
            .collect();
        app.world_mut()
            .entity_mut(floor)
            .insert(CollisionLayers::new(1, 2));
        tick(&mut app);
        for (number, ball) in (0..).zip(balls) {
            let hit = read(app.world_mut(), |it| it.between(floor, ball));
            if number == 6 {
                assert!(hit.is_none(), "from below: {hit:?}");
                continue;
            }
            let hit = hit.unwrap_or_else(|| panic!("no contact with triangle {number}"));
            assert_eq!(hit.part(), number);
            assert_near(hit.depth, 0.1, 10.0);
            assert_near_vec(hit.normal, Vec3::Y, 10.0);
        }
    }
}

#[test]
fn a_2d_mesh_is_solid_and_its_holes_are_empty() {
    let touches = |mesh: Mesh, place: Vec2, radius: f32| {
        let mut scene = Scene::new(app(), Dimension::D2);
        let mesh = meshes(&mut scene.app).add(mesh);
        scene.wish(ColliderFromMesh::trimesh());
        scene.show(&mesh);
        let ball = scene.ball;
        let world = scene.app.world_mut();
        world
            .entity_mut(ball)
            .insert(Collider::from(Circle::new(radius)));
        transform(world, ball).translation = place.extend(0.0);
        let hit = tick(&mut scene.app).messages.first().copied();
        hit.and_then(|hit| hit.seen_from(scene.entity))
    };
    let ring = || Mesh::from(Annulus::new(1.0, 2.0));
    assert!(touches(ring(), Vec2::ZERO, 0.9).is_none());
    assert!(touches(ring(), Vec2::new(2.2, 0.0), 0.1).is_none());
    for angle in 0..12 {
        let within = Vec2::from_angle(angle as f32 * 0.5) * 1.5;
        let hit = touches(ring(), within, 0.01);
        assert!(hit.is_some(), "a small ball wholly within, at {within}");
    }
    // One strip has two separate squares, which are joined by triangles without area.
    let corners = |x: f32| {
        [
            [x, 0.0, 0.0],
            [x, 1.0, 0.0],
            [x + 1.0, 0.0, 0.0],
            [x + 1.0, 1.0, 0.0],
        ]
    };
    let squares = [corners(0.0), corners(5.0)].concat();
    let numbers = Indices::U16(vec![0, 1, 2, 3, 3, 4, 4, 5, 6, 7]);
    let joined = || {
        let strip = PrimitiveTopology::TriangleStrip;
        raw(strip, &squares, Some(numbers.clone()))
    };
    assert!(touches(joined(), Vec2::new(3.0, 0.5), 0.9).is_none());
    let hit = touches(joined(), Vec2::new(5.5, 1.2), 0.3).unwrap();
    assert_near(hit.depth, 0.1, 10.0);
    assert_near_vec(hit.normal, Vec3::Y, 10.0);
    assert_eq!(hit.part(), 3, "the last of the four that have an area");
}

#[test]
fn the_mesh_collider_component_can_be_saved_in_a_scene() {
    let app = app();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let wish = ColliderFromMesh::one_sided_trimesh();
    let registration = registry.get_with_type_path("headbutt::ColliderFromMesh");
    let registration = registration.expect("registered by the plugin");
    let component = registration
        .data::<ReflectComponent>()
        .expect("a component");
    let mut world = World::new();
    let entity = world.spawn(Transform::default()).id();
    component.insert(&mut world.entity_mut(entity), &wish, &registry);
    assert_eq!(world.get::<ColliderFromMesh>(entity), Some(&wish));
}
