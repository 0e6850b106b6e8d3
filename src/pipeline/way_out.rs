//! The shortest way out of a surface, for a body whose core overlaps facets of it.
//!
//! The body is out where it overlaps no facet near it, and its centre has gone through none. The
//! least move that brings it there is a matter of the surface as a set of points. So the depth does
//! not depend on how the surface is cut into facets, and changes no faster than the body moves.
//!
//! *A first way.* Each facet can be cleared along its own normal, over its plane. From the
//! shallowest plane to the deepest, one is added if the body still overlaps the facet after the
//! least move that clears the planes added before. So a crate that has sunk into a kerb leaves it
//! by the front or over the top, and a crate in a corner leaves both walls.
//!
//! *Shorter ways.* Planes are not all that a body can clear. Over a ridge or a peak it leaves along
//! a normal between those of the slopes. To find it, the facets around a point of the ridge are
//! taken to go on as they begin there. The convex hull of that, a wedge or a cone, holds all of a
//! convex surface, so that no contact with it is shallower than that with the surface; and the
//! shallowest of all is that of the surface. The contacts with all wedges and cones near the body,
//! and all planes, are tried from the shallowest to the deepest: each is completed by planes, if it
//! does not clear all facets alone. The shortest way that leads out is taken.

use core::ops::Range;

use arrayvec::ArrayVec;

use super::{
    proxy::{Extent, Part},
    surface_contacts::{Kind, Meeting, Touch},
};
use crate::{
    query::{LocalContact, Pair, Solver, tolerance::SAME_NORMAL},
    room::{Buffer, Reclaim},
    shape::{Bounds, Facet, Rim, Support, balls_in, weld},
    space::{Pose, Space, Wide},
};

/// A body has cleared a facet that it overlaps by no more than this part of its move.
const CLEARED: f64 = 1e-5;

/// A depth that exceeds another one by no more than this part of it is the same: the rounding of
/// f32, some times.
const SAME_DEPTH: f64 = 1e-6;

/// No more parts of a body are looked at.
const MOST_PARTS: usize = 16;

/// No more planes are cleared at once.
const MOST_PLANES: usize = 16;

/// A corner of more facets than have so many ways into them is not looked at.
const MOST_WAYS: usize = 96;

/// No more ridges and corners are solved, those that promise the least depth.
const MOST_CORNERS: usize = 32;

/// No more candidates make one way.
const MOST_AT_ONCE: usize = 4;

/// No more planes, ridges and corners are tried together, the shallowest of all.
const MOST_CANDIDATES: usize = 64;

/// So many ways are tried, and so many wait for it.
const MOST_TRIED: usize = 24;
const MOST_OPEN: usize = 256;

/// Facets go on so many times as far as the body is large.
const FAR: f64 = 8.0;

/// Passes over the facets that count, to find the move that clears them. In a corner a few do.
const MAX_PASSES: usize = 32;

/// A plane added last may turn the move back into a facet that was clear.
const MAX_ROUNDS: usize = 4;

/// Returns `true` if two touches have one normal and depth.
fn is_same_plane<W: Wide>(a: &Touch<W>, b: &Touch<W>) -> bool {
    let depths = (a.contact.depth - b.contact.depth).abs();
    (a.normal - b.normal).length() <= SAME_NORMAL && depths <= SAME_DEPTH * b.contact.depth
}

/// Planes that a way clears, none of which is a touch.
type Planes<W> = ArrayVec<Touch<W>, MOST_AT_ONCE>;

/// Where a part of a body reaches: in two balls around two of its points.
struct Reach<W> {
    balls: [(W, f64); 2],
}

impl<W: Wide> Reach<W> {
    /// Of a part of a body, with a margin, from a point.
    fn of<V: Space<Wide = W>>(part: &Part<V>, origin: W, margin: f64) -> Self {
        let pose = part.place.pose();
        let balls = balls_in(&part.image()).map(|(centre, radius)| {
            let centre = pose.rotation * centre + pose.translation;
            (centre - origin, radius + margin)
        });
        Self { balls }
    }

