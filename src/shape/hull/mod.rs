//! The convex hull of points.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`ConvexHull`] |
//! | `build.rs`, `candidates.rs` | the choice of the points that a hull needs |
//! | `planar.rs`, `growing_hull.rs` | hulls of points in a plane, and in space |
//! | `affine_hull.rs`, `closed_surface.rs` | their dimension, and a proof that points are inside |
//! | `support.rs` | the support function, by `support_scan.rs` or `direction_table.rs` |
//! | `center.rs`, `edges.rs` | a point well inside, and the edges to draw |

mod affine_hull;
mod build;
mod candidates;
mod center;
mod closed_surface;
mod direction_table;
#[cfg(feature = "debug-plugin")]
mod edges;
mod growing_hull;
mod planar;
mod support;
mod support_scan;

use core::fmt;
use std::sync::Arc;

use crate::{
    shape::{
        ShapeError,
        elements::polygon_edges::PolygonEdges,
        hull::{
            build::needed_points,
            candidates::without_copies,
            center::center_of_hull,
            direction_table::DirectionTable,
            support_scan::{MAX_SCANNED, PointBlocks},
        },
    },
    space::{DVector, Space},
};
pub(super) use center::LARGE;

/// The convex hull of one or more points, checked and reduced when it is constructed. Cheap to
/// clone.
///
/// The points may be in any order, repeated, collinear, coplanar or inside the hull. Points that
/// the hull does not need are dropped. Points on a plane or a line make a flat hull.
///
/// The hull never changes by more than the rounding of `f32` coordinates: 1.2e-7 of its length, or
/// twice that if it is flat. So nearly all points that are outside of a face or edge only because
/// of rounding are dropped too. A part with finely divided faces keeps few points besides its
/// corners. Far from the origin (several times the length of the hull) the rounding errors of `f32`
/// are larger, so fewer points are dropped.
///
/// A slice of points is a [`Support`] as well. The slice has the same shape as its hull, but is not
/// checked: a slice without points touches nothing, and NaN points are ignored.
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
/// A hull of up to 64 vertices scans all of them for a support point, eight at a time. A larger
/// hull has a table that lists the vertices that can be the farthest in a direction: mostly 4 to 8,
/// whether the hull has 100 vertices or 50,000. In directions normal to a face with many vertices
/// (the end of a finely divided cylinder) all vertices of the face are scanned. The result equals
/// the result of a scan of all vertices bit for bit. Among equally far vertices, the first is
/// returned.
///
/// In an optimized build, construction takes about 5 µs per vertex and 0.4 µs for each other point.
/// Up to 64 vertices are stored a second time, in blocks of eight that take 96 bytes. A table takes
/// 20 to 40 bytes per vertex, and never more than 128 bytes per vertex. In 2D a hull of up to 16
/// vertices also stores its edges, in 32 bytes each, so that its contacts with other such hulls and
/// with circles are computed in closed form.
#[derive(Clone)]
pub struct ConvexHull<V: Space> {
    points: Arc<[V]>,
    search: FarthestSearch,
    /// `Some` only in 2D, and only for a few vertices.
    edges: Option<Arc<PolygonEdges<V::DVec>>>,
    center: V::DVec,
}

/// The method that finds the farthest vertex.
#[derive(Clone)]
enum FarthestSearch {
    /// For few vertices: a scan of blocks.
    Blocks(PointBlocks),
    /// For many vertices: a scan of the vertices that a table lists for the direction.
    Table(Arc<DirectionTable>),
    /// For few vertices that are all zero or of extreme size: a plain scan.
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
    /// Maximum number of distinct points: 65,536. Points that are repeated, as in the triangles of
    /// an STL file, count once. (0 and -0 are equal.) More than 64 times as many points in all are
    /// an error too, so that an endless iterator fails.
    ///
    /// If all points are vertices, construction takes half a second. The time grows with the square
    /// of the number of vertices, so leave out the inside and details of larger meshes. On a very
    /// finely divided curved surface, where only rounding puts a point outside of the hull of its
    /// neighbors, construction takes up to 0.1 ms per point.
    pub const MAX_POINTS: usize = 1 << 16;

    /// Maximum number of points that are taken from an iterator.
    const MAX_TAKEN: usize = 64 * Self::MAX_POINTS;

    /// Computes the hull of `points`.
    ///
    /// # Errors
    ///
    /// * [`ShapeError::NoPoints`] if there are no points.
    /// * [`ShapeError::TooManyPoints`] if there are more than [`MAX_POINTS`](Self::MAX_POINTS)
    ///   distinct points, or more than 64 times as many in all.
    /// * [`ShapeError::NotFinite`] if a coordinate is NaN or infinite.
    pub fn new(points: impl IntoIterator<Item = V>) -> Result<Self, ShapeError> {
        let mut points = points.into_iter().fuse();
        // Takes one more point than allowed, to detect that there are too many.
        let distinct = without_copies(points.by_ref().take(Self::MAX_TAKEN));
        let given: Vec<V> = distinct.take(Self::MAX_POINTS + 1).collect();
        Self::check(&given)?;
        if points.next().is_some() {
            return Err(ShapeError::TooManyPoints(Self::MAX_POINTS));
        }
        let positions: Vec<_> = given.iter().map(|point| point.to_vec3()).collect();
        let needed = needed_points(&positions).into_iter();
        let vertices = needed.filter_map(|index| given.get(index).copied());
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

    /// Returns the vertices of the hull: the given points that it needs, in the given order.
    pub fn points(&self) -> &[V] {
        &self.points
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DVec3, Vec3};

    /// Returns points spread evenly over the unit sphere: a spiral with the golden angle.
    fn ball(vertices: usize) -> Vec<Vec3> {
        let point = |index| {
            let z = 1.0 - (2 * index + 1) as f32 / vertices as f32;
            let (sine, cosine) = (index as f32 * 2.399_963_2).sin_cos();
            let radius = (1.0 - z * z).sqrt();
            Vec3::new(radius * cosine, radius * sine, z)
        };
        (0..vertices).map(point).collect()
    }

    /// Returns the mean and the maximum number of vertices that the table lists for a direction.
    fn listed(vertices: usize) -> Result<(f64, usize), ShapeError> {
        let hull = ConvexHull::new(ball(vertices))?;
        assert_eq!(hull.points().len(), vertices);
        let FarthestSearch::Table(table) = hull.search else {
            return Ok((0.0, 0));
        };
        let steps = 10_000;
        let counts: Vec<usize> = (0..steps)
            .map(|step| {
                let time = step as f64 * 0.01;
                let direction = [time.cos(), (0.7 * time).sin(), (0.31 * time).cos() + 0.1];
                let list = table.candidates(DVec3::from_array(direction));
                list.map_or(vertices, <[u32]>::len)
            })
            .collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        Ok((counts.iter().sum::<usize>() as f64 / steps as f64, most))
    }

    #[test]
    fn the_table_lists_few_vertices_however_many_there_are() {
        for vertices in [MAX_SCANNED + 1, 500, 2_000, 10_000] {
            let (mean, most) = listed(vertices).unwrap_or_default();
            assert!(
                (1.0..=8.0).contains(&mean) && most <= 16,
                "{vertices} vertices: mean {mean}, maximum {most}"
            );
        }
    }

    #[test]
    fn few_vertices_are_scanned_in_blocks() {
        let search = |vertices| ConvexHull::new(ball(vertices)).map(|hull| hull.search);
        assert!(matches!(search(8), Ok(FarthestSearch::Blocks(_))));
        assert!(matches!(search(MAX_SCANNED), Ok(FarthestSearch::Blocks(_))));
    }
}
