//! Points, segments and boxes, in closed form: the cores of balls, of capsules, and of boxes with a margin or without.
//!
//! All three are a *block*: the box from -h to h in the shape's own frame, where h has no component that is not 0, one, or
//! all of them. Whatever says so by [`Support::block`] is solved here, where it is well conditioned; the rest, and what is
//! only near contact where a direction would be noise, stays with GJK and EPA. The decision is one of the pair and its
//! poses, and the same for all queries.
//!
//! Let the second block have its centre at c, its axes b_j be the columns of R and its half size be k.
//!
//! *A point and a block.* In the frame of the block, the nearest point q of it has the point's coordinates, clamped to ±h.
//! Where nothing is clamped the point is inside, and the way out is through the nearest face; of a segment, on which it lies
//! then, across.
//!
//! *Segments.* The nearest points of s h and c + t k b are an end of the one and what is nearest to it on the
//! other, or those where both lines are met at right angles (Ericson, "Real-Time Collision Detection" (2005), chapter
//! 5.1.9): in space their distance is that of c along h ∧ b, whose direction keeps all digits.
//!
//! *With a box.* The difference of two blocks is c moved over all that ±h and ±k span: a zonotope. Along a unit vector n, of
//! the sign for which n·c >= 0, it is
//!
//! ```text
//! g(n) = n·c - Σ |n_i| h_i - Σ |n·b_j| k_j
//! ```
//!
//! from the origin. That is a lower bound of the distance, and -g(n) an upper bound of the depth; and the depth is the least
//! of these over the normals of its facets, which are those of both boxes and, in space, e_i ∧ b_j for each two edges
//! (the separating axes of Gottschalk, Lin and Manocha, "OBBTree" (1996)). What departs from there: the axes are of unit
//! length, as a depth is to be read off; where one of edges is not better than that of a face by more than rounding, the
//! face counts, because a feature that lies flat on a face makes them equal; and the points in contact come with it.

use crate::{
    query::{
        epa::{Penetration, settled},
        minkowski::MinkowskiDifference,
    },
    space::{DVector, Pose},
    tolerance::{CORE_CONTACT, FLAT, PARALLEL, TOUCHING},
};

/// What is known of two blocks.
pub enum Blocks<D> {
    /// Everything: the contact of the cores; where they are apart its depth is less than 0.
    Met(Penetration<D>),
    /// That the shapes are apart.
    Apart,
}

/// How often at most the points in common of a face and what lies flat on it are sought by going to and fro.
const ROUNDS: usize = 4;

