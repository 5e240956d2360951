import Foundation
import Testing

/// What the tests of the units and of the package do with the service.
extension BootedSystem {
    /// Returns the uncommented lines of a comment in a unit, which operators copy to a drop-in.
    static func documented(_ unit: String, mark: String, from first: String) throws -> String {
        let text = try String(
            contentsOf: TestPaths.root.appendingPathComponent("systemd/\(unit)"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(lines.firstIndex { $0 == mark + first })
        return lines[begin...].prefix { $0.hasPrefix(mark) }.map { $0.dropFirst(mark.count) + "\n" }.joined()
    }

    /// Creates a certificate and its key where the documented drop-in expects them.
    func makeCertificate(_ name: String) throws {
        try output(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90", "-subj", "/CN=\(name)",
            "-keyout", "/etc/ccsd/key.pem", "-out", "/etc/ccsd/certificate.pem")
        try output("chmod", "600", "/etc/ccsd/key.pem")
    }

    /// Installs the documented drop-in that loads the certificate as a credential.
    func loadCertificateAsCredential() throws {
        try write(
            "/etc/systemd/system/ccsd.service.d/certificate.conf",
            try Self.documented("ccsd.service", mark: "#", from: "[Service]"))
        try output("systemctl", "daemon-reload")
    }

    /// Returns the subject of the certificate that the HTTPS port presents.
    func servedSubject() throws -> String {
        let ask =
            "openssl s_client -connect 127.0.0.1:8443 </dev/null 2>/dev/null | openssl x509 -noout -subject"
        return try output("sh", "-c", ask)
    }

    /// Waits until another process than `process` serves.
    func waitForReplacement(of process: String, seconds: Double = 120) throws {
        try eventually("another process serves", seconds: seconds) {
            let now = try property("MainPID")
            let state = try property("ActiveState")
            return now != process && now != "0" && state == "active"
        }
    }
}
