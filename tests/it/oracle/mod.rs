//! Independent implementations, in f64, of the functions of `headbutt::query`.
//!
//! This module does not call the library. A body is a list of points with a radius around their
//! hull. The module tries all features, which is slow, but simple enough to be checked by reading.
//!
//! For cores A and B, the difference A - B has the support height h(n) = max n·a - min n·b in
//! direction n. Each n separates overlapping cores by a translation of length h(n). The least such
//! length belongs to the normal of a facet of A - B. Each facet normal of A - B is a facet normal
//! of A or B, or perpendicular to an edge of A and an edge of B. So the least h(n) over all such
//! directions is the depth. Directions that belong to no facet do no harm, because they also
//! separate the cores.
//!
//! 2D bodies and directions are in the plane z = 0.

#![allow(
    dead_code,
    reason = "each test file uses its own part of the shared module"
)]

pub mod adversity;
pub mod cases;
pub mod check;
pub mod placed;
pub mod solid;

use bevy::math::{DMat3, DVec3};

/// An overlap of cores below this fraction of their sizes counts as flat: f64 rounds by 1e-16, and
/// products of two numbers by a few times 1e-16.
const FLAT: f64 = 1e-11;

/// The hull of some points with a radius around it.
#[derive(Clone, Debug)]
pub struct Body {
    pub points: Vec<DVec3>,
    pub radius: f64,
    /// The greatest distance of the points from the center of their rotation.
    pub lever: f64,
    planar: bool,
    /// Pairs of points that include all edges of the core. A core of one point has this point
    /// twice.
    edges: Vec<[DVec3; 2]>,
    /// Triples of points that cover the core's surface. A core without area, or in 2D, has none.
    faces: Vec<[DVec3; 3]>,
    /// Unit normals of the facets, each with one sign.
    normals: Vec<DVec3>,
}

impl Body {
    pub fn in_plane(points: impl IntoIterator<Item = DVec3>, radius: f64) -> Self {
        Self::new(points, radius, true)
    }

    pub fn in_space(points: impl IntoIterator<Item = DVec3>, radius: f64) -> Self {
        Self::new(points, radius, false)
    }

    pub fn new(points: impl IntoIterator<Item = DVec3>, radius: f64, planar: bool) -> Self {
        let points: Vec<DVec3> = points.into_iter().collect();
        let mut body = Self {
            edges: Vec::new(),
            faces: Vec::new(),
            normals: Vec::new(),
            points,
            radius,
            lever: 0.0,
            planar,
        };
        if !planar {
            body.find_faces();
        }
        if body.edges.is_empty() {
            body.edges = match body.points[..] {
                [point] => vec![[point, point]],
                _ => pairs(&body.points).collect(),
            };
        }
        if planar {
            body.normals = body
                .edges
                .iter()
                .filter_map(|[a, b]| unit((*b - *a).cross(DVec3::Z)))
                .collect();
        }
        body
    }

    /// Finds all triples of points with the core on one side of their plane, and this side.
    fn find_faces(&mut self) {
        let slack = FLAT * self.core_size();
        let mut sides = Vec::new();
        for (i, a) in self.points.iter().enumerate() {
            for (j, b) in self.points.iter().enumerate().skip(i + 1) {
                for (k, c) in self.points.iter().enumerate().skip(j + 1) {
                    let Some(normal) = cross_unit(*b - *a, *c - *a) else {
                        continue;
                    };
                    let (low, high) = extent(&self.points, normal);
                    let height = normal.dot(*a);
                    if high - height > slack && height - low > slack {
                        continue;
                    }
                    self.faces.push([*a, *b, *c]);
                    self.normals.push(normal);
                    sides.extend([(i, j), (i, k), (j, k)]);
                }
            }
        }
        remove_doubles(&mut self.normals);
        sides.sort_unstable();
        sides.dedup();
        self.edges = sides
            .into_iter()
            .map(|(i, j)| [self.points[i], self.points[j]])
            .collect();
    }

    /// Returns the core without the radius.
    pub fn core(self) -> Self {
        Self {
            radius: 0.0,
            ..self
        }
    }

    /// Returns the center of the sphere of radius [`size`](Self::size) around the body.
    pub fn center(&self) -> DVec3 {
        self.points.iter().sum::<DVec3>() / self.points.len() as f64
    }

    fn core_size(&self) -> f64 {
        let center = self.center();
        let distances = self.points.iter().map(|point| point.distance(center));
        distances.fold(0.0, f64::max)
    }

