import Basics

/// Drains of app servers' connections, as before a planned restart.
extension World {
    /// Plans the next drain, if the world has any.
    func planDrain() {
        guard faults.secondsBetweenDrains > 0 else { return }
        after(random(1...Int64(faults.secondsBetweenDrains) * 2_000_000_000)) { [self] in
            guard !isCalm else { return }
            let client = appServers[Int(random(0...Int64(appServers.count - 1)))]
            switch random(0...3) {
            case 0:
                drain(appServers.flatMap(\.links))
                reached(.allDrained)
            case 1:
                drain(client.links)
                reached(.senderDrained)
            default: drain(Array(client.links.prefix(1)))
            }
            planDrain()
        }
    }

    /// Announces a drain to connections of app servers, which the server closes after a while.
    func drain(_ links: [AppServerClient.Link]) {
        trace("--- drain \(links.map(\.number))")
        countFault()
        for link in links { link.isDrained = true }
        server?.drain(links.compactMap { $0.port?.end })
    }
}
