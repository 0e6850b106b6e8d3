//! The intersection of two faces as an outline whose edges remember where they come from.
//!
//! The first polygon is clipped by each edge of the second one (Sutherland and Hodgman), which
//! needs no search for a convex hull. Then the edges of the outline that may hide much are
//! refined. Where edges of both shapes cross in one of the four corners that the manifold would
//! keep, each is refined until what it hides is small. If that is all done, a corner of one shape
//! among the four stays if it is the support point in the direction in which it spans more area,
//! which is across the line through its two neighbours. Otherwise, that point becomes a corner.

use smallvec::SmallVec;

use crate::query::manifold::{
    feature::{Feature, MAX_CORNERS, edges, fan_height},
    frame::{Across, Corner, cross, distance, dot, minus, neighbours, plus, times},
    outline::{HIDDEN, Meeting, best_four},
};

/// The support point of a corner is ignored if it adds less than this fraction of the area.
const GAIN: f64 = 0.002;

/// On a round outline, an edge away from the four corners may hide this many times as much as an
/// edge beside them. The factor falls to 1 as the outline becomes thin. (The four span half of the
/// square of the diameter of a disc.)
const FAR: f64 = 4.0;

/// An edge of the first or second feature (0 or 1), by the index of the corner where it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Source {
    feature: usize,
    index: usize,
}

/// A corner of the intersection.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub meeting: Meeting,
    /// The edge that the outline follows from here.
    edge: Source,
}

/// The corners of the intersection of two faces, counter-clockwise.
pub type Polygon = SmallVec<[Vertex; 2 * MAX_CORNERS]>;

/// New corners of a feature, each with the index of the edge that it splits.
type Found = SmallVec<[(usize, Corner); MAX_CORNERS]>;

/// Returns the intersection of two features, or nothing if one is no face. Corners less deep than
/// `least` are left out, and those that are within `near` of the line through their neighbours.
pub fn intersection(features: &[Feature; 2], near: f64, least: f64) -> Polygon {
    let [first, second] = features;
    let mut polygon = match [first, second] {
        [Feature::Plane { height }, face] => outline_of(face, 1, |corner| [*height, corner.height]),
        [face, Feature::Plane { height }] => outline_of(face, 0, |corner| [corner.height, *height]),
        _ if second.corners().len() > 2 => {
            let mut polygon = outline_of(first, 0, |corner| [corner.height, f64::NAN]);
            clip(&mut polygon, second.corners());
            polygon
        }
        _ => Polygon::new(),
    };
    polygon.retain(|vertex| vertex.meeting.depth() >= least);
    straighten(&mut polygon, near);
    polygon
}

/// Returns the outline of a face; `heights` returns the heights of both features at a corner.
fn outline_of(face: &Feature, feature: usize, heights: impl Fn(&Corner) -> [f64; 2]) -> Polygon {
    let vertex = |(index, corner): (usize, &Corner)| {
        let [first, second] = heights(corner);
        let at = corner.at;
        Vertex {
            meeting: Meeting { at, first, second },
            edge: Source { feature, index },
        }
    };
    let corners = Some(face.corners()).filter(|corners| corners.len() > 2);
    let corners = corners.unwrap_or_default();
    corners.iter().enumerate().map(vertex).collect()
}

/// Cuts off what lies beyond the edges of the second feature, and computes its heights.
fn clip(polygon: &mut Polygon, second: &[Corner]) {
    for (index, [start, end]) in edges(second).enumerate() {
        let line = minus(end.at, start.at);
        let side = |vertex: &Vertex| cross(line, minus(vertex.meeting.at, start.at));
        if polygon.iter().all(|vertex| side(vertex) >= 0.0) {
            continue;
        }
        // By rounding, several runs of corners can be inside. The one farthest inside stays.
        let innermost = polygon.iter().map(side).enumerate();
        let innermost = innermost.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let Some((innermost, _)) = innermost.filter(|(_, side)| *side >= 0.0) else {
            polygon.clear();
            return;
        };
        polygon.rotate_left(innermost);
        let is_outside = |vertex: &Vertex| side(vertex) < 0.0;
        let exit = polygon.iter().position(is_outside);
        let Some((exit, entry)) = exit.zip(polygon.iter().rposition(is_outside)) else {
            continue;
        };
        let crossing = |inside: &Vertex, outside: &Vertex| {
            let t = side(inside) / (side(inside) - side(outside));
            let [a, b] = [inside.meeting, outside.meeting];
            let at = plus(a.at, times(minus(b.at, a.at), t));
            let part = (dot(minus(at, start.at), line) / dot(line, line)).clamp(0.0, 1.0);
            Meeting {
                at,
                first: a.first + t * (b.first - a.first),
                second: start.height + part * (end.height - start.height),
            }
        };
        let (Some([before, out]), Some([outside, after])) =
            (neighbours(polygon, exit - 1), neighbours(polygon, entry))
        else {
            continue;
        };
        let edge = Source { feature: 1, index };
        let meeting = crossing(&before, &out);
        let leaving = Vertex { meeting, edge };
        let meeting = crossing(&after, &outside);
        let entering = Vertex { meeting, ..outside };
        polygon.drain(exit..=entry);
        polygon.insert(exit, leaving);
        polygon.insert(exit + 1, entering);
    }
    // Corners of the first feature that no edge has cut off are inside of the second one.
    for vertex in polygon.iter_mut() {
        if vertex.meeting.second.is_nan() {
            let height = fan_height(second, vertex.meeting.at);
            vertex.meeting.second = height.unwrap_or(vertex.meeting.second);
        }
    }
}

