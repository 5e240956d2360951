import Foundation
import Testing

/// The references of the interfaces are what the daemon prints from its tables.
@Suite("References of the interfaces")
struct ReferencePageTests {
    private static func page(_ interface: String) throws -> String {
        try String(contentsOf: TestPaths.root.appendingPathComponent("docs/\(interface).md"), encoding: .utf8)
    }

    @Test("a page is what ccsd reference prints", arguments: ["http", "xmpp"])
    func pages(interface: String) throws {
        let printed = try Tool.run("ccsd", ["reference", interface])
        let page = try Self.page(interface)
        #expect(printed.code == 0 && printed.output == page, "print docs/\(interface).md again")
        #expect(try Tool.run("ccsd", ["reference", "smtp"]).code == 64, "canary")
    }

    @Test("docs/http.md has every operation of the OpenAPI document")
    func operations() throws {
        let document = try #require(try Tool.run("ccsd", ["openapi"]).object)
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let page = try Self.page("http")
        let operations = paths.flatMap { path, methods in
            methods.keys.filter { ["get", "post", "patch", "delete"].contains($0) }.map {
                "\($0.uppercased()) \(path)"
            }
        }
        #expect(operations.count > 40)
        #expect(operations.filter { !page.contains("**`\($0)`**") } == [])
        #expect(!page.contains("**`POST /nothing`**"), "canary")
    }
}
