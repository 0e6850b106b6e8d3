//! EPA: the penetration depth and the normal of two cores that overlap.
//!
//! `solver.rs` calls [`penetration`] for two cores that overlap, after GJK.
//!
//! The depth is the distance from the origin to the boundary of the Minkowski difference Y. This
//! distance is the minimum of the support values h(n) over all unit vectors n. The algorithm
//! follows van den Bergen, "Proximity Queries and Penetration Depth Computation on 3D Game Objects"
//! (2001). A polytope grows inside Y, starting from GJK's last simplex. Let n be the normal of the
//! facet nearest to the origin. Each step adds the support point of Y along n, until no point of Y
//! is beyond the nearest facet. The distance of the nearest facet from the origin is a lower bound
//! on the depth, and h(n) an upper bound. The departures from the paper are:
//!
//! * **Y may be flat.** GJK may end with one, two or three vertices. Y itself may have no more
//!   dimensions than the simplex of these vertices. Examples are two segments that cross, two faces
//!   in one plane, and two points at the same position. The simplex grows vertex by vertex along
//!   directions orthogonal to the simplex. If Y does not extend beyond the origin in such a
//!   direction, the depth is 0, and the direction is the normal.
//! * **The result is a true upper bound.** The depth is h(n) itself. So a translation by the depth
//!   along n separates the cores even if the loop ends early. If the loop converges, the depth
//!   exceeds the minimum by at most [`DEPTH_GAP`].
//! * **The loop may end early** if the polytope is full, if rounding damages the polytope, or if a
//!   support point repeats a vertex. After an early end, the axes of both shapes are evaluated as
//!   well, and a descent with GJK starts from each of the best directions: see
//!   [`EarlyEnd::finish`].

mod refine;

use arrayvec::ArrayVec;

use crate::{
    query::{
        epa::refine::{EarlyEnd, MAX_OPEN, refine},
        gjk::Penetration,
        minkowski::{EpaStep, MinkowskiDifference, Simplex, Step, Vertex, nearest},
    },
    space::{DVector, EpaEnd, Polytope, PolytopeFacet},
    tolerance::{COPLANAR_DISTANCE, DEPTH_GAP, DISTINCT_DIRECTIONS, FLAT_DEPTH, ROUNDING},
};

/// The usual capacities for vertices and facets. By Euler's formula, a polyhedron of triangles has
/// about two facets per vertex. Most pairs need 10 to 20 vertices.
const USUAL_CAPACITY: (usize, usize) = (64, 124);

/// The capacities for other pairs: concentric shapes that are curved or have hundreds of points.
/// The depth of such shapes is nearly the same in all directions, so the loop evaluates many
/// directions.
const LARGE_CAPACITY: (usize, usize) = (1024, 2044);

/// Returns the contact of cores that overlap. `start` is GJK's last simplex. If the depth is at
/// least `limit`, the search ends early, and the function returns another contact whose depth is at
/// least `limit`.
pub fn penetration<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    (scale, limit): (f64, f64),
) -> Penetration<D> {
    let bounds = (scale, limit);
    run::<_, { USUAL_CAPACITY.0 }, { USUAL_CAPACITY.1 }>(pair, start, bounds)
        .unwrap_or_else(|early_end| run_again(pair, start, bounds, early_end))
        .with_opposite_points(pair)
}

/// Returns the contact after an early end. If the polytope was full, a second run uses larger
/// capacities.
// This function is not inlined, because its large polytope would then take up stack space in every
// call of the caller.
#[cold]
#[inline(never)]
fn run_again<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    bounds: (f64, f64),
    early_end: EarlyEnd<D>,
) -> Penetration<D> {
    if !early_end.is_full {
        return early_end.finish(pair);
    }
    run::<_, { LARGE_CAPACITY.0 }, { LARGE_CAPACITY.1 }>(pair, start, bounds)
        .unwrap_or_else(|early_end| early_end.finish(pair))
}

/// Runs EPA with the given capacities.
fn run<D: DVector, const VERTICES: usize, const FACETS: usize>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    (scale, limit): (f64, f64),
) -> Result<Penetration<D>, EarlyEnd<D>> {
    // The polytope is filled in place, because it is too large to be moved.
    let mut epa = Epa::<D, _, VERTICES, FACETS> {
        pair,
        vertices: ArrayVec::new(),
        points: ArrayVec::new(),
        polytope: Default::default(),
        scale,
        limit,
        best: None,
        open: ArrayVec::new(),
    };
    for vertex in start.iter() {
        epa.push(*vertex);
    }
    let flat = epa.fill_dimensions();
    match flat.and_then(|flat| flat.map_or_else(|| epa.expand(), Ok)) {
        Ok(found) => Ok(found),
        Err(end) => Err(EarlyEnd {
            is_full: end == EpaEnd::Full,
            best: epa.best.unwrap_or_else(|| epa.evaluate_again(start)),
            open: epa.open,
            scale: epa.scale,
        }),
    }
}

