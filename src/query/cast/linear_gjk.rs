//! Linear casts of any two convex shapes: GJK along a ray.
//!
//! The method is that of van den Bergen, "Ray Casting against General Convex Objects with
//! Application to Continuous Collision Detection" (2004). Let D be the Minkowski difference of the
//! cores at the start, and v the velocity of the second shape. At the time t the cores touch if the
//! point x = t v is in D. The loop keeps a simplex of vertices of D, and y, its point nearest to x.
//! Each step evaluates one support point w of D, in the direction n = (x - y) / |x - y|:
//!
//! * D is behind the plane through w with normal n. So n·(x - w) is a lower bound of the distance.
//!   If it exceeds the radii, x advances to where it is equal. That is a step of Newton's method on
//!   the distance, a convex function of time, from its outer side: x never passes the touch.
//! * The simplex is in D. So |x - y| is an upper bound, and the loop ends when both bounds meet.
//!
//! All vertices stay valid while x moves, so a step costs one support point, whether it advances
//! the time or improves the direction. The departures from the paper are:
//!
//! * **A step ends at a margin,** so that the shapes are certainly apart at the time `safe`.
//! * **The bounds meet within a tolerance that grows,** as for curved surfaces in `gjk.rs`. Bounds
//!   that differ by a fraction e of the size leave an error of √(2 e) in the normal.
//! * **A touch is a hit only if the shapes overlap afterwards.** The simplex at the touch is part
//!   of D. So GJK continues from it at a later time, and its last simplex bounds the depth.

use arrayvec::ArrayVec;

use crate::{
    query::{
        cast::{
            linear::{LinearCast, LinearOutcome, LinearTouch},
            solve::{PROBED_DEPTH, PROBED_MOTION},
        },
        gjk::Gjk,
        minkowski::MinkowskiDifference,
        penetration::Penetration,
        simplex::{Nearest, Simplex, Vertex, nearest_to},
        trace::{GjkStep, Step},
    },
    space::DVector,
};

/// Polytopes need about 8 iterations, smooth shapes 20 to 30.
const MAX_ITERATIONS: usize = 63;

/// The difference of the bounds at which the loop ends grows by this factor in each iteration, as
/// with [`GAP_GROWTH`](crate::tolerance::GAP_GROWTH).
const BAND_GROWTH: f64 = 1.3;

/// The greatest difference of the bounds, as a fraction of the size: an error of √(2e-9) = 4.5e-5
/// in the normal.
const MAX_BAND: f64 = 1e-9;

/// The minimum weight of each vertex, and the minimum area (in 2D, length) relative to the size of
/// the pair, at which the nearest point of a simplex is certainly inside a facet.
const FACET_PART: f64 = 1e-2;

/// The position of a cast between two steps.
struct CastState<D: DVector> {
    time: f64,
    /// x.
    position: D,
    simplex: Simplex<D>,
    /// y - x.
    nearest: Nearest<D>,
    /// The normal of the last plane, from the first shape to the second.
    normal: D,
    /// The largest gap of a plane at the start.
    start_gap: f64,
}

impl<D: DVector> LinearCast<D> {
    /// Returns `None` if the outcome is not certain.
    pub fn by_gjk(&self, pair: &impl MinkowskiDifference<Vector = D>) -> Option<LinearOutcome<D>> {
        let mut ray = CastState {
            time: 0.0,
            position: D::ZERO,
            simplex: Simplex::new(),
            nearest: Nearest {
                point: -self.center,
                weights: [0.0; 4],
            },
            normal: D::ZERO,
            start_gap: f64::NEG_INFINITY,
        };
        let mut band = 0.5 * self.margin;
        let mut best = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let normal = (-ray.nearest.point).unit()?;
            let vertex = pair.vertex(normal);
            let height = normal.dot(ray.position - vertex.point) - self.radius_sum;
            ray.start_gap = ray
                .start_gap
                .max(-normal.dot(vertex.point) - self.radius_sum);
            let above = height - self.stop_gap;
            if above > 0.0 {
                let closing_speed = -normal.dot(self.velocity);
                let step = above / closing_speed;
                if closing_speed <= 0.0 || ray.time + step >= 1.0 {
                    let is_certain = ray.start_gap > self.clearance;
                    pair.record(|| ray.at_end(self, vertex));
                    return is_certain.then_some(LinearOutcome::Misses);
                }
                ray.time += step;
                ray.position = self.velocity * ray.time;
                ray.normal = normal;
                best = f64::INFINITY;
            }
            ray.add(vertex)?;
            pair.record(|| ray.to_step(self, vertex));
            let distance = ray.nearest.point.length();
            let gap = distance - self.radius_sum;
            if gap <= self.stop_gap + band {
                return self.touch_of(&ray, gap, pair);
            }
            // By rounding, the simplex comes no nearer. Also ends a loop with NaN.
            let is_nearer = distance < best;
            if !is_nearer {
                return None;
            }
            best = distance;
            band = (band * BAND_GROWTH).min((MAX_BAND * self.size).max(self.margin));
        }
        None
    }

    /// Returns the touch if the shapes certainly overlap afterwards.
    fn touch_of(
        &self,
        ray: &CastState<D>,
        gap: f64,
        pair: &impl MinkowskiDifference<Vector = D>,
    ) -> Option<LinearOutcome<D>> {
        let closing_speed = -ray.normal.dot(self.velocity);
        let is_apart = ray.start_gap > self.clearance && gap > 0.0 && closing_speed > 0.0;
        let end = (PROBED_MOTION * self.size / self.speed).max(1.0 - ray.time);
        let deeper = ray.time + (PROBED_DEPTH * self.size / closing_speed).min(end);
        if !is_apart || !self.overlaps(deeper, ray.simplex.clone(), pair) {
            return None;
        }
        let (first, second) = ray.nearest.witnesses(&ray.simplex);
        let cores = Penetration {
            normal: ray.normal,
            depth: -ray.nearest.point.length(),
            first,
            second: second + ray.position,
            scale: self.size,
        };
        let touch = self.touching(ray.time, self.stop_gap / closing_speed, cores);
        Some(LinearOutcome::Touches(LinearTouch {
            is_on_face: [
                ray.is_on_facet_of(|vertex| vertex.first, self.size),
                ray.is_on_facet_of(|vertex| vertex.second, self.size),
            ],
            ..touch
        }))
    }

    /// Returns `true` if the shapes certainly overlap at the given time. GJK continues from a
    /// simplex at the start.
    fn overlaps(
        &self,
        time: f64,
        mut simplex: Simplex<D>,
        pair: &impl MinkowskiDifference<Vector = D>,
    ) -> bool {
        let translation = self.velocity * time;
        for vertex in simplex.iter_mut() {
            vertex.second = vertex.second + translation;
            vertex.point = vertex.point - translation;
        }
        let moved = pair.with_second_moved(translation);
        Gjk::from_simplex(&moved, simplex).is_deeper(&moved, self.slack)
    }
}

