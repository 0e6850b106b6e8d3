//! The convex hull of points.

mod affine_hull;
mod build;
mod candidates;
mod closed_surface;
mod direction_table;
mod growing_hull;
mod planar;
mod support_scan;

use std::sync::Arc;

use crate::{
    shape::{
        ShapeError,
        hull::{
            build::needed_points,
            candidates::without_copies,
            direction_table::DirectionTable,
            support_scan::{FEW, Lanes},
        },
        points::{farthest, farthest_of, vertex_bounds},
        polygon_edges::PolygonEdges,
        support::{Core, MatrixOf, Support},
    },
    space::{DVector, Space},
};

/// The convex hull of one or more points, checked and cleaned when it is made, and cheap to clone.
///
/// The points may be in any order, doubled, collinear, coplanar or inside the hull: what is not needed is dropped, and
/// points on a plane or line make a flat hull. The set that is meant never changes by more than the rounding of `f32`
/// coordinates: 1.2e-7 of its length, or twice that where it is flat. Points that rounding has put
/// outside of a face or edge by no more than that are dropped too, but for a few. So of a part with
/// finely divided faces the corners stay. At a distance of several lengths from the origin `f32`
/// rounds by more than that, and more points stay.
///
/// A plain slice of points is a [`Support`] as well and means the same, unchecked: with no points it touches nothing, and
/// points that are NaN are passed over.
///
/// ```
/// use bevy::math::Vec2;
/// use headbutt::{ConvexHull, ShapeError};
///
/// let middle = Vec2::splat(0.5);
/// let square = ConvexHull::new([middle, Vec2::ZERO, Vec2::X, middle, Vec2::ONE, Vec2::Y]).unwrap();
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
/// A hull of up to 64 vertices finds its support point by looking at all of them, eight at a time. One of more, from where
/// on that is slower, makes a table of the vertices that can be the farthest in a direction: mostly 4 to 8 of them, whether
/// there are 100 or 50,000: it costs 1.5 times as much as to look at 32. The exception are directions
/// at right angles to a face with many vertices (the end of a finely divided cylinder), for which all of the face are
/// looked at. The answer is that of a scan of all, bit for bit: of vertices that are equally far the one given first.
///
/// To make a hull takes some 5 µs for each vertex and 0.4 µs for each other point, optimised. Up to 64 vertices are kept a
/// second time, in blocks of eight that take 96 bytes; a table takes 5 to 10 numbers of 4 bytes for each vertex, and never more
/// than 32. In the plane a hull of up to 16 vertices keeps its sides as well, 32 bytes each: contacts with another one, or with
/// a circle, are in closed form.
#[derive(Clone, Debug)]
pub struct ConvexHull<V: Space> {
    points: Arc<[V]>,
    search: Search,
    /// In the plane, for hulls of few.
    edges: Option<Arc<PolygonEdges<V::DVec>>>,
}

/// How the farthest vertex is found.
#[derive(Clone, Debug)]
enum Search {
    /// Of few: all of them, side by side.
    Lanes(Lanes),
    /// Of many: those that a table by direction lists.
    Table(Arc<DirectionTable>),
    /// Of few at the origin, or of extreme size: all of them, one by one.
    Scan,
}

impl Search {
    fn new<D: DVector>(points: &[D]) -> Self {
        if points.len() > FEW {
            return Self::Table(Arc::new(DirectionTable::new(points)));
        }
        Lanes::new(points).map_or(Self::Scan, Self::Lanes)
    }
}

impl<V: Space> ConvexHull<V> {
    /// The most different points that a hull can be made of: 65,536. Exact copies of a point do not
    /// count, such as the corners that the triangles of an STL file repeat. (0 and -0 are equal.)
    /// More than 64 times as many points, copies included, are an error as well: so an iterator
    /// that never ends is one.
    ///
    /// If all of them are vertices it takes half a second; beyond, the time grows with the square of their number. Of
    /// larger meshes leave out what is inside or does not matter. A curved surface so finely
    /// divided that its points are off their neighbours' hull by rounding only takes up to 0.1 ms a
    /// point.
    pub const MAX_POINTS: usize = 1 << 16;

    /// The most points that are taken from an iterator.
    const MAX_TAKEN: usize = 64 * Self::MAX_POINTS;

    /// The hull of `points`.
    ///
    /// # Errors
    ///
    /// * [`ShapeError::NoPoints`] if there are none.
    /// * [`ShapeError::TooManyPoints`] if more than [`MAX_POINTS`](Self::MAX_POINTS) are different,
    ///   or more than 64 times as many are given.
    /// * [`ShapeError::NotFinite`] if a coordinate is NaN or infinite.
    pub fn new(points: impl IntoIterator<Item = V>) -> Result<Self, ShapeError> {
        let mut points = points.into_iter().fuse();
        // One more than allowed is enough to see that there are too many.
        let distinct = without_copies(points.by_ref().take(Self::MAX_TAKEN));
        let given: Vec<V> = distinct.take(Self::MAX_POINTS + 1).collect();
        Self::check(&given)?;
        if points.next().is_some() {
            return Err(ShapeError::TooManyPoints(Self::MAX_POINTS));
        }
        let places: Vec<_> = given.iter().map(|point| point.to_vec3()).collect();
        let needed = needed_points(&places).into_iter();
        let vertices = needed.filter_map(|index| given.get(index).copied());
        Ok(Self::made_of(vertices.collect()))
    }

