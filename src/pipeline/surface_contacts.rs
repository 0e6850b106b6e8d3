//! What a contact with a surface is, and which facets have one.
//!
//! A facet alone is a thin plate, which a body leaves by its rim as well as by its front, if that
//! is nearer. In a surface it is no plate. What follows speaks of the surface as a set of points,
//! so that it does not matter how that is cut into facets.
//!
//! **Sides.** A body is on the side of a facet on which its centre is, and is pushed to that side. The back of a facet of a
//! one-sided surface is not there.
//!
//! **Cores apart.** Let x be the point of a facet that is nearest to the body's core, and n the unit vector from x to the core.
//! The facet has a contact in x if x is a local minimum of the distance on the whole surface:
//! no facet at x rises along n. A facet that rises there comes nearer to the core than x does, and
//! leads on to a local minimum of its own. So a ball gets the true normal and depth of the closest
//! point, and a seam gets none.
//!
//! ```text
//!        core                      core
//!         o                         o
//!         |n                      n/ \
//!   ______x______ T          _____x   \          T' rises along n:
//!                              T   \   \         T has no contact in x,
//!   n is T's own                 T' \___x'       T' has one in x'
//! ```
//!
//! **Cores overlapping.** Each facet has a depth along its own normal: how far the body has to move to clear the plane. Not
//! all of them have to be cleared so. From the shallowest to the deepest, a facet counts if the
//! body still overlaps it after the least move that clears all facets that count already. A crate
//! that has sunk into a kerb leaves it by the front or over the top, whichever is nearer; a crate
//! in a corner leaves both walls.
//!
//! **Edges and corners.** A facet that counts may be cleared by a shorter move along a normal that the surface has on its rim.
//! These are the normals along which no facet there rises: on a ridge, those between the normals of
//! its two slopes. To find the shortest move, the facets around a point of the rim are taken to go
//! on as they begin there. The convex hull of that is a wedge or a cone, and the contact with it is
//! that of any two convex shapes.

use core::ops::ControlFlow;

use super::{
    parts::event,
    proxy::{Part, Proxy},
    way_out::Lists,
};
use crate::{
    event::CollisionEvent,
    query::{Counter, LocalContact, Pair, Solver, tolerance::TOUCHING},
    shape::{Facet, Image, Rim, Shape, Support, weld},
    space::{Space, Wide},
};

/// A surface no larger than this part of another one is a body to it.
const SMALL: f64 = 0.5;

/// The sine of the angle up to which a facet does not rise along a normal: if the normal is that of
/// a ball, which is exact, or that of GJK, which leaves less, see
/// [`DISTANCE_GAP`](crate::query::tolerance::DISTANCE_GAP).
const EXACT: f64 = 1e-7;
const INEXACT: f64 = 3e-5;

/// A gap of more than this part of the scale is one for every solver: some times what counts as
/// touching.
const SURELY_APART: f64 = 8.0 * TOUCHING;

/// Depths that differ by no more than this part are equal, and the one of the first facet is taken.
const TIE: f64 = 1e-12;

/// A facet and a part of the body that touch.
#[derive(Clone, Copy)]
pub struct Touch<W> {
    /// The parts of the first and the second proxy.
    pub numbers: (u32, u32),
    /// From the surface to the body.
    pub normal: W,
    pub contact: LocalContact<W>,
    pub kind: Kind<W>,
    /// Points of the facet no farther apart are in one place.
    pub weld: f64,
}

/// What is known of a contact.
#[derive(Clone, Copy)]
pub enum Kind<W> {
    /// That of the nearest points of the cores.
    Nearest,
    /// The same, at a point of the facet's rim, told as a mean of its corners.
    Rim {
        rim: Rim<W>,
        /// The sine of the angle by which the normal may be off.
        error: f64,
    },
    /// Along the facet's own normal, by the depth that clears its plane.
    Plane,
}

/// A surface and what it meets.
pub struct Meeting<'a, V: Space> {
    a: &'a Proxy<V>,
    b: &'a Proxy<V>,
    /// `true` if `a` is the surface, and `b` the body.
    pub(super) surface_is_first: bool,
    /// The body's centre from the translation of the surface. `None` if the body is another surface
    /// that may be all around.
    pub(super) centre: Option<V::Wide>,
    /// The body, if it is one ball.
    ball: Option<Ball<'a, V>>,
    pub(super) counter: &'a Counter,
}

