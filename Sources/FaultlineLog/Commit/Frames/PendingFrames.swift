/// The frames whose bytes are in memory, in the order of the log: a transaction reads its own records from here.
struct PendingFrames {
    struct Frame {
        let segment: UInt64
        let offset: UInt64
        var block: FrameBlock
        var start: Int
    }

    private var frames: [Frame] = []

    mutating func append(_ frame: Frame) { frames.append(frame) }

    mutating func removeLast() { frames.removeLast() }

    /// Records that the newest frame moved to the start of another block.
    mutating func moveLast(to block: FrameBlock) {
        frames[frames.count - 1].block = block
        frames[frames.count - 1].start = 0
    }

    /// Removes the frames of a block, because they are written.
    mutating func remove(_ block: FrameBlock) {
        // Mostly all frames lie in one block.
        while let last = frames.last, last.block === block { frames.removeLast() }
        if !frames.isEmpty { frames.removeAll { $0.block === block } }
    }

    /// The bytes at a location, or nil if they are not in memory.
    func find(_ location: Location) -> UnsafeRawPointer? {
        // The last frame that does not begin behind the location.
        var low = 0
        var high = frames.count
        while low < high {
            let middle = (low + high) / 2
            let frame = frames[middle]
            let isBehind =
                UInt32(truncatingIfNeeded: frame.segment) == location.segment
                ? frame.offset > location.byteOffset : UInt32(truncatingIfNeeded: frame.segment) > location.segment
            if isBehind { high = middle } else { low = middle + 1 }
        }
        guard low > 0 else { return nil }
        let frame = frames[low - 1]
        guard UInt32(truncatingIfNeeded: frame.segment) == location.segment else { return nil }
        let distance = Int(location.byteOffset - frame.offset)
        guard frame.start + distance < frame.block.used else { return nil }
        return UnsafeRawPointer(frame.block.start) + frame.start + distance
    }
}
