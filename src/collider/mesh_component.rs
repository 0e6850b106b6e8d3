//! The component that asks for a collider of a mesh.

use bevy::{asset::RenderAssetUsages, ecs::world::EntityRef, prelude::*};

use crate::{
    Collider,
    shape::{MeshError, ShapeError},
};

/// Makes the [`Collider`] of an entity out of a mesh, as soon as that has loaded. With the feature `mesh`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
///     let rock = meshes.add(Torus::default());
///     // With a material it would be seen, too.
///     commands.spawn((Mesh3d(rock.clone()), ColliderFromMesh::convex_hull()));
///     // What is seen need not be what collides.
///     commands.spawn(ColliderFromMesh::trimesh().of(Mesh3d(rock)));
/// }
/// ```
///
/// The mesh is that of the entity, its `Mesh3d` or else its `Mesh2d`, unless another one is given ([`of`](Self::of)). What is
/// from a `Mesh3d` collides in 3D, and what is from a `Mesh2d` in 2D, with the x and y of the vertices.
///
/// A scene that is loaded has its meshes on entities of its own, below the one that was spawned. Those that should collide
/// can be told when they come:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn collide(meshes: Query<Entity, Added<Mesh3d>>, mut commands: Commands) {
///     for entity in &meshes {
///         commands.entity(entity).insert(ColliderFromMesh::trimesh());
///     }
/// }
///
/// App::new().add_systems(Update, collide);
/// ```
///
/// # When
///
/// At the beginning of the tick, in [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync): a mesh that is in
/// `Assets<Mesh>` by then collides in the same tick. Until there is one, the entity keeps the collider that it has, or has
/// the [`Default`] one, which touches nothing. The collider is made anew when this component, or the handle in the
/// `Mesh3d` or `Mesh2d`, changes, and when the mesh itself changes: in the first tick after `PostUpdate`, where Bevy tells
/// of changed assets. Otherwise it is left alone, and may be changed; nor does it go when this component or the mesh does.
///
/// Each mesh is worked on once for each [`MeshShape`], however many entities share it. It takes its time in that tick: for a
/// hull see [`ConvexHull`](crate::ConvexHull).
///
/// # Errors
///
/// In an app without Bevy's `MeshPlugin` (and its `AssetPlugin`) there are no meshes, and a warning says so. What makes no collider
/// touches nothing, and one warning names the entity, with the [`ShapeError`] of the function that
/// the shape stands for. A mesh needs `RenderAssetUsages::MAIN_WORLD` (which is among Bevy's default): without it its vertices
/// go to the renderer, before or after the tick as it happens; so it is refused also as long as they are there. A mesh that
/// fails to load is the asset server's to warn of.
///
/// # Concave and solid
///
/// A hull fills every hole, and a trimesh has no inside. Nothing here takes a mesh apart into convex pieces: let the program
/// that made the mesh do it (Blender, or a command line tool for approximate convex decomposition such as CoACD or V-HACD), load
/// the pieces as meshes, and make a [`Collider::compound`] of their [hulls](Collider::convex_hull_from_mesh):
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn solid(pieces: &[Mesh]) -> Result<Collider, ShapeError> {
///     let hulls = pieces.iter().map(Collider::convex_hull_from_mesh);
///     let hulls: Vec<Collider> = hulls.collect::<Result<_, _>>()?;
///     Collider::compound(hulls.into_iter().map(|hull| (Vec3::ZERO, hull)))
/// }
///
/// let piece = |x| Mesh::from(Cuboid::default()).translated_by(Vec3::new(x, 0.0, 0.0));
/// assert!(solid(&[piece(-1.0), piece(1.0)]).is_ok());
/// ```
#[derive(Component, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
#[require(Collider)]
pub struct ColliderFromMesh {
    /// What is made of the mesh.
    pub shape: MeshShape,
    /// Whose mesh it is.
    pub source: MeshSource,
}

/// What a [`ColliderFromMesh`] makes of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum MeshShape {
    /// [`Collider::convex_hull_from_mesh`], or [`Collider::convex_hull_from_mesh_2d`].
    ConvexHull,
    /// [`Collider::trimesh_from_mesh`]; in 2D, where a mesh is solid, [`Collider::compound_from_mesh_2d`].
    Trimesh,
    /// The same [`one_sided`](Collider::one_sided), which in 2D makes no difference.
    OneSidedTrimesh,
}

