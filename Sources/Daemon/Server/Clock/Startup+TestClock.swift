import Basics
import Catalogue
import Store
import Transport

/// The start of the test clock.
extension Startup {
    /// Makes the test clock, which moves `status` to the time of earlier processes. Returns `nil` if it is off.
    func makeTestClock(
        _ store: any Store, _ status: ClockStatus, isNode: Bool
    ) throws(StartupFailure) -> TestClock? {
        guard configuration.testClock else {
            try requireMachineTime(of: store)
            return nil
        }
        guard !isNode else {
            try? store.close()
            throw StartupFailure(
                text: "test_clock cannot be used in a cluster, whose nodes must have the same time",
                hint: "leave out test_clock, or cluster_directory", exitCode: .configuration)
        }
        let clock = try reading(store) { store throws(StoreError) in
            try TestClock(store: store, status: status)
        }
        log.warning(
            "test_clock",
            [
                "problem": "operators can move the time forward, which expires messages, devices and keys",
                "server_time": .text(Timestamp.text(status.now().wall)),
                "advanced_seconds": LogValue(Int(status.advance / 1_000)),
            ])
        return clock
    }

    /// Throws if the times in the store are ahead of the machine's: what is stored now would be older than what is there.
    private func requireMachineTime(of store: any Store) throws(StartupFailure) {
        let advance = try reading(store) { store throws(StoreError) in try TestClock.advance(in: store) }
        guard advance > 0 else { return }
        try? store.close()
        throw StartupFailure(
            text:
                "the clock of the store in \(configuration.storePath) was advanced by \(advance / 1_000) s, but test_clock is not set",
            hint:
                "nothing was changed: it is the store of a test; go on with test_clock: true, or set another data directory with --data-directory",
            exitCode: .configuration)
    }

    /// Throws if the test clock is on and a socket, which may come from systemd, listens outside of loopback.
    func requireLoopback(_ listeners: [Daemon.BoundListener]) throws(StartupFailure) {
        guard configuration.testClock else { return }
        for listener in listeners where listener.name != Link.Kind.control.rawValue {
            let address = SocketAddress(literal: listener.host, port: UInt16(clamping: listener.port))
            guard address?.isLoopback != true else { continue }
            throw StartupFailure(
                text:
                    "test_clock needs all listeners on loopback, but \(listener.name) listens on \(listener.host)",
                hint: "listen on 127.0.0.1 or ::1, or leave out test_clock", exitCode: .configuration)
        }
    }
}