    /// The corners of a facet that are in both balls, and the points nearest to the first ball's
    /// centre of edges without any: what can be left over an edge can be left over its ends.
    fn rims<'a>(&'a self, facet: &'a Facet<W>) -> impl Iterator<Item = Rim<W>> + 'a {
        let [(middle, _), _] = self.balls;
        let has = move |point: W| self.includes(|centre| (point - centre).length());
        let rims = facet.rims();
        rims.filter_map(move |rim| {
            if rim.is_corner() {
                return has(rim.point).then_some(rim);
            }
            let is_alone = !facet.ends(&rim).into_iter().any(has);
            let nearest = facet.on_rim(&rim, middle);
            (is_alone && has(nearest)).then(|| rim.moved_to(nearest))
        })
    }

    /// Returns `true` if what has a distance from points is in both balls.
    fn includes(&self, distance: impl Fn(W) -> f64) -> bool {
        let mut balls = self.balls.iter();
        balls.all(|(centre, radius)| distance(*centre) <= *radius)
    }

    /// A box around the first ball.
    fn bounds(&self, origin: W) -> Bounds<W> {
        let [(centre, radius), _] = self.balls;
        let reach = W::ONE * radius;
        Bounds {
            min: origin + centre - reach,
            max: origin + centre + reach,
        }
    }
}

/// A facet near a part of a body.
#[derive(Clone, Debug)]
struct NearFacet<W: Wide> {
    number: u32,
    facet: Facet<W>,
    /// Of which only the back is met, which is not there.
    is_hidden: bool,
}

/// A part of a body, and what is near it.
struct BodyPart<'a, V: Space> {
    number: u32,
    part: Part<'a, V>,
    /// The translation of the surface.
    origin: V::Wide,
    /// The radius of facets.
    margin: f64,
    reach: Reach<V::Wide>,
    /// Which of the near facets are.
    near: Range<usize>,
}

impl<V: Space> BodyPart<'_, V> {
    /// The point of the core that is lowest along a normal, from the translation of the surface.
    fn lowest(&self, normal: V::Wide) -> V::Wide {
        let pose = self.part.place.pose();
        let inner = -(V::Wide::transpose(pose.rotation) * normal);
        pose.rotation * self.part.image().support(inner) + pose.translation - self.origin
    }

    /// The radius of the part and of facets.
    fn radius(&self) -> f64 {
        self.part.image().radius() + self.margin
    }
}

/// A way that clears some candidates.
#[derive(Clone, Debug)]
struct Node<W> {
    planes: ArrayVec<usize, MOST_AT_ONCE>,
    way: W,
    length: f64,
}

impl<W: Wide> Default for Node<W> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: W::ZERO,
            length: 0.0,
        }
    }
}

impl<W: Wide> Node<W> {
    /// The least way that clears one more candidate; `None` if there is none.
    fn with(&self, candidate: usize, candidates: &[Touch<W>]) -> Option<Self> {
        let mut planes = self.planes.clone();
        planes.push(candidate);
        let mut escape = Escape::default();
        for touch in planes.iter().filter_map(|it| candidates.get(*it)) {
            escape.add(touch.normal, touch.contact.depth);
        }
        escape.leads_out.then(|| Self {
            planes,
            way: escape.way,
            length: escape.way.length(),
        })
    }
}

/// Lists that are of use for one pair only.
pub struct Lists<V: Space> {
    /// All that touch.
    touches: Buffer<Touch<V::Wide>>,
    /// The facets near each part of the body that touches, one part after the other.
    near: Buffer<NearFacet<V::Wide>>,
    rims: Buffer<(Rim<V::Wide>, usize)>,
    /// Which of them are in one place, with the rank of that.
    corners: Buffer<(f64, Range<usize>)>,
    candidates: Buffer<Touch<V::Wide>>,
    nodes: Buffer<Node<V::Wide>>,
}

