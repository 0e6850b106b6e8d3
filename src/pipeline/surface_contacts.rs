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

use arrayvec::ArrayVec;

use super::{
    parts::event,
    proxy::{Part, Proxy},
};
use crate::{
    event::CollisionEvent,
    query::{Counter, LocalContact, Pair, Solver, tolerance::SAME_NORMAL},
    shape::{Facet, Image, Rim, Shape, Support, weld},
    space::{Pose, Space, Wide},
};

/// A surface no larger than this part of another one is a body to it.
const SMALL: f64 = 0.5;

/// A body has cleared a facet that it overlaps by no more than this part of its move.
const CLEARED: f64 = 1e-5;

/// A depth that exceeds another one by no more than this part of it is the same: the rounding of
/// f32, some times.
const SAME_DEPTH: f64 = 1e-6;

/// The sine of the angle up to which a facet does not rise along a normal: if the normal is that of
/// a ball, which is exact, or that of GJK, which leaves less, see
/// [`DISTANCE_GAP`](crate::query::tolerance::DISTANCE_GAP).
const EXACT: f64 = 1e-7;
const INEXACT: f64 = 3e-5;

/// Depths that differ by no more than this part are equal, and the one of the first facet is taken.
const TIE: f64 = 1e-12;

/// No more planes are cleared at once.
const MOST_PLANES: usize = 16;

/// A corner of more facets than have so many ways into them is not looked at.
const MOST_WAYS: usize = 96;

/// No more facets in one plane are looked at for the shallowest contact.
const MOST_LEVEL: usize = 16;

/// Facets go on so many times as far as the body is large.
const FAR: f64 = 8.0;

/// Passes over the facets that count, to find the move that clears them. In a corner a few do.
const MAX_PASSES: usize = 32;

/// A facet and a part of the body that touch.
#[derive(Clone, Copy)]
pub struct Touch<W> {
    /// The parts of the first and the second proxy.
    numbers: (u32, u32),
    /// From the surface to the body.
    normal: W,
    contact: LocalContact<W>,
    kind: Kind<W>,
    /// Points of the facet no farther apart are in one place.
    weld: f64,
}

/// What may be left of a depth that a move clears, by rounding.
fn slop<W: Wide>(touch: &Touch<W>, way: W) -> f64 {
    CLEARED * way.length() + 0.125 * touch.weld
}

/// What is known of a contact.
#[derive(Clone, Copy)]
enum Kind<W> {
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
    surface_is_first: bool,
    /// The body's centre from the translation of the surface. `None` if the body is another surface
    /// that may be all around.
    centre: Option<V::Wide>,
    counter: &'a Counter,
}

