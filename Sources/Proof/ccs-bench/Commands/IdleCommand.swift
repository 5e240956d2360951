import Basics
import Catalogue
import Wire

extension Bench {
    /// Measures the memory of idle device connections.
    func idle() throws(BenchError) {
        let count = try crowd(5_000)
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target, count)
        // Otherwise the connections would reuse memory that the enrolment left free.
        try target.restart()
        let probe = ProcessProbe(process: target.process)
        _ = turn(seconds: 1) { false }
        let before = probe.residentKiB
        let receivers = try Receivers(self, target, devices)
        _ = turn(seconds: 3) { false }
        let after = probe.residentKiB
        guard receivers.counters.failures.isEmpty else {
            throw BenchError("devices were disconnected: \(receivers.counters.failures)")
        }
        let each = Double(after - before) / Double(count)
        printResult(
            "ccsd: \(count) idle device connections, \(Figure.fixed(each, 1)) KiB each (resident \(Figure.whole(before)) KiB before, \(Figure.whole(after)) KiB after)",
            .object([
                .init("devices", .integer(count)), .init("kib_each", .number(each)),
                .init("resident_kib_before", .integer(before)), .init("resident_kib_after", .integer(after)),
            ]))
    }
}
