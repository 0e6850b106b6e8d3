//! Points, segments and boxes in closed form: the cores of balls, of capsules, and of boxes with or
//! without a margin.
//!
//! Points, segments and boxes are all boxes from -h to h in their own frame. The half extents h of
//! a point are 0, and the half extents of a segment have one nonzero component. This file solves
//! only well-conditioned pairs. GJK and EPA solve all other pairs. For example, if the cores are
//! too close, the direction between their nearest points is mere rounding error. The choice depends
//! only on the shapes and their poses, so all queries agree. If the shapes touch, but the cores of
//! a box and a segment do not, `separated_boxes.rs` computes the nearest points of these cores.
//!
//! Let c be the center of the second box, k its half extents, and b_j its axes, the columns of the
//! rotation R.
//!
//! **A point and a box.** The point of the box nearest to a point p is p clamped to ±h. If p is
//! inside the box, the normal is the normal of the nearest face. If p lies between the ends of a
//! segment, the normal is at right angles to the segment.
//!
//! **Two segments.** Let s h and c + t k b be points of the two segments, with s and t from -1 up
//! to 1. If a common perpendicular meets both segments, its ends are the nearest points. Otherwise
//! an end of one segment and the other segment's point nearest to this end are the nearest points.
//! See Ericson, "Real-Time Collision Detection" (2005), chapter 5.1.9. In 3D, the length of the
//! perpendicular is the component of c along h ∧ b. The direction of h ∧ b is precise even if the
//! segments nearly touch.
//!
//! **A box and a box or a segment.** The Minkowski difference is a zonotope: c plus all
//! combinations of ±h_i e_i and ±k_j b_j. Along a unit vector n with n·c >= 0, the gap between the
//! origin and the zonotope is
//!
//! ```text
//! g(n) = n·c - Σ |n_i| h_i - Σ |n·b_j| k_j
//! ```
//!
//! g(n) is a lower bound on the distance, and -g(n) an upper bound on the depth. The depth is the
//! minimum of -g(n) over the normals of the facets. These normals are the face normals of both
//! boxes and, in 3D, the cross products e_i ∧ b_j of two edges. These normals are the separating
//! axes of Gottschalk, Lin and Manocha, "OBBTree" (1996). The departures from that paper are:
//!
//! * The axes are unit vectors, because the depth is measured along them.
//! * The cross product of two edges is used only if its gap exceeds the gaps of all face normals by
//!   more than rounding. If a feature lies flat on a face, such a cross product equals the face
//!   normal.
//! * The contact points are computed as well.
//!
//! **Two boxes that are apart.** Each nearest point is the projection of the other. g(n) along the
//! vector between two points is a lower bound on the distance. If the bound is equal to the length
//! of this vector, the points are nearest.

use crate::{
    query::{
        analytic::{ClosedForm, separated_boxes},
        gjk::{Goal, Penetration},
        minkowski::MinkowskiDifference,
    },
    space::{DVector, Pose},
    tolerance::{CORE_CONTACT, FLAT_DEPTH, PARALLEL_EDGES, TOUCHING},
};

/// The number of alternating projections that find a common point of a face and a feature that lies
/// flat on the face.
const PROJECTIONS: usize = 4;

/// Two segments are not parallel if the squared cosine of their angle is less than this value. The
/// angle is far larger than the tilt of an edge that counts as level
/// ([`LEVEL_SLOPE`](crate::tolerance::LEVEL_SLOPE)).
const SKEW_COSINE_SQUARED: f64 = 0.98;

