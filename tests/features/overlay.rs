//! The text of the overlay, without a renderer.

use bevy::prelude::*;
use headbutt::{CollisionDiagnostics, prelude::*};

use crate::support;

/// Returns an app with two touching circles and a separate circle.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        HeadbuttOverlayPlugin { key: KeyCode::F7 },
        HeadbuttPlugin::default(),
    ))
    .init_resource::<ButtonInput<KeyCode>>();
    support::start(&mut app);
    for x in [0.0, 1.5, 9.0] {
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut().spawn((Collider::circle(1.0), pose));
    }
    app
}

/// Runs a frame in which a key is pressed.
fn press(app: &mut App, key: KeyCode, ticks: u32) {
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .press(key);
    support::frame(app, ticks);
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .reset_all();
}

/// Returns the name and the words of each line, or `None` while no text exists.
fn lines(app: &mut App) -> Option<Vec<(String, String)>> {
    let mut texts = app.world_mut().query::<&Text>();
    let text = texts.iter(app.world()).next()?;
    let split = |line: &str| {
        let (name, value) = line.split_at(12);
        (name.trim_end().to_owned(), value.trim_start().to_owned())
    };
    Some(text.0.lines().map(split).collect())
}

#[test]
fn a_key_shows_and_hides_the_counts_of_the_last_tick() {
    let mut app = app();
    support::tick(&mut app);
    assert_eq!(lines(&mut app), None);
    press(&mut app, KeyCode::F3, 1);
    assert_eq!(lines(&mut app), None, "another key");
    press(&mut app, KeyCode::F7, 1);
    let shown = lines(&mut app).expect("the text");
    let counts = [
        ("colliders", "3"),
        ("changed", "0"),
        ("candidates", "0"),
        ("contacts", "1"),
    ];
    for (name, count) in counts {
        assert!(
            shown.contains(&(name.to_owned(), count.to_owned())),
            "{name}: {shown:?}"
        );
    }

    let mut poses = app.world_mut().query::<&mut Transform>();
    for mut pose in poses.iter_mut(app.world_mut()) {
        pose.translation.x = 0.1;
    }
    support::tick(&mut app);
    let shown = lines(&mut app).expect("the text");
    // All three circles touch. One pair continues, and two pairs start.
    let counts = [
        ("colliders", "3"),
        ("changed", "3"),
        ("candidates", "3"),
        ("contacts", "3"),
        ("events", "3"),
    ];
    for (name, count) in counts {
        assert!(
            shown.contains(&(name.to_owned(), count.to_owned())),
            "{name}: {shown:?}"
        );
    }
    press(&mut app, KeyCode::F7, 1);
    assert_eq!(lines(&mut app), None);
    let overlay = *app.world().resource::<HeadbuttOverlay>();
    assert!(!overlay.is_visible);
}

/// The diagnostics report the times, and this test computes their means.
#[test]
fn times_are_means_of_the_last_60_ticks() {
    let mut app = app();
    app.world_mut().resource_mut::<HeadbuttOverlay>().is_visible = true;
    support::frame(&mut app, 0);
    let mut totals = Vec::new();
    for _ in 0..70 {
        support::tick(&mut app);
        let latest = app.world().resource::<CollisionDiagnostics>();
        let times = [
            latest.sync,
            latest.broad_phase,
            latest.narrow_phase,
            latest.report,
        ];
        totals.push(
            times
                .map(|time| 1e3 * time.as_secs_f64())
                .iter()
                .sum::<f64>(),
        );
    }
    let expected = totals[10..].iter().sum::<f64>() / 60.0;
    let shown = lines(&mut app).expect("the text");
    let names = shown
        .iter()
        .rev()
        .take(5)
        .rev()
        .map(|(name, _)| name.as_str());
    let expected_names = ["sync", "broad phase", "narrow phase", "report", "total"];
    assert_eq!(names.collect::<Vec<_>>(), expected_names);
    let total = shown.last().and_then(|(_, time)| time.strip_suffix(" ms"));
    let total: f64 = total.expect("milliseconds").parse().expect("a number");
    assert!((total - expected).abs() <= 1e-3, "{total}, not {expected}");
}

#[test]
fn an_app_without_collisions_or_keys_shows_no_tick() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttOverlayPlugin::default()));
    app.world_mut().resource_mut::<HeadbuttOverlay>().is_visible = true;
    app.update();
    let mut texts = app.world_mut().query::<&Text>();
    let texts: Vec<_> = texts.iter(app.world()).collect();
    assert_eq!(texts.len(), 1);
    assert_eq!(texts[0].0, "no tick");
}
