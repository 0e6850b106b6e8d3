//! The shortest way out of a surface, for a body whose core overlaps facets of it.
//!
//! The body is out where it has cleared all that it touches, and its centre has gone through no
//! facet. The least move that brings it there is a matter of the surface as a set of points. So it
//! does not depend on how the surface is cut into facets, and its length changes no faster than the
//! body moves.
//!
//! *A first way.* Each facet can be cleared along its own normal, over its plane. From the
//! shallowest plane to the deepest, one is added if the body still overlaps the facet after the
//! least move that clears the planes added before. For a body that rests on a floor or in a corner
//! this is the shortest way, which is cheap to prove: there is a facet under its lowest point, and
//! the rim of that facet is farther away than the way is long.
//!
//! *Shorter ways.* Else the planes are tried together with what else a body can clear. Over a ridge
//! or a peak it leaves along a normal between those of the slopes. To find it, the facets around a
//! point of the ridge are taken to go on as they begin there. The convex hull of that, a wedge or a
//! cone, holds all of a convex surface, so that no contact with it is shallower than that with the
//! surface; and the shallowest of all is that of the surface. Planes, wedges and cones are
//! candidates. Ways over one of them are tried from the shallowest on, then ways over several. The
//! shortest that leads out is taken.

use arrayvec::ArrayVec;

use crate::{
    pipeline::narrow_phase::surface::{
        Meeting,
        escape::{Escape, MOST_AT_ONCE, Node},
        lists::Lists,
        touch::{Kind, SAME_DEPTH, Touch, is_same_plane},
    },
    space::{DVector, Space},
    tolerance::SAME_NORMAL,
};

/// A body has cleared a facet that it overlaps by no more than this part of its move.
const CLEARED: f64 = 1e-5;

/// Beyond so many facets that touch, no ways over several candidates are tried.
const MOST_TOUCHES: usize = 256;

/// Along the normals of so many candidates a straight way is sought, where no other leads out.
const FEW: usize = 16;

/// The most ways over several candidates that are tried.
const MOST_TRIED: usize = 24;

/// The most ways that wait to be taken up.
const MOST_OPEN: usize = 256;

/// The most passes over all touches: a plane added last may turn the move back into a facet that
/// was clear.
const MAX_ROUNDS: usize = 16;

/// Planes that a way clears, none of which is a touch.
type Planes<D> = ArrayVec<Touch<D>, MOST_AT_ONCE>;

/// The depth that rounding may leave after a move that clears a facet.
fn slop<D: DVector>(weld: f64, way: D) -> f64 {
    CLEARED * way.length() + 0.125 * weld
}

/// Returns `true` if a move clears the plane of a touch.
fn clears_plane<D: DVector>(touch: &Touch<D>, way: D) -> bool {
    touch.contact.depth - way.dot(touch.normal) <= slop(touch.weld, way)
}

/// Returns `true` if a move clears the plane of a touch, and goes no farther along its normal.
fn bounds<D: DVector>(touch: &Touch<D>, way: D) -> bool {
    clears_plane(touch, way) && way.dot(touch.normal) <= touch.contact.depth + slop(touch.weld, way)
}

impl<'a, V: Space> Meeting<'a, V> {
    /// Finds the shortest way out, if a core overlaps a facet. Keeps the touches whose planes it
    /// clears, and adds those over edges and corners. `touches` must be sorted by depth.
    pub fn keep_way_out(&self, touches: &mut Vec<Touch<V::DVec>>, lists: &mut Lists<V>) {
        let is_plane = |touch: &Touch<V::DVec>| matches!(touch.kind, Kind::Plane);
        if !touches.iter().any(is_plane) {
            return;
        }
        let first = self.first_way(touches);
        if let Some(way) = first
            && self.is_needed(touches, way)
        {
            touches.retain(|touch| bounds(touch, way));
            return;
        }
        let (way, others) = self.shortest(touches, first, lists);
        let Some(way) = way else {
            return;
        };
        let mut added = Planes::new();
        for candidate in others {
            let numbers = match candidate.kind {
                Kind::Plane => candidate.numbers,
                _ => {
                    let owner = self.owner(touches, way, &candidate, &added);
                    owner.or_else(|| self.owner(&lists.touches, way, &candidate, &added))
                }
                .unwrap_or(candidate.numbers),
            };
            if added.iter().all(|it| it.numbers != numbers) {
                added.push(Touch {
                    numbers,
                    ..candidate
                });
            }
        }
        touches.retain(|touch| {
            bounds(touch, way) && added.iter().all(|it| it.numbers != touch.numbers)
        });
        touches.extend(added);
    }

    /// The least move that clears all touches, each along its own normal if those before it have
    /// not cleared it. `None` if they contradict each other.
    fn first_way(&self, touches: &[Touch<V::DVec>]) -> Option<V::DVec> {
        let mut escape = Escape::default();
        for _ in 0..MAX_ROUNDS {
            let mut is_out = true;
            for touch in touches {
                let way = escape.way;
                if clears_plane(touch, way)
                    || escape.leads_out && self.is_cleared(touch.numbers, way, touch.weld)
                {
                    continue;
                }
                is_out = false;
                escape.add(touch.normal, touch.contact.depth);
                if !escape.leads_out {
                    return None;
                }
            }
            if is_out {
                break;
            }
        }
        Some(escape.way)
    }

