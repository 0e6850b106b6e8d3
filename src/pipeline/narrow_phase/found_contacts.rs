//! The contacts that the narrow phase hands to the report stage.

use bevy::prelude::*;

use crate::{buffer::Buffer, collision::CollisionEvent};

/// The contacts of the pairs that were tested in this tick.
///
/// Each contact has the smaller entity first. The narrow phase sets all phases to `Ongoing`, and
/// the report stage corrects them.
#[derive(Resource, Default)]
pub struct FoundContacts {
    /// The deepest contact of each touching 2D pair, in one list per task. The concatenated lists
    /// are sorted by pair.
    pub d2: Vec<Buffer<CollisionEvent>>,
    /// The deepest contact of each touching 3D pair, in lists like those of `d2`.
    pub d3: Vec<Buffer<CollisionEvent>>,
    /// All contacts of the pairs with more than one touching part, sorted by pair, then by part.
    pub parts: Buffer<CollisionEvent>,
    /// The first touches on the paths of swept colliders, sorted by pair.
    pub swept: Buffer<SweptContact>,
}

/// The first touch of two colliders, of which at least one is swept.
#[derive(Clone, Copy, Debug)]
pub struct SweptContact {
    /// The time of the event. In f64, fewer times are equal than in f32.
    pub time: f64,
    /// `true` if the two colliders do not touch where their paths begin.
    pub is_apart_at_start: bool,
    pub event: CollisionEvent,
}

impl FoundContacts {
    /// Returns the deepest contact of each touching pair, sorted by pair.
    pub fn pairs(&self) -> impl Iterator<Item = &CollisionEvent> {
        let mut d2 = self.d2.iter().flat_map(|task| task.iter()).peekable();
        let mut d3 = self.d3.iter().flat_map(|task| task.iter()).peekable();
        core::iter::from_fn(move || match (d2.peek(), d3.peek()) {
            (Some(a), Some(b)) if b.pair() < a.pair() => d3.next(),
            (None, _) => d3.next(),
            _ => d2.next(),
        })
    }
}
