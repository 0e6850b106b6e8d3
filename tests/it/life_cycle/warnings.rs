//! Invalid shapes and poses: the collider touches nothing, causes one warning, and affects no other
//! collider.

use std::{
    f32::consts::FRAC_PI_4,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::support::{
    Dimension, Record, Touching, app, frame, tick, transform, warnings::Warnings, watch,
};
use bevy::{
    ecs::entity_disabling::Disabled,
    math::{DVec2, DVec3},
    prelude::*,
};
use headbutt::{Support, prelude::*};

/// Custom shapes with a radius, whose support function returns the same point for every direction.
struct Plane(DVec2, f64);
struct Solid(DVec3, f64);

impl Support for Plane {
    type Vector = Vec2;

    fn support(&self, _: DVec2) -> DVec2 {
        self.0
    }

    fn radius(&self) -> f64 {
        self.1
    }
}

impl Support for Solid {
    type Vector = Vec3;

    fn support(&self, _: DVec3) -> DVec3 {
        self.0
    }

    fn radius(&self) -> f64 {
        self.1
    }
}

/// Returns a custom collider that has a single point at `x`, and a radius.
fn custom(dimension: Dimension, x: f64, radius: f64) -> Collider {
    match dimension {
        Dimension::D2 => Collider::custom(Plane(DVec2::new(x, 0.0), radius)),
        Dimension::D3 => Collider::custom(Solid(DVec3::new(x, 0.0, 0.0), radius)),
    }
}

/// Custom shapes whose support function returns any value for a direction and the number of
/// evaluations so far.
struct Liar {
    answer: fn(DVec3, u32) -> DVec3,
    asked: AtomicU32,
}

struct PlaneLiar(Liar);
struct SolidLiar(Liar);

impl Liar {
    fn collider(dimension: Dimension, answer: fn(DVec3, u32) -> DVec3) -> Collider {
        let liar = Self {
            answer,
            asked: AtomicU32::new(0),
        };
        match dimension {
            Dimension::D2 => Collider::custom(PlaneLiar(liar)),
            Dimension::D3 => Collider::custom(SolidLiar(liar)),
        }
    }

    fn answer(&self, direction: DVec3) -> DVec3 {
        (self.answer)(direction, self.asked.fetch_add(1, Ordering::Relaxed))
    }
}

impl Support for PlaneLiar {
    type Vector = Vec2;

    fn support(&self, direction: DVec2) -> DVec2 {
        self.0.answer(direction.extend(0.0)).truncate()
    }
}

impl Support for SolidLiar {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        self.0.answer(direction)
    }
}

/// A change that makes an entity invalid.
type Fault = fn(&mut World, Entity, Dimension);

/// Returns a fault for each reason why a pose is invalid.
fn bad_poses() -> Vec<Fault> {
    vec![
        |world, entity, _| transform(world, entity).translation.x = f32::NAN,
        |world, entity, _| transform(world, entity).translation.y = f32::INFINITY,
        |world, entity, _| transform(world, entity).translation = Vec3::NEG_INFINITY,
        |world, entity, _| transform(world, entity).rotation = Quat::NAN,
        |world, entity, _| transform(world, entity).rotation.z = f32::INFINITY,
        |world, entity, _| {
            transform(world, entity).rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        },
        |world, entity, _| transform(world, entity).scale.y = f32::NAN,
        |world, entity, _| transform(world, entity).scale = Vec3::INFINITY,
        |world, entity, _| transform(world, entity).scale.x = f32::NEG_INFINITY,
    ]
}

