#if Browse
import Faultline
import FaultlineTestSupport
import Foundation
import FoundationNetworking
import Testing

/// The pages in a browser: `.ci/browse` says which one, and where the tool and the demo's store are.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["FAULTLINE_BROWSER"] != nil))
struct BrowserTests {
    private let environment = ProcessInfo.processInfo.environment
    private let folder = TemporaryDirectory()

    private func variable(_ name: String) throws -> String { try #require(environment[name], "\(name) is not set") }

    private func browser() throws -> Chromium {
        try Chromium(variable("FAULTLINE_BROWSER"), profile: folder.path + "/profile")
    }

    private func photograph(_ browser: Chromium, _ name: String) throws {
        let shots = try variable("FAULTLINE_SHOTS")
        for isDark in [false, true] {
            try browser.setColours(dark: isDark)
            try browser.photograph(to: "\(shots)/\(name)-\(isDark ? "dark" : "light").png")
        }
    }

    @Test func `each page of the demo's store is opened, and an object is found by a relationship`() async throws {
        let running = try RunningBrowse(variable("FAULTLINE_TOOL"), store: variable("FAULTLINE_DEMO_STORE"))
        let browser = try browser()
        try browser.open(running.address)
        #expect(try browser.value("document.querySelector('h1').textContent") as? String == "Overview")
        try photograph(browser, "overview")
        // From a package to the other end of a relationship, by its links only.
        try browser.follow("[...document.links].find(a => a.textContent == 'Package').click()")
        try photograph(browser, "list")
        try browser.follow(
            """
            document.querySelector('[name=p0]').value = 'section.name';
            document.querySelector('[name=o0]').value = 'eq';
            document.querySelector('[name=v0]').value = 'libs';
            document.querySelector('form button').click()
            """)
        let found = try browser.value("document.querySelectorAll('tbody tr').length") as? Int ?? 0
        #expect(found > 0)
        try photograph(browser, "filtered")
        try browser.follow("document.querySelector('tbody td a').click()")
        let name = try browser.value("document.querySelector('h1').textContent") as? String ?? ""
        #expect(name.contains("Package ") && name.contains("·"))
        try photograph(browser, "object")
        try browser.follow(
            "[...document.querySelectorAll('main a')].find(a => a.getAttribute('href').includes('/object/Section/')).click()"
        )
        #expect((try browser.value("document.body.textContent") as? String ?? "").contains("libs"))
        #expect(try browser.value("document.querySelectorAll('h2 + .wide tbody tr').length") as? Int ?? 0 > 0)
        try photograph(browser, "members")
        for (key, title) in [("history", "History"), ("space", "Space")] {
            let address = try #require(URL(string: running.address + key))
            // A page that counts loads itself again.
            while String(decoding: try await URLSession.shared.data(from: address).0, as: UTF8.self).contains("refresh")
            {
                try await Task.sleep(for: .milliseconds(100))
            }
            try browser.open(running.address + key)
            #expect((try browser.value("document.querySelector('h1').textContent") as? String ?? "").contains(title))
            try photograph(browser, key)
        }
        #expect(running.end() == 0)
    }

    @Test func `a picture is seen, and the page runs no script`() throws {
        let fixture = try BrowseFixture(volumeCount: 5)
        defer { withExtendedLifetime(fixture) {} }
        let running = try RunningBrowse(variable("FAULTLINE_TOOL"), store: fixture.folder.path + "/store")
        let browser = try browser()
        try browser.open(running.address + "object/Volume/1")
        #expect(try browser.value("document.images[0].complete && document.images[0].naturalWidth") as? Int == 1)
        try photograph(browser, "picture")
        try browser.open(running.address + "object/Shelf/1")
        #expect(try browser.value("document.querySelectorAll('main b').length") as? Int == 0)
        // Keys lead from link to link: the first one skips to the content.
        #expect(try browser.value("document.links[0].className") as? String == "skip")
    }

    @Test func `only browsers of this machine with the token are answered`() async throws {
        let fixture = try BrowseFixture(volumeCount: 5)
        defer { withExtendedLifetime(fixture) {} }
        let running = try RunningBrowse(variable("FAULTLINE_TOOL"), store: fixture.folder.path + "/store")
        let first = try #require(URL(string: running.address))
        func status(_ address: String, host: String? = nil, method: String = "GET") async throws -> Int {
            var request = URLRequest(url: try #require(URL(string: address)))
            request.httpMethod = method
            if let host { request.setValue(host, forHTTPHeaderField: "Host") }
            let (_, response) = try await URLSession.shared.data(for: request)
            return (response as? HTTPURLResponse)?.statusCode ?? 0
        }
        #expect(try await status(running.address) == 200)
        #expect(try await status("http://127.0.0.1:\(first.port ?? 0)/") == 404)
        #expect(try await status("http://127.0.0.1:\(first.port ?? 0)/0123/") == 404)
        #expect(try await status(running.address, host: "example.com") == 421)
        for method in ["POST", "PUT", "DELETE"] { #expect(try await status(running.address, method: method) == 405) }
        #expect(try await status(running.address, method: "HEAD") == 200)
    }
}
#endif
