//! The contact of one facet and one part of a body, regardless of the facets around.

use crate::{
    pipeline::{narrow_phase::surface::Meeting, proxy::Part},
    query::{LocalContact, Pair, Solver},
    shape::{BoundaryPoint, Facet, ScaledShape, Shape, Support},
    space::{DVector, Space},
    tolerance::{SAME_NORMAL, TOUCHING},
};

/// The sine of the angle up to which a facet does not rise along the normal of a ball, which has a
/// closed form.
pub const EXACT: f64 = 1e-7;

/// The same threshold for normals computed by GJK: twice their error, see
/// [`DISTANCE_GAP`](crate::tolerance::DISTANCE_GAP).
pub const INEXACT: f64 = 3e-5;

/// Depths are the same if one exceeds the other by no more than this part of it: about 8 roundings
/// of f32.
pub const SAME_DEPTH: f64 = 1e-6;

/// With a gap of more than this part of the scale, no solver says that two shapes touch.
const SURELY_APART: f64 = 8.0 * TOUCHING;

/// A facet and a part of the body that touch.
#[derive(Clone, Copy)]
pub struct Touch<D> {
    /// The parts of the first and the second proxy.
    pub numbers: (u32, u32),
    /// From the surface to the body.
    pub normal: D,
    pub contact: LocalContact<D>,
    pub kind: Kind<D>,
    /// Points of the facet no farther apart than this are one.
    pub weld: f64,
}

/// Where a contact comes from.
#[derive(Clone, Copy)]
pub enum Kind<D> {
    /// The nearest points of the cores, within the facet. Also an edge or corner of the surface
    /// that a way out leads over.
    Nearest,
    /// The nearest points of the cores, on the facet's rim.
    Rim {
        rim: BoundaryPoint<D>,
        /// The sine of the angle by which the normal may be off.
        error: f64,
    },
    /// Along the facet's own normal, by the depth that clears its plane.
    Plane,
}

/// Returns `true` if two touches have one normal and depth.
pub fn is_same_plane<D: DVector>(a: &Touch<D>, b: &Touch<D>) -> bool {
    let depths = (a.contact.depth - b.contact.depth).abs();
    (a.normal - b.normal).length() <= SAME_NORMAL && depths <= SAME_DEPTH * b.contact.depth
}

/// A part of the body that is a ball.
pub struct Ball<'a, V: Space> {
    part: Part<'a, V>,
    /// The centre, from the translation of the surface.
    core: V::DVec,
    radius: f64,
    /// The radius of each facet.
    facet_radius: f64,
}

type SolverOf<'a, 'b, V> = Solver<'a, ScaledShape<'b, Shape<V>>, ScaledShape<'b, Shape<V>>>;

