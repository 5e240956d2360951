import Basics
import Delivery

// The numbers of other values. They are part of the format.

extension ImportOutcome: Numbered {
    static let kind: StaticString = "import outcome"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .added: 1
        case .unchanged: 2
        case .replaced: 3
        case .differs: 4
        case .noDevice: 5
        case .noRegistration: 6
        case .beyondDevice: 7
        case .full: 8
        }
    }
}

extension APNsEnvironment: Numbered {
    static let kind: StaticString = "APNs environment"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .production: 1
        case .sandbox: 2
        }
    }
}

extension TraceRecord.Direction: Numbered {
    static let kind: StaticString = "direction"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .downstream: 1
        case .upstream: 2
        case .connection: 3
        }
    }
}

extension TraceRecord.Step: Numbered {
    static let kind: StaticString = "step"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .accepted: 1
        case .stored: 2
        case .sent: 3
        case .delivered: 4
        case .replaced: 5
        case .expired: 6
        case .refused: 7
        case .discarded: 8
        case .removed: 9
        case .forwarded: 10
        case .acknowledged: 11
        case .received: 12
        case .duplicate: 13
        case .deferred: 14
        case .connected: 15
        case .disconnected: 16
        case .idle: 17
        case .active: 18
        case .loginRefused: 19
        case .forgotten: 20
        }
    }
}

extension Priority: Numbered {
    static let kind: StaticString = "priority"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .normal: 1
        case .high: 2
        }
    }
}

extension Requester.Growth: Numbered {
    static let kind: StaticString = "growth"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .unbounded: 1
        case .counted: 2
        case .knownOnly: 3
        case .full: 4
        }
    }
}

extension UpstreamOutcome: Numbered {
    static let kind: StaticString = "upstream outcome"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .acknowledged: 1
        case .refused: 2
        case .unanswered: 3
        case .expired: 4
        case .returned: 5
        }
    }
}

extension TopicAnswer: Numbered {
    static let kind: StaticString = "topic answer"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .reached: 1
        case .skipped: 2
        case .unavailable: 3
        }
    }
}