    /// Returns the bounding radius of the whole body.
    pub fn size(&self) -> f64 {
        self.core_size() + self.radius
    }

    pub fn moved(&self, offset: DVec3) -> Self {
        let mut moved = self.clone();
        let points = moved.points.iter_mut();
        let points = points.chain(moved.edges.iter_mut().flatten());
        points
            .chain(moved.faces.iter_mut().flatten())
            .for_each(|point| *point += offset);
        moved
    }

    /// Returns the body scaled about the origin. A negative factor also reflects the body at the
    /// origin.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        let points = scaled.points.iter_mut();
        let points = points.chain(scaled.edges.iter_mut().flatten());
        points
            .chain(scaled.faces.iter_mut().flatten())
            .for_each(|point| *point *= factor);
        scaled.radius *= factor.abs();
        scaled
    }

    /// Returns the body under a rotation about the origin, followed by a translation.
    pub fn turned(&self, rotation: DMat3, offset: DVec3) -> Self {
        let mut turned = self.clone();
        let points = turned.points.iter_mut();
        let points = points.chain(turned.edges.iter_mut().flatten());
        points
            .chain(turned.faces.iter_mut().flatten())
            .for_each(|point| *point = rotation * *point + offset);
        for normal in &mut turned.normals {
            *normal = rotation * *normal;
        }
        turned
    }

    /// Returns the greatest component along a unit vector.
    pub fn height(&self, direction: DVec3) -> f64 {
        extent(&self.points, direction).1 + self.radius
    }

    /// Returns a point with the greatest component along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let height = |point: &&DVec3| point.dot(direction);
        let farthest = self
            .points
            .iter()
            .max_by(|a, b| height(a).total_cmp(&height(b)));
        *farthest.expect("a body has points") + direction * self.radius
    }

    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// Returns the distance of a point, which is negative inside.
    pub fn gap_to(&self, point: DVec3) -> f64 {
        gap(self, &Body::new([point], 0.0, self.planar))
    }
}

/// Returns the signed distance of two bodies: their distance, or minus their depth.
pub fn gap(a: &Body, b: &Body) -> f64 {
    relation(a, b).gap
}

/// The properties of a shape in its pose that the checks need.
pub trait Convex: Sized {
    /// Returns the bounding radius of the whole body.
    fn size(&self) -> f64;

    /// Returns the greatest distance of the points from the center of their rotation.
    fn lever(&self) -> f64;

    fn is_planar(&self) -> bool;

    fn moved(&self, offset: DVec3) -> Self;

    /// Returns the greatest component along a unit vector.
    fn height(&self, direction: DVec3) -> f64;

    /// Returns the distance of a point, which is 0 or less inside.
    fn gap_to(&self, point: DVec3) -> f64;

    /// Returns bounds of the signed distance of two bodies.
    fn bounds(a: &Self, b: &Self) -> Bounds;
}

/// Bounds of the signed distance of two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub low: f64,
    pub high: f64,
    /// The direction from the first body to the second, or `None` if a translation in another
    /// direction is about as short.
    pub normal: Option<DVec3>,
}

impl Bounds {
    pub fn exactly(gap: f64, normal: Option<DVec3>) -> Self {
        Self {
            low: gap,
            high: gap,
            normal,
        }
    }

    /// Returns the distance of a value from the bounds, which is 0 within the bounds.
    pub fn miss(&self, value: f64) -> f64 {
        // The function `max` would lose NaN.
        if value < self.low {
            self.low - value
        } else if value <= self.high {
            0.0
        } else {
            value - self.high
        }
    }

    /// Returns bounds of the depth, which is 0 if the bodies do not overlap.
    pub fn depth(&self) -> Self {
        Self {
            low: (-self.high).max(0.0),
            high: (-self.low).max(0.0),
            ..*self
        }
    }

    /// Returns bounds of the distance, which is 0 if the bodies overlap.
    pub fn distance(&self) -> Self {
        Self {
            low: self.low.max(0.0),
            high: self.high.max(0.0),
            ..*self
        }
    }
}

