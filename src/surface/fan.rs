//! The facets that share a point of an edge or a corner, and their convex hull.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    query::Pair,
    shape::{BoundaryPoint, Facet, Support},
    space::{DVector, Pose, Space},
    surface::body_part::BodyPart,
    tolerance::SAME_NORMAL,
};

/// Maximum number of directions that span the facets at a point. Points with more directions are
/// not candidates.
const MAX_FAN_DIRECTIONS: usize = 96;

/// The length of the extended facets, as a multiple of the distance from the fan's point to the far
/// side of the body.
const EXTENSION: f64 = 8.0;

/// The facets that contain a point, with their indices, in the order of the indices.
pub type FacetsAtPoint<D> = SmallVec<[(u32, Facet<D>); 8]>;

/// The facets that share a point of their boundaries.
pub struct Fan<D> {
    pub point: D,
    pub normals: ArrayVec<D, MAX_FAN_DIRECTIONS>,
    /// For each facet in turn, the unit vectors that span the facet from the point.
    directions: ArrayVec<D, MAX_FAN_DIRECTIONS>,
    /// `true` if all facets are in one plane.
    is_flat: bool,
    /// `true` if each edge at the point belongs to at least two facets.
    is_joined: bool,
}

impl<D: DVector> Fan<D> {
    /// Returns the fan of the `adjacent` facets, which share a boundary point. If an edge at the
    /// point belongs to only one of these facets, the fan is made of all facets `at_point`.
    /// `searches` is the number of calls of `at_point` that are left. Returns `None` if the fan has
    /// no facets, or too many directions.
    pub fn around<'f>(
        point: &BoundaryPoint<D>,
        adjacent: impl Iterator<Item = &'f Facet<D>>,
        at_point: impl FnOnce() -> FacetsAtPoint<D>,
        searches: &mut usize,
    ) -> Option<Self>
    where
        D: 'f,
    {
        let fan = Self::new(point, adjacent)?;
        if fan.is_joined || *searches == 0 {
            return Some(fan);
        }
        *searches -= 1;
        Self::new(point, at_point().iter().map(|(_, facet)| facet))
    }

    fn new<'f>(point: &BoundaryPoint<D>, facets: impl Iterator<Item = &'f Facet<D>>) -> Option<Self>
    where
        D: 'f,
    {
        let mut fan = Self {
            point: point.point,
            normals: ArrayVec::new(),
            directions: ArrayVec::new(),
            is_flat: true,
            is_joined: false,
        };
        for facet in facets {
            fan.normals.try_push(facet.normal).ok()?;
            let first = *fan.normals.first()?;
            for direction in point.spanning_directions(facet.vertices()) {
                fan.is_flat &= direction.dot(first).abs() <= SAME_NORMAL;
                fan.directions.try_push(direction).ok()?;
            }
        }
        fan.is_joined = are_joined(point, &fan.directions, fan.normals.len());
        (!fan.normals.is_empty()).then_some(fan)
    }

    /// Returns `true` if a facet rises along a normal.
    fn rises(&self, normal: D) -> bool {
        let mut directions = self.directions.iter();
        directions.any(|direction| direction.dot(normal) > SAME_NORMAL)
    }

    /// Estimates the depth of a body in the facets' hull, along the mean direction out of the hull.
    /// The estimate is infinite if a facet rises along this direction.
    ///
    /// Returns `None` if all facets lie in one plane and surround the point, or if the depth is
    /// certainly at least `limit`.
    pub fn rank<V: Space<DVec = D>>(&self, body: &BodyPart<V>, limit: f64) -> Option<f64> {
        if self.is_flat {
            if surround_point(&self.directions, *self.normals.first()?) {
                return None;
            }
        } else if self.is_joined && self.min_depth(body).is_some_and(|min| min >= limit) {
            return None;
        }
        let directions = self.directions.iter();
        let mean = directions.fold(D::ZERO, |sum, direction| sum - *direction);
        let out = mean.unit().filter(|out| !self.rises(*out));
        let depth = out.map(|out| (self.point - body.lowest(out)).dot(out));
        Some(depth.unwrap_or(f64::INFINITY))
    }

    /// Returns the vertices of the convex hull of the facets, which are extended past the body. At
    /// an edge, the hull is a wedge. At a corner, the hull is a cone. In a valley, the hull is the
    /// space between the slopes.
    pub fn hull_points<V: Space<DVec = D>>(
        &self,
        body: &BodyPart<V>,
    ) -> ArrayVec<D, { MAX_FAN_DIRECTIONS + 1 }> {
        let [(center, radius), _] = body.neighborhood.balls;
        let length = EXTENSION * (radius + (center - self.point).length());
        let directions = self.directions.iter();
        let ends = directions.map(|direction| self.point + *direction * length);
        core::iter::once(self.point).chain(ends).collect()
    }

    /// Returns a lower bound on the body's depth in the hull of joined facets around a point p.
    /// Returns `None` if the bound is not positive, or if the facets' planes do not bound the hull.
    ///
    /// Along a normal n, the depth is the greatest (p - b) · n of all points b of the body. Each
    /// normal n of the hull is a weighted mean of the facets' normals nᵢ, lengthened to unit
    /// length. So for each b, (p - b) · n is at least the minimum of all (p - b) · nᵢ, if this
    /// minimum is positive. This function uses the point b that is deepest along the mean of all
    /// nᵢ.
    fn min_depth<V: Space<DVec = D>>(&self, body: &BodyPart<V>) -> Option<f64> {
        let outward = |normal: &D| {
            let sides = [*normal, -*normal];
            sides.into_iter().find(|side| !self.rises(*side))
        };
        let mut mean = D::ZERO;
        for normal in &self.normals {
            mean = mean + outward(normal)?;
        }
        let lowest = body.lowest(mean);
        let outwards = self.normals.iter().filter_map(outward);
        let depths = outwards.map(|normal| (self.point - lowest).dot(normal));
        let min = depths.fold(f64::INFINITY, f64::min);
        (min > 0.0).then_some(min + body.radius())
    }
}

