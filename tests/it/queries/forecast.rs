//! Compares `query::forecast` with its definition, in f64. For polygons and polyhedra, all faces of
//! the difference of the shapes and all tangents are tried, and for other shapes, dense samples of
//! directions.
//!
//! O is the difference B - A at the start. In O, A is the origin, and moves by v. A unit vector n
//! separates the shapes at the start if the support height h(n) is at most 0. Among these vectors,
//! the minimum translation has the least h(n) - n·v.
//!
//! ```text
//! HEADBUTT_FORECASTS=1000000 cargo test --test it queries::forecast
//! ```

use std::ops::Range;

use crate::{
    oracle::{Convex, adversity::Adverse, cases::Dimension},
    support,
};
use bevy::math::{DVec3, Quat, Vec2, Vec3};
use headbutt::{
    Support,
    query::{self, Forecast},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The kinds of cases of polygons and polyhedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    /// The shapes move toward each other, over about their size.
    Near,
    /// The second shape is a thin wall, and the motion leads far beyond the wall.
    ThinWall,
    /// The first shape is long.
    Long,
    /// The motion is between a thousandth and ten thousand times the distance.
    Speeds,
    Receding,
    /// The motion is at right angles to the line between the shapes.
    Tangential,
    /// The shapes overlap at the start.
    Overlapping,
    /// The distance of the shapes is a millionth of their size.
    NearlyTouching,
    Touching,
    /// The shapes do not move.
    Still,
    /// The shapes are far from the origin.
    Far,
}

const REGIMES: [Regime; 11] = [
    Regime::Near,
    Regime::ThinWall,
    Regime::Long,
    Regime::Speeds,
    Regime::Receding,
    Regime::Tangential,
    Regime::Overlapping,
    Regime::NearlyTouching,
    Regime::Touching,
    Regime::Still,
    Regime::Far,
];

fn vector<V: Dimension>(random: &mut StdRng) -> DVec3 {
    V::of(Vec3::from([(); 3].map(|()| random.random_range(-1.0..1.0)))).deep()
}

/// The difference B - A, with its vertices and facets.
struct Obstacle {
    vertices: Vec<DVec3>,
    /// The normals of the facets, with their heights.
    facets: Vec<(DVec3, f64)>,
    size: f64,
    is_planar: bool,
}

impl Obstacle {
    fn new(a: &[DVec3], b: &[DVec3], is_planar: bool) -> Self {
        let edges: Vec<DVec3> = pairs(a).chain(pairs(b)).map(|[p, q]| p - q).collect();
        let vertices: Vec<DVec3> = b.iter().flat_map(|q| a.iter().map(|p| *q - *p)).collect();
        let normals = if is_planar {
            edges.iter().map(|edge| edge.cross(DVec3::Z)).collect()
        } else {
            pairs(&edges).map(|[p, q]| p.cross(q)).collect()
        };
        let center = vertices.iter().sum::<DVec3>() / vertices.len() as f64;
        let distances = vertices.iter().map(|vertex| vertex.distance(center));
        let mut obstacle = Self {
            size: distances.fold(0.0, f64::max),
            facets: Vec::new(),
            vertices,
            is_planar,
        };
        for normal in both_units(normals) {
            let height = obstacle.height(normal);
            let level = height - 1e-7 * obstacle.size;
            let on_facet = obstacle
                .vertices
                .iter()
                .filter(|vertex| vertex.dot(normal) >= level);
            if on_facet.count() >= if is_planar { 2 } else { 3 } {
                obstacle.facets.push((normal, height));
            }
        }
        obstacle
    }

