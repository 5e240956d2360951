import Basics
import Delivery
import Wire

extension HTTPSession {
    /// Registers or unregisters an app (mcs-device 5.2, 5.3).
    ///
    /// Errors have status 200, because several clients repeat requests forever after any other status.
    func register(
        _ request: HTTPRequest, _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        do throws(RegistrationRefusal) {
            guard let form = try? FormBody(request.body.raw) else { throw .invalidParameters }
            guard let login = DeviceCredentials(header: request.header("authorization")) else {
                throw .authenticationFailed
            }
            let device = try Self.field(form, "device")
            guard DeviceCredentials.number(device.raw) == login.device else { throw .authenticationFailed }
            var registration = RegistrationRequest(
                requester: requester, device: DeviceID(login.device), token: digest(ofToken: login.token),
                category: try Self.field(form, "app"),
                subtype: try Self.field(form, "X-subtype", orEmpty: true),
                senderText: try Self.field(
                    form, "sender", orEmpty: true, limit: Limits.Registration.senderTextBytes),
                instance: try Self.field(
                    form, form["X-appid"] == nil ? "appid" : "X-appid", orEmpty: true))
            let scope = try Self.field(
                form, form["X-scope"] == nil ? "scope" : "X-scope", orEmpty: true)
            registration.scope = Self.scope(scope)
            registration.endedScopes = Self.endedScopes(scope, form)
            if let text = form["apns_token"], !text.isEmpty {
                guard let token = AppleToken(text) else {
                    return .answer(Self.invalidField("apns_token", AppleToken.expectation))
                }
                guard Self.isBundle(registration.category) else {
                    return .answer(Self.invalidField("app", "expected the bundle ID of the app"))
                }
                registration.apnsToken = token.stored
            }
            registration.appVersion = Self.appVersion(form["app_ver"] ?? form["X-app_ver"] ?? [])
            guard !registration.category.isEmpty else { throw .invalidParameters }
            if form["X-gcm.topic"] != nil {
                return try subscribe(form, registration, request.isFromChromium, &io)
            }
            if Self.asksForDeletion(form) {
                io.events.append(.unregister(registration))
                return .wait(
                    .unregister(
                        done: Self.deletionAnswer(form, registration.category),
                        isChromium: request.isFromChromium))
            }
            guard !registration.senderText.isEmpty else { throw .invalidSender }
            let shown =
                form["X-Goog-Firebase-Installations-Auth"]
                ?? request.header("x-goog-firebase-installations-auth")
            io.events.append(registering(registration, shown ?? [], now))
            return .wait(.register(isChromium: request.isFromChromium))
        } catch {
            return .answer(Self.refusal(error, isChromium: request.isFromChromium))
        }
    }

    /// Returns the event of a registration; with an installation ID, the installation is checked first.
    ///
    /// An invalid or expired access token counts as absent, because apps send tokens that they have kept for a week.
    private func registering(_ request: RegistrationRequest, _ shown: [UInt8], _ now: Now) -> Event {
        guard let id = Self.installation(request.instance) else { return .register(request) }
        if let token = accessToken(shown), token.installation == id, token.expiresAt > now.wall {
            var request = request
            request.isProved = true
            return requiringInstallation(.register(request), token, request.requester)
        }
        return .installation(
            InstallationRequest(
                requester: request.requester, installation: id, sender: nil,
                action: .claim(for: .register(request), by: request.device)))
    }

    /// Subscribes a registration to a topic or unsubscribes it, by the older interface on the path of registrations
    /// (mcs-device 5.4).
    private func subscribe(
        _ form: FormBody, _ request: RegistrationRequest, _ isChromium: Bool, _ io: inout SessionIO
    ) throws(RegistrationRefusal) -> Outcome {
        guard let topic = form["X-gcm.topic"].flatMap({ TopicName(path: $0) }),
            let token = form["X-subscription"] ?? form["sender"], let name = settings.seal.name(of: token.raw)
        else { throw .invalidParameters }
        guard name.device == request.device else { throw .authenticationFailed }
        io.events.append(
            .subscribe(
                TopicRequest(
                    requester: request.requester, name: name, token: request.token, topic: topic,
                    isEnd: Self.asksForDeletion(form))))
        return .wait(.unregister(done: Array("token=".utf8) + token, isChromium: isChromium))
    }

    /// Returns the answer to a registration: exactly this text, without a line end (mcs-device 5.2).
    func registered(_ name: TokenName) -> HTTPResponse {
        HTTPResponse(.ok, HTTPResponse.text, Array("token=".utf8) + settings.seal.token(for: name))
    }

