//! The polytope of EPA in three dimensions: a convex polyhedron of triangles.
//!
//! A new vertex removes the triangles that are visible from this vertex. New triangles join the
//! vertex to the horizon, the boundary of the removed triangles, as in incremental convex hulls
//! (Barber, Dobkin and Huhdanpaa, "The Quickhull Algorithm for Convex Hulls" (1996)). The visible
//! triangles are found by a walk over edges, which yields the horizon in order. The code differs
//! from the textbook in two points:
//!
//! * A triangle whose plane contains the new vertex counts as visible. Otherwise a sliver, whose
//!   normal is mostly rounding error, would be created beside that triangle.
//! * Because of rounding, the horizon may not be one closed loop. Such a horizon is detected and
//!   reported before the polyhedron is changed.

use arrayvec::ArrayVec;

use crate::{
    math::DVec3,
    space::{DVector, EpaEnd, Polytope, PolytopeFacet},
};

#[derive(Clone, Copy, Default)]
struct Face {
    /// The outward unit normal, or zero for a degenerate triangle.
    normal: DVec3,
    /// The indices of the vertices, counter-clockwise as seen from outside.
    vertices: [u16; 3],
    /// Entry i is the triangle across the edge from vertex i to the next vertex.
    neighbors: [u16; 3],
    /// `true` if the triangle is visible from the vertex that is being added.
    is_seen: bool,
}

impl Face {
    /// Returns a triangle and the distance from the origin to its plane along the normal. For a
    /// triangle of zero area, the distance is infinite, so that the triangle is never the nearest.
    #[inline(always)]
    fn new([a, b, c]: [DVec3; 3], vertices: [u16; 3], neighbors: [u16; 3]) -> (Self, f64) {
        let unit = (a - c).cross(b - c).unit();
        let face = Self {
            normal: unit.unwrap_or(DVec3::ZERO),
            vertices,
            neighbors,
            is_seen: false,
        };
        (face, unit.map_or(f64::INFINITY, |normal| normal.dot(a)))
    }

    /// Returns the index of the edge that begins at a vertex. The neighbor across the edge from p
    /// to q has the edge from q to p.
    fn edge_from(&self, vertex: u16) -> Option<u8> {
        let index = self.vertices.iter().position(|other| *other == vertex);
        index.map(|index| index as u8)
    }
}

/// Returns the index of the next edge of a triangle, counter-clockwise.
fn after(edge: u8) -> u8 {
    if edge >= 2 { 0 } else { edge + 1 }
}

/// An edge of the horizon, directed as in the visible triangle.
#[derive(Clone, Copy)]
struct HorizonEdge {
    start: u16,
    end: u16,
    /// The hidden triangle across the edge.
    across: u16,
    /// The index of the edge in the hidden triangle.
    side: u8,
    /// The triangle that will join the edge to the new vertex.
    new: u16,
}

/// A visible triangle, its next edge to cross, and the number of edges left to cross.
#[derive(Clone, Copy)]
struct Visit {
    face: u16,
    edge: u8,
    left: u8,
}

/// A convex polyhedron: a closed mesh of triangles.
#[derive(Default)]
pub struct Polyhedron<const FACES: usize> {
    /// The distances of the triangles' planes from the origin, infinite for removed triangles. A
    /// search for the minimum reads only this list.
    distances: ArrayVec<f64, FACES>,
    faces: ArrayVec<Face, FACES>,
    removed: ArrayVec<u16, FACES>,
    /// The number of triangles created so far, including removed triangles.
    created: usize,
    /// The triangles that are visible from the vertex that is being added.
    seen: ArrayVec<u16, FACES>,
    /// The boundary edges of the visible triangles, in order.
    horizon: ArrayVec<HorizonEdge, FACES>,
}

/// The maximum number of triangles that are created, including removed triangles. A body of a
/// thousand vertices usually needs six triangles per vertex. On a flat cap with a round edge, each
/// new vertex replaces all triangles of the cap, so many more triangles are created.
const MAX_CREATED: usize = 16_384;

/// A bit for each vertex.
type VertexSet = [u64; 16];

