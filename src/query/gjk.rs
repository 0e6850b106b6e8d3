//! GJK: are two shapes apart, and how far?
//!
//! Gilbert, Johnson and Keerthi, "A fast procedure for computing the distance between complex objects in
//! three-dimensional space" (1988), in the form of van den Bergen, "A Fast and Robust GJK Implementation for Collision
//! Detection of Convex Objects" (1999). The loop keeps a simplex in the Minkowski difference Y of the cores and v, its
//! point nearest to the origin. With the support point w of Y in direction -v:
//!
//! * |v| is an upper bound of the cores' distance, because v is in Y;
//! * v·w / |v| is a lower bound, because no point of Y lies below the plane through w with normal v.
//!
//! The loop ends when the two bounds meet, when w comes for the second time (then they have met, but for rounding), or
//! when the simplex holds the origin. What departs from the paper, and why:
//!
//! * It runs on cores. Shapes with radii touch when their cores are within both radii of each other, so that a verdict
//!   needs no convergence: a lower bound above that reach says no, an upper bound below it says yes.
//! * It can be resumed: the verdict first, and the rest only for who wants the contact or the distance. All of them walk
//!   the same path, so that they can never disagree.
//! * The longer it takes, the less is asked: polytopes end on their own, but on curved surfaces each iteration gains no
//!   more than a factor, and where they nearly touch a small one. See [`PATIENCE`].
//! * A step that does not bring v nearer, or brings it nearer than a lower bound allows, ends the loop. In exact
//!   arithmetic there is none. Every comparison is written so that NaN ends it as well.

use crate::{
    query::{
        minkowski::{MinkowskiDifference, Vertex},
        simplex::{Nearest, Simplex, nearest},
    },
    space::DVector,
    tolerance::{CORE_CONTACT, DISTANCE_GAP, PATIENCE, PROOF_GAP, ROUNDING, TOUCHING},
};

/// More iterations than this are not made. Polytopes need about as many as a simplex has vertices, smooth shapes some
/// more.
const MAX_ITERATIONS: usize = 63;

/// What the loop is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Whether the shapes touch.
    Verdict,
    /// The same, and the nearest points of the cores if they do.
    Contact,
    /// The same, and the nearest points of the cores if they do not.
    Distance,
    /// The nearest points of the cores in any case.
    Nearest,
}

/// How far the loop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The bounds have not met yet.
    Running,
    /// The cores are apart, and `nearest` is their distance.
    Converged,
    /// The bounds have not met: no step brings v nearer any more, or there were too many. The cores are apart if a lower
    /// bound above 0 was seen, and else not known to be.
    Stalled,
    /// The cores are in contact: the simplex holds the origin, or comes as near as makes no difference.
    Enclosed,
    /// A support point was not finite: something here is no shape. It touches nothing.
    NoShape,
}

/// The state of the loop for one pair.
pub struct Gjk<D: DVector> {
    /// How far the loop has come.
    pub state: State,
    /// Some vertices of the Minkowski difference: all that take part in `nearest`.
    pub simplex: Simplex<D>,
    /// The point of the simplex nearest to the origin.
    pub nearest: Nearest<D>,
    /// |v|.
    pub distance: f64,
    /// The largest distance of a vertex from the origin so far (or OFFSET of its points', if that is more), plus both radii.
    pub scale: f64,
    /// The greatest lower bound of the cores' distance so far,
    lower: f64,
    /// the vector against which it was seen,
    against: D,
    /// and the one that was seen last, against the nearest point.
    latest: f64,
    /// By how much the bounds may differ in the end, as a fraction of the scale.
    slack: f64,
    /// Whether a lower bound has been seen that proves the shapes to be apart.
    proved_apart: bool,
    reach: f64,
    iterations: usize,
}

impl<D: DVector> Gjk<D> {
    /// The start: one vertex, on the side where the shapes face each other.
    #[inline]
    pub fn new(pair: &impl MinkowskiDifference<Vector = D>) -> Self {
        // Equal centres have no such side: any direction will do.
        let toward = pair.relative().translation;
        let vertex = pair.vertex(if toward == D::ZERO {
            D::axis(0)
        } else {
            toward
        });
        let mut gjk = Self {
            state: State::Running,
            nearest: nearest(&[vertex]),
            simplex: Simplex::new(),
            distance: vertex.point.length(),
            scale: 0.0,
            lower: 0.0,
            against: D::ZERO,
            latest: 0.0,
            slack: ROUNDING,
            proved_apart: false,
            reach: pair.radius_sum(),
            iterations: 0,
        };
        gjk.look(&vertex);
        let _ = gjk.simplex.push(vertex);
        gjk
    }

    /// Runs the loop until the goal is reached.
    pub fn run(&mut self, pair: &impl MinkowskiDifference<Vector = D>, goal: Goal) {
        while self.state == State::Running && !self.has_reached(goal) {
            self.step(pair);
        }
    }

