import Catalogue
import Operator

extension AuditStore: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let terms: [(title: String, count: (Counts) -> Int)] = [
            ("ACCEPTED", \.accepted), ("DELIVERED", \.delivered), ("FORWARDED", \.forwarded),
            ("REPLACED", \.replaced),
            ("EXPIRED", \.expired), ("DISCARDED", \.discarded), ("REMOVED", \.removed),
            ("PENDING", \.pending),
        ]
        let rows = [("downstream", answer.downstream), ("upstream", answer.upstream)].map { name, law in
            [name] + terms.map { Report.cell($0.count(law)) }
        }
        var text = TextTable.text(["DIRECTION"] + terms.map(\.title), rows)
        text +=
            "\n\(answer.devices) devices, \(answer.registrations) registrations, \(answer.senders) senders in \(answer.partitions) partitions\n"
        for record in answer.unreadable { text += "unreadable: \(Report.cell(record))\n" }
        for table in answer.damaged { text += "damaged: \(Report.cell(table))\n" }
        guard answer.damaged.isEmpty else {
            return text
                + "THE CHECK IS INCOMPLETE: the store is damaged, and what is in these tables cannot be counted. This is no bug of ccsd: copy the data directory, check the disk, and restore a backup (A damaged store in docs/operations.md).\n"
        }
        guard !answer.holds else {
            return text
                + "Every accepted message is accounted for: accepted = delivered + forwarded + replaced + expired + discarded + removed + pending.\n"
        }
        return text
            + "THE CHECK FAILED: messages are missing or counted twice. Keep the data directory and the log, and report a bug.\n"
    }

    static func verdict(on answer: Answer) -> ExitCode { answer.holds ? .success : .failure }
}
