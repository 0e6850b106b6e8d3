//! The steps of each mode, and their descriptions.

use bevy::{math::DVec2, prelude::*};
use headbutt::query::steps::{self, EpaStep, GjkStep, Step};

use crate::Figure;

/// B's motion in a cast.
pub const MOTION: Vec2 = Vec2::new(-5.0, 0.6);

/// Lengths below this value count as 0. On curved shapes, the bounds do not meet exactly.
const ROUNDING: f64 = 1e-6;

#[derive(Clone, Copy, Default, PartialEq)]
pub enum Mode {
    #[default]
    Distance,
    Contact,
    Cast,
}

impl Mode {
    pub fn next(self) -> Self {
        match self {
            Self::Distance => Self::Contact,
            Self::Contact => Self::Cast,
            Self::Cast => Self::Distance,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Distance => "GJK: distance",
            Self::Contact => "GJK and EPA: contact",
            Self::Cast => "Cast: first touch of B on its path",
        }
    }

    /// Returns the poses of A and B at the start.
    pub fn poses(self) -> [Transform; 2] {
        let [a, b] = match self {
            Self::Distance => [[-5.8, -1.6], [-2.9, -0.1]],
            Self::Contact => [[-5.1, -1.3], [-3.9, -0.9]],
            Self::Cast => [[-6.9, -1.2], [-2.0, -0.8]],
        };
        [(a, 0.3), (b, 0.6)].map(|([x, y], angle)| {
            Transform::from_xyz(x, y, 0.0).with_rotation(Quat::from_rotation_z(angle))
        })
    }

    /// Returns the steps up to the result. Later steps are omitted. After EPA, GJK improves the
    /// points of the contact. After a cast, GJK proves that the shapes overlap after the touch.
    pub fn steps(
        self,
        (a, pose_a): (&Figure, &Transform),
        (b, pose_b): (&Figure, &Transform),
    ) -> Vec<Step<DVec2>> {
        let (mut steps, still) = (Vec::new(), Vec2::ZERO);
        match self {
            Self::Distance => _ = steps::distance(&a.0, pose_a, &b.0, pose_b, &mut steps),
            Self::Contact => _ = steps::contact(&a.0, pose_a, &b.0, pose_b, &mut steps),
            Self::Cast => {
                steps::cast_shape(&a.0, pose_a, still, &b.0, pose_b, MOTION, &mut steps);
            }
        }
        steps.retain(|step| match step {
            Step::Gjk(step) => self != Self::Cast && step.target == DVec2::ZERO,
            Step::Epa(_) | Step::Cast { .. } => true,
        });
        steps
    }
}

/// Returns a description of a step.
pub fn describe(steps: &[Step<DVec2>], index: usize) -> String {
    let before = index.checked_sub(1).and_then(|before| steps.get(before));
    match (steps.get(index), before) {
        (None, _) => "The shapes touch at the start: there is nothing to cast.".to_owned(),
        (Some(Step::Gjk(step)), Some(Step::Gjk(before))) => gjk(step, before.nearest),
        (Some(Step::Gjk(_)), _) => "The first vertex, in the direction from A to B.".to_owned(),
        (Some(Step::Epa(step)), _) => epa(step),
        (Some(Step::Cast { interval, .. }), before) => {
            let last_free = match before {
                Some(Step::Cast { interval, .. }) => interval[0],
                _ => 0.0,
            };
            cast(
                *interval,
                interval[0] <= last_free,
                index + 1 == steps.len(),
            )
        }
    }
}

fn gjk(step: &GjkStep<DVec2>, nearest: DVec2) -> String {
    let beyond = (step.vertex.point - nearest).dot(step.vertex.direction.normalize());
    let [low, high] = [step.lower_bound, step.upper_bound];
    let simplex = match step.simplex.len() {
        1 => "vertex",
        2 => "edge",
        _ => "triangle",
    };
    if high < ROUNDING {
        format!("The simplex, now a {simplex}, contains the origin: the cores overlap.")
    } else if beyond < ROUNDING {
        format!(
            "No point lies farther in the direction of the arrow: the cores are {high:.3} apart."
        )
    } else {
        format!(
            "The support point lies {beyond:.3} beyond the simplex, which grows. The {simplex} \
             nearest\nto the origin is kept. The cores are between {low:.3} and {high:.3} apart."
        )
    }
}

fn epa(step: &EpaStep<DVec2>) -> String {
    let [low, high] = [step.lower_bound, step.upper_bound];
    let Some(edge) = step.nearest else {
        return "EPA starts with a triangle: one more support point is needed.".to_owned();
    };
    let beyond = edge.normal.dot(step.vertex.point) - edge.distance;
    if beyond < ROUNDING {
        format!("No point lies beyond the nearest edge: the depth is {high:.3} along its normal.")
    } else {
        format!(
            "The support point lies {beyond:.3} beyond the nearest edge, and splits it into two.\n\
             The depth is between {low:.3} and {high:.3}."
        )
    }
}

fn cast([free, touch]: [f64; 2], stays: bool, is_last: bool) -> String {
    let touches = if touch.is_finite() {
        format!("The first touch is between {free:.4} and {touch:.4} of the motion.")
    } else {
        format!("There is no touch before {free:.4} of the motion.")
    };
    let reason = match (stays, is_last) {
        (_, true) if free >= 1.0 => "The support plane never touches the path: a miss.",
        (_, true) => "The bounds have met.",
        (true, _) => "The support point improves the direction.",
        (false, _) => "Until then, the support plane separates the shapes.",
    };
    format!("{touches}\n{reason}")
}
