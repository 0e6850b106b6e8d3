//! The text of an [`Explanation`].

use core::fmt;

use bevy::prelude::*;

use crate::{
    CollisionEvent, CollisionLayers,
    explain::{Explanation, NamedCell, PairStatus},
    math::Vec3,
};

const NO_PLUGIN: &str = "the app has no `HeadbuttPlugin`. Add it with `App::add_plugins`.";
const NO_TICK: &str = "no tick has run yet. Check that the schedule of the plugin runs, by default \
                       `FixedPostUpdate`.";
const INTERRUPTED: &str = "the last tick is not complete, or the app has written `Collisions` \
                           since. Ask again after `HeadbuttSystems::Report`.";
const SAME_ENTITY: &str = "they are the same. For a second collider, spawn a child entity.";
const UNSEEN: &str = "was added or changed, and the tick has not seen it yet. Ask again after the \
                      next tick.";
const HALF_SPACES: &str = "both are half-spaces. To make them collide, replace one by a large box.";
const REJECTED: &str = "a filter that the app added with `add_pair_filter` rejected the pair.";
const PASSES_THROUGH: &str = "has `PassThrough`, and the other is `OneWay`. Remove `PassThrough`.";
const NOT_FROM_ABOVE: &str = "is `OneWay` or has one-way cells, and the other passes through, \
                              because it did not come from the solid side. Change the direction, \
                              or increase the `margin` of `OneWay`.";
const CONTACT_REJECTED: &str = "a filter that the app added with `add_contact_filter` rejected \
                                their contact.";
const SAME_OWNER: &str = "To make them collide, remove or change a `ColliderOf`.";
const NOT_CANDIDATE: &str = "the pair was not among the `CandidatePairs`. With \
                             `BroadPhase::Custom`, add it in or before \
                             `HeadbuttSystems::BroadPhase`.";
const LOOKS_CLOSER: &str = "If they look closer on the screen, the colliders differ in size or \
                            position from what is drawn. If one of them is fast, add `Swept`.";
const NO_INTERIOR: &str = "is a surface, which has no interior: only its facets collide. If it is \
                           meant as a solid, use a convex hull or a compound.";
const ONE_SIDED: &str = "is `one_sided`, and the center of the other is behind it. Reverse the \
                         vertices of its facets, or do without `one_sided`.";
const NO_DISTANCE: &str = "their distance cannot be computed. Check the `Support` of a custom \
                           shape.";

/// A component of a vector is shown as 0 if it is at most this fraction of the greatest component.
const SHOWN_AS_ZERO: f32 = 1e-6;

/// Numbers in this range are written without an exponent, and all other numbers with an exponent.
const WRITTEN_OUT: core::ops::Range<f64> = 1e-4..1e7;

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let [a, b] = [self.entity, self.other].map(|entity| self.label(entity));
        let verb = match self.status {
            PairStatus::Touching(_) => "touch",
            PairStatus::PassedThrough(_) => "touched and are apart again",
            _ => "do not touch",
        };
        write!(out, "{a} and {b} {verb}: ")?;
        self.write_status(out)?;
        self.write_cells(out)?;
        match self.changed {
            // The text of the status already names the change.
            _ if matches!(self.status, PairStatus::Unseen { .. }) => Ok(()),
            [false, false] => Ok(()),
            [true, false] => write!(out, " {a} has changed since the last tick."),
            [false, true] => write!(out, " {b} has changed since the last tick."),
            [true, true] => write!(out, " Both have changed since the last tick."),
        }
    }
}

impl Explanation {
    /// Returns the id and the name of an entity, as warnings display them.
    fn label(&self, entity: Entity) -> String {
        let sides = [self.entity, self.other].into_iter().zip(&self.names);
        let name = sides.into_iter().find(|(side, _)| *side == entity);
        match name.and_then(|(_, name)| name.as_ref()) {
            Some(name) => format!("entity {entity} {:?}", name.as_str()),
            None => format!("entity {entity}"),
        }
    }