/// A part of the body that is a ball.
struct Ball<'a, V: Space> {
    part: Part<'a, V>,
    /// The middle, from the translation of the surface.
    core: V::Wide,
    radius: f64,
    /// Of each facet, as of a ball rolled over it.
    facet_radius: f64,
}

type SolverOf<'a, 'b, V> = Solver<'a, Image<'b, Shape<V>>, Image<'b, Shape<V>>>;

impl<'a, V: Space> Meeting<'a, V> {
    /// `None` if neither of the two is a surface, or the other one is a half-space, whose normal is the only way out.
    pub fn new(a: &'a Proxy<V>, b: &'a Proxy<V>, counter: &'a Counter) -> Option<Self> {
        if a.is_half_space() || b.is_half_space() {
            return None;
        }
        let (surface_is_first, is_body) = match (a.surface_size(), b.surface_size()) {
            (None, None) => return None,
            (Some(_), None) => (true, true),
            (None, Some(_)) => (false, true),
            // Of two surfaces the smaller is a body, if it is much smaller: a crate on a level, as
            // meshes.
            (Some(a), Some(b)) => (a >= b, a.min(b) <= SMALL * a.max(b)),
        };
        let (surface, body) = if surface_is_first { (a, b) } else { (b, a) };
        let centre = body.centre() + (body.place.translation - surface.place.translation);
        let mut meeting = Self {
            a,
            b,
            surface_is_first,
            centre: is_body.then_some(centre),
            ball: None,
            counter,
        };
        if body.image().is_some() {
            meeting.ball = meeting.ball(body.part(0)?);
        }
        Some(meeting)
    }

