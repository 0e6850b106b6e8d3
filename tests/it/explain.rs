//! Each reason of [`explain`], and random worlds in which each reason is verified without
//! `explain`. To test a million pairs:
//!
//! ```text
//! HEADBUTT_EXPLAIN=1000000 cargo test --release --test it explain
//! ```

use std::collections::{BTreeMap, HashSet};

use bevy::{ecs::entity_disabling::Disabled, math::DVec3, prelude::*};
use headbutt::{
    ColliderError, Explanation, IgnoredReason, PairStatus, ShapeView, Support, explain, prelude::*,
    sync_now,
};
use rand::{
    Rng, SeedableRng,
    rngs::StdRng,
    seq::{IndexedMutRandom, IndexedRandom},
};

use crate::{
    oracle::placed::{bodies, gap_to_plane, gap_within},
    spatial::random_world::{RandomWorld, Thing},
    support::{self, Dimension, app, cases::number, tick, transform},
};

/// Spawns a ball of radius 1 and another collider, and runs a tick.
fn ball_and(other: impl Bundle) -> (App, [Entity; 2]) {
    let mut app = app();
    let world = app.world_mut();
    let ball = world.spawn((Name::new("Ball"), Collider::sphere(1.0))).id();
    let other = world.spawn((Name::new("Wall"), other)).id();
    tick(&mut app);
    (app, [ball, other])
}

fn cube_at(x: f32) -> (Collider, Transform) {
    (
        Collider::cuboid(2.0, 2.0, 2.0),
        Transform::from_xyz(x, 0.0, 0.0),
    )
}

fn explained(app: &App, [a, b]: [Entity; 2]) -> Explanation {
    explain(app.world(), a, b)
}

/// Asserts the status of a ball and `other`, and that the text contains `words`.
#[track_caller]
fn assert_status(other: impl Bundle, words: &[&str], expected: impl Fn([Entity; 2]) -> PairStatus) {
    let (app, pair) = ball_and(other);
    assert_explained(&app, pair, words, expected(pair));
}

/// Asserts the status, and that the text names both entities and contains `words`.
#[track_caller]
fn assert_explained(app: &App, pair: [Entity; 2], words: &[&str], expected: PairStatus) {
    let explanation = explained(app, pair);
    assert_eq!(explanation.status, expected);
    assert_eq!([explanation.entity, explanation.other], pair);
    let text = explanation.to_string();
    for entity in pair {
        assert!(text.contains(&entity.to_string()), "{text}");
    }
    for word in words {
        assert!(text.contains(word), "no {word} in: {text}");
    }
    assert!(text.ends_with('.') && !text.contains(".."), "{text}");
}

#[track_caller]
fn assert_ignored(other: impl Bundle, words: &[&str], reason: IgnoredReason) {
    assert_status(other, words, |[_, entity]| PairStatus::Ignored {
        entity,
        reason,
    });
}

#[test]
fn without_the_plugin_and_before_the_first_tick() {
    let mut plain = App::new();
    let pair = [0.0, 1.0].map(|x| plain.world_mut().spawn(cube_at(x)).id());
    assert_explained(&plain, pair, &["HeadbuttPlugin"], PairStatus::NoPlugin);

    let mut app = app();
    let pair = [0.0, 1.0].map(|x| app.world_mut().spawn(cube_at(x)).id());
    assert_explained(&app, pair, &["FixedPostUpdate"], PairStatus::NoTick);
    sync_now(app.world_mut());
    assert_explained(&app, pair, &["FixedPostUpdate"], PairStatus::NoTick);
    tick(&mut app);
    assert!(matches!(
        explained(&app, pair).status,
        PairStatus::Touching(_)
    ));
}

#[test]
fn an_entity_and_itself() {
    let (app, [ball, _]) = ball_and(cube_at(1.5));
    let pair = [ball, ball];
    assert_explained(&app, pair, &["same", "child"], PairStatus::SameEntity);
}

/// Within a tick, the contacts are still the contacts of the previous tick.
#[test]
fn within_a_tick_and_after_a_rollback() {
    #[derive(Resource, Default)]
    struct Seen(Vec<PairStatus>);

    let (mut app, pair) = ball_and(cube_at(1.5));
    app.init_resource::<Seen>().add_systems(
        FixedPostUpdate,
        (move |world: &mut World| {
            let status = explain(world, pair[0], pair[1]).status;
            world.resource_mut::<Seen>().0.push(status);
        })
        .after(HeadbuttSystems::NarrowPhase)
        .before(HeadbuttSystems::Report),
    );
    tick(&mut app);
    let seen = &app.world().resource::<Seen>().0;
    assert_eq!(*seen, [PairStatus::Interrupted]);
    assert!(matches!(
        explained(&app, pair).status,
        PairStatus::Touching(_)
    ));

    app.insert_resource(Collisions::default());
    let words = ["Collisions", "HeadbuttSystems::Report"];
    assert_explained(&app, pair, &words, PairStatus::Interrupted);
}