    fn height(&self, normal: DVec3) -> f64 {
        let heights = self.vertices.iter().map(|vertex| vertex.dot(normal));
        heights.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the depth of a point, which is negative outside.
    fn depth(&self, point: DVec3) -> f64 {
        let depths = self
            .facets
            .iter()
            .map(|(normal, height)| height - normal.dot(point));
        depths.fold(f64::INFINITY, f64::min)
    }

    /// Returns the greatest depth along the path from the origin to a point. The depth is a concave
    /// function of time.
    fn depth_along(&self, end: DVec3) -> f64 {
        let [mut low, mut high] = [0.0, 1.0];
        for _ in 0..80 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.depth(end * a) > self.depth(end * b) {
                high = b;
            } else {
                low = a;
            }
        }
        let times = [0.0, low, 1.0].into_iter();
        times
            .map(|time| self.depth(end * time))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the length of the minimum translation of the end of a motion, which is negative if
    /// the motion misses.
    fn exit(&self, translation: DVec3) -> f64 {
        let tangents = if self.is_planar {
            let across = self.vertices.iter().map(|vertex| vertex.cross(DVec3::Z));
            across.collect()
        } else {
            // The difference is more precise than the vertices if they are far away.
            let crosses = pairs(&self.vertices).map(|[p, q]| p.cross(q - p));
            crosses.collect()
        };
        let distances = self.vertices.iter().map(|vertex| vertex.length());
        let rounding = 1e-14 * distances.fold(0.0, f64::max);
        let tangents = both_units(tangents);
        let tangents = tangents
            .iter()
            .map(|normal| (*normal, self.height(*normal)));
        tangents
            .chain(self.facets.iter().copied())
            .filter(|(_, height)| *height <= rounding)
            .map(|(normal, height)| height - normal.dot(translation))
            .fold(f64::INFINITY, f64::min)
    }
}

fn pairs(points: &[DVec3]) -> impl Iterator<Item = [DVec3; 2]> + '_ {
    let each = points.iter().enumerate();
    each.flat_map(|(i, p)| points[..i].iter().map(|q| [*p, *q]))
}

fn both_units(vectors: Vec<DVec3>) -> Vec<DVec3> {
    let units = vectors.into_iter().filter_map(DVec3::try_normalize);
    units.flat_map(|unit| [unit, -unit]).collect()
}

/// Two hulls of points and a motion.
struct Case<V: Dimension> {
    regime: Regime,
    points: [Vec<V>; 2],
    poses: [V::Isometry; 2],
    translation: V,
    obstacle: Obstacle,
}

impl<V: Dimension> Case<V> {
    fn numbered(number: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(number as u64);
        let regime = REGIMES[number % REGIMES.len()];
        let unit = 10_f64.powf(random.random_range(-3.0..6.0));
        let flat = 1e-3 * DVec3::X + DVec3::Y + DVec3::Z;
        let stretches = match regime {
            Regime::ThinWall => [DVec3::ONE, 4.0 * flat],
            Regime::Long => [DVec3::new(30.0, 1.0, 1.0), DVec3::ONE],
            _ => [DVec3::ONE; 2],
        };
        let points = stretches.map(|stretch| {
            let count = random.random_range(3..=5);
            let mut point = || unit * stretch * vector::<V>(random);
            let points = (0..=count).map(|_| V::of(point().as_vec3()));
            points.collect::<Vec<V>>()
        });
        let turn = |random: &mut StdRng| {
            let parts = [(); 4].map(|()| random.random_range(-1.0..1.0));
            Quat::from_array(parts).normalize()
        };
        let far = if regime == Regime::Far {
            1e4 * unit
        } else {
            0.0
        };
        let origin = (far * vector::<V>(random)).as_vec3();
        let [first, second] = [(); 2].map(|()| V::isometry(turn(random), origin));
        let world = |pose: V::Isometry, points: &[V]| -> Vec<DVec3> {
            let (matrix, translation) = V::map(pose);
            // Positions relative to the first shape are as precise as near the origin.
            let translation = translation - V::map(first).1;
            let map = |point: &V| matrix * point.deep() + translation;
            points.iter().map(map).collect()
        };
        // The second shape is at a distance along a random direction.
        let at_origin = Obstacle::new(
            &world(first, &points[0]),
            &world(second, &points[1]),
            V::PLANAR,
        );
        let away = vector::<V>(random).normalize();
        let gap = match regime {
            Regime::Overlapping => -0.3 * at_origin.size,
            Regime::NearlyTouching => 1e-6 * at_origin.size,
            Regime::Touching => 0.0,
            _ => at_origin.size * 10_f64.powf(random.random_range(-3.0..1.5)),
        };
        let offset = away * (at_origin.height(-away) + gap);
        let second = V::shifted(second, V::of(offset.as_vec3()));
        let worlds = [world(first, &points[0]), world(second, &points[1])];
        let obstacle = Obstacle::new(&worlds[0], &worlds[1], V::PLANAR);

        let center = obstacle.vertices.iter().sum::<DVec3>() / obstacle.vertices.len() as f64;
        let aim = center + 0.5 * obstacle.size * vector::<V>(random);
        let translation = match regime {
            Regime::Receding => -aim,
            Regime::Tangential => vector::<V>(random).reject_from(away) * obstacle.size,
            Regime::Still => DVec3::ZERO,
            Regime::Speeds => aim * 10_f64.powf(random.random_range(-3.0..4.0)),
            Regime::ThinWall => aim * random.random_range(1.0..20.0),
            _ => aim * random.random_range(0.5..2.0),
        };
        Self {
            regime,
            points,
            poses: [first, second],
            translation: V::of(translation.as_vec3()),
            obstacle,
        }
    }

