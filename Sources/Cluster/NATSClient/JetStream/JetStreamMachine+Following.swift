import Basics
import ClusterLog
import Wire

/// Followers of streams.
extension JetStreamMachine {
    /// Follows the stream of a partition after a position; a follower that exists starts anew.
    mutating func follow(_ partition: Int, after position: LogPosition, now: Instant) {
        stopFollowing(partition)
        followers[partition] = Follower(after: position)
        ask(partition, now)
    }

    mutating func stopFollowing(_ partition: Int) {
        guard let follower = followers.removeValue(forKey: partition) else { return }
        if let number = follower.request { requests.remove(number) }
    }

    /// Stops asking for records; those of the current batch are still reported.
    mutating func pauseFollowing(_ partition: Int) {
        followers[partition]?.isPaused = true
        if case .waiting = followers[partition]?.state { followers[partition]?.state = .paused }
    }

    mutating func resumeFollowing(_ partition: Int, now: Instant) {
        followers[partition]?.isPaused = false
        if followers[partition]?.state == .paused { ask(partition, now) }
    }

    // MARK: Asking

    /// Asks any replica for the next batch.
    mutating func ask(_ partition: Int, _ now: Instant) {
        guard let follower = followers[partition] else { return }
        guard isConnected else { return set(partition, .disconnected) }
        guard !follower.isPaused else { return set(partition, .paused) }
        followers[partition]?.received = 0
        let payload =
            "{\"seq\":\(follower.position.next.number),\"next_by_subj\":\"\(names.subject(partition))\","
            + "\"batch\":\(Limits.JetStream.followRecords),\"max_bytes\":\(Limits.JetStream.followBytes)}"
        let number = send(
            .batch(partition), Array(payload.utf8), to: "$JS.API.DIRECT.GET.\(names.stream(partition))",
            now: now)
        guard let number else { return wait(partition, now) }
        set(partition, .asked(number, until: Self.answerDeadline(now)))
    }

    /// Asks again in a moment; the wait doubles from time to time. Long ones end at the same moments for all followers, which then share a
    /// wake-up.
    mutating func wait(_ partition: Int, _ now: Instant) {
        guard let follower = followers[partition], follower.state != .disconnected else { return }
        guard !follower.isPaused else { return set(partition, .paused) }
        let longest = Limits.JetStream.longestFollowMilliseconds
        followers[partition]?.pause = min(longest, follower.pause * 2)
        var until = now.advanced(milliseconds: follower.pause)
        if follower.pause > Limits.JetStream.followMilliseconds {
            until = until.floored(toMilliseconds: follower.pause)
        }
        set(partition, .waiting(until: until))
    }

    private mutating func set(_ partition: Int, _ state: Follower.State) {
        followers[partition]?.state = state
        followTick = min(followTick, followers[partition]?.tick ?? .distantFuture)
    }

    private static func answerDeadline(_ now: Instant) -> Instant {
        now.advanced(milliseconds: Limits.JetStream.followAnswerMilliseconds)
    }

    /// Does what is due, and finds out when the next thing is.
    mutating func tickFollowers(_ now: Instant) {
        followTick = .distantFuture
        for partition in followers.keys.sorted() {
            guard let follower = followers[partition], follower.tick <= now else { continue }
            if case .asked(let number, _) = follower.state {
                requests.remove(number)
                followerFailed(partition, .timedOut)
            }
            ask(partition, now)
        }
        for follower in followers.values { followTick = min(followTick, follower.tick) }
    }

    /// Reports that a follower gets no good answer, once until the next good one.
    mutating func followerFailed(_ partition: Int, _ failure: JetStreamFailure) {
        guard followers[partition]?.isFailing == false, failure != .disconnected else { return }
        followers[partition]?.isFailing = true
        followers[partition]?.hasCaughtUp = false
        events.append(.followFailed(partition, failure))
    }

    // MARK: Answers

    /// A record of a batch, or its end.
    mutating func received(_ message: NATSMessage, for partition: Int, _ number: UInt64, _ now: Instant) {
        guard let follower = followers[partition] else { return }
        guard let status = message.status else { return received(message, follower, partition, number, now) }
        requests.remove(number)
        switch status {
        case 204: ended(behind: message.number("nats-num-pending") ?? 0, partition, now)
        case 404: ended(behind: 0, partition, now)
        case 503: failed(.noResponder)
        default: failed(.refused(JetStreamError(status: status, code: 0, description: "direct read")))
        }
        func failed(_ failure: JetStreamFailure) {
            followerFailed(partition, failure)
            followers[partition]?.pause = Limits.JetStream.longestFollowMilliseconds
            wait(partition, now)
        }
    }

    private mutating func received(
        _ message: NATSMessage, _ follower: Follower, _ partition: Int, _ number: UInt64, _ now: Instant
    ) {
        let next = follower.position.next
        guard let sequence = message.number("nats-sequence") else {
            requests.remove(number)
            followerFailed(partition, .unreadable)
            return wait(partition, now)
        }
        guard sequence >= next.number else { return }
        guard sequence == next.number else {
            // Either it was removed, or only lost on the way: ask the leader.
            requests.remove(number)
            guard let asked = sendRead(.first(partition), next, partition, now) else {
                return wait(partition, now)
            }
            return set(partition, .checking(asked))
        }
        followers[partition]?.behind = message.number("nats-num-pending")
        followers[partition]?.state = .asked(number, until: Self.answerDeadline(now))
        report(message.payload, next, partition)
    }

    private mutating func report(_ payload: [UInt8], _ position: LogPosition, _ partition: Int) {
        followers[partition]?.position = position
        followers[partition]?.received += 1
        followers[partition]?.isFailing = false
        events.append(.followed(partition, position, payload))
    }

    /// A batch has ended.
    private mutating func ended(behind: UInt64, _ partition: Int, _ now: Instant) {
        guard let follower = followers[partition] else { return }
        followers[partition]?.isFailing = false
        followers[partition]?.behind = behind
        // Not all the way at once: in an idle stream each record is a renewed lease, and alone.
        if follower.received > 0 {
            followers[partition]?.pause = max(Limits.JetStream.followMilliseconds, follower.pause / 4)
        }
        guard behind == 0 else {
            followers[partition]?.hasCaughtUp = false
            // A batch without a record of its own would be asked for in a loop.
            return follower.received > 0 ? ask(partition, now) : wait(partition, now)
        }
        if !follower.hasCaughtUp {
            followers[partition]?.hasCaughtUp = true
            events.append(.caughtUp(partition, follower.position))
        }
        wait(partition, now)
    }

    /// The leader's first record at or after the next position.
    mutating func first(_ answer: JetStreamMessageAnswer, _ partition: Int, _ now: Instant) {
        guard let next = followers[partition]?.position.next else { return }
        switch answer {
        case .message(next.number, let payload):
            report(payload, next, partition)
            ask(partition, now)
        case .message(let sequence, _) where sequence > next.number:
            followers[partition] = nil
            events.append(.followFailed(partition, .removed(first: LogPosition(sequence))))
        case .none, .message, .unreadable, .noResponder, .refused: wait(partition, now)
        }
    }
}
