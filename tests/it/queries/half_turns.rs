//! 2D shapes under a half turn about an axis in the xy plane, which mirrors the shapes.

use bevy::{math::DVec2, prelude::*};
use core::f32::consts::{FRAC_PI_2, PI, TAU};
use headbutt::{
    Collider, ConvexHull, ShapeError, SpatialQuery, SpatialQueryFilter,
    query::{self, CastOptions, Motion, Ray},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A corner at the origin, and sides of 2 and 1 along the axes.
const WEDGE: [Vec2; 3] = [Vec2::ZERO, Vec2::new(2.0, 0.0), Vec2::new(0.0, 1.0)];

fn flipped() -> Transform {
    Transform::from_rotation(Quat::from_rotation_y(PI))
}

/// The mirrored wedge has its corners at (-2, 0), (0, 0) and (0, 1).
#[test]
fn every_query_sees_a_flipped_shape_where_its_sprite_is() {
    let (wedge, ball) = (ConvexHull::new(WEDGE).unwrap(), Circle::new(0.5));
    let below = Vec2::new(-1.5, -0.25);
    assert!(query::intersects(&wedge, flipped(), &ball, below));
    assert!(!query::intersects(
        &wedge,
        flipped(),
        &ball,
        Vec2::new(1.5, -0.25)
    ));

    let contact = query::contact(&wedge, flipped(), &ball, below).unwrap();
    assert!(contact.normal.distance(Vec2::NEG_Y) < 1e-6);
    assert!((contact.depth - 0.25).abs() < 1e-6);
    assert!(contact.point_a.distance(Vec2::new(-1.5, 0.0)) < 1e-6);

    let distance = query::distance(&wedge, flipped(), &ball, Vec2::new(-1.5, -2.0));
    assert!((distance.distance - 1.5).abs() < 1e-6);
    assert!(distance.point_a.distance(Vec2::new(-1.5, 0.0)) < 1e-6);

    let ray = Ray::new(Vec2::new(-1.5, -3.0), Vec2::Y);
    let hit = query::cast_ray(&wedge, flipped(), ray).unwrap();
    assert!((hit.distance - 3.0).abs() < 1e-6);
    assert!(hit.normal.distance(Vec2::NEG_Y) < 1e-6);

    let options = CastOptions::default();
    let (start, up) = (Vec2::new(-1.5, -2.5), Vec2::Y * 4.0);
    let cast = query::cast_shape(&ball, start, up, &wedge, flipped(), Vec2::ZERO, options);
    assert!((cast.unwrap().touching - 0.5).abs() < 1e-6);

    // At the end, the center is on the lower side.
    let forecast = query::forecast(&ball, start, &wedge, flipped(), Vec2::Y * 2.5);
    assert!(forecast.will_intersect && !forecast.intersects);
    assert!((forecast.cast.unwrap().touching - 0.8).abs() < 1e-6);
    assert!(forecast.minimum_translation.distance(Vec2::NEG_Y * 0.5) < 1e-5);

    let plank = Rectangle::new(1.0, 1.0);
    let manifold = query::manifold(&wedge, flipped(), &plank, Vec2::new(-1.5, -0.4)).unwrap();
    assert!(manifold.normal.distance(Vec2::NEG_Y) < 1e-6);
    let mut ends: Vec<f32> = manifold
        .points()
        .iter()
        .map(|point| point.point_a.x)
        .collect();
    ends.sort_by(f32::total_cmp);
    let [left, right] = ends[..] else {
        panic!("{manifold:?}")
    };
    assert!((left + 2.0).abs() < 1e-5 && (right + 1.0).abs() < 1e-5);

    // Rotated by a quarter turn about the origin, the mirrored wedge is at x <= 0, y <= 0.
    let swing = Motion::still(flipped()).rotated(FRAC_PI_2);
    let ball_at = Vec2::new(-0.5, -1.5);
    let swung = query::cast_motion(&wedge, swing, &Circle::new(0.1), ball_at, options);
    assert!(swung.is_some());
    let ends = Transform::from_rotation(Quat::from_rotation_z(FRAC_PI_2) * flipped().rotation);
    let between = Motion::between(flipped(), ends);
    let same = query::cast_motion(&wedge, between, &Circle::new(0.1), ball_at, options);
    let [swung, same] = [swung, same].map(|cast| cast.unwrap().touching);
    assert!((swung - same).abs() < 1e-6);
}

/// A convex polygon in f64. Its methods return the signed distance of a point, and the times at
/// which a line enters and leaves the polygon.
struct Polygon(Vec<DVec2>);

impl Polygon {
    fn edges(&self) -> impl Iterator<Item = [DVec2; 2]> {
        let ends = self.0.iter().cycle().skip(1);
        self.0.iter().zip(ends).map(|(a, b)| [*a, *b])
    }

    /// Returns the outward unit normals of the edges, each with a point of its edge.
    fn planes(&self) -> impl Iterator<Item = (DVec2, DVec2)> {
        let middle = self.0.iter().sum::<DVec2>() / self.0.len() as f64;
        self.edges().map(move |[a, b]| {
            let normal = (b - a).perp().normalize();
            let outward = normal.dot(a - middle).signum();
            (normal * outward, a)
        })
    }

    fn signed_distance(&self, point: DVec2) -> f64 {
        let heights = self.planes().map(|(normal, on)| normal.dot(point - on));
        let height = heights.fold(f64::NEG_INFINITY, f64::max);
        if height <= 0.0 {
            return height;
        }
        let to_edge = |[a, b]: [DVec2; 2]| {
            let t = (point - a).dot(b - a) / (b - a).length_squared();
            point.distance(a.lerp(b, t.clamp(0.0, 1.0)))
        };
        self.edges().map(to_edge).fold(f64::INFINITY, f64::min)
    }

    fn entry(&self, origin: DVec2, direction: DVec2) -> Option<f64> {
        let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
        for (normal, on) in self.planes() {
            let (rate, height) = (normal.dot(direction), normal.dot(origin - on));
            if rate < 0.0 {
                enter = enter.max(-height / rate);
            } else {
                leave = leave.min(-height / rate);
            }
        }
        (enter < leave).then_some(enter)
    }
}

/// The pose is a half turn about any axis in the plane, before or after a rotation about z, as
/// `f32` rounds it. Bevy's quaternion in f64 gives the positions of the corners.
#[test]
fn shapes_and_colliders_agree_with_the_mirrored_polygon() {
    let mut rng = StdRng::seed_from_u64(7);
    let (mut touching, mut apart, mut hit_by_ray, mut missed) = (0, 0, 0, 0);
    for case in 0..20_000 {
        let mut point = |extent: f32| {
            Vec2::new(
                rng.random_range(-extent..extent),
                rng.random_range(-extent..extent),
            )
        };
        let corners = [point(1.0), point(1.0), point(1.0)];
        let area = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]);
        if area.abs() < 0.1 {
            continue;
        }
        let (position, center, origin) = (point(10.0), point(1.2), point(4.0));
        let (center, origin) = (position + center, position + origin);
        let mut angle = || rng.random_range(0.0..TAU);
        let axis = Vec2::from_angle(angle()).extend(0.0);
        let turn = Quat::from_rotation_z(angle());
        let rotation = match case % 3 {
            0 => Quat::from_axis_angle(axis, PI),
            1 => turn * Quat::from_axis_angle(axis, PI),
            _ => Quat::from_rotation_x(PI) * turn,
        };
        let radius = rng.random_range(0.05..0.5);
        let pose = Transform::from_translation(position.extend(3.0)).with_rotation(rotation);
        let exact = rotation.as_dquat().normalize();
        let image = |corner: &Vec2| {
            (exact * corner.extend(0.0).as_dvec3()).truncate() + position.as_dvec2()
        };
        let polygon = Polygon(corners.iter().map(image).collect());

        let (shape, ball) = (ConvexHull::new(corners).unwrap(), Circle::new(radius));
        let (collider, round) = (Collider::from(shape.clone()), Collider::from(ball));
        let expected = polygon.signed_distance(center.as_dvec2()) - f64::from(radius);
        if expected.abs() > 1e-5 {
            let contact = query::contact(&shape, pose, &ball, center);
            let of_colliders = query::contact(&collider, pose, &round, center);
            assert_eq!(contact.is_some(), expected < 0.0, "case {case}");
            let depth = contact.map_or(0.0, |contact| contact.depth);
            let other = of_colliders.map_or(0.0, |contact| contact.depth);
            assert!(
                (f64::from(depth) + expected.min(0.0)).abs() < 1e-5,
                "case {case}"
            );
            assert_eq!(depth, other, "case {case}");
            let distance = query::distance(&shape, pose, &ball, center).distance;
            assert!(
                (f64::from(distance) - expected.max(0.0)).abs() < 1e-5,
                "case {case}"
            );
            *if expected < 0.0 {
                &mut touching
            } else {
                &mut apart
            } += 1;
        }

        let direction = (center - origin).normalize();
        let entry = polygon.entry(origin.as_dvec2(), direction.as_dvec2());
        let hit = query::cast_ray(&shape, pose, Ray::new(origin, direction));
        let of_collider = query::cast_ray(&collider, pose, Ray::new(origin, direction));
        assert_eq!(
            hit.map(|hit| hit.distance),
            of_collider.map(|hit| hit.distance)
        );
        match (entry, hit) {
            (Some(entry), Some(hit)) if entry > 0.0 => {
                assert!(
                    (f64::from(hit.distance) - entry).abs() < 1e-3,
                    "case {case}"
                );
                hit_by_ray += 1;
            }
            (None, None) => missed += 1,
            _ => {}
        }
    }
    let judged = [touching, apart, hit_by_ray, missed];
    assert!(judged.iter().all(|count| *count > 2_000), "{judged:?}");
}

