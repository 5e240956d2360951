import Basics
import Cluster
import ClusterLog
import ClusterLogSupport
import Testing

@Suite("the seal of heartbeats")
struct HeartbeatSealTests {
    private let sample = HeartbeatTests.sample
    private let seal = HeartbeatSeal(.example, of: HeartbeatTests.sample.cluster)

    private func fault(_ bytes: [UInt8], _ seal: HeartbeatSeal) -> HeartbeatFault? {
        do throws(HeartbeatFault) {
            _ = try seal.open(bytes.raw)
            return nil
        } catch { return error }
    }

    @Test("a heartbeat is read as it was sealed")
    func roundTrip() throws {
        #expect(try seal.open(seal.seal(sample).raw) == sample)
    }

    @Test("a heartbeat with a changed tag, or of a sender without the secret, is refused")
    func forged() {
        let bytes = seal.seal(sample)
        for at in bytes.indices.suffix(8) {
            var changed = bytes
            changed[at] ^= 0x01
            #expect(fault(changed, seal) == .unauthenticated, "byte \(at)")
        }
        let stranger = HeartbeatSeal(
            LogSecret([UInt8](repeating: 0, count: LogSecret.length).raw), of: sample.cluster)
        #expect(fault(stranger.seal(sample), seal) == .unauthenticated)
        #expect(fault(seal.seal(sample), stranger) == .unauthenticated)
        #expect(fault(Array(bytes.prefix(8)), seal) == .foreign && fault([], seal) == .foreign)
    }

    @Test("no changed byte is taken as a heartbeat of the cluster")
    func changed() {
        let bytes = seal.seal(sample)
        for at in bytes.indices {
            var changed = bytes
            changed[at] ^= 0x10
            guard let heartbeat = try? seal.open(changed.raw) else { continue }
            #expect(heartbeat.cluster != sample.cluster, "byte \(at)")
        }
    }

    @Test("a heartbeat of another cluster is returned for the alarm")
    func otherCluster() throws {
        var other = sample
        other.cluster = ClusterID(sample.cluster.number + 1)
        #expect(try seal.open(HeartbeatSeal(.example, of: other.cluster).seal(other).raw) == other)
    }

    @Test("the tag of a frame is none of a heartbeat, and that of a partition none of another")
    func uses() {
        let bytes = [1, 2, 3] as [UInt8]
        let uses: [LogSecret.Use] = [.heartbeats, .frames(partition: 0), .frames(partition: 1)]
        let tags = uses.map { LogSecret.example.tags(of: $0, in: 9).hash(bytes.raw) }
        #expect(Set(tags).count == 3)
        #expect(LogSecret.example.tags(of: .heartbeats, in: 8).hash(bytes.raw) != tags[0])
    }
}
