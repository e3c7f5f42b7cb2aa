import CMalloc

/// What the program has allocated.
enum Heap {
  /// Bytes that are in use, with what malloc adds to each piece.
  static var bytes: Int {
    let information = mallinfo2()
    return information.uordblks + information.hblkhd
  }

  /// One heap for all threads, as only one is counted. Memory that was freed stays with the program: the first touch of
  /// a page of the system's costs more than most of what is measured.
  static func prepare() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_TRIM_THRESHOLD, .max)
    mallopt(M_MMAP_THRESHOLD, 1 << 25)
  }
}
