//! A character in a platformer: it walks over tiles, up steps and a slope, rides a lift, and jumps
//! onto a one-way platform from below.
//!
//! ```text
//! cargo run --example character
//! ```
//!
//! The example checks each tick, opens no window, and ends by itself. The function `respond` is the
//! collision response. `steer` replaces the input of a player, and `check` compares the results
//! with formulas.

use bevy::prelude::*;
use headbutt::prelude::*;

const SPEED: f32 = 3.0;
const GRAVITY: f32 = 20.0;
const JUMP: f32 = 10.0;
/// Half of the width and height of the character.
const HALF: Vec2 = Vec2::new(0.4, 0.8);

/// The heights of the ground, from left to right.
const FIRST_STEP: f32 = 5.5;
const STEP: f32 = 0.3;
const PLATEAU: f32 = 2.9;
const UPPER_FLOOR: f32 = 6.9;
const PLATFORM: f32 = 8.9;
/// The horizontal ends of the slope, which rises by 30 degrees, and of the lift.
const SLOPE: [f32; 2] = [10.5, 13.964_102];
const LIFT: [f32; 2] = [18.0, 20.0];

#[derive(Component, Default)]
struct Player {
    velocity: Vec2,
    ground: Option<Ground>,
    /// The direction of the walk, and `true` if the player jumps.
    input: (f32, bool),
}

#[derive(Component)]
struct Lift;

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, (drive, steer))
        // After `Sync`, a query sees the lift in this tick's pose.
        .add_systems(
            FixedPostUpdate,
            (respond, check).chain().after(HeadbuttSystems::Sync),
        );
    headbutt::run_ticks(&mut app, 1_999);
    let mut players = app.world_mut().query::<(&Player, &Transform)>();
    let (player, pose) = players.single(app.world()).expect("one player");
    let feet = pose.translation.y - HALF.y;
    println!("it ends at {:.3}, {feet:.3}", pose.translation.x);
    assert!(player.ground.is_some() && (feet - PLATFORM).abs() < 0.01);
}

fn spawn(mut commands: Commands) {
    let mut block = |left: f32, right: f32, top: f32| {
        let pose = Transform::from_xyz(0.5 * (left + right), top - 0.5, 0.0);
        commands
            .spawn((Collider::rectangle(right - left, 1.0), pose))
            .id()
    };
    for tile in -5..=5 {
        block(tile as f32 - 0.5, tile as f32 + 0.5, 0.0);
    }
    for step in 0..3_u8 {
        let left = FIRST_STEP + f32::from(step);
        block(left, SLOPE[0], STEP * f32::from(step + 1));
    }
    block(SLOPE[1], LIFT[0], PLATEAU);
    block(LIFT[1], 26.0, UPPER_FLOOR);
    let platform = block(LIFT[1], 26.0, PLATFORM);
    let lift = block(LIFT[0], LIFT[1], PLATEAU);
    commands.entity(platform).insert(OneWay::default());
    commands.entity(lift).insert(Lift);

    let bottom = Vec2::new(SLOPE[0], 3.0 * STEP);
    let top = Vec2::new(SLOPE[1], PLATEAU);
    let under = Vec2::NEG_Y;
    let slope = ConvexHull::new([bottom, top, top + under, bottom + under]).expect("four corners");
    commands.spawn(Collider::from(slope));

    let body = Collider::rectangle(2.0 * HALF.x, 2.0 * HALF.y);
    commands.spawn((Player::default(), body, Transform::from_xyz(-4.0, 1.0, 0.0)));
}

/// Moves the lift between the plateau and the upper floor, with a period of eight seconds.
fn drive(time: Res<Time>, mut lift: Single<&mut Transform, With<Lift>>) {
    let phase = time.elapsed_secs() * std::f32::consts::TAU / 8.0;
    let height = 0.5 * (UPPER_FLOOR - PLATEAU) * (1.0 - phase.cos());
    lift.translation.y = PLATEAU - 0.5 + height;
}

/// Walks to the right, waits on the lift, and jumps.
fn steer(player: Single<(&mut Player, &Transform)>, lift: Single<&Transform, With<Lift>>) {
    let (mut player, pose) = player.into_inner();
    let x = pose.translation.x;
    let is_on_lift = x > 19.0 && x < LIFT[1] + HALF.x && pose.translation.y < UPPER_FLOOR + HALF.y;
    let is_lift_up = lift.translation.y + 0.5 > UPPER_FLOOR - 0.1;
    let walks = x < 23.0 && (!is_on_lift || is_lift_up);
    let is_below_platform = pose.translation.y < PLATFORM;
    player.input = (f32::from(u8::from(walks)), x >= 23.0 && is_below_platform);
}

fn respond(
    query: SpatialQuery,
    time: Res<Time>,
    player: Single<(Entity, &mut Player, &mut Transform, &Collider)>,
) {
    let (entity, mut player, mut pose, body) = player.into_inner();
    let (walk, jump) = player.input;
    player.velocity.x = walk * SPEED;
    player.velocity.y -= GRAVITY * time.delta_secs();
    if jump && player.ground.is_some() {
        player.velocity.y = JUMP;
    }

    // With `of`, the one-way platform is solid only from above.
    let filter = SpatialQueryFilter::of(entity);
    let settings = MoveAndSlideSettings {
        step_height: 0.35,
        ground: player.ground,
        ..default()
    };
    let translation = player.velocity * time.delta_secs();
    let slide = query.move_and_slide(body, *pose, translation, &settings, &filter);
    pose.translation += slide.translation;
    player.velocity = slide.clip_velocity(player.velocity);
    player.ground = slide.ground;
}

/// Compares the height with the height of the ground, and the speed on tiles and slope with
/// `SPEED`.
fn check(
    time: Res<Time>,
    player: Single<(&Player, &Transform), Changed<Transform>>,
    mut before: Local<Option<Vec2>>,
) {
    let (player, pose) = *player;
    let position = pose.translation.xy();
    let previous = before.replace(position).unwrap_or(position);
    let Some(ground) = player.ground else {
        // The player is in the air only at the start and in the jump.
        assert!(
            position.x < -3.0 || position.x > 22.9,
            "in the air at {position}"
        );
        return;
    };
    let (feet, right) = (position.y - HALF.y, position.x + HALF.x);
    let is_on_tiles = right < FIRST_STEP - 0.05;
    let is_on_slope = right > SLOPE[0] + 0.1 && right < SLOPE[1] - 0.1;
    if is_on_tiles {
        assert!((feet - 0.004).abs() < 1e-3, "{feet} above the tiles");
    }
    if is_on_slope {
        let height = 3.0 * STEP + (right - SLOPE[0]) * 30_f32.to_radians().tan();
        assert!(
            (feet - height).abs() < 0.01,
            "{feet} on a slope at {height}"
        );
        assert!((ground.normal.y - 30_f32.to_radians().cos()).abs() < 1e-4);
    }
    // Only motions that start and end on the same ground are compared.
    let was_on_tiles = previous.x > -3.0 && is_on_tiles;
    let was_on_slope = previous.x + HALF.x > SLOPE[0] + 0.1 && is_on_slope;
    if was_on_tiles || was_on_slope {
        let step = (position - previous).length();
        assert!(
            (step - SPEED * time.delta_secs()).abs() < 1e-3,
            "a step of {step}"
        );
    }
}
