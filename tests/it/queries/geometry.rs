//! Compares every pair of shape kinds in random poses with an independent f64 oracle, and the
//! functions of `headbutt::query` with each other.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::oracle::{
    cases::{Case, Dimension, Made, Setting, for_each_case},
    check::{Apart, Errors, Report, Touch, check_contact, check_distance, check_verdict, same},
};
use bevy::math::{DVec3, Quat, Vec2, Vec3};
use headbutt::query::{self, Contact};
use rand::{Rng, SeedableRng, rngs::StdRng};

const METRES: Setting = Setting {
    unit: 1.0,
    far: 0.0,
};

/// Calls `judge` on `per_pair` cases of each pair of kinds in each order. `judge` returns whether
/// the shapes touch, and the errors.
fn judge_all<V: Dimension>(
    name: &str,
    seed: u64,
    per_pair: usize,
    setting: Setting,
    judge: impl Fn(&Case<V>) -> (bool, Result<Errors, String>),
) {
    let mut report = Report::default();
    for_each_case::<V>(seed, per_pair, setting, |case| {
        // A panic within a query is a failure of its case, and is reported with it.
        match catch_unwind(AssertUnwindSafe(|| judge(&case))) {
            Ok((hit, outcome)) => {
                report.count(hit);
                report.note(&case, outcome);
            }
            Err(_) => report.note(&case, Err("it panics".into())),
        }
    });
    report.finish(name);
}

/// Compares overlap, contact and distance with the oracle.
fn against_the_oracle<V: Dimension>(case: &Case<V>) -> (bool, Result<Errors, String>) {
    let (a, b) = (case.a.support(), case.b.support());
    let (body_a, body_b) = (&case.body_a, &case.body_b);
    let contact = query::contact(&a, case.pose_a, &b, case.pose_b);
    let distance = query::distance(&a, case.pose_a, &b, case.pose_b);
    let judged = || {
        check_verdict(body_a, body_b, contact.is_some())?;
        let apart = Apart::new(&distance, case.origin);
        let mut errors = check_distance(body_a, body_b, &apart)?;
        if let Some(contact) = &contact {
            let touch = Touch::new(contact, case.origin);
            errors.extend(check_contact(body_a, body_b, &touch)?);
        }
        Ok(errors)
    };
    (contact.is_some(), judged())
}

fn flipped<V: Dimension>(contact: &Contact<V>) -> Contact<V> {
    Contact {
        // Subtracting from 0 gives zeros without a sign.
        normal: V::of((DVec3::ZERO - contact.normal.deep()).as_vec3()),
        depth: contact.depth,
        point_a: contact.point_b,
        point_b: contact.point_a,
    }
}

fn swapped<V: Dimension>(case: &Case<V>) -> (bool, Result<Errors, String>) {
    let (a, b) = (case.a.support(), case.b.support());
    let contact = query::contact(&a, case.pose_a, &b, case.pose_b);
    let mirrored = query::contact(&b, case.pose_b, &a, case.pose_a);
    let there = query::distance(&a, case.pose_a, &b, case.pose_b);
    let back = query::distance(&b, case.pose_b, &a, case.pose_a);
    let identical = (&case.a.points, case.a.radius) == (&case.b.points, case.b.radius)
        && same("poses", case.pose_a, case.pose_b).is_ok();
    let judged = || {
        same("distance", there.distance, back.distance)?;
        same("first point", there.point_a, back.point_b)?;
        same("second point", there.point_b, back.point_a)?;
        match same("contact", contact, mirrored) {
            // For identical shapes, nothing distinguishes the two calls.
            Ok(errors) if identical => Ok(errors),
            _ => same("mirror image", contact.map(|it| flipped(&it)), mirrored),
        }
    };
    (contact.is_some(), judged())
}

