import Glibc

/// A fault for a failing disk.
package struct DiskFault: Sendable {
    /// The effect of the failing call.
    package enum Effect: Sendable {
        /// Nothing happened.
        case none
        /// A write has stored its first `byteCount` bytes.
        case writesFirst(byteCount: Int)
        /// A write has stored this share of its bytes, in 1/256.
        case writesShare(UInt8)
        /// The operation has succeeded and is reported as failed.
        case takesPlace
        /// A synchronization has lost the dirty pages; the base must be a `SimulatedDisk`.
        ///
        /// With a seed, some sectors reach the medium.
        case losesPages(PageLoss, seed: UInt64?)
    }

    /// Whether an operation counts.
    package var matches: @Sendable (DiskOperation) -> Bool
    /// The number of matching operations that succeed before.
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
