//! The shortest push-out of a box or a polygon from solid cells.
//!
//! An obstacle is a box of solid cells. A translation pushes the body out of an obstacle if it
//! clears a plane between both. It suffices to try planes whose normal is parallel to an axis of
//! the grid or orthogonal to a face of the body, or in 3D, orthogonal to an axis of the grid and to
//! an edge of the body (see `query/analytic/boxes.rs`).
//!
//! The obstacle is a part of the union. So no push-out from the union is shorter than the least
//! depth of the planes of one obstacle. If the translation out of one obstacle clears all cells, it
//! is the shortest push-out. Otherwise a best-first search tries all planes of each obstacle that
//! is in the way, as in `obstacle_search.rs`.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    placed::PartContact,
    query::Contact64,
    shape::{Bounds, CellPosition, CellRanges, ExposedCell, Support, has_position},
    space::{
        DVector, Space,
        shortest_translation::PushPlane,
        translation_search::{Node, SameNodes, TranslationSearch},
    },
    surface::{
        cells::{CellBody, CellContacts, CellSide, outward, unscaled},
        facet_contact::slop,
        limits::{MAX_NODES, MAX_STEPS},
        obstacle_search::{MIN_EDGES_SINE, ball_around},
    },
    tolerance::SAME_NORMAL,
};

/// The maximum number of axes of planes: two axes of the grid, and the normals of a polygon's
/// edges. In 3D, there are three axes of the grid, three axes of the body, and nine products.
const MAX_AXES: usize = 18;

/// The maximum number of normals of planes: both directions along each axis.
const MAX_NORMALS: usize = 2 * MAX_AXES;

/// Another push-out is shorter only if it is shorter by more than this fraction.
const SAME_LENGTH: f64 = 1e-6;

/// A body that has corners.
struct PushedBody<'b, 'p, 'a, V: Space> {
    body: &'b CellBody<'p, 'a, V>,
    axes: ArrayVec<Axis<V::DVec>, MAX_AXES>,
}

/// An axis of planes between the body and an obstacle, and the least and the greatest component of
/// the body's points along the axis.
struct Axis<D> {
    direction: D,
    /// The absolute values of the components of the direction.
    sizes: D,
    range: [f64; 2],
}

impl<D: DVector> Axis<D> {
    fn new(direction: D, range: [f64; 2]) -> Self {
        let sizes = direction.copysign(D::ONE);
        Self {
            direction,
            sizes,
            range,
        }
    }

    /// Returns the depths of the body in a box after a translation: the lengths of the shortest
    /// translations against and along the axis that clear the box.
    #[inline]
    fn depths(&self, bounds: &Bounds<D>, translation: D) -> [f64; 2] {
        let (sum, size) = (bounds.min + bounds.max, bounds.max - bounds.min);
        let middle = sum.dot(self.direction) * 0.5 - translation.dot(self.direction);
        let half = size.dot(self.sizes) * 0.5;
        let [min, max] = self.range;
        [max - (middle - half), middle + half - min]
    }
}

/// A box of solid cells.
struct Obstacle<D> {
    ranges: CellRanges,
    bounds: Bounds<D>,
}

type Obstacles<D> = SmallVec<[Obstacle<D>; 4]>;

/// The translation leads to cells that are not known.
struct Unknown;

