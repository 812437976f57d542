import Synchronization

/// One version of one page of a location table.
///
/// Handles are shared by the chunks of all roots that see this version; `references` counts these. A handle knows where
/// its bytes are: in memory, in a checkpoint file, or both. It has 48 bytes, as a store has one for every 336 objects.
///
/// Invariants:
/// - resident or stored, or both; never neither;
/// - once a captured root sees the handle its entries never change;
/// - a handle that is not stored is never evicted.
///
/// Readers take no lock: they load `word`, read an entry, and load `word` again. If it has not changed, the page was
/// valid during the read, because each eviction changes the counter in it. (A sequence lock; the memory it guards stays
/// mapped: `PageArena`.)
package struct PageHandle: ~Copyable {
    /// Address of the resident page shifted right by 12 in the upper 44 bits (0: not resident), a counter of evictions
    /// in the lower 20.
    let word: Atomic<UInt64>
    /// The working version that created it; only that one may change it in place.
    let version: UInt64
    let references = Atomic<UInt32>(1)
    let number: UInt32

    // Guarded by the lock of `PageCache`.
    var file: PageFile?
    var fileIndex: UInt32
    var ringIndex: Int32 = -1
    /// Entries in use, for a stored page.
    var storedEntryCount: UInt16 = 0

    let table: UInt16
    /// Set by readers, cleared by the clock hand.
    let isTouched = Atomic<Bool>(false)

    init(
        page: UnsafeMutableRawPointer?, version: UInt64, table: UInt16, number: UInt32, file: PageFile?,
        fileIndex: UInt32
    ) {
        word = Atomic<UInt64>(page.map { Self.word(for: $0, counter: 0) } ?? 0)
        self.version = version
        self.table = table
        self.number = number
        self.file = file
        self.fileIndex = fileIndex
    }

    @inline(__always)
    static func word(for page: UnsafeMutableRawPointer, counter: UInt64) -> UInt64 {
        (UInt64(UInt(bitPattern: page)) >> 12) << 20 | counter & 0xF_FFFF
    }

    /// The page of a word; nil if it is not resident.
    @inline(__always)
    static func page(of word: UInt64) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt((word >> 20) << 12))
    }

    /// The resident page.
    @inline(__always)
    var page: UnsafeMutableRawPointer? { Self.page(of: word.load(ordering: .acquiring)) }
}

package typealias PageHandlePointer = UnsafeMutablePointer<PageHandle>
