import Basics

/// The delivery channel of a registration.
public enum Channel: Sendable, Equatable {
    /// Unencrypted, over the device's MCS connection.
    case mcs
    /// Encrypted for a web app, over the connection of its browser.
    case webPush(WebKeys)
    /// Through APNs, with the app's APNs device token and its environment.
    case apns(token: [UInt8], APNsEnvironment)
}

/// The APNs environment that an app was built for (apns 2).
public enum APNsEnvironment: String, Sendable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that run from Xcode.
    case sandbox
}

extension Registration {
    /// The delivery channel.
    public var channel: Channel {
        if let web { return .webPush(web) }
        guard !apnsToken.isEmpty else { return .mcs }
        let isSandbox = apnsToken.starts(with: "s_".utf8)
        return .apns(token: Array(apnsToken.dropFirst(2)), isSandbox ? .sandbox : .production)
    }

    /// Whether messages reach the app through APNs.
    public var usesAPNs: Bool { !apnsToken.isEmpty && web == nil }
}
