// Tests/SimulationTests
