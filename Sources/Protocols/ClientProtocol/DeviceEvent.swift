public import Basics

/// The identity of a device: its Android ID and security token (mcs-device 5.1).
public struct DeviceIdentity: Sendable {
    public var androidID: UInt64
    public var securityToken: Redacted<UInt64>

    /// Creates an identity.
    public init(androidID: UInt64, securityToken: Redacted<UInt64>) {
        self.androidID = androidID
        self.securityToken = securityToken
    }
}

/// An event on the connection of a device.
public enum DeviceEvent: Sendable {
    /// The login succeeded.
    case loggedIn
    /// The login was refused with this code.
    case loginRefused(code: Int32)
    /// A message from an app server.
    case message(DeviceMessage)
    /// The server has received and not refused a message of this device; the ID is empty for fire and forget. `frame` is what `send`
    /// returned; `nil` if the server named the message by its ID, which other messages may share.
    case upstreamStored(persistentID: [UInt8], frame: Int32?)
    /// A heartbeat from the server, or its answer to one of the device.
    case heartbeat(isAnswer: Bool)
    /// The server asked whether the device is idle, and the machine has answered (mcs-device 3.5).
    case idleAsked
    /// The server asked the device to reconnect.
    case closeRequested
    /// Any other input, with a description.
    case unexpected(String)
    /// The connection has ended, always the last event; `detail` is the error text of the system or of OpenSSL, if any.
    case closed(CloseReason, detail: String)
}

/// A message as a device receives it (mcs-device 2).
public struct DeviceMessage: Sendable {
    /// Identifies the message to the server across connections; empty for a message that is not stored.
    public var persistentID: [UInt8]
    /// The sender, as registered.
    public var from: [UInt8]
    /// The app.
    public var category: [UInt8]
    /// The collapse key; empty for none.
    public var collapseKey: [UInt8]
    /// When the server accepted the message, or 0 if not given.
    public var sentAt: UnixMilliseconds
    /// The pairs, in order.
    public var pairs: [(key: [UInt8], value: [UInt8])]
    /// The bytes of `raw_data`: the ciphertext for a web app, or what an app server sent as such; empty for none.
    public var rawData: [UInt8] = []

    /// The value of the first pair with that key, or `nil`.
    public subscript(key: StaticString) -> [UInt8]? {
        pairs.first { $0.key.raw.equals(key) }?.value
    }

    /// Whether the server requests an immediate acknowledgement.
    public var wantsImmediateAcknowledgement = false

    /// Whether the message is encrypted for a web app (mcs-device 7.1).
    public var isEncrypted: Bool {
        !rawData.isEmpty && (self["crypto-key"] != nil || self["content-encoding"] != nil)
    }

    /// Whether it reports a message of this device that no app server receives.
    private var isSendError: Bool { self["message_type"] == Array("send_error".utf8) }
    /// Whether it reports that the server refused a message of this device (mcs-device 4.4).
    public var isRefusal: Bool { isSendError && !wantsImmediateAcknowledgement }
    /// The frame of the refused message, as `send` returned it: the first one that is unconfirmed and has the message ID. `nil` if
    /// there is none, or the message is not a refusal.
    public var refusedFrame: Int32?
    /// Whether it reports that a stored message of this device reached no app server.
    public var isReturn: Bool { isSendError && wantsImmediateAcknowledgement }

    /// Whether it reports that stored messages were discarded.
    public var isDeletedMarker: Bool { self["message_type"] == Array("deleted_messages".utf8) }
}

/// When a device acknowledges what it has received (mcs-device 3.3).
public enum DeviceAcknowledgement: Sendable {
    /// Not even at the next login: everything is redelivered.
    case nothing
    /// Only at the next login, as several libraries do.
    case never
    /// By a stream ack after each `receive` that contained a message.
    case stream
    /// By a stream ack after this number of messages; Chromium uses 10.
    case streamEvery(Int)
    /// By the IDs of the messages.
    case selective
    /// By the IDs of the messages, each sent twice, as a device does after a lost acknowledgement.
    case twice
    /// Only by the owner's calls of `acknowledge` and `acknowledgeAll`; the owner also saves the IDs for the next login.
    case manual
}

/// A message to an app server, as a device sends it (mcs-device 4.1).
public struct Upstream: Sendable {
    /// The sender ID of the addressee.
    public var sender: SenderID
    /// The notification key of a group as addressee in place of the sender.
    public var group: [UInt8]?
    /// The app that sends it.
    public var category: [UInt8]
    /// The app's ID of the message.
    public var messageID: [UInt8]
    /// Identifies repetitions of the message; empty for fire and forget.
    public var persistentID: [UInt8]
    /// The time to live in seconds, 0 … 86,400.
    public var lifetimeSeconds = Limits.Message.upstreamLifetimeSeconds
    /// The pairs, in order.
    public var data: [(key: [UInt8], value: [UInt8])] = []

    /// Creates a message without data.
    public init(sender: SenderID, category: [UInt8], messageID: [UInt8], persistentID: [UInt8]) {
        self.sender = sender
        self.category = category
        self.messageID = messageID
        self.persistentID = persistentID
    }
}
