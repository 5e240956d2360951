extension ConfigKey {
    /// Several nodes.
    static let cluster: [ConfigKey: Entry] = [
        .clusterDirectory: Entry(
            type: .path, preset: .text(""),
            help:
                "Folder that makes this daemon a node of a cluster, from ccsctl cluster found; empty: it belongs to none.",
            reason:
                "The folder has the ID of the cluster, the addresses of its nodes and of its log, and the certificate of this node. A store belongs to one cluster, or to none, for ever."
        )
    ]
}
