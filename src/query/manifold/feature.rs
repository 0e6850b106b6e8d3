//! The supporting feature of each shape: the face, edge or vertex that is farthest along the
//! contact normal.

use smallvec::SmallVec;

use crate::{
    math::DVec2,
    query::{
        manifold::frame::{ContactFrame, FeatureCorner, distance_to_edge, edge_at},
        minkowski::MinkowskiDifference,
    },
    shape::Core,
    space::{DVector, Pose},
    tolerance::{CONE_SLOPE, LEVEL_SLOPE, SAME_MANIFOLD_POINT},
};

/// The first directions of the search for the corners of a face, as (cos, sin) of the angle around
/// the normal: the multiples of 45 degrees, in order. In 2D, only the two directions along the
/// first tangent are used.
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

/// The maximum number of corners of a feature.
pub const MAX_CORNERS: usize = 48;

/// The maximum number of steps that straighten the line of a ridge. Two or three steps are enough,
/// except for a tilted shape that is much shorter than its radius.
const MAX_STRAIGHTENINGS: usize = 8;

/// The corners of a face in order, the ends of an edge, or a vertex.
pub type FeatureCorners = SmallVec<[FeatureCorner; MAX_CORNERS]>;

/// The supporting feature of a shape. Features are large, so they are filled in place and never
/// moved.
#[derive(Debug)]
pub struct Feature {
    pub kind: FeatureKind,
    pub corners: FeatureCorners,
}

/// The kind of a supporting feature.
#[derive(Clone, Copy, Debug)]
pub enum FeatureKind {
    /// A face, an edge or a vertex, and the support point along the normal.
    Sharp { top: FeatureCorner },
    /// The line along which a curved surface touches: an edge, or a vertex if the line has no
    /// length.
    Ridge,
    /// The plane of a half-space, which is at right angles to the normal. This feature has no
    /// corners.
    Plane { height: f64 },
}

impl Feature {
    /// Returns a feature without corners, which [`fill_feature`] fills.
    pub fn empty() -> Self {
        Self {
            kind: FeatureKind::Ridge,
            corners: FeatureCorners::new(),
        }
    }

    /// Returns `true` if the feature is a vertex at a position, up to `near`.
    pub fn is_vertex_at(&self, position: DVec2, near: f64) -> bool {
        match *self.corners {
            [corner] => corner.position.distance(position) <= near,
            _ => false,
        }
    }

    /// Returns all edges of the outline. A feature that is an edge is returned in both directions.
    pub fn outline(&self) -> impl Iterator<Item = [FeatureCorner; 2]> {
        let corners = &self.corners;
        (0..corners.len()).filter_map(|index| edge_at(corners, index))
    }

    /// Returns the height at a position, or `None` if the position is outside the feature by more
    /// than `near`. Beside a feature that is an edge, the limit is `edge_margin`.
    pub fn height_at(&self, position: DVec2, near: f64, edge_margin: f64) -> Option<f64> {
        let corners = &*self.corners;
        match corners {
            _ if let FeatureKind::Plane { height } = self.kind => Some(height),
            [] => None,
            [corner] => (corner.position.distance(position) <= near).then_some(corner.height),
            [start, end] => {
                let line = end.position - start.position;
                let length = line.length();
                let offset = position - start.position;
                let t = offset.dot(line) / (length * length);
                let beyond = (t - t.clamp(0.0, 1.0)).abs() * length;
                let is_inside =
                    beyond <= near && line.perp_dot(offset).abs() <= edge_margin * length;
                is_inside.then_some(start.height + t.clamp(0.0, 1.0) * (end.height - start.height))
            }
            _ => {
                let area = |[start, end]: [FeatureCorner; 2]| {
                    let line = end.position - start.position;
                    (line.perp_dot(position - start.position), line)
                };
                let is_outside = edges(corners)
                    .map(area)
                    .any(|(area, line)| area < 0.0 && area * area > near * near * line.dot(line));
                if is_outside {
                    return None;
                }
                // The test uses the distance to the edges, not the distance to the infinite lines
                // through them. Beyond a sharp corner, a point can be near all lines, but far from
                // all edges.
                let is_inside = edges(corners).all(|edge| area(edge).0 >= 0.0)
                    || edges(corners).any(|edge| distance_to_edge(position, edge) <= near);
                fan_height(corners, position).filter(|_| is_inside)
            }
        }
    }

