//! Compares the support points, bounds and polytopes of `query::steps` with the oracle, and the
//! results with the plain functions.

use bevy::{
    math::{DVec2, DVec3, Isometry2d, Vec2, Vec3},
    prelude::{Circle, Cuboid, InfinitePlane3d, Rectangle, Sphere},
};
use headbutt::{
    Space,
    query::{
        self, CastHit, CastOptions, CastStatus,
        steps::{self, EpaStep, GjkStep, Step, Vertex},
    },
};

use crate::oracle::{
    Body,
    cases::{Case, Dimension, Setting, for_each_case},
    gap,
};

/// The tolerance as a fraction of the pair's size.
const NEAR: f64 = 1e-9;

/// The rounding of a product of lengths in f64, as a fraction of the size squared.
const ROUNDING: f64 = 1e-15;

/// The distance by which a vertex that a `ConvexHull` omits may lie outside, as a fraction of the
/// size.
const OMITTED: f64 = 1e-7;

/// The precision of results in f32.
const PRECISION: f64 = 1e-6;

const SETTING: Setting = Setting {
    unit: 1.0,
    far: 0.0,
};

trait Deep: Copy + PartialEq + core::fmt::Debug + core::ops::Neg<Output = Self> {
    fn deep(self) -> DVec3;
}

impl Deep for DVec2 {
    fn deep(self) -> DVec3 {
        self.extend(0.0)
    }
}

impl Deep for DVec3 {
    fn deep(self) -> DVec3 {
        self
    }
}

trait Traceable: Dimension<DVec: Deep> {}

impl<V: Dimension<DVec: Deep>> Traceable for V {}

type Steps<V> = Vec<Step<<V as Space>::DVec>>;

/// The cores of a case, without their radii, and the values to which the steps are compared.
struct Truth {
    a: Body,
    b: Body,
    origin: DVec3,
    /// The signed distance between the cores.
    gap: f64,
    /// A length of the pair.
    size: f64,
    near: f64,
}

impl Truth {
    fn new<V: Dimension>(case: &Case<V>) -> Self {
        let (a, b) = (case.body_a.clone().core(), case.body_b.clone().core());
        let size = case.body_a.size() + case.body_b.size() + b.points[0].length();
        Self {
            origin: case.origin,
            gap: gap(&a, &b),
            // The steps are in the world, where small shapes far from the origin are rounded.
            near: NEAR * size + ROUNDING * case.origin.length(),
            size,
            a,
            b,
        }
    }

    /// Checks that each point is a corner of its core, and that no corner is farther.
    fn check_vertex<D: Deep>(&self, vertex: &Vertex<D>) {
        let direction = vertex.direction.deep().normalize();
        let [first, second] = [vertex.first, vertex.second].map(|point| point.deep() - self.origin);
        for (core, point, direction) in [(&self.a, first, direction), (&self.b, second, -direction)]
        {
            let distances = core.points.iter().map(|corner| corner.distance(point));
            assert!(distances.fold(f64::INFINITY, f64::min) <= self.near);
            let beyond = core.height(direction) - point.dot(direction);
            assert!(beyond <= OMITTED * self.size);
        }
        let difference = vertex.first.deep() - vertex.second.deep();
        assert!((vertex.point.deep() - difference).length() <= self.near);
    }

    /// Checks that the nearest point is the nearest point of the simplex, and that the bounds
    /// enclose the distance.
    fn check_gjk<D: Deep>(&self, step: &GjkStep<D>) {
        self.check_vertex(&step.vertex);
        let (target, nearest) = (step.target.deep(), step.nearest.deep());
        let toward = target - nearest;
        assert!((toward.length() - step.upper_bound).abs() <= self.near);
        for vertex in &step.simplex {
            self.check_vertex(vertex);
            // The plane through the nearest point contains the simplex.
            let height = (vertex.point.deep() - nearest).dot(toward);
            assert!(height.abs() <= self.near * toward.length() + ROUNDING * self.size * self.size);
        }
        let moved = self.b.moved(target);
        let distance = gap(&self.a, &moved).max(0.0);
        assert!(
            step.lower_bound <= distance + self.near,
            "{step:?} {distance}"
        );
        assert!(
            step.upper_bound >= distance - self.near,
            "{step:?} {distance}"
        );
    }

