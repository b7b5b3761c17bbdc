// SPDX-License-Identifier: MIT
//! Workers count in a table behind a Mutex; a flusher writes it out, and holds the Mutex for that long.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[inline(never)]
fn write_out(table: &[u64]) -> u64 {
    let end = Instant::now() + Duration::from_millis(30);
    let mut sum = 0u64;
    while Instant::now() < end {
        sum = sum.wrapping_add(table.iter().sum());
    }
    sum
}

#[inline(never)]
fn flush(table: &Mutex<Vec<u64>>, is_broken: bool) -> u64 {
    let guard = table.lock().unwrap();
    if is_broken {
        return write_out(&guard);
    }
    let copy = guard.clone();
    drop(guard);
    write_out(&copy)
}

#[inline(never)]
fn count_order(table: &Mutex<Vec<u64>>, n: usize) {
    let mut guard = table.lock().unwrap();
    let i = n % guard.len();
    guard[i] += 1;
}

fn main() {
    let is_broken = std::env::args().nth(1).as_deref() != Some("--healthy");
    let table = Arc::new(Mutex::new(vec![0u64; 512]));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::new();
    for _ in 0..3 {
        let (table, is_over) = (table.clone(), is_over.clone());
        threads.push(thread::spawn(move || {
            let mut n = 0usize;
            while !is_over.load(Ordering::Relaxed) {
                for i in 0..20000usize {
                    n = n.wrapping_mul(31).wrapping_add(i);
                }
                count_order(&table, n);
                thread::sleep(Duration::from_millis(1));
            }
        }));
    }
    let (flushed, over) = (table.clone(), is_over.clone());
    let flusher = thread::Builder::new().name("flusher".into()).spawn(move || {
        let mut sum = 0u64;
        while !over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(200));
            sum = sum.wrapping_add(flush(&flushed, is_broken));
        }
        sum
    });
    thread::sleep(Duration::from_secs(3));
    is_over.store(true, Ordering::Relaxed);
    for one in threads {
        one.join().unwrap();
    }
    println!("{}", flusher.unwrap().join().unwrap());
}
