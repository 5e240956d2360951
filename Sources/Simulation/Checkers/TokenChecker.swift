import Basics
import Delivery

/// One app on one device: its tokens replace each other.
struct AppName: Hashable {
    var device: DeviceID
    var category: [UInt8]
}

/// What is known of the tokens of all apps.
struct Tokens {
    /// A token.
    struct Token {
        var name: RegistrationName
        /// Wall clock time when the core made it.
        var createdAt: UnixMilliseconds
        /// When its device heard of it; nil: never.
        var confirmedAt: Int64?
    }

    /// An app.
    struct App {
        /// Senders that may send to it.
        var audience: [SenderID]
        /// In the order in which the core made them.
        var tokens: [Token] = []
    }

    private(set) var apps: [AppName: App] = [:]
    private var owners: [RegistrationName: AppName] = [:]

    /// An app is about to register.
    mutating func asks(_ app: AppName, audience: [SenderID]) {
        if apps[app] == nil { apps[app] = App(audience: audience) }
    }

    /// The core makes a token; one that no disk has seen may be made again.
    mutating func made(_ registration: Registration) {
        let app = AppName(device: registration.name.device, category: registration.category)
        let token = Token(name: registration.name, createdAt: registration.createdAt)
        if let earlier = owners.updateValue(app, forKey: token.name) {
            apps[earlier]?.tokens.removeAll { $0.name == token.name }
        }
        apps[app]?.tokens.append(token)
    }

    /// Its device has heard of it.
    mutating func confirmed(_ name: RegistrationName, at time: Int64) {
        guard let app = owners[name],
            let at = apps[app]?.tokens.firstIndex(where: { $0.name == name && $0.confirmedAt == nil })
        else { return }
        apps[app]?.tokens[at].confirmedAt = time
    }

    /// Which app a token is or was of.
    func appName(of name: RegistrationName) -> AppName? { owners[name] }

    /// The app that a token is or was of.
    func app(of name: RegistrationName) -> App? { owners[name].flatMap { apps[$0] } }

    /// Tokens of the same app that were made after one.
    func newer(than name: RegistrationName) -> [Token] {
        app(of: name)?.tokens.filter { $0.name.number > name.number } ?? []
    }

    /// Whether so many have replaced one that it may be gone.
    func isReplacedOften(_ name: RegistrationName) -> Bool {
        newer(than: name).count > Limits.Registration.replaced
    }
}

/// Tokens lead to their app, old ones by way of the newest, and to nobody else.
struct TokenChecker {
    private static let lifetime = Int64(Limits.Registration.replacedSeconds) * 1_000
    /// The most by which the wall clock is ever set back, and a little more, milliseconds.
    private static let slack: Int64 = 15_000

    /// An app server has the ACK of a message.
    func acknowledged(
        _ message: Truth.Downstream, _ number: Int, canonical: RegistrationName?, _ truth: Truth,
        _ world: World
    ) {
        let target = message.draft.target
        guard let app = truth.tokens.app(of: target) else {
            return world.fail("tokens", "m\(number) was accepted for a token that nobody made")
        }
        if !app.audience.contains(message.sender) {
            world.fail("tokens", "m\(number) was accepted from a stranger")
        }
        let newer = truth.tokens.newer(than: target)
        if let canonical {
            world.met(.canonicalAnswered)
            if !newer.contains(where: { $0.name == canonical }) {
                world.fail("tokens", "m\(number) went to a token that replaces no other")
            }
        }
        if let last = newer.last, last.confirmedAt ?? .max <= message.submittedNanoseconds,
            !truth.unregistered.contains(last.name), last.createdAt >= Limits.Clock.earliest,
            last.createdAt + Self.lifetime + Self.slack <= message.submittedAt, !world.wasInDoubt
        {
            world.fail("tokens", "m\(number) was accepted for a token replaced long ago")
        }
        let known = newer.last { ($0.confirmedAt ?? .max) <= message.submittedNanoseconds }
        if let known, !truth.unregistered.contains(known.name),
            (canonical?.number ?? target.number) < known.name.number
        {
            world.fail("tokens", "m\(number) was answered without the token that replaced its own")
        }
    }

    /// An app server has a NACK that says that its token is of no use.
    func refused(
        _ message: Truth.Downstream, _ number: Int, isStranger: Bool, _ truth: Truth, _ world: World
    ) {
        let target = message.draft.target
        let app = truth.tokens.app(of: target)
        if isStranger {
            world.met(.strangerRefused)
            if app?.audience.contains(message.sender) == true {
                world.fail("tokens", "m\(number) was refused, though its sender may send")
            }
            return
        }
        if truth.unregistered.contains(target) || truth.forgotten.contains(target.device) || app == nil {
            return world.met(.unregisteredRefused)
        }
        let isOld = truth.tokens.newer(than: target).contains {
            $0.createdAt + Self.lifetime <= world.latestWall
        }
        if isOld || truth.tokens.isReplacedOften(target) { return world.met(.replacedTokenRefused) }
        world.fail("tokens", "m\(number) was refused for a registration that stands")
    }
}
