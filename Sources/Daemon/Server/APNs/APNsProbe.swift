import APNsGateway
import Basics
import Crypto
import Delivery
import Transport
import Wire

/// One request to Apple with a throwaway device token: shows whether a credential works, without a message of an app server.
///
/// Apple checks the credential and the topic first, so that the answer `BadDeviceToken` means that both are good.
final class APNsProbe {
    /// What Apple thinks of a credential in one environment.
    enum Outcome: Sendable, Equatable {
        /// Apple answered.
        case answered(APNsVerdict)
        /// Something other than Apple answered, with this status.
        case foreign(Int)
        /// There was no answer, for this reason.
        case failed(String)
    }

    private var link: APNsLink?
    private var done: ((Outcome) -> Void)?
    private let call: HTTPCall
    /// The `apns-id` of the request.
    private let identifier: String
    private var isSent = false

    /// Creates a probe; `done` is called once, on the gateway's thread.
    init(
        topic: [UInt8], environment: APNsEnvironment, providerToken: [UInt8]?,
        done: @escaping (Outcome) -> Void
    ) {
        // Random, so that no device has it.
        let token = AppleToken.Digits(of: SecureRandom.bytes(32))
        identifier = Self.randomIdentifier()
        let request = APNsRequest(
            deviceToken: token, environment: environment, topic: topic, pushType: .alert, priority: 5,
            expiration: 0, collapseID: nil, id: identifier,
            payload: Array("{\"aps\":{\"alert\":\"test\"}}".utf8))
        call = request.call(providerToken: providerToken)
        self.done = done
    }

    /// Returns a random UUID (RFC 9562, version 4).
    private static func randomIdentifier() -> String {
        var bytes = SecureRandom.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUIDText.canonical(Array(Hex.text(bytes).utf8).raw)
    }

    /// Connects; the request follows when the connection is open.
    func start(
        _ dialer: APNsDialer, _ material: APNsMaterial, _ environment: APNsEnvironment
    ) {
        do throws(TransportError) {
            link = try dialer.connect(to: environment, with: material, sharesSettings: false) {
                [weak self] link, report in
                self?.handle(report, of: link)
            }
        } catch {
            finish(.failed(error.description))
        }
    }

    /// Ends the probe if it has not ended.
    func cancel(_ words: String) { finish(.failed(words)) }

    /// Writes what is to be written, once in each turn.
    func pump(_ now: Now) {
        guard let link, link.needsPump else { return }
        link.pump(now)
    }

    private func handle(_ report: APNsLink.Report, of link: APNsLink) {
        switch report {
        case .opened, .leaving: break
        case .streams(let available):
            guard available > 0, !isSent else { return }
            isSent = true
            link.send(call, number: 0, now: Now.read())
        case .answered(_, let answer, _):
            let answer = APNsAnswer(answer)
            finish(answer.isForeign(to: identifier) ? .foreign(answer.status) : .answered(answer.verdict))
        case .certificateRefused(let words): finish(.failed("the server refuses the certificate: \(words)"))
        case .failed(_, .bodyTooLong(let status)): finish(.foreign(status))
        case .failed: finish(.failed("the connection ended before the answer"))
        case .openFailed(_, let words), .closed(let words, _): finish(.failed(words))
        }
    }

    private func finish(_ outcome: Outcome) {
        link?.close()
        done?(outcome)
        done = nil
    }
}

extension APNsHost {
    /// Sends one request with a throwaway device token; `done` is called on this thread.
    ///
    /// The credential need not be one that the gateway uses. Its TLS settings are not kept.
    func probe(
        _ material: APNsMaterial, topic: [UInt8], _ environment: APNsEnvironment,
        done: @escaping @Sendable (APNsProbe.Outcome) -> Void
    ) {
        probeCount += 1
        let number = probeCount
        var token: [UInt8]?
        if case .key(let key, let keyID, let teamID) = material.secret {
            token = ProviderToken.make(
                keyPEM: key, keyID: keyID, teamID: teamID, issuedAt: time(reactor.now).wall)
            guard token != nil else { return done(.failed("the key cannot sign")) }
        }
        let probe = APNsProbe(topic: topic, environment: environment, providerToken: token) {
            [unowned self] outcome in
            done(outcome)
            // Its connection ends in a later turn, and reports to the probe.
            reactor.schedule(at: reactor.now.monotonic.advanced(seconds: 1)) { [unowned self] _ in
                probes[number] = nil
            }
        }
        probes[number] = probe
        let dialer = dialer
        probe.start(dialer, material, environment)
        reactor.schedule(at: reactor.now.monotonic.advanced(seconds: Limits.APNs.selfTestSeconds)) {
            [weak probe] _ in
            probe?.cancel("no answer within \(Limits.APNs.selfTestSeconds) seconds")
        }
    }
}
