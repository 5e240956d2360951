public import Basics

/// The Mobile Connection Server protocol of devices: frames of protobuf messages in both directions (mcs-device 1 and 2).
public enum MCS {
    /// The version byte at the start of each direction; every current client sends and accepts it (mcs-device 1.2).
    public static let version: UInt8 = 41
    /// Version bytes that are accepted: older Chrome and GSF sent the lower ones.
    public static let acceptedVersions: ClosedRange<UInt8> = 38...41
    /// The `domain` of a login and of JIDs.
    public static let domain: StaticString = "mcs.android.com"
    /// The `token` of a message without a collapse key for an Android-type app (mcs-device 2).
    public static let doNotCollapse: StaticString = "do_not_collapse"
    /// The `category` of messages to and from the client itself (mcs-device 3.5).
    public static let idleCategory: StaticString = "com.google.android.gsf.gtalkservice"
    /// The key in those messages that queries or reports whether the device is idle.
    public static let idleKey: StaticString = "IdleNotification"
    /// The `category` of Chromium's account mapper (mcs-device 4.1).
    public static let accountCategory: StaticString = "com.google.android.gms"

    /// The type of a frame (mcs-device 1.3); tags 5, 6, 9 and 11 to 15 exist, are never sent, and are skipped.
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

    /// The highest tag; a higher byte in the position of a tag is a protocol error.
    public static let highestTag: UInt8 = 15
}

/// Why bytes from a device connection are invalid.
public enum MCSError: Error, Equatable, Sendable {
    /// The first byte is not a supported version.
    case unsupportedVersion(UInt8)
    /// The byte in the position of a tag is not a tag.
    case invalidTag(UInt8)
    /// A frame is longer than its limit, in bytes.
    case tooLarge(Int)
    /// A varint is too long, or has more bits than allowed.
    case varintOverflow
    /// A message ends within a field.
    case truncated
    /// A field number is 0 or over 2^29-1.
    case invalidFieldNumber
    /// A known field is encoded as another type.
    case wrongWireType(field: Int)
    /// The wire type is a group, or one of the two unassigned types.
    case unsupportedWireType(UInt8)
    /// A required field is missing.
    case missingField(Int)

    /// The close reason of a connection with this error.
    public var closeReason: CloseReason {
        if case .tooLarge = self { .tooLarge } else { .protocolViolation }
    }
}
