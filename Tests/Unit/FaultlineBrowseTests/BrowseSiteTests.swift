import Faultline
import FaultlineBrowse
import FaultlineTestSupport
import Foundation
import Testing

/// The pages of a store, without the server.
struct BrowseSiteTests {
    @Test func `each link leads to a well-formed page of the site`() throws {
        let fixture = try BrowseFixture()
        let walk = LinkWalk(fixture.site, base: BrowseFixture.base)
        walk.run(limit: 2_000)
        #expect(walk.faults == [])
        // Each volume has a page.
        #expect(walk.visited.count { $0.hasPrefix("/object/Volume/") } == 130)
        #expect(walk.visited.contains { $0.hasPrefix("/transaction/") })
        #expect(walk.visited.contains("/members/Shelf/1/volumes"))
    }

    @Test func `text of the store is escaped`() throws {
        let fixture = try BrowseFixture(volumeCount: 3)
        for target in ["/entity/Shelf", "/object/Shelf/1", "/history", "/entity/Shelf?p0=name&o0=eq&v0=%22%3E%3Cb%3E"] {
            let text = fixture.text(target)
            #expect(!text.contains("<b>"), "\(target)")
            #expect(!text.contains("<librarian>"), "\(target)")
        }
        #expect(fixture.text("/object/Shelf/1").contains("&lt;b&gt;North &amp; &quot;South&quot;&lt;/b&gt;"))
        #expect(fixture.text("/history").contains("&lt;librarian&gt;"))
    }

    @Test func `a filter finds objects by their own and by related properties`() throws {
        let fixture = try BrowseFixture()
        let shelf = "%3Cb%3ENorth%20%26%20%22South%22%3C/b%3E"
        let conditions: [(String, Int)] = [
            ("Volume?p0=title&o0=eq&v0=volume+7", 1), ("Volume?p0=pages&o0=lt&v0=4", 4),
            ("Volume?p0=pages&o0=ge&v0=10&p1=pages&o1=lt&v1=20", 10),
            ("Volume?p0=isLent&o0=eq&v0=true&p1=pages&o1=lt&v1=7", 3),
            ("Volume?p0=shelf.name&o0=eq&v0=\(shelf)&p1=pages&o1=lt&v1=10", 5),
            ("Volume?p0=shelf&o0=nil&p1=pages&o1=lt&v1=10", 5), ("Volume?p0=shelf&o0=set&p1=pages&o1=lt&v1=10", 5),
            ("Volume?p0=topics.name&o0=eq&v0=topic+1&p1=pages&o1=lt&v1=9", 3),
            ("Volume?p0=printed&o0=lt&v0=1970-01-04", 3), ("Volume?p0=price&o0=eq&v0=1.2", 1),
            ("Volume?p0=title&o0=begins&v0=volume+12", 11), ("Volume?p0=title&o0=has&v0=E+12", 0),
            ("Shelf?p0=volumes.title&o0=eq&v0=volume+2", 1), ("Shelf?p0=volumes.title&o0=eq&v0=volume+1", 0),
            ("Shelf?p0=room&o0=set", 1), ("Topic?p0=name&o0=ne&v0=topic+1", 2),
        ]
        for (target, count) in conditions {
            let answer = fixture.answer("/entity/" + target)
            #expect(answer?.status == 200, "\(target)")
            let rows = (answer?.text ?? "").components(separatedBy: "<tr><td>").count - 1
            #expect(rows == count, "\(target)")
        }
    }

