public import Basics
import Client
public import ClientProtocol
import Wire

/// Who a virtual device is, which is kept over restarts.
public struct VirtualDeviceRecord: Sendable {
    /// The device, with its secret.
    public var identity: DeviceIdentity
    /// The sender that its app is registered with.
    public var sender: SenderID
    /// The name of its app.
    public var app: String
    /// The registration token. `nil` after the app was unregistered or the device forgotten.
    public var token: String?
    /// A descriptive name; may be empty.
    public var label: String
    /// Whether it is to be connected.
    public var isOnline = true
    /// Whether the server has refused its login, since it has forgotten the device.
    public var isForgotten = false
    /// Whether it acknowledges what it receives.
    public var acknowledges = true

    /// The ID of the device.
    public var device: DeviceID { DeviceID(identity.androidID) }

    init(identity: DeviceIdentity, sender: SenderID, app: String, token: String, label: String) {
        self.identity = identity
        self.sender = sender
        self.app = app
        self.token = token
        self.label = label
    }
}

/// A virtual device as it is shown.
public struct VirtualDeviceState: Sendable {
    public var record: VirtualDeviceRecord
    /// Whether it is logged in.
    public var isConnected: Bool
    /// The number of messages received so far.
    public var received: Int
    /// The number of messages that the inbox had no room for.
    public var dropped: Int
}

/// A device whose messages are read by requests.
final class VirtualDevice {
    var record: VirtualDeviceRecord
    let messages = WatchedInbox<DeviceMessage>()
    /// Its connection. `nil` while it is to be offline.
    var client: DeviceClient?
    /// What it sends.
    var sent = SentMessages()
    /// The requests that wait for an outcome of a message that it sends, by the number of the message.
    var sends: [Int: PendingSend] = [:]
    /// The IDs that an earlier connection has received and not yet confirmed.
    var received: [[UInt8]] = []

    init(_ record: VirtualDeviceRecord) { self.record = record }

    var state: VirtualDeviceState {
        VirtualDeviceState(
            record: record, isConnected: client?.isReady == true, received: messages.inbox.lastNumber,
            dropped: messages.inbox.dropped)
    }

    /// The request that waits for the device's login.
    var ready = PendingLogin()
    /// The heartbeats of its connection that are waited for.
    var roundTrips = RoundTrips()

    /// A request that waits for the outcome of a message.
    struct PendingSend {
        var until: Instant
        var completed: (SentMessage.State) -> Void
    }

    /// Reports the state of a message once; `nil` for one that no request waits for.
    func answer(_ number: Int?, _ state: SentMessage.State) {
        if let number { sends.removeValue(forKey: number)?.completed(state) }
    }
}

/// Why the test bench does not do what was asked.
public enum TestBenchProblem: Error, Sendable, Equatable {
    /// There is no such virtual device.
    case unknown(DeviceID)
    /// There are too many virtual devices.
    case full
    /// Too many requests wait for messages.
    case busy
    /// Too many messages of the device wait to be sent.
    case unsent(DeviceID)
    /// Nothing is recorded for the sender.
    case notRecorded(SenderID)
    /// Too many senders are recorded.
    case tooManyRecorders
    /// There is no listener for app servers.
    case noAppServers
    /// The app of the device was unregistered.
    case unregistered(DeviceID)
    /// The server has forgotten the device.
    case forgotten(DeviceID)
    /// The server did not let the device check in, register or unregister.
    case failed(String)
    /// The file with the identities cannot be written.
    case file(String)
}