    /// Returns `true` if an edge may hide more than `near`. Only the edges of sharp features hide
    /// anything.
    pub fn may_hide(&self, near: f64) -> bool {
        let is_sharp = matches!(self.kind, FeatureKind::Sharp { .. });
        is_sharp && self.corners.iter().any(|corner| corner.hidden > near)
    }

    /// Splits the edges on the boundary of the intersection that may hide more than `hidden`.
    /// Returns `true` if there are new corners.
    pub fn refine(
        &mut self,
        near: f64,
        hidden: f64,
        is_on_boundary: impl Fn([FeatureCorner; 2]) -> bool,
        support: impl Fn(DVec2) -> FeatureCorner,
    ) -> bool {
        let mut is_refined = false;
        let mut index = 0;
        while let Some(edge) = edge_at(&self.corners, index) {
            if is_on_boundary(edge)
                && let Some(corner) = self.corner_beyond_edge(index, near, hidden, &support)
                && self.corners.len() < MAX_CORNERS
            {
                is_refined = true;
                index += 1;
                self.corners.insert(index, corner);
            }
            index += 1;
        }
        is_refined
    }

    /// Updates the `hidden` field of an edge, and returns the shape's corner farthest beyond the
    /// edge. Returns `None` if the edge hides at most `hidden`, or if no new corner exists.
    fn corner_beyond_edge(
        &mut self,
        index: usize,
        near: f64,
        hidden: f64,
        support: impl Fn(DVec2) -> FeatureCorner,
    ) -> Option<FeatureCorner> {
        let FeatureKind::Sharp { top } = self.kind else {
            return None;
        };
        let [start, end] = edge_at(&self.corners, index)?;
        if start.hidden <= hidden {
            return None;
        }
        let (found, width) = support_beyond(top, [start, end], near, support)?;
        let is_new = width > near && top.is_level_with(&found);
        let hidden = if is_new { width } else { 0.0 };
        if let Some(start) = self.corners.get_mut(index) {
            start.hidden = hidden;
        }
        is_new.then_some(FeatureCorner { hidden, ..found })
    }
}

/// Returns the support point beyond an edge, and its distance beyond the edge's line. Returns
/// `None` if the edge is not longer than `near`.
fn support_beyond(
    top: FeatureCorner,
    [start, end]: [FeatureCorner; 2],
    near: f64,
    support: impl Fn(DVec2) -> FeatureCorner,
) -> Option<(FeatureCorner, f64)> {
    let line = end.position - start.position;
    let length = line.length();
    if length.is_nan() || length <= near {
        return None;
    }
    let along = line * (1.0 / length);
    let outward = -along.perp();
    // The direction is tilted along the edge by the edge's slope. Along this direction, both ends
    // of the edge are equally high.
    let slope = (top.drop_to(&end) - top.drop_to(&start)) / length;
    let found = support(outward * CONE_SLOPE + along * slope);
    Some((found, (found.position - start.position).dot(outward)))
}

/// Fills the empty supporting feature of the first shape (0) along the normal, or of the second
/// shape (1) in the opposite direction.
pub fn fill_feature<D: DVector>(
    feature: &mut Feature,
    shape: usize,
    pair: &impl MinkowskiDifference<Vector = D>,
    frame: &ContactFrame<D>,
    near: f64,
) {
    let [first, second] = pair.cores();
    let (core, direction, pose) = match shape {
        0 => (first, frame.normal, &Pose::IDENTITY),
        _ => (second, -frame.normal, pair.relative()),
    };
    let corners = &mut feature.corners;
    feature.kind = match core {
        Core::HalfSpace(half_space) => {
            let offset = half_space.placed(pose).offset;
            let height = if shape == 0 { offset } else { -offset };
            FeatureKind::Plane { height }
        }
        Core::Box { half_extents } => {
            fill_of_box(corners, frame, direction, half_extents, pose, near)
        }
        Core::Polygon(_) | Core::Opaque => {
            fill_of_shape::<D>(corners, near, |tilt| frame.support(pair, shape, tilt))
        }
    };
}

