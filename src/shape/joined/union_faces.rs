//! The exposed faces of the union of convex parts.
//!
//! Each face is cut by each other part near it. What no part covers is exposed. Where two parts
//! touch, both faces are covered. Where two parts have a face in the same plane, one of the two
//! faces remains.
//!
//! Parts that are meant to be flush may be apart, or overlap, by a few roundings of `f32`. The weld
//! of their vertices is the tolerance for this error. Vertices within the weld become one vertex,
//! so that the facets at a seam are joined.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::{
    shape::{
        boxes::{box_search::Overlapping, wide_tree::WideTree},
        elements::{
            facet::{FacetIndices, facet_normal, facet_vertices, weld},
            part_face::{Polygon, cut},
        },
        joined::part_faces::PartFaces,
    },
    space::{DVector, Space},
};

/// The least cosine of the angle between the normals of a facet and of its face. Where vertices
/// become one vertex, a facet that is only a few welds wide may tilt by more. Such a facet is left
/// out: the gap is too narrow for the facets beside it to be apart.
const LEAST_FACET_COSINE: f64 = 0.99;

/// The facets of the union.
pub struct UnionFaces<V: Space> {
    pub vertices: Vec<V>,
    pub facets: Vec<FacetIndices>,
    /// The index of the part that has each facet.
    pub parts: Vec<u32>,
    /// The vertices in each box of a grid. The sides of the boxes are `spacing` long.
    near: HashMap<[i64; 3], SmallVec<[u32; 2]>>,
    spacing: f64,
}

impl<V: Space> UnionFaces<V> {
    /// Finds the exposed faces. `tree` has the boxes of the parts.
    pub fn new(parts: &[PartFaces<V::DVec>], tree: &WideTree) -> Self {
        let mut faces = Self {
            vertices: Vec::new(),
            facets: Vec::new(),
            parts: Vec::new(),
            near: HashMap::new(),
            // Only a few boxes are within the weld of a vertex.
            spacing: 4.0 * parts.iter().map(|part| part.weld).fold(0.0, f64::max),
        };
        for (part, index) in parts.iter().zip(0..) {
            let mut others: SmallVec<[u32; 16]> = SmallVec::new();
            let bounds = part.bounds().grown(part.weld).round_outward();
            tree.visit(&Overlapping::new(bounds), 0.0, |other| {
                others.push(other);
                0.0
            });
            others.retain(|other| *other != index);
            others.sort_unstable();
            for face in &part.faces {
                let mut exposed = vec![face.corners.clone()];
                for other_index in &others {
                    let Some(other) = parts.get(*other_index as usize) else {
                        continue;
                    };
                    let tolerance = part.weld.max(other.weld);
                    let mut rest = Vec::with_capacity(exposed.len());
                    for polygon in &exposed {
                        let is_first = *other_index < index;
                        let (faces, normal) = (&other.faces, face.normal);
                        cut(faces, polygon, normal, is_first, tolerance, &mut rest);
                    }
                    exposed = rest;
                    if exposed.is_empty() {
                        break;
                    }
                }
                for polygon in &exposed {
                    faces.add(polygon, face.normal, index);
                }
            }
        }
        faces
    }

    /// Adds a convex polygon as facets.
    fn add(&mut self, polygon: &Polygon<V::DVec>, normal: V::DVec, part: u32) {
        let mut corners: SmallVec<[u32; 6]> = polygon.iter().map(|it| self.index(*it)).collect();
        corners.dedup();
        let facets: SmallVec<[FacetIndices; 4]> = match &*corners {
            [start, end] if V::DVec::DIMENSION == 2 => {
                SmallVec::from_slice(&[[*start, *end, *end]])
            }
            [first, others @ ..] if V::DVec::DIMENSION == 3 => {
                let sides = others.windows(2).filter_map(|ends| match ends {
                    [a, b] => Some([*first, *a, *b]),
                    _ => None,
                });
                sides.collect()
            }
            _ => SmallVec::new(),
        };
        for [a, b, c] in facets {
            let turned = if V::DVec::DIMENSION == 2 {
                [b, a, a]
            } else {
                [a, c, b]
            };
            let own_normal = |facet: &FacetIndices| {
                let corners = facet_vertices(&self.vertices, facet)?;
                facet_normal(&corners).and_then(V::DVec::unit)
            };
            let is_outward = |facet: &FacetIndices| {
                own_normal(facet).is_some_and(|it| it.dot(normal) >= LEAST_FACET_COSINE)
            };
            if let Some(facet) = [[a, b, c], turned].into_iter().find(is_outward) {
                self.facets.push(facet);
                self.parts.push(part);
            }
        }
    }

    /// Returns the index of a vertex. Vertices within the weld have the same index.
    fn index(&mut self, vertex: V::DVec) -> u32 {
        let weld = weld(&[vertex]);
        let corner = |point: V::DVec| {
            point
                .components()
                .map(|it| (it / self.spacing).floor() as i64)
        };
        let [min, max] = [-weld, weld].map(|side| corner(vertex + V::DVec::ONE * side));
        let range = |axis: usize| {
            let [min, max] = [min, max].map(|it| it.get(axis).copied().unwrap_or(0));
            min..=max
        };
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    let near = self.near.get(&[x, y, z]).into_iter().flatten();
                    let mut near = near.filter_map(|index| {
                        Some((*index, self.vertices.get(*index as usize)?.to_f64()))
                    });
                    let same = near.find(|(_, other)| (*other - vertex).length() <= weld);
                    if let Some((index, _)) = same {
                        return index;
                    }
                }
            }
        }
        let index = self.vertices.len() as u32;
        self.near.entry(corner(vertex)).or_default().push(index);
        self.vertices.push(V::from_f64(vertex));
        index
    }
}
