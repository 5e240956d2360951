import Basics
import Delivery

/// The messages of a list, chosen from the pages of several nodes.
struct HistorySelection: Sendable {
    private struct Chosen {
        var node: NodeNumber
        var record: HistoryRecord
    }

    private let filter: HistoryFilter
    /// Whether each message is listed once, whichever node has its first step: a list without pages.
    private let isWhole: Bool
    private var chosen: [Chosen] = []
    private var next: HistoryCursor?
    private var latest = HistoryCursor([:])
    private var isCut = false

    /// Chooses the newest messages of all pages.
    init(
        _ pages: [NodeNumber: HistoryPage], _ list: HistoryList, before: HistoryCursor?, isNews: Bool
    ) {
        filter = list.filter
        isWhole = isNews || list.filter.name != nil
        let limit = isNews ? pages.values.reduce(0) { $0 + $1.messages.count } : list.limit
        var taken: [NodeNumber: Int] = [:]
        while chosen.count < limit, let (node, message) = Self.newest(pages, taken) {
            chosen.append(Chosen(node: node, record: message.record))
            taken[node, default: 0] += 1
        }
        var begins: [NodeNumber: UInt64] = before?.places ?? [:]
        var hasMore = false
        for (node, page) in pages {
            latest.places[node] = page.latest?.place ?? 0
            let count = taken[node] ?? 0
            if page.isCut || count < page.messages.count || page.next != nil { hasMore = true }
            if count == page.messages.count {
                begins[node] = page.next?.place ?? 0
            } else if count > 0 {
                begins[node] = page.messages[count - 1].position.place
            } else if begins[node] == nil {
                begins[node] = (page.latest?.place ?? 0) + 1
            }
        }
        isCut = hasMore
        if hasMore, filter.name == nil { next = HistoryCursor(begins) }
    }

    /// Returns the newest message that is not taken. Returns `nil` also where older ones of a page, which a node has not sent yet, may be newer
    /// than those of others.
    private static func newest(
        _ pages: [NodeNumber: HistoryPage], _ taken: [NodeNumber: Int]
    ) -> (NodeNumber, HistoryMessage)? {
        var newest: (node: NodeNumber, message: HistoryMessage)?
        for (node, page) in pages.sorted(by: { $0.key < $1.key }) {
            let at = taken[node] ?? 0
            guard at < page.messages.count else {
                if page.next != nil { return nil }
                continue
            }
            let message = page.messages[at]
            if newest.map({ $0.message.record.began < message.record.began }) ?? true {
                newest = (node, message)
            }
        }
        return newest
    }

    /// The messages of which steps are looked for at all nodes.
    var parts: [HistoryPart] {
        var seen: Set<HistoryPart> = []
        let all = chosen.compactMap { HistoryPart($0.record) }.filter { seen.insert($0).inserted }
        return Array(all.prefix(Limits.History.partsAsked))
    }

    /// Returns the list, with the steps that the nodes have of its messages.
    func list(_ parts: [NodeNumber: [HistoryRecord]]) -> HistoryResult.Content {
        var listed: Set<HistoryPart> = []
        let records = chosen.compactMap { one -> HistoryRecord? in
            guard let part = HistoryPart(one.record) else { return one.record }
            var all = parts.filter { $0.key != one.node }.flatMap { node, records in
                records.filter { part.isPart($0) }.map { Chosen(node: node, record: $0) }
            }
            if isWhole {
                guard listed.insert(part.ofAnySender).inserted else { return nil }
                all += chosen.filter { other in
                    other.node != one.node && parts[other.node] == nil && part.isPart(other.record)
                }
            }
            all = ([one] + all).sorted { ($0.record.began, $0.node) < ($1.record.began, $1.node) }
            guard isWhole || all[0].node == one.node else { return nil }
            let record = HistoryRecord.joined(all.map(\.record), byTime: all.count > 1)
            return record.flatMap { filter.has($0) ? $0 : nil }
        }
        return .list(
            isWhole ? records.sorted { $0.began > $1.began } : records, next: next,
            latest: latest.places.values.contains { $0 > 0 } ? latest : nil, isCut: isCut)
    }
}

extension HistoryRecord {
    /// When its first step was.
    fileprivate var began: UnixMilliseconds { steps.first?.time ?? 0 }
}
