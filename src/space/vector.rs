//! The `f64` vectors of the solvers.

use core::{
    cmp::Ordering,
    fmt::Debug,
    ops::{Add, Mul, Neg, RangeInclusive, Sub},
};

use arrayvec::ArrayVec;

use crate::{
    math::{DMat3, DQuat, DVec3},
    space::polytope::Polytope,
};

/// A map counts as singular if its absolute determinant is at most this fraction of the product of
/// its columns' lengths. If a map first flattens and then rotates space, rounding leaves a
/// determinant of about 1e-16 of this product, and the inverse is meaningless.
pub const SINGULAR: f64 = 1e-6;

/// The range of squared lengths whose square roots have full precision: `f64` is subnormal below
/// 1e-308, and overflows beyond 1e308.
const FULL_PRECISION: RangeInclusive<f64> = 1e-290..=1e300;

/// The factors 2⁸⁰⁰ and 2⁻⁸⁰⁰ scale very small and very large numbers without rounding, so that the
/// squares have full precision.
const HUGE: f64 = f64::from_bits((1023 + 800) << 52);
const TINY: f64 = f64::from_bits((1023 - 800) << 52);

/// Implements the constants and methods of [`DVector`] whose code is the same for `DVec2` and
/// `DVec3`.
macro_rules! methods_of_glam {
    () => {
        const ZERO: Self = Self::ZERO;
        const ONE: Self = Self::ONE;

        #[inline]
        fn min(self, other: Self) -> Self {
            self.min(other)
        }

        #[inline]
        fn max(self, other: Self) -> Self {
            self.max(other)
        }

        #[inline]
        fn is_finite(self) -> bool {
            self.is_finite()
        }

        #[inline]
        fn dot(self, other: Self) -> f64 {
            self.dot(other)
        }

        #[inline]
        fn extent(self) -> f64 {
            self.abs().element_sum()
        }

        #[inline]
        fn copysign(self, signs: Self) -> Self {
            self.copysign(signs)
        }

        #[inline]
        fn scaled(self, factors: Self) -> Self {
            self * factors
        }

        #[inline]
        fn transpose(matrix: Self::Matrix) -> Self::Matrix {
            matrix.transpose()
        }

        #[inline]
        fn column(matrix: Self::Matrix, index: usize) -> Self {
            matrix.col(index)
        }

        #[inline]
        fn inverse(matrix: Self::Matrix) -> Option<Self::Matrix> {
            let volume: f64 = Self::columns(matrix).map(Self::length).product();
            let is_regular = matrix.determinant().abs() > $crate::space::vector::SINGULAR * volume;
            is_regular.then(|| matrix.inverse())
        }
    };
}
pub(super) use methods_of_glam;

/// A value without references, which any thread may copy and compare.
pub trait Value: Copy + Debug + PartialEq + Send + Sync + 'static {}

impl<T: Copy + Debug + PartialEq + Send + Sync + 'static> Value for T {}

