/// The number that a device gets at check-in (Android ID): 2^59 … 2^63-1 (mcs-device 5.1).
public struct DeviceID: Hashable, Sendable, Comparable {
    /// The number; never 0 for a real device.
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: DeviceID, b: DeviceID) -> Bool { a.number < b.number }

    /// The lower end of the range, where searches through all devices start; no device has it.
    public static let lowest = DeviceID(0)
}

/// The ID of a sender, an account of app servers: a decimal number (project number), 1 … 2^63-1.
public struct SenderID: Hashable, Sendable, Comparable {
    /// The number.
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: SenderID, b: SenderID) -> Bool { a.number < b.number }

    /// Reads a number as records store it. Returns `nil` for 0, which means that there is no sender.
    public init?(recorded number: UInt64) {
        guard number != 0 else { return nil }
        self.number = number
    }

    /// Parses decimal digits. Returns `nil` for 0, more than 63 bits, or any other character.
    public init?(decimal digits: some Collection<UInt8>) {
        var number: UInt64 = 0
        for digit in digits {
            guard digit &- 0x30 < 10 else { return nil }
            let (product, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isPast) = product.addingReportingOverflow(UInt64(digit &- 0x30))
            guard !isOver, !isPast, sum <= UInt64(Int64.max) else { return nil }
            number = sum
        }
        guard number > 0 else { return nil }
        self.init(number)
    }
}

/// The number of a registration, unique within its device, never reused.
public struct RegistrationNumber: Hashable, Sendable, Comparable {
    /// The number.
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// The position of a stored message in the mailbox of its device or sender; it grows and is never reused.
///
/// It is made from the wall clock in microseconds, so it also gives the time.
public struct SequenceNumber: Hashable, Sendable, Comparable {
    /// Microseconds since 1970, made unique.
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: SequenceNumber, b: SequenceNumber) -> Bool { a.number < b.number }
}

/// A live connection: the node and the reactor that own it, its slot, and the generation of the slot.
///
/// Its size is 12 bytes: an event carries several, and is copied often.
public struct ConnectionID: Hashable, Sendable {
    /// The node of the cluster that the client is connected to. 0 for a daemon that belongs to no cluster.
    public var node: UInt16
    /// Index of the owning reactor.
    public var reactor: UInt16
    /// Slot in the reactor's table.
    public var slot: UInt32
    /// Counts the connections over all slots, so that a late message never reaches the next connection in the slot.
    public var generation: UInt32

    public init(node: UInt16 = 0, reactor: UInt16, slot: UInt32, generation: UInt32) {
        self.node = node
        self.reactor = reactor
        self.slot = slot
        self.generation = generation
    }
}

/// A connection as operators name it: without its slot, which only its reactor needs to find it.
public struct SessionID: Hashable, Sendable {
    /// See `ConnectionID`.
    public var node: UInt16
    public var reactor: UInt16
    public var generation: UInt32

    public init(node: UInt16 = 0, reactor: UInt16, generation: UInt32) {
        self.node = node
        self.reactor = reactor
        self.generation = generation
    }

    public init(_ connection: ConnectionID) {
        self.init(node: connection.node, reactor: connection.reactor, generation: connection.generation)
    }

    /// Its text: reactor and generation, such as `0-345`, and in a cluster before them the node.
    public var text: String { node == 0 ? "\(reactor)-\(generation)" : "\(node)-\(reactor)-\(generation)" }

    /// Reads the text. Returns `nil` for any other.
    public init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let node = parts.count == 3 ? UInt16(parts[0]) : 0, parts.count == 2 || node > 0,
            let reactor = UInt16(parts[parts.count - 2]), let generation = UInt32(parts[parts.count - 1])
        else { return nil }
        self.init(node: node, reactor: reactor, generation: generation)
    }
}
