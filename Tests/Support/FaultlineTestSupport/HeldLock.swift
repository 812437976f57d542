internal import Foundation
internal import Glibc

/// The writer's lock of a store, held by another process.
///
/// A process's own locks never conflict with each other here, so this uses a process without the library.
package final class HeldLock {
    private let child = Process()
    private let input = Pipe()

    /// Locks byte 0 of the lock file of the store in a directory, and returns when it is locked.
    ///
    /// - Throws: `CocoaError` if there is no such file, it is locked already, or there is no perl.
    package init(ofStoreIn directory: String) throws {
        child.executableURL = URL(filePath: "/usr/bin/env")
        child.arguments = [
            "perl", "-e",
            """
            use Fcntl qw(:DEFAULT :flock F_SETLK F_WRLCK); sysopen(F, $ARGV[0], O_RDWR) or exit 3;
            my $l = pack('s s x4 q q i x4', F_WRLCK, 0, 0, 1, 0);
            fcntl(F, F_SETLK, $l) or exit 4; syswrite(STDOUT, "x"); <STDIN>;
            """, directory + "/LOCK",
        ]
        let output = Pipe()
        child.standardInput = input
        child.standardOutput = output
        try child.run()
        guard output.fileHandleForReading.readData(ofLength: 1) == Data("x".utf8) else {
            throw CocoaError(.fileLocking)
        }
    }

    /// Releases the lock, and returns when it is released; to be called once.
    package func release() {
        // Closing its input is not enough: other children of this process may hold that open.
        kill(child.processIdentifier, SIGKILL)
        child.waitUntilExit()
    }
}
