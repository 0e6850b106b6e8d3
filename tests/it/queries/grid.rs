//! Compares every pair of shape classes in every regime that is known to be hard with the oracle.
//! The shapes are tested in queries, and as colliders in a tick. In the tick, each entity and its
//! parent apply a random affine map that stretches, mirrors, shears or flattens.
//!
//! `cargo test` runs a small number of cases. `HEADBUTT_GRID` sets another number per dimension,
//! and the output is a table of the results:
//!
//! ```text
//! HEADBUTT_GRID=1000000 cargo test --release --test it grid -- --nocapture
//! ```
//!
//! To run a single case, with the number that a failure names:
//!
//! ```text
//! HEADBUTT_GRID_CASE=1234 cargo test --test it no_query_is_wrong -- --nocapture
//! ```

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use crate::oracle::{
    Convex,
    adversity::{Adverse, Family, REGIMES, Regime, STEPS},
    cases::Dimension,
    check::{
        Apart, Errors, ROUNDING, Touch, judge_contact, judge_distance, judge_verdict, same,
        tolerance,
    },
};
use crate::support::cases::number;
use bevy::{
    ecs::schedule::ScheduleLabel,
    math::{DVec3, Quat, Vec2, Vec3},
    prelude::*,
};
use headbutt::{
    CollisionEvent, Collisions, HeadbuttPlugin,
    query::{self, Contact, Distance},
};

/// The default number of cases per dimension: each regime meets all of the 17² pairs of classes in
/// 3D once.
const USUAL: usize = 17 * 17 * REGIMES.len();

/// The greatest mean error as a fraction of the tolerance.
const MEAN: f64 = 0.1;

/// The greatest mean error of the direction of a unique normal: 1e-5 radians, relative to the
/// tolerance of 1e-3.
const ASKEW: f64 = 0.01;

/// The greatest fraction of cases in which the oracle's bounds are farther apart than the
/// tolerance: shapes that are round around a common center in 3D. For such shapes, only one bound
/// is proved, and the other bound is the least that a search in all directions has found.
const OPEN: f64 = 0.02;

/// The bound on support evaluations of one shape in GJK.
const STEPS_OF_GJK: usize = 64;

/// The additional evaluations that decide the order of two shapes in one pose.
const STEPS_OF_ORDER: usize = 25;

/// The greatest mean number of support evaluations of one shape in `intersects`.
const WORK_OF_INTERSECTS: f64 = 5.0;

/// The greatest mean number of support evaluations of one shape in `distance`: for two polytopes,
/// and for pairs with a smooth shape.
const WORK_OF_DISTANCE: [f64; 2] = [8.0, 12.0];

/// One in this number of slow movements is tested step by step, from start to end. (A power of 2
/// would omit most of the pairs of classes.)
const WALKS: usize = 7;

/// The effect of rounding a pose to f32 as a fraction of its distances: the last bit of three
/// coordinates and of a quaternion.
const POSE: f64 = 1e-6;

/// The result of one case.
struct Outcome {
    hit: bool,
    /// `true` if the oracle's bounds are farther apart than the tolerance.
    open: bool,
    errors: Errors,
    /// The numbers of support evaluations in `intersects`, `distance` and `contact`.
    work: [usize; 3],
    wrong: Vec<String>,
}

/// The results of the library for one case.
#[derive(Clone, Copy, Debug)]
struct Answers<V> {
    distance: Distance<V>,
    contact: Option<Contact<V>>,
}

impl<V: Dimension> Answers<V> {
    fn of(case: &Adverse<V>, [pose_a, pose_b]: [V::Isometry; 2]) -> Self {
        let (a, b) = (case.a.support(), case.b.support());
        Self {
            distance: query::distance(&a, pose_a, &b, pose_b),
            contact: query::contact(&a, pose_a, &b, pose_b),
        }
    }

