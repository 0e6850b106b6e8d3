//! The convex hull of points in space: quickhull with exact predicates.
//!
//! Source: Barber, Dobkin and Huhdanpaa, "The quickhull algorithm for convex hulls" (1996). The
//! surface starts as a tetrahedron. Each step adds a point above a facet. The step removes all
//! facets that the point is above, and connects the point to the horizon, the boundary of the
//! removed facets.
//!
//! No point is lost, for three reasons:
//!
//! * **Exact sides.** An `f64` estimate decides on which side of a facet a point is. If the sign of
//!   the estimate is uncertain, the exact volume on the grid decides. So the surface is always the
//!   exact hull of the points added so far. A point is inside the surface if and only if the point
//!   is above no facet.
//! * **No degenerate facet.** A point in the plane of a facet does not count as above the facet. So
//!   the removed facets are connected, the horizon is one loop, and each new facet has an area.
//! * **The tolerance.** A point outside is dropped only if its height above some facet is within
//!   the tolerance. Added points are never removed. So the surface only grows, and the dropped
//!   point stays within the tolerance.
//!
//! A point above a removed facet is inside of the new surface or above a new facet. To prove this,
//! connect the point to an inner point of the removed facet. The connecting segment leaves the new
//! surface above the plane of the removed facet, where all facets are new.
//!
//! The hull keeps few of the points on a face. Among points that are equally high up to the
//! tolerance, the point farthest from the origin is added. This point is usually a corner of the
//! face. If many points on flat faces or straight edges are added despite this choice, the surface
//! is built again, first from the corners alone.

use core::{f64::consts::TAU, mem};

use arrayvec::ArrayVec;

use crate::{
    math::{DVec3, Vec3},
    shape::hull::{affine_hull::AffineHull, grid::GridPoints},
    space::simplex::nearest,
};

/// The error of a height is at most this number times 1 + s t / |n|. The components of two sides of
/// the facet are at most s and t, and n is the cross product of the sides. The number is 32 times
/// 2⁻⁵³ of 2⁴¹, the greatest distance between two points.
///
/// With the unit u = 2⁻⁵³, each component of n has an error of at most 4 u s t. So the error of the
/// unit normal is at most u (7 s t / |n| + 6). Multiplied by 2⁴¹, this error bounds the resulting
/// error of the height. Two dot products and their difference add 4 u times 2⁴¹.
const HEIGHT_ERROR: f64 = 32.0 * 0.5 * f64::EPSILON * (1_u64 << 41) as f64;

/// If the angles at a vertex add up to a full turn, except for less than this angle, the vertex may
/// exist only because of rounding.
const FLAT_ANGLE: f64 = 1e-4;

/// The ratio of all vertices to flat vertices below which a surface is built again.
const FEW_FLAT: usize = 10;

/// The maximum number of vertices of a surface that is built again. On a ball with more vertices,
/// all vertices are almost flat.
const MAX_REBUILT: usize = 256;

/// A triangle of the surface, with vertices counter-clockwise as seen from outside.
struct HullFacet {
    vertices: [usize; 3],
    /// For each vertex, the facet beyond the edge that starts at this vertex.
    neighbors: [usize; 3],
    normal: DVec3,
    offset: f64,
    /// The maximum error of a height above the facet.
    error: f64,
    /// Points strictly above the facet. Each point outside of the surface is listed once.
    outside: Vec<usize>,
    is_removed: bool,
    /// The last point for which the search for near facets visited the facet.
    visited_for: usize,
}

impl HullFacet {
    fn height(&self, position: DVec3) -> f64 {
        self.normal.dot(position) - self.offset
    }

    /// Returns `true` if a point is strictly above the plane of the facet. The answer is exact.
    fn is_above(&self, grid: &GridPoints, point: usize) -> Option<bool> {
        let height = self.height(*grid.points.get(point)?);
        // If the computed normal is 0, the height is NaN and the error is infinite, so the volume
        // decides.
        if height.abs() > self.error {
            return Some(height > 0.0);
        }
        let [a, b, c] = self.vertices;
        Some(grid.volume([a, b, c, point])? > 0)
    }
}

