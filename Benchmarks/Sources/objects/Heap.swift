import CMalloc

/// The memory that the program has allocated.
enum Heap {
  /// Bytes in use, including what malloc adds to each allocation.
  static var bytes: Int {
    let information = mallinfo2()
    return information.uordblks + information.hblkhd
  }

  /// Gives all threads one heap, since only one is counted. Keeps freed memory in the program: the first access to a
  /// new page of the system costs more than most of what is measured.
  static func prepare() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_TRIM_THRESHOLD, .max)
    mallopt(M_MMAP_THRESHOLD, 1 << 25)
  }
}
