import IncrementalStore
import Synchronization
import Testing

extension Fault: CustomTestStringConvertible {
  var testDescription: String { name }

  static let all = rows + rowReads + entries + bulkReads + saves + savers + numbers

  private static let rows = [
    Fault("A touch has no effect.", foundBy: "put, touched and deleted") { fault in
      fault.changes = { $0.rows.removeAll { $0.change == .touch } }
    },
    Fault("A touch empties the row.", foundBy: "put, touched and deleted") { fault in
      fault.changes = { changes in
        changes.rows = changes.rows.map { $0.change == .touch ? $0.with(change: .put([])) : $0 }
      }
    },
    Fault("A deletion has no effect.", foundBy: "put, touched and deleted") { fault in
      fault.changes = { $0.rows.removeAll { $0.change == .delete } }
    },
    Fault("A row that is inserted again continues its version.", foundBy: "starts at version 1") { fault in
      let deleted = Array("deleted".utf8)
      fault.changes = { changes in
        changes.rows = changes.rows.map { $0.change == .delete ? $0.with(change: .put(deleted)) : $0 }
      }
      fault.reads = { snapshot in
        snapshot.row = { $0.bytes == deleted ? nil : $0 }
        snapshot.count = { [base = snapshot.base] table in
          var count = 0
          try base.forEachRow(in: table, from: nil) { row in
            if row.bytes != deleted { count += 1 }
            return true
          }
          return count
        }
      }
    },
    Fault("Numbers are stored as floating-point numbers.", foundBy: "in the order of their references") { fault in
      fault.changes = { changes in
        changes.rows = changes.rows.map { row in
          guard case .integer(let number) = row.reference else { return row }
          return row.with(reference: .integer(Int64(exactly: Double(number)) ?? number))
        }
      }
    },
    Fault("Strings end at a zero.", foundBy: "in the order of their references") { fault in
      fault.kind = .string
      fault.changes = { changes in
        changes.rows = changes.rows.map { row in
          guard case .string(let text) = row.reference else { return row }
          return row.with(reference: .string(String(text.prefix { $0 != "\u{0}" })))
        }
      }
    },
    Fault("Only rows under numbers are kept in the highest tables.", foundBy: "Table 0 and") { fault in
      fault.changes = { $0.rows.removeAll { $0.table > 1 << 31 && $0.reference > .integer(.max) } }
    },
    Fault("Rows keep 65,535 bytes.", foundBy: "from none to 1 MB") { fault in
      fault.changes = { changes in
        changes.rows = changes.rows.map { row in
          guard case .put(let bytes) = row.change else { return row }
          return row.with(change: .put(Array(bytes.prefix(65_535))))
        }
      }
    },
  ]

  private static let rowReads = [
    Fault("The first reference is ignored.", foundBy: "Reading rows starts") { fault in
      fault.reads = { snapshot in
        snapshot.forEachRow = { [base = snapshot.base] table, _, body in
          try base.forEachRow(in: table, from: nil, body)
        }
      }
    },
    Fault("Reading rows does not stop.", foundBy: "Reading rows starts") { fault in
      fault.reads = { snapshot in
        snapshot.forEachRow = { [base = snapshot.base] table, first, body in
          try base.forEachRow(in: table, from: first) { row in
            _ = try body(&row)
            return true
          }
        }
      }
    },
    Fault("Rows that do not pass a test are read as well.", foundBy: "Reading rows starts") { fault in
      fault.reads = { snapshot in snapshot.answer = { _ in true } }
    },
    Fault("The first reference is ignored when only references are read.", foundBy: "Reading rows starts") { fault in
      fault.reads = { snapshot in snapshot.firstReference = { _ in nil } }
    },
    Fault("Reading rows ends when others are read meanwhile.", foundBy: "can be read while") { fault in
      fault.reads = { snapshot in
        let reading = Mutex(0)
        snapshot.forEachRow = { [base = snapshot.base] table, first, body in
          let number = reading.withLock { number in
            number += 1
            return number
          }
          try base.forEachRow(in: table, from: first) { row in
            try body(&row) && reading.withLock { $0 == number }
          }
        }
      }
    },
    Fault("An empty table cannot be read.", foundBy: "A table without rows") { fault in
      struct MissingTable: Error {}
      fault.reads = { snapshot in
        snapshot.count = { [base = snapshot.base] table in
          let count = try base.count(in: table)
          guard count > 0 else { throw MissingTable() }
          return count
        }
      }
    },
  ]

