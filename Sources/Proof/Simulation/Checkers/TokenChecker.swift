import Basics
import Delivery

/// An app on a device; each of its tokens replaces the previous one.
struct AppName: Hashable {
    var device: DeviceID
    var category: [UInt8]
}

/// The tokens of all apps.
struct Tokens {
    struct Token {
        var name: RegistrationName
        /// Wall clock time at which the core created it.
        var createdAt: UnixMilliseconds
        /// When its device received it; `nil` if never.
        var confirmedAt: Int64?
    }

    struct App {
        /// Senders that can address it.
        var audience: [SenderID]
        /// In the order of their creation.
        var tokens: [Token] = []
    }

    private(set) var apps: [AppName: App] = [:]
    private var owners: [RegistrationName: AppName] = [:]

    /// Records an app that is about to register.
    mutating func requested(_ app: AppName, audience: [SenderID]) {
        if apps[app] == nil { apps[app] = App(audience: audience) }
    }

    /// Records a token that the core created. A token that never reached the disk may be created again.
    mutating func made(_ registration: Registration) {
        let app = AppName(device: registration.name.device, category: registration.category)
        let token = Token(name: registration.name, createdAt: registration.createdAt)
        if let earlier = owners.updateValue(app, forKey: token.name) {
            apps[earlier]?.tokens.removeAll { $0.name == token.name }
        }
        apps[app]?.tokens.append(token)
    }

    /// Records that its device has received a token.
    mutating func confirmed(_ name: RegistrationName, at time: Int64) {
        guard let app = owners[name],
            let at = apps[app]?.tokens.firstIndex(where: { $0.name == name && $0.confirmedAt == nil })
        else { return }
        apps[app]?.tokens[at].confirmedAt = time
    }

    /// The name of the app that a token belongs or belonged to.
    func appName(of name: RegistrationName) -> AppName? { owners[name] }

    /// The app that a token belongs or belonged to.
    func app(of name: RegistrationName) -> App? { owners[name].flatMap { apps[$0] } }

    /// Newer tokens of the same app.
    func newer(than name: RegistrationName) -> [Token] {
        app(of: name)?.tokens.filter { $0.name.number > name.number } ?? []
    }

    /// Whether a token was replaced so often that it may be removed.
    func isReplacedOften(_ name: RegistrationName) -> Bool {
        newer(than: name).count > Limits.Registration.replaced
    }
}

/// A token reaches its app only, an old one through the newest.
struct TokenChecker {
    private static let lifetime = Int64(Limits.Registration.replacedSeconds) * 1_000
    /// The most by which the wall clock is set back, plus a margin, in milliseconds.
    private static let slack: Int64 = 15_000

    /// Checks the ACK of a message.
    func acknowledged(
        _ message: Truth.Downstream, _ number: Int, canonical: RegistrationName?, _ truth: Truth,
        _ world: World
    ) {
        let target = message.target
        guard let app = truth.tokens.app(of: target) else {
            return world.fail("tokens", "m\(number) was accepted for a token that was never created")
        }
        if !app.audience.contains(message.sender) {
            world.fail("tokens", "m\(number) was accepted from a sender without access")
        }
        let newer = truth.tokens.newer(than: target)
        if let canonical {
            world.reached(.canonicalAnswered)
            if !newer.contains(where: { $0.name == canonical }) {
                world.fail("tokens", "m\(number) was redirected to a token that does not replace its own")
            }
        }
        if let last = newer.last, last.confirmedAt ?? .max <= message.submittedNanoseconds,
            !truth.unregistered.contains(last.name), last.createdAt >= Limits.Clock.earliest,
            last.createdAt + Self.lifetime + Self.slack <= message.submittedAt, !world.wasInDoubt
        {
            world.fail("tokens", "m\(number) was accepted for a token replaced long ago")
        }
        if Self.isOlder(
            canonical ?? target, than: newer, since: message.submittedNanoseconds, truth)
        {
            world.fail("tokens", "m\(number) was answered without the token that replaced its own")
        }
    }

    /// Whether a request found a token although the app had a newer one when it was made.
    private static func isOlder(
        _ found: RegistrationName, than newer: [Tokens.Token], since start: Int64, _ truth: Truth
    ) -> Bool {
        guard let known = newer.last(where: { ($0.confirmedAt ?? .max) <= start }) else { return false }
        return !truth.unregistered.contains(known.name) && found.number < known.name.number
    }

    /// Whether a token may have been replaced so long ago that it no longer works.
    static func isOver(_ name: RegistrationName, _ truth: Truth, _ world: World) -> Bool {
        truth.tokens.newer(than: name).contains { $0.createdAt + lifetime <= world.latestWall }
    }

    /// Checks the token for which a subscription was changed, of a request that named another one or the same.
    func subscribed(
        _ found: RegistrationName, of name: RegistrationName, since start: Int64, _ truth: Truth,
        _ world: World
    ) {
        let newer = truth.tokens.newer(than: name)
        if found != name {
            world.reached(.topicChangeRedirected)
            if !newer.contains(where: { $0.name == found }) {
                world.fail("tokens", "a subscription was redirected to a token that does not replace its own")
            }
        }
        if Self.isOlder(found, than: newer, since: start, truth) {
            world.fail("tokens", "a subscription was changed for a token that another has replaced")
        }
    }

    /// Checks a NACK for the token.
    func refused(
        _ message: Truth.Downstream, _ number: Int, isStranger: Bool, _ truth: Truth, _ world: World
    ) {
        let target = message.target
        let app = truth.tokens.app(of: target)
        if isStranger {
            world.reached(.strangerRefused)
            if app?.audience.contains(message.sender) == true {
                world.fail("tokens", "m\(number) was refused although its sender has access")
            }
            return
        }
        if truth.unregistered.contains(target) || truth.forgotten.contains(target.device) || app == nil {
            return world.reached(.unregisteredRefused)
        }
        if Self.isOver(target, truth, world) || truth.tokens.isReplacedOften(target) {
            return world.reached(.replacedTokenRefused)
        }
        world.fail("tokens", "m\(number) was refused for a registration that exists")
    }
}
