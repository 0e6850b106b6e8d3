//! Maps of other crates, on which a body walks without a window. The maps have tiles of 16 units:
//! a floor with a hill.

use bevy::{
    asset::{
        AssetLoader, LoadContext,
        io::{
            AssetSourceBuilder, AssetSourceId, Reader,
            memory::{Dir, MemoryAssetReader},
        },
    },
    ecs::system::RunSystemOnce,
    image::TextureAtlasLayout,
    prelude::*,
};
use bevy_ecs_ldtk::{
    ldtk::{Definitions, IntGridValueDefinition, LayerDefinition, LdtkJson, Level, Type},
    prelude::*,
};
use bevy_ecs_tiled::prelude::*;
use bevy_ecs_tilemap::StandardTilemapBundle;
use headbutt::{prelude::*, run_ticks};
use headbutt_integrations::{
    ldtk::{self, IntGridCells},
    tiled::CellsBackend,
    tilemap::{self, TilemapCells},
};

const TILE: f32 = 16.0;
const ROWS: [&str; 3] = ["                ", "    /###\\       ", "################"];
const WIDTH: u32 = 16;
const HEIGHT: u32 = 3;

/// The width and the height of the body.
const BODY: Vec2 = Vec2::new(10.0, 14.0);

/// Returns the numbers of the tiles, from the upper left to the lower right: 0 for none.
fn numbers() -> Vec<i32> {
    let number = |tile| [' ', '#', '/', '\\'].iter().position(|it| *it == tile);
    let tiles = ROWS.iter().flat_map(|row| row.chars());
    tiles
        .filter_map(number)
        .map(|number| number as i32)
        .collect()
}

/// Returns the cell of a number.
fn cell(number: i32) -> Cell {
    match number {
        1 => Cell::SOLID,
        2 => Cell::slope(0, 8),
        3 => Cell::slope(8, 0),
        _ => Cell::EMPTY,
    }
}

/// Returns the height of the ground at a position of the map.
fn ground(x: f32) -> f32 {
    let hill = ((x / TILE - 4.0).min(9.0 - x / TILE)).clamp(0.0, 1.0);
    TILE * (1.0 + hill)
}

/// Returns an app with a file.
fn app(file: &str, content: Vec<u8>) -> App {
    let files = Dir::default();
    files.insert_asset(file.as_ref(), content);
    files.insert_asset("tiles.png".as_ref(), Vec::new());
    let reader = move || {
        Box::new(MemoryAssetReader {
            root: files.clone(),
        }) as _
    };
    let mut app = App::new();
    app.register_asset_source(AssetSourceId::Default, AssetSourceBuilder::new(reader))
        .add_plugins((
            MinimalPlugins,
            AssetPlugin::default(),
            HeadbuttPlugin::default(),
        ))
        .init_asset::<Image>()
        .init_asset::<TextureAtlasLayout>()
        .register_asset_loader(AnyImage);
    app
}

/// Loads any image as a white pixel, because nothing is drawn here.
#[derive(TypePath)]
struct AnyImage;

impl AssetLoader for AnyImage {
    type Asset = Image;
    type Settings = ();
    type Error = std::io::Error;

    async fn load(
        &self,
        _: &mut dyn Reader,
        (): &(),
        _: &mut LoadContext<'_>,
    ) -> Result<Image, Self::Error> {
        Ok(Image::default())
    }

    fn extensions(&self) -> &[&str] {
        &["png"]
    }
}