#[test]
fn an_entity_that_cannot_touch_anything() {
    let name = ["\"Wall\""];
    let (mut app, pair) = ball_and(cube_at(1.5));
    support::despawn(app.world_mut(), pair[1]);
    let (entity, reason) = (pair[1], IgnoredReason::Despawned);
    let status = PairStatus::Ignored { entity, reason };
    assert_explained(&app, pair, &["exists"], status);

    assert_ignored(
        (cube_at(1.5), Disabled),
        &["Disabled"],
        IgnoredReason::Disabled,
    );
    assert_ignored(Transform::IDENTITY, &name, IgnoredReason::NoCollider);
    assert_ignored(Collider::default(), &name, IgnoredReason::NoShape);
    let error = ShapeError::Negative("radius");
    assert_ignored(
        Collider::sphere(-1.0),
        &["\"Wall\"", "the radius must not be negative"],
        IgnoredReason::InvalidShape(error),
    );

    let (mut app, pair) = ball_and(cube_at(1.5));
    app.world_mut().entity_mut(pair[1]).remove::<Transform>();
    tick(&mut app);
    let (entity, reason) = (pair[1], IgnoredReason::NoTransform);
    let status = PairStatus::Ignored { entity, reason };
    assert_explained(&app, pair, &["no `Transform`"], status);
}

/// A point at the origin, with any radius, whose support function may point backward.
struct Wrong {
    radius: f64,
    factor: f64,
}

