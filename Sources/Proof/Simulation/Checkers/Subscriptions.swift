import Basics
import Delivery

/// What is known of the subscriptions at each time: a request takes effect some time between its start and its answer, one without an
/// answer perhaps never.
struct Subscriptions {
    /// Whether an app instance may be subscribed, and whether it may not be.
    struct Chances: Equatable {
        var isIn: Bool
        var isOut: Bool

        static let subscribed = Self(isIn: true, isOut: false)
        static let absent = Self(isIn: false, isOut: true)
        static let unclear = Self(isIn: true, isOut: true)
    }

    private struct Key: Hashable {
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
        var isUnclear = false
    }

    private var histories: [Key: History] = [:]

    /// Records a request to subscribe or unsubscribe. Returns its number.
    mutating func requested(
        _ name: RegistrationName, _ topic: TopicName, of sender: SenderID, isEnd: Bool, _ world: World
    ) -> Int {
        let key = Key(name: name, topic: topic)
        var known = histories[key] ?? History(sender: sender)
        known.asks += 1
        known.isUnclear = known.open > 0
        known.open += 1
        let wanted: Chances = isEnd ? .absent : .subscribed
        if known.isUnclear || known.changes.last?.chances ?? .absent != wanted {
            known.changes.append((world.clock.nanoseconds, .unclear))
        }
        histories[key] = known
        return known.asks
    }

    /// Records that a request was answered or will never be.
    mutating func closed(_ name: RegistrationName, _ topic: TopicName) {
        histories[Key(name: name, topic: topic)]?.open -= 1
    }

    /// Records that a request succeeded.
    mutating func confirmed(
        _ name: RegistrationName, _ topic: TopicName, request: Int, isEnd: Bool, _ world: World
    ) {
        let key = Key(name: name, topic: topic)
        guard let known = histories[key], known.asks == request, !known.isUnclear else { return }
        histories[key]?.changes.append((world.clock.nanoseconds, isEnd ? .absent : .subscribed))
        if !isEnd { world.reached(.topicSubscribed) }
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
        of name: RegistrationName, _ sender: SenderID, _ topic: TopicName, from start: Int64,
        through end: Int64
    ) -> Chances {
        guard let known = histories[Key(name: name, topic: topic)], known.sender == sender else {
            return .absent
        }
        var chances = known.changes.last { $0.at < start }?.chances ?? .absent
        for change in known.changes where change.at >= start && change.at <= end {
            chances.isIn = chances.isIn || change.chances.isIn
            chances.isOut = chances.isOut || change.chances.isOut
        }
        return chances
    }
}
