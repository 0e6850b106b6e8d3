//! What a dimension provides.
//!
//! *The vector is the dimension.* [`Vec2`](crate::math::Vec2) is the plane and [`Vec3`](crate::math::Vec3) is space;
//! both implement [`Space`], and everything that holds in either (the Minkowski difference, GJK, the loop of EPA, the
//! pipeline) is written once, generic over it. Per dimension there is only this folder: the vector arithmetic that
//! differs (`plane.rs`, `solid.rs`) and the polytope that EPA grows (`polygon.rs`, `polyhedron.rs`).
//!
//! *The solver is wider than its input.* Shapes, poses and results are f32; [`Space::DVec`] is the f64 vector in which
//! all that lies between is computed. In f32 the squares and triple products of GJK and EPA lose the answer near
//! touching; in f64 they have 29 bits more than their input, and every decision of the solver has room for its error.

mod dim2;
mod dim3;
mod list;
mod polytope2;
mod polytope3;
mod pose;
pub mod simplex;

use core::{
    cmp::Ordering,
    fmt::Debug,
    ops::{Add, Mul, Neg, RangeInclusive, Sub},
};

use crate::math::{DMat3, DQuat, DVec3, Vec3};
pub use list::List;
pub use pose::Pose;

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::math::Vec2 {}
    impl Sealed for crate::math::Vec3 {}
}

/// A space of two or three dimensions, named by its vector: [`Vec2`](crate::math::Vec2) or [`Vec3`].
///
/// Sealed: there is no third implementation. Shapes of one space meet only shapes of the same space, and the compiler
/// sees to it, because a [`Support`](crate::Support) names the space that it lives in. A shape of your own is written for
/// one of the two: `Vec2` with `DVec2`, or `Vec3` with `DVec3`.
pub trait Space:
    sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// The f64 vector in which queries compute: [`DVec2`](crate::math::DVec2) or [`DVec3`](crate::math::DVec3).
    type DVec: DVector;

    /// The pose of a shape: [`Isometry2d`](crate::math::Isometry2d) or [`Isometry3d`](crate::math::Isometry3d).
    type Isometry: Copy + Debug + Send + Sync + 'static;

    /// The same vector in f64; exact.
    fn to_f64(self) -> Self::DVec;

    /// The f32 vector nearest to `wide`, with no zero that has a sign (-0 + 0 is 0): it would be read and printed.
    #[doc(hidden)]
    fn from_f64(wide: Self::DVec) -> Self;

    /// Whether no component is NaN or infinite.
    fn is_finite(self) -> bool;

    /// The least component.
    #[doc(hidden)]
    fn min_component(self) -> f32;

    /// The vector in three dimensions; z is 0 for a vector of the plane.
    #[doc(hidden)]
    fn to_vec3(self) -> Vec3;

    /// What an affine map of space, x -> `linear * x + translation`, does to the vectors of this space. The plane is the
    /// one of x and y; what the map makes of z is not seen.
    /// Every zero is positive: see [`pose`](Self::pose).
    #[doc(hidden)]
    fn restrict(linear: DMat3, translation: DVec3)
    -> (<Self::DVec as DVector>::Matrix, Self::DVec);

    /// What this space sees of a vector: the plane does not see z.
    /// Every zero is positive: see [`pose`](Self::pose).
    #[doc(hidden)]
    fn projected(vector: Vec3) -> Self;

    /// The rotation of a quaternion of any length but 0: that of the unit one, which need not be made for it. `None` if it is
    /// no rotation, or one out of this space: the plane is turned around z alone.
    /// Every zero is positive: see [`pose`](Self::pose).
    #[doc(hidden)]
    fn rotation_of(quaternion: DQuat) -> Option<<Self::DVec as DVector>::Matrix>;

    /// The pose in f64 with its rotation made orthonormal, or `None` if it is no pose: a component is not finite, or
    /// the rotation is zero.
    ///
    /// Every zero in it is positive (-0 + 0 is 0). So poses that compare as equal are the same to
    /// the bit, and give the same order of a pair and the same choice among equals.
    #[doc(hidden)]
    fn pose(isometry: Self::Isometry) -> Option<Pose<Self::DVec>>;
}

/// A map is flat whose determinant is no more than this part of that of a map with axes of the same lengths at right angles: of
/// what is flattened and turned, rounding leaves 1e-16, and the inverse of that is none.
const SINGULAR: f64 = 1e-6;

/// The squares of lengths whose roots have all digits: f64 has fewer of them below 1e-308, and none beyond 1e308.
const ALL_DIGITS: RangeInclusive<f64> = 1e-290..=1e300;

