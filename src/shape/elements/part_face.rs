//! The faces of convex parts, and the part of a face that another part does not cover. Unions of
//! parts (`joined/`) and of cells (`cells/`) consist of such faces.

use smallvec::SmallVec;

use crate::space::DVector;

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

/// Returns `true` if these are all faces of a part whose thickness along the normal of each face
/// exceeds `least`. A part has more faces than its dimension, which is 2 for a prism without caps
/// that stands for a polygon.
pub fn are_of_thick_part<D: DVector>(faces: &[PartFace<D>], dimension: usize, least: f64) -> bool {
    let corners = || faces.iter().flat_map(|face| &face.corners);
    let is_thick = |face: &PartFace<D>| corners().any(|corner| face.height(*corner) < -least);
    faces.len() > dimension && faces.iter().all(is_thick)
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
