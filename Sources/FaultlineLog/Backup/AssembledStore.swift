package import FaultlineDisk

/// Makes a directory of copied files a store.
package enum AssembledStore {
    /// Writes the manifest of a store whose log ends at a transaction; durable when this returns.
    ///
    /// - Parameters:
    ///   - state: The state; its files are in the directory, durable.
    ///   - newest: The number of the last transaction.
    ///   - directory: The directory.
    /// - Throws: Disk errors.
    package static func writeManifest(
        _ state: ManifestState, newest: UInt64, in directory: StoreDirectory
    ) throws(LogError) {
        directory.raiseNextFileNumber(to: state.nextFileNumber)
        // Witnesses of the cut part would prove a loss.
        directory.progress.begin(at: newest)
        _ = try Manifest(state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
    }

    /// Writes the identity of a copy: that of the store, as another instance.
    ///
    /// It is the last file.
    ///
    /// - Throws: Disk errors.
    package static func writeIdentity(
        of identity: Identity, instance: StoreID, in directory: String, on disk: Disk
    ) throws(LogError) {
        try IdentityFile.write(identity.with(instance: instance), in: directory, on: disk)
    }
}
