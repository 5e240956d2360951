import Operator
import Wire

extension MakeBackup: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = """
            backup           \(Report.cell(answer.path))
            time             \(Report.time(answer.createdAt))
            commit           \(answer.commit)
            files            \(answer.files), \(answer.bytes) bytes, \(answer.linkedBytes) of them linked
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
