//! The point of a simplex nearest to the origin.
//!
//! GJK and ray casts call [`nearest`] in each iteration.
//!
//! A simplex is a point, a segment, a triangle or a tetrahedron. A simplex of k vertices y_i is the
//! set of all Σ λ_i y_i with λ_i >= 0 and Σ λ_i = 1. The nearest point lies on a face of the
//! simplex: λ is positive for the vertices of that face, and 0 for the other vertices.
//!
//! One source serves both dimensions: a triangle is a full simplex in 2D and a facet in 3D. The λ
//! are computed from oriented areas and volumes (see Ericson, "Real-Time Collision Detection"
//! (2005), chapters 3.4 and 5.1). Dot products alone would square the areas and lose half of the
//! digits on a sliver (a nearly flat simplex). If the nearest point lies inside a facet, the point
//! is computed along the facet's normal. So the direction of the point keeps all digits, however
//! near the origin is.

use arrayvec::ArrayVec;

use crate::space::DVector;

/// The point of a simplex nearest to the origin.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<D> {
    /// The coordinates of the point.
    pub point: D,
    /// The barycentric coordinates λ of the point, in the order of the vertices. Unused entries are
    /// 0.
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

    /// Removes the vertices with weight 0 from the simplex of this point.
    #[inline]
    pub fn reduce<T: Copy>(&mut self, simplex: &mut ArrayVec<T, 4>) {
        let mut kept = 0;
        let mut weights = [0.0; 4];
        for (index, weight) in self.weights.into_iter().enumerate() {
            if weight > 0.0 {
                if index != kept
                    && let Some(vertex) = simplex.get(index).copied()
                    && let Some(slot) = simplex.get_mut(kept)
                {
                    *slot = vertex;
                }
                if let Some(slot) = weights.get_mut(kept) {
                    *slot = weight;
                }
                kept += 1;
            }
        }
        simplex.truncate(kept);
        self.weights = weights;
    }

    #[inline]
    fn distance_squared(&self) -> f64 {
        self.point.length_squared()
    }

    /// Returns the point that is nearer to the origin, or `self` if both points are equally near.
    #[inline]
    fn nearer(self, other: Self) -> Self {
        if other.distance_squared() < self.distance_squared() {
            other
        } else {
            self
        }
    }

    /// Returns this point as a point of a larger simplex, in which vertex i of the smaller simplex
    /// has the index `indices[i]`.
    #[inline]
    fn reindexed<const N: usize>(self, indices: [usize; N]) -> Self {
        let mut weights = [0.0; 4];
        for (index, weight) in indices.into_iter().zip(self.weights) {
            if let Some(slot) = weights.get_mut(index) {
                *slot = weight;
            }
        }
        Self { weights, ..self }
    }
}

/// Returns the point of a simplex nearest to the origin. The simplex has at most `DIMENSION + 1`
/// vertices. `position` returns the position of a vertex.
#[inline]
pub fn nearest<D: DVector, T>(vertices: &[T], position: impl Fn(&T) -> D) -> Nearest<D> {
    match vertices {
        [a] => Nearest::vertex(position(a)),
        [a, b] => segment(position(a), position(b)),
        [a, b, c] if D::DIMENSION == 2 => full_triangle(position(a), position(b), position(c)),
        [a, b, c] => triangle(position(a), position(b), position(c)),
        [a, b, c, d] => tetrahedron([position(a), position(b), position(c), position(d)]),
        // An empty simplex has no nearest point. Comparisons with NaN are false, so NaN ends every
        // loop.
        _ => Nearest::vertex(D::ZERO * f64::NAN),
    }
}

/// Returns the foot of the perpendicular from the origin to the plane through `point` that `edges`
/// span.
#[inline]
fn foot<D: DVector>(point: D, edges: &[D]) -> D {
    let normal = D::perpendicular(edges).unwrap_or(D::ZERO);
    normal * (normal.dot(point) / normal.length_squared())
}

