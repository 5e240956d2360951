import Basics
import Glibc
import Testing

@testable import Transport

/// Certificates and keys made by openssl as operators make them: valid ones, and each kind of invalid one.
@Suite struct IdentityCheckTests {
    /// A directory of files that openssl makes.
    private final class Folder {
        let path: String

        init() throws {
            var template = Array("/tmp/ccs-identity-XXXXXX".utf8CString)
            path = try #require(mkdtemp(&template).map { String(cString: $0) })
        }

        deinit { system("rm -rf '\(path)'") }

        func run(_ command: String) throws {
            try #require(system("cd '\(path)' && { \(command); } >/dev/null 2>&1") == 0, "\(command)")
        }

        /// Makes a self-signed pair `NAME.pem` and `NAME.key`.
        func pair(
            _ name: String, key: String = "ec -pkeyopt ec_paramgen_curve:P-256", options: String = "-days 365"
        )
            throws
        {
            try run("openssl genpkey -algorithm \(key) -out \(name).key")
            try run(
                "openssl req -x509 -new -key \(name).key -out \(name).pem -subj /CN=\(name) -addext subjectAltName=DNS:push.example.com \(options)"
            )
        }

        /// Makes `leaf.pem` and `leaf.key`, issued by the pair `root`.
        func issue(_ options: String = "-days 365 -sha256") throws {
            try pair("root")
            try run("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out leaf.key")
            try run("openssl req -new -key leaf.key -subj /CN=leaf -out leaf.csr")
            try run(
                "openssl x509 -req -in leaf.csr -CA root.pem -CAkey root.key -CAcreateserial -out leaf.pem \(options)"
            )
        }

        func findings(
            _ certificate: String, _ key: String, minimum: TLSVersion = .tls12, names: [String] = [],
            days: Int64 = 0
        ) -> [IdentityFinding] {
            IdentityCheck.findings(
                certificateFile: "\(path)/\(certificate)", keyFile: "\(path)/\(key)", minimum: minimum,
                names: names, now: Now.read().wall + days * 86_400_000)
        }
    }

    @Test("a valid pair has no findings when it contains the names that clients connect to")
    func good() throws {
        let folder = try Folder()
        try folder.pair("good")
        #expect(folder.findings("good.pem", "good.key", names: ["push.example.com"]) == [])
        let other = folder.findings("good.pem", "good.key", names: ["push.example.com", "other.example.com"])
        #expect(other.map(\.problem) == ["the certificate is not valid for other.example.com"])
        #expect(other.map(\.isError) == [false])
    }

    @Test(
        "a certificate that has expired, soon will or is not valid yet is a warning, since the server starts with it"
    )
    func dates() throws {
        let folder = try Folder()
        try folder.pair("good")
        func found(_ days: Int64) -> [String] {
            folder.findings("good.pem", "good.key", days: days).map {
                "\($0.isError) \($0.problem.split(separator: ",")[0].split(separator: " at ")[0])"
            }
        }
        #expect(found(340) == ["false the certificate expires in 24 days"])
        #expect(found(400) == ["false the certificate expired"])
        #expect(found(-2).first?.hasPrefix("false the certificate is not valid before") == true)
    }

    @Test("a foreign key, a chain in the wrong order and swapped files have distinct findings")
    func mismatch() throws {
        let folder = try Folder()
        try folder.issue()
        try folder.run("cat leaf.pem root.pem > chain.pem; cat root.pem leaf.pem > reversed.pem")
        #expect(folder.findings("chain.pem", "leaf.key").filter(\.isError) == [])
        let mismatch = folder.findings("leaf.pem", "root.key")
        #expect(mismatch.filter(\.isError).map(\.problem) == ["the key does not belong to the certificate"])
        #expect(mismatch.first(where: \.isError)?.subject == .key)
        let reversed = folder.findings("reversed.pem", "leaf.key").filter(\.isError)
        #expect(
            reversed.map(\.problem) == [
                "the chain is in the wrong order: the certificate of the key is number 2 of 2"
            ])
        let swapped = folder.findings("leaf.key", "leaf.pem")
        #expect(swapped.map(\.subject) == [.certificate, .key] && swapped.allSatisfy(\.isError))
        #expect(swapped.allSatisfy { $0.hint == "are certificate_file and key_file swapped?" })
    }

    @Test(
        "weak keys and signatures are errors, or warnings when old TLS is allowed",
        arguments: [
            ("RSA -pkeyopt rsa_keygen_bits:1024", "the key of the certificate is weak: it has 1024 bits"),
            (
                "ec -pkeyopt ec_paramgen_curve:prime192v1",
                "the key of the certificate is weak: it has 192 bits"
            ),
        ])
    func weakKeys(key: String, problem: String) throws {
        let folder = try Folder()
        try folder.pair("weak", key: key)
        let found = folder.findings("weak.pem", "weak.key")
        #expect(found.first?.problem == problem && found.first?.isError == true)
        #expect(folder.findings("weak.pem", "weak.key", minimum: .tls10).first?.isError == false)
    }

    @Test("a signature with SHA-1 is an error")
    func weakSignature() throws {
        let folder = try Folder()
        try folder.issue("-days 365 -sha1")
        let found = folder.findings("leaf.pem", "leaf.key")
        #expect(
            found.contains {
                $0.isError && $0.problem == "the certificate is signed with SHA1, which can be forged"
            })
    }

    @Test("an encrypted key, an empty file and a damaged file have distinct findings")
    func unreadable() throws {
        let folder = try Folder()
        try folder.pair("good")
        try folder.run("openssl pkcs8 -topk8 -in good.key -passout pass:secret -out new.key")
        try folder.run("openssl ec -in good.key -aes128 -passout pass:secret -out old.key")
        for name in ["new.key", "old.key"] {
            let found = folder.findings("good.pem", name)
            #expect(
                found.map(\.problem) == ["the key is encrypted, and ccsd cannot prompt for its password"],
                "\(name)")
            #expect(found.first?.subject == .key && found.first?.isError == true)
        }
        try folder.run(
            ": > empty; sed 's/[A-Z]/a/g; s/-----.*-----//' good.pem > x; printf -- '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' > bad.pem"
        )
        #expect(
            folder.findings("empty", "empty").map(\.problem) == [
                "the file contains no certificate", "the file contains no private key",
            ])
        #expect(folder.findings("bad.pem", "good.key").contains { $0.isError && $0.subject == .certificate })
        #expect(folder.findings("missing", "good.key").first?.problem.contains("No such file") == true)
    }
}