/// Removes corners that are within `near` of the line through their neighbours.
fn straighten(polygon: &mut Polygon, near: f64) {
    let mut index = 0;
    while polygon.len() > 2
        && let Some([start, middle]) = neighbours(polygon, index)
        && let Some([_, end]) = neighbours(polygon, (index + 1) % polygon.len())
    {
        let [from, via, to] = [start, middle, end].map(|vertex| vertex.meeting.at);
        let line = minus(to, from);
        let bend = cross(minus(via, from), line);
        if bend > 0.0 && bend * bend > near * near * dot(line, line) {
            index += 1;
            continue;
        }
        // Of the two edges, the longer one remains.
        if distance(via, to) > distance(from, via)
            && let Some(start) = polygon.get_mut(index)
        {
            start.edge = middle.edge;
        }
        polygon.remove((index + 1) % polygon.len());
    }
    if polygon.len() < 3 {
        polygon.clear();
    }
}

/// Refines the features where the four corners of largest area can gain, one of which is the
/// deepest to within `slack`. `look` returns the support point of a feature's shape along the
/// normal, tilted towards a point. Returns `true` if there are new corners.
pub fn refine(
    polygon: &Polygon,
    features: &mut [Feature; 2],
    near: f64,
    slack: f64,
    look: impl Fn(usize, Across) -> Corner,
) -> bool {
    let meetings: SmallVec<[Meeting; 2 * MAX_CORNERS]> =
        polygon.iter().map(|vertex| vertex.meeting).collect();
    let deepest = meetings
        .iter()
        .map(Meeting::depth)
        .fold(f64::NEG_INFINITY, f64::max);
    let chosen = best_four(&meetings, deepest - slack);
    let corners: SmallVec<[Meeting; 4]> = chosen
        .iter()
        .filter_map(|index| meetings.get(*index).copied())
        .collect();
    let (twice_area, longest) = extent(&corners);
    let hidden = (HIDDEN * 0.5 * twice_area / longest).max(near);
    let mut found = [Found::new(), Found::new()];
    let mut search_edge = |source: Source, hidden: f64, features: &mut [Feature; 2]| {
        let feature = features.get_mut(source.feature);
        let corner = feature.and_then(|feature| {
            feature.beyond_edge(source.index, near, hidden, |tilt| {
                look(source.feature, tilt)
            })
        });
        if let (Some(corner), Some(found)) = (corner, found.get_mut(source.feature))
            && found.len() < MAX_CORNERS
        {
            found.push((source.index, corner));
        }
    };
    let far = if polygon.len() <= 4 {
        1.0
    } else {
        (FAR * twice_area / (longest * longest)).max(1.0)
    };
    for vertex in polygon {
        search_edge(vertex.edge, far * hidden, features);
    }
    let mut stays = SmallVec::<[_; 4]>::new();
    for (place, index) in chosen.iter().enumerate() {
        let count = polygon.len();
        let edges = polygon
            .get((index + count - 1) % count)
            .zip(polygon.get(*index));
        let Some([incoming, outgoing]) = edges.map(|(a, b)| [a.edge, b.edge]) else {
            continue;
        };
        if incoming.feature == outgoing.feature {
            stays.push((place, [incoming, outgoing]));
        } else {
            search_edge(incoming, hidden, features);
            search_edge(outgoing, hidden, features);
        }
    }
    if found.iter().any(|found| !found.is_empty()) {
        stays.clear();
    }
    for (place, [incoming, outgoing]) in stays {
        let count = corners.len();
        let ends = corners
            .get((place + count - 1) % count)
            .zip(corners.get((place + 1) % count));
        let (Some((before, after)), Some(corner)) = (ends, corners.get(place)) else {
            continue;
        };
        let number = incoming.feature;
        let least = GAIN * twice_area / distance(before.at, after.at);
        let beyond = features.get(number).and_then(|feature| {
            feature.beyond_corner(
                [incoming.index, outgoing.index],
                [before, corner, after].map(|meeting| meeting.at_height(number)),
                least.max(near),
                |tilt| look(number, tilt),
            )
        });
        if let (Some(beyond), Some(found)) = (beyond, found.get_mut(number))
            && found.len() < MAX_CORNERS
        {
            found.push(beyond);
        }
    }
    let mut is_refined = false;
    for (feature, found) in features.iter_mut().zip(&mut found) {
        found.sort_unstable_by_key(|(index, _)| core::cmp::Reverse(*index));
        found.dedup_by_key(|(index, _)| *index);
        for (index, corner) in found.iter().copied() {
            is_refined |= feature.split_edge(index, corner);
        }
    }
    is_refined
}

/// Returns twice the area of a convex outline, and its diameter.
fn extent(corners: &[Meeting]) -> (f64, f64) {
    let (mut twice_area, mut longest) = (0.0, f64::MIN_POSITIVE);
    let ends = corners.iter().cycle().skip(1);
    for (corner, end) in corners.iter().zip(ends) {
        twice_area += cross(corner.at, end.at);
        for other in corners {
            longest = distance(corner.at, other.at).max(longest);
        }
    }
    (twice_area, longest)
}
