//! Clusters of a surface: connected facets in one plane.
//!
//! A contact does not depend on how the surface is divided into facets. So the plane of a cluster
//! is tested once for all its facets. Clusters are found when a surface is built. A similarity
//! preserves clusters. Any other map may stretch the small deviations from the plane that rounding
//! leaves. Under such a map, each facet counts as a cluster: see `placed/facets.rs`.

use std::collections::HashMap;

use crate::{
    shape::elements::facet::{
        FacetIndices, FacetVertices, are_level, facet_normal, facet_vertices,
    },
    space::{DVector, Space},
};

/// The index of a missing vertex, facet or cluster.
const NONE: u32 = u32::MAX;

/// The clusters of a surface, in 5 bytes per facet and 12 bytes per cluster of several facets.
pub struct Clusters {
    /// The index of each facet's cluster. Clusters of several facets come first.
    numbers: Box<[u32]>,
    /// For each facet, the mask of the sides on the boundary of the facet's cluster.
    rims: Box<[u8]>,
    /// For each cluster of several facets, vertices that span its plane, wound like its facets.
    planes: Box<[FacetIndices]>,
}

impl Clusters {
    /// Finds the clusters of facets. Each facet is given by the indices of its vertices.
    pub fn new<V: Space>(vertices: &[V], facets: &[FacetIndices]) -> Self {
        let neighbors = neighbors(vertices, facets);
        let mut numbers = vec![NONE; facets.len()];
        let mut planes = Vec::new();
        let mut is_found = vec![false; facets.len()];
        for first in 0..facets.len() {
            let found = connected(vertices, facets, &neighbors, &mut is_found, first);
            let of_found = found.iter().filter_map(|facet| facets.get(*facet));
            let Some(plane) = common_plane(vertices, of_found) else {
                continue;
            };
            for facet in found {
                if let Some(number) = numbers.get_mut(facet) {
                    *number = planes.len() as u32;
                }
            }
            planes.push(plane);
        }
        let rims = neighbors.iter().zip(&numbers).map(|(neighbors, own)| {
            let sides = neighbors.iter().enumerate().map(|(side, other)| {
                let is_inner = *own != NONE && numbers.get(*other as usize) == Some(own);
                u8::from(!is_inner) << side
            });
            sides.sum()
        });
        let rims = rims.collect();
        for (number, single) in numbers.iter_mut().zip(planes.len() as u32..) {
            if *number == NONE {
                *number = single;
            }
        }
        Self {
            numbers: numbers.into(),
            rims,
            planes: planes.into(),
        }
    }

    /// Returns the index of a facet's cluster.
    pub fn of(&self, facet: u32) -> Option<u32> {
        self.numbers.get(facet as usize).copied()
    }

    /// Returns the index of a facet's cluster, or `None` if the cluster has a single facet.
    pub fn of_several(&self, facet: u32) -> Option<u32> {
        self.of(facet).filter(|it| self.plane(*it).is_some())
    }

    /// Returns the mask of a facet's sides on the boundary of the facet's cluster. Bit i stands for
    /// the side opposite to vertex i.
    pub fn rims(&self, facet: u32) -> u8 {
        self.rims.get(facet as usize).copied().unwrap_or(u8::MAX)
    }

    /// Returns vertices that span the plane of a cluster, or `None` if the cluster has a single
    /// facet.
    pub fn plane(&self, cluster: u32) -> Option<&FacetIndices> {
        self.planes.get(cluster as usize)
    }
}

