//! Converts colliders with poses to bodies of the oracle.

use bevy::{
    math::{DMat3, DQuat, DVec3},
    prelude::*,
};
use headbutt::{ConvexView, Shape, ShapeView, prelude::*};

use super::{Body, cases::Dimension, gap};

/// Returns the convex parts of a collider in the world. The parts of a surface are its facets.
/// Returns `None` if a part is no body of the oracle, such as a half-space or an ellipsoid.
pub fn bodies(collider: &Collider, pose: Transform) -> Option<Vec<Body>> {
    match collider.shape_2d() {
        Some(shape) => bodies_of(shape, pose),
        None => bodies_of(collider.shape_3d()?, pose),
    }
}

fn bodies_of<V: Dimension>(shape: ShapeView<V>, pose: Transform) -> Option<Vec<Body>> {
    let scale = pose.scale.abs().as_dvec3();
    let is_uniform = scale.x == scale.y && (V::PLANAR || scale.x == scale.z);
    let linear = DMat3::from_quat(pose.rotation.as_dquat().normalize())
        * DMat3::from_diagonal(pose.scale.as_dvec3());
    let translation = V::of(pose.translation).deep();
    let place = |points: Vec<DVec3>, radius: f32| {
        let placed = points.iter().map(|point| linear * *point + translation);
        let radius = scale.x * f64::from(radius);
        (radius == 0.0 || is_uniform).then(|| Body::new(placed, radius, V::PLANAR))
    };
    match shape {
        ShapeView::Convex(shape) => {
            let (points, radius) = core(&shape)?;
            Some(vec![place(points, radius)?])
        }
        ShapeView::Compound(compound) => {
            let parts = compound.parts().map(|(isometry, part)| {
                let (rotation, offset) = V::map(isometry);
                let (points, radius) = core(&part)?;
                let points = points.iter().map(|point| rotation * *point + offset);
                place(points.collect(), radius)
            });
            parts.collect()
        }
        ShapeView::Surface(surface) => {
            let corner = |index: &u32| surface.vertices()[*index as usize].deep();
            let facets = surface.facets().map(|corners| {
                let points = corners.iter().map(corner).collect();
                place(points, surface.margin())
            });
            facets.collect()
        }
    }
}

/// Returns the points of a shape's core, and the radius around them.
fn core<V: Dimension>(shape: &ConvexView<V>) -> Option<(Vec<DVec3>, f32)> {
    let deep = |points: &[V]| points.iter().map(|point| point.deep()).collect();
    let (points, radius) = match shape.shape() {
        Shape::Ball { radius } => (vec![DVec3::ZERO], *radius),
        Shape::Capsule {
            half_length,
            radius,
        } => {
            let end = DVec3::Y * f64::from(*half_length);
            (vec![end, -end], *radius)
        }
        Shape::Box { half_size } => {
            let half = half_size.deep();
            let count = if V::PLANAR { 4 } else { 8 };
            let corners = (0..count).map(|number| {
                let side = |bit: usize| if number >> bit & 1 == 0 { -1.0 } else { 1.0 };
                half * DVec3::new(side(0), side(1), side(2))
            });
            (corners.collect(), 0.0)
        }
        Shape::Segment(points) => (deep(points), 0.0),
        Shape::Triangle(points) => (deep(points), 0.0),
        Shape::Tetrahedron(points) => (deep(points), 0.0),
        Shape::Hull(hull) => (deep(hull.points()), 0.0),
        _ => return None,
    };
    Some((points, radius + shape.margin()))
}

/// Returns the signed distance of the two closest parts. If this distance is greater than `limit`,
/// returns a lower bound that is also greater than `limit`.
pub fn gap_within(a: &[Body], b: &[Body], limit: f64) -> f64 {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let gaps = pairs.map(|(a, b)| {
        let spheres = a.center().distance(b.center()) - a.size() - b.size();
        if spheres > limit { spheres } else { gap(a, b) }
    });
    gaps.fold(f64::INFINITY, f64::min)
}

