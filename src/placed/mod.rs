//! Colliders in poses, their parts, and the order of two colliders. This folder needs no entity and
//! no app.
//!
//! | file | contents |
//! |---|---|
//! | `collider.rs` | [`PlacedCollider`], a collider in a pose |
//! | `facets.rs` | the facets of a placed surface |
//! | `ledges.rs` | the ledges of a placed union of cells |
//! | `solid.rs` | the inside of a placed solid surface |
//! | `ground.rs` | colliders that are one solid |
//! | `cell_change.rs` | [`CellChange`], a change of the cells of a placed union of cells |
//! | `shape.rs` | [`PlacedShape`], a convex shape or a part in a pose |
//! | `either.rs` | [`Placed`], a placed collider or a shape by itself |
//! | `part_contact.rs` | [`PartContact`], the contact of two parts |
//! | `region.rs` | [`BoundingRegion`], a region that contains a collider or a part |

mod cell_change;
mod collider;
mod either;
mod facets;
mod ground;
mod ledges;
mod part_contact;
mod region;
mod shape;
mod solid;

pub use cell_change::CellChange;
pub use collider::{PlacedBody, PlacedCollider};
pub use either::{Placed, with_pair};
pub use facets::ClusteredFacet;
pub use ground::{CellLattice, MemberCells, NotJoined, join_parts, parts_of_member};
pub use ledges::Ledge;
pub use part_contact::{PartContact, offsets};
pub use region::BoundingRegion;
pub use shape::{DynPart, DynShape, Part, PlacedShape};
pub use solid::{NearestFacet, SolidPiece};