    /// Whether the shapes touch: for a loop that has reached any goal.
    #[inline]
    pub fn hit(&self) -> bool {
        match self.state {
            State::Enclosed => true,
            State::NoShape => false,
            State::Running | State::Converged | State::Stalled => {
                !self.proved_apart && self.distance <= self.touching_distance()
            }
        }
    }

    /// Whether the cores are not known to be apart: for a loop that has reached [`Goal::Contact`]. In slivers of shapes of
    /// very different sizes rounding may stop the loop before it reaches the origin.
    pub fn cores_may_touch(&self) -> bool {
        match self.state {
            State::Enclosed => true,
            State::Stalled => self.lower <= 0.0,
            State::Running | State::Converged | State::NoShape => false,
        }
    }

    /// The way from the second core to the first, for cores that are apart: to the nearest point. Where rounding has stopped the
    /// loop, in slivers that come as near to the origin as what counts as touching, that point is near to the true one, but need
    /// not lie the same way: if there was a better proof that the cores are apart than the last one, it is the way of that.
    #[inline]
    pub fn across(&self) -> D {
        let is_near = self.distance <= TOUCHING * self.scale;
        let is_astray = self.lower > 0.0 && self.latest < self.lower - PROOF_GAP * self.distance;
        if self.state == State::Stalled && is_near && is_astray {
            self.against
        } else {
            self.nearest.point
        }
    }

    /// The cores' distance at which the shapes still touch.
    #[inline]
    fn touching_distance(&self) -> f64 {
        self.reach + TOUCHING * self.scale
    }

    #[inline]
    fn has_reached(&self, goal: Goal) -> bool {
        match goal {
            Goal::Verdict => self.proved_apart || self.distance <= self.touching_distance(),
            Goal::Contact => self.proved_apart,
            Goal::Distance => !self.proved_apart && self.distance <= self.touching_distance(),
            Goal::Nearest => false,
        }
    }

    #[inline]
    fn step(&mut self, pair: &impl MinkowskiDifference<Vector = D>) {
        let v = self.nearest.point;
        let vertex = pair.vertex(-v);
        self.look(&vertex);
        if self.state != State::Running {
            return;
        }
        let along = v.dot(vertex.point);
        let lower = along / self.distance;
        self.latest = lower;
        if lower > self.lower {
            self.lower = lower;
            self.against = v;
        }
        // The second condition follows from the first one, but for rounding: who asked for the verdict has its yes by it.
        let touching = self.touching_distance();
        if lower > touching && self.distance > touching {
            self.proved_apart = true;
        }
        self.iterations += 1;
        self.slack *= PATIENCE;
        let bounds_met =
            self.distance - lower <= DISTANCE_GAP * self.distance + self.slack * self.scale;
        let repeats = self.simplex.iter().any(|old| old.point == vertex.point);
        if bounds_met || repeats {
            self.state = State::Converged;
            return;
        }
        // A simplex without room for one more holds the origin, but for a proof that the cores are apart.
        if self.iterations >= MAX_ITERATIONS || self.simplex.push(vertex).is_none() {
            self.state = State::Stalled;
            return;
        }
        let next = nearest(&self.simplex);
        let distance = next.point.length();
        let contradicts = distance < self.lower - ROUNDING * self.scale;
        if distance < self.distance && !contradicts {
            self.keep(next, distance);
        } else {
            // No nearer, or nearer than was proved possible, by rounding or by a shape that is not convex: what was
            // found before stands.
            self.simplex.pop();
            self.state = State::Stalled;
        }
    }

    /// Takes note of a vertex: the scale that it sets, whether it is one at all, and whether the origin is reached.
    #[inline]
    fn look(&mut self, vertex: &Vertex<D>) {
        self.scale = self.scale.max(vertex.scale() + self.reach);
        if !vertex.point.is_finite() || !self.reach.is_finite() {
            self.state = State::NoShape;
        } else if self.reaches_origin(self.distance) {
            self.state = State::Enclosed;
        }
    }

    /// Whether a distance makes the cores count as in contact. A proof that they are apart stands, whatever rounding makes
    /// of vertices that lie much farther from each other than the cores do.
    #[inline]
    fn reaches_origin(&self, distance: f64) -> bool {
        !self.proved_apart && distance <= CORE_CONTACT * self.scale
    }

    /// Goes on with the new nearest point and the vertices that it takes.
    #[inline]
    fn keep(&mut self, next: Nearest<D>, distance: f64) {
        // In place: those that stay move up.
        let mut kept = 0;
        let mut weights = [0.0; 4];
        for (number, weight) in next.weights.into_iter().enumerate() {
            if weight > 0.0 {
                if number != kept
                    && let Some(vertex) = self.simplex.get(number).copied()
                    && let Some(slot) = self.simplex.get_mut(kept)
                {
                    *slot = vertex;
                }
                if let Some(slot) = weights.get_mut(kept) {
                    *slot = weight;
                }
                kept += 1;
            }
        }
        self.simplex.truncate(kept);
        self.nearest = Nearest {
            point: next.point,
            weights,
        };
        self.distance = distance;
        if self.reaches_origin(distance) {
            self.state = State::Enclosed;
        }
    }
}
