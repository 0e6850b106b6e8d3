//! The component that requests a collider from a mesh. `pipeline/sync/mesh_assets.rs` calls
//! [`Recipe::of`] for each entity whose request or mesh changed, and [`Recipe::make`] when the mesh
//! is loaded.

use bevy::{asset::RenderAssetUsages, ecs::world::EntityRef, prelude::*};

use crate::{
    Collider,
    shape::{MeshError, ShapeError},
};

/// Creates the [`Collider`] of an entity from a mesh, as soon as the mesh has loaded. Requires the
/// feature `mesh`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
///     let rock = meshes.add(Torus::default());
///     // Add a material to make the mesh visible.
///     commands.spawn((Mesh3d(rock.clone()), ColliderFromMesh::convex_hull()));
///     // The mesh of the collider may differ from the visible mesh.
///     commands.spawn(ColliderFromMesh::trimesh().of(Mesh3d(rock)));
/// }
/// ```
///
/// The mesh is the entity's `Mesh3d` or else its `Mesh2d`, unless [`of`](Self::of) names another
/// mesh. A `Mesh3d` gives a 3D collider, and a `Mesh2d` gives a 2D collider from the x and y
/// coordinates of its vertices.
///
/// A loaded scene has its meshes on descendants of the entity that you spawned. A system can add
/// the component to all these descendants:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn add_colliders(meshes: Query<Entity, Added<Mesh3d>>, mut commands: Commands) {
///     for entity in &meshes {
///         commands.entity(entity).insert(ColliderFromMesh::trimesh());
///     }
/// }
///
/// App::new().add_systems(Update, add_colliders);
/// ```
///
/// # When
///
/// The collider is created at the start of a tick, in
/// [`HeadbuttSystems::Sync`](crate::HeadbuttSystems::Sync). If the mesh is already in
/// `Assets<Mesh>`, the entity collides in the same tick. Until the mesh has loaded, the entity
/// keeps its collider, or has the [`Default`] collider, which touches nothing.
///
/// The collider is created again if
///
/// * this component changes,
/// * the handle in the `Mesh3d` or `Mesh2d` changes, or
/// * the mesh itself changes. The first tick after `PostUpdate` then creates the collider, because
///   Bevy reports changed assets in `PostUpdate`.
///
/// Otherwise the plugin leaves the collider unchanged, and the app may change it. The collider also
/// stays if this component or the mesh is removed.
///
/// For each combination of a mesh and a [`MeshShape`], the collider is computed once, and all
/// entities share the result. The computation is part of the tick: see
/// [`ConvexHull`](crate::ConvexHull) for the cost of a hull.
///
/// # Errors
///
/// If no collider can be created from the mesh, the entity is inert, and one warning names the
/// entity and the [`ShapeError`]. The error has two common causes:
///
/// * The app has no `AssetPlugin` or no `MeshPlugin`, so it has no meshes.
/// * The mesh lacks the flag `RenderAssetUsages::MAIN_WORLD`, which Bevy sets by default. A mesh
///   without this flag is always rejected, because its vertices move to the renderer at a time that
///   depends on the frame rate.
///
/// If a mesh fails to load, the asset server reports the error.
///
/// # Concave and solid
///
/// A hull fills every hole, and a trimesh has no inside. This crate does not split meshes into
/// convex pieces. To split a mesh, use the program that created the mesh, such as Blender. Tools
/// for approximate convex decomposition, such as CoACD or V-HACD, also split meshes. After a mesh
/// is split, load the pieces as meshes, and create a [`Collider::compound`] of their
/// [hulls](Collider::convex_hull_from_mesh):
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn solid(pieces: &[Mesh]) -> Collider {
///     let hulls = pieces.iter().map(Collider::convex_hull_from_mesh);
///     Collider::compound(hulls.map(|hull| (Vec3::ZERO, hull)))
/// }
///
/// let piece = |x| Mesh::from(Cuboid::default()).translated_by(Vec3::new(x, 0.0, 0.0));
/// assert!(!solid(&[piece(-1.0), piece(1.0)]).is_inert());
/// ```
#[derive(Component, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, PartialEq)]
#[type_path = "headbutt"]
#[require(Collider)]
pub struct ColliderFromMesh {
    /// The kind of collider to create.
    pub shape: MeshShape,
    /// The mesh from which the collider is created.
    pub source: MeshSource,
}

/// The kind of collider that a [`ColliderFromMesh`] creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum MeshShape {
    /// [`Collider::convex_hull_from_mesh`], or [`Collider::convex_hull_from_mesh_2d`].
    ConvexHull,
    /// [`Collider::trimesh_from_mesh`], or in 2D [`Collider::compound_from_mesh_2d`], which is
    /// solid.
    Trimesh,
    /// The same as [`Trimesh`](Self::Trimesh), but [`one_sided`](Collider::one_sided) in 3D.
    OneSidedTrimesh,
}

