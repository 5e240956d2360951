import Basics
import Sessions
import Testing
import Wire

@testable import Server

/// The names that our own certificate is for.
@Suite struct HostNamesTests {
    @Test("every host that the description of the HTTP interface names is in the certificate")
    func hosts() throws {
        let document = try JSONValue(parsing: OpenAPI.document(version: "1").raw)
        let operations = (document["paths"]?.members ?? []).flatMap { $0.value.members ?? [] }
        let hosts = Set(operations.flatMap { $0.value["x-hosts"]?.elements ?? [] }.compactMap(\.text))
        #expect(hosts.count >= 12, "canary: they are found at all")
        #expect(hosts.subtracting(HostNames.google) == [])
        #expect(hosts.contains("jmt17.google.com"), "where the web apps of Chromium have their endpoints")
    }
}
