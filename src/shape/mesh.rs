//! Surfaces of facets that know their neighbours: polylines of segments in the plane, meshes of triangles in space.
//!
//! A shape that slides over a surface touches facets that it is about to leave or to enter on their rims, with normals
//! that point sideways: *ghost collisions* at edges that are none. A contact on a rim is true only if the surface has
//! such a normal there. At a ridge between two facets the normals of the surface are those that lean towards neither:
//! n·t <= 0 for the tangents t that lead from the ridge into either. Between facets that are level, or form a valley, none
//! is left but the facets' own. (Ericson, "Real-Time Collision Detection" (2005), chapter 5.1, has such regions.) Nothing
//! is precomputed but who borders on whom, so that the surface may be mapped by any affine map.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::{Shape, ShapeError};
use crate::space::{Space, Wide};

/// Three numbers, of which the first [`Wide::DIMENSION`] count: a facet's vertices, or its neighbours.
pub type Numbers = [u32; 3];

/// The number of what there is not.
const NONE: u32 = u32::MAX;

/// A point this near to a ridge, as a fraction of the facet's width, is on it.
const ON_RIDGE: f64 = 1e-3;

/// A triangle whose area is no more than this part of the square of an edge has none: its normal would be rounding.
const SLIVER: f64 = 1e-12;

/// The sine of the angle by which a normal may lean towards a facet and still be one of the surface: the solvers'
/// normals are off by less.
const LEVEL: f64 = 1e-4;

/// Facets, and what lies across their ridges.
#[derive(Clone)]
pub struct Mesh<V> {
    vertices: Box<[V]>,
    facets: Box<[Numbers]>,
    /// The facet across the ridge that lacks vertex i, or [`NONE`] at a border, and where more than two facets meet.
    neighbours: Box<[Numbers]>,
    /// The number of the first vertex in the same place as each.
    first: Box<[u32]>,
    fans: Fans,
    /// Whether only the outer side collides.
    pub one_sided: bool,
}

impl<V: Space> Mesh<V> {
    /// Facets by the numbers of their vertices. Vertices in the same place count as one.
    pub fn new(vertices: Box<[V]>, facets: Box<[Numbers]>) -> Result<Self, ShapeError> {
        ShapeError::check_points("vertex", &vertices)?;
        if facets.is_empty() {
            return Err(ShapeError::NoParts);
        }
        let missing = facets
            .iter()
            .flat_map(corners_of::<V>)
            .find(|number| vertices.get(*number as usize).is_none());
        if let Some(missing) = missing {
            return Err(ShapeError::NoSuchVertex(missing));
        }
        let first = first_in_place(&vertices);
        Ok(Self {
            neighbours: neighbours(&vertices, &facets, &first),
            fans: Fans::new(&vertices, &facets, &first),
            first,
            vertices,
            facets,
            one_sided: false,
        })
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
        if !has_area(&self.vertices, facet) {
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

    /// Whether a unit normal leans towards any facet around a corner, which is given by a facet and its index there. `place`
    /// is as in [`surroundings`](Self::surroundings).
    pub fn leans(
        &self,
        number: u32,
        corner: usize,
        normal: V::Wide,
        place: impl Fn(V::Wide) -> V::Wide,
    ) -> bool {
        let facet = self.facets.get(number as usize);
        let vertex = facet.and_then(|facet| self.first.get(*facet.get(corner)? as usize));
        let at = |vertex: u32| {
            self.vertices
                .get(vertex as usize)
                .map(|it| place(it.widen()))
        };
        let Some((vertex, here)) = vertex.and_then(|it| Some((*it, at(*it)?))) else {
            return false;
        };
        // A facet is within the angle of its two edges: where neither rises, nothing does.
        let facets = self.fans.around(vertex).iter();
        let facets = facets.filter_map(|it| self.facets.get(*it as usize));
        let mut edges = facets
            .flat_map(corners_of::<V>)
            .filter_map(|corner| (at(corner)? - here).unit());
        edges.any(|edge| normal.dot(edge) > LEVEL)
    }

    /// A facet and what it borders on, where `place` puts them; `None` if that leaves it without a normal. `mirrored` tells
    /// whether `place` turns the outer side in.
    pub fn surroundings(
        &self,
        number: u32,
        place: impl Fn(V::Wide) -> V::Wide,
        mirrored: bool,
    ) -> Option<Surroundings<V::Wide>> {
        let corners_of = |number: u32| -> Option<SmallVec<[V::Wide; 3]>> {
            let facet = self.facets.get(number as usize)?;
            let corner = |it| self.vertices.get(it as usize).map(|it| place(it.widen()));
            corners_of::<V>(facet).map(corner).collect()
        };
        let corners = corners_of(number)?;
        let (base, others) = corners.split_first()?;
        let edges: SmallVec<[V::Wide; 2]> = others.iter().map(|it| *it - *base).collect();
        let outward = V::Wide::perpendicular(&edges)?.unit()?;
        let neighbours = self.neighbours.get(number as usize)?;
        let ridges = corners.iter().enumerate().zip(neighbours);
        let ridges = ridges.map(|((index, apex), neighbour)| {
            let ends: SmallVec<[V::Wide; 2]> = corners
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index)
                .map(|(_, corner)| *corner)
                .collect();
            let inward = away_from(&ends, *apex)?;
            // Of the neighbour's vertices the one that is not on the ridge leads away from it.
            let across = corners_of(*neighbour).and_then(|corners| {
                corners
                    .iter()
                    .filter_map(|corner| away_from(&ends, *corner))
                    .reduce(|a, b| {
                        if b.length_squared() > a.length_squared() {
                            b
                        } else {
                            a
                        }
                    })
            });
            Some(Ridge {
                start: *ends.first()?,
                inward,
                across: across.and_then(Wide::unit),
            })
        });
        Some(Surroundings {
            normal: if mirrored { -outward } else { outward },
            corner: *base,
            ridges: ridges.collect::<Option<_>>()?,
        })
    }
}

/// Who is around each vertex: the numbers of the facets, vertex after vertex.
#[derive(Clone)]
struct Fans {
    /// Where in `facets` those of a vertex begin; of vertices in the same place only the first has any.
    starts: Box<[u32]>,
    facets: Box<[u32]>,
}

impl Fans {
    fn new<V: Space>(vertices: &[V], facets: &[Numbers], first: &[u32]) -> Self {
        let mut members: Vec<(u32, u32)> = (0..)
            .zip(facets)
            .filter(|(_, facet)| has_area(vertices, facet))
            .flat_map(|(number, facet)| {
                let places = corners_of::<V>(facet).filter_map(|it| first.get(it as usize));
                places.map(move |place| (*place, number))
            })
            .collect();
        members.sort_unstable();
        let start = |vertex: u32| members.partition_point(|(it, _)| *it < vertex) as u32;
        Self {
            starts: (0..=vertices.len() as u32).map(start).collect(),
            facets: members.iter().map(|(_, facet)| *facet).collect(),
        }
    }

