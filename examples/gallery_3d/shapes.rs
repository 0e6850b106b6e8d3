//! The shapes of the gallery.

use std::f32::consts::TAU;

use bevy::{math::DVec3, prelude::*};
use headbutt::prelude::*;

/// Returns the shapes with their names and scales.
pub fn all() -> [(&'static str, Collider, Vec3); 18] {
    let [a, b, c] = [(-0.9, -0.6, 0.3), (0.9, -0.6, 0.3), (-0.2, 0.8, -0.5)].map(Vec3::from);
    let bar = |x, y, z| (Vec3::ZERO, Collider::cuboid(x, y, z));
    let thin = 0.45;
    let cross = [
        bar(1.7, thin, thin),
        bar(thin, 1.7, thin),
        bar(thin, thin, 1.7),
    ];
    let squeezed = Vec3::new(1.0, 0.55, 0.75);
    let prism = Extrusion::new(RegularPolygon::new(0.8, 5), 0.7);
    let rectangle = Plane3d::new(Vec3::Y, Vec2::new(0.8, 0.6));
    let slice = Extrusion::new(CircularSector::new(1.0, 0.9), 0.6);
    let tetrahedron = Tetrahedron::new(
        Vec3::new(-0.9, -0.6, -0.5),
        Vec3::new(0.9, -0.6, -0.5),
        Vec3::new(0.0, -0.6, 1.0),
        Vec3::new(0.0, 0.9, 0.0),
    );
    let frustum = ConicalFrustum {
        radius_top: 0.4,
        radius_bottom: 0.8,
        height: 1.2,
    };
    let rounded = Collider::cuboid(0.9, 0.7, 0.8).rounded(0.3);
    let plain = |name, collider| (name, collider, Vec3::ONE);
    [
        plain("sphere", Collider::sphere(0.8)),
        plain("capsule_3d", Collider::capsule_3d(0.45, 0.9)),
        plain("cuboid", Collider::cuboid(1.4, 1.1, 1.0)),
        plain("cylinder", Collider::cylinder(0.7, 1.3)),
        plain("cone", Collider::cone(0.8, 1.5)),
        plain("triangle", Collider::triangle(a, b, c)),
        plain("ConicalFrustum", Collider::from(frustum)),
        plain("Tetrahedron", Collider::from(tetrahedron)),
        plain("Extrusion", Collider::from(prism)),
        plain("sector, extruded", Collider::from(slice)),
        plain("Plane3d", Collider::from(rectangle)),
        plain("convex_hull", octahedron()),
        plain("rounded", rounded),
        plain("trimesh", torus()),
        plain("heightfield", hills()),
        plain("compound", Collider::compound(cross)),
        plain("custom", Collider::custom(RoundCube(0.75))),
        ("scale (1.0, 0.55, 0.75)", Collider::sphere(0.95), squeezed),
    ]
}

/// The set of points (x, y, z) with x⁴ + y⁴ + z⁴ <= r⁴, for the radius r.
struct RoundCube(f64);

/// The farthest point in a direction is where the gradient of x⁴ + y⁴ + z⁴ has that direction.
impl Support for RoundCube {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let root = DVec3::new(direction.x.cbrt(), direction.y.cbrt(), direction.z.cbrt());
        let sum = root.x.powi(4) + root.y.powi(4) + root.z.powi(4);
        self.0 * root / sum.powf(0.25)
    }
}

fn octahedron() -> Collider {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    Collider::convex_hull(axes.into_iter().flat_map(|axis| [0.9 * axis, -0.9 * axis]))
}

fn torus() -> Collider {
    let (major, minor) = (24, 12);
    let point = |index: u32| {
        let around = Quat::from_rotation_y((index / minor) as f32 / major as f32 * TAU);
        let angle = (index % minor) as f32 / minor as f32 * TAU;
        around * Vec3::new(0.65 + 0.28 * angle.cos(), 0.28 * angle.sin(), 0.0)
    };
    let quads = (0..major * minor).flat_map(|index| {
        let (ring, side) = (index / minor, index % minor);
        let corner = |ring: u32, side: u32| ring % major * minor + side % minor;
        let [a, b] = [corner(ring, side), corner(ring, side + 1)];
        let [c, d] = [corner(ring + 1, side + 1), corner(ring + 1, side)];
        // The vertices are counter-clockwise as seen from outside.
        [[a, d, c], [a, c, b]]
    });
    Collider::trimesh((0..major * minor).map(point), quads)
}

fn hills() -> Collider {
    let side = 13;
    let heights: Vec<f32> = (0..side * side)
        .map(|index| {
            let (x, z) = ((index % side) as f32, (index / side) as f32);
            0.3 * (0.9 * x).sin() * (0.7 * z + 0.5).cos()
        })
        .collect();
    Collider::heightfield(Vec2::splat(1.8), side, &heights)
}
