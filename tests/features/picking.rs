//! The picking backend: rays of pointers against colliders in their drawn poses, and a press that
//! passes through Bevy's own picking systems.

use bevy::{
    camera::{
        CameraProjection, ComputedCameraValues, ManualTextureViewHandle, NormalizedRenderTarget,
        RenderTarget, RenderTargetInfo, visibility::RenderLayers,
    },
    math::{DVec2, DVec3},
    picking::{
        InteractionPlugin, Pickable, PickingPlugin, PickingSystems,
        backend::{
            HitData, PointerHits,
            ray::{RayId, RayMap},
        },
        hover::PickingInteraction,
        pointer::{
            Location, PointerAction, PointerButton, PointerId, PointerInput, PointerLocation,
        },
    },
    prelude::*,
    transform::TransformSystems,
    window::PrimaryWindow,
};
use headbutt::{prelude::*, query::RayHit};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The rays of the next frame, in addition to the rays of cameras with a window.
#[derive(Resource, Default)]
struct Rays(Vec<(RayId, Ray3d)>);

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        HeadbuttPickingPlugin,
        MinimalPlugins,
        TransformPlugin,
        PickingPlugin,
        InteractionPlugin,
    ))
    .init_resource::<Rays>()
    .add_systems(
        PreUpdate,
        (|rays: Res<Rays>, mut map: ResMut<RayMap>| map.map.extend(rays.0.iter().copied()))
            .after(PickingSystems::ProcessInput)
            .before(PickingSystems::Backend),
    );
    app
}

fn spawn_camera(app: &mut App, bundle: impl Bundle) -> Entity {
    app.world_mut().spawn((Camera::default(), bundle)).id()
}

/// Returns the hits of one ray, after a frame that computes the drawn poses.
fn hits(app: &mut App, camera: Entity, ray: Ray3d) -> Vec<(Entity, HitData)> {
    app.world_mut().resource_mut::<Rays>().0.clear();
    app.update();
    app.world_mut()
        .resource_mut::<Messages<PointerHits>>()
        .clear();
    let id = RayId::new(camera, PointerId::Mouse);
    app.world_mut().resource_mut::<Rays>().0.push((id, ray));
    app.update();
    let mut messages = app.world_mut().resource_mut::<Messages<PointerHits>>();
    let hits: Vec<_> = messages.drain().collect();
    assert!(hits.len() <= 1, "one message for a ray: {hits:?}");
    hits.into_iter().flat_map(|hits| hits.picks).collect()
}

fn entities(app: &mut App, camera: Entity, ray: Ray3d) -> Vec<Entity> {
    let hits = hits(app, camera, ray);
    hits.into_iter().map(|(entity, _)| entity).collect()
}

/// Returns the ray of a 2D camera at z = 1000.
fn from_above(point: Vec2) -> Ray3d {
    Ray3d::new(point.extend(1000.0), Dir3::NEG_Z)
}

#[track_caller]
fn assert_hit(hit: &HitData, depth: f64, position: DVec3, normal: DVec3) {
    let size = position.length() + depth;
    let [actual, actual_normal] = [hit.position, hit.normal].map(|it| it.unwrap().as_dvec3());
    assert!((f64::from(hit.depth) - depth).abs() < 1e-6 * size);
    assert!(actual.distance(position) < 1e-6 * size);
    assert!(actual_normal.distance(normal) < 1e-5);
}

#[test]
fn hits_in_2d_are_sorted_by_z_then_by_entity() {
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    let at = |x, z| (Collider::circle(10.0), Transform::from_xyz(x, 0.0, z));
    let [low, high, middle, also_middle, _beside, _behind_the_camera] = [
        (0.0, -3.0),
        (5.0, 7.0),
        (-5.0, 2.0),
        (-2.0, 2.0),
        (21.0, 0.0),
        (0.0, 1001.0),
    ]
    .map(|(x, z)| app.world_mut().spawn(at(x, z)).id());
    let found = hits(&mut app, camera, from_above(Vec2::new(1.0, 2.0)));

    let mut equal = [middle, also_middle];
    equal.sort();
    let expected = [high, equal[0], equal[1], low];
    assert_eq!(found.iter().map(|hit| hit.0).collect::<Vec<_>>(), expected);
    for ((_, hit), z) in found.iter().zip([7.0, 2.0, 2.0, -3.0]) {
        assert_eq!(hit.camera, camera);
        assert_hit(hit, 1000.0 - z, DVec3::new(1.0, 2.0, z), DVec3::Z);
    }
}

