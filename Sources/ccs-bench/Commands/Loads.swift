import Basics
import Catalogue
import Wire

/// The loads that commands are made of.
extension Bench {
    /// App servers over XMPP that send to devices.
    func appServers(
        _ target: any Target, _ devices: [BenchDevice], _ receivers: Receivers?, name: String? = nil,
        lifetimeSeconds: Int
    ) throws(BenchError) -> LoadRun {
        let stanzas = devices.map {
            Template.stanza(token: $0.token, size: size, lifetimeSeconds: lifetimeSeconds)
        }
        let run = LoadRun(self, target, name: name ?? target.name, receivers: receivers)
        try run.connect(connections, "app servers") { (number, run) throws(BenchError) in
            let lane = SendingLane(
                run, AppServerTalk(target.credential), messages: stanzas, window: window,
                first: first(number, of: stanzas.count))
            try connect(to: target.appServers, lane)
            return lane
        }
        return run
    }

    /// App servers over HTTP that send to devices.
    func requests(
        _ target: DaemonTarget, _ devices: [BenchDevice], _ receivers: Receivers, name: String,
        _ make: (BenchDevice) -> Template
    ) throws(BenchError) -> LoadRun {
        let requests = devices.map(make)
        let run = LoadRun(self, target, name: name, receivers: receivers)
        let window = min(window, Limits.HTTP.pipelinedRequests)
        try run.connect(connections, "app servers") { (number, run) throws(BenchError) in
            let lane = SendingLane(
                run, HTTPTalk(), messages: requests, window: window,
                first: first(number, of: requests.count))
            try connect(to: target.https, lane)
            return lane
        }
        return run
    }

    /// Devices that send to app servers.
    func upstream(
        _ target: DaemonTarget, _ devices: [BenchDevice], name: String? = nil
    ) throws(BenchError) -> (LoadRun, UpstreamReceivers) {
        let run = LoadRun(self, target, name: name ?? target.name, receivers: nil)
        let receivers = try UpstreamReceivers(run, target, count: connections)
        // A device may have so many messages on their way (FCM); more would only wait.
        let window = min(self.window, Limits.Mailbox.waitingUpstream)
        try run.connect(devices.count, "devices") { (number, run) throws(BenchError) in
            try DeviceLane(run, target, devices[number], window: window)
        }
        return (run, receivers)
    }

    /// Enrols devices, and says how far that is.
    func devices(_ target: any Target, _ count: Int? = nil) throws(BenchError) -> [BenchDevice] {
        let count = count ?? deviceCount
        return try target.makeDevices(count) { progress.show("devices enrolled", $0, of: count) }
    }

    /// Each connection begins at another device.
    private func first(_ number: Int, of count: Int) -> Int {
        number * max(1, count / connections) % max(1, count)
    }

    /// Open loop where a rate is asked for.
    var pacing: Pacing { invocation.integer("--rate").map { .rate(Double($0)) } ?? .window }

    /// How often each load is measured.
    var rounds: Int { invocation.integer("--rounds") ?? 1 }
}