impl<V: Space> CellBody<'_, '_, V> {
    /// Adds the contacts of the shortest push-out of a box with these half extents, or of a
    /// polygon.
    pub(super) fn add_push_out(
        &self,
        half_extents: Option<V::DVec>,
        contacts: &mut CellContacts<V::DVec>,
        with_repeated: bool,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<usize> {
        let axes = self.axes(half_extents);
        let pushed = PushedBody { body: self, axes };
        let reach = self.core.grown(self.tolerance);
        let mut obstacles = Obstacles::new();
        let mut touches = false;
        for cell in self.cells.exposed.iter().map(|it| it.position) {
            let bounds = self.bounds_of_cell(cell);
            if !bounds.overlaps(&reach) {
                continue;
            }
            let depth = pushed.depth(&bounds, V::DVec::ZERO, -self.tolerance);
            if depth <= -self.tolerance {
                continue;
            }
            let near = bounds.grown(self.tolerance);
            if near.overlaps(&Bounds::at(self.center)) {
                return None;
            }
            touches = true;
            if depth > self.tolerance && is_new(&obstacles, cell) {
                obstacles.push(self.obstacle(cell));
            }
        }
        if obstacles.is_empty() {
            return (!touches).then_some(0);
        }
        let node = pushed.shortest(&mut obstacles, search)?;
        let (_, longest) = ball_around(&self.shape, &self.pose)?;
        let center = Bounds::at(self.center);
        let path = center.around_translation(node.translation);
        let path = path.grown(self.tolerance);
        let is_crossed = |cell: &ExposedCell| {
            let bounds = self.bounds_of_cell(cell.position);
            bounds.overlaps(&path) && bounds.entry(&center, node.translation).is_finite()
        };
        if node.length > longest || self.cells.exposed.iter().any(is_crossed) {
            return None;
        }
        let mut sides: SmallVec<[(CellSide, f64); 3]> = SmallVec::new();
        for (plane, label) in &node.bounding {
            let obstacle = obstacles.get(label / MAX_NORMALS)?;
            if let Some(side) = pushed.touched_side(obstacle, *plane) {
                contacts.push(self.plane_contact(side, *plane)?);
                sides.push((side, plane.1));
            } else {
                contacts.push(pushed.edge_contact(obstacle, *plane, &node)?);
            }
        }
        let count = contacts.len();
        if !with_repeated {
            return Some(count);
        }
        for (side, depth) in self.other_sides(&sides) {
            if pushed.touches_side(side) {
                let plane = (outward(side.1), depth);
                contacts.push(self.plane_contact(side, plane)?);
            }
        }
        Some(count)
    }

    /// Returns the obstacle around a solid cell.
    fn obstacle(&self, cell: CellPosition) -> Obstacle<V::DVec> {
        let ranges = self.cells.grown::<V::DVec>(cell);
        let bounds = self.bounds_of(&ranges);
        Obstacle { ranges, bounds }
    }

    /// Returns the contact with a side of a cell for a plane.
    fn plane_contact(
        &self,
        side: CellSide,
        (normal, depth): PushPlane<V::DVec>,
    ) -> Option<PartContact<V::DVec>> {
        let lowest = self.lowest(normal);
        self.contact(
            side,
            (normal, depth),
            [lowest + normal * depth, lowest],
            [0.0; 2],
        )
    }

    /// Returns the lowest point of the body along a normal. Counts a support evaluation.
    fn lowest(&self, normal: V::DVec) -> V::DVec {
        self.pair.counter.add_one();
        let lowest = self.shape.lowest(self.pose.rotation, normal);
        self.pose.translation + lowest
    }

    /// Returns the axes of planes. The axes of the grid come first.
    fn axes(&self, half_extents: Option<V::DVec>) -> ArrayVec<Axis<V::DVec>, MAX_AXES> {
        let mut found: ArrayVec<Axis<V::DVec>, MAX_AXES> = ArrayVec::new();
        let axes = || (0..V::DVec::DIMENSION).map(V::DVec::axis);
        found.extend(axes().map(|direction| {
            let range = [self.core.min, self.core.max].map(|end| end.dot(direction));
            Axis::new(direction, range)
        }));
        let (rotation, center) = (self.pose.rotation, self.pose.translation);
        let Some(half_extents) = half_extents else {
            let polygon = self.shape.core().polygon().into_iter();
            let edges = polygon.flat_map(|polygon| polygon.edges());
            found.extend(edges.map(|edge| {
                let direction = rotation * edge.normal;
                let range = [direction, -direction].map(|it| self.lowest(it).dot(direction));
                Axis::new(direction, range)
            }));
            return found;
        };
        let own: ArrayVec<V::DVec, 3> = axes().map(|axis| rotation * axis).collect();
        let mut add = |direction: V::DVec| {
            let own = own.iter().enumerate();
            let halves =
                own.map(|(axis, it)| half_extents.component(axis) * it.dot(direction).abs());
            let (middle, half) = (center.dot(direction), halves.sum::<f64>());
            let range = [middle - half, middle + half];
            found.push(Axis::new(direction, range));
        };
        own.iter().for_each(|direction| add(*direction));
        if V::DVec::DIMENSION == 3 {
            let pairs = own
                .iter()
                .flat_map(|own| axes().map(move |axis| [*own, axis]));
            let products = pairs.filter_map(|pair| V::DVec::perpendicular(&pair));
            let products = products.filter(|it| it.length() > MIN_EDGES_SINE);
            products.filter_map(DVector::unit).for_each(add);
        }
        found
    }
}

impl<V: Space> PushedBody<'_, '_, '_, V> {
    /// Returns the least depth of the body in a box after a translation. If the result is less than
    /// `enough`, it may be too great.
    fn depth(&self, bounds: &Bounds<V::DVec>, translation: V::DVec, enough: f64) -> f64 {
        let mut least = f64::INFINITY;
        for axis in &self.axes {
            let [against, along] = axis.depths(bounds, translation);
            least = least.min(against).min(along);
            if least < enough {
                break;
            }
        }
        least
    }

