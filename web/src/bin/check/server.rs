//! A server of the files in one folder, for browsers on this machine.

use std::{
    fs, io,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
};

/// Serves a folder until the process ends. Returns the address, with a port that was free.
pub fn serve(folder: PathBuf) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            // If a browser closes the connection early, this is no error of the server.
            thread::spawn(move || _ = answer(&stream, &folder));
        }
    });
    Ok(address)
}

fn answer(mut stream: &TcpStream, folder: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().unwrap_or(Ok(String::new()))?;
    // This server needs no headers.
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}

    let name = request.split(' ').nth(1).unwrap_or_default();
    let name = name.trim_start_matches('/');
    // The page has no folders.
    let (status, body) = match fs::read(folder.join(name)) {
        Ok(body) if !name.contains('/') => ("200 OK", body),
        _ => ("404 Not Found", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        content_type(name),
        body.len()
    )?;
    stream.write_all(&body)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
