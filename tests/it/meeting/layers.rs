//! Layers from an enum of the app, and their names.

use bevy::prelude::*;
use headbutt::{LayerNames, explain, prelude::*};

use crate::{
    spatial::ask,
    support::{app, tick},
};

#[derive(Clone, Copy, Debug)]
enum Layer {
    Player,
    Ground,
    Coin,
}

impl LayerMask for Layer {
    fn mask(&self) -> u32 {
        1 << *self as u32
    }
}

#[test]
fn an_enum_names_the_layers() {
    let layers = CollisionLayers::new(Layer::Player, [Layer::Ground, Layer::Coin]);
    assert_eq!(layers, CollisionLayers::from_bits(0b001, 0b110));
    let list = [Layer::Coin, Layer::Player];
    assert_eq!(
        CollisionLayers::new(&list[..], 0b1),
        CollisionLayers::from_bits(0b101, 0b1)
    );
    let nothing: [Layer; 0] = [];
    assert_eq!(CollisionLayers::new(nothing, 0), CollisionLayers::NONE);
    const CONSTANT: CollisionLayers = CollisionLayers::from_bits(1, 2);
    assert!(CONSTANT.interacts_with(CollisionLayers::new(Layer::Ground, Layer::Player)));
}

#[test]
fn a_query_takes_layers_of_an_enum() {
    let mut app = app();
    let layers = CollisionLayers::new(Layer::Coin, u32::MAX);
    let coin = app.world_mut().spawn((Collider::circle(1.0), layers)).id();
    tick(&mut app);
    let mut found_on = |mask: &[Layer]| {
        let filter = SpatialQueryFilter::default().with_mask(mask);
        let mut found = Vec::new();
        ask(app.world_mut(), |query| {
            query.entities_at(Vec2::ZERO, &filter, &mut found)
        });
        found
    };
    assert_eq!(found_on(&[Layer::Player, Layer::Coin]), [coin]);
    assert!(found_on(&[Layer::Player, Layer::Ground]).is_empty());
}

#[test]
fn an_explanation_shows_the_names_of_the_layers() {
    let mut app = app();
    let mut spawn = |memberships: u32, filters: u32| {
        let layers = CollisionLayers::new(memberships, filters);
        app.world_mut().spawn((Collider::circle(1.0), layers)).id()
    };
    let player = spawn(Layer::Player.mask(), 0b1110);
    let coin = spawn(Layer::Coin.mask(), Layer::Player.mask());
    let ball = spawn(0b10_0000, 0b10_0000);
    tick(&mut app);
    let text = |app: &App| explain(app.world(), ball, coin).to_string();
    assert!(
        text(&app).contains("is on the layers 0b100,"),
        "{}",
        text(&app)
    );
    app.insert_resource(LayerNames::new([Layer::Player, Layer::Ground, Layer::Coin]));
    let named = text(&app);
    assert!(named.contains("is on the layers Coin,"), "{named}");
    assert!(
        named.contains("interacts only with the layers Player"),
        "{named}"
    );
    let names = app.world().resource::<LayerNames>();
    assert_eq!(names.text(0b1110), "Ground, Coin, 0b1000");
    assert_eq!(names.text(0), "0b0");
    let explained = explain(app.world(), player, ball).to_string();
    assert!(
        explained.contains("with the layers Ground, Coin, 0b1000"),
        "{explained}"
    );
}
