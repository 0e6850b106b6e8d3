//! Surfaces of facets: polylines of segments in the plane, meshes of triangles in space.
//!
//! `pipeline/surface/mod.rs` defines a contact with a surface. The tree of boxes finds the facets
//! at a point whenever they matter, so facets need not share vertices. The following count as the
//! set of points that they are: copies of a facet, facets of both windings, three facets on one
//! edge, and vertices in the midst of another facet's edge. Any affine map may map the surface. The
//! mesh lists the facets of each vertex, but only to find sooner what the tree would find.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    shape::{Shape, ShapeError},
    space::{DVector, Space},
    tolerance::{OFFSET_SCALE, SAME_NORMAL},
};

/// Three numbers, of which the first [`DVector::DIMENSION`] count: a facet's vertices.
pub type Numbers = [u32; 3];

/// The corners of a facet.
pub type Corners<D> = SmallVec<[D; 3]>;

/// Points of a facet no farther apart than this part of its greatest coordinate are in one place:
/// exporters and scripts put a vertex twice, some roundings of f32 apart. It depends on the one
/// facet alone, so that none far away changes a contact.
const WELD: f64 = 8.0 * f32::EPSILON as f64;

/// What f64 leaves of a corner's coordinates, as a part of [`WELD`]. (A point on an edge that is as
/// near to its end as WELD is not moved there: that would turn the normal.)
const SAME_CORNER: f64 = 1e-7;

/// A triangle whose area is no more than this part of the square of an edge has none: its normal would be rounding.
const SLIVER: f64 = 1e-12;

/// No more facets around a vertex are looked at for those that share an edge or a corner: of a fan
/// of thousands the tree finds the others.
const MOST_SHARERS: usize = 32;

/// Facets.
pub struct Mesh<V> {
    vertices: Box<[V]>,
    facets: Box<[Numbers]>,
    fans: Fans,
    /// A small part of the size, for what is asked about all of it.
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
        let grain = grain(used.map(|it| it.to_f64()));
        let mut mesh = Self {
            vertices,
            facets,
            fans: Fans::default(),
            grain,
        };
        let numbered = mesh.facets.iter().zip(0..);
        let of_area = numbered.filter(|(facet, _)| {
            let corners = mesh.corners_of(facet);
            corners.is_some_and(|corners| has_area::<V>(&corners))
        });
        let fans = Fans::new::<V>(mesh.vertices.len(), of_area);
        // Without one that has an area nothing ever touches it, and that is never what was meant.
        if fans.facets.is_empty() {
            return Err(ShapeError::NoFacets(facet_name::<V>()));
        }
        mesh.fans = fans;
        Ok(mesh)
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
        Some(if V::DVec::DIMENSION == 2 {
            Shape::Segment([a, b])
        } else {
            Shape::Triangle([a, b, corner(2)?])
        })
    }

    /// The corners of a facet.
    pub fn corners(&self, number: u32) -> Option<Corners<V::DVec>> {
        self.corners_of(self.facets.get(number as usize)?)
    }

    fn corners_of(&self, facet: &Numbers) -> Option<Corners<V::DVec>> {
        let mut corners = SmallVec::new();
        for vertex in corners_of::<V>(facet) {
            corners.push(self.vertices.get(vertex as usize)?.to_f64());
        }
        Some(corners)
    }

    /// A small part of the surface's size.
    pub fn grain(&self) -> f64 {
        self.grain
    }

    /// Returns `true` if a facet has an area, and a point in the surface's own frame is on it, or
    /// off it by no more than `tolerance` or its own weld.
    pub fn has_point(&self, number: u32, point: V::DVec, tolerance: f64) -> bool {
        let corners = self.corners(number).unwrap_or_default();
        if !has_area::<V>(&corners) {
            return false;
        }
        let tolerance = tolerance.max(weld(&corners));
        let plane = corners.split_first().and_then(|(base, others)| {
            let normal = perpendicular(*base, others)?;
            Some((*base, normal))
        });
        let Some((base, normal)) = plane else {
            return false;
        };
        let is_level = normal.dot(point - base).abs() <= tolerance;
        let is_within = ridges(&corners).all(|ridge| {
            let height = (point - ridge.start).dot(ridge.inward);
            height >= -tolerance * ridge.inward.length()
        });
        is_level && is_within
    }

    /// Returns the facets with an area that share an edge or a corner with this one: the vertices
    /// of which the weights are positive. At most [`MOST_SHARERS`] facets of a vertex are tested.
    pub fn sharers(&self, number: u32, weights: [f64; 3]) -> impl Iterator<Item = u32> {
        let numbers = self.facets.get(number as usize).into_iter().flatten();
        let weighty = numbers.zip(weights).filter(|(_, weight)| *weight > 0.0);
        let shared: ArrayVec<u32, 3> = weighty.map(|(vertex, _)| *vertex).collect();
        let fans = shared.iter().map(|vertex| self.fans.around(*vertex));
        let fan = fans.min_by_key(|fan| fan.len()).unwrap_or_default();
        let others = fan.iter().copied().take(MOST_SHARERS);
        others.filter(move |other| {
            let corners = self.facets.get(*other as usize);
            *other != number
                && corners.is_some_and(|it| shared.iter().all(|vertex| it.contains(vertex)))
        })
    }

    /// A facet where the linear map `place` puts it; `None` if that leaves it without a normal.
    /// `mirrored` tells whether `place` turns the outer side in.
    pub fn placed(
        &self,
        number: u32,
        place: impl Fn(V::DVec) -> V::DVec,
        mirrored: bool,
    ) -> Option<Facet<V::DVec>> {
        let mut corners = self.corners(number)?;
        corners.iter_mut().for_each(|it| *it = place(*it));
        let (base, others) = corners.split_first()?;
        let outward = perpendicular(*base, others)?;
        Some(Facet {
            normal: if mirrored { -outward } else { outward },
            weld: weld(&corners),
            corners,
        })
    }
}

