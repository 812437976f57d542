/// Sums of hashed numbers: equal for the same objects in any order.
enum SerialDigest {
    static func of(key: Int, numbers: [Int]) -> Int {
        var digest = mix(key)
        for (slot, number) in numbers.enumerated() { digest &+= mix(key &* 131 &+ slot &+ 1 ^ mix(number)) }
        return digest
    }

    static func of(member key: Int) -> Int { mix(key) }

    private static func mix(_ number: Int) -> Int {
        var mixed = UInt64(bitPattern: Int64(number)) &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int(truncatingIfNeeded: mixed ^ (mixed >> 31))
    }
}
