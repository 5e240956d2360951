import Delivery
import Foundation
import NATSServerSupport

extension RunningCluster {
    private typealias Row = [String: Any]

    /// A number of each partition, as a node reports it.
    func positions(_ name: String, at node: Int) throws -> [Int] {
        let rows = try self.node(node).ctl("cluster", "status")["partitions"] as? [Row] ?? []
        return rows.map { $0[name] as? Int ?? 0 }
    }

    /// The last position of each log.
    func ends() throws -> [Int] {
        var found: [Int] = []
        try eventually("each log has a leader") {
            found = (0..<partitions).compactMap { partition in
                streamInfo(partition)?.firstMatch(of: /"last_seq":([0-9]+)/).flatMap { Int($0.1) }
            }
            return found.count == partitions
        }
        return found
    }

    /// Waits until some nodes have more of a log durable than it had then, and removes what they have from the logs, as the owners do when
    /// the logs are full. Returns where each log begins.
    @discardableResult
    func purge(beyond ends: [Int], durableAt nodes: [Int]) throws -> [Int] {
        var least = ends
        try eventually("nodes \(nodes) have more durable than \(ends)") {
            let durable = try nodes.map { try positions("durable", at: $0) }
            least = ends.indices.map { partition in durable.map { $0[partition] }.min() ?? 0 }
            return zip(least, ends).contains { $0 > $1 + 1 }
        }
        for (partition, position) in least.enumerated() where position > 0 {
            try request("$JS.API.STREAM.PURGE.CCS_\(partition)", "{\"seq\":\(position)}")
        }
        return least
    }

    /// Deletes the log of a partition.
    func deleteLog(of partition: Int) throws {
        // Servers that have just started do not answer.
        try eventually("the log of partition \(partition) is deleted") {
            do { try request("$JS.API.STREAM.DELETE.CCS_\(partition)", "") } catch {
                return "\(error)".contains("stream not found")
            }
            return true
        }
    }

    /// What NATS reports of the log of a partition, as JSON. `nil` if no server answers for it.
    private func streamInfo(_ partition: Int) -> String? {
        try? answer(to: "$JS.API.STREAM.INFO.CCS_\(partition)", [])
    }

    /// The partitions whose log cannot go on at once without a server: it leads them, they have no leader just now, or a replica has not
    /// all of it yet, as after the fault before.
    func dependent(on server: NATSServerProcess) -> Set<Int> {
        Set(
            (0..<partitions).filter { partition in
                guard let info = streamInfo(partition), Self.isReplicated(info) else { return true }
                return info.contains("\"leader\":\"\(server.name)\"")
            })
    }

    /// Whether each log has a leader and two replicas that have all of it.
    var isReplicated: Bool {
        (0..<partitions).allSatisfy { streamInfo($0).map(Self.isReplicated) ?? false }
    }

    private static func isReplicated(_ info: String) -> Bool {
        info.contains("\"leader\":\"") && info.components(separatedBy: "\"current\":true").count == 3
            && !info.contains("\"offline\":true")
    }

    /// The partitions of devices and senders, by their numbers.
    func partitions(of numbers: [UInt64]) -> [Int] {
        numbers.map { PartitionKey.partition(ofNumber: $0, of: partitions) }
    }

    /// Takes a server out of the log, as `nats server cluster peer-remove` does: another one gets its replicas.
    func removeServer(_ name: String) throws {
        // The servers may be electing their leader.
        try eventually("\(name) is removed from the log") {
            let answer = try? answer(
                to: "$JS.API.SERVER.REMOVE", Array("{\"peer\":\"\(name)\"}".utf8),
                login: ",\"user\":\"admin\",\"pass\":\"admin\"")
            return answer?.contains("\"success\":true") == true
                || answer?.contains("not a member") == true
        }
    }

    /// Takes a server out of each stream, as `nats stream cluster peer-remove` does: the group of all servers counts it still.
    func removeServerFromStreams(_ name: String) throws {
        for partition in 0..<partitions {
            try eventually("\(name) is removed from the log of partition \(partition)") {
                let answer = try? answer(
                    to: "$JS.API.STREAM.PEER.REMOVE.CCS_\(partition)", Array("{\"peer\":\"\(name)\"}".utf8))
                return answer?.contains("\"success\":true") == true
                    || answer?.contains("peer not a member") == true
            }
        }
    }

    /// Deletes the log of a partition, and makes it again with the settings of another one.
    func remakeLog(of partition: Int, like other: Int) throws {
        let info = try answer(to: "$JS.API.STREAM.INFO.CCS_\(other)", [])
        let body = info.split(separator: "\r\n").last.map { Data($0.utf8) } ?? Data()
        let object = try JSONSerialization.jsonObject(with: body) as? Row
        guard var config = object?["config"] as? Row else { throw HarnessFailure("no settings in \(info)") }
        (config["name"], config["subjects"]) = ("CCS_\(partition)", ["ccs.\(partition)"])
        let made = try JSONSerialization.data(withJSONObject: config)
        try deleteLog(of: partition)
        try eventually("the log of partition \(partition) is made again") {
            let answer = try? answer(to: "$JS.API.STREAM.CREATE.CCS_\(partition)", [UInt8](made))
            return answer?.contains("\"did_create\":true") == true
        }
    }

    /// Stops the log of a partition: nats-server ends a stream of several replicas that gets this header.
    func stopLog(of partition: Int) throws {
        let headers = Array("NATS/1.0\r\nNats-Expected-Last-Msg-Id: foo\r\n\r\n".utf8)
        let sizes = "\(headers.count) \(headers.count + 1)"
        _ = try? answer(
            sending: Array("HPUB ccs.\(partition) answers \(sizes)\r\n".utf8) + headers + Array("x\r\n".utf8),
            login: ",\"headers\":true")
    }

    /// Sends a request to the first server of the log that runs. Throws unless it succeeds within five seconds.
    private func request(_ subject: String, _ body: String) throws {
        let answer = try answer(to: subject, Array(body.utf8))
        guard answer.contains("\"success\":true") else { throw HarnessFailure("\(subject): \(answer)") }
    }

    /// Writes a record into the log of a partition, as any client of NATS can.
    func append(_ record: [UInt8], to partition: Int) throws {
        let answer = try answer(to: "ccs.\(partition)", record)
        guard answer.contains("\"seq\":") else { throw HarnessFailure("a record was refused: \(answer)") }
    }

    private func answer(to subject: String, _ body: [UInt8], login: String = "") throws -> String {
        let words = "PUB \(subject) answers \(body.count)\r\n"
        return try answer(sending: Array(words.utf8) + body + Array("\r\n".utf8), login: login)
    }

    /// Returns the answer to a publication.
    private func answer(sending publication: [UInt8], login: String) throws -> String {
        guard let server = servers.first(where: { PlainHTTP.canConnect($0.address, port: $0.port) }) else {
            throw HarnessFailure("the cluster has no log")
        }
        let descriptor = try PlainHTTP.connected(server.address, port: server.port)
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array("CONNECT {\"verbose\":false\(login)}\r\nSUB answers 1\r\n".utf8) + publication
        guard send(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw HarnessFailure("cannot send the request")
        }
        var answer = ""
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !answer.contains("\r\nMSG answers") || !answer.hasSuffix("}\r\n") {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { throw HarnessFailure("no answer: \(answer)") }
            answer += String(decoding: chunk[..<count], as: UTF8.self)
        }
        return answer
    }
}
