//! The pairs of shapes with poses, for both libraries.

use bevy::math::{Vec2, Vec3};
use headbutt::{Support, query};
use headbutt_bench::{
    cases::{Course, Place, Regime, cases},
    counted::Counted,
    duel::Side,
    pairs::{Pairs, REACH, Room, add_2d, add_3d},
};

use crate::{ours::Ours, peer, query::Query};

/// The number of poses of a class.
pub const CASES: u32 = 1000;

/// A dimension with parry's queries.
trait PeerRoom: Room {
    fn peer(
        shapes: [Self::PeerShape; 2],
        poses: Vec<[Self::PeerPose; 2]>,
        coherent: bool,
    ) -> Box<dyn Side<Query>>;
}

macro_rules! peer_room {
    ($vector:ident, $module:ident) => {
        impl PeerRoom for $vector {
            fn peer(
                [a, b]: [Self::PeerShape; 2],
                poses: Vec<[Self::PeerPose; 2]>,
                coherent: bool,
            ) -> Box<dyn Side<Query>> {
                Box::new(peer::$module::Parry {
                    a,
                    b,
                    poses,
                    coherent,
                    manifolds: Vec::new(),
                    workspace: None,
                })
            }
        }
    };
}

peer_room!(Vec2, plane);
peer_room!(Vec3, space);

/// A pair of shapes in one regime and course.
pub struct Bout {
    pub ours: Box<dyn Side<Query>>,
    pub peer: Box<dyn Side<Query>>,
    /// The mean number of support points for a contact and for a distance in headbutt. Closed forms
    /// need no support points.
    pub supports: [f64; 2],
}

/// A pair of shapes.
pub struct Class {
    pub name: &'static str,
    pub flat: bool,
    pub bout: Box<dyn Fn(Regime, Course) -> Bout>,
}

/// The classes so far.
struct Classes(Vec<Class>);

impl<V: PeerRoom> Pairs<V> for Classes {
    fn add<A, B>(
        &mut self,
        name: &'static str,
        (a, peer_a): (A, V::PeerShape),
        (b, peer_b): (B, V::PeerShape),
    ) where
        A: Support<Vector = V> + Clone + 'static,
        B: Support<Vector = V> + Clone + 'static,
    {
        let bout = move |regime, course| {
            let isometries = |places: [Place; 2]| places.map(V::placed);
            let touch = |places| {
                let [pose_a, pose_b] = isometries(places);
                query::intersects(&a, pose_a, &b, pose_b)
            };
            let places = cases(CASES, V::FLAT, (regime, course), REACH, touch);
            let poses: Vec<_> = places.iter().map(|it| isometries(*it)).collect();
            let supports = [Query::Contact, Query::Distance].map(|query| {
                let mut counted = Ours {
                    a: Counted::new(a.clone()),
                    b: Counted::new(b.clone()),
                    poses: poses.clone(),
                };
                counted.ask(query, 0..CASES as usize, &mut Vec::new());
                // Each evaluation of a pair evaluates both shapes.
                let most = counted
                    .a
                    .take_evaluations()
                    .max(counted.b.take_evaluations());
                most as f64 / f64::from(CASES)
            });
            Bout {
                ours: Box::new(Ours {
                    a: a.clone(),
                    b: b.clone(),
                    poses,
                }),
                peer: V::peer(
                    [peer_a.clone(), peer_b.clone()],
                    places.iter().map(|it| it.map(V::peer_pose)).collect(),
                    course == Course::Coherent,
                ),
                supports,
            }
        };
        self.0.push(Class {
            name,
            flat: V::FLAT,
            bout: Box::new(bout),
        });
    }
}

/// Returns all classes, the 2D classes first.
pub fn classes() -> Vec<Class> {
    let mut all = Classes(Vec::new());
    add_2d(&mut all);
    add_3d(&mut all);
    all.0
}
