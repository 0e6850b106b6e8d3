//! EPA: how deep are two cores in each other, and which way is out?
//!
//! The depth is the distance from the origin to the boundary of the Minkowski difference Y, the least of its support
//! values h(n) over all unit vectors n. Van den Bergen, "Proximity Queries and Penetration Depth Computation on 3D Game
//! Objects" (2001): grow a polytope inside of Y, from the simplex with which GJK ended, by the support point of Y along
//! the normal of the facet nearest to the origin, until Y ends where that facet lies. The facet's distance is a lower
//! bound of the depth, its h(n) an upper one. What departs from the paper, and why:
//!
//! * *Y may be flat.* GJK may end with one, two or three vertices, and Y may have no more dimensions than that (two
//!   segments that cross, two faces in one plane, a point in a point). The start is grown vertex by vertex along
//!   directions at right angles to it; whenever Y does not reach beyond the origin in such a direction, the depth is 0
//!   and the direction is a normal: no depth is less. So every dimension from 0 to full is a normal case.
//! * *The result is a true upper bound.* The depth is h(n) itself, so that a move by it along n separates, whatever
//!   became of the polytope. By how much it may exceed the least one is known while the loop runs: DEPTH_GAP, if it ends.
//! * *Where the loop must end early* (no room, or rounding: a tangled polytope, a vertex that repeats), the axes of both
//!   shapes are tried as well, and GJK takes the best direction, and some that the polytope leaves open, the rest of the
//!   way: see [`finish`].

use crate::{
    query::{
        gjk::{Gjk, Goal},
        minkowski::{MinkowskiDifference, Vertex},
        simplex::{Nearest, Simplex, nearest, nearest_to},
    },
    space::{DVector, Facet, Growth, List, Polytope},
    tolerance::{COPLANAR, DEPTH_GAP, FLAT, LINE_TILT, OPEN_APART, ROUNDING},
};

/// Room for vertices and facets, in space two facets a vertex by Euler's formula. The usual room does for all but a few
/// pairs, most of which take 10 to 20 vertices.
const USUAL: (usize, usize) = (64, 124);

/// The room for the few: shapes of hundreds of points, or round ones, around one centre, where the way out is nearly as
/// long in all directions and each of them must be looked along.
const LARGE: (usize, usize) = (1024, 2044);

/// More steps than this are not made towards the least depth near a direction. A polytope has few supporting planes near
/// one another; on a smooth shape that is nearly round each step gains but a part of what is missing.
const MAX_DESCENT: usize = 12;

/// After an early end the way out is sought from the best direction and from no more than so many others: facets of the
/// polytope that are nearer than the best direction is deep, so that Y may be less deep beyond them.
const MAX_OPEN: usize = 16;

/// More steps than these are not made along a curved surface: each squares the error of the one before.
const MAX_POLISH: usize = 3;

/// The way out of an overlap of cores.
#[derive(Clone, Copy, Debug)]
pub struct Penetration<D> {
    /// Unit, from the first shape to the second.
    pub normal: D,
    /// How far the second core must move along the normal, to touch the first one.
    pub depth: f64,
    /// The deepest point of the first core within the second.
    pub first: D,
    /// The deepest point of the second core within the first.
    pub second: D,
    /// The size of the pair, as far as it has been seen: see [`tolerance`](crate::tolerance).
    pub scale: f64,
}

impl<D: DVector> Penetration<D> {
    /// What a look along a unit vector says by itself: Y's support point there.
    #[inline]
    fn seen(normal: D, vertex: &Vertex<D>, scale: f64) -> Self {
        Self {
            normal,
            scale,
            depth: vertex.point.dot(normal),
            first: vertex.first,
            second: vertex.second,
        }
    }

    /// Where a facet of Y comes nearest to what this says is the end of the way out, seen from there.
    fn foot_on(&self, corners: &[Vertex<D>]) -> Nearest<D> {
        nearest_to(self.normal * self.depth, corners)
    }

