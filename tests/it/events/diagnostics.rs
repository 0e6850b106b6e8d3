//! The counts of a tick that `CollisionDiagnostics` and Bevy's `DiagnosticsStore` report.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::support::{start, tick};
use bevy::{diagnostic::DiagnosticsStore, math::DVec3, prelude::*};
use headbutt::{CollisionDiagnostics, HeadbuttDiagnosticsPlugin, Support, prelude::*};

/// A cube of half size 0.5 that counts its support evaluations.
#[derive(Clone)]
struct Asked(Arc<AtomicUsize>);

impl Support for Asked {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.0.fetch_add(1, Ordering::Relaxed);
        DVec3::splat(0.5).copysign(direction)
    }
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        HeadbuttPlugin::default(),
        HeadbuttDiagnosticsPlugin,
    ));
    start(&mut app);
    app
}

/// Moves entities a little along x.
fn advance(app: &mut App, entities: &[Entity]) {
    for entity in entities {
        let mut transform = app.world_mut().get_mut::<Transform>(*entity).expect("one");
        transform.translation.x += 0.01;
    }
}

/// Spawns rows of pairs. Returns the entities that move, which have the collider `second`.
fn pairs(app: &mut App, count: usize, first: Collider, second: Collider) -> Vec<Entity> {
    let world = app.world_mut();
    (0..count)
        .map(|number| {
            let from = Vec3::new(0.0, 5.0 * number as f32, 0.0);
            world.spawn((first.clone(), Transform::from_translation(from)));
            let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.5, 0.1 * number as f32);
            let place = Transform::from_translation(from + Vec3::new(0.8, 0.1, 0.2));
            world
                .spawn((second.clone(), place.with_rotation(turn)))
                .id()
        })
        .collect()
}

/// Only the solver evaluates a resting collider, once for each support point of a pair. The second
/// count is large enough for several threads.
#[test]
fn support_evaluations_are_counted() {
    for count in [1, 400] {
        let mut app = app();
        let asked = Asked(Arc::default());
        let moving = pairs(
            &mut app,
            count,
            Collider::custom(asked.clone()),
            Cuboid::from_length(1.0).into(),
        );
        tick(&mut app);
        for _ in 0..3 {
            asked.0.store(0, Ordering::Relaxed);
            advance(&mut app, &moving);
            tick(&mut app);
            let told = app.world().resource::<CollisionDiagnostics>();
            let calls = asked.0.load(Ordering::Relaxed);
            assert_eq!((told.supports, told.contacts), (calls, count));
            assert!(calls >= 5 * count, "EPA takes more than {calls}");
        }
        tick(&mut app);
        let at_rest = app.world().resource::<CollisionDiagnostics>();
        assert_eq!((at_rest.supports, at_rest.contacts), (0, count));
    }
}

/// Supplied pairs at rest are not tested while other pairs move.
#[test]
fn supplied_pairs_at_rest_evaluate_no_support_function() {
    let mut app = app();
    app.insert_resource(BroadPhase::Custom);
    let cubes = || Collider::custom(Asked(Arc::default()));
    let at_rest = pairs(&mut app, 2, cubes(), cubes());
    let ball = |x: f32| {
        let place = Transform::from_xyz(x, -50.0, 0.0);
        (Collider::from(Sphere::new(1.0)), place)
    };
    let balls = [0.0, 1.0].map(|x| app.world_mut().spawn(ball(x)).id());
    let world = app.world_mut();
    let mut all = world.query_filtered::<Entity, With<Collider>>();
    let all: Vec<Entity> = all.iter(world).collect();
    let mut supplied = world.resource_mut::<CandidatePairs>();
    for one in &all {
        supplied.extend(all.iter().map(|other| (*one, *other)));
    }
    tick(&mut app);
    for (moving, takes_any) in [(&balls[..1], false), (&at_rest[..1], true)] {
        advance(&mut app, moving);
        tick(&mut app);
        let told = app.world().resource::<CollisionDiagnostics>();
        assert_eq!((told.changed, told.contacts), (1, 3));
        assert_eq!(told.supports > 0, takes_any, "{told:?}");
    }
}

