import Basics
public import ClusterLog

extension LogSecret {
    /// A secret of tests.
    public static let example = LogSecret([UInt8](0..<32).raw)
}

extension LogKey {
    /// The key of a log with the secret of tests.
    public init(cluster: UInt64, partition: Int) {
        self.init(.example, cluster: cluster, partition: partition)
    }
}
