//! The face of the second shape that opposes the motion most at a contact.
//!
//! If the contact normal is the normal of a face, that face is in contact. That face is also in
//! contact at its boundary, where adjacent faces may oppose the motion more. For example, a crate
//! that overhangs the edge of a floor stands on the floor, not against the side of the floor.
//!
//! At a point p of a convex shape, the directions in which p is a support point form a cone. Inside
//! a face, the cone is a ray. On an edge, the cone is the arc between two face normals. At a
//! corner, the edges of the cone are the normals of the faces that meet there. The faces of boxes
//! and polygons are known. For all other shapes, only the support function is known. For these
//! shapes, the search tilts a direction until another point is a support point, as in gift
//! wrapping. The first tilt, against the motion, finds an edge at p. Further tilts around that
//! edge, in both directions, find the faces at the edge.

use core::f64::consts::FRAC_1_SQRT_2;

use arrayvec::ArrayVec;

use crate::{
    query::{Contact64, analytic::has_face},
    shape::{Core, DVecOf, MatrixOf, Polygon, Support},
    space::DVector,
};

/// A point counts as a support point if no other point is higher along the direction by more than
/// this fraction of the size. The value is eight times the rounding of a pose to f32.
const SAME_HEIGHT: f64 = 1e-6;

/// The cosine of the angle up to which two normals count as equal: 4.5e-3 radians. A surface of
/// radius r drops by `SAME_HEIGHT` r at an angle of 1.4e-3. So normals at one point differ by more
/// than 4.5e-3 only at edges and corners.
const SAME_FACE_COSINE: f64 = 1.0 - 1e-5;

/// The tangent of the angle by which a face normal is tilted to find vertices of the face. A
/// surface of radius r drops by 5e-5 r at this angle, far more than `SAME_HEIGHT`, so round
/// surfaces have no face.
const FACE_TILT: f64 = 0.01;

/// The size of the smallest face, as a multiple of the height tolerance. The heights of the face's
/// vertices are known to within the tolerance, so the normal of the face is known to a tenth of a
/// radian.
const LEAST_FACE: f64 = 10.0;

/// The sine of the angle up to which a motion counts as parallel to a normal. At smaller angles,
/// the component across the normal may be mere rounding error.
const PARALLEL_MOTION_SINE: f64 = 1e-9;

/// The maximum number of tilts to find an edge. On a round surface, which has no edge, each tilt at
/// least halves the angle by which the direction is tilted.
const MAX_TILTS: usize = 12;

/// The maximum number of faces that are tried in each direction around a corner. This limit bounds
/// the work at the tip of a cone of many faces, where adjacent faces differ little.
const MAX_FACES: usize = 8;

/// Returns the negated normal of the face that opposes the motion most, or the contact normal if
/// the shape has no edge at the contact. `shape` is the second shape, which must have no radius,
/// and `rotation` is its rotation. `velocity` is the velocity of the first shape relative to the
/// second at the contact. `size` is the size of the pair.
pub fn face_normal<B: Support + ?Sized>(
    shape: &B,
    (velocity, rotation): (DVecOf<B>, MatrixOf<B>),
    size: f64,
    contact: &Contact64<DVecOf<B>>,
) -> DVecOf<B> {
    let inverse = DVecOf::<B>::transpose(rotation);
    let Some(against) = (inverse * -velocity).unit() else {
        return contact.normal;
    };
    let point = TouchedPoint {
        support: |direction| shape.support(direction),
        point: inverse * contact.offset_b,
        tolerance: SAME_HEIGHT * size,
    };
    let normal = inverse * -contact.normal;
    if point.has_face(normal) {
        return contact.normal;
    }
    let found = match shape.core() {
        Core::HalfSpace(_) => None,
        Core::Box { half_extents } => point.face_of_box(half_extents, normal, against),
        Core::Polygon(polygon) => point.edge_of_polygon(&polygon, against),
        Core::Opaque => point.face(normal, against),
    };
    match found {
        Some(face) if face.dot(normal) < SAME_FACE_COSINE => rotation * -face,
        _ => contact.normal,
    }
}

/// Returns the same normal as [`face_normal`] for a facet. `facet` is the unit normal of either
/// side of the facet, and `normal` is the contact normal.
pub fn face_normal_of_facet<D: DVector>(facet: D, velocity: D, normal: D) -> D {
    if facet.dot(normal).abs() >= SAME_FACE_COSINE {
        return normal;
    }
    // If the body moves along the facet, rounding would choose the side.
    if facet.dot(velocity).abs() <= PARALLEL_MOTION_SINE * velocity.length() {
        facet.toward(normal)
    } else {
        facet.toward(velocity)
    }
}

/// A point on the surface of a shape, in the shape's frame.
struct TouchedPoint<D, F> {
    /// The support function of the shape.
    support: F,
    point: D,
    tolerance: f64,
}

