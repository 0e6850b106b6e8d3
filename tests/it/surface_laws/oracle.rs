//! Computes closest points of facets, and the overlap of convex polytopes along all axes that can
//! separate them, by brute force in f64.

use bevy::math::DVec3;

/// A triangle, or a segment, whose last two corners are the same.
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    pub corners: [DVec3; 3],
    /// The unit normal of the outer side.
    pub normal: DVec3,
}

impl Facet {
    pub fn is_segment(&self) -> bool {
        self.corners[1] == self.corners[2]
    }

    /// Returns the height of a point above the facet's plane.
    pub fn height(&self, point: DVec3) -> f64 {
        (point - self.corners[0]).dot(self.normal)
    }

    /// Returns the edges of a triangle, or the segment itself.
    pub fn edges(&self) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        let count = if self.is_segment() { 1 } else { 3 };
        (0..count).map(|it| [self.corners[it], self.corners[(it + 1) % 3]])
    }

    /// Returns the length of the longest edge.
    pub fn span(&self) -> f64 {
        self.edges().map(|[a, b]| a.distance(b)).fold(0.0, f64::max)
    }

    /// Returns the distance of a point's foot in the plane from the rim: the least distance to an
    /// edge, which is negative outside.
    pub fn inset(&self, point: DVec3) -> f64 {
        let [a, b, c] = self.corners;
        if self.is_segment() {
            let along = (b - a).normalize();
            let at = (point - a).dot(along);
            return at.min(a.distance(b) - at);
        }
        let inward = |from: DVec3, to: DVec3, other: DVec3| {
            let along = (to - from).normalize();
            let away = other - from;
            let inward = (away - along * away.dot(along)).normalize();
            (point - from).dot(inward)
        };
        inward(a, b, c).min(inward(b, c, a)).min(inward(c, a, b))
    }

    /// Returns the closest point of the facet to a point.
    pub fn closest(&self, point: DVec3) -> DVec3 {
        if !self.is_segment() && self.inset(point) >= 0.0 {
            return point - self.normal * self.height(point);
        }
        let on_edges = self.edges().map(|edge| closest_on_segment(point, edge));
        on_edges
            .min_by(|a, b| {
                a.distance_squared(point)
                    .total_cmp(&b.distance_squared(point))
            })
            .expect("a facet has an edge")
    }

    pub fn distance(&self, point: DVec3) -> f64 {
        self.closest(point).distance(point)
    }

    /// Returns the parameter from 0 to 1 at which a segment crosses the facet, more than `inset`
    /// from its rim.
    pub fn crossed_by(&self, [from, to]: [DVec3; 2], inset: f64) -> Option<f64> {
        let (start, end) = (self.height(from), self.height(to));
        if (start > 0.0) == (end > 0.0) || start == end {
            return None;
        }
        let at = start / (start - end);
        let point = from + (to - from) * at;
        (self.inset(point) > inset).then_some(at)
    }

    /// Returns the facet as a flat polytope.
    pub fn polytope(&self) -> Polytope {
        let count = if self.is_segment() { 2 } else { 3 };
        let edges = self.edges().map(|[a, b]| b - a);
        Polytope {
            points: self.corners[..count].to_vec(),
            normals: vec![self.normal],
            edges: if self.is_segment() {
                vec![]
            } else {
                edges.collect()
            },
        }
    }
}

pub fn closest_on_segment(point: DVec3, [a, b]: [DVec3; 2]) -> DVec3 {
    let along = b - a;
    let length = along.length_squared();
    if length == 0.0 {
        return a;
    }
    a + along * ((point - a).dot(along) / length).clamp(0.0, 1.0)
}

/// Returns the distance of two segments. This is the distance of an end from the other segment, or
/// the distance of the lines' closest points if both points are inside the segments.
pub fn segments_distance(one: [DVec3; 2], other: [DVec3; 2]) -> f64 {
    let ends = one
        .iter()
        .map(|end| closest_on_segment(*end, other).distance(*end));
    let others = other
        .iter()
        .map(|end| closest_on_segment(*end, one).distance(*end));
    let mut least = ends.chain(others).fold(f64::INFINITY, f64::min);
    let (u, v, w) = (one[1] - one[0], other[1] - other[0], one[0] - other[0]);
    let (a, b, c, d, e) = (u.dot(u), u.dot(v), v.dot(v), u.dot(w), v.dot(w));
    let determinant = a * c - b * b;
    if determinant > 1e-14 * a * c {
        let s = (b * e - c * d) / determinant;
        let t = (a * e - b * d) / determinant;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            least = least.min((w + u * s - v * t).length());
        }
    }
    least
}