/// Returns a fault for each reason why a shape is invalid.
fn bad_shapes() -> Vec<Fault> {
    fn insert(world: &mut World, entity: Entity, collider: impl Into<Collider>) {
        world.entity_mut(entity).insert(collider.into());
    }

    vec![
        |world, entity, dimension| insert(world, entity, dimension.ball(f32::NAN)),
        |world, entity, dimension| insert(world, entity, dimension.ball(f32::INFINITY)),
        |world, entity, dimension| insert(world, entity, dimension.ball(-1.0)),
        |world, entity, dimension| insert(world, entity, dimension.block(f32::NAN)),
        |world, entity, dimension| insert(world, entity, dimension.block(-1.0)),
        |world, entity, dimension| match dimension {
            Dimension::D2 => insert(world, entity, Capsule2d::new(f32::NAN, 1.0)),
            Dimension::D3 => insert(world, entity, Capsule3d::new(1.0, -1.0)),
        },
        |world, entity, dimension| match dimension {
            Dimension::D2 => insert(world, entity, Segment2d::new(Vec2::NAN, Vec2::X)),
            Dimension::D3 => insert(world, entity, Segment3d::new(Vec3::X, Vec3::INFINITY)),
        },
        |world, entity, dimension| insert(world, entity, custom(dimension, f64::NAN, 1.0)),
        |world, entity, dimension| insert(world, entity, custom(dimension, f64::INFINITY, 0.0)),
        |world, entity, dimension| insert(world, entity, custom(dimension, 0.0, f64::NAN)),
        |world, entity, dimension| insert(world, entity, custom(dimension, 0.0, f64::INFINITY)),
        |world, entity, dimension| insert(world, entity, custom(dimension, 0.0, -1.0)),
        // This support function returns the nearest point instead of the farthest point.
        |world, entity, dimension| {
            let inside_out = Liar::collider(dimension, |direction, _| -0.5 * direction.normalize());
            insert(world, entity, inside_out);
        },
        |world, entity, dimension| match dimension {
            Dimension::D2 => {
                let normal = Dir2::from_angle(f32::NAN);
                insert(world, entity, Plane2d { normal });
            }
            Dimension::D3 => {
                insert(world, entity, Extrusion::new(Plane2d::default(), 1.0));
            }
        },
        |world, entity, dimension| {
            insert(world, entity, half_space(dimension));
            transform(world, entity).scale.x = 0.0;
        },
        |world, entity, dimension| {
            insert(world, entity, half_space(dimension).rounded(0.5));
            transform(world, entity).scale = Vec3::ZERO;
        },
        // A margin does not hide an invalid shape.
        |world, entity, dimension| insert(world, entity, custom(dimension, 0.0, -1.0).rounded(2.0)),
        |world, entity, dimension| insert(world, entity, dimension.ball(-1.0).rounded(2.0)),
        |world, entity, dimension| insert(world, entity, dimension.ball(1.0).rounded(-0.5)),
        |world, entity, dimension| insert(world, entity, dimension.block(1.0).rounded(f32::NAN)),
    ]
}

fn half_space(dimension: Dimension) -> Collider {
    match dimension {
        Dimension::D2 => Plane2d::default().into(),
        Dimension::D3 => InfinitePlane3d::default().into(),
    }
}

const NAME: &str = "the one at fault";

/// Returns two colliders that touch, and a third, named collider between them that is invalid.
fn with_fault(dimension: Dimension, fault: Fault) -> (Touching, Entity) {
    let mut touching = Touching::new(app(), dimension);
    let pose = Transform::from_xyz(0.75, 0.0, 0.0);
    let world = touching.world();
    let entity = world
        .spawn((dimension.ball(0.5), pose, Name::new(NAME)))
        .id();
    watch(world, entity);
    fault(world, entity, dimension);
    (touching, entity)
}

#[test]
fn an_invalid_collider_causes_one_warning_and_affects_no_other() {
    let warnings = Warnings::listen();
    for fault in bad_poses().into_iter().chain(bad_shapes()) {
        for dimension in Dimension::BOTH {
            let (mut touching, entity) = with_fault(dimension, fault);
            // `begin` and `go_on` assert one message per tick, from the two valid colliders.
            touching.begin();
            warnings.assert_one_naming(entity, NAME);
            for _ in 0..5 {
                touching.go_on();
            }
            frame(&mut touching.app, 5);
            let [ball, _] = touching.sides;
            touching.world().despawn(ball);
            touching.end(EndReason::Despawned);
            warnings.assert_none();
        }
    }
}

