//! The convex hull of points.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`ConvexHull`] |
//! | `grid.rs`, `affine_hull.rs` | points on a grid with exact signs, and their dimension |
//! | `planar.rs`, `solid.rs` | hulls of points in a plane, and in space |
//! | `support.rs` | the support function, which uses `support_scan.rs` or `direction_table.rs` |
//! | `center.rs`, `edges.rs` | the center of a large ball in a hull, and the edges to draw |
//! | `faces.rs` | the faces of a hull |

mod affine_hull;
mod center;
mod direction_table;
#[cfg(feature = "debug-plugin")]
mod edges;
mod faces;
mod grid;
mod planar;
mod solid;
mod support;
mod support_scan;
#[cfg(test)]
mod tests;

use core::fmt;
use std::sync::Arc;

use crate::{
    shape::{
        ShapeError,
        elements::polygon_edges::PolygonEdges,
        hull::{
            affine_hull::AffineHull,
            center::center_of_hull,
            direction_table::DirectionTable,
            grid::GridPoints,
            solid::HullSurface,
            support_scan::{MAX_SCANNED, PointBlocks},
        },
    },
    space::{DVector, Space},
};
pub(super) use center::LARGE;
pub(super) use faces::hull_faces;

/// The convex hull of one or more points. The points are checked when the hull is constructed. A
/// hull is cheap to clone.
///
/// The points may be in any order, repeated, collinear, coplanar or inside the hull. Points that
/// the hull does not need are dropped. Points on a plane or a line make a flat hull.
///
/// Dropping points changes the hull by at most the rounding of `f32` coordinates: 1.2e-7 of the
/// hull's length, or twice as much for a flat hull. So nearly all points that are outside a face or
/// an edge only because of rounding are also dropped. A model with finely divided faces keeps few
/// points besides its corners. Far from the origin (several times the length of the hull) the
/// rounding errors of `f32` are larger, so fewer points are dropped.
///
/// A slice of points also implements [`Support`](crate::Support). The slice has the same shape as
/// its hull, but is not checked. A slice without points touches nothing, and NaN points are
/// ignored.
///
/// ```
/// use bevy::math::Vec2;
/// use headbutt::{ConvexHull, ShapeError};
///
/// let inside = Vec2::splat(0.5);
/// let points = [inside, Vec2::ZERO, Vec2::X, inside, Vec2::ONE, Vec2::Y];
/// let square = ConvexHull::new(points).unwrap();
/// assert_eq!(square.points(), [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y]);
///
/// let flat = ConvexHull::new([Vec2::ZERO, Vec2::X, 2.0 * Vec2::X]).unwrap();
/// assert_eq!(flat.points(), [Vec2::ZERO, 2.0 * Vec2::X]);
///
/// assert_eq!(ConvexHull::<Vec2>::new([]), Err(ShapeError::NoPoints));
/// assert_eq!(ConvexHull::new([Vec2::NAN]), Err(ShapeError::NotFinite("point of a convex hull")));
/// ```
///
/// # Cost
///
/// A hull of up to 64 vertices scans all vertices for a support point, eight at a time. A larger
/// hull has a table that lists the vertices that can be the farthest in a direction. The table
/// mostly lists 4 to 8 vertices, whether the hull has 100 vertices or 50,000. In a direction normal
/// to a face, all vertices of the face are scanned. For example, the end of a finely divided
/// cylinder has many vertices. The result equals the result of a scan of all vertices bit for bit.
/// Among equally far vertices, the first vertex is returned.
///
/// In an optimized build, construction takes about 2 µs per vertex and 0.1 µs for each other point.
/// A hull of up to 64 vertices stores its vertices a second time, in blocks of eight that take 96
/// bytes each. A table takes 20 to 40 bytes per vertex, and never more than 128 bytes per vertex.
/// In 2D, a hull of up to 16 vertices also stores its edges, in blocks of four that take 128 bytes
/// each. With these edges, contacts with circles, rectangles and other hulls that store their edges
/// have a closed form.
#[derive(Clone)]
pub struct ConvexHull<V: Space> {
    points: Arc<[V]>,
    search: FarthestSearch,
    /// The edges of a 2D polygon with few vertices. For all other hulls, this field is `None`.
    edges: Option<Arc<PolygonEdges<V::DVec>>>,
    center: V::DVec,
}

