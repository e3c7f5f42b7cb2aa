#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Allocates memory, to be freed with `deallocate`; throws `noMemory` if the system has no more, instead of ending the
/// process.
func allocateMemory(_ byteCount: Int, alignment: Int = 16) throws(StoreError) -> UnsafeMutableRawPointer {
  var memory: UnsafeMutableRawPointer?
  guard unsafe posix_memalign(&memory, alignment, max(byteCount, 1)) == 0, let memory = unsafe memory else {
    throw outOfMemory(byteCount)
  }
  return unsafe memory
}

func outOfMemory(_ byteCount: Int) -> StoreError {
  StoreError(.noMemory, "the system cannot provide \(byteCount) bytes of memory")
}
