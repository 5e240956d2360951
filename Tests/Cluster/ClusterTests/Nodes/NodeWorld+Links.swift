import Basics
import Cluster
import ClusterLog
import Delivery

/// What nodes send each other.
enum WorldItem {
    case event(Event)
    case command(SessionCommand, ConnectionID)
    case change(ControlChange, number: UInt64)
    case outcome(number: UInt64, LogPosition?)
    case returned(number: UInt64)
}

/// The links between nodes: each direction keeps its order, and a link that breaks loses what is under way.
struct WorldLinks {
    enum State {
        case up
        /// It breaks: how many of its ends have not noticed.
        case breaking(Int)
        case down
    }

    private var states: [[State]]
    private var cuts: [[Int64]]
    var queues: [[[WorldItem]]]
    var generation = 0

    init(_ count: Int) {
        states = Array(repeating: Array(repeating: .down, count: count), count: count)
        cuts = Array(repeating: Array(repeating: 0, count: count), count: count)
        queues = Array(repeating: Array(repeating: [], count: count), count: count)
    }

    mutating func cut(from a: Int, to b: Int, until time: Int64) { cuts[a][b] = max(cuts[a][b], time) }
    func isCut(from a: Int, to b: Int, _ time: Int64) -> Bool { cuts[a][b] > time }
    func isCut(_ a: Int, _ b: Int, _ time: Int64) -> Bool {
        isCut(from: a, to: b, time) || isCut(from: b, to: a, time)
    }

    subscript(a: Int, b: Int) -> State {
        get { states[min(a, b)][max(a, b)] }
        set { states[min(a, b)][max(a, b)] = newValue }
    }
}

extension NodeWorld {
    /// Sends an item to another node.
    func send(_ item: WorldItem, from node: WorldNode, to other: WorldNode) {
        guard case .up = links[node.index, other.index] else { return }
        links.queues[node.index][other.index].append(item)
        after(draw(100...3_000)) { $0.pump(node, other) }
    }

    /// Delivers what is under way, in order.
    func pump(_ node: WorldNode, _ other: WorldNode) {
        guard case .up = links[node.index, other.index],
            !links.isCut(from: node.index, to: other.index, time)
        else { return }
        var items: [WorldItem] = []
        swap(&items, &links.queues[node.index][other.index])
        guard !items.isEmpty, other.isRunning else { return }
        other.clusterInbox.jobs.append { world in
            for item in items {
                switch item {
                case .event(let event): world.route(.received(event), other)
                case .command(let command, let connection):
                    world.route(.receivedCommand(command, to: connection, from: node.number), other)
                case .change(let change, let number):
                    world.route(.receivedChange(change, number: number, from: node.number), other)
                case .returned(let number):
                    world.route(.returnedChange(number: number, from: node.number), other)
                case .outcome(let number, var position):
                    if world.canary == .answersUnapplied, position != nil { position = .start }
                    world.route(.receivedOutcome(number: number, at: position, from: node.number), other)
                }
            }
        }
        wakeCluster(other)
    }

    /// Both ends notice after a while that the link is lost.
    func breakLink(_ node: WorldNode, _ other: WorldNode) {
        guard case .up = links[node.index, other.index] else { return }
        links[node.index, other.index] = .breaking(2)
        links.queues[node.index][other.index] = []
        links.queues[other.index][node.index] = []
        for (end, far) in [(node, other), (other, node)] {
            let process = end.process
            after(draw(0...800_000)) { $0.notice(end, far, process) }
        }
    }

    private func notice(_ end: WorldNode, _ far: WorldNode, _ process: Int) {
        guard end.process != process || end.pausedUntil <= time else {
            return after(end.pausedUntil - time) { $0.notice(end, far, process) }
        }
        if end.process == process, end.isRunning, canary != .missesLostLinks {
            end.clusterInbox.jobs.append { $0.route(.unlinked(far.number), end) }
            wakeCluster(end)
        }
        guard case .breaking(let count) = links[end.index, far.index] else { return }
        links[end.index, far.index] = count > 1 ? .breaking(count - 1) : .down
    }

    /// Makes the links that are missing, if both nodes reach each other; again and again.
    func relink() {
        after(draw(50_000...300_000)) { $0.relink() }
        for node in nodes {
            for other in nodes where other.index > node.index {
                guard case .down = links[node.index, other.index] else { continue }
                guard node.isRunning, other.isRunning, !links.isCut(node.index, other.index, time),
                    node.pausedUntil <= time, other.pausedUntil <= time
                else { continue }
                links[node.index, other.index] = .up
                for (end, far) in [(node, other), (other, node)] {
                    end.clusterInbox.jobs.append { $0.route(.linked(far.number), end) }
                    wakeCluster(end)
                }
            }
        }
    }
}