/// The facets with an area around each vertex, in 12 bytes a facet and 4 a vertex.
#[derive(Default)]
struct Fans {
    /// Where the facets of each vertex begin in the list, and at last where those of the last end.
    starts: Box<[u32]>,
    facets: Box<[u32]>,
}

impl Fans {
    /// Sorts the corners of all facets by their vertices, by counting.
    fn new<'a, V: Space>(
        vertices: usize,
        facets: impl Iterator<Item = (&'a Numbers, u32)> + Clone,
    ) -> Self {
        let mut starts = vec![0_u32; vertices + 1];
        for vertex in facets.clone().flat_map(|(facet, _)| corners_of::<V>(facet)) {
            if let Some(count) = starts.get_mut(vertex as usize) {
                *count = count.saturating_add(1);
            }
        }
        // Each count becomes the end of the vertex's facets, and by filling in the start.
        let mut total = 0;
        for slot in &mut starts {
            total = slot.saturating_add(total);
            *slot = total;
        }
        let mut sorted = vec![0; total as usize];
        for (facet, number) in facets {
            for vertex in corners_of::<V>(facet) {
                let Some(start) = starts.get_mut(vertex as usize) else {
                    continue;
                };
                *start = start.saturating_sub(1);
                if let Some(slot) = sorted.get_mut(*start as usize) {
                    *slot = number;
                }
            }
        }
        Self {
            starts: starts.into(),
            facets: sorted.into(),
        }
    }

    fn around(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        let ends = [vertex, vertex + 1].map(|it| self.starts.get(it).copied());
        let [Some(start), Some(end)] = ends else {
            return &[];
        };
        let range = start as usize..end as usize;
        self.facets.get(range).unwrap_or_default()
    }
}

/// A facet of a surface, in the axes of the world, and from the translation of the surface.
#[derive(Clone, Debug)]
pub struct Facet<D: DVector> {
    /// Outward, of unit length.
    pub normal: D,
    corners: Corners<D>,
    /// Points no farther apart are in one place: see [`WELD`].
    pub weld: f64,
}

/// A point on the rim of a facet.
#[derive(Clone, Copy, Debug)]
pub struct Rim<D> {
    pub point: D,
    /// The same, as a mean of the facet's corners.
    pub weights: [f64; 3],
    /// The unit vector along the edge that it is on; `None` at a corner.
    along: Option<D>,
}

impl<D: DVector> Rim<D> {
    /// The same edge with another point on it. The weights keep naming the edge, not the point.
    pub fn moved_to(self, point: D) -> Self {
        Self { point, ..self }
    }

    /// Returns `true` at a corner, `false` on an edge.
    pub fn is_corner(&self) -> bool {
        self.along.is_none()
    }

    /// The vector to a corner; on an edge, across the edge.
    fn way_to(&self, corner: D) -> D {
        let way = corner - self.point;
        self.along.map_or(way, |along| way - along * way.dot(along))
    }