    /// Checks that the polytope is convex and contains the origin, and that the bounds enclose the
    /// depth.
    fn check_epa<D: Deep>(&self, step: &EpaStep<D>) {
        self.check_vertex(&step.vertex);
        for facet in &step.facets {
            let normal = facet.normal.deep();
            assert!((normal.length() - 1.0).abs() <= NEAR);
            assert!(facet.distance >= -self.near);
            let heights = || {
                step.vertices
                    .iter()
                    .map(|vertex| vertex.point.deep().dot(normal))
            };
            assert!(heights().all(|height| height <= facet.distance + self.near));
            let corner = step.vertices[usize::from(facet.vertices[0])];
            assert!((corner.point.deep().dot(normal) - facet.distance).abs() <= self.near);
        }
        let distances = step.facets.iter().map(|facet| facet.distance);
        let nearest = step.nearest.map(|facet| facet.distance);
        assert_eq!(nearest, distances.reduce(f64::min));
        let depth = (-self.gap).max(0.0);
        assert!(step.lower_bound <= depth + self.near, "{step:?} {depth}");
        assert!(step.upper_bound >= depth - self.near, "{step:?} {depth}");
    }
}

/// Panics if the lower bounds decrease, or the upper bounds increase.
fn assert_bounds_close_in(bounds: impl Iterator<Item = [f64; 2]>) {
    let bounds: Vec<_> = bounds.collect();
    for pair in bounds.windows(2) {
        assert!(
            pair[0][0] <= pair[1][0] && pair[1][1] <= pair[0][1],
            "{bounds:?}"
        );
    }
}

/// Returns the steps of GJK before the steps that move the second shape.
fn gjk_steps<D: Deep>(steps: &[Step<D>]) -> impl Iterator<Item = &GjkStep<D>> {
    steps.iter().map_while(|step| match step {
        Step::Gjk(step) => Some(step),
        Step::Epa(_) | Step::Cast { .. } => None,
    })
}

fn epa_steps<D: Deep>(steps: &[Step<D>]) -> impl Iterator<Item = &EpaStep<D>> {
    steps.iter().filter_map(|step| match step {
        Step::Epa(step) => Some(step),
        Step::Gjk(_) | Step::Cast { .. } => None,
    })
}

fn distances_are_enclosed<V: Traceable>() {
    for_each_case::<V>(441, 6, SETTING, |case| {
        let truth = Truth::new(&case);
        let (a, b) = (case.a.support(), case.b.support());
        let mut steps: Steps<V> = Vec::new();
        let traced = steps::distance(&a, case.pose_a, &b, case.pose_b, &mut steps);
        assert_eq!(gjk_steps(&steps).count(), steps.len());
        gjk_steps(&steps).for_each(|step| truth.check_gjk(step));
        assert_bounds_close_in(gjk_steps(&steps).map(|step| [step.lower_bound, step.upper_bound]));

        let plain = query::distance(&a, case.pose_a, &b, case.pose_b);
        let miss = f64::from((traced.distance - plain.distance).abs());
        assert!(
            miss <= PRECISION * truth.size,
            "{case:?}: {traced:?} {plain:?}"
        );
    });
}

#[test]
fn the_bounds_of_gjk_enclose_the_distance() {
    distances_are_enclosed::<Vec2>();
    distances_are_enclosed::<Vec3>();
}

fn depths_are_enclosed<V: Traceable>() {
    let mut polytopes = 0;
    for_each_case::<V>(442, 6, SETTING, |case| {
        let truth = Truth::new(&case);
        let (a, b) = (case.a.support(), case.b.support());
        let mut steps: Steps<V> = Vec::new();
        let traced = steps::contact(&a, case.pose_a, &b, case.pose_b, &mut steps);
        for step in &steps {
            match step {
                Step::Gjk(step) => truth.check_gjk(step),
                Step::Epa(step) => truth.check_epa(step),
                Step::Cast { .. } => panic!("not a cast"),
            }
        }
        assert_bounds_close_in(epa_steps(&steps).map(|step| [step.lower_bound, step.upper_bound]));
        polytopes += epa_steps(&steps)
            .filter(|step| !step.facets.is_empty())
            .count();

        let gap = gap(&case.body_a, &case.body_b);
        if gap.abs() > PRECISION * truth.size {
            assert_eq!(traced.is_some(), gap < 0.0, "{case:?}");
        }
        let Some(contact) = traced else { return };
        // The translation separates the bodies, and no other translation is shorter.
        let normal = contact.normal.deep();
        let height = case.body_a.height(normal) + case.body_b.height(-normal);
        assert!(
            (height.max(0.0) - (-gap).max(0.0)).abs() <= PRECISION * truth.size,
            "{case:?}"
        );
        assert!((f64::from(contact.depth) - (-gap).max(0.0)).abs() <= PRECISION * truth.size);
    });
    assert!(polytopes > 200, "{polytopes}");
}

