import Basics
import Cluster
import ClusterLog
import Delivery
import NATSClient
import NodeProtocol
import Store
import Transport
import Wire

/// The logs of the partitions.
extension ClusterHost {
    func makeLogs() -> JetStreamClient {
        JetStreamClient(settings: settings.nats, names: settings.names, reactor: reactor) {
            [unowned self] event in handle(event, reactor.now)
        }
    }

    // MARK: What this node writes

    /// Submits a batch of a partition to its log. If this node does not own it, or an earlier one has failed, the batch fails at once.
    func submit(
        _ batch: WriteBatch, of partition: Int, _ listener: HostedReplica.Listener, _ now: Now
    ) {
        let hosted = replicas[partition]
        let submission = HostedReplica.Submission(batch: batch, listener: listener)
        if case .partition = listener, !hosted.order.allows(batch) {
            return report(.failed(batch.batchNumber), to: partition)
        }
        do throws(StoreError) {
            writer.removeAll()
            guard try writer.append(batch) else { return fail(submission, of: partition) }
        } catch {
            log.repeating(
                .error, "invariant_broken", by: error.description, ["problem": .text(error.description)])
            return fail(submission, of: partition)
        }
        let number = hosted.replica.submit(writer.bytes, now: now, effects: &effects)
        if number == nil { fail(submission, of: partition) } else { hosted.add(submission) }
        perform(hosted, now)
    }

    /// Has a batch of the control plane written, all of whose changes belong to one partition.
    func submit(_ write: ControlWrite, _ now: Now) {
        route(.change(ControlChange(write.batch, of: partition(of: write.batch)), add(write.completed)), now)
    }

    /// The partition of the sender that a batch of the control plane changes. `nil` for one that changes nothing.
    func partition(of batch: WriteBatch) -> Int? {
        let sender = batch.mutations.lazy.compactMap(\.sender).first
        return sender.map { PartitionKey.sender($0).partition(of: map.partitions) }
    }

    private func fail(_ submission: HostedReplica.Submission, of partition: Int) {
        switch submission.listener {
        case .partition: report(replicas[partition].order.fail(submission.batch.batchNumber), to: partition)
        case .change(let origin): route(.completed(origin, at: nil), reactor.now)
        }
    }

    private func report(_ outcome: CommitOutcome, to partition: Int) {
        incoming[map.reactor(of: partition)].reports.append(
            StoreReport(partition: partition, .committed(outcome)))
    }

    /// Reports all batches without an outcome as failed, with those of a last parcel: the thread ends. Whether those in flight count,
    /// the next process reads.
    func answerAll(_ rest: ClusterParcel, _ now: Now) {
        for hosted in replicas { handle(.stop, of: hosted, now) }
        for batch in rest.batches {
            fail(HostedReplica.Submission(batch: batch.batch, listener: .partition), of: batch.partition)
        }
        for write in rest.writes { write.completed(.failed(write.batch.batchNumber)) }
        route(.stop, now)
        inquire { $0.stop(effects: &$1) }
        for completed in changes.values { completed(.failed(0)) }
        changes = [:]
    }

    // MARK: What the logs report

