import Basics
import Delivery

/// A delivery that the gateway has not answered yet.
struct PendingDelivery {
    enum State {
        /// The entry is free.
        case vacant
        /// Waits for an earlier delivery to the same device token.
        case inLane
        /// Waits for a connection.
        case queued(Pool, since: Instant)
        /// Is sent again at this instant.
        case paused(until: Instant)
        /// Apple has it, on this connection.
        case inFlight(Pool, PoolConnection)
    }

    /// What has been tried for it once, and is not tried again.
    struct Tried: OptionSet {
        let rawValue: UInt8
        /// Another connection, after a provider token was refused as expired.
        static let tokenExpired = Tried(rawValue: 1)
        /// Another connection, after the key was refused as unrelated.
        static let unrelatedKey = Tried(rawValue: 2)
        /// Another connection, after Apple's server went down.
        static let shutdown = Tried(rawValue: 4)
        /// The same request, after a 410 from before the registration.
        static let oldEnd = Tried(rawValue: 8)
        /// It is tried although Apple refuses the credential.
        static let credentialProbe = Tried(rawValue: 16)
        /// It is tried although Apple refuses the topic.
        static let topicProbe = Tried(rawValue: 32)
        /// Another connection, after it was the first that Apple left unprocessed with GOAWAY.
        static let goAway = Tried(rawValue: 64)
        /// The same request, after one whose outcome is unknown.
        static let unanswered = Tried(rawValue: 128)
    }

    var registration: RegistrationName
    var sequence: SequenceNumber
    var registeredAt: UnixMilliseconds?
    var attempt: Int
    /// Whether the core repeats it. A now-or-never message is attempted only while its app server waits.
    var isStored: Bool
    /// When the core delivered it.
    var deliveredAt: Instant
    /// The environment of the registration. That of the request differs during a probe of the other one.
    var environment: APNsEnvironment
    var bundle: [UInt8]
    /// The sender of the message. `nil` for one of the operator.
    var sender: SenderID?
    /// Whether the request goes to the device token of the registration, not to that of a Live Activity.
    var isForDevice: Bool
    /// Whether the app server has set parts of the request itself.
    var isCustom: Bool
    var request: APNsRequest
    /// The lease without which it is not sent; `nil` without a cluster.
    var lease: (any DecisionLease)?
    /// The device token of the request, as the key of its lane.
    var lane = LaneKey.none
    var state = State.inLane
    var tried: Tried = []
    var resends = 0
    /// The verdict about the device token that led to a probe of the other environment.
    var firstVerdict: APNsVerdict?
    /// The provider token that it was last sent with.
    var tokenSerial: UInt32 = 0
    /// Counts the requests that this entry of the table was used for.
    var generation: UInt32 = 0
    /// The next delivery of the queue or lane that it waits in.
    var next: Int32?

    init(_ delivery: GatewayDelivery, _ request: consuming APNsRequest, _ now: Now) {
        registration = delivery.registration
        sequence = delivery.message.sequence
        registeredAt = delivery.registeredAt
        attempt = delivery.attempt
        isStored = delivery.isStored
        deliveredAt = now.monotonic
        environment = delivery.environment
        bundle = delivery.app.parts.category
        sender = delivery.message.sender
        isForDevice = AppleToken.shownDigits(ofStored: delivery.app.parts.apnsToken).elementsEqual(
            request.deviceToken.bytes)
        isCustom = delivery.message.fields.apns?.isEmpty == false
        self.request = request
        lease = delivery.lease
    }

    /// Bytes that it occupies in a connection's window.
    var bytes: Int { request.payload.count }
}

/// All pending deliveries, in entries that are used again.
struct PendingDeliveries {
    private var entries: [PendingDelivery] = []
    private var vacant: [Int32] = []

    /// Deliveries without an answer.
    var count: Int { entries.count - vacant.count }
    /// The entries, vacant ones included.
    var indices: Range<Int32> { 0..<Int32(entries.count) }

    subscript(index: Int32) -> PendingDelivery {
        get { entries[Int(index)] }
        _modify { yield &entries[Int(index)] }
    }

    mutating func add(_ delivery: consuming PendingDelivery) -> Int32 {
        guard let index = vacant.popLast() else {
            entries.append(delivery)
            return Int32(entries.count - 1)
        }
        delivery.generation = entries[Int(index)].generation
        entries[Int(index)] = delivery
        return index
    }

    /// Frees an entry and what it holds.
    mutating func remove(_ index: Int32) {
        entries[Int(index)].state = .vacant
        entries[Int(index)].request.payload = []
        entries[Int(index)].lane = .none
        entries[Int(index)].lease = nil
        vacant.append(index)
    }

    /// Returns the number of a request that is about to be sent, which no other request of the table has soon.
    mutating func nextRequestNumber(_ index: Int32) -> UInt64 {
        entries[Int(index)].generation &+= 1
        return UInt64(entries[Int(index)].generation) << 32 | UInt64(UInt32(bitPattern: index))
    }

    /// Returns the delivery whose request has a number and is in flight, or `nil` if it has been answered since.
    func find(_ number: UInt64) -> Int32? {
        let index = Int32(truncatingIfNeeded: number)
        guard indices.contains(index), entries[Int(index)].generation == UInt32(number >> 32),
            case .inFlight = entries[Int(index)].state
        else { return nil }
        return index
    }
}

/// Pending deliveries in the order in which they will be sent, linked through the table.
struct PendingQueue {
    private(set) var first: Int32?
    private var last: Int32?
    private(set) var count = 0

    var isEmpty: Bool { first == nil }

    mutating func append(_ index: Int32, _ pending: inout PendingDeliveries) {
        pending[index].next = nil
        if let last { pending[last].next = index } else { first = index }
        last = index
        count += 1
    }

    mutating func prepend(_ index: Int32, _ pending: inout PendingDeliveries) {
        pending[index].next = first
        if isEmpty { last = index }
        first = index
        count += 1
    }

    mutating func popFirst(_ pending: inout PendingDeliveries) -> Int32? {
        guard let index = first else { return nil }
        first = pending[index].next
        count -= 1
        if isEmpty { last = nil }
        return index
    }
}