    fn forecast(&self) -> Forecast<V>
    where
        [V]: Support<Vector = V>,
    {
        let [a, b] = &self.points;
        let [pose_a, pose_b] = self.poses;
        let forecast = query::forecast(&a[..], pose_a, &b[..], pose_b, self.translation);
        let back = V::of(-self.translation.deep().as_vec3());
        let mirrored = query::forecast(&b[..], pose_b, &a[..], pose_a, back);
        let sum = forecast.minimum_translation.deep() + mirrored.minimum_translation.deep();
        assert_eq!(sum, DVec3::ZERO, "the mirror image");
        assert_eq!(forecast.will_intersect, mirrored.will_intersect);
        forecast
    }

    /// Compares a forecast with the definition.
    fn judge(&self, forecast: &Forecast<V>) -> Result<(), String> {
        let (o, v) = (&self.obstacle, self.translation.deep());
        let p = forecast.minimum_translation.deep();
        let unit = o.size + v.length();
        let start = o.depth(DVec3::ZERO);
        // Between these bounds, the start may count as touching.
        if start.abs() > 5e-7 * o.size && forecast.intersects != (start > 0.0) {
            return Err(format!("{} at a depth of {start}", forecast.intersects));
        }
        let along = o.depth_along(v);
        let is_clear = along.abs() > 1e-6 * o.size;
        if is_clear && forecast.will_intersect != (along > 0.0) {
            return Err(format!("{} at a depth of {along}", forecast.will_intersect));
        }
        let expected = match () {
            () if !forecast.will_intersect => 0.0,
            () if start > 0.0 => o.depth(v).max(0.0),
            () => o.exit(v).max(0.0),
        };
        let error = (p.length() - expected) / unit;
        if error.abs() > 1e-6 && start.abs() > 5e-7 * o.size {
            return Err(format!("{} for {expected}: {error:.1e}", p.length()));
        }
        let left = if start > 0.0 {
            o.depth(v + p)
        } else {
            o.depth_along(v + p)
        };
        if left > 1e-6 * unit {
            return Err(format!("{left} deep after the translation"));
        }
        Ok(())
    }
}

/// Returns the numbers of the cases, by default or from the environment.
fn cases(usual: usize) -> Range<usize> {
    support::cases::cases("HEADBUTT_FORECASTS", usual)
}

fn judge_all<V: Dimension>(usual: usize)
where
    [V]: Support<Vector = V>,
{
    let mut failures = Vec::new();
    let mut hits = 0;
    for number in cases(usual) {
        let case = Case::<V>::numbered(number);
        let forecast = case.forecast();
        hits += usize::from(forecast.minimum_translation.deep() != DVec3::ZERO);
        if let Err(text) = case.judge(&forecast) {
            failures.push(format!("{number} {:?}: {text}", case.regime));
        }
    }
    println!("{hits} hits");
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
    assert!(hits * 4 > cases(usual).len(), "{hits} hits test little");
}

#[test]
fn polygons_have_the_least_translation_of_all_faces_and_tangents() {
    judge_all::<Vec2>(20_000);
}

#[test]
fn polyhedra_have_the_least_translation_of_all_faces_and_tangents() {
    judge_all::<Vec3>(4_000);
}

/// A pair of any shapes and a motion.
struct AnyCase<V: Dimension> {
    pair: Adverse<V>,
    translation: V,
    size: f64,
}

impl<V: Dimension> AnyCase<V> {
    fn numbered(number: usize) -> Self {
        let pair = Adverse::<V>::numbered(number);
        let random = &mut StdRng::seed_from_u64(number as u64);
        let size = pair.solid_a.size() + pair.solid_b.size();
        let mut case = Self {
            pair,
            translation: V::default(),
            size,
        };
        // The shapes are separated along a random axis.
        let away = vector::<V>(random).normalize();
        let gap = size * 10_f64.powf(random.random_range(-4.0..1.0));
        let offset = away * (case.height(-away) + gap);
        let pair = &mut case.pair;
        pair.pose_b = V::shifted(pair.pose_b, V::of(offset.as_vec3()));
        pair.solid_b = pair.b.solid(pair.pose_b, pair.origin);
        let middle = |axis: DVec3| 0.5 * (case.height(axis) - case.height(-axis)) * axis;
        let mut center = middle(DVec3::X) + middle(DVec3::Y);
        if !V::PLANAR {
            center += middle(DVec3::Z);
        }
        let aim = center + random.random_range(0.0..0.5) * size * vector::<V>(random);
        let translation = aim * random.random_range(0.5..3.0);
        case.translation = V::of(translation.as_vec3());
        case
    }