#[test]
fn a_3d_hit_is_the_point_where_the_ray_enters_the_collider() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut random = |extent: f32| Vec3::from_array(rng.random()) * extent - extent / 2.0;
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    let balls: Vec<_> = (0..100)
        .map(|_| {
            let (center, scale) = (random(20.0), random(1.0).x.abs() + 0.3);
            let pose = Transform::from_translation(center).with_scale(Vec3::splat(scale));
            let entity = app.world_mut().spawn((Collider::sphere(2.0), pose)).id();
            (entity, center.as_dvec3(), 2.0 * f64::from(scale))
        })
        .collect();

    let mut total = 0;
    for _ in 0..200 {
        let (origin, target) = (random(30.0), random(10.0));
        let ray = Ray3d::new(origin, Dir3::new(target - origin).unwrap());
        let (origin, direction) = (origin.as_dvec3(), ray.direction.as_dvec3().normalize());
        // A hit at t satisfies |o + t d - c| = r. A ball that contains the ray's origin is not hit.
        let mut expected: Vec<_> = balls
            .iter()
            .filter_map(|(entity, center, radius)| {
                let middle = (center - origin).dot(direction);
                let across = (origin + direction * middle).distance(*center);
                let is_around = origin.distance(*center) < *radius;
                let t = middle - (radius * radius - across * across).sqrt();
                (across < *radius && t >= 0.0 && !is_around).then(|| {
                    let point = origin + direction * t;
                    (t, *entity, point, (point - center) / radius)
                })
            })
            .collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));

        let found = hits(&mut app, camera, ray);
        assert_eq!(found.len(), expected.len());
        for ((entity, hit), (depth, other, point, normal)) in found.iter().zip(expected) {
            assert_eq!(*entity, other);
            let error = hit.position.unwrap().as_dvec3().distance(point);
            // For a grazing ray, the error of the point is the square root of the rounding.
            assert!(error < 1e-2 && (f64::from(hit.depth) - depth).abs() < 1e-2);
            if normal.dot(-direction) > 0.3 {
                assert_hit(hit, depth, point, normal);
            }
        }
        total += found.len();
    }
    assert!(total > 200, "{total} hits");
}

#[test]
fn a_2d_collider_is_hit_in_its_own_plane_from_any_direction() {
    let mut rng = StdRng::seed_from_u64(2);
    let mut random = |extent: f32| Vec3::from_array(rng.random()) * extent - extent / 2.0;
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    // The parent moves and scales the plane, too.
    let parent = Transform::from_xyz(1.0, 2.0, 3.0).with_scale(Vec3::splat(2.0));
    let parent = app.world_mut().spawn(parent).id();
    let discs: Vec<_> = (0..50)
        .map(|_| {
            let center = random(10.0);
            let pose = Transform::from_translation(center);
            let disc = (Collider::circle(1.5), pose, ChildOf(parent));
            let center = DVec3::new(1.0, 2.0, 3.0) + 2.0 * center.as_dvec3();
            (app.world_mut().spawn(disc).id(), center)
        })
        .collect();

    let mut total = 0;
    for _ in 0..200 {
        let (origin, target) = (random(60.0), random(20.0));
        let ray = Ray3d::new(origin, Dir3::new(target - origin).unwrap());
        let (origin, direction) = (origin.as_dvec3(), ray.direction.as_dvec3());
        let mut expected: Vec<_> = discs
            .iter()
            .filter_map(|(entity, center)| {
                let t = (center.z - origin.z) / direction.z;
                let point = origin + direction * t;
                (t >= 0.0 && point.distance(*center) <= 3.0).then_some((t, *entity, point))
            })
            .collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));

        let found = hits(&mut app, camera, ray);
        assert_eq!(found.len(), expected.len());
        for ((entity, hit), (depth, other, point)) in found.iter().zip(expected) {
            assert_eq!(*entity, other);
            assert_hit(hit, depth, point, DVec3::Z * -direction.z.signum());
        }
        total += found.len();
    }
    assert!(total > 200, "{total} hits");
}