    /// Returns the answer with an error word.
    static func refusal(_ refusal: RegistrationRefusal, isChromium: Bool) -> HTTPResponse {
        // Clients retry only for words that they recognise; Chromium takes QUOTA_EXCEEDED as final.
        let word: String =
            switch refusal {
            case .serviceNotAvailable, .registryFull, .tooManyUnauthenticated:
                isChromium ? "InternalServerError" : "SERVICE_NOT_AVAILABLE"
            default: refusal.rawValue
            }
        return HTTPResponse(.ok, HTTPResponse.text, Array("Error=\(word)".utf8))
    }

    /// Returns the answer for an invalid field of an iOS app, whose library reads `Error=` line by line: the second line names the
    /// field and what is expected.
    private static func invalidField(_ name: StaticString, _ expectation: String) -> HTTPResponse {
        let word = RegistrationRefusal.invalidParameters.rawValue
        return HTTPResponse(
            .ok, HTTPResponse.text, Array("Error=\(word)\ninvalid \(name): \(expectation)".utf8))
    }

    /// Parses a scope; the spellings that stand for everything a sender may send are one scope.
    private static func scope(_ text: [UInt8]) -> RegistrationScope {
        guard !text.isEmpty else { return .unnamed }
        let all = ["*", "GCM", "FCM"]
        return all.contains { Array($0.utf8) == text } ? .all : .only(text)
    }

    /// Returns the scopes that a deletion ends (mcs-device 5.3).
    ///
    /// Without a scope, Chromium sends `gcm_unreg_caller` if the app itself deletes its `chrome.gcm.register` registration; a
    /// phone sends only the package when the app is uninstalled.
    private static func endedScopes(_ text: [UInt8], _ form: FormBody) -> EndedScopes {
        guard text != [UInt8(ascii: "*")] else { return .named }
        guard text.isEmpty else { return .one(scope(text)) }
        return form["gcm_unreg_caller"] == Array("false".utf8) ? .unnamed : .any
    }

    /// Returns a field that is stored as received: text within the limit, without control characters.
    private static func field(
        _ form: FormBody, _ name: StaticString, orEmpty: Bool = false,
        limit: Int = Limits.Registration.fieldBytes
    ) throws(RegistrationRefusal) -> [UInt8] {
        guard let value = form[name] else {
            if orEmpty { return [] }
            throw .invalidParameters
        }
        guard value.count <= limit, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            String(validating: value, as: UTF8.self) != nil
        else { throw .invalidParameters }
        return value
    }

    /// Returns the version of an app, or an empty one if it cannot be stored: it is not a reason to refuse the request.
    static func appVersion(_ text: [UInt8]) -> [UInt8] {
        let isFit =
            text.count <= Limits.Registration.appVersionBytes && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isFit && String(validating: text, as: UTF8.self) != nil ? text : []
    }

    private static func asksForDeletion(_ form: FormBody) -> Bool {
        for name: StaticString in ["delete", "X-delete"] {
            guard let value = form[name] else { continue }
            if value.raw.equals("true") || value.raw.equals("1") { return true }
        }
        return form["iid-operation"] == Array("delete".utf8)
    }

    /// Returns the answer to a deletion: `token=` for clients of the push API, `deleted=` for others, and the app
    /// (mcs-device 5.3).
    private static func deletionAnswer(_ form: FormBody, _ app: [UInt8]) -> [UInt8] {
        let isInstance =
            form["gcm_unreg_caller"] == nil && (form["scope"] ?? form["X-scope"] ?? form["appid"]) != nil
        return Array((isInstance ? "token=" : "deleted=").utf8) + app
    }
}

/// `AidLogin <Android ID>:<security token>`, both decimal.
struct DeviceCredentials {
    /// The Android ID.
    var device: UInt64
    /// The security token.
    var token: UInt64

    /// Parses the header; `nil` if it is absent or has another form.
    init?(header: [UInt8]?) {
        guard let header, header.count > 9,
            ASCII.equals(header.raw.extracting(0..<9), ignoringCase: "aidlogin ")
        else { return nil }
        let parts = header[9...].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let device = Self.number(Array(parts[0]).raw),
            let token = Self.number(Array(parts[1]).raw), device != 0, token != 0
        else { return nil }
        self.device = device
        self.token = token
    }

    /// Parses a decimal 64-bit number; a negative one has the same bits, as microG prints them.
    static func number(_ text: RawSpan) -> UInt64? {
        let isNegative = text.byteCount > 0 && text.byte(at: 0) == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.byteCount > start, text.byteCount <= 20 else { return nil }
        var number: UInt64 = 0
        for at in start..<text.byteCount {
            let digit = text.byte(at: at) &- 0x30
            guard digit < 10 else { return nil }
            let (product, over) = number.multipliedReportingOverflow(by: 10)
            let (sum, past) = product.addingReportingOverflow(UInt64(digit))
            guard !over, !past else { return nil }
            number = sum
        }
        guard isNegative else { return number }
        return number <= 1 << 63 ? 0 &- number : nil
    }
}
