import APNsGateway
import Basics
import Delivery
import Transport
import Wire

/// Deliveries for the tests of the mapper: a stored message to the app `com.example.app`, accepted at second 1,533,737,417.
struct MappingSample {
    static let acceptedAt: UnixMilliseconds = 1_533_737_417_000

    var notification: [(String, String)] = []
    var data: [(String, String)] = []
    var apns = ""
    var collapseKey: [UInt8]?
    var lifetime: Int64 = 3_600
    var isStored = true
    var token = "p_00ff"
    var instance = ""
    var topicPath = ""
    var sequence: UInt64 = 1_533_737_417_425_695
    var device: UInt64 = 77
    var attempt = 0
    var settings = APNsMappingSettings { Digest.sha256($0) }

    var delivery: GatewayDelivery {
        var body = ByteBuffer()
        for pair in data { append(pair.0, pair.1, to: &body) }
        for pair in notification { append("gcm.notification.\(pair.0)", pair.1, to: &body) }
        if !notification.isEmpty { append("gcm.n.e", "1", to: &body) }
        let name = RegistrationName(device: DeviceID(device), number: RegistrationNumber(1))
        let message = StoredMessage(
            device: name.device, sequence: SequenceNumber(sequence), salt: 0x0422_C091,
            registration: name.number, sender: SenderID(813_017_546_046),
            fields: MessageFields(
                messageID: [], collapseKey: collapseKey, body: body.copied(), apns: Array(apns.utf8)),
            acceptedAt: Self.acceptedAt, expiresAt: Self.acceptedAt + lifetime * 1_000)
        var parts = RegisteredApp.Parts(
            category: Array("com.example.app".utf8), instance: Array(instance.utf8))
        parts.apnsToken = Array(token.utf8)
        return GatewayDelivery(
            message: message, registration: name, app: RegisteredApp(parts), registeredAt: 0,
            topicPath: Array(topicPath.utf8), isStored: isStored, attempt: attempt)
    }

    func request(now: UnixMilliseconds = acceptedAt) throws(APNsRefusal) -> APNsRequest {
        try APNsMapper.request(for: delivery, settings: settings, now: now)
    }

    func text() throws -> String { String(decoding: try request().payload, as: UTF8.self) }

    func payload() throws -> JSONValue { try JSONValue(parsing: request().payload.raw) }

    /// The `aps` member as text.
    func aps() throws -> String? { try payload()["aps"]?.compact }

    /// Returns the refusal, or `nil` if there is none.
    func refusal() -> APNsRefusal? {
        do throws(APNsRefusal) {
            _ = try request()
            return nil
        } catch { return error }
    }

    private func append(_ key: String, _ value: String, to body: inout ByteBuffer) {
        AppData.append(key: Array(key.utf8).raw, value: Array(value.utf8).raw, to: &body)
    }
}