impl<const FACES: usize> Polyhedron<FACES> {
    /// Adds a triangle, or returns `None` if there is no capacity.
    fn add(&mut self, (face, distance): (Face, f64)) -> Option<()> {
        self.distances.try_push(distance).ok()?;
        self.faces.try_push(face).ok()
    }

    /// Returns `true` if a point is on or beyond the plane of a triangle. A triangle of zero area
    /// counts as visible from every point.
    fn sees(face: &Face, distance: f64, point: DVec3, tolerance: f64) -> bool {
        face.normal == DVec3::ZERO || face.normal.dot(point) > distance - tolerance
    }

    /// Marks the triangles that are visible from `point`, starting with the triangle `from`, and
    /// collects these triangles and their horizon in order. Returns `None` if the mesh is not
    /// closed.
    fn mark_seen(&mut self, from: u16, point: DVec3, tolerance: f64) -> Option<()> {
        self.seen.clear();
        self.horizon.clear();
        // The walk crosses the edges of each triangle counter-clockwise, starting after the edge
        // through which the walk entered the triangle. So the horizon is counter-clockwise, too.
        let mut walk: ArrayVec<Visit, FACES> = ArrayVec::new();
        let faces: &mut [Face] = &mut self.faces;
        let distances: &[f64] = &self.distances;
        faces.get_mut(usize::from(from))?.is_seen = true;
        self.seen.try_push(from).ok()?;
        let mut visit = Visit {
            face: from,
            edge: 0,
            left: 3,
        };
        loop {
            if visit.left == 0 {
                let Some(before) = walk.pop() else {
                    return Some(());
                };
                visit = before;
                continue;
            }
            let face = faces.get(usize::from(visit.face))?;
            let edge = usize::from(visit.edge);
            let across = *face.neighbors.get(edge)?;
            let start = *face.vertices.get(edge)?;
            visit.edge = after(visit.edge);
            visit.left -= 1;
            let end = *face.vertices.get(usize::from(visit.edge))?;
            let neighbor = faces.get_mut(usize::from(across))?;
            if neighbor.is_seen {
                continue;
            }
            let side = neighbor.edge_from(end)?;
            let distance = *distances.get(usize::from(across))?;
            if Self::sees(neighbor, distance, point, tolerance) {
                neighbor.is_seen = true;
                self.seen.try_push(across).ok()?;
                walk.try_push(visit).ok()?;
                visit = Visit {
                    face: across,
                    edge: after(side),
                    left: 2,
                };
            } else {
                let edge = HorizonEdge {
                    start,
                    end,
                    across,
                    side,
                    new: 0,
                };
                self.horizon.try_push(edge).ok()?;
            }
        }
    }

    /// Returns `true` if the horizon is one closed loop without repeated vertices.
    fn horizon_is_simple(&self) -> bool {
        let Some(last) = self.horizon.last() else {
            return false;
        };
        let mut visited: VertexSet = Default::default();
        let mut previous_end = last.end;
        for edge in self.horizon.iter() {
            let bit = 1 << (edge.start % 64);
            let Some(word) = visited.get_mut(usize::from(edge.start / 64)) else {
                return false;
            };
            if edge.start != previous_end || *word & bit != 0 {
                return false;
            }
            *word |= bit;
            previous_end = edge.end;
        }
        self.horizon.len() >= 3
    }

    /// Assigns the index of a triangle to each edge of the horizon. The indices of visible
    /// triangles, which are replaced, are used first, then the indices of removed triangles, and
    /// then new indices. The caller has checked the capacity.
    fn allocate(&mut self) {
        for (index, edge) in self.horizon.iter_mut().enumerate() {
            let free = self.seen.get(index).copied();
            edge.new = free.or_else(|| self.removed.pop()).unwrap_or_else(|| {
                let _ = self.distances.try_push(f64::INFINITY);
                let _ = self.faces.try_push(Face::default());
                (self.faces.len() - 1) as u16
            });
        }
        for index in self.seen.iter().skip(self.horizon.len()) {
            if let Some(distance) = self.distances.get_mut(usize::from(*index)) {
                *distance = f64::INFINITY;
            }
            // The list has capacity for all triangles, because no triangle is removed twice.
            let _ = self.removed.try_push(*index);
        }
    }