impl Support for Wrong {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        direction * self.factor
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

#[test]
fn a_collider_that_its_pose_makes_invalid() {
    let ignored = |other: (Collider, Transform), error: ColliderError| {
        let text = error.to_string();
        assert_ignored(
            other,
            &["\"Wall\"", &text],
            IgnoredReason::InvalidPose(error),
        );
    };
    let (cube, _) = cube_at(0.0);
    let nan = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    ignored((cube.clone(), nan), ColliderError::NotFinite);
    let far = Transform::from_xyz(f32::MAX, 0.0, 0.0);
    ignored((cube, far), ColliderError::Unbounded);
    let flat = Transform::from_scale(Vec3::new(1.0, 0.0, 1.0));
    ignored(
        (Collider::half_space(Vec3::Y), flat),
        ColliderError::Flattened,
    );
    let custom = |radius, factor| Collider::custom(Wrong { radius, factor });
    ignored(
        (custom(-1.0, 0.0), Transform::IDENTITY),
        ColliderError::InvalidRadius,
    );
    ignored(
        (custom(0.0, -1.0), Transform::IDENTITY),
        ColliderError::InvalidSupport,
    );

    let (mut app, pair) = ball_and(cube_at(1.5));
    let world = app.world_mut();
    let mut child = pair[1];
    for _ in 0..4097 {
        let parent = world.spawn_empty().id();
        world.entity_mut(child).insert(ChildOf(parent));
        child = parent;
    }
    tick(&mut app);
    let reason = IgnoredReason::InvalidPose(ColliderError::NoPose);
    let status = PairStatus::Ignored {
        entity: pair[1],
        reason,
    };
    assert_explained(&app, pair, &["4096 ancestors"], status);
}

#[test]
fn a_pair_that_touches() {
    let (mut app, pair) = ball_and(cube_at(1.5));
    let contact = |app: &App, [a, b]: [Entity; 2]| {
        let collisions = app.world().resource::<Collisions>();
        collisions.between(a, b).expect("a contact")
    };
    let found = contact(&app, pair);
    assert!(found.started() && found.entity == pair[0]);
    let words = ["\"Ball\" and", "touch", "0.5 deep along [1, 0, 0]"];
    assert_explained(&app, pair, &words, PairStatus::Touching(found));
    let text = explained(&app, pair).to_string();
    assert!(!text.contains("do not touch"), "{text}");

    tick(&mut app);
    let [ball, wall] = pair;
    let words = ["0.5 deep along [-1, 0, 0]", "OngoingEvents"];
    let found = contact(&app, [wall, ball]);
    assert_explained(&app, [wall, ball], &words, PairStatus::Touching(found));

    app.world_mut().entity_mut(wall).insert(Sensor);
    tick(&mut app);
    let found = contact(&app, pair);
    assert_explained(&app, pair, &["`Sensor`"], PairStatus::Touching(found));
}

#[test]
fn a_swept_collider_that_passed_through() {
    let (mut app, pair) = ball_and(cube_at(10.0));
    let [ball, _] = pair;
    app.world_mut().entity_mut(ball).insert(Swept);
    tick(&mut app);
    *transform(app.world_mut(), ball) = Transform::from_xyz(20.0, 0.0, 0.0);
    tick(&mut app);
    let explanation = explained(&app, pair);
    let PairStatus::PassedThrough(contact) = explanation.status else {
        panic!("{explanation}");
    };
    // The ball has the radius 1, and the near side of the cube is at 9.
    assert!((contact.time() - 8.0 / 20.0).abs() < 1e-6);
    assert!((contact.normal - Vec3::X).length() < 1e-6);
    let text = explanation.to_string();
    assert!(
        text.contains("are apart again") && text.contains("to [9, 0, 0] after 0.4"),
        "{text}"
    );
}

#[test]
fn what_the_last_tick_has_not_seen() {
    let (mut app, [ball, wall]) = ball_and(cube_at(5.0));
    let new = app.world_mut().spawn(cube_at(1.5)).id();
    let unseen = PairStatus::Unseen { entity: new };
    let words = ["the tick has not seen it yet"];
    assert_explained(&app, [ball, new], &words, unseen.clone());
    assert_explained(&app, [new, ball], &words, unseen.clone());
    sync_now(app.world_mut());
    assert_explained(&app, [ball, new], &words, unseen);
    tick(&mut app);
    let status = explained(&app, [ball, new]).status;
    assert!(matches!(status, PairStatus::Touching(_)));

    // After `sync_now`, the pose of the last tick is gone.
    transform(app.world_mut(), wall).translation.x = 1.5;
    sync_now(app.world_mut());
    let unseen = PairStatus::Unseen { entity: wall };
    assert_explained(&app, [ball, wall], &words, unseen);
    // The contact of the last tick remains.
    transform(app.world_mut(), new).translation.x = 9.0;
    sync_now(app.world_mut());
    let explanation = explained(&app, [ball, new]);
    assert!(matches!(explanation.status, PairStatus::Touching(_)));
    assert_eq!(explanation.changed, [false, true]);
}

#[test]
fn every_change_after_the_last_tick_is_noted() {
    let changes: [fn(&mut World, Entity); 6] = [
        support::move_away,
        support::leave_layers,
        |world, entity| transform(world, entity).scale = Vec3::splat(2.0),
        |world, entity| {
            world.entity_mut(entity).insert(Sensor);
        },
        |world, entity| {
            world.entity_mut(entity).insert(Collider::sphere(0.5));
        },
        |world, entity| {
            let parent = world.spawn(Transform::from_xyz(0.0, 1.0, 0.0)).id();
            world.entity_mut(entity).insert(ChildOf(parent));
        },
    ];
    for change in changes {
        for side in 0..2 {
            let (mut app, pair) = ball_and(cube_at(1.5));
            let before = explained(&app, pair);
            assert_eq!(before.changed, [false, false]);
            change(app.world_mut(), pair[side]);
            let after = explained(&app, pair);
            assert_eq!(after.status, before.status);
            assert_eq!(after.changed, [side == 0, side == 1]);
            let (text, name) = (after.to_string(), ["\"Ball\"", "\"Wall\""][side]);
            let end = format!("{name} has changed since the last tick.");
            assert!(text.ends_with(&end), "{text}");
            tick(&mut app);
            assert_eq!(explained(&app, pair).changed, [false, false]);
        }
    }
    let (mut app, pair) = ball_and(cube_at(1.5));
    // Writing the same pose again is no change.
    transform(app.world_mut(), pair[0]).translation.x = 0.0;
    assert_eq!(explained(&app, pair).changed, [false, false]);
    for entity in pair {
        support::move_away(app.world_mut(), entity);
    }
    let text = explained(&app, pair).to_string();
    assert!(text.ends_with("Both have changed since the last tick."));
}

#[test]
fn colliders_that_are_never_tested() {
    let dimensions = |[in_3d, in_2d]: [Entity; 2]| PairStatus::Dimensions { in_2d, in_3d };
    assert_status(Collider::circle(1.0), &["is in 2D"], dimensions);
    let (app, [ball, circle]) = ball_and(Collider::circle(1.0));
    let status = dimensions([ball, circle]);
    assert_explained(&app, [circle, ball], &["in 3D"], status);

    let mut app = support::app();
    let grounds =
        [Vec3::X, Vec3::Y].map(|normal| app.world_mut().spawn(Collider::half_space(normal)).id());
    tick(&mut app);
    assert_explained(&app, grounds, &["half-spaces"], PairStatus::HalfSpaces);

    let other_layers = CollisionLayers::new(0b100, u32::MAX);
    let (mut app, pair) = ball_and((cube_at(1.5), other_layers));
    let layers = CollisionLayers::new(0b1, 0b11);
    app.world_mut().entity_mut(pair[0]).insert(layers);
    tick(&mut app);
    let [ball, wall] = pair;
    let status = PairStatus::Layers {
        layers,
        other_layers,
    };
    let words = [
        "is on the layers 0b100,",
        "interacts only with the layers 0b11.",
    ];
    assert_explained(&app, pair, &words, status);
    let text = explained(&app, pair).to_string();
    assert!(!text.contains("0b1,"), "the layers that match: {text}");
    let status = PairStatus::Layers {
        layers: other_layers,
        other_layers: layers,
    };
    assert_explained(&app, [wall, ball], &words, status);
}

#[test]
fn all_layers_and_no_layer_are_named_so() {
    let cases = [
        (
            u32::MAX,
            0,
            "is on all layers, and",
            "interacts with no layer.",
        ),
        (
            0,
            u32::MAX,
            "is on no layer, and",
            "interacts with all layers.",
        ),
    ];
    for (memberships, filters, on, with) in cases {
        let wall = (cube_at(1.5), CollisionLayers::new(memberships, u32::MAX));
        let (mut app, pair) = ball_and(wall);
        let layers = CollisionLayers::new(u32::MAX, filters);
        app.world_mut().entity_mut(pair[0]).insert(layers);
        tick(&mut app);
        let text = explained(&app, pair).to_string();
        let ending = format!("{with} Change their `CollisionLayers`.");
        assert!(text.contains(on) && text.ends_with(&ending), "{text}");
    }
}

#[test]
fn a_pair_that_the_app_does_not_supply() {
    let (mut app, pair) = ball_and(cube_at(1.5));
    let other = app.world_mut().spawn(cube_at(1.0)).id();
    app.insert_resource(BroadPhase::Custom);
    app.world_mut()
        .resource_mut::<CandidatePairs>()
        .push(other, pair[1]);
    tick(&mut app);
    assert_explained(&app, pair, &["CandidatePairs"], PairStatus::NotCandidate);
    let status = explained(&app, [pair[1], other]).status;
    assert!(matches!(status, PairStatus::Touching(_)));
}

#[test]
fn colliders_that_are_apart() {
    let (app, [ball, wall]) = ball_and(cube_at(-2.5));
    for (pair, sign) in [([ball, wall], -1.0), ([wall, ball], 1.0)] {
        let PairStatus::BoxesApart { axis, gap } = explained(&app, pair).status else {
            panic!("{:?}", explained(&app, pair));
        };
        assert_eq!(axis, sign * Vec3::X);
        assert!((gap - 0.5).abs() < 1e-5, "{gap}");
        let along = format!("are 0.5 apart along [{sign}, 0, 0]");
        let words = ["bounding boxes", along.as_str()];
        assert_explained(&app, pair, &words, PairStatus::BoxesApart { axis, gap });
    }

    // The centers are 2.5 apart (a 3-4-5 triangle), and the boxes overlap.
    let pose = Transform::from_xyz(1.5, 2.0, 0.0).with_scale(Vec3::splat(1.25));
    let (app, pair) = ball_and((Collider::sphere(1.0), pose));
    let expected = PairStatus::ShapesApart {
        normal: Vec3::new(0.6, 0.8, 0.0),
        distance: 0.25,
        point: Vec3::new(0.6, 0.8, 0.0),
        other_point: Vec3::new(0.75, 1.0, 0.0),
    };
    assert_explained(&app, pair, &["0.25 apart along [0.6, 0.8, 0]"], expected);
    // In 2D, the distance is a third, which the text rounds.
    let mut app = crate::support::app();
    let circles =
        [0.0, 7.0 / 3.0].map(|x| (Collider::circle(1.0), Transform::from_xyz(x, 0.0, 0.0)));
    let pair = circles.map(|circle| app.world_mut().spawn(circle).id());
    tick(&mut app);
    let text = explained(&app, pair).to_string();
    assert!(text.contains("are 0.3333 apart along [1, 0]"), "{text}");
    // A half-space has no box.
    let pose = Transform::from_xyz(7.0, -1.5, 0.0);
    assert_status(
        (Collider::half_space(Vec3::Y), pose),
        &["0.5 apart"],
        |_| PairStatus::ShapesApart {
            normal: Vec3::NEG_Y,
            distance: 0.5,
            point: Vec3::NEG_Y,
            other_point: Vec3::new(0.0, -1.5, 0.0),
        },
    );
}

/// Returns the walls of a room from -`half` to `half`: a closed mesh in 3D, and a closed line in
/// 2D.
fn room(half: f32, is_2d: bool) -> Collider {
    let corner = |index: usize| {
        let [x, y, z] = [1, 2, 4].map(|bit| if index & bit == 0 { -half } else { half });
        Vec3::new(x, y, z)
    };
    if is_2d {
        let corners = [0, 1, 3, 2, 0].map(|index| corner(index).truncate());
        return Collider::polyline(corners);
    }
    let sides = [
        [0, 1, 3, 2],
        [4, 6, 7, 5],
        [0, 4, 5, 1],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 5, 7, 3],
    ];
    let facets = sides
        .into_iter()
        .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Collider::trimesh((0..8).map(corner), facets)
}