/// Returns the nearest point of a segment. Before normalization, λ_a is b·(b - a), λ_b is a·(a -
/// b), and their sum is |b - a|². If the ends coincide, the result is a.
#[inline]
fn segment<D: DVector>(a: D, b: D) -> Nearest<D> {
    let edge = b - a;
    let (weight_a, weight_b) = (b.dot(edge), -a.dot(edge));
    if weight_b <= 0.0 {
        Nearest::vertex(a)
    } else if weight_a <= 0.0 {
        Nearest::vertex(b).reindexed([1])
    } else {
        let sum = weight_a + weight_b;
        let (weight_a, weight_b) = (weight_a / sum, weight_b / sum);
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

/// Returns the nearest point of a triangle. Let n = (b - a) ∧ (c - a) be twice the oriented area of
/// the triangle. Before normalization, λ_a = (b ∧ c)·n, λ_b = (c ∧ a)·n and λ_c = (a ∧ b)·n, with
/// the sum n·n. If some λ are not positive, the nearest point is on an edge opposite to a vertex
/// whose λ is not positive.
fn triangle<D: DVector>(a: D, b: D, c: D) -> Nearest<D> {
    let normal = (b - a).wedge(c - a);
    let weights = [
        D::dot_areas(b.wedge(c), normal),
        D::dot_areas(c.wedge(a), normal),
        D::dot_areas(a.wedge(b), normal),
    ];
    let inside = || foot(a, &[b - a, c - a]);
    nearest_on_faces(weights, |face| side([a, b, c], face), inside)
}

/// Returns the nearest point of a triangle in 2D. If the triangle contains the origin, the result
/// is the origin. In contrast to [`triangle`], each λ is proportional to a single area, a
/// determinant.
fn full_triangle<D: DVector>(a: D, b: D, c: D) -> Nearest<D> {
    let parts = [
        D::determinant(&[b, c]),
        D::determinant(&[c, a]),
        D::determinant(&[a, b]),
    ];
    let on_side = |face| side([a, b, c], face);
    nearest_on_faces(signed_by_sum(parts), on_side, || D::ZERO)
}

/// Returns the nearest point of the edge of a triangle that is opposite to the vertex with the
/// index `opposite`.
#[inline]
fn side<D: DVector>([a, b, c]: [D; 3], opposite: usize) -> Nearest<D> {
    match opposite {
        0 => segment(b, c).reindexed([1, 2]),
        1 => segment(c, a).reindexed([2, 0]),
        _ => segment(a, b),
    }
}

/// Returns the nearest point of a tetrahedron. Each λ_i is proportional to the oriented volume of
/// the tetrahedron with vertex i moved to the origin.
fn tetrahedron<D: DVector>([a, b, c, d]: [D; 4]) -> Nearest<D> {
    let parts = [
        D::determinant(&[b, c, d]),
        -D::determinant(&[a, c, d]),
        D::determinant(&[a, b, d]),
        -D::determinant(&[a, b, c]),
    ];
    let on_face = |face| match face {
        0 => triangle(b, c, d).reindexed([1, 2, 3]),
        1 => triangle(a, c, d).reindexed([0, 2, 3]),
        2 => triangle(a, b, d).reindexed([0, 1, 3]),
        _ => triangle(a, b, c),
    };
    nearest_on_faces(signed_by_sum(parts), on_face, || D::ZERO)
}

/// Returns oriented areas or volumes, with their signs changed if their sum is negative.
#[inline]
fn signed_by_sum<const N: usize>(parts: [f64; N]) -> [f64; N] {
    let sum: f64 = parts.iter().sum();
    parts.map(|part| if sum < 0.0 { -part } else { part })
}

/// Returns the nearest point of the faces opposite to the vertices whose weight is not positive. If
/// all weights are positive, the nearest point is inside the simplex: `inside` returns this point,
/// and its weights are scaled to a sum of 1.
#[inline]
fn nearest_on_faces<D: DVector, const N: usize>(
    weights: [f64; N],
    nearest_on_face: impl Fn(usize) -> Nearest<D>,
    inside: impl FnOnce() -> D,
) -> Nearest<D> {
    let mut found: Option<Nearest<D>> = None;
    for (face, weight) in weights.into_iter().enumerate() {
        if weight <= 0.0 {
            let nearest = nearest_on_face(face);
            found = Some(found.map_or(nearest, |found| found.nearer(nearest)));
        }
    }
    found.unwrap_or_else(|| {
        let sum: f64 = weights.iter().sum();
        let mut nearest = Nearest::vertex(inside());
        for (slot, weight) in nearest.weights.iter_mut().zip(weights) {
            *slot = weight / sum;
        }
        nearest
    })
}