    /// Returns the results for the swapped shapes.
    fn of_swapped(case: &Adverse<V>) -> Self {
        let (a, b) = (case.a.support(), case.b.support());
        Self {
            distance: query::distance(&b, case.pose_b, &a, case.pose_a),
            contact: query::contact(&b, case.pose_b, &a, case.pose_a),
        }
    }

    fn flipped(self) -> Self {
        Self {
            distance: Distance {
                point_a: self.distance.point_b,
                point_b: self.distance.point_a,
                ..self.distance
            },
            contact: self.contact.map(|contact| Contact {
                // Subtracting from 0 gives zeros without a sign.
                normal: V::of((DVec3::ZERO - contact.normal.deep()).as_vec3()),
                point_a: contact.point_b,
                point_b: contact.point_a,
                ..contact
            }),
        }
    }

    /// Returns the signed distance.
    fn gap(&self) -> f64 {
        match self.contact {
            Some(contact) => -f64::from(contact.depth),
            None => self.distance.distance.into(),
        }
    }
}

fn judge<V: Dimension>(case: &Adverse<V>) -> Outcome {
    let (a, b) = (case.a.support(), case.b.support());
    let (solid_a, solid_b) = (&case.solid_a, &case.solid_b);
    // Each evaluation of a pair evaluates both shapes.
    let calls = || a.take_evaluations().max(b.take_evaluations());
    let hit = query::intersects(&a, case.pose_a, &b, case.pose_b);
    let intersects = calls();
    let distance = query::distance(&a, case.pose_a, &b, case.pose_b);
    let measuring = calls();
    let contact = query::contact(&a, case.pose_a, &b, case.pose_b);
    let touching = calls();
    let resumed = query::touch(&a, case.pose_a, &b, case.pose_b).map(query::Touch::contact);
    let answers = Answers { distance, contact };

    let truth = Convex::bounds(solid_a, solid_b);
    let tolerance = tolerance(solid_a, solid_b);
    let mut outcome = Outcome {
        hit,
        open: truth.high - truth.low > tolerance,
        errors: vec![],
        work: [intersects, measuring, touching],
        wrong: vec![],
    };
    let verdict = judge_verdict(&truth, tolerance, hit);
    outcome.take(verdict.map(|()| vec![]));
    outcome.take(same("intersects", hit, contact.is_some()));
    outcome.take(same("no distance", distance.distance == 0.0, hit));
    outcome.take(same("test, then contact", resumed, contact));
    let apart = Apart::new(&distance, case.origin);
    outcome.take(judge_distance(solid_a, solid_b, &truth, &apart));
    if let Some(contact) = &contact {
        let touch = Touch::new(contact, case.origin);
        outcome.take(judge_contact(solid_a, solid_b, &truth, &touch));
    }
    let mirrored = Answers::of_swapped(case);
    // Nothing distinguishes the two calls for the same shapes in the same pose.
    if case.regime != Regime::Identical || same("", answers, mirrored).is_err() {
        outcome.take(same("mirror image", answers.flipped(), mirrored));
    }
    outcome.take(moved_together(case, &answers));
    outcome.take(turned_together(case, &answers, tolerance));
    outcome
}

/// Checks that if both translations change by a vector without rounding, only the points change, by
/// the same vector.
fn moved_together<V: Dimension>(case: &Adverse<V>, answers: &Answers<V>) -> Result<Errors, String> {
    let poses = [case.pose_a, case.pose_b];
    let way = Vec3::new(4.0, -2.0, 8.0);
    let moved = poses.map(|pose| V::shifted(pose, V::of(way)));
    let exact = poses.iter().zip(&moved).all(|(old, new)| {
        let ((_, old), (_, new)) = (V::map(*old), V::map(*new));
        new - old == V::of(way).deep()
    });
    if !exact {
        return Ok(vec![]);
    }
    let after = Answers::of(case, moved);
    let facts = |answers: &Answers<V>| {
        let contact = answers
            .contact
            .map(|contact| (contact.normal, contact.depth));
        (answers.distance.distance, contact)
    };
    same("moved together", facts(answers), facts(&after))
}

