//! The settings of the debug drawing: which parts are drawn, and in which colors.

use bevy::prelude::*;

/// The settings of [`HeadbuttDebugPlugin`](crate::HeadbuttDebugPlugin): a group of gizmos in Bevy's
/// `GizmoConfigStore`.
///
/// ```
/// use bevy::prelude::*;
/// use headbutt::prelude::*;
///
/// fn show_boxes_only(mut store: ResMut<GizmoConfigStore>) {
///     let (_, gizmos) = store.config_mut::<HeadbuttGizmos>();
///     *gizmos = HeadbuttGizmos { boxes: true, ..HeadbuttGizmos::none() };
/// }
/// ```
///
/// By [`default`](Self::default), everything but `boxes` and `queries` is drawn, in rendered poses.
#[derive(Clone, Copy, Debug, PartialEq, Reflect, GizmoConfigGroup)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct HeadbuttGizmos {
    /// Draws the outline of each collider.
    pub shapes: bool,
    /// Draws the bounding box of each collider. A half-space has no bounding box.
    pub boxes: bool,
    /// Draws two crosses for each contact: at the deepest points of both shapes. For compounds and
    /// surfaces, crosses mark the deepest points of each touching part.
    pub contact_points: bool,
    /// Draws the normal of each contact as an arrow whose length is the depth. Moving
    /// [`other`](crate::CollisionEvent::other) by this arrow separates the two shapes.
    pub contact_normals: bool,
    /// Draws each [`RayCaster`](crate::RayCaster) and [`ShapeCaster`](crate::ShapeCaster) up to its
    /// first hit, with the normal at the hit.
    pub casters: bool,
    /// Draws the path of each [`Swept`](crate::Swept) collider in the last tick: the outlines at
    /// the start and at the first touch, and the path of the origin.
    pub paths: bool,
    /// Draws the rays and moving shapes of each [`SpatialQuery`](crate::SpatialQuery) up to their
    /// first hit. The drawn queries are the queries of the last fixed step and the queries since
    /// the last frame. This switch is off by default.
    ///
    /// At most 4,096 queries of the last fixed step and 4,096 queries since the last frame are
    /// drawn. Queries with points and boxes, overlap queries and
    /// [`move_and_slide`](crate::SpatialQuery::move_and_slide) are never drawn.
    pub queries: bool,
    /// Draws the reason why the two entities of [`ExplainedPair`](crate::ExplainedPair) do or do
    /// not collide.
    pub explanation: bool,
    /// If `true`, only entities with a [`ColliderGizmo`] are drawn.
    pub require_component: bool,
    /// The poses in which shapes and boxes are drawn.
    pub poses: GizmoPoses,
    /// Half the length of the cross that marks a collider without a valid shape, in the units of
    /// the collider. If a unit is a pixel, choose about 10.
    pub inert_size: f32,
    /// The colors of all lines.
    pub colors: ColliderColors,
}

impl HeadbuttGizmos {
    /// Returns settings that draw everything.
    pub fn all() -> Self {
        Self {
            boxes: true,
            queries: true,
            ..Self::default()
        }
    }

    /// Returns settings that draw nothing, not even entities with a [`ColliderGizmo`]. With these
    /// settings, the drawing systems do no work.
    pub fn none() -> Self {
        Self {
            shapes: false,
            boxes: false,
            contact_points: false,
            contact_normals: false,
            casters: false,
            paths: false,
            queries: false,
            explanation: false,
            ..Self::default()
        }
    }
}

impl Default for HeadbuttGizmos {
    fn default() -> Self {
        Self {
            shapes: true,
            boxes: false,
            contact_points: true,
            contact_normals: true,
            casters: true,
            paths: true,
            queries: false,
            explanation: true,
            require_component: false,
            poses: GizmoPoses::default(),
            inert_size: 0.5,
            colors: ColliderColors::default(),
        }
    }
}

/// The poses in which shapes and boxes are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[type_path = "headbutt"]
pub enum GizmoPoses {
    /// The poses on the screen (`GlobalTransform`), which a game may have smoothed.
    #[default]
    Rendered,
    /// The poses of the last tick, in which collisions were detected. A collider that no tick has
    /// read yet is drawn in its rendered pose.
    Tick,
}

/// The colors of [`HeadbuttGizmos`].
///
/// A shape has the color of the first state in this list that applies to its collider.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub struct ColliderColors {
    /// The collider is inert, invalid, or in an invalid pose: it touches nothing.
    pub inert: Color,
    /// The collider touched another collider in the last tick.
    pub touching: Color,
    /// The collider is a [`Sensor`](crate::Sensor).
    pub sensor: Color,
    /// The collider moved or changed in the last tick.
    pub moving: Color,
    /// The collider did not change in the last tick.
    pub resting: Color,
    /// Bounding boxes.
    pub boxes: Color,
    /// Contact points.
    pub contact_points: Color,
    /// Contact normals.
    pub contact_normals: Color,
    /// Casters that hit nothing.
    pub casters: Color,
    /// Casters that hit something.
    pub caster_hits: Color,
    /// Paths without a touch, and the part of a path after its first touch.
    pub paths: Color,
    /// Paths up to their first touch.
    pub path_hits: Color,
    /// Queries.
    pub queries: Color,
    /// The end of a query that hits something.
    pub query_hits: Color,
    /// The explained pair.
    pub explanation: Color,
}

impl Default for ColliderColors {
    fn default() -> Self {
        Self {
            inert: Color::srgb(0.95, 0.2, 0.2),
            touching: Color::srgb(1.0, 0.6, 0.1),
            sensor: Color::srgb(0.75, 0.5, 1.0),
            moving: Color::srgb(0.35, 0.9, 0.45),
            resting: Color::srgb(0.55, 0.68, 0.8),
            boxes: Color::srgb(0.4, 0.4, 0.45),
            contact_points: Color::srgb(1.0, 0.95, 0.3),
            contact_normals: Color::srgb(1.0, 0.4, 0.75),
            casters: Color::srgb(0.3, 0.6, 0.75),
            caster_hits: Color::srgb(0.3, 0.9, 1.0),
            paths: Color::srgb(0.5, 0.5, 0.3),
            path_hits: Color::srgb(0.95, 0.85, 0.2),
            queries: Color::srgb(0.6, 0.6, 0.6),
            query_hits: Color::srgb(0.2, 1.0, 0.3),
            explanation: Color::srgb(1.0, 1.0, 1.0),
        }
    }
}

/// The settings with which [`HeadbuttDebugPlugin`](crate::HeadbuttDebugPlugin) draws the shape and
/// the box of one entity.
///
/// ```
/// use bevy::{color::palettes::css::HOT_PINK, prelude::*};
/// use headbutt::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Collider::sphere(0.5), ColliderGizmo::Color(HOT_PINK.into())));
///     commands.spawn((Collider::cuboid(90.0, 1.0, 90.0), ColliderGizmo::Hidden));
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[type_path = "headbutt"]
pub enum ColliderGizmo {
    /// The entity is drawn in the color of its state, as without this component. With
    /// [`HeadbuttGizmos::require_component`], this component selects the entity.
    #[default]
    Shown,
    /// The shape and the box are not drawn, but contacts are.
    Hidden,
    /// The entity is drawn in this color, whatever its state.
    Color(Color),
}
