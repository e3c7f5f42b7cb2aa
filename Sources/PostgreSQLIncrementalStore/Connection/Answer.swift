#if PostgreSQL
  import CPostgreSQL

  /// The rows that a statement has returned, in PostgreSQL's binary format.
  @safe final class Answer {
    private let result: OpaquePointer

    /// - Parameter result: Belongs to the answer from now on.
    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    var count: Int { Int(unsafe PQntuples(result)) }

    /// How many rows a statement has changed.
    var changedCount: Int { unsafe Int(String(cString: PQcmdTuples(result))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { unsafe PQgetisnull(result, Int32(row), Int32(column)) != 0 }

    /// The bytes of a value; none for null.
    func bytes(_ row: Int, _ column: Int) -> [UInt8] {
      let length = Int(unsafe PQgetlength(result, Int32(row), Int32(column)))
      guard length > 0, let start = unsafe PQgetvalue(result, Int32(row), Int32(column)) else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// A whole number of any size; 0 for null.
    func integer(_ row: Int, _ column: Int) -> Int64 {
      let bytes = bytes(row, column)
      let first: Int64 = bytes.first.map { $0 >= 0x80 } ?? false ? -1 : 0
      return bytes.reduce(first) { $0 << 8 | Int64($1) }
    }

    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }
  }
#endif
