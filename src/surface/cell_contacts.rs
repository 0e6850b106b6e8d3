//! Contacts of a convex body with solid cells, from the cells instead of their facets.
//!
//! A union of cells has many facets, but its solid cells are boxes along the same axes. If all
//! cells near the body are solid or empty, this file computes the same contacts as the files for
//! facets, for two kinds of bodies. All computations are in the *frame of the grid*: relative to
//! the translation of the surface, along the axes of the grid, and in the units of the world.
//!
//! **Balls and capsules.** The core is a point or a segment, which overlaps no cell. Let x be the
//! point of a cell that is nearest to the core, and let n be the unit vector from x to the core. A
//! neighbor that contains x *rises* along n if it lies beyond a side of the cell whose outward
//! normal has a positive component along n. If no neighbor rises, x is a local minimum of the
//! distance from the core to the union, and the body has a contact there.
//!
//! **Boxes and polygons.** A translation pushes the body out of a box of solid cells if it clears
//! one of the planes whose normals are the face normals of both, or in 3D the products of their
//! edges (see `analytic/boxes.rs`). The least depth of these planes is a lower bound for any
//! push-out, because the box is a part of the union. So if the shortest translation out of one
//! box clears all cells, no push-out is shorter. Otherwise a best-first search over the planes
//! of such boxes finds the shortest push-out, as in `obstacle_search.rs`.
//!
//! The center of the body must be outside the union. If rounding could decide on any of these
//! conditions, or if a limit is reached, the files for facets compute the contacts.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use crate::{
    placed::Part,
    query::{Contact64, nearest_on_segment},
    shape::{
        Bounds, CellPosition, CellRanges, CellSurface, Core, NearCells, Support, core_bounds,
        moved, positions_in,
    },
    space::{
        DVector, Pose, Space,
        shortest_translation::PushPlane,
        translation_search::{Node, SameNodes, TranslationSearch},
    },
    surface::{
        facet_contact::{ContactKind, FacetContact, RISE_SINE_CLOSED_FORM, slop},
        limits::{MAX_NODES, MAX_STEPS},
        surface_pair::SurfacePair,
    },
    tolerance::{SAME_NORMAL, SURELY_APART, TOUCHING},
};

/// The maximum number of axes that may separate the body from a box of cells: two axes of the grid,
/// and the normals of a polygon's edges. In 3D, there are three axes of the grid, three axes of the
/// body, and nine products of these axes.
const MAX_AXES: usize = 18;

/// The number of directions along these axes.
const MAX_NORMALS: usize = 2 * MAX_AXES;

/// Edges count as parallel if the sine of the angle between them is at most this value.
const MIN_EDGES_SINE: f64 = 1e-9;

/// A push-out is shorter only if it is shorter by more than this fraction.
const LEAST_SHORTENING: f64 = 1e-6;

/// A side of a cell with a contact. The sides 2 * i and 2 * i + 1 are at the lower and the upper
/// end of axis i.
type CellSide = (CellPosition, usize);

/// A box of solid cells.
type Obstacle<D> = (CellRanges, Bounds<D>);

/// A convex body near solid cells, in the frame of the grid.
struct CellBody<'p, 'a, V: Space> {
    pair: &'p SurfacePair<'a, V>,
    part: &'p Part<'a, V>,
    surface: &'p CellSurface<V>,
    cells: NearCells,
    /// The solid cells with an exposed side.
    exposed: SmallVec<[CellPosition; 32]>,
    /// The map from the frame of the grid to the axes of the world: a rotation, perhaps mirrored.
    axes: <V::DVec as DVector>::Matrix,
    /// The size of a cell in the frame of the surface, and the scale of the surface.
    size: V::DVec,
    factor: f64,
    /// The pose of the body.
    pose: Pose<V::DVec>,
    /// The center that must be outside the union.
    center: V::DVec,
    /// The box around the core.
    core: Bounds<V::DVec>,
    /// Shapes touch if they are at most this far apart.
    touching: f64,
    /// If shapes are at most this far apart, or overlap at most as far, the solvers decide.
    tolerance: f64,
}

/// An axis that may separate the body from a box of cells, and the least and the greatest
/// component of the body's points along the axis.
struct Axis<D> {
    direction: D,
    range: [f64; 2],
}

