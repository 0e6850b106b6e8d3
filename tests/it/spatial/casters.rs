//! Components that cast a ray or a shape in each tick.

use bevy::{math::DVec2, prelude::*};
use headbutt::{
    prelude::*,
    query::{self, CastOptions, Ray},
};

use super::ask;
use crate::support::{app, tick, transform};

fn wall_at(app: &mut App, x: f32) -> Entity {
    let pose = Transform::from_xyz(x, 0.0, 0.0);
    let wall = Collider::cuboid(1.0, 8.0, 8.0);
    app.world_mut().spawn((wall, pose)).id()
}

/// Systems after `Sync` see the hits of their tick, in the pose of the tick, below parents.
#[test]
fn a_ray_starts_in_the_pose_of_its_entity() {
    let mut app = app();
    let [near, far] = [5.0, 9.0].map(|x| wall_at(&mut app, x));
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(1.0, 0.0, 0.0))
        .id();
    let caster = RayCaster::new(Ray::new(Vec3::ZERO, Vec3::X));
    // The caster's own collider is no hit.
    let eye = (Collider::sphere(0.5), caster, ChildOf(parent));
    let eye = app.world_mut().spawn(eye).id();
    let distances = |app: &App| -> Vec<(Entity, f32)> {
        let caster = app
            .world()
            .get::<RayCaster<Vec3>>(eye)
            .expect("it was spawned");
        assert_eq!(caster.first().as_ref(), caster.hits().first());
        let hits = caster.hits().iter();
        hits.map(|hit| (hit.entity, hit.distance)).collect()
    };
    tick(&mut app);
    assert_eq!(distances(&app), [(near, 3.5), (far, 7.5)]);
    transform(app.world_mut(), parent).translation.x = 2.0;
    tick(&mut app);
    assert_eq!(distances(&app), [(near, 2.5), (far, 6.5)]);
    transform(app.world_mut(), eye).rotation = Quat::from_rotation_y(3.0);
    tick(&mut app);
    assert!(distances(&app).is_empty());
}

#[test]
fn a_caster_on_a_child_does_not_hit_its_ancestors() {
    let mut app = app();
    let wall = wall_at(&mut app, 5.0);
    let world = app.world_mut();
    let body = world.spawn(Collider::sphere(1.0)).id();
    let arm = world.spawn((Transform::default(), ChildOf(body))).id();
    let caster = RayCaster::new(Ray::new(Vec3::ZERO, Vec3::X));
    let eye = world.spawn((caster, ChildOf(arm))).id();
    tick(&mut app);
    let caster = app.world().get::<RayCaster<Vec3>>(eye);
    let hits = caster.expect("it was spawned").hits();
    let entities: Vec<Entity> = hits.iter().map(|hit| hit.entity).collect();
    assert_eq!(entities, [wall]);
}

/// There are three walls. The filter excludes one wall, and includes a wall that is a sensor.
#[test]
fn the_filter_of_a_caster_selects_what_it_hits() {
    let mut app = app();
    let [excluded, sensor, wall] = [3.0, 5.0, 7.0].map(|x| wall_at(&mut app, x));
    app.world_mut().entity_mut(sensor).insert(Sensor);
    let filter = || {
        let filter = SpatialQueryFilter::default().with_sensors();
        filter.excluding(excluded)
    };
    let ray = RayCaster::new(Ray::new(Vec3::ZERO, Vec3::X));
    let shape = ShapeCaster::new(Collider::sphere(0.5), Vec3::X * 9.0);
    let plain = (ray.clone(), shape.clone());
    let chosen = (ray.with_filter(filter()), shape.with_filter(filter()));
    // Neither caster hits its own collider.
    let own = (Collider::sphere(1.0), chosen);
    let filtered = app.world_mut().spawn(own).id();
    let plain = app.world_mut().spawn((plain, ChildOf(filtered))).id();
    tick(&mut app);
    let hits = |entity: Entity| {
        let world = app.world();
        let ray = world.get::<RayCaster<Vec3>>(entity).expect("a caster");
        let shape = world.get::<ShapeCaster>(entity).expect("a caster");
        let of_ray = ray.hits().iter().map(|hit| hit.entity);
        let of_shape = shape.hits().iter().map(|hit| hit.entity);
        assert!(of_ray.clone().eq(of_shape));
        of_ray.collect::<Vec<_>>()
    };
    assert_eq!(hits(filtered), [sensor, wall]);
    assert_eq!(hits(plain), [excluded, wall]);
}

#[test]
fn a_ray_in_2d_hits_2d_colliders() {
    let mut app = app();
    wall_at(&mut app, 1.0);
    let pose = Transform::from_xyz(3.0, 0.0, 0.0);
    let ball = app.world_mut().spawn((Collider::circle(1.0), pose)).id();
    let caster = RayCaster::new(Ray::new(Vec2::ZERO, Vec2::X));
    let eye = app.world_mut().spawn(caster).id();
    tick(&mut app);
    let caster = app
        .world()
        .get::<RayCaster<Vec2>>(eye)
        .expect("it was spawned");
    let first = caster.first().expect("a hit");
    assert_eq!((first.entity, first.distance), (ball, 2.0));
}