/// Updates the app until a collider of cells exists, and runs a tick.
fn load(app: &mut App) {
    for _ in 0..1000 {
        app.update();
        let mut colliders = app.world_mut().query::<&Collider>();
        if colliders
            .iter(app.world())
            .any(|collider| !collider.is_inert())
        {
            run_ticks(app, 1);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the map is not loaded");
}

/// Walks over the map to the right, and compares each step with the height of the ground. `origin`
/// is the lower left corner of the map.
fn walk(app: &mut App, origin: Vec2) {
    let walked = app.world_mut().run_system_once(move |query: SpatialQuery| {
        let body = Collider::rectangle(BODY.x, BODY.y);
        let start = origin + Vec2::new(TILE, TILE + 0.5 * BODY.y + 0.1);
        let (mut position, mut on) = (start, None);
        for step in 1..=100 {
            let settings = MoveAndSlideSettings {
                ground: on,
                ..default()
            };
            let filter = SpatialQueryFilter::default();
            let slide =
                query.move_and_slide(&body, position, Vec2::new(2.0, -1.0), &settings, &filter);
            position += slide.translation.xy();
            on = slide.ground;
            let at = position - origin;
            let corners = [at.x - 0.5 * BODY.x, at.x, at.x + 0.5 * BODY.x];
            let height = corners.map(ground).into_iter().fold(0.0, f32::max);
            let gap = at.y - 0.5 * BODY.y - height;
            assert!(
                (-0.001..0.2).contains(&gap),
                "step {step} at {at}: a gap of {gap}"
            );
            // On a slope of 45 degrees, the horizontal part of a step is shorter.
            let advance = slide.translation.x;
            assert!(
                (1.4..2.01).contains(&advance),
                "step {step} at {at}: {advance}"
            );
        }
    });
    walked.expect("a system that runs");
}

/// Returns `true` if a point is in a collider.
fn is_solid(app: &mut App, point: Vec2) -> bool {
    let filter = SpatialQueryFilter::default();
    let is_solid = move |query: SpatialQuery| query.is_point_inside(point, &filter);
    let is_solid = app.world_mut().run_system_once(is_solid);
    is_solid.expect("a system that runs")
}

#[test]
fn a_body_walks_over_a_tilemap_until_a_tile_is_removed() {
    let mut app = app("unused", Vec::new());
    app.add_plugins((TilemapPlugin, tilemap::plugin::<TileTextureIndex>));
    let size = TilemapSize::new(WIDTH, HEIGHT);
    let map = app.world_mut().spawn_empty().id();
    let mut storage = TileStorage::empty(size);
    for (index, number) in (0..).zip(numbers()).filter(|(_, number)| *number != 0) {
        let position = TilePos::new(index % WIDTH, HEIGHT - 1 - index / WIDTH);
        let tile = TileBundle {
            position,
            tilemap_id: TilemapId(map),
            texture_index: TileTextureIndex(number as u32),
            ..default()
        };
        storage.set(&position, app.world_mut().spawn(tile).id());
    }
    let floor = storage.get(&TilePos::new(2, 0)).expect("a tile");
    let cells = TilemapCells::<TileTextureIndex>(|texture| cell(texture.0 as i32));
    let tilemap = StandardTilemapBundle {
        grid_size: TilemapGridSize::new(TILE, TILE),
        tile_size: TilemapTileSize::new(TILE, TILE),
        size,
        storage,
        transform: Transform::from_xyz(100.0, 50.0, 0.0),
        ..default()
    };
    app.world_mut().entity_mut(map).insert((tilemap, cells));
    load(&mut app);
    // By default, the origin of a tilemap is the center of its first tile.
    let origin = Vec2::new(100.0, 50.0) - 0.5 * TILE;
    walk(&mut app, origin);

    let hole = origin + TILE * Vec2::new(2.5, 0.5);
    assert!(is_solid(&mut app, hole));
    app.world_mut().entity_mut(floor).despawn();
    app.update();
    run_ticks(&mut app, 1);
    assert!(!is_solid(&mut app, hole));
    assert!(is_solid(&mut app, hole + TILE * Vec2::X));
}

#[test]
fn a_body_walks_over_an_int_grid() {
    let size = [WIDTH, HEIGHT].map(|length| length as i32);
    let layer = LayerInstance {
        c_wid: size[0],
        c_hei: size[1],
        grid_size: TILE as i32,
        identifier: "Ground".to_owned(),
        layer_instance_type: Type::IntGrid,
        layer_def_uid: 1,
        int_grid_csv: numbers(),
        ..default()
    };
    let value = |value| IntGridValueDefinition { value, ..default() };
    let definition = LayerDefinition {
        grid_size: TILE as i32,
        identifier: "Ground".to_owned(),
        int_grid_values: (1..=3).map(value).collect(),
        purple_type: Type::IntGrid,
        uid: 1,
        ..default()
    };
    let level = Level {
        identifier: "Level".to_owned(),
        iid: "level".to_owned(),
        px_wid: size[0] * TILE as i32,
        px_hei: size[1] * TILE as i32,
        layer_instances: Some(vec![layer]),
        ..default()
    };
    let project = LdtkJson {
        defs: Definitions {
            layers: vec![definition],
            ..default()
        },
        levels: vec![level],
        ..default()
    };
    let file = serde_json::to_vec(&project).expect("a project");

    let mut app = app("map.ldtk", file);
    app.add_plugins((LdtkPlugin, ldtk::plugin))
        .insert_resource(LevelSelection::index(0))
        .insert_resource(IntGridCells(|value| cell(value.value)));
    let ldtk_handle = app.world().resource::<AssetServer>().load("map.ldtk");
    app.world_mut().spawn(LdtkWorldBundle {
        ldtk_handle: LdtkProjectHandle {
            handle: ldtk_handle,
        },
        ..default()
    });
    load(&mut app);
    walk(&mut app, Vec2::ZERO);
}

#[test]
fn a_body_walks_over_a_layer_of_a_tiled_map() {
    let numbers: Vec<String> = numbers().iter().map(i32::to_string).collect();
    let file = include_str!("map.tmx").replace("NUMBERS", &numbers.join(","));
    let mut app = app("map.tmx", file.into_bytes());
    let config = TiledPluginConfig {
        tiled_types_export_file: None,
        tiled_types_filter: TiledFilter::All,
    };
    app.add_plugins((
        TiledPlugin(config),
        TiledPhysicsPlugin::<CellsBackend>::default(),
    ));
    let map = app.world().resource::<AssetServer>().load("map.tmx");
    let settings = TiledPhysicsSettings::<CellsBackend> {
        simplify_geometry: false,
        ..default()
    };
    app.world_mut()
        .spawn((TiledMap(map), TilemapAnchor::BottomLeft, settings));
    load(&mut app);
    walk(&mut app, Vec2::ZERO);
}
