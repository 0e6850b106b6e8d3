//! Compares the text and the drawing of the explained pair with closed forms.

use core::f32::consts::FRAC_1_SQRT_2;

use bevy::prelude::*;
use headbutt::{ColliderColors, PairStatus, explain, prelude::*};

use super::{Line, app, of_color, set, support, tick};

/// Draws only the explanation of a pair. Returns the drawn lines of one color.
fn lines_of(app: &mut App, pair: [Entity; 2], color: fn(&ColliderColors) -> Color) -> Vec<Line> {
    app.world_mut().resource_mut::<ExplainedPair>().pair = Some(pair);
    set(app, |gizmos| {
        *gizmos = HeadbuttGizmos {
            explanation: true,
            ..HeadbuttGizmos::none()
        }
    });
    of_color(&tick(app), color(&ColliderColors::default()))
}

fn spawn(app: &mut App, collider: Collider, position: Vec3) -> Entity {
    let pose = Transform::from_translation(position);
    app.world_mut().spawn((collider, pose)).id()
}

fn explained(app: &App) -> &ExplainedPair {
    app.world().resource::<ExplainedPair>()
}

fn is_line(line: &Line, [start, end]: [Vec3; 2]) -> bool {
    line[0].distance(start) < 1e-5 && line[1].distance(end) < 1e-5
}

#[test]
fn the_text_follows_the_pair_and_changes_only_with_its_content() {
    let mut app = app();
    let a = spawn(&mut app, Collider::circle(1.0), Vec3::ZERO);
    let b = spawn(&mut app, Collider::circle(1.0), Vec3::X * 5.0);
    tick(&mut app);
    assert_eq!(explained(&app).text(), "");
    assert!(explained(&app).explanation().is_none());
    // The text does not depend on the drawing.
    set(&mut app, |gizmos| *gizmos = HeadbuttGizmos::none());
    app.world_mut().resource_mut::<ExplainedPair>().pair = Some([a, b]);
    assert_eq!(tick(&mut app), []);
    let text = explain(app.world(), a, b).to_string();
    assert!(text.contains("apart along [1, 0]"), "{text}");
    assert_eq!(explained(&app).text(), text);

    let mut ticks = app.world().read_change_tick();
    let mut is_changed = |app: &mut App| {
        support::tick(app);
        let last = core::mem::replace(&mut ticks, app.world_mut().change_tick());
        let resource = app.world().get_resource_ref::<ExplainedPair>().unwrap();
        resource.last_changed().is_newer_than(last, ticks)
    };
    is_changed(&mut app);
    assert!(!is_changed(&mut app));
    support::transform(app.world_mut(), b).translation.x = 1.5;
    assert!(is_changed(&mut app));
    let status = &explained(&app).explanation().unwrap().status;
    assert!(matches!(status, PairStatus::Touching(hit) if hit.depth == 0.5));
    app.world_mut().despawn(b);
    tick(&mut app);
    assert!(explained(&app).text().contains("no longer exists"));
    app.world_mut().resource_mut::<ExplainedPair>().pair = None;
    tick(&mut app);
    assert_eq!(explained(&app).text(), "");
}

#[test]
fn a_distance_is_the_shortest_line_between_the_shapes() {
    let mut app = app();
    let a = spawn(&mut app, Collider::circle(1.0), Vec3::Z * 4.0);
    let b = spawn(&mut app, Collider::circle(1.0), Vec3::new(1.8, 1.8, 9.0));
    let lines = lines_of(&mut app, [a, b], |colors| colors.explanation);
    let point = |of: f32| Vec3::new(of, of, 4.0);
    let line = [point(FRAC_1_SQRT_2), point(1.8 - FRAC_1_SQRT_2)];
    // The other four lines are two crosses.
    assert_eq!(lines.len(), 5);
    assert!(is_line(&lines[4], line), "{lines:?}");
}

#[test]
fn a_gap_between_boxes_is_an_arrow_from_face_to_face() {
    let mut app = app();
    let a = spawn(&mut app, Collider::cuboid(2.0, 2.0, 2.0), Vec3::ZERO);
    let b = spawn(&mut app, Collider::sphere(1.0), Vec3::new(0.0, 3.0, -7.0));
    for (pair, ends) in [([a, b], [-1.0, -6.0]), ([b, a], [-6.0, -1.0])] {
        let lines = lines_of(&mut app, pair, |colors| colors.explanation);
        assert_eq!(lines.len(), 12 + 12 + 3);
        let line = ends.map(|z| Vec3::new(0.0, 1.5, z));
        assert!(lines.iter().any(|other| is_line(other, line)), "{lines:?}");
    }
}

#[test]
fn a_contact_is_drawn_with_its_normal_and_another_reason_as_a_connecting_line() {
    let mut app = app();
    let a = spawn(&mut app, Collider::sphere(1.0), Vec3::ZERO);
    let b = spawn(&mut app, Collider::sphere(1.0), Vec3::X * 1.5);
    let normals = lines_of(&mut app, [a, b], |colors| colors.contact_normals);
    assert_eq!(normals.len(), 3);
    let [start, end] = normals[0];
    assert!((start.distance(end) - 0.5).abs() < 1e-6);
    let crosses = lines_of(&mut app, [a, b], |colors| colors.contact_points);
    assert_eq!(crosses.len(), 6);

    app.world_mut().entity_mut(b).insert(CollisionLayers::NONE);
    let lines = lines_of(&mut app, [a, b], |colors| colors.explanation);
    assert!(lines.len() == 1 && is_line(&lines[0], [Vec3::ZERO, Vec3::X * 1.5]));
    app.world_mut().despawn(b);
    let lines = lines_of(&mut app, [a, b], |colors| colors.explanation);
    assert_eq!(lines, [] as [Line; 0]);
}

#[test]
fn the_outlines_of_the_pair_have_a_color_of_their_own() {
    let color = ColliderColors::default().explanation;
    let mut app = app();
    let [a, b] = [0.0, 1.5].map(|x| spawn(&mut app, Collider::rectangle(2.0, 2.0), Vec3::X * x));
    spawn(&mut app, Collider::rectangle(2.0, 2.0), Vec3::X * -1.5);
    app.world_mut().entity_mut(b).insert(ColliderGizmo::Hidden);
    set(&mut app, |gizmos| {
        *gizmos = HeadbuttGizmos {
            shapes: true,
            explanation: true,
            ..HeadbuttGizmos::none()
        }
    });
    assert_eq!(tick(&mut app).len(), 8);
    app.world_mut().resource_mut::<ExplainedPair>().pair = Some([a, b]);
    assert_eq!(of_color(&tick(&mut app), color).len(), 8);
    set(&mut app, |gizmos| gizmos.explanation = false);
    let lines = tick(&mut app);
    assert_eq!([lines.len(), of_color(&lines, color).len()], [8, 0]);
    set(&mut app, |gizmos| gizmos.explanation = true);
    app.world_mut().resource_mut::<ExplainedPair>().pair = None;
    assert_eq!(of_color(&tick(&mut app), color).len(), 0);
}