/// Checks that a rotation of both shapes about the origin changes the distance by at most the
/// rounding of the poses.
fn turned_together<V: Dimension>(
    case: &Adverse<V>,
    answers: &Answers<V>,
    tolerance: f64,
) -> Result<Errors, String> {
    let turn = Quat::from_xyzw(0.1, -0.7, 0.4, 0.3).normalize();
    let turn = V::isometry(turn, Vec3::ZERO);
    let turned = [case.pose_a, case.pose_b].map(|pose| V::after(turn, pose));
    let after = Answers::of(case, turned);
    let places = [case.pose_a, case.pose_b].map(|pose| V::map(pose).1.length());
    let sizes =
        case.solid_a.size() + case.solid_a.lever() + case.solid_b.size() + case.solid_b.lever();
    let moved = POSE * (places[0] + places[1] + sizes);
    let change = (after.gap() - answers.gap()).abs();
    if change <= tolerance + moved {
        Ok(vec![])
    } else {
        Err(format!(
            "turned together, the gap changes by {change:e}, allowed {:e}",
            tolerance + moved
        ))
    }
}

/// Checks that from each step of a slow movement to the next, the gap changes by at most the motion
/// of the shapes.
fn walk<V: Dimension>(number: usize) -> Result<Errors, String> {
    let mut last: Option<(f64, Adverse<V>)> = None;
    for step in 0..STEPS {
        let case = Adverse::<V>::step(number, step);
        let gap = Answers::of(&case, [case.pose_a, case.pose_b]).gap();
        if let Some((old_gap, old)) = &last {
            let ((turn, at), (old_turn, old_at)) = (V::map(case.pose_b), V::map(old.pose_b));
            let turned = (turn - old_turn).to_cols_array().map(|entry| entry * entry);
            let turned = turned.iter().sum::<f64>().sqrt();
            let way = at.distance(old_at) + turned * case.solid_b.lever();
            let allowed = way + tolerance(&case.solid_a, &case.solid_b);
            let change = (gap - old_gap).abs();
            // In this comparison, NaN fails.
            if !matches!(change.partial_cmp(&allowed), Some(order) if order.is_le()) {
                return Err(format!(
                    "at step {step} the gap changes by {change:e}, allowed {allowed:e}"
                ));
            }
        }
        last = Some((gap, case));
    }
    Ok(vec![])
}

/// A schedule with nothing but the tick.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// An app for two colliders at a time.
struct Stage(App);

impl Stage {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HeadbuttPlugin::in_schedule(Tick)));
        Self(app)
    }

    /// Returns the contact of two entities, each with a parent.
    fn contact<V: Dimension>(&mut self, case: &Adverse<V>) -> Option<Contact<V>> {
        let world = self.0.world_mut();
        let transforms = case.transforms.expect("it is under maps");
        let pair = transforms.iter().zip([&case.a, &case.b]);
        let pair: Vec<_> = pair
            .map(|([own, parent], figure)| {
                let parent = world.spawn(*parent).id();
                let own = (figure.collider(), *own, ChildOf(parent));
                (world.spawn(own).id(), parent)
            })
            .collect();
        world.run_schedule(Tick);
        let state = world.resource::<Collisions>();
        let hit = state.between(pair[0].0, pair[1].0);
        for (_, parent) in pair {
            world.despawn(parent);
        }
        world.run_schedule(Tick);
        world.resource_mut::<Messages<CollisionEvent>>().clear();
        hit.map(|hit| Contact {
            normal: V::of(hit.normal),
            depth: hit.depth,
            point_a: V::of(hit.point()),
            point_b: V::of(hit.other_point()),
        })
    }
}

