public import Basics

/// For what an app asked to be sent messages: `X-scope` of its registration (mcs-device 5.2).
public enum RegistrationScope: Sendable, Equatable {
    /// Registered before it was recorded whether the request named a scope.
    case unrecorded
    /// The request named none: `chrome.gcm.register` and old Android apps.
    case unnamed
    /// `*`, `GCM` or `FCM`, which all stand for whatever the sender sends: `chrome.instanceID` and Firebase.
    case all
    /// Any other scope, as sent; never empty.
    case only([UInt8])
}

/// Which registrations of an app a request to unregister ends, by their scopes (mcs-device 5.3).
public enum EndedScopes: Sendable, Equatable {
    /// All: an app that was uninstalled, and old Android apps.
    case any
    /// Those that named none: the app gives up what `chrome.gcm.register` gave it, and nothing else.
    case unnamed
    /// Those that named one. Where the request names a subtype, which only one app has, all of that subtype.
    case named
    /// Those of one scope.
    case one(RegistrationScope)
}

/// What an app said of itself when it registered: made once, and shared by all copies of its registration.
///
/// A message is checked against the registration and carries some of it to the device's session; one reference is counted
/// there, not eight.
public final class RegisteredApp: Sendable, Equatable {
    /// All that was said.
    public struct Parts: Sendable, Equatable {
        /// `app` of the request: package, extension or product name.
        public var category: [UInt8]
        /// `X-subtype` as sent; empty where absent.
        public var subtype: [UInt8]
        /// `sender` as sent: a sender ID, or the key of a web app.
        public var senderText: [UInt8]
        /// Further accounts that may send to it, where the app named several.
        public var otherSenders: [SenderID]
        /// `X-appid` as sent: the instance of the app that asked; empty where absent.
        public var instance: [UInt8]
        /// Whether a token of the installation that `instance` names was shown.
        public var isProved = false
        /// For what it asked to be sent messages.
        public var scope = RegistrationScope.unrecorded
        /// `apns_token` as sent: `s_` or `p_` for the environment, and hexadecimal digits; empty where absent.
        public var apnsToken: [UInt8] = []
        /// The version of the app as it told it last; empty where it told none.
        public var appVersion: [UInt8] = []
        /// The keys of a web app: the server encrypts what is sent to it; nil for every other kind (mcs-device 7.1).
        public var web: WebKeys?

        /// What was said; all parts are the caller's.
        public init(
            category: [UInt8], subtype: [UInt8] = [], senderText: [UInt8] = [], otherSenders: [SenderID] = [],
            instance: [UInt8] = [], web: WebKeys? = nil
        ) {
            self.category = category
            self.subtype = subtype
            self.senderText = senderText
            self.otherSenders = otherSenders
            self.instance = instance
            self.web = web
        }
    }

    /// All that was said.
    public let parts: Parts

    /// Shares it.
    public init(_ parts: Parts) { self.parts = parts }

    /// Another one that differs.
    func with(_ change: (inout Parts) -> Void) -> RegisteredApp {
        var parts = parts
        change(&parts)
        return RegisteredApp(parts)
    }

    public static func == (a: RegisteredApp, b: RegisteredApp) -> Bool { a === b || a.parts == b.parts }
}

/// One app of one device that app servers of one sender may address.
public struct Registration: Sendable, Equatable {
    /// Device and number: what the token says.
    public var name: RegistrationName
    /// What the app said of itself.
    public private(set) var app: RegisteredApp
    /// The account that may send to it; nil where `senderText` is no sender ID. Of several the first known one.
    public var sender: SenderID?
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    /// A registration; all parts are the caller's.
    public init(
        name: RegistrationName, category: [UInt8], subtype: [UInt8], senderText: [UInt8], sender: SenderID?,
        otherSenders: [SenderID] = [], instance: [UInt8] = [], web: WebKeys? = nil,
        createdAt: UnixMilliseconds
    ) {
        self.name = name
        app = RegisteredApp(
            .init(
                category: category, subtype: subtype, senderText: senderText, otherSenders: otherSenders,
                instance: instance, web: web))
        self.sender = sender
        self.createdAt = createdAt
    }

    /// Whether an account may send to it.
    public func allows(_ sender: SenderID) -> Bool {
        self.sender == sender || (!otherSenders.isEmpty && otherSenders.contains(sender))
    }

