import Basics
import Catalogue
import Reference
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

    @Test("the certificate has the addresses that ccsd listens on, each once, and no wildcard")
    func addresses() {
        var configuration = Configuration()
        configuration.listenAddress = "10.0.0.7"
        configuration[.adminAddress] = .text("2001:db8::7")
        configuration.hostNames = ["push.example.org", "10.0.0.7"]
        let names = HostNames.all(configuration)
        for name in ["localhost", "127.0.0.1", "::1", "10.0.0.7", "2001:db8::7", "push.example.org"] {
            #expect(names.count { $0 == name } == 1, "\(name)")
        }
        configuration.listenAddress = "0.0.0.0"
        configuration[.adminAddress] = .text("::")
        #expect(Set(HostNames.all(configuration)).isDisjoint(with: ["0.0.0.0", "::", "2001:db8::7"]))
    }

    @Test(
        "the admin port answers to the names of the configuration and to its addresses, and not to Google's names"
    )
    func admin() throws {
        var configuration = Configuration()
        configuration.listenAddress = "10.0.0.7"
        configuration.hostNames = ["push.example.org"]
        func accepts(_ host: String) throws -> Bool {
            var reader = RequestReader()
            reader.append(Array("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8).raw)
            return AcceptedHosts(HostNames.admin(configuration)).accepts(try #require(try reader.next()))
        }
        for host in ["push.example.org:9100", "10.0.0.7", "127.0.0.1:9100", Machine.hostName ?? "localhost"] {
            #expect(try accepts(host), "\(host)")
        }
        for host in ["fcm.googleapis.com", "evil.example", "10.0.0.8"] {
            #expect(try !accepts(host), "\(host)")
        }
        configuration[.adminAddress] = .text("0.0.0.0")
        #expect(try accepts("10.0.0.8") && !accepts("evil.example"))
    }
}
