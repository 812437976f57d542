import FaultlineCommands
import FaultlineLog

/// The lines of `faultline doctor` for the first page of a store.
enum StoreDiagnosis {
    /// The diagnosis of a store; the reason where there is none.
    static func text(of path: String) -> String {
        do {
            let store = try OpenedStore(path)
            defer { try? store.log.close() }
            return try Diagnosis(path, store).text(isStyled: false)
        } catch { return CommandFailure.sentence(for: error) }
    }
}
