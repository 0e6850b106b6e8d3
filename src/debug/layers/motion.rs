//! The lines of rays and of moving shapes.

use bevy::{
    color::LinearRgba,
    math::{Affine3A, Mat3A, Vec3A},
};

use crate::{
    Collider,
    debug::{
        layer::ColoredLine,
        lines::{arrow, cross, placed},
    },
    math::{Quat, Vec3},
    query::CastHit,
};

/// The length at which an endless ray is cut.
const FAR: f32 = 1e4;

/// The length of the normal and the size of the cross at a hit, as fractions of the distance to the
/// hit.
const NORMAL: f32 = 0.1;
const HIT_MARKER: f32 = 0.02;

/// The colors of a motion: the color of its path, and the color at its hit.
pub type Colors = [LinearRgba; 2];

/// Returns the lines of a ray of the given length and of the normal at its end. `direction` may
/// have any length.
pub fn ray_lines(
    origin: Vec3,
    direction: Vec3,
    length: f32,
    normal: Option<Vec3>,
    [path, hit]: Colors,
) -> Vec<ColoredLine> {
    let end = origin + direction.normalize_or_zero() * length.min(FAR);
    let arrow =
        normal.map(|normal| arrow(end, end + normal * (NORMAL * length), HIT_MARKER * length));
    let arrow = arrow.into_iter().flatten().map(|line| (line, hit));
    arrow.chain([([origin, end], path)]).collect()
}

/// Returns the outlines of a moving shape at both ends of its path, and the line from the origin at
/// the start to the origin at the end. If there is a hit, the path ends at the hit. The rotation is
/// the axis times the angle in radians. In 2D, only the motion in the xy plane is drawn.
pub fn cast_lines(
    collider: &Collider,
    start: Affine3A,
    [translation, rotation]: [Vec3; 2],
    hit: Option<CastHit<Vec3>>,
    [path_color, hit_color]: Colors,
) -> Vec<ColoredLine> {
    let is_2d = collider.shape_2d().is_some();
    let (translation, rotation) = if is_2d {
        (translation.with_z(0.0), Vec3::Z * rotation.z)
    } else {
        (translation, rotation)
    };
    let time = hit.map_or(1.0, |hit| hit.touching) as f32;
    let turn = Mat3A::from_quat(Quat::from_scaled_axis(rotation * time));
    let end = Affine3A {
        matrix3: turn * start.matrix3,
        translation: start.translation + Vec3A::from(translation) * time,
    };
    let outline = collider.wireframe();
    let origins = [start, end].map(|pose| Vec3::from(pose.translation));
    let path = placed(&outline, start).chain([origins]);
    let path = path.map(|line| (line, path_color));
    let end_color = if hit.is_some() { hit_color } else { path_color };
    let marker = HIT_MARKER * translation.length();
    let crosses = hit.into_iter();
    let crosses = crosses.flat_map(|hit| cross(hit.contact.point_b, marker, is_2d));
    let ends = placed(&outline, end).chain(crosses);
    path.chain(ends.map(|line| (line, end_color))).collect()
}
