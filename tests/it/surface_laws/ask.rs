//! Queries the plugin: many pairs of a surface and a shape in one tick, each pair a separate
//! candidate.

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};
use headbutt::{CollisionDiagnostics, Collisions, OngoingEvents, prelude::*};

/// The schedule of the tick.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// A surface and a shape.
#[derive(Clone)]
pub struct Question {
    pub surface: Collider,
    /// The transforms of the surface's parent and of the surface.
    pub place: [Transform; 2],
    pub shape: Collider,
    pub pose: Transform,
}

/// A contact, as seen from the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The unit vector along which the shape is pushed out.
    pub push: Vec3,
    pub depth: f32,
    pub facet: u32,
    /// The part of the shape, if the shape is a surface, too.
    pub other_facet: u32,
    /// The contact points on the surface and on the shape, relative to their translations.
    pub offsets: [Vec3; 2],
}

/// The results of the tick for a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub event: Option<Touch>,
    pub parts: Vec<Touch>,
    /// The translation of the shape that `push_out` returns.
    pub push_out: Vec3,
}

impl Answer {
    /// Returns the depth of the event, or 0 if nothing touches.
    pub fn depth(&self) -> f64 {
        self.event.map_or(0.0, |it| f64::from(it.depth))
    }

    /// Returns the event and its parts in one line.
    pub fn line(&self) -> String {
        let line = |it: &Touch| {
            format!(
                "[facet {} push {:?} depth {:e}]",
                it.facet,
                it.push.to_array(),
                it.depth
            )
        };
        let parts: Vec<String> = self.parts.iter().map(line).collect();
        let event = self
            .event
            .as_ref()
            .map_or_else(|| "no contact".into(), line);
        format!("event {event}, parts {}", parts.join(" "))
    }
}

/// Runs one tick with all questions in it.
pub fn ask(questions: &[Question]) -> Vec<Answer> {
    let (answers, _) = ask_and_count(questions);
    answers
}

/// Runs one tick with all questions in it, and also returns the number of support evaluations.
pub fn ask_and_count(questions: &[Question]) -> (Vec<Answer>, usize) {
    let mut app = App::new();
    let plugin = HeadbuttPlugin::in_schedule(Tick)
        .with_broad_phase(BroadPhase::Custom)
        .with_ongoing(OngoingEvents::Never);
    app.add_plugins((MinimalPlugins, plugin));
    let world = app.world_mut();
    let mut pairs = Vec::with_capacity(questions.len());
    for question in questions {
        let [parent, own] = question.place;
        // The shape is spawned first or second, depending only on its pose.
        let is_early = question.pose.translation.x.to_bits().is_multiple_of(2);
        let early = is_early.then(|| world.spawn((question.shape.clone(), question.pose)).id());
        let mut surface = world.spawn((question.surface.clone(), own));
        let surface_id = surface.id();
        if parent != Transform::IDENTITY {
            let parent = surface.world_scope(|world| world.spawn(parent).id());
            surface.insert(ChildOf(parent));
        }
        let shape =
            early.unwrap_or_else(|| world.spawn((question.shape.clone(), question.pose)).id());
        pairs.push((surface_id, shape));
    }
    world
        .resource_mut::<CandidatePairs>()
        .extend(pairs.iter().copied());
    world.run_schedule(Tick);
    let state = world.resource::<Collisions>();
    let answer = |(surface, shape): &(Entity, Entity)| {
        let touch = |hit: CollisionEvent| Touch {
            push: hit.normal,
            depth: hit.depth,
            facet: hit.part(),
            other_facet: hit.other_part(),
            offsets: [hit.offset(), hit.other_offset()],
        };
        let mut parts: Vec<Touch> = state.parts(*surface, *shape).map(touch).collect();
        parts.sort_by_key(|it| (it.facet, it.other_facet));
        Answer {
            parts,
            event: state.between(*surface, *shape).map(touch),
            push_out: state.push_out(*shape, |_| true).translation(),
        }
    };
    let supports = world.resource::<CollisionDiagnostics>().supports;
    (pairs.iter().map(answer).collect(), supports)
}
