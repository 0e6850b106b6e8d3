//! The polytope of EPA in three dimensions: a convex polyhedron of triangles.
//!
//! A new vertex removes the triangles that it can see and joins their rim to itself, as in incremental convex hulls
//! (Barber, Dobkin and Huhdanpaa, "The Quickhull Algorithm for Convex Hulls" (1996)). The triangles in sight are found by
//! walking over edges from one of them, which yields the rim in order. What departs from the textbook, and why:
//!
//! * A triangle whose plane holds the new vertex counts as seen. To leave it makes a sliver beside it, whose normal is
//!   noise.
//! * A rim that is not one closed loop, which only rounding can bring about, is found before anything is changed, and
//!   reported.

use crate::{
    math::DVec3,
    space::{DVector, Facet, Growth, List, Polytope},
};

#[derive(Clone, Copy)]
struct Face {
    /// Outward, of unit length; null for a triangle without area.
    normal: DVec3,
    /// Counter-clockwise as seen from outside.
    vertices: [u16; 3],
    /// The triangle across the edge from vertex i to vertex i + 1.
    neighbours: [u16; 3],
    /// In sight of the vertex that is being added.
    is_seen: bool,
}

impl Face {
    /// What a triangle is made in.
    const BLANK: Self = Self {
        normal: DVec3::ZERO,
        vertices: [0; 3],
        neighbours: [0; 3],
        is_seen: false,
    };

    /// With the distance of its plane along the normal, which is infinite for a triangle without area, so that it is never
    /// the nearest.
    #[inline(always)]
    fn new([a, b, c]: [DVec3; 3], vertices: [u16; 3], neighbours: [u16; 3]) -> (Self, f64) {
        let unit = (a - c).cross(b - c).unit();
        let face = Self {
            normal: unit.unwrap_or(DVec3::ZERO),
            vertices,
            neighbours,
            is_seen: false,
        };
        (face, unit.map_or(f64::INFINITY, |normal| normal.dot(a)))
    }

    /// Which of its edges begins at the vertex. Across an edge from p to q lies a triangle with the edge from q to p.
    #[inline]
    fn edge_from(&self, vertex: u16) -> Option<u8> {
        let [a, b, c] = self.vertices;
        if a == vertex {
            Some(0)
        } else if b == vertex {
            Some(1)
        } else {
            (c == vertex).then_some(2)
        }
    }
}

/// The next edge of a triangle, counter-clockwise.
#[inline]
fn after(edge: u8) -> u8 {
    if edge >= 2 { 0 } else { edge + 1 }
}

/// An edge of the rim: from vertex to vertex as the seen triangle had it.
#[derive(Clone, Copy)]
struct RimEdge {
    start: u16,
    end: u16,
    /// The unseen triangle across.
    across: u16,
    /// Which edge of that one it is.
    side: u8,
    /// The triangle that will join it to the new vertex.
    new: u16,
}

/// A triangle in sight: its next edge to look across, and how many are left.
#[derive(Clone, Copy)]
struct Visit {
    number: u16,
    edge: u8,
    left: u8,
}

/// A closed surface of triangles.
pub struct Polyhedron<const FACES: usize> {
    /// Of the triangles' planes, infinite for one that has been removed: on their own, because they are looked through for
    /// the nearest.
    distances: List<f64, FACES>,
    faces: List<Face, FACES>,
    removed: List<u16, FACES>,
    /// How many triangles have been made so far.
    made: usize,
    /// Of the vertex that is being added: the triangles that see it, and their rim in order.
    seen: List<u16, FACES>,
    rim: List<RimEdge, FACES>,
}

/// More triangles than this are not made, counted with those that were removed since. A body of a thousand vertices takes
/// six for each; but a new corner of a cap with a round rim makes all of the cap anew, and so a multiple of it.
const MAX_MADE: usize = 16_384;

/// A bit for each vertex: as many as are ever counted.
type VertexSet = [u64; 16];

