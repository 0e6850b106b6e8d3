//! Guards look for a player who walks past a wall, a window and a fence.
//!
//! ```text
//! cargo run --example line_of_sight
//! ```
//!
//! A guard sees the player if no wall is on the segment between the two. The example compares each
//! result with the geometry of the scene, opens no window, and ends by itself.

use bevy::prelude::*;
use headbutt::{prelude::*, query::Ray};

/// The layer of walls, which block bodies and sight.
const WALL: u32 = 1 << 0;
/// The layer of fences, which block bodies. Guards look over fences.
const FENCE: u32 = 1 << 1;

/// The layers of a guard's sight, which interact only with walls.
const SIGHT: CollisionLayers = CollisionLayers::from_bits(u32::MAX, WALL);
const RANGE: f32 = 12.0;

#[derive(Component)]
struct Player;

#[derive(Component)]
struct Guard {
    /// The guard cannot see the player while |x| is at most this value, by the geometry of the
    /// scene.
    shadow: f64,
    sees: bool,
}

/// The number of times that a guard began or ceased to see the player.
#[derive(Resource, Default)]
struct Changes(u32);

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .init_resource::<Changes>()
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, walk)
        // After `Sync`, a query sees the poses of this tick.
        .add_systems(FixedPostUpdate, look.after(HeadbuttSystems::Sync));
    headbutt::run_ticks(&mut app, 320);
    // The guard behind the window sees and loses the player once. The other guard sees and loses
    // the player twice.
    assert_eq!(app.world().resource::<Changes>().0, 6);
}

fn spawn(mut commands: Commands) {
    let body = || Collider::circle(0.5);
    let player = Transform::from_xyz(-10.0, 0.0, 0.0);
    commands.spawn((Player, body(), player));
    // The guards are 10 units away from the player's path.
    let guards = [
        // The wall ends at (2, 5.5). The line through the guard and this corner meets the path at
        // x = 2 * 10 / (10 - 5.5).
        (
            "the guard behind the wall",
            Vec2::new(0.0, 10.0),
            20.0 / 4.5,
        ),
        (
            "the guard behind the window and the fence",
            Vec2::new(0.0, -10.0),
            -1.0,
        ),
    ];
    for (name, position, shadow) in guards {
        let (guard, pose) = (
            Guard {
                shadow,
                sees: false,
            },
            position.extend(0.0),
        );
        commands.spawn((
            Name::new(name),
            guard,
            body(),
            Transform::from_translation(pose),
        ));
    }
    let obstacle = |y| {
        (
            Collider::rectangle(4.0, 1.0),
            Transform::from_xyz(0.0, y, 0.0),
        )
    };
    let [wall, fence] = [WALL, FENCE].map(|layer| CollisionLayers::new(layer, u32::MAX));
    commands.spawn((obstacle(5.0), wall));
    // A sensor is never solid, so it blocks no ray.
    commands.spawn((obstacle(-5.0), wall, Sensor));
    commands.spawn((obstacle(-3.0), fence));
}

fn walk(mut player: Single<&mut Transform, With<Player>>) {
    player.translation.x += 1.0 / 16.0;
}

fn look(
    query: SpatialQuery,
    player: Single<(Entity, &Transform), With<Player>>,
    mut guards: Query<(Entity, &Name, &Transform, &mut Guard)>,
    mut changes: ResMut<Changes>,
) {
    let (player, at) = *player;
    for (entity, name, pose, mut guard) in &mut guards {
        let sight = Ray::between(pose.translation.xy(), at.translation.xy());
        // The ray begins in the guard's own collider, and ends in the player's collider.
        let filter = SpatialQueryFilter::default().with_layers(SIGHT);
        let filter = filter.excluding(entity).excluding(player);
        let sees = sight.max_distance <= RANGE && !query.is_ray_blocked(sight, &filter);

        let x = f64::from(at.translation.x);
        let is_near = x.hypot(10.0) <= f64::from(RANGE);
        assert_eq!(sees, is_near && x.abs() > guard.shadow, "{name}, x = {x}");
        if guard.sees != sees {
            guard.sees = sees;
            changes.0 += 1;
            println!(
                "x = {x:>7.4}: {name} {} the player",
                if sees { "sees" } else { "loses" }
            );
        }
    }
}