    fn vector(&self, vector: Vec3) -> String {
        vector_text(vector, self.is_2d)
    }

    fn write_status(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match &self.status {
            PairStatus::NoPlugin => out.write_str(NO_PLUGIN),
            PairStatus::NoTick => out.write_str(NO_TICK),
            PairStatus::Interrupted => out.write_str(INTERRUPTED),
            PairStatus::SameEntity => out.write_str(SAME_ENTITY),
            PairStatus::Ignored { entity, reason } => {
                write!(out, "{} {reason}.", self.label(*entity))
            }
            PairStatus::Touching(contact) => self.write_contact(out, contact),
            PairStatus::PassedThrough(contact) => write!(
                out,
                "the path of this tick led to {} after {} of the tick.",
                self.vector(contact.point()),
                four_digits(contact.time())
            ),
            PairStatus::Unseen { entity } => write!(out, "{} {UNSEEN}", self.label(*entity)),
            PairStatus::Dimensions { in_2d, in_3d } => {
                let [in_2d, in_3d] = [in_2d, in_3d].map(|entity| self.label(*entity));
                write!(
                    out,
                    "{in_2d} is in 2D, and {in_3d} in 3D. Make both 2D or 3D."
                )
            }
            PairStatus::HalfSpaces => out.write_str(HALF_SPACES),
            PairStatus::Layers {
                layers,
                other_layers,
            } => self.write_layers(out, [*layers, *other_layers]),
            PairStatus::SameOwner { owner } => {
                write!(
                    out,
                    "both are colliders of {}. {SAME_OWNER}",
                    self.label(*owner)
                )
            }
            PairStatus::Exception { holder, ignored } => {
                let [holder, ignored] = [holder, ignored].map(|entity| self.label(*entity));
                write!(
                    out,
                    "the `IgnoreCollisions` of {holder} lists {ignored}. Remove it there."
                )
            }
            PairStatus::PassThrough { body } => {
                write!(out, "{} {PASSES_THROUGH}", self.label(*body))
            }
            PairStatus::Rejected => out.write_str(REJECTED),
            PairStatus::NotFromAbove { platform } => {
                write!(out, "{} {NOT_FROM_ABOVE}", self.label(*platform))
            }
            PairStatus::ContactRejected => out.write_str(CONTACT_REJECTED),
            PairStatus::NotCandidate => out.write_str(NOT_CANDIDATE),
            PairStatus::BoxesApart { axis, gap } => {
                let (axis, gap) = (self.vector(*axis), four_digits(*gap));
                write!(
                    out,
                    "their bounding boxes are {gap} apart along {axis}. {LOOKS_CLOSER}"
                )
            }
            PairStatus::BehindSurface { surface } => {
                let label = self.label(*surface);
                write!(out, "{label} {ONE_SIDED}")?;
                match self.surface {
                    Some(around) if around == *surface => write!(out, " {label} {NO_INTERIOR}"),
                    _ => Ok(()),
                }
            }
            PairStatus::ShapesApart {
                normal,
                distance,
                point,
                other_point,
            } => {
                let distance = four_digits(*distance);
                let [normal, point, other_point] =
                    [normal, point, other_point].map(|vector| self.vector(*vector));
                write!(out, "they are {distance} apart along {normal}, ")?;
                write!(out, "from {point} to {other_point}. ")?;
                if let Some(surface) = self.surface {
                    write!(out, "{} {NO_INTERIOR} ", self.label(surface))?;
                }
                out.write_str(LOOKS_CLOSER)
            }
            PairStatus::NoDistance => out.write_str(NO_DISTANCE),
        }
    }

    /// Writes the touched cell of each grid, or the nearest cell.
    fn write_cells(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let nearest = match self.status {
            PairStatus::Touching(_) => "",
            _ => "nearest ",
        };
        for (entity, cell) in [self.entity, self.other].into_iter().zip(self.cells) {
            if let Some(NamedCell { position, material }) = cell {
                let [x, y, z] = position;
                let label = self.label(entity);
                let z = if self.is_2d {
                    String::new()
                } else {
                    format!(", {z}")
                };
                write!(out, " The {nearest}cell of {label} is at [{x}, {y}{z}], ")?;
                write!(out, "with the material {material}.")?;
            }
        }
        Ok(())
    }

