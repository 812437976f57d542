import FaultlineDisk

/// A part of the block cache: nodes in one array, found through chains from a table of heads, evicted by second chance.
///
/// `BlockCache` calls all methods with the lock of the shard held: the lock lies outside the shard, because a mutating
/// method has exclusive access to the whole value from its beginning. The hand visits the nodes in turn: a node used since
/// the last visit loses its mark, a node in use stays, any other is evicted.
///
/// Source of second chance: Corbató, "A Paging Experiment with the Multics System" (1968).
struct BlockCacheShard: ~Copyable {
    private struct Node {
        var file: UInt64 = 0
        var offset: UInt64 = 0
        var memory: UnsafeMutableRawPointer?
        /// The next of the chain, or of the free nodes; `noNode` ends both.
        var next: UInt32 = 0
        var isUsed = false
    }

    private static let noNode = UInt32.max
    /// A node and its share of the table of heads.
    static let nodeByteCount = MemoryLayout<Node>.stride + 8

    private var nodes: UnsafeMutablePointer<Node>
    private var nodeCapacity: Int
    /// Nodes that were ever in use.
    private var nodeCount = 0
    private var firstFree = Self.noNode
    private var heads: UnsafeMutablePointer<UInt32>
    private var headMask: Int
    private var hand = 0
    /// Bytes charged for the blocks here.
    private(set) var byteCount = 0

    init() {
        nodeCapacity = 16
        nodes = .allocate(capacity: nodeCapacity)
        headMask = 15
        heads = .allocate(capacity: headMask + 1)
        heads.initialize(repeating: Self.noNode, count: headMask + 1)
    }

    deinit {
        for index in 0..<nodeCount {
            if let memory = nodes[index].memory { BlockMemory(start: memory).release() }
        }
        nodes.deallocate()
        heads.deallocate()
    }

    @inline(__always)
    func find(hash: UInt64, file: UInt64, offset: UInt64) -> BlockMemory? {
        var index = heads[Int(truncatingIfNeeded: hash) & headMask]
        while index != Self.noNode {
            let node = nodes + Int(index)
            if node.pointee.offset == offset, node.pointee.file == file, let memory = node.pointee.memory {
                // Only written when it changes, so that hits do not move the line between processors.
                if !node.pointee.isUsed { node.pointee.isUsed = true }
                return BlockMemory(start: memory)
            }
            index = node.pointee.next
        }
        return nil
    }

    /// Takes over the caller's hold on `memory`.
    ///
    /// The block must not be in the shard.
    mutating func insert(hash: UInt64, file: UInt64, offset: UInt64, _ memory: BlockMemory) {
        let index: Int
        if firstFree != Self.noNode {
            index = Int(firstFree)
            firstFree = nodes[index].next
        } else {
            if nodeCount == nodeCapacity { grow() }
            index = nodeCount
            nodeCount += 1
        }
        let head = Int(truncatingIfNeeded: hash) & headMask
        (nodes + index).initialize(
            to: Node(file: file, offset: offset, memory: memory.start, next: heads[head], isUsed: false))
        heads[head] = UInt32(truncatingIfNeeded: index)
        byteCount += BlockCache.charge(byteCount: memory.byteCount)
    }

    /// Evicts until at least `byteCount` bytes are freed or nothing more can go, and returns the bytes freed.
    mutating func evict(atLeast byteCount: Int) -> Int {
        var freed = 0
        var steps = 2 * nodeCount
        while freed < byteCount, steps > 0 {
            steps -= 1
            if hand >= nodeCount { hand = 0 }
            let node = nodes + hand
            if let memory = node.pointee.memory {
                if node.pointee.isUsed {
                    node.pointee.isUsed = false
                } else if !BlockMemory(start: memory).isShared {
                    freed += remove(at: hand)
                }
            }
            hand += 1
        }
        return freed
    }

    /// Removes the blocks of a file and returns their bytes.
    mutating func remove(file: UInt64) -> Int {
        var freed = 0
        for index in 0..<nodeCount where nodes[index].memory != nil && nodes[index].file == file {
            freed += remove(at: index)
        }
        return freed
    }

    /// Removes all blocks and returns their bytes.
    mutating func removeAll() -> Int {
        var freed = 0
        for index in 0..<nodeCount where nodes[index].memory != nil { freed += remove(at: index) }
        return freed
    }

    private mutating func remove(at index: Int) -> Int {
        guard let start = nodes[index].memory else { return 0 }
        let hash = BlockCache.hash(file: nodes[index].file, offset: nodes[index].offset)
        let head = Int(truncatingIfNeeded: hash) & headMask
        if heads[head] == UInt32(truncatingIfNeeded: index) {
            heads[head] = nodes[index].next
        } else {
            var before = Int(heads[head])
            while nodes[before].next != UInt32(truncatingIfNeeded: index) { before = Int(nodes[before].next) }
            nodes[before].next = nodes[index].next
        }
        let memory = BlockMemory(start: start)
        let charge = BlockCache.charge(byteCount: memory.byteCount)
        memory.release()
        nodes[index] = Node(next: firstFree)
        firstFree = UInt32(truncatingIfNeeded: index)
        byteCount -= charge
        return charge
    }

    /// Doubles the nodes, with as many heads.
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: nodeCapacity * 2)
        larger.moveInitialize(from: nodes, count: nodeCount)
        nodes.deallocate()
        nodes = larger
        nodeCapacity *= 2
        heads.deallocate()
        headMask = nodeCapacity - 1
        heads = .allocate(capacity: nodeCapacity)
        heads.initialize(repeating: Self.noNode, count: nodeCapacity)
        for index in 0..<nodeCount where nodes[index].memory != nil {
            let head =
                Int(truncatingIfNeeded: BlockCache.hash(file: nodes[index].file, offset: nodes[index].offset))
                & headMask
            nodes[index].next = heads[head]
            heads[head] = UInt32(truncatingIfNeeded: index)
        }
    }
}
