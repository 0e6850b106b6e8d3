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

    /// One to four points (in the plane one or two), the deepest one first.
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

/// Directions on the cone: (cos, sin) of the multiples of 45 degrees, in order. The plane uses those along its one
/// tangent.
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

/// The corners of both features, each edge of the one crossing each of the other, and the contact itself: more than convex
/// outlines can have, but no less than rounding can make of them.
const MAX_MEETINGS: usize = 2 * RING.len() + RING.len() * RING.len() + 1;

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
}

/// The corners of a face in order, the ends of an edge, or a vertex.
type Corners = SmallVec<[Corner; RING.len()]>;

/// What a shape has farthest along the normal.
#[derive(Clone, Debug)]
enum Feature {
    /// A face, an edge or a vertex.
    Sharp(Corners),
    /// The line along which a curved surface touches: an edge, or a vertex if it has no length.
    Ridge(Corners),
    /// The plane of a half-space, which lies across the normal.
    Plane { height: f64 },
}

impl Feature {
    fn corners(&self) -> &[Corner] {
        match self {
            Self::Sharp(corners) | Self::Ridge(corners) => corners,
            Self::Plane { .. } => &[],
        }
    }

    /// The height at a point, or `None` if the point lies outside: see [`height_at`].
    fn height_at(&self, at: Across, near: f64, beside: f64) -> Option<f64> {
        match self {
            Self::Sharp(corners) | Self::Ridge(corners) => height_at(corners, at, near, beside),
            Self::Plane { height } => Some(*height),
        }
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
        }
    }

    /// The points on the cores of both shapes.
    pub fn points(&self, meeting: &Meeting) -> [W; 2] {
        let [u, v] = self.tangents;
        let across = u * meeting.at[0] + v * meeting.at[1];
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
    let [feature_a, feature_b] = features(pair, frame, near);
    let (corners_a, corners_b) = (feature_a.corners(), feature_b.corners());
    let are_edges = corners_a.len() == 2 && corners_b.len() == 2;
    let beside = match (&feature_a, &feature_b) {
        (Feature::Ridge(_), Feature::Ridge(_)) if are_edges => {
            let length = |[start, end]: [Corner; 2]| distance(start.at, end.at);
            let both = edges(corners_a).chain(edges(corners_b));
            // Of edges that are short for the pair, no more than a small part.
            ASTRAY
                * both
                    .map(length)
                    .fold(scale, |least, it| least.min(200.0 * it))
        }
        _ => near,
    };
    let mut meetings: SmallVec<[Meeting; MAX_MEETINGS]> = SmallVec::new();
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
    if !are_edges || meetings.len() < 2 {
        for edge_a in edges(corners_a) {
            for edge_b in edges(corners_b) {
                if let Some(meeting) = crossing(edge_a, edge_b) {
                    meetings.push(meeting);
                }
            }
        }
    }
    meetings.retain(|meeting| meeting.depth() >= -pair.reach() - slack);
    if beside > near {
        // Beside the one line or the other, its surface may have fallen away, as from the tip of a cone: it is asked for.
        meetings.retain(|meeting| {
            let [first, second] = frame.points(meeting);
            off_cores(pair, first, second)
                .iter()
                .all(|off| *off <= OFF_SURFACE * scale)
        });
    }
    // What the solver knows of the contact stands, if the features do not say the same.
    let known = Meeting {
        at: frame.corner(first).at,
        first: first.dot(frame.normal),
        second: second.dot(frame.normal),
    };
    if meetings
        .iter()
        .all(|meeting| meeting.depth() < known.depth() - slack)
    {
        meetings.push(known);
    }
    outline(&meetings, beside)
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
    // The support point along the normal tilted this way.
    let tilted = |[x, y]: Across| frame.normal + frame.tangents[0] * x + frame.tangents[1] * y;
    [
        match (plane_a, block_a) {
            (Some(HalfSpace { offset: height, .. }), _) => Feature::Plane { height },
            (None, Some(half)) => Feature::Sharp(block(frame, frame.normal, half, &pose_a, near)),
            (None, None) => {
                feature::<W>(near, |tilt| frame.corner(pair.first_support(tilted(tilt))))
            }
        },
        // The other way up: a tilt towards a point of the second shape is one away from it.
        match (plane_b, block_b) {
            (Some(HalfSpace { offset, .. }), _) => Feature::Plane { height: -offset },
            (None, Some(half)) => {
                Feature::Sharp(block(frame, -frame.normal, half, &pair.relative, near))
            }
            (None, None) => feature::<W>(near, |tilt| {
                let tilt = times(tilt, -1.0);
                frame.corner(pair.second_support(-tilted(tilt)))
            }),
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
) -> Corners {
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
            let fall = |corner: &Corner| (highest.height - corner.height).abs();
            corners.retain(|corner| fall(corner) <= SLOPE * distance(highest.at, corner.at));
        }
        [] => {}
    }
    corners
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
    let fall = |corner: &Corner| (top.height - corner.height).abs();
    let is_flat = |corner: &Corner| fall(corner) <= SLOPE * distance(top.at, corner.at);
    let is_top = |corner: &Corner| distance(top.at, corner.at) <= near;
    let mut corners = ring.clone();
    corners.retain(|corner| is_flat(corner) || is_top(corner));
    if corners.is_empty() {
        corners.push(top);
    }
    let others = ring.iter().filter(|corner| !is_top(corner)).count();
    if others < 2 || corners.iter().all(is_top) {
        return Feature::Sharp(corners);
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
        return Feature::Sharp(corners);
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
            let is_within = |[start, end]: [Corner; 2]| {
                cross(minus(end.at, start.at), minus(at, start.at)) >= 0.0
            };
            // Not by how far it is beyond their lines: past a sharp corner that is little for a long way.
            let inside = edges(corners).all(is_within)
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
    let (s, t) = (cross(ac, cd) / turn, cross(ac, ab) / turn);
    let within = |parameter: f64| (0.0..=1.0).contains(&parameter);
    (!parallel && within(s) && within(t)).then(|| Meeting {
        at: plus(a.at, times(ab, s)),
        first: a.height + s * (b.height - a.height),
        second: c.height + t * (d.height - c.height),
    })
}

/// At most four of the points: the deepest one, the one farthest from it, and the farthest from the line of the two on
/// each side. In the plane all points are on that line.
fn outline(points: &[Meeting], near: f64) -> Meetings {
    let farthest = |measure: &dyn Fn(&Meeting) -> f64| {
        let best = points
            .iter()
            .map(|point| (measure(point), *point))
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.filter(|(measured, _)| *measured > near)
            .map(|(_, point)| point)
    };
    let deepest = points.iter().copied().reduce(|best, other| {
        if other.depth() > best.depth() {
            other
        } else {
            best
        }
    });
    let mut chosen = Meetings::new();
    let Some(deepest) = deepest else {
        return chosen;
    };
    chosen.push(deepest);
    let Some(opposite) = farthest(&|point| distance(point.at, deepest.at)) else {
        return chosen;
    };
    chosen.push(opposite);
    let line = minus(opposite.at, deepest.at);
    let length = dot(line, line).sqrt();
    let beside = |point: &Meeting| cross(line, minus(point.at, deepest.at)) / length;
    chosen.extend(farthest(&|point| beside(point)));
    chosen.extend(farthest(&|point| -beside(point)));
    chosen
}
