// Package faultvfs has two file systems for tests of SQLite and of the files that a store has beside it: [Disk], which loses
// what was not synced when its power is cut, and [Faults], which makes chosen
// operations fail. Both wrap another VFS, pass locks and shared memory through,
// and so work with WAL and with several connections. Both may be used from many
// goroutines and start none. Faults over a Disk gives a sync that fails and loses
// what it should have written.
//
// # The disk
//
// A [Disk] keeps, for every file, the bytes that are safe and the list of changes
// since (writes, truncations, growth). What SQLite reads is always the newest
// state, as from the page cache. A sync makes all earlier changes of that file
// safe. At the cut, [Disk.Survive] makes the image that the next boot finds:
//
//   - Safe bytes are there.
//   - Every later write is kept, dropped, or torn: a torn write leaves any
//     selection of its 512-byte sectors. Files and writes are independent of each
//     other, so a later write may be there without an earlier one. Bytes next to
//     a write are not harmed (what SQLite calls powersafe overwrite, which the
//     operating system's VFS promises).
//   - A dropped write at the end of a file may still have made it longer; the gap
//     holds zeros. A truncation may be there or not.
//   - Files that were created or deleted since the last sync of their folder
//     may have their old or their new state: the first of these changes are there,
//     the others not, or any of them if the disk is [Disk.Unordered].
//   - Syncing a file also makes its creation safe, and all creations and deletions
//     before it (only the earlier ones of its name, if the disk is unordered).
//     POSIX does not promise that; the file systems of Linux do it, and the driver
//     relies on it.
//   - The change at which the power went is one of the unsynced ones.
//
// After the cut every operation fails except closing and unlocking. The WAL
// index (-shm) is no part of the image: SQLite rebuilds it.
//
// A sync that fails may lose ([Rule.Lose]): a random part of the unsynced changes
// becomes safe, the rest will never be, though reads still show them and later
// syncs succeed. This is what Linux does: after a failed fsync the pages count as
// clean. Only writing the bytes again makes them safe. Where it also reverts ([Rule.Revert]),
// reads show what is safe, as on file systems that drop such pages.
//
// Files that SQLite does not know of are opened through it, too ([Side]). The package imports nothing of the module.
//
// A disk may lie ([Disk.Lie]): then its syncs succeed and make nothing safe. Who tests with one sees whether its test would notice.
//
// The disk never syncs the real files, so tests on it run at the speed of
// memory.
//
// # The faults
//
// A [Rule] names the operation, the kind of file, how many of them pass first and
// how often it strikes. A rule without an error gives the one the operating
// system's VFS would give; [ErrFull] is a full disk. [Rule.Short] lets half of a
// write through before it fails. [Rule.Do] is called at that moment instead, or before it fails if there is an error, which
// makes a rule a breakpoint: a test can cut the power there, or halt the process.
package faultvfs