/// Returns the distance of a segment from a facet, or 0 if the segment crosses the facet.
pub fn segment_facet_distance(segment: [DVec3; 2], facet: &Facet) -> f64 {
    if facet.crossed_by(segment, 0.0).is_some() {
        return 0.0;
    }
    let ends = segment.iter().map(|end| facet.distance(*end));
    let edges = facet.edges().map(|edge| segments_distance(segment, edge));
    ends.chain(edges).fold(f64::INFINITY, f64::min)
}

/// A convex polytope: its corners, the unit normals of its faces (one of two opposite normals is
/// enough), and in 3D the directions of its edges.
#[derive(Clone, Debug)]
pub struct Polytope {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub edges: Vec<DVec3>,
}

impl Polytope {
    /// Returns the hull of a few points, by trying all planes (or lines) through them.
    pub fn hull(points: &[DVec3], plane: bool) -> Self {
        let mut normals: Vec<DVec3> = Vec::new();
        let mut edges: Vec<DVec3> = Vec::new();
        let add = |list: &mut Vec<DVec3>, it: DVec3| {
            let it = it.normalize();
            if !list.iter().any(|old| old.cross(it).length() < 1e-9) {
                list.push(it);
            }
        };
        let count = points.len();
        let size = points.iter().map(|it| it.length()).fold(0.0, f64::max);
        let bounds = |normal: DVec3, base: DVec3| {
            let heights = points.iter().map(|it| (*it - base).dot(normal));
            let most = heights.clone().fold(f64::NEG_INFINITY, f64::max);
            let least = heights.fold(f64::INFINITY, f64::min);
            most < 1e-9 * size || least > -1e-9 * size
        };
        for i in 0..count {
            for j in i + 1..count {
                let edge = points[j] - points[i];
                if edge.length() < 1e-9 * size {
                    continue;
                }
                if plane {
                    let normal = DVec3::new(edge.y, -edge.x, 0.0).normalize();
                    if bounds(normal, points[i]) {
                        add(&mut normals, normal);
                    }
                    continue;
                }
                for k in j + 1..count {
                    let other = points[k] - points[i];
                    let normal = edge.cross(other);
                    if normal.length() < 1e-9 * size * size {
                        continue;
                    }
                    let normal = normal.normalize();
                    if bounds(normal, points[i]) {
                        add(&mut normals, normal);
                        add(&mut edges, edge);
                        add(&mut edges, other);
                        add(&mut edges, other - edge);
                    }
                }
            }
        }
        Self {
            points: points.to_vec(),
            normals,
            edges,
        }
    }

