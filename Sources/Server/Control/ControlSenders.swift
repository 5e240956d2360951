import Basics
import Delivery
import Wire

extension ControlServer {
    func addSender(_ request: Request) throws(Problem) -> JSONValue {
        let wanted = try optionalSender(request)
        let (sender, key) = try changing { () throws(Senders.Problem) in
            try daemon.senders.add(
                wanted, label: request.arguments["label"]?.text ?? "",
                project: request.arguments["project"]?.text, key: request.arguments["key"]?.text,
                now: Now.read().wall)
        }
        let project = daemon.senders.directory[sender]?.projectID ?? ""
        return .object([
            .init("sender_id", .string(String(sender.number))), .init("project", .string(project)),
            .init("key", .string(key)),
        ])
    }

    func listSenders(_ request: Request) -> JSONValue {
        .object([
            .init(
                "senders",
                .array(
                    daemon.senders.directory.all.map { record in
                        .object([
                            .init("sender_id", .string(String(record.sender.number))),
                            .init("label", .string(record.label)),
                            .init("project", .string(record.projectID)),
                            .init("keys", .integer(record.keys.count)),
                            .init("created_at", .string(Timestamp.text(record.createdAt))),
                            .init("suspended", .boolean(record.isSuspended)),
                        ])
                    }))
        ])
    }

    func rotateKey(_ request: Request) throws(Problem) -> JSONValue {
        let sender = try requiredSender(request)
        let overlap = try integer("overlap_seconds", in: request, default: 86_400, range: 0...31_536_000)
        let (key, end) = try changing { () throws(Senders.Problem) in
            try daemon.senders.rotateKey(
                sender, overlapSeconds: overlap, key: request.arguments["key"]?.text, now: Now.read().wall)
        }
        return .object([
            .init("sender_id", .string(String(sender.number))), .init("key", .string(key)),
            .init("old_keys_expire_at", .string(Timestamp.text(end))),
        ])
    }

    func removeSender(_ request: Request) throws(Problem) -> JSONValue {
        let sender = try requiredSender(request)
        try changing { () throws(Senders.Problem) in try daemon.senders.remove(sender) }
        return .object([.init("sender_id", .string(String(sender.number)))])
    }

    func changing<Value>(_ body: () throws(Senders.Problem) -> Value) throws(Problem) -> Value {
        do { return try body() } catch { throw Problem(text: error.text, hint: error.hint) }
    }

    /// The sender that the request names.
    func requiredSender(_ request: Request) throws(Problem) -> SenderID {
        guard let sender = try optionalSender(request) else {
            throw Problem(text: "sender_id is missing", hint: "ccsctl senders list shows those there are")
        }
        return sender
    }

    func optionalSender(_ request: Request) throws(Problem) -> SenderID? {
        guard let value = request.arguments["sender_id"] else { return nil }
        guard let number = value.integer.map(String.init) ?? value.text, let id = UInt64(number), id > 0,
            id <= UInt64(Int64.max)
        else { throw Problem(text: "sender_id is a decimal number from 1 to \(Int64.max)") }
        return SenderID(id)
    }

    /// An integer argument within a range.
    func integer(_ name: String, in request: Request, default standard: Int, range: ClosedRange<Int>)
        throws(Problem) -> Int
    {
        guard let value = request.arguments[name] else { return standard }
        guard let number = value.integer ?? value.text.flatMap({ Int($0) }), range.contains(number) else {
            throw Problem(text: "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