#[test]
fn an_invalid_collider_among_many_changes_no_event() {
    // Balls move back and forth, and collide.
    let run = |dimension: Dimension, fault: Option<Fault>| {
        let mut app = app();
        let world = app.world_mut();
        let balls: Vec<_> = (0..8)
            .map(|index| {
                let pose = Transform::from_xyz(1.25 * index as f32, 0.0, 0.0);
                world.spawn((dimension.ball(0.75), pose)).id()
            })
            .collect();
        if let Some(fault) = fault {
            // There are several invalid colliders, which could also touch each other.
            for _ in 0..3 {
                let pose = Transform::from_xyz(4.0, 0.0, 0.0);
                let entity = world.spawn((dimension.ball(20.0), pose)).id();
                fault(world, entity, dimension);
            }
        }
        let mut messages = Vec::new();
        for step in 0..40 {
            for (index, ball) in balls.iter().enumerate() {
                let phase = (step * (index + 3)) as f32 * 0.2;
                transform(app.world_mut(), *ball).translation.y = phase.sin();
            }
            messages.extend(tick(&mut app).messages);
        }
        messages
    };
    for dimension in Dimension::BOTH {
        let expected = run(dimension, None);
        assert!(expected.iter().any(CollisionEvent::started));
        assert!(expected.iter().any(CollisionEvent::ended));
        for fault in bad_poses().into_iter().chain(bad_shapes()) {
            assert_eq!(run(dimension, Some(fault)), expected);
        }
    }
}

#[test]
fn a_repaired_collider_collides_again_and_a_new_fault_causes_a_warning() {
    let warnings = Warnings::listen();
    for fault in bad_poses().into_iter().chain(bad_shapes()) {
        for dimension in Dimension::BOTH {
            let (mut touching, entity) = with_fault(dimension, fault);
            let mut others = touching.sides;
            others.sort();
            assert_eq!(tick(&mut touching.app).at(entity), []);
            warnings.assert_one_naming(entity, NAME);
            for _ in 0..3 {
                let pose = Transform::from_xyz(0.75, 0.0, 0.0);
                let repaired = (dimension.ball(0.5), pose);
                touching.world().entity_mut(entity).insert(repaired);
                let record = frame(&mut touching.app, 2);
                let met = phases_at(&record, entity);
                assert_eq!(met, others.map(|other| (other, CollisionPhase::Started)));
                warnings.assert_none();

                fault(touching.world(), entity, dimension);
                let record = tick(&mut touching.app);
                let left = phases_at(&record, entity);
                let invalid = CollisionPhase::Ended(EndReason::Invalid);
                assert_eq!(left, others.map(|other| (other, invalid)));
                assert_eq!(tick(&mut touching.app).at(entity), []);
                warnings.assert_one_naming(entity, NAME);
            }
        }
    }
}

/// Returns the phases that observers saw at an entity, sorted by the other entity.
fn phases_at(record: &Record, entity: Entity) -> Vec<(Entity, CollisionPhase)> {
    let seen = record.at(entity);
    let mut phases: Vec<_> = seen.iter().map(|hit| (hit.other, hit.phase)).collect();
    phases.sort_by_key(|(other, _)| *other);
    phases
}

#[test]
fn an_invalid_parent_causes_one_warning_for_each_child_collider() {
    let warnings = Warnings::listen();
    for fault in bad_poses() {
        for dimension in Dimension::BOTH {
            let mut touching = Touching::new(app(), dimension);
            let world = touching.world();
            let parent = world.spawn(Transform::IDENTITY).id();
            let children = ["one", "two"].map(|name| {
                let child = (dimension.ball(0.5), Name::new(name), ChildOf(parent));
                world.spawn(child).id()
            });
            fault(world, parent, dimension);
            touching.begin();
            touching.go_on();
            let mut lines = warnings.take();
            lines.sort();
            assert_eq!(lines.len(), 2, "{lines:#?}");
            for (line, (child, name)) in lines.iter().zip(children.iter().zip(["one", "two"])) {
                assert!(
                    line.contains(&child.to_string()) && line.contains(name),
                    "{line}"
                );
            }
        }
    }
}

#[test]
fn a_collider_without_a_transform_causes_a_warning() {
    let warnings = Warnings::listen();
    for dimension in Dimension::BOTH {
        let (mut touching, entity) = with_fault(dimension, |world, entity, _| {
            world.entity_mut(entity).remove::<Transform>();
        });
        touching.begin();
        touching.go_on();
        warnings.assert_one_naming(entity, NAME);
        let pose = Transform::from_xyz(0.75, 0.0, 0.0);
        touching.world().entity_mut(entity).insert(pose);
        assert_eq!(tick(&mut touching.app).at(entity).len(), 2);
        warnings.assert_none();
    }
}

