//! Surfaces of facets: polylines of segments in the plane, meshes of triangles in space.
//!
//! A shape that slides over a surface touches facets that it is about to leave or to enter on their rims, with normals
//! that point sideways: *ghost collisions* at edges that are none. A contact on a rim is true only if the surface has
//! such a normal there: one that leans towards none of the facets around, n·t <= 0 for all tangents t that lead from the contact
//! point into them. On a ridge between two facets these are the normals between theirs; where they are level, or form a valley,
//! none is left but their own. (Ericson, "Real-Time Collision Detection" (2005), chapter 5.1, has such regions.)
//!
//! What departs from the usual table of who borders on whom: nothing is precomputed. The facets around are those that have the
//! point, found by the tree of boxes whenever there is a normal to judge, so that they need not share vertices. Copies of a
//! facet, facets of both windings, three of them on one edge, and corners of some in the midst of the edge of another, all
//! are what they look like. And the surface may be mapped by any affine map.

use smallvec::SmallVec;

use super::{Shape, ShapeError, bounds::Bounds};
use crate::{
    query::tolerance::SAME_NORMAL,
    space::{Space, Wide},
};

/// Three numbers, of which the first [`Wide::DIMENSION`] count: a facet's vertices.
pub type Numbers = [u32; 3];

/// The corners of a facet.
pub type Corners<W> = SmallVec<[W; 3]>;

/// What is no farther apart than this part of the surface's size is in one place, when it comes to who is around a point:
/// exporters and scripts put a vertex twice, some roundings apart.
const WELD: f64 = 1e-6;

/// A point this near to a ridge, as a fraction of the facet's width, is on it.
const ON_RIDGE: f64 = 1e-3;

/// A triangle whose area is no more than this part of the square of an edge has none: its normal would be rounding.
const SLIVER: f64 = 1e-12;

/// Facets.
pub struct Mesh<V> {
    vertices: Box<[V]>,
    facets: Box<[Numbers]>,
    /// What is no farther apart is in one place: see [`WELD`].
    grain: f64,
}

impl<V: Space> Mesh<V> {
    /// Facets by the numbers of their vertices.
    pub fn new(vertices: Box<[V]>, facets: Box<[Numbers]>) -> Result<Self, ShapeError> {
        ShapeError::check_points("vertex", &vertices)?;
        let missing = facets
            .iter()
            .flat_map(corners_of::<V>)
            .find(|number| vertices.get(*number as usize).is_none());
        if let Some(number) = missing {
            let count = vertices.len();
            return Err(ShapeError::NoSuchVertex { number, count });
        }
        let used = facets.iter().flat_map(corners_of::<V>);
        let used = used.filter_map(|it| vertices.get(it as usize));
        let grain = grain(used.map(|it| it.widen()));
        let mesh = Self {
            vertices,
            facets,
            grain,
        };
        // Without one that has an area nothing ever touches it, and that is never what was meant.
        let corners = |facet| mesh.corners_of(facet);
        let mut facets = mesh.facets.iter().filter_map(corners);
        if facets.any(|corners| has_area::<V>(&corners)) {
            Ok(mesh)
        } else {
            Err(ShapeError::NoFacets(facet_name::<V>()))
        }
    }

    /// How many facets there are.
    pub fn len(&self) -> usize {
        self.facets.len()
    }

    /// The vertices.
    pub fn vertices(&self) -> &[V] {
        &self.vertices
    }

    /// The facets, by the numbers of their vertices.
    #[cfg(feature = "serialize")]
    pub fn facets(&self) -> &[Numbers] {
        &self.facets
    }

    /// A facet by its number; `None` also for one without area.
    pub fn facet(&self, number: u32) -> Option<Shape<V>> {
        let facet = self.facets.get(number as usize)?;
        if !has_area::<V>(&self.corners(number)?) {
            return None;
        }
        let corner = |index: usize| self.vertices.get(*facet.get(index)? as usize).copied();
        let (a, b) = (corner(0)?, corner(1)?);
        Some(if V::Wide::DIMENSION == 2 {
            Shape::Segment([a, b])
        } else {
            Shape::Triangle([a, b, corner(2)?])
        })
    }

    /// The corners of a facet.
    pub fn corners(&self, number: u32) -> Option<Corners<V::Wide>> {
        self.corners_of(self.facets.get(number as usize)?)
    }

    fn corners_of(&self, facet: &Numbers) -> Option<Corners<V::Wide>> {
        let corner = |it| self.vertices.get(it as usize).map(|it| it.widen());
        corners_of::<V>(facet).map(corner).collect()
    }