    /// Returns the support height along a direction.
    pub fn reach(&self, direction: DVec3) -> f64 {
        let heights = self.points.iter().map(|it| it.dot(direction));
        heights.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns facets that cover the boundary, some parts more than once.
    fn facets(&self) -> Vec<Facet> {
        let mut facets = Vec::new();
        for normal in self.normals.iter().flat_map(|it| [*it, -*it]) {
            let top = self.reach(normal);
            let size = self.points.iter().map(|it| it.length()).fold(0.0, f64::max);
            let is_on = |it: &&DVec3| it.dot(normal) > top - 1e-9 * size;
            let face: Vec<DVec3> = self.points.iter().filter(is_on).copied().collect();
            for i in 0..face.len() {
                for j in i + 1..face.len() {
                    if self.edges.is_empty() {
                        let corners = [face[i], face[j], face[j]];
                        facets.push(Facet { corners, normal });
                    }
                    for k in j + 1..face.len() {
                        let corners = [face[i], face[j], face[k]];
                        let area = (face[j] - face[i]).cross(face[k] - face[i]);
                        if let Some(normal) = area.try_normalize() {
                            facets.push(Facet { corners, normal });
                        }
                    }
                }
            }
        }
        facets
    }

    /// Returns the distance from a facet that the polytope does not overlap: between two edges, or
    /// between a corner and a face.
    pub fn distance(&self, facet: &Facet) -> f64 {
        match self.points.as_slice() {
            [point] => facet.distance(*point),
            [a, b] => segment_facet_distance([*a, *b], facet),
            _ => {
                let own = self.facets();
                let to = |own: &Facet| {
                    let edges = own.edges().map(|it| segment_facet_distance(it, facet));
                    let others = facet.edges().map(|it| segment_facet_distance(it, own));
                    edges.chain(others).fold(f64::INFINITY, f64::min)
                };
                own.iter().map(to).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Returns the polytope after a translation.
    pub fn moved(&self, by: DVec3) -> Self {
        Self {
            points: self.points.iter().map(|it| *it + by).collect(),
            ..self.clone()
        }
    }

    /// Returns the depths along all axes that may be the shortest, and the directions in which
    /// `self` moves. A depth is negative if the axis separates the two. If no depth is negative,
    /// the least depth is the penetration.
    pub fn ways_out(&self, other: &Self) -> Vec<(f64, DVec3)> {
        let mut axes: Vec<DVec3> = [&self.normals[..], &other.normals[..]].concat();
        for edge in &self.edges {
            for others in &other.edges {
                let axis = edge.cross(*others);
                if axis.length() > 1e-9 * edge.length() * others.length() {
                    axes.push(axis.normalize());
                }
            }
        }
        let both = axes.iter().flat_map(|axis| [*axis, -*axis]);
        both.map(|axis| (other.reach(axis) + self.reach(-axis), axis))
            .collect()
    }

    /// Returns the penetration of two polytopes and the direction in which `self` moves out, or
    /// `None` if they are separated.
    pub fn penetration(&self, other: &Self) -> Option<(f64, DVec3)> {
        let ways = self.ways_out(other);
        let least = ways.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        (least.0 >= 0.0).then_some(least)
    }
}

mod tests {
    use super::*;

    fn triangle() -> Facet {
        Facet {
            corners: [
                DVec3::ZERO,
                DVec3::new(0.0, 0.0, 2.0),
                DVec3::new(2.0, 0.0, 0.0),
            ],
            normal: DVec3::Y,
        }
    }

    #[test]
    fn closest_points_lie_on_the_face_its_edges_or_vertices() {
        for (point, closest) in [
            ((0.5, 3.0, 0.5), (0.5, 0.0, 0.5)),
            ((0.5, -3.0, -1.0), (0.5, 0.0, 0.0)),
            ((2.0, 1.0, 2.0), (1.0, 0.0, 1.0)),
            ((-1.0, 1.0, -1.0), (0.0, 0.0, 0.0)),
            ((4.0, 1.0, 0.5), (2.0, 0.0, 0.0)),
            ((1.0, 0.0, 0.5), (1.0, 0.0, 0.5)),
        ] {
            let (point, closest) = (DVec3::from(point), DVec3::from(closest));
            assert!(triangle().closest(point).distance(closest) < 1e-12);
        }
    }

    #[test]
    fn a_cube_in_a_cube_separates_by_the_nearest_face() {
        let cube = |half: f64, at: DVec3| {
            let corners = (0..8).map(|it| {
                let side = |bit: usize| if it >> bit & 1 == 0 { -half } else { half };
                at + DVec3::new(side(0), side(1), side(2))
            });
            Polytope::hull(&corners.collect::<Vec<_>>(), false)
        };
        let (one, other) = (
            cube(1.0, DVec3::new(1.2, 0.3, -0.4)),
            cube(0.5, DVec3::ZERO),
        );
        assert_eq!((one.normals.len(), one.edges.len()), (3, 9));
        let (depth, direction) = one.penetration(&other).expect("they overlap");
        assert!((depth - 0.3).abs() < 1e-12 && direction.distance(DVec3::X) < 1e-12);
        assert!(one.moved(DVec3::X * 0.31).penetration(&other).is_none());
    }

    #[test]
    fn a_rotated_cube_is_as_far_from_a_facet_as_its_lowest_edge() {
        let side = |it: i32, bit: i32| if it >> bit & 1 == 0 { -1.0 } else { 1.0 };
        let slanted = |it: i32| {
            let (x, y) = (side(it, 0), side(it, 1));
            DVec3::new(0.5 + (x - y) * 0.5, 3.0 + (x + y) * 0.5, 0.5 + side(it, 2))
        };
        let cube = Polytope::hull(&(0..8).map(slanted).collect::<Vec<_>>(), false);
        // The lowest edge of the cube is at y = 2, over the triangle in y = 0.
        assert!((cube.distance(&triangle()) - 2.0).abs() < 1e-12);
        let beside = cube.moved(DVec3::new(3.0, -2.5, 0.0));
        // The leftmost edge of the cube is at x = 2.5 and y = 0.5, and the corner (2, 0, 0) is the
        // closest.
        assert!((beside.distance(&triangle()) - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_distance_of_segments_is_that_of_their_closest_points() {
        let one = [DVec3::NEG_X, DVec3::X];
        for (other, distance) in [
            ([DVec3::new(0.0, 1.0, -1.0), DVec3::new(0.0, 1.0, 1.0)], 1.0),
            ([DVec3::new(2.0, 0.0, -1.0), DVec3::new(2.0, 0.0, 1.0)], 1.0),
            ([DVec3::new(-5.0, 2.0, 0.0), DVec3::new(5.0, 2.0, 0.0)], 2.0),
        ] {
            assert!((segments_distance(one, other) - distance).abs() < 1e-12);
        }
        let through = [DVec3::new(0.5, 1.0, 0.5), DVec3::new(0.5, -1.0, 0.5)];
        assert_eq!(segment_facet_distance(through, &triangle()), 0.0);
        assert_eq!(triangle().crossed_by(through, 0.1), Some(0.5));
    }
}
