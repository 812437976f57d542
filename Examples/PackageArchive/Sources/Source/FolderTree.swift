import Glibc

/// A folder tree, represented by the same plain values as a package database, for machines that have none.
///
/// | value | of a directory, file or symbolic link |
/// |---|---|
/// | name | the path below the root, `.` for the root itself |
/// | version | the time of the last change, seconds since 1970 |
/// | architecture | `directory`, `file` or `link` |
/// | section | the first folder of the path, or `.` |
/// | priority | the permissions as four octal digits |
/// | maintainer | the owner, `name <name@localhost>` |
/// | source name, version | the directory it is in, the number of links |
/// | synopsis, details | the last part of the path; where a link leads |
/// | sizes | bytes on disk (installed), length in bytes (download) |
/// | isInstalled | whether it can be read |
/// | relations | it *depends* on the directory it is in; a link *suggests* its target |
/// | file | a readable regular file of 1 byte to `LargestFiles.fileByteCountMax`, until the sum is used up |
///
/// Folders are walked in the order of their names' bytes, and never through links or into other file systems.
package struct FolderTree: Sendable {
    package var root: String
    /// The most directories, files and links taken; the walk stops there.
    package var nodeCountMax = 200_000
    package var leastObjectCount = 50_000
    package var largestFiles = LargestFiles()

    package init(root: String) {
        self.root = root
    }

    /// Walks the tree.
    ///
    /// - Throws: `SourceError` when the root itself is not a readable folder.
    package func read() throws(SourceError) -> PackageSet {
        guard let directory = opendir(root) else { throw SourceError(.cannotOpen, path: root, errno: errno) }
        closedir(directory)
        var walk = Walk(tree: self)
        walk.run()
        return walk.finish().repeated(toAtLeast: leastObjectCount)
    }
}

/// One walk over a `FolderTree`.
private struct Walk {
    let tree: FolderTree
    private var set = PackageSet()
    private var restByteCount: Int
    private var owners: [uid_t: String] = [:]
    private var linkTargets: [(package: Int, name: String)] = []

    init(tree: FolderTree) {
        self.tree = tree
        restByteCount = tree.largestFiles.totalByteCountMax
    }

    mutating func run() {
        var status = stat()
        guard lstat(tree.root, &status) == 0 || stat(tree.root, &status) == 0 else { return }
        let device = status.st_dev
        // Folders still to be listed: their index among the packages, and their path below the root.
        var folders = [(place: 0, path: "")]
        add(path: ".", parent: nil, status)
        while let folder = folders.popLast() {
            var found: [(place: Int, path: String)] = []
            for name in names(in: folder.path) {
                guard set.packages.count < tree.nodeCountMax else { return }
                let path = folder.path.isEmpty ? name : folder.path + "/" + name
                guard lstat(tree.root + "/" + path, &status) == 0 else { continue }
                let isFolder = status.st_mode & S_IFMT == S_IFDIR
                guard add(path: path, parent: folder.place, status) else { continue }
                if isFolder && status.st_dev == device { found.append((set.packages.count - 1, path)) }
            }
            // The last is taken first: pushed in reverse, they come out in the order of their names.
            folders.append(contentsOf: found.reversed())
        }
    }

    /// Joins links with their targets; a target that was not walked stays a dangling name.
    consuming func finish() -> PackageSet {
        var places: [String: Int32] = [:]
        for (place, package) in set.packages.enumerated() { places[package.name] = Int32(truncatingIfNeeded: place) }
        for link in linkTargets {
            let place = set.packages[link.package].relations.upperBound - 1
            set.relations[place].target = places[link.name] ?? -1
        }
        set.origin = "directories and files below \(tree.root)"
        return set
    }

    /// The names in a folder, sorted by their bytes; one that cannot be listed is counted.
    private mutating func names(in path: String) -> [String] {
        let folder = path.isEmpty ? tree.root : tree.root + "/" + path
        guard let directory = opendir(folder) else {
            set.report.skipUnreadable(folder, String(cString: strerror(errno)))
            return []
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else {
                set.report.skipUnreadable(folder, "holds a name that is not UTF-8")
                continue
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Adds one directory, file or link; sockets, devices and pipes are ignored.
    @discardableResult
    private mutating func add(path: String, parent: Int?, _ status: stat) -> Bool {
        let full = parent == nil ? tree.root : tree.root + "/" + path
        var package = ImportedPackage()
        switch status.st_mode & S_IFMT {
        case S_IFDIR: package.architecture = "directory"
        case S_IFREG: package.architecture = "file"
        case S_IFLNK: package.architecture = "link"
        default: return false
        }
        let isLink = package.architecture == "link"
        let isFile = package.architecture == "file"
        package.name = path
        package.version = String(status.st_mtim.tv_sec)
        package.section = path.firstIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let permissions = String(status.st_mode & 0o7777, radix: 8)
        package.priority = String(repeating: "0", count: max(0, 4 - permissions.count)) + permissions
        package.maintainer = owner(status.st_uid)
        package.sourceName = parent.map { set.packages[$0].name } ?? "."
        package.sourceVersion = String(status.st_nlink)
        package.synopsis = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        package.installedByteCount = Int(status.st_blocks) * 512
        package.downloadByteCount = Int(status.st_size)
        package.isInstalled = isLink || access(full, R_OK) == 0
        let byteCount = Int(status.st_size)
        if isFile, package.isInstalled, byteCount > 0, byteCount <= tree.largestFiles.fileByteCountMax,
            byteCount <= restByteCount
        {
            package.file = ImportedFile(path: full, byteCount: byteCount)
            restByteCount -= byteCount
        }

        let place = set.packages.count
        let firstRelation = set.relations.count
        if let parent { relate(place, .depends, to: set.packages[parent].name, Int32(truncatingIfNeeded: parent)) }
        if isLink, let leadsTo = linkTarget(full) {
            package.details = leadsTo
            let name = Self.resolved(leadsTo, from: package.sourceName)
            relate(place, .suggests, to: name, -1)
            linkTargets.append((place, name))
        }
        package.relations = firstRelation..<set.relations.count
        set.packages.append(package)
        return true
    }

    private mutating func relate(_ owner: Int, _ kind: ImportedRelation.Kind, to name: String, _ target: Int32) {
        set.relations.append(
            ImportedRelation(
                owner: Int32(truncatingIfNeeded: owner),
                kind: kind,
                group: 0,
                position: 0,
                targetName: name,
                targetArchitecture: "",
                comparison: .any,
                targetVersion: "",
                target: target
            )
        )
    }

    private mutating func owner(_ number: uid_t) -> String {
        if let known = owners[number] { return known }
        var name = "user\(number)"
        if let entry = getpwuid(number), let known = entry.pointee.pw_name { name = String(cString: known) }
        let text = "\(name) <\(name.filter { $0 != " " })@localhost>"
        owners[number] = text
        return text
    }

    private func linkTarget(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(validating: bytes[..<count].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The path below the root that `target`, seen from `folder`, names; unchanged where it leaves the tree.
    private static func resolved(_ target: String, from folder: String) -> String {
        guard !target.hasPrefix("/") else { return target }
        var parts = folder == "." ? [] : folder.split(separator: "/")
        for part in target.split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return target }
            } else {
                parts.append(part)
            }
        }
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }
}