/// Returns the signed distance of bodies from the half-space behind a plane.
pub fn gap_to_plane(bodies: &[Body], point: DVec3, normal: DVec3) -> f64 {
    let lowest = bodies.iter().map(|body| -body.height(-normal));
    lowest.fold(f64::INFINITY, f64::min) - normal.dot(point)
}

/// Returns the pose at a time of a motion with constant velocities. The rotation is about the
/// moving translation.
pub fn pose_at(pose: Transform, translation: Vec3, rotation: Vec3, time: f64) -> Transform {
    let turn = DQuat::from_scaled_axis(rotation.as_dvec3() * time);
    let at = pose.translation.as_dvec3() + translation.as_dvec3() * time;
    Transform {
        translation: at.as_vec3(),
        rotation: (turn * pose.rotation.as_dquat()).as_quat(),
        scale: pose.scale,
    }
}

/// Returns the bounds of bodies along the axes.
pub fn aabb(bodies: &[Body]) -> [DVec3; 2] {
    let highest = |direction: DVec3| {
        let heights = bodies.iter().map(|body| body.height(direction));
        heights.fold(f64::NEG_INFINITY, f64::max)
    };
    let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z];
    let max = DVec3::new(highest(x), highest(y), highest(z));
    [-DVec3::new(highest(-x), highest(-y), highest(-z)), max]
}

/// The colliders are boxes, balls and capsules whose distances are evident.
#[test]
fn the_distance_of_placed_colliders_is_that_of_their_parts() {
    let ball = Collider::sphere(0.5);
    let bar = Collider::compound([
        (Vec3::X, Collider::cuboid(1.0, 2.0, 3.0)),
        (Vec3::NEG_X, Collider::capsule_3d(0.25, 1.0)),
    ]);
    let turned = Transform::from_rotation(Quat::from_rotation_z(core::f32::consts::FRAC_PI_2));
    let bar = bodies(&bar, turned.with_translation(Vec3::Y * 4.0)).expect("bodies");
    let at = |y: f32| {
        bodies(
            &ball,
            Transform::from_xyz(0.0, y, 0.0).with_scale(Vec3::splat(-2.0)),
        )
    };
    // The box reaches from 4.5 to 5.5 along y, and the capsule from 2.75 to 3.25.
    for (y, distance) in [(0.0, 1.75), (2.0, -0.25), (7.0, 0.5), (3.875, -0.375)] {
        let ball = at(y).expect("a ball");
        let found = gap_within(&ball, &bar, f64::INFINITY);
        assert!((found - distance).abs() < 1e-6, "{y}: {found}");
        assert!(gap_within(&ball, &bar, 0.0) <= found.max(0.0) + 1e-6);
    }
    let below = gap_to_plane(&bar, DVec3::Y * 3.0, DVec3::Y);
    assert!((below + 0.25).abs() < 1e-6, "{below}");
    let [min, max] = aabb(&bar);
    assert!(min.distance(DVec3::new(-1.0, 2.75, -1.5)) < 1e-6, "{min}");
    assert!(max.distance(DVec3::new(1.0, 5.5, 1.5)) < 1e-6, "{max}");
    let square = bodies(
        &Collider::rectangle(2.0, 2.0),
        Transform::from_xyz(0.0, 0.0, 9.0),
    );
    let line = Collider::polyline([Vec2::new(-9.0, 3.0), Vec2::new(9.0, 3.0)]);
    let line = bodies(&line.rounded(0.5), Transform::from_xyz(0.0, -1.0, 0.0));
    let found = gap_within(&square.expect("a box"), &line.expect("a line"), 1.0);
    assert!((found - 0.5).abs() < 1e-6, "{found}");
    assert!(bodies(&Collider::half_space(Vec3::Y), Transform::IDENTITY).is_none());
    let stretched = Transform::from_scale(Vec3::new(1.0, 2.0, 1.0));
    assert!(bodies(&ball, stretched).is_none());
}