    /// Unit vectors that span the directions from here into a facet, no two that follow one another
    /// by more than a right angle apart: at a corner those to its other corners and the one
    /// between, on an edge both along it and the one across.
    pub fn ways(&self, corners: &[D]) -> SmallVec<[D; 5]> {
        let mut ways = SmallVec::new();
        let weld = weld(corners);
        for corner in corners {
            let way = self.way_to(*corner);
            if way.length() > 2.0 * weld {
                ways.extend(way.unit());
            }
        }
        if let Some(along) = self.along {
            ways.extend([along, -along]);
        } else {
            let sum = ways.iter().fold(D::ZERO, |sum, way| sum + *way);
            ways.extend(sum.unit());
        }
        ways
    }

    /// Returns `true` if a facet at this point rises along a unit normal, by an angle with a sine
    /// greater than `least`: the surface goes on to that side, as a wall does from a floor. Points
    /// no farther apart than `weld` are in one place.
    pub fn rises(&self, corners: &[D], normal: D, least: f64, weld: f64) -> bool {
        // A facet is within the angle of the ways to its corners: where none rises, nothing does.
        // On an edge they count across it: along it rounding alone would tell.
        corners.iter().any(|corner| {
            let way = self.way_to(*corner);
            let length = way.length();
            length > 2.0 * weld && way.dot(normal) > least * length + 0.25 * weld
        })
    }
}

/// A ridge of a facet: an edge, or in the plane an end.
struct Ridge<D> {
    /// Its ends, by their indices in the facet: in the plane both are one.
    ends: [usize; 2],
    start: D,
    end: D,
    /// At right angles to the ridge: from it to the corner opposite.
    inward: D,
}

impl<D: DVector> Facet<D> {
    /// How high a point is over the outer side.
    pub fn height(&self, point: D) -> f64 {
        let corner = self.corners.first().copied().unwrap_or(D::ZERO);
        (point - corner).dot(self.normal)
    }

    /// An upper bound of the distance from a point to the farthest corner. It includes what
    /// [`OFFSET_SCALE`] allows for the corner's distance from the origin.
    pub fn farthest(&self, point: D) -> f64 {
        let distances = self.corners.iter().map(|it| {
            let offset = OFFSET_SCALE * it.extent();
            (*it - point).extent() + offset
        });
        distances.fold(0.0, f64::max)
    }

    /// Returns `true` if a unit normal is the facet's own, to either side.
    pub fn is_own(&self, normal: D) -> bool {
        let own = self.normal.toward(normal);
        (normal - own).length() <= SAME_NORMAL
    }

    /// The distance from the rim to a point over the facet. Negative beyond the rim.
    pub fn inset(&self, point: D) -> f64 {
        let insets = ridges(&self.corners).filter_map(|ridge| {
            let inward = ridge.inward.unit()?;
            Some((point - ridge.start).dot(inward))
        });
        insets.fold(f64::INFINITY, f64::min)
    }

    /// Returns `true` if a segment goes through the facet.
    pub fn is_crossed(&self, [from, to]: [D; 2]) -> bool {
        let (start, end) = (self.height(from), self.height(to));
        let is_along = start.abs().max(end.abs()) <= self.weld;
        if (start >= 0.0) == (end >= 0.0) || is_along {
            return false;
        }
        let crossing = from + (to - from) * (start / (start - end));
        self.inset(crossing) >= -self.weld
    }

    /// The corners.
    pub fn corners(&self) -> &[D] {
        &self.corners
    }

    /// Returns `true` if a point is on the facet, or off it by no more than [`WELD`].
    pub fn has(&self, point: D) -> bool {
        let slack = self.weld.max(weld(&[point]));
        self.height(point).abs() <= slack && self.inset(point) >= -slack
    }

    /// The ends of the edge that a point of the rim is on. At a corner both are that corner.
    pub fn ends(&self, rim: &Rim<D>) -> [D; 2] {
        let mut ends = self.corners.iter().zip(rim.weights);
        let mut next = || ends.find(|it| it.1 > 0.0).map(|it| *it.0);
        let start = next().unwrap_or(rim.point);
        [start, next().unwrap_or(start)]
    }

    /// The distance of a point from the facet.
    pub fn distance(&self, point: D) -> f64 {
        if self.is_below(point) {
            return self.height(point).abs();
        }
        let rim = self.rim(point).map(|rim| (rim.point - point).length());
        rim.unwrap_or(f64::INFINITY)
    }

    /// The point nearest to `point` on the edge of `rim`. At a corner it is that corner.
    pub fn on_rim(&self, rim: &Rim<D>, point: D) -> D {
        // In one order, so that both facets of the edge give the same to the bit.
        let mut ends = self.ends(rim);
        ends.sort_by(|a, b| a.total_cmp(*b));
        let [start, end] = ends;
        let along = end - start;
        let squared = along.length_squared();
        if squared == 0.0 {
            return start;
        }
        start + along * ((point - start).dot(along) / squared).clamp(0.0, 1.0)
    }