    /// The same way out, with the points that meet there on a facet of Y.
    fn met_on(self, corners: &Simplex<D>) -> Self {
        let (first, second) = self.foot_on(corners).witnesses(corners);
        Self {
            depth: self.depth.max(0.0),
            first,
            second,
            ..self
        }
    }
}

/// The way out for cores in contact, from the simplex with which GJK ended.
pub fn penetration<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    scale: f64,
) -> Penetration<D> {
    let found = search::<_, { USUAL.0 }, { USUAL.1 }>(pair, start, scale)
        .unwrap_or_else(|cut_short| otherwise(pair, start, scale, cut_short));
    settled(pair, found)
}

/// A way out whose points may not be quite opposite to each other, with points that are.
#[inline(always)]
pub fn settled<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    found: Penetration<D>,
) -> Penetration<D> {
    // Where the facet that was settled on stands for a curved surface, its foot may be off, along the surface, by the root
    // of what the depth is off: then GJK has better points. Half of what is left of it at each shape leaves the points
    // opposite to each other.
    let missed = |found: &Penetration<D>| found.first - found.second - found.normal * found.depth;
    // Blocks that are apart come here too, and may be tiny for how far that is.
    let scale = found.scale.max(-found.depth);
    let found = if missed(&found).length() > 2.0 * DEPTH_GAP * scale {
        meet(pair, found).0
    } else {
        found
    };
    let half = missed(&found) * 0.5;
    Penetration {
        first: found.first - half,
        second: found.second + half,
        ..found
    }
}

/// The way out where the usual search was cut short: for want of room, by another one from the beginning. Out of line: its
/// room on the stack is taken by those only who need it.
#[cold]
#[inline(never)]
fn otherwise<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    scale: f64,
    cut_short: CutShort<D>,
) -> Penetration<D> {
    if !cut_short.full {
        return finish(pair, cut_short);
    }
    search::<_, { LARGE.0 }, { LARGE.1 }>(pair, start, scale)
        .unwrap_or_else(|cut_short| finish(pair, cut_short))
}

/// EPA with room for as many vertices and facets.
fn search<D: DVector, const VERTICES: usize, const FACETS: usize>(
    pair: &impl MinkowskiDifference<Vector = D>,
    start: &Simplex<D>,
    scale: f64,
) -> Result<Penetration<D>, CutShort<D>> {
    // What is large is filled where it is, and never moved.
    let mut search = Search::<D, _, VERTICES, FACETS> {
        support: |direction| pair.vertex(direction),
        vertices: List::new(),
        points: List::new(),
        polytope: D::Polytope::new(),
        scale,
        best: None,
        open: List::new(),
    };
    for vertex in start.iter() {
        search.push(*vertex);
    }
    let outcome = search.span().unwrap_or_else(|| search.expand());
    match outcome {
        Outcome::Flat(found) | Outcome::Converged(found) => Ok(found),
        Outcome::Full | Outcome::Tangled | Outcome::Repeats | Outcome::NoShape => Err(CutShort {
            full: matches!(outcome, Outcome::Full),
            best: search.best.unwrap_or_else(|| search.look(D::axis(0)).1),
            open: search.open,
            scale: search.scale,
        }),
    }
}

/// What is left of a search that had to end early. By how much its best may exceed the least depth is not known: [`query`]
/// tells what has been found of that.
///
/// [`query`]: crate::query
struct CutShort<D> {
    /// Whether it was for want of room.
    full: bool,
    /// The direction of least depth of all that were looked along.
    best: Penetration<D>,
    /// Other directions near which it may be less.
    open: List<D, MAX_OPEN>,
    scale: f64,
}

/// How the search ended.
enum Outcome<D> {
    /// Y reaches no farther than the origin in a direction.
    Flat(Penetration<D>),
    /// The bounds have met.
    Converged(Penetration<D>),
    /// There is no room for more vertices or facets.
    Full,
    /// Rounding has left the polytope without a simple rim, or without any facet with an area.
    Tangled,
    /// A vertex came for the second time, although the bounds have not met: rounding.
    Repeats,
    /// A support point was not finite.
    NoShape,
}

