// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import FaultlineTestSupport
import Testing

/// A15: arithmetic in a predicate has a result or throws an error.
@Suite struct CheckedPredicateTests {
    private let store: TestStore
    private let context: ModelContext

    init() throws {
        store = try TestStore(Optionals.self, Scalars.self)
        context = store.context()
        for value in [Int.max, 7, 0, Int.min] {
            let object = Scalars()
            object.int = value
            object.int8 = Int8(clamping: value)
            object.numbers = [value]
            context.insert(object)
            let other = Optionals()
            other.int = value
            context.insert(other)
        }
        try context.save()
    }

    private func refusal<T: PersistentModel>(_ predicate: Predicate<T>) -> SwiftDataError? {
        for fetch in [
            { _ = try self.context.fetch(FetchDescriptor(predicate: predicate)) },
            { _ = try self.context.fetchCount(FetchDescriptor(predicate: predicate)) },
            { try self.context.enumerate(FetchDescriptor(predicate: predicate)) { _ in } },
        ] as [() throws -> Void] {
            do { try fetch() } catch let error as SwiftDataError {
                guard error == .unsupportedPredicate else { return nil }
                continue
            } catch { return nil }
            return nil
        }
        do { _ = try context.fetch(FetchDescriptor(predicate: predicate)) } catch { return error as? SwiftDataError }
        return nil
    }

    @Test("A15: an overflow in a predicate is an error that names property and object")
    func overflow() throws {
        let step = 1
        let sum = try #require(refusal(#Predicate<Optionals> { ($0.int ?? 0) + step > 0 }))
        #expect(sum.explanation.contains("Optionals.int of object 1"))
        #expect(sum.explanation.contains("9223372036854775807 + 1 exceeds Int"))
        #expect(refusal(#Predicate<Scalars> { $0.int - step > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { $0.int * 2 > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { $0.int8 + $0.int8 > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { -$0.int > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { $0.numbers.contains { $0 + step > 0 } }) != nil)
        #expect(refusal(#Predicate<Scalars> { $0.bool ? false : $0.int + step > 0 }) != nil)
        #expect(refusal(#Predicate<Optionals> { $0.int.flatMap { $0 + step > 0 } ?? false }) != nil)
        #expect(refusal(#Predicate<Optionals> { $0.int! + step > 0 }) != nil)
    }

    @Test("A15: a division by zero, and the one that overflows, are errors")
    func division() throws {
        let zero = 0
        let minusOne = -1
        let found = try #require(refusal(#Predicate<Scalars> { $0.int / zero > 0 }))
        #expect(found.explanation.contains("divides by zero"))
        #expect(refusal(#Predicate<Scalars> { 10 / $0.int > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { 10 % $0.int > 0 }) != nil)
        #expect(refusal(#Predicate<Scalars> { $0.int / minusOne > 0 }) != nil)
    }

    @Test("A15: a condition in front keeps objects out")
    func guarded() throws {
        let step = 1
        let descriptor = FetchDescriptor<Scalars>(
            predicate: #Predicate { $0.int < 100 && $0.int >= 0 && $0.int + step > 5 })
        #expect(try context.fetch(descriptor).map(\.int) == [7])
        // Unsaved objects are evaluated too.
        let unsaved = Scalars()
        unsaved.int = 9
        context.insert(unsaved)
        #expect(try context.fetch(descriptor).map(\.int) == [7, 9])
        unsaved.int = .max
        let open = FetchDescriptor<Scalars>(predicate: #Predicate { $0.int > 7 && $0.int + step > 5 })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(open) }
    }

    @Test("A15: a place behind the end of a collection is an error")
    func subscripts() throws {
        let three = 3
        #expect(throws: (any Error).self) {
            try context.fetch(FetchDescriptor<Scalars>(predicate: #Predicate { $0.numbers[three] == 1 }))
        }
        #expect(throws: (any Error).self) {
            try context.fetch(FetchDescriptor<Scalars>(predicate: #Predicate { $0.numbers[0..<three].contains(1) }))
        }
        let part = FetchDescriptor<Scalars>(predicate: #Predicate { $0.numbers[0..<1].contains(7) })
        #expect(try context.fetch(part).map(\.int) == [7])
    }

    @Test("A15: a range whose bounds are the wrong way round contains nothing, stored or not")
    func reversedRange() throws {
        let (low, high) = (9, 3)
        let unsaved = Scalars()
        unsaved.int = 5
        context.insert(unsaved)
        for predicate in [
            #Predicate<Scalars> { (low...high).contains($0.int) },
            #Predicate<Scalars> { (low..<high).contains($0.int) },
            #Predicate<Scalars> { $0.int == 0 && (low...high).contains($0.int + 5) },
        ] as [Predicate<Scalars>] {
            #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 0)
            #expect(try context.fetch(FetchDescriptor(predicate: predicate)).isEmpty)
        }
        let three = 3
        let computed = #Predicate<Scalars> { (0..<$0.int).contains(three) }
        #expect(try context.fetch(FetchDescriptor(predicate: computed)).map(\.int).sorted() == [5, 7, .max])
        let right = #Predicate<Scalars> { (high...low).contains($0.int) }
        #expect(try context.fetch(FetchDescriptor(predicate: right)).map(\.int).sorted() == [5, 7])
    }
}