    /// Writes the layers that keep the two colliders from interacting.
    fn write_layers(
        &self,
        out: &mut fmt::Formatter,
        [layers, other_layers]: [CollisionLayers; 2],
    ) -> fmt::Result {
        let (first, second) = ((self.entity, layers), (self.other, other_layers));
        let mut separator = "";
        for ((entity, on), (other, with)) in [(first, second), (second, first)] {
            if on.memberships & with.filters != 0 {
                continue;
            }
            let (entity, other) = (self.label(entity), self.label(other));
            let [memberships, filters] =
                [on.memberships, with.filters].map(|layers| self.layers_text(layers));
            let only = match with.filters {
                0 | u32::MAX => "",
                _ => "only ",
            };
            write!(out, "{separator}{entity} is on {memberships}, ")?;
            write!(out, "and {other} interacts {only}with {filters}")?;
            separator = "; ";
        }
        write!(out, ". Change their `CollisionLayers`.")
    }

    fn layers_text(&self, layers: u32) -> String {
        match layers {
            0 => "no layer".to_owned(),
            u32::MAX => "all layers".to_owned(),
            layers => format!("the layers {}", self.layer_names.text(layers)),
        }
    }

    fn write_contact(&self, out: &mut fmt::Formatter, contact: &CollisionEvent) -> fmt::Result {
        let (depth, normal) = (four_digits(contact.depth), self.vector(contact.normal));
        write!(out, "they are {depth} deep along {normal}.")?;
        if !contact.is_solid() {
            write!(out, " One of them is a `Sensor`, so `push_out` ignores it.")?;
        } else if contact.ongoing() {
            write!(
                out,
                " `Started` was sent in an earlier tick, and `OngoingEvents` decides whether \
                 `Ongoing` is sent."
            )?;
        }
        Ok(())
    }
}

/// Returns the text of a vector. In 2D, the text leaves out z.
fn vector_text(vector: Vec3, is_2d: bool) -> String {
    // A component that is tiny beside another component is probably a rounding error, so it is
    // shown as 0.
    let rounding = SHOWN_AS_ZERO * vector.abs().max_element();
    let shown = |component: f32| {
        if component.abs() > rounding {
            component
        } else {
            0.0
        }
    };
    let [x, y, z] = vector
        .to_array()
        .map(|component| four_digits(shown(component)));
    if is_2d {
        format!("[{x}, {y}]")
    } else {
        format!("[{x}, {y}, {z}]")
    }
}

/// Returns the text of a number, with at most four significant digits.
fn four_digits(number: f32) -> String {
    // Parsing the rounded text gives a number for which `Display` writes no further digits. Adding
    // 0 removes the sign of -0.
    let rounded = format!("{number:.3e}").parse::<f64>();
    let number = rounded.unwrap_or(number.into()) + 0.0;
    if number == 0.0 || WRITTEN_OUT.contains(&number.abs()) || !number.is_finite() {
        format!("{number}")
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_four_digits() {
        let cases = [
            (0.5, "0.5"),
            (1.0 / 3.0, "0.3333"),
            (-2.0 / 3.0, "-0.6667"),
            (0.499_999_76, "0.5"),
            (9.999_96, "10"),
            (-0.0, "0"),
            (1_234.567, "1235"),
            (123_456.7, "123500"),
            (0.001_234_56, "0.001235"),
            (1.234_56e-7, "1.235e-7"),
            (2e20, "2e20"),
            (f32::INFINITY, "inf"),
        ];
        for (number, expected) in cases {
            assert_eq!(four_digits(number), expected);
        }
        let vector = Vec3::new(1.0, -1.0 / 3.0, 0.0);
        assert_eq!(vector_text(vector, true), "[1, -0.3333]");
        assert_eq!(vector_text(vector, false), "[1, -0.3333, 0]");
    }
}
