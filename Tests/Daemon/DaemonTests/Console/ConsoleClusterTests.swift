import Foundation
import NATSServerSupport
import Testing

/// The console of a node of a cluster in a real browser.
@Suite(
    "Console of a cluster", .serialized,
    .enabled(
        if: ConsoleBench.isPossible && NATSServerProcess.isInstalled,
        "run Scripts/bootstrap --tests --browser first"))
struct ConsoleClusterTests {
    @Test(
        "the page of the cluster shows nodes and partitions, hands a partition over, and names a node that died"
    )
    func cluster() throws {
        let cluster = try RunningCluster(flags: OperatorAPIBench.flags)
        try cluster.keepingLogs {
            let node = try cluster.node(0)
            let bench = try ConsoleBench(OperatorAPIBench(node, port: node.port("admin")))
            try bench.logIn()
            try bench.wait(
                "the node on the overview",
                until: "document.querySelector('main').innerText.includes('node 1')")
            try show(bench, cluster)
            try handOver(bench, cluster)
            try lose(bench, cluster)
            #expect(try bench.complaints() == [])
        }
    }

    private func show(_ bench: ConsoleBench, _ cluster: RunningCluster) throws {
        for (name, width, isDark) in [("light", 1_280, false), ("dark", 1_280, true), ("phone", 375, false)] {
            try bench.run("view", ["width": width, "height": 900, "dark": isDark])
            try bench.go("operations/cluster")
            try bench.wait("the nodes", until: rows("Nodes", cluster.count))
            try bench.wait("the partitions", until: rows("Partitions", cluster.partitions))
            #expect(try bench.run("axe") as? [String] == [], "\(name)")
            let isWide = try bench.evaluate("document.documentElement.scrollWidth > innerWidth") as? Bool
            #expect(isWide == false, "\(name) scrolls sideways")
            try bench.picture("\(name)-cluster-of-three")
        }
    }

    private func handOver(_ bench: ConsoleBench, _ cluster: RunningCluster) throws {
        let partition = try #require(cluster.owned(by: 0).min())
        for (field, value) in [("partition", partition), ("to", 2)] {
            try bench.evaluate("document.querySelector('[name=\(field)]').value = '\(value)'")
        }
        try bench.press("Hand over")
        try bench.wait(
            "the handover",
            until: "document.querySelector('main').innerText.includes('Node 2 owns partition \(partition)')")
        try eventually("node 2 owns it") { cluster.owned(by: 1).contains(partition) }
    }

    private func lose(_ bench: ConsoleBench, _ cluster: RunningCluster) throws {
        try cluster.end(2)
        try eventually("the others own everything") { cluster.isServed }
        try bench.go("overview")
        try bench.go("operations/cluster")
        let status = "document.querySelector('main').innerText"
        try bench.wait(
            "the dead node", until: "/suspected|gone/.test(\(status)) && \(rows("Nodes", cluster.count))")
        try bench.picture("light-cluster-of-two")
    }

    /// Whether the table with a caption has N rows below its head.
    private func rows(_ caption: String, _ count: Int) -> String {
        "[...document.querySelectorAll('main table')].some((one) => one.caption?.textContent === '\(caption)' && one.tBodies[0].rows.length === \(count))"
    }
}
