//! The facets around a point of an edge or a corner, and the convex hull of them.

use arrayvec::ArrayVec;

use crate::{
    pipeline::narrow_phase::surface::body_part::{BodyPart, NearFacet},
    query::{Pair, Solver},
    shape::{BoundaryPoint, Facet, Support},
    space::{DVector, Pose, Space},
    tolerance::SAME_NORMAL,
};

/// The most ways into the facets around a point. Points with more are no candidates.
const MOST_WAYS: usize = 96;

/// Facets are extended to this multiple of the body's size.
const FAR: f64 = 8.0;

/// Returns `true` if ways in a plane leave no gap of half a turn or more: in the plane, if they
/// lead both ways.
fn are_all_around<D: DVector>(ways: &[D], normal: D) -> bool {
    ways.iter().all(|way| {
        let left = if D::DIMENSION == 2 {
            Some(-*way)
        } else {
            D::perpendicular(&[normal, *way])
        };
        left.is_some_and(|left| ways.iter().any(|other| other.dot(left) > SAME_NORMAL))
    })
}

/// The facets around a point of a rim.
pub struct Fan<D> {
    point: D,
    normals: ArrayVec<D, MOST_WAYS>,
    /// Unit vectors that span them, those of one facet after those of the other.
    ways: ArrayVec<D, MOST_WAYS>,
    /// `true` if all facets are in one plane.
    is_flat: bool,
    /// `true` if no edge at the point belongs to one facet alone.
    is_joined: bool,
}

impl<D: DVector> Fan<D> {
    /// Those that share a point, or if they leave a gap, all that have it, as long as searches for
    /// them are left. `None` if there are too many, or none.
    pub fn around<'f>(
        rim: &BoundaryPoint<D>,
        sharers: impl Iterator<Item = &'f Facet<D>>,
        near: &'f [NearFacet<D>],
        searches: &mut usize,
    ) -> Option<Self>
    where
        D: 'f,
    {
        let fan = Self::new(rim, sharers)?;
        if fan.is_joined || *searches == 0 {
            return Some(fan);
        }
        *searches -= 1;
        let facets = near.iter().map(|it| &it.facet);
        Self::new(rim, facets.filter(|it| it.contains(rim.point)))
    }

    fn new<'f>(rim: &BoundaryPoint<D>, facets: impl Iterator<Item = &'f Facet<D>>) -> Option<Self>
    where
        D: 'f,
    {
        let mut fan = Self {
            point: rim.point,
            normals: ArrayVec::new(),
            ways: ArrayVec::new(),
            is_flat: true,
            is_joined: false,
        };
        for facet in facets {
            fan.normals.try_push(facet.normal).ok()?;
            let first = *fan.normals.first()?;
            for way in rim.spanning_directions(facet.vertices()) {
                fan.is_flat &= way.dot(first).abs() <= SAME_NORMAL;
                fan.ways.try_push(way).ok()?;
            }
        }
        fan.is_joined = are_joined(rim, &fan.ways, fan.normals.len());
        (!fan.normals.is_empty()).then_some(fan)
    }

    /// Returns `true` if a facet rises along a normal.
    fn rises(&self, normal: D) -> bool {
        self.ways.iter().any(|way| way.dot(normal) > SAME_NORMAL)
    }

    /// About how deep a body is in the hull of the facets: along the mean of the ways out of it, or
    /// infinite if that leads into it. `None` if they lie in one plane, or the body is no less deep
    /// than `most`.
    pub fn rank<V: Space<DVec = D>>(&self, body: &BodyPart<V>, most: f64) -> Option<f64> {
        if self.is_flat {
            if are_all_around(&self.ways, *self.normals.first()?) {
                return None;
            }
        } else if self.is_joined && self.least_depth(body).is_some_and(|least| least >= most) {
            return None;
        }
        let mean = self.ways.iter().fold(D::ZERO, |sum, way| sum - *way);
        let out = mean.unit().filter(|out| !self.rises(*out));
        let depth = out.map(|out| (self.point - body.lowest(out)).dot(out));
        Some(depth.unwrap_or(f64::INFINITY))
    }

    /// A depth that the body has at least in the hull of joined facets around a point p; `None` if
    /// the hull is not bounded by their planes.
    ///
    /// Along a normal n the depth is the greatest of (p - b)·n for points b of the body. All
    /// normals of the hull are means of those of the facets, brought to unit length, so that for
    /// any b the least of (p - b)·nᵢ is a lower bound. The b taken is the one that is deepest along
    /// their mean.
    fn least_depth<V: Space<DVec = D>>(&self, body: &BodyPart<V>) -> Option<f64> {
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
        let least = depths.fold(f64::INFINITY, f64::min);
        (least > 0.0).then_some(least + body.radius())
    }
}

/// Returns `true` if no facet around a point ends there: none of the edges that begin there belongs
/// to one alone.
fn are_joined<D: DVector>(rim: &BoundaryPoint<D>, ways: &[D], facets: usize) -> bool {
    if D::DIMENSION == 2 || !rim.is_vertex() {
        return facets > 1;
    }
    // Of each facet its two edges, and the way between them.
    let is_plain = ways.len() == 3 * facets;
    is_plain
        && ways.iter().enumerate().all(|(index, way)| {
            let is_same = |it: &&D| (**it - *way).length() <= SAME_NORMAL;
            index % 3 == 2 || ways.iter().filter(is_same).count() > 1
        })
}

/// What is behind the facets around a point of the rim if each goes on as it begins there, to where
/// no body reaches: the convex hull of that. Of a valley it is the space between its slopes.
pub struct Corner<V: Space> {
    pub points: ArrayVec<V::DVec, { MOST_WAYS + 1 }>,
    radius: f64,
    /// The normals of the facets.
    pub normals: ArrayVec<V::DVec, MOST_WAYS>,
}

impl<V: Space> Corner<V> {
    pub fn new(fan: Fan<V::DVec>, body: &BodyPart<V>) -> Self {
        let [(centre, reach), _] = body.reach.balls;
        let far = FAR * (reach + (centre - fan.point).length());
        let tips = fan.ways.iter().map(|way| fan.point + *way * far);
        Self {
            points: core::iter::once(fan.point).chain(tips).collect(),
            radius: body.margin,
            normals: fan.normals,
        }
    }

    /// Returns `true` if a point is in the hull.
    pub fn holds(&self, point: V::DVec) -> bool {
        let of = |points| Self {
            points,
            radius: 0.0,
            normals: ArrayVec::new(),
        };
        let (hull, point) = (of(self.points.clone()), of([point].into_iter().collect()));
        let pair = Pair::new(&hull, Pose::IDENTITY, &point, Pose::IDENTITY);
        Solver::new(pair).hit()
    }
}

impl<V: Space> Support for Corner<V> {
    type Vector = V;

    fn support(&self, direction: V::DVec) -> V::DVec {
        let farther = |best: V::DVec, it: V::DVec| {
            if it.dot(direction) > best.dot(direction) {
                it
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
