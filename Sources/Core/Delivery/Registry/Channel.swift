public import Basics

/// The delivery channel of a registration.
public enum Channel: Sendable, Equatable {
    /// Unencrypted, over the device's MCS connection.
    case mcs
    /// Encrypted for a web app, over the connection of its browser.
    case webPush(WebKeys)
    /// Through APNs, with the app's APNs device token and its environment.
    case apns(token: [UInt8], APNsEnvironment)
}

/// The APNs environment that an app was built for (apns 1.1).
public enum APNsEnvironment: String, Sendable, CaseIterable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that run from Xcode.
    case sandbox

    /// The environment of a device token in its stored form (`AppleToken`).
    init(ofToken token: [UInt8]) { self = AppleToken.isSandbox(token) ? .sandbox : .production }
}

/// What APNs has reported about the device token of a registration (apns 4.2).
public struct APNsTokenState: Sendable, Equatable {
    /// When the app last reported its device token, milliseconds since 1970; `nil` if not since its installation made the registration,
    /// or an app server imported it.
    public var confirmedAt: UnixMilliseconds?
    /// When Apple first refused the device token as unknown, after it last accepted it; `nil` if it did not.
    public var unknownSince: UnixMilliseconds?
    /// Since when Apple has reported that the device token belongs to another app; `nil` if it does not.
    public var mismatchedSince: UnixMilliseconds?
    /// Why the registration receives nothing any more; `nil` while it does.
    public var end: End?

    /// The end of a device token.
    public struct End: Sendable, Equatable {
        /// Apple's verdict.
        public var verdict: APNsVerdict
        /// When this server received the verdict, milliseconds since 1970.
        public var seenAt: UnixMilliseconds

        public init(verdict: APNsVerdict, seenAt: UnixMilliseconds) {
            self.verdict = verdict
            self.seenAt = seenAt
        }
    }

    /// Creates the state of a device token on which there is no report.
    public init() {}
}

extension Registration {
    /// The delivery channel.
    public var channel: Channel {
        if let web { return .webPush(web) }
        guard !apnsToken.isEmpty else { return .mcs }
        return .apns(token: Array(AppleToken.shownDigits(ofStored: apnsToken)), apnsEnvironment)
    }

    /// The environment of its device token.
    var apnsEnvironment: APNsEnvironment { APNsEnvironment(ofToken: apnsToken) }

    /// When the app last reported its device token, first with the registration itself; milliseconds since 1970. `nil` if it never
    /// did because an app server imported the token: an app that registers has an installation (`DeviceHub+Apple`), or is confirmed.
    var apnsReportedAt: UnixMilliseconds? { apnsState.confirmedAt ?? (instance.isEmpty ? nil : createdAt) }

    /// Whether messages reach the app through APNs.
    public var usesAPNs: Bool { !apnsToken.isEmpty && web == nil }
}
