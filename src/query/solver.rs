//! The choice of the algorithm for a pair, and the conversion of results to the world. The tick
//! calls [`Pair::find_contact`] for each pair of convex shapes or parts. Queries also call
//! [`Pair::touches`], [`Pair::find_distance`] and [`Pair::find_manifold`]. For several results of a
//! pair, callers use [`Solver::new`].

use smallvec::{SmallVec, smallvec};

use crate::{
    query::{
        Contact, Contact64, Manifold,
        analytic::{self, ClosedForm, HalfSpaceSolver},
        epa::penetration,
        gjk::{Gjk, Goal, Penetration, State, distances_from_cores},
        manifold::{ContactFrame, manifold_points},
        minkowski::{MinkowskiDifference, Pair, PairFrame},
    },
    shape::{DVecOf, Support},
    space::{DVector, Space},
    tolerance::DEPTH_GAP,
};

/// A computed depth exceeds a limit if the difference is more than this number of
/// [`Solver::depth_gap`]s.
const DEPTH_GAPS: f64 = 4.0;

/// A pair, and the algorithm that computes its results.
pub struct Solver<P: MinkowskiDifference> {
    pub pair: P,
    method: Method<P::Vector>,
}

/// The algorithm for a pair, with its results so far.
enum Method<D: DVector> {
    /// GJK, and EPA for cores that overlap.
    Gjk(Gjk<D>),
    HalfSpace(HalfSpaceSolver<D>),
    ClosedForm(ClosedForm<D>),
}

impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> Solver<Pair<'a, A, B>> {
    /// Returns the solver for a pair. If the pair has a closed form, the solver uses that form.
    // This function is always inlined, so that a query on two primitives contains only the code for
    // these primitives.
    #[inline(always)]
    pub fn new(pair: Pair<'a, A, B>) -> Self {
        match analytic::solve(&pair, Goal::Contact) {
            Some(closed_form) => Self {
                pair,
                method: Method::ClosedForm(closed_form),
            },
            None => Self::without_closed_form(pair),
        }
    }

    /// Returns the points of the manifold along a given contact, which need not be the contact of
    /// minimum depth. The shapes must [`touch`](Self::hit).
    pub fn manifold_along(
        &mut self,
        contact: &Contact64<DVecOf<A>>,
    ) -> SmallVec<[Contact64<DVecOf<A>>; 4]> {
        let scale = self.core_contact(f64::INFINITY).scale;
        self.manifold_of(self.pair.frame.cores_of(contact, scale))
    }

    /// Returns the points of the manifold along a contact of the cores. There is at least one
    /// point. All points have the same normal, and the deepest point comes first.
    fn manifold_of(&self, cores: Penetration<DVecOf<A>>) -> SmallVec<[Contact64<DVecOf<A>>; 4]> {
        let scale = match &self.method {
            Method::Gjk(_) | Method::ClosedForm(_) => cores.scale,
            Method::HalfSpace(half_space) => half_space.scale(&self.pair),
        };
        self.pair.manifold_of(Penetration { scale, ..cores })
    }

    /// Returns the manifold of shapes that [`touch`](Self::hit), in the world.
    pub fn manifold_in_world(&mut self) -> Manifold<A::Vector> {
        let cores = self.core_contact(f64::INFINITY);
        Manifold::new(self.manifold_of(cores), self.pair.frame.origins)
    }
}

impl<P: MinkowskiDifference> Solver<P> {
    /// Returns a solver that does not use the closed forms of boxes and polygons.
    #[inline]
    pub fn without_closed_form(pair: P) -> Self {
        // GJK also gets pairs of two half-spaces, and pairs of a half-space and an invalid shape.
        // These pairs never touch, because the support points of a half-space are NaN.
        let method = match HalfSpaceSolver::new(&pair) {
            Some(half_space) => Method::HalfSpace(half_space),
            None => Method::Gjk(Gjk::new(&pair)),
        };
        Self { pair, method }
    }

    /// Returns `true` if the shapes touch.
    #[inline]
    pub fn hit(&mut self) -> bool {
        match &mut self.method {
            Method::Gjk(gjk) => {
                gjk.run(&self.pair, Goal::Verdict);
                gjk.hit()
            }
            Method::HalfSpace(half_space) => half_space.hit(&self.pair),
            Method::ClosedForm(closed_form) => closed_form.hit(self.pair.radius_sum()),
        }
    }

    /// Returns the contact of shapes that [`touch`](Self::hit).
    #[inline]
    pub fn contact(&mut self) -> Contact64<P::Vector> {
        let cores = self.core_contact(f64::INFINITY);
        self.pair.frame().contact(&cores)
    }

