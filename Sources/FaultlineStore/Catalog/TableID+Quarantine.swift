package import FaultlineLog

extension TableID {
    /// Objects that migrations could not convert (`docs/FileFormat.md` section 7.2): they belong to no entity, so no
    /// schema shows them.
    package static let quarantine = TableID(rawValue: 4)
}
