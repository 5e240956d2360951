import Delivery

@testable import Server

extension StoreThreads {
    /// Submits one batch of one partition.
    func submit(_ batch: WriteBatch, partition: Int) {
        submit([PartitionBatch(partition: partition, batch)])
    }

    /// Submits the queries of one partition.
    func load(_ loads: [StoreQuery], partition: Int) {
        load(loads.map { PartitionQuery(partition: partition, $0) })
    }
}
