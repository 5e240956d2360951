public import Basics
import Transport

/// Adds a node to a cluster: writes its folder, with a certificate of the authority that `ClusterFounding` has made.
///
/// No other folder is changed. The running nodes accept the new one when it introduces itself: its certificate is signed by their
/// authority.
public enum ClusterAddition {
    /// Why a node is not added.
    public enum Problem: Error, Sendable, Equatable {
        /// The directory has no folder of a node.
        case noNode
        /// The file of a node cannot be used.
        case file(String, problem: String)
        /// The address belongs to a node.
        case addressInUse(NodeNumber)
        /// There are as many nodes as a cluster may have.
        case full(nodes: Int)
        /// The certificate or key of the authority cannot be used, or a file cannot be written.
        case system(String)
    }

    /// Writes the folder of a further node into the directory of a founding. Returns its file.
    public static func add(
        _ address: String, to directory: String, now: UnixMilliseconds
    ) throws(Problem) -> ClusterFile {
        let last = try lastNode(in: directory)
        let path = "\(ClusterFounding.folder(of: last, in: directory))/\(ClusterFounding.Files.cluster)"
        var file = try read(path)
        if let user = file.nodes.first(where: { $0.address == address }) { throw .addressInUse(user.number) }
        guard file.nodes.count < Limits.Cluster.nodes else { throw .full(nodes: file.nodes.count) }
        let highest = max(last, file.nodes.map(\.number).max() ?? last)
        guard highest.number < UInt16.max else { throw .full(nodes: Int(highest.number)) }
        let number = NodeNumber(highest.number + 1)
        let node = ClusterFile.Node(number: number, name: "node-\(number.number)", address: address)
        file.nodes.append(node)
        file.node = number
        file.listen = ClusterFounding.listenAddress(of: node)
        do throws(TransportError) {
            let authority = try ClusterAuthority(
                certificate: try SmallFile.read("\(directory)/authority/\(ClusterFounding.Files.authority)"),
                key: Redacted(
                    try SmallFile.read("\(directory)/authority/\(ClusterFounding.Files.authorityKey)")))
            try ClusterFounding.write(file, signedBy: authority, to: directory, now: now)
        } catch { throw .system(error.description) }
        return file
    }

    private static func read(_ path: String) throws(Problem) -> ClusterFile {
        let text: [UInt8]
        do throws(TransportError) { text = try SmallFile.read(path) } catch {
            throw .system(error.description)
        }
        do throws(ClusterFileProblem) { return try ClusterFile(parsing: text) } catch {
            throw .file(path, problem: error.description)
        }
    }

    /// The node with the highest number that has a folder: its file names all nodes.
    private static func lastNode(in directory: String) throws(Problem) -> NodeNumber {
        let names: [String]
        do throws(TransportError) { names = try SmallFile.names(in: directory) } catch {
            throw .system(error.description)
        }
        let numbers = names.filter { $0.hasPrefix("node-") }.compactMap { UInt16($0.dropFirst(5)) }
        guard let highest = numbers.max(), highest > 0 else { throw .noNode }
        return NodeNumber(highest)
    }
}