/// From a direction n to one of the least depth near it, with its witness points.
///
/// Y moved by -h(n) n has the origin on its supporting plane. If it reaches the origin there, n is the way out, and GJK
/// tells the points in contact: those of the two shapes just after the move. If it does not, GJK tells Y's point y nearest
/// to p = h(n) n, and the direction m from y to p: all of Y lies below the plane through y with normal m, so that h(m) =
/// m·y = m·p - |p - y| <= h(n) - |p - y| is less. So each step ends the search or lessens the depth by what it missed.
///
/// On a surface that is nearly round about the origin that is but a small part of what there is to gain, and [`bend`]
/// takes the longer step.
fn descend<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    mut best: Penetration<D>,
) -> Penetration<D> {
    let scale = best.scale;
    let look = |normal| Penetration::seen(normal, &pair.vertex(normal), scale);
    for _ in 0..MAX_DESCENT {
        let (met, miss) = meet(pair, best);
        let missed = miss.length() > FLAT * scale;
        // From y to p.
        let next = (-miss).unit().map(look);
        let Some(next) = next.filter(|next| missed && next.depth < best.depth) else {
            return met;
        };
        let farther = bend(&best, &next).map(look);
        best = farther.filter(|it| it.depth < next.depth).unwrap_or(next);
    }
    meet(pair, best).0
}

/// The way out, where the search for it had to end early.
fn finish<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    CutShort {
        best, open, scale, ..
    }: CutShort<D>,
) -> Penetration<D> {
    let look = |normal| Penetration::seen(normal, &pair.vertex(normal), scale);
    // What is round about an axis is as deep all around, and a cap that is a little nearer is lost among so many ties.
    // Caps lie across the axes of their shape.
    let columns = |matrix| (0..D::DIMENSION).map(move |index| D::column(matrix, index));
    let axes = columns(D::IDENTITY).chain(columns(pair.relative().rotation));
    let less = |best: Penetration<D>, seen: Penetration<D>| {
        if seen.depth < best.depth { seen } else { best }
    };
    let best = axes
        .flat_map(|axis| [axis, -axis])
        .filter_map(DVector::unit)
        .map(look)
        .fold(best, less);
    let found = open
        .iter()
        .copied()
        .map(look)
        .map(|seen| descend(pair, seen))
        .fold(descend(pair, best), less);
    // Each of them has come some way, and the one that has come farthest goes on.
    descend(pair, found)
}

/// Moves the second shape out along a direction, as far as Y reaches: the points in which the two then meet, and by what
/// they miss each other, y - p.
fn meet<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    along: Penetration<D>,
) -> (Penetration<D>, D) {
    let way = along.normal * along.depth;
    let moved = pair.with_second_moved(way);
    let mut gjk = Gjk::new(&moved);
    gjk.run(&moved, Goal::Nearest);
    let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
    let met = Penetration {
        depth: along.depth.max(0.0),
        first,
        second: second - way,
        ..along
    };
    (met, gjk.nearest.point)
}

/// The direction of least depth, if Y were a ball: from what was seen along n and m near each other.
///
/// On a ball of radius r around c, y(n) = c + r n: so r = (y(m) - y(n))·(m - n) / |m - n|², and c = y(m) - r m. It reaches
/// least far beyond the origin along -c.
fn bend<D: DVector>(n: &Penetration<D>, m: &Penetration<D>) -> Option<D> {
    let turn = m.normal - n.normal;
    let support = |seen: &Penetration<D>| seen.first - seen.second;
    let radius = (support(m) - support(n)).dot(turn) / turn.length_squared();
    (m.normal * radius - support(m)).unit()
}

