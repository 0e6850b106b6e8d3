//! avian, without its solver.
//!
//! * Only some plugins of `PhysicsPlugins` are added: the plugins for colliders, trees, broad phase
//!   and narrow phase. So no bodies are integrated, and no islands or constraints are prepared.
//!   Transforms are read in this tick, as in all worlds, and not written back.
//! * Moving objects are kinematic bodies, and fixed objects are static bodies, because avian never
//!   tests two colliders without a body. Bodies are disabled (`RigidBodyDisabled`), so that their
//!   contacts are found but do not enter the constraint graph. `--avian-mode` selects kinematic
//!   bodies that enter the graph, or sensors. All three modes find the same pairs, and the default
//!   is the fastest mode.
//! * There is no speculative margin. Contacts are not matched with the contacts of the previous
//!   tick, because only a solver needs this matching.
//! * Collision events are enabled for all objects. Boxes keep avian's margin. Trees are optimized
//!   by avian's default method: on one thread in place, and on several threads in a task beside the
//!   narrow phase.

/// The mode of the bodies, which avoids the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvianMode {
    Kinematic,
    Sensor,
    Disabled,
}

/// Defines the engine for one dimension. The 2D and 3D crates of avian share their source, so the
/// names are the same.
macro_rules! avian {
    ($module:ident, $crate_name:ident, $collider:expr) => {
        pub mod $module {
            use bevy::{
                ecs::schedule::{LogLevel, ScheduleBuildSettings},
                prelude::*,
            };
            use $crate_name::{
                collision::{
                    broad_phase::{BroadPhaseCorePlugin, BvhBroadPhasePlugin},
                    collider::{
                        collider_hierarchy::ColliderHierarchyPlugin,
                        collider_transform::ColliderTransformPlugin,
                    },
                    narrow_phase::{NarrowPhaseConfig, NarrowPhasePlugin},
                },
                dynamics::solver::schedule::SolverSystems,
                physics_transform::PhysicsTransformConfig,
                prelude::*,
            };

            use crate::{
                engines::{Engine, avian::AvianMode, number},
                exact::pair,
            };

            pub fn engine(mode: AvianMode) -> Engine {
                Engine {
                    name: "avian",
                    plugins,
                    equip: match mode {
                        AvianMode::Kinematic => |entity, thing| equip(entity, thing, ()),
                        AvianMode::Sensor => |entity, thing| equip(entity, thing, Sensor),
                        AvianMode::Disabled => {
                            |entity, thing| equip(entity, thing, RigidBodyDisabled)
                        }
                    },
                    pairs: |world| {
                        let graph = world.resource::<ContactGraph>();
                        graph
                            .iter_active_touching()
                            .map(|it| {
                                pair(number(world, it.collider1), number(world, it.collider2))
                            })
                            .collect()
                    },
                    contacts: true,
                }
            }

            fn plugins(app: &mut App, threads: usize) {
                app.insert_resource(PhysicsTransformConfig {
                    position_to_transform: false,
                    ..default()
                })
                .insert_resource(NarrowPhaseConfig {
                    default_speculative_margin: 0.0,
                    match_contacts: false,
                    ..default()
                })
                .add_plugins((
                    PhysicsSchedulePlugin::new(PostUpdate),
                    ColliderHierarchyPlugin,
                    ColliderTransformPlugin::new(PostUpdate),
                    ColliderBackendPlugin::<Collider>::new(PostUpdate),
                    ColliderTreePlugin::<Collider>::default(),
                    NarrowPhasePlugin::<Collider>::new(PhysicsSchedule, false),
                    BroadPhaseCorePlugin,
                    BvhBroadPhasePlugin::<()>::default(),
                    PhysicsTransformPlugin::new(PostUpdate),
                ));
                // The system that ends the optimisation of trees is in this set, which the
                // solver's plugins would otherwise put in order.
                app.edit_schedule(PhysicsSchedule, |schedule| {
                    schedule
                        .configure_sets(SolverSystems::Finalize.in_set(PhysicsStepSystems::Solver))
                        .set_build_settings(ScheduleBuildSettings {
                            ambiguity_detection: LogLevel::Ignore,
                            ..default()
                        });
                });
                if threads == 1 {
                    let mut trees = app.world_mut().resource_mut::<ColliderTreeOptimization>();
                    trees.use_async_tasks = false;
                }
            }

            fn equip(entity: &mut EntityWorldMut, thing: &crate::scene::Thing, quiet: impl Bundle) {
                let body = if thing.fixed {
                    RigidBody::Static
                } else {
                    RigidBody::Kinematic
                };
                let collider: Collider = $collider(&thing.form);
                entity.insert((body, quiet, CollisionEventsEnabled, collider));
            }
        }
    };
}

avian!(plane, avian2d, super::in_plane);
avian!(space, avian3d, super::in_space);

use crate::form::Form;

pub fn in_plane(form: &Form) -> avian2d::prelude::Collider {
    use avian2d::prelude::Collider;
    match form {
        Form::Ball { radius } => Collider::circle(*radius),
        Form::Block { half } => Collider::rectangle(2.0 * half.x, 2.0 * half.y),
        Form::Capsule {
            radius,
            half_length,
        } => Collider::capsule(*radius, 2.0 * half_length),
        Form::Hull { points } => Collider::convex_hull(Form::flat_points(points))
            .expect("the points of a scene have a hull"),
    }
}

pub fn in_space(form: &Form) -> avian3d::prelude::Collider {
    use avian3d::prelude::Collider;
    match form {
        Form::Ball { radius } => Collider::sphere(*radius),
        Form::Block { half } => Collider::cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z),
        Form::Capsule {
            radius,
            half_length,
        } => Collider::capsule(*radius, 2.0 * half_length),
        Form::Hull { points } => {
            Collider::convex_hull(points.to_vec()).expect("the points of a scene have a hull")
        }
    }
}
