/// Finds the records of one keyspace by hash.
struct RowLocator: Sendable {
  let keyspace: KeyspaceID
  let hash: KeyHash
  let index: HashIndex
  let table: SegmentTable

  func corruption(_ address: LogAddress) -> StoreError {
    StoreError(.corrupted, "a record's checksum is wrong", place: table.place(address))
  }

  /// The newest record of a key, tombstones included, and its slot.
  @inline(__always)
  func find(_ hash: RowHash, _ key: UnsafeRawBufferPointer) throws(StoreError) -> (
    slot: HashIndex.Slot, address: LogAddress, record: RecordView
  )? {
    var found: (LogAddress, RecordView)?
    let slot = try unsafe index.find(hash) { (address) throws(StoreError) in
      guard let record = RecordView(at: address, in: table) else { throw corruption(address) }
      guard record.header.keyspace == keyspace, unsafe record.key.equals(key) else { return false }
      found = (address, record)
      return true
    }
    guard let slot = unsafe slot, let found else { return nil }
    return unsafe (slot, found.0, found.1)
  }

  /// The newest record of the row with this hash, tombstones included.
  @inline(__always)
  func find(_ hash: RowHash) throws(StoreError) -> (slot: HashIndex.Slot, address: LogAddress, record: RecordView)? {
    var found: (LogAddress, RecordView)?
    let slot = try unsafe index.find(hash) { (address) throws(StoreError) in
      guard let record = table.record(address) else { throw corruption(address) }
      guard isRow(record, hash) else { return false }
      found = (address, record)
      return true
    }
    guard let slot = unsafe slot, let found else { return nil }
    return unsafe (slot, found.0, found.1)
  }

  @inline(__always)
  func isRow(_ record: RecordView, _ hash: RowHash) -> Bool {
    unsafe record.header.keyspace == keyspace
      && self.hash(keyspace, record.base + record.header.length, record.header.keyLength) == hash
  }

  /// Whether the record at an address belongs to the row with this hash.
  func isAt(_ address: LogAddress, _ hash: RowHash) -> Bool { table.record(address).map { isRow($0, hash) } ?? false }

  /// The address of the record that is most likely the row's newest; 0 if there is none.
  @inline(__always)
  func likelyAddress(_ hash: RowHash) -> LogAddress {
    var likely: LogAddress = 0
    _ = unsafe index.find(hash) { (address) in
      likely = address
      return true
    }
    return likely
  }
}