    @Test func `a wrong filter is refused with its reason`() throws {
        let fixture = try BrowseFixture(volumeCount: 3)
        let wrong = [
            "Volume?p0=pages&o0=lt&v0=many", "Volume?p0=nothing&o0=eq&v0=1", "Volume?p0=title&o0=like&v0=1",
            "Volume?p0=pages&o0=has&v0=1", "Volume?p0=shelf&o0=eq&v0=1", "Volume?p0=topics&o0=nil",
            "Volume?p0=cover&o0=eq&v0=1", "Volume?p0=shelf.volumes.title&o0=eq&v0=1", "Volume?sort=cover",
            "Volume?p0=printed&o0=lt&v0=yesterday", "Volume?after=nonsense", "Volume?p0=.&o0=eq",
        ]
        for target in wrong { #expect(fixture.answer("/entity/" + target)?.status == 400, "\(target)") }
        let missing = [
            "/nothing", "/entity/Nothing", "/object/Volume/999999", "/object/Nothing/1", "/object/Volume",
            "/value/Volume/1/pages", "/value/Volume/9/cover", "/members/Volume/1/title", "/members/Volume/1/nothing",
            "/transaction/0", "/transaction/99999999", "/object/Volume/0", "/object/Volume/18446744073709551615",
            "/members/Shelf/99/volumes",
        ]
        for target in missing { #expect(fixture.answer(target)?.status == 404, "\(target)") }
        #expect(fixture.answer("/object/Volume/one")?.status == 400)
        #expect(fixture.answer("/members/Shelf/1/volumes?from=-1")?.status == 400)
        #expect(fixture.answer("/history?before=x")?.status == 400)
    }

    @Test(arguments: ["", "sort=title", "sort=pages&order=down", "p0=isLent&o0=eq&v0=false"])
    func `the pages of a list have each object once`(_ query: String) throws {
        let fixture = try BrowseFixture()
        var ids: [String] = []
        var target: String? = "/entity/Volume?" + query
        while let page = target {
            let text = fixture.text(page)
            ids += text.matches(of: /<tr><td><a href="\/token\/object\/Volume\/([0-9]+)"/).map { String($0.1) }
            target = text.firstMatch(of: /rel="next" accesskey="n" href="\/token([^"]*)"/).map {
                String($0.1.replacing("&amp;", with: "&"))
            }
        }
        #expect(ids.count == (query.hasPrefix("p0") ? 86 : 130))
        #expect(Set(ids).count == ids.count)
    }

    @Test func `members come in pages, in their order`() throws {
        let fixture = try BrowseFixture()
        let first = fixture.text("/members/Shelf/1/volumes")
        #expect(first.contains("from=50"))
        let last = fixture.text("/members/Shelf/1/volumes?from=50")
        #expect(!last.contains("rel=\"next\""))
        let ids = [first, last].flatMap {
            $0.matches(of: /<tr><td><a href="\/token\/object\/Volume\/([0-9]+)"/).compactMap { Int($0.1) }
        }
        #expect(ids.count == 65)
        #expect(ids == ids.sorted())
        #expect(fixture.text("/members/Shelf/1/volumes?from=20000").contains("No members."))
    }

    @Test func `a list that takes long is searched while its page loads itself again`() throws {
        let fixture = try BrowseFixture(volumeCount: 3)
        let site = try BrowseFixture.site(of: fixture.folder.path + "/store", patience: .nanoseconds(0))
        let request = try #require(PageRequest(target: "/entity/Volume?p0=pages&o0=lt&v0=2"))
        var text = ""
        repeat {
            text = site.answer(request).text
            let waits = text.contains("<meta http-equiv=\"refresh\" content=\"1\"/>")
            #expect(waits == text.contains("<p>Searching 3 objects, for 0 s now."))
        } while text.contains("Searching")
        #expect(text.components(separatedBy: "<tr><td>").count == 3)
    }

