import Delivery

/// The host and port of one of Apple's environments; only the configuration determines them, never a request.
struct APNsAddress: Sendable, Equatable {
    var host: String
    var port: UInt16

    /// Parses the value of a config key, which the loader has checked.
    init(_ text: String) {
        let parts = text.split(separator: ":")
        host = parts.first.map(String.init) ?? ""
        port = parts.last.flatMap { UInt16($0) } ?? 443
    }

    /// The authority of requests: the port is left out if it is that of HTTPS.
    var authority: String { port == 443 ? host : "\(host):\(port)" }
}

extension Configuration {
    /// Returns the address of an environment.
    func apnsAddress(of environment: APNsEnvironment) -> APNsAddress {
        switch environment {
        case .production: APNsAddress(apnsProductionAddress)
        case .sandbox: APNsAddress(apnsSandboxAddress)
        }
    }
}
