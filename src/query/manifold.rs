//! Several contact points where two faces or edges meet: what a response of one's own needs to rest stably.
//!
//! A box on a floor touches it all over a face; a single contact point there lets it tip. The manifold of a contact is
//! the intersection of the two *supporting features* (a face, an edge or a vertex each) as seen along the normal: of
//! that polygon at most four corners, in the plane at most both ends of a segment.
//!
//! Engines ask their shapes for faces and clip one by the other (Ericson, "Real-Time Collision Detection" (2005),
//! chapter 8.3, has the clipping). What departs from that, and why:
//!
//! * A feature comes from the support function, so that it works for every shape: its corners are the support points in
//!   directions on a narrow cone around the normal, as far as they lie in a plane across it. On a curved surface none
//!   do, and the feature is a point. (Of a block, a box or a segment, they are told by its axes, to the same measure.)
//! * A surface that is curved one way only, as that of a lying cylinder, has corners that do as well: at the far end of
//!   the line along which it touches, the fall beside that line is little on so long a way. So what looks like a face is
//!   looked at once more on both sides of such a line, and where the surface falls away on both, the line is the feature.
//! * The corners of the intersection of two convex polygons are the corners of each within the other and the crossings
//!   of their edges: they are listed, not clipped, and segments and points are no special case of it. A half-space has its
//!   whole plane for a feature, with no corner, and every corner of the other shape's feature within.
//! * The first support points of a face are eight, but the face may have more corners, or a round
//!   rim. Each edge on the boundary of the intersection is therefore refined as in Quickhull: the
//!   support point across the edge becomes a corner, until what an edge can still hide is small for
//!   the intersection.
//! * Of more than four corners of the intersection, those four are kept that span the largest area.
//!   For each two opposite corners, the other two are the farthest from the diagonal on each side,
//!   and as the diagonal turns, both only advance.

use smallvec::SmallVec;

use super::{
    contact::Contact,
    minkowski::Pair,
    off_core::off_cores,
    tolerance::{ASTRAY, CONE, OFF_SURFACE, SAME_POINT, SLOPE, TOUCHING},
};
use crate::{
    shape::{HalfSpace, Support},
    space::{Pose, Space, Wide},
};

/// All of where two shapes touch: one normal, and the points that hold them apart.
///
/// Where two faces or edges meet, one point does not tell how: these are the corners of what the two have in common. In
/// the world's frame and units.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold<V: Space> {
    /// That of the [`Contact`](super::Contact).
    pub normal: V,
    pub(super) points: SmallVec<[ManifoldPoint<V>; 4]>,
}

impl<V: Space> Manifold<V> {
    /// One of no points yet.
    #[inline]
    pub(super) fn empty() -> Self {
        Self {
            normal: V::default(),
            points: SmallVec::new(),
        }
    }

    /// One of one point.
    #[inline]
    pub(super) fn of(contact: Contact<V>) -> Self {
        let mut manifold = Self::empty();
        manifold.normal = contact.normal;
        manifold.points.push(ManifoldPoint {
            depth: contact.depth,
            point_a: contact.point_a,
            point_b: contact.point_b,
        });
        manifold
    }

    /// One to four points (in the plane one or two): the deepest one first, and the others in order
    /// around the outline.
    pub fn points(&self) -> &[ManifoldPoint<V>] {
        &self.points
    }
}

/// A point of a [`Manifold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldPoint<V> {
    /// How deep the shapes are in each other here, along the normal; 0 or more.
    pub depth: f32,
    /// On the first shape's surface, or a little beneath it: see [`manifold`](super::manifold).
    pub point_a: V,
    /// On the second shape's surface, likewise: `point_a - normal * depth`.
    pub point_b: V,
}

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

/// The most corners of a feature. Refined everywhere, the rim of a disc takes 32 of them.
const MAX_CORNERS: usize = 48;

/// The most rounds of refinement. In each, what the chord of an arc hides is divided by four.
const REFINEMENTS: usize = 6;

/// An edge is refined if it may hide more than this fraction of the intersection's area over its
/// diameter. On an arc, the shorter chord hides a quarter of that, which times half of a diagonal
/// is what one of four corners can lose. Four corners span at least 2 / π of a convex area:
/// together, they lose less than 1 % of what they span.
const HIDDEN: f64 = 0.02 * core::f64::consts::FRAC_2_PI;

