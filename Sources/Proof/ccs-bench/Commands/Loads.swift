import Basics
import Catalogue
import Wire

/// The loads of the commands.
extension Bench {
    /// Connects app servers that send to devices over XMPP.
    func appServers(
        _ target: any Target, _ devices: [BenchDevice], _ receivers: Receivers?, name: String? = nil,
        lifetimeSeconds: Int
    ) throws(BenchError) -> LoadRun {
        let stanzas = devices.map {
            Template.stanza(token: $0.token, size: size, lifetimeSeconds: lifetimeSeconds)
        }
        return try appServers(target, sending: stanzas, receivers, name: name ?? target.name)
    }

    /// Connects app servers that send these stanzas in turn.
    func appServers(
        _ target: any Target, sending stanzas: [Template], _ receivers: Receivers?, name: String
    ) throws(BenchError) -> LoadRun {
        let run = LoadRun(self, target, name: name, receivers: receivers)
        try run.connect(connections, "app servers") { (number, run) throws(BenchError) in
            let lane = SendingLane(
                run, AppServerTalk(target.credential), messages: stanzas, window: window,
                first: first(number, of: stanzas.count))
            try connect(to: target.appServers, lane)
            return lane
        }
        return run
    }

    /// Connects app servers that send to devices over HTTP.
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

    /// Connects devices that send to app servers.
    func upstream(
        _ target: DaemonTarget, _ devices: [BenchDevice], name: String? = nil
    ) throws(BenchError) -> (LoadRun, UpstreamReceivers) {
        let run = LoadRun(self, target, name: name ?? target.name, receivers: nil)
        let receivers = try UpstreamReceivers(run, target, count: connections)
        // A device may have only this many messages pending (FCM); more would only wait.
        let window = min(self.window, Limits.Mailbox.waitingUpstream)
        try run.connect(devices.count, "devices") { (number, run) throws(BenchError) in
            try DeviceLane(run, target, devices[number], window: window)
        }
        return (run, receivers)
    }

    /// Enrols devices, and shows the progress.
    func devices(_ target: any Target, _ count: Int? = nil) throws(BenchError) -> [BenchDevice] {
        let count = count ?? deviceCount
        return try target.makeDevices(count) { progress.show("devices enrolled", $0, of: count) }
    }

    /// Returns the first device of a connection; each connection starts at another one.
    private func first(_ number: Int, of count: Int) -> Int {
        number * max(1, count / connections) % max(1, count)
    }

    /// Open loop if a rate is given.
    var pacing: Pacing { invocation.integer("--rate").map { .rate(Double($0)) } ?? .window }

    /// How often each load is measured.
    var rounds: Int { invocation.integer("--rounds") ?? 1 }
}