/// Judges the tick's contact of two colliders under affine maps.
fn judge_mapped<V: Dimension>(case: &Adverse<V>, stage: &mut Stage) -> Outcome {
    let (solid_a, solid_b) = (&case.solid_a, &case.solid_b);
    let contact = stage.contact(case);
    let truth = Convex::bounds(solid_a, solid_b);
    let tolerance = tolerance(solid_a, solid_b);
    let mut outcome = Outcome {
        hit: contact.is_some(),
        open: truth.high - truth.low > tolerance,
        errors: vec![],
        work: [0; 3],
        wrong: vec![],
    };
    let verdict = judge_verdict(&truth, tolerance, outcome.hit);
    outcome.take(verdict.map(|()| vec![]));
    if let Some(contact) = &contact {
        let touch = Touch::new(contact, case.origin);
        // A point of an event is a translation plus an offset: both are rounded, and then their sum
        // is rounded.
        let lever = solid_a.lever().max(solid_b.lever());
        let grain = 2.0 * touch.grain + ROUNDING * (lever + case.origin.length());
        let touch = Touch { grain, ..touch };
        outcome.take(judge_contact(solid_a, solid_b, &truth, &touch));
    }
    outcome
}

impl Outcome {
    fn take(&mut self, judged: Result<Errors, String>) {
        match judged {
            Ok(errors) => self.errors.extend(errors),
            Err(text) => self.wrong.push(text),
        }
    }
}

/// The worst and the mean of some values.
#[derive(Clone, Copy, Default)]
struct Spread {
    count: usize,
    sum: f64,
    worst: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.worst = self.worst.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.worst = self.worst.max(other.worst);
    }

    fn mean(&self) -> f64 {
        self.sum / (self.count.max(1)) as f64
    }
}

/// One cell of the table.
#[derive(Default)]
struct Cell {
    cases: usize,
    hits: usize,
    open: usize,
    wrong: usize,
    /// The number of cases in which `intersects` or `distance` took the maximum number of GJK
    /// steps.
    bound: usize,
    /// The number of cases in which `intersects` or `distance` took more steps.
    beyond: usize,
    errors: BTreeMap<&'static str, Spread>,
    work: [Spread; 3],
    /// The numbers of support evaluations of queries that have no closed form.
    iterative: [Spread; 3],
}

impl Cell {
    fn merge(&mut self, other: &Self) {
        self.cases += other.cases;
        self.hits += other.hits;
        self.open += other.open;
        self.wrong += other.wrong;
        self.bound += other.bound;
        self.beyond += other.beyond;
        for (class, spread) in &other.errors {
            self.errors.entry(class).or_default().merge(spread);
        }
        for (work, others) in self.work.iter_mut().zip(&other.work) {
            work.merge(others);
        }
        for (work, others) in self.iterative.iter_mut().zip(&other.iterative) {
            work.merge(others);
        }
    }

    fn error(&self, class: &str) -> Spread {
        self.errors.get(class).copied().unwrap_or_default()
    }
}

#[derive(Default)]
struct Table {
    cells: BTreeMap<(Regime, [Family; 2]), Cell>,
    /// The failures, each with the number of its case.
    failures: Vec<(usize, Regime, String)>,
    /// The numbers of the cases in which GJK took the maximum number of steps.
    bound: Vec<usize>,
    /// The greatest number of support evaluations of a contact, and the number of its case.
    hardest: (usize, usize),
}