/// The corners of both features, two crossings for each edge of the one with the boundary of the
/// other, and the contact itself: convex polygons have no more.
const MAX_MEETINGS: usize = 4 * MAX_CORNERS + 1;

/// A point across the normal, along two tangents, the second of which is always 0 in the plane.
type Across = [f64; 2];

/// How often at most the line of a ridge is sought anew. Two or three times do, except for a shape that is much shorter
/// than its radius and tilted.
const STRAIGHTENINGS: usize = 8;

/// A corner of a feature.
#[derive(Clone, Copy, Debug)]
struct Corner {
    at: Across,
    /// Along the normal.
    height: f64,
    /// The shape may extend this far beyond the edge that begins here; infinite if that is unknown.
    hidden: f64,
}

impl Corner {
    /// How much lower another corner is, if this one is the highest; heights may be counted up or
    /// down.
    fn fall(&self, other: &Self) -> f64 {
        (self.height - other.height).abs()
    }

    /// Returns `true` if another corner can be one of the same face, if this one is the highest.
    fn is_level_with(&self, other: &Self) -> bool {
        self.fall(other) <= SLOPE * distance(self.at, other.at)
    }
}

/// The corners of a face in order, the ends of an edge, or a vertex.
type Corners = SmallVec<[Corner; MAX_CORNERS]>;

/// What a shape has farthest along the normal.
#[derive(Clone, Debug)]
enum Feature {
    /// A face, an edge or a vertex, and the point of the shape that is farthest along the normal.
    Sharp { corners: Corners, top: Corner },
    /// The line along which a curved surface touches: an edge, or a vertex if it has no length.
    Ridge(Corners),
    /// The plane of a half-space, which lies across the normal.
    Plane { height: f64 },
}

impl Feature {
    fn corners(&self) -> &[Corner] {
        match self {
            Self::Sharp { corners, .. } | Self::Ridge(corners) => corners,
            Self::Plane { .. } => &[],
        }
    }

    fn sides(&self) -> impl Iterator<Item = [Corner; 2]> {
        sides(self.corners())
    }

    /// The height at a point, or `None` if the point lies outside: see [`height_at`].
    fn height_at(&self, at: Across, near: f64, beside: f64) -> Option<f64> {
        match self {
            Self::Sharp { corners, .. } | Self::Ridge(corners) => {
                height_at(corners, at, near, beside)
            }
            Self::Plane { height } => Some(*height),
        }
    }

    /// Adds corners of the shape beyond edges that may hide more than `hidden`, if they are on the
    /// boundary of the intersection. Returns `true` if there are new corners.
    fn refine(
        &mut self,
        near: f64,
        hidden: f64,
        is_on_boundary: impl Fn([Corner; 2]) -> bool,
        look: impl Fn(Across) -> Corner,
    ) -> bool {
        let Self::Sharp { corners, top } = self else {
            return false;
        };
        let count = corners.len();
        let mut index = 0;
        while let Some([start, end]) = neighbours(corners, index) {
            index += 1;
            if start.hidden <= hidden || !is_on_boundary([start, end]) {
                continue;
            }
            let line = minus(end.at, start.at);
            let length = dot(line, line).sqrt();
            if length.is_nan() || length <= near || corners.len() == MAX_CORNERS {
                continue;
            }
            let along = times(line, 1.0 / length);
            let out = [along[1], -along[0]];
            // With the edge's own slope, so that both of its ends are as high in this direction.
            let slope = (top.fall(&end) - top.fall(&start)) / length;
            let found = look(plus(times(out, CONE), times(along, slope)));
            let width = dot(minus(found.at, start.at), out);
            let is_new = width > near && top.is_level_with(&found);
            let hidden = if is_new { width } else { 0.0 };
            if let Some(start) = corners.get_mut(index - 1) {
                start.hidden = hidden;
            }
            if is_new {
                corners.insert(index, Corner { hidden, ..found });
                index += 1;
            }
        }
        corners.len() > count
    }
}

