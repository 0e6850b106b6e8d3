//! The queries of parry, with its default dispatcher.
//!
//! There is no prediction distance. In a coherent course, the manifolds of the previous query are
//! passed to the next query, as in engines. In a cold course, the manifolds are cleared.

/// Defines the side for one dimension. The 2D and 3D crates of parry share their source, so the
/// names are the same.
macro_rules! parry {
    ($module:ident, $crate_name:ident) => {
        pub mod $module {
            use std::{hint::black_box, ops::Range};

            use headbutt_bench::duel::Side;
            use $crate_name::{
                math::Pose,
                query::{
                    ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher,
                    PersistentQueryDispatcher, contact, distance, intersection_test,
                },
                shape::SharedShape,
            };

            use crate::query::{APART, Query};

            /// Two shapes, and the poses of the queries.
            pub struct Parry {
                pub a: SharedShape,
                pub b: SharedShape,
                pub poses: Vec<[Pose; 2]>,
                pub coherent: bool,
                pub manifolds: Vec<ContactManifold<(), ()>>,
                pub workspace: Option<ContactManifoldsWorkspace>,
            }

            impl Side<Query> for Parry {
                fn ask(&mut self, query: Query, range: Range<usize>, answers: &mut Vec<f32>) {
                    let Self {
                        a,
                        b,
                        poses,
                        coherent,
                        manifolds,
                        workspace,
                    } = self;
                    let (a, b) = (black_box(&*a.0), black_box(&*b.0));
                    let poses = poses[range].iter();
                    match query {
                        Query::Intersects => answers.extend(poses.map(|[pose_a, pose_b]| {
                            let found = intersection_test(pose_a, a, pose_b, b);
                            f32::from(u8::from(found.is_ok_and(|it| it.intersecting)))
                        })),
                        Query::Distance => answers.extend(poses.map(|[pose_a, pose_b]| {
                            let found = black_box(distance(pose_a, a, pose_b, b));
                            found.map_or(f32::NAN, |it| it.distance)
                        })),
                        Query::Contact => answers.extend(poses.map(|[pose_a, pose_b]| {
                            let found = black_box(contact(pose_a, a, pose_b, b, 0.0));
                            found.map_or(f32::NAN, |it| it.map_or(APART, |it| -it.dist))
                        })),
                        Query::Manifold => answers.extend(poses.map(|[pose_a, pose_b]| {
                            if !*coherent {
                                manifolds.clear();
                                *workspace = None;
                            }
                            let relative = pose_a.inv_mul(pose_b);
                            let done = DefaultQueryDispatcher
                                .contact_manifolds(&relative, a, b, 0.0, manifolds, workspace);
                            if done.is_err() {
                                return f32::NAN;
                            }
                            let points = black_box(&*manifolds).iter().flat_map(|it| &it.points);
                            points.map(|it| -it.dist).fold(APART, f32::max)
                        })),
                    }
                }
            }
        }
    };
}

parry!(plane, parry2d);
parry!(space, parry3d);
