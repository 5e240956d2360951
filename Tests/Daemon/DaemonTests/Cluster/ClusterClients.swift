import Basics
import Client
import ClientProtocol
import Transport

/// A client of the load, which connects to a random node and goes to another when its connection ends or is silent.
class ClusterClient {
    /// The node that it is connected to.
    var node = 0
    /// When it last received something, and when it may connect again.
    var heard = Instant.distantPast
    var retry = Instant.distantPast
}

/// An app server of the load.
final class ClusterAppServer: ClusterClient {
    let sender: ClusterWorld.Sender
    var client: AppServerClient?
    /// The number of its connection.
    var connection = 0
    /// Messages without an answer.
    var unanswered: [String: ClusterSent] = [:]
    /// Messages to topics without an answer.
    var unansweredTopics: Set<String> = []

    init(_ sender: ClusterWorld.Sender) { self.sender = sender }
}

/// A message of an app server without an answer.
struct ClusterSent {
    var device: ClusterDevice
    var at: Instant
}

/// A device of the load.
final class ClusterDevice: ClusterClient {
    let number: Int
    let sender: ClusterWorld.Sender
    let identity: DeviceIdentity
    let token: String
    var client: DeviceClient?
    /// The messages that it lists at its next login.
    var received: [[UInt8]] = []
    /// Messages that the server has not stored, by their IDs.
    var waiting: [String: Upstream] = [:]
    /// Messages to it that were sent and have not arrived.
    var underway: Set<String> = []
    /// Messages to it whose connection ended without an answer: they arrive soon or never.
    var uncertain: [String: Instant] = [:]
    /// Whether a message to it, and one of it, was acknowledged since this was last reset.
    var isAnsweredDown = false
    var isAnsweredUp = false
    var down = PauseMeter()
    var up = PauseMeter()

    init(number: Int, sender: ClusterWorld.Sender, identity: DeviceIdentity, token: String) {
        self.number = number
        self.sender = sender
        self.identity = identity
        self.token = token
    }
}
