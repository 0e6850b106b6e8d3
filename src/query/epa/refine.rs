//! The steps of EPA after its loop: more precise contacts on curved surfaces, and results after an
//! early end of the loop.

use arrayvec::ArrayVec;

use crate::{
    query::{
        gjk::Penetration,
        minkowski::{MinkowskiDifference, Simplex, Vertex},
    },
    space::DVector,
    tolerance::{FLAT_DEPTH, LINE_TILT},
};

/// The maximum number of steps toward a local minimum of the depth. A polytope needs few steps,
/// because few supporting planes of a polytope are near each other. On a nearly spherical shape,
/// each step removes only a part of the error.
const MAX_DESCENT: usize = 12;

/// The maximum number of directions, besides the best direction, from which the search continues
/// after an early end. These directions are the normals of facets whose distance from the origin is
/// less than the best depth. So the depth near these directions may be lower.
pub const MAX_OPEN: usize = 16;

/// The maximum number of steps on a curved surface. Each step squares the error.
const MAX_CURVED_STEPS: usize = 3;

/// The state of EPA after an early end. The error of the best depth has no proven bound:
/// [`query`](crate::query) gives measured values.
pub struct EarlyEnd<D> {
    /// `true` if the polytope was full.
    pub is_full: bool,
    /// The contact of minimum depth among all evaluated directions.
    pub best: Penetration<D>,
    /// Directions, besides the best direction, near which the depth may be lower.
    pub open: ArrayVec<D, MAX_OPEN>,
    pub scale: f64,
}

impl<D: DVector> EarlyEnd<D> {
    /// Returns the contact of minimum depth near the best direction, the axes of both shapes, and
    /// the open directions.
    pub fn finish(self, pair: &impl MinkowskiDifference<Vector = D>) -> Penetration<D> {
        let evaluate = |normal| Penetration::at_vertex(normal, &pair.vertex(normal), self.scale);
        // A solid of revolution has the same depth in all directions at right angles to its axis.
        // These directions may fill the polytope, so the loop may miss a flat cap that is only
        // slightly nearer to the origin. Caps are at right angles to the axes of their shape.
        let axes = D::columns(D::IDENTITY).chain(D::columns(pair.relative().rotation));
        let shallower = |best: Penetration<D>, other: Penetration<D>| {
            if other.depth < best.depth {
                other
            } else {
                best
            }
        };
        let best = axes
            .flat_map(|axis| [axis, -axis])
            .filter_map(DVector::unit)
            .map(evaluate)
            .fold(self.best, shallower);
        let best = self
            .open
            .iter()
            .map(|normal| descend(pair, evaluate(*normal)))
            .fold(descend(pair, best), shallower);
        // The descent with the best result may have ended at the limit of steps, so another descent
        // continues from this result.
        descend(pair, best)
    }
}

/// Returns the contact of minimum depth near a direction n.
///
/// Let Y be the Minkowski difference, and p = h(n) n. The supporting plane of Y along n contains p.
/// If Y contains p, the depth has a local minimum at n, and GJK returns the points in contact.
/// Otherwise GJK returns the point y of Y that is nearest to p. Let m be the direction from y to p.
/// All of Y lies below the plane through y with normal m, so h(m) = m·y = m·p - |p - y|. Because
/// m·p is at most |p| = h(n), h(m) is at most h(n) - |p - y|. So the depth along m is lower.
///
/// On a surface that is nearly a sphere around the origin, this step hardly lowers the depth, and
/// the longer step of [`sphere_minimum`] is better.
fn descend<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    mut best: Penetration<D>,
) -> Penetration<D> {
    let scale = best.scale;
    let evaluate = |normal| Penetration::at_vertex(normal, &pair.vertex(normal), scale);
    for _ in 0..MAX_DESCENT {
        let (contact, miss) = best.with_touching_points(pair);
        let misses = miss.length() > FLAT_DEPTH * scale;
        let next = (-miss).unit().map(evaluate);
        let Some(next) = next.filter(|next| misses && next.depth < best.depth) else {
            return contact;
        };
        let longer = sphere_minimum(&best, &next).map(evaluate);
        best = longer
            .filter(|longer| longer.depth < next.depth)
            .unwrap_or(next);
    }
    best.with_touching_points(pair).0
}

/// Returns the direction of minimum depth for the sphere with the support points y(n) and y(m).
///
/// On a sphere of radius r around c, y(n) = c + r n. So r = (y(m) - y(n))·(m - n) / |m - n|², and
/// c = y(m) - r m. The depth is minimal along -c.
fn sphere_minimum<D: DVector>(n: &Penetration<D>, m: &Penetration<D>) -> Option<D> {
    let difference = m.normal - n.normal;
    let y = |contact: &Penetration<D>| contact.first - contact.second;
    let radius = (y(m) - y(n)).dot(difference) / difference.length_squared();
    (m.normal * radius - y(m)).unit()
}

