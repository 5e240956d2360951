import Delivery

@testable import Server

extension StoreThread {
    /// Submits one batch of one partition.
    func submit(_ batch: WriteBatch, partition: Int) {
        submit([PartitionBatch(partition: partition, batch)])
    }

    /// Submits the queries of one partition.
    func load(_ loads: [Load], partition: Int) {
        load(loads.map { PartitionLoad(partition: partition, $0) })
    }
}
