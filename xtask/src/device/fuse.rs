//! The kernel's side of the known-answer device: the FUSE protocol, as much of it as a directory
//! with one file needs (`include/uapi/linux/fuse.h`, version 7.31).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};

use super::model::{Fault, Model};

/// The file's name.
pub const FILE: &str = "data";
/// Largest read and write.
const MAX_BYTES: usize = 1 << 20;
/// Requests the kernel may have in flight without waiting.
const IN_FLIGHT: u16 = 1024;
/// Shortly before an answer is due, the clock is watched.
const WATCH_NS: u64 = 60_000;
const ROOT: u64 = 1;
const NODE: u64 = 2;
const IN_HEADER: usize = 40;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const ENOSYS: i32 = 38;
const EISDIR: i32 = 21;

/// A mounted device; unmounted when dropped. Its file is beside the directory, too, so that programs
/// that keep files of their own beside it can.
pub struct Device {
    at: PathBuf,
    beside: PathBuf,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    fuse: File,
    started: Instant,
    model: Mutex<Model>,
    data: Mutex<Vec<u8>>,
    due: Mutex<Due>,
    changed: Condvar,
}

#[derive(Default)]
struct Due {
    answers: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    is_over: bool,
}

impl Device {
    /// Mounts a device of `size` zeros at an existing directory.
    ///
    /// # Errors
    /// Without `/dev/fuse` or the right to mount.
    pub fn mount(at: &Path, size: u64, model: Model) -> Result<Self> {
        let fuse = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .context("open /dev/fuse")?;
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other",
            fuse.as_raw_fd()
        );
        let options = CString::new(options)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("known-answer", at, "fuse", flags, options.as_c_str())
            .with_context(|| format!("mount on {}", at.display()))?;
        let shared = Arc::new(Shared {
            fuse,
            started: Instant::now(),
            model: Mutex::new(model),
            data: Mutex::new(vec![0; usize::try_from(size)?]),
            due: Mutex::default(),
            changed: Condvar::new(),
        });
        let of = |work: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || work(&shared))
        };
        let device = Self {
            at: at.to_path_buf(),
            beside: at.with_extension(FILE),
            threads: vec![of(Shared::serve), of(Shared::answer_in_time)],
            shared,
        };
        File::create(&device.beside).context("make the file beside the device")?;
        mount_bind(device.at.join(FILE), &device.beside)
            .with_context(|| format!("mount on {}", device.beside.display()))?;
        Ok(device)
    }

    /// The file under test.
    pub fn file(&self) -> PathBuf {
        self.beside.clone()
    }

    /// Writes done wrongly so far, by kind.
    pub fn injected(&self) -> [u64; 4] {
        lock(&self.shared.model).injected
    }

    /// Lets one of so many writes to the second half of the file be done wrongly.
    pub fn fault_every(&self, writes: u64) {
        lock(&self.shared.model).fault_every = writes;
    }

    /// Waits until the device was unmounted by somebody else.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            // A panic was printed by the thread.
            let _ = thread.join();
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Detached: a program that hangs on it is let go by the end of the connection.
        let _ = unmount(&self.beside, UnmountFlags::DETACH);
        let _ = std::fs::remove_file(&self.beside);
        let _ = unmount(&self.at, UnmountFlags::DETACH);
        lock(&self.shared.due).is_over = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request as it came.
struct Request<'a> {
    opcode: u32,
    unique: u64,
    node: u64,
    body: &'a [u8],
}

