//! Collects the planes, edges and corners over which a body may leave the facets near it.

use arrayvec::ArrayVec;

use crate::{
    buffer::Buffer,
    pipeline::{
        narrow_phase::surface::{
            Meeting,
            body_part::{BodyPart, NearFacet, Reach},
            corner::{Corner, Fan},
            lists::Lists,
            rims::Verdict,
            touch::{INEXACT, Kind, Touch, is_same_plane},
        },
        proxy::BoundingRegion,
    },
    query::{LocalContact, Pair, Solver},
    shape::{BoundaryPoint, Facet, Support, weld},
    space::{DVector, Pose, Space},
    tolerance::SAME_NORMAL,
};

/// The most parts of a body that look for edges and corners.
const MOST_PARTS: usize = 16;

/// The most edges and corners that are solved for a part: those that promise the least depth.
const MOST_CORNERS: usize = 32;

/// Of no more facets the shortest way off each alone is sought.
const MOST_ALONE: usize = 64;

/// So often all that is near is searched for facets at a point, if those that share it leave a gap.
const MOST_SEARCHES: usize = 256;

/// No more planes, ridges and corners are tried together, the shallowest of all.
const MOST_CANDIDATES: usize = 64;

impl<'a, V: Space> Meeting<'a, V> {
    /// Returns the parts of the body that touch, with the facets near each. A facet is near if it
    /// is in both balls of the part and within `farthest` of its box: a shorter way out leads over
    /// no other facet.
    pub(super) fn look_around(
        &self,
        touches: &[Touch<V::DVec>],
        farthest: f64,
        near: &mut Buffer<NearFacet<V::DVec>>,
    ) -> ArrayVec<BodyPart<'a, V>, MOST_PARTS> {
        let mut bodies = ArrayVec::<BodyPart<V>, MOST_PARTS>::new();
        let (surface, origin) = (self.surface(), self.surface().world_pose.translation);
        for touch in touches {
            let number = self.body_number(touch.numbers);
            if bodies.is_full() || bodies.iter().any(|it| it.number == number) {
                continue;
            }
            let Some(parts) = self.parts(touch.numbers) else {
                continue;
            };
            let [facet, part] = self.of_surface_and_body(parts);
            let margin = facet.scaled_shape().radius();
            let reach = Reach::of(&part, origin, margin);
            let first = near.len();
            let mut bounds = reach.bounds(origin);
            if let Some(own) = part.region.bounds() {
                bounds = bounds.common(&own.grown(farthest));
            }
            let extent = BoundingRegion::Box(bounds);
            surface.parts_near(&extent, V::DVec::ZERO, |number| {
                let is_in = |facet: &Facet<_>| reach.includes(|centre| facet.distance(centre));
                let facet = surface.facet(number).filter(is_in);
                near.extend(facet.map(|facet| NearFacet {
                    number,
                    is_hidden: self.is_hidden(&facet),
                    facet,
                }));
            });
            let near = first..near.len();
            bodies.push(BodyPart {
                number,
                part,
                origin,
                margin,
                reach,
                near,
            });
        }
        near.note();
        for body in &bodies {
            let near = near.get_mut(body.near.clone()).unwrap_or_default();
            near.sort_unstable_by_key(|it| it.number);
        }
        bodies
    }

    /// Collects the planes of touches, and the contacts with ridges and corners near the body, the
    /// shallowest first.
    pub(super) fn find_candidates(
        &self,
        touches: &[Touch<V::DVec>],
        bodies: &[BodyPart<V>],
        most: f64,
        lists: &mut Lists<V>,
    ) {
        let Lists {
            near,
            rims,
            corners,
            candidates,
            ..
        } = lists;
        candidates.extend_from_slice(touches);
        for body in bodies {
            let own = touches.iter().enumerate();
            let own = own.filter(|it| self.body_number(it.1.numbers) == body.number);
            for (index, touch) in own {
                candidates.extend(self.sides(touch, body, most).into_iter().flatten());
                // Of many a sample.
                if index % (touches.len() / MOST_ALONE + 1) == 0 {
                    candidates.extend(self.alone(touch, most));
                }
            }
            let near = near.get(body.near.clone()).unwrap_or_default();
            rims.clear();
            for (index, NearFacet { facet, .. }) in near.iter().enumerate() {
                rims.extend(body.reach.rims(facet).map(|rim| (rim, index)));
            }
            rims.note();
            rims.sort_unstable_by(|(a, index), (b, other)| {
                let points = a.point.total_cmp(b.point);
                let corners = a.is_vertex().cmp(&b.is_vertex());
                points.then(corners).then(index.cmp(other))
            });
            let are_same = |(a, _): &(BoundaryPoint<_>, _), (b, _): &(BoundaryPoint<_>, _)| {
                a.point == b.point && a.is_vertex() == b.is_vertex()
            };
            corners.clear();
            let mut searches = MOST_SEARCHES;
            let mut first = 0;
            for group in rims.chunk_by(are_same) {
                let range = first..first + group.len();
                first = range.end;
                let Some((rim, _)) = group.first() else {
                    continue;
                };
                let sharers = group.iter().filter_map(|(_, index)| near.get(*index));
                let fan = Fan::around(rim, sharers.map(|it| &it.facet), near, &mut searches);
                let rank = fan.and_then(|fan| fan.rank(body, most));
                corners.extend(rank.map(|rank| (rank, range)));
            }
            corners.note();
            corners.sort_unstable_by(|a, b| {
                let ranks = a.0.total_cmp(&b.0);
                ranks.then(a.1.start.cmp(&b.1.start))
            });
            let mut searches = MOST_CORNERS;
            for (_, range) in corners.iter().take(MOST_CORNERS) {
                let group = rims.get(range.clone()).unwrap_or_default();
                let sharers = || group.iter().filter_map(|(_, index)| near.get(*index));
                let seen = sharers().find(|it| !it.is_hidden);
                let (Some(seen), Some((rim, _))) = (seen, group.first()) else {
                    continue;
                };
                let facets = sharers().map(|it| &it.facet);
                if let Some(fan) = Fan::around(rim, facets, near, &mut searches) {
                    let corner = Corner::new(fan, body);
                    candidates.extend(self.over_rim(body, seen.number, &corner, most));
                }
            }
        }
        candidates.note();
        candidates.sort_unstable_by(|a, b| {
            let depths = a.contact.depth.total_cmp(&b.contact.depth);
            depths.then(a.numbers.cmp(&b.numbers))
        });
        candidates.dedup_by(|a, b| is_same_plane(a, b));
        candidates.truncate(MOST_CANDIDATES);
    }

    /// The contacts over the plane of a facet that are not the touch itself. One is to the side of
    /// the centre. The other is to the far side, if the surface is two-sided, the centre is not
    /// over the facet, and the body has one part. (Other parts would stay on the side of the
    /// centre.)
    fn sides(
        &self,
        touch: &Touch<V::DVec>,
        body: &BodyPart<V>,
        most: f64,
    ) -> [Option<Touch<V::DVec>>; 2] {
        let facet = self.surface().facet(self.facet_number(touch.numbers));
        let (Some(facet), Some(centre)) = (facet, self.centre) else {
            return [None, None];
        };
        let is_over = facet.height(centre) >= 0.0;
        let outward = if is_over { facet.normal } else { -facet.normal };
        let is_plane = matches!(touch.kind, Kind::Plane);
        let is_whole = self.body().scaled_shape().is_some();
        let has_two = is_whole && !self.surface().is_one_sided() && !facet.is_under(centre);
        let over = |normal: V::DVec| {
            let height = facet.height(body.lowest(normal)) * facet.normal.dot(normal);
            if body.radius() - height >= most {
                return None;
            }
            self.solve(touch.numbers, V::DVec::ZERO, |solver, _| {
                Some(self.over_plane(solver, touch.numbers, &facet, normal))
            })
        };
        let (own, other) = ((!is_plane).then_some(outward), has_two.then_some(-outward));
        [own.and_then(over), other.and_then(over)]
    }

    /// The shortest way off a facet alone, over a point of its rim, if the surface has that normal
    /// there.
    fn alone(&self, touch: &Touch<V::DVec>, most: f64) -> Option<Touch<V::DVec>> {
        let facet = self.surface().facet(self.facet_number(touch.numbers))?;
        self.solve(touch.numbers, V::DVec::ZERO, |solver, parts| {
            let contact = solver.contact();
            let normal = self.turned(contact.normal);
            let is_plane = matches!(touch.kind, Kind::Plane);
            let is_shallower = contact.depth < touch.contact.depth.min(most);
            if !is_plane || !is_shallower || normal.dot(touch.normal) <= 0.0 {
                return None;
            }
            let rim = facet.nearest_boundary(self.foot(parts, &contact))?;
            let verdict = self.verdict(touch.numbers, &rim, normal, INEXACT);
            (verdict == Verdict::Counts).then_some(Touch {
                normal,
                contact,
                kind: Kind::Nearest,
                ..*touch
            })
        })
    }

    /// Returns the contact of a part of the body with a corner, reported with facet `number`.
    fn over_rim(
        &self,
        body: &BodyPart<V>,
        number: u32,
        corner: &Corner<V>,
        most: f64,
    ) -> Option<Touch<V::DVec>> {
        if self.centre.is_some_and(|centre| corner.holds(centre)) {
            return None;
        }
        let contact = self.contact_with(corner, body)?;
        let normal = self.turned(contact.normal);
        // A valley seen from behind pushes against all of its normals.
        let is_behind = |it: &V::DVec| normal.dot(*it) < -SAME_NORMAL;
        let is_back = self.surface().is_one_sided() && corner.normals.iter().all(is_behind);
        let [first, second] = self.of_surface_and_body([number, body.number]);
        (contact.depth <= most && !is_back).then_some(Touch {
            numbers: (first, second),
            normal,
            contact,
            kind: Kind::Nearest,
            weld: weld(corner.points.get(..1).unwrap_or_default()),
        })
    }

    /// The contact of a part of the body with a corner, in the order of the two proxies.
    fn contact_with(
        &self,
        corner: &Corner<V>,
        body: &BodyPart<V>,
    ) -> Option<LocalContact<V::DVec>> {
        let pose = Pose {
            translation: self.surface().world_pose.translation,
            ..Pose::IDENTITY
        };
        let image = body.part.scaled_shape();
        let (corner, image): (&AnyOf<V>, &AnyOf<V>) = (corner, &image);
        let body_pose = body.part.world_pose.pose();
        let pair = if self.surface_is_first {
            Pair::new(corner, pose, image, body_pose)
        } else {
            Pair::new(image, body_pose, corner, pose)
        };
        let mut solver = Solver::new(pair.counted_by(self.counter));
        solver.hit().then(|| solver.contact())
    }
}

/// Any shape of a space.
type AnyOf<'s, V> = dyn Support<Vector = V> + 's;
