import Basics

extension Registration {
    /// Fills in what only the registration knows of a message, and refuses what it cannot be sent.
    ///
    /// Throws `Refusal.conflict` for `raw_data` to a web app that the server encrypts for, whose messages are JSON, and to an
    /// app that Apple reaches, which carries no bytes (http 2.1; mcs-device 7.1).
    func complete(_ content: inout MessageContent) throws(Refusal) {
        if content.collapseKey?.isEmpty == true {
            content.collapseKey = category.isEmpty ? nil : category
        }
        // What is for Apple alone is kept for none but Apple.
        if content.apns != nil, !isByAPNs { content.apns = nil }
        guard content.holdsRawData else { return }
        guard web == nil else {
            throw .conflict(
                field: "raw_data",
                reason: "the server encrypts for this token: use \"data\" or \"notification\"")
        }
        guard !isByAPNs else {
            throw .conflict(
                field: "raw_data", reason: "Apple carries no bytes: use \"data\" or \"notification\"")
        }
    }
}
