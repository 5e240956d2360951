import Wire

/// The answer of `installations show`.
enum InstallationReport {
    /// As people read it.
    static func text(_ result: JSONValue) -> String {
        var text = "installation   \(Report.cell(result, "installation"))\n"
        text += "sender         \(Report.cell(result, "sender_id"))\n"
        text += "created        \(Report.cell(result, "created_at"))\n"
        text += "last used      \(Report.cell(result, "used_at"))\n"
        text +=
            "tokens         \(result["ended"]?.boolean == true ? "revoked, or deleted by the app" : "good")\n"
        return text + "registrations  \(Report.cell(result, "registrations"))\n"
    }
}
