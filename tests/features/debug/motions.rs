//! Compares the drawing of swept paths and of the queries of systems with closed forms.

use core::f32::consts::{FRAC_PI_2, FRAC_PI_4};

use bevy::prelude::*;
use headbutt::{
    ColliderColors,
    prelude::*,
    query::{CastOptions, Ray},
};

use super::{Line, app, drawn, of_color, set, support, tick};

fn is_line(line: &Line, [start, end]: [Vec3; 2]) -> bool {
    line[0].distance(start) < 1e-4 && line[1].distance(end) < 1e-4
}

#[track_caller]
fn assert_has(lines: &[Line], ends: [Vec3; 2]) {
    let has = lines.iter().any(|line| is_line(line, ends));
    assert!(has, "no line {ends:?} in {lines:?}");
}

/// Returns the least and the greatest x of all points.
fn range_of_x(lines: &[Line]) -> [f32; 2] {
    let xs = || lines.iter().flatten().map(|point| point.x);
    [xs().fold(f32::MAX, f32::min), xs().fold(f32::MIN, f32::max)]
}

fn only(app: &mut App, gizmos: HeadbuttGizmos) {
    set(app, |settings| *settings = gizmos);
}

/// Returns an app that draws only paths.
fn app_of_paths() -> App {
    let mut app = app();
    let none = HeadbuttGizmos::none();
    only(
        &mut app,
        HeadbuttGizmos {
            paths: true,
            ..none
        },
    );
    app
}

#[test]
fn a_path_changes_its_color_at_the_first_touch() {
    let colors = ColliderColors::default();
    let mut app = app_of_paths();
    for x in [10.0, 15.0] {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut()
            .spawn((Collider::cuboid(1.0, 9.0, 9.0), pose));
    }
    let bullet = (Collider::sphere(0.5), Swept, Transform::default());
    let bullet = app.world_mut().spawn(bullet).id();
    assert_eq!(tick(&mut app), [], "no path in the first tick");
    support::transform(app.world_mut(), bullet).translation.x = 20.0;
    let lines = tick(&mut app);
    // The front of the bullet touches the first wall at x = 9.5.
    let path = of_color(&lines, colors.path_hits);
    assert_has(&path, [Vec3::ZERO, Vec3::X * 9.0]);
    let [left, right] = range_of_x(&path);
    assert!((left + 0.5).abs() < 1e-3 && (right - 9.5).abs() < 1e-3);
    let rest = of_color(&lines, colors.paths);
    assert!(is_line(&rest[0], [Vec3::X * 9.0, Vec3::X * 20.0]));
    assert_eq!(rest.len(), 1);

    // Frames without a tick change nothing. The path disappears with the next tick.
    support::frame(&mut app, 0);
    assert_eq!(drawn(&mut app), lines);
    assert_eq!(tick(&mut app), []);
}

#[test]
fn a_path_without_a_touch_begins_in_the_previous_pose() {
    let colors = ColliderColors::default();
    let mut app = app_of_paths();
    let block = Collider::cuboid(1.0, 2.0, 3.0);
    let start = Transform::from_xyz(1.0, 2.0, 3.0)
        .with_rotation(Quat::from_rotation_x(0.4))
        .with_scale(Vec3::new(1.0, 2.0, 0.5));
    let end = Transform::from_xyz(4.0, 0.0, 3.0)
        .with_rotation(Quat::from_rotation_x(0.4) * Quat::from_rotation_z(0.7))
        .with_scale(start.scale);
    let entity = app.world_mut().spawn((block.clone(), Swept, start)).id();
    // This collider moves, too, but is not swept.
    let other = app.world_mut().spawn((block.clone(), start)).id();
    app.world_mut().despawn(other);
    let other = (Collider::sphere(1.0), Transform::from_xyz(0.0, 50.0, 0.0));
    let other = app.world_mut().spawn(other).id();
    tick(&mut app);
    *support::transform(app.world_mut(), entity) = end;
    support::transform(app.world_mut(), other).translation.y = 60.0;
    let lines = tick(&mut app);
    let path = of_color(&lines, colors.paths);
    assert_eq!([lines.len(), path.len()], [13, 13]);
    assert_has(&path, [start.translation, end.translation]);
    for edge in block.wireframe() {
        assert_has(&path, edge.map(|point| start.transform_point(point)));
    }
}

