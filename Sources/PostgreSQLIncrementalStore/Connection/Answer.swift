#if PostgreSQL
  import CPostgreSQL

  /// The rows that a statement has returned, in PostgreSQL's binary format.
  @safe final class Answer {
    private let result: OpaquePointer

    /// - Parameter result: Belongs to the answer from now on.
    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    var count: Int { Int(unsafe PQntuples(result)) }

    func isNull(_ row: Int, _ column: Int) -> Bool { unsafe PQgetisnull(result, Int32(row), Int32(column)) != 0 }

    /// Calls a closure with the bytes of a value; with none for null.
    private func withBytes<R>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
      let length = Int(unsafe PQgetlength(result, Int32(row), Int32(column)))
      let start = unsafe PQgetvalue(result, Int32(row), Int32(column))
      return unsafe body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length))
    }

    /// The bytes of a value; none for null.
    func bytes(_ row: Int, _ column: Int) -> [UInt8] { unsafe withBytes(row, column) { unsafe Array($0) } }

    /// A whole number of any size; 0 for null.
    func integer(_ row: Int, _ column: Int) -> Int64 {
      unsafe withBytes(row, column) { bytes in
        if bytes.count == 8 { return unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) }
        let first: Int64 = unsafe bytes.first.map { $0 >= 0x80 } ?? false ? -1 : 0
        return unsafe bytes.reduce(first) { $0 << 8 | Int64($1) }
      }
    }

    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    func bool(_ row: Int, _ column: Int) -> Bool { unsafe withBytes(row, column) { unsafe $0.first == 1 } }
  }
#endif
