//! Colliders for maps of other crates, as [worlds of cells](headbutt::CellGrid). Each module is one
//! file that a game can copy.
//!
//! | module | maps |
//! |---|---|
//! | [`tilemap`] | `bevy_ecs_tilemap`: tiles with any component that determines the cell |
//! | [`ldtk`] | `bevy_ecs_ldtk`: layers with an IntGrid. Also needs `tilemap`. |
//! | [`tiled`] | `bevy_ecs_tiled`: layers of tiles with collision shapes |

pub mod ldtk;
pub mod tiled;
pub mod tilemap;