#[test]
fn two_flips_are_no_flip() {
    let (tile, ball) = (ConvexHull::new(WEDGE).unwrap(), Circle::new(0.5));
    let twice = Transform::from_rotation(Quat::from_rotation_y(PI) * Quat::from_rotation_y(PI));
    let contact = query::contact(&tile, twice, &ball, Vec2::new(1.5, -0.25)).unwrap();
    assert!((contact.depth - 0.25).abs() < 1e-6);
}

#[test]
fn a_tilted_shape_touches_nothing_and_a_tilted_collider_is_shortened() {
    let (tile, ball) = (Rectangle::new(2.0, 2.0), Circle::new(0.5));
    // As seen along z, the tilted tile has the width 1.
    let tilted = Transform::from_rotation(Quat::from_rotation_y(PI / 3.0));
    assert!(query::contact(&tile, tilted, &ball, Vec2::ZERO).is_none());
    let (tile, ball) = (Collider::from(tile), Collider::from(ball));
    let contact = query::contact(&tile, tilted, &ball, Vec2::X * 0.75).unwrap();
    assert!((contact.depth - 0.25).abs() < 1e-6);
}

#[test]
fn a_spatial_query_takes_flipped_shapes_and_colliders() {
    let mut app = crate::support::app();
    let wedge = ConvexHull::new(WEDGE).unwrap();
    let entity = app
        .world_mut()
        .spawn((Collider::from(wedge.clone()), flipped()))
        .id();
    headbutt::sync_now(app.world_mut());
    let found = move |query: SpatialQuery| {
        let filter = SpatialQueryFilter::default();
        let hit = query.cast_ray(Ray::new(Vec2::new(-1.5, -3.0), Vec2::Y), &filter);
        let hit = hit.expect("the ray meets the lower side");
        assert!(hit.entity == entity && (hit.distance - 3.0).abs() < 1e-6);
        let missed = query.cast_ray(Ray::new(Vec2::new(1.5, -3.0), Vec2::Y), &filter);
        assert!(missed.is_none());
        // A second, flipped wedge overlaps the first wedge on the left side, but not on the right
        // side.
        let second = Collider::from(wedge.clone());
        let at = |x: f32| flipped().with_translation(Vec3::new(x, -0.25, 0.0));
        assert!(query.is_overlapped(&second, at(0.0), &filter));
        assert!(!query.is_overlapped(&second, at(2.5), &filter));
    };
    use bevy::ecs::system::RunSystemOnce;
    app.world_mut().run_system_once(found).unwrap();
}

#[test]
fn a_motion_between_mirrored_poses_does_not_rotate_by_the_mirroring() {
    let (wedge, point) = (ConvexHull::new(WEDGE).unwrap(), Circle::new(0.05));
    let to = flipped().with_translation(Vec3::X * 4.0);
    let options = CastOptions::default();
    let start = Transform::from_translation(Vec3::ZERO);
    // The tip at (2, 0) reaches x = 3.95 after 1.95 of 4 units.
    let target = Vec2::new(4.0, 0.0);
    let shape = query::cast_motion(&wedge, Motion::between(start, to), &point, target, options);
    let (wedge, point) = (Collider::from(wedge), Collider::from(point));
    let motion = Motion::between(start, to);
    let collider = query::cast_motion(&wedge, motion, &point, target, options);
    let times = [shape.unwrap().touching, collider.unwrap().touching];
    assert!(times.iter().all(|time| (time - 1.95 / 4.0).abs() < 1e-6));
}

#[test]
fn a_mirrored_part_of_a_compound_is_an_error() {
    let parts = [(flipped(), Collider::rectangle(1.0, 1.0))];
    assert_eq!(
        Collider::try_compound(parts).unwrap_err(),
        ShapeError::PartTransform
    );
}
