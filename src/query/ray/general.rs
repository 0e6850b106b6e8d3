//! The first point of a line in any convex shape, computed with the shape's support function.
//!
//! The method follows van den Bergen, "Ray Casting against General Convex Objects with Application
//! to Continuous Collision Detection" (2004): GJK for the distance to a point x that moves along
//! the line. The loop keeps a simplex of support points of the core, and v, the vector from the
//! simplex's nearest point to x. Let n = v / |v|, and let w be the support point in direction n:
//!
//! * The core is behind the plane through w with normal n. The shape is behind the same plane,
//!   raised by the radius. If x is in front of the raised plane, x moves to the point where the
//!   line meets this plane. A line that does not approach the plane misses the shape. The distance
//!   from a point to a convex shape is a convex function of the point. Each move is a step of
//!   Newton's method on this function from outside, so x never passes the shape's first point.
//! * The simplex is part of the core, so |v| is an upper bound on the distance from x to the core.
//!
//! The loop ends when this upper bound meets the radius. A polytope has few planes, so on a
//! polytope the loop ends exactly on a face. The departures from the paper are:
//!
//! * **x begins in front of the shape,** on a supporting plane at right angles to the line,
//!   wherever the origin of the line is. So the result is an end of the chord, and the precision
//!   depends only on the size of the shape. The other end is the first point of the reversed line.
//! * **The shape has a core and a radius.** So v still has a direction when x is on the surface of
//!   a round shape.
//! * **Shapes without volume** are hit by lines that pass within the touching tolerance.

use arrayvec::ArrayVec;

use crate::{
    shape::{ChordEnd, DVecOf, Line, Support},
    space::{
        DVector,
        simplex::{self, Nearest},
    },
    tolerance::{ROUNDING, TOUCHING},
};

/// The maximum number of iterations. Polytopes need about 10 iterations, smooth shapes 20 to 40,
/// and lines that graze smooth shapes up to 100.
const MAX_RAY_ITERATIONS: u32 = 200;

/// The loop ends if the upper bound on the distance exceeds the radius by at most this fraction of
/// the scale. On a surface of curvature 1, the normal then has an error of √(2e-13) = 4.5e-7.
const RAY_DISTANCE_GAP: f64 = 1e-13;

/// Returns the first point of a line in a shape, in the shape's frame. `radius` is the radius
/// around the core. Returns `None` if the line misses the shape, and possibly also if t exceeds
/// `max`.
pub fn first_point<S: Support + ?Sized>(
    shape: &S,
    radius: f64,
    line: &Line<DVecOf<S>>,
    max: f64,
) -> Option<ChordEnd<DVecOf<S>>> {
    let direction = line.direction.unit()?;
    let speed = line.direction.length();
    let vertex = shape.support(-direction);
    // `start` is the distance along the line to the plane through the support point.
    let start = direction.dot(vertex - line.origin) - radius;
    let rounding = ROUNDING * (line.origin.extent() + vertex.extent());
    let origin = line.origin + direction * start;
    let line = Line { origin, direction };
    let limits = [max * speed - start, rounding];
    let (distance, normal) = approach(shape, radius, &line, vertex, limits)?;
    let t = (start + distance) / speed;
    Some(ChordEnd { t, normal })
}