    @Test func `pictures are shown and other bytes are files`() throws {
        let fixture = try BrowseFixture(volumeCount: 5)
        #expect(fixture.text("/object/Volume/1").contains("<img class=\"picture\" src=\"/token/value/Volume/1/cover\""))
        #expect(fixture.text("/entity/Volume").contains("<img class=\"thumb\""))
        let small = try #require(fixture.answer("/value/Volume/1/cover"))
        #expect(small.headers.contains { $0 == ("content-type", "image/png") })
        guard case .bytes(let bytes) = small.body else { throw Unexpected() }
        #expect(Data(bytes) == BrowseFixture.picture)
        let large = try #require(fixture.answer("/value/Volume/2/cover", range: "bytes=-10000"))
        #expect(large.status == 206)
        guard case .blob(let part) = large.body else { throw Unexpected() }
        #expect(try part.bytes(part.range) == [UInt8](repeating: 0, count: 10_000))
        let text = try #require(fixture.answer("/value/Volume/3/text"))
        #expect(text.headers.contains { $0.name == "content-disposition" && $0.value.hasPrefix("attachment") })
        #expect(
            text.headers.contains { $0.name == "content-security-policy" && $0.value.contains("default-src 'none'") })
    }

    private struct Unexpected: Error {}

    @Test func `the pages follow the writer`() throws {
        let fixture = try BrowseFixture(volumeCount: 3)
        #expect(fixture.text("/entity/Topic").contains("3 objects"))
        let context = ModelContext(fixture.writer)
        context.insert(Topic(name: "new"))
        try context.save()
        try fixture.writer.synchronize()
        #expect(fixture.text("/entity/Topic").contains("4 objects"))
        #expect(fixture.text("/history").contains("1 Topic inserted"))
        try context.delete(model: Topic.self)
        try context.save()
        try fixture.writer.synchronize()
        #expect(fixture.answer("/object/Topic/1")?.status == 404)
        #expect(fixture.text("/entity/Topic").contains("No object."))
    }

    @Test func `an object that does not verify is named, and the others are shown`() throws {
        let fixture = try BrowseFixture(volumeCount: 5)
        try fixture.writer.close()
        let store = URL(filePath: fixture.folder.path + "/store")
        // The row of the fourth volume, in the only version that it has.
        var damagedCount = 0
        for file in try FileManager.default.contentsOfDirectory(at: store, includingPropertiesForKeys: nil)
        where file.lastPathComponent.hasPrefix("s-") {
            var bytes = try Data(contentsOf: file)
            guard let place = bytes.range(of: Data("volume 3".utf8))?.lowerBound else { continue }
            bytes[place] ^= 1
            try bytes.write(to: file)
            damagedCount += 1
        }
        #expect(damagedCount == 1)
        let site = try BrowseFixture.site(of: store.path)
        func answer(_ target: String) -> PageAnswer? { PageRequest(target: target).map(site.answer) }
        #expect(answer("/object/Volume/4")?.status == 500)
        #expect(answer("/object/Volume/4")?.text.contains("verify") == true)
        #expect(answer("/object/Volume/5")?.status == 200)
        let list = answer("/entity/Volume")
        #expect(list?.status == 200)
        for title in ["volume 0", "volume 2", "volume 4"] { #expect(list?.text.contains(title) == true, "\(title)") }
        #expect(list?.text.contains("class=\"warn\"") == true)
    }

    @Test func `no request ends the process`() throws {
        let fixture = try BrowseFixture(volumeCount: 5)
        var random = Seed(11)
        let words = [
            "/", "entity", "object", "members", "value", "history", "transaction", "space", "Volume", "Shelf", "Topic",
            "?", "&", "=", "p0", "o0", "v0", "sort", "after", "before", "from", "%", "%2", "%00", "%ff", "+", "-1", "0",
            "1", "99999999999999999999", "cover", "volumes", "title", "eq", "lt", "nil", "\u{1F600}", ".", "..", "down",
        ]
        for _ in 0..<3_000 {
            let count = Int.random(in: 1...9, using: &random)
            let target = "/" + (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            if let answer = fixture.answer(target, range: "bytes=\(target.count)-") {
                #expect([200, 206, 400, 404, 416].contains(answer.status), "\(target): \(answer.text)")
            }
        }
    }
}