/// Which mesh a [`ColliderFromMesh`] is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum MeshSource {
    /// That of its entity: the `Mesh3d`, or else the `Mesh2d`.
    #[default]
    Own,
    /// This one, in 2D.
    Mesh2d(Mesh2d),
    /// This one, in 3D.
    Mesh3d(Mesh3d),
}

impl From<Mesh2d> for MeshSource {
    fn from(mesh: Mesh2d) -> Self {
        Self::Mesh2d(mesh)
    }
}

impl From<Mesh3d> for MeshSource {
    fn from(mesh: Mesh3d) -> Self {
        Self::Mesh3d(mesh)
    }
}

impl ColliderFromMesh {
    /// The convex hull of the entity's mesh.
    pub const fn convex_hull() -> Self {
        Self::new(MeshShape::ConvexHull)
    }

    /// The triangles of the entity's mesh: in 3D its surface, in 2D its area.
    pub const fn trimesh() -> Self {
        Self::new(MeshShape::Trimesh)
    }

    /// The surface of the entity's mesh, of which only the outer side collides: see [`Collider::one_sided`].
    pub const fn one_sided_trimesh() -> Self {
        Self::new(MeshShape::OneSidedTrimesh)
    }

    /// Of another mesh than the entity's own: a `Mesh3d` or `Mesh2d`, which says in which dimension.
    #[must_use]
    pub fn of(self, source: impl Into<MeshSource>) -> Self {
        Self {
            source: source.into(),
            ..self
        }
    }

    const fn new(shape: MeshShape) -> Self {
        Self {
            shape,
            source: MeshSource::Own,
        }
    }
}

/// What a collider is made of, and how: entities of the same recipe share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Recipe {
    pub mesh: AssetId<Mesh>,
    shape: MeshShape,
    space: MeshSpace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MeshSpace {
    Plane,
    Solid,
}

impl Recipe {
    /// That of an entity; `None` if it asks for none, or an error if there is no mesh.
    pub fn of(entity: EntityRef) -> Option<Result<Self, MeshError>> {
        let wish = entity.get::<ColliderFromMesh>()?;
        let plane = |mesh: &Mesh2d| (mesh.id(), MeshSpace::Plane);
        let solid = |mesh: &Mesh3d| (mesh.id(), MeshSpace::Solid);
        let source = match &wish.source {
            MeshSource::Mesh2d(mesh) => Some(plane(mesh)),
            MeshSource::Mesh3d(mesh) => Some(solid(mesh)),
            MeshSource::Own => {
                let own = entity.get::<Mesh3d>().map(solid);
                own.or_else(|| entity.get::<Mesh2d>().map(plane))
            }
        };
        let recipe = source.map(|(mesh, space)| Self {
            mesh,
            shape: wish.shape,
            space,
        });
        Some(recipe.ok_or(MeshError::Missing))
    }

    /// The collider, of the mesh that the recipe names.
    pub fn make(self, mesh: &Mesh) -> Result<Collider, ShapeError> {
        // Whether the vertices are still there would depend on the frame rate.
        if !mesh.asset_usage.contains(RenderAssetUsages::MAIN_WORLD) {
            return Err(MeshError::NotInMainWorld.into());
        }
        match (self.space, self.shape) {
            (MeshSpace::Solid, MeshShape::ConvexHull) => Collider::convex_hull_from_mesh(mesh),
            (MeshSpace::Solid, MeshShape::Trimesh) => Collider::trimesh_from_mesh(mesh),
            (MeshSpace::Solid, MeshShape::OneSidedTrimesh) => {
                Collider::trimesh_from_mesh(mesh).map(Collider::one_sided)
            }
            (MeshSpace::Plane, MeshShape::ConvexHull) => Collider::convex_hull_from_mesh_2d(mesh),
            (MeshSpace::Plane, MeshShape::Trimesh | MeshShape::OneSidedTrimesh) => {
                Collider::compound_from_mesh_2d(mesh)
            }
        }
    }
}
