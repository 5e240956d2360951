import Basics
import Sessions
import Testing
import Wire

@testable import Server

/// The host names in our own certificate.
@Suite struct HostNamesTests {
    @Test("the certificate has every host in the description of the HTTP interface")
    func hosts() throws {
        let document = try JSONValue(parsing: OpenAPI.document(version: "1").raw)
        let operations = (document["paths"]?.members ?? []).flatMap { $0.value.members ?? [] }
        let hosts = Set(operations.flatMap { $0.value["x-hosts"]?.elements ?? [] }.compactMap(\.text))
        #expect(hosts.count >= 12, "canary: the hosts are found")
        #expect(hosts.subtracting(HostNames.google) == [])
        #expect(hosts.contains("jmt17.google.com"), "where the web apps of Chromium have their endpoints")
    }
}
