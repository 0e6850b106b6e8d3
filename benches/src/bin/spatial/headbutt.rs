//! The queries of headbutt.

macro_rules! headbutt {
    ($module:ident, $flat:literal, $vector:expr, $pose:expr) => {
        pub mod $module {
            use bevy::{ecs::system::SystemState, prelude::*};
            use headbutt::{
                SpatialQuery, SpatialQueryFilter,
                prelude::Collider,
                query::{CastOptions, Motion, Ray},
            };
            use headbutt_bench::form::Form;

            use crate::side::{Answers, Probe, Question, Side, Sizes};

            pub struct Ours {
                state: SystemState<SpatialQuery<'static, 'static>>,
                ball: Collider,
                block: Collider,
                entities: Vec<Entity>,
                hits: Vec<Entity>,
            }

            impl Ours {
                pub fn boxed(world: &mut World, Sizes { radius, half }: Sizes) -> Box<dyn Side> {
                    Box::new(Self {
                        state: SystemState::new(world),
                        ball: Form::Ball { radius }.collider($flat),
                        block: Form::Block { half }.collider($flat),
                        entities: Vec::new(),
                        hits: Vec::new(),
                    })
                }
            }

            impl Side for Ours {
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
                    let ray = |it: &Probe| {
                        let ray = Ray::new($vector(it.origin), $vector(it.direction));
                        ray.with_max_distance(it.length)
                    };
                    for probe in probes {
                        let collider = match question {
                            Question::CastBox | Question::OverlapBox => &self.block,
                            _ => &self.ball,
                        };
                        match question {
                            Question::Ray => {
                                let hit = query.cast_ray(ray(probe), &filter);
                                answers.one(hit.map(|it| (it.entity, it.hit.distance)));
                            }
                            Question::AnyHit => {
                                let is_hit = query.is_ray_blocked(ray(probe), &filter);
                                answers.end(f32::from(u8::from(is_hit)));
                            }
                            Question::AllHits => {
                                query.visit_ray(ray(probe), &filter, |it| {
                                    answers.entities.push(it.entity);
                                    f32::INFINITY
                                });
                                answers.end(0.0);
                            }
                            Question::CastBall | Question::CastBox => {
                                let translation = probe.direction * probe.length;
                                let motion = Motion::linear($pose(probe), translation);
                                let options = CastOptions::default();
                                let hit = query.cast_shape(collider, motion, options, &filter);
                                answers.one(
                                    hit.map(|hit| (hit.entity, hit.touching as f32 * probe.length)),
                                );
                            }
                            Question::OverlapBall | Question::OverlapBox => {
                                let entities = &mut self.entities;
                                query.overlaps(collider, $pose(probe), &filter, entities);
                                answers.entities.append(entities);
                                answers.end(0.0);
                            }
                            Question::AtPoint => {
                                let point = $vector(probe.origin);
                                query.entities_at(point, &filter, &mut self.hits);
                                answers.entities.append(&mut self.hits);
                                answers.end(0.0);
                            }
                            Question::Closest => {
                                let point = $vector(probe.origin);
                                let hit = query.closest_to_point(point, f32::INFINITY, &filter);
                                answers.one(hit.map(|it| (it.entity, it.hit.distance)));
                            }
                        }
                    }
                }

                fn visits(&mut self, world: &World) -> u64 {
                    self.state.get(world).map_or(0, |query| query.visits())
                }
            }
        }
    };
}

headbutt!(plane, true, Vec3::truncate, |it: &Probe| Isometry2d::new(
    it.origin.truncate(),
    it.rotation_2d
));
headbutt!(space, false, std::convert::identity, |it: &Probe| {
    Isometry3d::new(it.origin, it.rotation)
});
