/// The functions that a policy has among those that a program passes, by the names that expressions call them by.
struct PolicyFunctions {
    var byName: [String: MappingModelFile.Function] = [:]
    /// The keys of several functions that one name could mean.
    var ambiguous: [String: [String]] = [:]

    /// The reason why a name finds no function; nil if it finds one.
    func problem(_ name: String) -> MappingProblem? {
        if let keys = ambiguous[name] {
            return MappingProblem(
                .unknownFunction, name, "Several functions have the name: \(keys.joined(separator: ", ")).")
        }
        guard byName[name] == nil else { return nil }
        let hint = NearestName.nearest(to: name, among: byName.keys.sorted()).map { " Did you mean \"\($0)\"?" }
        return MappingProblem(
            .unknownFunction, name,
            "The policy's function was not passed.\(hint ?? " Pass it in `functions`, by this name.")")
    }
}
