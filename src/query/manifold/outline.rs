//! Polygons as seen along the normal: the intersection of two features, its convex hull, and the
//! four corners of largest area.

use smallvec::SmallVec;

use crate::{
    query::manifold::{
        feature::{Feature, MAX_CORNERS, edges},
        frame::{
            Across, ContactFrame, Corner, cross, distance, dot, minus, neighbours, plus, times,
        },
    },
    space::DVector,
    tolerance::{ASTRAY, SAME_POINT},
};

/// The most rounds of refinement. In each, what the chord of an arc hides is divided by four.
pub const REFINEMENTS: usize = 6;

/// An edge is refined if it may hide more than this fraction of the area that the four chosen
/// corners span, over the diameter. On an arc, the shorter chord hides a quarter of that, which
/// times half of a diagonal is what one corner can lose: 1 % for all four.
pub const HIDDEN: f64 = 0.02;

/// The corners of both features, two crossings for each edge of the one with the boundary of the
/// other, and the contact itself: convex polygons have no more.
const MAX_MEETINGS: usize = 4 * MAX_CORNERS + 1;

/// A point in which two features meet, as seen along the normal.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    pub at: Across,
    /// The height of the first shape's core.
    pub first: f64,
    /// The height of the second shape's core.
    pub second: f64,
}

/// The points of a manifold: the deepest one first.
pub type Meetings = SmallVec<[Meeting; 4]>;

/// The points from which those of a manifold are chosen.
pub type Candidates = SmallVec<[Meeting; MAX_MEETINGS]>;

impl Meeting {
    /// Returns the points on the cores of both shapes.
    pub fn points<D: DVector>(&self, frame: &ContactFrame<D>) -> [D; 2] {
        frame.points(self.at, [self.first, self.second])
    }

    /// Returns the point on the first (0) or the second (1) feature.
    pub fn at_height(&self, feature: usize) -> Corner {
        let heights = [self.first, self.second];
        Corner {
            at: self.at,
            height: heights.get(feature).copied().unwrap_or_default(),
            hidden: 0.0,
        }
    }

    /// How deep the cores are in each other here; negative for a gap.
    pub fn depth(&self) -> f64 {
        self.first - self.second
    }
}

