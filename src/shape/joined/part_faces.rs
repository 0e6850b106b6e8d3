//! The faces of a convex part, and the part of a face that another part does not cover.

use smallvec::SmallVec;

use crate::{
    math::Vec2,
    shape::{Shape, ShapeError, boxes::bounds::Bounds, elements::facet::weld, hull::hull_faces},
    space::{DVector, Space},
};

/// A part is flat if its thickness along the normal of a face is at most this multiple of the
/// weld of its vertices. Both sides of a thinner part would count as the same points.
const LEAST_THICKNESS: f64 = 4.0;

/// Maximum number of vertices of a part. The time to find the faces grows with the square of the
/// number.
const MAX_POINTS: usize = 1024;

/// The corners of a convex polygon, in order. In 2D, the two ends of a segment.
pub type Polygon<D> = SmallVec<[D; 6]>;

/// A face of a convex part.
pub struct PartFace<D> {
    /// The outward unit normal.
    pub normal: D,
    /// A point of the face.
    base: D,
    pub corners: Polygon<D>,
}

impl<D: DVector> PartFace<D> {
    /// Creates the face with these corners. `middle` is a point inside the part.
    pub fn new(corners: Polygon<D>, middle: D) -> Option<Self> {
        let base = *corners.first()?;
        let edge = |corner: &D| *corner - base;
        let normal = if D::DIMENSION == 2 {
            D::perpendicular(&[edge(corners.last()?)])?
        } else {
            // The sum of the areas of the triangles at `base`.
            let triangles = corners.windows(2).filter_map(|ends| match ends {
                [a, b] => D::perpendicular(&[edge(a), edge(b)]),
                _ => None,
            });
            triangles.fold(D::ZERO, |sum, area| sum + area)
        };
        let normal = normal.unit()?.toward(base - middle);
        Some(Self {
            normal,
            base,
            corners,
        })
    }

    /// Returns the height of a point above the plane of the face.
    pub fn height(&self, point: D) -> f64 {
        (point - self.base).dot(self.normal)
    }
}

/// The faces of a convex part: of a polygon in 2D, of a polyhedron in 3D.
pub struct PartFaces<D> {
    pub faces: Vec<PartFace<D>>,
    /// The weld of the vertices.
    pub weld: f64,
}

impl<D: DVector> PartFaces<D> {
    /// Returns the faces of a shape under the map x -> `linear * x + translation`, or an error if
    /// the shape is flat, has a curved side, or has more than [`MAX_POINTS`] vertices.
    pub fn new<V: Space<DVec = D>>(
        shape: &Shape<V>,
        linear: D::Matrix,
        translation: D,
    ) -> Result<Self, ShapeError> {
        let local = vertices(shape).ok_or(ShapeError::PartNotPolyhedral)?;
        if local.len() > MAX_POINTS {
            return Err(ShapeError::TooManyPoints(MAX_POINTS));
        }
        let places: Vec<D> = local.iter().map(|it| linear * *it + translation).collect();
        let (middle, weld) = (D::mean(&places), weld(&places));
        let faces = hull_faces::<V>(&local).unwrap_or_default();
        let faces = faces.into_iter().filter_map(|corners| {
            let corners = corners.iter().filter_map(|index| places.get(*index));
            PartFace::new(corners.copied().collect(), middle)
        });
        let faces: Vec<PartFace<D>> = faces.collect();
        let is_thick = |face: &PartFace<D>| {
            let heights = places.iter().map(|place| face.height(*place));
            heights.fold(0.0, f64::min) < -LEAST_THICKNESS * weld
        };
        if faces.len() > D::DIMENSION && faces.iter().all(is_thick) {
            Ok(Self { faces, weld })
        } else {
            Err(ShapeError::PartNotPolyhedral)
        }
    }

    /// Returns the box around the part.
    pub fn bounds(&self) -> Bounds<D> {
        let faces = self.faces.iter();
        Bounds::of_points(faces.flat_map(|face| face.corners.iter().copied()))
    }