  private static let entries = [
    Fault("The bytes of entries are compared with their signs.", foundBy: "in the order of their bytes") { fault in
      fault.reads = { snapshot in
        snapshot.forEachEntry = { [base = snapshot.base] lower, upper, reverse, body in
          var entries: [[UInt8]] = []
          try base.forEachEntry(from: lower, before: upper, reverse: false) { entry in
            entries.append(entry)
            return true
          }
          entries.sort { $0.map { Int8(bitPattern: $0) }.lexicographicallyPrecedes($1.map { Int8(bitPattern: $0) }) }
          for entry in reverse ? entries.reversed() : entries { guard try body(entry) else { return } }
        }
      }
    },
    Fault("The last of several new entries is lost.", foundBy: "without any effect") { fault in
      fault.changes = { changes in if changes.addedEntries.count > 1 { changes.addedEntries.removeLast() } }
    },
    Fault("Removed entries stay.", foundBy: "without any effect") { fault in
      fault.changes = { $0.removedEntries = [] }
    },
    Fault("The upper bound of a range belongs to it.", foundBy: "A range of entries") { fault in
      fault.reads = { snapshot in
        snapshot.forEachEntry = { [base = snapshot.base] lower, upper, reverse, body in
          try base.forEachEntry(from: lower, before: upper.map { $0 + [0] }, reverse: reverse, body)
        }
      }
    },
    Fault("The lower bound of a range does not belong to it.", foundBy: "A range of entries") { fault in
      fault.reads = { snapshot in
        snapshot.forEachEntry = { [base = snapshot.base] lower, upper, reverse, body in
          try base.forEachEntry(from: lower.isEmpty ? [] : lower + [0], before: upper, reverse: reverse, body)
        }
      }
    },
    Fault("Only the first 4,000 bytes of entries are kept.", foundBy: "Entries of 10,000 bytes") { fault in
      fault.changes = { changes in
        changes.addedEntries = changes.addedEntries.map { Array($0.prefix(4_000)) }
        changes.removedEntries = changes.removedEntries.map { Array($0.prefix(4_000)) }
      }
    },
  ]

  private static let bulkReads = [
    Fault("Rows that do not exist are left out in bulk.", foundBy: "Rows read in bulk") { fault in
      fault.reads = { snapshot in
        snapshot.rows = { [base = snapshot.base] in try base.rows($0, in: $1).filter { $0 != nil } }
      }
    },
    Fault("A row that is asked for twice is read once in bulk.", foundBy: "Rows read in bulk") { fault in
      fault.reads = { snapshot in
        snapshot.rows = { [base = snapshot.base] references, table in
          var known: Set<RowReference> = []
          return try references.map { known.insert($0).inserted ? try base.row($0, in: table) : nil }
        }
      }
    },
    Fault("The limit is that of all prefixes together.", foundBy: "Entries read in bulk") { fault in
      fault.reads = { snapshot in
        snapshot.entries = { [base = snapshot.base] prefixes, limit in
          var left = limit
          return try prefixes.map { prefix in
            let entries = try base.entries(beginningWith: [prefix], limit: left)[0]
            left -= entries.count
            return entries
          }
        }
      }
    },
    Fault("An entry is found for the longest of its prefixes only.", foundBy: "Entries read in bulk") { fault in
      fault.reads = { snapshot in
        snapshot.entries = { [base = snapshot.base] prefixes, limit in
          try prefixes.map { prefix in
            let longer = prefixes.filter { $0.count > prefix.count && $0.starts(with: prefix) }
            let entries = try base.entries(beginningWith: [prefix], limit: limit)[0]
            return entries.filter { entry in !longer.contains { entry.starts(with: $0) } }
          }
        }
      }
    },
    Fault("Rows read with entries are in the order of their references.", foundBy: "in one call") { fault in
      fault.reads = { snapshot in
        snapshot.together = { [base = snapshot.base] references, prefixes, limit in
          try base.rows(references.mapValues { $0.sorted() }, entriesBeginningWith: prefixes, limit: limit)
        }
      }
    },
    Fault("All snapshots have one state.", foundBy: "another state") { $0.reads = { $0.state = 1 } },
  ]

