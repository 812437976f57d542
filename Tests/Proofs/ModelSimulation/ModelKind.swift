/// The kinds of operations in a random workload.
package enum ModelKind: UInt8, CaseIterable, Codable, Sendable {
    // Transactions.
    case begin, commit, rollBack, abandon, commitNothing, commitByTwo
    // Rows.
    case insert, insertNothing, insertOneByte, insertPage, insertMany, insertHuge
    case update, updateKeepingKey, grow, delete, deleteMany, upsert, overwriteTwice, insertAndDelete, restore, spill
    // Tables.
    case makeTable, dropTable
    // Index entries.
    case addKey, removeKey, moveKey, swapKeys, rotateKeys, tryTakenKey, takeFreedKey
    case lookUpInTransaction, scanIndexInTransaction, readOwnWrites, countInTransaction
    // Reads of committed data, also during a transaction.
    case readRow, lookUpKey, scanTable, scanRange, scanPart, scanIndex, scanIndexRange, countTable
    case readBlob, readBlobRange
    // Blobs.
    case putBlob, putSmallBlob, putLargeBlob, putCompressibleBlob, streamBlob, streamAnnouncedBlob
    case failStream, miscountStream, copyBlob, deleteBlob, replaceBlob, holdBlob, readHeldBlob
    case upload, placeUpload
    // Snapshots.
    case takeSnapshot, readSnapshot, iterateSnapshot, endSnapshot
    // Maintenance.
    case checkpoint, compact, churnRows, churnBlobs, mergeRuns, verify, usage, compareAll
    // Opening.
    case reopen, killAndReopen, cutPower, openForReading, openTwice, changeBudget, changeSizes, rebuild, salvage
    // Faults, and outcomes of transactions.
    case fillDisk, failRead, failCommit, failCheckpoint, rememberCommit, askForCommit

    /// The relative frequency of the kind.
    var weight: Int {
        switch self {
        case .begin: 24
        case .commit: 10
        case .rollBack, .abandon: 4
        case .insert: 40
        case .update, .delete, .upsert, .moveKey: 16
        case .readRow, .lookUpKey: 14
        case .insertMany, .deleteMany, .putBlob, .deleteBlob, .addKey, .removeKey, .swapKeys, .takeSnapshot: 6
        case .checkpoint, .readSnapshot, .scanRange, .scanIndexRange, .killAndReopen: 5
        case .reopen, .cutPower, .compact: 3
        case .spill, .mergeRuns, .churnBlobs, .salvage, .rebuild, .putLargeBlob, .streamBlob, .insertHuge: 1
        case .fillDisk, .failCommit, .verify, .churnRows, .changeSizes, .changeBudget: 2
        default: 3
        }
    }

    /// Where an operation can run.
    enum Place {
        /// Begins or ends a transaction.
        case boundary
        /// Runs in a transaction.
        ///
        /// If there is none, the operation gets its own.
        case transaction
        /// Runs anywhere, because it reads committed data.
        case anywhere
        /// Runs outside of transactions.
        ///
        /// An open one is committed before.
        case outside
    }

    var place: Place {
        switch self {
        case .begin, .commit, .rollBack, .abandon: .boundary
        case .insert, .insertNothing, .insertOneByte, .insertPage, .insertMany, .insertHuge, .update,
            .updateKeepingKey, .grow, .delete, .deleteMany, .upsert, .overwriteTwice, .insertAndDelete, .restore,
            .spill,
            .makeTable, .dropTable, .addKey, .removeKey, .moveKey, .swapKeys, .rotateKeys, .tryTakenKey, .takeFreedKey,
            .lookUpInTransaction, .scanIndexInTransaction, .readOwnWrites, .countInTransaction, .putBlob,
            .putSmallBlob, .putLargeBlob, .putCompressibleBlob, .streamBlob, .streamAnnouncedBlob, .failStream,
            .miscountStream, .copyBlob, .deleteBlob, .replaceBlob, .placeUpload:
            .transaction
        case .readRow, .lookUpKey, .scanTable, .scanRange, .scanPart, .scanIndex, .scanIndexRange, .countTable,
            .readBlob, .readBlobRange, .readHeldBlob, .takeSnapshot, .readSnapshot, .iterateSnapshot, .endSnapshot,
            .holdBlob, .upload:
            .anywhere
        case .commitNothing, .commitByTwo, .checkpoint, .compact, .churnRows, .churnBlobs, .mergeRuns, .verify,
            .usage, .compareAll, .reopen, .killAndReopen, .cutPower, .openForReading, .openTwice, .changeBudget,
            .changeSizes, .rebuild, .salvage, .fillDisk, .failRead, .failCommit, .failCheckpoint, .rememberCommit,
            .askForCommit:
            .outside
        }
    }
}
