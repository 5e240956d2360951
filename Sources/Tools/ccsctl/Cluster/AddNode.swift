import Basics
import Catalogue
import Client
import ClusterSetup
import Operator
import Transport

/// `ccsctl cluster add`: makes the folder of a further node.
enum AddNode {
    static func run(_ invocation: Invocation) -> ExitCode {
        let directory = invocation.arguments.first ?? "."
        return Output.report(isJSON: invocation.has("--json")) { () throws(Failure) in
            let address = invocation.text("--node") ?? ""
            try FoundCluster.check(address, "--node", "10.0.0.1:5240")
            let output = try add(address, to: directory)
            return (output.json, text(of: output))
        }
    }

    private static func add(_ address: String, to directory: String) throws(Failure) -> AddedNodeOutput {
        do throws(ClusterAddition.Problem) {
            let file = try ClusterAddition.add(address, to: directory, now: Now.read().wall)
            return AddedNodeOutput(
                cluster: file.cluster.text, node: file.node,
                folder: ClusterFounding.folder(of: file.node, in: directory))
        } catch { throw failure(error, directory) }
    }

    private static func failure(_ problem: ClusterAddition.Problem, _ directory: String) -> Failure {
        let hint =
            "give the directory that ccsctl cluster found has made, with the folder authority and that of the last node"
        return switch problem {
        case .noNode: Failure(.failure, "\(Report.safe(directory)) has no folder of a node", hint: hint)
        case .file(let path, let words):
            Failure(.badData, "cannot use \(Report.safe(path)): \(Report.safe(words))", hint: hint)
        case .addressInUse(let node):
            Failure(
                .failure, "node \(node.number) has this address",
                hint: "give another --node; to replace that node, see docs/cluster.md")
        case .full(let nodes):
            Failure(.failure, "no node can be added to \(nodes)", hint: "remove nodes that are gone")
        case .system(let words): Failure(.inputOutput, Report.safe(words), hint: hint)
        }
    }

    private static func text(of output: AddedNodeOutput) -> String {
        "cluster       \(output.cluster)\nnode          \(output.node.number)\nfolder        \(Report.safe(output.folder))\n"
            + "next          copy the folder to its machine, and start ccsd there with --cluster-directory FOLDER; the other nodes go on running\n"
    }
}
