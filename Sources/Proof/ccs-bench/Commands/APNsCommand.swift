import Basics
import Catalogue
import Wire

extension Bench {
    /// Measures messages to iOS apps, through to a responder that stands in for Apple.
    func apns() throws(BenchError) {
        let responder = try AppleResponder(
            self, latencyMilliseconds: invocation.integer("--latency") ?? 0)
        let target = try DaemonTarget(self, reactors: reactors, flags: responder.flags)
        try target.addCredential(of: responder)
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        let now = try appServers(target, devices, receivers, name: "now", lifetimeSeconds: 0)
        let apps = try target.importApps(deviceCount) {
            progress.show("iOS apps registered", $0, of: deviceCount)
        }
        progress.clear()
        let lifetime = invocation.has("--durable") ? Self.lifetime : 0
        let stanzas = apps.map {
            Template.notification(token: $0.token, size: size, lifetimeSeconds: lifetime)
        }
        let apns = try appServers(target, sending: stanzas, nil, name: "apns")
        responder.counters = apns.counters
        responder.beginMeasuring()

        let probe = ProcessProbe(process: target.process)
        var resident = APNsResident(start: probe.residentKiB)
        let results = try withExtendedLifetime(responder) { () throws(BenchError) in
            try measureInTurns(
                [now, apns],
                roundEnded: { round in
                    if round == 0 { resident.first = probe.residentKiB }
                    resident.end = probe.residentKiB
                })
        }
        printResult(
            results, against: now.name,
            more: [
                .init("connections_most", .integer(responder.mostConnections)),
                .init("in_flight_most", .integer(responder.mostInFlight)),
                .init("resident_kib_start", .integer(resident.start)),
                .init("resident_kib_first_round", .integer(resident.first)),
                .init("resident_kib_end", .integer(resident.end)),
            ])
        guard !invocation.has("--json") else { return }
        Terminal.print(
            "connections to Apple: at most \(responder.mostConnections), with at most \(Figure.whole(responder.mostInFlight)) requests in flight on one\n"
                + "resident: \(Figure.whole(resident.start)) KiB at the start, \(Figure.whole(resident.first)) KiB after the first round, \(Figure.whole(resident.end)) KiB at the end\n"
        )
    }
}

/// Resident memory of the server in KiB.
private struct APNsResident {
    var start: Int
    /// After the first round, in which buffers and tables have reached their sizes.
    var first = 0
    var end = 0
}
