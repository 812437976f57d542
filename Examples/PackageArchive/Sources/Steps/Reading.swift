import Faultline

/// The reads of the demo under the first schema.
struct Reading {
    /// A section, and the size of its installed packages.
    struct SectionSize {
        let name: String
        let packageCount: Int
        let byteCount: Int
    }

    private let container: ModelContainer

    init(_ container: ModelContainer) {
        self.container = container
    }

    /// Reads every large attribute in pieces, and returns the number of bytes.
    func touchBlobs(progress: (Int) -> Void) throws -> Int {
        let context = ModelContext(container)
        var byteCount = 0
        try context.enumerate(FetchDescriptor<DemoV1.Package>()) { package in
            guard let blob = package.blob(\.payload) else { return }
            var start = 0
            while start < blob.byteCount {
                let end = min(start + 1 << 20, blob.byteCount)
                byteCount += try blob.data(in: start..<end).count
                start = end
            }
            progress(byteCount)
        }
        return byteCount
    }

    /// The sections in the order of their packages' installed sizes.
    func sectionsByInstalledSize() throws -> [SectionSize] {
        let context = ModelContext(container)
        return try context.fetch(FetchDescriptor<DemoV1.Section>()).map { section in
            let packages = section.packages
            return SectionSize(
                name: section.name,
                packageCount: packages.count,
                byteCount: packages.reduce(0) { $0 + ($1.installedByteCount ?? 0) }
            )
        }.sorted { $0.byteCount > $1.byteCount }
    }
}
