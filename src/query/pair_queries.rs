//! The queries of a pair of shapes in the world.

use crate::{
    query::{
        Contact, Contact64, Distance, Manifold, ManifoldPoint, Pair, Solver, analytic,
        length_to_f32, minkowski::MinkowskiDifference,
    },
    shape::{DVecOf, Support},
    space::Space,
};

/// Returns `true` if the shapes of a pair touch.
#[inline(always)]
pub(crate) fn touches<A, B>(pair: Pair<A, B>) -> bool
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    match analytic::solve(&pair) {
        Some(closed_form) => closed_form.hit(pair.radius_sum()),
        None => Solver::without_closed_form(pair).hit(),
    }
}

/// Returns the contact of a pair, or `None` if the shapes do not touch.
#[inline(always)]
pub(super) fn contact<A, B>(pair: Pair<A, B>) -> Option<Contact<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    match analytic::solve(&pair) {
        Some(closed_form) => {
            let contact = pair.contact_of_closed_form(&closed_form)?;
            Some(pair.contact_in_world(&contact))
        }
        None => {
            let mut solver = Solver::without_closed_form(pair);
            solver.hit().then(|| contact_of(&mut solver))
        }
    }
}

/// Returns the contact of a pair in f64, or `None` if the shapes do not touch.
#[inline]
pub(crate) fn contact64<A, B>(pair: Pair<A, B>) -> Option<Contact64<DVecOf<A>>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    match analytic::solve(&pair) {
        Some(closed_form) => pair.contact_of_closed_form(&closed_form),
        None => {
            let mut solver = Solver::without_closed_form(pair);
            solver.hit().then(|| solver.contact())
        }
    }
}

/// Returns the manifold of a pair, or `None` if the shapes do not touch.
#[inline(always)]
pub(crate) fn manifold<A, B>(pair: Pair<A, B>) -> Option<Manifold<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut solver = match analytic::solve(&pair) {
        Some(closed_form) if pair.has_point() => {
            let contact = pair.contact_of_closed_form(&closed_form)?;
            return Some(Manifold::of_contact(pair.contact_in_world(&contact)));
        }
        Some(closed_form) if !closed_form.hit(pair.radius_sum()) => return None,
        Some(closed_form) => Solver::of_closed_form(pair, closed_form),
        None => Solver::without_closed_form(pair),
    };
    solver.hit().then(|| manifold_of(&mut solver))
}

/// Returns the distance between the shapes of a pair, or `None` if a shape is invalid.
#[inline(always)]
pub(super) fn distance<A, B>(pair: Pair<A, B>) -> Option<Distance<A::Vector>>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let mut solver = Solver::new(pair);
    let (distance, nearest) = solver.distance()?;
    Some(Distance::new(
        distance,
        solver.pair.points_in_world(&nearest),
    ))
}

/// Returns the contact of shapes that touch.
#[inline]
pub(super) fn contact_of<A, B>(solver: &mut Solver<A, B>) -> Contact<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let contact = solver.contact();
    solver.pair.contact_in_world(&contact)
}

/// Returns the manifold of shapes that touch.
pub(super) fn manifold_of<A, B>(solver: &mut Solver<A, B>) -> Manifold<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let contacts = solver.manifold();
    manifold_in_world(solver, &contacts)
}

/// Returns a manifold in the world.
pub(crate) fn manifold_in_world<A, B>(
    solver: &Solver<A, B>,
    contacts: &[Contact64<DVecOf<A>>],
) -> Manifold<A::Vector>
where
    A: Support + ?Sized,
    B: Support<Vector = A::Vector> + ?Sized,
{
    let point = |contact| {
        let [point_a, point_b] = solver.pair.points_in_world(contact);
        ManifoldPoint {
            depth: length_to_f32(contact.depth),
            point_a,
            point_b,
        }
    };
    Manifold {
        normal: contacts.first().map_or(A::Vector::default(), |contact| {
            A::Vector::from_f64(contact.normal)
        }),
        points: contacts.iter().map(point).collect(),
    }
}