/// How far beside an edge of a feature a point of the other feature may lie.
pub fn beside(feature_a: &Feature, feature_b: &Feature, scale: f64, near: f64) -> f64 {
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
pub fn common(feature_a: &Feature, feature_b: &Feature, near: f64, beside: f64) -> Candidates {
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
    // Two edges that have two of their ends on each other lie side by side, and can only cross
    // between these ends.
    if !are_edges(corners_a, corners_b) || meetings.len() < 2 {
        let room = (MAX_MEETINGS - 1).saturating_sub(meetings.len());
        let crossings = edges(corners_a)
            .flat_map(|edge_a| edges(corners_b).filter_map(move |edge_b| crossing(edge_a, edge_b)));
        meetings.extend(crossings.take(room));
    }
    meetings
}
/// Returns the point where two edges cross, as seen along the normal. Parallel edges never cross:
/// if they overlap, an end of the one is on the other.
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
pub fn convex_hull(points: &[Meeting], near: f64) -> Candidates {
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

/// The area of a convex outline over its largest distance from the first corner.
pub fn width(outline: &[Meeting]) -> f64 {
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

/// Returns the corners of a convex outline, by their indices in order, that span the largest area:
/// all, or four if there are more. If the outline has corners at least as deep as `deep`, then the
/// four include one of these.
pub fn best_four(outline: &[Meeting], deep: f64) -> SmallVec<[usize; 4]> {
    let count = outline.len();
    if count <= 4 {
        return (0..count).collect();
    }
    let is_deep = |index: usize| {
        let corner = outline.get(index % count);
        corner.is_some_and(|corner| corner.depth() >= deep)
    };
    let best = |is_deep_only: bool| {
        (0..count)
            .filter(|start| !is_deep_only || is_deep(*start))
            .filter_map(|start| {
                // Each diagonal has two ends, and need be tried from one of them only.
                let end = if is_deep_only { start + count } else { count };
                largest_from(outline, start, end.min(start + count - 1))
            })
            .reduce(|best, other| if other.0 > best.0 { other } else { best })
            .map(|(_, corners)| corners)
    };
    best(false)
        .filter(|corners| corners.iter().any(|index| is_deep(*index)) || !(0..count).any(is_deep))
        .or_else(|| best(true))
        .map(|corners| corners.into_iter().map(|index| index % count).collect())
        .unwrap_or_default()
}

/// Returns the four corners of a convex outline that span the largest area, and twice that area.
/// The corner at `start` is one of them, and the opposite one comes before `end`. Indices count on
/// beyond the last corner.
fn largest_from(outline: &[Meeting], start: usize, end: usize) -> Option<(f64, [usize; 4])> {
    let count = outline.len();
    let at = |index: usize| {
        let corner = outline.get(index).or_else(|| outline.get(index - count));
        corner.map(|corner| corner.at)
    };
    let origin = at(start)?;
    let mut best: Option<(f64, [usize; 4])> = None;
    let [mut before, mut after] = [start + 1, start + 3];
    for opposite in start + 2..end {
        let diagonal = minus(at(opposite)?, origin);
        let side = |index: usize| Some(cross(diagonal, minus(at(index)?, origin)));
        // The farthest corner on each side of the diagonal.
        let mut least = side(before)?;
        while before + 1 < opposite
            && let Some(next) = side(before + 1)
            && next < least
        {
            before += 1;
            least = next;
        }
        after = after.max(opposite + 1);
        let mut most = side(after)?;
        while after + 1 < start + count
            && let Some(next) = side(after + 1)
            && next > most
        {
            after += 1;
            most = next;
        }
        if best.is_none_or(|best| most - least > best.0) {
            best = Some((most - least, [start, before, opposite, after]));
        }
    }
    best
}

/// Inserts a point where the outline then encloses the largest area, so that it does not cross
/// itself.
fn insert_around(outline: &mut Meetings, point: Meeting) {
    let area_with = |place: usize| {
        let mut all = outline.clone();
        all.insert(place, point);
        let ends = all.iter().skip(1).chain(all.first());
        let sum: f64 = all.iter().zip(ends).map(|(a, b)| cross(a.at, b.at)).sum();
        sum.abs()
    };
    let places = (0..=outline.len()).map(|place| (place, area_with(place)));
    let best = places.reduce(|best, other| if other.1 > best.1 { other } else { best });
    outline.insert(best.map_or(0, |(place, _)| place), point);
}

/// Chooses the points of a manifold: the corners of the convex hull of the points in common, or the
/// four that span the largest area if there are more. The deepest point is always chosen, and comes
/// first. The others follow in order around the outline.
pub fn outline(
    points: &[Meeting],
    hull: &[Meeting],
    dimension: usize,
    near: f64,
    slack: f64,
) -> Meetings {
    let Some((depth, deepest)) = farthest(points, Meeting::depth) else {
        return Meetings::new();
    };
    let mut chosen: Meetings = best_four(hull, depth - slack)
        .into_iter()
        .filter_map(|index| hull.get(index).copied())
        .collect();
    if chosen.iter().all(|corner| corner.depth() < depth - slack) {
        // The deepest point is no corner, because the surfaces are not flat.
        let most = if dimension == 2 { 2 } else { 4 };
        let nearest = farthest(&chosen, |corner| -distance(corner.at, deepest.at));
        let is_full = chosen.len() >= most;
        let replaced = nearest.filter(|(away, _)| is_full || -away <= near);
        chosen.retain(|corner| replaced.is_none_or(|(_, old)| old.at != corner.at));
        insert_around(&mut chosen, deepest);
    }
    let start = farthest(&chosen, Meeting::depth).map(|(_, first)| first.at);
    let before = chosen.iter().take_while(|corner| Some(corner.at) != start);
    let before = before.count() % chosen.len().max(1);
    chosen.rotate_left(before);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(x: f64, y: f64, depth: f64) -> Meeting {
        Meeting {
            at: [x, y],
            first: depth,
            second: 0.0,
        }
    }

    /// The deepest point, which is no corner, takes the place of the corner beside it.
    #[test]
    fn an_outline_with_the_deepest_point_does_not_cross_itself() {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let hull = corners.map(|(x, y)| meeting(x, y, 0.0));
        for (x, y) in [(0.9, 0.2), (0.8, 0.9), (0.1, 0.7), (0.2, 0.1), (0.5, 0.4)] {
            let mut points = hull.to_vec();
            points.push(meeting(x, y, 1.0));
            let found = outline(&points, &hull, 3, 1e-6, 1e-6);
            assert_eq!(found.len(), 4);
            let ends = found.iter().skip(1).chain(found.first());
            let area: f64 = found.iter().zip(ends).map(|(a, b)| cross(a.at, b.at)).sum();
            // Half of the square, and the triangle over its diagonal.
            let sum = [x + y, 2.0 - x - y, 1.0 + x - y, 1.0 + y - x];
            let expected = sum.into_iter().fold(0.0, f64::max);
            assert!(
                (area.abs() - expected).abs() < 1e-12,
                "{area}, not {expected}"
            );
            assert_eq!(found.first().map(|first| first.at), Some([x, y]));
        }
    }
}
