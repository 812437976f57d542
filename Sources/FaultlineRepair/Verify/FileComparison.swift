import FaultlineDisk
import FaultlineLog

/// Compares the directory with the manifest: every numbered file is listed, and every listed file exists.
struct FileComparison {
    let directory: StoreDirectory
    let state: ManifestState

    func run(_ finding: (Finding) -> Void) throws(LogError) {
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in
            try directory.disk.names(in: directory.path)
        }
        for name in names {
            guard let (kind, number) = FileName.parse(name), kind != .manifest, state.files[number] == nil,
                !directory.isInUse(number)
            else { continue }
            finding(Finding(.leftover, "The manifest does not list this file.", path: directory.path(of: name)))
        }
        let present = Set(names)
        for (number, file) in state.files.sorted(by: { $0.key < $1.key }) {
            let name = FileName.numbered(file.kind, number)
            if !present.contains(name) {
                finding(
                    Finding(.damage, "The manifest lists this file, which is missing.", path: directory.path(of: name)))
            }
        }
    }
}
