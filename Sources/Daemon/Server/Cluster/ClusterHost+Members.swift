import Basics
import Cluster
import ClusterLog
import ClusterSetup
import Delivery
import NATSClient
import NodeLinks
import Store
import Transport
import Wire

/// The other nodes, and who owns what.
extension ClusterHost {
    // MARK: Heartbeats

    func subscribeToHeartbeats() {
        guard logs.subscribe(settings.heartbeatSubject) == nil else { return }
        log.error("cluster_heartbeats_failed", ["subject": .text(settings.heartbeatSubject)])
    }

    /// A message for the subscription.
    func heard(_ message: NATSMessage, _ now: Now) {
        do throws(HeartbeatFault) {
            let heartbeat = try settings.heartbeatSeal.open(message.payload.raw)
            handle(.heartbeat(heartbeat), now)
            publishKnowledge()
        } catch {
            log.repeating(
                .warning, "cluster_heartbeat_invalid", by: "\(error)", ["problem": .text("\(error)")])
        }
    }

    // MARK: Membership

    func handle(_ event: MembershipEvent, _ now: Now) {
        var made: [MembershipEffect] = []
        membership.handle(event, now: now, effects: &made)
        perform(made, now)
    }

    func perform(_ made: [MembershipEffect], _ now: Now) {
        for effect in made { perform(effect, now) }
    }

    /// Reports the state of a replica to the membership.
    func report(_ hosted: HostedReplica) {
        let now = reactor.now
        handle(.local(partition: hosted.partition, hosted.replica.report(at: now.monotonic)), now)
    }

    private func perform(_ effect: MembershipEffect, _ now: Now) {
        switch effect {
        case .send(let heartbeat):
            logs.publish(settings.heartbeatSeal.seal(heartbeat), to: settings.heartbeatSubject)
        case .owner(let partition, let owner): route(.owner(partition: partition, owner), now)
        case .claim(let partition, let released):
            handle(
                .claim(Claim(SecureRandom.number()), released: released), of: replicas[partition], now)
        case .abandon(let partition): handle(.abandon, of: replicas[partition], now)
        case .release(let partition, let node): route(.leaves(partition: partition, to: node), now)
        case .resume(let partition): route(.resumed(partition: partition), now)
        case .member(let node): memberChanged(node)
        case .frameVersion(let version):
            log.notice("cluster_frame_version", ["version": LogValue(version.map { Int($0) } ?? 0)])
            writeFrames(of: membership.writtenFrameVersion)
        case .roster: rosterState.change()
        case .raised(let alarm): log.error("cluster_alarm", ["alarm": .text(alarm.words)])
        case .cleared(let alarm): log.notice("cluster_alarm_over", ["alarm": .text(alarm.words)])
        case .drained:
            drained?()
            drained = nil
        }
    }

    /// Has the owners among the replicas write frames of a version.
    func writeFrames(of version: UInt8) {
        for hosted in replicas { handle(.writes(version: version), of: hosted, reactor.now) }
    }

    /// Stores the roster if it has changed: the next process needs to know which nodes there were. The disk keeps another thread waiting,
    /// since heartbeats must not wait for it.
    func storeRoster() {
        guard let waiting = rosterState.begin() else { return }
        let (encoded, mailbox) = (membership.roster.encoded, mailbox)
        let isTaken = store.perform { store in
            let failure: StoreError?
            do throws(StoreError) {
                try store.setSetting(Startup.rosterSetting, encoded)
                failure = nil
            } catch { failure = error }
            mailbox.post { $0.storedRoster(failure) }
            for answer in waiting { answer(failure == nil) }
        }
        guard !isTaken else { return }
        rosterState.end(failed: true)
        for answer in waiting { answer(false) }
    }

    private func storedRoster(_ failure: StoreError?) {
        rosterState.end(failed: failure != nil)
        guard let failure else { return }
        log.repeating(
            .error, "store_failed", by: "roster",
            ["kind": .text(failure.kind.rawValue), "problem": .text(failure.description)])
    }

    private func memberChanged(_ node: NodeNumber) {
        guard !membership.roster.isRemoved(node) else { return forget(node) }
        links?.admit(node)
        guard let member = membership.member(node) else {
            if let listed = settings.file.nodes.first(where: { $0.number == node }) {
                links?.dial(node, at: listed.address)
            }
            return
        }
        // One that is silent is dialled at the pace of its failures.
        if member.status == .alive { links?.dial(node, at: member.heartbeat.linkAddress) }
        log.notice(
            "cluster_member",
            [
                "node": LogValue(Int(node.number)), "name": .text(member.heartbeat.name),
                "status": .text("\(member.status)"), "address": .text(member.heartbeat.linkAddress),
            ])
    }

    /// A node was removed, here or on another node.
    private func forget(_ node: NodeNumber) {
        links?.bar(node)
        log.notice(
            "cluster_node_removed", ["node": LogValue(Int(node.number)), "name": .text(name(of: node))])
    }

    /// The name of a node that may be away.
    func name(of node: NodeNumber) -> String {
        membership.member(node)?.heartbeat.name
            ?? settings.file.nodes.first { $0.number == node }?.name ?? "node-\(node.number)"
    }

    // MARK: Taking and leaving

    /// This node owns a partition, and its store has all of it.
    func took(_ hosted: HostedReplica, _ term: Term) {
        report(taken: hosted.partition)
        tally.took()
        figuresDue = .distantPast
        route(.took(partition: hosted.partition), reactor.now)
    }

    /// Has the reactor of a partition serve it.
    func serve(_ hosted: HostedReplica) {
        let (factory, partition, lease) = (factory, hosted.partition, PartitionLease())
        let failures = hosted.order.failures
        _ = hosted.lease?.set(.distantPast)
        hosted.lease = lease
        publishLease(of: hosted)
        reactors[map.reactor(of: partition)].post { host in
            host.take(partition, lease) { factory.make(partition, failuresSeen: failures) }
        }
    }

    /// Reports to the reactor of a partition until when it may let decisions out.
    func publishLease(of hosted: HostedReplica) {
        guard let lease = hosted.lease, lease.set(hosted.replica.leaseEnd) else { return }
        let partition = hosted.partition
        reactors[map.reactor(of: partition)].post { $0.turns.leaseRenewed(partition) }
    }

    /// Publishes until when this node counts as having all that is confirmed of each partition.
    func publishKnowledge() {
        let ends = replicas.map {
            membership.currentUntil($0.partition, leaseEnd: $0.replica.leaseEnd)
        }
        // The time after what was written in this turn.
        contact.note(known: ends, Now.read().monotonic)
    }

    /// No decision of a partition is to leave this node any more.
    func surrender(_ hosted: HostedReplica, _ number: UInt64) {
        let partition = hosted.partition
        reactors[map.reactor(of: partition)].post { host in
            host.turns.surrender(partition)
            // After what this turn has let out.
            host.toCluster.jobs.append { host in
                host.handle(.surrendered(number), of: host.replicas[partition], host.reactor.now)
            }
        }
    }

    /// A partition that was served is lost.
    func lost(_ hosted: HostedReplica) {
        _ = hosted.lease?.set(.distantPast)
        hosted.lease = nil
        tally.lost()
        figuresDue = .distantPast
        report(lost: hosted.partition)
    }

    /// Has the reactors leave a partition; its own one reports when it has (`ReactorHost.removeLeft`).
    func leave(_ partition: Int, _ number: UInt64) {
        // Events that the partition still gets come first, and reports of failed batches: it is not to wait for them.
        postIncoming()
        for reactor in reactors { reactor.post { host in host.leave(partition, number) } }
    }
}
