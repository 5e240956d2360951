import Foundation

extension RunningDaemon {
    /// Returns an environment in which Python clients resolve the names of Google's hosts to this daemon and trust its CA.
    func hostMap(httpsPort: Int? = nil) throws -> [String: String] {
        [
            "PYTHONPATH": TestPaths.clients.appendingPathComponent("hostmap").path + ":"
                + TestPaths.clients.path,
            "CCS_HTTPS_PORT": String(try httpsPort ?? port("https")),
            "CCS_DEVICE_PORT": String(try port("device")),
            "REQUESTS_CA_BUNDLE": authority, "SSL_CERT_FILE": authority, "HTTPLIB2_CA_CERTS": authority,
        ]
    }
}
