//! The casts of parry, with its default dispatcher. Like in headbutt, each cast stops at
//! penetration, and computes the impact geometry.

/// Defines the sides for one dimension. The 2D and 3D crates of parry share their source, so the
/// names are the same.
macro_rules! parry {
    ($module:ident, $crate_name:ident, $room:ident, $vector:expr, $angle:expr) => {
        pub mod $module {
            use std::{hint::black_box, ops::Range};

            use headbutt_bench::{duel::Side, pairs::Room};
            use $crate_name::{
                math::{Pose, Vector},
                query::{
                    NonlinearRigidMotion, Ray, ShapeCastOptions, cast_shapes, cast_shapes_nonlinear,
                },
                shape::SharedShape,
            };

            use crate::{
                cases::{Case, Shot},
                question::{MISS, Question},
            };

            /// Two shapes and their motions.
            pub struct Parry {
                shapes: [SharedShape; 2],
                motions: Vec<Motions>,
            }

            struct Motions {
                poses: [Pose; 2],
                translation: Vector,
                rotating: [NonlinearRigidMotion; 2],
            }

            impl Parry {
                pub fn new(shapes: [SharedShape; 2], cases: &[Case]) -> Self {
                    let motions = |case: &Case| {
                        let poses = case.places.map(super::$room::peer_pose);
                        let translation = $vector(case.translation);
                        let [a, b] = case.rotations;
                        let motion = |pose, translation, angle| {
                            NonlinearRigidMotion::new(pose, Vector::ZERO, translation, angle)
                        };
                        Motions {
                            poses,
                            translation,
                            rotating: [
                                motion(poses[0], translation, $angle(a)),
                                motion(poses[1], Vector::ZERO, $angle(b)),
                            ],
                        }
                    };
                    Self {
                        shapes,
                        motions: cases.iter().map(motions).collect(),
                    }
                }
            }

            impl Side<Question> for Parry {
                fn ask(&mut self, question: Question, range: Range<usize>, answers: &mut Vec<f32>) {
                    let [a, b] = self.shapes.each_ref().map(|it| black_box(&*it.0));
                    let options = ShapeCastOptions {
                        max_time_of_impact: 1.0,
                        ..Default::default()
                    };
                    answers.extend(self.motions[range].iter().map(|it| {
                        let [pose_a, pose_b] = &it.poses;
                        let hit = if question == Question::Rotating {
                            let [motion_a, motion_b] = &it.rotating;
                            cast_shapes_nonlinear(motion_a, a, motion_b, b, 0.0, 1.0, true)
                        } else {
                            let still = Vector::ZERO;
                            cast_shapes(pose_a, it.translation, a, pose_b, still, b, options)
                        };
                        let hit = black_box(hit).ok().flatten();
                        hit.map_or(MISS, |hit| hit.time_of_impact * it.translation.length())
                    }));
                }
            }

            /// A shape and rays.
            pub struct PeerRays {
                shape: SharedShape,
                rays: Vec<(Pose, Ray, f32)>,
            }

            impl PeerRays {
                pub fn new(shape: SharedShape, shots: &[Shot]) -> Self {
                    let ray = |shot: &Shot| {
                        let ray = Ray::new($vector(shot.origin), $vector(shot.direction));
                        (super::$room::peer_pose(shot.place), ray, shot.length)
                    };
                    Self {
                        shape,
                        rays: shots.iter().map(ray).collect(),
                    }
                }
            }

            impl Side<Question> for PeerRays {
                fn ask(&mut self, _: Question, range: Range<usize>, answers: &mut Vec<f32>) {
                    let shape = black_box(&*self.shape.0);
                    answers.extend(self.rays[range].iter().map(|(pose, ray, length)| {
                        let hit = shape.cast_ray_and_get_normal(pose, ray, *length, true);
                        black_box(hit).map_or(MISS, |hit| hit.time_of_impact)
                    }));
                }
            }
        }
    };
}

use bevy::math::{Vec2, Vec3};

parry!(
    plane,
    parry2d,
    Vec2,
    |it: bevy::math::Vec3| Vector::from(it.truncate().to_array()),
    |it: bevy::math::Vec3| it.z
);
parry!(
    space,
    parry3d,
    Vec3,
    |it: bevy::math::Vec3| Vector::from(it.to_array()),
    |it: bevy::math::Vec3| Vector::from(it.to_array())
);