#[test]
fn a_shape_moves_from_the_pose_of_its_entity() {
    let mut app = app();
    let wall = wall_at(&mut app, 5.5);
    let caster = ShapeCaster::new(Collider::sphere(0.5), Vec3::X * 8.0);
    let body = app.world_mut().spawn((Collider::sphere(0.5), caster)).id();
    let flat = ShapeCaster::new(Collider::circle(0.5), Vec3::X * 8.0);
    let flat = app.world_mut().spawn(flat).id();
    let first = |app: &App, entity: Entity| {
        let caster = app
            .world()
            .get::<ShapeCaster>(entity)
            .expect("it was spawned");
        caster.first().map(|hit| (hit.entity, hit.safe))
    };
    tick(&mut app);
    let (entity, time) = first(&app, body).expect("the wall is 4.5 away");
    assert_eq!(entity, wall);
    assert!((time - 4.5 / 8.0).abs() < 1e-6, "{time}");
    assert_eq!(first(&app, flat), None);
    transform(app.world_mut(), body).translation.x = 1.0;
    tick(&mut app);
    let (_, time) = first(&app, body).expect("the wall is 3.5 away");
    assert!((time - 3.5 / 8.0).abs() < 1e-6, "{time}");
}

/// A rod swings by a quarter turn, and its corner meets a ceiling on the way.
#[test]
fn a_swinging_rod_meets_the_ceiling_at_the_angle_of_its_corner() {
    let (width, thickness, height) = (2.0, 0.2, 0.5);
    let rod = Collider::cuboid(width, thickness, thickness);
    let ceiling = Collider::half_space(Vec3::NEG_Y);
    let pose = Transform::from_xyz(0.0, height, 0.0);
    let end = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let corner = DVec2::new(f64::from(width), f64::from(thickness)) * 0.5;
    let angle = (f64::from(height) / corner.length()).asin() - corner.to_angle();
    let expected = angle / std::f64::consts::FRAC_PI_2;

    let swing = Motion::between(Transform::IDENTITY, Transform::from_rotation(end));
    let options = CastOptions::default();
    let cast = query::cast_motion(&rod, swing, &ceiling, pose, options);
    let time = cast.expect("a hit").touching;
    assert!((time - expected).abs() < 5e-6, "{time} {expected}");

    let mut app = app();
    let caster = ShapeCaster::new(rod, Vec3::ZERO).rotated(Vec3::Z * std::f32::consts::FRAC_PI_2);
    let swinging = app.world_mut().spawn(caster).id();
    let ceiling = app.world_mut().spawn((ceiling, pose)).id();
    tick(&mut app);
    let caster = app.world().get::<ShapeCaster>(swinging).expect("a caster");
    let hit = caster.first().expect("a hit");
    let time = hit.touching;
    assert_eq!(hit.entity, ceiling);
    assert!((time - expected).abs() < 5e-6, "{time} {expected}");
}

/// A caster that leaves overlaps does not hit a collider from which it moves away.
#[test]
fn a_caster_can_leave_an_overlap() {
    let mut app = app();
    wall_at(&mut app, 1.0);
    let caster = ShapeCaster::new(Collider::sphere(1.0), Vec3::NEG_X * 8.0);
    let leave_overlaps = CastOptions {
        leave_overlaps: true,
    };
    let leaving = caster.clone().with_options(leave_overlaps);
    let [stays, leaves] = [caster, leaving].map(|caster| app.world_mut().spawn(caster).id());
    tick(&mut app);
    let is_hit = |entity: Entity| {
        let caster = app.world().get::<ShapeCaster>(entity);
        caster.expect("a caster").first().is_some()
    };
    assert!(is_hit(stays) && !is_hit(leaves));
}

/// The rays are cast by the functions of `query`, by [`SpatialQuery`] and by a [`RayCaster`].
#[test]
fn a_reflected_ray_misses_what_it_was_reflected_at_by_every_method() {
    let mut app = app();
    let at = Transform::from_xyz(1000.3, 300.7, 0.0);
    let circle = Collider::circle(0.5);
    app.world_mut().spawn((circle.clone(), at));
    let mut reflections = Vec::new();
    for number in 0..200 {
        let angle = number as f32 * 0.618;
        let center = at.translation.truncate();
        let aim = center + 0.3 * Vec2::new((1.7 * angle).cos(), (2.3 * angle).sin());
        let origin = center + 3.0 * Vec2::from_angle(angle);
        let ray = Ray::new(origin, aim - origin);
        let filter = SpatialQueryFilter::default();
        let hit = query::cast_ray(&circle, at, ray);
        headbutt::sync_now(app.world_mut());
        let asked = ask(app.world_mut(), |query| query.cast_ray(ray, &filter));
        assert_eq!(asked.map(|hit| hit.hit), hit);
        let Some(hit) = hit else { continue };
        let out = ray.direction - 2.0 * ray.direction.dot(hit.normal) * hit.normal;
        let out = Ray::new(hit.point, out);
        assert_eq!(query::cast_ray(&circle, at, out), None);
        let asked = ask(app.world_mut(), |query| query.cast_ray(out, &filter));
        assert_eq!(asked, None);
        reflections.push(app.world_mut().spawn(RayCaster::new(out)).id());
    }
    assert!(reflections.len() > 100);
    tick(&mut app);
    for caster in reflections {
        let caster = app.world().get::<RayCaster<Vec2>>(caster);
        assert!(caster.expect("it was spawned").hits().is_empty());
    }
}
