//! Ticks that are aborted by a panic in a user's support function, in an app that catches the panic
//! and continues. Afterward, the app gets the same results as without the panic.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{
    Record, assert_phases_alternate, start_reading_in, transform, warnings::Warnings,
};
use bevy::{ecs::schedule::ScheduleLabel, math::DVec3, prelude::*};
use headbutt::{Collisions, Support, prelude::*};

#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Simulation;

/// A ball whose support function panics after the given number of further evaluations.
struct Panics(Arc<AtomicUsize>);

impl Support for Panics {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let left = self.0.load(Ordering::Relaxed);
        assert!(left > 0, "as asked for");
        self.0.store(left - 1, Ordering::Relaxed);
        direction.normalize_or_zero()
    }
}

/// An app with a collider that can be made to panic.
struct Aborting {
    app: App,
    left: Arc<AtomicUsize>,
    faulty: Entity,
}

impl Aborting {
    fn new() -> Self {
        let mut app = App::new();
        app.init_schedule(Simulation)
            .add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Simulation)));
        start_reading_in(&mut app, Simulation);
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let collider = Collider::custom(Panics(left.clone()));
        let faulty = (collider, Transform::from_xyz(100.0, 0.0, 0.0));
        let faulty = app.world_mut().spawn(faulty).id();
        Self { app, left, faulty }
    }

    fn ball(&mut self, x: f32) -> Entity {
        let ball = Collider::from(Sphere::new(1.0));
        let pose = Transform::from_xyz(x, 0.0, 0.0);
        self.app.world_mut().spawn((ball, pose)).id()
    }

    fn pose(&mut self, entity: Entity) -> Mut<'_, Transform> {
        transform(self.app.world_mut(), entity)
    }

    fn run(&mut self) -> Vec<CollisionEvent> {
        self.app.world_mut().run_schedule(Simulation);
        let mut record = self.app.world_mut().resource_mut::<Record>();
        core::mem::take(&mut record.messages)
    }

    /// Runs a tick that panics after `calls` support evaluations, if the tick needs more. Returns
    /// `true` if the tick panicked. When the schedule is run again, Bevy's executor first runs the
    /// remaining systems.
    fn abort(&mut self, calls: usize) -> bool {
        self.pose(self.faulty).translation.x += 0.125;
        self.left.store(calls, Ordering::Relaxed);
        let world = self.app.world_mut();
        let schedule = world.resource_mut::<Schedules>().remove(Simulation);
        let mut schedule = schedule.expect("added");
        let aborted = catch_unwind(AssertUnwindSafe(|| schedule.run(world))).is_err();
        self.left.store(usize::MAX, Ordering::Relaxed);
        if aborted {
            schedule.run(world);
        }
        world.resource_mut::<Schedules>().insert(schedule);
        aborted
    }

    fn state(&self) -> &Collisions {
        self.app.world().resource::<Collisions>()
    }
}

#[test]
fn no_contact_is_lost_at_whichever_evaluation_the_panic_comes() {
    let mut aborted = 0;
    for calls in 0..60 {
        let mut aborting = Aborting::new();
        let faulty = aborting.faulty;
        let [first, second, third, fourth] = [0.0, 10.0, 20.0, 21.5].map(|x| aborting.ball(x));
        let [fifth, sixth] = [40.0, 50.0].map(|x| aborting.ball(x));
        assert_eq!(aborting.run().len(), 1);
        for (entity, x) in [
            (second, 1.5),
            (sixth, 41.5),
            (faulty, -1.625),
            (third, 20.1),
        ] {
            aborting.pose(entity).translation.x = x;
        }
        aborted += usize::from(aborting.abort(calls));
        let mut messages = aborting.run();
        messages.extend(aborting.run());
        let pairs = [
            (first, second),
            (third, fourth),
            (fifth, sixth),
            (first, faulty),
        ];
        assert_eq!(aborting.state().len(), pairs.len());
        for (a, b) in pairs {
            assert!(aborting.state().contains(a, b), "after {calls} points");
        }
        assert!(!messages.iter().any(CollisionEvent::ended));
    }
    // The bounding box needs six points, so some panics came from the tests of pairs.
    assert!((7..60).contains(&aborted), "{aborted}");
}

#[test]
fn a_bullet_has_a_path_again_in_the_second_tick_after_a_panic() {
    let mut aborted = 0;
    for calls in (0..60).map(|number| number * number) {
        let mut aborting = Aborting::new();
        let (wall, faulty) = (aborting.ball(5.0), aborting.faulty);
        let bullet = (Collider::sphere(0.1), Swept, Transform::default());
        let bullet = aborting.app.world_mut().spawn(bullet).id();
        aborting.pose(faulty).translation.x = 8.0;
        assert_eq!(aborting.run(), []);
        aborting.pose(bullet).translation.x = 10.0;
        aborted += usize::from(aborting.abort(calls));
        aborting.run();
        aborting.pose(bullet).translation.x = 0.0;
        let mut messages = aborting.run();
        messages.retain(|hit| [hit.entity, hit.other].contains(&wall));
        assert_eq!(messages.len(), 2, "{messages:?} after {calls} points");
        assert!(messages[0].started() && messages[1].ended());
        for hit in messages {
            // The bullet touches after 10 - 6 - 0.1 of 10 units.
            assert!((hit.time() - 0.39).abs() < 1e-5, "{hit:?}");
        }
        assert_eq!(aborting.state().len(), 0);
    }
    // The bounding box needs six points, so most panics came from the tests of pairs and the cast.
    assert!((6..60).contains(&aborted), "{aborted}");
}

