//! The markers of colliders: [`Sensor`], [`Swept`] and [`JoinedCollider`].

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};

/// Marks a collider as a sensor, which detects other colliders and is never solid.
///
/// * Contacts of a sensor are reported like all other contacts.
///   [`CollisionEvent`](crate::CollisionEvent) shows which of the two entities is a sensor.
/// * [`Collisions::push_out`](crate::Collisions::push_out) ignores the contacts of sensors.
/// * [`SpatialQuery`](crate::SpatialQuery) ignores sensors, unless
///   [`SpatialQueryFilter::with_sensors`](crate::SpatialQueryFilter::with_sensors) includes them.
///
/// A change takes effect in the next tick, even if the collider is at rest. The component marks
/// only the collider of its own entity, not the colliders of children.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// #[derive(Component)]
/// struct Coin;
///
/// fn spawn_coin(mut commands: Commands) {
///     commands.spawn((Coin, Collider::circle(8.0), Sensor));
/// }
///
/// fn collect(mut commands: Commands, mut hits: MessageReader<CollisionEvent>) {
///     for hit in hits.read().filter(|hit| hit.started()) {
///         if hit.other_is_sensor() {
///             commands.entity(hit.other).try_despawn();
///         }
///     }
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Sensor;

/// Marks a collider as swept: its path since the previous tick is tested, so that the collider
/// passes through nothing at any speed.
///
/// Colliders without `Swept` are tested only in their poses at each tick. A bullet that moves
/// farther per tick than the thickness of a wall may then pass through the wall.
///
#[cfg_attr(doc, doc = "![The path of a ball touches a thin wall][swept]\n\n")]
#[cfg_attr(doc, doc = include_str!("../../docs/pictures.md"))]
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn shoot(mut commands: Commands) {
///     commands.spawn((Collider::sphere(0.05), Swept, Transform::from_xyz(0.0, 1.0, 0.0)));
/// }
///
/// fn on_hit(mut hits: MessageReader<CollisionEvent>) {
///     for hit in hits.read().filter(|hit| hit.started()) {
///         println!("hit at {}, after {} of the tick", hit.point(), hit.time());
///     }
/// }
/// ```
///
/// # Events
///
/// * `Started` has the [time](crate::CollisionEvent::time) of the first touch, and the contact at
///   that moment.
/// * If the two colliders are apart at the end of the tick, the tick sends both `Started` and
///   `Ended`. [`Collisions`](crate::Collisions) then does not list the pair.
/// * If the two colliders still touch at the end of the tick, `Collisions` has the contact in the
///   poses of the tick.
/// * The first touches of swept colliders are sent after all other events, sorted by time. If the
///   two colliders are apart again, the `Ended` follows its `Started` directly. So the hits of one
///   path are reported in order of time. A path does not end at a hit: a response that stops the
///   body has to ignore the later hits.
/// * If the two colliders touched in the previous tick, the path may lead through the other
///   collider to its far side. In this case, an `Ongoing` event with the time and the contact
///   precedes `Ended`.
/// * A response may move two colliders apart that touched in the previous tick. If the colliders
///   touch again, the tick sends both `Ended` and `Started`.
///
/// # Paths
///
/// A path leads from the pose in the previous tick to the pose in this tick. On a path, the
/// velocity and the angular velocity are constant. The rotation is at most half a turn. The scale
/// is the scale of this tick. If one of two colliders is swept, the paths of both colliders are
/// tested: two bullets can meet, and a fast wall can meet a bullet. If neither collider is swept,
/// the pair is tested only in the poses of the tick.
///
/// [`Teleported`](crate::Teleported) begins a new path. Insert this marker after a teleport, and
/// after a response has moved the collider.
///
/// A path is straight, even if a parent of the collider rotates. If a parent rotates far in one
/// tick, the paths of its children may touch, although the children keep their distance. To exclude
/// pairs of such children, give the children a common [owner](crate::ColliderOf).
///
/// Without `Teleported`, a collider has no path in its first tick, or in the first tick after it
/// was disabled, invalid or of another dimension. Without `Teleported`, a collider also has no path
/// in the first tick in which any collider is swept or [`OneWay`](crate::OneWay).
///
/// # Cost
///
/// A pair is cast when its colliders begin to touch. A pair is also cast if its bounding boxes meet
/// during the motion, and the relative motion exceeds the inner radius of the swept collider. The
/// inner radius of a ball, a capsule or a box is the radius of the largest ball in the shape. For
/// all other shapes, the value 0 is used. A slower motion cannot take a collider through another
/// collider. If a slower motion only grazes another collider between two ticks, no contact is
/// reported.
///
/// While any collider is swept, the poses of all colliders are stored. Without swept
/// colliders, no pose is stored and no pair is cast.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Swept;

/// Joins a collider with all other colliders that have the same number. Together, these *members*
/// are one solid, the *ground*: bodies do not catch where two members meet.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// /// The number of the ground.
/// const LEVEL: JoinedCollider = JoinedCollider(1);
///
/// fn spawn_floor(mut commands: Commands) {
///     for x in 0..10 {
///         let pose = Transform::from_xyz(16.0 * x as f32, -8.0, 0.0);
///         commands.spawn((Collider::rectangle(16.0, 16.0), pose, LEVEL));
///     }
/// }
///
/// /// Loads a chunk of 32 x 32 tiles, which joins its neighbors.
/// fn load_chunk(mut commands: Commands, chunk: IVec2, tiles: &CellGrid<Vec2>) {
///     let place = 32.0 * chunk.as_vec2() * tiles.cell_size();
///     let pose = Transform::from_translation(place.extend(0.0));
///     commands.spawn((Collider::cells(tiles), pose, LEVEL));
/// }
/// # let _ = (spawn_floor, load_chunk);
/// ```
///
/// In the tick and in all methods of [`SpatialQuery`](crate::SpatialQuery), the contacts, hits and
/// distances are those of the union of all members, as with [`joined`](crate::Collider::joined)
/// and [`cells`](crate::Collider::cells). Each member is still a collider of its own:
///
/// * **Entities.** Each event and each hit is of the member that has the touched face. If the
///   center of a body is inside the ground, the member around the center has all contacts, also if
///   the way out leads to another member. For a compound of 2 to 16 parts, the first part inside
///   counts.
/// * **Parts.** The `part` of an event or a hit is an index in the member's own collider: 0 for a
///   convex shape, a part of a compound, or a face from which
///   [`cell_2d`](crate::Collider::cell_2d), [`cell_3d`](crate::Collider::cell_3d) and
///   [`joined_part`](crate::Collider::joined_part) return the cell or the part. If the way out
///   leads to another member, the part is the nearest face of the member's own collider.
/// * **Layers, owners, sensors, exceptions and filters** apply to each member by itself. They do
///   not change the union: a body that ignores one member still finds no face between this member
///   and the others. If the center of a body is inside a member that it ignores, the body has no
///   contact with the ground.
/// * **Members do not touch each other.** Contacts between two colliders end when they are joined.
/// * The functions of [`query`](mod@crate::query) and picking see each collider by itself.
///
/// # Which colliders can be joined
///
/// * **Shapes:** boxes, polygons, hulls and extrusions that have a volume, and compounds of such
///   shapes, also joined compounds. Their margins must be equal, and a member with a margin must
///   have a uniform scale. The faces are rounded to f32 in world coordinates. Members that are
///   apart by at most 9.5e-7 of their greatest |x| + |y| + |z| in the world are joined. A member
///   must be thicker than 4 times this tolerance.
/// * **Cells:** colliders from [`cells`](crate::Collider::cells) with the same size of a cell, the
///   same margin, rotation and scale. All members with a table of
///   [shapes](crate::CellGrid::with_shapes) must have the same table. Their positions must differ
///   by whole cells, and all cells of the ground must be within 16383 cells of the origin of the
///   world. If two members have a cell at the same position, both members report its contacts. All
///   cells are stored twice, and the chunks of the ground have at most 2²⁶ cells, as in a single
///   grid.
/// * If two members contradict each other, as with other margins, sizes of cells or cells at the
///   same position, the member with the lower entity decides.
/// * A ground consists either of shapes or of cells. In a ground with shapes, grids are not joined.
/// * 2D and 3D members with the same number form two grounds.
///
/// A member that cannot be joined stays a collider of its own, and one warning names its entity. So
/// does a member that is [`OneWay`](crate::OneWay), or a grid with one-way cells.
///
/// # Changes and cost
///
/// Members are expected to rest. If a member changes, comes or goes, the next tick joins the ground
/// again:
///
/// * **Shapes:** all faces are found again, and all pairs of the ground are tested. A member that
///   moves in each tick has this cost in each tick.
/// * **Cells:** only the faces near changed cells are found again, and only the bodies near these
///   faces are tested again. So loading a chunk costs the chunk and its border.
///
/// A member has no path: a [`Swept`](crate::Swept) body is tested against the pose of this tick. A
/// query asks the ground once for each member near its region. While there are members, each tick
/// compares all components of this type with their copies.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct JoinedCollider(pub u32);