/// Solves a pair of boxes with these half extents. Returns `None` if GJK and EPA have to solve the
/// pair. Points that the goal does not need may be missing.
#[inline(always)]
pub fn solve<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    [first, second]: [D; 2],
    goal: Goal,
) -> Option<ClosedForm<D>> {
    let boxes = BoxPair::new(pair, [first, second])?;
    // In the canonical order of a pair, a point is the second shape.
    if second == D::ZERO {
        return Some(ClosedForm::Contact(boxes.with_point()));
    }
    let overlapping = |contact: Penetration<D>| match goal {
        Goal::Contact => contact.with_opposite_points(pair),
        _ => contact,
    };
    match [dimensions(first), dimensions(second)] {
        [1, 1] => Some(ClosedForm::Contact(overlapping(boxes.segments()?))),
        [size, other] if size == D::DIMENSION || other == D::DIMENSION => {
            let touching = pair.radius_sum() + TOUCHING * boxes.scale;
            let limit = match goal {
                Goal::Distance => f64::INFINITY,
                _ => touching,
            };
            let axis = boxes.separating_axis(limit);
            match goal {
                _ if axis.gap > 0.0 && axis.gap <= touching => {
                    separated_boxes::nearest(&boxes).map(ClosedForm::Contact)
                }
                Goal::Contact | Goal::Distance if axis.gap <= 0.0 => {
                    Some(ClosedForm::Contact(overlapping(boxes.contact(&axis))))
                }
                Goal::Distance if let Some(nearest) = boxes.nearest_beyond(&axis) => {
                    Some(ClosedForm::Contact(nearest))
                }
                _ => Some(ClosedForm::Verdict(axis.gap <= 0.0)),
            }
        }
        _ => None,
    }
}

/// Returns the number of nonzero components.
pub(super) fn dimensions<D: DVector>(half_extents: D) -> usize {
    (0..D::DIMENSION)
        .map(|index| usize::from(half_extents.component(index) != 0.0))
        .sum()
}

/// Returns the two points that are nearer to each other, or `points` if the distances are equal.
pub(super) fn nearer<D: DVector>(points: [D; 2], others: [D; 2]) -> [D; 2] {
    let square = |[first, second]: [D; 2]| (second - first).length_squared();
    if square(others) < square(points) {
        others
    } else {
        points
    }
}

/// Returns `true` if a box has faces at right angles to this axis.
pub fn has_face<D: DVector>(half_extents: D, axis: usize) -> bool {
    (0..D::DIMENSION).all(|index| index == axis || half_extents.component(index) != 0.0)
}

/// Returns the largest component of a box's points along a direction d: Σ |d_i| h_i.
pub(super) fn projected_radius<D: DVector>(half_extents: D, direction: D) -> f64 {
    direction.dot(half_extents.copysign(direction))
}

/// Returns a vector at right angles to two edges.
#[inline(always)]
pub(super) fn cross<D: DVector>(edge: D, other: D) -> D {
    D::perpendicular(&[edge, other]).unwrap_or(D::ZERO)
}

/// An axis along which boxes are separated or overlap.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) struct BoxAxis<D> {
    /// The unit vector from the first box to the second.
    normal: D,
    /// The gap g(n).
    gap: f64,
    source: AxisSource,
}

impl<D> BoxAxis<D> {
    /// Returns, for each box, `true` if the axis is the normal of one of the box's faces.
    pub fn has_faces(&self) -> [bool; 2] {
        match self.source {
            AxisSource::FirstFace => [true, false],
            AxisSource::SecondFace => [false, true],
            AxisSource::Edges(..) => [false, false],
        }
    }
}

/// The features to which an axis is orthogonal: a face of one box, or an edge of each box.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) enum AxisSource {
    FirstFace,
    SecondFace,
    /// For each box, the index of the axis along which the edge lies.
    Edges(usize, usize),
}

/// Two boxes, in the frame of the first box.
pub struct BoxPair<D: DVector> {
    pub half_extents: [D; 2],
    /// The pose of the second box.
    pub relative: Pose<D>,
    /// The scale of the pair: half the sum of the two diagonals, plus both radii.
    pub scale: f64,
}

impl<D: DVector> BoxPair<D> {
    /// Returns the boxes of a pair with these half extents, or `None` if a length is not finite.
    #[inline(always)]
    pub fn new(
        pair: &impl MinkowskiDifference<Vector = D>,
        [first, second]: [D; 2],
    ) -> Option<Self> {
        let scale = first.length() + second.length() + pair.radius_sum();
        let relative = *pair.relative();
        (scale.is_finite() && relative.translation.is_finite()).then_some(Self {
            half_extents: [first, second],
            relative,
            scale,
        })
    }

