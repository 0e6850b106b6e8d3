//! A pair of moving shapes: its pose and its separation along an axis, as functions of time.
//!
//! The separation of two cores along a unit vector n, with their radii, is
//!
//! ```text
//! s(t) = min { n·x | x in the second core } - max { n·x | x in the first core } - radii
//! ```
//!
//! s(t) takes two support points, and is a lower bound on the distance. See `axis.rs` for bounds of
//! its derivatives.

use crate::{
    query::{
        analytic::half_space::HalfSpaceSolver,
        cast::{
            axis::{Axis, RateBounds, Separation, rates_along_turning_axis},
            body::Body,
            core_box::{CoreBox, pair_size},
            motion::Motion64,
        },
        gjk::{Gjk, Goal, State},
        minkowski::{MinkowskiDifference, Pair},
        penetration::Penetration,
        results::Contact64,
        solver::Solver,
    },
    shape::{DVecOf, Support},
    space::{DVector, Pose},
};

/// An axis that continues a rotation is at most this many times as fast as the shapes.
const MAX_AXIS_TURN: f64 = 2.0;

/// The cores of a pair at one time, with the distance between the shapes.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<D: DVector> {
    /// The distance between the shapes, negative if they overlap.
    pub gap: f64,
    pub axis: Axis<D>,
    /// The nearest points of the cores.
    pub cores: Penetration<D>,
    /// `true` if the direction of the axis is known.
    pub is_apart: bool,
}

/// A pair of moving shapes.
pub struct MovingPair<'a, A: Support + ?Sized, B: ?Sized> {
    /// At the start.
    pub start: Pair<'a, A, B>,
    /// In the order of the pair.
    bodies: [Body<DVecOf<A>>; 2],
    /// `true` for a shape whose core is a point: its rotation is ignored.
    is_point: [bool; 2],
    /// The size of the pair: half the diagonals of the boxes around the cores, plus the radii.
    pub size: f64,
    /// A bound on the rounding errors of relative positions.
    pub rounding: f64,
    /// The index of the half-space, if there is one.
    half_space: Option<usize>,
    is_rotating: bool,
}

