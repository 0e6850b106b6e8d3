//! The component that gives an entity a shape to collide with.
//!
//! | file | contents |
//! |---|---|
//! | `component.rs` | [`Collider`], with the constructors for points and custom shapes |
//! | `basic_shapes.rs`, `compound.rs`, `cells.rs` | the other constructors of [`Collider`] |
//! | `from_mesh.rs`, `mesh_component.rs` | colliders from Bevy's meshes |
//! | `markers.rs` | [`Sensor`] and [`Swept`], markers of colliders |
//! | `entity_pose.rs`, `error.rs` | the pose of an entity, and the errors of a collider in a pose |
//! | `pose.rs` | the pose of a collider in a query, or of a part in a compound |
//! | `view.rs` | read-only views of the shape |

mod basic_shapes;
mod cells;
mod component;
mod compound;
mod entity_pose;
mod error;
#[cfg(feature = "mesh")]
mod from_mesh;
mod markers;
#[cfg(feature = "mesh")]
mod mesh_component;
mod pose;
mod view;

pub use component::Collider;
pub(crate) use entity_pose::{compose_pose, entity_pose};
pub use error::ColliderError;
pub use markers::{JoinedCollider, Sensor, Swept};
#[cfg(feature = "mesh")]
pub(crate) use mesh_component::Recipe;
#[cfg(feature = "mesh")]
pub use mesh_component::{ColliderFromMesh, MeshShape, MeshSource};
pub use view::{CompoundView, ConvexView, ShapeView, SurfaceView};