    /// Returns `true` if a move clears a facet.
    fn is_cleared(&self, numbers: (u32, u32), way: V::DVec, weld: f64) -> bool {
        let left = self.solve(numbers, self.turned(way), |solver, _| {
            let depth = solver.contact().depth;
            (depth > slop(weld, way) + 4.0 * solver.depth_gap()).then_some(())
        });
        left.is_none()
    }

    /// Returns `true` if no move shorter than `way` leads out: every plane that it clears just so
    /// has a facet over which the body stays, wherever a shorter move brings it.
    fn is_needed(&self, touches: &[Touch<V::DVec>], way: V::DVec) -> bool {
        let Some(centre) = self.centre else {
            return false;
        };
        let is_tight = |touch: &&Touch<V::DVec>| {
            matches!(touch.kind, Kind::Plane)
                && way.dot(touch.normal) <= touch.contact.depth + slop(touch.weld, way)
        };
        let needs = |touch: &Touch<V::DVec>| {
            let facet = self.surface().facet(self.facet_number(touch.numbers))?;
            let parts = self.parts(touch.numbers)?;
            // The body's lowest point is under the foot; on the way from there to its centre it
            // goes through the plane.
            let foot = self.foot([&parts[0], &parts[1]], &touch.contact);
            let (under, over) = (touch.contact.depth, facet.height(centre).abs());
            let lowest = foot - touch.normal * under;
            let crossing = lowest + (centre - lowest) * (under / (under + over));
            let inset = facet.inset(foot).min(facet.inset(crossing));
            (inset > way.length()).then_some(())
        };
        let mut tight = touches.iter().filter(is_tight);
        let mut last: Option<(V::DVec, f64)> = None;
        // Of facets in one plane, one is enough.
        let mut is_found = true;
        let all = tight.by_ref().all(|touch| {
            let plane = (touch.normal, touch.contact.depth);
            let is_same = last.is_some_and(|(normal, depth)| {
                (normal - plane.0).length() <= SAME_NORMAL
                    && plane.1 - depth <= slop(touch.weld, way)
            });
            if !is_same {
                if !is_found {
                    return false;
                }
                last = Some(plane);
                is_found = false;
            }
            is_found = is_found || needs(touch).is_some();
            true
        });
        all && is_found
    }

