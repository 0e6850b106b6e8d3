//! The poses of colliders that queries see, and the error without the plugin.

use bevy::{
    math::{DMat3, DVec3},
    prelude::*,
};
use headbutt::{prelude::*, sync_now};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::ask;
use crate::support::{app, tick, transform};

fn pose(app: &mut App, entity: Entity) -> Option<GlobalTransform> {
    ask(app.world_mut(), |query| query.pose(entity))
}

/// Returns the map of a `Transform`: translation + rotation (scale point).
fn linear(pose: &Transform) -> DMat3 {
    let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
    rotation * DMat3::from_diagonal(pose.scale.as_dvec3())
}

fn random_pose(rng: &mut StdRng) -> Transform {
    let mut random = || Vec3::from_array(rng.random()) * 2.0 - 1.0;
    let axis = random().try_normalize().unwrap_or(Vec3::X);
    Transform {
        translation: 20.0 * random(),
        rotation: Quat::from_axis_angle(axis, 3.0 * random().x),
        scale: Vec3::splat(1.2) + random(),
    }
}

/// Bevy's own pose stays the identity, because `MinimalPlugins` do not propagate it.
#[test]
fn it_is_the_pose_in_the_world_with_all_parents_in_the_same_tick() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut app = app();
    let bodies: Vec<_> = (0..50)
        .map(|index| {
            let poses = [(); 3].map(|()| random_pose(&mut rng));
            let root = app.world_mut().spawn(poses[0]).id();
            let middle = app.world_mut().spawn((poses[1], ChildOf(root))).id();
            let is_2d = index % 2 == 0;
            let collider = if is_2d {
                Collider::rectangle(1.0, 2.0)
            } else {
                Collider::cuboid(1.0, 2.0, 3.0)
            };
            let body = (collider, poses[2], ChildOf(middle));
            ([root, middle, app.world_mut().spawn(body).id()], is_2d)
        })
        .collect();
    for _ in 0..3 {
        for (entities, _) in &bodies {
            for entity in entities {
                *transform(app.world_mut(), *entity) = random_pose(&mut rng);
            }
        }
        tick(&mut app);
        for (entities, is_2d) in &bodies {
            let poses = entities.map(|entity| *app.world().get::<Transform>(entity).unwrap());
            let in_world = |point: DVec3| {
                poses.iter().rev().fold(point, |point, pose| {
                    linear(pose) * point + pose.translation.as_dvec3()
                })
            };
            let pose = pose(&mut app, entities[2]).unwrap();
            for point in [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.5, -1.0, 0.0)] {
                let mut expected = in_world(point.as_dvec3());
                if *is_2d {
                    expected.z = 0.0;
                }
                let error = pose.transform_point(point).as_dvec3().distance(expected);
                assert!(error < 1e-4, "{error}");
            }
            let axis = pose.affine().matrix3.z_axis;
            let expected = in_world(DVec3::Z) - in_world(DVec3::ZERO);
            let expected = if *is_2d { DVec3::Z } else { expected };
            assert!(axis.as_dvec3().distance(expected) < 1e-5);
            let propagated = app.world().get::<GlobalTransform>(entities[2]);
            assert_eq!(propagated, Some(&GlobalTransform::IDENTITY));
        }
    }
}

#[test]
fn what_no_tick_has_read_or_what_touches_nothing_has_no_pose() {
    let mut app = app();
    let at = |x| Transform::from_xyz(x, 0.0, 0.0);
    let mut spawn = |collider, x| app.world_mut().spawn((collider, at(x))).id();
    let ball = spawn(Collider::sphere(1.0), 1.0);
    let inert = spawn(Collider::sphere(-1.0), 2.0);
    let nowhere = spawn(Collider::sphere(1.0), f32::NAN);
    let without = app.world_mut().spawn(at(3.0)).id();
    assert_eq!(pose(&mut app, ball), None, "before the first tick");
    tick(&mut app);
    assert_eq!(pose(&mut app, ball), Some(at(1.0).into()));
    for entity in [inert, nowhere, without] {
        assert_eq!(pose(&mut app, entity), None);
    }

    // As in all queries, the pose of the last tick counts until the next tick.
    transform(app.world_mut(), ball).translation.x = 5.0;
    assert_eq!(pose(&mut app, ball), Some(at(1.0).into()));
    sync_now(app.world_mut());
    assert_eq!(pose(&mut app, ball), Some(at(5.0).into()));
    app.world_mut().despawn(ball);
    assert_eq!(pose(&mut app, ball), Some(at(5.0).into()));
    tick(&mut app);
    assert_eq!(pose(&mut app, ball), None);
}

#[test]
fn without_the_plugin_the_error_names_it() {
    let mut world = World::new();
    let error = world.run_system_cached(|_: SpatialQuery| {}).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`HeadbuttPlugin` is missing"), "{error}");
}