/// A point in which two features meet, as seen along the normal.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    at: Across,
    /// The height of the first shape's core.
    first: f64,
    /// The height of the second shape's core.
    second: f64,
}

/// The points of a manifold: the deepest one first.
pub type Meetings = SmallVec<[Meeting; 4]>;

/// The points from which those of a manifold are chosen.
type Candidates = SmallVec<[Meeting; MAX_MEETINGS]>;

/// The frame of a contact: its normal, and the tangents across it.
pub struct ContactFrame<W> {
    normal: W,
    tangents: [W; 2],
}

impl<W: Wide> ContactFrame<W> {
    pub fn new(normal: W) -> Self {
        let tangent = |edges: &[W]| {
            W::perpendicular(edges)
                .and_then(Wide::unit)
                .unwrap_or(W::ZERO)
        };
        let first = tangent(&[normal]);
        // In the plane there is no direction at right angles to both, and this one is null.
        let second = tangent(&[normal, first]);
        Self {
            normal,
            tangents: [first, second],
        }
    }

    #[inline]
    fn corner(&self, point: W) -> Corner {
        let [u, v] = self.tangents;
        Corner {
            at: [point.dot(u), point.dot(v)],
            height: point.dot(self.normal),
            hidden: 0.0,
        }
    }

    /// The first core's support point along the normal, tilted towards a point.
    fn look_first<A, B>(&self, pair: &Pair<A, B>, tilt: Across) -> Corner
    where
        A: Support + ?Sized,
        A::Vector: Space<Wide = W>,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        self.corner(pair.first_support(self.normal + self.across(tilt)))
    }

    /// The second core's support point against the normal, tilted towards a point.
    fn look_second<A, B>(&self, pair: &Pair<A, B>, tilt: Across) -> Corner
    where
        A: Support + ?Sized,
        A::Vector: Space<Wide = W>,
        B: Support<Vector = A::Vector> + ?Sized,
    {
        self.corner(pair.second_support(self.across(tilt) - self.normal))
    }

    #[inline]
    fn across(&self, [x, y]: Across) -> W {
        self.tangents[0] * x + self.tangents[1] * y
    }

    /// The points on the cores of both shapes.
    pub fn points(&self, meeting: &Meeting) -> [W; 2] {
        let across = self.across(meeting.at);
        [
            across + self.normal * meeting.first,
            across + self.normal * meeting.second,
        ]
    }
}

impl Meeting {
    /// How deep the cores are in each other here; negative for a gap.
    pub fn depth(&self) -> f64 {
        self.first - self.second
    }
}

/// The points of the manifold of a contact, of which a point on each core is known.
pub fn meetings<A, B, W: Wide>(
    pair: &Pair<A, B>,
    frame: &ContactFrame<W>,
    scale: f64,
    first: W,
    second: W,
) -> Meetings
where
    A: Support + ?Sized,
    A::Vector: Space<Wide = W>,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let slack = TOUCHING * scale;
    let near = SAME_POINT * scale;
    let [mut feature_a, mut feature_b] = features(pair, frame, near);
    // What the solver knows of the contact stands, if the features do not say the same.
    let known = Meeting {
        at: frame.corner(first).at,
        first: first.dot(frame.normal),
        second: second.dot(frame.normal),
    };
    let mut refinements = 0;
    loop {
        let beside = beside(&feature_a, &feature_b, scale, near);
        let mut meetings = common(&feature_a, &feature_b, near, beside);
        meetings.retain(|meeting| meeting.depth() >= -pair.reach() - slack);
        if beside > near {
            // Beside the one line or the other, its surface may have fallen away, as from the tip
            // of a cone: it is asked for.
            meetings.retain(|meeting| {
                let [first, second] = frame.points(meeting);
                off_cores(pair, first, second)
                    .iter()
                    .all(|off| *off <= OFF_SURFACE * scale)
            });
        }
        let is_empty = meetings.is_empty();
        if meetings
            .iter()
            .all(|meeting| meeting.depth() < known.depth() - slack)
        {
            meetings.push(known);
        }
        let hull = convex_hull(&meetings, beside);
        let hidden = (HIDDEN * width(&hull)).max(near);
        let is_on_boundary = |feature: &Feature| {
            // If all that the features have in common lies beyond one edge, that edge is the
            // nearest one to the contact.
            let away = |edge| distance_to_edge(known.at, edge);
            let reach = if is_empty {
                feature.sides().map(away).fold(f64::INFINITY, f64::min)
            } else {
                0.0
            };
            let hull = &hull;
            move |edge: [Corner; 2]| {
                hull.iter()
                    .any(|corner| edge.iter().any(|end| end.at == corner.at))
                    || hull
                        .iter()
                        .any(|corner| distance_to_edge(corner.at, edge) <= reach + near)
            }
        };
        refinements += 1;
        let is_refined = refinements <= REFINEMENTS && {
            let (first, second) = (is_on_boundary(&feature_a), is_on_boundary(&feature_b));
            let first = feature_a.refine(near, hidden, first, |tilt| frame.look_first(pair, tilt));
            let second =
                feature_b.refine(near, hidden, second, |tilt| frame.look_second(pair, tilt));
            first || second
        };
        if !is_refined {
            return outline(&meetings, &hull, W::DIMENSION, beside, slack);
        }
    }
}

