//! The pairs of shapes with motions, and the shapes with rays, for both libraries.

use bevy::math::{Vec2, Vec3};
use headbutt::{Support, query};
use headbutt_bench::{
    cases::Place,
    counted::Counted,
    duel::Side,
    pairs::{Pairs, REACH, Room, add_2d, add_3d},
};

use crate::{
    cases::{Case, Regime, Shot, cases, shots},
    ours::{OurRays, Ours},
    peer,
    question::Question,
};

/// The number of cases of a class.
pub const CASES: u32 = 1000;

/// Shapes in one regime.
pub struct Bout {
    pub ours: Box<dyn Side<Question>>,
    pub peer: Box<dyn Side<Question>>,
    /// Returns the mean number of support points for a query of headbutt.
    pub supports: Box<dyn Fn(Question) -> f64>,
}

/// A pair of shapes, or a shape.
pub struct Class {
    pub name: String,
    pub flat: bool,
    pub questions: &'static [Question],
    pub bout: Box<dyn Fn(Regime) -> Bout>,
}

/// A dimension with parry's casts.
trait PeerRoom: Room {
    fn peer(shapes: [Self::PeerShape; 2], cases: &[Case]) -> Box<dyn Side<Question>>;
    fn peer_rays(shape: Self::PeerShape, shots: &[Shot]) -> Box<dyn Side<Question>>;
}

macro_rules! peer_room {
    ($vector:ident, $module:ident) => {
        impl PeerRoom for $vector {
            fn peer(shapes: [Self::PeerShape; 2], cases: &[Case]) -> Box<dyn Side<Question>> {
                Box::new(peer::$module::Parry::new(shapes, cases))
            }

            fn peer_rays(shape: Self::PeerShape, shots: &[Shot]) -> Box<dyn Side<Question>> {
                Box::new(peer::$module::PeerRays::new(shape, shots))
            }
        }
    };
}

peer_room!(Vec2, plane);
peer_room!(Vec3, space);

/// Receives pairs for casts.
struct Casts(Vec<Class>);

impl<V: PeerRoom> Pairs<V> for Casts {
    fn add<A, B>(
        &mut self,
        name: &'static str,
        (a, peer_a): (A, V::PeerShape),
        (b, peer_b): (B, V::PeerShape),
    ) where
        A: Support<Vector = V> + Clone + 'static,
        B: Support<Vector = V> + Clone + 'static,
    {
        let bout = move |regime| {
            let touch = |[place_a, place_b]: [Place; 2]| {
                query::intersects(&a, V::placed(place_a), &b, V::placed(place_b))
            };
            let cases = cases(CASES, V::FLAT, regime, REACH, touch);
            let ours = Ours::new(a.clone(), b.clone(), &cases);
            let peer = V::peer([peer_a.clone(), peer_b.clone()], &cases);
            let (a, b) = (a.clone(), b.clone());
            let supports = move |question| {
                let (a, b) = (Counted::new(a.clone()), Counted::new(b.clone()));
                let mut counted = Ours::new(a, b, &cases);
                counted.ask(question, 0..CASES as usize, &mut Vec::new());
                // Each evaluation of a pair evaluates both shapes.
                let [a, b] = [counted.a.take_evaluations(), counted.b.take_evaluations()];
                a.max(b) as f64 / f64::from(CASES)
            };
            Bout {
                ours: Box::new(ours),
                peer,
                supports: Box::new(supports),
            }
        };
        self.0.push(Class {
            name: name.to_string(),
            flat: V::FLAT,
            questions: &[Question::Linear, Question::Rotating],
            bout: Box::new(bout),
        });
    }
}

/// Receives pairs, and takes each shape once, for rays.
struct Rays(Vec<Class>);

impl Rays {
    fn add_shape<S>(&mut self, name: &str, shape: S, peer: <S::Vector as Room>::PeerShape)
    where
        S: Support<Vector: PeerRoom> + Clone + 'static,
    {
        let flat = S::Vector::FLAT;
        if self.0.iter().any(|it| it.name == name && it.flat == flat) {
            return;
        }
        let bout = move |regime| {
            let point = [S::Vector::default()];
            let touch = |[origin, place]: [Place; 2]| {
                let [origin, pose] = [origin, place].map(S::Vector::placed);
                query::intersects(point.as_slice(), origin, &shape, pose)
            };
            let shots = shots(CASES, flat, regime, REACH, touch);
            let mut counted = OurRays::new(Counted::new(shape.clone()), &shots);
            counted.ask(Question::Ray, 0..CASES as usize, &mut Vec::new());
            let supports = counted.shape.take_evaluations() as f64 / f64::from(CASES);
            Bout {
                ours: Box::new(OurRays::new(shape.clone(), &shots)),
                peer: S::Vector::peer_rays(peer.clone(), &shots),
                supports: Box::new(move |_| supports),
            }
        };
        self.0.push(Class {
            name: name.to_string(),
            flat,
            questions: &[Question::Ray],
            bout: Box::new(bout),
        });
    }
}

impl<V: PeerRoom> Pairs<V> for Rays {
    fn add<A, B>(
        &mut self,
        name: &'static str,
        (a, peer_a): (A, V::PeerShape),
        (b, peer_b): (B, V::PeerShape),
    ) where
        A: Support<Vector = V> + Clone + 'static,
        B: Support<Vector = V> + Clone + 'static,
    {
        let (name_a, name_b) = name.split_once('-').unwrap_or((name, name));
        self.add_shape(name_a, a, peer_a);
        self.add_shape(name_b, b, peer_b);
    }
}

/// Returns the pairs for casts, the 2D pairs first.
pub fn casts() -> Vec<Class> {
    let mut all = Casts(Vec::new());
    add_2d(&mut all);
    add_3d(&mut all);
    all.0
}

/// Returns the shapes for rays, the 2D shapes first.
pub fn rays() -> Vec<Class> {
    let mut all = Rays(Vec::new());
    add_2d(&mut all);
    add_3d(&mut all);
    all.0
}
