// The numbers of events. They are part of the format.

/// The numbers of the owners of events. An event of a partition stays on its node.
enum EventCase: UInt8, Numbered {
    case device = 1
    case sender = 2
    case group = 3
    case topic = 4
    case installation = 5

    static let kind: StaticString = "event"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the events of a device.
enum DeviceEventCase: UInt8, Numbered {
    case submitted = 1
    case login = 2
    case acknowledged = 3
    case writable = 4
    case congested = 5
    case idleChanged = 6
    case closed = 7
    case upstreamReceived = 8
    case upstreamAnswered = 9
    case upstreamReturned = 10
    case receiptStored = 11
    case receiptRefused = 12
    case checkIn = 13
    case register = 14
    case unregister = 15
    case registerWeb = 16
    case unregisterToken = 17
    case subscribe = 18
    case token = 19
    case installationFound = 20
    case forget = 21
    case imported = 22
    case gatewayAnswered = 23
    case gatewayDue = 24
    case markedForGateway = 25
    case unseen = 26

    static let kind: StaticString = "event of a device"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the events of a sender.
enum SenderEventCase: UInt8, Numbered {
    case login = 1
    case keysRequested = 2
    case bound = 3
    case draining = 4
    case congested = 5
    case writable = 6
    case closed = 7
    case streamManaged = 8
    case streamDetached = 9
    case streamRequested = 10
    case upstreamFinished = 11
    case upstreamResolved = 12
    case groupUpstream = 13
    case upstreamReturnFinished = 14
    case receiptDue = 15

    static let kind: StaticString = "event of a sender"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the events of groups.
enum GroupEventCase: UInt8, Numbered {
    case requested = 1
    case submitted = 2
    case memberAnswered = 3

    static let kind: StaticString = "event of groups"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the events of messages to topics.
enum TopicEventCase: UInt8, Numbered {
    case submitted = 1
    case answered = 2

    static let kind: StaticString = "event of topics"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the events of an installation.
enum InstallationEventCase: UInt8, Numbered {
    case requested = 1
    case unused = 2

    static let kind: StaticString = "event of an installation"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}