    /// How near what is in one place may be: a tiny part of the surface's size.
    pub fn grain(&self) -> f64 {
        self.grain
    }

    /// The box in which all facets with a point are.
    pub fn box_around(&self, point: V::Wide) -> Bounds<V::Wide> {
        let (min, max) = (point, point);
        Bounds { min, max }.grown(self.grain)
    }

    /// The corners of a facet that has a point, both in the surface's own frame.
    pub fn corners_at(&self, number: u32, point: V::Wide) -> Option<Corners<V::Wide>> {
        let corners = self.corners(number)?;
        if !has_area::<V>(&corners) {
            return None;
        }
        let (base, others) = corners.split_first()?;
        let normal = perpendicular(*base, others)?;
        let is_level = normal.dot(point - *base).abs() <= self.grain;
        let is_within = ridges(&corners).all(|ridge| {
            let height = (point - ridge.start).dot(ridge.inward);
            height >= -self.grain * ridge.inward.length()
        });
        (is_level && is_within).then_some(corners)
    }

    /// A facet, where the linear map `place` puts it; `None` if that leaves it without a normal. `mirrored` tells whether
    /// `place` turns the outer side in, `one_sided` whether only that side collides.
    pub fn surroundings(
        &self,
        number: u32,
        place: impl Fn(V::Wide) -> V::Wide,
        mirrored: bool,
        one_sided: bool,
    ) -> Option<Surroundings<V::Wide>> {
        let corners: Corners<_> = self.corners(number)?.into_iter().map(&place).collect();
        let (base, others) = corners.split_first()?;
        let outward = perpendicular(*base, others)?;
        let stretch = |index| place(V::Wide::axis(index)).length();
        let stretch = (0..V::Wide::DIMENSION).map(stretch).fold(0.0, f64::max);
        Some(Surroundings {
            normal: if mirrored { -outward } else { outward },
            corners,
            one_sided,
            grain: self.grain * stretch,
        })
    }
}

/// A facet in its surface, in the axes of the world, and from the translation of the surface.
#[derive(Clone, Debug)]
pub struct Surroundings<W: Wide> {
    /// Outward, of unit length.
    pub normal: W,
    /// Whether only the outer side collides.
    pub one_sided: bool,
    corners: Corners<W>,
    grain: f64,
}

/// A point on the rim of a facet.
struct Rim<W> {
    point: W,
    /// The same, as a mean of the facet's corners.
    weights: [f64; 3],
    /// Along the edge on which it is, in space; `None` at a corner.
    along: Option<W>,
}

/// A ridge of a facet: an edge, or in the plane an end.
struct Ridge<W> {
    /// Its ends, by their indices in the facet: in the plane both are one.
    ends: [usize; 2],
    start: W,
    end: W,
    /// At right angles to the ridge: from it to the corner opposite.
    inward: W,
}

impl<W: Wide> Surroundings<W> {
    /// The same, of which both sides collide.
    pub fn two_sided(self) -> Self {
        Self {
            one_sided: false,
            ..self
        }
    }

    /// A point of the facet.
    pub fn corner(&self) -> W {
        self.corners.first().copied().unwrap_or(W::ZERO)
    }

    /// Whether a unit normal is the facet's own, to either side.
    pub fn is_own(&self, normal: W) -> bool {
        let side = if normal.dot(self.normal) < 0.0 {
            -1.0
        } else {
            1.0
        };
        (normal - self.normal * side).length() <= SAME_NORMAL
    }

    /// Whether the surface has this unit normal at a point of the facet, for what is in the direction `toward` a point, on the
    /// side to which `outward` points. Of a surface of one side the back has no normals.
    ///
    /// `around` calls with the corners of each facet that has a point, which is given as a mean of this facet's corners.
    pub fn admits(
        &self,
        normal: W,
        outward: W,
        point: W,
        toward: impl FnOnce(W) -> W,
        around: impl FnOnce([f64; 3], &mut dyn FnMut(&[W])),
    ) -> bool {
        if (normal - outward).length() <= SAME_NORMAL {
            return true;
        }
        let Some(rim) = self.rim(point) else {
            return false;
        };
        // What pushes away from a ridge pushes away from the solid side of it, and not from a valley through its back.
        if normal.dot(toward(rim.point)) <= 0.0 || normal.dot(outward) < -SAME_NORMAL {
            return false;
        }
        let is_ridge = rim.along.is_some() || W::DIMENSION == 2;
        let mut leans = false;
        around(rim.weights, &mut |corners| {
            for corner in corners {
                // A facet is within the angle of the ways to its corners: where none rises, nothing does. On an edge they
                // count across it, where its own ends lead nowhere.
                let way = *corner - rim.point;
                let way = rim.along.map_or(way, |along| way - along * way.dot(along));
                let length = way.length();
                if length > 2.0 * self.grain {
                    let is_valley = way.dot(outward) > SAME_NORMAL * length;
                    leans |= way.dot(normal) > SAME_NORMAL * length
                        || self.one_sided && is_ridge && is_valley;
                }
            }
        });
        !leans
    }

