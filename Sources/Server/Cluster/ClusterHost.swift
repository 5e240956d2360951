import Basics
import Delivery
import Transport

/// The thread of the cluster.
final class ClusterHost {
}
