//! A best-first search for the shortest translation that leaves all obstacles.
//!
//! A node is a choice of planes, and the shortest translation that clears them. The search takes
//! the node with the shortest translation. If the translation leaves all obstacles, it is the
//! result. Otherwise an obstacle can be left over any one of several planes, and each of them opens
//! another node. More planes never make a translation shorter. So the first translation that leaves
//! all obstacles is the shortest one.
//!
//! A node keeps only the planes that bound its translation. The next plane may turn the translation
//! back over one that was left out. Then either the obstacle is left all the same, or the search
//! meets it again.

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::space::{
    DVector,
    shortest_translation::{BoundingPlanes, PushPlane, translation_out_of_all},
};

/// Chosen planes, each with a label, and the shortest translation that clears them.
#[derive(Default)]
pub struct Node<D, T> {
    /// The labels of the planes.
    pub labels: SmallVec<[T; 4]>,
    bounding: BoundingPlanes<D>,
    pub translation: D,
    pub length: f64,
    /// The number of nodes opened before.
    number: usize,
}

impl<D: DVector, T: Copy + Default> Node<D, T> {
    /// Returns the node with one more plane, or `None` if no translation of at most `max_length`
    /// clears all planes.
    pub fn with(&self, plane: PushPlane<D>, label: T, max_length: f64) -> Option<Self> {
        let planes = self.bounding.iter().copied().chain([plane]);
        let shortest = translation_out_of_all(planes, max_length)?;
        let labels = self.labels.iter().copied().chain([label]);
        Some(Self {
            labels: labels.collect(),
            bounding: shortest.bounding,
            translation: shortest.translation,
            length: shortest.translation.length(),
            number: 0,
        })
    }

    /// The order of nodes in the search.
    fn order(&self, other: &Self) -> Ordering {
        let lengths = self.length.total_cmp(&other.length);
        lengths.then(self.number.cmp(&other.number))
    }
}

/// The open nodes of a search, and its limits.
#[derive(Default)]
pub struct TranslationSearch<D, T> {
    open: Vec<Node<D, T>>,
    /// The number of nodes opened so far.
    count: usize,
    /// The number of nodes that may still be taken.
    tries: usize,
    max_length: f64,
    same: f64,
}

impl<D: DVector, T: Copy + Default> TranslationSearch<D, T> {
    /// Begins a search that takes at most `max_tries` nodes, with translations of at most
    /// `max_length`. Of open nodes whose translations differ by less than the fraction `same` of
    /// their length, only the first is kept: all of them if `same` is 0.
    pub fn begin(&mut self, max_tries: usize, max_length: f64, same: f64) {
        self.open.clear();
        self.open.push(Node::default());
        (self.count, self.tries) = (1, max_tries);
        (self.max_length, self.same) = (max_length, same);
    }

    /// Takes the node with the shortest translation.
    pub fn take_shortest(&mut self) -> Option<Node<D, T>> {
        // No others will be taken.
        if self.tries < self.open.len() {
            self.open.select_nth_unstable_by(self.tries, Node::order);
            self.open.truncate(self.tries);
        }
        let numbered = self.open.iter().enumerate();
        let (index, _) = numbered.min_by(|(_, a), (_, b)| a.order(b))?;
        self.tries -= 1;
        Some(self.open.swap_remove(index))
    }

    /// Opens the node with one more plane than `node`, if a translation clears all its planes.
    pub fn open(&mut self, node: &Node<D, T>, plane: PushPlane<D>, label: T) {
        let Some(next) = node.with(plane, label, self.max_length) else {
            return;
        };
        let is_same = |other: &Node<D, T>| {
            (other.translation - next.translation).length() < self.same * next.length
        };
        if !self.open.iter().any(is_same) {
            let number = self.count;
            self.count += 1;
            self.open.push(Node { number, ..next });
        }
    }
}