impl Table {
    fn note<V: Dimension>(&mut self, number: usize, case: &Adverse<V>, outcome: Outcome) {
        let mut families = [&case.a, &case.b].map(|figure| figure.class.family());
        families.sort();
        let cell = self.cells.entry((case.regime, families)).or_default();
        cell.cases += 1;
        cell.hits += usize::from(outcome.hit);
        cell.open += usize::from(outcome.open);
        cell.wrong += usize::from(!outcome.wrong.is_empty());
        // For shapes in the same pose, finding their order takes additional evaluations.
        let in_one_pose = [Regime::Identical, Regime::Concentric].contains(&case.regime);
        let order = if in_one_pose { STEPS_OF_ORDER } else { 0 };
        let [intersects, distance, _] = outcome.work;
        if intersects >= STEPS_OF_GJK || distance >= STEPS_OF_GJK + order {
            cell.bound += 1;
            self.bound.push(number);
        }
        let beyond = intersects > STEPS_OF_GJK || distance > STEPS_OF_GJK + order;
        cell.beyond += usize::from(beyond);
        self.hardest = self.hardest.max((outcome.work[2], number));
        for (class, error) in &outcome.errors {
            cell.errors.entry(class).or_default().add(*error);
        }
        for (spread, work) in cell.work.iter_mut().zip(outcome.work) {
            spread.add(work as f64);
        }
        for (spread, work) in cell.iterative.iter_mut().zip(outcome.work) {
            if work > 0 {
                spread.add(work as f64);
            }
        }
        if !outcome.wrong.is_empty() {
            let classes = [case.a.class, case.b.class];
            let text = format!("{classes:?}: {}", outcome.wrong.join("; "));
            self.failures.push((number, case.regime, text));
        }
    }

    fn merge(&mut self, other: Self) {
        for (key, cell) in other.cells {
            self.cells.entry(key).or_default().merge(&cell);
        }
        self.failures.extend(other.failures);
        self.bound.extend(other.bound);
        self.hardest = self.hardest.max(other.hardest);
    }

    fn all(&self) -> Cell {
        let mut all = Cell::default();
        self.cells.values().for_each(|cell| all.merge(cell));
        all
    }

    fn by_families(&self) -> BTreeMap<[Family; 2], Cell> {
        let mut all = BTreeMap::<_, Cell>::new();
        for ((_, families), cell) in &self.cells {
            all.entry(*families).or_default().merge(cell);
        }
        all
    }

    fn print(&self, name: &str) {
        println!(
            "\n{name}: errors as worst / mean fractions of what is allowed (of answers that are not wrong), work as mean / \
             worst support points; open: to the oracle; bound: as many steps of GJK as there may be"
        );
        println!(
            "{:36} {:>7} {:>7} {:>5} {:>5} {:>5}  {:>13} {:>13} {:>13} {:>13}  {:>11} {:>11} {:>11}",
            "regime, classes",
            "cases",
            "hits",
            "open",
            "wrong",
            "bound",
            "depth",
            "distance",
            "direction",
            "points",
            "intersects",
            "distance",
            "contact",
        );
        let line = |name: String, cell: &Cell| {
            let error = |class| {
                let Spread { worst, .. } = cell.error(class);
                format!("{worst:.4}/{:.5}", cell.error(class).mean())
            };
            let points = ["apart", "surface a", "surface b", "in a", "in b", "between"]
                .map(|class| cell.error(class))
                .into_iter()
                .fold(Spread::default(), |mut all, spread| {
                    all.merge(&spread);
                    all
                });
            let work = |number: usize| {
                let spread = cell.work[number];
                format!("{:.2}/{}", spread.mean(), spread.worst)
            };
            println!(
                "{name:36} {:>7} {:>7} {:>5} {:>5} {:>5}  {:>13} {:>13} {:>13} {:>13}  {:>11} {:>11} {:>11}",
                cell.cases,
                cell.hits,
                cell.open,
                cell.wrong,
                cell.bound,
                error("depth"),
                error("distance"),
                error("direction"),
                format!("{:.4}/{:.5}", points.worst, points.mean()),
                work(0),
                work(1),
                work(2),
            );
        };
        for ((regime, [first, second]), cell) in &self.cells {
            line(format!("{regime:?} {first:?}-{second:?}"), cell);
        }
        line("all".into(), &self.all());
        let (work, number) = self.hardest;
        println!("most support points: {work}, in case {number}");
        println!("as many steps of GJK as there may be: {:?}", self.bound);
    }
}

fn cases(usual: usize) -> usize {
    number("HEADBUTT_GRID").unwrap_or(usual)
}

