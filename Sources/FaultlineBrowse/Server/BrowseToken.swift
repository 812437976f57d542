/// The secret part of the pages' address.
package enum BrowseToken {
    /// Makes a token of 128 random bits, as 32 hexadecimal digits.
    package static func make() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        return String((0..<32).map { _ in digits.randomElement(using: &random) ?? "0" })
    }
}
