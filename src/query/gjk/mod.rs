//! GJK: the distance between two cores.
//!
//! This is the algorithm of Gilbert, Johnson and Keerthi, "A fast procedure for computing the
//! distance between complex objects in three-dimensional space" (1988). The form follows van den
//! Bergen, "A Fast and Robust GJK Implementation for Collision Detection of Convex Objects" (1999).
//! The loop keeps a simplex in the Minkowski difference Y of the cores, and v, the point of the
//! simplex nearest to the origin. Let w be the support point of Y in direction -v:
//!
//! * |v| is an upper bound on the cores' distance, because v is in Y.
//! * v·w / |v| is a lower bound, because all of Y lies beyond the plane through w with normal v.
//!
//! The loop ends when the bounds meet, when w repeats a vertex (a sign that the bounds have met),
//! or when the simplex contains the origin. The departures from the papers are:
//!
//! * **GJK runs on cores.** Shapes with radii touch if the distance between their cores is at most
//!   the sum of the radii. So the verdict needs no convergence. If a lower bound exceeds the sum,
//!   the shapes are separated. If an upper bound is below the sum, the shapes touch.
//! * **The first direction gives a bound.** This direction joins the origins of the two shapes. The
//!   support point in this direction gives a lower bound, too.
//! * **The loop can be resumed.** The first run decides whether the shapes touch. Only a caller
//!   that needs the contact or the distance continues the loop. The sequence of steps is the same
//!   for all callers, so their results never disagree.
//! * **The tolerance grows with each iteration.** On polytopes, the loop needs no tolerance to end.
//!   On curved surfaces, each iteration only divides the error by some factor, which is small where
//!   the surfaces nearly touch: see [`GAP_GROWTH`].
//! * **A step that contradicts the bounds ends the loop.** In exact arithmetic, every step brings v
//!   nearer to the origin, but never nearer than a lower bound. Every comparison is written so that
//!   NaN ends the loop as well.
//!
//! `solver.rs` calls [`Gjk::new`] for each pair without a closed form, and then [`Gjk::run`] with
//! the [`Goal`] of the query.
//!
//! Two files of this folder build on the loop: `penetration.rs` for the contact of two cores along
//! a normal, and `point_distance.rs` for the distance from a point to a core.

mod penetration;
mod point_distance;

use arrayvec::ArrayVec;

use crate::{
    query::minkowski::{GjkStep, MinkowskiDifference, Nearest, Simplex, Step, Vertex, nearest},
    space::DVector,
    tolerance::{
        CORE_CONTACT, DISTANCE_GAP, GAP_GROWTH, LOWER_BOUND_LOSS, ROUNDING, SURELY_APART, TOUCHING,
    },
};
pub use penetration::Penetration;
pub use point_distance::distances_from_cores;

/// The maximum number of iterations. Polytopes need about as many iterations as a simplex has
/// vertices. Curved shapes need more: see [`GAP_GROWTH`].
const MAX_GJK_ITERATIONS: usize = 63;

/// The result at which the loop stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The verdict whether the shapes touch or are separated.
    Verdict,
    /// The verdict, and the nearest points of the cores if the shapes touch.
    Contact,
    /// The verdict, and the nearest points of the cores if the shapes do not touch.
    Distance,
    /// The nearest points of the cores, whether or not the shapes touch.
    Nearest,
}

/// The progress of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The bounds have not met yet.
    Running,
    /// The cores are separated, and `distance` is their distance.
    Converged,
    /// The bounds have not met, but no step reduces the distance, or the maximum number of
    /// iterations is reached. If a lower bound was positive, the cores are separated. Otherwise the
    /// cores may touch.
    Stalled,
    /// The cores touch: the simplex contains the origin, to within [`CORE_CONTACT`].
    Enclosed,
    /// A support point is not finite: one of the shapes is invalid, and touches nothing.
    Invalid,
}

/// The state of the loop for one pair.
pub struct Gjk<D: DVector> {
    pub state: State,
    /// The vertices of the simplex, of which `nearest` is a convex combination.
    pub simplex: Simplex<D>,
    /// The point v of the simplex that is nearest to the origin.
    pub nearest: Nearest<D>,
    /// The distance |v| of the simplex from the origin.
    pub distance: f64,
    /// The scale of the pair so far: see [`tolerance`](crate::tolerance).
    pub scale: f64,
    /// The greatest lower bound on the cores' distance.
    lower_bound: f64,
    /// The vector v that gave the greatest lower bound.
    lower_bound_direction: D,
    /// The lower bound of the last iteration.
    last_lower_bound: f64,
    /// The gap between the bounds at which the loop ends, as a fraction of the scale.
    gap: f64,
    /// `true` if a lower bound proves that the shapes do not touch.
    proved_separated: bool,
    radius_sum: f64,
    iterations: usize,
}