/// Judges the case with the number `number`.
fn judge_mapped_number<V: Dimension>(number: usize, stage: &mut Stage, table: &mut Table) {
    let case = Adverse::<V>::mapped(number);
    match catch_unwind(AssertUnwindSafe(|| judge_mapped(&case, stage))) {
        Ok(outcome) => table.note(number, &case, outcome),
        Err(_) => {
            *stage = Stage::new();
            let text = format!("{case:?} panics");
            table.failures.push((number, case.regime, text));
        }
    }
}

/// Judges the case with the number `number`. A panic within a query is a failure of this case, and
/// is reported with the case.
fn judge_number<V: Dimension>(number: usize, table: &mut Table) {
    let case = Adverse::<V>::numbered(number);
    match catch_unwind(AssertUnwindSafe(|| judge(&case))) {
        Ok(mut outcome) => {
            if case.regime == Regime::Slow && (number / REGIMES.len()).is_multiple_of(WALKS) {
                outcome.take(walk::<V>(number));
            }
            table.note(number, &case, outcome);
        }
        Err(_) => {
            let text = format!("{case:?} panics");
            table.failures.push((number, case.regime, text));
        }
    }
}

/// Returns the number of the only case to run, if the environment names one.
fn asked_case() -> Option<usize> {
    number("HEADBUTT_GRID_CASE")
}

fn show<V: Dimension>(case: &Adverse<V>, outcome: &Outcome) {
    println!(
        "{case:?}\ntruth {:?}",
        Convex::bounds(&case.solid_a, &case.solid_b)
    );
    println!("work {:?}\n{:#?}", outcome.work, outcome.errors);
    assert!(outcome.wrong.is_empty(), "{:#?}", outcome.wrong);
}

/// Judges all numbers below `count` on all threads. Each thread has its own state.
fn in_parallel<T>(
    count: usize,
    state: impl Fn() -> T + Sync,
    judge: impl Fn(usize, &mut T, &mut Table) + Sync,
) -> Table {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut table = Table::default();
    let work = |first: usize| {
        let (mut table, mut state) = (Table::default(), state());
        (first..count)
            .step_by(threads)
            .for_each(|number| judge(number, &mut state, &mut table));
        table
    };
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || work(first)))
            .collect();
        for thread in running {
            table.merge(thread.join().expect("failures are caught"));
        }
    });
    table
}

fn judge_grid<V: Dimension>(name: &str) {
    if let Some(number) = asked_case() {
        let case = Adverse::<V>::numbered(number);
        return show(&case, &judge(&case));
    }
    let judge = |number, _: &mut (), table: &mut Table| judge_number::<V>(number, table);
    let table = in_parallel(cases(USUAL), || (), judge);
    assert_mean_work(&table);
    conclude(name, table);
}

/// Asserts the mean number of support evaluations in queries without a closed form.
fn assert_mean_work(table: &Table) {
    let mut all = Cell::default();
    let mut by_smoothness = [Cell::default(), Cell::default()];
    for (families, cell) in table.by_families() {
        all.merge(&cell);
        by_smoothness[usize::from(families.contains(&Family::Smooth))].merge(&cell);
    }
    let [intersects, ..] = all.iterative;
    let mean = intersects.mean();
    assert!(mean <= WORK_OF_INTERSECTS, "{mean} in `intersects`");
    for (cell, most) in by_smoothness.iter().zip(WORK_OF_DISTANCE) {
        let [_, distance, _] = cell.iterative;
        let mean = distance.mean();
        assert!(mean <= most, "{mean} in `distance`, allowed {most}");
    }
}

fn judge_mapped_grid<V: Dimension>(name: &str) {
    if let Some(number) = asked_case() {
        let case = Adverse::<V>::mapped(number);
        return show(&case, &judge_mapped(&case, &mut Stage::new()));
    }
    conclude(
        name,
        in_parallel(cases(USUAL), Stage::new, judge_mapped_number::<V>),
    );
}