/// Returns `true` if directions in one plane leave no gap of 180 degrees or more. In 2D, the
/// directions lie on a line, and must include both directions of the line.
fn surround_point<D: DVector>(directions: &[D], normal: D) -> bool {
    directions.iter().all(|direction| {
        let left = if D::DIMENSION == 2 {
            Some(-*direction)
        } else {
            D::perpendicular(&[normal, *direction])
        };
        let mut others = directions.iter();
        left.is_some_and(|left| others.any(|other| other.dot(left) > SAME_NORMAL))
    })
}

/// Returns `true` if each edge at a point belongs to at least two facets. In 2D, returns `true` if
/// the point belongs to at least two facets.
fn are_joined<D: DVector>(point: &BoundaryPoint<D>, directions: &[D], facets: usize) -> bool {
    if D::DIMENSION == 2 || !point.is_vertex() {
        return facets > 1;
    }
    // At a vertex, each facet has three directions: along its two edges, and then between the
    // edges.
    let has_three_each = directions.len() == 3 * facets;
    has_three_each
        && directions.iter().enumerate().all(|(index, direction)| {
            let is_same = |other: &&D| (**other - *direction).length() <= SAME_NORMAL;
            index % 3 == 2 || directions.iter().filter(is_same).count() > 1
        })
}

/// The convex hull of points, extended by a radius.
pub struct PointHull<'a, V: Space> {
    pub points: &'a [V::DVec],
    pub radius: f64,
}

impl<V: Space> PointHull<'_, V> {
    /// Returns `true` if a point touches the hull.
    pub fn contains(&self, point: V::DVec) -> bool {
        let point = PointHull::<V> {
            points: &[point],
            radius: 0.0,
        };
        let pair = Pair::new(self, Pose::IDENTITY, &point, Pose::IDENTITY);
        pair.touches()
    }
}

impl<V: Space> Support for PointHull<'_, V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let farther = |best: V::DVec, next: V::DVec| {
            if next.dot(direction) > best.dot(direction) {
                next
            } else {
                best
            }
        };
        let points = self.points.iter().copied();
        points.reduce(farther).unwrap_or(V::DVec::ZERO)
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}