/// One ball meets a half-space, and another ball meets three parts, two of which are near.
#[test]
fn support_evaluations_of_half_spaces_and_compound_parts_are_counted() {
    let plane = || InfinitePlane3d::new(Vec3::Y).into();
    let part = |x: f32| {
        let cube = Collider::from(Cuboid::from_length(1.0));
        let pose = Isometry3d::new(Vec3::new(x, -0.9, 0.0), Quat::from_rotation_y(0.4));
        (pose, cube)
    };
    let parts =
        || Collider::try_compound([part(-0.6), part(0.6), part(50.0)]).expect("convex parts");
    for (ground, least) in [(plane(), 1), (parts(), 2 * 4)] {
        let mut app = app();
        let asked = Asked(Arc::default());
        app.world_mut().spawn(Collider::custom(asked.clone()));
        let ground: Collider = ground;
        let below = Transform::from_xyz(0.0, -0.1, 0.0);
        let ground = app.world_mut().spawn((ground, below)).id();
        tick(&mut app);
        asked.0.store(0, Ordering::Relaxed);
        advance(&mut app, &[ground]);
        tick(&mut app);
        let told = app.world().resource::<CollisionDiagnostics>();
        assert_eq!(told.contacts, 1);
        // Evaluations for the bounding box are not counted.
        let calls = asked.0.load(Ordering::Relaxed);
        assert!((least..=calls).contains(&told.supports), "{told:?}");
    }
}

#[test]
fn a_closed_form_evaluates_no_support_function() {
    let mut app = app();
    let moving = pairs(
        &mut app,
        3,
        Sphere::new(0.5).into(),
        Cuboid::from_length(1.0).into(),
    );
    advance(&mut app, &moving);
    tick(&mut app);
    let told = app.world().resource::<CollisionDiagnostics>();
    assert_eq!((told.supports, told.candidates, told.contacts), (0, 3, 3));
}

/// Returns the number of support evaluations for a box and another collider that touch. `x` is the
/// distance of their centers along the x axis.
fn supports_of_box_and(other: &Collider, x: f32) -> usize {
    let mut app = app();
    let world = app.world_mut();
    world.spawn(Collider::from(Cuboid::from_length(1.0)));
    world.spawn((other.clone(), Transform::from_xyz(x, 0.0, 0.0)));
    tick(&mut app);
    let told = app.world().resource::<CollisionDiagnostics>();
    assert_eq!(told.contacts, 1);
    told.supports
}

#[test]
fn a_box_and_a_capsule_evaluate_no_support_function_at_any_depth() {
    let capsule = Collider::from(Capsule3d::new(0.3, 0.8));
    assert_eq!(supports_of_box_and(&capsule, 0.4), 0);
    assert_eq!(supports_of_box_and(&capsule, 0.7), 0);
}

#[test]
fn two_boxes_evaluate_support_functions_where_only_a_margin_overlaps() {
    let rounded = Collider::from(Cuboid::from_length(0.6)).rounded(0.2);
    assert_eq!(supports_of_box_and(&rounded, 0.7), 0);
    assert!(supports_of_box_and(&rounded, 0.9) > 0);
}

#[test]
fn the_diagnostics_store_shows_the_values_of_the_resource() {
    let mut app = app();
    let moving = pairs(
        &mut app,
        2,
        Collider::custom(Asked(Arc::default())),
        Cuboid::from_length(1.0).into(),
    );
    tick(&mut app);
    advance(&mut app, &moving);
    tick(&mut app);
    let told = *app.world().resource::<CollisionDiagnostics>();
    let store = app.world().resource::<DiagnosticsStore>();
    type Paths = HeadbuttDiagnosticsPlugin;
    let milliseconds = |time: std::time::Duration| 1e3 * time.as_secs_f64();
    for (path, expected) in [
        (Paths::COLLIDERS, 4.0),
        (Paths::CHANGED, 2.0),
        (Paths::CANDIDATES, 2.0),
        (Paths::SUPPORTS, told.supports as f64),
        (Paths::CONTACTS, 2.0),
        (Paths::SYNC, milliseconds(told.sync)),
        (Paths::BROAD_PHASE, milliseconds(told.broad_phase)),
        (Paths::NARROW_PHASE, milliseconds(told.narrow_phase)),
        (Paths::REPORT, milliseconds(told.report)),
    ] {
        let found = store.get(&path).and_then(|it| it.value());
        assert_eq!(found, Some(expected), "{path}");
    }
    assert!(told.supports > 0);
}
