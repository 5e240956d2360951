/// A device as check-in numbers it (Android id): 2^59 … 2^63-1 (mcs-device 5.1).
public struct DeviceID: Hashable, Sendable, Comparable {
    /// The number; never 0 for a real device.
    public var number: UInt64
    /// Wraps a number.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: DeviceID, b: DeviceID) -> Bool { a.number < b.number }

    /// The lower end of the range, where searches through all devices start; no device has it.
    public static let lowest = DeviceID(0)
}

/// An account of app servers: the decimal sender ID (project number), 1 … 2^63-1.
public struct SenderID: Hashable, Sendable, Comparable {
    /// The number.
    public var number: UInt64
    /// Wraps a number.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: SenderID, b: SenderID) -> Bool { a.number < b.number }

    /// Reads a number as records hold it, where 0 stands for none.
    public init?(recorded number: UInt64) {
        guard number != 0 else { return nil }
        self.number = number
    }

    /// Reads decimal digits; nil for what is no sender ID: 0, more than 63 bits, or any other sign.
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

/// Which registration of a device a token names; unique within the device, never reused.
public struct RegistrationNumber: Hashable, Sendable, Comparable {
    /// The number.
    public var number: UInt64
    /// Wraps a number.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// Place of a stored message in the mailbox of its device or sender: grows, is never reused.
///
/// It is made from the wall clock in microseconds, so that it also says when.
public struct Sequence: Hashable, Sendable, Comparable {
    /// Microseconds since 1970, made unique.
    public var number: UInt64
    /// Wraps a number.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: Sequence, b: Sequence) -> Bool { a.number < b.number }
}

/// A live connection: which reactor owns it, in which slot, and which of the slot's tenants it is.
public struct ConnectionID: Hashable, Sendable {
    /// Index of the owning reactor.
    public var reactor: UInt16
    /// Slot in the reactor's table.
    public var slot: UInt32
    /// Counts the tenants of all slots, so that a late message never reaches a successor.
    public var generation: UInt32

    /// Names a connection.
    public init(reactor: UInt16, slot: UInt32, generation: UInt32) {
        self.reactor = reactor
        self.slot = slot
        self.generation = generation
    }
}