impl<V: Space> Default for Lists<V> {
    fn default() -> Self {
        Self {
            touches: Buffer::default(),
            near: Buffer::default(),
            rims: Buffer::default(),
            corners: Buffer::default(),
            candidates: Buffer::default(),
            nodes: Buffer::default(),
        }
    }
}

impl<V: Space> Lists<V> {
    /// Begins with all that touch.
    pub fn begin(&mut self, touches: &[Touch<V::Wide>]) {
        self.clear();
        self.touches.extend_from_slice(touches);
        self.touches.note();
    }

    fn clear(&mut self) {
        self.touches.clear();
        self.near.clear();
        self.rims.clear();
        self.corners.clear();
        self.candidates.clear();
        self.nodes.clear();
    }

    /// Shrinks the lists.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.clear();
        self.touches.reclaim(reclaim);
        self.near.reclaim(reclaim);
        self.rims.reclaim(reclaim);
        self.corners.reclaim(reclaim);
        self.candidates.reclaim(reclaim);
        self.nodes.reclaim(reclaim);
    }
}

/// What may be left of a depth that a move clears, by rounding.
fn slop<W: Wide>(weld: f64, way: W) -> f64 {
    CLEARED * way.length() + 0.125 * weld
}

/// Returns `true` if a move clears the plane of a touch.
fn clears_plane<W: Wide>(touch: &Touch<W>, way: W) -> bool {
    touch.contact.depth - way.dot(touch.normal) <= slop(touch.weld, way)
}

