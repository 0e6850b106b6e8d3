//! A custom shape: a lens, defined only by its support function. A ball moves around the lens while
//! the lens rotates about all axes. Each contact is compared with the formula for a lens.
//!
//! ```text
//! cargo run --example custom_shape
//! ```
//!
//! The example opens no window and ends by itself. The example fails if a contact is missing or
//! unexpected, or if a depth is wrong.

use bevy::{
    math::{DVec2, DVec3},
    prelude::*,
};
use headbutt::prelude::*;

/// The intersection of two balls of equal radius. The centers of both balls are on the y axis,
/// `center` above and below the origin.
#[derive(Clone, Copy)]
struct Lens {
    radius: f64,
    center: f64,
}

const LENS: Lens = Lens {
    radius: 1.25,
    center: 0.75,
};

/// The radius of the ball that moves around the lens: a power of two, which is exact in f32.
const BALL: f32 = 0.25;

impl Lens {
    /// Returns the radius r of the rim, on which the two spheres meet: r² + s² = R², where R is
    /// `radius` and s is `center`.
    fn rim(&self) -> f64 {
        (self.radius * self.radius - self.center * self.center).sqrt()
    }
}

/// The lens needs only a support function.
///
/// The lens is symmetric in y, so let d be a unit direction with d.y >= 0. The upper face is a part
/// of the sphere around (0, -s, 0). The farthest point of that sphere along d is R d - (0, s, 0).
///
/// * If this point has y >= 0, it is on the lens. No point of the lens is farther, because the lens
///   is inside of the sphere.
/// * Otherwise, the farthest point is the point of the rim in the direction of d.
impl Support for Lens {
    type Vector = Vec3;

    fn support(&self, direction: DVec3) -> DVec3 {
        // `direction` is never zero, but may have any length.
        let unit = direction.normalize();
        let height = self.radius * unit.y.abs() - self.center;
        if height >= 0.0 {
            (self.radius * unit).with_y(height.copysign(unit.y))
        } else {
            // Here |d.y| < s / R < 1, so the part of d across y is not zero.
            self.rim() * unit.with_y(0.0).normalize()
        }
    }
}

/// Returns the signed distance from the lens to a point, which is negative inside, by a formula.
///
/// By symmetry, two coordinates suffice: the distance from the y axis, and |y|. The nearest point
/// is the projection onto the upper face, or on the rim if that projection has y < 0.
fn distance(lens: &Lens, point: DVec3) -> f64 {
    let (across, up) = (point.x.hypot(point.z), point.y.abs());
    let from_center = across.hypot(up + lens.center);
    let foot = lens.radius * (up + lens.center) / from_center - lens.center;
    if foot >= 0.0 {
        from_center - lens.radius
    } else {
        DVec2::new(across, up).distance(DVec2::new(lens.rim(), 0.0))
    }
}

#[derive(Component)]
struct Ball;

#[derive(Resource, Default)]
struct Tick(u16);

/// The largest difference between events and formula, and the number of ticks with and without a
/// contact.
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
    headbutt::run_ticks(&mut app, 1_000);

    let compared = app.world().resource::<Comparison>();
    println!(
        "{} contacts, largest error {:.1e}; {} ticks without a contact, as expected",
        compared.touching, compared.worst, compared.apart
    );
    assert!(compared.touching > 100 && compared.apart > 100);
}

fn spawn(mut commands: Commands) {
    commands.spawn((Collider::custom(LENS), Transform::from_xyz(3.0, -2.0, 5.0)));
    commands.spawn((Ball, Collider::sphere(BALL)));
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
    let direction = Quat::from_euler(EulerRot::XYZ, 0.3 * time, time, 0.2 * time) * Vec3::X;
    ball.translation = lens.translation + direction * (0.9 + 0.6 * (0.37 * time).sin());
}

/// Compares the event with the formula, which needs the ball in the frame of the lens.
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
