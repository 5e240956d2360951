import Basics

/// How messages reach the app of a registration.
public enum Channel: Sendable, Equatable {
    /// As they are, over the device's MCS connection.
    case mcs
    /// Encrypted for a web app, over the connection of its browser.
    case webPush(WebKeys)
    /// By way of Apple: what Apple gave the app, and where that is good.
    case apns(token: [UInt8], APNsEnvironment)
}

/// Which of Apple's services an app was built for (apns 2).
public enum APNsEnvironment: String, Sendable {
    /// Apps from the store, and those that are tested by it.
    case production
    /// Apps that run from Xcode.
    case sandbox
}

extension Registration {
    /// How messages reach the app.
    public var channel: Channel {
        if let web { return .webPush(web) }
        guard !apnsToken.isEmpty else { return .mcs }
        let isSandbox = apnsToken.starts(with: "s_".utf8)
        return .apns(token: Array(apnsToken.dropFirst(2)), isSandbox ? .sandbox : .production)
    }

    /// Whether messages reach the app by way of Apple.
    public var isByAPNs: Bool { !apnsToken.isEmpty && web == nil }
}