    /// Whether it is of the same app on the same device, for the same senders: the newest of those replaces the others.
    ///
    /// The registration with keys is another one than the endpoint it was made from, though app and senders are the same; and
    /// one with other keys is another one too, since whoever knows the endpoint can make it, and must replace nothing.
    public func isSameApp(as other: Registration) -> Bool {
        guard web == nil else { return isOfSameEndpoint(as: other) && web == other.web }
        return category == other.category && subtype == other.subtype && senderText == other.senderText
            && other.web == nil && (scope == other.scope || knownScope == other.knownScope)
    }

    /// Whether both have keys, and were made for the same sender from the same web push endpoint.
    func isOfSameEndpoint(as other: Registration) -> Bool {
        web != nil && other.web != nil && category == other.category && subtype == other.subtype
            && senderText == other.senderText && sender == other.sender
    }

    /// Whether it has keys, and was made from the endpoint that another one with keys was made from, for whichever sender.
    func isOfEndpoint(_ other: Registration) -> Bool {
        web != nil && category == other.category && subtype == other.subtype
    }

    /// Whether it is an endpoint of web push: of an application server's key, or of a web app of a browser.
    var isEndpoint: Bool {
        web == nil && (WebKeys.isPoint(senderText) || subtype.starts(with: "wp:".utf8))
    }

    /// The scope; where it was not recorded, what the clients do of which one is known: those that name an instance name a
    /// scope that stands for all, and the others none.
    private var knownScope: RegistrationScope {
        guard scope == .unrecorded else { return scope }
        return instance.isEmpty ? .unnamed : .all
    }

    /// Whether a request with this scope, for the same app and senders, is answered with this registration.
    func isFor(_ scope: RegistrationScope, instance: [UInt8]) -> Bool {
        guard self.scope == .unrecorded else { return self.scope == scope }
        // Without an instance it may be either: the first request that names none tells.
        return knownScope == scope || scope == .all && instance.isEmpty
    }

    /// Whether a request to unregister, for this app and sender, ends this registration.
    func isEnded(by request: RegistrationRequest) -> Bool {
        let mayBeNamed = scope == .unrecorded && (!instance.isEmpty || request.instance.isEmpty)
        switch request.endedScopes {
        case .any: return true
        case .unnamed: return knownScope == .unnamed
        case .named: return !request.subtype.isEmpty || mayBeNamed || knownScope != .unnamed
        case .one(.all): return scope == .all || mayBeNamed
        case .one(let one): return scope == one
        }
    }

    /// Whether it is of the same app on the same device, for whichever senders. The subtype of a web app tells it apart from
    /// the others of its browser; any other is just a sender ID.
    func isOfApp(_ category: [UInt8], subtype: [UInt8]) -> Bool {
        let isWeb = self.subtype.starts(with: "wp:".utf8) || subtype.starts(with: "wp:".utf8)
        return self.category == category && (!isWeb || self.subtype == subtype)
    }
}

extension Registration {
    /// See `RegisteredApp.Parts`.
    public var category: [UInt8] {
        get { app.parts.category }
        set { app = app.with { $0.category = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var subtype: [UInt8] {
        get { app.parts.subtype }
        set { app = app.with { $0.subtype = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var senderText: [UInt8] {
        get { app.parts.senderText }
        set { app = app.with { $0.senderText = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var otherSenders: [SenderID] {
        get { app.parts.otherSenders }
        set { app = app.with { $0.otherSenders = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var instance: [UInt8] {
        get { app.parts.instance }
        set { app = app.with { $0.instance = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var isProved: Bool {
        get { app.parts.isProved }
        set { app = app.with { $0.isProved = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var scope: RegistrationScope {
        get { app.parts.scope }
        set { app = app.with { $0.scope = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var apnsToken: [UInt8] {
        get { app.parts.apnsToken }
        set { app = app.with { $0.apnsToken = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var appVersion: [UInt8] {
        get { app.parts.appVersion }
        set { app = app.with { $0.appVersion = newValue } }
    }

    /// See `RegisteredApp.Parts`.
    public var web: WebKeys? {
        get { app.parts.web }
        set { app = app.with { $0.web = newValue } }
    }
}

extension Registration {
    /// The Firebase installation that it was made for: where the instance has the form of one.
    public var installation: [UInt8]? {
        guard instance.count == InstallationToken.idLength,
            instance.allSatisfy({ octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { return nil }
        return instance
    }
}
