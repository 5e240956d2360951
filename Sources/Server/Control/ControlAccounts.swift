import Basics
import Delivery
import Wire

/// The commands on service accounts.
extension ControlServer {
    func addAccount(_ request: Request) throws(Problem) -> JSONValue {
        let sender = try requiredSender(request)
        guard let text = request.arguments["public_key"]?.text,
            let publicKey = Base64.bytes(Array(text.utf8).raw)
        else {
            throw Problem(
                text: "public_key is missing, or no Base64",
                hint: "DER of SubjectPublicKeyInfo; ccsctl service-accounts add makes it")
        }
        let made = try changing { () throws(Senders.Problem) in
            try daemon.senders.addAccount(of: sender, publicKey: publicKey, now: Now.read().wall)
        }
        return .object([
            .init("sender_id", .string(String(sender.number))), .init("project", .string(made.project)),
            .init("email", .string(made.account.email)), .init("key_id", .string(made.account.keyID)),
        ])
    }

    func listAccounts(_ request: Request) throws(Problem) -> JSONValue {
        let wanted = try optionalSender(request)
        if let wanted, daemon.senders.directory[wanted] == nil {
            throw Problem(
                text: "there is no sender \(wanted.number)", hint: "ccsctl senders list shows those there are"
            )
        }
        let records = daemon.senders.directory.all.filter { wanted == nil || $0.sender == wanted }
        let rows = records.flatMap { record in
            record.accounts.map { account -> JSONValue in
                .object([
                    .init("sender_id", .string(String(record.sender.number))),
                    .init("project", .string(record.projectID)), .init("key_id", .string(account.keyID)),
                    .init("created_at", .string(Timestamp.text(account.createdAt))),
                    .init("email", .string(account.email)),
                ])
            }
        }
        return .object([.init("accounts", .array(rows))])
    }

    func removeAccount(_ request: Request) throws(Problem) -> JSONValue {
        let sender = try requiredSender(request)
        guard let keyID = request.arguments["key_id"]?.text else {
            throw Problem(
                text: "key_id is missing", hint: "ccsctl service-accounts list shows those there are")
        }
        let removed = try changing { () throws(Senders.Problem) in
            try daemon.senders.removeAccount(of: sender, keyID: keyID)
        }
        return .object([
            .init("sender_id", .string(String(sender.number))), .init("email", .string(removed.email)),
        ])
    }
}