/// Returns the neighbor of each facet across each side. A side has a neighbor if exactly one other
/// facet shares the side, and both facets have the same winding. Vertices with equal coordinates
/// count as the same vertex.
fn neighbors<V: Space>(vertices: &[V], facets: &[FacetIndices]) -> Vec<[u32; 3]> {
    // Adding 0 turns -0 into 0, so that both have the same bits.
    let bits = |vertex: &V| vertex.to_f64().components().map(|it| (it + 0.0).to_bits());
    let mut places = HashMap::with_capacity(vertices.len());
    let numbered = vertices.iter().zip(0_u32..);
    let same: Vec<u32> = numbered
        .map(|(vertex, index)| *places.entry(bits(vertex)).or_insert(index))
        .collect();
    let place = |index: u32| same.get(index as usize).copied().unwrap_or(NONE);
    // Two facets with the same winding traverse their common side in opposite directions.
    let mut sides = Vec::with_capacity(facets.len() * V::DVec::DIMENSION);
    for (facet, indices) in facets.iter().enumerate() {
        let [a, b, c] = indices.map(place);
        let ends = if V::DVec::DIMENSION == 2 {
            [Some([b, NONE]), Some([NONE, a]), None]
        } else {
            [Some([b, c]), Some([c, a]), Some([a, b])]
        };
        for (side, [from, to]) in ends.into_iter().flatten().enumerate() {
            sides.push(([from.min(to), from.max(to)], from < to, facet as u32, side));
        }
    }
    sides.sort_unstable();
    let mut neighbors = vec![[NONE; 3]; facets.len()];
    for group in sides.chunk_by(|(a, ..), (b, ..)| a == b) {
        if let [(_, false, one, side), (_, true, other, other_side)] = *group {
            for (facet, side, neighbor) in [(one, side, other), (other, other_side, one)] {
                let sides = neighbors.get_mut(facet as usize);
                if let Some(slot) = sides.and_then(|sides| sides.get_mut(side)) {
                    *slot = neighbor;
                }
            }
        }
    }
    neighbors
}

/// Returns `first` and all facets that are connected to `first` through neighbors in one plane.
/// Marks these facets in `is_found`, and skips facets that are already marked.
fn connected<V: Space>(
    vertices: &[V],
    facets: &[FacetIndices],
    neighbors: &[[u32; 3]],
    is_found: &mut [bool],
    first: usize,
) -> Vec<usize> {
    let mut found = Vec::new();
    let corners = |facet: usize| facet_vertices(vertices, facets.get(facet)?);
    let are_level = |facet: usize, other: usize| {
        corners(facet)
            .zip(corners(other))
            .is_some_and(|(own, others)| {
                are_level::<V>(&own, &others) && are_level::<V>(&others, &own)
            })
    };
    let mut take = |other: usize, found: &mut Vec<usize>, facet: Option<usize>| {
        if let Some(is_found) = is_found.get_mut(other)
            && !*is_found
            && facet.is_none_or(|facet| are_level(facet, other))
        {
            *is_found = true;
            found.push(other);
        }
    };
    take(first, &mut found, None);
    let mut next = 0;
    while let Some(&facet) = found.get(next) {
        next += 1;
        for other in neighbors.get(facet).into_iter().flatten() {
            take(*other as usize, &mut found, Some(facet));
        }
    }
    found
}

/// Returns vertices that span the common plane of several facets, wound like the facets. Returns
/// `None` for a single facet, and if the facets are not in one plane.
fn common_plane<'f, V: Space>(
    vertices: &[V],
    facets: impl Iterator<Item = &'f FacetIndices> + Clone,
) -> Option<FacetIndices> {
    let first = facets.clone().next()?;
    facets.clone().nth(1)?;
    let dimension = V::DVec::DIMENSION;
    let place = |index: u32| Some(vertices.get(index as usize)?.to_f64());
    let farthest = |measure: &dyn Fn(V::DVec) -> f64| {
        let indices = facets
            .clone()
            .flat_map(|facet| facet.iter().take(dimension));
        let measured = indices.filter_map(|index| Some((measure(place(*index)?), *index)));
        let (_, index) = measured.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((index, place(index)?))
    };
    // The chosen vertices are far apart, so that rounding hardly tilts the plane.
    let start = place(first[0])?;
    let (a, at_a) = farthest(&|point| (point - start).length_squared())?;
    let (b, at_b) = farthest(&|point| (point - at_a).length_squared())?;
    let area = |point: V::DVec| facet_normal(&[at_a, at_b, point]).map_or(0.0, V::DVec::length);
    let c = if dimension == 2 {
        b
    } else {
        farthest(&area)?.0
    };
    let corners = |indices: &FacetIndices| facet_vertices(vertices, indices);
    let faces_same = |indices: &FacetIndices| {
        let normals = [indices, first].map(|it| facet_normal(&corners(it)?));
        matches!(normals, [Some(own), Some(other)] if own.dot(other) > 0.0)
    };
    let plane = [[a, b, c], [b, a, c]].into_iter().find(faces_same)?;
    let own: FacetVertices<V::DVec> = corners(&plane)?;
    let mut all = facets.filter_map(corners);
    all.all(|others| are_level::<V>(&own, &others))
        .then_some(plane)
}