    /// Returns the support height of B - A.
    fn height(&self, normal: DVec3) -> f64 {
        self.pair.solid_b.height(normal) + self.pair.solid_a.height(-normal)
    }

    /// Returns the length of the translation along a unit vector. The length is infinite if the
    /// vector does not separate the shapes at the start.
    fn length(&self, normal: DVec3) -> f64 {
        let height = self.height(normal);
        if height <= 0.0 {
            height - normal.dot(self.translation.deep())
        } else {
            f64::INFINITY
        }
    }

    /// Returns the least length over many directions. Near the best directions, the search tries
    /// random directions. If a random direction does not separate the shapes, bisection finds the
    /// last direction on the way that does.
    fn sampled(&self, random: &mut StdRng) -> f64 {
        let mut axes: Vec<(f64, DVec3)> = (0..1000)
            .filter_map(|_| vector::<V>(random).try_normalize())
            .map(|axis| (self.length(axis), axis))
            .collect();
        axes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (length, axis) in axes.iter_mut().take(3) {
            let mut radius = 0.5;
            for _ in 0..60 {
                let (from, way) = (*axis, radius * vector::<V>(random));
                let mut part = [0.0, 1.0];
                for step in 0..20 {
                    let middle = if step == 0 {
                        1.0
                    } else {
                        0.5 * (part[0] + part[1])
                    };
                    let tried = (from + way * middle).normalize();
                    let found = self.length(tried);
                    if found < *length {
                        (*length, *axis) = (found, tried);
                    }
                    part[usize::from(found == f64::INFINITY)] = middle;
                    if part == [1.0, 1.0] {
                        break;
                    }
                }
                if *axis == from {
                    radius *= 0.7;
                }
            }
        }
        axes.iter()
            .map(|(length, _)| *length)
            .fold(f64::INFINITY, f64::min)
    }

    /// Compares the forecast with the definition. Returns the excess of the forecast's translation
    /// over the best sample, in units of the size and the motion.
    fn judge(&self, random: &mut StdRng) -> Result<f64, String> {
        let Adverse {
            a,
            pose_a,
            b,
            pose_b,
            ..
        } = &self.pair;
        let (a, b) = (a.support(), b.support());
        let forecast = query::forecast(&a, *pose_a, &b, *pose_b, self.translation);
        let (v, p) = (self.translation.deep(), forecast.minimum_translation.deep());
        let unit = self.size + v.length();
        if !forecast.will_intersect || forecast.intersects {
            return Ok(f64::NEG_INFINITY);
        }
        // The direction of a short translation is rounded.
        if p.length() > 1e-3 * unit {
            let axis = p.normalize();
            let height = self.height(axis);
            if height > 1e-6 * unit {
                return Err(format!("{height} over the start"));
            }
            let left = height - axis.dot(v + p);
            if left > 1e-6 * unit {
                return Err(format!("{left} deep after the translation"));
            }
        }
        Ok((p.length() - self.sampled(random).max(0.0)) / unit)
    }
}

fn judge_any<V: Dimension>(usual: usize) {
    let mut failures = Vec::new();
    let mut errors: Vec<(f64, usize)> = Vec::new();
    for number in cases(usual) {
        let random = &mut StdRng::seed_from_u64(number as u64);
        let case = AnyCase::<V>::numbered(number);
        match case.judge(random) {
            Ok(error) if error > 1e-5 => {
                let (a, b) = (case.pair.a.class, case.pair.b.class);
                failures.push(format!("{number} {a:?} {b:?}: longer by {error:.1e}"));
            }
            Ok(error) if error > f64::NEG_INFINITY => errors.push((error, number)),
            Ok(_) => {}
            Err(text) => failures.push(format!("{number}: {text}")),
        }
    }
    errors.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!(
        "{} hits, {:?}",
        errors.len(),
        &errors[..3.min(errors.len())]
    );
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
    assert!(
        errors.len() * 8 > cases(usual).len(),
        "{} hits test little",
        errors.len()
    );
}

#[test]
fn no_sampled_direction_is_better_in_2d() {
    judge_any::<Vec2>(500);
}

#[test]
fn no_sampled_direction_is_better_in_3d() {
    judge_any::<Vec3>(500);
}