#[test]
fn inside_of_a_closed_surface_which_has_no_interior() {
    let has_sentence = |app: &App, pair| {
        let text = explained(app, pair).to_string();
        let says = text.contains("\"Room\" is a surface, which has no interior");
        assert!(says || !text.contains("interior"), "{text}");
        says
    };
    for is_2d in [false, true] {
        let mut app = support::app();
        let mut spawn = |collider: Collider, x: f32, name: &'static str| {
            let bundle = (Name::new(name), collider, Transform::from_xyz(x, 0.0, 0.0));
            app.world_mut().spawn(bundle).id()
        };
        let ball = if is_2d {
            Collider::circle
        } else {
            Collider::sphere
        };
        let walls = spawn(room(5.0, is_2d), 0.0, "Room");
        let inside = spawn(ball(1.0), 0.0, "Inside");
        // The walls of the smaller room do not touch the walls of the larger room, either.
        let small_room = spawn(room(2.0, is_2d), 0.0, "Small");
        let outside = spawn(ball(1.0), 7.0, "Outside");
        tick(&mut app);
        let PairStatus::ShapesApart { distance, .. } = explained(&app, [inside, walls]).status
        else {
            panic!("{}", explained(&app, [inside, walls]));
        };
        support::assert_near(distance, 4.0, 4.0);
        assert!(has_sentence(&app, [inside, walls]));
        assert!(has_sentence(&app, [walls, inside]));
        assert!(has_sentence(&app, [small_room, walls]));
        assert!(!has_sentence(&app, [outside, walls]));
    }
    // A solid around a ball would touch the ball. A solid beside the ball is no surface.
    let pose = Transform::from_xyz(1.5, 2.0, 0.0).with_scale(Vec3::splat(1.25));
    let (app, pair) = ball_and((Collider::sphere(1.0), pose));
    assert!(!has_sentence(&app, pair));
}

