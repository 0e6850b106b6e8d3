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

use smallvec::SmallVec;

use super::{Facet, Growth, Polytope, Wide};
use crate::math::DVec3;

#[derive(Clone, Copy)]
struct Face {
    /// Outward, of unit length; null for a triangle without area.
    normal: DVec3,
    /// Of the plane, along the normal; infinite for a triangle without area and for one that has been removed, so that
    /// neither is ever the nearest.
    distance: f64,
    /// Counter-clockwise as seen from outside.
    vertices: [u16; 3],
    /// The triangle across the edge from vertex i to vertex i + 1.
    neighbours: [u16; 3],
    state: FaceState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FaceState {
    Boundary,
    /// In sight of the vertex that is being added.
    Seen,
    Removed,
}

impl Face {
    fn new(points: &[DVec3], vertices: [u16; 3], neighbours: [u16; 3]) -> Self {
        let point = |number: u16| {
            points
                .get(usize::from(number))
                .copied()
                .unwrap_or(DVec3::NAN)
        };
        let [a, b, c] = vertices.map(point);
        let normal = DVec3::perpendicular(&[b - a, c - a]).and_then(Wide::unit);
        Self {
            normal: normal.unwrap_or(DVec3::ZERO),
            distance: normal.map_or(f64::INFINITY, |normal| normal.dot(a)),
            vertices,
            neighbours,
            state: FaceState::Boundary,
        }
    }

    /// Whether the point lies beyond the plane, or on it. Every point lies on a triangle without area.
    fn sees(&self, point: DVec3, tolerance: f64) -> bool {
        self.normal == DVec3::ZERO || self.normal.dot(point) > self.distance - tolerance
    }

    /// Which of its edges begins at the vertex. Across an edge from p to q lies a triangle with the edge from q to p.
    fn edge_from(&self, vertex: u16) -> Option<usize> {
        self.vertices.iter().position(|it| *it == vertex)
    }
}

/// An edge of the rim: from vertex to vertex as the seen triangle had it, and the unseen triangle across.
#[derive(Clone, Copy)]
struct RimEdge {
    start: u16,
    end: u16,
    across: u16,
}

/// A closed surface of triangles.
pub struct Polyhedron<const FACES: usize> {
    faces: SmallVec<[Face; FACES]>,
    removed: SmallVec<[u16; FACES]>,
    /// How many triangles have been made so far.
    made: usize,
}

/// More triangles than this are not made, counted with those that were removed since. A body of a thousand vertices takes
/// six for each; but a new corner of a cap with a round rim makes all of the cap anew, and so a multiple of it.
const MAX_MADE: usize = 16_384;

impl<const FACES: usize> Polyhedron<FACES> {
    fn face(&self, number: u16) -> Option<&Face> {
        self.faces.get(usize::from(number))
    }

    fn face_mut(&mut self, number: u16) -> Option<&mut Face> {
        self.faces.get_mut(usize::from(number))
    }

    /// Marks the triangles that see `point`, from the one given on over edges, and collects their rim in order, or
    /// `None` if they are not linked as those of a closed surface are.
    fn mark_seen(
        &mut self,
        from: u16,
        point: DVec3,
        tolerance: f64,
        seen: &mut SmallVec<[u16; FACES]>,
    ) -> Option<SmallVec<[RimEdge; FACES]>> {
        let mut rim = SmallVec::new();
        // Each entry: a triangle in sight, its next edge to look across, and how many are left. Edges are taken
        // counter-clockwise from the one that was entered by, so that the rim comes out counter-clockwise as well.
        let mut walk: SmallVec<[(u16, u8, u8); FACES]> = SmallVec::new();
        self.face_mut(from)?.state = FaceState::Seen;
        seen.push(from);
        walk.push((from, 0, 3));
        while let Some((number, edge, left)) = walk.pop() {
            if left == 0 {
                continue;
            }
            walk.push((number, (edge + 1) % 3, left - 1));
            let edge = usize::from(edge);
            let face = *self.face(number)?;
            let across = *face.neighbours.get(edge)?;
            let start = *face.vertices.get(edge)?;
            let end = *face.vertices.get((edge + 1) % 3)?;
            let neighbour = self.face_mut(across)?;
            if neighbour.state == FaceState::Seen {
                continue;
            }
            if neighbour.sees(point, tolerance) {
                neighbour.state = FaceState::Seen;
                let entered_by = neighbour.edge_from(end)?;
                seen.push(across);
                walk.push((across, (entered_by as u8 + 1) % 3, 2));
            } else {
                rim.push(RimEdge { start, end, across });
            }
        }
        Some(rim)
    }