impl<D: DVector> Gjk<D> {
    /// Returns a state with one vertex: the support point along the direction from the first shape
    /// to the second.
    pub fn new(pair: &impl MinkowskiDifference<Vector = D>) -> Self {
        // If the origins of the two shapes coincide, any direction is correct.
        let direction = match pair.relative().translation {
            translation if translation == D::ZERO => D::axis(0),
            translation => translation,
        };
        let vertex = pair.vertex(direction);
        let mut gjk = Self::unstarted(nearest(&[vertex]), pair.radius_sum());
        gjk.check(&vertex);
        gjk.bound_along(direction, &vertex);
        gjk.simplex.push(vertex);
        pair.record(|| gjk.to_step(vertex));
        gjk
    }

    /// Sets the lower bound from the support point in the first direction. This direction separates
    /// most shapes that do not touch. The scale is not final yet, so only a gap that exceeds the
    /// tolerance by far proves that the shapes are separated.
    fn bound_along(&mut self, direction: D, vertex: &Vertex<D>) {
        let lower_bound = direction.unit().map_or(0.0, |unit| -unit.dot(vertex.point));
        if self.state == State::Running && lower_bound > 0.0 {
            self.lower_bound = lower_bound;
            self.lower_bound_direction = -direction;
            self.proved_separated = lower_bound > self.radius_sum + SURELY_APART * self.scale;
        }
    }

    /// Returns a state without a simplex.
    #[inline(always)]
    fn unstarted(nearest: Nearest<D>, radius_sum: f64) -> Self {
        Self {
            state: State::Running,
            nearest,
            simplex: Simplex::new(),
            distance: nearest.point.length(),
            scale: 0.0,
            lower_bound: 0.0,
            lower_bound_direction: D::ZERO,
            last_lower_bound: 0.0,
            gap: ROUNDING,
            proved_separated: false,
            radius_sum,
            iterations: 0,
        }
    }

    /// Starts the loop, and runs the loop until it reaches the goal or ends.
    pub fn solve(pair: &impl MinkowskiDifference<Vector = D>, goal: Goal) -> Self {
        let mut gjk = Self::new(pair);
        gjk.run(pair, goal);
        gjk
    }

    /// Returns the state for a given simplex in the pair's Minkowski difference.
    pub fn from_simplex(pair: &impl MinkowskiDifference<Vector = D>, simplex: Simplex<D>) -> Self {
        let next = nearest(&simplex);
        let scales = simplex.iter().map(Vertex::scale);
        let radius_sum = pair.radius_sum();
        let mut gjk = Self {
            scale: scales.fold(0.0, f64::max) + radius_sum,
            simplex,
            ..Self::unstarted(next, radius_sum)
        };
        gjk.keep(next, next.point.length());
        gjk
    }