/// How far beside an edge of a feature a point of the other feature may lie.
fn beside(feature_a: &Feature, feature_b: &Feature, scale: f64, near: f64) -> f64 {
    let (corners_a, corners_b) = (feature_a.corners(), feature_b.corners());
    match (feature_a, feature_b) {
        (Feature::Ridge(_), Feature::Ridge(_)) if are_edges(corners_a, corners_b) => {
            let length = |[start, end]: [Corner; 2]| distance(start.at, end.at);
            let both = edges(corners_a).chain(edges(corners_b));
            // Of edges that are short for the pair, no more than a small part.
            ASTRAY
                * both
                    .map(length)
                    .fold(scale, |least, it| least.min(200.0 * it))
        }
        _ => near,
    }
}

fn are_edges(corners_a: &[Corner], corners_b: &[Corner]) -> bool {
    corners_a.len() == 2 && corners_b.len() == 2
}

/// The corners of each feature within the other, and the crossings of their edges.
fn common(feature_a: &Feature, feature_b: &Feature, near: f64, beside: f64) -> Candidates {
    let (corners_a, corners_b) = (feature_a.corners(), feature_b.corners());
    let mut meetings = Candidates::new();
    for corner in corners_a {
        if let Some(second) = feature_b.height_at(corner.at, near, beside) {
            meetings.push(Meeting {
                at: corner.at,
                first: corner.height,
                second,
            });
        }
    }
    for corner in corners_b {
        if let Some(first) = feature_a.height_at(corner.at, near, beside) {
            meetings.push(Meeting {
                at: corner.at,
                first,
                second: corner.height,
            });
        }
    }
    // Two edges that have two of their ends on each other lie side by side: if they cross, then between these.
    if !are_edges(corners_a, corners_b) || meetings.len() < 2 {
        let room = (MAX_MEETINGS - 1).saturating_sub(meetings.len());
        let crossings = edges(corners_a)
            .flat_map(|edge_a| edges(corners_b).filter_map(move |edge_b| crossing(edge_a, edge_b)));
        meetings.extend(crossings.take(room));
    }
    meetings
}

/// The features of the first shape along the normal, and of the second against it.
fn features<A, B, W: Wide>(pair: &Pair<A, B>, frame: &ContactFrame<W>, near: f64) -> [Feature; 2]
where
    A: Support + ?Sized,
    A::Vector: Space<Wide = W>,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let [plane_a, plane_b] = pair.half_spaces();
    let [block_a, block_b] = pair.blocks_each();
    let pose_a = Pose::IDENTITY;
    [
        match (plane_a, block_a) {
            (Some(HalfSpace { offset: height, .. }), _) => Feature::Plane { height },
            (None, Some(half)) => block(frame, frame.normal, half, &pose_a, near),
            (None, None) => feature::<W>(near, |tilt| frame.look_first(pair, tilt)),
        },
        match (plane_b, block_b) {
            (Some(HalfSpace { offset, .. }), _) => Feature::Plane { height: -offset },
            (None, Some(half)) => block(frame, -frame.normal, half, &pair.relative, near),
            (None, None) => feature::<W>(near, |tilt| frame.look_second(pair, tilt)),
        },
    ]
}

