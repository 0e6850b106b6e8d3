//! The center of a large ball inside each kind of shape.

use crate::{
    shape::{Shape, boxes::bounds::support_points, elements::support_fns::Cap, hull::LARGE},
    space::{DVector, Space},
};

impl<V: Space> Shape<V> {
    /// Returns the center of a large ball inside the shape, in the shape's own frame. For a
    /// symmetric shape, the result is the center of symmetry. For a flat shape, the result is an
    /// inner point. For a user's own shape, the result is inside, but may be near the boundary. A
    /// half-space has no center, so the result is the origin.
    pub fn center(&self) -> V::DVec {
        match self {
            Self::Ball { .. }
            | Self::Capsule { .. }
            | Self::Box { .. }
            | Self::Diamond { .. }
            | Self::Ellipsoid { .. }
            | Self::HalfSpace { .. } => V::DVec::ZERO,
            Self::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            } => {
                let sizes = [half_height, radius_top, radius_bottom];
                V::DVec::axis(1) * height_in_frustum(sizes.map(|size| f64::from(*size)))
            }
            Self::Cap(cap) => V::DVec::axis(1) * height_in_cap(cap),
            Self::Segment(vertices) => V::DVec::mean(&vertices.map(V::to_f64)),
            Self::Triangle(vertices) => {
                incenter(vertices.map(V::to_f64), |[a, b]| (a - b).length())
            }
            Self::Tetrahedron(vertices) => incenter(vertices.map(V::to_f64), |[a, b, c]| {
                let [b, c] = [b - a, c - a];
                let square = b.length_squared() * c.length_squared() - b.dot(c) * b.dot(c);
                square.max(0.0).sqrt()
            }),
            Self::Hull(hull) => hull.center(),
            Self::Extrusion { base, .. } => {
                let center = base.center();
                V::DVec::of([center.x, center.y, 0.0])
            }
            Self::Rounded { shape, .. } => shape.center(),
            Self::Custom(shape) => V::DVec::mean(&support_points(&**shape)),
        }
    }
}

/// Returns the height of the center of a ball in a frustum. The radius of the ball is at least
/// [`LARGE`] times the largest possible radius. Of all such balls, the ball nearest to the middle
/// is chosen.
///
/// At the height y, the radius of the frustum is m + k y. Let c be the cosine of the angle between
/// the side and the axis, and h half of the height. Then a ball on the axis has the radius min(h +
/// y, h - y, (m + k y) c). The largest ball touches the side, unless the ball in the middle reaches
/// both ends.
fn height_in_frustum([h, top, bottom]: [f64; 3]) -> f64 {
    let (m, k) = (0.5 * (top + bottom), 0.5 * (top - bottom) / h);
    let c = 1.0 / (1.0 + k * k).sqrt();
    // For a frustum of zero height, `m * c` is 0 or NaN, so the first comparison fails.
    if !(m * c < h && k != 0.0) {
        return 0.0;
    }
    let toward_wide = (h - m * c) / (1.0 + k.abs() * c);
    let largest = h - toward_wide;
    let needed = (LARGE * largest / c - m) / k.abs();
    needed.clamp(0.0, toward_wide).copysign(k)
}

/// Returns the height of the center of the largest ball in a cap. If the center is at the height y,
/// the ball has the radius r - y. The ball touches the sides of a pointed cap, or the flat side of
/// any other cap.
fn height_in_cap(cap: &Cap) -> f64 {
    let [sine, cosine] = cap.sine_and_cosine();
    let radius = f64::from(cap.radius);
    if cap.pointed {
        radius / (1.0 + sine)
    } else {
        0.5 * radius * (1.0 + cosine)
    }
}