    /// Returns the distance from the origin to the boundary of the simplex: a lower bound on the
    /// depth of the cores. The distance is 0 if the simplex has no volume or does not contain the
    /// origin.
    pub fn inner_distance(&self) -> f64 {
        if self.state != State::Enclosed || self.simplex.len() <= D::DIMENSION {
            return 0.0;
        }
        let distance_without = |skipped: usize| {
            let numbered = self.simplex.iter().enumerate();
            let others = numbered.filter(|(index, _)| *index != skipped);
            let mut points = others.map(|(_, vertex)| vertex.point);
            let base = points.next()?;
            let edges: ArrayVec<D, 3> = points.map(|point| point - base).collect();
            let normal = D::perpendicular(&edges)?.unit()?;
            Some(normal.dot(base).abs())
        };
        (0..self.simplex.len())
            .map(|skipped| distance_without(skipped).unwrap_or(0.0))
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns `true` if a lower bound on the shapes' penetration depth exceeds `depth`.
    pub fn is_deeper(&mut self, pair: &impl MinkowskiDifference<Vector = D>, depth: f64) -> bool {
        // `distance` is an upper bound on the cores' distance, so this difference is a lower bound
        // on the depth.
        if self.radius_sum - self.distance > depth {
            return true;
        }
        self.run(pair, Goal::Contact);
        let cores = self.inner_distance();
        if cores > 0.0 {
            cores + self.radius_sum > depth
        } else {
            self.radius_sum - self.distance > depth
        }
    }

    /// Continues the loop until it reaches the goal or ends.
    pub fn run(&mut self, pair: &impl MinkowskiDifference<Vector = D>, goal: Goal) {
        while self.state == State::Running && !self.has_reached(goal) {
            self.step(pair);
        }
    }

    /// Returns `true` if the shapes touch. The loop must have reached a goal that includes the
    /// verdict, or ended.
    pub fn hit(&self) -> bool {
        match self.state {
            State::Enclosed => true,
            State::Invalid => false,
            State::Running | State::Converged | State::Stalled => {
                !self.proved_separated && self.distance <= self.touching_distance()
            }
        }
    }

    /// Returns `true` unless the cores are proved to be separated. The loop must have reached
    /// [`Goal::Contact`]. If the shapes have very different sizes, rounding may stop the loop at a
    /// sliver (a nearly flat simplex) before the simplex reaches the origin. So if no lower bound
    /// is positive, the cores may touch.
    pub fn cores_may_touch(&self) -> bool {
        match self.state {
            State::Enclosed => true,
            State::Stalled => self.lower_bound <= 0.0,
            State::Running | State::Converged | State::Invalid => false,
        }
    }

    /// Returns a vector in the direction from the second core to the first. The cores must be
    /// separated.
    ///
    /// The vector is v (`nearest.point`), with one exception. If rounding stopped the loop at a
    /// sliver within the touching distance of the origin, v is near the true nearest point, but the
    /// direction of v can be wrong. If an earlier v gave a better lower bound, the function returns
    /// that earlier v.
    pub fn separation(&self) -> D {
        let is_near = self.distance <= TOUCHING * self.scale;
        let lower_bound = self.lower_bound - LOWER_BOUND_LOSS * self.distance;
        let is_wrong = self.lower_bound > 0.0 && self.last_lower_bound < lower_bound;
        if self.state == State::Stalled && is_near && is_wrong {
            self.lower_bound_direction
        } else {
            self.nearest.point
        }
    }

    /// Returns the maximum distance between the cores at which the shapes touch.
    fn touching_distance(&self) -> f64 {
        self.radius_sum + TOUCHING * self.scale
    }

    fn has_reached(&self, goal: Goal) -> bool {
        let is_touching = || self.distance <= self.touching_distance();
        match goal {
            Goal::Verdict => self.proved_separated || is_touching(),
            Goal::Contact => self.proved_separated,
            Goal::Distance => !self.proved_separated && is_touching(),
            Goal::Nearest => false,
        }
    }

    fn step(&mut self, pair: &impl MinkowskiDifference<Vector = D>) {
        let vertex = pair.vertex(-self.nearest.point);
        self.add(vertex);
        pair.record(|| self.to_step(vertex));
    }

    /// Updates the bounds and the simplex for the support point in direction -v.
    #[inline(always)]
    fn add(&mut self, vertex: Vertex<D>) {
        let v = self.nearest.point;
        self.check(&vertex);
        if self.state != State::Running {
            return;
        }
        let lower_bound = v.dot(vertex.point) / self.distance;
        self.last_lower_bound = lower_bound;
        if lower_bound > self.lower_bound {
            self.lower_bound = lower_bound;
            self.lower_bound_direction = v;
        }
        // Except for rounding, the second condition follows from the first condition. If an earlier
        // run has returned the verdict that the shapes touch, the second condition ensures that
        // this verdict stays valid.
        let touching = self.touching_distance();
        if lower_bound > touching && self.distance > touching {
            self.proved_separated = true;
        }
        self.iterations += 1;
        self.gap *= GAP_GROWTH;
        let bounds_met =
            self.distance - lower_bound <= DISTANCE_GAP * self.distance + self.gap * self.scale;
        let repeats = self.simplex.iter().any(|old| old.point == vertex.point);
        if bounds_met || repeats {
            self.state = State::Converged;
            return;
        }
        // A full simplex contains the origin, which normally ends the loop. So `try_push` can fail
        // only if the cores are already proved to be separated.
        if self.iterations >= MAX_GJK_ITERATIONS || self.simplex.try_push(vertex).is_err() {
            self.state = State::Stalled;
            return;
        }
        let next = nearest(&self.simplex);
        let distance = next.point.length();
        let contradicts = distance < self.lower_bound - ROUNDING * self.scale;
        if distance < self.distance && !contradicts {
            self.keep(next, distance);
        } else {
            // This branch is reached only because of rounding, or if a shape is not convex. The
            // previous result is kept.
            self.simplex.pop();
            self.state = State::Stalled;
        }
    }

    /// Returns the trace step of an iteration that evaluated a vertex.
    fn to_step(&self, vertex: Vertex<D>) -> Step<D> {
        Step::Gjk(GjkStep {
            vertex,
            simplex: self.simplex.to_vec(),
            target: D::ZERO,
            nearest: self.nearest.point,
            lower_bound: self.lower_bound,
            upper_bound: self.distance,
        })
    }

    /// Updates the scale for a new vertex. Also updates the state if the vertex is invalid, or if
    /// the cores count as touching at the new scale.
    fn check(&mut self, vertex: &Vertex<D>) {
        self.scale = self.scale.max(vertex.scale() + self.radius_sum);
        if !vertex.point.is_finite() || !self.radius_sum.is_finite() {
            self.state = State::Invalid;
        } else if self.cores_touch_at(self.distance) {
            self.state = State::Enclosed;
        }
    }

    /// Returns `true` if cores at this distance count as touching. Once the cores are proved to be
    /// separated, they never count as touching, even if far vertices increase the scale.
    fn cores_touch_at(&self, distance: f64) -> bool {
        !self.proved_separated && distance <= CORE_CONTACT * self.scale
    }

    /// Keeps a new nearest point, and only the vertices of which this point is a combination.
    fn keep(&mut self, next: Nearest<D>, distance: f64) {
        self.nearest = next;
        self.nearest.reduce(&mut self.simplex);
        self.distance = distance;
        if self.cores_touch_at(distance) {
            self.state = State::Enclosed;
        }
    }
}
