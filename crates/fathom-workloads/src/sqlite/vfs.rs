//! A layer between SQLite and its file system calls that counts and times the syncs.
//!
//! SQLite's own layer is used as it is; only its `xOpen` is preceded by ours, which gives each
//! opened file a copy of its method table with `xSync` replaced. Counts are kept for each thread,
//! since a connection is used by one.

#![expect(
    unsafe_code,
    reason = "SQLite offers this hook only as C function tables"
)]

use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use fathom_stats::Histogram;
use rusqlite::ffi;

/// The layer's name, for opening a connection through it.
pub(super) const NAME: &CStr = c"fathom-count";

/// What one thread's connections synced.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    /// Syncs of databases and journals.
    pub(super) file_syncs: u64,
    /// Syncs of the directory of a new journal, done by SQLite within the first sync of that
    /// journal and known from there.
    pub(super) directory_syncs: u64,
    /// Time of each sync call of SQLite (a new journal's includes its directory's).
    pub(super) latency: Histogram,
    /// Addresses of open files whose next sync also syncs their directory.
    new_journals: Vec<usize>,
}

thread_local! {
    static COUNTED: RefCell<Counted> = RefCell::default();
}

/// Forgets what this thread has counted.
pub(super) fn start_counting() {
    COUNTED.with_borrow_mut(|counted| *counted = Counted::default());
}

/// What this thread has counted since [`start_counting`].
pub(super) fn stop_counting() -> Counted {
    COUNTED.with_borrow_mut(std::mem::take)
}

type Open = unsafe extern "C" fn(
    *mut ffi::sqlite3_vfs,
    ffi::sqlite3_filename,
    *mut ffi::sqlite3_file,
    c_int,
    *mut c_int,
) -> c_int;
type SyncCall = unsafe extern "C" fn(*mut ffi::sqlite3_file, c_int) -> c_int;
type Methods = ffi::sqlite3_io_methods;

/// SQLite's own layer; it lives as long as the process.
struct Original {
    open: Open,
    layer: *mut ffi::sqlite3_vfs,
}

// SAFETY: the pointer is only handed back to SQLite, whose layers may be called from any thread.
unsafe impl Send for Original {}
// SAFETY: as above; nothing is written through it.
unsafe impl Sync for Original {}

/// A method table of SQLite's and our copy of it.
struct Table {
    original: *const Methods,
    sync: SyncCall,
    counting: &'static Methods,
}

// SAFETY: the tables are constant data of SQLite and a leaked copy; nobody writes to them.
unsafe impl Send for Table {}

static ORIGINAL: OnceLock<Original> = OnceLock::new();
static TABLES: Mutex<Vec<Table>> = Mutex::new(Vec::new());

/// Makes the layer known to SQLite; once a process.
///
/// # Errors
/// When SQLite has no layer of its own or refuses ours.
pub(super) fn register() -> Result<(), rusqlite::Error> {
    static REGISTERED: OnceLock<Result<(), c_int>> = OnceLock::new();
    REGISTERED
        .get_or_init(register_once)
        .map_err(|code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
}

fn register_once() -> Result<(), c_int> {
    // SAFETY: with no name it gives the default layer or null; it initialises SQLite itself.
    let layer = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
    if layer.is_null() {
        return Err(ffi::SQLITE_ERROR);
    }
    // SAFETY: a layer that was found stays valid while the process lives, and nobody changes the
    // copied fields after its registration.
    let mut ours = unsafe { *layer };
    let open = ours.xOpen.ok_or(ffi::SQLITE_ERROR)?;
    if ORIGINAL.set(Original { open, layer }).is_err() {
        return Err(ffi::SQLITE_MISUSE);
    }
    ours.pNext = std::ptr::null_mut();
    ours.zName = NAME.as_ptr();
    ours.xOpen = Some(open_counted);
    let ours: &'static mut ffi::sqlite3_vfs = Box::leak(Box::new(ours));
    // SAFETY: `ours` is a whole layer, leaked so that it stays valid, and not made the default.
    match unsafe { ffi::sqlite3_vfs_register(ours, 0) } {
        ffi::SQLITE_OK => Ok(()),
        code => Err(code),
    }
}

/// Opens as the original does, then exchanges the method table.
unsafe extern "C" fn open_counted(
    _ours: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let Some(original) = ORIGINAL.get() else {
        return ffi::SQLITE_CANTOPEN;
    };
    // SAFETY: SQLite's arguments, passed on to SQLite's own function with its own layer; `file`
    // has the size that layer asked for, since ours has the same `szOsFile`.
    let code = unsafe { (original.open)(original.layer, name, file, flags, out_flags) };
    if code == ffi::SQLITE_OK {
        // SAFETY: after success `pMethods` points to a method table that stays valid (constant
        // data in SQLite's own layer) or is null.
        unsafe {
            if let Some(methods) = counting_methods((*file).pMethods) {
                (*file).pMethods = methods;
                note_opened(file as usize, flags);
            }
        }
    }
    code
}

/// Our copy of a method table, made when it is first seen.
///
/// # Safety
/// `original` is null or points to a method table that stays valid.
unsafe fn counting_methods(original: *const Methods) -> Option<&'static Methods> {
    if original.is_null() {
        return None;
    }
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = tables.iter().find(|table| table.original == original) {
        return Some(known.counting);
    }
    // SAFETY: not null, and valid by this function's contract.
    let mut methods = unsafe { *original };
    let sync = methods.xSync?;
    methods.xSync = Some(sync_counted);
    let counting: &'static Methods = Box::leak(Box::new(methods));
    tables.push(Table {
        original,
        sync,
        counting,
    });
    Some(counting)
}

/// Syncs as the original does, counted and timed.
unsafe extern "C" fn sync_counted(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite calls the methods of files it has open.
    let methods = unsafe { (*file).pMethods };
    let Some(sync) = original_sync(methods) else {
        return ffi::SQLITE_IOERR_FSYNC;
    };
    let started = Instant::now();
    // SAFETY: SQLite's arguments, passed on to the method that belongs to the file.
    let code = unsafe { sync(file, flags) };
    let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    note_synced(file as usize, took);
    code
}

fn original_sync(counting: *const Methods) -> Option<SyncCall> {
    let tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    tables
        .iter()
        .find(|table| std::ptr::eq(table.counting, counting))
        .map(|table| table.sync)
}

/// SQLite's layer syncs the directory of a journal it made, together with the journal's first sync.
fn note_opened(file: usize, flags: c_int) {
    let kinds =
        ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
    let is_new_journal = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & kinds != 0;
    let _ = COUNTED.try_with(|counted| {
        let mut counted = counted.borrow_mut();
        counted.new_journals.retain(|known| *known != file);
        if is_new_journal {
            counted.new_journals.push(file);
        }
    });
}

fn note_synced(file: usize, took_ns: u64) {
    let _ = COUNTED.try_with(|counted| {
        let mut counted = counted.borrow_mut();
        counted.file_syncs += 1;
        counted.latency.record(took_ns);
        let known = counted.new_journals.len();
        counted.new_journals.retain(|known| *known != file);
        counted.directory_syncs += (known - counted.new_journals.len()) as u64;
    });
}
