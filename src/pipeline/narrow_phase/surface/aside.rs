//! The shortest translation out of facets whose planes contradict each other: a body in a gap that
//! is too small for it, which leaves the gap by the side on which it came in.
//!
//! No translation clears the planes of both walls of a gap. The body has to pass the rim of a wall
//! instead. Given a direction d, let t be the distance along d after which the body just touches a
//! facet, and n the normal of the two there. Then every translation x with x · n >= t (d · n) clears
//! the facet, because the plane through the contact with normal n separates the two. So each
//! direction turns a facet into a plane that contradicts nothing which d clears.
//!
//! A best-first search adds planes to a translation until it is out. For a facet that is still in
//! the way it tries the facet's own plane, and those for a few directions: across two normals of
//! touched facets, and from each facet's rim toward the body's centre. The direction of the result
//! is tried again, until that gains nothing.

use core::ops::Range;

use arrayvec::ArrayVec;

use crate::{
    pipeline::narrow_phase::surface::{
        Meeting,
        escape::Node,
        lists::Lists,
        touch::{Kind, SAME_DEPTH, Touch},
    },
    space::{DVector, Space},
    tolerance::SAME_NORMAL,
};

/// The most different normals of touched facets that directions are computed from.
const MOST_NORMALS: usize = 6;

/// The most directions that are tried at once.
const MOST_DIRECTIONS: usize = 16;

/// Directions with a greater cosine are one: 11 degrees.
const SAME_DIRECTION: f64 = 0.98;

/// The most translations that are tried for a set of directions.
const MOST_TRIED: usize = 96;

/// The most translations that wait to be tried.
const MOST_OPEN: usize = 256;

/// The most repetitions with the direction of the result.
const MOST_ROUNDS: usize = 4;

/// A repetition has to gain more than this part of the length.
const WORTH: f64 = 1e-4;

/// The most steps to the contact along a direction. For polytopes there is one for each feature
/// that is passed, and for smooth shapes the error is squared in each.
const MOST_STEPS: usize = 8;

impl<'a, V: Space> Meeting<'a, V> {
    /// Returns the shortest translation that is found, if it is shorter than `most`.
    pub(super) fn shortest_aside(
        &self,
        mut most: f64,
        lists: &mut Lists<V>,
    ) -> Option<Node<V::DVec>> {
        let mut directions = self.directions_aside(&lists.touches);
        let mut best = None;
        for _ in 0..MOST_ROUNDS {
            let Some(node) = self.search_aside(&directions, most, lists) else {
                break;
            };
            most = node.length * (1.0 - WORTH);
            directions.clear();
            directions.extend(node.way.unit());
            best = Some(node);
        }
        best
    }

    fn directions_aside(&self, touches: &[Touch<V::DVec>]) -> ArrayVec<V::DVec, MOST_DIRECTIONS> {
        let mut normals = ArrayVec::<V::DVec, MOST_NORMALS>::new();
        let mut directions = ArrayVec::<V::DVec, MOST_DIRECTIONS>::new();
        let mut add = |direction: Option<V::DVec>| {
            let Some(direction) = direction.and_then(V::DVec::unit) else {
                return;
            };
            let mut others = directions.iter();
            if others.all(|it| it.dot(direction) < SAME_DIRECTION) {
                let _ = directions.try_push(direction);
            }
        };
        for touch in touches {
            let mut others = normals.iter();
            if others.any(|it| (*it - touch.normal).length() <= SAME_NORMAL) {
                continue;
            }
            for other in &normals {
                let edges = [touch.normal, *other];
                let edges = edges.get(..V::DVec::DIMENSION - 1).unwrap_or_default();
                let across = V::DVec::perpendicular(edges);
                add(across);
                add(across.map(|it| -it));
            }
            if normals.try_push(touch.normal).is_err() {
                break;
            }
        }
        for touch in touches {
            let facet = self.surface().facet(self.facet_number(touch.numbers));
            if let (Some(facet), Some(centre)) = (facet, self.centre)
                && let Some(rim) = facet.nearest_boundary(centre)
            {
                let away = centre - rim.point;
                add(Some(away - facet.normal * away.dot(facet.normal)));
            }
        }
        directions
    }

    /// The shortest translation shorter than `most` that clears each touched facet over its own
    /// plane, or over that for one of the directions.
    fn search_aside(
        &self,
        directions: &[V::DVec],
        most: f64,
        lists: &mut Lists<V>,
    ) -> Option<Node<V::DVec>> {
        lists.nodes.clear();
        lists.clearing.clear();
        lists.nodes.push(Node::default());
        for _ in 0..MOST_TRIED {
            let lengths = lists.nodes.iter().map(|node| node.length).enumerate();
            let (shortest, _) = lengths.min_by(|a, b| a.1.total_cmp(&b.1))?;
            let node = lists.nodes.swap_remove(shortest);
            let Some(numbers) = self.blocking(lists, node.way) else {
                if self.is_passable(lists, node.way) {
                    return Some(node);
                }
                continue;
            };
            for index in self.clearing(numbers, directions, lists)? {
                if node.planes.is_full() || lists.nodes.len() >= MOST_OPEN {
                    break;
                }
                let next = node.with(index, &lists.candidates);
                let Some(next) = next.filter(|it| it.length < most) else {
                    continue;
                };
                let is_known = |other: &Node<V::DVec>| {
                    (other.way - next.way).length() <= SAME_DEPTH * next.length
                };
                if !lists.nodes.iter().any(is_known) {
                    lists.nodes.push(next);
                }
            }
            lists.nodes.note();
        }
        None
    }

    /// The candidates that clear a touched facet, computed when it is first in the way.
    fn clearing(
        &self,
        numbers: (u32, u32),
        directions: &[V::DVec],
        lists: &mut Lists<V>,
    ) -> Option<Range<usize>> {
        let mut known = lists.clearing.iter();
        if let Some((_, range)) = known.find(|(other, _)| *other == numbers) {
            return Some(range.clone());
        }
        let touch = *lists.touches.iter().find(|it| it.numbers == numbers)?;
        let first = lists.candidates.len();
        lists.candidates.push(touch);
        let aside = directions.iter().filter_map(|it| self.aside(&touch, *it));
        lists.candidates.extend(aside);
        lists.candidates.note();
        let range = first..lists.candidates.len();
        lists.clearing.push((numbers, range.clone()));
        Some(range)
    }

    /// The plane that clears a facet and through which the translation along a direction goes.
    /// `None` if that pushes the body through the facet from behind, and not past its rim.
    fn aside(&self, touch: &Touch<V::DVec>, direction: V::DVec) -> Option<Touch<V::DVec>> {
        let facet = self.surface().facet(self.facet_number(touch.numbers))?;
        let over = |normal: V::DVec| {
            self.solve(touch.numbers, V::DVec::ZERO, |solver, _| {
                Some(self.over_plane(solver, touch.numbers, &facet, normal))
            })
        };
        let mut plane = over(direction)?;
        let mut length = plane.contact.depth;
        for _ in 0..MOST_STEPS {
            let Some(normal) = self.normal_after(touch.numbers, direction * length) else {
                break;
            };
            let cosine = normal.dot(direction);
            if cosine <= SAME_NORMAL {
                break;
            }
            let next = over(normal)?;
            let nearer = next.contact.depth / cosine;
            if nearer > length * (1.0 - WORTH) {
                break;
            }
            (plane, length) = (next, nearer);
        }
        let is_behind = (plane.normal + touch.normal).length() <= SAME_NORMAL;
        (!is_behind).then_some(Touch {
            kind: Kind::Plane,
            ..plane
        })
    }
}