    /// The hull of points of which none is to be dropped, because that has been done. (If it has not, they make the same
    /// hull, and it is slower.)
    #[cfg(feature = "serialize")]
    pub(super) fn of_vertices(vertices: Vec<V>) -> Result<Self, ShapeError> {
        Self::check(&vertices)?;
        Ok(Self::made_of(vertices.into()))
    }

    /// Accepts points of which a hull can be made.
    fn check(points: &[V]) -> Result<(), ShapeError> {
        if points.is_empty() {
            return Err(ShapeError::NoPoints);
        }
        if points.len() > Self::MAX_POINTS {
            return Err(ShapeError::TooManyPoints(Self::MAX_POINTS));
        }
        ShapeError::check_points("point of a convex hull", points)
    }

    fn made_of(points: Arc<[V]>) -> Self {
        let wide: Vec<_> = points.iter().map(|point| point.to_f64()).collect();
        Self {
            points,
            search: Search::new(&wide),
            edges: PolygonEdges::new(&wide).map(Arc::new),
        }
    }

    /// The vertices of the hull: those of the given points that are needed for it, in the order in which they were given.
    pub fn points(&self) -> &[V] {
        &self.points
    }
}

/// Hulls are the same if their vertices are, in the same order: all else is made of these.
impl<V: Space> PartialEq for ConvexHull<V> {
    fn eq(&self, other: &Self) -> bool {
        self.points == other.points
    }
}

impl<V: Space> Support for ConvexHull<V> {
    type Vector = V;

    #[inline]
    fn support(&self, direction: V::DVec) -> V::DVec {
        let found = match &self.search {
            Search::Lanes(lanes) => lanes.farthest(direction),
            Search::Table(table) => {
                let numbers = table.candidates(direction);
                numbers.map(|numbers| farthest_of(&self.points, numbers, direction))
            }
            Search::Scan => None,
        };
        found.unwrap_or_else(|| farthest(&self.points, direction))
    }

    #[inline]
    fn core(&self) -> Core<'_, V::DVec> {
        let edges = self.edges.as_ref();
        edges.map_or(Core::Opaque, |edges| Core::Polygon(edges.polygon()))
    }

    #[inline]
    fn vertex_bounds(&self, linear: MatrixOf<Self>) -> Option<[V::DVec; 2]> {
        (self.points.len() <= FEW).then(|| vertex_bounds(&self.points, linear))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DVec3, Vec3};

    /// As many points on the unit sphere, evenly: a spiral with the golden angle between neighbours.
    fn ball(vertices: usize) -> Vec<Vec3> {
        let place = |index| {
            let z = 1.0 - (2 * index + 1) as f32 / vertices as f32;
            let (sine, cosine) = (index as f32 * 2.399_963_2).sin_cos();
            let radius = (1.0 - z * z).sqrt();
            Vec3::new(radius * cosine, radius * sine, z)
        };
        (0..vertices).map(place).collect()
    }

    /// The vertices that the table lists for a direction, on average and at most, as it turns little by little.
    fn listed(vertices: usize) -> Result<(f64, usize), ShapeError> {
        let hull = ConvexHull::new(ball(vertices))?;
        assert_eq!(hull.points().len(), vertices);
        let Search::Table(table) = hull.search else {
            return Ok((0.0, 0));
        };
        let steps = 10_000;
        let counts: Vec<usize> = (0..steps)
            .map(|step| {
                let time = step as f64 * 0.01;
                let turned = [time.cos(), (0.7 * time).sin(), (0.31 * time).cos() + 0.1];
                let list = table.candidates(DVec3::from_array(turned));
                list.map_or(vertices, <[u32]>::len)
            })
            .collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        Ok((counts.iter().sum::<usize>() as f64 / steps as f64, most))
    }

    #[test]
    fn a_support_point_of_many_vertices_takes_no_more_work_than_one_of_few() {
        for vertices in [FEW + 1, 500, 2_000, 10_000] {
            let (mean, most) = listed(vertices).unwrap_or_default();
            assert!(
                (1.0..=8.0).contains(&mean) && most <= 16,
                "of {vertices}: {mean} in the mean, {most} at most"
            );
        }
    }

    #[test]
    fn few_vertices_are_looked_at_side_by_side() {
        let search = |vertices| ConvexHull::new(ball(vertices)).map(|hull| hull.search);
        assert!(matches!(search(8), Ok(Search::Lanes(_))));
        assert!(matches!(search(FEW), Ok(Search::Lanes(_))));
    }
}
