import Glibc

/// A fault that a failing disk has in store.
package struct DiskFault: Sendable {
    /// What the failing call leaves behind.
    package enum Effect: Sendable {
        /// Nothing happened.
        case none
        /// A write has put so many of its bytes in place.
        case writesFirst(byteCount: Int)
        /// A write has put this share of its bytes in place, in 1/256.
        case writesShare(UInt8)
        /// The operation has taken place and is reported as failed.
        case takesPlace
        /// A synchronization has lost the dirty pages; the base must be a `SimulatedDisk`. With a seed, some sectors
        /// reach the medium.
        case losesPages(PageLoss, seed: UInt64?)
    }

    /// Which operations count.
    package var matches: @Sendable (DiskOperation) -> Bool
    /// How many of them succeed before.
    package var ordinal: Int
    package var errorNumber: Int32
    /// Whether all later ones fail too.
    package var isSticky: Bool
    package var effect: Effect

    package init(
        ordinal: Int = 0, errorNumber: Int32 = EIO, isSticky: Bool = false, effect: Effect = .none,
        matches: @escaping @Sendable (DiskOperation) -> Bool = { _ in true }
    ) {
        self.matches = matches
        self.ordinal = ordinal
        self.errorNumber = errorNumber
        self.isSticky = isSticky
        self.effect = effect
    }

    /// A fault of operations of these kinds, on paths that contain a text.
    package init(
        of kinds: Set<DiskOperation.Kind>, on pathPart: String = "", ordinal: Int = 0, errorNumber: Int32 = EIO,
        isSticky: Bool = false,
        effect: Effect = .none
    ) {
        self.init(ordinal: ordinal, errorNumber: errorNumber, isSticky: isSticky, effect: effect) { operation in
            kinds.contains(operation.kind)
                && (pathPart.isEmpty || operation.path.contains(pathPart)
                    || operation.target?.contains(pathPart) == true)
        }
    }
}