impl<D: DVector> Blocks<D> {
    /// For a pair of blocks that closed forms do for.
    #[inline(always)]
    pub fn new(pair: &impl MinkowskiDifference<Vector = D>) -> Option<Self> {
        let Some([first, second]) = pair.boxes() else {
            return if D::DIMENSION == 2 {
                Self::of_polygons(pair)
            } else {
                None
            };
        };
        let reach = pair.radius_sum();
        let scale = first.length() + second.length() + reach;
        if !(scale.is_finite() && pair.relative().translation.is_finite()) {
            return None;
        }
        let sides = Sides {
            halves: [first, second],
            relative: *pair.relative(),
            scale,
        };
        // A point is the second of a pair.
        if second == D::ZERO {
            return Some(Self::Met(if first == D::ZERO {
                sides.points()
            } else {
                sides.block_and_point()
            }));
        }
        match [dimensions(first), dimensions(second)] {
            [1, 1] => {
                let met = sides.segments()?;
                Some(Self::Met(settled(pair, met)))
            }
            [size, other] if size == D::DIMENSION || other == D::DIMENSION => {
                let axis = sides.axis(reach + TOUCHING * scale);
                if axis.gap > reach + TOUCHING * scale {
                    Some(Self::Apart)
                } else if axis.gap <= 0.0 {
                    Some(Self::Met(settled(pair, sides.contact(&axis))))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Whether the shapes touch.
    #[inline]
    pub fn hit(&self, reach: f64) -> bool {
        match self {
            Self::Met(cores) => -cores.depth <= reach + TOUCHING * cores.scale,
            Self::Apart => false,
        }
    }
}

/// How many components are not 0.
#[inline]
fn dimensions<D: DVector>(half: D) -> usize {
    (0..D::DIMENSION)
        .map(|index| usize::from(half.component(index) != 0.0))
        .sum()
}

/// Whether a block has faces across this axis.
#[inline]
fn has_face<D: DVector>(half: D, axis: usize) -> bool {
    (0..D::DIMENSION).all(|index| index == axis || half.component(index) != 0.0)
}

/// An axis along which the blocks are apart, or in each other.
#[derive(Clone, Copy, Debug)]
struct Axis<D> {
    /// Unit, from the first block to the second.
    normal: D,
    /// g(n).
    gap: f64,
    kind: Kind,
}

/// How far a block reaches along a direction: Σ |d_i| h_i.
#[inline]
fn reach_along<D: DVector>(half: D, direction: D) -> f64 {
    direction.dot(half.copysign(direction))
}

/// At right angles to two edges.
#[inline(always)]
fn edges_across<D: DVector>(edge: D, other: D) -> D {
    D::perpendicular(&[edge, other]).unwrap_or(D::ZERO)
}

/// What an axis is at right angles to.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A face of the first block.
    First,
    /// A face of the second one.
    Second,
    /// An edge of either.
    Edges(usize, usize),
}

/// Two blocks, in the frame of the first.
struct Sides<D: DVector> {
    halves: [D; 2],
    relative: Pose<D>,
    scale: f64,
}

impl<D: DVector> Sides<D> {
    /// The same in the frame of the second, which is the first then.
    #[inline]
    fn turned(&self) -> Self {
        let [first, second] = self.halves;
        let rotation = D::transpose(self.relative.rotation);
        Self {
            halves: [second, first],
            relative: Pose {
                rotation,
                translation: rotation * -self.relative.translation,
            },
            scale: self.scale,
        }
    }

    /// The contact of two points.
    #[inline(always)]
    fn points(&self) -> Penetration<D> {
        let second = self.relative.translation;
        Penetration {
            normal: second.unit().unwrap_or(D::axis(0)),
            depth: -second.length(),
            first: D::ZERO,
            second,
            scale: self.scale,
        }
    }

    /// The contact of any block with a point.
    #[inline(always)]
    fn block_and_point(&self) -> Penetration<D> {
        let [half, _] = self.halves;
        let second = self.relative.translation;
        let first = second.clamped(half);
        let way = second - first;
        let gap = way.length();
        if let Some(normal) = way.unit() {
            return Penetration {
                normal,
                depth: -gap,
                first,
                second,
                scale: self.scale,
            };
        }
        self.point_inside()
    }

    /// The contact of a block with a point in it.
    // In line, so that either contact is written where it is wanted.
    #[inline(always)]
    fn point_inside(&self) -> Penetration<D> {
        let [half, _] = self.halves;
        let second = self.relative.translation;
        let mut depth = f64::INFINITY;
        let mut face = D::axis(0);
        for index in 0..D::DIMENSION {
            let axis = D::axis(index).toward(second);
            let beneath = axis.dot(half.copysign(axis) - second);
            if beneath < depth {
                (depth, face) = (beneath, axis);
            }
        }
        Penetration {
            normal: face,
            depth,
            first: second + face * depth,
            second,
            scale: self.scale,
        }
    }

    /// The contact of two segments, but for those that touch without crossing each other.
    fn segments(&self) -> Option<Penetration<D>> {
        let centre = self.relative.translation;
        let [u, w] = [self.halves[0], self.relative.rotation * self.halves[1]];
        let [uu, ww, uw] = [u.dot(u), w.dot(w), u.dot(w)];
        let [cu, cw] = [centre.dot(u), centre.dot(w)];
        let at = |s: f64, t: f64| [u * s, centre + w * t];
        let apart = |normal: D, gap: f64, [first, second]: [D; 2]| Penetration {
            normal,
            depth: -gap,
            first,
            second,
            scale: self.scale,
        };
        if let Some([s, t]) = crossing(u, w, centre)
            && s.abs() <= 1.0
            && t.abs() <= 1.0
        {
            let Some(across) = D::perpendicular(&[u, w]) else {
                // In the plane there is no such direction: they cross each other.
                let axis = self.axis(f64::INFINITY);
                return (axis.gap <= 0.0).then(|| self.contact(&axis));
            };
            let normal = across.unit()?.toward(centre);
            return Some(apart(normal, normal.dot(centre), at(s, t)));
        }
        // Along a segment of square s from its centre, what is nearest to a height of `along` over it.
        let nearest = |along: f64, square: f64| {
            if square > 0.0 {
                (along / square).clamp(-1.0, 1.0)
            } else {
                0.0
            }
        };
        let ends = [
            at(nearest(cu + uw, uu), 1.0),
            at(nearest(cu - uw, uu), -1.0),
            at(1.0, nearest(uw - cw, ww)),
            at(-1.0, nearest(-uw - cw, ww)),
        ];
        let far = |points: &[D; 2]| (points[1] - points[0]).length_squared();
        let best = ends.into_iter().reduce(|best, other| {
            if far(&other) < far(&best) {
                other
            } else {
                best
            }
        })?;
        let way = best[1] - best[0];
        let gap = way.length();
        // A direction that is known to too few digits is left to GJK.
        let is_known = gap > CORE_CONTACT * self.scale;
        is_known.then_some(apart(way.unit()?, gap, best))
    }

    /// The axis of the greatest gap; or any with one beyond `enough`.
    ///
    /// Which one is greater cannot be foretold: so the gaps are compared without a branch, and the axis itself is made of
    /// the number of the greatest.
    #[inline]
    fn axis(&self, enough: f64) -> Axis<D> {
        let Pose {
            rotation,
            translation: centre,
        } = self.relative;
        let inverse = D::transpose(rotation);
        let [first, second] = self.halves;
        let (mut gap, mut number) = (f64::NEG_INFINITY, 0);
        for index in 0..D::DIMENSION {
            // The axis as the other block sees it is a row of the rotation, or a column.
            let (row, column) = (D::column(inverse, index), D::column(rotation, index));
            let of_first = centre.component(index).abs() - first.component(index);
            let of_second = column.dot(centre).abs() - second.component(index);
            let of_first = of_first - reach_along(second, row);
            let of_second = of_second - reach_along(first, column);
            let better = of_first > gap && has_face(first, index);
            gap = if better { of_first } else { gap };
            number = if better { 2 * index } else { number };
            let better = of_second > gap && has_face(second, index);
            gap = if better { of_second } else { gap };
            number = if better { 2 * index + 1 } else { number };
        }
        let (index, is_of_second) = (number / 2, number % 2 == 1);
        let (axis, kind) = if is_of_second {
            (D::column(rotation, index), Kind::Second)
        } else {
            (D::axis(index), Kind::First)
        };
        let face = Axis {
            normal: axis.toward(centre),
            gap,
            kind,
        };
        if D::DIMENSION == 2 || gap > enough {
            return face;
        }
        let (mut gap, mut number) = (f64::NEG_INFINITY, 0);
        for index in 0..D::DIMENSION {
            for other in 0..D::DIMENSION {
                // Of length l; and the same as the second block sees it, Rᵀ (e_i ∧ b_j) = Rᵀ e_i ∧ e_j.
                let across = edges_across(D::axis(index), D::column(rotation, other));
                let inner = edges_across(D::column(inverse, index), D::axis(other));
                let square = across.length_squared();
                // l g(n).
                let scaled = across.dot(centre).abs()
                    - reach_along(first, across)
                    - reach_along(second, inner);
                let seen = scaled / square.sqrt();
                let are_edges = first.component(index) != 0.0 && second.component(other) != 0.0;
                let better = are_edges && square > PARALLEL && seen > gap;
                gap = if better { seen } else { gap };
                number = if better { 3 * index + other } else { number };
            }
        }
        // An axis of edges has to be better by more than rounding.
        let (index, other) = (number / 3, number % 3);
        let across = edges_across(D::axis(index), D::column(rotation, other));
        match across.unit() {
            Some(axis) if gap > face.gap + FLAT * self.scale => Axis {
                normal: axis.toward(centre),
                gap,
                kind: Kind::Edges(index, other),
            },
            _ => face,
        }
    }

    /// The contact along an axis.
    #[inline]
    fn contact(&self, axis: &Axis<D>) -> Penetration<D> {
        let [first, second] = match axis.kind {
            Kind::First => self.on_face(axis.normal, -axis.gap),
            Kind::Second => {
                let turned = self.turned();
                let normal = turned.relative.rotation * -axis.normal;
                let [second, first] = turned.on_face(normal, -axis.gap);
                let place = |point| self.relative.rotation * point + self.relative.translation;
                [place(first), place(second)]
            }
            Kind::Edges(index, other) => self.on_edges(axis.normal, index, other),
        };
        Penetration {
            normal: axis.normal,
            depth: -axis.gap,
            first,
            second,
            scale: self.scale,
        }
    }

    /// Of a contact with a face of the first block, whose outward normal is given, the points of both.
    ///
    /// The second block's point is the corner that is deepest. Where an edge or a face of it is as deep, it is some point of
    /// that which lies on the face: from the middle to what is nearest there, and back.
    #[inline]
    fn on_face(&self, normal: D, depth: f64) -> [D; 2] {
        let [half, other] = self.halves;
        let rotation = self.relative.rotation;
        let inner = D::transpose(rotation) * -normal;
        let mut corner = D::ZERO;
        let mut free = D::ZERO;
        for index in 0..D::DIMENSION {
            let axis = D::axis(index);
            let along = axis * other.component(index);
            if (inner.component(index) * other.component(index)).abs() <= FLAT * self.scale {
                free = free + along;
            } else {
                corner = corner + along;
            }
        }
        let corner = self.relative.translation + rotation * corner.copysign(inner);
        let mut second = corner;
        let mut first = (second + normal * depth).clamped(half);
        if free != D::ZERO {
            for _ in 0..ROUNDS {
                let way = (D::transpose(rotation) * (first - corner)).clamped(free);
                second = corner + rotation * way;
                first = (second + normal * depth).clamped(half);
            }
        }
        [first, second]
    }

    /// Of a contact of two edges, of an axis each, the points of both: where the lines come nearest.
    #[inline]
    fn on_edges(&self, normal: D, index: usize, other: usize) -> [D; 2] {
        let [first, second] = self.halves;
        let rotation = self.relative.rotation;
        let inner = D::transpose(rotation) * -normal;
        let [u, w] = [D::axis(index), D::column(rotation, other)];
        let [along_u, along_w] = [first.component(index), second.component(other)];
        // The middles of the edges.
        let a = first.copysign(normal);
        let a = a - u * a.component(index);
        let b = second.copysign(inner);
        let b = rotation * (b - D::axis(other) * b.component(other)) + self.relative.translation;
        let [s, t] = crossing(u, w, b - a).unwrap_or([0.0; 2]);
        [
            a + u * s.clamp(-along_u, along_u),
            b + w * t.clamp(-along_w, along_w),
        ]
    }
}

/// Where the lines s u and c + t w come nearest to each other: s and t, or `None` if they are parallel.
///
/// s u + m = c + t w, with m along n = u ∧ w. The areas of both sides with w and with u, along n, are s n·n = (c ∧ w)·n and
/// t n·n = (c ∧ u)·n.
#[inline]
fn crossing<D: DVector>(u: D, w: D, c: D) -> Option<[f64; 2]> {
    let normal = u.wedge(w);
    let square = D::dot_areas(normal, normal);
    let along = |direction: D| D::dot_areas(c.wedge(direction), normal) / square;
    (square > PARALLEL * u.length_squared() * w.length_squared()).then(|| [along(w), along(u)])
}
