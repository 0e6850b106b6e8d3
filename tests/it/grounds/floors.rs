//! Floors of flush boxes, each an entity of its own, under bodies that slide, fall and walk.

use headbutt::{
    PushOut,
    prelude::*,
    query::{CastOptions, Ray},
};
use rand::Rng;

use super::{app, collisions, set_pose, spawn_ground};
use crate::{
    joined::{
        Body, for_floors,
        slides::{assert_casts, assert_up, path, sunk_body},
        walks::walk_over,
    },
    spatial::ask,
};

#[test]
fn every_contact_of_a_body_that_slides_over_separate_boxes_is_up() {
    for_floors(30, |rng, floor, context| {
        let mut app = app();
        spawn_ground(&mut app, floor.parts());
        let up = floor.up();
        for slide in 0..3 {
            let body = Body::new(rng, floor.dimension, floor.size);
            let low = body.reach(-up);
            let depth = rng.random_range(0.001..0.15) * floor.size;
            let entity = app.world_mut().spawn(body.collider.clone()).id();
            for at in path(rng, floor, floor.size) {
                let context = format!("{context}, slide {slide}, {at}");
                let pose = body.pose(floor.place(at) + up * (low - depth));
                set_pose(&mut app, entity, pose);
                app.update();
                let contacts: Vec<_> = collisions(&app).parts_of(entity).collect();
                assert!(!contacts.is_empty(), "{context}");
                let mut deepest = 0.0_f64;
                for contact in &contacts {
                    assert_up(-contact.normal, floor, depth, &context);
                    deepest = deepest.max(contact.depth.into());
                }
                assert!(
                    (deepest - depth).abs() < 1e-4 * floor.size,
                    "{context}: {contacts:?}"
                );
                // The push-out of the tick and the search for one lead up, too.
                let out = collisions(&app).push_out(entity, |_| true).translation();
                assert_up(out, floor, depth, &context);
                let searched = ask(app.world_mut(), |query| {
                    let filter = SpatialQueryFilter::of(entity);
                    query.push_out(&body.collider, pose, 1e3 * floor.size as f32, &filter)
                });
                let PushOut::Moved(searched) = searched else {
                    panic!("{context}: {searched:?}");
                };
                assert_up(searched, floor, depth, &context);
            }
            app.world_mut().despawn(entity);
        }
    });
}

#[test]
fn a_cast_along_separate_boxes_hits_nothing_and_a_cast_into_them_hits_the_top() {
    for_floors(40, |rng, floor, context| {
        let mut app = app();
        spawn_ground(&mut app, floor.parts());
        headbutt::sync_now(app.world_mut());
        let up = floor.up();
        ask(app.world_mut(), |query| {
            let filter = SpatialQueryFilter::default();
            assert_casts(rng, floor, context, |body, start, motion| {
                let motion = Motion::linear(start, motion);
                let hit = query.cast_shape(body, motion, CastOptions::default(), &filter);
                hit.map(|hit| *hit)
            });
            for _ in 0..6 {
                // A ray down at the top.
                let origin = floor.place(floor.point(rng, floor.size)) + up * floor.size;
                let distance = if floor.dimension == 2 {
                    let ray = Ray::new(origin.as_vec3().truncate(), (-up).as_vec3().truncate());
                    query
                        .cast_ray(ray, &filter)
                        .map(|hit| (hit.distance, hit.normal.extend(0.0)))
                } else {
                    let ray = Ray::new(origin.as_vec3(), (-up).as_vec3());
                    query
                        .cast_ray(ray, &filter)
                        .map(|hit| (hit.distance, hit.normal))
                };
                let (distance, normal) = distance.unwrap_or_else(|| panic!("{context}: no hit"));
                let error = f64::from(distance) - floor.size;
                let extent = floor.translation.length() + floor.size;
                assert!(error.abs() < 1e-5 * extent, "{context}: {error}");
                assert!(
                    (normal.as_dvec3() - up).length() < 1e-3,
                    "{context}: {normal}"
                );
            }
        });
    });
}

#[test]
fn a_body_inside_separate_boxes_leaves_through_the_top() {
    for_floors(40, |rng, floor, context| {
        let mut app = app();
        spawn_ground(&mut app, floor.parts());
        for _ in 0..4 {
            let (body, pose, depth) = sunk_body(rng, floor);
            let entity = app.world_mut().spawn((body, pose)).id();
            app.update();
            let contacts: Vec<_> = collisions(&app).deepest_of(entity).collect();
            let deepest = contacts.iter().map(|it| it.depth).fold(0.0, f32::max);
            for contact in &contacts {
                assert_up(-contact.normal, floor, depth, context);
            }
            let error = f64::from(deepest) - depth;
            assert!(
                error.abs() < 1e-4 * floor.size,
                "{context}: {contacts:?}, not {depth}"
            );
            app.world_mut().despawn(entity);
        }
    });
}

#[test]
fn a_character_never_catches_on_separate_boxes() {
    for_floors(20, |rng, floor, context| {
        walk_over(rng, floor, context, |floor, walk| {
            let mut app = app();
            spawn_ground(&mut app, floor.parts());
            headbutt::sync_now(app.world_mut());
            ask(app.world_mut(), |query| walk(&query));
        });
    });
}