fn agreeing<V: Dimension>(case: &Case<V>) -> (bool, Result<Errors, String>) {
    let (a, b) = (case.a.support(), case.b.support());
    let contact = query::contact(&a, case.pose_a, &b, case.pose_b);
    let hit = contact.is_some();
    let resumed = query::touch(&a, case.pose_a, &b, case.pose_b).map(query::Touch::contact);
    let distance = query::distance(&a, case.pose_a, &b, case.pose_b).distance;
    let judged = || {
        same(
            "intersects",
            query::intersects(&a, case.pose_a, &b, case.pose_b),
            hit,
        )?;
        same("no distance", distance == 0.0, hit)?;
        same("test, then contact", resumed, contact)
    };
    (hit, judged())
}

#[test]
fn contacts_and_distances_match_the_oracle_in_2d() {
    judge_all::<Vec2>("2D", 1, 1000, METRES, against_the_oracle);
}

#[test]
fn contacts_and_distances_match_the_oracle_in_3d() {
    judge_all::<Vec3>("3D", 2, 1000, METRES, against_the_oracle);
}

#[test]
fn contacts_and_distances_match_the_oracle_in_every_unit() {
    for (seed, unit) in [1e-20, 1e-3, 1e3, 1e18].into_iter().enumerate() {
        let setting = Setting { unit, far: 0.0 };
        let seed = 10 + seed as u64;
        let name = format!("in units of {unit:e}");
        judge_all::<Vec2>(&name, seed, 100, setting, against_the_oracle);
        judge_all::<Vec3>(&name, seed, 100, setting, against_the_oracle);
    }
}

#[test]
fn contacts_and_distances_match_the_oracle_far_from_the_origin() {
    for (seed, far) in [1e3, 1e5].into_iter().enumerate() {
        let setting = Setting { unit: 1.0, far };
        let seed = 20 + seed as u64;
        let name = format!("at {far:e}");
        judge_all::<Vec2>(&name, seed, 250, setting, against_the_oracle);
        judge_all::<Vec3>(&name, seed, 250, setting, against_the_oracle);
    }
}

#[test]
fn swapping_the_shapes_gives_the_mirror_image() {
    judge_all::<Vec2>("swapped in 2D", 30, 500, METRES, swapped);
    judge_all::<Vec3>("swapped in 3D", 31, 500, METRES, swapped);
}

#[test]
fn the_query_functions_agree_with_each_other() {
    judge_all::<Vec2>("agreeing in 2D", 40, 500, METRES, agreeing);
    judge_all::<Vec3>("agreeing in 3D", 41, 500, METRES, agreeing);
}

mod the_oracle {
    use bevy::math::DVec3;

    use crate::oracle::{
        Body,
        check::{Apart, Touch, check_contact, check_distance, check_verdict},
        gap, relation,
    };