/// Fills the corners of a box's feature along a direction. The edges of the box that are nearly at
/// right angles to the direction span this feature.
fn fill_of_box<D: DVector>(
    corners: &mut FeatureCorners,
    frame: &ContactFrame<D>,
    direction: D,
    half_extents: D,
    pose: &Pose<D>,
    near: f64,
) -> FeatureKind {
    let inner = D::transpose(pose.rotation) * direction;
    let corner_at = |corner: D| frame.corner(pose.rotation * corner + pose.translation);
    let highest = half_extents.copysign(inner);
    let top = corner_at(highest);
    corners.push(top);
    let mut edges: SmallVec<[D; 2]> = SmallVec::new();
    for index in 0..D::DIMENSION {
        let edge = D::axis(index) * (-2.0 * highest.component(index));
        let (drop, length) = (-edge.dot(inner), edge.length());
        // `across` is the length of the edge's component perpendicular to the direction.
        let across = (length * length - drop * drop).max(0.0).sqrt();
        if length > near && drop <= LEVEL_SLOPE * across {
            edges.push(edge);
        }
    }
    match *edges {
        [edge] => corners.push(corner_at(highest + edge)),
        [u, v, ..] => {
            let others = [highest + u, highest + u + v, highest + v].map(corner_at);
            let [u, _, v] = others.map(|corner| corner.position - top.position);
            corners.extend(others);
            if u.perp_dot(v) < 0.0 {
                corners.reverse();
            }
            corners.retain(|corner| top.is_level_with(corner));
        }
        [] => {}
    }
    FeatureKind::Sharp { top }
}

/// Fills the corners of a shape's feature from support points alone. `support` returns the support
/// point along the normal, tilted by a vector.
fn fill_of_shape<D: DVector>(
    corners: &mut FeatureCorners,
    near: f64,
    support: impl Fn(DVec2) -> FeatureCorner,
) -> FeatureKind {
    let top = support(DVec2::ZERO);
    let mut ring: SmallVec<[FeatureCorner; RING.len()]> = SmallVec::new();
    for (cos, sin) in RING {
        if D::DIMENSION == 2 && sin != 0.0 {
            continue;
        }
        let corner = support(DVec2::new(CONE_SLOPE * cos, CONE_SLOPE * sin));
        let is_new = |old: &FeatureCorner| old.position.distance(corner.position) > near;
        if ring.iter().all(is_new) {
            ring.push(corner);
        }
    }
    let is_top = |corner: &FeatureCorner| top.position.distance(corner.position) <= near;
    let is_level = |corner: &&FeatureCorner| top.is_level_with(corner) || is_top(corner);
    corners.extend(ring.iter().filter(is_level).copied());
    if corners.is_empty() {
        corners.push(top);
    }
    // In 2D, an edge hides nothing. In 3D, the hidden distance is not known yet.
    let hidden = if D::DIMENSION == 2 {
        0.0
    } else {
        f64::INFINITY
    };
    corners.iter_mut().for_each(|corner| corner.hidden = hidden);
    let others = ring.iter().filter(|corner| !is_top(corner)).count();
    if others >= 2
        && !corners.iter().all(is_top)
        && let Some(ends) = ridge(top, &ring, near, support)
    {
        corners.clear();
        corners.extend(ends);
        return FeatureKind::Ridge;
    }
    FeatureKind::Sharp { top }
}

