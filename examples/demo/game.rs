//! The score, the keys and the looks of the games. The files of the games show how to use headbutt.

use bevy::{asset::RenderAssetUsages, mesh::PrimitiveTopology, prelude::*};

use super::{INK, ORANGE, Readout, YELLOW, fill::Fill};

/// The score, which is shown below the title.
#[derive(Resource, Default)]
pub struct Score {
    pub coins: usize,
    pub kills: u32,
    pub deaths: u32,
}

/// Returns an app like [`super::app`] with a score. The debug drawing is hidden until F1 is
/// pressed.
pub fn app(title: &'static str, keys: &'static str) -> App {
    let mut app = super::app(title, keys);
    app.init_resource::<Score>()
        .add_systems(Startup, super::hide_gizmos)
        .add_systems(Update, (fade, show_score));
    app
}

fn show_score(score: Res<Score>, coins: Query<(), With<Coin>>, mut readout: ResMut<Readout>) {
    let all = score.coins + coins.iter().len();
    let (coins, kills, deaths) = (score.coins, score.kills, score.deaths);
    readout.0 = format!("coins: {coins} of {all}    kills: {kills}    deaths: {deaths}");
}

/// Returns the pose at a position. Entities with a greater `z` are in front.
pub fn at([x, y]: [f32; 2], z: f32) -> Transform {
    Transform::from_xyz(x, y, z)
}

/// Returns the direction of the pressed arrow keys or WASD: -1, 0 or 1 along each axis.
pub fn direction(keys: &ButtonInput<KeyCode>) -> Vec2 {
    use KeyCode::{ArrowDown, ArrowLeft, ArrowRight, ArrowUp, KeyA, KeyD, KeyS, KeyW};
    let pressed = |either: [KeyCode; 2]| f32::from(keys.any_pressed(either));
    Vec2::new(
        pressed([ArrowRight, KeyD]) - pressed([ArrowLeft, KeyA]),
        pressed([ArrowUp, KeyW]) - pressed([ArrowDown, KeyS]),
    )
}

#[derive(Component)]
pub struct Coin;

/// Returns a coin without a collider.
pub fn coin(center: [f32; 2]) -> impl Bundle {
    (Coin, Fill::collider(YELLOW), at(center, 1.0))
}

/// Returns the look of a body with two eyes.
pub fn creature(color: Color, center: [f32; 2]) -> impl Bundle {
    let eye = |x| (Fill::shape(Circle::new(0.08), INK), at([x, 0.12], 0.1));
    let eyes = children![eye(-0.15), eye(0.15)];
    (Fill::collider(color), at(center, 2.0), eyes)
}

/// Returns a fill of the area between a line and a lower edge. `bottom` maps the height of a point
/// of the line to the height of the lower edge below it.
pub fn strip(top: &[[f32; 2]], bottom: impl Fn(f32) -> f32, color: Color) -> Fill {
    let ends = |&[x, y]: &[f32; 2]| [[x, y, 0.0], [x, bottom(y), 0.0]];
    let vertices: Vec<_> = top.iter().flat_map(ends).collect();
    let mesh = Mesh::new(PrimitiveTopology::TriangleStrip, RenderAssetUsages::all());
    Fill::shape(
        mesh.with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vertices),
        color,
    )
}

/// Marks a camera that follows an entity, and whose center stays in this area.
#[derive(Component)]
pub struct Follow(pub Rect);

/// Moves the camera smoothly to the entity with the marker `M`.
pub fn follow<M: Component>(
    time: Res<Time>,
    target: Single<&Transform, (With<M>, Without<Follow>)>,
    camera: Single<(&Follow, &mut Transform)>,
) {
    let (Follow(area), mut pose) = camera.into_inner();
    let target = target.translation.xy().clamp(area.min, area.max);
    pose.translation
        .smooth_nudge(&target.extend(0.0), 5.0, time.delta_secs());
}

/// Marks an entity that shrinks and vanishes.
#[derive(Component)]
pub struct Spark;

/// Returns the flash of a hit.
pub fn spark(center: Vec2) -> impl Bundle {
    let fill = Fill::shape(Circle::new(0.3), ORANGE);
    (Spark, fill, at(center.into(), 4.0))
}

fn fade(mut sparks: Query<(Entity, &mut Transform), With<Spark>>, mut commands: Commands) {
    for (entity, mut pose) in &mut sparks {
        pose.scale *= 0.85;
        if pose.scale.x < 0.1 {
            commands.entity(entity).despawn();
        }
    }
}