    /// Returns `true` if [`nearest`](Self::nearest) solves the pair: if one box is a point, or both
    /// are segments.
    pub fn has_distance(&self) -> bool {
        let [first, second] = self.half_extents.map(dimensions);
        second == 0 || (first == 1 && second == 1)
    }

    /// Returns the contact of a pair with [`has_distance`](Self::has_distance), or `None` for two
    /// segments that nearly touch.
    pub fn nearest(&self) -> Option<Penetration<D>> {
        if self.half_extents[1] == D::ZERO {
            Some(self.with_point())
        } else {
            self.segments()
        }
    }

    /// Returns the axis along a unit vector from the first box to the second.
    pub(in crate::query) fn axis_from(&self, normal: D, source: AxisSource) -> BoxAxis<D> {
        let [first, second] = self.half_extents;
        let inner = D::transpose(self.relative.rotation) * normal;
        let radii = projected_radius(first, normal) + projected_radius(second, inner);
        let gap = normal.dot(self.relative.translation) - radii;
        BoxAxis {
            normal,
            gap,
            source,
        }
    }

    /// Returns points of both boxes, given a function that computes the points of the pair with its
    /// boxes swapped.
    pub(super) fn with_swapped(&self, points: impl FnOnce(&Self) -> [D; 2]) -> [D; 2] {
        let [first, second] = self.half_extents;
        let rotation = D::transpose(self.relative.rotation);
        let [second, first] = points(&Self {
            half_extents: [second, first],
            relative: Pose {
                rotation,
                translation: rotation * -self.relative.translation,
            },
            scale: self.scale,
        });
        [first, second].map(|point| self.relative.rotation * point + self.relative.translation)
    }

    /// Returns the contact along a unit vector, given the gap and the points.
    #[inline(always)]
    fn penetration(&self, normal: D, gap: f64, [first, second]: [D; 2]) -> Penetration<D> {
        Penetration {
            normal,
            depth: -gap,
            first,
            second,
            scale: self.scale,
        }
    }

    /// Returns the contact of a box or a point and the second shape, a point.
    #[inline(always)]
    fn with_point(&self) -> Penetration<D> {
        if self.half_extents[0] == D::ZERO {
            self.points()
        } else {
            self.box_and_point()
        }
    }

    /// Returns the contact of two points.
    #[inline(always)]
    fn points(&self) -> Penetration<D> {
        let second = self.relative.translation;
        let normal = second.unit().unwrap_or(D::axis(0));
        self.penetration(normal, second.length(), [D::ZERO, second])
    }

    /// Returns the contact of a box and a point.
    #[inline(always)]
    fn box_and_point(&self) -> Penetration<D> {
        let [half_extents, _] = self.half_extents;
        let second = self.relative.translation;
        let first = second.clamped(half_extents);
        let offset = second - first;
        match offset.unit() {
            Some(normal) => self.penetration(normal, offset.length(), [first, second]),
            None => self.box_and_point_inside(),
        }
    }

    /// Returns the contact of a box and a point inside the box.
    #[inline(always)]
    fn box_and_point_inside(&self) -> Penetration<D> {
        let [half_extents, _] = self.half_extents;
        let second = self.relative.translation;
        let mut depth = f64::INFINITY;
        let mut normal = D::axis(0);
        for index in 0..D::DIMENSION {
            let axis = D::axis(index).toward(second);
            let face_depth = axis.dot(half_extents.copysign(axis) - second);
            if face_depth < depth {
                (depth, normal) = (face_depth, axis);
            }
        }
        self.penetration(normal, -depth, [second + normal * depth, second])
    }

    /// Returns `true` if both boxes are segments in 3D at an angle of more than 8 degrees, which
    /// touch in one point at most.
    pub fn has_skew_segments(&self) -> bool {
        if D::DIMENSION == 2 || self.half_extents.map(dimensions) != [1, 1] {
            return false;
        }
        let [first, second] = self.half_extents;
        let cosine = first.dot(self.relative.rotation * second);
        cosine * cosine < SKEW_COSINE_SQUARED * first.length_squared() * second.length_squared()
    }

