import Basics
import Delivery
import Wire

/// Heartbeats and silence (mcs-device 3.6).
extension DeviceSession.Open {
    /// Answers a ping at once; answers are not answered, so there is no loop with clients that answer pings with pings.
    mutating func handlePing(_ ping: MCS.Heartbeat, now: Now, io: inout SessionIO) {
        recordAcknowledged(ping.lastStreamIDReceived)
        recordStatus(ping.status, io: &io)
        if unansweredSince != nil { answersPings = true }
        unansweredSince = nil
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        MCS.Heartbeat(lastStreamIDReceived: ack, status: ping.status)
            .append(as: .heartbeatAck, to: &io.out.bytes)
        endFrame(io: &io)
    }

    /// Handles the answer to a ping.
    mutating func handleAck(_ ack: MCS.Heartbeat, io: inout SessionIO) {
        recordAcknowledged(ack.lastStreamIDReceived)
        recordStatus(ack.status, io: &io)
        answersPings = true
        unansweredSince = nil
    }

    /// Pings a silent client, or closes its connection if it used to answer pings and has stopped.
    mutating func checkSilence(now: Now, io: inout SessionIO) {
        if now.hasReached(deadAt) { return io.close = .deadPeer }
        let pingDue = max(lastReceived, lastPing).advanced(seconds: client.pingSeconds)
        guard now.monotonic >= pingDue else {
            silenceDue = pingDue
            return
        }
        io.counts.keepalives += 1
        // The stream ID must be correct, because one client acknowledges with it (mcs-device 3.2).
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        MCS.Heartbeat(streamID: Int32(clamping: outgoing + 1), lastStreamIDReceived: ack)
            .append(as: .heartbeatPing, to: &io.out.bytes)
        endFrame(io: &io)
        lastPing = now.monotonic
        if unansweredSince == nil { unansweredSince = now.monotonic }
        silenceDue = now.monotonic.advanced(seconds: client.pingSeconds).orEarlier(deadAt)
    }

    /// When a silent client is considered dead: `Limits.Device.silenceSeconds` after its last bytes, and not before a ping had
    /// time to be answered. `nil` if the client does not answer pings or has answered all.
    private var deadAt: Instant? {
        guard answersPings, let unansweredSince else { return nil }
        return max(
            lastReceived.advanced(seconds: Limits.Device.silenceSeconds),
            unansweredSince.advanced(seconds: client.pingSeconds))
    }
}
