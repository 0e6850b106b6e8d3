//! What time is: that of the wall, or that of the processor.

use std::{str::FromStr, time::Duration};

#[cfg(not(unix))]
use std::{sync::LazyLock, time::Instant};

/// Which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// What a player waits for.
    Wall,
    /// What all threads of this process have worked, together: on one thread, the same as the wall's on a machine that has
    /// nothing else to do. (Where there is no such clock, the wall's.)
    Cpu,
}

impl Clock {
    /// The time since some moment.
    #[cfg(unix)]
    pub fn now(self) -> Duration {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(match self {
            Self::Wall => ClockId::Monotonic,
            Self::Cpu => ClockId::ProcessCPUTime,
        });
        // Neither clock is before its moment.
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
    }

    /// The time since some moment.
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
