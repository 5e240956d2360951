public import Basics

/// What makes a device: its Android id and the secret that goes with it (mcs-device 5.1).
public struct DeviceIdentity: Sendable {
    /// The Android id.
    public var androidID: UInt64
    /// The security token.
    public var securityToken: Redacted<UInt64>

    /// An identity that a server gave.
    public init(androidID: UInt64, securityToken: Redacted<UInt64>) {
        self.androidID = androidID
        self.securityToken = securityToken
    }
}

/// What a device hears from the server.
public enum DeviceEvent: Sendable {
    /// The login stands.
    case loggedIn
    /// The login is refused; the code of the answer.
    case loginRefused(code: Int32)
    /// A message of an app server.
    case message(DeviceMessage)
    /// The server has a message of this device, and did not refuse it; its persistent id, empty for fire and forget.
    case upstreamStored(persistentID: [UInt8])
    /// A sign of life of the server, or its answer to ours.
    case heartbeat(isAnswer: Bool)
    /// The server asks whether the device is in use, and has been answered (mcs-device 3.5).
    case idleAsked
    /// The server asks to come again.
    case closeRequested
    /// Something that is understood by none of the above; a name for it.
    case unexpected(String)
    /// The connection is gone, always the last event; the words of the system or of OpenSSL, where there are any.
    case closed(CloseReason, detail: String)
}

/// A message as a device receives it (mcs-device 2).
public struct DeviceMessage: Sendable {
    /// By which the server knows it after a reconnect; empty for a message that is not stored.
    public var persistentID: [UInt8]
    /// The sender, as registered.
    public var from: [UInt8]
    /// The app.
    public var category: [UInt8]
    /// The collapse key; empty for none.
    public var collapseKey: [UInt8]
    /// When the server took it, milliseconds since 1970; 0 where it does not say.
    public var sentAt: UnixMilliseconds
    /// The pairs, in order.
    public var pairs: [(key: [UInt8], value: [UInt8])]
    /// The bytes of `raw_data`: what is encrypted for a web app, or what an app server sent so; empty for none.
    public var rawData: [UInt8] = []

    /// The value of a pair.
    public subscript(key: StaticString) -> [UInt8]? {
        pairs.first { $0.key.raw.equals(key) }?.value
    }

    /// Whether the server asks for an acknowledgement at once.
    public var wantsImmediateAcknowledgement = false

    /// Whether it is encrypted for a web app (mcs-device 7.1).
    public var isEncrypted: Bool {
        !rawData.isEmpty && (self["crypto-key"] != nil || self["content-encoding"] != nil)
    }

    /// Whether it is about a message of this device that no app server gets.
    private var isSendError: Bool { self["message_type"] == Array("send_error".utf8) }
    /// Whether it says that the server refused a message of this device (mcs-device 4.4).
    public var isRefusal: Bool { isSendError && !wantsImmediateAcknowledgement }
    /// Whether it says that no app server took a message of this device that was stored.
    public var isReturn: Bool { isSendError && wantsImmediateAcknowledgement }

    /// Whether it says that stored messages were discarded.
    public var isDeletedMarker: Bool { self["message_type"] == Array("deleted_messages".utf8) }
}

/// When a device acknowledges what it has received (mcs-device 3.3).
public enum DeviceAcknowledgement: Sendable {
    /// Not even at the next login: everything comes again.
    case nothing
    /// Never, as several libraries do: the next login says what came.
    case never
    /// By a stream ack after each batch of bytes that held a message.
    case stream
    /// By a stream ack after so many messages, as Chromium does after 10.
    case streamEvery(Int)
    /// By the ids of the messages.
    case selective
    /// By the ids of the messages, each said twice, as a device that is not sure does.
    case twice
    /// By the calls of its owner alone (`acknowledge`, `acknowledgeAll`), who also keeps the ids for the next login.
    case manual
}

/// A message to an app server, as a device sends it (mcs-device 4.1).
public struct Upstream: Sendable {
    /// The sender ID it goes to.
    public var sender: SenderID
    /// The notification key of a group that it goes to in place of that.
    public var group: [UInt8]?
    /// The app that sends it.
    public var category: [UInt8]
    /// The app's id for it.
    public var messageID: [UInt8]
    /// By which repeats are known; empty for fire and forget.
    public var persistentID: [UInt8]
    /// Seconds it may wait, 0 … 86,400.
    public var lifetimeSeconds = Limits.Message.upstreamLifetimeSeconds
    /// The pairs, in order.
    public var data: [(key: [UInt8], value: [UInt8])] = []

    /// A message; all parts are the caller's.
    public init(sender: SenderID, category: [UInt8], messageID: [UInt8], persistentID: [UInt8]) {
        self.sender = sender
        self.category = category
        self.messageID = messageID
        self.persistentID = persistentID
    }
}
