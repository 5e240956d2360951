import Operator
import Wire

extension MakeBackup: ReportedCommand {
    static func text(of answer: Answer) -> String {
        // Links need one mount: under the service unit the two folders are separate mounts.
        let shared =
            answer.linkedBytes > 0
            ? "\(answer.linkedBytes) of them linked" : "all copied: not on the mount of the data directory"
        var text = """
            backup           \(Report.cell(answer.path))
            time             \(Report.time(answer.createdAt))
            commit           \(answer.commit)
            files            \(answer.files), \(answer.bytes) bytes, \(shared)
            milliseconds     \(answer.milliseconds)

            """
        for file in answer.notIncluded { text += "not included     \(Report.cell(file))\n" }
        return text
    }
}

extension ExportRecords: ReportedCommand {
    static func text(of answer: Answer) -> String {
        answer.rows.map { JSONValue.object($0).compact + "\n" }.joined()
    }
}

extension ImportRecords: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var result = ImportResult()
        result.add(answer)
        return result.text(file: "row")
    }
}