impl<'a, V: Space> Meeting<'a, V> {
    /// Leaves in `touches`, which are sorted from the shallowest to the deepest, those along a
    /// facet's own normal by which the shortest way out leads, and adds the one over a ridge or a
    /// corner, if it does.
    pub fn keep_way_out(&self, touches: &mut Vec<Touch<V::Wide>>, lists: &mut Lists<V>) {
        let is_plane = |touch: &Touch<V::Wide>| matches!(touch.kind, Kind::Plane);
        if !touches.iter().any(is_plane) {
            return;
        }
        let first = self.first_way(touches);
        if let Some(way) = first
            && self.is_needed(touches, way)
        {
            touches.retain(|touch| clears_plane(touch, way));
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
                _ => self.owner(touches, way, &candidate, &added),
            };
            if added.iter().all(|it| it.numbers != numbers) {
                added.push(Touch {
                    numbers,
                    ..candidate
                });
            }
        }
        touches.retain(|touch| {
            clears_plane(touch, way) && added.iter().all(|it| it.numbers != touch.numbers)
        });
        touches.extend(added);
    }

    /// The least move that clears all touches, each along its own normal if those before it have
    /// not cleared it. `None` if they contradict each other.
    fn first_way(&self, touches: &[Touch<V::Wide>]) -> Option<V::Wide> {
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
                return Some(escape.way);
            }
        }
        None
    }

    /// Returns `true` if a move clears a facet.
    fn is_cleared(&self, numbers: (u32, u32), way: V::Wide, weld: f64) -> bool {
        let left = self.solve(numbers, self.turned(way), |solver, _| {
            let depth = solver.contact().depth;
            (depth > slop(weld, way) + 4.0 * solver.depth_gap()).then_some(())
        });
        left.is_none()
    }

    /// Returns `true` if no move shorter than `way` leads out: every plane that it clears just so
    /// has a facet over which the body stays, wherever a shorter move brings it.
    fn is_needed(&self, touches: &[Touch<V::Wide>], way: V::Wide) -> bool {
        let Some(centre) = self.centre else {
            return false;
        };
        let is_tight = |touch: &&Touch<V::Wide>| {
            matches!(touch.kind, Kind::Plane)
                && way.dot(touch.normal) <= touch.contact.depth + slop(touch.weld, way)
        };
        let needs = |touch: &Touch<V::Wide>| {
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
        let mut last: Option<(V::Wide, f64)> = None;
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
        touches: &[Touch<V::Wide>],
        first: Option<V::Wide>,
        lists: &mut Lists<V>,
    ) -> (Option<V::Wide>, Planes<V::Wide>) {
        // What is deepest is most likely to be in the way.
        let deeper = |a: &Touch<_>, b: &Touch<_>| b.contact.depth.total_cmp(&a.contact.depth);
        lists.touches.sort_by(deeper);
        let deepest = touches.last().map_or(0.0, |it| it.contact.depth);
        let farthest = first.map_or(deepest, Wide::length);
        let bodies = self.look_around(touches, farthest, &mut lists.near);
        let first_free = first.filter(|way| self.is_free(lists, *way));
        let most = first_free.map_or(f64::INFINITY, Wide::length);
        self.find_candidates(touches, &bodies, most, lists);
        let Some(node) = self.search(most * (1.0 - SAME_DEPTH), lists) else {
            return (first, Planes::new());
        };
        let is_other = |candidate: &Touch<V::Wide>| {
            let body = self.body_number(candidate.numbers);
            let is_same = |touch: &Touch<V::Wide>| {
                self.body_number(touch.numbers) == body && is_same_plane(touch, candidate)
            };
            !touches.iter().any(is_same)
        };
        let planes = node.planes.iter().copied();
        let planes = planes.filter_map(|it| lists.candidates.get(it).copied());
        (Some(node.way), planes.filter(is_other).collect())
    }

    /// The shortest way shorter than `most` that clears some of the candidates and leads out: first
    /// of those that clear one, then of those that clear several.
    fn search(&self, mut most: f64, lists: &mut Lists<V>) -> Option<Node<V::Wide>> {
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
                let is_known = |other: &Node<V::Wide>| {
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

    /// The facet that a contact over a ridge or a corner is told of: of those that the body's core
    /// overlaps, and that the way does not clear over their own planes, the one that looks most
    /// along its normal.
    fn owner(
        &self,
        touches: &[Touch<V::Wide>],
        way: V::Wide,
        over: &Touch<V::Wide>,
        taken: &[Touch<V::Wide>],
    ) -> (u32, u32) {
        let body = self.body_number(over.numbers);
        let rank = |touch: &Touch<V::Wide>| {
            let is_open = !clears_plane(touch, way);
            (is_open, touch.normal.dot(over.normal))
        };
        let mut owner = (over.numbers, (false, f64::NEG_INFINITY));
        for touch in touches {
            let is_free = taken.iter().all(|it| it.numbers != touch.numbers);
            if is_free && self.body_number(touch.numbers) == body && rank(touch) > owner.1 {
                owner = (touch.numbers, rank(touch));
            }
        }
        owner.0
    }

    /// The parts of the body that touch, with the facets that are where they reach, and no farther
    /// off than the length of a way out: a shorter one leads over nothing farther away.
    fn look_around(
        &self,
        touches: &[Touch<V::Wide>],
        farthest: f64,
        near: &mut Buffer<NearFacet<V::Wide>>,
    ) -> ArrayVec<BodyPart<'a, V>, MOST_PARTS> {
        let mut bodies = ArrayVec::<BodyPart<V>, MOST_PARTS>::new();
        let (surface, origin) = (self.surface(), self.surface().place.translation);
        for touch in touches {
            let number = self.body_number(touch.numbers);
            if bodies.is_full() || bodies.iter().any(|it| it.number == number) {
                continue;
            }
            let Some(parts) = self.parts(touch.numbers) else {
                continue;
            };
            let [facet, part] = self.of_surface_and_body(parts);
            let margin = facet.image().radius();
            let reach = Reach::of(&part, origin, margin);
            let first = near.len();
            let mut bounds = reach.bounds(origin);
            if let Some(own) = part.extent.bounds() {
                bounds = bounds.common(&own.grown(farthest));
            }
            let extent = Extent::Box(bounds);
            surface.parts_near(&extent, V::Wide::ZERO, |number| {
                let is_in = |facet: &Facet<_>| reach.includes(|centre| facet.distance(centre));
                let facet = surface.facet(number).filter(is_in);
                near.extend(facet.map(|facet| NearFacet {
                    number,
                    is_hidden: self.is_hidden(&facet),
                    facet,
                }));
            });
            let near = first..near.len();
            bodies.push(BodyPart {
                number,
                part,
                origin,
                margin,
                reach,
                near,
            });
        }
        near.note();
        for body in &bodies {
            let near = near.get_mut(body.near.clone()).unwrap_or_default();
            near.sort_unstable_by_key(|it| it.number);
        }
        bodies
    }

    /// Returns `true` if the body has cleared what it touches after a move, and its centre has gone
    /// through no facet.
    fn is_free(&self, lists: &mut Lists<V>, way: V::Wide) -> bool {
        let is_clear = |touch: &Touch<V::Wide>| {
            clears_plane(touch, way) || self.is_cleared(touch.numbers, way, touch.weld)
        };
        let is_before = |near: &NearFacet<V::Wide>| {
            let is_crossed = |centre| near.facet.is_crossed([centre, centre + way]);
            near.is_hidden || !self.centre.is_some_and(is_crossed)
        };
        if let Some(blocked) = lists.touches.iter().position(|touch| !is_clear(touch)) {
            // What is in the way of one is often in that of the next.
            if let Some(ahead) = lists.touches.get_mut(..=blocked) {
                ahead.rotate_right(1);
            }
            return false;
        }
        lists.near.iter().all(is_before)
    }

    /// Collects the planes of touches, and the contacts with ridges and corners near the body, the
    /// shallowest first.
    fn find_candidates(
        &self,
        touches: &[Touch<V::Wide>],
        bodies: &[BodyPart<V>],
        most: f64,
        lists: &mut Lists<V>,
    ) {
        let Lists {
            near,
            rims,
            corners,
            candidates,
            ..
        } = lists;
        candidates.extend_from_slice(touches);
        for body in bodies {
            let touches = touches.iter();
            for touch in touches.filter(|it| self.body_number(it.numbers) == body.number) {
                candidates.extend(self.sides(touch, body, most).into_iter().flatten());
            }
            let near = near.get(body.near.clone()).unwrap_or_default();
            rims.clear();
            for (index, NearFacet { facet, .. }) in near.iter().enumerate() {
                rims.extend(body.reach.rims(facet).map(|rim| (rim, index)));
            }
            rims.note();
            rims.sort_unstable_by(|(a, index), (b, other)| {
                let points = a.point.total_cmp(b.point);
                let corners = a.is_corner().cmp(&b.is_corner());
                points.then(corners).then(index.cmp(other))
            });
            let are_same = |(a, _): &(Rim<_>, _), (b, _): &(Rim<_>, _)| {
                a.point == b.point && a.is_corner() == b.is_corner()
            };
            corners.clear();
            let mut first = 0;
            for group in rims.chunk_by(are_same) {
                let range = first..first + group.len();
                first = range.end;
                let Some((rim, _)) = group.first() else {
                    continue;
                };
                let sharers = group.iter().filter_map(|(_, index)| near.get(*index));
                let fan = Fan::around(rim, sharers.map(|it| &it.facet), near);
                let rank = fan.and_then(|fan| fan.rank(body, most));
                corners.extend(rank.map(|rank| (rank, range)));
            }
            corners.note();
            corners.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, range) in corners.iter().take(MOST_CORNERS) {
                let group = rims.get(range.clone()).unwrap_or_default();
                let sharers = || group.iter().filter_map(|(_, index)| near.get(*index));
                let seen = sharers().find(|it| !it.is_hidden);
                let (Some(seen), Some((rim, _))) = (seen, group.first()) else {
                    continue;
                };
                let facets = sharers().map(|it| &it.facet);
                if let Some(fan) = Fan::around(rim, facets, near) {
                    let corner = Corner::new(fan, body);
                    candidates.extend(self.over_rim(body, seen.number, &corner, most));
                }
            }
        }
        candidates.note();
        candidates.sort_unstable_by(|a, b| {
            let depths = a.contact.depth.total_cmp(&b.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        });
        candidates.dedup_by(|a, b| is_same_plane(a, b));
        candidates.truncate(MOST_CANDIDATES);
    }

    /// The contacts over the plane of a facet that are not the touch: to the side of the centre, and
    /// to the other one, if the facet has two and the centre is not over it.
    fn sides(
        &self,
        touch: &Touch<V::Wide>,
        body: &BodyPart<V>,
        most: f64,
    ) -> [Option<Touch<V::Wide>>; 2] {
        let facet = self.surface().facet(self.facet_number(touch.numbers));
        let (Some(facet), Some(centre)) = (facet, self.centre) else {
            return [None, None];
        };
        let is_over = facet.height(centre) >= 0.0;
        let outward = if is_over { facet.normal } else { -facet.normal };
        let is_plane = matches!(touch.kind, Kind::Plane);
        let has_two = !self.surface().is_one_sided() && !facet.is_below(centre);
        let over = |normal: V::Wide| {
            let height = facet.height(body.lowest(normal)) * facet.normal.dot(normal);
            if body.radius() - height >= most {
                return None;
            }
            self.solve(touch.numbers, V::Wide::ZERO, |solver, _| {
                Some(self.over_plane(solver, touch.numbers, &facet, normal))
            })
        };
        let (own, other) = ((!is_plane).then_some(outward), has_two.then_some(-outward));
        [own.and_then(over), other.and_then(over)]
    }

    /// The contact of a part of the body with a corner, which is told of a facet.
    fn over_rim(
        &self,
        body: &BodyPart<V>,
        number: u32,
        corner: &Corner<V>,
        most: f64,
    ) -> Option<Touch<V::Wide>> {
        if self.centre.is_some_and(|centre| corner.holds(centre)) {
            return None;
        }
        let contact = self.contact_with(corner, body)?;
        let normal = self.turned(contact.normal);
        // Of a valley, seen from behind.
        let is_behind = |it: &V::Wide| normal.dot(*it) < -SAME_NORMAL;
        let is_back = self.surface().is_one_sided() && corner.normals.iter().all(is_behind);
        let [first, second] = self.of_surface_and_body([number, body.number]);
        (contact.depth <= most && !is_back).then_some(Touch {
            numbers: (first, second),
            normal,
            contact,
            kind: Kind::Nearest,
            weld: weld(corner.points.get(..1).unwrap_or_default()),
        })
    }

    /// The contact of a part of the body with a corner, in the order of the two proxies.
    fn contact_with(
        &self,
        corner: &Corner<V>,
        body: &BodyPart<V>,
    ) -> Option<LocalContact<V::Wide>> {
        let pose = Pose {
            translation: self.surface().place.translation,
            ..Pose::IDENTITY
        };
        let image = body.part.image();
        let (corner, image): (&AnyOf<V>, &AnyOf<V>) = (corner, &image);
        let body_pose = body.part.place.pose();
        let pair = if self.surface_is_first {
            Pair::new(corner, pose, image, body_pose)
        } else {
            Pair::new(image, body_pose, corner, pose)
        };
        let mut solver = Solver::new(pair.counted_by(self.counter));
        solver.hit().then(|| solver.contact())
    }
}

/// Any shape of a space.
type AnyOf<'s, V> = dyn Support<Vector = V> + 's;

/// Returns `true` if ways in a plane leave no gap of half a turn or more: in the plane, if they lead
/// both ways.
fn are_all_around<W: Wide>(ways: &[W], normal: W) -> bool {
    ways.iter().all(|way| {
        let left = if W::DIMENSION == 2 {
            Some(-*way)
        } else {
            W::perpendicular(&[normal, *way])
        };
        left.is_some_and(|left| ways.iter().any(|other| other.dot(left) > SAME_NORMAL))
    })
}

/// The facets around a point of a rim.
struct Fan<W> {
    point: W,
    normals: ArrayVec<W, MOST_WAYS>,
    /// Unit vectors that span them, those of one facet after those of the other.
    ways: ArrayVec<W, MOST_WAYS>,
    /// All are in one plane.
    is_flat: bool,
    /// None has an edge there of its own.
    is_joined: bool,
}

impl<W: Wide> Fan<W> {
    /// Those that share a point, or if they leave a gap, all that have it. `None` if there are too
    /// many, or none.
    fn around<'f>(
        rim: &Rim<W>,
        sharers: impl Iterator<Item = &'f Facet<W>>,
        near: &'f [NearFacet<W>],
    ) -> Option<Self>
    where
        W: 'f,
    {
        let fan = Self::new(rim, sharers)?;
        if fan.is_joined {
            return Some(fan);
        }
        let facets = near.iter().map(|it| &it.facet);
        Self::new(rim, facets.filter(|it| it.has(rim.point)))
    }

    fn new<'f>(rim: &Rim<W>, facets: impl Iterator<Item = &'f Facet<W>>) -> Option<Self>
    where
        W: 'f,
    {
        let mut fan = Self {
            point: rim.point,
            normals: ArrayVec::new(),
            ways: ArrayVec::new(),
            is_flat: true,
            is_joined: false,
        };
        for facet in facets {
            fan.normals.try_push(facet.normal).ok()?;
            let first = *fan.normals.first()?;
            for way in rim.ways(facet.corners()) {
                fan.is_flat &= way.dot(first).abs() <= SAME_NORMAL;
                fan.ways.try_push(way).ok()?;
            }
        }
        fan.is_joined = are_joined(rim, &fan.ways, fan.normals.len());
        (!fan.normals.is_empty()).then_some(fan)
    }

    /// Returns `true` if a facet rises along a normal.
    fn rises(&self, normal: W) -> bool {
        self.ways.iter().any(|way| way.dot(normal) > SAME_NORMAL)
    }

    /// About how deep a body is in the hull of the facets: along the mean of the ways out of it, or
    /// infinite if that leads into it. `None` if they lie in one plane, or the body is no less deep
    /// than `most`.
    fn rank<V: Space<Wide = W>>(&self, body: &BodyPart<V>, most: f64) -> Option<f64> {
        if self.is_flat {
            if are_all_around(&self.ways, *self.normals.first()?) {
                return None;
            }
        } else if self.is_joined && self.least_depth(body).is_some_and(|least| least >= most) {
            return None;
        }
        let mean = self.ways.iter().fold(W::ZERO, |sum, way| sum - *way);
        let out = mean.unit().filter(|out| !self.rises(*out));
        let depth = out.map(|out| (self.point - body.lowest(out)).dot(out));
        Some(depth.unwrap_or(f64::INFINITY))
    }

    /// A depth that the body has at least in the hull of joined facets around a point p; `None` if
    /// the hull is not bounded by their planes.
    ///
    /// Along a normal n the depth is the greatest of (p - b)·n for points b of the body. All
    /// normals of the hull are means of those of the facets, brought to unit length, so that for
    /// any b the least of (p - b)·nᵢ is a lower bound. The b taken is the one that is deepest along
    /// their mean.
    fn least_depth<V: Space<Wide = W>>(&self, body: &BodyPart<V>) -> Option<f64> {
        let outward = |normal: &W| {
            let sides = [*normal, -*normal];
            sides.into_iter().find(|side| !self.rises(*side))
        };
        let mut mean = W::ZERO;
        for normal in &self.normals {
            mean = mean + outward(normal)?;
        }
        let lowest = body.lowest(mean);
        let outwards = self.normals.iter().filter_map(outward);
        let depths = outwards.map(|normal| (self.point - lowest).dot(normal));
        let least = depths.fold(f64::INFINITY, f64::min);
        (least > 0.0).then_some(least + body.radius())
    }
}

