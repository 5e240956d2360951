// RocksStore