    /// Returns the contact of two segments, or `None` if they touch without crossing each other.
    fn segments(&self) -> Option<Penetration<D>> {
        let c = self.relative.translation;
        let [u, w] = [
            self.half_extents[0],
            self.relative.rotation * self.half_extents[1],
        ];
        let [uu, ww, uw] = [u.dot(u), w.dot(w), u.dot(w)];
        let [cu, cw] = [c.dot(u), c.dot(w)];
        let points_at = |s: f64, t: f64| [u * s, c + w * t];
        // Let d be the vector from a segment's center to its end, and q a point relative to this
        // center. Given q·d and d·d, `clamped` returns the parameter of the segment's point nearest
        // to q.
        let clamped = |along: f64, square: f64| {
            if square > 0.0 {
                (along / square).clamp(-1.0, 1.0)
            } else {
                0.0
            }
        };
        let at_second_end = |t: f64| points_at(clamped(cu + uw * t, uu), t);
        let at_first_end = |s: f64| points_at(s, clamped(uw * s - cw, ww));
        let Some([s, t]) = nearest_on_lines(u, w, c) else {
            let ends = [
                at_second_end(1.0),
                at_second_end(-1.0),
                at_first_end(1.0),
                at_first_end(-1.0),
            ];
            return self.apart(ends.into_iter().reduce(nearer)?);
        };
        if s.abs() > 1.0 || t.abs() > 1.0 {
            // The squared distance is a convex function of s and t. So its minimum over the square
            // of both segments is on a side of the square that faces the minimum over both lines.
            let ends = nearer(at_second_end(t.signum()), at_first_end(s.signum()));
            return self.apart(ends);
        }
        let Some(normal) = D::perpendicular(&[u, w]) else {
            // This branch is only for 2D. The segments cross, and no vector is perpendicular to
            // both segments.
            let axis = self.separating_axis(f64::INFINITY);
            return (axis.gap <= 0.0).then(|| self.contact(&axis));
        };
        let normal = normal.unit()?.toward(c);
        Some(self.penetration(normal, normal.dot(c), points_at(s, t)))
    }

    /// Returns the contact of boxes that are apart, given their nearest points. Returns `None` if
    /// the boxes nearly touch.
    #[inline(always)]
    pub(super) fn apart(&self, nearest: [D; 2]) -> Option<Penetration<D>> {
        let offset = nearest[1] - nearest[0];
        let gap = offset.length();
        let is_precise = gap > CORE_CONTACT * self.scale;
        is_precise.then_some(self.penetration(offset.unit()?, gap, nearest))
    }

    /// Returns the contact of boxes that are apart, given the axis with the largest gap. Returns
    /// `None` if GJK has to find the nearest points.
    fn nearest_beyond(&self, axis: &BoxAxis<D>) -> Option<Penetration<D>> {
        let are_boxes = self.half_extents.map(dimensions) == [D::DIMENSION; 2];
        let projected = if are_boxes {
            self.nearest_along(axis)
        } else {
            None
        };
        let nearest = projected.or_else(|| separated_boxes::nearest(self))?;
        // The gap is a lower bound on the distance. So this query and the others agree that the
        // boxes are apart.
        let depth = nearest.depth.min(-axis.gap);
        Some(Penetration { depth, ..nearest })
    }

