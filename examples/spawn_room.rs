//! Finds room for new units in a crowded arena. Each unit is spawned at the free spot that is
//! farthest from all colliders, until no spot is free.
//!
//! ```text
//! cargo run --example spawn_room
//! ```
//!
//! The example compares each choice with formulas, opens no window, and ends by itself.

use bevy::prelude::*;
use headbutt::prelude::*;

const UNIT: f32 = 1.5;
const SIZE: f32 = 24.0;

/// The centers and radii of the pillars.
const PILLARS: [(Vec2, f32); 3] = [
    (Vec2::new(-6.0, 4.0), 3.0),
    (Vec2::new(5.0, 5.5), 2.0),
    (Vec2::new(3.0, -6.0), 4.0),
];

fn main() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()));
    let world = app.world_mut();
    for (center, radius) in PILLARS {
        let pose = Transform::from_translation(center.extend(0.0));
        world.spawn((Collider::circle(radius), pose));
    }
    for normal in [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y] {
        let pose = Transform::from_translation((normal * SIZE / -2.0).extend(0.0));
        world.spawn((Collider::half_space(normal), pose));
    }
    // Grass is a sensor, so units may stand in it.
    world.spawn((Collider::rectangle(10.0, 10.0), Sensor));

    let mut units = vec![];
    loop {
        // No tick runs in this example, so `sync_now` makes each new unit visible to queries.
        headbutt::sync_now(world);
        let Ok(found) = world.run_system_cached(find_spot) else {
            break;
        };
        let by_formula = spots().map(|spot| (room(spot, &units), spot));
        let best = by_formula.map(|(room, _)| room).fold(f32::MIN, f32::max);
        let Some((spot, distance)) = found else {
            assert!(best < UNIT + 1e-4, "a spot with {best} of room is missing");
            break;
        };
        println!(
            "unit {:>2} at {spot}, {distance:.4} from everything",
            units.len() + 1
        );
        assert!((distance - best).abs() < 1e-4, "not {best}");
        assert!((distance - room(spot, &units)).abs() < 1e-4);
        let pose = Transform::from_translation(spot.extend(0.0));
        world.spawn((Collider::circle(UNIT), pose));
        units.push(spot);
    }
    assert!(units.len() > 10);
}

/// Returns the spots at which units may be spawned.
fn spots() -> impl Iterator<Item = Vec2> {
    let steps = |index: u16| SIZE * (f32::from(index) / 48.0 - 0.5);
    (0..=48).flat_map(move |x| (0..=48).map(move |y| Vec2::new(steps(x), steps(y))))
}

/// Returns the spot with the most room, and its distance from the nearest collider.
fn find_spot(query: SpatialQuery) -> Option<(Vec2, f32)> {
    let (unit, filter) = (Collider::circle(UNIT), SpatialQueryFilter::default());
    let free = spots().filter(|spot| !query.is_overlapped(&unit, *spot, &filter));
    let with_room = free.filter_map(|spot| {
        let nearest = query.closest_to_point(spot, f32::INFINITY, &filter)?;
        Some((spot, nearest.distance))
    });
    with_room.max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Returns the distance from a spot to the nearest pillar, wall or unit, by a formula.
fn room(spot: Vec2, units: &[Vec2]) -> f32 {
    let pillars = PILLARS
        .iter()
        .map(|(center, radius)| spot.distance(*center) - radius);
    let units = units.iter().map(|unit| spot.distance(*unit) - UNIT);
    let wall = SIZE / 2.0 - spot.abs().max_element();
    pillars.chain(units).fold(wall, f32::min)
}