    /// The shortest way out, and those of its planes that are none of the touches.
    fn shortest(
        &self,
        touches: &[Touch<V::DVec>],
        first: Option<V::DVec>,
        lists: &mut Lists<V>,
    ) -> (Option<V::DVec>, Planes<V::DVec>) {
        // The deepest touch is the most likely to block a move.
        lists.touches.sort_unstable_by(|a, b| {
            let depths = b.contact.depth.total_cmp(&a.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        });
        let deepest = touches.last().map_or(0.0, |it| it.contact.depth);
        let farthest = first.map_or(deepest, DVector::length);
        let bodies = self.look_around(touches, farthest, &mut lists.near);
        let first_free = first.filter(|way| self.is_free(lists, *way));
        let most = first_free.map_or(f64::INFINITY, DVector::length);
        self.find_candidates(touches, &bodies, most, lists);
        let mut found = self.search(most * (1.0 - SAME_DEPTH), lists);
        if found.is_none() && first.is_none() {
            found = self.shortest_straight(lists);
        }
        if first_free.is_none() {
            let most = found.as_ref().map_or(f64::INFINITY, |node| node.length);
            found = self
                .shortest_aside(most * (1.0 - SAME_DEPTH), lists)
                .or(found);
        }
        let Some(node) = found else {
            return (first, Planes::new());
        };
        let is_other = |candidate: &Touch<V::DVec>| {
            let body = self.body_number(candidate.numbers);
            let is_same = |touch: &Touch<V::DVec>| {
                self.body_number(touch.numbers) == body && is_same_plane(touch, candidate)
            };
            !touches.iter().any(is_same)
        };
        let planes = node.planes.iter().copied();
        let planes = planes.filter_map(|it| lists.candidates.get(it).copied());
        (Some(node.way), planes.filter(is_other).collect())
    }

    /// Returns the shortest move out that clears one or several candidates, if it is shorter than
    /// `most`.
    fn search(&self, mut most: f64, lists: &mut Lists<V>) -> Option<Node<V::DVec>> {
        let start = Node::default();
        let mut best = None;
        for index in 0..lists.candidates.len() {
            let node = start.with(index, &lists.candidates);
            if node.as_ref().is_none_or(|node| node.length >= most) {
                break;
            }
            if let Some(node) = node.filter(|node| self.is_free(lists, node.way)) {
                most = node.length * (1.0 - SAME_DEPTH);
                best = Some(node);
                break;
            }
        }
        if lists.touches.len() > MOST_TOUCHES {
            return best;
        }
        lists.nodes.push(start);
        for _ in 0..MOST_TRIED {
            let lengths = lists.nodes.iter().map(|node| node.length).enumerate();
            let Some((shortest, _)) = lengths.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            let node = lists.nodes.swap_remove(shortest);
            if node.planes.len() > 1 && self.is_free(lists, node.way) {
                return Some(node);
            }
            let Lists {
                candidates, nodes, ..
            } = &mut *lists;
            for (index, candidate) in candidates.iter().enumerate() {
                let is_full = node.planes.is_full() || nodes.len() >= MOST_OPEN;
                if candidate.contact.depth >= most || is_full {
                    break;
                }
                if clears_plane(candidate, node.way) {
                    continue;
                }
                let Some(next) = node.with(index, candidates).filter(|it| it.length < most) else {
                    continue;
                };
                let is_known = |other: &Node<V::DVec>| {
                    (other.way - next.way).length() <= SAME_DEPTH * next.length
                };
                if !nodes.iter().any(is_known) {
                    nodes.push(next);
                }
            }
            nodes.note();
        }
        best
    }

    /// The shortest way straight along the normal of one of the shallowest candidates.
    fn shortest_straight(&self, lists: &mut Lists<V>) -> Option<Node<V::DVec>> {
        let (mut shortest, mut most) = (None, f64::INFINITY);
        for index in 0..lists.candidates.len().min(FEW) {
            let candidate = lists.candidates.get(index).copied();
            if let Some(found) = candidate.and_then(|it| self.straight(it, most, lists)) {
                most = found.contact.depth * (1.0 - SAME_DEPTH);
                shortest = Some(found);
            }
        }
        lists.candidates.push(shortest?);
        Node::default().with(lists.candidates.len() - 1, &lists.candidates)
    }

    /// The way along the normal of a candidate that leads out: as far as the candidate says, and
    /// on over each facet that is still in the way then. `None` if it is no shorter than `most`.
    fn straight(
        &self,
        candidate: Touch<V::DVec>,
        most: f64,
        lists: &mut Lists<V>,
    ) -> Option<Touch<V::DVec>> {
        let mut touch = candidate;
        for _ in 0..MOST_TOUCHES {
            let (normal, depth) = (touch.normal, touch.contact.depth);
            if depth >= most {
                return None;
            }
            let Some(numbers) = self.blocking(lists, normal * depth) else {
                return self.is_passable(lists, normal * depth).then_some(touch);
            };
            let facet = self.surface().facet(self.facet_number(numbers))?;
            // Not through a facet from behind.
            let mut touched = lists.touches.iter().filter(|it| it.numbers == numbers);
            if touched.any(|it| it.normal.dot(normal) < -SAME_NORMAL) {
                return None;
            }
            touch = self.solve(numbers, V::DVec::ZERO, |solver, _| {
                Some(self.over_plane(solver, numbers, &facet, normal))
            })?;
            if touch.contact.depth <= depth {
                return None;
            }
        }
        None
    }

    /// The facet that a contact over a ridge or a corner is told of: of those that the body's core
    /// overlaps, and that the way does not clear over their own planes, the one that looks most
    /// along its normal.
    fn owner(
        &self,
        touches: &[Touch<V::DVec>],
        way: V::DVec,
        over: &Touch<V::DVec>,
        taken: &[Touch<V::DVec>],
    ) -> Option<(u32, u32)> {
        let body = self.body_number(over.numbers);
        let rank = |touch: &Touch<V::DVec>| {
            let is_open = !clears_plane(touch, way);
            (is_open, touch.normal.dot(over.normal))
        };
        let mut owner = (None, (false, f64::NEG_INFINITY));
        for touch in touches {
            let is_free = taken.iter().all(|it| it.numbers != touch.numbers);
            if is_free && self.body_number(touch.numbers) == body && rank(touch) > owner.1 {
                owner = (Some(touch.numbers), rank(touch));
            }
        }
        owner.0
    }

    /// Returns `true` if the body has cleared what it touches after a move, and its centre has gone
    /// through no facet.
    fn is_free(&self, lists: &mut Lists<V>, way: V::DVec) -> bool {
        self.blocking(lists, way).is_none() && self.is_passable(lists, way)
    }

    /// A facet that the body has not cleared after a move, of those that it touches, and the part
    /// of the body.
    pub(super) fn blocking(&self, lists: &mut Lists<V>, way: V::DVec) -> Option<(u32, u32)> {
        let is_clear = |touch: &Touch<V::DVec>| {
            clears_plane(touch, way) || self.is_cleared(touch.numbers, way, touch.weld)
        };
        let index = lists.touches.iter().position(|touch| !is_clear(touch))?;
        // A facet that blocks one move often blocks the next.
        let ahead = lists.touches.get_mut(..=index)?;
        ahead.rotate_right(1);
        ahead.first().map(|touch| touch.numbers)
    }

    /// Returns `true` if a move takes the body's centre through no facet.
    pub(super) fn is_passable(&self, lists: &Lists<V>, way: V::DVec) -> bool {
        lists.near.iter().all(|near| {
            let is_crossed = |centre| near.facet.is_crossed_by([centre, centre + way]);
            near.is_hidden || !self.centre.is_some_and(is_crossed)
        })
    }
}