/// Any shape of a space.
type AnyOf<'s, V> = dyn Support<Vector = V> + 's;

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
        Some(Self {
            a,
            b,
            surface_is_first,
            centre: is_body.then_some(centre),
            counter,
        })
    }

    /// What belongs to the surface and what to the body, of what belongs to the first proxy and the
    /// second.
    fn of_surface_and_body<T>(&self, [first, second]: [T; 2]) -> [T; 2] {
        if self.surface_is_first {
            [first, second]
        } else {
            [second, first]
        }
    }

    fn surface(&self) -> &'a Proxy<V> {
        let [surface, _] = self.of_surface_and_body([self.a, self.b]);
        surface
    }

    fn facet_number(&self, numbers: (u32, u32)) -> u32 {
        let [number, _] = self.of_surface_and_body(numbers.into());
        number
    }

    fn body_number(&self, numbers: (u32, u32)) -> u32 {
        let [_, number] = self.of_surface_and_body(numbers.into());
        number
    }

    /// The parts of the first and the second proxy with these numbers.
    fn parts(&self, numbers: (u32, u32)) -> Option<[Part<'a, V>; 2]> {
        Some([self.a.part(numbers.0)?, self.b.part(numbers.1)?])
    }

    /// A direction from the first to the second, or back, for one from the surface to the body, or
    /// back.
    fn turned(&self, normal: V::Wide) -> V::Wide {
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
        parts: &mut Vec<CollisionEvent>,
    ) -> Option<CollisionEvent> {
        touches.clear();
        touches.extend(near.iter().filter_map(|numbers| self.touch(*numbers)));
        self.judge_rims(touches);
        let order = |a: &Touch<_>, b: &Touch<_>| {
            let depths = a.contact.depth.total_cmp(&b.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        };
        touches.sort_unstable_by(order);
        let mut escape = Escape::<V::Wide>::default();
        let mut deepest: Option<Touch<V::Wide>> = None;
        // Facets whose contact stands for that of another one in their plane.
        let mut taken = ArrayVec::<(u32, u32), MOST_PLANES>::new();
        for index in 0..touches.len() {
            let Some((touch, rest)) = touches.get_mut(index..).and_then(<[_]>::split_first_mut)
            else {
                break;
            };
            if taken.contains(&touch.numbers) {
                continue;
            }
            let left = touch.contact.depth - escape.way.dot(touch.normal);
            if left > slop(touch, escape.way) {
                let is_plane = matches!(touch.kind, Kind::Plane);
                if is_plane && escape.leads_out && self.is_cleared(touch, escape.way) {
                    continue;
                }
                if is_plane && !taken.is_full() {
                    let numbers = touch.numbers;
                    *touch = self.shallowest(touch, rest);
                    taken.extend((touch.numbers != numbers).then_some(touch.numbers));
                }
                escape.add(touch.normal, touch.contact.depth);
            }
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
    fn solve<R>(
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

    /// What is known of two parts that touch, as far as one facet knows.
    fn touch(&self, numbers: (u32, u32)) -> Option<Touch<V::Wide>> {
        let [a, b] = &self.parts(numbers)?;
        if a.extent.is_apart_from(&b.extent) {
            return None;
        }
        let [_, body] = self.of_surface_and_body([a, b]);
        let facet = self.surface().facet(self.facet_number(numbers));
        if let (Some(facet), Some(centre)) = (&facet, self.centre)
            && body.image().block() == Some(V::Wide::ZERO)
        {
            let outward = self.outward(facet, centre)?;
            return self.touch_of_ball(numbers, facet, outward, [a, b]);
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
    fn over_plane(
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
        outward: V::Wide,
        parts: [&Part<V>; 2],
    ) -> Option<Touch<V::Wide>> {
        let core = self.core_point(parts);
        let rim = facet.rim(core).filter(|_| !facet.is_below(core));
        let height = facet.height(core);
        let (foot, normal) = match rim {
            Some(rim) => (rim.point, (core - rim.point).unit()),
            None if height < 0.0 => (core - facet.normal * height, Some(-facet.normal)),
            None => (core - facet.normal * height, Some(facet.normal)),
        };
        let normal = normal.unwrap_or(outward);
        let radii = parts.map(|part| part.image().radius());
        let [first, second] = radii;
        if !(first >= 0.0 && second >= 0.0) {
            return None;
        }
        let depth = first + second - (core - foot).length();
        // What is apart by rounding touches; the solver has the measure for it.
        if depth < 0.0 || self.leads_back(normal, rim.as_ref(), outward) {
            let touch = self.solve_parts(parts, V::Wide::ZERO, |solver, _| {
                Some(self.over_plane(solver, numbers, facet, outward))
            });
            if depth >= 0.0 {
                return touch;
            }
            touch?;
        }
        // Each point from the translation of its own part, where the core of the ball is.
        let [own, others] = if self.surface_is_first {
            radii
        } else {
            [second, first]
        };
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

    /// The core of a ball, from the translation of the surface.
    fn core_point(&self, parts: [&Part<V>; 2]) -> V::Wide {
        let [_, body] = self.of_surface_and_body(parts);
        body.place.translation - self.surface().place.translation
    }

    /// The point of a contact on the core of the facet, from the translation of the surface.
    fn foot(&self, parts: [&Part<V>; 2], contact: &LocalContact<V::Wide>) -> V::Wide {
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
        let is_one_sided = self.surface().is_one_sided();
        let weld = weld(&[rim.point]);
        self.surface()
            .facets_around(number, rim.weights, |other, corners| {
                if verdict == Verdict::Rises || !rim.rises(corners, normal, error, weld) {
                    return;
                }
                let is_behind = |facet: Facet<V::Wide>| {
                    self.centre.is_some_and(|centre| facet.height(centre) < 0.0)
                };
                let is_hidden = is_one_sided && self.surface().facet(other).is_some_and(is_behind);
                verdict = if is_hidden {
                    Verdict::RisesBehind
                } else {
                    Verdict::Rises
                };
            });
        verdict
    }

    /// The contact along the outer normal of a facet.
    fn levelled(&self, numbers: (u32, u32)) -> Option<Touch<V::Wide>> {
        self.solve(numbers, V::Wide::ZERO, |solver, _| {
            let facet = self.surface().facet(self.facet_number(numbers))?;
            Some(self.over_plane(solver, numbers, &facet, facet.normal))
        })
    }

    /// Returns `true` if a move clears a facet.
    fn is_cleared(&self, touch: &Touch<V::Wide>, way: V::Wide) -> bool {
        let left = self.solve(touch.numbers, self.turned(way), |solver, _| {
            (solver.contact().depth > slop(touch, way)).then_some(())
        });
        left.is_none()
    }

    /// The shallowest contact of a facet, and of those others that lie in its plane: along its own
    /// normal, or along one that the surface has on the rim.
    fn shallowest(&self, touch: &Touch<V::Wide>, others: &[Touch<V::Wide>]) -> Touch<V::Wide> {
        let deepest = touch.contact.depth + slop(touch, touch.normal * touch.contact.depth);
        let others = others.iter().take_while(|it| it.contact.depth <= deepest);
        let is_level = |it: &&Touch<V::Wide>| (it.normal - touch.normal).length() <= SAME_NORMAL;
        let level = others.filter(is_level).take(MOST_LEVEL);
        let mut best = *touch;
        for touch in core::iter::once(touch).chain(level) {
            if let Some(shallower) = self.refined(touch)
                && shallower.contact.depth < best.contact.depth * (1.0 - SAME_DEPTH)
            {
                best = shallower;
            }
        }
        best
    }

    /// A contact shallower than that along a facet's own normal, if the surface has its normal
    /// where the two touch.
    fn refined(&self, touch: &Touch<V::Wide>) -> Option<Touch<V::Wide>> {
        let numbers = touch.numbers;
        let facet = self.surface().facet(self.facet_number(numbers))?;
        // That of the facet alone is no deeper than any of the surface.
        let alone = self.solve(numbers, V::Wide::ZERO, |solver, parts| {
            let contact = solver.contact();
            if contact.depth >= touch.contact.depth * (1.0 - SAME_DEPTH) {
                return None;
            }
            Some((contact, facet.rim(self.foot(parts, &contact))?))
        });
        let (contact, rim) = alone?;
        let found = |contact: LocalContact<V::Wide>| Touch {
            normal: self.turned(contact.normal),
            contact,
            kind: Kind::Nearest,
            ..*touch
        };
        if let Some(corner) = self.corner(numbers, &rim)
            && self.admits(&found(contact), touch.normal, &rim)
            && !self.centre.is_some_and(|centre| corner.holds(centre))
        {
            return Some(found(contact));
        }
        let rims = facet.rims().filter_map(|rim| {
            let corner = self.corner(numbers, &rim)?;
            if self.centre.is_some_and(|centre| corner.holds(centre)) {
                return None;
            }
            let found = found(self.contact_with(corner, numbers)?);
            self.admits(&found, touch.normal, &rim).then_some(found)
        });
        let shallower = |a: Touch<_>, b: Touch<_>| {
            let is_shallower = b.contact.depth < a.contact.depth;
            if is_shallower { b } else { a }
        };
        rims.reduce(shallower)
    }

    /// Returns `true` if the surface has the normal of a contact at a point of the rim, on the side
    /// of `outward`.
    fn admits(&self, touch: &Touch<V::Wide>, outward: V::Wide, rim: &Rim<V::Wide>) -> bool {
        touch.normal.dot(outward) >= -SAME_NORMAL
            && self.verdict(touch.numbers, rim, touch.normal, INEXACT) == Verdict::Counts
    }

    /// What is behind the facets around a point of the rim if each goes on as it begins there, to
    /// where no body reaches. Of a valley it is the space between its slopes. `None` if there are
    /// too many facets.
    fn corner(&self, numbers: (u32, u32), rim: &Rim<V::Wide>) -> Option<Corner<V>> {
        let [_, body] = self.of_surface_and_body(self.parts(numbers)?);
        let bounds = body.extent.bounds()?;
        let middle = (bounds.min + bounds.max) * 0.5 - self.surface().place.translation;
        let size = (bounds.max - bounds.min).length() + (middle - rim.point).length();
        let far = FAR * size;
        let mut points = ArrayVec::new();
        points.push(rim.point);
        let mut is_whole = true;
        let number = self.facet_number(numbers);
        let mut add = |_, corners: &[V::Wide]| {
            for way in rim.ways(corners) {
                is_whole &= points.try_push(rim.point + way * far).is_ok();
            }
        };
        self.surface().facets_around(number, rim.weights, &mut add);
        // The tree has no order that lasts.
        points.sort_unstable_by(|a: &V::Wide, b| a.total_cmp(*b));
        is_whole.then_some(Corner {
            points,
            radius: 0.0,
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

    fn event(&self, touch: &Touch<V::Wide>) -> Option<CollisionEvent> {
        let [a, b] = self.parts(touch.numbers)?;
        Some(event(
            (self.a, a.number, a.place.pose()),
            (self.b, b.number, b.place.pose()),
            &touch.contact,
        ))
    }
}

/// The convex hull of some points, with a radius.
struct Corner<V: Space> {
    points: ArrayVec<V::Wide, MOST_WAYS>,
    radius: f64,
}

impl<V: Space> Corner<V> {
    /// Returns `true` if a point is in the hull.
    fn holds(&self, point: V::Wide) -> bool {
        let mut points = ArrayVec::new();
        points.push(point);
        let point = Self {
            points,
            radius: 0.0,
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
        if planes.try_push((normal, depth, 0.0)).is_err() {
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
