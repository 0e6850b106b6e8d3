//! Two convex polygons of few sides, or one and a point, in closed form.
//!
//! *Two polygons.* The difference of two polygons is one, whose sides have the normals of both: so the depth of an overlap
//! is the least over these normals, and where the two are apart, one of them shows a gap (the separating axes of Gottschalk,
//! Lin and Manocha, "OBBTree" (1996), in the plane). Along side i of a polygon, with the outward normal n and the corner a
//! on it, and the corners b_j of the other polygon,
//!
//! ```text
//! g = min_j n·b_j - n·a
//! ```
//!
//! is a lower bound of the distance, and -g an upper one of the depth. What departs from the usual way: all corners are
//! looked at for each side, four at a time and without a branch, which up to sixteen is faster than to find the lowest one
//! from that of the side before; and the points in contact are in the middle of what the two sides have in common.
//!
//! *A polygon and a point.* The side with the greatest g is the one that the point is nearest to: with the point beside a
//! side, n·(p - a) is less for all other normals; and off a corner, for all but those of the two sides that meet there,
//! because the normals of the others are turned farther away from p. So the nearest point is on that side or at an end of
//! it, and inside, the way out is over it.

use crate::{
    query::{
        analytic::boxes::Blocks,
        epa::{Penetration, settled},
        minkowski::MinkowskiDifference,
    },
    shape::{Core, MAX_EDGES, Polygon},
    space::{DVector, Pose},
    tolerance::{CORE_CONTACT, FLAT, OFFSET, TOUCHING},
};

/// Some corners by coordinate.
#[derive(Clone, Copy)]
struct Four {
    xs: [f64; 4],
    ys: [f64; 4],
}

/// A polygon in the frame of the pair.
struct Placed<D> {
    /// The corners, to be looked at by fours. What is beyond their number repeats one of them.
    fours: [Four; MAX_EDGES / 4],
    normals: [D; MAX_EDGES],
    /// Each normal's height of its side.
    heights: [f64; MAX_EDGES],
    count: usize,
    /// A point inside.
    middle: D,
}

// Written out with neither `zip` nor `map`, which are calls where they are not optimised across units of code.
impl<D: DVector> Placed<D> {
    /// A polygon in a pose.
    #[inline(always)]
    fn new(outline: &Polygon<D>, pose: &Pose<D>) -> Self {
        let place = |corner: D| pose.rotation * corner + pose.translation;
        let anywhere = outline
            .edges()
            .next()
            .map_or(D::ZERO, |side| place(side.start));
        let mut placed = Self {
            fours: [Four {
                xs: [anywhere.component(0); 4],
                ys: [anywhere.component(1); 4],
            }; MAX_EDGES / 4],
            normals: [D::ZERO; MAX_EDGES],
            heights: [0.0; MAX_EDGES],
            count: outline.edges().len().min(MAX_EDGES),
            middle: place(outline.center()),
        };
        for (number, side) in outline.edges().enumerate() {
            let (start, turned) = (place(side.start), pose.rotation * side.normal);
            if let (Some(four), Some(normal), Some(height)) = (
                placed.fours.get_mut(number / 4),
                placed.normals.get_mut(number),
                placed.heights.get_mut(number),
            ) && let (Some(x), Some(y)) =
                (four.xs.get_mut(number % 4), four.ys.get_mut(number % 4))
            {
                (*x, *y) = (start.component(0), start.component(1));
                *normal = turned;
                *height = start.dot(turned);
            }
        }
        placed
    }

    /// A corner, counted round.
    #[inline]
    fn corner(&self, number: usize) -> D {
        let number = if number >= self.count { 0 } else { number };
        let corner = self.fours.get(number / 4).and_then(|four| {
            let (x, y) = (four.xs.get(number % 4)?, four.ys.get(number % 4)?);
            Some(D::axis(0) * *x + D::axis(1) * *y)
        });
        corner.unwrap_or(D::ZERO)
    }

    /// The least height of a corner along a direction.
    #[inline]
    fn least(&self, direction: D) -> f64 {
        let (along_x, along_y) = (direction.component(0), direction.component(1));
        let lesser = |a: f64, b: f64| if b < a { b } else { a };
        let fours = self.fours.get(..self.count.div_ceil(4)).unwrap_or_default();
        let [mut a, mut b, mut c, mut d] = [f64::INFINITY; 4];
        for Four { xs, ys } in fours {
            a = lesser(a, xs[0] * along_x + ys[0] * along_y);
            b = lesser(b, xs[1] * along_x + ys[1] * along_y);
            c = lesser(c, xs[2] * along_x + ys[2] * along_y);
            d = lesser(d, xs[3] * along_x + ys[3] * along_y);
        }
        lesser(lesser(a, b), lesser(c, d))
    }

    /// The side along which another polygon is farthest away, or least deep, if it is farther than `best` or less deep: the
    /// gap, negative for a depth, and the side's number.
    ///
    /// Along no side is the gap more than to a point inside of the other one. So the side with the most of that comes
    /// first, and of the others only those which have more of it than the gap that is known.
    #[inline]
    fn gap(&self, other: &Self, best: f64) -> Option<(f64, usize)> {
        let mut bounds = [f64::NEG_INFINITY; MAX_EDGES];
        let (mut most, mut first) = (f64::NEG_INFINITY, 0);
        for (number, bound) in bounds.iter_mut().enumerate() {
            if number >= self.count {
                break;
            }
            let (normal, height) = self.side(number);
            *bound = other.middle.dot(normal) - height;
            first = if *bound > most { number } else { first };
            most = if *bound > most { *bound } else { most };
        }
        let mut found = None;
        let mut least = best;
        let mut look = |number: usize, least: &mut f64| {
            let (normal, height) = self.side(number);
            let gap = other.least(normal) - height;
            if gap > *least {
                *least = gap;
                found = Some((gap, number));
            }
        };
        look(first, &mut least);
        for (number, bound) in bounds.iter().enumerate() {
            if *bound > least && number != first {
                look(number, &mut least);
            }
        }
        found
    }

