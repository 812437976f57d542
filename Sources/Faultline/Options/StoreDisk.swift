package import FaultlineDisk

/// The disk for stores that a task opens: for tests, which interrupt one.
package enum StoreDisk {
    /// Nil for the system's disk.
    @TaskLocal package static var current: Disk?
}
