//! The duration of each stage of headbutt's tick, and the amount of work in it.
//!
//!     cargo run --release --bin stages -- [scene] [dimension] [count] [threads] [ticks]

use std::error::Error;

use bevy::{
    app::ScheduleRunnerPlugin,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
};
use headbutt::{CollisionDiagnostics, prelude::*};
use headbutt_bench::{
    motion::{Ticks, advance},
    scene::Scene,
    stats::Summary,
    table::{head, row, short},
};

const HELP: &str = "\
Microseconds a stage of a tick of headbutt, and how much there is to do in it.

    cargo run --release --bin stages -- [scene] [dimension] [count] [threads] [ticks]

Scenes, dimensions and counts may be several, with commas between: moving,pile 2,3 1000,10000 1 100
The ending +swept makes bullets swept: bullets,bullets+swept
The ending +swept=N also makes each bullet fly N units a tick: bullets+swept=8,bullets+swept=64
The ending +all-swept makes all things swept: moving,moving+all-swept
The ending +marked=N adds a filter of pairs and one of contacts, and marks the first N things for
both: static+marked=0,static+marked=1000";

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|it| it == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let scenes = next("moving,hulls,pile,mixed,churn,idle,static");
    let dimensions = next("2,3");
    let counts = next("10000");
    let threads: usize = next("1").parse()?;
    let ticks: usize = next("100").parse()?;
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(threads).build());
    head(&[
        "scene",
        "dim",
        "N",
        "changed",
        "candidates",
        "casts",
        "contacts",
        "sync",
        "broad",
        "narrow",
        "report",
        "all, µs",
    ]);
    for dimension in dimensions.split(',') {
        for scene in scenes.split(',') {
            for count in counts.split(',') {
                let flat = dimension == "2";
                let (plain, ending) = scene.split_once('+').unwrap_or((scene, ""));
                let marked = ending.strip_prefix("marked=").map(str::parse);
                let length = ending.strip_prefix("swept=").map(str::parse);
                let mut case = Case {
                    name: scene,
                    scene: Scene::new(plain.parse()?, flat, count.parse()?),
                    are_bullets_swept: ending.starts_with("swept"),
                    are_all_swept: ending == "all-swept",
                    marked: marked.transpose()?,
                };
                if let Some(length) = length.transpose()? {
                    case.scene.set_bullet_steps(length);
                }
                measure(&case, threads, ticks);
            }
        }
    }
    Ok(())
}

/// The number of ticks before the first measured tick.
const WARM_UP: usize = 10;

struct Case<'a> {
    name: &'a str,
    scene: Scene,
    are_bullets_swept: bool,
    are_all_swept: bool,
    /// The number of objects with the marker of the filters, or `None` without filters.
    marked: Option<usize>,
}

/// The marker of the filters.
#[derive(Component)]
struct Marked;

impl Case<'_> {
    fn spawn(&self, world: &mut World, number: usize) -> Entity {
        let scene = &self.scene;
        let collider = scene.things[number].form.collider(scene.flat);
        let mut entity = scene.spawn(world, number);
        entity.insert(collider);
        if self.are_all_swept || self.are_bullets_swept && scene.is_bullet(number) {
            entity.insert(Swept);
        }
        if self.marked.is_some_and(|marked| number < marked) {
            entity.insert(Marked);
        }
        entity.id()
    }
}

fn measure(case: &Case, threads: usize, ticks: usize) {
    let scene = &case.scene;
    let mut app = App::new();
    app.add_plugins(MinimalPlugins.build().disable::<ScheduleRunnerPlugin>())
        .init_resource::<Ticks>()
        .add_systems(Update, advance)
        .add_plugins(HeadbuttPlugin::in_schedule(PostUpdate));
    if scene.kind.rests() {
        app.insert_resource(OngoingEvents::Never);
    }
    if case.marked.is_some() {
        app.add_pair_filter::<Marked, ()>(|_, _| true)
            .add_contact_filter::<Marked, ()>(|_, _| true);
    }
    if threads == 1 {
        for label in [PreUpdate.intern(), Update.intern(), PostUpdate.intern()] {
            app.edit_schedule(label, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
        }
    }
    app.finish();
    app.cleanup();
    let mut entities: Vec<Entity> = (0..scene.things.len())
        .map(|number| case.spawn(app.world_mut(), number))
        .collect();
    let mut stages: [Vec<f64>; 5] = Default::default();
    let mut last = CollisionDiagnostics::default();
    for tick in 0..WARM_UP + ticks {
        for number in scene.renewed(tick as u32) {
            app.world_mut().despawn(entities[number]);
        }
        for number in scene.renewed(tick as u32) {
            entities[number] = case.spawn(app.world_mut(), number);
        }
        app.update();
        if tick < WARM_UP {
            continue;
        }
        last = *app.world().resource();
        let times = [last.sync, last.broad_phase, last.narrow_phase, last.report];
        let times = times.map(|it| it.as_secs_f64() * 1e6);
        for (stage, time) in stages.iter_mut().zip(times) {
            stage.push(time);
        }
        stages[4].push(times.iter().sum());
    }
    let mut cells = vec![
        case.name.to_string(),
        if scene.flat { "2" } else { "3" }.to_string(),
        last.colliders.to_string(),
        last.changed.to_string(),
        last.candidates.to_string(),
        last.casts.to_string(),
        last.contacts.to_string(),
    ];
    cells.extend(stages.map(|it| short(Summary::of(it).median)));
    row(&cells);
}
