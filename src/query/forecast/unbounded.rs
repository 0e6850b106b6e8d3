//! A convex body with unbounded edges, the inner approximation of a shadow. Each added vertex lies
//! outside of the body.
//!
//! In homogeneous coordinates, a direction is a point at infinity. So the vertices of a facet are
//! points or directions, and at least one vertex is a point. A new vertex removes the facets that
//! are visible from this vertex. New facets join the vertex to the horizon, the boundary of the
//! removed facets. The body has no facets at infinity, so a ridge at infinity is joined only to
//! points, not to directions.
//!
//! A body has few facets, so a list of facets without links between neighbors is fast enough in
//! both dimensions.

use arrayvec::ArrayVec;

use crate::space::DVector;

/// The capacity for vertices. In 3D, a body of n vertices has at most 2 n facets. Most forecasts
/// need 5 to 30 vertices.
const MAX_SHADOW_VERTICES: usize = 256;
const MAX_SHADOW_FACETS: usize = 2 * MAX_SHADOW_VERTICES;

/// The sine of the smallest angle between two edges of a facet. The normal of a narrower facet is
/// dominated by rounding. At this angle, unit edges with errors of 1e-15 give a normal with an
/// error of 1e-4.
const LEAST_EDGE_SINE: f64 = 1e-11;

/// A vertex: a point of the body, or the unit vector along an unbounded edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShadowVertex<D> {
    Point(D),
    Direction(D),
}

/// The common boundary of two facets, given by the indices of its vertices. In 3D, the ridge is an
/// edge. In 2D, the ridge is a vertex, given twice.
type ShadowRidge = [u16; 2];

#[derive(Clone, Copy, Debug)]
pub struct ShadowFacet<D> {
    /// The outward unit normal, zero for a facet without area.
    pub normal: D,
    /// The plane's distance from the origin: `normal · p` for each point p of the facet's plane.
    pub distance: f64,
    /// The height of the plane above the target, infinite for a facet that
    /// [`UnboundedBody::nearest`] excludes.
    pub clearance: f64,
    /// The indices of the vertices in ascending order. Only the first [`DVector::DIMENSION`]
    /// indices are used.
    vertices: [u16; 3],
    /// `true` if the facet is visible from the vertex that is being added.
    is_seen: bool,
}

impl<D: DVector> ShadowFacet<D> {
    fn vertices(&self) -> impl Iterator<Item = u16> {
        self.vertices.into_iter().take(D::DIMENSION)
    }

    fn ridges(&self) -> impl Iterator<Item = ShadowRidge> {
        let [a, b, c] = self.vertices;
        let ridges = match D::DIMENSION {
            2 => [[a, a], [b, b], [b, b]],
            _ => [[a, b], [a, c], [b, c]],
        };
        ridges.into_iter().take(D::DIMENSION)
    }

    fn shares_ridge(&self, other: &Self) -> bool {
        let is_common = |vertex: &u16| other.vertices().any(|other| other == *vertex);
        self.vertices().filter(is_common).count() + 1 >= D::DIMENSION
    }

    /// Returns `true` if a vertex is beyond the facet or in its plane.
    fn sees(&self, vertex: ShadowVertex<D>, [length, angle]: [f64; 2]) -> bool {
        match vertex {
            _ if self.normal == D::ZERO => true,
            ShadowVertex::Point(point) => self.normal.dot(point) > self.distance - length,
            ShadowVertex::Direction(direction) => self.normal.dot(direction) > -angle,
        }
    }
}

/// A convex body with unbounded edges.
pub struct UnboundedBody<D> {
    vertices: ArrayVec<ShadowVertex<D>, MAX_SHADOW_VERTICES>,
    facets: ArrayVec<ShadowFacet<D>, MAX_SHADOW_FACETS>,
    /// A point inside the body.
    inside: D,
    /// The point whose depth in the body is computed.
    target: D,
    /// The tolerances of [`ShadowFacet::sees`]: the distance of a point below the facet's plane,
    /// and the sine of a direction's angle below the plane.
    tolerances: [f64; 2],
}

impl<D: DVector> UnboundedBody<D> {
    /// Returns the cone from a point along independent directions, one direction for each
    /// dimension. `unit` is a length of the order of the body's size.
    pub fn new(point: D, directions: &[D], target: D, unit: f64, tolerances: [f64; 2]) -> Self {
        let mut body = Self {
            vertices: ArrayVec::new(),
            facets: ArrayVec::new(),
            inside: directions.iter().fold(point, |sum, it| sum + *it * unit),
            target,
            tolerances,
        };
        body.vertices.push(ShadowVertex::Point(point));
        let directions = directions.iter().copied().map(ShadowVertex::Direction);
        body.vertices.extend(directions);
        let sides = match D::DIMENSION {
            2 => [[0, 1, 1], [0, 2, 2], [0, 2, 2]],
            _ => [[0, 1, 2], [0, 1, 3], [0, 2, 3]],
        };
        for vertices in sides.into_iter().take(D::DIMENSION) {
            let _ = body.join(vertices);
        }
        body
    }

