//! The queries of bevy_rapier.

macro_rules! rapier {
    ($module:ident, $crate_name:ident, $block:expr, $vector:expr, $rotation:expr) => {
        pub mod $module {
            use bevy::{ecs::system::SystemState, prelude::*};
            use $crate_name::{
                prelude::{QueryFilter, ReadRapierContext, ShapeCastOptions},
                rapier::parry::shape::{Ball, Cuboid, Shape},
            };

            use crate::side::{Answers, Probe, Question, Side, Sizes};

            pub struct Rapier {
                state: SystemState<ReadRapierContext<'static, 'static>>,
                ball: Ball,
                block: Cuboid,
            }

            impl Rapier {
                pub fn boxed(world: &mut World, Sizes { radius, half }: Sizes) -> Box<dyn Side> {
                    Box::new(Self {
                        state: SystemState::new(world),
                        ball: Ball::new(radius),
                        block: Cuboid::new($block(half)),
                    })
                }
            }

            impl Side for Rapier {
                fn ask(
                    &mut self,
                    world: &World,
                    question: Question,
                    probes: &[Probe],
                    answers: &mut Answers,
                ) {
                    let Ok(read) = self.state.get(world) else {
                        return;
                    };
                    let Ok(context) = read.single() else {
                        return;
                    };
                    let filter = QueryFilter::default();
                    for probe in probes {
                        let shape: &dyn Shape = match question {
                            Question::CastBox | Question::OverlapBox => &self.block,
                            _ => &self.ball,
                        };
                        let (origin, length) = ($vector(probe.origin), probe.length);
                        let (direction, rotation) = ($vector(probe.direction), $rotation(probe));
                        match question {
                            Question::Ray => {
                                let hit = context.cast_ray_and_get_normal(
                                    origin, direction, length, true, filter,
                                );
                                answers.one(hit.map(|it| (it.0, it.1.time_of_impact)));
                            }
                            Question::AnyHit => {
                                let mut is_hit = false;
                                context.intersect_ray(
                                    origin,
                                    direction,
                                    length,
                                    true,
                                    filter,
                                    |_, _| {
                                        is_hit = true;
                                        false
                                    },
                                );
                                answers.end(f32::from(u8::from(is_hit)));
                            }
                            Question::AllHits => {
                                context.intersect_ray(
                                    origin,
                                    direction,
                                    length,
                                    true,
                                    filter,
                                    |entity, _| {
                                        answers.entities.push(entity);
                                        true
                                    },
                                );
                                answers.end(0.0);
                            }
                            Question::CastBall | Question::CastBox => {
                                let options = ShapeCastOptions {
                                    max_time_of_impact: length,
                                    ..ShapeCastOptions::default()
                                };
                                let hit = context.cast_shape(
                                    origin, rotation, direction, shape, options, filter,
                                );
                                answers.one(hit.map(|it| (it.0, it.1.time_of_impact)));
                            }
                            Question::OverlapBall | Question::OverlapBox => {
                                context.intersect_shape(origin, rotation, shape, filter, |it| {
                                    answers.entities.push(it);
                                    true
                                });
                                answers.end(0.0);
                            }
                            Question::AtPoint => {
                                context.intersect_point(origin, filter, |it| {
                                    answers.entities.push(it);
                                    true
                                });
                                answers.end(0.0);
                            }
                            Question::Closest => {
                                let hit = context.project_point(origin, f32::MAX, true, filter);
                                answers.one(hit.map(|it| (it.0, it.1.point.distance(origin))));
                            }
                        }
                    }
                }
            }
        }
    };
}

rapier!(
    plane,
    bevy_rapier2d,
    |it: Vec3| it.truncate().to_array().into(),
    Vec3::truncate,
    |it: &Probe| it.angle
);
rapier!(
    space,
    bevy_rapier3d,
    |it: Vec3| it.to_array().into(),
    std::convert::identity,
    |it: &Probe| it.rotation
);