/// The surface of the convex hull of points on a grid.
pub struct HullSurface {
    grid: GridPoints,
    facets: Vec<HullFacet>,
    /// For each vertex of a horizon (the boundary of the removed facets), the new facet whose
    /// horizon edge starts at this vertex.
    starting_at: Vec<usize>,
}

impl HullSurface {
    /// Computes the surface of the hull of `points`. If the hull has more than `most` vertices,
    /// only `most` vertices are used. Returns `None` if the points are flat.
    pub fn around(points: &[Vec3], most: usize) -> Option<Self> {
        let grid = GridPoints::new(points)?;
        let AffineHull::Solid(start) = AffineHull::of(&grid)? else {
            return None;
        };
        let mut surface = Self::tetrahedron(grid, start)?;
        surface.grow(most.saturating_sub(start.len()))?;
        Some(surface)
    }

    /// Computes the surface of a hull with few vertices, from four start points that are not
    /// coplanar.
    pub fn with_few_vertices(grid: GridPoints, start: [usize; 4]) -> Option<Self> {
        let mut surface = Self::tetrahedron(grid, start)?;
        surface.grow(usize::MAX)?;
        // By Euler's formula, the surface has half as many vertices as triangles, plus 2.
        let count = surface.triangles().count() / 2 + 2;
        if count <= MAX_REBUILT && count < surface.grid.points.len() {
            let corners = surface.corners()?;
            if FEW_FLAT * (count - corners.len()) > count {
                surface = Self::tetrahedron(surface.grid, start)?;
                // No corner is dropped: a corner within the tolerance of a facet's plane may be far
                // from the facet.
                for corner in corners {
                    surface.add_if_above(corner)?;
                }
                surface.grow(usize::MAX)?;
            }
        }
        Some(surface)
    }

    /// Returns a tetrahedron as the first surface, and lists the points outside of it.
    fn tetrahedron(grid: GridPoints, [mut a, mut b, c, d]: [usize; 4]) -> Option<Self> {
        if grid.volume([a, b, c, d])? > 0 {
            mem::swap(&mut a, &mut b);
        }
        let all = (0..grid.points.len()).collect();
        let mut surface = Self {
            starting_at: vec![0; grid.points.len()],
            grid,
            facets: Vec::new(),
        };
        let sides = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        let neighbors = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (vertices, neighbors) in sides.into_iter().zip(neighbors) {
            surface.push(vertices, neighbors)?;
        }
        surface.distribute(&[all], 0, a)?;
        Some(surface)
    }

    /// Adds at most `most` points, until all other points are inside the surface or within the
    /// tolerance.
    fn grow(&mut self, most: usize) -> Option<()> {
        // Facets whose points are all within the tolerance are processed after all other facets.
        let mut near: Vec<usize> = Vec::new();
        let mut next = 0;
        for _ in 0..most {
            let (facet, apex) = loop {
                if let Some(facet) = self.facets.get(next) {
                    next += 1;
                    if facet.is_removed || facet.outside.is_empty() {
                        continue;
                    }
                    match self.outermost(facet) {
                        Some(apex) => break (next - 1, apex),
                        None => near.push(next - 1),
                    }
                } else if let Some(index) = near.pop() {
                    if let Some(apex) = self.first_far(index)? {
                        break (index, apex);
                    }
                } else {
                    return Some(());
                }
            };
            self.add(facet, apex)?;
        }
        Some(())
    }

    /// Returns the point that is farthest from the origin among the points that are the highest
    /// above a facet, up to the tolerance. Returns `None` if no height exceeds the tolerance.
    fn outermost(&self, facet: &HullFacet) -> Option<usize> {
        let points = || {
            let points = facet.outside.iter();
            points.filter_map(|point| Some((*point, *self.grid.points.get(*point)?)))
        };
        let heights = points().map(|(_, position)| facet.height(position));
        let highest = heights.fold(0.0, f64::max);
        let high = points().filter(|(_, at)| facet.height(*at) >= highest - self.grid.tolerance);
        let farther = |best: (usize, DVec3), other: (usize, DVec3)| {
            let is_farther = other.1.length_squared() > best.1.length_squared();
            if is_farther { other } else { best }
        };
        let best = high.reduce(farther).map(|(point, _)| point);
        best.filter(|_| highest > self.grid.tolerance)
    }