/// The mesh that a [`ColliderFromMesh`] uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
#[non_exhaustive]
pub enum MeshSource {
    /// The `Mesh3d` of the same entity, or else its `Mesh2d`.
    #[default]
    Own,
    /// Any mesh, for a 2D collider.
    Mesh2d(Mesh2d),
    /// Any mesh, for a 3D collider.
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
    /// Requests the convex hull of the entity's mesh.
    pub const fn convex_hull() -> Self {
        Self::new(MeshShape::ConvexHull)
    }

    /// Requests the triangles of the entity's mesh: its surface in 3D, or its area in 2D.
    pub const fn trimesh() -> Self {
        Self::new(MeshShape::Trimesh)
    }

    /// Requests the one-sided surface of the entity's mesh: see [`Collider::one_sided`].
    pub const fn one_sided_trimesh() -> Self {
        Self::new(MeshShape::OneSidedTrimesh)
    }

    /// Uses another mesh instead of the entity's own mesh: a `Mesh3d` for a 3D collider, or a
    /// `Mesh2d` for a 2D collider.
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

/// The mesh from which a collider is created, and the kind of the collider. Entities with equal
/// recipes share the collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Recipe {
    pub mesh: AssetId<Mesh>,
    shape: MeshShape,
    is_2d: bool,
}

impl Recipe {
    /// Returns the recipe of an entity, `None` if it has no [`ColliderFromMesh`], or an error if it
    /// has no mesh.
    pub fn of(entity: EntityRef) -> Option<Result<Self, MeshError>> {
        let request = entity.get::<ColliderFromMesh>()?;
        let in_2d = |mesh: &Mesh2d| (mesh.id(), true);
        let in_3d = |mesh: &Mesh3d| (mesh.id(), false);
        let source = match &request.source {
            MeshSource::Mesh2d(mesh) => Some(in_2d(mesh)),
            MeshSource::Mesh3d(mesh) => Some(in_3d(mesh)),
            MeshSource::Own => {
                let own = entity.get::<Mesh3d>().map(in_3d);
                own.or_else(|| entity.get::<Mesh2d>().map(in_2d))
            }
        };
        let recipe = source.map(|(mesh, is_2d)| Self {
            mesh,
            shape: request.shape,
            is_2d,
        });
        Some(recipe.ok_or(MeshError::Missing))
    }

    /// Creates the collider from `mesh`, the mesh with the id `self.mesh`.
    pub fn make(self, mesh: &Mesh) -> Result<Collider, ShapeError> {
        // Without `MAIN_WORLD`, the vertices of a mesh move to the renderer, at a time that depends
        // on the frame rate. So such a mesh is always an error, even while the vertices are still
        // here.
        if !mesh.asset_usage.contains(RenderAssetUsages::MAIN_WORLD) {
            return Err(MeshError::NotInMainWorld.into());
        }
        match self.shape {
            MeshShape::ConvexHull if self.is_2d => Collider::try_convex_hull_from_mesh_2d(mesh),
            MeshShape::ConvexHull => Collider::try_convex_hull_from_mesh(mesh),
            _ if self.is_2d => Collider::try_compound_from_mesh_2d(mesh),
            MeshShape::Trimesh => Collider::try_trimesh_from_mesh(mesh),
            MeshShape::OneSidedTrimesh => {
                Collider::try_trimesh_from_mesh(mesh).map(Collider::one_sided)
            }
        }
    }
}
