//! The faces of the convex hull of points: sides in 2D, polygons in 3D.

use crate::{
    shape::{elements::facet::weld, hull::solid::HullSurface},
    space::{DVector, Space},
};

/// Two triangles in one face have normals with at least this cosine of the angle between them. The
/// angle is then at most 1.4e-5 radians.
const SAME_PLANE_COSINE: f64 = 1.0 - 1e-10;

/// Returns the faces of the hull of `points`, which are the vertices of the hull. Each face lists
/// the indices of its corners: in 2D the two ends of a side, and in 3D the corners around a
/// polygon. Returns `None` if the points are flat in 3D.
pub fn hull_faces<V: Space>(points: &[V::DVec]) -> Option<Vec<Vec<usize>>> {
    if V::DVec::DIMENSION == 2 {
        let around = sorted_around((0..points.len()).collect(), points, V::DVec::axis(0));
        let next = around.iter().cycle().skip(1);
        let sides = around
            .iter()
            .zip(next)
            .map(|(start, end)| vec![*start, *end]);
        return Some(sides.collect());
    }
    let in_f32: Vec<_> = points.iter().map(|it| V::from_f64(*it).to_vec3()).collect();
    let surface = HullSurface::around(&in_f32, usize::MAX)?;
    let tolerance = weld(points);
    let least_height = |normal: V::DVec| {
        let heights = points.iter().map(|point| point.dot(normal));
        heights.fold(f64::NEG_INFINITY, f64::max) - tolerance
    };
    let mut normals: Vec<V::DVec> = Vec::new();
    for (corners, normal) in surface.triangles() {
        let normal = V::DVec::of(normal.into());
        // A corner that is not in the other face would belong to no face.
        let is_in_face = |other: &V::DVec| {
            let corners = corners.iter().filter_map(|index| points.get(*index));
            normal.dot(*other) >= SAME_PLANE_COSINE && { corners }
                .all(|corner| corner.dot(*other) >= least_height(*other))
        };
        if !normals.iter().any(is_in_face) {
            normals.push(normal);
        }
    }
    let faces = normals.into_iter().filter_map(|normal| {
        let least = least_height(normal);
        let corners = points.iter().enumerate();
        let corners = corners.filter(|(_, point)| point.dot(normal) >= least);
        let corners = corners.map(|(index, _)| index).collect();
        let along = normal.tangents().first().copied()?;
        let around = sorted_around(corners, points, along);
        Some(without_inner_points(around, points, normal, tolerance))
    });
    Some(faces.collect())
}

/// Returns the corners of a polygon without the points inside the polygon, as in Graham's scan.
/// `around` is in the order of the angles about the mean of the corners.
fn without_inner_points<D: DVector>(
    mut around: Vec<usize>,
    points: &[D],
    normal: D,
    tolerance: f64,
) -> Vec<usize> {
    let place = |index: &usize| points.get(*index).copied().unwrap_or(D::ZERO);
    let middle = D::mean(&around.iter().map(place).collect::<Vec<_>>());
    let sides = around.iter().zip(around.iter().cycle().skip(1));
    let areas = sides.filter_map(|(start, end)| {
        let cross = D::perpendicular(&[place(start) - middle, place(end) - middle])?;
        Some(cross.dot(normal))
    });
    // Seen from the side to which `axis` points, the corners run counter-clockwise.
    let axis = if areas.sum::<f64>() < 0.0 {
        -normal
    } else {
        normal
    };
    let is_inner = |around: &[usize], at: usize| {
        let len = around.len();
        let [before, corner, after] =
            [len - 1, 0, 1].map(|step| around.get((at + step) % len).map_or(D::ZERO, place));
        let outward = D::perpendicular(&[after - before, axis]).and_then(D::unit);
        outward.is_some_and(|outward| (corner - before).dot(outward) < -tolerance)
    };
    while around.len() > 3
        && let Some(inner) = (0..around.len()).find(|at| is_inner(&around, *at))
    {
        around.remove(inner);
    }
    around
}

/// Sorts the corners of a convex polygon by their angles about their mean. The polygon is in a
/// plane that contains the unit vector `along`.
fn sorted_around<D: DVector>(mut corners: Vec<usize>, points: &[D], along: D) -> Vec<usize> {
    let place = |index: usize| points.get(index).copied().unwrap_or(D::ZERO);
    let places: Vec<D> = corners.iter().map(|index| place(*index)).collect();
    let middle = D::mean(&places);
    // The other axis of the plane is orthogonal to `along`, and points to the corner that is
    // farthest from the line through the middle along this vector.
    let across = |index: usize| {
        let offset = place(index) - middle;
        offset - along * offset.dot(along)
    };
    let farthest = corners.iter().copied().max_by(|a, b| {
        let [a, b] = [*a, *b].map(|index| across(index).length_squared());
        a.total_cmp(&b)
    });
    let up = farthest
        .and_then(|index| across(index).unit())
        .unwrap_or(D::ZERO);
    // A number that grows with the angle, from 0 to 4.
    let turn = |index: usize| {
        let offset = place(index) - middle;
        let (x, y) = (offset.dot(along), offset.dot(up));
        let cosine = x / (x.abs() + y.abs());
        if y >= 0.0 { 1.0 - cosine } else { 3.0 + cosine }
    };
    corners.sort_by(|a, b| turn(*a).total_cmp(&turn(*b)));
    corners
}

#[cfg(test)]
mod tests {
    use super::hull_faces;
    use crate::math::{DVec3, Vec3};

    #[test]
    fn each_face_of_a_box_and_of_a_frustum_has_four_corners() {
        for (top, height, depth) in [(2.0, 4.0, 6.0), (1.0, 2.0, 1.0), (0.25, 1.0, 3.0)] {
            let points: Vec<DVec3> = (0..8)
                .map(|corner| {
                    let [x, y, z] = [0, 1, 2].map(|axis| f64::from(corner >> axis & 1));
                    let width = if y > 0.0 { top } else { 2.0 };
                    let [x, z] = [x, z].map(|it| (2.0 * it - 1.0) * width);
                    DVec3::new(x, y * height, z * depth)
                })
                .collect();
            let faces = hull_faces::<Vec3>(&points).unwrap_or_default();
            let corners: Vec<usize> = faces.iter().map(Vec::len).collect();
            assert_eq!(corners, [4; 6]);
        }
    }
}
