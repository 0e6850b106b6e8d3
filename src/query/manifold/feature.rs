//! The supporting features of two shapes: the face, edge or vertex that each has farthest along the
//! contact's normal.

use smallvec::SmallVec;

use crate::{
    query::{
        analytic::half_space::half_spaces,
        manifold::frame::{
            Across, ContactFrame, Corner, cross, distance, distance_to_edge, dot, minus,
            neighbours, plus, times,
        },
        minkowski::MinkowskiDifference,
    },
    shape::HalfSpace,
    space::{DVector, Pose},
    tolerance::{CONE, SAME_POINT, SLOPE},
};

/// Directions on the cone, in which the corners of a face are sought at first: (cos, sin) of the
/// multiples of 45 degrees, in order. The plane uses those along its one tangent.
const RING: [(f64, f64); 8] = {
    const HALF: f64 = core::f64::consts::FRAC_1_SQRT_2;
    [
        (1.0, 0.0),
        (HALF, HALF),
        (0.0, 1.0),
        (-HALF, HALF),
        (-1.0, 0.0),
        (-HALF, -HALF),
        (0.0, -1.0),
        (HALF, -HALF),
    ]
};

/// The most corners of a feature.
pub const MAX_CORNERS: usize = 48;

/// The most steps that straighten the line of a ridge. Two or three are enough, except for a tilted
/// shape that is much shorter than its radius.
const STRAIGHTENINGS: usize = 8;

/// The corners of a face in order, the ends of an edge, or a vertex.
pub type Corners = SmallVec<[Corner; MAX_CORNERS]>;

/// What a shape has farthest along the normal.
#[derive(Clone, Debug)]
pub enum Feature {
    /// A face, an edge or a vertex, and the point of the shape that is farthest along the normal.
    Sharp { corners: Corners, top: Corner },
    /// The line along which a curved surface touches: an edge, or a vertex if it has no length.
    Ridge(Corners),
    /// The plane of a half-space, which lies across the normal.
    Plane { height: f64 },
}

impl Feature {
    pub fn corners(&self) -> &[Corner] {
        match self {
            Self::Sharp { corners, .. } | Self::Ridge(corners) => corners,
            Self::Plane { .. } => &[],
        }
    }

    pub fn sides(&self) -> impl Iterator<Item = [Corner; 2]> {
        sides(self.corners())
    }

    /// The height at a point, or `None` if the point lies outside: see [`height_at`].
    pub fn height_at(&self, at: Across, near: f64, beside: f64) -> Option<f64> {
        match self {
            Self::Sharp { corners, .. } | Self::Ridge(corners) => {
                height_at(corners, at, near, beside)
            }
            Self::Plane { height } => Some(*height),
        }
    }

    /// Adds corners of the shape beyond edges that may hide more than `hidden`, if they are on the
    /// boundary of the intersection. Returns `true` if there are new corners.
    pub fn refine(
        &mut self,
        near: f64,
        hidden: f64,
        is_on_boundary: impl Fn([Corner; 2]) -> bool,
        look: impl Fn(Across) -> Corner,
    ) -> bool {
        let mut is_refined = false;
        let mut index = 0;
        while let Some(edge) = neighbours(self.corners(), index) {
            if is_on_boundary(edge)
                && let Some(corner) = self.beyond_edge(index, near, hidden, &look)
                && self.split_edge(index, corner)
            {
                is_refined = true;
                index += 1;
            }
            index += 1;
        }
        is_refined
    }

    /// Returns the shape's corner that is farthest beyond an edge, if the edge may hide more than
    /// `hidden`, and if there is one. Stores what the edge hides.
    pub fn beyond_edge(
        &mut self,
        index: usize,
        near: f64,
        hidden: f64,
        look: impl Fn(Across) -> Corner,
    ) -> Option<Corner> {
        let Self::Sharp { corners, top } = self else {
            return None;
        };
        let [start, end] = neighbours(corners, index)?;
        if start.hidden <= hidden {
            return None;
        }
        let (found, width) = beyond(*top, [start, end], near, look)?;
        let is_new = width > near && top.is_level_with(&found);
        let hidden = if is_new { width } else { 0.0 };
        if let Some(start) = corners.get_mut(index) {
            start.hidden = hidden;
        }
        is_new.then_some(Corner { hidden, ..found })
    }

