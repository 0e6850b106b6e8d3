//! The queries of avian.

macro_rules! avian {
    (
        $module:ident,
        $crate_name:ident,
        $collider:expr,
        $vector:expr,
        $direction:expr,
        $rotation:expr
    ) => {
        pub mod $module {
            use bevy::{ecs::system::SystemState, prelude::*};
            use headbutt_bench::form::Form;
            use $crate_name::prelude::{
                Collider, ShapeCastConfig, SpatialQuery, SpatialQueryFilter,
            };

            use crate::side::{Answers, Probe, Question, Side, Sizes};

            pub struct Avian {
                state: SystemState<SpatialQuery<'static, 'static>>,
                ball: Collider,
                block: Collider,
            }

            impl Avian {
                pub fn boxed(world: &mut World, Sizes { radius, half }: Sizes) -> Box<dyn Side> {
                    Box::new(Self {
                        state: SystemState::new(world),
                        ball: $collider(&Form::Ball { radius }),
                        block: $collider(&Form::Block { half }),
                    })
                }
            }

            impl Side for Avian {
                fn ask(
                    &mut self,
                    world: &World,
                    question: Question,
                    probes: &[Probe],
                    answers: &mut Answers,
                ) {
                    let Ok(query) = self.state.get(world) else {
                        return;
                    };
                    let filter = SpatialQueryFilter::default();
                    for probe in probes {
                        let collider = match question {
                            Question::CastBox | Question::OverlapBox => &self.block,
                            _ => &self.ball,
                        };
                        let (origin, length) = ($vector(probe.origin), probe.length);
                        let (direction, rotation) = ($direction(probe), $rotation(probe));
                        match question {
                            Question::Ray => {
                                let hit = query.cast_ray(origin, direction, length, true, &filter);
                                answers.one(hit.map(|it| (it.entity, it.distance)));
                            }
                            Question::AnyHit => {
                                let mut is_hit = false;
                                let note = |_| {
                                    is_hit = true;
                                    false
                                };
                                query.ray_hits_callback(
                                    origin, direction, length, true, &filter, note,
                                );
                                answers.end(f32::from(u8::from(is_hit)));
                            }
                            Question::AllHits => {
                                let add = |it: $crate_name::prelude::RayHitData| {
                                    answers.entities.push(it.entity);
                                    true
                                };
                                query.ray_hits_callback(
                                    origin, direction, length, true, &filter, add,
                                );
                                answers.end(0.0);
                            }
                            Question::CastBall | Question::CastBox => {
                                let config = ShapeCastConfig::from_max_distance(length);
                                let hit = query.cast_shape(
                                    collider, origin, rotation, direction, &config, &filter,
                                );
                                answers.one(hit.map(|it| (it.entity, it.distance)));
                            }
                            Question::OverlapBall | Question::OverlapBox => {
                                let add = |entity| {
                                    answers.entities.push(entity);
                                    true
                                };
                                query.shape_intersections_callback(
                                    collider, origin, rotation, &filter, add,
                                );
                                answers.end(0.0);
                            }
                            Question::AtPoint => {
                                let add = |entity| {
                                    answers.entities.push(entity);
                                    true
                                };
                                query.point_intersections_callback(origin, &filter, add);
                                answers.end(0.0);
                            }
                            Question::Closest => {
                                let hit = query.project_point(origin, true, &filter);
                                answers.one(hit.map(|it| (it.entity, it.point.distance(origin))));
                            }
                        }
                    }
                }
            }
        }
    };
}

avian!(
    plane,
    avian2d,
    headbutt_bench::engines::avian::in_plane,
    Vec3::truncate,
    |it: &Probe| Dir2::new_unchecked(it.direction.truncate()),
    |it: &Probe| it.angle
);
avian!(
    space,
    avian3d,
    headbutt_bench::engines::avian::in_space,
    std::convert::identity,
    |it: &Probe| Dir3::new_unchecked(it.direction),
    |it: &Probe| it.rotation
);
