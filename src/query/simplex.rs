//! The point of a simplex that is nearest to the origin.
//!
//! A simplex of k vertices y_i (a point, a segment, a triangle, a tetrahedron) is the set of all Σ λ_i y_i with λ_i >= 0
//! and Σ λ_i = 1. The nearest point lies on one of its faces, on all of whose vertices, and only on those, λ is positive.
//!
//! Written for both dimensions at once: a triangle is a full simplex in the plane and a facet in space. The λ come from
//! oriented areas and volumes (see Ericson, "Real-Time Collision Detection" (2005), chapters 3.4 and 5.1, for their
//! geometry), not from dot products alone, whose squared areas lose half of the digits on a sliver; and where the
//! nearest point lies inside a facet, it is computed along the facet's normal, so that its direction keeps all its
//! digits however near the origin is.

use crate::{
    query::minkowski::Vertex,
    space::{DVector, List},
};

/// One to four vertices, affinely independent.
pub type Simplex<D> = List<Vertex<D>, 4>;

/// The point of a simplex nearest to the origin.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<D> {
    /// The point.
    pub point: D,
    /// Its λ, in the order of the vertices; 0 for those that do not take part, and beyond the last one.
    pub weights: [f64; 4],
}

impl<D: DVector> Nearest<D> {
    #[inline]
    fn vertex(point: D) -> Self {
        Self {
            point,
            weights: [1.0, 0.0, 0.0, 0.0],
        }
    }

    #[inline]
    fn distance_squared(&self) -> f64 {
        self.point.length_squared()
    }

    /// The nearer one of two, and the first one of equals.
    #[inline]
    fn nearer(self, other: Self) -> Self {
        if other.distance_squared() < self.distance_squared() {
            other
        } else {
            self
        }
    }

    /// The same point of a larger simplex, in which vertex i of this one has the number `numbers[i]`.
    #[inline]
    fn renumbered<const N: usize>(self, numbers: [usize; N]) -> Self {
        let mut weights = [0.0; 4];
        for (number, weight) in numbers.into_iter().zip(self.weights) {
            if let Some(slot) = weights.get_mut(number) {
                *slot = weight;
            }
        }
        Self { weights, ..self }
    }

    /// The points of the first and the second shape that `self.point` is the difference of.
    #[inline]
    pub fn witnesses(&self, vertices: &[Vertex<D>]) -> (D, D) {
        vertices.iter().zip(self.weights).fold(
            (D::ZERO, D::ZERO),
            |(first, second), (vertex, weight)| {
                (
                    first + vertex.first * weight,
                    second + vertex.second * weight,
                )
            },
        )
    }
}

/// The point nearest to the origin of the simplex with the vertices given: at most `DIMENSION + 1`.
#[inline]
pub fn nearest<D: DVector>(vertices: &[Vertex<D>]) -> Nearest<D> {
    nearest_to(D::ZERO, vertices)
}

/// The same for another place than the origin: as seen from there, as if it were the origin.
#[inline]
pub fn nearest_to<D: DVector>(place: D, vertices: &[Vertex<D>]) -> Nearest<D> {
    let seen = |vertex: &Vertex<D>| vertex.point - place;
    match vertices {
        [a] => Nearest::vertex(seen(a)),
        [a, b] => segment(seen(a), seen(b)),
        [a, b, c] if D::DIMENSION == 2 => full_triangle(seen(a), seen(b), seen(c)),
        [a, b, c] => triangle(seen(a), seen(b), seen(c)),
        [a, b, c, d] => tetrahedron([seen(a), seen(b), seen(c), seen(d)]),
        // No vertices: nothing is near. NaN ends every loop that compares with it.
        _ => Nearest::vertex(D::ZERO * f64::NAN),
    }
}

/// The foot of the perpendicular from the origin to the plane of a facet through `point`, spanned by `edges`.
#[inline]
fn foot<D: DVector>(point: D, edges: &[D]) -> D {
    let normal = D::perpendicular(edges).unwrap_or(D::ZERO);
    normal * (normal.dot(point) / normal.length_squared())
}

