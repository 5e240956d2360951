import Basics
public import Wire

/// The HTTPS requests of a device, and the parsing of their answers (mcs-device 5).
public enum DeviceCalls {
    /// An app to register.
    public struct App: Sendable {
        /// `app`: package or extension name.
        public var category: String
        /// `sender`: a sender ID, or any other value that a client sends.
        public var sender: String
        /// `X-subtype`; `nil` leaves it out.
        public var subtype: String?
        /// `X-appid`: the instance of the app, which changes when its data is cleared; `nil` leaves it out.
        public var instance: String?

        /// Creates an app.
        public init(category: String, sender: String, subtype: String? = nil, instance: String? = nil) {
            self.category = category
            self.sender = sender
            self.subtype = subtype
            self.instance = instance
        }
    }

    /// Returns the check-in of a new device or of an existing one.
    public static func checkIn(_ identity: DeviceIdentity?) -> HTTPCall {
        var call = HTTPCall("POST", "/checkin")
        call.add("Content-Type", "application/x-protobuf")
        var request = CheckInRequest()
        request.androidID = identity?.androidID ?? 0
        request.securityToken = identity?.securityToken.revealed ?? 0
        var body = ByteBuffer()
        request.append(to: &body)
        call.body = body.copied()
        return call
    }

    /// Returns the identity in the answer to a check-in.
    public static func identity(_ answer: HTTPAnswer) throws(ClientError) -> DeviceIdentity {
        guard answer.status == 200 else { throw .status(answer.status, answer.text) }
        do {
            let response = try CheckInResponse(decoding: answer.body.raw)
            return DeviceIdentity(
                androidID: response.androidID, securityToken: Redacted(response.securityToken))
        } catch { throw .malformed("expected a check-in response") }
    }

    /// Returns the registration of an app.
    public static func register(_ app: App, _ identity: DeviceIdentity) -> HTTPCall {
        call(app, identity) { _ in }
    }

    /// Returns the token in the answer to a registration.
    public static func token(_ answer: HTTPAnswer) throws(ClientError) -> String {
        try value(answer, of: "token=")
    }

    /// Returns the removal of a registration.
    public static func unregister(_ app: App, _ identity: DeviceIdentity) -> HTTPCall {
        call(app, identity) { $0.add("delete", [0x31]) }
    }

    /// Returns the app in the answer to the removal of a registration.
    public static func unregistered(_ answer: HTTPAnswer) throws(ClientError) -> String {
        try value(answer, of: "deleted=")
    }

    /// Returns the subscription of a registration to a topic, or its end (mcs-device 5.4). For the daemon's tests; no tool uses it.
    public static func topic(
        _ name: String, token: String, isEnd: Bool = false, _ app: App, _ identity: DeviceIdentity
    ) -> HTTPCall {
        var subscriber = app
        subscriber.sender = token
        subscriber.subtype = token
        let topic = Array("/topics/\(name)".utf8)
        return call(subscriber, identity) { form in
            form.add("X-subscription", Array(token.utf8))
            form.add("X-gcm.topic", topic)
            form.add("X-scope", topic)
            if isEnd { form.add("delete", [0x31]) }
        }
    }

    /// Returns the request for a token whose messages the server encrypts for a web app with an endpoint (mcs-device 5.6).
    ///
    /// `publicKey` and `auth` are the keys of the app's subscription.
    public static func subscribe(
        publicKey: [UInt8], auth: [UInt8], endpoint: String, sender: String
    ) -> HTTPCall {
        var call = HTTPCall("POST", "/fcm/connect/subscribe")
        call.add("Content-Type", "application/x-www-form-urlencoded")
        var form = FormWriter()
        form.add("authorized_entity", Array(sender.utf8))
        form.add("endpoint", Array(endpoint.utf8))
        form.add(
            "encryption_key", Array(Base64.text(publicKey, urlSafe: true, padded: false).utf8))
        form.add("encryption_auth", Array(Base64.text(auth, urlSafe: true, padded: false).utf8))
        call.body = form.bytes.copied()
        return call
    }

    /// Returns the token in the answer to a subscription.
    public static func subscribed(_ answer: HTTPAnswer) throws(ClientError) -> String {
        guard answer.status == 200 else { throw .status(answer.status, answer.text) }
        guard let json = try? JSONValue(parsing: answer.body.raw), let token = json["token"]?.text else {
            throw .malformed(answer.text)
        }
        return token
    }

    private static func call(
        _ app: App, _ identity: DeviceIdentity, _ more: (inout FormWriter) -> Void
    ) -> HTTPCall {
        var call = HTTPCall("POST", "/c2dm/register3")
        let token = String(identity.securityToken.revealed)
        call.headers.append(("Authorization", Redacted("AidLogin \(identity.androidID):\(token)")))
        call.add("Content-Type", "application/x-www-form-urlencoded")
        var form = FormWriter()
        form.add("app", Array(app.category.utf8))
        form.add("device", Array(String(identity.androidID).utf8))
        form.add("sender", Array(app.sender.utf8))
        if let subtype = app.subtype { form.add("X-subtype", Array(subtype.utf8)) }
        if let instance = app.instance { form.add("X-appid", Array(instance.utf8)) }
        more(&form)
        call.body = form.bytes.copied()
        return call
    }

    private static func value(_ answer: HTTPAnswer, of key: String) throws(ClientError) -> String {
        let text = answer.text
        if text.hasPrefix("Error=") { throw .refused(String(text.dropFirst(6))) }
        guard answer.status == 200 else { throw .status(answer.status, text) }
        guard text.hasPrefix(key), text.utf8.count > key.utf8.count else { throw .malformed(text) }
        return String(text.dropFirst(key.count))
    }
}