    /// A part of the body as a ball, if it is one, and the facets are no more than rounded.
    fn ball<'p>(&self, part: Part<'p, V>) -> Option<Ball<'p, V>> {
        let (core, radius) = {
            let image = part.image();
            let is_ball = image.block() == Some(V::Wide::ZERO) && self.centre.is_some();
            let core = part.place.translation - self.surface().place.translation;
            (is_ball.then_some(core)?, image.radius())
        };
        let facet_radius = self.surface().facet_radius()?;
        Some(Ball {
            part,
            core,
            radius,
            facet_radius,
        })
    }

    /// Adds the pairs of parts that may touch, if the body is one ball; or else returns `false`.
    pub fn add_near_ball(&self, near: &mut Vec<(u32, u32)>) -> bool {
        let Some(Ball { part, .. }) = &self.ball else {
            return false;
        };
        let Some(bounds) = part.extent.bounds() else {
            return false;
        };
        // With the room that the box has for what counts as touching.
        let radius = 0.5 * (bounds.max - bounds.min).component(0);
        let centre = part.place.translation;
        self.surface().parts_near_ball(centre, radius, |number| {
            near.push(self.of_surface_and_body([number, 0]).into());
        });
        true
    }

    /// What belongs to the surface and what to the body, of what belongs to the first proxy and the
    /// second.
    pub(super) fn of_surface_and_body<T>(&self, [first, second]: [T; 2]) -> [T; 2] {
        if self.surface_is_first {
            [first, second]
        } else {
            [second, first]
        }
    }

    pub(super) fn surface(&self) -> &'a Proxy<V> {
        let [surface, _] = self.of_surface_and_body([self.a, self.b]);
        surface
    }

    pub(super) fn facet_number(&self, numbers: (u32, u32)) -> u32 {
        let [number, _] = self.of_surface_and_body(numbers.into());
        number
    }

    pub(super) fn body_number(&self, numbers: (u32, u32)) -> u32 {
        let [_, number] = self.of_surface_and_body(numbers.into());
        number
    }

    /// The parts of the first and the second proxy with these numbers.
    pub(super) fn parts(&self, numbers: (u32, u32)) -> Option<[Part<'a, V>; 2]> {
        Some([self.a.part(numbers.0)?, self.b.part(numbers.1)?])
    }

    /// A direction from the first to the second, or back, for one from the surface to the body, or
    /// back.
    pub(super) fn turned(&self, normal: V::Wide) -> V::Wide {
        if self.surface_is_first {
            normal
        } else {
            -normal
        }
    }

    /// Adds the contacts of the pairs of parts in `near` that count to `parts`, and returns the
    /// deepest.
    pub fn find(
        &self,
        near: &[(u32, u32)],
        touches: &mut Vec<Touch<V::Wide>>,
        lists: &mut Lists<V>,
        parts: &mut Vec<CollisionEvent>,
    ) -> Option<CollisionEvent> {
        touches.clear();
        self.add_touches(near, touches);
        lists.begin(touches);
        self.judge_rims(touches);
        let order = |a: &Touch<_>, b: &Touch<_>| {
            let depths = a.contact.depth.total_cmp(&b.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        };
        touches.sort_unstable_by(order);
        self.keep_way_out(touches, lists);
        let mut deepest: Option<Touch<V::Wide>> = None;
        for touch in touches.iter() {
            parts.extend(self.event(touch));
            // In f64: a contact beside the closest point may be as deep in f32.
            let is_deeper = |best: Touch<V::Wide>| {
                let (own, others) = (touch.contact.depth, best.contact.depth);
                own > others * (1.0 + TIE)
                    || own >= others * (1.0 - TIE) && touch.numbers < best.numbers
            };
            if deepest.is_none_or(is_deeper) {
                deepest = Some(*touch);
            }
        }
        self.event(&deepest?)
    }

    /// Calls `visit` with two parts, the second of which is moved.
    pub(super) fn solve<R>(
        &self,
        numbers: (u32, u32),
        way: V::Wide,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        let [a, b] = self.parts(numbers)?;
        self.solve_parts([&a, &b], way, visit)
    }

    /// The same, with the parts at hand.
    fn solve_parts<R>(
        &self,
        [a, b]: [&Part<V>; 2],
        way: V::Wide,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        let (shape_a, shape_b) = (a.image(), b.image());
        let mut pose_b = b.place.pose();
        pose_b.translation = pose_b.translation + way;
        let pair = Pair::new(&shape_a, a.place.pose(), &shape_b, pose_b);
        let mut solver = Solver::new(pair.counted_by(self.counter));
        if !solver.hit() {
            return None;
        }
        visit(&mut solver, [a, b])
    }

    /// Adds what is known of the parts that touch, but for most of what
    /// [`judge_rims`](Self::judge_rims) would remove.
    fn add_touches(&self, near: &[(u32, u32)], touches: &mut Vec<Touch<V::Wide>>) {
        let mut deepest = 0.0;
        for touch in near.iter().filter_map(|numbers| self.touch(*numbers)) {
            // The closest of all stays, and is known at the end.
            let depth = touch.contact.depth;
            if depth < deepest && self.rises_beside(&touch) {
                continue;
            }
            deepest = depth.max(deepest);
            touches.push(touch);
        }
    }

    /// Returns `true` if the contact is that of a ball at a point where a facet rises that shares a
    /// vertex there, and has a contact of its own.
    fn rises_beside(&self, touch: &Touch<V::Wide>) -> bool {
        let Kind::Rim { rim, error } = touch.kind else {
            return false;
        };
        // Others that have the same point may have another normal, and are judged together.
        if error > EXACT {
            return false;
        }
        let weld = weld(&[rim.point]);
        let rises = |corners: &[V::Wide]| rim.rises(corners, touch.normal, error, weld);
        let number = self.facet_number(touch.numbers);
        let judge = |other| {
            if self.is_hidden_by_number(other) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let surface = self.surface();
        let found = surface.search_sharers(number, rim.weights, rises, judge);
        found.is_break()
    }

    /// Returns `true` if a facet is not there for the body, which is behind it.
    pub(super) fn is_hidden(&self, facet: &Facet<V::Wide>) -> bool {
        let is_behind = |centre| facet.height(centre) < 0.0;
        self.surface().is_one_sided() && self.centre.is_some_and(is_behind)
    }

    /// The same, of a facet by its number.
    fn is_hidden_by_number(&self, number: u32) -> bool {
        let surface = self.surface();
        surface.is_one_sided() && surface.facet(number).is_some_and(|it| self.is_hidden(&it))
    }

    /// What is known of two parts that touch, as far as one facet knows.
    fn touch(&self, numbers: (u32, u32)) -> Option<Touch<V::Wide>> {
        let facet = self.surface().facet(self.facet_number(numbers));
        if let (Some(facet), Some(ball)) = (&facet, &self.ball) {
            return self.touch_of_ball(numbers, facet, ball);
        }
        let [a, b] = &self.parts(numbers)?;
        if a.extent.is_apart_from(&b.extent) {
            return None;
        }
        let [_, body] = self.of_surface_and_body([self.a, self.b]);
        let part = body.part(self.body_number(numbers));
        if let (Some(facet), Some(ball)) = (&facet, part.and_then(|it| self.ball(it))) {
            return self.touch_of_ball(numbers, facet, &ball);
        }
        self.solve_parts([a, b], V::Wide::ZERO, |solver, parts| {
            let Some(facet) = facet else {
                // A map has left it without a normal.
                let contact = solver.contact();
                return Some(Touch {
                    numbers,
                    normal: self.turned(contact.normal),
                    contact,
                    kind: Kind::Nearest,
                    weld: 0.0,
                });
            };
            let outward = match self.centre {
                Some(centre) => self.outward(&facet, centre)?,
                // To the side to which the contact pushes.
                None => facet.normal.toward(self.turned(solver.contact().normal)),
            };
            if self.surface().is_one_sided() && outward != facet.normal {
                return None;
            }
            if !solver.cores_are_apart() {
                return Some(self.over_plane(solver, numbers, &facet, outward));
            }
            let contact = solver.contact();
            let normal = self.turned(contact.normal);
            let is_own = facet.is_own(normal);
            let rim = facet.rim(self.foot(parts, &contact)).filter(|_| !is_own);
            if self.leads_back(normal, rim.as_ref(), outward) {
                return Some(self.over_plane(solver, numbers, &facet, outward));
            }
            let error = INEXACT;
            Some(Touch {
                numbers,
                normal,
                contact,
                kind: rim.map_or(Kind::Nearest, |rim| Kind::Rim { rim, error }),
                weld: facet.weld,
            })
        })
    }

    /// The normal of a facet to the side of a centre; `None` if that is the back of a surface of
    /// one side.
    fn outward(&self, facet: &Facet<V::Wide>, centre: V::Wide) -> Option<V::Wide> {
        if facet.height(centre) >= 0.0 {
            Some(facet.normal)
        } else {
            (!self.surface().is_one_sided()).then_some(-facet.normal)
        }
    }

    /// The contact along a facet's own normal.
    pub(super) fn over_plane(
        &self,
        solver: &SolverOf<V>,
        numbers: (u32, u32),
        facet: &Facet<V::Wide>,
        outward: V::Wide,
    ) -> Touch<V::Wide> {
        Touch {
            numbers,
            normal: outward,
            contact: solver.contact_over(self.turned(outward), self.surface_is_first),
            kind: Kind::Plane,
            weld: facet.weld,
        }
    }

    /// Returns `true` if a normal leads away from the centre, to the other side of the facet: the
    /// nearest part of a compound may be there.
    fn leads_back(&self, normal: V::Wide, rim: Option<&Rim<V::Wide>>, outward: V::Wide) -> bool {
        match (rim, self.centre) {
            (Some(rim), Some(centre)) => (centre - rim.point).dot(normal) <= 0.0,
            (None, _) => normal.dot(outward) < 0.0,
            (Some(_), None) => false,
        }
    }

    /// The same as [`touch`](Self::touch) of a ball, in closed form, and so exact.
    fn touch_of_ball(
        &self,
        numbers: (u32, u32),
        facet: &Facet<V::Wide>,
        ball: &Ball<V>,
    ) -> Option<Touch<V::Wide>> {
        let (core, own, others) = (ball.core, ball.facet_radius, ball.radius);
        let rim = if facet.is_below(core) {
            None
        } else {
            facet.rim(core)
        };
        let height = facet.height(core);
        let (foot, normal) = match rim {
            Some(rim) => (rim.point, (core - rim.point).unit()),
            None if height < 0.0 => (core - facet.normal * height, Some(-facet.normal)),
            None => (core - facet.normal * height, Some(facet.normal)),
        };
        if !(own >= 0.0 && others >= 0.0) {
            return None;
        }
        let [first, second] = self.of_surface_and_body([own, others]);
        let depth = first + second - (core - foot).length();
        if depth < -SURELY_APART * (own + others + facet.farthest(core)) {
            return None;
        }
        let outward = self.outward(facet, self.centre?)?;
        let normal = normal.unwrap_or(outward);
        // What is apart by rounding touches; the solver has the measure for it.
        if depth < 0.0 || self.leads_back(normal, rim.as_ref(), outward) {
            let [a, b] = &self.parts(numbers)?;
            if a.extent.is_apart_from(&b.extent) {
                return None;
            }
            let touch = self.solve_parts([a, b], V::Wide::ZERO, |solver, _| {
                Some(self.over_plane(solver, numbers, facet, outward))
            });
            if depth >= 0.0 {
                return touch;
            }
            touch?;
        }
        // Each point from the translation of its own part, where the core of the ball is.
        let (on_facet, on_ball) = (foot + normal * own, -(normal * others));
        let [offset_a, offset_b] = if self.surface_is_first {
            [on_facet, on_ball]
        } else {
            [on_ball, on_facet]
        };
        let error = EXACT;
        Some(Touch {
            numbers,
            normal,
            contact: LocalContact {
                normal: self.turned(normal),
                depth: depth.max(0.0),
                offset_a,
                offset_b,
            },
            kind: rim.map_or(Kind::Nearest, |rim| Kind::Rim { rim, error }),
            weld: facet.weld,
        })
    }

    /// The point of a contact on the core of the facet, from the translation of the surface.
    pub(super) fn foot(&self, parts: [&Part<V>; 2], contact: &LocalContact<V::Wide>) -> V::Wide {
        let [a, b] = parts;
        if self.surface_is_first {
            contact.offset_a - contact.normal * a.image().radius()
        } else {
            contact.offset_b + contact.normal * b.image().radius()
        }
    }

    /// Removes the contacts at rims that are none of the surface.
    fn judge_rims(&self, touches: &mut Vec<Touch<V::Wide>>) {
        // Facets that have one point in common have one contact there with each part of the body,
        // which is judged once.
        let place = |touch: &Touch<V::Wide>| match touch.kind {
            Kind::Rim { rim, .. } => Some(rim.point),
            _ => None,
        };
        touches.sort_unstable_by(|a, b| {
            let (one, other) = (place(a), place(b));
            let places = match (one, other) {
                (Some(one), Some(other)) => one.total_cmp(other),
                _ => one.is_some().cmp(&other.is_some()),
            };
            let [one, other] = [a, b].map(|touch| self.body_number(touch.numbers));
            let parts = one.cmp(&other);
            places.then(parts).then(a.numbers.cmp(&b.numbers))
        });
        // The closest point of all is a minimum, whatever rounding makes of the facets around it.
        let is_shallow = |touch: &Touch<V::Wide>| !matches!(touch.kind, Kind::Plane);
        let deepest = touches
            .iter()
            .fold(0.0, |most: f64, it| most.max(it.contact.depth));
        let are_shallow = touches.iter().all(is_shallow);
        let is_closest = |touch: &Touch<V::Wide>| are_shallow && touch.contact.depth >= deepest;
        let mut last = None;
        let mut hidden = None;
        touches.retain(|touch| {
            let Kind::Rim { rim, error } = touch.kind else {
                return true;
            };
            let place = Some((rim.point, self.body_number(touch.numbers)));
            if last == place {
                return false;
            }
            last = place;
            let verdict = self.verdict(touch.numbers, &rim, touch.normal, error);
            if verdict == Verdict::RisesBehind {
                hidden = hidden.or(Some(touch.numbers));
            }
            verdict == Verdict::Counts || verdict == Verdict::Rises && is_closest(touch)
        });
        // What is behind a wall of one side has the floor before it yet.
        if touches.is_empty() {
            touches.extend(hidden.and_then(|numbers| self.levelled(numbers)));
        }
    }

    /// What the facets at a point say of a normal.
    fn verdict(
        &self,
        numbers: (u32, u32),
        rim: &Rim<V::Wide>,
        normal: V::Wide,
        error: f64,
    ) -> Verdict {
        let number = self.facet_number(numbers);
        let mut verdict = Verdict::Counts;
        let weld = weld(&[rim.point]);
        let rises = |corners: &[V::Wide]| rim.rises(corners, normal, error, weld);
        let judge = |other| {
            if self.is_hidden_by_number(other) {
                verdict = Verdict::RisesBehind;
                ControlFlow::Continue(())
            } else {
                verdict = Verdict::Rises;
                ControlFlow::Break(())
            }
        };
        self.surface()
            .search_around(number, rim.weights, rises, judge);
        verdict
    }

    /// The contact along the outer normal of a facet.
    fn levelled(&self, numbers: (u32, u32)) -> Option<Touch<V::Wide>> {
        self.solve(numbers, V::Wide::ZERO, |solver, _| {
            let facet = self.surface().facet(self.facet_number(numbers))?;
            Some(self.over_plane(solver, numbers, &facet, facet.normal))
        })
    }

    fn event(&self, touch: &Touch<V::Wide>) -> Option<CollisionEvent> {
        let [a, b] = self.parts(touch.numbers)?;
        Some(event(
            (self.a, a.number, a.place.pose()),
            (self.b, b.number, b.place.pose()),
            &touch.contact,
        ))
    }
}

/// What the facets at a point say of a normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// None rises along it.
    Counts,
    /// One does that has a contact of its own.
    Rises,
    /// One does of which only the back is met.
    RisesBehind,
}
