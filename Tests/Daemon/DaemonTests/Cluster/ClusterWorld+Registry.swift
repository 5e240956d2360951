import Basics
import ClusterSetup
import Foundation

/// A large registry beside the clients of the load.
extension ClusterWorld {
    /// Recipients of a request, the most that the legacy protocol allows.
    private static let page = 1_000

    /// Imports devices that never connect, with numbers that no other device has, and stores messages for each of them.
    ///
    /// They are messages of the devices' own: one to a topic would be stored once for all.
    func fill(devices count: Int, messages: Int) throws {
        let sender = devices[0].sender
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        try RegistryExport(sender: sender.id, hasSender: false).write(1...count, to: file)
        let node = try cluster.node(0)
        let result = try Tool.run("ccsctl", ["--socket", node.controlSocket, "--json", "import", file.path])
        guard result.code == 0 else { throw HarnessFailure("import: \(result)") }
        let seal = try seal()
        let caller = try HTTPSCaller(node)
        for first in stride(from: 1, through: count, by: Self.page) {
            let tokens = (first...min(count, first + Self.page - 1)).map { number in
                let name = RegistrationName(
                    device: DeviceID(UInt64(number)), number: RegistrationNumber(1))
                return String(decoding: seal.token(for: name), as: UTF8.self)
            }
            for number in 0..<messages { try store("stored-\(number)", for: tokens, sender, caller) }
        }
        let audit = try node.ctl("audit")["downstream"] as? [String: Any]
        let pending = audit?["pending"] as? Int ?? 0
        guard pending >= count * messages else {
            throw HarnessFailure("\(pending) of \(count * messages) messages are stored")
        }
    }

    /// What makes the tokens of the cluster.
    private func seal() throws -> TokenSeal {
        let text = try Data(contentsOf: cluster.folder(0).appendingPathComponent("cluster.json"))
        guard let secret = try ClusterFile(parsing: [UInt8](text)).secrets["token_secret"]?.revealed else {
            throw HarnessFailure("cluster.json has no token_secret")
        }
        return TokenSeal(secret: secret)
    }

    private func store(
        _ id: String, for tokens: [String], _ sender: Sender, _ caller: HTTPSCaller
    ) throws {
        let answer = try caller.ask(
            "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
            body: ["registration_ids": tokens, "data": ["id": id]])
        guard answer.json["success"] as? Int == tokens.count else {
            throw HarnessFailure("a message to \(tokens.count) devices: \(answer.status) \(answer.json)")
        }
    }
}
