import Basics
import ClusterLog

/// A commit that was confirmed or applied: where, by whose term, and its content.
struct Applied: Hashable {
    var position: UInt64
    var epoch: UInt64
    var content: UInt64
}

/// What must hold in every simulated run. The rule of the readers is written here a second time, over the whole log at once.
struct LogCheckers {
    private(set) var found: [String] = []
    private var confirmed: [Applied] = []
    private var confirmers: [UInt64: Int] = [:]

    mutating func mustHold(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds, found.count < 20 { found.append(text()) }
    }

    var confirmedCount: Int { confirmed.count }

    /// A node has acknowledged a commit to its clients.
    mutating func confirmed(_ commit: Applied, by node: Int) {
        let owner = confirmers.updateValue(node, forKey: commit.epoch) ?? node
        mustHold(owner == node, "owners: nodes \(owner) and \(node) confirm in epoch \(commit.epoch)")
        confirmed.append(commit)
    }

    /// A node owns the partition.
    mutating func took(_ epoch: Epoch, by node: Int) {
        let owner = confirmers.updateValue(node, forKey: epoch.number) ?? node
        mustHold(owner == node, "owners: nodes \(owner) and \(node) took epoch \(epoch.number)")
    }

    /// What counts in a log: an oracle that looks for the marks first.
    static func valid(_ records: [[UInt8]], in log: LogKey) -> [Applied] {
        let headers = records.map { record -> FrameHeader? in
            guard case .frame(let header) = FrameHeader.read(bytes: record, in: log) else { return nil }
            return header
        }
        // Each term reaches from its mark to that of the next.
        var begins: [Int] = []
        for (index, header) in headers.enumerated() {
            guard let header, header.number == 1 else { continue }
            let highest = begins.compactMap { headers[$0]?.term.epoch }.max()
            if highest.map({ $0 < header.term.epoch }) ?? true { begins.append(index) }
        }
        var valid: [Applied] = []
        for (which, begin) in begins.enumerated() {
            let end = which + 1 < begins.count ? begins[which + 1] : headers.count
            guard let term = headers[begin]?.term else { continue }
            // All places of each number; each counts at its first one after that of its predecessor.
            var places: [UInt64: [Int]] = [:]
            for index in begin..<end {
                if let header = headers[index], header.term == term {
                    places[header.number, default: []].append(index)
                }
            }
            var (last, wanted) = (begin, UInt64(2))
            while let place = places[wanted]?.first(where: { $0 > last }) {
                valid.append(
                    Applied(
                        position: UInt64(place + 1), epoch: term.epoch.number,
                        content: Self.content(records[place])))
                (last, wanted) = (place, wanted + 1)
            }
        }
        return valid
    }

    /// What a frame of a simulated commit holds; 0 for one that only renews the lease.
    static func content(_ frame: [UInt8]) -> UInt64 {
        frame.count == FrameHeader.length ? 0 : frame.raw.word(at: FrameHeader.length)
    }

    /// Compares what a node has applied with what counts.
    mutating func applied(_ applied: [Applied], by node: Int, of valid: [Applied], isComplete: Bool) {
        let isPrefix = applied.count <= valid.count && zip(applied, valid).allSatisfy(==)
        mustHold(isPrefix, "readers: node \(node) applied \(Self.difference(applied, valid))")
        mustHold(
            !isComplete || applied.count == valid.count,
            "readers: node \(node) applied \(applied.count) of \(valid.count)")
    }

    private static func difference(_ applied: [Applied], _ valid: [Applied]) -> String {
        let index =
            zip(applied, valid).enumerated().first { $1.0 != $1.1 }?.offset ?? min(applied.count, valid.count)
        func text(_ list: [Applied]) -> String { index < list.count ? "\(list[index])" : "nothing" }
        return "\(text(applied)) in place of \(text(valid))"
    }

    /// Looks for every confirmed commit.
    mutating func finished(_ valid: [Applied]) {
        let all = Set(valid)
        let missing = confirmed.filter { !all.contains($0) }
        mustHold(
            missing.isEmpty,
            "confirmed: \(missing.count) are void or missing, as \(missing.first.map { "\($0)" } ?? "")")
        let made = confirmed.map(\.content).filter { $0 > 0 }
        mustHold(Set(made).count == made.count, "confirmed: one commit twice")
    }
}