impl<const FACES: usize> Polyhedron<FACES> {
    /// Adds a triangle, or returns `None` if there is no room.
    #[inline]
    fn add(&mut self, (face, distance): (Face, f64)) -> Option<()> {
        self.distances.push(distance)?;
        self.faces.push(face)
    }

    /// Whether the point lies beyond the plane of a triangle, or on it. Every point lies on a triangle without area.
    #[inline]
    fn sees(face: &Face, distance: f64, point: DVec3, tolerance: f64) -> bool {
        face.normal == DVec3::ZERO || face.normal.dot(point) > distance - tolerance
    }

    /// Marks the triangles that see `point`, from the one given on over edges, and collects them and their rim in order, or
    /// returns `None` if they are not linked as those of a closed surface are.
    #[inline]
    fn mark_seen(&mut self, from: u16, point: DVec3, tolerance: f64) -> Option<()> {
        self.seen.truncate(0);
        self.rim.truncate(0);
        // Edges are taken counter-clockwise from the one that was entered by, so that the rim comes out counter-clockwise
        // as well.
        let mut walk: List<Visit, FACES> = List::new();
        let faces: &mut [Face] = &mut self.faces;
        let distances: &[f64] = &self.distances;
        faces.get_mut(usize::from(from))?.is_seen = true;
        self.seen.push(from)?;
        let mut visit = Visit {
            number: from,
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
            let face = faces.get(usize::from(visit.number))?;
            let edge = usize::from(visit.edge);
            let across = *face.neighbours.get(edge)?;
            let start = *face.vertices.get(edge)?;
            visit.edge = after(visit.edge);
            visit.left -= 1;
            let end = *face.vertices.get(usize::from(visit.edge))?;
            let neighbour = faces.get_mut(usize::from(across))?;
            if neighbour.is_seen {
                continue;
            }
            let side = neighbour.edge_from(end)?;
            let distance = *distances.get(usize::from(across))?;
            if Self::sees(neighbour, distance, point, tolerance) {
                neighbour.is_seen = true;
                self.seen.push(across)?;
                walk.push(visit)?;
                visit = Visit {
                    number: across,
                    edge: after(side),
                    left: 2,
                };
            } else {
                let edge = RimEdge {
                    start,
                    end,
                    across,
                    side,
                    new: 0,
                };
                self.rim.push(edge)?;
            }
        }
    }

    /// Whether the rim is one loop, each of whose edges begins where the one before ended, and no vertex comes twice.
    #[inline]
    fn rim_is_simple(&self) -> bool {
        let Some(last) = self.rim.last() else {
            return false;
        };
        let mut met: VertexSet = Default::default();
        let mut at = last.end;
        for edge in self.rim.iter() {
            let bit = 1 << (edge.start % 64);
            let Some(word) = met.get_mut(usize::from(edge.start / 64)) else {
                return false;
            };
            if edge.start != at || *word & bit != 0 {
                return false;
            }
            *word |= bit;
            at = edge.end;
        }
        self.rim.len() >= 3
    }

    /// Gives each edge of the rim a triangle: those in sight first, which are given up, then others that have been removed, then
    /// new ones, for which there is room.
    #[inline]
    fn allocate(&mut self) {
        for (place, edge) in self.rim.iter_mut().enumerate() {
            let free = self.seen.get(place).copied();
            edge.new = free.or_else(|| self.removed.pop()).unwrap_or_else(|| {
                let _ = self.distances.push(f64::INFINITY);
                let _ = self.faces.push(Face::BLANK);
                (self.faces.len() - 1) as u16
            });
        }
        for number in self.seen.iter().skip(self.rim.len()) {
            if let Some(distance) = self.distances.get_mut(usize::from(*number)) {
                *distance = f64::INFINITY;
            }
            // There is room for all of them: no triangle is removed twice.
            let _ = self.removed.push(*number);
        }
    }
}

