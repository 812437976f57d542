public import Faultline

extension SchemaLock {
    /// The environment variable that makes `check` write the file: set it to 1 for one run of the tests.
    public static let updateVariable = "FAULTLINE_UPDATE_LOCK"

    /// The largest accepted file, in bytes.
    private static let byteCountMax = 16 << 20

    /// Checks a plan against the lock file that is kept with the code, or writes that file.
    ///
    /// Call it in a test, which then fails if a version has changed without a new number, if one is missing, or if two
    /// look the same.
    ///
    /// - Parameters:
    ///   - plan: The plan, whose versions have been released.
    ///   - file: The lock file.
    ///   - isUpdating: Whether to write the file from the plan instead of checking it; the reviewers of the file then
    ///     judge the changes.
    /// - Throws: `SchemaLockError`, with the differences; `SchemaError` for a class that breaks a rule.
    /// - Complexity: O(v n) for v versions of n properties.
    public static func check(
        _ plan: any SchemaMigrationPlan.Type, file: URL,
        isUpdating: Bool = ProcessInfo.processInfo.environment[updateVariable] == "1"
    ) throws {
        let lock = try SchemaLock(plan)
        if isUpdating { return try lock.write(to: file) }
        try lock.check(against: SchemaLock(contentsOf: file))
    }

    /// Reads a lock file.
    ///
    /// - Throws: `SchemaLockError`: `file` if the file cannot be read, or `malformed` with the line if it is not a
    ///   lock.
    /// - Complexity: O(n) for n bytes.
    public init(contentsOf file: URL) throws {
        let bytes: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            bytes = try handle.read(upToCount: Self.byteCountMax + 1) ?? Data()
        } catch {
            throw SchemaLockError.file(file, "cannot be read: \(error)")
        }
        guard bytes.count <= Self.byteCountMax else {
            throw SchemaLockError.file(file, "has more than \(Self.byteCountMax) bytes, and is no lock")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaLockError.file(file, "is not text in UTF-8")
        }
        try self.init(text: text)
    }

    /// Writes a lock file, replacing an existing one.
    ///
    /// - Throws: `SchemaLockError.file` if it cannot be written.
    /// - Complexity: O(n) for n bytes.
    public func write(to file: URL) throws {
        do { try Data(text.utf8).write(to: file, options: .atomic) } catch {
            throw SchemaLockError.file(file, "cannot be written: \(error)")
        }
    }
}

extension SchemaLockError {
    fileprivate static func file(_ file: URL, _ what: String) -> SchemaLockError {
        SchemaLockError(
            .file, nil,
            "\(file.path) \(what). To write it, set \(SchemaLock.updateVariable)=1 for one run of the tests.")
    }
}