/// Powers of two, which round nothing: 2⁸⁰⁰ and 2⁻⁸⁰⁰, that bring the square of the least and of the greatest number to where it
/// has all digits.
const HUGE: f64 = f64::from_bits((1023 + 800) << 52);
const TINY: f64 = f64::from_bits((1023 - 800) << 52);

/// The f64 vector of a space, with the operations that the solvers need of it.
///
/// Where a formula differs between the dimensions, it is stated here once for both, in terms of a *facet*: a piece of
/// the boundary of a body, one dimension below it. A facet is an edge in the plane and a triangle in space, so it has
/// [`DIMENSION`](DVector::DIMENSION) vertices.
pub trait DVector:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
{
    /// A linear map of this space.
    type Matrix: Copy
        + Debug
        + PartialEq
        + Send
        + Sync
        + 'static
        + Mul<Self, Output = Self>
        + Mul<Self::Matrix, Output = Self::Matrix>
        + Mul<f64, Output = Self::Matrix>;

    /// The oriented area spanned by two vectors: a number in the plane, a vector in space.
    type Area: Copy;

    /// The convex body that EPA grows, with room for as many facets: a polygon or a polyhedron.
    type Polytope<const FACETS: usize>: Polytope<Self>;

    /// 2 or 3.
    const DIMENSION: usize;

    /// The null vector.
    const ZERO: Self;

    /// The vector of ones.
    const ONE: Self;

    /// The map that changes nothing.
    const IDENTITY: Self::Matrix;

    /// The unit vector along coordinate `index`, counted from 0. (Any that is too large means the last.)
    fn axis(index: usize) -> Self;

    /// The component along coordinate `index`, likewise.
    fn component(self, index: usize) -> f64;

    /// The components; in the plane, the third one is 0.
    fn components(self) -> [f64; 3];

    /// The vector with these components; the plane has no third one.
    fn of(components: [f64; 3]) -> Self;

    /// The lesser of each two components.
    fn least(self, other: Self) -> Self;

    /// The greater of each two components.
    fn most(self, other: Self) -> Self;

    /// Whether no component is NaN or infinite.
    fn is_finite(self) -> bool;

    /// The scalar product.
    fn dot(self, other: Self) -> f64;

    /// This vector with its components' signs taken from `signs`.
    fn copysign(self, signs: Self) -> Self;

    /// The nearest point of the box from `-half` to `half`, whose components are 0 or more.
    fn clamped(self, half: Self) -> Self;

    /// This vector or its opposite: the one along which `other` does not lie back.
    #[inline]
    fn toward(self, other: Self) -> Self {
        if self.dot(other) < 0.0 { -self } else { self }
    }

    /// Each component times that of `factors`: this vector under a diagonal map.
    fn scaled(self, factors: Self) -> Self;

    /// The oriented area of the parallelogram from `self` to `other` (the outer product).
    fn wedge(self, other: Self) -> Self::Area;

    /// The scalar product of two oriented areas.
    fn dot_areas(a: Self::Area, b: Self::Area) -> f64;

    /// The oriented volume spanned by the `DIMENSION` vectors in `edges`, times the factorial of the dimension: the
    /// determinant. 0 for any other number of vectors.
    fn determinant(edges: &[Self]) -> f64;

    /// A vector at right angles to each of `edges`, not of unit length, and `None` where they span the whole space.
    ///
    /// Of the many such vectors to less than `DIMENSION - 1` edges it takes, deterministically, one that lies near a
    /// coordinate axis; for no edges at all the first axis. `DIMENSION - 1` edges span a facet: this is its normal, and
    /// its sign follows their order.
    fn perpendicular(edges: &[Self]) -> Option<Self>;

    /// The transposed map; for a rotation its inverse.
    fn transpose(matrix: Self::Matrix) -> Self::Matrix;

    /// Whether a map turns the space inside out.
    fn is_mirrored(matrix: Self::Matrix) -> bool {
        let mut columns = [Self::ZERO; 3];
        for (index, column) in columns.iter_mut().enumerate() {
            *column = Self::column(matrix, index);
        }
        let columns = columns.get(..Self::DIMENSION).unwrap_or_default();
        Self::determinant(columns) < 0.0
    }

    /// The map that undoes this one, or `None` if none does to enough digits, because this one is flat to [`SINGULAR`].
    fn inverse(matrix: Self::Matrix) -> Option<Self::Matrix>;

    /// The image of the unit vector along coordinate `index`.
    fn column(matrix: Self::Matrix, index: usize) -> Self;

    /// The sum of the components' sizes: the length, up to a factor between 1 and the dimension's root, without a root.
    fn extent(self) -> f64;

    /// The square of the length.
    #[inline]
    fn length_squared(self) -> f64 {
        self.dot(self)
    }

