//! The facet of the Minkowski difference that a ray meets first, in 3D, for shapes without radii.
//!
//! The symbols are those of `linear.rs`: the point x = t v moves along a ray, and D is the
//! Minkowski difference. Seen along v, the ray is a point O. Three vertices of D, seen along v, are
//! the corners of a triangle. While this triangle contains O, the ray meets the triangle in D.
//!
//! 1. **A first triangle.** The search begins with two vertices, and adds vertices on the side of O
//!    until the triangle contains O. The directions of the search are tilted against v, because
//!    the facet is on this side of D. If D has no vertex on the side of O, the ray misses D.
//! 2. **The facet.** Let w be the support point along the normal of the triangle that opposes v. D
//!    is behind the plane through w with this normal. The time at which x meets this plane is a
//!    lower bound on the time of the touch. The time at which x meets the triangle is an upper
//!    bound. Exactly one of the three triangles of w and a side contains O, and replaces the
//!    triangle. The loop ends when the two planes meet.
//!
//! This is the method of Snethen, "XenoCollide: Complex Collision Made Simple" (2008), for a ray
//! that begins outside of D. A step costs a support point and two cross products. A step of GJK
//! costs the nearest point of a tetrahedron as well.

use crate::{
    query::{
        cast::{CastScale, FastCast, Uncertain},
        minkowski::{MinkowskiDifference, Simplex, Vertex},
    },
    space::DVector,
};

/// The maximum number of vertices after the first two until a triangle contains O. Nearly always,
/// the first vertex suffices.
const MAX_SEARCH_STEPS: usize = 8;

/// The maximum number of triangles. Polytopes need about 5 triangles, and smooth shapes about 20.
const MAX_TRIANGLES: usize = 63;

/// A vertex counts as lying on the ray if the sine of the angle between its position and the ray is
/// at most this value. The direction from such a vertex to the ray is mostly rounding error.
const LEAST_SINE: f64 = 1e-9;

/// The loop ends if the two planes differ by at most this part of the band. On a curved surface,
/// the plane of the triangle is tilted by up to twice as much as the direction that GJK finds.
const TRIANGLE_PART: f64 = 0.25;

/// The facet that the ray meets.
pub struct MetFacet<D> {
    /// The time before which x does not meet D, and at which x is in front of D.
    pub time: f64,
    /// The normal of the plane in which x meets D, from the first shape to the second.
    pub normal: D,
    /// The largest gap at the start along any of the normals so far.
    pub start_gap: f64,
    /// The difference of the bounds at which the loop has ended: see [`CastScale::next_band`].
    pub band: f64,
    pub simplex: Simplex<D>,
}

/// Returns the facet that the ray meets, `None` for a certain miss, or an error if another method
/// has to decide. `facing` is any vertex on the side of the motion's start.
pub fn met_facet<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    velocity: D,
    facing: Vertex<D>,
    scale: &CastScale,
) -> FastCast<MetFacet<D>> {
    if D::DIMENSION == 2 || pair.radius_sum() > 0.0 {
        return Err(Uncertain);
    }
    let ahead = velocity.unit().ok_or(Uncertain)?;
    let cross = |a: D, b: D| D::perpendicular(&[a, b]).unwrap_or(D::ZERO);
    // The points are moved along the ray to the origin, because the distance of the start would
    // cost digits.
    let start = ahead * ahead.dot(facing.point);
    // Positive if O is on the left of the line from a to b.
    let side = |a: &Vertex<D>, b: &Vertex<D>| ahead.dot(cross(a.point - start, b.point - start));
    // Returns a vertex on the side of O to which `across` points.
    let search = |across: D| {
        let across = across.unit().ok_or(Uncertain)?;
        let tilted = pair.vertex(across - ahead);
        if tilted.point.dot(across) > 0.0 {
            return Ok(Some(tilted));
        }
        let vertex = pair.vertex(across);
        let height = vertex.point.dot(across);
        // Rounding may tilt the plane against the ray, so both ends of the ray are tested.
        let gap = (-height).min(across.dot(velocity) - height);
        let is_decided = height > 0.0 || gap > scale.clearance();
        is_decided
            .then_some((height > 0.0).then_some(vertex))
            .ok_or(Uncertain)
    };
    let mut a = facing;
    let aside = start - a.point;
    let across = if aside.length() > LEAST_SINE * a.point.length() {
        aside
    } else {
        D::perpendicular(&[ahead]).ok_or(Uncertain)?
    };
    let Some(mut b) = search(across)? else {
        return Ok(None);
    };
    let mut steps = 0..MAX_SEARCH_STEPS;
    let mut c = loop {
        steps.next().ok_or(Uncertain)?;
        if side(&a, &b) < 0.0 {
            (a, b) = (b, a);
        }
        let Some(c) = search(cross(ahead, b.point - a.point))? else {
            return Ok(None);
        };
        if side(&b, &c) <= 0.0 {
            a = c;
        } else if side(&c, &a) <= 0.0 {
            b = c;
        } else {
            break c;
        }
    };
    let mut start_gap = f64::NEG_INFINITY;
    let mut band = 0.5 * scale.margin;
    for _ in 0..MAX_TRIANGLES {
        let normal = cross(c.point - a.point, b.point - a.point);
        let normal = normal.unit().ok_or(Uncertain)?;
        let vertex = pair.vertex(normal);
        let height = normal.dot(vertex.point);
        start_gap = start_gap.max(-height);
        let closing_speed = -normal.dot(velocity);
        // If O is on a side of the triangle, rounding may have chosen the wrong triangle.
        if closing_speed <= 0.0 {
            return Err(Uncertain);
        }
        // The line of the ray meets the triangle before the start.
        if normal.dot(a.point) >= 0.0 {
            return Err(Uncertain);
        }
        let time = -(height + scale.stop_gap) / closing_speed;
        if time >= 1.0 && start_gap > scale.clearance() {
            return Ok(None);
        }
        let repeats = [&a, &b, &c].iter().any(|old| old.point == vertex.point);
        if repeats || height - normal.dot(a.point) <= TRIANGLE_PART * band {
            if !(0.0..1.0).contains(&time) {
                return Err(Uncertain);
            }
            return Ok(Some(MetFacet {
                time,
                normal,
                start_gap,
                band,
                simplex: [a, b, c].into_iter().collect(),
            }));
        }
        band = scale.next_band(band);
        let left = cross(ahead, vertex.point - start);
        let [of_a, of_b, of_c] = [&a, &b, &c].map(|corner| left.dot(corner.point - start));
        if of_b >= 0.0 && of_c <= 0.0 {
            a = vertex;
        } else if of_c >= 0.0 && of_a <= 0.0 {
            b = vertex;
        } else {
            c = vertex;
        }
    }
    Err(Uncertain)
}
