//! The format of a recording. Only this file describes the format.
//!
//! The file begins with the 8 bytes `HEADBUTT` and the version of the format in two bytes. Blocks
//! follow: a [header](Header), and one block for each [tick](Tick). A block has
//!
//! 1. the length of its contents, in 4 bytes,
//! 2. the FNV-1a hash of these 4 bytes and of the contents, in 8 bytes,
//! 3. the contents, in the format `postcard`.
//!
//! All numbers before the contents are little-endian. A block is written with a single call, so the
//! file ends with a complete tick even if the game crashes. Only changes are written: a tick at
//! rest takes about 35 bytes, however many colliders there are.
//!
//! Any change of [`Tick`], of the data of a collider or of the [hashes](super::hash) requires a new
//! [`VERSION`].

use bevy::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    math::{Vec2, Vec3},
    meeting::{CollisionLayers, OneWay},
    record::{
        cell_changes::CellChanges,
        error::{RecordingError, RecordingFault},
        hash::Hasher,
    },
    shape::{Affine, serialize::SerializeSpace},
};

/// The first bytes of a recording.
pub const MAGIC: [u8; 8] = *b"HEADBUTT";
/// The version of the format, in the two bytes after [`MAGIC`].
pub const VERSION: u16 = 8;

/// The first block of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the crate that wrote the recording.
    pub crate_version: String,
    pub seconds_per_tick: f64,
}

/// The block of one tick: the changes since the previous tick, and hashes of the results.
#[derive(Default, Serialize, Deserialize)]
pub struct Tick {
    /// Each collider that no earlier tick contains. Colliders are numbered in the order of their
    /// first appearance.
    pub colliders: Vec<WrittenCollider>,
    /// The bits of each `Entity` that no earlier tick contains. Entities are numbered in the order
    /// of their first appearance, and begin with the default state and pose.
    pub entities: Vec<u64>,
    /// Entities whose state changed, and their new states. An entity that was despawned, or is no
    /// longer a collider, an ancestor or an owner, gets the default state.
    pub states: Vec<(u32, NodeState)>,
    /// Entities whose pose changed, and a mask of the components that changed.
    pub moves: Vec<(u32, u16)>,
    /// The differences of all components that changed: see [`PoseBits`].
    pub differences: Vec<i32>,
    /// The starts of paths that differ from the poses of the previous tick, or belong to teleported
    /// colliders.
    pub starts_2d: Vec<PathStart<Vec2>>,
    pub starts_3d: Vec<PathStart<Vec3>>,
    pub pairs: Pairs,
    /// All exceptions: the entity with the component, and the ignored entity. `None` if the
    /// exceptions are the same as in the previous tick.
    pub exceptions: Option<Vec<(u32, u32)>>,
    /// All pairs and contacts that the filters of the app rejected. `None` if the filters rejected
    /// the same pairs and contacts in the previous tick.
    pub rejected: Option<Rejected>,
    /// `true` if the app has written the contacts since the previous tick, so that all pairs are
    /// tested.
    pub is_restored: bool,
    /// The number of contacts, including contacts of parts. `contact_hash` covers the same
    /// contacts, without phases.
    pub contacts: u32,
    pub contact_hash: u64,
    /// The hash of all `Started` and `Ended` events. `None` if the events depend on contacts that
    /// the recording lacks: contacts from before its first tick, or restored contacts.
    pub event_hash: Option<u64>,
}

/// A collider in a recording.
#[derive(Serialize, Deserialize)]
pub enum WrittenCollider {
    /// The bytes of a collider.
    Whole(Vec<u8>),
    /// The number of an earlier collider with cells, and the changes of its cells.
    Edited(u32, CellChanges),
}

/// The candidate pairs of a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pairs {
    /// The same pairs as in the previous tick. Before the first tick, the pairs are
    /// [`Automatic`](Self::Automatic).
    #[default]
    Unchanged,
    Automatic,
    Custom(Vec<(u32, u32)>),
}

