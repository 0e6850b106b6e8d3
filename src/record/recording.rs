//! A recording that has been read.

use core::{fmt, ops::Range, time::Duration};

use bevy::prelude::*;

use crate::{
    collider::Collider,
    record::{
        error::{RecordingError, RecordingFault},
        format::{
            Blocks, ColliderId, Header, NodeState, Pairs, Rejected, SavedNode, Tick,
            WrittenCollider, decode,
        },
    },
};

/// A recording of a session, made by a [`HeadbuttRecorder`](crate::HeadbuttRecorder).
///
/// [`Replay`](crate::Replay) plays a recording.
pub struct Recording {
    bytes: Vec<u8>,
    header: Header,
    pub(super) colliders: Vec<Collider>,
    /// The entities of the session, by id.
    pub(super) entities: Vec<Entity>,
    blocks: Vec<TickBlock>,
    /// The ticks in which the candidate pairs changed.
    pair_changes: Vec<usize>,
    /// The ticks in which the exceptions changed.
    exception_changes: Vec<usize>,
    /// The ticks in which the rejected pairs or contacts changed.
    rejected_changes: Vec<usize>,
    omitted: usize,
    /// `true` if any collider or cell is one-way.
    pub(super) has_one_way: bool,
}

/// The position of a tick's bytes, and the data with which the tick can be undone.
struct TickBlock {
    contents: Range<usize>,
    /// The previous states of all entities whose states the tick changes.
    undo: Vec<(u32, NodeState)>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut recording = formatter.debug_struct("Recording");
        recording.field("header", &self.header);
        recording.field("ticks", &self.len());
        recording.finish_non_exhaustive()
    }
}

impl Recording {
    /// Reads and checks a recording.
    ///
    /// # Errors
    ///
    /// If the bytes are not a complete recording, the error has the offset and the reason. A
    /// recording may end after any tick, so the recording of a game that crashed can be read.
    pub fn read(bytes: impl Into<Vec<u8>>) -> Result<Self, RecordingError> {
        let bytes = bytes.into();
        let mut blocks = Blocks::new(&bytes)?;
        let (mut offset, contents) = (blocks.offset, blocks.next()?);
        let invalid = |offset, reason| RecordingError {
            offset,
            reason: RecordingFault::Invalid(reason),
        };
        let mut recording = Self {
            header: decode(contents).map_err(|reason| invalid(offset, reason))?,
            bytes: Vec::new(),
            colliders: Vec::new(),
            entities: Vec::new(),
            blocks: Vec::new(),
            pair_changes: Vec::new(),
            exception_changes: Vec::new(),
            rejected_changes: Vec::new(),
            omitted: 0,
            has_one_way: false,
        };
        let mut nodes = Nodes::default();
        while !blocks.is_empty() {
            offset = blocks.offset;
            let contents = blocks.next()?;
            let range = blocks.offset - contents.len()..blocks.offset;
            let added = recording.add(contents, range, &mut nodes);
            added.map_err(|reason| invalid(offset, reason))?;
        }
        recording.bytes = bytes;
        Ok(recording)
    }

    /// Checks a tick, and adds it to the recording.
    fn add(
        &mut self,
        contents: &[u8],
        range: Range<usize>,
        nodes: &mut Nodes,
    ) -> Result<(), String> {
        let tick: Tick = decode(contents)?;
        for collider in &tick.colliders {
            let collider = self.collider(collider)?;
            self.has_one_way |= collider.has_ledges();
            self.colliders.push(collider);
        }
        for bits in &tick.entities {
            let entity = Entity::try_from_bits(*bits);
            let entity = entity.ok_or_else(|| format!("{bits:#x} is no entity"))?;
            self.entities.push(entity);
        }
        for (id, state) in &tick.states {
            if let Some(ColliderId::Saved(index)) = state.collider
                && index as usize >= self.colliders.len()
            {
                return Err(format!("there is no collider {index}"));
            }
            self.has_one_way |= state.one_way.is_some();
            let old = nodes.get(*id).and_then(|node| node.state.collider);
            let is_new = old != state.collider;
            self.omitted += usize::from(is_new && state.collider == Some(ColliderId::Omitted));
        }
        if tick.pairs != Pairs::Unchanged {
            self.pair_changes.push(self.blocks.len());
        }
        if tick.exceptions.is_some() {
            self.exception_changes.push(self.blocks.len());
        }
        if tick.rejected.is_some() {
            self.rejected_changes.push(self.blocks.len());
        }
        self.blocks.push(TickBlock {
            contents: range,
            undo: nodes.apply(&tick)?,
        });
        Ok(())
    }

