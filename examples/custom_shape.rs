//! A shape that no library has: a lens of glass, known by its support function alone. It turns about all axes while a ball
//! goes round it, and each contact is held against the formula for a lens.
//!
//! ```text
//! cargo run --example custom_shape
//! ```
//!
//! Headless, and over at once. It fails if a contact is missing, is one too many, or is not as deep as it should be.

use bevy::{
    math::{DVec2, DVec3},
    prelude::*,
    time::TimeUpdateStrategy,
};
use headbutt::prelude::*;

/// What two balls of the same radius have in common. Their centres are on y, as far above the origin as below it.
#[derive(Clone, Copy)]
struct Lens {
    radius: f64,
    centre: f64,
}

const LENS: Lens = Lens {
    radius: 1.25,
    centre: 0.75,
};

/// The radius of the ball that goes round the lens, as a power of two: exact in f32 and f64.
const BALL: f32 = 0.25;

impl Lens {
    /// The radius r of the rim, where the two spheres meet: r² + s² = R², with R the `radius` and s the `centre`.
    fn rim(&self) -> f64 {
        (self.radius * self.radius - self.centre * self.centre).sqrt()
    }
}

/// This is all that headbutt asks of a shape.
///
/// The lens is symmetric in y, so let d be a unit direction with d.y >= 0. The upper face is a piece of the sphere about
/// (0, -s, 0). That sphere's own farthest point is R d - (0, s, 0). Where it lies at y >= 0, it is a point of the lens, and
/// nothing of the lens is farther, as the lens is part of the ball. Where it does not, it has left the face over the rim, and
/// the farthest point is the one of the rim toward d.
impl Support for Lens {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        let unit = direction.normalize(); // `direction` is never null, but of any length
        let height = self.radius * unit.y.abs() - self.centre;
        if height >= 0.0 {
            (self.radius * unit).with_y(height.copysign(unit.y))
        } else {
            // Here |d.y| < s / R < 1, so that there is a part across y.
            self.rim() * unit.with_y(0.0).normalize()
        }
    }
}

/// How far a point is from the lens, negative inside: the formula to compare with, which knows nothing of directions.
///
/// By symmetry in the half-plane of ρ, the distance from y, and |y|. The nearest point is the foot on the upper face, or on
/// the rim if that foot is below y = 0.
fn distance(lens: &Lens, point: DVec3) -> f64 {
    let (across, up) = (point.x.hypot(point.z), point.y.abs());
    let from_centre = across.hypot(up + lens.centre);
    let foot = lens.radius * (up + lens.centre) / from_centre - lens.centre;
    if foot >= 0.0 {
        from_centre - lens.radius
    } else {
        DVec2::new(across, up).distance(DVec2::new(lens.rim(), 0.0))
    }
}

#[derive(Component)]
struct Ball;

#[derive(Resource, Default)]
struct Tick(u16);

/// How far the events have been from the formula, and how many ticks they were asked for, with a contact and without.
#[derive(Resource, Default)]
struct Comparison {
    worst: f64,
    touching: u32,
    apart: u32,
}

fn main() {
    println!("tick  phase      depth      by formula");
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HeadbuttPlugin::default()))
        .init_resource::<Tick>()
        .init_resource::<Comparison>()
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, travel)
        .add_systems(FixedPostUpdate, compare.after(HeadbuttSystems::Report));
    let tick = app.world().resource::<Time<Fixed>>().timestep();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick));
    app.update(); // The clock starts here: no time has passed yet, so this runs no tick.
    for _ in 0..1000 {
        app.update();
    }

    let compared = app.world().resource::<Comparison>();
    println!(
        "{} contacts, off by {:.1e} at most; none in {} ticks, as it should be",
        compared.touching, compared.worst, compared.apart
    );
    assert!(compared.touching > 100 && compared.apart > 100);
}

fn spawn(mut commands: Commands) {
    commands.spawn((Collider::custom(LENS), Transform::from_xyz(3.0, -2.0, 5.0)));
    commands.spawn((Ball, Collider::from(Sphere::new(BALL))));
}

fn travel(
    mut tick: ResMut<Tick>,
    lens: Single<&mut Transform, Without<Ball>>,
    ball: Single<&mut Transform, With<Ball>>,
) {
    tick.0 += 1;
    let time = 0.05 * f32::from(tick.0);
    let (mut lens, mut ball) = (lens.into_inner(), ball.into_inner());
    lens.rotation = Quat::from_euler(EulerRot::XYZ, 0.9 * time, 0.4 * time, 0.7 * time);
    let way = Quat::from_euler(EulerRot::XYZ, 0.3 * time, time, 0.2 * time) * Vec3::X;
    ball.translation = lens.translation + way * (0.9 + 0.6 * (0.37 * time).sin());
}

/// The reference: where the ball is in the lens's own frame, and what the formula says to that.
fn compare(
    tick: Res<Tick>,
    mut hits: MessageReader<CollisionEvent>,
    mut comparison: ResMut<Comparison>,
    lens: Single<&Transform, Without<Ball>>,
    ball: Single<(Entity, &Transform), With<Ball>>,
) {
    let (entity, ball) = *ball;
    let offset = ball.translation.as_dvec3() - lens.translation.as_dvec3();
    let turned = lens.rotation.as_dquat().normalize().inverse() * offset;
    let expected = f64::from(BALL) - distance(&LENS, turned);

    let hits = hits.read().filter_map(|hit| hit.seen_from(entity));
    let hit = hits.filter(CollisionEvent::touching).last();
    if let Some(hit) = hit {
        comparison.touching += 1;
        let error = (f64::from(hit.depth) - expected).abs();
        comparison.worst = comparison.worst.max(error);
        assert!(error < 1e-5, "{} deep, by formula {expected}", hit.depth);
        if hit.started() || tick.0.is_multiple_of(50) {
            let phase = format!("{:?}", hit.phase);
            println!("{:>4}  {phase:<9}  {:.7}  {expected:.7}", tick.0, hit.depth);
        }
    } else {
        comparison.apart += 1;
        assert!(expected < 1e-5, "a contact {expected} deep is missing");
    }
}
