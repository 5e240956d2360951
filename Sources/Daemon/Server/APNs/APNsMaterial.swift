import APNsGateway
import Basics
import Crypto
import Delivery

/// A credential with its secret, as the gateway's thread uses it.
struct APNsMaterial: Sendable {
    /// What proves our identity to Apple.
    enum Secret: Sendable {
        /// A client certificate, its chain and its key, PEM.
        case certificate(chain: [UInt8], key: Redacted<[UInt8]>)
        /// A key that signs provider tokens, PEM.
        case key(Redacted<[UInt8]>, keyID: String, teamID: String)
    }

    var credential: APNsCredential
    var secret: Secret
}

extension APNsMaterial {
    /// Describes a stored credential to the gateway.
    init(_ stored: StoredAPNsCredential) {
        let bundle = stored.bundle.map { Array($0.utf8) }
        let kind: APNsCredential.Kind
        switch stored.material {
        case .certificate(let certificate):
            kind = .certificate(
                bundle: bundle ?? [], topics: certificate.topics.map { Array($0.utf8) },
                expiresAt: certificate.notAfter)
            secret = .certificate(chain: certificate.chain, key: certificate.key)
        case .key(let key, let keyID, let team):
            kind = .key(keyID: keyID, teamID: team, bundles: bundle.map { [$0] } ?? [])
            secret = .key(key.key, keyID: keyID, teamID: team)
        }
        credential = APNsCredential(
            id: APNsCredentialID(stored.id), kind: kind, sender: stored.sender,
            environments: Set(stored.environments),
            revision: UInt64(clamping: stored.serial))
    }
}

/// The self-test of `ccsctl apns`, which the gateway's thread carries out.
struct GatewaySelfTester: APNsSelfTester {
    let port: APNsPort

    func test(
        _ credential: StoredAPNsCredential, topic: String, in environment: APNsEnvironment
    ) -> APNsSelfTestAnswer {
        switch port.probe(APNsMaterial(credential), topic: Array(topic.utf8), environment) {
        case .answered(let verdict): .answered(status: verdict.status, reason: verdict.reason)
        case .foreign(let status): .foreign(status: status)
        case .failed(let problem): .failed(problem)
        case nil: .failed("the gateway did not answer")
        }
    }
}