/// Returns a floor of two triangles that face down.
fn ceiling() -> Collider {
    let corners = [[-4.0, -4.0], [4.0, -4.0], [4.0, 4.0], [-4.0, 4.0]];
    let corners = corners.map(|[x, z]| Vec3::new(x, 0.0, z));
    Collider::trimesh(corners, [[0, 1, 2], [0, 2, 3]]).one_sided()
}

#[test]
fn behind_a_one_sided_surface() {
    let at = |y: f32| (ceiling(), Transform::from_xyz(0.0, y, 0.0));
    let words = ["`one_sided`", "Reverse"];
    assert_status(at(-0.5), &words, |[_, surface]| PairStatus::BehindSurface {
        surface,
    });
    let (app, pair) = ball_and(at(0.5));
    let status = explained(&app, pair).status;
    assert!(matches!(status, PairStatus::Touching(_)), "{status:?}");

    // The boxes overlap, the shapes do not overlap, and no facet counts.
    let tilt = Transform::from_xyz(0.0, -2.0, 0.0).with_rotation(Quat::from_rotation_z(0.4));
    assert_status((ceiling(), tilt), &words, |[_, surface]| {
        PairStatus::BehindSurface { surface }
    });
    // On the side that counts, the plane is 2 cos 0.4 away from the center.
    let tilt = Transform {
        translation: Vec3::Y * 2.0,
        ..tilt
    };
    let (app, pair) = ball_and((ceiling(), tilt));
    let PairStatus::ShapesApart { distance, .. } = explained(&app, pair).status else {
        panic!("{:?}", explained(&app, pair));
    };
    support::assert_near(distance, 2.0 * 0.4_f32.cos() - 1.0, 1.0);
}

/// A cube whose support function works only along the axes.
struct Gaps;

impl Support for Gaps {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let zeros = direction.to_array().into_iter().filter(|x| *x == 0.0);
        if zeros.count() == 2 {
            direction.signum()
        } else {
            DVec3::NAN
        }
    }
}