/// The feature of a block along a direction, by its own axes: those across which it goes on from its top corner, as flat as
/// a feature has to be, are the sides of a face or an edge.
fn block<W: Wide>(
    frame: &ContactFrame<W>,
    direction: W,
    half: W,
    pose: &Pose<W>,
    near: f64,
) -> Feature {
    let inner = W::transpose(pose.rotation) * direction;
    let place = |corner: W| frame.corner(pose.rotation * corner + pose.translation);
    let top = half.copysign(inner);
    let highest = place(top);
    let mut corners = Corners::new();
    corners.push(highest);
    let mut sides: SmallVec<[W; 2]> = SmallVec::new();
    for index in 0..W::DIMENSION {
        let side = W::axis(index) * (-2.0 * top.component(index));
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

/// The feature of a shape, from the support points that `look` finds along the normal tilted towards a point.
fn feature<W: Wide>(near: f64, look: impl Fn(Across) -> Corner) -> Feature {
    let top = look([0.0; 2]);
    let mut ring = Corners::new();
    for (cos, sin) in RING {
        if W::DIMENSION == 2 && sin != 0.0 {
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
    let hidden = if W::DIMENSION == 2 {
        0.0
    } else {
        f64::INFINITY
    };
    corners.iter_mut().for_each(|corner| corner.hidden = hidden);
    let face = Feature::Sharp { corners, top };
    if others < 2 || face.corners().iter().all(is_top) {
        return face;
    }

    // The line from the top to a point that is far from it and falls little, counted at half the slope of the cone: by SLOPE,
    // an end that lies as low as it may would lose to what is beside the top. On a surface curved with radius r, an end y
    // beside the true line of length l lets it fall with slope y² / 2rl, and turns it by y / l. Tilted by twice that slope
    // (an arc's end is twice as steep as its chord), the end is found r (y² / rl) (y / l) = y³ / l² beside the line.
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
    // Judged by what lies beside the top, or if nothing does, beside the other end: with the line's own tilt, by which both
    // ends are as high. (What rises from there is no face, but a line that bulges.)
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

#[inline]
fn plus(a: Across, b: Across) -> Across {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
fn minus(a: Across, b: Across) -> Across {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline]
fn cross(a: Across, b: Across) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[inline]
fn times(a: Across, factor: f64) -> Across {
    [a[0] * factor, a[1] * factor]
}

#[inline]
fn dot(a: Across, b: Across) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[inline]
fn distance(a: Across, b: Across) -> f64 {
    let difference = minus(a, b);
    dot(difference, difference).sqrt()
}

/// How far a point is from an edge.
#[inline]
fn distance_to_edge(at: Across, [start, end]: [Corner; 2]) -> f64 {
    let (along, way) = (minus(end.at, start.at), minus(at, start.at));
    let t = (dot(way, along) / dot(along, along)).clamp(0.0, 1.0);
    distance(way, times(along, t))
}

/// The edges of a feature in order: none of a vertex, one of an edge.
#[inline]
fn edges(corners: &[Corner]) -> impl Iterator<Item = [Corner; 2]> {
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

/// The height of a feature at a point, or `None` if the point lies outside of it by more than `near`, but beside an edge, as
/// far as it goes, by more than `beside`.
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
        [apex, ..] => {
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
            // Not by how far it is beyond their lines: past a sharp corner that is little for a long way.
            let inside = edges(corners).all(|edge| side(edge).0 >= 0.0)
                || edges(corners).any(|edge| distance_to_edge(at, edge) <= near);
            // Of the triangles of the fan around the first corner, the one that holds the point, or holds it best.
            let weigh = |[b, c]: [Corner; 2]| {
                let (ab, ac, ap) = (
                    minus(b.at, apex.at),
                    minus(c.at, apex.at),
                    minus(at, apex.at),
                );
                let area = cross(ab, ac);
                let (weight_b, weight_c) = (cross(ap, ac) / area, cross(ab, ap) / area);
                let worst = weight_b.min(weight_c).min(1.0 - weight_b - weight_c);
                let rise =
                    weight_b * (b.height - apex.height) + weight_c * (c.height - apex.height);
                (worst, apex.height + rise)
            };
            let best = edges(corners)
                .map(weigh)
                .filter(|(worst, height)| worst.is_finite() && height.is_finite())
                .max_by(|a, b| a.0.total_cmp(&b.0));
            best.filter(|_| inside).map(|(_, height)| height)
        }
    }
}

/// Where two edges cross, as seen along the normal. Parallel ones do not: where they lie on each other, the ends of the one
/// are on the other.
#[inline]
fn crossing([a, b]: [Corner; 2], [c, d]: [Corner; 2]) -> Option<Meeting> {
    let (ab, cd, ac) = (minus(b.at, a.at), minus(d.at, c.at), minus(c.at, a.at));
    let turn = cross(ab, cd);
    let parallel = turn * turn <= SAME_POINT * SAME_POINT * dot(ab, ab) * dot(cd, cd);
    let (s, t) = (cross(ac, cd), cross(ac, ab));
    let within = |part: f64| (0.0..=turn.abs()).contains(&(part * turn.signum()));
    (!parallel && within(s) && within(t)).then(|| {
        let (s, t) = (s / turn, t / turn);
        Meeting {
            at: plus(a.at, times(ab, s)),
            first: a.height + s * (b.height - a.height),
            second: c.height + t * (d.height - c.height),
        }
    })
}

/// The first of the points for which a measure is largest, with that measure.
fn farthest(points: &[Meeting], measure: impl Fn(&Meeting) -> f64) -> Option<(f64, Meeting)> {
    points
        .iter()
        .map(|point| (measure(point), point))
        .reduce(|best, other| if other.0 > best.0 { other } else { best })
        .map(|(measured, point)| (measured, *point))
}

/// The corners of the convex hull of the points as seen along the normal, counter-clockwise. A
/// corner is farther than `near` from every other corner, and from the line through its two
/// neighbours.
fn convex_hull(points: &[Meeting], near: f64) -> Candidates {
    let mut hull = Candidates::new();
    let Some(any) = points.first() else {
        return hull;
    };
    // The point farthest from another point is a corner, however many points are nearly in one
    // place or on one line.
    let ends = farthest(points, |point| distance(point.at, any.at)).and_then(|(_, start)| {
        let end = farthest(points, |point| distance(point.at, start.at));
        end.map(|end| (start, end))
    });
    let Some((start, (length, end))) = ends else {
        return hull;
    };
    hull.push(start);
    if length.is_nan() || length <= near {
        return hull;
    }
    hull.push(end);
    // Each edge gives way to two as long as a point lies beyond it.
    let mut index = 0;
    while let Some([start, end]) = neighbours(&hull, index) {
        let line = minus(end.at, start.at);
        let beyond = farthest(points, |point| cross(minus(point.at, start.at), line));
        let reach = near * dot(line, line).sqrt();
        index += 1;
        if let Some((beyond, point)) = beyond
            && beyond > reach
            && hull.len() < points.len()
        {
            hull.insert(index, point);
            index -= 1;
        }
    }
    // Of several points that are as far beyond an edge, the first need not be a corner.
    let mut index = 0;
    while hull.len() > 2
        && let Some([start, middle]) = neighbours(&hull, index)
        && let Some([_, end]) = neighbours(&hull, (index + 1) % hull.len())
    {
        let line = minus(end.at, start.at);
        let bend = cross(minus(middle.at, start.at), line);
        if bend > near * dot(line, line).sqrt() {
            index += 1;
        } else {
            hull.remove((index + 1) % hull.len());
        }
    }
    hull
}

/// A corner of an outline and the next one; `None` beyond the last corner.
fn neighbours<T: Copy>(outline: &[T], index: usize) -> Option<[T; 2]> {
    let corner = outline.get(index)?;
    let next = outline.get(index + 1).or(outline.first())?;
    Some([*corner, *next])
}

/// The area of a convex outline over its largest distance from the first corner.
fn width(outline: &[Meeting]) -> f64 {
    let Some((apex, others)) = outline.split_first() else {
        return 0.0;
    };
    let area: f64 = others
        .windows(2)
        .map(|edge| match edge {
            [b, c] => 0.5 * cross(minus(b.at, apex.at), minus(c.at, apex.at)),
            _ => 0.0,
        })
        .sum();
    let lengths = others.iter().map(|other| distance(other.at, apex.at));
    area / lengths.fold(f64::MIN_POSITIVE, f64::max)
}

/// The four corners of a convex outline, its first one among them, that span the largest area, and
/// twice that area.
fn largest_from_first(outline: &[Meeting]) -> Option<(f64, [&Meeting; 4])> {
    let (first, others) = outline.split_first()?;
    let mut best: Option<(f64, [&Meeting; 4])> = None;
    let [mut before, mut after] = [0, 2];
    for (index, opposite) in others.iter().enumerate().skip(1) {
        let diagonal = minus(opposite.at, first.at);
        let area = |index: usize, sign: f64| {
            let corner = others.get(index)?;
            Some((sign * cross(diagonal, minus(corner.at, first.at)), corner))
        };
        // The farthest corner on each side of the diagonal.
        let climb = |place: &mut usize, end: usize, sign: f64| {
            let mut top = area(*place, sign)?;
            while *place + 1 < end
                && let Some(next) = area(*place + 1, sign)
                && next.0 > top.0
            {
                *place += 1;
                top = next;
            }
            Some(top)
        };
        after = after.max(index + 1);
        let sides = climb(&mut before, index, -1.0).zip(climb(&mut after, others.len(), 1.0));
        let Some(((area_before, before), (area_after, after))) = sides else {
            break;
        };
        let area = area_before + area_after;
        if best.is_none_or(|best| area > best.0) {
            best = Some((area, [first, before, opposite, after]));
        }
    }
    best
}

/// The four corners of a convex outline that span the largest area. If the outline has corners at
/// least as deep as `deep`, then the four include one of these.
fn largest_four(outline: &[Meeting], deep: f64) -> Meetings {
    let twice: SmallVec<[Meeting; 2 * MAX_MEETINGS]> =
        outline.iter().chain(outline).copied().collect();
    let largest = |is_start: &dyn Fn(&Meeting) -> bool| {
        twice
            .windows(outline.len())
            .take(outline.len())
            .filter(|turned| turned.first().is_some_and(is_start))
            .filter_map(largest_from_first)
            .reduce(|best, other| if other.0 > best.0 { other } else { best })
            .map(|(_, corners)| corners.into_iter().copied().collect::<Meetings>())
    };
    let is_deep = |corner: &Meeting| corner.depth() >= deep;
    largest(&|_| true)
        .filter(|corners| corners.iter().any(is_deep) || !outline.iter().any(is_deep))
        .or_else(|| largest(&is_deep))
        .unwrap_or_default()
}

/// Chooses the points of a manifold: the corners of the convex hull of the points in common, or the
/// four that span the largest area if there are more. The deepest point is always chosen, and comes
/// first. The others follow in order around the outline.
fn outline(
    points: &[Meeting],
    hull: &[Meeting],
    dimension: usize,
    near: f64,
    slack: f64,
) -> Meetings {
    let Some((depth, deepest)) = farthest(points, Meeting::depth) else {
        return Meetings::new();
    };
    let mut chosen = if hull.len() > 4 {
        largest_four(hull, depth - slack)
    } else {
        Meetings::from_slice(hull)
    };
    if chosen.iter().all(|corner| corner.depth() < depth - slack) {
        // The deepest point is no corner, because the surfaces are not flat.
        let most = if dimension == 2 { 2 } else { 4 };
        let nearest = farthest(&chosen, |corner| -distance(corner.at, deepest.at));
        let is_full = chosen.len() >= most;
        let replaced = nearest.filter(|(away, _)| is_full || -away <= near);
        chosen.retain(|corner| replaced.is_none_or(|(_, old)| old.at != corner.at));
        chosen.push(deepest);
    }
    let start = farthest(&chosen, Meeting::depth).map(|(_, first)| first.at);
    let before = chosen.iter().take_while(|corner| Some(corner.at) != start);
    let before = before.count() % chosen.len().max(1);
    chosen.rotate_left(before);
    chosen
}