impl<const FACES: usize> Polytope<DVec3> for Polyhedron<FACES> {
    #[inline]
    fn new() -> Self {
        Self {
            distances: List::new(),
            faces: List::new(),
            removed: List::new(),
            made: 0,
            seen: List::new(),
            rim: List::new(),
        }
    }

    fn begin(&mut self, points: &[DVec3]) -> Option<()> {
        let [a, b, c, d, ..] = *points else {
            return None;
        };
        let volume = DVec3::determinant(&[b - a, c - a, d - a]);
        // Seen from the fourth vertex, the other three run clockwise if the volume is negative. Face i lies opposite to
        // vertex i, so that the numbers of its neighbours are those of the vertices across its edges.
        let triangles = if volume > 0.0 {
            [[2, 3, 1], [0, 3, 2], [0, 1, 3], [0, 2, 1]]
        } else if volume < 0.0 {
            [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]]
        } else {
            return None;
        };
        // The face across the edge from p to q of an outward triangle (p, q, r) is the one that lacks r.
        for [p, q, r] in triangles {
            let corners =
                [p, q, r].map(|number: u16| *points.get(usize::from(number)).unwrap_or(&a));
            self.add(Face::new(corners, [p, q, r], [r, p, q]))?;
        }
        self.made = triangles.len();
        Some(())
    }

    #[inline]
    fn distances(&self) -> &[f64] {
        &self.distances
    }

    #[inline]
    fn facet(&self, number: usize) -> Option<Facet<DVec3>> {
        let face = self.faces.get(number)?;
        Some(Facet {
            normal: face.normal,
            distance: *self.distances.get(number)?,
            vertices: face.vertices,
            index: number,
        })
    }

    #[inline]
    fn grow(&mut self, points: &[DVec3], beyond: &Facet<DVec3>, tolerance: f64) -> Growth {
        let new = points.len().saturating_sub(1);
        let Some(point) = points.last().copied() else {
            return Growth::Tangled;
        };
        let marked = self.mark_seen(beyond.index as u16, point, tolerance);
        let outcome = if marked.is_none() || !self.rim_is_simple() {
            Growth::Tangled
        } else {
            let blank = self.removed.len() + self.seen.len();
            let no_room = self.faces.len() + self.rim.len() > FACES + blank;
            if no_room || self.made + self.rim.len() > MAX_MADE {
                Growth::Full
            } else {
                Growth::Grown
            }
        };
        if outcome != Growth::Grown {
            for number in self.seen.iter() {
                if let Some(face) = self.faces.get_mut(usize::from(*number)) {
                    face.is_seen = false;
                }
            }
            return outcome;
        }
        self.made += self.rim.len();
        self.allocate();

        let (faces, distances): (&mut [Face], &mut [f64]) = (&mut self.faces, &mut self.distances);
        let rim: &[RimEdge] = &self.rim;
        let (Some(first), Some(last)) = (rim.first(), rim.last()) else {
            return outcome;
        };
        let new = new as u16;
        let mut previous = last.new;
        let place_of = |number: u16| *points.get(usize::from(number)).unwrap_or(&point);
        let mut start = place_of(first.start);
        for (place, edge) in rim.iter().enumerate() {
            let next = rim.get(place + 1).unwrap_or(first).new;
            let neighbours = [edge.across, next, previous];
            let end = place_of(edge.end);
            let made = Face::new([start, end, point], [edge.start, edge.end, new], neighbours);
            start = end;
            let number = usize::from(edge.new);
            if let (Some(face), Some(distance)) = (faces.get_mut(number), distances.get_mut(number))
            {
                (*face, *distance) = made;
            }
            // The unseen neighbour had a seen triangle across this edge: now it has the new one.
            if let Some(neighbour) = faces.get_mut(usize::from(edge.across))
                && let Some(slot) = neighbour.neighbours.get_mut(usize::from(edge.side))
            {
                *slot = edge.new;
            }
            previous = edge.new;
        }
        outcome
    }
}
