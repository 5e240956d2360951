public import Basics

/// The scope of a registration: `X-scope` of the request (mcs-device 5.2).
public enum RegistrationScope: Sendable, Equatable {
    /// Registered before the server recorded scopes.
    case unrecorded
    /// The request named no scope: `chrome.gcm.register` and old Android apps.
    case unnamed
    /// `*`, `GCM` or `FCM`, which all mean any message of the sender: `chrome.instanceID` and Firebase.
    case all
    /// Any other scope, as sent; never empty.
    case only([UInt8])
}

/// The scopes whose registrations a request to unregister ends (mcs-device 5.3).
public enum EndedScopes: Sendable, Equatable {
    /// Every scope: an app that was uninstalled, and old Android apps.
    case any
    /// Registrations without a scope: the app gives up only the token from `chrome.gcm.register`.
    case unnamed
    /// Registrations with a scope. If the request names a subtype, which only one app has, all registrations of that subtype.
    case named
    /// Registrations with this scope.
    case one(RegistrationScope)
}

/// The parameters that an app registered with, immutable and shared by all copies of its registration.
///
/// A message is checked against the registration and carries parts of it to the device's session; a copy there costs one
/// reference count instead of eight.
public final class RegisteredApp: Sendable, Equatable {
    /// The values of the parameters.
    public struct Parts: Sendable, Equatable {
        /// `app` of the request: package, extension or product name.
        public var category: [UInt8]
        /// `X-subtype` as sent; empty where absent.
        public var subtype: [UInt8]
        /// `sender` as sent: a sender ID, or the application server key of a web app.
        public var senderText: [UInt8]
        /// Further accounts that may send to it, if the app named several.
        public var otherSenders: [SenderID]
        /// `X-appid` as sent: the instance of the app; empty where absent.
        public var instance: [UInt8]
        /// Whether the app presented a token of the installation that `instance` names.
        public var isProved = false
        /// Whether its token begins with `instance`. Tokens from before this was done, and those of apps that named no ID, do not.
        public var isTokenPrefixed = false
        /// The scope of the registration.
        public var scope = RegistrationScope.unrecorded
        /// `apns_token` as sent: `s_` or `p_` for the environment, and hexadecimal digits; empty where absent.
        public var apnsToken: [UInt8] = []
        /// What APNs has reported about this device token.
        public var apnsState = APNsTokenState()
        /// The version that the app last reported; empty if it reported none.
        public var appVersion: [UInt8] = []
        /// The keys of a web app that the server encrypts messages for. `nil` for every other kind (mcs-device 7.1).
        public var web: WebKeys?

        /// Creates the parameters of a registration.
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

    /// The values of the parameters.
    public let parts: Parts

    /// Creates a shared, immutable copy of the parameters.
    public init(_ parts: Parts) { self.parts = parts }

    /// Returns a changed copy.
    func with(_ change: (inout Parts) -> Void) -> RegisteredApp {
        var parts = parts
        change(&parts)
        return RegisteredApp(parts)
    }

    public static func == (a: RegisteredApp, b: RegisteredApp) -> Bool { a === b || a.parts == b.parts }
}

/// The registration of an app on a device with a sender, addressed by a registration token.
public struct Registration: Sendable, Equatable {
    /// Device and number, which the token encodes.
    public var name: RegistrationName
    /// The parameters that the app registered with.
    public private(set) var app: RegisteredApp
    /// The account that may send to it; the first known account if there are several. `nil` if `senderText` is not a sender ID.
    public var sender: SenderID?
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    /// Creates a registration.
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

    /// Creates a registration with parameters that may be shared.
    public init(
        name: RegistrationName, app: RegisteredApp, sender: SenderID?, createdAt: UnixMilliseconds
    ) {
        self.name = name
        self.app = app
        self.sender = sender
        self.createdAt = createdAt
    }

    /// Whether an account may send to it.
    public func allows(_ sender: SenderID) -> Bool {
        self.sender == sender || (!otherSenders.isEmpty && otherSenders.contains(sender))
    }

    /// Whether it is of the same app on the same device, for the same senders: the newest such registration replaces the others.
    ///
    /// A registration with keys differs from the endpoint that it was made from, although app and senders are the same.
    /// Registrations with different keys differ too: anyone with the endpoint can make one, which must not replace another.
    public func isSameApp(as other: Registration) -> Bool {
        guard web == nil else { return isOfSameEndpoint(as: other) && web == other.web }
        return category == other.category && subtype == other.subtype && senderText == other.senderText
            && other.web == nil && (scope == other.scope || knownScope == other.knownScope)
    }

    /// Whether both have keys and were made for the same sender from the same web push endpoint.
    func isOfSameEndpoint(as other: Registration) -> Bool {
        web != nil && other.web != nil && category == other.category && subtype == other.subtype
            && senderText == other.senderText && sender == other.sender
    }

    /// Whether it has keys and was made from the same web push endpoint as another registration, for any sender.
    func isOfEndpoint(_ other: Registration) -> Bool {
        web != nil && category == other.category && subtype == other.subtype
    }

    /// Whether it is a web push endpoint: for an application server key, or of a web app in a browser.
    var isEndpoint: Bool {
        web == nil && (WebKeys.isPoint(senderText) || subtype.starts(with: "wp:".utf8))
    }

    /// The scope, inferred from the behaviour of known clients if it was not recorded: those that name an instance also name a
    /// scope that means all; the others name no scope.
    private var knownScope: RegistrationScope {
        guard scope == .unrecorded else { return scope }
        return instance.isEmpty ? .unnamed : .all
    }

    /// Whether a request with this scope, for the same app and senders, is answered with this registration.
    func isFor(_ scope: RegistrationScope, instance: [UInt8]) -> Bool {
        guard self.scope == .unrecorded else { return self.scope == scope }
        // Without an instance it may be either: the first request without one decides.
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

    /// Whether it is of the same app on the same device, for any senders. The subtype of a web app distinguishes it from other
    /// apps of its browser; any other subtype is just a sender ID.
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
        set {
            app = app.with {
                $0.instance = newValue
                $0.isTokenPrefixed = $0.isTokenPrefixed && TokenPrefix(newValue) != nil
            }
        }
    }

    /// See `RegisteredApp.Parts`.
    public var isProved: Bool {
        get { app.parts.isProved }
        set { app = app.with { $0.isProved = newValue } }
    }

    /// See `RegisteredApp.Parts`. It stays false if the instance does not have the form of an ID.
    public var isTokenPrefixed: Bool {
        get { app.parts.isTokenPrefixed }
        set { app = app.with { $0.isTokenPrefixed = newValue && TokenPrefix($0.instance) != nil } }
    }

    /// Makes its token begin with the ID that an app names, if that is the instance of this registration.
    public mutating func prefixToken(with id: [UInt8]) {
        guard !isTokenPrefixed, id == instance else { return }
        isTokenPrefixed = true
    }

    /// What its token is made from.
    public var tokenName: TokenName {
        TokenName(name, prefix: isTokenPrefixed ? TokenPrefix(instance) : nil)
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
    public var apnsState: APNsTokenState {
        get { app.parts.apnsState }
        set { app = app.with { $0.apnsState = newValue } }
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
    /// The Firebase installation that it was made for. `nil` if the instance does not have the form of an installation ID.
    public var installation: [UInt8]? {
        guard instance.count == InstallationToken.idLength,
            instance.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { return nil }
        return instance
    }
}