impl<D: DVector> Axis<D> {
    /// Returns the depths of the body in a box after a translation: the lengths of the shortest
    /// translations against and along the axis that clear the box.
    #[inline]
    fn depths(&self, bounds: &Bounds<D>, translation: D) -> [f64; 2] {
        let (sum, size) = (bounds.min + bounds.max, bounds.max - bounds.min);
        let middle = sum.dot(self.direction) * 0.5 - translation.dot(self.direction);
        let half = size.copysign(self.direction).dot(self.direction) * 0.5;
        let [min, max] = self.range;
        [max - (middle - half), middle + half - min]
    }
}

impl<'a, V: Space> SurfacePair<'a, V> {
    /// If all cells near a convex body are solid or empty, adds the contacts of the body to an
    /// empty list. Returns the number of the first contacts, whose depths are exact; each contact
    /// after them is with another cell in the plane of one of the first contacts. Returns `None`,
    /// and may leave contacts in the list, if the facets must be used.
    pub(super) fn add_cell_contacts(
        &self,
        contacts: &mut Vec<FacetContact<V::DVec>>,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<usize> {
        let (part, surface) = (self.convex.as_ref()?, self.surface.cells()?);
        let shape = part.scaled_shape();
        let facet_radius = self.surface.facet_radius()?;
        let half_extents = match shape.core() {
            Core::Box { half_extents } => Some(half_extents),
            Core::Polygon(_) => None,
            Core::Opaque | Core::HalfSpace(_) => return None,
        };
        let sides = (0..V::DVec::DIMENSION).filter(|axis| {
            half_extents.is_none_or(|half_extents| half_extents.component(*axis) != 0.0)
        });
        let is_round = match sides.count() {
            0 | 1 => true,
            all if all == V::DVec::DIMENSION => false,
            _ => return None,
        };
        if !is_round && shape.radius() + facet_radius != 0.0 || !self.surface.is_one_sided() {
            return None;
        }
        let body = CellBody::new(self, part, surface, shape.radius() + facet_radius)?;
        if is_round {
            let half = body.pose.rotation * half_extents?;
            body.add_minima(half, [facet_radius, shape.radius()], contacts)
        } else {
            body.add_push_out(half_extents, contacts, search)
        }
    }
}

impl<'p, 'a, V: Space> CellBody<'p, 'a, V> {
    /// Returns `None` if the center is in a solid cell, or if any cell near the body is neither
    /// solid nor empty.
    fn new(
        pair: &'p SurfacePair<'a, V>,
        part: &'p Part<'a, V>,
        surface: &'p CellSurface<V>,
        radius: f64,
    ) -> Option<Self> {
        let (of_surface, of_part) = (&pair.surface.world_pose, part.world_pose.pose());
        let (axes, factor) = (of_surface.pose().rotation, of_surface.factor()?);
        let inverse = V::DVec::transpose(axes);
        let pose = Pose {
            rotation: inverse * of_part.rotation,
            translation: inverse * (of_part.translation - of_surface.translation),
        };
        let shape = part.scaled_shape();
        let [min, max] = core_bounds(&shape, pose.rotation);
        let core = Bounds { min, max };
        let core = core.moved(pose.translation);
        let grid = surface.grid();
        let size = grid.cell_size().to_f64();
        let scale = (core.max - core.min).length() + radius + size.length() * factor;
        let tolerance = SURELY_APART * scale;
        let Bounds { min, max } = core.grown(radius + tolerance);
        let cells = grid.solid_near(&Bounds {
            min: min * (1.0 / factor),
            max: max * (1.0 / factor),
        })?;
        let center = inverse * pair.center?;
        let in_cells = grid.in_cells(center * (1.0 / factor)).components();
        if cells.is_solid(in_cells.map(|at| at.floor() as i32)) {
            return None;
        }
        Some(Self {
            pair,
            part,
            surface,
            exposed: cells.exposed(V::DVec::DIMENSION),
            cells,
            axes,
            size,
            factor,
            pose,
            center,
            core,
            touching: TOUCHING * scale,
            tolerance,
        })
    }

    /// Returns the box of cells. The coordinates are rounded like those of the facets.
    fn bounds_of(&self, ranges: &CellRanges) -> Bounds<V::DVec> {
        let corner = |position: CellPosition| {
            let corner = V::DVec::of(position.map(f64::from)).scaled(self.size);
            V::from_f64(corner).to_f64() * self.factor
        };
        Bounds {
            min: corner(ranges.map(|[first, _]| first)),
            max: corner(ranges.map(|[_, last]| last + 1)),
        }
    }