/// Prints the results, and asserts their bounds.
fn conclude(name: &str, mut table: Table) {
    table.print(name);
    table.failures.sort();
    for (number, regime, text) in table.failures.iter().take(200) {
        println!("{number}: {regime:?} {text}");
    }
    assert!(
        table.failures.is_empty(),
        "{} cases fail, the first {:?}",
        table.failures.len(),
        table.failures[0],
    );
    let all = table.all();
    assert_eq!(all.beyond, 0, "some cases take more steps than there are");
    assert!(
        all.bound * 100_000 < all.cases.max(100_000),
        "{} of {} cases reach the bound on iterations",
        all.bound,
        all.cases
    );
    // Errors are judged by families, because there are more polytopes than smooth shapes, and the
    // errors of polytopes are far smaller.
    for (families, cell) in table.by_families() {
        for (class, most) in [("depth", MEAN), ("distance", MEAN), ("direction", ASKEW)] {
            let mean = cell.error(class).mean();
            println!("{families:?}: the mean error of the {class} is {mean:.6} of what is allowed");
            assert!(
                mean <= most,
                "{families:?}: the mean error of the {class} is {mean} of what is allowed"
            );
        }
    }
    let open = all.open as f64 / all.cases as f64;
    assert!(open <= OPEN, "{open} of the cases are open");
    let share = all.hits as f64 / all.cases as f64;
    assert!(
        (0.25..0.9).contains(&share),
        "{} hits of {}",
        all.hits,
        all.cases
    );
}

#[test]
fn no_query_is_wrong_in_any_hard_case_in_2d() {
    judge_grid::<Vec2>("plane");
}

#[test]
fn no_query_is_wrong_in_any_hard_case_in_3d() {
    judge_grid::<Vec3>("space");
}

#[test]
fn no_tick_is_wrong_under_any_affine_map_in_2d() {
    judge_mapped_grid::<Vec2>("plane, under maps");
}

#[test]
fn no_tick_is_wrong_under_any_affine_map_in_3d() {
    judge_mapped_grid::<Vec3>("space, under maps");
}

mod the_oracle {
    use bevy::math::{DMat3, DVec3, Vec2, Vec3};

    use crate::oracle::{
        Body, Convex,
        adversity::{Adverse, REGIMES},
        cases::Dimension,
        check::{Touch, check_contact},
        solid::{Form, Solid},
    };

    fn placed(form: Form, radius: f64, at: DVec3) -> Solid {
        Solid::new(&form, radius, (DMat3::IDENTITY, at), DVec3::ZERO, false)
    }

    /// Asserts that the truth is within the bounds, and that the bounds differ by at most `within`.
    fn enclose(a: &Solid, b: &Solid, truth: f64, within: f64) {
        let bounds = Convex::bounds(a, b);
        let slack = 1e-8 * (a.size() + b.size());
        assert!(
            bounds.low <= truth + slack && truth - slack <= bounds.high,
            "{truth}: {bounds:?}"
        );
        assert!(bounds.high - bounds.low <= within, "{bounds:?}");
    }

