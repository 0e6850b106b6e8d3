//! Linear casts of any two convex shapes: GJK along a ray.
//!
//! A linear motion only moves the Minkowski difference of the cores, so the cast is a ray cast
//! against this difference. The method follows van den Bergen, "Ray Casting against General Convex
//! Objects with Application to Continuous Collision Detection" (2004). Let D be the Minkowski
//! difference of the cores at the start, and v the velocity of the second shape. At the time t the
//! cores touch if the point x = t v is in D. The loop keeps a simplex of vertices of D, and the
//! point y of the simplex that is nearest to x. Each step evaluates one support point w of D, in
//! the direction n = (x - y) / |x - y|:
//!
//! * D is behind the plane through w with normal n. So n·(x - w) is a lower bound on the distance.
//!   If this bound exceeds the sum of the radii, x advances until the bound equals the sum. The
//!   advance is a step of Newton's method on the distance, a convex function of time, so x never
//!   passes the touch.
//! * The simplex is in D. So |x - y| is an upper bound on the distance, and the loop ends when the
//!   two bounds meet.
//!
//! All vertices remain vertices of D while x moves. So each step costs one support point, whether
//! the step advances the time or improves the direction. The departures from the paper are:
//!
//! * **Clear misses are found first.** Two directions prove most misses, and each direction costs
//!   one support point. The first direction points from the first shape's origin to the second
//!   shape's origin. The second direction is the component of the first direction perpendicular to
//!   the motion.
//! * **The loop begins on the facet that the ray meets,** if `met_facet.rs` finds this facet. Then
//!   the bounds nearly always meet at once.
//! * **A step ends at a margin,** so that the shapes are certainly apart at the time `safe`.
//! * **The bounds meet within a tolerance that grows,** as for curved surfaces in `gjk/`. Bounds
//!   that differ by a fraction e of the size leave an error of √(2 e) in the normal.
//! * **A touch is a hit only if the shapes overlap afterwards.** The simplex at the touch is part
//!   of D. So GJK continues from this simplex at a later time, and its last simplex bounds the
//!   depth.
//!
//! `certified/` computes the uncertain cases: shapes that touch or nearly touch at the start, and
//! touches after which the shapes may not overlap.

use arrayvec::ArrayVec;

use crate::{
    query::{
        cast::{CastScale, CertifiedTouch, FastCast, Uncertain, direct::met_facet::met_facet},
        gjk::{Gjk, Penetration},
        minkowski::{GjkStep, MinkowskiDifference, Nearest, Simplex, Step, Vertex, nearest_to},
    },
    space::DVector,
};

/// The maximum number of iterations. Polytopes need about 8 iterations, and smooth shapes 20 to 30.
const MAX_CAST_ITERATIONS: usize = 63;

/// The nearest point of a simplex counts as inside a facet if the weight of each vertex is at least
/// this value. In addition, the facet must not be too small. In 2D, its length must be at least
/// this fraction of the size. In 3D, its area must be at least this fraction of the squared size.
const FACET_PART: f64 = 1e-2;

/// A miss is clear if the gap exceeds this fraction of the size that the support points suggest.
/// Even if a shape is a thousand times longer than these points suggest, such a gap exceeds the
/// clearance.
const CLEAR_PART: f64 = 1e-3;

/// Returns `None` if one of two planes separates the shapes during the whole motion, by far more
/// than any tolerance. Otherwise returns the vertex in the direction from the first shape's origin
/// to the second shape's origin. The size of the shapes is not yet known, so it is estimated from
/// the support points. `travel` bounds the sum of the two translations' lengths.
pub fn facing_vertex<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    velocity: D,
    travel: f64,
) -> FastCast<Vertex<D>> {
    let center = pair.relative().translation;
    let misses = |normal: D, vertex: &Vertex<D>| {
        let start = -normal.dot(vertex.point) - pair.radius_sum();
        let end = start + normal.dot(velocity);
        let size = vertex.first.extent() + (vertex.second - center).extent() + pair.radius_sum();
        let rounding = 4.0 * f64::EPSILON * (travel + center.extent());
        start.min(end) > CLEAR_PART * size + rounding
    };
    let normal = center.unit().ok_or(Uncertain)?;
    let vertex = pair.vertex(normal);
    let nearest = center - velocity * (center.dot(velocity) / velocity.length_squared());
    let passes = |normal| misses(normal, &pair.vertex(normal));
    let is_clear = misses(normal, &vertex) || nearest.unit().is_some_and(passes);
    Ok((!is_clear).then_some(vertex))
}

