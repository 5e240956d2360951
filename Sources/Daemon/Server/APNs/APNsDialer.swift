import APNsGateway
import Basics
import Delivery
import Transport

/// Makes connections to Apple for the gateway's thread: TLS settings, name lookups, links.
final class APNsDialer {
    private let reactor: Reactor
    /// TLS settings by endpoint, since each set resumes sessions of one server with one certificate.
    private var settings: [APNsEndpoint: TLSClientSettings] = [:]
    private var authorities: String?
    private var addresses: [APNsEnvironment: APNsAddress] = [:]
    private var random = SeededRandom(seed: SecureRandom.number())

    init(reactor: Reactor) { self.reactor = reactor }

    /// Applies the configuration to later connections; the file of authorities is read again.
    func configure(_ configuration: Configuration) {
        authorities = configuration.apnsCAFile
        for environment in [APNsEnvironment.production, .sandbox] {
            addresses[environment] = configuration.apnsAddress(of: environment)
        }
        forgetSettings()
    }

    /// Makes new TLS settings for later connections, because credentials have changed.
    func forgetSettings() { settings.removeAll() }

    /// The host and port of an environment, for the log.
    func place(of environment: APNsEnvironment) -> String {
        addresses[environment].map { "\($0.host):\($0.port)" } ?? ""
    }

    /// Starts a connection to Apple. Throws if the TLS settings are invalid.
    ///
    /// Settings that are not shared serve this connection only: those of a credential that may not be in use.
    func connect(
        to environment: APNsEnvironment, with material: APNsMaterial, sharesSettings: Bool = true,
        report: @escaping (APNsLink, APNsLink.Report) -> Void
    ) throws(TransportError) -> APNsLink {
        guard let address = addresses[environment] else {
            throw TransportError("connect to Apple", detail: "no address is configured")
        }
        let endpoint = APNsEndpoint(credential: material.credential.id, environment: environment)
        let tls: TLSClientSettings
        if sharesSettings, let known = settings[endpoint] {
            tls = known
        } else {
            tls = try makeSettings(material)
            if sharesSettings { settings[endpoint] = tls }
        }
        let link = APNsLink(
            target: APNsLink.Target(
                address: address, tls: tls, hasCertificate: !material.credential.isKey), reactor: reactor,
            report: report)
        lookUp(address, for: link)
        return link
    }

    private func makeSettings(_ material: APNsMaterial) throws(TransportError) -> TLSClientSettings {
        var identity: TLSClientSettings.Identity?
        if case .certificate(let chain, let key) = material.secret {
            identity = TLSClientSettings.Identity(chain: chain, key: key.revealed)
        }
        return try TLSClientSettings(
            trust: authorities.map { .file($0) } ?? .system, identity: identity,
            applicationProtocols: ["h2"], resumes: true)
    }

    /// Connects to the addresses in random order, which spreads connections over Apple's servers (apns 1.8).
    private func lookUp(_ address: APNsAddress, for link: APNsLink) {
        reactor.lookUp(address.host, port: address.port) { [weak self] found in
            guard let self else { return }
            switch found {
            case .success(let addresses): link.start(addresses.shuffled(using: &random))
            case .failure(let error): link.fail(error.description)
            }
        }
    }
}