impl<D: DVector, F: Fn(D) -> D> TouchedPoint<D, F> {
    /// Returns `true` if a face with this normal contains the point. Support points in slightly
    /// tilted directions span such a face.
    fn has_face(&self, normal: D) -> bool {
        let mut edges: ArrayVec<D, 4> = ArrayVec::new();
        for tangent in normal.tangents() {
            for side in [tangent, -tangent] {
                let edge = (self.support)(normal + side * FACE_TILT) - self.point;
                let is_level = edge.dot(normal).abs() <= self.tolerance;
                if is_level && edge.length() > self.tolerance {
                    edges.push(edge);
                }
            }
            // A face extends along each tangent.
            if edges.is_empty() {
                return false;
            }
        }
        let side = LEAST_FACE * self.tolerance;
        if D::DIMENSION == 2 {
            return edges.iter().any(|edge| edge.length() > side);
        }
        let spans = |a: D, b: D| {
            let area = D::perpendicular(&[a, b]);
            area.is_some_and(|area| area.length() > side * side)
        };
        let mut others = edges.iter();
        core::iter::from_fn(|| Some((others.next()?, others.clone())))
            .any(|(edge, mut others)| others.any(|other| spans(*edge, *other)))
    }

    /// Among the faces of a box at the point, returns the normal nearest to `against`, the
    /// direction opposite to the motion.
    fn face_of_box(&self, half_extents: D, normal: D, against: D) -> Option<D> {
        let mut best = OpposingFace::NONE;
        for index in 0..D::DIMENSION {
            let half = half_extents.component(index);
            let side = self.point.component(index);
            if has_face(half_extents, index) && side.abs() >= half - self.tolerance {
                let axis = D::axis(index);
                let side = if half > self.tolerance {
                    self.point
                } else {
                    normal
                };
                best.take(axis * 1_f64.copysign(side.component(index)), against);
            }
        }
        best.face
    }

    /// Returns the normal nearest to `against` among the edges of a polygon at the point. The point
    /// is on the polygon, so it is on an edge if it is on the edge's line.
    fn edge_of_polygon(&self, polygon: &Polygon<D>, against: D) -> Option<D> {
        let mut best = OpposingFace::NONE;
        for edge in polygon.edges() {
            let height = edge.normal.dot(self.point - edge.start);
            if height.abs() <= self.tolerance {
                best.take(edge.normal, against);
            }
        }
        best.face
    }

    /// Returns the normal nearest to `against` among the faces of any shape at the point.
    fn face(&self, normal: D, against: D) -> Option<D> {
        let mut best = OpposingFace::NONE;
        if D::DIMENSION == 2 {
            let side = D::perpendicular(&[normal])?;
            for toward in [side, -side] {
                if let Some(edge) = self.tilted(normal, toward) {
                    best.take(edge.direction, against);
                }
            }
            return best.face;
        }
        let across = against - normal * normal.dot(against);
        let across = if across.length() > PARALLEL_MOTION_SINE {
            across
        } else {
            D::perpendicular(&[normal])?
        };
        let start = self.tilted(normal, across.unit()?)?;
        let side = D::perpendicular(&[start.direction, start.edge])?.unit()?;
        for toward in [side, -side] {
            let (mut edge, mut toward) = (start, toward);
            for _ in 0..MAX_FACES {
                let Some(next) = self.tilted(edge.direction, toward) else {
                    break;
                };
                if !best.take(next.direction, against) {
                    break;
                }
                // The next tilt rotates around the new edge, away from the previous edge.
                let side = D::perpendicular(&[next.direction, next.edge])?.unit()?;
                toward = -side.toward(edge.edge);
                edge = next;
            }
        }
        best.face
    }

    /// Tilts a direction toward a perpendicular direction until another point of the shape is as
    /// high as `self.point`. Returns `None` if no other point is as high within half a turn, or if
    /// the surface is round.
    fn tilted(&self, direction: D, toward: D) -> Option<EdgeTilt<D>> {
        // Most faces are tilted by less than an eighth of a turn.
        let probes = [
            ((direction + toward) * FRAC_1_SQRT_2, direction, toward),
            (toward, direction, toward),
            (-direction, toward, -direction),
        ];
        let (direction, toward, mut edge) = probes.into_iter().find_map(|(probe, from, to)| {
            let edge = (self.support)(probe) - self.point;
            (edge.dot(probe) > self.tolerance).then_some((from, to, edge))
        })?;
        for _ in 0..MAX_TILTS {
            let drop = (-edge.dot(direction)).max(0.0);
            let tilted = (direction * edge.dot(toward) + toward * drop).unit()?;
            let next = (self.support)(tilted) - self.point;
            if next.dot(tilted) <= self.tolerance {
                return Some(EdgeTilt {
                    direction: tilted,
                    edge,
                });
            }
            edge = next;
        }
        None
    }
}

/// A direction in which all points of an edge are support points.
#[derive(Clone, Copy)]
struct EdgeTilt<D> {
    direction: D,
    edge: D,
}

/// The face found so far that opposes the motion most.
struct OpposingFace<D> {
    face: Option<D>,
    opposition: f64,
}

impl<D: DVector> OpposingFace<D> {
    const NONE: Self = Self {
        face: None,
        opposition: f64::NEG_INFINITY,
    };

    /// Takes a face if this face opposes the motion more than all faces so far. Returns `true` if
    /// the face is taken.
    fn take(&mut self, normal: D, against: D) -> bool {
        let opposition = normal.dot(against);
        let is_better = opposition > self.opposition;
        if is_better {
            (self.face, self.opposition) = (Some(normal), opposition);
        }
        is_better
    }
}
