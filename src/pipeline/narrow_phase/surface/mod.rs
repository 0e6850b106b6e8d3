//! What a contact with a surface is, and which facets have one.
//!
//! A single facet is a thin plate: a body leaves it through the front or past the rim, whichever is
//! nearer. As a part of a surface it is no plate. So contacts are defined by the surface as a set
//! of points, and do not depend on how that set is cut into facets.
//!
//! **Sides.** A body is on the side of a facet on which its centre is, and is pushed to that side.
//! A facet of a one-sided surface is ignored while the centre is behind its plane.
//!
//! **Cores apart.** Let x be the point of a facet that is nearest to the body's core, and n the
//! unit vector from x to the core. The facet has a contact in x if x is a local minimum of the
//! distance on the whole surface: no facet at x rises along n. A facet that rises there comes
//! nearer to the core than x does, and leads on to a local minimum of its own. So a ball gets the
//! true normal and depth of the closest point, and a seam gets none.
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
//! **Cores overlapping.** The body is pushed the shortest way out: the least move after which it
//! has cleared all that it touches, and on which its centre has gone through no facet. Each plane,
//! edge and corner over which that way leads is a contact. So a crate that has sunk into a kerb
//! leaves it by the front or over the top, whichever is nearer, and a crate in a corner leaves both
//! walls. `way_out.rs` says how the way is found.
//!
//! The files, in the order in which a pair goes through them:
//!
//! * `touch.rs` computes the contact of one facet and one part of the body.
//! * `rims.rs` removes contacts at rims that are no local minima.
//! * `way_out.rs` finds the shortest way out. `near.rs` collects its candidates, from
//!   `body_part.rs` (the facets near a part) and `corner.rs` (edges and corners). `escape.rs`
//!   computes the least move that clears some of them.

mod aside;
mod body_part;
mod corner;
mod escape;
mod lists;
mod near;
mod rims;
mod touch;
mod way_out;

use crate::{
    pipeline::{
        narrow_phase::event::PartContact,
        proxy::{Part, Proxy},
    },
    query::Counter,
    shape::Facet,
    space::Space,
};
pub use lists::Lists;
use touch::Ball;
pub use touch::Touch;

/// A surface no larger than this part of another one is a body to it.
const SMALL: f64 = 0.5;

/// Depths that differ by no more than this part are equal. Of these the first facet's is the event.
const TIE: f64 = 1e-12;

/// A pair of a surface and a body that may touch it.
pub struct Meeting<'a, V: Space> {
    a: &'a Proxy<V>,
    b: &'a Proxy<V>,
    /// `true` if `a` is the surface, and `b` the body.
    pub(super) surface_is_first: bool,
    /// The body's centre from the translation of the surface. `None` if the body is another surface
    /// that may be all around.
    pub(super) centre: Option<V::DVec>,
    /// The body, if it is one ball.
    ball: Option<Ball<'a, V>>,
    pub(super) counter: &'a Counter,
}

impl<'a, V: Space> Meeting<'a, V> {
    /// `None` if neither of the two is a surface, or the other one is a half-space, whose normal is
    /// the only way out.
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
        let centre = body.centre() + (body.world_pose.translation - surface.world_pose.translation);
        let mut meeting = Self {
            a,
            b,
            surface_is_first,
            centre: is_body.then_some(centre),
            ball: None,
            counter,
        };
        if body.scaled_shape().is_some() {
            meeting.ball = meeting.ball(body.part(0)?);
        }
        Some(meeting)
    }

    /// Reorders two values from first and second proxy to surface and body, or back.
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

    fn body(&self) -> &'a Proxy<V> {
        let [_, body] = self.of_surface_and_body([self.a, self.b]);
        body
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

    /// Converts a direction between the pair's order (first to second) and the order of roles
    /// (surface to body).
    pub(super) fn turned(&self, normal: V::DVec) -> V::DVec {
        if self.surface_is_first {
            normal
        } else {
            -normal
        }
    }

    /// Returns `true` if the surface is one-sided and the centre is behind the facet.
    pub(super) fn is_hidden(&self, facet: &Facet<V::DVec>) -> bool {
        let is_behind = |centre| facet.height(centre) < 0.0;
        self.surface().is_one_sided() && self.centre.is_some_and(is_behind)
    }

    /// Calls `visit` with the contacts that count, of the pairs of parts in `near`, and returns the
    /// deepest.
    pub fn find(
        &self,
        near: &[(u32, u32)],
        touches: &mut Vec<Touch<V::DVec>>,
        lists: &mut Lists<V>,
        visit: impl FnMut(PartContact<V::DVec>),
    ) -> Option<PartContact<V::DVec>> {
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
        let contacts = touches.iter().filter_map(|touch| self.part_contact(touch));
        contacts.for_each(visit);
        let mut deepest: Option<Touch<V::DVec>> = None;
        for touch in touches.iter() {
            // In f64: a contact beside the closest point may be as deep in f32.
            let is_deeper = |best: Touch<V::DVec>| {
                let (own, others) = (touch.contact.depth, best.contact.depth);
                own > others * (1.0 + TIE)
                    || own >= others * (1.0 - TIE) && touch.numbers < best.numbers
            };
            if deepest.is_none_or(is_deeper) {
                deepest = Some(*touch);
            }
        }
        self.part_contact(&deepest?)
    }

    /// Returns `true` if a pair of parts has a contact.
    pub fn touches(&self, numbers: (u32, u32)) -> bool {
        self.touch(numbers).is_some()
    }

    /// Returns `true` if the facet of a pair of parts is ignored: it is one-sided, and the centre of
    /// the body is behind it.
    pub fn ignores(&self, numbers: (u32, u32)) -> bool {
        let facet = self.surface().facet(self.facet_number(numbers));
        facet.is_some_and(|facet| self.is_hidden(&facet))
    }

    fn part_contact(&self, touch: &Touch<V::DVec>) -> Option<PartContact<V::DVec>> {
        let [a, b] = &self.parts(touch.numbers)?;
        Some(PartContact::of_parts(
            (self.a, a),
            (self.b, b),
            &touch.contact,
        ))
    }
}
