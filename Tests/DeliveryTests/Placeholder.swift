// Tests/DeliveryTests
