//! Queries of colliders in poses. These queries need no app.
//!
//! | file | contents |
//! |---|---|
//! | `place.rs` | places a collider in the pose of a query |
//! | `part_contacts.rs` | the contacts of the parts of two colliders, as in a tick |
//! | `pair.rs` | the contact, the distance and the manifold of a pair, computed from its parts |
//! | `cast.rs` | casts of a pair, computed from its parts |
//! | `moving_colliders.rs` | a moving pair, and the positions of its parts |
//! | `facet_times.rs` | lower bounds on the times at which a moving body touches facets |
//! | `first_touch.rs` | selects the first touch among the touches of all pairs of parts |
//! | `one_way.rs` | contacts and casts of one-way colliders |
//! | `ray.rs` | rays against colliders |
//! | `collider_queries.rs` | colliders as arguments of the functions of [`query`](crate::query) |
//! | `collider_methods.rs` | the bounding box of a collider, and its point nearest to a point |

pub mod cast;
pub mod collider_methods;
mod collider_queries;
mod facet_times;
mod first_touch;
mod moving_colliders;
pub mod one_way;
pub mod pair;
pub mod part_contacts;
pub mod place;
pub mod ray;

pub use collider_methods::{ClosestPoint, ColliderAabb};
