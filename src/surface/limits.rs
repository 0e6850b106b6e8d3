//! The limits that several searches of this folder share. Each limit bounds the time and the memory
//! of a contact. A limit that only one search has is in the file of this search.

/// Maximum number of parts of a body that a search visits one by one.
pub const MAX_PARTS: usize = 16;

/// Maximum number of translations that a search tries. On rough terrain, a search tries about four.
pub const MAX_NODES: usize = 128;

/// Maximum number of steps of a loop whose steps improve a result. Most loops take at most three
/// steps.
pub const MAX_STEPS: usize = 8;

/// Maximum number of planes, edges and corners that a search considers, and of facets that it tests
/// to find them.
pub const MAX_CANDIDATES: usize = 64;

/// Maximum number of directions in which a search tries to push the body out.
pub const MAX_DIRECTIONS: usize = 16;