    /// Returns the contact if the shapes touch and the depth is less than `limit`. If the depth is
    /// greater, this function is faster than [`find_contact`](Self::find_contact).
    pub fn contact_below(&mut self, limit: f64) -> Option<Contact64<P::Vector>> {
        if !self.hit() {
            return None;
        }
        let cores = self.core_contact(limit - self.pair.radius_sum());
        let contact = self.pair.frame().contact(&cores);
        (contact.depth < limit).then_some(contact)
    }

    /// Returns the contact in f64, or `None` if the shapes do not touch.
    #[inline]
    pub fn find_contact(&mut self) -> Option<Contact64<P::Vector>> {
        self.hit().then(|| self.contact())
    }

    /// Returns the contact of shapes that [`touch`](Self::hit), in the world.
    pub fn contact_in_world<V: Space<DVec = P::Vector>>(&mut self) -> Contact<V> {
        Contact::in_world(&self.contact(), self.pair.frame().origins)
    }

    /// Returns a bound on the error of the computed depth: see [`DEPTH_GAP`].
    pub fn depth_gap(&self) -> f64 {
        match &self.method {
            Method::Gjk(gjk) => DEPTH_GAP * gjk.scale,
            Method::HalfSpace(_) | Method::ClosedForm(_) => 0.0,
        }
    }

    /// Returns `true` if shapes that [`touch`](Self::hit) overlap by more than `depth`, beyond the
    /// error of the computed depth. Computes the contact only if GJK's last simplex does not
    /// decide.
    pub fn is_deeper(&mut self, depth: f64) -> bool {
        let limit = depth + DEPTH_GAPS * self.depth_gap();
        if let Method::Gjk(gjk) = &mut self.method
            && gjk.is_deeper(&self.pair, limit)
        {
            return true;
        }
        // The scale, and with it the error of the depth, may grow while the depth is computed.
        self.contact().depth > depth + DEPTH_GAPS * self.depth_gap()
    }

    /// Returns `true` if the cores of shapes that [`touch`](Self::hit) are known to be separated.
    /// Always returns `true` for a half-space.
    pub fn cores_are_apart(&mut self) -> bool {
        match &mut self.method {
            Method::Gjk(gjk) => {
                gjk.run(&self.pair, Goal::Contact);
                !gjk.cores_may_touch()
            }
            Method::ClosedForm(ClosedForm::Contact(cores)) => cores.depth < 0.0,
            Method::ClosedForm(ClosedForm::Verdict(_)) | Method::HalfSpace(_) => true,
        }
    }

    /// Returns the contact along `direction`, a unit vector in world axes from the caller's first
    /// shape to the second. The direction is the normal of a plane. If `plane_of_first` is `true`,
    /// the plane bounds the first shape, and otherwise the second shape. The function evaluates one
    /// support point.
    pub fn contact_over(&self, direction: P::Vector, plane_of_first: bool) -> Contact64<P::Vector> {
        let frame = self.pair.frame();
        let direction = P::Vector::transpose(frame.rotation) * direction;
        let direction = if frame.swapped { -direction } else { direction };
        let vertex = self.pair.vertex(direction);
        let depth = vertex.point.dot(direction);
        // The points are the deepest point of the other shape, and its projection onto the plane.
        let (first, second) = if plane_of_first == frame.swapped {
            (vertex.first, vertex.first - direction * depth)
        } else {
            (vertex.second + direction * depth, vertex.second)
        };
        let witnesses = frame.on_surfaces(direction, [first, second]);
        let depth = (depth + frame.radius_sum()).max(0.0);
        frame.in_world(direction, depth, witnesses)
    }

    /// Returns the contact of the cores of shapes that [`touch`](Self::hit). If only the radii
    /// overlap, the depth is negative. If the depth is at least `limit`, the function may return
    /// another contact whose depth is at least `limit`.
    fn core_contact(&mut self, limit: f64) -> Penetration<P::Vector> {
        let cores = match &mut self.method {
            Method::HalfSpace(half_space) => half_space.contact(),
            Method::ClosedForm(ClosedForm::Contact(cores)) => *cores,
            // This function is called only for shapes that touch, so this branch is never reached.
            // GJK's result would still be correct.
            Method::ClosedForm(ClosedForm::Verdict(_)) => {
                separated(&Gjk::solve(&self.pair, Goal::Nearest), DVector::axis(0))
            }
            Method::Gjk(gjk) => return gjk_contact(gjk, &self.pair, limit),
        };
        cores.touching(self.pair.radius_sum())
    }