/// Returns the ends of the line through the top of a surface that is curved in one direction only,
/// or `None` if the surface is a face. `ring` holds support points around the top.
fn ridge(
    top: FeatureCorner,
    ring: &[FeatureCorner],
    near: f64,
    support: impl Fn(DVec2) -> FeatureCorner,
) -> Option<SmallVec<[FeatureCorner; 2]>> {
    let RidgeLine { end, along, slope } = straighten(top, ring, &support);
    // The support point in the first direction shows whether the surface beside the top falls away.
    // If this point is too near the top to show that, the second direction is tried. The second
    // direction is tilted by the slope of the line, so that both ends of the line are equally high.
    // The support point in this direction lies beside the end opposite to the top. If the line
    // bulges, the surface beside the line may even rise.
    let falls_away = |side: DVec2| {
        [0.0, slope]
            .into_iter()
            .map(|tilt| support(side * CONE_SLOPE + along * tilt))
            .map(|corner| (corner, (corner.position - top.position).dot(side)))
            .find(|(_, width)| *width > near)
            .is_none_or(|(corner, width)| {
                let line = slope * (corner.position - top.position).dot(along);
                (top.drop_to(&corner) - line).abs() > LEVEL_SLOPE * width
            })
    };
    if !(falls_away(along.perp()) && falls_away(-along.perp())) {
        return None;
    }
    // The top is an end of the line if the shape extends no farther, or if the surface bends at the
    // top.
    let back = -along;
    let mut ends: SmallVec<[FeatureCorner; 2]> = SmallVec::new();
    for (direction, end) in [(along, end), (back, support(back * SAME_MANIFOLD_POINT))] {
        let continues = top.is_level_with(&support(direction * CONE_SLOPE));
        let end = if continues { end } else { top };
        let is_new = |old: &FeatureCorner| old.position.distance(end.position) > near;
        if ends.iter().all(is_new) {
            ends.push(end);
        }
    }
    Some(ends)
}

/// The edge of a feature from its support point (`top`) to `end`.
struct RidgeLine {
    end: FeatureCorner,
    /// The unit vector toward the end of the line.
    along: DVec2,
    /// The drop from the top to the end, divided by the length.
    slope: f64,
}

/// Returns the line from the top to a point that is far away and only slightly lower.
///
/// Let y be the distance of the end from the true line, which has the length l. On a surface of
/// radius r, the end is y² / 2r lower than the line, which is a slope of y² / 2rl. The support
/// point in a direction tilted by twice that slope is only y³ / l² beside the line.
fn straighten(
    top: FeatureCorner,
    ring: &[FeatureCorner],
    support: impl Fn(DVec2) -> FeatureCorner,
) -> RidgeLine {
    // The best corner is far from the top, and only a little lower than the top.
    let gain = |corner: &FeatureCorner| {
        0.5 * CONE_SLOPE * top.position.distance(corner.position) - top.drop_to(corner)
    };
    let best = ring.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)));
    let mut end = best.copied().unwrap_or(top);
    let (mut along, mut slope) = (DVec2::ZERO, 0.0);
    for _ in 0..MAX_STRAIGHTENINGS {
        let line = end.position - top.position;
        let length = line.length();
        if length > 0.0 {
            along = line * (1.0 / length);
            slope = top.drop_to(&end) / length;
        } else {
            break;
        }
        let next = support(along * (2.0 * slope + SAME_MANIFOLD_POINT));
        let moved = end.position.distance(next.position);
        end = next;
        if moved <= SAME_MANIFOLD_POINT * length {
            break;
        }
    }
    RidgeLine { end, along, slope }
}

/// Returns the edges of a feature in order: none for a vertex, one for an edge.
pub fn edges(corners: &[FeatureCorner]) -> impl Iterator<Item = [FeatureCorner; 2]> {
    let closing = corners.first().filter(|_| corners.len() > 2);
    let ends = corners.iter().skip(1).chain(closing);
    corners.iter().zip(ends).map(|(start, end)| [*start, *end])
}

/// Returns the height of a face at a position inside the face. The face is divided into a fan of
/// triangles around its first corner. The triangle that contains the position, or else the nearest
/// triangle, gives the height.
fn fan_height(corners: &[FeatureCorner], position: DVec2) -> Option<f64> {
    let apex = corners.first()?;
    let mut best: Option<(f64, f64)> = None;
    for [b, c] in edges(corners) {
        let [ab, ac, ap] = [b.position, c.position, position].map(|point| point - apex.position);
        let area = ab.perp_dot(ac);
        let (weight_b, weight_c) = (ap.perp_dot(ac) / area, ab.perp_dot(ap) / area);
        let min_weight = weight_b.min(weight_c).min(1.0 - weight_b - weight_c);
        let rise = weight_b * (b.height - apex.height) + weight_c * (c.height - apex.height);
        let height = apex.height + rise;
        if min_weight.is_finite()
            && height.is_finite()
            && best.is_none_or(|best| min_weight > best.0)
        {
            best = Some((min_weight, height));
            if min_weight >= 0.0 {
                break;
            }
        }
    }
    best.map(|(_, height)| height)
}
