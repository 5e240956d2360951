import Basics
import Delivery
import Testing

@testable import Cluster

/// The sessions of other nodes at the partitions of this one.
@Suite("Sessions of other nodes") struct RemoteSessionsTests {
    private static let partitions = 16
    private static let other = NodeNumber(2)

    private func connection(of node: UInt16, _ number: UInt32 = 1) -> ConnectionID {
        ConnectionID(node: node, reactor: 0, slot: number, generation: 1)
    }

    private func login(_ connection: ConnectionID, _ device: UInt64 = 7) -> Event {
        let login = DeviceLogin(
            connection: connection, device: DeviceID(device),
            token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)), received: [])
        return .device(DeviceID(device), .login(login))
    }

    private func ends(_ events: [Event]) -> [ConnectionID] {
        events.compactMap { event in
            switch event {
            case .device(_, .closed(let connection)), .sender(_, .closed(let connection)): connection
            default: nil
            }
        }
    }

    @Test("the sessions of a node end with it, and no others")
    func lost() {
        var sessions = RemoteSessions(at: 1)
        sessions.note(login(connection(of: 2)))
        sessions.note(
            .sender(
                SenderID(8),
                .login(connection(of: 2, 2), key: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)))))
        sessions.note(login(connection(of: 3)))
        sessions.note(login(connection(of: 1)))
        #expect(Set(ends(sessions.lose(Self.other))) == [connection(of: 2), connection(of: 2, 2)])
        #expect(sessions.lose(Self.other).isEmpty && sessions.lose(NodeNumber(1)).isEmpty)
        #expect(ends(sessions.lose(NodeNumber(3))) == [connection(of: 3)])
    }

    @Test("a session that has ended, or whose login was refused, is not reported again")
    func ended() {
        var sessions = RemoteSessions(at: 1)
        sessions.note(login(connection(of: 2)))
        sessions.note(.device(DeviceID(7), .closed(connection(of: 2))))
        sessions.note(login(connection(of: 2, 2)))
        sessions.note(.device(.loginRefused(.unavailable)), to: connection(of: 2, 2))
        #expect(sessions.lose(Self.other).isEmpty)
    }

    /// The new owner of the partition may have a session of the same connection, whose end this node must not report.
    @Test(
        "sessions of a partition that leaves are closed, and their node's end is not reported to its next owner"
    )
    func left() {
        var sessions = RemoteSessions(at: 1)
        let leaving = PartitionKey.device(DeviceID(7)).partition(of: Self.partitions)
        let staying = (8...).lazy.map { DeviceID($0) }.first {
            PartitionKey.device($0).partition(of: Self.partitions) != leaving
        }
        sessions.note(login(connection(of: 2)))
        sessions.note(login(connection(of: 3)))
        sessions.note(login(connection(of: 2, 2), staying?.number ?? 0))
        #expect(
            Set(sessions.leave(leaving, of: Self.partitions)) == [connection(of: 2), connection(of: 3)])
        #expect(sessions.leave(leaving, of: Self.partitions).isEmpty)
        #expect(ends(sessions.lose(Self.other)) == [connection(of: 2, 2)])
    }
}
