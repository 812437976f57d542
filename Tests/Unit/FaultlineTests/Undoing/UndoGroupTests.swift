import Faultline
import Testing

/// The manager by itself.
struct UndoGroupTests {
    private final class Counter {
        var value = 0
        let manager = UndoManager()

        func add(_ number: Int) {
            value += number
            manager.registerUndo(withTarget: self) { $0.add(-number) }
        }
    }

    @Test func `calls are made in the reverse order, and again`() {
        let counter = Counter()
        let manager = counter.manager
        #expect(!manager.canUndo && !manager.canRedo && manager.undoMenuItemTitle == "Undo")
        manager.beginUndoGrouping()
        counter.add(1)
        manager.setActionName("Add")
        manager.endUndoGrouping()
        manager.beginUndoGrouping()
        counter.add(10)
        counter.add(100)
        manager.endUndoGrouping()
        #expect(manager.undoCount == 2 && manager.groupingLevel == 0)
        manager.undo()
        #expect(counter.value == 1 && manager.canUndo && manager.canRedo)
        #expect(manager.undoMenuItemTitle == "Undo Add" && manager.redoMenuItemTitle == "Redo")
        manager.undo()
        #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
        #expect(manager.redoMenuItemTitle == "Redo Add")
        manager.redo()
        manager.redo()
        #expect(counter.value == 111 && !manager.canRedo)
        manager.undo()
        #expect(counter.value == 1)
        // A new change drops the groups that were undone.
        counter.add(5)
        #expect(!manager.canRedo && manager.undoCount == 2)
        manager.undo()
        #expect(counter.value == 1 && manager.undoActionName == "Add")
    }

    @Test func `groups are nested`() {
        let counter = Counter()
        let manager = counter.manager
        manager.beginUndoGrouping()
        counter.add(1)
        manager.beginUndoGrouping()
        counter.add(10)
        manager.setActionName("Inner")
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 1)
        manager.undoNestedGroup()
        #expect(counter.value == 1)
        counter.add(100)
        manager.endUndoGrouping()
        manager.endUndoGrouping()
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test func `levels are bounded, and registration can be stopped`() {
        let counter = Counter()
        let manager = counter.manager
        manager.levelsOfUndo = 2
        manager.groupsByEvent = false
        for number in 1...5 { counter.add(number) }
        #expect(manager.undoCount == 2)
        for _ in 0..<5 { manager.undo() }
        #expect(counter.value == 1 + 2 + 3)
        manager.disableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.add(7)
        manager.enableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled && manager.redoCount == 2)
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo)
    }

    @Test func `targets are not retained, and can be taken out`() {
        let manager = UndoManager()
        var first: Counter? = Counter()
        let second = Counter()
        if let first { manager.registerUndo(withTarget: first) { $0.value = 1 } }
        manager.registerUndo(withTarget: second) { $0.value = 2 }
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        first = nil
        #expect(first == nil && manager.canUndo)
        manager.removeAllActions(withTarget: second)
        manager.undo()
        #expect(second.value == 0)
    }

    @Test func `an undo within an undo does nothing`() {
        let manager = UndoManager()
        let counter = Counter()
        var calls = 0
        manager.registerUndo(withTarget: counter) { _ in
            #expect(manager.isUndoing && !manager.isRedoing)
            calls += 1
            manager.undo()
            manager.redo()
        }
        manager.undo()
        #expect(calls == 1 && !manager.isUndoing)
    }
}