/// Returns `true` if no facet around a point ends there: none of the edges that begin there belongs
/// to one alone.
fn are_joined<W: Wide>(rim: &Rim<W>, ways: &[W], facets: usize) -> bool {
    if W::DIMENSION == 2 || !rim.is_corner() {
        return facets > 1;
    }
    // Of each facet its two edges, and the way between them.
    let is_plain = ways.len() == 3 * facets;
    is_plain
        && ways.iter().enumerate().all(|(index, way)| {
            let is_same = |it: &&W| (**it - *way).length() <= SAME_NORMAL;
            index % 3 == 2 || ways.iter().filter(is_same).count() > 1
        })
}

/// What is behind the facets around a point of the rim if each goes on as it begins there, to where
/// no body reaches: the convex hull of that. Of a valley it is the space between its slopes.
struct Corner<V: Space> {
    points: ArrayVec<V::Wide, { MOST_WAYS + 1 }>,
    radius: f64,
    /// The normals of the facets.
    normals: ArrayVec<V::Wide, MOST_WAYS>,
}

impl<V: Space> Corner<V> {
    fn new(fan: Fan<V::Wide>, body: &BodyPart<V>) -> Self {
        let [(centre, reach), _] = body.reach.balls;
        let far = FAR * (reach + (centre - fan.point).length());
        let tips = fan.ways.iter().map(|way| fan.point + *way * far);
        Self {
            points: core::iter::once(fan.point).chain(tips).collect(),
            radius: body.margin,
            normals: fan.normals,
        }
    }