/// Moves x along a line that begins in front of a shape and has a unit direction. `vertex` is the
/// support point in the opposite direction. Returns the distance to the first point in the shape,
/// and the normal at this point. Returns `None` if the line misses the shape or the distance
/// exceeds `max`.
fn approach<S: Support + ?Sized>(
    shape: &S,
    radius: f64,
    line: &Line<DVecOf<S>>,
    mut vertex: DVecOf<S>,
    [max, rounding]: [f64; 2],
) -> Option<(f64, DVecOf<S>)> {
    let (mut distance, mut position, mut normal) = (0.0, line.origin, -line.direction);
    let mut scale = radius;
    let mut simplex = ArrayVec::<DVecOf<S>, 4>::new();
    let mut best = f64::INFINITY;
    for _ in 0..MAX_RAY_ITERATIONS {
        if !vertex.is_finite() || !radius.is_finite() || radius < 0.0 || distance > max {
            return None;
        }
        if !simplex.contains(&vertex) && simplex.try_push(vertex).is_err() {
            return None;
        }
        let nearest = nearest_to(position, &simplex, RAY_DISTANCE_GAP * scale + rounding);
        let gap = nearest.point.length();
        let extents = simplex.iter().map(|point| (*point - position).extent());
        scale = extents.fold(scale, |scale, extent| scale.max(extent + radius));
        if gap - radius <= RAY_DISTANCE_GAP * scale + rounding {
            return Some((distance, normal));
        }
        let direction_to = -nearest.point * (1.0 / gap);
        vertex = shape.support(direction_to);
        let height = direction_to.dot(position - vertex) - radius;
        if height > ROUNDING * scale + rounding {
            let rate = direction_to.dot(line.direction);
            if rate >= 0.0 {
                let is_touching = height <= TOUCHING * scale + rounding;
                let is_flat = || {
                    let opposite = shape.support(-direction_to);
                    direction_to.dot(vertex - opposite) + radius <= TOUCHING * scale
                };
                return (is_touching && is_flat()).then_some((distance, normal));
            }
            distance -= height / rate;
            (position, normal) = (line.at(distance), direction_to);
            best = f64::INFINITY;
        } else if gap < best {
            best = gap;
        } else {
            // In this branch, rounding keeps the gap from shrinking, and no plane separates the
            // simplex from the position. If the simplex is too flat, the gap is NaN.
            let is_touching = gap.min(best) - radius <= TOUCHING * scale;
            return is_touching.then_some((distance, normal));
        }
        // A full simplex contains x, which ends the loop. If rounding still leaves a gap, the next
        // vertex replaces the vertex with the least λ.
        let positive = || nearest.weights.iter().filter(|weight| **weight > 0.0);
        let is_full = positive().count() > DVecOf::<S>::DIMENSION;
        let least = positive().copied().fold(1.0, f64::min);
        let bound = if is_full { least } else { 0.0 };
        let kept = simplex.iter().zip(nearest.weights);
        let kept = kept.filter(|(_, weight)| *weight > bound);
        simplex = kept.map(|(point, _)| *point).collect();
    }
    None
}

/// Returns the point of a simplex that is nearest to a position, relative to that position.
///
/// The weights λ of a sliver have large rounding errors: 1e-9 if two vertices are 1e-7 apart. If
/// all vertices and the position are in one plane, the simplex may seem to contain the position. So
/// the result is used only if the point with these λ, which is certainly in the simplex, is equally
/// near. Otherwise this point is compared with the nearest points of the faces.
fn nearest_to<D: DVector>(position: D, simplex: &[D], tolerance: f64) -> Nearest<D> {
    let nearest = simplex::nearest(simplex, |point| *point - position);
    let weighted = simplex.iter().zip(nearest.weights);
    let point = weighted.fold(D::ZERO, |sum, (point, weight)| {
        sum + (*point - position) * weight
    });
    let error = (point.length() - nearest.point.length()).abs();
    if simplex.len() <= 2 || error <= tolerance {
        return nearest;
    }
    let faces = (0..simplex.len()).map(|apex| {
        let others = simplex
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != apex);
        let face: ArrayVec<D, 3> = others.map(|(_, point)| *point).collect();
        let mut nearest = nearest_to(position, &face, tolerance);
        // The weight of the apex is 0.
        if let Some(weights) = nearest.weights.get_mut(apex..) {
            weights.rotate_right(1);
        }
        nearest
    });
    let weights = nearest.weights;
    let all = faces.chain([Nearest { point, weights }]);
    all.min_by(|a, b| a.point.length().total_cmp(&b.point.length()))
        .unwrap_or(nearest)
}
