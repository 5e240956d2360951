import Basics
import BasicsSupport
import Delivery
import Store
import Testing

@testable import Server

/// The figures that the store's threads measure.
@Suite struct StoreFigureTests {
    @Test("a count of devices is published after its last part only, and starts again")
    func census() {
        func part(_ devices: Int, _ registrations: Int, next: UInt64?) -> RegistryCensus {
            var part = RegistryCensus()
            (part.devices, part.registrations) = (devices, registrations)
            part.next = next.map(DeviceID.init)
            return part
        }
        var state = CensusState()
        #expect(state.after == nil)
        #expect(state.add(part(3, 4, next: 9)) == nil)
        #expect(state.after == DeviceID(9))
        #expect(state.add(part(2, 1, next: nil)) == part(5, 5, next: nil))
        #expect(state.after == nil)
        #expect(state.add(part(1, 0, next: nil)) == part(1, 0, next: nil))
    }

    @Test("each query of the store has a word of its own in the metrics")
    func queries() {
        let device = DeviceID(5)
        let group = GroupName(sender: SenderID(5), number: 1)
        let all: [(StoreQuery, String)] = [
            (.device(device), "device"),
            (.messages(device, after: SequenceNumber(0), limit: 1), "messages"),
            (.gatewayMessage(device, SequenceNumber(1)), "gateway_message"),
            (.gatewayDevices(from: device, limit: 1, partition: 0), "gateway_devices"),
            (.schedule(after: nil, limit: 1, partition: 0), "schedule"),
            (.upstream(SenderID(5), after: SequenceNumber(0), limit: 1), "upstream"),
            (.expired(by: 0, limit: 1, partition: 0), "expired"),
            (.group(group, isForChange: false), "group"), (.groupLabelled(SenderID(5), []), "group_labelled"),
            (.installation([], limit: 1, isForChange: false), "installation"),
            (.topicMessages(after: nil, limit: 1, partition: 0), "topic_messages"),
            (.topicEntries(after: SequenceNumber(0), limit: 1, partition: 0), "topic_entries"),
            (.topicDevices(SenderID(5), of: nil, after: nil, limit: 1, partition: 0), "topic_devices"),
        ]
        for (query, word) in all { #expect(Metric.storeQueries[query.metricPosition] == word) }
        #expect(Set(all.map(\.0.metricPosition)).count == all.count)
    }

    @Test("commits, queries and the store's state are measured")
    func measured() throws {
        let store = GatedStore()
        let metrics = MetricShard()
        let thread = try StoreThreads(store: store, metrics: metrics, log: .silent, report: { _ in })
        #expect(metrics.value(.storeHealthy) == 1)
        store.failNext([StoreError(.full, "planted")])
        #expect(thread.commitAndWait([])?.hasFailed == true)
        #expect(metrics.count(of: .storeCommitTimes) == 0)
        // The retry that the threads make by themselves succeeds.
        while metrics.value(.storeHealthy) == 0 {}
        let commits = metrics.count(of: .storeCommitTimes)
        #expect(commits >= 1)
        #expect(thread.commitAndWait([])?.hasFailed == false)
        #expect(metrics.count(of: .storeCommitTimes) == commits + 1)
        thread.load([PartitionQuery(partition: 0, .device(DeviceID(7)))])
        _ = thread.stop()
        #expect(metrics.count(of: .storeQueryTimes, 0) == 1)
        #expect(metrics.count(of: .storeSyncTimes) == 0, "a store in memory has no syncs")
    }
}
