extension Schema {
    /// A version number that an app gives to a schema, ordered by major, minor, then patch number.
    public struct Version: Codable, Comparable, LosslessStringConvertible, Hashable, Sendable {
        /// The number of the most important changes.
        public let major: Int
        /// The number of the minor changes.
        public let minor: Int
        /// The number of the smallest changes.
        public let patch: Int

        /// Makes a version from three numbers, none of them negative.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            precondition(major >= 0 && minor >= 0 && patch >= 0, "The numbers of a schema version cannot be negative.")
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// Reads the form of `description`: three numbers of digits only, joined by dots; nil for anything else.
        public init?(_ description: String) {
            let parts = description.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part in
                part.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? Int(part) : nil
            }
            guard parts.count == 3, numbers.count == 3 else { return nil }
            self.init(numbers[0], numbers[1], numbers[2])
        }

        /// Reads a version, refusing negative numbers.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let numbers = try [CodingKeys.major, .minor, .patch].map { try container.decode(Int.self, forKey: $0) }
            guard numbers.allSatisfy({ $0 >= 0 }) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "A schema version has a negative number."))
            }
            self.init(numbers[0], numbers[1], numbers[2])
        }

        /// Orders versions by major, minor, then patch number.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }

        /// The three numbers, joined by dots.
        public var description: String { "\(major).\(minor).\(patch)" }
    }
}