impl<D: DVector> CastState<D> {
    /// Adds a vertex, and keeps those of which the nearest point is a combination. Returns `None`
    /// if the simplex is full: then it contains x, and the shapes overlap.
    fn add(&mut self, vertex: Vertex<D>) -> Option<()> {
        if self.simplex.iter().all(|old| old.point != vertex.point) {
            self.simplex.try_push(vertex).ok()?;
        }
        self.nearest = nearest_to(self.position, &self.simplex);
        self.nearest.reduce(&mut self.simplex);
        Some(())
    }

    /// Returns the state at the end of a motion that a vertex proves to be free.
    fn at_end(mut self, cast: &LinearCast<D>, vertex: Vertex<D>) -> Step<D> {
        (self.time, self.position) = (1.0, cast.velocity);
        let _ = self.add(vertex);
        self.to_step(cast, vertex)
    }

    /// Returns the state after an iteration that evaluated a vertex.
    fn to_step(&self, cast: &LinearCast<D>, vertex: Vertex<D>) -> Step<D> {
        let normal = vertex.direction;
        Step::Cast {
            interval: [self.time, self.certain_touch(cast)],
            gjk: GjkStep {
                vertex,
                simplex: self.simplex.to_vec(),
                target: self.position,
                nearest: self.position + self.nearest.point,
                lower_bound: normal.dot(self.position - vertex.point).max(0.0),
                upper_bound: self.nearest.point.length(),
            },
        }
    }

    /// Returns a time at which the shapes certainly touch, or infinity if none is known: the time
    /// at which x is at the distance of the radii from the plane through y with normal x - y, if it
    /// is then that near to the simplex, too.
    fn certain_touch(&self, cast: &LinearCast<D>) -> f64 {
        let touch = || {
            let normal = (-self.nearest.point).unit()?;
            let gap = self.nearest.point.length() - cast.radius_sum;
            let time = self.time - gap / normal.dot(cast.velocity);
            let distance = nearest_to(cast.velocity * time, &self.simplex)
                .point
                .length();
            let touches = time >= self.time && distance <= cast.radius_sum + cast.margin;
            touches.then_some(time)
        };
        touch().unwrap_or(f64::INFINITY)
    }

    /// Returns `true` if the simplex is a facet whose points of one core span a facet of that core,
    /// with a part of `size` between the nearest point and the edges of that facet.
    fn is_on_facet_of(&self, core: impl Fn(&Vertex<D>) -> D, size: f64) -> bool {
        let mut weights = self.nearest.weights.iter().take(D::DIMENSION);
        if self.simplex.len() != D::DIMENSION || weights.any(|weight| *weight < FACET_PART) {
            return false;
        }
        let Some((base, others)) = self.simplex.split_first() else {
            return false;
        };
        let edges = others.iter().map(|vertex| core(vertex) - core(base));
        let edges: ArrayVec<D, 3> = edges.collect();
        let sides = (1..D::DIMENSION).map(|_| size);
        let area = FACET_PART * sides.product::<f64>();
        D::perpendicular(&edges).is_some_and(|normal| normal.length() >= area)
    }
}