impl Convex for Body {
    fn size(&self) -> f64 {
        self.size()
    }
    fn lever(&self) -> f64 {
        self.lever
    }
    fn is_planar(&self) -> bool {
        self.planar
    }
    fn moved(&self, offset: DVec3) -> Self {
        self.moved(offset)
    }
    fn height(&self, direction: DVec3) -> f64 {
        self.height(direction)
    }
    fn gap_to(&self, point: DVec3) -> f64 {
        self.gap_to(point)
    }
    fn bounds(a: &Self, b: &Self) -> Bounds {
        let Relation { gap, normal } = relation(a, b);
        let cores = gap + a.radius + b.radius;
        let size = a.size() + b.size();
        Bounds::exactly(
            gap,
            normal.filter(|normal| {
                if cores > 0.0 {
                    tells_a_way(cores, size, a.lever + b.lever)
                } else {
                    stands_out(*normal, -cores + UNIQUE * size, |take| {
                        each_way_out(a, b, take);
                    }) && rises_around(*normal, -cores + UNIQUE * size, a.planar, |direction| {
                        extent(&a.points, direction).1 - extent(&b.points, direction).0
                    })
                }
            }),
        )
    }
}

/// A separating translation counts as unique if it is shorter than all others by this fraction of
/// the sizes. Separated cores always have a single shortest direction, but if the cores are closer
/// than this fraction, the direction is badly conditioned.
pub const UNIQUE: f64 = 1e-5;

/// Returns `true` if cores at this distance determine the direction between them.
pub fn tells_a_way(cores: f64, sizes: f64, levers: f64) -> bool {
    // The second condition is for points, which have no size but an inexact position.
    cores > UNIQUE * sizes && cores > 1e-10 * levers
}

/// Directions count as equal if the distance between the unit vectors is less than this value.
pub const SAME_WAY: f64 = 1e-3;

/// Returns `true` if only directions close to the normal separate the bodies by less than the
/// limit.
pub fn stands_out(
    normal: DVec3,
    limit: f64,
    each_way_out: impl FnOnce(&mut dyn FnMut(DVec3, f64)),
) -> bool {
    let mut alone = true;
    each_way_out(&mut |direction, length| {
        alone &= length >= limit || direction.distance(normal) < SAME_WAY;
    });
    alone
}

/// Returns `true` if all directions just beside the normal need a translation of at least the
/// limit.
pub fn rises_around(
    normal: DVec3,
    limit: f64,
    planar: bool,
    reach_along: impl Fn(DVec3) -> f64,
) -> bool {
    let (u, v) = if planar {
        (normal.cross(DVec3::Z), DVec3::ZERO)
    } else {
        normal.any_orthonormal_pair()
    };
    (0..16).all(|step| {
        let (sin, cos) = (f64::from(step) / 16.0 * core::f64::consts::TAU).sin_cos();
        // In 2D, there are only two directions beside the normal.
        let beside = if planar {
            u * cos.signum()
        } else {
            u * cos + v * sin
        };
        reach_along((normal + beside * SAME_WAY).normalize()) >= limit
    })
}

/// The relation of two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The signed distance.
    pub gap: f64,
    /// The direction of the shortest translation, from the first body to the second, or one of
    /// several such directions. `None` if touching cores do not determine the direction.
    pub normal: Option<DVec3>,
}

pub fn relation(a: &Body, b: &Body) -> Relation {
    let reach = a.radius + b.radius;
    let flat = FLAT * (a.core_size() + b.core_size());
    let (overlap, normal) = overlap(a, b);
    if normal.is_some() && overlap > flat {
        return Relation {
            gap: -overlap - reach,
            normal,
        };
    }
    let [on_a, on_b] = nearest_points(a, b);
    let between = on_b - on_a;
    let apart = between.length();
    Relation {
        gap: apart - reach,
        normal: if apart > flat { unit(between) } else { normal },
    }
}

/// Returns the least support height of the difference of the cores, which is negative if it proves
/// the cores separated.
fn overlap(a: &Body, b: &Body) -> (f64, Option<DVec3>) {
    let mut best = (f64::INFINITY, None);
    each_way_out(a, b, |normal, length| {
        if length < best.0 {
            best = (length, Some(normal));
        }
    });
    best
}

/// Calls `take` with all directions that may be normals of the difference of the cores, and their
/// support heights.
fn each_way_out(a: &Body, b: &Body, mut take: impl FnMut(DVec3, f64)) {
    let mut look = |normal: DVec3| {
        let (low_a, high_a) = extent(&a.points, normal);
        let (low_b, high_b) = extent(&b.points, normal);
        take(normal, high_a - low_b);
        take(-normal, high_b - low_a);
    };
    a.normals
        .iter()
        .chain(&b.normals)
        .copied()
        .for_each(&mut look);
    if !a.planar {
        let directions = [a, b].map(|body| {
            let edges = body.edges.iter();
            let mut directions: Vec<DVec3> = edges.filter_map(|[p, q]| unit(*q - *p)).collect();
            remove_doubles(&mut directions);
            directions
        });
        for along_a in &directions[0] {
            for along_b in &directions[1] {
                if let Some(normal) = cross_unit(*along_a, *along_b) {
                    look(normal);
                }
            }
        }
        // If all edges are parallel, the difference is a segment, and every perpendicular direction
        // is a normal.
        if let Some(along) = directions.iter().flatten().next() {
            let (first, second) = along.any_orthonormal_pair();
            look(first);
            look(second);
        }
    }
}