    fn bounds_of_cell(&self, cell: CellPosition) -> Bounds<V::DVec> {
        self.bounds_of(&cell.map(|at| [at, at]))
    }

    /// Returns a side of a cell as a box without a thickness.
    fn bounds_of_side(&self, (cell, side): CellSide) -> Bounds<V::DVec> {
        let Bounds { min, max } = self.bounds_of_cell(cell);
        let (axis, index) = (V::DVec::axis(side / 2), side / 2);
        let moved = |end: V::DVec, to: V::DVec| {
            end - axis * end.component(index) + axis * to.component(index)
        };
        if side % 2 == 1 {
            Bounds {
                min: moved(min, max),
                max,
            }
        } else {
            Bounds {
                min,
                max: moved(max, min),
            }
        }
    }

    /// Returns a contact at a side of a cell. `foot` is the point of the cell, and `point` the
    /// point of the body.
    fn contact(
        &self,
        (cell, side): CellSide,
        (normal, depth): PushPlane<V::DVec>,
        [foot, point]: [V::DVec; 2],
    ) -> Option<FacetContact<V::DVec>> {
        let local = foot - self.bounds_of_cell(cell).min;
        let local = self.surface.grid().in_cells(local);
        let facet = self.surface.side_facet(cell, side, local)?;
        let contact = Contact64 {
            normal: self.axes * normal,
            depth,
            offset_a: self.axes * foot,
            offset_b: self.axes * (point - self.pose.translation),
        };
        let (indices, kind) = ((facet, 0), ContactKind::Nearest);
        Some(FacetContact::new(indices, contact, kind, 0.0))
    }

    /// Returns the other exposed sides in the planes of some sides, each with the depth of the
    /// first of these sides in the same plane.
    fn other_sides(&self, known: &[(CellSide, f64)]) -> impl Iterator<Item = (CellSide, f64)> {
        let plane = |(cell, side): CellSide| (side, cell.get(side / 2).copied());
        let is_first = move |index: usize| {
            let mut before = known.iter().take(index);
            let own = known.get(index);
            own.is_some_and(|own| before.all(|it| plane(it.0) != plane(own.0)))
        };
        let firsts = known
            .iter()
            .enumerate()
            .filter(move |(index, _)| is_first(*index));
        firsts.flat_map(move |(_, (first, depth))| {
            let cells = self.exposed.iter().copied().map(|cell| (cell, first.1));
            let others = cells.filter(move |other| {
                plane(*other) == plane(*first)
                    && self.cells.is_exposed(other.0, other.1)
                    && known.iter().all(|(it, _)| it != other)
            });
            others.map(|other| (other, *depth))
        })
    }