/// A ball, a disc or the half-space below a plane, in 2D or 3D.
#[derive(Clone, Copy)]
enum Solid {
    Ball(f32),
    Disc(f32),
    Below(bool),
}

impl Solid {
    fn collider(self) -> Collider {
        match self {
            Self::Ball(radius) => Collider::sphere(radius),
            Self::Disc(radius) => Collider::circle(radius),
            Self::Below(true) => Collider::half_space(Vec2::Y),
            Self::Below(false) => Collider::half_space(Vec3::Y),
        }
    }

    /// Returns a number that is positive if a ray hits the solid at `center`, and negative if the
    /// ray misses. The number is near 0 if the ray nearly touches the rim.
    fn hits(self, center: DVec3, ray: &Ray3d) -> f64 {
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3().normalize());
        let at_plane = (center.z - origin.z) / direction.z;
        let crossing = origin + direction * at_plane;
        match self {
            Self::Ball(radius) => {
                let middle = (center - origin).dot(direction);
                let across = (origin + direction * middle).distance(center);
                let outside = origin.distance(center) - f64::from(radius);
                (f64::from(radius) - across).min(outside).min(middle)
            }
            Self::Disc(radius) => at_plane.min(f64::from(radius) - crossing.distance(center)),
            Self::Below(true) => at_plane.min(center.y - crossing.y),
            Self::Below(false) => (origin.y - center.y).min(-direction.y),
        }
    }
}

/// The colliders move, change their shapes, appear and disappear, and some are disabled for a
/// while.
#[test]
fn every_frame_hits_exactly_what_is_drawn_under_the_pointer() {
    let mut rng = StdRng::seed_from_u64(3);
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    let mut bodies: Vec<(Entity, Solid, bool)> = Vec::new();
    let mut judged = [0; 2];
    for _ in 0..300 {
        for _ in 0..rng.random_range(0..4) {
            let solid = match rng.random_range(0..50) {
                0 => Solid::Below(true),
                1 => Solid::Below(false),
                2..25 => Solid::Ball(rng.random_range(0.5..3.0)),
                _ => Solid::Disc(rng.random_range(0.5..3.0)),
            };
            let mut point = || rng.random_range(-15.0..15.0);
            let mut center = Vec3::new(point(), point(), point());
            if let Solid::Below(_) = solid {
                center.y = -14.0;
            }
            let pose = Transform::from_translation(center);
            let is_new = bodies.len() < 40 || rng.random_bool(0.2);
            if is_new {
                let entity = app.world_mut().spawn((solid.collider(), pose)).id();
                bodies.push((entity, solid, true));
                continue;
            }
            let index = rng.random_range(0..bodies.len());
            let (entity, known, is_enabled) = &mut bodies[index];
            let mut body = app.world_mut().entity_mut(*entity);
            match rng.random_range(0..4) {
                0 => {
                    (*known, *is_enabled) = (solid, true);
                    body.insert((solid.collider(), pose));
                    body.remove::<bevy::ecs::entity_disabling::Disabled>();
                }
                1 => {
                    body.insert(bevy::ecs::entity_disabling::Disabled);
                    *is_enabled = false;
                }
                2 => {
                    body.despawn();
                    bodies.swap_remove(index);
                }
                _ => {
                    let center = center.with_y(body.get::<Transform>().unwrap().translation.y);
                    *body.get_mut::<Transform>().unwrap() = Transform::from_translation(center);
                }
            }
        }
        let mut point =
            |extent: f32| Vec3::from_array([(); 3].map(|()| rng.random_range(-extent..extent)));
        // The ray comes from afar, begins among the bodies, or leads straight down.
        let (origin, target) = match judged[0] % 3 {
            0 => (point(60.0), point(15.0)),
            1 => (point(15.0), point(15.0)),
            _ => {
                let target = point(15.0);
                (target.with_z(50.0), target)
            }
        };
        let ray = Ray3d::new(origin, Dir3::new(target - origin).unwrap());
        let found = entities(&mut app, camera, ray);
        for (entity, solid, is_enabled) in &bodies {
            let center = app.world().get::<Transform>(*entity).unwrap().translation;
            let amount = solid.hits(center.as_dvec3(), &ray);
            // If the ray nearly touches the rim, rounding decides the result.
            if amount.abs() > 1e-3 {
                let expected = *is_enabled && amount > 0.0;
                assert_eq!(found.contains(entity), expected, "{amount}");
                judged[usize::from(expected)] += 1;
            }
        }
        let mut unique = found.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), found.len());
    }
    assert!(judged[0] > 5000 && judged[1] > 150, "{judged:?}");
}

