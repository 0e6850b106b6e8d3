//! GJK, EPA and a cast step by step: two shapes and their Minkowski difference.
//!
//! ```text
//! cargo run --example gjk_epa_steps --features demo
//! ```

#[path = "../demo/mod.rs"]
mod demo;
mod draw;
mod steps;

use std::sync::Arc;

use bevy::{math::DVec2, prelude::*};
use demo::{BLUE, FAINT, GREEN, INK, ORANGE, RED, Readout, pointer::Draggable};
use headbutt::{prelude::*, query::steps::Step};
use steps::Mode;

/// The support function of an entity's shape.
#[derive(Component)]
struct Figure(Arc<dyn Support<Vector = Vec2> + Send + Sync>);

#[derive(Component)]
struct A;

#[derive(Component)]
struct B;

/// The single shape with the marker `M`.
type Only<'w, 's, M> = Single<'w, 's, (&'static Figure, &'static Transform), With<M>>;

#[derive(Resource, Default)]
struct Progress {
    mode: Mode,
    steps: Vec<Step<DVec2>>,
    index: usize,
}

const KEYS: &str = "right, left: step    tab: distance, contact, cast    mouse: drag    \
                    1 to 6: shape of A    shift + 1 to 6: shape of B";

fn main() -> AppExit {
    demo::app("GJK and EPA, step by step", KEYS)
        .init_resource::<Progress>()
        .add_systems(Startup, (spawn, demo::hide_gizmos))
        .add_systems(
            Update,
            (
                demo::pointer::drag,
                (switch, reshape),
                walk,
                (draw::world, draw::difference),
            )
                .chain(),
        )
        .run()
}

fn spawn(mut commands: Commands) {
    commands.spawn(demo::camera_2d(10.0));
    let text = |text: &str, size: f32, color: Color, [x, y]: [f32; 2]| {
        let pose = Transform::from_xyz(x, y, 0.0).with_scale(Vec3::splat(0.01));
        let font = TextFont::from_font_size(size);
        (Text2d::new(text), font, TextColor(color), pose)
    };
    let titles = [
        ("world", -4.45),
        ("Minkowski difference A - B of the cores", 4.45),
    ];
    for (title, x) in titles {
        commands.spawn(text(title, 26.0, FAINT, [x, 2.85]));
    }
    let cores = "core: a shape without its radius (a circle is a point, a capsule a segment)";
    commands.spawn(text(cores, 18.0, FAINT, [4.45, 2.5]));
    let legend = [
        ("support point", GREEN, 0.9),
        ("support plane", draw::PLANE, 2.75),
        ("simplex, polytope", BLUE, 4.75),
        ("nearest point", RED, 6.8),
        ("origin", INK, 8.25),
    ];
    for (name, color, x) in legend {
        commands.spawn(text(name, 20.0, color, [x, -4.2]));
    }
    let name = |name, color| {
        let label = children![text(name, 26.0, color, [0.0, 0.0])];
        (Draggable, Visibility::default(), label)
    };
    let [pose_a, pose_b] = Mode::Distance.poses();
    commands.spawn((A, pose_a, shape(2), name("A", BLUE)));
    commands.spawn((B, pose_b, shape(1), name("B", ORANGE)));
}

/// Returns one of the shapes that can be chosen with the keys.
fn shape(kind: usize) -> impl Bundle {
    let shape: Arc<dyn Support<Vector = Vec2> + Send + Sync> = match kind {
        0 => Arc::new(Triangle2d::new(Vec2::new(-1.0, -0.7), Vec2::X, Vec2::Y)),
        1 => Arc::new(Rectangle::new(1.8, 1.2)),
        2 => Arc::new(RegularPolygon::new(1.1, 5)),
        3 => Arc::new(Ellipse::new(1.3, 0.7)),
        4 => Arc::new(Capsule2d::new(0.4, 1.2)),
        _ => Arc::new(Circle::new(0.8)),
    };
    (Collider::custom(shape.clone()), Figure(shape))
}

/// Changes the mode, and moves the shapes to the start poses of the new mode.
fn switch(
    keys: Res<ButtonInput<KeyCode>>,
    mut progress: ResMut<Progress>,
    mut a: Single<&mut Transform, With<A>>,
    mut b: Single<&mut Transform, (With<B>, Without<A>)>,
) {
    if keys.just_pressed(KeyCode::Tab) {
        progress.mode = progress.mode.next();
        progress.index = 0;
        [**a, **b] = progress.mode.poses();
    }
}

fn reshape(
    keys: Res<ButtonInput<KeyCode>>,
    a: Single<Entity, With<A>>,
    b: Single<Entity, With<B>>,
    mut commands: Commands,
) {
    use KeyCode::{Digit1, Digit2, Digit3, Digit4, Digit5, Digit6};
    let digits = [Digit1, Digit2, Digit3, Digit4, Digit5, Digit6];
    let shift = keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
    if let Some(kind) = digits.iter().position(|key| keys.just_pressed(*key)) {
        commands
            .entity(if shift { *b } else { *a })
            .insert(shape(kind));
    }
}

/// Runs the algorithm, goes to the next or previous step, and describes the current step.
fn walk(
    keys: Res<ButtonInput<KeyCode>>,
    a: Only<A>,
    b: Only<B>,
    mut progress: ResMut<Progress>,
    mut readout: ResMut<Readout>,
) {
    progress.steps = progress.mode.steps(*a, *b);
    let forward = usize::from(keys.just_pressed(KeyCode::ArrowRight));
    let back = usize::from(keys.just_pressed(KeyCode::ArrowLeft));
    let count = progress.steps.len();
    let index = (progress.index + forward).saturating_sub(back);
    progress.index = index.min(count.saturating_sub(1));

    let title = progress.mode.title();
    let number = count.min(progress.index + 1);
    let sentence = steps::describe(&progress.steps, progress.index);
    readout.0 = format!("{title}, step {number} of {count}\n{sentence}");
}