    #[test]
    fn the_oracle_finds_the_closed_form_gaps_of_smooth_shapes() {
        let cylinder = |radius, half_height, at| {
            let form = Form::Cylinder {
                half_height,
                radius,
            };
            placed(form, 0.0, at)
        };
        let ball = |radius, at| placed(Form::Points(vec![DVec3::ZERO]), radius, at);
        let egg = placed(Form::Ellipsoid(DVec3::new(1.0, 2.0, 3.0)), 0.0, DVec3::ZERO);
        let cone = placed(
            Form::Cone {
                half_height: 1.0,
                radius: 1.0,
            },
            0.0,
            DVec3::ZERO,
        );
        enclose(&egg, &ball(0.5, DVec3::X * 2.0), 0.5, 1e-6);
        enclose(&egg, &ball(0.5, DVec3::Z * 3.25), -0.25, 1e-6);
        enclose(&egg, &ball(0.5, DVec3::ZERO), -1.5, 1e-6);
        let drum = cylinder(1.0, 2.0, DVec3::ZERO);
        enclose(&drum, &cylinder(0.5, 1.0, DVec3::Y * 2.5), -0.5, 1e-6);
        enclose(
            &drum,
            &cylinder(0.5, 1.0, DVec3::new(1.25, 0.5, 0.0)),
            -0.25,
            1e-6,
        );
        enclose(
            &drum,
            &cylinder(0.5, 1.0, DVec3::new(4.5, 7.0, 0.0)),
            5.0,
            1e-6,
        );
        enclose(
            &drum,
            &cylinder(0.5, 1.0, DVec3::new(0.0, 3.5, 0.25)),
            0.5,
            1e-6,
        );
        enclose(&cone, &ball(0.5, DVec3::Y * 2.0), 0.5, 1e-6);
        // All sides of the cone are equally far from the origin: a tie that only a search in all
        // directions can find.
        enclose(&cone, &ball(0.5, DVec3::ZERO), -0.5 - 0.2_f64.sqrt(), 0.01);
        enclose(&drum, &drum, -2.0, 0.01);
    }

    fn agree<V: Dimension>() {
        let (mut compared, mut open) = (0, 0);
        for number in 0..100 * REGIMES.len() {
            let case = Adverse::<V>::numbered(number);
            let (a, b) = (case.solid_a, case.solid_b);
            let (Some(body_a), Some(body_b)) = (a.features(), b.features()) else {
                continue;
            };
            let truth = Body::bounds(body_a, body_b);
            let slack = 1e-8 * (a.size() + b.size()) + 1e-15 * (a.lever() + b.lever());
            let bounds = Solid::bounds(&a.by_support_alone(), &b.by_support_alone());
            assert!(
                bounds.low <= truth.low + slack && truth.high - slack <= bounds.high,
                "{number}: {truth:?}, {bounds:?}"
            );
            if let (Some(one), Some(other)) = (truth.normal, bounds.normal) {
                assert!(
                    one.distance(other) < 1e-5,
                    "{number}: {truth:?}, {bounds:?}"
                );
            }
            compared += 1;
            open += usize::from(bounds.high - bounds.low > 10.0 * slack);
        }
        assert!(open * 100 <= compared, "{open} of {compared} are open");
    }

    #[test]
    fn the_oracles_two_methods_agree() {
        agree::<Vec2>();
        agree::<Vec3>();
    }

    #[test]
    fn the_check_of_smooth_shapes_rejects_planted_faults() {
        let egg = placed(Form::Ellipsoid(DVec3::new(1.0, 2.0, 3.0)), 0.0, DVec3::ZERO);
        let ball = placed(Form::Points(vec![DVec3::ZERO]), 0.5, DVec3::X * 1.25);
        let truth = Touch {
            normal: DVec3::X,
            depth: 0.25,
            point_a: DVec3::X,
            point_b: DVec3::X * 0.75,
            grain: 0.0,
        };
        check_contact(&egg, &ball, &truth).expect("the truth");
        let faults = [
            Touch {
                normal: -DVec3::X,
                ..truth
            },
            Touch {
                normal: DVec3::new(1.0, 2e-3, 0.0).normalize(),
                ..truth
            },
            Touch {
                normal: DVec3::NAN,
                ..truth
            },
            Touch {
                depth: 0.2525,
                ..truth
            },
            Touch {
                depth: 0.2475,
                ..truth
            },
            Touch {
                point_a: DVec3::X * 1.01,
                ..truth
            },
            Touch {
                point_b: DVec3::X * 0.74,
                ..truth
            },
            Touch {
                point_a: DVec3::new(1.0, 0.1, 0.0),
                ..truth
            },
        ];
        for fault in faults {
            assert!(
                check_contact(&egg, &ball, &fault).is_err(),
                "{fault:?} is accepted"
            );
        }
    }
}
