//! The resource that records a session. [`begin_tick`] runs directly before `sync`, and
//! [`end_tick`] directly after `report`.

use std::{fs::File, io::Write, path::Path};

use bevy::{
    ecs::{change_detection::Tick as ChangeTick, entity::EntityHashMap, message::MessageCursor},
    prelude::*,
};

use crate::{
    collision::{CollisionEvent, Collisions, PreviousPoses},
    math::{DVec2, DVec3},
    meeting::Rejections,
    pipeline::{
        broad_phase::candidates::Candidates,
        progress::{Completed, Progress},
        proxies::{Proxies, ProxyArena},
    },
    record::{
        format::{
            Header, MAGIC, Pairs, PathStart, Rejected, RejectedContact, Tick, VERSION, write_block,
        },
        hash::ContactSet,
        nodes::{Colliders, WrittenNodes},
    },
    settings::BroadPhase,
    shape::{Affine, serialize::SerializeSpace},
    space::{DVector, Space},
};

/// Records a session while this resource is in the world: the colliders, their poses, and a hash of
/// the contacts of each tick. Requires the feature `record`.
///
/// ```no_run
/// use bevy::prelude::*;
/// use headbutt::{HeadbuttRecorder, prelude::*};
///
/// App::new()
///     .add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
///     .insert_resource(HeadbuttRecorder::to_file("session.headbutt"));
/// ```
///
/// A system may insert and remove the recorder at any time. If the same recorder is removed and
/// inserted again, the recording lacks the ticks without the recorder.
/// [`Recording`](crate::Recording) reads the file, and [`Replay`](crate::Replay) plays it.
///
/// The recorder writes all colliders, ancestors and owners, including disabled entities. The
/// recorder also writes the pairs of [`CandidatePairs`](crate::CandidatePairs), the exceptions, and
/// the pairs that filters reject. Recording does not change the behavior of the plugin, and the
/// memory of the recorder does not grow with the length of the session. Each tick is written
/// immediately, so the file is complete up to the last tick even if the game crashes.
///
/// * A collider with a custom shape is not recorded, because its shape is code. One warning names
///   the entity.
/// * If the file cannot be written, one warning names the reason, and the recording ends.
#[derive(Resource)]
pub struct HeadbuttRecorder {
    writer: Option<Box<dyn Write + Send + Sync>>,
    session: Session,
}

/// The state of a recording in progress.
#[derive(Default)]
struct Session {
    nodes: WrittenNodes,
    /// The block of the tick in progress. If this tick is aborted, the changes of the next tick are
    /// added to the same block.
    tick: Tick,
    /// The poses in which the paths of the next tick begin, if the app does not change them.
    poses_2d: EntityHashMap<Affine<DVec2>>,
    poses_3d: EntityHashMap<Affine<DVec3>>,
    /// The pairs of the last tick, or `Unchanged` before the first tick.
    pairs: Pairs,
    /// The exceptions of the last tick.
    exceptions: Vec<(u32, u32)>,
    /// The pairs and contacts that the filters of the app rejected in the last tick.
    rejected: Rejected,
    /// The contacts of the last tick, and the change tick of their resource.
    contacts: ContactSet,
    revision: Option<ChangeTick>,
    /// `true` if the recording has the contacts of the previous tick.
    knows_contacts: bool,
    /// A cursor that has read the events of all earlier ticks.
    events: MessageCursor<CollisionEvent>,
    has_begun: bool,
    /// The number, in [`Progress::begun`], of the tick whose input this recorder has read. `None`
    /// if that tick is already written.
    unwritten: Option<u64>,
    bytes: Vec<u8>,
}

impl HeadbuttRecorder {
    /// Creates a recorder that writes a file, and replaces an existing file. If the file cannot be
    /// created, one warning names the reason, and nothing is recorded.
    pub fn to_file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let file = File::create(path).inspect_err(|error| {
            let path = path.display();
            log::warn!("the recording {path} cannot be written: {error}");
        });
        Self {
            writer: file.ok().map(|file| Box::new(file) as _),
            session: Session::default(),
        }
    }

    /// Creates a recorder that writes to any writer, for example to memory. The recorder calls
    /// `write_all` once per tick, so a file needs no buffer.
    pub fn new(writer: impl Write + Send + Sync + 'static) -> Self {
        Self {
            writer: Some(Box::new(writer)),
            session: Session::default(),
        }
    }

    /// Returns `true` unless writing has failed.
    pub fn is_recording(&self) -> bool {
        self.writer.is_some()
    }
}

