//! Errors from reading and replaying a recording.

/// An error in the data of a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {reason}")]
pub struct RecordingError {
    /// The offset of the first invalid byte, or of the block that contains an invalid value.
    pub offset: usize,
    /// The fault at this offset.
    pub reason: RecordingFault,
}

/// A fault of a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFault {
    /// The data does not begin like a recording.
    #[error("this is not a recording of headbutt")]
    NotARecording,
    /// Another version of headbutt wrote the recording in another format.
    #[error("the format has version {0}, which this version of headbutt does not read")]
    Version(u16),
    /// The data ends too early.
    #[error("the recording is truncated: {missing} bytes are missing")]
    Truncated {
        /// The number of bytes that are missing in the last block.
        missing: usize,
    },
    /// The checksum of a block is wrong.
    #[error("the checksum is wrong, so the data is damaged")]
    Checksum,
    /// The checksum of a block is right, but its contents are invalid.
    #[error("the block is invalid: {0}")]
    Invalid(String),
}

/// An error from replaying a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording does not have the requested tick.
    #[error("tick {tick} does not exist, because the recording has {count} ticks")]
    NoSuchTick {
        /// The requested tick.
        tick: usize,
        /// The number of ticks of the recording.
        count: usize,
    },
    /// The world has no `HeadbuttPlugin` in the schedule `ReplayTick`.
    #[error("the app has no `HeadbuttPlugin::in_schedule(ReplayTick)`")]
    NoPlugin,
}