    /// Removes the marks of [`mark_seen`](Self::mark_seen).
    fn unmark_seen(&mut self) {
        for index in self.seen.iter() {
            if let Some(face) = self.faces.get_mut(usize::from(*index)) {
                face.is_seen = false;
            }
        }
    }

    /// Joins the edges of the horizon to the last of `points`.
    fn fill(&mut self, points: &[DVec3]) -> Option<()> {
        let faces: &mut [Face] = &mut self.faces;
        let distances: &mut [f64] = &mut self.distances;
        let horizon: &[HorizonEdge] = &self.horizon;
        let (point, new) = (*points.last()?, (points.len() - 1) as u16);
        let (first, last) = (horizon.first()?, horizon.last()?);
        let mut previous = last.new;
        let mut start = *points.get(usize::from(first.start))?;
        for (index, edge) in horizon.iter().enumerate() {
            let next = horizon.get(index + 1).unwrap_or(first).new;
            let neighbors = [edge.across, next, previous];
            let end = *points.get(usize::from(edge.end))?;
            let created = Face::new([start, end, point], [edge.start, edge.end, new], neighbors);
            start = end;
            let slot = usize::from(edge.new);
            (*faces.get_mut(slot)?, *distances.get_mut(slot)?) = created;
            // The new triangle replaces a visible triangle as the neighbor of the hidden triangle.
            let neighbor = faces.get_mut(usize::from(edge.across))?;
            *neighbor.neighbors.get_mut(usize::from(edge.side))? = edge.new;
            previous = edge.new;
        }
        Some(())
    }
}

impl<const FACES: usize> Polytope<DVec3> for Polyhedron<FACES> {
    fn begin(&mut self, points: &[DVec3]) -> Option<()> {
        let [a, b, c, d, ..] = *points else {
            return None;
        };
        let volume = DVec3::determinant(&[b - a, c - a, d - a]);
        // If the volume is negative, the first three vertices are clockwise as seen from the fourth
        // vertex. Face i is opposite to vertex i.
        let triangles = if volume > 0.0 {
            [[2, 3, 1], [0, 3, 2], [0, 1, 3], [0, 2, 1]]
        } else if volume < 0.0 {
            [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]]
        } else {
            return None;
        };
        // The face across the edge from p to q of a triangle (p, q, r) does not contain r, so this
        // face has the index r.
        for [p, q, r] in triangles {
            let corner = |index: u16| points.get(usize::from(index)).copied();
            let corners = [corner(p)?, corner(q)?, corner(r)?];
            self.add(Face::new(corners, [p, q, r], [r, p, q]))?;
        }
        self.created = triangles.len();
        Some(())
    }

    fn distances(&self) -> &[f64] {
        &self.distances
    }

    fn facet(&self, index: usize) -> Option<PolytopeFacet<DVec3>> {
        let face = self.faces.get(index)?;
        Some(PolytopeFacet {
            normal: face.normal,
            distance: *self.distances.get(index)?,
            vertices: face.vertices,
            index,
        })
    }

    fn grow(
        &mut self,
        points: &[DVec3],
        beyond: &PolytopeFacet<DVec3>,
        tolerance: f64,
    ) -> Result<(), EpaEnd> {
        let Some(point) = points.last().copied() else {
            return Err(EpaEnd::Stuck);
        };
        let marked = self.mark_seen(beyond.index as u16, point, tolerance);
        let removed = self.removed.len() + self.seen.len();
        if marked.is_none() || !self.horizon_is_simple() {
            self.unmark_seen();
            Err(EpaEnd::Stuck)
        } else if self.faces.len() + self.horizon.len() > FACES + removed
            || self.created + self.horizon.len() > MAX_CREATED
        {
            self.unmark_seen();
            Err(EpaEnd::Full)
        } else {
            self.created += self.horizon.len();
            self.allocate();
            self.fill(points).ok_or(EpaEnd::Stuck)
        }
    }
}