/// λ_a ∝ b·(b - a) and λ_b ∝ a·(a - b); their sum is |b - a|². Coinciding ends have both 0.
#[inline]
fn segment<D: DVector>(a: D, b: D) -> Nearest<D> {
    let edge = b - a;
    let (weight_a, weight_b) = (b.dot(edge), -a.dot(edge));
    if weight_b <= 0.0 {
        Nearest::vertex(a)
    } else if weight_a <= 0.0 {
        Nearest::vertex(b).renumbered([1])
    } else {
        let (weight_a, weight_b) = (
            weight_a / (weight_a + weight_b),
            weight_b / (weight_a + weight_b),
        );
        let point = if D::DIMENSION == 2 {
            foot(a, &[edge])
        } else {
            a * weight_a + b * weight_b
        };
        Nearest {
            point,
            weights: [weight_a, weight_b, 0.0, 0.0],
        }
    }
}

/// With the oriented area n = (b - a) ∧ (c - a): λ_a ∝ (b ∧ c)·n, λ_b ∝ (c ∧ a)·n, λ_c ∝ (a ∧ b)·n, of sum n·n. Where
/// one is not positive, the nearest point is on the edge opposite to that vertex, or on another such edge.
fn triangle<D: DVector>(a: D, b: D, c: D) -> Nearest<D> {
    let normal = (b - a).wedge(c - a);
    let weights = [
        D::dot_areas(b.wedge(c), normal),
        D::dot_areas(c.wedge(a), normal),
        D::dot_areas(a.wedge(b), normal),
    ];
    nearest_on_faces(weights, |face| side([a, b, c], face)).unwrap_or_else(|inside| Nearest {
        point: foot(a, &[b - a, c - a]),
        weights: inside,
    })
}

/// A triangle in the plane: the same, but with the origin inside the distance is 0. With the determinants of its parts
/// for λ, because n·n would square them for nothing.
fn full_triangle<D: DVector>(a: D, b: D, c: D) -> Nearest<D> {
    let parts = [
        D::determinant(&[b, c]),
        D::determinant(&[c, a]),
        D::determinant(&[a, b]),
    ];
    nearest_on_faces(signed_by_sum(parts), |face| side([a, b, c], face)).unwrap_or_else(|inside| {
        Nearest {
            point: D::ZERO,
            weights: inside,
        }
    })
}

/// The point nearest to the origin on the side of a triangle that is opposite to a vertex.
#[inline]
fn side<D: DVector>([a, b, c]: [D; 3], opposite: usize) -> Nearest<D> {
    match opposite {
        0 => segment(b, c).renumbered([1, 2]),
        1 => segment(c, a).renumbered([2, 0]),
        _ => segment(a, b),
    }
}

/// λ_i ∝ the oriented volume of the tetrahedron with the origin in the place of vertex i.
fn tetrahedron<D: DVector>([a, b, c, d]: [D; 4]) -> Nearest<D> {
    let parts = [
        D::determinant(&[b, c, d]),
        -D::determinant(&[a, c, d]),
        D::determinant(&[a, b, d]),
        -D::determinant(&[a, b, c]),
    ];
    nearest_on_faces(signed_by_sum(parts), |face| match face {
        0 => triangle(b, c, d).renumbered([1, 2, 3]),
        1 => triangle(a, c, d).renumbered([0, 2, 3]),
        2 => triangle(a, b, d).renumbered([0, 1, 3]),
        _ => triangle(a, b, c),
    })
    .unwrap_or_else(|inside| Nearest {
        point: D::ZERO,
        weights: inside,
    })
}

/// Oriented parts of a whole, turned so that the whole, which is their sum, is not negative.
#[inline]
fn signed_by_sum<const N: usize>(parts: [f64; N]) -> [f64; N] {
    let sum: f64 = parts.iter().sum();
    let mut signed = parts;
    for part in &mut signed {
        *part = if sum < 0.0 { -*part } else { *part };
    }
    signed
}

/// The nearest of the points on the faces opposite to the vertices whose weight is not positive; or, where all weights
/// are positive, those weights made to sum to 1, as the error.
#[inline]
fn nearest_on_faces<D: DVector, const N: usize>(
    weights: [f64; N],
    nearest_on_face: impl Fn(usize) -> Nearest<D>,
) -> Result<Nearest<D>, [f64; 4]> {
    let mut found: Option<Nearest<D>> = None;
    for (face, weight) in weights.into_iter().enumerate() {
        if weight <= 0.0 {
            let nearest = nearest_on_face(face);
            found = Some(found.map_or(nearest, |found| found.nearer(nearest)));
        }
    }
    if let Some(nearest) = found {
        return Ok(nearest);
    }
    let sum: f64 = weights.iter().sum();
    let mut normalized = [0.0; 4];
    for (slot, weight) in normalized.iter_mut().zip(weights) {
        *slot = weight / sum;
    }
    Err(normalized)
}