/// Returns the first touch of a linear cast. `velocity` is the velocity of the second shape
/// relative to the first, in the frame of the pair. With the vertex `facing` of [`facing_vertex`],
/// the loop begins on the facet that the ray meets, if there is one.
pub fn linear_touch<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    velocity: D,
    scale: &CastScale,
    facing: Option<Vertex<D>>,
) -> FastCast<CertifiedTouch<D>> {
    let radius_sum = pair.radius_sum();
    let mut ray = RayState {
        time: 0.0,
        position: D::ZERO,
        simplex: Simplex::new(),
        nearest: Nearest {
            point: -pair.relative().translation,
            weights: [0.0; 4],
        },
        normal: D::ZERO,
        start_gap: f64::NEG_INFINITY,
        velocity,
        radius_sum,
        scale,
    };
    let mut band = 0.5 * scale.margin;
    if let Some(facing) = facing
        && let Ok(met) = met_facet(pair, velocity, facing, scale)
    {
        let Some(met) = met else {
            return Ok(None);
        };
        ray.advance(met.time, met.normal);
        ray.start_gap = met.start_gap;
        ray.simplex = met.simplex;
        ray.nearest = nearest_to(ray.position, &ray.simplex);
        band = met.band;
        if ray.nearest.point.length() <= scale.stop_gap + band {
            return ray.certified_touch(pair).map(Some);
        }
    }
    let mut best = f64::INFINITY;
    for _ in 0..MAX_CAST_ITERATIONS {
        let normal = (-ray.nearest.point).unit().ok_or(Uncertain)?;
        let vertex = pair.vertex(normal);
        let height = normal.dot(ray.position - vertex.point) - radius_sum;
        let start_gap = -normal.dot(vertex.point) - radius_sum;
        ray.start_gap = ray.start_gap.max(start_gap);
        let above = height - scale.stop_gap;
        if above > 0.0 {
            let closing_speed = -normal.dot(velocity);
            let step = above / closing_speed;
            if closing_speed <= 0.0 || ray.time + step >= 1.0 {
                let is_certain = ray.start_gap > scale.clearance();
                pair.record(|| ray.at_end(vertex));
                return if is_certain { Ok(None) } else { Err(Uncertain) };
            }
            ray.advance(ray.time + step, normal);
            best = f64::INFINITY;
        }
        ray.add(vertex)?;
        pair.record(|| ray.to_step(vertex));
        let distance = ray.nearest.point.length();
        if distance - radius_sum <= scale.stop_gap + band {
            return ray.certified_touch(pair).map(Some);
        }
        // If rounding keeps the distance from shrinking, or if a value is NaN, the loop ends.
        let is_nearer = distance < best;
        if !is_nearer {
            return Err(Uncertain);
        }
        best = distance;
        band = scale.next_band(band);
    }
    Err(Uncertain)
}

/// The state of the loop between two steps.
struct RayState<'a, D: DVector> {
    time: f64,
    /// The point x = t v.
    position: D,
    simplex: Simplex<D>,
    /// The point y of the simplex, relative to x.
    nearest: Nearest<D>,
    /// The normal of the plane to which x last advanced, from the first shape to the second.
    normal: D,
    /// The largest gap at the start along any of the normals so far.
    start_gap: f64,
    /// The velocity v of the second shape relative to the first.
    velocity: D,
    radius_sum: f64,
    scale: &'a CastScale,
}