#[test]
fn a_warning_about_an_unnamed_entity_contains_its_id() {
    let warnings = Warnings::listen();
    let mut app = app();
    let collider = Collider::from(Circle::new(f32::NAN));
    let entity = app.world_mut().spawn(collider).id();
    tick(&mut app);
    warnings.assert_one_naming(entity, "");
}

#[test]
fn a_warning_states_the_reason() {
    let warnings = Warnings::listen();
    let mut app = app();
    let nowhere = || Transform::from_translation(Vec3::NAN);
    let faults = [
        (
            app.world_mut()
                .spawn(Collider::from(Circle::new(f32::NAN)))
                .id(),
            "radius must be finite",
        ),
        (
            app.world_mut()
                .spawn(Collider::from(Sphere::new(-1.0)))
                .id(),
            "radius must not be negative",
        ),
        (
            app.world_mut()
                .spawn((Collider::from(Circle::new(1.0)), nowhere()))
                .id(),
            "pose is not finite",
        ),
        (
            app.world_mut()
                .spawn((Collider::from(Sphere::new(1.0)), nowhere()))
                .id(),
            "pose is not finite",
        ),
        (
            app.world_mut()
                .spawn(custom(Dimension::D3, f64::NAN, 1.0))
                .id(),
            "bounds are not finite",
        ),
    ];
    tick(&mut app);
    let lines = warnings.take();
    assert_eq!(lines.len(), faults.len(), "{lines:#?}");
    for (entity, reason) in faults {
        let named = |line: &&String| line.contains(&format!(" {entity} "));
        let line = lines.iter().find(named).expect("one for each");
        assert!(line.contains(reason), "{line}");
    }
}

#[test]
fn the_default_collider_is_inert_without_a_warning() {
    let warnings = Warnings::listen();
    for dimension in Dimension::BOTH {
        let (mut touching, entity) = with_fault(dimension, |world, entity, _| {
            world.entity_mut(entity).insert(Collider::default());
        });
        let collider = touching.world().get::<Collider>(entity);
        assert!(collider.is_some_and(Collider::is_inert));
        touching.begin();
        // A non-finite pose gives no warning, either.
        transform(touching.world(), entity).translation.x = f32::NAN;
        touching.go_on();
        touching.world().entity_mut(entity).remove::<Transform>();
        touching.go_on();
        warnings.assert_none();
    }
}

#[test]
fn a_disabled_collider_causes_no_warning() {
    let warnings = Warnings::listen();
    for fault in bad_poses().into_iter().chain(bad_shapes()) {
        for dimension in Dimension::BOTH {
            let (mut touching, entity) = with_fault(dimension, fault);
            touching.world().entity_mut(entity).insert(Disabled);
            touching.begin();
            warnings.assert_none();
        }
    }
}

#[test]
fn a_2d_collider_with_a_non_finite_z_is_valid() {
    let warnings = Warnings::listen();
    for z in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        let mut touching = Touching::new(app(), Dimension::D2);
        for side in touching.sides {
            transform(touching.world(), side).translation.z = z;
        }
        touching.begin();
        warnings.assert_none();
    }
}

