//! Decides which contacts at rims of facets are contacts of the surface.

use core::ops::ControlFlow;

use crate::{
    pipeline::narrow_phase::surface::{
        Meeting,
        touch::{EXACT, Kind, Touch},
    },
    shape::{BoundaryPoint, weld},
    space::{DVector, Space},
};

impl<'a, V: Space> Meeting<'a, V> {
    /// Returns `true` if the contact is that of a ball at a point where a facet rises that shares a
    /// vertex there, and has a contact of its own.
    pub(super) fn rises_beside(&self, touch: &Touch<V::DVec>) -> bool {
        let Kind::Rim { rim, error } = touch.kind else {
            return false;
        };
        // Others that have the same point may have another normal, and are judged together.
        if error > EXACT {
            return false;
        }
        let weld = weld(&[rim.point]);
        let rises = |corners: &[V::DVec]| rim.rises(corners, touch.normal, error, weld);
        let number = self.facet_number(touch.numbers);
        let judge = |other| {
            if self.is_hidden_by_number(other) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let surface = self.surface();
        let found = surface.search_sharers(number, rim.weights, rises, judge);
        found.is_break()
    }

    /// Like [`is_hidden`](Self::is_hidden), for a facet by its number.
    fn is_hidden_by_number(&self, number: u32) -> bool {
        let surface = self.surface();
        surface.is_one_sided() && surface.facet(number).is_some_and(|it| self.is_hidden(&it))
    }

    /// Removes the contacts at rims that are no contacts of the surface.
    pub(super) fn judge_rims(&self, touches: &mut Vec<Touch<V::DVec>>) {
        // Facets that have one point in common have one contact there with each part of the body,
        // which is judged once.
        let place = |touch: &Touch<V::DVec>| match touch.kind {
            Kind::Rim { rim, .. } => Some(rim.point),
            _ => None,
        };
        touches.sort_unstable_by(|a, b| {
            let (one, other) = (place(a), place(b));
            let places = match (one, other) {
                (Some(one), Some(other)) => one.total_cmp(other),
                _ => one.is_some().cmp(&other.is_some()),
            };
            let [one, other] = [a, b].map(|touch| self.body_number(touch.numbers));
            let parts = one.cmp(&other);
            places.then(parts).then(a.numbers.cmp(&b.numbers))
        });
        // The closest point of all is a minimum, whatever rounding makes of the facets around it.
        let is_shallow = |touch: &Touch<V::DVec>| !matches!(touch.kind, Kind::Plane);
        let deepest = touches
            .iter()
            .fold(0.0, |most: f64, it| most.max(it.contact.depth));
        let are_shallow = touches.iter().all(is_shallow);
        let is_closest = |touch: &Touch<V::DVec>| are_shallow && touch.contact.depth >= deepest;
        let mut last = None;
        let mut hidden = None;
        touches.retain(|touch| {
            let Kind::Rim { rim, error } = touch.kind else {
                return true;
            };
            let place = Some((rim.point, self.body_number(touch.numbers)));
            if last == place {
                return false;
            }
            last = place;
            let verdict = self.verdict(touch.numbers, &rim, touch.normal, error);
            if verdict == Verdict::RisesBehind {
                hidden = hidden.or(Some(touch.numbers));
            }
            verdict == Verdict::Counts || verdict == Verdict::Rises && is_closest(touch)
        });
        // A body behind a one-sided wall still meets the floor in front of it.
        if touches.is_empty() {
            touches.extend(hidden.and_then(|numbers| self.levelled(numbers)));
        }
    }

    /// What the facets at a point say of a normal.
    pub(super) fn verdict(
        &self,
        numbers: (u32, u32),
        rim: &BoundaryPoint<V::DVec>,
        normal: V::DVec,
        error: f64,
    ) -> Verdict {
        let number = self.facet_number(numbers);
        let mut verdict = Verdict::Counts;
        let weld = weld(&[rim.point]);
        let rises = |corners: &[V::DVec]| rim.rises(corners, normal, error, weld);
        let judge = |other| {
            if self.is_hidden_by_number(other) {
                verdict = Verdict::RisesBehind;
                ControlFlow::Continue(())
            } else {
                verdict = Verdict::Rises;
                ControlFlow::Break(())
            }
        };
        self.surface()
            .search_around(number, rim.weights, rises, judge);
        verdict
    }

    /// The contact along the outer normal of a facet.
    fn levelled(&self, numbers: (u32, u32)) -> Option<Touch<V::DVec>> {
        self.solve(numbers, V::DVec::ZERO, |solver, _| {
            let facet = self.surface().facet(self.facet_number(numbers))?;
            Some(self.over_plane(solver, numbers, &facet, facet.normal))
        })
    }
}

/// The result of judging a contact at a point of the rim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// None rises along it.
    Counts,
    /// A facet rises that has a contact of its own.
    Rises,
    /// A facet rises, but only ones that are hidden.
    RisesBehind,
}