    /// The normal of a side, and its height along it.
    #[inline]
    fn side(&self, number: usize) -> (D, f64) {
        match (self.normals.get(number), self.heights.get(number)) {
            (Some(normal), Some(height)) => (*normal, *height),
            _ => (D::ZERO, f64::INFINITY),
        }
    }

    /// Of a polygon that is so deep beneath a side, the points of both: on the side, and of the other.
    ///
    /// All corners of the other one within FLAT of the lowest are as deep. Along the side, from its start on, they take a
    /// range, which has a part in common with the side's own, from 0 to its length.
    #[inline]
    fn meet(&self, number: usize, other: &Self, scale: f64) -> [D; 2] {
        let start = self.corner(number);
        let way = self.corner(number + 1) - start;
        let (normal, _) = self.side(number);
        let lowest = other.least(normal) + FLAT * scale;
        let square = way.length_squared();
        let (mut near, mut far) = ((f64::INFINITY, D::ZERO), (f64::NEG_INFINITY, D::ZERO));
        for number in 0..other.count {
            let corner = other.corner(number);
            let along = (corner - start).dot(way) / square;
            if corner.dot(normal) <= lowest {
                near = if along < near.0 {
                    (along, corner)
                } else {
                    near
                };
                far = if along > far.0 { (along, corner) } else { far };
            }
        }
        let middle = 0.5 * (near.0.clamp(0.0, 1.0) + far.0.clamp(0.0, 1.0));
        let range = far.0 - near.0;
        let part = if range > 0.0 {
            ((middle - near.0) / range).clamp(0.0, 1.0)
        } else {
            0.0
        };
        [start + way * middle, near.1 + (far.1 - near.1) * part]
    }
}

impl<D: DVector> Blocks<D> {
    /// For a pair of polygons, or of a polygon and a point, that closed forms do for.
    #[inline(never)]
    pub fn of_polygons(pair: &impl MinkowskiDifference<Vector = D>) -> Option<Self> {
        let [first, second] = pair.cores().map(Core::polygon);
        let first = first?;
        let offset = first.extent() + second.map_or(0.0, |second| second.extent());
        let size = first.half_diagonal() + second.map_or(0.0, |second| second.half_diagonal());
        let reach = pair.radius_sum();
        let scale = size.max(OFFSET * offset) + reach;
        if !(scale.is_finite() && pair.relative().translation.is_finite()) {
            return None;
        }
        let Some(second) = second else {
            let met = if pair.has_point() {
                beside(&first, pair.relative().translation, scale)
            } else {
                None
            };
            return met.map(Self::Met);
        };
        let [first, second] = [
            Placed::new(&first, &Pose::IDENTITY),
            Placed::new(&second, pair.relative()),
        ];
        let enough = reach + TOUCHING * scale;
        // Of equals that of the first polygon.
        let (gap, number) = first.gap(&second, f64::NEG_INFINITY)?;
        if gap > enough {
            return Some(Self::Apart);
        }
        let (gap, number, is_of_first) = match second.gap(&first, gap) {
            Some((gap, number)) => (gap, number, false),
            None => (gap, number, true),
        };
        if gap > 0.0 {
            // Between a depth of 0 and the tolerance, or within the radii, the nearest points count: that is left to GJK.
            return (gap > enough).then_some(Self::Apart);
        }
        let depth = -gap;
        let (normal, [first, second]) = if is_of_first {
            let (normal, _) = first.side(number);
            (normal, first.meet(number, &second, scale))
        } else {
            let (normal, _) = second.side(number);
            let [on_second, on_first] = second.meet(number, &first, scale);
            (-normal, [on_first, on_second])
        };
        let met = Penetration {
            normal,
            depth,
            first,
            second,
            scale,
        };
        Some(Self::Met(settled(pair, met)))
    }
}

/// The contact of a polygon with a point, unless it is so near to a corner that its direction from there is noise.
#[inline]
fn beside<D: DVector>(outline: &Polygon<D>, point: D, scale: f64) -> Option<Penetration<D>> {
    let mut best = (f64::NEG_INFINITY, 0);
    for (number, side) in outline.edges().enumerate() {
        let gap = (point - side.start).dot(side.normal);
        if gap > best.0 {
            best = (gap, number);
        }
    }
    let (gap, number) = best;
    let side = outline.edges().nth(number)?;
    let next = outline.edges().cycle().nth(number + 1)?;
    let [start, end] = [side.start, next.start];
    let way = end - start;
    let along = (point - start).dot(way) / way.length_squared();
    let (normal, gap, first) = if gap <= 0.0 || (0.0..=1.0).contains(&along) {
        (side.normal, gap, point - side.normal * gap)
    } else {
        let corner = if along > 0.0 { end } else { start };
        let gap = (point - corner).length();
        if gap <= CORE_CONTACT * scale {
            return None;
        }
        ((point - corner).unit()?, gap, corner)
    };
    Some(Penetration {
        normal,
        depth: -gap,
        first,
        second: point,
        scale,
    })
}
