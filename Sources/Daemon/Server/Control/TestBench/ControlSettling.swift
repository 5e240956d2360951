import Basics
import Delivery
import Operator
import Store
import TestBench

/// Whether more messages are on their way to a virtual device.
extension ControlServer {
    func reinstallVirtualDevice(
        _ command: ReinstallVirtualDevice
    ) throws(OperatorProblem) -> VirtualDeviceRow {
        VirtualDeviceRow(
            try onBench { bench, completed in bench.reinstall(command.device, completed: completed) })
    }

    func settleVirtualDevice(
        _ command: SettleVirtualDevice
    ) throws(OperatorProblem) -> SettleVirtualDevice.Answer {
        try onBench { bench, completed in
            completed(
                Result { () throws(TestBenchProblem) in try bench.beginSettling(command.device) })
        }
        defer { daemon.bench?.devices.post { $0.endSettling() } }
        let end = daemon.clock.now().monotonic.advanced(seconds: command.wait)
        while true {
            let answer = try settlement(of: command.device)
            if answer.isSettled || daemon.clock.now().monotonic >= end { return answer }
            Threads.sleep(milliseconds: Limits.TestBench.settleMilliseconds)
        }
    }

    /// The sources in the order in which a message passes them, so that none is between two of them.
    private func settlement(of device: DeviceID) throws(OperatorProblem) -> SettleVirtualDevice.Answer {
        let topics = daemon.metrics.value(.topicMessagesOpen)
        let loaded = try reading { () throws(StoreError) in try daemon.storage.store.load(.device(device)) }
        let receipt = try onBench { bench, completed in bench.receipt(of: device, completed: completed) }
        var waiting = 0
        if case .device(let state) = loaded {
            waiting = state.mailbox.count { entry in
                let id = PersistentID(sequence: entry.sequence, salt: entry.salt).text
                return !receipt.received.contains(Array(id.utf8))
            }
        }
        return SettleVirtualDevice.Answer(
            isSettled: topics == 0 && receipt.isComplete && (waiting == 0 || !receipt.state.record.isOnline),
            waiting: waiting, received: receipt.state.received)
    }
}