/// Returns the contact of minimum depth on a curved surface, with the points at which the cores
/// touch. `facet` approximates the surface. `gap` is the difference between the upper and the lower
/// bound on the depth.
///
/// For a radius of curvature of 1, a gap of g leaves an error of √(2 g) in the direction. But the
/// vertices y_i of the facet are the support points in known directions d_i. Between near points,
/// the normal of a curved surface changes nearly linearly. So if the origin projects onto Σ λ_i
/// y_i, the normal is about Σ λ_i d_i. The error is of the order of the facet's squared size. The
/// new direction is accepted if its depth is lower. The new support point replaces one of the
/// vertices.
pub fn refine<D: DVector>(
    start: Penetration<D>,
    gap: f64,
    facet: Simplex<D>,
    mut evaluate: impl FnMut(D) -> (Vertex<D>, Penetration<D>),
) -> Penetration<D> {
    let mut best = start;
    let mut refined = facet.clone();
    for _ in 0..MAX_CURVED_STEPS {
        let weights = best.nearest_on(&refined).weights;
        let normal = refined
            .iter()
            .zip(weights)
            .filter_map(|(vertex, weight)| Some(vertex.direction.unit()? * weight))
            .fold(D::ZERO, |sum, part| sum + part);
        let Some((vertex, found)) = normal.unit().map(&mut evaluate) else {
            break;
        };
        if found.depth >= best.depth {
            break;
        }
        best = found;
        let with_vertex = |index: usize| {
            let mut replaced = refined.clone();
            if let Some(slot) = replaced.get_mut(index) {
                *slot = vertex;
            }
            (best.nearest_on(&replaced).point.length_squared(), replaced)
        };
        let nearest = (0..refined.len())
            .map(with_vertex)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, nearest)) = nearest {
            refined = nearest;
        }
    }
    let has_gained = best.depth < start.depth;
    if !has_gained && let Some((rotated, line)) = rotate_about_line(start, gap, &facet, evaluate) {
        (best, refined) = (rotated, line);
    }
    let distance = |facet: &Simplex<D>| best.nearest_on(facet).point.length_squared();
    if distance(&refined) < distance(&facet) {
        best.with_points_on(&refined)
    } else {
        best.with_points_on(&facet)
    }
}

/// Returns the contact of minimum depth on a surface that is curved in one direction only, and the
/// line along which the depth is constant. An example is the Minkowski difference of two parallel
/// cylinders. Returns `None` if no depth is below the depth of `start`. `facet` approximates the
/// surface.
///
/// The vertices of the facet lie on the rims at both ends of these lines. A rim has many normals,
/// so the direction of a vertex need not be the normal of the curved surface. If n is tilted
/// slightly toward either end of the line, the support points are the ends. These ends give the
/// line's direction u exactly, and n is made perpendicular to u. Then n rotates around u until the
/// line intersects the ray from the origin along n. The angle is the distance of the line from this
/// ray, divided by the radius of curvature. The first radius is estimated from the chord of the
/// facet, and each next radius from the last rotation.
fn rotate_about_line<D: DVector>(
    start: Penetration<D>,
    gap: f64,
    facet: &Simplex<D>,
    mut evaluate: impl FnMut(D) -> (Vertex<D>, Penetration<D>),
) -> Option<(Penetration<D>, Simplex<D>)> {
    let has_lines = D::DIMENSION == 3;
    let mut along = D::ZERO;
    if has_lines {
        along = longest_edge(facet)?.unit()?;
    }
    let mut normal = start.normal;
    let mut previous: Option<(D, f64)> = None;
    let mut best = None;
    let mut least = start.depth;
    for _ in 0..=MAX_CURVED_STEPS {
        let mut line = Simplex::new();
        for tilt in [LINE_TILT, -LINE_TILT] {
            // In 2D, `along` is zero, so the two support points are equal.
            line.push(evaluate((normal + along * tilt).unit()?).0);
        }
        let [end, other, ..] = *line else { return best };
        if has_lines {
            along = (end.point - other.point).unit()?;
            normal = (normal - along * normal.dot(along)).unit()?;
        } else {
            line.pop();
        }
        let (_, found) = evaluate(normal);
        if found.depth < least {
            least = found.depth;
            best = Some((found, line));
        } else if previous.is_some() {
            return best;
        }
        let axes = [normal, along];
        let side = D::perpendicular(axes.get(..D::DIMENSION - 1)?)?.unit()?;
        let lateral = |vertex: &Vertex<D>| vertex.point.dot(side);
        let radius = match previous {
            Some((old, old_lateral)) => (lateral(&end) - old_lateral) / -old.dot(side),
            None => {
                let laterals = || facet.iter().map(lateral);
                let chord = laterals().fold(f64::NEG_INFINITY, f64::max)
                    - laterals().fold(f64::INFINITY, f64::min);
                chord * chord / (8.0 * gap)
            }
        };
        previous = Some((normal, lateral(&end)));
        normal = (normal - side * (lateral(&end) / radius)).unit()?;
    }
    best
}

/// Returns the longest edge of a facet.
fn longest_edge<D: DVector>(facet: &Simplex<D>) -> Option<D> {
    let ends = facet.iter().cycle().skip(1);
    let edges = facet.iter().zip(ends).map(|(a, b)| b.point - a.point);
    edges.min_by(|a, b| b.length_squared().total_cmp(&a.length_squared()))
}
