import Basics
import Operator

/// The text of `ccsctl top`: the figures of one answer, with rates since the previous one.
struct TopScreen {
    /// `nil`: rates are averages since the start of the daemon.
    let previous: ShowFigures.Answer?
    let current: ShowFigures.Answer

    /// Seconds between both answers, or since the start.
    var seconds: Double {
        let span = current.uptimeMilliseconds - (previous?.uptimeMilliseconds ?? 0)
        return Double(max(1, span)) / 1_000
    }

    /// Returns the lines of the screen; `nil` sizes do not limit them.
    func lines(width: Int?, height: Int?) -> [String] {
        var lines = [head, ""] + messages + [""] + latencies + [""] + senders
        let refused = refusals
        if !refused.isEmpty { lines += [""] + refused }
        if let height { lines = Array(lines.prefix(max(1, height))) }
        guard let width else { return lines }
        return lines.map { String($0.prefix(max(1, width))) }
    }

    private var head: String {
        let process = current.process
        let cpu = rate(of: "cpu_microseconds", in: \.process) / 10_000
        return
            "ccsd \(Report.cell(current.version))  \(Report.cell(current.state))  up \(StatusReport.span(current.uptimeMilliseconds / 1_000))  cpu \(Self.number(cpu)) %  memory \(StatusReport.size(count("resident_bytes", process)))  store \(StatusReport.size(count("store_bytes", process)))  disk free \(StatusReport.size(count("disk_free_bytes", process)))"
    }

    private var messages: [String] {
        let titles = ["MESSAGES/S", "ACCEPTED", "DELIVERED", "FORWARDED", "EXPIRED", "REFUSED", "WAITING"]
        let words = ["accepted", "delivered", "forwarded", "expired", "refused"]
        let rows = [
            ("downstream", \ShowFigures.Answer.downstream), ("upstream", \ShowFigures.Answer.upstream),
        ].map { name, path in
            [name] + words.map { Self.number(rate(of: $0, in: path)) } + ["\(count(name, current.waiting))"]
        }
        let open = current.connections.filter { $0.count > 0 }
            .map { "\(Report.safe($0.word)) \($0.count)" }
        let sessions = current.sessions.map { "\(Report.safe($0.word)) \($0.count)" }
        return Self.table(titles, rows) + [
            "",
            "connections  \(open.isEmpty ? "none" : open.joined(separator: ", "))",
            "logged in    \(sessions.joined(separator: ", "))",
        ]
    }

    private var latencies: [String] {
        let rows = current.latencies.map { latency -> [String] in
            let before = previous?.latencies.first { $0.name == latency.name }
            let recent = Distribution(latency, since: before)
            return [
                Report.safe(latency.name), Self.number(Double(recent.count) / seconds),
                recent.text(0.5), recent.text(0.9), recent.text(0.99),
            ]
        }
        return Self.table(["LATENCY", "PER SECOND", "P50", "P90", "P99"], rows)
    }

    private var senders: [String] {
        let rows = current.senders.map { sender -> (rate: Double, cells: [String]) in
            let before = previous?.senders.first { $0.sender == sender.sender }
            func perSecond(_ word: String, _ path: KeyPath<ShowFigures.Sender, [WordCount]>) -> Double {
                // A sender that was not among the busiest before has no earlier figures.
                guard previous == nil || before != nil else { return 0 }
                let earlier = before.map { count(word, $0[keyPath: path]) } ?? 0
                return max(0, Double(count(word, sender[keyPath: path]) - earlier)) / seconds
            }
            let accepted = perSecond("accepted", \.downstream)
            let refused = perSecond("refused", \.downstream)
            let upstream = perSecond("accepted", \.upstream)
            return (
                accepted + refused + upstream,
                [
                    sender.sender.map { "\($0.number)" } ?? "other", Self.number(accepted),
                    Self.number(refused), Self.number(perSecond("delivered", \.downstream)),
                    Self.number(upstream), Self.number(perSecond("delivered", \.upstream)),
                ]
            )
        }
        let sorted = rows.enumerated().sorted {
            $0.element.rate != $1.element.rate
                ? $0.element.rate > $1.element.rate : $0.offset < $1.offset
        }
        return Self.table(
            ["SENDER", "ACCEPTED/S", "REFUSED/S", "DELIVERED/S", "UPSTREAM/S", "UP DELIVERED/S"],
            sorted.prefix(10).map(\.element.cells))
    }

    private var refusals: [String] {
        let rows = current.refusals.map { refusal in
            (rate: rate(of: refusal.word, in: \.refusals), refusal: refusal)
        }.sorted { $0.rate != $1.rate ? $0.rate > $1.rate : $0.refusal.count > $1.refusal.count }
        guard !rows.isEmpty else { return [] }
        return Self.table(
            ["REFUSAL", "PER SECOND", "SINCE START"],
            rows.prefix(8).map {
                [Report.safe($0.refusal.word), Self.number($0.rate), "\($0.refusal.count)"]
            })
    }

    // MARK: Numbers

    private func rate(of word: String, in path: KeyPath<ShowFigures.Answer, [WordCount]>) -> Double {
        let before = previous.map { count(word, $0[keyPath: path]) } ?? 0
        return max(0, Double(count(word, current[keyPath: path]) - before)) / seconds
    }

    private func count(_ word: String, _ counts: [WordCount]) -> Int {
        counts.first { $0.word == word }?.count ?? 0
    }

    /// Formats a number with one decimal below 100, else without.
    static func number(_ number: Double) -> String {
        guard number < 100 else { return "\(Int(min(number, 9e15).rounded()))" }
        let tenths = Int((max(0, number) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func table(_ titles: [String], _ rows: [[String]]) -> [String] {
        TextTable.text(titles, rows).split(separator: "\n").map(String.init)
    }
}

/// The durations measured between two answers.
struct Distribution {
    /// Durations up to each bound in microseconds, without those up to the bound before; `nil` for those above all bounds.
    private let buckets: [(bound: Int?, count: Int)]
    let count: Int

    init(_ latency: ShowFigures.Latency, since before: ShowFigures.Latency?) {
        buckets = latency.buckets.map { bucket in
            let earlier = before?.buckets.first { $0.word == bucket.word }?.count ?? 0
            return (Int(bucket.word), max(0, bucket.count - earlier))
        }
        count = buckets.reduce(0) { $0 + $1.count }
    }

    /// Returns a quantile as text: `-` without durations; `>10 s` above all bounds.
    func text(_ share: Double) -> String {
        guard count > 0 else { return "-" }
        let rank = share * Double(count)
        var (seen, lower) = (0, 0)
        for bucket in buckets {
            guard let bound = bucket.bound else { break }
            if bucket.count > 0, Double(seen + bucket.count) >= rank {
                let part = (rank - Double(seen)) / Double(bucket.count)
                return Self.span(Double(lower) + Double(bound - lower) * part)
            }
            seen += bucket.count
            lower = bound
        }
        return ">" + Self.span(Double(lower))
    }

    /// Formats microseconds.
    static func span(_ microseconds: Double) -> String {
        if microseconds < 1_000 { return "\(Int(microseconds.rounded())) us" }
        if microseconds < 1_000_000 { return "\(TopScreen.number(microseconds / 1_000)) ms" }
        return "\(TopScreen.number(microseconds / 1_000_000)) s"
    }
}