#[test]
fn a_wrong_support_function_affects_no_other() {
    let liars: [fn(DVec3, u32) -> DVec3; 7] = [
        // This function returns an arbitrary point for each direction.
        |direction, _| {
            let bits = direction.x.to_bits() ^ direction.y.to_bits().rotate_left(17);
            let noise = |shift: u32| (bits.rotate_left(shift) % 1009) as f64 / 1009.0 - 0.5;
            DVec3::new(noise(3), noise(11), noise(29))
        },
        // This function returns a different point in each evaluation.
        |_, call| {
            let angle = f64::from(call);
            DVec3::new(angle.sin(), (1.7 * angle).cos(), (2.3 * angle).sin())
        },
        |direction, call| match call % 3 {
            0 => DVec3::NAN,
            _ => direction.normalize(),
        },
        // These functions return NaN or a wrong point, except along the axes, which bound the
        // shape.
        |direction, _| match direction.abs().max_element() == direction.length() {
            true => 0.5 * direction.normalize(),
            false => DVec3::NAN,
        },
        |direction, _| match direction.abs().max_element() == direction.length() {
            true => direction.normalize(),
            false => 1e300 * direction.normalize(),
        },
        // This function returns a point with the right length in a wrong direction.
        |direction, _| direction.normalize().zxy(),
        // This shape is concave.
        |direction, _| {
            let farthest = direction.abs().max_position();
            DVec3::AXES[farthest] * 0.3 * (1.0 + direction.normalize()[farthest])
        },
    ];
    let warnings = Warnings::listen();
    for answer in liars {
        for dimension in Dimension::BOTH {
            let (mut touching, entity) = with_fault(dimension, |world, entity, _| {
                let turned = Transform::from_xyz(0.75, 0.0, 0.0)
                    .with_rotation(Quat::from_rotation_z(FRAC_PI_4));
                world.entity_mut(entity).insert(turned);
            });
            let liar = Liar::collider(dimension, answer);
            touching.world().entity_mut(entity).insert(liar);
            let [ball, block] = touching.sides;
            for step in 0..5 {
                let record = tick(&mut touching.app);
                let between = record.messages.iter().filter_map(|hit| hit.seen_from(ball));
                let between: Vec<_> = between.filter(|hit| hit.other == block).collect();
                assert_eq!(between.len(), 1);
                assert_eq!((between[0].depth, between[0].started()), (0.5, step == 0));
                for hit in record.messages {
                    assert!(
                        hit.normal.is_normalized() && hit.depth.is_finite(),
                        "{hit:?}"
                    );
                }
            }
            // Several warnings are allowed, because the collider may have been valid between them.
            for line in warnings.take() {
                assert!(line.contains(&entity.to_string()), "{line}");
            }
        }
    }
}

#[test]
fn a_support_function_that_is_zero_everywhere_is_a_point() {
    for dimension in Dimension::BOTH {
        let report = |collider: Collider| {
            let (mut touching, entity) = with_fault(dimension, |_, _, _| {});
            touching.world().entity_mut(entity).insert(collider);
            tick(&mut touching.app).messages
        };
        let point = match dimension {
            Dimension::D2 => Collider::try_convex_hull([Vec2::ZERO]),
            Dimension::D3 => Collider::try_convex_hull([Vec3::ZERO]),
        };
        let messages = report(Liar::collider(dimension, |_, _| DVec3::ZERO));
        assert_eq!(messages.len(), 3);
        assert_eq!(messages, report(point.expect("a point")));
    }
}

#[test]
fn parents_in_a_loop_do_not_hang_and_cause_one_warning() {
    let warnings = Warnings::listen();
    for dimension in Dimension::BOTH {
        let (mut touching, entity) = with_fault(dimension, |world, entity, _| {
            let parent = world.spawn(Transform::IDENTITY).id();
            world.entity_mut(entity).insert(ChildOf(parent));
            world.entity_mut(parent).insert(ChildOf(entity));
        });
        touching.begin();
        touching.go_on();
        warnings.assert_one_naming(entity, NAME);
        touching.world().entity_mut(entity).remove::<ChildOf>();
        assert_eq!(tick(&mut touching.app).at(entity).len(), 2);
        warnings.assert_none();
    }
}

