// The numbers of commands and answers. They are part of the format.

/// The numbers of the kinds of commands.
enum CommandCase: UInt8, Numbered {
    case appServer = 1
    case device = 2
    case submission = 3
    case reply = 4
    case connection = 5

    static let kind: StaticString = "command"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the commands to the session of an app server.
enum AppServerCommandCase: UInt8, Numbered {
    case loginKeys = 1
    case loginAccepted = 2
    case loginRefused = 3
    case deliver = 4
    case release = 5
    case withdraw = 6
    case streamResumed = 7
    case streamNotResumed = 8
    case changePendingWindow = 9

    static let kind: StaticString = "command to an app server"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the commands to the session of a device.
enum DeviceCommandCase: UInt8, Numbered {
    case loginAccepted = 1
    case loginRefused = 2
    case deliver = 3
    case reportWhenWritable = 4
    case upstreamStored = 5
    case upstreamRefused = 6

    static let kind: StaticString = "command to a device"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the answers to submissions.
enum SubmissionReplyCase: UInt8, Numbered {
    case accepted = 1
    case refused = 2
    case group = 3

    static let kind: StaticString = "answer to a submission"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the answers to other requests.
enum RequestReplyCase: UInt8, Numbered {
    case group = 1
    case groupRefused = 2
    case token = 3
    case tokenRefused = 4
    case checkedIn = 5
    case checkInRefused = 6
    case registered = 7
    case unregistered = 8
    case registrationRefused = 9
    case installation = 10
    case forgotten = 11
    case imported = 12
    case traced = 13

    static let kind: StaticString = "answer to a request"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}

/// The numbers of the commands to any session.
enum ConnectionCommandCase: UInt8, Numbered {
    case drain = 1
    case endWhenIdle = 2
    case close = 3
    case refundQuota = 4
    case retryAfter = 5

    static let kind: StaticString = "command to a connection"
    static let table = NumberTable<Self>()
    var number: UInt8 { rawValue }
}