impl<'a> Request<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let header = bytes.get(..IN_HEADER)?;
        Some(Self {
            opcode: u32_at(header, 4)?,
            unique: u64_at(header, 8)?,
            node: u64_at(header, 16)?,
            body: &bytes[IN_HEADER..],
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// What is answered: bytes after the header, or an error number.
type Answer = Result<Vec<u8>, i32>;

impl Shared {
    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Reads requests until the file system is unmounted.
    fn serve(&self) {
        let mut buffer = vec![0; MAX_BYTES + 4096];
        loop {
            let count = match (&self.fuse).read(&mut buffer) {
                Ok(count) => count,
                // ENOENT: a request was taken back; EINTR and EAGAIN: again. Else it is over.
                Err(error) if [2, 4, 11].contains(&error.raw_os_error().unwrap_or(0)) => continue,
                Err(_) => break,
            };
            if let Some(request) = Request::of(&buffer[..count]) {
                self.handle(&request);
            }
        }
        lock(&self.due).is_over = true;
        self.changed.notify_all();
    }

    fn handle(&self, request: &Request<'_>) {
        let answer = match request.opcode {
            1 => look_up(request.body, self.size()),
            // FORGET, BATCH_FORGET and INTERRUPT have no answer.
            2 | 36 | 42 => return,
            3 | 4 => Ok(attributes(request.node, self.size())),
            14 if request.node == ROOT => Err(EISDIR),
            14 => Ok(opened()),
            15 => return self.transfer(request, Self::read),
            16 => return self.transfer(request, Self::write),
            17 => Ok(statistics(self.size())),
            20 => return self.sync(request),
            26 => Ok(init(request.body)),
            27 => Ok([0; 16].to_vec()),
            28 => Ok(directory(request.body)),
            18 | 25 | 29 | 34 | 38 => Ok(Vec::new()),
            _ => Err(ENOSYS),
        };
        self.answer(request.unique, &answer);
    }

    fn size(&self) -> u64 {
        lock(&self.data).len() as u64
    }

    /// A read or write, answered when the model says.
    fn transfer(&self, request: &Request<'_>, act: fn(&Self, &[u8]) -> Answer) {
        let now_ns = self.now_ns();
        let is_write = request.opcode == 16;
        let (Some(offset), Some(length)) = (u64_at(request.body, 8), u32_at(request.body, 16))
        else {
            return self.answer(request.unique, &Err(EIO));
        };
        let (done_ns, is_bad) = {
            let mut model = lock(&self.model);
            let written = if is_write { u64::from(length) } else { 0 };
            let range = offset..offset + u64::from(length);
            let is_bad = model.bad_offset.is_some_and(|bad| range.contains(&bad));
            (model.done_ns(now_ns, written), is_bad)
        };
        let answer = if is_bad {
            Err(EIO)
        } else {
            act(self, request.body)
        };
        self.answer_at(done_ns, request.unique, &answer);
    }

    fn read(&self, body: &[u8]) -> Answer {
        let (offset, length) = place(body).ok_or(EIO)?;
        let data = lock(&self.data);
        let start = offset.min(data.len());
        let end = (offset + length).min(data.len());
        Ok(data[start..end].to_vec())
    }

    fn write(&self, body: &[u8]) -> Answer {
        let (offset, length) = place(body).ok_or(EIO)?;
        let new = body.get(40..40 + length).ok_or(EIO)?;
        let mut data = lock(&self.data);
        let size = data.len();
        // What is misdirected lands in the first half, which stays sound otherwise.
        let fault = match offset >= size / 2 {
            true => lock(&self.model).next_fault(),
            false => None,
        };
        let old = data.get_mut(offset..offset + length).ok_or(EIO)?;
        match fault {
            None => old.copy_from_slice(new),
            Some(Fault::Lost) => {}
            Some(Fault::Torn) => old[..length / 2].copy_from_slice(&new[..length / 2]),
            Some(Fault::Flipped) => {
                old.copy_from_slice(new);
                old[length / 3] ^= 1;
            }
            Some(Fault::Misdirected) => {
                let other = offset - size / 2;
                data[other..other + length].copy_from_slice(new);
            }
        }
        let mut answer = (length as u32).to_ne_bytes().to_vec();
        answer.extend([0; 4]);
        Ok(answer)
    }

    fn sync(&self, request: &Request<'_>) {
        let done_ns = self.now_ns() + lock(&self.model).sync.as_u64();
        self.answer_at(done_ns, request.unique, &Ok(Vec::new()));
    }

    fn answer(&self, unique: u64, answer: &Answer) {
        // The kernel takes an answer whole or refuses it (the request was taken back).
        let _ = (&self.fuse).write(&frame(unique, answer));
    }

    fn answer_at(&self, done_ns: u64, unique: u64, answer: &Answer) {
        if done_ns <= self.now_ns() {
            return self.answer(unique, answer);
        }
        let mut due = lock(&self.due);
        due.answers
            .push(Reverse((done_ns, unique, frame(unique, answer))));
        drop(due);
        self.changed.notify_one();
    }

    /// Gives answers when they are due.
    fn answer_in_time(&self) {
        // Sleeps of this thread end when they should.
        let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
        let mut due = lock(&self.due);
        loop {
            if due.is_over {
                return;
            }
            let now_ns = self.now_ns();
            let next_ns = due.answers.peek().map(|Reverse((at, _, _))| *at);
            match next_ns {
                Some(at) if at <= now_ns => {
                    if let Some(Reverse((_, _, answer))) = due.answers.pop() {
                        drop(due);
                        let _ = (&self.fuse).write(&answer);
                        due = lock(&self.due);
                    }
                }
                Some(at) if at - now_ns <= WATCH_NS => {
                    drop(due);
                    std::hint::spin_loop();
                    due = lock(&self.due);
                }
                next => {
                    let wait = next.map_or(1_000_000_000, |at| at - now_ns - WATCH_NS);
                    let waited = self
                        .changed
                        .wait_timeout(due, Duration::from_nanos(wait))
                        .unwrap_or_else(PoisonError::into_inner);
                    due = waited.0;
                }
            }
        }
    }
}

/// Offset and length of a read or write.
fn place(body: &[u8]) -> Option<(usize, usize)> {
    Some((u64_at(body, 8)? as usize, u32_at(body, 16)? as usize))
}

fn frame(unique: u64, answer: &Answer) -> Vec<u8> {
    let (error, body): (i32, &[u8]) = match answer {
        Ok(body) => (0, body),
        Err(errno) => (-errno, &[]),
    };
    let mut bytes = Vec::with_capacity(16 + body.len());
    bytes.extend((16 + body.len() as u32).to_ne_bytes());
    bytes.extend(error.to_ne_bytes());
    bytes.extend(unique.to_ne_bytes());
    bytes.extend(body);
    bytes
}

/// ASYNC_READ, BIG_WRITES, ASYNC_DIO, PARALLEL_DIROPS, MAX_PAGES, of what the kernel offers.
fn init(body: &[u8]) -> Vec<u8> {
    const WANTED: u32 = 1 | 1 << 5 | 1 << 15 | 1 << 18 | 1 << 22;
    let offered = u32_at(body, 12).unwrap_or(0);
    let mut out = Vec::with_capacity(64);
    for word in [7, 31, 0, offered & WANTED] {
        out.extend(u32::to_ne_bytes(word));
    }
    for half in [IN_FLIGHT, IN_FLIGHT] {
        out.extend(half.to_ne_bytes());
    }
    out.extend((MAX_BYTES as u32).to_ne_bytes());
    out.extend(1_u32.to_ne_bytes());
    out.extend(((MAX_BYTES / 4096) as u16).to_ne_bytes());
    out.resize(64, 0);
    out
}

fn attribute(node: u64, size: u64) -> Vec<u8> {
    let (mode, length): (u32, u64) = match node {
        ROOT => (0o040_755, 4096),
        _ => (0o100_666, size),
    };
    let mut out = Vec::with_capacity(88);
    for word in [node, length, length.div_ceil(512), 0, 0, 0] {
        out.extend(word.to_ne_bytes());
    }
    // Nanoseconds of three times, mode, links, owner, group, device, block size, flags.
    for word in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        out.extend(word.to_ne_bytes());
    }
    out
}

fn attributes(node: u64, size: u64) -> Vec<u8> {
    let mut out = 3600_u64.to_ne_bytes().to_vec();
    out.extend([0; 8]);
    out.extend(attribute(node, size));
    out
}

fn look_up(body: &[u8], size: u64) -> Answer {
    if body.strip_suffix(&[0]) != Some(FILE.as_bytes()) {
        return Err(ENOENT);
    }
    let mut out = Vec::new();
    for word in [NODE, 1, 3600, 3600] {
        out.extend(u64::to_ne_bytes(word));
    }
    out.extend([0; 8]);
    out.extend(attribute(NODE, size));
    Ok(out)
}

/// PARALLEL_DIRECT_WRITES; the page cache only for who opens without O_DIRECT.
fn opened() -> Vec<u8> {
    let mut out = 0_u64.to_ne_bytes().to_vec();
    out.extend((1_u32 << 6).to_ne_bytes());
    out.extend([0; 4]);
    out
}

fn statistics(size: u64) -> Vec<u8> {
    let blocks = size / 4096;
    let mut out = Vec::new();
    for word in [2 * blocks, blocks, blocks, 16, 14] {
        out.extend(u64::to_ne_bytes(word));
    }
    for word in [4096_u32, 255, 4096] {
        out.extend(word.to_ne_bytes());
    }
    out.resize(80, 0);
    out
}

/// The one entry, at the first call.
fn directory(body: &[u8]) -> Vec<u8> {
    if u64_at(body, 8) != Some(0) {
        return Vec::new();
    }
    let mut out = Vec::new();
    out.extend(NODE.to_ne_bytes());
    out.extend(1_u64.to_ne_bytes());
    out.extend((FILE.len() as u32).to_ne_bytes());
    out.extend(8_u32.to_ne_bytes());
    out.extend(FILE.as_bytes());
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    /// A mounted device of 1 MiB in a directory of its own; says so where none can be mounted.
    fn mounted(name: &str, service: &str) -> Option<Device> {
        let at = std::env::temp_dir().join(format!("fathom-device-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&at).unwrap();
        let model = Model::new(service.parse().unwrap(), 1);
        match Device::mount(&at, 1 << 20, model) {
            Ok(device) => Some(device),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED: known-answer device: {error:#}");
                std::fs::remove_dir(&at).unwrap();
                None
            }
        }
    }

    fn unmount(device: Device) {
        let at = device.at.clone();
        drop(device);
        std::fs::remove_dir(&at).unwrap();
    }

    #[test]
    fn the_device_is_a_directory_with_a_file_that_keeps_what_is_written() {
        let Some(device) = mounted("keeps", "constant:0ns") else {
            return;
        };
        let entries = std::fs::read_dir(&device.at).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["data"]);
        assert!(!device.at.join("other").exists());
        let open = || File::options().read(true).write(true).open(device.file());
        let file = open().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
        file.write_all_at(&[7; 10_000], 5000).unwrap();
        file.sync_all().unwrap();
        drop(file);
        let mut data = vec![0; 20_000];
        open().unwrap().read_exact_at(&mut data, 0).unwrap();
        assert!(data[5000..15_000].iter().all(|&b| b == 7));
        assert!(data[..5000].iter().chain(&data[15_000..]).all(|&b| b == 0));
        unmount(device);
    }

    #[test]
    fn faults_and_delays_are_those_of_the_model() {
        let Some(device) = mounted("faults", "constant:30ms") else {
            return;
        };
        device.fault_every(1);
        lock(&device.shared.model).bad_offset = Some(8192);
        let file = File::options().read(true).write(true).open(device.file());
        let file = file.unwrap();
        let half = 1_u64 << 19;
        let started = Instant::now();
        for block in 0..4_u64 {
            file.write_all_at(&[9; 4096], half + block * 4096).unwrap();
            file.sync_all().unwrap();
        }
        assert!(started.elapsed() >= Duration::from_millis(4 * 30));
        assert_eq!(device.injected(), [1, 1, 1, 1]);
        let mut block = [0; 4096];
        let error = file.read_exact_at(&mut block, 8192).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(EIO));
        drop(file);
        unmount(device);
    }
}
