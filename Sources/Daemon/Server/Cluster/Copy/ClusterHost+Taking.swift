import Basics
import Catalogue
import Cluster
import ClusterLog
import ClusterSetup
import NodeLinks
import NodeProtocol
import RocksStore
import Transport

/// The copy of another node's store, for a node that is behind a purged log.
extension ClusterHost {
    /// Asks another node for a copy if one is needed.
    func copyIfBehind(_ now: Now) {
        let begins = replicas.map { $0.replica.begins }
        guard begins.contains(where: { $0 != nil }), !membership.isDraining else { return }
        if let node = copy.isUnanswered(now.monotonic) {
            copyFailed(node, "no answer for \(Limits.StoreCopy.answerMilliseconds / 1_000) s", now)
        }
        guard copy.isDue(now.monotonic) else { return }
        let least = membership.least(begins: begins)
        let unlinked = membership.members.filter { !router.isLinked($0) }
        let source = membership.copySource(least, except: copy.excluded(now.monotonic).union(unlinked))
        guard let source else { return copy.foundNone(now.monotonic) }
        let number = SecureRandom.number()
        copy.ask(source, number: number, least, now.monotonic)
        log.notice("cluster_copy_asked", ["node": LogValue(Int(source.number))])
        guard let stream = links?.openStream(CopyHeader.request(number).encoded(), to: source) else {
            return copyFailed(source, "the link takes no request", now)
        }
        links?.end(stream, of: source, isComplete: true)
    }

    /// The node that was asked sends a copy.
    func begin(
        _ description: CopyDescription, _ number: UInt64, in stream: LinkStreamID, from node: NodeNumber,
        _ now: Now
    ) {
        guard copy.asked(node, number) else { return cancel(stream, from: node) }
        guard Int(description.layout) == RocksStore.layout else {
            cancel(stream, from: node)
            return copyFailed(
                node, "its store has layout \(description.layout), and this ccsd reads \(RocksStore.layout)",
                now)
        }
        let mailbox = mailbox
        let taker = StoreTaker(
            CopiedStore(dataDirectory: dataDirectory),
            StoreTaker.Expected(
                description: description, partitions: replicas.count,
                cluster: Array(settings.file.cluster.text.utf8), least: copy.least.map(\.number)),
            of: store.contents
        ) { count in mailbox.post { host in host.stored(count, of: stream, from: node) } }
        copy.begin(node, stream, taker, bytes: description.bytes)
        log.notice(
            "cluster_copy_begun",
            ["node": LogValue(Int(node.number)), "bytes": LogValue(Int(clamping: description.bytes))])
        do throws(TransportError) {
            try Threads.start(name: "ccsd-copy") {
                let result = Result { () throws(BackupFailure) in try taker.run() }
                mailbox.post { host in host.taken(result, stream, node) }
            }
        } catch { taken(.failure(BackupFailure(error.description, hint: "", .inputOutput)), stream, node) }
    }

    private func stored(_ count: Int, of stream: LinkStreamID, from node: NodeNumber) {
        guard copy.taker(of: stream, from: node) != nil else { return }
        copy.stored(count)
        links?.consume(count, of: stream, from: node)
    }

    private func taken(
        _ result: Result<Void, BackupFailure>, _ stream: LinkStreamID, _ node: NodeNumber
    ) {
        switch result {
        case .success:
            copy.complete(node)
            tally.copied(.received, .completed)
            log.notice(
                "cluster_copy_received",
                ["node": LogValue(Int(node.number)), "bytes": LogValue(Int(clamping: copy.total))])
            restart()
        case .failure(let failure):
            cancel(stream, from: node)
            copyFailed(node, failure.text, reactor.now)
        }
    }

    func copyFailed(_ node: NodeNumber, _ problem: String, _ now: Now) {
        copy.fail(node, problem, now.monotonic)
        tally.copied(.received, .failed)
        log.warning(
            "cluster_copy_failed", ["node": LogValue(Int(node.number)), "problem": .text(problem)])
    }

    /// Ends a copy from a node whose link is lost.
    func loseCopy(from node: NodeNumber, _ now: Now) {
        switch copy.stage {
        case .asked(node, _, _): copyFailed(node, "its link is lost", now)
        case .receiving(node, _, let taker): taker.stop("the link to the other node is lost")
        case .idle, .asked, .receiving, .complete: break
        }
    }

    func cancel(_ stream: LinkStreamID, from node: NodeNumber) { links?.cancel(stream, from: node) }
}