    private func handle(_ event: JetStreamEvent, _ now: Now) {
        switch event {
        case .stored(let partition, let name, let position):
            health.confirmed(now.monotonic)
            handle(.stored(name, at: position), of: replicas[partition], now)
        case .refused(let partition, let name, let failure):
            report(failure, .append, of: partition)
            handle(.refused(name), of: replicas[partition], now)
        case .record(let partition, let position, let record):
            handle(.record(record, at: position), of: replicas[partition], now)
        case .end(let partition, let position): handle(.end(position), of: replicas[partition], now)
        case .readFailed(let partition, _, let failure):
            if case .removed(let first) = failure {
                handle(.removed(first: first), of: replicas[partition], now)
            }
            report(failure, .read, of: partition)
            handle(.readFailed, of: replicas[partition], now)
        case .followed(let partition, let position, let record):
            handle(.followed(record, at: position), of: replicas[partition], now)
        case .followFailed(let partition, let failure):
            report(failure, .follow, of: partition)
            if case .removed(let first) = failure {
                handle(.removed(first: first), of: replicas[partition], now)
            }
        case .connected(let server):
            disconnectedSince = nil
            contact.connected()
            figuresDue = .distantPast
            log.notice("cluster_log_connected", ["server": .text(server.name)])
            for hosted in replicas { handle(.connected, of: hosted, now) }
        case .disconnected(let server, let failure):
            disconnectedSince = now.monotonic
            health.disconnected(now.monotonic)
            contact.disconnected(now.monotonic)
            figuresDue = .distantPast
            let isReturn = failure == .returned
            if !isReturn { tally.disconnected() }
            log.write(
                isReturn ? .notice : .warning, "cluster_log_disconnected",
                ["server": .text("\(server)"), "problem": .text("\(failure)")])
            for hosted in replicas { handle(.disconnected, of: hosted, now) }
        case .attemptFailed(let server, let failure):
            log.repeating(
                .error, "cluster_log_unreachable", by: "\(server) \(failure)",
                ["server": .text("\(server)"), "problem": .text("\(failure)")])
        case .warning(let error):
            log.repeating(.warning, "cluster_log_warning", by: "\(error)", ["problem": .text("\(error)")])
        case .stream(let partition, let info, let problems): examined(partition, info, problems)
        case .streamFailed(let partition, let failure):
            replicas[partition].loss.failed()
            report(failure, .examine, of: partition)
            if case .refused(let error) = failure, error.isMissingStream { missing(partition) }
        case .purgeFailed(let partition, _, let failure): report(failure, .purge, of: partition)
        case .message(let message): heard(message, now)
        case .caughtUp, .purged, .leaving: break
        }
    }

    private func report(_ failure: JetStreamFailure, _ action: Metric.LogAction, of partition: Int) {
        // After a lost connection every request fails: that was logged.
        guard failure != .disconnected else { return }
        tally.refused(action)
        log.repeating(
            .warning, "cluster_log_failed", by: "\(action.rawValue) \(failure)",
            [
                "action": .text(action.rawValue), "partition": LogValue(partition),
                "problem": .text("\(failure)"),
            ])
    }

    // MARK: Replicas

    func handle(_ event: ReplicaEvent, of hosted: HostedReplica, _ now: Now) {
        hosted.replica.handle(event, now: now, effects: &effects)
        perform(hosted, now)
    }

    private func perform(_ hosted: HostedReplica, _ now: Now) {
        var made: [ReplicaEffect] = []
        swap(&made, &effects)
        for effect in made { perform(effect, hosted, now) }
        // The storage is reused.
        made.removeAll(keepingCapacity: true)
        if effects.isEmpty { swap(&made, &effects) }
        publishLease(of: hosted)
    }

    private func perform(_ effect: ReplicaEffect, _ hosted: HostedReplica, _ now: Now) {
        let partition = hosted.partition
        switch effect {
        case .append(let name):
            guard let frame = hosted.replica.frame(name) else { return }
            let isRepeated = hosted.appends.note(name, now.monotonic)
            tally.appended(frame.count, isRepeated: isRepeated)
            logs.append(frame, name, to: partition)
        case .appendRecord(let bytes):
            tally.appended(bytes.count, isRepeated: true)
            logs.append(bytes, FrameName(claim: Claim(0), number: 0), to: partition)
        case .shortened(let last):
            hosted.loss.suspect(after: last)
        case .repaired(let records):
            if hosted.loss.isProved(byRepair: records) { reportLost(hosted) }
            hosted.loss.repaired()
            log.notice(
                "cluster_log_repaired",
                ["partition": LogValue(partition), "records": LogValue(records)])
        case .read(let position): logs.read(position, of: partition)
        case .follow(let position): logs.follow(partition, after: position)
        case .stopFollowing: logs.stopFollowing(partition)
        case .pauseFollowing: logs.pauseFollowing(partition)
        case .resumeFollowing: logs.resumeFollowing(partition)
        case .examine: look(atStreamOf: partition)
        case .apply(let frame): apply(frame, hosted)
        case .fail(let range): for submission in hosted.take(range) { fail(submission, of: partition) }
        case .took(let term): took(hosted, term)
        case .surrender(let number): surrender(hosted, number)
        case .lost:
            // Also what its partition has submitted and has not come here.
            _ = hosted.order.fail(0)
            route(.lost(partition: partition), now)
        case .absent(let begins, let absence): report(absence, before: begins, of: hosted)
        case .changed: report(hosted)
        case .halted(let reason):
            news.add(
                .halted, of: partition, .text("partition \(partition): \(reason.words)"), now.monotonic)
        }
    }

