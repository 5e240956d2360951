import Basics
import Catalogue
import Client
import Wire

/// The `arguments` of a control request.
enum CommandArguments {
    /// What an invocation says, as the daemon reads it.
    static func object(for invocation: Invocation) throws(Failure) -> JSONValue {
        var members: [JSONValue.Member] = []
        switch invocation.command.name {
        case "send": return try message(invocation)
        case "devices show", "devices trace":
            members.append(.init("device", .string(invocation.arguments[0])))
        case "installations show", "installations revoke":
            members.append(.init("installation", .string(invocation.arguments[0])))
        case "devices forget":
            members.append(.init("device", .string(try number(invocation.arguments[0], "DEVICE"))))
        case "senders rotate-key", "senders remove":
            members.append(.init("sender_id", .string(try number(invocation.arguments[0], "SENDER_ID"))))
        case "service-accounts add", "service-accounts remove":
            members.append(.init("sender_id", .string(try number(invocation.arguments[0], "SENDER_ID"))))
            if invocation.arguments.count > 1 {
                members.append(.init("key_id", .string(invocation.arguments[1])))
            }
        case "service-accounts list":
            if let sender = invocation.arguments.first {
                members.append(.init("sender_id", .string(try number(sender, "SENDER_ID"))))
            }
        case "drain":
            if invocation.has("--session"), invocation.has("--sender") {
                throw Failure(.usage, "--session and --sender exclude each other", hint: "give one of them")
            }
        case "reload": members += try certificate(invocation)
        default: break
        }
        if let session = invocation.text("--session") {
            members.append(.init("session", .string(session)))
        }
        if let sender = invocation.text("--sender") { members.append(.init("sender_id", .string(sender))) }
        if let device = invocation.text("--after") { members.append(.init("after", .string(device))) }
        if invocation.command.options.contains(where: { $0.name == "--seconds" }),
            let seconds = invocation.integer("--seconds")
        {
            members.append(.init("seconds", .integer(seconds)))
        }
        if let limit = invocation.integer("--limit") { members.append(.init("limit", .integer(limit))) }
        if let label = invocation.text("--label") { members.append(.init("label", .string(label))) }
        if let project = invocation.text("--project") { members.append(.init("project", .string(project))) }
        if let sender = invocation.text("--sender-id") { members.append(.init("sender_id", .string(sender))) }
        if let seconds = invocation.integer("--overlap-seconds") {
            members.append(.init("overlap_seconds", .integer(seconds)))
        }
        if invocation.command.options.contains(where: { $0.name == "--key-file" }),
            let key = try KeyInput.key(invocation)
        {
            members.append(.init("key", .string(key.revealed)))
        }
        return .object(members)
    }

    /// The certificate and key to use in the place of the configured files; empty where none is named.
    private static func certificate(_ invocation: Invocation) throws(Failure) -> [JSONValue.Member] {
        let paths = (invocation.text("--certificate"), invocation.text("--private-key"))
        guard paths.0 != nil || paths.1 != nil else { return [] }
        guard let certificate = paths.0, let key = paths.1 else {
            throw Failure(
                .usage, "--certificate and --private-key belong together", hint: "give both, or neither")
        }
        let texts = (
            try TextFile.read(certificate, limit: Limits.handedFileBytes),
            try TextFile.read(key, limit: Limits.handedFileBytes)
        )
        return [
            .init("certificate", .string(texts.0.revealed)), .init("private_key", .string(texts.1.revealed)),
            // For errors alone: the daemon may be unable to read them.
            .init("certificate_file", .string(certificate)), .init("private_key_file", .string(key)),
        ]
    }

    private static func message(_ invocation: Invocation) throws(Failure) -> JSONValue {
        var pairs: [JSONValue.Member] = []
        for argument in invocation.arguments.dropFirst(2) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "\"\(argument)\" is no pair",
                    hint: "write KEY=VALUE, in quotes where it has blanks")
            }
            guard !pairs.contains(where: { $0.key == parts[0] }) else {
                throw Failure(.usage, "\(parts[0]) is given twice", hint: "a payload has each key once")
            }
            pairs.append(.init(String(parts[0]), .string(String(parts[1]))))
        }
        var members: [JSONValue.Member] = [
            .init("sender_id", .string(try number(invocation.arguments[0], "SENDER_ID"))),
            .init("to", .string(invocation.arguments[1])),
        ]
        let rawData = invocation.text("--raw-data")
        if let rawData { members.append(.init("raw_data", .string(rawData))) }
        // The server says what the two together are; without pairs there is only the one.
        if rawData == nil || !pairs.isEmpty { members.append(.init("data", .object(pairs))) }
        if let key = invocation.text("--collapse-key") { members.append(.init("collapse_key", .string(key))) }
        if let seconds = invocation.integer("--time-to-live") {
            members.append(.init("time_to_live", .integer(seconds)))
        }
        if let priority = invocation.text("--priority") {
            members.append(.init("priority", .string(priority)))
        }
        return .object(members)
    }

    private static func number(_ text: String, _ name: String) throws(Failure) -> String {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), UInt64(text) != nil else {
            throw Failure(.usage, "\"\(text)\" is no \(name)", hint: "\(name) is a whole decimal number")
        }
        return text
    }
}