/// The pairs and contacts that the filters of the app rejected in a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    pub pairs: Vec<(u32, u32)>,
    pub contacts: Vec<RejectedContact>,
}

/// A [`ContactKey`](crate::meeting::ContactKey), with the ids of the two entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedContact {
    pub ids: (u32, u32),
    pub is_on_path: bool,
    pub parts: (u32, u32),
}

/// The pose in which the path of a swept collider starts, or `None` if the collider has no path.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct PathStart<V: SerializeSpace> {
    pub id: u32,
    pub pose: Option<Affine<V::DVec>>,
    /// `true` if the collider was [`Teleported`](crate::Teleported).
    pub is_teleported: bool,
}

/// An entity with a collider, or an ancestor or an owner of such an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedNode {
    pub state: NodeState,
    pub pose: PoseBits,
}

/// The state of an entity, apart from its pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeState {
    pub parent: Option<u32>,
    pub has_pose: bool,
    pub collider: Option<ColliderId>,
    pub layers: Option<CollisionLayers>,
    pub owner: Option<u32>,
    pub is_sensor: bool,
    pub is_swept: bool,
    pub is_disabled: bool,
    pub one_way: Option<OneWayBits>,
    pub passes_through: bool,
    /// The number in [`JoinedCollider`](crate::JoinedCollider).
    pub ground: Option<u32>,
}

/// The bits of a [`OneWay`], compared as integers, so that a NaN equals itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneWayBits([u32; 4]);

impl From<&OneWay> for OneWayBits {
    fn from(one_way: &OneWay) -> Self {
        let [x, y, z] = one_way.direction.to_array();
        Self([x, y, z, one_way.margin].map(f32::to_bits))
    }
}

impl From<OneWayBits> for OneWay {
    fn from(OneWayBits(bits): OneWayBits) -> Self {
        let [x, y, z, margin] = bits.map(f32::from_bits);
        Self::new(Vec3::new(x, y, z)).with_margin(margin)
    }
}

/// A reference to a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColliderId {
    /// The default collider, or a collider with an invalid shape.
    Inert,
    /// A collider that cannot be saved, and is inert in a replay.
    Omitted,
    /// The number of a collider, counted over the [`Tick::colliders`] of all ticks.
    Saved(u32),
}

/// The bits of a `Transform`, compared as integers, so that a NaN equals itself. The fields for 2D
/// come first, so that the mask of a move in 2D has one byte.
///
/// A move is written as integer differences between the new and the old bits. If a coordinate
/// changes little, its bits also change little, and the difference takes few bytes. Subtracting the
/// difference restores the old bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseBits(pub [u32; 10]);

impl Default for PoseBits {
    fn default() -> Self {
        Self::from(&Transform::IDENTITY)
    }
}

impl From<&Transform> for PoseBits {
    fn from(transform: &Transform) -> Self {
        let [x, y, z] = transform.translation.to_array();
        let [i, j, k, w] = transform.rotation.to_array();
        let [scale_x, scale_y, scale_z] = transform.scale.to_array();
        Self([x, y, k, w, z, i, j, scale_x, scale_y, scale_z].map(f32::to_bits))
    }
}

impl From<PoseBits> for Transform {
    fn from(PoseBits(bits): PoseBits) -> Self {
        let [x, y, k, w, z, i, j, scale_x, scale_y, scale_z] = bits.map(f32::from_bits);
        Self {
            translation: Vec3::new(x, y, z),
            rotation: Quat::from_xyzw(i, j, k, w),
            scale: Vec3::new(scale_x, scale_y, scale_z),
        }
    }
}

impl PoseBits {
    /// Appends the differences between this pose and a new pose to a list, and returns their mask.
    pub fn differences_to(&self, new: &Self, differences: &mut Vec<i32>) -> u16 {
        let mut mask = 0;
        for (index, (old, new)) in self.0.iter().zip(new.0).enumerate() {
            if *old != new {
                mask |= 1 << index;
                differences.push(new.wrapping_sub(*old).cast_signed());
            }
        }
        mask
    }

