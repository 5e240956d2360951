import Basics

/// Which node each partition would best be on, by rendezvous hashing: few partitions change their place when a node comes or goes.
struct Rendezvous: Sendable {
    let cluster: ClusterID
    let partitions: Int
    private var nodes: [NodeNumber] = []
    private var places: [NodeNumber] = []

    init(cluster: ClusterID, partitions: Int) {
        self.cluster = cluster
        self.partitions = partitions
    }

    /// How well a node fits a partition; all nodes compute the same.
    func fit(_ node: NodeNumber, _ partition: Int) -> UInt64 {
        SipHash(key: (cluster.number, 0x7265_6e64_657a_766f)).hash(
            UInt64(node.number) << 32 | UInt64(partition))
    }

    /// Returns the best node of each partition, so that no node has two more than another.
    mutating func places(on nodes: [NodeNumber]) -> [NodeNumber] {
        if nodes != self.nodes {
            self.nodes = nodes
            places = spread()
        }
        return places
    }

    private func spread() -> [NodeNumber] {
        guard !nodes.isEmpty else { return [] }
        var loads = [Int](repeating: 0, count: nodes.count)
        let share = partitions / nodes.count
        // The nodes that may have one more than the others.
        var larger = partitions % nodes.count
        return (0..<partitions).map { partition in
            var best: (index: Int, fit: UInt64)?
            for index in nodes.indices where loads[index] < share || loads[index] == share && larger > 0 {
                let fit = fit(nodes[index], partition)
                if best.map({ $0.fit < fit }) ?? true { best = (index, fit) }
            }
            let index = best?.index ?? 0
            loads[index] += 1
            if loads[index] > share { larger -= 1 }
            return nodes[index]
        }
    }
}
