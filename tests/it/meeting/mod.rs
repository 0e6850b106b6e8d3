//! The rules that decide who meets whom.

mod layers;
