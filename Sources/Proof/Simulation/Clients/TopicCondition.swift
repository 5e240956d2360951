import Basics
import Delivery

/// Which app instances a topic message is for, by their topics: the world's own notion, apart from that of the server.
indirect enum TopicCondition {
    case topic(TopicName)
    case not(TopicName)
    case both(TopicCondition, TopicCondition)
    case either(TopicCondition, TopicCondition)

    /// The single topic that it consists of, without the form of a condition.
    var single: TopicName? { if case .topic(let name) = self { name } else { nil } }

    /// Whether an app instance with such topics is meant.
    func holds(_ has: (TopicName) -> Bool) -> Bool {
        switch self {
        case .topic(let name): has(name)
        case .not(let name): !has(name)
        case .both(let a, let b): a.holds(has) && b.holds(has)
        case .either(let a, let b): a.holds(has) || b.holds(has)
        }
    }

    /// The topics in it, each once, in order.
    var topics: [TopicName] {
        switch self {
        case .topic(let name), .not(let name): [name]
        case .both(let a, let b), .either(let a, let b):
            a.topics + b.topics.filter { !a.topics.contains($0) }
        }
    }

    /// The condition as app servers write it.
    var text: String {
        switch self {
        case .topic(let name): "'\(String(decoding: name.bytes, as: UTF8.self))' in topics"
        case .not(let name): "!(\(TopicCondition.topic(name).text))"
        case .both(let a, let b): "(\(a.text)) && (\(b.text))"
        case .either(let a, let b): "(\(a.text)) || (\(b.text))"
        }
    }

    /// What a session makes of it.
    var target: TopicTarget? {
        if let single { return TopicTarget(single) }
        let topics = topics
        var truth: UInt32 = 0
        for set in 0..<UInt32.bitWidth {
            let isIn = holds { name in topics.firstIndex(of: name).map { set >> $0 & 1 == 1 } ?? false }
            if isIn { truth |= 1 << UInt32(set) }
        }
        return TopicTarget(topics: topics, truth: truth)
    }

    /// Returns whether it may hold, and whether it must, for an app instance with such chances of being subscribed.
    func outcome(_ chances: (TopicName) -> Subscriptions.Chances) -> (may: Bool, must: Bool) {
        let topics = topics
        let known = topics.map(chances)
        var outcome = (may: false, must: true)
        for set in 0..<1 << topics.count {
            let isPossible = known.indices.allSatisfy {
                set >> $0 & 1 == 1 ? known[$0].isIn : known[$0].isOut
            }
            guard isPossible else { continue }
            let isIn = holds { name in topics.firstIndex(of: name).map { set >> $0 & 1 == 1 } ?? false }
            if isIn { outcome.may = true } else { outcome.must = false }
        }
        return outcome
    }
}
