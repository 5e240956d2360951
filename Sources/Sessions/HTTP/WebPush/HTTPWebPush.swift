import Basics
import Delivery
import Wire

/// The endpoint of web push: a server with its address and the key of the web app may send (RFC 8030, http 10, mcs-device 5.7).
///
/// What is sent is encrypted already and passed on as it is.
extension HTTPSession {
    /// What the answer needs beside what the core says.
    struct Push {
        /// The origin that the application server knows this server by.
        var origin: String
        /// Seconds that it is kept, which may be fewer than asked for.
        var lifetimeSeconds: Int
    }

    /// Takes a message for the subscription that a token names.
    func push(
        _ request: HTTPRequest, token: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(RequestFault) {
            guard let target = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, to: token)
                throw RequestFault(.notFound, "The path names no subscription of this server.")
            }
            let lifetime = try Self.lifetime(request)
            let priority = try Self.priority(request)
            let topic = try Self.topic(request)
            let body = try Self.content(request)
            let vapid = try Vapid(request)
            let audience = try vapid.check(settings: settings, now: now.wall)
            let content = MessageContent(
                messageID: [], collapseKey: topic, lifetimeSeconds: lifetime, priority: priority, body: body)
            io.events.append(
                .submitted(
                    Submission(
                        requester: requester, entitlement: .webPush(key: vapid.publicKey), target: target,
                        content: content)))
            return .wait(.push(Push(origin: audience, lifetimeSeconds: lifetime)))
        } catch {
            return .answer(Self.refusal(error))
        }
    }

    /// The answer once the message is on disk, or handed over where it has no lifetime.
    ///
    /// The address of the message is its id for the device; nothing more can be had there.
    static func pushed(_ push: Push, _ id: PersistentID) -> HTTPResponse {
        var response = HTTPResponse(
            .created, HTTPResponse.text, [], extra: ("TTL", String(push.lifetimeSeconds)))
        let path = id.text.split(separator: "%").joined(separator: "%25")
        response.location = "\(push.origin)/m/\(path)"
        return response
    }

    /// The answer to a message that the core refuses.
    static func refusal(_ refusal: Refusal) -> HTTPResponse {
        switch refusal {
        case .notRegistered: Self.refusal(RequestFault(.gone, "The subscription has ended."))
        case .invalidToken:
            Self.refusal(
                RequestFault(.notFound, "The token is one that the server encrypts for, and no endpoint."))
        case .senderMismatch:
            Self.refusal(
                RequestFault(.forbidden, "The subscription is not for the key that the token is signed with.")
            )
        case .deviceRateExceeded:
            Self.refusal(RequestFault(.tooManyRequests, "The device gets too many messages."))
        default: Self.refusal(RequestFault(.unavailable, "The store cannot take it now."))
        }
    }

    private static func refusal(_ fault: RequestFault) -> HTTPResponse {
        var response: HTTPResponse = .plain(fault)
        switch fault.status {
        case .unauthorized: response.extra = ("WWW-Authenticate", "vapid")
        case .unsupportedMediaType: response.extra = ("Accept-Encoding", "aes128gcm, aesgcm")
        case .tooManyRequests, .unavailable:
            response.extra = ("Retry-After", String(Limits.WebPush.retrySeconds))
        default: break
        }
        return response
    }

    // MARK: Headers

    /// `TTL` (RFC 8030, 5.2), cut to what is kept at most.
    private static func lifetime(_ request: HTTPRequest) throws(RequestFault) -> Int {
        guard let text = request.header("ttl") else {
            throw RequestFault(.badRequest, "TTL: it is missing.")
        }
        guard !text.isEmpty, text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw RequestFault(.badRequest, "TTL: it is no whole number of seconds.")
        }
        // More digits than the most that is kept are more seconds too.
        return text.reduce(0) { min($0 * 10 + Int($1 - 0x30), Limits.Message.lifetimeSeconds) }
    }

    /// `Urgency` (RFC 8030, 5.3): only the highest wakes a device that saves its battery.
    private static func priority(_ request: HTTPRequest) throws(RequestFault) -> Priority {
        guard let word = request.header("urgency") else { return .normal }
        if ASCII.equals(word.raw, ignoringCase: "high") { return .high }
        for known: StaticString in ["normal", "low", "very-low"]
        where ASCII.equals(word.raw, ignoringCase: known) { return .normal }
        throw RequestFault(.badRequest, "Urgency: it is none of very-low, low, normal and high.")
    }

    /// `Topic` (RFC 8030, 5.4).
    private static func topic(_ request: HTTPRequest) throws(RequestFault) -> [UInt8]? {
        guard let topic = request.header("topic") else { return nil }
        let isURLSafe = topic.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard !topic.isEmpty, topic.count <= Limits.WebPush.topicBytes, isURLSafe else {
            throw RequestFault(.badRequest, "Topic: it is not 1 to 32 characters of base64url.")
        }
        return topic
    }

    /// The pairs that tell the device how to decrypt, and the bytes for it to decrypt (mcs-device 5.7).
    private static func content(_ request: HTTPRequest) throws(RequestFault) -> EncodedAppData {
        var body = ByteBuffer()
        // Without content the web app only hears that something happened.
        guard !request.body.isEmpty else { return [] }
        guard request.body.count <= Limits.Message.payloadBytes else {
            throw RequestFault(.contentTooLarge, "The body is over 4,096 bytes.")
        }
        guard request.header("content-encoding") != nil else {
            throw RequestFault(.badRequest, "Content-Encoding: it is missing.")
        }
        guard let encryption = PushEncryption(request) else {
            throw RequestFault(
                .unsupportedMediaType, "Content-Encoding: only aes128gcm and aesgcm are taken.")
        }
        if case .aesgcm(let key, let salt) = encryption, key == nil || salt == nil {
            throw RequestFault(.badRequest, "Crypto-Key and Encryption: aesgcm needs both.")
        }
        do throws(Refusal) { body.append(try encryption.pairs()) } catch {
            throw RequestFault(.badRequest, "Crypto-Key and Encryption: they are no such headers.")
        }
        body.appendField(MCS.DataMessage.Field.rawData, bytes: request.body)
        return body.copied()
    }
}