    /// Returns the shape's corner that is farthest beyond the line from the first to the last of
    /// three corners, if it is by more than `least` beyond the second one, and the edge of the two
    /// that it splits.
    pub fn beyond_corner(
        &self,
        edges: [usize; 2],
        [before, corner, after]: [Corner; 3],
        least: f64,
        look: impl Fn(Across) -> Corner,
    ) -> Option<(usize, Corner)> {
        let Self::Sharp { corners, top } = self else {
            return None;
        };
        let edges = edges.map(|index| Some((index, neighbours(corners, index)?)));
        let edges = || edges.iter().flatten();
        if edges().all(|(_, [start, _])| start.hidden <= least) {
            return None;
        }
        let (found, width) = beyond(*top, [before, after], least, look)?;
        let line = minus(after.at, before.at);
        let old = cross(minus(corner.at, before.at), line) / dot(line, line).sqrt();
        if width - old <= least || !top.is_level_with(&found) {
            return None;
        }
        let side = |[start, end]: [Corner; 2]| {
            let line = minus(end.at, start.at);
            cross(minus(found.at, start.at), line) / dot(line, line).sqrt()
        };
        edges()
            .map(|(index, edge)| (side(*edge), index, edge))
            .filter(|(side, ..)| *side > 0.0)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, index, [start, _])| {
                let hidden = start.hidden;
                (*index, Corner { hidden, ..found })
            })
    }

    /// Adds a corner behind the one where an edge begins. Returns `false` if there is no room.
    pub fn split_edge(&mut self, index: usize, corner: Corner) -> bool {
        match self {
            Self::Sharp { corners, .. } if index < corners.len() && corners.len() < MAX_CORNERS => {
                corners.insert(index + 1, corner);
                true
            }
            _ => false,
        }
    }
}

/// Returns the support point beyond an edge, and its distance from the edge's line; `None` if the
/// edge is not longer than `near`.
fn beyond(
    top: Corner,
    [start, end]: [Corner; 2],
    near: f64,
    look: impl Fn(Across) -> Corner,
) -> Option<(Corner, f64)> {
    let line = minus(end.at, start.at);
    let length = dot(line, line).sqrt();
    if length.is_nan() || length <= near {
        return None;
    }
    let along = times(line, 1.0 / length);
    let out = [along[1], -along[0]];
    // With the edge's own slope, so that both of its ends are as high in this direction.
    let slope = (top.fall(&end) - top.fall(&start)) / length;
    let found = look(plus(times(out, CONE), times(along, slope)));
    Some((found, dot(minus(found.at, start.at), out)))
}

/// The features of the first shape along the normal, and of the second against it.
pub fn features<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    frame: &ContactFrame<D>,
    near: f64,
) -> [Feature; 2] {
    let [plane_a, plane_b] = half_spaces(pair);
    let [block_a, block_b] = pair.cores().map(|core| core.half_extents());
    let pose_a = Pose::IDENTITY;
    [
        match (plane_a, block_a) {
            (Some(HalfSpace { offset: height, .. }), _) => Feature::Plane { height },
            (None, Some(half)) => block(frame, frame.normal, half, &pose_a, near),
            (None, None) => feature::<D>(near, |tilt| frame.look_first(pair, tilt)),
        },
        match (plane_b, block_b) {
            (Some(HalfSpace { offset, .. }), _) => Feature::Plane { height: -offset },
            (None, Some(half)) => block(frame, -frame.normal, half, pair.relative(), near),
            (None, None) => feature::<D>(near, |tilt| frame.look_second(pair, tilt)),
        },
    ]
}

