// `import FaultlineImport` alone gives all names of `import Faultline` too.
@_exported public import Faultline

#if !Import
/// The import of a Core Data or SwiftData store; needs the package trait `Import`.
@available(
    *, unavailable,
    message: "FaultlineImport needs the package trait 'Import': .package(url: \"…/faultline\", …, traits: [\"Import\"])"
)
public struct StoreImport: Sendable {
    /// Needs the package trait `Import`.
    public init(from source: URL, to destination: URL, schema: Schema) {}
}
#endif
