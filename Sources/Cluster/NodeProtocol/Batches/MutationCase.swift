import Basics
import Delivery

/// The numbers of the mutations. They are part of the format.
enum MutationCase: UInt8, Numbered {
    // Device.
    case putDevice = 1
    case putRegistration = 2
    case removeRegistration = 3
    case removeDevice = 4
    case putSubscription = 5
    case removeSubscription = 6
    case linkInstallation = 7
    case unlinkInstallation = 8
    case putInstallation = 9
    case removeInstallation = 10
    case putMessage = 11
    case removeMessage = 12
    case markForGateway = 13
    case unmarkForGateway = 14
    case putFeedback = 15
    case removeFeedback = 16
    // Topic.
    case putTopicJob = 17
    case advanceTopicJob = 18
    case removeTopicJob = 19
    case removeTopicBody = 20
    // Group.
    case putGroup = 21
    case removeGroup = 22
    // Sender.
    case putSender = 23
    case removeSender = 24
    case putUpstream = 25
    case removeUpstream = 26
    // Server. 27 is not used any more.
    case putMark = 28

    static let kind: StaticString = "mutation"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

extension Milestone: Numbered {
    static let kind: StaticString = "milestone"
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
        }
    }
}

extension StoreMark: Numbered {
    static let kind: StaticString = "mark"
    static let table = NumberTable<Self>()
    var number: UInt8 {
        switch self {
        case .sequence: 1
        case .clock: 2
        }
    }
}
