//! Compares the drawing of contacts, casts and half-spaces with closed forms.

use bevy::{
    camera::{OrthographicProjection, Projection},
    prelude::*,
};
use headbutt::{ColliderColors, prelude::*, query::Ray};

use super::{Line, app, drawn, of_color, set, support, tick};

fn is_line(line: &Line, [start, end]: [Vec3; 2]) -> bool {
    line[0].distance(start) < 1e-5 && line[1].distance(end) < 1e-5
}

#[test]
fn a_contact_is_drawn_as_two_crosses_and_an_arrow_as_long_as_its_depth() {
    let colors = ColliderColors::default();
    let mut app = app();
    // The contact is drawn in the plane of the entity.
    for (x, size) in [(0.0, 2.0), (2.5, 4.0)] {
        let pose = Transform::from_xyz(x, 0.0, 3.0);
        app.world_mut()
            .spawn((Collider::rectangle(size, 2.0), pose));
    }
    let lines = tick(&mut app);
    let hit = app.world().resource::<Collisions>().iter().next().unwrap();
    // The colliders overlap from x = 0.5 to x = 1.
    assert_eq!(hit.depth, 0.5);
    let arrow = of_color(&lines, colors.contact_normals);
    let [start, end] = arrow[0];
    assert!(
        (end - start).abs().distance(Vec3::X * 0.5) < 1e-6,
        "{start} {end}"
    );
    assert!((start.x.min(end.x) - 0.5).abs() < 1e-6);
    assert_eq!([start.z, end.z], [3.0, 3.0]);
    // Moving `other` along the arrow separates the two colliders.
    assert!((end - start).dot(hit.normal) > 0.0);

    let crosses = of_color(&lines, colors.contact_points);
    assert_eq!(crosses.len(), 4);
    let centers = crosses.iter().map(|[a, b]| a.midpoint(*b));
    for center in centers {
        assert!(
            [0.5, 1.0].contains(&center.x) && center.z == 3.0,
            "{center}"
        );
    }
}

#[test]
fn every_part_has_its_own_contact() {
    let mut app = app();
    let part = Collider::cuboid(1.0, 1.0, 1.0);
    let feet = Collider::compound([-2.0, 2.0].map(|x| (Vec3::X * x, part.clone())));
    app.world_mut()
        .spawn((feet, Transform::from_xyz(0.0, 0.4, 0.0)));
    app.world_mut().spawn(Collider::half_space(Vec3::Y));
    let lines = tick(&mut app);
    let crosses = of_color(&lines, ColliderColors::default().contact_points);
    assert_eq!(crosses.len(), 2 * 2 * 3);
    let centers = crosses.iter().map(|[a, b]| a.midpoint(*b).x.signum());
    assert_eq!(centers.sum::<f32>(), 0.0, "as many left as right");
}

#[test]
fn casters_are_drawn_up_to_their_first_hit() {
    let colors = ColliderColors::default();
    let mut app = app();
    set(&mut app, |gizmos| {
        *gizmos = HeadbuttGizmos {
            casters: true,
            ..HeadbuttGizmos::none()
        }
    });
    app.world_mut().spawn((
        Collider::cuboid(2.0, 2.0, 2.0),
        Transform::from_xyz(10.0, 0.0, 0.0),
    ));
    let turned = Transform::from_xyz(0.0, 0.5, 0.0)
        .with_rotation(Quat::from_rotation_y(core::f32::consts::FRAC_PI_2));
    let ray = Ray::new(Vec3::ZERO, Vec3::Z).with_max_distance(20.0);
    let caster = app.world_mut().spawn((RayCaster::new(ray), turned)).id();
    let lines = of_color(&tick(&mut app), colors.caster_hits);
    let (start, hit) = (Vec3::Y * 0.5, Vec3::new(9.0, 0.5, 0.0));
    assert!(
        lines.iter().any(|line| is_line(line, [start, hit])),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .any(|line| is_line(line, [hit, hit - Vec3::X * 0.9])),
        "the normal"
    );

    app.world_mut()
        .get_mut::<Transform>(caster)
        .unwrap()
        .translation
        .y = 3.0;
    let lines = of_color(&tick(&mut app), colors.casters);
    let ends = [Vec3::Y * 3.0, Vec3::new(20.0, 3.0, 0.0)];
    assert!(lines.len() == 1 && is_line(&lines[0], ends), "{lines:?}");

    app.world_mut().despawn(caster);
    let body = ShapeCaster::new(Collider::cuboid(1.0, 1.0, 1.0), Vec3::X * 20.0);
    app.world_mut().spawn((body, Transform::default()));
    let lines = of_color(&tick(&mut app), colors.caster_hits);
    let points = || lines.iter().flatten();
    let [left, right] = [f32::min, f32::max].map(|of| points().map(|it| it.x).reduce(of).unwrap());
    // The right side of the shape touches the wall at x = 9. The cross at the hit reaches beyond
    // the wall's side.
    assert_eq!(left, -0.5);
    assert!((9.0..9.5).contains(&right), "{right}");
    assert!(
        lines
            .iter()
            .any(|line| is_line(line, [Vec3::ZERO, Vec3::X * 8.5])),
        "{lines:?}"
    );
}

