import BenchmarkKit
import Foundation

/// An employee in the key-value stores: numbers at fixed offsets, then the texts.
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 8 | salary |
/// | 8 | 8 | date, seconds since the reference date |
/// | 16 | 4 | level |
/// | 20 | 4 | department |
/// | 24 | 2 | 1 for active |
/// | 26 | 2 | bytes of the name |
/// | 28 | 2 | bytes of the e-mail address |
/// | 30 | | name, e-mail address, notes to the end |
struct EmployeeBytes {
    private static let textOffset = 30
    private let bytes: UnsafeRawBufferPointer

    /// - Throws: `.wrongResult` for bytes that cannot be an employee.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) throws(BenchmarkError) {
        self.bytes = bytes
        guard bytes.count >= Self.textOffset, bytes.count >= Self.textOffset + nameByteCount + emailByteCount else {
            throw BenchmarkError(.wrongResult, "an employee of \(bytes.count) bytes")
        }
    }

    @inline(__always)
    private func load<Number>(_ offset: Int, as type: Number.Type) -> Number {
        bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }

    var salary: Double { @inline(__always) get { load(0, as: Double.self) } }
    var departmentNumber: Int64 { @inline(__always) get { Int64(load(20, as: Int32.self)) } }
    var isActive: Bool { @inline(__always) get { load(24, as: UInt16.self) != 0 } }
    private var nameByteCount: Int { @inline(__always) get { Int(load(26, as: UInt16.self)) } }
    private var emailByteCount: Int { @inline(__always) get { Int(load(28, as: UInt16.self)) } }

    @inline(__always)
    private func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// The bytes of the name, in place.
    var nameBytes: UnsafeRawBufferPointer {
        @inline(__always) get {
            UnsafeRawBufferPointer(rebasing: bytes[Self.textOffset..<Self.textOffset + nameByteCount])
        }
    }

    /// The bytes of the e-mail address, in place.
    var emailBytes: UnsafeRawBufferPointer {
        @inline(__always) get {
            let start = Self.textOffset + nameByteCount
            return UnsafeRawBufferPointer(rebasing: bytes[start..<start + emailByteCount])
        }
    }

    var name: String { @inline(__always) get { text(Self.textOffset..<Self.textOffset + nameByteCount) } }

    /// The employee with this number.
    @inline(__always)
    func row(_ id: Int64) -> EmployeeRow {
        let email = Self.textOffset + nameByteCount
        let notes = email + emailByteCount
        return EmployeeRow(
            id: id,
            name: name,
            email: text(email..<notes),
            salary: salary,
            hireDate: Date(timeIntervalSinceReferenceDate: load(8, as: Double.self)),
            active: isActive,
            level: Int(load(16, as: Int32.self)),
            notes: text(notes..<bytes.count),
            departmentId: departmentNumber
        )
    }

    /// Writes an employee to `target`, replacing its content.
    static func encode(_ row: EmployeeRow, into target: inout [UInt8]) {
        target.removeAll(keepingCapacity: true)
        append(row.salary, to: &target)
        append(row.hireDate.timeIntervalSinceReferenceDate, to: &target)
        append(Int32(row.level), to: &target)
        append(Int32(row.departmentId), to: &target)
        append(UInt16(row.active ? 1 : 0), to: &target)
        append(UInt16(row.name.utf8.count), to: &target)
        append(UInt16(row.email.utf8.count), to: &target)
        target.append(contentsOf: row.name.utf8)
        target.append(contentsOf: row.email.utf8)
        target.append(contentsOf: row.notes.utf8)
    }

    /// Copies an employee with another salary, and other notes if given, to `target`, replacing its content.
    func copy(into target: inout [UInt8], salary: Double, notes: String? = nil) {
        target.removeAll(keepingCapacity: true)
        Self.append(salary, to: &target)
        let end = notes == nil ? bytes.count : Self.textOffset + nameByteCount + emailByteCount
        target.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[8..<end]))
        if let notes { target.append(contentsOf: notes.utf8) }
    }

    @inline(__always)
    private static func append<Number>(_ number: Number, to target: inout [UInt8]) {
        withUnsafeBytes(of: number) { target.append(contentsOf: $0) }
    }
}
