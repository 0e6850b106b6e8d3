//! Wall-clock time, or CPU time.

use std::{str::FromStr, time::Duration};

#[cfg(not(unix))]
use std::{sync::LazyLock, time::Instant};

/// The clock of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Wall-clock time.
    Wall,
    /// The CPU time of all threads of this process. If the system does not offer CPU time,
    /// wall-clock time is used.
    Cpu,
}

impl Clock {
    /// The time since an arbitrary moment.
    #[cfg(unix)]
    pub fn now(self) -> Duration {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(match self {
            Self::Wall => ClockId::Monotonic,
            Self::Cpu => ClockId::ProcessCPUTime,
        });
        // Neither clock can be before its start.
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
    }

    /// Returns the time since an arbitrary moment.
    #[cfg(not(unix))]
    pub fn now(self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}

impl FromStr for Clock {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "wall" => Ok(Self::Wall),
            "cpu" => Ok(Self::Cpu),
            other => Err(format!("no clock `{other}`")),
        }
    }
}
