//! The command line.

use std::error::Error;

use headbutt_bench::{clock::Clock, engines::avian::AvianMode, scene::Kind};
use lexopt::{Arg, Parser, ValueExt};

pub const HELP: &str = "\
Milliseconds a tick, net of moving the things, of headbutt, avian and bevy_rapier.

    cargo run --release --bin tick -- [options]

    --dim 2,3           dimensions                                          [both]
    --scenes a,b        moving mixed pile idle static hulls sizes teleport
                        churn                                               [all of these]
                        clusters parents rods chain
    --count 1000,10000  things in a scene                                   [10000]
    --threads 1         threads of every task pool, 1 or more               [1]
    --ticks 100         measured for each engine                            [100]
    --peers a,b         avian rapier rapier-default rapier-sensor none      [all peers]
                        headbutt-quiet, which tells of no contact that
                        goes on                          [where nothing moves]
    --clock cpu         wall or cpu: for one thread on a busy machine       [wall]
    --avian-mode a      kinematic sensor disabled                           [disabled]
    --no-check          without the exact pairs
";

#[derive(Clone, Debug)]
pub struct Options {
    pub dimensions: Vec<u8>,
    pub scenes: Vec<Kind>,
    pub counts: Vec<usize>,
    pub threads: usize,
    pub ticks: u32,
    /// The names of the other engines, or `None` for the default.
    peers: Option<Vec<String>>,
    pub clock: Clock,
    pub avian_mode: AvianMode,
    pub check: bool,
    pub help: bool,
}

impl Options {
    pub fn from_args() -> Result<Self, Box<dyn Error>> {
        let mut options = Self {
            dimensions: vec![2, 3],
            scenes: Kind::USUAL.to_vec(),
            counts: vec![10_000],
            threads: 1,
            ticks: 100,
            peers: None,
            clock: Clock::Wall,
            avian_mode: AvianMode::Disabled,
            check: true,
            help: false,
        };
        let mut parser = Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("dim") => options.dimensions = list(&mut parser)?,
                Arg::Long("scenes") => options.scenes = list(&mut parser)?,
                Arg::Long("count") => options.counts = list(&mut parser)?,
                Arg::Long("threads") => options.threads = parser.value()?.parse::<usize>()?.max(1),
                Arg::Long("ticks") => options.ticks = parser.value()?.parse::<u32>()?.max(1),
                Arg::Long("peers") => options.peers = Some(list(&mut parser)?),
                Arg::Long("clock") => options.clock = parser.value()?.parse()?,
                Arg::Long("avian-mode") => {
                    options.avian_mode = match parser.value()?.string()?.as_str() {
                        "kinematic" => AvianMode::Kinematic,
                        "sensor" => AvianMode::Sensor,
                        "disabled" => AvianMode::Disabled,
                        other => return Err(format!("no mode `{other}`").into()),
                    };
                }
                Arg::Long("no-check") => options.check = false,
                Arg::Long("help") | Arg::Short('h') => options.help = true,
                _ => return Err(arg.unexpected().into()),
            }
        }
        Ok(options)
    }

    /// Returns the names of the other engines for a scene.
    pub fn peers(&self, kind: Kind) -> Vec<&str> {
        if let Some(peers) = &self.peers {
            return peers.iter().map(String::as_str).collect();
        }
        let quiet = kind.rests().then_some("headbutt-quiet");
        let peers = ["avian", "rapier", "rapier-default", "rapier-sensor"];
        quiet.into_iter().chain(peers).collect()
    }
}

fn list<T>(parser: &mut Parser) -> Result<Vec<T>, Box<dyn Error>>
where
    T: std::str::FromStr<Err: Into<Box<dyn Error>>>,
{
    let value = parser.value()?.string()?;
    value
        .split(',')
        .map(|item| item.parse().map_err(Into::into))
        .collect()
}
