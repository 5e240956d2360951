import Basics
import Delivery
import Wire

/// The push endpoint: servers with its URL and the key of the web app may send (RFC 8030, http 10, mcs-device 5.7). For a
/// subscription with a numeric sender that key is the server key, as push libraries sent before VAPID.
///
/// Messages are already encrypted and passed on unchanged.
extension HTTPSession {
    /// What the answer to a web push needs beside the core's reply.
    struct Push {
        /// The origin by which the application server addresses this server.
        var origin: String
        /// Seconds that the message is stored, which may be fewer than requested.
        var lifetimeSeconds: Int
    }

    /// Submits a message to the subscription that a token identifies.
    func push(
        _ request: HTTPRequest, token: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(RequestFault) {
            guard let target = settings.seal.name(of: token.raw) else {
                io.refuse(.invalidToken, to: token)
                throw RequestFault(
                    .notFound, "invalid subscription in the path: expected a token of this server")
            }
            let lifetime = try Self.lifetime(request)
            let priority = try Self.priority(request)
            let topic = try Self.topic(request)
            let body = try content(request)
            let (entitlement, origin) = try entitlement(of: request, now)
            let content = MessageContent(
                messageID: [], collapseKey: topic, lifetimeSeconds: lifetime, priority: priority, body: body)
            io.events.append(
                .submitted(
                    Submission(
                        requester: requester, entitlement: entitlement, target: target, content: content)))
            return .wait(.push(Push(origin: origin, lifetimeSeconds: lifetime)))
        } catch {
            return .answer(Self.refusal(error))
        }
    }

    /// Returns what entitles a request to send, and the origin by which it addresses this server.
    private func entitlement(
        of request: HTTPRequest, _ now: Now
    ) throws(RequestFault) -> (Entitlement, origin: String) {
        guard let key = HTTPAuthorization.serverKey(request.header("authorization")) else {
            let vapid = try Vapid(request)
            let audience = try vapid.check(settings: settings, now: now.machineWall)
            return (.webPush(key: vapid.publicKey), audience)
        }
        let digest = settings.digest(key)
        guard let sender = settings.senderOfKey(digest, now.wall) else {
            guard !settings.isKeySuspended(digest, now.wall) else {
                throw RequestFault(.forbidden, "The sender of the server key is suspended.")
            }
            throw RequestFault(
                .unauthorized,
                "wrong server key in Authorization: expected that of the sender, or vapid t=…, k=…")
        }
        markAuthenticated()
        return (.webPushAccount(sender), "https://\(settings.pushHosts.first ?? "localhost")")
    }

    /// Returns the answer once the message is on disk, or delivered if it has no lifetime.
    ///
    /// The location of the message contains its persistent ID; it is not an endpoint.
    static func pushResponse(_ push: Push, _ id: PersistentID) -> HTTPResponse {
        var response = HTTPResponse(
            .created, HTTPResponse.text, [], extra: ("TTL", String(push.lifetimeSeconds)))
        let path = id.text.split(separator: "%").joined(separator: "%25")
        response.location = "\(push.origin)/m/\(path)"
        return response
    }

    /// Returns the answer to a message that the core refuses.
    static func refusal(_ refusal: Refusal) -> HTTPResponse {
        switch refusal {
        case .notRegistered: Self.refusal(RequestFault(.gone, "The subscription has ended."))
        case .invalidToken:
            Self.refusal(
                RequestFault(
                    .notFound,
                    "The token belongs to a registration that the server encrypts for, not to a push endpoint."
                ))
        case .senderMismatch:
            Self.refusal(
                RequestFault(
                    .forbidden, "The subscription belongs to another key or sender than that of the request.")
            )
        case .senderSuspended:
            Self.refusal(RequestFault(.forbidden, "The sender of the web app is suspended."))
        case .deviceRateExceeded:
            Self.refusal(RequestFault(.tooManyRequests, "The device gets too many messages."))
        default: Self.refusal(RequestFault(.unavailable, "The store is unavailable, try again later."))
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

    /// Parses `TTL` (RFC 8030, 5.2), limited to `Limits.Message.lifetimeSeconds`.
    private static func lifetime(_ request: HTTPRequest) throws(RequestFault) -> Int {
        guard let text = request.header("ttl") else {
            throw RequestFault(.badRequest, "missing TTL: expected a whole number of seconds")
        }
        guard !text.isEmpty, text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw RequestFault(.badRequest, "invalid TTL: expected a whole number of seconds")
        }
        // The limit in each step also avoids an overflow.
        return text.reduce(0) { min($0 * 10 + Int($1 - 0x30), Limits.Message.lifetimeSeconds) }
    }

    /// Parses `Urgency` (RFC 8030, 5.3): only the highest wakes a device in power saving.
    private static func priority(_ request: HTTPRequest) throws(RequestFault) -> Priority {
        guard let word = request.header("urgency") else { return .normal }
        if ASCII.equals(word.raw, ignoringCase: "high") { return .high }
        for known: StaticString in ["normal", "low", "very-low"]
        where ASCII.equals(word.raw, ignoringCase: known) { return .normal }
        throw RequestFault(.badRequest, "invalid Urgency: expected very-low, low, normal or high")
    }

    /// Parses `Topic` (RFC 8030, 5.4).
    private static func topic(_ request: HTTPRequest) throws(RequestFault) -> [UInt8]? {
        guard let topic = request.header("topic") else { return nil }
        let isURLSafe = topic.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard !topic.isEmpty, topic.count <= Limits.WebPush.topicBytes, isURLSafe else {
            throw RequestFault(.badRequest, "invalid Topic: expected 1 to 32 characters of base64url")
        }
        return topic
    }

    /// Encodes the pairs with the encryption parameters, and the encrypted bytes (mcs-device 5.7).
    private func content(_ request: HTTPRequest) throws(RequestFault) -> EncodedAppData {
        // Without content the web app is only notified.
        guard !request.body.isEmpty else { return [] }
        guard request.body.count <= Limits.Message.payloadBytes else {
            throw RequestFault(.contentTooLarge, "body too large: expected at most 4,096 bytes")
        }
        guard request.header("content-encoding") != nil else {
            throw RequestFault(.badRequest, "missing Content-Encoding: expected aes128gcm or aesgcm")
        }
        guard let encryption = PushEncryption(request) else {
            throw RequestFault(
                .unsupportedMediaType, "unsupported Content-Encoding: expected aes128gcm or aesgcm")
        }
        try encryption.check(request.body, isPublicKey: settings.webPush.isPublicKey)
        var body = ByteBuffer()
        body.append(encryption.pairs())
        body.appendField(MCS.DataMessage.Field.rawData, bytes: request.body)
        return body.copied()
    }
}