/// The side of the rod touches the ball when the ball is 0.1 + 0.1 from the axis of the rod.
#[test]
fn a_turning_collider_is_drawn_in_its_rotation_at_the_first_touch() {
    let mut app = app_of_paths();
    let rod = Collider::rectangle(4.0, 0.2);
    let angle = FRAC_PI_4 + (0.2_f32 / 1.5).asin();
    let ball = Vec2::from_angle(angle) * 1.5;
    app.world_mut().spawn((
        Collider::circle(0.1),
        Transform::from_xyz(ball.x, ball.y, 7.0),
    ));
    let pose = Transform::from_xyz(0.0, 0.0, 3.0);
    let entity = app.world_mut().spawn((rod.clone(), Swept, pose)).id();
    tick(&mut app);
    support::transform(app.world_mut(), entity).rotation = Quat::from_rotation_z(FRAC_PI_2);
    let path = of_color(&tick(&mut app), ColliderColors::default().path_hits);
    // The lines are the outlines at the start and at the touch, and the path of the origin.
    assert_eq!(path.len(), 9);
    for angle in [0.0, FRAC_PI_4] {
        let pose = pose.with_rotation(Quat::from_rotation_z(angle));
        for edge in rod.wireframe() {
            assert_has(&path, edge.map(|point| pose.transform_point(point)));
        }
    }
}

type Run = fn(&SpatialQuery);

/// Returns an app that draws only queries. A wall begins at x = 9.
fn app_of_queries() -> App {
    let mut app = app();
    let queries = HeadbuttGizmos {
        queries: true,
        ..HeadbuttGizmos::none()
    };
    only(&mut app, queries);
    let wall = (
        Collider::cuboid(2.0, 2.0, 2.0),
        Transform::from_xyz(10.0, 0.0, 0.0),
    );
    app.world_mut().spawn(wall);
    tick(&mut app);
    app
}

/// Returns the lines of the queries of a system outside of fixed steps, in both colors.
fn lines_of(app: &mut App, run: Run) -> [Vec<Line>; 2] {
    app.world_mut()
        .run_system_cached_with(|In(run): In<Run>, query: SpatialQuery| run(&query), run)
        .unwrap();
    support::frame(app, 0);
    let (lines, colors) = (drawn(app), ColliderColors::default());
    let [path, hit] = [colors.queries, colors.query_hits].map(|color| of_color(&lines, color));
    assert_eq!(lines.len(), path.len() + hit.len());
    [path, hit]
}

/// Returns the numbers of lines that [`lines_of`] returns.
fn count(app: &mut App, run: Run) -> [usize; 2] {
    lines_of(app, run).map(|lines| lines.len())
}

#[test]
fn every_query_with_a_ray_is_drawn_up_to_its_first_hit() {
    let mut app = app_of_queries();
    let queries: [Run; 6] = [
        |query| assert!(query.cast_ray(ray(), &all()).is_some()),
        |query| query.cast_rays(&[ray()], &all(), &mut Vec::new()),
        |query| assert!(query.is_ray_blocked(ray(), &all())),
        |query| query.ray_hits(ray(), &all(), &mut Vec::new()),
        |query| query.ray_hits_per_entity(ray(), &all(), &mut Vec::new()),
        |query| query.visit_ray(ray(), &all(), |_| f32::INFINITY),
    ];
    for run in queries {
        let [path, hit] = lines_of(&mut app, run);
        assert_eq!([path.len(), hit.len()], [1, 3]);
        assert_has(&path, [Vec3::ZERO, Vec3::X * 9.0]);
        // The normal at the hit is drawn.
        assert_has(&hit, [Vec3::X * 9.0, Vec3::X * 8.1]);
    }
    let [path, hit] = lines_of(&mut app, |query| {
        query.cast_ray(Ray::new(Vec3::ZERO, Vec3::Y).with_max_distance(5.0), &all());
    });
    assert_eq!([path.len(), hit.len()], [1, 0], "a miss");
    assert_has(&path, [Vec3::ZERO, Vec3::Y * 5.0]);
    assert_eq!(count(&mut app, |_| {}), [0, 0], "forgotten");
}

fn ray() -> Ray<Vec3> {
    Ray::new(Vec3::ZERO, Vec3::X * 2.0)
}

fn all() -> SpatialQueryFilter<'static> {
    SpatialQueryFilter::default()
}