    /// Returns the distance and the nearest points, or `None` if a shape is invalid.
    pub fn distance(&mut self) -> Option<(f64, Contact64<P::Vector>)> {
        let (hit, cores) = match &mut self.method {
            Method::HalfSpace(half_space) => (half_space.hit(&self.pair), half_space.nearest()),
            Method::Gjk(gjk) => {
                gjk.run(&self.pair, Goal::Distance);
                if gjk.state == State::Invalid {
                    return None;
                }
                (gjk.hit(), separated(gjk, DVector::ZERO))
            }
            Method::ClosedForm(closed_form) => {
                let nearest = match closed_form {
                    ClosedForm::Contact(_) => None,
                    ClosedForm::Verdict(_) => analytic::solve(&self.pair, Goal::Distance),
                };
                nearest_of(&self.pair, nearest.as_ref().unwrap_or(closed_form))
            }
        };
        Some(self.pair.frame().distance(hit, &cores))
    }
}

/// Queries that create no solver if there is a closed form, because creating a solver would take as
/// long as the closed form itself.
impl<'a, A: Support + ?Sized, B: Support<Vector = A::Vector> + ?Sized> Pair<'a, A, B> {
    /// Returns the result of `closed` if the pair has a closed form, and of `open` otherwise.
    #[inline(always)]
    fn solve<R>(
        self,
        goal: Goal,
        closed: impl FnOnce(&Self, &ClosedForm<DVecOf<A>>) -> R,
        open: impl FnOnce(&mut Solver<Self>) -> R,
    ) -> R {
        match analytic::solve(&self, goal) {
            Some(closed_form) => closed(&self, &closed_form),
            None => open(&mut Solver::without_closed_form(self)),
        }
    }

    /// Returns `true` if the shapes touch.
    #[inline(always)]
    pub fn touches(self) -> bool {
        let closed = |pair: &Self, form: &ClosedForm<_>| form.hit(pair.radius_sum());
        self.solve(Goal::Verdict, closed, Solver::hit)
    }

    /// Returns the contact, or `None` if the shapes do not touch.
    #[inline(always)]
    pub fn find_contact(self) -> Option<Contact64<DVecOf<A>>> {
        self.solve(
            Goal::Contact,
            |pair, form| Some(pair.frame.contact(&pair.cores_of_closed_form(form)?)),
            Solver::find_contact,
        )
    }

    /// Returns the distance and the nearest points, or `None` if a shape is invalid.
    #[inline(always)]
    pub fn find_distance(self) -> Option<(f64, Contact64<DVecOf<A>>)> {
        let closed = |pair: &Self, form: &_| {
            let (hit, cores) = nearest_of(pair, form);
            Some(pair.frame.distance(hit, &cores))
        };
        self.solve(Goal::Distance, closed, Solver::distance)
    }

    /// Returns the manifold in the world, or `None` if the shapes do not touch.
    #[inline(always)]
    pub fn find_manifold(self) -> Option<Manifold<A::Vector>> {
        let closed = |pair: &Self, form: &_| {
            let cores = pair.cores_of_closed_form(form)?;
            Some(if analytic::touch_in_point(pair) {
                Manifold::new([pair.frame.contact(&cores)], pair.frame.origins)
            } else {
                Manifold::new(pair.manifold_of_features(cores), pair.frame.origins)
            })
        };
        self.solve(Goal::Contact, closed, |solver| {
            solver.hit().then(|| solver.manifold_in_world())
        })
    }

    /// Returns the contact of the cores of shapes that touch, or `None` for other shapes.
    #[inline(always)]
    fn cores_of_closed_form(
        &self,
        closed_form: &ClosedForm<DVecOf<A>>,
    ) -> Option<Penetration<DVecOf<A>>> {
        match closed_form {
            ClosedForm::Contact(cores) if closed_form.hit(self.radius_sum()) => {
                Some(cores.touching(self.radius_sum()))
            }
            _ => None,
        }
    }

    /// Returns the points of the manifold along a contact of the cores.
    fn manifold_of(&self, cores: Penetration<DVecOf<A>>) -> SmallVec<[Contact64<DVecOf<A>>; 4]> {
        if analytic::touch_in_point(self) {
            smallvec![self.frame.contact(&cores)]
        } else {
            self.manifold_of_features(cores).collect()
        }
    }

    /// Returns the points of the manifold of any pair along a contact of the cores.
    fn manifold_of_features(
        &self,
        cores: Penetration<DVecOf<A>>,
    ) -> impl Iterator<Item = Contact64<DVecOf<A>>> {
        let frame = ContactFrame::new(cores.normal);
        let distances = |points| distances_from_cores(self, points);
        let points = manifold_points(self, &frame, &cores, distances);
        points.into_iter().map(move |point| {
            let depth = (point.depth() + self.radius_sum()).max(0.0);
            let witnesses = self.frame.on_surfaces(cores.normal, point.on_cores(&frame));
            self.frame.in_world(cores.normal, depth, witnesses)
        })
    }
}