struct Epa<'a, D: DVector, P, const VERTICES: usize, const FACETS: usize> {
    pair: &'a P,
    vertices: ArrayVec<Vertex<D>, VERTICES>,
    /// The positions of the vertices, which the polytope needs.
    points: ArrayVec<D, VERTICES>,
    polytope: D::Polytope<FACETS>,
    scale: f64,
    /// The depth at which the search ends early.
    limit: f64,
    /// The contact of minimum depth among all evaluated directions.
    best: Option<Penetration<D>>,
    /// Other directions near which the depth may be lower, collected only if the polytope is full.
    open: ArrayVec<D, MAX_OPEN>,
}

impl<D, P, const VERTICES: usize, const FACETS: usize> Epa<'_, D, P, VERTICES, FACETS>
where
    D: DVector,
    P: MinkowskiDifference<Vector = D>,
{
    /// Evaluates the support function along a unit vector, and keeps the best contact. Returns the
    /// vertex, and the contact along the unit vector.
    #[inline]
    fn evaluate(&mut self, normal: D) -> (Vertex<D>, Penetration<D>) {
        let vertex = self.pair.vertex(normal);
        // If GJK ended on a single vertex at the origin, GJK's scale may be far too small, even 0.
        // So vertices of EPA increase the scale.
        self.scale = self.scale.max(vertex.scale());
        let found = Penetration::at_vertex(normal, &vertex, self.scale);
        let is_best = self.best.is_none_or(|best| found.depth < best.depth);
        if is_best && vertex.point.is_finite() {
            self.best = Some(found);
        }
        self.pair.record(|| self.to_step(vertex));
        (vertex, found)
    }

    /// Returns a contact even if EPA has found no contact. The contact is along the first axis, or,
    /// if the support point along this axis is not finite, along a direction of GJK's simplex.
    #[cold]
    fn evaluate_again(&mut self, start: &Simplex<D>) -> Penetration<D> {
        let (_, found) = self.evaluate(D::axis(0));
        let of_start = start.iter().find_map(|vertex| {
            let normal = vertex.direction.unit()?;
            Some(Penetration::at_vertex(normal, vertex, self.scale))
        });
        self.best.or(of_start).unwrap_or(found)
    }

    /// Returns the trace step for a vertex that is not yet part of the polytope.
    fn to_step(&self, vertex: Vertex<D>) -> Step<D> {
        let nearest = self.polytope.nearest();
        Step::Epa(EpaStep {
            vertex,
            vertices: self.vertices.to_vec(),
            facets: self.polytope.facets().collect(),
            nearest,
            lower_bound: nearest.map_or(0.0, |facet| facet.distance.max(0.0)),
            upper_bound: self.best.map_or(f64::INFINITY, |best| best.depth),
        })
    }

    /// Adds a vertex if there is capacity.
    #[inline]
    fn push(&mut self, vertex: Vertex<D>) {
        let _ = self.vertices.try_push(vertex);
        let _ = self.points.try_push(vertex.point);
    }

    /// Adds vertices until they span all dimensions. If Y does not extend beyond the origin in some
    /// direction, no vertex can be added, and the function returns the contact.
    fn fill_dimensions(&mut self) -> Result<Option<Penetration<D>>, EpaEnd> {
        // The origin is in GJK's simplex, up to rounding. So the points `first` and `second` of the
        // cores coincide.
        let (first, second) = nearest(&self.vertices).witnesses(&self.vertices);
        // Each iteration adds or removes a vertex, and only vertices of GJK's simplex are removed.
        // So this number of iterations is enough.
        for _ in 0..2 * (D::DIMENSION + 1) {
            let Some(perpendicular) = self.perpendicular() else {
                return Ok(None);
            };
            let Some(normal) = perpendicular.unit() else {
                self.vertices.pop();
                self.points.pop();
                continue;
            };
            let (vertex, found) = self.evaluate(normal);
            if found.depth <= FLAT_DEPTH * self.scale {
                return Ok(Some(Penetration {
                    depth: found.depth.max(0.0),
                    first,
                    second,
                    ..found
                }));
            }
            if !vertex.point.is_finite() {
                return Err(EpaEnd::Stuck);
            }
            // The other vertices lie within `FLAT_DEPTH` of a plane through the origin, so the new
            // vertex is independent of them.
            self.push(vertex);
        }
        Err(EpaEnd::Stuck)
    }

    /// Returns a vector of any length at right angles to the simplex of all vertices. The length is
    /// 0 if rounding leaves the vertices dependent. Returns `None` if the vertices span all
    /// dimensions.
    fn perpendicular(&self) -> Option<D> {
        let (base, others) = self.points.split_first()?;
        let edges = others.iter().map(|point| *point - *base);
        let edges: ArrayVec<D, 3> = edges.collect();
        let is_degenerate = || D::determinant(&edges) == 0.0;
        D::perpendicular(&edges).or_else(|| is_degenerate().then_some(D::ZERO))
    }

    /// Runs the loop of EPA.
    fn expand(&mut self) -> Result<Penetration<D>, EpaEnd> {
        self.polytope.begin(&self.points).ok_or(EpaEnd::Stuck)?;
        loop {
            let facet = self.polytope.nearest().ok_or(EpaEnd::Stuck)?;
            let (vertex, found) = self.evaluate(facet.normal);
            let gap = found.depth - facet.distance;
            if gap <= DEPTH_GAP * self.scale {
                return Ok(self.with_points(found, gap));
            }
            if !vertex.point.is_finite() || self.points.contains(&vertex.point) {
                return Err(EpaEnd::Stuck);
            }
            if facet.distance >= self.limit {
                return Ok(found);
            }
            let grown = if self.points.is_full() {
                Err(EpaEnd::Full)
            } else {
                self.push(vertex);
                let tolerance = COPLANAR_DISTANCE * self.scale;
                self.polytope.grow(&self.points, &facet, tolerance)
            };
            if grown == Err(EpaEnd::Full) {
                self.collect_open();
            }
            grown?;
        }
    }

    /// Collects the normals of the nearest facets, but only one of each group of nearly parallel
    /// normals.
    #[cold]
    fn collect_open(&mut self) {
        let limit = self.best.map_or(f64::INFINITY, |best| best.depth);
        for _ in 0..MAX_OPEN {
            let is_distinct = |facet: &PolytopeFacet<D>| {
                self.open
                    .iter()
                    .all(|open| open.dot(facet.normal) <= DISTINCT_DIRECTIONS)
            };
            let next = self
                .polytope
                .facets()
                .filter(|facet| facet.distance < limit && is_distinct(facet))
                .min_by(|a, b| a.distance.total_cmp(&b.distance));
            let Some(next) = next else {
                break;
            };
            self.open.push(next.normal);
        }
    }

    /// Returns the contact with the points at which the cores touch. `gap` is the difference
    /// between the upper and the lower bound on the depth.
    fn with_points(&mut self, found: Penetration<D>, gap: f64) -> Penetration<D> {
        let Some(facet) = self.supporting_facet(found) else {
            return found;
        };
        // On a polytope, the bounds on the depth nearly always meet. So if the bounds differ, the
        // surface is probably curved.
        if gap > ROUNDING * self.scale {
            refine(found, gap, facet, |normal| self.evaluate(normal))
        } else {
            found.with_points_on(&facet)
        }
    }

    /// Among the facets in the supporting plane, returns the facet nearest to the origin's
    /// projection onto this plane.
    ///
    /// A facet lies in the plane only if all of its vertices do. A comparison of the facets'
    /// distances from the origin would also admit facets on the opposite side of a symmetric
    /// polytope.
    fn supporting_facet(&self, found: Penetration<D>) -> Option<Simplex<D>> {
        // The tolerance is twice the gap between the bounds at which the loop ends, so that
        // rounding does not exclude the evaluated facet.
        let lowest = found.depth - 2.0 * DEPTH_GAP * self.scale;
        let is_on_plane = |index: &u16| {
            let point = self.points.get(usize::from(*index));
            point.is_some_and(|point| point.dot(found.normal) >= lowest)
        };
        let mut best: Option<(f64, Simplex<D>)> = None;
        for facet in self.polytope.facets() {
            let indices = || facet.vertices.iter().take(D::DIMENSION);
            if !indices().all(is_on_plane) {
                continue;
            }
            let mut vertices = Simplex::new();
            for index in indices() {
                vertices.push(*self.vertices.get(usize::from(*index))?);
            }
            let distance = found.nearest_on(&vertices).point.length_squared();
            if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                best = Some((distance, vertices));
            }
        }
        best.map(|(_, vertices)| vertices)
    }
}