impl<D: DVector> RayState<'_, D> {
    /// Moves x to its point at the given time, which is on the plane with this normal.
    fn advance(&mut self, time: f64, normal: D) {
        self.time = time;
        self.position = self.velocity * time;
        self.normal = normal;
    }

    /// Adds a vertex, and keeps the vertices of which the nearest point is a combination. If the
    /// simplex is full, it contains x, so the shapes overlap, and the cast is uncertain.
    fn add(&mut self, vertex: Vertex<D>) -> Result<(), Uncertain> {
        if self.simplex.iter().all(|old| old.point != vertex.point) {
            self.simplex.try_push(vertex).map_err(|_| Uncertain)?;
        }
        self.nearest = nearest_to(self.position, &self.simplex);
        self.nearest.reduce(&mut self.simplex);
        Ok(())
    }

    /// Returns the touch if the shapes certainly overlap afterwards.
    fn certified_touch(
        &self,
        pair: &impl MinkowskiDifference<Vector = D>,
    ) -> Result<CertifiedTouch<D>, Uncertain> {
        let (scale, speed) = (self.scale, self.velocity.length());
        let closing_speed = -self.normal.dot(self.velocity);
        let distance = self.nearest.point.length();
        let is_apart = self.start_gap > scale.clearance() && distance > self.radius_sum;
        let end = scale.probed_end(self.time, speed);
        let deeper = scale.probed_time(self.time, closing_speed, end);
        if !is_apart || closing_speed <= 0.0 || !self.overlaps(deeper, pair) {
            return Err(Uncertain);
        }
        let (first, second) = self.nearest.witnesses(&self.simplex);
        let step = scale.stop_gap / closing_speed;
        Ok(CertifiedTouch {
            safe: self.time,
            touching: scale.touching_time(self.time, step, speed),
            cores: Penetration {
                normal: self.normal,
                depth: -distance,
                first,
                second: second + self.position,
                scale: scale.size,
            },
            is_on_face: [
                self.is_on_facet_of(|vertex| vertex.first),
                self.is_on_facet_of(|vertex| vertex.second),
            ],
        })
    }

    /// Returns `true` if GJK, continued from the simplex, proves that the shapes overlap at the
    /// given time.
    fn overlaps(&self, time: f64, pair: &impl MinkowskiDifference<Vector = D>) -> bool {
        let translation = self.velocity * time;
        let mut simplex = self.simplex.clone();
        for vertex in simplex.iter_mut() {
            vertex.second = vertex.second + translation;
            vertex.point = vertex.point - translation;
        }
        let moved = pair.with_second_moved(translation);
        Gjk::from_simplex(&moved, simplex).is_deeper(&moved, self.scale.slack)
    }

    /// Returns the state at the end of a motion that a vertex proves to be free of touches.
    fn at_end(mut self, vertex: Vertex<D>) -> Step<D> {
        (self.time, self.position) = (1.0, self.velocity);
        let _ = self.add(vertex);
        self.to_step(vertex)
    }

    /// Returns the state after an iteration that evaluated a vertex.
    fn to_step(&self, vertex: Vertex<D>) -> Step<D> {
        let normal = vertex.direction;
        Step::Cast {
            interval: [self.time, self.certain_touch().unwrap_or(f64::INFINITY)],
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

    /// Returns a time at which the shapes certainly touch. At this time, the distance of x from the
    /// plane through y with normal x - y equals the sum of the radii. Returns `None` if, at this
    /// time, x is farther from the simplex than the sum of the radii.
    fn certain_touch(&self) -> Option<f64> {
        let normal = (-self.nearest.point).unit()?;
        let gap = self.nearest.point.length() - self.radius_sum;
        let time = self.time - gap / normal.dot(self.velocity);
        let nearest = nearest_to(self.velocity * time, &self.simplex);
        let is_near = nearest.point.length() <= self.radius_sum + self.scale.margin;
        (time >= self.time && is_near).then_some(time)
    }

    /// Returns `true` if the simplex is a facet, and the nearest point is well inside the simplex.
    /// In addition, the points of the vertices on one core, which `core` selects, must span a facet
    /// of that core.
    fn is_on_facet_of(&self, core: impl Fn(&Vertex<D>) -> D) -> bool {
        let mut weights = self.nearest.weights.iter().take(D::DIMENSION);
        if self.simplex.len() != D::DIMENSION || weights.any(|weight| *weight < FACET_PART) {
            return false;
        }
        let Some((base, others)) = self.simplex.split_first() else {
            return false;
        };
        let edges = others.iter().map(|vertex| core(vertex) - core(base));
        let edges: ArrayVec<D, 3> = edges.collect();
        let sides = (1..D::DIMENSION).map(|_| self.scale.size);
        let area = FACET_PART * sides.product::<f64>();
        D::perpendicular(&edges).is_some_and(|normal| normal.length() >= area)
    }
}
