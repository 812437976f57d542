package import FaultlineDisk

/// The disk that stores lie on which are opened by a task: for tests, which stop one.
package enum StoreDisk {
    /// Nil for that of the system.
    @TaskLocal package static var current: Disk?
}
