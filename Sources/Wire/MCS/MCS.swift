public import Basics

/// The language of the device link: frames of protobuf messages (mcs-device 1 and 2), in both directions.
public enum MCS {
    /// The version byte that begins each direction; every current client sends and accepts it (mcs-device 1.2).
    public static let version: UInt8 = 41
    /// Version bytes that are accepted: older Chrome and GSF sent the lower ones.
    public static let acceptedVersions: ClosedRange<UInt8> = 38...41
    /// `domain` of a login and what stands behind the `@` of a JID.
    public static let domain: StaticString = "mcs.android.com"
    /// `token` of a message without collapse key for an Android-type app (mcs-device 2).
    public static let doNotCollapse: StaticString = "do_not_collapse"
    /// `category` of messages to and from the client itself (mcs-device 3.5).
    public static let idleCategory: StaticString = "com.google.android.gsf.gtalkservice"
    /// The pair of those messages that asks, or tells, whether the device is idle.
    public static let idleKey: StaticString = "IdleNotification"
    /// `category` of Chromium's account mapper (mcs-device 4.1).
    public static let accountCategory: StaticString = "com.google.android.gms"

    /// What a frame holds (mcs-device 1.3); tags 5, 6, 9 and 11 to 15 exist, are never sent, and are skipped.
    public enum Tag: UInt8, CaseIterable, Sendable {
        case heartbeatPing = 0
        case heartbeatAck = 1
        case loginRequest = 2
        case loginResponse = 3
        case close = 4
        case iq = 7
        case dataMessage = 8
        case streamError = 10
    }

    /// The highest tag there is; a higher byte where a tag is expected breaks the stream.
    public static let highestTag: UInt8 = 15
}

/// What is wrong with bytes of a device link.
public enum MCSError: Error, Equatable, Sendable {
    /// The first byte is no version that is spoken.
    case unsupportedVersion(UInt8)
    /// The byte where a tag is expected is none.
    case invalidTag(UInt8)
    /// A frame is longer than its limit, in bytes.
    case tooLarge(Int)
    /// A varint does not end, or holds more bits than it may.
    case varintOverflow
    /// A message ends within a field.
    case truncated
    /// A field has the number 0, or one over 2^29-1.
    case invalidFieldNumber
    /// A field that is known by its number is encoded as another type.
    case wrongWireType(field: Int)
    /// Groups and the two unassigned wire types.
    case unsupportedWireType(UInt8)
    /// A field without which the message says nothing is absent.
    case missingField(Int)

    /// How a connection ends over it.
    public var closeReason: CloseReason {
        if case .tooLarge = self { .tooLarge } else { .protocolViolation }
    }
}