    /// Returns `true` if the nearest point of the facet's plane is on the facet.
    pub fn is_below(&self, point: D) -> bool {
        let mut ridges = ridges(&self.corners);
        ridges.all(|ridge| (point - ridge.start).dot(ridge.inward) >= 0.0)
    }

    /// The point of the rim nearest to another point: a corner if it is that but for the rounding
    /// of f64, or else on an edge.
    pub fn rim(&self, point: D) -> Option<Rim<D>> {
        let on_edge = |ridge: Ridge<D>| {
            let [start, end] = ridge.ends;
            let along = ridge.end - ridge.start;
            let squared = along.length_squared();
            // In the plane a ridge is a corner.
            let part = if squared > 0.0 {
                ((point - ridge.start).dot(along) / squared).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let mut weights = [0.0; 3];
            *weights.get_mut(end)? = part;
            *weights.get_mut(start)? = 1.0 - part;
            let rim = Rim {
                point: ridge.start + along * part,
                weights,
                along: Some(along),
            };
            Some(((rim.point - point).length_squared(), rim))
        };
        let nearer = |a: (f64, Rim<D>), b: (f64, Rim<D>)| if b.0 < a.0 { b } else { a };
        let (_, rim) = ridges(&self.corners).filter_map(on_edge).reduce(nearer)?;
        let corners = self.corners.iter().enumerate();
        let most = SAME_CORNER * self.weld;
        let mut near = corners.filter(|(_, it)| (**it - rim.point).length() <= most);
        match near.next() {
            Some((index, _)) => self.corner(index),
            None => Some(Rim {
                along: rim.along.and_then(D::unit),
                ..rim
            }),
        }
    }

    fn corner(&self, index: usize) -> Option<Rim<D>> {
        let point = *self.corners.get(index)?;
        let mut weights = [0.0; 3];
        *weights.get_mut(index)? = 1.0;
        Some(Rim {
            point,
            weights,
            along: None,
        })
    }

    /// Each corner, and in 3D the midpoint of each edge.
    pub fn rims(&self) -> impl Iterator<Item = Rim<D>> {
        let corners = (0..self.corners.len()).filter_map(|index| self.corner(index));
        let edges = ridges(&self.corners).filter_map(|ridge| {
            let [start, end] = ridge.ends;
            let mut weights = [0.0; 3];
            *weights.get_mut(start)? += 0.5;
            *weights.get_mut(end)? += 0.5;
            Some(Rim {
                point: (ridge.start + ridge.end) * 0.5,
                weights,
                along: Some((ridge.end - ridge.start).unit()?),
            })
        });
        corners.chain(edges)
    }
}

/// See [`WELD`].
pub fn weld<D: DVector>(corners: &[D]) -> f64 {
    let extents = corners.iter().map(|corner| corner.extent());
    WELD * extents.fold(0.0, f64::max)
}

/// The ridges of a facet.
fn ridges<D: DVector>(corners: &[D]) -> impl Iterator<Item = Ridge<D>> {
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
fn perpendicular<D: DVector>(base: D, others: &[D]) -> Option<D> {
    let edges: SmallVec<[D; 2]> = others.iter().map(|it| *it - base).collect();
    D::perpendicular(&edges)?.unit()
}

/// Whether a facet has an area, or in the plane a length.
fn has_area<V: Space>(corners: &[V::DVec]) -> bool {
    let Some((base, others)) = corners.split_first() else {
        return false;
    };
    let edges: SmallVec<[V::DVec; 2]> = others.iter().map(|it| *it - *base).collect();
    let longest = edges.iter().map(|it| it.length()).fold(0.0, f64::max);
    let area = V::DVec::perpendicular(&edges).map_or(0.0, DVector::length);
    // The area is a product of two lengths in space, and a length in the plane.
    area > (1..V::DVec::DIMENSION).fold(SLIVER, |product, _| product * longest)
}

/// What a surface must have one of.
fn facet_name<V: Space>() -> &'static str {
    if V::DVec::DIMENSION == 2 {
        "segment with a length"
    } else {
        ShapeError::TRIANGLE
    }
}

fn corners_of<V: Space>(facet: &Numbers) -> impl Iterator<Item = u32> {
    facet.iter().copied().take(V::DVec::DIMENSION)
}

/// A small part of the size of some points, but no less than f32 can tell apart so far from the
/// origin.
fn grain<D: DVector>(points: impl Iterator<Item = D>) -> f64 {
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
    (1e-6 * size).max(f64::from(f32::EPSILON) * far)
}