    fn cuboid(half: DVec3, center: DVec3) -> Body {
        let signs = [-1.0, 1.0];
        let corners = signs.into_iter().flat_map(|x| {
            signs.into_iter().flat_map(move |y| {
                signs
                    .into_iter()
                    .map(move |z| center + half * DVec3::new(x, y, z))
            })
        });
        Body::in_space(corners, 0.0)
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-12, "{left} and {right}");
    }

    #[test]
    fn the_oracle_finds_the_distance_of_balls() {
        let ball = |x, radius| Body::in_space([DVec3::X * x], radius);
        near(gap(&ball(0.0, 1.0), &ball(5.0, 2.0)), 2.0);
        near(gap(&ball(0.0, 1.0), &ball(2.0, 2.0)), -1.0);
        near(gap(&ball(0.0, 1.0), &ball(0.0, 2.0)), -3.0);
    }

    #[test]
    fn the_oracle_finds_the_depth_of_aligned_boxes() {
        let unit = cuboid(DVec3::ONE, DVec3::ZERO);
        let deep = relation(&unit, &cuboid(DVec3::ONE, DVec3::new(1.5, -0.3, 0.2)));
        near(deep.gap, -0.5);
        assert_eq!(deep.normal, Some(DVec3::X));
        near(
            gap(&unit, &cuboid(DVec3::ONE, DVec3::new(5.0, 6.0, 0.0))),
            5.0,
        );
        near(
            gap(&unit, &cuboid(DVec3::ONE, DVec3::new(2.0, 0.0, 0.0))),
            0.0,
        );
        near(gap(&unit, &cuboid(DVec3::splat(0.1), DVec3::Y * 0.5)), -0.6);
    }

    #[test]
    fn the_oracle_separates_crossed_edges_perpendicular_to_both() {
        // Two prisms with crossed ridges, along x and along y, overlap by 0.1.
        let prism = |along: DVec3, up: f64, z: f64| {
            let across = along.cross(DVec3::Z);
            let ends = [-along * 5.0, along * 5.0];
            let profile = [
                DVec3::ZERO,
                across * 3.0 - DVec3::Z * up,
                -across * 3.0 - DVec3::Z * up,
            ];
            let corners = ends
                .into_iter()
                .flat_map(move |end| profile.map(|point| end + point));
            Body::in_space(corners.map(|point| point + DVec3::Z * z), 0.0)
        };
        let found = relation(&prism(DVec3::X, 3.0, 0.0), &prism(DVec3::Y, -3.0, -0.1));
        near(found.gap, -0.1);
        near(found.normal.expect("one").z, 1.0);
        near(
            gap(&prism(DVec3::X, 3.0, 0.0), &prism(DVec3::Y, -3.0, 0.25)),
            0.25,
        );
    }

    #[test]
    fn the_oracle_finds_distances_within_a_common_plane() {
        let triangle = |x: f64| {
            Body::in_space(
                [DVec3::X * x, DVec3::X * (x + 1.0), DVec3::new(x, 1.0, 0.0)],
                0.0,
            )
        };
        near(gap(&triangle(0.0), &triangle(0.25)), 0.0);
        near(gap(&triangle(0.0), &triangle(3.0)), 2.0);
        let segment = |ends| Body::in_space(ends, 0.0);
        let along_x = segment([DVec3::ZERO, DVec3::X]);
        near(
            gap(&along_x, &segment([DVec3::X * 3.0, DVec3::X * 4.0])),
            2.0,
        );
        near(
            gap(&along_x, &segment([DVec3::X * 0.5, DVec3::X * 4.0])),
            0.0,
        );
        near(
            gap(&along_x, &segment([DVec3::Y, DVec3::X + DVec3::Y])),
            1.0,
        );
        near(
            gap(&along_x, &segment([-DVec3::Y, DVec3::X + DVec3::Y])),
            0.0,
        );
        near(gap(&along_x, &segment([DVec3::X; 2])), 0.0);
    }

    #[test]
    fn the_oracle_pushes_a_segment_sideways_out_of_a_box() {
        let unit = cuboid(DVec3::ONE, DVec3::ZERO);
        let long = Body::in_space(
            [DVec3::new(0.7, 0.0, -9.0), DVec3::new(0.7, 0.0, 9.0)],
            0.25,
        );
        near(gap(&unit, &long), -0.55);
    }

    #[test]
    fn the_oracle_stays_in_the_plane() {
        let cross = |along: DVec3| Body::in_plane([-along, along], 0.0);
        near(gap(&cross(DVec3::X), &cross(DVec3::Y)), -1.0);
        near(
            gap(
                &Body::in_space([-DVec3::X, DVec3::X], 0.0),
                &Body::in_space([-DVec3::Y, DVec3::Y], 0.0),
            ),
            0.0,
        );
        let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let square = Body::in_plane(square.map(|(x, y)| DVec3::new(x, y, 0.0)), 0.0);
        near(square.gap_to(DVec3::new(0.75, 0.5, 0.0)), -0.25);
        near(square.gap_to(DVec3::new(4.0, 5.0, 0.0)), 5.0);
    }

    /// Returns two boxes that overlap by half a unit along x, and their contact.
    fn overlapping() -> (Body, Body, Touch) {
        let touch = Touch {
            normal: DVec3::X,
            depth: 0.5,
            point_a: DVec3::X,
            point_b: DVec3::X * 0.5,
            grain: 0.0,
        };
        let beside = cuboid(DVec3::ONE, DVec3::new(1.5, 0.25, 0.0));
        (cuboid(DVec3::ONE, DVec3::ZERO), beside, touch)
    }

    #[test]
    fn the_check_of_a_contact_rejects_planted_faults() {
        let (a, b, truth) = overlapping();
        check_contact(&a, &b, &truth).expect("the truth");
        let faults = [
            (
                "a flipped normal",
                Touch {
                    normal: -DVec3::X,
                    ..truth
                },
            ),
            (
                "another normal",
                Touch {
                    normal: DVec3::Y,
                    ..truth
                },
            ),
            (
                "a normal tilted by a thousandth",
                Touch {
                    normal: DVec3::new(1.0, 1e-3, 0.0).normalize(),
                    ..truth
                },
            ),
            (
                "a normal too long",
                Touch {
                    normal: DVec3::X * (1.0 + 1e-6),
                    ..truth
                },
            ),
            (
                "no normal",
                Touch {
                    normal: DVec3::NAN,
                    ..truth
                },
            ),
            (
                "a depth 1 % too large",
                Touch {
                    depth: 0.505,
                    ..truth
                },
            ),
            (
                "a depth 1 % too small",
                Touch {
                    depth: 0.495,
                    ..truth
                },
            ),
            (
                "no depth",
                Touch {
                    depth: f64::NAN,
                    ..truth
                },
            ),
            (
                "exchanged points",
                Touch {
                    point_a: truth.point_b,
                    point_b: truth.point_a,
                    ..truth
                },
            ),
            (
                "points off both shapes",
                Touch {
                    point_a: truth.point_a + DVec3::Y * 3.0,
                    point_b: truth.point_b + DVec3::Y * 3.0,
                    ..truth
                },
            ),
            (
                "points 1 % too deep",
                Touch {
                    point_a: truth.point_a * 0.99,
                    point_b: truth.point_b - DVec3::X * 0.01,
                    ..truth
                },
            ),
            (
                "points not opposite to each other",
                Touch {
                    point_b: truth.point_b + DVec3::Y * 0.01,
                    ..truth
                },
            ),
        ];
        for (fault, touch) in faults {
            assert!(
                check_contact(&a, &b, &touch).is_err(),
                "{fault} is accepted"
            );
        }
    }

    #[test]
    fn the_check_of_an_overlap_rejects_a_wrong_answer() {
        let (a, b, _) = overlapping();
        let apart = b.moved(DVec3::X);
        assert!(check_verdict(&a, &b, true).is_ok());
        assert!(check_verdict(&a, &b, false).is_err());
        assert!(check_verdict(&a, &apart, false).is_ok());
        assert!(check_verdict(&a, &apart, true).is_err());
        // If the bodies just touch, either answer is right. A ten thousandth farther, only one
        // answer is right.
        let touching = b.moved(DVec3::X * 0.5);
        assert!(check_verdict(&a, &touching, true).is_ok());
        assert!(check_verdict(&a, &touching, false).is_ok());
        assert!(check_verdict(&a, &touching.moved(DVec3::X * 1e-4), true).is_err());
        assert!(check_verdict(&a, &touching.moved(DVec3::X * -1e-4), false).is_err());
    }

    #[test]
    fn the_check_of_a_distance_rejects_planted_faults() {
        let (a, b, _) = overlapping();
        let b = b.moved(DVec3::X);
        let truth = Apart {
            distance: 0.5,
            point_a: DVec3::X,
            point_b: DVec3::X * 1.5,
            grain: 0.0,
        };
        check_distance(&a, &b, &truth).expect("the truth");
        let faults = [
            (
                "a distance 1 % too large",
                Apart {
                    distance: 0.505,
                    ..truth
                },
            ),
            (
                "an infinite distance",
                Apart {
                    distance: f64::INFINITY,
                    ..truth
                },
            ),
            (
                "no distance",
                Apart {
                    distance: f64::NAN,
                    ..truth
                },
            ),
            (
                "exchanged points",
                Apart {
                    point_a: truth.point_b,
                    point_b: truth.point_a,
                    ..truth
                },
            ),
            (
                "a point within",
                Apart {
                    point_a: DVec3::X * 0.99,
                    ..truth
                },
            ),
            (
                "a point beside",
                Apart {
                    point_b: DVec3::X * 1.4,
                    ..truth
                },
            ),
        ];
        for (fault, apart) in faults {
            assert!(
                check_distance(&a, &b, &apart).is_err(),
                "{fault} is accepted"
            );
        }
    }
}