impl Session {
    /// Reads the input of the tick.
    fn begin(&mut self, world: &World, colliders: &mut Colliders) {
        let collisions = world.resource::<Collisions>();
        // `Sync` increments `begun` only after this function, so 1 is added here.
        let begun = world.resource::<Progress>().begun.wrapping_add(1);
        let is_continued = self.unwritten.replace(begun).is_some();
        self.tick.is_restored = !Progress::has_own_contacts(world);
        self.knows_contacts = if self.has_begun {
            // A different change tick means that a rollback, or a tick without this recorder, has
            // written the contacts.
            Some(world.resource_ref::<Collisions>().last_changed()) == self.revision
        } else {
            collisions.is_empty()
        };
        self.nodes
            .update(world, colliders, &mut self.tick, is_continued);
        let nodes = &self.nodes;
        self.tick.starts_2d = path_starts(nodes, &collisions.poses_2d, &self.poses_2d);
        self.tick.starts_3d = path_starts(nodes, &collisions.poses_3d, &self.poses_3d);
        self.events = world
            .resource::<Messages<CollisionEvent>>()
            .get_cursor_current();
    }

    /// Writes the tick with its results.
    fn end(&mut self, world: &World, writer: &mut dyn Write) -> Result<(), String> {
        let Self { nodes, tick, .. } = self;
        let id_of = |entity| nodes.id_of(entity);
        let collisions = world.resource_ref::<Collisions>();
        // At rest, the report does not change the contacts, so their hash is kept.
        let revision = Some(collisions.last_changed());
        if revision != self.revision {
            self.contacts = ContactSet::of_contacts(&collisions, id_of);
            self.revision = revision;
        }
        (tick.contacts, tick.contact_hash) = (self.contacts.count, self.contacts.hash);
        let messages = world.resource::<Messages<CollisionEvent>>();
        let events = self.events.read(messages);
        let events = ContactSet::of_events(events, |entity| nodes.id_in_events(entity));
        tick.event_hash = self.knows_contacts.then_some(events.hash);
        let pairs = recorded_pairs(world, id_of);
        if pairs != self.pairs {
            self.pairs = pairs.clone();
            tick.pairs = pairs;
        }
        let rules = &world.resource::<Proxies>().rules;
        let exceptions = recorded_rules(nodes, rules.exceptions.iter());
        tick.exceptions = replace_if_changed(&mut self.exceptions, exceptions);
        let rejected = recorded_rejections(nodes, &rules.rejections);
        tick.rejected = replace_if_changed(&mut self.rejected, rejected);
        self.bytes.clear();
        if !self.has_begun {
            self.bytes.extend(MAGIC);
            self.bytes.extend(VERSION.to_le_bytes());
            write_block(&header(world), &mut self.bytes)?;
        }
        write_block(&self.tick, &mut self.bytes)?;
        let written = writer.write_all(&self.bytes);
        written.map_err(|error| error.to_string())?;
        self.has_begun = true;
        self.unwritten = None;
        self.tick = Tick::default();
        self.remember_poses(world, &collisions);
        Ok(())
    }

    /// Stores the poses in which the next paths begin, except poses that the replay cannot compute
    /// itself. These are the poses of omitted colliders, and the poses that `Teleported` has
    /// changed since the contacts were found. The next tick writes them.
    fn remember_poses(&mut self, world: &World, collisions: &Collisions) {
        let is_known = |entity| self.nodes.id_of(entity).is_some();
        let Proxies { d2, d3, .. } = world.resource();
        if need_poses(d2, is_known) || need_poses(d3, is_known) {
            self.poses_2d = known_poses(&collisions.poses_2d, is_known);
            self.poses_3d = known_poses(&collisions.poses_3d, is_known);
        } else {
            self.poses_2d.clear();
            self.poses_3d.clear();
        }
    }
}

/// Returns `true` if any recorded collider is swept or one-way.
fn need_poses<V: Space>(arena: &ProxyArena<V>, is_known: impl Fn(Entity) -> bool) -> bool {
    let mut proxies = arena.slots().filter_map(|slot| arena.get(slot));
    proxies.any(|proxy| {
        let traits = &proxy.traits;
        let needs_poses = traits.is_swept || traits.is_one_way || proxy.has_ledges();
        needs_poses && is_known(proxy.entity)
    })
}