impl<'a, V: Space> Meeting<'a, V> {
    /// Returns a part of the body as a ball. `None` if it is not a ball, or if a map makes the
    /// facets' margin something other than a radius.
    pub(super) fn ball<'p>(&self, part: Part<'p, V>) -> Option<Ball<'p, V>> {
        let (core, radius) = {
            let image = part.scaled_shape();
            let is_ball = image.core().is_point() && self.centre.is_some();
            let core = part.world_pose.translation - self.surface().world_pose.translation;
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

    /// If the body is one ball, adds the pairs of parts that may touch. Returns `false` if not.
    pub fn add_near_ball(&self, near: &mut Vec<(u32, u32)>) -> bool {
        let Some(Ball { part, .. }) = &self.ball else {
            return false;
        };
        let Some(bounds) = part.region.bounds() else {
            return false;
        };
        // Half of the box, which includes the tolerance for touching.
        let radius = 0.5 * (bounds.max - bounds.min).component(0);
        let centre = part.world_pose.translation;
        self.surface().parts_near_ball(centre, radius, |number| {
            near.push(self.of_surface_and_body([number, 0]).into());
        });
        true
    }

    /// Adds the touches of pairs of parts. Most of those that [`judge_rims`](Self::judge_rims)
    /// would remove are left out.
    pub(super) fn add_touches(&self, near: &[(u32, u32)], touches: &mut Vec<Touch<V::DVec>>) {
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

    /// The touch of two parts, or `None` if they do not touch.
    pub(super) fn touch(&self, numbers: (u32, u32)) -> Option<Touch<V::DVec>> {
        let facet = self.surface().facet(self.facet_number(numbers));
        if let (Some(facet), Some(ball)) = (&facet, &self.ball) {
            return self.touch_of_ball(numbers, facet, ball);
        }
        let [a, b] = &self.parts(numbers)?;
        if a.region.is_apart_from(&b.region) {
            return None;
        }
        let part = self.body().part(self.body_number(numbers));
        if let (Some(facet), Some(ball)) = (&facet, part.and_then(|it| self.ball(it))) {
            return self.touch_of_ball(numbers, facet, &ball);
        }
        self.solve_parts([a, b], V::DVec::ZERO, |solver, parts| {
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
            let is_own = facet.has_normal(normal);
            let rim = facet
                .nearest_boundary(self.foot(parts, &contact))
                .filter(|_| !is_own);
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

    /// The normal of a facet to the side of a centre. `None` at the back of a one-sided surface.
    fn outward(&self, facet: &Facet<V::DVec>, centre: V::DVec) -> Option<V::DVec> {
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
        facet: &Facet<V::DVec>,
        outward: V::DVec,
    ) -> Touch<V::DVec> {
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
    fn leads_back(
        &self,
        normal: V::DVec,
        rim: Option<&BoundaryPoint<V::DVec>>,
        outward: V::DVec,
    ) -> bool {
        match (rim, self.centre) {
            (Some(rim), Some(centre)) => (centre - rim.point).dot(normal) <= 0.0,
            (None, _) => normal.dot(outward) < 0.0,
            (Some(_), None) => false,
        }
    }

    /// Like [`touch`](Self::touch), but for a ball, in closed form.
    fn touch_of_ball(
        &self,
        numbers: (u32, u32),
        facet: &Facet<V::DVec>,
        ball: &Ball<V>,
    ) -> Option<Touch<V::DVec>> {
        let (core, own, others) = (ball.core, ball.facet_radius, ball.radius);
        let rim = if facet.is_under(core) {
            None
        } else {
            facet.nearest_boundary(core)
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
        if depth < -SURELY_APART * (own + others + facet.max_distance(core)) {
            return None;
        }
        let outward = self.outward(facet, self.centre?)?;
        let normal = normal.unwrap_or(outward);
        // Shapes that are apart by rounding touch. The solver has the tolerance.
        if depth < 0.0 || self.leads_back(normal, rim.as_ref(), outward) {
            let [a, b] = &self.parts(numbers)?;
            if a.region.is_apart_from(&b.region) {
                return None;
            }
            let touch = self.solve_parts([a, b], V::DVec::ZERO, |solver, _| {
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
    pub(super) fn foot(&self, parts: [&Part<V>; 2], contact: &LocalContact<V::DVec>) -> V::DVec {
        let [a, b] = parts;
        if self.surface_is_first {
            contact.offset_a - contact.normal * a.scaled_shape().radius()
        } else {
            contact.offset_b + contact.normal * b.scaled_shape().radius()
        }
    }

    /// Calls `visit` with two parts and their solver if they touch after the second one has moved
    /// by `way`.
    pub(super) fn solve<R>(
        &self,
        numbers: (u32, u32),
        way: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        let [a, b] = self.parts(numbers)?;
        self.solve_parts([&a, &b], way, visit)
    }

    /// The same, with the parts at hand.
    fn solve_parts<R>(
        &self,
        [a, b]: [&Part<V>; 2],
        way: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>, [&Part<V>; 2]) -> Option<R>,
    ) -> Option<R> {
        self.solve_apart([a, b], way, |solver| {
            if !solver.hit() {
                return None;
            }
            visit(solver, [a, b])
        })
    }

    /// The same, whether the parts touch or not.
    fn solve_apart<R>(
        &self,
        [a, b]: [&Part<V>; 2],
        way: V::DVec,
        visit: impl FnOnce(&mut SolverOf<V>) -> Option<R>,
    ) -> Option<R> {
        let (shape_a, shape_b) = (a.scaled_shape(), b.scaled_shape());
        let mut pose_b = b.world_pose.pose();
        pose_b.translation = pose_b.translation + way;
        let pair = Pair::new(&shape_a, a.world_pose.pose(), &shape_b, pose_b);
        visit(&mut Solver::new(pair.counted_by(self.counter)))
    }

    /// The normal from the surface to the body after a translation of the body, of their contact or
    /// of their nearest points.
    pub(super) fn normal_after(&self, numbers: (u32, u32), way: V::DVec) -> Option<V::DVec> {
        let [a, b] = self.parts(numbers)?;
        self.solve_apart([&a, &b], self.turned(way), |solver| {
            let contact = if solver.hit() {
                solver.contact()
            } else {
                solver.distance()?.1
            };
            Some(self.turned(contact.normal))
        })
    }
}
