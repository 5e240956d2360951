import Basics
import Delivery
import Operator
import Store
import Testing
import Wire

@testable import Server

/// Pages of an export: each row once, also when a page ends within a device, and short lines whatever the rows are.
@Suite("Pages of an export", .serialized) struct ExportPageTests {
    private static let sender = SenderID(4_711)

    /// Stores devices, of which one has many subscriptions, installations and groups. Returns the number of rows by part.
    private func fill(_ server: InProcessServer) throws -> [ExportRecords.Part: Int] {
        let digest = SecretDigest(bytes: [UInt8](repeating: 1, count: 32))
        var mutations: [Mutation] = []
        var rows = 0
        for number in 5...9 as ClosedRange<UInt64> {
            let device = DeviceID(number)
            let name = RegistrationName(device: device, number: RegistrationNumber(1))
            mutations.append(
                .putDevice(
                    DeviceRecord(
                        device: device, token: digest, createdAt: 1, seenAt: 2, nextRegistration: 2)))
            mutations.append(
                .putRegistration(
                    Registration(
                        name: name, category: Array("com.example.app".utf8), subtype: [],
                        senderText: Array("4711".utf8), sender: Self.sender, createdAt: 1)))
            rows += 2
            for topic in 0..<(number == 6 ? 200 : 1) {
                let topic = try #require(TopicName(Array("topic-\(topic)".utf8)))
                mutations.append(
                    .putSubscription(Subscription(name: name, sender: Self.sender, topic: topic, since: 3)))
                rows += 1
            }
        }
        for number in 10..<40 {
            let id = Array("cGFzc3dvcmQ_aGVsbG8t\(number)".utf8)
            mutations.append(
                .putInstallation(
                    InstallationRecord(id: id, sender: nil, refresh: nil, createdAt: 1, usedAt: 2)))
            mutations.append(
                .putGroup(
                    GroupRecord(
                        name: GroupName(sender: Self.sender, number: UInt64(number)),
                        label: Array("group-\(number)".utf8),
                        members: [
                            TokenName(RegistrationName(device: DeviceID(5), number: RegistrationNumber(1)))
                        ],
                        createdAt: 1)))
        }
        for number in 100..<120 as Range<UInt64> {
            mutations.append(
                .putSender(SenderRecord(sender: SenderID(number), label: "", keys: [], createdAt: 1)))
        }
        #expect(server.daemon.storage.threads.commitAndWait(mutations)?.hasFailed == false)
        let senders = try server.daemon.storage.store.senders().count
        #expect(senders >= 20)
        return [.secrets: 1, .senders: senders, .devices: rows, .installations: 30, .groups: 30]
    }

    @Test("every row of every part is on one page, with pages of any size", arguments: [1, 700, 1_000_000])
    func once(_ bytes: Int) throws {
        let server = try InProcessServer(in: ServerFolder())
        let expected = try fill(server)
        let control = ControlServer(daemon: server.daemon)
        for part in ExportRecords.Part.allCases {
            var (rows, pages): ([String], Int) = ([], 0)
            var place: String?
            repeat {
                let answer = try control.exportRecords(
                    ExportRecords(part: part, after: place, limit: 7), bytes: bytes)
                let lines = answer.rows.map { JSONValue.object($0).compact }
                // The last row may pass the limit.
                #expect(lines.dropLast().reduce(0) { $0 + $1.utf8.count } < bytes)
                rows += lines
                pages += 1
                #expect(answer.next == nil || answer.next != place, "\(part) makes progress")
                place = answer.next
            } while place != nil && pages < 1_000
            #expect(rows.count == expected[part] && Set(rows).count == rows.count, "\(part) \(bytes)")
            #expect(pages >= (bytes == 1 ? rows.count : 1), "canary: small pages are used")
        }
    }
}