    fn around(&self, vertex: u32) -> &[u32] {
        let at = |number: usize| self.starts.get(number).map(|it| *it as usize);
        let range = at(vertex as usize).zip(at(vertex as usize + 1));
        range
            .and_then(|(start, end)| self.facets.get(start..end))
            .unwrap_or_default()
    }
}

/// A facet in its surface.
#[derive(Clone, Debug)]
pub struct Surroundings<W: Wide> {
    /// Outward, of unit length.
    pub normal: W,
    /// A point of the facet.
    pub corner: W,
    ridges: SmallVec<[Ridge<W>; 3]>,
}

/// A ridge of a facet: an edge, or in the plane an end.
#[derive(Clone, Copy, Debug)]
struct Ridge<W> {
    start: W,
    /// At right angles to the ridge: from it to the vertex opposite.
    inward: W,
    /// The unit tangent that leads from the ridge into the facet across, if there is one.
    across: Option<W>,
}

impl<W: Wide> Surroundings<W> {
    /// Whether the surface has this unit normal at a point of the facet, for a shape with this centre that is on the side to
    /// which `outward` points. Of a surface that is `one_sided` the back has no normals.
    ///
    /// `leans` tells whether the normal leans towards any facet around a corner, given by its index (see [`Mesh::leans`]).
    pub fn admits(
        &self,
        normal: W,
        outward: W,
        one_sided: bool,
        (point, centre): (W, W),
        leans: impl FnOnce(usize) -> bool,
    ) -> bool {
        if (normal - outward).length() <= LEVEL {
            return true;
        }
        // What pushes away from a ridge pushes away from the solid side of it, and not from a valley through its back.
        if normal.dot(centre - point) <= 0.0 {
            return false;
        }
        let is_on = |ridge: &Ridge<W>| {
            let height = (point - ridge.start).dot(ridge.inward) / ridge.inward.length_squared();
            height <= ON_RIDGE
        };
        let is_off = |ridge: &Ridge<W>| !is_on(ridge);
        let count = self.ridges.iter().filter(|it| is_on(it)).count();
        if count == 0 {
            return false;
        }
        // On all ridges but the one opposite is a corner. (In the plane it is one ridge, and what is across is all there is.)
        let corner = self.ridges.iter().position(is_off);
        let corner = corner.filter(|_| count > 1);
        let mut ridges = self.ridges.iter().filter(|it| is_on(it));
        ridges.all(|ridge| match ridge.across {
            None => normal.dot(outward) >= -LEVEL,
            Some(_) if corner.is_some() => true,
            Some(across) => {
                let is_valley = across.dot(outward) > LEVEL;
                normal.dot(across) <= LEVEL && !(one_sided && is_valley)
            }
        }) && !corner.is_some_and(leans)
    }
}

/// What leads from a ridge to a point, at right angles to the ridge: null for its own ends.
fn away_from<W: Wide>(ends: &[W], point: W) -> Option<W> {
    let (start, others) = ends.split_first()?;
    let way = point - *start;
    Some(others.iter().fold(way, |way, end| {
        let along = *end - *start;
        way - along * (way.dot(along) / along.length_squared())
    }))
}

/// Whether a facet has an area, or in the plane a length.
fn has_area<V: Space>(vertices: &[V], facet: &Numbers) -> bool {
    let corner = |it| vertices.get(it as usize).map(|it| it.widen());
    let corners: SmallVec<[V::Wide; 3]> = corners_of::<V>(facet).filter_map(corner).collect();
    let Some((base, others)) = corners.split_first() else {
        return false;
    };
    let edges: SmallVec<[V::Wide; 2]> = others.iter().map(|it| *it - *base).collect();
    let longest = edges.iter().map(|it| it.length()).fold(0.0, f64::max);
    let area = V::Wide::perpendicular(&edges).map_or(0.0, Wide::length);
    // The area is a product of two lengths in space, and a length in the plane.
    area > longest.powi(V::Wide::DIMENSION as i32 - 1) * SLIVER
}

fn corners_of<V: Space>(facet: &Numbers) -> impl Iterator<Item = u32> {
    facet.iter().copied().take(V::Wide::DIMENSION)
}

/// The number of the first vertex in the same place as each. (0 and -0 are one place.)
fn first_in_place<V: Space>(vertices: &[V]) -> Box<[u32]> {
    let mut places = HashMap::with_capacity(vertices.len());
    let first = (0..).zip(vertices).map(|(number, vertex)| {
        let bits = (vertex.to_vec3() + crate::math::Vec3::ZERO).to_array();
        *places.entry(bits.map(f32::to_bits)).or_insert(number)
    });
    first.collect()
}

/// The facets across each ridge. Vertices in one place go by the number of the `first` of them.
fn neighbours<V: Space>(vertices: &[V], facets: &[Numbers], first: &[u32]) -> Box<[Numbers]> {
    let place = |number: u32| first.get(number as usize).copied().unwrap_or(NONE);

    /// Who has a ridge: one facet, two, or more. By facet and the vertex that the ridge lacks.
    enum Owners {
        One((usize, usize)),
        Two((usize, usize), (usize, usize)),
        Many,
    }
    let mut owners: HashMap<Numbers, Owners> = HashMap::with_capacity(2 * facets.len());
    // What has no area separates nothing: those on either side of it are neighbours.
    let facets_with_area = facets.iter().enumerate();
    let facets_with_area = facets_with_area.filter(|(_, facet)| has_area(vertices, facet));
    for (facet, corners) in facets_with_area {
        for lacking in 0..V::Wide::DIMENSION {
            let mut ridge = [NONE; 3];
            let others = corners_of::<V>(corners).enumerate();
            let others = others.filter(|(index, _)| *index != lacking);
            for (slot, (_, number)) in ridge.iter_mut().zip(others) {
                *slot = place(number);
            }
            ridge.sort_unstable();
            owners
                .entry(ridge)
                .and_modify(|owners| {
                    *owners = match owners {
                        Owners::One(other) => Owners::Two(*other, (facet, lacking)),
                        Owners::Two(..) | Owners::Many => Owners::Many,
                    }
                })
                .or_insert(Owners::One((facet, lacking)));
        }
    }
    let mut neighbours = vec![[NONE; 3]; facets.len()].into_boxed_slice();
    for owner in owners.into_values() {
        if let Owners::Two(a, b) = owner {
            for ((facet, lacking), (other, _)) in [(a, b), (b, a)] {
                let slot = neighbours.get_mut(facet).and_then(|it| it.get_mut(lacking));
                if let Some(slot) = slot {
                    *slot = other as u32;
                }
            }
        }
    }
    neighbours
}
