//! A best-first search for the shortest translation out of all obstacles.
//!
//! `surface/` and `spatial/mover/push_out_search.rs` call [`TranslationSearch::begin`], and then
//! [`TranslationSearch::take_shortest`] and [`TranslationSearch::open`] in a loop.
//!
//! A node holds some planes, and the shortest translation that clears these planes (see
//! `shortest_translation.rs`). Each step takes the node with the shortest translation. If this
//! translation clears all obstacles, the translation is the result. Otherwise a longer translation
//! can leave one of the remaining obstacles across any of several planes. Each of these planes,
//! added to the planes of the node, opens another node. More planes never make a translation
//! shorter. So the first translation that clears all obstacles is the shortest.
//!
//! A node keeps only the planes that bound its translation. With the next plane, the translation
//! may no longer clear a plane that was dropped. In that case, the translation still clears that
//! plane's obstacle, or a later step finds the obstacle again.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::{
    space::{
        DVector,
        shortest_translation::{Clearance, PushPlane},
    },
    tolerance::SAME_NORMAL,
};

/// The shortest translation that clears some planes.
#[derive(Default)]
pub struct Node<D, T> {
    /// The planes on which the translation ends, each with a label.
    pub bounding: SmallVec<[(PushPlane<D>, T); 3]>,
    /// The number of planes that were chosen, which includes planes that no longer bound the
    /// translation.
    pub chosen: usize,
    pub translation: D,
    pub length: f64,
    /// The number of nodes opened before this node.
    number: usize,
}

impl<D: DVector, T: Copy + Default> Node<D, T> {
    /// Returns the node with one more plane, or `None` if no translation of at most `max_length`
    /// clears all planes.
    pub fn with(&self, plane: PushPlane<D>, label: T, max_length: f64) -> Option<Self> {
        let (normal, depth) = plane;
        // The shortest translation out of a single plane has a closed form.
        if self.bounding.is_empty() {
            let mut next = Self {
                chosen: self.chosen + 1,
                ..Self::default()
            };
            if depth > 0.0 {
                next.bounding.push((plane, label));
                next.translation = normal * depth;
                next.length = depth;
            }
            return (depth <= max_length).then_some(next);
        }
        let own = Clearance {
            translation: self.translation,
            bounding: self.bounding.iter().map(|(plane, _)| *plane).collect(),
            ..Clearance::default()
        };
        let shortest = own.with(plane, max_length)?;
        let planes = self.bounding.iter().copied().chain([(plane, label)]);
        let bounding = planes.filter(|(plane, _)| shortest.bounding.contains(plane));
        Some(Self {
            bounding: bounding.collect(),
            chosen: self.chosen + 1,
            translation: shortest.translation,
            length: shortest.translation.length(),
            number: 0,
        })
    }

    /// Returns `true` if a bounding plane has this normal.
    fn ends_on(&self, normal: D) -> bool {
        let mut bounding = self.bounding.iter();
        bounding.any(|((other, _), _)| (*other - normal).length() <= SAME_NORMAL)
    }

    /// Compares nodes by the lengths of their translations, then by the order in which the nodes
    /// were opened.
    fn order(&self, other: &Self) -> Ordering {
        let lengths = self.length.total_cmp(&other.length);
        lengths.then(self.number.cmp(&other.number))
    }
}

/// The rule by which open nodes count as equal. Only the first of several equal nodes is kept.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum SameNodes {
    /// No two nodes count as equal, so all nodes are kept.
    #[default]
    None,
    /// Nodes with the same translation. A search with this rule may miss the shortest translation,
    /// but takes fewer nodes.
    Translation,
    /// Nodes with the same translation and the same bounding planes.
    Planes,
}

/// Translations are the same if they differ by less than this fraction of their length.
const SAME_TRANSLATION: f64 = 1e-6;

/// The open nodes of a search, and its limits.
#[derive(Default)]
pub struct TranslationSearch<D, T> {
    open: Vec<Node<D, T>>,
    /// The number of nodes opened so far.
    count: usize,
    /// The number of nodes that may still be taken.
    tries: usize,
    max_length: f64,
    same: SameNodes,
}

impl<D: DVector, T: Copy + Default> TranslationSearch<D, T> {
    /// Begins a search that takes at most `max_tries` nodes, with translations of at most
    /// `max_length`.
    pub fn begin(&mut self, max_tries: usize, max_length: f64, same: SameNodes) {
        self.open.clear();
        self.open.push(Node::default());
        (self.count, self.tries) = (1, max_tries);
        (self.max_length, self.same) = (max_length, same);
    }

    /// Removes the open node with the shortest translation, and returns it.
    pub fn take_shortest(&mut self) -> Option<Node<D, T>> {
        // At most `tries` more nodes will be taken, so only the `tries` shortest translations are
        // kept.
        if self.tries < self.open.len() {
            self.open.select_nth_unstable_by(self.tries, Node::order);
            self.open.truncate(self.tries);
        }
        let numbered = self.open.iter().enumerate();
        let (index, _) = numbered.min_by(|(_, a), (_, b)| a.order(b))?;
        self.tries -= 1;
        Some(self.open.swap_remove(index))
    }

    /// Opens a node with the planes of `node` and with `plane`, unless no translation clears all
    /// these planes, or an equal node is open.
    pub fn open(&mut self, node: &Node<D, T>, plane: PushPlane<D>, label: T) {
        let Some(next) = node.with(plane, label, self.max_length) else {
            return;
        };
        if !self.open.iter().any(|other| self.is_same(&next, other)) {
            let number = self.count;
            self.count += 1;
            self.open.push(Node { number, ..next });
        }
    }

    fn is_same(&self, node: &Node<D, T>, other: &Node<D, T>) -> bool {
        let tolerance = SAME_TRANSLATION * node.length;
        let mut planes = node.bounding.iter();
        // The lengths of two vectors differ at most by the length of their difference. Comparing
        // the lengths first excludes most nodes. The factor 2 allows for rounding.
        self.same != SameNodes::None
            && (other.length - node.length).abs() < 2.0 * tolerance
            && (other.translation - node.translation).length() < tolerance
            && (self.same == SameNodes::Translation
                || planes.all(|((normal, _), _)| other.ends_on(*normal)))
    }
}