#[test]
fn contacts_end_if_all_colliders_are_despawned_after_the_panic() {
    let mut aborting = Aborting::new();
    let all = [aborting.ball(0.0), aborting.ball(1.0), aborting.faulty];
    assert!(aborting.run().iter().all(CollisionEvent::started));
    assert!(aborting.abort(0));
    for entity in all {
        aborting.app.world_mut().despawn(entity);
    }
    let reasons: Vec<_> = aborting.run().iter().map(|hit| hit.end_reason()).collect();
    assert_eq!(reasons, [Some(EndReason::Despawned)]);
    assert!(aborting.run().is_empty());
}

#[test]
fn pairs_supplied_before_the_panic_are_tested_after_it() {
    let mut aborting = Aborting::new();
    aborting.app.insert_resource(BroadPhase::Custom);
    let [a, b] = [0.0, 1.0].map(|x| aborting.ball(x));
    aborting.run();
    let mut pairs = aborting.app.world_mut().resource_mut::<CandidatePairs>();
    pairs.push(a, b);
    assert!(aborting.abort(0));
    aborting.run();
    assert!(aborting.state().contains(a, b));
}

#[test]
fn no_compound_part_is_listed_twice_after_a_panic() {
    for calls in 0..40 {
        let mut aborting = Aborting::new();
        let world = aborting.app.world_mut();
        let beside = Transform::from_xyz(101.2, 0.3, 0.0);
        world.spawn((Collider::from(Cuboid::from_length(1.0)), beside));
        let part = |x: f32| {
            let ball = Collider::from(Sphere::new(1.0));
            (Isometry3d::from_xyz(x, 0.0, 0.0), ball)
        };
        let balls = Collider::try_compound([part(-1.0), part(1.0)]).expect("two parts");
        let balls = world.spawn((balls, Transform::IDENTITY)).id();
        let bar = Collider::from(Cuboid::new(8.0, 1.0, 1.0));
        let bar = world.spawn((bar, Transform::from_xyz(0.0, 1.0, 0.0))).id();
        aborting.run();
        assert_eq!(aborting.state().parts(balls, bar).count(), 2);
        for entity in [balls, bar] {
            aborting.pose(entity).translation.z += 0.01;
        }
        aborting.abort(calls);
        aborting.run();
        assert_eq!(aborting.state().parts(balls, bar).count(), 2, "{calls}");
    }
}

/// Colliders get other slots after the panic, and the pairs must not keep the order of the old
/// slots.
#[test]
fn pairs_are_sorted_after_a_panic_with_spawns_and_despawns() {
    #[derive(Component)]
    struct Mark;

    for (before, after) in (0..6).flat_map(|before| (0..8).map(move |after| (before, after))) {
        let mut aborting = Aborting::new();
        let all: Vec<Entity> = (0..6)
            .map(|number| aborting.ball(10.0 * number as f32))
            .collect();
        let mut messages = aborting.run();
        for _ in 0..before {
            let passing = aborting.ball(0.5);
            messages.extend(aborting.run());
            aborting.app.world_mut().despawn(passing);
            messages.extend(aborting.run());
        }
        // Inserting the component moves the entity to another table.
        for entity in all.iter().step_by(2) {
            aborting.app.world_mut().entity_mut(*entity).insert(Mark);
        }
        assert!(aborting.abort(0));
        messages.extend(aborting.run());
        for number in 0..after {
            aborting.ball(1000.0 + 10.0 * number as f32);
        }
        messages.extend(aborting.run());
        for (number, entity) in all.iter().enumerate() {
            aborting.pose(*entity).translation.x = 0.5 * number as f32;
        }
        messages.extend(aborting.run());
        let pairs: Vec<_> = aborting
            .state()
            .iter()
            .map(|hit| (hit.entity, hit.other))
            .collect();
        assert!(
            pairs.is_sorted() && pairs.iter().all(|(a, b)| a < b),
            "{pairs:?}"
        );
        assert_eq!(pairs.len(), 14, "all but the first and the last touch");
        assert_phases_alternate(&messages);
    }
}

#[test]
fn a_warning_before_the_panic_is_not_repeated_after_it() {
    let warnings = Warnings::listen();
    let mut aborting = Aborting::new();
    let nowhere = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    let ball = Collider::from(Sphere::new(1.0));
    let lost = aborting
        .app
        .world_mut()
        .spawn((ball, nowhere, Name::new("lost")))
        .id();
    aborting.run();
    warnings.assert_one_naming(lost, "lost");
    assert!(aborting.abort(0));
    aborting.run();
    warnings.assert_none();
}

#[test]
fn a_pair_filter_that_panics_lets_no_rejected_pair_through() {
    #[derive(Component)]
    struct Ghost;

    let mut aborting = Aborting::new();
    let left = aborting.left.clone();
    aborting.app.add_pair_filter::<Ghost, ()>(move |_, ()| {
        assert!(left.load(Ordering::Relaxed) > 0, "as asked for");
        false
    });
    let [ghost, _wall] = [0.0, 1.0].map(|x| aborting.ball(x));
    aborting.app.world_mut().entity_mut(ghost).insert(Ghost);
    assert!(aborting.run().is_empty());
    assert!(aborting.abort(0));
    for _ in 0..3 {
        assert!(aborting.run().is_empty());
        assert!(aborting.state().is_empty());
    }
}