/// Returns the center of the ball that touches all sides of a simplex. The center is the mean of
/// the vertices, weighted by the sizes of the opposite sides.
fn incenter<D: DVector, const N: usize, const SIDE: usize>(
    vertices: [D; N],
    size: impl Fn([D; SIDE]) -> f64,
) -> D {
    let (mut sum, mut total) = (D::ZERO, 0.0);
    for (index, vertex) in vertices.iter().enumerate() {
        let others = vertices.iter().cycle().skip(index + 1);
        let mut others = others.copied();
        let weight = size(core::array::from_fn(|_| others.next().unwrap_or(*vertex)));
        sum = sum + *vertex * weight;
        total += weight;
    }
    let center = sum * (1.0 / total);
    if center.is_finite() {
        center
    } else {
        D::mean(&vertices)
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test needs a valid scene")]
mod tests {
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use crate::{
        math::{DVec2, DVec3, Vec2, Vec3},
        shape::{ConvexHull, Shape},
    };

    fn random_point(random: &mut StdRng) -> Vec3 {
        Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))
    }

    /// Returns the depth of a point in the hull of some points: the least distance to a face, or a
    /// negative number outside. The faces are found among the planes through any three of the
    /// points.
    fn depth_in(points: &[DVec3], at: DVec3) -> f64 {
        let mut least = f64::INFINITY;
        for (index, a) in points.iter().enumerate() {
            for (other, b) in points.iter().enumerate().skip(index + 1) {
                for c in points.iter().skip(other + 1) {
                    let normal = (b - a).cross(c - a).normalize_or_zero();
                    for normal in [normal, -normal] {
                        let outside = |point: &DVec3| (point - a).dot(normal) > 1e-9;
                        if normal != DVec3::ZERO && !points.iter().any(outside) {
                            least = least.min((a - at).dot(normal));
                        }
                    }
                }
            }
        }
        least
    }

    /// The largest ball in a tetrahedron has a radius of three times the volume divided by the
    /// surface area.
    #[test]
    fn the_center_of_a_tetrahedron_is_that_of_its_largest_ball() {
        let mut random = StdRng::seed_from_u64(1);
        for case in 0..10_000 {
            let mut vertices = [(); 4].map(|()| random_point(&mut random));
            if case % 2 == 0 {
                // Every second tetrahedron is flattened.
                let flat = 10.0_f32.powf(random.random_range(-3.0..0.0));
                vertices = vertices.map(|vertex| vertex * Vec3::new(1.0, flat, 1.0));
            }
            let points = vertices.map(|vertex| vertex.as_dvec3());
            let [a, b, c, d] = points;
            let area = |a: DVec3, b: DVec3, c: DVec3| 0.5 * (b - a).cross(c - a).length();
            let volume = (b - a).dot((c - a).cross(d - a)).abs() / 6.0;
            let surface = area(a, b, c) + area(a, b, d) + area(a, c, d) + area(b, c, d);
            let radius = 3.0 * volume / surface;
            let center = Shape::Tetrahedron(vertices).center();
            let depth = depth_in(&points, center);
            assert!(depth > 0.999 * radius, "case {case}: {depth} of {radius}");
            let hull = ConvexHull::new(vertices).expect("a hull");
            let depth = depth_in(&points, hull.center());
            // For a thinner tetrahedron, the search finds only a smaller ball, because the normals
            // are almost parallel.
            let least = if radius > 5e-4 { 0.799 } else { 0.3 };
            assert!(depth > least * radius, "case {case}: {depth} of {radius}");
        }
    }

    /// Compares the radius of the ball around the center with the radii of balls around other inner
    /// points.
    #[test]
    fn the_center_of_a_hull_is_that_of_a_large_ball() {
        let mut random = StdRng::seed_from_u64(2);
        for case in 0..300 {
            let flat = Vec3::new(1.0, 10.0_f32.powf(random.random_range(-1.5..0.0)), 0.5);
            let count = random.random_range(5..14);
            let given: Vec<Vec3> = (0..count)
                .map(|_| {
                    let near = random.random_range(0.01..1.0_f32);
                    // Many vertices are close to each other, so that their mean is near a face.
                    if random.random_bool(0.6) {
                        (Vec3::splat(0.7) + 0.2 * random_point(&mut random)) * flat
                    } else {
                        random_point(&mut random) * flat * near
                    }
                })
                .collect();
            let points: Vec<DVec3> = given.iter().map(|point| point.as_dvec3()).collect();
            let hull = ConvexHull::new(given).expect("a hull");
            let depth = depth_in(&points, hull.center());
            let mut best = hull.center();
            let mut most = depth;
            let mut reach = 0.3;
            for _ in 0..200 {
                let other = best + random_point(&mut random).as_dvec3() * reach;
                let there = depth_in(&points, other);
                if there > most {
                    (best, most) = (other, there);
                } else {
                    reach *= 0.97;
                }
            }
            assert!(
                depth > 0.0 && depth > 0.799 * most,
                "case {case}: {depth} of {most}"
            );
        }
    }

    /// Tests cylinders, cones and frustums of all proportions in 3D, and their cross sections in
    /// 2D.
    #[test]
    fn the_center_of_a_frustum_is_that_of_a_large_ball() {
        let mut random = StdRng::seed_from_u64(3);
        for case in 0..3000 {
            let half_height = 10.0_f32.powf(random.random_range(-2.0..2.0));
            let [mut radius_top, radius_bottom] =
                [(); 2].map(|()| 10.0_f32.powf(random.random_range(-2.0..2.0)));
            match case % 3 {
                0 => radius_top = 0.0,
                1 => radius_top = radius_bottom,
                _ => {}
            }
            let solid: Shape<Vec3> = Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            };
            let flat: Shape<Vec2> = Shape::Frustum {
                half_height,
                radius_top,
                radius_bottom,
            };
            let [h, top, bottom] = [half_height, radius_top, radius_bottom].map(f64::from);
            let side = DVec2::new(top - bottom, 2.0 * h).normalize();
            let radius_at = |y: f64| {
                let to_side = side.perp_dot(DVec2::new(-bottom, y + h));
                to_side.min(h - y).min(h + y)
            };
            let radii = (0..=10_000).map(|step| radius_at(h * (f64::from(step) / 5000.0 - 1.0)));
            let most = radii.fold(0.0, f64::max);
            let center = solid.center();
            assert_eq!([center.x, center.z], [0.0; 2]);
            assert_eq!(flat.center(), DVec2::new(0.0, center.y));
            let radius = radius_at(center.y);
            assert!(radius > 0.799 * most, "case {case}: {radius} of {most}");
            if case % 3 == 1 {
                assert_eq!(center, DVec3::ZERO);
            }
        }
    }
}