    /// Returns `true` if a point is in the hull.
    fn holds(&self, point: V::Wide) -> bool {
        let of = |points| Self {
            points,
            radius: 0.0,
            normals: ArrayVec::new(),
        };
        let (hull, point) = (of(self.points.clone()), of([point].into_iter().collect()));
        let pair = Pair::new(&hull, Pose::IDENTITY, &point, Pose::IDENTITY);
        Solver::new(pair).hit()
    }
}

impl<V: Space> Support for Corner<V> {
    type Vector = V;

    fn support(&self, direction: V::Wide) -> V::Wide {
        let farther = |best: V::Wide, it: V::Wide| {
            if it.dot(direction) > best.dot(direction) {
                it
            } else {
                best
            }
        };
        let points = self.points.iter().copied();
        points.reduce(farther).unwrap_or(V::Wide::ZERO)
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

/// The least move that clears some planes.
struct Escape<W> {
    /// The normal and the depth of each, with its share of the move.
    planes: ArrayVec<(W, f64, f64), MOST_PLANES>,
    way: W,
    /// `true` if there are planes, and the move clears all of them.
    leads_out: bool,
}

impl<W: Wide> Default for Escape<W> {
    fn default() -> Self {
        Self {
            planes: ArrayVec::new(),
            way: W::ZERO,
            leads_out: false,
        }
    }
}

impl<W: Wide> Escape<W> {
    /// Adds a plane. The least x with x · nᵢ >= dᵢ is Σ λᵢ nᵢ with λᵢ >= 0, and each pass sets one
    /// λᵢ after the other so that its own plane is cleared (Hildreth, "A quadratic programming
    /// procedure" (1957)).
    fn add(&mut self, normal: W, depth: f64) {
        let Self { planes, way, .. } = self;
        let is_same = |it: &&mut (W, f64, f64)| (it.0 - normal).length() <= SAME_NORMAL;
        if let Some(plane) = planes.iter_mut().find(is_same) {
            plane.1 = plane.1.max(depth);
        } else if planes.try_push((normal, depth, 0.0)).is_err() {
            self.leads_out = false;
            return;
        }
        for _ in 0..MAX_PASSES {
            let mut most = 0.0_f64;
            for (normal, depth, share) in &mut *planes {
                let next = (*share + *depth - normal.dot(*way)).max(0.0);
                *way = *way + *normal * (next - *share);
                most = most.max((next - *share).abs());
                *share = next;
            }
            self.leads_out = most <= SAME_DEPTH * depth;
            if self.leads_out {
                break;
            }
        }
    }
}