    /// Adds the contacts of a ball or a capsule. The core is the segment from -`half` to `half`
    /// around the body's translation.
    fn add_minima(
        &self,
        half: V::DVec,
        [facet_radius, own_radius]: [f64; 2],
        contacts: &mut Vec<FacetContact<V::DVec>>,
    ) -> Option<usize> {
        let radius = facet_radius + own_radius;
        let reach = self.core.grown(radius + self.tolerance);
        let contact = |side, plane: PushPlane<V::DVec>, [foot, point]: [V::DVec; 2]| {
            let normal = plane.0;
            let contact = self.contact(side, plane, [foot, point])?;
            let offsets = [normal * facet_radius, -(normal * own_radius)];
            let contact = FacetContact {
                contact: contact
                    .contact
                    .moved(offsets.map(|offset| self.axes * offset)),
                ..contact
            };
            Some(contact)
        };
        let mut faces: SmallVec<[(CellSide, f64); 8]> = SmallVec::new();
        for &cell in &self.exposed {
            let bounds = self.bounds_of_cell(cell);
            if !bounds.overlaps(&reach) {
                continue;
            }
            let [mut foot, point] = self.nearest(&bounds, half);
            let offset = point - foot;
            let distance = offset.length();
            if distance <= self.tolerance {
                return None;
            }
            let mut depth = radius - distance;
            if depth < -self.tolerance {
                continue;
            }
            if depth < 0.0 {
                return None;
            }
            let mut normal = offset * (1.0 / distance);
            let mut signs = [0; 3];
            for (axis, sign) in signs.iter_mut().enumerate().take(V::DVec::DIMENSION) {
                let along = normal.component(axis);
                if along.abs() > RISE_SINE_CLOSED_FORM {
                    *sign = if along > 0.0 { 1 } else { -1 };
                }
            }
            if self.rises(cell, &bounds, foot, signs) {
                continue;
            }
            let axes = 0..V::DVec::DIMENSION;
            let steepness = |axis: &usize| normal.component(*axis).abs();
            let axis = axes.max_by(|a, b| steepness(a).total_cmp(&steepness(b)))?;
            let side = 2 * axis + usize::from(normal.component(axis) > 0.0);
            if signs.iter().filter(|sign| **sign != 0).count() == 1 {
                normal = V::DVec::axis(axis).toward(normal);
                let height = offset.dot(normal);
                (foot, depth) = (point - normal * height, radius - height);
                faces.push(((cell, side), depth));
            }
            contacts.push(contact((cell, side), (normal, depth), [foot, point])?);
        }
        let count = contacts.len();
        for ((cell, side), depth) in self.other_sides(&faces) {
            let bounds = self.bounds_of_side((cell, side));
            let [foot, point] = self.nearest(&bounds, half);
            if (point - foot).length() <= radius + self.touching {
                let outward = outward::<V::DVec>(side);
                let lowest = self.pose.translation - half.toward(outward);
                let height = (lowest - bounds.min).dot(outward);
                let depth = depth.min(radius - height).max(0.0);
                let points = [lowest - outward * height, lowest];
                contacts.push(contact((cell, side), (outward, depth), points)?);
            }
        }
        Some(count)
    }

    /// Returns the nearest points of a box and of the core, which is a segment.
    fn nearest(&self, bounds: &Bounds<V::DVec>, half: V::DVec) -> [V::DVec; 2] {
        let center = self.pose.translation;
        if half == V::DVec::ZERO {
            return [center.max(bounds.min).min(bounds.max), center];
        }
        let middle = (bounds.min + bounds.max) * 0.5;
        let half_extents = (bounds.max - bounds.min) * 0.5;
        let scale = half_extents.length() + half.length();
        let points = nearest_on_segment(half_extents, center - middle, half, scale);
        points.map(|point| point + middle)
    }

    /// Returns `true` if a neighbor that contains a point of a cell rises along a normal.
    /// `signs` are the signs of the normal's components, or 0 for components that rounding
    /// may leave.
    fn rises(
        &self,
        cell: CellPosition,
        bounds: &Bounds<V::DVec>,
        point: V::DVec,
        signs: [i32; 3],
    ) -> bool {
        let mut ranges = [[0; 2]; 3];
        let axes = ranges.iter_mut().zip(signs).enumerate();
        for (axis, (range, sign)) in axes.take(V::DVec::DIMENSION) {
            let is_near =
                |end: V::DVec| i32::from((end - point).component(axis).abs() <= self.tolerance);
            *range = match sign {
                0 => [-is_near(bounds.min), is_near(bounds.max)],
                sign => [sign.min(0), sign.max(0)],
            };
        }
        positions_in(ranges).any(|offset| {
            let mut steps = offset.iter().zip(signs);
            steps.any(|(step, sign)| step * sign == 1) && self.cells.is_solid(moved(cell, offset))
        })
    }