    /// Returns the contact of boxes that are apart, with the points nearest to each other. Returns
    /// `None` if a few projections of one point do not find these points.
    ///
    /// The search begins at the points of the axis with the largest gap. In 2D, these points are
    /// the nearest points, like those of two polygons (`polygons.rs`). Each projection then moves a
    /// point to the nearest point of the other box. The search ends when the distance meets the gap
    /// along the vector between the points, which is a lower bound.
    fn nearest_along(&self, axis: &BoxAxis<D>) -> Option<Penetration<D>> {
        let [half_extents, other] = self.half_extents;
        let Pose {
            rotation,
            translation,
        } = self.relative;
        let inverse = D::transpose(rotation);
        let mut nearest = self.contact(axis);
        for _ in 0..=PROJECTIONS {
            let contact = self.apart([nearest.first, nearest.second])?;
            let (distance, normal) = (-contact.depth, contact.normal);
            let tolerance = f64::EPSILON * (self.scale + distance);
            if distance - axis.gap <= tolerance
                || distance - self.axis_from(normal, axis.source).gap <= tolerance
            {
                return Some(contact);
            }
            let first = nearest.second.clamped(half_extents);
            let second = rotation * (inverse * (first - translation)).clamped(other) + translation;
            nearest = Penetration {
                first,
                second,
                ..nearest
            };
        }
        None
    }

    /// Returns the axis with the largest gap, or any axis whose gap exceeds `limit`.
    #[inline(always)]
    fn separating_axis(&self, limit: f64) -> BoxAxis<D> {
        let face = self.face_axis();
        if D::DIMENSION == 2 || face.gap > limit {
            return face;
        }
        self.edge_axis()
            .filter(|edges| edges.gap > face.gap + FLAT_DEPTH * self.scale)
            .unwrap_or(face)
    }

    /// Returns the face normal with the largest gap.
    // Gaps are compared without branches, because the processor cannot predict which gap is larger.
    // The loop keeps only the index of the best axis. The axis is computed at the end.
    #[inline(always)]
    fn face_axis(&self) -> BoxAxis<D> {
        let (rotation, c) = (self.relative.rotation, self.relative.translation);
        let inverse = D::transpose(rotation);
        let [first, second] = self.half_extents;
        let (mut gap, mut number) = (f64::NEG_INFINITY, 0);
        for index in 0..D::DIMENSION {
            // In the frame of the other box, the axis is a row or a column of the rotation.
            let (row, column) = (D::column(inverse, index), D::column(rotation, index));
            let first_gap = c.component(index).abs() - first.component(index);
            let second_gap = column.dot(c).abs() - second.component(index);
            let first_gap = first_gap - projected_radius(second, row);
            let second_gap = second_gap - projected_radius(first, column);
            let is_better = first_gap > gap && has_face(first, index);
            gap = if is_better { first_gap } else { gap };
            number = if is_better { 2 * index } else { number };
            let is_better = second_gap > gap && has_face(second, index);
            gap = if is_better { second_gap } else { gap };
            number = if is_better { 2 * index + 1 } else { number };
        }
        let (index, is_of_second) = (number / 2, number % 2 == 1);
        let (axis, source) = if is_of_second {
            (D::column(rotation, index), AxisSource::SecondFace)
        } else {
            (D::axis(index), AxisSource::FirstFace)
        };
        BoxAxis {
            normal: axis.toward(c),
            gap,
            source,
        }
    }

    /// Returns the axis with the largest gap among the cross products of two edges.
    #[inline(never)]
    fn edge_axis(&self) -> Option<BoxAxis<D>> {
        let (rotation, c) = (self.relative.rotation, self.relative.translation);
        let inverse = D::transpose(rotation);
        let [first, second] = self.half_extents;
        let (mut gap, mut number) = (f64::NEG_INFINITY, 0);
        for index in 0..D::DIMENSION {
            for other in 0..D::DIMENSION {
                // Let l be the length of the axis. In the frame of the second box, the axis is Rᵀ
                // (e_i ∧ b_j) = Rᵀ e_i ∧ e_j.
                let axis = cross(D::axis(index), D::column(rotation, other));
                let inner = cross(D::column(inverse, index), D::axis(other));
                let square = axis.length_squared();
                // This value is l times the gap g(n) of the file head.
                let scaled_gap = axis.dot(c).abs()
                    - projected_radius(first, axis)
                    - projected_radius(second, inner);
                let edge_gap = scaled_gap / square.sqrt();
                let are_edges = first.component(index) != 0.0 && second.component(other) != 0.0;
                let is_better = are_edges && square > PARALLEL_EDGES && edge_gap > gap;
                gap = if is_better { edge_gap } else { gap };
                number = if is_better { 3 * index + other } else { number };
            }
        }
        let (index, other) = (number / 3, number % 3);
        let axis = cross(D::axis(index), D::column(rotation, other)).unit()?;
        Some(BoxAxis {
            normal: axis.toward(c),
            gap,
            source: AxisSource::Edges(index, other),
        })
    }

