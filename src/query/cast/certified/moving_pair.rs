//! A pair of moving shapes: its pose and its separation along an axis, as functions of time.
//!
//! The separation of two cores along a unit vector n, with their radii, is
//!
//! ```text
//! s(t) = min { n·x | x in the second core } - max { n·x | x in the first core } - radii
//! ```
//!
//! Computing s(t) takes two support points. s(t) is a lower bound on the distance. See
//! `separating_axis.rs` for bounds on its derivatives.

use crate::{
    query::{
        Contact64,
        analytic::HalfSpaceSolver,
        cast::{
            CastScale, CoreBox, RateBounds, SeparatingAxis, Separation, StartingPair,
            certified::body::Body, rates_along_turning_axis,
        },
        gjk::{Gjk, Goal, Penetration, State},
        minkowski::{MinkowskiDifference, Pair, PairFrame},
        solver::separated,
    },
    shape::{DVecOf, Support},
    space::{DVector, Pose},
};

/// The maximum angular speed of an axis that continues a rotation, as a multiple of the sum of the
/// two shapes' angular speeds.
const MAX_AXIS_TURN: f64 = 2.0;

/// The cores of a pair at one time, with the distance between the shapes.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<D: DVector> {
    /// The distance between the shapes, negative if they overlap.
    pub gap: f64,
    pub axis: SeparatingAxis<D>,
    /// The nearest points of the cores.
    pub cores: Penetration<D>,
    /// `true` if the cores are known to be separated, which determines the direction of the axis.
    /// The field is always `true` for a half-space.
    pub is_apart: bool,
}

/// A pair of moving shapes.
pub struct MovingPair<'a, A: Support + ?Sized, B: ?Sized> {
    pub start: &'a StartingPair<'a, A, B>,
    /// Both shapes, in the order of the pair.
    bodies: [Body<DVecOf<A>>; 2],
    pub scale: CastScale,
    has_half_space: bool,
    is_rotating: bool,
}

impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> MovingPair<'a, A, B> {
    /// Returns the moving pair, or `None` if a shape is invalid or both are half-spaces.
    pub fn new(start: &'a StartingPair<'a, A, B>) -> Option<Self> {
        let Pair { a, b, frame, .. } = start.pair;
        let [moving_a, moving_b] = start.moving;
        let [origin, _] = start.ordered(frame.origins);
        let boxes = [CoreBox::new(a), CoreBox::new(b)];
        let bodies = start.ordered([
            Body::new(a, moving_a, origin, &boxes[0]),
            Body::new(b, moving_b, origin, &boxes[1]),
        ]);
        let extent = |body: &Body<DVecOf<A>>| {
            body.velocity.extent() + body.center.extent() + body.arm.extent()
        };
        let travel = bodies.iter().map(extent).sum();
        let scale = CastScale::new(&boxes, start.pair.radius_sum(), travel)?;
        let [first, second] = &bodies;
        (!first.is_half_space || !second.is_half_space).then_some(Self {
            start,
            has_half_space: first.is_half_space || second.is_half_space,
            is_rotating: bodies.iter().any(|body| body.angular_speed > 0.0),
            bodies,
            scale,
        })
    }

    /// Returns the pair at the given time. If a shape rotates, `origins` are the translations of
    /// the bodies at this time, in the order of the pair. Otherwise `origins` are the translations
    /// at the start.
    pub fn at(&self, time: f64) -> Pair<'a, A, B> {
        let [first, second] = &self.bodies;
        if !self.is_rotating {
            let velocity = second.velocity - first.velocity;
            let start = &self.start.pair;
            let inverse = DVecOf::<A>::transpose(start.frame.rotation);
            return start.with_second_moved(inverse * (velocity * time));
        }
        let (first, second) = (first.pose(time), second.pose(time));
        let inverse = DVecOf::<A>::transpose(first.rotation);
        let relative = Pose {
            rotation: inverse * second.rotation,
            translation: inverse * (second.translation - first.translation),
        };
        self.start.pair.with_frame(PairFrame {
            rotation: first.rotation,
            relative,
            origins: [first.translation, second.translation],
            ..self.start.pair.frame
        })
    }

    /// Returns bounds on the rates of the separation along an axis between two times.
    pub fn rate_bounds(&self, axis: SeparatingAxis<DVecOf<A>>, interval: [f64; 2]) -> RateBounds {
        let [first, second] = &self.bodies;
        let normal = match axis {
            SeparatingAxis::Fixed(normal) => normal,
            SeparatingAxis::Turning {
                angular_velocity, ..
            } => {
                let turn = DVecOf::<A>::angle_size(angular_velocity);
                return self.turning_rate_bounds(turn, interval);
            }
            SeparatingAxis::HalfSpace => return self.turning_rate_bounds(0.0, interval),
        };
        let mut bounds = RateBounds {
            speed: (second.velocity - first.velocity).dot(normal).abs(),
            curvature: 0.0,
        };
        for body in self.bodies.iter().filter(|body| body.spin > 0.0) {
            let turn = normal.rotated_by(body.angular_velocity).length();
            bounds.speed += body.spin * turn / body.angular_speed;
            bounds.curvature += body.spin * turn;
        }
        bounds
    }

    /// Returns bounds on the rates of the separation along any axis that rotates at the angular
    /// speed `turn`. For a pair with a half-space, the axis rotates with the half-space instead.
    fn turning_rate_bounds(&self, mut turn: f64, [from, to]: [f64; 2]) -> RateBounds {
        let [first, second] = &self.bodies;
        let velocity = second.velocity - first.velocity;
        let (mut speed, mut acceleration) = (velocity.length(), 0.0);
        let mut length =
            (second.center - first.center + velocity * from).length() + speed * (to - from);
        for body in &self.bodies {
            if body.is_half_space {
                turn = body.angular_speed;
            } else {
                length += body.reach;
                speed += body.spin;
                acceleration += body.angular_speed * body.spin;
            }
        }
        rates_along_turning_axis(turn, length, speed, acceleration)
    }

    /// Returns a bound on the speed of any point of one shape relative to any point of the other.
    pub fn speed_bound(&self) -> f64 {
        self.turning_rate_bounds(0.0, [0.0, 1.0]).speed
    }

    /// Returns the separation along an axis at the given time.
    pub fn separation(&self, time: f64, axis: SeparatingAxis<DVecOf<A>>) -> Separation {
        let pair = self.at(time);
        let fixed = axis.normal(time);
        let cores = match fixed {
            Some(normal) => {
                let normal = DVecOf::<A>::transpose(pair.frame.rotation) * normal;
                Some(Penetration::at_vertex(normal, &pair.vertex(normal), 0.0))
            }
            None => HalfSpaceSolver::new(&pair).map(|solver| solver.contact()),
        };
        let Some(cores) = cores else {
            // A support function has returned NaN in some directions.
            return Separation {
                gap: f64::NAN,
                closing_speed: 0.0,
            };
        };
        let Penetration { first, second, .. } = cores;
        let normal = fixed.unwrap_or(pair.frame.rotation * cores.normal);
        let [first_velocity, second_velocity] = self.velocities(time, &pair, [first, second]);
        let mut closing_speed = (first_velocity - second_velocity).dot(normal);
        if let SeparatingAxis::Turning {
            angular_velocity, ..
        } = axis
        {
            let offset = pair.frame.rotation * (first - second);
            closing_speed += offset.dot(normal.rotated_by(angular_velocity));
        }
        Separation {
            gap: -cores.depth - pair.radius_sum(),
            closing_speed,
        }
    }

    /// Returns the velocities, in world axes, of a point of each core. The points are given in the
    /// frame of the pair.
    fn velocities(&self, time: f64, pair: &Pair<A, B>, points: [DVecOf<A>; 2]) -> [DVecOf<A>; 2] {
        let [first, second] = &self.bodies;
        if !self.is_rotating {
            return [first.velocity, second.velocity];
        }
        let [origin, _] = pair.frame.origins;
        let [first_point, second_point] = points.map(|point| origin + pair.frame.rotation * point);
        [
            first.velocity_at(time, first_point),
            second.velocity_at(time, second_point),
        ]
    }

    /// Returns the width of the Minkowski difference along an axis. The width is the distance along
    /// the axis from a touch on one side to a touch on the opposite side. The width is infinite for
    /// a half-space.
    pub fn width(&self, time: f64, axis: SeparatingAxis<DVecOf<A>>) -> f64 {
        axis.normal(time).map_or(f64::INFINITY, |normal| {
            let sides = [normal, -normal].map(SeparatingAxis::Fixed);
            -sides
                .map(|side| self.separation(time, side).gap)
                .iter()
                .sum::<f64>()
        })
    }

    /// Returns the nearest points and the distance at the given time, or `None` if a shape is
    /// invalid.
    pub fn proximity(&self, time: f64) -> Option<Proximity<DVecOf<A>>> {
        let pair = self.at(time);
        if self.has_half_space {
            let cores = HalfSpaceSolver::new(&pair)?.contact();
            return Some(Proximity {
                gap: -cores.depth - pair.radius_sum(),
                axis: SeparatingAxis::HalfSpace,
                cores,
                is_apart: true,
            });
        }
        let gjk = Gjk::solve(&pair, Goal::Nearest);
        let cores = separated(&gjk, DVecOf::<A>::axis(0));
        (gjk.state != State::Invalid).then_some(Proximity {
            gap: gjk.distance - pair.radius_sum(),
            axis: SeparatingAxis::Fixed(pair.frame.rotation * cores.normal),
            cores,
            is_apart: gjk.separation().unit().is_some() && gjk.state != State::Enclosed,
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

    /// Returns the separating axis along the normal of a contact.
    pub fn contact_axis(&self, contact: &Contact64<DVecOf<A>>) -> SeparatingAxis<DVecOf<A>> {
        if self.has_half_space {
            SeparatingAxis::HalfSpace
        } else if self.start.pair.frame.swapped {
            SeparatingAxis::Fixed(-contact.normal)
        } else {
            SeparatingAxis::Fixed(contact.normal)
        }
    }

    /// If no shape rotates, returns the later of two axes. Otherwise returns an axis that continues
    /// the rotation from the earlier to the later axis. If this rotation is much faster than the
    /// rotations of the shapes, the shapes narrowly pass each other. In that case, the axis rotates
    /// with the first or the second shape instead.
    pub fn turning_axis(
        &self,
        (earlier, before): (f64, SeparatingAxis<DVecOf<A>>),
        (later, now): (f64, SeparatingAxis<DVecOf<A>>),
        with_second: bool,
    ) -> SeparatingAxis<DVecOf<A>> {
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
        SeparatingAxis::Turning {
            normal: new,
            since: later,
            angular_velocity,
        }
    }
}
