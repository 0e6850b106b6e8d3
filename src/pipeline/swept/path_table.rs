//! The table of the paths of one dimension: a box around each path, and around each piece of a long
//! path.
//!
//! At the end of `Sync`, [`PathTable::find`] fills the table. The broad phase calls
//! [`PathTable::boxes`] and [`PathTable::may_meet`].
//!
//! The box around a long diagonal path is far larger than the path: its size grows with the square
//! or the cube of the length. So the path is cut into pieces, and the broad phase uses a box around
//! each piece.

use core::ops::Range;

use smallvec::SmallVec;

use crate::{
    buffer::Peak,
    collision::PreviousPoses,
    pipeline::{
        proxies::{ProxyArena, SlotPair},
        swept::{path::SweptPath, region::PathRegion},
    },
    shape::Aabb,
    space::Space,
};

#[cfg(test)]
thread_local! {
    /// The number of pairs on this thread that [`PathTable::may_meet`] has tested.
    pub static TESTED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// The number of boxes that are sampled for [`typical_size`].
const SAMPLED_PATH_BOXES: usize = 64;

/// Returns the size of a typical box: three quarters of the sampled boxes are at most this large.
fn typical_size(boxes: &[Aabb]) -> f64 {
    let sample = boxes.iter().step_by(boxes.len() / SAMPLED_PATH_BOXES + 1);
    let sample = sample.filter(|aabb| !aabb.is_empty());
    let sizes = sample.map(|aabb| aabb.size().into_iter().fold(0.0, f32::max));
    let mut sizes: SmallVec<[f32; SAMPLED_PATH_BOXES]> = sizes.collect();
    sizes.sort_unstable_by(f32::total_cmp);
    let typical = sizes.get(sizes.len() * 3 / 4);
    typical.copied().unwrap_or_default().into()
}

/// A piece of a path. All pieces of a path cover equal spans of time.
#[derive(Clone, Copy, Debug)]
struct PathPiece {
    slot: u32,
    /// The position of the piece, counted from the end of the path.
    index: u32,
    /// The number of pieces of the path.
    count: u32,
}

/// The paths of one dimension. If no collider is swept, all lists are empty.
#[derive(Default)]
pub struct PathTable<V: Space> {
    /// The box around the path of each slot, then the boxes around the pieces of cut paths.
    boxes: Vec<Aabb>,
    /// The pieces, in the order of their boxes. The pieces of a path are consecutive.
    pieces: Vec<PathPiece>,
    /// For each slot, `true` if its proxy is swept.
    are_swept: Vec<bool>,
    /// The index of each slot's path, or [`NO_PATH`].
    indices: Vec<u32>,
    /// The paths with their slots.
    paths: Vec<(u32, SweptPath<V::DVec>)>,
    /// The peak length of `boxes`, the longest of the lists.
    peak: Peak,
}

/// The value of [`PathTable::indices`] for a slot without a path.
const NO_PATH: u32 = u32::MAX;

impl<V: Space> PathTable<V> {
    /// Returns `true` if no collider is swept.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Returns the boxes for the broad phase. If no collider is swept, the boxes contain the
    /// proxies in their poses. Otherwise the list begins with the box around the path of each slot,
    /// and ends with the boxes around pieces.
    pub fn boxes<'a>(&'a self, arena: &'a ProxyArena<V>) -> &'a [Aabb] {
        if self.is_empty() {
            arena.boxes()
        } else {
            &self.boxes
        }
    }

    /// Returns the numbers of the boxes around pieces.
    pub fn pieces(&self) -> Range<u32> {
        let end = self.boxes.len() as u32;
        end - self.pieces.len() as u32..end
    }

    /// Returns the number of *spans*: equal parts of the tick, as many as a cut path has pieces on
    /// average. So a piece overlaps few spans. Only pieces of the same span can touch each other.
    pub fn span_count(&self) -> u32 {
        let paths = self.first_pieces().count().max(1);
        (self.pieces.len() / paths) as u32
    }

    /// Returns the spans that a piece overlaps, if the tick has `count` spans.
    pub fn spans_of(&self, number: u32, count: u32) -> Range<u32> {
        self.piece(number).map_or(0..0, |piece| {
            let end = ((piece.index + 1) * count).div_ceil(piece.count);
            piece.index * count / piece.count..end
        })
    }

    /// Returns the numbers of the boxes around the pieces that overlap a span, if the tick has
    /// `count` spans.
    pub fn pieces_in(&self, span: u32, count: u32) -> impl Iterator<Item = u32> {
        let first = self.pieces().start;
        self.first_pieces().flat_map(move |(position, piece)| {
            let end = ((span + 1) * piece.count).div_ceil(count);
            let indices = span * piece.count / count..end;
            indices.map(move |index| first + position + index)
        })
    }

    /// Returns the first piece of each cut path, with its position among all pieces.
    fn first_pieces(&self) -> impl Iterator<Item = (u32, &PathPiece)> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let position = next;
            let piece = self.pieces.get(position as usize)?;
            next += piece.count;
            Some((position, piece))
        })
    }

    /// Returns the piece in the box with this number, or `None` for the box of a slot.
    fn piece(&self, number: u32) -> Option<&PathPiece> {
        let index = number.checked_sub(self.pieces().start)?;
        self.pieces.get(index as usize)
    }

    /// Returns the slots of two boxes, which may belong to pieces.
    pub fn slots(&self, (a, b): SlotPair) -> SlotPair {
        let slot = |number| self.piece(number).map_or(number, |piece| piece.slot);
        (slot(a), slot(b))
    }

    /// Returns `true` if two boxes belong to pieces of two different paths, and the times of the
    /// pieces overlap.
    pub fn are_simultaneous(&self, (a, b): SlotPair) -> bool {
        let pieces = self.piece(a).zip(self.piece(b));
        pieces.is_some_and(|(a, b)| {
            a.slot != b.slot
                && a.index * b.count <= (b.index + 1) * a.count
                && b.index * a.count <= (a.index + 1) * b.count
        })
    }

    /// Returns `true` if one of two boxes belongs to a piece, and the previous piece of the same
    /// path also overlaps the other box. The pieces that overlap a box are consecutive, because
    /// each coordinate only rises or only falls along the path.
    pub fn is_repeated(&self, (a, b): SlotPair) -> bool {
        let box_of = |number: u32| self.boxes.get(number as usize);
        let is_repeated = |number, other| {
            self.piece(number).is_some_and(|piece| piece.index > 0)
                && box_of(number - 1)
                    .zip(box_of(other))
                    .is_some_and(|(previous, other)| previous.may_touch(other))
        };
        is_repeated(a, b) || is_repeated(b, a)
    }

    /// Returns `true` if the path of a slot is cut into pieces.
    pub fn is_cut(&self, slot: u32) -> bool {
        self.path(slot).is_some_and(|path| path.piece_count > 1)
    }

    /// Returns `true` if the proxy in a slot is swept.
    pub fn is_swept(&self, slot: u32) -> bool {
        self.are_swept.get(slot as usize) == Some(&true)
    }

    /// Returns the path of a slot, or `None` if its proxy did not move.
    pub fn path(&self, slot: u32) -> Option<&SweptPath<V::DVec>> {
        let index = self.indices.get(slot as usize)?;
        self.paths.get(*index as usize).map(|(_, path)| path)
    }

    /// Returns `true` if two proxies have to be tested. If either proxy is swept, the pair is
    /// tested unless the proxies stay apart on their paths. Otherwise [`ProxyArena::may_touch`]
    /// decides.
    pub fn may_meet(&self, arena: &ProxyArena<V>, (a, b): SlotPair) -> bool {
        #[cfg(test)]
        TESTED.set(TESTED.get() + 1);
        if !self.is_swept(a) && !self.is_swept(b) {
            return arena.may_touch((a, b));
        }
        let region = |slot| match self.path(slot) {
            Some(path) => path.region,
            None => arena.box_of(slot).map(PathRegion::at_rest),
        };
        match (region(a), region(b)) {
            (Some(a), Some(b)) => a.may_meet(&b),
            _ => true,
        }
    }

    /// Finds the paths of all changed proxies, which begin in the `previous` poses.
    pub fn find(&mut self, arena: &ProxyArena<V>, previous: &PreviousPoses<V::DVec>) {
        let is_first = self.is_empty();
        let count = arena.slots().len();
        self.boxes.resize(count, Aabb::EMPTY);
        self.are_swept.resize(count, false);
        self.indices.resize(count, NO_PATH);
        if is_first {
            arena.slots().for_each(|slot| self.update(arena, slot));
        }
        let typical_size = typical_size(arena.boxes());
        for slot in arena.changed() {
            self.update(arena, *slot);
            if let Some(proxy) = arena.get(*slot)
                && let Some(start) = previous.get(proxy.entity)
                && let Some(path) = SweptPath::new(proxy, arena.box_of(*slot), start, typical_size)
            {
                self.add(*slot, path);
            }
        }
    }

    /// Copies the box of a slot, and the flag that is `true` if its proxy is swept.
    fn update(&mut self, arena: &ProxyArena<V>, slot: u32) {
        let index = slot as usize;
        if let Some(aabb) = self.boxes.get_mut(index)
            && let Some(is_swept) = self.are_swept.get_mut(index)
        {
            *aabb = arena.boxes().get(index).copied().unwrap_or(Aabb::EMPTY);
            *is_swept = arena.get(slot).is_some_and(|proxy| proxy.traits.is_swept);
        }
    }

    fn add(&mut self, slot: u32, path: SweptPath<V::DVec>) {
        if let Some(index) = self.indices.get_mut(slot as usize)
            && let Some(aabb) = self.boxes.get_mut(slot as usize)
        {
            *index = self.paths.len() as u32;
            if let Some(region) = path.region {
                *aabb = region.path_box();
                let count = path.piece_count;
                if count > 1 {
                    self.boxes.extend(region.piece_boxes(count));
                    let piece = |index| PathPiece { slot, index, count };
                    self.pieces.extend((0..count).map(piece));
                }
            }
            self.paths.push((slot, path));
        }
    }

    /// Drops the paths, and frees unused memory. Without its path, a slot's box is smaller, even if
    /// the proxy does not move again. So the proxies that had paths are marked as changed.
    pub fn end_tick(&mut self, arena: &mut ProxyArena<V>) {
        let is_excessive = self.peak.end_tick(self.boxes.len());
        let slots = self.pieces().start as usize;
        self.boxes.truncate(slots);
        self.pieces.clear();
        for (slot, _) in self.paths.drain(..) {
            if let Some(index) = self.indices.get_mut(slot as usize) {
                *index = NO_PATH;
            }
            arena.mark_changed(slot);
        }
        if is_excessive {
            *self = Self::default();
        }
    }

    /// Empties the lists that are indexed by slot. [`end_tick`](Self::end_tick) has emptied the
    /// other lists.
    pub fn clear(&mut self) {
        self.boxes.clear();
        self.are_swept.clear();
        self.indices.clear();
    }
}
