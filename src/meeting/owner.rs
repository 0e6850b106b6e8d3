//! The owners of colliders.

use bevy::prelude::*;

/// Makes an entity the owner of this collider: a character owns its hitboxes and its bullets.
///
/// * Colliders of the same owner never touch each other, and never touch the owner's own collider.
///   This rule holds in ticks, on swept paths, and in the queries
///   [of](crate::SpatialQueryFilter::of) one of these entities.
/// * Events name the collider and its [owner](crate::CollisionEvent::owner), and observers of the
///   owner are triggered, too.
/// * [`SpatialQueryFilter::excluding`](crate::SpatialQueryFilter::excluding) an owner excludes all
///   its colliders, and [`IgnoreCollisions`](crate::IgnoreCollisions) applies to all of them.
///
/// A bullet ignores its shooter, and all hitboxes of the shooter, with one component:
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Health(i32);
/// #[derive(Component)]
/// struct Bullet;
///
/// fn spawn_enemy(mut commands: Commands) {
///     let enemy = commands.spawn((Health(100), Transform::default())).observe(hurt).id();
///     let head = (Collider::circle(5.0), Transform::from_xyz(0.0, 30.0, 0.0));
///     commands.spawn((head, ChildOf(enemy), ColliderOf(enemy)));
/// }
///
/// fn shoot(mut commands: Commands, shooter: Single<(Entity, &Transform), With<Health>>) {
///     let (shooter, pose) = *shooter;
///     commands.spawn((Bullet, Collider::circle(1.0), Swept, *pose, ColliderOf(shooter)));
/// }
///
/// /// Runs for each collider of the enemy that touches something.
/// fn hurt(
///     hit: On<CollisionStarted>,
///     bullets: Query<(), With<Bullet>>,
///     mut healths: Query<&mut Health>,
/// ) {
///     // The enemy's bullets are its colliders, too, and their hits do not hurt the enemy.
///     if bullets.contains(hit.other)
///         && !bullets.contains(hit.entity)
///         && let Ok(mut health) = healths.get_mut(hit.owner())
///     {
///         health.0 -= 10;
///     }
/// }
/// ```
///
/// A collider without this component is its own owner. The relationship has one level: the owner of
/// an owner does not count. A parent is not an owner. A change takes effect in the next tick, even
/// if the colliders are at rest. If the owner is despawned, its colliders stay, and are their own
/// owners again.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[relationship(relationship_target = Colliders)]
#[reflect(Component, Clone, Debug, PartialEq, Hash)]
#[type_path = "headbutt"]
pub struct ColliderOf(#[entities] pub Entity);

/// The colliders that an entity owns, apart from its own collider. Bevy keeps this component up to
/// date: see [`ColliderOf`].
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn is_touched(collisions: Res<Collisions>, owners: Query<&Colliders>) {
///     for colliders in &owners {
///         let hits = colliders.iter().flat_map(|part| collisions.deepest_of(part));
///         println!("{} contacts", hits.count());
///     }
/// }
/// ```
#[derive(Component, Debug, Default, PartialEq, Eq, Reflect)]
#[relationship_target(relationship = ColliderOf)]
#[reflect(Component, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct Colliders(Vec<Entity>);
