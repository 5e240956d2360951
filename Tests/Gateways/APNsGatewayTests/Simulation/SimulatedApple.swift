import APNsGateway
import Basics
import Delivery

/// One connection to the simulated Apple.
final class AppleConnection {
    let id: APNsConnectionID
    let endpoint: APNsEndpoint
    let usesKey: Bool
    var isOpen = false
    var isGone = false
    /// Apple has sent GOAWAY.
    var isLeaving = false
    /// Apple refuses every further request with this.
    var spoiled: (status: Int, reason: String)?
    var streams: Int
    var fullStreams: Int
    var inFlight: [UInt64: [UInt8]] = [:]
    /// The numbers of all requests in the order of their streams.
    var order: [UInt64] = []

    init(id: APNsConnectionID, endpoint: APNsEndpoint, usesKey: Bool, streams: Int) {
        self.id = id
        self.endpoint = endpoint
        self.usesKey = usesKey
        self.streams = usesKey ? 1 : streams
        fullStreams = streams
    }
}

/// What Apple answers for a device token.
enum DeviceFate {
    case good
    /// The registration names the wrong environment.
    case otherEnvironment
    case unknown
    case ended
    /// It ended before the app registered again.
    case endedBefore
    case mismatched
    /// Each request to it ends its connection with GOAWAY, unprocessed.
    case fatal

    /// The fates of an ordinary world.
    static let ordinary: [DeviceFate] = [
        .good, .otherEnvironment, .unknown, .ended, .endedBefore, .mismatched,
    ]

    /// Whether a message can be delivered.
    var isGood: Bool { self == .good || self == .otherEnvironment }

    /// Apple's answer in an environment.
    func answer(isOwnEnvironment: Bool) -> APNsAnswer {
        switch self {
        case .good where isOwnEnvironment: APNsAnswer(status: 200)
        case .otherEnvironment where !isOwnEnvironment: APNsAnswer(status: 200)
        case .good, .otherEnvironment, .unknown, .fatal:
            APNsAnswer(status: 400, body: Samples.body("BadDeviceToken"))
        case .ended:
            APNsAnswer(
                status: 410, body: Samples.body("Unregistered", timestamp: Samples.epoch + 1))
        case .endedBefore:
            APNsAnswer(status: 410, body: Samples.body("ExpiredToken", timestamp: Samples.epoch - 1))
        case .mismatched: APNsAnswer(status: 400, body: Samples.body("DeviceTokenNotForTopic"))
        }
    }
}

/// Faults of single requests, with their weights out of 1,000.
enum AppleFault: CaseIterable {
    case refusedStream
    case reset
    case stall
    case busy
    case brokenBody
    /// Something other than Apple answers.
    case foreign
    case shutdown
    case tooManyRequests
    case tooManyTokens
    case goAway
    case idleTimeout
    case lost

    var weight: Int {
        switch self {
        case .refusedStream, .busy, .tooManyRequests: 20
        case .reset, .stall, .brokenBody, .foreign, .goAway: 8
        case .shutdown, .tooManyTokens, .idleTimeout, .lost: 4
        }
    }

    /// Draws a fault, or none in most cases.
    static func draw(_ random: inout SeededRandom) -> AppleFault? {
        var roll = Int.random(in: 0..<1_000, using: &random)
        for fault in allCases {
            if roll < fault.weight { return fault }
            roll -= fault.weight
        }
        return nil
    }
}
