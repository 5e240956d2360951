import Basics
import BasicsSupport
import Catalogue
import Testing
import Transport

@testable import Server

/// The current certificate, from a reload command or from files, on both TLS contexts.
@Suite("Certificates", .serialized)
struct CertificatesTests {
    private static let day: UnixMilliseconds = 86_400_000

    private func make(_ name: String, days: Int, in folder: ServerFolder) throws {
        try folder.run(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout \(name).key -out \(name).pem -subj /CN=a"
                + " -days \(days); chmod 600 \(name).key")
    }

    private func content(_ name: String, in folder: ServerFolder) throws -> CertificateContent {
        CertificateContent(
            chain: try SmallFile.read("\(folder.path)/\(name).pem"),
            key: Redacted(try SmallFile.read("\(folder.path)/\(name).key")))
    }

    private func configuration(_ folder: ServerFolder) -> Configuration {
        var configuration = Configuration()
        configuration[.dataDirectory] = .text(folder.path)
        configuration[.certificateFile] = .text("\(folder.path)/a.pem")
        configuration[.keyFile] = .text("\(folder.path)/a.key")
        return configuration
    }

    @Test(
        "a certificate of the reload command is used on every listener, across reloads, until the files change"
    )
    func supplied() throws {
        let folder = try ServerFolder()
        for (name, days) in [("a", 100), ("b", 200), ("c", 300)] { try make(name, days: days, in: folder) }
        let configuration = configuration(folder)
        let certificates = try Certificates(configuration: configuration, log: .silent)
        let first = certificates.notAfter
        let (plain, web) = (certificates.holder.current, certificates.webHolder.current)
        try certificates.reload(configuration, supplied: content("b", in: folder))
        let second = certificates.notAfter
        #expect(second > first + 90 * Self.day)
        #expect(certificates.holder.current !== plain && certificates.webHolder.current !== web)

        try certificates.reload(configuration)
        #expect(certificates.notAfter == second, "the files have not changed")
        let kept = certificates.holder.current
        certificates.check(configuration)
        #expect(certificates.notAfter == second && certificates.holder.current === kept, "canary: no change")

        try folder.run("cp c.pem a.pem; cp c.key a.key")
        certificates.check(configuration)
        #expect(certificates.notAfter > second + 90 * Self.day)
    }

    @Test("a certificate of the reload command is refused while ccsd uses its own")
    func own() throws {
        let folder = try ServerFolder()
        try make("b", days: 200, in: folder)
        var configuration = Configuration()
        configuration[.dataDirectory] = .text(folder.path)
        let certificates = try Certificates(configuration: configuration, log: .silent)
        let before = certificates.notAfter
        let supplied = try content("b", in: folder)
        #expect(throws: TransportError.self) {
            try certificates.reload(configuration, supplied: supplied)
        }
        #expect(certificates.notAfter == before && certificates.authorityPath != nil)
    }
}