#[test]
fn the_bounds_and_the_polytope_of_epa_enclose_the_depth() {
    depths_are_enclosed::<Vec2>();
    depths_are_enclosed::<Vec3>();
}

fn times_are_enclosed<V: Traceable>() {
    let mut closed = 0;
    for_each_case::<V>(443, 6, SETTING, |case| {
        let truth = Truth::new(&case);
        let (a, b) = (case.a.support(), case.b.support());
        let center = |body: &Body| body.points.iter().sum::<DVec3>() / body.points.len() as f64;
        let path = (1.5 * (center(&case.body_b) - center(&case.body_a))).as_vec3();
        let motion = V::of(path);
        let mut steps: Steps<V> = Vec::new();
        let still = V::default();
        let cast = steps::cast_shape(&a, case.pose_a, motion, &b, case.pose_b, still, &mut steps);
        let casts = || {
            steps.iter().filter_map(|step| match step {
                Step::Cast { interval, gjk } => Some((*interval, gjk)),
                Step::Gjk(_) | Step::Epa(_) => None,
            })
        };
        assert_bounds_close_in(casts().map(|(interval, _)| interval));
        let gap_at = |time: f64| gap(&case.body_a.moved(motion.deep() * time), &case.body_b);
        for ([free, touch], gjk) in casts() {
            truth.check_gjk(gjk);
            assert!((gjk.target.deep() + motion.deep() * free).length() <= truth.near);
            assert!(free == 0.0 || gap_at(free) >= -truth.near, "{case:?}");
            assert!(
                touch == f64::INFINITY || gap_at(touch) <= truth.near,
                "{case:?}"
            );
        }
        let hit = cast.filter(|hit| hit.status == CastStatus::Hit);
        let Some(CastHit { safe, touching, .. }) = hit else {
            return;
        };
        assert!(gap_at(safe) >= -truth.near && gap_at(touching).abs() <= PRECISION * truth.size);
        let Some(([free, touch], _)) = casts().last() else {
            return;
        };
        let speed = motion.deep().length();
        assert!((free - touching).max(touching - touch) * speed <= PRECISION * truth.size);
        closed += usize::from(touch - free <= PRECISION);

        let options = CastOptions::default();
        let plain = query::cast_shape(&a, case.pose_a, motion, &b, case.pose_b, still, options);
        assert!(
            (plain.expect("a hit").safe - safe).abs() * speed <= PRECISION * truth.size,
            "{case:?}: {plain:?} {cast:?}"
        );
    });
    assert!(closed > 100, "{closed}");
}

#[test]
fn the_interval_of_a_cast_encloses_the_first_touch() {
    times_are_enclosed::<Vec2>();
    times_are_enclosed::<Vec3>();
}

fn swapping_mirrors_the_steps<V: Traceable>() {
    for_each_case::<V>(444, 3, SETTING, |case| {
        let (a, b) = (case.a.support(), case.b.support());
        let (mut steps, mut mirrored): (Steps<V>, Steps<V>) = Default::default();
        steps::contact(&a, case.pose_a, &b, case.pose_b, &mut steps);
        steps::contact(&b, case.pose_b, &a, case.pose_a, &mut mirrored);
        assert_eq!(steps.len(), mirrored.len());
        for (step, mirrored) in steps.iter().zip(&mirrored) {
            let [vertex, mirror] = [step, mirrored].map(|step| match step {
                Step::Gjk(step) | Step::Cast { gjk: step, .. } => &step.vertex,
                Step::Epa(step) => &step.vertex,
            });
            assert_eq!(vertex.point, -mirror.point);
            assert_eq!([vertex.first, vertex.second], [mirror.second, mirror.first]);
        }
    });
}

#[test]
fn swapping_the_shapes_mirrors_the_steps_to_the_bit() {
    swapping_mirrors_the_steps::<Vec2>();
    swapping_mirrors_the_steps::<Vec3>();
}