/// A hundredth of the angle within which the surface code accepts a normal as the facet's normal.
const OFF_FACET: f64 = 1e-6;

/// Asserts that a shallow contact inside a facet has the facet's normal. The surface code uses this
/// law to recognize seams.
fn has_the_normal_of_the_facet<V: Dimension>(facet: &Made<V>, corners: &[Vec3], seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut worst = 0.0_f64;
    for number in 0..10_000 {
        let mut length = || random.random_range(0.1..1.0_f32);
        let half_size = V::of(Vec3::new(length(), length(), length()));
        let shape = match number % 6 {
            0 => V::ball(length()),
            1 => V::capsule(length(), length()),
            2 => V::cuboid(half_size),
            3 => V::ellipsoid(half_size),
            4 => V::rounded_box(half_size, length()),
            _ => V::diamond(half_size, 0.0),
        };
        let mut turn = || Quat::from_xyzw(length(), -length(), length(), -length()).normalize();
        let pose_a = V::isometry(turn(), Vec3::new(3.0, -7.0, 5.0));
        let turn_b = turn();
        let (map_a, at_a) = V::map(pose_a);
        let (map_b, _) = V::map(V::isometry(turn_b, Vec3::ZERO));
        let side = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let across = if V::PLANAR { DVec3::Y } else { DVec3::Z };
        let normal = map_a * across * side;
        // A point of the shape is placed at this depth below a point inside the facet.
        let weights: Vec<f64> = corners
            .iter()
            .map(|_| random.random_range(0.5..1.0))
            .collect();
        let sum: f64 = weights.iter().sum();
        let weighed = corners.iter().zip(&weights);
        let point: DVec3 = weighed
            .map(|(it, weight)| it.as_dvec3() * (weight / sum))
            .sum();
        let inner = map_b.transpose() * -normal;
        // In f32, the direction is off by 1e-7, and the height by the square of this error.
        let lowest = shape.support.support(V::of(inner.as_vec3()).to_f64());
        let lowest = V::from_f64(lowest).deep() + inner * shape.support.radius();
        let lowest = map_b * lowest;
        let depth = 10_f64.powf(random.random_range(-6.0..-1.3));
        let at_b = at_a + map_a * point - lowest - normal * depth;
        let pose_b = V::isometry(turn_b, at_b.as_vec3());
        let contact = query::contact(&facet.support, pose_a, &shape.support, pose_b);
        if let Some(contact) = contact {
            worst = worst.max(contact.normal.deep().distance(normal));
        } else {
            assert!(depth < 2e-6, "{depth} deep in the facet, and no hit");
        }
    }
    println!("the worst normal is off by {worst:e}");
    assert!(worst <= OFF_FACET, "off by {worst:e}");
}

#[test]
fn a_contact_inside_a_facet_has_the_facets_normal() {
    let corners = [Vec3::X * -4.0, Vec3::X * 4.0];
    let segment = Vec2::segment(corners.map(Vec2::of));
    has_the_normal_of_the_facet(&segment, &corners, 21);
    let corners = [(-4.0, -3.0), (4.0, -3.0), (0.5, 5.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
    has_the_normal_of_the_facet(&Vec3::triangle(corners), &corners, 22);
}
