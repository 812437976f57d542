package import FaultlineLog

extension TableID {
    /// Objects that migrations could not convert (`docs/FileFormat.md` section 7.2): of no entity, so no schema shows
    /// them.
    package static let quarantine = TableID(rawValue: 4)
}
