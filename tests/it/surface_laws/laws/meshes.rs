//! *Mesh against mesh*: a crate that is a closed mesh, on much larger ground.

use bevy::{math::Isometry3d, prelude::*};
use headbutt::query;
use rand::{Rng, rngs::StdRng};

use super::{PRECISION, USUAL, question};
use crate::surface_laws::{
    ask::{Answer, Question},
    bodies::Surface,
    shapes::{Shape, direction, turned},
    trial::{Once, Trial, Verdict, hold},
};

/// Returns a crate, as a box and as a mesh of the same size.
fn crate_of(random: &mut StdRng) -> (Shape, Surface) {
    let mut half = || random.random_range(8..32) as f32 / 64.0;
    let half = Vec3::new(half(), half(), half());
    let (x, y) = (half.x, half.y);
    let outline = [(x, y), (-x, y), (-x, -y), (x, -y)];
    let mesh = Surface::prism("crate", &outline, half.z, &[[0, 1, 2], [0, 2, 3]]);
    let axis = direction(random, false).as_vec3().normalize();
    let turn = if random.random() {
        random.random_range(0.0..6.0)
    } else {
        0.0
    };
    let pose = Transform::from_rotation(turned(axis, turn));
    let kind = crate::surface_laws::shapes::Kind::Box(half);
    let shape = Shape {
        kind,
        plane: false,
        pose,
    };
    (shape, mesh)
}

fn ask_mesh(level: &Surface, mesh: &Surface, pose: Transform) -> Question {
    let shape = Shape::ball(1.0, false, Vec3::ZERO);
    Question {
        shape: mesh.collider(),
        pose,
        ..question(level, &shape)
    }
}

/// Returns a case on a flat floor, where the contact equals the contact with the floor's plane. The
/// depth is the depth of the lowest corner, and the normal is the normal of the floor, toward the
/// side of the crate's center.
fn on_a_floor(random: &mut StdRng) -> Option<Box<dyn Trial>> {
    let cell = [4.0, 1.0, 0.5][random.random_range(0..3)];
    let columns = (16.0 / cell) as usize + 1;
    let heights = vec![0.0; columns * columns];
    let mut floor = Surface::field("floor", cell, columns, &heights, random);
    floor.one_sided = random.random();
    let (shape, mesh) = crate_of(random);
    let extent = shape.extent(bevy::math::DVec3::NEG_Y);
    let depth = extent * random.random_range(0.001..0.6);
    let mut along = || random.random_range(-5.0..5.0f32);
    let at = Vec3::new(along(), (extent - depth) as f32, along());
    let shape = shape.at(at);
    let depth = extent - f64::from(at.y);
    let text = format!(
        "{}\n  {} by {columns} cells of {cell}",
        shape.describe(),
        floor.name
    );
    Some(Box::new(Once {
        questions: vec![ask_mesh(&floor, &mesh, shape.pose)],
        judge: Box::new(move |answers| {
            let Some(event) = answers[0].event else {
                return Verdict::Broken("no contact".into());
            };
            let off = f64::from(event.push.distance(Vec3::Y));
            let size = 2.0 * shape.reach();
            if (f64::from(event.depth) - depth).abs() > PRECISION * size || off > 4.0 * PRECISION {
                return Verdict::Broken(format!("expected push y, depth {depth:e}"));
            }
            Verdict::Holds
        }),
        describe: Box::new(move || text.clone()),
    }))
}

/// Returns a case on any ground, where far facets change nothing, and the reported pairs of facets
/// touch. The tessellation of the crate and of the ground must change no depth.
fn on_a_level(random: &mut StdRng) -> Option<Box<dyn Trial>> {
    let mut level = Surface::random(random, false);
    // The crate is small compared to the ground.
    let far = level
        .points
        .iter()
        .map(|it| it.length())
        .fold(0.0, f32::max);
    if far < 4.0 {
        return None;
    }
    level.heights = None;
    let (shape, mesh) = crate_of(random);
    let shape = super::placed(random, &level, &shape)?;
    let pose = shape.pose;
    let mut larger = level.clone();
    let first = larger.points.len() as u32;
    let at = [1e2, 1e4, 1e5][random.random_range(0..3)];
    let corners = [(at, 0.0, 0.0), (at, 1.0, 0.0), (at, 0.0, at)];
    larger.points.extend(corners.map(Vec3::from));
    larger.facets.push([first, first + 1, first + 2]);
    let text = format!(
        "{}\n  {}\n  {}",
        shape.describe(),
        mesh.describe(),
        level.describe()
    );
    let questions = vec![
        ask_mesh(&level, &mesh, pose),
        ask_mesh(&larger, &mesh, pose),
    ];
    let judge = move |answers: &[Answer]| {
        if answers[0] != answers[1] {
            return Verdict::Broken("a facet far away changes the answer".into());
        }
        for part in &answers[0].parts {
            let corners = |surface: &Surface, number: u32| {
                surface.facets[number as usize].map(|it| surface.points[it as usize])
            };
            let one = corners(&level, part.facet);
            let other = corners(&mesh, part.other_facet);
            if !query::intersects(&one, Isometry3d::IDENTITY, &other, pose.to_isometry()) {
                let pair = (part.facet, part.other_facet);
                return Verdict::Broken(format!("parts {pair:?} do not touch"));
            }
        }
        if answers[0].event.is_some() {
            Verdict::Holds
        } else {
            Verdict::Open
        }
    };
    Some(Box::new(Once {
        questions,
        judge: Box::new(judge),
        describe: Box::new(move || text.clone()),
    }))
}

#[test]
fn a_crate_as_a_mesh_has_a_boxs_contact_with_a_flat_floor() {
    hold(
        "crates of facets on flat floors",
        USUAL / 3,
        0.9,
        on_a_floor,
    );
}

#[test]
fn a_crate_as_a_mesh_has_a_boxs_contact_with_level_ground() {
    hold("crates of facets on levels", USUAL / 2, 0.2, on_a_level);
}
