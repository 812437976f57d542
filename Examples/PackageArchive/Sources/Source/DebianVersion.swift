/// Debian's order of version texts, after chapter 5.6.12 of the Debian Policy Manual.
///
/// `[epoch:]upstream[-revision]`: epochs as numbers, then upstream and revision in turns of non-digits and digits,
/// where a tilde sorts before everything, even the end, and letters sort before other signs.
package enum DebianVersion {
    /// Whether `a` is earlier than `b`.
    package static func isEarlier(_ a: String, than b: String) -> Bool {
        compare(Array(a.utf8), Array(b.utf8)) < 0
    }

    private static func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
        let (epochA, restA) = splitEpoch(a[...])
        let (epochB, restB) = splitEpoch(b[...])
        let epochs = comparePart(epochA, epochB)
        if epochs != 0 { return epochs }
        let (upstreamA, revisionA) = splitRevision(restA)
        let (upstreamB, revisionB) = splitRevision(restB)
        let upstreams = comparePart(upstreamA, upstreamB)
        return upstreams != 0 ? upstreams : comparePart(revisionA, revisionB)
    }

    private static func splitEpoch(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return ([], text) }
        return (text[..<colon], text[(colon + 1)...])
    }

    private static func splitRevision(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard let dash = text.lastIndex(of: UInt8(ascii: "-")) else { return (text, []) }
        return (text[..<dash], text[(dash + 1)...])
    }

    private static func comparePart(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        var i = a.startIndex
        var j = b.startIndex
        while i < a.endIndex || j < b.endIndex {
            while (i < a.endIndex && !isDigit(a[i])) || (j < b.endIndex && !isDigit(b[j])) {
                let left = i < a.endIndex ? weight(a[i]) : 0
                let right = j < b.endIndex ? weight(b[j]) : 0
                if left != right { return left - right }
                i += 1
                j += 1
            }
            while i < a.endIndex, a[i] == UInt8(ascii: "0") { i += 1 }
            while j < b.endIndex, b[j] == UInt8(ascii: "0") { j += 1 }
            // Of two numbers without leading zeros the longer is the larger; of equally long ones the first difference
            // decides.
            var difference = 0
            while i < a.endIndex, isDigit(a[i]), j < b.endIndex, isDigit(b[j]) {
                if difference == 0 { difference = Int(a[i]) - Int(b[j]) }
                i += 1
                j += 1
            }
            if i < a.endIndex, isDigit(a[i]) { return 1 }
            if j < b.endIndex, isDigit(b[j]) { return -1 }
            if difference != 0 { return difference }
        }
        return 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// A tilde before the end, the end (and a digit) before letters, letters before other signs.
    private static func weight(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "~"): -1
        case UInt8(ascii: "0")...UInt8(ascii: "9"): 0
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte)
        default: Int(byte) + 256
        }
    }
}
