import Basics
import Delivery
import Wire

/// Registration of iOS apps by their installation (mcs-device 5.6).
extension HTTPSession {
    /// Registers the APNs token of an app; the answer contains the registration token.
    func createAppleRegistration(
        _ body: JSONValue, _ project: [UInt8], _ installation: InstallationToken?, _ requester: Requester,
        _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        guard let installation else {
            throw RequestFault(
                .unauthorized,
                "missing x-goog-firebase-installations-auth: expected an access token of an installation")
        }
        guard let bundle = Self.bundle(body["bundle_id"]) else {
            throw RequestFault(.badRequest, "invalid ios.bundle_id: expected the bundle ID of the app")
        }
        let sender = installation.sender ?? SenderID(decimal: project)
        var address = AppleRegistration(
            bundle: bundle, token: try Self.appleToken(body), freshDevice: DeviceID(freshNumber()),
            freshDigest: digest(ofToken: freshNumber()))
        address.appVersion = Self.appVersion(Array((body["app_version"]?.text ?? "").utf8))
        io.events.append(
            .installation(
                InstallationRequest(
                    requester: requester, installation: installation.installation, sender: sender,
                    action: .apple(address), mark: installation.mark)))
        return .wait(.web(.named(project: project, installation: installation.installation)))
    }

    /// Returns the bundle ID of an app, or `nil` if the value is not one.
    static func bundle(_ value: JSONValue?) -> [UInt8]? {
        let bundle = Array((value?.text ?? "").utf8)
        return isBundle(bundle) ? bundle : nil
    }

    /// Whether the text can be the bundle ID of an app, which becomes a header of the requests to Apple.
    static func isBundle(_ text: [UInt8]) -> Bool {
        !text.isEmpty && text.count <= Limits.Registration.fieldBytes
            && text.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Returns the app's APNs token, prefixed with its environment.
    private static func appleToken(_ body: JSONValue) throws(RequestFault) -> [UInt8] {
        let text = Array((body["apns_token"]?.text ?? "").lowercased().utf8)
        if let token = AppleToken(text) { return token.stored }
        guard let digits = AppleToken.Digits(text[...]) else {
            throw RequestFault(.badRequest, "invalid ios.apns_token: expected hexadecimal digits")
        }
        switch (body["apns_environment"]?.text ?? "").lowercased() {
        case "sandbox", "development": return AppleToken(digits, isSandbox: true).stored
        case "", "production": return AppleToken(digits, isSandbox: false).stored
        default:
            throw RequestFault(
                .badRequest, "invalid ios.apns_environment: expected production, sandbox or development")
        }
    }
}