/// Returns `true` if the shapes touch. Also returns the nearest points of the cores, or a common
/// point of cores that overlap. GJK finds the points if the closed form has none.
#[inline(always)]
fn nearest_of<D: DVector>(
    pair: &impl MinkowskiDifference<Vector = D>,
    closed_form: &ClosedForm<D>,
) -> (bool, Penetration<D>) {
    let hit = closed_form.hit(pair.radius_sum());
    let cores = match closed_form {
        ClosedForm::Contact(cores) if cores.depth < 0.0 => Some(*cores),
        ClosedForm::Contact(cores) => analytic::common_point(pair, cores),
        ClosedForm::Verdict(_) => None,
    };
    let gjk = || {
        let goal = if hit { Goal::Distance } else { Goal::Nearest };
        separated(&Gjk::solve(pair, goal), D::ZERO)
    };
    (hit, cores.unwrap_or_else(gjk))
}

/// Conversions of results for the cores to results in the world.
impl<D: DVector> PairFrame<D> {
    /// Returns the contact of the shapes, given the contact of their cores.
    #[inline(always)]
    pub fn contact(&self, cores: &Penetration<D>) -> Contact64<D> {
        let witnesses = self.on_surfaces(cores.normal, [cores.first, cores.second]);
        self.in_world(cores.normal, cores.depth + self.radius_sum(), witnesses)
    }

    /// Converts a contact of the shapes to the contact of the cores, in the frame and the order of
    /// the pair.
    fn cores_of(&self, contact: &Contact64<D>, scale: f64) -> Penetration<D> {
        let contact = contact.flipped_if(self.swapped);
        let inverse = D::transpose(self.rotation);
        let normal = inverse * contact.normal;
        let second = inverse * contact.offset_b + self.relative.translation;
        let [first_radius, second_radius] = self.radii;
        Penetration {
            normal,
            depth: contact.depth - self.radius_sum(),
            first: inverse * contact.offset_a - normal * first_radius,
            second: second + normal * second_radius,
            scale,
        }
    }

    /// Returns the distance between the shapes, and their nearest points. `hit` is `true` if the
    /// shapes touch, in which case the distance is 0.
    #[inline(always)]
    fn distance(&self, hit: bool, cores: &Penetration<D>) -> (f64, Contact64<D>) {
        let (distance, witnesses) = if hit {
            // The common point is the first core's point, moved toward the second core by the first
            // radius, but not beyond the second core's point.
            let common = cores.first + cores.normal * self.radii[0].min(-cores.depth);
            (0.0, [common, common])
        } else {
            // The distance is never rounded to 0, because the shapes do not touch.
            let distance = (-cores.depth - self.radius_sum()).max(f64::MIN_POSITIVE);
            let points = [cores.first, cores.second];
            (distance, self.on_surfaces(cores.normal, points))
        };
        (distance, self.in_world(cores.normal, 0.0, witnesses))
    }

    /// Moves points of the cores along the normal to the surfaces of the shapes.
    #[inline(always)]
    fn on_surfaces(&self, normal: D, [first, second]: [D; 2]) -> [D; 2] {
        let [first_radius, second_radius] = self.radii;
        [
            first + normal * first_radius,
            second - normal * second_radius,
        ]
    }

    /// Converts a contact from the pair's frame and order to world axes and the caller's order.
    #[inline(always)]
    fn in_world(&self, normal: D, depth: f64, [first, second]: [D; 2]) -> Contact64<D> {
        let contact = Contact64 {
            normal: self.rotation * normal,
            depth,
            offset_a: self.rotation * first,
            offset_b: self.rotation * (second - self.relative.translation),
        };
        contact.flipped_if(self.swapped)
    }
}

/// Returns the contact of the cores of shapes that touch. If the cores overlap, EPA computes the
/// contact, up to `limit`. Otherwise the contact follows from GJK's nearest points.
pub fn gjk_contact<D: DVector>(
    gjk: &mut Gjk<D>,
    pair: &impl MinkowskiDifference<Vector = D>,
    limit: f64,
) -> Penetration<D> {
    gjk.run(pair, Goal::Contact);
    if gjk.cores_may_touch() {
        penetration(pair, &gjk.simplex, (gjk.scale, limit))
    } else {
        separated(gjk, DVector::axis(0)).touching(pair.radius_sum())
    }
}

/// Returns GJK's result for separated cores. If the cores are not separated, the normal is
/// `otherwise`. [`Gjk::separation`] points from the second core to the first, so the normal has the
/// opposite direction.
pub fn separated<D: DVector>(gjk: &Gjk<D>, otherwise: D) -> Penetration<D> {
    let (first, second) = gjk.nearest.witnesses(&gjk.simplex);
    Penetration {
        normal: (-gjk.separation()).unit().unwrap_or(otherwise),
        depth: -gjk.distance,
        scale: gjk.scale,
        first,
        second,
    }
}