    /// Decodes a collider, which may be a change of a collider that is already decoded.
    fn collider(&self, written: &WrittenCollider) -> Result<Collider, String> {
        match written {
            WrittenCollider::Whole(bytes) => decode(bytes),
            WrittenCollider::Edited(base, changes) => {
                let base = self.colliders.get(*base as usize);
                let mut collider = base.cloned().ok_or("an edited collider is missing")?;
                let applied = changes.apply(&mut collider);
                applied.map_err(|error| error.to_string())?;
                Ok(collider)
            }
        }
    }

    /// Returns the number of ticks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns `true` if the recording has no tick.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the duration of a tick in the recorded session.
    pub fn timestep(&self) -> Duration {
        Duration::try_from_secs_f64(self.header.seconds_per_tick).unwrap_or_default()
    }

    /// Returns the version of `headbutt` that made the recording.
    pub fn crate_version(&self) -> &str {
        &self.header.crate_version
    }

    /// Returns the number of colliders that the recording omits, because their shapes are custom.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Returns the contents of a tick.
    pub(super) fn tick(&self, tick: usize) -> Option<Tick> {
        let block = self.blocks.get(tick)?;
        // Decoding cannot fail, because `read` has already decoded this block.
        decode(self.bytes.get(block.contents.clone())?).ok()
    }

    pub(super) fn undo(&self, tick: usize) -> Option<&[(u32, NodeState)]> {
        self.blocks.get(tick).map(|block| &*block.undo)
    }

    /// Returns the candidate pairs of a tick.
    pub(super) fn pairs(&self, tick: usize) -> Pairs {
        let tick = self.last_change(&self.pair_changes, tick);
        tick.map_or(Pairs::Automatic, |tick| tick.pairs)
    }

    /// Returns the exceptions of a tick.
    pub(super) fn exceptions(&self, tick: usize) -> Vec<(u32, u32)> {
        let tick = self.last_change(&self.exception_changes, tick);
        tick.and_then(|tick| tick.exceptions).unwrap_or_default()
    }

    /// Returns the pairs and contacts that filters rejected in a tick, or `None` if filters
    /// rejected nothing in any tick.
    pub(super) fn rejected(&self, tick: usize) -> Option<Rejected> {
        let tick = self.last_change(&self.rejected_changes, tick);
        let rejected = tick.and_then(|tick| tick.rejected).unwrap_or_default();
        (!self.rejected_changes.is_empty()).then_some(rejected)
    }

    /// Returns the contents of the last tick in `changes` that is not after `tick`.
    fn last_change(&self, changes: &[usize], tick: usize) -> Option<Tick> {
        let count = changes.partition_point(|change| *change <= tick);
        self.tick(*changes.get(count.checked_sub(1)?)?)
    }
}

/// All entities of the recording, by id.
#[derive(Default)]
pub struct Nodes(Vec<SavedNode>);

impl Nodes {
    pub fn get(&self, id: u32) -> Option<&SavedNode> {
        self.0.get(id as usize)
    }

    fn get_mut(&mut self, id: u32) -> Result<&mut SavedNode, String> {
        let node = self.0.get_mut(id as usize);
        node.ok_or_else(|| format!("there is no entity {id}"))
    }

    /// Applies the changes of a tick, and returns the replaced states.
    pub fn apply(&mut self, tick: &Tick) -> Result<Vec<(u32, NodeState)>, String> {
        let count = self.0.len() + tick.entities.len();
        self.0.resize(count, SavedNode::default());
        let mut undo = Vec::with_capacity(tick.states.len());
        for (id, state) in &tick.states {
            let old = core::mem::replace(&mut self.get_mut(*id)?.state, *state);
            undo.push((*id, old));
        }
        self.apply_moves(tick, false)?;
        Ok(undo)
    }

    /// Undoes the changes of a tick.
    pub fn undo(&mut self, tick: &Tick, undo: &[(u32, NodeState)]) -> Result<(), String> {
        self.apply_moves(tick, true)?;
        for (id, state) in undo.iter().rev() {
            self.get_mut(*id)?.state = *state;
        }
        self.0.truncate(self.0.len() - tick.entities.len());
        Ok(())
    }

    fn apply_moves(&mut self, tick: &Tick, is_back: bool) -> Result<(), String> {
        let mut differences = tick.differences.iter();
        for (id, mask) in &tick.moves {
            let applied = self
                .get_mut(*id)?
                .pose
                .apply(*mask, &mut differences, is_back);
            applied.ok_or_else(|| "a difference is missing".to_owned())?;
        }
        Ok(())
    }
}