/// Returns the closest points of two cores that do not overlap.
fn nearest_points(a: &Body, b: &Body) -> [DVec3; 2] {
    let mut best = [DVec3::ZERO, DVec3::INFINITY];
    let mut least = f64::INFINITY;
    let mut look = |on_a: DVec3, on_b: DVec3| {
        let distance = on_a.distance_squared(on_b);
        if distance < least {
            (least, best) = (distance, [on_a, on_b]);
        }
    };
    for edge_a in &a.edges {
        for edge_b in &b.edges {
            for point in edge_a {
                look(*point, nearest_on_segment(*point, *edge_b));
            }
            for point in edge_b {
                look(nearest_on_segment(*point, *edge_a), *point);
            }
            if let Some([on_a, on_b]) = common_perpendicular(*edge_a, *edge_b) {
                look(on_a, on_b);
            }
        }
    }
    for face in &a.faces {
        for point in &b.points {
            if let Some(foot) = foot_in_triangle(*point, *face) {
                look(foot, *point);
            }
        }
    }
    for face in &b.faces {
        for point in &a.points {
            if let Some(foot) = foot_in_triangle(*point, *face) {
                look(*point, foot);
            }
        }
    }
    best
}

pub fn nearest_on_segment(point: DVec3, [a, b]: [DVec3; 2]) -> DVec3 {
    let edge = b - a;
    let along = (point - a).dot(edge) / edge.length_squared();
    // NaN, for a segment of length 0, is neither above 0 nor below 1.
    if along >= 1.0 {
        b
    } else if along > 0.0 {
        a + edge * along
    } else {
        a
    }
}

/// Returns the ends of the common perpendicular of two lines, if they lie on both segments.
fn common_perpendicular([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> Option<[DVec3; 2]> {
    let (first, second) = (b - a, d - c);
    cross_unit(first, second)?;
    let normal = first.cross(second);
    let along_first = (c - a).cross(second).dot(normal) / normal.length_squared();
    let along_second = (c - a).cross(first).dot(normal) / normal.length_squared();
    let inside = 0.0..=1.0;
    (inside.contains(&along_first) && inside.contains(&along_second))
        .then(|| [a + first * along_first, c + second * along_second])
}

fn foot_in_triangle(point: DVec3, [a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    let normal = cross_unit(b - a, c - a)?;
    let foot = point - normal * normal.dot(point - a);
    let sides = [(a, b), (b, c), (c, a)];
    let inside = |(p, q): (DVec3, DVec3)| (q - p).cross(foot - p).dot(normal) >= 0.0;
    sides.into_iter().all(inside).then_some(foot)
}

fn pairs(points: &[DVec3]) -> impl Iterator<Item = [DVec3; 2]> + '_ {
    let later = |i: usize| points.iter().skip(i + 1);
    let pairs = points.iter().enumerate();
    pairs.flat_map(move |(i, a)| later(i).map(|b| [*a, *b]))
}

fn extent(points: &[DVec3], direction: DVec3) -> (f64, f64) {
    let heights = points.iter().map(|point| point.dot(direction));
    heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| {
        (low.min(height), high.max(height))
    })
}

pub fn unit(vector: DVec3) -> Option<DVec3> {
    let length = vector.length();
    (length > 0.0).then(|| vector / length)
}

/// Returns the unit vector perpendicular to two vectors, or `None` if these are parallel within
/// rounding.
fn cross_unit(a: DVec3, b: DVec3) -> Option<DVec3> {
    let (a, b) = (unit(a)?, unit(b)?);
    let cross = a.cross(b);
    (cross.length() > 1e-12).then(|| cross / cross.length())
}

/// Among directions that are equal or opposite up to their last bits, keeps one.
fn remove_doubles(directions: &mut Vec<DVec3>) {
    let mut kept: Vec<DVec3> = Vec::new();
    for direction in directions.drain(..) {
        let parallel = |other: &DVec3| other.cross(direction).length_squared() < 1e-30;
        if !kept.iter().any(parallel) {
            kept.push(direction);
        }
    }
    *directions = kept;
}