/// Returns the feature of a block along a direction. The sides of the block that are level enough
/// span its face or edge.
fn block<D: DVector>(
    frame: &ContactFrame<D>,
    direction: D,
    half: D,
    pose: &Pose<D>,
    near: f64,
) -> Feature {
    let inner = D::transpose(pose.rotation) * direction;
    let place = |corner: D| frame.corner(pose.rotation * corner + pose.translation);
    let top = half.copysign(inner);
    let highest = place(top);
    let mut corners = Corners::new();
    corners.push(highest);
    let mut sides: SmallVec<[D; 2]> = SmallVec::new();
    for index in 0..D::DIMENSION {
        let side = D::axis(index) * (-2.0 * top.component(index));
        let (fall, length) = (-side.dot(inner), side.length());
        // What the side is as long as across the direction, fall² + across² = length².
        let across = (length * length - fall * fall).max(0.0).sqrt();
        if length > near && fall <= SLOPE * across {
            sides.push(side);
        }
    }
    match *sides {
        [side] => corners.push(place(top + side)),
        [u, v, ..] => {
            let others = [place(top + u), place(top + u + v), place(top + v)];
            // In order counter-clockwise, however the block is turned.
            let turn = cross(
                minus(others[0].at, highest.at),
                minus(others[2].at, highest.at),
            );
            corners.extend(others);
            if turn < 0.0 {
                corners.reverse();
            }
            corners.retain(|corner| highest.is_level_with(corner));
        }
        [] => {}
    }
    let top = highest;
    Feature::Sharp { corners, top }
}

/// Returns the feature of a shape. `look` returns the support point along the normal, tilted
/// towards a point.
fn feature<D: DVector>(near: f64, look: impl Fn(Across) -> Corner) -> Feature {
    let top = look([0.0; 2]);
    let mut ring = Corners::new();
    for (cos, sin) in RING {
        if D::DIMENSION == 2 && sin != 0.0 {
            continue;
        }
        let corner = look([CONE * cos, CONE * sin]);
        if ring.iter().all(|old| distance(old.at, corner.at) > near) {
            ring.push(corner);
        }
    }
    let fall = |corner: &Corner| top.fall(corner);
    let is_flat = |corner: &Corner| top.is_level_with(corner);
    let is_top = |corner: &Corner| distance(top.at, corner.at) <= near;
    let mut corners = ring.clone();
    corners.retain(|corner| is_flat(corner) || is_top(corner));
    if corners.is_empty() {
        corners.push(top);
    }
    let others = ring.iter().filter(|corner| !is_top(corner)).count();
    // In the plane, there is nothing beyond the ends of an edge.
    let hidden = if D::DIMENSION == 2 {
        0.0
    } else {
        f64::INFINITY
    };
    corners.iter_mut().for_each(|corner| corner.hidden = hidden);
    let face = Feature::Sharp { corners, top };
    if others < 2 || face.corners().iter().all(is_top) {
        return face;
    }

    // The line from the top to a point that is far and little lower, weighed at half of `CONE`. On
    // radius r, an end that is y beside the true line of length l is lower by a slope of y² / 2rl.
    // A tilt by twice that slope finds an end that is only y³ / l² beside the line.
    let gain = |corner: &Corner| 0.5 * CONE * distance(top.at, corner.at) - fall(corner);
    let best = ring.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)));
    let mut end = best.copied().unwrap_or(top);
    let (mut along, mut slope) = ([0.0; 2], 0.0);
    for _ in 0..STRAIGHTENINGS {
        let line = minus(end.at, top.at);
        let length = dot(line, line).sqrt();
        if length > 0.0 {
            along = times(line, 1.0 / length);
            slope = fall(&end) / length;
        } else {
            break;
        }
        let next = look(times(along, 2.0 * slope + SAME_POINT));
        let moved = distance(end.at, next.at);
        end = next;
        if moved <= SAME_POINT * length {
            break;
        }
    }
    let [x, y] = along;
    // Decided by the surface beside the top, or else beside the other end: with the slope of the
    // line, both ends are equally high. (If the surface rises from there, the line bulges.)
    let is_no_face = |side: Across| {
        [0.0, slope]
            .into_iter()
            .map(|tilt| look(plus(times(side, CONE), times(along, tilt))))
            .map(|corner| (corner, dot(minus(corner.at, top.at), side)))
            .find(|(_, width)| *width > near)
            .is_none_or(|(corner, width)| {
                let line = slope * dot(minus(corner.at, top.at), along);
                (fall(&corner) - line).abs() > SLOPE * width
            })
    };
    if !(is_no_face([-y, x]) && is_no_face([y, -x])) {
        return face;
    }

    // The line ends at the top where the shape goes no farther, or bends.
    let back = times(along, -1.0);
    let mut ends = Corners::new();
    for (way, end) in [(along, end), (back, look(times(back, SAME_POINT)))] {
        let goes_on = is_flat(&look(times(way, CONE)));
        let end = if goes_on { end } else { top };
        if ends.iter().all(|other| distance(other.at, end.at) > near) {
            ends.push(end);
        }
    }
    Feature::Ridge(ends)
}
/// The edges of a feature in order: none of a vertex, one of an edge.
#[inline]
pub fn edges(corners: &[Corner]) -> impl Iterator<Item = [Corner; 2]> {
    let closing = if corners.len() > 2 {
        corners.first()
    } else {
        None
    };
    let ends = corners.iter().skip(1).chain(closing);
    corners.iter().zip(ends).map(|(start, end)| [*start, *end])
}

