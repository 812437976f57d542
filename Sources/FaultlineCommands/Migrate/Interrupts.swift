import Dispatch
package import Faultline
import Glibc

/// Cancels a migration when the process is asked to end by SIGINT or SIGTERM: at the next object, with nothing lost.
package struct Interrupts {
    private let sources: [any DispatchSourceSignal]

    /// Begins to listen.
    package init(cancelling control: MigrationControl) {
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { control.cancel() }
            source.resume()
            return source
        }
    }

    /// Lets the signals end the process again.
    package func end() { for source in sources { source.cancel() } }
}
