//! bevy_rapier, without anything to solve.
//!
//! * Colliders have no bodies. All pairs are tested (`ActiveCollisionTypes::all()`), and there is
//!   no work for islands, solver or continuous collision detection.
//! * Collision events are enabled for all objects, and the step is fixed. The system that writes
//!   bodies back is left out.
//! * *rapier* computes the contacts of this tick, with a prediction distance of 0.002.
//!   *rapier-default* keeps rapier's defaults. The prediction distance is 0.02, and a contact is
//!   not computed again until the two colliders have moved by up to 0.05 relative to each other. So
//!   its contacts may belong to an earlier pose. *rapier-sensor* has only sensors, which report
//!   pairs without contacts.

/// Defines the engine for one dimension. The 2D and 3D crates of rapier share their source, so the
/// names are the same.
macro_rules! rapier {
    ($module:ident, $crate_name:ident, $collider:expr) => {
        pub mod $module {
            use std::collections::BTreeSet;

            use bevy::{prelude::*, transform::StaticTransformOptimizations};
            use $crate_name::{prelude::*, rapier::prelude::IntegrationParameters};

            use crate::{
                engines::{Engine, number},
                exact::{Pair, pair},
                scene::Thing,
            };

            pub fn contacts() -> Engine {
                Engine {
                    name: "rapier",
                    plugins: |app, _| {
                        let exact = IntegrationParameters {
                            normalized_contact_recycle_distance: 0.0,
                            normalized_prediction_distance: 0.002,
                            ..default()
                        };
                        plugins(app, exact);
                    },
                    equip: |entity, thing| equip(entity, thing, ()),
                    pairs: contact_pairs,
                    contacts: true,
                }
            }

            pub fn defaults() -> Engine {
                Engine {
                    name: "rapier-default",
                    plugins: |app, _| plugins(app, default()),
                    ..contacts()
                }
            }

            pub fn sensors() -> Engine {
                Engine {
                    name: "rapier-sensor",
                    equip: |entity, thing| equip(entity, thing, Sensor),
                    pairs: sensor_pairs,
                    contacts: false,
                    ..contacts()
                }
            }

            fn plugins(app: &mut App, integration_parameters: IntegrationParameters) {
                let start = RapierContextInitialization::InitializeDefaultRapierContext {
                    integration_parameters,
                    rapier_configuration: RapierConfiguration::new(1.0),
                };
                let plugin = RapierPhysicsPlugin::<NoUserData>::default()
                    .with_custom_initialization(start)
                    .with_physics_sets_systems(
                        [PhysicsSet::SyncBackend, PhysicsSet::StepSimulation]
                            .into_iter()
                            .collect(),
                    );
                app.insert_resource(TimestepMode::Fixed {
                    dt: 1.0 / 60.0,
                    substeps: 1,
                })
                // rapier leaves the propagation of transforms to Bevy's `TransformPlugin`, which
                // this app lacks.
                .init_resource::<StaticTransformOptimizations>()
                .add_plugins(plugin);
            }

            fn equip(entity: &mut EntityWorldMut, thing: &Thing, sensor: impl Bundle) {
                let collider: Collider = $collider(&thing.form);
                entity.insert((
                    collider,
                    sensor,
                    ActiveCollisionTypes::all(),
                    ActiveEvents::COLLISION_EVENTS,
                ));
            }

            fn contact_pairs(world: &mut World) -> BTreeSet<Pair> {
                let mut contexts = world.query::<(
                    &RapierContextSimulation,
                    &RapierContextColliders,
                    &RapierRigidBodySet,
                )>();
                let (simulation, colliders, bodies) =
                    contexts.single(world).expect("there is one context");
                let touching = simulation
                    .contact_pairs(colliders, bodies)
                    .filter(|it| it.has_any_active_contact());
                touching
                    .filter_map(|it| Some((it.collider1()?, it.collider2()?)))
                    .map(|(a, b)| pair(number(world, a), number(world, b)))
                    .collect()
            }

            fn sensor_pairs(world: &mut World) -> BTreeSet<Pair> {
                let mut contexts =
                    world.query::<(&RapierContextSimulation, &RapierContextColliders)>();
                let (simulation, colliders) = contexts.single(world).expect("there is one context");
                simulation
                    .intersection_pairs(colliders)
                    .filter(|(_, _, touching)| *touching)
                    .map(|(a, b, _)| pair(number(world, a), number(world, b)))
                    .collect()
            }
        }
    };
}

rapier!(plane, bevy_rapier2d, super::in_plane);
rapier!(space, bevy_rapier3d, super::in_space);

use crate::form::Form;

fn in_plane(form: &Form) -> bevy_rapier2d::prelude::Collider {
    use bevy_rapier2d::prelude::Collider;
    match form {
        Form::Ball { radius } => Collider::ball(*radius),
        Form::Block { half } => Collider::cuboid(half.x, half.y),
        Form::Capsule {
            radius,
            half_length,
        } => Collider::capsule_y(*half_length, *radius),
        Form::Hull { points } => Collider::convex_hull(&Form::flat_points(points))
            .expect("the points of a scene have a hull"),
    }
}

fn in_space(form: &Form) -> bevy_rapier3d::prelude::Collider {
    use bevy_rapier3d::prelude::Collider;
    match form {
        Form::Ball { radius } => Collider::ball(*radius),
        Form::Block { half } => Collider::cuboid(half.x, half.y, half.z),
        Form::Capsule {
            radius,
            half_length,
        } => Collider::capsule_y(*half_length, *radius),
        Form::Hull { points } => {
            Collider::convex_hull(points).expect("the points of a scene have a hull")
        }
    }
}
