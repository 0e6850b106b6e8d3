//! Members that come, go, move or cannot be joined.

use bevy::prelude::*;
use headbutt::prelude::*;

use super::{app, collisions, events, set_pose};
use crate::{
    spatial::ask,
    support::{assert_phases_alternate, warnings::Warnings},
};

/// Spawns two flush blocks with their common side at x = 0, and a box that overlaps both. Each
/// block alone would push the box sideways.
fn spawn_blocks(app: &mut App) -> ([Entity; 2], Entity) {
    let world = app.world_mut();
    let blocks = [-8.0, 8.0].map(|x| {
        let pose = Transform::from_xyz(x, -8.0, 0.0);
        let block = Collider::rectangle(16.0, 16.0);
        world.spawn((block, pose, JoinedCollider(3))).id()
    });
    let body = (
        Collider::rectangle(12.0, 12.0),
        Transform::from_xyz(0.0, -1.0, 0.0),
    );
    (blocks, world.spawn(body).id())
}

/// Returns the normals of all contacts of a body, seen from the body's side.
fn pushes(app: &App, body: Entity) -> Vec<Vec3> {
    let contacts = collisions(app).parts_of(body);
    contacts.map(|contact| -contact.normal).collect()
}

fn are_up(pushes: &[Vec3]) -> bool {
    !pushes.is_empty() && pushes.iter().all(|push| push.distance(Vec3::Y) < 1e-6)
}

#[test]
fn the_marker_joins_and_its_removal_separates() {
    let mut app = app();
    let (blocks, body) = spawn_blocks(&mut app);
    app.update();
    assert!(are_up(&pushes(&app, body)));
    // The center is inside the second block, which has all contacts.
    assert!(!collisions(&app).contains(blocks[0], body));
    set_pose(&mut app, body, Transform::from_xyz(0.5, 5.5, 0.0));
    app.update();
    // Each block has its own contact, with the point relative to its own translation.
    for block in blocks {
        let contact = collisions(&app).between(block, body).unwrap();
        assert_eq!(contact.part(), 0);
        let place = app.world().get::<Transform>(block).unwrap().translation;
        assert_eq!(contact.translation(), place);
        assert!(contact.point().y.abs() < 1e-5, "{contact:?}");
    }
    set_pose(&mut app, body, Transform::from_xyz(0.5, -1.0, 0.0));
    assert!(!collisions(&app).contains(blocks[0], blocks[1]));
    app.world_mut()
        .entity_mut(blocks[0])
        .remove::<JoinedCollider>();
    app.update();
    assert!(!are_up(&pushes(&app, body)));
    // Another number is another ground.
    app.world_mut()
        .entity_mut(blocks[0])
        .insert(JoinedCollider(4));
    app.update();
    assert!(!are_up(&pushes(&app, body)));
    *app.world_mut().get_mut(blocks[1]).unwrap() = JoinedCollider(4);
    app.update();
    assert!(are_up(&pushes(&app, body)));
    app.world_mut().despawn(blocks[0]);
    app.update();
    assert!(pushes(&app, body).iter().all(|push| push.x < -0.5));
    assert_phases_alternate(&events(&mut app));
}

#[test]
fn a_moved_member_leaves_its_ground_and_returns() {
    let mut app = app();
    let (blocks, body) = spawn_blocks(&mut app);
    for (y, is_up) in [(-8.0, true), (40.0, false), (-8.0, true)] {
        set_pose(&mut app, blocks[1], Transform::from_xyz(8.0, y, 0.0));
        app.update();
        assert_eq!(are_up(&pushes(&app, body)), is_up);
        assert_eq!(collisions(&app).contains(blocks[1], body), is_up);
    }
    assert_phases_alternate(&events(&mut app));
}

#[test]
fn members_keep_their_layers_and_owners() {
    let mut app = app();
    let (blocks, body) = spawn_blocks(&mut app);
    let layers = CollisionLayers::from_bits(1, 2);
    app.world_mut().entity_mut(blocks[0]).insert(layers);
    app.world_mut()
        .entity_mut(body)
        .insert(CollisionLayers::from_bits(4, 4 | 8));
    app.world_mut()
        .entity_mut(blocks[1])
        .insert(CollisionLayers::from_bits(8, 4));
    app.update();
    assert!(!collisions(&app).contains(blocks[0], body));
    assert!(
        are_up(&pushes(&app, body)),
        "the union is made of all members"
    );
    app.world_mut()
        .entity_mut(blocks[1])
        .insert(ColliderOf(body));
    app.update();
    assert!(collisions(&app).is_empty());
}

#[test]
fn a_collider_that_cannot_be_joined_stays_a_collider_with_one_warning() {
    let warnings = Warnings::listen();
    let mut app = app();
    let (_, body) = spawn_blocks(&mut app);
    let pose = Transform::from_xyz(0.0, -1.0, 0.0);
    let line = Collider::polyline([Vec2::X, Vec2::NEG_X]);
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::SOLID);
    let one_way = (Collider::rectangle(1.0, 1.0), OneWay::default());
    let world = app.world_mut();
    let round = world
        .spawn((Collider::circle(1.0), pose, JoinedCollider(3)))
        .id();
    let others = [
        world.spawn((line, pose, JoinedCollider(3))).id(),
        world
            .spawn((Collider::cells(&grid), pose, JoinedCollider(3)))
            .id(),
        world.spawn((one_way, pose, JoinedCollider(3))).id(),
    ];
    for _ in 0..3 {
        app.update();
        assert!(collisions(&app).contains(round, body));
        set_pose(&mut app, others[0], pose);
    }
    let lines = warnings.take();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for entity in [round].into_iter().chain(others) {
        let names = |line: &&String| line.contains(&entity.to_string());
        assert_eq!(lines.iter().filter(names).count(), 1, "{lines:?}");
    }
}