#[test]
fn the_steps_of_two_squares_end_at_the_distance_and_at_the_depth() {
    let square = Rectangle::new(2.0, 2.0);
    let mut steps: Vec<Step<DVec2>> = Vec::new();
    steps::distance(
        &square,
        Vec2::new(100.0, 7.0),
        &square,
        Vec2::new(103.0, 7.5),
        &mut steps,
    );
    let last = gjk_steps(&steps).last().expect("a step");
    assert_eq!([last.lower_bound, last.upper_bound], [1.0, 1.0]);
    assert_eq!(last.nearest, DVec2::new(-1.0, 0.0));

    steps.clear();
    let turned = Isometry2d::new(Vec2::new(1.75, 0.0), bevy::math::Rot2::degrees(90.0));
    steps::contact(&square, Vec2::ZERO, &square, turned, &mut steps);
    let last = epa_steps(&steps).last().expect("a step");
    assert!((last.lower_bound - 0.25).abs() < PRECISION);
    assert!((last.upper_bound - 0.25).abs() < PRECISION);
    assert!((last.vertex.direction - DVec2::X).length() < 1e-6);
}

#[test]
fn the_interval_of_a_ball_and_a_wall_closes_at_the_touch() {
    let (ball, wall) = (Sphere::new(1.0), Cuboid::new(2.0, 10.0, 10.0));
    let mut steps: Vec<Step<DVec3>> = Vec::new();
    let cast = steps::cast_shape(
        &ball,
        Vec3::ZERO,
        Vec3::X * 8.0,
        &wall,
        Vec3::X * 6.0,
        Vec3::ZERO,
        &mut steps,
    );
    assert!((cast.expect("a hit").touching - 0.5).abs() < NEAR);
    let mut intervals = steps.iter().filter_map(|step| match step {
        Step::Cast { interval, .. } => Some(*interval),
        Step::Gjk(_) | Step::Epa(_) => None,
    });
    let [free, touch] = intervals.next_back().expect("a step");
    assert!(
        free <= 0.5 && 0.5 <= touch + 1e-15 && touch - free < 1e-8,
        "{free} {touch}"
    );
}

#[test]
fn a_cast_that_misses_proves_the_whole_motion_free() {
    let square = Rectangle::new(2.0, 2.0);
    let mut steps: Vec<Step<DVec2>> = Vec::new();
    let (up, right) = (Vec2::Y * 4.0, Vec2::X * 3.0);
    let cast = steps::cast_shape(
        &square,
        Vec2::ZERO,
        up,
        &square,
        right,
        Vec2::ZERO,
        &mut steps,
    );
    assert_eq!(cast, None);
    let Some(Step::Cast { interval, .. }) = steps.last() else {
        panic!("a cast")
    };
    assert_eq!(*interval, [1.0, f64::INFINITY]);
}

#[test]
fn half_spaces_and_invalid_poses_have_the_plain_result_and_no_steps() {
    let (ground, ball) = (InfinitePlane3d::new(Vec3::Y), Sphere::new(1.0));
    let mut steps: Vec<Step<DVec3>> = Vec::new();
    let at = Vec3::Y * 0.75;
    let contact = steps::contact(&ground, Vec3::ZERO, &ball, at, &mut steps);
    assert_eq!(contact.expect("a contact").depth, 0.25);
    let distance = steps::distance(&ball, Vec3::Y * 3.0, &ground, Vec3::ZERO, &mut steps);
    assert_eq!(distance.distance, 2.0);
    let (down, still) = (Vec3::NEG_Y * 4.0, Vec3::ZERO);
    let cast = steps::cast_shape(
        &ball,
        Vec3::Y * 3.0,
        down,
        &ground,
        Vec3::ZERO,
        still,
        &mut steps,
    );
    assert!((cast.expect("a hit").touching - 0.5).abs() < PRECISION);
    assert!(steps.is_empty());

    let nowhere = Vec2::NAN;
    let circle = Circle::new(1.0);
    let mut steps: Vec<Step<DVec2>> = Vec::new();
    assert!(steps::contact(&circle, nowhere, &circle, Vec2::ZERO, &mut steps).is_none());
    let distance = steps::distance(&circle, nowhere, &circle, Vec2::ZERO, &mut steps).distance;
    assert_eq!((distance, steps), (f32::INFINITY, Vec::new()));
}
