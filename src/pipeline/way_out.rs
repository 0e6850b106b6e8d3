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

use arrayvec::ArrayVec;

use super::{
    proxy::{Extent, Part},
    surface_contacts::{Kind, Meeting, Touch},
};
use crate::{
    query::{LocalContact, Pair, Solver, tolerance::SAME_NORMAL},
    room::{Buffer, Reclaim},
    shape::{Bounds, Facet, Rim, Support, balls_in},
    space::{Pose, Space, Wide},
};

/// A body has cleared a facet that it overlaps by no more than this part of its move.
const CLEARED: f64 = 1e-5;

/// A depth that exceeds another one by no more than this part of it is the same: the rounding of
/// f32, some times.
const SAME_DEPTH: f64 = 1e-6;

/// No more planes are cleared at once.
const MOST_PLANES: usize = 16;

/// A corner of more facets than have so many ways into them is not looked at.
const MOST_WAYS: usize = 96;

/// No more ridges and corners are looked at.
const MOST_RIMS: usize = 256;

/// No more candidates make one way.
const MOST_AT_ONCE: usize = 4;

/// So many ways are tried, and so many wait for it.
const MOST_TRIED: usize = 32;
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

/// A point of the rim of a facet near a body.
#[derive(Clone, Copy, Debug)]
struct NearRim<W> {
    /// How deep the body is under the plane of the facet.
    depth: f64,
    /// The facet and the part of the body.
    numbers: (u32, u32),
    rim: Rim<W>,
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
    /// Pairs of a facet that is near and a part of the body.
    near: Buffer<(u32, u32)>,
    rims: Buffer<NearRim<V::Wide>>,
    candidates: Buffer<Touch<V::Wide>>,
    nodes: Buffer<Node<V::Wide>>,
}