/// The `f64` vector of a space, with the operations of the solvers.
///
/// Formulas for both dimensions are stated in terms of a *facet*: an edge in 2D, and a triangle in
/// 3D. A facet has [`DIMENSION`](DVector::DIMENSION) vertices.
pub trait DVector:
    Value
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
{
    /// A linear map of this space.
    type Matrix: Value
        + Mul<Self, Output = Self>
        + Mul<Self::Matrix, Output = Self::Matrix>
        + Mul<f64, Output = Self::Matrix>
        + Sub<Output = Self::Matrix>;

    /// A rotation about the origin, of any number of turns: the angle in radians in 2D, and the
    /// axis times the angle in 3D. The same type is used for angular velocities, as rotations per
    /// unit of time. If two unit vectors enclose a small angle, the rotation from the first to the
    /// second vector is approximately their oriented area.
    type Angle: Value + Default + Mul<f64, Output = Self::Angle> + From<Self::Area>;

    /// The oriented area spanned by two vectors: a number in 2D, a vector in 3D.
    type Area: Copy;

    /// The convex body that EPA grows, a polygon or a polyhedron of at most `FACETS` facets.
    type Polytope<const FACETS: usize>: Polytope<Self>;

    /// The number of dimensions: 2 or 3.
    const DIMENSION: usize;

    /// The zero vector.
    const ZERO: Self;

    /// The vector whose components are 1.
    const ONE: Self;

    /// The identity map.
    const IDENTITY: Self::Matrix;

    /// Returns the unit vector of an axis, counted from 0. An index out of range selects the last
    /// axis.
    fn axis(index: usize) -> Self;

    /// Returns the component along an axis, with the same index as in [`axis`](Self::axis).
    fn component(self, index: usize) -> f64;

    /// Returns the components. In 2D, the third component is 0.
    fn components(self) -> [f64; 3];

    /// Returns the mean of the points.
    fn mean(points: &[Self]) -> Self {
        let sum = points.iter().fold(Self::ZERO, |sum, point| sum + *point);
        sum * (1.0 / points.len() as f64)
    }

    /// Returns the vector with these components. In 2D, the third component is ignored.
    fn of(components: [f64; 3]) -> Self;

    /// Restricts an affine map of 3D, x -> `linear * x + translation`, to this space. In 2D, z is
    /// ignored. Every zero in the result is positive: see
    /// [`Space::pose`](crate::space::Space::pose).
    fn restrict(linear: DMat3, translation: DVec3) -> (Self::Matrix, Self);

    /// Returns the rotation of a quaternion, which need not have unit length. Returns `None` for a
    /// quaternion that is zero or not finite. In 2D, also returns `None` if the rotation tilts the
    /// xy plane. A half turn about an axis in that plane becomes a reflection. Every zero in the
    /// result is positive: see [`Space::pose`](crate::space::Space::pose).
    fn rotation_of(quaternion: DQuat) -> Option<Self::Matrix>;

    /// Converts a 3D rotation, given as the axis times the angle. In 2D, the result is the angle
    /// about z.
    fn angle_of(rotation: DVec3) -> Self::Angle;

    /// Returns the smaller of each pair of components.
    fn min(self, other: Self) -> Self;

    /// Returns the greater of each pair of components.
    fn max(self, other: Self) -> Self;

    /// Returns `true` if no component is NaN or infinite.
    fn is_finite(self) -> bool;

    /// Returns the dot product.
    fn dot(self, other: Self) -> f64;

    /// Returns this vector with the signs of the components of `signs`.
    fn copysign(self, signs: Self) -> Self;

    /// Returns the point of the box from `-half` to `half` that is nearest to this point. No
    /// component of `half` may be negative.
    #[inline]
    fn clamped(self, half: Self) -> Self {
        self.min(half).max(-half)
    }

    /// Returns this vector, scaled down if a component exceeds the range of f32.
    #[inline(always)]
    fn in_f32_range(self) -> Self {
        let max = f64::from(f32::MAX);
        // The sum of all sizes is at least the largest size.
        if self.extent() <= max {
            return self;
        }
        let sizes = self.components().map(f64::abs);
        if sizes.iter().any(|size| *size > max) {
            self * (max / sizes.into_iter().fold(0.0, f64::max))
        } else {
            self
        }
    }

    /// Returns this vector, or its opposite if the dot product with `other` is negative.
    fn toward(self, other: Self) -> Self {
        if self.dot(other) < 0.0 { -self } else { self }
    }

    /// Returns the component-wise product.
    fn scaled(self, factors: Self) -> Self;

    /// Returns the oriented area of the parallelogram from `self` to `other` (the outer product).
    fn wedge(self, other: Self) -> Self::Area;

    /// Returns the dot product of two oriented areas.
    fn dot_areas(a: Self::Area, b: Self::Area) -> f64;

    /// Returns the determinant of `DIMENSION` vectors, and 0 for any other number of vectors.
    fn determinant(edges: &[Self]) -> f64;

    /// Returns a vector, of any length, that is orthogonal to all of `edges`. Returns `None` for
    /// `DIMENSION` edges or more.
    ///
    /// `DIMENSION - 1` edges span a facet, and the result is the facet's normal. The sign of the
    /// normal depends on the order of the edges. For fewer edges, the result is a coordinate axis,
    /// or in 3D the projection of an axis onto the plane perpendicular to the edge.
    fn perpendicular(edges: &[Self]) -> Option<Self>;

    /// Returns an orthonormal basis of the space perpendicular to this unit vector: one vector in
    /// 2D, and two vectors in 3D. If this vector is zero or not finite, returns fewer vectors.
    fn tangents(self) -> ArrayVec<Self, 2> {
        let mut axes: ArrayVec<Self, 3> = ArrayVec::from_iter([self]);
        while axes.len() < Self::DIMENSION
            && let Some(tangent) = Self::perpendicular(&axes).and_then(Self::unit)
        {
            axes.push(tangent);
        }
        axes.into_iter().skip(1).collect()
    }

    /// Returns the matrix of a rotation. The sines and cosines come from `libm`, so that all
    /// platforms return the same bits.
    fn rotation(angle: Self::Angle) -> Self::Matrix;

    /// Returns the rotation of at most half a turn that takes the matrix `start` to the matrix
    /// `end`. If exactly one of two 2D matrices is a reflection, there is no such rotation, and the
    /// result is zero.
    fn angle_between(start: Self::Matrix, end: Self::Matrix) -> Self::Angle;

    /// Returns the size of a rotation: the angle in radians.
    fn angle_size(angle: Self::Angle) -> f64;

    /// Returns the velocity at this offset from the center of a rotation: the cross product of the
    /// angular velocity and the offset.
    fn rotated_by(self, angular_velocity: Self::Angle) -> Self;

    /// Returns the transposed matrix. For an orthogonal matrix, this is the inverse.
    fn transpose(matrix: Self::Matrix) -> Self::Matrix;

    /// Returns a more nearly orthogonal matrix. If `matrix` has a relative error of e from an
    /// orthogonal matrix, the error of the result is of the order of e².
    fn nearer_orthogonal(matrix: Self::Matrix) -> Self::Matrix {
        matrix * 1.5 - matrix * (Self::transpose(matrix) * matrix) * 0.5
    }

    /// Returns `true` if a map is a reflection: its determinant is negative.
    fn is_mirrored(matrix: Self::Matrix) -> bool {
        Self::determinant(&Self::columns(matrix).collect::<ArrayVec<Self, 3>>()) < 0.0
    }

    /// Returns the inverse map, or `None` if the map is singular (see [`SINGULAR`]).
    fn inverse(matrix: Self::Matrix) -> Option<Self::Matrix>;

    /// Returns a column of a matrix: the image of an axis. The index must be less than
    /// [`DIMENSION`](Self::DIMENSION).
    fn column(matrix: Self::Matrix, index: usize) -> Self;

    /// Returns the columns of a matrix.
    #[inline]
    fn columns(matrix: Self::Matrix) -> impl Iterator<Item = Self> {
        (0..Self::DIMENSION).map(move |index| Self::column(matrix, index))
    }

    /// Returns the L1 norm: the length times a factor from 1 to the square root of `DIMENSION`.
    fn extent(self) -> f64;

    /// Returns the square of the length.
    fn length_squared(self) -> f64 {
        self.dot(self)
    }

    /// Returns the length, which has full precision between 1e-145 and 1e150.
    fn length(self) -> f64 {
        self.length_squared().sqrt()
    }

    /// Returns the unit vector in this direction, or `None` if this vector is zero or not finite.
    #[inline(always)]
    fn unit(self) -> Option<Self> {
        let (mut vector, mut squared) = (self, self.length_squared());
        // If an entity's scale is tiny, vectors may have a length of 1e-80, and their cross
        // products a length of 1e-160. The square of that length is not a normal number, so the
        // vector is scaled first.
        if !FULL_PRECISION.contains(&squared) {
            vector = self * if self.extent() < 1.0 { HUGE } else { TINY };
            squared = vector.length_squared();
            if !FULL_PRECISION.contains(&squared) {
                return None;
            }
        }
        Some(vector * (1.0 / squared.sqrt()))
    }

    /// Compares vectors component by component, in a total order. The order has no geometric
    /// meaning, but makes choices repeatable.
    fn total_cmp(self, other: Self) -> Ordering {
        let (first, second) = (self.component(0), other.component(0));
        // The first component nearly always decides, so only its comparison is inlined.
        if first < second {
            Ordering::Less
        } else if first > second {
            Ordering::Greater
        } else {
            self.total_cmp_all(other)
        }
    }

    /// See [`total_cmp`](Self::total_cmp).
    #[cold]
    #[inline(never)]
    fn total_cmp_all(self, other: Self) -> Ordering {
        (0..Self::DIMENSION)
            .map(|index| self.component(index).total_cmp(&other.component(index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}
