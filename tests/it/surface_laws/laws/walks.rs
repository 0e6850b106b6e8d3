//! *Walks*: a shape that walks over kerbs, steps and corners takes the same path on any
//! tessellation.

use bevy::prelude::*;
use headbutt::Collider;
use rand::{Rng, rngs::StdRng};

use super::USUAL;
use crate::surface_laws::{
    ask::{Answer, Question},
    bodies::Surface,
    shapes::{Kind, Shape, snapped, turned},
    trial::{Trial, Verdict, hold},
};

/// The length of the cells along z, and the number of rows of vertices.
const CELLS: [(f32, usize); 4] = [(10.0, 2), (1.0, 12), (0.25, 24), (0.0625, 48)];

/// The greatest distance between the paths.
const SAME: f32 = 1e-4;

const TICKS: usize = 120;

struct Walk {
    profile: Vec<(f32, f32)>,
    one_sided: bool,
    levels: Vec<Collider>,
    shape: Shape,
    collider: Collider,
    velocity: Vec3,
    places: Vec<Vec3>,
    tick: usize,
    touched: bool,
}

impl Trial for Walk {
    fn questions(&self) -> Vec<Question> {
        let each = self.levels.iter().zip(&self.places);
        let question = |(level, at): (&Collider, &Vec3)| Question {
            surface: level.clone(),
            place: [Transform::IDENTITY; 2],
            shape: self.collider.clone(),
            pose: self.shape.at(*at + self.velocity).pose,
        };
        each.map(question).collect()
    }

    /// Judges that the positions are within [`SAME`] of each other in each tick. After each tick,
    /// the shape is moved by its velocity and pushed out.
    fn judge(&mut self, answers: &[Answer]) -> Verdict {
        for (place, answer) in self.places.iter_mut().zip(answers) {
            *place += self.velocity + answer.push_out;
            self.touched |= answer.event.is_some();
        }
        let first = self.places[0];
        let apart = self.places.iter().position(|it| it.distance(first) > SAME);
        if let Some(number) = apart {
            let (cell, _) = CELLS[number];
            let places: Vec<_> = self.places.iter().map(|it| it.to_array()).collect();
            let tick = self.tick;
            return Verdict::Broken(format!("cells of {cell} in tick {tick}: {places:?}"));
        }
        self.tick += 1;
        if self.tick < TICKS {
            Verdict::Again
        } else if self.touched {
            Verdict::Holds
        } else {
            Verdict::Open
        }
    }

    fn describe(&self) -> String {
        let Self {
            profile,
            one_sided,
            velocity,
            ..
        } = self;
        let shape = self.shape.describe();
        let velocity = velocity.to_array();
        format!("{shape} velocity {velocity:?}\n  {profile:?} one_sided: {one_sided}")
    }
}

fn make(random: &mut StdRng) -> Option<Box<dyn Trial>> {
    let mut number = |range: core::ops::Range<f32>| snapped(random.random_range(range), 64.0);
    let (rise, tread) = (number(0.05..0.5), number(0.3..1.0));
    let profile = match number(0.0..4.0) as usize {
        0 => vec![(-4.0, 0.0), (0.0, 0.0), (0.0, rise), (4.0, rise)],
        1 => {
            let steps = [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (1.0, 3.0), (8.0, 3.0)];
            let steps = steps.map(|(x, y)| (x * tread, (y - 1.0) * rise));
            [&[(-4.0, 0.0)], steps.as_slice()].concat()
        }
        2 => vec![(-4.0, 0.0), (0.5, 0.0), (0.5, 4.0)],
        _ => vec![
            (-4.0, 1.0),
            (-0.5, 0.0),
            (0.5, rise),
            (1.0, 0.0),
            (4.0, 1.0),
        ],
    };
    let (a, b) = (number(0.2..0.6), number(0.2..0.6));
    let kind = match number(0.0..3.0) as usize {
        0 => Kind::Ball(a),
        1 => Kind::Capsule(b, a),
        _ => Kind::Box(Vec3::new(a, b, a)),
    };
    let turn = if random.random() {
        Quat::IDENTITY
    } else {
        turned(Vec3::Y, random.random_range(0.0..3.0))
    };
    let one_sided = random.random();
    let pose = Transform::from_rotation(turn);
    let shape = Shape {
        kind,
        plane: false,
        pose,
    };
    let levels = CELLS.map(|(cell, rows)| {
        let mut level = Surface::strip("level", &profile, cell, rows, random);
        level.one_sided = one_sided;
        level.collider()
    });
    let start = Vec3::new(-1.5, 1.5, random.random_range(-0.2..0.2));
    let velocity = [0.02..0.05, -0.06..-0.02, -0.002..0.002];
    let velocity = velocity.map(|it| random.random_range(it));
    Some(Box::new(Walk {
        profile,
        one_sided,
        levels: levels.to_vec(),
        collider: shape.collider(),
        shape,
        velocity: Vec3::from(velocity),
        places: vec![start; CELLS.len()],
        tick: 0,
        touched: false,
    }))
}

#[test]
fn walks_take_the_same_path_on_any_tessellation() {
    hold("walks", USUAL / 15, 0.5, make);
}