    /// Whether the rim is one loop, each of whose edges begins where the one before ended, and no vertex comes twice.
    fn is_simple(rim: &[RimEdge]) -> bool {
        let closed = rim
            .iter()
            .zip(rim.iter().cycle().skip(1))
            .all(|(edge, next)| edge.end == next.start);
        let mut starts: SmallVec<[u16; FACES]> = rim.iter().map(|edge| edge.start).collect();
        starts.sort_unstable();
        let unique = starts
            .iter()
            .zip(starts.iter().skip(1))
            .all(|(a, b)| a != b);
        rim.len() >= 3 && closed && unique
    }

    /// Numbers for as many new triangles: those of removed ones first.
    fn allocate(&mut self, count: usize) -> SmallVec<[u16; FACES]> {
        let reused = count.min(self.removed.len());
        let mut numbers: SmallVec<[u16; FACES]> =
            self.removed.drain(self.removed.len() - reused..).collect();
        for number in self.faces.len()..self.faces.len() + count - reused {
            let blank = Face {
                normal: DVec3::ZERO,
                distance: f64::INFINITY,
                vertices: [0; 3],
                neighbours: [0; 3],
                state: FaceState::Removed,
            };
            self.faces.push(blank);
            numbers.push(number as u16);
        }
        numbers
    }
}

impl<const FACES: usize> Polytope<DVec3> for Polyhedron<FACES> {
    fn from_simplex(points: &[DVec3]) -> Option<Self> {
        let [a, b, c, d, ..] = *points else {
            return None;
        };
        let volume = DVec3::determinant(&[b - a, c - a, d - a]);
        // Seen from the fourth vertex, the other three run clockwise if the volume is negative. Face i lies opposite to
        // vertex i, so that the numbers of its neighbours are those of the vertices across its edges.
        let (b, c) = if volume > 0.0 {
            (2, 1)
        } else if volume < 0.0 {
            (1, 2)
        } else {
            return None;
        };
        // The face across the edge from p to q of an outward triangle (p, q, r) is the one that lacks r.
        let face = |[p, q, r]: [u16; 3]| Face::new(points, [p, q, r], [r, p, q]);
        let mut by_number = [
            (0, face([b, 3, c])),
            (b, face([0, c, 3])),
            (c, face([0, 3, b])),
            (3, face([0, b, c])),
        ];
        by_number.sort_unstable_by_key(|(number, _)| *number);
        Some(Self {
            faces: by_number.into_iter().map(|(_, face)| face).collect(),
            removed: SmallVec::new(),
            made: 4,
        })
    }

    fn distances(&self) -> impl Iterator<Item = f64> {
        self.faces.iter().map(|face| face.distance)
    }

    fn facet(&self, number: usize) -> Option<Facet<DVec3>> {
        self.faces.get(number).map(|face| Facet {
            normal: face.normal,
            distance: face.distance,
            vertices: face.vertices.map(usize::from),
            index: number,
        })
    }

    fn grow(&mut self, points: &[DVec3], beyond: &Facet<DVec3>, tolerance: f64) -> Growth {
        let new = points.len().saturating_sub(1);
        let Some(point) = points.get(new) else {
            return Growth::Tangled;
        };
        let mut seen = SmallVec::new();
        let rim = self.mark_seen(beyond.index as u16, *point, tolerance, &mut seen);
        let outcome = match &rim {
            Some(rim) if Self::is_simple(rim) => {
                let blank = self.removed.len() + seen.len();
                let no_room = self.faces.len() + rim.len() > FACES + blank;
                if no_room || self.made + rim.len() > MAX_MADE {
                    Growth::Full
                } else {
                    Growth::Grown
                }
            }
            _ => Growth::Tangled,
        };
        for number in &seen {
            if let Some(face) = self.face_mut(*number) {
                face.state = FaceState::Boundary;
                if outcome == Growth::Grown {
                    face.state = FaceState::Removed;
                    face.distance = f64::INFINITY;
                }
            }
        }
        let (Growth::Grown, Some(rim)) = (outcome, rim) else {
            return outcome;
        };
        self.removed.extend(seen);
        self.made += rim.len();

        let new = new as u16;
        let numbers = self.allocate(rim.len());
        let next = numbers.iter().cycle().skip(1);
        let previous = numbers.iter().cycle().skip(numbers.len() - 1);
        for (((edge, number), next), previous) in rim.iter().zip(&numbers).zip(next).zip(previous) {
            let face = Face::new(
                points,
                [edge.start, edge.end, new],
                [edge.across, *next, *previous],
            );
            if let Some(slot) = self.face_mut(*number) {
                *slot = face;
            }
            // The unseen neighbour had a seen triangle across this edge: now it has the new one.
            if let Some(neighbour) = self.face_mut(edge.across)
                && let Some(side) = neighbour.edge_from(edge.end)
                && let Some(slot) = neighbour.neighbours.get_mut(side)
            {
                *slot = *number;
            }
        }
        Growth::Grown
    }
}