    /// Returns `true` if the part contains a point, up to a tolerance.
    pub fn contains(&self, point: D, tolerance: f64) -> bool {
        let mut faces = self.faces.iter();
        faces.all(|face| face.height(point) <= tolerance)
    }
}

/// Adds the pieces of a polygon that a part with these faces does not cover to `rest`. The polygon
/// is a piece of a face with the outward normal `normal`.
///
/// Points within `tolerance` of the part count as covered, unless the polygon would have to be cut.
/// So no sliver remains where two parts are flush only up to rounding. If two parts have a face in
/// the same plane, the face of the first part remains: `is_first` is `true` if the part that covers
/// comes first.
pub fn cut<D: DVector>(
    faces: &[PartFace<D>],
    polygon: &Polygon<D>,
    normal: D,
    is_first: bool,
    tolerance: f64,
    rest: &mut Vec<Polygon<D>>,
) {
    let start = rest.len();
    let mut inner = polygon.clone();
    for face in faces {
        let heights: SmallVec<[f64; 6]> = inner.iter().map(|it| face.height(*it)).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_level = lowest >= -tolerance;
        let is_below = highest <= tolerance;
        let is_same_face = is_level && is_below && face.normal.dot(normal) > 0.0;
        if is_level && !is_below || is_same_face && !is_first {
            rest.truncate(start);
            rest.push(polygon.clone());
            return;
        }
        if !is_below {
            let [below, above] = split(&inner, &heights);
            rest.push(above);
            inner = below;
        }
    }
}

/// Divides a polygon into the parts below and above a plane, given the heights of its corners.
fn split<D: DVector>(polygon: &Polygon<D>, heights: &[f64]) -> [Polygon<D>; 2] {
    let [mut below, mut above] = [Polygon::new(), Polygon::new()];
    let corners = polygon.iter().zip(heights);
    let next = corners.clone().cycle().skip(1);
    // A segment has no side from its last to its first end.
    let sides = if D::DIMENSION == 2 { 1 } else { polygon.len() };
    for (side, ((corner, height), (end, end_height))) in corners.zip(next).enumerate() {
        if *height <= 0.0 {
            below.push(*corner);
        }
        if *height >= 0.0 {
            above.push(*corner);
        }
        if side < sides && height * end_height < 0.0 {
            let crossing = *corner + (*end - *corner) * (height / (height - end_height));
            below.push(crossing);
            above.push(crossing);
        }
    }
    [below, above]
}

/// Returns the vertices of a shape, or `None` if the shape has a curved side, or has no sides.
pub fn vertices<V: Space>(shape: &Shape<V>) -> Option<Vec<V::DVec>> {
    let axes = (0..V::DVec::DIMENSION).map(V::DVec::axis);
    let in_f64 = |points: &[V]| points.iter().map(|point| point.to_f64()).collect();
    Some(match shape {
        Shape::Box { half_size } => axes.fold(vec![V::DVec::ZERO], |corners, axis| {
            let side = axis.scaled(half_size.to_f64());
            let both = corners.iter().flat_map(|it| [*it - side, *it + side]);
            both.collect()
        }),
        Shape::Diamond { half_diagonals } => {
            let tips = axes.map(|axis| axis.scaled(half_diagonals.to_f64()));
            tips.flat_map(|tip| [tip, -tip]).collect()
        }
        Shape::Triangle(points) => in_f64(points),
        Shape::Tetrahedron(points) => in_f64(points),
        Shape::Hull(hull) => in_f64(hull.points()),
        Shape::Extrusion { base, half_depth } => {
            let half_depth = f64::from(*half_depth);
            let outline = vertices::<Vec2>(base)?.into_iter();
            let ends = outline.flat_map(|it| [-half_depth, half_depth].map(|z| [it.x, it.y, z]));
            ends.map(V::DVec::of).collect()
        }
        Shape::Ball { .. }
        | Shape::Capsule { .. }
        | Shape::Ellipsoid { .. }
        | Shape::Frustum { .. }
        | Shape::Cap(_)
        | Shape::Segment(_)
        | Shape::HalfSpace { .. }
        | Shape::Rounded { .. }
        | Shape::Custom(_) => return None,
    })
}
