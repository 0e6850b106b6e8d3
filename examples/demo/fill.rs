//! Filled shapes, and meshes of colliders. The mesh is computed from the collider's shape, so the
//! demo draws the shape that collides.

use std::f32::consts::FRAC_PI_2;

use bevy::{
    mesh::{PrimitiveTopology, VertexAttributeValues},
    prelude::*,
};
use headbutt::{ConvexView, Shape, ShapeView, prelude::*};

/// Half of the size of a drawn half-space.
const HORIZON: f32 = 50.0;

/// The number of points on the outline of a 2D shape.
const OUTLINE: u32 = 256;

/// The numbers of meridians and parallels around the y axis, on the surface of a 3D shape.
const MERIDIANS: u32 = 96;
const PARALLELS: u32 = 48;

/// A 2D shape that is filled with a color.
#[derive(Component)]
pub struct Fill {
    /// If `None`, the shape of the entity's collider is filled.
    shape: Option<Mesh>,
    color: Color,
}

impl Fill {
    pub fn collider(color: Color) -> Self {
        Self { shape: None, color }
    }

    pub fn shape(shape: impl Into<Mesh>, color: Color) -> Self {
        let shape = Some(shape.into());
        Self { shape, color }
    }
}

/// Observes new [`Fill`]s, and adds the mesh and the material to the entity.
pub fn draw(
    add: On<Add, Fill>,
    fills: Query<(&Fill, Option<&Collider>)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    mut commands: Commands,
) -> Result {
    let (fill, collider) = fills.get(add.entity)?;
    let mesh = match (&fill.shape, collider) {
        (Some(shape), _) => shape.clone(),
        (None, Some(collider)) => mesh_2d(collider),
        (None, None) => return Err("no collider to fill".into()),
    };
    let material = MeshMaterial2d(materials.add(fill.color));
    let mesh = Mesh2d(meshes.add(mesh));
    commands.entity(add.entity).insert((mesh, material));
    Ok(())
}

/// Returns the interior of a 2D collider, or the lines of a polyline, which has no interior.
pub fn mesh_2d(collider: &Collider) -> Mesh {
    match collider.shape_2d() {
        Some(ShapeView::Convex(shape)) => convex_2d(shape),
        Some(ShapeView::Compound(compound)) => {
            let parts = compound.parts().map(|(pose, part)| {
                let turn = Quat::from_rotation_z(pose.rotation.as_radians());
                let pose = Transform::from_translation(pose.translation.extend(0.0));
                convex_2d(part).transformed_by(pose.with_rotation(turn))
            });
            merged(parts)
        }
        Some(ShapeView::Surface(polyline)) => {
            let ends = polyline.facets().flatten();
            let points = ends.map(|&index| polyline.vertices()[index as usize].extend(0.0));
            list(PrimitiveTopology::LineList, points.collect())
        }
        None => panic!("no 2D shape"),
    }
}

/// Returns the surface of a 3D collider.
pub fn mesh_3d(collider: &Collider) -> Mesh {
    match collider.shape_3d() {
        Some(ShapeView::Convex(shape)) => convex_3d(shape),
        Some(ShapeView::Compound(compound)) => {
            let parts = compound
                .parts()
                .map(|(pose, part)| convex_3d(part).transformed_by(Transform::from_isometry(pose)));
            merged(parts)
        }
        Some(ShapeView::Surface(surface)) => {
            let corners = surface.facets().flatten();
            let positions: Vec<Vec3> = corners.map(|&i| surface.vertices()[i as usize]).collect();
            list(PrimitiveTopology::TriangleList, positions).with_computed_flat_normals()
        }
        None => panic!("no 3D shape"),
    }
}

/// Maps each point of a circle to the farthest point of the shape in the direction of this point.
/// The support function of a polygon returns vertices, so the mesh of a polygon is exact.
fn convex_2d(shape: ConvexView<Vec2>) -> Mesh {
    if let Shape::HalfSpace { normal } = shape.shape() {
        let below = Rectangle::new(2.0 * HORIZON, HORIZON).mesh().build();
        let turn = Quat::from_rotation_z(Vec2::Y.angle_to(*normal));
        return below
            .translated_by(Vec3::NEG_Y * 0.5 * HORIZON)
            .rotated_by(turn);
    }
    let circle = Circle::new(1.0).mesh().resolution(OUTLINE).build();
    mapped(circle, |point| {
        let direction = point.as_dvec3().truncate().normalize();
        let surface = shape.support(direction) + shape.radius() * direction;
        surface.as_vec2().extend(0.0)
    })
}

/// Maps each point of a sphere to the farthest point of the shape in the direction of this point.
/// The normals of the sphere are also the normals of the shape at these points.
fn convex_3d(shape: ConvexView<Vec3>) -> Mesh {
    if let Shape::HalfSpace { normal } = shape.shape() {
        return Plane3d::new(*normal, Vec2::splat(HORIZON)).mesh().build();
    }
    // Bevy's sphere has its poles on the z axis.
    let sphere = Sphere::new(1.0).mesh().uv(MERIDIANS, PARALLELS);
    let sphere = sphere.rotated_by(Quat::from_rotation_x(-FRAC_PI_2));
    mapped(sphere, |point| {
        let direction = point.as_dvec3().normalize();
        let surface = shape.support(direction) + shape.radius() * direction;
        surface.as_vec3()
    })
}

fn list(topology: PrimitiveTopology, positions: Vec<Vec3>) -> Mesh {
    Mesh::new(topology, default()).with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
}

fn mapped(mut mesh: Mesh, map: impl Fn(Vec3) -> Vec3) -> Mesh {
    if let Some(VertexAttributeValues::Float32x3(points)) =
        mesh.attribute_mut(Mesh::ATTRIBUTE_POSITION)
    {
        for point in points {
            *point = map((*point).into()).into();
        }
    }
    mesh
}

fn merged(parts: impl Iterator<Item = Mesh>) -> Mesh {
    let merge = |mut mesh: Mesh, other: Mesh| {
        mesh.merge(&other)
            .expect("the parts have the same attributes");
        mesh
    };
    parts.reduce(merge).expect("a compound has parts")
}