#[test]
fn huge_and_tiny_scales_and_positions_affect_no_other() {
    let sizes = [
        0.0,
        -0.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE,
        1e-30,
        1e-20,
        1e-10,
        1e10,
        1e20,
        1e30,
        f32::MAX,
        -1e-20,
        -1e20,
        f32::MIN,
    ];
    for dimension in Dimension::BOTH {
        let stretches = [Vec3::ONE, Vec3::new(1.0, 1e-3, 1.0), Vec3::Y];
        for (size, stretch) in sizes
            .iter()
            .flat_map(|size| stretches.map(|stretch| (*size, stretch)))
        {
            for far in [false, true] {
                let (mut touching, entity) = with_fault(dimension, |_, _, _| {});
                let world = touching.world();
                // A twin makes two colliders of this size touch. The other colliders are a child
                // with squared scale and position, and a child of this child.
                let mut pose = Transform::from_scale(size * stretch);
                pose.rotation = Quat::from_rotation_z(1.0);
                if far {
                    pose.translation = Vec3::splat(size);
                }
                world.entity_mut(entity).insert(pose);
                let twin = world.spawn((dimension.block(1.0), pose)).id();
                let child = (dimension.ball(1.0), pose, ChildOf(twin));
                let child = world.spawn(child).id();
                world.spawn((dimension.block(1.0), pose, ChildOf(child)));

                let [ball, block] = touching.sides;
                for step in 0..3 {
                    let messages = tick(&mut touching.app).messages;
                    let between = messages.iter().filter_map(|hit| hit.seen_from(ball));
                    let mut between = between.filter(|hit| hit.other == block);
                    let hit = between.next().expect("the two touch");
                    assert_eq!((hit.normal, hit.depth), (Vec3::X, 0.5));
                    assert_eq!(hit.started(), step == 0);
                    for hit in messages {
                        let unit = (hit.normal.length() - 1.0).abs() < 1e-6;
                        let defined = hit.depth >= 0.0 && hit.minimum_translation().is_finite();
                        assert!(unit && defined, "{hit:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn two_colliders_of_the_same_extreme_size_collide_as_usual() {
    // In any unit, two balls of radius 1 whose centers are 0.5 apart overlap by 1.5.
    for dimension in Dimension::BOTH {
        for unit in [1e-20, 1e-10, 1e10, 1e20, 1e30] {
            let mut app = app();
            let [first, _] = [0.0, 0.5].map(|x| {
                let pose = Transform::from_xyz(x * unit, 0.0, 0.0).with_scale(Vec3::splat(unit));
                app.world_mut().spawn((dimension.ball(1.0), pose)).id()
            });
            let hit = tick(&mut app).only().seen_from(first).expect("it touches");
            assert!((hit.normal - Vec3::X).length() < 1e-6);
            assert!((hit.depth / unit - 1.5).abs() < 1e-6, "{hit:?}");
        }
    }
}

#[test]
fn no_depth_exceeds_f32() {
    // Each of the two lengths fits into f32, but their sum does not.
    for dimension in Dimension::BOTH {
        for size in [1.5e38, 2e38, 3e38, f32::MAX] {
            let mut touching = Touching::new(app(), dimension);
            for _ in 0..2 {
                let pose = Transform::from_scale(Vec3::splat(size));
                touching.world().spawn((dimension.ball(1.0), pose));
            }
            for hit in tick(&mut touching.app).messages {
                assert!(hit.depth.is_finite(), "{hit:?}");
                assert!(hit.minimum_translation().is_finite(), "{hit:?}");
            }
        }
    }
}

#[test]
fn a_half_space_under_any_parents_is_exact_or_invalid() {
    let warnings = Warnings::listen();
    let turn = |number: usize, from: f32| {
        let number = number as f32;
        Quat::from_euler(EulerRot::XYZ, from + number, 2.0 * number, 0.7 * from)
    };
    for number in 0..200 {
        for (thin, is_flat) in [(0.0, true), (1e-6, false), (-1e-6, false)] {
            let mut app = app();
            let world = app.world_mut();
            let mut scale = Vec3::new(3.0, 2.0, 0.5);
            scale[number % 3] = thin;
            let outer = Transform::from_rotation(turn(number, 1.0));
            let inner = Transform::from_rotation(turn(number, 2.0)).with_scale(scale);
            let own = Transform::from_rotation(turn(number, 3.0));
            let outer_parent = world.spawn(outer).id();
            let parent = world.spawn((inner, ChildOf(outer_parent))).id();
            let collider = half_space(Dimension::D3);
            let entity = world
                .spawn((collider, own, ChildOf(parent), Name::new(NAME)))
                .id();
            // The two balls are on opposite sides of the plane.
            let normal = outer.rotation.as_dquat()
                * inner.rotation.as_dquat()
                * (scale.as_dvec3().recip() * (own.rotation.as_dquat() * DVec3::Y));
            let normal = if is_flat {
                Vec3::X
            } else {
                normal.normalize().as_vec3()
            };
            for side in [1.0, -1.0] {
                let place = Transform::from_translation(normal * side * 5.0);
                world.spawn((Dimension::D3.ball(1.0), place));
            }
            let record = tick(&mut app);
            if is_flat {
                assert!(record.is_empty());
                warnings.assert_one_naming(entity, NAME);
                assert!(tick(&mut app).is_empty());
                warnings.assert_none();
            } else {
                let hit = record.only().seen_from(entity).expect("the half-space");
                crate::support::assert_near_vec(hit.normal, normal, 1.0);
                crate::support::assert_near(hit.depth, 6.0, 6.0);
                warnings.assert_none();
            }
        }
    }
}