#[test]
fn a_support_function_that_returns_nan() {
    let pose = Transform::from_xyz(1.0, 1.0, 1.0);
    let other = (Collider::custom(Gaps), pose);
    assert_status(other, &["`Support`"], |_| PairStatus::NoDistance);
}

/// Returns the number of random pairs: `HEADBUTT_EXPLAIN`, or 40,000.
fn pairs() -> usize {
    number("HEADBUTT_EXPLAIN").unwrap_or(40_000)
}

/// The pairs that the app supplies, if it supplies any.
type Supplied = Option<HashSet<[Entity; 2]>>;

fn is_2d(thing: &Thing) -> bool {
    thing.collider.shape_2d().is_some()
}

/// Returns the lowest and the highest corner of a box, or `None` for a half-space.
fn corners(thing: &Thing) -> Option<[Vec3; 2]> {
    let aabb = thing.collider.aabb(thing.pose)?;
    Some([aabb.min, aabb.max])
}

/// Returns the gaps of two boxes along all axes. A gap is 0 if the boxes overlap along the axis,
/// and positive if the second box is above the first.
fn gaps(a: &Thing, b: &Thing) -> Option<[f32; 3]> {
    let ([min, max], [other_min, other_max]) = (corners(a)?, corners(b)?);
    let (above, below) = (other_min - max, min - other_max);
    Some([0, 1, 2].map(|axis| above[axis].max(0.0) - below[axis].max(0.0)))
}

/// Returns the same collider with a surface that collides on both sides.
fn both_sides(thing: &Thing) -> Option<Collider> {
    if let Some(ShapeView::Surface(surface)) = thing.collider.shape_2d() {
        let segments = surface.facets().map(|ends| [ends[0], ends[1]]);
        let vertices = surface.vertices().iter().copied();
        return Some(Collider::polyline_with_indices(vertices, segments));
    }
    let Some(ShapeView::Surface(surface)) = thing.collider.shape_3d() else {
        return None;
    };
    let triangles = surface.facets().map(|ends| [ends[0], ends[1], ends[2]]);
    let vertices = surface.vertices().iter().copied();
    Some(Collider::trimesh(vertices, triangles))
}

/// Returns the reason that excludes a pair before its shapes are compared.
fn excluded(a: &Thing, b: &Thing, supplied: &Supplied) -> Option<&'static str> {
    let allows = |a: &Thing, b: &Thing| a.layers.memberships & b.layers.filters != 0;
    let is_supplied = |pair| supplied.as_ref().is_none_or(|pairs| pairs.contains(&pair));
    let (is_plane, other_is_plane) = (corners(a).is_none(), corners(b).is_none());
    if !a.pose.is_finite() || !b.pose.is_finite() {
        Some("ignored")
    } else if is_2d(a) != is_2d(b) {
        Some("dimensions")
    } else if is_plane && other_is_plane {
        Some("half-spaces")
    } else if !(allows(a, b) && allows(b, a)) {
        Some("layers")
    } else if a.owner() == b.owner() {
        Some("owner")
    } else if a.ignores(b) {
        Some("exception")
    } else if !is_supplied([a.entity, b.entity]) && !is_supplied([b.entity, a.entity]) {
        Some("candidates")
    } else {
        let is_apart = gaps(a, b).is_some_and(|gaps| gaps.iter().any(|gap| *gap != 0.0));
        is_apart.then_some("boxes")
    }
}

/// Verifies the explanation of a pair after a tick. Returns the name of the status.
fn verify(world: &World, [a, b]: [&Thing; 2], supplied: &Supplied) -> &'static str {
    let explanation = explain(world, a.entity, b.entity);
    let context = || format!("{explanation}\n{a:?}\n{b:?}");
    let contact = world.resource::<Collisions>().between(a.entity, b.entity);
    let excluded = excluded(a, b, supplied);
    let expect = |name: &'static str| {
        assert_eq!((excluded, contact), (Some(name), None), "{}", context());
        name
    };
    match explanation.status.clone() {
        PairStatus::Touching(hit) => {
            assert_eq!((excluded, contact), (None, Some(hit)), "{}", context());
            assert!(gap(a, b).is_none_or(|gap| gap < 1e-5), "{}", context());
            "touching"
        }
        PairStatus::Ignored { entity, reason } => {
            let first = if a.pose.is_finite() { b } else { a };
            let expected = IgnoredReason::InvalidPose(ColliderError::NotFinite);
            assert_eq!((entity, reason), (first.entity, expected));
            expect("ignored")
        }
        PairStatus::Dimensions { in_2d, in_3d } => {
            let [first, second] = if is_2d(a) { [a, b] } else { [b, a] };
            assert_eq!([in_2d, in_3d], [first.entity, second.entity]);
            expect("dimensions")
        }
        PairStatus::HalfSpaces => expect("half-spaces"),
        PairStatus::Layers {
            layers,
            other_layers,
        } => {
            assert_eq!([layers, other_layers], [a.layers, b.layers]);
            expect("layers")
        }
        PairStatus::SameOwner { owner } => {
            assert_eq!([owner; 2], [a.owner(), b.owner()]);
            expect("owner")
        }
        PairStatus::Exception { holder, ignored } => {
            let holds = |from: &Thing, to: &Thing| {
                [from.entity, from.owner()].contains(&holder)
                    && [to.entity, to.owner()].contains(&ignored)
                    && from.ignored.contains(&ignored)
            };
            assert!(holds(a, b) || holds(b, a), "{}", context());
            expect("exception")
        }
        PairStatus::NotCandidate => expect("candidates"),
        PairStatus::BoxesApart { axis, gap } => {
            let gaps = Vec3::from(gaps(a, b).expect("two boxes"));
            assert_eq!(gap, gaps.abs().max_element(), "{}", context());
            assert_eq!(gap, gaps.dot(axis), "{}", context());
            assert_eq!(axis.abs().element_sum(), 1.0);
            expect("boxes")
        }
        status => {
            assert_eq!((excluded, contact), (None, None), "{}", context());
            verify_shapes([a, b], &status).unwrap_or_else(|error| panic!("{error}: {}", context()))
        }
    }
}

