import Foundation

extension RunningDaemon {
    /// The environment in which Python clients find it by the names of Google's hosts, and trust its authority.
    func hostMap(httpsPort: Int? = nil) throws -> [String: String] {
        [
            "PYTHONPATH": Places.clients.appendingPathComponent("hostmap").path + ":" + Places.clients.path,
            "CCS_HTTPS_PORT": String(try httpsPort ?? port("https")),
            "CCS_DEVICE_PORT": String(try port("device")),
            "REQUESTS_CA_BUNDLE": authority, "SSL_CERT_FILE": authority, "HTTPLIB2_CA_CERTS": authority,
        ]
    }
}