#[test]
fn every_query_with_a_moving_shape_is_drawn_where_it_hits() {
    let mut app = app_of_queries();
    let queries: [Run; 5] = [
        |query| {
            let hit = query.cast_shape(&body(), motion(), options(), &all());
            assert!(hit.is_some());
        },
        |query| query.cast_shapes(&body(), &[motion()], options(), &all(), &mut Vec::new()),
        |query| assert!(query.is_shape_blocked(&body(), motion(), options(), &all())),
        |query| query.shape_hits_per_entity(&body(), motion(), options(), &all(), &mut vec![]),
        |query| query.visit_shape(&body(), motion(), options(), &all(), |_| 1.0),
    ];
    for run in queries {
        let [path, hit] = lines_of(&mut app, run);
        // The lines are the path and the edges at the start, and the cross and the edges at the
        // hit.
        assert_eq!([path.len(), hit.len()], [13, 15]);
        assert_has(&path, [Vec3::ZERO, Vec3::X * 8.5]);
        for [start, end] in body().wireframe() {
            assert_has(&path, [start, end]);
            assert_has(&hit, [start + Vec3::X * 8.5, end + Vec3::X * 8.5]);
        }
    }
    let [path, hit] = lines_of(&mut app, |query| {
        let motion = Motion::linear(Vec3::ZERO, Vec3::Y);
        query.cast_shape(&body(), motion, options(), &all());
    });
    assert_eq!([path.len(), hit.len()], [25, 0], "a miss");
    let [path, hit] = lines_of(&mut app, |query| {
        let motion = Motion::linear(Vec3::NAN, Vec3::Y);
        query.cast_shape(&body(), motion, options(), &all());
        query.cast_ray(Ray::new(Vec3::NAN, Vec3::Y), &all());
    });
    assert_eq!([path.len(), hit.len()], [0, 0], "invalid queries");
}

fn body() -> Collider {
    Collider::cuboid(1.0, 1.0, 1.0)
}

fn motion() -> Motion<Collider> {
    Motion::linear(Vec3::ZERO, Vec3::X * 20.0)
}

fn options() -> CastOptions {
    CastOptions::default()
}

/// A fixed step does not run in every frame, but the drawn queries of a step must not flicker.
#[test]
fn the_queries_of_the_last_fixed_step_stay_until_the_next_one() {
    let mut app = app_of_queries();
    let mut step = 0.0;
    let cast = move |query: SpatialQuery| {
        step += 1.0;
        let ray = Ray::new(Vec3::Y * step, Vec3::NEG_X).with_max_distance(1.0);
        query.cast_ray(ray, &all());
    };
    app.add_systems(FixedUpdate, cast);
    for (ticks, last) in [(1, 1.0), (0, 1.0), (0, 1.0), (3, 4.0), (0, 4.0), (2, 6.0)] {
        support::frame(&mut app, ticks);
        let lines = of_color(&drawn(&mut app), ColliderColors::default().queries);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_has(&lines, [Vec3::Y * last, Vec3::new(-1.0, last, 0.0)]);
    }
}

#[test]
fn queries_are_recorded_only_while_they_are_drawn_and_only_so_many() {
    let mut app = app_of_queries();
    let many: Run = |query| {
        let ray = Ray::new(Vec3::ZERO, Vec3::Y);
        query.cast_rays(&[ray; 5_000], &all(), &mut Vec::new());
    };
    assert_eq!(count(&mut app, many), [4096, 0]);
    only(&mut app, HeadbuttGizmos::none());
    assert_eq!(count(&mut app, many), [0, 0]);
    // Queries that ran while the switch was off are not drawn.
    app.world_mut()
        .run_system_cached_with(|In(run): In<Run>, query: SpatialQuery| run(&query), many)
        .unwrap();
    only(&mut app, HeadbuttGizmos::all());
    set(&mut app, |gizmos| gizmos.shapes = false);
    set(&mut app, |gizmos| gizmos.boxes = false);
    assert_eq!(count(&mut app, |_| {}), [0, 0]);
    // The query of a caster is drawn only as a caster.
    app.world_mut().spawn(RayCaster::new(ray()));
    let casters = of_color(&tick(&mut app), ColliderColors::default().caster_hits);
    assert_eq!([casters.len(), drawn(&mut app).len()], [4, 4]);
}
