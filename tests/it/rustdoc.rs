//! The pictures of the README and of the guide in rustdoc. A page of rustdoc cannot refer to a file
//! of the repository, so `docs/pictures.md` has the pictures as text. To write this file again:
//!
//! ```text
//! HEADBUTT_EMBED=1 cargo test --test it rustdoc
//! ```

use std::{collections::BTreeSet, fs, path::Path};

use crate::support::cases::number;

/// Returns the text of a file of the repository.
fn text(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the pages of rustdoc, as `lib.rs` includes them.
fn pages() -> Vec<String> {
    let library = text("src/lib.rs");
    let files = library.split("include_str!(\"../").skip(1);
    let files = files.filter_map(|rest| rest.split('"').next());
    let pages = files.filter(|file| *file != "docs/pictures.md");
    pages.map(text).collect()
}

/// Returns the names and the files of the pictures: a line `![..][name]` refers to `[name]: file`.
fn pictures(pages: &[String]) -> BTreeSet<(String, String)> {
    let mut pictures = BTreeSet::new();
    for page in pages {
        for image in page.split("\n![").skip(1) {
            let (_, reference) = image.split_once("][").expect("a picture by its name");
            let name = reference.split(']').next().unwrap_or_default();
            let definition = format!("\n[{name}]: ");
            let (_, file) = page.split_once(&definition).expect("the file of a picture");
            let file = file.lines().next().unwrap_or_default();
            let file = file.trim_start_matches("docs/").to_owned();
            pictures.insert((name.to_owned(), file));
        }
    }
    pictures
}

/// Adds the names of the pictures that the items in a folder of the library show:
/// `doc = "![..][name]\n"`.
fn add_shown(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_shown(&path, names);
            continue;
        }
        let source = fs::read_to_string(&path).expect("source text");
        for image in source.split("doc = \"![").skip(1) {
            let (_, reference) = image.split_once("][").expect("a picture by its name");
            names.extend(reference.split(']').next().map(str::to_owned));
            let is_included = source.contains("docs/pictures.md");
            assert!(is_included, "{path:?} does not include docs/pictures.md");
        }
    }
}

/// Returns bytes in base64: four letters for three bytes.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).flat_map(|group| {
        let mut bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        bits <<= 8 * (3 - group.len());
        let letter = move |index| match index <= group.len() {
            true => char::from(LETTERS[bits >> (18 - 6 * index) & 63]),
            false => '=',
        };
        (0..4).map(letter)
    });
    groups.collect()
}

#[test]
fn base64_as_in_its_standard() {
    let cases = [
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
    ];
    for (length, expected) in cases.into_iter().enumerate() {
        assert_eq!(base64(&b"foobar"[..length]), expected);
    }
}

#[test]
fn items_show_pictures_of_the_guide() {
    let mut shown = BTreeSet::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    add_shown(&source, &mut shown);
    let pictures = pictures(&pages());
    let names: BTreeSet<_> = pictures.into_iter().map(|(name, _)| name).collect();
    assert!(shown.len() >= 9, "{shown:?}");
    assert!(shown.is_subset(&names), "{shown:?} {names:?}");
}

#[test]
fn the_pages_of_rustdoc_contain_the_pictures_of_the_repository() {
    let pictures = pictures(&pages());
    assert!(pictures.len() >= 16, "{pictures:?}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let definitions = pictures.iter().map(|(name, file)| {
        let bytes = fs::read(docs.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let kind = if file.ends_with(".svg") {
            "svg+xml"
        } else {
            "png"
        };
        format!("[{name}]: data:image/{kind};base64,{}\n", base64(&bytes))
    });
    let expected: String = definitions.collect();
    let embedded = docs.join("pictures.md");
    if number("HEADBUTT_EMBED").is_some() {
        fs::write(&embedded, &expected).expect("a file that can be written");
    }
    // The assertion leaves the long text out of the message.
    let is_equal = fs::read_to_string(&embedded).is_ok_and(|text| text == expected);
    assert!(
        is_equal,
        "docs/pictures.md is out of date: see the head of this file"
    );
}

/// Returns the words of a text, without line breaks.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn the_readme_shows_the_first_game() {
    let (game, hello) = (text("examples/first_game.rs"), text("examples/hello.rs"));
    let readme = text("README.md");
    let (_, shown) = readme.split_once("```rust,ignore\n").expect("a sample");
    let (shown, _) = shown.split_once("```").expect("its end");
    let (_, code) = game.split_once("\n\nuse bevy").expect("code");
    assert_eq!(words(shown), words(&format!("use bevy{code}")));
    // Without a window, there is no camera. Apart from the camera, all code after the movement is
    // the same.
    let from_player = |game: &str| {
        game.find("#[derive(Component)]")
            .map(|at| game[at..].to_owned())
    };
    let game = from_player(&game).expect("a player");
    let camera = "    commands.spawn(Camera2d);\n";
    assert!(game.contains(camera));
    assert_eq!(from_player(&hello), Some(game.replace(camera, "")));
}