struct Search<D: DVector, F, const VERTICES: usize, const FACETS: usize> {
    /// The support vertex of Y in a direction.
    support: F,
    vertices: List<Vertex<D>, VERTICES>,
    /// The same vertices' points, for the polytope.
    points: List<D, VERTICES>,
    polytope: D::Polytope<FACETS>,
    scale: f64,
    /// What the direction of least depth, of all that were looked along, says by itself.
    best: Option<Penetration<D>>,
    /// After an early end, the other directions near which the depth may be less.
    open: List<D, MAX_OPEN>,
}

impl<D: DVector, F: Fn(D) -> Vertex<D>, const VERTICES: usize, const FACETS: usize>
    Search<D, F, VERTICES, FACETS>
{
    /// Looks along a unit vector: how far Y reaches, and at which vertex.
    #[inline]
    fn look(&mut self, normal: D) -> (Vertex<D>, Penetration<D>) {
        let vertex = (self.support)(normal);
        // GJK may have ended on a single vertex at the origin, and know nothing of the size of the pair.
        self.scale = self.scale.max(vertex.scale());
        let seen = Penetration::seen(normal, &vertex, self.scale);
        if self.best.is_none_or(|best| seen.depth < best.depth) {
            self.best = Some(seen);
        }
        (vertex, seen)
    }

    /// Adds a vertex, where there is room.
    #[inline]
    fn push(&mut self, vertex: Vertex<D>) {
        let _ = self.vertices.push(vertex);
        let _ = self.points.push(vertex.point);
    }

    fn pop(&mut self) {
        self.vertices.pop();
        self.points.pop();
    }

    /// Adds vertices until they span the space, or finds that Y ends at the origin.
    fn span(&mut self) -> Option<Outcome<D>> {
        // The origin lies in the simplex that GJK ended with, or as near to it as rounding let GJK come: these are the
        // points in common.
        let (first, second) = nearest(&self.vertices).witnesses(&self.vertices);
        // Each round adds a vertex or, at most once for each that GJK left, removes one.
        for _ in 0..2 * (D::DIMENSION + 1) {
            let normal = match self.perpendicular() {
                Perpendicular::Unit(normal) => normal,
                Perpendicular::Nothing => return None,
                Perpendicular::Degenerate => {
                    self.pop();
                    continue;
                }
            };
            let (vertex, seen) = self.look(normal);
            if seen.depth <= FLAT * self.scale {
                return Some(Outcome::Flat(Penetration {
                    depth: seen.depth.max(0.0),
                    first,
                    second,
                    ..seen
                }));
            }
            if !vertex.point.is_finite() {
                return Some(Outcome::NoShape);
            }
            // Independent of the others: they lie in a plane through the origin, but for less than FLAT.
            self.push(vertex);
        }
        Some(Outcome::Tangled)
    }

    /// What is at right angles to what the vertices span.
    fn perpendicular(&self) -> Perpendicular<D> {
        let Some((base, others)) = self.points.split_first() else {
            return Perpendicular::Nothing;
        };
        let mut edges = [D::ZERO; 3];
        for (edge, point) in edges.iter_mut().zip(others) {
            *edge = *point - *base;
        }
        let edges = edges.get(..others.len()).unwrap_or_default();
        match D::perpendicular(edges) {
            Some(normal) => normal
                .unit()
                .map_or(Perpendicular::Degenerate, Perpendicular::Unit),
            None if D::determinant(edges) == 0.0 => Perpendicular::Degenerate,
            None => Perpendicular::Nothing,
        }
    }

    /// The loop of EPA.
    fn expand(&mut self) -> Outcome<D> {
        if self.polytope.begin(&self.points).is_none() {
            return Outcome::Tangled;
        }
        loop {
            let Some(facet) = self.polytope.nearest() else {
                return Outcome::Tangled;
            };
            let (vertex, seen) = self.look(facet.normal);
            let gap = seen.depth - facet.distance;
            if gap <= DEPTH_GAP * self.scale {
                let Some(corners) = self.settle(seen) else {
                    return Outcome::Converged(seen);
                };
                // The bounds of a polytope meet; where they have not quite, the surface is curved.
                let found = if gap > ROUNDING * self.scale {
                    self.polish(seen, gap, corners)
                } else {
                    seen.met_on(&corners)
                };
                return Outcome::Converged(found);
            }
            if !vertex.point.is_finite() {
                return Outcome::NoShape;
            }
            if self.points.contains(&vertex.point) {
                return Outcome::Repeats;
            }
            if self.points.is_full() {
                self.leave_open();
                return Outcome::Full;
            }
            self.push(vertex);
            let tolerance = COPLANAR * self.scale;
            match self.polytope.grow(&self.points, &facet, tolerance) {
                Growth::Grown => {}
                Growth::Full => {
                    self.leave_open();
                    return Outcome::Full;
                }
                Growth::Tangled => return Outcome::Tangled,
            }
        }
    }

    /// Takes note of the nearest facets, of which no two point nearly the same way.
    #[cold]
    fn leave_open(&mut self) {
        let limit = self.best.map_or(f64::INFINITY, |best| best.depth);
        for _ in 0..MAX_OPEN {
            let near = |facet: &Facet<D>| {
                self.open
                    .iter()
                    .any(|open| open.dot(facet.normal) > OPEN_APART)
            };
            let next = self
                .polytope
                .facets()
                .filter(|facet| facet.distance < limit && !near(facet))
                .reduce(|best, other| {
                    if other.distance < best.distance {
                        other
                    } else {
                        best
                    }
                });
            let Some(next) = next else {
                break;
            };
            let _ = self.open.push(next.normal);
        }
    }

    /// The corners of the facet on the winning plane onto which the origin projects.
    ///
    /// That plane may be cut into several facets, of which the projection lies in one. A facet counts only if all of its
    /// vertices are on the plane; an equal distance alone would admit the opposite side of a symmetric body.
    fn settle(&self, seen: Penetration<D>) -> Option<Simplex<D>> {
        // Twice what the facet that was looked along may be lower, so that rounding does not exclude it.
        let lowest = seen.depth - 2.0 * DEPTH_GAP * self.scale;
        let is_on_plane = |number: &u16| {
            let point = self.points.get(usize::from(*number));
            point.is_some_and(|point| point.dot(seen.normal) >= lowest)
        };
        let mut best: Option<(f64, Simplex<D>)> = None;
        for facet in self.polytope.facets() {
            let numbers = facet.vertices.get(..D::DIMENSION).unwrap_or_default();
            if !numbers.iter().all(is_on_plane) {
                continue;
            }
            let numbers = numbers.iter().map(|number| usize::from(*number));
            let mut corners = Simplex::new();
            for number in numbers {
                corners.push(*self.vertices.get(number)?)?;
            }
            let missed = seen.foot_on(&corners).point.length_squared();
            if best.as_ref().is_none_or(|(least, _)| missed < *least) {
                best = Some((missed, corners));
            }
        }
        best.map(|(_, corners)| corners)
    }

    /// The direction of least depth on a curved surface of which a facet is a piece, and a smaller piece around it.
    ///
    /// A gap g of the bounds leaves the direction off by the root of 2 g, for a radius of curvature of 1. But the corners y_i
    /// of the facet are the support points of known directions d_i, and between near corners a curved surface turns as evenly
    /// as it goes: where the origin projects onto Σ λ_i y_i, the normal is Σ λ_i d_i, but for the square of the facet's
    /// size. It counts if the depth along it is less; then its support point takes the place of one of the corners.
    fn polish(&mut self, start: Penetration<D>, gap: f64, facet: Simplex<D>) -> Penetration<D> {
        let mut best = start;
        let mut corners = facet.clone();
        for _ in 0..MAX_POLISH {
            let weights = best.foot_on(&corners).weights;
            let normal = corners
                .iter()
                .zip(weights)
                .filter_map(|(corner, weight)| Some(corner.direction.unit()? * weight))
                .fold(D::ZERO, |sum, part| sum + part);
            let Some((vertex, seen)) = normal.unit().map(|normal| self.look(normal)) else {
                break;
            };
            if seen.depth >= best.depth {
                break;
            }
            best = seen;
            let with_vertex = |index: usize| {
                let mut corners = corners.clone();
                if let Some(corner) = corners.get_mut(index) {
                    *corner = vertex;
                }
                (best.foot_on(&corners).point.length_squared(), corners)
            };
            let nearest = (0..corners.len())
                .map(with_vertex)
                .reduce(|best, other| if other.0 < best.0 { other } else { best });
            if let Some((_, nearest)) = nearest {
                corners = nearest;
            }
        }
        let has_gained = best.depth < start.depth;
        if !has_gained && let Some((rolled, line)) = self.roll(start, gap, &facet) {
            (best, corners) = (rolled, line);
        }
        let missed = |corners: &Simplex<D>| best.foot_on(corners).point.length_squared();
        if missed(&corners) < missed(&facet) {
            best.met_on(&corners)
        } else {
            best.met_on(&facet)
        }
    }

    /// The direction of least depth on a surface that is curved one way only, of which a facet is a piece, and the line
    /// along which it is as deep: the side of a cylinder, on another one.
    ///
    /// The corners of the facet lie on the rims at both ends of such lines, and the directions in which they were found do
    /// not tell how the surface turns between the rims. But a little to both sides of n, along the line, lie its ends: they
    /// tell the line u exactly. n has to be at right angles to it, and turns about it until the line passes beneath the
    /// origin: by the way to there over the radius, which the facet's chord tells at first, and then the turn before.
    fn roll(
        &mut self,
        start: Penetration<D>,
        gap: f64,
        facet: &Simplex<D>,
    ) -> Option<(Penetration<D>, Simplex<D>)> {
        let edges = facet.iter().zip(facet.iter().cycle().skip(1));
        let longest = edges
            .map(|(from, to)| to.point - from.point)
            .reduce(|best, edge| {
                if edge.length_squared() > best.length_squared() {
                    edge
                } else {
                    best
                }
            })?;
        let has_lines = D::DIMENSION == 3;
        let mut along = if has_lines { longest.unit()? } else { D::ZERO };
        let mut normal = start.normal;
        let mut before: Option<(D, f64)> = None;
        let mut best = None;
        let mut least = start.depth;
        for _ in 0..=MAX_POLISH {
            let tilts = if has_lines {
                [LINE_TILT, -LINE_TILT]
            } else {
                [0.0; 2]
            };
            let mut line = Simplex::new();
            for tilt in tilts {
                let _ = line.push(self.look((normal + along * tilt).unit()?).0);
            }
            let [end, other, ..] = *line else { return best };
            if has_lines {
                along = (end.point - other.point).unit()?;
                normal = (normal - along * normal.dot(along)).unit()?;
            } else {
                line.pop();
            }
            let (_, seen) = self.look(normal);
            if seen.depth < least {
                least = seen.depth;
                best = Some((seen, line));
            } else if before.is_some() {
                return best;
            }
            let across = [normal, along];
            let side = D::perpendicular(across.get(..D::DIMENSION - 1)?)?.unit()?;
            let lateral = |vertex: &Vertex<D>| vertex.point.dot(side);
            let radius = match before {
                Some((old, at)) => (lateral(&end) - at) / -old.dot(side),
                None => {
                    let sides = || facet.iter().map(lateral);
                    let chord = sides().fold(f64::NEG_INFINITY, f64::max)
                        - sides().fold(f64::INFINITY, f64::min);
                    chord * chord / (8.0 * gap)
                }
            };
            before = Some((normal, lateral(&end)));
            normal = (normal - side * (lateral(&end) / radius)).unit()?;
        }
        best
    }
}

/// What is at right angles to some vectors.
enum Perpendicular<D> {
    /// This unit vector, perhaps among others.
    Unit(D),
    /// Nothing: they span the whole space.
    Nothing,
    /// More than there should be: they depend on each other within rounding.
    Degenerate,
}
