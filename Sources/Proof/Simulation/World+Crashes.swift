import Basics

/// Crashes at moments that matter, and restarts.
extension World {
    func bootLater(_ wait: ClosedRange<Int64>) {
        after(random(wait)) { [self] in
            if server == nil { boot() }
        }
    }

    /// Ends the process at times before what has failed on its disk has been made up for.
    func crashSoon() {
        guard mayCrash, chance(1, in: 4) else { return }
        after(random(0...20_000_000)) { [self] in
            guard !isCalm, server != nil else { return }
            crash(losesPower: chance(1, in: 2))
            bootLater(1_000_000...3_000_000_000)
        }
    }

    /// Restarts the machine, in worlds where processes crash.
    func reboot() {
        guard mayCrash, server != nil else { return }
        crash(losesPower: false)
        bootLater(200_000_000...200_000_000)
    }
}