    /// Returns the contact along an axis.
    pub(in crate::query) fn contact(&self, axis: &BoxAxis<D>) -> Penetration<D> {
        let points = match axis.source {
            AxisSource::FirstFace => self.points_on_face(axis.normal, -axis.gap),
            AxisSource::SecondFace => self.with_swapped(|swapped| {
                let normal = swapped.relative.rotation * -axis.normal;
                swapped.points_on_face(normal, -axis.gap)
            }),
            AxisSource::Edges(index, other) => self.points_on_edges(axis.normal, index, other),
        };
        self.penetration(axis.normal, axis.gap, points)
    }

    /// Returns the points of a contact with a face of the first box. `normal` is the outward normal
    /// of this face.
    ///
    /// The second point is the deepest corner of the second box. If a whole edge or face is equally
    /// deep, alternating projections find a point of this edge or face above the first box's face.
    fn points_on_face(&self, normal: D, depth: f64) -> [D; 2] {
        let [half_extents, other] = self.half_extents;
        let rotation = self.relative.rotation;
        let inner = D::transpose(rotation) * -normal;
        let mut corner = D::ZERO;
        let mut free = D::ZERO;
        for index in 0..D::DIMENSION {
            let extent = D::axis(index) * other.component(index);
            if (inner.component(index) * other.component(index)).abs() <= FLAT_DEPTH * self.scale {
                free = free + extent;
            } else {
                corner = corner + extent;
            }
        }
        let corner = self.relative.translation + rotation * corner.copysign(inner);
        let mut second = corner;
        let mut first = (second + normal * depth).clamped(half_extents);
        if free != D::ZERO {
            for _ in 0..PROJECTIONS {
                let offset = (D::transpose(rotation) * (first - corner)).clamped(free);
                second = corner + rotation * offset;
                first = (second + normal * depth).clamped(half_extents);
            }
        }
        [first, second]
    }

    /// Returns the nearest points of two edges. `index` and `other` are the axes of the edges.
    fn points_on_edges(&self, normal: D, index: usize, other: usize) -> [D; 2] {
        let [first, second] = self.half_extents;
        let rotation = self.relative.rotation;
        let inner = D::transpose(rotation) * -normal;
        let [u, w] = [D::axis(index), D::column(rotation, other)];
        let [half_u, half_w] = [first.component(index), second.component(other)];
        // The points a and b are the centers of the edges.
        let a = first.copysign(normal);
        let a = a - u * a.component(index);
        let b = second.copysign(inner);
        let b = rotation * (b - D::axis(other) * b.component(other)) + self.relative.translation;
        let [s, t] = nearest_on_lines(u, w, b - a).unwrap_or([0.0; 2]);
        [
            a + u * s.clamp(-half_u, half_u),
            b + w * t.clamp(-half_w, half_w),
        ]
    }
}

/// Returns the parameters s and t of the nearest points of the lines s u and c + t w, or `None` if
/// the lines are parallel.
///
/// Let m be the common perpendicular along n = u ∧ w, with s u + m = c + t w. The wedge products of
/// both sides of this equation with w and with u, multiplied by n, give s n·n = (c ∧ w)·n and t n·n
/// = (c ∧ u)·n.
fn nearest_on_lines<D: DVector>(u: D, w: D, c: D) -> Option<[f64; 2]> {
    let normal = u.wedge(w);
    let square = D::dot_areas(normal, normal);
    let parameter = |direction: D| D::dot_areas(c.wedge(direction), normal) / square;
    (square > PARALLEL_EDGES * u.length_squared() * w.length_squared())
        .then(|| [parameter(w), parameter(u)])
}
