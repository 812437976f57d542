import CSystemCallFaults
import FaultlineDisk
import FaultlineTestSupport
import Glibc

/// The operating system's files: every system call, interrupted and short ones too, with real descriptors and locks.
///
/// One at a time in a process, because faults apply to the whole process.
final class SystemGround: FaultGround {
    struct Fault: Sendable, CustomStringConvertible {
        let index: Int
        let call: String
        let effect: fl_fault_effect
        let errorNumber: Int32
        let hitCountMax: Int

        var description: String {
            let how =
                switch effect {
                case FL_FAULT_ONE_BYTE: "one byte"
                case FL_FAULT_HALF: "half of the bytes"
                default: "errno \(errorNumber)"
                }
            let often = hitCountMax == 1 ? "once" : hitCountMax == .max ? "from then on" : "\(hitCountMax) times"
            return "call \(index) (\(call)), \(how), \(often)"
        }
    }

    /// In memory if the system has such a folder: a real disk's synchronizations would take most of the time.
    private let directory = TemporaryDirectory(in: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
    let disk: Disk
    let storePath: String

    init(_ origin: FaultOriginStore, _ canary: FaultCanary?) {
        storePath = directory.path + "/store"
        let system = PosixDisk()
        disk = canary.map { BrokenDisk(over: system, $0) } ?? system
        do {
            try Self.fill(storePath, from: origin, on: system)
        } catch {
            preconditionFailure("The temporary directory cannot be filled: \(error)")
        }
        fl_faults_watch(storePath)
    }

    deinit { fl_faults_disarm() }

    private static func fill(_ path: String, from origin: FaultOriginStore, on disk: Disk) throws {
        guard try origin.disk.isPresent(FaultOriginStore.path) else { return }
        try fill(path, from: origin.disk, FaultOriginStore.path, on: disk)
    }

    private static func fill(_ path: String, from origin: SimulatedDisk, _ folder: String, on disk: Disk) throws {
        try disk.createDirectory(path)
        for name in try origin.names(in: folder) {
            guard let bytes = origin.bytes(of: folder + "/" + name) else {
                try fill(path + "/" + name, from: origin, folder + "/" + name, on: disk)
                continue
            }
            let file = try disk.open(path + "/" + name, for: .creating)
            defer { file.close() }
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }
    }

    func beginCounting() { fl_faults_arm(.max, FL_FAULT_ERROR, 0, 0) }

    func faults(for canary: FaultCanary?) -> [Fault] {
        fl_faults_disarm()
        return (0..<fl_faults_call_count()).flatMap { index in
            Self.faults(of: fl_faults_call(index), at: index, canary)
        }
    }

    private static func faults(of call: Int32, at index: Int, _ canary: FaultCanary?) -> [Fault] {
        let call = fl_fault_call(rawValue: UInt32(max(call, 0)))
        let name = names[Int(call.rawValue)]
        func both(_ effect: fl_fault_effect, _ errorNumber: Int32, upTo hitCountMax: Int) -> [Fault] {
            [1, hitCountMax].map {
                Fault(index: index, call: name, effect: effect, errorNumber: errorNumber, hitCountMax: $0)
            }
        }
        var faults = [EIO, ENOSPC, EDQUOT, EMFILE].flatMap { both(FL_FAULT_ERROR, $0, upTo: .max) }
        switch call {
        case FL_CALL_PREAD, FL_CALL_PWRITE:
            faults += both(FL_FAULT_ERROR, EINTR, upTo: 8)
            faults += both(FL_FAULT_ONE_BYTE, 0, upTo: 200) + both(FL_FAULT_HALF, 0, upTo: 200)
        case FL_CALL_OPEN, FL_CALL_FDATASYNC, FL_CALL_FSYNC, FL_CALL_FTRUNCATE, FL_CALL_STATFS, FL_CALL_STATVFS:
            faults += both(FL_FAULT_ERROR, EINTR, upTo: 8)
        // The second one is the error of a file system that cannot reserve space.
        case FL_CALL_FALLOCATE:
            faults += both(FL_FAULT_ERROR, EINTR, upTo: 8) + both(FL_FAULT_ERROR, EOPNOTSUPP, upTo: .max)
        default: break
        }
        if canary == .claimsShortWrites, call == FL_CALL_PWRITE { faults = both(FL_FAULT_LIE, 0, upTo: .max) }
        return faults
    }

    private static let names = [
        "open", "close", "pread", "pwrite", "fdatasync", "fsync", "fstat", "stat", "unlink", "rename", "mkdir", "fcntl",
        "readdir", "fallocate", "ftruncate", "statfs", "statvfs",
    ]

    func arm(_ fault: Fault) {
        fl_faults_arm(fault.index, fault.effect, fault.errorNumber, fault.hitCountMax)
    }

    func disarm() { fl_faults_disarm() }

    var hitCount: Int { fl_faults_hit_count() }

    var leak: String? {
        fl_faults_open_count() == 0 ? nil : "\(fl_faults_open_count()) descriptors are still open"
    }

    func cuts(seed: UInt64) -> [SimulatedDisk] { [] }

    static func errorNumber(of fault: Fault) -> Int32? {
        fault.effect == FL_FAULT_ERROR && ![EINTR, EOPNOTSUPP].contains(fault.errorNumber) ? fault.errorNumber : nil
    }

    static func isAboutSynchronizing(_ fault: Fault) -> Bool { false }
}