    /// Returns the planes of an obstacle. The label of a plane is the index of its obstacle, times
    /// [`MAX_NORMALS`], plus the index of its normal.
    fn planes(
        &self,
        obstacles: &[Obstacle<V::DVec>],
        index: usize,
    ) -> impl Iterator<Item = (PushPlane<V::DVec>, usize)> {
        let bounds = obstacles.get(index).map(|obstacle| obstacle.bounds);
        bounds.into_iter().flat_map(move |bounds| {
            let labels = (index * MAX_NORMALS..).step_by(2);
            self.axes.iter().zip(labels).flat_map(move |(axis, label)| {
                let [against, along] = axis.depths(&bounds, V::DVec::ZERO);
                let planes = [(-axis.direction, against), (axis.direction, along)];
                planes.into_iter().zip(label..)
            })
        })
    }

    /// Returns the shortest translation out of all solid cells. Adds the obstacles that the body
    /// overlaps after a translation. Returns `None` if a limit is reached.
    fn shortest(
        &self,
        obstacles: &mut Obstacles<V::DVec>,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<Node<V::DVec, usize>> {
        // The first translation clears the shallowest plane of one obstacle after the other.
        let mut node = Node::default();
        let mut steps = 0;
        while let Some(index) = self.blocking(obstacles, node.translation).ok()? {
            // Rounding must not replace the plane of a side by a slightly turned plane.
            let left = |((normal, depth), label): &(PushPlane<V::DVec>, usize)| {
                let is_side = label % MAX_NORMALS < 2 * V::DVec::DIMENSION;
                let rounding = if is_side { 0.0 } else { self.body.tolerance };
                depth - normal.dot(node.translation) + rounding
            };
            let planes = self.planes(obstacles, index).map(|it| (left(&it), it));
            let (_, (plane, label)) = planes.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
            node = node.with(plane, label, f64::INFINITY)?;
            steps += 1;
            if steps == MAX_STEPS {
                return None;
            }
        }
        if node.chosen == 1 {
            return Some(node);
        }
        let limit = node.length * (1.0 - SAME_LENGTH);
        search.begin(MAX_NODES, limit, SameNodes::Planes);
        for _ in 0..MAX_NODES {
            let Some(shorter) = search.take_shortest() else {
                return Some(node);
            };
            let Some(index) = self.blocking(obstacles, shorter.translation).ok()? else {
                return Some(shorter);
            };
            for (plane, label) in self.planes(obstacles, index) {
                if plane.1 <= limit {
                    search.open(&shorter, plane, label);
                }
            }
        }
        None
    }

    /// Returns the index of the obstacle in which the body is deepest after a translation, or
    /// `None` if the body is outside the union. Adds this obstacle if it is new.
    fn blocking(
        &self,
        obstacles: &mut Obstacles<V::DVec>,
        translation: V::DVec,
    ) -> Result<Option<usize>, Unknown> {
        let body = self.body;
        let most = slop(0.0, translation) + body.tolerance;
        let depths = obstacles
            .iter()
            .map(|it| self.depth(&it.bounds, translation, most));
        let deepest = depths.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((index, _)) = deepest.filter(|(_, depth)| *depth > most) {
            return Ok(Some(index));
        }
        let known = body.bounds_of(&body.cells.inner_ranges(V::DVec::DIMENSION));
        let core = body.core.moved(translation);
        if !known.contains(&core) {
            return Err(Unknown);
        }
        let overlapped = body.cells.exposed.iter().find(|cell| {
            let bounds = body.bounds_of_cell(cell.position);
            is_new(obstacles, cell.position)
                && bounds.overlaps(&core)
                && self.depth(&bounds, translation, most) > most
        });
        Ok(overlapped.map(|cell| {
            obstacles.push(body.obstacle(cell.position));
            obstacles.len() - 1
        }))
    }

    /// Returns `true` if the body touches a side of a cell.
    fn touches_side(&self, side: CellSide) -> bool {
        let bounds = self.body.bounds_of_side(side);
        let least = -self.body.touching;
        self.depth(&bounds, V::DVec::ZERO, least) >= least
    }

    /// If a plane is the plane of a side of an obstacle, returns the exposed side of a cell in this
    /// plane that the body touches, as near as possible to its lowest point.
    fn touched_side(
        &self,
        obstacle: &Obstacle<V::DVec>,
        (normal, depth): PushPlane<V::DVec>,
    ) -> Option<CellSide> {
        let body = self.body;
        let mut sides = 0..2 * V::DVec::DIMENSION;
        let side =
            sides.find(|side| (outward::<V::DVec>(*side) - normal).length() <= SAME_NORMAL)?;
        let foot = Bounds::at(body.lowest(normal) + normal * depth);
        let layer = obstacle.ranges.get(side / 2)?.get(side % 2)?;
        let cells = body.cells.exposed.iter().filter(|cell| {
            cell.is_exposed(side)
                && cell.position.get(side / 2) == Some(layer)
                && has_position(&obstacle.ranges, cell.position)
        });
        let cells = cells.map(|cell| cell.position);
        let gap = |cell| body.bounds_of_side((cell, side)).gap(&foot);
        let mut nearest: SmallVec<[_; 8]> = cells.map(|cell| (gap(cell), (cell, side))).collect();
        nearest.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut nearest = nearest.into_iter().map(|(_, side)| side);
        nearest.find(|side| self.touches_side(*side))
    }

    /// Returns the contact with an obstacle for a plane that is not the plane of a side. `node` is
    /// the push-out, after which the body just touches the obstacle. Returns `None` if the body
    /// reaches the obstacle only by the push-out.
    fn edge_contact(
        &self,
        obstacle: &Obstacle<V::DVec>,
        (normal, depth): PushPlane<V::DVec>,
        node: &Node<V::DVec, usize>,
    ) -> Option<PartContact<V::DVec>> {
        let (body, pair) = (self.body, self.body.pair);
        if self.depth(&obstacle.bounds, V::DVec::ZERO, 0.0) <= 0.0 {
            return None;
        }
        let solid = pair
            .surface
            .part_in(&unscaled(&obstacle.bounds, body.factor));
        let part = pair.body.part(0)?;
        let parts = [&solid, &part];
        let found = if node.bounding.len() == 1 {
            pair.solve(parts, V::DVec::ZERO, |solver| solver.find_contact())
        } else {
            let translation = body.to_world * node.translation;
            pair.solve(parts, translation, |solver| Some(solver.distance()?.1))
        };
        let (found, in_world) = (found?, body.to_world * normal);
        if (found.normal - in_world).length() > SAME_NORMAL {
            return None;
        }
        let to_surface = solid.world_pose.translation - pair.surface.world_pose.translation;
        let contact = Contact64 {
            normal: in_world,
            depth,
            offset_a: found.offset_a + to_surface,
            ..found
        };
        let foot = V::DVec::transpose(body.to_world) * contact.offset_a;
        let at = body.surface.grid().in_cells(foot * (1.0 / body.factor));
        let mut cell = at.components().map(|at| at.floor() as i32);
        for (at, [first, last]) in cell.iter_mut().zip(obstacle.ranges) {
            *at = (*at).clamp(first, last);
        }
        // Another member of a ground may not test the pair.
        if !body.bounds_of_cell(cell).overlaps(&body.core) {
            return None;
        }
        let side = body.steepest_side(&body.cells.exposed_at(cell)?, normal)?;
        let of_side = body.contact(side, (normal, depth), [foot; 2], [0.0; 2])?;
        Some(PartContact { contact, ..of_side })
    }
}

/// Returns `true` if no obstacle contains a cell.
fn is_new<D>(obstacles: &[Obstacle<D>], cell: CellPosition) -> bool {
    let mut obstacles = obstacles.iter();
    obstacles.all(|obstacle| !has_position(&obstacle.ranges, cell))
}