#[test]
fn cells_off_the_cells_of_their_ground_are_not_joined() {
    let warnings = Warnings::listen();
    let mut app = app();
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.set(IVec2::ZERO, Cell::SOLID);
    let turned = Transform::from_xyz(9.0, 0.0, 0.0).with_rotation(Quat::from_rotation_z(0.1));
    let mut large = CellGrid::new(Vec2::splat(2.0));
    large.set(IVec2::ZERO, Cell::SOLID);
    let mut ledge = CellGrid::new(Vec2::ONE);
    ledge.set(IVec2::ZERO, Cell::one_way(CellDirection::Y));
    let world = app.world_mut();
    for (grid, pose) in [
        (&grid, Transform::IDENTITY),
        (&grid, Transform::from_xyz(3.0, 0.0, 0.0)),
        (&grid, Transform::from_xyz(5.5, 0.0, 0.0)),
        (&grid, turned),
        (&large, Transform::from_xyz(12.0, 0.0, 0.0)),
        (&ledge, Transform::from_xyz(16.0, 0.0, 0.0)),
        (&grid, Transform::from_xyz(20_000.0, 0.0, 0.0)),
    ] {
        world.spawn((Collider::cells(grid), pose, JoinedCollider(1)));
    }
    let ball = world
        .spawn((Collider::circle(0.5), Transform::from_xyz(6.0, 1.4, 0.0)))
        .id();
    app.update();
    assert_eq!(collisions(&app).deepest_of(ball).count(), 1);
    assert_eq!(warnings.take().len(), 5);
}

/// The members are in the pose of their ground, which must not count as a motion.
#[test]
fn a_member_that_joins_or_leaves_sweeps_nothing() {
    let mut app = app();
    let world = app.world_mut();
    world.spawn((
        Collider::circle(0.5),
        Swept,
        Transform::from_xyz(0.0, 50.0, 0.0),
    ));
    let ball = (Collider::circle(0.5), Transform::from_xyz(80.0, 0.0, 0.0));
    let ball = world.spawn(ball).id();
    let block = (
        Collider::rectangle(4.0, 4.0),
        Transform::from_xyz(160.0, 0.0, 0.0),
    );
    let block = world.spawn((block, Swept, JoinedCollider(1))).id();
    for is_joined in [true, false, true, false] {
        for _ in 0..3 {
            app.update();
            assert!(events(&mut app).is_empty());
        }
        if is_joined {
            app.world_mut().entity_mut(block).remove::<JoinedCollider>();
        } else {
            app.world_mut().entity_mut(block).insert(JoinedCollider(1));
        }
    }
    set_pose(&mut app, block, Transform::from_xyz(160.5, 0.0, 0.0));
    set_pose(&mut app, ball, Transform::from_xyz(80.5, 0.0, 0.0));
    app.update();
    assert!(events(&mut app).is_empty());
}

#[test]
fn a_collider_that_is_not_joined_meets_the_changes_of_its_ground() {
    let mut app = app();
    let mut grid = CellGrid::new(Vec2::ONE);
    grid.fill(IVec2::new(-9, -9), IVec2::new(9, -1), Cell::SOLID)
        .unwrap();
    let world = app.world_mut();
    let chunk = world
        .spawn((Collider::cells(&grid), JoinedCollider(1)))
        .id();
    // A ball is not joined, because it is round.
    let ball = (Collider::circle(0.5), Transform::from_xyz(0.5, 0.4, 0.0));
    let ball = world.spawn((ball, JoinedCollider(1))).id();
    app.update();
    assert!(collisions(&app).contains(chunk, ball));
    let mut level = app.world_mut().get_mut::<Collider>(chunk).unwrap();
    let dig =
        |grid: &mut CellGrid<Vec2>| grid.fill(IVec2::new(-2, -2), IVec2::new(2, -1), Cell::EMPTY);
    level.edit_cells(dig).unwrap().unwrap();
    app.update();
    assert!(!collisions(&app).contains(chunk, ball));
}

/// A body that ignores the member around it still hits the other members.
#[test]
fn casts_and_rays_from_inside_an_ignored_member_hit_the_others() {
    let mut app = app();
    let world = app.world_mut();
    let block = |x: f32, y: f32, layers: u32| {
        let pose = Transform::from_xyz(x, y, 0.0);
        let layers = CollisionLayers::from_bits(layers, !0);
        (
            Collider::rectangle(2.0, 2.0),
            pose,
            layers,
            JoinedCollider(1),
        )
    };
    world.spawn(block(0.0, 0.0, 1));
    let far = world.spawn(block(9.0, 0.0, 2)).id();
    headbutt::sync_now(world);
    ask(world, |query| {
        let filter = SpatialQueryFilter::default().with_layers(CollisionLayers::from_bits(!0, 2));
        let ray = query::Ray::new(Vec2::ZERO, Vec2::X);
        let hit = query.cast_ray(ray, &filter).expect("a hit");
        assert_eq!((hit.entity, hit.distance), (far, 8.0));
        let motion = Motion::linear(Vec2::ZERO, Vec2::X * 10.0);
        let ball = Collider::circle(0.5);
        let hit = query.cast_shape(&ball, motion, Default::default(), &filter);
        let hit = hit.expect("a hit");
        assert!(
            hit.entity == far && (hit.touching - 0.75).abs() < 1e-5,
            "{hit:?}"
        );
    });
}
