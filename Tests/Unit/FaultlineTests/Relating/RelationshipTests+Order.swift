import Faultline
import Testing

/// The order of members.
extension RelationshipTests {
    @Test func orderIsKeptThroughInsertsMovesAndRemovals() throws {
        let store = try filing()
        var context = store.context()
        var folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<5).map { Document("\($0)") }
        try context.save()
        var wanted = ["0", "1", "2", "3", "4"]
        for round in 0..<40 {
            var documents = folder.documents
            #expect(documents.map(\.title) == wanted, "round \(round)")
            switch round % 5 {
            case 0:
                documents.insert(Document("n\(round)"), at: 2)
                wanted.insert("n\(round)", at: 2)
            case 1:
                documents.append(documents.removeFirst())
                wanted.append(wanted.removeFirst())
            case 2:
                documents.insert(documents.removeLast(), at: 0)
                wanted.insert(wanted.removeLast(), at: 0)
            case 3:
                documents.reverse()
                wanted.reverse()
            default:
                documents.remove(at: 1)
                wanted.remove(at: 1)
                documents.append(Document("a\(round)"))
                wanted.append("a\(round)")
            }
            folder.documents = documents
            #expect(folder.documents.map(\.title) == wanted)
            try context.save()
            #expect(folder.documents.map(\.title) == wanted)
            if round % 7 == 6 {
                context = try store.reopened()
                folder = try context.first(Folder.self)
            }
        }
        context = try store.reopened()
        #expect(try context.first(Folder.self).documents.map(\.title) == wanted)
    }

    @Test func insertingAtOnePlaceManyTimesKeepsTheOrder() throws {
        let store = try filing()
        var context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = [Document("first"), Document("last")]
        try context.save()
        for number in 0..<60 {
            folder.documents.insert(Document("\(number)"), at: 1)
            try context.save()
        }
        let wanted = ["first"] + (0..<60).reversed().map { "\($0)" } + ["last"]
        #expect(folder.documents.map(\.title) == wanted)
        context = try store.reopened()
        #expect(try context.first(Folder.self).documents.map(\.title) == wanted)
    }

    @Test func theMembersThatAToOneSideJoinsComeLast() throws {
        let store = try filing()
        let context = store.context()
        let one = Folder("1")
        let two = Folder("2")
        context.insert(one)
        context.insert(two)
        one.documents = (0..<3).map { Document("\($0)") }
        two.documents = (3..<6).map { Document("\($0)") }
        try context.save()
        one.documents.reverse()
        two.documents.reverse()
        try context.save()
        // A low number joins high ones, and a new object joins reordered ones.
        let moved = try #require(one.documents.last)
        moved.folder = two
        let new = Document("6")
        context.insert(new)
        new.folder = two
        #expect(two.documents.map(\.title) == ["5", "4", "3", "0", "6"])
        try context.save()
        #expect(two.documents.map(\.title) == ["5", "4", "3", "0", "6"])
        let later = Document("7")
        context.insert(later)
        later.folder = two
        try context.save()
        let again = try store.reopened().all(Folder.self)
        #expect(again[1].documents.map(\.title) == ["5", "4", "3", "0", "6", "7"])
        #expect(again[0].documents.map(\.title) == ["2", "1"])
    }

    @Test func orderOfManyToManyIsKeptOnBothSides() throws {
        let store = try filing()
        var context = store.context()
        let labels = (0..<5).map { Label("\($0)") }
        labels.forEach(context.insert)
        try context.save()
        let document = Document("d")
        context.insert(document)
        document.labels = [labels[3], labels[1], labels[4], labels[0]]
        try context.save()
        #expect(document.labels.map(\.text) == ["3", "1", "4", "0"])
        document.labels.insert(labels[2], at: 1)
        try context.save()
        #expect(document.labels.map(\.text) == ["3", "2", "1", "4", "0"])
        document.labels.reverse()
        try context.save()
        let other = Document("e")
        context.insert(other)
        labels[0].documents = [other, document]
        try context.save()
        context = try store.reopened()
        let read = try context.all(Document.self)
        #expect(read[0].labels.map(\.text) == ["0", "4", "1", "2", "3"])
        #expect(read[0].labels[0].documents.map(\.title) == ["e", "d"])
    }

    @Test func duplicatesCollapse() throws {
        let store = try filing()
        let context = store.context()
        let folder = Folder("f")
        let a = Document("a")
        let b = Document("b")
        folder.documents = [a, b, a, b, b]
        context.insert(folder)
        #expect(folder.documents == [a, b])
        a.labels = [Label("l")]
        a.labels += a.labels
        try context.save()
        #expect(folder.documents == [a, b])
        #expect(a.labels.count == 1)
        folder.documents += [a]
        #expect(folder.documents == [a, b])
    }

    @Test func movingAChildBetweenParents() throws {
        let store = try filing()
        let context = store.context()
        let one = Folder("1")
        let two = Folder("2")
        one.documents = (0..<3).map { Document("\($0)") }
        context.insert(one)
        context.insert(two)
        try context.save()
        let moved = one.documents[1]
        two.documents.append(moved)
        #expect(one.documents.map(\.title) == ["0", "2"])
        #expect(moved.folder === two)
        moved.folder = one
        #expect(two.documents.isEmpty)
        moved.folder = two
        #expect(one.documents.map(\.title) == ["0", "2"])
        #expect(two.documents == [moved])
        try context.save()
        let again = try store.reopened().all(Folder.self)
        #expect(again.map { $0.documents.map(\.title) } == [["0", "2"], ["1"]])
    }
}