    /// The place of a point on the rim; `None` if it is off that.
    fn rim(&self, point: W) -> Option<Rim<W>> {
        let is_on = |ridge: &Ridge<W>| {
            let height = (point - ridge.start).dot(ridge.inward);
            height <= ON_RIDGE * ridge.inward.length_squared()
        };
        let (on, off): (SmallVec<[_; 3]>, SmallVec<[_; 3]>) =
            ridges(&self.corners).partition(is_on);
        let mut weights = [0.0; 3];
        if let ([ridge], true) = (on.as_slice(), W::DIMENSION == 3) {
            let way = ridge.end - ridge.start;
            let part = (point - ridge.start).dot(way) / way.length_squared();
            let part = part.clamp(0.0, 1.0);
            for (index, weight) in ridge.ends.into_iter().zip([1.0 - part, part]) {
                *weights.get_mut(index)? = weight;
            }
            return Some(Rim {
                point: ridge.start + way * part,
                weights,
                along: Some(way.unit()?),
            });
        }
        // On all ridges but one is the corner opposite to that; in the plane a ridge is a corner.
        let corner = match (on.first()?, off.first()) {
            (_, Some(off)) if W::DIMENSION == 3 => 3 - off.ends.iter().sum::<usize>(),
            (on, _) => on.ends.into_iter().next()?,
        };
        *weights.get_mut(corner)? = 1.0;
        Some(Rim {
            point: *self.corners.get(corner)?,
            weights,
            along: None,
        })
    }
}

/// The ridges of a facet.
fn ridges<W: Wide>(corners: &[W]) -> impl Iterator<Item = Ridge<W>> {
    let count = corners.len();
    corners.iter().enumerate().filter_map(move |(index, apex)| {
        let ends = [(index + 1) % count, (index + count - 1) % count];
        let [start, end] = ends.map(|it| corners.get(it).copied());
        let (start, end) = (start?, end?);
        let (way, along) = (*apex - start, end - start);
        let squared = along.length_squared();
        let part = if squared > 0.0 {
            way.dot(along) / squared
        } else {
            0.0
        };
        Some(Ridge {
            ends,
            start,
            end,
            inward: way - along * part,
        })
    })
}

/// The unit normal of a facet.
fn perpendicular<W: Wide>(base: W, others: &[W]) -> Option<W> {
    let edges: SmallVec<[W; 2]> = others.iter().map(|it| *it - base).collect();
    W::perpendicular(&edges)?.unit()
}

/// Whether a facet has an area, or in the plane a length.
fn has_area<V: Space>(corners: &[V::Wide]) -> bool {
    let Some((base, others)) = corners.split_first() else {
        return false;
    };
    let edges: SmallVec<[V::Wide; 2]> = others.iter().map(|it| *it - *base).collect();
    let longest = edges.iter().map(|it| it.length()).fold(0.0, f64::max);
    let area = V::Wide::perpendicular(&edges).map_or(0.0, Wide::length);
    // The area is a product of two lengths in space, and a length in the plane.
    area > (1..V::Wide::DIMENSION).fold(SLIVER, |product, _| product * longest)
}

/// What a surface must have one of.
fn facet_name<V: Space>() -> &'static str {
    if V::Wide::DIMENSION == 2 {
        "segment with a length"
    } else {
        ShapeError::TRIANGLE
    }
}

fn corners_of<V: Space>(facet: &Numbers) -> impl Iterator<Item = u32> {
    facet.iter().copied().take(V::Wide::DIMENSION)
}

/// How near what is in one place may be, among these points: a part of their size, but no less than f32 can tell apart so far
/// from the origin.
fn grain<W: Wide>(points: impl Iterator<Item = W>) -> f64 {
    let (mut least, mut greatest) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points {
        for (index, (min, max)) in least.iter_mut().zip(&mut greatest).enumerate() {
            *min = min.min(point.component(index));
            *max = max.max(point.component(index));
        }
    }
    let ends = || least.iter().zip(&greatest);
    let size = ends().map(|(min, max)| max - min).fold(0.0, f64::max);
    let far = ends().map(|(min, max)| max.max(-min)).fold(0.0, f64::max);
    (WELD * size).max(f64::from(f32::EPSILON) * far)
}
