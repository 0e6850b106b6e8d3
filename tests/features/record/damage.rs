//! Reading a damaged file returns an error with an offset and a reason.

use bevy::prelude::*;
use headbutt::{Recording, RecordingFault, Replay, ReplayTick, prelude::*};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::session::Session;
use crate::support::fnv;

/// Returns the offsets of all blocks, and the length of the file.
fn block_offsets(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![10];
    while let Some(last) = offsets.last().copied().filter(|last| *last < bytes.len()) {
        let length = bytes[last..last + 4].try_into().expect("4 bytes");
        offsets.push(last + 12 + u32::from_le_bytes(length) as usize);
    }
    offsets
}

#[test]
fn a_truncated_recording_is_an_error_unless_it_ends_after_a_tick() {
    let bytes = Session::chaos(7, 4, 12).bytes;
    let offsets = block_offsets(&bytes);
    assert_eq!((offsets.len(), offsets.last()), (14, Some(&bytes.len())));
    for length in 0..bytes.len() {
        let result = Recording::read(&bytes[..length]);
        let ticks = offsets.iter().position(|offset| *offset == length);
        match (ticks, result) {
            // These lengths end within a block, or before the header.
            (Some(0) | None, Err(error)) => {
                let is_empty = length == 0;
                assert_eq!(error.offset, length, "{error}");
                let is_truncated = matches!(error.reason, RecordingFault::Truncated { .. });
                assert!(is_truncated != is_empty, "{length}: {error}");
            }
            (Some(ticks), Ok(recording)) => assert_eq!(recording.len(), ticks - 1),
            (ticks, result) => panic!("{length}: {ticks:?}, {:?}", result.err()),
        }
    }
}

#[test]
fn a_recording_with_a_changed_byte_is_an_error() {
    let bytes = Session::chaos(8, 4, 12).bytes;
    let mut random = StdRng::seed_from_u64(8);
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= random.random_range(1..=255_u8);
        let error = Recording::read(changed).err();
        let error = error.unwrap_or_else(|| panic!("byte {index}"));
        let is_right = match index {
            0..8 => error.reason == RecordingFault::NotARecording && error.offset == 0,
            8..10 => matches!(error.reason, RecordingFault::Version(_)) && error.offset == 8,
            _ => matches!(
                error.reason,
                RecordingFault::Checksum | RecordingFault::Truncated { .. }
            ),
        };
        assert!(is_right, "byte {index}: {error}");
    }
}

/// The contents of the file are changed at random, and the checksums are made to match.
#[test]
fn invalid_contents_with_a_valid_checksum_are_an_error_or_can_be_replayed() {
    let bytes = Session::chaos(9, 4, 12).bytes;
    let offsets = block_offsets(&bytes);
    let mut random = StdRng::seed_from_u64(9);
    let (mut invalid, mut valid) = (0, 0);
    for _ in 0..2_000 {
        let mut changed = bytes.clone();
        let block = random.random_range(0..offsets.len() - 1);
        let (start, end) = (offsets[block], offsets[block + 1]);
        for _ in 0..random.random_range(1..4) {
            changed[random.random_range(start + 12..end)] = random.random();
        }
        let mut hashed = changed[start..start + 4].to_vec();
        hashed.extend(&changed[start + 12..end]);
        changed[start + 4..start + 12].copy_from_slice(&fnv(&hashed).to_le_bytes());
        match Recording::read(changed) {
            Ok(recording) => {
                valid += 1;
                let mut app = App::new();
                app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(ReplayTick)));
                let count = recording.len();
                let mut replay = Replay::new(recording);
                for tick in [count - 1, 0, count - 1] {
                    let played = replay.go_to(app.world_mut(), tick);
                    played.expect("a tick that exists");
                }
            }
            Err(error) => {
                invalid += 1;
                assert!(error.offset >= start, "{error}");
                assert!(
                    matches!(error.reason, RecordingFault::Invalid(_)),
                    "{error}"
                );
            }
        }
    }
    assert!(valid > 100 && invalid > 100, "{valid} {invalid}");
}
