import Basics
import Delivery

/// What is known of the subscriptions at each time: a request takes effect some time between its start and its answer, one without an
/// answer perhaps never. A request that names a replaced token takes effect on the token that has replaced it by then.
struct Subscriptions {
    /// Whether an app instance may be subscribed, and whether it may not be.
    struct Chances: Equatable {
        var isIn: Bool
        var isOut: Bool

        static let subscribed = Self(isIn: true, isOut: false)
        static let absent = Self(isIn: false, isOut: true)
        static let unclear = Self(isIn: true, isOut: true)
    }

    fileprivate struct Key: Hashable {
        var name: RegistrationName
        var topic: TopicName
    }

    private struct History {
        var sender: SenderID
        /// Ascending by time; there is no subscription before the first one.
        var changes: [(at: Int64, chances: Chances)] = []
        /// Number of requests: only the answer to the last one determines the state.
        var asks = 0
        /// Number of unanswered requests; if there are several, they may be handled in any order.
        var open = 0
        /// When the last request was made or answered.
        var touchedAt = Int64.min
        var isUnclear = false
    }

    /// A request that may take effect on a token that replaces the one that it names.
    private struct Redirect {
        var app: AppName?
        var named: Key
        var sender: SenderID
        var from: Int64
        /// When its answer named the token on which it took effect.
        var through = Int64.max
    }

    /// A request to subscribe or unsubscribe.
    struct Request {
        fileprivate var key: Key
        fileprivate var isEnd: Bool
        fileprivate var number: Int
        fileprivate var redirect: Int
        /// When it was made.
        var madeAt: Int64
    }

    private var histories: [Key: History] = [:]
    private var redirects: [Redirect] = []

    /// Records a request to subscribe or unsubscribe.
    mutating func requested(
        _ name: RegistrationName, _ topic: TopicName, of sender: SenderID, isEnd: Bool, _ world: World
    ) -> Request {
        let key = Key(name: name, topic: topic)
        let now = world.clock.nanoseconds
        var known = histories[key] ?? History(sender: sender)
        known.asks += 1
        known.isUnclear =
            known.open > 0
            || mayBeRedirected(to: key, in: app(of: name, world), of: sender, from: now, through: now)
        known.open += 1
        known.touchedAt = now
        let wanted: Chances = isEnd ? .absent : .subscribed
        if known.isUnclear || known.changes.last?.chances ?? .absent != wanted {
            known.changes.append((now, .unclear))
        }
        histories[key] = known
        redirects.append(Redirect(app: app(of: name, world), named: key, sender: sender, from: now))
        return Request(
            key: key, isEnd: isEnd, number: known.asks, redirect: redirects.count - 1, madeAt: now)
    }

    /// Records that a request was answered or will never be.
    mutating func closed(_ request: Request, _ world: World) {
        histories[request.key]?.open -= 1
        histories[request.key]?.touchedAt = world.clock.nanoseconds
    }

    /// Records that a request succeeded for a token: the one that it names, or one that has replaced it.
    mutating func confirmed(_ request: Request, for name: RegistrationName, _ world: World) {
        let now = world.clock.nanoseconds
        redirects[request.redirect].through = now
        var key = request.key
        key.name = name
        var known = histories[key] ?? History(sender: redirects[request.redirect].sender)
        let isAlone = !mayBeRedirected(
            to: key, in: app(of: name, world), of: known.sender, from: request.madeAt, through: now,
            besides: request)
        let isClear: Bool
        if name == request.key.name {
            isClear = isAlone && known.asks == request.number && !known.isUnclear
        } else {
            // Whether another request for that token was handled before or after is not known if both were open at once.
            isClear = isAlone && known.open == 0 && known.touchedAt < request.madeAt
            known.isUnclear = true
            known.touchedAt = now
        }
        if isClear {
            known.changes.append((now, request.isEnd ? .absent : .subscribed))
            if !request.isEnd { world.reached(.topicSubscribed) }
        } else if name != request.key.name {
            known.changes.append((now, .unclear))
        }
        histories[key] = known
    }

    private func app(of name: RegistrationName, _ world: World) -> AppName? {
        world.checkers.truth.tokens.appName(of: name)
    }

    /// Whether a request that names an older token of the app may take effect on a token at a time between two.
    private func mayBeRedirected(
        to key: Key, in app: AppName?, of sender: SenderID, from start: Int64, through end: Int64,
        besides own: Request? = nil
    ) -> Bool {
        redirects.indices.contains { at in
            let redirect = redirects[at]
            return at != own?.redirect && redirect.app != nil && redirect.app == app
                && redirect.named.name.number < key.name.number && redirect.named.topic == key.topic
                && redirect.sender == sender && redirect.from <= end && redirect.through >= start
        }
    }

    /// Records that an app's data was cleared: from now on another registration may take its place, without its subscriptions.
    mutating func cleared(_ names: [RegistrationName], _ world: World) {
        for key in histories.keys where names.contains(key.name) {
            histories[key]?.changes.append((world.clock.nanoseconds, .unclear))
            histories[key]?.asks += 1
        }
    }

    /// Returns what is possible at any time between two.
    func chances(
        of name: RegistrationName, in app: AppName?, _ sender: SenderID, _ topic: TopicName,
        from start: Int64, through end: Int64
    ) -> Chances {
        let key = Key(name: name, topic: topic)
        if mayBeRedirected(to: key, in: app, of: sender, from: start, through: end) { return .unclear }
        guard let known = histories[key], known.sender == sender else { return .absent }
        var chances = known.changes.last { $0.at < start }?.chances ?? .absent
        for change in known.changes where change.at >= start && change.at <= end {
            chances.isIn = chances.isIn || change.chances.isIn
            chances.isOut = chances.isOut || change.chances.isOut
        }
        return chances
    }
}