    private func apply(_ frame: AppliedFrame, _ hosted: HostedReplica) {
        switch frame.content {
        case .own(let range):
            tally.confirmed(after: hosted.appends.confirm(frame.number, reactor.now.monotonic))
            let submissions = hosted.take(range)
            var batches = hosted.completed(submissions.map(\.batch), of: frame, isOwn: true)
            for (index, submission) in submissions.enumerated() {
                if case .change(let origin) = submission.listener {
                    batches[index].of.isOwn = false
                    batches[index].of.completed = completed(origin, at: frame.position)
                }
            }
            store.apply(batches)
        case .foreign(let content):
            guard let batches = Self.batches(in: content) else {
                return handle(.unreadable(frame.position), of: hosted, reactor.now)
            }
            tally.applied()
            var completed = hosted.completed(batches, of: frame, isOwn: false)
            if batches.contains(where: { $0.mutations.contains { $0.sender != nil } }) {
                let sendersChanged = sendersChanged
                completed[completed.count - 1].of.completed = { _ in sendersChanged() }
            }
            store.apply(completed)
        }
    }

    /// Reports the outcome of a change that is in the log up to a position.
    private func completed(
        _ origin: ChangeOrigin, at position: LogPosition
    ) -> @Sendable (CommitOutcome) -> Void {
        let (mailbox, sendersChanged) = (mailbox, sendersChanged)
        return { outcome in
            // Also after a change of this node: its request may have been given up.
            if !outcome.hasFailed { sendersChanged() }
            mailbox.post { host in
                host.route(.completed(origin, at: outcome.hasFailed ? nil : position), host.reactor.now)
            }
        }
    }

    /// Reads the batches of a content of another owner. Returns `nil` if one cannot be read.
    private static func batches(in content: [UInt8]) -> [WriteBatch]? {
        guard let ranges = AppliedFrame.batches(in: content) else { return nil }
        var batches: [WriteBatch] = []
        for range in ranges {
            guard let read = try? NodeProtocol.batches(content.raw.extracting(range)) else { return nil }
            batches += read
        }
        return batches
    }

    func applied(_ report: AppliedReport, _ now: Now) {
        handle(.applied(LogPosition(report.position)), of: replicas[report.partition], now)
        route(.applied(LogPosition(report.position), partition: report.partition), now)
    }

    /// Has the store synced now and then: what is durable on enough nodes can be purged from the log.
    func requestSync(_ now: Now) {
        guard now.monotonic >= syncDue else { return }
        syncDue = now.monotonic.advanced(milliseconds: Limits.ClusterHost.syncMilliseconds)
        // While the store is being replaced, nothing more is durable. A new process needs the marks and void records after the last
        // frame as well.
        guard !copy.isUnderWay else { return }
        let positions = replicas.map { $0.replica.stored }
        let mailbox = mailbox
        store.submit(WriteBatch(batchNumber: 0, mutations: [], isDurable: true)) { outcome in
            guard !outcome.hasFailed else { return }
            mailbox.post { host in
                guard !host.copy.isUnderWay else { return }
                for (hosted, position) in zip(host.replicas, positions) {
                    host.handle(.synced(position), of: hosted, host.reactor.now)
                }
            }
        }
    }
}