    /// Adds the contacts of the shortest push-out of a box with these half extents, or of a
    /// polygon.
    fn add_push_out(
        &self,
        half_extents: Option<V::DVec>,
        contacts: &mut Vec<FacetContact<V::DVec>>,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<usize> {
        let axes = self.separating_axes(half_extents);
        let reach = self.core.grown(self.tolerance);
        let mut obstacles: SmallVec<[Obstacle<V::DVec>; 4]> = SmallVec::new();
        let mut touches = false;
        for &cell in &self.exposed {
            let bounds = self.bounds_of_cell(cell);
            if !bounds.overlaps(&reach) {
                continue;
            }
            let depth = depth_left(&axes, &bounds, V::DVec::ZERO, -self.tolerance);
            if depth <= -self.tolerance {
                continue;
            }
            if bounds
                .grown(self.tolerance)
                .overlaps(&Bounds::at(self.center))
            {
                return None;
            }
            touches = true;
            if depth > self.tolerance && !obstacles.iter().any(|(it, _)| contains(it, cell)) {
                let ranges = self.cells.grown::<V::DVec>(cell);
                obstacles.push((ranges, self.bounds_of(&ranges)));
            }
        }
        if obstacles.is_empty() {
            return (!touches).then_some(0);
        }
        let node = self.shortest(&axes, &mut obstacles, search)?;
        // As in `obstacle_search.rs`, no push-out is longer than half of the body's size.
        if node.length > 0.5 * (self.core.max - self.core.min).length() {
            return None;
        }
        let path = Bounds::at(self.center);
        let is_crossed = |cell| {
            let entry = self.bounds_of_cell(cell).entry(&path, node.translation);
            entry.is_finite()
        };
        if self.exposed.iter().copied().any(is_crossed) {
            return None;
        }
        // A single plane is the plane of the contact with its obstacle.
        let is_single = node.bounding.len() == 1;
        let translation = node.translation * f64::from(u8::from(!is_single));
        let mut faces: SmallVec<[(CellSide, f64); 3]> = SmallVec::new();
        for (plane, label) in &node.bounding {
            let (obstacle, side) = (obstacles.get(label / MAX_NORMALS)?, label % MAX_NORMALS);
            if side < 2 * V::DVec::DIMENSION {
                let face = self.touched_side(&axes, (&obstacle.0, side), *plane)?;
                contacts.push(self.side_contact(face, plane.1)?);
                faces.push((face, plane.1));
            } else {
                contacts.push(self.edge_contact(obstacle, *plane, translation)?);
            }
        }
        let count = contacts.len();
        for (face, depth) in self.other_sides(&faces) {
            if self.touches_side(&axes, face) {
                contacts.push(self.side_contact(face, depth)?);
            }
        }
        Some(count)
    }

    /// Returns `true` if a box or a polygon touches a side of a cell.
    fn touches_side(&self, axes: &[Axis<V::DVec>], side: CellSide) -> bool {
        let bounds = self.bounds_of_side(side);
        let left = depth_left(axes, &bounds, V::DVec::ZERO, -self.tolerance);
        left >= -self.touching
    }

    /// Returns the contact of a box or a polygon with the plane of a side of a cell.
    fn side_contact(&self, side: CellSide, depth: f64) -> Option<FacetContact<V::DVec>> {
        let normal = outward::<V::DVec>(side.1);
        let lowest = self.lowest(normal);
        self.contact(side, (normal, depth), [lowest + normal * depth, lowest])
    }

    /// Returns the lowest point of the core along a normal. Counts a support evaluation.
    fn lowest(&self, normal: V::DVec) -> V::DVec {
        self.pair.counter.add_one();
        let lowest = self.part.scaled_shape().lowest(self.pose.rotation, normal);
        self.pose.translation + lowest
    }

    /// Returns the axes that may separate a box or a polygon from a box of cells. The axes of the
    /// grid come first.
    fn separating_axes(&self, half_extents: Option<V::DVec>) -> ArrayVec<Axis<V::DVec>, MAX_AXES> {
        let mut found: ArrayVec<Axis<V::DVec>, MAX_AXES> = ArrayVec::new();
        let axes = || (0..V::DVec::DIMENSION).map(V::DVec::axis);
        found.extend(axes().map(|direction| Axis {
            direction,
            range: [self.core.min, self.core.max].map(|end| end.dot(direction)),
        }));
        let (rotation, center) = (self.pose.rotation, self.pose.translation);
        let Some(half_extents) = half_extents else {
            let shape = self.part.scaled_shape();
            let polygon = shape.core().polygon().into_iter();
            let edges = polygon.flat_map(|polygon| polygon.edges());
            found.extend(edges.map(|edge| {
                let direction = rotation * edge.normal;
                let ends = [direction, -direction].map(|it| self.lowest(it).dot(direction));
                Axis {
                    direction,
                    range: ends,
                }
            }));
            return found;
        };
        let own: ArrayVec<V::DVec, 3> = axes().map(|axis| rotation * axis).collect();
        let own_half = |direction: V::DVec| {
            let parts = own.iter().enumerate();
            let parts =
                parts.map(|(axis, it)| half_extents.component(axis) * it.dot(direction).abs());
            parts.sum::<f64>()
        };
        let mut add = |direction: V::DVec| {
            let (middle, half) = (center.dot(direction), own_half(direction));
            found.push(Axis {
                direction,
                range: [middle - half, middle + half],
            });
        };
        own.iter().for_each(|direction| add(*direction));
        if V::DVec::DIMENSION == 3 {
            for (own, axis) in own
                .iter()
                .flat_map(|own| axes().map(move |axis| (*own, axis)))
            {
                let across = V::DVec::perpendicular(&[own, axis]);
                let across = across.filter(|it| it.length() > MIN_EDGES_SINE);
                across
                    .and_then(DVector::unit)
                    .into_iter()
                    .for_each(&mut add);
            }
        }
        found
    }

    /// Returns the shortest translation out of all solid cells. Adds obstacles that the body
    /// overlaps after a translation. The label of a plane is the index of its obstacle, times
    /// [`MAX_NORMALS`], plus the index of its normal. Returns `None` if a limit is reached.
    fn shortest(
        &self,
        axes: &[Axis<V::DVec>],
        obstacles: &mut SmallVec<[Obstacle<V::DVec>; 4]>,
        search: &mut TranslationSearch<V::DVec, usize>,
    ) -> Option<Node<V::DVec, usize>> {
        let planes = |obstacles: &[Obstacle<V::DVec>], index: usize| {
            let (_, bounds) = *obstacles.get(index)?;
            let numbered = axes.iter().zip((index * MAX_NORMALS..).step_by(2));
            Some(numbered.flat_map(move |(axis, label)| {
                let [against, along] = axis.depths(&bounds, V::DVec::ZERO);
                let direction = axis.direction;
                [
                    ((-direction, against), label),
                    ((direction, along), label + 1),
                ]
            }))
        };
        // The first translation clears the shallowest plane of one obstacle after the other.
        let mut node = Node::default();
        let mut is_out = false;
        for _ in 0..MAX_STEPS {
            let Some(index) = self.blocking(axes, obstacles, node.translation)? else {
                is_out = true;
                break;
            };
            let left = |((normal, depth), _): &(PushPlane<V::DVec>, usize)| {
                depth - normal.dot(node.translation)
            };
            let shallowest = planes(obstacles, index)?.min_by(|a, b| left(a).total_cmp(&left(b)));
            let (plane, label) = shallowest?;
            node = node.with(plane, label, f64::INFINITY)?;
        }
        if !is_out {
            return None;
        }
        if node.chosen == 1 {
            return Some(node);
        }
        let limit = node.length * (1.0 - LEAST_SHORTENING);
        search.begin(MAX_NODES, limit, SameNodes::Planes);
        for _ in 0..MAX_NODES {
            let Some(shorter) = search.take_shortest() else {
                return Some(node);
            };
            let Some(index) = self.blocking(axes, obstacles, shorter.translation)? else {
                return Some(shorter);
            };
            for (plane, label) in planes(obstacles, index)? {
                if plane.1 <= limit {
                    search.open(&shorter, plane, label);
                }
            }
        }
        None
    }

    /// Returns the obstacle in which the body is deepest after a translation, or `Some(None)` if
    /// the body is outside the union. Adds this obstacle if it is new. Returns `None` if the
    /// translation leaves the known cells.
    #[expect(clippy::option_option, reason = "`None` ends the whole computation")]
    fn blocking(
        &self,
        axes: &[Axis<V::DVec>],
        obstacles: &mut SmallVec<[Obstacle<V::DVec>; 4]>,
        translation: V::DVec,
    ) -> Option<Option<usize>> {
        let most = slop(0.0, translation) + self.tolerance;
        let left = |bounds: &Bounds<V::DVec>| depth_left(axes, bounds, translation, most);
        let depths = obstacles.iter().map(|(_, bounds)| left(bounds));
        let deepest = depths.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((index, depth)) = deepest
            && depth > most
        {
            return Some(Some(index));
        }
        let known = self.bounds_of(&self.cells.inner_ranges(V::DVec::DIMENSION));
        let body = self.core.moved(translation);
        if !known.contains(&body) {
            return None;
        }
        let is_new = |cell| !obstacles.iter().any(|(ranges, _)| contains(ranges, cell));
        let mut others = self
            .exposed
            .iter()
            .filter(|cell| is_new(**cell))
            .filter(|cell| {
                let bounds = self.bounds_of_cell(**cell);
                bounds.overlaps(&body) && left(&bounds) > most
            });
        Some(others.next().map(|cell| {
            let ranges = self.cells.grown::<V::DVec>(*cell);
            obstacles.push((ranges, self.bounds_of(&ranges)));
            obstacles.len() - 1
        }))
    }

    /// Returns the exposed side of a cell, in the plane of a side of an obstacle, that the body
    /// touches nearest to its lowest point.
    fn touched_side(
        &self,
        axes: &[Axis<V::DVec>],
        (ranges, side): (&CellRanges, usize),
        (normal, depth): PushPlane<V::DVec>,
    ) -> Option<CellSide> {
        let foot = Bounds::at(self.lowest(normal) + normal * depth);
        let layer = ranges.get(side / 2)?.get(side % 2)?;
        let sides = self
            .exposed
            .iter()
            .copied()
            .map(|cell| (cell, side))
            .filter(|(cell, _)| {
                cell.get(side / 2) == Some(layer)
                    && contains(ranges, *cell)
                    && self.cells.is_exposed(*cell, side)
            });
        let gaps = sides.map(|side| (self.bounds_of_side(side).gap(&foot), side));
        let mut nearest: SmallVec<[(f64, CellSide); 8]> = gaps.collect();
        nearest.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut sides = nearest.into_iter().map(|(_, side)| side);
        sides.find(|side| self.touches_side(axes, *side))
    }

    /// Returns the contact with a box of cells for a plane that is not the plane of a side.
    /// After the translation, the body just touches the box.
    fn edge_contact(
        &self,
        (ranges, bounds): &Obstacle<V::DVec>,
        (normal, depth): PushPlane<V::DVec>,
        translation: V::DVec,
    ) -> Option<FacetContact<V::DVec>> {
        let solid = self.pair.surface.part_in(&Bounds {
            min: bounds.min * (1.0 / self.factor),
            max: bounds.max * (1.0 / self.factor),
        });
        let in_world = self.axes * normal;
        let found = self
            .pair
            .solve([&solid, self.part], self.axes * translation, |solver| {
                if translation == V::DVec::ZERO {
                    solver.find_contact()
                } else {
                    Some(solver.distance()?.1)
                }
            })?;
        if (found.normal - in_world).length() > SAME_NORMAL {
            return None;
        }
        let to_surface = solid.world_pose.translation - self.pair.surface.world_pose.translation;
        let contact = Contact64 {
            normal: in_world,
            depth,
            offset_a: found.offset_a + to_surface,
            ..found
        };
        let foot = V::DVec::transpose(self.axes) * contact.offset_a;
        let at = self.surface.grid().in_cells(foot * (1.0 / self.factor));
        let mut cell = at.components().map(|at| at.floor() as i32);
        for (at, [first, last]) in cell.iter_mut().zip(ranges) {
            *at = (*at).clamp(*first, *last);
        }
        let sides = (0..2 * V::DVec::DIMENSION).filter(|side| self.cells.is_exposed(cell, *side));
        let along = |side: &usize| outward::<V::DVec>(*side).dot(normal);
        let side = sides.max_by(|a, b| along(a).total_cmp(&along(b)))?;
        let found = self.contact((cell, side), (normal, depth), [foot, foot])?;
        (along(&side) > 0.0).then_some(FacetContact { contact, ..found })
    }
}

/// Returns the outward normal of a side of a cell.
fn outward<D: DVector>(side: usize) -> D {
    let axis = D::axis(side / 2);
    if side % 2 == 1 { axis } else { -axis }
}

/// Returns `true` if a box of cells contains a cell.
fn contains(ranges: &CellRanges, cell: CellPosition) -> bool {
    let mut axes = ranges.iter().zip(cell);
    axes.all(|([first, last], at)| (*first..=*last).contains(&at))
}

/// Returns the least depth of the body in a box after a translation. If the result is less than
/// `enough`, it may be too great.
fn depth_left<D: DVector>(
    axes: &[Axis<D>],
    bounds: &Bounds<D>,
    translation: D,
    enough: f64,
) -> f64 {
    let mut least = f64::INFINITY;
    for axis in axes {
        let [against, along] = axis.depths(bounds, translation);
        least = least.min(against).min(along);
        if least < enough {
            break;
        }
    }
    least
}