impl<V: Space> Default for Lists<V> {
    fn default() -> Self {
        Self {
            touches: Buffer::default(),
            near: Buffer::default(),
            rims: Buffer::default(),
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
        self.candidates.clear();
        self.nodes.clear();
    }

    /// Shrinks the lists.
    pub fn reclaim(&mut self, reclaim: &mut Reclaim) {
        self.clear();
        self.touches.reclaim(reclaim);
        self.near.reclaim(reclaim);
        self.rims.reclaim(reclaim);
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
        self.look_around(touches, &mut lists.near);
        let first_free = first.filter(|way| self.is_free(lists, *way));
        let most = first_free.map_or(f64::INFINITY, Wide::length);
        self.find_candidates(touches, most, lists);
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

    /// The shortest way shorter than `most` that clears some of the candidates and leads out.
    fn search(&self, most: f64, lists: &mut Lists<V>) -> Option<Node<V::Wide>> {
        lists.nodes.push(Node::default());
        for _ in 0..MOST_TRIED {
            let lengths = lists.nodes.iter().map(|node| node.length).enumerate();
            let (shortest, _) = lengths.min_by(|a, b| a.1.total_cmp(&b.1))?;
            let node = lists.nodes.swap_remove(shortest);
            if !node.planes.is_empty() && self.is_free(lists, node.way) {
                return Some(node);
            }
            let Lists {
                candidates, nodes, ..
            } = &mut *lists;
            for (index, candidate) in candidates.iter().enumerate() {
                if candidate.contact.depth >= most || node.planes.is_full() {
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
                if nodes.len() < MOST_OPEN && !nodes.iter().any(is_known) {
                    nodes.push(next);
                }
            }
            nodes.note();
        }
        None
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

    /// The pairs of a facet and a part of the body, of those that touch, in whose ball the facet
    /// is: a shortest way leads over nothing farther away.
    fn look_around(&self, touches: &[Touch<V::Wide>], near: &mut Buffer<(u32, u32)>) {
        let bodies: &mut ArrayVec<u32, MOST_PLANES> = &mut ArrayVec::new();
        for touch in touches {
            let body = self.body_number(touch.numbers);
            if bodies.contains(&body) || bodies.is_full() {
                continue;
            }
            bodies.push(body);
            let Some(reach) = self.reach_of(touch.numbers) else {
                continue;
            };
            let bounds = reach.bounds(self.surface().place.translation);
            let (surface, extent) = (self.surface(), Extent::Box(bounds));
            surface.parts_near(&extent, V::Wide::ZERO, |number| {
                let is_in = |facet: Facet<V::Wide>| {
                    !self.is_hidden(&facet) && reach.includes(|centre| facet.distance(centre))
                };
                if surface.facet(number).is_some_and(is_in) {
                    let [first, second] = self.of_surface_and_body([number, body]);
                    near.push((first, second));
                }
            });
        }
        near.note();
        near.sort_unstable();
    }

    /// Where a part of the body reaches, from the translation of the surface.
    fn reach_of(&self, numbers: (u32, u32)) -> Option<Reach<V::Wide>> {
        let [facet, body] = self.of_surface_and_body(self.parts(numbers)?);
        let (image, pose) = (body.image(), body.place.pose());
        let margin = facet.image().radius();
        let balls = balls_in(&image).map(|(centre, radius)| {
            let centre = pose.rotation * centre + pose.translation;
            (centre - self.surface().place.translation, radius + margin)
        });
        Some(Reach { balls })
    }

    /// Returns `true` if the body has cleared what it touches after a move, and its centre has gone
    /// through no facet.
    fn is_free(&self, lists: &Lists<V>, way: V::Wide) -> bool {
        let is_clear = |touch: &Touch<V::Wide>| {
            clears_plane(touch, way) || self.is_cleared(touch.numbers, way, touch.weld)
        };
        let is_before = |numbers: &(u32, u32)| {
            let facet = self.surface().facet(self.facet_number(*numbers));
            let centre = self.centre.zip(facet);
            !centre.is_some_and(|(centre, facet)| facet.is_crossed([centre, centre + way]))
        };
        lists.touches.iter().all(is_clear) && lists.near.iter().all(is_before)
    }

    /// Collects the planes of touches, and the contacts with ridges and corners near the body, the
    /// shallowest first.
    fn find_candidates(&self, touches: &[Touch<V::Wide>], most: f64, lists: &mut Lists<V>) {
        let Lists {
            near,
            rims,
            candidates,
            ..
        } = lists;
        for numbers in near.iter() {
            let facet = self.surface().facet(self.facet_number(*numbers));
            let (Some(facet), Some(reach)) = (facet, self.reach_of(*numbers)) else {
                continue;
            };
            let depth = self.depth_of(*numbers, &facet).unwrap_or(0.0);
            let is_in = |rim: &Rim<_>| {
                reach.includes(|centre| (facet.on_rim(rim, centre) - centre).length())
            };
            let of_rim = |rim| NearRim {
                depth,
                numbers: *numbers,
                rim,
            };
            rims.extend(facet.rims().filter(is_in).map(of_rim));
        }
        rims.note();
        let is_same = |a: &NearRim<_>, b: &NearRim<_>| {
            let parts = [a, b].map(|it| self.body_number(it.numbers));
            let are_corners = [a, b].map(|it| it.rim.is_corner());
            a.rim.point == b.rim.point && parts[0] == parts[1] && are_corners[0] == are_corners[1]
        };
        rims.sort_unstable_by(|a, b| {
            let points = a.rim.point.total_cmp(b.rim.point);
            let parts = [a, b].map(|it| self.body_number(it.numbers));
            let corners = a.rim.is_corner().cmp(&b.rim.is_corner());
            let places = points.then(parts[0].cmp(&parts[1])).then(corners);
            let depths = a.depth.total_cmp(&b.depth);
            places.then(depths).then(a.numbers.cmp(&b.numbers))
        });
        rims.dedup_by(|a, b| is_same(a, b));
        rims.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        for touch in touches {
            candidates.push(*touch);
            candidates.extend(self.sides(touch).into_iter().flatten());
        }
        for NearRim { numbers, rim, .. } in rims.iter().take(MOST_RIMS) {
            candidates.extend(self.over_rim(*numbers, rim, most));
        }
        candidates.note();
        candidates.sort_unstable_by(|a, b| {
            let depths = a.contact.depth.total_cmp(&b.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        });
        candidates.dedup_by(|a, b| is_same_plane(a, b));
    }

    /// How deep a part of the body is under the plane of a facet, seen from the centre's side.
    fn depth_of(&self, numbers: (u32, u32), facet: &Facet<V::Wide>) -> Option<f64> {
        let [_, body] = self.of_surface_and_body(self.parts(numbers)?);
        let centre = self.centre.unwrap_or(V::Wide::ZERO);
        let outward = facet.normal
            * if facet.height(centre) >= 0.0 {
                1.0
            } else {
                -1.0
            };
        let (image, pose) = (body.image(), body.place.pose());
        let lowest = image.support(-(V::Wide::transpose(pose.rotation) * outward));
        let lowest = pose.rotation * lowest + pose.translation - self.surface().place.translation;
        Some(image.radius() - facet.height(lowest) * facet.normal.dot(outward))
    }

    /// The contacts over the plane of a facet that are not the touch: to the side of the centre, and
    /// to the other one, if the facet has two and the centre is not over it.
    fn sides(&self, touch: &Touch<V::Wide>) -> [Option<Touch<V::Wide>>; 2] {
        let facet = self.surface().facet(self.facet_number(touch.numbers));
        let (Some(facet), Some(centre)) = (facet, self.centre) else {
            return [None, None];
        };
        let outward = facet.normal
            * if facet.height(centre) >= 0.0 {
                1.0
            } else {
                -1.0
            };
        let is_plane = matches!(touch.kind, Kind::Plane);
        let has_two = !self.surface().is_one_sided() && !facet.is_below(centre);
        let over = |normal: V::Wide| {
            self.solve(touch.numbers, V::Wide::ZERO, |solver, _| {
                Some(self.over_plane(solver, touch.numbers, &facet, normal))
            })
        };
        let (own, other) = ((!is_plane).then_some(outward), has_two.then_some(-outward));
        [own.and_then(over), other.and_then(over)]
    }

    /// The contact of a part of the body with the facets around a point of the rim of one, if they
    /// are no plane there.
    fn over_rim(
        &self,
        numbers: (u32, u32),
        rim: &Rim<V::Wide>,
        most: f64,
    ) -> Option<Touch<V::Wide>> {
        let facet = self.surface().facet(self.facet_number(numbers))?;
        let corner = self.corner(numbers, rim, &facet)?;
        if self.centre.is_some_and(|centre| corner.holds(centre)) {
            return None;
        }
        let outward = corner.outward;
        let contact = self.contact_with(corner, numbers)?;
        let normal = self.turned(contact.normal);
        // Of a valley, seen from behind.
        let is_back = self.surface().is_one_sided() && normal.dot(outward) < -SAME_NORMAL;
        (contact.depth <= most && !is_back).then_some(Touch {
            numbers,
            normal,
            contact,
            kind: Kind::Nearest,
            weld: facet.weld,
        })
    }

    /// What is behind the facets around a point of the rim if each goes on as it begins there, to
    /// where no body reaches. Of a valley it is the space between its slopes. `None` if they lie in
    /// one plane, or there are too many.
    fn corner(
        &self,
        numbers: (u32, u32),
        rim: &Rim<V::Wide>,
        facet: &Facet<V::Wide>,
    ) -> Option<Corner<V>> {
        let [(centre, reach), _] = self.reach_of(numbers)?.balls;
        let far = FAR * (reach + (centre - rim.point).length());
        let mut ways = ArrayVec::<V::Wide, MOST_WAYS>::new();
        let (mut is_whole, mut is_flat) = (true, true);
        let mut outward = V::Wide::ZERO;
        let number = self.facet_number(numbers);
        let mut add = |other, corners: &[V::Wide]| {
            let Some(other) = self.surface().facet(other) else {
                return;
            };
            outward = outward + other.normal;
            for way in rim.ways(corners) {
                is_flat &= way.dot(facet.normal).abs() <= SAME_NORMAL;
                is_whole &= ways.try_push(way).is_ok();
            }
        };
        self.surface().facets_around(number, rim.weights, &mut add);
        if !is_whole || is_flat && are_all_around(&ways, facet.normal) {
            return None;
        }
        // The tree has no order that lasts.
        ways.sort_unstable_by(|a, b| a.total_cmp(*b));
        let tips = ways.iter().map(|way| rim.point + *way * far);
        let points = core::iter::once(rim.point).chain(tips).collect();
        Some(Corner {
            points,
            radius: 0.0,
            outward,
        })
    }

    /// The contact of the body with a corner in place of the facet.
    fn contact_with(
        &self,
        corner: Corner<V>,
        numbers: (u32, u32),
    ) -> Option<LocalContact<V::Wide>> {
        let [facet, body] = self.of_surface_and_body(self.parts(numbers)?);
        let radius = facet.image().radius();
        let corner = Corner { radius, ..corner };
        self.solve_corner(&corner, &facet, &body, |solver| {
            solver.hit().then(|| solver.contact())
        })
    }

    /// Calls `visit` with the solver of a corner and a body, in the order of the two proxies.
    fn solve_corner<R>(
        &self,
        corner: &Corner<V>,
        facet: &Part<V>,
        body: &Part<V>,
        visit: impl for<'s> FnOnce(&mut Solver<'s, AnyOf<'s, V>, AnyOf<'s, V>>) -> R,
    ) -> R {
        let pose = Pose {
            translation: facet.place.pose().translation,
            ..Pose::IDENTITY
        };
        let image = body.image();
        let (corner, image): (&AnyOf<V>, &AnyOf<V>) = (corner, &image);
        let body_pose = body.place.pose();
        let pair = if self.surface_is_first {
            Pair::new(corner, pose, image, body_pose)
        } else {
            Pair::new(image, body_pose, corner, pose)
        };
        visit(&mut Solver::new(pair.counted_by(self.counter)))
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

/// The convex hull of some points, with a radius.
struct Corner<V: Space> {
    points: ArrayVec<V::Wide, { MOST_WAYS + 1 }>,
    radius: f64,
    /// The sum of the normals of the facets.
    outward: V::Wide,
}

impl<V: Space> Corner<V> {
    /// Returns `true` if a point is in the hull.
    fn holds(&self, point: V::Wide) -> bool {
        let mut points = ArrayVec::new();
        points.push(point);
        let point = Self {
            points,
            radius: 0.0,
            outward: V::Wide::ZERO,
        };
        let pair = Pair::new(self, Pose::IDENTITY, &point, Pose::IDENTITY);
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
