import Basics
import Delivery

/// The upstream messages of a connection that wait to be stored, and the limit they put on the acknowledgement of frames.
///
/// A frame may be acknowledged only once its message and all before it are on disk or permanently refused.
struct DeviceUpstreamWindow {
    /// An upstream message that the core has not answered.
    struct Waiting {
        /// The request ID towards the core.
        var requestID: UInt32
        /// The frame that contained the message.
        var streamID: Int
        /// The app.
        var category: [UInt8]
        /// The app's ID of the message.
        var messageID: [UInt8]
        /// The target account.
        var sender: SenderID
        /// When the frame arrived.
        var receivedAt: Instant
    }

    /// Oldest first; limited to `Limits.Device.waitingUpstream`.
    private(set) var waiting: [Waiting] = []
    private var nextRequestID: UInt32 = 0
    /// The first frame that is never acknowledged on this connection, because it could not be stored, and when the connection closes
    /// so that the device reconnects.
    private(set) var barrier: (streamID: Int, retryDue: Instant)?
    /// The count that was last sent to the device.
    private var reported = 0

    /// Returns whether there is room for one more message of an app.
    func hasRoom(for category: [UInt8]) -> Bool {
        guard waiting.count < Limits.Device.waitingUpstream else { return false }
        return waiting.count < Limits.Mailbox.waitingUpstream
            || waiting.count(where: { $0.category == category }) < Limits.Mailbox.waitingUpstream
    }

    /// Adds a message and returns its request ID.
    mutating func add(
        streamID: Int, category: [UInt8], messageID: [UInt8], sender: SenderID, receivedAt: Instant
    ) -> UInt32 {
        nextRequestID &+= 1
        waiting.append(
            Waiting(
                requestID: nextRequestID, streamID: streamID, category: category, messageID: messageID,
                sender: sender, receivedAt: receivedAt))
        return nextRequestID
    }

    /// Removes and returns the message of a request ID; `nil` if it is not waiting.
    @discardableResult
    mutating func resolve(_ requestID: UInt32) -> Waiting? {
        guard let at = waiting.firstIndex(where: { $0.requestID == requestID }) else { return nil }
        return waiting.remove(at: at)
    }

    /// Prevents the acknowledgement of this frame and all later ones. The connection closes at the first `retryDue`.
    mutating func block(from streamID: Int, retryDue: Instant) {
        barrier = (min(barrier?.streamID ?? streamID, streamID), barrier?.retryDue ?? retryDue)
    }

    /// Returns how many frames may be acknowledged and are not yet.
    func owed(incoming: Int) -> Int { acknowledgeable(incoming) - reported }

    /// Returns the count of frames to acknowledge and records it as sent; `nil` if there is nothing new.
    mutating func takeAcknowledgement(incoming: Int) -> Int32? {
        let count = acknowledgeable(incoming)
        guard count > reported else { return nil }
        reported = count
        return Int32(clamping: count)
    }

    private func acknowledgeable(_ incoming: Int) -> Int {
        min(incoming, (barrier?.streamID ?? .max) - 1, (waiting.first?.streamID ?? .max) - 1)
    }
}