    /// The length, to all digits where it is between 1e-145 and 1e150.
    #[inline]
    fn length(self) -> f64 {
        self.length_squared().sqrt()
    }

    /// The vector of unit length in this direction, or `None` for the null vector and for what is not finite.
    #[inline(always)]
    fn unit(self) -> Option<Self> {
        let (mut vector, mut squared) = (self, self.length_squared());
        // The lengths of f32 are far from that, but a map may make 1e-80 of one, and a cross product 1e-160 of two of those.
        if !ALL_DIGITS.contains(&squared) {
            vector = self * if self.extent() < 1.0 { HUGE } else { TINY };
            squared = vector.length_squared();
            if !ALL_DIGITS.contains(&squared) {
                return None;
            }
        }
        Some(vector * (1.0 / squared.sqrt()))
    }

    /// A total order, by the components in turn. It has no geometric meaning and serves to make choices repeatable.
    #[inline]
    fn total_cmp(self, other: Self) -> Ordering {
        let (first, second) = (self.component(0), other.component(0));
        // Nearly always the first component decides, and two comparisons tell.
        if first < second {
            Ordering::Less
        } else if first > second {
            Ordering::Greater
        } else {
            self.total_cmp_all(other)
        }
    }

    /// The same, by all of the components.
    #[cold]
    #[inline(never)]
    fn total_cmp_all(self, other: Self) -> Ordering {
        (0..Self::DIMENSION)
            .map(|index| self.component(index).total_cmp(&other.component(index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

/// A facet of a [`Polytope`]: a piece of its boundary, with the outward unit normal and the plane's distance from the
/// origin along it (negative where the origin lies outside).
#[derive(Clone, Copy, Debug)]
pub struct Facet<D> {
    /// Outward, of unit length.
    pub normal: D,
    /// `normal · p` for each point p of the facet's plane.
    pub distance: f64,
    /// The numbers of the facet's vertices, of which the first [`DVector::DIMENSION`] count.
    pub vertices: [u16; 3],
    /// The facet's own number in its polytope.
    pub index: usize,
}

/// What came of adding a vertex to a [`Polytope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The vertex is part of the boundary now.
    Grown,
    /// There is no room for further facets. The polytope is as it was.
    Full,
    /// Rounding has left the facets that see the vertex without a simple rim, so that no body can be made of them. The
    /// polytope is as it was.
    Tangled,
}

/// A convex body which grows by points outside of it: the inner approximation of EPA.
///
/// It holds numbers of vertices; their coordinates stay with the caller, who hands them in as `points`.
pub trait Polytope<D>: Sized {
    /// No body yet. It is large, and so it is filled where it is: see [`begin`](Self::begin).
    fn new() -> Self;

    /// Makes an empty one the body of the full simplex of the first `DIMENSION + 1` points, or returns `None` if they span
    /// no volume.
    fn begin(&mut self, points: &[D]) -> Option<()>;

    /// The distances of all facets, in the order of their numbers. That of one that has no area, or is no longer part of
    /// the boundary, is infinite.
    fn distances(&self) -> &[f64];

    /// The facet of a number.
    fn facet(&self, number: usize) -> Option<Facet<D>>;

    /// Adds the last of `points`, which lies beyond the plane of the facet given. `tolerance` is the distance from a
    /// plane that counts as on it.
    fn grow(&mut self, points: &[D], beyond: &Facet<D>, tolerance: f64) -> Growth;

    /// The facet whose plane is nearest to the origin, counted outward, so that a plane with the origin outside comes
    /// before all others; `None` if there is no facet with an area.
    #[inline]
    fn nearest(&self) -> Option<Facet<D>> {
        // The least distance first, without a branch, and four at a time; then where it stands.
        let lesser = |a: f64, b: f64| if b < a { b } else { a };
        let (fours, rest) = self.distances().as_chunks::<4>();
        let [mut a, mut b, mut c, mut d] = [f64::INFINITY; 4];
        for [of_a, of_b, of_c, of_d] in fours {
            a = lesser(a, *of_a);
            b = lesser(b, *of_b);
            c = lesser(c, *of_c);
            d = lesser(d, *of_d);
        }
        let mut least = lesser(lesser(a, b), lesser(c, d));
        for distance in rest {
            least = lesser(least, *distance);
        }
        if least == f64::INFINITY {
            return None;
        }
        let mut numbered = self.distances().iter().enumerate();
        let (number, _) = numbered.find(|(_, distance)| **distance == least)?;
        self.facet(number)
    }

    /// All facets with an area.
    fn facets(&self) -> impl Iterator<Item = Facet<D>> {
        let numbers = self.distances().iter().enumerate();
        let solid = numbers.filter(|(_, distance)| **distance < f64::INFINITY);
        solid.filter_map(|(number, _)| self.facet(number))
    }
}