/// The method of finding the farthest vertex.
#[derive(Clone)]
enum FarthestSearch {
    /// A scan of blocks, for few vertices.
    Blocks(PointBlocks),
    /// A scan of the vertices that a table lists for the direction, for many vertices.
    Table(Arc<DirectionTable>),
    /// A plain scan, for few vertices that are all zero or of extreme size.
    Scan,
}

impl FarthestSearch {
    fn new<D: DVector>(points: &[D]) -> Self {
        if points.len() > MAX_SCANNED {
            return Self::Table(Arc::new(DirectionTable::new(points)));
        }
        PointBlocks::new(points).map_or(Self::Scan, Self::Blocks)
    }
}

impl<V: Space> ConvexHull<V> {
    /// The maximum number of points, including repeated points: 4,194,304. Because of this limit,
    /// an endless iterator is an error.
    pub const MAX_POINTS: usize = 1 << 22;

    /// Computes the hull of `points`.
    ///
    /// # Errors
    ///
    /// * [`ShapeError::NoPoints`] if there are no points.
    /// * [`ShapeError::TooManyPoints`] if there are more than [`MAX_POINTS`](Self::MAX_POINTS).
    /// * [`ShapeError::NotFinite`] if a coordinate is NaN or infinite.
    pub fn new(points: impl IntoIterator<Item = V>) -> Result<Self, ShapeError> {
        // Takes at most one point more than allowed, to detect too many points.
        let given: Vec<V> = points.into_iter().take(Self::MAX_POINTS + 1).collect();
        Self::check(&given)?;
        let needed = needed_points(&given).unwrap_or_else(|| (0..given.len()).collect());
        let vertices = needed.into_iter();
        let vertices = vertices.filter_map(|index| given.get(index).copied());
        Ok(Self::from_checked(vertices.collect()))
    }

    /// Constructs a hull from its vertices and drops no point. (Points that are not vertices only
    /// make the hull slower.)
    #[cfg(feature = "serialize")]
    pub(super) fn from_vertices(vertices: Vec<V>) -> Result<Self, ShapeError> {
        Self::check(&vertices)?;
        Ok(Self::from_checked(vertices.into()))
    }

    /// Checks that points have a hull.
    fn check(points: &[V]) -> Result<(), ShapeError> {
        if points.is_empty() {
            return Err(ShapeError::NoPoints);
        }
        if points.len() > Self::MAX_POINTS {
            return Err(ShapeError::TooManyPoints(Self::MAX_POINTS));
        }
        ShapeError::check_points("point of a convex hull", points)
    }

    fn from_checked(points: Arc<[V]>) -> Self {
        let vertices: Vec<_> = points.iter().map(|point| point.to_f64()).collect();
        Self {
            center: center_of_hull(&points),
            points,
            search: FarthestSearch::new(&vertices),
            edges: PolygonEdges::new(&vertices).map(Arc::new),
        }
    }

    /// Returns the center of a large ball in the hull.
    pub(in crate::shape) fn center(&self) -> V::DVec {
        self.center
    }

    /// Loads the edges into the processor's cache: see [`PolygonEdges::prefetch`].
    pub(crate) fn prefetch(&self) -> f64 {
        self.edges.as_ref().map_or(0.0, |edges| edges.prefetch())
    }

    /// Returns the vertices of the hull: the given points that the hull needs, in the given order.
    pub fn points(&self) -> &[V] {
        &self.points
    }
}

/// Returns the indices of the points that a convex hull needs, in ascending order. In rare cases,
/// the result includes a point on the hull that is not a vertex. All of `points` must be finite.
fn needed_points<V: Space>(points: &[V]) -> Option<Vec<usize>> {
    let positions: Vec<_> = points.iter().map(|point| point.to_vec3()).collect();
    let grid = GridPoints::new(&positions)?;
    let mut needed = match AffineHull::of(&grid)? {
        AffineHull::Point => vec![0],
        AffineHull::Line(ends) => ends.into(),
        AffineHull::Plane { normal, tolerance } => planar::corners(&grid, normal, tolerance),
        AffineHull::Solid(start) => HullSurface::with_few_vertices(grid, start)?.vertices(),
    };
    needed.sort_unstable();
    Some(needed)
}

impl<V: Space> fmt::Debug for ConvexHull<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "ConvexHull({} points)", self.points.len())
    }
}

/// Hulls are equal if their vertices are equal, in the same order.
impl<V: Space> PartialEq for ConvexHull<V> {
    fn eq(&self, other: &Self) -> bool {
        self.points == other.points
    }
}