  private static let saves = [
    Fault("A row that exists is replaced by a new one.", foundBy: "If the database is remote") { fault in
      fault.reads = { $0.isRemote = true }
    },
    Fault("The error of a save's closure is replaced.", foundBy: "If the closure of a save throws") { fault in
      struct Failed: Error {}
      fault.save = { store, changes in
        try store.save { snapshot in
          do {
            return try changes(snapshot)
          } catch {
            throw Failed()
          }
        }
      }
    },
    Fault("A save that changes nothing fails.", foundBy: "A save that changes nothing") { fault in
      struct Empty: Error {}
      fault.save = { store, changes in
        try store.save { snapshot in
          let changes = try changes(snapshot)
          if changes.isEmpty { throw Empty() }
          return changes
        }
      }
    },
    Fault("A save is made in two parts.", foundBy: "as a whole or not at all") { fault in
      fault.save = { store, changes in try saveInParts(store, changes) }
    },
    Fault("Each snapshot is one save late.", foundBy: "all saves that were complete before") { fault in
      let snapshots = LateSnapshots()
      fault.snapshot = { snapshots.last($0.snapshot()) }
    },
    Fault("A snapshot shows later saves.", foundBy: "A snapshot does not change, whatever") { fault in
      fault.snapshot = { LiveSnapshot($0) }
    },
    Fault("A snapshot shows later saves while it is read.", foundBy: "while it is being read") { fault in
      fault.snapshot = { LiveSnapshot($0) }
    },
    Fault("Entries of random length are lost.", foundBy: "Random calls") { fault in
      fault.changes = { $0.addedEntries.removeAll { $0.count == 4 && $0.last == 3 } }
    },
  ]

  private static let savers = [
    Fault("A save can follow another one that it has not seen.", foundBy: "lose no change") { fault in
      fault.save = { store, changes in try saveLate(store, changes) }
    },
    Fault("A save can follow another one that it has not seen.", foundBy: "The sum of several rows") { fault in
      fault.save = { store, changes in try saveLate(store, changes) }
    },
    Fault("A save is checked against others by the rows that it changes.", foundBy: "each add an entry") { fault in
      fault.save = { store, changes in try saveUnlessRowsChanged(store, changes) }
    },
    Fault("A save is checked against others by the rows that it changes.", foundBy: "each insert a row") { fault in
      fault.save = { store, changes in try saveUnlessRowsChanged(store, changes) }
    },
  ]

  private static let numbers = [
    Fault("Two saves share a revision.", foundBy: "Each save has a revision") { fault in
      fault.reads = { snapshot in
        snapshot.row = { row in
          var row = row
          row.revision /= 2
          return row
        }
      }
      fault.save = { store, changes in try store.save(changes) / 2 }
    },
    Fault("Revisions fall.", foundBy: "Each save has a revision") { fault in
      fault.reads = { snapshot in
        snapshot.row = { row in
          var row = row
          row.revision = .max - row.revision
          return row
        }
      }
      fault.save = { store, changes in .max - (try store.save(changes)) }
    },
    Fault("A save returns another revision than that of its rows.", foundBy: "put, touched and deleted") { fault in
      fault.save = { store, changes in try store.save(changes) + 1 }
    },
    Fault("References are repeated.", foundBy: "never given out twice") { fault in
      fault.reserve = { store, count in
        store.reserveReferences(count).map { $0 > .integer(100) ? .integer(7) : $0 }
      }
    },
    Fault("References are of another kind.", foundBy: "never given out twice") { fault in
      fault.kind = .uuid
      fault.reserve = { store, count in store.reserveReferences(count).map { .string("\($0)") } }
    },
    Fault("References begin again when the database is opened again.", foundBy: "not given out again") { fault in
      fault.losesContents = true
    },
    Fault("No store can save once another one is closed.", foundBy: "A store goes on") { fault in
      struct Closed: Error {}
      let isClosed = Atomic(false)
      fault.close = { isClosed.store(true, ordering: .relaxed) }
      fault.save = { store, changes in
        if isClosed.load(ordering: .relaxed) { throw Closed() }
        return try store.save(changes)
      }
    },
    Fault("Nothing is left when the database is opened again.", foundBy: "when the database is opened again, and") {
      fault in
      fault.losesContents = true
    },
  ]
}

extension RowChanges.Row {
  fileprivate func with(reference: RowReference? = nil, change: Change? = nil) -> Self {
    Self(table: table, reference: reference ?? self.reference, change: change ?? self.change, revision: revision)
  }
}
