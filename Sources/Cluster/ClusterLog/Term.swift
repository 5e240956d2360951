/// The number of a term of ownership of one partition; the first is 1.
public struct Epoch: Hashable, Comparable, Sendable {
    /// The number.
    public let number: UInt64

    /// The epoch of a number.
    public init(_ number: UInt64) { self.number = number }

    public static func < (a: Epoch, b: Epoch) -> Bool { a.number < b.number }

    /// The next epoch.
    public var next: Epoch { Epoch(number + 1) }

    /// The highest epoch that counts: at one takeover in a microsecond, 100,000 years. A higher one is an error, not a term.
    public static let highest = Epoch(1 << 62)
}

/// A random number that a node draws for each attempt to take a partition. Each frame of the owner carries it, so that the frames of
/// two nodes that claim the same epoch are never taken for one another.
public struct Claim: Hashable, Sendable {
    /// The number.
    public let number: UInt64

    /// The claim of a number.
    public init(_ number: UInt64) { self.number = number }
}

/// A term of ownership: its epoch, and the claim that began it.
public struct Term: Hashable, Sendable {
    /// The epoch.
    public let epoch: Epoch
    /// The claim of the owner.
    public let claim: Claim

    /// The term of a claim in an epoch.
    public init(_ epoch: Epoch, _ claim: Claim) {
        self.epoch = epoch
        self.claim = claim
    }
}

/// The name of a frame in its log: all its copies have the same bytes.
public struct FrameName: Hashable, Sendable {
    /// The claim of its owner.
    public let claim: Claim
    /// Its number within the term; the mark has 1.
    public let number: UInt64

    /// Creates a name.
    public init(claim: Claim, number: UInt64) {
        self.claim = claim
        self.number = number
    }
}

/// How far a log counts: a frame by its epoch and number. Later frames are greater.
struct FramePlace: Hashable, Comparable, Sendable {
    var epoch: Epoch
    var number: UInt64

    static let start = FramePlace(epoch: Epoch(0), number: 0)

    static func < (a: FramePlace, b: FramePlace) -> Bool {
        (a.epoch, a.number) < (b.epoch, b.number)
    }
}

/// The position of a record in a log, counted from 1.
public struct LogPosition: Hashable, Comparable, Sendable {
    /// The number; 0 is the position before the first record.
    public let number: UInt64

    /// The position of a number.
    public init(_ number: UInt64) { self.number = number }

    public static func < (a: LogPosition, b: LogPosition) -> Bool { a.number < b.number }

    /// The position before the first record.
    public static let start = LogPosition(0)

    /// The next position.
    public var next: LogPosition { LogPosition(number + 1) }
}