#[test]
fn a_ray_along_the_plane_of_a_2d_collider_misses_it() {
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    app.world_mut().spawn(Collider::circle(1.0));
    for z in [0.0, 1.0] {
        let ray = Ray3d::new(Vec3::new(-5.0, 0.0, z), Dir3::X);
        assert!(hits(&mut app, camera, ray).is_empty());
    }
    let tilted = Ray3d::new(
        Vec3::new(-5.0, 0.0, 1.0),
        Dir3::from_xyz(5.0, 0.0, -1.0).unwrap(),
    );
    assert_eq!(hits(&mut app, camera, tilted).len(), 1);
}

fn spawn(app: &mut App, bundle: impl Bundle) -> Entity {
    app.world_mut().spawn((Collider::circle(1.0), bundle)).id()
}

#[test]
fn only_what_the_camera_and_the_components_select_is_hit() {
    const UNIT: u32 = 1 << 3;
    let ray = from_above(Vec2::ZERO);
    let mut app = app();
    let plain = spawn(&mut app, ());
    let sensor = spawn(&mut app, Sensor);
    let unit = spawn(&mut app, CollisionLayers::new(UNIT, UNIT));
    let far_layer = spawn(&mut app, RenderLayers::layer(2));
    let shown = spawn(&mut app, InheritedVisibility::VISIBLE);
    let marked = spawn(&mut app, Pickable::default());
    // A collider that blocks the colliders behind it has to be reported.
    let blocks_silently = Pickable {
        is_hoverable: false,
        ..default()
    };
    let silent = spawn(&mut app, blocks_silently);
    spawn(&mut app, Pickable::IGNORE);
    spawn(&mut app, InheritedVisibility::HIDDEN);
    spawn(&mut app, bevy::ecs::entity_disabling::Disabled);
    spawn(&mut app, Transform::from_xyz(f32::NAN, 0.0, 0.0));

    let camera = spawn_camera(&mut app, ());
    let check = |app: &mut App, camera, expected: &[Entity]| {
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(entities(app, camera, ray), expected);
    };
    check(&mut app, camera, &[plain, unit, shown, marked, silent]);

    let sensors = HeadbuttPickingCamera {
        sensors: true,
        ..default()
    };
    let with_sensors = spawn_camera(&mut app, sensors);
    check(
        &mut app,
        with_sensors,
        &[plain, sensor, unit, shown, marked, silent],
    );

    let layers = CollisionLayers::new(UNIT, u32::MAX);
    let of_units = spawn_camera(
        &mut app,
        HeadbuttPickingCamera {
            layers,
            ..default()
        },
    );
    check(&mut app, of_units, &[plain, unit, shown, marked, silent]);
    let layers = CollisionLayers::new(u32::MAX ^ UNIT, u32::MAX);
    let of_others = spawn_camera(
        &mut app,
        HeadbuttPickingCamera {
            layers,
            ..default()
        },
    );
    check(&mut app, of_others, &[plain, shown, marked, silent]);

    let far = spawn_camera(&mut app, RenderLayers::layer(2));
    check(&mut app, far, &[far_layer]);

    app.insert_resource(HeadbuttPickingSettings {
        require_markers: true,
    });
    check(&mut app, camera, &[]);
    let marked_camera = spawn_camera(&mut app, HeadbuttPickingCamera::default());
    check(&mut app, marked_camera, &[marked, silent]);
}

#[test]
fn picking_uses_the_drawn_pose() {
    let mut app = app();
    app.add_plugins(HeadbuttPlugin::default());
    let camera = spawn_camera(&mut app, ());
    let ball = app.world_mut().spawn(Collider::circle(1.0)).id();
    // This system smooths the motion between ticks, as a game would.
    app.add_systems(
        PostUpdate,
        (|mut poses: Query<&mut GlobalTransform, With<Collider>>| {
            for mut pose in &mut poses {
                *pose = GlobalTransform::from_xyz(30.0, 0.0, 0.0);
            }
        })
        .after(TransformSystems::Propagate),
    );
    assert_eq!(
        entities(&mut app, camera, from_above(Vec2::X * 30.5)),
        [ball]
    );
    assert!(entities(&mut app, camera, from_above(Vec2::ZERO)).is_empty());
}