    pub fn contains(&self, vertex: ShadowVertex<D>) -> bool {
        self.vertices.contains(&vertex)
    }

    /// Returns the facet of least clearance, with its index.
    pub fn nearest(&self) -> Option<(usize, ShadowFacet<D>)> {
        let facets = self.facets.iter().copied().enumerate();
        facets
            .filter(|(_, facet)| facet.clearance < f64::INFINITY)
            .min_by(|(_, a), (_, b)| a.clearance.total_cmp(&b.clearance))
    }

    /// Excludes a facet from [`nearest`](Self::nearest).
    pub fn close(&mut self, index: usize) {
        if let Some(facet) = self.facets.get_mut(index) {
            facet.clearance = f64::INFINITY;
        }
    }

    /// Adds a vertex beyond a facet. Returns `None` if there is no capacity.
    pub fn add(&mut self, vertex: ShadowVertex<D>, beyond: usize) -> Option<()> {
        let new = self.vertices.len() as u16;
        self.vertices.try_push(vertex).ok()?;
        self.mark_seen(vertex, beyond)?;
        let mut horizon: ArrayVec<ShadowRidge, MAX_SHADOW_FACETS> = ArrayVec::new();
        for ridge in self
            .facets
            .iter()
            .filter(|facet| facet.is_seen)
            .flat_map(ShadowFacet::ridges)
        {
            // A ridge between two visible facets is not on the horizon.
            match horizon.iter().position(|other| *other == ridge) {
                Some(index) => {
                    horizon.swap_pop(index);
                }
                None => horizon.try_push(ridge).ok()?,
            }
        }
        self.facets.retain(|facet| !facet.is_seen);
        let is_at_infinity = matches!(vertex, ShadowVertex::Direction(_));
        for [a, b] in horizon {
            if !(is_at_infinity && self.is_direction(a) && self.is_direction(b)) {
                let vertices = match D::DIMENSION {
                    2 => [a, new, new],
                    _ => [a, b, new],
                };
                self.join(vertices)?;
            }
        }
        Some(())
    }

    fn is_direction(&self, index: u16) -> bool {
        let vertex = self.vertices.get(usize::from(index));
        matches!(vertex, Some(ShadowVertex::Direction(_)))
    }

    /// Marks the facets that are visible from a vertex and connected to the facet `beyond`.
    fn mark_seen(&mut self, vertex: ShadowVertex<D>, beyond: usize) -> Option<()> {
        let first = self.facets.get_mut(beyond)?;
        first.is_seen = true;
        let mut seen: ArrayVec<ShadowFacet<D>, MAX_SHADOW_FACETS> = ArrayVec::from_iter([*first]);
        loop {
            let count = seen.len();
            for facet in &mut self.facets {
                if !facet.is_seen
                    && facet.sees(vertex, self.tolerances)
                    && seen.iter().any(|other| facet.shares_ridge(other))
                {
                    facet.is_seen = true;
                    seen.try_push(*facet).ok()?;
                }
            }
            if seen.len() == count {
                return Some(());
            }
        }
    }

    /// Adds the facet with these vertices.
    fn join(&mut self, vertices: [u16; 3]) -> Option<()> {
        let facet_vertices = || {
            let indices = vertices.iter().take(D::DIMENSION);
            indices.filter_map(|index| self.vertices.get(usize::from(*index)).copied())
        };
        let base = facet_vertices().find_map(|vertex| match vertex {
            ShadowVertex::Point(point) => Some(point),
            ShadowVertex::Direction(_) => None,
        })?;
        let mut edges = ArrayVec::<D, 3>::new();
        for vertex in facet_vertices() {
            let edge = match vertex {
                ShadowVertex::Point(point) if point == base => continue,
                ShadowVertex::Point(point) => (point - base).unit()?,
                ShadowVertex::Direction(direction) => direction,
            };
            edges.push(edge);
        }
        let normal = D::perpendicular(&edges).filter(|normal| normal.length() > LEAST_EDGE_SINE);
        let normal = normal.and_then(DVector::unit).unwrap_or(D::ZERO);
        let normal = normal.toward(base - self.inside);
        let clearance = if normal == D::ZERO {
            f64::INFINITY
        } else {
            normal.dot(base - self.target)
        };
        let facet = ShadowFacet {
            normal,
            distance: normal.dot(base),
            clearance,
            vertices,
            is_seen: false,
        };
        self.facets.try_push(facet).ok()
    }
}
