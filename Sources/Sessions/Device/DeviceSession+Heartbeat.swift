import Basics
import Delivery
import Wire

/// Heartbeats and silence (mcs-device 3.6).
extension DeviceSession {
    /// Answers a ping at once; an answer is never answered, so there is no loop with clients that answer pings by pings.
    mutating func handlePing(_ ping: MCS.Heartbeat, now: Now, io: inout SessionIO) {
        noteAcknowledged(ping.lastStreamIDReceived)
        noteStatus(ping.status, io: &io)
        if unansweredSince != nil { answersPings = true }
        unansweredSince = nil
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        MCS.Heartbeat(lastStreamIDReceived: ack, status: ping.status)
            .append(as: .heartbeatAck, to: &io.out.bytes)
        endFrame(io: &io)
    }

    /// Notes that the client answers pings.
    mutating func handleAck(_ ack: MCS.Heartbeat, io: inout SessionIO) {
        noteAcknowledged(ack.lastStreamIDReceived)
        noteStatus(ack.status, io: &io)
        answersPings = true
        unansweredSince = nil
    }

    /// Pings a silent client, or gives up one that used to answer.
    mutating func lookAtSilence(now: Now, io: inout SessionIO) {
        if let deadAt, now.monotonic >= deadAt { return end(.deadPeer, io: &io) }
        let pingDue = max(lastHeard, lastPing).advanced(seconds: pingSeconds)
        guard now.monotonic >= pingDue else {
            silenceDue = pingDue
            return
        }
        io.counts.keepalives += 1
        // Its true number: one client acknowledges by it (mcs-device 3.2).
        let ack = upstream.takeAcknowledgement(incoming: incoming)
        MCS.Heartbeat(streamID: Int32(clamping: outgoing + 1), lastStreamIDReceived: ack)
            .append(as: .heartbeatPing, to: &io.out.bytes)
        endFrame(io: &io)
        lastPing = now.monotonic
        if unansweredSince == nil { unansweredSince = now.monotonic }
        silenceDue = min(now.monotonic.advanced(seconds: pingSeconds), deadAt ?? .distantFuture)
    }

    /// When silence means death: long after the last sign of life, and not before a ping had time to be answered.
    private var deadAt: Instant? {
        guard answersPings, let unansweredSince else { return nil }
        return max(
            lastHeard.advanced(seconds: Limits.Device.silenceSeconds),
            unansweredSince.advanced(seconds: pingSeconds))
    }
}
