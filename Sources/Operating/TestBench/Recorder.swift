public import Basics
import Client
public import ClientProtocol

/// What a recorder has taken in place of an app server.
public struct RecordedMessage: InboxContent {
    /// What it is.
    public enum Kind: Sendable, Equatable {
        /// A message of a device.
        case message
        /// The receipt of a message to a device.
        case receipt
    }

    public var kind: Kind
    /// The stanza's content.
    public var content: ReceivedUpstream

    public var identity: [UInt8] { content.from + [0] + content.messageID }

    public var contentBytes: Int { content.from.count + content.category.count + content.data.count }
}

/// A recorder as it is shown.
public struct RecorderState: Sendable {
    public var sender: SenderID
    /// Whether it is logged in.
    public var isConnected: Bool
    /// The number of messages received so far.
    public var received: Int
    /// The number of messages that the inbox had no room for.
    public var dropped: Int
}

/// A session in place of a sender's app server, which the server uses only while no app server is connected.
final class Recorder {
    let sender: SenderID
    let client: AppServerClient
    let messages = WatchedInbox<RecordedMessage>()
    /// The request that waits for the login.
    var ready = PendingLogin()

    init(_ sender: SenderID, client: AppServerClient) {
        self.sender = sender
        self.client = client
    }

    var state: RecorderState {
        RecorderState(
            sender: sender, isConnected: client.isReady, received: messages.inbox.lastNumber,
            dropped: messages.inbox.dropped)
    }
}