/// Returns `true` for a surface that collides on one side.
fn is_one_sided(thing: &Thing) -> bool {
    match (thing.collider.shape_2d(), thing.collider.shape_3d()) {
        (Some(ShapeView::Surface(surface)), _) => surface.is_one_sided(),
        (_, Some(ShapeView::Surface(surface))) => surface.is_one_sided(),
        _ => false,
    }
}

/// Returns the signed distance by the oracle, if it has bodies for both.
fn gap(a: &Thing, b: &Thing) -> Option<f64> {
    let (a, b) = if corners(a).is_some() { (a, b) } else { (b, a) };
    let bodies_a = bodies(&a.collider, a.pose)?;
    if corners(b).is_none() {
        let normal = b.pose.rotation.as_dquat().normalize() * DVec3::Y;
        let point = b.pose.translation.as_dvec3();
        return Some(gap_to_plane(&bodies_a, point, normal));
    }
    let bodies_b = bodies(&b.collider, b.pose)?;
    Some(gap_within(&bodies_a, &bodies_b, f64::INFINITY))
}

/// Verifies the reason why shapes do not touch although their boxes touch. The oracle decides if it
/// has bodies for both, and otherwise the query.
fn verify_shapes([a, b]: [&Thing; 2], status: &PairStatus) -> Result<&'static str, String> {
    let nearest = query::distance(&a.collider, a.pose, &b.collider, b.pose);
    let gap = gap(a, b);
    match *status {
        PairStatus::ShapesApart {
            normal,
            distance,
            point,
            other_point,
        } => {
            let size = 1.0 + point.abs().max_element();
            let is_near = |found: f32, expected: f32| (found - expected).abs() <= 1e-5 * size;
            let offset = other_point - point;
            if gap.is_some_and(|gap| gap < -1e-5) {
                return Err(format!("they overlap: {gap:?}"));
            }
            // Behind a one-sided surface, the distance is the distance to another part of the
            // surface.
            let gap = gap.filter(|_| !is_one_sided(a) && !is_one_sided(b));
            let expected = gap.map_or(nearest.distance, |gap| gap as f32);
            if !(distance > 0.0 && is_near(distance, expected)) {
                return Err(format!("the distance is {expected}"));
            }
            if !(normal.is_normalized() && is_near(offset.dot(normal), offset.length())) {
                return Err("the normal is wrong".into());
            }
            if !is_near(offset.length(), distance) {
                return Err("the points are wrong".into());
            }
            Ok(match gap {
                Some(_) => "apart",
                None => "apart by the query",
            })
        }
        PairStatus::BehindSurface { surface } => {
            let (surface, body) = if surface == a.entity { (a, b) } else { (b, a) };
            let touches = |surface_shape: &Collider, body_shape: &Collider| {
                query::intersects(surface_shape, surface.pose, body_shape, body.pose)
            };
            let both_sides_of_body = both_sides(body).unwrap_or(body.collider.clone());
            let touches_other_side = both_sides(surface)
                .is_some_and(|surface| touches(&surface, &both_sides_of_body))
                || nearest.distance == f32::INFINITY;
            if touches(&surface.collider, &body.collider) || !touches_other_side {
                return Err("it is not behind".into());
            }
            if !is_one_sided(surface) {
                return Err("the surface has no back".into());
            }
            // The body touches a facet from behind, unless the whole body is behind all facets.
            let is_met = gap.is_none_or(|gap| gap < 1e-5);
            if !is_met && nearest.distance != f32::INFINITY {
                return Err(format!("it is {gap:?} away"));
            }
            Ok("behind")
        }
        _ => Err("unexpected".into()),
    }
}

