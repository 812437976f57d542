internal import Faultline

/// Objects that only a relationship holds: functions make them, store into them, and let them go.
///
/// Fails in an optimized build if the compiler takes such an object for one that only its function knows: it then puts
/// the object on the stack, or leaves stores out.
enum HeldByRelationship {
    /// Makes objects, and reads them through the relationship.
    ///
    /// - Throws: `GraphViolation` if one is missing or has lost a value.
    static func check() throws {
        let root = Bough(under: nil)
        grow(root, count: 3)
        let marks = root.boughs.map(\.mark).sorted()
        guard marks == [7, 8, 9] else { throw GraphViolation("objects that a relationship holds have \(marks)") }
        let depths = root.boughs.flatMap(\.boughs).map(\.depth)
        guard depths == [2, 2, 2] else { throw GraphViolation("objects below them have depths \(depths)") }
    }

    @inline(never)
    private static func grow(_ root: Bough, count: Int) {
        for number in 0..<count {
            let bough = Bough(under: root)
            bough.mark = 7 + number
            _ = Bough(under: bough)
        }
    }
}

@Model final class Bough {
    var parent: Bough?
    @Relationship(inverse: \Bough.parent) var boughs: [Bough] = []
    var depth: Int
    @Transient var mark = 0

    init(under parent: Bough?) {
        self.parent = parent
        depth = (parent?.depth ?? -1) + 1
    }
}
