/// One package of the machine, or one directory or file of a folder tree, as plain values.
package struct ImportedPackage: Sendable, Equatable {
    /// The name, unique together with `architecture`.
    package var name = ""
    package var version = ""
    package var architecture = ""
    /// Empty if the source gives none; so are all the texts below.
    package var section = ""
    package var priority = ""
    /// The maintainer as written, usually `Name <mail>`.
    package var maintainer = ""
    /// The source package's name: the package's own where the field is absent.
    package var sourceName = ""
    /// The source package's version: the package's own where the field names none.
    package var sourceVersion = ""
    /// The first line of the description.
    package var synopsis = ""
    /// The rest of the description, without the leading blanks; a lone dot stands for an empty line.
    package var details = ""
    package var homepage = ""
    /// Bytes on disk once installed, or nil where unknown.
    package var installedByteCount: Int?
    /// Bytes of the package file, or nil where unknown.
    package var downloadByteCount: Int?
    package var isInstalled = false
    /// The places of its relations in `PackageSet.relations`.
    package var relations: Range<Int> = 0..<0
    /// The large attribute: the package's largest regular file, as `LargestFiles` chooses it.
    package var file: ImportedFile?

    package init() {}
}

/// The properties that identify a package in a set.
package struct PackageKey: Hashable, Sendable {
    package let name: String
    package let architecture: String

    package init(name: String, architecture: String) {
        self.name = name
        self.architecture = architecture
    }
}