impl<'a, A, B> MovingPair<'a, A, B>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    /// Returns `None` if a shape is invalid, or if both are half-spaces.
    pub fn new(
        a: &'a A,
        (pose_a, motion_a): (Pose<DVecOf<A>>, Motion64<DVecOf<A>>),
        b: &'a B,
        (pose_b, motion_b): (Pose<DVecOf<A>>, Motion64<DVecOf<A>>),
    ) -> Option<Self> {
        let start = Pair::new(a, pose_a, b, pose_b);
        let boxes = [CoreBox::new(a), CoreBox::new(b)];
        let bodies = |origin| {
            [(pose_a, motion_a, &boxes[0]), (pose_b, motion_b, &boxes[1])]
                .map(|(pose, motion, around)| Body::new(pose, origin, motion, around.farthest))
        };
        let is_point = [a.core().is_point(), b.core().is_point()];
        let half_spaces = [&boxes[0], &boxes[1]].map(|around| around.is_half_space);
        let (bodies, is_point, half_spaces) = if start.swapped {
            let [body_a, body_b] = bodies(pose_b.translation);
            let [point_a, point_b] = is_point;
            let [half_a, half_b] = half_spaces;
            ([body_b, body_a], [point_b, point_a], [half_b, half_a])
        } else {
            (bodies(pose_a.translation), is_point, half_spaces)
        };
        let half_space = match half_spaces {
            [true, true] => return None,
            [true, false] => Some(0),
            [false, true] => Some(1),
            [false, false] => None,
        };
        let size = pair_size(&boxes, start.radius_sum());
        let travel: f64 = bodies
            .iter()
            .map(|body| body.velocity.extent() + body.center.extent() + body.arm.extent())
            .sum();
        let rounding = 4.0 * f64::EPSILON * (travel + size);
        (size.is_finite() && rounding.is_finite()).then_some(Self {
            start,
            is_rotating: bodies.iter().any(|body| body.angular_speed > 0.0),
            bodies,
            is_point,
            size,
            rounding,
            half_space,
        })
    }

    /// Returns the pair at the given time. If a shape rotates, the origins are in the order of the
    /// pair, in the frame of the bodies.
    pub fn at(&self, time: f64) -> Pair<'a, A, B> {
        let [first, second] = &self.bodies;
        if !self.is_rotating {
            let velocity = second.velocity - first.velocity;
            let inverse = DVecOf::<A>::transpose(self.start.frame);
            return self.start.with_second_moved(inverse * (velocity * time));
        }
        let identity = DVecOf::<A>::IDENTITY;
        let (first, second) = (first.pose(time), second.pose(time));
        let frame = if self.is_point[0] {
            identity
        } else {
            first.rotation
        };
        let inverse = DVecOf::<A>::transpose(frame);
        let rotation = if self.is_point[1] {
            identity
        } else {
            inverse * second.rotation
        };
        let translation = inverse * (second.translation - first.translation);
        let relative = Pose {
            rotation,
            translation,
        };
        let origins = [first.translation, second.translation];
        self.start.with_poses(frame, relative, origins)
    }

    /// Returns bounds on the rates of the separation along an axis between two times.
    pub fn rate_bounds(&self, axis: Axis<DVecOf<A>>, [from, to]: [f64; 2]) -> RateBounds {
        let [first, second] = &self.bodies;
        let velocity = second.velocity - first.velocity;
        let distance = (second.center - first.center + velocity * from).length()
            + velocity.length() * (to - from);
        match axis {
            Axis::Fixed(normal) => {
                let mut bounds = RateBounds {
                    speed: velocity.dot(normal).abs(),
                    curvature: 0.0,
                };
                for body in &self.bodies {
                    if body.spin > 0.0 {
                        let turn = normal.rotated_by(body.angular_velocity).length();
                        bounds.speed += body.spin * turn / body.angular_speed;
                        bounds.curvature += body.spin * turn;
                    }
                }
                bounds
            }
            Axis::Turning {
                angular_velocity, ..
            } => {
                let turn = DVecOf::<A>::angle_size(angular_velocity);
                let offset = distance + first.reach + second.reach;
                let speed = velocity.length() + first.spin + second.spin;
                let acceleration =
                    first.angular_speed * first.spin + second.angular_speed * second.spin;
                rates_along_turning_axis(turn, offset, speed, acceleration)
            }
            Axis::HalfSpace => {
                let (plane, other) = match self.half_space {
                    Some(0) => (first, second),
                    _ => (second, first),
                };
                let speed = velocity.length() + other.spin;
                let acceleration = other.angular_speed * other.spin;
                let offset = distance + other.reach;
                rates_along_turning_axis(plane.angular_speed, offset, speed, acceleration)
            }
        }
    }

    /// Returns a bound on the speed of any point of one shape relative to any point of the other.
    pub fn speed_bound(&self) -> f64 {
        let [first, second] = &self.bodies;
        let velocity = (second.velocity - first.velocity).length();
        match self.half_space {
            Some(_) => self.rate_bounds(Axis::HalfSpace, [0.0, 1.0]).speed,
            None => velocity + first.spin + second.spin,
        }
    }

    /// Returns the separation along an axis at the given time.
    pub fn separation(&self, time: f64, axis: Axis<DVecOf<A>>) -> Separation {
        let pair = self.at(time);
        let normal = axis.normal(time);
        let (normal, gap, points) = match normal {
            Some(normal) => {
                let local = DVecOf::<A>::transpose(pair.frame) * normal;
                let vertex = pair.vertex(local);
                (
                    normal,
                    -vertex.point.dot(local),
                    [vertex.first, vertex.second],
                )
            }
            None => match HalfSpaceSolver::new(&pair) {
                Some(solver) => {
                    let contact = solver.contact();
                    let normal = pair.frame * contact.normal;
                    (normal, -contact.depth, [contact.first, contact.second])
                }
                // A support function that returns NaN only in some directions.
                None => (DVecOf::<A>::ZERO, f64::NAN, [DVecOf::<A>::ZERO; 2]),
            },
        };
        Separation {
            gap: gap - pair.radius_sum(),
            closing_speed: self.closing_speed(time, &pair, axis, normal, points),
        }
    }

    /// Returns the width of the Minkowski difference along an axis: the distance by which one shape
    /// moves along the axis from one side of the other shape to the other side. It is infinite for
    /// a half-space.
    pub fn width(&self, time: f64, axis: Axis<DVecOf<A>>) -> f64 {
        axis.normal(time).map_or(f64::INFINITY, |normal| {
            let sides = [normal, -normal].map(Axis::Fixed);
            -sides
                .map(|side| self.separation(time, side).gap)
                .iter()
                .sum::<f64>()
        })
    }

    /// Returns the speed along a normal at which two points of the cores approach each other.
    fn closing_speed(
        &self,
        time: f64,
        pair: &Pair<'a, A, B>,
        axis: Axis<DVecOf<A>>,
        normal: DVecOf<A>,
        points: [DVecOf<A>; 2],
    ) -> f64 {
        let [first, second] = self.velocities(time, pair, points);
        let closing_speed = (first - second).dot(normal);
        match axis {
            Axis::Turning {
                angular_velocity, ..
            } => {
                let [first, second] = points;
                let offset = pair.frame * (first - second);
                closing_speed + offset.dot(normal.rotated_by(angular_velocity))
            }
            Axis::Fixed(_) | Axis::HalfSpace => closing_speed,
        }
    }

    /// Returns the velocities of points of both cores, given in the frame of the pair.
    fn velocities(
        &self,
        time: f64,
        pair: &Pair<'a, A, B>,
        [first, second]: [DVecOf<A>; 2],
    ) -> [DVecOf<A>; 2] {
        let [first_body, second_body] = &self.bodies;
        if !self.is_rotating {
            return [first_body.velocity, second_body.velocity];
        }
        let [origin, _] = pair.origins;
        [
            first_body.velocity_at(time, origin + pair.frame * first),
            second_body.velocity_at(time, origin + pair.frame * second),
        ]
    }

    /// Returns the distance at the given time, or `None` if a shape is invalid.
    pub fn proximity(&self, time: f64) -> Option<Proximity<DVecOf<A>>> {
        let pair = self.at(time);
        if self.half_space.is_some() {
            let cores = HalfSpaceSolver::new(&pair)?.contact();
            return Some(Proximity {
                gap: -cores.depth - pair.radius_sum(),
                axis: Axis::HalfSpace,
                cores,
                is_apart: true,
            });
        }
        let gjk = Gjk::solve(&pair, Goal::Nearest);
        let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
        let normal = (-gjk.separation()).unit();
        let cores = Penetration {
            normal: normal.unwrap_or(DVecOf::<A>::axis(0)),
            depth: -gjk.distance,
            scale: gjk.scale,
            first,
            second,
        };
        (gjk.state != State::Invalid).then_some(Proximity {
            gap: gjk.distance - pair.radius_sum(),
            axis: Axis::Fixed(pair.frame * cores.normal),
            cores,
            is_apart: normal.is_some() && gjk.state != State::Enclosed,
        })
    }

    /// Returns `true` if a lower bound on the penetration depth at the given time exceeds `depth`.
    pub fn is_deeper(&self, time: f64, depth: f64) -> bool {
        let pair = self.at(time);
        match HalfSpaceSolver::new(&pair) {
            Some(solver) => pair.radius_sum() + solver.contact().depth > depth,
            None => Gjk::new(&pair).is_deeper(&pair, depth),
        }
    }

    /// Returns the speed at which the shapes approach each other along an axis at the given time.
    pub fn closing_speed_along(&self, time: f64, axis: Axis<DVecOf<A>>) -> f64 {
        let [first, second] = &self.bodies;
        match axis {
            Axis::Fixed(normal) if !self.is_rotating => {
                (first.velocity - second.velocity).dot(normal)
            }
            _ => self.separation(time, axis).closing_speed,
        }
    }

    /// Returns the contact in which the shapes just touch.
    pub fn touching_contact(
        &self,
        time: f64,
        proximity: &Proximity<DVecOf<A>>,
    ) -> Contact64<DVecOf<A>> {
        let pair = self.at(time);
        let normal = match proximity.axis.normal(time) {
            Some(normal) => DVecOf::<A>::transpose(pair.frame) * normal,
            None => proximity.cores.normal,
        };
        pair.touching_contact(&Penetration {
            normal,
            ..proximity.cores
        })
    }

    /// Returns the contact at the given time, or `None` if the shapes do not touch.
    pub fn contact(&self, time: f64) -> Option<Contact64<DVecOf<A>>> {
        Solver::new(self.at(time)).find_contact()
    }

    /// Returns the axis of a contact.
    pub fn axis_of(&self, contact: &Contact64<DVecOf<A>>) -> Axis<DVecOf<A>> {
        match self.half_space {
            Some(_) => Axis::HalfSpace,
            None if self.start.swapped => Axis::Fixed(-contact.normal),
            None => Axis::Fixed(contact.normal),
        }
    }

    /// Returns an axis that continues the rotation from an earlier to a later axis, if the shapes
    /// rotate. If that is much faster than they rotate, the shapes narrowly pass each other, and
    /// the axis rotates with the first or the second shape instead.
    pub fn turning_axis(
        &self,
        (earlier, before): (f64, Axis<DVecOf<A>>),
        (later, now): (f64, Axis<DVecOf<A>>),
        with_second: bool,
    ) -> Axis<DVecOf<A>> {
        let normals = before.normal(earlier).zip(now.normal(later));
        let Some((old, new)) = normals.filter(|_| self.is_rotating) else {
            return now;
        };
        let [first, second] = &self.bodies;
        let angle = <DVecOf<A> as DVector>::Angle::from(old.wedge(new));
        let continued = angle * (1.0 / (later - earlier));
        let limit = MAX_AXIS_TURN * (first.angular_speed + second.angular_speed);
        let angular_velocity = if DVecOf::<A>::angle_size(continued) <= limit {
            continued
        } else if with_second {
            second.angular_velocity
        } else {
            first.angular_velocity
        };
        Axis::Turning {
            normal: new,
            since: later,
            angular_velocity,
        }
    }

    /// Returns the velocity of the caller's first shape relative to the second at a contact, and
    /// the rotation of the second.
    pub fn relative_motion(
        &self,
        time: f64,
        contact: &Contact64<DVecOf<A>>,
    ) -> (DVecOf<A>, <DVecOf<A> as DVector>::Matrix) {
        let [first, second] = &self.bodies;
        let (a, b) = if self.start.swapped {
            (second, first)
        } else {
            (first, second)
        };
        let pose = b.pose(time);
        let point = pose.translation + contact.offset_b;
        let velocity = a.velocity_at(time, point) - b.velocity_at(time, point);
        (velocity, pose.rotation)
    }
}