/// Explains all pairs of random worlds in both dimensions, after each of several ticks.
#[test]
fn random_pairs_are_explained_as_the_tick_saw_them() {
    let mut random = StdRng::seed_from_u64(20);
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut moved = 0;
    while counts.values().sum::<usize>() < pairs() {
        let mut world = RandomWorld::new(Dimension::D2, random.random_range(1.0..8.0));
        let share_of_3d = [0.1, 0.9][random.random_range(0..2)];
        for _ in 0..random.random_range(4..24) {
            world.dimension = Dimension::BOTH[usize::from(random.random_bool(share_of_3d))];
            world.spawn(&mut random);
        }
        for _ in 0..4 {
            if random.random_bool(0.2) {
                lose_pose(&mut world, &mut random);
            }
            let supplied = supply(&mut world, &mut random);
            world.tick();
            for (index, a) in world.things.iter().enumerate() {
                for b in &world.things[..index] {
                    let pair = if random.random() { [a, b] } else { [b, a] };
                    *counts
                        .entry(verify(world.app.world(), pair, &supplied))
                        .or_default() += 1;
                }
            }
            moved += usize::from(verify_move(&mut world, &mut random));
            world.change(&mut random);
        }
    }
    println!("{counts:?}");
    // Each reason with its minimum number of occurrences in a thousand pairs. Two half-spaces in
    // one world are too rare for the usual number of pairs.
    let expected = [
        ("apart", 10),
        ("apart by the query", 0),
        ("behind", 1),
        ("boxes", 100),
        ("candidates", 50),
        ("dimensions", 100),
        ("exception", 20),
        ("ignored", 30),
        ("layers", 100),
        ("owner", 10),
        ("touching", 30),
    ];
    let found = counts.keys().filter(|name| **name != "half-spaces");
    assert!(
        found.eq(expected.iter().map(|(name, _)| name)),
        "{counts:?}"
    );
    for (name, least) in expected {
        let least = (least * pairs() / 1000).max(1);
        assert!(
            counts[name] >= least,
            "{name}, at least {least}: {counts:?}"
        );
    }
    println!("{moved} moves");
    assert!(moved * 200 > pairs(), "{moved} moves");
}

/// Makes a pose invalid.
fn lose_pose(world: &mut RandomWorld, random: &mut StdRng) {
    if let Some(thing) = world.things.choose_mut(random) {
        thing.pose.translation.x = f32::NAN;
        support::lose_pose(world.app.world_mut(), thing.entity);
    }
}

/// In some cases, lets the app supply about half of the pairs.
fn supply(world: &mut RandomWorld, random: &mut StdRng) -> Supplied {
    let is_custom = random.random_bool(0.3);
    let source = if is_custom {
        BroadPhase::Custom
    } else {
        BroadPhase::Automatic
    };
    let entities: Vec<_> = world.things.iter().map(|thing| thing.entity).collect();
    let pairs = entities
        .iter()
        .flat_map(|a| entities.iter().map(|b| [*a, *b]));
    let chosen: HashSet<_> = pairs.filter(|_| random.random_bool(0.3)).collect();
    world.app.insert_resource(source);
    let mut list = world.app.world_mut().resource_mut::<CandidatePairs>();
    list.clear();
    list.extend(chosen.iter().map(|[a, b]| (*a, *b)));
    is_custom.then_some(chosen)
}

/// Moves one collider, asserts that the explanation is still the explanation of the tick, and moves
/// the collider back. Returns `false` if both random choices are the same collider, or if a pose is
/// invalid.
fn verify_move(world: &mut RandomWorld, random: &mut StdRng) -> bool {
    let (Some(a), Some(b)) = (world.things.choose(random), world.things.choose(random)) else {
        return false;
    };
    if a.entity == b.entity || !a.pose.is_finite() || !b.pose.is_finite() {
        return false;
    }
    let before = explain(world.app.world(), a.entity, b.entity);
    let pose = transform(world.app.world_mut(), b.entity).translation;
    transform(world.app.world_mut(), b.entity).translation.y = pose.y + 1.0;
    let after = explain(world.app.world(), a.entity, b.entity);
    assert_eq!(
        (&after.status, after.changed),
        (&before.status, [false, true])
    );
    transform(world.app.world_mut(), b.entity).translation = pose;
    assert_eq!(explain(world.app.world(), a.entity, b.entity), before);
    true
}
