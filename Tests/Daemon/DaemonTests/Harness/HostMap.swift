import Foundation

extension RunningDaemon {
    /// Returns an environment in which Python clients resolve the names of Google's hosts to this daemon and trust its CA.
    func hostMap(httpsPort: Int? = nil) throws -> [String: String] {
        [
            "PYTHONPATH": TestPaths.pytestPlugin.appendingPathComponent("pytest_ccsd/child").path + ":"
                + TestPaths.clients.path,
            "CCS_HOST_PORTS": "443:\(try httpsPort ?? port("https")),5228:\(try port("device"))",
            "REQUESTS_CA_BUNDLE": authority, "SSL_CERT_FILE": authority, "HTTPLIB2_CA_CERTS": authority,
        ]
    }
}
