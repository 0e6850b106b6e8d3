//! Custom shapes, which have only a support function. A lens, in 2D and 3D, is compared with points
//! on its surface, and with the closed form of its distance. Neither reference uses support
//! functions.

use std::f32::consts::PI;

use crate::support::{Dimension, app, tick, transform};
use bevy::{
    math::{DVec2, DVec3},
    prelude::*,
};
use headbutt::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The intersection of two balls of radius R with centers at y = s and y = -s.
#[derive(Clone, Copy, Debug)]
struct Lens {
    radius: f64,
    center: f64,
}

impl Lens {
    fn random(random: &mut StdRng) -> Self {
        let radius = random.random_range(0.8..1.6);
        let center = radius * random.random_range(0.1..0.9);
        Self { radius, center }
    }

    fn rim(&self) -> f64 {
        (self.radius * self.radius - self.center * self.center).sqrt()
    }

    /// Returns the support point: on the face, or on the rim if the sphere's support point is
    /// outside of the face.
    fn support(&self, direction: DVec3) -> DVec3 {
        let unit = direction.normalize();
        let height = self.radius * unit.y.abs() - self.center;
        if height >= 0.0 {
            (self.radius * unit).with_y(height.copysign(unit.y))
        } else {
            self.rim() * unit.with_y(0.0).normalize()
        }
    }

    /// Returns points of the upper face in the half-plane of y and the distance from y. The points
    /// are so dense that no point of the face is farther than 1e-9 from them.
    fn profile(&self) -> Vec<DVec2> {
        let end = (self.center / self.radius).acos();
        let steps = 20_000;
        let point = |step| {
            let (sine, cosine) = (end * f64::from(step) / f64::from(steps)).sin_cos();
            DVec2::new(self.radius * sine, self.radius * cosine - self.center)
        };
        (0..=steps).map(point).collect()
    }

    /// Returns the distance from the lens, which is negative inside. The closest point is on the
    /// face, or on the rim if the closest point of the sphere is below the rim.
    fn distance(&self, point: DVec3) -> f64 {
        let (across, up) = (point.x.hypot(point.z), point.y.abs());
        let from_center = across.hypot(up + self.center);
        if self.radius * (up + self.center) / from_center >= self.center {
            from_center - self.radius
        } else {
            (across - self.rim()).hypot(up)
        }
    }

    fn collider(self, dimension: Dimension) -> Collider {
        match dimension {
            Dimension::D2 => Collider::custom(Flat(self)),
            Dimension::D3 => Collider::custom(Solid(self)),
        }
    }
}

struct Flat(Lens);
struct Solid(Lens);

impl Support for Flat {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        self.0.support(direction.extend(0.0)).truncate()
    }
}

impl Support for Solid {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.0.support(direction)
    }
}

/// Returns the support height along a direction: the greatest height of all points of the surface.
fn reach(profile: &[DVec2], direction: DVec3) -> f64 {
    let along = DVec2::new(direction.x.hypot(direction.z), direction.y.abs());
    let heights = profile.iter().map(|point| point.dot(along));
    heights.fold(f64::NEG_INFINITY, f64::max)
}

/// Returns a pose with a random rotation.
fn pose(dimension: Dimension, scale: Vec3, random: &mut StdRng) -> Transform {
    let [x, y, z] = [(); 3].map(|()| random.random_range(-PI..PI));
    let rotation = match dimension {
        Dimension::D2 => Quat::from_rotation_z(z),
        Dimension::D3 => Quat::from_euler(EulerRot::XYZ, x, y, z),
    };
    Transform {
        translation: Vec3::new(x, y, z),
        rotation,
        scale,
    }
}

fn scale(random: &mut StdRng) -> f32 {
    let size = random.random_range(0.5..1.5);
    if random.random_bool(0.3) { -size } else { size }
}

fn axes(dimension: Dimension) -> &'static [Vec3] {
    match dimension {
        Dimension::D2 => &Vec3::AXES[..2],
        Dimension::D3 => &Vec3::AXES,
    }
}

/// A contact with so little depth that a bounding box could miss it.
const NEAR: f32 = 1e-3;

