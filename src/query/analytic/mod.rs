//! Contacts and casts in closed form, for pairs of simple cores.
//!
//! [`Solver::new`](super::Solver::new) calls [`solve`] first, for each pair.
//!
//! | file | contents |
//! |---|---|
//! | `boxes.rs` | boxes, segments and points |
//! | `polygons.rs` | 2D polygons of few edges |
//! | `half_space.rs` | a half-space and any other shape |
//! | `closed_form.rs` | [`ClosedForm`], the result of `boxes.rs` and `polygons.rs` |
//! | `swept_boxes.rs`, `swept_polygons.rs` | boxes, segments and polygons in linear motion |
//! | `swept_overlap.rs` | [`SweptOverlap`], the interval in which moving projections overlap |

pub mod boxes;
mod closed_form;
pub mod half_space;
mod polygons;
pub mod swept_boxes;
mod swept_overlap;
pub mod swept_polygons;

use crate::{query::minkowski::MinkowskiDifference, space::DVector};
pub use closed_form::ClosedForm;
pub use swept_overlap::SweptOverlap;

/// Solves a pair of boxes, segments or points. In 2D, the function also solves two polygons, or a
/// polygon and a point. Returns `None` for other pairs, and for pairs that the closed forms leave
/// to GJK and EPA.
#[inline(always)]
pub fn solve<D: DVector>(pair: &impl MinkowskiDifference<Vector = D>) -> Option<ClosedForm<D>> {
    match pair.boxes() {
        Some(half_extents) => boxes::solve(pair, half_extents),
        None if D::DIMENSION == 2 => polygons::solve(pair),
        None => None,
    }
}
