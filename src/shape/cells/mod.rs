//! Worlds of cells: sparse grids of solid cells, and the faces of their union.
//!
//! The collider of a grid is a surface of the *exposed faces*: those parts of the cells' faces that
//! no other cell covers. The grid tells the inside of the union from the outside.
//!
//! | file | contents |
//! |---|---|
//! | `cell.rs` | [`Cell`], the content of a cell |
//! | `cell_shape.rs` | [`CellShape`](cell_shape::CellShape), the convex shape of a cell |
//! | `chunk.rs` | the cells of a chunk of a grid |
//! | `grid.rs` | [`CellGrid`], a sparse grid of cells |
//! | `block_layout.rs` | the order of the cells in a block |
//! | `exposed_faces.rs` | the faces of the cells of a block |
//! | `cell_path.rs` | the path of a ray through the sides of cells |
//! | `face_block.rs` | the faces of a block, found on demand |
//! | `face_tree.rs` | a tree of all faces |
//! | `cell_surface.rs` | the grid and the faces of a collider |
//! | `near_cells.rs` | the solid cells near a body |
//! | `pieces.rs` | points inside the union, and the largest boxes around them |

pub mod block_layout;
pub mod cell;
pub mod cell_path;
pub mod cell_shape;
pub mod cell_surface;
pub mod chunk;
pub mod exposed_faces;
pub mod face_block;
pub mod face_tree;
pub mod grid;
pub mod near_cells;
pub mod pieces;
