import APNsGateway
import Basics
import Delivery

/// Deliveries and credentials for tests.
enum Samples {
    static let bundle = Array("com.example.app".utf8)
    /// 2026-01-01, in milliseconds since 1970.
    static let epoch: UnixMilliseconds = 1_767_225_600_000
    static let keyID = APNsCredentialID("key")
    static let certificateID = APNsCredentialID("certificate")

    static func key(
        _ id: APNsCredentialID = keyID, bundles: [[UInt8]] = [], sender: SenderID? = nil, revision: UInt64 = 0
    ) -> APNsCredential {
        APNsCredential(
            id: id, kind: .key(keyID: "KEY4567890", teamID: "TEAM567890", bundles: bundles), sender: sender,
            environments: [.production, .sandbox], revision: revision)
    }

    static func certificate(
        topics: [[UInt8]] = [], environments: Set<APNsEnvironment> = [.production],
        expiresAt: UnixMilliseconds = epoch + 86_400_000 * 365
    ) -> APNsCredential {
        APNsCredential(
            id: certificateID, kind: .certificate(bundle: bundle, topics: topics, expiresAt: expiresAt),
            environments: environments)
    }

    static func delivery(
        _ sequence: UInt64, registration: UInt64 = 1, token: String = "p_aa", bundle: [UInt8] = bundle,
        registeredAt: UnixMilliseconds? = epoch, apns: [UInt8] = [], isStored: Bool = true, attempt: Int = 0
    ) -> GatewayDelivery {
        let name = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(registration))
        var parts = RegisteredApp.Parts(category: bundle)
        parts.apnsToken = Array(token.utf8)
        return GatewayDelivery(
            message: StoredMessage(
                device: name.device, sequence: SequenceNumber(sequence), salt: 0, registration: name.number,
                sender: nil, fields: MessageFields(messageID: [], body: [], apns: apns), acceptedAt: epoch,
                expiresAt: epoch + 86_400_000),
            registration: name, app: RegisteredApp(parts), registeredAt: registeredAt, isStored: isStored,
            attempt: attempt)
    }

    /// Stands for the mapper.
    static let mapping: APNsMapping = { (delivery, _) throws(APNsRefusal) in
        guard let token = delivery.deviceToken else { throw APNsRefusal(.invalid) }
        return APNsRequest(
            deviceToken: token, environment: delivery.environment,
            topic: delivery.app.parts.category, pushType: .alert, priority: 10, expiration: 0,
            collapseID: nil, id: "\(delivery.message.sequence.number)", payload: Array("{}".utf8))
    }

    static func body(_ reason: String, timestamp: UnixMilliseconds? = nil) -> [UInt8] {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(time)}".utf8)
    }
}