#[test]
fn a_half_space_is_a_grid_on_its_plane_near_the_camera() {
    let mut app = app();
    let tilted = Transform::from_xyz(3.0, -2.0, 1.0)
        .with_rotation(Quat::from_euler(EulerRot::XYZ, 0.3, 0.0, 0.5))
        .with_scale(Vec3::new(2.0, 0.5, 3.0));
    let normal = Vec3::new(1.0, 2.0, 0.5);
    let ground = app
        .world_mut()
        .spawn((Collider::half_space(normal), tilted))
        .id();
    let camera = Transform::from_xyz(-500.0, 80.0, 200.0);
    let camera = app.world_mut().spawn((Camera3d::default(), camera)).id();
    let lines = tick(&mut app);
    assert_eq!(lines.len(), 34);
    let collider = Collider::half_space(normal);
    let pose = *app.world().get::<GlobalTransform>(ground).unwrap();
    let eye = app.world().get::<Transform>(camera).unwrap().translation;
    let foot = collider.closest_point(pose, eye).unwrap();
    let up = (eye - foot).normalize();
    let size = eye.distance(foot);
    for point in lines.iter().flat_map(|(line, _)| line) {
        assert!(
            (*point - foot).dot(up).abs() < 1e-4 * size,
            "{point} is not on the plane"
        );
        assert!(
            point.distance(foot) < 16.0 * size,
            "{point} is not near {foot}"
        );
    }
    // The grid covers the foot of the camera, and stays in place while the camera moves a little.
    let center = lines.iter().flat_map(|(line, _)| line).sum::<Vec3>() / 68.0;
    assert!(center.distance(foot) < size, "{center}, {foot}");
    app.world_mut()
        .get_mut::<Transform>(camera)
        .unwrap()
        .translation += 0.01;
    let same = |a: &[(Line, Color)], b: &[(Line, Color)]| {
        let ends = |lines: &[(Line, Color)]| lines.iter().map(|it| it.0).collect::<Vec<_>>();
        ends(a) == ends(b)
    };
    assert!(same(&tick(&mut app), &lines));
    app.world_mut()
        .get_mut::<Transform>(camera)
        .unwrap()
        .translation += 300.0;
    assert!(!same(&tick(&mut app), &lines));
    app.world_mut().despawn(camera);
    assert_eq!(tick(&mut app).len(), 34, "around the origin");
}

#[test]
fn a_half_plane_is_hatched_on_its_solid_side_across_the_whole_view() {
    let mut app = app();
    let collider = Collider::half_space(Vec2::new(0.0, 1.0));
    app.world_mut()
        .spawn((collider.clone(), Transform::from_xyz(0.0, -40.0, 0.0)));
    let area = Rect::from_center_size(Vec2::ZERO, Vec2::new(1280.0, 720.0));
    let view = OrthographicProjection {
        area,
        ..OrthographicProjection::default_2d()
    };
    let camera = (
        Camera2d,
        Projection::Orthographic(view),
        Transform::from_xyz(900.0, 0.0, 0.0),
    );
    app.world_mut().spawn(camera);
    let lines = drawn_after_tick(&mut app);
    let xs = || lines.iter().flatten().map(|point| point.x);
    assert!(xs().fold(f32::MAX, f32::min) <= 900.0 - 640.0);
    assert!(xs().fold(f32::MIN, f32::max) >= 900.0 + 640.0);
    let pose = Transform::from_xyz(0.0, -40.0, 0.0);
    let ends = lines.iter().filter(|[start, end]| start.y != end.y);
    assert_eq!(ends.clone().count(), 17);
    for [start, end] in ends {
        assert_eq!(start.y, -40.0);
        assert!(collider.contains_point(pose, end.truncate()), "{end}");
    }
}

fn drawn_after_tick(app: &mut App) -> Vec<Line> {
    support::tick(app);
    drawn(app).into_iter().map(|(line, _)| line).collect()
}