/// The edges all around a feature: an edge has two sides.
fn sides(corners: &[Corner]) -> impl Iterator<Item = [Corner; 2]> {
    let ends = corners.iter().cycle().skip(1);
    corners.iter().zip(ends).map(|(start, end)| [*start, *end])
}

/// Returns the height of a feature at a point, or `None` if the point is outside by more than
/// `near`. Beside a feature that is an edge, the limit is `beside`.
fn height_at(corners: &[Corner], at: Across, near: f64, beside: f64) -> Option<f64> {
    match corners {
        [] => None,
        [corner] => (distance(corner.at, at) <= near).then_some(corner.height),
        [start, end] => {
            let along = minus(end.at, start.at);
            let length = dot(along, along).sqrt();
            let way = minus(at, start.at);
            let t = dot(way, along) / (length * length);
            let beyond = (t - t.clamp(0.0, 1.0)).abs() * length;
            let inside = beyond <= near && cross(along, way).abs() <= beside * length;
            inside.then_some(start.height + t.clamp(0.0, 1.0) * (end.height - start.height))
        }
        _ => {
            let side = |[start, end]: [Corner; 2]| {
                let line = minus(end.at, start.at);
                (cross(line, minus(at, start.at)), line)
            };
            let is_outside = edges(corners)
                .map(side)
                .any(|(side, line)| side < 0.0 && side * side > near * near * dot(line, line));
            if is_outside {
                return None;
            }
            // Measured from the edges, not from their lines: past a sharp corner, a point can be
            // far from all edges and yet near to all lines.
            let inside = edges(corners).all(|edge| side(edge).0 >= 0.0)
                || edges(corners).any(|edge| distance_to_edge(at, edge) <= near);
            fan_height(corners, at).filter(|_| inside)
        }
    }
}

/// Returns the height of a face at a point within: on the triangle around the first corner that
/// contains the point, or else is nearest to that.
pub fn fan_height(corners: &[Corner], at: Across) -> Option<f64> {
    let apex = corners.first()?;
    let mut best: Option<(f64, f64)> = None;
    for [b, c] in edges(corners) {
        let [ab, ac, ap] = [b.at, c.at, at].map(|point| minus(point, apex.at));
        let area = cross(ab, ac);
        let (weight_b, weight_c) = (cross(ap, ac) / area, cross(ab, ap) / area);
        let worst = weight_b.min(weight_c).min(1.0 - weight_b - weight_c);
        let rise = weight_b * (b.height - apex.height) + weight_c * (c.height - apex.height);
        let height = apex.height + rise;
        if worst.is_finite() && height.is_finite() && best.is_none_or(|best| worst > best.0) {
            best = Some((worst, height));
            if worst >= 0.0 {
                break;
            }
        }
    }
    best.map(|(_, height)| height)
}