#[test]
fn a_collider_around_the_camera_is_not_hit() {
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    app.world_mut().spawn(Collider::sphere(2.0));
    let pose = Transform::from_xyz(0.0, 0.0, -10.0);
    let cube = app
        .world_mut()
        .spawn((Collider::cuboid(2.0, 2.0, 2.0), pose))
        .id();
    let ray = Ray3d::new(Vec3::Z, Dir3::NEG_Z);
    let found = hits(&mut app, camera, ray);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, cube);
    assert_hit(&found[0].1, 10.0, DVec3::Z * -9.0, DVec3::Z);
}

#[test]
fn the_hit_names_the_part_of_a_compound() {
    let mut app = app();
    let camera = spawn_camera(&mut app, ());
    let parts = [-3.0, 3.0].map(|x| (Isometry3d::from_xyz(x, 0.0, 0.0), Collider::sphere(1.0)));
    app.world_mut().spawn(Collider::compound(parts));
    for (x, part) in [(-3.0, 0), (3.0, 1)] {
        let found = hits(&mut app, camera, from_above(Vec2::X * x));
        let hit = found[0].1.extra_as::<RayHit<Vec3>>().unwrap();
        assert_eq!((hit.part, hit.distance), (part, 999.0));
    }
}

#[test]
fn a_press_reaches_the_collider_in_front_and_no_other() {
    let size = UVec2::new(800, 600);
    let mut app = app();
    // The camera at (100, 50) draws one unit of the world as one pixel.
    let mut projection = OrthographicProjection::default_2d();
    projection.update(800.0, 600.0);
    let camera = Camera {
        order: 3,
        computed: ComputedCameraValues {
            clip_from_view: projection.get_clip_from_view(),
            target_info: Some(RenderTargetInfo {
                physical_size: size,
                scale_factor: 1.0,
            }),
            ..default()
        },
        ..default()
    };
    let texture = ManualTextureViewHandle(0);
    // Bevy picks only if there is a window.
    app.world_mut().spawn(PrimaryWindow);
    app.world_mut().spawn((
        camera,
        RenderTarget::TextureView(texture),
        Transform::from_xyz(100.0, 50.0, 0.0),
    ));
    let pixel = DVec2::new(500.0, 200.0);
    let location = Location {
        target: NormalizedRenderTarget::TextureView(texture),
        position: pixel.as_vec2(),
    };
    // The pixel (400, 300) is the center, and y points down.
    let point = DVec2::new(100.0 + pixel.x - 400.0, 50.0 + 300.0 - pixel.y);
    app.world_mut()
        .spawn((PointerId::Mouse, PointerLocation::new(location.clone())));
    let [front, back] = [5.0, 1.0].map(|z| {
        let pose = Transform::from_translation(point.as_vec2().extend(z));
        app.world_mut()
            .spawn((Collider::rectangle(4.0, 4.0), pose))
            .id()
    });

    // The first frame computes the poses.
    app.update();
    let press = PointerAction::Press(PointerButton::Primary);
    app.world_mut()
        .write_message(PointerInput::new(PointerId::Mouse, location, press));
    app.update();
    let state = |entity| app.world().get::<PickingInteraction>(entity).copied();
    assert_eq!(state(front), Some(PickingInteraction::Pressed));
    assert_eq!(state(back), None);

    let mut messages = app.world_mut().resource_mut::<Messages<PointerHits>>();
    let hits = messages.drain().last().unwrap();
    assert_eq!((hits.pointer, hits.order), (PointerId::Mouse, 3.0));
    // The near plane of a 2D camera is at z = 1000.
    assert_hit(&hits.picks[0].1, 995.0, point.extend(5.0), DVec3::Z);
}

#[test]
fn without_bevys_part_of_picking_nothing_happens() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPickingPlugin));
    app.world_mut().spawn(Collider::circle(1.0));
    app.update();
    assert!(app.world().resource::<Messages<PointerHits>>().is_empty());
}
