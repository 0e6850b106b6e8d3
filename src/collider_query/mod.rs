//! Queries of colliders of any kind, in any pose, with or without an app.
//!
//! | file | contents |
//! |---|---|
//! | `place.rs` | places a collider in the pose of a query |
//! | `part_contacts.rs` | the contacts of the parts of two colliders, as in a tick |
//! | `pair.rs` | contact, distance and manifold of a pair, by its parts |
//! | `cast.rs` | casts of a pair, by its parts |
//! | `moving_colliders.rs` | a moving pair, and where its parts are |
//! | `facet_times.rs` | the facets that a moving body may touch, by bounds on the times |
//! | `first_touch.rs` | the first of the outcomes of several pairs of parts |
//! | `ray.rs` | rays against colliders |
//! | `collider_queries.rs` | colliders in [`query`](crate::query) |
//! | `collider_methods.rs` | the bounding box of a collider, and its distance from points |

pub mod cast;
pub mod collider_methods;
mod collider_queries;
mod facet_times;
mod first_touch;
mod moving_colliders;
pub mod pair;
pub mod part_contacts;
pub mod place;
pub mod ray;

pub use collider_methods::{ClosestPoint, ColliderAabb};
