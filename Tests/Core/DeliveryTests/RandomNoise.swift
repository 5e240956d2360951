import Basics
import Delivery

extension RandomWorld {
    /// Sends late, repeated and invented events of connections that are not current: they must have no effect.
    func noise() {
        let link = connection(UInt32.random(in: 0..<max(1_000, nextConnection), using: &random))
        let isCurrent = devices.contains { $0.link == link } || appServers.contains { $0.link == link }
        guard !isCurrent else { return }
        let device = devices[Int.random(in: 0..<devices.count, using: &random)].device
        let newest = UInt64(bench.now.wall) * 1_000
        let sequence = SequenceNumber(UInt64.random(in: newest - 5_000_000...newest, using: &random))
        switch Int.random(in: 0..<13, using: &random) {
        case 0:
            bench.post(
                .deviceAcknowledged(link, device, [sequence, SequenceNumber(0), SequenceNumber(.max)]))
        case 1: bench.post(.deviceWritable(link, device))
        case 2: bench.post(.deviceCongested(link, device))
        case 3: bench.post(.deviceClosed(link, device))
        case 4: bench.post(.upstreamFinished(link, Harness.sender, sequence, .acknowledged))
        case 5: bench.post(.appServerBound(link, Harness.sender))
        case 6: bench.post(.appServerDraining(link, Harness.otherSender))
        case 7: bench.post(.appServerClosed(link, Harness.sender))
        case 8: bench.post(.expired(.message(device, sequence, expiresAt: bench.now.wall)))
        case 9: bench.post(.committed(CommitOutcome(batchNumber: .max)))
        case 10: bench.post(.appServerCongested(link, Harness.sender))
        case 11: bench.post(.appServerWritable(link, Harness.sender))
        default:
            // An attacker with the device's ID and a guessed security token.
            let guess = SecretDigest(bytes: [UInt8](repeating: 1, count: 32))
            bench.post(
                .deviceLogin(
                    DeviceLogin(
                        connection: connection(UInt32.random(in: 1...999, using: &random)),
                        device: device, token: guess, received: [PersistentID(sequence: sequence, salt: 1)])))
        }
    }
}
