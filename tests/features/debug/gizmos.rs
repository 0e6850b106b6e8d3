//! The drawing of an app: the switches, the states of colliders, and the number of rebuilt gizmos.

use core::any::TypeId;

use bevy::{
    camera::visibility::RenderLayers,
    color::palettes::css::{HOT_PINK, LIME},
    gizmos::GizmoHandles,
    prelude::*,
};
use headbutt::{ColliderColors, CollisionDiagnostics, GizmoPoses, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{app, drawn, gizmo_counts, of_color, set, support, tick};

/// Removes and returns the changes of gizmos since the last call.
fn changes(app: &mut App) -> Vec<AssetEvent<GizmoAsset>> {
    let mut events = app
        .world_mut()
        .resource_mut::<Messages<AssetEvent<GizmoAsset>>>();
    events.drain().collect()
}

/// Runs frames with a tick each, and returns the number of gizmos that were built or rebuilt.
fn rebuilds(app: &mut App, frames: u32) -> usize {
    changes(app);
    let is_rebuild = |event: &AssetEvent<_>| {
        matches!(
            event,
            AssetEvent::Added { .. } | AssetEvent::Modified { .. }
        )
    };
    let mut count = 0;
    for _ in 0..frames {
        support::tick(app);
        count += changes(app)
            .iter()
            .filter(|event| is_rebuild(event))
            .count();
    }
    count
}

fn spawn(app: &mut App, collider: Collider, x: f32) -> Entity {
    app.world_mut()
        .spawn((collider, Transform::from_xyz(x, 0.0, 0.0)))
        .id()
}

fn move_to(app: &mut App, entity: Entity, x: f32) {
    app.world_mut()
        .get_mut::<Transform>(entity)
        .unwrap()
        .translation
        .x = x;
}

#[test]
fn at_rest_no_gizmo_is_rebuilt() {
    let mut app = app();
    set(&mut app, |gizmos| *gizmos = HeadbuttGizmos::all());
    for index in 0..500 {
        let collider = if index % 2 == 0 {
            Collider::circle(1.0)
        } else {
            Collider::sphere(1.0)
        };
        spawn(&mut app, collider, index as f32);
    }
    app.world_mut().spawn(Collider::half_space(Vec3::Y));
    app.world_mut()
        .spawn((Camera3d::default(), Transform::from_xyz(0.0, 5.0, 9.0)));
    let mover = spawn(&mut app, Collider::rectangle(1.0, 1.0), -500.0);
    rebuilds(&mut app, 3);
    assert!(drawn(&mut app).len() > 500 * 32);
    assert!(app.world().resource::<Collisions>().len() > 400);
    assert_eq!(rebuilds(&mut app, 20), 0);

    // Only one gizmo is rebuilt: the gizmo that the mover shares with its neighbors.
    for step in 1..20 {
        move_to(&mut app, mover, -500.0 - step as f32);
        assert_eq!(rebuilds(&mut app, 1), 1);
    }
    // The mover's color changes when the mover comes to rest.
    assert_eq!(rebuilds(&mut app, 1), 1);
    assert_eq!(rebuilds(&mut app, 20), 0);
}

#[test]
fn a_mesh_is_not_rebuilt_with_its_moving_neighbors() {
    let mut app = app();
    let terrain = Collider::heightfield(Vec2::splat(100.0), 65, &[0.0; 65 * 65]);
    let count = terrain.wireframe().len();
    app.world_mut().spawn(terrain);
    let mover = spawn(&mut app, Collider::sphere(1.0), 0.0);
    support::tick(&mut app);
    assert_eq!(gizmo_counts(&mut app)[0], 2 + 1, "both, and the contact");
    set(&mut app, |gizmos| {
        *gizmos = HeadbuttGizmos {
            shapes: true,
            ..HeadbuttGizmos::none()
        }
    });
    rebuilds(&mut app, 3);

    // Returns the number of lines of each rebuilt gizmo.
    let modified = |app: &mut App, x: f32| {
        move_to(app, mover, x);
        support::tick(app);
        let changes = changes(app);
        let assets = app.world().resource::<Assets<GizmoAsset>>();
        let lines = changes.iter().filter_map(|event| match event {
            AssetEvent::Modified { id } => Some(assets.get(*id)?.buffer().buffer()),
            _ => None,
        });
        lines
            .map(|buffer| buffer.list_positions.len() / 2)
            .collect::<Vec<_>>()
    };
    assert_eq!(modified(&mut app, 1.0), [96], "not {count}");
    assert_eq!(modified(&mut app, 2.0), [96]);
}

#[test]
fn the_color_shows_the_state() {
    let colors = ColliderColors::default();
    let mut app = app();
    let mover = spawn(&mut app, Collider::rectangle(2.0, 2.0), 0.0);
    let spawned = tick(&mut app);
    assert_eq!(of_color(&spawned, colors.moving).len(), 4);
    let rests = tick(&mut app);
    assert_eq!(of_color(&rests, colors.resting).len(), 4);

    let sensor = app
        .world_mut()
        .spawn((Collider::rectangle(4.0, 4.0), Sensor))
        .id();
    move_to(&mut app, mover, 50.0);
    tick(&mut app);
    let apart = tick(&mut app);
    assert_eq!(of_color(&apart, colors.resting).len(), 4);
    assert_eq!(of_color(&apart, colors.sensor).len(), 4);
    move_to(&mut app, mover, 2.5);
    let touching = tick(&mut app);
    assert_eq!(of_color(&touching, colors.touching).len(), 8);

    app.world_mut()
        .entity_mut(sensor)
        .insert(Collider::circle(-1.0));
    let inert = tick(&mut app);
    assert_eq!(of_color(&inert, colors.inert).len(), 3, "a cross");
    app.world_mut()
        .entity_mut(sensor)
        .insert(Collider::half_space(Vec3::Y));
    app.world_mut()
        .get_mut::<Transform>(sensor)
        .unwrap()
        .scale
        .y = 0.0;
    let flattened = tick(&mut app);
    assert!(!of_color(&flattened, colors.inert).is_empty());
    app.world_mut()
        .get_mut::<Transform>(sensor)
        .unwrap()
        .translation
        .x = f32::NAN;
    let nowhere = tick(&mut app);
    assert_eq!(nowhere.len(), 4, "only the rectangle");
}

#[test]
fn every_switch_draws_its_own_lines() {
    let mut app = app();
    for x in [0.0, 1.5] {
        spawn(&mut app, Collider::rectangle(2.0, 2.0), x);
    }
    let ray = headbutt::query::Ray::new(Vec2::new(0.0, 9.0), Vec2::NEG_Y);
    app.world_mut().spawn(RayCaster::new(ray));
    support::tick(&mut app);
    let mut count = |only: fn(&mut HeadbuttGizmos)| {
        set(&mut app, |gizmos| {
            *gizmos = HeadbuttGizmos::none();
            only(gizmos);
        });
        support::frame(&mut app, 0);
        let lines = drawn(&mut app).len();
        // The gizmos of the disabled kinds are gone.
        support::frame(&mut app, 0);
        (lines, gizmo_counts(&mut app))
    };
    assert_eq!(count(|gizmos| gizmos.shapes = true), (8, [1, 1]));
    assert_eq!(count(|gizmos| gizmos.boxes = true), (8, [1, 1]));
    assert_eq!(count(|gizmos| gizmos.contact_points = true), (4, [1, 1]));
    assert_eq!(count(|gizmos| gizmos.contact_normals = true), (3, [1, 1]));
    assert_eq!(count(|gizmos| gizmos.casters = true), (4, [1, 1]));
    assert_eq!(
        count(|gizmos| *gizmos = HeadbuttGizmos::all()),
        (27, [3, 3])
    );
    assert_eq!(
        count(|gizmos| *gizmos = HeadbuttGizmos::default()),
        (19, [3, 3])
    );
    assert_eq!(count(|_| {}), (0, [0, 0]));
}

#[test]
fn none_draws_nothing_and_so_does_a_disabled_group() {
    let mut app = app();
    let pink = ColliderGizmo::Color(HOT_PINK.into());
    for x in 0..9 {
        let entity = spawn(&mut app, Collider::circle(1.0), x as f32);
        app.world_mut().entity_mut(entity).insert(pink);
    }
    assert!(!tick(&mut app).is_empty());
    for is_enabled in [true, false] {
        let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
        let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
        config.enabled = is_enabled;
        if is_enabled {
            *gizmos = HeadbuttGizmos::none();
        }
        assert!(tick(&mut app).is_empty());
        support::tick(&mut app);
        assert_eq!(gizmo_counts(&mut app), [0, 0]);
        let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
        let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
        (config.enabled, *gizmos) = (true, HeadbuttGizmos::all());
        assert!(!tick(&mut app).is_empty());
    }
}

#[test]
fn a_component_hides_colors_or_selects_an_entity() {
    let resting = ColliderColors::default().resting;
    let mut app = app();
    let [a, b, _c] = [0.0, 10.0, 20.0].map(|x| spawn(&mut app, Collider::rectangle(1.0, 1.0), x));
    tick(&mut app);
    app.world_mut().entity_mut(a).insert(ColliderGizmo::Hidden);
    app.world_mut()
        .entity_mut(b)
        .insert(ColliderGizmo::Color(LIME.into()));
    let lines = tick(&mut app);
    assert_eq!(
        [
            of_color(&lines, LIME.into()).len(),
            of_color(&lines, resting).len()
        ],
        [4, 4]
    );

    set(&mut app, |gizmos| gizmos.require_component = true);
    assert_eq!(of_color(&tick(&mut app), LIME.into()).len(), 4);
    assert_eq!(tick(&mut app).len(), 4);
    app.world_mut().entity_mut(a).insert(ColliderGizmo::Shown);
    assert_eq!(tick(&mut app).len(), 8);
    app.world_mut().entity_mut(a).remove::<ColliderGizmo>();
    assert_eq!(tick(&mut app).len(), 4);
}

#[test]
fn poses_are_those_on_the_screen_or_those_of_the_tick() {
    let mut app = app();
    let ball = spawn(&mut app, Collider::rectangle(2.0, 2.0), 0.0);
    app.world_mut()
        .get_mut::<Transform>(ball)
        .unwrap()
        .translation
        .z = 7.0;
    support::tick(&mut app);
    move_to(&mut app, ball, 5.0);
    // No tick sees the move.
    support::frame(&mut app, 0);
    let right = |app: &mut App| {
        let points = drawn(app).into_iter().flat_map(|(line, _)| line);
        points.fold(Vec3::MIN, Vec3::max)
    };
    assert_eq!(right(&mut app), Vec3::new(6.0, 1.0, 7.0));
    set(&mut app, |gizmos| gizmos.poses = GizmoPoses::Tick);
    support::frame(&mut app, 0);
    assert_eq!(right(&mut app), Vec3::new(1.0, 1.0, 7.0));
    support::tick(&mut app);
    assert_eq!(right(&mut app), Vec3::new(6.0, 1.0, 7.0));
}

#[test]
fn drawn_lines_follow_a_move_in_the_same_frame() {
    let mut app = app();
    let ball = spawn(&mut app, Collider::sphere(1.0), 0.0);
    support::tick(&mut app);
    for x in [3.0, -40.0, 1e6] {
        move_to(&mut app, ball, x);
        support::frame(&mut app, 0);
        let is_modified = |event: &AssetEvent<_>| matches!(event, AssetEvent::Modified { .. });
        assert!(
            changes(&mut app).iter().any(is_modified),
            "a renderer reads it in this frame"
        );
        assert!(
            drawn(&mut app)
                .iter()
                .all(|([a, b], _)| a.x >= x - 1.0 && b.x <= x + 1.0)
        );
    }
}

#[test]
fn gizmos_and_their_memory_go_with_the_colliders() {
    let mut rng = StdRng::seed_from_u64(3);
    let mut app = app();
    for _ in 0..20 {
        let entities: Vec<_> = (0..300)
            .map(|_| {
                spawn(
                    &mut app,
                    Collider::circle(1.0),
                    rng.random_range(-50.0..50.0),
                )
            })
            .collect();
        tick(&mut app);
        let count = drawn(&mut app).len();
        assert!(count >= 300 * 32);
        let (removed, despawned) = entities.split_at(150);
        for entity in removed {
            app.world_mut().entity_mut(*entity).remove::<Collider>();
        }
        set(&mut app, |gizmos| {
            *gizmos = HeadbuttGizmos {
                shapes: true,
                ..HeadbuttGizmos::none()
            }
        });
        assert_eq!(tick(&mut app).len(), 150 * 32);
        for entity in despawned {
            app.world_mut().despawn(*entity);
        }
        assert!(tick(&mut app).is_empty());
        support::tick(&mut app);
        assert_eq!(gizmo_counts(&mut app), [0, 0]);
        set(&mut app, |gizmos| *gizmos = HeadbuttGizmos::default());
    }
}

#[test]
fn despawned_gizmos_come_back() {
    let mut app = app();
    for x in [0.0, 1.0] {
        spawn(&mut app, Collider::circle(1.0), x);
    }
    let before = tick(&mut app);
    support::tick(&mut app);
    let gizmos: Vec<_> = app
        .world_mut()
        .query_filtered::<Entity, With<Gizmo>>()
        .iter(app.world())
        .collect();
    for entity in gizmos {
        app.world_mut().despawn(entity);
    }
    assert_eq!(tick(&mut app).len(), before.len());
    support::tick(&mut app);
    assert_eq!(gizmo_counts(&mut app), [2, 2], "shapes and contacts");
}

#[test]
fn line_width_and_render_layers_apply_without_a_rebuild() {
    let mut app = app();
    spawn(&mut app, Collider::circle(1.0), 0.0);
    rebuilds(&mut app, 3);
    let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
    let (config, _) = store.config_mut::<HeadbuttGizmos>();
    config.line.width = 7.0;
    config.depth_bias = -0.5;
    config.render_layers = RenderLayers::layer(3);
    assert_eq!(rebuilds(&mut app, 3), 0);
    let mut query = app.world_mut().query::<(&Gizmo, &RenderLayers)>();
    let (gizmo, layers) = query.single(app.world()).unwrap();
    assert_eq!((gizmo.line_config.width, gizmo.depth_bias), (7.0, -0.5));
    assert_eq!(*layers, RenderLayers::layer(3));
}

#[test]
fn drawing_changes_no_event_and_no_count_of_the_tick() {
    let run = |gizmos: Option<HeadbuttGizmos>| {
        let mut rng = StdRng::seed_from_u64(5);
        let mut app = match gizmos {
            None => support::app(),
            Some(gizmos) => {
                let mut app = app();
                set(&mut app, |settings| *settings = gizmos);
                app
            }
        };
        let balls: Vec<_> = (0..100)
            .map(|_| spawn(&mut app, Collider::sphere(1.0), 0.0))
            .collect();
        let mut log = Vec::new();
        for _ in 0..30 {
            for ball in &balls {
                move_to(&mut app, *ball, rng.random_range(-80.0..80.0));
            }
            let index = |entity| balls.iter().position(|ball| *ball == entity).unwrap();
            let mut events: Vec<_> = support::tick(&mut app)
                .messages
                .iter()
                .map(|hit| {
                    let mut pair = [index(hit.entity), index(hit.other)];
                    pair.sort();
                    (pair, format!("{:?}", hit.phase), hit.depth.to_bits())
                })
                .collect();
            events.sort();
            let CollisionDiagnostics {
                changed,
                ancestors,
                indexed,
                candidates,
                supports,
                ..
            } = *app.world().resource();
            log.push((events, [changed, ancestors, indexed, candidates, supports]));
        }
        log
    };
    let without = run(None);
    assert!(without.iter().any(|(events, _)| !events.is_empty()));
    assert_eq!(run(Some(HeadbuttGizmos::none())), without);
    assert_eq!(run(Some(HeadbuttGizmos::all())), without);
}

/// Returns the group's immediate lines of the last frame, as a renderer would find them.
fn immediate_lines(app: &App) -> Vec<Vec<Vec3>> {
    let handles = app.world().resource::<GizmoHandles>().handles();
    let handle = handles.get(&TypeId::of::<HeadbuttGizmos>());
    let Some(Some(handle)) = handle else {
        return Vec::new();
    };
    let assets = app.world().resource::<Assets<GizmoAsset>>();
    let positions = &assets.get(handle).unwrap().buffer().buffer().list_positions;
    positions.chunks(2).map(<[Vec3]>::to_vec).collect()
}

#[test]
fn systems_of_the_app_draw_in_the_group_of_these_gizmos() {
    let [in_frame, in_step] = [Vec3::X, Vec3::Y].map(|end| [Vec3::ZERO, end]);
    let mut app = App::new();
    // The assets of gizmos are added after the plugin that draws.
    app.add_plugins((
        HeadbuttDebugPlugin,
        MinimalPlugins,
        bevy::asset::AssetPlugin::default(),
        HeadbuttPlugin::default(),
    ))
    .init_asset::<GizmoAsset>()
    .add_systems(Update, move |mut gizmos: Gizmos<HeadbuttGizmos>| {
        gizmos.line(in_frame[0], in_frame[1], LIME);
    })
    .add_systems(FixedUpdate, move |mut gizmos: Gizmos<HeadbuttGizmos>| {
        gizmos.line(in_step[0], in_step[1], LIME);
    });
    // Settings that were made before the start of the app are kept.
    let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
    let (config, gizmos) = store.config_mut::<HeadbuttGizmos>();
    (config.line.width, gizmos.boxes) = (7.0, true);
    app.finish();
    support::start(&mut app);
    let store = app.world().resource::<GizmoConfigStore>();
    let (config, gizmos) = store.config::<HeadbuttGizmos>();
    assert_eq!((config.line.width, gizmos.boxes), (7.0, true));

    assert_eq!(immediate_lines(&app), [in_frame]);
    support::tick(&mut app);
    let mut lines = immediate_lines(&app);
    lines.sort_by(|a, b| b[1].x.total_cmp(&a[1].x));
    assert_eq!(lines, [in_frame, in_step]);
    set(&mut app, |gizmos| *gizmos = HeadbuttGizmos::none());
    let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
    store.config_mut::<HeadbuttGizmos>().0.enabled = false;
    support::tick(&mut app);
    assert_eq!(immediate_lines(&app), [[Vec3::ZERO; 2]; 0]);
}

/// A collider without a valid shape is drawn as a cross of three lines. `inert_size` is half of
/// their length.
#[test]
fn the_size_of_the_cross_of_an_inert_collider_is_a_setting() {
    let center = Vec3::new(3.0, -2.0, 1.0);
    let mut app = app();
    let pose = Transform::from_translation(center).with_scale(Vec3::new(1.0, 2.0, 3.0));
    app.world_mut().spawn((Collider::circle(-1.0), pose));
    let inert = ColliderColors::default().inert;
    let mut cross_of = |size: Option<f32>| {
        if let Some(size) = size {
            set(&mut app, |gizmos| gizmos.inert_size = size);
        }
        let lines = tick(&mut app);
        assert_eq!(lines.len(), 3, "{lines:?}");
        of_color(&lines, inert)
    };
    // The sizes are in the units of the collider, so its scale counts. 0.5 is the default.
    for (size, half) in [(None, 0.5), (Some(10.0), 10.0), (Some(0.25), 0.25)] {
        let arms = [Vec3::X, 2.0 * Vec3::Y, 3.0 * Vec3::Z].map(|arm| arm * half);
        let expected = arms.map(|arm| [center - arm, center + arm]);
        assert_eq!(cross_of(size), expected);
    }
}

#[test]
fn apps_without_gizmos_or_without_collisions_run() {
    let mut server = App::new();
    server.add_plugins((
        MinimalPlugins,
        HeadbuttPlugin::default(),
        HeadbuttDebugPlugin,
    ));
    server.world_mut().spawn(Collider::circle(1.0));
    server.finish();
    server.update();

    let mut editor = App::new();
    editor.add_plugins((
        MinimalPlugins,
        bevy::asset::AssetPlugin::default(),
        TransformPlugin,
        HeadbuttDebugPlugin,
    ));
    editor.init_asset::<GizmoAsset>();
    editor.world_mut().spawn(Collider::rectangle(1.0, 1.0));
    editor.finish();
    editor.update();
    assert_eq!(
        of_color(&drawn(&mut editor), ColliderColors::default().resting).len(),
        4
    );
}

#[test]
fn settings_inserted_before_the_plugin_are_kept() {
    let mut app = App::new();
    app.insert_gizmo_config(HeadbuttGizmos::none(), GizmoConfig::default());
    app.add_plugins(HeadbuttDebugPlugin);
    let store = app.world().resource::<GizmoConfigStore>();
    assert_eq!(*store.config::<HeadbuttGizmos>().1, HeadbuttGizmos::none());
}