    /// Removes points from the list of a facet until a removed point is farther from the surface
    /// than the tolerance. Returns this point, or `Some(None)` if all points are within the
    /// tolerance.
    fn first_far(&mut self, facet: usize) -> Option<Option<usize>> {
        let facet_at = self.facets.get_mut(facet)?;
        if facet_at.is_removed {
            return Some(None);
        }
        // The points are tried in order, so that the first of equal points is kept.
        let mut outside = mem::take(&mut facet_at.outside).into_iter();
        let mut far = None;
        for point in outside.by_ref() {
            if !self.is_near(facet, point)? {
                far = Some(point);
                break;
            }
        }
        self.facets.get_mut(facet)?.outside = outside.collect();
        Some(far)
    }

    /// Returns `true` if a point above `facet` is within the tolerance of any facet that the point
    /// is above.
    fn is_near(&mut self, facet: usize, point: usize) -> Option<bool> {
        let mut stack = vec![facet];
        while let Some(index) = stack.pop() {
            let facet = self.facets.get_mut(index)?;
            if facet.visited_for == point {
                continue;
            }
            facet.visited_for = point;
            let neighbors = facet.neighbors;
            if self.is_above(index, point)? {
                if self.distance(index, point)? <= self.grid.tolerance {
                    return Some(true);
                }
                stack.extend(neighbors);
            }
        }
        Some(false)
    }

    /// Returns an upper bound of the distance from a facet to a point: the distance from a convex
    /// combination of the facet's vertices. The rounding of this combination is less than a grid
    /// step.
    fn distance(&self, facet: usize, point: usize) -> Option<f64> {
        let point = *self.grid.points.get(point)?;
        let vertices = self.positions(self.facets.get(facet)?.vertices)?;
        let simplex: ArrayVec<DVec3, 4> = vertices.into_iter().collect();
        let weights = nearest(&simplex, |vertex| *vertex - point).weights;
        let weighted = simplex.iter().zip(weights);
        let sum: DVec3 = weighted.map(|(vertex, weight)| *vertex * weight).sum();
        // If all weights are 0, the distance is NaN, which never counts as near.
        Some(point.distance(sum / weights.iter().sum::<f64>()))
    }

    /// Adds a point to the surface if the point is above a facet.
    fn add_if_above(&mut self, point: usize) -> Option<()> {
        for (index, facet) in self.facets.iter().enumerate() {
            if !facet.is_removed && facet.is_above(&self.grid, point)? {
                return self.add(index, point);
            }
        }
        Some(())
    }

    /// Adds a point above a facet to the surface.
    fn add(&mut self, facet: usize, apex: usize) -> Option<()> {
        let mut outside = Vec::new();
        let mut horizon = Vec::new();
        let mut stack = vec![facet];
        self.facets.get_mut(facet)?.is_removed = true;
        while let Some(index) = stack.pop() {
            let facet = self.facets.get_mut(index)?;
            outside.push(mem::take(&mut facet.outside));
            let (neighbors, edges) = (facet.neighbors, edges(facet.vertices));
            for (edge, neighbor) in edges.into_iter().zip(neighbors) {
                if self.facets.get(neighbor)?.is_removed {
                    continue;
                }
                if self.is_above(neighbor, apex)? {
                    self.facets.get_mut(neighbor)?.is_removed = true;
                    stack.push(neighbor);
                } else {
                    horizon.push((edge, neighbor));
                }
            }
        }
        let first = self.facets.len();
        for ([a, b], neighbor) in horizon {
            let index = self.facets.len();
            *self.starting_at.get_mut(a)? = index;
            // The other two neighbors are set below.
            self.push([a, b, apex], [neighbor, index, index])?;
            let beyond = self.facets.get_mut(neighbor)?;
            let edge = beyond.vertices.iter().position(|vertex| *vertex == b)?;
            *beyond.neighbors.get_mut(edge)? = index;
        }
        for index in first..self.facets.len() {
            let [_, b, _] = self.facets.get(index)?.vertices;
            let next = *self.starting_at.get(b)?;
            let [_, after, _] = &mut self.facets.get_mut(index)?.neighbors;
            *after = next;
            let [_, _, before] = &mut self.facets.get_mut(next)?.neighbors;
            *before = index;
        }
        self.distribute(&outside, first, apex)
    }