    /// Adds the differences to this pose, or subtracts them if `is_back` is `true`. Returns `None`
    /// if there are too few differences.
    pub fn apply<'a>(
        &mut self,
        mask: u16,
        differences: &mut impl Iterator<Item = &'a i32>,
        is_back: bool,
    ) -> Option<()> {
        for (index, bits) in self.0.iter_mut().enumerate() {
            if mask & (1 << index) != 0 {
                let difference = differences.next()?.cast_unsigned();
                *bits = if is_back {
                    bits.wrapping_sub(difference)
                } else {
                    bits.wrapping_add(difference)
                };
            }
        }
        Some(())
    }
}

/// The number of bytes before the first block: [`MAGIC`] and [`VERSION`].
const PREFIX: usize = 10;

/// The number of bytes before the contents of a block: the length and a checksum.
const BLOCK_PREFIX: usize = 12;

fn checksum(length: [u8; 4], contents: &[u8]) -> [u8; 8] {
    let mut hasher = Hasher::new();
    hasher.bytes(&length);
    hasher.bytes(contents);
    hasher.finish().to_le_bytes()
}

/// Appends a block with a value to the bytes of a recording.
pub fn write_block(value: &impl Serialize, bytes: &mut Vec<u8>) -> Result<(), String> {
    let contents = postcard::to_allocvec(value).map_err(|error| error.to_string())?;
    let length = u32::try_from(contents.len()).map_err(|_| "a tick exceeds 4 GiB".to_owned())?;
    let length = length.to_le_bytes();
    bytes.extend(length);
    bytes.extend(checksum(length, &contents));
    bytes.extend(contents);
    Ok(())
}

/// A reader of the blocks of a recording.
pub struct Blocks<'a> {
    rest: &'a [u8],
    /// The offset of the next block.
    pub offset: usize,
}

impl<'a> Blocks<'a> {
    /// Returns a reader after checking the bytes before the first block.
    pub fn new(bytes: &'a [u8]) -> Result<Self, RecordingError> {
        let fault = |offset, reason| Err(RecordingError { offset, reason });
        if bytes.is_empty() || !(bytes.starts_with(&MAGIC) || MAGIC.starts_with(bytes)) {
            return fault(0, RecordingFault::NotARecording);
        }
        let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX>() else {
            let missing = PREFIX - bytes.len();
            return fault(bytes.len(), RecordingFault::Truncated { missing });
        };
        let [.., low, high] = *prefix;
        let version = u16::from_le_bytes([low, high]);
        if version != VERSION {
            return fault(MAGIC.len(), RecordingFault::Version(version));
        }
        let offset = PREFIX;
        Ok(Self { rest, offset })
    }

    /// Returns `true` if there is no further block.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the contents of the next block, without decoding them.
    pub fn next(&mut self) -> Result<&'a [u8], RecordingError> {
        let Self { rest, offset } = *self;
        let truncated = |expected: usize| RecordingError {
            offset: offset + rest.len(),
            reason: RecordingFault::Truncated {
                missing: expected - rest.len(),
            },
        };
        let prefix = rest.split_first_chunk();
        let (prefix, after) = prefix.ok_or_else(|| truncated(BLOCK_PREFIX))?;
        let [a, b, c, d, expected @ ..]: [u8; BLOCK_PREFIX] = *prefix;
        let length = [a, b, c, d];
        let count = u32::from_le_bytes(length) as usize;
        let contents = after.split_at_checked(count);
        let (contents, rest) = contents.ok_or_else(|| truncated(BLOCK_PREFIX + count))?;
        if checksum(length, contents) != expected {
            let reason = RecordingFault::Checksum;
            return Err(RecordingError { offset, reason });
        }
        self.rest = rest;
        self.offset += BLOCK_PREFIX + count;
        Ok(contents)
    }
}

/// Decodes the contents of a block.
pub fn decode<T: DeserializeOwned>(contents: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(contents) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("it has {} bytes too many", rest.len())),
        Err(error) => Err(error.to_string()),
    }
}
