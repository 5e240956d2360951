import Basics
import Catalogue
import Cluster
import NodeLinks
import NodeProtocol
import Transport

/// A copy of the store that this node gives to another one.
final class GivenCopy {
    let node: NodeNumber
    /// The number of the request.
    let number: UInt64
    /// `nil` before the first byte.
    var stream: LinkStreamID?
    /// What the link has not taken, and who waits for that.
    var rest: [UInt8] = []
    var at = 0
    var waiting: Latch<Bool>?

    init(_ node: NodeNumber, _ number: UInt64) {
        self.node = node
        self.number = number
    }
}

/// The streams between nodes: requests for copies, and copies.
extension ClusterHost {
    func handle(_ event: LinkStreamEvent, of node: NodeNumber, _ now: Now) {
        switch event {
        case .opened(let stream, let header): opened(stream, header, by: node, now)
        case .chunk(let stream, let bytes): copy.taker(of: stream, from: node)?.receive(bytes)
        case .ended(let stream, let isComplete):
            copy.taker(of: stream, from: node)?.end(isComplete: isComplete)
        case .writable(let stream): if giving?.stream == stream, giving?.node == node { push() }
        case .cancelled(let stream): if giving?.stream == stream, giving?.node == node { stopGiving() }
        }
    }

    private func opened(_ stream: LinkStreamID, _ header: [UInt8], by node: NodeNumber, _ now: Now) {
        do throws(NodeProtocolFault) {
            switch try CopyHeader(decoding: header.raw) {
            case .request(let number): give(to: node, number)
            case .refused(let number, let refusal):
                if copy.asked(node, number) { copyFailed(node, refusal.words, now) }
            case .copy(let number, let description):
                begin(description, number, in: stream, from: node, now)
            }
        } catch {
            cancel(stream, from: node)
            log.error(
                "cluster_parcel_invalid",
                ["node": LogValue(Int(node.number)), "problem": .text(error.description)])
        }
    }

    // MARK: Giving

    /// Another node wants a copy.
    private func give(to node: NodeNumber, _ number: UInt64) {
        let isCurrent = replicas.allSatisfy { $0.replica.report.role.isCurrent }
        guard isCurrent, !membership.isDraining else { return refuse(.unfit, number, to: node) }
        guard giving == nil, !backups.isBusy else { return refuse(.busy, number, to: node) }
        giving = GivenCopy(node, number)
        let mailbox = mailbox
        let giver = StoreGiver(
            backups: backups, name: "node \(node.number)",
            begin: { description, latch in
                mailbox.post { host in host.begin(description, of: number, latch) }
            },
            send: { bytes, latch in mailbox.post { host in host.send(bytes, of: number, latch) } })
        do throws(TransportError) {
            try Threads.start(name: "ccsd-giver") {
                let result = Result { () throws(BackupFailure) in try giver.run() }
                mailbox.post { host in host.gave(result, number) }
            }
        } catch {
            gave(.failure(BackupFailure(error.description, hint: "", .inputOutput)), number)
        }
    }

    private func refuse(_ refusal: CopyRefusal, _ number: UInt64, to node: NodeNumber) {
        let header = CopyHeader.refused(number, refusal).encoded()
        guard let stream = links?.openStream(header, to: node) else { return }
        links?.end(stream, of: node, isComplete: false)
    }

    private func begin(_ description: CopyDescription, of number: UInt64, _ latch: Latch<Bool>) {
        guard let giving, giving.number == number else { return latch.fulfil(false) }
        giving.stream = links?.openStream(
            CopyHeader.copy(number, description).encoded(), to: giving.node)
        latch.fulfil(giving.stream != nil)
        log.notice(
            "cluster_copy_giving",
            [
                "node": LogValue(Int(giving.node.number)),
                "bytes": LogValue(Int(clamping: description.bytes)),
            ])
    }

    private func send(_ bytes: [UInt8], of number: UInt64, _ latch: Latch<Bool>) {
        guard let giving, giving.number == number, giving.stream != nil else { return latch.fulfil(false) }
        (giving.rest, giving.at, giving.waiting) = (bytes, 0, latch)
        push()
    }

    /// Sends what the link takes of the current part.
    private func push() {
        guard let giving, let stream = giving.stream, let latch = giving.waiting else { return }
        let (rest, at) = (giving.rest, giving.at)
        let taken = links?.write(rest.raw.extracting(at..<rest.count), to: stream, of: giving.node) ?? 0
        giving.at = at + taken
        guard giving.at == rest.count else { return }
        (giving.rest, giving.waiting) = ([], nil)
        latch.fulfil(true)
    }

    /// The other node wants no more, or its link is lost.
    private func stopGiving() {
        giving?.waiting?.fulfil(false)
        giving?.waiting = nil
        giving?.stream = nil
    }

    func loseGiving(to node: NodeNumber) { if giving?.node == node { stopGiving() } }

    /// The thread of a copy has ended.
    private func gave(_ result: Result<Void, BackupFailure>, _ number: UInt64) {
        guard let giving, giving.number == number else { return }
        self.giving = nil
        let node = LogValue(Int(giving.node.number))
        switch result {
        case .success:
            tally.copied(.sent, .completed)
            log.notice("cluster_copy_given", ["node": node])
        case .failure(let failure):
            tally.copied(.sent, .failed)
            log.warning("cluster_copy_failed", ["node": node, "problem": .text(failure.text)])
            if giving.stream == nil { refuse(.failed, number, to: giving.node) }
        }
        guard let stream = giving.stream else { return }
        let isComplete = if case .success = result { true } else { false }
        links?.end(stream, of: giving.node, isComplete: isComplete)
    }
}