    /// Adds each point of `lists` to the list of the first facet that the point is above. Only
    /// facets from index `first` on are tested. The point `apex` is already a vertex of the
    /// surface.
    fn distribute(&mut self, lists: &[Vec<usize>], first: usize, apex: usize) -> Option<()> {
        let grid = &self.grid;
        let new = self.facets.get_mut(first..)?;
        for point in lists.iter().flatten().filter(|point| **point != apex) {
            for facet in new.iter_mut() {
                if facet.is_above(grid, *point)? {
                    facet.outside.push(*point);
                    break;
                }
            }
        }
        Some(())
    }

    /// Adds a facet with an empty list of points.
    fn push(&mut self, vertices: [usize; 3], neighbors: [usize; 3]) -> Option<()> {
        let [a, b, c] = self.positions(vertices)?;
        let normal = (b - a).cross(c - a);
        let scale = 1.0 / normal.length();
        let [s, t] = [b - a, c - a].map(|side| side.abs().max_element());
        let normal = normal * scale;
        self.facets.push(HullFacet {
            vertices,
            neighbors,
            normal,
            offset: normal.dot(a),
            error: HEIGHT_ERROR * (1.0 + s * t * scale),
            outside: Vec::new(),
            is_removed: false,
            visited_for: usize::MAX,
        });
        Some(())
    }

    fn is_above(&self, facet: usize, point: usize) -> Option<bool> {
        self.facets.get(facet)?.is_above(&self.grid, point)
    }

    fn positions(&self, vertices: [usize; 3]) -> Option<[DVec3; 3]> {
        let [a, b, c] = vertices.map(|vertex| self.grid.points.get(vertex).copied());
        Some([a?, b?, c?])
    }

    /// Returns the corners: the vertices at which the angles of the triangles add up to less than a
    /// full turn. At a point on a face or an edge, the angles add up to a full turn.
    fn corners(&self) -> Option<Vec<usize>> {
        let mut angles = vec![TAU; self.grid.points.len()];
        for (triangle, _) in self.triangles() {
            let [a, b, c] = triangle;
            for vertices in [[a, b, c], [b, c, a], [c, a, b]] {
                let [at, to, from] = self.positions(vertices)?;
                let (to, from) = (to - at, from - at);
                let [vertex, ..] = vertices;
                *angles.get_mut(vertex)? -= libm::atan2(to.cross(from).length(), to.dot(from));
            }
        }
        // If a point is not a vertex, no facet has an angle at the point, and the angle defect is a
        // full turn.
        let is_corner = |missing| missing > FLAT_ANGLE && missing < TAU;
        let corners = angles.into_iter().enumerate();
        let corners = corners.filter(|(_, missing)| is_corner(*missing));
        Some(corners.map(|(vertex, _)| vertex).collect())
    }

    /// Returns each triangle, counter-clockwise as seen from outside, and its outward unit normal.
    pub fn triangles(&self) -> impl Iterator<Item = ([usize; 3], DVec3)> {
        self.kept().map(|facet| (facet.vertices, facet.normal))
    }

    /// Returns the facets that are still part of the surface.
    fn kept(&self) -> impl Iterator<Item = &HullFacet> {
        self.facets.iter().filter(|facet| !facet.is_removed)
    }

    /// Returns the indices of the vertices, in ascending order.
    pub fn vertices(&self) -> Vec<usize> {
        let mut vertices: Vec<usize> = self
            .triangles()
            .flat_map(|(vertices, _)| vertices)
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Returns a vertex and the outward unit normal of each triangle. Slivers whose normal is
    /// uncertain are left out.
    pub fn planes(&self) -> impl Iterator<Item = (usize, DVec3)> {
        let kept = self.kept();
        let certain = kept.filter(|facet| facet.error < self.grid.tolerance);
        certain.map(|facet| {
            let [vertex, ..] = facet.vertices;
            (vertex, facet.normal)
        })
    }
}

/// Returns the edges of a triangle.
pub fn edges([a, b, c]: [usize; 3]) -> [[usize; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}