/// In front of each side of the box is a wall. At a small distance, the wall is no candidate. After
/// a move by this distance, the wall collides.
#[test]
fn the_box_of_a_custom_shape_is_tight_under_any_transform() {
    let mut random = StdRng::seed_from_u64(1);
    for dimension in Dimension::BOTH {
        for _ in 0..150 {
            let lens = Lens::random(&mut random);
            let profile = lens.profile();
            let size = if random.random_bool(0.5) {
                Vec3::splat(scale(&mut random))
            } else {
                Vec3::from([(); 3].map(|()| scale(&mut random)))
            };
            let pose = pose(dimension, size, &mut random);
            let rotation = pose.rotation.as_dquat().normalize();

            let mut app = app();
            let world = app.world_mut();
            let entity = world.spawn((lens.collider(dimension), pose)).id();
            let walls = axes(dimension).iter().flat_map(|axis| [*axis, -*axis]);
            let walls = walls.map(|outward| {
                // A point M x of the image has the height n · M x = (Mᵀ n) · x.
                let inner = rotation.inverse() * outward.as_dvec3() * pose.scale.as_dvec3();
                let inner = match dimension {
                    Dimension::D2 => inner.with_z(0.0),
                    Dimension::D3 => inner,
                };
                let height = reach(&profile, inner) as f32;
                let size = Vec3::splat(8.0) - outward.abs() * 7.0;
                let collider = match dimension {
                    Dimension::D2 => Collider::from(Rectangle::new(size.x, size.y)),
                    Dimension::D3 => Collider::from(Cuboid::from_size(size)),
                };
                let place = pose.translation + outward * (height + 0.5 + NEAR);
                let place = Transform::from_translation(place);
                let only_the_lens = CollisionLayers::new(2, 1);
                (outward, world.spawn((collider, place, only_the_lens)).id())
            });
            let walls: Vec<_> = walls.collect();

            let record = tick(&mut app);
            assert_eq!(record.messages, [], "{lens:?} at {pose:?}");
            let mut candidates = app.world().resource::<CandidatePairs>().iter();
            let is_candidate = candidates.any(|(a, b)| [a, b].contains(&entity));
            assert!(!is_candidate, "{lens:?} at {pose:?}");
            drop(candidates);

            for (outward, wall) in &walls {
                transform(app.world_mut(), *wall).translation -= 2.0 * NEAR * *outward;
            }
            let messages = tick(&mut app).messages;
            let hits = messages.iter().filter_map(|hit| hit.seen_from(entity));
            let hits: Vec<_> = hits.collect();
            assert_eq!(hits.len(), walls.len(), "{lens:?} at {pose:?}");
            for hit in hits {
                let wall = walls.iter().find(|(_, wall)| *wall == hit.other);
                let (outward, _) = wall.expect("a wall");
                assert!(hit.normal.dot(*outward) > 0.999_999, "{hit:?}");
                assert!((hit.depth - NEAR).abs() < 1e-5, "{hit:?}");
            }
        }
    }
}

#[test]
fn every_contact_of_lenses_has_the_depth_of_the_closed_form() {
    let mut random = StdRng::seed_from_u64(2);
    let [mut touching, mut apart] = [0; 2];
    for dimension in Dimension::BOTH {
        for _ in 0..60 {
            let lens = Lens::random(&mut random);
            let size = scale(&mut random);
            let pose = pose(dimension, Vec3::splat(size), &mut random);
            let mut app = app();
            let world = app.world_mut();
            let entity = world.spawn((lens.collider(dimension), pose)).id();
            let balls = (0..60).map(|_| {
                let radius = random.random_range(0.0..0.6);
                let [x, y, z] = [(); 3].map(|()| random.random_range(-2.0..2.0));
                let place = pose.translation + Vec3::new(x, y, z);
                let place = Transform::from_translation(place);
                let offset = place.translation.as_dvec3() - pose.translation.as_dvec3();
                let offset = match dimension {
                    Dimension::D2 => offset.with_z(0.0),
                    Dimension::D3 => offset,
                };
                let turned = pose.rotation.as_dquat().normalize().inverse() * offset;
                let size = f64::from(size);
                let distance = lens.distance(turned / size) * size.abs();
                let ball = (dimension.ball(radius), place, CollisionLayers::new(2, 1));
                (world.spawn(ball).id(), f64::from(radius) - distance)
            });
            let balls: Vec<_> = balls.collect();
            let messages = tick(&mut app).messages;
            for (ball, depth) in balls {
                let mut hits = messages.iter().filter_map(|hit| hit.seen_from(ball));
                let hit = hits.find(|hit| hit.other == entity);
                if depth > 1e-5 {
                    touching += 1;
                    let hit = hit.unwrap_or_else(|| panic!("{lens:?} at {pose:?}: {depth}"));
                    assert!(
                        (f64::from(hit.depth) - depth).abs() < 1e-5,
                        "{depth}: {hit:?}"
                    );
                } else if depth < -1e-5 {
                    apart += 1;
                    assert_eq!(hit, None, "{lens:?} at {pose:?}: {depth}");
                }
            }
        }
    }
    assert!(touching > 1000 && apart > 1000, "{touching} and {apart}");
}