/// Returns the poses of the recorded colliders, except poses that `Teleported` stored.
fn known_poses<D: DVector>(
    poses: &PreviousPoses<D>,
    is_known: impl Fn(Entity) -> bool,
) -> EntityHashMap<Affine<D>> {
    let PreviousPoses { poses, begun, .. } = poses;
    let poses = poses.iter().map(|(entity, pose)| (*entity, *pose));
    poses
        .filter(|(entity, _)| !begun.contains(entity) && is_known(*entity))
        .collect()
}

/// Returns the starts of teleported colliders, and the starts that differ from `known`, the starts
/// that the replay computes itself. If the recording has no swept or one-way collider, the replay
/// needs no starts.
fn path_starts<V: SerializeSpace>(
    nodes: &WrittenNodes,
    previous: &PreviousPoses<V::DVec>,
    known: &EntityHashMap<Affine<V::DVec>>,
) -> Vec<PathStart<V>> {
    if !nodes.needs_poses {
        return Vec::new();
    }
    let poses = &previous.poses;
    let removed = known.keys().filter(|entity| !poses.contains_key(*entity));
    let changed = poses
        .keys()
        .filter(|it| previous.is_teleported(**it) || known.get(*it) != poses.get(*it));
    let starts = changed.chain(removed).filter_map(|entity| {
        Some(PathStart {
            id: nodes.id_of(*entity)?,
            pose: poses.get(entity).copied(),
            is_teleported: previous.is_teleported(*entity),
        })
    });
    let mut starts: Vec<_> = starts.collect();
    starts.sort_unstable_by_key(|start| start.id);
    starts
}

fn recorded_pairs(world: &World, id_of: impl Fn(Entity) -> Option<u32>) -> Pairs {
    match world.resource::<Proxies>().source {
        BroadPhase::Automatic => Pairs::Automatic,
        BroadPhase::Custom => {
            let pairs = world.resource::<Candidates>().custom.iter();
            Pairs::Custom(
                pairs
                    .filter_map(|(a, b)| Some((id_of(a)?, id_of(b)?)))
                    .collect(),
            )
        }
    }
}

/// Converts pairs of entities to sorted pairs of ids. Omits pairs of entities without ids.
fn recorded_rules(
    nodes: &WrittenNodes,
    pairs: impl Iterator<Item = (Entity, Entity)>,
) -> Vec<(u32, u32)> {
    let id_of = |entity| nodes.id_with_omitted(entity);
    let ids = pairs.filter_map(|(a, b)| Some((id_of(a)?, id_of(b)?)));
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids
}

fn recorded_rejections(nodes: &WrittenNodes, rejections: &Rejections) -> Rejected {
    let id_of = |entity| nodes.id_with_omitted(entity);
    let contacts = rejections.contacts.iter().filter_map(|contact| {
        let (a, b) = contact.pair;
        Some(RejectedContact {
            ids: (id_of(a)?, id_of(b)?),
            is_on_path: contact.is_on_path,
            parts: contact.parts,
        })
    });
    Rejected {
        pairs: recorded_rules(nodes, rejections.pairs.iter().copied()),
        contacts: contacts.collect(),
    }
}

/// Replaces a value, and returns the new value if it differs from the old value.
fn replace_if_changed<T: Clone + PartialEq>(value: &mut T, new: T) -> Option<T> {
    (*value != new).then(|| {
        value.clone_from(&new);
        new
    })
}

fn header(world: &World) -> Header {
    let time = world.get_resource::<Time<Fixed>>();
    Header {
        crate_version: env!("CARGO_PKG_VERSION").to_owned(),
        seconds_per_tick: time.map_or(0.0, |time| time.timestep().as_secs_f64()),
    }
}

/// Records the input of a tick, directly before the first stage and in the same system.
pub fn begin_tick(world: &mut World, mut colliders: Local<Colliders>) {
    world.try_resource_scope(|world, mut recorder: Mut<HeadbuttRecorder>| {
        if recorder.is_recording() {
            recorder.session.begin(world, &mut colliders);
        }
    });
}

/// Records the results of a tick, directly after the last stage and in the same system.
pub fn end_tick(world: &mut World) {
    let &Progress {
        completed, begun, ..
    } = world.resource::<Progress>();
    world.try_resource_scope(|world, mut recorder: Mut<HeadbuttRecorder>| {
        let HeadbuttRecorder { writer, session } = &mut *recorder;
        // A recorder that an observer inserted within the tick has not read the input of this tick,
        // so it does not write this tick.
        if completed == Completed::Report
            && session.unwritten == Some(begun)
            && let Some(open) = writer
            && let Err(error) = session.end(world, open)
        {
            log::warn!("the recording ends, because it cannot be written: {error}");
            (*writer, *session) = (None, Session::default());
        }
    });
}
